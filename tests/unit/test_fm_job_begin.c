// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the root begins, ends and reports jobs: random orders, and their effects and errors against a
 * list of jobs. Stubs stand for the functions of the manager that job.c and apart.c call, but the
 * jobs of a table (node/jobs.c) are real.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/root/apart.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/job.h"
#include "daemon/fm/root/publish.h"
#include "daemon/fm/root/roster.h"

#define NODES	8		/* 4x2 */
#define NAMES	3
#define RECORDS	3
#define STRANGER_KEY 4000

/** struct model - the jobs that there should be; @job: by node: the name + 1; 0: none */
struct model {
	bool is[NAMES];
	uint32_t nodes[NAMES];
	int job[NODES];
	uint32_t number[NODES];
};

static struct fm_root root;
static struct fm fm = { .root = &root };
static struct fm_seat seat[NODES];
static struct fm_entry entry[NODES];
static uint16_t closed[NODES];
static struct fm_book book;
static struct fm_record record[RECORDS];
static struct model m;
static bool changed[NODES], demanded;
static char did[2000];

/* --- stubs ------------------------------------------------------------------------------- */

static void note(const char *what, const char *fmt, va_list args)
{
	size_t n = strlen(did);

	n += (size_t)snprintf(did + n, sizeof(did) - n, "%s: ", what);
	vsnprintf(did + n, sizeof(did) - n, fmt, args);
	strcat(did, "\n");
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_int_equal(level, FM_INFO);
	va_start(args, fmt);
	note(kind, fmt, args);
	va_end(args);
}

void fm_demand(struct fm *f, uint64_t delay, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_int_equal(delay, 0);
	va_start(args, fmt);
	note("demand", fmt, args);
	va_end(args);
}

bool fm_demand_is(const struct fm_root *r)
{
	(void)r;
	return demanded;
}

void fm_publish_due(struct fm *f)
{
	(void)f;
	strcat(did, "publish\n");
}

void fm_change_node(struct fm *f, uint32_t node)
{
	(void)f;
	assert_false(strstr(did, "publish"));
	changed[node] = true;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	char what[40];
	va_list args;

	(void)f;
	snprintf(what, sizeof(what), "problem %s %llu", kind, (unsigned long long)key);
	va_start(args, fmt);
	note(what, fmt, args);
	va_end(args);
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	sprintf(did + strlen(did), "no problem %s %llu\n", kind, (unsigned long long)key);
}

void fm_problems_mark(struct fm *f, const char *kind)
{
	(void)f;
	sprintf(did + strlen(did), "mark %s\n", kind);
}

void fm_problems_sweep(struct fm *f, const char *kind)
{
	(void)f;
	sprintf(did + strlen(did), "sweep %s\n", kind);
}

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return RECORDS;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < RECORDS);
	return &record[i];
}

bool fm_record_joined(const struct fm_record *r)
{
	return r->name[0];
}

/* --- helpers ----------------------------------------------------------------------------- */

static void begin(void)
{
	fm_jobs_free(&root.jobs);
	memset(&root, 0, sizeof(root));
	memset(seat, 0, sizeof(seat));
	memset(entry, 0, sizeof(entry));
	memset(closed, 0, sizeof(closed));
	memset(record, 0, sizeof(record));
	memset(&book, 0, sizeof(book));
	memset(&m, 0, sizeof(m));
	memset(changed, 0, sizeof(changed));
	did[0] = '\0';
	demanded = false;
	root.settled = true;
	root.seat = seat;
	fm.table = (struct fm_table) {
		.version = 1, .nodes = NODES, .entry = entry, .closed = closed, .book = &book,
		.shape = { 2, { 4, 2, 1, 1, 1, 1 } },
	};
	for (uint32_t i = 0; i < NODES; i++)
		entry[i] = (struct fm_entry) { .node = i, .state = FM_NODE_UP };
	for (uint32_t i = 0; i < RECORDS; i++) {
		record[i] = (struct fm_record) { .jobs = i, .state = FM_NODE_UP };
		snprintf(record[i].name, sizeof(record[i].name), "n%u", i);
	}
}

static void end(void)
{
	fm_jobs_free(&root.jobs);
	assert_int_equal(memory_blocks(), 0);
}

