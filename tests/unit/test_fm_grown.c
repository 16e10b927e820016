// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs that grow, at the root: when it orders a growth, what it makes of the reports of the nodes,
 * when it tries again and when it gives up. The test is the nodes, and stubs stand for the
 * functions of the manager that grown.c calls.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/memory.h"
#include "daemon/fm/grow/facts.h"
#include "daemon/fm/node/grower.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/box.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/grown.h"
#include "daemon/fm/root/job.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/status.h"

#define NODES	8
#define GUID	100
#define LIMIT	(1500 * MS)
#define REPEAT	(250 * MS)
#define ORDERS	64

static struct fm_root root;
static struct fm fm = { .root = &root, .term = 6 };
static struct fm_record record[NODES];
static struct fm_seat seat[NODES];
static struct fm_grow_msg ordered[ORDERS];
static unsigned int orders;
static struct fm_job begun;
static uint32_t chosen[NODES], begun_at[NODES];
static unsigned int jobs, lines;
static int choose_error, begin_error;
static bool has_job, gives_seats;
static uint64_t number;
static char line[400], grew[400], why[FM_TEXT_MAX];

/* --- stubs ----------------------------------------------------------------------------- */

void fm_grower_order(struct fm *f, const struct fm_grow_msg *m)
{
	assert_ptr_equal(f, &fm);
	assert_true(orders < ORDERS);
	assert_int_equal(m->term, 6);
	ordered[orders++] = *m;
}

const struct fm_job *fm_jobs_named(const struct fm_jobs *s, const char *name)
{
	assert_ptr_equal(s, &root.jobs);
	return has_job && !strcmp(name, begun.name) ? &begun : NULL;
}

int fm_box_choose(const struct fm *f, const struct fm_job_want *want, uint32_t *node, char *text)
{
	(void)f;
	assert_int_equal(want->how, FM_JOB_LIST);
	assert_int_equal(want->at, TORUS_NO_NODE);
	memcpy(chosen, want->list, want->nodes * sizeof(*chosen));
	for (uint32_t i = 0; i < want->nodes; i++)
		node[i] = want->list[want->nodes - 1 - i];
	if (choose_error)
		strcpy(text, "one is taken");
	return choose_error;
}

int fm_job_begin(struct fm *f, const struct fm_job *job, const uint32_t *node)
{
	(void)f;
	if (begin_error)
		return begin_error;
	begun = *job;
	memcpy(begun_at, node, job->nodes * sizeof(*node));
	for (uint32_t i = 0; gives_seats && i < job->nodes; i++)
		seat[node[i]].job = 1;
	has_job = true;
	jobs++;
	return 0;
}

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	(void)r;
	return guid >= GUID && guid < GUID + NODES ? &record[guid - GUID] : NULL;
}

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t n)
{
	(void)r;
	return record[n].guid ? &record[n] : NULL;
}

uint64_t fm_random(struct fm *f)
{
	(void)f;
	return number++;
}

const char *fm_table_name(const struct fm *f, uint64_t guid, char *buf)
{
	(void)f;
	snprintf(buf, FM_WHO_MAX, "%llu", (unsigned long long)guid);
	return buf;
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_string_equal(kind, "job");
	va_start(args, fmt);
	vsnprintf(level == FM_INFO ? grew : line, sizeof(line), fmt, args);
	va_end(args);
	lines += level != FM_INFO;
}

/* --- helpers --------------------------------------------------------------------------- */

static void begin(void)
{
	memset(&root, 0, sizeof(root));
	memset(record, 0, sizeof(record));
	memset(seat, 0, sizeof(seat));
	root.seat = seat;
	for (uint32_t i = 0; i < NODES; i++)
		record[i] = (struct fm_record) {
			.guid = GUID + i, .node = i, .via = 1, .state = FM_NODE_UP };
	root.settled = true;
	fm.table.version = 1;
	fm.table.nodes = NODES;
	fm.table.shape = (struct torus_shape) { 2, { 4, 2 } };
	fm.now = SEC;
	number = 0;		/* no growth has this number */
	orders = jobs = lines = 0;
	has_job = false;
	choose_error = begin_error = 0;
	assert_true(fm_grown_new(&root));
	assert_int_equal(fm_grown_expiry(&fm), NEVER);
}

