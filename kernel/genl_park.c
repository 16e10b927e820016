// SPDX-License-Identifier: GPL-2.0-only
/* HOLD, RELEASE, FLOW_GET, PARK_*: what a recovery asks of a NIC. */
#include "genl.h"

static int hold(struct torus_dev *d, const u32 *node, u32 n, u32 *bad, u32 *total)
{
	u64 version;

	if (!tn_nic_rows(d->nic, total, &version))
		return -ENODEV;
	for (*bad = 0; *bad < n; ++*bad)
		if (node[*bad] >= *total)
			return -ERANGE;
	d->rows_gen++;
	return tn_nic_hold(d->nic, node, n);
}

int torus_hold(struct sk_buff *req, struct genl_info *info)
{
	const struct nlattr *nodes = info->attrs[TORUS_A_NODES];
	u32 n = (u32)nla_len(nodes) / sizeof(u32), bad = 0, total = 0;
	struct torus_dev *d = torus_req_dev(info);
	const u32 *node = nla_data(nodes);
	int err;

	torus_dev_lock(d);
	err = hold(d, node, n, &bad, &total);
	torus_dev_unlock(d);
	if (err == -ERANGE)
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, nodes,
					"NODES[%u] is %u, allowed 0 to %u", bad, node[bad],
					total - 1);
	else if (err == -ENODEV)
		NL_SET_ERR_MSG(info->extack,
			       "the NIC has no place yet: SHAPE and COORDS are not set");
	return err;
}

int torus_release(struct sk_buff *req, struct genl_info *info)
{
	u64 version = nla_get_u64(info->attrs[TORUS_A_VERSION]), active = 0;
	struct torus_dev *d = torus_req_dev(info);
	u32 n;
	int err;

	torus_dev_lock(d);
	err = tn_nic_release(d->nic, version, info->attrs[TORUS_A_GIVE_UP], torus_now());
	if (!err)
		d->rows_gen++;
	tn_nic_rows(d->nic, &n, &active);
	torus_dev_unlock(d);
	return torus_version_error(info, err, active);
}

int torus_flow_get(struct sk_buff *req, struct genl_info *info)
{
	return torus_reply_put(info, torus_put_flow);
}

int torus_park_get(struct sk_buff *req, struct genl_info *info)
{
	return torus_reply_put(info, torus_put_park);
}

int torus_park_resolve(struct sk_buff *req, struct genl_info *info)
{
	u32 session = nla_get_u32(info->attrs[TORUS_A_SESSION]);
	const struct nlattr *seq = info->attrs[TORUS_A_SEQ];
	struct torus_dev *d = torus_req_dev(info);
	int err, port = torus_req_port(info);

	if (port < 0)
		return port;
	torus_dev_lock(d);
	err = tn_nic_park_resolve(d->nic, (unsigned int)port, session,
				  seq ? nla_get_u16(seq) : 0, !seq);
	torus_dev_unlock(d);
	return err;
}

int torus_park_replay(struct sk_buff *req, struct genl_info *info)
{
	u64 version = nla_get_u64(info->attrs[TORUS_A_VERSION]), active = 0;
	const struct nlattr *mask = info->attrs[TORUS_A_PORTS];
	struct torus_dev *d = torus_req_dev(info);
	u32 ports = nla_get_u16(mask), n;
	int err;

	if (ports >> d->nports) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, mask, "PORTS is %#x, allowed a mask of %#x",
					ports, (1u << d->nports) - 1);
		return -ERANGE;
	}
	torus_dev_lock(d);
	err = tn_nic_park_replay(d->nic, version, ports, torus_now());
	tn_nic_rows(d->nic, &n, &active);
	torus_dev_unlock(d);
	return torus_version_error(info, err, active);
}
