// SPDX-License-Identifier: GPL-2.0-only
#include "change.h"

static int cmd_include(struct ctl *ctl, int argc, char **argv)
{
	(void)argc;
	return change_exclusion(ctl, "include", argv[0]);
}

COMMAND(cmd_include) = {
	.name = "include",
	.args = "NODE | LINK",
	.brief = "Use an excluded link or node again",
	.help = "Only what was excluded by an admin; a link that is faulty returns by itself.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = cmd_include,
};
