// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "errors.h"
#include "json.h"
#include "next.h"
#include "number.h"
#include "orders.h"
#include "output.h"
#include "root.h"
#include "show.h"
#include "wave.h"

static const char *text_or_dash(const char *text)
{
	return text ? text : "-";
}

static enum colour state_colour(const char *state)
{
	if (!strcmp(state, "running"))
		return GOOD;
	return strcmp(state, "degraded") ? DOUBTFUL : BAD;
}

/* Return: true if every node and link that is not up was excluded by an administrator. */
static bool is_maintained(const json_t *s)
{
	const char *state = json_text(s, "state");

	return state && !strcmp(state, "running") &&
	       json_count(json_object_get(s, "links"), "excluded");
}

/* Prints the state: "running, 4 links excluded". */
static void show_state(const json_t *s)
{
	const char *state = text_or_dash(json_text(s, "state"));
	unsigned long long out = json_count(json_object_get(s, "links"), "excluded");

	if (is_maintained(s))
		printf("%s%s, %llu link%s excluded%s", paint(DOUBTFUL), state, out,
		       out == 1 ? "" : "s", paint(PLAIN));
	else
		printf("%s%s%s", paint(state_colour(state)), state, paint(PLAIN));
}

/* Return: true if the manager has no NIC, and so knows nothing of the fabric. */
static bool lacks_nic(const json_t *s)
{
	json_t *v;
	size_t i;

	if (json_is_array(json_object_get(json_object_get(s, "own"), "node")) ||
	    json_count(json_object_get(s, "nodes"), "total"))
		return false;
	json_array_foreach(json_object_get(s, "problems"), i, v)
		if (json_text(v, "kind") && !strcmp(json_text(v, "kind"), "nic"))
			return true;
	return false;
}

static void show_head(const json_t *s)
{
	struct torus_shape shape;
	char text[TORUS_TEXT_MAX] = "shape not known yet";

	if (!json_shape_read(json_object_get(s, "shape"), &shape))
		torus_shape_text(&shape, text);
	printf("fabric %s%s%s: ", paint(STRONG), text_or_dash(json_text(s, "fabric")),
	       paint(PLAIN));
	if (lacks_nic(s)) {
		printf("%snot known%s, because this manager has no NIC\n", paint(BAD),
		       paint(PLAIN));
		return;
	}
	show_state(s);
	printf(", %s, table version %llu\n", text,
	       (unsigned long long)json_count(s, "table_version"));
}

/* Prints the prefixes of the nodes' addresses, if they are not the default ones. */
static void show_plan(const json_t *s)
{
	const char *v4 = json_text(s, "address4"), *v6 = json_text(s, "address6");
	char usual4[TORUS_TEXT_MAX], usual6[TORUS_TEXT_MAX];
	struct torus_plan plan;

	torus_plan_default(&plan);
	if (v4 && v6 && (strcmp(v4, torus_plan_text4(&plan, usual4)) ||
			 strcmp(v6, torus_plan_text6(&plan, usual6))))
		printf("addresses of %s and %s\n", v4, v6);
}

/*
 * Prints a count. @since: text with the time since which there has been no root, so that other
 * nodes' values are not known; or ""
 */
