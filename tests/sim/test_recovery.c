// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults under traffic between all nodes: no packet may be lost, duplicated or out of order, and the
 * fabric must come to rest with a right table. A second fault happens at every step of the
 * recovery from the first. The table costs[] limits what each fault may cost besides: how long
 * rows are on hold, whether a drain may end without proof, packets that found no way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "trial.h"
#include "tests/unit/random.h"

/* The faults and repairs of these tests. */
enum fault {
	CUT,
	SILENCE,
	FLAP,			/* a cable is cut, and mended before a table is made */
	NODE_DIES,
	MANAGER_DIES,
	MANAGER_RESTARTS,
	ROOT_RESTARTS,
	NODE_COMES_BACK,	/* a node that was off from the beginning, not that of NODE_DIES */
	MEND,			/* a cable that was cut from the beginning is mended */
	EXCLUDE,
	FAULTS,
};

static const char *const names[FAULTS] = {
	"cut",		    "silence",	     "flap",	      "node dies",   "manager dies",
	"manager restarts", "root restarts", "node comes back", "mend",	     "exclude",
};

/**
 * struct cost - limits of what a fault may cost
 * @alone: ms for which it may keep rows on hold
 * @beside: ms by which it may prolong the holds of another fault: until it is noticed, or until
 *	managers are back
 * @unproven: the root may go on without proof
 */
struct cost {
	unsigned int alone, beside;
	bool unproven;
};

#define MEMBER_MAX (500 * MS)

static const struct cost costs[FAULTS] = {
	[CUT] = { 10, 0, false },
	[SILENCE] = { 10, 400, false },
	[FLAP] = { 10, 0, false },
	[NODE_DIES] = { 60, 60, false },	/* managers below its own return to the root */
	[MANAGER_DIES] = { 10, 1200, true },	/* the root waits for it, and its NIC still sends */
	[MANAGER_RESTARTS] = { 10, 60, false },
	[ROOT_RESTARTS] = { 10, 100, false },
	[NODE_COMES_BACK] = { 10, 0, false },
	[MEND] = { 10, 0, false },
	[EXCLUDE] = { 10, 0, false },
};

static unsigned int failures;
static unsigned int met;	/* steps at which a second fault hit, a bit each */
static uint64_t rerouted;	/* adaptive packets of failed links that took another way */

static void happen(struct trial *s, enum fault f, uint32_t k)
{
	uint32_t nodes = world_nodes(s->w), node = 1 + (k * 5 + 2) % (nodes - 1);
	uint32_t cable = (k * 7 + 3) % world_cables(s->w);

	switch (f) {
	case CUT:
		world_cut(s->w, cable, true);
		break;
	case SILENCE:
		world_silence(s->w, cable, true);
		break;
	case FLAP:
		world_cut(s->w, cable, true);
		world_run(s->w, 30 * US);
		world_cut(s->w, cable, false);
		break;
	case NODE_DIES:
		world_power(s->w, node, false);
		break;
	case MANAGER_DIES:	/* no node replays what its NIC parks until the manager is back */
		world_manager(s->w, node, false);
		break;
	case MANAGER_RESTARTS:
		world_manager(s->w, node, false);
		world_run(s->w, 100 * US);
		world_manager(s->w, node, true);
		break;
	case ROOT_RESTARTS:
		world_manager(s->w, 0, false);
		world_run(s->w, 500 * US);
		world_manager(s->w, 0, true);
		break;
	case NODE_COMES_BACK:
		world_power(s->w, nodes - 1, true);
		break;
	case MEND:
		world_cut(s->w, 1, false);
		break;
	case EXCLUDE:
		if (world_fm(s->w, 0))
			fm_exclude(world_fm(s->w, 0), node, (int)(k % 2), true, world_now(s->w));
		break;
	default:
		break;
	}
}

static void include_all(struct trial *s)
{
	for (uint32_t i = 0; world_fm(s->w, 0) && i < world_nodes(s->w); i++)
		fm_exclude(world_fm(s->w, 0), i, -1, false, world_now(s->w));
}

/*
 * Return: true if nothing changes for a while after these faults, so that the recovery must meet
 * full queues.
 */
static bool noticed_late(enum fault f)
{
	return f == SILENCE || f == MANAGER_DIES;
}

