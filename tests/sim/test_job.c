// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs: their packets never leave their nodes, whatever fails, and none is lost, duplicated or
 * reordered when a job begins, is repaired or ends. Nothing but an order ends a job: neither the
 * loss of its nodes nor of the root, nor of the power of all nodes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/demand.h"
#include "ends.h"
#include "kernel/core/nic_impl.h"
#include "tools/fabricsim/world_impl.h"

#define TAKEOVER (3 * SEC)

static struct trial s;
static char why[FM_TEXT_MAX];

static struct fm *root(void)
{
	return world_fm(s.w, world_root(s.w));
}

static void begin(const char *shape, uint64_t seed)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.discover = false;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	trial_traffic(&s, 1 * MS);
	s.sparing = true;
	trial_run(&s, 20 * MS);
}

static void finish(const char *what)
{
	if (!trial_end(&s))
		fail_msg("%s: %s", what, s.wrong);
}

static void check_now(const char *when)
{
	char buf[256];
	const char *wrong = check_rows(s.w, buf, sizeof(buf));

	if (wrong)
		fail_msg("%s: %s", when, wrong);
}

static int start(const char *name, const struct fm_job_want *want)
{
	struct fm_job job = { .how = want->how, .nodes = want->nodes, .uid = 1000, .since = 1 };
	uint32_t node[64];
	int err = fm_job_choose(root(), want, node, why);

	snprintf(job.name, sizeof(job.name), "%s", name);
	return err ? err : fm_job_start(root(), &job, node, world_now(s.w));
}

static int start_box(const char *name, uint32_t nodes, uint32_t at)
{
	return start(name, &(struct fm_job_want){ .how = FM_JOB_BOX, .nodes = nodes, .at = at });
}

static int start_list(const char *name, const uint32_t *list, uint32_t nodes)
{
	return start(name, &(struct fm_job_want){ .how = FM_JOB_LIST, .nodes = nodes, .list = list,
						      .at = TORUS_NO_NODE });
}

static int stop(const char *name)
{
	return fm_job_stop(root(), name, 1000, world_now(s.w));
}

/* Checks that the root's table has the job @name of @nodes nodes, @up of them up, in @parts. */
static void expect_job(const char *name, uint32_t nodes, uint32_t up, uint32_t parts)
{
	static struct fm_job_count count[FM_JOBS_MAX + 1];
	const struct fm_job *j;
	uint32_t members = 0;

	assert_true(fm_job_counts(root(), count));
	for (uint32_t i = 0; (j = fm_job(root(), i)) && strcmp(j->name, name); i++)
		;
	if (!j)
		fail_msg("no job '%s'", name);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		members += fm_node(root(), i)->job == j->id;
	assert_int_equal(members, nodes);
	assert_int_equal(count[j->id].up, up);
	assert_int_equal(count[j->id].parts, parts);
}

/* Two jobs side by side, and the cables of one are cut one after the other. */
static void jobs_keep_their_nodes_when_cables_are_cut(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed += trial_every()) {
		begin("4x4", seed);
		assert_int_equal(start_box("left", 8, 0), 0);
		assert_int_equal(start_box("right", 8, TORUS_NO_NODE), 0);
		trial_rest(&s, 10 * SEC);
		expect_job("left", 8, 8, 1);
		expect_job("right", 8, 8, 1);
		check_now("both began");
		for (uint32_t c = 0; c < world_cables(s.w); c += 5) {
			world_cut(s.w, c, true);
			trial_rest(&s, 10 * SEC);
			if (!trial_problem(&s, "job", ""))
				check_now("a cable is cut");
		}
		for (uint32_t c = 0; c < world_cables(s.w); c += 5)
			world_cut(s.w, c, false);
		trial_rest(&s, 20 * SEC);
		assert_int_equal(stop("left"), 0);
		trial_rest(&s, 10 * SEC);
		assert_null(fm_job_given(root(), "left"));
		expect_job("right", 8, 8, 1);
		check_now("one ended");
		assert_int_equal(stop("right"), 0);
		trial_rest(&s, 10 * SEC);
		finish("cables");
	}
}

static uint32_t cable_of(uint32_t node, unsigned int port)
{
	for (uint32_t c = 0; c < world_cables(s.w); c++)
		for (unsigned int e = 0; e < 2; e++)
			if (s.w->cable[c].node[e] == node && s.w->cable[c].port[e] == port)
				return c;
	fail_msg("node %u has no cable at port %u", node, port);
	return 0;
}

