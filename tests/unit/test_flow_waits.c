// SPDX-License-Identifier: GPL-2.0-only
/* Packets that wait for their turn, flow by flow; and when the age of numberings is checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/core/flow.h"

#define NODES 600

static struct tn_flow_tx tx[NODES * TN_FLOWS];
static struct tn_flow_rx rx[NODES * TN_FLOWS];
static struct tn_flows f;
static struct tn_pkt pool[NODES * TN_FLOW_VCS], rubbish;
static unsigned int used;

static void begin(void)
{
	memset(tx, 0, sizeof(tx));
	memset(rx, 0, sizeof(rx));
	tn_flows_init(&f, tx, rx, NODES);
	used = 0;
}

static struct tn_pkt *make(u32 src, u8 vc, u32 eseq, u16 len)
{
	struct tn_pkt *pkt = &pool[used++];

	assert_true(used <= ARRAY_SIZE(pool));
	/* Whatever the packet was before: it is in no queue now. */
	*pkt = (struct tn_pkt) {
		.hdr = { .src = src, .vc = vc, .len = len, .type = TN_DATA },
		.tail = { .eseq = eseq, .epoch = 1 }, .child = &rubbish, .next = &rubbish,
	};
	return pkt;
}

static struct tn_pkt *waits(u32 src, u8 vc, u32 eseq, u16 len, u64 now)
{
	struct tn_pkt *pkt = make(src, vc, eseq, len);

	assert_int_equal(tn_flow_turn(&f, pkt), TN_FLOW_EARLY);
	pkt->held = tn_pkt_flits(pkt) * TN_FLIT;
	tn_flow_wait(&f, pkt, now);
	return pkt;
}

/* Number @eseq is delivered. Return: that of tn_flow_done(). */
static bool done(u32 src, u8 vc, u32 eseq)
{
	struct tn_pkt *pkt = make(src, vc, eseq, 0);

	assert_int_equal(tn_flow_turn(&f, pkt), TN_FLOW_NOW);
	return tn_flow_done(&f, pkt);
}

/* The next packet whose turn has come is @pkt, and then there is none. */
static void next_is(struct tn_pkt *pkt)
{
	assert_true(tn_flow_next(&f) == pkt);
	tn_flow_unwait(&f, pkt);
	assert_int_equal(tn_flow_turn(&f, pkt), TN_FLOW_NOW);
	tn_flow_done(&f, pkt);
}

static void nobody(void)
{
	assert_null(tn_flow_next(&f));
	for (unsigned int i = 0; i < ARRAY_SIZE(f.look); i++)
		assert_int_equal(f.look[i], 0);
}

/* Flows are filled one after the other: the packet whose turn it is is found in any flow. */
static void packet_whose_turn_it_is_is_found_in_each_flow(void **state)
{
	(void)state;
	for (u32 src = 0; src < NODES; src++) {
		for (u8 vc = 0; vc < TN_FLOW_VCS; vc++) {
			struct tn_pkt *pkt;

			begin();
			assert_false(done(src, vc, 0));
			nobody();
			pkt = waits(src, vc, 2, 1, 5);
			nobody();
			assert_true(done(src, vc, 1));
			next_is(pkt);
			nobody();
			assert_false(done(src, vc, 3));
		}
	}
}

/* All at once: each is found when its own turn comes, and no other. */
static void each_of_many_waiting_packets_is_found_in_turn(void **state)
{
	static struct tn_pkt *pkt[NODES][TN_FLOW_VCS];

	(void)state;
	begin();
	for (u32 src = 0; src < NODES; src += 2)
		for (u8 vc = 0; vc < TN_FLOW_VCS; vc++)
			pkt[src][vc] = waits(src, vc, 1, 0, 5);
	nobody();
	for (u32 i = 0; i < NODES; i += 2) {
		u32 src = i * 7 % NODES;	/* 7 and 600 have no factor in common */

		for (u8 vc = 0; vc < TN_FLOW_VCS; vc++) {
			u8 other = vc ^ (u8)(i / 2 % 2);
			struct tn_pkt zero = { .hdr = { .src = src, .vc = other },
					       .tail = { .epoch = 1 } };

			assert_int_equal(tn_flow_turn(&f, &zero), TN_FLOW_NOW);
			assert_true(tn_flow_done(&f, &zero));
			next_is(pkt[src][other]);
			nobody();
		}
	}
	assert_int_equal(f.waiting, 0);
	assert_int_equal(f.wait_bytes, 0);
	assert_true(f.since == ~0ull);
}

