// SPDX-License-Identifier: GPL-2.0-only
/* Differences between two times, by events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricctl/command.h"
#include "tools/fabricctl/difference.h"

const struct program this_program = { .name = "test" };

#define FROM 1000.0

/* Events are written as JSON with ` for ", because texts have names in '. */
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

#define EVENT(log, time, level, kind, text) \
	"{`log`:`" log "`,`by`:`r" log "`,`node`:[0,0],`time`:" #time ",`level`:`" level "`,`kind`:`" kind \
	"`,`text`:`" text "`}"
#define ERROR(log, time, kind, text) EVENT(log, time, "error", kind, text)
#define OVER(log, time, kind, text) EVENT(log, time, "info", kind, "over: " text)
#define ROOT(log, time) EVENT(log, time, "warning", "root", "this node is root now, in epoch 2")
#define LINK(time, x, state, was) \
	"{`log`:`a`,`time`:" #time ",`kind`:`link`,`level`:`info`,`text`:`-`,`link`:{`node`:[" #x ",0]," \
	"`port`:`+x`,`name`:`n`,`peer`:{`node`:[9,0],`port`:`-x`,`name`:`m`},`state`:`" state \
	"`,`reason`:null,`was_for_ms`:" #was "}}"
#define ORDER(time, state, node, ports) \
	"{`log`:`a`,`time`:" #time ",`kind`:`admin`,`level`:`info`,`text`:`-`,`order`:" \
	"{`state`:`" state "`,`node`:[" node "],`ports`:[" ports "]}}"
#define ALL "`+x`,`+y`,`-x`,`-y`"

/* Checks the differences, written as "x lost, y up; kind + text; kind - text; order; root". */
static void finds(const char *before, const char *events, const char *now, const char *wanted)
{
	json_t *b = json_of(before), *e = json_of(events), *s = now ? json_of(now) : NULL, *v;
	json_t *diff = difference_find(b, e, FROM, s);
	char got[2048] = "";
	size_t i;

	json_array_foreach(json_object_get(diff, "links"), i, v) {
		const json_t *node = json_object_get(json_object_get(v, "link"), "node");

		sprintf(got + strlen(got), "%lld %s, was %s; ",
			(long long)json_integer_value(json_array_get(node, 0)),
			json_string_value(json_object_get(v, "is")),
			json_string_value(json_object_get(v, "was")));
	}
	json_array_foreach(json_object_get(diff, "problems"), i, v) {
		assert_int_equal(json_object_size(v), 4);
		sprintf(got + strlen(got), "%s %s%s; ", json_string_value(json_object_get(v, "kind")),
			json_is_true(json_object_get(v, "is")) ? "+" : "-",
			json_string_value(json_object_get(v, "text")));
	}
	json_array_foreach(json_object_get(diff, "exclusions"), i, v) {
		const json_t *order = json_object_get(v, "order");
		char *node = json_dumps(json_object_get(order, "node"), JSON_COMPACT);
		char *ports = json_dumps(json_object_get(order, "ports"), JSON_COMPACT);

		sprintf(got + strlen(got), "%g %s %s %s; ",
			json_number_value(json_object_get(v, "time")),
			json_string_value(json_object_get(order, "state")), node, ports);
		free(node);
		free(ports);
	}
	json_array_foreach(json_object_get(diff, "boards"), i, v)
		sprintf(got + strlen(got), "%s %s, was %s; ", json_string_value(json_object_get(v, "name")),
			json_string_value(json_object_get(v, "is")),
			json_string_value(json_object_get(v, "was")));
	if (json_is_object(json_object_get(diff, "root")))
		strcat(got, json_string_value(json_object_get(json_object_get(diff, "root"), "name")));
	assert_string_equal(got, wanted);
	json_decref(diff);
	json_decref(b);
	json_decref(e);
	json_decref(s);
}

