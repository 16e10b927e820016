// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "errors.h"
#include "json.h"
#include "next.h"
#include "output.h"
#include "root.h"

/**
 * struct step - the next step for problems of a kind whose text contains @part; @part NULL: any
 * text
 */
struct step {
	const char *kind, *part;
	const char *command, *text;
};

#define ENDS "links --bad"	/* the command that shows both ends of a cable that is down */
#define OF_DEAD "shows its cables; start the node, or 'fabricctl exclude' takes it out of service"
#define DIFFERS "shows the value of each end; give both NICs the value of all others"
#define WHO_LEADS "shows the root, and the candidates for it; start the managers that do not answer"
#define TAKEOVER "shows who takes over, within seconds; if nobody does, start the managers that " \
		 "do not answer"
#define REPLACE "shows both ends; reseat or replace the cable"

static const struct step steps[] = {
	{ "wiring", NULL, "cabling", "names the ends to move" },
	{ "wave", "names as its sender", "events --kind wave",
	  "shows how often; restart the manager of the node at the other end; if it goes on, do "
	  "not trust that host" },
	{ "wave", NULL, "cabling", "names the ends to move" },
	{ "flap", NULL, "outages",
	  "shows each loss of the cable and its reason; reseat or replace it, then 'fabricctl "
	  "include'" },
	{ "stall", NULL, ENDS,
	  "shows the end that waits; repair the node at the other end, then 'fabricctl link up'" },
	{ "fabric", "different parameters", ENDS, DIFFERS },
	{ "fabric", "no link comes up", ENDS, DIFFERS },
	{ "fabric", NULL, ENDS,
	  "shows both ends; connect the cable elsewhere, or set both nodes alike" },
	{ "dispute", NULL, ENDS,
	  "shows both ends; unplug the cable and plug it in again, or replace it" },
	{ "isolated", NULL, ENDS,
	  "shows its cables; mend one, or 'fabricctl include' one that is excluded" },
	{ "job", "; lost: node ", ENDS, OF_DEAD },
	{ "job", NULL, "links --bad", "shows links that do not work; mend them, or stop the job" },
	{ "node", "is silent", "events --level warning --kind seal,release,nic,fabric,node",
	  "shows what its neighbours report; start fabricd there if it does not run, else correct "
	  "its key, release or NIC, and restart it" },
	{ "node", "its NIC is gone", "events --kind nic",
	  "shows when, and why; repair the NIC there, and load its driver or start its process" },
	{ "node", NULL, ENDS, OF_DEAD },
	{ "nic", "no NIC here", "events --kind nic",
	  "shows since when; 'fabricctl device list' shows the NICs of this machine, and 'device "
	  "up' makes one; another manager (--node) shows the fabric" },
	{ "nic", NULL, "events --kind nic",
	  "shows when, and why; restart the NIC of that node; another manager (--node) shows the "
	  "fabric" },
	{ "seal", NULL, "events --kind seal",
	  "shows the ports; give the node at the other end the key and release of the others, or "
	  "this one if all its ports are named" },
	{ "release", NULL, "nodes", "shows the release of each (SOFTWARE); update the older ones" },
	{ "state", NULL, "root",
	  "shows the disks of the candidates (DISK); make room on the full one" },
	{ "history", "is not used", "events --kind history",
	  "shows when; move that file to its own node, or delete it, and restart the manager" },
	{ "history", NULL, "root",
	  "shows the disks of the candidates (DISK); make room on the full one" },
	{ "root", "does not reach it", "root",
	  "shows its address; repair the service network between that and this node" },
	{ "root", NULL, "root", WHO_LEADS },
	{ "config", NULL, "events --kind config",
	  "shows node and line; correct the file there, and 'systemctl reload fabricd'" },
	{ "quorum", NULL, "root", "shows which managers answer; start those that do not" },
	{ "arbiter", NULL, "root", "shows its answer; repair the arbiter, or set arbiter = none" },
	{ "candidate", NULL, "root", "shows the candidates; give each a root_priority of its own" },
};

/* struct cause - the next step for a cable that is lost for @reason */
static const struct cause {
	const char *reason, *text;
} causes[] = {
	{ "admin", "shows the end that was taken down; 'fabricctl link up' brings it up again" },
	{ "carrier",
	  "shows both ends; check that the plugs sit and both NICs run, else replace the cable" },
	{ "silence", "shows the end that receives nothing; reseat or replace the cable" },
	{ "mismatch", DIFFERS },
	{ "bubble", DIFFERS },
	{ "stall",
	  "shows both ends; repair the node that took no packets, then 'fabricctl link up'" },
};

#define COMMAND_MAX 512

