// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the fabric at two times, by the events between them. The first event of a cable tells how
 * it was before, the last one how it is then; a problem that begins and ends between is no difference.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "moment.h"
#include "past.h"
#include "say.h"

#define KINDS "link,node,root,table,wiring,flap,release,state,history"
#define OVER "over: "

static struct past past = { .kinds = KINDS };

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

static void take_link(json_t *links, const json_t *event)
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
		/* An event tells a change, so the cable was the opposite before. */
		change = json_pack("{s:O, s:s, s:n, s:n, s:i}", "link", cable, "was",
				   strcmp(state, "lost") ? "lost" : "up", "is", "reason", "times", 0);
		json_array_append_new(links, change);
	}
	json_object_set_new(change, "is", json_string(strcmp(state, "lost") ? "up" : "lost"));
	json_object_set(change, "reason", json_object_get(link, "reason"));
	json_object_set_new(change, "times",
			    json_integer((json_int_t)json_count(change, "times") + 1));
	json_decref(cable);
}

/* --- problems -------------------------------------------------------------------------- */

/* Takes a problem that begins, or, after "over: ", ends. */
static void take_problem(json_t *problems, const json_t *event)
{
	const char *text = json_text(event, "text"), *level = json_text(event, "level");
	bool ends = text && !strncmp(text, OVER, strlen(OVER));
	json_t *p, *key;

	if (!text || !level || (!ends && !strcmp(level, "info")))
		return;
	key = json_string(ends ? text + strlen(OVER) : text);
	p = find_by(problems, "text", key);
	if (!p) {
		p = json_pack("{s:O, s:O, s:b, s:b}", "kind", json_object_get(event, "kind"), "text",
			      key, "was", ends, "is", 0);
		json_array_append_new(problems, p);
	}
	json_object_set_new(p, "is", json_boolean(!ends));
	json_decref(key);
}

/* --- exclusions and root --------------------------------------------------------------- */

/* Takes what an administrator excluded or included: "version 7: excluded 1,1:+x". */
static void take_order(json_t *orders, const json_t *event)
{
	const char *text = json_text(event, "text"), *what = text ? strstr(text, ": ") : NULL;

	if (what && (!strncmp(what + 2, "excluded ", 9) || !strncmp(what + 2, "included ", 9)))
		json_array_append_new(orders, json_pack("{s:O, s:s}", "time",
				      json_object_get(event, "time"), "text", what + 2));
}

static void take_root(json_t *diff, const json_t *event)
{
	const char *text = json_text(event, "text");

	if (text && !strncmp(text, "this node is root", 17))
		json_object_set_new(diff, "root", json_pack("{s:O, s:O?, s:O?, s:s}", "time",
				    json_object_get(event, "time"), "node", json_object_get(event, "node"),
				    "name", json_object_get(event, "by"), "text", text));
}

/* Keeps only what is not as it was. */
static void keep_changes(json_t *list)
{
	for (size_t i = json_array_size(list); i-- > 0;) {
		const json_t *v = json_array_get(list, i);

		if (json_equal(json_object_get(v, "was"), json_object_get(v, "is")))
			json_array_remove(list, i);
	}
}

static json_t *make_diff(const struct past_found *found)
{
	json_t *links = json_array(), *problems = json_array(), *orders = json_array();
	json_t *diff = json_pack("{s:f, s:f, s:o, s:o, s:o, s:n}", "from", (double)found->from / 1e3,
				 "to", past_end(found), "links", links, "problems", problems,
				 "exclusions", orders, "root");
	size_t i;
	json_t *v;

	json_array_foreach(found->events, i, v) {
		const char *kind = json_text(v, "kind");

		if (!kind)
			continue;
		if (!strcmp(kind, "link"))
			take_link(links, v);
		else if (!strcmp(kind, "table"))
			take_order(orders, v);
		else if (!strcmp(kind, "root"))
			take_root(diff, v);
		else
			take_problem(problems, v);
	}
	keep_changes(links);
	keep_changes(problems);
	return diff;
}

/* --- output ---------------------------------------------------------------------------- */

