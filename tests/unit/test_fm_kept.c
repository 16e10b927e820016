// SPDX-License-Identifier: GPL-2.0-only
/*
 * A candidate's reports about its disk, and how the root counts them: a decision does not count as
 * kept while a later table on another disk could undo it.
 */
#include <stdio.h>

#include "daemon/fm/clock.h"
#include "daemon/fm/node/keep.h"
#include "stage_member.h"

/* --- a candidate ------------------------------------------------------------------------ */

/* Node 1 of a ring of four, and a candidate, has joined. @keeps: it has a disk. */
static void candidate_that(bool keeps)
{
	node_1();
	s.cfg.takeover = 1000 * MS;
	s.cfg.keeps = keeps;
	s.deaf = "init ping pong report rows place release lost log ";
	joins();
}

static void candidate(void)
{
	candidate_that(true);
}

/* Table @version comes into force; @admin is excluded at node 3. */
static void comes(uint64_t version, uint16_t admin)
{
	struct fm_msg t = stage_table(&s, version, entry);

	entry[3].admin = admin;
	stage_msg(&s, 1, &t);
	reports(52, 2, version, 0);
	reports(53, 3, version, 0);
	step(version, 1, FM_STEP_RESUME);
	stage_run_ns(&s, s.now + MS);
}

static void disk(uint64_t version, bool ok)
{
	fm_kept(s.fm, TERM, version, ok, START + s.now);
	stage_run_ns(&s, s.now + MS);
}

static bool is_column_empty(void)
{
	bool nothing = !stage_count(&s, "kept") && !stage_count(&s, "keep version");

	stage_forget(&s);
	return nothing;
}

static void candidate_reports_table_when_it_is_on_disk(void **state)
{
	(void)state;
	candidate();
	comes(1, 0);
	assert_int_equal(stage_count(&s, "kept"), 0);
	stage_did_some(&s, "keep version 1 of epoch 126\n");
	disk(1, true);
	stage_did_some(&s, "1 < kept 101 version 1 term 126\n");
	/* A table with the same contents is not written again, and is reported as kept at once. */
	comes(2, 0);
	assert_int_equal(stage_count(&s, "keep version"), 0);
	stage_did_some(&s, "1 < kept 101 version 2 term 126\n");
	comes(3, 1);
	assert_int_equal(stage_count(&s, "kept"), 0);
	stage_did_some(&s, "keep version 3 of epoch 126\n");
	/* While the disk is slow, another table with the same in it comes: then it is that one. */
	comes(4, 1);
	assert_true(is_column_empty());
	disk(3, true);
	stage_did_some(&s, "1 < kept 101 version 4 term 126\n");
	stage_end(&s);
}

/*
 * The number of a kept table bounds those that came since: so now and then a table is written
 * though nothing in it is new.
 */
static void table_is_kept_again_after_many_versions(void **state)
{
	uint64_t version = 1;

	(void)state;
	candidate();
	comes(version, 0);
	disk(version, true);
	stage_forget(&s);
	while (version < FM_KEEP_EVERY) {
		comes(++version, 0);
		assert_int_equal(stage_count(&s, "keep version"), 0);
	}
	stage_forget(&s);
	comes(++version, 0);
	assert_int_equal(stage_count(&s, "keep version 65 of epoch 126"), 1);
	assert_int_equal(stage_count(&s, "kept"), 0);
	disk(version, true);
	stage_did_some(&s, "1 < kept 101 version 65 term 126\n");
	comes(++version, 0);
	assert_int_equal(stage_count(&s, "keep version"), 0);
	stage_end(&s);
}

/*
 * Another candidate may have kept a table that this one has not seen, with later decisions. So this
 * one does not name a later table than it has on disk.
 */
static void candidate_keeps_table_after_gap(void **state)
{
	(void)state;
	candidate();
	comes(1, 1);
	disk(1, true);
	stage_forget(&s);
	comes(3, 1);
	assert_int_equal(stage_count(&s, "kept"), 0);
	stage_did_some(&s, "keep version 3 of epoch 126\n");
	/* The result for an earlier table does not matter. */
	disk(1, true);
	assert_true(is_column_empty());
	disk(3, true);
	stage_did_some(&s, "1 < kept 101 version 3 term 126\n");
	stage_end(&s);
}

