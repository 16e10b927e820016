// SPDX-License-Identifier: GPL-2.0-only
#include "change.h"

static int link_retrain(struct ctl *ctl, int argc, char **argv)
{
	(void)argc;
	return change_retrain(ctl, argv[0]);
}

COMMAND(link_retrain) = {
	.family = "link",
	.name = "retrain",
	.args = "NODE:PORT",
	.brief = "Train a link's receiver again, with all its lanes and rates",
	.help = "Without this, lanes and rates that were given up stay unused even if the line has\n"
		"become better. Traffic waits for some milliseconds, and no packet is lost. The\n"
		"other direction has its own receiver, at the other end.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = link_retrain,
};
