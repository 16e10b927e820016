// SPDX-License-Identifier: GPL-2.0-only
/* Outages of cables, put together from events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricctl/command.h"
#include "tools/fabricctl/outages.h"

const struct program this_program = { .name = "test" };

/* Events are written as JSON with ' for ", one after the other. */
static json_t *json_of(const char *text)
{
	char *copy = strdup(text);
	json_t *j;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	j = json_loads(copy, 0, NULL);
	if (!j)
		fail_msg("no JSON: %s", copy);
	free(copy);
	return j;
}

#define CABLE(x) "'node':[" #x ",0],'port':'+x','name':'n" #x "','peer':{'node':[9,0],'port':'-x','name':'m'}"
#define LINK(time, ms, log, x, state, reason, version, was) \
	"{'time':" #time ",'clock_ms':" #ms ",'log':'" log "','by':'r','boot':'b','kind':'link','link':{" \
	CABLE(x) ",'state':'" state "','reason':" reason ",'excluded':false,'version':" #version \
	",'was_for_ms':" #was "}}"
#define RECOVERY(log, version) \
	"{'log':'" log "','kind':'recovery','recovery':{'version':" #version ",'duration_ms':12.5,'parked':3," \
	"'replayed':3,'lost':0}}"
#define RECOVERED(version) \
	"{'version':" #version ",'duration_ms':12.5,'parked':3,'replayed':3,'lost':0}"
#define OUTAGE(x, state, from, to, ms, reason, silent, recovery, pause) \
	"{'link':{" CABLE(x) "},'state':'" state "','from':" from ",'to':" to ",'duration_ms':" ms "," \
	"'reason':" reason ",'excluded':false,'silent_ms':" silent ",'recovery':" recovery ",'pause_ms':" pause "," \
	"'dead':null,'latest':false}"

static void finds(const char *events, const char *faulty, const char *wanted)
{
	json_t *e = json_of(events), *f = faulty ? json_of(faulty) : NULL, *w = json_of(wanted);
	json_t *got = outages_find(e, f);

	if (!json_equal(got, w))
		fail_msg("got %s", json_dumps(got, 0));
	json_decref(got);
	json_decref(w);
	json_decref(f);
	json_decref(e);
}

static void outages_of_cable_follow_each_other(void **state)
{
	(void)state;
	finds("[]", "[]", "[]");
	finds("[" LINK(100.5, 1000, "a", 1, "lost", "'silence'", 7, 50) ","
	      LINK(100.5, 1000, "a", 2, "lost", "'carrier'", 7, 50) ","
	      RECOVERY("a", 6) "," RECOVERY("b", 9) "," RECOVERY("a", 8) ","
	      LINK(103.5, 4000, "a", 1, "up", "null", 9, 3000) "," RECOVERY("a", 9) ","
	      LINK(105.5, 6000, "a", 1, "lost", "'retry'", 10, 2000) "]", NULL,
	      "[" OUTAGE(1, "mended", "100.5", "103.5", "3000", "'silence'", "350", RECOVERED(8), "362.5") ","
	      OUTAGE(2, "lost", "100.5", "null", "null", "'carrier'", "0", RECOVERED(8), "12.5") ","
	      OUTAGE(1, "lost", "105.5", "null", "null", "'retry'", "null", "null", "null") "]");
}

/* A new root does not know when a cable was lost under the former one, nor how long traffic paused. */
static void pause_before_new_root_is_unknown(void **state)
{
	(void)state;
	finds("[" LINK(100.5, 1000, "a", 1, "lost", "'carrier'", 7, 0) ","
	      LINK(100.5, 1000, "a", 2, "lost", "'silence'", 7, 0) "," RECOVERY("a", 8) "]", NULL,
	      "[" OUTAGE(1, "lost", "100.5", "null", "null", "'carrier'", "null", RECOVERED(8), "null") ","
	      OUTAGE(2, "lost", "100.5", "null", "null", "'silence'", "null", RECOVERED(8), "null") "]");
}

/* The time of day was set back during an outage: its duration is that of the monotonic clock. */
static void duration_is_that_of_monotonic_clock(void **state)
{
	(void)state;
	finds("[" LINK(100.5, 1000, "a", 1, "lost", "null", 7, 50) ","
	      LINK(40.5, 6000, "a", 1, "up", "null", 8, 5000) "]", NULL,
	      "[" OUTAGE(1, "mended", "100.5", "40.5", "5000", "null", "null", "null", "null") "]");
}

