// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs that grow from one node, in a fabric with traffic: a growth ends with exactly the nodes that
 * were asked for, or without any, whatever fails meanwhile, and afterwards no node is reserved. The
 * last test of each history is a growth over the whole fabric.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/clock.h"
#include "ends.h"
#include "tools/fabricsim/world_impl.h"

#define TAKEOVER (3 * SEC)
#define HELD (5 * SEC)		/* longer than a member waits for its job */

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

static int grow(const char *name, uint32_t nodes, uint32_t at)
{
	const struct fm_job_want want = { .how = FM_JOB_GROW, .nodes = nodes, .at = at };
	struct fm_job job = { .how = FM_JOB_GROW, .nodes = nodes, .uid = 1000, .since = 1 };

	snprintf(job.name, sizeof(job.name), "%s", name);
	return fm_job_grow(root(), &job, &want, world_now(s.w));
}

static int start_box(const char *name, uint32_t nodes, uint32_t at)
{
	const struct fm_job_want want = { .how = FM_JOB_BOX, .nodes = nodes, .at = at };
	struct fm_job job = { .how = FM_JOB_BOX, .nodes = nodes, .uid = 1000, .since = 1 };
	uint32_t node[64];
	int err = fm_job_choose(root(), &want, node, why);

	snprintf(job.name, sizeof(job.name), "%s", name);
	return err ? err : fm_job_start(root(), &job, node, world_now(s.w));
}

/* Runs until the growth has ended. Return: as fm_job_growth(); -EPERM: no node leads */
static int await(const char *name)
{
	int err = -EPERM;

	for (unsigned int i = 0; i < 4000; i++) {
		err = world_root(s.w) == TORUS_NO_NODE ? -EPERM : fm_job_growth(root(), name, why);
		if (err != -EINPROGRESS)
			return err;
		trial_run(&s, 500 * US);
	}
	fail_msg("'%s' grows for ever", name);
	return err;
}

static const struct fm_job *job_of(const char *name)
{
	const struct fm_job *j;

	for (uint32_t i = 0; (j = fm_job(root(), i)); i++)
		if (!strcmp(j->name, name))
			return j;
	return NULL;
}

/* Return: number of nodes of the job in the root's table; 0: there is no such job */
static uint32_t members(const char *name)
{
	const struct fm_job *j = job_of(name);
	uint32_t n = 0;

	for (uint32_t i = 0; j && i < world_nodes(s.w); i++)
		n += fm_node(root(), i)->job == j->id;
	return n;
}

static void stop_all(void)
{
	const struct fm_job *j;

	while ((j = fm_job(root(), 0))) {
		char name[TORUS_NAME_MAX + 1];

		strcpy(name, j->name);
		assert_int_equal(fm_job_stop(root(), name, 1000, world_now(s.w)), 0);
		trial_rest(&s, 20 * SEC);
	}
}

/* Members of a growth that was given up leave it by themselves, if no order reaches them. */
static void wait_for_free_nodes(void)
{
	trial_traffic(&s, 200 * MS);
	trial_run(&s, HELD);
	trial_traffic(&s, 1 * MS);
	trial_rest(&s, 20 * SEC);
}

/* All nodes are free: a growth finds all of them. */
static void expect_all_free(const char *what, uint32_t at)
{
	stop_all();
	assert_int_equal(grow("whole", world_nodes(s.w), at), 0);
	if (await("whole"))
		fail_msg("%s: %s", what, why);
	trial_rest(&s, 20 * SEC);
	assert_int_equal(members("whole"), world_nodes(s.w));
}

static void job_grows_around_its_node(void **state)
{
	static struct fm_job_count count[FM_JOBS_MAX + 1];

	(void)state;
	for (uint32_t n = 1; n <= 16; n += 5) {
		begin("4x4", n);
		assert_int_equal(grow("a", n, 5), 0);
		assert_int_equal(grow("a", 1, 0), -EEXIST);
		assert_int_equal(await("a"), 0);
		trial_rest(&s, 10 * SEC);
		assert_int_equal(members("a"), n);
		assert_int_equal(fm_node(root(), 5)->job, job_of("a")->id);
		assert_int_equal(job_of("a")->how, FM_JOB_GROW);
		assert_true(fm_job_counts(root(), count));
		assert_int_equal(count[job_of("a")->id].parts, 1);
		assert_int_equal(grow("a", 1, 0), -EEXIST);
		expect_all_free("around", n % 16);
		finish("around");
	}
}

