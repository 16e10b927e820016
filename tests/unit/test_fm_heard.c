// SPDX-License-Identifier: GPL-2.0-only
/*
 * A manager's knowledge of others without a root: from which nodes it has received messages and
 * when, which nodes and cables it counts as up, and how far the node that asks to be root has
 * come.
 */
#include <stdio.h>

#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"
#include "stage.h"

#define BOUND (3000 * MS)	/* member_max of these tests */
#define ROOT_CONN 1

static struct stage s;
static struct fm_entry entry[16];

static struct fm_status status(void)
{
	struct fm_status st;

	fm_status(s.fm, &st);
	return st;
}

static void counts(unsigned int nodes, unsigned int links, unsigned int faulty)
{
	struct fm_status st = status();

	assert_int_equal(st.nodes_up, nodes);
	assert_int_equal(st.links_up, links);
	assert_int_equal(st.links_faulty, faulty);
}

/*
 * Checks how many managers have a way to this one now, and how many cables have an end at their
 * nodes.
 */
static void answers(unsigned int nodes, unsigned int links)
{
	struct fm_status st = status();

	assert_int_equal(st.nodes_answering, nodes);
	assert_int_equal(st.links_answering, links);
}

/* Begins with node 5 of a 4x4 at work, with its links to 6, 9, 4 and 1. */
static void led(void)
{
	struct fm_init i;
	struct fm_msg m;

	stage_init(&s, "4x4", 5);
	s.deaf = "init ping pong log report rows place release ";
	s.cfg.takeover = 0;
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
	stage_start(&s);
	i = stage_neighbour(&s, 0);
	stage_receive(&s, 0, &i);
	stage_up(&s, ROOT_CONN);
	stage_welcome(&s, ROOT_CONN, TERM, "");
	m = stage_table(&s, 3, entry);
	stage_msg(&s, ROOT_CONN, &m);
	m = stage_step(3, 1, FM_STEP_RESUME);
	stage_msg(&s, ROOT_CONN, &m);
	counts(16, 32, 0);
}

static bool last_alive(uint32_t node, uint64_t *at)
{
	bool is = fm_last_alive(s.fm, node, at);

	*at = *at ? *at - START : 0;
	return is;
}

/* --- a member ------------------------------------------------------------------------------ */

/*
 * Reports of the root about nodes count for a while after the root is lost, except for those about
 * the root itself.
 */
static void reports_of_lost_root_count_for_a_while(void **state)
{
	uint64_t at;

	(void)state;
	led();
	stage_run_ns(&s, s.now + 500 * MS);
	s.fm->now = START + s.now;
	assert_true(last_alive(15, &at));
	assert_int_equal(at, s.now);
	stage_down(&s, ROOT_CONN);
	assert_false(last_alive(0, &at));
	counts(15, 32, 0);
	stage_run_ns(&s, s.now + BOUND - 1);
	s.fm->now = START + s.now;
	counts(15, 32, 0);
	assert_true(last_alive(15, &at));
	assert_int_equal(at, 500 * MS);
	stage_run_ns(&s, s.now + 1);
	s.fm->now = START + s.now;
	assert_false(last_alive(15, &at));
	assert_int_equal(at, 500 * MS);
	counts(1, 4, 0);
	answers(1, 4);
	assert_int_equal(status().state, FM_DEGRADED);
	assert_true(last_alive(5, &at));
	assert_int_equal(at, s.now);
	/* A node sees its own links itself. */
	stage_link_lost(&s, 2, 7);
	counts(1, 3, 1);
	assert_false(fm_last_alive(s.fm, 16, &at));
	assert_int_equal(at, 0);
	stage_end(&s);
}

