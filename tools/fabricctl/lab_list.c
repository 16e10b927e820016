// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "lab.h"
#include "number.h"
#include "output.h"
#include "table.h"

static json_t *lab_json(const char *name)
{
	struct lab lab;
	json_t *j;

	if (lab_load(&lab, name))
		return json_pack("{ss sn si ss sn}", "name", name, "shape", "nodes", 0, "state",
				 "damaged", "since");
	j = json_pack("{ss so si ss sf}", "name", name, "shape", json_shape(&lab.shape), "nodes",
		      lab.nodes, "state", lab.state == LAB_UP ? "up" : "half-dead", "since",
		      lab.since);
	lab_free(&lab);
	return j;
}

static int add_lab(const char *name, void *arg)
{
	json_array_append_new(arg, lab_json(name));
	return 0;
}

static void shape_cell(struct table *t, const json_t *j)
{
	struct torus_shape shape;
	char text[TORUS_TEXT_MAX];

	if (json_shape_read(json_object_get(j, "shape"), &shape))
		table_cell(t, PLAIN, "-");
	else
		table_cell(t, PLAIN, "%s", torus_shape_text(&shape, text));
}

static void show_labs(const json_t *all)
{
	static const char *const titles[] = { "NAME", "SHAPE", ">NODES", "STATE", ">AGE", NULL };
	struct table *t = table_new(titles);
	char text[32];
	size_t i;
	json_t *v;

	json_array_foreach(all, i, v) {
		const char *state = json_text(v, "state");
		double since = json_number_value(json_object_get(v, "since"));

		table_cell(t, STRONG, "%s", json_text(v, "name"));
		shape_cell(t, v);
		table_cell(t, PLAIN, "%llu", (unsigned long long)json_count(v, "nodes"));
		table_cell(t, strcmp(state, "up") ? BAD : GOOD, "%s", state);
		table_cell(t, PLAIN, "%s",
			   since > 0 ? duration_text(age(since), text) : "-");
	}
	table_print(t, "no lab is up; 'fabricctl lab up 4x4' raises one");
}

static int lab_list(struct ctl *ctl, int argc, char **argv)
{
	json_t *all = json_array();
	int err;

	(void)argc;
	(void)argv;
	err = lab_each(add_lab, all);
	if (err < 0) {
		json_decref(all);
		return fail(LAB_RUN ": %s", strerror(-err));
	}
	if (ctl->json) {
		json_show(all);
		return OK;
	}
	show_labs(all);
	json_decref(all);
	return OK;
}

COMMAND(lab_list) = {
	.family = "lab",
	.name = "list",
	.args = "",
	.brief = "The labs of this machine",
	.json = true,
	.run = lab_list,
};