/* How many packets wait, how many bytes they have, and since when the oldest waits. */
static void count_bytes_and_age_of_waiting_packets_are_right(void **state)
{
	struct tn_pkt *a, *b, *c;
	struct tn_queue out = { 0 };

	(void)state;
	begin();
	assert_true(f.since == ~0ull);
	a = waits(1, 0, 3, 5, 100);
	b = waits(2, 1, 4, 1, 200);
	c = waits(1, 0, 2, 0, 300);
	assert_int_equal(f.waiting, 3);
	assert_int_equal(f.wait_bytes, (7 + 3 + 2) * TN_FLIT);
	assert_int_equal(f.since, 100);
	tn_flow_unwait(&f, b);
	assert_int_equal(f.waiting, 2);
	assert_int_equal(f.wait_bytes, (7 + 2) * TN_FLIT);
	assert_null(b->next);
	assert_null(b->child);
	assert_int_equal(f.since, 100);
	tn_flow_wait(&f, b, 400);
	assert_int_equal(f.since, 100);
	tn_flows_empty(&f, &out);
	assert_int_equal(out.count, 3);
	for (u32 n = 0; n < 3; n++) {
		struct tn_pkt *pkt = tn_queue_pop(&out);

		assert_true(pkt == a || pkt == b || pkt == c);
		a = pkt == a ? NULL : a;
		b = pkt == b ? NULL : b;
		c = pkt == c ? NULL : c;
	}
	assert_int_equal(f.waiting, 0);
	assert_int_equal(f.wait_bytes, 0);
	assert_true(f.since == ~0ull);
	nobody();
	waits(1, 0, 9, 0, 500);
	assert_int_equal(f.since, 500);
}

/* A gap is closed in the flow that is meant; in each flow, the first one. */
static void gap_is_closed_only_in_its_flow(void **state)
{
	struct tn_pkt *near, *far, *other;

	(void)state;
	begin();
	done(1, 0, 0);
	/* the neighbour of the packet in the memory of waiting packets */
	done(129, 0, 0);
	near = waits(1, 0, 3, 0, 5);
	far = waits(1, 0, 6, 0, 5);
	other = waits(129, 0, 9, 0, 5);
	tn_flow_close_gap(&f, far);
	assert_int_equal(f.lost, 2);
	next_is(near);
	nobody();
	tn_flow_close_gap(&f, make(129, 1, 0, 0));	/* in this flow no packet waits */
	assert_int_equal(f.lost, 2);
	tn_flow_close_gaps(&f);
	assert_int_equal(f.lost, 2 + 2 + 8);
	/* The turn of the waiting packets has come; until it is over there is no gap to close. */
	tn_flow_close_gaps(&f);
	assert_int_equal(f.lost, 12);
	tn_flow_unwait(&f, other);
	tn_flow_done(&f, other);
	next_is(far);
	nobody();
}

/* Numbers of epoch @epoch came last. Return: flags if flows are aged at @old, and then at @now. */
static u8 aged(u16 epoch, u64 old, u64 now)
{
	begin();
	rx[7] = (struct tn_flow_rx) { .epoch = epoch, .flags = TN_FLOW_KNOWN };
	f.aged = old;
	tn_flows_age(&f, 0, f.nodes, now);
	return rx[7].flags & TN_FLOW_OLD;
}

/* Checked every 2^12 versions; epochs 2^13 or more behind are old; half the range on is ahead. */
static void epochs_too_far_behind_are_old(void **state)
{
	(void)state;
	assert_false(aged(0x1000, 0x3000, 0x3001));
	assert_false(aged(0x1000, 0x3001, 0x3fff));
	assert_true(aged(0x1000, 0x2fff, 0x3000));
	assert_false(aged(0x1001, 0x2fff, 0x3000));
	assert_true(aged(0x1000, 0x3fff, 0x4005));
	assert_true(aged(0x0fff, 0x2fff, 0x3000));
	assert_true(aged(0x3001, 0xafff, 0xb000));
	assert_false(aged(0x3000, 0xafff, 0xb000));
	assert_false(aged(0x2fff, 0xafff, 0xb000));
	/* Across the end of the 16-bit range. */
	assert_true(aged(0xf000, 0x70fff, 0x71000));
	assert_false(aged(0xf001, 0x70fff, 0x71000));
}

#define MANY	16384	/* packets of one flow, as many as a NIC lets wait */

/* Return: the largest number of children that @pkt, or any packet below it, has in the heap. */
static unsigned int most_below(const struct tn_pkt *pkt)
{
	unsigned int n = 0, most = 0;

	for (const struct tn_pkt *p = pkt->child; p; p = p->next, n++) {
		unsigned int its = most_below(p);

		most = its > most ? its : most;
	}
	return n > most ? n : most;
}

/*
 * Packets of one flow in the order that @pick gives them: they come out in order, and no packet is
 * taken out in one step with more than 14 others below it.
 */
