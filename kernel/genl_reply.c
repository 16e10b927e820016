// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replies and notifications, filled by req/fill.c and put by req/tree.c. They are filled in
 * torus_dev.reply, since they are large for a stack; its user holds the lock.
 */
#include "genl.h"

int torus_put(struct sk_buff *skb, const struct torus_tree *tree, const struct torus_attrs *without,
	      const void *from)
{
	int n = torus_tree_put(tree, without, from, skb_tail_pointer(skb),
			       (size_t)max(skb_tailroom(skb), 0));

	if (n < 0)
		return n;
	skb_put(skb, (unsigned int)n);
	return 0;
}

static u32 ifindex(const struct torus_dev *d)
{
	return (u32)d->netdev->ifindex;
}

int torus_put_device(struct sk_buff *skb, struct torus_dev *d)
{
	struct torus_device *out = &d->reply.device;

	*out = (struct torus_device) {
		.driver = TORUS_DRIVER,
		.ifindex = ifindex(d),
		.guid = d->guid,
		.epoch = d->epoch,
		.nports = d->nports,
		.bootstrap = d->bootstrap,
		.placed = d->placed,
		.node = d->node,
	};
	strscpy(out->name, d->name, sizeof(out->name));
	/* It may be renamed meanwhile. */
	strscpy(out->ifname, d->netdev->name, sizeof(out->ifname));
	if (d->placed) {
		out->shape = d->shape;
		out->coords = d->at;
	}
	torus_fill_device(out, d->nic, &d->params);
	return torus_put(skb, &torus_tree_device_get, torus_without_place(out), out);
}

int torus_put_link(struct sk_buff *skb, struct torus_dev *d, unsigned int port, u64 now)
{
	const struct torus_port *p = &d->port[port];
	const struct torus_port_host host = {
		.lower = p->lower_name,
		.bits = &p->fault.bits,
		.latency = p->fault.latency,
		.silence = p->fault.silence,
		.cable = &p->serdes.cable,
	};

	torus_fill_link(&d->reply.link, d->nic, port, &host, now);
	d->reply.link.ifindex = ifindex(d);
	return torus_put(skb, &torus_tree_link_get, NULL, &d->reply.link);
}

int torus_put_link_event(struct sk_buff *skb, struct torus_dev *d, const struct tn_event *ev)
{
	torus_fill_link_event(&d->reply.link, d->nic, d->port[ev->port].lower_name, ev,
			      torus_now());
	d->reply.link.ifindex = ifindex(d);
	return torus_put(skb, &torus_tree_link_ntf, NULL, &d->reply.link);
}

int torus_put_flow(struct sk_buff *skb, struct torus_dev *d)
{
	torus_fill_flow(&d->reply.flow, d->nic, d->epoch);
	d->reply.flow.ifindex = ifindex(d);
	return torus_put(skb, &torus_tree_flow_get, NULL, &d->reply.flow);
}

int torus_put_park(struct sk_buff *skb, struct torus_dev *d)
{
	torus_fill_park(&d->reply.park, d->nic, d->epoch);
	d->reply.park.flow.ifindex = ifindex(d);
	return torus_put(skb, &torus_tree_park_get, NULL, &d->reply.park);
}
