// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parking segment of a NIC whose only link is dead: it fills up to its limit, then the host has
 * to wait, and every byte is accounted for until the segment is empty again.
 */
#include <linux/ip.h>

#include "lab.h"

#define FLITS	5			/* flits of a packet, with header and tail */
#define BYTES	(TN_PACKET_MAX + 100)	/* not a multiple of the size of a packet */
#define ROOM	(BYTES / (FLITS * TN_FLIT))

/* Makes the NIC node 0 of a ring of 3, whose packets leave by port 0, which is dead. */
static void lead_nowhere(struct kunit *test, struct torus_soft *s)
{
	lab_place(test, s, 3);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_BEGIN, 1), 0);
	KUNIT_ASSERT_EQ(test, lab_put(s, 1, 1, LAB_ROW | 1, 2), 0);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_COMMIT, 1), 0);
}

static struct torus_soft *nic(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, BYTES);

	lead_nowhere(test, s);
	return s;
}

/*
 * Sends @n packets, each with its number in its payload. Return: the number of packets that the NIC
 * accepted.
 */
static u32 inject(struct kunit *test, struct torus_soft *s, u32 n)
{
	u32 done = 0;

	torus_soft_lock(s);
	while (done < n && tn_nic_room(s->soft.nic, 1 + done % 2, 0)) {
		struct tn_pkt *pkt = torus_pkt_alloc(FLITS - 2);

		if (!pkt)
			break;
		memset(pkt->payload, 0, (FLITS - 2) * TN_FLIT);
		pkt->hdr.len = FLITS - 2;
		if (tn_nic_send(s->soft.nic, pkt, 1 + done % 2, 0, torus_now(s))) {
			torus_pkt_free(pkt);
			break;
		}
		done++;
		tn_nic_work(s->soft.nic, torus_now(s));
	}
	torus_soft_unlock(s);
	return done;
}

static struct tn_park_info info(struct torus_soft *s)
{
	struct tn_park_info i;

	torus_soft_lock(s);
	tn_nic_park_info(s->soft.nic, &i);
	torus_soft_unlock_read(s);
	return i;
}

static int replay(struct torus_soft *s, u64 version)
{
	struct sk_buff *skb = lab_msg(TORUS_CMD_PARK_REPLAY);

	if (!skb)
		return -ENOMEM;
	nla_put(skb, TORUS_A_VERSION, sizeof(version), &version);
	nla_put_u16(skb, TORUS_A_PORTS, 1);
	return lab_send(s, skb, NULL);
}

static void parked_packets_and_bytes_are_counted(struct kunit *test)
{
	struct torus_soft *s = nic(test);

	KUNIT_EXPECT_EQ(test, info(s).bytes_max, (u64)BYTES);
	for (u32 n = 1; n <= ROOM; n++) {
		KUNIT_ASSERT_EQ(test, inject(test, s, 1), 1u);
		KUNIT_EXPECT_EQ(test, info(s).parked, (u64)n);
		KUNIT_EXPECT_EQ(test, info(s).bytes, (u64)n * FLITS * TN_FLIT);
	}
	KUNIT_EXPECT_EQ(test, lab_counter(s, TORUS_NC_PARKED), (u64)ROOM);
}

static void full_segment_makes_host_wait(struct kunit *test)
{
	struct torus_soft *s = nic(test);
	u32 taken = inject(test, s, 100000);

	KUNIT_EXPECT_EQ(test, info(s).parked, (u64)ROOM);
	KUNIT_EXPECT_LE(test, info(s).bytes, (u64)BYTES);
	/* Packets that do not fit wait in the injection queue, and then the host waits. */
	KUNIT_EXPECT_GT(test, taken, (u32)ROOM);
	KUNIT_EXPECT_LT(test, taken, 100000u);
	KUNIT_EXPECT_EQ(test, inject(test, s, 1), 0u);
	KUNIT_EXPECT_EQ(test, lab_counter(s, TORUS_NC_INJECTED), (u64)taken);
}

