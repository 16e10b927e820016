// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of cables and problems at the first time follows from the events before it. If there is
 * no such event for a cable, its state follows from the first event after that time, because an
 * event is a change.
 *
 * A problem begins with an error and ends with the same text after "over: ". But the problems that
 * a root has found end when another node becomes root: the new root finds and reports those that
 * still exist. A manager that exits does not end its problems by events. So at the present time,
 * the root's problems are those in its status. A line is no longer reduced when its cable is lost;
 * if it still is when the cable is back, the manager there reports it again.
 *
 * Test: tests/unit/test_difference.c.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "difference.h"
#include "json.h"

#define OVER "over: "
#define IS_ROOT "this node is root now"

static const char *const of_root[] = {
	"arbiter", "bootstrap", "candidate", "dispute", "flap", "isolated", "job", "node", "place",
	"plan", "quorum", "recovery", "refused", "relay", "wiring", NULL
};

static bool is_of_root(const char *kind)
{
	for (unsigned int i = 0; of_root[i]; i++)
		if (!strcmp(of_root[i], kind))
			return true;
	return false;
}

static json_t *find_by(const json_t *list, const char *key, const json_t *value)
{
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v)
		if (json_equal(json_object_get(v, key), value))
			return v;
	return NULL;
}

/* --- cables ---------------------------------------------------------------------------- */

/* Return: true if the cable was up at the time @from, by its first event since. */
static bool was_up(const json_t *event, double from)
{
	const json_t *link = json_object_get(event, "link");
	double since = json_number_value(json_object_get(event, "time")) -
		       json_number_value(json_object_get(link, "was_for_ms")) / 1e3;

	/*
	 * The root that reports the loss may have become root after the loss; then the loss was
	 * after @from.
	 */
	return !strcmp(json_text(link, "state"), "lost") || since > from;
}

static void take_link(json_t *links, const json_t *event, double from)
{
	const json_t *link = json_object_get(event, "link");
	const char *state = json_text(link, "state");
	json_t *cable, *change;

	if (!state)
		return;
	cable = json_pack("{s:O?, s:O?, s:O?, s:O?}", "node", json_object_get(link, "node"), "port",
			  json_object_get(link, "port"), "name", json_object_get(link, "name"),
			  "peer", json_object_get(link, "peer"));
	change = find_by(links, "link", cable);
	if (!change) {
		change = json_pack("{s:O, s:s, s:n, s:n, s:i}", "link", cable, "was",
				   was_up(event, from) ? "up" : "lost", "is", "reason", "times", 0);
		json_array_append_new(links, change);
	}
	json_object_set_new(change, "is", json_string(strcmp(state, "lost") ? "up" : "lost"));
	json_object_set(change, "reason", json_object_get(link, "reason"));
	json_object_set_new(change, "times",
			    json_integer((json_int_t)json_count(change, "times") + 1));
	json_decref(cable);
}

/* --- problems -------------------------------------------------------------------------- */

/* Return: the part of @text up to the end of @word; NULL if @text does not contain @word */
static json_t *text_up_to(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at ? json_stringn(text, (size_t)(at - text) + strlen(word)) : NULL;
}

/*
 * Return: the part that all texts of one problem have in common, since numbers and causes in it may
 * change; NULL if problems of this kind have no end
 */
static json_t *key_of(const char *kind, const char *text)
{
	const char *counted = strstr(text, " (said ");
	json_t *key = NULL;

	if (!strncmp(text, OVER, strlen(OVER)))
		text += strlen(OVER);
	if (!strcmp(kind, "line"))
		return text_up_to(text, ": ");
	if (!strcmp(kind, "errors")) {
		key = text_up_to(text, "') receives");
		if (!key)
			key = text_up_to(text, "') has a slow cable to ");
		return key || !strstr(text, " margin from ") ? key : text_up_to(text, "') ");
	}
	if (!strcmp(kind, "node"))
		key = text_up_to(text, "') is dead");
	if (!strcmp(kind, "node") && !key)
		key = text_up_to(text, "') is silent");
	if (!strcmp(kind, "wiring") || !strcmp(kind, "wave"))
		key = text_up_to(text, " is cabled to ");
	if (!strcmp(kind, "flap"))
		key = text_up_to(text, "') to ");
	if (key)
		return key;
	return counted ? json_stringn(text, (size_t)(counted - text)) : json_string(text);
}

enum step { NO_STEP, BEGINS, ENDS };

static enum step step_of(const char *kind, const char *level, const char *text)
{
	bool warns = !strcmp(kind, "errors") || !strcmp(kind, "line");

	if (!strncmp(text, OVER, strlen(OVER)) || (!strcmp(kind, "line") && !strcmp(level, "info")))
		return ENDS;
	return !strcmp(level, warns ? "warning" : "error") ? BEGINS : NO_STEP;
}

