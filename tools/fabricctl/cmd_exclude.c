// SPDX-License-Identifier: GPL-2.0-only
#include "change.h"
#include "dry_run.h"
#include "lib/util/times.h"
#include "lib/util/units.h"
#include "say.h"

#define TERM_MAX (365 * 86400 * SEC)

static bool dry;
static struct exclusion how;
static const char *term;

static int cmd_exclude(struct ctl *ctl, int argc, char **argv)
{
	uint64_t ns = 0;

	if (dry && (how.reason || term || how.force))
		return fail("--%s: --dry-run excludes nothing: leave one of them out",
			    how.reason ? "reason" : term ? "for" : "force");
	if (term && time_parse(term, SEC, TERM_MAX, &ns))
		return fail("--for '%s': allowed are 1s to 365d, with a unit: s, min, h or d", term);
	how.term = ns / SEC;
	return dry ? dry_run_exclude(ctl, argv, argc) :
		     change_exclusion(ctl, "exclude", &how, argv, argc);
}

static const struct opt exclude_opts[] = {
	{ OPT_FLAG, "dry-run", 'n', NULL, &dry, 0, 0, "only say what would break" },
	{ OPT_TEXT, "reason", 'r', "TEXT", &how.reason, 0, 0,
	  "why; stored with the user and the time" },
	{ OPT_TEXT, "for", 'f', "DURATION", &term, 0, 0,
	  "include it again after that time: 30min, 2h, 1d" },
	{ OPT_FLAG, "force", 0, NULL, &how.force, 0, 0, "also if nodes or pairs lose their paths" },
	{ .kind = OPT_END }
};

COMMAND(cmd_exclude) = {
	.name = "exclude",
	.args = "NODE | LINK...",
	.brief = "Route around links or nodes, for maintenance",
	.help = "Traffic moves away without loss. Before a cable is pulled or a node stopped, use\n"
		"'fabricctl drain', which also waits for packets. The exclusion lasts until\n"
		"'fabricctl include' or for the time of --for, also when the root is\n"
		"restarted or another node becomes root.\n"
		"Only root and the control group may exclude; anyone may use --dry-run, whose exit\n"
		"status is 1 if pairs of other nodes would lose their path, or if the root would\n"
		"refuse it. If other nodes would be cut off, the root names them\n"
		"and excludes nothing, unless --force is given.\n"
		"Exit status 1: that happened, or it is not in force after 2 s. 5: no root\n"
		"answers. 3: in force, but not more than half of the candidates for the root have\n"
		"it on disk, so it could be forgotten if all nodes lost their power now\n"
		"('fabricctl root' shows them).",
	.opts = exclude_opts,
	.min = 1,
	.max = ANY_ARGS,
	.asks = true,
	.json = true,
	.run = cmd_exclude,
};
