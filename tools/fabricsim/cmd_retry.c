// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim retry: the efficiency of three retry protocols on a line with bit errors. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/torus.h>

#include "jobs.h"
#include "plot.h"
#include "points.h"
#include "range.h"
#include "retry_formula.h"
#include "retry_play.h"
#include "retry_wire.h"
#include "tools/fabricctl/json.h"
#include "tools/fabricctl/output.h"

#define DECADES 25		/* most points of --ber FROM:TO */
#define HIT_UNIT 20		/* with --retries: number of the message that has the errors */
#define HIT_MESSAGES 60
#define MESSAGES 20000
#define PLAY_MESSAGES 6
#define PLAY_MESSAGES_MAX 1000
#define CROSS_STEPS 12		/* number of steps of the search for a crossing, each of which
				 * halves the interval of error rates */
#define PAPER_WASTE 2		/* packets lost after a damaged packet, in the paper */
#define PAPER_WASTE_MICRO 49

static const char *const protocols[] = { "angara", "acknak", "hippi", NULL };

/*
 * Formats of the paper, and for Angara the format of this project: bytes of a packet besides its
 * payload, and bytes of an answer.
 */
static const struct {
	unsigned int overhead, answer;
} format[] = { { 32, 32 }, { 28, 8 }, { 8, 8 } };

static const char *protocol_list, *ber_list, *payload_list = "4096";
static const char *delay_list, *coalesce_list, *retries_list;
static uint64_t micro = 32, window, timeout, messages, overhead = UINT64_MAX;
static bool micro_asked, one_way, cross_asked;
static const char *micro_text, *answers_text, *play_text, *figure_text;

static unsigned int overhead_of(unsigned int protocol)
{
	return overhead == UINT64_MAX ? format[protocol].overhead : (unsigned int)overhead;
}

/*
 * Reads the option --answers. Return: 1 if only answers in sequence count, else 0; or -1 after it
 * has printed the error.
 */
static int in_sequence(void)
{
	static const char *const words[] = { "always", "in-sequence", NULL };

	return answers_text ? word_option("answers", answers_text, strlen(answers_text), words) : 0;
}

/** struct point - one combination, and its results */
struct point {
	unsigned int protocol;	/* index of protocols[] */
	struct formula f;
	double analytic, exact, measured;
	struct wire_plan plan;
	struct wire_cost cost;
	bool fixed;		/* --retries was given */
};

struct plan {
	struct range ber, payload, delay, coalesce, retries;
	unsigned int protocol[3];
	size_t nprotocols;
	struct point *point;
	size_t n;
};

/* --- the plan ------------------------------------------------------------- */

static int protocols_parse(struct plan *p)
{
	const char *at = protocol_list ? protocol_list : "angara,acknak,hippi";

	while (p->nprotocols < 3) {
		size_t len = strcspn(at, ",");
		int which = word_option("protocol", at, len, protocols);

		if (which < 0)
			return CANNOT;
		p->protocol[p->nprotocols++] = (unsigned int)which;
		if (!at[len])
			return OK;
		at += len + 1;
	}
	return fail("--protocol '%s': must be some of angara, acknak, hippi, each once",
		    protocol_list);
}

static int ber_parse(struct range *r)
{
	const char *text = ber_list ? ber_list : "1e-9:1e-3", *colon = strchr(text, ':');

	if (colon && !strchr(colon + 1, ':'))
		return range_decades("ber", text, 1e-18, 0.5, DECADES, r);
	return range_parse("ber", text, 0, 0.5, r);
}

static int ranges_parse(struct plan *p)
{
	if (in_sequence() < 0)
		return CANNOT;
	if (!messages)
		messages = MESSAGES;
	if (protocols_parse(p) || ber_parse(&p->ber) ||
	    range_parse("payload", payload_list, 1, 1 << 20, &p->payload) ||
	    range_parse("delay", delay_list ? delay_list : "0", 0, 1e9, &p->delay) ||
	    range_parse("coalesce", coalesce_list ? coalesce_list : "1", 1, 1024, &p->coalesce) ||
	    range_parse("retries", retries_list ? retries_list : "0", 0, 100, &p->retries))
		return CANNOT;
	if (retries_list && ber_list)
		return fail(
			"--retries says which transmissions are hit: it does not go with --ber");
	if (micro_text) {
		double v;

		if (real_option("micro", micro_text, 0, 1 << 20, &v))
			return CANNOT;
		micro = (uint64_t)v;
		micro_asked = true;
	}
	return OK;
}

