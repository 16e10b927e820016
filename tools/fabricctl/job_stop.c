// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "job.h"

static int job_stop(struct ctl *ctl, int argc, char **argv)
{
	json_t *data;
	struct ask a;
	int status = ask_open(ctl, &a);

	(void)argc;
	if (status != OK)
		return status;
	status = ask(&a, json_pack("{ss ss}", "cmd", "job-stop", "name", argv[0]), &data);
	if (status == OK) {
		if (!ctl->json)
			printf("job '%s' has ended: its nodes are free\n", argv[0]);
		status = job_changed(ctl, data);
		json_decref(data);
	}
	ask_close(&a);
	return status;
}

COMMAND(job_stop) = {
	.family = "job",
	.name = "stop",
	.args = "NAME",
	.brief = "End a job: its nodes are free, and use all cables again",
	.help = "No packets are lost. Only the user who started the job, root and members of\n"
		"control_group may end it.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = job_stop,
};
