// SPDX-License-Identifier: GPL-2.0-only
/* Becoming a process of a node, as ip-netns exec and a host name would make it. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "netns.h"
#include "node.h"
#include "say.h"

/* /sys shows the network of the namespace that mounted it. */
static void show_sys(void)
{
	struct statvfs st;
	unsigned long flags = 0;

	/* One that cannot be taken away is covered; what is read-only stays so. */
	if (umount2("/sys", MNT_DETACH) && !statvfs("/sys", &st) && st.f_flag & ST_RDONLY)
		flags = MS_RDONLY;
	if (mount("sysfs", "/sys", "sysfs", flags, NULL))
		warn("cannot show /sys of the node: %m");
}

/* What mpirun of Open MPI must know to run across the lab; the user's own word counts more. */
static void mpi_environment(void)
{
	char self[PATH_MAX], agent[PATH_MAX + 16];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n > 0) {
		self[n] = '\0';
		snprintf(agent, sizeof(agent), "%s lab agent", self);
		setenv("OMPI_MCA_plm_rsh_agent", agent, 0);
	}
	setenv("OMPI_MCA_btl", "tcp,self", 0);
	setenv("OMPI_MCA_btl_tcp_if_include", "torus0", 0);
	setenv("OMPI_MCA_oob_tcp_if_include", "svc0", 0);
	setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
	setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
	setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
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
	setenv("TORUS_CONTROL", lab_path(lab, node, "control", path), 1);
	mpi_environment();
	return 0;
}
