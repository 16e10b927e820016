// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the host. One is a virtio_net_hdr, little endian, and an IP packet,
 * so that segmentation and checksums may be left to whoever needs them done; it
 * crosses the fabric cut into packets, FIRST to LAST of one flow.
 *
 * A host that has to wait (held, parked full, no credits) waits: its queue is
 * stopped. But not for ever: messages hold their sockets, those their network
 * namespace, and that one this NIC. After STALL_TIME without room what waits is
 * dropped and counted, until there is room again.
 *
 * A long message is delivered in the pages that its packets came in, without a copy; a
 * short one, and what lies in the parking segment or in memory of another kind, is copied.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <linux/virtio_net.h>
#include <net/dsfield.h>
#include <net/ip_tunnels.h>

#include "torus.h"

#define HDR		TORUS_HOST_HDR
#define XMIT_BATCH	64	/* messages, and */
#define XMIT_BYTES	262144	/* bytes before the core moves what it has */
#define STALL_TIME	(10 * NSEC_PER_SEC)
#define LINEAR_MAX	(SKB_WITH_OVERHEAD(8192) - NET_SKB_PAD)
#define LINEAR_HEAD	256	/* bytes of a larger one that are not in pages */
#define KEEP_MIN	512	/* bytes of one that is not worth a copy */

#define DSCP_CS1	8	/* lower effort: may arrive in any order */
#define DSCP_CS4	32	/* replies */

static void *op_alloc(void *shell, size_t bytes)
{
	return kzalloc(bytes, GFP_ATOMIC | __GFP_NOWARN);
}

static void op_free(void *shell, void *mem)
{
	kfree(mem);
}

static void op_pkt_put(void *shell, struct tn_pkt *pkt)
{
	torus_pkt_free(pkt);
}

static const struct torus_host_ops host_ops = {
	.alloc = op_alloc,
	.free = op_free,
	.pkt_put = op_pkt_put,
};

void torus_msg_init(struct torus_dev *d)
{
	BUILD_BUG_ON(HDR != sizeof(struct virtio_net_hdr));
	d->host.ops = &host_ops;
	d->host.shell = d;
	d->host.nic = d->nic;
}

static void count(struct torus_dev *d, enum torus_node_counter which, u64 n)
{
	tn_nic_counters(d->nic)[which] += n;
}

/* --- from the host ----------------------------------------------------------------- */

static u8 vc_of(u8 dsfield)
{
	switch (dsfield >> 2) {
	case DSCP_CS4:
		return TORUS_VC_D1;
	case DSCP_CS1:
		return TORUS_VC_A;
	default:
		return TORUS_VC_D0;
	}
}

/* Where a message goes: a node and a VC; TORUS_NO_NODE if not into the fabric. */
static u32 classify(const struct torus_dev *d, const struct sk_buff *skb, u8 *vc)
{
	union {
		struct iphdr v4;
		struct ipv6hdr v6;
	} buf;
	const struct iphdr *v4 = skb_header_pointer(skb, 0, sizeof(*v4), &buf);
	const struct ipv6hdr *v6;

	if (!d->placed || !v4)
		return TORUS_NO_NODE;
	if (v4->version == 4) {
		*vc = vc_of(ipv4_get_dsfield(v4));
		return tn_node_of_addr4(&d->shape, ntohl(v4->daddr));
	}
	v6 = skb_header_pointer(skb, 0, sizeof(*v6), &buf);
	if (!v6 || v6->version != 6)
		return TORUS_NO_NODE;
	*vc = vc_of(ipv6_get_dsfield(v6));
	return tn_node_of_addr6(&d->shape, v6->daddr.s6_addr);
}

static void drop(struct torus_dev *d, struct tn_queue *q)
{
	struct tn_pkt *pkt;

	while ((pkt = tn_queue_pop(q)))
		torus_pkt_free(pkt);
	count(d, TORUS_NC_HOST_DROPS, 1);
}

static void say_unreachable(struct torus_dev *d, const struct tn_pkt *pkt)
{
	u32 bytes = tn_pkt_bytes(pkt);

	if (pkt->tail.flags & TN_TAIL_FIRST && bytes > HDR)
		torus_icmp_unreachable(d, pkt->payload + HDR, bytes - HDR);
}

/* What the NIC takes is the NIC's; the rest waits, or is dropped for good. */
static void send_out(struct torus_dev *d, u64 now)
{
	struct tn_queue *q = &d->msgs.out;

	while (q->head) {
		struct tn_pkt *pkt = q->head;
		struct tn_pkt *next = pkt->next;
		int err = tn_nic_send(d->nic, pkt, d->msgs.out_dst, d->msgs.out_vc, now);

		if (err == -EAGAIN)
			return;
		if (err) {
			if (err == -EHOSTUNREACH)
				say_unreachable(d, pkt);
			drop(d, q);
			return;
		}
		q->head = next;
		if (!next)
			q->tail = NULL;
		q->count--;
	}
}

static unsigned int payload_max(const struct torus_dev *d)
{
	return round_down(d->params.payload_max, TN_FLIT);
}

static void xmit_one(struct torus_dev *d, struct sk_buff *skb, u64 now)
{
	u8 vc = TORUS_VC_D0;
	u32 dst;

	count(d, TORUS_NC_HOST_MESSAGES_TX, 1);
	count(d, TORUS_NC_HOST_BYTES_TX, skb->len);
	dst = classify(d, skb, &vc);
	if (dst == TORUS_NO_NODE) {
		count(d, TORUS_NC_HOST_DROPS, 1);
		kfree_skb(skb);
		return;
	}
	if (vc == TORUS_VC_A && HDR + skb->len > payload_max(d))
		vc = TORUS_VC_D0;
	d->msgs.out_dst = dst;
	d->msgs.out_vc = vc;
	if (torus_cut(&d->msgs.out, skb, payload_max(d))) {
		send_out(d, now);
		consume_skb(skb);
	} else {
		drop(d, &d->msgs.out);
		kfree_skb(skb);
	}
}

