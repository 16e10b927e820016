// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of several packets: on which VC they leave, and that one of which a packet is
 * missing never gets to the host; and how long the host waits for a NIC that is full.
 */
#include <linux/ip.h>

#include "lab.h"

#define HDR	TORUS_HOST_HDR
#define CS1	(8 << 2)	/* dsfield: may arrive in any order */
#define CS4	(32 << 2)	/* replies */
#define SRC	1		/* node that the messages come from */

/* --- from the host ---------------------------------------------------------------- */

/* Node 0 of a ring of 3 whose links are down: what it sends is parked. */
static struct torus_dev *nic_of(struct kunit *test, u64 park_bytes)
{
	struct torus_dev *d = lab_nic(test, 2, park_bytes);

	lab_place(test, d, 3);
	KUNIT_ASSERT_EQ(test, lab_version(d, TORUS_CMD_ROWS_BEGIN, 1), 0);
	KUNIT_ASSERT_EQ(test, lab_put(d, 1, 1, LAB_ROW | 1, 1), 0);
	KUNIT_ASSERT_EQ(test, lab_version(d, TORUS_CMD_ROWS_COMMIT, 1), 0);
	return d;
}

static struct torus_dev *nic(struct kunit *test)
{
	return nic_of(test, 0);
}

static struct sk_buff *datagram(struct kunit *test, u8 dsfield, unsigned int len)
{
	struct sk_buff *skb = alloc_skb(len, GFP_KERNEL);
	struct iphdr *ip;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	ip = skb_put_zero(skb, len);
	ip->version = 4;
	ip->ihl = 5;
	ip->tos = dsfield;
	ip->daddr = htonl(10u << 24 | SRC << 16);
	return skb;
}

/* Return: the VC that a message of @len bytes leaves on. */
static u8 vc_of(struct kunit *test, struct torus_dev *d, u8 dsfield, unsigned int len)
{
	u64 packets = lab_counter(d, TORUS_NC_INJECTED);
	unsigned int want = DIV_ROUND_UP(HDR + len, d->params.payload_max), i;
	struct sk_buff *skb;

	skb = datagram(test, dsfield, len);
	local_bh_disable();
	torus_tx_put(d, skb);
	local_bh_enable();
	for (i = 0; i < 1000 && lab_counter(d, TORUS_NC_INJECTED) < packets + want; i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, lab_counter(d, TORUS_NC_INJECTED), packets + want);
	return d->msgs.out_vc;
}

static void test_vc(struct kunit *test)
{
	struct torus_dev *d = nic(test);
	unsigned int most = d->params.payload_max - HDR;

	KUNIT_EXPECT_EQ(test, vc_of(test, d, 0, 100), TORUS_VC_D0);
	KUNIT_EXPECT_EQ(test, vc_of(test, d, CS4, 100), TORUS_VC_D1);
	KUNIT_EXPECT_EQ(test, vc_of(test, d, CS4, 3 * most), TORUS_VC_D1);
	KUNIT_EXPECT_EQ(test, vc_of(test, d, CS1, 100), TORUS_VC_A);
	/* Any order is for messages of one packet only. */
	KUNIT_EXPECT_EQ(test, vc_of(test, d, CS1, most), TORUS_VC_A);
	KUNIT_EXPECT_EQ(test, vc_of(test, d, CS1, most + 1), TORUS_VC_D0);
	KUNIT_EXPECT_EQ(test, vc_of(test, d, CS1, 3 * most), TORUS_VC_D0);
}

/* Fills the parking segment, and with it the queue on the way there. Lock held. */
static void fill(struct torus_dev *d)
{
	while (tn_nic_room(d->nic, 0)) {
		struct tn_pkt *pkt = torus_pkt_alloc(1);

		if (!pkt)
			return;
		memset(pkt->payload, 0, TN_FLIT);
		pkt->hdr.len = 1;
		pkt->tail = (struct tn_tail) { .flags = TN_TAIL_FIRST | TN_TAIL_LAST };
		if (tn_nic_send(d->nic, pkt, SRC, 0, torus_now())) {
			torus_pkt_free(pkt);
			return;
		}
		tn_nic_work(d->nic, torus_now());
	}
}

