// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as one page. It is well-formed XML, too, loads nothing and has no script, because
 * reasons and names were written by other people. It is black on white, on the screen as on paper;
 * where the screen is narrow, each cell of a table becomes a line.
 *
 * Test: tests/unit/test_report.c.
 */
#include <stdarg.h>
#include <string.h>

#include "json.h"
#include "moment.h"
#include "number.h"
#include "orders.h"
#include "outages.h"
#include "report.h"
#include "table.h"

#define ROWS_MAX 500		/* most rows of a table */

static const char style[] =
	"body{font:16px/1.4 sans-serif;color:#000;background:#fff;max-width:75em;margin:1em auto;"
	"padding:0 .7em}\n"
	"h1{font-size:1.4em}h2{font-size:1.1em;margin:1.6em 0 .4em;border-bottom:2px solid #000}\n"
	"table{border-collapse:collapse;width:100%}\n"
	"th,td{text-align:left;vertical-align:top;padding:.2em .6em .2em 0;"
	"border-bottom:1px solid #999}\n"
	"td,li{unicode-bidi:isolate;overflow-wrap:anywhere}\n"
	".n{text-align:right;white-space:nowrap}\n"
	"svg{width:20em;max-width:100%;height:1.1em;border:1px solid #000;background:#fff}\n"
	"@media(max-width:48em){table,tbody,tr,td{display:block}thead{display:none}\n"
	"tr{border-bottom:2px solid #000;padding:.3em 0}td{border:0;padding:.1em 0}\n"
	".n{text-align:left}td::before{content:attr(data-t) ': ';font-weight:bold}}\n"
	"@media print{body{margin:0;max-width:none;font-size:11px}tr,li{break-inside:avoid}}\n";

/* --- pieces ---------------------------------------------------------------------------- */

/* Writes text; control characters, which XML does not allow, are replaced. */
static void put_text(FILE *f, const char *text)
{
	for (const unsigned char *s = (const unsigned char *)(text ? text : "-"); *s; s++) {
		if (*s == '<')
			fputs("&lt;", f);
		else if (*s == '>')
			fputs("&gt;", f);
		else if (*s == '&')
			fputs("&amp;", f);
		else if (*s == '"')
			fputs("&quot;", f);
		else if (*s == '\'')
			fputs("&#39;", f);
		else if ((*s < ' ' && *s != '\t' && *s != '\n') || *s == 0x7f)
			fputs("\xef\xbf\xbd", f);
		else
			fputc(*s, f);
	}
}

static void begin_section(FILE *f, const char *title)
{
	fprintf(f, "<h2>%s</h2>\n", title);
}

/*
 * Begins a table. @titles: of the columns, NULL at the end; titles of columns with numbers begin
 * with '>'.
 */
static void begin_table(FILE *f, const char *const *titles)
{
	fputs("<table><thead><tr>", f);
	for (; *titles; titles++)
		fprintf(f, "<th%s>%s</th>", **titles == '>' ? " class=\"n\"" : "",
			*titles + (**titles == '>'));
	fputs("</tr></thead><tbody>\n", f);
}

static void end_table(FILE *f, size_t rows, const char *command)
{
	fputs("</tbody></table>\n", f);
	if (rows > ROWS_MAX)
		fprintf(f, "<p>and %zu more; <code>%s</code> lists all</p>\n", rows - ROWS_MAX,
			command);
}

/* Begins a cell. @title: as in begin_table() */
static void begin_cell(FILE *f, const char *title)
{
	bool number = *title == '>';

	fprintf(f, "<td data-t=\"%s\"%s>", title + number, number ? " class=\"n\"" : "");
}