static void end(void)
{
	fm_grown_free(&root);
	assert_int_equal(memory_blocks(), 0);
}

static int grow(const char *name, uint32_t nodes, uint32_t at)
{
	const struct fm_job_want want = { .how = FM_JOB_GROW, .nodes = nodes, .at = at, .links = 3,
					  .rate = 4, .margin = 5 };
	struct fm_job job = { .how = FM_JOB_GROW, .nodes = nodes };

	strcpy(job.name, name);
	return fm_grown_begin(&fm, &job, &want);
}

/* Node @i reports to be member @n of the growth that was ordered last. */
static void member(uint32_t i, uint32_t n)
{
	const struct fm_grow_msg *o = &ordered[orders - 1];

	fm_grown_take(&fm, &(struct fm_grown_msg) {
		.guid = GUID + i, .first = o->guid, .serial = o->serial, .number = n });
}

static void ends(enum fm_growth_why reason, uint8_t port, uint8_t met, uint32_t err)
{
	const struct fm_grow_msg *o = &ordered[orders - 1];

	fm_grown_take(&fm, &(struct fm_grown_msg) {
		.guid = o->guid, .first = o->guid, .serial = o->serial, .ended = true, .at = GUID + 7,
		.why = (uint8_t)reason, .port = port, .met = met, .found = 2, .err = err });
}

/* Runs all timers until @at. */
static void run(uint64_t at)
{
	while (fm_grown_expiry(&fm) <= at) {
		fm.now = later(fm.now, fm_grown_expiry(&fm));
		fm_grown_due(&fm);
	}
	fm.now = at;
}

static int state_of(const char *name)
{
	return fm_grown_state(&fm, name, why);
}

/* The last order gives the growth @first up. */
static void expect_over(const struct fm_grow_msg *first)
{
	const struct fm_grow_msg *last = &ordered[orders - 1];

	assert_int_equal(last->nodes, 0);
	assert_int_equal(last->guid, first->guid);
	assert_int_equal(last->serial, first->serial);
}

/* --- tests ----------------------------------------------------------------------------- */

static void job_begins_when_all_members_have_reported(void **state)
{
	static const uint32_t list[] = { 5, 1, 6 }, reversed[] = { 6, 1, 5 };

	(void)state;
	begin();
	assert_int_equal(state_of("a"), -ENOENT);
	assert_int_equal(grow("a", 3, 5), 0);
	assert_int_equal(orders, 1);
	assert_int_equal(ordered[0].guid, GUID + 5);
	assert_true(ordered[0].serial);
	assert_true(ordered[0].nodes == 3 && ordered[0].links == 3 && ordered[0].rate == 4 &&
		    ordered[0].margin == 5 && ordered[0].limit_ms == 1200);
	assert_int_equal(state_of("a"), -EINPROGRESS);
	member(6, 2);
	member(6, 2);
	member(6, 3);		/* no such number */
	fm_grown_take(&fm, &(struct fm_grown_msg) { .guid = GUID + 99, .first = GUID + 5,
		      .serial = ordered[0].serial, .number = 1 });
	record[2].node = TORUS_NO_NODE;
	member(2, 1);
	member(5, 0);
	assert_int_equal(state_of("a"), -EINPROGRESS);
	assert_int_equal(jobs, 0);
	run(fm.now + 12345 * US);
	member(1, 1);
	assert_string_equal(grew, "job 'a' grew: its 3 nodes were found in 12.345 ms");
	assert_int_equal(state_of("a"), 0);
	assert_int_equal(jobs, 1);
	assert_string_equal(begun.name, "a");
	assert_int_equal(begun.how, FM_JOB_GROW);
	assert_memory_equal(chosen, list, sizeof(list));
	assert_memory_equal(begun_at, reversed, sizeof(reversed));
	member(1, 1);
	run(fm.now + 10 * SEC - 1);
	assert_int_equal(state_of("a"), 0);
	run(fm.now + 1);
	assert_int_equal(state_of("a"), -ENOENT);
	assert_int_equal(orders, 1);
	assert_int_equal(jobs, 1);
	assert_int_equal(lines, 0);
	end();
}

