/* SPDX-License-Identifier: GPL-2.0-only */
/* Table of the parameters of a NIC: names, offsets and limits. */
#ifndef TN_PARAMS_H
#define TN_PARAMS_H

#include "nic.h"

enum tn_unit { TN_TIME, TN_SIZE, TN_COUNT, TN_RATE, TN_PROTOCOL, TN_POLICY };

/**
 * struct tn_param - one of struct tn_params
 * @name: as people write it
 * @attr: enum torus_ifla
 * @offset, @is_wide: where it is kept, as u64 or u32
 * @min, @max: what is allowed: ns, bytes, errors per bit in 1e-18, enum torus_retry or enum
 *	torus_bubble
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
 * struct tn_params_why - what is wrong with a NIC's parameters
 * @param: this one is not @min to @max
 * @than: because it has to be @more or more above this one; NULL: whatever the others are
 */
struct tn_params_why {
	const struct tn_param *param;
	const struct tn_param *than;
	u64 min;
	u64 max;
	u8 more;
};

/**
 * tn_params_check() - each parameter by itself, and against others
 * Return: 0; -ERANGE, -EINVAL: it contradicts another one; then @why says which.
 */
int tn_params_check(const struct tn_params *all, struct tn_params_why *why);

#endif /* TN_PARAMS_H */
