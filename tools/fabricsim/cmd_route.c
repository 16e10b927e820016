// SPDX-License-Identifier: GPL-2.0-only
/*
 * fabricsim route: the routing engine on random faulty fabrics: which pairs of nodes it connects,
 * whether its rows can deadlock, and its processor time. No packets are simulated: torus_verify()
 * proves the rows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <torus/topology.h>
#include "jobs.h"
#include "plot.h"
#include "points.h"
#include "range.h"
#include "route_fabric.h"
#include "tools/fabricctl/output.h"

/*
 * Limit, because all rows of a fabric are in memory: 8 bytes for each pair of nodes, on each core.
 */
#define NODES_MAX 8192
#define POINTS_MAX 256
#define ALL_FABRICS UINT64_MAX

static const char *shape_text, *dead_text, *cut_text, *engine_text;
static uint64_t fabrics = 100, threads, only = ALL_FABRICS;

/** struct point - fabrics with the same number of faults, and their results */
struct point {
	struct route_case c;
	struct route_result *result;
};

/** struct plan - all points; job i is fabric i % @each of point i / @each */
struct plan {
	struct torus_shape shape;
	uint64_t seed;
	uint64_t first;
	size_t each;
	struct point point[POINTS_MAX];
	size_t n;
	uint64_t healthy_load;
};

/** struct sum - sums of struct route_result over some fabrics */
struct sum {
	uint64_t fabrics, connected, routed, pairs, apart, unroutable, relayed, adaptive, wrong,
		unsafe;
	uint64_t cycles, unequal, hops_max, legs_max, load_max;
	uint64_t timed, tables, tables_ns, increment_ns, hops;
};

static void sum_add(struct sum *s, const struct route_result *r)
{
	const struct torus_verified *v = &r->sound;

	s->fabrics++;
	s->connected += r->connected;
	s->routed += r->connected && !v->unroutable;
	s->pairs += v->pairs;
	s->apart += v->apart;
	s->unroutable += v->unroutable;
	s->relayed += v->relayed;
	s->adaptive += v->adaptive;
	s->wrong += v->wrong;
	s->unsafe += r->unsafe;
	s->cycles += v->cycles;
	s->unequal += r->unequal;
	s->hops += v->hops;
	s->hops_max = v->hops_max > s->hops_max ? v->hops_max : s->hops_max;
	s->legs_max = v->legs_max > s->legs_max ? v->legs_max : s->legs_max;
	s->load_max = v->load_max > s->load_max ? v->load_max : s->load_max;
	s->timed += r->tables > 0;
	s->tables += r->tables;
	s->tables_ns += r->tables_ns;
	s->increment_ns += r->increment_ns;
}

static json_t *sum_json(const struct plan *p, const struct sum *s)
{
	double n = (double)(s->timed ? s->timed : 1);
	double tables = (double)(s->tables ? s->tables : 1);
	uint64_t served = s->pairs - s->unroutable;

	return json_pack("{sI sI sI sI sI sI sI sI sb sI sf sI sI sI sf sI sf sf sf}",
			 "fabrics", (json_int_t)s->fabrics, "connected", (json_int_t)s->connected,
			 "routed", (json_int_t)s->routed, "pairs", (json_int_t)s->pairs,
			 "apart_pairs", (json_int_t)s->apart,
			 "unroutable_pairs", (json_int_t)s->unroutable,
			 "relayed_pairs", (json_int_t)s->relayed,
			 "adaptive_pairs", (json_int_t)s->adaptive,
			 "deadlock_free", !s->unsafe && !s->cycles,
			 "wrong_rows", (json_int_t)s->wrong,
			 "mean_hops", served ? (double)s->hops / (double)served : 0.0,
			 "max_hops", (json_int_t)s->hops_max, "max_legs", (json_int_t)s->legs_max,
			 "max_link_load", (json_int_t)s->load_max,
			 "link_load_ratio",
			 p->healthy_load ? (double)s->load_max / (double)p->healthy_load : 1.0,
			 "unequal_rows", (json_int_t)s->unequal,
			 "table_us_one", (double)s->tables_ns / tables / 1e3,
			 "tables_ms_all", (double)s->tables_ns / n / 1e6,
			 "increment_ms_all", (double)s->increment_ns / n / 1e6);
}

