// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node whose root leads it, and which hears of a later one: it leaves its own only for a root
 * that it reaches, and tries the others less and less often.
 */
#include "daemon/fm/clock.h"
#include "stage_choice.h"

#define ALSO (NIC + 0x30)	/* one more later root */

/* Runs for @ns, in which the root answers all pings. */
static void run_led(uint64_t ns)
{
	struct fm_msg pong = { .type = FM_MSG_PONG };

	for (uint64_t end = s.now + ns; s.now < end;) {
		run(earlier(100 * MS, end - s.now));
		stage_msg(&s, 1, &pong);
	}
	assert_true(follows(FOLLOWED) && !own_init().lost);
}

static bool has_problem(const char *part)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		if (strstr(p->text, part))
			return true;
	return false;
}

static bool is_reported(void)
{
	return has_problem("stays with its own");
}

/* Return: true if the Init of a later root makes the node connect. */
static bool connects(uint64_t root)
{
	int next = s.next_conn;

	receive_init(0, LEADS, root, TERM + 1);
	assert_true(follows(FOLLOWED) && !own_init().lost);
	return s.next_conn != next;
}

static void send_claim(uint64_t root, uint64_t epoch)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM, .claim = { .guid = root, .epoch = epoch } };

	stage_msg(&s, last_conn(), &m);
}

/* The root that this node has asked accepts it. */
static void accept_tried(uint64_t root)
{
	assert_false(follows(root));
	send_claim(root, TERM + 1);
	assert_true(follows(root));
}

static void reached_later_root_is_followed(void **state)
{
	char asks[40];

	(void)state;
	led();
	assert_true(connects(GREATER));
	assert_false(connects(GREATER));
	s.deaf = "ping log place rows release report lost init ";
	stage_forget(&s);
	stage_up(&s, last_conn());
	run(MS);
	snprintf(asks, sizeof(asks), "%d < hello join", last_conn());
	stage_did_some(&s, asks);
	/* It asks, and has its own root until the later one accepts it. */
	assert_true(follows(FOLLOWED) && !own_init().lost);
	accept_tried(GREATER);
	welcome(last_conn(), GREATER, TERM + 1, false, "");
	assert_false(own_init().lost);
	assert_false(is_reported());
	stage_end(&s);
}

/* The NIC obeys the later root already, which then answers WELCOME at once. */
static void welcome_of_later_root_is_enough(void **state)
{
	(void)state;
	led();
	assert_true(connects(GREATER));
	stage_up(&s, last_conn());
	assert_true(follows(FOLLOWED));
	welcome(last_conn(), GREATER, TERM + 1, false, "");
	assert_true(follows(GREATER) && !own_init().lost);
	stage_end(&s);
}

/* A root that began to ask again does not lead: the node stays, and tries it again soon. */
static void later_root_that_only_asks_now_is_not_followed(void **state)
{
	(void)state;
	for (unsigned int welcomes = 0; welcomes < 2; welcomes++) {
		led();
		assert_true(connects(GREATER));
		stage_up(&s, last_conn());
		if (welcomes)
			welcome(last_conn(), GREATER, TERM + 1, true, "");
		else
			send_claim(GREATER, 0);
		assert_true(follows(FOLLOWED) && !own_init().lost);
		assert_true(has_problem("does not lead any more"));
		assert_false(connects(GREATER));
		run_led(SEC / 2);
		assert_true(connects(GREATER));
		stage_end(&s);
	}
}

/*
 * A root that ends the connection before it answers, as one that asks all nodes again, is not
 * reported as out of reach.
 */
static void root_that_gives_no_answer_is_reported_as_such(void **state)
{
	(void)state;
	for (unsigned int reached = 0; reached < 2; reached++) {
		led();
		assert_true(connects(GREATER));
		if (reached)
			stage_up(&s, last_conn());
		stage_down(&s, last_conn());
		assert_true(follows(FOLLOWED) && !own_init().lost);
		assert_int_equal(has_problem("gets no answer from it at"), reached);
		assert_int_equal(has_problem("does not reach it at"), !reached);
		stage_end(&s);
	}
}

/* The later root fetches the tables of the part before it answers. */
static void tried_root_gets_table_that_it_fetches(void **state)
{
	struct fm_msg m = { .type = FM_MSG_FETCH, .fetch = { .former = true } };
	char sends[20];

	(void)state;
	led();
	assert_true(connects(GREATER));
	stage_up(&s, last_conn());
	stage_forget(&s);
	stage_msg(&s, last_conn(), &m);
	snprintf(sends, sizeof(sends), "%d < table", last_conn());
	assert_int_equal(stage_count(&s, sends), 1);
	assert_true(follows(FOLLOWED));
	stage_end(&s);
}

