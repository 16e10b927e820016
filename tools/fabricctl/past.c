// SPDX-License-Identifier: GPL-2.0-only
/*
 * The history is read in parts. Events of one manager keep their order; those of several managers
 * are merged by their time of day.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"
#include "json.h"
#include "lib/util/clock.h"
#include "moment.h"
#include "output.h"
#include "past.h"

#define LOOK_MS 500
#define TRIES_MAX 20	/* number of questions to a manager that refuses, before the command ends */
#define BEFORE_MAX 2048	/* most events in a reply of a manager */
#define KINDS_MAX 127U /* longest text that a manager accepts */

#define DURATION_MAX 32

/*
 * Return: the time in the form of moment_parse(). An argument may be "2h" for "-2h", which would
 * look like an option.
 */
static const char *time_of_argument(const struct past *p, const char *text,
				    char buf[DURATION_MAX])
{
	size_t n = strlen(text);

	if (!p->arguments || !n || !isdigit((unsigned char)text[0]) ||
	    !isalpha((unsigned char)text[n - 1]))
		return text;
	snprintf(buf, DURATION_MAX, "-%s", text);
	return buf;
}

static int read_span(const struct past *p, int64_t *from, int64_t *to)
{
	const char *since = p->arguments ? "time" : "--since";
	const char *until = p->arguments ? "time" : "--until";
	const char *allowed = p->arguments ? MOMENT_ALLOWED_ARGUMENT : MOMENT_ALLOWED;
	char text[DURATION_MAX];
	time_t now = time(NULL);

	*from = 0;
	*to = INT64_MAX;
	if (p->since && moment_parse(time_of_argument(p, p->since, text), now, INT64_MIN, from))
		return fail("%s '%s': must be %s", since, p->since, allowed);
	if (p->until && moment_parse(time_of_argument(p, p->until, text), now,
				     p->since ? *from : INT64_MIN, to))
		return fail("%s '%s': must be %s", until, p->until, allowed);
	if (p->until && !strcmp(p->until, "now"))
		*to += 999;	/* what happened within the present second is included */
	if (p->since && *from > (int64_t)now * 1000 + 1000)
		return fail("%s '%s' is yet to come", since, p->since);
	if (*to < *from)
		return fail("%s '%s' is before %s '%s'", until, p->until, since, p->since);
	*from = *from < p->earliest ? p->earliest : *from;
	return OK;
}

/* All kinds of events and problems: fabricd(8) explains them. */
#define KINDS "admin arbiter bootstrap candidate config dispute errors fabric flap history " \
	      "isolated job line link memory missed nic node place plan quorum recovery refused " \
	      "relay release root seal stall state step table tree wave wiring"

/* Return: true if the @n bytes at @word are one of KINDS. */
static bool is_kind(const char *word, size_t n)
{
	for (const char *k = KINDS; *k; k += strcspn(k, " "), k += *k == ' ')
		if (n && strcspn(k, " ") == n && !memcmp(k, word, n))
			return true;
	return false;
}

/* Return: true if @list is kinds with a comma between each two of them. */
static bool are_kinds(const char *list)
{
	size_t n;

	if (strlen(list) > KINDS_MAX)
		return false;
	for (;; list += n + 1) {
		n = strcspn(list, ",");
		if (!is_kind(list, n))
			return false;
		if (!list[n])
			return true;
	}
}

int past_check(const struct past *p)
{
	static const char *const levels[] = { "error", "warning", "info", NULL };
	int64_t from, to;
	bool found = !p->level;

	for (unsigned int i = 0; !found && levels[i]; i++)
		found = !strcmp(p->level, levels[i]);
	if (!found)
		return fail("--level '%s': must be error, warning or info", p->level);
	if (p->kind && !are_kinds(p->kind))
		return fail("--kind '%s': must be one of these words, or several with commas, %u "
			    "bytes at most: " KINDS, p->kind, KINDS_MAX);
	return read_span(p, &from, &to);
}

/* Return: the request; NULL after printing the error, with @status set to its kind. */
static json_t *make_request(struct ask *a, const struct past *p, const struct past_found *f,
			    int *status)
{
	json_t *q = json_pack("{ss sI}", "cmd", "history", "from", (json_int_t)f->from);
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];

	*status = OK;
	if (f->to != INT64_MAX)
		json_object_set_new(q, "to", json_integer(f->to));
	if (p->level)
		json_object_set_new(q, "level", json_string(p->level));
	if (p->kind)
		json_object_set_new(q, "kind", json_string(p->kind));
	if (p->kinds)
		json_object_set_new(q, "kind", json_string(p->kinds));
	if (p->local)
		json_object_set_new(q, "local", json_true());
	if (p->link)
		*status = ask_link(a, p->link, node, port);
	else if (p->of)
		*status = ask_node(a, p->of, node);
	if (*status == OK && (p->link || p->of))
		json_object_set_new(q, "node", json_string(node));
	if (*status == OK && p->link)
		json_object_set_new(q, "port", json_string(port));
	if (*status == OK)
		return q;
	json_decref(q);
	return NULL;
}

