// SPDX-License-Identifier: GPL-2.0-only
/* DEVICE_GET, DEVICE_SET: the NIC, its name, its place in the torus. */
#include "genl.h"

int torus_device_get(struct sk_buff *req, struct genl_info *info)
{
	return torus_reply_put(info, torus_put_device);
}

static int begin_dump(struct netlink_callback *cb)
{
	struct nlattr **attrs = torus_dump_attrs(cb);
	netdevice_tracker t;
	struct torus_dev *d;
	int err;

	/* All, or the one that is named: the dump ends after it. */
	if (!attrs[TORUS_A_IFINDEX] && !attrs[TORUS_A_NAME])
		return torus_dump_check(cb, TORUS_CMD_DEVICE_GET, NULL, NULL);
	err = torus_dump_check(cb, TORUS_CMD_DEVICE_GET, &d, &t);
	if (err)
		return err;
	torus_dump_of(cb)->ifindex = d->netdev->ifindex - 1;
	torus_dump_of(cb)->end = (u32)d->netdev->ifindex;
	torus_dev_put(d, &t);
	return 0;
}

int torus_device_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net *net = sock_net(cb->skb->sk);
	struct torus_dump *dump = torus_dump_of(cb);
	netdevice_tracker t;
	struct torus_dev *d;
	int ret;

	ret = torus_dump_begin(cb, begin_dump);
	if (ret)
		return ret;
	cb->seq = net->dev_base_seq;
	while ((d = torus_dev_get_next(net, dump->ifindex, &t))) {
		int ifindex = d->netdev->ifindex, err = -EMSGSIZE;
		void *hdr = NULL;

		if (dump->end && (u32)ifindex > dump->end) {
			torus_dev_put(d, &t);
			break;
		}
		hdr = torus_dump_put(skb, cb, TORUS_CMD_DEVICE_GET);
		if (hdr) {
			genl_dump_check_consistent(cb, hdr);
			torus_dev_lock(d);
			err = torus_put_device(skb, d);
			torus_dev_unlock_read(d);
		}
		torus_dev_put(d, &t);
		if (err) {
			if (hdr)
				genlmsg_cancel(skb, hdr);
			return skb->len ?: err;
		}
		genlmsg_end(skb, hdr);
		dump->ifindex = ifindex;
	}
	return skb->len;
}

/* --- set ------------------------------------------------------------------------- */

static int bad_coords(struct genl_info *info, unsigned int i, u16 is, u16 size)
{
	NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[TORUS_A_COORDS],
				"COORDS[%u] is %u, allowed 0 to %u", i, is, size - 1);
	return -ERANGE;
}

static int get_place(struct genl_info *info, struct torus_shape *shape,
		     struct torus_coords *at)
{
	const struct nlattr *s = info->attrs[TORUS_A_SHAPE], *c = info->attrs[TORUS_A_COORDS];
	unsigned int nports = torus_req_dev(info)->nports, n;

	if (!s || !c) {
		NL_SET_ERR_MSG_ATTR(info->extack, s ?: c, "SHAPE and COORDS go together");
		return -EINVAL;
	}
	n = (unsigned int)nla_len(s) / sizeof(u16);
	if (nla_len(c) != nla_len(s)) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, c, "COORDS has %zu entries, SHAPE %u",
					nla_len(c) / sizeof(u16), n);
		return -EINVAL;
	}
	if (n > nports / 2) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, s,
					"SHAPE has %u dimensions, %u ports allow 1 to %u", n,
					nports, nports / 2);
		return -EINVAL;
	}
	*shape = (struct torus_shape) { .ndims = (u8)n };
	*at = (struct torus_coords) { 0 };
	for (unsigned int i = 0; i < TORUS_MAX_DIMS; i++)
		shape->size[i] = 1;
	memcpy(shape->size, nla_data(s), n * sizeof(u16));
	memcpy(at->c, nla_data(c), n * sizeof(u16));
	if (!tn_shape_nodes(shape)) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, s,
					"SHAPE: sizes must be 1 to %d, %d nodes at most",
					TORUS_MAX_SIZE, TORUS_MAX_NODES);
		return -EINVAL;
	}
	for (unsigned int i = 0; i < n; i++)
		if (at->c[i] >= shape->size[i])
			return bad_coords(info, i, at->c[i], shape->size[i]);
	return 0;
}

int torus_device_set(struct sk_buff *req, struct genl_info *info)
{
	const struct nlattr *name = info->attrs[TORUS_A_NAME];
	const struct nlattr *bootstrap = info->attrs[TORUS_A_BOOTSTRAP];
	struct torus_dev *d = torus_req_dev(info);
	struct torus_coords at;
	struct torus_shape shape;
	int err;

	if (info->attrs[TORUS_A_SHAPE] || info->attrs[TORUS_A_COORDS]) {
		err = get_place(info, &shape, &at) ?:
		      torus_dev_place(d, &shape, &at, info->extack);
		if (err)
			return err;
	}
	torus_dev_lock(d);
	if (name)
		nla_strscpy(d->name, name, sizeof(d->name));
	if (bootstrap)
		d->bootstrap = nla_get_u8(bootstrap);
	torus_dev_unlock(d);
	return 0;
}
