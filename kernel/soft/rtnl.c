// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rtnl link type: `ip link` adds, deletes and shows software NICs. Also torus_net_ops of these
 * NICs.
 */
#include <linux/ethtool.h>
#include <linux/random.h>
#include <net/rtnetlink.h>

#include "nic.h"

#define PORTS_DEFAULT	6	/* ports of a torus of three dimensions */
#define PARK_USER_MAX	(256 << 20)	/* most park_bytes without privilege */

/* --- for the netdev ------------------------------------------------------------------ */

/* Called when the netdev has its name, and before it can be found. */
static int soft_init(struct torus_dev *d)
{
	if (!d->hw->name[0])
		strscpy(d->hw->name, d->netdev->name, sizeof(d->hw->name));
	return torus_nic_init(torus_soft_of(d));
}

static void soft_uninit(struct torus_dev *d)
{
	struct torus_soft *s = torus_soft_of(d);

	for (unsigned int i = 0; i < s->soft.hw.nports; i++)
		torus_port_detach(s, i);
	torus_nic_stop(s);
}

static void soft_free(struct torus_dev *d)
{
	torus_nic_free(torus_soft_of(d));
}

static void soft_xmit(struct torus_dev *d, struct sk_buff *skb)
{
	torus_tx_put(torus_soft_of(d), skb);
}

static u16 soft_select(struct torus_dev *d, const u8 *ip, unsigned int n)
{
	return torus_host_vc(&torus_soft_of(d)->soft.host, ip, n);
}

static void soft_stop(struct torus_dev *d)
{
	struct torus_soft *s = torus_soft_of(d);
	unsigned int purged = torus_tx_purge(s);

	torus_soft_lock(s);
	tn_nic_counters(s->soft.nic)[TORUS_NC_HOST_TX_DROPS] += purged;
	torus_host_forget(&s->soft.host);
	torus_soft_unlock_read(s);
}

static void soft_counters(struct torus_dev *d, u64 *to)
{
	torus_nic_counters(torus_soft_of(d), to);
}

static u64 soft_tx_waited(struct torus_dev *d)
{
	return READ_ONCE(torus_soft_of(d)->tx.waited);
}

static u64 soft_rx_drops(struct torus_dev *d, unsigned int port)
{
	return (u64)atomic_long_read(&torus_soft_of(d)->port[port].rx_dropped);
}

static void soft_get_coalesce(struct torus_dev *d, struct ethtool_coalesce *c)
{
	const struct torus_tx *tx = &torus_soft_of(d)->tx;

	c->tx_coalesce_usecs = READ_ONCE(tx->usecs);
	c->tx_max_coalesced_frames = READ_ONCE(tx->frames);
}

static int soft_set_coalesce(struct torus_dev *d, const struct ethtool_coalesce *c,
			     struct netlink_ext_ack *extack)
{
	struct torus_tx *tx = &torus_soft_of(d)->tx;

	if (c->tx_coalesce_usecs > TORUS_TX_USECS_MAX) {
		NL_SET_ERR_MSG(extack, "tx-usecs must be 0 to " __stringify(TORUS_TX_USECS_MAX));
		return -ERANGE;
	}
	if (!c->tx_max_coalesced_frames || c->tx_max_coalesced_frames > TORUS_TXQ_MAX) {
		NL_SET_ERR_MSG(extack, "tx-frames must be 1 to " __stringify(TORUS_TXQ_MAX));
		return -ERANGE;
	}
	WRITE_ONCE(tx->usecs, c->tx_coalesce_usecs);
	WRITE_ONCE(tx->frames, c->tx_max_coalesced_frames);
	return 0;
}

static int soft_add_slave(struct torus_dev *d, struct net_device *lower, struct torus_refusal *why)
{
	return torus_port_enslave(torus_soft_of(d), lower, why);
}

static void soft_del_slave(struct torus_dev *d, struct net_device *lower)
{
	torus_port_release(torus_soft_of(d), lower);
}

