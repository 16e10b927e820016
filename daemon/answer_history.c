// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers about the history. The root answers from its history. If "local" is set or there is no
 * root, this node answers from its own history. A node without a history answers from its list of
 * recent events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>
#include "daemon/answer.h"
#include "daemon/history.h"
#include "daemon/keeper.h"
#include "daemon/log.h"
#include "daemon/query.h"

#define ROOM (64u << 10)	/* most bytes of events in a reply; while it is made, there are
				 * four copies of them */
#define PULL_ROOM (32u << 10)	/* the same in a reply to a candidate, which parses all of them
				 * at once */
#define LAST_MAX 2048
#define AWAIT (800 * MS)	/* longest wait for the disk; shorter than other nodes wait for
				 * the root */

static bool has_flag(const struct request *rq, const char *key)
{
	return json_is_true(json_object_get(rq->args, key));
}

/* --- arguments ------------------------------------------------------------------------- */

static const char *text_of(const struct request *rq, const char *key)
{
	return json_string_value(json_object_get(rq->args, key));
}

static int64_t time_arg(const struct request *rq, const char *key, int64_t otherwise)
{
	const json_t *j = json_object_get(rq->args, key);

	return json_is_integer(j) ? json_integer_value(j) : otherwise;
}

static void add_word(struct history_filter *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add_word(struct history_filter *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->word[f->words++], HISTORY_WORD_MAX, fmt, ap);
	va_end(ap);
}

/* Selects the events of a node: those that happened there, and those whose text names it. */
static void want_node(const struct request *rq, struct history_filter *f)
{
	const struct fm_entry *e = fm_node(rq->d->fm, rq->node);
	char at[TORUS_TEXT_MAX];

	torus_node_text(fm_shape(rq->d->fm), rq->node, at);
	add_word(f, "[%s]", at);
	add_word(f, "%s:", at);
	add_word(f, "node %s", at);
	if (e && e->name[0])
		add_word(f, "'%s'", e->name);
}

/* Selects the events of a cable: those that name either of its ends. */
static void want_cable(const struct request *rq, unsigned int port, struct history_filter *f)
{
	const struct torus_shape *shape = fm_shape(rq->d->fm);
	uint32_t peer = torus_neighbour(shape, rq->node, port);
	char node[TORUS_TEXT_MAX], end[TORUS_TEXT_MAX];

	add_word(f, "%s:%s", torus_node_text(shape, rq->node, node),
		 torus_port_text(shape->ndims, port, end));
	add_word(f, "%s:%s", torus_node_text(shape, peer, node),
		 torus_port_text(shape->ndims, torus_dir_opposite(shape, port), end));
}

/* Reads "node" and "port". Return: false, after answering the request, if they are wrong. */
static bool read_place(struct request *rq, struct history_filter *f)
{
	int port;

	if (!text_of(rq, "node")) {
		if (!text_of(rq, "port"))
			return true;
		answer_error(rq, "usage", "history: 'port' needs 'node', which is missing");
		return false;
	}
	if (!answer_ready(rq) || answer_node(rq, true, &rq->node) || answer_port(rq, &port))
		return false;
	if (port < 0)
		want_node(rq, f);
	else
		want_cable(rq, (unsigned int)port, f);
	return true;
}

static bool read_filter(struct request *rq, struct history_filter *f)
{
	const char *level = text_of(rq, "level"), *kind = text_of(rq, "kind");
	const char *after = text_of(rq, "after");
	int64_t last = time_arg(rq, "last", 0);

	*f = (struct history_filter) {
		.from = time_arg(rq, "from", 0), .to = time_arg(rq, "to", INT64_MAX),
		.level = FM_DEBUG, .room = has_flag(rq, "pull") ? PULL_ROOM : ROOM,
	};
	if (level && log_level_parse(level, &f->level)) {
		answer_error(rq, "usage", "level '%.32s', must be error, warning, info or debug",
			     level);
		return false;
	}
	if (last > LAST_MAX) {
		answer_error(rq, "usage", "history: last is %lld, must be 0 to %d",
			     (long long)last, LAST_MAX);
		return false;
	}
	if (kind && strlen(kind) >= sizeof(f->kind)) {
		answer_error(rq, "usage", "history: kind has %zu bytes, must have %zu at most",
			     strlen(kind), sizeof(f->kind) - 1);
		return false;
	}
	f->last = (uint32_t)last;
	snprintf(f->kind, sizeof(f->kind), "%s", kind ? kind : "");
	snprintf(f->after, sizeof(f->after), "%s", after ? after : "");
	strcpy(f->whose, has_flag(rq, "local") ? "rl" : rq->rootless ? "" : "rp");
	return read_place(rq, f);
}

/* --- answers --------------------------------------------------------------------------- */

/*
 * Answers with @events, the text of a JSON array. The text is not parsed, because it may be long.
 */
static void answer_events_text(struct request *rq, const char *events, const char *after, bool more,
			       bool lost, const char *problem)
{
	struct fabricd *d = rq->d;
	json_t *j = json_pack("{s:o, s:o, s:b, s:b, s:o, s:s, s:o, s:o}", "events", json_array(),
			      "after", text_json(after), "more", more, "lost", lost,
			      "node", node_json(d, d->fm ? fm_own(d->fm) : TORUS_NO_NODE),
			      "name", d->config.fm.name, "kept", keeper_json(d->keeper),
			      "problem", text_json(problem));

	answer_ok_with(rq, j, "events", events);
}

/* Return: the JSON of an event that fits @f, to be freed; NULL: it does not fit, or no memory. */
static char *recent_event(const struct fabricd *d, const struct history_filter *f,
			  const struct event_record *e)
{
	struct history_record r = { .level = e->level, .time = (int64_t)(e->time * 1e3) };
	json_t *j = keeper_record(d->keeper, e);
	char *line = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(15));

	json_decref(j);
	r.json = line;
	r.len = line ? strlen(line) : 0;
	history_kind(r.kind, e->kind);
	if (line && history_wants(f, &r))
		return line;
	free(line);
	return NULL;
}