static json_t *find_problem(const json_t *problems, const char *kind, const json_t *key)
{
	size_t i;
	json_t *v;

	json_array_foreach(problems, i, v)
		if (!strcmp(json_text(v, "kind"), kind) &&
		    json_equal(json_object_get(v, "key"), key))
			return v;
	return NULL;
}

static void take_problem(json_t *problems, const json_t *event)
{
	const char *kind = json_text(event, "kind"), *text = json_text(event, "text");
	const char *level = json_text(event, "level");
	enum step step = text && level ? step_of(kind, level, text) : NO_STEP;
	json_t *key = step ? key_of(kind, text) : NULL, *p;

	if (!key)
		return;
	text += step == ENDS && !strncmp(text, OVER, strlen(OVER)) ? strlen(OVER) : 0;
	p = find_problem(problems, kind, key);
	if (!p) {
		p = json_pack("{s:s, s:s, s:O, s:b, s:b}", "kind", kind, "text", text, "key", key,
			      "was", step == ENDS, "is", 0);
		json_array_append_new(problems, p);
	}
	json_object_set_new(p, "is", json_boolean(step == BEGINS));
	if (step == BEGINS)
		json_object_set_new(p, "text", json_string(text));
	json_object_set_new(p, "old", json_false());
	json_object_set(p, "log", json_object_get(event, "log"));
	json_object_set(p, "at", json_object_get(event, "node"));
	json_decref(key);
}

/* Ends the problem of the line that an end of a cable receives on. */
static void end_line(json_t *problems, const json_t *link)
{
	const json_t *node = json_object_get(link, "node");
	const char *port = json_text(link, "port");
	char text[64] = "line ", number[16];
	json_t *key, *p;

	if (!json_array_size(node) || json_array_size(node) > TORUS_MAX_DIMS || !port)
		return;
	for (size_t d = 0; d < json_array_size(node); d++) {
		snprintf(number, sizeof(number), "%s%u", d ? "," : "",
			 (unsigned int)json_integer_value(json_array_get(node, d)));
		strcat(text, number);
	}
	snprintf(number, sizeof(number), ":%.2s: ", port);
	strcat(text, number);
	key = json_string(text);
	p = find_problem(problems, "line", key);
	if (p) {
		json_object_set_new(p, "is", json_false());
		json_object_set_new(p, "old", json_false());
	}
	json_decref(key);
}

static void end_lines(json_t *problems, const json_t *event)
{
	const json_t *link = json_object_get(event, "link");
	const char *state = json_text(link, "state");

	if (!state || strcmp(state, "lost"))
		return;
	end_line(problems, link);
	end_line(problems, json_object_get(link, "peer"));
}

/*
 * A node has become root: ends the problems of the former root, because the new root reports those
 * that remain.
 */
static void end_former(json_t *problems, const json_t *event)
{
	size_t i;
	json_t *v;

	json_array_foreach(problems, i, v)
		if (is_of_root(json_text(v, "kind")) &&
		    !json_equal(json_object_get(v, "log"), json_object_get(event, "log"))) {
			json_object_set_new(v, "is", json_false());
			json_object_set_new(v, "old", json_false());
		}
}

static bool has_problem(const json_t *status, const json_t *problem)
{
	size_t i;
	json_t *v;

	json_array_foreach(json_object_get(status, "problems"), i, v) {
		const char *kind = json_text(v, "kind"), *text = json_text(v, "text");
		json_t *key = kind && text && !strcmp(kind, json_text(problem, "kind")) ?
				      key_of(kind, text) : NULL;
		bool same = key && json_equal(key, json_object_get(problem, "key"));

		json_decref(key);
		if (same)
			return true;
	}
	return false;
}

/*
 * Ends the root's problems that are not in its status; a status never has "errors" and "line". A
 * problem without an event since the first time had ended before that time, without an event.
 */
static void compare_status(json_t *problems, const json_t *status)
{
	const json_t *root = json_object_get(json_object_get(status, "root"), "node");
	size_t i;
	json_t *v;

	if (!status || json_count(status, "problems_more"))
		return;
	json_array_foreach(problems, i, v) {
		const char *kind = json_text(v, "kind");
		bool own = json_is_array(root) && json_equal(json_object_get(v, "at"), root) &&
			   strcmp(kind, "errors") && strcmp(kind, "line");

		if ((!own && !is_of_root(kind)) || has_problem(status, v))
			continue;
		json_object_set_new(v, "is", json_false());
		if (json_is_true(json_object_get(v, "old")))
			json_object_set_new(v, "was", json_false());
	}
}

/* --- boards ---------------------------------------------------------------------------- */

/*
 * Takes an event that the NIC at a place was replaced by another one, as it is logged by
 * daemon/fm/root/discover.c. A board that is back in its place in the end is no difference.
 */
