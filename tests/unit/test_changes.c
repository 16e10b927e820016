// SPDX-License-Identifier: GPL-2.0-only
/* Tests of fm_changes: the nodes that the root looks at for the next table after a change. */
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/facts.h"
#include "stage_root.h"

#define NODES 9

static struct fm_changes *changes;

/* Begins with a root of 3x3 nodes at rest, of which none is marked. */
static void begin(void)
{
	uint32_t node;

	root("3x3");
	for (uint32_t i = 1; i < NODES; i++)
		join(i);
	settle(NODES);
	changes = &s.fm->root->changes;
	while (fm_unmark(&changes->table, &node) || fm_unmark(&changes->part, &node) ||
	       fm_unmark(&changes->closed, &node))
		;
}

/* Return: the nodes in @m, one bit each; the set is empty afterwards. */
static uint32_t take_marks(struct fm_marks *m)
{
	uint32_t mask = 0, node;

	while (fm_unmark(m, &node)) {
		assert_true(node < NODES);
		assert_false(mask & 1u << node);	/* each node is in it once */
		mask |= 1u << node;
	}
	return mask;
}

static void changed_node_is_marked_once_for_each_reader(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 0; i < NODES; i++) {
		fm_change_node(s.fm, i);
		fm_change_node(s.fm, i);
		assert_int_equal(take_marks(&changes->table), 1u << i);
		assert_int_equal(take_marks(&changes->part), 1u << i);
		assert_int_equal(take_marks(&changes->closed), 1u << i);
	}
	fm_change_node(s.fm, NODES);
	fm_change_node(s.fm, TORUS_NO_NODE);
	assert_int_equal(take_marks(&changes->table), 0);
	stage_end(&s);
}

/* A node that comes to a place, or leaves it, concerns all its neighbours' entries. */
static void changed_place_marks_node_and_its_neighbours(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t x = i % 3, y = i / 3;

		fm_change_place(s.fm, i);
		assert_int_equal(take_marks(&changes->table),
				 1u << i | 1u << (y * 3 + (x + 1) % 3) | 1u << (y * 3 + (x + 2) % 3) |
				 1u << ((y + 1) % 3 * 3 + x) | 1u << ((y + 2) % 3 * 3 + x));
		assert_int_equal(take_marks(&changes->part), 1u << i);
		assert_int_equal(take_marks(&changes->closed), 1u << i);
	}
	fm_change_place(s.fm, NODES);
	fm_change_place(s.fm, TORUS_NO_NODE);
	assert_int_equal(take_marks(&changes->table), 0);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_node_is_marked_once_for_each_reader),
		cmocka_unit_test(changed_place_marks_node_and_its_neighbours),
	};

	return cmocka_run_group_tests_name("changes", tests, NULL, NULL);
}