static void failed_disk_is_reported_until_it_works(void **state)
{
	(void)state;
	candidate();
	comes(1, 0);
	stage_forget(&s);
	disk(1, false);
	stage_did_some(&s, "1 < kept 101 version 1 term 126 failed\n");
	comes(2, 0);
	stage_did_some(&s, "1 < kept 101 version 2 term 126 failed\n");
	disk(1, true);	/* the write was tried again */
	stage_did_some(&s, "1 < kept 101 version 2 term 126\n");
	stage_end(&s);
}

/* Lets time pass, in which the root lives. */
static void waits(uint64_t ms)
{
	for (uint64_t until = s.now + ms * MS; s.now < until;) {
		stage_send(&s, 1, FM_MSG_PONG);
		stage_run_ns(&s, earlier(until, s.now + 100 * MS));
	}
}

/*
 * The host reports nothing about a table for 40 s: it is given again, because there may have been
 * no memory for it.
 */
static void unanswered_table_is_given_to_host_again(void **state)
{
	(void)state;
	candidate();
	comes(1, 0);
	stage_forget(&s);
	waits(39990);
	assert_true(is_column_empty());
	waits(20);
	stage_did_some(&s, "keep version 1 of epoch 126\n");
	disk(1, true);
	stage_did_some(&s, "1 < kept 101 version 1 term 126\n");
	waits(50000);
	assert_int_equal(stage_count(&s, "keep version"), 0);
	/* The host tries again itself if its disk fails. */
	comes(2, 1);
	disk(2, false);
	stage_forget(&s);
	waits(50000);
	assert_int_equal(stage_count(&s, "keep version"), 0);
	stage_end(&s);
	/* Without a disk there is no answer. */
	candidate_that(false);
	comes(1, 0);
	stage_forget(&s);
	waits(50000);
	assert_int_equal(stage_count(&s, "keep version"), 0);
	stage_end(&s);
}

/*
 * KEPT is repeated with keep-alives, because it may be lost further up; a KEPT from below is passed
 * on.
 */
static void kept_is_repeated_and_passed_on_from_below(void **state)
{
	struct fm_msg below = { .type = FM_MSG_KEPT,
				.kept = { .guid = NIC + 3, .version = 1, .term = TERM } };

	(void)state;
	candidate();
	comes(1, 0);
	disk(1, true);
	stage_forget(&s);
	stage_run_ns(&s, s.now + s.cfg.keepalive + MS);
	assert_true(stage_count(&s, "1 < kept 101 version 1") >= 1);
	stage_forget(&s);
	stage_msg(&s, 53, &below);
	stage_did_some(&s, "1 < kept 103 version 1 term 126\n");
	below.kept.guid = NIC + 1;	/* a circle of parents */
	stage_msg(&s, 53, &below);
	stage_did_some(&s, "close 53\n");
	stage_end(&s);
}

static void node_that_is_no_candidate_reports_no_kept_table(void **state)
{
	(void)state;
	node_1();
	s.cfg.takeover = 1000 * MS;
	s.cfg.priority = 0;
	s.deaf = "init ping pong report rows place release lost log ";
	joins();
	comes(1, 0);
	assert_true(is_column_empty());
	disk(1, true);
	assert_true(is_column_empty());
	stage_run_ns(&s, s.now + s.cfg.keepalive + MS);
	assert_true(is_column_empty());
	stage_end(&s);
}

/* --- the root --------------------------------------------------------------------------- */

static void root_joins(uint32_t node, unsigned int priority, bool keeps)
{
	struct fm_msg m = stage_hello(&s, node);

	m.hello.priority = (uint16_t)priority;
	m.hello.keeps = keeps;
	stage_up(&s, 100 + (int)node);
	stage_msg(&s, 100 + (int)node, &m);
}

static void all_do(void)
{
	stage_run_ns(&s, s.now + 10 * MS);
	for (uint32_t round = 0; round < 6; round++) {
		for (uint32_t i = 1; i < 4; i++) {
			struct fm_msg m = stage_report(&s, i, fm_version(s.fm), round);

			stage_msg(&s, (int)i + 100, &m);
		}
		stage_run_ns(&s, s.now + MS);
	}
}

/*
 * Begins with the root of a ring of four. Nodes 1 and 2 are candidates, 2 without a disk for
 * tables; 3 is none.
 */
