// SPDX-License-Identifier: GPL-2.0-only
/*
 * A link that trains again, by itself or with its peer: what is kept, and what ends the training.
 * The timers of a link that is up, among them that of replays, which retrains a link of ACK/NAK.
 */
#include "tests/unit/lone.h"
#include "lib/util/times.h"

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
	lone_up(&l, 0);
	lone_events(&l, TN_EV_LINK);
}

static void end(void)
{
	lone_end(&l);
}

static u64 pc(enum torus_port_counter c)
{
	return lone_pc(&l, 0, c);
}

/*
 * Checks that nothing is due before @at, and that tn_nic_expiry() says so; then does what is due.
 */
static void due_at(u64 at)
{
	u64 sent = pc(TORUS_PC_TX_FRAMES);
	u8 state = link->state;

	assert_true(tn_nic_expiry(l.nic) == at);
	l.now = at - 1;
	tn_nic_poll(l.nic, l.now);
	lone_drain(&l, 0);
	assert_int_equal(link->state, state);
	assert_int_equal(pc(TORUS_PC_TX_FRAMES), sent);
	l.now = at;
	tn_nic_poll(l.nic, l.now);
}

/* Checks that at @at, and not before, the NIC sends a frame with one packet, of @type. */
static void sends_at(u64 at, unsigned int type)
{
	due_at(at);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.type, type);
	lone_drain(&l, 0);
}

/* Checks that there is exactly one event: the link went from @old to @now, for @reason. */
static void check_event(u8 old, u8 now, u8 reason)
{
	assert_int_equal(l.events, 1);
	assert_int_equal(l.event[0].type, TN_EV_LINK);
	assert_int_equal(l.event[0].port, 0);
	assert_int_equal(l.event[0].old_state, old);
	assert_int_equal(l.event[0].state, now);
	assert_int_equal(l.event[0].reason, reason);
	l.events = 0;
}

static struct tn_init resumes(void)
{
	struct tn_init i = lone_init_of(&l, 0);

	i.resume = 1;
	i.last_session = link->session;
	i.last_rseq = l.peer[0].rseq;
	return i;
}

/* After a retraining the NIC resumes, and continues from the packet that the peer names. */
static void retraining_resumes_from_packet_that_peer_names(void **state)
{
	u32 session, seed;
	struct tn_init i;

	(void)state;
	begin_up();
	for (int n = 0; n < 3; n++)
		assert_int_equal(tn_nic_mgmt_send(l.nic, 0, (const u8 *)"x", 1, l.now), 0);
	lone_drain(&l, 0);
	l.peer[0].rseq--;		/* the last packet was lost */
	lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_DATA, .src = 1 }, good);
	session = link->session;
	seed = link->seed;
	l.now += 5;
	tn_nic_retrain(l.nic, 0, l.now);
	check_event(UP, TORUS_LINK_RETRAINING, TORUS_REASON_NONE);
	assert_int_equal(lone_tx(&l, 0), 1);
	i = l.peer[0].received;
	assert_true(i.resume && !i.up && i.last_session == session);
	assert_int_equal(i.last_rseq, l.peer[0].tseq);
	assert_int_equal(i.first_tseq, (l.peer[0].rseq + 1) & TN_SEQ_MASK);
	assert_int_equal(i.retry, TORUS_RETRY_ANGARA);	/* the protocol in use, not the wish */
	assert_int_equal(pc(TORUS_PC_RETRAINS), 2);
	/* While packets wait, INITs are sent at a constant interval. */
	for (int n = 0; n < 4; n++)
		sends_at(l.now + 10 * MS, TN_INIT);
	i = resumes();
	lone_init(&l, 0, &i);
	check_event(TORUS_LINK_RETRAINING, UP, TORUS_REASON_NONE);
	assert_int_equal(link->session, session);
	assert_int_not_equal(link->seed, seed);
	l.peer[0].seed = link->seed;
	assert_int_equal(pc(TORUS_PC_RETRIES), 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.type, TN_INIT);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.type, TN_MGMT);
	assert_int_equal(l.sent[0].hdr.tseq, l.peer[0].rseq - 1);
	assert_int_equal(pc(TORUS_PC_REPLAYED_PACKETS), 1);
	assert_int_equal(link->retry.tx.sent.count, 1);
	end();
}

/* A retraining with no packet to send again does not count as a retransmission. */
static void retraining_without_packets_is_no_retransmission(void **state)
{
	struct tn_init i;

	(void)state;
	begin_up();
	tn_nic_retrain(l.nic, 0, l.now);
	lone_drain(&l, 0);
	i = resumes();
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, UP);
	assert_int_equal(pc(TORUS_PC_RETRIES), 0);
	end();
}

