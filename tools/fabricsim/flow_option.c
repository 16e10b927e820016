// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "flow_option.h"
#include "flow_trace.h"
#include "range.h"
#include "tools/fabricctl/output.h"

#define LIST_MAX 16
#define UNSET UINT64_MAX
#define CYCLES_MAX 1000000000

static struct {
	const char *shape, *preset, *policy, *pattern, *load, *trace, *bubbles, *queue;
	const char *test, *freed, *arbiter, *sink, *tie, *place, *figure;
	uint64_t seeds, warmup, cycles, packet, hop, credit_delay, timer, response, source_queue;
	uint64_t threads;
} asked = {
	.shape = "8x8", .preset = "mbs2012",
	.warmup = UNSET, .cycles = UNSET, .packet = UNSET, .hop = UNSET,
	.credit_delay = UNSET, .timer = UNSET, .response = UNSET, .source_queue = UNSET,
};

const struct opt flow_opts[] = {
	{ OPT_TEXT, "shape", 0, "SHAPE", &asked.shape, 0, 0, "sizes of the torus, 8x8 by default" },
	{ OPT_TEXT, "figure", 0, "NAME", &asked.figure, 0, 0,
	  "the curves of a paper's figure, and what each carries at most: wang2012-3" },
	{ OPT_TEXT, "policy", 0, "LIST", &asked.policy, 0, 0,
	  "of bloc, cbs, mbs, dateline, adaptive, none; the first three by default" },
	{ OPT_TEXT, "bubbles", 0, "RANGE", &asked.bubbles, 0, 0,
	  "cbs, mbs: critical bubbles in each ring; the default depends on the ring, see above" },
	{ OPT_TEXT, "queue", 0, "RANGE", &asked.queue, 0, 0,
	  "packet buffers of an input and virtual channel, 2 by default" },
	{ OPT_TEXT, "pattern", 0, "LIST", &asked.pattern, 0, 0,
	  "of uniform, distribute, transpose, hotregion, bit-complement, tornado, neighbour" },
	{ OPT_TEXT, "trace", 0, "FILE", &asked.trace, 0, 0,
	  "instead of --pattern and --load: a file with lines TIME SRC DST" },
	{ OPT_TEXT, "load", 0, "RANGE", &asked.load, 0, 0,
	  "phits that each node sends in a cycle, 0 to 1; 0.1:1.0:0.1 by default" },
	{ OPT_NUMBER, "seeds", 0, "N", &asked.seeds, 1, 1000,
	  "runs of each point, 5 by default; --figure: 15" },
	{ OPT_NUMBER, "warmup", 0, "N", &asked.warmup, 0, CYCLES_MAX, "cycles not measured" },
	{ OPT_NUMBER, "cycles", 0, "N", &asked.cycles, 1, CYCLES_MAX, "cycles measured" },
	{ OPT_TEXT, "preset", 0, "NAME", &asked.preset, 0, 0,
	  "values of all that follow: mbs2012, the default" },
	{ OPT_NUMBER, "packet", 0, "N", &asked.packet, 1, 65536, "phits of a packet" },
	{ OPT_NUMBER, "hop", 0, "N", &asked.hop, 1, 65536, "cycles from router to router" },
	{ OPT_NUMBER, "source-queue", 0, "N", &asked.source_queue, 1, 4096,
	  "packets that may wait at a node; when it is full, no packet is made" },
	{ OPT_NUMBER, "credit-delay", 0, "N", &asked.credit_delay, 0, 65536,
	  "cycles until a freed buffer is known upstream" },
	{ OPT_TEXT, "bubble-test", 0, "WHERE", &asked.test, 0, 0,
	  "input at which bloc needs 2 free buffers: downstream, local, either" },
	{ OPT_TEXT, "slot-free", 0, "WHEN", &asked.freed, 0, 0,
	  "a buffer is free when its packet's tail has left, or its head: tail, head" },
	{ OPT_TEXT, "consumption", 0, "HOW", &asked.sink, 0, 0,
	  "a node takes one packet at a time, or one from each input: single, multiple" },
	{ OPT_TEXT, "arbitration", 0, "HOW", &asked.arbiter, 0, 0,
	  "round-robin, random, oldest, transit (packets that are in the ring go first)" },
	{ OPT_NUMBER, "timer", 0, "N", &asked.timer, 1, 65536,
	  "mbs: cycles for which only critical bubbles are free before "
	  "a false packet is requested" },
	{ OPT_NUMBER, "response", 0, "N", &asked.response, 1, 65536,
	  "mbs: phits of a false packet" },
	{ OPT_TEXT, "placement", 0, "HOW", &asked.place, 0, 0,
	  "of critical bubbles at the beginning: random, even" },
	{ OPT_TEXT, "tie", 0, "HOW", &asked.tie, 0, 0,
	  "direction to a node halfway around a ring: random, plus" },
	{ OPT_NUMBER, "threads", 0, "N", &asked.threads, 1, 256, "as many as cores by default" },
	{ .kind = OPT_END },
};

