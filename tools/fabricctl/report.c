// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cable is to be replaced or checked for three reasons: it was lost often, it is still lost, or a
 * receiver counts too many errors or loses its margin. Both ends of a cable are one entry, with all
 * reasons.
 *
 * Test: tests/unit/test_report.c.
 */
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "json.h"
#include "moment.h"
#include "outages.h"
#include "report.h"

#define OFTEN 3			/* number of losses a day from which on a cable should be
				 * replaced */
#define WARNINGS_MAX 100u

/* --- sums ------------------------------------------------------------------------------ */

static json_t *cable_entry(json_t *cables, const json_t *link)
{
	size_t i;
	json_t *v;

	json_array_foreach(cables, i, v)
		if (json_equal(json_object_get(v, "link"), link))
			return v;
	v = json_pack("{s:O, s:i, s:i, s:b, s:[]}", "link", link, "times", 0, "lost_ms", 0,
		      "lost", 0, "reasons");
	json_array_append_new(cables, v);
	return v;
}

static void add_reason(json_t *reasons, json_t *reason)
{
	size_t i;
	json_t *v;

	json_array_foreach(reasons, i, v)
		if (json_equal(v, reason))
			return;
	if (json_is_string(reason))
		json_array_append(reasons, reason);
}

static int order_cables(const void *a, const void *b)
{
	const json_t *p = *(json_t *const *)a, *q = *(json_t *const *)b;
	uint64_t m = json_count(p, "times"), n = json_count(q, "times");

	if (m == n) {
		m = json_count(p, "lost_ms");
		n = json_count(q, "lost_ms");
	}
	return m > n ? -1 : m < n;
}

/*
 * Return: @list in sorted order; drops @list. Entries that @order treats as equal keep their order.
 */
static json_t *sort_array(json_t *list, int (*order)(const void *a, const void *b))
{
	json_t *sorted = json_array(), *v;
	size_t i, k;

	json_array_foreach(list, i, v) {
		for (k = json_array_size(sorted); k; k--) {
			json_t *before = json_array_get(sorted, k - 1);

			if (order(&before, &v) <= 0)
				break;
		}
		json_array_insert(sorted, k, v);
	}
	json_decref(list);
	return sorted;
}

/*
 * Return: true if the cable is not at fault: a node died, or an administrator has excluded the
 * cable.
 */
static bool is_excused(const json_t *outage)
{
	const char *reason = json_text(outage, "reason");

	return json_is_true(json_object_get(outage, "excluded")) ||
	       json_is_array(json_object_get(outage, "dead")) ||
	       (reason && !strcmp(reason, "admin"));
}

/* Adds up the outages of each cable. */
static json_t *sum_cables(const json_t *outages)
{
	json_t *cables = json_array(), *v, *c;
	size_t i;

	json_array_foreach(outages, i, v) {
		if (is_excused(v))
			continue;
		c = cable_entry(cables, json_object_get(v, "link"));
		json_object_set_new(c, "times",
				    json_integer((json_int_t)json_count(c, "times") + 1));
		json_object_set_new(c, "lost_ms",
				    json_integer((json_int_t)(json_count(c, "lost_ms") +
							      json_count(v, "duration_ms"))));
		json_object_set_new(c, "lost",
				    json_boolean(!strcmp(json_text(v, "state"), "lost")));
		add_reason(json_object_get(c, "reasons"), json_object_get(v, "reason"));
	}
	return sort_array(cables, order_cables);
}

/* --- nodes ----------------------------------------------------------------------------- */

static json_t *node_entry(json_t *nodes, const json_t *node)
{
	size_t i;
	json_t *v;

	json_array_foreach(nodes, i, v)
		if (json_equal(json_object_get(v, "node"), node))
			return v;
	v = json_pack("{s:O, s:n, s:i, s:f, s:b, s:f}", "node", node, "name", "times", 0, "dead_ms",
		      0.0, "dead", 0, "since", 0.0);
	json_array_append_new(nodes, v);
	return v;
}

/* Adds the name, which the text has in quotes after the coordinates. */
static void name_node(json_t *entry, const json_t *event)
{
	const char *text = json_text(event, "text"), *from = strchr(text, '\'');
	const char *to = from ? strchr(from + 1, '\'') : NULL;

	if (to)
		json_object_set_new(entry, "name", json_stringn(from + 1, (size_t)(to - from - 1)));
}