/* A retraining that lasts retrain_time is given up. */
static void retraining_is_given_up_after_retrain_time(void **state)
{
	u64 from;

	(void)state;
	begin_up();
	tn_nic_retrain(l.nic, 0, l.now);
	from = l.now;
	lone_drain(&l, 0);
	l.events = 0;
	for (int n = 1; n < 20; n++)
		sends_at(from + (u64)n * 10 * MS, TN_INIT);
	l.now = from + 200 * MS - 1;
	tn_nic_poll(l.nic, l.now);
	assert_int_equal(link->state, TORUS_LINK_RETRAINING);
	tn_nic_poll(l.nic, ++l.now);
	check_event(TORUS_LINK_RETRAINING, TORUS_LINK_FAULTY, TORUS_REASON_SILENCE);
	end();
}

/*
 * The parameters of the ends differ when they retrain: that is reported until the retraining has
 * taken too long.
 */
static void different_parameters_in_retraining_are_reported(void **state)
{
	struct tn_init i;

	(void)state;
	begin_up();
	tn_nic_retrain(l.nic, 0, l.now);
	lone_drain(&l, 0);
	i = resumes();
	i.slot_flits--;
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, TORUS_LINK_RETRAINING);
	assert_int_equal(link->reason, TORUS_REASON_MISMATCH);
	assert_int_equal(link->differs, TORUS_DIFFERS_PAYLOAD_MAX);
	l.now += 200 * MS;
	tn_nic_poll(l.nic, l.now);
	assert_int_equal(link->state, TORUS_LINK_FAULTY);
	assert_int_equal(link->reason, TORUS_REASON_SILENCE);
	assert_int_equal(link->differs, TORUS_DIFFERS_NOTHING);
	end();
}

/*
 * The link begins anew if the peer cannot resume, or has another session or a packet that was never
 * sent.
 */
static void link_begins_anew_if_peer_cannot_resume(void **state)
{
	(void)state;
	for (int what = 0; what < 4; what++) {
		struct tn_init i;

		begin_up();
		tn_nic_retrain(l.nic, 0, l.now);
		lone_drain(&l, 0);
		l.events = 0;
		i = resumes();
		if (what == 0)
			i.resume = 0;
		if (what == 1)
			i.last_session++;
		if (what == 2)
			i.last_rseq++;
		lone_init(&l, 0, &i);
		if (what == 3) {
			assert_int_equal(link->state, UP);
		} else {
			assert_int_not_equal(link->state, UP);
			assert_int_not_equal(link->state, TORUS_LINK_RETRAINING);
			assert_int_equal(link->reason, TORUS_REASON_PEER);
			assert_true(link->closed);
		}
		end();
	}
}

/* If the peer retrains, this NIC does so too, if session and start are the same. */
static void retraining_of_peer_is_followed(void **state)
{
	(void)state;
	for (int what = 0; what < 4; what++) {
		struct tn_init i;

		begin_up();
		i = resumes();
		i.nonce_received = 0;
		if (what == 1)
			i.resume = 0;
		if (what == 2)
			i.last_session++;
		if (what == 3)
			i.epoch++;
		lone_init(&l, 0, &i);
		assert_int_equal(link->state, what ? TORUS_LINK_INIT : TORUS_LINK_RETRAINING);
		assert_int_equal(link->closed, !!what);
		assert_int_equal(lone_tx(&l, 0), 1);
		assert_int_equal(l.peer[0].received.nonce_received, i.nonce);
		assert_int_equal(l.peer[0].received.resume, !what);
		end();
	}
}

/* --- timers of a link that is up --------------------------------------------------------------- */

/* The peer sends a management packet; @ahead: after one that was lost. */
static void peer_sends(u16 ahead)
{
	lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_MGMT, .len = 1, .tseq = ahead }, good);
	l.peer[0].tseq = (u16)((l.peer[0].tseq - !!ahead) & TN_SEQ_MASK);
}

static void send_one(void)
{
	assert_int_equal(tn_nic_mgmt_send(l.nic, 0, (const u8 *)"x", 1, l.now), 0);
}

