// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "json.h"
#include "number.h"
#include "output.h"
#include "show.h"
#include "table.h"

static bool replay, flows;

static void show_park(const json_t *all)
{
	static const char *const titles[] = { "NODE", ">PARKED", ">UNRESOLVED", ">BYTES",
					      ">OF", ">HELD", NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(all, i, v) {
		unsigned long long parked = json_count(v, "parked");

		table_cell(t, PLAIN, "%s", json_node_text(json_object_get(v, "node"), text));
		table_cell(t, parked ? DOUBTFUL : FAINT, "%llu", parked);
		table_cell(t, PLAIN, "%llu", (unsigned long long)json_count(v, "unresolved"));
		table_cell(t, PLAIN, "%s", bytes_text(json_count(v, "bytes"), text));
		table_cell(t, FAINT, "%s", bytes_text(json_count(v, "bytes_max"), text));
		table_cell(t, PLAIN, "%llu", (unsigned long long)json_count(v, "held"));
	}
	table_print(t, "no nodes");
}

static void print_parked(struct table *t, const json_t *node, const json_t *f)
{
	char text[TORUS_TEXT_MAX];

	table_cell(t, PLAIN, "%s", json_node_text(node, text));
	table_cell(t, PLAIN, "%s", json_node_text(json_object_get(f, "from"), text));
	table_cell(t, PLAIN, "%s", json_node_text(json_object_get(f, "to"), text));
	table_cell(t, PLAIN, "%s", json_text(f, "vc"));
	table_cell(t, DOUBTFUL, "%llu", (unsigned long long)json_count(f, "packets"));
	table_cell(t, PLAIN, "%s", bytes_text(json_count(f, "bytes"), text));
	table_cell(t, PLAIN, "%s ago", duration_text((double)json_count(f, "age") / 1e9, text));
}

/* Prints a line for each flow; NICs of earlier releases do not report flows. */
static void show_flows(const json_t *all)
{
	static const char *const titles[] = { "NODE", "FROM", "TO", "VC", ">PACKETS", ">BYTES",
					      ">SINCE", NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX];
	size_t i, k;
	json_t *v, *f;

	json_array_foreach(all, i, v) {
		const json_t *node = json_object_get(v, "node");
		const json_t *list = json_object_get(v, "flows");

		if (json_count(v, "parked") && !json_is_array(list))
			warn("%s: its NIC does not report to which flows its packets belong",
			     json_node_text(node, text));
		if (json_is_array(list) && json_count(v, "unresolved"))
			warn("%s: %llu of these packets are unresolved (RETRY buffer): the peer "
			     "may have accepted them, and the counter 'parked' does not count them "
			     "yet",
			     json_node_text(node, text),
			     (unsigned long long)json_count(v, "unresolved"));
		if (json_count(v, "more"))
			warn("%s: %llu packets more, of other flows", json_node_text(node, text),
			     (unsigned long long)json_count(v, "more"));
		json_array_foreach(list, k, f)
			print_parked(t, node, f);
	}
	table_print(t, "no packet is parked");
}

static void show_replay(const json_t *data)
{
	unsigned long long parked = json_count(data, "parked");

	if (parked)
		printf("%llu packet%s handed back to the network\n", parked, parked > 1 ? "s" : "");
	else
		printf("no packet is parked there\n");
}

static int cmd_park(struct ctl *ctl, int argc, char **argv)
{
	if (replay && !argc)
		return fail("--replay: of which node? 'fabricctl park --replay NODE'");
	if (replay && flows)
		return fail("--replay and --flows exclude each other");
	if (flows)
		return show_nodes(ctl, json_pack("{ss sb}", "cmd", "park", "flows", true),
				  argc ? argv[0] : NULL,
				  &(struct show_nodes) { .show = show_flows });
	if (replay)
		return show_answer(ctl, "replay", argv[0], show_replay);
	return show_answer(ctl, "park", argc ? argv[0] : NULL, show_park);
}

static const struct opt opts[] = {
	{ OPT_FLAG, "replay", 'r', NULL, &replay, 0, 0,
	  "hand NODE's packets back to the network, which must be at rest" },
	{ OPT_FLAG, "flows", 'F', NULL, &flows, 0, 0,
	  "to which flows they belong, where and since when they are parked" },
	{ .kind = OPT_END },
};

COMMAND(cmd_park) = {
	.name = "park",
	.args = "[NODE]",
	.brief = "Packets that wait in host memory until there is a path for them",
	.help = "PARKED: packets whose next link died, kept in the host memory of the node before\n"
		"it. UNRESOLVED: those of them that the other end may have received already, so\n"
		"that sending them again now could duplicate them. HELD: packets kept at their\n"
		"source until a recovery ends. With --flows: source and destination of the parked\n"
		"packets, up to 32 pairs for each node. Usually a recovery sends them on within\n"
		"milliseconds; --replay does it by hand.",
	.opts = opts,
	.max = 1,
	.asks = true,
	.json = true,
	.watch = true,
	.run = cmd_park,
};
