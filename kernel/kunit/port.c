// SPDX-License-Identifier: GPL-2.0-only
/* Ports and lower devices: which devices may be bound, when they are released, and the errors. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>

#include "lab.h"

#define TAKES 4144	/* MTU for packets of the default payload_max */

static void detach(struct torus_soft *s, unsigned int port)
{
	rtnl_lock();
	torus_port_detach(s, port);
	rtnl_unlock();
}

static bool carrier(struct torus_soft *s, unsigned int port)
{
	struct tn_link_info info;

	torus_soft_lock(s);
	tn_nic_link_info(s->soft.nic, port, &info, torus_now(s));
	torus_soft_unlock_read(s);
	return info.carrier;
}

static bool linked(struct net_device *lower, struct torus_soft *s)
{
	bool yes;

	rtnl_lock();
	yes = netdev_has_upper_dev(lower, s->dev.netdev) && netdev_is_rx_handler_busy(lower);
	rtnl_unlock();
	return yes;
}

static void set_mtu(struct net_device *dev, int mtu)
{
	rtnl_lock();
	dev_set_mtu(dev, mtu);
	rtnl_unlock();
}

static void attached_device_carries_frames_until_detached(struct kunit *test)
{
	struct net_device *lower = lab_lower(test, "ktl0", 9000);
	struct torus_soft *s = lab_nic(test, 4, 0);

	KUNIT_EXPECT_FALSE(test, carrier(s, 2));
	KUNIT_ASSERT_EQ(test, lab_attach(s, 2, "ktl0"), 0);
	KUNIT_EXPECT_TRUE(test, linked(lower, s));
	KUNIT_EXPECT_TRUE(test, carrier(s, 2));
	KUNIT_EXPECT_STREQ(test, s->soft.port[2].lower, "ktl0");
	/* Binding the bound device again changes nothing. */
	KUNIT_EXPECT_EQ(test, lab_attach(s, 2, "ktl0"), 0);
	detach(s, 2);
	KUNIT_EXPECT_FALSE(test, linked(lower, s));
	KUNIT_EXPECT_FALSE(test, carrier(s, 2));
	KUNIT_EXPECT_STREQ(test, s->soft.port[2].lower, "");
	detach(s, 2);
	KUNIT_EXPECT_EQ(test, lab_attach(s, 0, "ktl0"), 0);
}

static void attaching_another_device_replaces_the_first(struct kunit *test)
{
	struct net_device *first = lab_lower(test, "ktl0", 9000);
	struct net_device *second = lab_lower(test, "ktl1", 9000);
	struct torus_soft *s = lab_nic(test, 2, 0);

	KUNIT_ASSERT_EQ(test, lab_attach(s, 0, "ktl0"), 0);
	KUNIT_ASSERT_EQ(test, lab_attach(s, 0, "ktl1"), 0);
	KUNIT_EXPECT_FALSE(test, linked(first, s));
	KUNIT_EXPECT_TRUE(test, linked(second, s));
	/* The refused device leaves the port as it was. */
	KUNIT_EXPECT_EQ(test, lab_attach(s, 0, "none"), -ENODEV);
	KUNIT_EXPECT_EQ(test, lab_attach(s, 0, "lo"), -EINVAL);
	KUNIT_EXPECT_TRUE(test, linked(second, s));
}

/*
 * Does what `ip link set LOWER master NIC` does. Return: its result; -ENOMSG: an error without a
 * reason.
 */
static int enslave(struct torus_soft *s, struct net_device *lower)
{
	const struct net_device_ops *ops = s->dev.netdev->netdev_ops;
	struct netlink_ext_ack extack = { 0 };
	int err;

	rtnl_lock();
	err = ops->ndo_add_slave(s->dev.netdev, lower, &extack);
	rtnl_unlock();
	return err && !extack._msg ? -ENOMSG : err;
}

static int unslave(struct torus_soft *s, struct net_device *lower)
{
	int err;

	rtnl_lock();
	err = s->dev.netdev->netdev_ops->ndo_del_slave(s->dev.netdev, lower);
	rtnl_unlock();
	return err;
}

static const struct net_device *master(struct net_device *lower)
{
	const struct net_device *dev;

	rtnl_lock();
	dev = netdev_master_upper_dev_get(lower);
	rtnl_unlock();
	return dev;
}

