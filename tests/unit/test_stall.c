// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of what the root does about links that wait for credits, and of a node that is ordered to
 * take such a port down. The test gives the answers of nodes; the walk itself is in
 * test_stall_walk.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/loop.h"
#include "tests/unit/asked.h"

#define ALL "all -1 privileged 1500 ms: {\"cmd\":\"waits\"}"
#define DOWN(node, port, ns) \
	"node " node " privileged 1500 ms: {\"cmd\":\"stalled\",\"port\":" port ",\"waited\":" ns "}"
/* The problem of eve at [1,1], whose +x leads to this node. */
#define BY_OWN(seconds) \
	"node 2,1 ('own') returns no credits to 1,1:+x for " seconds " s and does not wait itself: " \
	"its NIC is broken, or its host takes no packets"

/* All nodes are up and report that they do not wait. */
static int setup(void **state)
{
	if (asked_setup(state) || stall_start(&a.d))
		return 1;
	memset(a.link, 0, sizeof(a.link));
	for (uint8_t p = 0; p < PORTS; p++)
		a.link[p] = (struct torus_link) { .port = p, .state = TORUS_LINK_UP };
	for (uint32_t i = 0; i < NODES; i++) {
		a.entry[i].state = FM_NODE_UP;
		a.entry[i].stalled = 0;
		a.answer_by[i] = "[]";
	}
	return 0;
}

static int teardown(void **state)
{
	stall_stop(&a.d);
	return asked_teardown(state);
}

/* Plays one walk, and the order after it if there is one: @asked is the last question to nodes. */
static void walks(const char *asked)
{
	a.passed_on[0] = '\0';
	stall_hint(&a.d);
	nodes_answer();
	assert_string_equal(a.passed_on, asked);
}

/* Checks that there are exactly these problems, one line each. */
static void problems(const char *wanted)
{
	json_t *all = stall_problems(&a.d), *text;
	char got[1024] = "";
	size_t i;

	json_array_foreach(all, i, text)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s\n", json_string_value(text));
	json_decref(all);
	assert_string_equal(got, wanted);
}

/*
 * The answers of one walk are of different moments, so a sink is only named, and a port only taken
 * down, if the next walk finds the same wait.
 */
static void sink_must_be_found_by_two_walks(void **state)
{
	(void)state;
	a.d.config.stall_max = 4 * SEC;
	a.answer_by[4] = "[[0,9000000000]]";
	walks(ALL);
	problems("");
	does("");
	a.answer_by[4] = "[[0,11000000000]]";
	walks(DOWN("4", "0", "4000000000"));
	problems(BY_OWN("11.0") "\n");
	does("event 1700000050.0 '' 0 stall: " BY_OWN("11.0") "\n");
	/* It is a problem as long as it lasts, but one event. */
	a.answer_by[4] = "[[0,13000000000]]";
	walks(DOWN("4", "0", "4000000000"));
	problems(BY_OWN("13.0") "\n");
	does("");
	/* A packet was sent: this is another wait. */
	a.answer_by[4] = "[[0,8000000000]]";
	walks(ALL);
	problems("");
	does("");
}

/* Credits missing at several nodes: each sink is named, but one port is taken down at a time. */
static void one_port_is_taken_down_for_two_sinks(void **state)
{
	(void)state;
	a.d.config.stall_max = 4 * SEC;
	a.answer_by[4] = "[[0,9000000000]]";
	a.answer_by[0] = "[[1,5000000000]]";
	walks(ALL);
	a.answer_by[4] = "[[0,11000000000]]";
	a.answer_by[0] = "[[1,7000000000]]";
	walks(DOWN("0", "1", "4000000000"));
	problems("node 0,1 ('dan') returns no credits to 0,0:+y for 7.0 s and does not wait itself: "
		 "its NIC is broken, or its host takes no packets\n" BY_OWN("11.0") "\n");
}

