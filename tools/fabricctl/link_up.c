// SPDX-License-Identifier: GPL-2.0-only
#include "change.h"

static int link_up(struct ctl *ctl, int argc, char **argv)
{
	(void)argc;
	return change_port(ctl, argv[0], true);
}

COMMAND(link_up) = {
	.family = "link",
	.name = "up",
	.args = "NODE:PORT",
	.brief = "Bring one end of a link up again after 'link down'",
	.help = "The link trains, and is used, as soon as the other end is up as well.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = link_up,
};