static void show_count(const char *what, const json_t *s, const char *since)
{
	const json_t *c = json_object_get(s, what);
	unsigned long long up = json_count(c, "up"), total = json_count(c, "total");
	unsigned long long answering = json_count(json_object_get(s, "heard"), what);

	if (!total) {
		printf("%-9snot known yet\n", what);
		return;
	}
	printf("%-9s%s%llu of %llu up%s%s", what,
	       paint(*since || (up < total && !is_maintained(s)) ? BAD :
		     up < total ? DOUBTFUL : GOOD),
	       up, total, *since && answering < up ? " by their last reports" : "", paint(PLAIN));
	if (*since && up < total)
		printf(", %sof the others nothing is known for %s%s", paint(BAD), since,
		       paint(PLAIN));
	if (answering < up && json_object_get(s, "heard"))
		printf(", %s%llu reported now%s", paint(DOUBTFUL), answering, paint(PLAIN));
	if (json_count(c, "faulty"))
		printf(", %s%llu faulty%s", paint(BAD),
		       (unsigned long long)json_count(c, "faulty"), paint(PLAIN));
	if (json_count(c, "wrong"))
		printf(", %s%llu in wrong ports%s", paint(BAD),
		       (unsigned long long)json_count(c, "wrong"), paint(PLAIN));
	if (json_count(c, "excluded"))
		printf(", %s%llu excluded%s", paint(DOUBTFUL),
		       (unsigned long long)json_count(c, "excluded"), paint(PLAIN));
	putchar('\n');
}

#define LINES_MAX 10	/* most lines of a list */

/* Prints an end of a cable: "1,1:+x (n1-1)". */
static void print_end(const json_t *end)
{
	const char *name = json_text(end, "name");
	char text[TORUS_TEXT_MAX];

	printf("%s%s%s%s", json_end_text(end, text), name ? " (" : "", name ? name : "",
	       name ? ")" : "");
}

static void print_for(const json_t *f)
{
	const json_t *ms = json_object_get(f, "for_ms");
	char text[32];

	if (json_is_number(ms))
		printf(", for %s", duration_text(json_number_value(ms) / 1e3, text));
	else
		printf(", for an unknown time");
	putchar('\n');
}

static void show_cable(const json_t *f)
{
	const char *reason = json_text(f, "reason");

	print_end(f);
	printf(" - ");
	print_end(json_object_get(f, "peer"));
	printf(" %s", reason ? reason : "reason not known");
	print_for(f);
}

/* Return: true if @i is the first cable of the list of that dead node; counts its cables. */
static bool is_first_of(const json_t *list, size_t i, const json_t *dead, unsigned int *cables)
{
	size_t k;
	json_t *v;

	*cables = 0;
	json_array_foreach(list, k, v) {
		if (!json_equal(json_object_get(v, "dead"), dead))
			continue;
		if (k < i)
			return false;
		++*cables;
	}
	return true;
}

/* Prints the cables of a dead node in one line. */
static void show_dead(const json_t *f, unsigned int cables)
{
	const json_t *dead = json_object_get(f, "dead"), *peer = json_object_get(f, "peer");
	const char *name = json_text(json_equal(json_object_get(f, "node"), dead) ? f : peer,
				     "name");
	char at[TORUS_TEXT_MAX];

	printf("%u cable%s of %s (%s), which is dead", cables, cables == 1 ? "" : "s",
	       json_node_text(dead, at), text_or_dash(name));
	print_for(f);
}

static void show_faulty(const json_t *s)
{
	const json_t *list = json_object_get(s, "faulty");
	unsigned long long more = json_count(s, "faulty_more");
	unsigned int lines = 0, cables;
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v) {
		const json_t *dead = json_object_get(v, "dead");
		bool whole = json_is_array(dead);

		if (whole && !is_first_of(list, i, dead, &cables))
			continue;
		if (lines == LINES_MAX) {
			more += whole ? cables : 1;
			continue;
		}
		printf("%s%-9s%s", paint(BAD), lines++ ? "" : "faulty", paint(PLAIN));
		if (whole)
			show_dead(v, cables);
		else
			show_cable(v);
	}
	if (more)
		printf("         and %llu more; 'fabricctl links --bad' lists all\n", more);
}

static void show_orders(const json_t *s)
{
	const json_t *orders = json_object_get(s, "orders");
	size_t n = json_array_size(orders), shown = n < LINES_MAX ? n : LINES_MAX;
	unsigned long long more = n - shown + json_count(s, "orders_more");

	orders_show(orders, "excluded", LINES_MAX);
	if (more)
		printf("         and %llu more; 'fabricctl table' lists all\n", more);
}

