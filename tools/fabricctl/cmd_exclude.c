// SPDX-License-Identifier: GPL-2.0-only
#include "change.h"
#include "dry_run.h"
#include "lib/util/times.h"
#include "lib/util/units.h"
#include "output.h"

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
		return fail("--for '%s': must be 1s to 365d, with a unit: s, min, h or d", term);
	how.term = ns / SEC;
	if (dry)
		return dry_run_exclude(ctl, argv, argc);
	how.asks = !ctl->json;
	return change_exclusion(ctl, "exclude", &how, argv, argc);
}

static const struct opt exclude_opts[] = {
	{ OPT_FLAG, "dry-run", 'n', NULL, &dry, 0, 0, "only say what would break" },
	{ OPT_TEXT, "reason", 'r', "TEXT", &how.reason, 0, 0,
	  "the reason; stored with your name and the time" },
	{ OPT_TEXT, "for", 'f', "DURATION", &term, 0, 0,
	  "include it again after that time: 30min, 2h, 1d" },
	{ OPT_FLAG, "force", 0, NULL, &how.force, 0, 0,
	  "exclude even if other nodes or pairs lose their paths" },
	{ .kind = OPT_END }
};

COMMAND(cmd_exclude) = {
	.name = "exclude",
	.args = "NODE | LINK...",
	.brief = "Take links or nodes out of service: traffic takes other paths",
	.help = "Traffic moves to other paths without loss. Before you pull a cable or stop a\n"
		"node, use 'fabricctl drain', which also waits until no packet is left on it. The\n"
		"exclusion lasts until 'fabricctl include' or for the time of --for, also when\n"
		"the root is restarted or another node becomes root.\n"
		"On a terminal it asks for a reason if there is no --reason; Enter gives none.\n"
		"Only root and the control group may exclude; anyone may use --dry-run, whose\n"
		"exit status is 1 if pairs of other nodes would lose their path, or if the root\n"
		"would refuse it. If other nodes would be cut off, the root names them and\n"
		"excludes nothing, unless --force is given.\n"
		"Exit status 1: the root refused, or the exclusion is not in force after 2 s. 5:\n"
		"no root answers. 3: in force, but not more than half of the candidates for the\n"
		"root have stored it on disk, so that it could be forgotten if all nodes lost\n"
		"their power now ('fabricctl root' shows the candidates).",
	.opts = exclude_opts,
	.min = 1,
	.max = ANY_ARGS,
	.asks = true,
	.json = true,
	.run = cmd_exclude,
};