/* Refuses impossible combinations. It never changes a value silently. */
static int check_plan(const struct plan *p)
{
	if (cross_asked && window > wire_window_max(3))
		return fail("--window %" PRIu64
			    ": --crossover measures hippi, too, whose sequence numbers allow at "
			    "most %u outstanding packets",
			    window, wire_window_max(3));
	for (size_t i = 0; i < p->nprotocols; i++) {
		const char *name = protocols[p->protocol[i]];
		bool hippi = p->protocol[i] == 2;
		unsigned int most = wire_window_max(p->protocol[i] + 1);

		if (window > most)
			return fail("--window %" PRIu64 ": the sequence numbers of %s allow at "
				    "most %u outstanding packets%s", window, name, most,
				    hippi ? ": 8 bits, 0 to 254" : "");
		if (micro_asked && micro && !hippi)
			return fail("--micro %" PRIu64
				    ": micro-packets go with the 8-bit numbers of "
				    "hippi; %s numbers packets with 12 bits",
				    micro, name);
	}
	for (size_t i = 0; micro && i < p->payload.n; i++)
		if (fmod(p->payload.v[i], (double)micro))
			for (size_t k = 0; k < p->nprotocols; k++)
				if (p->protocol[k] == 2)
					return fail("--payload %g: not a multiple of the "
						    "micro-packet's %" PRIu64 " bytes (--micro)",
						    p->payload.v[i], micro);
	return OK;
}

static double line_delay(const struct point *t, double asked)
{
	double unit = t->f.unit + t->f.overhead;
	double waste = t->f.unit < t->f.payload ? PAPER_WASTE_MICRO : PAPER_WASTE;

	return delay_list ? asked : floor(((waste - 0.5) * unit - format[t->protocol].answer) / 2);
}

static struct point retry_point(unsigned int protocol, double payload, double delay,
				double coalesce, double ber, double retries, uint64_t seed)
{
	struct point t = { .protocol = protocol, .fixed = retries_list };
	bool hippi = protocol == 2;
	double unit = hippi && micro ? (double)micro : payload;
	uint64_t line;

	t.f = (struct formula) {
		.payload = payload, .unit = unit, .overhead = overhead_of(protocol),
		.answer = protocol == 1 && !t.fixed ? format[1].answer / coalesce : 0,
		.ber = t.fixed ? 0 : ber,
	};
	t.plan = (struct wire_plan) {
		.protocol = protocol + 1, .payload = (unsigned int)unit,
		.overhead = overhead_of(protocol), .answer = format[protocol].answer,
		.delay = (uint64_t)line_delay(&t, delay),
		.window = window ? (unsigned int)window : wire_window_max(protocol + 1),
		.coalesce = (unsigned int)coalesce, .ber = t.f.ber, .seed = seed,
		.one_way = one_way || t.fixed, .in_sequence = in_sequence(),
		.units = (t.fixed ? HIT_MESSAGES : messages) * (uint64_t)(payload / unit),
		.hit = (unsigned int)retries,
		.hit_unit = HIT_UNIT * (uint64_t)(payload / unit),
	};
	line = 2 * t.plan.delay + (uint64_t)(4 + coalesce) * (t.plan.payload + t.plan.overhead);
	t.plan.timeout = timeout ? timeout : 2 * line;
	t.f.waste = line_waste(&t.plan);
	t.analytic = t.fixed ? paper_retries(&t.f, (unsigned int)retries) : paper_efficiency(&t.f);
	t.exact = t.fixed ? exact_retries(&t.f, (unsigned int)retries) : exact_efficiency(&t.f);
	if (!protocol)		/* the paper has no formula for this protocol */
		t.analytic = t.exact;
	return t;
}

