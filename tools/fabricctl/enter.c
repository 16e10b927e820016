// SPDX-License-Identifier: GPL-2.0-only
/* Moves this process into a node of a lab: network namespace, host name, /etc/hosts and /sys. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "launcher.h"
#include "netns.h"
#include "node.h"
#include "output.h"

/* Mounts /sys again, because it shows the network of the namespace that mounted it. */
static void show_sys(void)
{
	struct statvfs st;
	unsigned long flags = 0;

	/*
	 * If /sys cannot be unmounted, another /sys is mounted over it; a read-only /sys is
	 * replaced by a read-only one.
	 */
	if (umount2("/sys", MNT_DETACH) && !statvfs("/sys", &st) && st.f_flag & ST_RDONLY)
		flags = MS_RDONLY;
	if (mount("sysfs", "/sys", "sysfs", flags, NULL))
		warn("cannot show /sys of the node: %m");
}

int node_enter(const struct lab *lab, uint32_t node)
{
	char text[LAB_TEXT_MAX], path[LAB_TEXT_MAX];
	int err, ns = netns_open(lab_netns(lab, node, text));

	if (ns < 0) {
		fail("network namespace %s: %s; 'fabricctl lab status' shows the lab", text,
		     strerror(-ns));
		return ns;
	}
	err = netns_enter(ns);
	close(ns);
	if (!err && unshare(CLONE_NEWNS | CLONE_NEWUTS))
		err = -errno;
	if (!err && mount("", "/", "none", MS_SLAVE | MS_REC, NULL))
		err = -errno;
	if (err) {
		fail("cannot enter node %s: %s", text, strerror(-err));
		return err;
	}
	show_sys();
	lab_host(lab, node, text);
	if (sethostname(text, strlen(text)))
		warn("cannot set host name %s: %m", text);
	if (mount(lab_path(lab, TORUS_NO_NODE, "hosts", path), "/etc/hosts", "none", MS_BIND,
		  NULL))
		warn("names of nodes will not resolve: %s over /etc/hosts: %m", path);
	setenv("TORUS_LAB", lab->name, 1);
	setenv("TORUS_NODE", torus_node_text(&lab->shape, node, text), 1);
	setenv("TORUS_DEVICE", lab_device(lab, node, path), 1);
	setenv("TORUS_RMA", lab_rma(lab, node, path), 1);
	setenv("TORUS_CONTROL", lab_path(lab, node, "control", path), 1);
	launcher_environment(lab);
	return 0;
}
