// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <torus/torus.h>

#include "json.h"
#include "local.h"
#include "number.h"
#include "output.h"
#include "show.h"
#include "table.h"

static bool local;

static void put_count(struct table *t, const json_t *c, const char *key, bool good)
{
	uint64_t n = json_count(c, key);
	char text[32];

	table_cell(t, n ? good ? PLAIN : DOUBTFUL : FAINT, "%s", count_text(n, text));
}

static void print_counters(const json_t *all)
{
	static const char *const titles[] = {
		"NODE", ">INJECTED", ">DELIVERED", ">FORWARDED", ">?RELAYED", ">?PARKED",
		">?REPLAYED", ">?UNREACHABLE", ">?REORDERED", ">?DUPLICATES", ">?LOST", ">?DROPS",
		NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(all, i, v) {
		table_cell(t, PLAIN, "%s", json_node_text(json_object_get(v, "node"), text));
		put_count(t, v, "injected", true);
		put_count(t, v, "delivered", true);
		put_count(t, v, "forwarded", true);
		put_count(t, v, "relay_forwarded", true);
		put_count(t, v, "parked", false);
		put_count(t, v, "replayed", false);
		put_count(t, v, "unreachable", false);
		put_count(t, v, "reordered", false);
		put_count(t, v, "duplicates", false);
		put_count(t, v, "lost", false);
		put_count(t, v, "host_drops", false);
	}
	table_print(t, "no nodes");
}

static void print_flow(const json_t *flow)
{
	static const char *const titles[] = { "IN FLIGHT, BY COLOUR", ">0", ">1", ">2", ">3",
					      NULL };
	struct table *t = table_new(titles);

	for (unsigned int i = 0; i < TORUS_FC_COUNT; i++) {
		const json_t *list = json_object_get(flow, torus_flow_counters[i].name);

		table_cell(t, PLAIN, "%s", torus_flow_counters[i].name);
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			table_cell(t, PLAIN, "%lld",
				   (long long)json_integer_value(json_array_get(list, c)));
	}
	putchar('\n');
	table_print(t, "");
}

static void print_one(const json_t *c)
{
	static const char *const titles[] = { "COUNTER", ">VALUE", "UNIT", "MEANING", NULL };
	struct table *t = table_new(titles);

	for (unsigned int i = 0; i < TORUS_NC_COUNT; i++) {
		const struct torus_counter_desc *d = &torus_node_counters[i];
		unsigned long long v = json_count(c, d->name);

		table_cell(t, v ? PLAIN : FAINT, "%s", d->name);
		table_cell(t, v ? PLAIN : FAINT, "%llu", v);
		table_cell(t, FAINT, "%s", d->unit);
		table_cell(t, FAINT, "%s", d->help);
	}
	table_print(t, "");
	print_flow(json_object_get(c, "flow"));
}

static void print_node(const json_t *all)
{
	print_one(json_array_get(all, 0));
}

static void print_each(const json_t *all)
{
	size_t i;
	json_t *v;

	json_array_foreach(all, i, v)
		print_one(v);
}

static int cmd_counters(struct ctl *ctl, int argc, char **argv)
{
	if (local && argc)
		return fail("--local asks the NIC here: leave out '%s'", argv[0]);
	if (local)
		return local_show(ctl, local_counters, NULL, print_each);
	return show_nodes(ctl, json_pack("{ss}", "cmd", "counters"), argc ? argv[0] : NULL,
			  &(struct show_nodes) { .max = ASK_NODES_MAX,
						 .show = argc ? print_node : print_counters });
}

static const struct opt opts[] = {
	{ OPT_FLAG, "local", 'l', NULL, &local, 0, 0,
	  "of the NIC of this host, without a manager" },
	{ .kind = OPT_END },
};

COMMAND(cmd_counters) = {
	.name = "counters",
	.args = "[NODE]",
	.brief = "Counters of the NICs: packets sent, received, forwarded, parked, lost",
	.help = "Without NODE, the most important ones of all nodes; with NODE, all counters of\n"
		"its NIC. They grow from the start of the NIC and are never reset. With --local,\n"
		"--lab and --node name the NIC of a lab's node.",
	.opts = opts,
	.max = 1,
	.asks = true,
	.json = true,
	.watch = true,
	.run = cmd_counters,
};
