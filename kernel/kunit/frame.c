// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames that are divided into pieces anywhere, compared with the same bytes in one piece: the
 * core gets the same packets, no part of a packet lies in two pieces, and memory that others may
 * write to is copied first.
 */
#include <linux/mm.h>

#include "core/pieces.h"
#include "core/splitmix64.h"
#include "lab.h"

#define FRAME_MAX	60000
#define PACKETS_MAX	(FRAME_MAX / TN_ACKNAK_BYTES)
#define CUT_ORDER	2		/* order of the pages of a piece */
#define ROUNDS		400

/*
 * A frame in one piece. @end: offset of the end of each packet; bytes after the last packet are
 * not read.
 */
struct wire {
	u8 bytes[FRAME_MAX];
	unsigned int len;
	unsigned int end[PACKETS_MAX];
	unsigned int packets;
};

static u64 rng;

static u32 below(u32 n)
{
	return (u32)(((splitmix64_mix(rng += SPLITMIX64_STEP) >> 32) * n) >> 32);
}

/* --- a frame ---------------------------------------------------------------------- */

static void add(struct wire *w, unsigned int bytes)
{
	w->len += bytes;
	w->end[w->packets++] = w->len;
}

static bool add_packet(struct wire *w, unsigned int max)
{
	struct tn_hdr h = {
		.type = (u8)(TN_DATA + below(TN_ACKNAK - TN_DATA)), .tseq = (u16)below(TN_SEQ_MASK),
		.len = (u16)(below(3) ? below(8) : below(TN_PAYLOAD_FLITS_MAX + 1)),
		.relayed = (u8)below(2),
	};

	if (w->len + tn_hdr_flits(&h) * TN_FLIT > max)
		return false;
	if (below(4)) {
		tn_hdr_put(w->bytes + w->len, &h);
		add(w, tn_hdr_flits(&h) * TN_FLIT);
	} else {
		tn_acknak_put(w->bytes + w->len, &h, 1);
		add(w, TN_ACKNAK_BYTES);
	}
	return true;
}

/* Adds bytes after the packets that are not a packet: padding, or the first bytes of one. */
static void add_end(struct wire *w)
{
	struct tn_hdr h = { .type = TN_DATA, .len = (u16)(1 + below(TN_PAYLOAD_FLITS_MAX)) };
	unsigned int rest = below(FRAME_MAX - w->len);
	u32 how = below(3);

	if (!how)
		return;
	if (how == 1)
		h = (struct tn_hdr) { .type = TN_PAD };
	else
		rest = min(rest, tn_hdr_flits(&h) * TN_FLIT - 1);
	if (rest >= TN_FLIT)
		tn_hdr_put(w->bytes + w->len, &h);
	else
		rest = min_t(unsigned int, rest, TN_ACKNAK_BYTES - 1);
	w->len += rest;
}

static void make(struct wire *w)
{
	unsigned int max = 1 + below(below(2) ? 3000 : FRAME_MAX - 1), i;

	for (i = 0; i < FRAME_MAX; i++)
		w->bytes[i] = (u8)below(256);
	w->len = 0;
	w->packets = 0;
	while (add_packet(w, max))
		;
	add_end(w);
}

/* --- cuts --------------------------------------------------------------------------- */

static void add_frag(struct sk_buff *skb, const u8 *from, unsigned int len)
{
	struct page *page = alloc_pages(GFP_ATOMIC | __GFP_COMP, CUT_ORDER);
	unsigned int room = (PAGE_SIZE << CUT_ORDER) - len, at = below(room + 1);

	if (!page)
		return;
	memcpy(page_address(page) + at, from, len);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, (int)at, (int)len, len);
}

static unsigned int cut_size(unsigned int left)
{
	static const unsigned int most[] = { 1, 3, 40, 1000, PAGE_SIZE << CUT_ORDER };

	return min_t(unsigned int, left, below(most[below(ARRAY_SIZE(most))] + 1));
}

