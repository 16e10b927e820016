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
	.brief = "Let a receiver adapt to its cable again, with all lanes and rates",
	.help = "A receiver that found lanes or rates unusable gives them up, and does not try\n"
		"them again by itself, even if the cable has become better. This command makes it\n"
		"try (train). Traffic waits for some milliseconds, and no packet is lost. The\n"
		"other direction has its own receiver, at the other end.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = link_retrain,
};
