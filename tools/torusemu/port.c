// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames come into pooled buffers that the core then keeps pointers into; they
 * go out gathered from wherever their packets lie. The kernel's copies in and
 * out are the only ones, but for short frames: those are copied to a small
 * buffer, so that a waiting acknowledgement does not pin 64 KiB.
 */
#include "port.h"

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu.h"
#include "log.h"

/* More than all credits and a whole RETRY buffer can fill, at the kernel's
 * price of about twice the bytes for a large frame. */
#define SOCKET_BYTES	(32 << 20)
#define TX_BATCH	16
#define IDLE_BYTES	(2 * TN_FLIT)

void port_init(struct port *port, struct emu *emu, u8 num)
{
	memset(port, 0, sizeof(*port));
	port->watch.fd = -1;
	port->emu = emu;
	port->num = num;
	fault_init(&port->fault);
	tn_serdes_model_init(&port->serdes);
}

static void set_carrier(struct port *port, bool up, u64 now)
{
	if (port->carrier != up)
		tn_nic_carrier(port->emu->nic, port->num, up, now);
	port->carrier = up;
	if (!up)
		port->emu->look_at = 0;
}

static void give(struct port *port, struct frame *f, size_t len, u64 now)
{
	struct emu *e = port->emu;
	struct frame *small = NULL;

	if (len > IDLE_BYTES)
		e->busy_at = now;
	if (tn_serdes_model_hits(&port->serdes, (u32)len, now))
		tn_fault_corrupt(&port->serdes.errors, f->data, (u32)len);
	if (len < EMU_COPY_BREAK)
		small = frame_new(&e->pool, len);
	if (small) {
		memcpy(small->data, f->data, len);
		f = small;
	}
	tn_nic_rx(e->nic, port->num, f->data, len, f, now);
	if (small)
		frame_put(&e->pool, small);
}

/* Give place @i of the batch a frame that nobody else uses. */
static bool rx_place(struct emu *e, unsigned int i)
{
	struct frame *f = e->rx[i];

	if (f && f->refs == 1)
		return true;
	if (f)
		frame_put(&e->pool, f);
	f = e->rx[i] = frame_new(&e->pool, POOL_FRAME_MAX);
	if (!f)
		return false;
	e->rx_iov[i] = (struct iovec) { f->data - ETH_HLEN, POOL_FRAME_MAX + ETH_HLEN };
	e->rx_mm[i].msg_hdr = (struct msghdr) { .msg_iov = &e->rx_iov[i], .msg_iovlen = 1 };
	return true;
}

/* Only what the last call took needs care. Return: places ready. */
static unsigned int rx_prepare(struct emu *e)
{
	for (unsigned int i = 0; i < e->rx_taken; i++)
		if (!rx_place(e, i))
			return i;
	return PORT_RX_BATCH;
}

static void port_ready(struct watch *w, u32 events)
{
	struct port *port = container_of(w, struct port, watch);
	struct emu *e = port->emu;
	unsigned int room = rx_prepare(e);
	u64 now;
	int n;

	n = recvmmsg(w->fd, e->rx_mm, room, MSG_DONTWAIT, NULL);
	e->rx_taken = room < PORT_RX_BATCH ? PORT_RX_BATCH : n > 0 ? (unsigned int)n : 0;
	now = loop_now();
	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			port_look(port, now);
		return;
	}
	(void)events;
	if (n && !port->carrier)
		port_look(port, now);
	for (int i = 0; i < n; i++) {
		u32 len = e->rx_mm[i].msg_len;

		if (!port->fault.silence && len >= ETH_HLEN)
			give(port, e->rx[i], len - ETH_HLEN, now);
	}
}

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

int port_mtu(const char *name)
{
	struct ifreq ifr = { 0 };
	int err = device_ioctl(name, SIOCGIFMTU, &ifr);

	return err ? err : ifr.ifr_mtu;
}

static int check_device(struct port *port, const char *name, struct ifreq *hw, const char **why)
{
	static char text[128];
	int mtu = port_mtu(name);
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
	if (mtu < (int)port->emu->params.frame_max) {
		snprintf(text, sizeof(text), "its MTU is %d, this NIC's frames need %u", mtu,
			 port->emu->params.frame_max);
		*why = text;
		return -EINVAL;
	}
	return 0;
}

static int open_socket(int ifindex)
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
	/* A queueing discipline would only add its lock. */
	setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one));
	return fd;
}

void port_close(struct port *port)
{
	loop_del(&port->emu->loop, &port->watch);
	fault_flush(&port->fault, &port->emu->pool);
	port->ifindex = 0;
}

