// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests what an INIT does to a link, for each state of the link and each kind of INIT, against a
 * model of the rules in kernel/core/link.h; and what a handshake says and a session begins with.
 */
#include "tests/unit/lone.h"
#include "lib/util/times.h"

#define NEVER (~0ull)
#define UP TORUS_LINK_UP
#define INIT TORUS_LINK_INIT
#define TRAINING TORUS_LINK_TRAINING
#define RETRAINING TORUS_LINK_RETRAINING
#define FAULTY TORUS_LINK_FAULTY

static struct lone l;
static struct tn_link *link;
static struct tn_link_ops ops;
static const struct tn_link_ops *real;
static const struct tn_tail good;

/* Calls of the link to its NIC since the last forget(). */
static struct {
	u32 seqs, failures;
	bool none;
	u16 seq;
} reported;

static void forget(void)
{
	memset(&reported, 0, sizeof(reported));
	memset(l.event, 0, sizeof(l.event));
	l.events = 0;
}

static void on_peer_seq(void *ctx, struct tn_link *l_, bool none, u16 seq)
{
	reported.seqs++;
	reported.none = none;
	reported.seq = seq;
	real->peer_seq(ctx, l_, none, seq);
}

static void on_failed(void *ctx, struct tn_link *l_, struct tn_queue *retry, u64 now)
{
	reported.failures++;
	real->failed(ctx, l_, retry, now);
}

static void begin(void (*tune)(struct lone *l))
{
	lone_start(&l, "4", 0, tune);
	link = lone_link(&l, 0);
	real = link->ops;
	ops = *real;
	ops.peer_seq = on_peer_seq;
	ops.failed = on_failed;
	link->ops = &ops;
	forget();
}

static void begin_handshake(void (*tune)(struct lone *l))
{
	begin(tune);
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	forget();
}

static void begin_up(void (*tune)(struct lone *l))
{
	begin(tune);
	lone_up(&l, 0);
	forget();
}

static void end(void)
{
	lone_end(&l);
}

/* --- INITs in each state -------------------------------------------------------------------- */

enum situation { FIRST, AGAIN, IS_UP, TRAINS, FAILED, NO_CARRIER, DISABLED, SITUATIONS };

/* Brings the link into a situation; in all but the first it was up before. */
static void enter(enum situation s)
{
	begin(NULL);
	l.now += MS;
	if (s == FIRST)
		tn_nic_carrier(l.nic, 0, true, l.now);
	else
		lone_up(&l, 0);
	l.now += MS;
	if (s == AGAIN || s == NO_CARRIER)
		tn_nic_carrier(l.nic, 0, false, l.now);
	if (s == AGAIN)
		tn_nic_carrier(l.nic, 0, true, l.now);
	if (s == TRAINS)
		tn_nic_retrain(l.nic, 0, l.now);
	if (s == FAILED)
		lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_CREDIT, .crp = 9 }, good);
	if (s == DISABLED)
		tn_nic_admin(l.nic, 0, false, l.now);
	lone_drain(&l, 0);
	forget();
}

/* Takes one of @n from *@code. */
static u32 pick(u32 *code, u32 n)
{
	u32 v = *code % n;

	*code /= n;
	return v;
}

#define KINDS (3 * 2 * 2 * 2 * 3 * 3 * 2)

/* Makes the INIT number @code of KINDS. */
static struct tn_init make_init(u32 code)
{
	const u32 nonce[] = { link->nonce, link->peer_nonce ? link->peer_nonce : 900000, 900001 };
	u32 other;
	struct tn_init i = {
		.guid = link->peer_guid, .epoch = link->peer_epoch,
		.lowest = TN_WIRE_OLDEST, .highest = TN_WIRE_VERSION,
		.slot_flits = (u16)(tn_packet_max(&l.params) / TN_FLIT),
		.slots = { 256, 256, 256 }, .first_tseq = 77, .port = 1, .mbps = 5,
		.last_rseq = link->retry.tx.tseq,
	};