/* Each timer is due at its time and not again, also if no frame is sent meanwhile. */
static void expired_timer_is_not_due_again(void **state)
{
	(void)state;
	for (u32 which = 0; which < 3; which++) {
		u64 *at, was;

		begin_up();
		at = which == 0 ? &link->ack_at : which == 1 ? &link->credit_at : &link->keepalive_at;
		if (which == 0)
			peer_sends(0);
		if (which == 1)		/* as if a packet had left its buffer */
			link->credit_at = l.now + MS;
		was = *at;
		assert_true(tn_link_expiry(link) == was);
		l.now = was;
		tn_link_poll(link, l.now);
		assert_true(*at != was && tn_link_expiry(link) > l.now);
		assert_true(which == 1 ? link->credit_now : link->ack_now);
		end();
	}
}

/* A reception error is reported again at intervals, in another generation, until it is repaired. */
static void error_is_reported_at_intervals_until_repaired(void **state)
{
	u64 half = 0;

	(void)state;
	begin_up();
	half = l.params.replay_timeout / 2;
	peer_sends(1);
	for (u32 n = 1; n <= 4; n++) {
		u8 gen = link->retry.rx.e_gen;

		lone_drain(&l, 0);
		assert_int_equal(pc(TORUS_PC_E_SENT), n);
		assert_true(link->e_at == l.now + half);
		tn_link_poll(link, l.now + half - 1);
		assert_false(link->ack_now);
		l.now += half;
		tn_link_poll(link, l.now);
		assert_true(link->ack_now);
		assert_int_equal(link->retry.rx.e_gen, gen ^ 1);
	}
	peer_sends(0);
	lone_drain(&l, 0);
	for (u32 n = 1; n <= 3; n++) {
		l.now += half;
		tn_link_poll(link, l.now);
	}
	assert_int_equal(pc(TORUS_PC_E_SENT), 5);
	assert_true(link->e_at < l.now && tn_link_expiry(link) > l.now);
	end();
}

/* Nothing is sent again while packets are yet to be sent for the first time. */
static void no_replay_begins_before_all_is_sent(void **state)
{
	(void)state;
	begin_up();
	send_one();
	lone_drain(&l, 0);
	send_one();
	l.now += l.params.replay_timeout;
	assert_true(tn_link_expiry(link) > l.now);
	tn_link_poll(link, l.now);
	assert_int_equal(pc(TORUS_PC_RETRIES), 0);
	lone_drain(&l, 0);
	assert_true(tn_link_expiry(link) == l.now + l.params.replay_timeout);
	end();
}

/*
 * The interval of replays doubles three times. Every fourth replay with ACK/NAK retrains the link;
 * the other protocols go on.
 */
static void fourth_replay_retrains_link_of_acknak(void **state)
{
	(void)state;
	for (u32 wish = TORUS_RETRY_ANGARA; wish <= TORUS_RETRY_HIPPI; wish++) {
		begin();
		tn_nic_retry(l.nic, 0, wish, l.now);
		lone_up(&l, 0);
		l.nic->params.silence = l.nic->params.retry_time = 1000 * SEC;
		link->peer_up = true;
		send_one();
		for (u32 n = 0; n < 6; n++) {
			u64 timeout = l.params.replay_timeout << (n < 3 ? n : 3);

			lone_drain(&l, 0);
			l.now += timeout - 1;
			tn_link_poll(link, l.now);
			assert_int_equal(pc(TORUS_PC_RETRIES), n);
			l.now++;
			assert_true(tn_link_expiry(link) <= l.now);
			tn_link_poll(link, l.now);
			assert_int_equal(pc(TORUS_PC_RETRIES), n + 1);
			assert_int_equal(pc(TORUS_PC_REPLAY_TIMEOUTS), n + 1);
			if (n == 3 && wish == TORUS_RETRY_ACKNAK)
				break;
			assert_int_equal(link->state, UP);
		}
		assert_int_equal(link->state, wish == TORUS_RETRY_ACKNAK ? TORUS_LINK_RETRAINING : UP);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(retraining_resumes_from_packet_that_peer_names),
		cmocka_unit_test(retraining_without_packets_is_no_retransmission),
		cmocka_unit_test(retraining_is_given_up_after_retrain_time),
		cmocka_unit_test(different_parameters_in_retraining_are_reported),
		cmocka_unit_test(link_begins_anew_if_peer_cannot_resume),
		cmocka_unit_test(retraining_of_peer_is_followed),
		cmocka_unit_test(expired_timer_is_not_due_again),
		cmocka_unit_test(error_is_reported_at_intervals_until_repaired),
		cmocka_unit_test(no_replay_begins_before_all_is_sent),
		cmocka_unit_test(fourth_replay_retrains_link_of_acknak),
	};

	return cmocka_run_group_tests_name("link_retrain", all, NULL, NULL);
}
