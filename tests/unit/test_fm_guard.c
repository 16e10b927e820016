// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the nodes that an exclusion would cut off, as the root finds them before it accepts the
 * order.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "stage_flaps.h"

/* Return: how many nodes the exclusion of these would cut off; @s: also which. */
static uint32_t severs(const struct fm_target *t, uint32_t n, struct fm_severed *out)
{
	assert_int_equal(fm_exclude_severs(s.fm, t, n, out), 0);
	return out->nodes;
}

static void exclude(uint32_t node, int port)
{
	assert_int_equal(fm_exclude(s.fm, node, port, true, s.now), 0);
}

static void start(const char *shape)
{
	root_of(shape);
	lives(5000);
}

/* The exclusion of a node's last cable cuts it off. Orders count that no table has yet. */
static void exclusion_of_last_cable_severs_node(void **state)
{
	struct fm_severed out;

	(void)state;
	start("4x4");
	for (int p = 0; p < 3; p++) {
		const struct fm_target next = { 5, p };

		assert_int_equal(severs(&next, 1, &out), 0);
		assert_int_equal(out.pairs, 0);
		assert_int_equal(fm_exclude_first(s.fm, 5, p, true, NULL, s.now), 0);
		assert_int_equal(fm_node(s.fm, 5)->admin, 0);
	}
	assert_int_equal(severs(&(struct fm_target){ 5, 3 }, 1, &out), 1);
	assert_int_equal(out.node[0], 5);
	assert_int_equal(out.pairs, 30);
	/* Naming the other end of the cable gives the same result. */
	assert_int_equal(severs(&(struct fm_target){ 1, 1 }, 1, &out), 1);
	assert_int_equal(out.node[0], 5);
	/* The cut is wanted if the node itself is named, and the node is out of service then. */
	assert_int_equal(severs(&(struct fm_target){ 5, -1 }, 1, &out), 0);
	exclude(5, -1);
	assert_int_equal(severs(&(struct fm_target){ 1, 1 }, 1, &out), 0);
	stage_end(&s);
}

/* All nodes may be excluded by name, but the result says how many are left. */
static void exclusion_of_nodes_counts_how_many_are_left(void **state)
{
	struct fm_target all[16];
	struct fm_severed out;

	(void)state;
	start("4x4");
	for (uint32_t i = 0; i < 16; i++)
		all[i] = (struct fm_target) { i, -1 };
	assert_int_equal(severs(all, 16, &out), 0);
	assert_int_equal(out.went, 16);
	assert_int_equal(out.left, 0);
	assert_int_equal(severs(all, 15, &out), 0);
	assert_int_equal(out.left, 1);
	exclude(5, -1);
	assert_int_equal(severs(all, 6, &out), 0);
	assert_int_equal(out.went, 5);	/* one node is out of service already */
	assert_int_equal(out.left, 10);
	stage_end(&s);
}

/* An order to include a port counts as well before a table has it. */
static void inclusion_order_counts_before_table_has_it(void **state)
{
	const struct fm_target last = { 5, 3 };
	struct fm_severed out;

	(void)state;
	start("4x4");
	for (int p = 0; p < 3; p++)
		exclude(5, p);
	assert_int_equal(severs(&last, 1, &out), 1);
	assert_int_equal(fm_exclude_first(s.fm, 5, 0, false, NULL, s.now), 0);
	assert_int_not_equal(fm_node(s.fm, 5)->admin & 1, 0);
	assert_int_equal(severs(&last, 1, &out), 0);
	stage_end(&s);
}

