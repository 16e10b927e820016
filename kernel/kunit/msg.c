// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the host as skbs: which of them are sent, how they arrive, and how long the host
 * waits for a NIC that is full. tests/unit/test_host_*.c test all else of messages, in user space.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/virtio_net.h>
#include <net/checksum.h>
#include <net/ip6_checksum.h>

#include "lab.h"

#define HDR	TORUS_HOST_HDR
#define SRC	1		/* node that sends the messages */

/* --- from the host ---------------------------------------------------------------- */

/*
 * Return: node 0 of a ring of 3 whose links are down, so that all packets that it sends are parked.
 */
static struct torus_soft *nic_of(struct kunit *test, u64 park_bytes)
{
	struct torus_soft *s = lab_nic(test, 2, park_bytes);

	lab_place(test, s, 3);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_BEGIN, 1), 0);
	KUNIT_ASSERT_EQ(test, lab_put(s, 1, 1, LAB_ROW | 1, 1), 0);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_COMMIT, 1), 0);
	return s;
}

static struct sk_buff *datagram(struct kunit *test, unsigned int len)
{
	struct sk_buff *skb = alloc_skb(len, GFP_KERNEL);
	struct iphdr *ip;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	ip = skb_put_zero(skb, len);
	ip->version = 4;
	ip->ihl = 5;
	ip->daddr = htonl(10u << 24 | SRC << 16);
	return skb;
}

/* Fills the parking segment, and with it the queue on the way there. The caller holds the lock. */
static void fill(struct torus_soft *s)
{
	while (tn_nic_room(s->soft.nic, SRC, 0)) {
		struct tn_pkt *pkt = torus_pkt_alloc(1);

		if (!pkt)
			return;
		memset(pkt->payload, 0, TN_FLIT);
		pkt->hdr.len = 1;
		pkt->tail = (struct tn_tail) { .flags = TN_TAIL_FIRST | TN_TAIL_LAST };
		if (tn_nic_send(s->soft.nic, pkt, SRC, 0, torus_now(s))) {
			torus_pkt_free(pkt);
			return;
		}
		tn_nic_work(s->soft.nic, torus_now(s));
	}
}

/* Puts @skb into queue @q, as the stack does. The caller holds the lock. */
static void queue(struct torus_soft *s, struct sk_buff *skb, unsigned int q)
{
	spin_lock(&s->tx.lock);
	__skb_queue_tail(&s->txq[q], skb);
	spin_unlock(&s->tx.lock);
}

#define GRACE	(5 * NSEC_PER_MSEC)
#define STALL	(GRACE + 10ull * NSEC_PER_SEC)

/* A message that waits in a lane is dropped and counted if it could not be sent for ten seconds. */
static void message_that_stalls_for_ten_seconds_is_dropped(struct kunit *test)
{
	/*
	 * Time after the first message came; then the messages in the queue and in lanes, and those
	 * dropped.
	 */
	static const struct { u64 at; u32 queued; u64 aside, drops; } looks[] = {
		{ 0, 1, 0, 0 }, { GRACE - 1, 1, 0, 0 }, { GRACE, 0, 2, 0 },
		{ STALL - 1, 0, 2, 0 }, { STALL, 0, 2, 2 },
		{ STALL + 1, 0, 2, 2 },		/* the third message has waited for less time */
	};
	struct torus_soft *s = nic_of(test, 5000);
	u64 *c = tn_nic_counters(s->soft.nic);
	struct sk_buff *skb[3];
	struct { u32 queued; u64 aside, drops; } saw[ARRAY_SIZE(looks)];
	u64 now, expiry;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(skb); i++)
		skb[i] = datagram(test, 100);
	torus_soft_lock(s);	/* so that NAPI does not run at another time meanwhile */
	fill(s);
	queue(s, skb[0], 0);
	queue(s, skb[1], 0);
	now = torus_now(s);
	for (i = 0; i < ARRAY_SIZE(looks); i++) {
		if (i == ARRAY_SIZE(looks) - 1)
			queue(s, skb[2], 0);
		torus_msg_xmit(s, now + looks[i].at);
		saw[i].queued = skb_queue_len(&s->txq[0]);
		saw[i].aside = c[TORUS_NC_HOST_WAITED];
		saw[i].drops = c[TORUS_NC_HOST_TX_DROPS];
		if (looks[i].at == GRACE)
			expiry = torus_msg_expiry(s);
	}
	/* from here on, the host side uses the time of the machine */
	torus_host_forget(&s->soft.host);
	torus_soft_unlock(s);
	KUNIT_EXPECT_EQ(test, expiry, now + STALL);
	for (i = 0; i < ARRAY_SIZE(looks); i++) {
		KUNIT_EXPECT_EQ(test, saw[i].queued, looks[i].queued);
		KUNIT_EXPECT_EQ(test, saw[i].aside, looks[i].aside);
		KUNIT_EXPECT_EQ(test, saw[i].drops, looks[i].drops);
	}
}

