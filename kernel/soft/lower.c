// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lower Ethernet devices: which of them each port is bound to, and what their changes mean.
 *
 * The netdev is the master of the lower device, so the stack refuses loops, stacks that are too
 * high, and a second master. A NIC that moves to another namespace keeps its lower devices, which
 * stay where they are, as VLANs and macvlans do: a container can be given the NIC without them. It
 * is not their master while it is elsewhere. A lower device that moves to another namespace is
 * unbound from its port, as with bridges and bonds.
 * A port has carrier while its lower device is up and has carrier, and its MTU holds the largest
 * packet.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <net/rtnetlink.h>

#include "nic.h"

void torus_port_init(struct torus_soft *s, unsigned int num)
{
	struct torus_port *port = &s->port[num];

	port->nic = s;
	port->num = (u8)num;
	port->soft = &s->soft.port[num];
	skb_queue_head_init(&port->rx);
}

/* Sets the carrier and frame size of a port in the core, after its lower device changed; RTNL. */
static void update_carrier(struct torus_port *port)
{
	struct net_device *lower = rtnl_dereference(port->lower);
	struct torus_soft *s = port->nic;
	bool up = lower && netif_running(lower) && netif_carrier_ok(lower);
	u32 least = tn_packet_max(&s->soft.params);
	unsigned int dims = s->soft.hw.nports / 2;

	if (up && lower->mtu < least) {
		/*
		 * Rate-limited, because the root user of a container can cause this message any
		 * number of times.
		 */
		if (net_ratelimit())
			netdev_warn(s->dev.netdev,
				    "port %c%c is not used: the MTU of %s is %u, packets need %u\n",
				    port->num < dims ? '+' : '-', "xyzabc"[port->num % dims],
				    lower->name, lower->mtu, least);
		up = false;
	}
	torus_soft_lock(s);
	if (up)
		tn_nic_frame_max(s->soft.nic, port->num, lower->mtu);
	tn_nic_carrier(s->soft.nic, port->num, up, torus_now(s));
	torus_soft_unlock(s);
}

static void set_lower_name(struct torus_port *port, const char *name)
{
	torus_soft_lock(port->nic);
	strscpy(port->soft->lower, name, sizeof(port->soft->lower));
	torus_soft_unlock_read(port->nic);
}

/* Unbinds @port from @lower; the caller has removed the NIC as its upper device. */
static void unbind_lower(struct torus_port *port, struct net_device *lower)
{
	RCU_INIT_POINTER(port->lower, NULL);
	/* Waits until torus_port_rx(), and the NAPI poll, which may be sending, have ended. */
	netdev_rx_handler_unregister(lower);
	port->pair = NULL;
	set_lower_name(port, "");
	update_carrier(port);
	skb_queue_purge(&port->rx);
	WRITE_ONCE(port->rx_bytes, 0);
	torus_port_drop_late(port);
	netdev_put(lower, &port->lower_tracker);
}

void torus_port_detach(struct torus_soft *s, unsigned int num)
{
	struct torus_port *port = &s->port[num];
	struct net_device *lower = rtnl_dereference(port->lower);

	ASSERT_RTNL();
	if (!lower)
		return;
	netdev_upper_dev_unlink(lower, s->dev.netdev);
	unbind_lower(port, lower);
}

/*
 * Makes @nic the master of @lower, or only a device above it if they are in different namespaces:
 * the stack shows the ifindex of a master, which there would be that of another device.
 */
static int link_upper(struct net_device *nic, struct net_device *lower)
{
	if (net_eq(dev_net(nic), dev_net(lower)))
		return netdev_master_upper_dev_link(lower, nic, NULL, NULL, NULL);
	return netdev_upper_dev_link(lower, nic, NULL);
}

/* Called when the NIC has moved to another namespace. */
static void relink_ports(struct torus_soft *s)
{
	ASSERT_RTNL();
	for (unsigned int i = 0; i < s->soft.hw.nports; i++) {
		struct net_device *lower = rtnl_dereference(s->port[i].lower);

		if (!lower)
			continue;
		netdev_upper_dev_unlink(lower, s->dev.netdev);
		if (!link_upper(s->dev.netdev, lower))
			continue;
		netdev_warn(s->dev.netdev, "port %u loses %s, which has another master\n", i,
			    lower->name);
		unbind_lower(&s->port[i], lower);
	}
}

static int check_lower(struct torus_soft *s, unsigned int num, struct net_device *lower,
		       struct torus_refusal *why)
{
	unsigned int i;

	if (lower->type != ARPHRD_ETHER || lower->flags & IFF_LOOPBACK)
		return torus_refuse(why, -EINVAL, NULL, "lower device is not an Ethernet device");
	if (lower->mtu < tn_packet_max(&s->soft.params))
		return torus_refuse(why, -EINVAL, NULL,
				    "MTU of the lower device is %u, must be %u or more",
				    lower->mtu, tn_packet_max(&s->soft.params));
	for (i = 0; i < s->soft.hw.nports; i++) {
		if (i != num && rtnl_dereference(s->port[i].lower) == lower)
			return torus_refuse(why, -EBUSY, NULL,
					    "lower device is bound to another port of this NIC");
	}
	if (netdev_is_rx_handler_busy(lower) || netdev_master_upper_dev_get(lower))
		return torus_refuse(why, -EBUSY, NULL,
				    "lower device belongs to a bridge or another master device");
	return 0;
}