static const struct torus_net_ops soft_net_ops = {
	.init = soft_init,
	.uninit = soft_uninit,
	.free = soft_free,
	.xmit = soft_xmit,
	.select = soft_select,
	.stop = soft_stop,
	.counters = soft_counters,
	.tx_waited = soft_tx_waited,
	.rx_drops = soft_rx_drops,
	.get_coalesce = soft_get_coalesce,
	.set_coalesce = soft_set_coalesce,
	.add_slave = soft_add_slave,
	.del_slave = soft_del_slave,
	.rma = &torus_soft_rma_ops,
};

static void torus_setup(struct net_device *dev)
{
	struct torus_soft *s = netdev_priv(dev);

	s->dev.ops = &soft_net_ops;
	s->dev.hw = &s->soft.hw;
	s->soft.hw.driver = TORUS_DRIVER;
	spin_lock_init(&s->lock);
	torus_netdev_setup(dev);
	dev->needed_tailroom = TN_FLIT;	/* cut.c pads a message to whole flits */
}

/* --- rtnl link type ------------------------------------------------------------------ */

static const struct nla_policy torus_policy[IFLA_TORUS_MAX + 1] = {
	[IFLA_TORUS_UNSPEC] = { .strict_start_type = IFLA_TORUS_PORTS },
	[IFLA_TORUS_PORTS] = NLA_POLICY_RANGE(NLA_U8, 2, TORUS_MAX_PORTS),
	[IFLA_TORUS_GUID] = { .type = NLA_U64 },
	[IFLA_TORUS_BOOTSTRAP] = NLA_POLICY_MAX(NLA_U8, 1),
	[IFLA_TORUS_NAME] = { .type = NLA_NUL_STRING, .len = TORUS_NAME_MAX },
	[IFLA_TORUS_EPOCH] = { .type = NLA_REJECT },
#define X(id, name, kind, unit, min, max) [IFLA_TORUS_##id] = { .type = NLA_##kind },
	TORUS_PARAM_LIST(X)
#undef X
};

static int torus_validate(struct nlattr *tb[], struct nlattr *data[],
			  struct netlink_ext_ack *extack)
{
	if (tb[IFLA_ADDRESS]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS], "a torus device has no such address");
		return -EOPNOTSUPP;
	}
	if (!data)
		return 0;
	if (data[IFLA_TORUS_PORTS] && nla_get_u8(data[IFLA_TORUS_PORTS]) % 2) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, data[IFLA_TORUS_PORTS],
					"ports is %u, must be 2 to %d, even",
					nla_get_u8(data[IFLA_TORUS_PORTS]), TORUS_MAX_PORTS);
		return -EINVAL;
	}
	if (data[IFLA_TORUS_GUID] && !nla_get_u64(data[IFLA_TORUS_GUID])) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_TORUS_GUID], "guid must not be 0");
		return -EINVAL;
	}
	if (data[IFLA_TORUS_NAME] && !*(const char *)nla_data(data[IFLA_TORUS_NAME])) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_TORUS_NAME], "the name is empty");
		return -EINVAL;
	}
	return 0;
}

/* Return: a random number whose low 32 bits are not 0, since 0 means none. */
static u64 random_nonzero(void)
{
	u64 n;

	do {
		get_random_bytes(&n, sizeof(n));
	} while (!(u32)n);
	return n;
}

static void set_defaults(struct torus_soft *s)
{
	tn_params_default(&s->soft.params);
	/*
	 * Longer than a peer may wait for a processor, because such a delay must not fail the link.
	 */
	s->soft.params.replay_timeout = 50 * NSEC_PER_MSEC;
	s->soft.params.silence = NSEC_PER_SEC;
	s->soft.params.retry_time = NSEC_PER_SEC;
	s->soft.hw.nports = PORTS_DEFAULT;
	s->soft.hw.guid = random_nonzero();
	s->soft.hw.epoch = (u32)random_nonzero();
}

/*
 * Refuses unprivileged users parameters that would let a NIC use more uncharged memory than by
 * default: packets are allocated in soft interrupts, so that nobody is charged for them. The
 * parking segment is charged to the user who makes the NIC, but RTNL is held while it is allocated,
 * which takes the longer the larger it is.
 */
