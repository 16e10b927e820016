// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kind.h"
#include "lab.h"
#include "node.h"
#include "output.h"

static int lab_exec(struct ctl *ctl, int argc, char **argv)
{
	struct lab lab;
	uint32_t node;
	int err, status;

	if (argc > 1 && !strcmp(argv[1], "--")) {
		argv++;
		argc--;
		argv[0] = argv[-1];
	}
	if (argc < 2)
		return fail("lab exec: which command? write it after the node: "
			    "fabricctl lab exec %s -- ip address", argv[0]);
	if (geteuid())
		return fail_as(DENIED, "lab exec needs root: run it with sudo");
	status = lab_open(&lab, ctl->lab, LAB_READ);
	if (status != OK)
		return status;
	status = lab_node_parse(&lab, argv[0], &node);
	if (status == OK) {
		err = node_enter(&lab, node);
		status = err ? (int)kind_of_errno(err) : OK;
	}
	lab_free(&lab);
	if (status != OK)
		return status;
	execvp(argv[1], argv + 1);
	fail("%s: %m", argv[1]);
	return errno == ENOENT ? 127 : 126;
}

COMMAND(lab_exec) = {
	.family = "lab",
	.name = "exec",
	.args = "NODE -- COMMAND...",
	.brief = "Run a command on a node of the lab",
	.help = "The command has the node's network, host name and names of nodes; its exit\n"
		"status is that of 'lab exec'. Further fabricctl commands started by it ask this\n"
		"node.",
	.min = 1,
	.max = ANY_ARGS,
	.in_lab = true,
	.rest = true,
	.run = lab_exec,
};
