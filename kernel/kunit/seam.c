// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code above the seam, on a NIC that is not the software NIC: found, named, read and commanded
 * through sockets as by a manager. A driver of hardware would meet what fails here: commands that
 * overlap, an error without a reason, a NIC that goes while a command is inside of it.
 */
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/ethtool.h>
#include <linux/kthread.h>

#include "lab.h"
#include "null.h"
#include "talk.h"

#include "../req/policy.h"

/* --- NICs ---------------------------------------------------------------------------- */

/* Return: counters that a test may read even after the NIC was freed. */
static struct null_seen *new_seen(struct kunit *test)
{
	struct null_seen *seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, seen);
	return seen;
}

static struct null_nic *new_nic(struct kunit *test)
{
	struct null_nic *n = null_alloc(new_seen(test));

	KUNIT_ASSERT_NOT_NULL(test, n);
	KUNIT_ASSERT_EQ(test, register_netdev(n->dev.netdev), 0);
	lab_own(test, n->dev.netdev);
	return n;
}

/* --- requests ---------------------------------------------------------------------------- */

static void put_rows(struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start(skb, TORUS_A_ROWS);
	u64 row = LAB_ROW;

	nla_put_u32(skb, TORUS_ROWS_FIRST, 0);
	nla_put(skb, TORUS_ROWS_DATA, sizeof(row), &row);
	nla_nest_end(skb, nest);
}

static void put_attr(struct sk_buff *skb, unsigned int type)
{
	static const u8 zeros[8];

	if (type == TORUS_A_ROWS)
		put_rows(skb);
	else if (type == TORUS_A_LOWER)
		nla_put_string(skb, (int)type, "eth0");
	else
		nla_put(skb, (int)type, type == TORUS_A_VERSION ? 8 :
			type == TORUS_A_NODES || type == TORUS_A_SESSION ? 4 :
			type == TORUS_A_PORTS ? 2 : 1, zeros);
}

/*
 * Return: a request with all attributes that @cmd requires, and with IFINDEX if @ifindex is not 0.
 */
static struct sk_buff *request(u32 ifindex, u8 cmd)
{
	struct sk_buff *skb = lab_msg(cmd);

	if (!skb)
		return NULL;
	if (ifindex)
		nla_put_u32(skb, TORUS_A_IFINDEX, ifindex);
	for (unsigned int type = 1; type <= TORUS_A_MAX; type++)
		if (torus_attrs_has(&torus_scopes[cmd].required, type))
			put_attr(skb, type);
	return skb;
}

static int send_order(struct talk *t, struct null_nic *n, u8 cmd)
{
	struct sk_buff *skb = request((u32)n->dev.netdev->ifindex, cmd);

	return skb ? talk(t, skb, NLM_F_ACK) : -ENOMEM;
}

/* Sets the coordinates of the NIC to @at in a ring of NULL_ROWS. */
static int send_place(struct talk *t, struct null_nic *n, u16 at)
{
	struct sk_buff *skb = request((u32)n->dev.netdev->ifindex, TORUS_CMD_DEVICE_SET);
	u16 nodes = NULL_ROWS;

	if (!skb)
		return -ENOMEM;
	nla_put(skb, TORUS_A_SHAPE, sizeof(nodes), &nodes);
	nla_put(skb, TORUS_A_COORDS, sizeof(at), &at);
	return talk(t, skb, NLM_F_ACK);
}

/* --- found ------------------------------------------------------------------------------- */

static bool found(struct torus_dev *d, struct null_nic *n, netdevice_tracker *t)
{
	if (d)
		torus_dev_put(d, t);
	return d == &n->dev;
}

/*
 * A list that is read some devices at a time has all devices, each once, in the order of their
 * ifindex.
 */
static void many_devices_are_listed_once_in_order(struct kunit *test)
{
	unsigned int all = 0, n, i;
	int ifindex[3], after;

	after = new_nic(test)->dev.netdev->ifindex - 1;
	for (i = 1; i < 7; i++)
		new_nic(test);
	do {
		n = torus_dev_list(&init_net, after, ifindex, ARRAY_SIZE(ifindex));
		KUNIT_ASSERT_LE(test, n, (unsigned int)ARRAY_SIZE(ifindex));
		for (i = 0; i < n; i++) {
			KUNIT_EXPECT_GT(test, ifindex[i], after);
			all++;
			after = ifindex[i];
		}
	} while (n == ARRAY_SIZE(ifindex));
	KUNIT_EXPECT_EQ(test, n, 1u);
	KUNIT_EXPECT_EQ(test, all, 7u);
}

