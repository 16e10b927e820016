// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each retry protocol: a sender and a receiver joined by a wire that loses, damages, doubles and
 * delays; the model is the list of pushed packets. test_retry_*.c try exhaustively what a wire may
 * do to a few packets.
 */
#include "tests/unit/seeds.h"
#include "kernel/core/retry.h"

#define WIRE 256	/* most headers under way */
#define POOL 1200

/* A header on the line: forward of a packet, backward of an acknowledgement. */
struct flight {
	struct tn_hdr h;
	u32 id;
	bool damaged;
};

/* The @n headers from @first on are under way. */
struct wire {
	struct flight f[2 * WIRE];
	unsigned int first, n;
	unsigned int lose, damage, twice, mix;	/* one in this many headers; 0: none */
};

static void wire_put(struct rnd *r, struct wire *w, struct flight f)
{
	unsigned int copies = rnd_one_in(r, w->lose) ? 0 : rnd_one_in(r, w->twice) ? 2 : 1;

	f.damaged = rnd_one_in(r, w->damage);
	while (copies--) {
		unsigned int end = w->first + w->n, at = end;

		if (w->n == WIRE)
			return;
		if (rnd_one_in(r, w->mix))
			at -= rnd_below(r, w->n < 8 ? w->n + 1 : 8);
		memmove(&w->f[at + 1], &w->f[at], (end - at) * sizeof(f));
		w->f[at] = f;
		w->n++;
	}
}

static bool wire_get(struct wire *w, struct flight *f)
{
	if (!w->n)
		return false;
	*f = w->f[w->first++];
	w->n--;
	if (w->first == WIRE) {
		memcpy(w->f, w->f + WIRE, w->n * sizeof(*f));
		w->first = 0;
	}
	return true;
}

struct pair {
	struct rnd r;
	struct tn_retry a, b;		/* sender, receiver */
	struct wire fwd, back;
	struct tn_pkt pool[POOL];
	struct tn_queue idle;
	u32 pushed, acked, accepted;	/* ids count up from 0 */
	u32 window;
	u16 first;
	u64 now, news;
};

static u32 id_of(const struct tn_pkt *p)
{
	return p->hdr.dst;
}

static void push(struct pair *p)
{
	struct tn_pkt *pkt;

	if (p->a.tx.sent.count >= p->window)
		return;
	pkt = tn_queue_pop(&p->idle);
	pkt->hdr = (struct tn_hdr) { .type = TN_DATA, .dst = p->pushed++,
				     .len = (u16)rnd_below(&p->r, 20) };
	pkt->vccr_set = 1;
	tn_retry_push(&p->a, pkt, p->now);
	expect(&p->r, !pkt->vccr_set, "a new packet has no VCCR yet");
}

static void transmit(struct pair *p)
{
	struct tn_pkt *pkt = p->a.tx.next;
	struct flight f;

	if (!pkt)
		return;
	f = (struct flight) { .h = pkt->hdr, .id = id_of(pkt) };
	p->a.ops->stamp(&p->a, &f.h);
	tn_retry_sending(&p->a, p->now);
	wire_put(&p->r, &p->fwd, f);
}

static void answer(struct pair *p)
{
	struct flight f = { .h = { .type = p->b.ops->alone ? TN_ACKNAK : TN_IDLE } };

	p->b.ops->stamp(&p->b, &f.h);
	wire_put(&p->r, &p->back, f);
}

static void receive(struct pair *p)
{
	struct flight f;

	if (!wire_get(&p->fwd, &f))
		return;
	if (f.damaged) {
		/* The header cannot be trusted: use the last good generation. */
		if (tn_retry_error(&p->b, p->b.rx.gen_seen))
			p->news++;
		return;
	}
	switch (tn_retry_check(&p->b, &f.h)) {
	case TN_RX_ACCEPT:
		expect(&p->r, f.id == p->accepted, "got %u, next is %u", f.id, p->accepted);
		p->accepted++;
		tn_retry_accept(&p->b, &f.h);
		break;
	case TN_RX_AHEAD:
		expect(&p->r, f.id > p->accepted, "%u is not ahead", f.id);
		p->news += tn_retry_error(&p->b, f.h.gen);
		break;
	case TN_RX_BEHIND:
		expect(&p->r, f.id < p->accepted, "%u is not behind", f.id);
		tn_retry_behind(&p->b, &f.h);
		break;
	}
}

