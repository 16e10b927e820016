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
	.brief = "Fault: damage bits on a cable, at a bit error rate such as 1e-6",
	.help = "RATE is the share of damaged bits, from 0 to 1, in both directions. Damaged\n"
		"packets are sent again by the link, and nothing is lost. 0 ends it.",
	.min = 2,
	.max = 2,
	.in_lab = true,
	.run = lab_ber,
};
