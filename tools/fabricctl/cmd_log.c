// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "json.h"
#include "output.h"

static int level_check(const char *level)
{
	static const char *const allowed[] = { "error", "warning", "info", "debug" };

	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (!strcmp(level, allowed[i]))
			return OK;
	return fail("log level '%s': must be error, warning, info or debug", level);
}

static int cmd_log(struct ctl *ctl, int argc, char **argv)
{
	struct ask a;
	json_t *data;
	int status;

	status = argc ? level_check(argv[0]) : OK;
	if (status == OK)
		status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	data = json_pack("{ss ss*}", "cmd", "log", "level", argc ? argv[0] : NULL);
	status = ask(&a, data, &data);
	if (status == OK) {
		if (ctl->json)
			json_show(json_incref(data));
		else
			printf("%s: log level %s\n", a.who, json_text(data, "level"));
		json_decref(data);
	}
	ask_close(&a);
	return status;
}

COMMAND(cmd_log) = {
	.name = "log",
	.args = "[LEVEL]",
	.brief = "Show or set how much a manager logs: error, warning, info or debug",
	.help = "Without LEVEL, shows the level of the manager that is asked; with LEVEL, sets it\n"
		"until that manager restarts. 'fabricctl events --local' shows what that manager\n"
		"has logged.",
	.max = 1,
	.asks = true,
	.json = true,
	.run = cmd_log,
};
