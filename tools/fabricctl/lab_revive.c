// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "await.h"
#include "fault.h"
#include "kind.h"
#include "lab.h"
#include "netns.h"
#include "nic.h"
#include "node.h"
#include "node_proc.h"
#include "power.h"
#include "say.h"

static bool no_wait;
static uint64_t timeout = 30;
static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

static int start_nic(const struct lab *lab, uint32_t node, int ns, const struct programs *p)
{
	int status = nic_start(lab, node, ns, p->nic);

	if (status == OK)
		status = nic_wait(lab, node);
	return status == OK ? fault_copy(lab, node) : status;
}

static int start(struct lab *lab, uint32_t node, int ns)
{
	unsigned int missing = node_missing(lab, node);
	struct programs p;
	int err = 0, status = programs_find(&p);

	if (status != OK)
		return status;
	if (lab->killed[node] & LAB_NO_POWER && !lab->packed)
		err = power_on(lab, node);
	lab->killed[node] = 0;
	err = err ? err : lab_save(lab);
	err = err ? err : node_wires(lab, node);
	if (!err && missing & LAB_NO_NIC)
		status = start_nic(lab, node, ns, &p);
	if (status != OK)
		return status;
	if (!err && missing & LAB_NO_MANAGER) {
		int pid = node_start_manager(lab, node, ns, &p);

		err = pid < 0 ? pid : 0;
	}
	if (err) {
		status = fail_as(kind_of_errno(err), "cannot revive: %s", strerror(-err));
		node_show_log(lab, node, "fabricd");
	}
	return status;
}

static int lab_revive(struct ctl *ctl, int argc, char **argv)
{
	char name[LAB_TEXT_MAX];
	struct lab lab;
	uint32_t node = 0;
	int ns = -1, status;

	(void)argc;
	if (geteuid())
		return fail_as(DENIED, "lab revive needs root: run it with sudo");
	status = lab_open(&lab, ctl->lab, LAB_ALONE);
	if (status != OK)
		return status;
	status = lab_node_parse(&lab, argv[0], &node);
	if (status == OK) {
		ns = netns_open(lab_process_netns(&lab, node, name));
		status = ns < 0 ? fail_as(kind_of_errno(ns), "namespace %s: %s", name, strerror(-ns)) :
				  start(&lab, node, ns);
	}
	signal(SIGINT, on_signal);
	if (status == OK && !no_wait)
		status = await_node(&lab, node, (int)timeout, &interrupted);
	if (ns >= 0)
		close(ns);
	lab_free(&lab);
	return status;
}

static const struct opt opts[] = {
	{ OPT_FLAG, "no-wait", 0, NULL, &no_wait, 0, 0,
	  "do not wait until the fabric has it back" },
	{ OPT_NUMBER, "timeout", 't', "SECONDS", &timeout, 1, 3600,
	  "wait so long at most, default 30" },
	{ .kind = OPT_END },
};

COMMAND(lab_revive) = {
	.family = "lab",
	.name = "revive",
	.args = "NODE",
	.brief = "Start again what was killed of a node",
	.help = "Cables that were cut stay cut, and those with faults keep them.",
	.opts = opts,
	.min = 1,
	.max = 1,
	.in_lab = true,
	.run = lab_revive,
};
