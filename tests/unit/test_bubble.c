// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bubble policies on whole rings: every state that small rings can reach, by any order of
 * packets that enter, continue and leave, and of requests for false packets. In each state bubbles
 * are conserved and some packet can move. From each state the ring is drained, to see which nodes
 * can enter at some time and which never can again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/core/bubble.h"
#include "torus/torus_abi.h"

#define NODES_MAX 5
#define QUEUE_MAX 2

/* struct ring - nodes in a circle: output i leads to input i + 1 */
struct ring {
	unsigned int count[NODES_MAX];
	unsigned int to_go[NODES_MAX][QUEUE_MAX];	/* hops after this input */
	struct tn_bubble out[NODES_MAX];
};

/*
 * struct world - the states of a ring
 * @hops: packets go this many hops at most
 * @weak: this many buffers less than the policy demands are left free by a packet that enters
 */
struct world {
	enum tn_bubble_policy policy;
	unsigned int n, queue, bubbles, hops, weak;
	unsigned int base;	/* codes of one node */
	unsigned char *seen;
	unsigned int *list, tail;
	unsigned int stuck_states, starved;
};

static unsigned int next(const struct world *w, unsigned int i)
{
	return (i + 1) % w->n;
}

static unsigned int before(const struct world *w, unsigned int i)
{
	return (i + w->n - 1) % w->n;
}

/* --- a state as a number --------------------------------------------------- */

static unsigned int encode(const struct world *w, const struct ring *r)
{
	unsigned int code = 0;

	for (unsigned int i = 0; i < w->n; i++) {
		unsigned int fifo = 0;

		/* 0: none; else 1 + to_go of each, the head last */
		for (unsigned int k = r->count[i]; k--; )
			fifo = fifo * w->n + r->to_go[i][k] + 1;
		code = code * w->base + fifo * (w->queue + 1) + r->out[i].critical;
	}
	return code;
}

static struct ring decode(const struct world *w, unsigned int code)
{
	struct ring r;

	memset(&r, 0, sizeof(r));
	for (unsigned int i = w->n; i--; code /= w->base) {
		unsigned int fifo = code % w->base / (w->queue + 1);

		r.out[i].critical = (u16)(code % w->base % (w->queue + 1));
		for (; fifo; fifo /= w->n)
			r.to_go[i][r.count[i]++] = fifo % w->n - 1;
	}
	for (unsigned int i = 0; i < w->n; i++)
		r.out[i].free = (u16)(w->queue - r.count[next(w, i)]);
	return r;
}

static void reach(struct world *w, const struct ring *r)
{
	unsigned int code = encode(w, r);

	if (w->seen[code])
		return;
	w->seen[code] = 1;
	w->list[w->tail++] = code;
}

/* --- what can happen ------------------------------------------------------- */

static void freed(const struct world *w, struct ring *r, unsigned int i, bool critical)
{
	critical |= !critical && tn_bubble_move(w->policy, &r->out[i]);
	tn_bubble_returned(&r->out[before(w, i)], critical);
}

static void push(const struct world *w, struct ring *r, unsigned int i, unsigned int to_go)
{
	assert_true(r->count[i] < w->queue);
	r->to_go[i][r->count[i]++] = to_go;
}

static unsigned int pop(struct ring *r, unsigned int i)
{
	unsigned int to_go = r->to_go[i][0];

	memmove(r->to_go[i], r->to_go[i] + 1, sizeof(r->to_go[i]) - sizeof(r->to_go[i][0]));
	r->count[i]--;
	return to_go;
}

static bool may_enter(const struct world *w, const struct tn_bubble *b)
{
	unsigned int reserve = tn_bubble_reserve(w->policy, true, b->critical);

	if (!w->weak)
		return tn_bubble_may(w->policy, b, true);
	return tn_bubble_room(b->free, reserve < w->weak ? 0 : reserve - w->weak);
}

static bool enter(const struct world *w, struct ring *r, unsigned int i, unsigned int hops)
{
	if (!may_enter(w, &r->out[i]))
		return false;
	assert_true(!tn_bubble_take(&r->out[i]) || w->weak);
	push(w, r, next(w, i), hops - 1);
	return true;
}

/* Moves the first packet of input @i on, or out of the ring. */
static bool advance(const struct world *w, struct ring *r, unsigned int i)
{
	bool took = false;

	if (!r->count[i])
		return false;
	if (r->to_go[i][0]) {
		if (!tn_bubble_may(w->policy, &r->out[i], false))
			return false;
		took = tn_bubble_take(&r->out[i]);
		push(w, r, next(w, i), pop(r, i) - 1);
	} else {
		pop(r, i);
	}
	freed(w, r, i, took);
	return true;
}

