// SPDX-License-Identifier: GPL-2.0-only
/* A root that has no memory for its table: it keeps no part of it, and tries again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/settle.h"
#include "daemon/fm/status.h"
#include "tests/unit/idle_ops.h"

#define NODES 4

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);

static unsigned int left;	/* requests for memory until one fails; 0: none does */
static unsigned int asked;

static bool fails(void)
{
	asked++;
	return left && !--left;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

/* Makes the root of a ring whose nodes are all there. */
static struct fm *root_new(void)
{
	const struct fm_ops ops = idle_ops();
	const struct torus_device dev = { .guid = 1, .nports = 2, .bootstrap = true };
	const struct torus_link links[2] = { { .port = 0 }, { .port = 1 } };
	struct fm_config c;
	struct fm *fm;

	fm_config_default(&c);
	c.shape = (struct torus_shape) { .ndims = 1, .size = { NODES, 1, 1, 1, 1, 1 } };
	fm = fm_new(&c, &ops, NULL, &dev, links, NULL, NULL, 0);
	assert_non_null(fm);
	for (uint32_t i = 1; i < NODES; i++) {
		struct fm_record *m = fm_record_add(fm->root, i + 1);

		fm_record_move(fm, m, i);	/* takes it out of the nodes to be placed, too */
		fm_record_name(fm->root, m, "n");
	}
	fm->root->joiners = NODES;
	return fm;
}

static bool memory_is_short(const struct fm *fm)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(fm, i)); i++)
		if (!strcmp(p->kind, "memory"))
			return true;
	return false;
}

/*
 * Settles the fabric; request number @fail for memory fails. Return: how many requests there are.
 */
static unsigned int settles(unsigned int fail)
{
	struct fm *fm = root_new();
	const struct fm_root *r = fm->root;

	left = fail;
	if (fail) {
		fm_settle_due(fm);
		assert_false(r->settled);
		assert_true(memory_is_short(fm));
		assert_null(r->at);
		assert_null(r->admin);
		assert_null(r->counted);
		assert_int_equal(r->changes.nodes, 0);
		assert_int_equal(fm->table.nodes, 0);
		fm->now = fm_settle_expiry(fm);
	}
	asked = 0;
	fm_settle_due(fm);
	assert_true(r->settled);
	assert_false(memory_is_short(fm));
	assert_true(fm_demand_is(r));
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(r->at[i], i + 1);
	fail = asked;
	fm_free(fm);
	return fail;
}

static void settling_without_memory_is_tried_again(void **state)
{
	unsigned int requests = settles(0);

	(void)state;
	assert_true(requests > 4);
	for (unsigned int fail = 1; fail <= requests; fail++)
		settles(fail);
}

/* A host in which an operation is not bound is refused: losses were once reported as 0 for it. */
static void host_without_an_operation_is_refused(void **state)
{
	const struct torus_device dev = { .guid = 1, .nports = 1, .bootstrap = true };
	const struct torus_link link = { .port = 0 };
	unsigned int n = sizeof(struct fm_ops) / sizeof(void (*)(void)), refused = 0;
	struct fm_config c;

	(void)state;
	fm_config_default(&c);
	c.arbiter = true;
	for (unsigned int i = 0; i < n; i++) {
		union {
			struct fm_ops ops;
			void (*op[sizeof(struct fm_ops) / sizeof(void (*)(void))])(void);
		} u = { .ops = idle_ops() };
		struct fm *fm;

		u.op[i] = NULL;
		fm = fm_new(&c, &u.ops, NULL, &dev, &link, NULL, NULL, 0);
		if (fm)
			assert_null(idle_ops().rows_apply);
		refused += !fm;
		fm_free(fm);
	}
	assert_int_equal(refused, n - 1);
	c.arbiter = false;
	/* A NIC that makes the rows itself is written none. */
	for (unsigned int both = 0; both < 2; both++) {
		struct fm_ops ops = idle_ops();
		struct fm *fm;

		ops.rows_apply = idle_rows_apply;
		ops.arbitrate = NULL;
		if (!both)
			ops.rows_write = NULL;
		fm = fm_new(&c, &ops, NULL, &dev, &link, NULL, NULL, 0);
		assert_non_null(fm);
		fm_free(fm);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(settling_without_memory_is_tried_again),
		cmocka_unit_test(host_without_an_operation_is_refused),
	};

	return cmocka_run_group_tests_name("settle", all, NULL, NULL);
}
