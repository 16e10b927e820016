// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "json.h"
#include "number.h"
#include "say.h"
#include "show.h"
#include "table.h"

static bool replay;

static void show(const json_t *all)
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

static void show_replay(const json_t *data)
{
	(void)data;
	printf("handed back to the network\n");
}

static int cmd_park(struct ctl *ctl, int argc, char **argv)
{
	if (replay && !argc)
		return fail("--replay: of which node? 'fabricctl park --replay NODE'");
	if (replay)
		return show_answer(ctl, "replay", argv[0], show_replay);
	return show_answer(ctl, "park", argc ? argv[0] : NULL, show);
}

static const struct opt opts[] = {
	{ OPT_FLAG, "replay", 'r', NULL, &replay, 0, 0,
	  "hand NODE's packets back to the network, which must be at rest" },
	{ .kind = OPT_END },
};

COMMAND(cmd_park) = {
	.name = "park",
	.args = "[NODE]",
	.brief = "Packets parked in host memory, waiting for a way",
	.help = "PARKED: packets of dead links; UNRESOLVED: of these, perhaps accepted by the peer\n"
		"already; HELD: packets at their source that wait for the end of a recovery.",
	.opts = opts,
	.max = 1,
	.asks = true,
	.json = true,
	.watch = true,
	.run = cmd_park,
};
