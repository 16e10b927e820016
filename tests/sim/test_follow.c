// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members that live and cannot follow: their NIC takes no place, or never replays, or their
 * manager answers and does not report. Each is reported by name, no recovery waits for it longer
 * than the limit, it comes back when it can, and no packet is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "trial.h"

#define MEMBER_MAX (600 * MS)	/* the node answers in less: a step is said again each 100 ms */
#define ALL_STEPS (1u << FM_MSG_TABLE | 1u << FM_MSG_STEP)

static void begin(struct trial *s, const char *shape, uint64_t seed, bool discover)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.fanout = 2;
	c.member_max = MEMBER_MAX;
	c.discover = discover;
	trial_begin(s, &c);
	s->sparing = true;
}

static void end(struct trial *s, const char *what)
{
	if (!trial_end(s))
		fail_msg("%s: %s", what, s->wrong);
}

static uint8_t state_of(const struct trial *s, uint32_t node)
{
	return fm_node(world_fm(s->w, 0), node)->state;
}

/* Runs until the present recovery has ended. It is an error if that takes longer than @limit. */
static void ends_within(struct trial *s, uint64_t limit)
{
	uint64_t until = world_now(s->w) + limit;

	while (trial_under_way(s, 0) && world_now(s->w) < until)
		trial_run(s, 10 * MS);
	assert_false(trial_under_way(s, 0));
}

static void check_problem(struct trial *s, const char *name, const char *why)
{
	char text[64];

	snprintf(text, sizeof(text), "('%s') is silent", name);
	assert_true(trial_problem(s, "node", text));
	assert_true(trial_problem(s, "node", why));
}

/* --- no place -------------------------------------------------------------------- */

/*
 * A new node, whose NIC takes no place, joins a fabric that works. Once all waited for it, and
 * joined anew each few seconds, for ever.
 */
static void new_node(uint32_t node, unsigned int times)
{
	struct trial s;

	begin(&s, "3x3", 1 + node, false);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (i != node)
			world_power(s.w, i, true);
	trial_rest(&s, 10 * SEC);
	trial_traffic(&s, 300 * US);
	world_refuse(s.w, node, WORLD_PLACE, times);
	world_power(s.w, node, true);
	trial_run(&s, MEMBER_MAX / 2);
	if (times == WORLD_ALWAYS) {
		uint64_t term = fm_epoch(world_fm(s.w, 0));

		assert_true(trial_under_way(&s, 0));
		ends_within(&s, 3 * MEMBER_MAX);
		assert_int_equal(state_of(&s, node), FM_NODE_SILENT);
		check_problem(&s, fm_node(world_fm(s.w, 0), node)->name, "cannot follow version");
		assert_int_equal(fm_node(world_fm(s.w, 0), node)->fault, 0xf);
		/* The node tries again, seldom, and others need not join anew. */
		trial_run(&s, 20 * MEMBER_MAX);
		assert_int_equal(fm_epoch(world_fm(s.w, 0)), term);
		world_refuse(s.w, node, WORLD_PLACE, 0);
	}
	trial_run(&s, 21 * MEMBER_MAX);
	assert_int_equal(state_of(&s, node), FM_NODE_UP);
	assert_false(trial_problem(&s, "node", ""));
	assert_true(world_settled(s.w) && !trial_under_way(&s, 0));
	end(&s, "a new node");
}

static void node_that_takes_no_place_is_left_out(void **state)
{
	(void)state;
	new_node(5, WORLD_ALWAYS);
	new_node(5, 4);
	new_node(6, 16);
}

/* The shape grows by nodes of which one takes no place, and one that had one does not take the new. */
static void growth_leaves_out_node_that_takes_no_place(void **state)
{
	static const uint32_t refuses[] = { 7, 2 };

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		uint32_t node = refuses[k];
		struct trial s;

		begin(&s, "3x3", 20 + k, true);
		for (uint32_t i = 0; i < 6; i++)
			world_power(s.w, i, true);
		trial_rest(&s, 10 * SEC);
		s.sparing = false;
		world_traffic(s.w, 0);
		world_refuse(s.w, node, WORLD_PLACE, WORLD_ALWAYS);
		for (uint32_t i = 6; i < 9; i++)
			world_power(s.w, i, true);
		trial_run(&s, 10 * MEMBER_MAX);
		assert_int_equal(torus_nodes(&world_fm(s.w, 0)->table.shape), 9);
		assert_int_equal(state_of(&s, node), FM_NODE_SILENT);
		trial_run(&s, 40 * MEMBER_MAX);
		world_refuse(s.w, node, WORLD_PLACE, 0);
		trial_run(&s, 21 * MEMBER_MAX);
		assert_int_equal(state_of(&s, node), FM_NODE_UP);
		assert_true(world_settled(s.w) && !trial_under_way(&s, 0));
		trial_traffic(&s, 300 * US);
		trial_run(&s, 20 * MS);
		end(&s, "growth");
	}
}

