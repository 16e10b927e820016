// SPDX-License-Identifier: GPL-2.0-only
/*
 * fabricsim availability: the share of time in which a torus works, over its number of nodes.
 * Formulas: avail_formula.h; random states judged by the routing engine: avail_sample.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "avail_formula.h"
#include "avail_option.h"
#include "avail_sample.h"
#include "jobs.h"
#include "plot.h"
#include "points.h"
#include "tools/fabricctl/json.h"
#include "tools/fabricctl/output.h"

#define HOURS_MAX 1e15
#define ALL_PAIRS_MAX 4096	/* most nodes with --no-relays, which examines the rows of all
				 * nodes */
#define DIMS_LISTED TORUS_MAX_DIMS

/* The kind of failures: part of the seed, and selects the curve. */
enum { LINKS, NODES_TOO, KINDS };

static const char *dims_text, *nodes_text, *shape_text, *figure_text;
static const char *mtbf_node_text, *mtbf_link_text, *mttr_text, *recovery_link_text;
static const char *recovery_node_text, *restart_text, *target_text;
static uint64_t seeds = 15, states = 1000, threads;
static bool monte_carlo, no_relays;

/** struct point - a torus, with its results by formulas and by random states */
struct point {
	struct torus_shape shape;
	struct avail a;
	struct sample_plan *plan[KINDS];
	struct sample_run *run[KINDS];
	struct sample_found found[KINDS];
};

struct plan {
	struct range dims, nodes;
	struct recovery link, node;
	double mtbf_node, mtbf_link, mttr, restart, target;
	struct point *point;
	size_t n;
	uint64_t seed;
};

/* --- formulas ------------------------------------------------------------------ */

static double down_of(const struct plan *p, bool node)
{
	return avail_down(node ? p->mtbf_node : p->mtbf_link, p->mttr);
}

static struct avail paper_formula(const struct plan *p, const struct torus_shape *shape,
				  double nodes)
{
	struct avail a = {
		.nodes = nodes, .mtbf_node = p->mtbf_node, .mtbf_link = p->mtbf_link,
		.mttr = p->mttr, .outage_link = recovery_at(&p->link, nodes) / 3600,
		.outage_node = (recovery_at(&p->node, nodes) + p->restart) / 3600,
	};

	for (unsigned int d = 0; d < shape->ndims; d++)
		a.links += shape->size[d] > 1 ? nodes : 0;
	a.cut_links = avail_cut(shape, nodes, 0, down_of(p, false));
	a.cut_nodes = avail_cut(shape, nodes, down_of(p, true), down_of(p, false));
	return a;
}

/* Return: the value of the curve of this index, 0 to 2. */
static double curve_value(const struct avail_k *k, int which)
{
	return which == 0 ? k->without : which == 1 ? k->with : k->masked;
}

/*
 * Return: the most nodes of a large torus with K above the target; 0 if no size has such a K, and
 * the most nodes of any torus if all sizes have it.
 */
