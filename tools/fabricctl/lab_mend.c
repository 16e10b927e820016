// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "cable.h"

static int lab_mend(struct ctl *ctl, int argc, char **argv)
{
	(void)argc;
	return cable_set(ctl->lab, argv[0], false);
}

COMMAND(lab_mend) = {
	.family = "lab",
	.name = "mend",
	.args = "LINK",
	.brief = "Mend a cable that 'lab cut' has cut",
	.min = 1,
	.max = 1,
	.in_lab = true,
	.run = lab_mend,
};
