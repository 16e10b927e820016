// SPDX-License-Identifier: GPL-2.0-only
/* Commands that are not dumps: the NIC runs them, and its answer becomes the reply. */
#include <linux/rtnetlink.h>

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

/* Return: a reply with the answer of the NIC; NULL if there is no memory. */
static struct sk_buff *make_reply(struct genl_info *info, struct torus_dev *d,
				  const struct torus_req *r)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr = skb ? genlmsg_put_reply(skb, info, &torus_family, 0, (u8)r->cmd) : NULL;

	lockdep_assert_held(&d->ctl);
	if (!hdr || torus_put(skb, r->tree, r->without, &d->hw->reply)) {
		nlmsg_free(skb);
		return NULL;
	}
	genlmsg_end(skb, hdr);
	return skb;
}

int torus_genl_do(struct sk_buff *skb, struct genl_info *info)
{
	struct torus_dev *d = torus_req_dev(info);
	struct torus_req r = {
		.cmd = info->genlhdr->cmd,
		.tb = (const struct nlattr *const *)info->attrs,
		.attrs = { genlmsg_data(info->genlhdr), (size_t)genlmsg_len(info->genlhdr) },
		/* Two namespaces may have sockets of the same number. */
		.from = (u64)genl_info_net(info)->net_cookie << 32 | info->snd_portid,
	};
	struct sk_buff *reply = NULL;
	int err;

	torus_dev_lock_sender(d);
	err = torus_dev_run(d, &r);
	if (!err && r.tree) {
		reply = make_reply(info, d, &r);
		err = reply ? 0 : -ENOMEM;
	}
	torus_dev_unlock(d);
	if (err)
		return torus_refused(info->extack, &r.why, err);
	return reply ? genlmsg_reply(reply, info) : 0;
}

/*
 * Checks that the NIC is still registered, and in the sender's namespace, once RTNL is held: before
 * RTNL was taken, the NIC may have been deleted, or moved to a namespace where the sender has no
 * privilege.
 */
static int check_presence(const struct torus_dev *d, struct genl_info *info)
{
	ASSERT_RTNL();
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

int torus_genl_attach(struct sk_buff *skb, struct genl_info *info)
{
	int err;

	rtnl_lock();
	err = check_presence(torus_req_dev(info), info) ?: torus_genl_do(skb, info);
	rtnl_unlock();
	return err;
}
