// SPDX-License-Identifier: GPL-2.0-only
/*
 * Credits compared with a model that counts packets instead of credits: each packet is with the
 * sender's counter, in a buffer, freed, or reported. Sender and receiver are joined by a wire that
 * delays reports.
 */
#include "tests/unit/seeds.h"
#include "kernel/core/credit.h"

struct report {
	u8 vc;
	u16 crp;
};

struct model {
	unsigned int slots[TORUS_VCS];
	unsigned int data[TORUS_VCS];	/* packets on the way to the receiver */
	unsigned int held[TORUS_VCS];	/* packets in its buffers */
	struct report wire[4096];
	unsigned int head, tail;
};

static unsigned int reported(const struct model *m, unsigned int vc)
{
	unsigned int n = 0;

	for (unsigned int i = m->tail; i != m->head; i++)
		n += m->wire[i % 4096].vc == vc ? m->wire[i % 4096].crp : 0;
	return n;
}

/* Checks that every buffer is in exactly one of these places. */
static void conserved(struct rnd *r, const struct model *m, const struct tn_credit *tx,
		      const struct tn_credit *rx)
{
	for (unsigned int vc = 0; vc < TORUS_VCS; vc++) {
		unsigned int taken = m->data[vc] + m->held[vc] + rx->owed[vc] + reported(m, vc);

		expect(r, tx->ct[vc] == taken, "VC %u: CT %u, taken %u", vc, tx->ct[vc], taken);
		expect(r, m->held[vc] + m->data[vc] <= m->slots[vc], "VC %u overruns", vc);
		expect(r, tn_credit_free(tx, vc) == m->slots[vc] - taken, "VC %u", vc);
	}
}

static void step(struct rnd *r, struct model *m, struct tn_credit *tx, struct tn_credit *rx)
{
	unsigned int vc = rnd_below(r, TORUS_VCS), bubbles = rnd_below(r, 2);
	struct report w;

	switch (rnd_below(r, 5)) {
	case 0:
	case 1:
		expect(r, tn_credit_may(tx, vc, bubbles) ==
		       (m->slots[vc] - tx->ct[vc] >= 1 + bubbles), "VC %u", vc);
		if (!tn_credit_may(tx, vc, bubbles))
			return;
		tn_credit_take(tx, vc, 1);
		m->data[vc]++;
		return;
	case 2:
		if (!m->data[vc])
			return;
		m->data[vc]--;
		m->held[vc]++;
		rx->used[vc]++;
		return;
	case 3:
		if (!m->held[vc])
			return;
		m->held[vc]--;
		rx->used[vc]--;
		rx->owed[vc]++;
		return;
	case 4:
		if (rnd_below(r, 2)) {
			w.crp = tn_credit_report(rx, &w.vc);
			if (w.crp)
				m->wire[m->head++ % 4096] = w;
		} else if (m->tail != m->head) {
			w = m->wire[m->tail++ % 4096];
			expect(r, tn_credit_returned(tx, w.vc, w.crp), "VC %u", w.vc);
		}
		return;
	}
}

static void conserve_one(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct tn_credit tx = { 0 }, rx = { 0 };
	struct model m = { 0 };
	u16 slots[TORUS_VCS], none[TORUS_VCS] = { 0 };

	for (unsigned int vc = 0; vc < TORUS_VCS; vc++)
		m.slots[vc] = slots[vc] = (u16)(4 + rnd_below(&r, 20));
	expect(&r, tn_credit_start(&tx, slots, none), "start");
	for (int i = 0; i < 20000; i++) {
		step(&r, &m, &tx, &rx);
		conserved(&r, &m, &tx, &rx);
	}
}

static void credits_are_conserved_in_random_histories(void **state)
{
	(void)state;
	for_seeds(50, conserve_one);
}