/*
 * Makes an skb of @bytes with at most @frags pages, any of which may be empty, and without room
 * around the data.
 * Return: how many of the @len bytes are in it.
 */
static unsigned int cut_one(struct sk_buff **skb, const u8 *bytes, unsigned int len,
			    unsigned int frags)
{
	unsigned int at = cut_size(len);

	*skb = alloc_skb(at, GFP_ATOMIC);
	if (!*skb)
		return len;
	skb_put_data(*skb, bytes, at);
	while (frags--) {
		unsigned int n = cut_size(len - at);

		add_frag(*skb, bytes + at, n);
		at += n;
	}
	return at;
}

/*
 * Makes a frame of all bytes of @w; bytes that do not fit into its pages are in a list of more
 * skbs.
 */
static struct sk_buff *cut(struct kunit *test, const struct wire *w)
{
	struct sk_buff *skb, *more, **last;
	unsigned int at;

	at = cut_one(&skb, w->bytes, w->len, below(MAX_SKB_FRAGS + 1));
	KUNIT_ASSERT_NOT_NULL(test, skb);
	for (last = &skb_shinfo(skb)->frag_list; at < w->len; last = &more->next) {
		unsigned int n = cut_one(&more, w->bytes + at, w->len - at, below(4));

		KUNIT_ASSERT_NOT_NULL(test, more);
		at += n;
		*last = more;
		skb->len += n;
		skb->data_len += n;
		skb->truesize += more->truesize;
	}
	memset(skb->cb, 0x5c, sizeof(skb->cb));
	return skb;
}

/* --- the judge ------------------------------------------------------------------------ */

static bool fits(struct sk_buff *skb)
{
	struct tn_seg seg[TORUS_PIECES];
	unsigned int n = torus_frame_pieces(skb, seg);

	return !skb_is_nonlinear(skb) || (n && tn_pieces_fit(seg, n));
}

static bool is_end(const struct wire *w, unsigned int at)
{
	unsigned int i;

	for (i = 0; i < w->packets && w->end[i] < at; i++)
		;
	return !at || (i < w->packets && w->end[i] == at);
}

/* Return: true if the bytes of @skb are equal to those of @w from @at on. */
static bool same(const struct sk_buff *skb, const struct wire *w, unsigned int at)
{
	static u8 copy[FRAME_MAX];

	return at + skb->len <= w->len && !skb_copy_bits(skb, 0, copy, (int)skb->len) &&
	       !memcmp(copy, w->bytes + at, skb->len);
}

/*
 * Return: the number of bytes of @w that must arrive: all, or the packets that are read and the
 * beginning of the rest.
 */
static unsigned int due(const struct wire *w, bool apart)
{
	unsigned int read = w->packets ? w->end[w->packets - 1] : 0;

	return apart ? min(read + (unsigned int)TN_FLIT, w->len) : w->len;
}

/*
 * Passes @skb through the driver's code, checks all pieces and frees them. Return: the number of
 * pieces; 0 if one was wrong.
 */
static unsigned int judge(struct kunit *test, struct sk_buff *skb, const struct wire *w)
{
	unsigned int at = 0, n = 0, bad = 0;
	const struct sk_buff *was = skb;
	struct sk_buff_head out;
	bool apart = false;

	__skb_queue_head_init(&out);
	torus_frame_take(skb, &out);
	while ((skb = __skb_dequeue(&out))) {
		apart |= skb != was;
		bad += !fits(skb) || !is_end(w, at) || !same(skb, w, at) || skb->destructor ||
		       skb->cb[0] != 0x5c || memcmp(skb->cb, skb->cb + 1, sizeof(skb->cb) - 1);
		at += skb->len;
		n++;
		consume_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, bad, 0u);
	KUNIT_EXPECT_EQ(test, at, due(w, apart));
	return bad ? 0 : n;
}

static struct wire *wire(struct kunit *test)
{
	struct wire *w = kunit_kmalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	return w;
}

