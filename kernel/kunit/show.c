// SPDX-License-Identifier: GPL-2.0-only
/*
 * ethtool and `ip -s link` show each counter of a NIC under its name; netlink tells what there is,
 * or that it could not.
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

static struct shown show(struct kunit *test, struct torus_dev *d)
{
	const struct ethtool_ops *ops = d->netdev->ethtool_ops;
	struct shown s = { .n = ops->get_sset_count(d->netdev, ETH_SS_STATS) };
	struct ethtool_stats stats = { .n_stats = (u32)s.n };

	KUNIT_ASSERT_GT(test, s.n, 0);
	s.names = kunit_kzalloc(test, (size_t)s.n * ETH_GSTRING_LEN, GFP_KERNEL);
	s.values = kunit_kzalloc(test, (size_t)s.n * sizeof(u64), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s.names);
	KUNIT_ASSERT_NOT_NULL(test, s.values);
	ops->get_strings(d->netdev, ETH_SS_STATS, s.names);
	ops->get_ethtool_stats(d->netdev, &stats, s.values);
	return s;
}

/* ~0: it is not shown, or more than once. */
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

static void test_statistics(struct kunit *test)
{
	struct torus_dev *d = lab_nic(test, PORTS, 0);
	unsigned int i, p;
	struct shown s;
	char name[64];

	torus_dev_lock(d);
	for (i = 0; i < TORUS_NC_COUNT; i++)
		tn_nic_counters(d->nic)[i] = 1000 + i;
	for (p = 0; p < PORTS; p++)
		atomic_long_set(&d->port[p].rx_dropped, 2000 + p);
	d->tx.waited = 3000;
	torus_dev_unlock_read(d);
	s = show(test, d);
	KUNIT_EXPECT_EQ(test, s.n, TORUS_NC_COUNT + 1 + PORTS * (TORUS_PC_COUNT + 1));
	for (i = 0; i < TORUS_NC_COUNT; i++) {
		/* LOST is computed when it is read. */
		KUNIT_EXPECT_EQ_MSG(test, value(&s, node_names[i]),
				    i == TORUS_NC_LOST ? 0 : 1000ull + i, "%s", node_names[i]);
	}
	KUNIT_EXPECT_EQ(test, value(&s, "tx_waited"), 3000ull);
	for (p = 0; p < PORTS; p++) {
		snprintf(name, sizeof(name), "port%u_rx_queue_drops", p);
		KUNIT_EXPECT_EQ_MSG(test, value(&s, name), 2000ull + p, "%s", name);
	}
}

/* All counters of a port are there, its own: one port has heard a frame, others have not. */
static void test_ports(struct kunit *test)
{
	struct torus_dev *d = lab_nic(test, PORTS, 0);
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	struct sk_buff_head rx;
	unsigned int i, p;
	struct shown s;
	char name[64];

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put_zero(skb, 64);
	memset(skb->cb, 0, sizeof(skb->cb));
	skb->cb[0] = 2;		/* the port */
	__skb_queue_head_init(&rx);
	__skb_queue_tail(&rx, skb);
	torus_dev_lock(d);
	torus_ports_rx(d, &rx, torus_now());
	torus_dev_unlock_read(d);
	s = show(test, d);
	for (p = 0; p < PORTS; p++) {
		for (i = 0; i < TORUS_PC_COUNT; i++) {
			snprintf(name, sizeof(name), "port%u_%s", p, port_names[i]);
			KUNIT_EXPECT_NE_MSG(test, value(&s, name), ~0ull, "%s", name);
		}
		snprintf(name, sizeof(name), "port%u_%s", p, port_names[TORUS_PC_RX_FRAMES]);
		KUNIT_EXPECT_EQ_MSG(test, value(&s, name), (u64)(p == 2), "%s", name);
	}
}