static uint32_t nodes_at_target(const struct plan *p, unsigned int dims, int which)
{
	struct torus_shape large = { .ndims = (uint8_t)dims };
	uint32_t low = 0, high = TORUS_MAX_NODES + 1;

	for (unsigned int d = 0; d < dims; d++)
		large.size[d] = 3;
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;
		struct avail a = paper_formula(p, &large, mid);
		struct avail_k k = avail_series(&a);

		if (curve_value(&k, which) > p->target)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* --- the plan ---------------------------------------------------------------- */

static int add_availability(struct plan *p, const struct torus_shape *shape, double nodes)
{
	struct point *new = &p->point[p->n];
	char text[TORUS_TEXT_MAX];
	double faults;

	new->shape = *shape;
	new->a = paper_formula(p, shape, nodes);
	p->n++;
	if (!monte_carlo)
		return OK;
	torus_shape_text(shape, text);
	if (no_relays && nodes > ALL_PAIRS_MAX)
		return fail("--no-relays: %s has %g nodes, must be at most %d, because all their "
			    "rows are examined", text, nodes, ALL_PAIRS_MAX);
	faults = new->a.nodes * down_of(p, true) + new->a.links * down_of(p, false);
	if (faults > SAMPLE_MEAN_MAX)
		return fail("--monte-carlo: %s has %g faults at a time on average, must be at "
			    "most %g", text, faults, SAMPLE_MEAN_MAX);
	for (int kind = 0; kind < KINDS; kind++) {
		new->run[kind] = calloc(seeds, sizeof(*new->run[kind]));
		if (!new->run[kind])
			return fail("out of memory");
	}
	return OK;
}

static int sizes_add(struct plan *p, unsigned int dims)
{
	for (size_t i = 0; i < p->nodes.n; i++) {
		double nodes = p->nodes.v[i];
		struct torus_shape shape;

		if (nodes < 1u << dims)
			return fail("--nodes %g: a torus of %u dimensions has %u nodes at least",
				    nodes, dims, 1u << dims);
		if (!shape_near(dims, nodes, &shape)) {
			if (monte_carlo)
				nodes = torus_nodes(&shape);
		} else if (monte_carlo || dims > 1) {
			return fail("--nodes %g: a torus of %u dimension%s has %.0f nodes at most",
				    nodes, dims, dims > 1 ? "s" : "",
				    dims > 1 ? TORUS_MAX_NODES : (double)TORUS_MAX_SIZE);
		}
		if (add_availability(p, &shape, nodes))
			return CANNOT;
	}
	return OK;
}

static int make_availability(struct plan *p)
{
	struct torus_shape shape;

	if (!shape_text) {
		p->point = calloc(p->dims.n * p->nodes.n, sizeof(*p->point));
		for (size_t i = 0; p->point && i < p->dims.n; i++)
			if (sizes_add(p, (unsigned int)p->dims.v[i]))
				return CANNOT;
		return p->point ? OK : fail("out of memory");
	}
	if (dims_text || nodes_text)
		return fail(
			"--shape says how many nodes and dimensions: it does not go with --nodes, "
			"--dims");
	if (torus_shape_parse(shape_text, &shape) || torus_nodes(&shape) < 2)
		return fail("--shape '%s': must be like 16x16x16: 1 to 6 sizes of 1 to %d, 2 "
			    "nodes or more",
			    shape_text, TORUS_MAX_SIZE);
	p->point = calloc(1, sizeof(*p->point));
	return p->point ? add_availability(p, &shape, torus_nodes(&shape)) : fail("out of memory");
}

/*
 * Figure 8 of Simonov and Zhabin: the paper's text gives three times, and describes the two
 * curves. The values of the figure are in no text, so those of our formula are printed.
 */
#define FIGURE "simonov-8"
static const char *const figure_says[] = {
	"The paper's text gives MTBF 10^6 h of a node and 10^5 h of a link, MTTR 1 h, and no "
	"formula, no number of dimensions and no value: the formula and all values here are ours.",
	"Paper: without the method K is unacceptably low for a few dozen nodes. With these times "
	"it is above 0.998 for up to 64 nodes; the text and the times contradict each other.",
	"Paper: with the method K is above 0.99 even for large systems. Here it is up to 10100 "
	"nodes; beyond, faults of nodes decide, which the paper does not mask.",
};

static int figure_parse(void)
{
	static const struct { const char *option; const char **text; } fixed[] = {
		{ "dims", &dims_text }, { "nodes", &nodes_text }, { "shape", &shape_text },
		{ "mtbf-node", &mtbf_node_text }, { "mtbf-link", &mtbf_link_text },
		{ "mttr", &mttr_text }, { "recovery-link", &recovery_link_text },
		{ "recovery-node", &recovery_node_text }, { "restart", &restart_text },
		{ "target", &target_text },
	};

	if (!figure_text)
		return OK;
	if (strcmp(figure_text, FIGURE))
		return fail("--figure '%s': must be " FIGURE, figure_text);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (*fixed[i].text)
			return fail("--%s: --figure " FIGURE " sets the points: leave out one of "
				    "the options", fixed[i].option);
	if (monte_carlo)
		return fail("--monte-carlo: --figure " FIGURE " has curves of formulas only: leave "
			    "out one of the options");
	nodes_text = "8:1000000";
	return OK;
}

static json_t *figure_json(void)
{
	json_t *says = json_array();

	for (size_t i = 0; i < sizeof(figure_says) / sizeof(figure_says[0]); i++)
		json_array_append_new(says, json_string(figure_says[i]));
	return json_pack("{ss so}", "name", FIGURE, "says", says);
}

/* Return: the given value, or the default value of the paper if it is NULL. */
static const char *or_else(const char *asked, const char *usual)
{
	return asked ? asked : usual;
}

/*
 * Default time of a recovery: measured by fabricsim recovery on 4x4x4 to 32x32x32, for links and
 * nodes, rounded up.
 */
#define RECOVERY "0.003"

static int options_parse(struct plan *p)
{
	if (figure_parse())
		return CANNOT;
	if (range_parse("dims", dims_text ? dims_text : "3", 1, TORUS_MAX_DIMS, &p->dims) ||
	    nodes_option(nodes_text ? nodes_text : "64:1000000", 2, TORUS_MAX_NODES, &p->nodes) ||
	    real_option("mtbf-node", or_else(mtbf_node_text, "1e6"), 1e-3, HOURS_MAX,
			&p->mtbf_node) ||
	    real_option("mtbf-link", or_else(mtbf_link_text, "1e5"), 1e-3, HOURS_MAX,
			&p->mtbf_link) ||
	    real_option("mttr", or_else(mttr_text, "1"), 1e-6, 1e6, &p->mttr) ||
	    real_option("restart", or_else(restart_text, "0"), 0, 1e6, &p->restart) ||
	    real_option("target", or_else(target_text, "0.99"), 0, 1, &p->target) ||
	    recovery_option("recovery-link", or_else(recovery_link_text, RECOVERY), "cut",
			    &p->link) ||
	    recovery_option("recovery-node", or_else(recovery_node_text, RECOVERY), "kill",
			    &p->node))
		return CANNOT;
	for (size_t i = 0; i < p->dims.n; i++)
		if (p->dims.v[i] != floor(p->dims.v[i]))
			return fail("--dims %g: must be a whole number, 1 to %d", p->dims.v[i],
				    TORUS_MAX_DIMS);
	if (p->dims.n > DIMS_LISTED)
		return fail("--dims: %zu numbers, must have each of 1 to %d once at most",
			    p->dims.n, TORUS_MAX_DIMS);
	if (no_relays && !monte_carlo)
		return fail("--no-relays: goes only with --monte-carlo, which runs the routing "
			    "engine");
	return make_availability(p);
}

/* --- random states -------------------------------------------------------------- */

static int plan_job(void *arg, size_t i)
{
	struct plan *p = arg;
	struct point *t = &p->point[i / KINDS];
	struct sample_case c = {
		.shape = t->shape, .link_down = down_of(p, false), .relays = !no_relays,
		.node_down = i % KINDS == NODES_TOO ? down_of(p, true) : 0, .states = states,
	};

	return sample_plan_new(&c, &t->plan[i % KINDS]);
}

/* Draws states of a fabric. The largest fabrics take longest, so their jobs are begun first. */
static int draw_job(void *arg, size_t i)
{
	struct plan *p = arg;
	size_t at = p->n - 1 - i / (KINDS * seeds), kind = i / seeds % KINDS, run = i % seeds;
	uint64_t seed = jobs_seed(jobs_seed(jobs_seed(p->seed, at), kind), run);

	return sample_run(p->point[at].plan[kind], seed, &p->point[at].run[kind][run]);
}

static int draw_all(struct plan *p)
{
	int status = OK;

	if (jobs_run(KINDS * p->n, (unsigned int)threads, "fabrics", plan_job, p) ||
	    jobs_run(KINDS * p->n * seeds, (unsigned int)threads, "runs", draw_job, p))
		return fail("out of memory");
	for (size_t i = 0; i < KINDS * p->n; i++) {
		struct point *t = &p->point[i / KINDS];
		struct sample_found *f = &t->found[i % KINDS];
		char text[TORUS_TEXT_MAX];

		*f = sample_sum(t->plan[i % KINDS], t->run[i % KINDS], seeds);
		if (!f->impossible)
			continue;
		warn("%s: the routing engine did not serve %" PRIu64 " states whose faults are too "
		     "few to cut it (seed %" PRIu64 ")", torus_shape_text(&t->shape, text),
		     f->impossible, p->seed);
		status = PROBLEM;
	}
	return status;
}

/* --- output --------------------------------------------------------------------- */

/* Computes availability, and half its confidence interval, from the states that were drawn. */
static double drawn_k(const struct point *t, int kind, double *error)
{
	const struct sample_found *f = &t->found[kind];
	struct avail a = t->a;
	struct avail_k k;
	double v;

	a.cut_links = a.cut_nodes = f->cut;
	k = avail_series(&a);
	v = kind == LINKS ? k.with : k.masked;
	*error = f->cut < 1 ? v * v * f->error / ((1 - f->cut) * (1 - f->cut)) : 0;
	return v;
}

static void drawn_json(json_t *point, const struct point *t)
{
	static const char *const names[KINDS][5] = {
		{ "mc_with", "mc_with_ci95", "mc_cut_links", "mc_cut_links_ci95",
		  "mc_unseen_links" },
		{ "mc_with_nodes_masked", "mc_with_nodes_masked_ci95", "mc_cut_nodes",
		  "mc_cut_nodes_ci95", "mc_unseen_nodes" },
	};
	uint64_t drawn = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		const struct sample_found *f = &t->found[kind];
		double error, k = drawn_k(t, kind, &error);
		double v[5] = { k, error, f->cut, f->error, f->unseen };

		for (int i = 0; i < 5; i++)
			json_object_set_new(point, names[kind][i],
					    monte_carlo ? json_real(v[i]) : json_null());
		drawn += f->states;
	}
	json_object_set_new(point, "mc_states",
			    monte_carlo ? json_integer((json_int_t)drawn) : json_null());
}