/* A node that no root has led in this life knows nothing from a root. */
static void node_never_led_knows_nothing_from_root(void **state)
{
	struct fm_init i;
	uint64_t at;

	(void)state;
	led();
	stage_down(&s, ROOT_CONN);
	s.fm->led.since = 0;
	assert_false(last_alive(15, &at));
	assert_int_equal(at, 0);
	counts(2, 7, 0);	/* the Init of node 6 has just come */
	i = stage_neighbour(&s, 1);
	stage_receive(&s, 1, &i);
	counts(3, 10, 0);
	stage_end(&s);
}

/* An Init shows that a neighbour lives, as long as the link is up. */
static void init_shows_that_neighbour_lives_while_link_is_up(void **state)
{
	struct fm_init i;
	uint64_t at;

	(void)state;
	led();
	stage_down(&s, ROOT_CONN);
	stage_run_ns(&s, s.now + 5000 * MS);
	counts(1, 4, 0);
	i = stage_neighbour(&s, 3);
	i.lost = true;
	stage_receive(&s, 3, &i);
	assert_true(last_alive(1, &at));
	assert_int_equal(at, s.now);
	counts(2, 7, 0);
	stage_run_ns(&s, s.now + BOUND);
	s.fm->now = START + s.now;
	assert_false(last_alive(1, &at));
	assert_int_equal(at, 5000 * MS);
	stage_receive(&s, 3, &i);
	counts(2, 7, 0);
	stage_link_lost(&s, 3, 7);
	counts(1, 3, 1);
	stage_end(&s);
}

/* Nodes below this one in the tree count as alive, and so does the parent. */
static void parent_and_nodes_below_count_as_alive(void **state)
{
	struct fm_msg m = { .type = FM_MSG_PING };
	uint64_t at;

	(void)state;
	led();
	m = stage_hello(&s, 10);
	m.hello.role = FM_ROLE_CHILD;
	m.hello.term = TERM;
	m.hello.version = 3;
	stage_up(&s, 50);
	stage_msg(&s, 50, &m);
	stage_welcome(&s, ROOT_CONN, TERM, "30.0.0.12:1");
	stage_up(&s, 2);
	stage_welcome(&s, 2, TERM, "");
	m = (struct fm_msg) { .type = FM_MSG_PONG, .pong.adrift = true };
	stage_run_ns(&s, s.now + 100 * MS);
	stage_msg(&s, 2, &m);
	assert_int_equal(status().root.lost, START + 100 * MS);
	m = (struct fm_msg) { .type = FM_MSG_PING };
	for (unsigned int k = 0; k < 5; k++) {
		stage_run_ns(&s, s.now + 900 * MS);
		stage_msg(&s, 50, &m);
		stage_msg(&s, 2, &m);
	}
	assert_true(last_alive(10, &at));
	assert_int_equal(at, s.now);
	assert_true(last_alive(12, &at));
	counts(3, 12, 0);
	stage_down(&s, 50);
	assert_false(last_alive(10, &at));
	assert_int_equal(at, 100 * MS);
	stage_end(&s);
}

/* No candidate is left: after 30 s that is a problem, until a node asks or leads. */
static void lack_of_candidates_is_problem_after_30_s(void **state)
{
	struct fm_init i;

	(void)state;
	led();
	s.fm->cfg.takeover = 200 * MS;
	s.fm->cfg.priority = 0;
	stage_run_ns(&s, s.now + 1000 * MS);
	stage_down(&s, ROOT_CONN);
	s.refuse_connect = -1;
	stage_run_ns(&s, s.now + 29900 * MS);
	assert_int_equal(status().problems, 0);
	stage_run_ns(&s, s.now + 2200 * MS);
	assert_int_equal(status().problems, 1);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "root");
	assert_string_equal(fm_problem(s.fm, 0)->text,
			    "no root, and no node asks to be root: start the "
			    "manager of a candidate (root_priority is not 0)");
	i = stage_neighbour(&s, 0);
	i.root_guid = NIC + 6;
	i.epoch = TERM;
	i.asks = true;
	stage_receive(&s, 0, &i);
	assert_int_equal(status().problems, 0);
	stage_end(&s);
}

