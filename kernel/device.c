// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device as `ip link` sees it: a netdev without link-layer header, like a
 * tun device, that carries IP packets to the node their destination names.
 * torus.h says what lives how long.
 *
 * The router works whether the netdev is up or not: IFF_UP is the host's
 * business, the links' state the manager's.
 */
#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/virtio_net.h>
#include <net/rtnetlink.h>

#include "torus.h"

#define MTU_DEFAULT	64000	/* with header and flits it fits one frame of 65535 */
#define MTU_MAX		65000
#define TX_QUEUE_LEN	500

static unsigned int ports = 6;
module_param(ports, uint, 0644);
MODULE_PARM_DESC(ports, "ports of a new device if `ip link` names none: 2 to 12, even (6)");

static uint payload_max = 4096;
module_param(payload_max, uint, 0644);
MODULE_PARM_DESC(payload_max, "bytes of a new device's largest packet if `ip link` names none: 1024 to 16368 (4096)");

static ulong park_bytes = 16 << 20;
module_param(park_bytes, ulong, 0644);
MODULE_PARM_DESC(park_bytes, "parking segment of a new device if `ip link` names none (16 MiB)");

#define BYTES_MIN	(TN_PAYLOAD_MIN + TN_AROUND_MAX)
#define BYTES_MAX	(1ull << 32)

static struct device_type torus_type = { .name = TORUS_DRIVER };

/* --- finding ------------------------------------------------------------------ */

static struct torus_dev *get(struct net_device *dev, netdevice_tracker *t)
{
	struct torus_dev *d = netdev_priv(dev);

	netdev_hold(dev, t, GFP_ATOMIC);
	return d;
}

void torus_dev_put(struct torus_dev *d, netdevice_tracker *t)
{
	netdev_put(d->netdev, t);
}

static bool is_torus(const struct net_device *dev)
{
	return dev && dev->rtnl_link_ops == &torus_link_ops;
}

struct torus_dev *torus_dev_get_by_index(struct net *net, int ifindex, netdevice_tracker *t)
{
	struct torus_dev *d = NULL;
	struct net_device *dev;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(net, ifindex);
	if (is_torus(dev))
		d = get(dev, t);
	rcu_read_unlock();
	return d;
}

/* The torus device of least ifindex above @after that is called @name (NULL: any). */
static struct torus_dev *find(struct net *net, int after, const char *name,
			      netdevice_tracker *t)
{
	struct net_device *dev, *best = NULL;
	struct torus_dev *d = NULL;

	rcu_read_lock();
	for_each_netdev_rcu(net, dev) {
		bool fits = is_torus(dev) && dev->ifindex > after &&
			    (!best || dev->ifindex < best->ifindex);

		if (fits && name) {
			d = netdev_priv(dev);
			torus_dev_lock(d);
			fits = !strcmp(d->name, name);
			torus_dev_unlock_read(d);
		}
		if (fits)
			best = dev;
	}
	d = best ? get(best, t) : NULL;
	rcu_read_unlock();
	return d;
}

struct torus_dev *torus_dev_get_by_name(struct net *net, const char *name,
					netdevice_tracker *t)
{
	return find(net, 0, name, t);
}

struct torus_dev *torus_dev_get_next(struct net *net, int ifindex, netdevice_tracker *t)
{
	return find(net, ifindex, NULL, t);
}

/* --- place ---------------------------------------------------------------------- */

int torus_dev_place(struct torus_dev *d, const struct torus_shape *shape,
		    const struct torus_coords *at, struct netlink_ext_ack *extack)
{
	void *mem;
	int err;

	if (!tn_shape_nodes(shape)) {
		NL_SET_ERR_MSG(extack, "shape: sizes must be 1 to 4096, 16777216 nodes at most");
		return -EINVAL;
	}
	if (2 * shape->ndims > d->nports) {
		NL_SET_ERR_MSG(extack, "shape: two ports are needed for each dimension");
		return -EINVAL;
	}
	mem = kvzalloc(tn_nic_table_size(shape), TORUS_GFP_LARGE);
	if (!mem) {
		NL_SET_ERR_MSG(extack, "no memory for tables of this shape");
		return -ENOMEM;
	}
	torus_dev_lock(d);
	if (d->placed && d->node == tn_node_id(shape, at) &&
	    !memcmp(&d->shape.size, &shape->size, sizeof(shape->size)) &&
	    d->shape.ndims == shape->ndims) {
		torus_dev_unlock_read(d);
		kvfree(mem);
		return 0;
	}
	err = tn_nic_set_shape(d->nic, shape, at, mem);
	if (!err) {
		torus_host_flush(&d->host);
		swap(d->table, mem);
		d->shape = *shape;
		d->at = *at;
		d->node = tn_node_id(shape, at);
		d->placed = true;
		d->host.shape = &d->shape;
		d->rows_gen++;
	}
	torus_dev_unlock(d);
	kvfree(mem);
	if (err)
		NL_SET_ERR_MSG(extack, "coordinates lie outside of the shape");
	return err;
}