	i.nonce = nonce[pick(&code, 3)];
	i.nonce_received = pick(&code, 2) ? link->nonce : 0;
	i.resume = (u8)pick(&code, 2);
	i.last_session = link->session + pick(&code, 2);
	other = pick(&code, 3);
	i.guid += other == 1;
	i.epoch += other == 2;
	i.attempt = link->peer_attempt + pick(&code, 3) - 1;
	i.up = (u8)pick(&code, 2);
	return i;
}

/* Rules 1: INITs that change nothing. @was: the link before. */
static bool is_ignored(const struct tn_link *was, const struct tn_init *i)
{
	bool same = i->guid == was->peer_guid && i->epoch == was->peer_epoch;
	bool fresh = l.now - was->attempt_at < l.params.silence;

	if (!was->admin || !was->carrier || i->nonce == was->nonce)
		return true;
	if (same && fresh && (s32)(i->attempt - was->peer_attempt) < 0)
		return true;
	/* what is left of the session that has ended */
	return same && was->state != UP && i->attempt == was->up_attempt &&
	       i->nonce_received != was->nonce;
}

static void check_arrows(const u8 *states)
{
	u32 n = 0;

	for (; states[n + 1] != 0xff; n++) {
		assert_int_equal(l.event[n].old_state, states[n]);
		assert_int_equal(l.event[n].state, states[n + 1]);
	}
	assert_int_equal(l.events, n);
}

/* Rules 2: what an INIT changes that is not ignored, and does not repeat the nonce of the session. */
static void check_change(const struct tn_link *was, const struct tn_init *i)
{
	bool resumes = i->resume && i->last_session == was->session &&
		       ((was->state == UP && i->epoch == was->peer_epoch) || was->state == RETRAINING);
	bool fails = !resumes && (was->state == UP || was->state == RETRAINING);
	bool restarts = fails || was->state == FAULTY;
	/* a nonce that was drawn only now has not been received by the peer */
	bool comes_up = i->nonce_received == was->nonce && !restarts && was->state != UP;
	u8 now = comes_up ? UP : resumes ? RETRAINING : INIT;

	assert_int_equal(reported.failures, fails);
	if (fails)
		check_arrows((const u8[]) { was->state, FAULTY, TRAINING, INIT, 0xff });
	else if (restarts)
		check_arrows((const u8[]) { FAULTY, TRAINING, INIT, 0xff });
	else if (now != was->state)
		check_arrows((const u8[]) { was->state, now, 0xff });
	else
		assert_int_equal(l.events, 0);
	assert_int_equal(link->reason, fails ? TORUS_REASON_PEER : was->reason);
	assert_int_equal(reported.seqs, was->session && !resumes);
	if (reported.seqs)
		assert_true(reported.none == (i->last_session != was->session) && reported.seq == i->last_rseq);
	assert_int_equal(link->state, now);
	assert_int_equal(link->attempt,
			 was->attempt + (fails ? 2 : restarts || now != was->state) - comes_up);
	assert_int_equal(link->nonce == was->nonce, link->attempt == was->attempt);
	assert_true(link->peer_nonce == i->nonce && link->peer_attempt == i->attempt);
	assert_true(link->peer_guid == i->guid && link->peer_epoch == i->epoch);
	assert_true(link->peer_port == i->port);
	assert_true(link->attempt_at == l.now && link->received_at == l.now);
	assert_true(link->init_now);
	if (restarts)
		assert_true(link->give_up_at == l.now + 10 * l.params.init_interval);
	if (comes_up)
		assert_true(link->peer_up == i->up && link->up_attempt == i->attempt &&
			    link->peer_mbps == i->mbps);
}

static void check_init(const struct tn_link *was, const struct tn_init *i)
{
	struct tn_link want = *was;

	want.counter[TORUS_PC_RX_FRAMES]++;
	if (!is_ignored(was, i)) {
		if (was->state != UP || i->nonce != was->peer_nonce) {
			check_change(was, i);
			return;
		}
		/* the peer repeats its last INIT, and needs an answer unless it is up, too */
		want.received_at = l.now;
		want.peer_up |= i->up;
		want.init_now = !i->up;
	}
	assert_memory_equal(link, &want, sizeof(want));
	assert_true(!reported.seqs && !reported.failures && !l.events);
}

