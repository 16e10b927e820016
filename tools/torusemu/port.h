/* SPDX-License-Identifier: GPL-2.0-only */
/* A port of the NIC: its medium, its receiver, the faults put into it. */
#ifndef EMU_PORT_H
#define EMU_PORT_H

#include <net/if.h>

#include "cable.h"
#include "ether.h"
#include "kernel/req/soft.h"
#include "medium.h"

struct emu;

/**
 * struct port - one port
 * @soft: its part of the software NIC; the name of its lower device stays there while that is gone
 * @medium: NULL for none
 * @ether, @plug: one of them is @medium's
 * @carrier: what the NIC was told last
 */
struct port {
	struct emu *emu;
	u8 num;
	bool carrier;
	struct tn_soft_port *soft;
	const struct medium *medium;
	struct ether ether;
	struct plug plug;
};

void port_init(struct port *port, struct emu *emu, u8 num);

/**
 * port_attach() - to the device called @name, or the cable in memory if it begins
 *	with ':'; "" detaches
 * @why: set to a text on failure
 * Return: 0 or negative errno (nothing changed).
 */
int port_attach(struct port *port, const char *name, const char **why, u64 now);

/** port_look() - ask the medium for the carrier, tell the NIC */
void port_look(struct port *port, u64 now);
/** port_gone() - the lower device was deleted */
void port_gone(struct port *port, u64 now);

/** port_take() - a frame came; the caller keeps its reference to @f */
void port_take(struct port *port, struct frame *f, u32 bytes, u64 now);
/** port_gather() - the pieces of a frame in one buffer; NULL if out */
struct frame *port_gather(struct pool *pool, const struct tn_seg *seg, u32 nsegs, u32 bytes);
/** port_tx() - send what the NIC has for this port */
void port_tx(struct port *port, u64 now);
/** port_delayed() - send delayed frames whose time has come */
void port_delayed(struct port *port, u64 now);
void port_close(struct port *port);

#endif /* EMU_PORT_H */
