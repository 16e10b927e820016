// SPDX-License-Identifier: GPL-2.0-only
#include "cable.h"
#include "output.h"

static int lab_retry(struct ctl *ctl, int argc, char **argv)
{
	struct fault_wish wish = { .set_retry = true };

	(void)argc;
	if (torus_retry_parse(argv[1], &wish.retry))
		return fail("retry protocol '%s': must be angara, acknak, hippi or auto",
			    argv[1]);
	return cable_fault(ctl->lab, argv[0], &wish);
}

COMMAND(lab_retry) = {
	.family = "lab",
	.name = "retry",
	.args = "LINK PROTOCOL",
	.brief = "Set how both ends of a link retransmit: angara, acknak, hippi or auto",
	.help = "Both ends use the protocol from the next start of the link on: cut and mend the\n"
		"cable to see it. 'fabricctl links --all' shows the protocol of a link.",
	.min = 2,
	.max = 2,
	.in_lab = true,
	.run = lab_retry,
};
