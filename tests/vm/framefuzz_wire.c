// SPDX-License-Identifier: GPL-2.0-only
/* Ways of sending a frame, which differ in the form that it has in the kernel; see framefuzz.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/unit/random.h"
#include "tests/vm/framefuzz.h"

#define SLOTS		16u
#define SLOT_BYTES	131072u
#define SLOT_DATA	(TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))
#define PIECES		18u	/* pieces of a tap's frame: the kernel's MAX_SKB_FRAGS and one */
#define PIECE_BYTES	4096u	/* bytes of each piece but the first */
#define TAP_MAX		65000u

/**
 * struct wire - the open one
 * @rng: determines where frames are cut, and what is written over them
 * @ring: PEER_RING: the memory that holds the kernel's frames
 * @slot: the next slot of it
 */
static struct wire {
	const struct way *way;
	uint64_t rng;
	int fd;
	int ifindex;
	uint8_t *ring;
	unsigned int slot;
} wire;

struct way {
	const char *name;
	void (*open)(const char *ifname);
	ssize_t (*send)(uint8_t *frame, size_t len);
};

static void fail(const char *what)
{
	fprintf(stderr, "framefuzz: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* --- packet sockets ------------------------------------------------------------------ */

static void packet_open(const char *ifname)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET, .sll_protocol = htons(TN_ETHERTYPE),
		.sll_ifindex = (int)if_nametoindex(ifname),
	};
	int size = 16 << 20;

	if (!sll.sll_ifindex)
		fail(ifname);
	wire.ifindex = sll.sll_ifindex;
	wire.fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(TN_ETHERTYPE));
	if (wire.fd < 0 || bind(wire.fd, (struct sockaddr *)&sll, sizeof(sll)))
		fail("packet socket");
	setsockopt(wire.fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	setsockopt(wire.fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
}

static ssize_t packet_send(uint8_t *frame, size_t len)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET, .sll_ifindex = wire.ifindex, .sll_halen = ETH_ALEN,
	};

	return sendto(wire.fd, frame, len, 0, (struct sockaddr *)&sll, sizeof(sll));
}

/* --- a ring: frames in memory that the sender has --------------------------------------- */

static void ring_open(const char *ifname)
{
	struct tpacket_req req = {
		.tp_block_size = SLOT_BYTES, .tp_block_nr = SLOTS,
		.tp_frame_size = SLOT_BYTES, .tp_frame_nr = SLOTS,
	};
	int version = TPACKET_V2;

	packet_open(ifname);
	if (setsockopt(wire.fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(wire.fd, SOL_PACKET, PACKET_TX_RING, &req, sizeof(req)))
		fail("ring");
	wire.ring = mmap(NULL, (size_t)SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			 wire.fd, 0);
	if (wire.ring == MAP_FAILED)
		fail("ring");
}

static uint8_t *slot_at(unsigned int i)
{
	return wire.ring + (size_t)(i % SLOTS) * SLOT_BYTES;
}

/* Return: true if the kernel has sent it, or refused it. */
static bool slot_free(unsigned int i)
{
	struct tpacket2_hdr *h = (struct tpacket2_hdr *)slot_at(i);

	return !(__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) &
		 (TP_STATUS_SEND_REQUEST | TP_STATUS_SENDING));
}

/* Overwrites memory as soon as the kernel says that it does not need it any more. */
static void scribble(void)
{
	for (unsigned int i = 0; i < SLOTS; i++) {
		struct tpacket2_hdr *h = (struct tpacket2_hdr *)slot_at(i);

		if (!h->tp_len || !slot_free(i))
			continue;
		memset(slot_at(i) + SLOT_DATA, (int)random_below(&wire.rng, 256), h->tp_len);
		h->tp_len = 0;
	}
}

static ssize_t ring_send(uint8_t *frame, size_t len)
{
	struct tpacket2_hdr *h = (struct tpacket2_hdr *)slot_at(wire.slot);
	ssize_t n;

	scribble();
	if (!slot_free(wire.slot)) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(slot_at(wire.slot) + SLOT_DATA, frame, len);
	h->tp_len = (uint32_t)len;
	__atomic_store_n(&h->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
	n = send(wire.fd, NULL, 0, MSG_DONTWAIT);
	wire.slot += n >= 0;	/* a refused frame stays the kernel's next one */
	scribble();
	return n;
}

/* --- a tap: frames cut where the sender says -------------------------------------------- */

static void tap_open(const char *ifname)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_NAPI | IFF_NAPI_FRAGS };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	wire.fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (wire.fd < 0 || ioctl(wire.fd, TUNSETIFF, &ifr))
		fail(ifname);
}

static size_t piece_bytes(void)
{
	static const uint32_t most[] = { 4, 16, 40, 1000, PIECE_BYTES };

	return 1 + random_below(&wire.rng, most[random_below(&wire.rng, 5)]);
}

/*
 * Sends a frame, cut anywhere, also in headers, into as many pieces as allowed; the first is the
 * rest.
 */
static ssize_t tap_send(uint8_t *frame, size_t len)
{
	struct iovec iov[PIECES];
	unsigned int first = PIECES - 1;

	if (len > TAP_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	while (first && len > ETH_HLEN) {
		size_t n = piece_bytes();

		if (len > PIECE_BYTES * (first + 1))
			n = PIECE_BYTES;
		n = n < len - ETH_HLEN ? n : len - ETH_HLEN;
		len -= n;
		iov[first--] = (struct iovec) { frame + len, n };
	}
	iov[first] = (struct iovec) { frame, len };
	return writev(wire.fd, iov + first, (int)(PIECES - first));
}

/* --- any -------------------------------------------------------------------------------- */

static const struct way ways[] = {
	{ "packet", packet_open, packet_send },
	{ "ring", ring_open, ring_send },
	{ "tap", tap_open, tap_send },
};

bool wire_open(const char *name, const char *ifname)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].name, name))
			continue;
		wire.way = &ways[i];
		wire.rng = random_seed(1);
		wire.way->open(ifname);
		return true;
	}
	return false;
}

void wire_send(const u8 *bytes, size_t len)
{
	static u8 out[ETH_HLEN + PEER_FRAME_MAX];
	struct ethhdr *eth = (struct ethhdr *)out;

	memset(eth->h_dest, 0xff, ETH_ALEN);
	memset(eth->h_source, 2, ETH_ALEN);
	eth->h_proto = htons(TN_ETHERTYPE);
	memcpy(out + ETH_HLEN, bytes, len);
	if (wire.way->send(out, ETH_HLEN + len) < 0 && errno != ENOBUFS && errno != EAGAIN &&
	    errno != EBUSY && errno != EMSGSIZE)
		fail("sending");
}

size_t wire_recv(u8 *bytes, size_t size)
{
	static u8 in[ETH_HLEN + PEER_FRAME_MAX];
	struct ethhdr *eth = (struct ethhdr *)in;
	ssize_t n;

	if (wire.ring)
		scribble();
	do {	/* a tap receives all that the host sends */
		n = read(wire.fd, in, sizeof(in));
	} while (n >= ETH_HLEN && eth->h_proto != htons(TN_ETHERTYPE));
	if (n < ETH_HLEN || (size_t)n - ETH_HLEN > size)
		return 0;
	memcpy(bytes, in + ETH_HLEN, (size_t)n - ETH_HLEN);
	return (size_t)n - ETH_HLEN;
}

void wire_wait(int ms)
{
	poll(&(struct pollfd) { .fd = wire.fd, .events = POLLIN }, 1, ms);
}
