// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exclusions that end by themselves, at a root without the rest of the manager: all combinations of
 * a few times of day for the order, its end and the clock of this root.
 */
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/root/admin.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/term.h"

#define ORDERS 3

static struct fm_root root = { .settled = true };
static struct fm fm = { .root = &root };
static struct fm_order order[ORDERS];
static unsigned int over;

/* Ends the order, as the administrator would. */
void fm_admin_over(struct fm *f, const struct fm_order *o)
{
	uint32_t i = (uint32_t)(o - order);

	assert_in_range(i, 0, root.orders.n - 1);
	assert_true(o->until && o->ends <= f->now);
	over |= 1u << o->node;
	memmove(&order[i], &order[i + 1], (--root.orders.n - i) * sizeof(*o));
}

static void give(uint32_t node, uint64_t since, uint64_t until)
{
	root.orders.of = order;
	order[root.orders.n++] = (struct fm_order) { .node = node, .since = since, .until = until };
}

static void begin(uint64_t wall)
{
	root.orders.n = over = 0;
	root.settled = true;
	fm.now = 50 * SEC;
	fm.wall_at = 50 * SEC;
	fm.wall = wall;
}

/* Return: how many seconds an order of @since to @until lasts from the moment @wall on. */
static uint64_t lasts(uint64_t since, uint64_t until, uint64_t wall)
{
	if (until <= since)
		return 0;
	if (!wall || wall <= since)	/* the clock is not known, or wrong: the whole term */
		return until - since;
	return wall >= until ? 0 : until - wall;
}

static void end_of_order_follows_from_its_term_and_the_time_of_day(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 6 * 6 * 6; k++) {
		uint64_t since = 100 + k % 6, until = 100 + k / 6 % 6;
		uint64_t wall = k / 36 ? 99 + k / 36 : 0;
		uint64_t rest = lasts(since, until, wall) * SEC;

		begin(wall);
		give(1, since, until);
		assert_int_equal(fm_term_expiry(&fm), 0);
		fm_term_due(&fm);
		assert_int_equal(over, rest ? 0 : 2);
		assert_int_equal(fm_term_expiry(&fm), rest ? fm.now + rest : NEVER);
		if (!rest)
			continue;
		fm.wall = 5000;		/* the clock is set, which changes nothing any more */
		fm.now += rest - 1;
		fm_term_due(&fm);
		assert_int_equal(over, 0);
		fm.now++;
		fm_term_due(&fm);
		assert_int_equal(over, 2);
	}
}

static void order_without_knowledge_of_time_lasts_whole_term(void **state)
{
	(void)state;
	begin(0);
	fm.wall_at = 0;
	fm.now = 1000 * SEC;	/* no time of day, whatever this manager's clock shows */
	give(1, 10, 30);
	fm_term_due(&fm);
	assert_int_equal(fm_term_expiry(&fm), 1020 * SEC);
}

static void time_since_clock_was_read_counts(void **state)
{
	(void)state;
	begin(105);
	fm.now += 3 * SEC + 999 * MS;
	give(1, 100, 120);
	fm_term_due(&fm);
	assert_int_equal(fm_term_expiry(&fm), fm.now + 12 * SEC);
}

static void orders_without_limit_and_before_first_table_stay(void **state)
{
	(void)state;
	begin(105);
	root.settled = false;
	give(1, 90, 100);
	assert_int_equal(fm_term_expiry(&fm), NEVER);
	fm_term_due(&fm);
	assert_int_equal(over, 0);
	assert_int_equal(order[0].ends, 0);
	begin(105);
	give(2, 90, 100);
	give(1, 90, 0);
	order[0] = order[1];
	root.orders.n = 1;
	order[1].until = 100;	/* behind the last one */
	fm_term_due(&fm);
	assert_int_equal(order[1].ends, 0);
	assert_int_equal(fm_term_expiry(&fm), NEVER);
	assert_int_equal(order[0].ends, 0);
	assert_int_equal(over, 0);
}

static void each_of_several_orders_ends_at_its_time(void **state)
{
	(void)state;
	begin(105);
	give(1, 104, 112);
	give(2, 104, 109);
	give(3, 104, 0);
	fm_term_due(&fm);
	assert_int_equal(fm_term_expiry(&fm), fm.now + 4 * SEC);
	fm.now += 4 * SEC;
	fm_term_due(&fm);
	assert_int_equal(over, 4);
	fm.now += 3 * SEC;
	fm_term_due(&fm);
	assert_int_equal(over, 6);
	assert_int_equal(fm_term_expiry(&fm), NEVER);
	assert_int_equal(order[0].node, 3);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(end_of_order_follows_from_its_term_and_the_time_of_day),
		cmocka_unit_test(order_without_knowledge_of_time_lasts_whole_term),
		cmocka_unit_test(time_since_clock_was_read_counts),
		cmocka_unit_test(orders_without_limit_and_before_first_table_stay),
		cmocka_unit_test(each_of_several_orders_ends_at_its_time),
	};

	return cmocka_run_group_tests_name("fm_terms", all, NULL, NULL);
}
