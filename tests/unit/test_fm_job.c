// SPDX-License-Identifier: GPL-2.0-only
/* A root begins a job only while all nodes that are up say by HELLO that they know jobs. */
#include <errno.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "stage_root.h"

static char why[FM_TEXT_MAX];

/* Return: how a job of two nodes begins. */
static int begin_job(void)
{
	static const uint32_t list[] = { 0, 1 };
	const struct fm_job_want want = { .how = FM_JOB_LIST, .nodes = 2, .list = list };
	const struct fm_job job = { .name = "j", .how = FM_JOB_LIST, .nodes = 2 };
	uint32_t node[2];
	int err = fm_job_choose(s.fm, &want, node, why);

	/* The order itself ends as the question did. */
	if (err)
		assert_int_equal(fm_job_start(s.fm, &job, list, s.now), err);
	return err ? err : fm_job_start(s.fm, &job, node, s.now);
}

/* Makes a ring of four, in which @old is the node whose manager does not know jobs; 0: none. */
static void begin_ring(uint32_t old)
{
	root("4x1");
	for (uint32_t i = 1; i < 4; i++) {
		struct fm_msg m = hello(i);

		m.hello.jobs = i != old;
		joins(&m);
	}
	settle(4);
	assert_int_equal(fm_version(s.fm), 1);
}

/* The node that does not know jobs is in the job, or not. */
static void job_is_refused_while_a_manager_does_not_know_jobs(void **state)
{
	(void)state;
	for (uint32_t old = 1; old < 4; old++) {
		char name[sizeof(hello(0).hello.name) + 2];
		struct fm_msg m;

		begin_ring(old);
		m = hello(old);
		assert_int_equal(begin_job(), -EOPNOTSUPP);
		snprintf(name, sizeof(name), "'%s'", m.hello.name);
		assert_non_null(strstr(why, name));
		/* Its manager is updated. */
		m.hello.jobs = true;
		m.hello.attach++;
		stage_down(&s, (int)old + 100);
		joins(&m);
		assert_int_equal(begin_job(), 0);
		stage_end(&s);
	}
}

static bool is_reported(const char *part)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		if (strstr(p->text, part))
			return true;
	return false;
}

/* The silent node is judged so, or known to be so from the table of the former root alone. */
static void job_is_refused_while_an_old_manager_starts_again(void **state)
{
	(void)state;
	for (uint32_t old = 0; old < 4; old++) {
		struct fm_record *m;

		begin_ring(old);
		m = fm_record_no(s.fm->root, 2);
		m->state = FM_NODE_SILENT;
		assert_int_equal(begin_job(), old ? -EOPNOTSUPP : 0);
		stage_end(&s);
	}
	for (uint32_t unjoined = 0; unjoined < 2; unjoined++) {
		struct fm_record *m;

		begin_ring(2);
		m = fm_record_no(s.fm->root, 2);
		m->state = unjoined ? FM_NODE_SILENT : FM_NODE_DEAD;
		m->unjoined = unjoined;
		assert_int_equal(begin_job(), 0);
		stage_end(&s);
	}
}

/* While a job runs, a node joins with a manager of an older release, which is updated later. */
static void old_manager_that_joins_a_job_is_reported(void **state)
{
	(void)state;
	begin_ring(0);
	assert_int_equal(begin_job(), 0);
	settle(4);
	assert_false(is_reported("does not know jobs"));
	for (uint32_t knows = 0; knows < 2; knows++) {
		struct fm_msg m = hello(3);

		stage_down(&s, 103);
		m.hello.jobs = knows;
		m.hello.attach += 1 + knows;
		joins(&m);
		settle(4);
		assert_int_equal(is_reported("does not know jobs"), !knows);
	}
	stage_end(&s);
}

