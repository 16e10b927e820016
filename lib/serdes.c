// SPDX-License-Identifier: LGPL-2.1-or-later
/* Eyes of the lanes of receivers, and modelled cables of software NICs. */
#include "client.h"

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
	struct torus_attrs seen;
	int err;

	(void)tb;
	*out = (struct torus_eye){ 0 };
	err = lt_tree(dev, nlh, &torus_tree_eye_get, out, &seen);
	return err || out->swing ? err : lt_fail(dev, -EBADMSG, "an eye without its size");
}

int torus_eye_get(struct torus_dev *dev, unsigned int port, unsigned int lane,
		  struct torus_eye *out)
{
	struct nl_msg *msg;
	int err;

	if (lane >= TORUS_LANES_MAX)
		return lt_fail(dev, -EINVAL, "lane %u: must be 0 to %d", lane,
			       TORUS_LANES_MAX - 1);
	err = lt_port_msg(dev, TORUS_CMD_EYE_GET, port, 0, &msg);
	if (err)
		return err;
	if (nla_put_u8(msg, TORUS_A_LANE, (uint8_t)lane))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, eye_reply, out);
}