/* A job that grows fast is complete before another message of the root could have gone down. */
static void two_jobs_grow_beside_each_other(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed += trial_every()) {
		begin("4x4", seed);
		assert_int_equal(grow("a", 6, 0), 0);
		assert_int_equal(grow("b", 6, 10), 0);
		assert_int_equal(await("a"), 0);
		assert_int_equal(await("b"), 0);
		trial_rest(&s, 10 * SEC);
		assert_int_equal(members("a"), 6);
		assert_int_equal(members("b"), 6);
		expect_all_free("beside", 3);
		finish("beside");
	}
}

/* Only one of two has room: it gets all its nodes, and the other one none. */
static void growths_without_room_end_without_nodes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed += trial_every()) {
		unsigned int begun = 0;

		begin("4x4", seed);
		assert_int_equal(grow("a", 10, 0), 0);
		assert_int_equal(grow("b", 10, 10), 0);
		for (unsigned int i = 0; i < 2; i++) {
			int err = await(i ? "b" : "a");

			begun += !err;
			if (err)
				assert_non_null(strstr(why, "of 10 nodes were found that are free; other "
						       "nodes there are in jobs"));
		}
		trial_rest(&s, 10 * SEC);
		assert_true(begun <= 1);
		assert_int_equal(members("a") + members("b"), 10 * begun);
		expect_all_free("no room", 3);
		finish("no room");
	}
}

static void reasons_are_reported(void **state)
{
	const struct fm_job_want fast = { .how = FM_JOB_GROW, .nodes = 2, .at = 0, .links = 2,
					  .rate = 1000 };
	const struct fm_job job = { .how = FM_JOB_GROW, .nodes = 2, .uid = 1, .name = "fast" };

	(void)state;
	begin("4x4", 1);
	assert_int_equal(fm_job_growth(root(), "a", why), -ENOENT);
	assert_int_equal(grow("a", 0, 0), -EINVAL);
	assert_int_equal(grow("a", 17, 0), -EINVAL);
	assert_int_equal(grow("a", 1, 16), -EINVAL);
	assert_int_equal(start_box("box", 4, 0), 0);
	trial_rest(&s, 10 * SEC);
	assert_int_equal(grow("a", 13, 15), 0);
	assert_int_equal(await("a"), -ENOSPC);
	assert_string_equal(why, "only 12 of 13 nodes were found that are free; other nodes there are in "
			    "jobs, or out of service");
	assert_int_equal(grow("a", 2, 0), 0);
	assert_int_equal(await("a"), -EBUSY);
	assert_non_null(strstr(why, "node 0,0 belongs to a job or to another growth"));
	assert_int_equal(grow("a", 12, 15), 0);
	assert_int_equal(await("a"), 0);
	trial_rest(&s, 10 * SEC);
	stop_all();
	assert_int_equal(fm_job_grow(root(), &job, &fast, world_now(s.w)), 0);
	assert_int_equal(await("fast"), -ENOSPC);
	assert_string_equal(why, "node 0,0 is not one with 2 links of 1000 Mb/s");
	world_hang(s.w, 6, true);
	trial_run(&s, 100 * MS);
	assert_int_equal(grow("a", 16, 5), 0);
	assert_int_equal(await("a"), -ETIMEDOUT);
	assert_non_null(strstr(why, "the neighbour of node 'n"));
	assert_non_null(strstr(why, " does not answer: its fabricd hangs"));
	trial_run(&s, 20 * SEC);		/* now the table has it as silent */
	assert_int_equal(grow("others", 15, 5), 0);
	assert_int_equal(await("others"), 0);
	world_hang(s.w, 6, false);
	trial_rest(&s, 30 * SEC);
	world_power(s.w, 9, false);
	trial_rest(&s, 20 * SEC);
	assert_int_equal(grow("a", 2, 9), -EHOSTUNREACH);
	world_power(s.w, 9, true);
	trial_rest(&s, 20 * SEC);
	expect_all_free("reasons", 9);
	finish("reasons");
}

