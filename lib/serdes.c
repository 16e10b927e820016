// SPDX-License-Identifier: LGPL-2.1-or-later
/* What receivers are like: lanes, eyes, and the cables of software NICs. */
#include "client.h"

static uint32_t u32_of(struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : 0;
}

static uint16_t u16_of(struct nlattr *attr)
{
	return attr ? nla_get_u16(attr) : 0;
}

static uint8_t u8_of(struct nlattr *attr)
{
	return attr ? nla_get_u8(attr) : 0;
}

void lt_line(struct nlattr **tb, struct torus_line *out)
{
	*out = (struct torus_line){
		.length = u32_of(tb[TORUS_FAULT_CABLE]),
		.loss = u32_of(tb[TORUS_FAULT_LOSS]),
		.crosstalk = u32_of(tb[TORUS_FAULT_CROSSTALK]),
		.drift = u32_of(tb[TORUS_FAULT_DRIFT]),
		.ageing = u32_of(tb[TORUS_FAULT_AGEING]),
		.aged = u16_of(tb[TORUS_FAULT_AGED]),
		.dead = u16_of(tb[TORUS_FAULT_DEAD]),
		.temperature = u32_of(tb[TORUS_FAULT_TEMPERATURE]),
	};
}

static int lane_parse(struct torus_dev *dev, struct nlattr *nest, struct torus_lane *out)
{
	static const struct nla_policy policy[TORUS_LANE_A_MAX + 1] = {
		[TORUS_LANE_A_STATE] = { .type = NLA_U8 },
		[TORUS_LANE_A_PRE] = { .type = NLA_U8 },
		[TORUS_LANE_A_POST] = { .type = NLA_U8 },
		[TORUS_LANE_A_HEIGHT] = { .type = NLA_U16 },
		[TORUS_LANE_A_WIDTH] = { .type = NLA_U16 },
		[TORUS_LANE_A_MARGIN] = { .type = NLA_U16 },
		[TORUS_LANE_A_BER] = { .type = NLA_U64 },
	};
	struct nlattr *tb[TORUS_LANE_A_MAX + 1];

	if (nla_parse_nested(tb, TORUS_LANE_A_MAX, nest, (struct nla_policy *)policy) < 0)
		return lt_fail(dev, -EBADMSG, "a lane of a link is malformed");
	*out = (struct torus_lane){
		.state = u8_of(tb[TORUS_LANE_A_STATE]),
		.pre = u8_of(tb[TORUS_LANE_A_PRE]),
		.post = u8_of(tb[TORUS_LANE_A_POST]),
		.height = u16_of(tb[TORUS_LANE_A_HEIGHT]),
		.width = u16_of(tb[TORUS_LANE_A_WIDTH]),
		.margin = u16_of(tb[TORUS_LANE_A_MARGIN]),
		.ber = tb[TORUS_LANE_A_BER] ? nla_get_u64(tb[TORUS_LANE_A_BER]) : 0,
	};
	if (out->state >= TORUS_LANE_STATES)
		return lt_fail(dev, -EBADMSG, "a lane is in unknown state %u", out->state);
	return 0;
}

int lt_lanes(struct torus_dev *dev, struct nlattr *nest, struct torus_link *out)
{
	struct nlattr *a;
	int left, err;

	nla_for_each_nested(a, nest, left) {
		int lane = nla_type(a) - 1;

		if (lane != (int)out->nlanes || lane >= TORUS_LANES_MAX)
			return lt_fail(dev, -EBADMSG, "the NIC speaks of lane %d", lane);
		err = lane_parse(dev, a, &out->lane[lane]);
		if (err)
			return err;
		out->nlanes++;
	}
	return 0;
}

int torus_line_set(struct torus_dev *dev, unsigned int port, const struct torus_line *c)
{
	struct nlattr *nest;
	struct nl_msg *msg;
	int err;

	err = lt_port_msg(dev, TORUS_CMD_LINK_SET, port, 128, &msg);
	if (err)
		return err;
	nest = nla_nest_start(msg, TORUS_A_FAULT);
	if (!nest || nla_put_u32(msg, TORUS_FAULT_CABLE, c->length) ||
	    nla_put_u32(msg, TORUS_FAULT_LOSS, c->loss) ||
	    nla_put_u32(msg, TORUS_FAULT_CROSSTALK, c->crosstalk) ||
	    nla_put_u32(msg, TORUS_FAULT_DRIFT, c->drift) ||
	    nla_put_u32(msg, TORUS_FAULT_AGEING, c->ageing) ||
	    nla_put_u16(msg, TORUS_FAULT_AGED, c->aged) ||
	    nla_put_u16(msg, TORUS_FAULT_DEAD, c->dead) ||
	    (c->temperature &&
	     nla_put_u32(msg, TORUS_FAULT_TEMPERATURE, c->temperature)))
		return lt_drop(dev, msg);
	nla_nest_end(msg, nest);
	return lt_do(dev, msg, NULL, NULL);
}

static int eye_reply(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh, void *arg)
{
	struct torus_eye *out = arg;

	(void)nlh;
	if (!tb[TORUS_A_EYE] || !tb[TORUS_A_SWING] || !u16_of(tb[TORUS_A_SWING]))
		return lt_fail(dev, -EBADMSG, "an eye without its map or size");
	out->swing = u16_of(tb[TORUS_A_SWING]);
	out->mask_height = u16_of(tb[TORUS_A_MASK_HEIGHT]);
	out->mask_width = u16_of(tb[TORUS_A_MASK_WIDTH]);
	memcpy(out->map, nla_data(tb[TORUS_A_EYE]), sizeof(out->map));
	return 0;
}

int torus_eye_get(struct torus_dev *dev, unsigned int port, unsigned int lane,
		  struct torus_eye *out)
{
	struct nl_msg *msg;
	int err;

	if (lane >= TORUS_LANES_MAX)
		return lt_fail(dev, -EINVAL, "lane %u: allowed 0 to %d", lane,
			       TORUS_LANES_MAX - 1);
	err = lt_port_msg(dev, TORUS_CMD_EYE_GET, port, 0, &msg);
	if (err)
		return err;
	if (nla_put_u8(msg, TORUS_A_LANE, (uint8_t)lane))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, eye_reply, out);
}