/*
 * A cable was lost while there was no root: the outage begins at the time at which the next root
 * learned of it.
 */
static void outage_from_before_root_has_its_time(void **state)
{
	(void)state;
	finds("[" LINK(100.5, 1000, "a", 1, "up", "null", 7, 50) "]", NULL,
	      "[" OUTAGE(1, "mended", "null", "100.5", "50", "null", "null", "null", "null") "]");
}

/*
 * The end of an outage was not seen: the cable came back while there was no root, and is up; or it
 * is still down, as its other end reports.
 */
static void unseen_end_of_outage_is_unknown_or_lost(void **state)
{
	static const char events[] = "[" LINK(100.5, 1000, "a", 1, "lost", "null", 7, 50) "]";

	(void)state;
	finds(events, "[]",
	      "[" OUTAGE(1, "unknown", "100.5", "null", "null", "null", "null", "null", "null") "]");
	finds(events, "[{" CABLE(1) "}]",
	      "[" OUTAGE(1, "lost", "100.5", "null", "null", "null", "null", "null", "null") "]");
	finds(events, "[{'node':[9,0],'port':'-x','peer':{'node':[1,0],'port':'+x'}}]",
	      "[" OUTAGE(1, "lost", "100.5", "null", "null", "null", "null", "null", "null") "]");
	/* A loss that is told once more, by the next root, is the same. */
	finds("[" LINK(100.5, 1000, "a", 1, "lost", "null", 7, 50) ","
	      LINK(200.5, 2000, "b", 1, "lost", "null", 9, 0) "]", NULL,
	      "[" OUTAGE(1, "lost", "100.5", "null", "null", "null", "null", "null", "null") "]");
}

/* A root tells that a cable is lost that has been up: an earlier loss has ended, though unseen. */
static void next_loss_ends_the_one_before(void **state)
{
	json_t *events = json_of("[" LINK(100.5, 1000, "a", 1, "lost", "null", 7, 50) ","
				 LINK(200.5, 9000, "b", 1, "lost", "null", 9, 20000) "]");
	json_t *got = outages_find(events, NULL), *first = json_array_get(got, 0);

	(void)state;
	assert_int_equal(json_array_size(got), 2);
	assert_string_equal(json_string_value(json_object_get(first, "state")), "mended");
	assert_true(json_is_true(json_object_get(first, "latest")));
	assert_true(json_number_value(json_object_get(first, "to")) == 180.5);
	assert_int_equal(json_integer_value(json_object_get(first, "duration_ms")), 80000);
	assert_string_equal(json_string_value(json_object_get(json_array_get(got, 1), "state")), "lost");
	assert_true(json_number_value(json_object_get(json_array_get(got, 1), "from")) == 200.5);
	json_decref(got);
	json_decref(events);
}

static void add_join(json_t *events, double time, const char *name)
{
	char text[64];

	snprintf(text, sizeof(text), "'%s' (10.9.0.1:7117) joins", name);
	json_array_append_new(events, json_pack("{s:f, s:i, s:s, s:s, s:s, s:s, s:s}", "time", time,
						"clock_ms", 1, "log", "b", "by", "r", "boot", "c",
						"kind", "node", "text", text));
}

/* Return: the end of an outage that began at 100.5, if the nodes at its ends join at these times. */
static const char *end_after(double one, double other, const char *faulty)
{
	static char out[64];
	json_t *events = json_of("[" LINK(100.5, 1000, "a", 1, "lost", "null", 7, 50) "]");
	json_t *f = json_of(faulty), *o, *outages;

	add_join(events, one, "n1");
	add_join(events, other, "m");
	add_join(events, 900, "m");
	outages = outages_find(events, f);
	o = json_array_get(outages, 0);
	snprintf(out, sizeof(out), "%s %g %g%s", json_string_value(json_object_get(o, "state")),
		 json_number_value(json_object_get(o, "to")),
		 json_number_value(json_object_get(o, "duration_ms")),
		 json_is_true(json_object_get(o, "latest")) ? " latest" : "");
	json_decref(outages);
	json_decref(f);
	json_decref(events);
	return out;
}

