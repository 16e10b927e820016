// SPDX-License-Identifier: GPL-2.0-only
#include <stdint.h>
#include <stdio.h>

#include "json.h"
#include "map.h"
#include "orders.h"
#include "show.h"
#include "table.h"

static bool all;

/** struct columns - titles, which the table needs until it is printed */
struct columns {
	const char *titles[4 + TORUS_MAX_PORTS];
	char port[TORUS_MAX_PORTS][TORUS_TEXT_MAX];
};

static struct table *new_table(unsigned int ndims, struct columns *c)
{
	*c = (struct columns) { .titles = { "NODE", "STATE", ">BITS" } };
	for (unsigned int p = 0; p < 2 * ndims; p++)
		c->titles[3 + p] = torus_port_text(ndims, p, c->port[p]);
	return table_new(c->titles);
}

/* Return: a bit for each port that is excluded; the lowest is that of +x. */
static unsigned int bits_of(const json_t *node, unsigned int ndims)
{
	json_t *ports = json_object_get(node, "ports");
	char text[TORUS_TEXT_MAX];
	unsigned int bits = 0;

	for (unsigned int p = 0; p < 2 * ndims; p++)
		if (json_object_get(ports, torus_port_text(ndims, p, text)))
			bits |= 1u << p;
	return bits;
}

static void print_row(struct table *t, const json_t *node, unsigned int ndims)
{
	json_t *ports = json_object_get(node, "ports");
	const char *state = json_text(node, "state");
	char text[TORUS_TEXT_MAX];

	table_cell(t, PLAIN, "%s", json_node_text(json_object_get(node, "node"), text));
	table_cell(t, state ? map_colour(state) : FAINT, "%s", state ? state : "-");
	table_cell(t, PLAIN, "%0*x", (int)(2 * ndims + 3) / 4, bits_of(node, ndims));
	for (unsigned int p = 0; p < 2 * ndims; p++) {
		const char *why = json_text(ports, torus_port_text(ndims, p, text));

		table_cell(t, why ? DOUBTFUL : FAINT, "%s", why ? why : ".");
	}
}

static void print_table(const json_t *data)
{
	json_t *nodes = json_object_get(data, "nodes"), *v;
	struct torus_shape shape;
	char text[TORUS_TEXT_MAX];
	struct columns columns;
	unsigned int n = 0;
	struct table *t;
	size_t i;

	if (json_shape_read(json_object_get(data, "shape"), &shape)) {
		warn("the answer is not an exclusion table");
		return;
	}
	t = new_table(shape.ndims, &columns);
	json_array_foreach(nodes, i, v) {
		unsigned int bits = bits_of(v, shape.ndims);

		n += (unsigned int)__builtin_popcount(bits);
		if (bits || all)
			print_row(t, v, shape.ndims);
	}
	printf("version %llu of epoch %llu, %s: %zu nodes of %u ports, %u of %zu ports excluded\n",
	       (unsigned long long)json_count(data, "version"),
	       (unsigned long long)json_count(data, "epoch"), torus_shape_text(&shape, text),
	       json_array_size(nodes), 2u * shape.ndims, n,
	       json_array_size(nodes) * 2 * shape.ndims);
	table_print(t, "no port is excluded");
	if (json_array_size(json_object_get(data, "orders")))
		printf("\nby order of an administrator:\n");
	orders_show(json_object_get(data, "orders"), "", SIZE_MAX);
}

static int cmd_table(struct ctl *ctl, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return show_answer(ctl, "table", NULL, print_table);
}

static const struct opt opts[] = {
	{ OPT_FLAG, "all", 'a', NULL, &all, 0, 0, "nodes without an excluded port, too" },
	{ .kind = OPT_END },
};

COMMAND(cmd_table) = {
	.name = "table",
	.args = "",
	.brief = "Which ports must not be used, and why (the exclusion table)",
	.help = "One line for each node, one mark for each of its ports. Every node computes its\n"
		"routes from this table. Reasons: admin (excluded by an administrator), wiring\n"
		"(its cable leads to a wrong port), held (it fails again and again), stall (taken\n"
		"down because the neighbour freed no buffer), fault (it is down, or its node is\n"
		"dead). A link excluded at one end is excluded at both. Below it: which user\n"
		"excluded what, at which node, when, and why.",
	.opts = opts,
	.asks = true,
	.json = true,
	.watch = true,
	.run = cmd_table,
};
