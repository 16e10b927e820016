/* SPDX-License-Identifier: GPL-2.0-only */
/* A port of the NIC on an Ethernet device, by AF_PACKET. */
#ifndef EMU_PORT_H
#define EMU_PORT_H

#include <net/if.h>
#include <net/ethernet.h>

#include "fault.h"
#include "kernel/core/serdes_model.h"
#include "loop.h"

struct emu;

#define PORT_RX_BATCH	8	/* frames taken from a port before others have their turn */

/**
 * struct port - one port
 * @lower: name of the lower device, "" for none; kept while it is gone
 * @ifindex: of the lower device; 0 while it is gone
 * @carrier: what the NIC was told last
 * @serdes: its receiver, and the cable that it receives from
 * @eth: Ethernet header of all frames sent
 */
struct port {
	struct watch watch;
	struct emu *emu;
	u8 num;
	int ifindex;
	char lower[IFNAMSIZ];
	bool carrier;
	struct ether_header eth;
	struct fault fault;
	struct tn_serdes_model serdes;
};

void port_init(struct port *port, struct emu *emu, u8 num);

/**
 * port_attach() - bind to the device called @name; "" detaches
 * @why: set to a text on failure
 * Return: 0 or negative errno (nothing changed).
 */
int port_attach(struct port *port, const char *name, const char **why, u64 now);

/** port_look() - ask the lower device for its carrier and MTU, tell the NIC */
void port_look(struct port *port, u64 now);
/** port_gone() - the lower device was deleted */
void port_gone(struct port *port, u64 now);

/** port_tx() - send what the NIC has for this port */
void port_tx(struct port *port, u64 now);
/** port_delayed() - send delayed frames whose time has come */
void port_delayed(struct port *port, u64 now);
void port_close(struct port *port);

/** port_mtu() - MTU of a device; Return: bytes or negative errno */
int port_mtu(const char *name);

#endif /* EMU_PORT_H */