static void unreached_root_is_reported_and_tried_again(void **state)
{
	(void)state;
	led();
	for (unsigned int i = 0; i < 7; i++) {
		assert_true(connects(GREATER));
		stage_down(&s, last_conn());
		assert_true(is_reported());
		run_led(SEC / 2 - MS);
		assert_false(connects(GREATER));
		/* Both ports are silent until the node asks its neighbours. */
		receive_init(2, LEADS, FOLLOWED, TERM);
		run_led(MS / 2);
		s.deaf = "ping log hello row place rows release report lost ";
		stage_forget(&s);
		run_led(MS);
		stage_did_some(&s, "init 0:");
		s.deaf = "ping log hello row place rows release report lost init ";
		stage_forget(&s);
	}
	assert_true(connects(GREATER));
	stage_up(&s, last_conn());
	assert_true(is_reported());
	accept_tried(GREATER);
	assert_false(is_reported());
	stage_end(&s);
}

/* A neighbour that obeys an earlier root follows this node's within moments, or is reported. */
static void neighbour_with_earlier_root_is_reported_after_a_second(void **state)
{
	(void)state;
	led();
	receive_init(0, LEADS, LESSER, TERM);
	run_led(1 * SEC - 1);
	receive_init(0, LEADS, LESSER, TERM);
	assert_false(has_problem("an earlier one than root"));
	run_led(1);
	receive_init(0, LEADS, LESSER, TERM);
	assert_true(has_problem("an earlier one than root"));
	run_led(40 * SEC);
	assert_true(has_problem("an earlier one than root"));
	receive_init(0, LEADS, LESSER, TERM);
	run_led(46 * SEC - 1);
	assert_true(has_problem("an earlier one than root"));
	run_led(1);
	assert_false(has_problem("an earlier one than root"));
	receive_init(0, LEADS, LESSER, TERM);
	assert_true(has_problem("an earlier one than root"));
	receive_init(0, LEADS, FOLLOWED, TERM);
	assert_false(has_problem("an earlier one than root"));
	/* With another cable, or another session of the link, the time begins anew. */
	receive_init(0, LEADS, LESSER, TERM);
	assert_false(has_problem("an earlier one than root"));
	run_led(2 * SEC);
	stage_link_lost(&s, 0, 1);
	stage_link_up(&s, 0, 2);
	stage_report_link(&s, 0);
	receive_init(0, LEADS, LESSER, TERM);
	assert_false(has_problem("an earlier one than root"));
	stage_end(&s);
}

/* A root that is out of reach hides neither a later one nor, for long, an earlier one. */
static void unreached_root_hides_no_other_root(void **state)
{
	char closes[20];
	int conn;

	(void)state;
	led();
	assert_true(connects(ALSO));
	conn = last_conn();
	assert_false(connects(GREATER));
	stage_down(&s, conn);
	assert_false(connects(ALSO));
	assert_true(connects(GREATER));
	conn = last_conn();
	receive_init(0, LEADS, FOLLOWED + 1, TERM + 1);
	assert_int_equal(last_conn(), conn);
	run_led(10 * SEC);
	assert_true(connects(GREATER));
	snprintf(closes, sizeof(closes), "close %d\n", last_conn());
	assert_true(connects(ALSO));
	assert_int_equal(stage_count(&s, closes), 1);
	stage_up(&s, last_conn());
	accept_tried(ALSO);
	stage_end(&s);
}

/*
 * The node follows one that asks to be root, and hears of a root that leads a neighbour: it leaves
 * the one that asks only for a root that it reaches.
 */
static void asking_root_is_left_only_for_reached_root(void **state)
{
	int conn;

	(void)state;
	for (unsigned int reached = 0; reached < 2; reached++) {
		asked();
		receive_init(0, LEADS, GREATER, TERM + 1);
		conn = last_conn();
		assert_true(follows(FOLLOWED));
		receive_init(0, LEADS, GREATER, TERM + 1);
		assert_int_equal(last_conn(), conn);
		if (reached)
			accept_try(conn, GREATER, TERM + 1);
		else
			stage_down(&s, conn);
		assert_true(follows(reached ? GREATER : FOLLOWED));
		assert_int_equal(has_problem("and has no root"), !reached);
		stage_end(&s);
	}
}

/* With two of them the node waits longer and longer, so that there is time for a third one. */
static void two_unreached_roots_are_tried_ever_more_seldom(void **state)
{
	uint64_t wait = 2 * SEC;

	(void)state;
	led();
	assert_true(connects(GREATER));
	stage_down(&s, last_conn());
	for (unsigned int i = 0; i < 6; i++) {
		assert_true(connects(ALSO));
		stage_down(&s, last_conn());
		run_led(wait - MS);
		assert_false(connects(ALSO));
		assert_true(connects(GREATER));
		stage_down(&s, last_conn());
		run_led(MS);
		wait = earlier(2 * wait, 16 * SEC);
	}
	stage_end(&s);
}