static void acknowledged(struct pair *p)
{
	struct tn_queue done = { 0 };
	struct tn_pkt *pkt;
	struct flight f;

	if (!wire_get(&p->back, &f) || f.damaged)
		return;
	expect(&p->r, tn_retry_receive(&p->a, &f.h, &done, p->now) != TN_RECEIVED_INVALID,
	       "honest");
	while ((pkt = tn_queue_pop(&done))) {
		expect(&p->r, id_of(pkt) == p->acked, "released %u", id_of(pkt));
		p->acked++;
		tn_queue_push(&p->idle, pkt);
	}
	expect(&p->r, p->acked <= p->accepted, "released before accepted");
}

/* Checks that the RETRY buffer has exactly the ids from acked on. */
static void buffer_right(struct pair *p)
{
	struct tn_pkt *pkt = p->a.tx.sent.head;
	u32 id = p->acked, flits = 0;

	for (; pkt; pkt = pkt->next, id++) {
		expect(&p->r, id_of(pkt) == id, "buffer holds %u", id_of(pkt));
		flits += tn_pkt_flits(pkt);
	}
	expect(&p->r, id == p->pushed, "%u of %u", id, p->pushed);
	expect(&p->r, flits == p->a.tx.flits, "flits %u", p->a.tx.flits);
	expect(&p->r, p->a.tx.tseq == ((p->first + p->pushed) & TN_SEQ_MASK), "TSEQ");
	expect(&p->r, p->b.rx.expected == ((p->first + p->accepted) & TN_SEQ_MASK), "CTRP");
}

static void pair_start(struct pair *p, uint64_t seed, unsigned int protocol)
{
	const struct tn_retry_ops *ops;
	u32 most;

	memset(p, 0, sizeof(*p));
	p->r = rnd_new(seed);
	for (int i = 0; i < POOL; i++)
		tn_queue_push(&p->idle, &p->pool[i]);
	p->now = 1;
	p->first = (u16)rnd_below(&p->r, 4096);
	ops = tn_retry_of(protocol);
	most = ops->limit < TN_RETRY_MAX ? ops->limit : TN_RETRY_MAX;
	p->window = 1 + rnd_below(&p->r, rnd_below(&p->r, 4) ? 64 : most);
	tn_retry_start(&p->a, ops, p->first, 0, p->now);
	tn_retry_start(&p->b, ops, 0, p->first, p->now);
}

static void lossy_one(uint64_t seed)
{
	static const unsigned int odds[] = { 0, 3, 10, 100, 1000 };
	static struct pair p;
	struct rnd *r = &p.r;
	u32 goal = 6000, idle = 0;

	pair_start(&p, seed, 1 + (unsigned int)(seed % (TORUS_RETRIES - 1)));
	for (struct wire *w = &p.fwd; w; w = w == &p.fwd ? &p.back : NULL) {
		w->lose = odds[rnd_below(r, 5)];
		w->damage = odds[rnd_below(r, 5)];
		w->twice = odds[rnd_below(r, 5)];
		w->mix = odds[rnd_below(r, 5)];
	}
	while (p.acked < goal) {
		u32 before = p.acked;

		p.now++;
		if (p.pushed < goal)
			push(&p);
		transmit(&p);
		if (rnd_below(r, 3))
			receive(&p);
		if (!rnd_below(r, 4))
			answer(&p);
		if (rnd_below(r, 3))
			acknowledged(&p);
		idle = p.acked == before ? idle + 1 : 0;
		if (idle % 500 == 499)
			tn_retry_back(&p.a);	/* the host's timeout */
		expect(r, idle < 400000, "stuck at %u", p.acked);
		if (p.now % 256 == 0)
			buffer_right(&p);
	}
	expect(r, p.accepted == goal && !p.a.tx.sent.head && !p.a.tx.flits, "the end");
}

static void lossy_line_loses_no_packet(void **state)
{
	(void)state;
	for_seeds(120, lossy_one);
}

