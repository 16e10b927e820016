// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim: a torus fabric in virtual time. */
#include "tools/fabricctl/command.h"

static const struct family families[] = {
	{ "", "simulations", "" },
	{ .name = NULL },
};

const struct program this_program = {
	.name = "fabricsim",
	.help = "SHAPE is the sizes of the torus, 8x8 or 16x16x16; a RANGE is one number, some\n"
		"(0.1,0.5,0.9), or FROM:TO:STEP (0.1:1.0:0.1). The same --seed gives the same "
		"answer.",
	.manual = "fabricsim(1)",
	.status = "0 fine, 1 the simulated fabric has a problem, 2 usage or cannot simulate",
	.family = families,
};

int main(int argc, char **argv)
{
	return program_run(argc, argv);
}