/* Output @i has waited long enough: node i asks the node before it for a bubble. */
static bool ask(const struct world *w, struct ring *r, unsigned int i)
{
	unsigned int up = before(w, i);
	bool idle = !r->count[up] || !r->to_go[up][0];

	if (!tn_bubble_stuck(&r->out[i]) ||
	    !tn_bubble_respond(w->policy, &r->out[up], idle))
		return false;
	freed(w, r, i, false);		/* the packet arrives, and is gone */
	return true;
}

/* --- what must hold -------------------------------------------------------- */

static void check(struct world *w, const struct ring *state)
{
	unsigned int bubbles = 0, packets = 0;
	bool moves = false;

	for (unsigned int i = 0; i < w->n; i++) {
		struct ring r = *state;

		assert_int_equal(r.out[i].free, w->queue - r.count[next(w, i)]);
		assert_true(r.out[i].critical <= r.out[i].free);
		bubbles += r.out[i].critical;
		packets += r.count[i];
		moves |= advance(w, &r, i);
	}
	if (!w->weak)
		assert_int_equal(bubbles, w->bubbles);
	w->stuck_states += packets && !moves;
}

/* Drains the ring, and checks which nodes could enter it then. */
static void check_drained(struct world *w, struct ring r)
{
	for (unsigned int moved = 1; moved; ) {
		moved = 0;
		for (unsigned int i = 0; i < w->n; i++)
			moved += advance(w, &r, i);
	}
	for (unsigned int i = 0; i < w->n; i++) {
		struct ring again = r;
		bool may = tn_bubble_may(w->policy, &again.out[i], true);

		/* a bubble comes around the whole ring at worst */
		for (unsigned int k = 0; !may && k < w->n * w->n; k++) {
			ask(w, &again, (i + w->n - k % w->n) % w->n);
			may = tn_bubble_may(w->policy, &again.out[i], true);
		}
		w->starved += !may;
	}
}

static void follow(struct world *w, const struct ring *state)
{
	for (unsigned int i = 0; i < w->n; i++) {
		struct ring r;

		for (unsigned int hops = 1; hops <= w->hops; hops++) {
			r = *state;
			if (enter(w, &r, i, hops))
				reach(w, &r);
		}
		r = *state;
		if (advance(w, &r, i))
			reach(w, &r);
		r = *state;
		if (ask(w, &r, i))
			reach(w, &r);
	}
}

/* Begins with each distribution of the bubbles in turn. */
static void begin(struct world *w, struct ring *r, unsigned int i, unsigned int left)
{
	if (i == w->n) {
		if (!left)
			reach(w, r);
		return;
	}
	for (unsigned int b = 0; b <= left && b <= w->queue; b++) {
		r->out[i].critical = (u16)b;
		begin(w, r, i + 1, left - b);
	}
}

static struct world explore_all(struct world w)
{
	unsigned int n = w.n, queue = w.queue, fifos = 1, codes = 1;
	struct ring r;

	for (unsigned int k = 0; k < queue; k++)
		fifos *= n;
	w.base = fifos * (queue + 1);
	for (unsigned int i = 0; i < n; i++)
		codes *= w.base;
	w.seen = calloc(codes, 1);
	w.list = malloc(codes * sizeof(*w.list));
	assert_non_null(w.seen);
	assert_non_null(w.list);
	memset(&r, 0, sizeof(r));
	for (unsigned int i = 0; i < n; i++)
		r.out[i].free = (u16)queue;
	begin(&w, &r, 0, w.bubbles);
	for (unsigned int at = 0; at < w.tail; at++) {
		r = decode(&w, w.list[at]);
		check(&w, &r);
		check_drained(&w, r);
		follow(&w, &r);
	}
	free(w.seen);
	free(w.list);
	return w;
}

static struct world explore(enum tn_bubble_policy policy, unsigned int n, unsigned int queue,
			    unsigned int bubbles)
{
	return explore_all((struct world) {
		.policy = policy, .n = n, .queue = queue, .bubbles = bubbles, .hops = n - 1,
	});
}

#define RING_MAX 4	/* rings of more nodes have too many states unless an input has one buffer */

#define for_each_ring(n, queue) \
	for (unsigned int n = 2; n <= RING_MAX; n++) \
		for (unsigned int queue = 1; queue <= QUEUE_MAX; queue++)

static void bloc_never_deadlocks(void **state)
{
	(void)state;
	for (unsigned int n = 2; n <= RING_MAX; n++) {
		struct world w = explore(TN_BUBBLE_BLOC, n, 2, 0);

		assert_true(w.tail > 1);
		assert_int_equal(w.stuck_states, 0);
		assert_int_equal(w.starved, 0);
		/* with one buffer no node enters at all */
		w = explore(TN_BUBBLE_BLOC, n, 1, 0);
		assert_int_equal(w.tail, 1);
	}
}

