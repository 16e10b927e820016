/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line. */
#ifndef EMU_ARGS_H
#define EMU_ARGS_H

#include <net/if.h>
#include <stddef.h>

#include "kernel/core/nic.h"

/**
 * struct args - what the command line says
 * @pack: socket of a pack, or NULL: one NIC, which the rest is about
 * @tun: "" for no host side
 * @netns: path of the namespace that it is made in; NULL: where the process is
 * @lower: lower device of each port, "" for none
 * @frame_max_set: the administrator chose params.frame_max
 */
struct args {
	const char *pack;
	char name[TORUS_NAME_MAX + 1];
	const char *socket;
	const char *netns;
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

enum args_what { ARGS_RUN, ARGS_HELP, ARGS_VERSION };

#define ARGS_WHY_MAX 640

/**
 * args_parse() - fill @args; strings point into @argv
 * @why: what is wrong, if something is; ARGS_WHY_MAX is enough
 * Return: what to do, or -EINVAL.
 */
int args_parse(struct args *args, int argc, char **argv, char *why, size_t size);

extern const char args_help[];

#endif /* EMU_ARGS_H */
