// SPDX-License-Identifier: GPL-2.0-only
/* fabricctl: the admin's tool of a torus fabric. */
#include "command.h"

static const struct family families[] = {
	{ "", "the fabric", "" },
	{ "lab", "a whole fabric on this machine",
	  "A whole fabric on this machine: a network namespace for each node, a veth pair\n"
	  "for each cable, a NIC and a manager in each node." },
	{ "link", "what the ends of a cable hear",
	  "The receiver at one end of a cable." },
	{ "device", "the NICs of this machine",
	  "NICs and their cables. NAME is the interface of a NIC, its own name, or\n"
	  "unix:PATH of one in user space." },
	{ .name = NULL },
};

const struct program this_program = {
	.name = "fabricctl",
	.help = "NODE is coordinates or a name: 1,0,3 or n1-0-3; LINK is a node and its port:\n"
		"1,0,3:+y",
	.manual = "fabricctl(8)",
	.status = "0 fine, 1 the fabric has a problem, 2 usage or cannot ask",
	.family = families,
};

int main(int argc, char **argv)
{
	return program_run(argc, argv);
}
