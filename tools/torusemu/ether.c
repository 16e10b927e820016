// SPDX-License-Identifier: GPL-2.0-only
/*
 * Only the kernel copies frames, in and out. The exception are short frames: they are copied to a
 * small buffer, so that a short packet that stays long in memory does not keep a buffer of 64 KiB
 * in use.
 */
#include "ether.h"

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "emu.h"
#include "log.h"

/* Buffer of the socket: more bytes than the peer can send with all its credits and a whole RETRY
 * buffer. For a large frame the kernel counts about twice its bytes. */
#define SOCKET_BYTES	(32 << 20)
#define COPY_BREAK	2048	/* size in bytes; shorter frames are copied, so that they do not
				 * keep a large buffer in use */

/* --- devices -------------------------------------------------------------- */

static int device_ioctl(const char *name, unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", name);
	if (ioctl(fd, request, ifr) < 0)
		err = -errno;
	close(fd);
	return err;
}

int ether_mtu(const char *name)
{
	struct ifreq ifr = { 0 };
	int err = device_ioctl(name, SIOCGIFMTU, &ifr);

	return err ? err : ifr.ifr_mtu;
}

static int check_packet_device(struct port *port, const char *name, struct ifreq *hw,
			       const char **why)
{
	static char text[128];
	int mtu = ether_mtu(name);
	int err;

	if (mtu < 0) {
		*why = "no such device";
		return mtu;
	}
	err = device_ioctl(name, SIOCGIFHWADDR, hw);
	if (err || hw->ifr_hwaddr.sa_family != ARPHRD_ETHER) {
		*why = "not an Ethernet device";
		return err ? err : -EINVAL;
	}
	if (mtu < (int)port->emu->soft.params.frame_max) {
		snprintf(text, sizeof(text), "its MTU is %d, this NIC's frames need at least %u",
			 mtu, port->emu->soft.params.frame_max);
		*why = text;
		return -EINVAL;
	}
	return 0;
}

void ether_look(const char *name, struct ether_state *state)
{
	struct ethtool_value link = { .cmd = ETHTOOL_GLINK };
	struct ifreq ifr = { .ifr_data = (char *)&link }, hw = { 0 };

	state->carrier = !device_ioctl(name, SIOCETHTOOL, &ifr) && link.data;
	state->mtu = state->carrier ? ether_mtu(name) : 0;
	state->known = state->carrier && !device_ioctl(name, SIOCGIFHWADDR, &hw);
	memcpy(state->address, hw.ifr_hwaddr.sa_data, ETH_ALEN);
}

void ether_set_state(struct port *port, const struct ether_state *state, u64 now)
{
	bool fits = state->mtu >= (int)port->emu->soft.params.frame_max;
	char at[TORUS_TEXT_MAX];

	if (state->carrier && !fits && port->carrier)
		log_warn(port->emu->soft.hw.name,
			 "port %s is not used: the MTU of %s is now %d, frames need at least %u",
			 port_text(port, at), port->soft->lower, state->mtu,
			 port->emu->soft.params.frame_max);
	/* torus.ko answers to the address that frames come from, and to no other (soft/port.c). */
	if (state->known)
		memcpy(port->ether.header.ether_shost, state->address, ETH_ALEN);
	port_set_carrier(port, state->carrier && fits, now);
}

static void ether_ask(struct port *port, u64 now)
{
	(void)now;
	carrier_ask(&port->emu->chassis->carriers, port);
}

/* --- receiving ------------------------------------------------------------ */

void ether_rx_init(struct ether_rx *rx)
{
	rx->taken = ETHER_RX_BATCH;
}

void ether_rx_fini(struct ether_rx *rx, struct pool *pool)
{
	for (unsigned int i = 0; i < ETHER_RX_BATCH; i++)
		if (rx->frame[i])
			frame_put(pool, rx->frame[i]);
}

/*
 * Makes sure that place @i of the batch has a frame that nothing else refers to. Return: false if
 * out of memory.
 */
static bool rx_place(struct ether_rx *rx, struct pool *pool, unsigned int i)
{
	struct frame *f = rx->frame[i];

	if (f && f->refs == 1)
		return true;
	if (f)
		frame_put(pool, f);
	f = rx->frame[i] = frame_new(pool, POOL_FRAME_MAX);
	if (!f)
		return false;
	rx->iov[i] = (struct iovec) { f->data - ETH_HLEN, POOL_FRAME_MAX + ETH_HLEN };
	rx->mm[i].msg_hdr = (struct msghdr) { .msg_iov = &rx->iov[i], .msg_iovlen = 1 };
	return true;
}

/* Prepares the places that the last call has used. Return: number of places that are ready. */
static unsigned int rx_prepare(struct ether_rx *rx, struct pool *pool)
{
	for (unsigned int i = 0; i < rx->taken; i++)
		if (!rx_place(rx, pool, i))
			return i;
	return ETHER_RX_BATCH;
}

static void give_frame(struct port *port, struct frame *f, u32 bytes, u64 now)
{
	struct pool *pool = port->emu->pool;
	struct frame *small = bytes < COPY_BREAK ? frame_new(pool, bytes) : NULL;

	if (!small) {
		port_take(port, f, bytes, now);
		return;
	}
	memcpy(small->data, f->data, bytes);
	port_take(port, small, bytes, now);
	frame_put(pool, small);
}

