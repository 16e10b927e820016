// SPDX-License-Identifier: GPL-2.0-only
/* The parking segment compared with an array. */
#include "tests/unit/seeds.h"
#include "kernel/core/park.h"

#define PACKETS 200

struct shadow {
	struct tn_pkt *pkt[PACKETS];
	unsigned int n;
	u64 bytes;
	u32 unresolved;
	struct tn_pkt *kept[PACKETS];
	unsigned int nkept;
};

static void same(struct rnd *r, const struct tn_park *p, const struct shadow *s)
{
	const struct tn_pkt *q = p->q.head;
	u64 bytes = 0;
	u32 unresolved = 0;

	for (unsigned int i = 0; i < s->n; i++, q = q->next) {
		expect(r, q == s->pkt[i], "place %u", i);
		bytes += (q->hdr.len + 2u) * 16u;
		unresolved += q->unresolved;
	}
	expect(r, !q && p->q.count == s->n, "count %u", p->q.count);
	expect(r, p->bytes == bytes && p->unresolved == unresolved, "%u unresolved",
	       p->unresolved);
	expect(r, p->replaying <= p->q.count, "replaying %u", p->replaying);
}

static void on_kept(void *ctx, struct tn_pkt *pkt)
{
	struct shadow *s = ctx;

	s->kept[s->nkept++] = pkt;
}

/* Whether @a is before @b among 12-bit numbers, computed in another way than in the core. */
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
	tn_park_resolve(p, session, seq, dead, &gone, on_kept, s);
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
		}
		s->pkt[n++] = q;
	}
	s->n = n;
	expect(r, !gone.head && kept == s->nkept, "all settled");
}

/* in_vc marks an unresolved packet in the model. */
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
			tn_park_push(&p, q);
			s.pkt[s.n++] = q;
		} else if (what < 15) {
			p.replaying = p.q.count ? rnd_below(&r, p.q.count + 1) : 0;
			q = tn_park_pop(&p);
			expect(&r, q == (s.n ? s.pkt[0] : NULL), "popped");
			if (!q)
				continue;
			p.unresolved -= q->unresolved;	/* the NIC replays no unresolved packet */
			q->unresolved = 0;
			memmove(s.pkt, s.pkt + 1, --s.n * sizeof(*s.pkt));
			tn_queue_push(&idle, q);
		} else {
			resolve(&r, &p, &s, &idle);
			p.replaying = 0;
		}
		same(&r, &p, &s);
	}
}

static void test_park(void **state)
{
	(void)state;
	for_seeds(20, park_one);
}

/* A refused packet is forgotten when the segment is empty, not sooner. */
static void test_full(void **state)
{
	struct tn_park p = { .bytes_max = 100000, .full = true, .replaying = 2 };
	struct tn_pkt pkt[2] = { 0 };

	(void)state;
	tn_park_push(&p, &pkt[0]);
	tn_park_push(&p, &pkt[1]);
	assert_ptr_equal(tn_park_pop(&p), &pkt[0]);
	assert_true(p.full);
	assert_int_equal(p.replaying, 1);
	assert_ptr_equal(tn_park_pop(&p), &pkt[1]);
	assert_false(p.full);
	assert_int_equal(p.replaying, 0);
	assert_null(tn_park_pop(&p));
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_park),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests_name("park", all, NULL, NULL);
}
