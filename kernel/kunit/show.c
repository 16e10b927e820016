// SPDX-License-Identifier: GPL-2.0-only
/*
 * ethtool and `ip -s link` show each counter of a NIC under its name; a netlink dump is complete,
 * or reports that it is not.
 */
#include <linux/ethtool.h>
#include <linux/net.h>
#include <linux/rtnetlink.h>

#include "lab.h"

#define PORTS 4

/* --- ethtool ------------------------------------------------------------------------ */

#define X(id, name, unit, help) #name,
static const char *const node_names[] = { TORUS_NODE_COUNTER_LIST(X) };
static const char *const port_names[] = { TORUS_PORT_COUNTER_LIST(X) };
#undef X

/** struct shown - what `ethtool -S` shows */
struct shown {
	int n;
	u8 *names;
	u64 *values;
};

static struct shown show(struct kunit *test, struct torus_soft *s)
{
	const struct ethtool_ops *ops = s->dev.netdev->ethtool_ops;
	struct shown x = { .n = ops->get_sset_count(s->dev.netdev, ETH_SS_STATS) };
	struct ethtool_stats stats = { .n_stats = (u32)x.n };

	KUNIT_ASSERT_GT(test, x.n, 0);
	x.names = kunit_kzalloc(test, (size_t)x.n * ETH_GSTRING_LEN, GFP_KERNEL);
	x.values = kunit_kzalloc(test, (size_t)x.n * sizeof(u64), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, x.names);
	KUNIT_ASSERT_NOT_NULL(test, x.values);
	ops->get_strings(s->dev.netdev, ETH_SS_STATS, x.names);
	ops->get_ethtool_stats(s->dev.netdev, &stats, x.values);
	return x;
}

/* Return: true if the counter is one of those that all netdevs have. */
static bool is_common(unsigned int counter)
{
	return counter == TORUS_NC_HOST_MESSAGES_TX || counter == TORUS_NC_HOST_BYTES_TX ||
	       counter == TORUS_NC_HOST_MESSAGES_RX || counter == TORUS_NC_HOST_BYTES_RX ||
	       counter == TORUS_NC_HOST_DROPS || counter == TORUS_NC_HOST_TX_DROPS ||
	       counter == TORUS_NC_HOST_RX_DROPS;
}

/* Return: the value shown under @name; ~0 if it is not shown, or more than once. */
static u64 value(const struct shown *s, const char *name)
{
	u64 found = ~0ull;
	int i, times = 0;

	for (i = 0; i < s->n; i++) {
		if (strncmp((char *)s->names + i * ETH_GSTRING_LEN, name, ETH_GSTRING_LEN))
			continue;
		found = s->values[i];
		times++;
	}
	return times == 1 ? found : ~0ull;
}

static void all_counters_have_names_and_values(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, PORTS, 0);
	unsigned int i, p;
	struct shown x;
	char name[64];

	torus_soft_lock(s);
	for (i = 0; i < TORUS_NC_COUNT; i++)
		tn_nic_counters(s->soft.nic)[i] = 1000 + i;
	for (p = 0; p < PORTS; p++)
		atomic_long_set(&s->port[p].rx_dropped, 2000 + p);
	s->tx.waited = 3000;
	torus_soft_unlock_read(s);
	x = show(test, s);
	KUNIT_EXPECT_EQ(test, x.n, TORUS_NC_COUNT - 7 + 1 + PORTS * (TORUS_PC_COUNT + 1));
	for (i = 0; i < TORUS_NC_COUNT; i++) {
		/* LOST is computed when it is read; so is HOST_DROPS, which is not shown. */
		u64 due = i == TORUS_NC_LOST ? 0 : 1000ull + i;

		KUNIT_EXPECT_EQ_MSG(test, value(&x, node_names[i]), is_common(i) ? ~0ull : due,
				    "%s", node_names[i]);
	}
	KUNIT_EXPECT_EQ(test, value(&x, "tx_waited"), 3000ull);
	for (p = 0; p < PORTS; p++) {
		snprintf(name, sizeof(name), "port%u_rx_queue_drops", p);
		KUNIT_EXPECT_EQ_MSG(test, value(&x, name), 2000ull + p, "%s", name);
	}
}

/*
 * The counters that are shown of a port are those of that port: one port has received a frame, the
 * others have not.
 */
