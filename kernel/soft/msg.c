// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts messages of the host (host/host.h) from and into skbs.
 *
 * The host has a queue for each VC. While the NIC has no room for a message (a hold, a full parking
 * segment, no credits), the message waits aside, in a lane of its destination (host/lane.c), in its
 * skb, for which its socket is charged. So the socket is throttled, and the queue goes on. The wait
 * is bounded, because a message holds a reference to its socket, the socket to its network
 * namespace, and the namespace to this NIC: if no message could leave a lane for STALL_TIME, the
 * messages of the lane are dropped and counted.
 *
 * A long message is delivered in the pages that its packets came in, without a copy. A short
 * message, and one of which a packet lies in the parking segment or in memory without a page to
 * refer to, is copied.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <linux/virtio_net.h>
#include <net/ip_tunnels.h>

#include "nic.h"

#define HDR		TORUS_HOST_HDR
#define XMIT_BATCH	64	/* most messages that the core takes before it moves packets, */
#define XMIT_BYTES	262144	/* and most bytes */
#define STALL_TIME	(10 * NSEC_PER_SEC)
#define LINEAR_MAX	(SKB_WITH_OVERHEAD(8192) - NET_SKB_PAD)
#define LINEAR_HEAD	256	/* linear bytes of a message that is longer than LINEAR_MAX */
#define KEEP_MIN	512	/* longest message that is always copied, bytes */
#define UDP_SEGMENTS_MAX 128	/* most datagrams that a message may be cut into, */
#define TCP_SEGMENTS_MAX 2048	/* and most TCP segments */

/*
 * This does not use icmp_send(), because that needs the route of the packet that it answers, and a
 * packet that comes back from the fabric has none.
 */
void torus_msg_lost(void *dev, const u8 *ip, u32 len)
{
	struct torus_soft *s = dev;
	u32 bytes = torus_host_answer(&s->soft.host, ip, len, torus_now(s));
	struct sk_buff *skb;

	lockdep_assert_held(&s->lock);
	if (!bytes)
		return;
	skb = alloc_skb(NET_SKB_PAD + bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return;
	skb_reserve(skb, NET_SKB_PAD);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	torus_host_answer_write(ip, bytes, skb_put(skb, bytes));
	skb->protocol = ip_tunnel_parse_protocol(skb);
	skb_set_transport_header(skb, skb->protocol == htons(ETH_P_IP) ?
				 (int)sizeof(struct iphdr) : (int)sizeof(struct ipv6hdr));
	skb->dev = s->dev.netdev;
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	__skb_queue_tail(&s->up, skb);
}

/* --- from the host ----------------------------------------------------------------- */

static struct torus_host_msg *msg_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct torus_host_msg) > sizeof(skb->cb));
	return (struct torus_host_msg *)skb->cb;
}

static struct sk_buff *skb_of(struct torus_host_msg *msg)
{
	return container_of((void *)msg, struct sk_buff, cb);
}

void torus_msg_forget(void *dev, struct torus_host_msg *msg)
{
	kfree_skb(skb_of(msg));
}

static void xmit_one(struct torus_soft *s, struct sk_buff *skb, u64 now)
{
	struct torus_host *h = &s->soft.host;
	struct torus_host_msg msg = *msg_of(skb);

	if (torus_cut(&h->out, skb, h->payload_max)) {
		torus_host_send(h, &msg, now);
		consume_skb(skb);
	} else {
		torus_host_drop(h, &h->out);
		kfree_skb(skb);
	}
}

/* Takes a message from a queue of the host: sends it, lets it wait, or drops it. */
static void take_one(struct torus_soft *s, struct sk_buff *skb, unsigned int from, u64 now)
{
	unsigned int n = min(skb->len, TORUS_HOST_IP);
	struct torus_host *h = &s->soft.host;
	struct torus_host_msg *msg = msg_of(skb);
	u8 buf[TORUS_HOST_IP];
	const u8 *ip = skb_header_pointer(skb, 0, (int)n, buf);

	*msg = (struct torus_host_msg) { .bytes = skb->truesize, .from = (u8)from };
	if (!torus_host_begin(h, msg, ip, ip ? n : 0, HDR + skb->len))
		kfree_skb(skb);
	else if (torus_host_clear(h, msg))
		xmit_one(s, skb, now);
	else
		torus_host_wait(h, msg, now);
}

/* Return: true if a queue of the host that is not stopped has a message. */
static bool is_any_open(struct torus_soft *s)
{
	unsigned int q;

	for (q = 0; q < TORUS_VCS; q++) {
		if (!skb_queue_empty_lockless(&s->txq[q]) && torus_host_open(&s->soft.host, q))
			return true;
	}
	return false;
}

bool torus_msg_pending(struct torus_soft *s)
{
	struct torus_host *h = &s->soft.host;

	lockdep_assert_held(&s->lock);
	return is_any_open(s) || (torus_host_waits(h) && torus_host_ready(h));
}