/* On a perfect wire no packet is ever sent twice. */
static void clean(unsigned int protocol)
{
	static struct pair p;
	u32 replays = 0;

	pair_start(&p, 1, protocol);
	for (int i = 0; i < 20000; i++) {
		struct tn_pkt *next;
		struct flight f;

		push(&p);
		next = p.a.tx.next;
		f = (struct flight) { .h = next->hdr, .id = id_of(next) };
		p.a.ops->stamp(&p.a, &f.h);
		if (tn_retry_sending(&p.a, ++p.now))
			replays++;
		wire_put(&p.r, &p.fwd, f);
		receive(&p);
		answer(&p);
		acknowledged(&p);
	}
	assert_int_equal(replays, 0);
	assert_int_equal(p.acked, 20000);
	assert_int_equal(p.news, 0);
}

static void clean_line_sends_no_packet_twice(void **state)
{
	(void)state;
	for (unsigned int protocol = 1; protocol < TORUS_RETRIES; protocol++)
		clean(protocol);
}

/* With Angara's protocol one error makes the sender go back once, however often E is repeated. */
static void one_error_makes_sender_go_back_once(void **state)
{
	static struct pair p;
	struct tn_queue done = { 0 };
	unsigned int backs = 0;
	struct flight f;

	(void)state;
	pair_start(&p, 1, TORUS_RETRY_ANGARA);
	p.window = 10;
	for (int i = 0; i < 10; i++) {
		push(&p);
		transmit(&p);
	}
	assert_true(wire_get(&p.fwd, &f));	/* this header is lost */
	for (int i = 0; i < 9; i++) {
		receive(&p);
		answer(&p);
	}
	assert_int_equal(p.news, 1);
	while (wire_get(&p.back, &f)) {
		assert_true(f.h.e);
		assert_int_equal(f.h.rseq, p.first);
		backs += tn_retry_receive(&p.a, &f.h, &done, p.now) == TN_RECEIVED_REPLAY;
	}
	assert_int_equal(backs, 1);
	assert_int_equal(p.a.tx.tries, 1);
	/* The first packet of the replay is hit, too: noticed at the second. */
	for (int i = 0; i < 10; i++)
		transmit(&p);
	assert_true(wire_get(&p.fwd, &f));
	receive(&p);
	assert_int_equal(p.news, 2);
	answer(&p);
	assert_true(wire_get(&p.back, &f));
	assert_int_equal(f.h.gen_echo, p.a.tx.gen);
}

/* An RSEQ of a packet that was never sent is an error; an old one is only old. */
static void acknowledgement_of_unsent_packet_is_error(void **state)
{
	struct tn_pkt pkt[20] = { 0 };
	struct tn_queue done = { 0 };
	struct tn_retry tx;

	(void)state;
	tn_retry_start(&tx, &tn_retry_angara, 4095, 0, 1);
	assert_int_equal(tn_retry_ack(&tx, 4095, &done, 1), TN_ACK_OK);
	assert_int_equal(tn_retry_ack(&tx, 0, &done, 1), TN_ACK_INVALID);
	assert_int_equal(tn_retry_ack(&tx, 4094, &done, 1), TN_ACK_STALE);
	for (int i = 0; i < 20; i++)
		tn_retry_push(&tx, &pkt[i], 1);
	/* The packet is in the RETRY buffer, but not yet on the wire. */
	assert_int_equal(tn_retry_ack(&tx, 0, &done, 1), TN_ACK_INVALID);
	for (int i = 0; i < 10; i++)
		assert_false(tn_retry_sending(&tx, 2));
	assert_int_equal(tn_retry_ack(&tx, 10, &done, 2), TN_ACK_INVALID);
	assert_int_equal(tn_retry_ack(&tx, 9, &done, 2), TN_ACK_OK);
	assert_int_equal(done.count, 10);
	assert_int_equal(tn_retry_ack(&tx, 8, &done, 2), TN_ACK_STALE);
	assert_int_equal(done.count, 10);
	assert_int_equal(tx.tx.sent.count, 10);
	/* Going back when even the oldest packet was not sent yet replays nothing. */
	assert_true(tn_retry_back(&tx));
	assert_false(tn_retry_sending(&tx, 3));
	assert_true(tn_retry_back(&tx));
	assert_true(tn_retry_sending(&tx, 3));
}

