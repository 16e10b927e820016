// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs of a table, by themselves: the list of their descriptions against a plain array by number;
 * and on random tables the nodes and parts of each job, and the cables whose repair joins them,
 * against a search that begins anew for each node.
 */
#include <stdio.h>
#include <string.h>

#include <torus/route.h>
#include <torus/topology.h>
#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/facts.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/status.h"

#define IDS	9
#define NODES	24
#define JOBS	2

/* --- descriptions -------------------------------------------------------------------------- */

static struct fm_job job_of(uint16_t id)
{
	struct fm_job j = { .id = id, .how = (uint8_t)(id % 3), .nodes = 3u * id, .uid = 5u + id,
			    .since = 7u * id, .by = "me" };

	snprintf(j.name, sizeof(j.name), "job%u", id);
	return j;
}

static void same_jobs(struct rnd *r, const struct fm_jobs *s, const bool *is)
{
	uint32_t n = 0;
	uint16_t next = 1;
	char name[16];

	for (uint16_t id = 1; id <= IDS; id++) {
		const struct fm_job *j = fm_jobs_find(s, id);
		struct fm_job want = job_of(id);

		snprintf(name, sizeof(name), "job%u", id);
		expect(r, !!j == is[id] && fm_jobs_named(s, name) == j, "job %u", id);
		if (!j)
			continue;
		expect(r, j == &s->of[n] && !memcmp(j, &want, sizeof(want)), "job %u", id);
		n++;
	}
	while (next <= IDS && is[next])
		next++;
	expect(r, s->n == n && s->n <= s->room, "%u jobs, not %u", s->n, n);
	expect(r, fm_jobs_next(s) == next, "next is %u, not %u", fm_jobs_next(s), next);
}

/* Return: the same jobs with one value of one job changed. */
static struct fm_jobs changed_jobs(const struct fm_jobs *s, unsigned int value)
{
	struct fm_jobs other = { .n = 0 };
	struct fm_job *j;

	fm_jobs_set(&other, s->of, s->n);
	assert_int_equal(other.n, s->n);
	j = &other.of[s->n - 1];
	switch (value) {
	case 0: j->id++; break;
	case 1: j->how++; break;
	case 2: j->nodes++; break;
	case 3: j->uid++; break;
	case 4: j->since++; break;
	case 5: j->name[0] = 'x'; break;
	case 6: j->by[0] = 'x'; break;
	case 7: other.n--; break;
	default: break;
	}
	return other;
}

static void list(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_jobs s = { .n = 0 }, other;
	bool is[IDS + 2] = { false };

	for (unsigned int k = 0; k < 60; k++) {
		uint16_t id = (uint16_t)(1 + rnd_below(&r, IDS));
		struct fm_job j = job_of(id);

		if (!is[id] && !rnd_one_in(&r, 3)) {
			memory_fails_at(rnd_one_in(&r, 3));
			is[id] = fm_jobs_put(&s, &j);
			expect(&r, is[id] == !memory_failed(), "job %u", id);
		} else {
			fm_jobs_drop(&s, id);
			is[id] = false;
		}
		same_jobs(&r, &s, is);
		for (unsigned int v = 0; s.n && v <= 8; v++) {
			other = changed_jobs(&s, v);
			expect(&r, fm_jobs_same(&s, &other) == (v == 8), "value %u", v);
			expect(&r, (fm_jobs_sum(&s, 3) == fm_jobs_sum(&other, 3)) == (v == 8), "value %u", v);
			expect(&r, fm_jobs_sum(&s, 3) != fm_jobs_sum(&s, 4), "value %u", v);
			if (rnd_one_in(&r, 4))
				fm_jobs_set(&other, s.of, v ? s.n : 0);
			fm_jobs_free(&other);
		}
	}
	if (s.n) {
		memory_fails_at(1);
		other = (struct fm_jobs) { .n = 0 };
		fm_jobs_set(&other, s.of, s.n);
		expect(&r, memory_failed() && !other.n && !other.of, "%u jobs", s.n);
	}
	fm_jobs_free(&s);
	assert_true(!s.n && !s.of && !s.room);
	assert_int_equal(memory_blocks(), 0);
}

static void random_list_equals_array(void **state)
{
	(void)state;
	for_seeds(60, list);
}

static void there_are_at_most_all_numbers(void **state)
{
	struct fm_jobs s = { .n = 0 };

	(void)state;
	for (uint16_t id = 1; id <= FM_JOBS_MAX; id++) {
		struct fm_job j = job_of(id);

		assert_int_equal(fm_jobs_next(&s), id);
		assert_true(fm_jobs_put(&s, &j));
	}
	assert_int_equal(fm_jobs_next(&s), 0);
	fm_jobs_free(&s);
}

/* --- tables -------------------------------------------------------------------------------- */