static json_t *availability_json(const struct point *t)
{
	struct avail_k series = avail_series(&t->a), own = avail_independent(&t->a);
	char text[TORUS_TEXT_MAX];
	json_t *point = json_pack("{si sI sI so sf sf sf sf sf sf sf sf sf sf}",
		"dims", t->shape.ndims, "nodes", (json_int_t)t->a.nodes,
		"links", (json_int_t)t->a.links, "shape",
		monte_carlo || shape_text ? json_string(torus_shape_text(&t->shape, text)) :
		json_null(),
		"without", series.without, "with", series.with, "with_nodes_masked", series.masked,
		"without_independent", own.without, "with_independent", own.with,
		"with_nodes_masked_independent", own.masked,
		"cut_links", t->a.cut_links, "cut_nodes", t->a.cut_nodes,
		"outage_link_s", t->a.outage_link * 3600, "outage_node_s", t->a.outage_node * 3600);

	drawn_json(point, t);
	return point;
}

static json_t *limits_json(const struct plan *p)
{
	json_t *list = json_array();

	for (size_t i = 0; !shape_text && i < p->dims.n; i++) {
		unsigned int dims = (unsigned int)p->dims.v[i];

		json_array_append_new(list, json_pack("{si si si si}", "dims", dims,
			"without", nodes_at_target(p, dims, 0), "with", nodes_at_target(p, dims, 1),
			"with_nodes_masked", nodes_at_target(p, dims, 2)));
	}
	return list;
}