/* Prints a step of a recovery that has ended, or @goes_on and may reach it still. */
static void show_step(const json_t *timeline, const char *step, bool goes_on)
{
	const json_t *ms = json_object_get(timeline, step);

	if (json_is_number(ms))
		printf("           %8.1f ms  %s\n", json_number_value(ms), step);
	else if (!goes_on)
		printf("           %8s     %s%s, not needed%s\n", "-", paint(FAINT), step,
		       paint(PLAIN));
}

static void show_timeline(const json_t *recovery, bool goes_on)
{
	static const char *const steps[] = { "detected", "table", "rebuilt", "drained",
					     "replayed", "resumed" };
	const json_t *timeline = json_object_get(recovery, "timeline");

	if (json_is_object(timeline))
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
			show_step(timeline, steps[i], goes_on);
}

/* Prints the recovery that goes on, with the steps that it has reached. */
static void print_present(const json_t *r)
{
	char since[32];

	if (!json_is_object(r))
		return;
	printf("%s%-9sversion %llu: %s%s\n         goes on for %s; packets: %llu parked\n",
	       paint(DOUBTFUL), "recovers", (unsigned long long)json_count(r, "version"),
	       text_or_dash(json_text(r, "cause")), paint(PLAIN),
	       duration_text(json_number_value(json_object_get(r, "duration_ms")) / 1e3, since),
	       (unsigned long long)json_count(r, "parked"));
	show_timeline(r, true);
}

/* Prints the last recovery. A root knows only the recoveries that it has led. */
static void print_recovery(const json_t *r, bool led)
{
	double started = json_number_value(json_object_get(r, "started"));
	unsigned long long lost = json_count(r, "lost");
	char ago[32];

	if (!json_is_object(r)) {
		printf("%-9s%s\n", "recovery",
		       led ? "none yet since this root leads" : "none without a root");
		return;
	}
	printf("%-9sversion %llu: %s", "recovery", (unsigned long long)json_count(r, "version"),
	       text_or_dash(json_text(r, "cause")));
	if (started > 0)
		printf(", %s ago", duration_text(age(started), ago));
	printf("\n         took %.1f ms; packets: %llu parked, %llu replayed, %s%llu lost%s\n",
	       json_number_value(json_object_get(r, "duration_ms")),
	       (unsigned long long)json_count(r, "parked"),
	       (unsigned long long)json_count(r, "replayed"), lost ? paint(BAD) : "", lost,
	       lost ? paint(PLAIN) : "");
	show_timeline(r, false);
}

static void show_problems(const json_t *problems, unsigned long long more)
{
	size_t i;
	json_t *v;

	json_array_foreach(problems, i, v)
		printf("%s%-9s%s%s: %s\n", paint(BAD), i ? "" : "problems", paint(PLAIN),
		       text_or_dash(json_text(v, "kind")), text_or_dash(json_text(v, "text")));
	if (more)
		printf("         %sand %llu more problem%s%s\n", paint(BAD), more,
		       more == 1 ? "" : "s", paint(PLAIN));
}

static void show_held(const json_t *links)
{
	char text[TORUS_TEXT_MAX], left[32];
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v)
		printf("%s%-9s%s%s: used again in %s unless it is lost meanwhile\n",
		       paint(DOUBTFUL), i ? "" : "held", paint(PLAIN), json_end_text(v, text),
		       duration_text(json_number_value(json_object_get(v, "left_ms")) / 1e3,
				     left));
}

/* Return: true if training has reduced lanes, rate or margin; false if only errors were counted. */
static bool is_reduced(const json_t *l)
{
	return json_count(l, "width") < json_count(l, "lanes") ||
	       json_count(l, "rate") < json_count(l, "rate_max") ||
	       json_count(l, "margin") < json_count(l, "margin_train");
}