static void take_board(json_t *boards, const json_t *event)
{
	const char *text = json_text(event, "text");
	char at[32], name[64], is[17], was[17];
	json_t *node, *board;

	if (!text || sscanf(text, "node %31[0-9,] ('%63[^']') has another NIC: GUID %16[0-9a-f], "
			    "before %16[0-9a-f]", at, name, is, was) != 4)
		return;
	node = json_array();
	for (char *save, *p = strtok_r(at, ",", &save); p; p = strtok_r(NULL, ",", &save))
		json_array_append_new(node, json_integer(atoi(p)));
	board = find_by(boards, "node", node);
	if (!board) {
		board = json_pack("{s:O, s:s, s:s, s:s}", "node", node, "name", name, "was", was,
				  "is", is);
		json_array_append_new(boards, board);
	}
	json_object_set_new(board, "name", json_string(name));
	json_object_set_new(board, "is", json_string(is));
	json_decref(node);
}

/* --- exclusions and root --------------------------------------------------------------- */

static bool is_excluded(const json_t *event)
{
	const char *state = json_text(json_object_get(event, "order"), "state");

	return state && !strcmp(state, "excluded");
}

static bool have_same_ports(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "node"), json_object_get(b, "node")) &&
	       json_equal(json_object_get(a, "ports"), json_object_get(b, "ports"));
}

/*
 * Adds an exclusion or inclusion by an administrator. If the opposite was done to the same ports
 * before, both are dropped.
 */
static void take_order(json_t *orders, const json_t *event)
{
	json_t *order = json_object_get(event, "order");
	size_t i;
	json_t *v;

	if (!json_text(order, "state"))
		return;
	json_array_foreach(orders, i, v) {
		if (!have_same_ports(json_object_get(v, "order"), order))
			continue;
		if (is_excluded(v) != is_excluded(event))
			json_array_remove(orders, i);
		return;
	}
	json_array_append_new(orders, json_pack("{s:O, s:O?, s:O}", "time",
			      json_object_get(event, "time"), "text",
			      json_object_get(event, "text"), "order", order));
}

static bool makes_root(const json_t *event)
{
	const char *text = json_text(event, "text");

	return text && !strncmp(text, IS_ROOT, strlen(IS_ROOT));
}

static void take_root(json_t *diff, const json_t *event)
{
	json_object_set_new(diff, "root", json_pack("{s:O, s:O?, s:O?, s:O}",
			    "time", json_object_get(event, "time"),
			    "node", json_object_get(event, "node"),
			    "name", json_object_get(event, "by"),
			    "text", json_object_get(event, "text")));
}

/* --- all of it ------------------------------------------------------------------------- */

static void take_event(json_t *diff, const json_t *event, double from)
{
	const char *kind = json_text(event, "kind");
	json_t *problems = json_object_get(diff, "problems");

	if (!kind)
		return;
	if (!strcmp(kind, "link")) {
		take_link(json_object_get(diff, "links"), event, from);
		end_lines(problems, event);
	} else if (!strcmp(kind, "node")) {
		take_board(json_object_get(diff, "boards"), event);
	} else if (!strcmp(kind, "admin")) {
		take_order(json_object_get(diff, "exclusions"), event);
	}
	if (!strcmp(kind, "root") && makes_root(event)) {
		take_root(diff, event);
		end_former(problems, event);
	}
	take_problem(problems, event);
}

/* The state reached so far becomes that of the first time. */
static void begin_window(json_t *diff)
{
	size_t i;
	json_t *v;

	json_array_foreach(json_object_get(diff, "links"), i, v) {
		json_object_set(v, "was", json_object_get(v, "is"));
		json_object_set_new(v, "times", json_integer(0));
	}
	json_array_foreach(json_object_get(diff, "problems"), i, v) {
		json_object_set(v, "was", json_object_get(v, "is"));
		json_object_set_new(v, "old", json_true());
	}
	json_array_clear(json_object_get(diff, "exclusions"));
	json_array_clear(json_object_get(diff, "boards"));
	json_object_set_new(diff, "root", json_null());
}

/* Keeps only the items that have changed, without the keys that only the comparison needs. */
static void keep_changes(json_t *list)
{
	for (size_t i = json_array_size(list); i-- > 0;) {
		json_t *v = json_array_get(list, i);

		json_object_del(v, "key");
		json_object_del(v, "log");
		json_object_del(v, "at");
		json_object_del(v, "old");
		if (json_equal(json_object_get(v, "was"), json_object_get(v, "is")))
			json_array_remove(list, i);
	}
}

json_t *difference_find(const json_t *before, const json_t *events, double from, const json_t *now)
{
	json_t *diff = json_pack("{s:[], s:[], s:[], s:[], s:n}", "links", "problems", "exclusions",
				 "boards", "root");
	size_t i;
	json_t *v;

	json_array_foreach(before, i, v)
		take_event(diff, v, from);
	begin_window(diff);
	json_array_foreach(events, i, v)
		take_event(diff, v, from);
	compare_status(json_object_get(diff, "problems"), now);
	keep_changes(json_object_get(diff, "links"));
	keep_changes(json_object_get(diff, "problems"));
	keep_changes(json_object_get(diff, "boards"));
	return diff;
}