static void reports_of_other_growths_are_ignored(void **state)
{
	struct fm_grown_msg m = { .guid = GUID, .first = GUID + 5 };

	(void)state;
	begin();
	assert_int_equal(grow("a", 1, 5), 0);
	m.serial = ordered[0].serial + 1;
	fm_grown_take(&fm, &m);
	m.serial = ordered[0].serial;
	m.first = GUID + 4;
	fm_grown_take(&fm, &m);
	m.serial = 0;
	m.first = GUID + 5;
	fm_grown_take(&fm, &m);
	assert_int_equal(state_of("a"), -EINPROGRESS);
	m.serial = ordered[0].serial;
	fm_grown_take(&fm, &m);
	assert_int_equal(state_of("a"), 0);
	end();
}

/* Nodes have other numbers in another shape. */
static void growth_ends_if_the_shape_changes(void **state)
{
	(void)state;
	begin();
	assert_int_equal(grow("a", 2, 5), 0);
	member(5, 0);
	fm.table.shape.size[1] = 3;
	member(6, 1);
	assert_int_equal(state_of("a"), -EAGAIN);
	assert_string_equal(why, "the shape of the fabric has changed meanwhile: try again");
	assert_int_equal(jobs, 0);
	expect_over(&ordered[0]);
	end();
}

static void order_is_repeated_until_a_node_reports(void **state)
{
	(void)state;
	begin();
	assert_int_equal(grow("a", 2, 5), 0);
	run(fm.now + 2 * REPEAT);
	assert_int_equal(orders, 3);
	assert_memory_equal(&ordered[0], &ordered[2], sizeof(ordered[0]));
	member(5, 0);
	run(SEC + LIMIT - 1);
	assert_int_equal(orders, 3);
	assert_int_equal(state_of("a"), -EINPROGRESS);
	run(SEC + LIMIT);
	assert_int_equal(state_of("a"), -ETIMEDOUT);
	assert_string_equal(why, "1 of 2 nodes had reported after 1500 ms");
	assert_string_equal(line, "job 'a' did not grow: 1 of 2 nodes had reported after 1500 ms");
	assert_int_equal(orders, 4);
	expect_over(&ordered[0]);
	member(6, 1);
	assert_int_equal(jobs, 0);
	end();
}

static void growth_is_refused_with_the_reason(void **state)
{
	(void)state;
	begin();
	root.settled = false;
	assert_int_equal(grow("a", 1, 0), -EAGAIN);
	root.settled = true;
	fm.table.version = 0;
	assert_int_equal(grow("a", 1, 0), -EAGAIN);
	fm.table.version = 1;
	assert_int_equal(grow("a", 0, 0), -EINVAL);
	assert_int_equal(grow("a", NODES + 1, 0), -EINVAL);
	assert_int_equal(grow("a", 1, NODES), -EINVAL);
	assert_int_equal(grow("a", 1, TORUS_NO_NODE), -EINVAL);
	record[3].via = 0;
	assert_int_equal(grow("a", 1, 3), -EHOSTUNREACH);
	record[3].via = 1;
	record[3].state = FM_NODE_SILENT;
	assert_int_equal(grow("a", 1, 3), -EHOSTUNREACH);
	record[3].guid = 0;
	assert_int_equal(grow("a", 1, 3), -EHOSTUNREACH);
	memory_fails_at(1);
	assert_int_equal(grow("a", 1, 0), -ENOMEM);
	assert_true(memory_failed());
	assert_int_equal(state_of("a"), -ENOENT);
	assert_int_equal(orders, 0);
	assert_int_equal(grow("a", NODES, NODES - 1), 0);
	assert_int_equal(grow("a", 1, 0), -EEXIST);
	has_job = true;
	strcpy(begun.name, "b");
	assert_int_equal(grow("b", 1, 0), -EEXIST);
	end();
}

