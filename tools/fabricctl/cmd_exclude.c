// SPDX-License-Identifier: GPL-2.0-only
#include "change.h"

static int cmd_exclude(struct ctl *ctl, int argc, char **argv)
{
	(void)argc;
	return change_exclusion(ctl, "exclude", argv[0]);
}

COMMAND(cmd_exclude) = {
	.name = "exclude",
	.args = "NODE | LINK",
	.brief = "Route around a link or a node, for maintenance",
	.help = "Traffic moves away without loss; then the cable can be pulled or the node stopped.\n"
		"Only root and the control group may.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = cmd_exclude,
};
