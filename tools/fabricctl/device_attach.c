// SPDX-License-Identifier: GPL-2.0-only
#include "device.h"
#include "output.h"

static int device_attach(struct ctl *ctl, int argc, char **argv)
{
	(void)ctl;
	(void)argc;
	if (!*argv[1])
		return fail("which Ethernet device? 'fabricctl device detach %s' unbinds the port",
			    argv[0]);
	return device_plug(argv[0], argv[1]);
}

COMMAND(device_attach) = {
	.family = "device",
	.name = "attach",
	.args = "NAME:PORT INTERFACE",
	.brief = "Plug in a cable: port PORT of NIC NAME uses the Ethernet device INTERFACE",
	.help = "PORT is + or - and a dimension: torus0:+x. INTERFACE must be up to have a "
		"carrier.",
	.min = 2,
	.max = 2,
	.run = device_attach,
};
