/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cable of a software NIC as netlink attributes, for torus.ko and for torusemu. Both
 * have functions of the same names that read them; include these first.
 */
#ifndef TORUS_CABLE_ATTR_H
#define TORUS_CABLE_ATTR_H

#include "core/serdes_model.h"

#include "../include/uapi/torus_policy.h"

/** torus_cable_told() - cable @c as attributes @tb, enum torus_fault_attr, change it */
static inline struct tn_cable torus_cable_told(const struct tn_cable *c, u64 seed,
					       const struct nlattr **tb)
{
	struct tn_cable to = *c;

	to.seed = seed;
	if (tb[TORUS_FAULT_CABLE])
		to.length = nla_get_u32(tb[TORUS_FAULT_CABLE]);
	if (tb[TORUS_FAULT_LOSS])
		to.loss = nla_get_u32(tb[TORUS_FAULT_LOSS]);
	if (tb[TORUS_FAULT_CROSSTALK])
		to.crosstalk = nla_get_u32(tb[TORUS_FAULT_CROSSTALK]);
	if (tb[TORUS_FAULT_DRIFT])
		to.drift = nla_get_u32(tb[TORUS_FAULT_DRIFT]);
	if (tb[TORUS_FAULT_AGEING])
		to.ageing = nla_get_u32(tb[TORUS_FAULT_AGEING]);
	if (tb[TORUS_FAULT_AGED])
		to.aged = nla_get_u16(tb[TORUS_FAULT_AGED]);
	if (tb[TORUS_FAULT_DEAD])
		to.dead = nla_get_u16(tb[TORUS_FAULT_DEAD]);
	if (tb[TORUS_FAULT_TEMPERATURE])
		to.warmer = (s32)nla_get_u32(tb[TORUS_FAULT_TEMPERATURE]) - TORUS_CABLE_KELVIN;
	return to;
}

#endif /* TORUS_CABLE_ATTR_H */