static struct sk_buff *to4(struct kunit *test, u32 addr, unsigned int len);

/* Each VC has its own queue, and one that is stopped does not stop the others. */
static void stopped_queue_does_not_stop_others(struct kunit *test)
{
	static const struct { u8 tos; u16 queue; } t[] = {
		{ 0, TORUS_VC_D0 }, { 32 << 2, TORUS_VC_D1 }, { 8 << 2, TORUS_VC_A },
	};
	struct torus_soft *s = nic_of(test, 5000);
	struct net_device *dev = s->dev.netdev;
	u64 *c = tn_nic_counters(s->soft.nic), injected;
	struct sk_buff *skb[ARRAY_SIZE(t)];
	unsigned int i;
	bool open;

	KUNIT_EXPECT_EQ(test, dev->real_num_tx_queues, (unsigned int)TORUS_VCS);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_BEGIN, 2), 0);
	/* packets to node 2 leave by the other port */
	KUNIT_ASSERT_EQ(test, lab_put(s, 2, 2, LAB_ROW | 2, 1), 0);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_COMMIT, 2), 0);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		skb[i] = to4(test, i ? 0x0a020000 : 0x0a010000, 100);
		((struct iphdr *)skb[i]->data)->tos = t[i].tos;
		KUNIT_EXPECT_EQ(test, dev->netdev_ops->ndo_select_queue(dev, skb[i], NULL),
				t[i].queue);
	}
	torus_soft_lock(s);
	fill(s);
	injected = c[TORUS_NC_INJECTED];
	for (i = 0; i < ARRAY_SIZE(t); i++)
		queue(s, skb[i], t[i].queue);
	torus_msg_xmit(s, torus_now(s));
	open = torus_host_open(&s->soft.host, TORUS_VC_D0);
	injected = c[TORUS_NC_INJECTED] - injected;
	torus_host_forget(&s->soft.host);
	torus_soft_unlock(s);
	KUNIT_EXPECT_FALSE(test, open);
	KUNIT_EXPECT_EQ(test, injected, 2ull);
}

/** struct went - result of sending a message of the host; numbers: increases of counters */
struct went {
	u64 injected, drops, messages, bytes;
	bool unreachable;	/* the host gets an ICMP error */
};

static struct went went(struct torus_soft *s, struct sk_buff *skb)
{
	u64 *c, before[TORUS_NC_COUNT];
	struct went w = { 0 };

	torus_soft_lock(s);
	c = tn_nic_counters(s->soft.nic);
	memcpy(before, c, sizeof(before));
	s->soft.host.answer_at = 0;
	queue(s, skb, 0);
	torus_msg_xmit(s, torus_now(s));
	tn_nic_work(s->soft.nic, torus_now(s));
	w.injected = c[TORUS_NC_INJECTED] - before[TORUS_NC_INJECTED];
	w.drops = c[TORUS_NC_HOST_TX_DROPS] - before[TORUS_NC_HOST_TX_DROPS];
	w.messages = c[TORUS_NC_HOST_MESSAGES_TX] - before[TORUS_NC_HOST_MESSAGES_TX];
	w.bytes = c[TORUS_NC_HOST_BYTES_TX] - before[TORUS_NC_HOST_BYTES_TX];
	w.unreachable = !skb_queue_empty(&s->up);
	__skb_queue_purge(&s->up);
	torus_soft_unlock_read(s);
	return w;
}