/* The fault in the midst of a growth; the node that fails is never the root. */
enum fault { NONE_FAILS, NODE_DIES, MANAGER_DIES, CABLE_CUT, EXCLUDED, BOX_TAKES_NODES, FAULTS };

static void begin_fault(enum fault f, uint32_t node)
{
	switch (f) {
	case NODE_DIES:
		world_power(s.w, node, false);
		break;
	case MANAGER_DIES:
		world_manager(s.w, node, false);
		break;
	case CABLE_CUT:
		world_cut(s.w, node, true);
		break;
	case EXCLUDED:
		fm_exclude(root(), node, -1, true, world_now(s.w));
		break;
	case BOX_TAKES_NODES:
		start_box("box", 4, TORUS_NO_NODE);
		break;
	default:
		break;
	}
}

static void end_fault(enum fault f, uint32_t node)
{
	switch (f) {
	case NODE_DIES:
		world_power(s.w, node, true);
		break;
	case MANAGER_DIES:
		world_manager(s.w, node, true);
		break;
	case CABLE_CUT:
		world_cut(s.w, node, false);
		break;
	case EXCLUDED:
		fm_exclude(root(), node, -1, false, world_now(s.w));
		break;
	default:
		break;
	}
}

/* One fault, at a time between the order and the end of the growth. */
static void growth_with_fault_takes_all_nodes_or_none(void **state)
{
	unsigned int begun = 0, ended = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 36; seed += trial_every()) {
		enum fault f = (enum fault)(seed % FAULTS);
		uint32_t node;
		int err;

		begin("4x4", seed);
		node = (world_root(s.w) + 1 + (uint32_t)(world_random(s.w) % 15)) % 16;
		assert_int_equal(grow("a", 9, (uint32_t)(world_random(s.w) % 16)), 0);
		trial_run(&s, world_random(s.w) % (400 * US));
		begin_fault(f, node);
		err = await("a");
		trial_run(&s, 3 * SEC);
		begun += !err;
		ended += err != 0;
		if (!err)
			assert_int_equal(members("a"), 9);
		else
			assert_null(job_of("a"));
		end_fault(f, node);
		trial_rest(&s, 20 * SEC);
		if (err)
			wait_for_free_nodes();
		expect_all_free(why, node);
		finish("fault");
	}
	if (trial_every() == 1)
		assert_true(begun && ended);
}

/* The root dies at some time; the next one knows the job as a whole, or not at all. */
static void growth_without_root_reserves_no_node(void **state)
{
	unsigned int begun = 0, ended = 0, played = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 12; seed += trial_every()) {
		uint32_t former;

		begin("4x4", seed);
		former = world_root(s.w);
		assert_int_equal(grow("a", 9, (former + 5) % 16), 0);
		trial_run(&s, world_random(s.w) % (3 * MS));
		end_node(s.w, former, KILL);
		assert_int_not_equal(ends_await(&s, former, TAKEOVER), TORUS_NO_NODE);
		trial_rest(&s, 20 * SEC);
		begun += members("a") == 9;
		ended += !members("a");
		end_undo(s.w, former, KILL);
		wait_for_free_nodes();
		assert_int_equal(begun + ended, ++played);
		expect_all_free("root", former);
		finish("root");
	}
	if (trial_every() == 1)
		assert_true(begun && ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_grows_around_its_node),
		cmocka_unit_test(two_jobs_grow_beside_each_other),
		cmocka_unit_test(growths_without_room_end_without_nodes),
		cmocka_unit_test(reasons_are_reported),
		cmocka_unit_test(growth_with_fault_takes_all_nodes_or_none),
		cmocka_unit_test(growth_without_root_reserves_no_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
