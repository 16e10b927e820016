// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "cable.h"

static int lab_cut(struct ctl *ctl, int argc, char **argv)
{
	(void)argc;
	return cable_set(ctl->lab, argv[0], true);
}

COMMAND(lab_cut) = {
	.family = "lab",
	.name = "cut",
	.args = "LINK",
	.brief = "Fault: cut a cable; both ends lose their carrier",
	.help = "Both ends notice it at once. 'fabricctl lab mend' ends it.",
	.min = 1,
	.max = 1,
	.in_lab = true,
	.run = lab_cut,
};
