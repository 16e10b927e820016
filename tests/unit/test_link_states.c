// SPDX-License-Identifier: GPL-2.0-only
/* How a link leaves and enters its states: carrier, administrator, failures. */
#include "tests/unit/lone.h"
#include "lib/util/times.h"

#define NEVER (~0ull)
#define UP TORUS_LINK_UP

static struct lone l;
static struct tn_link *link;
static const struct tn_tail good;

static void begin(void)
{
	lone_start(&l, "4", 0, NULL);
	link = lone_link(&l, 0);
}

static void begin_up(void)
{
	begin();
	lone_all_up(&l);
	lone_row(&l, 1, lone_dirs(1));
	assert_int_equal(tn_nic_release(l.nic, l.nic->version, false, l.now), 0);
}

static void end(void)
{
	lone_end(&l);
}

/* Checks that there is exactly one event, on port 0. */
static void check_event(u8 old, u8 now, u8 reason)
{
	assert_int_equal(l.events, 1);
	assert_int_equal(l.event[0].type, TN_EV_LINK);
	assert_int_equal(l.event[0].old_state, old);
	assert_int_equal(l.event[0].state, now);
	assert_int_equal(l.event[0].reason, reason);
	l.events = 0;
}

static u64 gauge(enum torus_port_gauge g)
{
	struct tn_link_info info;

	tn_nic_link_info(l.nic, 0, &info, l.now);
	return info.gauge[g];
}

/* Checks that no timer runs any more, and that there is nothing to send. */
static void still(void)
{
	assert_true(tn_link_expiry(link) == NEVER);
	assert_false(tn_link_wants(link));
	assert_int_equal(lone_tx(&l, 0), 0);
	tn_link_poll(link, l.now + 1000000 * MS);
	assert_false(tn_link_wants(link));
}

/*
 * Gives the link one of each thing that it may have to send: an answer, a credit, a retransmission.
 */
static void busy(void)
{
	lone_rx_pkt(&l, 0,
		    (struct tn_hdr) { .type = TN_DATA, .vc = 1, .src = 1, .dir = 3, .first = 15,
					  .last = 15 }, good);
	for (int i = 0; i < 3; i++)
		assert_int_equal(lone_send(&l, 1, 0, 2), 0);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(lone_clear(&l), 1);
	assert_true(link->ack_at != NEVER && link->credit_at != NEVER);
}

/* --- time ---------------------------------------------------------------------------------------- */

/* The age of a state is the time since its beginning, not since it was read last. */
static void age_of_state_counts_from_its_beginning(void **state)
{
	struct tn_link_info info;

	(void)state;
	begin();
	for (int i = 1; i <= 2; i++) {
		l.now += MS;
		tn_nic_link_info(l.nic, 0, &info, l.now);
		assert_int_equal(info.state_age, i * MS);
	}
	tn_nic_carrier(l.nic, 0, true, l.now);
	assert_int_not_equal(link->state, TORUS_LINK_DOWN);
	l.now += 3;
	tn_nic_link_info(l.nic, 0, &info, l.now);
	assert_int_equal(info.state_age, 3);
	tn_nic_link_info(l.nic, 0, &info, l.now - 4);
	assert_int_equal(info.state_age, 0);
	end();
}

/* --- the administrator -------------------------------------------------------------------------- */

