// SPDX-License-Identifier: GPL-2.0-only
/*
 * fabricsim recovery: the managers of a whole fabric, their NICs and the routing code, in virtual
 * time. This is the code of fabricd and torusemu itself, not a model of it. Only cables are
 * modelled (a delay), and the service network (a delay, and the bandwidth of each node's link to
 * it). Computing takes no time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <torus/topology.h>
#include "plot.h"
#include "points.h"
#include "range.h"
#include "recovery_scene.h"
#include "tools/fabricctl/output.h"

#define EXACT_MAX 4096		/* most nodes with which NICs are simulated packet by packet */
#define NODES_MAX (1u << 20)
#define SCENES_MAX 16

static const char *shape_text, *scene_text, *gbps_text;
static uint64_t hop_us = 50, jitter_us, link_us = 2, traffic_us, fanout = 8, faults = 4, flaps = 10;
static const char *nics_text, *dark_text;
static bool verbose, cost;

/** struct plan - parameters and results of all scenes */
struct plan {
	struct scene_plan scene;
	unsigned int scenes[SCENES_MAX];
	size_t n;
	json_t *points;
	bool unsettled;
};

/* --- the plan ------------------------------------------------------------- */

static int scenes_parse(struct plan *p)
{
	const char *at = scene_text ? scene_text : "fault";

	while (p->n < SCENES_MAX) {
		size_t len = strcspn(at, ",");
		int which = word_option("scenario", at, len, scene_names);

		if (which < 0)
			return CANNOT;
		p->scenes[p->n++] = (unsigned int)which;
		if (!at[len])
			return OK;
		at += len + 1;
	}
	return fail("--scenario '%s': must name at most %u scenarios", scene_text, SCENES_MAX);
}

static int make_scene_shape(struct torus_shape *s)
{
	const char *text = shape_text ? shape_text : "4x4x4";

	if (torus_shape_parse(text, s))
		return fail("--shape '%s': must be like 8x8x8: 1 to 6 sizes of 1 to %d, %u "
			    "nodes at most",
			    text, TORUS_MAX_SIZE, NODES_MAX);
	if (torus_nodes(s) < 2 || torus_nodes(s) > NODES_MAX)
		return fail("--shape '%s': %u nodes, must have 2 to %u", text, torus_nodes(s),
			    NODES_MAX);
	return OK;
}

static int nics_make(struct world_config *c)
{
	static const char *const words[] = { "packets", "links", NULL };
	int which = torus_nodes(&c->shape) > EXACT_MAX;

	if (nics_text)
		which = word_option("nics", nics_text, strlen(nics_text), words);
	if (which < 0)
		return CANNOT;
	c->links_only = which;
	if (!which && torus_nodes(&c->shape) > EXACT_MAX)
		return fail("--nics packets: %u nodes, must have 2 to %u",
			    torus_nodes(&c->shape), EXACT_MAX);
	if (which && traffic_us)
		return fail("--traffic-us %llu: needs --nics packets; these NICs send none",
			    (unsigned long long)traffic_us);
	return OK;
}

static int make_scene_plan(struct plan *p, const struct ctl *ctl)
{
	struct world_config *c = &p->scene.world;
	double gbps = 10;

	world_config_default(c);
	c->vanish = true;
	if (make_scene_shape(&c->shape) || scenes_parse(p) ||
	    (gbps_text && real_option("gbps", gbps_text, 0.001, 10000, &gbps)))
		return CANNOT;
	if (nics_make(c))
		return CANNOT;
	block_plane(&c->shape, &p->scene.dark);
	if (dark_text && block_parse(dark_text, &c->shape, &p->scene.dark))
		return CANNOT;
	c->share = true;
	c->discover = false;
	c->seed = ctl->seed;
	c->link_latency = link_us * US;
	c->svc_latency = hop_us * US;
	c->svc_jitter = jitter_us * US;
	c->svc_mbps = (uint64_t)(gbps * 1000);
	c->traffic = traffic_us * US;
	c->fanout = (unsigned int)fanout;
	c->verbose = verbose ? 3 : 0;
	p->scene.faults = (uint32_t)faults;
	p->scene.flaps = (uint32_t)flaps;
	return OK;
}

/* --- results -------------------------------------------------------------- */

static double in_ms(uint64_t ns)
{
	return (double)ns / MS;
}

/*
 * Return: time from the act to a step of its first recovery; null: the recovery did not reach this
 * step.
 */
static json_t *stamp_json(const struct scene_act *a, enum fm_stamp which)
{
	uint64_t at = a->recovery.at[which];

	return at ? json_real(at > a->began ? in_ms(at - a->began) : 0) : json_null();
}

