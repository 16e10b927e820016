// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows inside a job: random tables, whose jobs and closed cables change, compared with rows that a
 * naive exclusion table gives; and what is left of them without memory, and at the end.
 */
#include <errno.h>
#include <string.h>
#include <torus/route.h>
#include <torus/topology.h>

#include "daemon/fm/node/job_rows.h"
#include "daemon/fm/node/machine.h"
#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"

#define NODES 24
#define OTHER 0x1234		/* a row that the table gives */

static struct fm fm;
static uint16_t closed[NODES];
static struct fm_entry entry[NODES];

/* The job and the cables for which rows were computed last: rows stay the same as long as these do. */
static struct {
	uint16_t job, ports[NODES];
	bool member[NODES];
} last;

/* Return: the ports of node @i that its job does not use. */
static uint16_t closed_to_job(uint32_t i, uint16_t job)
{
	uint16_t ports = 0;

	for (unsigned int p = 0; p < 2u * fm.table.shape.ndims; p++)
		if (entry[i].job != job || closed[i] >> p & 1 ||
		    entry[torus_neighbour(&fm.table.shape, i, p)].job != job)
			ports |= (uint16_t)(1u << p);
	return ports;
}

/* Return: true if the rows that were computed last are those of the present table. */
static bool is_as_last(void)
{
	uint16_t job = entry[fm.node].job;

	if (job != last.job)
		return false;
	for (uint32_t i = 0; job && i < fm.table.nodes; i++)
		if (last.member[i] != (entry[i].job == job) || last.ports[i] != closed_to_job(i, job))
			return false;
	return true;
}

static void note_last(void)
{
	last.job = entry[fm.node].job;
	for (uint32_t i = 0; i < fm.table.nodes; i++) {
		last.member[i] = entry[i].job == last.job;
		last.ports[i] = closed_to_job(i, last.job);
	}
}

/* The rows are those of a torus that has no cables but those of the job noted last. */
static void rows_equal_model(void)
{
	struct torus_health *h;
	struct torus_routes *r;

	assert_int_equal(torus_health_new(&fm.table.shape, last.ports, &h), 0);
	assert_int_equal(torus_routes_new(h, fm.node, TORUS_ROUTES_RELAY, &r), 0);
	for (uint32_t to = 0; to < fm.table.nodes; to++) {
		bool inside = last.job && to != fm.node && last.member[to];

		assert_true(fm_job_row(&fm, to, OTHER) ==
			    (inside ? torus_routes_rows(r)[to] : OTHER));
	}
	torus_routes_free(r);
	torus_health_free(h);
}

static void begin(struct rnd *r, const char *shape)
{
	memset(&fm, 0, sizeof(fm));
	memset(closed, 0, sizeof(closed));
	memset(entry, 0, sizeof(entry));
	memset(&last, 0, sizeof(last));
	assert_int_equal(torus_shape_parse(shape, &fm.table.shape), 0);
	fm.table.nodes = torus_nodes(&fm.table.shape);
	assert_true(fm.table.nodes <= NODES);
	fm.table.closed = closed;
	fm.table.entry = entry;
	fm.node = rnd_below(r, fm.table.nodes);
	assert_true(fm_job_rows_new(&fm));
}

static void end(void)
{
	fm_job_rows_free(&fm);
	assert_int_equal(memory_blocks(), 0);
}

/* Closes or opens a cable, at both ends. */
static void change_cable(struct rnd *r)
{
	uint32_t i = rnd_below(r, fm.table.nodes);
	unsigned int p = rnd_below(r, 2 * fm.table.shape.ndims);

	closed[i] ^= (uint16_t)(1u << p);
	closed[torus_neighbour(&fm.table.shape, i, p)] ^=
		(uint16_t)(1u << torus_dir_opposite(&fm.table.shape, p));
}

static void change_table(struct rnd *r)
{
	if (rnd_one_in(r, 2))
		change_cable(r);
	else
		entry[rnd_below(r, fm.table.nodes)].job = (uint16_t)rnd_below(r, 3);
}

