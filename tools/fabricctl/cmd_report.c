// SPDX-License-Identifier: GPL-2.0-only
/* Reports a day of the fabric from its history: cables that were lost, recoveries, exclusions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "moment.h"
#include "number.h"
#include "orders.h"
#include "outages.h"
#include "past.h"
#include "table.h"

#define LINES_MAX 10
#define OFTEN 3			/* losses a day from which on a cable should be replaced */

static const char *day = "today";
static char since[32], until[32];
static struct past past = { .since = since, .until = until };

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

static json_t *sort_cables(json_t *cables)
{
	size_t n = json_array_size(cables);
	json_t **list = calloc(n + 1, sizeof(*list)), *sorted = json_array();

	for (size_t i = 0; list && i < n; i++)
		list[i] = json_array_get(cables, i);
	if (list)
		qsort(list, n, sizeof(*list), order_cables);
	for (size_t i = 0; list && i < n; i++)
		json_array_append(sorted, list[i]);
	free(list);
	json_decref(cables);
	return sorted;
}

/* Sums outages by cable; those that an administrator had excluded are not failures. */
static json_t *sum_cables(const json_t *outages)
{
	json_t *cables = json_array(), *v, *c;
	size_t i;

	json_array_foreach(outages, i, v) {
		if (json_is_true(json_object_get(v, "excluded")))
			continue;
		c = cable_entry(cables, json_object_get(v, "link"));
		json_object_set_new(c, "times", json_integer((json_int_t)json_count(c, "times") + 1));
		json_object_set_new(c, "lost_ms",
				    json_integer((json_int_t)(json_count(c, "lost_ms") +
							      json_count(v, "duration_ms"))));
		json_object_set_new(c, "lost", json_boolean(!strcmp(json_text(v, "state"), "lost")));
		add_reason(json_object_get(c, "reasons"), json_object_get(v, "reason"));
	}
	return sort_cables(cables);
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

static json_t *make_report(const struct past_found *found, const json_t *faulty, json_t *orders)
{
	json_t *outages = outages_find(found->events, faulty);

	outages_so_far(outages, past_end(found));
	return json_pack("{s:f, s:f, s:o, s:o, s:o, s:o, s:O?}", "from", (double)found->from / 1e3,
			 "to", (double)found->to / 1e3, "cables", sum_cables(outages),
			 "recoveries", sum_recoveries(found->events),
			 "events", count_kinds(found->events), "outages", outages, "orders", orders);
}

/* --- output ---------------------------------------------------------------------------- */

static char *report_cable_text(const json_t *link, char *buf, size_t room)
{
	const json_t *peer = json_object_get(link, "peer");
	const char *name = json_text(link, "name"), *other = json_text(peer, "name");
	char at[TORUS_TEXT_MAX], end[TORUS_TEXT_MAX];

	snprintf(buf, room, "%s (%s) - %s (%s)", json_end_text(link, at), name ? name : "-",
		 json_end_text(peer, end), other ? other : "-");
	return buf;
}

static void print_reasons(struct table *t, const json_t *reasons)
{
	char text[128] = "";
	size_t i, n = 0;
	json_t *v;

	json_array_foreach(reasons, i, v)
		if (n < sizeof(text) - 32)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%.20s", n ? ", " : "",
					      json_string_value(v));
	table_cell(t, PLAIN, "%s", n ? text : "-");
}

static const char *advice_text(const json_t *cable)
{
	if (json_count(cable, "times") >= OFTEN)
		return "replace the cable";
	return json_is_true(json_object_get(cable, "lost")) ? "mend it" : "";
}

static void show_cables(const json_t *cables)
{
	static const char *const titles[] = { "CABLE", ">TIMES", ">FOR", "STATE", "REASONS", "TO DO",
					      NULL };
	struct table *t = table_new(titles);
	char text[256];
	size_t i;
	json_t *v;

	json_array_foreach(cables, i, v) {
		bool lost = json_is_true(json_object_get(v, "lost"));

		if (i == LINES_MAX)
			break;
		table_cell(t, PLAIN, "%s",
			   report_cable_text(json_object_get(v, "link"), text, sizeof(text)));
		table_cell(t, PLAIN, "%llu", (unsigned long long)json_count(v, "times"));
		table_cell(t, PLAIN, "%s", json_count(v, "lost_ms") ?
			   duration_text((double)json_count(v, "lost_ms") / 1e3, text) : "-");
		table_cell(t, lost ? BAD : PLAIN, "%s", lost ? "lost still" : "back");
		print_reasons(t, json_object_get(v, "reasons"));
		table_cell(t, STRONG, "%s", advice_text(v));
	}
	table_print(t, "no cable was lost");
	if (json_array_size(cables) > LINES_MAX)
		printf("and %zu more; 'fabricctl outages' lists all\n",
		       json_array_size(cables) - LINES_MAX);
}