static void only_cables_in_another_state_differ(void **state)
{
	(void)state;
	finds("[]", "[]", NULL, "");
	finds("[]", "[" LINK(1001, 1, "lost", 5000) "," LINK(1001, 2, "lost", 5000) ","
	      LINK(1002, 2, "up", 1000) "," LINK(1003, 3, "up", 9000) "]", NULL,
	      "1 lost, was up; 3 up, was lost; ");
	/* The loss was after the first time, and is reported by a former root. */
	finds("[]", "[" LINK(1005, 1, "up", 2000) "]", NULL, "");
	finds("[" LINK(900, 1, "lost", 0) "]", "[" LINK(1005, 1, "up", 2000) "]", NULL, "1 up, was lost; ");
	/* The next root reports a loss that was before. */
	finds("[" LINK(900, 1, "lost", 0) "]", "[" LINK(1005, 1, "lost", 0) "]", NULL, "");
}

#define BOARD(time, node, name, is, was) \
	EVENT("a", time, "info", "node", "node " node " ('" name "') has another NIC: GUID " is ", before " was)
#define A "00000000000000aa"
#define B "00000000000000bb"
#define C "00000000000000cc"

static void replaced_boards_differ_unless_they_are_back(void **state)
{
	(void)state;
	finds("[]", "[" BOARD(1001, "1,0", "n1", B, A) "]", NULL, "n1 " B ", was " A "; ");
	finds("[]", "[" BOARD(1001, "1,0", "n1", B, A) "," BOARD(1002, "11,0", "n2", C, B) ","
	      BOARD(1003, "1,0", "new", C, B) "]", NULL, "new " C ", was " A "; n2 " C ", was " B "; ");
	finds("[]", "[" BOARD(1001, "1,0", "n1", B, A) "," BOARD(1003, "1,0", "n1", A, B) "]", NULL, "");
	finds("[" BOARD(900, "1,0", "n1", B, A) "]", "[]", NULL, "");
	finds("[]", "[" EVENT("a", 1001, "info", "node", "node 1,0 ('n1') has another NIC") "]", NULL, "");
}

#define WRONG "0,0:+x ('n0') is cabled to 1,0:+y ('n1')"
#define DEAD "node 1,0 ('n1') is dead"

static void only_new_and_ended_problems_differ(void **state)
{
	(void)state;
	finds("[]", "[" ERROR("a", 1001, "wave", "A") "," ERROR("a", 1001, "seal", "B") ","
	      OVER("a", 1002, "seal", "B") "," OVER("a", 1003, "isolated", "C") ","
	      EVENT("a", 1003, "warning", "tree", "this node has lost its parent") "]", NULL,
	      "wave +A; isolated -C; ");
	finds("[]", "[" ERROR("a", 1001, "seal", "B (said 3 times more meanwhile)") ","
	      OVER("a", 1002, "seal", "B") "]", NULL, "");
}

/*
 * The next root reports the problems that it finds: those from before are not new, and those that
 * it does not report have ended.
 */
static void problems_found_by_next_root_are_not_new(void **state)
{
	(void)state;
	finds("[" ROOT("a", 1) "," ERROR("a", 900, "wiring", WRONG) "," ERROR("a", 900, "seal", "S") ","
	      ERROR("a", 901, "flap", "F") "]",
	      "[" ROOT("b", 1001) "," ERROR("b", 1002, "wiring", WRONG) "]", NULL, "flap -F; rb");
	finds("[]", "[" ERROR("a", 1001, "flap", "F") "," ROOT("b", 1002) "," ERROR("b", 1003, "flap", "G")
	      "]", NULL, "flap +G; rb");
	/* A cable is the same problem, whatever it leads to. */
	finds("[" ERROR("a", 900, "flap", "the link from 0,0:+x ('n0') to 1,0:-x ('n1') fails") ","
	      ERROR("a", 901, "flap", "the link from 0,0:+x ('n0') to 2,0:-x ('n2') fails") ","
	      OVER("a", 902, "flap", "the link from 0,0:+x ('n0') to 2,0:-x ('n2') fails") ","
	      ERROR("a", 903, "wiring", WRONG) "," ERROR("a", 904, "wiring", "0,0:+x ('n0') is cabled to itself")
	      "]", "[" OVER("a", 1001, "wiring", "0,0:+x ('n0') is cabled to itself") "," ROOT("b", 1001) "]", NULL,
	      "wiring -0,0:+x ('n0') is cabled to itself; rb");
	/* A node is dead, whatever the cause that a root tells. */
	finds("[" ERROR("a", 900, "node", DEAD) "]", "[" ROOT("b", 1001) ","
	      ERROR("b", 1002, "node", DEAD ": no link leads to it") "]", NULL, "rb");
	finds("[" ERROR("a", 900, "node", DEAD) "]", "[" ROOT("b", 1001) ","
	      ERROR("b", 1002, "node", DEAD ": no link leads to it") "," OVER("b", 1003, "node", DEAD
	      ": no link leads to it") "]", NULL, "node -" DEAD ": no link leads to it; rb");
}