/*
 * Parameters that Wang and Zhang do not give are set such that results come nearest to their figure
 * 3 and to the INSEE simulator that they used: one phit for each cycle and router, no delay of
 * credits, a buffer counts as free when it is empty, and nodes consume all packets that arrive.
 */
static const char *const presets[] = { "mbs2012", NULL };

static const struct flow_params preset_params[] = {
	{
		.queue = 2, .source_queue = 8, .packet = 16, .hop = 1, .credit_delay = 0,
		.timer = 16, .response = 1, .test = FLOW_DOWNSTREAM, .freed = FLOW_TAIL,
		.arbiter = FLOW_ROUND_ROBIN, .sink = FLOW_MULTIPLE, .tie = FLOW_TIE_RANDOM,
		.place = FLOW_PLACE_RANDOM, .warmup = 25000, .cycles = 20000,
	},
};

/**
 * struct figure - the curves of a paper's figure
 * @test: the default of --bubble-test
 * @seeds: the default of --seeds
 */
struct figure {
	const char *patterns;
	unsigned int seeds;
	enum flow_test test;
	struct { const char *policy; unsigned int queue, bubbles; } curve[8];
};

static const char *const figures[] = { "wang2012-3", NULL };

/*
 * Wang and Zhang, figure 3: MBS1 and MBS2 with one and two packet buffers an input, BLOC and CBS2
 * with two. The paper does not give the number of critical bubbles of a ring: 2 for MBS; for CBS 1,
 * 2, 4.
 */
static const struct figure figure_of[] = {
	{
		.patterns = "uniform,distribute,transpose,hotregion",
		.seeds = 15,
		.test = FLOW_LOCAL,
		.curve = {
			{ "bloc", 2, 0 }, { "mbs", 1, 2 }, { "mbs", 2, 2 },
			{ "cbs", 2, 1 }, { "cbs", 2, 2 }, { "cbs", 2, 4 },
		},
	},
};

/* --- options to values ----------------------------------------------------- */

static void set_if_given(uint64_t value, unsigned int *to)
{
	if (value != UNSET)
		*to = (unsigned int)value;
}

/* Parses an option's word, unless the option was not given. Return: OK or CANNOT. */
static int parse_word(const char *option, const char *text, const char *const *words, int *to)
{
	int i;

	if (!text)
		return OK;
	i = word_option(option, text, strlen(text), words);
	if (i < 0)
		return CANNOT;
	*to = i;
	return OK;
}

/* Reads words with commas between. Return: number of words, or 0 after it has printed the error. */
static int word_list(const char *option, const char *text, const char *const *words, int *to)
{
	int n = 0;

	for (;;) {
		size_t len = strcspn(text, ",");

		if (n == LIST_MAX) {
			fail("--%s: must have at most %d words", option, LIST_MAX);
			return 0;
		}
		to[n] = word_option(option, text, len, words);
		if (to[n++] < 0)
			return 0;
		if (!text[len])
			return n;
		text += len + 1;
	}
}

static int policy_list(const char *text, int *to)
{
	const char *name[LIST_MAX + 1] = { NULL };

	for (int i = 0; flow_policies[i] && i < LIST_MAX; i++)
		name[i] = flow_policy_name(flow_policies[i]);
	return word_list("policy", text, name, to);
}

