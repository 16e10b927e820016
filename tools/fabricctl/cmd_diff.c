// SPDX-License-Identifier: GPL-2.0-only
/* Compares the fabric at two times, by its history. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "difference.h"
#include "json.h"
#include "moment.h"
#include "orders.h"
#include "output.h"
#include "past.h"

static struct past past = { .arguments = true };

/* --- output ---------------------------------------------------------------------------- */

static void print_cable(const json_t *v)
{
	const json_t *link = json_object_get(v, "link"), *peer = json_object_get(link, "peer");
	const char *is = json_text(v, "is"), *reason = json_text(v, "reason");
	const char *name = json_text(link, "name"), *other = json_text(peer, "name");
	char at[TORUS_TEXT_MAX], end[TORUS_TEXT_MAX];
	bool lost = !strcmp(is, "lost");

	printf("link     %s (%s) - %s (%s) %s%s%s, was %s", json_end_text(link, at),
	       name ? name : "-", json_end_text(peer, end), other ? other : "-",
	       paint(lost ? BAD : GOOD), is, paint(PLAIN), json_text(v, "was"));
	if (lost && reason)
		printf(": %s", reason);
	putchar('\n');
}

static void show_diff(const json_t *diff)
{
	const json_t *root = json_object_get(diff, "root");
	char text[32], at[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(json_object_get(diff, "links"), i, v)
		print_cable(v);
	json_array_foreach(json_object_get(diff, "problems"), i, v)
		printf("%-8s %s%s\n", json_text(v, "kind"),
		       json_is_true(json_object_get(v, "is")) ? "" : "no longer: ",
		       json_text(v, "text"));
	json_array_foreach(json_object_get(diff, "boards"), i, v)
		printf("board    %s (%s) has GUID %s, had %s\n",
		       json_node_text(json_object_get(v, "node"), at), json_text(v, "name"),
		       json_text(v, "is"), json_text(v, "was"));
	json_array_foreach(json_object_get(diff, "exclusions"), i, v) {
		printf("admin    ");
		orders_show_event(v);
	}
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
	       !json_array_size(json_object_get(diff, "boards")) &&
	       json_is_null(json_object_get(diff, "root"));
}

/* Gets the state at the first time and, if the second time is now, the root's present status. */
static int compare_times(struct ask *a, const struct past_found *found, json_t **diff)
{
	json_t *before = NULL, *now = NULL, *changes;
	double from = (double)found->from / 1e3;
	int status = past_before(a, found->from, &before);

	if (status == OK && found->to / 1000 >= time(NULL) - 1 && !a->rootless)
		status = ask(a, json_pack("{ss}", "cmd", "status"), &now);
	if (status == OK) {
		*diff = json_pack("{s:f, s:f}", "from", from, "to", past_end(found));
		changes = difference_find(before, found->events, from, now);
		json_object_update(*diff, changes);
		json_decref(changes);
	}
	json_decref(before);
	json_decref(now);
	return status;
}

static int answer_diff(const struct ctl *ctl, struct ask *a)
{
	struct past_found found;
	int status = past_ask(a, &past, &found), changed;
	json_t *diff = NULL;

	if (status != OK)
		return status;
	status = compare_times(a, &found, &diff);
	if (status != OK) {
		past_free(&found);
		return status;
	}
	changed = is_empty(diff) ? OK : PROBLEM;
	if (ctl->json)
		json_show(json_incref(diff));
	else if (changed == OK)
		printf("%s\n", past_none(&found, "nothing has changed"));
	else
		show_diff(diff);
	json_decref(diff);
	ask_label(a, true);
	past_notes(&found);
	past_free(&found);
	status = ask_status(a);
	return status == OK ? changed : status;
}

static int cmd_diff(struct ctl *ctl, int argc, char **argv)
{
	struct ask a;
	int status;

	past.since = argv[0];
	past.until = argc > 1 ? argv[1] : NULL;
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
	.brief = "What changed in the fabric between two times",
	.help = "Compares the root's history at both times: cables that were lost or came back;\n"
		"problems that began or ended, such as dead nodes; exclusions; another root.\n"
		"Without a second TIME, compares with now. A TIME is as for 'fabricctl events',\n"
		"or 2h or -2h: two hours ago. Exit status 1 if anything changed.",
	.min = 1,
	.max = 2,
	.moments = true,
	.asks = true,
	.json = true,
	.run = cmd_diff,
};
