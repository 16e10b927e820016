// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two NICs at the ends of one cable. Over a wire the payload's ECRC is there and is checked:
 * a byte that changed under way is noticed, counted, mended by the retry, and no host sees
 * it. Between NICs of one kernel, at the ends of a virtual cable, it is left out, unless there is
 * a queueing discipline in between; a mark alone, without such a cable, is not believed. A port
 * delivers delayed frames later, in order. While the link is up, frames of other stations do
 * nothing to it.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>

#include "lab.h"

#define MESSAGES 40
#define BYTES	3000
/* data packets before the first damaged one; one more before each further one */
#define EVERY	5
#define SHORT	(2 * NSEC_PER_MSEC)
#define LONG	(3600 * NSEC_PER_SEC)	/* longer than any test */

/**
 * struct pair - NICs 0 and 1 of a ring of 2, port 0 of the one to port 1 of the other
 * @cable: carries their frames
 * @nic: the two NICs
 * @data: packets of messages that have passed
 * @unsummed: those of @data without their ECRC
 * @damaged: those of @data in which a byte was changed
 * @next: value of @data at which the next byte is changed
 * @damage: change bytes
 * @mark: pretend that all frames come from a NIC of this kernel
 * @ambush: after each INIT, a stranger sends a frame
 * @broadcast: frames that were sent to all stations
 * @received: messages that the host of the second NIC was given
 * @wrong: those of @received that are not as they were sent
 */
struct pair {
	struct lab_cable cable;
	struct torus_soft *nic[2];
	unsigned int data, unsummed, damaged, next;
	unsigned int broadcast;
	bool damage, mark;
	bool ambush;
	unsigned int received, wrong;
};

static struct pair pair;

static void ambush(struct lab_cable *c, struct sk_buff *skb);

static u8 byte_at(unsigned int n, unsigned int at)
{
	return (u8)(n * 13 + at * 7 + (at >> 8));
}

static void see_packet(const struct lab_cable *c, u8 *packet, const struct tn_hdr *h)
{
	struct tn_tail t;

	tn_tail_get(packet + (1 + h->len) * TN_FLIT, &t);
	pair.data++;
	pair.unsummed += t.ecrc != tn_ecrc(packet + TN_FLIT, h, &t);
	if (!pair.damage || pair.data < pair.next)
		return;
	packet[TN_FLIT + h->len * TN_FLIT / 2] ^= 0x10;
	pair.damaged++;
	pair.next += EVERY + pair.damaged;
}

/*
 * Called for each data packet of a frame under way: may change a byte of it, or mark the frame.
 * Only frames of a wire are in one piece, and may be written to.
 */
static void touch(struct lab_cable *c, struct sk_buff *skb)
{
	struct tn_hdr h;
	unsigned int at;

	if (skb_linearize(skb))
		return;
	pair.broadcast += is_broadcast_ether_addr(eth_hdr(skb)->h_dest);
	if (pair.ambush)
		ambush(c, skb);
	for (at = 0; at + 2 * TN_FLIT <= skb->len; at += tn_hdr_flits(&h) * TN_FLIT) {
		tn_hdr_get(skb->data + at, &h);
		if (h.type == TN_PAD || at + tn_hdr_flits(&h) * TN_FLIT > skb->len)
			break;
		if (h.type == TN_DATA && h.len)
			see_packet(c, skb->data + at, &h);
	}
	if (pair.mark) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		skb->csum_level = SKB_MAX_CSUM_LEVEL;
	}
}

/* Receives messages as the host of nic[1], and compares each with the one that was sent. */
static rx_handler_result_t receive_message(struct sk_buff **pskb)
{
	struct sk_buff *skb = *pskb;
	unsigned int at;

	if (skb->len != BYTES || skb_linearize(skb))
		pair.wrong++;
	for (at = sizeof(struct iphdr); at < skb->len && at < BYTES; at++) {
		if (skb->data[at] == byte_at(pair.received, at))
			continue;
		pair.wrong++;
		break;
	}
	pair.received++;
	kfree_skb(skb);
	return RX_HANDLER_CONSUMED;
}

