// SPDX-License-Identifier: GPL-2.0-only
/* NICs, Ethernet devices and requests for the suites; lab.h. */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

#include "lab.h"

/* small, so that it is allocated quickly; the usual size is 16 MiB */
#define PARK_BYTES	(1 << 20)

static struct kunit_suite *suites[] = {
	&torus_policy_suite, &torus_rows_suite, &torus_park_suite, &torus_port_suite,
	&torus_frame_suite, &torus_tx_suite, &torus_cut_suite, &torus_msg_suite,
	&torus_cable_suite, &torus_show_suite, &torus_pkt_suite, &torus_null_suite,
};

/*
 * The module calls this itself: Linux 6.1 runs the suites of kunit_test_suites() before the init
 * function of the module, but these suites need what that registers.
 */
void torus_kunit_init(void)
{
	__kunit_test_suites_init(suites, ARRAY_SIZE(suites));
}

void torus_kunit_exit(void)
{
	__kunit_test_suites_exit(suites, ARRAY_SIZE(suites));
}

/* --- devices --------------------------------------------------------------------- */

/*
 * Removes the device of the resource. The device is found by number, because the test may have
 * removed it.
 */
static void drop_dev(struct kunit_resource *res)
{
	struct net_device *dev;

	rtnl_lock();
	dev = __dev_get_by_index(&init_net, (int)(long)res->data);
	if (dev)
		unregister_netdevice(dev);
	rtnl_unlock();
}

static int keep_dev(struct kunit_resource *res, void *dev)
{
	res->data = (void *)(long)((struct net_device *)dev)->ifindex;
	return 0;
}

void lab_own(struct kunit *test, struct net_device *dev)
{
	kunit_alloc_resource(test, keep_dev, drop_dev, GFP_KERNEL, dev);
}

static struct net_device *new_link(struct nlattr **data)
{
	static struct nlattr *tb[IFLA_MAX + 1];
	struct net_device *dev;
	int err;

	dev = rtnl_create_link(&init_net, "kt%d", NET_NAME_ENUM, &torus_link_ops, tb, NULL);
	if (IS_ERR(dev))
		return dev;
	err = torus_link_ops.newlink(&init_net, dev, tb, data, NULL);
	if (err) {
		free_netdev(dev);
		return ERR_PTR(err);
	}
	rtnl_configure_link(dev, NULL, 0, NULL);
	return dev;
}

struct torus_soft *lab_nic(struct kunit *test, u8 nports, u64 park_bytes)
{
	struct { struct nlattr a; u8 value; } ports = {
		{ NLA_HDRLEN + sizeof(u8), IFLA_TORUS_PORTS }, nports,
	};
	struct { struct nlattr a; u64 value; } __packed bytes = {
		{ NLA_HDRLEN + sizeof(u64), IFLA_TORUS_PARK_BYTES }, park_bytes ?: PARK_BYTES,
	};
	struct nlattr *data[IFLA_TORUS_MAX + 1] = {
		[IFLA_TORUS_PORTS] = &ports.a,
		[IFLA_TORUS_PARK_BYTES] = &bytes.a,
	};
	struct net_device *dev;

	rtnl_lock();
	dev = new_link(data);
	rtnl_unlock();
	KUNIT_ASSERT_FALSE(test, IS_ERR(dev));
	lab_own(test, dev);
	return netdev_priv(dev);
}

void lab_place_at(struct kunit *test, struct torus_soft *s, u16 nodes, u16 node)
{
	struct torus_shape shape = { .ndims = 1, .size = { nodes, 1, 1, 1, 1, 1 } };
	struct torus_coords at = { { node } };

	KUNIT_ASSERT_EQ(test, lab_set_place(s, &shape, &at), 0);
}

void lab_place(struct kunit *test, struct torus_soft *s, u16 nodes)
{
	lab_place_at(test, s, nodes, 0);
}

u64 lab_counter(struct torus_soft *s, enum torus_node_counter which)
{
	u64 n;

	torus_soft_lock(s);
	n = tn_nic_counters(s->soft.nic)[which];
	torus_soft_unlock_read(s);
	return n;
}

int lab_attach(struct torus_soft *s, unsigned int port, const char *name)
{
	struct torus_refusal why = { 0 };
	int err;

	rtnl_lock();
	err = torus_port_attach(s, port, name, &why);
	rtnl_unlock();
	/* A refusal must give a reason. */
	return err && !why.text[0] ? -ENOMSG : err;
}

static netdev_tx_t swallow(struct sk_buff *skb, struct net_device *dev)
{
	consume_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops lower_ops = { .ndo_start_xmit = swallow };

static void setup_lower(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &lower_ops;
	dev->needs_free_netdev = true;
	dev->max_mtu = ETH_MAX_MTU;
	eth_hw_addr_random(dev);
}

/* Opens @dev, which was just allocated, until the test ends. */
static void open_lower(struct kunit *test, struct net_device *dev, unsigned int mtu)
{
	int err;

	dev->mtu = mtu;
	rtnl_lock();
	err = register_netdevice(dev) ?: dev_open(dev, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, err, 0);
	lab_own(test, dev);
}

struct net_device *lab_lower(struct kunit *test, const char *name, unsigned int mtu)
{
	struct net_device *dev = alloc_netdev(0, name, NET_NAME_USER, setup_lower);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	open_lower(test, dev, mtu);
	return dev;
}

void lab_lower_del(struct net_device *lower)
{
	rtnl_lock();
	unregister_netdevice(lower);
	rtnl_unlock();
}

/* --- cables ------------------------------------------------------------------------ */

static struct lab_cable *cable_of(const struct net_device *dev)
{
	return *(struct lab_cable **)netdev_priv(dev);
}

static struct net_device *other_end(struct net_device *dev)
{
	struct lab_cable *c = cable_of(dev);

	return c->end[dev == c->end[0]];
}

static netdev_tx_t cable_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct lab_cable *c = cable_of(dev);
	struct sk_buff *copy = skb;

	if (!c->virtual) {
		copy = skb_copy(skb, GFP_ATOMIC);
		consume_skb(skb);
		if (!copy)
			return NETDEV_TX_OK;
		copy->ip_summed = CHECKSUM_NONE;
		copy->csum_level = 0;
	}
	skb_pull(copy, ETH_HLEN);
	if (c->touch)
		c->touch(c, copy);
	skb_push(copy, ETH_HLEN);
	dev_forward_skb(other_end(dev), copy);
	return NETDEV_TX_OK;
}