static void device_is_found_by_ifindex_and_name(struct kunit *test)
{
	struct talk *t = talk_new(test);
	struct null_nic *n = new_nic(test);
	int ifindex = n->dev.netdev->ifindex;
	netdevice_tracker tr;
	struct sk_buff *skb;

	KUNIT_EXPECT_TRUE(test, found(torus_dev_get_by_index(&init_net, ifindex, &tr), n, &tr));
	KUNIT_EXPECT_TRUE(test, found(torus_dev_get_by_name(&init_net, "nobody", &tr), n, &tr));
	KUNIT_EXPECT_TRUE(test, found(torus_dev_get_next(&init_net, ifindex - 1, &tr), n, &tr));
	KUNIT_EXPECT_NULL(test, torus_dev_get_by_name(&init_net, "ktn0", &tr));
	KUNIT_EXPECT_NULL(test, torus_dev_get_next(&init_net, ifindex, &tr));
	skb = request(0, TORUS_CMD_FLOW_GET);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	nla_put_string(skb, TORUS_A_NAME, "nobody");
	KUNIT_EXPECT_EQ(test, talk(t, skb, NLM_F_ACK), 0);
	KUNIT_EXPECT_EQ(test, t->replies, 1u);
	unregister_netdev(n->dev.netdev);
	KUNIT_EXPECT_NULL(test, torus_dev_get_by_index(&init_net, ifindex, &tr));
	skb = request((u32)ifindex, TORUS_CMD_FLOW_GET);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, talk(t, skb, NLM_F_ACK), -ENODEV);
	KUNIT_EXPECT_NE(test, t->why[0], 0);
}

/* A NIC whose initialisation fails is not a device, and its memory is freed. */
static void failed_initialisation_leaves_no_device(struct kunit *test)
{
	struct null_seen *seen = new_seen(test);
	struct null_nic *n = null_alloc(seen);
	netdevice_tracker tr;

	KUNIT_ASSERT_NOT_NULL(test, n);
	n->fails = ~0ul;
	n->error = -ENXIO;
	KUNIT_EXPECT_EQ(test, register_netdev(n->dev.netdev), -ENXIO);
	KUNIT_EXPECT_NULL(test, torus_dev_get_by_name(&init_net, "nobody", &tr));
	free_netdev(n->dev.netdev);
}

/* --- replies and notifications -------------------------------------------------------------- */

static bool parse(const struct talk *t, const struct torus_tree *tree, void *to)
{
	struct torus_refusal why;
	struct torus_attrs seen;

	return !torus_tree_parse(tree, (struct torus_span) { t->data, t->len }, to, &seen, &why);
}

static void match_device(struct talk *t)
{
	static struct torus_device d;

	memset(&d, 0, sizeof(d));
	t->matches += parse(t, &torus_tree_device_get, &d) && d.ifindex == t->ifindex &&
		!strcmp(d.name, "nobody") && !strcmp(d.driver, "null") && d.nports == NULL_PORTS &&
		d.guid == 0x6e756c6c && d.counter[1] == NULL_COUNTER + 1 && d.node == 5;
}

static void match_link(struct talk *t)
{
	static struct torus_link l;

	memset(&l, 0, sizeof(l));
	t->matches += parse(t, &torus_tree_link_get, &l) && l.ifindex == t->ifindex &&
		l.port == t->replies - 1 && l.session == NULL_SESSION + l.port &&
		l.state == TORUS_LINK_UP;
}

/* Dumps @cmd. Return: the number of messages, all of which must be right. */
static unsigned int dump(struct kunit *test, struct null_nic *n, u8 cmd,
			 void (*each)(struct talk *t))
{
	struct talk *t = talk_new(test);
	struct sk_buff *skb = lab_msg(cmd);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	t->ifindex = (u32)n->dev.netdev->ifindex;
	t->each = each;
	nla_put_u32(skb, TORUS_A_IFINDEX, t->ifindex);
	KUNIT_EXPECT_EQ(test, talk(t, skb, NLM_F_DUMP), 0);
	KUNIT_EXPECT_EQ(test, t->replies, t->matches);
	return t->matches;
}