static void port_taken_down_stays_down_until_taken_up(void **state)
{
	(void)state;
	begin_up();
	busy();
	link->ack_now = link->credit_now = link->init_now = true;
	tn_nic_admin(l.nic, 0, true, l.now);		/* the port is up already */
	assert_int_equal(link->state, UP);
	assert_int_equal(gauge(TORUS_PG_RETRY_PACKETS), 3);
	assert_int_equal(gauge(TORUS_PG_RETRY_FLITS), 12);
	tn_nic_admin(l.nic, 0, false, l.now);
	assert_int_equal(l.events, 3);
	assert_int_equal(l.event[0].type, TN_EV_PARK);
	assert_true(l.event[1].old_state == UP && l.event[1].state == TORUS_LINK_FAULTY);
	assert_true(l.event[2].old_state == TORUS_LINK_FAULTY &&
		    l.event[2].state == TORUS_LINK_DOWN);
	assert_int_equal(l.event[2].reason, TORUS_REASON_ADMIN);
	l.events = 0;
	assert_int_equal(gauge(TORUS_PG_RETRY_PACKETS), 0);
	assert_int_equal(gauge(TORUS_PG_RETRY_FLITS), 0);
	still();
	/* A link that is disabled is not brought up by carrier, INITs or a retraining by hand. */
	tn_nic_carrier(l.nic, 0, false, l.now);
	tn_nic_carrier(l.nic, 0, true, l.now);
	tn_nic_retrain(l.nic, 0, l.now);
	tn_nic_retry(l.nic, 0, TORUS_RETRY_HIPPI, l.now);
	assert_int_equal(link->state, TORUS_LINK_DOWN);
	assert_int_equal(l.events, 0);
	still();
	tn_nic_admin(l.nic, 0, false, l.now);
	assert_int_equal(l.events, 0);
	tn_nic_admin(l.nic, 0, true, l.now);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.peer[0].received.last_session, link->session);
	end();
}

/* A port is taken down in any state, and taken up without a cable. */
static void port_is_taken_down_in_any_state(void **state)
{
	(void)state;
	begin();
	tn_nic_admin(l.nic, 0, false, l.now);	/* the port is down already: no event */
	tn_nic_admin(l.nic, 0, true, l.now);
	assert_int_equal(l.events, 0);
	tn_nic_carrier(l.nic, 0, true, l.now);
	l.events = 0;
	tn_nic_admin(l.nic, 0, false, l.now);
	check_event(TORUS_LINK_INIT, TORUS_LINK_DOWN, TORUS_REASON_NONE);
	still();
	tn_nic_carrier(l.nic, 0, false, l.now);
	tn_nic_admin(l.nic, 0, true, l.now);
	assert_int_equal(link->state, TORUS_LINK_DOWN);
	still();
	tn_nic_carrier(l.nic, 0, true, l.now);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	end();
}

/* --- carrier ---------------------------------------------------------------------------------------- */

static void carrier_begins_and_ends_attempt(void **state)
{
	(void)state;
	begin();
	tn_nic_carrier(l.nic, 0, false, l.now);
	assert_int_equal(l.events, 0);
	tn_nic_carrier(l.nic, 0, true, l.now);
	assert_int_equal(l.events, 2);
	l.events = 0;
	tn_nic_carrier(l.nic, 0, true, l.now);
	assert_int_equal(l.events, 0);
	/* Never up before: down without a cable, not faulty. */
	tn_nic_carrier(l.nic, 0, false, l.now);
	check_event(TORUS_LINK_INIT, TORUS_LINK_DOWN, TORUS_REASON_NONE);
	still();
	lone_up(&l, 0);
	l.events = 0;
	tn_nic_carrier(l.nic, 0, false, l.now);
	check_event(UP, TORUS_LINK_FAULTY, TORUS_REASON_CARRIER);
	assert_true(link->closed);
	still();
	/* Up before: faulty, however far it had come again. */
	tn_nic_carrier(l.nic, 0, true, l.now);
	l.events = 0;
	tn_nic_carrier(l.nic, 0, false, l.now);
	check_event(TORUS_LINK_INIT, TORUS_LINK_FAULTY, TORUS_REASON_CARRIER);
	still();
	end();
	begin_up();
	tn_nic_retrain(l.nic, 0, l.now);
	l.events = 0;
	tn_nic_carrier(l.nic, 0, false, l.now);
	check_event(TORUS_LINK_RETRAINING, TORUS_LINK_FAULTY, TORUS_REASON_CARRIER);
	assert_true(link->closed);
	still();
	end();
}

/* After a failure the handshake may take ten init_intervals; then the link is faulty again. */
static void failed_link_is_faulty_after_ten_intervals(void **state)
{
	u64 from;

	(void)state;
	begin_up();
	tn_nic_carrier(l.nic, 0, false, l.now);
	tn_nic_carrier(l.nic, 0, true, l.now);
	from = l.now;
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_true(link->give_up_at == from + 10 * l.params.init_interval);
	l.events = 0;
	while (link->state == TORUS_LINK_INIT) {
		lone_drain(&l, 0);
		tn_link_poll(link, l.now = tn_link_expiry(link));
	}
	check_event(TORUS_LINK_INIT, TORUS_LINK_FAULTY, TORUS_REASON_CARRIER);
	assert_true(l.now == from + 10 * l.params.init_interval);
	end();
}

