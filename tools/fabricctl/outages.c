// SPDX-License-Identifier: GPL-2.0-only
/*
 * An outage begins with an event that a cable is lost and ends with the next event of this cable.
 * If the beginning is not known, because it was before the history or before this root, the end has
 * the time at which the root learned of the loss. The duration is that of the monotonic clock, if
 * one machine wrote both events in one boot; else that of the time of day.
 *
 * A cable that is lost because a node at its end dies is not at fault. The root reports a node as
 * dead when all of its cables are lost, so cables that were lost shortly before that count as lost
 * because of the node, too.
 *
 * After a loss of power at many nodes no root may have seen that a cable came back. If the cable is
 * not faulty now, its outage has ended at the latest when the nodes at its ends joined the next
 * root: that root tells of a return only if the cable was not up in its first table.
 *
 * Traffic over the cable paused from the last packet that came over it until the recovery ended. A
 * recovery begins when the loss is noticed, which is later for a cable that became silent.
 *
 * Test: tests/unit/test_outages.c.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "outages.h"

/* Default of the NIC's parameter "silence": kernel/core/params.c. */
#define SILENCE_MS 350
#define OVER "over: "
#define JOINS ") joins"
#define IS_ROOT "this node is root now"

/* Return: {node, port, name} of an end of a cable, a new object */
static json_t *copy_end(const json_t *end)
{
	static const char *const keys[] = { "node", "port", "name" };
	json_t *j = json_object();

	for (unsigned int i = 0; i < 3; i++)
		json_object_set(j, keys[i], json_object_get(end, keys[i]));
	return j;
}

json_t *outages_cable(const json_t *link)
{
	json_t *peer = json_object_get(link, "peer"), *j;
	const char *port = json_text(link, "port"), *other = json_text(peer, "port");
	bool turns = port && other && *port == '-' && *other == '+';

	j = copy_end(turns ? peer : link);
	if (turns)
		json_object_set_new(j, "peer", copy_end(link));
	else
		json_object_set(j, "peer", peer);
	return j;
}

static bool are_same_ends(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "node"), json_object_get(b, "node")) &&
	       json_equal(json_object_get(a, "port"), json_object_get(b, "port"));
}

bool outages_same_cable(const json_t *a, const json_t *b)
{
	return are_same_ends(a, b) || are_same_ends(a, json_object_get(b, "peer"));
}

/* Return: the last outage of that cable, if it has not ended; else NULL. */
static json_t *find_open_outage(const json_t *outages, const json_t *link)
{
	for (size_t i = json_array_size(outages); i-- > 0;) {
		json_t *o = json_array_get(outages, i);

		if (outages_same_cable(json_object_get(o, "link"), link))
			return json_is_null(json_object_get(o, "to")) ? o : NULL;
	}
	return NULL;
}

static double number_of(const json_t *j, const char *key)
{
	return json_number_value(json_object_get(j, key));
}

/*
 * Return: how long the cable was silent before the loss was noticed; null: not known. A new root,
 * which does not know how long the cable was up, finds cables that were lost before it led.
 */
static json_t *silence_before(const json_t *link)
{
	const char *reason = json_text(link, "reason");

	if (!json_count(link, "was_for_ms"))
		return json_null();
	if (reason && !strcmp(reason, "silence"))
		return json_integer(SILENCE_MS);
	return reason && !strcmp(reason, "carrier") ? json_integer(0) : json_null();
}

static json_t *begin_outage(json_t *outages, const json_t *event, const json_t *link)
{
	json_t *o = json_pack("{s:o, s:s, s:O?, s:n, s:n, s:O?, s:O?, s:o, s:n, s:n, s:n, s:b}",
			      "link", outages_cable(link), "state", "lost",
			      "from", json_object_get(event, "time"), "to", "duration_ms",
			      "reason", json_object_get(link, "reason"),
			      "excluded", json_object_get(link, "excluded"),
			      "silent_ms", silence_before(link), "recovery", "pause_ms", "dead",
			      "latest", 0);

	json_array_append_new(outages, o);
	return o;
}

