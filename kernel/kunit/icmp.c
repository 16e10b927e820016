// SPDX-License-Identifier: GPL-2.0-only
/*
 * Destination unreachable: to whom it is said, what it says, and how often. RFC 792, 1122,
 * 1812, 4443: never about an error or a later fragment, and the beginning of what could not
 * arrive goes along, as much as keeps the answer below 576 or 1280 bytes.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/checksum.h>
#include <net/ip6_checksum.h>

#include "lab.h"

#define LEN_MAX	1500

/* A packet that could not arrive. */
static u8 sent[LEN_MAX];

static void fill(unsigned int from)
{
	unsigned int i;

	for (i = from; i < LEN_MAX; i++)
		sent[i] = (u8)(i * 3 + (i >> 8));
}

static struct iphdr *packet4(u8 protocol)
{
	struct iphdr *ip = (struct iphdr *)sent;

	fill(sizeof(*ip));
	*ip = (struct iphdr) {
		.version = 4, .ihl = 5, .ttl = 9, .protocol = protocol,
		.saddr = htonl(0x0a000000), .daddr = htonl(0x0a010000),
	};
	return ip;
}

static struct ipv6hdr *packet6(u8 nexthdr)
{
	struct ipv6hdr *ip = (struct ipv6hdr *)sent;

	fill(sizeof(*ip));
	*ip = (struct ipv6hdr) { .version = 6, .hop_limit = 9, .nexthdr = nexthdr };
	ip->saddr.s6_addr[15] = 1;
	ip->daddr.s6_addr[15] = 2;
	return ip;
}

/* Return: the answer to the first @len bytes of the packet, for the caller to free; NULL: none. */
static struct sk_buff *answer(struct torus_dev *d, unsigned int len)
{
	struct sk_buff *skb;

	torus_dev_lock(d);
	d->msgs.icmp_next = 0;
	torus_icmp_unreachable(d, sent, len);
	skb = __skb_dequeue(&d->up);
	__skb_queue_purge(&d->up);
	torus_dev_unlock_read(d);
	return skb;
}

static bool answered(struct torus_dev *d, unsigned int len)
{
	struct sk_buff *skb = answer(d, len);

	kfree_skb(skb);
	return skb;
}

static void expect_answer4(struct kunit *test, struct torus_dev *d, unsigned int len,
			   unsigned int quote)
{
	const struct iphdr *was = (struct iphdr *)sent, *ip;
	struct sk_buff *skb = answer(d, len);
	const struct icmphdr *icmp;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_EQ(test, skb->len, (unsigned int)(sizeof(*ip) + sizeof(*icmp)) + quote);
	ip = ip_hdr(skb);
	icmp = icmp_hdr(skb);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)ip, skb->data);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)icmp, skb->data + sizeof(*ip));
	KUNIT_EXPECT_PTR_EQ(test, skb->dev, d->netdev);
	KUNIT_EXPECT_EQ(test, (u16)skb->protocol, htons(ETH_P_IP));
	KUNIT_EXPECT_EQ(test, (int)skb->ip_summed, CHECKSUM_UNNECESSARY);
	KUNIT_EXPECT_EQ(test, (int)ip->version, 4);
	KUNIT_EXPECT_EQ(test, (int)ip->ihl, 5);
	KUNIT_EXPECT_EQ(test, ntohs(ip->tot_len), (u16)skb->len);
	KUNIT_EXPECT_EQ(test, (int)ip->ttl, 64);
	KUNIT_EXPECT_EQ(test, (int)ip->protocol, IPPROTO_ICMP);
	KUNIT_EXPECT_EQ(test, ip->saddr, was->daddr);
	KUNIT_EXPECT_EQ(test, ip->daddr, was->saddr);
	KUNIT_EXPECT_EQ(test, (int)ip_fast_csum(ip, 5), 0);
	KUNIT_EXPECT_EQ(test, (int)icmp->type, ICMP_DEST_UNREACH);
	KUNIT_EXPECT_EQ(test, (int)icmp->code, ICMP_HOST_UNREACH);
	KUNIT_EXPECT_EQ(test, icmp->un.gateway, 0u);
	KUNIT_EXPECT_EQ(test, (int)ip_compute_csum(icmp, (int)(sizeof(*icmp) + quote)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(icmp + 1, sent, quote), 0);
	kfree_skb(skb);
}