/* A NIC is the master of the devices of its ports, and takes one for its first free port. */
static void nic_is_master_of_devices_of_its_ports(struct kunit *test)
{
	struct net_device *l0 = lab_lower(test, "ktl0", 9000), *l1 = lab_lower(test, "ktl1", 9000);
	struct net_device *l2 = lab_lower(test, "ktl2", 9000);
	struct torus_soft *s = lab_nic(test, 2, 0), *other = lab_nic(test, 2, 0);

	KUNIT_ASSERT_EQ(test, lab_attach(s, 1, "ktl1"), 0);
	KUNIT_EXPECT_PTR_EQ(test, master(l1), (const struct net_device *)s->dev.netdev);
	KUNIT_EXPECT_EQ(test, enslave(other, l1), -EBUSY);
	KUNIT_EXPECT_EQ(test, enslave(s, l1), -EBUSY);
	KUNIT_ASSERT_EQ(test, enslave(s, l0), 0);
	KUNIT_EXPECT_STREQ(test, s->soft.port[0].lower, "ktl0");
	KUNIT_EXPECT_TRUE(test, carrier(s, 0));
	KUNIT_EXPECT_EQ(test, enslave(s, l2), -EBUSY);
	KUNIT_EXPECT_NULL(test, master(l2));
	KUNIT_EXPECT_EQ(test, unslave(s, l1), 0);
	KUNIT_EXPECT_NULL(test, master(l1));
	KUNIT_EXPECT_FALSE(test, carrier(s, 1));
	KUNIT_EXPECT_TRUE(test, carrier(s, 0));
	KUNIT_EXPECT_EQ(test, enslave(s, other->dev.netdev), -EINVAL);
	KUNIT_ASSERT_EQ(test, enslave(s, l2), 0);
	KUNIT_EXPECT_STREQ(test, s->soft.port[1].lower, "ktl2");
}

static void device_that_is_no_ethernet_is_refused(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0), *other = lab_nic(test, 2, 0);

	KUNIT_EXPECT_EQ(test, lab_attach(s, 0, "lo"), -EINVAL);
	KUNIT_EXPECT_EQ(test, lab_attach(s, 0, "none"), -ENODEV);
	KUNIT_EXPECT_EQ(test, lab_attach(s, 0, ""), -ENODEV);
	KUNIT_EXPECT_EQ(test, lab_attach(s, 0, other->dev.netdev->name), -EINVAL);
}

/* A NIC's own netdev cannot be bound to its ports, and a device can be bound to one port only. */
static void nic_cannot_be_bound_to_its_own_port(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 4, 0), *other = lab_nic(test, 4, 0);
	struct net_device *lower = lab_lower(test, "ktl0", 9000);
	struct net_device *second = lab_lower(test, "ktl1", 9000);

	KUNIT_EXPECT_EQ(test, lab_attach(s, 0, s->dev.netdev->name), -EINVAL);
	KUNIT_ASSERT_EQ(test, lab_attach(s, 0, "ktl0"), 0);
	KUNIT_EXPECT_EQ(test, lab_attach(s, 1, "ktl0"), -EBUSY);
	KUNIT_EXPECT_EQ(test, lab_attach(other, 1, "ktl0"), -EBUSY);
	KUNIT_EXPECT_TRUE(test, linked(lower, s));
	KUNIT_EXPECT_FALSE(test, linked(lower, other));
	/* A refused device leaves the port as it was. */
	KUNIT_EXPECT_EQ(test, lab_attach(other, 1, "ktl1"), 0);
	KUNIT_EXPECT_EQ(test, lab_attach(other, 1, "ktl0"), -EBUSY);
	KUNIT_EXPECT_TRUE(test, linked(second, other));
}

static rx_handler_result_t not_ours(struct sk_buff **pskb)
{
	return RX_HANDLER_PASS;
}

static void device_with_another_rx_handler_is_refused(struct kunit *test)
{
	struct net_device *lower = lab_lower(test, "ktl0", 9000);
	struct torus_soft *s = lab_nic(test, 2, 0);
	int err;

	rtnl_lock();
	err = netdev_rx_handler_register(lower, not_ours, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, lab_attach(s, 0, "ktl0"), -EBUSY);
	rtnl_lock();
	KUNIT_EXPECT_FALSE(test, netdev_has_upper_dev(lower, s->dev.netdev));
	netdev_rx_handler_unregister(lower);
	rtnl_unlock();
	KUNIT_EXPECT_EQ(test, lab_attach(s, 0, "ktl0"), 0);
}