/*
 * A cable may turn out to be a network with more stations than its two ends. So a port learns the
 * address @from of the other end when the link has come up, and forgets it when the link has
 * failed. @from: NULL if no frame has come.
 */
static void learn_station(struct port *port, const u8 *from)
{
	struct ether *eth = &port->ether;
	bool joined = tn_nic_is_joined(port->emu->soft.nic, port->num);

	if (!joined && eth->pinned) {
		memset(eth->header.ether_dhost, 0xff, ETH_ALEN);
		eth->pinned = false;
	} else if (joined && !eth->pinned && from) {
		memcpy(eth->header.ether_dhost, from, ETH_ALEN);
		eth->pinned = true;
	}
}

/* Return: true if a station may have the address @a: it is neither 0 nor that of a group. */
static bool is_station(const u8 *a)
{
	static const u8 none[ETH_ALEN];

	return !(a[0] & 1) && memcmp(a, none, sizeof(none)) != 0;
}

/* Gives the core a received frame, which has @bytes, unless another station has sent it. */
static void take_frame(struct port *port, struct frame *f, u32 bytes, u64 now)
{
	const struct ether_header *h = (const void *)(f->data - ETH_HLEN);
	u8 from[ETH_ALEN];

	memcpy(from, h->ether_shost, sizeof(from));
	if (!is_station(from))
		return;
	learn_station(port, NULL);
	if (port->ether.pinned && memcmp(from, port->ether.header.ether_dhost, sizeof(from)) != 0)
		return;
	give_frame(port, f, bytes, now);
	learn_station(port, from);
}

static void ether_ready(struct watch *w, u32 events)
{
	struct port *port = container_of(w, struct port, ether.watch);
	struct emu *e = port->emu;
	struct ether_rx *rx = &e->chassis->rx;
	unsigned int room = rx_prepare(rx, e->pool);
	u64 now;
	int n;

	(void)events;
	chassis_wake(e->chassis, e);
	n = recvmmsg(w->fd, rx->mm, room, MSG_DONTWAIT, NULL);
	rx->taken = room < ETHER_RX_BATCH ? ETHER_RX_BATCH : n > 0 ? (unsigned int)n : 0;
	now = loop_now();
	if (n < 0 ? errno != EAGAIN && errno != EINTR : n && !port->carrier)
		port_look(port, now);
	for (int i = 0; i < n; i++)
		if (rx->mm[i].msg_len >= ETH_HLEN)
			take_frame(port, rx->frame[i], rx->mm[i].msg_len - (u32)ETH_HLEN, now);
}

/* --- sending -------------------------------------------------------------- */

static void ether_send(struct port *port, const struct tn_seg *seg, u32 nsegs, u32 bytes, u64 now)
{
	struct iovec iov[TN_FRAME_SEGS + 1] = { { &port->ether.header, ETH_HLEN } };
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = 1 };

	(void)bytes;
	learn_station(port, NULL);
	for (u32 i = 0; i < nsegs; i++) {
		struct iovec *last = &iov[mh.msg_iovlen - 1];

		if (i && (u8 *)last->iov_base + last->iov_len == seg[i].base)
			last->iov_len += seg[i].len;
		else
			iov[mh.msg_iovlen++] = (struct iovec) { (void *)seg[i].base, seg[i].len };
	}
	if (sendmsg(port->ether.watch.fd, &mh, MSG_DONTWAIT) >= 0)
		return;
	/* All other failures count as a loss on the cable: the link retransmits the packets. */
	log_debug(port->emu->soft.hw.name, "port %u: a frame was not sent: %s", port->num,
		  strerror(errno));
	port_look(port, now);
}

/* --- opening -------------------------------------------------------------- */

static int open_packet_socket(int ifindex)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(TN_ETHERTYPE),
		.sll_ifindex = ifindex,
	};
	int bytes = SOCKET_BYTES, one = 1;
	int fd, err;

	fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0 ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	/*
	 * The socket bypasses the queueing discipline, which would only add the cost of its lock.
	 */
	setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one));
	return fd;
}

static int ether_open(struct port *port, const char *name, const char **why)
{
	struct ether *eth = &port->ether;
	struct ifreq ifr = { 0 };
	int ifindex, fd, err;

	err = check_packet_device(port, name, &ifr, why);
	if (err)
		return err;
	ifindex = (int)if_nametoindex(name);
	fd = open_packet_socket(ifindex);
	if (fd < 0) {
		*why = "cannot open a packet socket on it";
		return fd;
	}
	port_close(port);
	err = loop_add(port->emu->loop, &eth->watch, fd, EPOLLIN, ether_ready);
	if (err) {
		close(fd);
		return err;
	}
	eth->ifindex = ifindex;
	memset(eth->header.ether_dhost, 0xff, ETH_ALEN);
	eth->pinned = false;
	memcpy(eth->header.ether_shost, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
	eth->header.ether_type = htons(TN_ETHERTYPE);
	return 0;
}

static void ether_close(struct port *port)
{
	carrier_forget(port);
	loop_del(port->emu->loop, &port->ether.watch);
	port->ether.ifindex = 0;
}

const struct medium ether_medium = {
	.open = ether_open,
	.close = ether_close,
	.look = ether_ask,
	.send = ether_send,
	.is_late = true,
};