static void counters_of_port_are_its_own(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, PORTS, 0);
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	struct sk_buff_head rx;
	unsigned int i, p;
	struct shown x;
	char name[64];

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_zero(skb, 64);
	memset(skb->cb, 0, sizeof(skb->cb));
	skb->cb[0] = 2;		/* number of the port */
	__skb_queue_head_init(&rx);
	__skb_queue_tail(&rx, skb);
	torus_soft_lock(s);
	torus_ports_rx(s, &rx, torus_now(s));
	torus_soft_unlock_read(s);
	x = show(test, s);
	for (p = 0; p < PORTS; p++) {
		for (i = 0; i < TORUS_PC_COUNT; i++) {
			snprintf(name, sizeof(name), "port%u_%s", p, port_names[i]);
			KUNIT_EXPECT_NE_MSG(test, value(&x, name), ~0ull, "%s", name);
		}
		snprintf(name, sizeof(name), "port%u_%s", p, port_names[TORUS_PC_RX_FRAMES]);
		KUNIT_EXPECT_EQ_MSG(test, value(&x, name), (u64)(p == 2), "%s", name);
	}
}

static void only_statistics_set_is_supported(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, PORTS, 0);
	const struct ethtool_ops *ops = s->dev.netdev->ethtool_ops;
	struct ethtool_drvinfo info = { 0 };
	u8 untouched = 7;

	KUNIT_EXPECT_EQ(test, ops->get_sset_count(s->dev.netdev, ETH_SS_TEST), -EOPNOTSUPP);
	ops->get_strings(s->dev.netdev, ETH_SS_TEST, &untouched);
	KUNIT_EXPECT_EQ(test, (int)untouched, 7);
	ops->get_drvinfo(s->dev.netdev, &info);
	KUNIT_EXPECT_STREQ(test, info.driver, TORUS_DRIVER);
	KUNIT_EXPECT_STREQ(test, info.version, TORUS_VERSION);
	KUNIT_EXPECT_STREQ(test, info.bus_info, "virtual");
}

static int coalesce(struct torus_soft *s, u32 usecs, u32 frames)
{
	struct ethtool_coalesce c = {
		.tx_coalesce_usecs = usecs, .tx_max_coalesced_frames = frames,
	};
	struct netlink_ext_ack extack = { 0 };
	int err = s->dev.netdev->ethtool_ops->set_coalesce(s->dev.netdev, &c, NULL, &extack);

	/* A refusal must give a reason. */
	return err && !extack._msg ? -ENOMSG : err;
}

static void expect_coalesce(struct kunit *test, struct torus_soft *s, u32 usecs, u32 frames)
{
	struct ethtool_coalesce c = { 0 };

	KUNIT_EXPECT_EQ(test,
			s->dev.netdev->ethtool_ops->get_coalesce(s->dev.netdev, &c, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, c.tx_coalesce_usecs, usecs);
	KUNIT_EXPECT_EQ(test, c.tx_max_coalesced_frames, frames);
}

static void coalescing_has_defaults_and_limits(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, PORTS, 0);

	expect_coalesce(test, s, 1000, 32);
	KUNIT_EXPECT_EQ(test, coalesce(s, 10001, 5), -ERANGE);
	KUNIT_EXPECT_EQ(test, coalesce(s, 5, 0), -ERANGE);
	KUNIT_EXPECT_EQ(test, coalesce(s, 5, 129), -ERANGE);
	expect_coalesce(test, s, 1000, 32);
	KUNIT_EXPECT_EQ(test, coalesce(s, 10000, 128), 0);
	expect_coalesce(test, s, 10000, 128);
	KUNIT_EXPECT_EQ(test, coalesce(s, 0, 1), 0);
	expect_coalesce(test, s, 0, 1);
}

/* --- ip -s link ------------------------------------------------------------------------ */

static void netdev_statistics_come_from_nic_counters(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	struct rtnl_link_stats64 x;

	torus_soft_lock(s);
	tn_nic_counters(s->soft.nic)[TORUS_NC_HOST_MESSAGES_TX] = 11;
	tn_nic_counters(s->soft.nic)[TORUS_NC_HOST_BYTES_TX] = 12;
	tn_nic_counters(s->soft.nic)[TORUS_NC_HOST_MESSAGES_RX] = 13;
	tn_nic_counters(s->soft.nic)[TORUS_NC_HOST_BYTES_RX] = 14;
	tn_nic_counters(s->soft.nic)[TORUS_NC_HOST_RX_DROPS] = 15;
	tn_nic_counters(s->soft.nic)[TORUS_NC_HOST_TX_DROPS] = 20;
	/* read with the lock held, as if packets were moving */
	dev_get_stats(s->dev.netdev, &x);
	torus_soft_unlock_read(s);
	KUNIT_EXPECT_EQ(test, x.tx_packets, 11ull);
	KUNIT_EXPECT_EQ(test, x.tx_bytes, 12ull);
	KUNIT_EXPECT_EQ(test, x.rx_packets, 13ull);
	KUNIT_EXPECT_EQ(test, x.rx_bytes, 14ull);
	KUNIT_EXPECT_EQ(test, x.tx_dropped, 20ull);
	KUNIT_EXPECT_EQ(test, x.rx_dropped, 15ull);
}