static struct fm_job job_of(unsigned int name, uint32_t nodes, uint32_t uid)
{
	struct fm_job j = { .id = 77, .how = FM_JOB_LIST, .nodes = nodes, .uid = uid, .since = 5 };

	snprintf(j.name, sizeof(j.name), "%c", 'a' + name);
	return j;
}

/* --- a history --------------------------------------------------------------------------- */

/* Return: what fm_job_begin() should return. */
static int expected_error(const struct fm_job *j, unsigned int name, const uint32_t *node)
{
	if (!root.settled || !fm.table.version)
		return -EAGAIN;
	if (m.is[name])
		return -EEXIST;
	if (!record[2].jobs)
		return -EOPNOTSUPP;
	if (!j->nodes || j->nodes > NODES)
		return -EINVAL;
	for (uint32_t i = 0; i < j->nodes; i++) {
		if (node[i] >= NODES)
			return -EINVAL;
		if (m.job[node[i]])
			return -EBUSY;
	}
	return 0;
}

static void begin_job(struct rnd *r)
{
	unsigned int name = rnd_below(r, NAMES), bad = rnd_below(r, 12);
	struct fm_job j = job_of(name, rnd_below(r, 4), rnd_below(r, 2) ? FM_NO_UID : 1000);
	uint32_t node[NODES + 1], first = rnd_below(r, NODES);
	char want[300];
	int err;

	for (uint32_t i = 0; i <= NODES; i++)
		node[i] = (first + 3 * i) % NODES;
	root.settled = bad != 1;
	fm.table.version = bad != 2;
	record[2].jobs = bad != 3;
	if (bad == 4)
		j.nodes = NODES + 1;
	if (bad == 5)
		node[1] = NODES;
	err = expected_error(&j, name, node);
	expect(r, fm_job_begin(&fm, &j, node) == err, "not %d", err);
	if (err) {
		expect(r, !did[0], "it did %s", did);
		return;
	}
	snprintf(want, sizeof(want), "job: job '%s' of %s began on %u node%s\n"
		 "demand: job '%s' began\npublish\n", j.name,
		 j.uid == FM_NO_UID ? "the manager" : "user 1000", j.nodes, j.nodes == 1 ? "" : "s",
		 j.name);
	expect(r, !strcmp(did, want), "it did %s", did);
	m.is[name] = true;
	m.nodes[name] = j.nodes;
	for (uint32_t i = 0; i < j.nodes; i++) {
		m.job[node[i]] = (int)name + 1;
		m.number[node[i]] = i;
		expect(r, changed[node[i]], "node %u", node[i]);
		changed[node[i]] = false;
	}
}

static void end_job(struct rnd *r)
{
	unsigned int name = rnd_below(r, NAMES), bad = rnd_below(r, 8);
	const char text[] = { (char)('a' + name), '\0' };
	const struct fm_job *j = fm_jobs_named(&root.jobs, text);
	unsigned int id = j ? j->id : 0;
	char want[300];
	int err;

	root.settled = bad != 1;
	fm.table.version = bad != 2;
	err = bad == 1 || bad == 2 ? -EAGAIN : m.is[name] ? 0 : -ENOENT;
	expect(r, fm_job_end(&fm, text, 12) == err, "not %d", err);
	if (err) {
		expect(r, !did[0], "it did %s", did);
		return;
	}
	snprintf(want, sizeof(want), "job: job '%s' was ended by user 12\ndemand: job '%s' ended\n"
		 "no problem job %u\npublish\n", text, text, id);
	expect(r, !strcmp(did, want), "it did %s", did);
	m.is[name] = false;
	for (uint32_t i = 0; i < NODES; i++) {
		if (m.job[i] != (int)name + 1)
			continue;
		m.job[i] = 0;
		expect(r, changed[i], "node %u", i);
		changed[i] = false;
	}
}