static void root(void)
{
	struct fm_row row;

	stage_init(&s, "4x1", 0);
	s.cfg.takeover = 1000 * MS;
	s.cfg.keeps = true;
	s.deaf = "init ping pong report rows place release lost log ";
	row = stage_row(&s, 0);
	for (unsigned int p = 0; p < row.nports; p++)
		if (row.port[p].state == FM_PORT_UP)
			stage_link_up(&s, p, 1);
	stage_start(&s);
	root_joins(1, 100, true);
	root_joins(2, FM_PRIORITY_AUTO, false);
	root_joins(3, 0, true);
	all_do();
	assert_true(fm_in_force(s.fm, 1));
}

static void counts(uint32_t of, uint32_t keep, uint32_t have, uint32_t wait)
{
	struct fm_kept_count k;

	assert_true(fm_kept_count(s.fm, &k));
	assert_int_equal(k.of, of);
	assert_int_equal(k.keep, keep);
	assert_int_equal(k.have, have);
	assert_int_equal(k.wait, wait);
}

static void kept(uint32_t node, uint64_t version, bool failed)
{
	struct fm_msg m = { .type = FM_MSG_KEPT, .kept = { .guid = NIC + node, .version = version,
							   .term = fm_epoch(s.fm),
							   .failed = failed } };

	stage_msg(&s, 100 + (int)node, &m);
}

static const char *disk_of(uint32_t node)
{
	struct fm_candidate_status c;
	uint32_t at = 0;

	while (fm_candidate(s.fm, &at, &c))
		if (c.node == node)
			return fm_disk_name(c.disk);
	return NULL;
}

static void root_counts_candidates_that_keep_table(void **state)
{
	(void)state;
	root();
	counts(3, 2, 0, 2);
	fm_kept(s.fm, fm_epoch(s.fm), 1, true, START + s.now);
	counts(3, 2, 1, 1);
	kept(3, 1, false);	/* node 3 is not a candidate */
	kept(9, 1, false);
	counts(3, 2, 1, 1);
	kept(1, 1, true);
	counts(3, 2, 1, 0);
	kept(1, 1, false);
	counts(3, 2, 2, 0);
	/* The candidates do not have the table that is in force now. */
	assert_int_equal(fm_exclude(s.fm, 2, 0, true, START + s.now), 0);
	all_do();
	assert_true(fm_in_force(s.fm, 2));
	counts(3, 2, 0, 2);
	kept(1, 1, false);
	counts(3, 2, 0, 2);
	kept(1, 2, false);
	counts(3, 2, 1, 1);
	fm_kept(s.fm, fm_epoch(s.fm), 2, true, START + s.now);
	counts(3, 2, 2, 0);
	assert_string_equal(disk_of(1), "kept");
	assert_null(disk_of(3));	/* node 3 is not a candidate */
	assert_string_equal(disk_of(2), "none");
	/*
	 * A candidate that is away may be the only one that comes back: it counts, and no node
	 * waits for it.
	 */
	stage_down(&s, 101);
	counts(3, 2, 2, 0);
	assert_int_equal(fm_exclude(s.fm, 2, 1, true, START + s.now), 0);
	stage_run_ns(&s, s.now + MS);
	counts(3, 2, 0, 1);
	assert_string_equal(disk_of(1), "behind");
	stage_end(&s);
}

/* A candidate that is away and out of service does not count. */
static void absent_excluded_candidate_does_not_count(void **state)
{
	(void)state;
	root();
	assert_int_equal(fm_exclude(s.fm, 1, -1, true, START + s.now), 0);
	all_do();
	counts(3, 2, 0, 2);	/* the candidate is connected */
	stage_down(&s, 101);
	counts(2, 1, 0, 1);
	assert_int_equal(fm_exclude(s.fm, 1, 0, false, START + s.now), 0);
	counts(3, 2, 0, 1);
	stage_end(&s);
}

static void node_that_is_not_root_counts_no_candidates(void **state)
{
	struct fm_kept_count k;

	(void)state;
	candidate();
	assert_false(fm_kept_count(s.fm, &k));
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(candidate_reports_table_when_it_is_on_disk),
		cmocka_unit_test(table_is_kept_again_after_many_versions),
		cmocka_unit_test(candidate_keeps_table_after_gap),
		cmocka_unit_test(failed_disk_is_reported_until_it_works),
		cmocka_unit_test(unanswered_table_is_given_to_host_again),
		cmocka_unit_test(kept_is_repeated_and_passed_on_from_below),
		cmocka_unit_test(node_that_is_no_candidate_reports_no_kept_table),
		cmocka_unit_test(root_counts_candidates_that_keep_table),
		cmocka_unit_test(absent_excluded_candidate_does_not_count),
		cmocka_unit_test(node_that_is_not_root_counts_no_candidates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