/*
 * Two later roots hang: their hosts take no connection and refuse none. The third is tried after two
 * time limits, though the Inits of the others come before its own, and again after it.
 */
static void third_root_is_tried_though_two_later_ones_hang(void **state)
{
	const uint64_t third = FOLLOWED + 1;
	int conn;

	(void)state;
	led();
	assert_true(connects(ALSO));
	run_led(2 * SEC + MS);
	assert_true(connects(GREATER));
	run_led(2 * SEC + MS);
	assert_true(connects(ALSO));
	assert_false(connects(GREATER));
	assert_true(connects(third));
	conn = last_conn();
	run_led(SEC);
	assert_false(connects(ALSO));
	assert_false(connects(GREATER));
	stage_up(&s, conn);
	accept_tried(third);
	stage_end(&s);
}

/* Fails twice to reach the node that asks, which is shunned then. */
static void shunned(void)
{
	tried();
	stage_down(&s, last_conn());
	receive_init(2, ASKS, FOLLOWED, TERM);
	stage_down(&s, last_conn());
	assert_false(follows(FOLLOWED));
}

/* Return: true if the Init of a node that asks makes this node connect, though it does not follow. */
static bool tries_asker(uint64_t root)
{
	int next = s.next_conn;

	receive_init(2, ASKS, root, TERM);
	assert_false(follows(root));
	return s.next_conn != next;
}

/* A node that asks, and is shunned because it was not reached, is followed as soon as it is. */
static void shunned_asking_root_is_followed_when_it_is_reached(void **state)
{
	(void)state;
	for (unsigned int fails = 0; fails < 3; fails++) {
		shunned();
		for (unsigned int i = 0; i < fails; i++) {
			assert_true(tries_asker(FOLLOWED));
			assert_false(tries_asker(FOLLOWED));
			stage_down(&s, last_conn());
			assert_true(has_problem("which asks to be root, but this node does not "
						"reach it"));
			run(SEC / 2 - MS);
			assert_false(tries_asker(FOLLOWED));
			run(MS);
		}
		assert_true(tries_asker(FOLLOWED));
		stage_up(&s, last_conn());
		assert_true(follows(FOLLOWED) && own_init().asks);
		claim();
		assert_true(follows(FOLLOWED) && !own_init().lost);
		assert_false(has_problem("which asks to be root"));
		stage_end(&s);
	}
}

/* An attempt to reach a node that asks takes no longer than half a second. */
static void attempt_to_reach_asking_root_is_short(void **state)
{
	char closes[20];

	(void)state;
	shunned();
	assert_true(tries_asker(FOLLOWED));
	snprintf(closes, sizeof(closes), "close %d\n", last_conn());
	stage_forget(&s);
	s.deaf = "ping log hello row place rows release report lost init connect ";
	run(5 * s.cfg.resend - 1);
	assert_int_equal(stage_count(&s, closes), 0);
	run(MS);
	assert_int_equal(stage_count(&s, closes), 1);
	stage_end(&s);
}

/* A connection that does not come up, and does not fail either, is given up. */
static void hanging_connection_to_root_is_given_up(void **state)
{
	(void)state;
	led();
	assert_true(connects(GREATER));
	run_led(2 * SEC - 1);
	assert_false(is_reported());
	run_led(1 + MS);
	assert_true(is_reported());
	assert_false(connects(GREATER));
	assert_true(connects(ALSO));
	stage_end(&s);
}

/* There is no memory or no socket for the connection. */
static void connection_without_memory_is_reported(void **state)
{
	(void)state;
	led();
	s.refuse_connect = -1;
	assert_false(connects(GREATER));
	assert_true(is_reported());
	stage_end(&s);
}

/* The node loses its root during the attempt. */
static void later_root_is_followed_if_own_is_lost_meanwhile(void **state)
{
	int tries;

	(void)state;
	led();
	assert_true(connects(GREATER));
	tries = last_conn();
	stage_down(&s, 1);
	assert_true(follows(FOLLOWED) && own_init().lost);
	stage_up(&s, tries);
	assert_true(follows(GREATER));
	stage_end(&s);
}

/*
 * The node loses its root during the attempt, and an Init names the root that it tries: it goes on
 * with the connection of the attempt, whether that was up already or not.
 */