static int ask_part(struct ask *a, json_t *request, json_t **data)
{
	int status = ask(a, json_deep_copy(request), data);

	if (status == OK && !json_is_array(json_object_get(*data, "events"))) {
		json_decref(*data);
		return fail_as(PROBLEM, "%s answered without a list of events", a->who);
	}
	return status;
}

/* Asks for the next part. If the manager has lost the position, the events are not complete. */
static int ask_next_part(struct ask *a, json_t *request, json_t **data)
{
	int status = ask_part(a, request, data);

	if (status == OK && json_is_true(json_object_get(*data, "lost"))) {
		json_decref(*data);
		return fail_as(PROBLEM, "%s lost its place in the history, because it was "
			       "restarted or its disk does not answer: try again", a->who);
	}
	return status;
}

static bool has_more(const json_t *data)
{
	return json_is_true(json_object_get(data, "more")) && json_text(data, "after");
}

/* --- order of events ------------------------------------------------------------------- */

static const char *log_of(const json_t *event)
{
	const char *log = json_text(event, "log");

	return log ? log : "";
}

static double moment_of(const json_t *event)
{
	return json_number_value(json_object_get(event, "time"));
}

/* Splits events by log, and keeps the order within each log, because a clock may be set back. */
static json_t *split_by_log(const json_t *events)
{
	json_t *by_log = json_object(), *v, *list;
	size_t i;

	json_array_foreach(events, i, v) {
		list = json_object_get(by_log, log_of(v));
		if (!list) {
			list = json_array();
			json_object_set_new(by_log, log_of(v), list);
		}
		json_array_append(list, v);
	}
	return by_log;
}

/** struct head - the next event of a log */
struct head {
	const json_t *list;
	size_t at;
};

static const json_t *next_of(const struct head *h)
{
	return json_array_get(h->list, h->at);
}

/* Return: the log with the earliest next event; NULL if there are no more events */
static struct head *find_earliest(struct head *heads, size_t n)
{
	struct head *first = NULL;

	for (size_t i = 0; i < n; i++)
		if (next_of(&heads[i]) &&
		    (!first || moment_of(next_of(&heads[i])) < moment_of(next_of(first))))
			first = &heads[i];
	return first;
}

static json_t *in_order(json_t *events)
{
	json_t *by_log = split_by_log(events), *sorted = json_array(), *v;
	size_t n = 0, logs = json_object_size(by_log);
	struct head *heads = calloc(logs + 1, sizeof(*heads)), *h;
	const char *log;

	if (logs < 2 || !heads) {
		json_decref(sorted);
		sorted = json_incref(events);
		logs = 0;
	}
	json_object_foreach(by_log, log, v)
		if (logs)
			heads[n++].list = v;
	while ((h = find_earliest(heads, n)))
		json_array_append(sorted, json_array_get(h->list, h->at++));
	free(heads);
	json_decref(by_log);
	json_decref(events);
	return sorted;
}

/* --- questions ------------------------------------------------------------------------- */

int past_ask(struct ask *a, const struct past *p, struct past_found *f)
{
	int status = past_check(p);
	json_t *request, *data = NULL;

	*f = (struct past_found) { .from = 0 };
	if (status != OK)
		return status;
	read_span(p, &f->from, &f->to);
	request = make_request(a, p, f, &status);
	if (!request)
		return status;
	if (p->last && !p->since && !p->until && !p->earliest)
		json_object_set_new(request, "last", json_integer((json_int_t)p->last));
	f->events = json_array();
	do {
		json_decref(data);
		status = ask_next_part(a, request, &data);
		if (status != OK)
			break;
		json_array_extend(f->events, json_object_get(data, "events"));
		json_object_set(request, "after", json_object_get(data, "after"));
	} while (has_more(data) && !json_object_get(request, "last"));
	json_decref(request);
	if (status != OK) {
		past_free(f);
		return status;
	}
	f->about = data;
	f->events = in_order(f->events);
	json_object_del(f->about, "events");
	return OK;
}

int past_before(struct ask *a, int64_t from, json_t **events)
{
	json_t *data, *request = json_pack("{ss sI sI}", "cmd", "history", "to",
					   (json_int_t)from - 1, "last", (json_int_t)BEFORE_MAX);
	int status = ask_part(a, request, &data);

	json_decref(request);
	if (status != OK)
		return status;
	*events = in_order(json_incref(json_object_get(data, "events")));
	json_decref(data);
	return OK;
}