/* After a loss of power no root has seen that cables came back. */
static void unseen_end_is_not_later_than_the_return_of_both_nodes(void **state)
{
	(void)state;
	assert_string_equal(end_after(150.5, 120.5, "[]"), "mended 150.5 50000 latest");
	assert_string_equal(end_after(120.5, 150.5, "[]"), "mended 150.5 50000 latest");
	assert_string_equal(end_after(120.5, 150.5, "[{" CABLE(1) "}]"), "lost 0 0");
	/* A node that joined before the loss has no part in it. */
	assert_string_equal(end_after(50.5, 60.5, "[]"), "mended 900 799500 latest");
}

/* Nodes that elected the next root do not join it afterwards: then its begin is the latest time. */
static void unseen_end_is_not_later_than_the_next_root(void **state)
{
	json_t *events = json_of("[" LINK(100.5, 1000, "a", 1, "lost", "null", 7, 50) ","
				 "{'time':130.5,'kind':'root','text':'this node is root now, in epoch 2'}]");
	json_t *none = json_array(), *got = outages_find(events, none), *o = json_array_get(got, 0);

	(void)state;
	assert_true(json_number_value(json_object_get(o, "to")) == 130.5);
	assert_true(json_is_true(json_object_get(o, "latest")));
	json_decref(got);
	json_decref(none);
	json_decref(events);
}

/* A node whose name begins or ends alike, or another event of the same node, ends no outage. */
static void only_the_return_of_its_nodes_ends_an_outage(void **state)
{
	static const char *const texts[] = {
		"'n10' (10.9.0.1:7117) joins", "'n' (10.9.0.1:7117) joins", "'n1' (10.9.0.1:7117) leaves",
		"'n1' joins", "n1 (10.9.0.1:7117) joins", "",
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *events = json_of("[" LINK(100.5, 1000, "a", 1, "lost", "null", 7, 50) "]");
		json_t *none = json_array(), *outages;

		json_array_append_new(events, json_pack("{s:f, s:s, s:s}", "time", 120.5, "kind", "node",
							"text", texts[i]));
		outages = outages_find(events, none);
		assert_string_equal(json_string_value(json_object_get(json_array_get(outages, 0), "state")),
				    "unknown");
		json_decref(outages);
		json_decref(none);
		json_decref(events);
	}
}

/* Names are in ', so this text is written as such. Return: who is dead of these outages, as "1 -1 3". */
static const char *dead_of(const char *before, const char *text, const char *after)
{
	static char out[256];
	json_t *events = json_of(before), *more = json_of(after), *outages, *v, *n;
	size_t i;

	json_array_append_new(events, json_pack("{s:f, s:s, s:s}", "time", 105.5, "kind", "node", "text", text));
	json_array_extend(events, more);
	outages = outages_find(events, NULL);
	out[0] = '\0';
	json_array_foreach(outages, i, v) {
		n = json_array_get(json_object_get(v, "dead"), 0);
		sprintf(out + strlen(out), "%s%lld", i ? " " : "", n ? (long long)json_integer_value(n) : -1);
	}
	json_decref(outages);
	json_decref(more);
	json_decref(events);
	return out;
}

/*
 * A node dies: its cables, lost shortly before or after that is reported, are not at fault; others
 * are.
 */
static void cables_of_dead_node_are_not_at_fault(void **state)
{
	static const char before[] = "[" LINK(50.5, 1000, "a", 3, "lost", "null", 7, 50) ","
		LINK(100.5, 1000, "a", 1, "lost", "null", 7, 50) "," LINK(100.5, 1000, "a", 2, "lost", "null", 7, 50) "]";
	static const char after[] = "[" LINK(106.5, 1000, "a", 4, "lost", "null", 7, 50) ","
		LINK(107.5, 1000, "a", 1, "up", "null", 7, 50) "," LINK(108.5, 1000, "a", 1, "lost", "null", 7, 50) "]";

	(void)state;
	assert_string_equal(dead_of(before, "node 1,0 ('n1') is dead", "[]"), "-1 1 -1");
	assert_string_equal(dead_of(before, "node 3,0 ('n3') is dead", "[]"), "-1 -1 -1");
	assert_string_equal(dead_of(before, "node 9,0 ('m') is dead: why", after), "-1 9 9 9 9");
	assert_string_equal(dead_of(before, "node 11,0 ('n1') is dead", "[]"), "-1 -1 -1");
	assert_string_equal(dead_of(before, "node 1,0 ('n1') is silent", "[]"), "-1 -1 -1");
	assert_string_equal(dead_of(before, "over: node 1,0 ('n1') is dead", after), "-1 -1 -1 -1 -1");
	assert_string_equal(dead_of("[]", "node 4,0 ('n4') is dead", after), "4 -1 -1");
}

