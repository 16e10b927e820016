/* SPDX-License-Identifier: GPL-2.0-only */
/* A medium: an Ethernet device, by AF_PACKET. */
#ifndef EMU_ETHER_H
#define EMU_ETHER_H

#include <net/ethernet.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "loop.h"
#include "pool.h"

struct port;

#define ETHER_RX_BATCH	8	/* frames that a port receives before others have their turn */

/**
 * struct ether - the Ethernet device of a port
 * @ifindex: of the device; 0: there is none
 * @header: Ethernet header of all frames that are sent
 */
struct ether {
	struct watch watch;
	int ifindex;
	struct ether_header header;
};

/**
 * struct ether_rx - frames to receive into, shared by all ports
 * @taken: how many of them, from the first on, the last call used
 */
struct ether_rx {
	struct frame *frame[ETHER_RX_BATCH];
	struct iovec iov[ETHER_RX_BATCH];
	struct mmsghdr mm[ETHER_RX_BATCH];
	u32 taken;
};

/**
 * struct ether_state - a device's state, as the kernel reports it
 * @carrier: it is there and has carrier
 * @mtu: if it has carrier, bytes or negative errno; else 0
 */
struct ether_state {
	bool carrier;
	int mtu;
};

void ether_rx_init(struct ether_rx *rx);
void ether_rx_fini(struct ether_rx *rx, struct pool *pool);

/** ether_look() - ask the kernel for the state of a device; it may wait for its RTNL lock */
void ether_look(const char *name, struct ether_state *state);
/** ether_told() - set the carrier of @port in the NIC; its device is in @state */
void ether_told(struct port *port, const struct ether_state *state, u64 now);

/** ether_mtu() - Return: MTU of a device, bytes, or negative errno */
int ether_mtu(const char *name);

#endif /* EMU_ETHER_H */