static void limits_print(const struct plan *p)
{
	static const char *const names[] = { "without", "with", "with nodes masked" };

	for (size_t i = 0; !shape_text && i < p->dims.n; i++) {
		unsigned int dims = (unsigned int)p->dims.v[i];

		printf("%u dimension%s: K is above %g", dims, dims > 1 ? "s" : "", p->target);
		for (int which = 0; which < 3; which++) {
			uint32_t most = nodes_at_target(p, dims, which);

			printf("%s %s ", which ? "," : "", names[which]);
			if (most == TORUS_MAX_NODES)
				printf("in a torus of any size");
			else
				printf("up to %u nodes", most);
		}
		putchar('\n');
	}
}

/* Draws the curves: lines are computed, marks are results of random states. */
static void curves_draw(struct plot *plot, const struct plan *p, size_t first, size_t n,
			bool down)
{
	static const char *const names[] = {
		"no fault tolerance", "links bypassed", "links and nodes bypassed"
	};
	char like[64], name[96];

	for (int which = 0; which < 3 + (monte_carlo ? KINDS : 0); which++) {
		snprintf(like, sizeof(like), "%uD, %s", p->point[first].shape.ndims,
			 names[which < 3 ? which : which - 2]);
		snprintf(name, sizeof(name), "%s%s", like, which < 3 ? "" : ", drawn");
		plot_curve(plot, name);
		plot_look(plot, like,
			  which >= 3 ? PLOT_MARKS : monte_carlo ? PLOT_LINE : PLOT_BOTH);
		for (size_t i = first; i < first + n; i++) {
			struct avail_k k = avail_series(&p->point[i].a);
			double error = 0, v = which < 3 ? curve_value(&k, which) :
					      drawn_k(&p->point[i], which - 3, &error);

			plot_point(plot, p->point[i].a.nodes, down ? 1 - v : v, error);
		}
	}
}

