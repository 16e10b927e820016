// SPDX-License-Identifier: GPL-2.0-only
/*
 * Destination unreachable, as if the destination had said so: the host would
 * take a packet from its own address for a forgery.
 */
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>

#include "emu.h"

#define QUOTE4_MAX	(576 - 20 - 8)		/* RFC 1812 */
#define QUOTE6_MAX	(1280 - 40 - 8)		/* RFC 4443 */
#define INTERVAL	5000000u		/* ns: 200 a second, */
#define BURST		50u			/* 50 at once */

static u32 sum(u32 acc, const void *data, size_t len)
{
	const u8 *p = data;

	for (size_t i = 0; i + 1 < len; i += 2)
		acc += (u32)p[i] << 8 | p[i + 1];
	if (len & 1)
		acc += (u32)p[len - 1] << 8;
	return acc;
}

static u16 fold(u32 acc)
{
	acc = (acc & 0xffff) + (acc >> 16);
	acc = (acc & 0xffff) + (acc >> 16);
	return (u16)~acc;
}

static void put_be16(u8 *p, u16 v)
{
	p[0] = (u8)(v >> 8);
	p[1] = (u8)v;
}

static bool allowed(struct emu *e)
{
	u64 now = loop_now();
	u64 *next = &e->msg.icmp_next;

	if (*next + (u64)INTERVAL * BURST < now)
		*next = now - (u64)INTERVAL * BURST;
	if (*next > now)
		return false;
	*next += INTERVAL;
	return true;
}

/* Never about errors, broken headers or later fragments. */
static size_t answer4(const u8 *ip, size_t len, u8 *out)
{
	size_t hdr = (ip[0] & 0xfu) * 4u;
	size_t quote = len < QUOTE4_MAX ? len : QUOTE4_MAX;
	u8 *icmp = out + sizeof(struct iphdr);

	if (hdr < sizeof(struct iphdr) || len < hdr + 8 || (ip[6] & 0x1f) || ip[7] ||
	    (ip[9] == IPPROTO_ICMP && ip[hdr] != ICMP_ECHO))
		return 0;
	memset(out, 0, sizeof(struct iphdr) + 8);
	out[0] = 0x45;
	put_be16(out + 2, (u16)(sizeof(struct iphdr) + 8 + quote));
	out[8] = 64;
	out[9] = IPPROTO_ICMP;
	memcpy(out + 12, ip + 16, 4);
	memcpy(out + 16, ip + 12, 4);
	put_be16(out + 10, fold(sum(0, out, sizeof(struct iphdr))));
	icmp[0] = ICMP_DEST_UNREACH;
	icmp[1] = ICMP_HOST_UNREACH;
	memcpy(icmp + 8, ip, quote);
	put_be16(icmp + 2, fold(sum(0, icmp, 8 + quote)));
	return sizeof(struct iphdr) + 8 + quote;
}

static size_t answer6(const u8 *ip, size_t len, u8 *out)
{
	size_t quote = len < QUOTE6_MAX ? len : QUOTE6_MAX;
	u8 *icmp = out + sizeof(struct ip6_hdr);
	u32 pseudo;

	if (len < sizeof(struct ip6_hdr) + 8 ||
	    (ip[6] == IPPROTO_ICMPV6 && ip[40] < ICMP6_ECHO_REQUEST))
		return 0;
	memset(out, 0, sizeof(struct ip6_hdr) + 8);
	out[0] = 0x60;
	put_be16(out + 4, (u16)(8 + quote));
	out[6] = IPPROTO_ICMPV6;
	out[7] = 64;
	memcpy(out + 8, ip + 24, 16);
	memcpy(out + 24, ip + 8, 16);
	icmp[0] = ICMP6_DST_UNREACH;
	icmp[1] = ICMP6_DST_UNREACH_ADDR;
	memcpy(icmp + 8, ip, quote);
	pseudo = sum((u32)(8 + quote) + IPPROTO_ICMPV6, out + 8, 32);
	put_be16(icmp + 2, fold(sum(pseudo, icmp, 8 + quote)));
	return sizeof(struct ip6_hdr) + 8 + quote;
}

void icmp_unreachable(struct emu *e, const u8 *msg, size_t len)
{
	u8 out[TUN_HDR + 1280] = { 0 };
	const u8 *ip = msg + TUN_HDR;
	struct iovec iov = { out, 0 };
	size_t n = 0;

	if (len < TUN_HDR + sizeof(struct iphdr) || !allowed(e))
		return;
	len -= TUN_HDR;
	if (ip[0] >> 4 == 4)
		n = answer4(ip, len, out + TUN_HDR);
	else if (ip[0] >> 4 == 6)
		n = answer6(ip, len, out + TUN_HDR);
	if (!n)
		return;
	iov.iov_len = TUN_HDR + n;
	tun_write(e, &iov, 1, iov.iov_len);
}