static void port_of_device_with_too_small_mtu_has_no_carrier(struct kunit *test)
{
	struct net_device *lower = lab_lower(test, "ktl0", TAKES - 1);
	struct torus_soft *s = lab_nic(test, 2, 0);

	KUNIT_EXPECT_EQ(test, lab_attach(s, 0, "ktl0"), -EINVAL);
	set_mtu(lower, TAKES);
	KUNIT_ASSERT_EQ(test, lab_attach(s, 0, "ktl0"), 0);
	KUNIT_EXPECT_TRUE(test, carrier(s, 0));
	set_mtu(lower, TAKES - 1);
	KUNIT_EXPECT_FALSE(test, carrier(s, 0));
	set_mtu(lower, 9000);
	KUNIT_EXPECT_TRUE(test, carrier(s, 0));
}

static void carrier_follows_lower_device(struct kunit *test)
{
	struct net_device *lower = lab_lower(test, "ktl0", 9000);
	struct torus_soft *s = lab_nic(test, 2, 0);

	KUNIT_ASSERT_EQ(test, lab_attach(s, 0, "ktl0"), 0);
	rtnl_lock();
	dev_close(lower);
	rtnl_unlock();
	KUNIT_EXPECT_FALSE(test, carrier(s, 0));
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_open(lower, NULL), 0);
	rtnl_unlock();
	KUNIT_EXPECT_TRUE(test, carrier(s, 0));
}

static void removed_lower_device_leaves_port(struct kunit *test)
{
	struct net_device *lower = lab_lower(test, "ktl0", 9000);
	struct torus_soft *s = lab_nic(test, 2, 0);

	KUNIT_ASSERT_EQ(test, lab_attach(s, 0, "ktl0"), 0);
	lab_lower_del(lower);
	KUNIT_EXPECT_FALSE(test, carrier(s, 0));
	KUNIT_EXPECT_STREQ(test, s->soft.port[0].lower, "");
	KUNIT_EXPECT_EQ(test, lab_attach(s, 0, "ktl0"), -ENODEV);
}

/*
 * A NIC that is being removed binds no device, and a thread that waits to set its carrier does not
 * set it.
 */
static void nic_being_removed_accepts_no_device(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	struct torus_refusal why;
	struct net_device *lower;
	bool was, is;
	int err;

	lower = lab_lower(test, "ktl0", 9000);
	lab_place(test, s, 3);
	rtnl_lock();
	was = netif_carrier_ok(s->dev.netdev);
	unregister_netdevice(s->dev.netdev);	/* the netdev is freed when RTNL is released */
	err = torus_port_attach(s, 0, "ktl0", &why);
	torus_soft_lock(s);
	torus_soft_unlock(s);
	is = netif_carrier_ok(s->dev.netdev);
	rtnl_unlock();
	KUNIT_EXPECT_TRUE(test, was);
	KUNIT_EXPECT_FALSE(test, is);
	KUNIT_EXPECT_EQ(test, err, -ENODEV);
	rtnl_lock();
	KUNIT_EXPECT_FALSE(test, netdev_is_rx_handler_busy(lower));
	rtnl_unlock();
}

static void each_port_takes_one_device_and_no_port_more(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, TORUS_MAX_PORTS, 0);
	struct sk_buff *skb;
	unsigned int bad;
	char name[IFNAMSIZ];

	for (unsigned int i = 0; i < TORUS_MAX_PORTS; i++) {
		snprintf(name, sizeof(name), "ktl%u", i);
		lab_lower(test, name, 9000);
		KUNIT_EXPECT_EQ(test, lab_attach(s, i, name), 0);
		KUNIT_EXPECT_TRUE(test, carrier(s, i));
	}
	/* The NIC has no port with this number. */
	s = lab_nic(test, 2, 0);
	skb = lab_msg(TORUS_CMD_LINK_ATTACH);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	nla_put_u8(skb, TORUS_A_PORT, 2);
	nla_put_string(skb, TORUS_A_LOWER, "ktl0");
	KUNIT_EXPECT_EQ(test, lab_send(s, skb, &bad), -EINVAL);
	KUNIT_EXPECT_EQ(test, bad, (unsigned int)TORUS_A_PORT);
}

/* --- what is not for the NIC ------------------------------------------------------------ */

static unsigned int left_alone;

static int see_left(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
		    struct net_device *orig)
{
	left_alone++;
	kfree_skb(skb);
	return 0;
}

static u64 frames(struct torus_soft *s)
{
	u64 n;

	torus_soft_lock(s);
	n = tn_nic_port_counters(s->soft.nic, 0, torus_now(s))[TORUS_PC_RX_FRAMES];
	torus_soft_unlock_read(s);
	return n;
}

