// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the rows of every NIC, and proves them for all pairs of nodes that are up. If a row is
 * wrong, its node is named.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "json.h"
#include "output.h"
#include "path.h"
#include "rows.h"

#define SHOWN_MAX 20

struct verify {
	struct ask ask;
	struct exclusions table;
	struct torus_health *health;
	uint32_t nodes;
	struct rows *rows;
	const uint64_t **row;		/* rows of each node, NULL: not read */
	struct torus_verified found;
	json_t *culprits;
	uint64_t held;
	uint32_t read;
};

static const char *wrong_name(enum torus_wrong what)
{
	switch (what) {
	case TORUS_WRONG_RING:
		return "ring";
	case TORUS_WRONG_RELAY:
		return "relay";
	case TORUS_WRONG_ESCAPE:
		return "escape";
	case TORUS_WRONG_CYCLE:
		return "cycle";
	default:
		return path_end_name((enum torus_walk_end)what);
	}
}

static void add_culprit(struct verify *v, uint32_t node, const char *kind, const char *text)
{
	json_array_append_new(v->culprits, json_pack("{ss so sn ss sn}", "kind", kind, "node",
			      json_node(&v->table.shape, node), "to", "text", text, "row"));
}

static void blame_row(void *arg, const struct torus_culprit *w)
{
	struct verify *v = arg;
	const struct torus_shape *shape = &v->table.shape;
	char a[TORUS_TEXT_MAX], b[TORUS_TEXT_MAX], c[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	char text[5 * TORUS_TEXT_MAX], hex[20];
	int len = snprintf(text, sizeof(text), "%s to %s: %s", json_id_text(shape, w->from, a),
			   json_id_text(shape, w->to, b), torus_wrong_text(w->what));

	if (w->node < v->nodes && w->port < 2 * shape->ndims && len > 0 &&
	    (size_t)len < sizeof(text))
		snprintf(text + len, sizeof(text) - (size_t)len, " at %s:%s",
			 json_id_text(shape, w->node, c),
			 torus_port_text(shape->ndims, w->port, port));
	snprintf(hex, sizeof(hex), "%016" PRIx64, w->row);
	json_array_append_new(v->culprits, json_pack("{ss so so ss ss}", "kind",
			      wrong_name(w->what), "node", json_node(shape, w->from), "to",
			      json_node(shape, w->to), "text", text, "row", hex));
}

static void check_row_version(struct verify *v, uint32_t node)
{
	char text[128], at[TORUS_TEXT_MAX];

	if (v->rows[node].version == v->table.version)
		return;
	snprintf(text, sizeof(text), "%s has rows of version %" PRIu64 ", the table is %" PRIu64,
		 json_id_text(&v->table.shape, node, at), v->rows[node].version,
		 v->table.version);
	add_culprit(v, node, "version", text);
}

static void take_node(struct verify *v, uint32_t node)
{
	char text[128], at[TORUS_TEXT_MAX];

	if (!v->table.up[node])
		return;
	if (!v->rows[node].row && v->ask.rootless)
		return;
	if (!v->rows[node].row) {
		snprintf(text, sizeof(text), "%s: its rows cannot be read",
			 json_id_text(&v->table.shape, node, at));
		add_culprit(v, node, "unreadable", text);
		return;
	}
	v->read++;
	v->row[node] = v->rows[node].row;
	check_row_version(v, node);
}

/* Reads the rows of all nodes: each question is about as many nodes as an answer has room for. */
static int read_all_rows(struct verify *v)
{
	struct rows_reader reader = { .ask = &v->ask, .shape = &v->table.shape };
	int status = OK;
	uint32_t n;

	for (uint32_t first = 0; first < v->nodes; first += n) {
		progress("reading rows of node %u of %u", first, v->nodes);
		status = rows_get_some(&reader, first, v->rows + first, &n);
		for (uint32_t id = first; id < first + n; id++)
			take_node(v, id);
	}
	progress("%s", "");
	if (v->read)
		return OK;
	fail("no NIC's rows could be read: nothing is verified");
	return status == OK ? PROBLEM : status;
}

static bool is_cable_excluded(const struct verify *v, uint32_t id)
{
	return v->table.out[id];
}

/* Return: true if an administrator has excluded the whole node, which is not a problem. */
static bool is_node_out(const struct verify *v, uint32_t id)
{
	return v->table.up[id] && v->table.out[id];
}

/* Return: the lowest of all nodes with which the node is connected, to name its island. */
static uint32_t island_of(struct verify *v, uint32_t id)
{
	return torus_health_component(v->health, id);
}

static void blame_islands(struct verify *v)
{
	char text[128], at[TORUS_TEXT_MAX], main_at[TORUS_TEXT_MAX];
	uint32_t mainland = TORUS_NO_NODE, size[2] = { 0 };

	for (uint32_t id = 0; id < v->nodes; id++) {
		size[0] = 0;
		for (uint32_t other = id; island_of(v, id) == id && other < v->nodes; other++)
			size[0] += v->table.up[other] && !is_node_out(v, other) &&
				   island_of(v, other) == id;
		if (size[0] > size[1]) {
			mainland = id;
			size[1] = size[0];
		}
	}
	for (uint32_t id = 0; id < v->nodes; id++) {
		if (!v->table.up[id] || is_node_out(v, id) || island_of(v, id) == mainland)
			continue;
		snprintf(text, sizeof(text), "%s: no links in use lead from it to %s",
			 json_id_text(&v->table.shape, id, at),
			 json_id_text(&v->table.shape, mainland, main_at));
		add_culprit(v, id, "cut-off", text);
	}
}

static int prove_rows(struct verify *v)
{
	struct torus_tables tables = { .rows = v->row };
	struct torus_verify what = {
		.shape = &v->table.shape, .excluded = v->table.port, .tables = &tables, .n = 1,
		.up = v->table.up, .culprit = blame_row, .arg = v,
	};

	for (uint32_t from = 0; from < v->nodes; from++)
		for (uint32_t to = 0; v->row[from] && to < v->nodes; to++)
			v->held += from != to && v->table.up[to] &&
				   v->row[from][to] & TORUS_ROW_HOLD;
	return torus_verify(&what, &v->found);
}

/* Return: true if that node is up, and its rows have not been read. */
static bool is_unread(const struct verify *v, uint32_t id)
{
	return v->table.up[id] && !v->row[id];
}

static json_t *list_json(const struct verify *v, bool (*is)(const struct verify *v, uint32_t id))
{
	json_t *list = json_array();

	for (uint32_t id = 0; id < v->nodes; id++)
		if (is(v, id))
			json_array_append_new(list, json_node(&v->table.shape, id));
	return list;
}

static void show_out(const struct verify *v)
{
	char at[TORUS_TEXT_MAX];

	for (uint32_t id = 0; id < v->nodes; id++)
		if (is_cable_excluded(v, id))
			printf("%sexcluded%s   %s: an admin took it out\n", paint(DOUBTFUL),
			       paint(PLAIN), json_id_text(&v->table.shape, id, at));
}

/* Gets " (NAME)" of a node, TORUS_TEXT_MAX bytes; "" if the name is not known or shown anyway. */
static void put_own_name(struct verify *v, const json_t *node, char *buf)
{
	char at[TORUS_TEXT_MAX], shown[TORUS_TEXT_MAX];
	json_t *data = NULL;
	const char *name;

	*buf = '\0';
	json_coords_text(node, at);
	if (strcmp(json_node_text(node, shown), at) || v->ask.rootless ||
	    ask(&v->ask, json_pack("{ss ss}", "cmd", "nodes", "node", at), &data) != OK)
		return;
	name = json_text(json_array_get(data, 0), "name");
	if (name && *name)
		snprintf(buf, TORUS_TEXT_MAX, " (%.*s)", TORUS_TEXT_MAX - 4, name);
	json_decref(data);
}

/* Prints the nodes that are not up: the proof is not about them. */
static void show_missing(struct verify *v)
{
	const json_t *list = v->table.missing;
	char at[TORUS_TEXT_MAX], name[TORUS_TEXT_MAX];
	json_t *node;
	size_t i;

	json_array_foreach(list, i, node) {
		if (i == SHOWN_MAX) {
			printf("... and %zu more; --json lists all\n", json_array_size(list) - i);
			break;
		}
		put_own_name(v, json_object_get(node, "node"), name);
		printf("%smissing%s    %s%s is %s: its rows are not read\n", paint(DOUBTFUL),
		       paint(PLAIN), json_node_text(json_object_get(node, "node"), at), name,
		       json_text(node, "state"));
	}
}

static json_t *missing_json(const struct verify *v)
{
	json_t *list = json_array(), *node;
	size_t i;

	json_array_foreach(v->table.missing, i, node)
		json_array_append(list, json_object_get(node, "node"));
	return list;
}

/* Prints the result. Without a root it proves little, so the exit status is never OK. */
static void show_verdict(const struct verify *v, size_t culprits)
{
	uint32_t unread = 0;

	for (uint32_t id = 0; id < v->nodes; id++)
		unread += is_unread(v, id);
	printf("%" PRIu64 " pairs of %u node%s walked, table version %" PRIu64 ": ",
	       v->found.pairs, v->read, v->read == 1 ? "" : "s", v->table.version);
	if (culprits)
		printf("%s%zu culprit%s%s", paint(BAD), culprits, culprits == 1 ? "" : "s",
		       paint(PLAIN));
	else if (v->ask.rootless)
		printf("%sno culprit among these, by a table that may be old%s", paint(DOUBTFUL),
		       paint(PLAIN));
	else
		printf("%sall arrive, over no dead link, and nothing can deadlock%s", paint(GOOD),
		       paint(PLAIN));
	if (v->ask.rootless && unread)
		printf("; %snothing is known of the rows of %u other node%s%s", paint(BAD), unread,
		       unread == 1 ? "" : "s", paint(PLAIN));
	if (v->held)
		printf("; %" PRIu64 " on hold", v->held);
	putchar('\n');
}

static json_t *verdict_json(const struct verify *v)
{
	bool ok = !json_array_size(v->culprits) && !v->ask.rootless;

	return json_pack("{sb sI sI sI sI si sI sI si so so so sb sO}", "ok", ok, "version",
			 (json_int_t)v->table.version, "pairs",
			 (json_int_t)v->found.pairs, "held", (json_int_t)v->held,
			 "cut_off_pairs", (json_int_t)v->found.apart, "nodes", v->read,
			 "relayed", (json_int_t)v->found.relayed, "adaptive",
			 (json_int_t)v->found.adaptive, "hops_max", v->found.hops_max,
			 "excluded", list_json(v, is_cable_excluded), "unread",
			 list_json(v, is_unread), "missing", missing_json(v),
			 "rootless", v->ask.rootless, "culprits", v->culprits);
}

static int report_verdict(const struct ctl *ctl, struct verify *v)
{
	size_t i, n = json_array_size(v->culprits);
	json_t *c;

	if (ctl->json) {
		json_show(verdict_json(v));
		return n ? PROBLEM : OK;
	}
	show_out(v);
	show_missing(v);
	json_array_foreach(v->culprits, i, c) {
		if (i == SHOWN_MAX) {
			printf("... and %zu more; --json lists all\n", n - i);
			break;
		}
		printf("%s%-10s%s %s\n", paint(BAD), json_text(c, "kind"), paint(PLAIN),
		       json_text(c, "text"));
	}
	show_verdict(v, n);
	return n ? PROBLEM : OK;
}

static int verify_fabric(const struct ctl *ctl, struct verify *v)
{
	int status = exclusions_get(&v->ask, &v->table);

	if (status != OK)
		return status;
	v->nodes = torus_nodes(&v->table.shape);
	v->rows = calloc(v->nodes, sizeof(*v->rows));
	v->row = calloc(v->nodes, sizeof(uint64_t *));
	v->culprits = json_array();
	if (!v->rows || !v->row || !v->culprits ||
	    torus_health_new(&v->table.shape, v->table.port, &v->health))
		return fail("out of memory");
	status = read_all_rows(v);
	if (status != OK)
		return status;
	blame_islands(v);
	if (prove_rows(v))
		return fail("out of memory");
	return report_verdict(ctl, v);
}

static int cmd_verify(struct ctl *ctl, int argc, char **argv)
{
	struct verify v = { .nodes = 0 };
	int status;

	(void)argc;
	(void)argv;
	status = ask_open(ctl, &v.ask);
	if (status != OK)
		return status;
	status = verify_fabric(ctl, &v);
	if (status == PROBLEM && json_array_size(v.culprits))
		job_warn_apart(&v.ask);
	if (status == OK && v.ask.rootless)	/* the table may be out of date */
		status = PROBLEM;
	for (uint32_t id = 0; v.rows && id < v.nodes; id++)
		rows_free(&v.rows[id]);
	free(v.rows);
	free(v.row);
	torus_health_free(v.health);
	json_decref(v.culprits);
	exclusions_free(&v.table);
	ask_close(&v.ask);
	return status;
}

COMMAND(cmd_verify) = {
	.name = "verify",
	.args = "",
	.brief = "Check the routes in all NICs: every pair connected, no deadlock",
	.help = "Reads the routes (routing rows) from the NICs of all nodes, and checks that\n"
		" - between all nodes that are up, packets arrive, in the fixed order of\n"
		"   directions, over no excluded link, through relay nodes where needed, and\n"
		"   wherever adaptive routing may send them;\n"
		" - links cannot wait for each other in a circle (deadlock);\n"
		" - all routes were computed from the version of the table that is in force.\n"
		"If not, the exit status is 1, and each NIC with a wrong route is named. A node\n"
		"that an administrator took out of service is shown as excluded, and one that is\n"
		"not up as missing; neither is an error.\n"
		"Without a root, the manager that is asked checks the NICs that it can reach, and\n"
		"says so; the exit status is 1.",
	.asks = true,
	.json = true,
	.run = cmd_verify,
};
