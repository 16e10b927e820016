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

int change_exclusion(const struct ctl *ctl, const char *cmd, const char *what)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	bool link = strchr(what, ':');
	struct ask a;
	json_t *request, *data;
	int status;

	if (ask_open(ctl, &a))
		return CANNOT;
	status = link ? ask_link(&a, what, node, port) : ask_node(&a, what, node);
	if (status == OK) {
		request = json_pack("{ss ss}", "cmd", cmd, "node", node);
		if (link)
			json_object_set_new(request, "port", json_string(port));
		status = ask(&a, request, &data);
	}
	if (status == OK) {
		if (ctl->json)
			json_show(json_incref(data));
		else
			show(data);
		json_decref(data);
	}
	ask_close(&a);
	return status;
}