/* Sends @skb, which must be dropped: it counts as dropped once, and not as sent. */
static void expect_dropped(struct kunit *test, struct torus_soft *s, struct sk_buff *skb,
			   bool unreachable)
{
	struct went w = went(s, skb);

	KUNIT_EXPECT_EQ(test, w.injected, 0ull);
	KUNIT_EXPECT_EQ(test, w.drops, 1ull);
	KUNIT_EXPECT_EQ(test, w.messages, 0ull);
	KUNIT_EXPECT_EQ(test, w.bytes, 0ull);
	KUNIT_EXPECT_EQ(test, w.unreachable, unreachable);
}

static void expect_sent(struct kunit *test, struct torus_soft *s, struct sk_buff *skb)
{
	unsigned int len = skb->len;
	struct went w = went(s, skb);

	KUNIT_EXPECT_EQ(test, w.injected, 1ull);
	KUNIT_EXPECT_EQ(test, w.drops, 0ull);
	KUNIT_EXPECT_EQ(test, w.messages, 1ull);
	KUNIT_EXPECT_EQ(test, w.bytes, (u64)len);
	KUNIT_EXPECT_FALSE(test, w.unreachable);
}

static struct sk_buff *to4(struct kunit *test, u32 addr, unsigned int len)
{
	struct sk_buff *skb = datagram(test, max_t(unsigned int, len, sizeof(struct iphdr)));

	((struct iphdr *)skb->data)->saddr = htonl(0x0a000000);
	((struct iphdr *)skb->data)->daddr = htonl(addr);
	skb_trim(skb, len);
	return skb;
}

/* Return: a datagram to fd74:6f72:NODE::, an address in the fabric's prefix. */
static struct sk_buff *to6(struct kunit *test, u8 node, unsigned int len)
{
	struct sk_buff *skb = datagram(test, max_t(unsigned int, len, sizeof(struct ipv6hdr)));
	struct ipv6hdr *ip = memset(skb->data, 0, sizeof(*ip));

	ip->version = 6;
	ip->nexthdr = IPPROTO_UDP;
	ip->saddr.s6_addr16[0] = htons(0xfd74);
	ip->daddr.s6_addr16[0] = htons(0xfd74);
	ip->daddr.s6_addr16[1] = htons(0x6f72);
	ip->daddr.s6_addr[5] = node;
	skb_trim(skb, len);
	return skb;
}

/* Return: the same message, with all but the first @head bytes in a page. */
static struct sk_buff *in_page(struct kunit *test, struct sk_buff *skb, unsigned int head)
{
	unsigned int rest = skb->len - head;
	struct page *page = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	memcpy(page_address(page), skb->data + head, rest);
	skb_trim(skb, head);
	skb_add_rx_frag(skb, 0, page, 0, (int)rest, rest);
	return skb;
}

static void message_goes_to_node_of_its_address_or_is_dropped(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);

	/* A message is dropped while the NIC has no place. */
	expect_dropped(test, s, to4(test, 0x0a010000, 100), false);
	s = nic_of(test, 0);
	expect_sent(test, s, to4(test, 0x0a010000, 100));
	expect_sent(test, s, to4(test, 0x0a010000, 20));
	expect_sent(test, s, to6(test, 1, 100));
	expect_sent(test, s, to6(test, 1, 40));
	expect_sent(test, s, in_page(test, to4(test, 0x0a010000, 100), 10));
	expect_sent(test, s, in_page(test, to6(test, 1, 100), 39));
	/* Messages with truncated headers, and messages to addresses of no node, are dropped. */
	expect_dropped(test, s, to4(test, 0x0a010000, 19), false);
	expect_dropped(test, s, to4(test, 0x0a010000, 1), false);
	expect_dropped(test, s, to6(test, 1, 39), false);
	expect_dropped(test, s, to4(test, 0x0a030000, 100), false);
	expect_dropped(test, s, to6(test, 3, 100), false);
	/* The row to node 2 has no path, so the sender gets an ICMP error. */
	expect_dropped(test, s, to4(test, 0x0a020000, 100), true);
	expect_dropped(test, s, to6(test, 2, 100), true);
}

