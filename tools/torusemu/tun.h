/* SPDX-License-Identifier: GPL-2.0-only */
/* The host side: a tun device that moves whole TCP segments. */
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

/* Little endian, without the number of buffers: 10 bytes before each IP packet. */
#define TUN_HDR		sizeof(struct virtio_net_hdr)
#define TUN_MTU		64000	/* with header and flits it fits one frame of 65535 */

/**
 * struct tun - host side
 * @frame: to read into
 * @segments: the host's kernel cuts merged datagrams up
 * @gro, @waiting: datagrams that wait for others of their flow, until tun_flush()
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

/** tun_open() - make the device; Return: 0 or negative errno */
int tun_open(struct emu *emu, const char *name);
void tun_close(struct emu *emu);
/** tun_poll() - listen to the host, or let it wait */
void tun_poll(struct emu *emu, bool on);
/** tun_write() - a message for the host, header first, counted */
void tun_write(struct emu *emu, const struct iovec *iov, int n, size_t bytes);
/** tun_deliver() - a message for the host that is one packet, now ours; may wait */
void tun_deliver(struct emu *emu, struct tn_pkt *pkt);
/** tun_flush() - what waits goes to the host now */
void tun_flush(struct emu *emu);

#endif /* EMU_TUN_H */
