// SPDX-License-Identifier: GPL-2.0-only
/* Answers about events and about the level of the log. */
#include <string.h>
#include <torus/topology.h>
#include "daemon/answer.h"
#include "daemon/log.h"

/* Return: the coordinates in @text, "1,0", as an array. */
static json_t *coords_json(const char *text)
{
	json_t *j;
	char *end;

	if (!*text)
		return json_null();
	j = json_array();
	for (;;) {
		json_array_append_new(j, json_integer(strtol(text, &end, 10)));
		if (end == text || *end != ',')
			return j;
		text = end + 1;
	}
}

/* Return: the JSON key for the details of an event of this kind. */
static const char *details_name(const char *kind)
{
	return !strcmp(kind, "admin") ? "order" :
	       !strcmp(kind, "recovery") || !strcmp(kind, "step") ? kind : "link";
}

/*
 * Return: an event as JSON. If the event happened before this node had a place, its node is the
 * present place.
 */
json_t *event_json(const struct fabricd *d, const struct event_record *r)
{
	json_t *j = json_pack("{s:I, s:f, s:o, s:s, s:s, s:s}", "seq", (json_int_t)r->seq, "time",
			      r->time, "node", coords_json(r->node[0] ? r->node : d->own), "level",
			      log_level_name(r->level), "kind", r->kind, "text", r->text);

	if (r->link)
		json_object_set_new(j, details_name(r->kind), json_loads(r->link, 0, NULL));
	return j;
}

void answer_events(struct request *rq)
{
	json_int_t since = json_integer_value(json_object_get(rq->args, "since"));
	const struct events *ev = rq->d->events;
	const struct event_record *r;
	json_t *list;

	if (json_is_true(json_object_get(rq->args, "follow"))) {
		if (rq->follow) {
			void (*follow)(void *arg, uint64_t since) = rq->follow;
			void *arg = rq->arg;

			answer_drop(rq);
			follow(arg, (uint64_t)since);
		} else {
			answer_error(rq, "usage", "events cannot be followed from here");
		}
		return;
	}
	list = json_array();
	for (uint64_t seq = (uint64_t)since + 1; (r = events_next(ev, seq)); seq = r->seq + 1)
		json_array_append_new(list, event_json(rq->d, r));
	answer_ok(rq, list, NULL);
}

void answer_log(struct request *rq)
{
	const char *text = json_string_value(json_object_get(rq->args, "level"));
	enum fm_level level;

	if (text && log_level_parse(text, &level)) {
		answer_error(rq, "usage", "level '%.32s', must be error, warning, info or debug",
			     text);
		return;
	}
	if (text)
		log_level_set(level);
	answer_ok(rq, json_pack("{s:s}", "level", log_level_name(log_level())), NULL);
}