static u8 sender[ETH_ALEN];

/* Lets a frame arrive at @lower. Return: true if the NIC left it to the host, unchanged. */
static bool left(struct kunit *test, struct torus_soft *s, struct net_device *lower, u16 proto,
		 u8 pkt_type, bool tagged)
{
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);
	u64 before = frames(s);
	unsigned int i;
	bool handled;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, ETH_HLEN);
	skb_put_zero(skb, 64);
	skb->dev = lower;
	skb->protocol = htons(proto);
	skb->pkt_type = pkt_type;
	skb_push(skb, ETH_HLEN);
	skb_reset_mac_header(skb);
	ether_addr_copy(eth_hdr(skb)->h_source, sender);
	skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	if (tagged)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), 7);
	left_alone = 0;
	local_bh_disable();
	netif_receive_skb(skb);
	/*
	 * If NAPI was not scheduled, a waiting frame would lie there until a timer of the NIC
	 * fires.
	 */
	handled = test_bit(NAPI_STATE_SCHED, &s->napi.state) || skb_queue_empty(&s->port[0].rx);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, handled);
	for (i = 0; i < 1000 && !left_alone && frames(s) == before; i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, frames(s) - before + left_alone, 1ull);
	return left_alone;
}

/* Frames of other types, VLAN frames, and frames from no station are left to the host. */
static void frames_of_other_types_are_left_to_host(struct kunit *test)
{
	struct net_device *lower = lab_lower(test, "ktl0", 9000);
	struct torus_soft *s = lab_nic(test, 2, 0);
	struct packet_type host = { .type = htons(TN_ETHERTYPE), .dev = lower, .func = see_left };
	struct packet_type next = { .type = htons(TN_ETHERTYPE + 1), .dev = lower,
				    .func = see_left };

	KUNIT_ASSERT_EQ(test, lab_attach(s, 0, "ktl0"), 0);
	dev_add_pack(&host);
	dev_add_pack(&next);
	eth_random_addr(sender);
	KUNIT_EXPECT_FALSE(test, left(test, s, lower, TN_ETHERTYPE, PACKET_HOST, false));
	KUNIT_EXPECT_FALSE(test, left(test, s, lower, TN_ETHERTYPE, PACKET_BROADCAST, false));
	KUNIT_EXPECT_FALSE(test, left(test, s, lower, TN_ETHERTYPE, PACKET_MULTICAST, false));
	KUNIT_EXPECT_TRUE(test, left(test, s, lower, TN_ETHERTYPE + 1, PACKET_HOST, false));
	KUNIT_EXPECT_TRUE(test, left(test, s, lower, TN_ETHERTYPE, PACKET_OTHERHOST, false));
	KUNIT_EXPECT_TRUE(test, left(test, s, lower, TN_ETHERTYPE, PACKET_LOOPBACK, false));
	KUNIT_EXPECT_TRUE(test, left(test, s, lower, TN_ETHERTYPE, PACKET_HOST, true));
	eth_zero_addr(sender);
	KUNIT_EXPECT_TRUE(test, left(test, s, lower, TN_ETHERTYPE, PACKET_HOST, false));
	eth_broadcast_addr(sender);
	KUNIT_EXPECT_TRUE(test, left(test, s, lower, TN_ETHERTYPE, PACKET_HOST, false));
	dev_remove_pack(&next);
	dev_remove_pack(&host);
}

/* --- what NAPI takes ---------------------------------------------------------------------- */

/*
 * Puts @n frames into the queue of a port, in the form in which the handler of the lower device
 * queues them.
 */
static void wait_at(struct kunit *test, struct torus_soft *s, u8 port, unsigned int n)
{
	while (n--) {
		struct sk_buff *skb = alloc_skb(64, GFP_ATOMIC);

		if (!skb) {
			KUNIT_FAIL(test, "no memory");
			return;
		}
		skb_put_zero(skb, 64);
		memset(skb->cb, 0, sizeof(skb->cb));
		skb->cb[0] = (char)port;
		__skb_queue_tail(&s->port[port].rx, skb);
		s->port[port].rx_bytes += skb->truesize;
		set_bit(port, &s->rx_ports);
	}
}

static unsigned int waiting(const struct torus_soft *s)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->soft.hw.nports; i++)
		n += skb_queue_len(&s->port[i].rx);
	return n;
}

/*
 * Runs NAPI rounds of @budget frames until no frame waits. Each round takes the frames that wait,
 * up to the budget. While any frame waits, the round must ask NAPI for another one, because nothing
 * else would.
 */
