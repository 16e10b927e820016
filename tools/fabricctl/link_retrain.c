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
	.brief = "Train a link's receiver anew, with all its lanes and rates",
	.help = "Lanes and rate that were given up stay so, even if the line is better again, until then. Traffic\n"
		"waits for some milliseconds and loses nothing. The other direction has its own\n"
		"receiver, at the other end.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = link_retrain,
};
