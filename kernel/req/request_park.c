// SPDX-License-Identifier: GPL-2.0-only
/* Commands of a recovery: HOLD, RELEASE, FLOW_GET, PARK_*. */
#include "request.h"

int torus_req_hold(struct torus_hw *hw, struct torus_req *r)
{
	const struct nlattr *a = r->tb[TORUS_A_NODES];
	u32 total = 0, n = torus_attr_len(a) / (u32)sizeof(u32);
	const u32 *node = torus_attr_data(a);
	u64 version;
	int err = torus_req_placed(hw, r);

	if (err)
		return err;
	hw->ops->rows(hw, &total, &version);
	for (u32 i = 0; i < n; i++)
		if (node[i] >= total)
			return torus_refuse(&r->why, -ERANGE, a,
					    "NODES[%u] is %u, must be 0 to %u", i, node[i],
					    total - 1);
	err = hw->ops->hold(hw, node, n);
	if (!err)
		hw->rows_gen++;
	return err;
}

int torus_req_release(struct torus_hw *hw, struct torus_req *r)
{
	int err = hw->ops->release(hw, torus_req_version(r), r->tb[TORUS_A_GIVE_UP]);

	if (!err)
		hw->rows_gen++;
	return torus_req_version_error(hw, r, err);
}

int torus_req_flow_get(struct torus_hw *hw, struct torus_req *r)
{
	int err = hw->ops->flow_get(hw, &hw->reply.flow);

	hw->reply.flow.ifindex = hw->ifindex;
	return torus_req_answer(r, &torus_tree_flow_get, err);
}

int torus_req_park_get(struct torus_hw *hw, struct torus_req *r)
{
	int err = hw->ops->park_get(hw, &hw->reply.park);

	hw->reply.park.flow.ifindex = hw->ifindex;
	return torus_req_answer(r, &torus_tree_park_get, err);
}

int torus_req_park_flows_get(struct torus_hw *hw, struct torus_req *r)
{
	int err = hw->ops->park_flows_get(hw, &hw->reply.park_flows);

	hw->reply.park_flows.ifindex = hw->ifindex;
	return torus_req_answer(r, &torus_tree_park_flows_get, err);
}

int torus_req_park_resolve(struct torus_hw *hw, struct torus_req *r)
{
	const struct nlattr *seq = r->tb[TORUS_A_SEQ];
	unsigned int port;
	int err = torus_req_port(hw, r, &port);

	if (err)
		return err;
	return hw->ops->park_resolve(hw, port, (u32)torus_attr_number(r->tb[TORUS_A_SESSION]),
				     seq ? (u16)torus_attr_number(seq) : 0, !seq);
}

int torus_req_park_replay(struct torus_hw *hw, struct torus_req *r)
{
	const struct nlattr *mask = r->tb[TORUS_A_PORTS];
	u32 ports = (u32)torus_attr_number(mask);
	int err;

	if (ports >> hw->nports)
		return torus_refuse(&r->why, -ERANGE, mask,
				    "PORTS is %#x, must be within the mask %#x",
				    ports, (1u << hw->nports) - 1);
	err = hw->ops->park_replay(hw, torus_req_version(r), ports);
	if (err == -EBUSY)
		return torus_refuse(&r->why, err, NULL, "some parked packets are not resolved yet");
	return torus_req_version_error(hw, r, err);
}