/* An acknowledgement in the middle of a replay skips the packets that it covers. */
static void acknowledgement_in_replay_skips_its_packets(void **state)
{
	struct tn_pkt pkt[8] = { 0 };
	struct tn_queue done = { 0 };
	struct tn_retry tx;

	(void)state;
	tn_retry_start(&tx, &tn_retry_angara, 0, 0, 1);
	for (int i = 0; i < 8; i++)
		tn_retry_push(&tx, &pkt[i], 1);
	for (int i = 0; i < 8; i++)
		tn_retry_sending(&tx, 1);
	tn_retry_back(&tx);
	assert_true(tn_retry_sending(&tx, 2));
	assert_int_equal(tn_retry_ack(&tx, 5, &done, 2), TN_ACK_OK);
	assert_ptr_equal(tx.tx.next, &pkt[5]);
	assert_int_equal(tx.tx.tries, 0);
	assert_int_equal(tn_retry_ack(&tx, 8, &done, 2), TN_ACK_OK);
	assert_null(tx.tx.next);
	assert_false(tn_retry_back(&tx));
	assert_int_equal(done.count, 8);
}

static const struct tn_retry_ops *const protocols[] = {
	&tn_retry_angara, &tn_retry_acknak, &tn_retry_hippi,
};

/*
 * A retraining at the worst time: packets were sent and not acknowledged, errors have made the
 * window small and it is full, an error of the other direction was noticed and reported. Afterwards
 * all packets are sent again from the oldest on, and no end remembers an earlier error report or
 * generation.
 */
static void retraining_with_unacknowledged_packets_loses_none(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(protocols) / sizeof(*protocols); i++) {
		const struct tn_retry_ops *ops = protocols[i];
		struct tn_pkt pkt[TN_RETRY_WINDOW_MIN] = { 0 };
		struct tn_hdr h = { .type = TN_DATA };
		struct tn_queue done = { 0 };
		struct tn_retry r;

		tn_retry_start(&r, ops, 0, 0, 1);
		for (unsigned int n = 0; n < TN_RETRY_WINDOW_MIN; n++)
			tn_retry_push(&r, &pkt[n], 1);
		while (tn_retry_ready(&r))
			tn_retry_sending(&r, 2);
		for (unsigned int n = 0; n < 31; n++)
			tn_retry_back(&r);
		while (tn_retry_ready(&r))
			tn_retry_sending(&r, 3);
		assert_int_equal(r.tx.tries, 31);
		assert_int_equal(r.tx.on_wire, TN_RETRY_WINDOW_MIN);
		assert_int_equal(r.tx.gen, 1);
		assert_true(tn_retry_error(&r, 1));
		if (ops == &tn_retry_hippi) {		/* the peer has answered once, and we */
			h.rseq = 0;
			assert_int_equal(tn_retry_receive(&r, &h, &done, 3), TN_RECEIVED_OK);
			ops->stamp(&r, &h);
		}

		tn_retry_resume(&r, 4);
		assert_ptr_equal(r.tx.next, &pkt[0]);
		for (unsigned int n = 0; n < TN_RETRY_WINDOW_MIN; n++) {
			assert_true(tn_retry_ready(&r));
			assert_true(tn_retry_sending(&r, 4));
		}
		/* PCI Express and BlueGene/L count attempts without progress across retrainings. */
		assert_int_equal(r.tx.tries, ops->remind ? 0 : 31);
		assert_int_equal(r.tx.since, 4);
		assert_false(tn_retry_urgent(&r));
		h = (struct tn_hdr) { .type = ops->alone ? TN_ACKNAK : TN_IDLE };
		ops->stamp(&r, &h);
		assert_int_equal(h.e | h.gen | h.gen_echo, 0);
		if (ops == &tn_retry_hippi) {
			assert_int_equal(h.rseq, 255);		/* nothing is owed */
			/* and received for the first time */
			h.rseq = 0;
			assert_int_equal(tn_retry_receive(&r, &h, &done, 5), TN_RECEIVED_OK);
		}
		/* The first error after that is news, and is reported fully. */
		assert_true(tn_retry_error(&r, 0));
		if (ops == &tn_retry_hippi)
			assert_int_equal(r.owed, 2);
	}
}