static void live(uint64_t seed)
{
	static const char *const shapes[] = { "4x3", "3x2x2", "5x1", "4x6", "2x2" };
	struct rnd r = rnd_new(seed);

	memory_guard(seed <= 20);
	begin(&r, shapes[rnd_below(&r, 5)]);
	for (uint32_t i = 0; i < fm.table.nodes; i++)
		entry[i].job = (uint16_t)!rnd_one_in(&r, 4);
	for (unsigned int k = 0; k < 40; k++) {
		bool was = rnd_one_in(&r, 4), changed = was, same;

		if (rnd_one_in(&r, 8)) {
			fm_job_rows_forget(&fm);
			memset(&last, 0, sizeof(last));
			rows_equal_model();
			fm.node = rnd_below(&r, fm.table.nodes);
		}
		if (!rnd_one_in(&r, 3))
			change_table(&r);
		same = is_as_last();
		assert_int_equal(fm_job_rows_update(&fm, &changed), 0);
		assert_int_equal(changed, was || !same);
		note_last();
		rows_equal_model();
	}
	end();
	memory_guard(false);
}

static void random_histories_of_job_rows_equal_model(void **state)
{
	(void)state;
	for_seeds(200, live);
}

/* Without memory rows stay as they were, and the next update finds that they must change. */
static void rows_without_memory_stay_and_are_computed_later(void **state)
{
	struct rnd r = rnd_new(1);
	unsigned int n = 1, refused = 0;
	bool failed;

	(void)state;
	do {
		bool changed = false;
		int err;

		begin(&r, "4x3");
		for (uint32_t i = 0; i < fm.table.nodes; i++)
			entry[i].job = 1;
		assert_int_equal(fm_job_rows_update(&fm, &changed), 0);
		assert_true(changed);
		note_last();
		/* A node leaves the job. */
		entry[(fm.node + 1) % fm.table.nodes].job = 2;
		memory_fails_at(n++);
		err = fm_job_rows_update(&fm, &changed);
		failed = memory_failed();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		refused += failed;
		if (failed)
			rows_equal_model();
		changed = false;
		assert_int_equal(fm_job_rows_update(&fm, &changed), 0);
		assert_int_equal(changed, failed);
		note_last();
		rows_equal_model();
		end();
	} while (failed);
	assert_true(refused > 4);	/* members, ports, and at least one for cables and rows each */
	begin(&r, "2x2");
	fm_job_rows_free(&fm);
	fm.job_rows = NULL;
	fm_job_rows_free(&fm);		/* nothing was allocated */
	memory_fails_at(1);
	assert_false(fm_job_rows_new(&fm));
	assert_true(memory_failed());
	end();
}

/* A job that has fallen apart: there is no row to the nodes of the other part. */
static void row_to_other_part_of_job_is_invalid(void **state)
{
	struct rnd r = rnd_new(1);
	bool changed = false;

	(void)state;
	begin(&r, "4x1");
	fm.node = 0;
	for (uint32_t i = 0; i < 4; i++)
		entry[i].job = (uint16_t)(i == 0 || i == 2);
	assert_int_equal(fm_job_rows_update(&fm, &changed), 0);
	assert_true(changed);
	assert_int_equal(fm_job_row(&fm, 0, OTHER), OTHER);
	assert_int_equal(fm_job_row(&fm, 1, OTHER), OTHER);
	assert_int_equal(fm_job_row(&fm, 2, OTHER) & TORUS_ROW_VALID, 0);
	entry[1].job = 1;
	assert_int_equal(fm_job_rows_update(&fm, &changed), 0);
	assert_true(fm_job_row(&fm, 1, OTHER) & TORUS_ROW_VALID);
	assert_true(fm_job_row(&fm, 2, OTHER) & TORUS_ROW_VALID);
	end();
}

/* The fabric grows, and the job has no node and no cable among the new ones: its rows are made again. */
static void rows_are_made_again_for_larger_shape(void **state)
{
	struct rnd r = rnd_new(1);
	bool changed = false;

	(void)state;
	begin(&r, "2x2");
	fm.node = 0;
	entry[0].job = 1;
	assert_int_equal(fm_job_rows_update(&fm, &changed), 0);
	assert_int_equal(torus_shape_parse("2x3", &fm.table.shape), 0);
	fm.table.nodes = 6;
	changed = false;
	assert_int_equal(fm_job_rows_update(&fm, &changed), 0);
	assert_true(changed);
	note_last();
	rows_equal_model();
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_histories_of_job_rows_equal_model),
		cmocka_unit_test(rows_without_memory_stay_and_are_computed_later),
		cmocka_unit_test(row_to_other_part_of_job_is_invalid),
		cmocka_unit_test(rows_are_made_again_for_larger_shape),
	};

	return cmocka_run_group_tests_name("fm_job_rows", tests, NULL, NULL);
}