static void dumps_have_each_device_and_port(struct kunit *test)
{
	struct null_nic *n = new_nic(test);

	KUNIT_ASSERT_EQ(test, send_place(talk_new(test), n, 5), 0);
	KUNIT_EXPECT_EQ(test, dump(test, n, TORUS_CMD_DEVICE_GET, match_device), 1u);
	KUNIT_EXPECT_EQ(test, dump(test, n, TORUS_CMD_LINK_GET, match_link),
			(unsigned int)NULL_PORTS);
}

/* Requests all parts of a dump. Return: 0, or the error with which it ends. */
static int ask_dump(struct kunit *test, struct talk *t, struct null_nic *n, u8 cmd)
{
	struct sk_buff *skb = lab_msg(cmd);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	nla_put_u32(skb, TORUS_A_IFINDEX, (u32)n->dev.netdev->ifindex);
	return talk(t, skb, NLM_F_DUMP);
}

/* A dump that cannot go on ends with the error of the NIC, not as if it was complete. */
static void dump_that_fails_ends_with_error(struct kunit *test)
{
	static const struct {
		u8 cmd;
		size_t op;
		unsigned int parts;	/* number of parts of a whole dump */
	} dumps[] = {
		{ TORUS_CMD_LINK_GET, NULL_OP(link_get), NULL_PORTS },
		{ TORUS_CMD_ROWS_GET, NULL_OP(rows_get), 1 },
	};
	struct talk *t = talk_new(test);
	struct null_nic *n = new_nic(test);

	KUNIT_ASSERT_EQ(test, send_place(t, n, 5), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(dumps); i++) {
		for (unsigned int k = 0; k < dumps[i].parts; k++) {
			n->fails = dumps[i].op;
			n->error = -EIO;
			n->passes = k;
			KUNIT_EXPECT_EQ(test, ask_dump(test, t, n, dumps[i].cmd), -EIO);
			KUNIT_EXPECT_EQ(test, t->replies, k);
		}
		n->fails = 0;
		KUNIT_EXPECT_EQ(test, ask_dump(test, t, n, dumps[i].cmd), 0);
		KUNIT_EXPECT_EQ(test, t->replies, dumps[i].parts);
	}
	/* The NIC has lost its place during the dump, so it has no rows. */
	n->fails = NULL_OP(rows);
	n->passes = 1;
	KUNIT_EXPECT_EQ(test, ask_dump(test, t, n, TORUS_CMD_ROWS_GET), 0);
	KUNIT_EXPECT_EQ(test, t->replies, 0u);
	n->fails = 0;
	n->ops.rows_get = NULL;
	KUNIT_EXPECT_EQ(test, ask_dump(test, t, n, TORUS_CMD_ROWS_GET), -EOPNOTSUPP);
	KUNIT_EXPECT_NE(test, t->why[0], 0);
}