static void test_answer4(struct kunit *test)
{
	struct torus_dev *d = lab_nic(test, 2, 0);

	packet4(IPPROTO_UDP);
	expect_answer4(test, d, 28, 28);
	expect_answer4(test, d, 100, 100);
	expect_answer4(test, d, 548, 548);
	expect_answer4(test, d, 549, 548);
	expect_answer4(test, d, LEN_MAX, 548);
}

static void test_silent4(struct kunit *test)
{
	struct torus_dev *d = lab_nic(test, 2, 0);
	struct iphdr *ip = packet4(IPPROTO_UDP);

	/* A header and eight bytes are the least that says of which packet this is. */
	KUNIT_EXPECT_FALSE(test, answered(d, 0));
	KUNIT_EXPECT_FALSE(test, answered(d, 19));
	KUNIT_EXPECT_FALSE(test, answered(d, 20));
	KUNIT_EXPECT_FALSE(test, answered(d, 27));
	KUNIT_EXPECT_TRUE(test, answered(d, 28));
	ip->ihl = 4;
	KUNIT_EXPECT_FALSE(test, answered(d, 100));
	ip->ihl = 15;
	KUNIT_EXPECT_FALSE(test, answered(d, 67));
	KUNIT_EXPECT_TRUE(test, answered(d, 68));
	ip = packet4(IPPROTO_UDP);
	ip->version = 5;
	KUNIT_EXPECT_FALSE(test, answered(d, 100));
	ip->version = 4;
	/* Only the first fragment is answered. */
	ip->frag_off = htons(IP_MF);
	KUNIT_EXPECT_TRUE(test, answered(d, 100));
	ip->frag_off = htons(IP_DF);
	KUNIT_EXPECT_TRUE(test, answered(d, 100));
	ip->frag_off = htons(1);
	KUNIT_EXPECT_FALSE(test, answered(d, 100));
	ip->frag_off = htons(IP_OFFSET);
	KUNIT_EXPECT_FALSE(test, answered(d, 100));
	packet4(IPPROTO_ICMP);
	sent[20] = ICMP_ECHO;
	KUNIT_EXPECT_TRUE(test, answered(d, 100));
	sent[20] = ICMP_DEST_UNREACH;
	KUNIT_EXPECT_FALSE(test, answered(d, 100));
	sent[20] = ICMP_TIME_EXCEEDED;
	KUNIT_EXPECT_FALSE(test, answered(d, 100));
}

static void expect_answer6(struct kunit *test, struct torus_dev *d, unsigned int len,
			   unsigned int quote)
{
	const struct ipv6hdr *was = (struct ipv6hdr *)sent, *ip;
	struct sk_buff *skb = answer(d, len);
	const struct icmp6hdr *icmp;
	u32 n = (u32)sizeof(*icmp) + quote;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_EQ(test, skb->len, (u32)sizeof(*ip) + n);
	ip = ipv6_hdr(skb);
	icmp = icmp6_hdr(skb);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)ip, skb->data);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)icmp, skb->data + sizeof(*ip));
	KUNIT_EXPECT_PTR_EQ(test, skb->dev, d->netdev);
	KUNIT_EXPECT_EQ(test, (u16)skb->protocol, htons(ETH_P_IPV6));
	KUNIT_EXPECT_EQ(test, (int)ip->version, 6);
	KUNIT_EXPECT_EQ(test, (u32)ntohs(ip->payload_len), n);
	KUNIT_EXPECT_EQ(test, (int)ip->hop_limit, 64);
	KUNIT_EXPECT_EQ(test, (int)ip->nexthdr, IPPROTO_ICMPV6);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&ip->saddr, &was->daddr));
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&ip->daddr, &was->saddr));
	KUNIT_EXPECT_EQ(test, (int)icmp->icmp6_type, ICMPV6_DEST_UNREACH);
	KUNIT_EXPECT_EQ(test, (int)icmp->icmp6_code, ICMPV6_ADDR_UNREACH);
	KUNIT_EXPECT_EQ(test, (int)csum_ipv6_magic(&ip->saddr, &ip->daddr, n, IPPROTO_ICMPV6,
						   csum_partial(icmp, (int)n, 0)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(icmp + 1, sent, quote), 0);
	kfree_skb(skb);
}