/*
 * Another NIC is connected instead, which began as often and has made fewer attempts: its INITs are
 * accepted.
 */
static void inits_of_another_nic_are_accepted(void **state)
{
	struct tn_init i;

	(void)state;
	begin_up();
	tn_nic_carrier(l.nic, 0, false, l.now);
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	i = lone_init_of(&l, 0);
	i.guid++;
	i.attempt -= 5;
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, UP);
	assert_true(link->peer_guid == i.guid);
	end();
}

/* A silence shorter than the interval of INITs does not end the attempt before the next one. */
static void short_silence_does_not_end_attempt_before_next_init(void **state)
{
	struct tn_init i;
	u32 nonce;
	u64 until;

	(void)state;
	begin();
	l.nic->params.silence = 3 * MS;
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	nonce = link->nonce;
	i = lone_init_of(&l, 0);
	i.nonce_received = 0;
	lone_init(&l, 0, &i);
	until = l.now + 3 * l.params.probe_interval;
	while (l.now < until) {
		assert_int_equal(link->nonce, nonce);
		lone_drain(&l, 0);
		tn_link_poll(link, l.now = tn_link_expiry(link));
	}
	assert_int_not_equal(link->nonce, nonce);
	end();
}

/*
 * A neighbour falls silent in the handshake: another attempt begins, without what was received
 * before.
 */
static void silent_neighbour_in_handshake_begins_new_attempt(void **state)
{
	struct tn_init i;
	u32 nonce;
	u64 receive_late;

	(void)state;
	begin();
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	nonce = link->nonce;
	i = lone_init_of(&l, 0);
	i.nonce_received = 0;
	lone_init(&l, 0, &i);
	receive_late = l.now;
	while (l.now < receive_late + l.params.silence) {
		assert_int_equal(link->nonce, nonce);
		assert_int_equal(link->peer_nonce, i.nonce);
		lone_drain(&l, 0);
		tn_link_poll(link, l.now = tn_link_expiry(link));
	}
	assert_true(l.now < receive_late + l.params.silence + l.params.probe_interval);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_int_not_equal(link->nonce, nonce);
	assert_int_equal(link->peer_nonce, 0);
	assert_true(tn_link_expiry(link) == l.now + l.params.probe_interval);
	nonce = link->nonce;
	lone_drain(&l, 0);
	assert_int_equal(l.peer[0].received.nonce, nonce);
	tn_link_poll(link, l.now = tn_link_expiry(link));
	assert_int_equal(link->nonce, nonce);	/* no INIT was received, so none is missed */
	lone_drain(&l, 0);
	i = lone_init_of(&l, 0);
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, UP);
	end();
}

/*
 * Once the peer has shown that it is up, by an INIT, an answer or a packet, the limit is that of
 * silence on a link that is up, however long the handshake may take.
 */
static void limit_is_silence_once_peer_has_shown_to_be_up(void **state)
{
	(void)state;
	for (unsigned int how = 0; how < 4; how++) {
		struct tn_hdr h = { .type = TN_ACKNAK };
		u8 bytes[TN_ACKNAK_BYTES];
		struct tn_init i;

		begin();
		l.nic->params.silence = 3 * MS;
		tn_link_retry(link, TORUS_RETRY_ACKNAK, l.now);
		lone_up(&l, 0);
		assert_false(link->peer_up);
		i = lone_init_of(&l, 0);
		i.nonce = link->peer_nonce;	/* the nonce is of the same attempt */
		i.attempt = link->peer_attempt;
		i.up = how == 1;
		h.rseq = (u16)((link->retry.tx.tseq - 1) & TN_SEQ_MASK);
		tn_acknak_put(bytes, &h, l.peer[0].seed);
		if (how < 2)
			lone_init(&l, 0, &i);
		else if (how == 2)
			lone_rx(&l, 0, bytes, sizeof(bytes));
		else
			lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_DATA, .dst = 0, .src = 1 },
				    (struct tn_tail) { .eseq = 1 });
		l.now += 3 * MS;
		tn_link_poll(link, l.now);
		assert_int_equal(link->state == UP, how == 0);
		end();
	}
}

