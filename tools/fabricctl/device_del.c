// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "kind.h"
#include "output.h"

/* Finds the interface of a kernel NIC, so that no other interface can be removed by mistake. */
static int interface_of(const char *name, struct torus_device *info)
{
	struct torus_dev *dev;
	int err, status = device_open(name, &dev);

	if (status != OK)
		return status;
	err = torus_device_get(dev, info);
	if (err)
		status = fail_as(device_kind(err), "%s", torus_error(dev));
	torus_close(dev);
	if (status != OK)
		return status;
	if (!strcmp(info->driver, "torusemu"))
		return fail("NIC '%s' is a process: end its torusemu", name);
	return OK;
}

static int device_del(struct ctl *ctl, int argc, char **argv)
{
	struct torus_device info;
	struct nl_sock *sk;
	int err, status;

	(void)ctl;
	(void)argc;
	if (geteuid())
		return fail_as(DENIED, "device del needs root: run it with sudo");
	status = interface_of(argv[0], &info);
	if (status != OK)
		return status;
	sk = wire_open();
	if (!sk)
		return fail("cannot open rtnetlink: %m");
	err = device_remove(sk, info.ifname);
	status = err ? fail_as(device_kind(err), "NIC '%s': %s", argv[0], wire_error()) : OK;
	wire_close(sk);
	return status;
}

COMMAND(device_del) = {
	.family = "device",
	.name = "del",
	.args = "NAME",
	.brief = "Remove a NIC from the kernel, even while it is in use",
	.min = 1,
	.max = 1,
	.run = device_del,
};
