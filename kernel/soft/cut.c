// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cuts messages of the host into as few packets as possible, because an additional packet costs
 * each node on its way more than a copy costs here. A small message becomes a packet in its own
 * memory. Packets of a large one refer to its pages (frame.c) where this does not increase their
 * number.
 */
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/virtio_net.h>

#include "nic.h"

#define HDR	TORUS_HOST_HDR
#define TOGETHER 128u	/* least number of bytes of a message in its first packet */

/* Copies bytes @at to @at + @bytes of the message, header first, into a packet; NULL: no memory. */
static struct tn_pkt *make_packet(const struct sk_buff *skb, const struct virtio_net_hdr *hdr,
				  unsigned int at, unsigned int bytes)
{
	struct tn_pkt *pkt = torus_pkt_alloc(DIV_ROUND_UP(bytes, TN_FLIT));
	u8 *to;
	int err;

	if (!pkt)
		return NULL;
	to = pkt->payload;
	if (at) {
		err = skb_copy_bits(skb, (int)(at - HDR), to, (int)bytes);
	} else {
		memcpy(to, hdr, HDR);
		err = skb_copy_bits(skb, 0, to + HDR, (int)(bytes - HDR));
	}
	if (err) {
		torus_pkt_free(pkt);
		return NULL;
	}
	return pkt;
}

/*
 * Makes a packet of the memory of a message, if the message fits one packet, lies in one piece that
 * nothing else refers to, and has room around it (torus_setup() asks for that). Otherwise, or if
 * there is no memory for the descriptor, it returns NULL.
 */
static struct tn_pkt *take_over(struct sk_buff *skb, const struct virtio_net_hdr *hdr,
				unsigned int max)
{
	unsigned int bytes = HDR + skb->len, pad = -bytes % TN_FLIT;
	struct tn_pkt *pkt;

	if (bytes > max || skb_is_nonlinear(skb) || skb_cloned(skb) ||
	    skb_headroom(skb) < HDR || (unsigned int)skb_tailroom(skb) < pad)
		return NULL;
	pkt = torus_pkt_of(skb, skb->data - HDR);
	if (!pkt)
		return NULL;
	/*
	 * The packet may wait here for a long time, during which it must not hold a socket or
	 * route.
	 */
	skb_orphan(skb);
	skb_dst_drop(skb);
	skb_ext_reset(skb);
	memcpy(skb->data - HDR, hdr, HDR);
	return pkt;
}

/**
 * struct place - position in a message that is cut; positions and lengths in bytes, with @hdr
 * @skb: the message
 * @hdr: sent before it
 * @max: most bytes of a packet
 * @len: bytes of the message
 * @at: where the next packet begins
 * @bytes: bytes of the next packet
 * @frag: index of the page that has @at, or of an earlier one
 * @start: where page @frag begins; 0: packets do not refer to the pages
 */
struct place {
	const struct sk_buff *skb;
	const struct virtio_net_hdr *hdr;
	unsigned int max;
	unsigned int len;
	unsigned int at;
	unsigned int bytes;
	unsigned int frag;
	unsigned int start;
};

/*
 * Return: true if nothing, not even their owner, writes to the pages of @skb while packets refer to
 * them: such a change would make the ECRC of a retransmission wrong.
 */
static bool may_refer(struct sk_buff *skb)
{
	return skb_is_nonlinear(skb) && !skb_has_frag_list(skb) && !skb_has_shared_frag(skb) &&
	       !skb_zcopy(skb) && !skb->pp_recycle;
}

/* Return: the least payload of the next packet with which the number of packets stays the same. */
static unsigned int least_len(const struct place *p)
{
	return (p->len - p->at - 1) % p->max + 1;
}

/*
 * Return: how many of the next bytes lie in one page that a packet can refer to, and in @from their
 * address; 0 if there is none.
 */
static unsigned int find_run(struct place *p, const u8 **from)
{
	const struct skb_shared_info *s = skb_shinfo(p->skb);
	const skb_frag_t *frag;

	while (p->frag < s->nr_frags && p->at >= p->start + skb_frag_size(&s->frags[p->frag]))
		p->start += skb_frag_size(&s->frags[p->frag++]);
	if (p->at < p->start || p->frag == s->nr_frags)
		return 0;
	frag = &s->frags[p->frag];
	if (PageHighMem(skb_frag_page(frag)))
		return 0;
	*from = (u8 *)skb_frag_address(frag) + (p->at - p->start);
	return sendpage_ok(virt_to_head_page(*from)) ? p->start + skb_frag_size(frag) - p->at : 0;
}

/*
 * Makes the next packet without a copy, so that it refers to the memory of the message. The whole
 * of its last flit must lie in the same piece of memory. Returns NULL if the packet must be copied.
 */
static struct tn_pkt *refer_packet(struct place *p)
{
	const u8 *from;

	if (!p->start)
		return NULL;
	p->bytes = round_down(min(find_run(p, &from), p->max), TN_FLIT);
	if (p->bytes < least_len(p) || p->bytes < TN_FRAME_LARGE)
		return NULL;
	return torus_pkt_at(from);
}

/* Copies the next packet, if possible so much that the rest of the page consists of whole flits. */
static struct tn_pkt *copy_packet(struct place *p)
{
	unsigned int linear = HDR + skb_headlen(p->skb), bytes = least_len(p);

	if (!p->start) {
		bytes = p->len - p->at;
	} else {
		if (p->at < linear)
			bytes = max(bytes, linear - p->at);
		if (!p->at)		/* this message becomes at least two packets anyway */
			bytes = max(bytes, TOGETHER);
		bytes += (p->len - p->at - bytes) % TN_FLIT;
	}
	p->bytes = min(bytes, p->max);
	return make_packet(p->skb, p->hdr, p->at, p->bytes);
}

bool torus_cut(struct tn_queue *q, struct sk_buff *skb, unsigned int max)
{
	struct virtio_net_hdr hdr;
	struct place p = { .skb = skb, .hdr = &hdr, .max = max, .len = HDR + skb->len };
	struct tn_pkt *pkt;

	if (p.len > TORUS_HOST_MSG_MAX || virtio_net_hdr_from_skb(skb, &hdr, true, false, 0))
		return false;
	pkt = take_over(skb, &hdr, max);
	if (pkt) {
		torus_host_packet(q, pkt, 0, p.len, p.len);
		return true;
	}
	if (p.len > max && may_refer(skb))
		p.start = HDR + skb_headlen(skb);
	while (p.at < p.len) {
		pkt = refer_packet(&p) ?: copy_packet(&p);
		if (!pkt)
			return false;
		torus_host_packet(q, pkt, p.at, p.bytes, p.len);
		p.at += p.bytes;
	}
	return true;
}