static int check_memory(const struct tn_params *p, struct netlink_ext_ack *extack)
{
	struct tn_params least;

	tn_params_default(&least);
	if (p->hold_bytes <= least.hold_bytes && p->relay_packets <= least.relay_packets &&
	    p->slots <= least.slots && p->retry_packets <= least.retry_packets &&
	    p->park_bytes <= PARK_USER_MAX)
		return 0;
	if (capable(CAP_NET_ADMIN))
		return 0;
	NL_SET_ERR_MSG(extack,
		       "slots, retry_packets, relay_packets or hold_bytes above the default, or "
		       "park_bytes above 256M, need CAP_NET_ADMIN in the initial user namespace");
	return -EPERM;
}

/* Makes the NIC @dev for @src_net, with the parameters @data, and registers it. */
static int make_nic(struct net *src_net, struct net_device *dev, struct nlattr *data[],
		    struct netlink_ext_ack *extack)
{
	struct torus_soft *s = netdev_priv(dev);
	int err;

	set_defaults(s);
	if (data && data[IFLA_TORUS_PORTS])
		s->soft.hw.nports = nla_get_u8(data[IFLA_TORUS_PORTS]);
	if (data && data[IFLA_TORUS_GUID])
		s->soft.hw.guid = nla_get_u64(data[IFLA_TORUS_GUID]);
	if (data && data[IFLA_TORUS_BOOTSTRAP])
		s->soft.hw.bootstrap = nla_get_u8(data[IFLA_TORUS_BOOTSTRAP]);
	if (data && data[IFLA_TORUS_NAME])
		nla_strscpy(s->soft.hw.name, data[IFLA_TORUS_NAME], sizeof(s->soft.hw.name));
	err = torus_params_take(&s->soft.params, data, extack);
	if (!err)
		err = check_memory(&s->soft.params, extack);
	if (err)
		return err;

	err = netif_set_real_num_tx_queues(dev, min_t(unsigned int, dev->num_tx_queues, TORUS_VCS));
	if (err)
		return err;
	if (!torus_dev_may_add(src_net->user_ns)) {
		NL_SET_ERR_MSG(extack, "this container, or the containers of this user, have "
			       __stringify(TORUS_USER_NICS_MAX) " NICs already, the most");
		return -EDQUOT;
	}
	s->dev.owner = src_net->user_ns;
	err = register_netdevice(dev);
	if (err)
		return err;
	torus_nic_start(s);
	return 0;
}

#ifdef TORUS_HAS_NEWLINK_PARAMS
static int torus_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
			 struct netlink_ext_ack *extack)
{
	return make_nic(rtnl_newlink_link_net(params), dev, params->data, extack);
}
#else		/* until Linux 6.14 */
static int torus_newlink(struct net *src_net, struct net_device *dev, struct nlattr *tb[],
			 struct nlattr *data[], struct netlink_ext_ack *extack)
{
	return make_nic(src_net, dev, data, extack);
}
#endif

/* Changes the name of the NIC and its bootstrap flag, as DEVICE_SET does. */
static int torus_changelink(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
			    struct netlink_ext_ack *extack)
{
	struct torus_soft *s = netdev_priv(dev);
	unsigned int i;