/* --- cases ----------------------------------------------------------------------------- */

static void random_frames_give_their_packets(struct kunit *test)
{
	struct wire *w = wire(test);
	unsigned int apart = 0;

	for (rng = 1; rng <= ROUNDS; rng++) {
		u64 seed = rng;

		make(w);
		if (w->len) {
			local_bh_disable();
			apart += judge(test, cut(test, w), w) > 1;
			local_bh_enable();
		}
		rng = seed;
		if (test->status == KUNIT_FAILURE) {
			kunit_err(test, "seed %llu: %u packets, %u bytes", seed, w->packets,
				  w->len);
			return;
		}
	}
	KUNIT_EXPECT_GT(test, apart, 0u);
}

/* A frame that has a clone, because a program captures the traffic, is not changed. */
static void cloned_frame_is_not_changed(struct kunit *test)
{
	struct wire *w = wire(test);
	unsigned int i;

	for (rng = 77, i = 0; i < ROUNDS / 4 && test->status == KUNIT_SUCCESS; i++) {
		struct sk_buff *skb, *other;

		make(w);
		if (!w->len)
			continue;
		local_bh_disable();
		skb = cut(test, w);
		other = skb_clone(skb, GFP_ATOMIC);
		judge(test, skb, w);
		KUNIT_EXPECT_TRUE(test, other && same(other, w, 0));
		consume_skb(other);
		local_bh_enable();
	}
}

/* Makes a frame of one packet, with its payload in a page of its own. */
static struct sk_buff *whole(struct kunit *test, struct wire *w)
{
	struct tn_hdr h = { .type = TN_DATA, .len = 100 };
	struct sk_buff *skb = alloc_skb(TN_FLIT, GFP_ATOMIC);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	memset(w->bytes, 7, 102 * TN_FLIT);
	tn_hdr_put(w->bytes, &h);
	w->len = 0;
	w->packets = 0;
	add(w, 102 * TN_FLIT);
	skb_put_data(skb, w->bytes, TN_FLIT);
	add_frag(skb, w->bytes + TN_FLIT, 100 * TN_FLIT);
	add_frag(skb, w->bytes + 101 * TN_FLIT, TN_FLIT);
	memset(skb->cb, 0x5c, sizeof(skb->cb));
	return skb;
}

static struct sk_buff *taken(struct sk_buff *skb)
{
	struct sk_buff_head out;

	__skb_queue_head_init(&out);
	torus_frame_take(skb, &out);
	return __skb_dequeue(&out);
}

static void fitting_frame_is_kept(struct kunit *test)
{
	struct wire *w = wire(test);
	struct sk_buff *skb, *got;

	local_bh_disable();
	skb = whole(test, w);
	got = taken(skb);
	KUNIT_EXPECT_PTR_EQ(test, got, skb);
	kfree_skb(got);
	local_bh_enable();
}

static unsigned int freed;

/*
 * The kernel calls this when the sender may use the memory again. The sender overwrites it at once.
 */
static void overwrite_sent(struct sk_buff *skb)
{
	memset(skb_frag_address(&skb_shinfo(skb)->frags[0]), 0xff, 100 * TN_FLIT);
	freed++;
}

static void frame_in_memory_of_sender_is_copied_and_given_back(struct kunit *test)
{
	struct wire *w = wire(test);
	struct sk_buff *skb, *got;

	freed = 0;
	local_bh_disable();
	skb = whole(test, w);
	skb->destructor = overwrite_sent;
	got = taken(skb);
	KUNIT_EXPECT_EQ(test, freed, 1u);
	KUNIT_EXPECT_TRUE(test, got && same(got, w, 0));
	kfree_skb(got);

	skb = whole(test, w);
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	skb_get(skb);
	got = taken(skb);
	KUNIT_EXPECT_PTR_NE(test, got, skb);
	KUNIT_EXPECT_TRUE(test, got && same(got, w, 0));
	kfree_skb(got);
	kfree_skb(skb);
	local_bh_enable();
}

