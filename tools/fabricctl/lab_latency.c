// SPDX-License-Identifier: GPL-2.0-only
#include "cable.h"

static int lab_latency(struct ctl *ctl, int argc, char **argv)
{
	struct fault_wish wish = { 0 };

	(void)argc;
	if (fault_wish_parse(NULL, argv[1], &wish))
		return CANNOT;
	return cable_fault(ctl->lab, argv[0], &wish);
}

COMMAND(lab_latency) = {
	.family = "lab",
	.name = "latency",
	.args = "LINK TIME",
	.brief = "Fault: delay every frame of a cable, by a time such as 50us",
	.help = "The delay is added in each direction. 0 ends it.",
	.min = 2,
	.max = 2,
	.in_lab = true,
	.run = lab_latency,
};
