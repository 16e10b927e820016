// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports a day, or another time, of the fabric from its history: lost cables, recoveries,
 * exclusions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "moment.h"
#include "number.h"
#include "orders.h"
#include "output.h"
#include "past.h"
#include "report.h"
#include "table.h"

#define LINES_MAX 10

static const char *day;
static bool html;
static char since[32], until[32];
static struct past past;

/* --- output ---------------------------------------------------------------------------- */

static void show_cables(const json_t *cables)
{
	static const char *const titles[] = { "CABLE", ">TIMES", ">FOR", "STATE", "REASONS", NULL };
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
		table_cell(t, lost ? BAD : PLAIN, "%s", lost ? "still lost" : "back");
		table_cell(t, PLAIN, "%s", report_reasons_text(json_object_get(v, "reasons"), text,
							       sizeof(text)));
	}
	table_print(t, "no cable was lost");
	if (json_array_size(cables) > LINES_MAX)
		printf("and %zu more; 'fabricctl outages' lists all\n",
		       json_array_size(cables) - LINES_MAX);
}

/* Prints the nodes that were dead, to which their cables' losses belong. */
static void show_nodes_that_died(const json_t *nodes)
{
	char at[TORUS_TEXT_MAX], text[32];
	size_t i;
	json_t *v;

	if (json_array_size(nodes))
		putchar('\n');
	json_array_foreach(nodes, i, v) {
		unsigned long long times = json_count(v, "times");
		bool dead = json_is_true(json_object_get(v, "dead"));

		printf("%-12s%s (%s) ", i ? "" : "nodes",
		       json_node_text(json_object_get(v, "node"), at),
		       table_or_dash(json_text(v, "name")));
		if (!times)	/* the node died before the day */
			printf("is no longer dead");
		else
			printf("%swas dead %llu time%s%s, for %s", dead ? paint(BAD) : "", times,
			       times == 1 ? "" : "s", dead ? paint(PLAIN) : "",
			       duration_text(json_number_value(json_object_get(v, "dead_ms")) / 1e3,
					     text));
		printf("%s\n", dead ? ", and is still dead: repair or start it" : "");
	}
}

/* Prints the receivers that count too many errors; null: they are not known. */
static void show_receivers(const json_t *receivers)
{
	static const char *const titles[] = { "RECEIVER", "FROM", "JUDGED", ">ERRORS",
					      ">BIT ERROR RATE", ">MARGIN", NULL };
	struct table *t;
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	if (!json_array_size(receivers))
		return;
	printf("\n");
	t = table_new(titles);
	json_array_foreach(receivers, i, v) {
		const json_t *q = json_object_get(v, "quality");

		if (i == LINES_MAX)
			break;
		table_cell(t, PLAIN, "%s", json_end_text(v, text));
		table_cell(t, PLAIN, "%s", json_end_text(json_object_get(v, "peer"), text));
		table_cell(t, BAD, "%s", table_or_dash(json_text(q, "level")));
		table_cell(t, PLAIN, "%s", count_text(json_count(q, "errors"), text));
		table_cell(t, PLAIN, "%.1e", json_number_value(json_object_get(q, "ber")));
		table_cell(t, PLAIN, "%llu%%", (unsigned long long)json_count(v, "margin"));
	}
	table_print(t, "");
	if (json_array_size(receivers) > LINES_MAX)
		printf("and %zu more; 'fabricctl links --errors' lists all\n",
		       json_array_size(receivers) - LINES_MAX);
}

/* Prints what was reported of receivers that are not judged bad any more. */
static void show_judged(const json_t *judged)
{
	char text[32];
	size_t i;
	json_t *v;

	json_array_foreach(judged, i, v) {
		if (i == LINES_MAX)
			break;
		printf("%s%-12s%s, at %s\n", i ? "" : "\n", i ? "" : "earlier",
		       table_or_dash(json_text(v, "text")),
		       moment_text(json_number_value(json_object_get(v, "time")), text));
	}
	if (json_array_size(judged) > LINES_MAX)
		printf("            and %zu more; 'fabricctl events --kind errors' lists all\n",
		       json_array_size(judged) - LINES_MAX);
}

static void show_tasks(const json_t *tasks)
{
	char text[256];
	size_t i, k;
	json_t *v, *why;

	json_array_foreach(tasks, i, v) {
		if (i == LINES_MAX)
			break;
		printf("%s%-12s%s%-8s %s: ", paint(STRONG), i ? "" : "to do", paint(PLAIN),
		       table_or_dash(json_text(v, "what")),
		       report_cable_text(json_object_get(v, "link"), text, sizeof(text)));
		json_array_foreach(json_object_get(v, "why"), k, why)
			printf("%s%s", k ? "; " : "", table_or_dash(json_string_value(why)));
		printf("\n");
	}
	if (json_array_size(tasks) > LINES_MAX)
		printf("            and %zu more; --json has all\n",
		       json_array_size(tasks) - LINES_MAX);
}

static void show_admin(const json_t *events)
{
	size_t i;
	json_t *v;

	json_array_foreach(events, i, v) {
		if (i == LINES_MAX)
			break;
		printf("%-12s", i ? "" : "admin");
		orders_show_event(v);
	}
	if (json_array_size(events) > LINES_MAX)
		printf("            and %zu more; 'fabricctl events --kind admin' lists all\n",
		       json_array_size(events) - LINES_MAX);
}