static void impossible_credits_at_start_are_refused(void **state)
{
	struct tn_credit c = { 0 };
	const u16 none[] = { 0, 0, 0 }, few[] = { 4, 1, 4 }, two[] = { 2, 2, 2 }, four[] = { 4, 4, 4 };
	const u16 many[] = { 4, 4, TN_CRP_MAX + 1 }, most[] = { 4, 4, TN_CRP_MAX };
	const u16 taken[] = { 4, 0, 2 }, over[] = { 5, 0, 0 };

	(void)state;
	assert_false(tn_credit_start(&c, few, none));
	assert_false(tn_credit_start(&c, many, none));
	assert_false(tn_credit_start(&c, four, over));
	assert_int_equal(c.n_inp[0], 0);	/* refused: nothing changed */
	assert_true(tn_credit_start(&c, two, none));
	/* one packet enters, and leaves a bubble, */
	assert_true(tn_credit_may(&c, 0, 1));
	tn_credit_take(&c, 0, 1);
	assert_false(tn_credit_may(&c, 0, 1));
	assert_true(tn_credit_may(&c, 0, 0));		/* into which one of the ring may go */
	assert_true(tn_credit_start(&c, most, none));
	assert_true(tn_credit_start(&c, four, taken));
	assert_int_equal(c.ct[0], 4);
	assert_int_equal(c.ct[2], 2);
	assert_false(tn_credit_may(&c, 0, 0));
	assert_true(tn_credit_may(&c, 1, 0));
	assert_true(tn_credit_may(&c, 1, 1));
	assert_true(tn_credit_may(&c, 1, 3));
	assert_false(tn_credit_may(&c, 1, 4));
	assert_true(tn_credit_may(&c, 2, 1));		/* two buffers are free */
	assert_false(tn_credit_may(&c, 2, 2));
}

static void return_of_unused_credits_is_refused(void **state)
{
	struct tn_credit c = { 0 };
	const u16 four[] = { 4, 4, 4 }, none[] = { 0, 0, 0 };

	(void)state;
	assert_true(tn_credit_start(&c, four, none));
	assert_false(tn_credit_returned(&c, 0, 1));
	tn_credit_take(&c, 0, 1);
	tn_credit_take(&c, 0, 1);
	assert_false(tn_credit_returned(&c, 1, 1));
	assert_false(tn_credit_returned(&c, 0, 3));
	assert_false(tn_credit_returned(&c, 3, 0));
	assert_int_equal(c.ct[0], 2);
	assert_true(tn_credit_returned(&c, 0, 2));
	assert_int_equal(c.ct[0], 0);
}

/* No VC's credits wait behind those of the others for ever. */
static void each_vc_reports_equally_often(void **state)
{
	struct tn_credit c = { 0 };
	unsigned int got[TORUS_VCS] = { 0 };
	u8 vc;

	(void)state;
	for (int i = 0; i < 30; i++) {
		for (unsigned int v = 0; v < TORUS_VCS; v++)
			c.owed[v]++;
		assert_int_not_equal(tn_credit_report(&c, &vc), 0);
		got[vc]++;
	}
	for (unsigned int v = 0; v < TORUS_VCS; v++)
		assert_int_equal(got[v], 10);
}

/*
 * A report without credits names the first VC, because a peer refuses one of a VC that does not
 * exist.
 */
static void report_without_credits_names_first_vc(void **state)
{
	struct tn_credit c = { 0 };
	u8 vc = TORUS_VCS;

	(void)state;
	assert_int_equal(tn_credit_report(&c, &vc), 0);
	assert_int_equal(vc, 0);
}

/* Reports go round the VCs that are owed something, from the one after the last. */
static void report_goes_round_vcs_that_are_owed_credits(void **state)
{
	struct tn_credit c = { .owed = { 0, 2, 3 } };
	u8 vc;

	(void)state;
	assert_int_equal(tn_credit_report(&c, &vc), 2);
	assert_int_equal(vc, 1);
	c.owed[0] = 1;
	assert_int_equal(tn_credit_report(&c, &vc), 3);
	assert_int_equal(vc, 2);
	assert_int_equal(tn_credit_report(&c, &vc), 1);
	assert_int_equal(vc, 0);
}

/* --- critical bubbles ------------------------------------------------------------ */

static const u8 marking[] = { TN_BUBBLE_CBS, TN_BUBBLE_MBS };

/* A session begins with a bubble for each ring, whose VCs both need a free buffer for it. */
static void session_starts_with_one_bubble_per_ring(void **state)
{
	const u16 three[] = { 3, 3, 3 };
	static const struct { u16 occupied[TORUS_VCS]; bool room; } t[] = {
		{ { 0, 0, 0 }, true }, { { 2, 2, 2 }, true }, { { 2, 2, 3 }, true },
		{ { 3, 2, 0 }, false }, { { 2, 3, 0 }, false }, { { 3, 3, 0 }, false },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(t); i++) {
		struct tn_credit bloc = { .policy = TN_BUBBLE_BLOC };

		for (unsigned int p = 0; p < ARRAY_SIZE(marking); p++) {
			struct tn_credit c = { .policy = marking[p] };

			assert_int_equal(tn_credit_room(&c, three, t[i].occupied), t[i].room);
			assert_int_equal(tn_credit_start(&c, three, t[i].occupied), t[i].room);
			assert_int_equal(c.critical[0], t[i].room);
			assert_int_equal(c.critical[1], t[i].room);
			assert_int_equal(c.critical[TORUS_VC_A], 0);
		}
		assert_true(tn_credit_room(&bloc, three, t[i].occupied));
		assert_true(tn_credit_start(&bloc, three, t[i].occupied));
		assert_int_equal(bloc.critical[0] + bloc.critical[1] + bloc.critical[2], 0);
	}
}