/* A manager that ends, ends no problem: the present status shows which problems there are. */
static void problem_ends_only_if_status_lacks_it(void **state)
{
	(void)state;
	finds("[]", "[" ERROR("a", 1001, "state", "full") "," ERROR("a", 1002, "node", DEAD) "]",
	      "{`root`:{`node`:[0,0]},`problems`:[{`kind`:`node`,`text`:`" DEAD "`}]}", "node +" DEAD "; ");
	finds("[]", "[" ERROR("a", 1001, "state", "full") "]",
	      "{`root`:{`node`:[5,0]},`problems`:[]}", "state +full; ");
	finds("[]", "[" ERROR("a", 1001, "state", "full") "]",
	      "{`root`:{`node`:[0,0]},`problems`:[],`problems_more`:3}", "state +full; ");
	finds("[]", "[" ERROR("a", 1001, "flap", "F") "]",
	      "{`root`:{`node`:[5,0]},`problems`:[]}", "");
	/* A problem of before ended, or was reported with another text, before the first time. */
	finds("[" ERROR("a", 901, "quorum", "1 of 9") "," ERROR("a", 902, "quorum", "2 of 9") ","
	      OVER("a", 903, "quorum", "2 of 9") "]", "[]", "{`root`:{`node`:[5,0]},`problems`:[]}", "");
	finds("[" ERROR("a", 901, "quorum", "1 of 9") "]", "[" ROOT("b", 1001) "]",
	      "{`root`:{`node`:[5,0]},`problems`:[]}", "quorum -1 of 9; rb");
}

/* Events of bad cables are matched although the texts of the beginning and of the end differ. */
static void end_of_bad_cable_matches_its_beginning(void **state)
{
	(void)state;
#define BAD "0,0:+x ('n0') receives badly from 1,0:-x ('n1'): 7 errors"
#define WORN "0,0:+x ('n0') loses margin from 1,0:-x ('n1'): 20%"
#define SLOW "line 0,0:+x: 10 of 12 lanes"
	finds("[]", "[" EVENT("a", 1001, "warning", "errors", BAD) "," EVENT("a", 1001, "warning", "errors", WORN)
	      "," EVENT("a", 1001, "warning", "line", SLOW) "]", "{`root`:{`node`:[0,0]},`problems`:[]}",
	      "errors +" BAD "; errors +" WORN "; line +" SLOW "; ");
	finds("[" EVENT("a", 901, "warning", "errors", BAD) "," EVENT("a", 901, "warning", "errors", WORN)
	      "," EVENT("a", 901, "warning", "line", SLOW) "]",
	      "[" OVER("a", 1001, "errors", "0,0:+x ('n0') receives well again from 1,0:-x ('n1')") ","
	      OVER("a", 1001, "errors", "0,0:+x ('n0') has its margin from 1,0:-x ('n1') again") ","
	      EVENT("a", 1001, "info", "line", "line 0,0:+x: 12 of 12 lanes") "]", NULL,
	      "errors -" BAD "; errors -" WORN "; line -" SLOW "; ");
}

