/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The carrier of a port's frames: an Ethernet device (ether.c) or a cable in memory
 * (cable.c), told apart by its name. What it brings it gives to port_take().
 */
#ifndef EMU_MEDIUM_H
#define EMU_MEDIUM_H

#include "kernel/core/nic.h"

struct port;

/**
 * struct medium - one kind
 * @open: take hold of @name, having let go (port_close()) of what the port had, or say
 *	@why not; Return: 0 or negative errno
 * @close: let go of it
 * @has_carrier: can frames pass?
 * @send: one frame; it may be lost
 * @is_late: its word on the carrier may come late, so that it is to be asked
 */
struct medium {
	int (*open)(struct port *port, const char *name, const char **why);
	void (*close)(struct port *port);
	bool (*has_carrier)(const struct port *port);
	void (*send)(struct port *port, const struct tn_seg *seg, u32 nsegs, u32 bytes, u64 now);
	bool is_late;
};

extern const struct medium ether_medium;
extern const struct medium cable_medium;

#endif /* EMU_MEDIUM_H */
