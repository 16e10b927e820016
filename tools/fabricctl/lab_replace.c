// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include <unistd.h>

#include "kind.h"
#include "node.h"
#include "power.h"
#include "revive.h"
#include "say.h"

static const char *name;
static struct revive how = { .timeout = REVIVE_TIMEOUT };

/* It becomes a line of fabricd.conf: no blanks, quotes, or what begins a comment. */
static int name_check(void)
{
	size_t len = name ? strlen(name) : 1;

	if (name && (len < 1 || len > TORUS_NAME_MAX ||
		     strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != len))
		return fail("--as '%s': allowed are 1 to %d letters, digits, '.', '_' and '-'", name,
			    TORUS_NAME_MAX);
	return OK;
}

/* The old node goes as one does whose power is switched off; packed ones have no power. */
static int take_away(struct lab *lab, uint32_t node)
{
	int err;

	lab->killed[node] = LAB_NO_MANAGER | LAB_NO_NIC | LAB_NO_POWER;
	err = lab_save(lab);
	if (err)
		return err;
	if (!lab->packed)
		return power_off(lab, node);
	err = node_kill(lab, node, LAB_NO_MANAGER | LAB_NO_NIC);
	return err ? err : node_wires(lab, node);
}

/* Return: true if no node runs and none was killed: no root would take the new one. */
static bool is_bare(const struct lab *lab)
{
	for (uint32_t id = 0; id < lab->nodes; id++)
		if (lab->killed[id] || node_missing(lab, id) != (LAB_NO_NIC | LAB_NO_MANAGER))
			return false;
	return true;
}

static int replace(struct lab *lab, uint32_t node)
{
	int err;

	if (is_bare(lab))
		return fail("no node of lab '%s' runs, as in a bare lab: there is none to replace",
			    lab->name);
	if (lab->replaced[node] == LAB_REPLACED_MAX)
		return fail("it was replaced %d times, which is all that its GUID can tell apart",
			    LAB_REPLACED_MAX);
	err = take_away(lab, node);
	if (!err)
		err = node_renew(lab, node, name);
	if (err)
		return fail_as(kind_of_errno(err), "cannot replace: %s", strerror(-err));
	lab->replaced[node]++;
	return revive(lab, node, &how);
}

static int lab_replace(struct ctl *ctl, int argc, char **argv)
{
	struct lab lab;
	uint32_t node;
	int status;

	(void)argc;
	if (geteuid())
		return fail_as(DENIED, "lab replace needs root: run it with sudo");
	status = name_check();
	if (status == OK)
		status = lab_open(&lab, ctl->lab, LAB_ALONE);
	if (status != OK)
		return status;
	status = lab_node_parse(&lab, argv[0], &node);
	if (status == OK)
		status = replace(&lab, node);
	lab_free(&lab);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "as", 0, "NAME", &name, 0, 0, "name of the new node, else that of the old one" },
	REVIVE_OPTS(how),
	{ .kind = OPT_END },
};

COMMAND(lab_replace) = {
	.family = "lab",
	.name = "replace",
	.args = "NODE",
	.brief = "Put another node in the place of one",
	.help = "The old node loses its power. The new one has the same cables and addresses, but a\n"
		"NIC with another GUID and an empty disk.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.in_lab = true,
	.run = lab_replace,
};
