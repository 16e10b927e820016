// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node orders its NIC to obey a root before it does anything by that root's order, and joins no
 * root of a former epoch. Otherwise a manager that begins anew, or one that missed a takeover,
 * could bring its NIC under a root that another has replaced.
 */
#include <errno.h>
#include <stdio.h>

#include "stage_member.h"

#define REPORT "1 < report 1.0 of 3 term 126"

static void with_nic_of(uint64_t epoch, uint64_t guid)
{
	node_1();
	s.dev.root_epoch = epoch;
	s.dev.root_guid = guid;
	s.roots = true;
}

/* Gives the node table 1, and lets both children report it. */
static void table_1(void)
{
	table(1);
	reports(52, 2, 1, 0);
	reports(53, 3, 1, 0);
}

static void nic_obeys_root_before_place_and_rows(void **state)
{
	(void)state;
	with_nic_of(0, 0);
	joins();
	s.slow = true;
	table_1();
	stage_did_some(&s, "root 100 of 126\n");
	assert_int_not_equal(s.under_way, 0);
	stage_end_of(&s);
	stage_did(&s, "place 4x1 at 1,0\n");
	stage_end_of(&s);
	stage_did(&s, "rows 1: 4\n");
	stage_end_of(&s);
	stage_end_of(&s);
	stage_did_some(&s, REPORT);
	step(1, 1, FM_STEP_RESUME);
	stage_did_some(&s, "release 1\n");
	stage_end(&s);
}

/*
 * A manager reports once in each life which root its NIC obeys, also if the NIC obeyed that root in
 * a former life of the manager, for its HELLO named no root yet.
 */
static void manager_orders_nic_to_obey_root_once_in_each_life(void **state)
{
	(void)state;
	with_nic_of(TERM, NIC);
	joins();
	table_1();
	assert_int_equal(stage_count(&s, "root 100 of 126\n"), 1);
	stage_did_some(&s, REPORT);
	table(2);
	stage_did_no(&s, "root ");
	stage_end(&s);
}

static void hello_names_root_that_nic_obeys(void **state)
{
	struct fm_init i;

	(void)state;
	with_nic_of(TERM - 1, 0xabc);
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	stage_receive(&s, 2, &i);
	stage_up(&s, 1);
	stage_did_some(&s, " obeys abc of 125");
	stage_welcome(&s, 1, TERM, "");
	table(1);
	stage_did_some(&s, "rows 1");
	stage_down(&s, 1);
	stage_run(&s, 2000);
	stage_up(&s, 2);
	stage_did_some(&s, " obeys 100 of 126");
	stage_end(&s);
}

/* The NIC refuses to obey the root: nothing is done by order of that root, until it obeys. */
static void nothing_is_done_while_nic_does_not_obey_root(void **state)
{
	(void)state;
	with_nic_of(0, 0);
	joins();
	s.err.root = -ESTALE;
	table_1();
	assert_int_equal(stage_count(&s, "place"), 0);
	assert_int_equal(stage_count(&s, "rows"), 0);
	/* Only what its children have done is reported. */
	stage_did_no(&s, REPORT);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "nic");
	assert_string_equal(fm_problem(s.fm, 0)->text,
			    "the NIC does not obey the root: Stale file handle");
	s.err.root = 0;
	step(1, 0, FM_STEP_APPLY);
	assert_int_equal(stage_count(&s, "root 100 of 126\n"), 1);
	stage_did_some(&s, "rows 1");
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/* The node loses its root and says HELLO once more. */
static void sends_hello_again(int was, int now)
{
	stage_down(&s, was);
	stage_wait(&s, "connect");
	assert_int_equal(s.next_conn, now + 1);
	stage_up(&s, now);
}

/* The NIC does not answer in time, so it may obey either root: HELLO names the former, too. */
static void hello_names_both_roots_after_timeout_of_nic(void **state)
{
	struct fm_msg m;

	(void)state;
	with_nic_of(TERM - 1, 0xabc);
	joins();
	s.err.root = -ETIMEDOUT;
	table(1);
	sends_hello_again(1, 2);
	stage_did_some(&s, " obeys abc of 125 or 100 of 126");
	/* The NIC's answer that it refuses reports nothing more. */
	s.err.root = -ESTALE;
	stage_welcome(&s, 2, TERM, "");
	m = stage_table(&s, 2, entry);
	stage_msg(&s, 2, &m);
	sends_hello_again(2, 3);
	stage_did_some(&s, " obeys abc of 125 or 100 of 126");
	s.err.root = 0;
	stage_welcome(&s, 3, TERM, "");
	m = stage_table(&s, 3, entry);
	stage_msg(&s, 3, &m);
	sends_hello_again(3, 4);
	stage_did_some(&s, " obeys 100 of 126 table 3");
	stage_end(&s);
}

