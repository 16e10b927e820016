/* SPDX-License-Identifier: GPL-2.0-only */
/* The host side: a tun device with TCP and UDP segmentation offload. */
#ifndef EMU_TUN_H
#define EMU_TUN_H

#include <linux/virtio_net.h>
#include <net/if.h>
#include <sys/uio.h>

#include "loop.h"
#include "gro.h"
#include <torus_uapi.h>

struct emu;
struct frame;
struct tn_pkt;

/* Header before each IP packet: 10 bytes, little endian; the member num_buffers is not used. */
#define TUN_HDR		sizeof(struct virtio_net_hdr)
#define TUN_MTU		64000	/* a packet of this size with header and flits fits one frame of
				 * 65535 bytes */

/**
 * struct tun - host side
 * @frame: frame to read the next message into, or NULL
 * @segments: true if the host's kernel can segment merged datagrams (USO)
 * @gro: headers of the datagrams that are being merged, until tun_flush()
 * @waiting: the packets of these datagrams
 */
struct tun {
	struct watch watch;
	char name[IFNAMSIZ];
	int ifindex;
	struct frame *frame;
	bool segments;
	struct gro gro;
	struct tn_pkt *waiting[GRO_MAX];
};

/** tun_open() - make the device @name. Return: 0 or negative errno */
int tun_open(struct emu *emu, const char *name);
void tun_close(struct emu *emu);
/** tun_poll() - start reading messages of the host if @on, else stop */
void tun_poll(struct emu *emu, bool on);
/** tun_write() - write a message to the host, header first, and count it */
void tun_write(struct emu *emu, const struct iovec *iov, int n, size_t bytes);
/**
 * tun_deliver() - deliver to the host a message of one packet; it may wait to be merged with others
 */
void tun_deliver(struct emu *emu, struct tn_pkt *pkt);
/** tun_flush() - write the datagrams that are being merged to the host */
void tun_flush(struct emu *emu);

#endif /* EMU_TUN_H */