/* --- options --------------------------------------------------------------- */

static int make_route_shape(struct plan *p)
{
	uint32_t nodes;

	if (torus_shape_parse(shape_text ? shape_text : "4x4x4", &p->shape))
		return fail("--shape '%s': must be like 4x4x4: 1 to 6 sizes of 1 to %d, %d "
			    "nodes at most",
			    shape_text, TORUS_MAX_SIZE, NODES_MAX);
	nodes = torus_nodes(&p->shape);
	if (nodes > NODES_MAX)
		return fail("--shape '%s': %u nodes, must have at most %d: all rows are in memory",
			    shape_text, nodes, NODES_MAX);
	return OK;
}

static int add_route(struct plan *p, enum route_engine engine, double dead, double cut)
{
	struct point *new = &p->point[p->n];
	uint32_t nodes = torus_nodes(&p->shape), links = route_links(&p->shape);
	uint32_t lost;

	if (p->n == POINTS_MAX)
		return fail("--engine, --dead-nodes and --cut-links have more than the %d "
			    "combinations that are allowed", POINTS_MAX);
	new->c = (struct route_case){
		.shape = p->shape, .dead_nodes = (unsigned int)dead,
		.cut_links = (unsigned int)cut, .engine = engine,
	};
	if (new->c.dead_nodes != dead || new->c.cut_links != cut)
		return fail("--dead-nodes %g, --cut-links %g: must be whole numbers", dead,
			    cut);
	if (new->c.dead_nodes >= nodes)
		return fail("--dead-nodes %u: must be 0 to %u, one of %u has to live",
			    new->c.dead_nodes, nodes - 1, nodes);
	lost = 2u * p->shape.ndims * new->c.dead_nodes;
	links = links > lost ? links - lost : 0;
	if (new->c.cut_links > links)
		return fail("--cut-links %u: must be 0 to %u with %u dead nodes", new->c.cut_links,
			    links, new->c.dead_nodes);
	new->result = calloc(p->each, sizeof(*new->result));
	if (!new->result)
		return fail("out of memory");
	p->n++;
	return OK;
}

/* Adds all combinations of faults for one engine; all engines work on the same fabrics. */
static int points_add(struct plan *p, enum route_engine engine)
{
	struct range dead = { .n = 0 }, cut = { .n = 0 };
	int status = range_parse("dead-nodes", dead_text ? dead_text : "0", 0, NODES_MAX, &dead);

	if (status == OK)
		status = range_parse("cut-links", cut_text ? cut_text : "0", 0,
				     NODES_MAX * TORUS_MAX_DIMS, &cut);
	for (size_t i = 0; status == OK && i < dead.n; i++)
		for (size_t j = 0; status == OK && j < cut.n; j++)
			status = add_route(p, engine, dead.v[i], cut.v[j]);
	free(dead.v);
	free(cut.v);
	return status;
}

static int make_routes(struct plan *p)
{
	const char *at = engine_text ? engine_text : route_engines[ROUTE_RELAYS];
	int status = OK;

	while (status == OK) {
		size_t len = strcspn(at, ",");
		int engine = word_option("engine", at, len, route_engines);

		if (engine < 0)
			return CANNOT;
		status = points_add(p, (enum route_engine)engine);
		if (!at[len])
			break;
		at += len + 1;
	}
	return status;
}

static int make_route_plan(struct plan *p, const struct ctl *ctl)
{
	p->seed = ctl->seed;
	p->first = only == ALL_FABRICS ? 0 : only;
	p->each = only == ALL_FABRICS ? fabrics : 1;
	if (make_route_shape(p))
		return CANNOT;
	return make_routes(p);
}

/* --- the run --------------------------------------------------------------- */

/* Return: true if the last engine does not serve all pairs, or any engine makes a wrong row. */
static bool is_problem(enum route_engine engine, uint64_t unroutable, uint64_t unsafe,
		       uint64_t cycles, uint64_t unequal)
{
	return (engine == ROUTE_RELAYS && unroutable) || unsafe || cycles || unequal;
}

