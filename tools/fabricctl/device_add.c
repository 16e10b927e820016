// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include "device.h"
#include "kind.h"
#include "number.h"
#include "output.h"

static const char *guid, *name;
static const char *sets[OPT_LIST_MAX];
static bool bootstrap;
static uint64_t ports = DEVICE_PORTS;

static int spec_parse(struct device_spec *s)
{
	if (ports % 2)
		return fail("--ports %u: must be an even number, two for each dimension",
			    (unsigned int)ports);
	if (guid && hex_parse(guid, &s->guid))
		return fail("--guid '%s': must be 1 to 16 hexadecimal digits, not 0", guid);
	if (device_sets_check(sets))
		return CANNOT;
	s->ports = (uint8_t)ports;
	s->bootstrap = bootstrap;
	s->name = name;
	s->sets = sets;
	return OK;
}

static int device_add(struct ctl *ctl, int argc, char **argv)
{
	struct device_spec spec = { .ifname = argv[0] };
	struct nl_sock *sk;
	int err, status;

	(void)ctl;
	(void)argc;
	if (spec_parse(&spec))
		return CANNOT;
	if (geteuid())
		return fail_as(DENIED, "device add needs root: run it with sudo");
	if (device_kernel())
		return CANNOT;
	sk = wire_open();
	if (!sk)
		return fail("cannot open rtnetlink: %m");
	err = device_make(sk, &spec);
	status = err ? fail_as(device_kind(err), "NIC '%s': %s", argv[0], wire_error()) : OK;
	wire_close(sk);
	return status;
}

static const struct opt opts[] = {
	{ OPT_NUMBER, "ports", 'p', "N", &ports, 2, TORUS_MAX_PORTS,
	  "two for each dimension: 2 to 12, default 6" },
	{ OPT_TEXT, "guid", 0, "HEX", &guid, 0, 0,
	  "identity, up to 16 hexadecimal digits; default: at random" },
	{ OPT_FLAG, "bootstrap", 0, NULL, &bootstrap, 0, 0,
	  "set the bootstrap flag: this node is the root" },
	{ OPT_TEXT, "nic-name", 0, "TEXT", &name, 0, 0,
	  "the NIC's own name, default that of the interface" },
	{ OPT_LIST, "set", 0, "PARAM=VALUE", sets, 0, 0,
	  "a parameter, such as park_bytes=16M or silence=2s; may be given again" },
	{ .kind = OPT_END },
};

COMMAND(device_add) = {
	.family = "device",
	.name = "add",
	.args = "NAME",
	.brief = "Make a NIC in the kernel, with the interface NAME",
	.help = "The same as 'ip link add NAME type torus'. It lives in the network namespace in\n"
		"which it is made, and ends with it. NICs in user space are made by torusemu.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.run = device_add,
};
