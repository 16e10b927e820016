// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "ask.h"
#include "json.h"
#include "say.h"

static int level_check(const char *level)
{
	static const char *const allowed[] = { "error", "warning", "info", "debug" };

	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (!strcmp(level, allowed[i]))
			return OK;
	return fail("log level '%s': allowed are error, warning, info, debug", level);
}

static int cmd_log(struct ctl *ctl, int argc, char **argv)
{
	struct ask a;
	json_t *data;
	int status;

	(void)argc;
	status = level_check(argv[0]);
	if (status == OK)
		status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = ask(&a, json_pack("{ss ss}", "cmd", "log", "level", argv[0]), &data);
	if (status == OK) {
		if (ctl->json)
			json_show(json_incref(data));
		else
			printf("log level %s\n", json_text(data, "level"));
		json_decref(data);
	}
	ask_close(&a);
	return status;
}

COMMAND(cmd_log) = {
	.name = "log",
	.args = "LEVEL",
	.brief = "How much the asked manager logs: error, warning, info, debug",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = cmd_log,
};
