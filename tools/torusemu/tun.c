// SPDX-License-Identifier: GPL-2.0-only
/*
 * A message from the host is read (readv()) so that its packets lie in one buffer, with gaps for
 * header and tail flits. The core fills the gaps, and the whole message is sent as consecutive
 * bytes.
 */
#include "tun.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "emu.h"
#include "log.h"

/*
 * Packets that the host may send while this program waits for a processor; the kernel drops
 * further ones. Its default, 500, is half a millisecond of small packets.
 */
#define QUEUE_PACKETS 4096
#define READ_BATCH 64		/* most messages in one round */
/* most bytes in one round, so that received frames do not wait long */
#define READ_BYTES 131072

#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

/* Reads one message from the host, and sends it. Return: bytes, or negative errno. */
static ssize_t read_message(struct emu *e, u64 now)
{
	struct frame *f = e->tun.frame;
	ssize_t n;

	if (!f)
		f = e->tun.frame = frame_new(e->pool, POOL_FRAME_MAX);
	if (!f)
		return -ENOMEM;
	n = read(e->tun.watch.fd, f->data, POOL_FRAME_MAX);
	if (n < 0)
		return -errno;
	msg_send(e, f, (size_t)n, now);
	if (f->refs > 1) {
		frame_put(e->pool, f);
		e->tun.frame = NULL;
	}
	return n;
}

static void tun_ready(struct watch *w, u32 events)
{
	struct emu *e = container_of(w, struct emu, tun.watch);
	u64 now = loop_now();
	ssize_t bytes = 0;

	if (!(events & EPOLLIN))
		return;
	emu_busy(e, now);
	for (int i = 0; i < READ_BATCH && bytes < READ_BYTES && torus_host_open(&e->soft.host, 0);
	     i++) {
		ssize_t n = read_message(e, now);

		if (n < 0)
			return;
		bytes += n;
	}
}

void tun_poll(struct emu *e, bool on)
{
	loop_events(e->loop, &e->tun.watch, on ? EPOLLIN : 0);
}

/*
 * Writes a message. For a message in one piece, write() is cheaper than writev(), which matters for
 * small packets.
 */
static ssize_t write_pieces(int fd, const struct iovec *iov, int n)
{
	return n == 1 ? write(fd, iov->iov_base, iov->iov_len) : writev(fd, iov, n);
}

/*
 * Writes @bytes in pieces to the host, and counts @messages with @payload bytes, without their
 * TUN_HDR.
 */
static void write_counted(struct emu *e, const struct iovec *iov, int n, size_t bytes, u32 messages,
			  size_t payload)
{
	u64 *counter = tn_nic_counters(e->soft.nic);

	if (e->tun.watch.fd < 0 || write_pieces(e->tun.watch.fd, iov, n) != (ssize_t)bytes) {
		counter[TORUS_NC_HOST_RX_DROPS] += messages;
		return;
	}
	counter[TORUS_NC_HOST_MESSAGES_RX] += messages;
	counter[TORUS_NC_HOST_BYTES_RX] += payload;
	if (messages > 1)
		counter[TORUS_NC_HOST_MERGED] += messages;
}

void tun_write(struct emu *e, const struct iovec *iov, int n, size_t bytes)
{
	tun_flush(e);
	if (bytes < TUN_HDR)
		tn_nic_counters(e->soft.nic)[TORUS_NC_HOST_RX_DROPS]++;
	else
		write_counted(e, iov, n, bytes, 1, bytes - TUN_HDR);
}

static void put_merged(struct emu *e)
{
	struct gro *g = &e->tun.gro;
	struct iovec iov[1 + GRO_MAX];

	gro_finish(g);
	iov[0] = (struct iovec) { g->head, g->len };
	for (u32 i = 0; i < g->count; i++) {
		struct tn_pkt *p = e->tun.waiting[i];

		iov[1 + i] = (struct iovec) { p->payload + g->len, tn_pkt_bytes(p) - g->len };
	}
	write_counted(e, iov, 1 + (int)g->count, g->len + g->bytes, g->count,
		      g->count * (g->len - TUN_HDR) + g->bytes);
}

void tun_flush(struct emu *e)
{
	struct gro *g = &e->tun.gro;
	struct tn_pkt *p = e->tun.waiting[0];
	struct iovec iov;

	if (!g->count)
		return;
	if (g->count > 1) {
		put_merged(e);
	} else {
		iov = (struct iovec) { p->payload, tn_pkt_bytes(p) };
		write_counted(e, &iov, 1, iov.iov_len, 1, iov.iov_len - TUN_HDR);
	}
	for (u32 i = 0; i < g->count; i++)
		pkt_free(e->pool, e->tun.waiting[i]);
	g->count = 0;
}

void tun_deliver(struct emu *e, struct tn_pkt *p)
{
	struct gro *g = &e->tun.gro;
	struct iovec iov = { p->payload, tn_pkt_bytes(p) };

	if (g->count && !gro_join(g, iov.iov_base, iov.iov_len))
		tun_flush(e);
	if (g->count > 1) {
		e->tun.waiting[g->count - 1] = p;
	} else if (e->tun.segments && gro_begin(g, iov.iov_base, iov.iov_len)) {
		e->tun.waiting[0] = p;
	} else {
		tun_write(e, &iov, 1, iov.iov_len);
		pkt_free(e->pool, p);
	}
}

/* Enables the offloads. Return: mask of those that the device has. */
static unsigned int set_offload(int fd, const char *name)
{
	static const unsigned int tries[] = {
		TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN | TUN_F_USO4 | TUN_F_USO6,
		TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN,
		TUN_F_CSUM,
	};

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++)
		if (!ioctl(fd, TUNSETOFFLOAD, tries[i]))
			return tries[i];
	log_warn(name, "the tun device has no offloads: TCP will be slow");
	return 0;
}

static int set_tun_up(struct tun *t, int fd, const char *name, struct ifreq *ifr)
{
	int hdr = TUN_HDR, one = 1;

	memset(ifr, 0, sizeof(*ifr));
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", name);
	ifr->ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
	if (ioctl(fd, TUNSETIFF, ifr) < 0 || ioctl(fd, TUNSETVNETHDRSZ, &hdr) < 0 ||
	    ioctl(fd, TUNSETVNETLE, &one) < 0)
		return -errno;
	t->segments = set_offload(fd, name) & TUN_F_USO4;
	return 0;
}

static void set_queue(const char *name)
{
	struct ifreq ifr = { .ifr_qlen = QUEUE_PACKETS };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, SIOCSIFTXQLEN, &ifr) < 0)
		log_warn(name, "cannot lengthen its queue: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

int tun_open(struct emu *e, const char *name)
{
	struct ifreq ifr;
	int fd, err;

	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = set_tun_up(&e->tun, fd, name, &ifr);
	if (!err)
		err = loop_add(e->loop, &e->tun.watch, fd, EPOLLIN, tun_ready);
	if (err) {
		close(fd);
		return err;
	}
	snprintf(e->tun.name, sizeof(e->tun.name), "%s", ifr.ifr_name);
	e->tun.ifindex = (int)if_nametoindex(e->tun.name);
	e->soft.hw.ifindex = (u32)e->tun.ifindex;
	snprintf(e->soft.hw.ifname, sizeof(e->soft.hw.ifname), "%s", e->tun.name);
	set_queue(e->tun.name);
	return 0;
}

void tun_close(struct emu *e)
{
	tun_flush(e);
	loop_del(e->loop, &e->tun.watch);
	if (e->tun.frame)
		frame_put(e->pool, e->tun.frame);
	e->tun.frame = NULL;
}
