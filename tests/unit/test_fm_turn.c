// SPDX-License-Identifier: GPL-2.0-only
/*
 * When it is a candidate's turn to ask to be root: by priority and place, after it asked without
 * success, while it follows another that asks, and while it joins.
 */
#include "stage_choice.h"

#define SEEDS 64
#define SLOT (TAKEOVER / 4)

static bool is_own(void)
{
	return follows(s.dev.guid) && own_init().asks;
}

/* Return: the ns until this node asks to be root; @most if it does not until then. */
static uint64_t its_turn(uint64_t most)
{
	uint64_t from = s.now;

	while (!is_own() && s.now < from + most)
		stage_run_ns(&s, fm_expiry(s.fm) - START < from + most ?
			     fm_expiry(s.fm) - START : from + most);
	return s.now - from;
}

/*
 * Begins with node @node of a ring of 16, with a place there unless it is ~0, which has just lost
 * its root.
 */
static void bereft(uint32_t node, unsigned int priority, uint64_t seed)
{
	uint32_t id = node == TORUS_NO_NODE ? 1 : node;

	stage_init(&s, "16x1", id);
	s.deaf = "ping log hello row place rows release report lost init claim welcome ";
	s.cfg.takeover = TAKEOVER;
	s.cfg.priority = priority;
	s.cfg.seed = seed;
	stage_link_up(&s, 2, 1);
	if (node != TORUS_NO_NODE) {
		s.dev.placed = true;
		s.dev.shape = s.shape;
		s.dev.coords.c[0] = (uint16_t)id;
		s.dev.node = id;
	}
	stage_start(&s);
	receive_init(2, LEADS, FOLLOWED, TERM);
	stage_up(&s, 1);
	welcome(1, FOLLOWED, TERM, false, "");
	s.refuse_connect = -1;
	stage_down(&s, 1);
}

/*
 * A candidate asks after @takeover, at a random time within a short span that depends on its
 * priority and place.
 */
static void candidate_asks_by_priority_and_place(void **state)
{
	static const struct {
		uint32_t node;
		unsigned int priority;
		uint64_t first, span;
	} turn[] = {
		{ 1, FM_PRIORITY_AUTO, 155 * MS / 2 + SLOT, SLOT / 2 },
		{ 7, FM_PRIORITY_AUTO, 155 * MS / 2 + 7 * SLOT, SLOT / 2 },
		{ 9, FM_PRIORITY_DEFAULT, 155 * MS / 2 + SLOT, SLOT / 2 },
		{ 9, 200, 55 * MS / 2 + MS / 16, MS / 32 },
		{ 15, FM_PRIORITY_MAX, 7 * MS / 16, MS / 32 },
		{ 15, 10, 245 * MS + 8 * SLOT + 7 * MS / 8, MS / 16 },
	};

	(void)state;
	for (unsigned int k = 0; k < sizeof(turn) / sizeof(turn[0]); k++) {
		uint64_t least = ~0ULL, most = 0;

		for (unsigned int seed = 0; seed < SEEDS; seed++) {
			uint64_t ns;

			bereft(turn[k].node, turn[k].priority, seed);
			ns = its_turn(20 * TAKEOVER) - TAKEOVER;
			least = ns < least ? ns : least;
			most = ns > most ? ns : most;
			stage_end(&s);
		}
		assert_in_range(least, turn[k].first, turn[k].first + turn[k].span / 8);
		assert_in_range(most, turn[k].first + turn[k].span - turn[k].span / 8,
				turn[k].first + turn[k].span);
	}
}

/* Nodes from 8 on are not candidates by default, nor is a node without a place. */
static void node_from_8_on_or_without_place_does_not_ask(void **state)
{
	(void)state;
	bereft(8, FM_PRIORITY_AUTO, 1);
	assert_int_equal(its_turn(20000 * MS), 20000 * MS);
	stage_end(&s);
	bereft(9, FM_PRIORITY_AUTO, 1);
	assert_int_equal(its_turn(20000 * MS), 20000 * MS);
	stage_end(&s);
	bereft(TORUS_NO_NODE, 200, 1);
	assert_int_equal(its_turn(20000 * MS), 20000 * MS);
	stage_end(&s);
}