/* Messages that are in the queues when the netdev goes down count as dropped, each once. */
static void queued_messages_of_netdev_that_goes_down_are_dropped(struct kunit *test)
{
	struct torus_soft *s = nic_of(test, 0);
	struct sk_buff *skb[3];
	u64 c[TORUS_NC_COUNT];

	for (unsigned int i = 0; i < ARRAY_SIZE(skb); i++)
		skb[i] = to4(test, 0x0a010000, 100);
	torus_soft_lock(s);
	queue(s, skb[0], TORUS_VC_D0);
	queue(s, skb[1], TORUS_VC_D0);
	queue(s, skb[2], TORUS_VC_D1);
	torus_soft_unlock_read(s);
	s->dev.ops->stop(&s->dev);
	s->dev.ops->counters(&s->dev, c);
	KUNIT_EXPECT_EQ(test, c[TORUS_NC_HOST_DROPS], 3ull);
	KUNIT_EXPECT_EQ(test, c[TORUS_NC_HOST_TX_DROPS], 3ull);
	KUNIT_EXPECT_EQ(test, c[TORUS_NC_HOST_MESSAGES_TX], 0ull);
}

/* --- from the fabric -------------------------------------------------------------- */

#define FIRST TN_TAIL_FIRST
#define LAST TN_TAIL_LAST

#define UDP_LEN		100	/* length of a datagram with its header */
#define UDP_L4		5	/* the value of VIRTIO 1.2 */

/* Return: a packet of @flits, allocated with bottom halves off, as in the NIC. */
static struct tn_pkt *new_packet(unsigned int flits)
{
	struct tn_pkt *pkt;

	local_bh_disable();
	pkt = torus_pkt_alloc(flits);
	local_bh_enable();
	return pkt;
}

/* Return: a packet with @hdr and a datagram of @len, a UDP header included, of IPv@version. */
static struct tn_pkt *udp_packet(const struct virtio_net_hdr *hdr, u8 version, u8 len)
{
	unsigned int ip = version == 6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	unsigned int bytes = HDR + ip + len, flits = DIV_ROUND_UP(bytes, TN_FLIT);
	struct tn_pkt *pkt = new_packet(flits);
	u8 *data;

	if (!pkt)
		return NULL;
	memset(pkt->payload, 0, flits * TN_FLIT);
	memcpy(pkt->payload, hdr, HDR);
	data = pkt->payload + HDR;
	data[0] = (u8)(version << 4 | (version == 4 ? 5 : 0));
	if (version == 6) {
		data[5] = len;
		data[6] = IPPROTO_UDP;
		data[8] = 0xfd;
	} else {
		data[3] = (u8)(ip + len);
		data[9] = IPPROTO_UDP;
		data[12] = 10;
	}
	data[ip + 5] = len;
	pkt->hdr = (struct tn_hdr) { .src = SRC, .len = (u16)flits, .type = TN_DATA };
	pkt->tail = (struct tn_tail) { .flags = FIRST | LAST | (u8)(flits * TN_FLIT - bytes) };
	return pkt;
}

/*
 * Delivers @pkt. Return: the message that the host gets; NULL if it gets none, and then one drop is
 * counted.
 */
static struct sk_buff *given(struct kunit *test, struct torus_soft *s, struct tn_pkt *pkt)
{
	u64 drops = lab_counter(s, TORUS_NC_HOST_DROPS);
	struct sk_buff *skb;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	torus_soft_lock(s);
	torus_msg_deliver(s, pkt);
	skb = __skb_dequeue(&s->up);
	torus_soft_unlock_read(s);
	KUNIT_EXPECT_EQ(test, lab_counter(s, TORUS_NC_HOST_DROPS) - drops, skb ? 0ull : 1ull);
	return skb;
}

static void expect_given(struct kunit *test, struct virtio_net_hdr hdr, u8 version, u16 gso_size)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	unsigned int ip = version == 6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	struct sk_buff *skb = given(test, s, udp_packet(&hdr, version, UDP_LEN));

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, skb->len, ip + UDP_LEN);
	KUNIT_EXPECT_EQ(test, (u16)skb->protocol, htons(version == 6 ? ETH_P_IPV6 : ETH_P_IP));
	KUNIT_EXPECT_PTR_EQ(test, skb->dev, s->dev.netdev);
	KUNIT_EXPECT_EQ(test, skb_network_offset(skb), 0);
	KUNIT_EXPECT_EQ(test, skb_mac_offset(skb), 0);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_size, gso_size);
	KUNIT_EXPECT_EQ(test, !!(skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4), gso_size > 0);
	/* The segments have neither been checked nor counted yet. */
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->gso_segs, 0);
	if (gso_size)
		KUNIT_EXPECT_TRUE(test, skb_shinfo(skb)->gso_type & SKB_GSO_DODGY);
	if (hdr.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) {
		KUNIT_EXPECT_EQ(test, (int)skb->ip_summed, CHECKSUM_PARTIAL);
		KUNIT_EXPECT_EQ(test, skb_transport_offset(skb), (int)ip);
	}
	kfree_skb(skb);
}