static int make_retry(struct plan *p, uint64_t seed)
{
	const struct range *swept = retries_list ? &p->retries : &p->ber;

	p->point = calloc(p->nprotocols * p->payload.n * p->delay.n * p->coalesce.n * swept->n,
			  sizeof(*p->point));
	if (!p->point)
		return fail("out of memory");
	for (size_t a = 0; a < p->nprotocols; a++)
		for (size_t b = 0; b < p->payload.n; b++)
			for (size_t c = 0; c < p->delay.n; c++)
				for (size_t d = 0; d < p->coalesce.n; d++)
					for (size_t e = 0; e < swept->n; e++) {
						p->point[p->n] = retry_point(
							p->protocol[a], floor(p->payload.v[b]),
							p->delay.v[c], floor(p->coalesce.v[d]),
							retries_list ? 0 : p->ber.v[e],
							retries_list ? floor(p->retries.v[e]) : 0,
							jobs_seed(seed, p->n));
						p->n++;
					}
	return OK;
}

/* --- the runs ------------------------------------------------------------- */

static int run_point(void *arg, size_t i)
{
	struct point *t = &((struct plan *)arg)->point[i];
	double unit = t->f.unit + t->f.overhead, clean = t->f.payload / t->f.unit * unit;

	t->cost = wire_run(&t->plan);
	if (t->fixed)	/* only the bytes that the damaged message has cost, without those of the
			 * other messages */
		t->measured = t->f.payload /
			((double)t->cost.sent * unit - (HIT_MESSAGES - 1) * clean);
	else
		t->measured = t->cost.flow ? (double)t->cost.payload / (double)t->cost.flow : 0;
	return 0;
}