static void put_cell(FILE *f, const char *title, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void put_cell(FILE *f, const char *title, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	begin_cell(f, title);
	put_text(f, text);
	fputs("</td>", f);
}

/* Writes a text of any length. */
static void put_text_cell(FILE *f, const char *title, const char *text)
{
	begin_cell(f, title);
	put_text(f, text && *text ? text : "-");
	fputs("</td>", f);
}

/* Writes a duration, such as "12.3 ms" or "4 min 05 s"; "-" for null. */
static const char *ms_text(const json_t *ms, char *buf)
{
	double value = json_number_value(ms);

	if (!json_is_number(ms))
		return "-";
	if (value >= 1000)
		return duration_text(value / 1e3, buf);
	snprintf(buf, 32, "%.*f ms", json_is_real(ms) ? 1 : 0, value);
	return buf;
}

static const char *time_text(const json_t *seconds, const char *none, char *buf)
{
	return json_is_number(seconds) ? moment_text(json_number_value(seconds), buf) : none;
}

/* --- sections -------------------------------------------------------------------------- */

static void put_tasks(FILE *f, const json_t *tasks)
{
	char text[256];
	size_t i, k;
	json_t *v, *why;

	begin_section(f, "To do");
	if (!json_array_size(tasks)) {
		fputs("<p>No cable is to be mended or replaced.</p>\n", f);
		return;
	}
	fputs("<ul>\n", f);
	json_array_foreach(tasks, i, v) {
		fprintf(f, "<li><b>%s</b> ", table_or_dash(json_text(v, "what")));
		put_text(f, report_cable_text(json_object_get(v, "link"), text, sizeof(text)));
		json_array_foreach(json_object_get(v, "why"), k, why) {
			fputs(k ? "; " : ": ", f);
			put_text(f, json_string_value(why));
		}
		fputs("</li>\n", f);
	}
	fputs("</ul>\n", f);
}

/* Draws the outages of a cable as black bars over the time of the report. */
static void put_bars(FILE *f, const json_t *report, const json_t *cable)
{
	double from = json_number_value(json_object_get(report, "from"));
	double span = json_number_value(json_object_get(report, "to")) - from;
	size_t i;
	json_t *v;

	fputs("<svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\">", f);
	json_array_foreach(json_object_get(report, "outages"), i, v) {
		double at = json_number_value(json_object_get(v, "from"));
		double wide = json_number_value(json_object_get(v, "duration_ms")) / 1e3;

		if (!json_equal(json_object_get(v, "link"), cable) || span <= 0 ||
		    json_is_true(json_object_get(v, "excluded")))
			continue;
		if (!json_is_number(json_object_get(v, "from")))
			at = json_number_value(json_object_get(v, "to")) - wide;
		at = at < from ? 0 : (at - from) / span * 1000;
		wide = wide / span * 1000;
		fprintf(f, "<rect x=\"%.1f\" width=\"%.1f\" height=\"10\"/>", at,
			wide < 3 ? 3 : wide > 1000 - at ? 1000 - at : wide);
	}
	fputs("</svg>", f);
}

static void put_cables(FILE *f, const json_t *report)
{
	static const char *const titles[] = { "Cable", ">Times", ">For", "State", "Reasons",
					      "Begin to end of the day", NULL };
	const json_t *cables = json_object_get(report, "cables");
	char text[256];
	size_t i;
	json_t *v;

	begin_section(f, "Cables that were lost");
	if (!json_array_size(cables)) {
		fputs("<p>No cable was lost.</p>\n", f);
		return;
	}
	begin_table(f, titles);
	json_array_foreach(cables, i, v) {
		const json_t *link = json_object_get(v, "link");

		if (i == ROWS_MAX)
			break;
		fputs("<tr>", f);
		put_cell(f, titles[0], "%s", report_cable_text(link, text, sizeof(text)));
		put_cell(f, titles[1], "%llu", (unsigned long long)json_count(v, "times"));
		put_cell(f, titles[2], "%s", ms_text(json_object_get(v, "lost_ms"), text));
		put_cell(f, titles[3], "%s",
			 json_is_true(json_object_get(v, "lost")) ? "still lost" : "back");
		put_cell(f, titles[4], "%s",
			 report_reasons_text(json_object_get(v, "reasons"), text, REPORT_REASONS));
		begin_cell(f, titles[5]);
		put_bars(f, report, link);
		fputs("</td></tr>\n", f);
	}
	end_table(f, json_array_size(cables), "fabricctl outages");
}

/* Writes the nodes that were dead, to which the losses of their cables belong. */
static void put_dead_nodes(FILE *f, const json_t *nodes)
{
	static const char *const titles[] = { "Node", ">Times", ">For", "State", NULL };
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	if (!json_array_size(nodes))
		return;
	begin_section(f, "Nodes that were dead");
	begin_table(f, titles);
	json_array_foreach(nodes, i, v) {
		bool earlier = !json_count(v, "times");	/* the node died before the day */

		if (i == ROWS_MAX)
			break;
		fputs("<tr>", f);
		put_cell(f, titles[0], "%s (%s)", json_node_text(json_object_get(v, "node"), text),
			 table_or_dash(json_text(v, "name")));
		put_cell(f, titles[1], "%llu", (unsigned long long)json_count(v, "times"));
		put_cell(f, titles[2], "%s",
			 earlier ? "-" : ms_text(json_object_get(v, "dead_ms"), text));
		put_cell(f, titles[3], "%s", json_is_true(json_object_get(v, "dead")) ?
			 "still dead: repair or start it" : "no longer dead");
		fputs("</tr>\n", f);
	}
	end_table(f, json_array_size(nodes), "fabricctl report --json");
}

static void put_receivers(FILE *f, const json_t *receivers)
{
	static const char *const titles[] = { "Receiver", "From", "Judged", ">Errors",
					      ">Bit error rate", ">Margin", NULL };
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	begin_section(f, "Receivers with bit errors, now");
	if (!json_array_size(receivers)) {
		fprintf(f, "<p>%s</p>\n", json_is_array(receivers) ? "None has too many." :
			"The root does not report them.");
		return;
	}
	begin_table(f, titles);
	json_array_foreach(receivers, i, v) {
		const json_t *q = json_object_get(v, "quality"), *peer = json_object_get(v, "peer");

		if (i == ROWS_MAX)
			break;
		fputs("<tr>", f);
		put_cell(f, titles[0], "%s (%s)", json_end_text(v, text),
			 table_or_dash(json_text(v, "name")));
		put_cell(f, titles[1], "%s (%s)", json_end_text(peer, text),
			 table_or_dash(json_text(peer, "name")));
		put_cell(f, titles[2], "%s", table_or_dash(json_text(q, "level")));
		put_cell(f, titles[3], "%llu", (unsigned long long)json_count(q, "errors"));
		put_cell(f, titles[4], "%.1e", json_number_value(json_object_get(q, "ber")));
		put_cell(f, titles[5], "%llu%%", (unsigned long long)json_count(v, "margin"));
		fputs("</tr>\n", f);
	}
	end_table(f, json_array_size(receivers), "fabricctl links --errors");
}

static void put_outage(FILE *f, const char *const *titles, const json_t *o)
{
	const json_t *recovery = json_object_get(o, "recovery"), *from = json_object_get(o, "from");
	char text[256];

	fputs("<tr>", f);
	put_cell(f, titles[0], "%s",
		 report_cable_text(json_object_get(o, "link"), text, sizeof(text)));
	put_cell(f, titles[1], "%s", time_text(from, "before that", text));
	put_cell(f, titles[2], "%s",
		 time_text(json_object_get(o, "to"), outages_end_text(o), text));
	put_cell(f, titles[3], "%s%s", json_is_null(from) ? "> " : "",
		 ms_text(json_object_get(o, "duration_ms"), text));
	put_cell(f, titles[4], "%s", outages_cause_text(o, text));
	put_cell(f, titles[5], "%s", ms_text(json_object_get(o, "pause_ms"), text));
	if (json_is_object(recovery))
		put_cell(f, titles[6], "%llu", (unsigned long long)json_count(recovery, "lost"));
	else
		put_cell(f, titles[6], "-");
	fputs("</tr>\n", f);
}

static void put_outages(FILE *f, const json_t *outages)
{
	static const char *const titles[] = { "Cable", "From", "To", ">For", "Reason",
					      ">Pause of traffic", ">Packets lost", NULL };
	size_t i;
	json_t *v;

	if (!json_array_size(outages))
		return;
	begin_section(f, "Outages");
	begin_table(f, titles);
	json_array_foreach(outages, i, v) {
		if (i == ROWS_MAX)
			break;
		put_outage(f, titles, v);
	}
	end_table(f, json_array_size(outages), "fabricctl outages");
}

static void put_recoveries(FILE *f, const json_t *r)
{
	unsigned long long n = json_count(r, "count");
	char median[32], worst[32];

	begin_section(f, "Recoveries");
	fprintf(f, "<p>%llu", n);
	if (n)
		fprintf(f, ": median %s, worst %s; packets parked %llu, lost %llu",
			ms_text(json_object_get(r, "median_ms"), median),
			ms_text(json_object_get(r, "worst_ms"), worst),
			(unsigned long long)json_count(r, "parked"),
			(unsigned long long)json_count(r, "lost"));
	fputs("</p>\n", f);
}

static void put_warnings(FILE *f, const json_t *report)
{
	static const char *const titles[] = { "Time", "Kind", "Level", "What", NULL };
	const json_t *warnings = json_object_get(report, "warnings");
	unsigned long long more = json_count(report, "warnings_more");
	char text[32];
	size_t i;
	json_t *v;

	begin_section(f, "Other errors and warnings");
	if (!json_array_size(warnings)) {
		fputs("<p>None.</p>\n", f);
		return;
	}
	begin_table(f, titles);
	json_array_foreach(warnings, i, v) {
		fputs("<tr>", f);
		put_cell(f, titles[0], "%s", time_text(json_object_get(v, "time"), "-", text));
		put_cell(f, titles[1], "%s", table_or_dash(json_text(v, "kind")));
		put_cell(f, titles[2], "%s", table_or_dash(json_text(v, "level")));
		put_text_cell(f, titles[3], json_text(v, "text"));
		fputs("</tr>\n", f);
	}
	end_table(f, 0, "");
	if (more)
		fprintf(f, "<p>and %llu before these; <code>fabricctl events --level "
			"warning</code> lists all</p>\n", more);
}

static void put_ports(FILE *f, const char *title, const json_t *order)
{
	size_t i;
	json_t *port;

	begin_cell(f, title);
	json_array_foreach(json_object_get(order, "ports"), i, port) {
		fputs(i ? " " : "", f);
		put_text(f, json_string_value(port));
	}
	fputs("</td>", f);
}

static void put_orders(FILE *f, const json_t *orders)
{
	static const char *const titles[] = { "Node", "Ports", "Since", "Until", "By", "Reason",
					      NULL };
	char text[TORUS_TEXT_MAX], user[ORDERS_USER_MAX];
	size_t i;
	json_t *v;

	if (!json_array_size(orders))
		return;
	begin_section(f, "Excluded by an administrator, now");
	begin_table(f, titles);
	json_array_foreach(orders, i, v) {
		const json_t *until = json_object_get(v, "until");

		fputs("<tr>", f);
		put_cell(f, titles[0], "%s (%s)",
			 json_coords_text(json_object_get(v, "node"), text),
			 table_or_dash(json_text(v, "name")));
		put_ports(f, titles[1], v);
		put_cell(f, titles[2], "%s", time_text(json_object_get(v, "since"), "-", text));
		put_cell(f, titles[3], "%s", time_text(json_count(v, "until") ? until : NULL,
						       "further notice", text));
		orders_user_text(v, user);
		put_cell(f, titles[4], "%s", *user ? user : "-");
		put_text_cell(f, titles[5], json_text(v, "reason"));
		fputs("</tr>\n", f);
	}
	end_table(f, 0, "");
}

/* Lists the exclusions and inclusions by administrators during the day. */
static void put_admin(FILE *f, const json_t *events)
{
	static const char *const titles[] = { "Time", "What", "Node", "Ports", "By", "Reason",
					      NULL };
	char text[TORUS_TEXT_MAX], user[ORDERS_USER_MAX];
	size_t i;
	json_t *v;

	if (!json_array_size(events))
		return;
	begin_section(f, "Excluded and included by administrators");
	begin_table(f, titles);
	json_array_foreach(events, i, v) {
		const json_t *order = json_object_get(v, "order");

		if (i == ROWS_MAX)
			break;
		fputs("<tr>", f);
		put_cell(f, titles[0], "%s", time_text(json_object_get(v, "time"), "-", text));
		put_cell(f, titles[1], "%s", orders_event_what(v));
		put_cell(f, titles[2], "%s (%s)",
			 json_coords_text(json_object_get(order, "node"), text),
			 table_or_dash(json_text(order, "name")));
		put_ports(f, titles[3], order);
		put_cell(f, titles[4], "%s",
			 *orders_event_by(v, user) ? user : "the time was over");
		put_text_cell(f, titles[5], json_text(order, "reason"));
		fputs("</tr>\n", f);
	}
	end_table(f, json_array_size(events), "fabricctl events --kind admin");
}

/* --- the page -------------------------------------------------------------------------- */

void report_html(FILE *f, const json_t *report)
{
	const char *fabric = json_text(report, "fabric");
	char from[32], to[32];

	moment_text(json_number_value(json_object_get(report, "from")), from);
	moment_text(json_number_value(json_object_get(report, "to")), to);
	fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head>"
	      "<meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\"/>\n<title>Fabric ", f);
	put_text(f, fabric);
	fprintf(f, ", %.10s</title>\n<style>\n%s</style></head><body>\n<h1>Fabric ", from, style);
	put_text(f, fabric);
	fprintf(f, "</h1>\n<p>%.16s to %.16s</p>\n", from, to);
	put_tasks(f, json_object_get(report, "to_do"));
	put_cables(f, report);
	put_dead_nodes(f, json_object_get(report, "nodes"));
	put_receivers(f, json_object_get(report, "errors"));
	put_outages(f, json_object_get(report, "outages"));
	put_recoveries(f, json_object_get(report, "recoveries"));
	put_warnings(f, report);
	put_admin(f, json_object_get(report, "admin"));
	put_orders(f, json_object_get(report, "orders"));
	fputs("</body></html>\n", f);
}
