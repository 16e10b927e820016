// SPDX-License-Identifier: GPL-2.0-only
/*
 * A root hands over to a node that the administrator names: to which candidates it can, and when
 * it does not.
 */
#include <errno.h>

#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"
#include "stage_root.h"

/* Begins with a ring whose node 3 is not a candidate. */
static void candidates(void)
{
	stage_init(&s, "4x1", 0);
	s.cfg.takeover = 400 * MS;
	s.deaf = "init ping pong report lost rows place release ";
	stage_link_up(&s, 0, 1);
	stage_link_up(&s, 2, 1);
	stage_start(&s);
	for (uint32_t i = 1; i < 4; i++) {
		struct fm_msg m = hello(i);

		m.hello.priority = i == 3 ? 0 : 100;
		joins(&m);
	}
	assert_int_equal(fm_root_move(s.fm, 1, START + s.now), -EAGAIN);
	settle(4);
	stage_forget(&s);
}

/*
 * Status lists the nodes to which the root can hand over, and the priorities by which they would
 * take its place.
 */
static void status_lists_candidates_with_priority(void **state)
{
	struct fm_candidate_status c;
	uint32_t i = 0;

	(void)state;
	candidates();
	stage_down(&s, 102);
	for (uint32_t k = 0; k < 3; k++) {
		assert_true(fm_candidate(s.fm, &i, &c));
		assert_int_equal(c.node, k);
		assert_int_equal(c.priority, k ? 100 : FM_PRIORITY_MAX);
		assert_int_equal(c.answers, k != 2);
		assert_int_equal(c.name[1], '0' + k);
	}
	assert_false(fm_candidate(s.fm, &i, &c));
	stage_end(&s);
}

static int move(uint32_t node)
{
	return fm_root_move(s.fm, node, START + s.now);
}

static void ready_in(uint32_t node, uint64_t term)
{
	struct fm_msg m = { .type = FM_MSG_LEAD };

	m.lead.term = term;
	m.lead.guid = NIC + node;
	stage_msg(&s, 100 + (int)node, &m);
}

static void ready(uint32_t node)
{
	ready_in(node, fm_epoch(s.fm));
}

/* The administrator gets the right error for each node to which the root cannot hand over. */
static void each_impossible_move_gets_its_error(void **state)
{
	(void)state;
	candidates();
	assert_int_equal(move(4), -EINVAL);
	assert_int_equal(move(3), -EACCES);
	assert_int_equal(move(0), 0);
	stage_run_ns(&s, s.now + 100 * MS);
	stage_did_no(&s, "lead");
	stage_down(&s, 102);
	assert_int_equal(move(2), -EHOSTUNREACH);
	assert_int_equal(fm_exclude(s.fm, 1, 0, true, START + s.now), 0);
	assert_int_equal(move(1), -EAGAIN);
	/* the end of this root would change nothing */
	assert_int_equal(move(2), -EHOSTUNREACH);
	assert_int_equal(move(3), -EACCES);
	stage_end(&s);
	stage_init(&s, "4x1", 1);
	stage_start(&s);
	assert_int_equal(move(1), -EPERM);
	stage_end(&s);
}

/* The named node is asked first; when it is ready, this node ends as root. */
static void root_ends_when_named_node_is_ready(void **state)
{
	(void)state;
	candidates();
	assert_int_equal(move(1), 0);
	stage_run_ns(&s, s.now + 30 * MS);
	assert_int_equal(stage_count(&s, "101 < lead\n"), 1);
	assert_true(fm_is_root(s.fm));
	ready(2);
	assert_true(fm_is_root(s.fm));
	ready_in(1, fm_epoch(s.fm) - 1);	/* an answer to the root before */
	assert_true(fm_is_root(s.fm));
	ready(1);
	assert_int_equal(stage_count(&s, "101 < lead\n"), 2);
	assert_int_equal(stage_count(&s, "log info root: this node hands over to 'n1'\n"), 1);
	assert_false(fm_is_root(s.fm));
	stage_end(&s);
}

/*
 * A recovery begins after the order was accepted, before that node is asked or while it answers:
 * the root hands over once the recovery is over.
 */
static void root_hands_over_after_recovery(void **state)
{
	for (unsigned int asked = 0; asked < 2; asked++) {
		(void)state;
		candidates();
		assert_int_equal(move(1), 0);
		stage_run_ns(&s, s.now + (asked ? 30 : 1) * MS);
		assert_int_equal(stage_count(&s, "101 < lead\n"), asked);
		assert_int_equal(fm_exclude(s.fm, 2, 0, true, START + s.now), 0);
		if (asked)
			ready(1);
		stage_run_ns(&s, s.now + 100 * MS);
		assert_int_equal(stage_count(&s, "101 < lead\n"), asked);
		assert_true(fm_is_root(s.fm));
		settle(4);
		stage_run_ns(&s, s.now + 30 * MS);
		assert_int_equal(stage_count(&s, "101 < lead\n"), asked + 1);
		ready(1);
		assert_false(fm_is_root(s.fm));
		assert_int_equal(stage_count(&s, "log info root: this node hands over to 'n1'\n"), 1);
		stage_end(&s);
	}
}