/* A node is not a member under a root that its NIC may not obey. */
static void refuses(uint64_t epoch, uint64_t guid, uint64_t welcome, const char *text)
{
	struct fm_init i;

	with_nic_of(epoch, guid);
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	stage_receive(&s, 2, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, welcome, "");
	assert_string_equal(fm_problem(s.fm, 0)->kind, "root");
	assert_string_equal(fm_problem(s.fm, 0)->text, text);
	stage_forget(&s);
	table(1);
	stage_did_nothing(&s);
	/* The problem ends when the root is of an epoch that the NIC may obey. */
	stage_welcome(&s, 1, epoch + 1024, "");
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

static void former_root_is_refused_by_nic(void **state)
{
	(void)state;
	refuses(TERM, NIC, TERM - 1, "root 0000000000000100 is of epoch 125; the NIC obeys "
		"0000000000000100 of 126, and later ones up to 1150");
	refuses(TERM, 0xabc, TERM, "root 0000000000000100 is of epoch 126; the NIC obeys "
		"0000000000000abc of 126, and later ones up to 1150");
}

/*
 * The NIC is not told to obey an epoch far above, which only a mistake or a lie can name: it would
 * obey no root after that.
 */
static void root_of_epoch_far_above_is_refused_by_nic(void **state)
{
	(void)state;
	refuses(TERM, NIC, TERM + 1025, "root 0000000000000100 is of epoch 1151; the NIC obeys "
		"0000000000000100 of 126, and later ones up to 1150");
	/* A NIC that obeyed none yet cannot know. */
	with_nic_of(0, 0);
	joins();
	stage_welcome(&s, 1, 1 << 20, "");
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/* A NIC that lost its memory obeys no root, but its manager knows the epoch of a kept table. */
static void member_refuses_epoch_far_above_that_of_kept_table(void **state)
{
	struct fm_msg kept;
	struct fm_init i;

	(void)state;
	with_nic_of(0, 0);
	kept = stage_table(&s, 7, entry);
	kept.table.term = TERM;
	s.cfg.kept = &kept.table;
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	i.epoch = TERM + 1025;
	stage_receive(&s, 2, &i);
	assert_string_equal(fm_problem(s.fm, 0)->text,
			    "port 2: node 'n0' names root 'n0' (0,0) of epoch 1151; this node "
			    "knows 126, and accepts no epoch above 1150");
	i.epoch = TERM + 1024;
	stage_receive(&s, 2, &i);
	assert_null(fm_problem(s.fm, 0));
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM + 1025, "");
	assert_string_equal(fm_problem(s.fm, 0)->text,
			    "root 'n0' (0,0) is of epoch 1151; the NIC obeys "
			    "none of 0, and later ones up to 1150");
	stage_welcome(&s, 1, TERM + 1024, "");
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/* An Init that names a root of an epoch far above is ignored: no row changes. */
static void init_of_epoch_far_above_changes_no_row(void **state)
{
	struct fm_init i;

	(void)state;
	with_nic_of(TERM, NIC);
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	i.epoch = TERM + 1025;
	strcpy(i.fabric, "fob");
	stage_forget(&s);
	s.deaf = "log ";
	stage_receive(&s, 2, &i);
	stage_did_nothing(&s);
	assert_string_equal(fm_problem(s.fm, 0)->text,
			    "port 2: node 'n0' names root 0000000000000100 of epoch 1151; this "
			    "node knows 126, and accepts no epoch above 1150");
	i = stage_neighbour(&s, 2);
	i.epoch = TERM + 1024;
	stage_receive(&s, 2, &i);
	assert_int_equal(stage_count(&s, "connect"), 1);
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/* A root goes on in a later epoch: its orders are of that epoch, also within a step. */
static void orders_of_root_in_later_epoch_are_obeyed(void **state)
{
	struct fm_msg m;

	(void)state;
	with_nic_of(0, 0);
	joins();
	table_1();
	stage_welcome(&s, 1, TERM + 1, "");
	m = stage_table(&s, 2, entry);
	m.table.term = TERM + 1;
	stage_forget(&s);
	stage_msg(&s, 1, &m);
	assert_int_equal(stage_count(&s, "root 100 of 127\n"), 1);
	stage_did_some(&s, "rows 2");
	/* Messages of the former one that are still under way are old. */
	table(3);
	stage_did_nothing(&s);
	stage_end(&s);
}

/*
 * Two roots made tables of one number, with the same rows: the former one hung before it sent more.
 * The NIC gets the later table, too, because it reports the epoch of its rows to the next claim.
 */
static void nic_gets_same_rows_again_from_later_root(void **state)
{
	struct fm_msg m;

	(void)state;
	with_nic_of(0, 0);
	joins();
	table_1();
	stage_did_some(&s, "rows 1");
	stage_welcome(&s, 1, TERM + 1, "");
	m = stage_table(&s, 1, entry);
	m.table.term = TERM + 1;
	stage_forget(&s);
	stage_msg(&s, 1, &m);
	assert_int_equal(stage_count(&s, "root 100 of 127\n"), 1);
	stage_did_some(&s, "rows 1");
	stage_forget(&s);
	stage_msg(&s, 1, &m);
	stage_did_no(&s, "rows 1");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(nic_obeys_root_before_place_and_rows),
		cmocka_unit_test(manager_orders_nic_to_obey_root_once_in_each_life),
		cmocka_unit_test(hello_names_root_that_nic_obeys),
		cmocka_unit_test(nothing_is_done_while_nic_does_not_obey_root),
		cmocka_unit_test(hello_names_both_roots_after_timeout_of_nic),
		cmocka_unit_test(former_root_is_refused_by_nic),
		cmocka_unit_test(root_of_epoch_far_above_is_refused_by_nic),
		cmocka_unit_test(member_refuses_epoch_far_above_that_of_kept_table),
		cmocka_unit_test(init_of_epoch_far_above_changes_no_row),
		cmocka_unit_test(orders_of_root_in_later_epoch_are_obeyed),
		cmocka_unit_test(nic_gets_same_rows_again_from_later_root),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