/* --- the netdev ------------------------------------------------------------------- */

static int torus_ndo_init(struct net_device *dev)
{
	return torus_nic_init(netdev_priv(dev));
}

static void torus_ndo_uninit(struct net_device *dev)
{
	struct torus_dev *d = netdev_priv(dev);
	unsigned int i;

	torus_dev_lock(d);
	d->gone = true;
	torus_dev_unlock_read(d);
	for (i = 0; i < d->nports; i++)
		torus_port_detach(d, i);
	torus_nic_stop(d);
}

static void torus_destructor(struct net_device *dev)
{
	torus_nic_free(netdev_priv(dev));
}

static int torus_ndo_open(struct net_device *dev)
{
	netif_start_queue(dev);
	return 0;
}

static int torus_ndo_stop(struct net_device *dev)
{
	struct torus_dev *d = netdev_priv(dev);

	netif_stop_queue(dev);
	skb_queue_purge(&d->txq);
	return 0;
}

static netdev_tx_t torus_ndo_start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct torus_dev *d = netdev_priv(dev);

	skb_tx_timestamp(skb);
	nf_reset_ct(skb);
	torus_tx_put(d, skb);
	return NETDEV_TX_OK;
}

static void torus_ndo_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *s)
{
	struct torus_dev *d = netdev_priv(dev);
	const u64 *c;

	torus_dev_lock(d);
	c = tn_nic_counters(d->nic);
	s->tx_packets = c[TORUS_NC_HOST_MESSAGES_TX];
	s->tx_bytes = c[TORUS_NC_HOST_BYTES_TX];
	s->rx_packets = c[TORUS_NC_HOST_MESSAGES_RX];
	s->rx_bytes = c[TORUS_NC_HOST_BYTES_RX];
	s->rx_dropped = c[TORUS_NC_HOST_DROPS];
	torus_dev_unlock_read(d);
}

static const struct net_device_ops torus_netdev_ops = {
	.ndo_init = torus_ndo_init,
	.ndo_uninit = torus_ndo_uninit,
	.ndo_open = torus_ndo_open,
	.ndo_stop = torus_ndo_stop,
	.ndo_start_xmit = torus_ndo_start_xmit,
	.ndo_get_stats64 = torus_ndo_get_stats64,
};

/* What a virtio_net_hdr can say of a message may be left to the receiver. */
#define TORUS_FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA | \
			 NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_TSO_ECN)

static void torus_setup(struct net_device *dev)
{
	struct torus_dev *d = netdev_priv(dev);

	d->netdev = dev;
	spin_lock_init(&d->lock);
	dev->netdev_ops = &torus_netdev_ops;
	dev->ethtool_ops = &torus_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_destructor = torus_destructor;
	SET_NETDEV_DEVTYPE(dev, &torus_type);
	dev->type = ARPHRD_NONE;
	dev->flags = IFF_POINTOPOINT | IFF_NOARP | IFF_MULTICAST;
	dev->tx_queue_len = TX_QUEUE_LEN;
	dev->needed_headroom = sizeof(struct virtio_net_hdr);
	dev->needed_tailroom = TN_FLIT;
	dev->mtu = MTU_DEFAULT;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = MTU_MAX;
	dev->features = TORUS_FEATURES;
	dev->hw_features = TORUS_FEATURES;
	dev->vlan_features = TORUS_FEATURES;
	netif_keep_dst(dev);
	netif_carrier_off(dev);
}

/* --- rtnl link type ------------------------------------------------------------------ */

