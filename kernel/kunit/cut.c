// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages that are cut into packets: the packets have all bytes once, in order, and are as few as
 * possible.
 */
#include <linux/virtio_net.h>

#include "lab.h"

#define HDR	TORUS_HOST_HDR
#define LONGEST	65535

static u8 byte_at(unsigned int at)
{
	return (u8)(at * 7 + (at >> 8));
}

/* Return: a message of @linear bytes, and @frags pages of @bytes each. */
static struct sk_buff *message(unsigned int linear, unsigned int frags, unsigned int bytes)
{
	struct sk_buff *skb = alloc_skb(linear, GFP_KERNEL);
	unsigned int i, j, at;

	if (!skb)
		return NULL;
	for (at = 0; at < linear; at++)
		skb_put_u8(skb, byte_at(at));
	for (i = 0; i < frags; i++) {
		struct page *page = alloc_pages(GFP_KERNEL | __GFP_COMP, get_order(bytes));

		if (!page) {
			kfree_skb(skb);
			return NULL;
		}
		for (j = 0; j < bytes; j++)
			((u8 *)page_address(page))[j] = byte_at(at++);
		skb_add_rx_frag(skb, (int)i, page, 0, (int)bytes, bytes);
	}
	return skb;
}

/*
 * Return: the number of bytes of @q that are those of the message, from its first byte on; 0 if a
 * packet is wrong.
 */
static unsigned int right(const struct tn_queue *q, unsigned int max)
{
	const struct tn_pkt *pkt;
	unsigned int at = 0, i;

	for (pkt = q->head; pkt; pkt = pkt->next) {
		u8 ends = pkt->tail.flags & (TN_TAIL_FIRST | TN_TAIL_LAST);

		if (tn_pkt_bytes(pkt) > max ||
		    ends != ((at ? 0 : TN_TAIL_FIRST) | (pkt->next ? 0 : TN_TAIL_LAST)))
			return 0;
		for (i = 0; i < tn_pkt_bytes(pkt); i++, at++)
			if (at >= HDR && pkt->payload[i] != byte_at(at - HDR))
				return at;
	}
	return at;
}

static void cut_one(struct kunit *test, unsigned int linear, unsigned int frags,
		    unsigned int bytes, unsigned int max)
{
	struct sk_buff *skb = message(linear, frags, bytes);
	unsigned int len = HDR + linear + frags * bytes;
	struct tn_queue q = { 0 };
	struct tn_pkt *pkt;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	local_bh_disable();
	KUNIT_EXPECT_TRUE_MSG(test, torus_cut(&q, skb, max), "%u + %u * %u by %u", linear, frags,
			      bytes, max);
	KUNIT_EXPECT_EQ_MSG(test, right(&q, max), len, "%u + %u * %u by %u", linear, frags, bytes,
			    max);
	/*
	 * The linear part is cut by itself, which costs one packet more if that part is longer than
	 * a packet.
	 */
	KUNIT_EXPECT_LE(test, q.count, DIV_ROUND_UP(len, max) + (linear + HDR) / max + 1);
	while ((pkt = tn_queue_pop(&q)))
		torus_pkt_free(pkt);
	local_bh_enable();
	kfree_skb(skb);
}

static void message_of_any_pieces_is_cut_into_whole_packets(struct kunit *test)
{
	static const unsigned int linear[] = { 20, 52, 1014, 1034, 1500, 4096 };
	static const unsigned int bytes[] = { 1, 20, 512, 4096, 5000, 32768 };
	static const unsigned int max[] = { 1024, 4096, 16368 };
	unsigned int l, n, b, m;

	for (l = 0; l < ARRAY_SIZE(linear); l++)
		for (n = 0; n < 4; n++)
			for (b = 0; b < ARRAY_SIZE(bytes); b++)
				for (m = 0; m < ARRAY_SIZE(max); m++)
					if (linear[l] + n * bytes[b] <= LONGEST)
						cut_one(test, linear[l], n, bytes[b], max[m]);
}

/*
 * The linear part is longer than a packet, and its last packet is shorter than the headers may be.
 */
static void short_rest_of_linear_part_is_cut(struct kunit *test)
{
	unsigned int bytes;

	for (bytes = 1; bytes <= 200; bytes++)
		cut_one(test, 1034, 1, bytes, 1024);
}

/* bytes of memory that are charged to the socket of a message */
static unsigned int charged;

static void discharge(struct sk_buff *skb)
{
	charged -= skb->truesize;
}

/*
 * The memory of a message that was cut into packets may stay in the NIC for a long time. It is no
 * longer charged to its socket, which can send on.
 */
static void memory_of_cut_message_is_not_charged_to_socket(struct kunit *test)
{
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);
	struct tn_queue q = { 0 };

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, 64);
	skb_put_zero(skb, 100);
	skb->destructor = discharge;
	charged = skb->truesize;
	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, torus_cut(&q, skb, 1024));
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, q.count, 1u);
	KUNIT_EXPECT_PTR_EQ(test, q.head->payload, skb->data - HDR);
	KUNIT_EXPECT_EQ(test, tn_pkt_bytes(q.head), HDR + 100);
	KUNIT_EXPECT_EQ(test, charged, 0u);
	kfree_skb(skb);
	local_bh_disable();
	torus_pkt_free(tn_queue_pop(&q));
	local_bh_enable();
}

static struct kunit_case cases[] = {
	KUNIT_CASE(message_of_any_pieces_is_cut_into_whole_packets),
	KUNIT_CASE(short_rest_of_linear_part_is_cut),
	KUNIT_CASE(memory_of_cut_message_is_not_charged_to_socket),
	{}
};

struct kunit_suite torus_cut_suite = { .name = "torus-cut", .test_cases = cases };