static void end_death(json_t *entry, double at)
{
	double ms = (at - json_number_value(json_object_get(entry, "since"))) * 1e3 +
		    json_number_value(json_object_get(entry, "dead_ms"));

	json_object_set_new(entry, "dead_ms", json_real(ms > 0 ? ms : 0));
}

/*
 * Lists the nodes that were dead. A node that the next root finds dead, too, did not die a second
 * time.
 */
static json_t *sum_nodes(const json_t *events, double until)
{
	json_t *nodes = json_array(), *v, *node, *e;
	bool over = false;
	size_t i;

	json_array_foreach(events, i, v) {
		const json_t *at = json_object_get(v, "time");

		node = outages_dead_node(v, &over);
		if (!node)
			continue;
		e = node_entry(nodes, node);
		json_decref(node);
		name_node(e, v);
		if (json_is_true(json_object_get(e, "dead")) == !over)
			continue;
		json_object_set_new(e, "dead", json_boolean(!over));
		if (over) {
			end_death(e, json_number_value(at));
		} else {
			json_object_set_new(e, "times",
					    json_integer((json_int_t)json_count(e, "times") + 1));
			json_object_set(e, "since", (json_t *)at);
		}
	}
	json_array_foreach(nodes, i, v) {
		if (json_is_true(json_object_get(v, "dead")))
			end_death(v, until);
		json_object_del(v, "since");
	}
	return nodes;
}

