// SPDX-License-Identifier: GPL-2.0-only
#include "change.h"
#include "dry_run.h"
#include "say.h"

static bool dry;
static const char *reason;

static int cmd_exclude(struct ctl *ctl, int argc, char **argv)
{
	if (dry && reason)
		return fail("--reason: --dry-run excludes nothing: leave one of them out");
	return dry ? dry_run_exclude(ctl, argv, argc) :
		     change_exclusion(ctl, "exclude", reason, argv, argc);
}

static const struct opt exclude_opts[] = {
	{ OPT_FLAG, "dry-run", 'n', NULL, &dry, 0, 0, "only say what would break" },
	{ OPT_TEXT, "reason", 'r', "TEXT", &reason, 0, 0,
	  "kept with who excludes it, and since when" },
	{ .kind = OPT_END }
};

COMMAND(cmd_exclude) = {
	.name = "exclude",
	.args = "NODE | LINK...",
	.brief = "Route around links or nodes, for maintenance",
	.help = "Traffic moves away without loss; then the cable can be pulled or the node stopped.\n"
		"The exclusion lasts until 'fabricctl include', also when the root starts anew.\n"
		"Only root and the control group may exclude; anyone may use --dry-run, whose exit\n"
		"status is 1 if pairs of other nodes would lose their path.\n"
		"Exit status 1: not in force after 2 s. 5: no root answers. 3: in force, but not\n"
		"more than half of the candidates for the root have it on disk, so it could be\n"
		"forgotten if all nodes lost their power now ('fabricctl root' shows them).",
	.opts = exclude_opts,
	.min = 1,
	.max = ANY_ARGS,
	.asks = true,
	.json = true,
	.run = cmd_exclude,
};