static void statistics_come_from_nic(struct kunit *test)
{
	struct null_nic *n = new_nic(test);
	struct net_device *dev = n->dev.netdev;
	struct ethtool_stats stats = {
		.n_stats = (u32)dev->ethtool_ops->get_sset_count(dev, ETH_SS_STATS)
	};
	u64 *v = kunit_kcalloc(test, stats.n_stats, sizeof(*v), GFP_KERNEL);
	struct rtnl_link_stats64 s;

	KUNIT_ASSERT_NOT_NULL(test, v);
	KUNIT_ASSERT_EQ(test, stats.n_stats,
			TORUS_NC_COUNT - 6 + NULL_PORTS * (TORUS_PC_COUNT + 1u));
	for (int fails = 0; fails < 2; fails++) {
		/* 7 node counters are shown elsewhere, and 1 is one of the netdev's own */
		u64 *port = v + TORUS_NC_COUNT - 6;

		n->fails = fails ? NULL_OP(link_get) : 0;
		n->error = fails ? -EIO : 0;
		dev->ethtool_ops->get_ethtool_stats(dev, &stats, v);
		KUNIT_EXPECT_EQ(test, v[1], NULL_COUNTER + 1ull);
		KUNIT_EXPECT_EQ(test, v[TORUS_NC_COUNT - 7], NULL_WAITED + 0ull);
		for (unsigned int p = 0; p < NULL_PORTS; p++, port += TORUS_PC_COUNT + 1) {
			/* All counters of a port that cannot be read are 0. */
			KUNIT_EXPECT_EQ(test, port[TORUS_PC_RX_FRAMES], fails ? 0ull : p + 1ull);
			KUNIT_EXPECT_EQ(test, port[TORUS_PC_COUNT], NULL_DROPS + (u64)p);
		}
	}
	dev_get_stats(dev, &s);
	KUNIT_EXPECT_EQ(test, s.tx_packets, NULL_COUNTER + (u64)TORUS_NC_HOST_MESSAGES_TX);
	KUNIT_EXPECT_EQ(test, s.tx_dropped, NULL_COUNTER + (u64)TORUS_NC_HOST_TX_DROPS);
	KUNIT_EXPECT_EQ(test, s.rx_dropped, NULL_COUNTER + (u64)TORUS_NC_HOST_RX_DROPS);
}

/* Messages of the host reach the NIC as soon as the NIC has a place. */
static void messages_go_to_nic_once_it_has_place(struct kunit *test)
{
	struct talk *t = talk_new(test);
	struct null_nic *n = new_nic(test);
	struct net_device *dev = n->dev.netdev;
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb->dev = dev;
	KUNIT_EXPECT_FALSE(test, netif_carrier_ok(dev));
	n->fails = NULL_OP(place);
	n->error = -ENOMEM;
	KUNIT_EXPECT_EQ(test, send_place(t, n, 5), -ENOMEM);
	KUNIT_EXPECT_FALSE(test, netif_carrier_ok(dev));
	n->fails = 0;
	KUNIT_EXPECT_EQ(test, send_place(t, n, 5), 0);
	KUNIT_EXPECT_TRUE(test, netif_carrier_ok(dev));
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, (int)dev->netdev_ops->ndo_start_xmit(skb, dev), (int)NETDEV_TX_OK);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, atomic_read(&n->seen->sent), 1);
}

/* A message that waits has no use for its route, which it would keep from being freed. */
static void queued_messages_hold_no_route(struct kunit *test)
{
	struct null_nic *n = new_nic(test);

	KUNIT_EXPECT_TRUE(test, n->dev.netdev->priv_flags & IFF_XMIT_DST_RELEASE);
}

/* Frames have no link-layer header that could hold a VLAN, and a packet has one destination. */
static void netdev_offers_neither_multicast_nor_vlans(struct kunit *test)
{
	struct net_device *dev = new_nic(test)->dev.netdev;

	KUNIT_EXPECT_FALSE(test, dev->flags & IFF_MULTICAST);
	KUNIT_EXPECT_TRUE(test, dev->features & NETIF_F_VLAN_CHALLENGED);
}

/* Return: the name of the netdev that a command reads, which it does without RTNL. */
static const char *read_ifname(struct null_nic *n)
{
	torus_dev_lock(&n->dev);
	torus_dev_unlock(&n->dev);
	return n->hw.ifname;
}

static void command_reads_no_name_that_is_being_written(struct kunit *test)
{
	struct null_nic *n = new_nic(test);
	struct net_device *dev = n->dev.netdev;
	char before[IFNAMSIZ];

	rtnl_lock();
	strscpy(before, dev->name, sizeof(before));
	dev->name[0] = '?';
	KUNIT_EXPECT_STREQ(test, read_ifname(n), before);
	call_netdevice_notifiers(NETDEV_CHANGENAME, dev);
	KUNIT_EXPECT_STREQ(test, read_ifname(n), dev->name);
	strscpy(dev->name, before, sizeof(dev->name));
	call_netdevice_notifiers(NETDEV_CHANGENAME, dev);
	rtnl_unlock();
}

/*
 * --- errors ------------------------------------------------------------------------------------
 */