/* The host waits for ten seconds; then what waits is dropped and counted. */
static void test_stall(struct kunit *test)
{
	/* When, after it began to wait; messages that wait then, and that were dropped. */
	static const struct { u64 at; u32 wait; u64 drops; } looks[] = {
		{ 0, 2, 0 }, { 10ull * NSEC_PER_SEC - 1, 2, 0 }, { 10ull * NSEC_PER_SEC, 0, 2 },
		{ 10ull * NSEC_PER_SEC + 1, 0, 3 },	/* the next one does not wait */
	};
	struct torus_dev *d = nic_of(test, 5000);
	struct sk_buff *skb[3];
	u32 wait[ARRAY_SIZE(looks)];
	u64 now, expiry, drops[ARRAY_SIZE(looks)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(skb); i++)
		skb[i] = datagram(test, 0, 100);
	torus_dev_lock(d);	/* no round, of another time, comes between */
	fill(d);
	__skb_queue_tail(&d->txq, skb[0]);
	__skb_queue_tail(&d->txq, skb[1]);
	now = torus_now();
	for (i = 0; i < ARRAY_SIZE(looks); i++) {
		if (i == ARRAY_SIZE(looks) - 1)
			__skb_queue_tail(&d->txq, skb[2]);
		torus_msg_xmit(d, now + looks[i].at);
		wait[i] = skb_queue_len(&d->txq);
		drops[i] = tn_nic_counters(d->nic)[TORUS_NC_HOST_DROPS];
	}
	expiry = torus_msg_expiry(d, now);
	d->msgs.full_since = 0;		/* time goes back to what it is */
	torus_dev_unlock(d);
	KUNIT_EXPECT_EQ(test, expiry, now + looks[2].at);
	for (i = 0; i < ARRAY_SIZE(looks); i++) {
		KUNIT_EXPECT_EQ(test, wait[i], looks[i].wait);
		KUNIT_EXPECT_EQ(test, drops[i], looks[i].drops);
	}
}

/* --- from the fabric -------------------------------------------------------------- */

/**
 * struct piece - a packet of 64 bytes that arrives from node SRC on VCD0
 * @ends: TN_TAIL_FIRST, TN_TAIL_LAST
 */
struct piece {
	u32 eseq;
	u8 ends;
	u16 epoch;
};

#define FIRST TN_TAIL_FIRST
#define LAST TN_TAIL_LAST

/* Return: how many messages the host is given of @n packets. */
static u64 arrive(struct kunit *test, struct torus_dev *d, const struct piece *p, unsigned int n)
{
	u64 before = lab_counter(d, TORUS_NC_HOST_MESSAGES_RX);
	unsigned int i;

	torus_dev_lock(d);
	for (i = 0; i < n; i++) {
		struct tn_pkt *pkt = torus_pkt_alloc(4);

		if (!pkt)
			break;
		memset(pkt->payload, 0, 4 * TN_FLIT);
		if (p[i].ends & FIRST)
			pkt->payload[HDR] = 0x45;
		pkt->hdr = (struct tn_hdr) { .src = SRC, .len = 4, .type = TN_DATA };
		pkt->tail = (struct tn_tail) { .eseq = p[i].eseq, .flags = p[i].ends,
					       .epoch = p[i].epoch };
		torus_msg_deliver(d, pkt);
	}
	torus_dev_unlock(d);
	KUNIT_EXPECT_EQ(test, i, n);
	return lab_counter(d, TORUS_NC_HOST_MESSAGES_RX) - before;
}

/* The messages in @p that are @whole get to the host; others, if any, are counted as drops. */
static void expect_whole(struct kunit *test, const struct piece *p, unsigned int n, u64 whole,
			 bool drops)
{
	static const struct piece after[] = { { 100, FIRST, 9 }, { 101, 0, 9 }, { 102, LAST, 9 } };
	struct torus_dev *d = lab_nic(test, 2, 0);

	KUNIT_EXPECT_EQ(test, arrive(test, d, p, n), whole);
	KUNIT_EXPECT_EQ(test, lab_counter(d, TORUS_NC_HOST_DROPS) > 0, drops);
	KUNIT_EXPECT_EQ(test, lab_counter(d, TORUS_NC_HOST_BYTES_RX),
			whole * (3 * 4 * TN_FLIT - HDR));
	/* The next message arrives whole. */
	KUNIT_EXPECT_EQ(test, arrive(test, d, after, ARRAY_SIZE(after)), 1ull);
}

#define EXPECT_WHOLE(whole, drops, ...) do {						\
	static const struct piece p[] = { __VA_ARGS__ };				\
	expect_whole(test, p, ARRAY_SIZE(p), whole, drops);				\
} while (0)

static void test_hole(struct kunit *test)
{
	EXPECT_WHOLE(1, false, { 5, FIRST }, { 6 }, { 7, LAST });
	EXPECT_WHOLE(1, false, { ~0u, FIRST }, { 0 }, { 1, LAST });
	EXPECT_WHOLE(2, false, { 5, FIRST }, { 6 }, { 7, LAST }, { 8, FIRST }, { 9 }, { 10, LAST });
	/* The middle, the beginning, the end is missing. */
	EXPECT_WHOLE(0, true, { 5, FIRST }, { 7, LAST });
	EXPECT_WHOLE(0, true, { 6 }, { 7, LAST });
	EXPECT_WHOLE(1, true, { 5, FIRST }, { 6 }, { 8, FIRST }, { 9 }, { 10, LAST });
	EXPECT_WHOLE(1, true, { 5, FIRST }, { 6 }, { 7, FIRST }, { 8 }, { 9, LAST });
	/* Ends of two messages whose numbers fit, but not their epochs, are no message. */
	EXPECT_WHOLE(0, true, { 5, FIRST, 1 }, { 6, 0, 1 }, { 7, LAST, 2 });
}

static struct kunit_case cases[] = {
	KUNIT_CASE(test_vc),
	KUNIT_CASE(test_stall),
	KUNIT_CASE(test_hole),
	{}
};

struct kunit_suite torus_msg_suite = { .name = "torus-msg", .test_cases = cases };
