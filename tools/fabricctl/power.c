// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a process is killed, the kernel closes its connections, which the peers notice. A host that
 * loses its power sends nothing. So its processes are stopped first, then its interfaces are taken
 * down, and only then are the processes killed: packets that the kernel sends for them are lost.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "netns.h"
#include "node.h"
#include "power.h"
#include "proc.h"
#include "wire.h"

#define PROCESSES 256	/* most processes that are stopped at the same time; others are killed
			 * when they are found */

/* struct service - the end of the service network in a node */
struct service {
	bool up;
};

static int set_service(void *arg)
{
	const struct service *s = arg;
	struct nl_sock *sk = wire_open();
	int err = sk ? wire_set_up(sk, "svc0", s->up) : -errno;

	wire_close(sk);
	return err;
}

static int switch_service(const struct lab *lab, uint32_t node, bool up)
{
	struct service s = { .up = up };
	char name[LAB_TEXT_MAX];

	return netns_visit(lab_netns(lab, node, name), set_service, &s);
}

int power_off(const struct lab *lab, uint32_t node)
{
	int fd[PROCESSES], err, wires, end;
	char name[LAB_TEXT_MAX];
	struct stat ns;
	unsigned int n;

	err = netns_stat(lab_netns(lab, node, name), &ns);
	if (err)
		return err;
	n = netns_hold(&ns, 1, fd, PROCESSES);
	for (unsigned int i = 0; i < n; i++)
		proc_signal(fd[i], SIGSTOP);
	wires = node_wires(lab, node);
	err = switch_service(lab, node, false);
	end = node_kill(lab, node, LAB_NO_MANAGER | LAB_NO_NIC);
	end = proc_end(fd, n, 0) ? -EBUSY : end;
	return wires ? wires : err ? err : end;
}

int power_signal(const struct lab *lab, uint32_t node, int sig)
{
	char name[LAB_TEXT_MAX];
	int fd[PROCESSES], err;
	struct stat ns;
	unsigned int n;

	err = netns_stat(lab_netns(lab, node, name), &ns);
	if (err)
		return err;
	n = netns_hold(&ns, 1, fd, PROCESSES);
	for (unsigned int i = 0; i < n; i++) {
		/* A process that has just ended needs no signal. */
		proc_signal(fd[i], sig);
		close(fd[i]);
	}
	return (int)n;
}

int power_on(const struct lab *lab, uint32_t node)
{
	return switch_service(lab, node, true);
}
