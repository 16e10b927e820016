// SPDX-License-Identifier: GPL-2.0-only
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "concern.h"
#include "follow.h"
#include "hook_follow.h"
#include "job.h"
#include "json.h"
#include "moment.h"
#include "number.h"
#include "output.h"
#include "past.h"

#define HOOK_SECONDS 60
#define HOOK_AT_ONCE 4

static bool follow;
static struct past past = { .last = 512 };
static uint64_t number;		/* number of an event, given by --since */
static const char *hook, *job;
static struct concern *concern;	/* of --job; NULL: all events are shown */
static uint64_t hook_seconds, hook_at_once;	/* 0: not given */

static enum colour level_colour(const char *level)
{
	if (!strcmp(level, "error"))
		return BAD;
	if (!strcmp(level, "warning"))
		return DOUBTFUL;
	return strcmp(level, "debug") ? PLAIN : FAINT;
}

/* Prints an event; with --local also its number, which --since takes. */
static void print_one_event(const json_t *e)
{
	const char *level = json_text(e, "level"), *kind = json_text(e, "kind");
	const char *text = json_text(e, "text");
	char clock[32], node[TORUS_TEXT_MAX];

	level = level ? level : "info";
	if (past.local)
		printf("%6llu  ", (unsigned long long)json_count(e, "seq"));
	printf("%s  %-8s %s%-8s%s %-9s %s\n",
	       moment_text(json_number_value(json_object_get(e, "time")), clock),
	       json_node_text(json_object_get(e, "node"), node), paint(level_colour(level)),
	       level, paint(PLAIN), kind ? kind : "-", text ? text : "");
}

static size_t shown;		/* number of events that were printed */

/* Prints events. With --follow, JSON has one event a line, because there is no end of an array. */
static void show_events(bool json, const json_t *events)
{
	size_t i;
	json_t *v;

	shown += json_array_size(events);
	if (json && !follow) {
		json_show(json_incref((json_t *)events));
		return;
	}
	json_array_foreach(events, i, v) {
		if (json)
			json_show(json_incref(v));
		else
			print_one_event(v);
	}
	fflush(stdout);
}

static bool as_json;

/*
 * Prints those of new events that are wanted. Return: false if they cannot be printed, and the
 * command has to end
 */
static bool show_new(const json_t *events)
{
	json_t *wanted = concern ? concern_of(concern, events) : json_incref((json_t *)events);

	show_events(as_json, wanted);
	json_decref(wanted);
	return !ferror(stdout);
}

/* --- the list of one manager, by number ------------------------------------------------ */

/* number of the last event that was shown */
static uint64_t last_seq;
static double last_time;

static void note_last(const json_t *events)
{
	size_t n = json_array_size(events);
	const json_t *last = json_array_get(events, n - 1);

	if (!n)
		return;
	last_seq = json_count(last, "seq");
	last_time = json_number_value(json_object_get(last, "time"));
}

/*
 * Return: the events of @events that were not shown yet. @events, which has all events in memory of
 * the manager, is freed.
 */
static json_t *later_ones(json_t *events)
{
	bool same = follow_is_same_run(events, last_seq, last_time);
	json_t *list = json_array(), *v;
	size_t i;

	json_array_foreach(events, i, v)
		if (!same || json_count(v, "seq") > last_seq)
			json_array_append(list, v);
	json_decref(events);
	return list;
}

/*
 * Shows events from number @from on, then follows them.
 *
 * @anew: the manager did not answer for a while, so its first reply may have events that were shown
 *	already.
 */
static int follow_list(struct ask *a, uint64_t from, bool anew)
{
	json_t *data;
	int status = ask_first(a, json_pack("{ss sI sb}", "cmd", "events", "since",
					    (json_int_t)from, "follow", 1), &data);

	while (status == OK) {
		if (anew)
			data = later_ones(data);
		anew = false;
		note_last(data);
		show_new(data);
		json_decref(data);
		if (ferror(stdout))
			return OK;
		status = ask_next(a, INT_MAX, &data);
	}
	return status;
}

/* A manager that was restarted numbers its events from 1 again. */
static int keep_following(const struct ctl *ctl, struct ask *a, uint64_t from)
{
	int status = follow_list(a, from, false);

	while (status == UNREACHABLE || status == TIMEOUT) {
		status = ask_again(ctl, a);
		if (status != OK)
			break;
		status = follow_list(a, 0, true);
	}
	return status;
}

static int show_event_list(const struct ctl *ctl, struct ask *a, uint64_t from)
{
	json_t *data;
	int status;

	if (follow)
		return keep_following(ctl, a, from);
	status = ask(a, json_pack("{ss sI}", "cmd", "events", "since", (json_int_t)from), &data);
	if (status != OK)
		return status;
	show_new(data);
	json_decref(data);
	return ask_status(a);
}

/* --- the history ----------------------------------------------------------------------- */

static int show_past(const struct ctl *ctl, struct ask *a)
{
	struct past_found found;
	int status = past_ask(a, &past, &found);

	if (status != OK)
		return status;
	show_new(found.events);
	if (!as_json && !follow && !shown)
		printf("%s\n", past_none(&found, "no such event"));
	ask_label(a, true);
	past_notes(&found);
	status = follow ? past_follow(ctl, a, &past, &found, show_new) : ask_status(a);
	past_free(&found);
	return status;
}

/*
 * Prepares for the events of the job since it began. The nodes of a job that has ended are no
 * longer known.
 */