/* Each INIT, at once or when the newest one is so old that its number is not trusted. */
static void each_init_changes_each_state_by_rules(void **state)
{
	size_t size = tn_nic_size();
	void *saved = malloc(size);

	(void)state;
	assert_non_null(saved);
	for (enum situation s = FIRST; s < SITUATIONS; s++) {
		u64 from;

		enter(s);
		from = l.now;
		memcpy(saved, l.nic, size);
		for (u32 code = 0; code < 4 * KINDS; code++) {
			struct tn_init i = make_init(code / 4);
			struct tn_link was;

			link->peer_up = code & 1;	/* of the last session, or not yet */
			was = *link;
			l.now = code & 2 ? was.attempt_at + l.params.silence : from;
			lone_init(&l, 0, &i);
			check_init(&was, &i);
			memcpy(l.nic, saved, size);
			l.now = from;
			forget();
		}
		end();
	}
	free(saved);
}

/* --- what a handshake says ------------------------------------------------------------------- */

/* The numbers of an attempt are random, its buffers those in use; nothing else is in an INIT. */
static void attempt_tells_buffers_in_use_and_random_numbers(void **state)
{
	(void)state;
	begin_handshake(NULL);
	assert_int_equal(l.peer[0].received.last_rseq, 0);
	for (unsigned int vc = 0; vc < TORUS_VCS; vc++) {
		link->credit.used[vc] = (u16)(vc + 1);
		link->credit.owed[vc] = 7;
		link->credit.owed_critical[vc] = 1;
	}
	l.random = 0xffffe123;
	link->wire_highest = TN_WIRE_OLDEST;
	tn_nic_retrain(l.nic, 0, l.now);
	memset(link->ctl, 0xa5, sizeof(link->ctl));
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.peer[0].received.nonce, 0xffffe123);
	assert_int_equal(l.peer[0].received.first_tseq, 0x124);
	assert_int_equal(l.peer[0].received.highest, 0);	/* as NICs of the oldest version say it */
	for (unsigned int vc = 0; vc < TORUS_VCS; vc++) {
		assert_int_equal(l.peer[0].received.occupied[vc], vc + 1);
		assert_true(!link->credit.owed[vc] && !link->credit.owed_critical[vc]);
		link->credit.used[vc] = 0;
	}
	end();
}

/* 0 is no seed: a pair of nonces whose checksum is 0 gets 1. */
static void seed_of_link_is_never_0(void **state)
{
	u32 own, peer, n = 0;
	struct tn_init i;
	u8 bytes[4];

	(void)state;
	do {
		own = 0x1000 + n++;
		tn_put_le32(bytes, own);
		peer = tn_crc32c(~0u, bytes, sizeof(bytes));
	} while (peer <= own);
	begin(NULL);
	l.random = own;
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	i = lone_init_of(&l, 0);
	i.nonce = peer;
	lone_init(&l, 0, &i);
	assert_true(link->state == UP && link->seed == 1 && link->session == 1);
	end();
}

static u32 retry_wish, packets;

static void set_retry(struct lone *one)
{
	one->params.retry = retry_wish;
	one->params.retry_packets = packets;
}

/*
 * The protocol is the one that an end asks for, Angara's if none does; the RETRY buffer has room for
 * control packets beyond its limit. Ends that ask for different ones do not come up.
 */
static void each_pair_of_wishes_has_its_protocol(void **state)
{
	(void)state;
	for (u32 code = 0; code < 4 * 4 * 2; code++) {
		u32 peer = code / 4 % 4, used;
		struct tn_init i;

		retry_wish = code % 4;
		packets = code / 16 ? TN_RETRY_MAX : 20;
		begin_handshake(set_retry);
		assert_int_equal(l.peer[0].received.retry, retry_wish);
		i = lone_init_of(&l, 0);
		i.retry = (u8)peer;
		lone_init(&l, 0, &i);
		used = retry_wish ? retry_wish : peer ? peer : TORUS_RETRY_ANGARA;
		if (retry_wish && peer && peer != retry_wish) {
			assert_true(link->state == INIT && link->differs == TORUS_DIFFERS_RETRY);
		} else {
			u32 room = used == TORUS_RETRY_HIPPI ? 127 - 64 : 2047 - 64;

			assert_int_equal(link->state, UP);
			assert_int_equal(link->retry.ops->protocol, used);
			assert_int_equal(link->retry_packets, packets < room ? packets : room);
		}
		end();
	}
}