static void expect_rounds(struct kunit *test, int budget, unsigned int a, unsigned int b,
			  unsigned int c)
{
	struct torus_soft *s = lab_nic(test, 4, 0);
	unsigned int left = a + b + c, took;
	struct sk_buff_head out;
	bool more = true;

	__skb_queue_head_init(&out);
	local_bh_disable();
	wait_at(test, s, 0, a);
	wait_at(test, s, 1, b);
	wait_at(test, s, 3, c);
	while (more && left) {
		more = torus_ports_take(s, &out, budget);
		took = skb_queue_len(&out);
		__skb_queue_purge(&out);
		KUNIT_EXPECT_EQ_MSG(test, took, min_t(unsigned int, left, budget), "%u %u %u by %d",
				    a, b, c, budget);
		left -= min(left, took);
		KUNIT_EXPECT_EQ(test, waiting(s), left);
		if (!left)
			KUNIT_EXPECT_EQ(test, s->port[0].rx_bytes + s->port[1].rx_bytes +
					s->port[3].rx_bytes, 0u);
	}
	KUNIT_EXPECT_EQ_MSG(test, left, 0u, "%u %u %u by %d", a, b, c, budget);
	more = torus_ports_take(s, &out, budget);
	local_bh_enable();
	KUNIT_EXPECT_FALSE(test, more);
	KUNIT_EXPECT_EQ(test, s->rx_ports, 0ul);
	KUNIT_EXPECT_TRUE(test, skb_queue_empty(&out));
}

static void poll_stays_within_its_budget(struct kunit *test)
{
	int budget;

	for (budget = 1; budget <= 8; budget++) {
		expect_rounds(test, budget, 3, 0, 0);
		expect_rounds(test, budget, 0, 1, 6);
		expect_rounds(test, budget, 2, 3, 2);
	}
}

/* If all ports have more frames than the budget, each port is served first in turn. */
static void each_port_is_served_first_in_turn(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 4, 0);
	struct sk_buff_head out;
	unsigned int i, rounds = 0;

	__skb_queue_head_init(&out);
	local_bh_disable();
	for (i = 0; i < 4; i++)
		wait_at(test, s, (u8)i, 10);
	for (rounds = 0; rounds < 8; rounds++)
		torus_ports_take(s, &out, 1);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, skb_queue_len(&s->port[i].rx), 8u);
	for (i = 0; i < 4; i++) {
		__skb_queue_purge(&s->port[i].rx);
		s->port[i].rx_bytes = 0;
	}
	__skb_queue_purge(&out);
	s->rx_ports = 0;
	local_bh_enable();
}

/* Return: a frame with @packets of the largest size; 0: with padding only. NULL: no memory. */
static struct sk_buff *new_frame(unsigned int packets)
{
	const struct tn_hdr h = { .type = TN_DATA, .len = TN_PAYLOAD_MAX / TN_FLIT };
	unsigned int bytes = tn_hdr_flits(&h) * TN_FLIT;
	struct sk_buff *skb = alloc_skb(TN_FLIT + packets * bytes + 64, GFP_ATOMIC);

	if (skb)	/* room for the Ethernet header */
		skb_reserve(skb, TN_FLIT);
	for (unsigned int i = 0; skb && i < packets; i++)
		tn_hdr_put(skb_put_zero(skb, bytes), &h);
	if (skb && !packets)
		skb_put_zero(skb, 64);
	return skb;
}

/*
 * At most 1024 frames wait at a port, and fewer if they have @bytes of memory before; further ones
 * are dropped. @packets: how many each frame has.
 */
static void expect_full(struct kunit *test, unsigned int packets, unsigned int bytes)
{
	struct net_device *lower = lab_lower(test, "ktl0", 9000);
	struct torus_soft *s = lab_nic(test, 2, 0);
	unsigned int i, sent = 1100, n, wait = 1024;
	u64 dropped;

	KUNIT_ASSERT_EQ(test, lab_attach(s, 0, "ktl0"), 0);
	local_bh_disable();	/* NAPI does not run */
	for (i = 0; i < sent; i++) {
		struct sk_buff *skb = new_frame(packets);

		if (!skb)
			break;
		skb->dev = lower;
		skb->protocol = htons(TN_ETHERTYPE);
		wait = min(wait, DIV_ROUND_UP(bytes, skb->truesize));
		skb_push(skb, ETH_HLEN);
		skb_reset_mac_header(skb);
		eth_random_addr(eth_hdr(skb)->h_source);
		skb_pull(skb, ETH_HLEN);
		netif_receive_skb(skb);
	}
	n = skb_queue_len(&s->port[0].rx);
	dropped = s->dev.ops->rx_drops(&s->dev, 0);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, i, sent);
	KUNIT_EXPECT_EQ(test, n, wait);
	KUNIT_EXPECT_EQ(test, dropped, (u64)(sent - wait));
	lab_lower_del(lower);
}