/*
 * A candidate asks for long, and answers: that is not a problem of this node. Then the candidate
 * ends, too, which is a problem.
 */
static void lost_asking_root_is_problem(void **state)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM, .claim = { .guid = NIC + 6 } };
	struct fm_init i;

	(void)state;
	led();
	s.fm->cfg.takeover = 200 * MS;
	s.fm->cfg.priority = 0;
	stage_down(&s, ROOT_CONN);
	i = stage_neighbour(&s, 0);
	i.root_guid = NIC + 6;
	i.epoch = TERM;
	i.asks = true;
	strcpy(i.root_address, "30.0.0.6:1");
	stage_receive(&s, 0, &i);
	stage_up(&s, 2);
	for (unsigned int k = 0; k < 400; k++) {
		stage_run_ns(&s, s.now + 100 * MS);
		stage_msg(&s, 2, &m);
	}
	assert_int_equal(status().problems, 0);
	s.refuse_connect = -1;
	stage_down(&s, 2);
	stage_run_ns(&s, s.now + 2200 * MS);
	assert_int_equal(status().problems, 1);
	assert_non_null(strstr(fm_problem(s.fm, 0)->text, "no node asks to be root"));
	stage_end(&s);
}

/* --- a node that asks to be root --------------------------------------------- */

static void shows(enum fm_root_state state, unsigned int here, unsigned int need)
{
	struct fm_root_status r = status().root;

	assert_int_equal(r.state, state);
	assert_int_equal(r.here, here);
	assert_int_equal(r.need, need);
}

/*
 * A node that asks reports to its followers how many nodes answer or obey it. They show that as
 * long as they follow it.
 */
static void progress_of_asking_root_is_shown_by_followers(void **state)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM,
			    .claim = { .guid = NIC + 6, .here = 4, .need = 9 } };
	struct fm_init i;

	(void)state;
	led();
	stage_down(&s, ROOT_CONN);
	shows(FM_ROOT_LOST, 0, 0);
	i = stage_neighbour(&s, 0);
	i.root_guid = NIC + 6;
	i.epoch = TERM;
	i.asks = true;
	strcpy(i.root_address, "30.0.0.6:1");
	stage_receive(&s, 0, &i);
	stage_up(&s, 2);
	shows(FM_ROOT_ASKS, 0, 0);
	stage_msg(&s, 2, &m);
	shows(FM_ROOT_ASKS, 4, 9);
	m.claim.epoch = TERM + 1;
	m.claim.here = 2;
	stage_msg(&s, 2, &m);
	shows(FM_ROOT_CLAIMS, 2, 9);
	m = (struct fm_msg) { .type = FM_MSG_WELCOME,
			      .welcome = { TERM + 1, NIC + 6, true, 7, 9, "" } };
	stage_msg(&s, 2, &m);
	shows(FM_ROOT_CLAIMS, 7, 9);
	m.welcome.adrift = false;
	stage_msg(&s, 2, &m);
	shows(FM_ROOT_LEADS, 0, 0);
	stage_down(&s, 2);
	shows(FM_ROOT_LOST, 0, 0);
	stage_end(&s);
}

static struct fm_claim reported;
static struct fm_welcome welcomed;

static void sees(int conn, const struct fm_msg *msg)
{
	(void)conn;
	if (msg->type == FM_MSG_CLAIM)
		reported = msg->claim;
	else if (msg->type == FM_MSG_WELCOME)
		welcomed = msg->welcome;
}