/* A resumed session gives up the packets that the peer has accepted, and sends the others again. */
static void resumed_session_drops_accepted_packets(void **state)
{
	(void)state;
	for (u32 n = 0; n <= 3; n++) {
		struct tn_init i;

		begin_up(NULL);
		for (u32 k = 0; k < 3; k++)
			assert_int_equal(tn_nic_mgmt_send(l.nic, 0, (const u8 *)"x", 1, l.now), 0);
		lone_drain(&l, 0);
		tn_nic_retrain(l.nic, 0, l.now);
		lone_drain(&l, 0);
		i = lone_init_of(&l, 0);
		i.resume = 1;
		i.last_session = link->session;
		i.last_rseq = (u16)((l.peer[0].rseq - 3 + n) & TN_SEQ_MASK);
		lone_init(&l, 0, &i);
		assert_int_equal(link->state, UP);
		assert_int_equal(link->retry.tx.sent.count, 3 - n);
		assert_int_equal(l.mem.live, 3 - n);
		end();
	}
}

/* Nothing that was to be sent, and no time of the wire, is left when the next session begins. */
static void next_session_begins_without_wishes_of_last(void **state)
{
	struct tn_init i;

	(void)state;
	begin_up(NULL);
	link->asks = 3;
	link->credit_now = link->ack_now = link->peer_up = true;
	link->free_at = l.now + SEC;
	tn_nic_carrier(l.nic, 0, false, l.now);
	assert_true(!link->asks && !link->credit_now && !link->ack_now);
	tn_nic_carrier(l.nic, 0, true, l.now);
	lone_drain(&l, 0);
	i = lone_init_of(&l, 0);
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, UP);
	assert_false(link->peer_up);
	assert_true(link->free_at == l.now);
	end();
}

/* Settings that differ are reported for as long as they do; the handshake goes on. */
static void differing_peer_ends_no_handshake(void **state)
{
	(void)state;
	for (u32 vc = 0; vc < TORUS_VCS; vc++) {
		struct tn_init i;

		begin_up(NULL);
		tn_nic_carrier(l.nic, 0, false, l.now);
		tn_nic_carrier(l.nic, 0, true, l.now);
		lone_drain(&l, 0);
		assert_true(link->give_up_at != NEVER);
		i = lone_init_of(&l, 0);
		i.slots[vc] = 1;
		lone_init(&l, 0, &i);
		assert_int_equal(link->differs, TORUS_DIFFERS_SLOTS);
		assert_true(link->differs_own == 2 && link->differs_peer == 1);
		assert_true(link->give_up_at == NEVER);
		i.slot_flits = 1;		/* less than any packet has */
		lone_init(&l, 0, &i);
		assert_int_equal(link->differs, TORUS_DIFFERS_PAYLOAD_MAX);
		assert_int_equal(link->differs_peer, 0);
		l.now += 20 * l.params.init_interval;
		tn_link_poll(link, l.now);
		assert_int_equal(link->state, INIT);
		end();
	}
}

static void few_slots(struct lone *one)
{
	one->params.slots = 16;
	one->params.bubble = TORUS_BUBBLE_CBS;
}

/*
 * With critical bubbles, a peer refuses INITs in which an ordered VC has no free buffer: another
 * attempt begins when each has one. Its INITs go on at the present interval.
 */
static void attempt_is_repeated_when_buffers_are_free(void **state)
{
	(void)state;
	for (u32 code = 0; code < 64; code++) {
		u32 then = code & 7, now = code >> 3, attempt;
		bool again = (then & 3) && !(now & 3);
		u64 gap;

		begin(few_slots);
		for (u32 vc = 0; vc < TORUS_VCS; vc++)
			link->credit.used[vc] = then >> vc & 1 ? 16 : 15;
		tn_nic_carrier(l.nic, 0, true, l.now);
		lone_drain(&l, 0);
		attempt = link->attempt;
		gap = link->init_gap;
		for (u32 vc = 0; vc < TORUS_VCS; vc++)
			link->credit.used[vc] = now >> vc & 1 ? 16 : 15;
		l.now = link->init_at;
		tn_link_poll(link, l.now);
		assert_int_equal(link->attempt, attempt + again);
		assert_true(link->init_gap == gap && link->init_at == l.now + gap && link->init_now);
		memset(link->credit.used, 0, sizeof(link->credit.used));
		end();
	}
}

