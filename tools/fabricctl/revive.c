// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "await.h"
#include "fault.h"
#include "kind.h"
#include "netns.h"
#include "nic.h"
#include "node.h"
#include "node_proc.h"
#include "output.h"
#include "power.h"
#include "revive.h"

static volatile sig_atomic_t interrupted;

static void on_revive_signal(int sig)
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

static int start_revived(struct lab *lab, uint32_t node, int ns)
{
	unsigned int missing = node_missing(lab, node);
	struct programs p;
	int err = 0, status = programs_find(&p);

	if (status != OK)
		return status;
	if (!lab->packed)
		power_signal(lab, node, SIGCONT);
	if (lab->killed[node] & LAB_NO_POWER && !lab->packed)
		err = power_on(lab, node);
	lab->killed[node] = 0;
	lab->bare = false;
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

static int revive_node(struct lab *lab, uint32_t node)
{
	char name[LAB_TEXT_MAX];
	int ns = netns_open(lab_process_netns(lab, node, name)), status;

	if (ns < 0)
		return fail_as(kind_of_errno(ns), "namespace %s: %s", name, strerror(-ns));
	status = start_revived(lab, node, ns);
	close(ns);
	return status;
}

static bool has_manager(const struct lab *lab)
{
	for (uint32_t id = 0; id < lab->nodes; id++)
		if (!(node_missing(lab, id) & LAB_NO_MANAGER))
			return true;
	return false;
}

/* Revives @node, and @all others if no manager runs, because one manager alone has no quorum. */
static int revive_nodes(struct lab *lab, uint32_t node, bool all)
{
	int status;

	if (all)
		warn("no manager of lab '%s' runs, and one alone cannot become root: all %u nodes "
		     "are revived", lab->name, lab->nodes);
	status = revive_node(lab, node);
	for (uint32_t id = 0; all && status == OK && id < lab->nodes; id++)
		if (node_missing(lab, id))
			status = revive_node(lab, id);
	return status;
}

int revive(struct lab *lab, uint32_t node, const struct revive *how)
{
	bool all = !how->no_wait && !lab->bare && lab->nodes > 1 && !has_manager(lab);
	int status = revive_nodes(lab, node, all);

	signal(SIGINT, on_revive_signal);
	if (status == OK && !how->no_wait)
		status = await_node(lab, node, (int)how->timeout, &interrupted);
	return status;
}
