// SPDX-License-Identifier: GPL-2.0-only
/* Calls the function of a command; the files request_*.c have these functions. */
#include "request.h"

int torus_req_port(const struct torus_hw *hw, struct torus_req *r, unsigned int *port)
{
	const struct nlattr *a = r->tb[TORUS_A_PORT];

	*port = (unsigned int)torus_attr_number(a);
	if (*port < hw->nports)
		return 0;
	return torus_refuse(&r->why, -EINVAL, a, "PORT is %u, must be 0 to %u", *port,
			    hw->nports - 1u);
}

int torus_req_placed(const struct torus_hw *hw, struct torus_req *r)
{
	if (hw->placed)
		return 0;
	return torus_refuse(&r->why, -ENODEV, NULL,
			    "the NIC has no place yet: SHAPE and COORDS are not set");
}

int torus_req_answer(struct torus_req *r, const struct torus_tree *tree, int err)
{
	r->tree = tree;
	return err;
}

int torus_req_version_error(struct torus_hw *hw, struct torus_req *r, int err)
{
	u64 active = 0;
	u32 n;

	if (err == -ENODEV)
		torus_req_placed(hw, r);
	hw->ops->rows(hw, &n, &active);
	if (err == -ESTALE)
		torus_refuse(&r->why, err, r->tb[TORUS_A_VERSION],
			     "VERSION is %llu; active is %llu",
			     (unsigned long long)torus_req_version(r), (unsigned long long)active);
	return err;
}

#define OP(x) (offsetof(struct torus_hw_ops, x))

/**
 * struct command - how a command is executed
 * @run: the function that executes it
 * @op: an optional operation of the NIC that the command needs; 0: none, or @run checks it
 * @by_root: accepted only as an order of the root that the NIC obeys (fence.c)
 */
struct command {
	int (*run)(struct torus_hw *hw, struct torus_req *r);
	size_t op;
	bool by_root;
};

static const struct command commands[TORUS_CMD_MAX + 1] = {
	[TORUS_CMD_DEVICE_GET] = { .run = torus_req_device_get },
	[TORUS_CMD_DEVICE_SET] = { .run = torus_req_device_place, .by_root = true },
	[TORUS_CMD_LINK_GET] = { .run = torus_req_link_get },
	[TORUS_CMD_LINK_SET] = { .run = torus_req_link_set },
	[TORUS_CMD_LINK_ATTACH] = { .run = torus_req_link_attach },
	[TORUS_CMD_ROWS_BEGIN] = { .run = torus_req_rows_begin,
				   .op = OP(rows_begin),
				   .by_root = true },
	[TORUS_CMD_ROWS_PUT] = { .run = torus_req_rows_put, .op = OP(rows_put) },
	[TORUS_CMD_ROWS_COMMIT] = { .run = torus_req_rows_commit,
				    .op = OP(rows_commit),
				    .by_root = true },
	[TORUS_CMD_HOLD] = { .run = torus_req_hold, .op = OP(hold) },
	[TORUS_CMD_RELEASE] = { .run = torus_req_release, .op = OP(release), .by_root = true },
	[TORUS_CMD_FLOW_GET] = { .run = torus_req_flow_get, .op = OP(flow_get) },
	[TORUS_CMD_PARK_GET] = { .run = torus_req_park_get, .op = OP(park_get) },
	[TORUS_CMD_PARK_RESOLVE] = { .run = torus_req_park_resolve, .op = OP(park_resolve) },
	[TORUS_CMD_PARK_REPLAY] = { .run = torus_req_park_replay,
				    .op = OP(park_replay),
				    .by_root = true },
	[TORUS_CMD_MGMT_SEND] = { .run = torus_req_mgmt_send, .op = OP(mgmt_send) },
	[TORUS_CMD_EYE_GET] = { .run = torus_req_eye_get, .op = OP(eye_get) },
	[TORUS_CMD_PARK_FLOWS_GET] = { .run = torus_req_park_flows_get, .op = OP(park_flows_get) },
};

static bool has_op(const struct torus_hw *hw, size_t op)
{
	void (*fn)(void);

	memcpy(&fn, (const u8 *)hw->ops + op, sizeof(fn));
	return fn;
}

int torus_req_run(struct torus_hw *hw, struct torus_req *r)
{
	const struct command *c;
	int err;

	r->why = (struct torus_refusal) { 0 };
	r->tree = NULL;
	r->without = NULL;
	if (r->cmd > TORUS_CMD_MAX || !commands[r->cmd].run)
		return torus_refuse(&r->why, -EOPNOTSUPP, NULL,
				    "command %u is a notification or unknown, not a request",
				    r->cmd);
	c = &commands[r->cmd];
	err = c->op && !has_op(hw, c->op) ? -EOPNOTSUPP : c->by_root ? torus_req_fence(hw, r) : 0;
	if (!err)
		err = c->run(hw, r);
	if (!err && c->by_root)
		torus_req_obey(hw, r);
	if (err && !r->why.text[0])
		torus_refuse(&r->why, err, NULL, err == -ENOMEM ? "%s: out of memory" :
			     err == -EOPNOTSUPP ? "%s: this NIC cannot do that" :
			     "%s was refused", torus_cmd_name(r->cmd));
	return err;
}

int torus_req_dump(struct torus_hw *hw, struct torus_req *r, struct torus_parts *p)
{
	r->why = (struct torus_refusal) { 0 };
	*p = (struct torus_parts) { .end = r->cmd == TORUS_CMD_DEVICE_GET ? 1 : hw->nports };
	return r->cmd == TORUS_CMD_ROWS_GET ? torus_req_rows_dump(hw, r, p) : 0;
}

static int put_nic(struct torus_hw *hw, void *to, size_t room)
{
	struct torus_req r;

	torus_req_device_get(hw, &r);
	return torus_tree_put(r.tree, r.without, &hw->reply, to, room);
}

static int put_port(struct torus_hw *hw, unsigned int port, void *to, size_t room)
{
	int err = torus_req_link_read(hw, port);

	return err ? err : torus_tree_put(&torus_tree_link_get, torus_req_link_without(hw),
					  &hw->reply, to, room);
}

int torus_req_part(struct torus_hw *hw, unsigned int cmd, struct torus_parts *p, void *to,
		   size_t room)
{
	int n;

	if (p->next >= p->end)
		return 0;
	if (cmd == TORUS_CMD_ROWS_GET)
		return torus_req_rows_part(hw, p, to, room);
	n = cmd == TORUS_CMD_DEVICE_GET ? put_nic(hw, to, room) :
	    put_port(hw, p->next, to, room);
	if (n > 0)
		p->next++;
	return n;
}