static bool send_message(unsigned int n)
{
	struct sk_buff *skb = alloc_skb(BYTES, GFP_KERNEL);
	struct iphdr *ip;
	unsigned int at;

	if (!skb)
		return false;
	ip = skb_put_zero(skb, sizeof(*ip));
	ip->version = 4;
	ip->ihl = 5;
	ip->daddr = htonl(10u << 24 | 1u << 16);
	for (at = sizeof(*ip); at < BYTES; at++)
		skb_put_u8(skb, byte_at(n, at));
	local_bh_disable();
	torus_tx_put(pair.nic[0], skb);
	local_bh_enable();
	return true;
}

static u8 state(struct torus_soft *s, unsigned int port)
{
	struct tn_link_info info;

	torus_soft_lock(s);
	tn_nic_link_info(s->soft.nic, port, &info, torus_now(s));
	torus_soft_unlock_read(s);
	return info.state;
}

static u64 errors(void)
{
	const u64 *counters;
	u64 n;

	torus_soft_lock(pair.nic[1]);
	counters = tn_nic_port_counters(pair.nic[1]->soft.nic, 1, torus_now(pair.nic[1]));
	n = counters[TORUS_PC_CRC_ERRORS];
	torus_soft_unlock_read(pair.nic[1]);
	return n;
}

static void rows(struct kunit *test, struct torus_soft *s, u32 to, u64 dir)
{
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_BEGIN, 1), 0);
	KUNIT_ASSERT_EQ(test, lab_put(s, 1, to, LAB_ROW | dir, 1), 0);
	KUNIT_ASSERT_EQ(test, lab_version(s, TORUS_CMD_ROWS_COMMIT, 1), 0);
}

/*
 * With @on, sets up the netdev through which nic[1] delivers messages, with receive_message() as
 * their receiver; else sets it down.
 */
static void listen(struct kunit *test, bool on)
{
	struct net_device *dev = pair.nic[1]->dev.netdev;
	int err = 0;

	rtnl_lock();
	if (on)
		err = dev_open(dev, NULL) ?: netdev_rx_handler_register(dev, receive_message, NULL);
	else
		netdev_rx_handler_unregister(dev);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, err, 0);
}

static void join_by(struct kunit *test, struct lab_cable cable)
{
	unsigned int i;

	pair = (struct pair) { .cable = cable };
	pair.cable.touch = touch;
	lab_cable(test, &pair.cable);
	for (i = 0; i < 2; i++) {
		pair.nic[i] = lab_nic(test, 2, 0);
		lab_place_at(test, pair.nic[i], 2, (u16)i);
	}
	rows(test, pair.nic[0], 1, 1 << 0);
	rows(test, pair.nic[1], 0, 1 << 1);
	KUNIT_ASSERT_EQ(test, lab_attach(pair.nic[0], 0, "ktc0"), 0);
	KUNIT_ASSERT_EQ(test, lab_attach(pair.nic[1], 1, "ktc1"), 0);
	for (i = 0; i < 5000 && (state(pair.nic[0], 0) != TORUS_LINK_UP ||
				 state(pair.nic[1], 1) != TORUS_LINK_UP); i++)
		usleep_range(1000, 2000);
	KUNIT_ASSERT_EQ(test, state(pair.nic[0], 0), TORUS_LINK_UP);
	KUNIT_ASSERT_EQ(test, state(pair.nic[1], 1), TORUS_LINK_UP);
}

static void join(struct kunit *test, bool virtual)
{
	join_by(test, (struct lab_cable) { .virtual = virtual });
}

/* Sends all messages, and checks that each arrives unchanged, once and in order. */
static void converse(struct kunit *test)
{
	unsigned int i;

	listen(test, true);
	for (i = 0; i < MESSAGES; i++)
		KUNIT_EXPECT_TRUE(test, send_message(i));
	for (i = 0; i < 10000 && READ_ONCE(pair.received) < MESSAGES; i++)
		usleep_range(1000, 2000);
	listen(test, false);
	KUNIT_EXPECT_EQ(test, pair.received, (unsigned int)MESSAGES);
	KUNIT_EXPECT_EQ(test, pair.wrong, 0u);
	KUNIT_EXPECT_GE(test, pair.data, (unsigned int)MESSAGES);
}

static void packets_over_wire_have_ecrc(struct kunit *test)
{
	join(test, false);
	converse(test);
	KUNIT_EXPECT_EQ(test, pair.unsummed, 0u);
	KUNIT_EXPECT_EQ(test, errors(), 0ull);
}

