// SPDX-License-Identifier: GPL-2.0-only
/*
 * End-to-end sequence against a model that keeps, for each flow, the list of
 * what was sent: packets come in any order, some twice, some never.
 */
#include "tests/unit/seeds.h"
#include "kernel/core/flow.h"

#define NODES 5
#define FLOWS (NODES * TN_FLOW_VCS)
#define PACKETS 400

struct world {
	struct rnd r;
	struct tn_flows out, in;
	struct tn_flow_tx tx[2][FLOWS];
	struct tn_flow_rx rx[2][FLOWS];
	struct tn_pkt pool[PACKETS];
	struct tn_queue idle;
	struct tn_pkt *way[PACKETS];	/* under way, in any order */
	unsigned int n;
	u32 sent[FLOWS], got[FLOWS];
	bool missing[FLOWS];		/* something of the flow was lost */
	u64 lost, now;
};

static unsigned int flow_of(const struct tn_pkt *p)
{
	return p->hdr.src * TN_FLOW_VCS + p->hdr.vc;
}

/* The sender stamps by destination, the receiver looks by source: one number. */
static void emit(struct world *w)
{
	struct tn_pkt *p = w->n < PACKETS / 2 ? tn_queue_pop(&w->idle) : NULL;
	unsigned int f;

	if (!p)
		return;
	p->hdr = (struct tn_hdr) { .dst = rnd_below(&w->r, NODES),
				   .vc = (u8)rnd_below(&w->r, TN_FLOW_VCS), .len = 1 };
	p->hdr.src = p->hdr.dst;
	f = flow_of(p);
	tn_flow_stamp(&w->out, p, p->hdr.vc);
	expect(&w->r, p->tail.eseq == w->sent[f], "number %u", p->tail.eseq);
	w->sent[f]++;
	w->way[w->n++] = p;
}

static void delivered(struct world *w, struct tn_pkt *p)
{
	unsigned int f = flow_of(p);

	expect(&w->r, p->tail.eseq == w->got[f] ||
	       (w->missing[f] && p->tail.eseq > w->got[f]), "flow %u: %u after %u", f,
	       p->tail.eseq, w->got[f]);
	w->lost += p->tail.eseq - w->got[f];
	w->got[f] = p->tail.eseq + 1;
	tn_flow_done(&w->in, p);
	tn_queue_push(&w->idle, p);
}

static void waiting(struct world *w)
{
	struct tn_pkt *p;

	while ((p = tn_flow_next(&w->in))) {
		tn_flow_unwait(&w->in, p);
		if (tn_flow_turn(&w->in, p) == TN_FLOW_NOW)
			delivered(w, p);
		else
			tn_queue_push(&w->idle, p);
	}
}

static void receive(struct world *w, struct tn_pkt *p)
{
	unsigned int f = flow_of(p);

	switch (tn_flow_turn(&w->in, p)) {
	case TN_FLOW_NOW:
		delivered(w, p);
		waiting(w);
		break;
	case TN_FLOW_EARLY:
		expect(&w->r, p->tail.eseq > w->got[f], "%u is not early", p->tail.eseq);
		tn_flow_wait(&w->in, p, w->now);
		break;
	case TN_FLOW_BEHIND:
		expect(&w->r, p->tail.eseq < w->got[f], "%u is not behind", p->tail.eseq);
		tn_queue_push(&w->idle, p);
		break;
	case TN_FLOW_LATE:
		expect(&w->r, false, "%u is of no former epoch", p->tail.eseq);
		break;
	}
}

static void arrive(struct world *w, bool mixed, bool lossy)
{
	struct tn_pkt *p, *copy;
	unsigned int i;

	if (!w->n)
		return;
	i = mixed ? rnd_below(&w->r, w->n < 20 ? w->n : 20) : 0;
	p = w->way[i];
	memmove(&w->way[i], &w->way[i + 1], (--w->n - i) * sizeof(*w->way));
	if (lossy && rnd_one_in(&w->r, 50)) {
		w->missing[flow_of(p)] = true;
		tn_queue_push(&w->idle, p);
		return;
	}
	copy = mixed && rnd_one_in(&w->r, 20) ? tn_queue_pop(&w->idle) : NULL;
	if (copy) {
		copy->hdr = p->hdr;
		copy->tail = p->tail;
		w->way[w->n++] = copy;
	}
	receive(w, p);
}

static void world_start(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	w->r = rnd_new(seed);
	for (int i = 0; i < PACKETS; i++)
		tn_queue_push(&w->idle, &w->pool[i]);
	tn_flows_init(&w->out, w->tx[0], w->rx[0], NODES, (u32)rnd64(&w->r));
	tn_flows_init(&w->in, w->tx[1], w->rx[1], NODES, (u32)rnd64(&w->r));
	w->now = 1;
}