/*
 * Return: the text of a JSON array of the events in memory that fit @f; NULL if out of memory. It
 * is joined from texts, because JSON values of all events would take ten times as much memory.
 */
static char *recent_events(const struct fabricd *d, const struct history_filter *f)
{
	char *line[EVENTS_KEPT], *text, *at;
	const struct event_record *e;
	size_t n = 0, bytes = 3, first;

	for (uint64_t seq = 1; n < EVENTS_KEPT && (e = events_next(d->events, seq));
	     seq = e->seq + 1) {
		line[n] = recent_event(d, f, e);
		n += line[n] != NULL;
	}
	first = f->last && n > f->last ? n - f->last : 0;
	for (size_t i = first; i < n; i++)
		bytes += strlen(line[i]) + 1;
	text = at = malloc(bytes);
	for (size_t i = first; text && i < n; i++)
		at += sprintf(at, "%c%s", i == first ? '[' : ',', line[i]);
	if (text)
		strcpy(at, first == n ? "[]" : "]");
	for (size_t i = 0; i < n; i++)
		free(line[i]);
	return text;
}

/*
 * Answers with the events in memory. These events have no position from which a search could go on,
 * so a request with "after" gets no events. A candidate gets an error: it does not add such events
 * to its history, and would parse all of them for nothing.
 */
static void answer_recent(struct request *rq, const struct history_filter *f, const char *problem)
{
	char *text;

	if (has_flag(rq, "pull")) {
		answer_error(rq, "failed", "the history cannot be searched now");
		return;
	}
	text = recent_events(rq->d, f);
	if (text)
		answer_events_text(rq, text, NULL, false, f->after[0], problem);
	else
		answer_error(rq, "failed", "out of memory");
	free(text);
}

static void on_searched(void *arg, const struct history_found *found)
{
	struct request *rq = arg;
	const char *problem = keeper_problem(rq->d->keeper);
	char text[160];

	rq->job = NULL;
	answer_forget(rq);
	if (found->more && time_arg(rq, "last", 0))
		problem = "the history is long, and was not searched to its beginning: "
			  "give a start time";
	if (found->loading)
		problem = "the history is still being read: try again";
	if (found->unread) {
		snprintf(text, sizeof(text), "a part of the history cannot be read: %s",
			 strerror(found->unread));
		problem = text;
	}
	if (found->events)
		answer_events_text(rq, found->events, found->after, found->more, found->lost,
				   problem);
	else
		answer_error(rq, "failed", "out of memory");
}

static bool is_found(struct request *rq)
{
	return !rq->job;
}

static void on_search_late(struct request *rq, bool late)
{
	struct history_filter f;

	(void)late;
	history_forget(rq->job);
	rq->job = NULL;
	if (read_filter(rq, &f))
		answer_recent(rq, &f, "the disk does not answer: these are the last events in "
			      "memory");
}

/* --- questions of a new root -------------------------------------------------------------- */

/** struct history_pull - a question of the root for events that only this candidate may have */
struct history_pull {
	struct fabricd *d;
	struct ask *ask;
	struct history_job *job;
};

static void on_pulled(void *arg, const struct history_found *found)
{
	struct history_pull *p = arg;
	struct ask *ask = p->ask;
	json_t *events = found->events && !found->loading && !found->unread ?
			 json_loads(found->events, 0, NULL) : NULL;

	p->d->pull = NULL;
	free(p);
	query_local(ask, events ? json_pack("{s:o, s:s, s:b, s:b}", "events", events, "after",
					    found->after, "more", found->more, "lost",
					    found->lost) : NULL);
}

void *history_pull(struct fabricd *d, const json_t *cmd, struct ask *ask)
{
	const char *after = json_string_value(json_object_get(cmd, "after"));
	const char *have = json_string_value(json_object_get(cmd, "have"));
	struct history *h = keeper_history(d->keeper);
	struct history_filter f = {
		.from = json_integer_value(json_object_get(cmd, "from")), .to = INT64_MAX,
		.level = FM_DEBUG, .room = PULL_ROOM, .whose = "rp",
	};
	struct history_pull *p = h && !d->pull ? calloc(1, sizeof(*p)) : NULL;

	snprintf(f.after, sizeof(f.after), "%s", after ? after : "");
	f.have = p && have ? strdup(have) : NULL;
	if (p) {
		*p = (struct history_pull) { .d = d, .ask = ask };
		p->job = history_ask(h, &f, on_pulled, p);
		if (p->job) {
			d->pull = p;
			return p;
		}
	}
	free(p);
	query_local(ask, NULL);
	return NULL;
}

bool history_pull_forget(struct fabricd *d, void *handle)
{
	struct history_pull *p = d->pull;

	if (!p || p != handle)
		return false;
	history_forget(p->job);
	free(p);
	d->pull = NULL;
	return true;
}

void answer_history(struct request *rq)
{
	struct history *h = keeper_history(rq->d->keeper);
	const char *have = text_of(rq, "have");
	struct history_filter f;

	if (!has_flag(rq, "local") && !rq->rootless && !answer_leads(rq))
		return;
	if (!read_filter(rq, &f))
		return;
	if (!h) {
		answer_recent(rq, &f, NULL);
		return;
	}
	f.have = have ? strdup(have) : NULL;
	rq->job = history_ask(h, &f, on_searched, rq);
	if (rq->job)
		answer_wait(rq, is_found, on_search_late, AWAIT);
	else
		answer_error(rq, "failed", "too many requests at once: try again");
}