static void print_quality(const json_t *link, const json_t *q)
{
	if (json_is_true(json_object_get(q, "slow")))
		printf(": round trip %.3g ms, elsewhere at most %.3g ms",
		       json_number_value(json_object_get(q, "round_trip_ms")),
		       json_number_value(json_object_get(q, "usual_round_trip_ms")));
	if (json_is_true(json_object_get(q, "worn")))
		printf(", margin %llu%%, was %.0f%%",
		       (unsigned long long)json_count(link, "margin"),
		       json_number_value(json_object_get(q, "usual_margin")));
	printf(": %llu errors, bit error rate %.1e\n", (unsigned long long)json_count(q, "errors"),
	       json_number_value(json_object_get(q, "ber")));
}

/* Names the cable by both ends, and the remedy. */
static void show_errors(const json_t *links)
{
	unsigned int lines = 0, more = 0;
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v) {
		const json_t *q = json_object_get(v, "quality");
		const char *level = errors_level(v);

		if (!level)
			continue;
		if (lines == LINES_MAX) {
			more++;
			continue;
		}
		printf("%s%-9s%s", paint(strcmp(level, "fail") ? DOUBTFUL : BAD),
		       lines++ ? "" : "errors", paint(PLAIN));
		print_end(v);
		printf(errors_only_slow(q) ? " has a slow cable to " : " receives badly from ");
		print_end(json_object_get(v, "peer"));
		print_quality(v, q);
	}
	if (more)
		printf("         and %u more\n", more);
}

static void show_degraded(const json_t *links)
{
	bool first = true;
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v) {
		if (!is_reduced(v))
			continue;
		printf("%s%-9s%s", paint(DOUBTFUL), first ? "lines" : "", paint(PLAIN));
		print_end(v);
		printf(" from ");
		print_end(json_object_get(v, "peer"));
		printf(": %llu of %llu lanes at %llu of %llu Mb/s, margin %llu%%\n",
		       (unsigned long long)json_count(v, "width"),
		       (unsigned long long)json_count(v, "lanes"),
		       (unsigned long long)json_count(v, "rate"),
		       (unsigned long long)json_count(v, "rate_max"),
		       (unsigned long long)json_count(v, "margin"));
		first = false;
	}
}