static void sixteen_jobs_grow_at_a_time(void **state)
{
	char name[] = "a";

	(void)state;
	begin();
	for (; *name < 'a' + 16; ++*name) {
		fm.now += MS;
		assert_int_equal(grow(name, 1, 0), 0);
	}
	assert_int_equal(grow("z", 1, 0), -ENOSPC);
	member(0, 0);		/* the last one begins: its place is given to the next */
	assert_int_equal(state_of("p"), 0);
	assert_int_equal(grow("z", 1, 0), 0);
	assert_int_equal(state_of("p"), -ENOENT);
	assert_int_equal(state_of("a"), -EINPROGRESS);
	assert_int_equal(grow("y", 1, 0), -ENOSPC);
	fm.now += MS;
	ends(FM_GROWTH_STOPPED, 0, 0, 0);
	assert_int_equal(state_of("z"), -EPROTO);
	assert_int_equal(grow("z", 1, 0), 0);
	assert_int_equal(state_of("z"), -EINPROGRESS);
	end();
}

/* The growth that ended first makes room. */
static void oldest_end_is_forgotten_first(void **state)
{
	struct fm_grow_msg two[2];

	(void)state;
	begin();
	for (char name[] = "a"; *name < 'a' + 16; ++*name)
		assert_int_equal(grow(name, 1, 0), 0);
	two[0] = ordered[3];
	two[1] = ordered[2];
	for (unsigned int i = 0; i < 2; i++) {
		fm.now += MS;
		ordered[orders++] = two[i];
		member(0, 0);
		has_job = false;
	}
	assert_int_equal(grow("z", 1, 0), 0);
	assert_int_equal(state_of("d"), -ENOENT);
	assert_int_equal(state_of("c"), 0);
	end();
}

static void reasons_of_ends_are_explained(void **state)
{
	static const struct { enum fm_growth_why reason; uint8_t port, met; uint32_t err; int is;
			      const char *text; } c[] = {
		{ FM_GROWTH_TOO_FEW, 0xff, 0, 0, -ENOSPC, "only 2 of 4 nodes with 3 links of 4 "
		  "Mb/s and margin 5% were found that are free" },
		{ FM_GROWTH_TOO_FEW, 0xff, FM_GROWTH_MET_BUSY, 0, -ENOSPC, "only 2 of 4 nodes "
		  "with 3 links of 4 Mb/s and margin 5% were found that are free; other nodes there are in jobs, "
		  "or out of service" },
		{ FM_GROWTH_LATE, 1, 0, 0, -ETIMEDOUT, "the nodes behind node 107 at +y had not all "
		  "answered after 1200 ms" },
		{ FM_GROWTH_LOST, 1, 0, 0, -EAGAIN, "node 107 at +y lost its link meanwhile: try again" },
		{ FM_GROWTH_LOST, 4, 0, 0, -EAGAIN, "node 107 lost its link meanwhile: try again" },
		{ FM_GROWTH_SILENT, 3, 0, 0, -ETIMEDOUT, "the neighbour of node 107 at -y does not "
		  "answer: its fabricd hangs, or is of an earlier release" },
		{ FM_GROWTH_FORGOTTEN, 0, 0, 0, -EAGAIN, "the neighbour of node 107 at +x started "
		  "again meanwhile: try again" },
		{ FM_GROWTH_FORGED, 2, 0, 0, -EPROTO, "node 107 at -x ended it" },
		{ 0, 0, 0, EBUSY, -EBUSY, "node 1,1 belongs to a job or to another growth, or is out "
		  "of service" },
		{ 0, 0, 0, ENOLINK, -ENOSPC, "node 1,1 is not one with 3 links of 4 Mb/s and margin "
		  "5%" },
		{ 0, 0, 0, EINVAL, -ENOSPC, "node 1,1: Invalid argument" },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		begin();
		assert_int_equal(grow("a", 4, 5), 0);
		ends(c[i].reason, c[i].port, c[i].met, c[i].err);
		assert_int_equal(state_of("a"), c[i].is);
		assert_string_equal(why, c[i].text);
		/* Too few free nodes are no event, as with a box. */
		assert_int_equal(lines, c[i].is != -ENOSPC && c[i].is != -EBUSY);
		assert_int_equal(orders, 2);
		expect_over(&ordered[0]);
		end();
	}
}

