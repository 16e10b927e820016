// SPDX-License-Identifier: GPL-2.0-only
/* The parking segment compared with an array. */
#include "tests/unit/seeds.h"
#include "kernel/core/park.h"

#define PACKETS 200

struct shadow {
	struct tn_pkt *pkt[PACKETS];
	unsigned int n;
	unsigned int later;
	u64 bytes;
	u32 unresolved;
	struct tn_pkt *kept[PACKETS];
	unsigned int nkept;
};

static void same(struct rnd *r, const struct tn_park *p, const struct shadow *s)
{
	const struct tn_pkt *q = p->q.head;
	u64 bytes = 0;
	u32 unresolved = 0, relayed = 0;

	for (unsigned int i = 0; i < s->n; i++, q = q->next) {
		expect(r, q == s->pkt[i], "place %u", i);
		bytes += (q->hdr.len + 2u) * 16u;
		unresolved += q->unresolved;
		relayed += q->in_port == TN_PORT_RELAY;
	}
	expect(r, !q && p->q.count == s->n, "count %u", p->q.count);
	expect(r, p->bytes == bytes && p->unresolved == unresolved, "%u unresolved",
	       p->unresolved);
	expect(r, p->relayed == relayed && p->later == s->later, "%u relayed, %u later",
	       p->relayed, p->later);
	expect(r, p->replaying <= p->q.count, "replaying %u", p->replaying);
}

/* Removes packets of odd length from the segment when they are resolved. */
static bool on_settled(void *ctx, struct tn_pkt *pkt)
{
	struct shadow *s = ctx;

	s->kept[s->nkept++] = pkt;
	return pkt->hdr.len % 2 == 0;
}

/*
 * Return: true if @a is before @b among 12-bit numbers, computed in another way than in the core.
 */
static bool before(unsigned int a, unsigned int b)
{
	unsigned int steps = 0;

	while (a != b) {
		a = (a + 1) % 4096;
		steps++;
	}
	return steps && steps <= 2048;
}

static void resolve(struct rnd *r, struct tn_park *p, struct shadow *s, struct tn_queue *idle)
{
	u32 session = 1 + rnd_below(r, 3);
	u16 seq = (u16)rnd_below(r, 40);
	bool dead = !rnd_below(r, 4);
	struct tn_queue gone = { 0 };
	unsigned int n = 0, kept = 0;

	s->nkept = 0;
	tn_park_resolve(p, session, seq, dead, &gone, on_settled, s);
	for (unsigned int i = 0; i < s->n; i++) {
		struct tn_pkt *q = s->pkt[i];
		bool mine = q->session == session && q->in_vc;

		if (mine && !dead && before(q->hdr.tseq, seq)) {
			expect(r, tn_queue_pop(&gone) == q, "gone in order");
			tn_queue_push(idle, q);
			continue;
		}
		if (mine) {
			expect(r, kept < s->nkept && s->kept[kept] == q, "kept in order");
			kept++;
			q->in_vc = 0;
			if (q->hdr.len % 2) {
				tn_queue_push(idle, q);
				continue;
			}
		}
		s->pkt[n++] = q;
	}
	s->n = n;
	expect(r, !gone.head && kept == s->nkept, "all settled");
}

/* Parks @q. In the shadow, a packet of a later table goes behind all others. */
static void push(struct rnd *r, struct tn_park *p, struct shadow *s, struct tn_pkt *q)
{
	unsigned int at = s->n - s->later;

	if (!q->unresolved && !rnd_below(r, 8)) {
		tn_park_push_later(p, q, 0);
		s->pkt[s->n++] = q;
		s->later++;
		return;
	}
	tn_park_push(p, q, 0);
	memmove(s->pkt + at + 1, s->pkt + at, (s->n++ - at) * sizeof(*s->pkt));
	s->pkt[at] = q;
}

/* Parks a packet. In the model, in_vc marks an unresolved one. */
static void park_one(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct tn_pkt pool[PACKETS] = { 0 }, *q;
	struct tn_queue idle = { 0 };
	struct tn_park p = { .bytes_max = 100000 };
	struct shadow s = { 0 };
	u16 tseq = 0;

	for (int i = 0; i < PACKETS; i++)
		tn_queue_push(&idle, &pool[i]);
	for (int i = 0; i < 4000; i++) {
		unsigned int what = rnd_below(&r, 16);

		if (what < 9 && (q = tn_queue_pop(&idle))) {
			q->hdr.len = (u16)rnd_below(&r, 257);
			q->hdr.tseq = tseq = (u16)((tseq + 1) % 40);
			q->in_vc = q->unresolved = (u8)!rnd_below(&r, 3);
			q->session = 1 + rnd_below(&r, 3);
			expect(&r, tn_park_room(&p, q) ==
			       (p.bytes + (q->hdr.len + 2u) * 16u <= 100000), "room");
			q->in_port = q->unresolved ? TN_PORT_HOST : TN_PORT_RELAY;
			push(&r, &p, &s, q);
		} else if (what < 15) {
			p.replaying = p.q.count ? rnd_below(&r, p.q.count + 1) : 0;
			q = tn_park_pop(&p);
			expect(&r, q == (s.n ? s.pkt[0] : NULL), "popped");
			if (!q)
				continue;
			p.unresolved -= q->unresolved;	/* the NIC replays no unresolved packet */
			q->unresolved = 0;
			expect(&r, q->in_port == TN_PORT_HOST, "no relay's any more");
			memmove(s.pkt, s.pkt + 1, --s.n * sizeof(*s.pkt));
			s.later = s.later < s.n ? s.later : s.n;
			tn_queue_push(&idle, q);
		} else if (rnd_below(&r, 4)) {
			resolve(&r, &p, &s, &idle);
			p.replaying = 0;
		} else {
			tn_park_replay(&p);
			expect(&r, p.replaying == s.n && p.through, "all are replayed");
			p.through = rnd_below(&r, 2);
			s.later = 0;
		}
		same(&r, &p, &s);
	}
}