/* Node 0 of a ring has found that there was a root before, and asks who would obey it. */
static void asks(void)
{
	struct fm_msg m;

	stage_init(&s, "4x1", 0);
	s.deaf = "init ping pong log report rows place release ";
	s.sees = sees;
	s.stubborn = true;
	stage_link_up(&s, 0, 1);
	stage_link_up(&s, 2, 1);
	stage_start(&s);
	m = stage_hello(&s, 1);
	m.hello.placed = true;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = 1;
	m.hello.version = m.hello.table = 9;
	m.hello.term = 41;
	m.hello.table_root = 0xabc;
	m.hello.ups = 4;
	m.hello.counted = true;
	for (unsigned int k = 0; k < 2; k++) {
		stage_up(&s, 101);
		stage_msg(&s, 101, &m);
		stage_run_ns(&s, s.now + MS);
	}
	stage_msg(&s, 101, &m);
}

static void asking_root_reports_how_many_nodes_answer(void **state)
{
	struct fm_msg m;
	uint64_t at;

	(void)state;
	memset(&reported, 0, sizeof(reported));
	asks();
	assert_int_equal(reported.epoch, 0);
	assert_int_equal(reported.here, 1);
	assert_int_equal(reported.need, 3);
	shows(FM_ROOT_ASKS, 1, 3);
	assert_false(fm_last_alive(s.fm, 2, &at));
	m = stage_hello(&s, 2);
	stage_up(&s, 102);
	stage_msg(&s, 102, &m);
	stage_run_ns(&s, s.now + 200 * MS);
	stage_msg(&s, 102, &m);
	assert_int_equal(reported.need, 3);
	assert_int_equal(reported.here, status().root.here);
	assert_int_equal(status().nodes, 0);	/* the root has no table, so it counts no node */
	answers(0, 0);
	stage_end(&s);
}

/* --- a root ---------------------------------------------------------------------------------- */

/* A node that is not connected any more counts as up for a while, until the root judges it. */
static void disconnected_node_counts_as_up_until_judged(void **state)
{
	struct fm_msg m;
	uint64_t at;

	(void)state;
	stage_init(&s, "4x1", 0);
	s.deaf = "init ping pong log report rows place release ";
	stage_link_up(&s, 0, 1);
	stage_link_up(&s, 2, 1);
	stage_start(&s);
	for (uint32_t i = 1; i < 4; i++) {
		m = stage_hello(&s, i);
		stage_up(&s, 100 + (int)i);
		stage_msg(&s, 100 + (int)i, &m);
	}
	stage_run_ns(&s, s.now + 10 * MS);
	for (uint32_t round = 0; round < 6; round++) {
		for (uint32_t i = 1; i < 4; i++) {
			m = stage_report(&s, i, fm_version(s.fm), round);
			stage_msg(&s, 100 + (int)i, &m);
		}
		stage_run_ns(&s, s.now + MS);
	}
	counts(4, 4, 0);
	answers(4, 4);
	assert_true(last_alive(2, &at));
	assert_int_equal(at + START, s.fm->now);
	stage_down(&s, 102);
	counts(4, 4, 0);
	answers(3, 4);		/* both its cables end at nodes that answer */
	s.fm->now += 10 * MS;
	assert_true(last_alive(2, &at));
	assert_int_equal(at + START, s.fm->now - 10 * MS);
	s.fm->now += BOUND;
	assert_false(last_alive(2, &at));
	counts(3, 4, 0);
	stage_down(&s, 103);
	answers(2, 3);		/* one cable joins the two nodes that do not answer */
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(reports_of_lost_root_count_for_a_while),
		cmocka_unit_test(node_never_led_knows_nothing_from_root),
		cmocka_unit_test(init_shows_that_neighbour_lives_while_link_is_up),
		cmocka_unit_test(parent_and_nodes_below_count_as_alive),
		cmocka_unit_test(lost_asking_root_is_problem),
		cmocka_unit_test(lack_of_candidates_is_problem_after_30_s),
		cmocka_unit_test(progress_of_asking_root_is_shown_by_followers),
		cmocka_unit_test(asking_root_reports_how_many_nodes_answer),
		cmocka_unit_test(disconnected_node_counts_as_up_until_judged),
	};

	return cmocka_run_group_tests_name("fm_last_alive", all, NULL, NULL);
}
