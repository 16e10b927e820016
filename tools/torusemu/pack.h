/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "torusemu --pack PATH": requests at PATH add and remove NICs, and cut and mend cables in memory.
 * A request is one datagram of words, each ended by a NUL:
 *
 *	add OPTION...	add a NIC; the options are those of the command line
 *	kill NAME	remove a NIC at once, as by a crash; its cables stay plugged in
 *	cut :CABLE	take the carrier from both ends of a cable
 *	mend :CABLE	give it its carrier again
 *
 * The answer is one datagram: "ok", or the text of an error.
 */
#ifndef EMU_PACK_H
#define EMU_PACK_H

#include "chassis.h"

/** struct pack - the socket at @path, and the connections to it */
struct pack {
	struct chassis *chassis;
	struct watch listener;
	struct visitor *visitors;
	const char *path;
};

/** pack_open() - listen at @path, which must stay valid. Return: 0 or negative errno */
int pack_open(struct pack *pack, struct chassis *chassis, const char *path);
/** pack_close() - close the socket, and remove all NICs */
void pack_close(struct pack *pack);

#endif /* EMU_PACK_H */
