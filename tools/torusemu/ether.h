/* SPDX-License-Identifier: GPL-2.0-only */
/* A kind of medium: an Ethernet device, used through AF_PACKET sockets. */
#ifndef EMU_ETHER_H
#define EMU_ETHER_H

#include <net/ethernet.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "loop.h"
#include "pool.h"

struct port;

#define ETHER_RX_BATCH	8	/* most frames that a port receives before other ports may
				 * receive */

/**
 * struct ether - the Ethernet device of a port
 * @ifindex: interface index of the device; 0: there is no device
 * @header: Ethernet header of the frames that are sent
 * @pinned: the port has learnt the address of the other end: @header has this destination, and
 *	frames from other addresses are dropped. false: frames are sent to the broadcast address
 */
struct ether {
	struct watch watch;
	int ifindex;
	struct ether_header header;
	bool pinned;
};

/**
 * struct ether_rx - buffers for the next frames, shared by all ports
 * @taken: number of frames, from the first on, that the last call has used
 */
struct ether_rx {
	struct frame *frame[ETHER_RX_BATCH];
	struct iovec iov[ETHER_RX_BATCH];
	struct mmsghdr mm[ETHER_RX_BATCH];
	u32 taken;
};

/**
 * struct ether_state - a device's state, as the kernel reports it
 * @carrier: true if the device exists and has carrier
 * @mtu: if @carrier, the MTU in bytes, or a negative errno; else 0
 * @known: if @carrier, true if @address is the Ethernet address of the device
 */
struct ether_state {
	bool carrier;
	bool known;
	u8 address[ETH_ALEN];
	int mtu;
};

void ether_rx_init(struct ether_rx *rx);
void ether_rx_fini(struct ether_rx *rx, struct pool *pool);

/** ether_look() - ask the kernel for the state of a device; may block, as the kernel takes RTNL */
void ether_look(const char *name, struct ether_state *state);
/**
 * ether_set_state() - set the carrier of @port in the NIC, after the kernel has reported @state of
 * its device
 */
void ether_set_state(struct port *port, const struct ether_state *state, u64 now);

/** ether_mtu() - Return: MTU of a device, bytes, or negative errno */
int ether_mtu(const char *name);

#endif /* EMU_ETHER_H */
