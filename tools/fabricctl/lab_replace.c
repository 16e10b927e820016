// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "kind.h"
#include "names.h"
#include "node.h"
#include "output.h"
#include "power.h"
#include "revive.h"

static const char *name;
static struct revive how = { .timeout = REVIVE_TIMEOUT };

/*
 * Checks the name, which becomes a line of fabricd.conf: without blanks, quotes and signs that
 * begin a comment. Coordinates begin with a digit, so names must not.
 */
static int name_check(void)
{
	size_t len = name ? strlen(name) : 1;

	if (name && (len < 1 || len > TORUS_NAME_MAX || !isalpha((unsigned char)name[0]) ||
		     strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789._-") != len))
		return fail("--as '%s': must be 1 to %d letters, digits, '.', '_' and '-', "
			    "beginning with a letter", name, TORUS_NAME_MAX);
	return OK;
}

/* Removes the old node as if its power were switched off; packed nodes are killed. */
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

/* Gives the node the name of --as, and writes the lists of names again. */
static int rename_node(struct lab *lab, uint32_t node)
{
	int err = name ? lab_rename(lab, node, name) : 0;

	return name && !err ? names_renew(lab) : err;
}

static int replace_node(struct lab *lab, uint32_t node)
{
	char text[TORUS_TEXT_MAX];
	uint32_t other;
	int err;

	if (lab->bare)
		return fail("lab '%s' is bare: there is no node to replace; 'fabricctl lab revive' "
			    "starts one", lab->name);
	if (name && lab_node_find(lab, name, &other) && other != node)
		return fail("--as '%s': it means node %s of this lab", name,
			    torus_node_text(&lab->shape, other, text));
	if (lab->replaced[node] == LAB_REPLACED_MAX)
		return fail("it was replaced %d times, which is all that its GUID can tell apart",
			    LAB_REPLACED_MAX);
	err = take_away(lab, node);
	if (!err)
		err = node_renew(lab, node, name);
	if (!err)
		err = rename_node(lab, node);
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
		status = replace_node(&lab, node);
	lab_free(&lab);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "as", 0, "NAME", &name, 0, 0,
	  "name of the new node, else that of the old one" },
	REVIVE_OPTS(how),
	{ .kind = OPT_END },
};

COMMAND(lab_replace) = {
	.family = "lab",
	.name = "replace",
	.args = "NODE",
	.brief = "Replace a node by a new one: other GUID, empty disk",
	.help = "The old node loses its power. The new one has the same cables and addresses, but\n"
		"a NIC with another GUID and an empty disk.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.in_lab = true,
	.run = lab_replace,
};