/*
 * The reported size of an answer is enough, and hardly more than needed; with less room, filling
 * the answer fails.
 */
static void reported_size_of_link_data_is_enough(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);
	size_t left, size = torus_link_ops.get_size(s->dev.netdev);
	struct sk_buff *skb = alloc_skb(size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	memset(s->soft.hw.name, 'n', TORUS_NAME_MAX);
	s->soft.hw.name[TORUS_NAME_MAX] = 0;
	skb_reserve(skb, skb_tailroom(skb) - (int)size);
	KUNIT_EXPECT_EQ(test, torus_link_ops.fill_info(skb, s->dev.netdev), 0);
	left = size - skb->len;
	KUNIT_EXPECT_LE(test, left, (size_t)nla_total_size(0) * IFLA_TORUS_MAX);
	skb_trim(skb, 0);
	skb_reserve(skb, (int)left + NLA_ALIGNTO);
	KUNIT_EXPECT_EQ(test, torus_link_ops.fill_info(skb, s->dev.netdev), -EMSGSIZE);
	kfree_skb(skb);
}

/* Puts the answer of @cmd, for @port if it takes one, into @skb. */
static int put(struct sk_buff *skb, struct torus_soft *s, unsigned int cmd)
{
	static const struct { struct nlattr a; u8 value; } port = {
		{ NLA_HDRLEN + sizeof(u8), TORUS_A_PORT }, 0,
	};
	const struct nlattr *tb[TORUS_A_MAX + 1] = { [TORUS_A_PORT] = &port.a };
	struct torus_req r = { .cmd = cmd, .tb = tb };

	return torus_dev_run(&s->dev, &r) ?:
	       torus_put(skb, r.tree, r.without, &s->soft.hw.reply);
}

/*
 * A description of a NIC that does not fit into the buffer is refused as a whole, so that a dump
 * continues with it in the next message.
 */
static void description_without_room_is_refused(struct kunit *test)
{
	static const u8 cmd[] = {
		TORUS_CMD_DEVICE_GET, TORUS_CMD_LINK_GET, TORUS_CMD_FLOW_GET, TORUS_CMD_PARK_GET,
	};
	struct torus_soft *s = lab_nic(test, 2, 0);
	struct sk_buff *skb = alloc_skb(NLMSG_GOODSIZE, GFP_KERNEL);
	unsigned int i, whole, room, wrong;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	for (i = 0; i < ARRAY_SIZE(cmd); i++) {
		torus_dev_lock(&s->dev);
		wrong = put(skb, s, cmd[i]) ? 1 : 0;
		whole = skb->len;
		skb_trim(skb, 0);
		for (room = 0; room < whole; room += NLA_ALIGNTO) {
			unsigned int filled = (unsigned int)skb_tailroom(skb) - room;

			skb_put(skb, filled);
			wrong += put(skb, s, cmd[i]) != -EMSGSIZE;
			skb_trim(skb, 0);
		}
		torus_dev_unlock(&s->dev);
		KUNIT_EXPECT_GT(test, whole, 100u);
		KUNIT_EXPECT_EQ_MSG(test, wrong, 0u, "of kind %u", i);
	}
	kfree_skb(skb);
}

/* --- events ------------------------------------------------------------------------- */

/* Return: a socket of process 1 that listens to @group of the family. */
static struct socket *listener(struct kunit *test, unsigned int group)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_pid = 1 };
	unsigned int id = torus_family.mcgrp_offset + group;
	struct socket *sock;
	int err;

	err = sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC, &sock);
	KUNIT_ASSERT_EQ(test, err, 0);
	err = kernel_bind(sock, (struct sockaddr *)&addr, sizeof(addr)) ?:
	      sock->ops->setsockopt(sock, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP,
				    KERNEL_SOCKPTR(&id), sizeof(id));
	KUNIT_EXPECT_EQ(test, err, 0);
	return sock;
}