/* Return: packets that came back to nodes outside the job as unreachable. */
static uint64_t returned_outside(void)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (!fm_node(root(), i)->job)
			n += s.w->node[i].nic->counter[TORUS_NC_RETURNED];
	return n;
}

/*
 * Node 1 of a job is cut off from the others of it. Node 5, outside, reaches node 1 only through a
 * relay, and node 4, the nearest, belongs to the other part of the job: it must not be that relay.
 */
static void relay_is_not_in_another_part_of_the_job(void **state)
{
	static const uint32_t box[] = { 0, 1, 3, 4 };
	static const struct { uint8_t node, port; } cut[] = {
		{ 0, 0 }, { 1, 1 }, { 2, 1 }, { 5, 0 }, { 5, 1 }, { 7, 0 },
	};
	uint64_t returned;

	(void)state;
	begin("3x3", 1);
	assert_int_equal(start_list("box", box, 4), 0);
	trial_rest(&s, 10 * SEC);
	for (unsigned int i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
		world_cut(s.w, cable_of(cut[i].node, cut[i].port), true);
	trial_rest(&s, 10 * SEC);
	expect_job("box", 4, 4, 2);
	assert_true(trial_problem(&s, "job", "cannot reach each other; lost: 0,0:+x, 1,0:+y; a job"));
	check_now("it has fallen apart");
	assert_true(s.w->node[5].nic->rows[1] & TORUS_ROW_RELAY);
	returned = returned_outside();
	trial_run(&s, 50 * MS);
	assert_int_equal(returned_outside(), returned);
	for (unsigned int i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
		world_cut(s.w, cable_of(cut[i].node, cut[i].port), false);
	trial_rest(&s, 10 * SEC);
	expect_job("box", 4, 4, 1);
	check_now("it is whole");
	finish("relay");
}

/* A line of nodes falls apart when its middle dies, and is whole when it comes back. */
static void line_falls_apart_when_its_middle_node_dies(void **state)
{
	static const uint32_t line[] = { 0, 1, 2 };

	(void)state;
	begin("8x3", 1);
	assert_int_equal(start_list("line", line, 3), 0);
	trial_rest(&s, 10 * SEC);
	check_now("it began");
	world_power(s.w, 1, false);
	trial_rest(&s, 20 * SEC);
	expect_job("line", 3, 2, 2);
	assert_true(trial_problem(&s, "job", "'line' has fallen apart"));
	assert_true(trial_problem(&s, "job", "; lost: node 1,0 (dead); "));
	world_power(s.w, 1, true);
	trial_rest(&s, 20 * SEC);
	expect_job("line", 3, 3, 1);
	assert_false(trial_problem(&s, "job", ""));
	check_now("it is whole");
	finish("apart");
}

/*
 * The cables of a node that dies are lost before it is known to be dead. A job that it does not join
 * is never reported to have fallen apart.
 */
static void death_of_a_node_is_not_the_end_of_its_job(void **state)
{
	(void)state;
	for (uint32_t dies = 1; dies < 4; dies += trial_every()) {
		begin("4x4", dies);
		assert_int_equal(start_list("box", (uint32_t[]){ 0, 1, 4, 5 }, 4), 0);
		trial_rest(&s, 10 * SEC);
		world_power(s.w, dies == 1 ? 1 : dies + 2, false);
		for (unsigned int i = 0; i < 500; i++) {
			trial_run(&s, 200 * US);
			assert_false(trial_problem(&s, "job", ""));
		}
		trial_rest(&s, 20 * SEC);
		expect_job("box", 4, 3, 1);
		finish("death");
	}
}

/*
 * A node of a job comes back, and @after that the cables that join it to the job. Fails if the job
 * is reported to have fallen apart while the root knows that the table is outdated.
 */
static void return_before_cables(uint64_t after)
{
	static const struct { uint8_t node, port; } cut[] = { { 5, 2 }, { 5, 3 } };
	bool apart = false;

	begin("4x4", 1);
	assert_int_equal(start_list("box", (uint32_t[]){ 0, 1, 4, 5 }, 4), 0);
	trial_rest(&s, 10 * SEC);
	world_power(s.w, 5, false);
	trial_rest(&s, 20 * SEC);
	for (unsigned int i = 0; i < 2; i++)
		world_cut(s.w, cable_of(cut[i].node, cut[i].port), true);
	world_power(s.w, 5, true);
	trial_run(&s, after);
	for (unsigned int i = 0; i < 2; i++)
		world_cut(s.w, cable_of(cut[i].node, cut[i].port), false);
	for (unsigned int i = 0; i < 2000 && !apart; i++) {
		trial_run(&s, 10 * US);
		apart = trial_problem(&s, "job", "has fallen apart");
		assert_false(apart && fm_demand_is(root()->root));
	}
	trial_rest(&s, 20 * SEC);
	expect_job("box", 4, 4, 1);
	assert_false(trial_problem(&s, "job", ""));
	finish("return");
}

static void job_is_not_judged_by_table_that_is_known_to_be_outdated(void **state)
{
	(void)state;
	for (uint64_t after = 2500 * US; after < 4000 * US; after += 100 * US)
		return_before_cables(after);
}

/*
 * A node that is excluded as a whole is not part of its job: the others are still joined. Without
 * that node the job is divided if the others were joined through it.
 */
static void excluded_node_is_no_part_of_its_job(void **state)
{
	static const uint32_t line[] = { 0, 1, 2 };

	(void)state;
	begin("8x3", 1);
	assert_int_equal(start_list("line", line, 3), 0);
	trial_rest(&s, 10 * SEC);
	assert_int_equal(fm_exclude(root(), 2, -1, true, world_now(s.w)), 0);
	trial_rest(&s, 10 * SEC);
	expect_job("line", 3, 2, 1);
	assert_false(trial_problem(&s, "job", ""));
	assert_int_equal(fm_exclude(root(), 2, -1, false, world_now(s.w)), 0);
	trial_rest(&s, 10 * SEC);
	expect_job("line", 3, 3, 1);
	assert_int_equal(fm_exclude(root(), 1, -1, true, world_now(s.w)), 0);
	trial_rest(&s, 10 * SEC);
	expect_job("line", 3, 2, 2);
	assert_true(trial_problem(&s, "job", "'line' has fallen apart"));
	assert_true(trial_problem(&s, "job", "; lost: node 1,0 (excluded); "));
	assert_int_equal(fm_exclude(root(), 1, -1, false, world_now(s.w)), 0);
	trial_rest(&s, 10 * SEC);
	expect_job("line", 3, 3, 1);
	finish("out of service");
}

/* The next root still knows the jobs, and so does the fabric after a loss of all power. */
static void jobs_survive_next_root_and_power_loss(void **state)
{
	(void)state;
	for (unsigned int power = 0; power < 2; power++) {
		uint32_t former;

		begin("4x3", 3);
		assert_int_equal(start_box("box", 6, TORUS_NO_NODE), 0);
		trial_rest(&s, 10 * SEC);
		former = world_root(s.w);
		end_node(s.w, former, KILL);
		assert_int_not_equal(ends_await(&s, former, TAKEOVER), TORUS_NO_NODE);
		trial_rest(&s, 20 * SEC);
		expect_job("box", 6, 6 - (fm_node(root(), former)->job &&
					  fm_node(root(), former)->state != FM_NODE_UP), 1);
		end_undo(s.w, former, KILL);
		trial_rest(&s, 20 * SEC);
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			power ? world_power(s.w, i, false) : world_manager(s.w, i, false);
		trial_run(&s, 100 * MS);
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			power ? world_power(s.w, i, true) : world_manager(s.w, i, true);
		trial_rest(&s, 30 * SEC);
		expect_job("box", 6, 6, 1);
		check_now("all began anew");
		assert_int_equal(stop("box"), 0);
		trial_rest(&s, 10 * SEC);
		check_now("it ended");
		finish("memory");
	}
}

/* All managers start again but one, which hung when the job began: its table is known, and older. */
static void job_survives_restart_beside_manager_with_older_table(void **state)
{
	static const uint32_t list[] = { 8, 9 };
	const uint32_t hung = 5;

	(void)state;
	begin("4x4", 5);
	world_hang(s.w, hung, true);
	trial_run(&s, 10 * SEC);
	assert_int_equal(start_list("late", list, 2), 0);
	trial_run(&s, 10 * SEC);
	expect_job("late", 2, 2, 1);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (i != hung)
			world_manager(s.w, i, false);
	trial_run(&s, 1 * SEC);
	world_hang(s.w, hung, false);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (i != hung)
			world_manager(s.w, i, true);
	trial_rest(&s, 60 * SEC);
	expect_job("late", 2, 2, 1);
	check_now("all but one began anew");
	finish("older table");
}

/* Jobs begin and end while cables are cut and mended. */
static void random_starts_and_stops_of_jobs_survive_cuts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed += trial_every()) {
		uint64_t random = seed * 77;

		begin(seed & 1 ? "4x4" : "3x3x2", seed);
		for (int i = 0; i < 12; i++) {
			uint32_t cable = (uint32_t)(world_random(s.w) % world_cables(s.w));
			const char *name = random % 3 ? "a" : "b";

			random = random * 6364136223846793005u + 1442695040888963407u;
			if (world_root(s.w) != TORUS_NO_NODE && fm_job_given(root(), name))
				stop(name);
			else if (world_root(s.w) != TORUS_NO_NODE)
				start_box(name, 2 + (uint32_t)(random >> 40) % 6, TORUS_NO_NODE);
			world_cut(s.w, cable, i & 1);
			trial_run(&s, (random >> 33) % 100 * MS);
		}
		finish("random");
	}
}