/* Only the node before the sink is told to take a port down, and only after stall_max. */
static void only_node_before_sink_takes_port_down(void **state)
{
	(void)state;
	a.d.config.stall_max = 12 * SEC;
	a.answer_by[3] = "[[0,12000000000]]";
	a.answer_by[4] = "[[0,9000000000]]";
	walks(ALL);
	a.answer_by[3] = "[[0,13000000000]]";
	a.answer_by[4] = "[[0,11900000000]]";
	walks(ALL);
	problems(BY_OWN("11.9") "\n");
	a.answer_by[4] = "[[0,12000000000]]";
	walks(DOWN("4", "0", "12000000000"));
}

/* A wait of less than a second is none. */
static void wait_of_less_than_a_second_does_not_count(void **state)
{
	(void)state;
	a.answer_by[4] = "[[0,999999998]]";
	walks(ALL);
	a.answer_by[4] = "[[0,999999999]]";
	walks(ALL);
	problems("");
	a.answer_by[4] = "[[0,1000000000]]";
	walks(ALL);
	problems(BY_OWN("1.0") "\n");
}

static void circle_of_waits_names_no_node(void **state)
{
	(void)state;
	a.answer_by[0] = a.answer_by[1] = a.answer_by[2] = "[[0,5000000000]]";
	walks(ALL);
	walks(ALL);
	problems("3 links wait for each other in a circle: no node can be named\n");
	does("");
}

/* A node that does not answer may wait, too. */
static void silent_node_is_not_named(void **state)
{
	(void)state;
	a.answer_by[0] = "[[0,5000000000]]";
	a.answer_by[1] = NULL;
	walks(ALL);
	problems("0,0:+x has waited for 5.0 s for a node that does not report whether it waits, too: "
		 "no node can be named\n");
	does("");
}

/* A walk ends when all nodes that are up have answered, and any others may have. */
static void walk_ends_when_all_nodes_up_have_answered(void **state)
{
	(void)state;
	a.entry[0].state = FM_NODE_SILENT;
	a.answer_by[4] = NULL;
	walks(ALL);
	assert_false(a.enough);
	a.answer_by[4] = "[]";
	a.answer_by[0] = NULL;
	walks(ALL);
	assert_true(a.enough);
}

/* The second answer of a node does not count: neither for another one, nor as another wait. */
static void second_answer_of_node_does_not_count(void **state)
{
	(void)state;
	a.twice = 1;
	a.answer_by[4] = NULL;
	walks(ALL);
	assert_false(a.enough);
	a.answer_by[0] = "[[0,5000000000]]";
	a.answer_by[4] = "[]";
	walks(ALL);
	assert_true(a.enough);
	a.answer_by[0] = "[[0,6000000000]]";
	walks(ALL);
	problems("node 1,0 ('bob') returns no credits to 0,0:+x for 6.0 s and does not wait itself: "
		 "its NIC is broken, or its host takes no packets\n");
}

/* A root that resigns and leads again has no problem from its former time as a root. */
static void root_that_resigned_has_no_former_problem(void **state)
{
	(void)state;
	a.answer_by[4] = "[[0,9000000000]]";
	walks(ALL);
	a.answer_by[4] = "[[0,11000000000]]";
	walks(ALL);
	problems(BY_OWN("11.0") "\n");
	stall_hint(&a.d);
	a.root = false;
	nodes_answer();
	problems("");
	walks("");
	a.root = true;
	problems("");
}

/* This node is told to take its port +y down; once packets were sent, and once none was. */
static void ordered_port_is_taken_down_and_reported(void **state)
{
	uint64_t *waited = &a.link[1].gauge[TORUS_PG_WAITED];

	(void)state;
	a.d.config.stall_max = 4 * SEC;
	*waited = 5 * SEC;
	walks(ALL);
	*waited = 7 * SEC;
	stall_hint(&a.d);
	answer_question();
	assert_string_equal(a.passed_on, DOWN("5", "1", "4000000000"));
	a.did[0] = '\0';
	*waited = 4 * SEC - 1;
	a.link[0].gauge[TORUS_PG_WAITED] = 9 * SEC;
	nodes_answer();
	does("");
	a.link[0].gauge[TORUS_PG_WAITED] = 0;
	*waited = 8 * SEC;
	stall_hint(&a.d);
	answer_question();
	assert_string_equal(a.passed_on, DOWN("5", "1", "4000000000"));
	a.did[0] = '\0';
	nodes_answer();
	does("port 1 down\nstalled 1 1\n"
	     "event 1700000050.0 '' 0 stall: 2,1:+y is taken down: no packet was sent "
	     "for 8.0 s, because its neighbour returns no credits\n");
}

