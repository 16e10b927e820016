// SPDX-License-Identifier: GPL-2.0-only
/* fabricctl root: the data of the root and of its candidates, and how it hands over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/fake_manager.h"
#include "tests/unit/program.h"

static void root_command_shows_and_moves_root(void **state)
{
	(void)state;
	fake.dead[1] = true;
	expect("root", 0);
	has(out, "root     n0-0 (0,0), epoch 3, for ");
	has(out, "CANDIDATE  NAME  PRIORITY  MANAGER  DISK\n"
		 "0,0        n0-0       255  answers  -\n"
		 "1,0        n1-0       100  silent   behind\n");
	has(out, "arbiter  /lib/arbiter, granted for epoch 3 ");
	assert_null(strstr(out, "called"));
	fake.calls[0] = 1;
	fake.calls[1] = 1;
	expect("root", 0);
	has(out, "\ncalled   1 over the service network: 1 follows\n");
	fake.calls[0] = 2;
	fake.calls[1] = 0;
	expect("root", 0);
	has(out, "\ncalled   2 over the service network: 0 follow, 2 without an answer\n");
	fake.calls[0] = 0;
	fake.calls[3] = 1;
	expect("root", 0);
	has(out, "\ncalled   0 over the service network, 1 without an address\n");
	fake.calls[3] = 0;
	expect("root move n2-1", 0);
	has(out, "node 2,1 is root now\n");
	expect("root move 2,1 --json", 0);
	has(out, "\"changed\":false");
	expect("root move 2,1", 0);
	has(out, "node 2,1 is root already\n");
	fake.refuses_move = true;
	expect("root move 3,1 --timeout 1", 6);
	has(err, "after 1 s node 3,1 is not root; 'fabricctl root' shows which one is, and 'fabricctl events' there says why");
	expect("root", 0);
	has(out, "arbiter  /lib/arbiter, unknown for epoch 3 ");
	has(out, " ago: it is down\n");
	fake.no_candidate = true;
	expect("root", 0);
	has(out, "\nno other node would become root: root_priority is 0 on all of them\n");
	fake.rootless = true;
	expect("root", 1);
	has(out, "\nthis node is not a candidate (its root_priority is 0), and only a root knows the candidates: "
		 "ask another node with --node\n");
	fake.rootless = false;
	expect("root mve 3,1", 2);
	has(err, "'mve': must be 'move NODE', or nothing to show the root");
	expect("root move", 2);
	has(err, "root move: which node is to become root?");
}

/*
 * Tells which node takes over, and that nothing is known of most; it is a problem whatever the
 * state says.
 */
static void status_without_root_names_node_that_takes_over(void **state)
{
	(void)state;
	fake.rootless = true;
	fake.dead[3] = true;
	expect("status", 1);
	has(out, "nodes    15 of 16 up by their last reports, of the others nothing is known for ");
	has(out, " h, 1 reported now\nlinks    31 of 32 up by their last reports, of the others nothing is known for ");
	has(out, " h, 4 reported now, 1 faulty\n");
	has(out, "root     none for ");
	has(out, " h: n0-0 (0,0) is lost\nasked    n1-0 (1,0)\n");
	has(out, " shows who takes over, within seconds; if nobody does, start the managers that do not answer\n");
	fake.unnamed = true;
	expect("status", 1);
	has(out, " h: 172.30.0.1:7117 is lost\nasked    n1-0 (1,0)\n");
	fake.unnamed = false;
	fake.dead[3] = false;
	fake.root_state = "asks";
	expect("status", 1);
	has(out, "nodes    16 of 16 up by their last reports, 1 reported now\n");
	has(out, " h: n0-0 (0,0) is taking over (2 of 9 nodes answer)\n");
	memcpy(fake.calls, (unsigned int[]) { 5, 2, 1, 3 }, sizeof(fake.calls));
	expect("status", 1);
	has(out, " (2 of 9 nodes answer)\ncalled   5 over the service network: 2 follow, 1 follows another, 2 without an answer, 3 without an address\n");
	memset(fake.calls, 0, sizeof(fake.calls));
	fake.root_state = "claims";
	expect("status", 1);
	has(out, " h: n0-0 (0,0) is taking over (2 of 9 nodes obey it)\n");
	fake.root_here = 9;
	expect("status", 1);
	has(out, " (9 of 9 nodes obey it)\n");
	fake.root_here = 11;
	expect("status", 1);
	has(out, " (11 nodes obey it, of which 9 are enough)\n");
	fake.root_state = "unknown";
	expect("status", 1);
	has(out, "root     none known yet\n");
	has(out, " shows the root, and the candidates for it; start the managers that do not answer\n");
	fake.state = "bootstrapping";
	expect("status", 0);
}