static int route_one(void *arg, size_t i)
{
	struct plan *p = arg;
	struct point *point = &p->point[i / p->each];
	struct route_result *r = &point->result[i % p->each];
	/* The seed of a fabric depends only on the number of the fabric, not on other options. */
	uint64_t seed = jobs_seed(p->seed, p->first + i % p->each);
	char shape[TORUS_TEXT_MAX];

	if (route_fabric(&point->c, seed, r))
		return -ENOMEM;
	if (is_problem(point->c.engine, r->sound.unroutable, r->unsafe, r->sound.cycles,
		       r->unequal))
		warn("%llu wrong rows, %llu unroutable pairs, %llu rows that differ after an "
		     "update: fabricsim route --shape %s --dead-nodes %u --cut-links %u "
		     "--engine %s --seed %llu --only %llu",
		     (unsigned long long)r->sound.wrong, (unsigned long long)r->sound.unroutable,
		     (unsigned long long)r->unequal, torus_shape_text(&p->shape, shape),
		     point->c.dead_nodes, point->c.cut_links, route_engines[point->c.engine],
		     (unsigned long long)p->seed, (unsigned long long)(p->first + i % p->each));
	return 0;
}

/* --- the plot ---------------------------------------------------------------- */

static double number_in(const json_t *point, const char *key)
{
	return json_number_value(json_object_get(point, key));
}

/* Return: a value to be drawn. @what: 0: pairs without a path, 1: load, 2: time */
static double route_value(const json_t *point, unsigned int what)
{
	double pairs = number_in(point, "pairs");

	switch (what) {
	case 0:
		return pairs > 0 ? 100 * number_in(point, "unroutable_pairs") / pairs : 0;
	case 1:
		return number_in(point, "link_load_ratio");
	default:
		return number_in(point, "tables_ms_all");
	}
}

/*
 * Draws a curve for each engine, and for each number of the faults that are not on the x axis:
 * these are the dead nodes, unless only the numbers of cut links differ.
 */
static void draw_route_curves(struct plot *plot, const struct plan *p, const json_t *points,
			      bool by_cuts, unsigned int what)
{
	char name[64];

	for (size_t i = 0; i < p->n; i++) {
		const struct route_case *c = &p->point[i].c;
		unsigned int fixed = by_cuts ? c->dead_nodes : c->cut_links;

		for (size_t k = 0; k < p->n; k++) {
			const struct route_case *o = &p->point[k].c;

			if (o->engine != c->engine ||
			    fixed != (by_cuts ? o->dead_nodes : o->cut_links))
				continue;
			if (k < i)	/* this curve is drawn already */
				break;
			if (k == i) {
				snprintf(name, sizeof(name), "%s, %u %s", route_engines[c->engine],
					 fixed, by_cuts ? "dead nodes" : "cut links");
				plot_curve(plot, name);
			}
			plot_point(plot, by_cuts ? o->cut_links : o->dead_nodes,
				   route_value(json_array_get(points, k), what), 0);
		}
	}
}

static int draw_route(const struct plan *p, const json_t *points, const char *file)
{
	static const char *const title[][2] = {
		{ "Pairs without a path", "% of the pairs that links join" },
		{ "Load of the busiest link", "times that without faults" },
		{ "Time to compute the rows of all nodes", "processor time, ms" },
	};
	char shape[TORUS_TEXT_MAX], head[96];
	bool by_cuts = true;
	struct plot *plot;

	for (size_t i = 1; i < p->n; i++)
		by_cuts &= p->point[i].c.dead_nodes == p->point[0].c.dead_nodes;
	snprintf(head, sizeof(head), "Routes on faulty fabrics of %s, %zu of each kind",
		 torus_shape_text(&p->shape, shape), p->each);
	plot = plot_new(head);
	for (unsigned int what = 0; what < 3; what++) {
		plot_panel(plot, title[what][0], by_cuts ? "cut links" : "dead nodes",
			   title[what][1]);
		draw_route_curves(plot, p, points, by_cuts, what);
	}
	return plot_write(plot, file);
}

