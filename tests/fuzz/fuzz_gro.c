// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as messages from other nodes' hosts, one after the other, which torusemu may
 * merge for its own (gro.h).
 *
 * Input: records of MEND (1 byte), LENGTH (2, little endian), bytes. MEND: 1 the message
 * becomes a datagram whose lengths and checksums are right, so that it is let in at all.
 */
#include <linux/virtio_net.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/torusemu/gro.h"

#define VNET	sizeof(struct virtio_net_hdr)
#define UDP	8
#define V4	20
#define V6	40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(bool yes)
{
	if (!yes)
		abort();
}

static void put_be16(u8 *p, size_t v)
{
	p[0] = (u8)(v >> 8);
	p[1] = (u8)v;
}

static u32 sum_of(const u8 *p, size_t n, u32 sum)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		sum += (u32)(p[i] << 8 | p[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/*
 * Makes a valid UDP message of what came: sets lengths, checksums and the fields that merging
 * requires. Addresses, ports, identification and all other fields stay as they came.
 */
static void mend(u8 *msg, size_t n)
{
	size_t ip_len = msg[VNET] >> 4 == 6 ? V6 : V4, udp_len = n - VNET - ip_len;
	u8 *ip = msg + VNET, *udp = ip + ip_len;

	memset(msg, 0, VNET);
	msg[0] = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	tn_put_le16(msg + offsetof(struct virtio_net_hdr, csum_start), (u16)ip_len);
	tn_put_le16(msg + offsetof(struct virtio_net_hdr, csum_offset), 6);
	put_be16(udp + 4, udp_len);
	if (ip_len == V6) {
		put_be16(ip + 4, udp_len);
		ip[6] = 17;
		put_be16(udp + 6, sum_of(ip + 8, 32, (u32)(17 + udp_len)));
		return;
	}
	ip[0] = 0x45;
	put_be16(ip + 2, n - VNET);
	ip[6] &= 0x40;
	ip[7] = 0;
	ip[9] = 17;
	put_be16(ip + 10, 0);
	put_be16(ip + 10, 0xffff ^ sum_of(ip, V4, 0));
	put_be16(udp + 6, sum_of(ip + 12, 8, (u32)(17 + udp_len)));
}

/* Completes the merged message as for the host, and checks the lengths in it. */
static void finish(struct gro *g, size_t payload)
{
	const u8 *ip = g->head + VNET;
	bool v6 = ip[0] >> 4 == 6;
	size_t all;

	if (!g->count)
		return;
	must(g->bytes == payload && g->size && g->size <= payload);
	if (g->count > 1)
		gro_finish(g);
	all = (size_t)(ip[v6 ? 4 : 2] << 8 | ip[v6 ? 5 : 3]) + (v6 ? V6 : 0);
	must(all == g->len - VNET + payload && (v6 || sum_of(ip, V4, 0) == 0xffff));
	must(g->count <= GRO_MAX && (payload + g->size - 1) / g->size == g->count);
	g->count = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct gro g = { .count = 0 };
	size_t payload = 0, last = 0;

	while (len >= 3) {
		size_t n = (size_t)(data[1] | data[2] << 8), before = g.bytes;
		bool mended = data[0] & 1;
		u8 *room, *msg;

		data += 3;
		len -= 3;
		n = n < len ? n : len;
		/* The IP header is aligned, and the message ends at the end of the memory. */
		room = malloc(2 + n);
		must(room);
		msg = room + 2;
		memcpy(msg, data, n);
		if (mended && n >= VNET + V6 + UDP)
			mend(msg, n);
		if (g.count && gro_join(&g, msg, n)) {
			must(last == g.size);	/* a shorter datagram is the last one */
			last = g.bytes - before;
			payload += last;
		} else {
			finish(&g, payload);
			if (gro_begin(&g, msg, n))
				payload = last = g.bytes;
		}
		free(room);
		data += n;
		len -= n;
	}
	finish(&g, payload);
	return 0;
}