static void mbs_never_deadlocks_nor_starves(void **state)
{
	(void)state;
	for_each_ring(n, queue)
		for (unsigned int bubbles = 1; bubbles < n * queue; bubbles++) {
			struct world w = explore(TN_BUBBLE_MBS, n, queue, bubbles);

			assert_true(w.tail > 1);
			assert_int_equal(w.stuck_states, 0);
			assert_int_equal(w.starved, 0);
		}
}

/*
 * As in figure 1 of the paper there is no deadlock, but a bubble that no packet passes blocks an
 * entrance for ever.
 */
static void cbs_never_deadlocks_but_may_starve(void **state)
{
	(void)state;
	for_each_ring(n, queue)
		for (unsigned int bubbles = 1; bubbles < n * queue; bubbles++) {
			struct world w = explore(TN_BUBBLE_CBS, n, queue, bubbles);

			assert_int_equal(w.stuck_states, 0);
			/* as many bubbles in one input as it has buffers */
			assert_int_equal(w.starved > 0, bubbles >= queue);
		}
}

static void without_a_rule_rings_deadlock(void **state)
{
	(void)state;
	/* n = 2: packets go one hop and leave */
	for (unsigned int n = 3; n <= RING_MAX; n++)
		for (unsigned int queue = 1; queue <= QUEUE_MAX; queue++)
			assert_true(explore(TN_BUBBLE_NONE, n, queue, 0).stuck_states > 0);
}

/* The ring as the routes use it: packets take the shorter way, so at most half of it. */
static struct world explore_half(enum tn_bubble_policy policy, unsigned int n, unsigned int queue,
				 unsigned int bubbles, unsigned int weak)
{
	return explore_all((struct world) {
		.policy = policy, .n = n, .queue = queue, .bubbles = bubbles, .hops = n / 2,
		.weak = weak,
	});
}

/*
 * A ring deadlocks if packets that enter leave one buffer less free than the policy demands. In a
 * ring of three no packet goes on to a second link, so it never deadlocks, whatever the rule is:
 * such rings are no test of a policy.
 */
static void with_one_buffer_less_rings_deadlock(void **state)
{
	(void)state;
	assert_int_equal(explore_half(TN_BUBBLE_NONE, 3, 1, 0, 0).stuck_states, 0);
	assert_int_equal(explore_half(TN_BUBBLE_MBS, 3, 1, 1, 1).stuck_states, 0);
	assert_true(explore_half(TN_BUBBLE_BLOC, 4, 2, 0, 1).stuck_states > 0);
	assert_int_equal(explore_half(TN_BUBBLE_BLOC, 4, 2, 0, 0).stuck_states, 0);
	for (enum tn_bubble_policy policy = TN_BUBBLE_CBS; policy <= TN_BUBBLE_MBS; policy++) {
		for (unsigned int n = 4; n <= NODES_MAX; n++) {
			assert_int_equal(explore_half(policy, n, 1, 1, 0).stuck_states, 0);
			assert_true(explore_half(policy, n, 1, 1, 1).stuck_states > 0);
		}
	}
}