static int read_job(struct ask *a)
{
	json_t *about, *members;
	bool runs;
	int status = job_runs(a, job, &runs);

	if (status == OK && runs) {
		status = job_get(a, job, &about, &members);
	} else if (status == OK) {
		warn("job '%s' does not run, and its nodes are not known: only events that name it "
		     "are shown", job);
		about = json_pack("{ss}", "name", job);
		members = json_array();
	}
	if (status != OK)
		return status;
	past.earliest = (int64_t)json_count(about, "since") * 1000;
	concern = concern_new(about, members);
	json_decref(about);
	json_decref(members);
	return concern ? OK : fail("out of memory");
}

/* --- options --------------------------------------------------------------------------- */

static bool is_event_number(const char *text)
{
	return text && *text && strspn(text, "0123456789") == strlen(text);
}

static int check_event_options(void)
{
	bool filter = past.until || past.level || past.kind || past.link || past.of || job;

	if (hook && !follow)
		return fail("--exec runs for events from now on: it needs --follow");
	if (!hook && (hook_seconds || hook_at_once))
		return fail("--%s is a limit for programs of --exec: there is none",
			    hook_seconds ? "exec-seconds" : "exec-at-once");
	if (hook && filter)
		return fail("--exec runs for all events of one manager: --until, --level, --kind, "
			    "--link, --of and --job do not go with it");
	if (hook && past.since && !is_event_number(past.since))
		return fail("--since '%s': with --exec it is the number of an event, 0 or more",
			    past.since);
	if (past.link && past.of)
		return fail("--link and --of exclude each other: a cable's events are of both its "
			    "nodes");
	if (job && (past.kind || past.link || past.of))
		return fail("--job and --%s exclude each other",
			    past.kind ? "kind" : past.link ? "link" : "of");
	if (follow && past.until)
		return fail("--until: --follow has no end");
	if (!is_event_number(past.since))
		return past_check(&past);
	if (number_parse(past.since, 0, INT64_MAX, &number))
		return fail("--since '%s': too large for the number of an event, must be 0 "
			    "to 2^63-1", past.since);
	if (!hook && (!past.local || filter))
		return fail("--since '%s': must be " MOMENT_ALLOWED "; the number of an event "
			    "only with --local, without --until, --level, --kind, --link, --of and "
			    "--job", past.since);
	return OK;
}

static int cmd_events(struct ctl *ctl, int argc, char **argv)
{
	struct ask a;
	int status;

	(void)argc;
	(void)argv;
	as_json = ctl->json;
	status = check_event_options();
	if (status != OK)
		return status;
	if (hook)
		return hook_follow(ctl, past.since ? &number : NULL, &(struct hook) {
			.program = hook, .seconds = hook_seconds ? hook_seconds : HOOK_SECONDS,
			.at_once = hook_at_once ? hook_at_once : HOOK_AT_ONCE,
		});
	status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	if (job)
		status = read_job(&a);
	if (status == OK)
		status = is_event_number(past.since) ? show_event_list(ctl, &a, number) :
						       show_past(ctl, &a);
	concern_free(concern);
	ask_close(&a);
	return status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "follow", 'f', NULL, &follow, 0, 0,
	  "go on, and show new events as they happen" },
	{ OPT_TEXT, "since", 's', "TIME", &past.since, 0, 0,
	  "events from then on: 03:00, 2026-11-26, '2026-11-26 03:00', yesterday, -2h" },
	{ OPT_TEXT, "until", 'u', "TIME", &past.until, 0, 0, "events up to then" },
	{ OPT_TEXT, "level", 'l', "LEVEL", &past.level, 0, 0,
	  "those that are as bad, or worse: error, warning, info" },
	{ OPT_TEXT, "kind", 'k', "KIND", &past.kind, 0, 0,
	  "of these kinds: link, node, recovery, ..." },
	{ OPT_TEXT, "link", 0, "NODE:PORT", &past.link, 0, 0,
	  "that name this cable, by either end" },
	{ OPT_TEXT, "of", 0, "NODE", &past.of, 0, 0, "about this node, or that name it" },
	{ OPT_TEXT, "job", 0, "NAME", &job, 0, 0,
	  "since this job began, about it, its nodes and the cables between them; if it has ended, "
	  "events that name it" },
	{ OPT_FLAG, "local", 0, NULL, &past.local, 0, 0,
	  "events that the manager that is asked noticed itself, not those of the root" },
	{ OPT_TEXT, "exec", 'x', "PROGRAM", &hook, 0, 0,
	  "run it for each event, which is its standard input" },
	{ OPT_NUMBER, "exec-seconds", 0, "SECONDS", &hook_seconds, 1, 86400,
	  "after which it is killed: 60" },
	{ OPT_NUMBER, "exec-at-once", 0, "NUMBER", &hook_at_once, 1, 64,
	  "how many may run at once: 4" },
	{ .kind = OPT_END },
};

COMMAND(cmd_events) = {
	.name = "events",
	.args = "",
	.brief = "What happened in the fabric, and when: cables, nodes, recoveries, orders",
	.help = "The last 512 events, or all between --since and --until, from the root's\n"
		"history, which is kept when the root ends. A time of day (03:00) means its last\n"
		"occurrence; with --until, its first one after --since.\n"
		"With --local, --since may also be the NUMBER of an event.\n"
		"With --follow, --json prints one event a line, and a manager that does not\n"
		"answer is tried again for a minute.\n"
		"With --exec no event is printed; processes that a program leaves behind are\n"
		"killed when it ends, and failures are reported.",
	.opts = opts,
	.asks = true,
	.json = true,
	.run = cmd_events,
};