/* A peer that falls silent in the handshake has done so after exactly the time of silence. */
static void handshake_ends_at_silence_and_not_before(void **state)
{
	(void)state;
	for (u32 late = 0; late < 4; late++) {
		struct tn_init i;
		u32 attempt;
		u64 limit;

		begin_handshake(NULL);
		if (late & 2)		/* INITs may be three times as far apart as this is long */
			l.nic->params.silence = MS;
		limit = late & 2 ? 3 * l.params.probe_interval : l.params.silence;
		i = lone_init_of(&l, 0);
		i.nonce_received = 0;
		lone_init(&l, 0, &i);
		attempt = link->attempt;
		l.now += limit - 1 + (late & 1);
		tn_link_poll(link, l.now);
		assert_int_equal(link->attempt, attempt + (late & 1));
		assert_false(link->resume);
		end();
	}
}

/* Return: an INIT of the peer that resumes the session. */
static struct tn_init resumes(void)
{
	struct tn_init i = lone_init_of(&l, 0);

	i.resume = 1;
	i.last_session = link->session;
	i.last_rseq = l.peer[0].rseq;
	return i;
}

/*
 * A session begins when the peer's ordered VCs have free buffers, with critical bubbles; one that
 * is resumed needs none.
 */
static void only_new_session_waits_for_free_buffers(void **state)
{
	(void)state;
	for (u32 full = 0; full < 8; full++) {
		struct tn_init i;

		begin_handshake(few_slots);
		i = lone_init_of(&l, 0);
		for (u32 vc = 0; vc < TORUS_VCS; vc++)
			i.occupied[vc] = full >> vc & 1 ? i.slots[vc] : 0;
		lone_init(&l, 0, &i);
		assert_int_equal(link->state, full & 3 ? INIT : UP);
		assert_int_equal(link->peer_nonce, full & 3 ? 0 : i.nonce);
		end();
		begin_up(few_slots);
		tn_nic_retrain(l.nic, 0, l.now);
		lone_drain(&l, 0);
		i = resumes();
		for (u32 vc = 0; vc < TORUS_VCS; vc++)
			i.occupied[vc] = full >> vc & 1 ? i.slots[vc] : 0;
		lone_init(&l, 0, &i);
		assert_int_equal(link->state, UP);
		end();
	}
}

/* A retraining makes one attempt only, however long the peer is silent. */
static void silent_peer_begins_no_other_retraining(void **state)
{
	struct tn_init i;
	u32 attempt;

	(void)state;
	begin_up(NULL);
	l.nic->params.retrain_time = 100 * SEC;
	tn_nic_retrain(l.nic, 0, l.now);
	lone_drain(&l, 0);
	attempt = link->attempt;
	i = resumes();
	i.nonce_received = 0;
	lone_init(&l, 0, &i);
	assert_int_equal(link->state, RETRAINING);
	l.now += 10 * l.params.silence;
	tn_link_poll(link, l.now);
	assert_int_equal(link->state, RETRAINING);
	assert_int_equal(link->attempt, attempt);
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(each_init_changes_each_state_by_rules),
		cmocka_unit_test(attempt_tells_buffers_in_use_and_random_numbers),
		cmocka_unit_test(seed_of_link_is_never_0),
		cmocka_unit_test(each_pair_of_wishes_has_its_protocol),
		cmocka_unit_test(resumed_session_drops_accepted_packets),
		cmocka_unit_test(next_session_begins_without_wishes_of_last),
		cmocka_unit_test(differing_peer_ends_no_handshake),
		cmocka_unit_test(attempt_is_repeated_when_buffers_are_free),
		cmocka_unit_test(handshake_ends_at_silence_and_not_before),
		cmocka_unit_test(only_new_session_waits_for_free_buffers),
		cmocka_unit_test(silent_peer_begins_no_other_retraining),
	};

	return cmocka_run_group_tests_name("handshake", all, NULL, NULL);
}