/* A request waits for the end of a recovery, and also for the first table of a new root. */
static void root_is_busy_during_recovery_and_before_first_table(void **state)
{
	(void)state;
	candidates();
	assert_false(fm_root_busy(s.fm));
	assert_int_equal(fm_exclude(s.fm, 2, 0, true, START + s.now), 0);
	assert_true(fm_root_busy(s.fm));
	settle(4);
	assert_false(fm_root_busy(s.fm));
	s.fm->root->settled = false;
	assert_true(fm_root_busy(s.fm));
	s.fm->root->settled = true;
	stage_end(&s);
}

/* An order that the present root stays root cancels an order that waits. */
static void order_to_stay_root_cancels_move(void **state)
{
	(void)state;
	candidates();
	assert_int_equal(move(1), 0);
	assert_int_equal(fm_exclude(s.fm, 2, 0, true, START + s.now), 0);
	settle(4);
	assert_int_equal(move(0), 0);
	stage_run_ns(&s, s.now + 100 * MS);
	assert_int_equal(stage_count(&s, "101 < lead\n"), 0);
	assert_true(fm_is_root(s.fm));
	stage_end(&s);
}

/*
 * The chosen successor does not answer in ten times resend, or is gone, or no candidate, when a
 * recovery is over: the root stays root.
 */
static void root_stays_if_successor_does_not_answer(void **state)
{
	static const char *const why[] = {
		"it does not answer", "its manager is lost", "it is not a candidate any more",
	};
	char reported[160];

	for (unsigned int k = 0; k < 3; k++) {
		(void)state;
		candidates();
		assert_int_equal(move(1), 0);
		stage_run_ns(&s, s.now + 30 * MS);
		if (k) {
			assert_int_equal(fm_exclude(s.fm, 2, 0, true, START + s.now), 0);
			ready(1);
		}
		if (k == 1) {
			stage_down(&s, 101);
		} else if (k) {
			struct fm_msg m = hello(1);

			m.hello.root_epoch = fm_epoch(s.fm);
			m.hello.root_guid = NIC;
			m.hello.row.serial = 2;
			stage_msg(&s, 101, &m);
		}
		stage_run_ns(&s, s.now + (k ? 30 : 1000) * MS);
		snprintf(reported, sizeof(reported),
			 "log warning root: this node remains root and does not hand over to 'n1': "
			 "%s\n", why[k]);
		stage_did_some(&s, reported);
		assert_true(fm_is_root(s.fm));
		ready(1);
		assert_true(fm_is_root(s.fm));
		stage_end(&s);
	}
}

/*
 * One change follows another, so that the root is never at rest: after eight seconds it gives up.
 */
static void move_is_given_up_if_recovery_does_not_end(void **state)
{
	const char *reported = "log warning root: this node remains root and does not hand over to "
			   "'n1': a recovery does not end\n";
	uint64_t from;

	(void)state;
	candidates();
	from = s.now;
	assert_int_equal(move(1), 0);
	for (bool out = true; s.now < from + 7900 * MS; out = !out) {
		assert_int_equal(fm_exclude(s.fm, 2, 0, out, START + s.now), 0);
		stage_run_ns(&s, s.now + 50 * MS);
		for (uint32_t i = 1; i < 4; i++)
			reports(i, 0);
		assert_int_equal(stage_count(&s, "101 < lead\n"), 0);
		assert_int_equal(stage_count(&s, reported), 0);
		stage_forget(&s);
	}
	assert_int_equal(fm_exclude(s.fm, 2, 1, true, START + s.now), 0);
	stage_run_ns(&s, s.now + 200 * MS);
	assert_int_equal(stage_count(&s, reported), 1);
	assert_true(fm_is_root(s.fm));
	/* The hand-over can be ordered again. */
	settle(4);
	assert_int_equal(move(1), 0);
	stage_run_ns(&s, s.now + 30 * MS);
	assert_int_equal(stage_count(&s, "101 < lead\n"), 1);
	stage_end(&s);
}

static unsigned int problems(const char *text)
{
	const struct fm_problem *p;
	unsigned int n = 0;

	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		n += !strcmp(p->kind, "memory") && !strcmp(p->text, text);
	return n;
}

/*
 * A root that hands over ends the problems of its lack of memory as root, but not of its lack as a
 * candidate.
 */
static void handover_ends_only_memory_problems_of_root(void **state)
{
	(void)state;
	candidates();
	fm_problem_set(s.fm, "memory", 0, "for the shape");
	fm_problem_set(s.fm, "memory", 1, "for places");
	fm_problem_set(s.fm, "memory", 2, "for the disk");
	assert_int_equal(move(1), 0);
	stage_run_ns(&s, s.now + 30 * MS);
	ready(1);
	assert_false(fm_is_root(s.fm));
	assert_int_equal(problems("for the shape") + problems("for places"), 0);
	assert_int_equal(problems("for the disk"), 1);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(status_lists_candidates_with_priority),
		cmocka_unit_test(each_impossible_move_gets_its_error),
		cmocka_unit_test(root_ends_when_named_node_is_ready),
		cmocka_unit_test(root_hands_over_after_recovery),
		cmocka_unit_test(order_to_stay_root_cancels_move),
		cmocka_unit_test(root_is_busy_during_recovery_and_before_first_table),
		cmocka_unit_test(root_stays_if_successor_does_not_answer),
		cmocka_unit_test(move_is_given_up_if_recovery_does_not_end),
		cmocka_unit_test(handover_ends_only_memory_problems_of_root),
	};

	return cmocka_run_group_tests_name("fm_move", all, NULL, NULL);
}