	for (i = 1; data && i <= IFLA_TORUS_MAX; i++) {
		if (!data[i] || i == IFLA_TORUS_NAME || i == IFLA_TORUS_BOOTSTRAP)
			continue;
		NL_SET_ERR_MSG_ATTR(extack, data[i],
				    "only the name and the bootstrap flag of a NIC can be changed");
		return -EOPNOTSUPP;
	}
	if (!data)
		return 0;
	if (!ns_capable(s->dev.owner, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(extack, TORUS_NEEDS_OWNER);
		return -EPERM;
	}
	torus_dev_lock(&s->dev);
	spin_lock(&s->dev.label);
	if (data[IFLA_TORUS_NAME])
		nla_strscpy(s->soft.hw.name, data[IFLA_TORUS_NAME], sizeof(s->soft.hw.name));
	if (data[IFLA_TORUS_BOOTSTRAP])
		s->soft.hw.bootstrap = nla_get_u8(data[IFLA_TORUS_BOOTSTRAP]);
	spin_unlock(&s->dev.label);
	torus_dev_unlock(&s->dev);
	return 0;
}

static unsigned int torus_get_num_tx_queues(void)
{
	return TORUS_VCS;
}

static void torus_dellink(struct net_device *dev, struct list_head *head)
{
	unregister_netdevice_queue(dev, head);
}

static size_t torus_get_size(const struct net_device *dev)
{
	return nla_total_size(sizeof(u8)) * 2 + nla_total_size_64bit(sizeof(u64)) +
	       nla_total_size(TORUS_NAME_MAX + 1) + nla_total_size(sizeof(u32)) +
	       torus_params_size();
}

static int torus_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	struct torus_soft *s = netdev_priv(dev);
	char name[TORUS_NAME_MAX + 1];
	bool bootstrap;

	spin_lock(&s->dev.label);
	strscpy(name, s->soft.hw.name, sizeof(name));
	bootstrap = s->soft.hw.bootstrap;
	spin_unlock(&s->dev.label);
	if (nla_put_u8(skb, IFLA_TORUS_PORTS, s->soft.hw.nports) ||
	    nla_put_u64_64bit(skb, IFLA_TORUS_GUID, s->soft.hw.guid, IFLA_TORUS_PAD) ||
	    nla_put_u8(skb, IFLA_TORUS_BOOTSTRAP, bootstrap) ||
	    nla_put_string(skb, IFLA_TORUS_NAME, name) ||
	    nla_put_u32(skb, IFLA_TORUS_EPOCH, s->soft.hw.epoch) ||
	    !torus_params_fill(skb, &s->soft.params))
		return -EMSGSIZE;
	return 0;
}

/* --- ports, of which the NIC is the master ------------------------------------------------ */

static const struct nla_policy torus_slave_policy[IFLA_TORUS_SLAVE_MAX + 1] = {
	[IFLA_TORUS_SLAVE_PORT] = { .type = NLA_REJECT },
};

static size_t torus_get_slave_size(const struct net_device *dev, const struct net_device *lower)
{
	return nla_total_size(sizeof(u8));
}

static int torus_fill_slave_info(struct sk_buff *skb, const struct net_device *dev,
				 const struct net_device *lower)
{
	int port = torus_port_of(netdev_priv(dev), lower);

	return port < 0 ? 0 : nla_put_u8(skb, IFLA_TORUS_SLAVE_PORT, (u8)port);
}

struct rtnl_link_ops torus_link_ops __read_mostly = {
	.kind = TORUS_DRIVER,
	.maxtype = IFLA_TORUS_MAX,
	.policy = torus_policy,
	.priv_size = sizeof(struct torus_soft),
	.setup = torus_setup,
	.validate = torus_validate,
	.newlink = torus_newlink,
	.changelink = torus_changelink,
	.dellink = torus_dellink,
	.get_num_tx_queues = torus_get_num_tx_queues,
	.get_size = torus_get_size,
	.fill_info = torus_fill_info,
	.slave_maxtype = IFLA_TORUS_SLAVE_MAX,
	.slave_policy = torus_slave_policy,
	.get_slave_size = torus_get_slave_size,
	.fill_slave_info = torus_fill_slave_info,
};

int torus_soft_register(void)
{
	int err = torus_pkt_init();

	if (err)
		return err;
	err = torus_port_register();
	if (err)
		goto err_pkt;
	err = rtnl_link_register(&torus_link_ops);
	if (err)
		goto err_port;
	return 0;

err_port:
	torus_port_unregister();
err_pkt:
	torus_pkt_exit();
	return err;
}

void torus_soft_unregister(void)
{
	rtnl_link_unregister(&torus_link_ops);
	torus_port_unregister();
	/* RCU callbacks that are still pending may call code of this module. */
	rcu_barrier();
	torus_pkt_exit();
}