static void check_jobs(struct rnd *r)
{
	unsigned int n = 0;

	for (unsigned int name = 0; name < NAMES; name++) {
		const char text[] = { (char)('a' + name), '\0' };
		const struct fm_job *j = fm_jobs_named(&root.jobs, text);

		expect(r, !j == !m.is[name], "job %s", text);
		n += m.is[name];
		if (!j)
			continue;
		expect(r, j->nodes == m.nodes[name] && j->id <= NAMES && j->since == 5, "%s", text);
		for (uint32_t i = 0; i < NODES; i++)
			expect(r, (seat[i].job == j->id) == (m.job[i] == (int)name + 1), "%u", i);
	}
	expect(r, root.jobs.n == n, "%u jobs", n);
	for (uint32_t i = 0; i < NODES; i++) {
		expect(r, !changed[i], "node %u", i);
		expect(r, m.job[i] ? seat[i].number == m.number[i] : !seat[i].job, "node %u", i);
	}
}

static void play_orders(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	begin();
	for (unsigned int k = 0; k < 200; k++) {
		did[0] = '\0';
		rnd_below(&r, 3) ? begin_job(&r) : end_job(&r);
		check_jobs(&r);
	}
	end();
}

static void orders_have_the_effects_of_a_list(void **state)
{
	(void)state;
	for_seeds(40, play_orders);
}

static void there_are_at_most_1024_jobs(void **state)
{
	const uint32_t node[] = { 0, 5 };
	struct fm_job j = job_of(0, 2, 1000);

	(void)state;
	begin();
	for (unsigned int i = 0; i < FM_JOBS_MAX; i++) {
		struct fm_job k = { .id = (uint16_t)(FM_JOBS_MAX - i) };

		snprintf(k.name, sizeof(k.name), "x%u", i);
		assert_true(fm_jobs_put(&root.jobs, &k));
	}
	assert_int_equal(fm_job_begin(&fm, &j, node), -ENOSPC);
	fm_jobs_drop(&root.jobs, 9);
	assert_int_equal(fm_job_begin(&fm, &j, node), 0);
	assert_true(seat[0].job == 9 && seat[0].number == 0 && seat[5].job == 9 &&
		    seat[5].number == 1);
	end();
}

static void job_may_have_all_nodes(void **state)
{
	const uint32_t node[NODES] = { 7, 6, 5, 4, 3, 2, 1, 0 };
	struct fm_job j = job_of(0, NODES, 1000);

	(void)state;
	begin();
	assert_int_equal(fm_job_begin(&fm, &j, node), 0);
	for (uint32_t i = 0; i < NODES; i++)
		assert_true(seat[i].job == 1 && seat[i].number == NODES - 1 - i);
	end();
}

static void job_without_memory_does_not_begin(void **state)
{
	const uint32_t node[] = { 0 };
	struct fm_job j = job_of(0, 1, 1000);

	(void)state;
	begin();
	memory_fails_at(1);
	assert_int_equal(fm_job_begin(&fm, &j, node), -ENOMEM);
	assert_true(memory_failed());
	assert_string_equal(did, "");
	assert_int_equal(seat[0].job, 0);
	assert_false(changed[0]);
	end();
}

/* --- reports ----------------------------------------------------------------------------- */

/* Record 0 is this manager. A node that is dead, or has not joined this root, is not named. */
static void manager_without_jobs_is_reported(void **state)
{
	static const struct fm_job one = { .id = 1, .name = "a" };

	(void)state;
	begin();
	assert_null(fm_apart_stranger(&fm));
	record[1].jobs = false;
	assert_string_equal(fm_apart_stranger(&fm), "n1");
	for (unsigned int k = 0; k < 3; k++) {
		struct fm_record was = record[1];

		if (k == 0)
			record[1].unjoined = true;
		else if (k == 1)
			record[1].state = FM_NODE_DEAD;
		else
			record[1].name[0] = '\0';
		assert_null(fm_apart_stranger(&fm));
		record[1] = was;
	}
	record[1].state = FM_NODE_SILENT;
	record[2].jobs = false;
	assert_string_equal(fm_apart_stranger(&fm), "n1");
	record[1].jobs = true;
	assert_string_equal(fm_apart_stranger(&fm), "n2");
	fm_apart_tell(&fm);
	assert_string_equal(did, "no problem release 4000\n");
	book.jobs = (struct fm_jobs) { .of = (struct fm_job *)&one, .n = 1 };
	for (unsigned int k = 0; k < 2; k++) {
		did[0] = '\0';
		fm.table.version = k;
		fm_apart_tell(&fm);
		assert_string_equal(did, k ? "problem release 4000: the manager of 'n2' does not know "
				    "jobs: it, and nodes below it in the tree, may use links outside "
				    "their job: update fabricd there\n" : "no problem release 4000\n");
	}
	did[0] = '\0';
	fm_apart_forget(&fm);
	assert_string_equal(did, "mark job\nsweep job\nno problem release 4000\n");
	end();
}