static bool is_one_clock(const json_t *a, const json_t *b)
{
	const char *keys[] = { "boot", "by" };

	for (unsigned int i = 0; i < 2; i++) {
		const char *p = json_text(a, keys[i]), *q = json_text(b, keys[i]);

		if (!p || !q || strcmp(p, q))
			return false;
	}
	return true;
}

static double ms_between(const json_t *a, const json_t *b)
{
	double ms = is_one_clock(a, b) ? number_of(b, "clock_ms") - number_of(a, "clock_ms") :
					 (number_of(b, "time") - number_of(a, "time")) * 1e3;

	return ms > 0 ? ms : 0;
}

/* Ends an outage. @begun: the event with which it began; NULL: that event is not known. */
static void end_outage(json_t *o, const json_t *begun, const json_t *event, const json_t *link)
{
	double ms = begun ? ms_between(begun, event) : number_of(link, "was_for_ms");

	json_object_set_new(o, "state", json_string("mended"));
	json_object_set(o, "to", json_object_get(event, "time"));
	json_object_set_new(o, "duration_ms", json_integer((json_int_t)(ms + 0.5)));
}

/* --- nodes that die -------------------------------------------------------------------- */

#define DYING_S 10	/* longest time from the loss of a node's first cable until the root
			 * reports the node as dead */
#define TOGETHER_S 2	/* within this time the cables of a node that dies are lost */
#define NODE_TEXT "node "

json_t *outages_dead_node(const json_t *event, bool *over)
{
	const char *kind = json_text(event, "kind"), *text = json_text(event, "text"), *end;
	json_t *node;

	if (!kind || strcmp(kind, "node") || !text)
		return NULL;
	*over = !strncmp(text, OVER, strlen(OVER));
	text += *over ? strlen(OVER) : 0;
	if (strncmp(text, NODE_TEXT, strlen(NODE_TEXT)) || !strstr(text, "') is dead"))
		return NULL;
	node = json_array();
	for (text += strlen(NODE_TEXT); isdigit((unsigned char)*text); text = end + (*end == ','))
		json_array_append_new(node, json_integer(strtol(text, (char **)&end, 10)));
	return node;
}

static bool is_end_of(const json_t *link, const json_t *node)
{
	return json_equal(json_object_get(link, "node"), node) ||
	       json_equal(json_object_get(json_object_get(link, "peer"), "node"), node);
}

char *outages_cause_text(const json_t *outage, char *buf)
{
	const json_t *dead = json_object_get(outage, "dead");
	const char *reason = json_text(outage, "reason");
	char at[TORUS_TEXT_MAX];

	if (!reason)
		reason = "-";
	if (json_is_array(dead))
		snprintf(buf, OUTAGES_CAUSE_MAX, "%s (%s dead)", reason, json_node_text(dead, at));
	else
		snprintf(buf, OUTAGES_CAUSE_MAX, "%s%s", reason,
			 json_is_true(json_object_get(outage, "excluded")) ? " (excluded)" : "");
	return buf;
}

bool outages_held(const json_t *outage)
{
	const char *state = json_text(outage, "state"), *reason = json_text(outage, "reason");

	return state && !strcmp(state, "lost") && reason && !strcmp(reason, "admin");
}

const char *outages_end_text(const json_t *outage)
{
	const char *state = json_text(outage, "state");

	if (state && !strcmp(state, "unknown"))
		return "not seen";
	return outages_held(outage) ? "held down" : "still lost";
}

static bool is_open_at(const json_t *outage, const json_t *node)
{
	return json_is_null(json_object_get(outage, "to")) &&
	       is_end_of(json_object_get(outage, "link"), node);
}

/*
 * Notes that a node which died at @time is the cause of outages that began with its death: its
 * cables are lost together, so one that was lost before the last of them has a cause of its own.
 */
