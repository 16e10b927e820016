// SPDX-License-Identifier: GPL-2.0-only
/*
 * Destination unreachable, as if the destination had said so. icmp_send() does
 * not serve: it wants the route of the packet it answers, and one that comes back
 * from the fabric has none.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/checksum.h>
#include <net/ip6_checksum.h>

#include "torus.h"

#define QUOTE4_MAX	(576 - 20 - 8)		/* RFC 1812 */
#define QUOTE6_MAX	(1280 - 40 - 8)		/* RFC 4443 */
#define INTERVAL	(5 * NSEC_PER_MSEC)	/* 200 a second, */
#define BURST		50			/* 50 at once */

static bool allowed(struct torus_dev *d)
{
	u64 now = torus_now(), first = now - (u64)INTERVAL * BURST;
	u64 *next = &d->msgs.icmp_next;

	if ((s64)(*next - first) < 0)
		*next = first;
	if (*next > now)
		return false;
	*next += INTERVAL;
	return true;
}

static struct sk_buff *answer_alloc(size_t ip_len, size_t quote)
{
	size_t len = ip_len + sizeof(struct icmphdr) + quote;
	struct sk_buff *skb = alloc_skb(NET_SKB_PAD + len, GFP_ATOMIC | __GFP_NOWARN);

	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, (int)ip_len);
	skb_put_zero(skb, len);
	return skb;
}

/* Never about errors, broken headers or later fragments. */
static struct sk_buff *answer4(const u8 *data, size_t len)
{
	size_t quote = min_t(size_t, len, QUOTE4_MAX), hdr;
	struct icmphdr *icmp;
	struct sk_buff *skb;
	struct iphdr ip, *out;

	if (len < sizeof(ip))
		return NULL;
	memcpy(&ip, data, sizeof(ip));
	hdr = ip.ihl * 4u;
	if (hdr < sizeof(ip) || len < hdr + 8 || ip.frag_off & htons(0x1fff) ||
	    (ip.protocol == IPPROTO_ICMP && data[hdr] != ICMP_ECHO))
		return NULL;
	skb = answer_alloc(sizeof(ip), quote);
	if (!skb)
		return NULL;
	skb->protocol = htons(ETH_P_IP);
	out = ip_hdr(skb);
	out->version = 4;
	out->ihl = sizeof(ip) / 4;
	out->tot_len = htons((u16)skb->len);
	out->ttl = 64;
	out->protocol = IPPROTO_ICMP;
	out->saddr = ip.daddr;
	out->daddr = ip.saddr;
	out->check = ip_fast_csum(out, out->ihl);
	icmp = icmp_hdr(skb);
	icmp->type = ICMP_DEST_UNREACH;
	icmp->code = ICMP_HOST_UNREACH;
	memcpy(icmp + 1, data, quote);
	icmp->checksum = ip_compute_csum(icmp, (int)(sizeof(*icmp) + quote));
	return skb;
}

static struct sk_buff *answer6(const u8 *data, size_t len)
{
	size_t quote = min_t(size_t, len, QUOTE6_MAX), n = sizeof(struct icmp6hdr) + quote;
	struct ipv6hdr ip, *out;
	struct icmp6hdr *icmp;
	struct sk_buff *skb;

	if (len < sizeof(ip) + 8)
		return NULL;
	memcpy(&ip, data, sizeof(ip));
	if (ip.nexthdr == IPPROTO_ICMPV6 && data[sizeof(ip)] < ICMPV6_ECHO_REQUEST)
		return NULL;
	skb = answer_alloc(sizeof(ip), quote);
	if (!skb)
		return NULL;
	skb->protocol = htons(ETH_P_IPV6);
	out = ipv6_hdr(skb);
	out->version = 6;
	out->payload_len = htons((u16)n);
	out->nexthdr = IPPROTO_ICMPV6;
	out->hop_limit = 64;
	out->saddr = ip.daddr;
	out->daddr = ip.saddr;
	icmp = icmp6_hdr(skb);
	icmp->icmp6_type = ICMPV6_DEST_UNREACH;
	icmp->icmp6_code = ICMPV6_ADDR_UNREACH;
	memcpy(icmp + 1, data, quote);
	icmp->icmp6_cksum = csum_ipv6_magic(&out->saddr, &out->daddr, (u32)n, IPPROTO_ICMPV6,
					    csum_partial(icmp, (int)n, 0));
	return skb;
}

void torus_icmp_unreachable(struct torus_dev *d, const u8 *ip, size_t len)
{
	struct sk_buff *skb = NULL;

	if (!len || !allowed(d))
		return;
	if (ip[0] >> 4 == 4)
		skb = answer4(ip, len);
	else if (ip[0] >> 4 == 6)
		skb = answer6(ip, len);
	if (!skb)
		return;
	skb->dev = d->netdev;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	__skb_queue_tail(&d->up, skb);
}
