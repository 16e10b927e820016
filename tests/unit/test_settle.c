// SPDX-License-Identifier: GPL-2.0-only
/* A root that has no memory for its table: it keeps nothing meanwhile, and tries again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/discover.h"
#include "daemon/fm/root/publish.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/settle.h"
#include "daemon/fm/root/tally.h"

#define NODES 4

/**
 * struct stage - what the rest of the manager does and sees
 * @fails: how many attempts get no memory yet
 * @late: only the table, the last request of all, gets none
 * @tally, @table: these exist
 */
static struct stage {
	struct fm fm;
	struct fm_root root;
	unsigned int fails;
	bool late;
	bool tally;
	bool table;
	bool problem;
	unsigned int published;
} s;

/* --- the functions of the manager that settle.c calls -------------------------------- */

bool fm_tally_start(struct fm *fm, uint32_t nodes)
{
	(void)fm;
	assert_int_equal(nodes, NODES);
	assert_false(s.tally);
	if (s.fails && !s.late) {
		s.fails--;
		return false;
	}
	return s.tally = true;
}

void fm_tally_free(struct fm_root *r)
{
	(void)r;
	s.tally = false;
}

bool fm_table_begin(struct fm *fm, const struct torus_shape *shape)
{
	(void)fm;
	(void)shape;
	/* After it nothing can fail: the former table is gone. */
	assert_true(s.tally);
	assert_non_null(s.root.at);
	assert_non_null(s.root.admin);
	if (s.fails) {
		s.fails--;
		return false;
	}
	return s.table = true;
}

void fm_problem_set(struct fm *fm, const char *kind, uint64_t key, const char *fmt, ...)
{
	(void)fm;
	(void)fmt;
	(void)key;
	if (!strcmp(kind, "memory"))
		s.problem = true;
}

void fm_problem_clear(struct fm *fm, const char *kind, uint64_t key)
{
	(void)fm;
	(void)key;
	if (!strcmp(kind, "memory"))
		s.problem = false;
}

void fm_publish_dirty(struct fm *fm, uint64_t delay, const char *fmt, ...)
{
	(void)fm;
	(void)delay;
	(void)fmt;
	s.published++;
}

void fm_say(struct fm *fm, enum fm_level level, const char *kind, const char *fmt, ...)
{
	(void)fm;
	(void)level;
	(void)kind;
	(void)fmt;
}

bool fm_discover_shape(struct fm *fm, struct torus_shape *shape)
{
	(void)fm;
	(void)shape;
	fail();
	return false;
}

void fm_recall_end(struct fm *fm, const struct torus_shape *shape)
{
	(void)fm;
	(void)shape;
}

uint64_t fm_fingerprint(uint64_t guid, uint32_t epoch)
{
	return guid + epoch;
}

struct fm_mate *fm_mate(const struct fm_root *r, uint64_t guid)
{
	(void)r;
	(void)guid;
	return NULL;
}

struct fm_mate *fm_mate_add(struct fm_root *r, uint64_t guid)
{
	(void)r;
	(void)guid;
	fail();
	return NULL;
}

void fm_mate_missing(struct fm *fm, struct fm_mate *m)
{
	(void)fm;
	(void)m;
}

void fm_mate_move(struct fm *fm, struct fm_mate *m, uint32_t node)
{
	(void)fm;
	m->node = node;
}

void fm_tally_node(struct fm *fm, uint32_t node)
{
	(void)fm;
	(void)node;
	assert_true(s.tally && s.table);
}

uint32_t torus_nodes(const struct torus_shape *shape)
{
	return shape->size[0];
}

char *torus_shape_text(const struct torus_shape *shape, char *text)
{
	(void)shape;
	text[0] = '\0';
	return text;
}

uint32_t torus_neighbour(const struct torus_shape *shape, uint32_t node, unsigned int port)
{
	(void)shape;
	(void)port;
	return node;
}

unsigned int torus_dir_opposite(const struct torus_shape *shape, unsigned int dir)
{
	(void)shape;
	return dir;
}

/* --- cases ------------------------------------------------------------------------------ */

/* All nodes of a ring are there; memory for them is not, for @fails attempts. */
static void tries(unsigned int fails, bool late)
{
	static struct fm_mate mate[NODES];

	s = (struct stage) { .fails = fails, .late = late };
	s.fm.root = &s.root;
	s.fm.cfg.shape = (struct torus_shape) { .ndims = 1, .size = { NODES } };
	s.root.mate = mate;
	s.root.nmates = NODES;
	for (uint32_t i = 0; i < NODES; i++)
		mate[i] = (struct fm_mate) { .guid = i + 1, .node = i };
	for (unsigned int i = 0; i < fails; i++) {
		fm_settle_due(&s.fm);
		assert_false(s.root.settled);
		assert_true(s.problem);
		assert_null(s.root.at);
		assert_null(s.root.admin);
		assert_false(s.tally);
		assert_false(s.table);
		s.fm.now = fm_settle_expiry(&s.fm);
	}
	fm_settle_due(&s.fm);
	assert_true(s.root.settled);
	assert_false(s.problem);
	assert_int_equal(s.published, 1);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(s.root.at[i], i + 1);
	free(s.root.at);
	free(s.root.admin);
}

static void test_enough(void **state)
{
	(void)state;
	tries(0, false);
}

static void test_too_little_and_again(void **state)
{
	(void)state;
	tries(3, false);
	tries(3, true);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_enough),
		cmocka_unit_test(test_too_little_and_again),
	};

	return cmocka_run_group_tests_name("settle", all, NULL, NULL);
}