/* Appends an option that was given, with its value quoted for a shell. */
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
		n += (size_t)snprintf(line + n, COMMAND_MAX - n, *value == '\'' ? "'\\''" : "%c",
				      *value);
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
		if (!strcmp(json_text(v, "command"), line) && !strcmp(json_text(v, "text"), text))
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
		if (!strcmp(steps[i].kind, kind) &&
		    (!steps[i].part || strstr(text, steps[i].part))) {
			add_step(list, ctl, steps[i].command, steps[i].text);
			return;
		}
	snprintf(command, sizeof(command), "events --kind %.64s", kind);
	add_step(list, ctl, command, "shows when it began; PROBLEMS in fabricd(8) says what to do");
}

/* Return: true if one of the problems is that this node is dead. */
static bool has_own_problem(const json_t *problems, const json_t *dead)
{
	char at[TORUS_TEXT_MAX], node[TORUS_TEXT_MAX + 8];
	size_t i;
	json_t *v;

	snprintf(node, sizeof(node), "node %s (", json_node_text(dead, at));
	json_array_foreach(problems, i, v) {
		const char *text = json_text(v, "text");

		if (text && !strncmp(text, node, strlen(node)))
			return true;
	}
	return false;
}

/*
 * Adds the next step for a faulty cable; not for a cable that is held down, or whose node is dead,
 * if the status has a problem for it.
 */
static void add_faulty(json_t *list, const struct ctl *ctl, const json_t *problems,
		       const json_t *cable)
{
	const char *reason = json_text(cable, "reason"), *text = REPLACE;
	const json_t *dead = json_object_get(cable, "dead");

	if ((reason && !strcmp(reason, "flap")) ||
	    (json_is_array(dead) && has_own_problem(problems, dead)))
		return;
	for (size_t i = 0; reason && i < sizeof(causes) / sizeof(causes[0]); i++)
		if (!strcmp(causes[i].reason, reason))
			text = causes[i].text;
	add_step(list, ctl, ENDS, json_is_array(dead) ? OF_DEAD : text);
}

static void add_slow(json_t *list, const struct ctl *ctl, const json_t *link)
{
	char command[32 + TORUS_TEXT_MAX], at[TORUS_TEXT_MAX];

	snprintf(command, sizeof(command), "link test %s", json_end_text(link, at));
	add_step(list, ctl, command,
		 "measures the round trip; replace the cable, or what lies between");
}

static void add_degraded(json_t *list, const struct ctl *ctl, const json_t *links)
{
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v)
		if (errors_only_slow(json_object_get(v, "quality")))
			add_slow(list, ctl, v);
		else if (errors_level(v))
			add_step(list, ctl, "links --errors",
				 "shows errors and bits of each receiver; clean, reseat or replace "
				 "the cable, then 'fabricctl exclude' and 'include' it, to have it "
				 "judged anew");
		else
			add_step(list, ctl, "links --bad",
				 "shows lanes, rate and margin; 'fabricctl link retrain' tries all "
				 "lanes and rates again; if that does not help, reseat or replace "
				 "the cable");
}

json_t *next_steps(const struct ctl *ctl, const json_t *status)
{
	const json_t *root = json_object_get(status, "root");
	json_t *list = json_array(), *v, *problems = json_object_get(status, "problems");
	size_t i;

	if (json_is_object(root) && !root_leads(root))
		add_step(list, ctl, "root", root_is_known(root) ? TAKEOVER : WHO_LEADS);
	json_array_foreach(problems, i, v)
		add_problem(list, ctl, v);
	json_array_foreach(json_object_get(status, "faulty"), i, v)
		add_faulty(list, ctl, problems, v);
	add_degraded(list, ctl, json_object_get(status, "degraded_links"));
	return list;
}

bool next_member_works(const json_t *member)
{
	const char *state = json_text(member, "state");

	return state && !strcmp(state, "up") && !json_is_true(json_object_get(member, "excluded"));
}

json_t *next_job(const struct ctl *ctl, const json_t *job, const json_t *members)
{
	json_t *list = json_array(), *v;
	bool excluded = false, failed = false;
	size_t i;

	json_array_foreach(members, i, v) {
		if (json_is_true(json_object_get(v, "excluded")))
			excluded = true;
		else
			failed |= !next_member_works(v);
	}
	if (failed)
		add_step(list, ctl, ENDS, OF_DEAD);
	else if (json_count(job, "parts") > 1)
		add_step(list, ctl, ENDS,
			 "shows links that do not work; mend them, or stop the job");
	if (excluded)
		add_step(list, ctl, "table",
			 "shows below its table who excluded the node, and why; 'fabricctl "
			 "include' takes it back");
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

void next_command(const struct ctl *ctl, const char *command, const char *text)
{
	json_t *list = json_array();

	add_step(list, ctl, command, text);
	next_show(list);
	json_decref(list);
}