/*
 * Retransmissions without progress are counted; the count of the first packet after a pause starts
 * at 0.
 */
static void retransmissions_without_progress_are_counted(void **state)
{
	struct tn_queue done = { 0 };
	struct tn_pkt pkt[3] = { 0 };
	struct tn_retry r;

	(void)state;
	tn_retry_start(&r, &tn_retry_angara, 0, 0, 1);
	for (unsigned int n = 0; n < 2; n++) {
		tn_retry_push(&r, &pkt[n], 10);
		assert_int_equal(r.tx.since, 10);
		tn_retry_sending(&r, 20);
		assert_int_equal(r.tx.sent_at, 20);
	}
	tn_retry_back(&r);
	tn_retry_back(&r);
	tn_retry_sending(&r, 30);
	tn_retry_sending(&r, 30);
	/* Nothing new: no progress. */
	assert_int_equal(tn_retry_ack(&r, 0, &done, 40), TN_ACK_OK);
	assert_int_equal(r.tx.tries, 2);
	assert_int_equal(r.tx.since, 10);
	assert_int_equal(tn_retry_ack(&r, 1, &done, 50), TN_ACK_OK);
	assert_int_equal(r.tx.tries, 0);
	assert_int_equal(r.tx.since, 50);
	/* A further packet does not change the time of those that wait. */
	tn_retry_push(&r, &pkt[2], 60);
	assert_int_equal(r.tx.since, 50);
}

/*
 * The window shrinks by a quarter of what was on the wire, and grows by a quarter of what is
 * acknowledged.
 */
static void window_shrinks_with_errors_and_grows_with_answers(void **state)
{
	static struct tn_pkt pkt[400];
	struct tn_queue done = { 0 };
	struct tn_retry r;
	unsigned int n;

	(void)state;
	tn_retry_start(&r, &tn_retry_angara, 0, 0, 1);
	for (n = 0; n < 400; n++)
		tn_retry_push(&r, &pkt[n], 1);
	for (n = 0; n < 100; n++)
		tn_retry_sending(&r, 1);
	assert_true(tn_retry_back(&r));
	for (n = 0; tn_retry_ready(&r); n++)
		tn_retry_sending(&r, 1);
	assert_int_equal(n, 75);
	assert_int_equal(tn_retry_ack(&r, 40, &done, 2), TN_ACK_OK);
	for (; tn_retry_ready(&r); n++)
		tn_retry_sending(&r, 2);
	assert_int_equal(n, 75 + 40 + 10);
	for (int i = 0; i < 40; i++) {
		assert_true(tn_retry_back(&r));
		for (n = 0; tn_retry_ready(&r); n++)
			tn_retry_sending(&r, 2);
	}
	assert_int_equal(n, TN_RETRY_WINDOW_MIN);
	/* However many are acknowledged, the window is never larger than the buffer. */
	done = (struct tn_queue) { 0 };
	tn_retry_start(&r, &tn_retry_angara, 0, 0, 1);
	for (n = 0; n < 400; n++) {
		tn_retry_push(&r, &pkt[n], 1);
		tn_retry_sending(&r, 1);
	}
	assert_int_equal(tn_retry_ack(&r, 400, &done, 2), TN_ACK_OK);
	assert_int_equal(r.tx.window, 4 * TN_RETRY_MAX);
}

/* The round trip is measured with one packet at a time, never with one that was sent again. */
static void round_trip_is_never_measured_on_copies(void **state)
{
	struct tn_queue done = { 0 };
	struct tn_pkt pkt[6] = { 0 };
	struct tn_retry r;

	(void)state;
	tn_retry_start(&r, &tn_retry_angara, 0, 0, 1);
	for (unsigned int n = 0; n < 6; n++)
		tn_retry_push(&r, &pkt[n], 1);
	tn_retry_sending(&r, 100);		/* this one is measured, */
	tn_retry_sending(&r, 1000);		/* this one is not */
	tn_retry_ack(&r, 1, &done, 900);
	assert_int_equal(r.tx.rtt, 100);
	tn_retry_sending(&r, 2000);		/* the next one that is sent */
	tn_retry_ack(&r, 2, &done, 2100);	/* does not cover it */
	assert_int_equal(r.tx.rtt, 100);
	tn_retry_ack(&r, 3, &done, 2900);
	assert_int_equal(r.tx.rtt, (7 * 100 + 900) / 8);
	tn_retry_sending(&r, 3000);
	tn_retry_back(&r);
	tn_retry_sending(&r, 4000);
	tn_retry_ack(&r, 4, &done, 4800);
	assert_int_equal(r.tx.rtt, (7 * 200 + 800) / 8);
}

