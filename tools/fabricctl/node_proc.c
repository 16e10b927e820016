// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "node_proc.h"
#include "proc.h"

int node_start(const struct lab *lab, uint32_t node, int netns, const char *program,
	       char *const *argv)
{
	char file[64], log[LAB_TEXT_MAX], pidfile[LAB_TEXT_MAX];
	struct proc p = { .argv = argv, .netns = netns, .log = log, .pidfile = pidfile };

	snprintf(file, sizeof(file), "%s.log", program);
	lab_path(lab, node, file, log);
	snprintf(file, sizeof(file), "%s.pid", program);
	lab_path(lab, node, file, pidfile);
	return proc_start(&p);
}

void node_show_log(const struct lab *lab, uint32_t node, const char *program)
{
	char file[64], path[LAB_TEXT_MAX], tail[1024], *p = tail;
	FILE *f;
	size_t n;

	snprintf(file, sizeof(file), "%s.log", program);
	f = fopen(lab_path(lab, node, file, path), "re");
	if (!f)
		return;
	fprintf(stderr, "the end of %s:\n", path);
	if (fseek(f, -(long)sizeof(tail) + 1, SEEK_END) == 0 || fseek(f, 0, SEEK_SET) == 0) {
		n = fread(tail, 1, sizeof(tail) - 1, f);
		tail[n] = '\0';
		if (n == sizeof(tail) - 1 && (p = strchr(tail, '\n')) != NULL)
			p++;
		fputs(p ? p : tail, stderr);
	}
	fclose(f);
}