static void begin(struct trial *s, struct world_config *c, enum fault a, enum fault b)
{
	bool absent = a == NODE_COMES_BACK || b == NODE_COMES_BACK;

	trial_begin(s, c);
	for (uint32_t i = 0; i < world_nodes(s->w); i++)
		if (!absent || i != world_nodes(s->w) - 1)
			world_power(s->w, i, true);
	if (a == MEND || b == MEND)
		world_cut(s->w, 1, true);
	world_run(s->w, absent ? 1000 * MS : 0);
	trial_rest(s, 10 * SEC);
	trial_traffic(s, 150 * US);
	world_run(s->w, 10 * MS);
	s->sparing = !noticed_late(a) && !noticed_late(b);
}

/* Checks that @s has cost no more than @a and @b may; rows may be on hold for @most ms. */
static void judge_cost(struct trial *s, enum fault a, enum fault b, uint64_t most)
{
	bool dies = a == NODE_DIES || b == NODE_DIES;
	bool absent = a == NODE_COMES_BACK || b == NODE_COMES_BACK;
	/* The far end of a silent cable vouches for a dead node until it notices the silence. */
	bool vouched = dies && (a == SILENCE || b == SILENCE);
	bool unproven = costs[a].unproven || costs[b].unproven || vouched;
	uint64_t held = check_flow_held(s->flow);
	uint64_t doubled = check_flow_counted(s->flow, TORUS_NC_DUPLICATES);
	uint64_t missed = absent ? check_flow_returned(s->flow) :
				   check_flow_counted(s->flow, TORUS_NC_UNREACHABLE);

	if (held > most * MS)
		trial_fail(s, "rows were on hold for %llu ms, must be %llu",
			   (unsigned long long)(held / MS), (unsigned long long)most);
	if (missed && !dies)
		trial_fail(s, "%llu packets were unreachable", (unsigned long long)missed);
	if (doubled && !dies && !unproven)
		trial_fail(s, "%llu duplicates arrived", (unsigned long long)doubled);
	if (check_flow_counted(s->flow, TORUS_NC_UNSURE) && !dies && !unproven)
		trial_fail(s, "adaptive packets may have been duplicated");
	if (check_flow_unproven(s->flow) && !unproven)
		trial_fail(s, "the root went on without proof");
	s->none_late |= !unproven;
}

static uint64_t most_of_both(enum fault a, enum fault b)
{
	bool dies = a == NODE_DIES || b == NODE_DIES;
	uint64_t most = 10 + costs[a].beside + costs[b].beside;

	/* A restarted root waits for a dead node, because no node has reported the death to it. */
	if (dies && (a == ROOT_RESTARTS || b == ROOT_RESTARTS))
		most += 2 * MEMBER_MAX / MS;
	return most;
}

/* Waits until silence is noticed and the world is at rest. */
static void settle(struct trial *s)
{
	trial_run(s, 400 * MS);
	trial_rest(s, 30 * SEC);
}

static void finish(struct trial *s, const char *what, uint64_t seed, uint64_t gap)
{
	settle(s);
	include_all(s);
	if (trial_end(s))
		return;
	print_error("%s, seed %llu, gap %llu us: %s\n", what, (unsigned long long)seed,
		    (unsigned long long)(gap / US), s->wrong);
	failures++;
}

static void config(struct world_config *c, const char *shape, uint64_t seed)
{
	trial_config(c, shape, seed);
	c->discover = false;
	c->member_max = MEMBER_MAX;
}

static void single(enum fault f)
{
	static const char *const shapes[] = { "4x4", "5", "3x2x2", "2x1x3", "2x2", "2x2x2x2" };

	for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
		for (uint32_t n = 0; n < 3; n++) {
			struct world_config c;
			struct trial s;
			char what[80];

			if (trial_every() > 1 && (n != f % 3 || (f + k) % 2))
				continue;
			config(&c, shapes[k], n + 1);
			begin(&s, &c, f, f);
			s.none_late = true;
			happen(&s, f, n);
			settle(&s);
			judge_cost(&s, f, f, costs[f].alone);
			rerouted += check_flow_counted(s.flow, TORUS_NC_REROUTED);
			snprintf(what, sizeof(what), "%s on %s", names[f], shapes[k]);
			finish(&s, what, n + 1, 0);
		}
	}
}

static void one_fault_loses_no_packet(void **state)
{
	(void)state;
	failures = 0;
	for (unsigned int f = 0; f < FAULTS; f++)
		single((enum fault)f);
	assert_int_equal(failures, 0);
	assert_true(rerouted > 0);
}

/*
 * A second fault happens at each step of the recovery from a first one. A recovery takes a few ms:
 * @met checks that the gaps between the faults reach each of its steps.
 */
