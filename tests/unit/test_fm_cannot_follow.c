// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that report, or whose parent reports, that they cannot follow a version: when the root may
 * do without them, and for how long it refuses them.
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/fm/node/machine.h"
#include "stage_root.h"

/* --- nodes that cannot follow -------------------------------------------------------- */

static struct fm_failed reports_failed(uint32_t node)
{
	return (struct fm_failed) { .guid = NIC + node, .epoch = 1, .version = fm_version(s.fm) };
}

static void failed(struct fm_failed f)
{
	struct fm_msg m = { .type = FM_MSG_FAILED, .failed = f };

	stage_msg(&s, 101, &m);
}

/*
 * The NIC of a node fails, with an error or without an answer: the node is silent at once, but
 * stays connected.
 */
static void node_with_failed_nic_is_silent_and_connected(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct fm_failed f;

		ring();
		f = reports_failed(2);
		f.err = k ? EIO : 0;
		failed(f);
		assert_non_null(fm_problem(s.fm, 0));
		assert_string_equal(fm_problem(s.fm, 0)->kind, "node");
		assert_string_equal(fm_problem(s.fm, 0)->text,
				    k ?	"node 2,0 ('n2') is silent: it cannot follow version 1: "
					"its NIC says Input/output error, "
					"and works on with the rows that it has" :
					"node 2,0 ('n2') is silent: it cannot follow version 1: "
					"its NIC does not answer, "
					"and works on with the rows that it has");
		stage_run_ns(&s, s.now + MS);
		assert_int_equal(stage_count(&s, "version 2: node 'n2' is silent\n"), 1);
		assert_int_equal(stage_count(&s, "close"), 0);
		assert_int_equal(stage_count(&s, "drop"), 0);
		assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_SILENT);
		/* Said again, of the next version, it changes nothing. */
		stage_forget(&s);
		f.version = fm_version(s.fm);
		f.err = ENOMEM;
		failed(f);
		assert_null(strstr(fm_problem(s.fm, 0)->text, "memory"));
		assert_int_equal(stage_count(&s, "log error"), 0);
		stage_end(&s);
	}
}

/* FAILED is ignored if it is of another epoch or version, or names the root or a stranger. */
static void late_or_foreign_failed_message_is_ignored(void **state)
{
	struct fm_failed f;

	(void)state;
	ring();
	f = reports_failed(2);
	f.epoch = 2;
	failed(f);
	f = reports_failed(2);
	f.version++;
	failed(f);
	f.version -= 2;
	failed(f);
	failed(reports_failed(0));
	failed(reports_failed(9));
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(fm_version(s.fm), 1);
	assert_null(fm_problem(s.fm, 0));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(fm_node(s.fm, i)->state, FM_NODE_UP);
	/* Node 1 is a node as any other. */
	failed(reports_failed(1));
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(fm_node(s.fm, 1)->state, FM_NODE_SILENT);
	stage_end(&s);
}

/* Return: true if a problem of that kind stands. */
static bool stands(const char *kind)
{
	for (unsigned int i = 0; fm_problem(s.fm, i); i++)
		if (!strcmp(fm_problem(s.fm, i)->kind, kind))
			return true;
	return false;
}

/*
 * All nodes have reported: a report of a parent that one has not, of whichever round, is late, and
 * ignored.
 */
static void late_report_of_missing_node_is_ignored(void **state)
{
	(void)state;
	ring();
	for (uint32_t round = 0; round < 10; round++) {
		struct fm_failed f = reports_failed(3);

		f.by = NIC + 2;
		f.round = round;
		failed(f);
	}
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_UP);
	assert_int_equal(fm_version(s.fm), 1);
	stage_end(&s);
}

/* --- without more than half of the nodes ---------------------------------------------- */

static void ring_of_8(void)
{
	root("8x1");
	for (uint32_t i = 1; i < 8; i++)
		join(i);
	settle(8);
}

static void live(unsigned int first, unsigned int last, uint64_t ms)
{
	for (uint64_t k = 0; k < ms; k += 100) {
		stage_run_ns(&s, s.now + 100 * MS);
		for (unsigned int i = first; i <= last; i++)
			stage_send(&s, 100 + (int)i, FM_MSG_PING);
	}
}

/* The root alone may not go on without the two other nodes, of which one was away first. */
static void root_alone_of_three_may_not_go_on(void **state)
{
	(void)state;
	root("3x1");
	join(1);
	join(2);
	settle(3);
	stage_run_ns(&s, s.now + 100 * MS);
	stage_down(&s, 101);
	stage_run_ns(&s, s.now + MS);
	stage_down(&s, 102);
	stage_run_ns(&s, s.now + 2990 * MS);
	assert_null(fm_problem(s.fm, 0));
	stage_run_ns(&s, s.now + 110 * MS);
	assert_int_equal(fm_node(s.fm, 1)->state, FM_NODE_UP);
	assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_UP);
	assert_true(stands("quorum"));
	assert_false(stands("node"));
	stage_end(&s);
}

/*
 * The root and two others of eight nodes remain: the lack of a quorum is reported when the five
 * would be silent, not before, also if one of them is silent already. It ends when they come back.
 */