static int order_numbers(const void *a, const void *b)
{
	const double *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

static json_t *sum_recoveries(const json_t *events)
{
	size_t room = json_array_size(events) + 1, n = 0, i;
	double *ms = calloc(room, sizeof(*ms));
	uint64_t parked = 0, lost = 0;
	json_t *v, *j;

	json_array_foreach(events, i, v) {
		const json_t *r = json_object_get(v, "recovery");

		if (!ms || !json_is_object(r))
			continue;
		ms[n++] = json_number_value(json_object_get(r, "duration_ms"));
		parked += json_count(r, "parked");
		lost += json_count(r, "lost");
	}
	if (n)
		qsort(ms, n, sizeof(*ms), order_numbers);
	j = json_pack("{s:i, s:o, s:o, s:I, s:I}", "count", (int)n,
		      "median_ms", n ? json_real(ms[n / 2]) : json_null(),
		      "worst_ms", n ? json_real(ms[n - 1]) : json_null(),
		      "parked", (json_int_t)parked, "lost", (json_int_t)lost);
	free(ms);
	return j;
}

/* Counts errors and warnings of each kind. */
static json_t *count_kinds(const json_t *events)
{
	json_t *kinds = json_object(), *v;
	size_t i;

	json_array_foreach(events, i, v) {
		const char *level = json_text(v, "level"), *kind = json_text(v, "kind");

		if (kind && level && strcmp(level, "info"))
			json_object_set_new(kinds, kind,
					    json_integer((json_int_t)json_count(kinds, kind) + 1));
	}
	return kinds;
}

/* Lists what administrators excluded and included. */
static json_t *find_orders(const json_t *events)
{
	json_t *list = json_array(), *v;
	size_t i;

	json_array_foreach(events, i, v)
		if (json_is_object(json_object_get(v, "order")))
			json_array_append(list, v);
	return list;
}

/* Adds the last errors and warnings, but not those of cables, which the outages contain. */
static void add_warnings(json_t *report, const json_t *events)
{
	json_t *list = json_array(), *v;
	json_int_t more = 0;
	size_t i;

	json_array_foreach(events, i, v) {
		const char *level = json_text(v, "level"), *kind = json_text(v, "kind");

		if (!kind || !level || !strcmp(level, "info") || !strcmp(kind, "link"))
			continue;
		if (json_array_size(list) == WARNINGS_MAX) {
			json_array_remove(list, 0);
			more++;
		}
		json_array_append(list, v);
	}
	json_object_set_new(report, "warnings", list);
	json_object_set_new(report, "warnings_more", json_integer(more));
}

/* --- receivers with errors ------------------------------------------------------------- */

static int order_receivers(const void *a, const void *b)
{
	const json_t *p = json_object_get(*(json_t *const *)a, "quality");
	const json_t *q = json_object_get(*(json_t *const *)b, "quality");
	const char *m = json_text(p, "level"), *n = json_text(q, "level");
	int fails = !strcmp(n ? n : "", "fail") - !strcmp(m ? m : "", "fail");
	double x = json_number_value(json_object_get(p, "ber"));
	double y = json_number_value(json_object_get(q, "ber"));

	return fails ? fails : x > y ? -1 : x < y;
}

/* Return: the receivers that their nodes judge bad, the worst first; null: not known. */
static json_t *find_bad_receivers(const json_t *degraded)
{
	json_t *list = json_array(), *v;
	size_t i;

	if (!json_is_array(degraded)) {
		json_decref(list);
		return json_null();
	}
	json_array_foreach(degraded, i, v)
		if (errors_level(v))
			json_array_append_new(list,
				json_pack("{s:O?, s:O?, s:O?, s:O?, s:O?, s:O?}", "node",
					  json_object_get(v, "node"),
					  "port", json_object_get(v, "port"),
					  "name", json_object_get(v, "name"),
					  "peer", json_object_get(v, "peer"),
					  "margin", json_object_get(v, "margin"),
					  "quality", json_object_get(v, "quality")));
	return sort_array(list, order_receivers);
}

/*
 * Return: the length of the receiver at the beginning of the text, such as "2,1:+x"; 0: the text is
 * no judgement of a receiver (daemon/errors.c).
 */
static size_t judged_end(const char *text)
{
	static const char *const judged[] = { ") receives ", ") loses margin ", ") has a slow " };
	const char *name = strstr(text, " ('");

	for (size_t i = 0; name && i < sizeof(judged) / sizeof(judged[0]); i++)
		if (strstr(name, judged[i]))
			return (size_t)(name - text);
	return 0;
}

/* Return: true if the receiver of the event is judged bad now. */
static bool is_bad_now(const json_t *receivers, const char *text, size_t len)
{
	char at[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(receivers, i, v)
		if (strlen(json_end_text(v, at)) == len && !strncmp(at, text, len))
			return true;
	return false;
}

/*
 * Return: the last warning about each receiver that was judged bad in that time, and is not now: it
 * has improved, or it was included and is judged anew.
 */
static json_t *find_judged_before(const json_t *events, const json_t *receivers)
{
	json_t *list = json_array(), *v, *other;
	size_t i, k;

	json_array_foreach(events, i, v) {
		const char *kind = json_text(v, "kind"), *text = json_text(v, "text");
		const char *level = json_text(v, "level");
		size_t len = kind && text && !strcmp(kind, "errors") ? judged_end(text) : 0;

		if (!len || !level || strcmp(level, "warning") || is_bad_now(receivers, text, len))
			continue;
		json_array_foreach(list, k, other)
			if (!strncmp(json_text(other, "text"), text, len + 1))
				break;
		if (k < json_array_size(list))
			json_array_set(list, k, v);
		else
			json_array_append(list, v);
	}
	return list;
}

/* --- what is to be done ---------------------------------------------------------------- */

enum task { CLEAN, MEND, REPLACE };

static const char *const task_names[] = { "clean", "mend", "replace" };

static enum task task_of(const json_t *entry)
{
	const char *what = json_text(entry, "what");
	enum task task = REPLACE;

	while (task > CLEAN && what && strcmp(what, task_names[task]))
		task--;
	return task;
}

/*
 * Adds a reason. If the cable is listed already, the reason is added to its entry, and the more
 * urgent task stays.
 */
static void add_task(json_t *list, const json_t *link, enum task task, json_t *why)
{
	json_t *v, *entry = NULL;
	size_t i;

	json_array_foreach(list, i, v)
		if (outages_same_cable(json_object_get(v, "link"), link))
			entry = v;
	if (!entry) {
		entry = json_pack("{s:o, s:s, s:[]}", "link", outages_cable(link), "what",
				  task_names[task], "why");
		json_array_append_new(list, entry);
	}
	if (task > task_of(entry))
		json_object_set_new(entry, "what", json_string(task_names[task]));
	json_array_append_new(json_object_get(entry, "why"), why);
}

static void add_cable_tasks(json_t *list, const json_t *cables)
{
	char reasons[REPORT_REASONS];
	size_t i;
	json_t *v;

	json_array_foreach(cables, i, v) {
		unsigned long long times = json_count(v, "times");
		bool lost = json_is_true(json_object_get(v, "lost"));

		report_reasons_text(json_object_get(v, "reasons"), reasons, sizeof(reasons));
		if (times >= OFTEN)
			add_task(list, json_object_get(v, "link"), REPLACE,
				 json_sprintf("lost %llu times (%s)%s", times, reasons,
					      lost ? ", and is still lost" : ""));
		else if (lost)
			add_task(list, json_object_get(v, "link"), MEND,
				 json_sprintf("is still lost (%s)", reasons));
	}
}

static void add_receiver_tasks(json_t *list, const json_t *receivers)
{
	char at[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(receivers, i, v) {
		const json_t *q = json_object_get(v, "quality");
		const char *level = errors_level(v);

		json_end_text(v, at);
		if (json_is_true(json_object_get(q, "worn")))
			add_task(list, v, REPLACE,
				 json_sprintf("%s loses margin: %llu%%, was %.0f%%", at,
					      (unsigned long long)json_count(v, "margin"),
					      json_number_value(
						      json_object_get(q, "usual_margin"))));
		if (json_is_true(json_object_get(q, "slow")))
			add_task(list, v, REPLACE,
				 json_sprintf("%s is slow: round trip %.3g ms, elsewhere at most "
					      "%.3g ms", at,
					      json_number_value(
						      json_object_get(q, "round_trip_ms")),
					      json_number_value(
						      json_object_get(q, "usual_round_trip_ms"))));
		if (json_count(q, "errors"))
			add_task(list, v, level && !strcmp(level, "fail") ? REPLACE : CLEAN,
				 json_sprintf("%s receives badly: bit error rate %.1e", at,
					      json_number_value(json_object_get(q, "ber"))));
	}
}

static int order_tasks(const void *a, const void *b)
{
	return (int)task_of(*(json_t *const *)b) - (int)task_of(*(json_t *const *)a);
}

static json_t *make_tasks(const json_t *cables, const json_t *receivers)
{
	json_t *list = json_array();

	add_cable_tasks(list, cables);
	add_receiver_tasks(list, receivers);
	return sort_array(list, order_tasks);
}

/* --- the report ------------------------------------------------------------------------ */

json_t *report_make(const struct report_facts *f)
{
	json_t *outages = outages_find(f->events, f->faulty);
	json_t *cables, *receivers, *report;

	outages_so_far(outages, f->until);
	cables = sum_cables(outages);
	receivers = find_bad_receivers(f->degraded);
	report = json_pack("{s:s?, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:O?}", "fabric",
			   f->fabric, "from", f->from, "to", f->to, "to_do",
			   make_tasks(cables, receivers), "cables", cables, "nodes",
			   sum_nodes(f->events, f->until), "errors", receivers,
			   "recoveries", sum_recoveries(f->events), "events",
			   count_kinds(f->events), "outages", outages, "orders", f->orders);
	json_object_set_new(report, "judged", find_judged_before(f->events, receivers));
	add_warnings(report, f->events);
	json_object_set_new(report, "admin", find_orders(f->events));
	return report;
}

/* --- texts ----------------------------------------------------------------------------- */

char *report_cable_text(const json_t *link, char *buf, size_t room)
{
	const json_t *peer = json_object_get(link, "peer");
	const char *name = json_text(link, "name"), *other = json_text(peer, "name");
	char at[TORUS_TEXT_MAX], end[TORUS_TEXT_MAX];

	snprintf(buf, room, "%s (%s) - %s (%s)", json_end_text(link, at), name ? name : "-",
		 json_end_text(peer, end), other ? other : "-");
	return buf;
}

char *report_reasons_text(const json_t *reasons, char *buf, size_t room)
{
	size_t i, n = 0;
	json_t *v;

	strcpy(buf, "-");
	json_array_foreach(reasons, i, v)
		if (n + 32 < room)
			n += (size_t)snprintf(buf + n, room - n, "%s%.20s", n ? ", " : "",
					      json_string_value(v));
	return buf;
}
