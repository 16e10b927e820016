// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "job.h"
#include "json.h"
#include "output.h"
#include "path.h"
#include "rows.h"

struct trace {
	struct ask ask;
	struct exclusions table;
	uint32_t from, to;
	struct path path;
};

static int find_trace_end(struct trace *t, const char *text, uint32_t *id)
{
	struct torus_coords at;
	char node[TORUS_TEXT_MAX];
	int status = ask_node(&t->ask, text, node);

	if (status != OK)
		return status;
	if (torus_coords_parse(node, &t->table.shape, &at))
		return fail("node '%s' has no coordinates in this fabric", text);
	*id = torus_node_id(&t->table.shape, &at);
	return OK;
}

static bool traced_row(void *arg, uint32_t at, uint32_t to, uint64_t *row)
{
	struct trace *t = arg;
	struct rows rows;

	if (rows_get(&t->ask, &t->table.shape, at, &rows))
		return false;
	*row = rows.row[to];
	rows_free(&rows);
	return true;
}

static json_t *trace_json(const struct trace *t)
{
	const struct torus_shape *shape = &t->table.shape;
	json_t *hops = json_array(), *via = json_array();
	char port[TORUS_TEXT_MAX];

	for (uint32_t i = 0; i < t->path.n; i++)
		json_array_append_new(hops, json_pack("{so ss}", "node",
				      json_node(shape, t->path.hop[i].node), "port",
				      torus_port_text(shape->ndims, t->path.hop[i].port, port)));
	for (uint32_t i = 0; i < t->path.nvia; i++)
		json_array_append_new(via, json_node(shape, t->path.via[i]));
	return json_pack("{so si so ss so so sb}", "hops", hops, "length", t->path.n, "via", via,
			 "end", t->path.unread ? "unread" : path_end_name(t->path.end), "from",
			 json_node(shape, t->from), "to", json_node(shape, t->to), "rootless",
			 t->ask.rootless);
}

/*
 * Return: true if @node is the next relay of the path; @seen: number of relays that were passed
 * before.
 */
static bool is_relay(const struct trace *t, uint32_t node, uint32_t *seen)
{
	if (*seen == t->path.nvia || t->path.via[*seen] != node)
		return false;
	++*seen;
	return true;
}

/* Prints how the path ends and, if one of its end nodes is not up, the reason. */
static void show_why(const struct trace *t)
{
	const uint32_t ends[] = { t->from, t->to };
	char text[TORUS_TEXT_MAX];

	printf("%s%s", paint(BAD), torus_walk_end_text(t->path.end));
	for (unsigned int i = 0; i < 2; i++) {
		json_id_text(&t->table.shape, ends[i], text);
		if (t->table.out[ends[i]])
			printf(": an administrator has excluded %s", text);
		else if (!t->table.up[ends[i]])
			printf(": %s is not up", text);
	}
	printf("%s\n", paint(PLAIN));
}

static void show_trace(const struct trace *t)
{
	const struct torus_shape *shape = &t->table.shape;
	bool arrived = t->path.end == TORUS_WALK_ARRIVED;
	char text[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	uint32_t relays = 0;
	const char *arrow = wide() ? "\u2500\u2500\u25b6" : "-->";

	for (uint32_t i = 0; i < t->path.n; i++) {
		bool bad = !arrived && !t->path.unread && i + 1 == t->path.n;

		printf("%s%s %s%s%s%s ", json_id_text(shape, t->path.hop[i].node, text),
		       is_relay(t, t->path.hop[i].node, &relays) ? " (relay)" : "",
		       paint(bad ? BAD : FAINT),
		       torus_port_text(shape->ndims, t->path.hop[i].port, port), arrow,
		       paint(PLAIN));
	}
	if (t->path.unread)
		printf("%s (relay)\n%sits rows cannot be read: whether the packet arrives is not "
		       "known%s\n",
		       json_id_text(shape, t->path.via[t->path.nvia - 1], text), paint(DOUBTFUL),
		       paint(PLAIN));
	else if (arrived)
		printf("%s\n%u hop%s, shortest %u\n", json_id_text(shape, t->to, text),
		       t->path.n, t->path.n == 1 ? "" : "s",
		       torus_distance(shape, t->from, t->to));
	else
		show_why(t);
}

static int walk_trace(struct trace *t, char **argv)
{
	struct rows rows;
	int err, status = exclusions_get(&t->ask, &t->table);

	if (status == OK)
		status = find_trace_end(t, argv[0], &t->from);
	if (status == OK)
		status = find_trace_end(t, argv[1], &t->to);
	if (status == OK)
		status = rows_get(&t->ask, &t->table.shape, t->from, &rows);
	if (status != OK)
		return status;
	err = path_init(&t->path, &t->table.shape);
	if (!err)
		err = path_walk(&t->path, &t->table.shape, t->table.port, t->from, t->to,
				rows.row[t->to], traced_row, t);
	rows_free(&rows);
	return err ? fail("out of memory") : OK;
}

static int cmd_trace(struct ctl *ctl, int argc, char **argv)
{
	struct trace t = { .from = 0 };
	int status;

	(void)argc;
	status = ask_open(ctl, &t.ask);
	if (status != OK)
		return status;
	status = walk_trace(&t, argv);
	if (status == OK) {
		if (ctl->json)
			json_show(trace_json(&t));
		else
			show_trace(&t);
		if (t.path.end == TORUS_WALK_NO_ROW)
			job_warn_apart(&t.ask);
		status = t.path.end == TORUS_WALK_ARRIVED ? ask_status(&t.ask) : PROBLEM;
	}
	path_free(&t.path);
	exclusions_free(&t.table);
	ask_close(&t.ask);
	return status;
}

COMMAND(cmd_trace) = {
	.name = "trace",
	.args = "FROM TO",
	.brief = "The path that packets take from one node to another, hop by hop",
	.help = "The path is followed through the routes that the NICs hold now; no packet is\n"
		"sent. Exit status 1 if a packet would not arrive. Without a root, the manager\n"
		"that is asked reads the NICs that it can reach, and says so; the exit status is\n"
		"1, or 5 if the NIC of FROM is not among them.",
	.min = 2,
	.max = 2,
	.asks = true,
	.json = true,
	.run = cmd_trace,
};
