// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "ask.h"
#include "json.h"
#include "output.h"

static void show_coord(const json_t *c)
{
	char text[TORUS_TEXT_MAX];

	printf("%s  name %s, id %llu, address %s\n",
	       json_node_text(json_object_get(c, "node"), text),
	       json_text(c, "name") ? json_text(c, "name") : "-",
	       (unsigned long long)json_count(c, "id"),
	       json_text(c, "address") ? json_text(c, "address") : "-");
}

static int cmd_coord(struct ctl *ctl, int argc, char **argv)
{
	json_t *request = json_pack("{ss}", "cmd", "coord"), *data;
	struct ask a;
	int status;

	if (argc && json_object_set_new(request, "name", json_string(argv[0]))) {
		json_decref(request);
		return fail("an argument is not UTF-8 text");
	}
	status = ask_open(ctl, &a);
	if (status != OK) {
		json_decref(request);
		return status;
	}
	status = ask(&a, request, &data);
	if (status == OK) {
		if (ctl->json)
			json_show(json_incref(data));
		else
			show_coord(data);
		json_decref(data);
	}
	ask_close(&a);
	return status;
}

COMMAND(cmd_coord) = {
	.name = "coord",
	.args = "[NODE]",
	.brief = "Coordinates, name and address of this node, or of NODE",
	.max = 1,
	.asks = true,
	.json = true,
	.run = cmd_coord,
};