static void show_report(const json_t *report)
{
	const json_t *r = json_object_get(report, "recoveries");
	json_t *kinds = json_object_get(report, "events"), *v;
	char from[32], to[32];
	const char *kind;

	printf("%.16s to %.16s\n\n",
	       moment_text(json_number_value(json_object_get(report, "from")), from),
	       moment_text(json_number_value(json_object_get(report, "to")), to));
	show_cables(json_object_get(report, "cables"));
	printf("\nrecoveries  %llu", (unsigned long long)json_count(r, "count"));
	if (json_count(r, "count"))
		printf(": median %.1f ms, worst %.1f ms; packets parked %llu, lost %llu",
		       json_number_value(json_object_get(r, "median_ms")),
		       json_number_value(json_object_get(r, "worst_ms")),
		       (unsigned long long)json_count(r, "parked"),
		       (unsigned long long)json_count(r, "lost"));
	printf("\nevents      %s",
	       json_object_size(kinds) ? "errors and warnings:" : "no error, no warning");
	json_object_foreach(kinds, kind, v)
		printf(" %s %lld", kind, (long long)json_integer_value(v));
	printf("\n");
	orders_show(json_object_get(report, "orders"), "excluded", LINES_MAX);
}

/* --- questions ------------------------------------------------------------------------- */

/* Parses --day into the times of its beginning and end, which may be 23 or 25 hours apart. */
static int read_day(void)
{
	int64_t ms;
	time_t at;
	struct tm tm;

	if (strchr(day, ':') || *day == '-' || !strcmp(day, "now") ||
	    moment_parse(day, time(NULL), INT64_MIN, &ms))
		return fail("--day '%s': allowed are a date (2026-11-26), today, yesterday", day);
	at = (time_t)(ms / 1000);
	localtime_r(&at, &tm);
	strftime(since, sizeof(since), "%F", &tm);
	tm.tm_mday++;
	tm.tm_isdst = -1;
	mktime(&tm);
	strftime(until, sizeof(until), "%F", &tm);
	return past_check(&past);
}

static int show_day(const struct ctl *ctl, struct ask *a)
{
	json_t *faulty = NULL, *table = NULL, *report = NULL;
	struct past_found found;
	int status = past_ask(a, &past, &found);

	if (status != OK)
		return status;
	status = past_faulty(a, &faulty);
	if (status == OK)
		status = ask(a, json_pack("{ss}", "cmd", "table"), &table);
	if (status == OK)
		report = make_report(&found, faulty, json_object_get(table, "orders"));
	if (status == OK && ctl->json)
		json_show(json_incref(report));
	else if (report)
		show_report(report);
	json_decref(report);
	json_decref(table);
	json_decref(faulty);
	if (status == OK) {
		ask_label(a, true);
		past_notes(&found);
	}
	past_free(&found);
	return status == OK ? ask_status(a) : status;
}

static int cmd_report(struct ctl *ctl, int argc, char **argv)
{
	struct ask a;
	int status = read_day();

	(void)argc;
	(void)argv;
	if (status == OK)
		status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = show_day(ctl, &a);
	ask_close(&a);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "day", 'd', "DATE", &day, 0, 0, "2026-11-26, yesterday; usually today" },
	{ .kind = OPT_END },
};

COMMAND(cmd_report) = {
	.name = "report",
	.args = "",
	.brief = "A day of the fabric: cables that were lost, recoveries, exclusions",
	.help = "The cables that were lost most often come first. One that was lost three times or\n"
		"more should be replaced.",
	.opts = opts,
	.asks = true,
	.json = true,
	.run = cmd_report,
};
