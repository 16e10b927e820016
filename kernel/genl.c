// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink family "torus": the table of its commands at the end, and what they share, which
 * is finding the device and checking requests. req/ defines what each command does.
 *
 * Locking. Commands for different NICs run in parallel (parallel_ops), those for one NIC one at a
 * time (torus_dev.ctl). Each has a reference to its device, which is enough to use the device even
 * while it is being unregistered (torus.h). Only LINK_ATTACH takes RTNL. No lock is held between
 * commands: a writer of rows names their version, and gets an error if another writer intervened.
 *
 * A command finds devices in the sender's network namespace. Sets need CAP_NET_ADMIN in the user
 * namespace that owns it, and in that in which the NIC was made: so the root of a container can
 * command the NICs that it makes, but not one that it was given. Faults need it in the initial user
 * namespace: they load the processor, and harm links of others. Gets need no privilege, nor does
 * listening to events but to management packets, which contain names and addresses of managers.
 *
 * Groups carry the events of the devices that are in the namespace at that time, each with its
 * IFINDEX. A listener that is too slow gets ENOBUFS from its socket, and must read the state of its
 * devices again.
 *
 * u64 attributes are aligned to 4 bytes, as everywhere else in this protocol.
 */
#include "genl.h"

/* --- the device --------------------------------------------------------------------- */

static struct torus_dev *dev_by_index(struct net *net, struct nlattr **attrs, bool names,
				      netdevice_tracker *t, struct netlink_ext_ack *extack)
{
	u32 ifindex = nla_get_u32(attrs[TORUS_A_IFINDEX]);
	struct torus_dev *d = torus_dev_get_by_index(net, (int)ifindex, t);

	if (!d) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attrs[TORUS_A_IFINDEX],
					"IFINDEX is %u, which is not a torus device here", ifindex);
		return ERR_PTR(-ENODEV);
	}
	if (names && attrs[TORUS_A_NAME] &&
	    !torus_dev_is_called(d, nla_data(attrs[TORUS_A_NAME]))) {
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
	NL_SET_ERR_MSG_ATTR_FMT(extack, name, "NAME is '%.40s', which is not a NIC here",
				(const char *)nla_data(name));
	return ERR_PTR(-ENODEV);
}

/* A request without a device selects the only device that there is. */
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
	NL_SET_ERR_MSG(extack,
		       "there are several torus devices here: IFINDEX or NAME must say which");
	return ERR_PTR(-EINVAL);
}

/*
 * Finds the device of a request. @names: NAME selects the device (in DEVICE_SET it is the new
 * name). Return: the device, or ERR_PTR().
 */
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

int torus_refused(struct netlink_ext_ack *extack, const struct torus_refusal *why, int err)
{
	if (why->missing)
		NL_SET_ERR_ATTR_MISS(extack, NULL, why->missing);
	if (why->text[0])
		NL_SET_ERR_MSG_ATTR_FMT(extack, why->attr, "%s", why->text);
	return err;
}

int torus_request_check(unsigned int cmd, bool dump, const void *attrs, int len,
			struct netlink_ext_ack *extack)
{
	struct torus_refusal why;
	int err = torus_check_request(cmd, dump, (struct torus_span) { attrs, (size_t)len }, NULL,
				      &why);

	return err ? torus_refused(extack, &why, err) : 0;
}

/*
 * Refuses a change by a sender who may not command @d. That the sender has CAP_NET_ADMIN in its own
 * network namespace is not enough, because the owner may have moved the netdev there: a container
 * that is given the host side of a NIC must not control its router, through which packets of others
 * go.
 */
static int check_owner(const torus_genl_op *op, struct sk_buff *skb, const struct genl_info *info,
		       const struct torus_dev *d)
{
	struct nlattr *fault = info->attrs[TORUS_A_FAULT];

	if (!(op->flags & GENL_UNS_ADMIN_PERM))
		return 0;
	if (!netlink_ns_capable(skb, d->owner, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(info->extack, TORUS_NEEDS_OWNER);
		return -EPERM;
	}
	if (fault && !netlink_capable(skb, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG_ATTR(info->extack, fault,
				    "FAULT needs CAP_NET_ADMIN in the initial user namespace");
		return -EPERM;
	}
	return 0;
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
	err = check_owner(ops, skb, info, d);
	if (err) {
		torus_dev_put(d, t);
		kfree(t);
		return err;
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

/* --- a dump -------------------------------------------------------------------------------- */

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

/* --- the table ----------------------------------------------------------------------------- */

/* In the order of the command numbers, which newer kernels (split ops) require. */
static const torus_genl_op torus_ops[] = {
	TORUS_OP_DO_DUMP(DEVICE_GET, torus_genl_do, NULL, torus_device_dump),
	TORUS_OP_DO(DEVICE_SET, torus_genl_do),
	TORUS_OP_DO_DUMP(LINK_GET, torus_genl_do, torus_link_dump_start, torus_parts_dump),
	TORUS_OP_DO(LINK_SET, torus_genl_do),
	TORUS_OP_DO(LINK_ATTACH, torus_genl_attach),
	TORUS_OP_DO(ROWS_BEGIN, torus_genl_do),
	TORUS_OP_DO(ROWS_PUT, torus_genl_do),
	TORUS_OP_DO(ROWS_COMMIT, torus_genl_do),
	TORUS_OP_DUMP(ROWS_GET, NULL, torus_parts_dump),
	TORUS_OP_DO(HOLD, torus_genl_do),
	TORUS_OP_DO(RELEASE, torus_genl_do),
	TORUS_OP_DO(FLOW_GET, torus_genl_do),
	TORUS_OP_DO(PARK_GET, torus_genl_do),
	TORUS_OP_DO(PARK_RESOLVE, torus_genl_do),
	TORUS_OP_DO(PARK_REPLAY, torus_genl_do),
	TORUS_OP_DO(MGMT_SEND, torus_genl_do),
	TORUS_OP_DO(EYE_GET, torus_genl_do),
	TORUS_OP_DO(PARK_FLOWS_GET, torus_genl_do),
};

static const struct genl_multicast_group torus_groups[TORUS_GROUPS] = {
	[TORUS_GROUP_LINK] = { .name = TORUS_GROUP_LINK_NAME },
	[TORUS_GROUP_MGMT] = { .name = TORUS_GROUP_MGMT_NAME, TORUS_MCAST_ADMIN },
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