static void entering_packets_leave_reserve_of_their_policy(void **state)
{
	static const struct {
		enum tn_bubble_policy policy;
		bool enters;
		unsigned int critical, expected;
	} c[] = {
		{ TN_BUBBLE_NONE, true, 0, 0 },	 { TN_BUBBLE_BLOC, false, 0, 0 },
		{ TN_BUBBLE_BLOC, true, 0, 1 },	 { TN_BUBBLE_CBS, false, 2, 0 },
		{ TN_BUBBLE_CBS, true, 2, 2 },	 { TN_BUBBLE_CBS, true, 0, 0 },
		{ TN_BUBBLE_MBS, true, 1, 1 },	 { TN_BUBBLE_MBS, false, 1, 0 },
		{ TN_BUBBLE_NONE, true, 2, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		assert_int_equal(tn_bubble_reserve(c[i].policy, c[i].enters, c[i].critical),
				 c[i].expected);
}

static void only_cbs_and_mbs_mark_buffers(void **state)
{
	(void)state;
	assert_int_equal(tn_bubble_policy_of(TORUS_BUBBLE_BLOC), TN_BUBBLE_BLOC);
	assert_int_equal(tn_bubble_policy_of(TORUS_BUBBLE_CBS), TN_BUBBLE_CBS);
	assert_int_equal(tn_bubble_policy_of(TORUS_BUBBLE_MBS), TN_BUBBLE_MBS);
	assert_false(tn_bubble_marks(TN_BUBBLE_NONE));
	assert_false(tn_bubble_marks(TN_BUBBLE_BLOC));
	assert_true(tn_bubble_marks(TN_BUBBLE_CBS));
	assert_true(tn_bubble_marks(TN_BUBBLE_MBS));
}

static void only_mbs_moves_bubbles(void **state)
{
	struct tn_bubble b = { .free = 1, .critical = 1 };

	(void)state;
	assert_false(tn_bubble_move(TN_BUBBLE_CBS, &b));
	assert_int_equal(b.critical, 1);
	assert_true(tn_bubble_move(TN_BUBBLE_MBS, &b));
	assert_int_equal(b.critical, 0);
	/* nothing is left to move */
	assert_false(tn_bubble_move(TN_BUBBLE_MBS, &b));
	assert_int_equal(b.critical, 0);
}

static void timer_runs_only_while_critical_buffers_fill_mbs_ring(void **state)
{
	struct tn_bubble b = { .free = 2, .critical = 1 };

	(void)state;
	assert_false(tn_bubble_watch(TN_BUBBLE_MBS, &b, 5));
	assert_false(tn_bubble_due(&b, 100, 3));
	b.free = 1;
	assert_false(tn_bubble_watch(TN_BUBBLE_CBS, &b, 5));
	assert_true(tn_bubble_watch(TN_BUBBLE_MBS, &b, 5));
	assert_false(tn_bubble_watch(TN_BUBBLE_MBS, &b, 6));
	assert_false(tn_bubble_due(&b, 7, 3));
	assert_true(tn_bubble_due(&b, 8, 3));
	assert_false(tn_bubble_due(&b, 10, 3));
	assert_true(tn_bubble_due(&b, 11, 3));
	/* with C > B the timer stops */
	b.free = 2;
	assert_false(tn_bubble_watch(TN_BUBBLE_MBS, &b, 12));
	assert_false(tn_bubble_due(&b, 50, 3));
	/* with no free buffer the timer does not run */
	b = (struct tn_bubble){ .free = 0 };
	assert_false(tn_bubble_watch(TN_BUBBLE_MBS, &b, 5));
	/* the clock may wrap */
	b = (struct tn_bubble){ .free = 1, .critical = 1 };
	assert_true(tn_bubble_watch(TN_BUBBLE_MBS, &b, UINT32_MAX));
	assert_false(tn_bubble_due(&b, 1, 3));
	assert_true(tn_bubble_due(&b, 2, 3));
}

static void response_needs_an_idle_link_and_a_common_buffer(void **state)
{
	struct tn_bubble b = { .free = 2, .critical = 1 };

	(void)state;
	assert_false(tn_bubble_respond(TN_BUBBLE_CBS, &b, true));
	assert_false(tn_bubble_respond(TN_BUBBLE_MBS, &b, false));
	assert_int_equal(b.free, 2);
	assert_true(tn_bubble_respond(TN_BUBBLE_MBS, &b, true));
	assert_int_equal(b.free, 1);
	assert_false(tn_bubble_respond(TN_BUBBLE_MBS, &b, true));
	assert_int_equal(b.free, 1);
	assert_int_equal(b.critical, 1);
}

/* MBS: a bubble is handed downstream if all free buffers are critical, but not by the lowest node. */
static void only_stuck_output_of_mbs_hands_its_bubble_on(void **state)
{
	static const enum tn_bubble_policy policies[] = {
		TN_BUBBLE_NONE, TN_BUBBLE_BLOC, TN_BUBBLE_CBS, TN_BUBBLE_MBS,
	};

	(void)state;
	for (unsigned int code = 0; code < 4 * 2 * 4 * 4; code++) {
		enum tn_bubble_policy policy = policies[code % 4];
		bool lowest = code / 4 % 2;
		u16 free = code / 8 % 4, critical = (u16)(code / 32);
		struct tn_bubble b = { .free = free, .critical = critical };
		bool hands = policy == TN_BUBBLE_MBS && !lowest && critical && critical == free;

		assert_int_equal(tn_bubble_hand(policy, &b, lowest), hands);
		assert_int_equal(b.free, free - hands);
		assert_int_equal(b.critical, critical - hands);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entering_packets_leave_reserve_of_their_policy),
		cmocka_unit_test(only_cbs_and_mbs_mark_buffers),
		cmocka_unit_test(only_mbs_moves_bubbles),
		cmocka_unit_test(timer_runs_only_while_critical_buffers_fill_mbs_ring),
		cmocka_unit_test(response_needs_an_idle_link_and_a_common_buffer),
		cmocka_unit_test(only_stuck_output_of_mbs_hands_its_bubble_on),
		cmocka_unit_test(bloc_never_deadlocks),
		cmocka_unit_test(mbs_never_deadlocks_nor_starves),
		cmocka_unit_test(cbs_never_deadlocks_but_may_starve),
		cmocka_unit_test(without_a_rule_rings_deadlock),
		cmocka_unit_test(with_one_buffer_less_rings_deadlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