/* --- no report --------------------------------------------------------------------- */

static uint32_t depth_of(const struct trial *s, uint32_t node)
{
	const struct fm_root *r = world_fm(s->w, 0)->root;
	const struct fm_record *m = fm_record_at(r, node);
	uint32_t depth = 0;

	for (; m && m != fm_record_no(r, 0) && depth < 16; depth++)
		m = fm_record(r, m->via);
	return depth;
}

/*
 * Return: a node of that depth in the tree; @inner: one that has nodes below it, else one that has
 * none
 */
static uint32_t place_in_tree(const struct trial *s, bool inner, uint32_t depth)
{
	const struct fm_root *r = world_fm(s->w, 0)->root;

	for (uint32_t i = 1; i < world_nodes(s->w); i++)
		if (!!fm_record_at(r, i)->first == inner && depth_of(s, i) == depth)
			return i;
	fail_msg("no node of depth %u", depth);
	return 0;
}

/*
 * The manager of a node answers pings, and takes neither tables nor steps, so it passes on none.
 * The node alone is found silent, though others lack reports, too: those above and below it in the
 * tree.
 */
static void mute(const char *shape, bool inner, uint32_t depth, uint32_t types, uint64_t seed)
{
	struct trial s;
	uint64_t term;
	uint32_t node, last;

	begin(&s, shape, seed, false);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	trial_traffic(&s, 300 * US);
	trial_run(&s, 5 * MS);
	node = place_in_tree(&s, inner, depth);
	last = world_cables(s.w) - 1;
	term = fm_epoch(world_fm(s.w, 0));
	world_ignore(s.w, node, types);
	world_cut(s.w, last, true);
	trial_run(&s, MEMBER_MAX / 2);
	assert_true(trial_under_way(&s, 0));
	ends_within(&s, 2 * MEMBER_MAX);
	check_problem(&s, fm_node(world_fm(s.w, 0), node)->name, "has not reported");
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		assert_int_equal(state_of(&s, i), i == node ? FM_NODE_SILENT : FM_NODE_UP);
	/* While it is refused recoveries do not wait for it. */
	world_cut(s.w, last - 1, true);
	trial_run(&s, 10 * MS);
	ends_within(&s, 1 * SEC);
	/* The node comes back, seldom, and still does not report. */
	trial_run(&s, 30 * MEMBER_MAX);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		assert_true(i == node || state_of(&s, i) == FM_NODE_UP);
	assert_int_equal(fm_epoch(world_fm(s.w, 0)), term);
	world_ignore(s.w, node, 0);
	world_cut(s.w, last, false);
	world_cut(s.w, last - 1, false);
	trial_run(&s, 25 * MEMBER_MAX);
	assert_int_equal(state_of(&s, node), FM_NODE_UP);
	assert_false(trial_problem(&s, "node", ""));
	assert_true(world_settled(s.w) && !trial_under_way(&s, 0));
	end(&s, "mute");
}

static void node_that_never_reports_is_left_out(void **state)
{
	(void)state;
	mute("3x3", false, 2, ALL_STEPS, 30);
	mute("4x4", true, 2, ALL_STEPS, 31);
	mute("3x3", true, 1, ALL_STEPS, 32);
	mute("3x3", true, 1, 1u << FM_MSG_TABLE, 33);
}

/* --- no replay ----------------------------------------------------------------------- */

/* A NIC that never replays keeps a port closed: its links there are excluded, and it is named. */
static void nic_that_never_replays_is_excluded(void **state)
{
	struct trial s;

	(void)state;
	begin(&s, "3x3", 40, false);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	trial_traffic(&s, 300 * US);
	world_refuse(s.w, 4, WORLD_REPLAY, WORLD_ALWAYS);
	world_cut(s.w, 8, true);
	trial_run(&s, 100 * MS);
	world_cut(s.w, 8, false);
	trial_run(&s, 12 * SEC);
	assert_int_equal(state_of(&s, 4), FM_NODE_SILENT);
	check_problem(&s, "n4", "cannot follow version");
	assert_false(trial_under_way(&s, 0));
	assert_int_equal(fm_node(world_fm(s.w, 0), 4)->fault & 1, 1);
	world_refuse(s.w, 4, WORLD_REPLAY, 0);
	trial_run(&s, 21 * MEMBER_MAX);
	assert_int_equal(state_of(&s, 4), FM_NODE_UP);
	assert_true(world_settled(s.w) && !trial_under_way(&s, 0));
	end(&s, "no replay");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_that_takes_no_place_is_left_out),
		cmocka_unit_test(growth_leaves_out_node_that_takes_no_place),
		cmocka_unit_test(node_that_never_reports_is_left_out),
		cmocka_unit_test(nic_that_never_replays_is_excluded),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