/* Each root knows the ports that were taken down from the table. */
static void port_taken_down_is_problem_of_each_root(void **state)
{
	(void)state;
	a.entry[1].stalled = 0x4;
	problems("1,0:-x was taken down, because node 0,0 returned no credits: take it up again when that "
		 "node is repaired\n");
}

/* --- each node ------------------------------------------------------------------- */

#define WAITED(end, seconds) \
	"event 1700000050.0 '' 1 stall: 2,1:" end " has waited for " seconds \
	" s for a buffer of its neighbour\n"

static void reads(unsigned int port, uint64_t waited)
{
	a.link[port].gauge[TORUS_PG_WAITED] = waited;
	stall_read(&a.d, a.link, PORTS);
}

/* The link that has waited longest is reported, again after 30 s, and begins a walk of the root. */
static void longest_waiting_link_is_reported_and_begins_walk(void **state)
{
	(void)state;
	reads(0, SEC - 1);
	does("");
	reads(0, SEC);
	does(WAITED("+x", "1.0"));
	assert_string_equal(a.passed_on, ALL);
	nodes_answer();
	a.passed = 30 * SEC - 1;
	reads(2, 4 * SEC);
	does("");
	a.passed = 30 * SEC;
	reads(1, 3 * SEC);
	does(WAITED("-x", "4.0"));
	nodes_answer();
	/* A link that is down waits for nothing; when none waits, the next wait is reported at once. */
	a.link[0].state = a.link[1].state = a.link[2].state = TORUS_LINK_DOWN;
	reads(2, 9 * SEC);
	does("");
	a.link[1].state = TORUS_LINK_UP;
	reads(1, 2 * SEC);
	does(WAITED("+y", "2.0"));
	nodes_answer();
}

static void next_read(uint64_t ns)
{
	stall_read(&a.d, a.link, PORTS);
	assert_int_equal(a.d.stalls.read_at, NOW + ns);
}

/* While no packet is sent, the links are read less often. */
static void idle_links_are_read_less_often(void **state)
{
	static const uint64_t idle[] = { 2 * SEC, 4 * SEC, 8 * SEC, 8 * SEC };

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		next_read(idle[i]);
	a.link[3].counter[TORUS_PC_TX_PACKETS]++;
	next_read(2 * SEC);
	next_read(4 * SEC);
	a.link[3].gauge[TORUS_PG_WAITED] = 1;
	next_read(2 * SEC);
	next_read(2 * SEC);
	a.link[3].gauge[TORUS_PG_WAITED] = 0;
	a.d.config.stall_max = 10 * SEC;
	next_read(4 * SEC);
	next_read(5 * SEC);
	a.d.config.stall_max = 3 * SEC;
	next_read(2 * SEC);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest t[] = {
		TEST(sink_must_be_found_by_two_walks),
		TEST(one_port_is_taken_down_for_two_sinks),
		TEST(only_node_before_sink_takes_port_down),
		TEST(wait_of_less_than_a_second_does_not_count),
		TEST(circle_of_waits_names_no_node),
		TEST(silent_node_is_not_named),
		TEST(walk_ends_when_all_nodes_up_have_answered),
		TEST(second_answer_of_node_does_not_count),
		TEST(root_that_resigned_has_no_former_problem),
		TEST(ordered_port_is_taken_down_and_reported),
		TEST(port_taken_down_is_problem_of_each_root),
		TEST(longest_waiting_link_is_reported_and_begins_walk),
		TEST(idle_links_are_read_less_often),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