/* Return: a linear frame of @room bytes that begins with @n packets of 4 flits. */
static struct sk_buff *roomy(struct kunit *test, struct wire *w, unsigned int room, unsigned int n)
{
	struct tn_hdr h = { .type = TN_DATA, .len = 2 };
	struct sk_buff *skb = alloc_skb(room, GFP_ATOMIC);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	memset(w->bytes, 0, room);
	w->len = 0;
	w->packets = 0;
	while (n--) {
		tn_hdr_put(w->bytes + w->len, &h);
		add(w, 4 * TN_FLIT);
	}
	memset(w->bytes + w->len, 0xff, TN_FLIT);
	tn_hdr_put(w->bytes + w->len, &(struct tn_hdr) { .type = TN_PAD });
	w->len = room;
	skb_put_data(skb, w->bytes, room);
	memset(skb->cb, 0x5c, sizeof(skb->cb));
	return skb;
}

/*
 * A packet of a frame that is mostly padding does not keep the frame's memory; a packet of a frame
 * that is mostly packets does.
 */
static void small_packet_does_not_keep_memory_of_large_frame(struct kunit *test)
{
	struct wire *w = wire(test);
	struct sk_buff *skb, *got;

	local_bh_disable();
	skb = skb_get(roomy(test, w, 60000, 1));
	got = taken(skb);
	KUNIT_EXPECT_PTR_NE(test, got, skb);
	KUNIT_EXPECT_TRUE(test, got && same(got, w, 0));
	KUNIT_EXPECT_TRUE(test, got && got->len <= 5 * TN_FLIT && got->truesize < 2048);
	kfree_skb(got);
	kfree_skb(skb);
	skb = roomy(test, w, 60000, 500);
	got = taken(skb);
	KUNIT_EXPECT_PTR_EQ(test, got, skb);
	kfree_skb(got);
	skb = roomy(test, w, 4000, 1);
	got = taken(skb);
	KUNIT_EXPECT_PTR_EQ(test, got, skb);
	kfree_skb(got);
	local_bh_enable();
}

static void empty_frame_gives_no_packet(struct kunit *test)
{
	struct wire *w = wire(test);

	w->len = 0;
	w->packets = 0;
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, judge(test, cut(test, w), w), 1u);
	local_bh_enable();
}

/* A long message reaches the host in pages that are shared with others. */
static void long_message_reaches_host_in_shared_pages(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	struct tn_pkt *pkt;
	struct sk_buff *skb;

	torus_soft_lock(s);
	pkt = torus_pkt_alloc(TN_PAYLOAD_FLITS_MAX);
	if (pkt) {
		memset(pkt->payload, 0, TN_PAYLOAD_MAX);
		pkt->payload[TORUS_HOST_HDR] = 0x45;
		pkt->hdr = (struct tn_hdr) { .type = TN_DATA, .len = TN_PAYLOAD_FLITS_MAX };
		pkt->tail = (struct tn_tail) { .flags = TN_TAIL_FIRST | TN_TAIL_LAST };
		torus_msg_deliver(s, pkt);
	}
	skb = __skb_dequeue(&s->up);
	torus_soft_unlock(s);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_TRUE(test, skb_is_nonlinear(skb));
	KUNIT_EXPECT_TRUE(test, skb_has_shared_frag(skb));
	kfree_skb(skb);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(random_frames_give_their_packets),
	KUNIT_CASE(cloned_frame_is_not_changed),
	KUNIT_CASE(fitting_frame_is_kept),
	KUNIT_CASE(frame_in_memory_of_sender_is_copied_and_given_back),
	KUNIT_CASE(small_packet_does_not_keep_memory_of_large_frame),
	KUNIT_CASE(empty_frame_gives_no_packet),
	KUNIT_CASE(long_message_reaches_host_in_shared_pages),
	{}
};

struct kunit_suite torus_frame_suite = { .name = "torus-frame", .test_cases = cases };