static const struct order {
	u8 cmd;
	size_t op;
	bool optional;
} orders[] = {
	{ TORUS_CMD_LINK_GET, NULL_OP(link_get), false },
	{ TORUS_CMD_LINK_SET, NULL_OP(link_set), false },
	{ TORUS_CMD_LINK_ATTACH, NULL_OP(link_attach), true },
	{ TORUS_CMD_EYE_GET, NULL_OP(eye_get), true },
	{ TORUS_CMD_ROWS_BEGIN, NULL_OP(rows_begin), true },
	{ TORUS_CMD_ROWS_PUT, NULL_OP(rows_put), true },
	{ TORUS_CMD_ROWS_COMMIT, NULL_OP(rows_commit), true },
	{ TORUS_CMD_HOLD, NULL_OP(hold), true },
	{ TORUS_CMD_RELEASE, NULL_OP(release), true },
	{ TORUS_CMD_FLOW_GET, NULL_OP(flow_get), true },
	{ TORUS_CMD_PARK_GET, NULL_OP(park_get), true },
	{ TORUS_CMD_PARK_FLOWS_GET, NULL_OP(park_flows_get), true },
	{ TORUS_CMD_PARK_RESOLVE, NULL_OP(park_resolve), true },
	{ TORUS_CMD_PARK_REPLAY, NULL_OP(park_replay), true },
	{ TORUS_CMD_MGMT_SEND, NULL_OP(mgmt_send), true },
};

/* Sends @cmd, which must fail with @err and a reason, and leave all else of the NIC as it was. */
static void expect_error(struct kunit *test, struct talk *t, struct null_nic *n, u8 cmd, int err)
{
	static struct torus_hw before;

	before = n->hw;
	KUNIT_EXPECT_EQ_MSG(test, send_order(t, n, cmd), err, "%s", torus_cmd_name(cmd));
	KUNIT_EXPECT_NE_MSG(test, t->why[0], 0, "%s", torus_cmd_name(cmd));
	KUNIT_EXPECT_EQ_MSG(test, t->replies, 0u, "%s", torus_cmd_name(cmd));
	KUNIT_EXPECT_EQ_MSG(test, memcmp(&n->hw, &before, offsetof(struct torus_hw, reply)), 0,
			    "%s", torus_cmd_name(cmd));
}

static void error_of_nic_reaches_sender(struct kunit *test)
{
	static const int errors[] = { -EIO, -ENODEV, -ENOMEM };
	struct talk *t = talk_new(test);
	struct null_nic *n = new_nic(test);

	KUNIT_ASSERT_EQ(test, send_place(t, n, 5), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(orders); i++) {
		/* A first request succeeds, with the present IFINDEX and IFNAME. */
		KUNIT_EXPECT_EQ_MSG(test, send_order(t, n, orders[i].cmd), 0, "%s: %s",
				    torus_cmd_name(orders[i].cmd), t->why);
		for (unsigned int e = 0; e < ARRAY_SIZE(errors); e++) {
			n->fails = orders[i].op;
			n->error = errors[e];
			expect_error(test, t, n, orders[i].cmd, errors[e]);
			n->fails = 0;
		}
	}
}

static void command_that_nic_lacks_is_refused(struct kunit *test)
{
	struct talk *t = talk_new(test);
	struct null_nic *n = new_nic(test);
	struct torus_hw_ops all = n->ops;

	KUNIT_ASSERT_EQ(test, send_place(t, n, 5), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(orders); i++) {
		if (!orders[i].optional)
			continue;
		memset((u8 *)&n->ops + orders[i].op, 0, sizeof(n->ops.place));
		expect_error(test, t, n, orders[i].cmd, -EOPNOTSUPP);
		n->ops = all;
	}
	n->ops.place = NULL;
	KUNIT_EXPECT_EQ(test, send_place(t, n, 6), -EOPNOTSUPP);
	KUNIT_EXPECT_NE(test, t->why[0], 0);
	KUNIT_EXPECT_EQ(test, n->hw.node, 5u);
}

/*
 * --- at once -------------------------------------------------------------------------------------
 */

/* a thread that sends FLOW_GET @times times, or requests a list of all devices (@dump) */
struct asker {
	struct null_nic *n;
	u32 ifindex;
	unsigned int times, failed;
	bool dump;
	bool stranger;		/* the thread has no capabilities */
	struct talk *t;
	struct completion done;
};

