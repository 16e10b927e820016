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
		a.told_by[i] = "[]";
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
static void sink_in_two_walks(void **state)
{
	(void)state;
	a.d.config.stall_max = 4 * SEC;
	a.told_by[4] = "[[0,9000000000]]";
	walks(ALL);
	problems("");
	does("");
	a.told_by[4] = "[[0,11000000000]]";
	walks(DOWN("4", "0", "4000000000"));
	problems(BY_OWN("11.0") "\n");
	does("event 1700000050.0 '' 0 stall: " BY_OWN("11.0") "\n");
	/* It is a problem as long as it lasts, but one event. */
	a.told_by[4] = "[[0,13000000000]]";
	walks(DOWN("4", "0", "4000000000"));
	problems(BY_OWN("13.0") "\n");
	does("");
	/* A packet was sent: this is another wait. */
	a.told_by[4] = "[[0,8000000000]]";
	walks(ALL);
	problems("");
	does("");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest t[] = {
		TEST(sink_in_two_walks),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