static int show_route(const struct ctl *ctl, const struct plan *p)
{
	static const char *const columns[] = {
		"engine", "dead_nodes", "cut_links", "fabrics", "connected", "routed",
		"unroutable_pairs", "relayed_pairs", "deadlock_free", "mean_hops", "max_hops",
		"max_link_load", "link_load_ratio", "table_us_one", "tables_ms_all",
		"increment_ms_all", NULL
	};
	struct sum all = { .fabrics = 0 };
	json_t *points = json_array(), *about, *total;
	char shape[TORUS_TEXT_MAX];
	int status = OK;

	for (size_t i = 0; i < p->n; i++) {
		const struct route_case *c = &p->point[i].c;
		struct sum s = { .fabrics = 0 };
		json_t *point = json_pack("{ss si si}", "engine", route_engines[c->engine],
					  "dead_nodes", c->dead_nodes,
					  "cut_links", c->cut_links), *found;

		for (size_t j = 0; j < p->each; j++) {
			sum_add(&s, &p->point[i].result[j]);
			sum_add(&all, &p->point[i].result[j]);
		}
		if (is_problem(c->engine, s.unroutable, s.unsafe, s.cycles, s.unequal))
			status = PROBLEM;
		found = sum_json(p, &s);
		json_object_update(point, found);
		json_decref(found);
		json_array_append_new(points, point);
	}
	about = json_pack("{ss si si sI sI}", "shape", torus_shape_text(&p->shape, shape),
			  "nodes", torus_nodes(&p->shape), "links", route_links(&p->shape), "seed",
			  (json_int_t)p->seed, "fault_free_link_load", (json_int_t)p->healthy_load);
	total = sum_json(p, &all);
	json_object_update(about, total);
	json_decref(total);
	if (ctl->svg && draw_route(p, points, ctl->svg))
		status = CANNOT;
	return points_show(ctl, about, points, columns) ? CANNOT : status;
}

static int run_plan(const struct ctl *ctl, struct plan *p)
{
	struct route_case healthy = { .shape = p->shape, .engine = ROUTE_STEPS };
	struct route_result r;

	if (route_fabric(&healthy, 1, &r) ||
	    jobs_run(p->n * p->each, (unsigned int)threads, "fabrics", route_one, p))
		return fail("out of memory");
	p->healthy_load = r.sound.load_max;
	return show_route(ctl, p);
}

static int cmd_route(struct ctl *ctl, int argc, char **argv)
{
	struct plan *p;
	int status;

	(void)argc;
	(void)argv;
	if (points_check(ctl))
		return CANNOT;
	p = calloc(1, sizeof(*p));
	if (!p)
		return fail("out of memory");
	status = make_route_plan(p, ctl);
	if (status == OK)
		status = run_plan(ctl, p);
	for (size_t i = 0; i < p->n; i++)
		free(p->point[i].result);
	free(p);
	return status;
}

static const struct opt route_opts[] = {
	{ OPT_TEXT, "shape", 0, "SHAPE", &shape_text, 0, 0, "nodes along each dimension (4x4x4)" },
	{ OPT_TEXT, "dead-nodes", 0, "LIST", &dead_text, 0, 0, "dead nodes a fabric: 2, 0,2,4 or "
	  "0:4:1 (0)" },
	{ OPT_TEXT, "cut-links", 0, "LIST", &cut_text, 0, 0, "cut links besides theirs (0)" },
	{ OPT_NUMBER, "fabrics", 0, "N", &fabrics, 1, 1000000,
	  "of each combination, 100 by default" },
	{ OPT_NUMBER, "only", 0, "N", &only, 0, 999999, "only the fabric of this number" },
	{ OPT_TEXT, "engine", 0, "LIST", &engine_text, 0, 0,
	  "how rows are found: walk, signs, steps, relays (relays)" },
	{ OPT_NUMBER, "threads", 0, "N", &threads, 1, 256, "how many at once (all cores)" },
	{ .kind = OPT_END }
};

COMMAND(cmd_route) = {
	.name = "route",
	.args = "",
	.brief = "Fabrics with random faults: which pairs routing connects, and its time",
	.help = "Makes fabrics with random dead nodes and cut links, computes the routes of all\n"
		"nodes, and verifies them: every pair that healthy links join has a path, through\n"
		"relay nodes where no packet header can describe one, and channels cannot\n"
		"deadlock. Then one more link fails and comes back: updated routes must equal\n"
		"routes computed from scratch. Times are processor time. Other engines connect\n"
		"fewer pairs: walk is that of the Angara paper (fig. 6), signs and steps are\n"
		"parts of ours. Exit status 1 if engine relays leaves a pair without a route or a\n"
		"check fails; standard error names the fabric.",
	.opts = route_opts,
	.json = true,
	.simulates = true,
	.run = cmd_route,
};
