// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plays a recording of "fabricd --record": creates a manager, passes the recorded events to it,
 * including the ends of its actions, and compares each action with the recorded one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/record.h"
#include "lib/util/units.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricctl/output.h"

static const char *until_text;
static bool show_all;

/**
 * struct replay - state of replaying a recording
 * @tap: must be the first member, because check_action() gets its address
 * @line: the present line; @number: its number, from 1
 * @begun, @now: start and present time of the present manager, ns
 * @differs: an action differed from the recorded one; later actions are not compared
 */
struct replay {
	struct record_tap tap;
	const char *path;
	FILE *file;
	char *text;
	size_t room;
	json_t *line;
	uint64_t number;
	struct fm *fm;
	uint64_t begun, now, until;
	uint64_t events, actions, managers;
	bool quiet, ended, bad, differs;
};

/* --- lines ----------------------------------------------------------------------- */

static int refuse_line(struct replay *r, const char *why)
{
	r->bad = true;
	return fail("%s:%" PRIu64 ": %s", r->path, r->number, why);
}

/* Return: the next line; NULL at the end, or at an incomplete line that a crash has left. */
static json_t *next_record(struct replay *r)
{
	json_error_t err;
	ssize_t n;

	json_decref(r->line);
	r->line = NULL;
	n = r->bad || r->ended ? -1 : getline(&r->text, &r->room, r->file);
	if (n < 0 || r->text[n - 1] != '\n') {
		if (n > 0)
			warn("%s:%" PRIu64 ": the last line is cut short and left out", r->path,
			     r->number + 1);
		r->ended = true;
		return NULL;
	}
	r->number++;
	r->line = json_loadb(r->text, (size_t)n, JSON_ALLOW_NUL, &err);
	if (!json_is_object(r->line))
		refuse_line(r, err.text[0] ? err.text : "it is not a JSON object");
	return r->bad ? NULL : r->line;
}

static const char *level_name(int level)
{
	static const char *const name[] = { "error", "warning", "info", "debug" };

	return level >= 0 && level < 4 ? name[level] : "?";
}

static void show_line(const struct replay *r, const json_t *line)
{
	const char *what = json_string_value(json_object_get(line, "do"));
	double at = (double)(r->now - r->begun) / 1e9;

	if (r->quiet)
		return;
	if (what && !strcmp(what, "log"))
		printf("%12.6f %-7s %s: %s\n", at,
		       level_name((int)json_integer_value(json_object_get(line, "level"))),
		       json_string_value(json_object_get(line, "kind")),
		       json_string_value(json_object_get(line, "text")));
	else if (show_all)
		printf("%12.6f %s", at, r->text);
}

/* --- actions --------------------------------------------------------------------- */

static void note_difference(struct replay *r, const json_t *action)
{
	char *now = json_dumps(action, JSON_COMPACT);

	r->differs = true;
	warn("%s:%" PRIu64 ": the manager does another thing now: %s", r->path, r->number,
	     now ? now : "");
	free(now);
}

/*
 * Compares an action of the manager with the next recorded one. Return: the result that the
 * recorded action had.
 */
static int check_action(struct record_tap *tap, json_t *action)
{
	struct replay *r = (struct replay *)tap;
	json_t *was = r->differs ? NULL : next_record(r), *taken;
	int result = 0;

	if (was && action) {
		taken = json_copy(was);
		json_object_del(taken, "result");
		if (json_equal(taken, action)) {
			r->actions++;
			result = (int)json_integer_value(json_object_get(was, "result"));
			show_line(r, was);
		} else {
			note_difference(r, action);
		}
		json_decref(taken);
	} else if (!action) {
		r->bad = true;
		fail("out of memory");
	}
	json_decref(action);
	return result;
}

/* --- events ---------------------------------------------------------------------- */

static int begin_manager(struct replay *r, const struct record_event *e)
{
	fm_free(r->fm);
	r->begun = r->now = e->now;
	r->managers++;
	show_line(r, r->line);
	r->fm = fm_new(&e->begin.config, &record_ops, r, &e->begin.dev, e->begin.links,
		       &e->begin.park, e->begin.rows, e->now);
	return r->fm ? OK : fail("out of memory");
}