static void terms_are_named_only_if_there_are_any(void **state)
{
	static const struct { uint8_t links; uint32_t rate; uint16_t margin; const char *text; } c[] = {
		{ 0, 0, 0, "only 2 of 4 nodes were found that are free" },
		{ 1, 0, 0, "only 2 of 4 nodes with 1 link were found that are free" },
		{ 2, 0, 0, "only 2 of 4 nodes with 2 links were found that are free" },
		{ 0, 7, 0, "only 2 of 4 nodes with 1 link of 7 Mb/s were found that are free" },
		{ 0, 0, 8, "only 2 of 4 nodes with 1 link and margin 8% were found that are free" },
	};
	struct fm_job job = { .how = FM_JOB_GROW, .nodes = 4, .name = "a" };

	(void)state;
	for (unsigned int i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		const struct fm_job_want want = { .how = FM_JOB_GROW, .nodes = 4, .at = 5,
			.links = c[i].links, .rate = c[i].rate, .margin = c[i].margin };

		begin();
		assert_int_equal(fm_grown_begin(&fm, &job, &want), 0);
		ends(FM_GROWTH_TOO_FEW, 0xff, 0, 0);
		assert_int_equal(state_of("a"), -ENOSPC);
		assert_string_equal(why, c[i].text);
		end();
	}
}

static void growth_that_met_another_one_is_tried_again(void **state)
{
	(void)state;
	begin();
	assert_int_equal(grow("b", 2, 0), 0);
	assert_int_equal(grow("a", 2, 5), 0);
	member(5, 0);
	ends(FM_GROWTH_TOO_FEW, 0xff, FM_GROWTH_MET_BUSY, 0);
	assert_int_equal(state_of("a"), -EINPROGRESS);
	assert_int_equal(orders, 3);
	expect_over(&ordered[1]);
	run(fm.now + 10 * MS - 1);
	assert_int_equal(orders, 3);
	run(fm.now + 70 * MS);
	assert_int_equal(orders, 4);
	assert_int_equal(ordered[3].guid, GUID + 5);
	assert_int_equal(ordered[3].nodes, 2);
	assert_true(ordered[3].serial && ordered[3].serial != ordered[1].serial);
	member(6, 1);
	assert_int_equal(jobs, 0);
	member(5, 0);
	assert_int_equal(state_of("a"), 0);
	end();
}

/*
 * No growth is tried again if no other grows, nor if no busy node was met, nor too late, nor after
 * an error.
 */
static void other_growths_are_not_tried_again(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		begin();
		if (i)
			assert_int_equal(grow("b", 2, 0), 0);
		fm.now += 2;
		assert_int_equal(grow("a", 2, 5), 0);
		member(5, 0);
		fm.now += i == 2 ? LIMIT - 80 * MS : LIMIT - 80 * MS - 1;
		ends(i == 4 ? FM_GROWTH_LATE : FM_GROWTH_TOO_FEW, 0xff,
		     i == 1 ? FM_GROWTH_MET_TERMS : FM_GROWTH_MET_BUSY, i == 3 ? EBUSY : 0);
		assert_int_not_equal(state_of("a"), -EINPROGRESS);
		end();
	}
	begin();
	assert_int_equal(grow("b", 2, 0), 0);
	fm.now += 2;
	assert_int_equal(grow("a", 2, 5), 0);
	member(5, 0);
	fm.now += LIMIT - 80 * MS - 1;
	ends(FM_GROWTH_TOO_FEW, 0xff, FM_GROWTH_MET_BUSY | FM_GROWTH_MET_TERMS, 0);
	assert_int_equal(state_of("a"), -EINPROGRESS);
	end();
}