static void job_without_free_joined_nodes_is_refused(void **state)
{
	static const uint32_t apart[] = { 0, 5 }, twice[] = { 1, 1 }, good[] = { 1, 2 };

	(void)state;
	begin("4x4", 1);
	assert_int_equal(start_box("a", 7, TORUS_NO_NODE), -ENOSPC);
	assert_non_null(strstr(why, "7 nodes do not form a box of 4x4: must be, for example, 6 or 8"));
	assert_int_equal(start_list("a", apart, 2), -ENOTCONN);
	assert_non_null(strstr(why, "0,0 and 1,1 are not joined"));
	assert_int_equal(start_list("a", twice, 2), -EINVAL);
	assert_non_null(strstr(why, "1,0 is listed twice"));
	assert_int_equal(start_list("a", good, 2), 0);
	assert_int_equal(start_list("b", good, 2), -EBUSY);
	assert_string_equal(why, "node 1,0 belongs to job 'a' of user 1000");
	assert_int_equal(start_box("a", 1, TORUS_NO_NODE), -EEXIST);
	assert_int_equal(start_box("b", 1, 1), -ENOSPC);
	assert_string_equal(why, "no box of 1 free nodes begins at 1,0 in 4x4: 14 nodes are free; "
			    "of the others, node 1,0 belongs to job 'a' of user 1000");
	assert_int_equal(start_box("b", 16, TORUS_NO_NODE), -ENOSPC);
	assert_int_equal(fm_exclude(root(), 0, -1, true, world_now(s.w)), 0);
	trial_rest(&s, 10 * SEC);
	assert_int_equal(start_box("b", 16, TORUS_NO_NODE), -ENOSPC);
	assert_non_null(strstr(why, "13 nodes are free; of the others, node 0,0 is out of service"));
	assert_int_equal(start_list("b", (uint32_t[]){ 0 }, 1), -EBUSY);
	assert_string_equal(why, "node 0,0 is out of service");
	assert_int_equal(fm_exclude(root(), 0, -1, false, world_now(s.w)), 0);
	world_power(s.w, 15, false);
	trial_rest(&s, 20 * SEC);
	assert_int_equal(start_list("b", (uint32_t[]){ 15 }, 1), -EBUSY);
	assert_string_equal(why, "node 3,3 is not up");
	world_power(s.w, 15, true);
	trial_rest(&s, 20 * SEC);
	assert_int_equal(stop("b"), -ENOENT);
	assert_int_equal(stop("a"), 0);
	assert_int_equal(start_box("b", 16, TORUS_NO_NODE), 0);
	finish("refused");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_without_free_joined_nodes_is_refused),
		cmocka_unit_test(jobs_keep_their_nodes_when_cables_are_cut),
		cmocka_unit_test(relay_is_not_in_another_part_of_the_job),
		cmocka_unit_test(line_falls_apart_when_its_middle_node_dies),
		cmocka_unit_test(death_of_a_node_is_not_the_end_of_its_job),
		cmocka_unit_test(job_is_not_judged_by_table_that_is_known_to_be_outdated),
		cmocka_unit_test(excluded_node_is_no_part_of_its_job),
		cmocka_unit_test(jobs_survive_next_root_and_power_loss),
		cmocka_unit_test(job_survives_restart_beside_manager_with_older_table),
		cmocka_unit_test(random_starts_and_stops_of_jobs_survive_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