u64 torus_msg_expiry(struct torus_soft *s)
{
	u64 oldest;

	lockdep_assert_held(&s->lock);
	if (!torus_host_waits(&s->soft.host))
		return ~0ull;
	oldest = torus_host_oldest(&s->soft.host);
	return min(torus_host_expiry(&s->soft.host),
		   oldest == ~0ull ? oldest : oldest + STALL_TIME);
}

/*
 * Sends the next message that has waited and can be sent now. Return: its bytes; 0 if there is
 * none.
 */
static unsigned int xmit_waiting(struct torus_soft *s, u64 now)
{
	struct torus_host_msg *msg = torus_host_next(&s->soft.host, now);
	unsigned int len;

	if (!msg)
		return 0;
	len = skb_of(msg)->len;
	xmit_one(s, skb_of(msg), now);
	return len;
}

/* Sends the next message of queue @q. Return: its bytes; 0 if there is none. */
static unsigned int xmit_next(struct torus_soft *s, unsigned int q, u64 now)
{
	struct sk_buff *skb;
	unsigned int len;

	if (skb_queue_empty_lockless(&s->txq[q]) || !torus_host_open(&s->soft.host, q))
		return 0;
	skb = torus_tx_take(s, q);
	if (!skb)
		return 0;
	len = skb->len;
	take_one(s, skb, q, now);
	return len;
}

/*
 * Serves each queue, and the lanes with the messages that wait, in turn, one message at a time.
 * Sending makes no room in the NIC, so once no waiting message has room, the lanes are not searched
 * again.
 */
bool torus_msg_xmit(struct torus_soft *s, u64 now)
{
	struct torus_host *h = &s->soft.host;
	unsigned int n = 0, bytes = 0, waiting, before, q;

	lockdep_assert_held(&s->lock);
	torus_tx_look(s);
	waiting = torus_host_waits(h);
	if (waiting)
		torus_host_give_up(h, STALL_TIME, now);
	else if (!is_any_open(s))
		return false;
	do {
		before = bytes;
		waiting = waiting ? xmit_waiting(s, now) : 0;
		bytes += waiting;
		for (q = 0; q < TORUS_VCS; q++)
			bytes += xmit_next(s, q, now);
		n++;
	} while (bytes != before && (waiting || is_any_open(s)) && n < XMIT_BATCH &&
		 bytes < XMIT_BYTES);
	return true;
}

/* --- from the fabric ---------------------------------------------------------------- */

/* Allocates an skb for a message of @len bytes; of a long one, all but its headers is in pages. */
static struct sk_buff *message_alloc(u32 len)
{
	u32 head = len <= LINEAR_MAX ? len : LINEAR_HEAD;
	struct sk_buff *skb;
	int err;

	if (len <= LINEAR_MAX)
		skb = torus_mem_skb(NET_SKB_PAD + len, NULL, 0);
	else
		skb = alloc_skb_with_frags(NET_SKB_PAD + head, len - head,
					   PAGE_ALLOC_COSTLY_ORDER, &err,
					   GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD);
	skb_put(skb, head);
	skb->len += len - head;
	skb->data_len = len - head;
	return skb;
}

/* Copies the @len bytes after the virtio_net_hdr of the message that begins with @first. */
static struct sk_buff *message_copy(const struct tn_pkt *first, u32 len)
{
	struct sk_buff *skb = message_alloc(len);
	const struct tn_pkt *pkt;
	int at = 0;

	for (pkt = first; skb && pkt; pkt = pkt->next) {
		unsigned int skip = pkt == first ? HDR : 0;
		int n = (int)(tn_pkt_bytes(pkt) - skip);

		skb_store_bits(skb, at, pkt->payload + skip, n);
		at += n;
	}
	return skb;
}

/* Appends @bytes at @data, in @page, to @skb. Return: false if @skb has too many pages. */
static bool keep_page(struct sk_buff *skb, struct page *page, const u8 *data, unsigned int bytes)
{
	int n = skb_shinfo(skb)->nr_frags, at = (int)(data - (u8 *)page_address(page));

	if (skb_can_coalesce(skb, n, page, at)) {
		skb_coalesce_rx_frag(skb, n - 1, (int)bytes, bytes);
		return true;
	}
	if (n == MAX_SKB_FRAGS)
		return false;
	get_page(page);
	skb_add_rx_frag(skb, n, page, at, (int)bytes, bytes);
	return true;
}

/*
 * Makes an skb that refers to the pages of the packets, for all but the headers of the message.
 * RETRY buffers and the sender refer to these pages, too, so they are marked as shared: otherwise
 * the stack might decrypt data in place. Returns NULL if a packet has no page to refer to, or if
 * there are too many pages.
 */
static struct sk_buff *message_keep(const struct tn_pkt *first)
{
	unsigned int skip = HDR + min(tn_pkt_bytes(first) - HDR, (unsigned int)LINEAR_HEAD);
	struct sk_buff *skb = torus_mem_skb(NET_SKB_PAD + LINEAR_HEAD, NULL, 0);
	const struct tn_pkt *pkt;

	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD);
	skb_put_data(skb, first->payload + HDR, skip - HDR);
	for (pkt = first; pkt; pkt = pkt->next) {
		struct page *page = torus_pkt_page(pkt);

		if (!page || (tn_pkt_bytes(pkt) > skip &&
			      !keep_page(skb, page, pkt->payload + skip,
					 tn_pkt_bytes(pkt) - skip))) {
			kfree_skb(skb);
			return NULL;
		}
		skip = 0;
	}
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	return skb;
}

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4	/* before Linux 6.2 */
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

