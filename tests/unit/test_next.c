// SPDX-License-Identifier: GPL-2.0-only
/* The next steps that "status" proposes: which command for which problem, and how it is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricctl/command.h"
#include "tools/fabricctl/json.h"
#include "tools/fabricctl/next.h"

const struct program this_program = { .name = "test" };

static const struct ctl plain;

/* Return: the steps for a status, one a line: "COMMAND: TEXT" */
static const char *steps_of(const struct ctl *ctl, const char *status)
{
	static char text[4096];
	json_error_t why;
	json_t *s = json_loads(status, 0, &why), *list, *v;
	size_t i, n = 0;

	if (!s)
		fail_msg("%s: %s", why.text, status);
	list = next_steps(ctl, s);
	*text = '\0';
	json_array_foreach(list, i, v)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s: %s\n", json_text(v, "command"),
				      json_text(v, "text"));
	json_decref(list);
	json_decref(s);
	return text;
}

static void has_step(const char *status, const char *wanted)
{
	const char *steps = steps_of(&plain, status);

	if (!strstr(steps, wanted))
		fail_msg("no '%s' for %s, but\n%s", wanted, status, steps);
}

#define PROBLEM(kind, text) "{\"problems\":[{\"kind\":\"" kind "\",\"text\":\"" text "\"}]}"
#define FAULTY(reason, dead) \
	"{\"faulty\":[{\"node\":[0,0],\"port\":\"+x\",\"reason\":\"" reason "\",\"dead\":" dead "}]}"

static void step_depends_on_what_is_wrong_with_node(void **state)
{
	(void)state;
	has_step(PROBLEM("node", "node 1,1 ('n') is dead"),
		 "fabricctl links --bad: shows its cables; start the node");
	has_step(PROBLEM("node", "node 1,1 ('n') is dead: its NIC is gone; its manager waits for it"),
		 "fabricctl events --kind nic: shows when, and why; repair the NIC there");
	has_step(PROBLEM("node", "node 1,1 ('n') is silent: it has not joined"),
		 "fabricctl events --level warning --kind seal,release,nic,fabric,node: shows what "
		 "its neighbours report; start fabricd there if it does not run");
	has_step(PROBLEM("nic", "no NIC here yet"),
		 "fabricctl events --kind nic: shows since when; 'fabricctl device list' shows");
	has_step(PROBLEM("nic", "the NIC is gone"),
		 "restart the NIC of that node; another manager (--node) shows the fabric\n");
	has_step(PROBLEM("plan", "no address plan"),
		 "fabricctl events --kind plan: shows when it began; PROBLEMS in fabricd(8)");
}

static void step_for_cable_depends_on_reason(void **state)
{
	(void)state;
	has_step(FAULTY("admin", "null"), "'fabricctl link up' brings it up again\n");
	has_step(FAULTY("carrier", "null"), "check that the plugs sit");
	has_step(FAULTY("silence", "null"), "the end that receives nothing");
	has_step(FAULTY("retry", "null"), "reseat or replace the cable\n");
	has_step(FAULTY("carrier", "[1,0]"), "shows its cables; start the node");
	/* A cable that is held down has a problem, and that has the step. */
	assert_string_equal(steps_of(&plain, FAULTY("flap", "null")), "");
}

/* The cables of a dead node are not a second step, in other words. */
static void dead_node_has_one_step(void **state)
{
	(void)state;
	assert_string_equal(steps_of(&plain,
		"{\"problems\":[{\"kind\":\"node\",\"text\":\"node 1,0 ('n') is dead: its NIC is gone\"}],"
		"\"faulty\":[{\"node\":[0,0],\"port\":\"+x\",\"reason\":\"silence\",\"dead\":[1,0]}]}"),
		"fabricctl events --kind nic: shows when, and why; repair the NIC there, and load its "
		"driver or start its process\n");
	has_step("{\"problems\":[{\"kind\":\"node\",\"text\":\"node 11,0 ('n') is dead\"}],"
		 "\"faulty\":[{\"node\":[0,0],\"port\":\"+x\",\"reason\":\"silence\",\"dead\":[1,0]}]}",
		 "shows its cables; start the node");
}

#define QUALITY(members) "{\"degraded_links\":[{\"node\":[0,0],\"port\":\"+x\",\"quality\":{" members "}}]}"

static void step_for_degraded_link_depends_on_quality(void **state)
{
	(void)state;
	has_step(QUALITY("\"level\":\"fail\",\"errors\":9"),
		 "fabricctl links --errors: shows errors and bits of each receiver; clean");
	has_step(QUALITY("\"level\":\"warn\",\"slow\":true,\"errors\":0"),
		 "fabricctl link test 0,0:+x: measures the round trip");
	has_step(QUALITY("\"level\":\"good\""), "fabricctl links --bad: shows lanes, rate and margin");
}

/* The command asks the same manager, and can be copied into a shell; each step is there once. */
static void command_has_options_that_select_the_manager(void **state)
{
	const struct ctl ctl = { .lab = "l1", .node = "it's" };

	(void)state;
	assert_string_equal(steps_of(&ctl, "{\"problems\":[{\"kind\":\"wiring\",\"text\":\"a\"},"
					   "{\"kind\":\"wiring\",\"text\":\"b\"}]}"),
			    "fabricctl cabling --lab l1 --node 'it'\\''s': names the ends to move\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(step_depends_on_what_is_wrong_with_node),
		cmocka_unit_test(step_for_cable_depends_on_reason),
		cmocka_unit_test(dead_node_has_one_step),
		cmocka_unit_test(step_for_degraded_link_depends_on_quality),
		cmocka_unit_test(command_has_options_that_select_the_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
