// SPDX-License-Identifier: GPL-2.0-only
/* Parameters of a NIC as attributes of its link: checked, taken, shown. */
#include <net/rtnetlink.h>
#include <net/netlink.h>

#include "torus.h"

#include "../include/uapi/torus_policy.h"

/** struct param - one of struct tn_params */
struct param {
	const char *name;
	u16 attr;
	u16 offset;
	bool wide;		/* u64, not u32 */
	u64 min;
	u64 max;
};

#define PARAM_U32 false
#define PARAM_U64 true
static const struct param params[] = {
#define X(id, name, kind, unit, least, most) { \
	#name, IFLA_TORUS_##id, offsetof(struct tn_params, name), PARAM_##kind, least, most },
	TORUS_PARAM_LIST(X)
#undef X
};

/* One that must be another and @more at least. */
static const struct {
	u16 attr, than;
	u8 more;
} orders[] = {
	{ IFLA_TORUS_SILENCE, IFLA_TORUS_KEEPALIVE, 1 },
	{ IFLA_TORUS_REPLAY_TIMEOUT, IFLA_TORUS_ACK_DELAY, 1 },
	{ IFLA_TORUS_MARGIN_TRAIN, IFLA_TORUS_MARGIN_RETRAIN, 0 },
	{ IFLA_TORUS_FRAME_MAX, IFLA_TORUS_PAYLOAD_MAX, TN_AROUND_MAX },
	{ IFLA_TORUS_PARK_BYTES, IFLA_TORUS_PAYLOAD_MAX, TN_AROUND_MAX },
};

static u64 get(const struct tn_params *all, const struct param *p)
{
	const void *at = (const u8 *)all + p->offset;

	return p->wide ? *(const u64 *)at : *(const u32 *)at;
}

static u64 value(const struct param *p, const struct nlattr *a)
{
	return p->wide ? nla_get_u64(a) : nla_get_u32(a);
}

static void set(struct tn_params *all, const struct param *p, const struct nlattr *a)
{
	void *at = (u8 *)all + p->offset;

	if (p->wide)
		*(u64 *)at = nla_get_u64(a);
	else
		*(u32 *)at = nla_get_u32(a);
}

static const struct param *param_of(u16 attr)
{
	const struct param *p = params;

	while (p->attr != attr)
		p++;
	return p;
}

int torus_params_check(struct nlattr *data[], struct netlink_ext_ack *extack)
{
	for (const struct param *p = params; p < params + ARRAY_SIZE(params); p++) {
		const struct nlattr *a = data[p->attr];

		if (!a || (value(p, a) >= p->min && value(p, a) <= p->max))
			continue;
		NL_SET_ERR_MSG_ATTR_FMT(extack, a, "%s is %llu, allowed %llu to %llu", p->name,
					value(p, a), p->min, p->max);
		return -ERANGE;
	}
	return 0;
}

/* What depends on two of them, said or not. */
static int check_orders(const struct tn_params *all, struct nlattr *data[],
			struct netlink_ext_ack *extack)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(orders); i++) {
		const struct param *p = param_of(orders[i].attr), *q = param_of(orders[i].than);
		u64 least = get(all, q) + orders[i].more;

		if (get(all, p) >= least)
			continue;
		NL_SET_ERR_MSG_ATTR_FMT(extack, data[p->attr] ?: data[q->attr],
					"%s is %llu, allowed %llu and more (%s is %llu)", p->name,
					get(all, p), least, q->name, get(all, q));
		return -EINVAL;
	}
	return 0;
}

int torus_params_take(struct tn_params *all, struct nlattr *data[],
		      struct netlink_ext_ack *extack)
{
	if (!data)
		return 0;
	for (const struct param *p = params; p < params + ARRAY_SIZE(params); p++)
		if (data[p->attr])
			set(all, p, data[p->attr]);
	return check_orders(all, data, extack);
}

bool torus_params_fill(struct sk_buff *skb, const struct tn_params *all)
{
	for (const struct param *p = params; p < params + ARRAY_SIZE(params); p++) {
		if (p->wide ? nla_put_u64_64bit(skb, p->attr, get(all, p), IFLA_TORUS_PAD) :
			      nla_put_u32(skb, p->attr, (u32)get(all, p)))
			return false;
	}
	return true;
}

size_t torus_params_size(void)
{
	return ARRAY_SIZE(params) * nla_total_size_64bit(sizeof(u64));
}