/* Returns credits in a report @crp for @vc, of which @ct buffers are taken. */
static void returns(u8 policy, unsigned int vc, u16 ct, unsigned int crp, int left, u8 critical)
{
	struct tn_credit c = { .policy = policy };

	c.ct[vc] = ct;
	c.n_inp[vc] = TN_CRP_MAX;
	assert_int_equal(tn_credit_returned(&c, vc, crp), left >= 0);
	assert_int_equal(c.ct[vc], left >= 0 ? left : ct);
	assert_int_equal(c.critical[vc], critical);
	if (left < 0)
		return;
	c.critical[vc] = 1;		/* two critical bubbles that meet are one */
	c.ct[vc] = ct;
	assert_true(tn_credit_returned(&c, vc, crp));
	assert_int_equal(c.critical[vc], 1);
}

/* Some of the returned buffers are critical, but never more than are returned, and none of VCA. */
static void no_more_critical_buffers_than_returned_ones(void **state)
{
	(void)state;
	for (unsigned int p = 0; p < ARRAY_SIZE(marking); p++) {
		u8 policy = marking[p];

		returns(policy, 0, 5, 2, 3, 0);
		returns(policy, 0, 5, 2 | 1 << TN_CRP_CRITICAL, 3, 1);
		returns(policy, 1, 1, 1 | 1 << TN_CRP_CRITICAL, 0, 1);
		returns(policy, 1, 300, 255 | 2 << TN_CRP_CRITICAL, 45, 1);
		returns(policy, 0, 5, 6, -1, 0);
		returns(policy, 0, 5, 0 | 1 << TN_CRP_CRITICAL, -1, 0);
		returns(policy, 1, 5, 1 | 2 << TN_CRP_CRITICAL, -1, 0);
		returns(policy, TORUS_VC_A, 5, 2 | 1 << TN_CRP_CRITICAL, -1, 0);
		returns(policy, TORUS_VC_A, 5, 2, 3, 0);
	}
	returns(TN_BUBBLE_BLOC, 0, 400, 300, 100, 0);
}

/* Buffers for which one report has no room are in the next report; the bubble is in the first. */
static void first_report_has_bubble_and_next_has_the_rest(void **state)
{
	struct tn_credit bloc = { .policy = TN_BUBBLE_BLOC, .owed = { 300 } };
	u8 vc;

	(void)state;
	for (unsigned int p = 0; p < ARRAY_SIZE(marking); p++) {
		struct tn_credit c = {
			.policy = marking[p], .owed = { 0, 300 }, .owed_critical = { 0, 1 },
		};

		assert_int_equal(tn_credit_report(&c, &vc), 255 | 1 << TN_CRP_CRITICAL);
		assert_int_equal(vc, 1);
		assert_int_equal(c.owed[1], 45);
		assert_int_equal(c.owed_critical[1], 0);
		assert_int_equal(tn_credit_report(&c, &vc), 45);
		assert_int_equal(c.owed[1], 0);
		assert_int_equal(tn_credit_report(&c, &vc), 0);
	}
	assert_int_equal(tn_credit_report(&bloc, &vc), 300);
	assert_int_equal(bloc.owed[0], 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(credits_are_conserved_in_random_histories),
		cmocka_unit_test(impossible_credits_at_start_are_refused),
		cmocka_unit_test(return_of_unused_credits_is_refused),
		cmocka_unit_test(each_vc_reports_equally_often),
		cmocka_unit_test(report_without_credits_names_first_vc),
		cmocka_unit_test(report_goes_round_vcs_that_are_owed_credits),
		cmocka_unit_test(session_starts_with_one_bubble_per_ring),
		cmocka_unit_test(no_more_critical_buffers_than_returned_ones),
		cmocka_unit_test(first_report_has_bubble_and_next_has_the_rest),
	};

	return cmocka_run_group_tests_name("credit", all, NULL, NULL);
}
