// SPDX-License-Identifier: GPL-2.0-only
#include "cable.h"
#include "number.h"
#include "output.h"

static int lab_vb(struct ctl *ctl, int argc, char **argv)
{
	struct fault_wish wish = { .set_vb = true };

	(void)argc;
	if (rate_parse(argv[1], &wish.vb))
		return fail("rate of marked packets '%s': must be 0, or 1e-18 to 1, such as "
			    "0.01",
			    argv[1]);
	return cable_fault(ctl->lab, argv[0], &wish);
}

COMMAND(lab_vb) = {
	.family = "lab",
	.name = "vb",
	.args = "LINK RATE",
	.brief = "Fault: send damaged copies of packets, marked as bad, over a cable",
	.help = "A NIC that forwards the beginning of a packet before it has received the end\n"
		"(cut-through) may find too late that the packet is damaged. It marks such a copy\n"
		"as bad in its last bytes (field VB), and sends the packet again. This command\n"
		"makes both ends of the cable send such a copy before a share RATE of their\n"
		"packets, such as 0.01. The other end drops the copies and counts them in\n"
		"vb_drops; nothing is lost. 0 ends it.",
	.min = 2,
	.max = 2,
	.in_lab = true,
	.run = lab_vb,
};
