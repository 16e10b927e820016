// SPDX-License-Identifier: GPL-2.0-only
#include "cable.h"

static int lab_ber(struct ctl *ctl, int argc, char **argv)
{
	struct fault_wish wish = { 0 };

	(void)argc;
	if (fault_wish_parse(argv[1], NULL, &wish))
		return CANNOT;
	return cable_fault(ctl->lab, argv[0], &wish);
}

COMMAND(lab_ber) = {
	.family = "lab",
	.name = "ber",
	.args = "LINK RATE",
	.brief = "Bit error rate of a cable, such as 1e-6; 0 ends it",
	.min = 2,
	.max = 2,
	.in_lab = true,
	.run = lab_ber,
};
