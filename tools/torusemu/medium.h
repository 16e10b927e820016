/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The medium of a port: an Ethernet device (ether.c) or a cable in memory (cable.c), whose name
 * begins with ':'. A medium passes received frames to port_take().
 */
#ifndef EMU_MEDIUM_H
#define EMU_MEDIUM_H

#include "kernel/core/nic.h"

struct port;

/**
 * struct medium - operations of one kind of medium
 * @open: binds the port to @name, after port_close() has unbound it; returns 0, or negative errno
 *	with a text in @why
 * @close: unbinds the port
 * @look: finds out whether frames can pass, and calls port_set_carrier(), at once or later
 * @send: sends one frame, which may be lost
 * @is_late: true if notifications of the carrier may be late, so that the NIC asks for the carrier
 */
struct medium {
	int (*open)(struct port *port, const char *name, const char **why);
	void (*close)(struct port *port);
	void (*look)(struct port *port, u64 now);
	void (*send)(struct port *port, const struct tn_seg *seg, u32 nsegs, u32 bytes, u64 now);
	bool is_late;
};

extern const struct medium ether_medium;
extern const struct medium cable_medium;

#endif /* EMU_MEDIUM_H */