static void drain(struct world *w)
{
	while (w->n)
		arrive(w, true, false);
}

static void order_one(uint64_t seed)
{
	static struct world w;

	world_start(&w, seed);
	for (int i = 0; i < 20000; i++) {
		w.now++;
		emit(&w);
		arrive(&w, true, false);
		expect(&w.r, !w.in.wait.head == (w.in.since == ~0ull), "since");
	}
	drain(&w);
	for (unsigned int f = 0; f < FLOWS; f++)
		expect(&w.r, w.got[f] == w.sent[f], "flow %u: %u of %u", f, w.got[f], w.sent[f]);
	expect(&w.r, !w.in.wait.head && !w.in.wait_bytes && !w.in.lost, "nothing waits");
	expect(&w.r, w.idle.count == PACKETS, "%u packets", w.idle.count);
}

/* Any order and duplicates: each exactly once, in order. */
static void test_order(void **state)
{
	(void)state;
	for_seeds(20, order_one);
}

static void loss_one(uint64_t seed)
{
	static struct world w;

	world_start(&w, seed);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 300; i++) {
			w.now++;
			emit(&w);
			arrive(&w, true, true);
		}
		/* The manager: whatever can arrive has; close the gaps. */
		drain(&w);
		for (unsigned int before = ~0u; w.in.wait.head && w.in.wait.count < before;) {
			before = w.in.wait.count;
			tn_flow_close_gaps(&w.in);
			waiting(&w);
		}
		tn_flow_license(&w.in);
		expect(&w.r, !w.in.wait.head, "gaps are closed");
		/* Losses at the very end of a flow show with its next packet. */
		for (unsigned int f = 0; f < FLOWS; f++)
			expect(&w.r, w.missing[f] || w.got[f] == w.sent[f], "flow %u", f);
		/* One table in force, all paths steady: until the next commit. */
		for (int i = 0; i < 200; i++) {
			emit(&w);
			arrive(&w, false, false);
			expect(&w.r, !w.in.wait.head, "nobody waits for what was given up");
		}
		while (w.n)
			arrive(&w, false, false);
		w.in.licensed = false;
		for (unsigned int f = 0; f < FLOWS; f++)
			w.missing[f] &= w.got[f] != w.sent[f];
	}
	expect(&w.r, w.in.lost == w.lost, "lost %llu, model %llu", (unsigned long long)w.in.lost,
	       (unsigned long long)w.lost);
}

/* What died is given up when told so, counted, and the rest goes on in order. */
static void test_loss(void **state)
{
	(void)state;
	for_seeds(20, loss_one);
}

/* A source that starts anew, or a flow that does, begins at 0 again. */
static void test_epochs(void **state)
{
	static struct world w;
	struct tn_pkt p = { .hdr = { .dst = 2, .src = 2, .vc = 1 } }, late;
	u16 first;

	(void)state;
	world_start(&w, 1);
	for (u32 i = 0; i < 3; i++) {
		tn_flow_stamp(&w.out, &p, 1);
		assert_int_equal(p.tail.eseq, i);
		assert_int_equal(tn_flow_turn(&w.in, &p), TN_FLOW_NOW);
		tn_flow_done(&w.in, &p);
	}
	first = p.tail.epoch;
	tn_flow_restart(&w.out, 2);
	tn_flow_stamp(&w.out, &p, 1);
	assert_int_equal(p.tail.eseq, 0);
	assert_int_not_equal(p.tail.epoch, first);
	assert_int_equal(tn_flow_turn(&w.in, &p), TN_FLOW_NOW);
	tn_flow_done(&w.in, &p);
	/* What was sent before and comes only now is late, and changes nothing. */
	late = p;
	late.tail.epoch = first;
	for (late.tail.eseq = 0; late.tail.eseq < 5; late.tail.eseq++)
		assert_int_equal(tn_flow_turn(&w.in, &late), TN_FLOW_LATE);
	assert_false(tn_flow_overdue(&w.in, &late));
	tn_flow_stamp(&w.out, &p, 1);
	assert_int_equal(p.tail.eseq, 1);
	assert_int_equal(tn_flow_turn(&w.in, &p), TN_FLOW_NOW);
	/* The other VC's flow was never used: restarting it means nothing. */
	p.hdr.vc = 0;
	tn_flow_stamp(&w.out, &p, 0);
	assert_int_equal(p.tail.eseq, 0);
	assert_int_equal(p.tail.epoch, first);
	/* VCA has no flows. */
	p.hdr.vc = TORUS_VC_A;
	tn_flow_stamp(&w.out, &p, TORUS_VC_A);
	assert_int_equal(p.tail.eseq, 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_epochs),
	};

	return cmocka_run_group_tests_name("flow", all, NULL, NULL);
}