static void full_receive_queue_drops_frames(struct kunit *test)
{
	expect_full(test, 0, 8 << 20);
	expect_full(test, 3, 8 << 20);
}

/* Frames that a fault delays do not outlive the cable that they were sent on. */
static void delayed_frames_do_not_outlive_cable(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	struct torus_host_fault *f = &s->soft.port[1].fault;
	unsigned int i;

	lab_lower(test, "ktl0", 9000);
	torus_soft_lock(s);
	f->latency = TORUS_LATENCY_MAX;
	torus_soft_unlock(s);
	KUNIT_ASSERT_EQ(test, lab_attach(s, 1, "ktl0"), 0);
	for (i = 0; i < 1000 && !READ_ONCE(f->count); i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_GT(test, f->count, 0u);
	KUNIT_EXPECT_EQ(test, s->delays, 1u << 1);
	detach(s, 1);
	KUNIT_EXPECT_EQ(test, f->count, 0u);
	KUNIT_EXPECT_EQ(test, s->delays, 0u);
}

/* Asks for the link data of @lower, as rtnetlink does. Return: 0 or a negative errno. */
static int fill_port_data(struct sk_buff *skb, const struct net_device *dev,
			  const struct net_device *lower)
{
	int err;

	rtnl_lock();
	err = torus_link_ops.fill_slave_info(skb, dev, lower);
	rtnl_unlock();
	return err;
}

/* `ip -d link` shows of a lower device to which port it is bound. */
static void link_data_of_lower_device_has_its_port(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 4, 0);
	struct net_device *dev = s->dev.netdev, *lower = lab_lower(test, "ktl0", 9000);
	struct sk_buff *skb = alloc_skb(torus_link_ops.get_slave_size(dev, lower), GFP_KERNEL);
	const struct nlattr *a;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, skb_tailroom(skb) - (int)torus_link_ops.get_slave_size(dev, lower));
	KUNIT_EXPECT_EQ(test, fill_port_data(skb, dev, lower), 0);
	KUNIT_EXPECT_EQ(test, skb->len, 0u);
	KUNIT_ASSERT_EQ(test, lab_attach(s, 2, "ktl0"), 0);
	KUNIT_EXPECT_EQ(test, fill_port_data(skb, dev, lower), 0);
	a = (const struct nlattr *)skb->data;
	KUNIT_EXPECT_EQ(test, (int)skb->len, nla_total_size(sizeof(u8)));
	KUNIT_EXPECT_EQ(test, nla_type(a), IFLA_TORUS_SLAVE_PORT);
	KUNIT_EXPECT_EQ(test, nla_get_u8(a), 2);
	KUNIT_EXPECT_EQ(test, fill_port_data(skb, dev, lower), -EMSGSIZE);
	kfree_skb(skb);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(attached_device_carries_frames_until_detached),
	KUNIT_CASE(attaching_another_device_replaces_the_first),
	KUNIT_CASE(nic_is_master_of_devices_of_its_ports),
	KUNIT_CASE(device_that_is_no_ethernet_is_refused),
	KUNIT_CASE(nic_cannot_be_bound_to_its_own_port),
	KUNIT_CASE(device_with_another_rx_handler_is_refused),
	KUNIT_CASE(port_of_device_with_too_small_mtu_has_no_carrier),
	KUNIT_CASE(carrier_follows_lower_device),
	KUNIT_CASE(removed_lower_device_leaves_port),
	KUNIT_CASE(nic_being_removed_accepts_no_device),
	KUNIT_CASE(each_port_takes_one_device_and_no_port_more),
	KUNIT_CASE(frames_of_other_types_are_left_to_host),
	KUNIT_CASE(poll_stays_within_its_budget),
	KUNIT_CASE(each_port_is_served_first_in_turn),
	KUNIT_CASE(full_receive_queue_drops_frames),
	KUNIT_CASE(delayed_frames_do_not_outlive_cable),
	KUNIT_CASE(link_data_of_lower_device_has_its_port),
	{}
};

struct kunit_suite torus_port_suite = { .name = "torus-port", .test_cases = cases };
