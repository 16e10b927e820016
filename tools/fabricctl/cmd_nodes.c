// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "map.h"
#include "number.h"
#include "output.h"
#include "show.h"
#include "table.h"
#include "wave.h"

static bool map;
static int found;	/* the exit status, which depends on the nodes that were shown */

/* Prints how long ago the last message of the node came. */
static void show_last_alive(struct table *t, const json_t *ms)
{
	double is = json_number_value(ms);
	char text[32];

	if (!json_is_number(ms))
		table_cell(t, FAINT, "-");
	else if (is < 1)
		table_cell(t, FAINT, "now");
	else
		table_cell(t, DOUBTFUL, "%s ago", duration_text(is / 1e3, text));
}

/*
 * Sets the exit status if a node is not up or a node is excluded. Return: @nodes, a new reference.
 */
static json_t *judge_nodes(const json_t *nodes)
{
	size_t i;
	json_t *v;

	json_array_foreach(nodes, i, v) {
		const char *state = json_text(v, "state");

		if (json_is_true(json_object_get(v, "excluded")))
			found = found == OK ? NOT_KEPT : found;
		else if (!state || strcmp(state, "up"))
			found = PROBLEM;
	}
	return json_incref((json_t *)nodes);
}

static void print_nodes(const json_t *nodes)
{
	static const char *const titles[] = { "NODE",	"NAME",	  "STATE", ">?HEARD",  "ADDRESS",
					      ">TABLE", "PARENT", "GUID",  "SOFTWARE", NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX], left[32];
	size_t i;
	json_t *v;

	json_array_foreach(nodes, i, v) {
		const char *state = table_or_dash(json_text(v, "state"));
		bool out = json_is_true(json_object_get(v, "excluded"));
		double until = (double)json_count(v, "until");

		table_cell(t, PLAIN, "%s", json_coords_text(json_object_get(v, "node"), text));
		table_cell(t, STRONG, "%s", table_or_dash(json_text(v, "name")));
		table_cell(t, out ? DOUBTFUL : map_colour(state), "%s%s%s%s%s", state,
			   out ? " (excluded" : "", out && until > 0 ? " for " : "",
			   out && until > 0 ? left_text(until, left) : "",
			   out ? ")" : "");
		show_last_alive(t, json_object_get(v, "heard_ms"));
		table_cell(t, PLAIN, "%s", table_or_dash(json_text(v, "address")));
		if (json_is_integer(json_object_get(v, "table_version")))
			table_cell(t, PLAIN, "%llu",
				   (unsigned long long)json_count(v, "table_version"));
		else
			table_cell(t, FAINT, "-");
		table_cell(t, PLAIN, "%s", json_node_text(json_object_get(v, "parent"), text));
		table_cell(t, PLAIN, "%s", table_or_dash(json_text(v, "guid")));
		table_cell(t, PLAIN, "%s", table_or_dash(json_text(v, "software")));
	}
	table_print(t, "no nodes yet: the fabric is still bootstrapping");
}

/* --- before the node has a table of the root ----------------------------------- */

/* Return: the item of a neighbour, to which several cables may lead; NULL if it has no item yet. */
static json_t *find_item(const json_t *list, const json_t *guid)
{
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v)
		if (json_array_size(json_object_get(v, "ports")) &&
		    json_equal(json_object_get(v, "guid"), guid))
			return v;
	return NULL;
}

static void add_neighbour(json_t *list, const json_t *n)
{
	json_t *item = find_item(list, json_object_get(n, "guid"));

	if (!item) {
		item = json_pack("{sb sn sO? sO? sO? sO? sb s[]}", "preliminary", 1, "node",
				 "position", json_object_get(n, "position"),
				 "name", json_object_get(n, "name"),
				 "guid", json_object_get(n, "guid"),
				 "confirmed", json_object_get(n, "confirmed"),
				 "agrees", 1, "ports");
		json_array_append_new(list, item);
	}
	json_array_append(json_object_get(item, "ports"), json_object_get(n, "port"));
	if (!json_is_true(json_object_get(n, "agrees")))
		json_object_set_new(item, "agrees", json_false());
}

