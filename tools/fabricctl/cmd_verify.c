// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the rows of every NIC and walks every pair of nodes that are up, as the
 * routers would. Who is wrong is named: the node whose row it is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "path.h"
#include "rows.h"
#include "say.h"

#define SHOWN_MAX 20

struct verify {
	struct ask ask;
	struct exclusions table;
	uint32_t nodes;
	struct rows *rows;
	struct path path;
	uint32_t *island;	/* of each node: the lowest node it has links to */
	json_t *culprits;
	uint64_t pairs, held, apart;
	uint32_t read;
};

static bool row_of(void *arg, uint32_t at, uint32_t to, uint64_t *row)
{
	struct verify *v = arg;

	if (!v->rows[at].row)
		return false;
	*row = v->rows[at].row[to];
	return true;
}

static void blame_node(struct verify *v, uint32_t node, const char *kind, const char *text)
{
	json_array_append_new(v->culprits, json_pack("{ss so sn ss sn}", "kind", kind, "node",
			      json_node(&v->table.shape, node), "to", "text", text, "row"));
}

static void blame_pair(struct verify *v, uint32_t from, uint32_t to)
{
	const struct torus_shape *shape = &v->table.shape;
	char a[TORUS_TEXT_MAX], b[TORUS_TEXT_MAX], c[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	char text[4 * TORUS_TEXT_MAX], hex[20];
	const struct torus_hop *last = v->path.n ? &v->path.hop[v->path.n - 1] : NULL;
	int len = snprintf(text, sizeof(text), "%s to %s: %s", torus_node_text(shape, from, a),
			   torus_node_text(shape, to, b), torus_walk_end_text(v->path.end));

	if (last && len > 0 && (size_t)len < sizeof(text))
		snprintf(text + len, sizeof(text) - (size_t)len, " at %s:%s",
			 torus_node_text(shape, last->node, c),
			 torus_port_text(shape->ndims, last->port, port));
	snprintf(hex, sizeof(hex), "%016" PRIx64, v->rows[from].row[to]);
	json_array_append_new(v->culprits, json_pack("{ss so so ss ss}", "kind",
			      path_end_name(v->path.end), "node", json_node(shape, from), "to",
			      json_node(shape, to), "text", text, "row", hex));
}

static void check_version(struct verify *v, uint32_t node)
{
	char text[128], at[TORUS_TEXT_MAX];

	if (v->rows[node].version == v->table.version)
		return;
	snprintf(text, sizeof(text), "%s has rows of version %" PRIu64 ", the table is %" PRIu64,
		 torus_node_text(&v->table.shape, node, at), v->rows[node].version,
		 v->table.version);
	blame_node(v, node, "version", text);
}

static int read_all(struct verify *v)
{
	char text[128], at[TORUS_TEXT_MAX];

	for (uint32_t id = 0; id < v->nodes; id++) {
		if (!v->table.up[id])
			continue;
		progress("reading rows of node %u of %u", id + 1, v->nodes);
		if (rows_get(&v->ask, &v->table.shape, id, &v->rows[id])) {
			snprintf(text, sizeof(text), "%s: its rows cannot be read",
				 torus_node_text(&v->table.shape, id, at));
			blame_node(v, id, "unreadable", text);
			continue;
		}
		v->read++;
		check_version(v, id);
	}
	progress("%s", "");
	if (!v->read)
		return fail("no NIC's rows could be read");
	return OK;
}

/* Which nodes hang together by links in use: no row can lead from one island to another. */
static void find_islands(struct verify *v)
{
	const struct torus_shape *shape = &v->table.shape;
	bool changed = true;

	for (uint32_t id = 0; id < v->nodes; id++)
		v->island[id] = id;
	while (changed) {
		changed = false;
		for (uint32_t id = 0; id < v->nodes; id++)
			for (unsigned int p = 0; p < 2u * shape->ndims; p++) {
				uint32_t peer = torus_neighbour(shape, id, p);

				if (v->table.port[id] & 1 << p || !v->table.up[id] ||
				    !v->table.up[peer] || v->island[peer] >= v->island[id])
					continue;
				v->island[id] = v->island[peer];
				changed = true;
			}
	}
}

static void blame_islands(struct verify *v)
{
	char text[128], at[TORUS_TEXT_MAX], main_at[TORUS_TEXT_MAX];
	uint32_t mainland = TORUS_NO_NODE, size[2] = { 0 };

	for (uint32_t id = 0; id < v->nodes; id++) {
		size[0] = 0;
		for (uint32_t other = id; v->island[id] == id && other < v->nodes; other++)
			size[0] += v->table.up[other] && v->island[other] == id;
		if (size[0] > size[1]) {
			mainland = id;
			size[1] = size[0];
		}
	}
	for (uint32_t id = 0; id < v->nodes; id++) {
		if (!v->table.up[id] || v->island[id] == mainland)
			continue;
		snprintf(text, sizeof(text), "%s: no links in use lead from it to %s",
			 torus_node_text(&v->table.shape, id, at),
			 torus_node_text(&v->table.shape, mainland, main_at));
		blame_node(v, id, "cut-off", text);
	}
}

static void walk_all(struct verify *v)
{
	for (uint32_t from = 0; from < v->nodes; from++) {
		if (!v->rows[from].row)
			continue;
		for (uint32_t to = 0; to < v->nodes; to++) {
			uint64_t row = v->rows[from].row[to];

			if (from == to || !v->table.up[to])
				continue;
			if (v->island[from] != v->island[to]) {
				v->apart++;
				continue;
			}
			v->pairs++;
			v->held += !!(row & TORUS_ROW_HOLD);
			path_walk(&v->path, &v->table.shape, v->table.port, from, to, row,
				  row_of, v);
			if (v->path.end != TORUS_WALK_ARRIVED)
				blame_pair(v, from, to);
		}
	}
}

static int report(const struct ctl *ctl, struct verify *v)
{
	size_t i, n = json_array_size(v->culprits);
	json_t *c;

	if (ctl->json) {
		json_show(json_pack("{sb sI sI sI sI si sO}", "ok", n == 0, "version",
				    (json_int_t)v->table.version, "pairs", (json_int_t)v->pairs,
				    "held", (json_int_t)v->held, "cut_off_pairs",
				    (json_int_t)v->apart, "nodes", v->read, "culprits",
				    v->culprits));
		return n ? PROBLEM : OK;
	}
	json_array_foreach(v->culprits, i, c) {
		if (i == SHOWN_MAX) {
			printf("... and %zu more; --json lists all\n", n - i);
			break;
		}
		printf("%s%-10s%s %s\n", paint(BAD), json_text(c, "kind"), paint(PLAIN),
		       json_text(c, "text"));
	}
	printf("%" PRIu64 " pairs of %u nodes walked, table version %" PRIu64 ": %s%s%s",
	       v->pairs, v->read, v->table.version, paint(n ? BAD : GOOD),
	       n ? "" : "all arrive, in direction order, over no dead link", paint(PLAIN));
	if (n)
		printf("%s%zu culprit%s%s", paint(BAD), n, n == 1 ? "" : "s", paint(PLAIN));
	if (v->held)
		printf("; %" PRIu64 " on hold", v->held);
	putchar('\n');
	return n ? PROBLEM : OK;
}

static int verify(const struct ctl *ctl, struct verify *v)
{
	if (exclusions_get(&v->ask, &v->table))
		return CANNOT;
	v->nodes = torus_nodes(&v->table.shape);
	v->rows = calloc(v->nodes, sizeof(*v->rows));
	v->culprits = json_array();
	v->island = calloc(v->nodes, sizeof(*v->island));
	if (!v->rows || !v->culprits || !v->island || path_init(&v->path, &v->table.shape))
		return fail("out of memory");
	if (read_all(v))
		return CANNOT;
	find_islands(v);
	blame_islands(v);
	walk_all(v);
	return report(ctl, v);
}

static int cmd_verify(struct ctl *ctl, int argc, char **argv)
{
	struct verify v = { .nodes = 0 };
	int status;

	(void)argc;
	(void)argv;
	if (ask_open(ctl, &v.ask))
		return CANNOT;
	status = verify(ctl, &v);
	for (uint32_t id = 0; v.rows && id < v.nodes; id++)
		rows_free(&v.rows[id]);
	free(v.rows);
	free(v.island);
	json_decref(v.culprits);
	path_free(&v.path);
	exclusions_free(&v.table);
	ask_close(&v.ask);
	return status;
}

COMMAND(cmd_verify) = {
	.name = "verify",
	.args = "",
	.brief = "Walk every pair of nodes by the rows really in the NICs",
	.help = "Every pair of nodes that are up must arrive, in direction order, over no excluded\n"
		"link, and all rows must be of the table's version. Exit status 1 and a list of\n"
		"culprits otherwise.",
	.asks = true,
	.json = true,
	.run = cmd_verify,
};
