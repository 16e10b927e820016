// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames: packets in skbs. Headers and tails are written into the linear part of a frame. A large
 * payload becomes a page of the skb, from NIC to NIC: it is not copied at any hop, and nothing may
 * write to it. Small payloads are copied, which costs less than to count references. A large
 * payload is copied into a page of its own if it cannot be referred to (it lies in the parking
 * segment or in kmalloc()'s memory) or is to be damaged. So no frame, however long, needs more than
 * short runs of pages.
 *
 * Received frames are copied if another sender has divided them into pieces differently, or if
 * their sender may still write to their pages: a payload that changed in a RETRY buffer would not
 * match its ECRC any more, and would fail a link that is not the sender's. They are also copied if
 * they have more than LITTLE bytes of memory and less than a quarter of it is packets: a packet in
 * an input buffer keeps the memory of its frame, and a sender could fill all buffers of a port, 768
 * by default, with packets of two flits that keep 64 KiB each.
 */
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/vmalloc.h>

#include "core/pieces.h"
#include <net/sock.h>

#include "nic.h"

/* Most bytes of each frame that a large frame is copied into. */
#define PIECE_MAX	TORUS_MEM_MAX(0)
#define LITTLE		16384

static_assert(PIECE_MAX >= TN_PACKET_MAX);
static_assert(TORUS_SMALL_MAX >= TN_PACKET_MAX);

/* --- building ------------------------------------------------------------------------ */

/* Return: index of the first large payload of @f; sets @bytes to the number of bytes before it. */
static u32 find_large(const struct tn_frame *f, unsigned int *bytes)
{
	u32 i;

	if (!f->large) {
		*bytes = f->small;
		return f->nsegs;
	}
	*bytes = 0;
	for (i = 0; f->seg[i].len < TN_FRAME_LARGE; i++)
		*bytes += f->seg[i].len;
	return i;
}

/*
 * Copies the segments of @f from number @i on, up to the next large one, to @to, which moves.
 * Return: number of that large one, or of segments.
 */
static u32 copy_small(u8 **to, const struct tn_frame *f, u32 i)
{
	for (; i < f->nsegs && f->seg[i].len < TN_FRAME_LARGE; i++) {
		const struct tn_seg *s = &f->seg[i];

		if (s->len == TN_FLIT)	/* most are, and a copy of constant size needs no call */
			memcpy(*to, s->base, TN_FLIT);
		else
			memcpy(*to, s->base, s->len);
		*to += s->len;
	}
	return i;
}

/*
 * Appends @bytes at @base to @skb, which takes over the caller's reference to @page, the first page
 * of a run.
 */
static inline void add_page(struct sk_buff *skb, struct page *page, const u8 *base, u32 bytes)
{
	struct skb_shared_info *s = skb_shinfo(skb);

	__skb_fill_page_desc_noacc(s, s->nr_frags++, page,
				   (int)(base - (u8 *)page_address(page)), (int)bytes);
	if (page_is_pfmemalloc(page))
		skb->pfmemalloc = true;
}

/*
 * Return: the page of @s, so that a frame can refer to it; NULL if the memory belongs to the
 * parking segment or to kmalloc().
 */
static struct page *find_page(const struct tn_seg *s)
{
	struct page *page;

	if (is_vmalloc_addr(s->base))
		return NULL;
	page = virt_to_head_page(s->base);
	return sendpage_ok(page) ? page : NULL;
}

/*
 * Appends a large payload to @skb, by a reference, or by a copy if the frame must own its memory
 * (@whole) or no reference is possible. Return: false if there is no memory.
 */
static bool add_large(struct sk_buff *skb, const struct tn_seg *s, bool whole)
{
	struct page *page = whole ? NULL : find_page(s);
	u8 *mem;

	if (page) {
		page_ref_inc(page);
		add_page(skb, page, s->base, s->len);
		return true;
	}
	mem = torus_mem_alloc(s->len);
	if (!mem)
		return false;
	memcpy(mem, s->base, s->len);
	add_page(skb, virt_to_head_page(mem), mem, s->len);
	return true;
}

/*
 * Appends the large payloads, of which the first is segment @i, and copies what follows each of
 * them, its tail at least, to @to, which lies in a page as well.
 */
static bool add_pieces(struct sk_buff *skb, const struct tn_frame *f, u32 i, u8 *to, bool whole)
{
	unsigned int bytes = f->bytes - skb->len;
	struct page *page = virt_to_head_page(to);
	u32 left;

	page_ref_add(page, (int)f->large);	/* one for each copied piece */
	for (left = f->large; left; left--) {
		u8 *from = to;

		if (!add_large(skb, &f->seg[i], whole))
			break;
		i = copy_small(&to, f, i + 1);
		add_page(skb, page, from, (u32)(to - from));
	}
	if (left) {
		page_ref_sub(page, (int)left);	/* the memory of @skb->head has another one */
		return false;
	}
	skb->len += bytes;
	skb->data_len += bytes;
	skb->truesize += bytes;
	return true;
}

struct sk_buff *torus_frame_build(const struct tn_frame *f, unsigned int headroom, bool whole)
{
	unsigned int linear, first = find_large(f, &linear);
	struct sk_buff *skb;
	u8 *more = NULL, *to;

	headroom = min_t(unsigned int, headroom, TORUS_HEADROOM);
	skb = torus_mem_skb(headroom + linear, f->large ? &more : NULL, f->small - linear);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	to = skb_put(skb, linear);
	copy_small(&to, f, 0);
	if (f->large && !add_pieces(skb, f, first, more, whole)) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

void torus_frame_corrupt(struct sk_buff *skb, struct tn_fault *bits)
{
	struct skb_shared_info *s = skb_shinfo(skb);
	unsigned int i;

	tn_fault_corrupt(bits, skb->data, skb_headlen(skb));
	for (i = 0; i < s->nr_frags; i++)
		tn_fault_corrupt(bits, skb_frag_address(&s->frags[i]),
				 skb_frag_size(&s->frags[i]));
}

/* --- reading ----------------------------------------------------------------------------- */

/* Return: true if the processor can read the pages of @skb, and they belong to no slab. */
static bool has_plain_pages(const struct sk_buff *skb)
{
	const struct skb_shared_info *s = skb_shinfo(skb);
	unsigned int i;

	for (i = 0; i < s->nr_frags; i++) {
		struct page *page = skb_frag_page(&s->frags[i]);

		if (PageHighMem(page) || !sendpage_ok(page))
			return false;
	}
	return true;
}

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

		seg[n++] = (struct tn_seg) { .base = skb_frag_address(frag),
					    .len = skb_frag_size(frag) };
	}
	return n;
}