static void wait_and_leave(u32 (*pick)(u32 i))
{
	static struct tn_pkt many[MANY];
	struct tn_pkt *pkt;
	u32 next = 1;

	begin();
	assert_false(done(3, 0, 0));
	for (u32 i = 0; i < MANY; i++) {
		many[i] = (struct tn_pkt) {
			.hdr = { .src = 3, .type = TN_DATA }, .tail = { .eseq = 2 + pick(i), .epoch = 1 },
			.child = &rubbish, .next = &rubbish, .rank = 77, .held = 1,
		};
		assert_int_equal(tn_flow_turn(&f, &many[i]), TN_FLOW_EARLY);
		tn_flow_wait(&f, &many[i], 5);
		if (!(i & (i + 1)))
			assert_in_range(most_below(f.wait[3 * TN_FLOW_VCS % TN_FLOW_BUCKETS]), 0, 14);
	}
	assert_true(done(3, 0, 1));
	while ((pkt = tn_flow_next(&f))) {
		assert_int_equal(pkt->tail.eseq, ++next);
		if (next % 997 == 0)
			assert_in_range(most_below(pkt), 0, 14);
		tn_flow_unwait(&f, pkt);
		assert_int_equal(tn_flow_turn(&f, pkt), TN_FLOW_NOW);
		tn_flow_done(&f, pkt);
	}
	assert_int_equal(next, MANY + 1);
	assert_int_equal(f.waiting, 0);
	assert_int_equal(f.wait_bytes, 0);
}

static u32 rising(u32 i) { return i; }
static u32 falling(u32 i) { return MANY - 1 - i; }
static u32 mixed(u32 i) { return i * 4099 % MANY; }
static u32 first_last(u32 i) { return i ? i - 1 : MANY - 1; }

static void packets_leave_in_order_in_any_order_of_arrival(void **state)
{
	(void)state;
	wait_and_leave(rising);
	wait_and_leave(falling);
	wait_and_leave(mixed);
	wait_and_leave(first_last);
}

#define SHARE (TN_FLOW_BUCKETS / TN_FLOW_VCS)	/* nodes this far apart share a bucket */

/* The packets of node @src leave in the order of @eseq; @n of them. */
static void leave_in_order(u32 src, const u32 *eseq, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		struct tn_pkt *pkt = tn_flow_next(&f);

		/* a gap before it was given up */
		if (!pkt) {
			tn_flow_close_gap(&f, make(src, 0, 0, 0));
			pkt = tn_flow_next(&f);
		}
		assert_non_null(pkt);
		assert_true(pkt->hdr.src == src && pkt->tail.eseq == eseq[i]);
		tn_flow_unwait(&f, pkt);
		assert_true(!pkt->next && !pkt->child);
		assert_int_equal(tn_flow_done(&f, pkt), i + 1 < n);
	}
	assert_null(tn_flow_next(&f));
}

/*
 * Flows that share a bucket do not mix, in whichever order their packets come and go: new ones,
 * whose numbers are those from 0 on, and old ones, whose numbers may begin again.
 */
static void flows_of_one_bucket_do_not_mix(void **state)
{
	static const u32 numbers[3][6] = {
		{ 1, 2, 7, 8, 0x100, 0x2000000 },
		{ 0xffffffff, 0, 1, 5, 6, 0x10000 },
		{ 0x7fffffff, 0x80000000, 0x80000001, 0x80000007, 0x80000100, 0x80010000 },
	};
	static const u8 orders[][6] = {
		{ 0, 1, 2, 3, 4, 5 }, { 5, 4, 3, 2, 1, 0 }, { 3, 0, 5, 1, 4, 2 }, { 2, 5, 0, 4, 1, 3 },
	};

	(void)state;
	for (u32 o = 0; o < 4 * 4; o++) {
		begin();
		for (u32 i = 0; i < 3; i++)	/* node 1 of the bucket has an old flow */
			rx[(1 + SHARE * i) * TN_FLOWS] = (struct tn_flow_rx) {
				.expected = i == 1 ? 0xfffffffe : 0, .epoch = 1,
				.flags = TN_FLOW_KNOWN | (i == 1 ? 0 : TN_FLOW_FRESH),
			};
		for (u32 i = 0; i < 6 * 3; i++) {
			u32 src = 1 + SHARE * (i % 3), at = orders[o % 4][i / 3];

			waits(src, 0, numbers[i % 3][at], 1, 5);
			assert_null(tn_flow_next(&f));
		}
		for (u32 i = 0; i < 3; i++) {
			u32 which = (i + o / 4) % 3;

			/* the first one was never missing, or is given up */
			if (which < 2)
				assert_true(done(1 + SHARE * which, 0, which ? 0xfffffffe : 0));
			leave_in_order(1 + SHARE * which, numbers[which], 6);
		}
		assert_true(!f.waiting && !f.wait_bytes);
	}
}

