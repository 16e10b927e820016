// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "cable.h"
#include "output.h"

static bool one_way;

static int lab_silence(struct ctl *ctl, int argc, char **argv)
{
	struct fault_wish wish = { .set_silence = true, .one_end = one_way };

	if (argc > 1 && strcmp(argv[1], "on") && strcmp(argv[1], "off"))
		return fail("silence '%s': must be on or off", argv[1]);
	if (argc < 2 || !strcmp(argv[1], "on"))
		wish.silence = one_way ? TORUS_SILENCE_SEND : TORUS_SILENCE_BOTH;
	return cable_fault(ctl->lab, argv[0], &wish);
}

static const struct opt opts[] = {
	{ OPT_FLAG, "one-way", '1', NULL, &one_way, 0, 0,
	  "only frames that the named end sends" },
	{ .kind = OPT_END },
};

COMMAND(lab_silence) = {
	.family = "lab",
	.name = "silence",
	.args = "LINK [on|off]",
	.brief = "Fault: drop all frames of a cable, whose carrier stays",
	.help = "With --one-way the end that is named sends nothing but still receives; 'off'\n"
		"without it ends the silence of both ends.",
	.opts = opts,
	.min = 1,
	.max = 2,
	.in_lab = true,
	.run = lab_silence,
};
