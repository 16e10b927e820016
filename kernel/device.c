// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device as the stack sees it: a netdev without link-layer header, like a tun device, that
 * carries IP packets to the node of their destination address. torus.h describes lifetimes.
 *
 * The NIC routes packets whether the netdev is up or not: IFF_UP concerns only the host, and the
 * manager sets the state of the links. The netdev has carrier once the NIC has coordinates, and
 * keeps it: packets are parked when all links have failed, whereas without carrier the stack would
 * drop them.
 */
#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/user_namespace.h>
#include <linux/virtio_net.h>

#include "torus.h"

#define MTU_DEFAULT	64000	/* a message of this size fits into a frame of 65535 bytes */
#define MTU_MAX		65000
#define TX_QUEUE_LEN	500

static struct device_type torus_type = { .name = TORUS_DRIVER };

static const struct net_device_ops torus_netdev_ops;

/* --- finding ------------------------------------------------------------------ */

/* Takes a reference to @dev, which the caller has found under RCU. */
static struct torus_dev *hold_dev(struct net_device *dev, netdevice_tracker *t)
{
	struct torus_dev *d = netdev_priv(dev);

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "device was not found under RCU");
	netdev_hold(dev, t, GFP_ATOMIC);
	return d;
}

void torus_dev_put(struct torus_dev *d, netdevice_tracker *t)
{
	netdev_put(d->netdev, t);
}

static bool is_torus(const struct net_device *dev)
{
	return dev && dev->netdev_ops == &torus_netdev_ops;
}

struct torus_dev *torus_dev_get_by_index(struct net *net, int ifindex, netdevice_tracker *t)
{
	struct torus_dev *d = NULL;
	struct net_device *dev;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(net, ifindex);
	if (is_torus(dev))
		d = hold_dev(dev, t);
	rcu_read_unlock();
	return d;
}

bool torus_dev_is_called(struct torus_dev *d, const char *name)
{
	bool same;

	spin_lock(&d->label);
	same = !strcmp(d->hw->name, name);
	spin_unlock(&d->label);
	return same;
}

/* Return: the torus device with the least ifindex above @after, and with @name unless NULL. */
static struct torus_dev *find_dev(struct net *net, int after, const char *name,
				  netdevice_tracker *t)
{
	struct net_device *dev, *best = NULL;
	struct torus_dev *d = NULL;

	rcu_read_lock();
	for_each_netdev_rcu(net, dev) {
		if (is_torus(dev) && dev->ifindex > after &&
		    (!best || dev->ifindex < best->ifindex) &&
		    (!name || torus_dev_is_called(netdev_priv(dev), name)))
			best = dev;
	}
	d = best ? hold_dev(best, t) : NULL;
	rcu_read_unlock();
	return d;
}

struct torus_dev *torus_dev_get_by_name(struct net *net, const char *name,
					netdevice_tracker *t)
{
	return find_dev(net, 0, name, t);
}

unsigned int torus_dev_list(struct net *net, int after, int *to, unsigned int room)
{
	struct net_device *dev;
	unsigned int n = 0, i;

	rcu_read_lock();
	for_each_netdev_rcu(net, dev) {
		if (!is_torus(dev) || dev->ifindex <= after ||
		    (n == room && dev->ifindex > to[n - 1]))
			continue;
		i = n < room ? n++ : n - 1;
		for (; i && to[i - 1] > dev->ifindex; i--)
			to[i] = to[i - 1];
		to[i] = dev->ifindex;
	}
	rcu_read_unlock();
	return n;
}

struct torus_dev *torus_dev_get_next(struct net *net, int ifindex, netdevice_tracker *t)
{
	return find_dev(net, ifindex, NULL, t);
}

/* --- commands --------------------------------------------------------------------- */

/*
 * Sets the name and the bootstrap flag that DEVICE_SET requests, and the carrier if the NIC has
 * coordinates now.
 */
static void label_dev(struct torus_dev *d, const struct torus_req *r)
{
	lockdep_assert_held(&d->ctl);
	spin_lock(&d->label);
	torus_req_label(d->hw, r);
	spin_unlock(&d->label);
	if (d->hw->placed && !d->gone)
		netif_carrier_on(d->netdev);
}

