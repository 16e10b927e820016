/* SPDX-License-Identifier: GPL-2.0-only */
/* A port of the NIC: its medium, its receiver, and injected faults. */
#ifndef EMU_PORT_H
#define EMU_PORT_H

#include <net/if.h>
#include <torus/topology.h>

#include "cable.h"
#include "carrier.h"
#include "ether.h"
#include "kernel/req/soft.h"
#include "medium.h"

struct emu;

/**
 * struct port - one port
 * @soft: state of the port in the software NIC; it keeps the name of a lower device that was
 *	deleted
 * @medium: operations of the port's medium, or NULL
 * @ether: the port's Ethernet device, if @medium is Ethernet
 * @plug: the port's end of a cable, if @medium is a cable in memory
 * @question: unanswered question about the carrier of the Ethernet device, or NULL
 * @carrier: the carrier that was last set in the NIC
 */
struct port {
	struct emu *emu;
	u8 num;
	bool carrier;
	struct tn_soft_port *soft;
	const struct medium *medium;
	struct ether ether;
	struct carrier_question *question;
	struct plug plug;
};

void port_init(struct port *port, struct emu *emu, u8 num);

/**
 * port_attach() - bind a port to a medium
 * @port: the port
 * @name: name of an Ethernet device, or of a cable in memory, which begins with ':'; "" unbinds the
 *	port
 * @why: set to the text of an error
 * @now: ns
 * Return: 0 or negative errno; then nothing has changed.
 */
int port_attach(struct port *port, const char *name, const char **why, u64 now);

/** port_text() - write the name of the port, such as "+x", into @buf. Return: @buf */
char *port_text(const struct port *port, char *buf);
/**
 * port_look() - ask the medium for its carrier; the medium calls port_set_carrier() at once or
 * later
 */
void port_look(struct port *port, u64 now);
/** port_set_carrier() - pass the present carrier to the NIC */
void port_set_carrier(struct port *port, bool up, u64 now);
/** port_gone() - handle the deletion of the lower device */
void port_gone(struct port *port, u64 now);

/** port_take() - receive a frame; the caller keeps its reference to @f */
void port_take(struct port *port, struct frame *f, u32 bytes, u64 now);
/** port_gather() - copy the pieces of a frame into one buffer. Return: the buffer, or NULL */
struct frame *port_gather(struct pool *pool, const struct tn_seg *seg, u32 nsegs, u32 bytes);
/** port_tx() - send all frames that the NIC has for this port */
void port_tx(struct port *port, u64 now);
/** port_delayed() - send delayed frames whose time has come */
void port_delayed(struct port *port, u64 now);
void port_close(struct port *port);

#endif /* EMU_PORT_H */