static int replay_event(struct replay *r, const struct record_event *e)
{
	if (e->kind == RECORD_BEGIN)
		return begin_manager(r, e);
	if (!r->fm)
		return refuse_line(r, "an event before the first 'begin'");
	if (e->now < r->now)
		return refuse_line(r, "the time goes backwards");
	r->now = e->now;
	show_line(r, r->line);
	if (e->kind == RECORD_END) {
		fm_free(r->fm);
		r->fm = NULL;
	} else {
		record_event_play(e, r->fm);
	}
	return OK;
}

static int not_parsed(struct replay *r, int err)
{
	if (err == -ENOMEM)
		return fail("out of memory");
	if (err == -EPROTO)
		return refuse_line(r, "a fabricd of another version wrote this: the format of the "
				 "recording is another one");
	return refuse_line(r, "it is not an event of a manager");
}

static int play_all(struct replay *r)
{
	struct record_event e;
	int err, status = OK;

	while (status == OK && !r->differs && next_record(r)) {
		if (!record_is_event(r->line)) {
			r->differs = true;
			warn("%s:%" PRIu64 ": the manager does not do this now: %s", r->path,
			     r->number, r->text);
			break;
		}
		err = record_event_parse(r->line, &e);
		if (err)
			return not_parsed(r, err);
		if (e.kind != RECORD_BEGIN && r->fm && e.now - r->begun > r->until)
			r->ended = true;
		else
			status = replay_event(r, &e);
		r->events += !r->ended;
		record_event_clear(&e);
	}
	return r->bad ? CANNOT : status;
}

static int report_replay(const struct ctl *ctl, const struct replay *r)
{
	double seconds = (double)(r->now - r->begun) / 1e9;
	json_t *j;

	if (!ctl->json) {
		printf("%" PRIu64 " events, %" PRIu64 " actions, %.3f s: %s\n", r->events,
		       r->actions, seconds, r->differs ? "other than recorded" : "as recorded");
	} else {
		j = json_pack("{s:I, s:I, s:I, s:f, s:b}", "managers", (json_int_t)r->managers,
			      "events", (json_int_t)r->events, "actions", (json_int_t)r->actions,
			      "seconds", seconds, "same", !r->differs);
		json_dumpf(j, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(j);
	}
	return r->differs ? PROBLEM : OK;
}

static int cmd_replay(struct ctl *ctl, int argc, char **argv)
{
	struct replay r = {
		.tap = { .action = check_action }, .path = argv[0], .quiet = ctl->json
	};
	int status;

	(void)argc;
	r.until = UINT64_MAX;
	if (until_text && time_parse(until_text, 0, UINT64_MAX, &r.until))
		return fail("--until '%s': must be a time such as 12.5s or 300ms", until_text);
	r.file = fopen(r.path, "re");
	if (!r.file)
		return fail("%s: %m", r.path);
	status = play_all(&r);
	if (status == OK && !r.managers)
		status = fail("%s: there is no recording in it", r.path);
	if (status == OK)
		status = report_replay(ctl, &r);
	fm_free(r.fm);
	json_decref(r.line);
	free(r.text);
	fclose(r.file);
	return status;
}

static const struct opt replay_opts[] = {
	{ OPT_TEXT, "until", 0, "TIME", &until_text, 0, 0,
	  "only what happened up to this time: 12.5s" },
	{ OPT_FLAG, "all", 0, NULL, &show_all, 0, 0,
	  "show all events and actions as they were recorded" },
	{ .kind = OPT_END }
};

COMMAND(cmd_replay) = {
	.name = "replay",
	.args = "FILE",
	.brief = "Run a manager again with the events of a recording, to find errors",
	.help = "Takes a recording of \"fabricd --record FILE\" and gives the manager's code the\n"
		"same events again, at any speed and under any debugger. Its reports are shown\n"
		"with the time since its start. Each of its actions is compared with the recorded\n"
		"one. Exit status 1 if one differs, for example because the recording is of\n"
		"another version.",
	.opts = replay_opts,
	.min = 1,
	.max = 1,
	.json = true,
	.run = cmd_replay,
};