/*
 * Return: true if the message would be cut into more segments than any sender makes of a message.
 * The stack does not check that: with segments of one byte it would make 65,000 skbs of a message.
 * There are at most 128 datagrams (UDP_MAX_SEGMENTS of newer kernels); the shortest segments of TCP
 * are those of an MSS of 48 less the options (TCP_MIN_SND_MSS).
 */
static bool has_too_many_segments(const struct sk_buff *skb)
{
	const struct skb_shared_info *s = skb_shinfo(skb);
	unsigned int most = s->gso_type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6) ? TCP_SEGMENTS_MAX :
									    UDP_SEGMENTS_MAX;

	if (!skb_is_gso(skb))
		return false;
	return skb->len - (unsigned int)skb_transport_offset(skb) >
	       s->gso_size * most + sizeof(struct udphdr);
}

static u8 ip_proto(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return ip_hdr(skb)->protocol;
	return ipv6_hdr(skb)->nexthdr;
}

/*
 * Applies checksum and segmentation offloads to @skb. Hosts in user space on newer kernels leave
 * the segmentation of UDP to the receiver. The virtio_net_hdr of this kernel may not know that,
 * but its stack can do it. Return: 0 or -EINVAL.
 */
static int apply_offloads(struct sk_buff *skb, const struct virtio_net_hdr *hdr)
{
	struct virtio_net_hdr plain = *hdr;
	unsigned int size = le16_to_cpu((__force __le16)hdr->gso_size);

	if (hdr->gso_type != VIRTIO_NET_HDR_GSO_UDP_L4)
		return virtio_net_hdr_to_skb(skb, hdr, true);
	if (!(hdr->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || !size ||
	    le16_to_cpu((__force __le16)hdr->csum_offset) != offsetof(struct udphdr, check) ||
	    ip_proto(skb) != IPPROTO_UDP)
		return -EINVAL;
	plain.gso_type = VIRTIO_NET_HDR_GSO_NONE;
	plain.gso_size = 0;
	if (virtio_net_hdr_to_skb(skb, &plain, true))
		return -EINVAL;
	if (skb->len - skb_transport_offset(skb) - sizeof(struct udphdr) <= size)
		return 0;	/* the datagram is not segmented */
	skb_shinfo(skb)->gso_size = (u16)size;
	/* the stack checks the values */
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_DODGY;
	return 0;
}

/* Return: 0, or -EINVAL if @hdr does not fit the message, or cuts it into too many segments. */
static int apply_header(struct sk_buff *skb, const struct virtio_net_hdr *hdr)
{
	int err = apply_offloads(skb, hdr);

	return err || has_too_many_segments(skb) ? -EINVAL : 0;
}

/*
 * Makes an skb of the message of @bytes that begins with the packet @first. Return: NULL if it is
 * malformed, or no memory.
 */
static struct sk_buff *make_message(struct torus_soft *s, const struct tn_pkt *first, u32 bytes)
{
	struct virtio_net_hdr hdr;
	struct sk_buff *skb;

	BUILD_BUG_ON(sizeof(hdr) != HDR);
	memcpy(&hdr, first->payload, HDR);
	skb = bytes > KEEP_MIN ? message_keep(first) : NULL;
	if (!skb)
		skb = message_copy(first, bytes - HDR);
	if (!skb)
		return NULL;
	skb->dev = s->dev.netdev;	/* the flow dissector reads its namespace */
	skb_reset_network_header(skb);
	skb->protocol = ip_tunnel_parse_protocol(skb);
	if (!skb->protocol || apply_header(skb, &hdr)) {
		kfree_skb(skb);
		return NULL;
	}
	skb_reset_mac_header(skb);
	return skb;
}

static void deliver_message(struct torus_soft *s, const struct tn_pkt *first, u32 bytes)
{
	struct sk_buff *skb = make_message(s, first, bytes);
	u64 *counter = tn_nic_counters(s->soft.nic);

	if (!skb) {
		counter[TORUS_NC_HOST_RX_DROPS]++;
		return;
	}
	counter[TORUS_NC_HOST_MESSAGES_RX]++;
	counter[TORUS_NC_HOST_BYTES_RX] += skb->len;
	__skb_queue_tail(&s->up, skb);
}

void torus_msg_deliver(struct torus_soft *s, struct tn_pkt *pkt)
{
	struct tn_queue msg;
	u32 bytes = torus_host_take(&s->soft.host, pkt, &msg);

	lockdep_assert_held(&s->lock);
	if (!bytes)
		return;
	deliver_message(s, msg.head, bytes);
	while ((pkt = tn_queue_pop(&msg)))
		torus_pkt_free(pkt);
}
