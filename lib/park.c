// SPDX-License-Identifier: LGPL-2.1-or-later
/* Flow counters, the parking segment, and management packets. */
#include "client.h"

static int flow_reply(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh,
		      void *arg)
{
	struct torus_attrs seen;

	(void)tb;
	*(struct torus_flow *)arg = (struct torus_flow){ 0 };
	return lt_tree(dev, nlh, &torus_tree_flow_get, arg, &seen);
}

int torus_flow_get(struct torus_dev *dev, struct torus_flow *out)
{
	struct nl_msg *msg = lt_msg(dev, TORUS_CMD_FLOW_GET, 0);

	if (!msg)
		return lt_drop(dev, msg);
	return lt_do(dev, msg, flow_reply, out);
}

int lt_park(struct torus_dev *dev, struct nlmsghdr *nlh, struct torus_park *out)
{
	struct torus_attrs seen;

	*out = (struct torus_park){ 0 };
	return lt_tree(dev, nlh, &torus_tree_park_get, out, &seen);
}

static int park_reply(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh,
		      void *arg)
{
	(void)tb;
	return lt_park(dev, nlh, arg);
}

int torus_park_get(struct torus_dev *dev, struct torus_park *out)
{
	struct nl_msg *msg = lt_msg(dev, TORUS_CMD_PARK_GET, 0);

	if (!msg)
		return lt_drop(dev, msg);
	return lt_do(dev, msg, park_reply, out);
}

static int park_flows_reply(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh,
			    void *arg)
{
	struct torus_attrs seen;

	(void)tb;
	*(struct torus_park_flows *)arg = (struct torus_park_flows){ 0 };
	return lt_tree(dev, nlh, &torus_tree_park_flows_get, arg, &seen);
}

int torus_park_flows_get(struct torus_dev *dev, struct torus_park_flows *out)
{
	struct nl_msg *msg = lt_msg(dev, TORUS_CMD_PARK_FLOWS_GET, 0);

	if (!msg)
		return lt_drop(dev, msg);
	return lt_do(dev, msg, park_flows_reply, out);
}

int torus_park_resolve(struct torus_dev *dev, unsigned int port, uint32_t session,
		       int seq)
{
	struct nl_msg *msg;
	int err;

	if (seq > UINT16_MAX)
		return lt_fail(dev, -EINVAL, "sequence number %d: must be at most %u", seq,
			       UINT16_MAX);
	err = lt_port_msg(dev, TORUS_CMD_PARK_RESOLVE, port, 0, &msg);
	if (err)
		return err;
	if (nla_put_u32(msg, TORUS_A_SESSION, session) ||
	    (seq >= 0 && nla_put_u16(msg, TORUS_A_SEQ, (uint16_t)seq)))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}

int torus_park_replay(struct torus_dev *dev, uint64_t version, uint16_t ports)
{
	struct nl_msg *msg = lt_msg(dev, TORUS_CMD_PARK_REPLAY, 0);

	if (!msg || nla_put_u64(msg, TORUS_A_VERSION, version) ||
	    nla_put_u16(msg, TORUS_A_PORTS, ports) || lt_put_root(dev, msg))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}

int torus_mgmt_send(struct torus_dev *dev, unsigned int port, const void *data,
		    size_t len)
{
	struct nl_msg *msg;
	int err;

	if (len < 1 || len > TORUS_MGMT_MAX)
		return lt_fail(dev, -EINVAL,
			       "management packet of %zu bytes: must have 1 to %d",
			       len, TORUS_MGMT_MAX);
	err = lt_port_msg(dev, TORUS_CMD_MGMT_SEND, port, len, &msg);
	if (err)
		return err;
	if (nla_put(msg, TORUS_A_DATA, (int)len, data))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}