/* Puts nodes @from to @to into job @id. */
static void place_job(uint16_t id, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++)
		entry[i].job = id;
}

static void close_all(uint32_t node)
{
	closed[node] = 0xf;
	for (unsigned int p = 0; p < 4; p++) {
		uint32_t far = torus_neighbour(&fm.table.shape, node, p);

		closed[far] |= (uint16_t)(1u << torus_dir_opposite(&fm.table.shape, p));
	}
}

static void job_that_has_fallen_apart_is_reported(void **state)
{
	static struct fm_job two[] = { { .id = 2, .name = "a" }, { .id = 5, .name = "b" } };

	(void)state;
	begin();
	fm_apart_look(&fm);
	assert_string_equal(did, "mark job\nsweep job\n");
	book.jobs = (struct fm_jobs) { .of = two, .n = 2 };
	place_job(2, 0, 3);
	place_job(5, 4, 5);
	did[0] = '\0';
	fm_apart_look(&fm);
	assert_string_equal(did, "mark job\nsweep job\n");
	close_all(4);
	did[0] = '\0';
	fm_apart_look(&fm);
	assert_string_equal(did, "mark job\nproblem job 5: job 'b' has fallen apart: no working links "
			    "between its nodes join its 2 parts, which cannot reach each other; lost: "
			    "0,1:+x; a job uses no links of other nodes\nsweep job\n");
	for (uint32_t i = 0; i < 4; i++)
		close_all(i);
	did[0] = '\0';
	fm_apart_look(&fm);
	assert_non_null(strstr(did, "problem job 2: job 'a' has fallen apart: no working links between "
			       "its nodes join its 4 parts, which cannot reach each other; lost: "
			       "0,0:+x, 1,0:+x, 2,0:+x, 3,0:+x; a job"));
	/* Only nodes that work again could join the parts. */
	for (uint32_t i = 0; i < 6; i++)
		entry[i].job = 0;
	place_job(2, 0, 2);
	entry[1].state = FM_NODE_DEAD;
	did[0] = '\0';
	fm_apart_look(&fm);
	assert_non_null(strstr(did, "cannot reach each other; lost: node 1,0 (dead); a job"));
	entry[1].state = FM_NODE_UP;
	demanded = true;
	did[0] = '\0';
	fm_apart_look(&fm);
	assert_string_equal(did, "");
	demanded = false;
	memory_fails_at(1);
	fm_apart_look(&fm);
	assert_true(memory_failed());
	assert_string_equal(did, "mark job\nsweep job\n");
	memory_fails_at(2);
	fm_apart_look(&fm);
	assert_true(memory_failed());
	memory_fails_at(4);		/* that of the list of cables */
	did[0] = '\0';
	fm_apart_look(&fm);
	assert_true(memory_failed());
	assert_non_null(strstr(did, "cannot reach each other; a job uses no links"));
	end();
}

static void further_lost_cables_are_counted(void **state)
{
	static struct fm_job one = { .id = 2, .name = "a" };

	(void)state;
	begin();
	book.jobs = (struct fm_jobs) { .of = &one, .n = 1 };
	place_job(2, 0, 5);
	for (uint32_t i = 0; i < NODES; i++)
		close_all(i);
	fm_apart_look(&fm);
	assert_non_null(strstr(did, "; lost: 0,0:+x, 0,0:+y, 1,0:+x, 1,0:+y and "));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_have_the_effects_of_a_list),
		cmocka_unit_test(there_are_at_most_1024_jobs),
		cmocka_unit_test(job_may_have_all_nodes),
		cmocka_unit_test(job_without_memory_does_not_begin),
		cmocka_unit_test(manager_without_jobs_is_reported),
		cmocka_unit_test(job_that_has_fallen_apart_is_reported),
		cmocka_unit_test(further_lost_cables_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
