// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "both.h"
#include "json.h"
#include "output.h"

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

static void show_powers(const char *what, const json_t *list)
{
	size_t i;
	json_t *v;

	if (!json_array_size(list))
		return;
	printf("  %-12s", what);
	json_array_foreach(list, i, v)
		printf("%s%.4f", i ? ", " : "", json_number_value(v));
	printf(" mW\n");
}

static void show_plug(const json_t *m)
{
	const json_t *celsius = json_object_get(m, "celsius");

	printf("  %-12s%s %s, revision %s, %s\n", "plug", or_none(json_text(m, "vendor")),
	       or_none(json_text(m, "part")), or_none(json_text(m, "revision")),
	       or_none(json_text(m, "kind")));
	printf("  %-12s%s, made %s\n", "serial", or_none(json_text(m, "serial")),
	       or_none(json_text(m, "date")));
	if (json_is_number(celsius))
		printf("  %-12s%.1f C, %.3f V\n", "measured", json_number_value(celsius),
		       json_number_value(json_object_get(m, "volts")));
	show_powers("sends", json_object_get(m, "tx_mw"));
	show_powers("receives", json_object_get(m, "rx_mw"));
}

static void show_end(const json_t *end)
{
	const json_t *m = json_object_get(end, "module");
	const char *why = json_text(end, "why"), *lower = json_text(end, "lower");
	char at[TORUS_TEXT_MAX];

	printf("%s (%s), %s\n", json_end_text(end, at), or_none(json_text(end, "name")),
	       lower ? lower : "no interface");
	if (json_is_object(m))
		show_plug(m);
	else
		printf("  %s\n", why ? why : "the driver has not answered yet");
}

static int link_module(struct ctl *ctl, int argc, char **argv)
{
	json_t *list, *v;
	int status = both_ask(ctl, argv[0], "module", json_pack("{sb}", "look", 1), &list);
	bool some = false;
	size_t i;

	(void)argc;
	json_array_foreach(list, i, v)
		some |= json_is_object(json_object_get(v, "module"));
	if (status == OK && ctl->json)
		json_show(json_incref(list));
	else
		json_array_foreach(list, i, v)
			show_end(v);
	json_decref(list);
	return status == OK && !some ? PROBLEM : status;
}

COMMAND(link_module) = {
	.family = "link",
	.name = "module",
	.args = "NODE:PORT",
	.brief = "Vendor, serial number and temperature of the plugs of a cable",
	.help = "Shows what the memories of the plugs at both ends of a cable say, as 'ethtool\n"
		"-m' does for the Ethernet interface of the port: vendor, part and serial number,\n"
		"temperature and light. Values that a plug or its driver does not report are left\n"
		"out. Exit status 1: neither end reports any.",
	.min = 1,
	.max = 1,
	.asks = true,
	.json = true,
	.run = link_module,
};
