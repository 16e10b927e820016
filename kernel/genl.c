// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink family "torus": the table of its commands at the end, and what
 * they share: finding the device, checking requests, sending replies.
 *
 * Locking. Commands run in parallel (parallel_ops), each with a reference to its
 * device; torus.h says that this is enough to use the device even while it is
 * being unregistered. Whatever touches the core holds torus_dev.lock, for a
 * bounded time: a table is begun in slices, a message brings 64 KiB of rows.
 * Only LINK_ATTACH takes RTNL. There is no lock across commands: who writes a
 * table names its version, and is told if another writer came in between.
 *
 * Devices are those of the sender's network namespace. Sets need CAP_NET_ADMIN
 * in the user namespace that owns it, so the root of a container commands its own
 * NICs; gets are everyone's. Groups carry the events of the devices that are in
 * the namespace at that time, each with its IFINDEX. A listener that is too slow
 * finds ENOBUFS on its socket and has to read everything again.
 *
 * u64 attributes are aligned to 4 bytes, as everywhere else in this protocol.
 */
#include "genl.h"


/* --- the device --------------------------------------------------------------------- */

static bool has_name(struct torus_dev *d, const char *name)
{
	bool same;

	torus_dev_lock(d);
	same = !strcmp(d->name, name);
	torus_dev_unlock_read(d);
	return same;
}

static struct torus_dev *dev_by_index(struct net *net, struct nlattr **attrs, bool names,
				      netdevice_tracker *t, struct netlink_ext_ack *extack)
{
	u32 ifindex = nla_get_u32(attrs[TORUS_A_IFINDEX]);
	struct torus_dev *d = torus_dev_get_by_index(net, (int)ifindex, t);

	if (!d) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attrs[TORUS_A_IFINDEX],
					"IFINDEX is %u, which is no torus device here", ifindex);
		return ERR_PTR(-ENODEV);
	}
	if (names && attrs[TORUS_A_NAME] && !has_name(d, nla_data(attrs[TORUS_A_NAME]))) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attrs[TORUS_A_NAME],
					"NAME is not that of the NIC with IFINDEX %u", ifindex);
		torus_dev_put(d, t);
		return ERR_PTR(-ENODEV);
	}
	return d;
}

static struct torus_dev *dev_by_name(struct net *net, const struct nlattr *name,
				     netdevice_tracker *t, struct netlink_ext_ack *extack)
{
	struct torus_dev *d = torus_dev_get_by_name(net, nla_data(name), t);

	if (d)
		return d;
	NL_SET_ERR_MSG_ATTR_FMT(extack, name, "NAME is '%.40s', which is no NIC here",
				(const char *)nla_data(name));
	return ERR_PTR(-ENODEV);
}

/* Who names none means the only one. */
static struct torus_dev *dev_only(struct net *net, netdevice_tracker *t,
				  struct netlink_ext_ack *extack)
{
	struct torus_dev *d = torus_dev_get_next(net, 0, t), *more;
	netdevice_tracker more_t;

	if (!d) {
		NL_SET_ERR_MSG(extack, "there is no torus device in this network namespace");
		return ERR_PTR(-ENODEV);
	}
	more = torus_dev_get_next(net, d->netdev->ifindex, &more_t);
	if (!more)
		return d;
	torus_dev_put(more, &more_t);
	torus_dev_put(d, t);
	NL_SET_ERR_ATTR_MISS(extack, NULL, TORUS_A_IFINDEX);
	NL_SET_ERR_MSG(extack, "there are several torus devices here: IFINDEX or NAME must say which");
	return ERR_PTR(-EINVAL);
}

/* @names: NAME names the device, and is not what it is to be called. */
static struct torus_dev *dev_find(struct net *net, struct nlattr **attrs, bool names,
				  netdevice_tracker *t, struct netlink_ext_ack *extack)
{
	if (attrs[TORUS_A_IFINDEX])
		return dev_by_index(net, attrs, names, t, extack);
	if (names && attrs[TORUS_A_NAME])
		return dev_by_name(net, attrs[TORUS_A_NAME], t, extack);
	return dev_only(net, t, extack);
}

/* --- the request ------------------------------------------------------------------ */

int torus_request_check(unsigned int cmd, bool dump, const void *attrs, int len,
			struct netlink_ext_ack *extack)
{
	struct torus_refusal why;
	int err = torus_check_request(cmd, dump, (struct torus_span) { attrs, (size_t)len }, NULL,
				      &why);

	if (err && why.missing)
		NL_SET_ERR_ATTR_MISS(extack, NULL, why.missing);
	if (err)
		NL_SET_ERR_MSG_ATTR_FMT(extack, why.attr, "%s", why.text);
	return err;
}

/* --- a do ------------------------------------------------------------------------------ */

static int pre_doit(const torus_genl_op *ops, struct sk_buff *skb, struct genl_info *info)
{
	netdevice_tracker *t;
	struct torus_dev *d;
	int err;

	err = torus_request_check(info->genlhdr->cmd, false, genlmsg_data(info->genlhdr),
				  genlmsg_len(info->genlhdr), info->extack);
	if (err)
		return err;
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	d = dev_find(genl_info_net(info), info->attrs,
		     info->genlhdr->cmd != TORUS_CMD_DEVICE_SET, t, info->extack);
	if (IS_ERR(d)) {
		kfree(t);
		return PTR_ERR(d);
	}
	info->user_ptr[0] = d;
	info->user_ptr[1] = t;
	return 0;
}

static void post_doit(const torus_genl_op *ops, struct sk_buff *skb, struct genl_info *info)
{
	torus_dev_put(info->user_ptr[0], info->user_ptr[1]);
	kfree(info->user_ptr[1]);
}