static void nodes_that_cannot_be_used_are_released(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		begin();
		assert_int_equal(grow("a", 1, 5), 0);
		if (i == 0)
			choose_error = -EBUSY;
		else if (i == 1)
			begin_error = -EOPNOTSUPP;
		else
			memory_fails_at(1);
		member(5, 0);
		assert_int_equal(state_of("a"), i == 0 ? -EBUSY : i == 1 ? -EOPNOTSUPP : -ENOMEM);
		assert_string_equal(why, i == 0 ? "one is taken" : i == 1 ?
				    "the job cannot begin: Operation not supported" : "no memory");
		assert_int_equal(orders, 2);
		expect_over(&ordered[0]);
		if (i == 2)
			assert_true(memory_failed());
		end();
	}
}

/* Before the report of the member or after it; members of other growths do not matter. */
static void growth_whose_member_is_given_to_another_job_ends_at_once(void **state)
{
	(void)state;
	for (unsigned int reported = 0; reported < 2; reported++) {
		begin();
		assert_int_equal(grow("a", 3, 5), 0);
		member(5, 0);
		if (reported)
			member(6, 1);
		seat[7].job = 1;
		fm_grown_look(&fm);
		assert_int_equal(state_of("a"), -EINPROGRESS);
		seat[6].job = 1;
		fm_grown_look(&fm);
		member(6, 1);
		assert_int_equal(state_of("a"), -EBUSY);
		assert_string_equal(why, "node 2,1 was given to another job meanwhile: try again");
		assert_int_equal(orders, 2);
		expect_over(&ordered[0]);
		fm_grown_look(&fm);	/* the growth has ended */
		assert_int_equal(orders, 2);
		assert_int_equal(lines, 0);
		end();
	}
	begin();
	assert_int_equal(grow("a", 3, 5), 0);
	member(6, 1);
	assert_int_equal(grow("b", 1, 6), 0);
	gives_seats = true;
	member(6, 0);
	gives_seats = false;
	assert_int_equal(state_of("b"), 0);
	assert_int_equal(state_of("a"), -EBUSY);
	end();
}

static void loss_of_the_first_node_ends_an_attempt(void **state)
{
	(void)state;
	begin();
	assert_int_equal(grow("a", 2, 5), 0);
	record[5].via = 0;
	run(fm.now + REPEAT);
	assert_int_equal(state_of("a"), -EHOSTUNREACH);
	assert_string_equal(why, "the manager of the first node was lost");
	expect_over(&ordered[0]);
	assert_int_equal(grow("a", 2, 6), 0);
	record[6].guid = 0;
	run(fm.now + REPEAT);
	assert_int_equal(state_of("a"), -EHOSTUNREACH);
	end();
	memory_fails_at(1);
	assert_false(fm_grown_new(&root));
	assert_true(memory_failed());
	fm_grown_free(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_begins_when_all_members_have_reported),
		cmocka_unit_test(reports_of_other_growths_are_ignored),
		cmocka_unit_test(growth_ends_if_the_shape_changes),
		cmocka_unit_test(order_is_repeated_until_a_node_reports),
		cmocka_unit_test(growth_is_refused_with_the_reason),
		cmocka_unit_test(sixteen_jobs_grow_at_a_time),
		cmocka_unit_test(oldest_end_is_forgotten_first),
		cmocka_unit_test(reasons_of_ends_are_explained),
		cmocka_unit_test(terms_are_named_only_if_there_are_any),
		cmocka_unit_test(growth_that_met_another_one_is_tried_again),
		cmocka_unit_test(other_growths_are_not_tried_again),
		cmocka_unit_test(nodes_that_cannot_be_used_are_released),
		cmocka_unit_test(growth_whose_member_is_given_to_another_job_ends_at_once),
		cmocka_unit_test(loss_of_the_first_node_ends_an_attempt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