static void test_answer6(struct kunit *test)
{
	struct torus_dev *d = lab_nic(test, 2, 0);

	packet6(IPPROTO_UDP);
	expect_answer6(test, d, 48, 48);
	expect_answer6(test, d, 100, 100);
	expect_answer6(test, d, 1232, 1232);
	expect_answer6(test, d, 1233, 1232);
	expect_answer6(test, d, LEN_MAX, 1232);
	packet6(IPPROTO_ICMPV6);
	sent[40] = ICMPV6_ECHO_REQUEST;
	expect_answer6(test, d, 100, 100);
}

static void test_silent6(struct kunit *test)
{
	struct torus_dev *d = lab_nic(test, 2, 0);

	packet6(IPPROTO_UDP);
	KUNIT_EXPECT_FALSE(test, answered(d, 1));
	KUNIT_EXPECT_FALSE(test, answered(d, 40));
	KUNIT_EXPECT_FALSE(test, answered(d, 47));
	packet6(IPPROTO_ICMPV6);
	/* Types below 128 are errors. */
	sent[40] = ICMPV6_ECHO_REQUEST - 1;
	KUNIT_EXPECT_FALSE(test, answered(d, 100));
	sent[40] = ICMPV6_DEST_UNREACH;
	KUNIT_EXPECT_FALSE(test, answered(d, 100));
}

/* @n answers are asked for. Return: how many there are. */
static unsigned int burst(struct torus_dev *d, unsigned int n)
{
	unsigned int said;

	while (n--)
		torus_icmp_unreachable(d, sent, 100);
	said = skb_queue_len(&d->up);
	__skb_queue_purge(&d->up);
	return said;
}

/* 50 at once and 200 a second, whatever the host sends. */
static void test_rate(struct kunit *test)
{
	const u64 each = 5 * NSEC_PER_MSEC;
	struct torus_dev *d = lab_nic(test, 2, 0);
	unsigned int first, more;
	u64 began, took;

	packet4(IPPROTO_UDP);
	torus_dev_lock(d);
	began = torus_now();
	first = burst(d, 200);
	took = torus_now() - began;
	more = burst(d, 200);
	torus_dev_unlock_read(d);
	KUNIT_EXPECT_GE(test, first, 50u);
	KUNIT_EXPECT_LE(test, first, (unsigned int)(51 + took / each));
	took = torus_now() - began;
	KUNIT_EXPECT_LE(test, first + more, (unsigned int)(51 + took / each));
	usleep_range(40000, 50000);
	torus_dev_lock(d);
	more = burst(d, 200);
	took = torus_now() - began;
	torus_dev_unlock_read(d);
	/* In 40 ms there is time for eight. */
	KUNIT_EXPECT_GE(test, more, 7u);
	KUNIT_EXPECT_LE(test, more, (unsigned int)(1 + took / each));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(test_answer4),
	KUNIT_CASE(test_silent4),
	KUNIT_CASE(test_answer6),
	KUNIT_CASE(test_silent6),
	KUNIT_CASE(test_rate),
	{}
};

struct kunit_suite torus_icmp_suite = { .name = "torus-icmp", .test_cases = cases };
