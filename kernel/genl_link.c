// SPDX-License-Identifier: GPL-2.0-only
/* LINK_GET, LINK_SET, LINK_ATTACH, MGMT_SEND: what concerns one port. */
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "genl.h"
#include "cable_attr.h"

#define LINK_BYTES	2048	/* room for one L */

int torus_link_get(struct sk_buff *req, struct genl_info *info)
{
	struct torus_dev *d = torus_req_dev(info);
	int err, port = torus_req_port(info);
	struct sk_buff *skb;
	void *hdr;

	if (port < 0)
		return port;
	skb = torus_reply_new(info, &hdr);
	if (!skb)
		return -ENOMEM;
	torus_dev_lock(d);
	err = torus_put_link(skb, d, (unsigned int)port, torus_now());
	torus_dev_unlock_read(d);
	return torus_reply(info, skb, hdr, err);
}

/* A row at a time: whoever moves packets need not wait for the whole map. */
static void fill_eye(struct torus_eye *out, struct torus_dev *d)
{
	const struct tn_train *t = tn_nic_train(d->nic, out->port);

	torus_dev_lock(d);
	out->swing = (u16)tn_train_eye_top(t, out->lane, torus_now());
	torus_dev_unlock_read(d);
	for (unsigned int row = 0; row < TORUS_EYE_ROWS; row++) {
		torus_dev_lock(d);
		tn_train_eye(t, out->lane, out->swing, row, out->map[row], torus_now());
		torus_dev_unlock_read(d);
	}
	out->mask_height = (u16)t->params.mask_height;
	out->mask_width = (u16)t->params.mask_width;
}

int torus_eye_get(struct sk_buff *req, struct genl_info *info)
{
	struct torus_dev *d = torus_req_dev(info);
	int err, port = torus_req_port(info);
	struct torus_eye *eye;
	struct sk_buff *skb;
	void *hdr;

	if (port < 0)
		return port;
	eye = kzalloc(sizeof(*eye), GFP_KERNEL);
	skb = eye ? torus_reply_new(info, &hdr) : NULL;
	if (!skb) {
		kfree(eye);
		return -ENOMEM;
	}
	eye->ifindex = (u32)d->netdev->ifindex;
	eye->port = (u8)port;
	eye->lane = nla_get_u8(info->attrs[TORUS_A_LANE]);
	fill_eye(eye, d);
	err = torus_put(skb, &torus_tree_eye_get, NULL, eye);
	kfree(eye);
	return torus_reply(info, skb, hdr, err);
}

int torus_link_dump_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = TORUS_MAX_PORTS * LINK_BYTES;
	return 0;
}

static int begin_dump(struct netlink_callback *cb)
{
	struct torus_dump *dump = torus_dump_of(cb);
	netdevice_tracker t;
	struct torus_dev *d;
	int err;

	err = torus_dump_check(cb, TORUS_CMD_LINK_GET, &d, &t);
	if (err)
		return err;
	*dump = (struct torus_dump) { .ifindex = d->netdev->ifindex, .end = d->nports };
	torus_dev_put(d, &t);
	return 0;
}

/* One hold of the lock for all that fit: counters of one moment. */
static int put_links(struct sk_buff *skb, struct netlink_callback *cb, struct torus_dev *d)
{
	struct torus_dump *dump = torus_dump_of(cb);
	u64 now = torus_now();

	for (; dump->next < dump->end; dump->next++) {
		void *hdr = torus_dump_put(skb, cb, TORUS_CMD_LINK_GET);

		if (!hdr)
			return -EMSGSIZE;
		if (torus_put_link(skb, d, dump->next, now)) {
			genlmsg_cancel(skb, hdr);
			return -EMSGSIZE;
		}
		genlmsg_end(skb, hdr);
	}
	return 0;
}

int torus_link_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	netdevice_tracker t;
	struct torus_dev *d;
	int err;

	d = torus_dump_dev(cb, begin_dump, &t);
	if (IS_ERR(d))
		return PTR_ERR(d);
	torus_dev_lock(d);
	err = put_links(skb, cb, d);
	torus_dev_unlock_read(d);
	torus_dev_put(d, &t);
	return skb->len ?: err;
}

/* --- set --------------------------------------------------------------------------- */

static void set_cable(const struct nlattr **tb, struct torus_port *p, struct tn_nic *nic,
		      unsigned int port, u64 now)
{
	struct tn_cable c = torus_cable_told(&p->serdes.cable, p->fault.bits.seed, tb);

	if (!tn_cable_same(&c, &p->serdes.cable)) {
		tn_serdes_model_lay(&p->serdes, &c, now);
		tn_nic_cable(nic, port, now);
	}
}