/* The root counts an order, at both ends of its cable, before a table has it. */
static void exclusion_order_counts_before_table_has_it(void **state)
{
	struct fm_order o = { .reason = "bit errors" };

	(void)state;
	start("4x4");
	assert_null(fm_order_given(s.fm, 0));
	assert_false(fm_exclusion_given(s.fm, 5, 0));
	assert_int_equal(fm_exclude_first(s.fm, 5, 0, true, &o, s.now), 0);
	assert_null(fm_order(s.fm, 0));
	assert_non_null(fm_order_given(s.fm, 0));
	assert_string_equal(fm_order_given(s.fm, 0)->reason, "bit errors");
	assert_null(fm_order_given(s.fm, 1));
	assert_true(fm_exclusion_given(s.fm, 5, 0));
	assert_true(fm_exclusion_given(s.fm, 6, 2));
	assert_false(fm_exclusion_given(s.fm, 5, 1));
	assert_false(fm_exclusion_given(s.fm, 5, 4));	/* two dimensions have ports 0 to 3 */
	assert_false(fm_exclusion_given(s.fm, 5, 32));
	assert_int_equal(fm_exclude_first(s.fm, 5, 0, false, NULL, s.now), 0);
	assert_null(fm_order_given(s.fm, 0));
	assert_false(fm_exclusion_given(s.fm, 5, 0));
	stage_end(&s);
}

/* A cable that is lost during a recovery, and so in no table yet, does not count as a path. */
static void lost_cable_is_no_path_before_its_table(void **state)
{
	struct fm_severed out;

	(void)state;
	start("4x4");
	exclude(5, 1);
	exclude(5, 2);
	cable(FM_PORT_FAULTY);
	assert_int_equal(fm_node(s.fm, 5)->fault, 0);
	assert_int_equal(severs(&(struct fm_target){ 5, 3 }, 1, &out), 1);
	assert_int_equal(out.node[0], 5);
	stage_end(&s);
}

/* A node that is back during a recovery needs a path, though the table still says it is dead. */
static void node_that_is_back_needs_path_before_its_table(void **state)
{
	const struct fm_target rest[] = { { 5, 0 }, { 5, 1 }, { 5, 2 }, { 5, 3 } };
	struct fm_severed out;
	struct fm_msg m;

	(void)state;
	start("4x4");
	for (unsigned int p = 0; p < 4; p++)
		row(torus_neighbour(&s.shape, 5, p), torus_dir_opposite(&s.shape, p), FM_PORT_FAULTY);
	stage_down(&s, 105);
	stage_run_ns(&s, s.now + 500 * MS);
	assert_int_equal(fm_node(s.fm, 5)->state, FM_NODE_DEAD);
	assert_int_equal(severs(rest, 4, &out), 0);
	for (unsigned int p = 0; p < 4; p++)
		row(torus_neighbour(&s.shape, 5, p), torus_dir_opposite(&s.shape, p), FM_PORT_UP);
	m = stage_hello(&s, 5);
	stage_up(&s, 105);
	stage_msg(&s, 105, &m);
	assert_int_equal(fm_node(s.fm, 5)->state, FM_NODE_DEAD);
	assert_int_equal(severs(rest, 3, &out), 0);
	assert_int_equal(severs(rest, 4, &out), 1);
	assert_int_equal(out.node[0], 5);
	stage_end(&s);
}

/* Several exclusions together cut nodes off, though each alone would not. */
static void several_exclusions_sever_together(void **state)
{
	const struct fm_target ring[] = { { 1, 0 }, { 4, 0 } };
	const struct fm_target whole[] = { { 1, -1 }, { 4, -1 } };
	struct fm_severed out;

	(void)state;
	start("6");
	assert_int_equal(severs(ring, 1, &out), 0);
	assert_int_equal(severs(ring + 1, 1, &out), 0);
	assert_int_equal(severs(ring, 2, &out), 3);
	assert_int_equal(out.node[0], 2);
	assert_int_equal(out.node[2], 4);
	assert_int_equal(out.pairs, 18);
	/* 2 and 3 on one side of the nodes that go, 0 and 5 on the other. */
	assert_int_equal(severs(whole, 2, &out), 2);
	assert_int_equal(out.node[0], 2);
	assert_int_equal(out.pairs, 8);
	/* A node that is cut off already is no reason to refuse. */
	exclude(1, 0);
	exclude(4, 0);
	assert_int_equal(severs(ring, 2, &out), 0);
	assert_int_equal(severs(&(struct fm_target){ 2, 0 }, 1, &out), 1);
	assert_int_equal(out.pairs, 4);
	stage_end(&s);
}