/*
 * After each try without success a candidate waits twice as long, at most 32 times; the count
 * begins anew once it is led.
 */
static void unsuccessful_candidate_waits_twice_as_long(void **state)
{
	(void)state;
	bereft(1, FM_PRIORITY_MAX, 1);
	for (unsigned int k = 0; k < 8; k++) {
		uint64_t wait = TAKEOVER << (k < 5 ? k : 5), ns = its_turn(20000 * MS);

		assert_in_range(ns, wait, wait + 2 * MS);
		/* The node gives way to another one, which is lost. */
		s.refuse_connect = 0;
		receive_init(2, ASKS, GREATER + k, own_init().epoch + 1);
		assert_true(follows(GREATER + k));
		s.refuse_connect = -1;
		stage_down(&s, last_conn());
		assert_true(follows(FOLLOWED));
	}
	s.refuse_connect = 0;
	receive_init(2, LEADS, GREATER, own_init().epoch + 1);
	assert_true(follows(GREATER));
	stage_up(&s, last_conn());
	welcome(last_conn(), GREATER, own_init().epoch, false, "");
	assert_false(own_init().lost);
	s.refuse_connect = -1;
	stage_down(&s, last_conn());
	assert_in_range(its_turn(20000 * MS), TAKEOVER, TAKEOVER + 2 * MS);
	stage_end(&s);
}

/* While another node asks and answers, a candidate waits until that node leads. */
static void candidate_waits_for_asking_node_that_lives(void **state)
{
	uint64_t from;

	(void)state;
	bereft(1, FM_PRIORITY_MAX, 1);
	s.refuse_connect = 0;
	receive_init(2, ASKS, GREATER, TERM + 1);
	stage_up(&s, last_conn());
	for (from = s.now; !is_own() && s.now < from + 30 * TAKEOVER;) {
		struct fm_msg m = { .type = FM_MSG_CLAIM, .claim = { .guid = GREATER } };

		stage_msg(&s, last_conn(), &m);
		its_turn(10 * MS);
	}
	/* Each CLAIM shows that the asking node lives; it is left only when it is silent. */
	assert_int_equal(s.now - from, 30 * TAKEOVER);
	from = s.now;
	its_turn(30 * TAKEOVER);
	assert_true(is_own());
	stage_end(&s);
	/* A root whose connection does not come up yet counts the same. */
	bereft(1, FM_PRIORITY_MAX, 1);
	s.refuse_connect = 0;
	receive_init(2, ASKS, GREATER, TERM + 1);
	assert_in_range(its_turn(30 * TAKEOVER), TAKEOVER, 12 * TAKEOVER);
	stage_end(&s);
}

/*
 * A root that asks has answered, and is silent then, though the node sends it HELLO: the node
 * leaves it before it asks itself.
 */
static void candidate_leaves_silent_root_before_it_asks(void **state)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM, .claim = { .guid = GREATER } };
	char closes[32];

	(void)state;
	bereft(1, FM_PRIORITY_MAX, 1);
	s.refuse_connect = 0;
	receive_init(2, ASKS, GREATER, TERM + 1);
	stage_up(&s, last_conn());
	run(MS);
	stage_msg(&s, last_conn(), &m);
	assert_false(own_init().lost);
	sprintf(closes, "close %d\n", last_conn());
	stage_forget(&s);
	assert_in_range(stage_wait(&s, closes), 10 * s.cfg.resend, 12 * s.cfg.resend);
	assert_true(follows(FOLLOWED));
	stage_end(&s);
}

/*
 * A node has said HELLO to a root: it waits for half a second for the answer before it asks itself.
 */
static void candidate_that_joins_waits_half_a_second(void **state)
{
	(void)state;
	bereft(1, FM_PRIORITY_MAX, 1);
	s.refuse_connect = 0;
	run(150 * MS);
	assert_true(s.next_conn > 2);
	stage_up(&s, last_conn());
	assert_in_range(its_turn(20 * TAKEOVER), 5 * s.cfg.resend, 5 * s.cfg.resend + SLOT);
	stage_end(&s);
	/* A node that is called by the root does not wait. */
	bereft(1, FM_PRIORITY_MAX, 1);
	s.refuse_connect = 0;
	run(150 * MS);
	stage_up(&s, last_conn());
	welcome(last_conn(), FOLLOWED, TERM, false, "");
	struct fm_msg m = { .type = FM_MSG_LEAD, .lead = { .term = TERM, .guid = NIC + 1,
							   .now = true } };

	stage_msg(&s, last_conn(), &m);
	assert_int_equal(its_turn(20 * TAKEOVER), 0);
	stage_end(&s);
}