static void attempt_becomes_way_to_root_that_is_followed_meanwhile(void **state)
{
	(void)state;
	for (unsigned int up = 0; up < 2; up++) {
		int tries;

		led();
		assert_true(connects(GREATER));
		tries = last_conn();
		if (up)
			stage_up(&s, tries);
		stage_down(&s, 1);
		receive_init(0, LEADS, GREATER, TERM + 1);
		assert_true(follows(GREATER));
		assert_int_equal(last_conn(), tries);
		if (!up)
			stage_up(&s, tries);
		welcome(tries, GREATER, TERM + 1, false, "");
		assert_true(follows(GREATER) && !own_init().lost);
		stage_end(&s);
	}
}

/* No root, or another one, runs at the address of the later root. */
static void answer_wrongly(bool refuse)
{
	if (refuse)
		stage_refuse(&s, last_conn(), "this node is not the root");
	else
		welcome(last_conn(), LESSER, TERM, true, "");
}

/*
 * Another root of the fabric answers at the address of the later one, or the host there refuses the
 * node: the node has never left its own root, and tries again less and less often.
 */
static void try_wrong_root(bool refuse)
{
	const char *why = refuse ? "this node is refused at" : "another one answers at";
	uint64_t wait = 2 * SEC;

	led();
	for (unsigned int i = 0; i < 7; i++) {
		assert_true(connects(GREATER));
		stage_up(&s, last_conn());
		answer_wrongly(refuse);
		assert_true(follows(FOLLOWED) && !own_init().lost && own_init().epoch == TERM);
		assert_true(has_problem(why));
		run_led(wait - MS);
		assert_false(connects(GREATER));
		run_led(MS);
		wait = earlier(2 * wait, 16 * SEC);
	}
	/* The root itself accepts the node in the end. */
	assert_true(connects(GREATER));
	stage_up(&s, last_conn());
	assert_true(has_problem(why));
	accept_tried(GREATER);
	assert_false(has_problem(why));
	stage_end(&s);
}

static void wrong_root_at_address_is_tried_ever_more_seldom(void **state)
{
	(void)state;
	try_wrong_root(false);
}

static void root_that_refuses_is_tried_ever_more_seldom(void **state)
{
	(void)state;
	try_wrong_root(true);
}

/*
 * The node's own root answers at the address of the later one, and takes this connection for the
 * node's latest one: the node joins it again.
 */
static void own_root_at_address_of_later_one_is_joined_again(void **state)
{
	int tried;

	(void)state;
	led();
	assert_true(connects(GREATER));
	tried = last_conn();
	stage_up(&s, tried);
	stage_forget(&s);
	welcome(tried, FOLLOWED, TERM, false, "");
	assert_true(has_problem("another one answers at"));
	assert_int_equal(stage_count(&s, "close 1\n"), 1);
	assert_true(follows(FOLLOWED) && own_init().lost);
	/* The later root is avoided meanwhile. */
	receive_init(0, LEADS, GREATER, TERM + 1);
	assert_true(follows(FOLLOWED));
	run(100 * MS);
	assert_int_not_equal(last_conn(), tried);
	stage_up(&s, last_conn());
	welcome(last_conn(), FOLLOWED, TERM, false, "");
	assert_true(follows(FOLLOWED) && !own_init().lost);
	stage_end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reached_later_root_is_followed),
		cmocka_unit_test(welcome_of_later_root_is_enough),
		cmocka_unit_test(later_root_that_only_asks_now_is_not_followed),
		cmocka_unit_test(root_that_gives_no_answer_is_reported_as_such),
		cmocka_unit_test(tried_root_gets_table_that_it_fetches),
		cmocka_unit_test(unreached_root_is_reported_and_tried_again),
		cmocka_unit_test(neighbour_with_earlier_root_is_reported_after_a_second),
		cmocka_unit_test(unreached_root_hides_no_other_root),
		cmocka_unit_test(two_unreached_roots_are_tried_ever_more_seldom),
		cmocka_unit_test(third_root_is_tried_though_two_later_ones_hang),
		cmocka_unit_test(shunned_asking_root_is_followed_when_it_is_reached),
		cmocka_unit_test(attempt_to_reach_asking_root_is_short),
		cmocka_unit_test(asking_root_is_left_only_for_reached_root),
		cmocka_unit_test(hanging_connection_to_root_is_given_up),
		cmocka_unit_test(connection_without_memory_is_reported),
		cmocka_unit_test(wrong_root_at_address_is_tried_ever_more_seldom),
		cmocka_unit_test(root_that_refuses_is_tried_ever_more_seldom),
		cmocka_unit_test(own_root_at_address_of_later_one_is_joined_again),
		cmocka_unit_test(later_root_is_followed_if_own_is_lost_meanwhile),
		cmocka_unit_test(attempt_becomes_way_to_root_that_is_followed_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
