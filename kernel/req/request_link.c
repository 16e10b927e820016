// SPDX-License-Identifier: GPL-2.0-only
/* Commands for one port: LINK_GET, LINK_SET, LINK_ATTACH, EYE_GET, MGMT_SEND. */
#include "request.h"

/* Attributes that only a simulated port has. */
static const struct torus_attrs fault_attrs = { {
	[TORUS_A_FAULT / 64] = 1ULL << TORUS_A_FAULT % 64,
} };

const struct torus_attrs *torus_req_link_without(const struct torus_hw *hw)
{
	return hw->ops->injects ? NULL : &fault_attrs;
}

int torus_req_link_read(struct torus_hw *hw, unsigned int port)
{
	struct torus_link *out = &hw->reply.link;
	int err = hw->ops->link_get(hw, port, out);

	out->ifindex = hw->ifindex;
	return err;
}

int torus_req_link_get(struct torus_hw *hw, struct torus_req *r)
{
	unsigned int port;
	int err = torus_req_port(hw, r, &port);

	r->without = torus_req_link_without(hw);
	return err ? err : torus_req_answer(r, &torus_tree_link_get, torus_req_link_read(hw, port));
}

static int number_or(const struct nlattr *a, int none)
{
	return a ? (int)torus_attr_number(a) : none;
}

int torus_req_link_set(struct torus_hw *hw, struct torus_req *r)
{
	const struct nlattr *fault = r->tb[TORUS_A_FAULT], *tb[TORUS_FAULT_MAX + 1];
	struct torus_link_order order = {
		.retry = number_or(r->tb[TORUS_A_RETRY_WANTED], -1),
		.admin = number_or(r->tb[TORUS_A_ADMIN], -1),
		.retrain = r->tb[TORUS_A_RETRAIN],
	};
	unsigned int port;
	int err = torus_req_port(hw, r, &port);

	if (err)
		return err;
	if (fault && !hw->ops->injects)
		return torus_refuse(&r->why, -EOPNOTSUPP, fault,
				    "FAULT: only software NICs can inject faults");
	if (fault) {
		torus_parse_nest(fault, tb, TORUS_FAULT_MAX);
		order.fault = tb;
	}
	return hw->ops->link_set(hw, port, &order);
}

int torus_req_link_attach(struct torus_hw *hw, struct torus_req *r)
{
	const struct nlattr *lower = r->tb[TORUS_A_LOWER];
	struct torus_refusal reason = { 0 };
	unsigned int port;
	int err = torus_req_port(hw, r, &port);

	if (err)
		return err;
	if (!hw->ops->link_attach)
		return torus_refuse(&r->why, -EOPNOTSUPP, lower,
				    "LOWER: the ports of this NIC have no lower devices");
	err = hw->ops->link_attach(hw, port, torus_attr_data(lower), &reason);
	if (err)
		torus_refuse(&r->why, err, lower, "LOWER '%.15s': %.90s",
			     (const char *)torus_attr_data(lower),
			     reason.text[0] ? reason.text : "it was refused");
	return err;
}

int torus_req_eye_get(struct torus_hw *hw, struct torus_req *r)
{
	struct torus_eye *out = &hw->reply.eye;
	unsigned int port;
	int err = torus_req_port(hw, r, &port);

	if (err)
		return err;
	memset(out, 0, sizeof(*out));
	out->ifindex = hw->ifindex;
	out->port = (u8)port;
	out->lane = (u8)torus_attr_number(r->tb[TORUS_A_LANE]);
	return torus_req_answer(r, &torus_tree_eye_get, hw->ops->eye_get(hw, port, out->lane, out));
}

int torus_req_mgmt_send(struct torus_hw *hw, struct torus_req *r)
{
	const struct nlattr *data = r->tb[TORUS_A_DATA];
	unsigned int port;
	int err = torus_req_port(hw, r, &port);

	if (err)
		return err;
	err = hw->ops->mgmt_send(hw, port, torus_attr_data(data), torus_attr_len(data));
	if (err == -ENETDOWN)
		torus_refuse(&r->why, err, NULL, "the link of port %u is not up", port);
	else if (err == -EAGAIN)
		torus_refuse(&r->why, err, NULL,
			     "port %u has too many management packets waiting", port);
	return err;
}