static struct fm_table table;
static struct fm_entry entry[NODES];
static uint16_t closed[NODES];

static bool excludes(uint32_t i, unsigned int p)
{
	const struct fm_entry *e = &entry[i];

	return (e->state != FM_NODE_UP && e->state != FM_NODE_SILENT) ||
	       (e->fault | e->admin) >> p & 1;
}

/* Return: true if the node at the other end of the cable or this one excludes it. */
static bool is_closed(uint32_t i, unsigned int p)
{
	return excludes(i, p) || excludes(torus_neighbour(&table.shape, i, p),
					  torus_dir_opposite(&table.shape, p));
}

static void random_table(struct rnd *r)
{
	static const char *const shapes[] = { "4x3x2", "6x4", "5x1x3", "12" };
	bool whole = rnd_one_in(r, 8);		/* one job has all nodes, and all cables work */
	uint16_t all;

	memset(&table, 0, sizeof(table));
	torus_shape_parse(shapes[rnd_below(r, 4)], &table.shape);
	table.nodes = torus_nodes(&table.shape);
	table.entry = entry;
	table.closed = closed;
	all = (uint16_t)((1u << 2 * table.shape.ndims) - 1);
	for (uint32_t i = 0; i < table.nodes; i++) {
		entry[i] = (struct fm_entry) { .guid = 1 + i, .state = FM_NODE_UP,
					       .job = (uint16_t)(whole ? 1 : rnd_below(r, JOBS + 1)) };
		if (whole)
			continue;
		if (rnd_one_in(r, 6))
			entry[i].state = (uint8_t)rnd_below(r, FM_NODE_STATES);
		if (rnd_one_in(r, 6))		/* perhaps all ports but one, which may have no cable */
			entry[i].admin = (uint16_t)(all & ~(rnd_below(r, 2) << rnd_below(r, 6)));
		if (rnd_one_in(r, 2))
			entry[i].fault = (uint16_t)(rnd_below(r, 64) & all);
	}
	for (uint32_t i = 0; i < table.nodes; i++) {
		closed[i] = 0;
		for (unsigned int p = 0; p < 2u * table.shape.ndims; p++)
			closed[i] |= (uint16_t)(is_closed(i, p) << p);
	}
}

static bool is_part(uint32_t i)
{
	uint16_t cables = 0;

	for (unsigned int p = 0; p < 2u * table.shape.ndims; p++)
		if (table.shape.size[p % table.shape.ndims] > 1)
			cables |= (uint16_t)(1u << p);
	return (entry[i].state == FM_NODE_UP || entry[i].state == FM_NODE_SILENT) &&
	       (entry[i].admin & cables) != cables;
}

/* Gives all nodes of a part the same number, the lowest of their node ids. */
static void number_parts(uint32_t *part)
{
	bool changed = true;

	for (uint32_t i = 0; i < table.nodes; i++)
		part[i] = i;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < table.nodes; i++)
			for (unsigned int p = 0; p < 2u * table.shape.ndims; p++) {
				uint32_t far = torus_neighbour(&table.shape, i, p);

				if (is_closed(i, p) || entry[i].job != entry[far].job ||
				    part[far] >= part[i])
					continue;
				part[i] = part[far];
				changed = true;
			}
	}
}

/* Lists the dead cables between parts: between working nodes (@work), or to others of the job. */
static uint32_t naive_severed(const uint32_t *part, uint16_t id, bool work, struct torus_cable *to)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < table.nodes; i++)
		for (unsigned int d = 0; d < table.shape.ndims; d++) {
			uint32_t far = torus_neighbour(&table.shape, i, d);

			if (entry[i].job == id && entry[far].job == id && part[i] != part[far] &&
			    is_closed(i, d) && work == (is_part(i) && is_part(far)))
				to[n++] = (struct torus_cable) { .node = i, .dim = (uint8_t)d };
		}
	return n;
}

static void same_severed(struct rnd *r, const uint32_t *part, uint16_t id)
{
	struct torus_cable is[3 * NODES], want[3 * NODES];
	uint32_t n = naive_severed(part, id, true, want), max = rnd_below(r, 3 * NODES);

	if (!n)
		n = naive_severed(part, id, false, want);
	memset(is, 0xff, sizeof(is));
	expect(r, fm_jobs_severed(&table, id, is, max) == n, "job %u: %u cables", id, n);
	for (uint32_t i = 0; i < n && i < max; i++)
		expect(r, is[i].node == want[i].node && is[i].dim == want[i].dim, "cable %u", i);
	for (uint32_t i = n < max ? n : max; i < 3 * NODES; i++)
		expect(r, is[i].node == 0xffffffff, "cable %u of %u", i, max);
	for (unsigned int k = 1; k <= 2; k++) {
		memory_fails_at(k);
		expect(r, !fm_jobs_severed(&table, id, is, max) && memory_failed(), "%u", k);
	}
}

