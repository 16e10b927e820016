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
 * @linear: bytes that are copied before the first payload that stays
 * @rest: bytes that are copied behind it
 * @n: payloads that stay where they lie
 * @at: which of the frame's segments these are
 * @page: whose
 */
struct plan {
	unsigned int linear;
	unsigned int rest;
	unsigned int n;
	u16 at[TORUS_LARGE_MAX];
	struct page *page[TORUS_LARGE_MAX];
};

/* The page that @s may stay in: not in the parking segment, nor kmalloc()'s. NULL: none. */
static struct page *page_of(const struct tn_seg *s)
{
	struct page *page;

	if (is_vmalloc_addr(s->base))
		return NULL;
	page = virt_to_head_page(s->base);
	return sendpage_ok(page) ? page : NULL;
}

static void plan(struct plan *p, const struct tn_frame *f, bool whole)
{
	unsigned int bytes = 0;
	u32 i;

	p->n = 0;
	for (i = 0; !whole && i < f->nsegs && p->n < f->large; i++) {
		const struct tn_seg *s = &f->seg[i];
		struct page *page = s->len < TN_FRAME_LARGE ? NULL : page_of(s);

		if (!page) {
			bytes += s->len;
			continue;
		}
		if (!p->n) {
			p->linear = bytes;
			bytes = 0;
		}
		p->at[p->n] = (u16)i;
		p->page[p->n++] = page;
	}
	if (!p->n) {
		p->linear = f->bytes;
		p->rest = 0;
		return;
	}
	for (; i < f->nsegs; i++)
		bytes += f->seg[i].len;
	p->rest = bytes;
}

static u8 *copy(u8 *to, const struct tn_frame *f, u32 from, u32 up_to)
{
	for (; from < up_to; from++) {
		memcpy(to, f->seg[from].base, f->seg[from].len);
		to += f->seg[from].len;
	}
	return to;
}

/* @bytes at @base, in @page, which it keeps. */
static void add_page(struct sk_buff *skb, struct page *page, const u8 *base, u32 bytes)
{
	struct skb_shared_info *s = skb_shinfo(skb);

	get_page(page);
	__skb_fill_page_desc(skb, s->nr_frags++, page, (int)(base - (u8 *)page_address(page)),
			     (int)bytes);
}

/* Payloads stay; what is between them is copied to @to, which is in a page as well. */
static void add_pieces(struct sk_buff *skb, const struct tn_frame *f, const struct plan *p,
		       u8 *to)
{
	struct page *page = virt_to_head_page(to);
	unsigned int i, bytes = f->bytes - p->linear;

	for (i = 0; i < p->n; i++) {
		const struct tn_seg *s = &f->seg[p->at[i]];
		u32 next = i + 1 < p->n ? p->at[i + 1] : f->nsegs;
		u8 *from = to;

		add_page(skb, p->page[i], s->base, s->len);
		to = copy(from, f, p->at[i] + 1u, next);
		add_page(skb, page, from, (u32)(to - from));
	}
	skb->len += bytes;
	skb->data_len += bytes;
	skb->truesize += bytes;
}

struct sk_buff *torus_frame_build(const struct tn_frame *f, unsigned int headroom, bool whole)
{
	struct sk_buff *skb;
	struct plan p;
	u8 *rest = NULL;

	plan(&p, f, whole);
	skb = torus_mem_skb(headroom + p.linear, p.n ? &rest : NULL, p.rest);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	copy(skb_put(skb, p.linear), f, 0, p.n ? p.at[0] : f->nsegs);
	if (p.n)
		add_pieces(skb, f, &p, rest);
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
		struct page *page = skb_frag_page(frag);

		if (PageHighMem(page) || !sendpage_ok(page))
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
 * they are free again, a ring's? Lower devices that copy such frames, as veth does, need
 * not be all. Those of sock_wfree() are the kernel's own.
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
