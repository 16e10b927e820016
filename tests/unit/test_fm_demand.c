// SPDX-License-Identifier: GPL-2.0-only
/* The demand for a new table, by itself: its first change, and when it is due. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/memory.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"

static struct fm_root root;
static struct fm fm = { .root = &root };

static void begin(void)
{
	assert_true(fm_demand_new(&root));
	root.settled = true;
	fm.now = 1000;
	assert_false(fm_demand_is(&root));
	assert_int_equal(fm_demand_expiry(&root), NEVER);
}

static void end(void)
{
	fm_demand_free(&root);
	assert_int_equal(memory_blocks(), 0);
}

/*
 * Further changes are counted, and can only make the table due earlier; the first one gives the
 * cause.
 */
static void further_change_only_makes_table_earlier(void **state)
{
	(void)state;
	begin();
	fm_demand(&fm, 50, "link %d", 7);
	assert_true(fm_demand_is(&root));
	assert_int_equal(fm_demand_expiry(&root), 1050);
	fm.now = 1020;
	fm_demand(&fm, 40, "later");
	assert_int_equal(fm_demand_expiry(&root), 1050);
	fm_demand(&fm, 20, "earlier");
	assert_int_equal(fm_demand_expiry(&root), 1040);
	assert_int_equal(fm_demand_since(&root), 1000);
	assert_int_equal(fm_demand_asks(&root), 3);
	assert_string_equal(fm_demand_cause(&root), "link 7");
	fm_demand_end(&fm);
	assert_false(fm_demand_is(&root));
	assert_int_equal(fm_demand_expiry(&root), NEVER);
	fm.now = 2000;
	fm_demand(&fm, 0, "anew");
	assert_int_equal(fm_demand_expiry(&root), 2000);
	assert_int_equal(fm_demand_since(&root), 2000);
	assert_int_equal(fm_demand_asks(&root), 1);
	assert_string_equal(fm_demand_cause(&root), "anew");
	end();
}

/* Changes before the first table demand none. */
static void changes_before_first_table_demand_none(void **state)
{
	(void)state;
	begin();
	root.settled = false;
	fm_demand(&fm, 0, "a node");
	assert_false(fm_demand_is(&root));
	end();
}

/* A table that waits for a colour is due when the network has drained, if it is still wanted. */
static void table_that_waits_for_colour_is_due_when_drained(void **state)
{
	(void)state;
	begin();
	assert_false(fm_demand_drained(&fm));
	fm_demand(&fm, 10, "a node");
	assert_false(fm_demand_drained(&fm));
	assert_int_equal(fm_demand_expiry(&root), 1010);
	fm_demand_put_off(&fm, NEVER);
	assert_int_equal(fm_demand_expiry(&root), NEVER);
	fm.now = 3000;
	assert_true(fm_demand_drained(&fm));
	assert_int_equal(fm_demand_expiry(&root), 3000);
	assert_false(fm_demand_drained(&fm));
	fm_demand_put_off(&fm, NEVER);
	fm_demand_end(&fm);
	assert_false(fm_demand_drained(&fm));
	end();
}

static void demand_without_memory_fails(void **state)
{
	(void)state;
	memory_fails_at(1);
	assert_false(fm_demand_new(&root));
	assert_true(memory_failed());
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(further_change_only_makes_table_earlier),
		cmocka_unit_test(changes_before_first_table_demand_none),
		cmocka_unit_test(table_that_waits_for_colour_is_due_when_drained),
		cmocka_unit_test(demand_without_memory_fails),
	};

	return cmocka_run_group_tests_name("fm_demand", all, NULL, NULL);
}
