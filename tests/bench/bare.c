// SPDX-License-Identifier: GPL-2.0-only
/*
 * The least that a user-space node of a chain must do: pass frames from one side to the other,
 * without any protocol. The reference for torusemu.
 *
 *	bare SIDE SIDE		SIDE: tun:NAME or an Ethernet device
 *
 * Runs until killed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define TYPE	0x88b6		/* ethertype that no torus frame has */
#define BATCH	16
#define FRAME	(65536 + 64)

struct side {
	int fd;
	bool tun;
};

static char buf[BATCH][FRAME];
static size_t len[BATCH];

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void open_tun(struct side *s, const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR };

	s->tun = true;
	s->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	if (s->fd < 0 || ioctl(s->fd, TUNSETIFF, &ifr) < 0 ||
	    ioctl(s->fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) < 0)
		die(name);
}

static void open_device(struct side *s, const char *name)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_protocol = htons(TYPE),
		.sll_ifindex = (int)if_nametoindex(name),
	};
	int one = 1, bytes = 32 << 20;

	s->tun = false;
	s->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
	if (s->fd < 0 || setsockopt(s->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) ||
	    setsockopt(s->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    bind(s->fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		die(name);
}

static int receive(struct side *s)
{
	struct mmsghdr mm[BATCH];
	struct iovec iov[BATCH];
	int n;

	if (s->tun) {
		for (n = 0; n < BATCH; n++) {
			ssize_t got = read(s->fd, buf[n] + ETH_HLEN, FRAME - ETH_HLEN);

			if (got <= 0)
				break;
			len[n] = (size_t)got + ETH_HLEN;
		}
		return n;
	}
	memset(mm, 0, sizeof(mm));
	for (int i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec) { buf[i], FRAME };
		mm[i].msg_hdr.msg_iov = &iov[i];
		mm[i].msg_hdr.msg_iovlen = 1;
	}
	n = recvmmsg(s->fd, mm, BATCH, MSG_DONTWAIT, NULL);
	for (int i = 0; i < n; i++)
		len[i] = mm[i].msg_len;
	return n;
}

static void forward(struct side *s, int n)
{
	struct mmsghdr mm[BATCH];
	struct iovec iov[BATCH];

	if (s->tun) {
		for (int i = 0; i < n; i++)
			if (write(s->fd, buf[i] + ETH_HLEN, len[i] - ETH_HLEN) < 0)
				perror("tun");
		return;
	}
	memset(mm, 0, sizeof(mm));
	for (int i = 0; i < n; i++) {
		struct ether_header *eth = (struct ether_header *)buf[i];

		memset(eth, 0xff, ETH_ALEN * 2);
		eth->ether_shost[0] = 2;
		eth->ether_type = htons(TYPE);
		iov[i] = (struct iovec) { buf[i], len[i] };
		mm[i].msg_hdr.msg_iov = &iov[i];
		mm[i].msg_hdr.msg_iovlen = 1;
	}
	for (int done = 0; done < n;) {
		int sent = sendmmsg(s->fd, mm + done, (unsigned int)(n - done), 0);

		if (sent > 0)
			done += sent;
		else if (errno != EAGAIN && errno != ENOBUFS)
			return;
	}
}

int main(int argc, char **argv)
{
	struct side side[2];
	struct pollfd p[2];

	if (argc != 3) {
		fprintf(stderr, "usage: bare SIDE SIDE\n");
		return 2;
	}
	for (int i = 0; i < 2; i++) {
		if (!strncmp(argv[i + 1], "tun:", 4))
			open_tun(&side[i], argv[i + 1] + 4);
		else
			open_device(&side[i], argv[i + 1]);
		p[i] = (struct pollfd) { .fd = side[i].fd, .events = POLLIN };
	}
	while (poll(p, 2, -1) > 0 || errno == EINTR)
		for (int i = 0; i < 2; i++) {
			int n = p[i].revents & POLLIN ? receive(&side[i]) : 0;

			if (n > 0)
				forward(&side[!i], n);
		}
	return 2;
}
