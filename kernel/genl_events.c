// SPDX-License-Identifier: GPL-2.0-only
/*
 * LINK_NTF, MGMT_NTF, PARK_NTF. A NIC makes them when the event happens, with its lock held, so
 * their contents are those of that moment and their order is that of the events. If there is no
 * memory for one, the listeners of its group get ENOBUFS, as when their socket is full.
 */
#include "genl.h"

static struct net *net_of(struct torus_dev *d)
{
	return dev_net(d->netdev);
}

static void report_lost(struct torus_dev *d, unsigned int group)
{
	genl_set_err(&torus_family, net_of(d), 0, group, -ENOBUFS);
}

/* Begins a notification, and sets @hdr. NULL: @group has no listener, or there is no memory. */
static struct sk_buff *ntf_new(struct torus_dev *d, unsigned int group, unsigned int cmd,
			       void **hdr)
{
	struct sk_buff *skb;

	if (!genl_has_listeners(&torus_family, net_of(d), group))
		return NULL;
	skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb) {
		report_lost(d, group);
		return NULL;
	}
	*hdr = genlmsg_put(skb, 0, 0, &torus_family, 0, (u8)cmd);
	return skb;
}

/* Sends the notification @skb; if putting its attributes failed with @err, reports a loss. */
static void ntf_send(struct torus_dev *d, unsigned int group, struct sk_buff *skb, void *hdr,
		     int err)
{
	if (err) {
		nlmsg_free(skb);
		report_lost(d, group);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&torus_family, net_of(d), skb, 0, group, GFP_ATOMIC);
}

bool torus_event_wanted(struct torus_dev *d, unsigned int group)
{
	return genl_has_listeners(&torus_family, net_of(d), group);
}

static void notify_tree(struct torus_dev *d, unsigned int group, unsigned int cmd,
			const struct torus_tree *tree, const void *from)
{
	struct sk_buff *skb;
	void *hdr;

	skb = ntf_new(d, group, cmd, &hdr);
	if (skb)
		ntf_send(d, group, skb, hdr, torus_put(skb, tree, NULL, from));
}

void torus_event_link(struct torus_dev *d, struct torus_link *link)
{
	link->ifindex = (u32)d->netdev->ifindex;
	notify_tree(d, TORUS_GROUP_LINK, TORUS_CMD_LINK_NTF, &torus_tree_link_ntf, link);
}

void torus_event_park(struct torus_dev *d, struct torus_park *park)
{
	park->flow.ifindex = (u32)d->netdev->ifindex;
	notify_tree(d, TORUS_GROUP_PARK, TORUS_CMD_PARK_NTF, &torus_tree_park_get, park);
}

void torus_event_mgmt(struct torus_dev *d, unsigned int port, const u8 *data, unsigned int len)
{
	struct sk_buff *skb;
	void *hdr;
	int err;

	skb = ntf_new(d, TORUS_GROUP_MGMT, TORUS_CMD_MGMT_NTF, &hdr);
	if (!skb)
		return;
	err = nla_put_u32(skb, TORUS_A_IFINDEX, (u32)d->netdev->ifindex) ?:
	      nla_put_u8(skb, TORUS_A_PORT, (u8)port) ?:
	      nla_put(skb, TORUS_A_DATA, (int)len, data);
	ntf_send(d, TORUS_GROUP_MGMT, skb, hdr, err);
}

void torus_event_lost(struct torus_dev *d)
{
	for (unsigned int group = 0; group < TORUS_GROUPS; group++)
		report_lost(d, group);
}
