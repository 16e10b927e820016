// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim address: addresses by which a vertex needs a row for each digit, and paths by them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address_graph.h"
#include "address_tree.h"
#include "address_walk.h"
#include "points.h"
#include "range.h"
#include "tools/fabricctl/json.h"
#include "tools/fabricctl/output.h"
#include "tools/fabricctl/table.h"

#define SHAPES		"4x4x4,8x8x8,16x16x16"
#define PAIRS_MAX	4096

static const char *shape_text, *graph_text, *figure_text, *pairs_text, *match_text, *prefer_text;
static bool as_written;
static uint64_t part;

/* The paper's runs. The zeros and ones of figure 7 follow from its addresses. */
static const char *const figures[][2] = {
	{ "7", "0-1,2-3,4-5,7-8/2-4,7-9/6-2/6-0/6-7" },
	{ "8", "0-1,3-4,5-6,7-8/0-5,2-3,7-9/0-2/0-7" },
};

/** struct pairs - the pairs of --pairs or of a figure */
struct pairs {
	struct torus_dm_pair pair[PAIRS_MAX];
	uint32_t n;
};

/* Reads pairs like 0-1,2-3/0-2: commas between pairs, slashes between steps. */
static int parse_pairs(const char *text, struct pairs *out)
{
	unsigned int step = 0;

	for (const char *at = text; out->n < PAIRS_MAX; at++) {
		struct torus_dm_pair *p = &out->pair[out->n++];
		int len = 0;

		p->step = step;
		if (sscanf(at, "%" SCNu32 "-%" SCNu32 "%n", &p->zero, &p->one, &len) != 2 || !len)
			break;
		at += len;
		if (!*at)
			return OK;
		if (*at != ',' && *at != '/')
			break;
		step += *at == '/';
	}
	return fail("--pairs '%s': must be pairs of vertices like 0-1,2-3/0-2, "
		    "a slash between steps", text);
}

static int explain_error(int err, const struct address_graph *g)
{
	switch (err) {
	case -ENOMEM:
		return fail("out of memory");
	case -EOVERFLOW:
		return fail("%s: more than %d digits are needed", g->name, TORUS_DM_DIGITS_MAX);
	case -ENOTCONN:
		return fail(pairs_text ? "--pairs: %s is not one set at the end" :
			    "%s is not connected", g->name);
	default:
		return fail(pairs_text ? "--pairs: a pair of %s is not adjacent, or taken already" :
			    "--match exact: %s has too many vertices, must have at most %d",
			    g->name, TORUS_DM_EXACT_MAX);
	}
}

static json_t *holes_json(const struct torus_dm *dm)
{
	const uint32_t *missing, *standing;
	uint32_t n = torus_dm_holes(dm, &missing, &standing);
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("[ii]", (int)missing[i], (int)standing[i]));
	return list;
}

static double ratio_or_zero(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : 0;
}

/* Return: a point, NULL if out of memory. */
static json_t *address_point_json(const struct address_graph *g, const struct torus_dm *dm)
{
	struct address_walk w;
	uint64_t served;
	json_t *point;

	if (address_walk(g, dm, as_written, &w))
		return NULL;
	served = w.pairs - w.loops;
	point = json_pack("{ss si si si sf sf sf sf sI sI si sI}", "shape", g->name,
			  "nodes", (int)g->n, "m", (int)torus_dm_digits(dm),
			  "holes", (int)torus_dm_holes(dm, NULL, NULL),
			  "mean_hops", ratio_or_zero(w.hops, served),
			  "minimal_hops", ratio_or_zero(w.minimal, served),
			  "stretch", w.minimal ? ratio_or_zero(w.hops, w.minimal) : 1,
			  "legs", ratio_or_zero(w.legs, served),
			  "loops", (json_int_t)w.loops, "pairs", (json_int_t)w.pairs,
			  "table_bytes", (int)(8 * torus_dm_digits(dm)),
			  "rows_bytes", (json_int_t)(8 * (uint64_t)g->n));
	if (point && as_written)
		json_object_set_new(point, "loops_any", json_integer((json_int_t)w.loops_any));
	return point;
}

/* --- a figure ------------------------------------------------------------------ */