/* Sends packet @n at @at; the peer acknowledges it at @acked. */
static void trip(struct tn_retry *r, struct tn_pkt *pkt, unsigned int n, u64 at, u64 acked)
{
	struct tn_queue done = { 0 };

	tn_retry_push(r, pkt, at);
	tn_retry_sending(r, at);
	assert_int_equal(tn_retry_ack(r, (u16)(n + 1), &done, acked), TN_ACK_OK);
}

/* The shortest of a window counts: at least 8 round trips, in at least a second. */
static void shortest_round_trip_of_each_window_is_known(void **state)
{
	static const u64 s = 1000000000;
	struct tn_pkt pkt[32] = { 0 };
	struct tn_retry r;
	unsigned int n = 0;

	(void)state;
	tn_retry_start(&r, &tn_retry_angara, 0, 0, 1);
	for (; n < 20; n++)	/* enough packets, but not a second */
		trip(&r, &pkt[n], n, 1000 + n * 1000, 1000 + n * 1000 + 500 - n);
	assert_int_equal(r.tx.trips.known, 0);
	trip(&r, &pkt[n], n, 1500 + s - 600, 1500 + s - 1);
	assert_int_equal(r.tx.trips.known, 0);
	n++;
	trip(&r, &pkt[n], n, 1500 + s, 1500 + s + 700);
	assert_int_equal(r.tx.trips.known, 500 - 19);
	for (n++; n < 29; n++)	/* a second, but not enough packets */
		trip(&r, &pkt[n], n, n * s, n * s + 900 + n);
	assert_int_equal(r.tx.trips.known, 500 - 19);
	trip(&r, &pkt[n], n, n * s, n * s + 2000);
	assert_int_equal(r.tx.trips.known, 922);
	tn_retry_start(&r, &tn_retry_angara, 0, 0, 1);
	assert_int_equal(r.tx.trips.known, 0);
}

/*
 * On a slow cable each packet is sent again before the acknowledgement of its first copy arrives:
 * the round trip is that of the first copy.
 */
static void round_trip_of_slow_cable_is_that_of_first_copy(void **state)
{
	static const u64 s = 1000000000;
	struct tn_queue done = { 0 };
	struct tn_pkt pkt[8] = { 0 };
	struct tn_retry r;

	(void)state;
	tn_retry_start(&r, &tn_retry_angara, 0, 0, 1);
	for (unsigned int n = 0; n < 8; n++) {
		u64 at = (n + 1) * s;

		tn_retry_push(&r, &pkt[n], at);
		tn_retry_sending(&r, at);
		tn_retry_back(&r);
		tn_retry_sending(&r, at + 90);
		tn_retry_ack(&r, (u16)(n + 1), &done, at + 100);
	}
	assert_int_equal(r.tx.trips.known, 100);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(retraining_with_unacknowledged_packets_loses_none),
		cmocka_unit_test(retransmissions_without_progress_are_counted),
		cmocka_unit_test(window_shrinks_with_errors_and_grows_with_answers),
		cmocka_unit_test(round_trip_is_never_measured_on_copies),
		cmocka_unit_test(shortest_round_trip_of_each_window_is_known),
		cmocka_unit_test(round_trip_of_slow_cable_is_that_of_first_copy),
		cmocka_unit_test(lossy_line_loses_no_packet),
		cmocka_unit_test(clean_line_sends_no_packet_twice),
		cmocka_unit_test(one_error_makes_sender_go_back_once),
		cmocka_unit_test(acknowledgement_of_unsent_packet_is_error),
		cmocka_unit_test(acknowledgement_in_replay_skips_its_packets),
	};

	return cmocka_run_group_tests_name("retry", all, NULL, NULL);
}
