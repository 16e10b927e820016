// SPDX-License-Identifier: GPL-2.0-only
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "hook_follow.h"
#include "json.h"
#include "number.h"
#include "say.h"

#define HOOK_SECONDS 60
#define HOOK_AT_ONCE 4

static bool follow;
static const char *since, *hook;
static uint64_t hook_seconds, hook_at_once;	/* 0: not given */

static enum colour level_colour(const char *level)
{
	if (!strcmp(level, "error"))
		return BAD;
	if (!strcmp(level, "warning"))
		return DOUBTFUL;
	return strcmp(level, "debug") ? PLAIN : FAINT;
}

static void print_one_event(const json_t *e)
{
	double when = json_number_value(json_object_get(e, "time"));
	const char *level = json_text(e, "level"), *kind = json_text(e, "kind");
	const char *text = json_text(e, "text");
	time_t s = (time_t)when;
	char clock[32], node[TORUS_TEXT_MAX];
	struct tm tm;

	localtime_r(&s, &tm);
	strftime(clock, sizeof(clock), "%F %T", &tm);
	level = level ? level : "info";
	printf("%llu  %s.%03d  %-8s %s%-8s%s %-9s %s\n",
	       (unsigned long long)json_count(e, "seq"), clock, (int)((when - (double)s) * 1000),
	       json_node_text(json_object_get(e, "node"), node), paint(level_colour(level)),
	       level, paint(PLAIN), kind ? kind : "-", text ? text : "");
}

/* Following, JSON has one event a line: nobody ever closes the array. */
static void show_events(const struct ctl *ctl, const json_t *events)
{
	size_t i;
	json_t *v;

	if (ctl->json && !follow) {
		json_show(json_incref((json_t *)events));
		return;
	}
	json_array_foreach(events, i, v) {
		if (ctl->json)
			json_show(json_incref(v));
		else
			print_one_event(v);
	}
	fflush(stdout);
}

static int keep_on(const struct ctl *ctl, struct ask *a)
{
	json_t *data;
	int status;

	while ((status = ask_next(a, INT_MAX, &data)) == OK) {
		show_events(ctl, data);
		json_decref(data);
		if (ferror(stdout))
			return OK;
	}
	return status;
}

static int cmd_events(struct ctl *ctl, int argc, char **argv)
{
	uint64_t from = 0;
	json_t *data;
	struct ask a;
	int status;

	(void)argc;
	(void)argv;
	if (hook && !follow)
		return fail("--exec runs for what happens from now on: it needs --follow");
	if (!hook && (hook_seconds || hook_at_once))
		return fail("--%s is a limit for programs of --exec: there is none",
			    hook_seconds ? "exec-seconds" : "exec-at-once");
	if (since && number_parse(since, 0, INT64_MAX, &from))
		return fail("--since '%s': it is the number of an event, 0 or more", since);
	if (hook)
		return hook_follow(ctl, since ? &from : NULL, &(struct hook) {
			.program = hook, .seconds = hook_seconds ? hook_seconds : HOOK_SECONDS,
			.at_once = hook_at_once ? hook_at_once : HOOK_AT_ONCE,
		});
	status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	data = json_pack("{ss}", "cmd", "events");
	if (since)
		json_object_set_new(data, "since", json_integer((json_int_t)from));
	if (follow)
		json_object_set_new(data, "follow", json_true());
	status = follow ? ask_first(&a, data, &data) : ask(&a, data, &data);
	if (status == OK) {
		show_events(ctl, data);
		json_decref(data);
		status = follow ? keep_on(ctl, &a) : ask_status(&a);
	}
	ask_close(&a);
	return status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "follow", 'f', NULL, &follow, 0, 0, "go on with what happens" },
	{ OPT_TEXT, "since", 's', "NUMBER", &since, 0, 0, "only events after this one" },
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
	.brief = "What happened lately in the fabric",
	.help = "With --follow, --json prints one event a line.\n"
		"With --exec nothing is printed; what a program leaves behind is killed when it\n"
		"ends, and what fails is told.",
	.opts = opts,
	.asks = true,
	.json = true,
	.run = cmd_events,
};