/* Damages packets, and checks that the rest of a frame after a damaged packet is not read. */
static void damaged(struct kunit *test, bool mark)
{
	join(test, false);
	pair.damage = true;
	pair.mark = mark;
	converse(test);
	KUNIT_EXPECT_GT(test, pair.damaged, 0u);
	KUNIT_EXPECT_GT(test, errors(), 0ull);
	KUNIT_EXPECT_LE(test, errors(), (u64)pair.damaged);
	KUNIT_EXPECT_GT(test, pair.data, (unsigned int)MESSAGES);
}

static void damaged_frames_are_noticed_and_sent_again(struct kunit *test)
{
	damaged(test, false);
}

static void marked_packets_are_dropped_and_their_copies_taken(struct kunit *test)
{
	damaged(test, true);
}

static void packets_over_virtual_cable_have_no_ecrc(struct kunit *test)
{
	join(test, true);
	converse(test);
	/* A slow machine may cause retransmissions, and retransmitted packets have their ECRC. */
	KUNIT_EXPECT_EQ(test, pair.unsummed, (unsigned int)MESSAGES);
	KUNIT_EXPECT_EQ(test, errors(), 0ull);
}

/*
 * A queueing discipline may damage frames, as netem does, so packets over it must have their ECRC.
 */
static void packets_through_queueing_discipline_have_ecrc(struct kunit *test)
{
	join_by(test, (struct lab_cable) { .virtual = true, .queued = true });
	converse(test);
	KUNIT_EXPECT_EQ(test, pair.unsummed, 0u);
	KUNIT_EXPECT_EQ(test, errors(), 0ull);
}

/* Programs that the driver cannot see may change frames between netkit devices. */
static void packets_over_netkit_devices_have_ecrc(struct kunit *test)
{
	join_by(test, (struct lab_cable) { .virtual = true, .netkit = true });
	converse(test);
	KUNIT_EXPECT_EQ(test, pair.unsummed, 0u);
	KUNIT_EXPECT_EQ(test, errors(), 0ull);
}

static u64 now(struct torus_soft *s)
{
	u64 at;

	torus_soft_lock(s);
	at = torus_now(s);
	torus_soft_unlock_read(s);
	return at;
}

static u64 changes(struct torus_soft *s, unsigned int port)
{
	u64 n;

	torus_soft_lock(s);
	n = tn_nic_port_counters(s->soft.nic, port, torus_now(s))[TORUS_PC_STATE_CHANGES];
	torus_soft_unlock_read(s);
	return n;
}

/*
 * No NIC of the machine gets processor time for longer than a link stays up without a frame. The
 * first NIC that runs again must not take this for silence of its peer. A command that runs
 * meanwhile must not read a time that is later than that of the next round.
 */
static void link_stays_up_if_whole_machine_stands_still(struct kunit *test)
{
	u64 before, latest;

	join(test, true);
	before = changes(pair.nic[0], 0) + changes(pair.nic[1], 1);
	local_bh_disable();
	mdelay(1500);
	latest = now(pair.nic[0]);
	local_bh_enable();
	usleep_range(10000, 20000);
	KUNIT_EXPECT_GE(test, now(pair.nic[0]), latest);
	converse(test);
	KUNIT_EXPECT_EQ(test, changes(pair.nic[0], 0) + changes(pair.nic[1], 1), before);
	KUNIT_EXPECT_EQ(test, state(pair.nic[0], 0), TORUS_LINK_UP);
	KUNIT_EXPECT_EQ(test, state(pair.nic[1], 1), TORUS_LINK_UP);
}

static void set_latency(struct torus_soft *s, unsigned int port, u64 ns)
{
	torus_soft_lock(s);
	s->soft.port[port].fault.latency = ns;
	torus_soft_unlock(s);
}

/*
 * Return: the number of delayed frames of port 0 of nic[0]; @ports: set to the mask of ports that
 * delay any.
 */
static unsigned int delayed(u32 *ports)
{
	struct torus_soft *s = pair.nic[0];
	unsigned int n;

	torus_soft_lock(s);
	n = s->soft.port[0].fault.count;
	*ports = s->delays;
	torus_soft_unlock_read(s);
	return n;
}

