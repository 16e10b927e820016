// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

#define AGENT "lab-agent"

static const char *const environment[][2] = {
	{ "OMPI_MCA_btl", "tcp,self" },
	{ "OMPI_MCA_btl_tcp_if_include", "torus0" },
	{ "OMPI_MCA_oob_tcp_if_include", "svc0" },
	{ "OMPI_MCA_mpi_yield_when_idle", "1" },
	{ "OMPI_ALLOW_RUN_AS_ROOT", "1" },
	{ "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1" },
	{ "HYDRA_LAUNCHER", "rsh" },
	{ "UCX_TLS", "tcp,self" },
	{ "UCX_NET_DEVICES", "torus0" },
};

int launcher_make(const struct lab *lab)
{
	char self[PATH_MAX], agent[LAB_TEXT_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return -errno;
	self[n] = '\0';
	return symlink(self, lab_path(lab, TORUS_NO_NODE, AGENT, agent)) ? -errno : 0;
}

bool launcher_called(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');

	return !strcmp(slash ? slash + 1 : argv0, AGENT);
}

void launcher_environment(const struct lab *lab)
{
	char agent[LAB_TEXT_MAX];

	lab_path(lab, TORUS_NO_NODE, AGENT, agent);
	setenv("OMPI_MCA_plm_rsh_agent", agent, 0);
	setenv("HYDRA_LAUNCHER_EXEC", agent, 0);
	for (size_t i = 0; i < sizeof(environment) / sizeof(environment[0]); i++)
		setenv(environment[i][0], environment[i][1], 0);
}
