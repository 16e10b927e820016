// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "cable.h"
#include "say.h"

static int lab_silence(struct ctl *ctl, int argc, char **argv)
{
	struct fault_wish wish = { .set_silence = true, .silence = true };

	if (argc > 1 && strcmp(argv[1], "on") && strcmp(argv[1], "off"))
		return fail("silence '%s': allowed are on and off", argv[1]);
	wish.silence = argc < 2 || !strcmp(argv[1], "on");
	return cable_fault(ctl->lab, argv[0], &wish);
}

COMMAND(lab_silence) = {
	.family = "lab",
	.name = "silence",
	.args = "LINK [on|off]",
	.brief = "Drop all frames of a cable, which keeps its carrier",
	.min = 1,
	.max = 2,
	.in_lab = true,
	.run = lab_silence,
};
