// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose orders the NIC takes. A fabric has one root at a time, and the root of a later epoch
 * takes its place. The former one need not have noticed: it may have hung, or have been cut off,
 * and its managers may still pass on what it said. So the NIC keeps the epoch, also while its
 * manager starts anew, and what changes its table or moves packets by it must be an order of that
 * root. An epoch has one root: of two that took the same one, in parts of a fabric that were cut
 * off from each other, a NIC obeys the one that it heard of first.
 *
 * The driver runs one command at a time for each NIC: nothing comes between the check and the
 * command.
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
				    "ROOT_EPOCH and ROOT_GUID go together");
	if (e && !epoch)
		return torus_refuse(&r->why, -EINVAL, e, "ROOT_EPOCH is 0, allowed 1 and above");
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