struct sk_buff *torus_reply_new(struct genl_info *info, void **hdr)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!skb)
		return NULL;
	*hdr = genlmsg_put_reply(skb, info, &torus_family, 0, info->genlhdr->cmd);
	return skb;
}

int torus_reply_put(struct genl_info *info, int (*put)(struct sk_buff *skb, struct torus_dev *d))
{
	struct torus_dev *d = torus_req_dev(info);
	struct sk_buff *skb;
	void *hdr;
	int err;

	skb = torus_reply_new(info, &hdr);
	if (!skb)
		return -ENOMEM;
	torus_dev_lock(d);
	err = put(skb, d);
	torus_dev_unlock_read(d);
	return torus_reply(info, skb, hdr, err);
}

int torus_reply(struct genl_info *info, struct sk_buff *skb, void *hdr, int err)
{
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

int torus_req_port(struct genl_info *info)
{
	const struct nlattr *a = info->attrs[TORUS_A_PORT];
	unsigned int port = nla_get_u8(a), n = torus_req_dev(info)->nports;

	if (port < n)
		return (int)port;
	NL_SET_ERR_MSG_ATTR_FMT(info->extack, a, "PORT is %u, allowed 0 to %u", port, n - 1);
	return -EINVAL;
}

int torus_need_place(struct torus_dev *d, struct netlink_ext_ack *extack)
{
	if (d->placed)
		return 0;
	NL_SET_ERR_MSG(extack, "the NIC has no place yet: SHAPE and COORDS are not set");
	return -ENODEV;
}

/* --- a dump -------------------------------------------------------------------------------- */

int torus_dump_begin(struct netlink_callback *cb, int (*begin)(struct netlink_callback *cb))
{
	struct torus_dump *dump = torus_dump_of(cb);
	int err = dump->begun ? 0 : begin(cb);

	dump->begun = !err;
	return err;
}

struct torus_dev *torus_dump_dev(struct netlink_callback *cb,
				 int (*begin)(struct netlink_callback *cb), netdevice_tracker *t)
{
	int err = torus_dump_begin(cb, begin);

	if (err)
		return ERR_PTR(err);
	return torus_dev_get_by_index(sock_net(cb->skb->sk), torus_dump_of(cb)->ifindex, t) ?:
	       ERR_PTR(-ENODEV);
}

int torus_dump_check(struct netlink_callback *cb, unsigned int cmd, struct torus_dev **d,
		     netdevice_tracker *t)
{
	struct genlmsghdr *g = nlmsg_data(cb->nlh);
	struct nlattr **attrs = torus_dump_attrs(cb);
	int err;

	err = torus_request_check(cmd, true, genlmsg_data(g), genlmsg_len(g), cb->extack);
	if (err || !d)
		return err;
	*d = dev_find(sock_net(cb->skb->sk), attrs, true, t, cb->extack);
	return PTR_ERR_OR_ZERO(*d);
}

void *torus_dump_put(struct sk_buff *skb, struct netlink_callback *cb, unsigned int cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &torus_family,
			   NLM_F_MULTI, (u8)cmd);
}

/* --- the table ----------------------------------------------------------------------------- */

/* In the order of their numbers: else newer kernels (split ops) refuse the family. */
static const torus_genl_op torus_ops[] = {
	TORUS_OP_DO_DUMP(DEVICE_GET, torus_device_get, NULL, torus_device_dump),
	TORUS_OP_DO(DEVICE_SET, torus_device_set),
	TORUS_OP_DO_DUMP(LINK_GET, torus_link_get, torus_link_dump_start, torus_link_dump),
	TORUS_OP_DO(LINK_SET, torus_link_set),
	TORUS_OP_DO(LINK_ATTACH, torus_link_attach),
	TORUS_OP_DO(ROWS_BEGIN, torus_rows_begin),
	TORUS_OP_DO(ROWS_PUT, torus_rows_put),
	TORUS_OP_DO(ROWS_COMMIT, torus_rows_commit),
	TORUS_OP_DUMP(ROWS_GET, NULL, torus_rows_dump),
	TORUS_OP_DO(HOLD, torus_hold),
	TORUS_OP_DO(RELEASE, torus_release),
	TORUS_OP_DO(FLOW_GET, torus_flow_get),
	TORUS_OP_DO(PARK_GET, torus_park_get),
	TORUS_OP_DO(PARK_RESOLVE, torus_park_resolve),
	TORUS_OP_DO(PARK_REPLAY, torus_park_replay),
	TORUS_OP_DO(MGMT_SEND, torus_mgmt_send),
	TORUS_OP_DO(EYE_GET, torus_eye_get),
};

static const struct genl_multicast_group torus_groups[TORUS_GROUPS] = {
	[TORUS_GROUP_LINK] = { .name = TORUS_GROUP_LINK_NAME },
	[TORUS_GROUP_MGMT] = { .name = TORUS_GROUP_MGMT_NAME },
	[TORUS_GROUP_PARK] = { .name = TORUS_GROUP_PARK_NAME },
};

struct genl_family torus_family __ro_after_init = {
	.name = TORUS_GENL_NAME,
	.version = TORUS_GENL_VERSION,
	.maxattr = TORUS_A_MAX,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	TORUS_FAMILY_OPS(torus_ops, pre_doit, post_doit)
	.mcgrps = torus_groups,
	.n_mcgrps = ARRAY_SIZE(torus_groups),
};

int __init torus_genl_init(void)
{
	return genl_register_family(&torus_family);
}

void torus_genl_exit(void)
{
	genl_unregister_family(&torus_family);
}
