// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the host cut into packets. A small one becomes a packet where it lies; of a
 * large one only the headers, and what does not fill a packet, are copied: its pages go
 * along (frame.c).
 */
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/virtio_net.h>

#include "torus.h"

#define HDR	TORUS_HOST_HDR

/* Bytes @at to @at + @bytes of the message as one packet. */
static struct tn_pkt *make_packet(const struct sk_buff *skb, const struct virtio_net_hdr *hdr,
				  unsigned int at, unsigned int bytes)
{
	unsigned int pad = -bytes % TN_FLIT, flits = (bytes + pad) / TN_FLIT;
	struct tn_pkt *pkt = torus_pkt_alloc(flits);
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
	memset(to + bytes, 0, pad);
	pkt->hdr.len = (u16)flits;
	pkt->tail.flags = (u8)pad;
	return pkt;
}

/*
 * The memory of a message that fits one packet, is in one piece and nobody else's, and has
 * room around it (torus_setup() asks for that), becomes the packet's. NULL: not so.
 */
static struct tn_pkt *take_over(struct sk_buff *skb, const struct virtio_net_hdr *hdr)
{
	unsigned int bytes = HDR + skb->len, pad = -bytes % TN_FLIT;
	struct tn_pkt *pkt;

	if (bytes > TN_PAYLOAD_MAX || skb_is_nonlinear(skb) || skb_cloned(skb) ||
	    skb_headroom(skb) < HDR || (unsigned int)skb_tailroom(skb) < pad)
		return NULL;
	pkt = torus_pkt_of(skb, skb->data - HDR);
	if (!pkt)
		return NULL;
	/* It may wait here for long, and hold nothing else meanwhile. */
	skb_orphan(skb);
	skb_dst_drop(skb);
	skb_ext_reset(skb);
	memcpy(skb->data - HDR, hdr, HDR);
	memset(skb_tail_pointer(skb), 0, pad);
	pkt->hdr.len = (u16)((bytes + pad) / TN_FLIT);
	pkt->tail.flags = (u8)(pad | TN_TAIL_FIRST | TN_TAIL_LAST);
	return pkt;
}

/** struct place - in a message whose pages go along */
struct place {
	const struct sk_buff *skb;
	unsigned int frag;
	unsigned int start;	/* of it, in the message */
};

/*
 * Nobody writes to the pages of @skb while packets have them, not even its owner: else
 * an ECRC that was right on one try would be wrong on the next.
 */
static bool may_refer(struct sk_buff *skb)
{
	return HDR + skb->len > TN_PAYLOAD_MAX && skb_is_nonlinear(skb) &&
	       !skb_has_frag_list(skb) && !skb_has_shared_frag(skb) && !skb_zcopy(skb) &&
	       !skb->pp_recycle;
}

/*
 * Bytes from @at on of a message of @len, where they lie. The last flit of a packet is
 * never one that only begins with these bytes. NULL: copy them.
 */
static struct tn_pkt *refer_packet(struct place *p, unsigned int at, unsigned int len)
{
	const struct skb_shared_info *s = skb_shinfo(p->skb);
	unsigned int bytes, rest = len - at;
	const skb_frag_t *frag;
	struct tn_pkt *pkt;
	const u8 *from;

	while (p->frag < s->nr_frags && at >= p->start + skb_frag_size(&s->frags[p->frag]))
		p->start += skb_frag_size(&s->frags[p->frag++]);
	if (at < p->start || p->frag == s->nr_frags)
		return NULL;
	frag = &s->frags[p->frag];
	bytes = min_t(unsigned int, p->start + skb_frag_size(frag) - at, TN_PAYLOAD_MAX);
	if (bytes < TN_PAYLOAD_MAX && (bytes < rest || bytes % TN_FLIT || bytes < TN_FRAME_LARGE))
		return NULL;
	if (PageHighMem(skb_frag_page(frag)))
		return NULL;
	from = (u8 *)skb_frag_address(frag) + (at - p->start);
	if (!sendpage_ok(virt_to_head_page(from)))
		return NULL;
	pkt = torus_pkt_at(from);
	if (pkt)
		pkt->hdr.len = (u16)(bytes / TN_FLIT);
	return pkt;
}

/*
 * Headers are a packet of their own, so that the pages may stay where they are; what these
 * have beyond full packets goes with them, lest it be one more packet at the end.
 */
static struct tn_pkt *copy_packet(struct place *p, const struct virtio_net_hdr *hdr,
				  unsigned int at, unsigned int len)
{
	unsigned int linear = HDR + skb_headlen(p->skb);

	if (p->start && at < linear) {
		unsigned int more = linear + (len - linear) % TN_PAYLOAD_MAX;

		len = at || more > TN_PAYLOAD_MAX ? linear : more;
	}
	return make_packet(p->skb, hdr, at, min_t(unsigned int, len - at, TN_PAYLOAD_MAX));
}

bool torus_cut(struct tn_queue *q, struct sk_buff *skb)
{
	unsigned int at, len = HDR + skb->len;
	struct place place = { .skb = skb };
	struct virtio_net_hdr hdr;
	struct tn_pkt *pkt;

	if (len > TORUS_HOST_MSG_MAX || virtio_net_hdr_from_skb(skb, &hdr, true, false, 0))
		return false;
	pkt = take_over(skb, &hdr);
	if (pkt) {
		tn_queue_push(q, pkt);
		return true;
	}
	if (may_refer(skb))
		place.start = HDR + skb_headlen(skb);
	for (at = 0; at < len; at += tn_pkt_bytes(pkt)) {
		pkt = place.start ? refer_packet(&place, at, len) : NULL;
		if (!pkt)
			pkt = copy_packet(&place, &hdr, at, len);
		if (!pkt)
			return false;
		if (!at)
			pkt->tail.flags |= TN_TAIL_FIRST;
		if (at + tn_pkt_bytes(pkt) == len)
			pkt->tail.flags |= TN_TAIL_LAST;
		tn_queue_push(q, pkt);
	}
	return true;
}