static void test_sets(struct kunit *test)
{
	struct torus_dev *d = lab_nic(test, PORTS, 0);
	const struct ethtool_ops *ops = d->netdev->ethtool_ops;
	struct ethtool_drvinfo info = { 0 };
	u8 untouched = 7;

	KUNIT_EXPECT_EQ(test, ops->get_sset_count(d->netdev, ETH_SS_TEST), -EOPNOTSUPP);
	ops->get_strings(d->netdev, ETH_SS_TEST, &untouched);
	KUNIT_EXPECT_EQ(test, (int)untouched, 7);
	ops->get_drvinfo(d->netdev, &info);
	KUNIT_EXPECT_STREQ(test, info.driver, TORUS_DRIVER);
	KUNIT_EXPECT_STREQ(test, info.version, TORUS_VERSION);
	KUNIT_EXPECT_STREQ(test, info.bus_info, "virtual");
}

static int coalesce(struct torus_dev *d, u32 usecs, u32 frames)
{
	struct ethtool_coalesce c = {
		.tx_coalesce_usecs = usecs, .tx_max_coalesced_frames = frames,
	};
	struct netlink_ext_ack extack = { 0 };
	int err = d->netdev->ethtool_ops->set_coalesce(d->netdev, &c, NULL, &extack);

	/* A refusal is explained. */
	return err && !extack._msg ? -ENOMSG : err;
}

static void expect_coalesce(struct kunit *test, struct torus_dev *d, u32 usecs, u32 frames)
{
	struct ethtool_coalesce c = { 0 };

	KUNIT_EXPECT_EQ(test, d->netdev->ethtool_ops->get_coalesce(d->netdev, &c, NULL, NULL), 0);
	KUNIT_EXPECT_EQ(test, c.tx_coalesce_usecs, usecs);
	KUNIT_EXPECT_EQ(test, c.tx_max_coalesced_frames, frames);
}

static void test_coalesce(struct kunit *test)
{
	struct torus_dev *d = lab_nic(test, PORTS, 0);

	expect_coalesce(test, d, 1000, 32);
	KUNIT_EXPECT_EQ(test, coalesce(d, 10001, 5), -ERANGE);
	KUNIT_EXPECT_EQ(test, coalesce(d, 5, 0), -ERANGE);
	KUNIT_EXPECT_EQ(test, coalesce(d, 5, 129), -ERANGE);
	expect_coalesce(test, d, 1000, 32);
	KUNIT_EXPECT_EQ(test, coalesce(d, 10000, 128), 0);
	expect_coalesce(test, d, 10000, 128);
	KUNIT_EXPECT_EQ(test, coalesce(d, 0, 1), 0);
	expect_coalesce(test, d, 0, 1);
}

/* --- ip -s link ------------------------------------------------------------------------ */

static void test_stats64(struct kunit *test)
{
	struct torus_dev *d = lab_nic(test, 2, 0);
	struct rtnl_link_stats64 s;

	torus_dev_lock(d);
	tn_nic_counters(d->nic)[TORUS_NC_HOST_MESSAGES_TX] = 11;
	tn_nic_counters(d->nic)[TORUS_NC_HOST_BYTES_TX] = 12;
	tn_nic_counters(d->nic)[TORUS_NC_HOST_MESSAGES_RX] = 13;
	tn_nic_counters(d->nic)[TORUS_NC_HOST_BYTES_RX] = 14;
	tn_nic_counters(d->nic)[TORUS_NC_HOST_DROPS] = 15;
	torus_dev_unlock_read(d);
	dev_get_stats(d->netdev, &s);
	KUNIT_EXPECT_EQ(test, s.tx_packets, 11ull);
	KUNIT_EXPECT_EQ(test, s.tx_bytes, 12ull);
	KUNIT_EXPECT_EQ(test, s.rx_packets, 13ull);
	KUNIT_EXPECT_EQ(test, s.rx_bytes, 14ull);
	KUNIT_EXPECT_EQ(test, s.rx_dropped, 15ull);
}