static int draw_availability(const struct plan *p, const char *file)
{
	struct plot *plot = plot_new("Availability of a torus");
	size_t each = shape_text ? 1 : p->nodes.n;

	for (int down = 0; down < 2; down++) {
		plot_panel(plot, down ? "Unavailability" : "Availability", "nodes",
			   down ? "1 - K, share of the time" : "K, share of the time");
		plot_log(plot, true, down);
		for (size_t i = 0; i < p->n; i += each)
			curves_draw(plot, p, i, each, down);
	}
	return plot_write(plot, file);
}

static int show_availability(const struct ctl *ctl, const struct plan *p)
{
	static const char *const columns[] = { "dims", "nodes", "without", "with",
		"with_nodes_masked", "without_independent", "with_independent", "cut_links",
		"cut_nodes", NULL };
	static const char *const of_figure[] = { "dims", "nodes", "without", "with", NULL };
	static const char *const drawn[] = { "shape", "nodes", "without", "with", "mc_with",
		"mc_with_ci95", "with_nodes_masked", "mc_with_nodes_masked",
		"cut_nodes", "mc_cut_nodes", "mc_cut_nodes_ci95", "mc_unseen_nodes", NULL };
	json_t *points, *about;

	if (ctl->svg && draw_availability(p, ctl->svg))
		return CANNOT;
	points = json_array();
	for (size_t i = 0; i < p->n; i++)
		json_array_append_new(points, availability_json(&p->point[i]));
	about = json_pack("{sI sf sf sf sf sf sb sb sI sI so}", "seed", (json_int_t)p->seed,
			  "mtbf_node_h", p->mtbf_node, "mtbf_link_h", p->mtbf_link,
			  "mttr_h", p->mttr, "restart_s", p->restart, "target", p->target,
			  "monte_carlo", monte_carlo,
			  "relays", !no_relays, "seeds", (json_int_t)seeds, "states",
			  (json_int_t)states, "limits", limits_json(p));
	json_object_set_new(about, "figure", figure_text ? figure_json() : json_null());
	if (points_show(ctl, about, points,
			monte_carlo ? drawn : figure_text ? of_figure : columns))
		return CANNOT;
	if (!ctl->json && !ctl->csv)
		limits_print(p);
	for (size_t i = 0; figure_text && !ctl->json && !ctl->csv &&
	     i < sizeof(figure_says) / sizeof(figure_says[0]); i++)
		printf("%s\n", figure_says[i]);
	return OK;
}

static void plan_free(struct plan *p)
{
	for (size_t i = 0; p->point && i < KINDS * p->n; i++) {
		free(p->point[i / KINDS].plan[i % KINDS]);
		free(p->point[i / KINDS].run[i % KINDS]);
	}
	free(p->point);
	free(p->dims.v);
	free(p->nodes.v);
	free(p->link.nodes.v);
	free(p->link.seconds.v);
	free(p->node.nodes.v);
	free(p->node.seconds.v);
}