static void replay_of_other_version_is_refused(struct kunit *test)
{
	struct torus_soft *s = nic(test);

	inject(test, s, 10);
	KUNIT_EXPECT_EQ(test, replay(s, 0), -ESTALE);
	KUNIT_EXPECT_EQ(test, replay(s, 2), -ESTALE);
	KUNIT_EXPECT_EQ(test, info(s).parked, 10ull);
	/* A replay onto the same dead link parks all packets again, and loses none. */
	KUNIT_EXPECT_EQ(test, replay(s, 1), 0);
	torus_soft_lock(s);
	tn_nic_work(s->soft.nic, torus_now(s));
	torus_soft_unlock(s);
	KUNIT_EXPECT_EQ(test, info(s).parked, 10ull);
	KUNIT_EXPECT_EQ(test, info(s).bytes, 10ull * FLITS * TN_FLIT);
}

/* With rows that lead nowhere, a replay brings all parked packets back to the host. */
static void replay_without_rows_returns_packets_to_host(struct kunit *test)
{
	struct torus_soft *s = nic(test);
	u32 taken = inject(test, s, 100000);

	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_BEGIN, 2), 0);
	KUNIT_ASSERT_EQ(test, lab_put(s, 2, 0, 0, 3), 0);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_COMMIT, 2), 0);
	for (int i = 0; i < 20 && (info(s).parked || !i); i++) {
		KUNIT_EXPECT_EQ(test, replay(s, 2), 0);
		torus_soft_lock(s);
		tn_nic_work(s->soft.nic, torus_now(s));
		torus_soft_unlock(s);
	}
	KUNIT_EXPECT_EQ(test, info(s).parked, 0ull);
	KUNIT_EXPECT_EQ(test, info(s).bytes, 0ull);
	KUNIT_EXPECT_EQ(test, lab_counter(s, TORUS_NC_RETURNED), (u64)taken);
}

/*
 * The NIC is removed while its segment is full: kmemleak and the destructor check that all is
 * freed.
 */
static void nic_is_removed_with_full_segment(struct kunit *test)
{
	struct torus_soft *s = nic(test);

	KUNIT_EXPECT_GT(test, inject(test, s, 100000), (u32)ROOM);
}

#define LONG_MSG	60000
#define LONG_PART	128		/* bytes of it in each packet */

/* Sends a long message of the host to node 1. Return: true if the NIC took it. */
static bool put_long(struct torus_soft *s)
{
	struct sk_buff *skb = alloc_skb(LONG_MSG, GFP_KERNEL);
	struct iphdr *ip;

	if (!skb)
		return false;
	ip = skb_put_zero(skb, LONG_MSG);
	ip->version = 4;
	ip->ihl = 5;
	ip->daddr = htonl(10u << 24 | 1u << 16);
	local_bh_disable();
	torus_tx_put(s, skb);
	local_bh_enable();
	return true;
}

/*
 * A message of more packets than the NIC has room for at once is accepted as a whole. No link has a
 * carrier and no timer runs, so nothing would make room for the rest.
 */
static void message_longer_than_room_is_taken_whole(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 1 << 20);
	u32 n = DIV_ROUND_UP(TORUS_HOST_HDR + LONG_MSG, LONG_PART);

	lead_nowhere(test, s);
	s->soft.host.payload_max = LONG_PART;
	KUNIT_ASSERT_GT(test, n, tn_nic_room(s->soft.nic, 1, 0));
	KUNIT_ASSERT_TRUE(test, put_long(s));
	for (int i = 0; i < 1000 && info(s).parked < n; i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, info(s).parked, (u64)n);
}

/* --- its memory, a ring ------------------------------------------------------------- */

#define PACKETS	200

/*
 * Return: a packet of @flits in the segment, with @tag in each byte of its payload; NULL if the
 * segment is full.
 */
static struct tn_pkt *take(struct torus_soft *s, unsigned int flits, u8 tag)
{
	struct tn_pkt *pkt = torus_pkt_alloc(flits - 2);