static void expect_refused(struct kunit *test, struct virtio_net_hdr hdr, u8 version, u8 proto)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	struct tn_pkt *pkt = udp_packet(&hdr, version, UDP_LEN);
	struct sk_buff *skb;

	KUNIT_ASSERT_NOT_NULL(test, pkt);
	pkt->payload[HDR + (version == 6 ? 6 : 9)] = proto;
	skb = given(test, s, pkt);
	KUNIT_EXPECT_PTR_EQ(test, skb, (struct sk_buff *)NULL);
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, lab_counter(s, TORUS_NC_HOST_MESSAGES_RX), 0ull);
}

static struct virtio_net_hdr udp_how(u8 version, u16 size)
{
	return (struct virtio_net_hdr) {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .gso_type = UDP_L4,
		.gso_size = (__force __virtio16)cpu_to_le16(size),
		.csum_start = (__force __virtio16)cpu_to_le16(version == 6 ? 40 : 20),
		.csum_offset = (__force __virtio16)cpu_to_le16(6),
	};
}

/*
 * A NIC in user space may send datagrams that are not segmented yet: the host gets them with their
 * segment size.
 */
static void unsegmented_datagrams_reach_host_with_their_size(struct kunit *test)
{
	struct virtio_net_hdr hdr;
	u8 version;

	for (version = 4; version <= 6; version += 2) {
		expect_given(test, (struct virtio_net_hdr) { 0 }, version, 0);
		expect_given(test, udp_how(version, 50), version, 50);
		expect_given(test, udp_how(version, UDP_LEN - 9), version, UDP_LEN - 9);
		/* A single datagram is not segmented. */
		expect_given(test, udp_how(version, UDP_LEN - 8), version, 0);
		expect_given(test, udp_how(version, 1000), version, 0);
		expect_refused(test, udp_how(version, 0), version, IPPROTO_UDP);
		expect_refused(test, udp_how(version, 50), version, IPPROTO_TCP);
		hdr = udp_how(version, 50);
		hdr.flags = 0;
		expect_refused(test, hdr, version, IPPROTO_UDP);
		hdr = udp_how(version, 50);
		hdr.csum_offset = (__force __virtio16)cpu_to_le16(16);
		expect_refused(test, hdr, version, IPPROTO_UDP);
		hdr = udp_how(version, 50);
		hdr.csum_start = (__force __virtio16)cpu_to_le16(5000);
		expect_refused(test, hdr, version, IPPROTO_UDP);
	}
	/*
	 * A segmentation of unknown kind is refused, and so is the segmentation of a message that
	 * is not IP.
	 */
	hdr = udp_how(4, 50);
	hdr.gso_type = 0x42;
	expect_refused(test, hdr, 4, IPPROTO_UDP);
	expect_refused(test, (struct virtio_net_hdr) { 0 }, 5, IPPROTO_UDP);
}

/*
 * Return: the number of segments that the host may make of a message; 0 if the host does not get
 * the message.
 */
static unsigned int segments(struct kunit *test, u8 gso_type, u16 size, u8 version, u8 payload)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	struct virtio_net_hdr hdr = udp_how(version, size);
	struct sk_buff *skb;
	unsigned int n = 0;

	hdr.gso_type = gso_type;
	skb = given(test, s, udp_packet(&hdr, version, (u8)(8 + payload)));
	if (skb)
		n = DIV_ROUND_UP(payload, skb_shinfo(skb)->gso_size);
	kfree_skb(skb);
	return n;
}

/*
 * The stack does not make thousands of datagrams of one message, even if its header asks for them.
 */
static void message_of_too_many_datagrams_is_dropped(struct kunit *test)
{
	u8 version;

	for (version = 4; version <= 6; version += 2) {
		KUNIT_EXPECT_EQ(test, segments(test, UDP_L4, 1, version, 128), 128u);
		KUNIT_EXPECT_EQ(test, segments(test, UDP_L4, 1, version, 129), 0u);
		KUNIT_EXPECT_EQ(test, segments(test, UDP_L4, 2, version, 129), 65u);
	}
	KUNIT_EXPECT_EQ(test, segments(test, VIRTIO_NET_HDR_GSO_UDP, 1, 4, 128), 128u);
	KUNIT_EXPECT_EQ(test, segments(test, VIRTIO_NET_HDR_GSO_UDP, 1, 4, 129), 0u);
}