/* Drops all capabilities of this thread for the rest of its life. */
static void drop_capabilities(void)
{
	struct cred *cred = prepare_creds();

	if (!cred)
		return;
	cap_clear(cred->cap_effective);
	commit_creds(cred);
}

static int ask(void *arg)
{
	struct asker *a = arg;

	if (a->stranger)
		drop_capabilities();
	for (unsigned int i = 0; i < a->times; i++) {
		struct sk_buff *skb = a->dump ? request(0, TORUS_CMD_DEVICE_GET) :
				      request(a->ifindex, TORUS_CMD_FLOW_GET);

		a->failed += !skb || talk(a->t, skb, a->dump ? NLM_F_DUMP : NLM_F_ACK);
	}
	complete(&a->done);
	return 0;
}

static struct asker *new_asker_of(struct kunit *test, struct null_nic *n, unsigned int times,
				  bool stranger, bool dump)
{
	struct asker *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, a);
	init_completion(&a->done);
	a->ifindex = (u32)n->dev.netdev->ifindex;
	a->times = times;
	a->stranger = stranger;
	a->dump = dump;
	a->t = talk_new(test);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(ask, a, "torus-ask")));
	return a;
}

static struct asker *new_asker(struct kunit *test, struct null_nic *n, unsigned int times)
{
	return new_asker_of(test, n, times, false, false);
}

static void sleep_inside(void *data)
{
	schedule_timeout_uninterruptible(1);
}

/*
 * Operations of a NIC are never called at the same time, however many threads send requests:
 * drivers need no locks among them.
 */
static void operations_of_nic_never_overlap(struct kunit *test)
{
	struct null_nic *n = new_nic(test);
	struct asker *a, *b;
	u64 *v = kunit_kcalloc(test, 200, sizeof(*v), GFP_KERNEL);
	struct ethtool_stats stats = { 0 };

	KUNIT_ASSERT_NOT_NULL(test, v);
	n->inside = sleep_inside;
	a = new_asker(test, n, 20);
	b = new_asker(test, n, 20);
	for (unsigned int i = 0; i < 5; i++)
		n->dev.netdev->ethtool_ops->get_ethtool_stats(n->dev.netdev, &stats, v);
	wait_for_completion(&a->done);
	wait_for_completion(&b->done);
	KUNIT_EXPECT_EQ(test, a->failed + b->failed, 0u);
	KUNIT_EXPECT_EQ(test, atomic_read(&n->seen->asked), 2 * 20 + 5 * NULL_PORTS);
	KUNIT_EXPECT_EQ(test, atomic_read(&n->seen->met), 0);
}

/*
 * Readers without the privilege to command the NIC wait for each other first, so a sender with the
 * privilege waits for at most one of them, however many there are.
 */
static void manager_waits_for_one_unprivileged_reader_at_most(struct kunit *test)
{
	struct null_nic *n = new_nic(test);
	struct asker *stranger, *manager;

	mutex_lock(&n->dev.turn);	/* stands for an unprivileged thread that came before */
	stranger = new_asker_of(test, n, 1, true, false);
	manager = new_asker(test, n, 1);
	wait_for_completion(&manager->done);
	schedule_timeout_uninterruptible(2);
	KUNIT_EXPECT_FALSE(test, completion_done(&stranger->done));
	KUNIT_EXPECT_EQ(test, atomic_read(&n->seen->asked), 1);
	mutex_unlock(&n->dev.turn);
	wait_for_completion(&stranger->done);
	KUNIT_EXPECT_EQ(test, manager->failed + stranger->failed, 0u);
	KUNIT_EXPECT_EQ(test, atomic_read(&n->seen->asked), 2);
}