static void parked_packets_in_random_histories_equal_model(void **state)
{
	(void)state;
	for_seeds(20, park_one);
}

/* A packet may fill the segment to the last byte. */
static void packet_may_fill_segment_to_last_byte(void **state)
{
	struct tn_pkt pkt = { .hdr = { .len = 3 } };
	struct tn_park p = { .bytes = 100, .bytes_max = 100 + 5 * 16 };

	(void)state;
	assert_true(tn_park_room(&p, &pkt));
	p.bytes++;
	assert_false(tn_park_room(&p, &pkt));
}

/* A segment remembers that it refused a packet until it is empty, not for longer. */
static void full_segment_is_remembered_until_empty(void **state)
{
	struct tn_park p = { .bytes_max = 100000, .full = true, .replaying = 2 };
	struct tn_pkt pkt[2] = { 0 };

	(void)state;
	tn_park_push(&p, &pkt[0], 7);
	tn_park_push(&p, &pkt[1], 9);
	assert_ptr_equal(tn_park_pop(&p), &pkt[0]);
	assert_true(p.full);
	assert_int_equal(p.replaying, 1);
	assert_ptr_equal(tn_park_pop(&p), &pkt[1]);
	assert_false(p.full);
	assert_int_equal(p.replaying, 0);
	assert_null(tn_park_pop(&p));
}

/* Return: a packet from @src to @dst by VCD0, or by VCD1 if @vc. */
static struct tn_pkt packet(u32 src, u32 dst, u8 vc)
{
	struct tn_pkt pkt = { .hdr = { .src = src, .dst = dst, .vc = vc, .len = 2 } };

	return pkt;
}

/* Parked packets are counted by flow; a packet on its way to a relay counts for its destination. */
static void parked_packets_are_counted_by_flow(void **state)
{
	static struct tn_pkt many[TN_PARK_LOOK + 1];
	struct tn_park p = { .bytes_max = ~0ULL };
	struct tn_pkt pkt[] = { packet(1, 2, 0), packet(1, 2, 1), packet(1, 2, 0), packet(3, 2, 0),
				packet(1, 4, 0) };
	struct tn_park_flow f[3];
	u64 more = 77;

	(void)state;
	assert_int_equal(tn_park_flows(&p, f, 3, &more), 0);
	assert_int_equal(more, 0);
	pkt[2].hdr.relayed = 1;
	pkt[2].hdr.dst = 9;
	pkt[2].via.dst = 2;
	for (unsigned int i = 0; i < 5; i++)
		tn_park_push(&p, &pkt[i], 20 - i);
	assert_int_equal(tn_park_flows(&p, f, 3, &more), 3);
	assert_int_equal(more, 1);
	assert_true(f[0].src == 1 && f[0].dst == 2 && f[0].vc == 0);
	assert_int_equal(f[0].packets, 2);
	assert_int_equal(f[0].bytes, tn_park_cost(&pkt[0]) + tn_park_cost(&pkt[2]));
	assert_int_equal(f[0].since, 18);
	assert_true(f[1].src == 1 && f[1].dst == 2 && f[1].vc == 1 && f[1].since == 19);
	assert_true(f[2].src == 3 && f[2].dst == 2 && f[2].vc == 0 && f[2].packets == 1);
	/* Only the first TN_PARK_LOOK packets are looked at. */
	p = (struct tn_park) { .bytes_max = ~0ULL };
	for (unsigned int i = 0; i <= TN_PARK_LOOK; i++) {
		many[i] = packet(6, 7, 0);
		tn_park_push(&p, &many[i], i);
	}
	assert_int_equal(tn_park_flows(&p, f, 3, &more), 1);
	assert_int_equal(f[0].packets, TN_PARK_LOOK);
	assert_int_equal(more, 1);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(parked_packets_in_random_histories_equal_model),
		cmocka_unit_test(packet_may_fill_segment_to_last_byte),
		cmocka_unit_test(full_segment_is_remembered_until_empty),
		cmocka_unit_test(parked_packets_are_counted_by_flow),
	};

	return cmocka_run_group_tests_name("park", all, NULL, NULL);
}
