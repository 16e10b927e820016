// SPDX-License-Identifier: GPL-2.0-only
#include "gro.h"

#include <linux/virtio_net.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>

#define VNET		sizeof(struct virtio_net_hdr)
#define UDP		sizeof(struct udphdr)
#define IP_BYTES_MAX	65535

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

static u32 get_be16(const u8 *p)
{
	return (u32)p[0] << 8 | p[1];
}

static void write_be16(u8 *p, u32 v)
{
	p[0] = (u8)(v >> 8);
	p[1] = (u8)v;
}

static u32 fold_sum(u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

static bool is_v4(const u8 *ip)
{
	return ip[0] >> 4 == 4;
}

/* Return: the sum of an IPv4 header: all ones if its checksum is right. */
static u32 ip_sum(const u8 *ip)
{
	u32 sum = 0;

	for (u32 i = 0; i < sizeof(struct iphdr); i += 2)
		sum += get_be16(ip + i);
	return fold_sum(sum);
}

static bool plain_v4(const u8 *ip, size_t bytes)
{
	return ip[0] == 0x45 && ip[offsetof(struct iphdr, protocol)] == IPPROTO_UDP &&
	       get_be16(ip + offsetof(struct iphdr, tot_len)) == bytes &&
	       !(get_be16(ip + offsetof(struct iphdr, frag_off)) & (0xffff ^ IP_DF)) &&
	       ip_sum(ip) == 0xffff;
}

static bool plain_v6(const u8 *ip, size_t bytes)
{
	return ip[0] >> 4 == 6 && ip[offsetof(struct ip6_hdr, ip6_nxt)] == IPPROTO_UDP &&
	       get_be16(ip + offsetof(struct ip6_hdr, ip6_plen)) == bytes - sizeof(struct ip6_hdr);
}

/*
 * Return: bytes of the IP header of an unfragmented UDP datagram without options; 0 if @ip is not
 * such a datagram.
 */
static size_t ip_len(const u8 *ip, size_t bytes)
{
	if (bytes >= sizeof(struct iphdr) + UDP && plain_v4(ip, bytes))
		return sizeof(struct iphdr);
	if (bytes >= sizeof(struct ip6_hdr) + UDP && plain_v6(ip, bytes))
		return sizeof(struct ip6_hdr);
	return 0;
}

/* Return: bytes of all headers, 0 if the message cannot be merged. */
static size_t head_len(const u8 *msg, size_t bytes)
{
	struct virtio_net_hdr h;
	const u8 *ip = msg + VNET;
	size_t n;

	if (bytes < VNET)
		return 0;
	memcpy(&h, msg, VNET);
	n = ip_len(ip, bytes - VNET);
	if (!n || h.flags != VIRTIO_NET_HDR_F_NEEDS_CSUM || h.gso_type != VIRTIO_NET_HDR_GSO_NONE ||
	    tn_get_le16(&h.csum_start) != n ||
	    tn_get_le16(&h.csum_offset) != offsetof(struct udphdr, check) ||
	    get_be16(ip + n + offsetof(struct udphdr, len)) != bytes - VNET - n)
		return 0;
	return VNET + n + UDP;
}

/* Clears the fields that differ between datagrams: lengths, checksums, identification. */
static void blank_varying(u8 *head, size_t len)
{
	u8 *ip = head + VNET, *udp = head + len - UDP;

	if (is_v4(ip)) {
		write_be16(ip + offsetof(struct iphdr, tot_len), 0);
		write_be16(ip + offsetof(struct iphdr, id), 0);
		write_be16(ip + offsetof(struct iphdr, check), 0);
	} else {
		write_be16(ip + offsetof(struct ip6_hdr, ip6_plen), 0);
	}
	write_be16(udp + offsetof(struct udphdr, len), 0);
	write_be16(udp + offsetof(struct udphdr, check), 0);
}

static bool is_consecutive(const u8 *first, const u8 *next, u32 count)
{
	const u8 *a = first + VNET, *b = next + VNET;

	if (!is_v4(a) || get_be16(a + offsetof(struct iphdr, frag_off)) & IP_DF)
		return true;
	return get_be16(b + offsetof(struct iphdr, id)) ==
	       ((get_be16(a + offsetof(struct iphdr, id)) + count) & 0xffff);
}

/*
 * Return: the sum of the pseudo header for a payload of @bytes, which replaces the sum in @udp. The
 * checksum field has this sum, because the device computes the checksum.
 */
static u32 pseudo_sum(const u8 *udp, u32 bytes)
{
	return fold_sum(get_be16(udp + offsetof(struct udphdr, check)) +
			(0xffff ^ get_be16(udp + offsetof(struct udphdr, len))) + bytes);
}

/* Return: true if headers @b, after @count datagrams, continue the flow of headers @a. */
static bool continues_flow(const u8 *a, const u8 *b, size_t len, u32 count)
{
	const u8 *udp = b + len - UDP;
	u8 x[GRO_HEAD], y[GRO_HEAD];

	if (!is_consecutive(a, b, count) ||
	    pseudo_sum(a + len - UDP, get_be16(udp + offsetof(struct udphdr, len))) !=
	    get_be16(udp + offsetof(struct udphdr, check)))
		return false;
	memcpy(x, a, len);
	memcpy(y, b, len);
	blank_varying(x, len);
	blank_varying(y, len);
	return !memcmp(x, y, len);
}

bool gro_begin(struct gro *g, const u8 *msg, size_t bytes)
{
	size_t n = head_len(msg, bytes);

	if (!n || bytes == n)
		return false;
	memcpy(g->head, msg, n);
	g->len = (u32)n;
	g->size = g->bytes = (u32)(bytes - n);
	g->count = 1;
	g->ended = false;
	return true;
}

bool gro_join(struct gro *g, const u8 *msg, size_t bytes)
{
	size_t n = head_len(msg, bytes), more = bytes - n;

	if (g->ended || n != g->len || !more || more > g->size ||
	    g->len - VNET + g->bytes + more > IP_BYTES_MAX ||
	    !continues_flow(g->head, msg, n, g->count))
		return false;
	g->bytes += (u32)more;
	g->count++;
	g->ended = more < g->size || g->count == GRO_MAX;
	return true;
}

static void set_ip_len(u8 *ip, u32 bytes)
{
	if (!is_v4(ip)) {
		write_be16(ip + offsetof(struct ip6_hdr, ip6_plen),
			   bytes - (u32)sizeof(struct ip6_hdr));
		return;
	}
	write_be16(ip + offsetof(struct iphdr, tot_len), bytes);
	write_be16(ip + offsetof(struct iphdr, check), 0);
	write_be16(ip + offsetof(struct iphdr, check), 0xffff ^ ip_sum(ip));
}

void gro_finish(struct gro *g)
{
	u8 *udp = g->head + g->len - UDP;
	u32 bytes = (u32)UDP + g->bytes;
	struct virtio_net_hdr h;

	memcpy(&h, g->head, VNET);
	h.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
	tn_put_le16(&h.hdr_len, (u16)(g->len - VNET));
	tn_put_le16(&h.gso_size, (u16)g->size);
	memcpy(g->head, &h, VNET);
	write_be16(udp + offsetof(struct udphdr, check), pseudo_sum(udp, bytes));
	write_be16(udp + offsetof(struct udphdr, len), bytes);
	set_ip_len(g->head + VNET, g->len - (u32)VNET + g->bytes);
}
