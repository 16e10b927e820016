// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "job.h"
#include "json.h"
#include "map.h"
#include "next.h"
#include "output.h"
#include "table.h"

static void show_members(const json_t *members)
{
	static const char *const titles[] = { ">NUMBER", "NODE", "NAME", "STATE", NULL };
	struct table *t = table_new(titles);
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(members, i, v) {
		const char *state = table_or_dash(json_text(v, "state"));

		table_cell(t, PLAIN, "%llu", (unsigned long long)json_count(v, "number"));
		table_cell(t, PLAIN, "%s", json_coords_text(json_object_get(v, "node"), text));
		table_cell(t, STRONG, "%s", table_or_dash(json_text(v, "name")));
		table_cell(t, map_colour(state), "%s%s", state,
			   json_is_true(json_object_get(v, "excluded")) ? " (excluded)" : "");
	}
	table_print(t, "no nodes");
}

static void show_job(const struct ctl *ctl, const json_t *job, const json_t *members)
{
	json_t *list = json_pack("[O]", job), *next = next_job(ctl, job, members);

	job_table(list);
	json_decref(list);
	if (json_count(job, "parts") > 1)
		warn("no links between its nodes join its %llu parts",
		     (unsigned long long)json_count(job, "parts"));
	show_members(members);
	next_show(next);
	json_decref(next);
}

static int job_show(struct ctl *ctl, int argc, char **argv)
{
	json_t *job, *members;
	struct ask a;
	int status = ask_open(ctl, &a);

	(void)argc;
	if (status != OK)
		return status;
	status = job_get(&a, argv[0], &job, &members);
	if (status == OK) {
		status = job_status(job);
		if (ctl->json) {
			json_object_set(job, "members", members);
			json_show(json_incref(job));
		} else {
			show_job(ctl, job, members);
		}
		ask_label(&a, true);
		json_decref(job);
		json_decref(members);
		status = status == OK ? ask_status(&a) : status;
	}
	ask_close(&a);
	return status;
}

COMMAND(job_show) = {
	.family = "job",
	.name = "show",
	.args = "NAME",
	.brief = "A job, and its nodes by number",
	.help = "The exit status is 1 if some of its nodes are not up, or if it has fallen apart;\n"
		"then the next step is named.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.watch = true,
	.run = job_show,
};