	if (!pkt)
		return NULL;
	pkt->hdr.len = (u16)(flits - 2);
	memset(pkt->payload, tag, pkt->hdr.len * TN_FLIT);
	if (torus_park_take(s, pkt) && torus_park_of(pkt) == &s->park)
		return pkt;
	torus_pkt_free(pkt);
	return NULL;
}

static bool whole(const struct tn_pkt *pkt, u8 tag)
{
	return !memchr_inv(pkt->payload, tag, pkt->hdr.len * TN_FLIT);
}

/* Fills the segment with packets of @flits, wherever the ring begins now. */
static void fill(struct kunit *test, struct torus_soft *s, unsigned int flits)
{
	struct tn_queue q = { 0 };
	struct tn_pkt *pkt;
	u32 n;

	for (n = 0; n < BYTES / (flits * TN_FLIT); n++) {
		pkt = take(s, flits, 1);
		if (!pkt)
			break;
		tn_queue_push(&q, pkt);
	}
	KUNIT_EXPECT_EQ_MSG(test, n, (u32)(BYTES / (flits * TN_FLIT)), "of %u flits", flits);
	while ((pkt = tn_queue_pop(&q)))
		torus_pkt_free(pkt);
}

/*
 * The memory of the segment is allocated at once: all of park_bytes fits, for packets of any size
 * and wherever the ring begins.
 */
static void memory_of_segment_is_allocated_at_once(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, BYTES);

	KUNIT_ASSERT_NOT_NULL(test, s->park.mem);
	KUNIT_EXPECT_GE(test, s->park.size, (u32)BYTES);
	torus_soft_lock(s);
	for (unsigned int flits = 3; flits <= TN_PACKET_MAX / TN_FLIT; flits += 1 + flits / 8)
		fill(test, s, flits);
	KUNIT_EXPECT_EQ(test, s->park.head, s->park.tail);
	torus_soft_unlock(s);
}

/* Packets of all sizes come and go in any order: none is overwritten while it is parked. */
static void parked_packets_of_all_sizes_are_not_overwritten(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, BYTES);
	struct tn_pkt **live = kunit_kcalloc(test, PACKETS, sizeof(*live), GFP_KERNEL);
	u32 refused = 0, taken = 0, torn = 0, x = 12345;

	KUNIT_ASSERT_NOT_NULL(test, live);
	torus_soft_lock(s);
	for (u32 i = 0; i < 20000; i++) {
		u32 slot;

		x = x * 1664525 + 1013904223;
		slot = (x >> 8) % PACKETS;
		if (live[slot]) {
			torn += !whole(live[slot], (u8)slot);
			torus_pkt_free(live[slot]);
			live[slot] = NULL;
			continue;
		}
		live[slot] = take(s, 3 + (x >> 20) % (i % 2 ? 4 : 200), (u8)slot);
		if (live[slot])
			taken++;
		else
			refused++;
	}
	for (u32 slot = 0; slot < PACKETS; slot++) {
		if (!live[slot])
			continue;
		torn += !whole(live[slot], (u8)slot);
		torus_pkt_free(live[slot]);
	}
	KUNIT_EXPECT_EQ(test, torn, 0u);
	KUNIT_EXPECT_GT(test, taken, 1000u);
	KUNIT_EXPECT_GT(test, refused, 100u);
	KUNIT_EXPECT_EQ(test, s->park.head, s->park.tail);
	torus_soft_unlock(s);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(memory_of_segment_is_allocated_at_once),
	KUNIT_CASE(parked_packets_of_all_sizes_are_not_overwritten),
	KUNIT_CASE(parked_packets_and_bytes_are_counted),
	KUNIT_CASE(full_segment_makes_host_wait),
	KUNIT_CASE(replay_of_other_version_is_refused),
	KUNIT_CASE(replay_without_rows_returns_packets_to_host),
	KUNIT_CASE(nic_is_removed_with_full_segment),
	KUNIT_CASE(message_longer_than_room_is_taken_whole),
	{}
};

struct kunit_suite torus_park_suite = { .name = "torus-park", .test_cases = cases };