static void print_addresses(const struct torus_dm *dm, uint32_t n)
{
	static const char *const titles[] = { ">vertex", ">address", ">number", NULL };
	char buf[TORUS_DM_DIGITS_MAX + 1];
	struct table *t = table_new(titles);

	for (uint32_t number = 0; number < n; number++) {
		uint32_t address = torus_dm_translate(dm, number);

		table_cell(t, PLAIN, "%u", torus_dm_number_vertex(dm, number));
		table_cell(t, address < n ? PLAIN : STRONG, "%s",
			   address_digits(address, torus_dm_digits(dm), buf));
		table_cell(t, PLAIN, "%u", number);
	}
	table_print(t, "");
}

static int show_figure(const struct ctl *ctl, const struct address_graph *g,
		       const struct torus_dm *dm)
{
	json_t *point, *addresses;

	if (ctl->csv)
		return fail("--csv: --figure has no points: leave out one of the options");
	if (!ctl->json) {
		printf("Figure %s: %u digits, %u renumbered\n", figure_text, torus_dm_digits(dm),
		       torus_dm_holes(dm, NULL, NULL));
		print_addresses(dm, g->n);
		return OK;
	}
	point = address_point_json(g, dm);
	addresses = json_array();
	for (uint32_t v = 0; v < g->n; v++)
		json_array_append_new(addresses, json_integer(torus_dm_address(dm, v)));
	if (!point || json_object_set_new(point, "addresses", addresses) ||
	    json_object_set_new(point, "renumbered", holes_json(dm)))
		return fail("out of memory");
	json_dumpf(point, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(point);
	return OK;
}

/* --- points -------------------------------------------------------------------- */

/* Assigns addresses to @g, and adds the result to the curve, or shows the figure. */
static int judge_graph(const struct ctl *ctl, struct address_graph *g,
		       const struct torus_dm_rule *rule, json_t *points)
{
	const struct torus_graph graph = address_graph_of(g);
	struct torus_dm *dm;
	json_t *point;
	int status = OK, err = torus_dm_new(&graph, rule, &dm);

	if (err)
		return explain_error(err, g);
	progress("walking all pairs of %s", g->name);
	if (ctl->svg && g->n > ADDRESS_TREE_MAX)
		status = fail("--svg: %s has %u vertices, a tree is drawn of up to %d", g->name,
			      g->n, ADDRESS_TREE_MAX);
	else if (ctl->svg)
		status = address_tree(ctl->svg, g->name, dm, g->n);
	if (status == OK && figure_text)
		status = show_figure(ctl, g, dm);
	if (status == OK && !figure_text) {
		point = address_point_json(g, dm);
		if (!point || json_array_append_new(points, point))
			status = fail("out of memory");
	}
	progress("%s", "");
	torus_dm_free(dm);
	return status;
}

/* Judges the shapes of a list with commas. */
static int judge_shapes(const struct ctl *ctl, const struct torus_dm_rule *rule, json_t *points)
{
	char *list = strdup(shape_text ? shape_text : SHAPES), *rest = list, *name;
	int status = OK;

	if (!list)
		return fail("out of memory");
	while (status == OK && (name = strsep(&rest, ","))) {
		struct address_graph g = { 0 };

		if (ctl->svg && rest)
			status = fail("--svg: a drawing has one shape: give one with --shape");
		if (status == OK)
			status = address_graph_torus(name, (uint32_t)part, ctl->seed, &g);
		if (status == OK)
			status = judge_graph(ctl, &g, rule, points);
		address_graph_free(&g);
	}
	free(list);
	return status;
}

static int judge_other(const struct ctl *ctl, const struct torus_dm_rule *rule, json_t *points)
{
	struct address_graph g = { 0 };
	int status;

	status = figure_text ? address_graph_paper(&g) : address_graph_named(graph_text, &g);
	if (status == OK)
		status = judge_graph(ctl, &g, rule, points);
	address_graph_free(&g);
	return status;
}

static int show_points(const struct ctl *ctl, const struct torus_dm_rule *rule)
{
	static const char *const columns[] = { "shape", "nodes", "m", "holes", "mean_hops",
		"minimal_hops", "stretch", "legs", "loops", "pairs", "table_bytes", "rows_bytes",
		NULL };
	json_t *points = json_array();
	int status;

	status = graph_text || figure_text ? judge_other(ctl, rule, points) :
		 judge_shapes(ctl, rule, points);
	if (status == OK && !figure_text)
		return points_show(ctl, json_pack("{sI}", "seed", (json_int_t)ctl->seed), points,
				   columns);
	json_decref(points);
	return status;
}

/* Finds the rule. Return: OK, or CANNOT after it has printed the error. */
static int make_rule(struct torus_dm_rule *rule, struct pairs *pairs)
{
	static const char *const matches[] = { "auto", "exact", "dominant", NULL };
	static const char *const prefers[] = { "distance", "digits", "bandwidth", NULL };
	static const char *const names[] = { "7", "8", NULL };
	int i;

	if (match_text) {
		i = word_option("match", match_text, strlen(match_text), matches);
		if (i < 0)
			return CANNOT;
		rule->match = (enum torus_dm_match)i;
	}
	if (prefer_text) {
		i = word_option("prefer", prefer_text, strlen(prefer_text), prefers);
		if (i < 0)
			return CANNOT;
		rule->prefer = (enum torus_dm_prefer)i;
	}
	if (figure_text) {
		i = word_option("figure", figure_text, strlen(figure_text), names);
		if (i < 0)
			return CANNOT;
		pairs_text = figures[i][1];
	}
	if (!pairs_text)
		return OK;
	rule->pair = pairs->pair;
	return parse_pairs(pairs_text, pairs);
}

static int cmd_address(struct ctl *ctl, int argc, char **argv)
{
	struct torus_dm_rule rule = { .match = TORUS_DM_AUTO };
	struct pairs *pairs;
	int status;

	(void)argc;
	(void)argv;
	if (points_check(ctl))
		return CANNOT;
	if (!!shape_text + !!graph_text + !!figure_text > 1)
		return fail("--shape, --graph and --figure exclude each other: give one of them");
	if (part && (graph_text || figure_text))
		return fail("--part %" PRIu64 ": parts are of tori, give --shape", part);
	if (figure_text && pairs_text)
		return fail("--pairs: --figure has its own pairs");
	pairs = calloc(1, sizeof(*pairs));
	status = pairs ? make_rule(&rule, pairs) : fail("out of memory");
	if (status == OK) {
		rule.n_pairs = pairs->n;
		status = show_points(ctl, &rule);
	}
	free(pairs);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "shape", 0, "SHAPES", &shape_text, 0, 0,
	  "tori, with commas between them (" SHAPES ")" },
	{ OPT_NUMBER, "part", 0, "N", &part, 1, ADDRESS_NODES_MAX,
	  "only N nodes of the torus, grown at random from the first" },
	{ OPT_TEXT, "graph", 0, "GRAPH", &graph_text, 0, 0,
	  "ring:N, hypercube:N, dragonfly:N or file:PATH" },
	{ OPT_TEXT, "figure", 0, "7|8", &figure_text, 0, 0, "the paper's example" },
	{ OPT_TEXT, "pairs", 0, "PAIRS", &pairs_text, 0, 0,
	  "pairs of each step instead of a search, like 0-1,2-3/0-2" },
	{ OPT_TEXT, "match", 0, "HOW", &match_text, 0, 0, "auto, exact or dominant (auto)" },
	{ OPT_TEXT, "prefer", 0, "WHAT", &prefer_text, 0, 0,
	  "distance, digits or bandwidth (distance)" },
	{ OPT_FLAG, "as-written", 0, NULL, &as_written, 0, 0,
	  "each node decides anew, as in the paper: some packets never arrive" },
	{ .kind = OPT_END },
};

COMMAND(cmd_address) = {
	.name = "address",
	.args = "",
	.brief = "Addresses by which a node needs few rows, and the paths by them",
	.help = "Gives the nodes of a torus, a part of one, or another graph binary addresses\n"
		"(Korneev's D(1,m)), and walks the paths of all pairs: a node has a row for each\n"
		"digit, to the nearest node of the other half.",
	.opts = opts,
	.json = true,
	.simulates = true,
	.run = cmd_address,
};