static void two_faults_lose_no_packet(void **state)
{
	static const uint32_t gaps[] = { 0,    40,   200,  500,	 1000, 1500, 2000, 2300,
					 2600, 3000, 3500, 4000, 5000, 6000, 8000, 400000 };

	const char *one = getenv("SEED");
	unsigned int count = 0;

	(void)state;
	failures = 0;
	for (unsigned int a = 0; a < FAULTS; a++) {
		for (unsigned int b = 0; b < FAULTS; b++) {
			for (size_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++) {
				struct world_config c;
				struct trial s;
				char what[80];

				/* All pairs, each at some of the gaps. */
				if ((a * 7 + b * 3 + g) % 6)
					continue;
				if (!one && count++ % trial_every())
					continue;
				if (one && strtoul(one, NULL, 0) != a * 1000 + b * 100 + g)
					continue;
				config(&c, g % 2 ? "4x3" : "3x2x2", a * 1000 + b * 100 + g);
				begin(&s, &c, (enum fault)a, (enum fault)b);
				happen(&s, (enum fault)a, 0);
				world_run(s.w, gaps[g] * US);
				met |= 1u << trial_step(&s);
				happen(&s, (enum fault)b, 1);
				settle(&s);
				judge_cost(&s, (enum fault)a, (enum fault)b,
					   most_of_both((enum fault)a, (enum fault)b));
				snprintf(what, sizeof(what), "%s, then %s", names[a], names[b]);
				finish(&s, what, c.seed, gaps[g] * US);
			}
		}
	}
	assert_int_equal(failures, 0);
	if (!one && trial_every() == 1)
		assert_int_equal(met, (1u << STEPS) - (1u << STEP_REST));
}

/* Faults while messages are duplicated and delayed and connections break. */
static void faults_under_disturbance_lose_no_packet(void **state)
{
	const char *one = getenv("SEED");

	(void)state;
	failures = 0;
	for (uint64_t seed = 1; seed <= 60; seed += one ? 1 : trial_every()) {
		if (one && strtoul(one, NULL, 0) != seed)
			continue;
		struct world_config c;
		uint64_t random = seed;
		struct trial s;
		enum fault f;

		config(&c, "4x3", seed);
		begin(&s, &c, FAULTS, FAULTS);
		world_disturb(s.w, 100, 300, 5 * MS);
		for (unsigned int i = 0; i < 4; i++) {
			f = (enum fault)random_below(&random, EXCLUDE);
			if (f == NODE_COMES_BACK || f == MEND)
				f = CUT;
			happen(&s, f, random_below(&random, 100));
			world_run(s.w, random_below(&random, 20000) * US);
		}
		world_run(s.w, 300 * MS);
		world_disturb(s.w, 0, 0, 50 * US);
		finish(&s, "disturbed", seed, 0);
	}
	assert_int_equal(failures, 0);
}

/* Prints how long each step of the recovery takes after a cut in a fabric of 64 nodes. */
static void cut_in_64_nodes_loses_no_packet(void **state)
{
	struct world_config c;
	struct fm_status st;
	struct trial s;

	(void)state;
	failures = 0;
	config(&c, "4x4x4", 1);
	c.fanout = 8;
	begin(&s, &c, FAULTS, FAULTS);
	happen(&s, CUT, 3);
	world_run(s.w, 5 * MS);
	trial_rest(&s, 1 * SEC);
	fm_status(world_fm(s.w, 0), &st);
	print_message("4x4x4 recovery: table %.3f ms, rebuilt %.3f, drained %.3f, replayed %.3f, resumed %.3f\n",
		      (double)(st.last.at[FM_AT_TABLE] - st.last.at[FM_AT_DETECTED]) / 1e6,
		      (double)(st.last.at[FM_AT_REBUILT] - st.last.at[FM_AT_DETECTED]) / 1e6,
		      (double)(st.last.at[FM_AT_DRAINED] - st.last.at[FM_AT_DETECTED]) / 1e6,
		      (double)(st.last.at[FM_AT_REPLAYED] - st.last.at[FM_AT_DETECTED]) / 1e6,
		      (double)(st.last.at[FM_AT_RESUMED] - st.last.at[FM_AT_DETECTED]) / 1e6);
	assert_int_equal(st.last.lost, 0);
	assert_false(st.last.bounded);
	finish(&s, "cut", 1, 0);
	assert_int_equal(failures, 0);
}

/* An argument names the one test to run. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_fault_loses_no_packet),
		cmocka_unit_test(two_faults_lose_no_packet),
		cmocka_unit_test(faults_under_disturbance_lose_no_packet),
		cmocka_unit_test(cut_in_64_nodes_loses_no_packet),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