void torus_dev_lock(struct torus_dev *d)
{
	mutex_lock(&d->ctl);
	/* The netdev's name and index may have changed since the last command. */
	d->hw->ifindex = (u32)d->netdev->ifindex;
	spin_lock(&d->label);
	strscpy(d->hw->ifname, d->ifname, sizeof(d->hw->ifname));
	spin_unlock(&d->label);
}

void torus_dev_lock_sender(struct torus_dev *d)
{
	bool in_turn = !ns_capable_noaudit(d->owner, CAP_NET_ADMIN);

	if (in_turn)
		mutex_lock(&d->turn);
	torus_dev_lock(d);
	d->in_turn = in_turn;
}

void torus_dev_unlock(struct torus_dev *d)
{
	bool in_turn = d->in_turn;

	d->in_turn = false;
	mutex_unlock(&d->ctl);
	if (in_turn)
		mutex_unlock(&d->turn);
}

int torus_dev_run(struct torus_dev *d, struct torus_req *r)
{
	int err;

	lockdep_assert_held(&d->ctl);
	err = torus_req_run(d->hw, r);
	if (!err && r->cmd == TORUS_CMD_DEVICE_SET)
		label_dev(d, r);
	return err;
}

/* --- the number of NICs ------------------------------------------------------------- */

static LIST_HEAD(all_devs);

/* Return: the user namespace below the initial one that @ns is, or is nested in. */
static const struct user_namespace *find_outermost_ns(const struct user_namespace *ns)
{
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return ns;
}

/*
 * Return: true if the NICs of both namespaces count together: both are in one container, or in
 * containers of one user. The containers that root makes belong to different users.
 */
static bool share_limit(const struct user_namespace *a, const struct user_namespace *b)
{
	if (a == &init_user_ns || b == &init_user_ns)
		return false;
	a = find_outermost_ns(a);
	b = find_outermost_ns(b);
	return a == b || (uid_eq(a->owner, b->owner) && !uid_eq(a->owner, GLOBAL_ROOT_UID));
}

bool torus_dev_may_add(struct user_namespace *ns)
{
	unsigned int n = 0;
	struct torus_dev *d;

	ASSERT_RTNL();
	list_for_each_entry(d, &all_devs, all)
		n += share_limit(d->owner, ns);
	return n < TORUS_USER_NICS_MAX;
}

/* --- the netdev ------------------------------------------------------------------- */

/* Copies the name of the netdev, which changes under RTNL, for commands, which do not take RTNL. */
static void copy_ifname(struct torus_dev *d)
{
	ASSERT_RTNL();
	spin_lock(&d->label);
	strscpy(d->ifname, d->netdev->name, sizeof(d->ifname));
	spin_unlock(&d->label);
}

/* Called for each netdev; NETDEV_REGISTER comes also when it has moved to another namespace. */
static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	if (is_torus(dev) && (event == NETDEV_CHANGENAME || event == NETDEV_REGISTER))
		copy_ifname(netdev_priv(dev));
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = { .notifier_call = netdev_event };

int __init torus_dev_init(void)
{
	return register_netdevice_notifier(&netdev_notifier);
}

void torus_dev_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
}

static int torus_ndo_init(struct net_device *dev)
{
	struct torus_dev *d = netdev_priv(dev);
	int err = d->ops->init(d);

	if (err)
		return err;
	copy_ifname(d);
	d->owner = get_user_ns(d->owner ?: dev_net(dev)->user_ns);
	list_add(&d->all, &all_devs);
	return 0;
}

static void torus_ndo_uninit(struct net_device *dev)
{
	struct torus_dev *d = netdev_priv(dev);

	list_del(&d->all);
	torus_dev_lock(d);
	d->gone = true;
	netif_carrier_off(dev);
	torus_dev_unlock(d);
	torus_rma_gone(d);
	d->ops->uninit(d);
	torus_events_flush(d);
}

static void torus_destructor(struct net_device *dev)
{
	struct torus_dev *d = netdev_priv(dev);

	d->ops->free(d);
	put_user_ns(d->owner);
	mutex_destroy(&d->ctl);
	mutex_destroy(&d->turn);
}

static int torus_ndo_open(struct net_device *dev)
{
	netif_tx_start_all_queues(dev);
	return 0;
}

static int torus_ndo_stop(struct net_device *dev)
{
	struct torus_dev *d = netdev_priv(dev);

	netif_tx_stop_all_queues(dev);
	d->ops->stop(d);
	return 0;
}