static bool room(const struct torus_dev *d)
{
	unsigned int vc;

	if (d->msgs.out.head)
		return false;
	for (vc = 0; d->placed && vc < TORUS_VCS; vc++) {
		if (!tn_nic_room(d->nic, vc))
			return false;
	}
	return true;
}

bool torus_msg_pending(const struct torus_dev *d)
{
	return !skb_queue_empty_lockless(&d->txq) && room(d);
}

u64 torus_msg_expiry(const struct torus_dev *d, u64 now)
{
	u64 at = d->msgs.full_since + STALL_TIME;

	return d->msgs.full_since && at > now ? at : ~0ull;
}

static void watch_stall(struct torus_dev *d, u64 now)
{
	struct sk_buff *skb;

	if (room(d)) {
		d->msgs.full_since = 0;
		return;
	}
	if (!d->msgs.full_since)
		d->msgs.full_since = now;
	if (now - d->msgs.full_since < STALL_TIME)
		return;
	while ((skb = skb_dequeue(&d->txq))) {
		count(d, TORUS_NC_HOST_DROPS, 1);
		kfree_skb(skb);
	}
}

void torus_msg_xmit(struct torus_dev *d, u64 now)
{
	unsigned int n = 0, bytes = 0;
	struct sk_buff *skb;

	if (skb_queue_empty_lockless(&d->txq) && !d->msgs.out.head && !d->msgs.full_since)
		return;
	if (d->msgs.out.head)
		send_out(d, now);
	watch_stall(d, now);
	while (n < XMIT_BATCH && bytes < XMIT_BYTES && room(d)) {
		skb = skb_dequeue(&d->txq);
		if (!skb)
			return;
		n++;
		bytes += skb->len;
		xmit_one(d, skb, now);
	}
}

/* --- from the fabric ---------------------------------------------------------------- */

/* Memory for a message; what is long lies in pages, its headers do not. */
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

/* A copy of the message of @first and what follows it, of @len bytes behind its header. */
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

/* @bytes at @data, in a page that may be kept. Return: false: @skb has too many. */
static bool keep(struct sk_buff *skb, struct page *page, const u8 *data, unsigned int bytes)
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
 * The message of packets that lie in pages which can be kept: all but its headers stays
 * where it lies. Others have these pages, too, RETRY buffers and whoever sent it: the
 * stack, which else deciphers in place, is told. NULL: they do not, or in too many.
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
			      !keep(skb, page, pkt->payload + skip, tn_pkt_bytes(pkt) - skip))) {
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

static u8 ip_proto(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return ip_hdr(skb)->protocol;
	return ipv6_hdr(skb)->nexthdr;
}

/*
 * Hosts in user space on newer kernels send UDP to be segmented, which this kernel's
 * virtio_net_hdr may not know; its stack can do it nevertheless.
 */
static int apply_header(struct sk_buff *skb, const struct virtio_net_hdr *hdr)
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
		return 0;	/* one datagram */
	skb_shinfo(skb)->gso_size = (u16)size;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_DODGY;	/* to be checked and counted */
	return 0;
}

/* The message of @first and what follows it, @bytes in all. */
static struct sk_buff *message(struct torus_dev *d, const struct tn_pkt *first, u32 bytes)
{
	struct virtio_net_hdr hdr;
	struct sk_buff *skb;

	memcpy(&hdr, first->payload, HDR);
	skb = bytes > KEEP_MIN ? message_keep(first) : NULL;
	if (!skb)
		skb = message_copy(first, bytes - HDR);
	if (!skb)
		return NULL;
	skb->dev = d->netdev;	/* the flow dissector asks for its namespace */
	skb_reset_network_header(skb);
	skb->protocol = ip_tunnel_parse_protocol(skb);
	if (!skb->protocol || apply_header(skb, &hdr)) {
		kfree_skb(skb);
		return NULL;
	}
	skb_reset_mac_header(skb);
	return skb;
}

static void deliver(struct torus_dev *d, const struct tn_pkt *first, u32 bytes)
{
	struct sk_buff *skb = message(d, first, bytes);

	if (!skb) {
		count(d, TORUS_NC_HOST_DROPS, 1);
		return;
	}
	count(d, TORUS_NC_HOST_MESSAGES_RX, 1);
	count(d, TORUS_NC_HOST_BYTES_RX, skb->len);
	__skb_queue_tail(&d->up, skb);
}

void torus_msg_deliver(struct torus_dev *d, struct tn_pkt *pkt)
{
	struct tn_queue msg;
	u32 bytes;

	if (pkt->hdr.type == TN_UNREACH) {
		say_unreachable(d, pkt);
		torus_pkt_free(pkt);
		return;
	}
	bytes = torus_host_take(&d->host, pkt, &msg);
	if (!bytes)
		return;
	deliver(d, msg.head, bytes);
	while ((pkt = tn_queue_pop(&msg)))
		torus_pkt_free(pkt);
}

void torus_msg_flush(struct torus_dev *d)
{
	if (d->msgs.out.head)
		drop(d, &d->msgs.out);
	torus_host_flush(&d->host);
}
