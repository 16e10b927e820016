// SPDX-License-Identifier: GPL-2.0-only
/*
 * The changes that delay the first table, by themselves: how long new nodes, rows and other reasons
 * delay it at most, to the nanosecond.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/unit/memory.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/news.h"

#define BEGAN 1000000
#define MEMBER 5000

static struct fm_root root;
static struct fm fm = { .root = &root, .cfg = { .member_max = MEMBER } };

static void begin(enum fm_stage stage)
{
	assert_true(fm_news_new(&root));
	root.stage = stage;
	fm.now = BEGAN;
	fm_news_begin(&fm);
	assert_int_equal(fm_news_last(&root), BEGAN);
	assert_int_equal(fm_news_newest(&root), BEGAN);
}

static void end(void)
{
	fm_news_free(&root);
	assert_int_equal(memory_blocks(), 0);
}

/* An event @after the start delays the table until @last. */
static void delays(void (*what)(struct fm *fm), uint64_t after, uint64_t last)
{
	fm.now = BEGAN + after;
	what(&fm);
	assert_int_equal(fm_news_last(&root), BEGAN + last);
}

/* Rows that change delay the table for 3 member_max after the last new node. */
static void changed_rows_delay_table_for_limited_time(void **state)
{
	(void)state;
	begin(FM_STAGE_LEADS);
	delays(fm_news_row, 7, 7);
	delays(fm_news_row, 3 * MEMBER, 3 * MEMBER);
	delays(fm_news_row, 3 * MEMBER + 1, 3 * MEMBER);
	assert_int_equal(fm_news_newest(&root), BEGAN);
	delays(fm_news_node, 4 * MEMBER, 4 * MEMBER);
	assert_int_equal(fm_news_newest(&root), BEGAN + 4 * MEMBER);
	delays(fm_news_row, 7 * MEMBER, 7 * MEMBER);
	delays(fm_news_row, 7 * MEMBER + 1, 7 * MEMBER);
	/* If it could not be made, it waits as if something had changed. */
	delays(fm_news_again, 30 * MEMBER, 30 * MEMBER);
	end();
}

/* New nodes delay the table for 20 member_max after the first of them, if the root leads. */
static void new_nodes_delay_table_for_limited_time(void **state)
{
	(void)state;
	for (enum fm_stage stage = FM_STAGE_ASKS; stage <= FM_STAGE_LEADS; stage++) {
		bool leads = stage == FM_STAGE_LEADS;

		begin(stage);
		delays(fm_news_node, MEMBER, MEMBER);
		delays(fm_news_node, 2 * MEMBER, 2 * MEMBER);
		delays(fm_news_node, 21 * MEMBER, 21 * MEMBER);
		delays(fm_news_node, 21 * MEMBER + 1, 21 * MEMBER + !leads);
		assert_int_equal(fm_news_newest(&root), BEGAN + 21 * MEMBER + 1);
		/* The next stage counts anew. */
		fm.now = BEGAN + 30 * MEMBER;
		fm_news_begin(&fm);
		assert_int_equal(fm_news_newest(&root), fm.now);
		delays(fm_news_node, 31 * MEMBER, 31 * MEMBER);
		delays(fm_news_node, 52 * MEMBER, leads ? 51 * MEMBER : 52 * MEMBER);
		end();
	}
}

/* An expected change delays the table until its time, and no further than 20 member_max. */
static void expected_change_delays_table_for_limited_time(void **state)
{
	(void)state;
	for (enum fm_stage stage = FM_STAGE_ASKS; stage <= FM_STAGE_LEADS; stage++) {
		bool leads = stage == FM_STAGE_LEADS;

		begin(stage);
		fm_news_wait(&fm, BEGAN + 20 * MEMBER);
		assert_int_equal(fm_news_last(&root), BEGAN + 20 * MEMBER);
		fm_news_wait(&fm, BEGAN + 9);	/* less than the table waits already */
		assert_int_equal(fm_news_last(&root), BEGAN + 20 * MEMBER);
		fm_news_wait(&fm, BEGAN + 20 * MEMBER + 1);
		assert_int_equal(fm_news_last(&root), BEGAN + 20 * MEMBER + !leads);
		/* The node is expected in the next stage, too. */
		fm.now = BEGAN + 1;
		fm_news_begin(&fm);
		assert_int_equal(fm_news_last(&root), BEGAN + 20 * MEMBER + !leads);
		end();
	}
}

static void news_without_memory_fail(void **state)
{
	(void)state;
	memory_fails_at(1);
	assert_false(fm_news_new(&root));
	assert_true(memory_failed());
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(changed_rows_delay_table_for_limited_time),
		cmocka_unit_test(new_nodes_delay_table_for_limited_time),
		cmocka_unit_test(expected_change_delays_table_for_limited_time),
		cmocka_unit_test(news_without_memory_fail),
	};

	return cmocka_run_group_tests_name("fm_news", all, NULL, NULL);
}
