/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "torusemu --pack PATH": NICs come and go, and cables in memory are cut and
 * mended, as requests at PATH say. A request is one datagram of words, each ended
 * by a NUL:
 *
 *	add OPTION...	a NIC; the options are those of the command line
 *	kill NAME	a NIC is gone at once, as by a crash; cables stay plugged in
 *	cut :CABLE	a cable loses its carrier at both ends
 *	mend :CABLE	and has it again
 *
 * The answer is one datagram: "ok", or what is wrong.
 */
#ifndef EMU_PACK_H
#define EMU_PACK_H

#include "chassis.h"

/** struct pack - its socket, @path, and who has connected to it */
struct pack {
	struct chassis *chassis;
	struct watch listener;
	struct visitor *visitors;
	const char *path;
};

/** pack_open() - listen at @path, which is kept; Return: 0 or negative errno */
int pack_open(struct pack *pack, struct chassis *chassis, const char *path);
/** pack_close() - its NICs end with it */
void pack_close(struct pack *pack);

#endif /* EMU_PACK_H */