/* Return: true if more than @n frames are delayed in the end. */
static bool gets_delayed(unsigned int n)
{
	unsigned int i;
	u32 ports;

	for (i = 0; i < 5000 && delayed(&ports) <= n; i++)
		usleep_range(1000, 2000);
	return delayed(&ports) > n && ports == 1;
}

static void delayed_frames_arrive_and_leave_nothing(struct kunit *test)
{
	unsigned int i;
	u32 ports;

	join(test, false);
	set_latency(pair.nic[0], 0, SHORT);
	set_latency(pair.nic[1], 1, SHORT);
	converse(test);
	set_latency(pair.nic[0], 0, 0);
	for (i = 0; i < 5000 && delayed(&ports); i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, delayed(&ports), 0u);
	KUNIT_EXPECT_EQ(test, ports, 0u);
}

/* Lowers the latency: frames that are sent after that do not overtake those sent before. */
static void lower_latency_lets_no_frame_overtake(struct kunit *test)
{
	unsigned int n;
	u32 ports;

	join(test, false);
	listen(test, true);
	set_latency(pair.nic[0], 0, LONG);
	KUNIT_EXPECT_TRUE(test, send_message(0));
	KUNIT_EXPECT_TRUE(test, gets_delayed(0));
	set_latency(pair.nic[0], 0, 0);
	n = delayed(&ports);
	KUNIT_EXPECT_TRUE(test, send_message(1));
	KUNIT_EXPECT_TRUE(test, gets_delayed(n));
	listen(test, false);
	KUNIT_EXPECT_EQ(test, pair.received, 0u);
}

/* --- strangers ---------------------------------------------------------------------------- */

static u64 dropped(struct net_device *dev)
{
	struct rtnl_link_stats64 s;

	return dev_get_stats(dev, &s)->rx_dropped;
}

/* Return: the number of frames that nic[1] could not read. */
static u64 unread(void)
{
	const u64 *counters;
	u64 n;

	torus_soft_lock(pair.nic[1]);
	counters = tn_nic_port_counters(pair.nic[1]->soft.nic, 1, torus_now(pair.nic[1]));
	n = counters[TORUS_PC_CRC_ERRORS] + counters[TORUS_PC_MALFORMED];
	torus_soft_unlock_read(pair.nic[1]);
	return n;
}

/*
 * Sends a frame without a packet, with @bytes of memory, to @to; @from: the address of its sender.
 */
static bool throw_at(struct net_device *to, const u8 *from, unsigned int bytes)
{
	struct sk_buff *skb = alloc_skb(bytes + NET_IP_ALIGN, GFP_ATOMIC);
	struct ethhdr *eth;

	if (!skb)
		return false;
	skb_reserve(skb, NET_IP_ALIGN);
	eth = memset(skb_put(skb, 128), 0xa5, 128);
	eth_broadcast_addr(eth->h_dest);
	ether_addr_copy(eth->h_source, from);
	eth->h_proto = htons(TN_ETHERTYPE);
	skb->dev = pair.cable.end[0];
	dev_forward_skb(to, skb);
	return true;
}

/* Sends a frame as throw_at() does, to nic[1]. */
static void intrude(struct kunit *test, const u8 *from)
{
	bool thrown;

	local_bh_disable();
	thrown = throw_at(pair.cable.end[1], from, 128);
	local_bh_enable();
	KUNIT_ASSERT_TRUE(test, thrown);
}

/*
 * Frames of a station that is not the other end of the cable change nothing on a link that is up.
 */
