/* SPDX-License-Identifier: GPL-2.0-only */
/* A medium: an Ethernet device, by AF_PACKET. */
#ifndef EMU_ETHER_H
#define EMU_ETHER_H

#include <net/ethernet.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "loop.h"
#include "pool.h"

#define ETHER_RX_BATCH	8	/* frames taken from a port before others have their turn */

/**
 * struct ether - a port's device
 * @ifindex: 0 while there is none
 * @header: of all frames sent
 */
struct ether {
	struct watch watch;
	int ifindex;
	struct ether_header header;
};

/**
 * struct ether_rx - frames to receive into, for whichever port is read
 * @taken: so many of them, from the first on, were used last time
 */
struct ether_rx {
	struct frame *frame[ETHER_RX_BATCH];
	struct iovec iov[ETHER_RX_BATCH];
	struct mmsghdr mm[ETHER_RX_BATCH];
	u32 taken;
};

void ether_rx_init(struct ether_rx *rx);
void ether_rx_fini(struct ether_rx *rx, struct pool *pool);

/** ether_mtu() - MTU of a device; Return: bytes or negative errno */
int ether_mtu(const char *name);

#endif /* EMU_ETHER_H */
