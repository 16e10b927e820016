// SPDX-License-Identifier: GPL-2.0-only
#include "device.h"

static int device_detach(struct ctl *ctl, int argc, char **argv)
{
	(void)ctl;
	(void)argc;
	return device_plug(argv[0], "");
}

COMMAND(device_detach) = {
	.family = "device",
	.name = "detach",
	.args = "NAME:PORT",
	.brief = "Unplug the cable of a port: its Ethernet device is free again",
	.min = 1,
	.max = 1,
	.run = device_detach,
};
