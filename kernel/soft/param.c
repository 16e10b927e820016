// SPDX-License-Identifier: GPL-2.0-only
/* Parameters of a NIC (core/params.h) as rtnl attributes: read, checked, and written. */
#include <net/rtnetlink.h>
#include <net/netlink.h>

#include "../core/params.h"
#include "nic.h"

static int refuse_params(const struct tn_params *all, const struct tn_params_why *why,
			 struct nlattr *data[], struct netlink_ext_ack *extack)
{
	const struct tn_param *p = why->param, *q = why->than;
	struct nlattr *a = data ? data[p->attr] : NULL;
	u64 v = tn_param_get(all, p);

	if (!q) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, a, "%s is %llu, must be %llu to %llu%s", p->name, v,
					why->min, why->max,
					why->min > p->min ? " with this bubble policy" : "");
		return -ERANGE;
	}
	if (data && !a)
		a = data[q->attr];
	NL_SET_ERR_MSG_ATTR_FMT(extack, a, "%s is %llu, must be %llu or more (%s is %llu)",
				p->name, v, why->min, q->name, tn_param_get(all, q));
	return -EINVAL;
}

int torus_params_take(struct tn_params *all, struct nlattr *data[],
		      struct netlink_ext_ack *extack)
{
	struct tn_params_why why;

	for (unsigned int i = 0; data && i < TN_PARAMS; i++) {
		const struct tn_param *p = &tn_param_list[i];
		const struct nlattr *a = data[p->attr];

		if (a)
			tn_param_set(all, p, p->is_wide ? nla_get_u64(a) : nla_get_u32(a));
	}
	return tn_params_check(all, &why) ? refuse_params(all, &why, data, extack) : 0;
}

bool torus_params_fill(struct sk_buff *skb, const struct tn_params *all)
{
	for (unsigned int i = 0; i < TN_PARAMS; i++) {
		const struct tn_param *p = &tn_param_list[i];
		u64 v = tn_param_get(all, p);

		if (p->is_wide ? nla_put_u64_64bit(skb, p->attr, v, IFLA_TORUS_PAD) :
				 nla_put_u32(skb, p->attr, (u32)v))
			return false;
	}
	return true;
}

size_t torus_params_size(void)
{
	return TN_PARAMS * nla_total_size_64bit(sizeof(u64));
}