/* A bad or worn link that is included is judged anew, so these problems end. */
static void judgement_ends_when_link_is_included(void **state)
{
	(void)state;
#define ANEW "from 1,0:-x ('n1'): the link was included and is judged anew"
	finds("[" EVENT("a", 901, "warning", "errors", BAD) ","
	      EVENT("a", 901, "warning", "errors", WORN) "]",
	      "[" OVER("a", 1001, "errors", "0,0:+x ('n0') receives " ANEW) ","
	      OVER("a", 1001, "errors", "0,0:+x ('n0') has a margin " ANEW) "]", NULL,
	      "errors -" BAD "; errors -" WORN "; ");
#define DELAYS "0,0:+x ('n0') has a slow cable to 1,0:-x ('n1'): the round trip takes 21 ms, elsewhere at most 1 ms"
	finds("[" EVENT("a", 901, "warning", "errors", DELAYS) "]",
	      "[" OVER("a", 1001, "errors", "0,0:+x ('n0') has a slow cable to 1,0:-x ('n1') no more") "]", NULL,
	      "errors -" DELAYS "; ");
}

/* A line is not reduced any more when its cable is lost, by whichever end the cable is named. */
static void reduced_line_ends_when_cable_is_lost(void **state)
{
	(void)state;
#define PEER "line 9,0:-x: 11 of 12 lanes"
	finds("[" EVENT("a", 901, "warning", "line", SLOW) "," EVENT("a", 901, "warning", "line", PEER) "]",
	      "[" LINK(1001, 0, "lost", 500000) "," LINK(1002, 0, "up", 1000) "]", NULL,
	      "line -" SLOW "; line -" PEER "; ");
	finds("[" EVENT("a", 901, "warning", "line", SLOW) "]",
	      "[" LINK(1001, 1, "lost", 500000) "," LINK(1002, 1, "up", 1000) "]", NULL, "");
	finds("[" EVENT("a", 901, "warning", "line", SLOW) "]",
	      "[" LINK(1001, 0, "lost", 500000) "," LINK(1002, 0, "up", 1000) ","
	      EVENT("a", 1003, "warning", "line", SLOW) "]", NULL, "");
	finds("[]", "[" LINK(1001, 0, "up", 500000) "," EVENT("a", 1002, "warning", "line", SLOW) ","
	      LINK(1003, 0, "lost", 2000) "]", NULL, "");
}

static void only_orders_still_in_force_differ(void **state)
{
	(void)state;
	finds("[" ORDER(900, "excluded", "3,0", "`+x`") "]", "[" ORDER(1001, "excluded", "1,0", "`+x`") ","
	      ORDER(1002, "excluded", "2,0", "`-x`") "," ORDER(1003, "included", "1,0", "`+x`") ","
	      ORDER(1004, "over", "3,0", "`+x`") ","
	      EVENT("a", 1005, "warning", "admin", "port 1,1:+x was taken down") "]", NULL,
	      "1002 excluded [2,0] [\"-x\"]; 1004 over [3,0] [\"+x\"]; ");
	finds("[]", "[" ORDER(1001, "excluded", "1,0", "`+x`") "," ORDER(1003, "over", "1,0", "`+x`") "]",
	      NULL, "");
	/* An order that is given again, other ports of the same node, and a whole node. */
	finds("[]", "[" ORDER(1001, "excluded", "1,0", "`+x`") "," ORDER(1002, "excluded", "2,0", ALL) ","
	      ORDER(1003, "excluded", "2,0", ALL) "," ORDER(1004, "included", "1,0", "`+x`") ","
	      ORDER(1005, "excluded", "0,3", "`+y`") "," ORDER(1006, "included", "0,3", "`+x`") ","
	      ORDER(1007, "over", "2,0", ALL) "]", NULL,
	      "1005 excluded [0,3] [\"+y\"]; 1006 included [0,3] [\"+x\"]; ");
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(only_cables_in_another_state_differ),
		cmocka_unit_test(replaced_boards_differ_unless_they_are_back),
		cmocka_unit_test(only_new_and_ended_problems_differ),
		cmocka_unit_test(problems_found_by_next_root_are_not_new),
		cmocka_unit_test(problem_ends_only_if_status_lacks_it),
		cmocka_unit_test(end_of_bad_cable_matches_its_beginning),
		cmocka_unit_test(judgement_ends_when_link_is_included),
		cmocka_unit_test(reduced_line_ends_when_cable_is_lost),
		cmocka_unit_test(only_orders_still_in_force_differ),
	};

	return cmocka_run_group_tests_name("difference", all, NULL, NULL);
}
