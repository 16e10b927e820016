// SPDX-License-Identifier: GPL-2.0-only
/* Memory of packets: where it is allocated, and which references keep it. */
#include <linux/mm.h>

#include "lab.h"

#define BYTES	4096	/* payload of a usual packet */

/*
 * Payloads that are allocated one after the other are adjacent in memory. Their packets then become
 * few pieces of a message; a message of too many pieces must be copied.
 */
static void payloads_allocated_in_turn_are_adjacent(struct kunit *test)
{
	unsigned int i, apart = 0;
	u8 *mem[8];

	local_bh_disable();
	for (i = 0; i < ARRAY_SIZE(mem); i++) {
		mem[i] = torus_mem_alloc(BYTES);
		apart += i && (!mem[i] || mem[i] != mem[i - 1] + BYTES);
	}
	for (i = 0; i < ARRAY_SIZE(mem); i++)
		if (mem[i])
			skb_free_frag(mem[i]);
	local_bh_enable();
	KUNIT_EXPECT_LE(test, apart, 1u);	/* one pair lies in two runs of pages */
}

/** struct kept - what keeps a payload @at bytes after the first of three pages */
struct kept {
	unsigned int at;
	bool by_skb;
};

/*
 * The middle page has the linear data of a frame; a payload in it keeps the skb. A payload in
 * another page keeps only that page, so that a message can refer to it without a copy.
 */
static void payload_keeps_only_page_that_contains_it(struct kunit *test)
{
	static const struct kept kept[] = {
		{ 0, false }, { PAGE_SIZE - TN_FLIT, false },
		{ PAGE_SIZE, true }, { PAGE_SIZE + TN_FLIT, true },
		{ 2 * PAGE_SIZE, false }, { 3 * PAGE_SIZE - TN_FLIT, false },
	};
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_COMP, 2);
	const struct page *by_page;
	struct sk_buff *skb, *by;
	struct tn_pkt *pkt;
	unsigned int i;
	u8 *start;

	KUNIT_ASSERT_NOT_NULL(test, page);
	start = page_address(page);
	skb = build_skb(start + PAGE_SIZE, PAGE_SIZE);
	if (!skb)
		put_page(page);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	for (i = 0; i < ARRAY_SIZE(kept); i++) {
		local_bh_disable();
		skb->head_frag = false;
		pkt = torus_pkt_of(skb, start + kept[i].at);
		skb->head_frag = true;
		by = pkt ? pkt->owner : NULL;
		by_page = pkt ? torus_pkt_page(pkt) : NULL;
		if (pkt)
			torus_pkt_free(pkt);
		local_bh_enable();
		KUNIT_EXPECT_PTR_EQ_MSG(test, by, kept[i].by_skb ? skb : NULL, "%u", kept[i].at);
		KUNIT_EXPECT_PTR_EQ_MSG(test, by_page, kept[i].by_skb ? NULL : page, "%u",
					kept[i].at);
	}
	kfree_skb(skb);
}

/*
 * The payload of a packet that stays for a long time is moved if it keeps much more memory
 * allocated than it has bytes. Its bytes do not change, and the packet counts as much memory as it
 * keeps.
 */
static void keep_bytes(struct kunit *test, unsigned int bytes, u32 least, u32 most)
{
	struct sk_buff *skb = alloc_skb(60000, GFP_KERNEL);
	bool same = true, moved = false;
	struct tn_pkt *pkt;
	u32 held = 0, again = 0;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	for (i = 0; i < bytes; i++)
		skb->data[i] = (u8)(i * 7);
	local_bh_disable();
	pkt = torus_pkt_of(skb, skb->data);
	if (pkt) {
		pkt->hdr.len = (u16)(bytes / TN_FLIT);
		held = torus_pkt_keep(pkt);
		moved = pkt->payload != skb->data;
		for (i = 0; i < bytes; i++)
			same &= pkt->payload[i] == (u8)(i * 7);
		again = torus_pkt_keep(pkt);
		torus_pkt_free(pkt);
	}
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, same);
	KUNIT_EXPECT_TRUE(test, moved);
	KUNIT_EXPECT_EQ(test, refcount_read(&skb->users), 1u);
	KUNIT_EXPECT_EQ(test, again, held);
	KUNIT_EXPECT_GE_MSG(test, held, least, "%u", bytes);
	KUNIT_EXPECT_LE_MSG(test, held, most, "%u", bytes);
	kfree_skb(skb);
}

static void packet_that_waits_long_counts_expected_bytes(struct kunit *test)
{
	const u32 own = sizeof(struct tn_pkt);

	keep_bytes(test, TN_FLIT, TORUS_KEEP_LEAST, TORUS_KEEP_LEAST);
	keep_bytes(test, 512, TORUS_KEEP_LEAST, TORUS_KEEP_LEAST);
	keep_bytes(test, 1040, 2048 + own, 2048 + own);
	keep_bytes(test, 2048, 2048 + own, 2048 + own);
	keep_bytes(test, 2064, 4096 + own, 4096 + own);
	keep_bytes(test, 4096, 4096 + own, 4096 + own);
	keep_bytes(test, 16368, 16384 + own, 16384 + own);
}

/* torus_pkt_keep() does not move a packet that uses most of its memory. */
static void packet_that_fits_its_memory_is_not_moved(struct kunit *test)
{
	struct sk_buff *skb = alloc_skb(SKB_WITH_OVERHEAD(1024), GFP_KERNEL);
	struct tn_pkt *pkt;
	bool moved = true;
	u32 held = 0;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	local_bh_disable();
	pkt = torus_pkt_of(skb, skb->data);
	if (pkt) {
		pkt->hdr.len = 560 / TN_FLIT;
		held = torus_pkt_keep(pkt);
		moved = pkt->payload != skb->data;
		torus_pkt_free(pkt);
	}
	local_bh_enable();
	KUNIT_EXPECT_FALSE(test, moved);
	KUNIT_EXPECT_EQ(test, held, skb->truesize + (u32)sizeof(*pkt));
	kfree_skb(skb);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(payloads_allocated_in_turn_are_adjacent),
	KUNIT_CASE(payload_keeps_only_page_that_contains_it),
	KUNIT_CASE(packet_that_waits_long_counts_expected_bytes),
	KUNIT_CASE(packet_that_fits_its_memory_is_not_moved),
	{}
};

struct kunit_suite torus_pkt_suite = { .name = "torus-pkt", .test_cases = cases };
