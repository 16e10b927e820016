// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "change.h"
#include "json.h"
#include "say.h"

static void show(const json_t *table)
{
	const json_t *excluded = json_object_get(table, "excluded");
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	printf("table version %llu, %zu excluded%s\n",
	       (unsigned long long)json_count(table, "version"), json_array_size(excluded),
	       json_array_size(excluded) ? ":" : "");
	json_array_foreach(excluded, i, v)
		printf("  %s (%s)\n", json_end_text(v, text),
		       json_text(v, "why") ? json_text(v, "why") : "-");
}

/* Return: the request, or NULL after saying what is wrong. */
static json_t *request(struct ask *a, const char *cmd, const char *what)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	bool link = strchr(what, ':');
	json_t *j;

	if (link ? ask_link(a, what, node, port) : ask_node(a, what, node))
		return NULL;
	j = json_pack("{ss ss}", "cmd", cmd, "node", node);
	if (link)
		json_object_set_new(j, "port", json_string(port));
	return j;
}

int change_exclusion(const struct ctl *ctl, const char *cmd, char **what, int n)
{
	json_t *requests = json_array(), *data = NULL;
	int status = OK;
	struct ask a;

	if (ask_open(ctl, &a)) {
		json_decref(requests);
		return CANNOT;
	}
	/* All are understood before the first is done. */
	for (int i = 0; status == OK && i < n; i++)
		status = json_array_append_new(requests, request(&a, cmd, what[i])) ? CANNOT : OK;
	for (int i = 0; status == OK && i < n; i++) {
		json_decref(data);
		data = NULL;
		status = ask(&a, json_incref(json_array_get(requests, (size_t)i)), &data);
	}
	if (status == OK && ctl->json)
		json_show(json_incref(data));
	else if (status == OK)
		show(data);
	json_decref(data);
	json_decref(requests);
	ask_close(&a);
	return status;
}