static void severed_nodes_are_listed_up_to_limit_at_root_only(void **state)
{
	struct fm_severed out;

	(void)state;
	start("24");
	exclude(0, 0);
	assert_int_equal(severs(&(struct fm_target){ 11, 0 }, 1, &out), 11);
	assert_int_equal(out.node[FM_SEVERED_MAX - 1], 8);
	assert_int_equal(out.pairs, 2 * 11 * 13);
	stage_end(&s);
	stage_init(&s, "4x4", 5);
	s.deaf = "init ping log ";
	stage_start(&s);
	assert_int_equal(fm_exclude_severs(s.fm, &(struct fm_target){ 5, 0 }, 1, &out), -EPERM);
	stage_end(&s);
}

/* Node @i of @node has number @i in the job @name. */
static void start_job(const char *name, const uint32_t *node, uint32_t n)
{
	struct fm_job job = { .how = FM_JOB_LIST, .nodes = n, .uid = 1000, .since = 1 };

	strcpy(job.name, name);
	assert_int_equal(fm_job_start(s.fm, &job, node, s.now), 0);
}

/* Links around a job do not help it: its nodes do not use them. */
static void exclusion_that_divides_job_names_it(void **state)
{
	static const uint32_t line[] = { 0, 1, 2 }, square[] = { 8, 9, 12, 13 };
	static const struct {
		struct fm_target end[2];
		const char *job;
		uint32_t n, parts;
	} row[] = {
		{ { { 0, 0 } }, "line", 1, 2 },
		{ { { 1, 2 } }, "line", 1, 2 },		/* the cable is named by its other end */
		{ { { 1, -1 } }, "line", 1, 2 },
		{ { { 0, 0 }, { 2, 2 } }, "line", 2, 3 },
		{ { { 0, -1 } }, NULL, 1, 0 },		/* 1,0 and 2,0 are joined */
		{ { { 0, 0 }, { 0, -1 } }, NULL, 2, 0 },
		{ { { 0, -1 }, { 1, -1 } }, NULL, 2, 0 },
		{ { { 0, 1 } }, NULL, 1, 0 },		/* that cable leads out of the job */
		{ { { 8, 0 } }, NULL, 1, 0 },
		{ { { 8, 0 }, { 12, 0 } }, "square", 2, 2 },
		{ { { 9, -1 } }, NULL, 1, 0 },
		{ { { 5, 0 } }, NULL, 1, 0 },		/* node 5 belongs to no job */
	};
	struct fm_severed out;

	(void)state;
	start("4x4");
	start_job("line", line, 3);
	start_job("square", square, 4);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_int_equal(severs(row[i].end, row[i].n, &out), 0);
		assert_int_equal(!out.job, !row[i].job);
		if (row[i].job)
			assert_string_equal(out.job->name, row[i].job);
		assert_int_equal(out.parts, row[i].parts);
	}
	/* An order that divides it no further is no matter of the job. */
	exclude(0, 0);
	assert_int_equal(severs(&(struct fm_target){ 1, 2 }, 1, &out), 0);
	assert_null(out.job);
	stage_end(&s);
}

int main(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(exclusion_of_last_cable_severs_node),
		cmocka_unit_test(exclusion_of_nodes_counts_how_many_are_left),
		cmocka_unit_test(inclusion_order_counts_before_table_has_it),
		cmocka_unit_test(exclusion_order_counts_before_table_has_it),
		cmocka_unit_test(lost_cable_is_no_path_before_its_table),
		cmocka_unit_test(node_that_is_back_needs_path_before_its_table),
		cmocka_unit_test(several_exclusions_sever_together),
		cmocka_unit_test(severed_nodes_are_listed_up_to_limit_at_root_only),
		cmocka_unit_test(exclusion_that_divides_job_names_it),
	};

	return cmocka_run_group_tests_name("fm_guard", all, NULL, NULL);
}