/* The stack makes room as it is told to: enough, and little more. With less it fails. */
static void test_size(struct kunit *test)
{
	struct torus_dev *d = lab_nic(test, 2, 0);
	size_t left, size = torus_link_ops.get_size(d->netdev);
	struct sk_buff *skb = alloc_skb(size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	memset(d->name, 'n', TORUS_NAME_MAX);
	d->name[TORUS_NAME_MAX] = 0;
	skb_reserve(skb, skb_tailroom(skb) - (int)size);
	KUNIT_EXPECT_EQ(test, torus_link_ops.fill_info(skb, d->netdev), 0);
	left = size - skb->len;
	KUNIT_EXPECT_LE(test, left, (size_t)nla_total_size(0) * IFLA_TORUS_MAX);
	skb_trim(skb, 0);
	skb_reserve(skb, (int)left + NLA_ALIGNTO);
	KUNIT_EXPECT_EQ(test, torus_link_ops.fill_info(skb, d->netdev), -EMSGSIZE);
	kfree_skb(skb);
}

static int put_link(struct sk_buff *skb, struct torus_dev *d)
{
	return torus_put_link(skb, d, 0, torus_now());
}

/*
 * What netlink says of a NIC goes into a buffer whole, or the caller is told that it does not
 * fit: a dump then goes on with it in the next message. Never a part alone.
 */
static void test_no_room(struct kunit *test)
{
	static int (*const put[])(struct sk_buff *skb, struct torus_dev *d) = {
		torus_put_device, put_link, torus_put_flow, torus_put_park,
	};
	struct torus_dev *d = lab_nic(test, 2, 0);
	struct sk_buff *skb = alloc_skb(NLMSG_GOODSIZE, GFP_KERNEL);
	unsigned int i, whole, room, wrong;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	for (i = 0; i < ARRAY_SIZE(put); i++) {
		torus_dev_lock(d);
		wrong = put[i](skb, d) ? 1 : 0;
		whole = skb->len;
		skb_trim(skb, 0);
		for (room = 0; room < whole; room += NLA_ALIGNTO) {
			unsigned int filled = (unsigned int)skb_tailroom(skb) - room;

			skb_put(skb, filled);
			wrong += put[i](skb, d) != -EMSGSIZE;
			skb_trim(skb, 0);
		}
		torus_dev_unlock_read(d);
		KUNIT_EXPECT_GT(test, whole, 100u);
		KUNIT_EXPECT_EQ_MSG(test, wrong, 0u, "of kind %u", i);
	}
	kfree_skb(skb);
}

/* --- events ------------------------------------------------------------------------- */

/* A socket that listens to @group of the family, as one of process 1 may. */
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

/* Return: bytes of the next message, or the error that the socket tells; -EAGAIN: neither. */
static int next(struct socket *sock)
{
	static u8 buf[NLMSG_GOODSIZE];
	struct kvec vec = { buf, sizeof(buf) };
	struct msghdr msg = { 0 };

	return kernel_recvmsg(sock, &msg, &vec, 1, sizeof(buf), MSG_DONTWAIT);
}

/* What a listener does not get, for whatever reason, it is told of: else it would not ask. */
static void test_lost_event(struct kunit *test)
{
	static const u8 data[16384];	/* more than a netlink buffer */
	struct socket *sock = listener(test, TORUS_GROUP_MGMT);
	struct torus_dev *d = lab_nic(test, 2, 0);

	torus_dev_lock(d);
	torus_genl_mgmt(d, 0, data, TORUS_MGMT_MAX);
	torus_dev_unlock_read(d);
	KUNIT_EXPECT_GT(test, next(sock), TORUS_MGMT_MAX);
	KUNIT_EXPECT_EQ(test, next(sock), -EAGAIN);
	torus_dev_lock(d);
	torus_genl_mgmt(d, 0, data, sizeof(data));
	torus_dev_unlock_read(d);
	KUNIT_EXPECT_EQ(test, next(sock), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, next(sock), -EAGAIN);
	torus_dev_lock(d);
	torus_genl_overrun(d);
	torus_dev_unlock_read(d);
	KUNIT_EXPECT_EQ(test, next(sock), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, next(sock), -EAGAIN);
	sock_release(sock);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(test_statistics),
	KUNIT_CASE(test_ports),
	KUNIT_CASE(test_sets),
	KUNIT_CASE(test_coalesce),
	KUNIT_CASE(test_stats64),
	KUNIT_CASE(test_size),
	KUNIT_CASE(test_no_room),
	KUNIT_CASE(test_lost_event),
	{}
};

struct kunit_suite torus_show_suite = { .name = "torus-show", .test_cases = cases };
