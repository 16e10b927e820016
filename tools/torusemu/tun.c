// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is read from the host is scattered so that its packets lie ready in one
 * buffer, with gaps for header and tail flits. The core fills these, and the
 * whole message leaves as one run of bytes.
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

#define READ_BATCH 64		/* messages, and */
#define READ_BYTES 131072	/* bytes of a round: what came in has its turn too */

#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

/* Return: bytes, or negative errno. */
static ssize_t read_message(struct emu *e, u64 now)
{
	struct iovec iov[POOL_PACKETS];
	struct frame *f = e->tun.frame;
	ssize_t n;

	if (!f)
		f = e->tun.frame = frame_new(e->pool, POOL_FRAME_MAX);
	if (!f)
		return -ENOMEM;
	for (unsigned int i = 0; i < POOL_PACKETS; i++)
		iov[i] = (struct iovec) {
			f->data + i * TN_PACKET_MAX + TN_FLIT, TN_PAYLOAD_MAX
		};
	n = readv(e->tun.watch.fd, iov, POOL_PACKETS);
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
	for (int i = 0; i < READ_BATCH && bytes < READ_BYTES && msg_room(e); i++) {
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

/* For one piece write() is cheaper, which counts where packets are small. */
static ssize_t write_pieces(int fd, const struct iovec *iov, int n)
{
	return n == 1 ? write(fd, iov->iov_base, iov->iov_len) : writev(fd, iov, n);
}

void tun_write(struct emu *e, const struct iovec *iov, int n, size_t bytes)
{
	u64 *counter = tn_nic_counters(e->nic);

	if (e->tun.watch.fd < 0 || bytes < TUN_HDR ||
	    write_pieces(e->tun.watch.fd, iov, n) != (ssize_t)bytes) {
		counter[TORUS_NC_HOST_DROPS]++;
		return;
	}
	counter[TORUS_NC_HOST_MESSAGES_RX]++;
	counter[TORUS_NC_HOST_BYTES_RX] += bytes - TUN_HDR;
}

static void set_offload(int fd, const char *name)
{
	static const unsigned int tries[] = {
		TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN | TUN_F_USO4 | TUN_F_USO6,
		TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN,
		TUN_F_CSUM,
	};

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++)
		if (!ioctl(fd, TUNSETOFFLOAD, tries[i]))
			return;
	log_warn(name, "the tun device has no offloads: TCP will be slow");
}

static int set_up(int fd, const char *name, struct ifreq *ifr)
{
	int hdr = TUN_HDR, one = 1;

	memset(ifr, 0, sizeof(*ifr));
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", name);
	ifr->ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
	if (ioctl(fd, TUNSETIFF, ifr) < 0 || ioctl(fd, TUNSETVNETHDRSZ, &hdr) < 0 ||
	    ioctl(fd, TUNSETVNETLE, &one) < 0)
		return -errno;
	set_offload(fd, name);
	return 0;
}

int tun_open(struct emu *e, const char *name)
{
	struct ifreq ifr;
	int fd, err;

	fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = set_up(fd, name, &ifr);
	if (!err)
		err = loop_add(e->loop, &e->tun.watch, fd, EPOLLIN, tun_ready);
	if (err) {
		close(fd);
		return err;
	}
	snprintf(e->tun.name, sizeof(e->tun.name), "%s", ifr.ifr_name);
	e->tun.ifindex = (int)if_nametoindex(e->tun.name);
	return 0;
}

void tun_close(struct emu *e)
{
	loop_del(e->loop, &e->tun.watch);
	if (e->tun.frame)
		frame_put(e->pool, e->tun.frame);
	e->tun.frame = NULL;
}