static void phases_set(json_t *point, const struct scene_act *a)
{
	char name[32];

	for (unsigned int i = 0; i < FM_STAMPS; i++) {
		snprintf(name, sizeof(name), "%s_ms", fm_stamp_name(i));
		json_object_set_new(point, name, stamp_json(a, (enum fm_stamp)i));
	}
}

static void count_set(json_t *point, const char *key, uint64_t n)
{
	json_object_set_new(point, key, json_integer((json_int_t)n));
}

static void counts_set(json_t *point, const struct scene_act *a)
{
	const struct world_counts *c = &a->counts;

	count_set(point, "versions", c->versions);
	count_set(point, "messages", c->messages);
	count_set(point, "bytes", c->bytes);
	count_set(point, "root_messages", c->root_messages);
	count_set(point, "root_bytes", c->root_bytes);
	count_set(point, "rows", c->rows);
	count_set(point, "rows_sample", c->sampled ? c->sampled : 1);
	count_set(point, "flows_held", c->held);
	json_object_set_new(point, "held_mean_ms",
			    json_real(c->held ? in_ms(c->held_ns) / (double)c->held : 0));
	json_object_set_new(point, "held_max_ms", json_real(in_ms(c->held_max)));
	json_object_set_new(point, "released_ms", json_real(in_ms(a->released)));
	count_set(point, "parked", a->recovery.parked);
	count_set(point, "replayed", a->recovery.replayed);
	count_set(point, "lost", a->recovery.lost);
}

static int act_done(void *arg, const struct scene_act *a)
{
	struct plan *p = arg;
	json_t *point = json_pack("{ss ss sb sf}", "scenario", a->scene, "act", a->what, "settled",
				  a->settled, "rest_ms", in_ms(a->rest));

	if (!point)
		return -1;
	phases_set(point, a);
	counts_set(point, a);
	if (cost) {
		json_object_set_new(point, "cpu_s", json_real((double)a->cpu / SEC));
		count_set(point, "peak_mib", a->peak >> 20);
	}
	if (!a->settled) {
		p->unsettled = true;
		warn("%s: %s: not at rest after %.0f s of virtual time", a->scene, a->what,
		     in_ms(a->rest) / 1000);
	}
	return json_array_append_new(p->points, point);
}

/* --- the plot --------------------------------------------------------------- */

