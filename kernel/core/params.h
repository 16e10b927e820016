/* SPDX-License-Identifier: GPL-2.0-only */
/* Table of the parameters of a NIC: names, offsets and limits. */
#ifndef TN_PARAMS_H
#define TN_PARAMS_H

#include "nic.h"

enum tn_unit { TN_TIME, TN_SIZE, TN_COUNT, TN_RATE, TN_PROTOCOL, TN_POLICY, TN_DSCPS };

/**
 * struct tn_param - describes one member of struct tn_params
 * @name: name of the member for administrators
 * @attr: netlink attribute of the member, enum torus_ifla
 * @offset: offset of the member in struct tn_params
 * @is_wide: the type of the member is u64, not u32
 * @min, @max: the allowed range: ns, bytes, errors per bit in 1e-18, enum torus_retry, enum
 *	torus_bubble or a mask
 */
struct tn_param {
	const char *name;
	u16 attr;
	u16 offset;
	bool is_wide;
	u8 unit;
	u64 min;
	u64 max;
};

enum tn_param_id {
#define X(id, name, kind, unit, min, max) TN_PARAM_##id,
	TORUS_PARAM_LIST(X)
#undef X
	TN_PARAMS,
};

extern const struct tn_param tn_param_list[TN_PARAMS];

u64 tn_param_get(const struct tn_params *all, const struct tn_param *p);
void tn_param_set(struct tn_params *all, const struct tn_param *p, u64 v);

/**
 * struct tn_params_why - the reason why a NIC's parameters are refused
 * @param: the parameter that is not in the range @min to @max
 * @than: @min is the value of this other parameter plus @more; NULL: @min depends on none
 */
struct tn_params_why {
	const struct tn_param *param;
	const struct tn_param *than;
	u64 min;
	u64 max;
	u8 more;
};

/**
 * tn_params_check() - check the range of each parameter, and the relations between them
 * Return: 0; or with the reason in @why -ERANGE if one is out of range, -EINVAL if two contradict
 * each other.
 */
int tn_params_check(const struct tn_params *all, struct tn_params_why *why);

#endif /* TN_PARAMS_H */