static void frames_of_third_station_do_not_harm_link(struct kunit *test)
{
	u64 before;
	u8 from[ETH_ALEN];
	unsigned int i;

	join(test, false);
	eth_random_addr(from);
	before = dropped(pair.cable.end[1]);
	for (i = 0; i < 10; i++)
		intrude(test, from);
	for (i = 0; i < 5000 && dropped(pair.cable.end[1]) < before + 10; i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_GE(test, dropped(pair.cable.end[1]), before + 10);
	KUNIT_EXPECT_EQ(test, unread(), 0ull);
	/* The same frame from the address of the other end counts as an error. */
	intrude(test, pair.cable.end[0]->dev_addr);
	for (i = 0; i < 5000 && !unread(); i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_GT(test, unread(), 0ull);
	converse(test);
}

/* Sends, right after an INIT, a frame of another station that the port has to copy. */
static void ambush(struct lab_cable *c, struct sk_buff *skb)
{
	static const u8 stranger[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };
	struct net_device *to = c->end[0];
	struct sk_buff *init;
	struct tn_hdr h;

	tn_hdr_get(skb->data, &h);
	if (h.type != TN_INIT)
		return;
	if (ether_addr_equal(eth_hdr(skb)->h_source, c->end[0]->dev_addr))
		to = c->end[1];
	init = skb_copy(skb, GFP_ATOMIC);
	if (!init)
		return;
	skb_push(init, ETH_HLEN);
	dev_forward_skb(to, init);
	throw_at(to, stranger, 40000);
}

static void set_cable(unsigned int flags)
{
	unsigned int i;

	rtnl_lock();
	for (i = 0; i < 2; i++)
		dev_change_flags(pair.cable.end[i], (pair.cable.end[i]->flags & ~IFF_UP) | flags,
				 NULL);
	rtnl_unlock();
}

/* Frames of another station that the port copied before the link was up are dropped and counted. */
static void early_frames_of_third_station_are_dropped(struct kunit *test)
{
	unsigned int i;

	join(test, false);
	set_cable(0);
	pair.ambush = true;
	set_cable(IFF_UP);
	for (i = 0; i < 5000 && (state(pair.nic[0], 0) != TORUS_LINK_UP ||
				 state(pair.nic[1], 1) != TORUS_LINK_UP); i++)
		usleep_range(1000, 2000);
	pair.ambush = false;
	KUNIT_EXPECT_EQ(test, state(pair.nic[0], 0), TORUS_LINK_UP);
	KUNIT_EXPECT_EQ(test, state(pair.nic[1], 1), TORUS_LINK_UP);
	KUNIT_EXPECT_GT(test, dropped(pair.cable.end[0]) + dropped(pair.cable.end[1]), 0ull);
}

/* A link that is up addresses its frames to the other end only. */
static void link_addresses_frames_only_to_other_end(struct kunit *test)
{
	join(test, false);
	pair.broadcast = 0;
	converse(test);
	KUNIT_EXPECT_EQ(test, pair.broadcast, 0u);
}

/*
 * If the other end gets another address, the link fails, and comes up again with the new address.
 */
static void link_comes_up_again_with_new_address(struct kunit *test)
{
	unsigned int i;
	u64 before;

	join(test, false);
	before = changes(pair.nic[1], 1);
	rtnl_lock();
	eth_hw_addr_random(pair.cable.end[0]);
	rtnl_unlock();
	for (i = 0; i < 20000 && (changes(pair.nic[1], 1) == before ||
				  state(pair.nic[0], 0) != TORUS_LINK_UP ||
				  state(pair.nic[1], 1) != TORUS_LINK_UP); i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_NE(test, changes(pair.nic[1], 1), before);
	KUNIT_EXPECT_EQ(test, state(pair.nic[0], 0), TORUS_LINK_UP);
	KUNIT_EXPECT_EQ(test, state(pair.nic[1], 1), TORUS_LINK_UP);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(packets_over_wire_have_ecrc),
	KUNIT_CASE(damaged_frames_are_noticed_and_sent_again),
	KUNIT_CASE(marked_packets_are_dropped_and_their_copies_taken),
	KUNIT_CASE(packets_over_virtual_cable_have_no_ecrc),
	KUNIT_CASE(packets_through_queueing_discipline_have_ecrc),
	KUNIT_CASE(packets_over_netkit_devices_have_ecrc),
	KUNIT_CASE(link_stays_up_if_whole_machine_stands_still),
	KUNIT_CASE(delayed_frames_arrive_and_leave_nothing),
	KUNIT_CASE(lower_latency_lets_no_frame_overtake),
	KUNIT_CASE(frames_of_third_station_do_not_harm_link),
	KUNIT_CASE(early_frames_of_third_station_are_dropped),
	KUNIT_CASE(link_addresses_frames_only_to_other_end),
	KUNIT_CASE(link_comes_up_again_with_new_address),
	{}
};

struct kunit_suite torus_cable_suite = { .name = "torus-cable", .test_cases = cases };