/* Prints the place of the asked node from the INITs of its neighbours, if no root has placed it. */
static void show_wave(const json_t *wave)
{
	char at[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	if (!json_is_object(wave) || json_is_true(json_object_get(wave, "confirmed")))
		return;
	printf("%-9s%s%s, unconfirmed%s: by the Inits of neighbours, no root has placed it yet\n",
	       "place", paint(DOUBTFUL), wave_position_text(json_object_get(wave, "position"), at),
	       paint(PLAIN));
	json_array_foreach(json_object_get(wave, "neighbours"), i, v) {
		bool agrees = json_is_true(json_object_get(v, "agrees"));

		printf("         %s: %s (%s)%s%s%s\n", text_or_dash(json_text(v, "port")),
		       text_or_dash(json_text(v, "name")),
		       wave_position_text(json_object_get(v, "position"), at),
		       agrees ? "" : paint(BAD), agrees ? "" : ", contradicts",
		       agrees ? "" : paint(PLAIN));
	}
}

static void show_status(const json_t *s)
{
	unsigned long long parked = json_count(s, "parked_packets");
	unsigned long long relayed = json_count(s, "relayed_pairs");
	const json_t *root = json_object_get(s, "root"), *own = json_object_get(s, "own");
	double lost = json_number_value(json_object_get(root, "unreachable_since"));
	char since[40] = "", at[TORUS_TEXT_MAX];

	if (lost > 0)
		duration_text(age(lost), since);
	show_head(s);
	show_plan(s);
	show_count("nodes", s, since);
	show_count("links", s, since);
	show_faulty(s);
	show_orders(s);
	show_problems(json_object_get(s, "problems"), json_count(s, "problems_more"));
	show_held(json_object_get(s, "held_links"));
	show_errors(json_object_get(s, "degraded_links"));
	show_degraded(json_object_get(s, "degraded_links"));
	print_present(json_object_get(s, "recovery"));
	printf("%-9s%s%llu packet%s%s\n", "parked", parked ? paint(DOUBTFUL) : "", parked,
	       parked == 1 ? "" : "s", parked ? paint(PLAIN) : "");
	if (relayed)
		printf("%-9s%s%llu pair%s of nodes talk%s by way of other nodes%s\n", "relays",
		       paint(DOUBTFUL), relayed, relayed == 1 ? "" : "s",
		       relayed == 1 ? "s" : "", paint(PLAIN));
	if (json_is_object(root))
		root_show(root);
	if (json_is_object(own))
		printf("%-9s%s (%s)\n", "asked", text_or_dash(json_text(own, "name")),
		       json_node_text(json_object_get(own, "node"), at));
	show_wave(json_object_get(own, "wave"));
	print_recovery(json_object_get(s, "last_recovery"), root_leads(root));
	next_show(json_object_get(s, "next"));
}

/* Adds the degraded links, from the root's list; null if the manager does not report it. */
static void add_degraded(struct ask *a, json_t *status)
{
	const char *state = json_text(status, "state");
	json_t *links = NULL;

	if (state && strcmp(state, "bootstrapping") &&
	    json_is_true(json_object_get(json_object_get(status, "root"), "reachable")) &&
	    ask(a, json_pack("{ss sb}", "cmd", "links", "degraded", true), &links) == OK)
		json_object_set(status, "degraded_links", links);
	else
		json_object_set_new(status, "degraded_links", json_null());
	json_decref(links);
}

/*
 * Return: true if a cable is lost or leads to a wrong port. While the fabric recovers, its state
 * does not show whether it will be degraded afterwards.
 */
static bool has_faults(const json_t *s)
{
	const json_t *links = json_object_get(s, "links");

	return json_count(links, "faulty") || json_count(links, "wrong");
}

static int judge_status(const json_t *s)
{
	const char *state = json_text(s, "state");
	const json_t *root = json_object_get(s, "root");

	if (!state || !strcmp(state, "degraded") || (!strcmp(state, "recovering") && has_faults(s)))
		return PROBLEM;
	if (strcmp(state, "bootstrapping") && json_is_object(root) && !root_leads(root))
		return PROBLEM;
	if (json_array_size(json_object_get(s, "problems")))
		return PROBLEM;
	return is_maintained(s) || json_array_size(json_object_get(s, "degraded_links")) ?
		       NOT_KEPT : OK;
}

static int cmd_status(struct ctl *ctl, int argc, char **argv)
{
	struct ask a;
	json_t *data;
	int status;

	(void)argc;
	(void)argv;
	status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = ask(&a, json_pack("{ss}", "cmd", "status"), &data);
	if (status == OK) {
		add_degraded(&a, data);
		json_object_set_new(data, "next", next_steps(ctl, data));
		status = judge_status(data);
		if (ctl->json)
			json_show(json_incref(data));
		else
			show_status(data);
		json_decref(data);
	}
	ask_close(&a);
	return status;
}

COMMAND(cmd_status) = {
	.name = "status",
	.args = "",
	.brief = "State of the fabric: faulty cables and nodes, problems, what to do next",
	.help = "The first lines name faulty cables, and what an administrator excluded. A link\n"
		"that is up, but with fewer lanes, a lower rate or less margin than its cable\n"
		"should give, is listed under 'lines'; one whose receiver counts too many bit\n"
		"errors, under 'errors'. The last lines, 'next', name for each fault the command\n"
		"that shows more of it, and what to do then.\n"
		"Exit status 1 if the fabric is degraded, or will be when it has recovered, has\n"
		"problems, or has no root. 3, a\n"
		"warning, if nothing is wrong but that links are excluded by an administrator, or\n"
		"listed under 'lines' or 'errors'.",
	.asks = true,
	.json = true,
	.watch = true,
	.run = cmd_status,
};
