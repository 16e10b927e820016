// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim flow: the flow-control simulator's command line. */
#include "tools/fabricctl/command.h"
#include "tools/fabricctl/say.h"

static int cmd_flow(struct ctl *ctl, int argc, char **argv)
{
	(void)ctl;
	(void)argc;
	(void)argv;
	return fail("flow: not in this build yet");
}

COMMAND(cmd_flow) = {
	.name = "flow",
	.args = "",
	.brief = "Load against throughput and latency under bubble flow control",
	.json = true,
	.simulates = true,
	.run = cmd_flow,
};
