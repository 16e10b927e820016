/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line. */
#ifndef EMU_ARGS_H
#define EMU_ARGS_H

#include <net/if.h>

#include "kernel/core/nic.h"

/**
 * struct args - what the command line says
 * @lower: lower device of each port, "" for none
 * @frame_max_set: the administrator chose params.frame_max
 */
struct args {
	char name[TORUS_NAME_MAX + 1];
	const char *socket;
	char tun[IFNAMSIZ];
	char lower[TORUS_MAX_PORTS][IFNAMSIZ];
	unsigned int nports;
	u64 guid;
	bool guid_set;
	bool bootstrap;
	bool foreground;
	bool frame_max_set;
	int log_level;
	struct tn_params params;
};

/**
 * args_parse() - fill @args
 * Prints help, the version or what is wrong.
 * Return: 0 to go on, 1 to exit with status 0, -EINVAL to exit with status 2.
 */
int args_parse(struct args *args, int argc, char **argv);

#endif /* EMU_ARGS_H */
