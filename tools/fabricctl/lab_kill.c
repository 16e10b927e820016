// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kind.h"
#include "lab.h"
#include "node.h"
#include "output.h"
#include "power.h"

static bool manager, nic, power;

static int kill_node(struct lab *lab, uint32_t node, const char *text)
{
	unsigned int what = (manager ? LAB_NO_MANAGER : 0u) | (nic ? LAB_NO_NIC : 0u);
	int err;

	if (!what)
		what = LAB_NO_MANAGER | LAB_NO_NIC | LAB_NO_POWER;
	lab->killed[node] |= (uint8_t)what;
	err = lab_save(lab);
	if (!err && power)
		err = power_off(lab, node);
	else
		err = err ? err : node_kill(lab, node, what);
	if (!err && what & LAB_NO_POWER)
		err = node_wires(lab, node);
	return err ? fail_as(kind_of_errno(err), "node '%s': %s", text, strerror(-err)) : OK;
}

static int check_power(const struct lab *lab)
{
	if (power && (manager || nic))
		return fail("--power takes NIC and manager: without --manager and --nic");
	if (power && lab->packed)
		return fail("--power: the nodes of a packed lab have no interfaces of their own to "
			    "take down; lab kill without --power kills one");
	return OK;
}

static int lab_kill(struct ctl *ctl, int argc, char **argv)
{
	struct lab lab;
	uint32_t node;
	int status;

	(void)argc;
	if (geteuid())
		return fail_as(DENIED, "lab kill needs root: run it with sudo");
	status = lab_open(&lab, ctl->lab, LAB_ALONE);
	if (status != OK)
		return status;
	status = check_power(&lab);
	if (status == OK)
		status = lab_node_parse(&lab, argv[0], &node);
	if (status == OK)
		status = kill_node(&lab, node, argv[0]);
	lab_free(&lab);
	return status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "manager", 0, NULL, &manager, 0, 0, "kill its manager (fabricd)" },
	{ OPT_FLAG, "nic", 0, NULL, &nic, 0, 0, "kill its NIC; the carrier stays" },
	{ OPT_FLAG, "power", 0, NULL, &power, 0, 0,
	  "its host vanishes: its connections are not closed" },
	{ .kind = OPT_END },
};

COMMAND(lab_kill) = {
	.family = "lab",
	.name = "kill",
	.args = "NODE",
	.brief = "Fault: kill a node, its manager or its NIC, or switch off its power",
	.help = "NIC and manager are killed and all its cables lose their carrier. The kernel\n"
		"closes their connections, by which other managers notice it at once. With\n"
		"--power they get no such sign: all processes of the node are stopped, then its\n"
		"interfaces go down, also that of the service network, and then the processes are\n"
		"killed.\n"
		"With --manager or --nic only that process is killed, and the cables keep their\n"
		"carrier.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.in_lab = true,
	.run = lab_kill,
};
