// SPDX-License-Identifier: GPL-2.0-only
/* Events that concern a job, of nodes 0,0 and 1,0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricctl/command.h"
#include "tools/fabricctl/concern.h"

const struct program this_program = { .name = "test" };

static struct concern *job;

/* Events are written as JSON with ` for ". */
static json_t *json_of(const char *text)
{
	char *copy = strdup(text);
	json_t *j;

	for (char *p = copy; *p; p++)
		if (*p == '`')
			*p = '"';
	j = json_loads(copy, 0, NULL);
	if (!j)
		fail_msg("no JSON: %s", copy);
	free(copy);
	return j;
}

static int start_job(void **state)
{
	json_t *about = json_of("{`name`:`mine`}");
	json_t *members = json_of("[{`node`:[1,0]},{`node`:[0,0]}]");

	(void)state;
	job = concern_new(about, members);
	json_decref(about);
	json_decref(members);
	return !job;
}

static int end_job(void **state)
{
	(void)state;
	concern_free(job);
	return 0;
}

static bool concerns(const char *event)
{
	json_t *events = json_array(), *wanted;
	bool does;

	json_array_append_new(events, json_of(event));
	wanted = concern_of(job, events);
	does = json_array_size(wanted) == 1;
	json_decref(wanted);
	json_decref(events);
	return does;
}

#define LINK(node, peer, version) \
	"{`node`:[0,0],`kind`:`link`,`text`:`lost`,`link`:{`node`:" node ",`port`:`+x`,`peer`:{`node`:" \
	peer ",`port`:`-x`},`version`:" #version "}}"
#define ABOUT(kind, key, version) \
	"{`node`:[0,0],`kind`:`" kind "`,`text`:`-`,`" key "`:{`version`:" #version "}}"
#define OF(kind, node, text) "{`node`:" node ",`kind`:`" kind "`,`text`:`" text "`}"

static void cables_concern_a_job_with_both_ends(void **state)
{
	(void)state;
	assert_true(concerns(LINK("[0,0]", "[1,0]", 5)));
	assert_true(concerns(LINK("[1,0]", "[0,0]", 6)));
	assert_false(concerns(LINK("[0,0]", "[2,0]", 7)));
	assert_false(concerns(LINK("[2,0]", "[0,0]", 8)));
	assert_false(concerns(LINK("[0,0]", "null", 9)));
}

static void recoveries_concern_a_job_if_its_cables_began_them(void **state)
{
	(void)state;
	assert_false(concerns(ABOUT("recovery", "recovery", 5)));
	assert_false(concerns(ABOUT("recovery", "recovery", 0)));
	assert_true(concerns(LINK("[0,0]", "[1,0]", 5)));
	assert_false(concerns(LINK("[0,0]", "[2,0]", 6)));
	assert_true(concerns(ABOUT("step", "step", 5)));
	assert_true(concerns(ABOUT("recovery", "recovery", 5)));
	assert_false(concerns(ABOUT("step", "step", 6)));
	assert_false(concerns(ABOUT("recovery", "recovery", 0)));
	/* Sixteen recoveries are remembered. */
	for (unsigned int i = 0; i < 15; i++)
		assert_true(concerns(LINK("[0,0]", "[1,0]", 7)));
	assert_true(concerns(ABOUT("recovery", "recovery", 5)));
	assert_true(concerns(LINK("[0,0]", "[1,0]", 7)));
	assert_false(concerns(ABOUT("recovery", "recovery", 5)));
}

static void nodes_concern_their_job(void **state)
{
	(void)state;
	assert_true(concerns(OF("node", "[3,3]", "node 1,0 ('n1-0') is dead")));
	assert_true(concerns(OF("node", "[3,3]", "over: node 1,0 ('n1-0') is dead")));
	assert_false(concerns(OF("node", "[0,0]", "node 2,0 ('n2-0') is dead")));
	assert_true(concerns(OF("node", "[0,0]", "'n0-0' joins")));
	assert_false(concerns(OF("node", "[2,0]", "'n2-0' joins")));
}

static void a_job_has_events_by_its_own_name_alone(void **state)
{
	(void)state;
	assert_true(concerns(OF("job", "[3,3]", "job 'mine' of uid 0 began on 2 nodes")));
	assert_false(concerns(OF("job", "[0,0]", "job 'mine2' was ended by uid 0")));
	assert_false(concerns(OF("job", "[0,0]", "job 'other' has fallen apart")));
}

static void what_a_node_notices_of_its_nic_concerns_its_job(void **state)
{
	(void)state;
	assert_true(concerns(OF("line", "[1,0]", "port +x uses 11 of 12 lanes")));
	assert_false(concerns(OF("line", "[2,0]", "port +x uses 11 of 12 lanes")));
	assert_true(concerns(OF("stall", "[0,0]", "-")));
	/* As root it speaks of others. */
	assert_false(concerns(OF("table", "[0,0]", "version 7: node 2,0 lost")));
	assert_false(concerns(OF("root", "[0,0]", "this node claims epoch 2")));
	assert_false(concerns("{`node`:[0,0]}"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cables_concern_a_job_with_both_ends, start_job, end_job),
		cmocka_unit_test_setup_teardown(recoveries_concern_a_job_if_its_cables_began_them,
						start_job, end_job),
		cmocka_unit_test_setup_teardown(nodes_concern_their_job, start_job, end_job),
		cmocka_unit_test_setup_teardown(a_job_has_events_by_its_own_name_alone, start_job,
						end_job),
		cmocka_unit_test_setup_teardown(what_a_node_notices_of_its_nic_concerns_its_job,
						start_job, end_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