/* A node obeys a later root, so this root ends. What is wrong with jobs, only a root can know. */
static void node_that_is_not_root_any_more_reports_no_jobs(void **state)
{
	struct fm_msg m;

	(void)state;
	begin_ring(0);
	assert_int_equal(begin_job(), 0);
	settle(4);
	m = hello(3);
	stage_down(&s, 103);
	m.hello.jobs = false;
	m.hello.attach++;
	joins(&m);
	settle(4);
	fm_problem_set(s.fm, "job", 1, "job 'j' has fallen apart");
	assert_true(is_reported("does not know jobs"));
	m = hello(2);
	stage_down(&s, 102);
	m.hello.root_epoch = fm_epoch(s.fm) + 1;
	m.hello.root_guid = NIC + 2;
	m.hello.attach++;
	joins(&m);
	stage_run_ns(&s, s.now + 1);
	assert_false(is_reported("does not know jobs"));
	assert_false(is_reported("has fallen apart"));
	stage_end(&s);
}

static void job_begins_if_all_managers_know_jobs(void **state)
{
	(void)state;
	begin_ring(0);
	assert_int_equal(begin_job(), 0);
	stage_end(&s);
}

/* Each reason for which a job does not begin, and the last value that is allowed beside it. */
static void job_begins_only_if_nothing_is_against_it(void **state)
{
	static const uint32_t all[] = { 3, 1, 2, 0 }, beyond[] = { 0, 4 }, one[] = { 2 };
	struct fm_job job = { .name = "first", .how = FM_JOB_LIST, .nodes = 1 };

	(void)state;
	begin_ring(0);
	s.fm->root->settled = false;
	assert_int_equal(fm_job_start(s.fm, &job, one, s.now), -EAGAIN);
	s.fm->root->settled = true;
	job.nodes = 0;
	assert_int_equal(fm_job_start(s.fm, &job, one, s.now), -EINVAL);
	job.nodes = 5;
	assert_int_equal(fm_job_start(s.fm, &job, all, s.now), -EINVAL);
	job.nodes = 2;
	assert_int_equal(fm_job_start(s.fm, &job, beyond, s.now), -EINVAL);
	job.nodes = 1;
	assert_int_equal(fm_job_start(s.fm, &job, one, s.now), 0);
	/* The same name; and all nodes, of which one has a job, the third of the list. */
	assert_int_equal(fm_job_start(s.fm, &job, all, s.now), -EEXIST);
	strcpy(job.name, "second");
	job.nodes = 3;
	assert_int_equal(fm_job_start(s.fm, &job, all, s.now), -EBUSY);
	job.nodes = 2;
	assert_int_equal(fm_job_start(s.fm, &job, all, s.now), 0);
	stage_end(&s);
	/* A job of all nodes. */
	begin_ring(0);
	job.nodes = 4;
	assert_int_equal(fm_job_start(s.fm, &job, all, s.now), 0);
	stage_end(&s);
	/* No table yet. */
	root("4x1");
	assert_int_equal(fm_version(s.fm), 0);
	s.fm->root->settled = true;
	assert_int_equal(fm_job_start(s.fm, &job, one, s.now), -EAGAIN);
	stage_end(&s);
}

/* There are as many ids as jobs; the lowest free one is given, and none if all are taken. */
static void lowest_free_id_of_job_is_given(void **state)
{
	struct fm_jobs jobs = { 0 };

	(void)state;
	for (uint32_t id = 1; id <= FM_JOBS_MAX; id++) {
		const struct fm_job job = { .id = (uint16_t)id };

		assert_int_equal(fm_jobs_next(&jobs), id);
		assert_true(fm_jobs_put(&jobs, &job));
	}
	assert_int_equal(fm_jobs_next(&jobs), 0);
	fm_jobs_drop(&jobs, 500);
	assert_int_equal(fm_jobs_next(&jobs), 500);
	fm_jobs_free(&jobs);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_is_refused_while_a_manager_does_not_know_jobs),
		cmocka_unit_test(job_is_refused_while_an_old_manager_starts_again),
		cmocka_unit_test(old_manager_that_joins_a_job_is_reported),
		cmocka_unit_test(node_that_is_not_root_any_more_reports_no_jobs),
		cmocka_unit_test(job_begins_if_all_managers_know_jobs),
		cmocka_unit_test(job_begins_only_if_nothing_is_against_it),
		cmocka_unit_test(lowest_free_id_of_job_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
