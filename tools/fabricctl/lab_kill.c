// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"
#include "node.h"
#include "say.h"

static bool manager, nic;

static int kill_node(struct lab *lab, uint32_t node, const char *text)
{
	unsigned int what = (manager ? LAB_NO_MANAGER : 0u) | (nic ? LAB_NO_NIC : 0u);
	int err;

	if (!what)
		what = LAB_NO_MANAGER | LAB_NO_NIC | LAB_NO_POWER;
	lab->killed[node] |= (uint8_t)what;
	err = lab_save(lab);
	err = err ? err : node_kill(lab, node, what);
	if (!err && what & LAB_NO_POWER)
		err = node_wires(lab, node);
	return err ? fail("node '%s': %s", text, strerror(-err)) : OK;
}

static int lab_kill(struct ctl *ctl, int argc, char **argv)
{
	struct lab lab;
	uint32_t node;
	int status;

	(void)argc;
	if (geteuid())
		return fail("lab kill needs root: run it with sudo");
	if (lab_open(&lab, ctl->lab, LAB_ALONE))
		return CANNOT;
	status = lab_node_parse(&lab, argv[0], &node);
	if (status == OK)
		status = kill_node(&lab, node, argv[0]);
	lab_free(&lab);
	return status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "manager", 0, NULL, &manager, 0, 0, "kill its manager (fabricd)" },
	{ OPT_FLAG, "nic", 0, NULL, &nic, 0, 0, "kill its NIC; the carrier stays" },
	{ .kind = OPT_END },
};

COMMAND(lab_kill) = {
	.family = "lab",
	.name = "kill",
	.args = "NODE",
	.brief = "Kill a node at once (SIGKILL), as if it lost its power",
	.help = "NIC and manager end without a word and all its cables lose their carrier. With\n"
		"--manager or --nic only that process ends, and the cables keep their carrier.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.in_lab = true,
	.run = lab_kill,
};
