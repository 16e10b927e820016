// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles requests: checks that a request is for this NIC, and sends dumps. kernel/req implements
 * the commands.
 */
#include <linux/genetlink.h>
#include <netlink/attr.h>

#include "emu.h"
#include "reply.h"
#include "req.h"

#define ROWS_BYTES	(40 * 1024)	/* most bytes of rows in a message */

/* Refuses a request that names another device than this NIC. */
static int check_device(struct req *r)
{
	const struct nlattr *ifindex = r->tb[TORUS_A_IFINDEX], *name = r->tb[TORUS_A_NAME];
	const char *ours = r->emu->soft.hw.name;

	if (ifindex && nla_get_u32(ifindex) != (u32)r->emu->tun.ifindex)
		return req_fail(r, -ENODEV, "IFINDEX is %u, the only NIC here has %d",
				nla_get_u32(ifindex), r->emu->tun.ifindex);
	if (name && r->req.cmd != TORUS_CMD_DEVICE_SET && strcmp(nla_get_string(name), ours))
		return req_fail(r, -ENODEV, "NAME is '%s', the only NIC here is '%s'",
				nla_get_string(name), ours);
	return 0;
}

/* --- requests with one reply (do) ------------------------------------------ */

static int send_reply(struct req *r)
{
	struct nl_msg *msg = reply_new(r->req.cmd, r->nlh->nlmsg_seq, 0, REPLY_BYTES);

	if (!msg || reply_put(msg, r->emu, r->req.tree, r->req.without)) {
		nlmsg_free(msg);
		return req_fail(r, -ENOMEM, "out of memory for the reply");
	}
	client_send(r->client, msg);
	return 0;
}

static int device_set(struct req *r)
{
	struct torus_hw *hw = &r->emu->soft.hw;
	struct torus_shape old = hw->shape;
	struct torus_plan old_plan = hw->plan;
	u32 old_node = hw->node, gen = hw->rows_gen;
	bool again = hw->placed;
	int err = torus_req_run(hw, &r->req);

	if (err)
		return err;
	torus_req_label(hw, &r->req);
	if (!r->emu->placed || !hw->placed)
		return 0;
	if (hw->rows_gen != gen || memcmp(&hw->plan, &old_plan, sizeof(old_plan)))
		r->emu->placed(r->emu, again ? &old : NULL, &old_plan, old_node);
	return 0;
}

static int run_request(struct req *r)
{
	int err;

	if (r->req.cmd == TORUS_CMD_SUBSCRIBE) {
		r->client->groups = nla_get_u32(r->tb[TORUS_A_GROUPS]);
		return 0;
	}
	if (r->req.cmd == TORUS_CMD_ROWS_GET)
		return req_fail(r, -EOPNOTSUPP, "ROWS_GET is a dump: NLM_F_DUMP is not set");
	if (r->req.cmd == TORUS_CMD_DEVICE_SET)
		return device_set(r);
	err = torus_req_run(&r->emu->soft.hw, &r->req);
	return err || !r->req.tree ? err : send_reply(r);
}

/* --- requests with several replies (dump) ---------------------------------- */

static int dump_begin(struct req *r)
{
	struct torus_hw *hw = &r->emu->soft.hw;
	struct dump d = { .cmd = (u8)r->req.cmd, .seq = r->nlh->nlmsg_seq, .gen = hw->rows_gen };
	int err = torus_req_dump(hw, &r->req, &d.parts);

	if (!err)
		r->client->dump = d;
	return err;
}

int command_part(struct client *c)
{
	static _Alignas(8) u8 buf[ROWS_BYTES];
	struct torus_hw *hw = &c->emu->soft.hw;
	struct dump *d = &c->dump;
	bool is_rows = d->cmd == TORUS_CMD_ROWS_GET;
	struct nl_msg *msg;
	int n;

	if (is_rows && d->gen != hw->rows_gen)
		d->changed = true;
	n = torus_req_part(hw, d->cmd, &d->parts, buf, sizeof(buf));
	if (n <= 0)
		return n;
	msg = reply_new(d->cmd, d->seq, NLM_F_MULTI | (d->changed ? NLM_F_DUMP_INTR : 0),
			(size_t)n);
	if (!msg || nlmsg_append(msg, buf, (size_t)n, NLMSG_ALIGNTO)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	client_send(c, msg);
	return n;
}

int command_run(struct req *r, bool dump)
{
	int err;

	r->req.tb = r->tb;
	r->req.from = r->client->number;
	r->req.attrs = (struct torus_span) {
		nlmsg_attrdata(r->nlh, GENL_HDRLEN), (size_t)nlmsg_attrlen(r->nlh, GENL_HDRLEN)
	};
	err = torus_check_request(r->req.cmd, dump, r->req.attrs, r->tb, &r->req.why);
	if (!err)
		err = check_device(r);
	if (err)
		return err;
	return dump ? dump_begin(r) : run_request(r);
}