static int cmd_availability(struct ctl *ctl, int argc, char **argv)
{
	struct plan p = { .seed = ctl->seed };
	int status, shown;

	(void)argc;
	(void)argv;
	if (points_check(ctl))
		return CANNOT;
	status = options_parse(&p);
	if (status == OK && monte_carlo)
		status = draw_all(&p);
	if (status != CANNOT) {
		shown = show_availability(ctl, &p);
		status = shown == OK ? status : shown;
	}
	plan_free(&p);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "figure", 0, "NAME", &figure_text, 0, 0,
	  "the two curves of a paper's figure, and how they fit its text: " FIGURE },
	{ OPT_TEXT, "dims", 0, "LIST", &dims_text, 0, 0, "dimensions, 1 to 6 (3)" },
	{ OPT_TEXT, "nodes", 0, "RANGE", &nodes_text, 0, 0,
	  "numbers of nodes; FROM:TO doubles (64:1000000)" },
	{ OPT_TEXT, "shape", 0, "SHAPE", &shape_text, 0, 0,
	  "one torus, instead of --dims and --nodes" },
	{ OPT_TEXT, "mtbf-node", 0, "HOURS", &mtbf_node_text, 0, 0,
	  "mean time between failures of a node (1e6)" },
	{ OPT_TEXT, "mtbf-link", 0, "HOURS", &mtbf_link_text, 0, 0,
	  "mean time between failures of a link (1e5)" },
	{ OPT_TEXT, "mttr", 0, "HOURS", &mttr_text, 0, 0,
	  "mean time to repair a node or a link (1)" },
	{ OPT_TEXT, "recovery-link", 0, "SECONDS|FILE", &recovery_link_text, 0, 0,
	  "outage while the fabric goes around a link (0.003); a file has lines NODES "
	  "SECONDS, or is what fabricsim recovery --json printed" },
	{ OPT_TEXT, "recovery-node", 0, "SECONDS|FILE", &recovery_node_text, 0, 0,
	  "outage while the fabric goes around a node (0.003)" },
	{ OPT_TEXT, "restart", 0, "SECONDS", &restart_text, 0, 0,
	  "further outage after a node failed: jobs go on from a checkpoint (0)" },
	{ OPT_TEXT, "target", 0, "K", &target_text, 0, 0,
	  "print the largest number of nodes with K above this (0.99)" },
	{ OPT_FLAG, "monte-carlo", 0, NULL, &monte_carlo, 0, 0,
	  "draw random faults; the routing engine says which nodes they cut off" },
	{ OPT_NUMBER, "seeds", 0, "N", &seeds, 1, 10000, "runs of each point, 15 by default" },
	{ OPT_NUMBER, "states", 0, "N", &states, 1, 10000000,
	  "sets of faults drawn in each run, 1000 by default" },
	{ OPT_FLAG, "no-relays", 0, NULL, &no_relays, 0, 0,
	  "count a pair as cut off if no packet header describes a path, though relays "
	  "could" },
	{ OPT_NUMBER, "threads", 0, "N", &threads, 1, 256, "how many at once (all cores)" },
	{ .kind = OPT_END }
};

COMMAND(cmd_availability) = {
	.name = "availability",
	.args = "",
	.brief = "Share of time in which a torus works, with and without fault tolerance",
	.help = "Availability K by the number of nodes. \"without\" fault tolerance any fault\n"
		"stops the system until it is repaired; \"with\" it faults of links are\n"
		"bypassed and cost the time of the recovery; \"with_nodes_masked\" faults of\n"
		"nodes as well. If faults separate live nodes, the system is down. K is that\n"
		"of a series system in which nothing fails while it is down (0.887 and 0.996\n"
		"at 4096 nodes in 3 dimensions); *_independent: all parts fail and are\n"
		"repaired independently (0.881). The publication does not say which of both\n"
		"it means. --monte-carlo draws random sets of faults, rare ones as well, and\n"
		"asks the routing engine whether all live nodes can reach each other. The\n"
		"torus of each number of nodes is as near to a cube as possible.",
	.opts = opts,
	.json = true,
	.simulates = true,
	.run = cmd_availability,
};
