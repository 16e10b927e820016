// SPDX-License-Identifier: GPL-2.0-only
/* Sets of changed nodes, by themselves: which marks a change leaves, and what is freed. */
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/facts.h"

#define SETS 5

static struct fm_root root;
static struct fm fm = { .root = &root };

static struct fm_marks *set(unsigned int k)
{
	struct fm_changes *c = &root.changes;
	struct fm_marks *const all[SETS] = { &c->table, &c->closed, &c->part, &c->odd,
					     &c->differ };

	return all[k];
}

static void begin(const char *shape)
{
	memset(&root, 0, sizeof(root));
	assert_int_equal(torus_shape_parse(shape, &fm.table.shape), 0);
	fm.ndims = fm.table.shape.ndims;
	assert_true(fm_changes_new(&root, torus_nodes(&fm.table.shape)));
}

static void end(void)
{
	fm_changes_free(&root);
	assert_int_equal(memory_blocks(), 0);
	assert_int_equal(root.changes.nodes, 0);
	for (unsigned int k = 0; k < SETS; k++)
		assert_true(!set(k)->is && !set(k)->node && !set(k)->n);
}

/* Takes all nodes out of a set. Return: mask of them. */
static uint64_t take(struct fm_marks *m)
{
	uint64_t mask = 0;
	uint32_t node;

	while (fm_unmark(m, &node)) {
		assert_false(mask >> node & 1);
		assert_false(m->is[node]);
		mask |= 1ULL << node;
	}
	assert_int_equal(m->n, 0);
	return mask;
}

static void changed_node_is_marked_once_in_three_sets(void **state)
{
	(void)state;
	begin("4x3");
	for (unsigned int i = 0; i < 2; i++)
		fm_change_node(&fm, 7);
	fm_change_node(&fm, 0);
	fm_change_node(&fm, 11);
	fm_change_node(&fm, 12);
	fm_change_node(&fm, TORUS_NO_NODE);
	for (unsigned int k = 0; k < SETS; k++)
		assert_int_equal(take(set(k)), k < 3 ? 0x881 : 0);
	end();
}

/* The wiring of the neighbours depends on the node at a place, and nothing else of them does. */
static void changed_place_marks_wiring_of_neighbours(void **state)
{
	(void)state;
	begin("4x3");
	fm_change_place(&fm, 5);
	assert_int_equal(take(set(0)), 1 << 5 | 1 << 4 | 1 << 6 | 1 << 1 | 1 << 9);
	assert_int_equal(take(set(1)), 1 << 5);
	assert_int_equal(take(set(2)), 1 << 5);
	fm_change_place(&fm, 12);
	fm_change_place(&fm, TORUS_NO_NODE);
	for (unsigned int k = 0; k < SETS; k++)
		assert_int_equal(take(set(k)), 0);
	end();
	begin("3x3x3");
	fm_change_place(&fm, 13);
	assert_int_equal(take(set(0)),
			 1 << 13 | 1 << 12 | 1 << 14 | 1 << 10 | 1 << 16 | 1 << 4 | 1 << 22);
	end();
	begin("5");
	fm_change_place(&fm, 0);
	assert_int_equal(take(set(0)), 1 | 1 << 1 | 1 << 4);
	end();
}

static void marks_without_memory_fail(void **state)
{
	(void)state;
	memset(&root, 0, sizeof(root));
	for (unsigned int n = 1; n <= 2 * SETS; n++) {
		memory_fails_at(n);
		assert_false(fm_changes_new(&root, 12));
		assert_true(memory_failed());
		end();
	}
	/* Nothing is marked where there are no sets. */
	fm_change_node(&fm, 0);
	fm_change_place(&fm, 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(changed_node_is_marked_once_in_three_sets),
		cmocka_unit_test(changed_place_marks_wiring_of_neighbours),
		cmocka_unit_test(marks_without_memory_fail),
	};

	return cmocka_run_group_tests_name("fm_marks", all, NULL, NULL);
}
