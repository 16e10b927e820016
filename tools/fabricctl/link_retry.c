// SPDX-License-Identifier: GPL-2.0-only
#include <torus/torus.h>

#include "change.h"
#include "say.h"

static int link_retry(struct ctl *ctl, int argc, char **argv)
{
	enum torus_retry protocol;

	(void)argc;
	if (torus_retry_parse(argv[1], &protocol))
		return fail("retry protocol '%s': allowed are angara, acknak, hippi and auto",
			    argv[1]);
	return change_retry(ctl, argv[0], argv[1]);
}

COMMAND(link_retry) = {
	.family = "link",
	.name = "retry",
	.args = "NODE:PORT PROTOCOL",
	.brief = "Ask for a retry protocol: angara, acknak, hippi or auto",
	.help = "Obeyed when the link begins its next session: 'fabricctl link down' and 'link up'\n"
		"begin one. The other end must ask for the same or, as by default, for auto: ends\n"
		"that ask for different protocols stay in state init, with reason mismatch. The\n"
		"NIC keeps it until it is restarted; to set it for good, use the NIC's parameter\n"
		"'retry'. 'fabricctl links --all' shows the protocol of a link and the one it asks\n"
		"for.",
	.min = 2,
	.max = 2,
	.asks = true,
	.json = true,
	.run = link_retry,
};
