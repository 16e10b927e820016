// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>

#include "json.h"
#include "output.h"
#include "path.h"
#include "rows.h"
#include "table.h"

/* struct view - what to show: all rows of a node, or the row to one destination. */
struct view {
	struct torus_shape shape;
	uint32_t node;
	uint32_t first, last;
	struct rows rows;
};

static uint32_t count_hops(const struct view *v, uint32_t to, uint64_t row)
{
	bool relay = row & TORUS_ROW_RELAY;
	uint32_t n = 0;

	if (relay)
		to = row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK;
	torus_walk(&v->shape, NULL, v->node, to, row, NULL, 0, &n);
	return n;
}

static json_t *step_json(const struct view *v, uint64_t row, unsigned int shift)
{
	char text[TORUS_TEXT_MAX];
	int step = rows_step(row, shift);

	if (step < 0 || step >= 2 * v->shape.ndims)
		return json_null();
	return json_string(torus_port_text(v->shape.ndims, (unsigned int)step, text));
}

static json_t *relay_json(const struct view *v, uint64_t row)
{
	uint32_t relay = row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK;

	if (!(row & TORUS_ROW_RELAY) || relay >= torus_nodes(&v->shape))
		return json_null();
	return json_node(&v->shape, relay);
}

static json_t *row_json(const struct view *v, uint32_t to)
{
	uint64_t row = v->rows.row[to];
	unsigned int n = v->shape.ndims;
	char hex[20];

	snprintf(hex, sizeof(hex), "%016" PRIx64, row);
	return json_pack("{so sb sb sb so so so so so si ss}", "to", json_node(&v->shape, to),
			 "valid", !!(row & TORUS_ROW_VALID), "hold", !!(row & TORUS_ROW_HOLD),
			 "adaptive", !!(row & TORUS_ROW_ADAPTIVE), "dirs",
			 rows_dirs_json(n, row & TORUS_ROW_DIR_MASK), "first",
			 step_json(v, row, TORUS_ROW_FIRST_SHIFT), "last",
			 step_json(v, row, TORUS_ROW_LAST_SHIFT), "adaptive_dirs",
			 rows_dirs_json(n, row >> TORUS_ROW_ADAPT_SHIFT & TORUS_ROW_DIR_MASK),
			 "via", relay_json(v, row), "length",
			 row & TORUS_ROW_VALID ? (int)count_hops(v, to, row) : 0, "row", hex);
}

static json_t *routes_json(const struct view *v, bool rootless)
{
	json_t *list = json_array();

	for (uint32_t to = v->first; to <= v->last; to++)
		json_array_append_new(list, row_json(v, to));
	return json_pack("{so sI so sb}", "node", json_node(&v->shape, v->node), "version",
			 (json_int_t)v->rows.version, "rows", list, "rootless", rootless);
}

static void step_cell(struct table *t, const struct view *v, uint64_t row, unsigned int shift)
{
	char text[TORUS_TEXT_MAX];
	int step = rows_step(row, shift);

	if (step < 0)
		table_cell(t, FAINT, "-");
	else
		table_cell(t, PLAIN, "%s",
			   torus_port_text(v->shape.ndims, (unsigned int)step, text));
}

static void print_route(struct table *t, const struct view *v, uint32_t to)
{
	uint64_t row = v->rows.row[to];
	unsigned int adaptive = row >> TORUS_ROW_ADAPT_SHIFT & TORUS_ROW_DIR_MASK;
	unsigned int n = v->shape.ndims;
	char text[TORUS_TEXT_MAX];

	table_cell(t, PLAIN, "%s", json_id_text(&v->shape, to, text));
	if (!(row & TORUS_ROW_VALID)) {
		table_cell(t, BAD, "no way");
		for (int i = 0; i < 6; i++)
			table_cell(t, FAINT, "-");
		return;
	}
	table_cell(t, PLAIN, "%s", rows_dirs_text(n, row & TORUS_ROW_DIR_MASK, text));
	step_cell(t, v, row, TORUS_ROW_FIRST_SHIFT);
	step_cell(t, v, row, TORUS_ROW_LAST_SHIFT);
	table_cell(t, PLAIN, "%u", count_hops(v, to, row));
	table_cell(t, FAINT, "%s",
		   row & TORUS_ROW_ADAPTIVE ? rows_dirs_text(n, adaptive, text) : "-");
	if (row & TORUS_ROW_RELAY)
		table_cell(t, DOUBTFUL, "%s", json_id_text(&v->shape,
			   (uint32_t)(row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK), text));
	else
		table_cell(t, FAINT, "-");
	table_cell(t, DOUBTFUL, "%s", row & TORUS_ROW_HOLD ? "hold" : "-");
}

static void show_routes(const struct view *v)
{
	static const char *const titles[] = { "TO", "DIRECTIONS", "FIRST", "LAST", ">HOPS",
					      "ADAPTIVE", "VIA", "HOLD", NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX];

	printf("rows in the NIC of %s, version %" PRIu64 "\n",
	       json_id_text(&v->shape, v->node, text), v->rows.version);
	for (uint32_t to = v->first; to <= v->last; to++)
		print_route(t, v, to);
	table_print(t, "no rows");
}

static int find_coords(struct ask *a, const struct torus_shape *shape, const char *text,
		       uint32_t *id)
{
	struct torus_coords at;
	char node[TORUS_TEXT_MAX];
	int status = ask_node(a, text, node);

	if (status != OK)
		return status;
	if (torus_coords_parse(node, shape, &at))
		return fail("node '%s' has no coordinates in this fabric", text);
	*id = torus_node_id(shape, &at);
	return OK;
}

static int look_up_rows(struct ask *a, struct view *v, int argc, char **argv)
{
	int status = ask_shape(a, &v->shape);

	if (status == OK)
		status = find_coords(a, &v->shape, argv[0], &v->node);
	if (status != OK)
		return status;
	v->first = 0;
	v->last = torus_nodes(&v->shape) - 1;
	if (argc > 1) {
		status = find_coords(a, &v->shape, argv[1], &v->first);
		if (status != OK)
			return status;
		v->last = v->first;
	}
	return rows_get(a, &v->shape, v->node, &v->rows);
}

static int cmd_routes(struct ctl *ctl, int argc, char **argv)
{
	struct view v = { 0 };
	struct ask a;
	int status;

	status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = look_up_rows(&a, &v, argc, argv);
	if (status == OK) {
		ask_label(&a, ctl->json);
		if (ctl->json)
			json_show(routes_json(&v, a.rootless));
		else
			show_routes(&v);
		status = ask_status(&a);
	}
	rows_free(&v.rows);
	ask_close(&a);
	return status;
}

COMMAND(cmd_routes) = {
	.name = "routes",
	.args = "NODE [DESTINATION]",
	.brief = "The routes of a node, as its NIC holds them",
	.help = "One line (a routing row) for each destination, read from the NIC and not\n"
		"computed anew. A packet takes the FIRST step, if there is one, then all steps in\n"
		"each of the directions DIRECTIONS, in the fixed order +x +y +z ... -x -y -z ...,\n"
		"then the LAST step. ADAPTIVE: the directions that packets of the adaptive\n"
		"virtual channel (VCA) may also take. HOLD: packets to this destination wait at\n"
		"the source until a recovery ends. Without a root, the manager that is asked\n"
		"reads those NICs that it can reach; the exit status is 1, or 5 if NODE is not\n"
		"among them.",
	.min = 1,
	.max = 2,
	.asks = true,
	.json = true,
	.run = cmd_routes,
};
