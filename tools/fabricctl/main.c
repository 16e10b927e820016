// SPDX-License-Identifier: GPL-2.0-only
/* fabricctl: the admin's tool of a torus fabric. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "launcher.h"
#include "output.h"

static const struct family families[] = {
	{ "", "the fabric", "" },
	{ "lab", "a whole fabric on this machine",
	  "A whole fabric on this machine: a network namespace for each node, a veth pair\n"
	  "for each cable, a NIC and a manager in each node." },
	{ "link", "one end of a cable",
	  "The port at one end of a cable, and its receiver." },
	{ "job", "jobs: nodes whose traffic among each other does not leave them",
	  "A job is a set of nodes. Packets between them use only their own cables, also\n"
	  "after failures, so jobs do not disturb each other." },
	{ "device", "the NICs of this machine",
	  "NICs and their cables. NAME is the interface of a NIC, its own name, or\n"
	  "unix:PATH of one in user space." },
	{ .name = NULL },
};

const struct program this_program = {
	.name = "fabricctl",
	.help = "NODE is coordinates or a name: 1,0,3 or n1-0-3. PORT is + or - and a dimension:\n"
		"+x. LINK, or NODE:PORT, is the cable at that port of a node: 1,0,3:+y",
	.manual = "fabricctl(8)",
	.status = "0 fine, 1 the fabric has a problem, 2 usage, 3 a warning only, 4 denied,\n"
		"5 unreachable: no manager, NIC or node that could answer, 6 no answer in time",
	.family = families,
	.failed = json_failed,
};

/* Runs "fabricctl lab agent HOST COMMAND..." for "lab-agent HOST COMMAND..." (launcher.h). */
static int run_agent(int argc, char **argv)
{
	char **full = calloc((size_t)argc + 3, sizeof(*full));
	int status;

	if (!full)
		return fail("out of memory");
	full[0] = argv[0];
	full[1] = (char *)"lab";
	full[2] = (char *)"agent";
	memcpy(full + 3, argv + 1, (size_t)(argc - 1) * sizeof(*full));
	status = program_run(argc + 2, full);
	free(full);
	return status;
}

int main(int argc, char **argv)
{
	if (argc && launcher_called(argv[0]))
		return run_agent(argc, argv);
	return program_run(argc, argv);
}