/*
 * Checks @skb, the ICMP error for a packet that came back. Its source is the destination of the
 * packet: the stack would drop an error that comes from the host itself.
 */
static void expect_unreachable(struct kunit *test, struct sk_buff *skb, u8 version)
{
	unsigned int ip = version == 6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	unsigned int icmp = sizeof(struct icmphdr) + ip + UDP_LEN;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_EQ(test, skb->len, ip + icmp);
	KUNIT_EXPECT_EQ(test, (u16)skb->protocol, htons(version == 6 ? ETH_P_IPV6 : ETH_P_IP));
	KUNIT_EXPECT_EQ(test, (int)skb->ip_summed, CHECKSUM_UNNECESSARY);
	KUNIT_EXPECT_EQ(test, skb_mac_offset(skb), 0);
	KUNIT_EXPECT_EQ(test, skb_network_offset(skb), 0);
	KUNIT_EXPECT_EQ(test, skb_transport_offset(skb), (int)ip);
	KUNIT_EXPECT_EQ(test, skb->data[0] >> 4, (int)version);
	if (version == 6) {
		KUNIT_EXPECT_EQ(test, (int)icmp6_hdr(skb)->icmp6_type, ICMPV6_DEST_UNREACH);
		KUNIT_EXPECT_EQ(test, (int)icmp6_hdr(skb)->icmp6_code, ICMPV6_ADDR_UNREACH);
		KUNIT_EXPECT_EQ(test, (int)csum_ipv6_magic(&ipv6_hdr(skb)->saddr,
				&ipv6_hdr(skb)->daddr, icmp, IPPROTO_ICMPV6,
				csum_partial(icmp6_hdr(skb), (int)icmp, 0)), 0);
	} else {
		KUNIT_EXPECT_EQ(test, (int)icmp_hdr(skb)->type, ICMP_DEST_UNREACH);
		KUNIT_EXPECT_EQ(test, (int)icmp_hdr(skb)->code, ICMP_HOST_UNREACH);
		KUNIT_EXPECT_EQ(test, (int)ip_fast_csum(ip_hdr(skb), 5), 0);
		KUNIT_EXPECT_EQ(test, (int)ip_compute_csum(icmp_hdr(skb), (int)icmp), 0);
	}
}

static void returned_message_gives_icmp_to_host(struct kunit *test)
{
	const struct virtio_net_hdr hdr = { 0 };
	struct torus_soft *s = lab_nic(test, 2, 0);
	struct tn_pkt *pkt;
	struct sk_buff *skb;
	u8 version;

	for (version = 4; version <= 6; version += 2) {
		pkt = udp_packet(&hdr, version, UDP_LEN);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		pkt->hdr.type = TN_UNREACH;
		torus_soft_lock(s);
		torus_msg_deliver(s, pkt);
		skb = __skb_dequeue(&s->up);
		torus_soft_unlock_read(s);
		expect_unreachable(test, skb, version);
		KUNIT_EXPECT_PTR_EQ(test, skb->dev, s->dev.netdev);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, lab_counter(s, TORUS_NC_HOST_DROPS), 0ull);
}

/* A packet that does not contain a whole IP header is not delivered. */
static void packet_without_whole_ip_header_is_no_message(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	struct tn_pkt *pkt;
	unsigned int bytes;

	for (bytes = 1; bytes <= TN_FLIT; bytes++) {
		pkt = new_packet(1);
		KUNIT_ASSERT_NOT_NULL(test, pkt);
		memset(pkt->payload, 0, TN_FLIT);
		pkt->payload[HDR] = 0x45;
		pkt->hdr = (struct tn_hdr) { .src = SRC, .len = 1, .type = TN_DATA };
		pkt->tail = (struct tn_tail) { .flags = FIRST | LAST | (u8)(TN_FLIT - bytes) };
		kfree_skb(given(test, s, pkt));
	}
	KUNIT_EXPECT_EQ(test, lab_counter(s, TORUS_NC_HOST_MESSAGES_RX), 0ull);
	KUNIT_EXPECT_EQ(test, lab_counter(s, TORUS_NC_HOST_DROPS), (u64)TN_FLIT);
}

