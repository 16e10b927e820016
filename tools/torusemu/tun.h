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

/* The header before each IP packet: 10 bytes, little endian, without the number of buffers. */
#define TUN_HDR		sizeof(struct virtio_net_hdr)
#define TUN_MTU		64000	/* with header and flits it fits one frame of 65535 */

/**
 * struct tun - host side
 * @frame: frame to read the next message into, or NULL
 * @segments: the host's kernel can segment merged datagrams (USO)
 * @gro: headers of the datagrams that are being merged, until tun_flush()
 * @waiting: these datagrams
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
/** tun_poll() - begin (@on) or stop taking messages of the host */
void tun_poll(struct emu *emu, bool on);
/** tun_write() - write a message to the host, header first, and count it */
void tun_write(struct emu *emu, const struct iovec *iov, int n, size_t bytes);
/** tun_deliver() - take a message of one packet for the host; it may wait to be merged */
void tun_deliver(struct emu *emu, struct tn_pkt *pkt);
/** tun_flush() - write the datagrams that are being merged to the host */
void tun_flush(struct emu *emu);

#endif /* EMU_TUN_H */
