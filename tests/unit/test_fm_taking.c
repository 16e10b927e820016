// SPDX-License-Identifier: GPL-2.0-only
/*
 * The nodes that take part, by themselves: random nodes and tables, and how many nodes count as
 * each kind. Stubs in this test stand for the functions of the manager that the file calls.
 */
#include <string.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/tally.h"

#define NODES 9

static struct fm_root root;
static struct fm fm = { .root = &root };
static struct fm_entry entry[NODES];
static struct fm_record record[NODES + 1];
static bool changed[NODES];

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	(void)r;
	for (uint32_t i = 0; i <= NODES; i++)
		if (record[i].node == node)
			return &record[i];
	return NULL;
}

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return NODES + 1;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i <= NODES);
	return &record[i];
}

bool fm_table_counts(const struct fm_entry *e)
{
	return e->state == FM_NODE_UP && e->epoch;
}

uint64_t fm_fingerprint(uint64_t guid, uint32_t epoch)
{
	return (guid << 20) + epoch;
}

bool fm_unmark(struct fm_marks *m, uint32_t *node)
{
	assert_ptr_equal(m, &root.changes.part);
	for (uint32_t i = 0; i < NODES; i++)
		if (changed[i]) {
			changed[i] = false;
			*node = i;
			return true;
		}
	return false;
}

/* --- random nodes ------------------------------------------------------------------------ */

static void change(struct rnd *r)
{
	uint32_t i = rnd_below(r, NODES);
	struct fm_entry *e = &entry[i];
	struct fm_record *m = &record[i];

	*e = (struct fm_entry) { .state = (uint8_t)rnd_below(r, FM_NODE_STATES), .guid = 50 + i,
				 .epoch = rnd_below(r, 3) };
	if (rnd_one_in(r, 2))
		e->state = FM_NODE_UP;
	m->node = rnd_one_in(r, 5) ? TORUS_NO_NODE : i;
	m->guid = rnd_one_in(r, 6) ? 99 : 50 + i;
	m->epoch = rnd_one_in(r, 4) ? rnd_below(r, 3) : e->epoch;
	m->state = rnd_one_in(r, 3) ? FM_NODE_UP :
				      (uint8_t)(FM_NODE_UP + rnd_below(r, 3));
	m->bare = rnd_one_in(r, 2);
	changed[i] = true;
}

/* Return: as what a node counts, by a second implementation: the node at its place comes first. */
static enum fm_part naive(uint32_t i)
{
	const struct fm_entry *e = &entry[i];
	const struct fm_record *m = record[i].node == i && record[i].guid == e->guid ? &record[i] : NULL;
	bool counts = e->state == FM_NODE_UP && e->epoch != 0;
	bool lives = e->state == FM_NODE_UP || e->state == FM_NODE_SILENT;

	if (!m)
		return lives ? FM_PART_LIVES : FM_PART_NONE;
	if (m->state == FM_NODE_DEAD)
		return FM_PART_NONE;
	if (e->epoch && m->epoch != e->epoch)
		return counts ? FM_PART_ANEW : FM_PART_NONE;
	if (counts && m->epoch == e->epoch && m->state == FM_NODE_UP)
		return FM_PART_TAKES;
	if (e->state == FM_NODE_DEAD && m->epoch == e->epoch && m->state == FM_NODE_UP)
		return FM_PART_LIVES;
	return lives ? FM_PART_LIVES : FM_PART_NONE;
}

static void check(struct rnd *r)
{
	uint32_t parts[FM_PARTS] = { 0 };
	const struct fm_tally *t;
	uint64_t set = 0;

	for (uint32_t i = 0; i < NODES; i++) {
		enum fm_part part = naive(i);

		parts[part]++;
		if (part == FM_PART_TAKES)
			set += (entry[i].guid << 20) + entry[i].epoch;
		if (rnd_one_in(r, 20))
			expect(r, fm_tally_part(&fm, i) == part, "node %u", i);
	}
	t = fm_tally(&fm);
	for (unsigned int p = FM_PART_TAKES; p < FM_PARTS; p++)
		expect(r, t->parts[p] == parts[p], "part %u: %u, not %u", p, t->parts[p], parts[p]);
	expect(r, t->set == set, "%" PRIx64, t->set);
}

/* Nodes that take part work at their places then; others may still not. */
static void apply(struct rnd *r)
{
	bool is[NODES + 1], left = false;

	record[NODES].bare = rnd_one_in(r, 2);
	root.bare = !rnd_one_in(r, 6);
	for (uint32_t i = 0; i <= NODES; i++) {
		is[i] = record[i].bare;
		if (!root.bare)
			continue;
		if (i < NODES && record[i].node == i && naive(i) == FM_PART_TAKES)
			is[i] = false;
		left |= is[i] && record[i].guid;
	}
	fm_tally_applied(&fm);
	for (uint32_t i = 0; i <= NODES; i++)
		expect(r, record[i].bare == is[i], "record %u", i);
	assert_int_equal(root.bare, left);
}

static void life(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	memset(entry, 0, sizeof(entry));
	memset(record, 0, sizeof(record));
	fm.table.entry = entry;
	for (uint32_t i = 0; i <= NODES; i++)
		record[i].node = TORUS_NO_NODE;
	assert_int_equal(fm_tally(&fm)->parts[FM_PART_LIVES], 0);
	assert_true(fm_tally_new(&root, NODES));
	for (unsigned int i = 0; i < 60; i++) {
		change(&r);
		if (!rnd_one_in(&r, 3))
			check(&r);
		if (rnd_one_in(&r, 5))
			apply(&r);
		/* An entry that has no name in the roster any more is no bare one. */
		if (rnd_one_in(&r, 8))
			for (uint32_t k = 0; k < NODES; k++)
				record[k].bare = false;
	}
	fm_tally_free(&root);
	assert_null(root.counted);
	assert_int_equal(memory_blocks(), 0);
}

static void random_taking_of_nodes_equals_model(void **state)
{
	(void)state;
	for_seeds(200, life);
}

static void tally_without_memory_fails(void **state)
{
	(void)state;
	for (unsigned int n = 1; n <= 3; n++) {
		memory_fails_at(n);
		assert_false(fm_tally_new(&root, NODES));
		assert_true(memory_failed());
		assert_null(root.counted);
		assert_int_equal(memory_blocks(), 0);
	}
	fm_tally_free(&root);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_taking_of_nodes_equals_model),
		cmocka_unit_test(tally_without_memory_fails),
	};

	return cmocka_run_group_tests_name("fm_taking", all, NULL, NULL);
}