/* Facts that a node knows itself are labelled as such, in the text and beside JSON. */
static void answers_without_root_are_labelled(void **state)
{
	static const char *const what[] = { "nodes", "links", "counters", "nodes --map", "park", "table" };
	json_t *j;

	(void)state;
	fake.rootless = fake.silent[2] = true;
	for (unsigned int i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		expect(what[i], 1);
		has(out, "no root for ");
		has(out, ": this is what n1-0 (1,0) knows itself, and from the nodes that it can ask\n");
		has(err, "1 node cannot be asked from here: 2,0");
		assert_null(strstr(strstr(err, "cannot be asked") + 1, "cannot be asked"));
	}
	expect("nodes", 1);
	has(out, "NODE  NAME  STATE        HEARD  ADDRESS ");
	has(out, "1,0   n1-0  up             now  ");
	has(out, "2,0   n2-0  unknown  2.1 s ago  ");
	expect("links --json", 1);
	has(err, ": this is what n1-0 (1,0) knows itself");
	j = printed();
	assert_int_equal(json_array_size(j), 64);
	json_decref(j);
	expect("verify", 1);
	has(err, ": this is what n1-0 (1,0) knows itself");
}

/* Rows that can be read without a root are shown as what they are, and never prove the whole. */
static void rows_without_root_prove_nothing(void **state)
{
	static const char label[] = ": this is what n1-0 (1,0) knows itself, and from the nodes";
	json_t *j;

	(void)state;
	fake.rootless = true;
	for (uint32_t i = 0; i < fake.nodes; i++)
		fake.silent[i] = i != 1 && i != 5;
	expect("routes 1,0", 1);
	has(out, label);
	has(out, "\nrows in the NIC of 1,0, version 7\n");
	expect("routes 1,0 --json", 1);
	has(err, label);
	has(out, "\"rootless\":true");
	expect("trace 1,0 2,0", 1);
	has(err, label);
	has(out, "1,0 +x--> 2,0\n1 hop, shortest 1\n");
	expect("trace 1,0 2,0 --json", 1);
	has(out, "\"end\":\"arrived\"");
	has(out, "\"rootless\":true");
	expect("verify", 1);
	has(err, label);
	has(out, "30 pairs of 2 nodes walked, table version 7: no culprit among these, by a table that may be "
		 "old; nothing is known of the rows of 14 other nodes\n");
	expect("verify --json", 1);
	j = printed();
	assert_true(json_is_false(json_object_get(j, "ok")));
	assert_true(json_is_true(json_object_get(j, "rootless")));
	assert_int_equal(json_array_size(json_object_get(j, "unread")), 14);
	assert_int_equal(json_array_size(json_object_get(j, "culprits")), 0);
	json_decref(j);
	expect("exclude 1,0:+x --dry-run", 1);
	has(err, label);
	has(out, "; 0 have none\n");
	expect("exclude 1,0:+x --dry-run --json", 1);
	has(out, "\"ok\":false");
	has(out, "\"rootless\":true");
	/* If all can be read, the table may still be an old one. */
	memset(fake.silent, 0, sizeof(fake.silent));
	expect("verify", 1);
	has(out, "240 pairs of 16 nodes walked, table version 7: no culprit among these, by a table that may be "
		 "old\n");
	/* A missing row is a culprit without a root, too. */
	fake.row[1][2] = 0;
	expect("verify", 1);
	has(out, "no-row     1,0 to 2,0: ");
	has(out, ": 1 culprit\n");
}

/* Commands that only the root can do or answer fail while there is none. */
static void commands_for_root_fail_without_it(void **state)
{
	static const char *const what[] = { "verify", "verify --json", "trace 0,0 1,1", "routes 0,0",
					    "exclude 0,0:+x", "root move 1,0" };

	(void)state;
	fake.root_away = true;
	for (unsigned int i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		expect(what[i], 5);
		has(err, "fabricctl: there is no root\n");
		if (strstr(what[i], "--json"))
			has(out, "{\"ok\":false,\"code\":\"unreachable\"");
		else
			assert_string_equal(out, "");
	}
	expect("verify", 5);
	has(err, "no NIC's rows could be read: nothing is verified");
}

/* A large fabric is asked in parts, as many as the replies have room for. */
static void large_fabric_is_asked_in_parts(void **state)
{
	json_t *j;

	(void)state;
	fake_stop(&fake);
	fake_start(&fake, "2x2x2x2x4x4");
	setenv("TORUS_CONTROL", fake.path, 1);
	expect("links --json", 0);
	assert_int_equal(json_integer_value(json_object_get(fake.request, "count")), 10);
	assert_string_equal(json_string_value(json_object_get(fake.request, "node")), "0,1,0,1,3,3");
	j = printed();
	assert_int_equal(json_array_size(j), 256 * 12);
	json_decref(j);
	expect("links 1,0,0,0,0,0 --json", 0);
	assert_null(json_object_get(fake.request, "count"));
	expect("counters --json", 0);
	assert_null(json_object_get(fake.request, "count"));
	fake.silent[200] = true;
	expect("links", 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(root_command_shows_and_moves_root, fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(status_without_root_names_node_that_takes_over,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(answers_without_root_are_labelled,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(rows_without_root_prove_nothing,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(commands_for_root_fail_without_it,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(large_fabric_is_asked_in_parts,
						fake_setup, fake_teardown),
	};

	(void)argc;
	program_is(argv[0], "fabricctl");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