/*
 * A faulty link makes a new attempt at once, then sends an INIT every probe_interval; no other
 * timer runs.
 */
static void faulty_link_sends_init_each_probe_interval(void **state)
{
	u32 nonce;

	(void)state;
	begin_up();
	busy();
	nonce = link->nonce;
	lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_CREDIT, .crp = 9 }, good);
	assert_int_equal(link->state, TORUS_LINK_FAULTY);
	assert_int_not_equal(link->nonce, nonce);
	nonce = link->nonce;
	assert_true(link->ack_at == NEVER && link->credit_at == NEVER && link->e_at == NEVER &&
		    link->keepalive_at == NEVER && link->give_up_at == NEVER);
	assert_false(link->ack_now || link->credit_now);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.peer[0].received.nonce, nonce);
	assert_int_equal(l.peer[0].received.resume, 0);
	assert_int_equal(l.peer[0].received.occupied[1], 0);
	for (int n = 0; n < 3; n++) {
		assert_true(tn_link_expiry(link) == l.now + 100 * MS);
		l.now += 100 * MS - 1;
		tn_link_poll(link, l.now);
		assert_int_equal(lone_tx(&l, 0), 0);
		tn_link_poll(link, ++l.now);
		assert_int_equal(lone_tx(&l, 0), 1);
		assert_int_equal(l.peer[0].received.nonce, nonce);
	}
	/* A peer that answers is answered with a new handshake. */
	lone_init(&l, 0, &(struct tn_init) { .guid = 9, .lowest = TN_WIRE_VERSION, .nonce = 4,
		  .slot_flits = 259, .slots = { 9, 9, 9 } });
	assert_int_equal(link->state, TORUS_LINK_INIT);
	assert_int_not_equal(link->nonce, nonce);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.peer[0].received.nonce_received, 4);
	assert_true(link->give_up_at == l.now + 10 * l.params.init_interval);
	end();
}

/* --- sessions ------------------------------------------------------------------------------------------ */

/*
 * Buffers that packets of the last session hold are reported in the next, and so is their release.
 */
static void buffers_of_last_session_are_reported(void **state)
{
	(void)state;
	begin_up();
	l.busy = true;
	for (int i = 0; i < 5; i++)
		lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_DATA, .vc = 1, .src = 1, .dir = 3,
						  .first = 15, .last = 15 },
			    (struct tn_tail) { .eseq = (u32)i });
	tn_nic_work(l.nic, l.now);
	link->credit.owed[1] = 3;	/* credits of the session that ends */
	tn_nic_carrier(l.nic, 0, false, l.now);
	tn_nic_carrier(l.nic, 0, true, l.now);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.peer[0].received.occupied[0], 0);
	assert_int_equal(l.peer[0].received.occupied[1], 5);
	assert_int_equal(l.peer[0].received.last_rseq, l.peer[0].tseq);
	assert_int_equal(link->credit.owed[1], 0);
	/* Freed before the link is up, reported when it is. */
	l.busy = false;
	tn_nic_work(l.nic, l.now);
	assert_int_equal(link->credit.owed[1], 5);
	lone_tx(&l, 0);
	assert_int_equal(l.peer[0].received.occupied[1], 5);
	l.now += 77;
	lone_up(&l, 0);
	assert_true(link->credit_at == l.now + l.params.ack_delay);
	end();
}

/* A new session begins with nothing to acknowledge, and the time of silence begins anew. */
static void new_session_begins_without_debts(void **state)
{
	struct tn_init i;

	(void)state;
	begin_up();
	busy();
	link->credit.owed[1] = 0;
	tn_nic_retrain(l.nic, 0, l.now);
	lone_drain(&l, 0);
	l.now += 9 * MS;
	i = lone_init_of(&l, 0);
	i.resume = 1;
	i.last_session = link->session;
	i.last_rseq = l.peer[0].rseq;
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, UP);
	assert_int_equal(link->unacked, 0);
	assert_true(link->ack_at == NEVER && link->credit_at == NEVER);
	assert_true(link->init_at == NEVER && link->give_up_at == NEVER);
	assert_true(link->received_at == l.now);
	assert_true(link->keepalive_at == (l.now / (100 * MS) + 1) * 100 * MS);
	assert_int_equal(link->up_attempt, i.attempt);
	end();
}

