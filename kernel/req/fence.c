// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fencing: a NIC refuses orders of a former root. A fabric has one root at a time, and a root of a
 * later epoch replaces it. The former root may not know this, because its node hung or was cut off,
 * and managers may still deliver its orders. The NIC therefore stores the epoch and GUID of the
 * root that it obeys, and keeps them while its manager restarts. A command that changes the routing
 * table, or moves packets by it, must name that root or one of a later epoch. If two roots took the
 * same epoch in parts of the fabric that were cut off from each other, the NIC obeys the first that
 * it received an order from.
 *
 * The driver runs one command at a time for each NIC, so no other command runs between the check
 * and the command.
 */
#include "request.h"

static u64 attr_number(const struct nlattr *a)
{
	return a ? torus_attr_number(a) : 0;
}

int torus_req_fence(const struct torus_hw *hw, struct torus_req *r)
{
	const struct nlattr *e = r->tb[TORUS_A_ROOT_EPOCH], *g = r->tb[TORUS_A_ROOT_GUID];
	u64 epoch = attr_number(e), guid = attr_number(g);

	if (!e != !g)
		return torus_refuse(&r->why, -EINVAL, e ? e : g,
				    "ROOT_EPOCH and ROOT_GUID must be given together");
	if (e && !epoch)
		return torus_refuse(&r->why, -EINVAL, e, "ROOT_EPOCH is 0, must be 1 or more");
	if (!e && r->cmd == TORUS_CMD_DEVICE_SET)
		return 0;
	if (epoch > hw->root_epoch || (epoch == hw->root_epoch && guid == hw->root_guid))
		return 0;
	if (!e)
		return torus_refuse(&r->why, -ESTALE, NULL,
				    "the NIC obeys root %016llx of epoch %llu; this names none",
				    (unsigned long long)hw->root_guid,
				    (unsigned long long)hw->root_epoch);
	return torus_refuse(&r->why, -ESTALE, e,
			    "root %016llx of epoch %llu: the NIC obeys %016llx of %llu",
			    (unsigned long long)guid, (unsigned long long)epoch,
			    (unsigned long long)hw->root_guid, (unsigned long long)hw->root_epoch);
}

void torus_req_obey(struct torus_hw *hw, const struct torus_req *r)
{
	if (!r->tb[TORUS_A_ROOT_EPOCH] &&
	    (r->cmd != TORUS_CMD_DEVICE_SET || !r->tb[TORUS_A_SHAPE]))
		return;
	hw->root_epoch = attr_number(r->tb[TORUS_A_ROOT_EPOCH]);
	hw->root_guid = attr_number(r->tb[TORUS_A_ROOT_GUID]);
}