/* A dump of all devices that waits for one of them does not keep the others from being removed. */
static void waiting_dump_does_not_hold_other_devices(struct kunit *test)
{
	struct null_nic *first = new_nic(test), *next = new_nic(test);
	int users[] = { netdev_refcnt_read(first->dev.netdev),
			netdev_refcnt_read(next->dev.netdev) };
	struct asker *stranger;

	mutex_lock(&first->dev.turn);
	stranger = new_asker_of(test, first, 1, true, true);
	for (unsigned int i = 0; i < 1000 && netdev_refcnt_read(first->dev.netdev) == users[0]; i++)
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_GT(test, netdev_refcnt_read(first->dev.netdev), users[0]);
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(next->dev.netdev), users[1]);
	mutex_unlock(&first->dev.turn);
	wait_for_completion(&stranger->done);
	KUNIT_EXPECT_EQ(test, stranger->failed, 0u);
	KUNIT_EXPECT_GE(test, stranger->t->replies, 2u);
}

/*
 * --- removed
 * ---------------------------------------------------------------------------------------
 */

/* a command that sleeps in an operation until the test lets it go on */
struct removal {
	struct completion inside, go_on, gone;
	struct net_device *dev;
};

static void wait_inside(void *data)
{
	struct removal *r = data;

	complete(&r->inside);
	wait_for_completion(&r->go_on);
}

static int remove(void *arg)
{
	struct removal *r = arg;

	unregister_netdev(r->dev);
	complete(&r->gone);
	return 0;
}

/*
 * A NIC is removed while a command is inside of it, and another waits for its turn. It is taken
 * down after the first has ended, and freed after both have.
 */
static void nic_is_removed_when_running_commands_have_ended(struct kunit *test)
{
	struct removal *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct null_nic *n = new_nic(test);
	struct null_seen *seen = n->seen;
	struct asker *first, *second;
	int refs;

	KUNIT_ASSERT_NOT_NULL(test, r);
	init_completion(&r->inside);
	init_completion(&r->go_on);
	init_completion(&r->gone);
	r->dev = n->dev.netdev;
	n->inside_data = r;
	n->inside = wait_inside;
	first = new_asker(test, n, 1);
	wait_for_completion(&r->inside);
	refs = netdev_refcnt_read(r->dev);
	second = new_asker(test, n, 1);
	while (netdev_refcnt_read(r->dev) == refs && !completion_done(&second->done))
		schedule_timeout_uninterruptible(1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(remove, r, "torus-remove")));
	while (READ_ONCE(r->dev->reg_state) == NETREG_REGISTERED)
		schedule_timeout_uninterruptible(1);
	schedule_timeout_uninterruptible(2);	/* a driver that does not wait would continue now */
	KUNIT_EXPECT_FALSE(test, n->dev.gone);
	KUNIT_EXPECT_FALSE(test, seen->freed);
	complete_all(&r->go_on);
	wait_for_completion(&first->done);
	wait_for_completion(&second->done);
	wait_for_completion(&r->gone);
	KUNIT_EXPECT_EQ(test, first->t->err, 0);
	KUNIT_EXPECT_EQ(test, second->t->err, 0);
	KUNIT_EXPECT_EQ(test, first->t->replies, 1u);
	KUNIT_EXPECT_EQ(test, atomic_read(&seen->met), 0);
	KUNIT_EXPECT_TRUE(test, seen->freed);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(command_reads_no_name_that_is_being_written),
	KUNIT_CASE(queued_messages_hold_no_route),
	KUNIT_CASE(netdev_offers_neither_multicast_nor_vlans),
	KUNIT_CASE(device_is_found_by_ifindex_and_name),
	KUNIT_CASE(many_devices_are_listed_once_in_order),
	KUNIT_CASE(failed_initialisation_leaves_no_device),
	KUNIT_CASE(dumps_have_each_device_and_port),
	KUNIT_CASE(dump_that_fails_ends_with_error),
	KUNIT_CASE(statistics_come_from_nic),
	KUNIT_CASE(messages_go_to_nic_once_it_has_place),
	KUNIT_CASE(error_of_nic_reaches_sender),
	KUNIT_CASE(command_that_nic_lacks_is_refused),
	KUNIT_CASE(operations_of_nic_never_overlap),
	KUNIT_CASE(manager_waits_for_one_unprivileged_reader_at_most),
	KUNIT_CASE(waiting_dump_does_not_hold_other_devices),
	KUNIT_CASE(nic_is_removed_when_running_commands_have_ended),
	{}
};

struct kunit_suite torus_null_suite = { .name = "torus-null", .test_cases = cases };
