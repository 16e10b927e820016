// SPDX-License-Identifier: GPL-2.0-only
#include <torus/torus.h>

#include "change.h"
#include "output.h"

static int link_retry(struct ctl *ctl, int argc, char **argv)
{
	enum torus_retry protocol;

	(void)argc;
	if (torus_retry_parse(argv[1], &protocol))
		return fail("retry protocol '%s': must be angara, acknak, hippi or auto",
			    argv[1]);
	return change_retry(ctl, argv[0], argv[1]);
}

COMMAND(link_retry) = {
	.family = "link",
	.name = "retry",
	.args = "NODE:PORT PROTOCOL",
	.brief = "Choose how a link retransmits: angara, acknak, hippi or auto",
	.help = "The protocol is used from the next start of the link on: 'fabricctl link down'\n"
		"and 'link up' make one. The other end must ask for the same protocol, or for\n"
		"auto, which is the default: if the ends ask for different ones, the link stays\n"
		"in state init, with reason mismatch. The NIC keeps it until it is restarted; to\n"
		"set it for good, use the NIC's parameter 'retry'. 'fabricctl links --all' shows\n"
		"the protocol of a link and the one it asks for.",
	.min = 2,
	.max = 2,
	.asks = true,
	.json = true,
	.run = link_retry,
};
