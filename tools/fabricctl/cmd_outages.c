// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "moment.h"
#include "number.h"
#include "outages.h"
#include "past.h"
#include "table.h"

static struct past past = { .kinds = OUTAGES_KINDS };
static const char *cable;

static char *member_ms_text(const json_t *o, const char *key, char *buf)
{
	const json_t *ms = json_object_get(o, key);

	if (!json_is_number(ms))
		strcpy(buf, "-");
	else if (json_number_value(ms) < 1000)
		snprintf(buf, 32, "%.*f ms", json_is_real(ms) ? 1 : 0, json_number_value(ms));
	else
		duration_text(json_number_value(ms) / 1e3, buf);
	return buf;
}

static char *count_or_dash(const json_t *recovery, const char *key, char *buf)
{
	if (json_is_object(recovery))
		snprintf(buf, 32, "%llu", (unsigned long long)json_count(recovery, key));
	else
		strcpy(buf, "-");
	return buf;
}

static void print_cable_end(struct table *t, const json_t *end)
{
	const char *name = json_text(end, "name");
	char at[TORUS_TEXT_MAX];

	table_cell(t, PLAIN, "%s", json_end_text(end, at));
	table_cell(t, FAINT, "%s", name && *name ? name : "-");
}

static void print_times(struct table *t, const json_t *o)
{
	const json_t *from = json_object_get(o, "from"), *to = json_object_get(o, "to");
	char text[32];

	table_cell(t, PLAIN, "%s", json_is_number(from) ?
		   moment_text(json_number_value(from), text) : "before that");
	if (json_is_number(to))
		table_cell(t, PLAIN, "%s%s",
			   json_is_true(json_object_get(o, "latest")) ? "by " : "",
			   moment_text(json_number_value(to), text));
	else
		table_cell(t, outages_held(o) ? PLAIN : BAD, "%s", outages_end_text(o));
}

static void print_outage(struct table *t, const json_t *o)
{
	const json_t *link = json_object_get(o, "link"), *recovery = json_object_get(o, "recovery");
	char text[OUTAGES_CAUSE_MAX];

	print_cable_end(t, link);
	print_cable_end(t, json_object_get(link, "peer"));
	print_times(t, o);
	table_cell(t, PLAIN, "%s%s", json_is_null(json_object_get(o, "from")) ? "> " :
		   json_is_true(json_object_get(o, "latest")) ? "< " : "",
		   member_ms_text(o, "duration_ms", text));
	table_cell(t, PLAIN, "%s", outages_cause_text(o, text));
	table_cell(t, PLAIN, "%s", member_ms_text(o, "silent_ms", text));
	table_cell(t, PLAIN, "%s", member_ms_text(recovery, "duration_ms", text));
	table_cell(t, STRONG, "%s", member_ms_text(o, "pause_ms", text));
	table_cell(t, PLAIN, "%s", count_or_dash(recovery, "parked", text));
	table_cell(t, json_count(recovery, "lost") ? BAD : PLAIN, "%s",
		   count_or_dash(recovery, "lost", text));
}

static void show_outages(const json_t *outages, const char *none)
{
	static const char *const titles[] = { "LINK", "NAME", "PEER", "NAME", "FROM", "TO", ">FOR",
					      "REASON", ">SILENT", ">RECOVERY", ">PAUSE", ">PARKED",
					      ">LOST", NULL };
	struct table *t = table_new(titles);
	size_t i;
	json_t *v;

	json_array_foreach(outages, i, v)
		print_outage(t, v);
	table_print(t, none);
}

static bool is_cable_end(const json_t *end, const char *node, const char *port)
{
	char at[TORUS_TEXT_MAX];
	const char *has = json_text(end, "port");

	return has && !strcmp(has, port) &&
	       !strcmp(json_node_text(json_object_get(end, "node"), at), node);
}

/* Removes all outages but those of the cable of --link, which may name either end. */
static int keep_cable(struct ask *a, json_t *outages)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	int status = cable ? ask_link(a, cable, node, port) : OK;

	for (size_t i = json_array_size(outages); cable && status == OK && i-- > 0;) {
		const json_t *link = json_object_get(json_array_get(outages, i), "link");

		if (!is_cable_end(link, node, port) &&
		    !is_cable_end(json_object_get(link, "peer"), node, port))
			json_array_remove(outages, i);
	}
	return status;
}

static int answer_outages(const struct ctl *ctl, struct ask *a)
{
	json_t *faulty = NULL, *outages;
	struct past_found found;
	int status = past_ask(a, &past, &found);

	if (status != OK)
		return status;
	status = past_faulty(a, &faulty);
	outages = outages_find(found.events, faulty);
	outages_so_far(outages, past_end(&found));
	json_decref(faulty);
	if (status == OK)
		status = keep_cable(a, outages);
	if (status == OK && ctl->json)
		json_show(json_incref(outages));
	else if (status == OK)
		show_outages(outages, past_none(&found, "no cable was lost"));
	json_decref(outages);
	if (status == OK) {
		ask_label(a, true);
		past_notes(&found);
	}
	past_free(&found);
	return status == OK ? ask_status(a) : status;
}

static int cmd_outages(struct ctl *ctl, int argc, char **argv)
{
	struct ask a;
	int status = past_check(&past);

	(void)argc;
	(void)argv;
	if (status == OK)
		status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = answer_outages(ctl, &a);
	ask_close(&a);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "since", 's', "TIME", &past.since, 0, 0,
	  "from then on: 03:00, 2026-11-26, '2026-11-26 03:00', yesterday, -2h" },
	{ OPT_TEXT, "until", 'u', "TIME", &past.until, 0, 0, "up to then" },
	{ OPT_TEXT, "link", 0, "NODE:PORT", &cable, 0, 0, "of this cable, by either end" },
	{ .kind = OPT_END },
};

COMMAND(cmd_outages) = {
	.name = "outages",
	.args = "",
	.brief = "Each loss of a cable: when, why, for how long, what it cost",
	.help = "A line for each time that a cable was lost, from the root's history. SILENT: how\n"
		"long the cable had been silent when the loss was noticed. PAUSE: how long\n"
		"traffic over it waited: that, and the RECOVERY. PARKED and LOST: packets, in\n"
		"that recovery.",
	.opts = opts,
	.asks = true,
	.json = true,
	.run = cmd_outages,
};
