// SPDX-License-Identifier: GPL-2.0-only
#include "change.h"

static int cmd_include(struct ctl *ctl, int argc, char **argv)
{
	return change_exclusion(ctl, "include", NULL, argv, argc);
}

COMMAND(cmd_include) = {
	.name = "include",
	.args = "NODE | LINK...",
	.brief = "Use excluded links or nodes again",
	.help = "Only what was excluded by an admin; a link that is faulty returns by itself.\n"
		"A link that is held down because it flaps is used again at once. Exit status 1, 3 and\n"
		"5 as with exclude.",
	.min = 1,
	.max = ANY_ARGS,
	.asks = true,
	.json = true,
	.run = cmd_include,
};