static const struct net_device_ops wire_ops = { .ndo_start_xmit = cable_xmit };
static const struct net_device_ops virtual_ops = {
	.ndo_start_xmit = cable_xmit,
	.ndo_get_peer_dev = other_end,
};

static struct rtnl_link_ops kind_veth = { .kind = "veth" };
static struct rtnl_link_ops kind_netkit = { .kind = "netkit" };

void lab_cable(struct kunit *test, struct lab_cable *c)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct net_device *dev = alloc_netdev(sizeof(c), i ? "ktc1" : "ktc0",
						      NET_NAME_USER, setup_lower);

		KUNIT_ASSERT_NOT_NULL(test, dev);
		dev->netdev_ops = c->virtual ? &virtual_ops : &wire_ops;
		dev->features |= NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA;
		if (c->virtual)		/* devices with a peer must set it */
			dev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
		if (c->virtual && !c->queued)
			dev->priv_flags |= IFF_NO_QUEUE;
		if (c->virtual)
			dev->rtnl_link_ops = c->netkit ? &kind_netkit : &kind_veth;
		*(struct lab_cable **)netdev_priv(dev) = c;
		c->end[i] = dev;
	}
	open_lower(test, c->end[0], 65535);
	open_lower(test, c->end[1], 65535);
}

/* --- requests ---------------------------------------------------------------------- */

struct sk_buff *lab_msg(u8 cmd)
{
	struct sk_buff *skb = alloc_skb(TORUS_MSG_MAX + 1024, GFP_KERNEL);

	if (skb && !genlmsg_put(skb, 0, 0, &torus_family, NLM_F_REQUEST, cmd)) {
		kfree_skb(skb);
		skb = NULL;
	}
	return skb;
}

static int obey(struct sk_buff *skb, struct genl_info *info)
{
	struct genlmsghdr *g = info->genlhdr;
	int err;

	err = nla_parse(info->attrs, TORUS_A_MAX, genlmsg_data(g), genlmsg_len(g),
			torus_policies[g->cmd], info->extack) ?:
	      torus_request_check(g->cmd, false, genlmsg_data(g), genlmsg_len(g), info->extack);
	return err || !info->user_ptr[0] ? err : torus_genl_do(skb, info);
}

int lab_send(struct torus_soft *s, struct sk_buff *skb, unsigned int *bad)
{
	struct netlink_ext_ack extack = { 0 };
	struct genl_info info = {
		.nlhdr = nlmsg_hdr(skb),
		.genlhdr = nlmsg_data(nlmsg_hdr(skb)),
		.user_ptr = { s ? &s->dev : NULL },
		.extack = &extack,
	};
	int err = -ENOMEM;

	genl_info_net_set(&info, &init_net);
	nlmsg_end(skb, nlmsg_hdr(skb));
	info.attrs = kcalloc(TORUS_A_MAX + 1, sizeof(*info.attrs), GFP_KERNEL);
	if (info.attrs)
		err = obey(skb, &info);
	if (bad)
		*bad = extack.bad_attr ? nla_type(extack.bad_attr) : extack.miss_type;
	kfree(info.attrs);
	kfree_skb(skb);
	return err;
}

int lab_set_place(struct torus_soft *s, const struct torus_shape *shape,
		  const struct torus_coords *at)
{
	struct sk_buff *skb = lab_msg(TORUS_CMD_DEVICE_SET);

	if (!skb)
		return -ENOMEM;
	nla_put(skb, TORUS_A_SHAPE, (int)(shape->ndims * sizeof(u16)), shape->size);
	nla_put(skb, TORUS_A_COORDS, (int)(shape->ndims * sizeof(u16)), at->c);
	return lab_send(s, skb, NULL);
}

int lab_version(struct torus_soft *s, u8 cmd, u64 version)
{
	struct sk_buff *skb = lab_msg(cmd);

	if (!skb)
		return -ENOMEM;
	nla_put(skb, TORUS_A_VERSION, sizeof(version), &version);
	return lab_send(s, skb, NULL);
}

int lab_put(struct torus_soft *s, u64 version, u32 first, u64 row, u32 n)
{
	struct sk_buff *skb = lab_msg(TORUS_CMD_ROWS_PUT);
	struct nlattr *nest, *data;
	u32 i;

	if (!skb)
		return -ENOMEM;
	nla_put(skb, TORUS_A_VERSION, sizeof(version), &version);
	nest = nla_nest_start(skb, TORUS_A_ROWS);
	nla_put_u32(skb, TORUS_ROWS_FIRST, first);
	data = nla_reserve(skb, TORUS_ROWS_DATA, (int)(n * sizeof(row)));
	if (!data) {
		kfree_skb(skb);
		return -EMSGSIZE;
	}
	for (i = 0; i < n; i++)
		memcpy(nla_data(data) + i * sizeof(row), &row, sizeof(row));
	nla_nest_end(skb, nest);
	return lab_send(s, skb, NULL);
}