void past_free(struct past_found *f)
{
	json_decref(f->events);
	json_decref(f->about);
	*f = (struct past_found) { .from = 0 };
}

double past_end(const struct past_found *f)
{
	double now = seconds_of(CLOCK_REALTIME);

	return f->to != INT64_MAX && (double)f->to / 1e3 < now ? (double)f->to / 1e3 : now;
}

bool past_is_known(const struct past_found *f)
{
	const json_t *kept = json_object_get(f->about, "kept");

	return json_number_value(json_object_get(kept, "since")) * 1e3 < (double)f->to;
}

const char *past_none(const struct past_found *f, const char *none)
{
	return past_is_known(f) ? none : "nothing is known of that time";
}

void past_notes(const struct past_found *f)
{
	const json_t *kept = json_object_get(f->about, "kept");
	double since = json_number_value(json_object_get(kept, "since"));
	const char *name = json_text(f->about, "name"), *problem = json_text(f->about, "problem");
	char text[32];

	if (problem)
		warn("%s: %s", name ? name : "-", problem);
	if (json_is_null(kept))
		warn("%s keeps no history on disk: these are the last events since its manager "
		     "began (history and state_dir in fabricd.conf)", name ? name : "-");
	else if (f->from && since > 0 && since * 1e3 > (double)f->from)
		warn("%s has nothing from before %s", name ? name : "-", moment_text(since, text));
	if (json_count(kept, "dropped"))
		warn("%s could not keep %llu events", name ? name : "-",
		     (unsigned long long)json_count(kept, "dropped"));
}

/*
 * The table has all ports that are not used, also those whose cables lead elsewhere, which a status
 * does not count as faulty.
 */
int past_faulty(struct ask *a, json_t **faulty)
{
	json_t *table, *node, *why;
	const char *port;
	size_t i;
	int err = ask(a, json_pack("{ss}", "cmd", "table"), &table);

	*faulty = NULL;
	if (err != OK)
		return err;
	if (!a->rootless)
		*faulty = json_array();
	json_array_foreach(json_object_get(table, "nodes"), i, node)
		json_object_foreach(json_object_get(node, "ports"), port, why)
			if (*faulty)
				json_array_append_new(*faulty, json_pack("{sO ss}", "node",
						      json_object_get(node, "node"), "port", port));
	json_decref(table);
	return OK;
}

/* --- further events -------------------------------------------------------------------- */

static json_t *new_ones(struct follow *f, const json_t *events)
{
	json_t *list = json_array(), *v;
	size_t i;

	json_array_foreach(events, i, v)
		if (follow_take(f, v))
			json_array_append(list, v);
	return list;
}

/*
 * Sets where the next request begins: at the position of the last answer; if another manager
 * answers or this manager was restarted, some time before the last event.
 */
static void go_on(json_t *request, const json_t *data, struct follow *shown)
{
	const char *after = json_text(data, "after");

	if (after && !json_is_true(json_object_get(data, "lost"))) {
		json_object_set_new(request, "after", json_string(after));
		return;
	}
	json_object_del(request, "after");
	json_object_set_new(request, "from", json_integer(follow_again(shown)));
}

/*
 * A manager that was restarted may refuse requests for a while. Return: true if the command should
 * try again; false if @status is final
 */
static bool is_back(const struct ctl *ctl, struct ask *a, unsigned int *tries, int *status)
{
	if (*status == UNREACHABLE || *status == TIMEOUT)
		*status = ask_again(ctl, a);
	else if (*status == PROBLEM && ++*tries < TRIES_MAX)
		*status = OK;
	return *status == OK;
}

int past_follow(const struct ctl *ctl, struct ask *a, const struct past *p,
		const struct past_found *f, bool (*show)(const json_t *events))
{
	const struct timespec moment = { .tv_nsec = LOOK_MS * 1000000L };
	struct follow shown = { .last = (double)time(NULL) };
	unsigned int tries = 0;
	int status;
	json_t *request = make_request(a, p, f, &status), *data, *list;

	if (!request)
		return status;
	json_decref(new_ones(&shown, f->events));
	go_on(request, f->about, &shown);
	for (;;) {
		nanosleep(&moment, NULL);
		status = ask_part(a, request, &data);
		if (status != OK && is_back(ctl, a, &tries, &status))
			continue;
		if (status != OK)
			break;
		tries = 0;
		list = new_ones(&shown, json_object_get(data, "events"));
		if (json_array_size(list) && !show(list))
			status = PROBLEM;
		go_on(request, data, &shown);
		json_decref(list);
		json_decref(data);
		if (status != OK)
			break;
	}
	json_decref(request);
	return status;
}
