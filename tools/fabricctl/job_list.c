// SPDX-License-Identifier: GPL-2.0-only
#include "job.h"
#include "json.h"

static int job_list(struct ctl *ctl, int argc, char **argv)
{
	json_t *data, *jobs, *v;
	struct ask a;
	size_t i;
	int status = ask_open(ctl, &a);

	(void)argc;
	(void)argv;
	if (status != OK)
		return status;
	status = ask(&a, json_pack("{ss}", "cmd", "jobs"), &data);
	if (status == OK) {
		jobs = json_object_get(data, "jobs");
		json_array_foreach(jobs, i, v) {
			json_object_del(v, "members");
			if (job_status(v) != OK)
				status = PROBLEM;
		}
		if (ctl->json)
			json_show(json_incref(jobs));
		else
			job_table(jobs);
		ask_label(&a, true);
		json_decref(data);
		status = status == OK ? ask_status(&a) : status;
	}
	ask_close(&a);
	return status;
}

COMMAND(job_list) = {
	.family = "job",
	.name = "list",
	.args = "",
	.brief = "All jobs, and whether they have all their nodes",
	.help = "STATE: runs; degraded, if some of its nodes are not up; or fallen-apart, if no\n"
		"cables of the job join some of its nodes. The exit status is 1 if not all run.",
	.asks = true,
	.json = true,
	.watch = true,
	.run = job_list,
};
