// SPDX-License-Identifier: GPL-2.0-only
/* Used by mpirun and mpiexec in place of rsh and ssh. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kind.h"
#include "lab.h"
#include "node.h"
#include "output.h"

/* Joins the words to one line for the shell, as rsh and ssh do. */
static char *join_words(int n, char **word)
{
	size_t len = 1;
	char *line, *p;

	for (int i = 0; i < n; i++)
		len += strlen(word[i]) + 1;
	line = malloc(len);
	if (!line)
		return NULL;
	p = line;
	for (int i = 0; i < n; i++) {
		if (i)
			*p++ = ' ';
		p = stpcpy(p, word[i]);
	}
	*p = '\0';
	return line;
}

static int lab_agent(struct ctl *ctl, int argc, char **argv)
{
	const char *host = strrchr(argv[0], '@');
	struct lab lab;
	uint32_t node;
	char *line;
	int err, status;

	host = host ? host + 1 : argv[0];
	if (geteuid())
		return fail_as(DENIED,
			       "lab agent needs root: run mpirun by 'sudo fabricctl lab exec'");
	status = lab_open(&lab, ctl->lab, LAB_READ);
	if (status != OK)
		return status;
	status = lab_node_parse(&lab, host, &node);
	if (status == OK) {
		err = node_enter(&lab, node);
		status = err ? (int)kind_of_errno(err) : OK;
	}
	lab_free(&lab);
	if (status != OK)
		return status;
	line = join_words(argc - 1, argv + 1);
	if (!line)
		return fail("out of memory");
	execl("/bin/sh", "sh", "-c", line, NULL);
	fail("/bin/sh: %m");
	return 126;
}

COMMAND(lab_agent) = {
	.family = "lab",
	.name = "agent",
	.args = "HOST COMMAND...",
	.brief = "For mpirun and mpiexec: start a command on a node, in place of ssh",
	.help = "'lab exec' configures Open MPI and MPICH, with this agent:\n\n"
		"    fabricctl lab exec 0,0 -- mpirun --host $(fabricctl lab hosts --list) "
		"PROGRAM\n"
		"    fabricctl lab exec 0,0 -- mpiexec.mpich -hosts $(fabricctl lab hosts --list) "
		"PROGRAM\n\n"
		"By hand: mpirun --mca plm_rsh_agent \"fabricctl lab agent\" --mca btl tcp,self\n"
		"--mca btl_tcp_if_include torus0 --mca oob_tcp_if_include svc0 ...",
	.min = 2,
	.max = ANY_ARGS,
	.in_lab = true,
	.rest = true,
	.run = lab_agent,
};
