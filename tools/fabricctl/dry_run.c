// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of all nodes as the table in force has them, against those that it
 * would have: nodes compute by the table alone, so this is what they would do.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dry_run.h"
#include "json.h"
#include "path.h"
#include "rows.h"
#include "say.h"

/* What decides the way of packets whose order counts. */
#define WAY (~(TORUS_ROW_ADAPTIVE | TORUS_ROW_DIR_MASK << TORUS_ROW_ADAPT_SHIFT))

/**
 * struct dry_run - before [0] and after [1]
 * @node: the one that is to be excluded, or TORUS_NO_NODE: a link is
 * @relay, @relay_rows: the relay looked at last, and its rows
 * @path: room for ways
 */
struct dry_run {
	struct ask ask;
	struct exclusions table;
	uint32_t nodes, node;
	struct torus_health *health[2];
	uint64_t *rows[2];
	uint32_t relay[2];
	uint64_t *relay_rows[2];
	struct path path;
	uint64_t pairs, moved, longer, lost;
	json_t *cut_off;
};

static int prepare(struct dry_run *r, const char *node_text, const char *port_text)
{
	const struct torus_shape *s = &r->table.shape;
	uint16_t ports = (uint16_t)((1u << 2 * s->ndims) - 1);
	struct torus_coords at;
	unsigned int port;

	if (torus_coords_parse(node_text, s, &at))
		return fail("%s is no node of the fabric", node_text);
	r->node = torus_node_id(s, &at);
	r->nodes = torus_nodes(s);
	if (*port_text) {
		if (torus_port_parse(port_text, s->ndims, &port))
			return fail("%s is no port", port_text);
		ports = (uint16_t)(1u << port);
	}
	for (int i = 0; i < 2; i++) {
		r->rows[i] = calloc(r->nodes, sizeof(uint64_t));
		r->relay_rows[i] = calloc(r->nodes, sizeof(uint64_t));
		r->relay[i] = TORUS_NO_NODE;
		if (!r->rows[i] || !r->relay_rows[i] || torus_health_new(s, r->table.port, &r->health[i]))
			return fail("out of memory");
	}
	if (path_init(&r->path, s) ||
	    torus_health_set(r->health[1], r->node, r->table.port[r->node] | ports, NULL) < 0)
		return fail("out of memory");
	if (*port_text)
		r->node = TORUS_NO_NODE;
	r->cut_off = json_array();
	return r->cut_off ? OK : fail("out of memory");
}

struct when {
	struct dry_run *r;
	int i;
};

static bool row_of(void *arg, uint32_t at, uint32_t to, uint64_t *row)
{
	const struct when *when = arg;
	struct dry_run *r = when->r;
	int i = when->i;

	if (r->relay[i] != at &&
	    torus_health_rows(r->health[i], at, TORUS_ROUTES_RELAY, r->relay_rows[i]) < 0)
		return false;
	r->relay[i] = at;
	*row = r->relay_rows[i][to];
	return true;
}

/* Hops of the whole way, through all relays. False: out of memory. */
static bool length(struct dry_run *r, int i, uint32_t from, uint32_t to, uint32_t *n)
{
	struct when when = { r, i };

	if (path_walk(&r->path, &r->table.shape, NULL, from, to, r->rows[i][to], row_of, &when))
		return false;
	*n = r->path.n;
	return true;
}

/* False: out of memory. */
static bool compare(struct dry_run *r, uint32_t from)
{
	uint32_t n[2];

	for (uint32_t to = 0; to < r->nodes; to++) {
		uint64_t was = r->rows[0][to], is = r->rows[1][to];

		if (to == from || to == r->node || !r->table.up[to] || !(was & TORUS_ROW_VALID))
			continue;
		r->pairs++;
		if (!(is & TORUS_ROW_VALID)) {
			r->lost++;
		} else if ((was ^ is) & WAY) {
			r->moved++;
			if (!length(r, 0, from, to, &n[0]) || !length(r, 1, from, to, &n[1]))
				return false;
			r->longer += n[1] > n[0];
		}
	}
	return true;
}

/* Nodes that leave the part to which most of the rest belongs. */
static void find_cut_off(struct dry_run *r)
{
	uint32_t *size = calloc(r->nodes, sizeof(*size)), main_part = 0;

	for (uint32_t i = 0; size && i < r->nodes; i++)
		if (r->table.up[i] && i != r->node)
			size[torus_health_component(r->health[1], i)]++;
	for (uint32_t i = 0; size && i < r->nodes; i++)
		main_part = size[i] > size[main_part] ? i : main_part;
	for (uint32_t i = 0; size && i < r->nodes; i++)
		if (r->table.up[i] && i != r->node &&
		    torus_health_component(r->health[1], i) != main_part)
			json_array_append_new(r->cut_off, json_node(&r->table.shape, i));
	free(size);
}

static int report(const struct ctl *ctl, const struct dry_run *r, const char *what)
{
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	if (ctl->json) {
		json_show(json_pack("{sb sI sI sI sI sI sO}", "ok", !r->lost, "version",
				    (json_int_t)r->table.version, "pairs", (json_int_t)r->pairs,
				    "moved", (json_int_t)r->moved, "longer",
				    (json_int_t)r->longer, "lost", (json_int_t)r->lost, "cut_off",
				    r->cut_off));
		return r->lost ? PROBLEM : OK;
	}
	printf("without %s, of %" PRIu64 " pairs of other nodes: %" PRIu64 " take another path, %"
	       PRIu64 " of them a longer one; %s%" PRIu64 " have none%s\n", what, r->pairs,
	       r->moved, r->longer, paint(r->lost ? BAD : GOOD), r->lost, paint(PLAIN));
	json_array_foreach(r->cut_off, i, v)
		printf("%scut off%s %s\n", paint(BAD), paint(PLAIN), json_node_text(v, text));
	return r->lost ? PROBLEM : OK;
}

static int dry_run(const struct ctl *ctl, struct dry_run *r, const char *what)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX] = "";
	int status = strchr(what, ':') ? ask_link(&r->ask, what, node, port)
				       : ask_node(&r->ask, what, node);

	if (status != OK)
		return status;
	if (exclusions_get(&r->ask, &r->table) || prepare(r, node, port))
		return CANNOT;
	for (uint32_t from = 0; from < r->nodes; from++) {
		if (!r->table.up[from] || from == r->node)
			continue;
		progress("computing rows of node %u of %u", from + 1, r->nodes);
		for (int i = 0; i < 2; i++)
			if (torus_health_rows(r->health[i], from, TORUS_ROUTES_RELAY, r->rows[i]) < 0)
				return fail("out of memory");
		if (!compare(r, from))
			return fail("out of memory");
	}
	progress("%s", "");
	find_cut_off(r);
	return report(ctl, r, what);
}

int dry_run_exclude(const struct ctl *ctl, const char *what)
{
	struct dry_run r = { .nodes = 0 };
	int status;

	if (ask_open(ctl, &r.ask))
		return CANNOT;
	status = dry_run(ctl, &r, what);
	for (int i = 0; i < 2; i++) {
		torus_health_free(r.health[i]);
		free(r.rows[i]);
		free(r.relay_rows[i]);
	}
	path_free(&r.path);
	json_decref(r.cut_off);
	exclusions_free(&r.table);
	ask_close(&r.ask);
	return status;
}