/*
 * Return: bytes of the packet at @at; 0 if there is no valid one, so that the core stops reading.
 */
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
	return h.type == TN_PAD || n > left ? 0 : n;
}

/*
 * Return: bytes of the packets from @at on that fit into one piece. After the last packet they
 * include one flit of what follows, so that the core counts invalid data. *@end is set to true if
 * nothing follows that must be read.
 */
static unsigned int run_bytes(const struct sk_buff *skb, unsigned int at, bool *end)
{
	unsigned int n = 0, next;

	while ((next = packet_bytes(skb, at + n)) && n + next <= PIECE_MAX)
		n += next;
	*end = !next;
	return next ? n : min(n + (unsigned int)TN_FLIT, skb->len - at);
}

/* Copies the packets of @skb into frames of at most PIECE_MAX bytes, and frees @skb. */
static void take_apart(struct sk_buff *skb, struct sk_buff_head *out)
{
	unsigned int at, n;
	bool end = false;

	for (at = 0; !end && at < skb->len; at += n) {
		struct sk_buff *piece;

		n = run_bytes(skb, at, &end);
		piece = torus_mem_skb(n, NULL, 0);
		if (!piece)
			/*
			 * without memory the packets are lost, as on a bad cable, and retransmitted
			 */
			break;
		if (skb_copy_bits(skb, (int)at, skb_put(piece, n), (int)n)) {
			kfree_skb(piece);	/* the pages cannot be read by the processor */
			break;
		}
		piece->dev = skb->dev;
		memcpy(piece->cb, skb->cb, sizeof(skb->cb));
		__skb_queue_tail(out, piece);
	}
	consume_skb(skb);
}

/*
 * Return: true if the sender of @skb may still write to its pages, because they belong to a file,
 * or to a ring until the destructor releases them. veth copies such frames, but other lower devices
 * may pass them on as they are. Pages with the destructor sock_wfree() are the kernel's own.
 */
static bool is_lent(struct sk_buff *skb)
{
	return skb_has_shared_frag(skb) || skb_zcopy(skb) ||
	       (skb->destructor && skb->destructor != sock_wfree);
}

/* Return: true if @skb occupies much memory and has few packets in it. */
static bool is_wasteful(const struct sk_buff *skb)
{
	unsigned int at = 0, n;

	if (skb->truesize <= LITTLE)
		return false;
	while (at < skb->truesize / 4 && (n = packet_bytes(skb, at)))
		at += n;
	return at < skb->truesize / 4;
}

/* Return: true if the core can read @skb without a copy. */
static bool is_usable(struct sk_buff *skb)
{
	struct tn_seg seg[TORUS_PIECES];
	unsigned int n;

	if (is_wasteful(skb))
		return false;
	if (!skb_is_nonlinear(skb))
		return true;
	if (is_lent(skb) || !has_plain_pages(skb))
		return false;
	n = torus_frame_pieces(skb, seg);
	return n && tn_pieces_fit(seg, n);
}

void torus_frame_take(struct sk_buff *skb, struct sk_buff_head *out)
{
	lockdep_assert_in_softirq();
	if (is_usable(skb)) {
		skb_orphan(skb);
		__skb_queue_tail(out, skb);
	} else {
		take_apart(skb, out);
	}
}
