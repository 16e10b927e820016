// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "json.h"
#include "next.h"
#include "root.h"
#include "say.h"

/** struct step - the next step for a kind of problem whose text has @part; @part NULL: any text */
struct step {
	const char *kind, *part;
	const char *command, *text;
};

#define WHY_DOWN "has the reason of each end: 'mismatch' or 'bubble', set the value of the other nodes; " \
		 "'admin', link up; 'carrier', look at plugs and power; all of a node silent, start " \
		 "the node; else reseat or replace the cable"

static const struct step steps[] = {
	{ "wiring", NULL, "cabling", "names the ends to move" },
	{ "wave", NULL, "cabling", "names the ends to move" },
	{ "flap", NULL, "outages", "has each loss of the cable and its reason; reseat or replace it" },
	{ "stall", NULL, "links --bad", WHY_DOWN },
	{ "fabric", NULL, "links --bad", WHY_DOWN },
	{ "dispute", NULL, "links --bad", WHY_DOWN },
	{ "isolated", NULL, "links --bad", WHY_DOWN },
	{ "node", "is silent", "events --level warning --kind seal,release,nic,fabric,node",
	  "has what its neighbours say of it; set key, release or NIC right and start its manager again" },
	{ "node", NULL, "links --bad", WHY_DOWN },
	{ "seal", NULL, "events --kind seal",
	  "has the ports; give the node there the key and the release of the others" },
	{ "release", NULL, "nodes", "has the release of each (SOFTWARE); update the older ones" },
	{ "state", NULL, "root", "has the disks of the candidates (DISK); make room on the full one" },
	{ "history", "is not used", "events --kind history",
	  "has when; move that file to its own node, or delete it, and restart the manager" },
	{ "history", NULL, "root", "has the disks of the candidates (DISK); make room on the full one" },
	{ "root", NULL, "root", "has who leads and who could; start the managers that do not answer" },
	{ "config", NULL, "events --kind config",
	  "has the node and the line; correct the file there, and 'systemctl reload fabricd'" },
	{ "quorum", NULL, "root", "has who answers; start the managers that do not" },
	{ "arbiter", NULL, "root", "has what the arbiter says; mend it, or set arbiter = none" },
	{ "candidate", NULL, "root", "has the candidates; set their root_priority" },
};

#define COMMAND_MAX 512

/* Appends an option that was given, with its value as a shell reads it. */
static void add_option(char *line, const char *option, const char *value)
{
	size_t n = strlen(line), plain;

	if (!value)
		return;
	plain = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			      "0123456789_+,./:-");
	n += (size_t)snprintf(line + n, COMMAND_MAX - n, " --%s ", option);
	if (*value && !value[plain]) {
		snprintf(line + n, COMMAND_MAX - n, "%s", value);
		return;
	}
	line[n++] = '\'';
	for (; *value && n < COMMAND_MAX - 6; value++)
		n += (size_t)snprintf(line + n, COMMAND_MAX - n, *value == '\'' ? "'\\''" : "%c", *value);
	snprintf(line + n, COMMAND_MAX - n, "'");
}

/* Adds a command with the options that select the manager. */
static void add_step(json_t *list, const struct ctl *ctl, const char *command, const char *text)
{
	char line[COMMAND_MAX];
	size_t i;
	json_t *v;

	snprintf(line, sizeof(line), "fabricctl %s", command);
	add_option(line, "control", ctl->control);
	add_option(line, "lab", ctl->lab);
	add_option(line, "node", ctl->node);
	json_array_foreach(list, i, v)
		if (!strcmp(json_text(v, "command"), line))
			return;
	json_array_append_new(list, json_pack("{ss ss}", "command", line, "text", text));
}

static void add_problem(json_t *list, const struct ctl *ctl, const json_t *problem)
{
	const char *kind = json_text(problem, "kind"), *text = json_text(problem, "text");
	char command[128];

	if (!kind || !text)
		return;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!strcmp(steps[i].kind, kind) && (!steps[i].part || strstr(text, steps[i].part))) {
			add_step(list, ctl, steps[i].command, steps[i].text);
			return;
		}
	snprintf(command, sizeof(command), "events --kind %.64s", kind);
	add_step(list, ctl, command, "has when it began; PROBLEMS in fabricd(8) has what to do");
}

static void add_degraded(json_t *list, const struct ctl *ctl, const json_t *links)
{
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v)
		if (errors_level(v))
			add_step(list, ctl, "links --errors",
				 "has the counts; clean, reseat or replace the cable");
		else
			add_step(list, ctl, "links --bad",
				 "has lanes, rate and margin; reseat or replace the cable");
}

json_t *next_steps(const struct ctl *ctl, const json_t *status)
{
	const json_t *root = json_object_get(status, "root");
	json_t *list = json_array(), *v;
	size_t i;

	if (json_is_object(root) && !root_leads(root))
		add_step(list, ctl, "root",
			 "has who leads and who could; start the managers that do not answer");
	json_array_foreach(json_object_get(status, "problems"), i, v)
		add_problem(list, ctl, v);
	if (json_array_size(json_object_get(status, "faulty")))
		add_step(list, ctl, "links --bad", WHY_DOWN);
	add_degraded(list, ctl, json_object_get(status, "degraded_links"));
	return list;
}

void next_show(const json_t *list)
{
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v)
		printf("%-9s%s%s%s %s\n", i ? "" : "next", paint(STRONG), json_text(v, "command"),
		       paint(PLAIN), json_text(v, "text"));
}
