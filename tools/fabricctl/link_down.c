// SPDX-License-Identifier: GPL-2.0-only
#include "change.h"

static int link_down(struct ctl *ctl, int argc, char **argv)
{
	(void)argc;
	return change_port(ctl, argv[0], false);
}

COMMAND(link_down) = {
	.family = "link",
	.name = "down",
	.args = "NODE:PORT",
	.brief = "Take one end of a link down, and park the packets that wait for it",
	.help = "For a link whose peer frees no buffer, so that packets wait for it for ever:\n"
		"they are moved to host memory (parked) and take another path. For maintenance\n"
		"use 'fabricctl drain', which moves traffic away first. The port stays down until\n"
		"'fabricctl link up', or until its NIC is restarted.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = link_down,
};