static void three_of_eight_report_lack_of_quorum_in_time(void **state)
{
	(void)state;
	for (unsigned int silent = 0; silent < 2; silent++) {
		ring_of_8();
		stage_run_ns(&s, s.now + 100 * MS);
		if (silent) {
			stage_down(&s, 107);
			live(1, 6, 3100);
			settle(7);
			assert_int_equal(fm_node(s.fm, 7)->state, FM_NODE_SILENT);
		}
		for (int conn = 101; conn < 105; conn++)
			stage_down(&s, conn);
		if (!silent)
			stage_down(&s, 107);
		live(5, 6, 2900);
		assert_false(stands("quorum"));
		live(5, 6, 200);
		assert_true(stands("quorum"));
		for (uint32_t i = 1; i < 5; i++) {
			struct fm_msg m = hello(i);

			assert_int_equal(fm_node(s.fm, i)->state, FM_NODE_UP);
			m.hello.attach = 2;
			joins(&m);
		}
		live(1, 6, 200);
		assert_false(stands("quorum"));
		stage_end(&s);
	}
}

static void rests(uint64_t ns)
{
	for (uint64_t end = s.now + ns; s.now < end;) {
		uint64_t left = end - s.now;

		stage_run_ns(&s, s.now + (left < 400 * MS ? left : 400 * MS));
		for (uint32_t i = 1; i < 4; i++)
			stage_send(&s, 100 + (int)i, FM_MSG_PING);
		for (uint32_t round = 0; round < 40; round++) {
			reports(1, round);
			reports(2, round);
		}
	}
}

/*
 * The parent of node 3 reports that node 3 has not reported a new table. Return: the ms for which
 * node 3 may not join.
 */
static unsigned long long is_banned(void)
{
	static bool excluded;
	struct fm_msg m = { .type = FM_MSG_FAILED };
	unsigned long long version, passed, ms;
	const char *at;

	assert_int_equal(fm_exclude(s.fm, 1, 0, excluded = !excluded, START + s.now), 0);
	stage_run_ns(&s, s.now + 10 * MS);
	reports(1, 0);
	reports(2, 0);
	stage_forget(&s);
	m.failed = reports_failed(3);
	m.failed.by = NIC + 2;
	stage_msg(&s, 102, &m);
	assert_non_null(fm_problem(s.fm, 0));
	at = strstr(fm_problem(s.fm, 0)->text,
		    "node 3,0 ('n3') is silent: it cannot follow version");
	assert_non_null(at);
	assert_int_equal(sscanf(strstr(at, "version"), "version %llu: its manager "
				"(30.0.0.3:1) answers, but has not reported for %llu ms; it may "
				"join again after %llu ms",
				&version, &passed, &ms), 3);
	assert_int_equal(passed, 10);
	/* The connections of node 3 end, and so do its children's to it. */
	assert_int_equal(stage_count(&s, "close 103\n"), 1);
	return ms;
}

/* Return: the ms for which node 3 is refused, after which it joins. */
static unsigned long long refused_for(uint64_t attach)
{
	unsigned long long ms = is_banned();
	struct fm_msg h = hello(3);

	rests(100 * MS);
	h.hello.attach = attach;
	rests(ms * MS - 300 * MS);
	joins(&h);
	/* The refusal says when the node may join. */
	assert_int_equal(stage_count(&s, "103 < refuse it has not reported what it was asked for, "
					 "and may join again later (wait 200 ms)\n"), 1);
	rests(201 * MS);
	h.hello.attach = attach + 1;
	joins(&h);
	settle(4);
	settle(4);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_UP);
	return ms;
}

/*
 * Each ban of a node is twice as long as the one before, up to 20 times member_max, unless the node
 * has reported for longer than that.
 */
static void each_ban_is_twice_as_long(void **state)
{
	static const unsigned int ms[] = { 3000, 6000, 12000, 24000, 48000, 60000, 60000 };

	(void)state;
	ring();
	for (unsigned int i = 0; i < sizeof(ms) / sizeof(*ms); i++)
		assert_int_equal(refused_for(2 * i + 2), ms[i]);
	rests(59000 * MS);
	assert_int_equal(refused_for(50), 60000);
	rests(61000 * MS);
	assert_int_equal(refused_for(61), 3000);
	stage_end(&s);
}

/* A ban is of one life of the manager: after a restart it may join at once. */
static void ban_ends_with_restart_of_manager(void **state)
{
	struct fm_msg h;

	(void)state;
	for (unsigned int life = 0; life < 2; life++) {
		ring();
		is_banned();
		rests(100 * MS);
		h = hello(3);
		h.hello.attach = 2;
		h.hello.epoch += life;
		joins(&h);
		assert_int_equal(stage_count(&s, "103 < refuse it has not reported"), !life);
		assert_int_equal(stage_count(&s, "103 < welcome"), life);
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(node_with_failed_nic_is_silent_and_connected),
		cmocka_unit_test(late_or_foreign_failed_message_is_ignored),
		cmocka_unit_test(late_report_of_missing_node_is_ignored),
		cmocka_unit_test(root_alone_of_three_may_not_go_on),
		cmocka_unit_test(three_of_eight_report_lack_of_quorum_in_time),
		cmocka_unit_test(each_ban_is_twice_as_long),
		cmocka_unit_test(ban_ends_with_restart_of_manager),
	};

	return cmocka_run_group_tests_name("fm_cannot_follow", all, NULL, NULL);
}