static void set_fault(struct genl_info *info, struct torus_dev *d, unsigned int port, u64 now)
{
	struct torus_port *p = &d->port[port];
	const struct nlattr *tb[TORUS_FAULT_MAX + 1];
	struct torus_host_fault *f = &p->fault;

	torus_parse_nest(info->attrs[TORUS_A_FAULT], tb, TORUS_FAULT_MAX);
	if (tb[TORUS_FAULT_SILENCE])
		f->silence = nla_get_u8(tb[TORUS_FAULT_SILENCE]);
	if (tb[TORUS_FAULT_LATENCY])
		f->latency = nla_get_u64(tb[TORUS_FAULT_LATENCY]);
	if (tb[TORUS_FAULT_SEED])
		f->bits.seed = nla_get_u64(tb[TORUS_FAULT_SEED]);
	if (tb[TORUS_FAULT_BER])
		f->bits.ber = nla_get_u64(tb[TORUS_FAULT_BER]);
	if (tb[TORUS_FAULT_BER] || tb[TORUS_FAULT_SEED])
		tn_fault_arm(&f->bits);
	set_cable(tb, p, d->nic, port, now);
}

int torus_link_set(struct sk_buff *req, struct genl_info *info)
{
	const struct nlattr *admin = info->attrs[TORUS_A_ADMIN];
	const struct nlattr *retry = info->attrs[TORUS_A_RETRY_WANTED];
	struct torus_dev *d = torus_req_dev(info);
	int port = torus_req_port(info);
	u64 now = torus_now();

	if (port < 0)
		return port;
	torus_dev_lock(d);
	if (info->attrs[TORUS_A_FAULT])
		set_fault(info, d, (unsigned int)port, now);
	if (retry)
		tn_nic_retry(d->nic, (unsigned int)port, nla_get_u8(retry), now);
	if (admin)
		tn_nic_admin(d->nic, (unsigned int)port, nla_get_u8(admin), now);
	if (info->attrs[TORUS_A_RETRAIN])
		tn_nic_retrain(d->nic, (unsigned int)port, now);
	torus_dev_unlock(d);
	return 0;
}

/*
 * With RTNL. Until it was got, the NIC may have been deleted, or moved: who asked may not
 * command the devices of the namespace where it is now.
 */
static int still_here(const struct torus_dev *d, struct genl_info *info)
{
	if (d->netdev->reg_state != NETREG_REGISTERED) {
		NL_SET_ERR_MSG(info->extack, "the NIC is being removed");
		return -ENODEV;
	}
	if (!net_eq(dev_net(d->netdev), genl_info_net(info))) {
		NL_SET_ERR_MSG(info->extack, "the NIC has moved to another network namespace");
		return -ENODEV;
	}
	return 0;
}

int torus_link_attach(struct sk_buff *req, struct genl_info *info)
{
	const char *lower = nla_data(info->attrs[TORUS_A_LOWER]);
	struct torus_dev *d = torus_req_dev(info);
	int err, port = torus_req_port(info);

	if (port < 0)
		return port;
	rtnl_lock();
	err = still_here(d, info);
	if (!err && *lower)
		err = torus_port_attach(d, (unsigned int)port, lower, info->extack);
	else if (!err)
		torus_port_detach(d, (unsigned int)port);
	rtnl_unlock();
	if (err)
		NL_SET_BAD_ATTR(info->extack, info->attrs[TORUS_A_LOWER]);
	return err;
}

int torus_mgmt_send(struct sk_buff *req, struct genl_info *info)
{
	const struct nlattr *data = info->attrs[TORUS_A_DATA];
	struct torus_dev *d = torus_req_dev(info);
	int err, port = torus_req_port(info);

	if (port < 0)
		return port;
	torus_dev_lock(d);
	err = tn_nic_mgmt_send(d->nic, (unsigned int)port, nla_data(data),
			       (unsigned int)nla_len(data), torus_now());
	torus_dev_unlock(d);
	if (err == -ENETDOWN)
		NL_SET_ERR_MSG_FMT(info->extack, "the link of port %d is not up", port);
	else if (err == -EAGAIN)
		NL_SET_ERR_MSG_FMT(info->extack,
				   "port %d has too many management packets waiting", port);
	return err;
}