static json_t *finite_json(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *retry_json(const struct point *t)
{
	const struct wire_plan *p = &t->plan;

	return json_pack("{ss si si sI si so so so so so so sI sI sI sI sb}",
			 "protocol", protocols[t->protocol], "payload", (int)t->f.payload,
			 "unit", (int)p->payload, "delay", (json_int_t)p->delay,
			 "coalesce", (int)p->coalesce,
			 "ber", t->fixed ? json_null() : json_real(t->f.ber),
			 "retries", t->fixed ? json_integer(p->hit) : json_null(),
			 "analytic", finite_json(t->analytic), "exact", finite_json(t->exact),
			 "measured", finite_json(t->measured),
			 "utilisation", finite_json(t->cost.time ? (double)t->cost.payload /
				(double)t->cost.time / (p->one_way ? 1 : 2) : NAN),
			 "sent", (json_int_t)t->cost.sent, "answers", (json_int_t)t->cost.answers,
			 "backs", (json_int_t)t->cost.backs,
			 "timeouts", (json_int_t)t->cost.timeouts, "ended", t->cost.ended);
}

static double measure_at(struct point t, double ber)
{
	t.plan.ber = ber;
	t.cost = wire_run(&t.plan);
	if (!t.cost.ended)
		return NAN;		/* the protocol makes no progress any more */
	return t.cost.flow ? (double)t.cost.payload / (double)t.cost.flow : 0;
}

/*
 * Finds by bisection the bit error rate at which both are equally efficient. The search begins at
 * 1e-9, below which errors are too rare to be measured, and at 1e-4, above which micro-packets are
 * better.
 */
static double measured_crossing(const struct point *a, const struct point *b)
{
	double low = -9, high = -4;

	if (!(measure_at(*a, 1e-9) > measure_at(*b, 1e-9)) ||
	    !(measure_at(*a, 1e-4) < measure_at(*b, 1e-4)))
		return NAN;
	for (unsigned int i = 0; i < CROSS_STEPS; i++) {
		double middle = (low + high) / 2, ber = pow(10, middle);
		double of_a = measure_at(*a, ber), of_b = measure_at(*b, ber);

		if (isnan(of_a) || isnan(of_b))
			return NAN;
		if (of_a > of_b)
			low = middle;
		else
			high = middle;
	}
	return pow(10, (low + high) / 2);
}

/*
 * Return: bit error rate at which packets and micro-packets are equally efficient (first payload).
 */
static json_t *crossover_json(const struct plan *p, uint64_t seed)
{
	struct point a, b;
	double payload = floor(p->payload.v[0]);

	if (!micro || fmod(payload, (double)micro))
		return json_null();
	a = retry_point(1, payload, p->delay.v[0], p->coalesce.v[0], 0, 0, seed);
	b = retry_point(2, payload, p->delay.v[0], p->coalesce.v[0], 0, 0, seed);
	a.f.answer = 0;		/* the paper does not count answers here */
	return json_pack("{so so so}",
			 "analytic", finite_json(crossing(a.f, b.f, paper_efficiency)),
			 "exact", finite_json(crossing(a.f, b.f, exact_efficiency)),
			 "measured", cross_asked ? finite_json(measured_crossing(&a, &b)) :
						   json_null());
}

static void crossover_print(const json_t *about)
{
	const json_t *at = json_object_get(json_object_get(about, "crossover"), "measured");

	if (json_is_real(at))
		printf("packets (acknak) and micro-packets (hippi) are equally efficient at "
		       "%.3g\n\n",
		       json_real_value(at));
	else
		printf("packets (acknak) and micro-packets (hippi): no equal point from 1e-9 to "
		       "1e-4\n\n");
}

static bool are_one_curve(const struct point *a, const struct point *b)
{
	return a->protocol == b->protocol && a->f.payload == b->f.payload &&
	       a->plan.delay == b->plan.delay && a->plan.coalesce == b->plan.coalesce;
}

/* Begins a curve, whose name is its protocol and all other parameters in which curves differ. */
static void begin_curve(struct plot *plot, const struct plan *p, const struct point *t,
			bool measured)
{
	char like[96], name[128];
	int n = snprintf(like, sizeof(like), "%s", protocols[t->protocol]);

	if (p->payload.n > 1)
		n += snprintf(like + n, sizeof(like) - (size_t)n, ", %g bytes", t->f.payload);
	if (p->delay.n > 1)
		n += snprintf(like + n, sizeof(like) - (size_t)n, ", delay %llu",
			      (unsigned long long)t->plan.delay);
	if (p->coalesce.n > 1)
		snprintf(like + n, sizeof(like) - (size_t)n, ", ACK of %u", t->plan.coalesce);
	snprintf(name, sizeof(name), "%s, %s", like, measured ? "measured" : "exact");
	plot_curve(plot, name);
	plot_look(plot, like, measured ? PLOT_MARKS : PLOT_LINE);
}

/* Draws the efficiencies: lines are computed, marks are measured. */
static int draw_efficiency(const struct plan *p, const char *file)
{
	struct plot *plot = plot_new("Efficiency of link retry: computed (lines) "
				     "and measured (marks)");

	plot_panel(plot, "", retries_list ? "times that one message is hit" :
		   "bit error rate, errors / bit", "efficiency, payload / bytes on the line");
	plot_log(plot, !retries_list, false);
	for (int measured = 0; measured < 2; measured++) {
		for (size_t i = 0; i < p->n; i++) {
			const struct point *t = &p->point[i];

			if (!i || !are_one_curve(t, t - 1))
				begin_curve(plot, p, t, measured);
			plot_point(plot, t->fixed ? t->plan.hit : t->f.ber,
				   measured ? t->measured : t->exact, 0);
		}
	}
	return plot_write(plot, file);
}

static int show_retry(const struct ctl *ctl, const struct plan *p)
{
	static const char *const columns[] = { "protocol", "payload", "unit", "delay", "ber",
		"retries", "analytic", "exact", "measured", "backs", "timeouts", NULL };
	json_t *points = json_array(), *about;
	size_t stuck = 0;
	int status = OK;

	for (size_t i = 0; i < p->n; i++) {
		json_array_append_new(points, retry_json(&p->point[i]));
		stuck += !p->point[i].cost.ended;
	}
	about = json_pack("{sI sI sI sb so}", "seed", (json_int_t)ctl->seed, "micro",
			  (json_int_t)micro, "messages", (json_int_t)messages, "one_way", one_way,
			  "crossover", crossover_json(p, ctl->seed));
	if (ctl->svg && draw_efficiency(p, ctl->svg))
		status = CANNOT;
	if (cross_asked && !ctl->json && !ctl->csv)
		crossover_print(about);
	if (points_show(ctl, about, points, columns))
		return CANNOT;
	if (stuck)
		warn("%zu of %zu runs stopped making progress, because hardly a packet arrives "
		     "whole: exit status 1; 'ended' of --json and --csv names them", stuck, p->n);
	return status == OK && stuck ? PROBLEM : status;
}

/* --figure plays a figure, as --play does. */
static int play_figure_option(void)
{
	if (!figure_text)
		return OK;
	if (play_text)
		return fail("--play %s: --figure %s sets what is played: leave out one of the "
			    "options", play_text, figure_text);
	if (!play_figure(figure_text))
		return fail("--figure '%s': must be fig3 to fig8", figure_text);
	play_text = figure_text;
	return OK;
}

/* Refuses options that a chart cannot use or a figure fixes; sets the protocol to play. */
static int play_parse(void)
{
	const struct play *figure = play_text ? play_figure(play_text) : NULL;
	const struct play steps = {
		.script = play_text, .units = messages ? messages : PLAY_MESSAGES,
		.two_way = !one_way,
	};
	const struct { const char *option; bool asked; } never[] = {
		{ "ber", ber_list }, { "retries", retries_list }, { "crossover", cross_asked },
	}, fixed[] = {
		{ "protocol", protocol_list }, { "coalesce", coalesce_list },
		{ "messages", messages }, { "one-way", one_way },
	};

	if (!play_text)
		return OK;
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (never[i].asked)
			return fail("--%s: --play sets which packets are damaged: leave out one of "
				    "the options", never[i].option);
	for (size_t i = 0; figure && i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (fixed[i].asked)
			return fail("--%s: --play %s sets it: leave out this option",
				    fixed[i].option, play_text);
	if (!figure && play_check(&steps))
		return CANNOT;
	if (!figure && (!protocol_list || strchr(protocol_list, ',')))
		return fail("--play '%s': to play steps, name one protocol: "
			    "--protocol angara, acknak or hippi", play_text);
	if (messages > PLAY_MESSAGES_MAX)
		return fail("--messages %" PRIu64 ": --play draws %d at most", messages,
			    PLAY_MESSAGES_MAX);
	messages = messages ? messages : PLAY_MESSAGES;
	if (figure)
		protocol_list = protocols[figure->protocol - 1];
	if (!micro_text)
		micro = 0;
	return OK;
}

/*
 * Runs --play. A figure fixes protocol, packets and script; other parameters come from options, or
 * from defaults that make short charts.
 */
static int play_script(struct ctl *ctl, struct plan *p)
{
	const struct play *figure = play_figure(play_text);
	struct play asked = {
		.name = play_text, .script = play_text, .protocol = p->protocol[0] + 1,
		.coalesce = (unsigned int)p->coalesce.v[0], .units = messages, .two_way = !one_way,
		.in_sequence = in_sequence(),
	};
	struct point t;

	if (p->payload.n > 1 || p->delay.n > 1 || p->coalesce.n > 1)
		return fail("--play: must have one value of --payload, --delay and --coalesce");
	if (ctl->csv)
		return fail("--play: the output is text, or with --json JSON: leave out --csv");
	if (figure) {
		asked = *figure;
		if (answers_text)
			asked.in_sequence = in_sequence();
	}
	t = retry_point(asked.protocol - 1, p->payload.v[0], p->delay.v[0], 1, 0, 0, ctl->seed);
	if (!delay_list)
		t.plan.delay = (t.plan.payload + t.plan.overhead) / 2;
	if (asked.window && !window)
		t.plan.window = asked.window;
	return play_run(ctl, &asked, &t.plan);
}

static int cmd_retry(struct ctl *ctl, int argc, char **argv)
{
	struct plan p = { 0 };
	int status;

	(void)argc;
	(void)argv;
	if (points_check(ctl))
		return CANNOT;
	status = play_figure_option();
	if (status == OK)
		status = play_parse();
	if (status == OK)
		status = ranges_parse(&p);
	if (status == OK)
		status = check_plan(&p);
	if (status == OK && play_text)
		status = play_script(ctl, &p);
	else if (status == OK)
		status = make_retry(&p, ctl->seed);
	if (status == OK && !play_text)
		status = jobs_run(p.n, 0, "running", run_point, &p) ? CANNOT : show_retry(ctl, &p);
	free(p.point);
	free(p.ber.v);
	free(p.payload.v);
	free(p.delay.v);
	free(p.coalesce.v);
	free(p.retries.v);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "protocol", 0, "LIST", &protocol_list, 0, 0,
	  "protocols, of angara, acknak, hippi" },
	{ OPT_TEXT, "ber", 0, "RANGE", &ber_list, 0, 0,
	  "bit error rates; FROM:TO in decades, 1e-9:1e-3 by default" },
	{ OPT_TEXT, "payload", 0, "RANGE", &payload_list, 0, 0,
	  "bytes of a message, 4096 by default" },
	{ OPT_TEXT, "micro", 0, "BYTES", &micro_text, 0, 0,
	  "payload of hippi's micro-packets, 32 by default; 0: whole packets" },
	{ OPT_TEXT, "delay", 0, "RANGE", &delay_list, 0, 0,
	  "bytes that are on the line in one direction; by default as many as let 2 packets or 49 "
	  "micro-packets follow a damaged one" },
	{ OPT_TEXT, "coalesce", 0, "RANGE", &coalesce_list, 0, 0,
	  "acknak: packets for each ACK, 1 by default" },
	{ OPT_NUMBER, "window", 0, "N", &window, 1, 1024,
	  "packets in the RETRY buffer; by default as many as the sequence numbers allow" },
	{ OPT_NUMBER, "timeout", 0, "BYTES", &timeout, 1, 1000000000,
	  "the sender's timer, as the bytes that the line carries in that time" },
	{ OPT_TEXT, "retries", 0, "RANGE", &retries_list, 0, 0,
	  "instead of --ber: damage one message this many times, and count the bytes on the line" },
	{ OPT_NUMBER, "messages", 0, "N", &messages, 1, 100000000,
	  "messages in each direction, 20000 by default; --play: 6" },
	{ OPT_NUMBER, "overhead", 0, "BYTES", &overhead, 0, 65536,
	  "bytes of each packet besides its payload, instead of those of the protocol" },
	{ OPT_TEXT, "answers", 0, "WHICH", &answers_text, 0, 0,
	  "which answers count: always (all, as in the NIC), or in-sequence (as in the HIPPI "
	  "paper's fig. 6)" },
	{ OPT_FLAG, "crossover", 0, NULL, &cross_asked, 0, 0,
	  "measure at which error rate packets and micro-packets are equally efficient" },
	{ OPT_TEXT, "play", 0, "WHAT", &play_text, 0, 0,
	  "draw one run: fig3 to fig8 of the paper, or 'lose 2, damage 3, lose answer 0'" },
	{ OPT_TEXT, "figure", 0, "NAME", &figure_text, 0, 0,
	  "draw a figure of the paper, fig3 to fig8; the same as --play NAME" },
	{ OPT_FLAG, "one-way", 0, NULL, &one_way, 0, 0,
	  "the other direction carries answers only" },
	{ .kind = OPT_END },
};

COMMAND(cmd_retry) = {
	.name = "retry",
	.args = "",
	.brief = "Efficiency of three retransmission protocols of a link, by bit error rate",
	.help = "Efficiency is payload / bytes on the line. The protocols: Angara's, ACK/NAK (PCI\n"
		"Express) and micro-packets (HIPPI, BlueGene/L). ANALYTIC: the published formula;\n"
		"EXACT: go-back-N without its simplifications; MEASURED: the NIC's own code. Exit\n"
		"status 1 if a run stops making progress.",
	.opts = opts,
	.json = true,
	.simulates = true,
	.run = cmd_retry,
};