static void print_cable(const json_t *v)
{
	const json_t *link = json_object_get(v, "link"), *peer = json_object_get(link, "peer");
	const char *is = json_text(v, "is"), *reason = json_text(v, "reason");
	const char *name = json_text(link, "name"), *other = json_text(peer, "name");
	char at[TORUS_TEXT_MAX], end[TORUS_TEXT_MAX];
	bool lost = !strcmp(is, "lost");

	printf("link     %s (%s) - %s (%s) %s%s%s, was %s", json_end_text(link, at), name ? name : "-",
	       json_end_text(peer, end), other ? other : "-", paint(lost ? BAD : GOOD), is,
	       paint(PLAIN), json_text(v, "was"));
	if (lost && reason)
		printf(": %s", reason);
	putchar('\n');
}

static void show_diff(const json_t *diff)
{
	const json_t *root = json_object_get(diff, "root");
	char text[32];
	size_t i;
	json_t *v;

	json_array_foreach(json_object_get(diff, "links"), i, v)
		print_cable(v);
	json_array_foreach(json_object_get(diff, "problems"), i, v)
		printf("%-8s %s%s\n", json_text(v, "kind"),
		       json_is_true(json_object_get(v, "is")) ? "" : "no longer: ",
		       json_text(v, "text"));
	json_array_foreach(json_object_get(diff, "exclusions"), i, v)
		printf("admin    %s, at %s\n", json_text(v, "text"),
		       moment_text(json_number_value(json_object_get(v, "time")), text));
	if (json_is_object(root))
		printf("root     %s, at %s: %s\n", json_text(root, "name"),
		       moment_text(json_number_value(json_object_get(root, "time")), text),
		       json_text(root, "text"));
}

static bool is_empty(const json_t *diff)
{
	return !json_array_size(json_object_get(diff, "links")) &&
	       !json_array_size(json_object_get(diff, "problems")) &&
	       !json_array_size(json_object_get(diff, "exclusions")) &&
	       json_is_null(json_object_get(diff, "root"));
}

static int answer_diff(const struct ctl *ctl, struct ask *a)
{
	struct past_found found;
	int status = past_ask(a, &past, &found), changed;
	json_t *diff;

	if (status != OK)
		return status;
	diff = make_diff(&found);
	changed = is_empty(diff) ? OK : PROBLEM;
	if (ctl->json)
		json_show(json_incref(diff));
	else if (changed == OK)
		printf("nothing has changed\n");
	else
		show_diff(diff);
	json_decref(diff);
	ask_label(a, true);
	past_notes(&found);
	past_free(&found);
	status = ask_status(a);
	return status == OK ? changed : status;
}

/* Return: the time as the history takes it: "2h" is "-2h", which would look like an option. */
static const char *read_time(const char *text, char *buf, size_t room)
{
	size_t n = strlen(text);

	if (!n || !isdigit((unsigned char)text[0]) || !isalpha((unsigned char)text[n - 1]))
		return text;
	snprintf(buf, room, "-%s", text);
	return buf;
}

static int cmd_diff(struct ctl *ctl, int argc, char **argv)
{
	static char since[32], until[32];
	struct ask a;
	int status;

	past.since = read_time(argv[0], since, sizeof(since));
	past.until = argc > 1 ? read_time(argv[1], until, sizeof(until)) : NULL;
	status = past_check(&past);
	if (status == OK)
		status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = answer_diff(ctl, &a);
	ask_close(&a);
	return status;
}

COMMAND(cmd_diff) = {
	.name = "diff",
	.args = "TIME [TIME]",
	.brief = "What is different in the fabric between two times",
	.help = "By the root's history: cables that are up and were lost, or the other way round;\n"
		"problems that began or ended, such as dead nodes; exclusions; and another root. Without\n"
		"a second TIME: until now. Times as for 'fabricctl events', and 2h, 30min:\n"
		"so long ago. Exit status 1 if anything is different.",
	.min = 1,
	.max = 2,
	.asks = true,
	.json = true,
	.run = cmd_diff,
};