/* Return: bytes of the next message, or the error of the socket; -EAGAIN if there is neither. */
static int next(struct torus_soft *s, struct socket *sock)
{
	static u8 buf[NLMSG_GOODSIZE];
	struct kvec vec = { buf, sizeof(buf) };
	struct msghdr msg = { 0 };

	torus_events_flush(&s->dev);
	return kernel_recvmsg(sock, &msg, &vec, 1, sizeof(buf), MSG_DONTWAIT);
}

/*
 * A listener gets an error whenever it does not get an event; without the error it would not know
 * that it must read the state again.
 */
static void listener_gets_error_for_each_lost_event(struct kunit *test)
{
	static const u8 data[16384];	/* longer than a netlink buffer */
	struct socket *sock = listener(test, TORUS_GROUP_MGMT);
	struct torus_soft *s = lab_nic(test, 2, 0);

	torus_soft_lock(s);
	torus_event_mgmt(&s->dev, 0, data, TORUS_MGMT_MAX);
	torus_soft_unlock_read(s);
	KUNIT_EXPECT_GT(test, next(s, sock), TORUS_MGMT_MAX);
	KUNIT_EXPECT_EQ(test, next(s, sock), -EAGAIN);
	torus_soft_lock(s);
	torus_event_mgmt(&s->dev, 0, data, sizeof(data));
	torus_soft_unlock_read(s);
	KUNIT_EXPECT_EQ(test, next(s, sock), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, next(s, sock), -EAGAIN);
	torus_soft_lock(s);
	torus_event_lost(&s->dev);
	torus_soft_unlock_read(s);
	KUNIT_EXPECT_EQ(test, next(s, sock), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, next(s, sock), -EAGAIN);
	sock_release(sock);
}

/* Replaces the work function that sends notifications, so that the test can fill the queue. */
static void pause_work(struct work_struct *work)
{
}

/*
 * Sends listeners a management packet that @s got on @port. Return: true if there was room for it.
 */
static bool give_mgmt(struct torus_soft *s, unsigned int port)
{
	static const u8 data[16];
	bool took;

	torus_soft_lock(s);
	took = torus_event_mgmt(&s->dev, port, data, sizeof(data));
	torus_soft_unlock_read(s);
	return took;
}

/*
 * While the work that sends notifications does not run, a neighbour fills what its own port may
 * have, and no more. Management packets of another port and events of links have room.
 */
static void flood_of_one_port_leaves_room_for_others(struct kunit *test)
{
	struct socket *sock = listener(test, TORUS_GROUP_MGMT);
	struct torus_soft *s = lab_nic(test, 2, 0);
	unsigned int fit = 0, came = 0;
	work_func_t send = s->dev.events.work.func;
	int n;

	sock->sk->sk_rcvbuf = 1 << 20;
	s->dev.events.work.func = pause_work;
	while (fit < 100000 && give_mgmt(s, 0))
		fit++;
	KUNIT_EXPECT_GE(test, fit, 100u);
	KUNIT_EXPECT_LE(test, fit, 1000u);
	KUNIT_EXPECT_TRUE(test, give_mgmt(s, 1));
	KUNIT_EXPECT_FALSE(test, give_mgmt(s, 0));
	torus_events_flush(&s->dev);
	s->dev.events.work.func = send;
	KUNIT_EXPECT_TRUE(test, queue_work(system_wq, &s->dev.events.work));
	while ((n = next(s, sock)) != -EAGAIN)
		came += n > 0;
	KUNIT_EXPECT_EQ(test, came, fit + 1);
	KUNIT_EXPECT_TRUE(test, give_mgmt(s, 0));
	KUNIT_EXPECT_GT(test, next(s, sock), 0);
	sock_release(sock);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(all_counters_have_names_and_values),
	KUNIT_CASE(counters_of_port_are_its_own),
	KUNIT_CASE(only_statistics_set_is_supported),
	KUNIT_CASE(coalescing_has_defaults_and_limits),
	KUNIT_CASE(netdev_statistics_come_from_nic_counters),
	KUNIT_CASE(reported_size_of_link_data_is_enough),
	KUNIT_CASE(description_without_room_is_refused),
	KUNIT_CASE(listener_gets_error_for_each_lost_event),
	KUNIT_CASE(flood_of_one_port_leaves_room_for_others),
	{}
};

struct kunit_suite torus_show_suite = { .name = "torus-show", .test_cases = cases };