static int take_words(struct flow_params *p)
{
	int test = (int)p->test, freed = (int)p->freed, arbiter = (int)p->arbiter;
	int sink = (int)p->sink, tie = (int)p->tie, place = (int)p->place;

	if (parse_word("bubble-test", asked.test, flow_tests, &test) ||
	    parse_word("slot-free", asked.freed, flow_freeds, &freed) ||
	    parse_word("arbitration", asked.arbiter, flow_arbiters, &arbiter) ||
	    parse_word("consumption", asked.sink, flow_sinks, &sink) ||
	    parse_word("tie", asked.tie, flow_ties, &tie) ||
	    parse_word("placement", asked.place, flow_places, &place))
		return CANNOT;
	p->test = (enum flow_test)test;
	p->freed = (enum flow_freed)freed;
	p->arbiter = (enum flow_arbiter)arbiter;
	p->sink = (enum flow_sink)sink;
	p->tie = (enum flow_tie)tie;
	p->place = (enum flow_place)place;
	return OK;
}

static const struct figure *figure_now(void)
{
	return &figure_of[word_option("figure", asked.figure, strlen(asked.figure), figures)];
}

/* Sets the curves of the figure. */
static int take_figure(struct flow_plan *plan)
{
	static const struct { const char *option; const char **text;
	} fixed[] = {
		{ "policy", &asked.policy },
		{ "bubbles", &asked.bubbles },
		{ "queue", &asked.queue },
		{ "trace", &asked.trace },
	};

	if (!asked.figure)
		return OK;
	if (word_option("figure", asked.figure, strlen(asked.figure), figures) < 0)
		return CANNOT;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (*fixed[i].text)
			return fail("--%s: --figure %s sets the curves: leave out one of the "
				    "options", fixed[i].option, asked.figure);
	plan->figure = asked.figure;
	return OK;
}

static int take_base(struct flow_plan *plan)
{
	struct flow_params *p = &plan->base;
	int preset = word_option("preset", asked.preset, strlen(asked.preset), presets);
	int err;

	if (preset < 0)
		return CANNOT;
	plan->preset = presets[preset];
	*p = preset_params[preset];
	if (plan->figure)
		p->test = figure_now()->test;
	err = torus_shape_parse(asked.shape, &p->shape);
	if (err || !torus_nodes(&p->shape))
		return fail("--shape: '%s' is not a shape: must be 1 to %d sizes with x between, "
			    "each up to %d, at most %d nodes, as 8x8 or 4x4x4",
			    asked.shape, TORUS_MAX_DIMS, TORUS_MAX_SIZE, TORUS_MAX_NODES);
	set_if_given(asked.warmup, &p->warmup);
	set_if_given(asked.cycles, &p->cycles);
	set_if_given(asked.packet, &p->packet);
	set_if_given(asked.hop, &p->hop);
	set_if_given(asked.credit_delay, &p->credit_delay);
	set_if_given(asked.timer, &p->timer);
	set_if_given(asked.response, &p->response);
	set_if_given(asked.source_queue, &p->source_queue);
	plan->seeds = asked.seeds  ? (unsigned int)asked.seeds :
		      plan->figure ? figure_now()->seeds :
				     5;
	plan->threads = (unsigned int)asked.threads;
	return take_words(p);
}

/* --- the points ------------------------------------------------------------ */

struct axes {
	int policy[LIST_MAX], pattern[LIST_MAX];
	int policies, patterns;
	struct range bubbles, queue, load;
};

static int whole_range(const char *option, const char *text, double min, double max,
		       struct range *r)
{
	if (range_parse(option, text, min, max, r))
		return CANNOT;
	for (size_t i = 0; i < r->n; i++) {
		if (r->v[i] == (double)(uint64_t)r->v[i])
			continue;
		fail("--%s: %g is not a whole number of %g to %g", option, r->v[i], min, max);
		free(r->v);
		r->v = NULL;
		return CANNOT;
	}
	return OK;
}

/* Refuses --bubbles if no policy would use it. */
static int bubbles_unused(const struct axes *a)
{
	for (int i = 0; i < a->policies; i++)
		if (flow_policy_has_bubbles(flow_policies[a->policy[i]]))
			return OK;
	return fail("--bubbles %s: only cbs and mbs have critical bubbles, not --policy %s: leave "
		    "out one of the options", asked.bubbles, asked.policy);
}