static const struct nla_policy torus_policy[IFLA_TORUS_MAX + 1] = {
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
					"ports is %u, allowed 2 to %d, even",
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

/* Not 0, which means none; two starts of a NIC need only differ. */
static u64 new_number(void)
{
	u64 n;

	do {
		get_random_bytes(&n, sizeof(n));
	} while (!(u32)n);
	return n;
}

/* Module parameters were not checked by any policy. */
static int defaults(struct torus_dev *d, struct netlink_ext_ack *extack)
{
	tn_params_default(&d->params);
	/* A peer that waits for a processor is neither lost nor dead. */
	d->params.replay_timeout = 50 * NSEC_PER_MSEC;
	d->params.silence = NSEC_PER_SEC;
	d->params.retry_time = NSEC_PER_SEC;
	if (ports < 2 || ports > TORUS_MAX_PORTS || ports % 2) {
		NL_SET_ERR_MSG_FMT(extack, "module parameter ports is %u, allowed 2 to %d, even",
				   ports, TORUS_MAX_PORTS);
		return -EINVAL;
	}
	if (payload_max < TN_PAYLOAD_MIN || payload_max > TN_PAYLOAD_MAX) {
		NL_SET_ERR_MSG_FMT(extack, "module parameter payload_max is %u, allowed %d to %d",
				   payload_max, TN_PAYLOAD_MIN, TN_PAYLOAD_MAX);
		return -ERANGE;
	}
	if (park_bytes < BYTES_MIN || park_bytes > BYTES_MAX) {
		NL_SET_ERR_MSG_FMT(extack,
				   "module parameter park_bytes is %lu, allowed %d to %llu",
				   park_bytes, BYTES_MIN, BYTES_MAX);
		return -ERANGE;
	}
	d->nports = (u8)ports;
	d->params.payload_max = payload_max;
	d->params.park_bytes = park_bytes;
	d->guid = new_number();
	d->epoch = (u32)new_number();
	return 0;
}

static int torus_newlink(struct net *src_net, struct net_device *dev, struct nlattr *tb[],
			 struct nlattr *data[], struct netlink_ext_ack *extack)
{
	struct torus_dev *d = netdev_priv(dev);
	int err = defaults(d, extack);

	if (err)
		return err;
	if (data && data[IFLA_TORUS_PORTS])
		d->nports = nla_get_u8(data[IFLA_TORUS_PORTS]);
	if (data && data[IFLA_TORUS_GUID])
		d->guid = nla_get_u64(data[IFLA_TORUS_GUID]);
	if (data && data[IFLA_TORUS_BOOTSTRAP])
		d->bootstrap = nla_get_u8(data[IFLA_TORUS_BOOTSTRAP]);
	if (data && data[IFLA_TORUS_NAME])
		nla_strscpy(d->name, data[IFLA_TORUS_NAME], sizeof(d->name));
	err = torus_params_take(&d->params, data, extack);
	if (err)
		return err;

	err = register_netdevice(dev);
	if (err)
		return err;
	torus_dev_lock(d);
	if (!d->name[0])
		strscpy(d->name, dev->name, sizeof(d->name));
	torus_dev_unlock_read(d);
	torus_nic_start(d);
	return 0;
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
	struct torus_dev *d = netdev_priv(dev);
	char name[TORUS_NAME_MAX + 1];
	bool bootstrap;

	torus_dev_lock(d);
	strscpy(name, d->name, sizeof(name));
	bootstrap = d->bootstrap;
	torus_dev_unlock_read(d);
	if (nla_put_u8(skb, IFLA_TORUS_PORTS, d->nports) ||
	    nla_put_u64_64bit(skb, IFLA_TORUS_GUID, d->guid, IFLA_TORUS_PAD) ||
	    nla_put_u8(skb, IFLA_TORUS_BOOTSTRAP, bootstrap) ||
	    nla_put_string(skb, IFLA_TORUS_NAME, name) ||
	    nla_put_u32(skb, IFLA_TORUS_EPOCH, d->epoch) || !torus_params_fill(skb, &d->params))
		return -EMSGSIZE;
	return 0;
}

struct rtnl_link_ops torus_link_ops __read_mostly = {
	.kind = TORUS_DRIVER,
	.maxtype = IFLA_TORUS_MAX,
	.policy = torus_policy,
	.priv_size = sizeof(struct torus_dev),
	.setup = torus_setup,
	.validate = torus_validate,
	.newlink = torus_newlink,
	.dellink = torus_dellink,
	.get_size = torus_get_size,
	.fill_info = torus_fill_info,
};
