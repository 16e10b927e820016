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
	.brief = "Take this end of a cable down, and park the packets that wait for it",
	.help = "For a peer that frees no buffer: packets that wait for it are parked and take\n"
		"another path. For maintenance use 'fabricctl exclude', which moves traffic away\n"
		"first. The port stays down until 'fabricctl link up', or until its NIC is\n"
		"restarted.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = link_down,
};