/* A node that is led asks no neighbour and is not a candidate, whatever it waited for before. */
static void led_node_asks_no_neighbour(void **state)
{
	(void)state;
	bereft(1, FM_PRIORITY_MAX, 1);
	s.refuse_connect = 0;
	run(150 * MS);
	stage_up(&s, last_conn());
	welcome(last_conn(), FOLLOWED, TERM, false, "");
	run(2 * s.cfg.init_interval);
	receive_init(2, LEADS, FOLLOWED, TERM);
	silent();
	for (unsigned int i = 0; i < 20; i++) {
		run(500 * MS);
		stage_send(&s, last_conn(), FM_MSG_PONG);
	}
	assert_false(is_own());
	stage_did_no(&s, "init");
	stage_end(&s);
}

/* --- no candidate ----------------------------------------------------------------------- */

static bool reports_vain_claims(void)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		if (strstr(p->text, "no node asks to be root"))
			return true;
	return false;
}

/* A node without a root reports the problem after 30 s, and until a root leads, or a node asks. */
static void node_without_root_for_30_s_reports_it(void **state)
{
	(void)state;
	for (unsigned int ends = 0; ends < 2; ends++) {
		led();
		stage_forget(&s);
		run(100 * MS);
		/* the node asks its neighbours at once when that one is lost */
		receive_init(0, ASKS, FOLLOWED, TERM);
		s.refuse_connect = -1;
		stage_down(&s, 1);
		run(30000 * MS - 1);
		assert_false(reports_vain_claims());
		run(1);
		assert_true(reports_vain_claims());
		s.refuse_connect = 0;
		if (ends) {
			receive_init(0, ASKS, GREATER, TERM + 1);
		} else {
			run(1000 * MS);
			stage_up(&s, last_conn());
			assert_true(reports_vain_claims());
			welcome(last_conn(), FOLLOWED, TERM, false, "");
		}
		assert_false(reports_vain_claims());
		stage_end(&s);
	}
}

/*
 * A node without a root asks its neighbours around again and again, also while it follows a root
 * that asks.
 */
static void node_without_root_asks_neighbours_again_and_again(void **state)
{
	(void)state;
	lost();
	known_to_both();
	asks_around();
	for (unsigned int k = 0; k < 3; k++) {
		known_to_both();
		assert_in_range(asks_around(),
				10 * TAKEOVER - 100 * MS - 2 * s.cfg.init_interval, 10 * TAKEOVER);
	}
	stage_end(&s);
	asked();
	known_to_both();
	stage_forget(&s);
	for (unsigned int k = 0; k < 3; k++) {	/* that node answers, so it is not left */
		run((10 * TAKEOVER - 2 * s.cfg.resend) / 3);
		claim();
	}
	stage_did_no(&s, "init");
	run(2 * s.cfg.resend);
	assert_int_equal(own_init().asks, true);
	stage_did_some(&s, "init 0: ");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(candidate_asks_by_priority_and_place),
		cmocka_unit_test(node_from_8_on_or_without_place_does_not_ask),
		cmocka_unit_test(unsuccessful_candidate_waits_twice_as_long),
		cmocka_unit_test(candidate_waits_for_asking_node_that_lives),
		cmocka_unit_test(candidate_leaves_silent_root_before_it_asks),
		cmocka_unit_test(candidate_that_joins_waits_half_a_second),
		cmocka_unit_test(led_node_asks_no_neighbour),
		cmocka_unit_test(node_without_root_for_30_s_reports_it),
		cmocka_unit_test(node_without_root_asks_neighbours_again_and_again),
	};

	return cmocka_run_group_tests_name("fm_turn", all, NULL, NULL);
}