static void blame_node(const json_t *outages, const json_t *node, double time)
{
	double latest = 0;
	size_t i;
	json_t *v;

	json_array_foreach(outages, i, v)
		if (is_open_at(v, node) && number_of(v, "from") > latest)
			latest = number_of(v, "from");
	if (time - latest > DYING_S)
		return;
	json_array_foreach(outages, i, v)
		if (is_open_at(v, node) && latest - number_of(v, "from") <= TOGETHER_S)
			json_object_set(v, "dead", (json_t *)node);
}

/* Handles an event that a node is dead or is up again; @dead is the list of dead nodes. */
static void take_node_event(const json_t *outages, json_t *dead, const json_t *event)
{
	bool over = false;
	json_t *node = outages_dead_node(event, &over), *v;
	size_t i;

	json_array_foreach(dead, i, v)
		if (node && json_equal(v, node)) {
			json_array_remove(dead, i);
			break;
		}
	if (node && !over)
		json_array_append(dead, node);
	if (node && !over)
		blame_node(outages, node, number_of(event, "time"));
	json_decref(node);
}

/* Notes that an outage begins because a node at an end of its cable is dead. */
static void note_dead(json_t *outage, const json_t *dead)
{
	size_t i;
	json_t *v;

	json_array_foreach(dead, i, v)
		if (is_end_of(json_object_get(outage, "link"), v))
			json_object_set(outage, "dead", v);
}

/* --- cables ---------------------------------------------------------------------------- */

/*
 * Ends an outage whose end no root has seen, because the cable is lost again, and was up before
 * that for as long as the root knows it.
 */
static void end_before_loss(const json_t *outages, const json_t *begun, json_t *o,
			    const json_t *event, const json_t *link)
{
	json_t *at = json_pack("{s:f}", "time", number_of(event, "time") -
						number_of(link, "was_for_ms") / 1e3), *v;
	size_t i;

	json_array_foreach(outages, i, v)
		if (v == o)
			end_outage(o, json_array_get(begun, i), at, link);
	json_object_set_new(o, "latest", json_true());
	json_decref(at);
}

static void take_link_event(json_t *outages, json_t *begun, const json_t *dead,
			    const json_t *event)
{
	json_t *link = json_object_get(event, "link");
	const char *state = json_text(link, "state");
	json_t *o = find_open_outage(outages, link);
	size_t i;
	json_t *v;

	if (!state || !json_is_object(link))
		return;
	if (!strcmp(state, "lost")) {
		if (o && json_count(link, "was_for_ms")) {
			end_before_loss(outages, begun, o, event, link);
			o = NULL;
		}
		if (!o) {
			note_dead(begin_outage(outages, event, link), dead);
			json_array_append(begun, (json_t *)event);
		}
		return;
	}
	if (!o) {	/* the event of its beginning is not known */
		o = begin_outage(outages, event, link);
		json_array_append(begun, json_null());
		json_object_set_new(o, "from", json_null());
		json_object_set_new(o, "silent_ms", json_null());
		json_object_set_new(o, "reason", json_null());
		end_outage(o, NULL, event, link);
		return;
	}
	json_array_foreach(outages, i, v)
		if (v == o)
			end_outage(o, json_array_get(begun, i), event, link);
}

/*
 * Adds a recovery to the outages that it handled: the outages whose cables are excluded in the
 * recovery's table or an earlier table.
 */
static void take_recovery(json_t *outages, const json_t *begun, const json_t *event)
{
	const json_t *recovery = json_object_get(event, "recovery");
	const char *log = json_text(event, "log");
	size_t i;
	json_t *o;

	if (!recovery)	/* true for most events, for which all outages need not be checked */
		return;
	json_array_foreach(outages, i, o) {
		const json_t *from = json_array_get(begun, i);
		const char *same = json_text(from, "log");

		if (!log || !same || strcmp(log, same) ||
		    !json_is_null(json_object_get(o, "recovery")) ||
		    json_count(json_object_get(from, "link"), "version") >
			    json_count(recovery, "version"))
			continue;
		json_object_set(o, "recovery", (json_t *)recovery);
		if (!json_is_null(json_object_get(o, "silent_ms")))
			json_object_set_new(o, "pause_ms",
					    json_real(number_of(o, "silent_ms") +
						      number_of(recovery, "duration_ms")));
	}
}