static double number_in(const json_t *point, const char *key)
{
	const json_t *v = json_object_get(point, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Draws a curve for each act, over the steps of its first recovery. */
static void draw_steps(struct plot *plot, const json_t *points, const char *const *keys, size_t n)
{
	char name[96];
	size_t i;
	json_t *v;

	json_array_foreach(points, i, v) {
		snprintf(name, sizeof(name), "%s: %s",
			 json_string_value(json_object_get(v, "scenario")),
			 json_string_value(json_object_get(v, "act")));
		plot_curve(plot, name);
		for (size_t k = 0; k < n; k++)
			plot_point(plot, (double)k, number_in(v, keys[k]), 0);
	}
}

static int draw_scenes(const struct plan *p, const char *file)
{
	static const char *const steps[] = { "detected", "table", "rebuilt", "drained", "resumed" };
	static const char *const step_keys[] = {
		"detected_ms", "table_ms", "rebuilt_ms", "drained_ms", "resumed_ms"
	};
	static const char *const sums[] = { "messages", "of the root", "rows", "flows held" };
	static const char *const sum_keys[] = { "messages", "root_messages", "rows", "flows_held" };
	char shape[TORUS_TEXT_MAX], title[96];
	struct plot *plot;

	snprintf(title, sizeof(title), "Recoveries of a fabric of %s",
		 torus_shape_text(&p->scene.world.shape, shape));
	plot = plot_new(title);
	plot_panel(plot, "When a step is reached", "step of the first recovery",
		   "time since the fault or repair, ms");
	plot_words(plot, steps, 5);
	draw_steps(plot, p->points, step_keys, 5);
	plot_panel(plot, "What it takes", "", "number");
	plot_log(plot, false, true);
	plot_words(plot, sums, 4);
	draw_steps(plot, p->points, sum_keys, 4);
	return plot_write(plot, file);
}

static int show_scenes(const struct ctl *ctl, const struct plan *p)
{
	const char *const columns[] = {
		"scenario", "act", "detected_ms", "table_ms", "rebuilt_ms", "drained_ms",
		"resumed_ms", "versions", "messages", "root_messages", "root_bytes", "rows",
		"flows_held", "held_max_ms", cost ? "cpu_s" : NULL, "peak_mib", NULL
	};
	const struct world_config *c = &p->scene.world;
	char shape[TORUS_TEXT_MAX];
	json_t *about = json_pack("{ss ss sI sI sI sf sI sI}", "shape",
				  torus_shape_text(&c->shape, shape), "nics",
				  c->links_only ? "links" : "packets", "nodes",
				  (json_int_t)torus_nodes(&c->shape), "seed", (json_int_t)c->seed,
				  "hop_us", (json_int_t)hop_us, "gbps",
				  (double)c->svc_mbps / 1000, "fanout", (json_int_t)fanout,
				  "jitter_us", (json_int_t)jitter_us);
	int status = ctl->svg ? draw_scenes(p, ctl->svg) : OK;

	if (points_show(ctl, about, p->points, columns))
		status = CANNOT;
	return status ? status : p->unsettled ? PROBLEM : OK;
}

static int cmd_recovery(struct ctl *ctl, int argc, char **argv)
{
	struct plan p = { .n = 0 };

	(void)argc;
	(void)argv;
	if (points_check(ctl))
		return CANNOT;
	if (make_scene_plan(&p, ctl))
		return CANNOT;
	p.points = json_array();
	p.scene.done = act_done;
	p.scene.arg = &p;
	for (size_t i = 0; i < p.n; i++)
		if (!p.points || scene_run(&p.scene, p.scenes[i]))
			return fail("out of memory");
	return show_scenes(ctl, &p);
}

static const struct opt recovery_opts[] = {
	{ OPT_TEXT, "shape", 0, "SHAPE", &shape_text, 0, 0, "nodes along each dimension (4x4x4)" },
	{ OPT_TEXT, "scenario", 0, "LIST", &scene_text, 0, 0,
	  "of bring-up, cut, fault, burst, during, dark, flap, root (fault)" },
	{ OPT_TEXT, "nics", 0, "KIND", &nics_text, 0, 0,
	  "NICs simulated packet by packet, or their links alone: packets, links" },
	{ OPT_NUMBER, "hop-us", 0, "US", &hop_us, 1, 1000000,
	  "time of a message on the service network (50)" },
	{ OPT_NUMBER, "jitter-us", 0, "US", &jitter_us, 0, 1000000,
	  "random time added to that, at most (0)" },
	{ OPT_TEXT, "gbps", 0, "G", &gbps_text, 0, 0,
	  "rate of a node's link to the service network (10)" },
	{ OPT_NUMBER, "link-us", 0, "US", &link_us, 1, 1000000,
	  "time of a frame on a torus cable (2)" },
	{ OPT_NUMBER, "traffic-us", 0, "US", &traffic_us, 0, 1000000,
	  "time between two packets of a node; 0: no traffic (0)" },
	{ OPT_NUMBER, "fanout", 0, "N", &fanout, 1, 1024,
	  "children of a node in the managers' tree (8)" },
	{ OPT_NUMBER, "faults", 0, "N", &faults, 1, 1000000,
	  "links that the scenarios burst and during cut (4)" },
	{ OPT_TEXT, "dark", 0, "BLOCK", &dark_text, 0, 0,
	  "scenario dark: nodes that lose power at once, 2x2x1, or 2x2x1@0,0,3 (a plane)" },
	{ OPT_NUMBER, "flaps", 0, "N", &flaps, 1, 10000,
	  "scenario flap: how often the link fails and returns (10)" },
	{ OPT_FLAG, "cost", 0, NULL, &cost, 0, 0,
	  "show processor time and memory of each fault or repair as well" },
	{ OPT_FLAG, "verbose", 'v', NULL, &verbose, 0, 0,
	  "print what the managers log, to standard error" },
	{ .kind = OPT_END }
};

COMMAND(cmd_recovery) = {
	.name = "recovery",
	.args = "",
	.brief = "How fast the managers of a whole fabric bring it up and recover from faults",
	.help = "Runs the real managers, NICs and routing code of all nodes on a virtual clock,\n"
		"and injects the faults of the scenarios, which fabricsim(1) describes. Prints a\n"
		"line for each fault or repair, with the times from then until the root knew of\n"
		"it, the new table was sent, all routes were rewritten, no packet of the old\n"
		"routes was left, and the first recovery ended; messages and bytes on the service\n"
		"network; routing rows rewritten; flows held and for how long. The same seed\n"
		"gives the same output, except for the columns of --cost.\n"
		"Exit status 1 if a fabric does not come to rest.",
	.opts = recovery_opts,
	.json = true,
	.simulates = true,
	.run = cmd_recovery,
};