/* Delivers a message of @bytes, in packets of 4 KiB. Return: true if the host gets it. */
static bool gets_long(struct kunit *test, struct torus_soft *s, unsigned int bytes,
		      struct virtio_net_hdr hdr)
{
	u64 before = lab_counter(s, TORUS_NC_HOST_MESSAGES_RX);
	unsigned int at, len;

	torus_soft_lock(s);
	for (at = 0; at < bytes; at += len) {
		unsigned int flits;
		struct tn_pkt *pkt;

		len = min(bytes - at, 4096u);
		flits = DIV_ROUND_UP(len, TN_FLIT);
		pkt = torus_pkt_alloc(flits);
		if (!pkt)
			break;
		memset(pkt->payload, 0, flits * TN_FLIT);
		if (!at) {
			memcpy(pkt->payload, &hdr, HDR);
			pkt->payload[HDR] = 0x45;
			pkt->payload[HDR + 9] = IPPROTO_TCP;
		}
		pkt->hdr = (struct tn_hdr) { .src = SRC, .len = (u16)flits, .type = TN_DATA };
		pkt->tail = (struct tn_tail) {
			.eseq = at / 4096,
			.flags = (u8)((flits * TN_FLIT - len) | (at ? 0 : FIRST) |
				      (at + len < bytes ? 0 : LAST)),
		};
		torus_msg_deliver(s, pkt);
	}
	torus_soft_unlock(s);
	KUNIT_EXPECT_GE(test, at, bytes);
	return lab_counter(s, TORUS_NC_HOST_MESSAGES_RX) > before;
}

/* A message that is longer than IP allows is dropped. */
static void too_long_message_is_dropped(struct kunit *test)
{
	const struct virtio_net_hdr plain = { 0 };
	struct torus_soft *s = lab_nic(test, 2, 0);

	KUNIT_EXPECT_TRUE(test, gets_long(test, s, TORUS_HOST_MSG_MAX, plain));
	KUNIT_EXPECT_EQ(test, lab_counter(s, TORUS_NC_HOST_DROPS), 0ull);
	KUNIT_EXPECT_FALSE(test, gets_long(test, s, TORUS_HOST_MSG_MAX + 1, plain));
	KUNIT_EXPECT_EQ(test, lab_counter(s, TORUS_NC_HOST_DROPS), 1ull);
}

/* TCP segments may be short, but a message must not have thousands of them. */
static void message_of_too_many_tcp_segments_is_dropped(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	struct virtio_net_hdr hdr = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
		.gso_size = (__force __virtio16)cpu_to_le16(36),
		.csum_start = (__force __virtio16)cpu_to_le16(20),
		.csum_offset = (__force __virtio16)cpu_to_le16(16),
	};

	KUNIT_EXPECT_TRUE(test, gets_long(test, s, TORUS_HOST_MSG_MAX, hdr));
	hdr.gso_size = (__force __virtio16)cpu_to_le16(8);
	KUNIT_EXPECT_FALSE(test, gets_long(test, s, TORUS_HOST_MSG_MAX, hdr));
	KUNIT_EXPECT_TRUE(test, gets_long(test, s, 16000, hdr));
	KUNIT_EXPECT_EQ(test, lab_counter(s, TORUS_NC_HOST_DROPS), 1ull);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(message_goes_to_node_of_its_address_or_is_dropped),
	KUNIT_CASE(queued_messages_of_netdev_that_goes_down_are_dropped),
	KUNIT_CASE(unsegmented_datagrams_reach_host_with_their_size),
	KUNIT_CASE(message_of_too_many_datagrams_is_dropped),
	KUNIT_CASE(returned_message_gives_icmp_to_host),
	KUNIT_CASE(packet_without_whole_ip_header_is_no_message),
	KUNIT_CASE(too_long_message_is_dropped),
	KUNIT_CASE(message_of_too_many_tcp_segments_is_dropped),
	KUNIT_CASE(message_that_stalls_for_ten_seconds_is_dropped),
	KUNIT_CASE(stopped_queue_does_not_stop_others),
	{}
};

struct kunit_suite torus_msg_suite = { .name = "torus-msg", .test_cases = cases };