void outages_so_far(const json_t *outages, double until)
{
	size_t i;
	json_t *v;

	json_array_foreach(outages, i, v) {
		const char *state = json_text(v, "state");
		double ms = (until - number_of(v, "from")) * 1e3;

		if (state && !strcmp(state, "lost") && json_is_number(json_object_get(v, "from")))
			json_object_set_new(v, "duration_ms",
					    json_integer(ms > 0 ? (json_int_t)ms : 0));
	}
}

/* --- ends that no root has seen -------------------------------------------------------- */

/*
 * Return: true if the event is that the node of that name joins, or, if @name is NULL, that a node
 * has become root.
 */
static bool is_join_of(const json_t *event, const char *name)
{
	const char *kind = json_text(event, "kind"), *text = json_text(event, "text");
	size_t n = name ? strlen(name) : 0, len = text ? strlen(text) : 0;

	if (!name)
		return kind && !strcmp(kind, "root") && text &&
		       !strncmp(text, IS_ROOT, strlen(IS_ROOT));
	return n && kind && !strcmp(kind, "node") && len > n + 2 + strlen(JOINS) &&
	       text[0] == '\'' && !strncmp(text + 1, name, n) && !strncmp(text + 1 + n, "' (", 3) &&
	       !strcmp(text + len - strlen(JOINS), JOINS);
}

/* Return: the first such event after the time @from; NULL: there is none. */
static const json_t *find_join(const json_t *events, double from, const char *name)
{
	size_t i;
	json_t *v;

	json_array_foreach(events, i, v)
		if (number_of(v, "time") > from && is_join_of(v, name))
			return v;
	return NULL;
}

/*
 * Ends an outage when there is another root, and the nodes at both ends have joined it. Without
 * such events the end is unknown.
 */
static void end_unseen(json_t *o, const json_t *begun, const json_t *events)
{
	const json_t *link = json_object_get(o, "link"), *last = NULL;
	const char *name = json_text(link, "name");
	const char *peer = json_text(json_object_get(link, "peer"), "name");
	double from = number_of(o, "from");
	const json_t *at[] = {
		find_join(events, from, NULL), find_join(events, from, name ? name : ""),
		find_join(events, from, peer ? peer : ""),
	};

	for (unsigned int i = 0; i < 3; i++)
		if (at[i] && (!last || number_of(at[i], "time") > number_of(last, "time")))
			last = at[i];
	if (!last) {
		json_object_set_new(o, "state", json_string("unknown"));
		return;
	}
	end_outage(o, begun, last, link);
	json_object_set_new(o, "latest", json_true());
}

static bool is_faulty(const json_t *faulty, const json_t *link)
{
	size_t i;
	json_t *v;

	json_array_foreach(faulty, i, v)
		if (outages_same_cable(link, v) || are_same_ends(json_object_get(v, "peer"), link))
			return true;
	return false;
}

json_t *outages_find(const json_t *events, const json_t *faulty)
{
	json_t *outages = json_array(), *begun = json_array(), *dead = json_array(), *v;
	size_t i;

	json_array_foreach(events, i, v) {
		take_link_event(outages, begun, dead, v);
		take_node_event(outages, dead, v);
		take_recovery(outages, begun, v);
	}
		/* no root has noticed that the cable works again */
	json_array_foreach(outages, i, v)
		if (faulty && json_is_null(json_object_get(v, "to")) &&
		    !json_is_true(json_object_get(v, "excluded")) &&
		    !is_faulty(faulty, json_object_get(v, "link")))
			end_unseen(v, json_array_get(begun, i), events);
	json_decref(begun);
	json_decref(dead);
	return outages;
}