/* @known: there may have been events */
static void show_report(const json_t *report, bool known)
{
	const json_t *r = json_object_get(report, "recoveries");
	json_t *kinds = json_object_get(report, "events"), *v;
	char from[32], to[32];
	const char *kind;

	printf("%.16s to %.16s\n\n",
	       moment_text(json_number_value(json_object_get(report, "from")), from),
	       moment_text(json_number_value(json_object_get(report, "to")), to));
	if (!known) {
		printf("nothing is known of that time\n");
		return;
	}
	show_cables(json_object_get(report, "cables"));
	show_nodes_that_died(json_object_get(report, "nodes"));
	show_receivers(json_object_get(report, "errors"));
	show_judged(json_object_get(report, "judged"));
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
	show_admin(json_object_get(report, "admin"));
	show_tasks(json_object_get(report, "to_do"));
	orders_show(json_object_get(report, "orders"), "excluded", LINES_MAX);
}

/* --- questions ------------------------------------------------------------------------- */

/* Parses --day into the times of its beginning and end, which may be 23 or 25 hours apart. */
static int read_day(void)
{
	int64_t ms;
	time_t at;
	struct tm tm;

	if (!day)
		day = "today";
	if (strchr(day, ':') || *day == '-' || !strcmp(day, "now") ||
	    moment_parse(day, time(NULL), INT64_MIN, &ms))
		return fail("--day '%s': must be a date (2026-11-26), today or yesterday", day);
	at = (time_t)(ms / 1000);
	localtime_r(&at, &tm);
	strftime(since, sizeof(since), "%F", &tm);
	tm.tm_mday++;
	tm.tm_isdst = -1;
	mktime(&tm);
	strftime(until, sizeof(until), "%F", &tm);
	if (at > time(NULL))
		return fail("--day '%s' is yet to come", day);
	past.since = since;
	past.until = until;
	return past_check(&past);
}

/* Checks the options that select the time of the report. */
static int read_time(void)
{
	if (!past.since && !past.until)
		return read_day();
	if (day)
		return fail("--day and --%s exclude each other", past.since ? "since" : "until");
	if (!past.since)
		return fail("--until needs --since, the time at which the report begins");
	return past_check(&past);
}

/*
 * Asks for the present faults. @degraded: NULL if the root, of an earlier release, does not report
 * degraded links; then the report is made without them.
 */
static int ask_present(struct ask *a, json_t **status, json_t **table, json_t **degraded)
{
	int err = ask(a, json_pack("{ss}", "cmd", "status"), status);

	if (err == OK)
		err = ask(a, json_pack("{ss}", "cmd", "table"), table);
	if (err == OK && !a->rootless &&
	    ask(a, json_pack("{ss sb}", "cmd", "links", "degraded", true), degraded) != OK)
		*degraded = NULL;
	return err;
}

static json_t *make_report(const struct ask *a, const struct past_found *found,
			   const json_t *status, const json_t *table, const json_t *degraded)
{
	bool known = !json_count(status, "faulty_more") && !a->rootless;
	struct report_facts facts = {
		.from = (double)found->from / 1e3,
		.to = found->to == INT64_MAX ? past_end(found) : (double)found->to / 1e3,
		.until = past_end(found), .fabric = json_text(status, "fabric"),
		.events = found->events, .degraded = degraded,
		.faulty = known ? json_object_get(status, "faulty") : NULL,
		.orders = json_object_get(table, "orders"),
	};

	return report_make(&facts);
}

static void print_report(const struct ctl *ctl, json_t *report, bool known)
{
	if (ctl->json)
		json_show(json_incref(report));
	else if (html)
		report_html(stdout, report);
	else
		show_report(report, known);
}

static int show_time(const struct ctl *ctl, struct ask *a)
{
	json_t *now = NULL, *table = NULL, *degraded = NULL, *report;
	struct past_found found;
	int status = past_ask(a, &past, &found);

	if (status != OK)
		return status;
	status = ask_present(a, &now, &table, &degraded);
	if (status == OK) {
		report = make_report(a, &found, now, table, degraded);
		print_report(ctl, report, past_is_known(&found));
		json_decref(report);
	}
	json_decref(degraded);
	json_decref(table);
	json_decref(now);
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
	int status = read_time();

	(void)argc;
	(void)argv;
	if (html && ctl->json)
		return fail("--html and --json exclude each other");
	if (status == OK)
		status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = show_time(ctl, &a);
	ask_close(&a);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "day", 'd', "DATE", &day, 0, 0, "2026-11-26, yesterday; usually today" },
	{ OPT_TEXT, "since", 's', "TIME", &past.since, 0, 0,
	  "from then on instead: 03:00, 2026-11-26, '2026-11-26 03:00', -2h" },
	{ OPT_TEXT, "until", 'u', "TIME", &past.until, 0, 0,
	  "with --since: up to then; usually up to now" },
	{ OPT_FLAG, "html", 0, NULL, &html, 0, 0,
	  "as a page for a browser, or to be printed or sent" },
	{ .kind = OPT_END },
};

COMMAND(cmd_report) = {
	.name = "report",
	.args = "",
	.brief = "A day on a page: lost cables, worst links, recoveries, what to replace",
	.help = "The cables that were lost most often come first, then the receivers that\n"
		"count too many errors. \"to do\" lists the cables to be replaced, mended or\n"
		"cleaned, and why: one that was lost three times or more should be replaced.\n"
		"--html writes one page that needs no other file.",
	.opts = opts,
	.asks = true,
	.json = true,
	.run = cmd_report,
};
