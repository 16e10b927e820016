// SPDX-License-Identifier: GPL-2.0-only
#include "cable.h"

static int lab_swap(struct ctl *ctl, int argc, char **argv)
{
	(void)argc;
	return cable_swap(ctl->lab, argv[0], argv[1]);
}

COMMAND(lab_swap) = {
	.family = "lab",
	.name = "swap",
	.args = "LINK LINK",
	.brief = "Fault: exchange the far ends of two cables, as if plugged in wrongly",
	.help = "Each port that is named gets the cable to the port that the other one led to.\n"
		"The same command again puts the cables right. A cable that is cut is to be\n"
		"mended first.",
	.min = 2,
	.max = 2,
	.in_lab = true,
	.run = lab_swap,
};
