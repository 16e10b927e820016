// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "json.h"
#include "output.h"
#include "table.h"

#define NAMED_MAX 6 /* most nodes that one line names */

static bool diff;

/* --- one manager ----------------------------------------------------------- */

static void show_key(struct table *t, const json_t *v)
{
	const char *section = json_text(v, "section"), *source = json_text(v, "source");
	bool is_default = source && !strcmp(source, "default");

	/* The section distinguishes options, and keys of [timers] and [links], from other keys. */
	if (!section || !*section)
		table_cell(t, PLAIN, "%s", json_text(v, "key"));
	else if (!strcmp(section, "options"))
		table_cell(t, PLAIN, "--%s", json_text(v, "key"));
	else
		table_cell(t, PLAIN, "[%s] %s", section, json_text(v, "key"));
	table_cell(t, is_default ? PLAIN : STRONG, "%s",
		   json_text(v, "value") ? json_text(v, "value") : "-");
	if (json_count(v, "line"))
		table_cell(t, PLAIN, "line %llu", (unsigned long long)json_count(v, "line"));
	else
		table_cell(t, is_default ? FAINT : PLAIN, "%s", source);
}

static void show_config(const json_t *one)
{
	static const char *const titles[] = { "KEY", "VALUE", "SOURCE", NULL };
	struct table *t = table_new(titles);
	char at[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	printf("%s (%s), fabricd %s, %s\n", json_text(one, "name"),
	       json_coords_text(json_object_get(one, "node"), at), json_text(one, "software"),
	       json_text(one, "file"));
	json_array_foreach(json_object_get(one, "config"), i, v)
		show_key(t, v);
	table_print(t, "no keys");
}

static int ask_one(const struct ctl *ctl, struct ask *a, const char *node)
{
	json_t *request = json_pack("{ss}", "cmd", "config"), *data;
	char at[TORUS_TEXT_MAX];
	int status = node ? ask_node(a, node, at) : OK;

	if (status == OK && node)
		json_object_set_new(request, "node", json_string(at));
	if (status != OK) {
		json_decref(request);
		return status;
	}
	status = ask(a, request, &data);
	if (status != OK)
		return status;
	if (ctl->json)
		json_show(json_incref(data));
	else
		show_config(json_array_get(data, 0));
	json_decref(data);
	return ask_status(a);
}

/* --- all managers ---------------------------------------------------------- */

/* Return: true for keys that must differ at all nodes of a fabric. */
static bool is_own(const char *key)
{
	return !strcmp(key, "name") || !strcmp(key, "service_address");
}

/* Return: the value of @key at that node; NULL if its release does not know the key. */
static const json_t *value_of(const json_t *node, const char *key)
{
	return strcmp(key, "software") ? json_object_get(json_object_get(node, "values"), key) :
					 json_object_get(node, key);
}

/* Return: the group of @value; NULL if there is none. */
static json_t *find_group(const json_t *groups, const json_t *value)
{
	size_t i;
	json_t *g;

	json_array_foreach(groups, i, g)
		if (json_is_true(json_object_get(g, "known")) == !!value &&
		    (!value || json_equal(json_object_get(g, "value"), value)))
			return g;
	return NULL;
}

/* Return: for each value of @key that some node has, the value and these nodes. */
static json_t *group_values(const json_t *nodes, const char *key)
{
	json_t *groups = json_array(), *node, *g;
	size_t i;

	json_array_foreach(nodes, i, node) {
		const json_t *value = value_of(node, key);

		g = find_group(groups, value);
		if (!g) {
			g = json_pack("{sO? sb s[]}", "value", value, "known", !!value, "nodes");
			json_array_append_new(groups, g);
		}
		json_array_append(json_object_get(g, "nodes"), json_object_get(node, "node"));
	}
	return groups;
}

static size_t group_size(const json_t *g)
{
	return json_array_size(json_object_get(g, "nodes"));
}

/* Moves the group with the most nodes to the front. */
static void lead_with_most(json_t *groups)
{
	size_t most = 0, i;
	json_t *g;

	json_array_foreach(groups, i, g)
		if (group_size(g) > group_size(json_array_get(groups, most)))
			most = i;
	g = json_incref(json_array_get(groups, most));
	json_array_remove(groups, most);
	json_array_insert_new(groups, 0, g);
}

static void compare_key(json_t *list, const json_t *nodes, const char *key)
{
	json_t *groups = group_values(nodes, key);

	if (json_array_size(groups) > 1) {
		lead_with_most(groups);
		json_array_append_new(list, json_pack("{ss sO}", "key", key, "values", groups));
	}
	json_decref(groups);
}

/* Return: all keys that any node knows. */
static json_t *all_keys(const json_t *nodes)
{
	json_t *keys = json_object(), *node;
	size_t i;

	json_array_foreach(nodes, i, node)
		json_object_update_missing(keys, json_object_get(node, "values"));
	return keys;
}

static json_t *list_differences(const json_t *nodes)
{
	json_t *keys = all_keys(nodes), *list = json_array(), *v;
	const char *key;

	compare_key(list, nodes, "software");
	json_object_foreach(keys, key, v)
		if (!is_own(key))
			compare_key(list, nodes, key);
	json_decref(keys);
	return list;
}

static void nodes_text(const json_t *nodes, char *buf, size_t room)
{
	size_t n = json_array_size(nodes), len = 0, i;
	char at[TORUS_TEXT_MAX];
	json_t *v;

	buf[0] = '\0';
	json_array_foreach(nodes, i, v)
		if (i < NAMED_MAX && len < room)
			len += (size_t)snprintf(buf + len, room - len, "%s%s", i ? " " : "",
						json_node_text(v, at));
	if (n > NAMED_MAX && len < room)
		snprintf(buf + len, room - len, " and %zu more", n - NAMED_MAX);
}

/* Return: true if each node has another value, which is shown as one line. */
static bool is_individual(const json_t *groups)
{
	size_t i;
	json_t *g;

	json_array_foreach(groups, i, g)
		if (group_size(g) > 1)
			return false;
	return json_array_size(groups) > 2;
}

static void show_difference(struct table *t, const json_t *d)
{
	const json_t *groups = json_object_get(d, "values");
	char nodes[NAMED_MAX * TORUS_TEXT_MAX + 64];
	size_t i;
	json_t *g;

	if (is_individual(groups)) {
		table_cell(t, PLAIN, "%s", json_text(d, "key"));
		table_cell(t, FAINT, "another one at each node");
		table_cell(t, PLAIN, "%zu", json_array_size(groups));
		table_cell(t, FAINT, "-");
		return;
	}
	json_array_foreach(groups, i, g) {
		table_cell(t, PLAIN, "%s", i ? "" : json_text(d, "key"));
		if (!json_is_true(json_object_get(g, "known")))
			table_cell(t, FAINT, "(not known to this release)");
		else
			table_cell(t, i ? STRONG : PLAIN, "%s",
				   json_text(g, "value") ? json_text(g, "value") : "-");
		table_cell(t, PLAIN, "%zu", group_size(g));
		nodes_text(json_object_get(g, "nodes"), nodes, sizeof(nodes));
		table_cell(t, PLAIN, "%s", nodes);
	}
}

static void show_differences(const json_t *list)
{
	static const char *const titles[] = { "KEY", "VALUE", ">COUNT", "NODES", NULL };
	struct table *t = table_new(titles);
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v)
		show_difference(t, v);
	table_print(t, "all managers that answer have the same configuration and release");
}