static void one_table(uint64_t seed)
{
	static struct fm_job_count count[FM_JOBS_MAX + 2];	/* the last one is of no job */
	struct rnd r = rnd_new(seed);
	uint32_t part[NODES];

	random_table(&r);
	number_parts(part);
	memset(count, 0xff, sizeof(count));
	expect(&r, fm_jobs_count(&table, count), "%u nodes", table.nodes);
	expect(&r, !count[0].up && !count[0].parts && !count[FM_JOBS_MAX].up, "%u", count[0].up);
	for (uint16_t id = 1; id <= JOBS; id++) {
		struct fm_job_count want = { .up = 0 };

		for (uint32_t i = 0; i < table.nodes; i++) {
			if (entry[i].job != id || !is_part(i))
				continue;
			want.up += entry[i].state == FM_NODE_UP;
			want.parts += part[i] == i;
		}
		expect(&r, count[id].up == want.up && count[id].parts == want.parts,
		       "job %u: %u in %u, not %u in %u", id, count[id].up, count[id].parts, want.up,
		       want.parts);
		same_severed(&r, part, id);
	}
	for (unsigned int k = 1; k <= 2; k++) {
		memory_fails_at(k);
		expect(&r, !fm_jobs_count(&table, count) && memory_failed(), "%u", k);
	}
	entry[0].job = FM_JOBS_MAX;		/* the highest number, and one that is too high */
	entry[0].state = FM_NODE_UP;
	entry[0].admin = 0;
	entry[1] = entry[0];
	entry[1].job++;
	expect(&r, fm_jobs_count(&table, count) && count[FM_JOBS_MAX].up == 1 &&
	       count[FM_JOBS_MAX + 1].up == 0xffffffff, "%u", count[FM_JOBS_MAX].up);
	assert_int_equal(memory_blocks(), 0);
}

static void random_jobs_have_parts_and_severed_cables_of_search(void **state)
{
	(void)state;
	for_seeds(300, one_table);
}

static void job_does_not_use_ports_that_lead_out_of_it(void **state)
{
	struct rnd r = rnd_new(1);
	bool member[NODES];
	uint16_t is[NODES];

	(void)state;
	for (unsigned int k = 0; k < 30; k++) {
		random_table(&r);
		for (uint32_t i = 0; i < NODES; i++)
			member[i] = rnd_one_in(&r, 2);
		memset(is, 0xff, sizeof(is));
		closed[0] |= 0x8000;		/* of no port of this shape */
		fm_jobs_close(&table, member, is);
		assert_true(table.nodes == NODES || is[table.nodes] == 0xffff);
		for (uint32_t i = 0; i < table.nodes; i++)
			for (unsigned int p = 0; p < 16; p++) {
				bool has = p < 2u * table.shape.ndims;

				assert_int_equal(is[i] >> p & 1, has &&
						 (!member[i] || is_closed(i, p) ||
						  !member[torus_neighbour(&table.shape, i, p)]));
			}
	}
}

/* Without memory an order is not added, and a copy is empty. */
static void orders_without_memory_are_left_out(void **state)
{
	struct fm_orders s = { .n = 0 }, copy = { .n = 0 };
	struct fm_order o = { .node = 1, .ports = 1, .since = 1 };

	(void)state;
	memory_fails_at(1);
	assert_false(fm_orders_put(&s, &o));
	assert_true(memory_failed() && !s.n);
	assert_null(fm_orders_first(&s, 1));
	assert_true(fm_orders_put(&s, &o));
	o.ports = 0;
	assert_true(fm_orders_put(&s, &o));
	assert_int_equal(s.n, 1);
	memory_fails_at(1);
	fm_orders_copy(&copy, &s);
	assert_true(memory_failed() && !copy.n && !copy.of);
	fm_orders_copy(&copy, &s);
	assert_int_equal(copy.n, 1);
	fm_orders_free(&s);
	fm_orders_copy(&copy, &s);
	assert_true(!copy.n && !copy.of);
	assert_int_equal(memory_blocks(), 0);
}

static void node_without_cables_is_in_service(void **state)
{
	struct torus_shape shape;

	(void)state;
	torus_shape_parse("1", &shape);
	assert_false(fm_is_out_of_service(&shape, 0));
	assert_false(fm_is_out_of_service(&shape, 3));
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_list_equals_array),
		cmocka_unit_test(there_are_at_most_all_numbers),
		cmocka_unit_test(random_jobs_have_parts_and_severed_cables_of_search),
		cmocka_unit_test(orders_without_memory_are_left_out),
		cmocka_unit_test(node_without_cables_is_in_service),
		cmocka_unit_test(job_does_not_use_ports_that_lead_out_of_it),
	};

	return cmocka_run_group_tests_name("fm_job_list", all, NULL, NULL);
}