/* All that waits is taken out, from the first bucket to the last. */
static void all_waiting_packets_are_taken_out(void **state)
{
	struct tn_queue out = { 0 };

	(void)state;
	begin();
	for (u32 src = 0; src < TN_FLOW_BUCKETS; src++) {
		waits(src, 0, 3, 1, 5);
		waits(src, 1, 2, 1, 5);
	}
	tn_flows_empty(&f, &out);
	assert_int_equal(out.count, 2 * TN_FLOW_BUCKETS);
	for (u32 b = 0; b < TN_FLOW_BUCKETS; b++)
		assert_null(f.wait[b]);
}

static struct tn_pkt sent_to(u32 dst, u8 service)
{
	return (struct tn_pkt) { .hdr = { .dst = dst, .type = TN_DATA }, .tail = { .vb = service } };
}

/* Each flow counts its own packets, one by one or several at once. */
static void flows_to_each_node_count_their_packets(void **state)
{
	(void)state;
	begin();
	for (u32 i = 0; i < 4 * TN_FLOWS * 3; i++) {
		u32 dst = i % 4, vc = i / 4 % 2, service = i / 8 % 2, round = i / 16;
		struct tn_pkt pkt = sent_to(dst, (u8)service);

		tn_flow_stamp(&f, &pkt, vc);
		assert_int_equal(pkt.tail.eseq, round * (i % 16 + 1));
		assert_int_equal(pkt.tail.epoch, 0);
		tn_flow_stamped(&f, &pkt, vc, i % 16);
	}
	for (u32 vc = TN_FLOW_VCS; vc < 4; vc++) {	/* packets of VCA have no number */
		struct tn_pkt pkt = sent_to(1, 0);

		tn_flow_stamp(&f, &pkt, vc);
		assert_true(!pkt.tail.eseq && !pkt.tail.epoch);
	}
}

/* A numbering begins for all flows to one node, and once in a version. */
static void numbering_begins_for_all_flows_to_a_node(void **state)
{
	(void)state;
	for (u32 dst = 0; dst < 5; dst++) {
		begin();
		for (u32 i = 0; i < 5 * TN_FLOWS; i++)
			tx[i].next = 7;
		tn_flow_begin(&f, dst, 0x10003);
		for (u32 i = 0; i < 5 * TN_FLOWS; i++) {
			assert_int_equal(tx[i].next, i / TN_FLOWS == dst ? 0 : 7);
			assert_int_equal(tx[i].epoch, i / TN_FLOWS == dst ? 3 : 0);
			tx[i].next = 9;
		}
		tn_flow_begin(&f, dst, 0x10003);
		for (u32 i = 0; i < 5 * TN_FLOWS; i++)
			assert_int_equal(tx[i].next, 9);
	}
}

/* A slice marks the flows of its nodes; with the last slice all flows are done. */
static void slices_mark_their_flows_as_old(void **state)
{
	const u64 version = 5ull << 12;

	(void)state;
	for (u32 first = 0; first < 6; first++) {
		for (u32 n = 0; n <= 6 - first; n++) {
			begin();
			f.nodes = 6;
			tn_flows_age(&f, first, n, version);	/* all epochs are 0 */
			for (u32 i = 0; i < 7 * TN_FLOWS; i++) {
				u32 node = i / TN_FLOWS;
				bool in = node >= first && node < first + n;

				assert_int_equal(rx[i].flags, in ? TN_FLOW_OLD : 0);
				rx[i].flags = 0;
			}
			assert_true(f.aged == (first + n == 6 ? version : 0));
			tn_flows_age(&f, 0, 6, version + 0xfff);
			assert_int_equal(rx[0].flags, first + n == 6 ? 0 : TN_FLOW_OLD);
		}
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(packet_whose_turn_it_is_is_found_in_each_flow),
		cmocka_unit_test(each_of_many_waiting_packets_is_found_in_turn),
		cmocka_unit_test(count_bytes_and_age_of_waiting_packets_are_right),
		cmocka_unit_test(gap_is_closed_only_in_its_flow),
		cmocka_unit_test(epochs_too_far_behind_are_old),
		cmocka_unit_test(packets_leave_in_order_in_any_order_of_arrival),
		cmocka_unit_test(flows_of_one_bucket_do_not_mix),
		cmocka_unit_test(all_waiting_packets_are_taken_out),
		cmocka_unit_test(flows_to_each_node_count_their_packets),
		cmocka_unit_test(numbering_begins_for_all_flows_to_a_node),
		cmocka_unit_test(slices_mark_their_flows_as_old),
	};

	return cmocka_run_group_tests_name("flow_waits", all, NULL, NULL);
}
