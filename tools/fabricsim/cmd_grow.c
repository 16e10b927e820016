// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim grow: a part of a torus grows from one node by messages between neighbours. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "grow_run.h"
#include "kernel/core/splitmix64.h"
#include "plot.h"
#include "points.h"
#include "range.h"
#include "tools/fabricctl/json.h"
#include "tools/fabricctl/output.h"

#define NODES_MAX 65536

static const char *shape_text, *nodes_text;
static uint64_t dead_nodes, jitter;

/* Marks @n random nodes except the root. */
static void draw_dead(bool *dead, uint32_t nodes, uint32_t n, uint64_t seed)
{
	while (n) {
		uint32_t id;

		seed += SPLITMIX64_STEP;
		id = (uint32_t)(splitmix64_mix(seed) % nodes);
		if (!id || dead[id])
			continue;
		dead[id] = true;
		n--;
	}
}

/* Return: messages of the kinds from @first to @last. */
static json_int_t count_messages(const struct grow_result *r, int first, int last)
{
	uint64_t n = 0;

	for (int k = first; k <= last; k++)
		n += r->messages[k];
	return (json_int_t)n;
}

static json_t *growth_json(const struct grow_case *c)
{
	struct grow_result r;

	if (grow_run(c, &r))
		return NULL;
	return json_pack("{si si si sf sI sI sI sI sI sI sI sI sI sb}", "nodes", (int)c->ask,
			 "members", (int)r.members, "missing", (int)r.missing, "messages_per_node",
			 (double)count_messages(&r, 0, FM_GROWTH_COMPLETE) / r.members,
			 "hop_times", (json_int_t)r.hop_times,
			 "propagate", (json_int_t)r.messages[FM_GROWTH_PROPAGATE],
			 "refuse", (json_int_t)r.messages[FM_GROWTH_REFUSE],
			 "done", (json_int_t)r.messages[FM_GROWTH_COMPLETE],
			 "dead_end", (json_int_t)r.messages[FM_GROWTH_DEAD_END],
			 "number", count_messages(&r, FM_GROWTH_NUMBER, FM_GROWTH_START),
			 "release", count_messages(&r, FM_GROWTH_RELEASE, FM_GROWTH_RELEASED),
			 "ack", (json_int_t)r.messages[FM_GROWTH_ACK],
			 "end_hop_times", (json_int_t)r.end,
			 "over", r.over && r.counted == r.members);
}

static double number_at(json_t *points, size_t i, const char *key)
{
	return json_number_value(json_object_get(json_array_get(points, i), key));
}

static int draw_growth(const char *file, json_t *points)
{
	static const char *const keys[] = { "messages_per_node", "hop_times" };
	struct plot *plot = plot_new("Growth of a part");

	for (int k = 0; k < 2; k++) {
		plot_panel(plot, k ? "until it is over" : "messages", "nodes asked for",
			   k ? "hop times" : "messages / node");
		plot_curve(plot, "growth");
		for (size_t i = 0; i < json_array_size(points); i++)
			plot_point(plot, number_at(points, i, "nodes"),
				   number_at(points, i, keys[k]), 0);
	}
	return plot_write(plot, file);
}

static int show_growth(const struct ctl *ctl, struct grow_case *c, const struct range *ask)
{
	static const char *const columns[] = { "nodes", "members", "missing", "messages_per_node",
		"hop_times", "propagate", "refuse", "done", "dead_end", "number", "release", "ack",
		"end_hop_times", NULL };
	json_t *points = json_array();
	int status = OK;

	for (size_t i = 0; i < ask->n; i++) {
		json_t *point;

		c->ask = (uint32_t)ask->v[i];
		point = growth_json(c);
		if (!point || json_array_append_new(points, point)) {
			json_decref(points);
			return fail("out of memory");
		}
	}
	if (ctl->svg)
		status = draw_growth(ctl->svg, points);
	if (points_show(ctl,
			json_pack("{ss sI}", "shape", shape_text, "seed", (json_int_t)ctl->seed),
			points, columns))
		status = CANNOT;
	return status;
}

static int cmd_grow(struct ctl *ctl, int argc, char **argv)
{
	struct grow_case c = { .jitter = (uint32_t)jitter, .seed = ctl->seed };
	struct range ask = { 0 };
	uint32_t nodes;
	bool *dead;
	int status;

	(void)argc;
	(void)argv;
	if (points_check(ctl))
		return CANNOT;
	if (!shape_text)
		shape_text = "8x8x8";
	if (torus_shape_parse(shape_text, &c.shape))
		return fail("--shape '%s': must be like 4x4x4: 1 to 6 sizes of 1 to %d", shape_text,
			    TORUS_MAX_SIZE);
	nodes = torus_nodes(&c.shape);
	if (nodes > NODES_MAX)
		return fail("--shape '%s': %u nodes, must have at most %d",
			    shape_text, nodes, NODES_MAX);
	if (dead_nodes >= nodes)
		return fail("--dead-nodes %" PRIu64 ": shape %s has %u nodes, "
			    "and the first is alive", dead_nodes, shape_text, nodes);
	if (range_parse("nodes", nodes_text ? nodes_text : "8,64,256,512", 1, NODES_MAX, &ask))
		return CANNOT;
	dead = calloc(nodes, sizeof(*dead));
	status = dead ? OK : fail("out of memory");
	if (dead) {
		draw_dead(dead, nodes, (uint32_t)dead_nodes, ctl->seed);
		c.dead = dead;
		status = show_growth(ctl, &c, &ask);
	}
	free(dead);
	free(ask.v);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "shape", 0, "SHAPE", &shape_text, 0, 0, "nodes along each dimension (8x8x8)" },
	{ OPT_TEXT, "nodes", 0, "RANGE", &nodes_text, 0, 0, "nodes to be found (8,64,256,512)" },
	{ OPT_NUMBER, "dead-nodes", 0, "N", &dead_nodes, 0, NODES_MAX,
	  "number of random nodes that are dead" },
	{ OPT_NUMBER, "jitter", 0, "N", &jitter, 0, 1000,
	  "a message takes 1 to 1 + N hop times, at random (0)" },
	{ .kind = OPT_END },
};

COMMAND(cmd_grow) = {
	.name = "grow",
	.args = "",
	.brief = "A part of a torus grows by messages between neighbours",
	.help = "Lets a connected part (--nodes) grow from the first node (Korneev, corrected),\n"
		"by the manager's own state machine: messages of all kinds, and how many hop\n"
		"times it takes.",
	.opts = opts,
	.json = true,
	.simulates = true,
	.run = cmd_grow,
};
