// SPDX-License-Identifier: GPL-2.0-only
#include "cable.h"
#include "number.h"
#include "say.h"

static int lab_vb(struct ctl *ctl, int argc, char **argv)
{
	struct fault_wish wish = { .set_vb = true };

	(void)argc;
	if (rate_parse(argv[1], &wish.vb))
		return fail("rate of marked packets '%s': allowed are 0 and 1e-18 to 1, such as "
			    "0.01",
			    argv[1]);
	return cable_fault(ctl->lab, argv[0], &wish);
}

COMMAND(lab_vb) = {
	.family = "lab",
	.name = "vb",
	.args = "LINK RATE",
	.brief = "Send a copy marked bad (VB) before this share of packets, such as 0.01",
	.help = "This is what a NIC with cut-through sends before a packet that it found damaged too\n"
		"late. The other end drops the copies and counts them in vb_drops; nothing is lost.\n"
		"0 ends it.",
	.min = 2,
	.max = 2,
	.in_lab = true,
	.run = lab_vb,
};