static int compare_all(const struct ctl *ctl, struct ask *a)
{
	json_t *nodes, *list;
	bool any;
	int status = ask_nodes(a, json_pack("{ss sb}", "cmd", "config", "values", 1), ASK_NODES_MAX,
			       0, &nodes);

	if (status != OK)
		return status;
	list = list_differences(nodes);
	any = json_array_size(list);
	if (ctl->json)
		json_show(json_incref(list));
	else
		show_differences(list);
	json_decref(list);
	json_decref(nodes);
	status = ask_status(a);
	return status == OK && any ? NOT_KEPT : status;
}

static int cmd_config(struct ctl *ctl, int argc, char **argv)
{
	struct ask a;
	int status;

	if (diff && argc)
		return fail("config --diff compares all nodes: leave out '%s'", argv[0]);
	status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = diff ? compare_all(ctl, &a) : ask_one(ctl, &a, argc ? argv[0] : NULL);
	ask_close(&a);
	return status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "diff", 'd', NULL, &diff, 0, 0,
	  "what differs between the managers of all nodes" },
	{ .kind = OPT_END },
};

COMMAND(cmd_config) = {
	.name = "config",
	.args = "[NODE]",
	.brief = "Configuration that a manager runs with; differences between nodes",
	.help = "Shows each key of fabricd.conf with the value in force and its source, for the\n"
		"manager that is asked or for that of NODE. --diff compares the releases of the\n"
		"software and the values of all nodes, without names and addresses; exit status 3\n"
		"if any differ. Keys of the fabric are never shown, only the file they are in.",
	.opts = opts,
	.max = 1,
	.asks = true,
	.json = true,
	.run = cmd_config,
};
