// SPDX-License-Identifier: GPL-2.0-only
/* Saves a list of the nodes in a file, and compares the nodes with such a file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "json.h"
#include "output.h"
#include "table.h"

static const char *save, *diff;

/* Return: the properties of nodes that change only if a node is replaced or updated. */
static json_t *make_inventory(const json_t *nodes)
{
	static const char *const keys[] = { "node", "name", "guid", "service", "software" };
	json_t *list = json_array(), *v, *j;
	size_t i;

	json_array_foreach(nodes, i, v) {
		if (!json_text(v, "guid"))
			continue;	/* the node has never joined */
		j = json_object();
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			json_object_set(j, keys[k], json_object_get(v, keys[k]) ?
					json_object_get(v, keys[k]) : json_null());
		json_array_append_new(list, j);
	}
	return json_pack("{sf so}", "time", (double)time(NULL), "nodes", list);
}

static void show_inventory(const json_t *inventory)
{
	static const char *const titles[] = { "NODE", "NAME", "GUID", "SERVICE", "SOFTWARE", NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(json_object_get(inventory, "nodes"), i, v) {
		table_cell(t, PLAIN, "%s", json_coords_text(json_object_get(v, "node"), text));
		table_cell(t, STRONG, "%s", table_or_dash(json_text(v, "name")));
		table_cell(t, PLAIN, "%s", table_or_dash(json_text(v, "guid")));
		table_cell(t, PLAIN, "%s", table_or_dash(json_text(v, "service")));
		table_cell(t, PLAIN, "%s", table_or_dash(json_text(v, "software")));
	}
	table_print(t, "no nodes");
}

static int save_inventory(const json_t *inventory)
{
	if (json_dump_file(inventory, save, JSON_INDENT(1)))
		return fail("%s: %s", save, strerror(errno));
	return OK;
}

static const json_t *find_by(const json_t *inventory, const char *key, const json_t *value)
{
	size_t i;
	json_t *v;

	json_array_foreach(json_object_get(inventory, "nodes"), i, v)
		if (!json_is_null(value) && json_equal(json_object_get(v, key), value))
			return v;
	return NULL;
}

/*
 * Return: the entry in @other of the same node as @node of @own: the entry with the same NIC, else
 * the entry in the same place, if neither of the two NICs is at another place.
 */
static const json_t *find_same(const json_t *other, const json_t *own, const json_t *node)
{
	const json_t *same = find_by(other, "guid", json_object_get(node, "guid"));
	const json_t *there = find_by(other, "node", json_object_get(node, "node"));

	if (same)
		return same;
	return find_by(own, "guid", json_object_get(there, "guid")) ? NULL : there;
}

static void add_change(json_t *list, const char *what, const json_t *was, const json_t *is)
{
	json_array_append_new(list,
			      json_pack("{ss sO? sO?}", "change", what, "was", was, "is", is));
}

static void compare_node(json_t *list, const json_t *was, const json_t *is)
{
	static const struct {
		const char *key, *change;
	} of[] = {
		{ "guid", "replaced" }, { "node", "moved" }, { "name", "renamed" },
		{ "service", "address" }, { "software", "software" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const json_t *a = json_object_get(was, of[i].key),
			     *b = json_object_get(is, of[i].key);

		/* The release of a manager that does not answer is not known. */
		if (!json_equal(a, b) && !json_is_null(b))
			add_change(list, of[i].change, was, is);
	}
}

static json_t *list_changes(const json_t *was, const json_t *is)
{
	json_t *list = json_array(), *v;
	size_t i;

	json_array_foreach(json_object_get(is, "nodes"), i, v) {
		const json_t *same = find_same(was, is, v);

		if (same)
			compare_node(list, same, v);
		else
			add_change(list, "new", NULL, v);
	}
	json_array_foreach(json_object_get(was, "nodes"), i, v)
		if (!find_same(is, was, v))
			add_change(list, "gone", v, NULL);
	return list;
}

static void print_change(const json_t *c)
{
	const json_t *was = json_object_get(c, "was"), *is = json_object_get(c, "is");
	const json_t *node = json_is_object(is) ? is : was;
	const char *what = json_text(c, "change");
	const char *key = !strcmp(what, "replaced") ? "guid" : !strcmp(what, "renamed") ? "name" :
			  !strcmp(what, "address") ? "service" : "software";
	char at[TORUS_TEXT_MAX], from[TORUS_TEXT_MAX];

	json_coords_text(json_object_get(node, "node"), at);
	printf("%s (%s) ", at, table_or_dash(json_text(node, "name")));
	if (!strcmp(what, "new"))
		printf("is new, GUID %s\n", table_or_dash(json_text(is, "guid")));
	else if (!strcmp(what, "gone"))
		printf("is gone, GUID %s\n", table_or_dash(json_text(was, "guid")));
	else if (!strcmp(what, "moved"))
		printf("was at %s\n", json_coords_text(json_object_get(was, "node"), from));
	else
		printf("has another %s: %s, was %s\n", !strcmp(key, "guid") ? "NIC" :
		       what[0] == 'r' ? "name" : what,
		       table_or_dash(json_text(is, key)), table_or_dash(json_text(was, key)));
}

/* Return: true if all entries are nodes as 'inventory --save' writes them. */
static bool is_inventory(const json_t *j)
{
	const json_t *nodes = json_object_get(j, "nodes");
	bool fine = json_is_array(nodes);
	size_t i;
	json_t *v;

	json_array_foreach(nodes, i, v)
		fine &= json_text(v, "guid") && json_is_array(json_object_get(v, "node"));
	return fine;
}

/* Return: the inventory in the file; NULL after printing an error. */
static json_t *load_inventory(void)
{
	json_error_t error;
	json_t *was = json_load_file(diff, 0, &error);

	if (is_inventory(was))
		return was;
	if (!was && error.line <= 0)
		fail("%s: %s", diff, strerror(errno));
	else if (!was)
		fail("%s: it is not an inventory: line %d is not JSON; 'inventory --save' writes "
		     "one", diff, error.line);
	else
		fail("%s: it is not an inventory; 'inventory --save' writes one", diff);
	json_decref(was);
	return NULL;
}

static int compare_inventory(const struct ctl *ctl, const json_t *was, const json_t *is)
{
	json_t *changes = list_changes(was, is), *v;
	size_t i, n = json_array_size(changes);

	if (ctl->json)
		json_show(json_incref(changes));
	else
		json_array_foreach(changes, i, v)
			print_change(v);
	if (!ctl->json && !n)
		printf("nothing has changed\n");
	json_decref(changes);
	return n ? PROBLEM : OK;
}

/* @was: inventory to compare with; NULL: there is no comparison */
static int show_or_compare(const struct ctl *ctl, const json_t *was, const json_t *inventory)
{
	int status = save ? save_inventory(inventory) : OK;

	if (status != OK || was)
		return status != OK ? status : compare_inventory(ctl, was, inventory);
	if (ctl->json)
		json_show(json_incref((json_t *)inventory));
	else if (!save)
		show_inventory(inventory);
	return OK;
}

static int ask_inventory(const struct ctl *ctl, const json_t *was)
{
	json_t *nodes, *inventory;
	struct ask a;
	int status = ask_open(ctl, &a);

	if (status != OK)
		return status;
	status = ask_nodes(&a, json_pack("{ss}", "cmd", "nodes"), ASK_NODES_MAX, 0, &nodes);
	if (status == OK) {
		inventory = make_inventory(nodes);
		status = show_or_compare(ctl, was, inventory);
		json_decref(inventory);
		json_decref(nodes);
	}
	if (status == OK)
		status = ask_status(&a);
	ask_close(&a);
	return status;
}

static int cmd_inventory(struct ctl *ctl, int argc, char **argv)
{
	json_t *was = NULL;
	int status;

	(void)argc;
	(void)argv;
	if (save && diff)
		return fail("--save and --diff exclude each other");
	if (diff) {
		was = load_inventory();
		if (!was)
			return CANNOT;
	}
	status = ask_inventory(ctl, was);
	json_decref(was);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "save", 's', "FILE", &save, 0, 0, "write it into this file" },
	{ OPT_TEXT, "diff", 'd', "FILE", &diff, 0, 0, "what has changed since that was saved" },
	{ .kind = OPT_END },
};

COMMAND(cmd_inventory) = {
	.name = "inventory",
	.args = "",
	.brief = "All nodes with their NICs and software; what has changed since",
	.help = "--save keeps a copy in a file. --diff compares with such a file, and names nodes\n"
		"that are new, gone, moved or renamed, whose NIC was replaced, or whose manager\n"
		"has another address or release. Exit status 1 if there are such.",
	.opts = opts,
	.asks = true,
	.json = true,
	.run = cmd_inventory,
};