/* Both ends compute the same seed of LCRCs from the two nonces. */
static void both_ends_compute_same_seed(void **state)
{
	(void)state;
	for (u32 high = 0; high < 2; high++) {
		u32 own, peer;
		u8 b[8];

		begin();
		l.random = high ? 0xfffffff0 : 16;
		lone_up(&l, 0);
		own = l.peer[0].received.nonce;
		peer = l.peer[0].nonce;
		assert_int_equal(own > peer, high);
		tn_put_le32(b, high ? peer : own);
		tn_put_le32(b + 4, high ? own : peer);
		assert_int_equal(link->seed, tn_crc32c(~0u, b, sizeof(b)));
		end();
	}
	/* 0 is not used as a nonce: it means that none was received. */
	begin();
	l.random = 0;
	tn_nic_carrier(l.nic, 0, true, l.now);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.peer[0].received.nonce, 1);
	end();
}

/*
 * The INIT that begins our attempt may carry the nonce that the attempt then draws. Neither end
 * could tell such INITs from its own, so this one is ignored, and the next nonce brings the link up.
 */
static void init_with_same_nonce_is_ignored(void **state)
{
	struct tn_init i;

	(void)state;
	begin();
	lone_up(&l, 0);
	i = lone_init_of(&l, 0);
	i.resume = true;
	i.last_session = link->session;
	i.last_rseq = l.peer[0].rseq;
	i.nonce = l.random;
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, TORUS_LINK_RETRAINING);
	assert_int_equal(link->nonce, i.nonce);
	assert_int_equal(link->peer_nonce, 0);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.peer[0].received.nonce, i.nonce);
	assert_int_equal(l.peer[0].received.nonce_received, 0);
	i.nonce++;
	i.nonce_received = link->nonce;
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, UP);
	end();
}

/*
 * A retraining on request resumes a link that is up, and else begins anew; without a cable nothing
 * happens.
 */
static void retraining_by_hand_resumes_or_begins_anew(void **state)
{
	u32 nonce;

	(void)state;
	begin();
	tn_nic_retrain(l.nic, 0, l.now);
	assert_int_equal(l.events, 0);
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	nonce = link->nonce;
	l.events = 0;
	tn_nic_retrain(l.nic, 0, l.now);
	assert_int_equal(l.events, 2);
	assert_int_not_equal(link->nonce, nonce);
	assert_int_equal(link->state, TORUS_LINK_INIT);
	lone_up(&l, 0);
	tn_nic_retrain(l.nic, 0, l.now);
	nonce = link->nonce;
	assert_int_equal(link->state, TORUS_LINK_RETRAINING);
	assert_false(link->closed);
	tn_nic_retrain(l.nic, 0, l.now);		/* the link trains already */
	assert_int_equal(link->nonce, nonce);
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(age_of_state_counts_from_its_beginning),
		cmocka_unit_test(port_taken_down_stays_down_until_taken_up),
		cmocka_unit_test(port_is_taken_down_in_any_state),
		cmocka_unit_test(carrier_begins_and_ends_attempt),
		cmocka_unit_test(failed_link_is_faulty_after_ten_intervals),
		cmocka_unit_test(inits_of_another_nic_are_accepted),
		cmocka_unit_test(silent_neighbour_in_handshake_begins_new_attempt),
		cmocka_unit_test(limit_is_silence_once_peer_has_shown_to_be_up),
		cmocka_unit_test(short_silence_does_not_end_attempt_before_next_init),
		cmocka_unit_test(faulty_link_sends_init_each_probe_interval),
		cmocka_unit_test(buffers_of_last_session_are_reported),
		cmocka_unit_test(new_session_begins_without_debts),
		cmocka_unit_test(both_ends_compute_same_seed),
		cmocka_unit_test(init_with_same_nonce_is_ignored),
		cmocka_unit_test(retraining_by_hand_resumes_or_begins_anew),
	};

	return cmocka_run_group_tests_name("link_states", all, NULL, NULL);
}