#define SELECT_BYTES	40	/* bytes of a packet that select its queue: an IPv6 header */

static u16 torus_ndo_select_queue(struct net_device *dev, struct sk_buff *skb,
				  struct net_device *sb_dev)
{
	struct torus_dev *d = netdev_priv(dev);
	unsigned int n = min_t(unsigned int, skb->len, SELECT_BYTES);
	u8 buf[SELECT_BYTES];
	const u8 *ip = skb_header_pointer(skb, 0, (int)n, buf);
	u16 q = ip ? d->ops->select(d, ip, n) : 0;

	return q < dev->real_num_tx_queues ? q : 0;
}

static netdev_tx_t torus_ndo_start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct torus_dev *d = netdev_priv(dev);

	skb_tx_timestamp(skb);
	nf_reset_ct(skb);
	d->ops->xmit(d, skb);
	return NETDEV_TX_OK;
}

static void torus_ndo_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *s)
{
	struct torus_dev *d = netdev_priv(dev);
	u64 c[TORUS_NC_COUNT];

	d->ops->counters(d, c);
	s->tx_packets = c[TORUS_NC_HOST_MESSAGES_TX];
	s->tx_bytes = c[TORUS_NC_HOST_BYTES_TX];
	s->rx_packets = c[TORUS_NC_HOST_MESSAGES_RX];
	s->rx_bytes = c[TORUS_NC_HOST_BYTES_RX];
	s->tx_dropped = c[TORUS_NC_HOST_TX_DROPS];
	s->rx_dropped = c[TORUS_NC_HOST_RX_DROPS];
}

/* `ip link set LOWER master NIC`: the caller may change LOWER, but perhaps not the NIC. */
static int torus_ndo_add_slave(struct net_device *dev, struct net_device *lower,
			       struct netlink_ext_ack *extack)
{
	struct torus_dev *d = netdev_priv(dev);
	struct torus_refusal why = { 0 };
	int err;

	if (!d->ops->add_slave)
		return -EOPNOTSUPP;
	if (!ns_capable(d->owner, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(extack, TORUS_NEEDS_OWNER);
		return -EPERM;
	}
	err = d->ops->add_slave(d, lower, &why);
	if (err)
		NL_SET_ERR_MSG_FMT(extack, "%s", why.text);
	return err;
}

static int torus_ndo_del_slave(struct net_device *dev, struct net_device *lower)
{
	struct torus_dev *d = netdev_priv(dev);

	if (!d->ops->del_slave)
		return -EOPNOTSUPP;
	d->ops->del_slave(d, lower);
	return 0;
}

static const struct net_device_ops torus_netdev_ops = {
	.ndo_init = torus_ndo_init,
	.ndo_uninit = torus_ndo_uninit,
	.ndo_open = torus_ndo_open,
	.ndo_stop = torus_ndo_stop,
	.ndo_start_xmit = torus_ndo_start_xmit,
	.ndo_select_queue = torus_ndo_select_queue,
	.ndo_get_stats64 = torus_ndo_get_stats64,
	.ndo_add_slave = torus_ndo_add_slave,
	.ndo_del_slave = torus_ndo_del_slave,
};

/*
 * Offloads that a virtio_net_hdr can describe, so that the stack of the receiver can perform them.
 */
#define TORUS_FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA | \
			 NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_TSO_ECN)

void torus_netdev_setup(struct net_device *dev)
{
	struct torus_dev *d = netdev_priv(dev);

	d->netdev = dev;
	mutex_init(&d->ctl);
	mutex_init(&d->turn);
	spin_lock_init(&d->label);
	INIT_LIST_HEAD(&d->rma_files);
	torus_events_init(d);
	dev->netdev_ops = &torus_netdev_ops;
	dev->ethtool_ops = &torus_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_destructor = torus_destructor;
	SET_NETDEV_DEVTYPE(dev, &torus_type);
	dev->type = ARPHRD_NONE;
	dev->flags = IFF_POINTOPOINT | IFF_NOARP;
	dev->tx_queue_len = TX_QUEUE_LEN;
	dev->needed_headroom = sizeof(struct virtio_net_hdr);
	dev->mtu = MTU_DEFAULT;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = MTU_MAX;
	dev->features = TORUS_FEATURES | NETIF_F_VLAN_CHALLENGED;
	dev->hw_features = TORUS_FEATURES;
	netif_carrier_off(dev);
}
