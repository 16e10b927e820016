// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include "output.h"
#include "revive.h"

static struct revive how = { .timeout = REVIVE_TIMEOUT };

static int lab_revive(struct ctl *ctl, int argc, char **argv)
{
	struct lab lab;
	uint32_t node;
	int status;

	(void)argc;
	if (geteuid())
		return fail_as(DENIED, "lab revive needs root: run it with sudo");
	status = lab_open(&lab, ctl->lab, LAB_ALONE);
	if (status != OK)
		return status;
	status = lab_node_parse(&lab, argv[0], &node);
	if (status == OK)
		status = revive(&lab, node, &how);
	lab_free(&lab);
	return status;
}

static const struct opt opts[] = {
	REVIVE_OPTS(how),
	{ .kind = OPT_END },
};

COMMAND(lab_revive) = {
	.family = "lab",
	.name = "revive",
	.args = "NODE",
	.brief = "Start a node again after 'lab kill' or 'lab pause'",
	.help = "Cables that were cut stay cut, and those with faults keep them. If no manager of\n"
		"the lab runs, all nodes are revived, unless with --no-wait.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.in_lab = true,
	.run = lab_revive,
};
