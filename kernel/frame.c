// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames: packets in skbs. What is around a payload is written into a frame; a large
 * payload goes along where it lies, as a page of the skb, from NIC to NIC: so it is not
 * copied at any hop, and nobody may write to it. Small ones are copied, which costs less
 * than to count references.
 *
 * Frames that come from elsewhere, cut in other places, are copied, as are those in pages
 * that their sender may still write to: a packet whose payload changes in a RETRY buffer
 * would never again be what its ECRC says, and fail a link that is none of the sender's.
 */
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/vmalloc.h>

#include "core/pieces.h"
#include "torus.h"

/* A frame that is copied becomes frames of this size. */
#define PIECE_MAX	16384

/* --- building ------------------------------------------------------------------------ */

/**
 * struct plan - of a frame
 * @whole: all is to be copied
 * @linear: bytes that are copied before the first payload that is not
 * @rest: bytes that are copied behind it
 * @large: payloads that are not copied
 */
struct plan {
	bool whole;
	unsigned int linear;
	unsigned int rest;
	unsigned int large;
};

/* May @s be part of an skb where it lies? Not in the parking segment or kmalloc()'s memory. */
static bool may_stay(const struct tn_seg *s)
{
	return s->len >= TN_FRAME_LARGE && !is_vmalloc_addr(s->base) &&
	       sendpage_ok(virt_to_head_page(s->base));
}

static struct plan plan_of(const struct tn_frame *f, bool whole)
{
	struct plan p = { .whole = whole || !f->large };
	u32 i;

	if (p.whole) {
		p.linear = f->bytes;
		return p;
	}
	for (i = 0; i < f->nsegs; i++) {
		if (may_stay(&f->seg[i]))
			p.large++;
		else if (p.large)
			p.rest += f->seg[i].len;
		else
			p.linear += f->seg[i].len;
	}
	return p;
}

static void add_page(struct sk_buff *skb, const u8 *base, unsigned int len)
{
	struct page *page = virt_to_head_page(base);

	get_page(page);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page,
			(int)(base - (u8 *)page_address(page)), (int)len, len);
}

/* Payloads stay; what is between them is copied to @to, which is in a page as well. */
static void add_pieces(struct sk_buff *skb, const struct tn_frame *f, u32 i, u8 *to)
{
	u8 *from = to;

	for (; i < f->nsegs; i++) {
		const struct tn_seg *s = &f->seg[i];

		if (!may_stay(s)) {
			memcpy(to, s->base, s->len);
			to += s->len;
			continue;
		}
		if (to != from)
			add_page(skb, from, (unsigned int)(to - from));
		from = to;
		add_page(skb, s->base, s->len);
	}
	if (to != from)
		add_page(skb, from, (unsigned int)(to - from));
}

struct sk_buff *torus_frame_build(const struct tn_frame *f, unsigned int headroom, bool whole)
{
	struct plan p = plan_of(f, whole);
	struct sk_buff *skb;
	u8 *rest = NULL;
	u32 i;

	skb = torus_mem_skb(headroom + p.linear, p.large ? &rest : NULL, p.rest);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	for (i = 0; i < f->nsegs && skb->len < p.linear; i++)
		skb_put_data(skb, f->seg[i].base, f->seg[i].len);
	if (p.large)
		add_pieces(skb, f, i, rest);
	return skb;
}

/* --- reading ----------------------------------------------------------------------------- */

unsigned int torus_frame_pieces(struct sk_buff *skb, struct tn_seg *seg)
{
	const struct skb_shared_info *s = skb_shinfo(skb);
	unsigned int i, n = 0;

	if (skb_headlen(skb))
		seg[n++] = (struct tn_seg) { .base = skb->data, .len = skb_headlen(skb) };
	if (!skb_is_nonlinear(skb))
		return n;
	if (skb_has_frag_list(skb) || skb->pp_recycle)
		return 0;
	for (i = 0; i < s->nr_frags; i++) {
		const skb_frag_t *frag = &s->frags[i];

		if (PageHighMem(skb_frag_page(frag)) || !sendpage_ok(virt_to_head_page(skb_frag_address(frag))))
			return 0;
		seg[n++] = (struct tn_seg) { .base = skb_frag_address(frag), .len = skb_frag_size(frag) };
	}
	return n;
}

/* Bytes of the packet at @at; 0: it is none, and the core reads no further. */
static unsigned int packet_bytes(const struct sk_buff *skb, unsigned int at)
{
	unsigned int left = skb->len - at, n;
	u8 flit[TN_FLIT];
	struct tn_hdr h;

	if (left < TN_ACKNAK_BYTES || skb_copy_bits(skb, (int)at, flit, min_t(int, left, TN_FLIT)))
		return 0;
	if (tn_type_of(flit) == TN_ACKNAK)
		return TN_ACKNAK_BYTES;
	if (left < TN_FLIT)
		return 0;
	tn_hdr_get(flit, &h);
	n = tn_hdr_flits(&h) * TN_FLIT;
	return h.type == TN_PAD || h.len > TN_PAYLOAD_FLITS_MAX || n > left ? 0 : n;
}

/*
 * As many packets from @at on as one piece takes, and the beginning of what is none.
 * Return: bytes; @end: there is no more to read.
 */
static unsigned int run_bytes(const struct sk_buff *skb, unsigned int at, bool *end)
{
	unsigned int n = 0, next;

	while ((next = packet_bytes(skb, at + n)) && n + next <= PIECE_MAX)
		n += next;
	*end = !next;
	return next ? n : min(n + (unsigned int)TN_FLIT, skb->len - at);
}

/* A copy of the packets of @skb, as runs of them, each a frame by itself. */
static void take_apart(struct sk_buff *skb, struct sk_buff_head *out)
{
	unsigned int at, n;
	bool end = false;

	for (at = 0; !end && at < skb->len; at += n) {
		struct sk_buff *piece;

		n = run_bytes(skb, at, &end);
		piece = torus_mem_skb(n, NULL, 0);
		if (!piece)
			break;		/* as lost on the wire */
		skb_copy_bits(skb, (int)at, skb_put(piece, n), (int)n);
		memcpy(piece->cb, skb->cb, sizeof(skb->cb));
		__skb_queue_tail(out, piece);
	}
	consume_skb(skb);
}

/*
 * May its sender write to the pages of @skb: a file's, or, until the destructor says that
 * they are free again, a ring's? Those of sock_wfree() are the kernel's own.
 */
static bool is_lent(struct sk_buff *skb)
{
	return skb_has_shared_frag(skb) || skb_zcopy(skb) ||
	       (skb->destructor && skb->destructor != sock_wfree);
}

/* Can the core have @skb as it is? */
static bool is_usable(struct sk_buff *skb)
{
	struct tn_seg seg[TORUS_PIECES];
	unsigned int n;

	if (!skb_is_nonlinear(skb))
		return true;
	if (is_lent(skb))
		return false;
	n = torus_frame_pieces(skb, seg);
	return n && tn_pieces_fit(seg, n);
}

void torus_frame_take(struct sk_buff *skb, struct sk_buff_head *out)
{
	if (is_usable(skb)) {
		skb_orphan(skb);
		__skb_queue_tail(out, skb);
	} else {
		take_apart(skb, out);
	}
}