static int take_axes(struct axes *a, const char *queue)
{
	*a = (struct axes) { .policies = 0 };
	if (asked.trace && asked.load)
		return fail("--load: --trace sets when packets are sent: leave out one of them");
	a->policies = policy_list(asked.policy ? asked.policy : "bloc,cbs,mbs", a->policy);
	a->patterns = word_list("pattern", asked.pattern ? asked.pattern :
				asked.figure ? figure_now()->patterns : "uniform", flow_patterns,
				a->pattern);
	if (!a->policies || !a->patterns || (asked.bubbles && bubbles_unused(a)))
		return CANNOT;
	for (int i = 0; i < a->patterns && !asked.trace; i++)
		if (a->pattern[i] == FLOW_TRACE)
			return fail("--pattern trace: name the file with --trace FILE");
	if (asked.trace) {
		a->patterns = 1;
		a->pattern[0] = FLOW_TRACE;
	}
	if (!strcmp(queue, "0"))
		return fail("--queue 0: smaller than a packet, must be 1 to 4096");
	if (whole_range("bubbles", asked.bubbles ? asked.bubbles : "0", asked.bubbles ? 1 : 0,
			1 << 24, &a->bubbles) ||
	    whole_range("queue", queue, 1, 4096, &a->queue) ||
	    range_parse("load", asked.load ? asked.load : asked.trace ? "0" : "0.1:1.0:0.1", 0, 1,
			&a->load))
		return CANNOT;
	return OK;
}

static void free_axes(struct axes *a)
{
	free(a->bubbles.v);
	free(a->queue.v);
	free(a->load.v);
}

static int add_point(struct flow_plan *plan, struct flow_params p)
{
	struct flow_point *more = realloc(plan->point, (plan->n + 1) * sizeof(*more));
	char why[256];

	if (!more)
		return fail("out of memory");
	plan->point = more;
	p.trace = asked.trace ? &plan->trace : NULL;
	if (flow_check_params(&p, why))
		return fail("%s", why);
	more[plan->n++] = (struct flow_point) { .params = p };
	return OK;
}

/*
 * Makes points for all combinations, with loads in the innermost loop, so that consecutive points
 * are a curve.
 */
static int cross_axes(struct flow_plan *plan, const struct axes *a)
{
	struct flow_params p = plan->base;

	for (int pattern = 0; pattern < a->patterns; pattern++)
		for (int policy = 0; policy < a->policies; policy++)
			for (size_t q = 0; q < a->queue.n; q++)
				for (size_t b = 0; b < a->bubbles.n; b++) {
					p.pattern = (enum flow_pattern)a->pattern[pattern];
					p.policy = flow_policies[a->policy[policy]];
					p.queue = (unsigned int)a->queue.v[q];
					p.bubbles = (unsigned int)a->bubbles.v[b];
					if (b && !flow_policy_has_bubbles(p.policy))
						continue;
					for (size_t l = 0; l < a->load.n; l++) {
						p.load = a->load.v[l];
						if (add_point(plan, p))
							return CANNOT;
					}
				}
	return OK;
}

/* Makes the points of a figure's curves, for each given pattern and load. */
static int draw_figure(struct flow_plan *plan, const struct axes *a)
{
	const struct figure *f = figure_now();
	struct flow_params p = plan->base;

	for (int pattern = 0; pattern < a->patterns; pattern++)
		for (int c = 0; f->curve[c].policy; c++) {
			int policy[LIST_MAX];

			policy_list(f->curve[c].policy, policy);
			p.pattern = (enum flow_pattern)a->pattern[pattern];
			p.policy = flow_policies[policy[0]];
			p.queue = f->curve[c].queue;
			p.bubbles = f->curve[c].bubbles;
			for (size_t l = 0; l < a->load.n; l++) {
				p.load = a->load.v[l];
				if (add_point(plan, p))
					return CANNOT;
			}
		}
	return OK;
}

int flow_plan_make(struct flow_plan *plan)
{
	struct axes a = { .policies = 0 };
	int status;

	*plan = (struct flow_plan) { .n = 0 };
	status = take_figure(plan);
	if (status == OK)
		status = take_base(plan);
	if (status == OK)
		status = take_axes(&a, asked.queue ? asked.queue : "2");
	if (status == OK && asked.trace)
		status = flow_trace_read(asked.trace, &plan->base.shape, &plan->trace);
	if (status == OK)
		status = plan->figure ? draw_figure(plan, &a) : cross_axes(plan, &a);
	free_axes(&a);
	return status;
}

void flow_plan_free(struct flow_plan *plan)
{
	free(plan->point);
	free(plan->trace.entry);
}