/*
 * Return: the other end of the veth pair if @dev is an end of one, else NULL. netkit devices have a
 * peer, too, but may run BPF programs in ndo_start_xmit, which has_egress() and has_ingress() do
 * not see.
 */
static const struct net_device *find_pair(struct net_device *dev)
{
	const struct net_device *peer = NULL;

	ASSERT_RTNL();
	if (!dev->rtnl_link_ops || strcmp(dev->rtnl_link_ops->kind, "veth"))
		return NULL;
	rcu_read_lock();	/* veth's ndo_get_peer_dev() requires it */
	if (dev->netdev_ops->ndo_get_peer_dev)
		peer = dev->netdev_ops->ndo_get_peer_dev(dev);
	rcu_read_unlock();
	return peer;
}

static int bind_lower(struct torus_port *port, struct net_device *lower,
		      struct torus_refusal *why)
{
	struct torus_soft *s = port->nic;
	int err;

	err = link_upper(s->dev.netdev, lower);
	if (err)
		return torus_refuse(why, err, NULL,
				    "lower device cannot carry a torus device: loop or too deep");
	port->pair = find_pair(lower);
	err = netdev_rx_handler_register(lower, torus_port_rx, port);
	if (err) {
		netdev_upper_dev_unlink(lower, s->dev.netdev);
		return torus_refuse(why, err, NULL, "lower device is in use");
	}
	netdev_hold(lower, &port->lower_tracker, GFP_KERNEL);
	rcu_assign_pointer(port->lower, lower);
	set_lower_name(port, lower->name);
	update_carrier(port);
	return 0;
}

/* Binds port @num to @lower, in place of the device to which it is bound. */
static int replace_lower(struct torus_soft *s, unsigned int num, struct net_device *lower,
			 struct torus_refusal *why)
{
	struct torus_port *port = &s->port[num];
	int err;

	if (rtnl_dereference(port->lower) == lower)
		return 0;
	err = check_lower(s, num, lower, why);
	if (err)
		return err;
	torus_port_detach(s, num);
	return bind_lower(port, lower, why);
}

int torus_port_attach(struct torus_soft *s, unsigned int num, const char *name,
		      struct torus_refusal *why)
{
	struct net_device *lower;

	ASSERT_RTNL();
	if (s->dev.gone) /* RTNL protects this flag */
		return torus_refuse(why, -ENODEV, NULL, "the device is being removed");
	lower = __dev_get_by_name(dev_net(s->dev.netdev), name);
	if (!lower)
		return torus_refuse(why, -ENODEV, NULL,
				    "no such lower device in this network namespace");
	return replace_lower(s, num, lower, why);
}

int torus_port_enslave(struct torus_soft *s, struct net_device *lower, struct torus_refusal *why)
{
	unsigned int num;

	ASSERT_RTNL();
	if (s->dev.gone)
		return torus_refuse(why, -ENODEV, NULL, "the device is being removed");
	for (num = 0; num < s->soft.hw.nports; num++) {
		if (!rtnl_dereference(s->port[num].lower))
			return replace_lower(s, num, lower, why);
	}
	return torus_refuse(why, -EBUSY, NULL, "all ports of this NIC have a lower device");
}

int torus_port_of(const struct torus_soft *s, const struct net_device *lower)
{
	ASSERT_RTNL();
	for (int num = 0; num < s->soft.hw.nports; num++) {
		if (rcu_access_pointer(s->port[num].lower) == lower)
			return num;
	}
	return -ENODEV;
}

void torus_port_release(struct torus_soft *s, const struct net_device *lower)
{
	int num = torus_port_of(s, lower);

	if (num >= 0)
		torus_port_detach(s, (unsigned int)num);
}

static int lower_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct torus_port *port;

	if (event == NETDEV_REGISTER && dev->rtnl_link_ops == &torus_link_ops)
		relink_ports(netdev_priv(dev));
	if (rcu_access_pointer(dev->rx_handler) != torus_port_rx)
		return NOTIFY_DONE;
	port = rtnl_dereference(dev->rx_handler_data);
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		update_carrier(port);
		break;
	case NETDEV_CHANGENAME:
		set_lower_name(port, dev->name);
		break;
	case NETDEV_UNREGISTER:		/* also sent before the device moves to another namespace */
		torus_port_detach(port->nic, port->num);
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		return NOTIFY_BAD;
	}
	return NOTIFY_DONE;
}

static struct notifier_block lower_notifier = { .notifier_call = lower_event };

int torus_port_register(void)
{
	return register_netdevice_notifier(&lower_notifier);
}

void torus_port_unregister(void)
{
	unregister_netdevice_notifier(&lower_notifier);
}