/* Return: this node, and each neighbour that has sent an Init. */
static json_t *early_nodes(const json_t *own)
{
	const json_t *wave = json_object_get(own, "wave");
	json_t *list = json_array(), *v;
	size_t i;

	json_array_append_new(list, json_pack("{sb sn sO? sO? sn sO? sb s[]}", "preliminary", 1,
					      "node", "position", json_object_get(wave, "position"),
					      "name", json_object_get(own, "name"), "guid",
					      "confirmed", json_object_get(wave, "confirmed"),
					      "agrees", 1, "ports"));
	json_array_foreach(json_object_get(wave, "neighbours"), i, v)
		add_neighbour(list, v);
	return list;
}

static const char *ports_text(const json_t *ports, char *buf)
{
	size_t n = 0, i;
	json_t *v;

	strcpy(buf, "this node");
	json_array_foreach(ports, i, v)
		if (n < TORUS_TEXT_MAX - 8)
			n += (size_t)snprintf(buf + n, TORUS_TEXT_MAX - n, "%s%.4s", i ? " " : "",
					      table_or_dash(json_string_value(v)));
	return buf;
}

static void show_early_nodes(const json_t *nodes)
{
	static const char *const titles[] = { "NODE", "NAME", "AT", "PLACE", "GUID", NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(nodes, i, v) {
		bool agrees = json_is_true(json_object_get(v, "agrees"));
		bool sure = json_is_true(json_object_get(v, "confirmed"));

		table_cell(t, PLAIN, "%s",
			   wave_position_text(json_object_get(v, "position"), text));
		table_cell(t, STRONG, "%s", table_or_dash(json_text(v, "name")));
		table_cell(t, PLAIN, "%s", ports_text(json_object_get(v, "ports"), text));
		table_cell(t, !agrees ? BAD : sure ? GOOD : DOUBTFUL, "%s%s",
			   sure ? "confirmed" : "unconfirmed", agrees ? "" : ", contradicts");
		table_cell(t, PLAIN, "%s", table_or_dash(json_text(v, "guid")));
	}
	table_print(t, "no nodes");
}

static const struct show_early early = { early_nodes, show_early_nodes };

static int show_map(const struct ctl *ctl)
{
	struct torus_shape shape;
	json_t *nodes = NULL, *links = NULL;
	struct ask a;
	int status;

	status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = ask_shape(&a, &shape);
	if (status == OK)
		status = ask_nodes(&a, json_pack("{ss}", "cmd", "nodes"), ASK_NODES_MAX, 0, &nodes);
	if (status == OK)
		status = ask_all_links(&a, &links);
	if (status == OK)
		ask_label(&a, false);
	if (status == OK)
		status = map_print(&shape, nodes, links);
	if (status == OK)
		status = ask_status(&a);
	json_decref(judge_nodes(nodes));
	json_decref(nodes);
	json_decref(links);
	ask_close(&a);
	return status;
}

static int cmd_nodes(struct ctl *ctl, int argc, char **argv)
{
	int status;

	found = OK;
	if (map && ctl->json)
		return fail("--map and --json exclude each other");
	if (map && argc)
		return fail("--map draws all nodes: leave out '%s'", argv[0]);
	if (map)
		status = show_map(ctl);
	else
		status = show_nodes(ctl, json_pack("{ss}", "cmd", "nodes"), argc ? argv[0] : NULL,
				    &(struct show_nodes) {
					.max = ASK_NODES_MAX, .pick = judge_nodes,
					.show = print_nodes, .early = &early });
	return status == OK ? found : status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "map", 'm', NULL, &map, 0, 0,
	  "draw them where they are, with their links: 1 to 3 dimensions" },
	{ .kind = OPT_END },
};

COMMAND(cmd_nodes) = {
	.name = "nodes",
	.args = "[NODE]",
	.brief = "The nodes: coordinates, names, states",
	.help = "States: up; joining; silent (the NIC works, but its manager does not answer or\n"
		"cannot follow: 'fabricctl status' says why); dead; absent (never seen); unknown\n"
		"(there is no root, and the manager that is asked has not heard from it lately).\n"
		"HEARD: how long ago its manager was last known to run. 'excluded' follows the\n"
		"state of nodes that an administrator took out of service. While the fabric has\n"
		"no table yet: the node whose manager is asked, and its neighbours, with the\n"
		"coordinates that their cables give them; 'contradicts': not all cables agree.\n"
		"Exit status 1.\n"
		"Also 1 if one of the nodes shown is not up; 3 if nothing is wrong but that an\n"
		"administrator took nodes out of service.",
	.opts = opts,
	.max = 1,
	.asks = true,
	.json = true,
	.watch = true,
	.run = cmd_nodes,
};
