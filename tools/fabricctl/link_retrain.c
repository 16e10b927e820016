// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "ask.h"
#include "json.h"
#include "say.h"

static int link_retrain(struct ctl *ctl, int argc, char **argv)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	json_t *data;
	struct ask a;
	int status;

	(void)argc;
	if (ask_open(ctl, &a))
		return CANNOT;
	status = ask_link(&a, argv[0], node, port);
	if (status == OK)
		status = ask(&a, json_pack("{ss ss ss}", "cmd", "retrain", "node", node, "port",
					   port), &data);
	if (status == OK && ctl->json)
		json_show(data);
	else if (status == OK)
		json_decref(data);
	if (status == OK && !ctl->json)
		printf("%s:%s trains anew\n", node, port);
	ask_close(&a);
	return status;
}

COMMAND(link_retrain) = {
	.family = "link",
	.name = "retrain",
	.args = "NODE:PORT",
	.brief = "Train a link's receiver anew, with all its lanes and rates",
	.help = "A line that became better again keeps what training left it until then. Traffic\n"
		"waits for some milliseconds and loses nothing. The other direction has its own\n"
		"receiver, at the other end.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = link_retrain,
};
