// SPDX-License-Identifier: GPL-2.0-only
/*
 * ICMP errors "destination unreachable". Their source address is the destination of the packet that
 * they answer, because a host refuses a packet from its own address. RFC 792, 1122, 1812, 4443.
 */
#include "../core/times.h"
#include "host.h"

#define IP4_HDR		20u
#define IP6_HDR		40u
#define ICMP_HDR	8u
/* most bytes that are quoted, RFC 1812 */
#define QUOTE4_MAX	(576 - IP4_HDR - ICMP_HDR)
/* most bytes that are quoted, RFC 4443 */
#define QUOTE6_MAX	(TORUS_HOST_ANSWER_MAX - IP6_HDR - ICMP_HDR)
/* time between two errors: the rate limit is 200 a second, */
#define INTERVAL	(5 * MS)
#define BURST		50u		/* and up to 50 at once */

#define PROTO_ICMP		1
#define ICMP_ECHO		8
#define ICMP_DEST_UNREACH	3
#define ICMP_HOST_UNREACH	1
#define PROTO_ICMPV6		58
/* ICMPv6 messages with this type or a higher one are not errors */
#define ICMPV6_INFO		128
#define ICMPV6_DEST_UNREACH	1
#define ICMPV6_ADDR_UNREACH	3

#define EXT_OPTIONS		0	/* extension headers of IPv6 */
#define EXT_ROUTING		43
#define EXT_FRAGMENT		44
#define EXT_AUTH		51
#define EXT_DEST_OPTIONS	60

void torus_host_unreachable(struct torus_host *h, const struct tn_pkt *pkt)
{
	u32 bytes = tn_pkt_bytes(pkt);

	if (pkt->tail.flags & TN_TAIL_FIRST && bytes > TORUS_HOST_HDR)
		h->lost(h->shell, pkt->payload + TORUS_HOST_HDR, bytes - TORUS_HOST_HDR);
}

/* Takes one error from the rate limit. Return: false if none is left. */
static bool take_token(struct torus_host *h, u64 now)
{
	if (h->answer_at + INTERVAL * BURST < now)
		h->answer_at = now - INTERVAL * BURST;
	if (h->answer_at > now)
		return false;
	h->answer_at += INTERVAL;
	return true;
}

/*
 * Return: true if the packet may be answered. By RFC 1122 there is no ICMP error about an ICMP
 * error, a broken header or a fragment other than the first, nor to a source that is not one host:
 * 0/8, 127/8, multicast, class E.
 */
static bool wants_answer4(const u8 *ip, u32 len)
{
	u32 hdr = (ip[0] & 0xfu) * 4u;

	return hdr >= IP4_HDR && len >= hdr + 8 && !(ip[6] & 0x1f) && !ip[7] &&
	       ip[12] && ip[12] != 127 && ip[12] < 224 &&
	       (ip[9] != PROTO_ICMP || ip[hdr] == ICMP_ECHO);
}

/* Return: true if the source of the packet is one host: not unspecified, loopback or multicast. */
static bool is_host6(const u8 *src)
{
	unsigned int i, bits = 0;

	for (i = 0; i < 15; i++)
		bits |= src[i];
	return src[0] != 0xff && (bits || src[15] > 1);
}

/*
 * Return: true if the packet may be answered. By RFC 4443 there is no ICMP error about an ICMPv6
 * error, which may be after extension headers. A packet whose headers do not end in the @len
 * bytes, or a fragment of ICMPv6 other than the first, may be an ICMPv6 error, so it is not
 * answered either.
 */
static bool wants_answer6(const u8 *ip, u32 len)
{
	u32 at = IP6_HDR;
	u8 next = ip[6];

	if (len < IP6_HDR + 8 || !is_host6(ip + 8))
		return false;
	while (next == EXT_OPTIONS || next == EXT_ROUTING || next == EXT_FRAGMENT ||
	       next == EXT_AUTH || next == EXT_DEST_OPTIONS) {
		const u8 *ext = ip + at;

		if (len < at + 8)
			return false;
		if (next == EXT_FRAGMENT && (ext[2] || ext[3] & 0xf8))
			return ext[0] != PROTO_ICMPV6;
		if (next == EXT_AUTH)
			at += 4 * (ext[1] + 2u);
		else
			at += next == EXT_FRAGMENT ? 8 : 8 * (ext[1] + 1u);
		next = ext[0];
	}
	return next != PROTO_ICMPV6 || (at < len && ip[at] >= ICMPV6_INFO);
}

u32 torus_host_answer(struct torus_host *h, const u8 *ip, u32 len, u64 now)
{
	u32 bytes = 0;

	if (len >= IP4_HDR && ip[0] >> 4 == 4 && wants_answer4(ip, len))
		bytes = IP4_HDR + ICMP_HDR + (len < QUOTE4_MAX ? len : QUOTE4_MAX);
	else if (len >= IP6_HDR && ip[0] >> 4 == 6 && wants_answer6(ip, len))
		bytes = IP6_HDR + ICMP_HDR + (len < QUOTE6_MAX ? len : QUOTE6_MAX);
	return bytes && take_token(h, now) ? bytes : 0;
}

static u32 add_words(u32 sum, const u8 *p, u32 len)
{
	u32 i;

	for (i = 0; i + 1 < len; i += 2)
		sum += (u32)p[i] << 8 | p[i + 1];
	if (len & 1)
		sum += (u32)p[len - 1] << 8;
	return sum;
}

static void put_be16(u8 *p, u32 v)
{
	p[0] = (u8)(v >> 8);
	p[1] = (u8)v;
}

static void put_checksum(u8 *p, u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	put_be16(p, ~sum);
}

/*
 * Writes an ICMP error of @bytes that quotes the packet @ip; @sum: checksum of the pseudo header.
 */
static void write_icmp(u8 *icmp, u8 type, u8 code, const u8 *ip, u32 bytes, u32 sum)
{
	memset(icmp, 0, ICMP_HDR);
	icmp[0] = type;
	icmp[1] = code;
	memcpy(icmp + ICMP_HDR, ip, bytes - ICMP_HDR);
	put_checksum(icmp + 2, add_words(sum, icmp, bytes));
}

static void write_answer4(const u8 *ip, u32 bytes, u8 *out)
{
	memset(out, 0, IP4_HDR);
	out[0] = 0x45;
	put_be16(out + 2, bytes);
	out[8] = 64;
	out[9] = PROTO_ICMP;
	memcpy(out + 12, ip + 16, 4);
	memcpy(out + 16, ip + 12, 4);
	put_checksum(out + 10, add_words(0, out, IP4_HDR));
	write_icmp(out + IP4_HDR, ICMP_DEST_UNREACH, ICMP_HOST_UNREACH, ip, bytes - IP4_HDR, 0);
}

static void write_answer6(const u8 *ip, u32 bytes, u8 *out)
{
	u32 n = bytes - IP6_HDR;

	memset(out, 0, IP6_HDR);
	out[0] = 0x60;
	put_be16(out + 4, n);
	out[6] = PROTO_ICMPV6;
	out[7] = 64;
	memcpy(out + 8, ip + 24, 16);
	memcpy(out + 24, ip + 8, 16);
	write_icmp(out + IP6_HDR, ICMPV6_DEST_UNREACH, ICMPV6_ADDR_UNREACH, ip, n,
		   add_words(n + PROTO_ICMPV6, out + 8, 32));
}

void torus_host_answer_write(const u8 *ip, u32 bytes, u8 *out)
{
	if (ip[0] >> 4 == 4)
		write_answer4(ip, bytes, out);
	else
		write_answer6(ip, bytes, out);
}
