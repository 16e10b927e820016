// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "job.h"
#include "json.h"

static int job_hosts(struct ctl *ctl, int argc, char **argv)
{
	json_t *job, *members, *v;
	char text[TORUS_TEXT_MAX];
	struct ask a;
	size_t i;
	int status = ask_open(ctl, &a);

	(void)argc;
	if (status != OK)
		return status;
	status = job_get(&a, argv[0], &job, &members);
	if (status == OK) {
		if (ctl->json)
			json_show(json_incref(members));
		else
			json_array_foreach(members, i, v) {
				const char *name = json_text(v, "name");

				puts(name ? name :
				     json_coords_text(json_object_get(v, "node"), text));
			}
		ask_label(&a, true);
		json_decref(job);
		json_decref(members);
		status = ask_status(&a);
	}
	ask_close(&a);
	return status;
}

COMMAND(job_hosts) = {
	.family = "job",
	.name = "hosts",
	.args = "NAME",
	.brief = "The hosts of a job, one a line, by number",
	.help = "A host file for Open MPI, MPICH and others: the first host has number 0. To place\n"
		"ranks on the nodes of a job: 'fabricctl job hosts NAME >FILE' and\n"
		"'fabricctl map --hosts @FILE'.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = job_hosts,
};