int port_attach(struct port *port, const char *name, const char **why, u64 now)
{
	struct emu *e = port->emu;
	struct ifreq ifr = { 0 };
	int ifindex, fd, err;

	*why = NULL;
	if (!*name) {
		port_close(port);
		port->lower[0] = 0;
		set_carrier(port, false, now);
		return 0;
	}
	err = check_device(port, name, &ifr, why);
	if (err)
		return err;
	ifindex = (int)if_nametoindex(name);
	fd = open_socket(ifindex);
	if (fd < 0) {
		*why = "cannot open a packet socket on it";
		return fd;
	}
	port_close(port);
	set_carrier(port, false, now);
	err = loop_add(&e->loop, &port->watch, fd, EPOLLIN, port_ready);
	if (err) {
		close(fd);
		return err;
	}
	port->ifindex = ifindex;
	snprintf(port->lower, sizeof(port->lower), "%s", name);
	memset(port->eth.ether_dhost, 0xff, ETH_ALEN);
	memcpy(port->eth.ether_shost, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
	port->eth.ether_type = htons(TN_ETHERTYPE);
	log_info("port %u is on %s", port->num, name);
	port_look(port, now);
	return 0;
}

/*
 * The kernel may tell of a changed carrier as late as a second after it changed,
 * so its news are taken as hints only, and a frame that could not be sent or came
 * unexpected is another.
 */
void port_look(struct port *port, u64 now)
{
	struct ethtool_value link = { .cmd = ETHTOOL_GLINK };
	struct ifreq ifr = { .ifr_data = (char *)&link };
	bool up;
	int mtu;

	if (port->watch.fd < 0)
		return;
	up = !device_ioctl(port->lower, SIOCETHTOOL, &ifr) && link.data;
	mtu = up ? port_mtu(port->lower) : 0;
	if (up && mtu < (int)port->emu->params.frame_max) {
		if (port->carrier)
			log_warn("port %u: MTU of %s is now %d, frames need %u: no carrier",
				 port->num, port->lower, mtu, port->emu->params.frame_max);
		up = false;
	}
	set_carrier(port, up, now);
}

void port_gone(struct port *port, u64 now)
{
	log_warn("port %u: %s is gone", port->num, port->lower);
	port_close(port);
	set_carrier(port, false, now);
}

static void send_iov(struct port *port, struct iovec *iov, unsigned int n, u64 now)
{
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = n };

	if (sendmsg(port->watch.fd, &mh, MSG_DONTWAIT) >= 0)
		return;
	/* All other failures are like a loss on the wire: the retry mends them. */
	log_debug("port %u: a frame was not sent: %s", port->num, strerror(errno));
	port_look(port, now);
}

static void send_copy(struct port *port, struct frame *f, u32 bytes, u64 now)
{
	struct iovec iov = { f->data - ETH_HLEN, bytes + ETH_HLEN };

	memcpy(f->data - ETH_HLEN, &port->eth, ETH_HLEN);
	send_iov(port, &iov, 1, now);
	frame_put(&port->emu->pool, f);
}

static struct frame *copy_frame(struct pool *pool, const struct tn_frame *tx)
{
	struct frame *f = frame_new(pool, tx->bytes);
	u32 at = 0;

	for (u32 i = 0; f && i < tx->nsegs; i++) {
		memcpy(f->data + at, tx->seg[i].base, tx->seg[i].len);
		at += tx->seg[i].len;
	}
	return f;
}

static void send_faulty(struct port *port, const struct tn_frame *tx, bool hit, u64 now)
{
	struct emu *e = port->emu;
	struct frame *f = copy_frame(&e->pool, tx);

	if (!f)
		return;
	if (hit)
		tn_fault_corrupt(&port->fault.bits, f->data, tx->bytes);
	if (port->fault.latency || port->fault.ndelayed)
		fault_delay(&port->fault, &e->pool, f, tx->bytes, now);
	else
		send_copy(port, f, tx->bytes, now);
}

static void send_frame(struct port *port, const struct tn_frame *tx, u64 now)
{
	struct iovec iov[TN_FRAME_SEGS + 1];
	unsigned int n = 1;
	bool hit;

	if (port->watch.fd < 0 || port->fault.silence)
		return;
	hit = tn_fault_hits(&port->fault.bits, tx->bytes);
	if (hit || port->fault.latency || port->fault.ndelayed) {
		send_faulty(port, tx, hit, now);
		return;
	}
	iov[0] = (struct iovec) { &port->eth, ETH_HLEN };
	for (u32 i = 0; i < tx->nsegs; i++) {
		const struct tn_seg *s = &tx->seg[i];
		struct iovec *last = &iov[n - 1];

		if (n > 1 && (u8 *)last->iov_base + last->iov_len == s->base)
			last->iov_len += s->len;
		else
			iov[n++] = (struct iovec) { (void *)s->base, s->len };
	}
	send_iov(port, iov, n, now);
}

void port_tx(struct port *port, u64 now)
{
	struct emu *e = port->emu;

	for (int i = 0; i < TX_BATCH; i++) {
		if (!tn_nic_tx(e->nic, port->num, &e->tx, now))
			return;
		send_frame(port, &e->tx, now);
	}
}

void port_delayed(struct port *port, u64 now)
{
	struct frame *f;
	u32 bytes;

	while ((f = fault_due(&port->fault, &bytes, now))) {
		if (port->watch.fd < 0 || port->fault.silence)
			frame_put(&port->emu->pool, f);
		else
			send_copy(port, f, bytes, now);
	}
}
