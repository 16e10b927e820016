/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line. */
#ifndef EMU_ARGS_H
#define EMU_ARGS_H

#include <net/if.h>
#include <stddef.h>

#include "kernel/core/nic.h"

/**
 * struct args - the command line; strings point into argv
 * @pack: path of the socket of a pack (pack.h); NULL: the program makes one NIC, which the other
 *	members describe
 * @tun: name of the tun device; "": the NIC has no host side
 * @netns: path of the network namespace of the tun device; NULL: the namespace of the process
 * @lower: for each port, name of its lower device; "": the port has none
 * @frame_max_set: --set frame_max was given
 * The other members have the names of their options.
 */
struct args {
	const char *pack;
	char name[TORUS_NAME_MAX + 1];
	const char *socket;
	const char *rma;
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
 * args_parse() - parse the command line
 * @args: is filled; strings point into @argv
 * @argc: of main()
 * @argv: of main()
 * @why: gets the text of an error
 * @size: bytes of @why; ARGS_WHY_MAX is enough
 * Return: the action that the options ask for, or -EINVAL.
 */
int args_parse(struct args *args, int argc, char **argv, char *why, size_t size);

extern const char args_help[];

#endif /* EMU_ARGS_H */
