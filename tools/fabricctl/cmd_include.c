// SPDX-License-Identifier: GPL-2.0-only
#include "change.h"

static int cmd_include(struct ctl *ctl, int argc, char **argv)
{
	return change_exclusion(ctl, "include", NULL, argv, argc);
}

COMMAND(cmd_include) = {
	.name = "include",
	.args = "NODE | LINK...",
	.brief = "Put links or nodes that were excluded back into service",
	.help = "Ends what 'fabricctl exclude' or 'drain' began. A link that was excluded because\n"
		"it is faulty returns by itself. A link that is held down because it failed again\n"
		"and again is used again at once. Exit status 1, 3 and 5 as with 'fabricctl\n"
		"exclude'.",
	.min = 1,
	.max = ANY_ARGS,
	.asks = true,
	.json = true,
	.run = cmd_include,
};
