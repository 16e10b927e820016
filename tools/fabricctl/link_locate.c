// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "both.h"
#include "json.h"
#include "number.h"
#include "output.h"

#define SECONDS_MAX 3600

static uint64_t seconds = 30;
static bool off;

static bool is_state(const json_t *end, const char *state)
{
	return json_text(end, "state") && !strcmp(json_text(end, "state"), state);
}

static void show_end(const json_t *end)
{
	const char *lower = json_text(end, "lower"), *why = json_text(end, "why");
	char at[TORUS_TEXT_MAX], left[32];
	const char *name = json_text(end, "name");

	printf("%s (%s): ", json_end_text(end, at), name ? name : "-");
	if (is_state(end, "goes-on"))
		printf("the LED of %s blinks for %s\n", lower, duration_text(
			       json_number_value(json_object_get(end, "left_ms")) / 1e3, left));
	else if (is_state(end, "failed"))
		printf("%s\n", why ? why : "it cannot blink");
	else if (is_state(end, "begins"))
		printf("the driver of %s has not answered yet\n", lower ? lower : "-");
	else
		printf("no LED blinks\n");
}

static int link_locate(struct ctl *ctl, int argc, char **argv)
{
	json_t *list, *begin = json_pack("{sI}", "seconds", (json_int_t)(off ? 0 : seconds)), *v;
	int status = both_ask(ctl, argv[0], "locate", begin, &list);
	bool some = off;
	size_t i;

	(void)argc;
	json_array_foreach(list, i, v)
		some |= is_state(v, "goes-on") || is_state(v, "begins");
	if (status == OK && ctl->json)
		json_show(json_incref(list));
	else
		json_array_foreach(list, i, v)
			show_end(v);
	json_decref(list);
	return status == OK && !some ? PROBLEM : status;
}

static const struct opt opts[] = {
	{ OPT_NUMBER, "seconds", 's', "N", &seconds, 1, SECONDS_MAX, "how long to blink (30)" },
	{ OPT_FLAG, "off", 'o', NULL, &off, 0, 0, "end it" },
	{ .kind = OPT_END },
};

COMMAND(link_locate) = {
	.family = "link",
	.name = "locate",
	.args = "NODE:PORT",
	.brief = "Find a cable: make the LEDs at both its ends blink",
	.help = "The LEDs are those of the interfaces below the ports, as of 'ethtool\n"
		"--identify'; whether there is one depends on the driver. One LED of a node\n"
		"blinks at a time. Exit status 1: neither end can blink.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = link_locate,
};