/* The duration of a cable that is still lost goes on; that of others is known, or is not. */
static void duration_of_lost_cable_goes_on(void **state)
{
	json_t *events = json_of("[" LINK(100.5, 1000, "a", 1, "lost", "null", 7, 50) ","
				 LINK(101.5, 2000, "a", 2, "lost", "null", 8, 50) ","
				 LINK(102.5, 3000, "a", 2, "up", "null", 9, 50) ","
				 LINK(103.5, 4000, "a", 3, "lost", "null", 10, 50) "]");
	json_t *faulty = json_of("[{" CABLE(1) "}]"), *got = outages_find(events, faulty);
	json_t *want = json_of(
		"[" OUTAGE(1, "lost", "100.5", "null", "9000", "null", "null", "null", "null") ","
		OUTAGE(2, "mended", "101.5", "102.5", "1000", "null", "null", "null", "null") ","
		OUTAGE(3, "unknown", "103.5", "null", "null", "null", "null", "null", "null") "]");

	(void)state;
	outages_so_far(got, 109.5);
	assert_true(json_equal(got, want));
	/* The clock was set back. */
	outages_so_far(got, 50);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(got, 0), "duration_ms")), 0);
	json_decref(want);
	json_decref(got);
	json_decref(faulty);
	json_decref(events);
}

/* A link that an administrator took down is not lost. */
static void link_that_was_taken_down_is_held(void **state)
{
	static const struct { const char *outage, *text; bool held; } cases[] = {
		{ "{'state':'lost','reason':'admin'}", "held down", true },
		{ "{'state':'lost','reason':'carrier'}", "still lost", false },
		{ "{'state':'lost','reason':null}", "still lost", false },
		{ "{'state':'unknown','reason':'admin'}", "not seen", false },
		{ "{'state':'mended','reason':'admin'}", "still lost", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *o = json_of(cases[i].outage);

		assert_string_equal(outages_end_text(o), cases[i].text);
		assert_int_equal(outages_held(o), cases[i].held);
		json_decref(o);
	}
}

static void odd_events_are_ignored(void **state)
{
	(void)state;
	finds("[1,null,{},{'link':3},{'link':{}},{'link':{'state':7}},{'recovery':{}},{'log':'a','recovery':[]}]",
	      "[1]", "[]");
}

/* A cable that was lost some seconds before the others of a node that dies has a cause of its own. */
static void cable_lost_before_others_of_dead_node_is_at_fault(void **state)
{
	static const char before[] = "[" LINK(98.4, 1000, "a", 1, "lost", "'carrier'", 7, 50) ","
		LINK(100.5, 1000, "a", 2, "lost", "null", 8, 50) ","
		LINK(101.5, 1000, "a", 3, "lost", "null", 8, 50) "]";

	(void)state;
	assert_string_equal(dead_of(before, "node 9,0 ('m') is dead", "[]"), "-1 9 9");
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(outages_of_cable_follow_each_other),
		cmocka_unit_test(pause_before_new_root_is_unknown),
		cmocka_unit_test(duration_is_that_of_monotonic_clock),
		cmocka_unit_test(outage_from_before_root_has_its_time),
		cmocka_unit_test(unseen_end_of_outage_is_unknown_or_lost),
		cmocka_unit_test(next_loss_ends_the_one_before),
		cmocka_unit_test(unseen_end_is_not_later_than_the_return_of_both_nodes),
		cmocka_unit_test(unseen_end_is_not_later_than_the_next_root),
		cmocka_unit_test(only_the_return_of_its_nodes_ends_an_outage),
		cmocka_unit_test(cables_of_dead_node_are_not_at_fault),
		cmocka_unit_test(cable_lost_before_others_of_dead_node_is_at_fault),
		cmocka_unit_test(duration_of_lost_cable_goes_on),
		cmocka_unit_test(link_that_was_taken_down_is_held),
		cmocka_unit_test(odd_events_are_ignored),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
