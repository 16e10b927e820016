// SPDX-License-Identifier: GPL-2.0-only
/*
 * One function a command; the table at the end says who may carry what. A
 * request that fails has changed nothing, except that LINK_SET and DEVICE_SET
 * are checked as a whole before their parts are done one by one.
 */
#include <linux/genetlink.h>
#include <stdlib.h>
#include <netlink/attr.h>

#include "emu.h"
#include "kernel/cable_attr.h"
#include "log.h"
#include "reply.h"
#include "req.h"

#define ROWS_PER_PART	4096

static int send_reply(struct req *r, struct nl_msg *msg, int err)
{
	if (!msg || err) {
		nlmsg_free(msg);
		return req_fail(r, -ENOMEM, "out of memory for the reply");
	}
	client_send(r->client, msg);
	return 0;
}

static struct nl_msg *new_reply(struct req *r, size_t bytes)
{
	return reply_new(r->cmd, r->nlh->nlmsg_seq, 0, bytes);
}

/* One part of a dump. Return: as of struct dump's part(). */
static int send_part(struct client *c, struct nl_msg *msg, int err, bool more)
{
	if (!msg || err) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	client_send(c, msg);
	return more;
}

static int need_place(struct req *r)
{
	if (r->emu->is_placed)
		return 0;
	return req_fail(r, -ENODEV, "the NIC has no place yet: SHAPE and COORDS are not set");
}

static int get_port(struct req *r, unsigned int *port)
{
	*port = nla_get_u8(r->tb[TORUS_A_PORT]);
	if (*port < r->emu->nports)
		return 0;
	return req_fail(r, -EINVAL, "PORT is %u, allowed 0 to %u", *port, r->emu->nports - 1);
}

/* Attributes are aligned to 4 bytes only. */
static u64 *copy_u64s(const struct nlattr *a)
{
	u64 *p = malloc((size_t)nla_len(a));

	if (p)
		memcpy(p, nla_data(a), (size_t)nla_len(a));
	return p;
}

/* --- device --------------------------------------------------------------- */

static int device_get(struct req *r)
{
	struct nl_msg *msg = new_reply(r, REPLY_BYTES);

	return send_reply(r, msg, msg ? reply_device(msg, r->emu) : 0);
}

static int device_part(struct client *c, struct dump *d)
{
	struct nl_msg *msg = reply_new(TORUS_CMD_DEVICE_GET, d->seq, NLM_F_MULTI, REPLY_BYTES);

	return send_part(c, msg, msg ? reply_device(msg, c->emu) : 0, false);
}

static int get_place(struct req *r, struct torus_shape *shape, struct torus_coords *at)
{
	const struct nlattr *s = r->tb[TORUS_A_SHAPE], *c = r->tb[TORUS_A_COORDS];
	unsigned int n;

	if (!s || !c)
		return req_fail(r, -EINVAL, "SHAPE and COORDS go together");
	n = (unsigned int)nla_len(s) / 2;
	if (nla_len(c) != nla_len(s))
		return req_fail(r, -EINVAL, "COORDS has %d entries, SHAPE %u", nla_len(c) / 2, n);
	if (n > r->emu->nports / 2u)
		return req_fail(r, -EINVAL, "SHAPE has %u dimensions, %u ports allow 1 to %u", n,
				r->emu->nports, r->emu->nports / 2);
	memset(shape, 0, sizeof(*shape));
	memset(at, 0, sizeof(*at));
	shape->ndims = (u8)n;
	for (unsigned int i = 0; i < TORUS_MAX_DIMS; i++)
		shape->size[i] = 1;
	memcpy(shape->size, nla_data(s), n * sizeof(u16));
	memcpy(at->c, nla_data(c), n * sizeof(u16));
	if (!tn_shape_nodes(shape))
		return req_fail(r, -EINVAL, "SHAPE: sizes must be 1 to %d, %d nodes at most",
				TORUS_MAX_SIZE, TORUS_MAX_NODES);
	for (unsigned int i = 0; i < n; i++)
		if (at->c[i] >= shape->size[i])
			return req_fail(r, -ERANGE, "COORDS[%u] is %u, allowed 0 to %u", i,
					at->c[i], shape->size[i] - 1);
	return 0;
}

static int device_set(struct req *r)
{
	bool place = r->tb[TORUS_A_SHAPE] || r->tb[TORUS_A_COORDS];
	struct torus_coords at;
	struct torus_shape shape;
	int err = place ? get_place(r, &shape, &at) : 0;

	if (!err && place) {
		err = emu_place(r->emu, &shape, &at);
		if (err)
			req_fail(r, err, "the NIC refused its place");
	}
	if (err)
		return err;
	if (r->tb[TORUS_A_NAME])
		snprintf(r->emu->name, sizeof(r->emu->name), "%s",
			 nla_get_string(r->tb[TORUS_A_NAME]));
	if (r->tb[TORUS_A_BOOTSTRAP])
		r->emu->bootstrap = nla_get_u8(r->tb[TORUS_A_BOOTSTRAP]);
	return 0;
}

/* --- links ---------------------------------------------------------------- */

static int link_get(struct req *r)
{
	struct nl_msg *msg;
	unsigned int port;
	int err = get_port(r, &port);

	if (err)
		return err;
	msg = new_reply(r, REPLY_BYTES);
	return send_reply(r, msg, msg ? reply_link(msg, r->emu, port, r->now) : 0);
}

static int link_part(struct client *c, struct dump *d)
{
	struct nl_msg *msg = reply_new(TORUS_CMD_LINK_GET, d->seq, NLM_F_MULTI, REPLY_BYTES);
	int err = msg ? reply_link(msg, c->emu, d->next, loop_now()) : 0;

	return send_part(c, msg, err, ++d->next < c->emu->nports);
}

static void set_cable(struct req *r, struct port *port, const struct nlattr **tb)
{
	struct tn_cable c = torus_cable_told(&port->serdes.cable, port->fault.bits.seed, tb);

	if (!tn_cable_same(&c, &port->serdes.cable)) {
		tn_serdes_model_lay(&port->serdes, &c, r->now);
		tn_nic_cable(r->emu->nic, port->num, r->now);
	}
}

static void set_fault(struct req *r, struct port *port)
{
	const struct nlattr *tb[TORUS_FAULT_MAX + 1];
	struct torus_host_fault *f = &port->fault;

	torus_parse_nest(r->tb[TORUS_A_FAULT], tb, TORUS_FAULT_MAX);
	if (tb[TORUS_FAULT_SILENCE])
		f->silence = nla_get_u8(tb[TORUS_FAULT_SILENCE]);
	if (tb[TORUS_FAULT_LATENCY])
		f->latency = nla_get_u64(tb[TORUS_FAULT_LATENCY]);
	if (tb[TORUS_FAULT_SEED])
		f->bits.seed = nla_get_u64(tb[TORUS_FAULT_SEED]);
	if (tb[TORUS_FAULT_BER])
		f->bits.ber = nla_get_u64(tb[TORUS_FAULT_BER]);
	if (tb[TORUS_FAULT_BER] || tb[TORUS_FAULT_SEED])
		tn_fault_arm(&f->bits);
	set_cable(r, port, tb);
}

static int link_set(struct req *r)
{
	unsigned int port;
	int err = get_port(r, &port);

	if (err)
		return err;
	if (r->tb[TORUS_A_FAULT])
		set_fault(r, &r->emu->port[port]);
	if (r->tb[TORUS_A_ADMIN])
		tn_nic_admin(r->emu->nic, port, nla_get_u8(r->tb[TORUS_A_ADMIN]), r->now);
	if (r->tb[TORUS_A_RETRY_WANTED])
		tn_nic_retry(r->emu->nic, port, nla_get_u8(r->tb[TORUS_A_RETRY_WANTED]), r->now);
	if (r->tb[TORUS_A_RETRAIN])
		tn_nic_retrain(r->emu->nic, port, r->now);
	return 0;
}

static int link_attach(struct req *r)
{
	const char *name = nla_get_string(r->tb[TORUS_A_LOWER]);
	const char *why = NULL;
	unsigned int port;
	int err = get_port(r, &port);

	if (err)
		return err;
	for (unsigned int i = 0; i < r->emu->nports; i++)
		if (*name && i != port && !strcmp(r->emu->port[i].lower, name))
			return req_fail(r, -EBUSY, "LOWER '%s' is bound to port %u", name, i);
	err = r->emu->attach(&r->emu->port[port], name, &why, r->now);
	if (err)
		return req_fail(r, err, "LOWER '%s': %s", name, why ? why : strerror(-err));
	return 0;
}

static int eye_get(struct req *r)
{
	unsigned int port, lane = nla_get_u8(r->tb[TORUS_A_LANE]);
	struct nl_msg *msg;
	int err = get_port(r, &port);

	if (err)
		return err;
	msg = new_reply(r, REPLY_BYTES);
	return send_reply(r, msg, msg ? reply_eye(msg, r->emu, port, lane, r->now) : 0);
}

/* --- rows ----------------------------------------------------------------- */

static u64 get_version(struct req *r)
{
	return nla_get_u64(r->tb[TORUS_A_VERSION]);
}

/* What the core's errors mean for a request that names a version. */
static int version_error(struct req *r, int err)
{
	u64 active = 0;
	u32 n;

	if (!err || r->why.text[0])
		return err;
	if (err == -ENODEV)
		return need_place(r);
	tn_nic_rows(r->emu->nic, &n, &active);
	if (err == -ESTALE)
		return req_fail(r, err, "VERSION is %llu; active is %llu",
				(unsigned long long)get_version(r), (unsigned long long)active);
	if (err == -EBUSY)
		return req_fail(r, err, "some parked packets are not resolved yet");
	return req_fail(r, err, "%s was refused", torus_cmd_name(r->cmd));
}

static int rows_begin(struct req *r)
{
	int err = tn_nic_rows_begin(r->emu->nic, get_version(r));

	if (!err)
		r->emu->server.writer = r->client->number;
	return version_error(r, err);
}

/* The shadow table is for who began it. */
static int check_writer(struct req *r)
{
	u64 writer = r->emu->server.writer;

	if (!writer || writer == r->client->number)
		return 0;
	return req_fail(r, -ESTALE, "another client began to write rows meanwhile");
}

static int put_one(struct req *r, const struct nlattr *nest)
{
	const struct nlattr *tb[TORUS_ROWS_MAX + 1];
	u32 first, n, total = 0;
	u64 version, *rows;
	int err;

	torus_parse_nest(nest, tb, TORUS_ROWS_MAX);
	first = nla_get_u32(tb[TORUS_ROWS_FIRST]);
	n = (u32)nla_len(tb[TORUS_ROWS_DATA]) / sizeof(u64);
	tn_nic_rows(r->emu->nic, &total, &version);
	if (first >= total || n > total - first)
		return req_fail(r, -ERANGE, "ROWS are %u to %u, allowed 0 to %u", first,
				first + n - 1, total - 1);
	rows = copy_u64s(tb[TORUS_ROWS_DATA]);
	if (!rows)
		return req_fail(r, -ENOMEM, "out of memory");
	err = tn_nic_rows_put(r->emu->nic, get_version(r), first, rows, n);
	free(rows);
	if (err == -EINVAL)
		req_fail(r, err, "ROWS from %u on have one of unknown format or range", first);
	return err;
}

static int rows_put(struct req *r)
{
	struct nlattr *a;
	int left, err = need_place(r);

	if (!err)
		err = check_writer(r);
	if (err)
		return err;
	nla_for_each_attr(a, nlmsg_attrdata(r->nlh, GENL_HDRLEN),
			  nlmsg_attrlen(r->nlh, GENL_HDRLEN), left) {
		if (nla_type(a) != TORUS_A_ROWS)
			continue;
		err = put_one(r, a);
		if (err)
			break;
	}
	return version_error(r, err);
}

static int rows_commit(struct req *r)
{
	int err = check_writer(r);

	if (!err)
		err = tn_nic_rows_commit(r->emu->nic, get_version(r), r->now);
	if (!err)
		r->emu->server.writer = 0;
	return version_error(r, err);
}

static int rows_get(struct req *r)
{
	return req_fail(r, -EOPNOTSUPP, "ROWS_GET is a dump: NLM_F_DUMP is not set");
}

static int rows_part(struct client *c, struct dump *d)
{
	struct nl_msg *msg;
	struct nlattr *nest;
	u64 version;
	u32 total, n;
	int err;

	if (!tn_nic_rows(c->emu->nic, &total, &version) || total < d->end) {
		d->changed = true;	/* placed anew meanwhile */
		return 0;
	}
	if (d->next >= d->end)
		return 0;
	if (version != d->version)
		d->changed = true;
	n = d->end - d->next < ROWS_PER_PART ? d->end - d->next : ROWS_PER_PART;
	msg = reply_new(TORUS_CMD_ROWS_GET, d->seq,
			NLM_F_MULTI | (d->changed ? NLM_F_DUMP_INTR : 0), 64 + n * sizeof(u64));
	if (!msg)
		return -ENOMEM;
	err = nla_put_u64(msg, TORUS_A_VERSION, version);
	nest = nla_nest_start(msg, TORUS_A_ROWS);
	if (err || !nest || nla_put_u32(msg, TORUS_ROWS_FIRST, d->next) ||
	    nla_put(msg, TORUS_ROWS_DATA, (int)(n * sizeof(u64)),
		    tn_nic_rows_get(c->emu->nic, d->next, n)))
		err = -ENOMEM;
	else
		nla_nest_end(msg, nest);
	d->next += n;
	return send_part(c, msg, err, d->next < d->end);
}

/* Narrow the dump by FIRST and COUNT. */
static int rows_dump(struct req *r, struct dump *d)
{
	u32 total = 0, count;

	if (!tn_nic_rows(r->emu->nic, &total, &d->version))
		return need_place(r);
	d->next = r->tb[TORUS_A_FIRST] ? nla_get_u32(r->tb[TORUS_A_FIRST]) : 0;
	if (d->next >= total)
		return req_fail(r, -ERANGE, "FIRST is %u, allowed 0 to %u", d->next, total - 1);
	count = r->tb[TORUS_A_COUNT] ? nla_get_u32(r->tb[TORUS_A_COUNT]) : total;
	d->end = count < total - d->next ? d->next + count : total;
	return 0;
}

/* --- holds, parking ------------------------------------------------------- */

static int hold(struct req *r)
{
	const struct nlattr *a = r->tb[TORUS_A_NODES];
	u32 total = 0, n = (u32)nla_len(a) / sizeof(u32);
	const u32 *node = nla_data(a);
	u64 version;

	if (need_place(r))
		return -ENODEV;
	tn_nic_rows(r->emu->nic, &total, &version);
	for (u32 i = 0; i < n; i++)
		if (node[i] >= total)
			return req_fail(r, -ERANGE, "NODES[%u] is %u, allowed 0 to %u", i,
					node[i], total - 1);
	return tn_nic_hold(r->emu->nic, node, n);
}

static int release(struct req *r)
{
	return version_error(r, tn_nic_release(r->emu->nic, get_version(r),
					       r->tb[TORUS_A_GIVE_UP], r->now));
}

static int flow_get(struct req *r)
{
	struct nl_msg *msg = new_reply(r, REPLY_BYTES);

	return send_reply(r, msg, msg ? reply_flow(msg, r->emu) : 0);
}

static int park_get(struct req *r)
{
	struct nl_msg *msg = new_reply(r, REPLY_BYTES);

	return send_reply(r, msg, msg ? reply_park(msg, r->emu) : 0);
}

static int park_resolve(struct req *r)
{
	const struct nlattr *seq = r->tb[TORUS_A_SEQ];
	unsigned int port;
	int err = get_port(r, &port);

	if (err)
		return err;
	return tn_nic_park_resolve(r->emu->nic, port, nla_get_u32(r->tb[TORUS_A_SESSION]),
				   seq ? nla_get_u16(seq) : 0, !seq);
}

static int park_replay(struct req *r)
{
	u32 ports = nla_get_u16(r->tb[TORUS_A_PORTS]);

	if (ports >> r->emu->nports)
		return req_fail(r, -ERANGE, "PORTS is %#x, allowed a mask of %#x", ports,
				(1u << r->emu->nports) - 1);
	return version_error(r, tn_nic_park_replay(r->emu->nic, get_version(r), ports, r->now));
}

static int mgmt_send(struct req *r)
{
	const struct nlattr *data = r->tb[TORUS_A_DATA];
	unsigned int port;
	int err = get_port(r, &port);

	if (err)
		return err;
	err = tn_nic_mgmt_send(r->emu->nic, port, nla_data(data), (unsigned int)nla_len(data),
			       r->now);
	if (err == -ENETDOWN)
		req_fail(r, err, "the link of port %u is not up", port);
	else if (err == -EAGAIN)
		req_fail(r, err, "port %u has too many management packets waiting", port);
	return err;
}

static int subscribe(struct req *r)
{
	r->client->groups = nla_get_u32(r->tb[TORUS_A_GROUPS]);
	return 0;
}

/* --- the table ------------------------------------------------------------ */

/**
 * struct command - one command; kernel/req/rules.c says what it may carry
 * @run: a do
 * @part: a dump's parts; NULL if it cannot be dumped
 * @dump: checks and bounds of a dump, may be NULL
 */
struct command {
	int (*run)(struct req *r);
	int (*part)(struct client *c, struct dump *d);
	int (*dump)(struct req *r, struct dump *d);
};

static const struct command commands[TORUS_CMD_MAX + 1] = {
	[TORUS_CMD_DEVICE_GET] = { .run = device_get, .part = device_part },
	[TORUS_CMD_DEVICE_SET] = { .run = device_set },
	[TORUS_CMD_LINK_GET] = { .run = link_get, .part = link_part },
	[TORUS_CMD_LINK_SET] = { .run = link_set },
	[TORUS_CMD_LINK_ATTACH] = { .run = link_attach },
	[TORUS_CMD_ROWS_BEGIN] = { .run = rows_begin },
	[TORUS_CMD_ROWS_PUT] = { .run = rows_put },
	[TORUS_CMD_ROWS_COMMIT] = { .run = rows_commit },
	[TORUS_CMD_ROWS_GET] = { .run = rows_get, .part = rows_part, .dump = rows_dump },
	[TORUS_CMD_HOLD] = { .run = hold },
	[TORUS_CMD_RELEASE] = { .run = release },
	[TORUS_CMD_FLOW_GET] = { .run = flow_get },
	[TORUS_CMD_PARK_GET] = { .run = park_get },
	[TORUS_CMD_PARK_RESOLVE] = { .run = park_resolve },
	[TORUS_CMD_PARK_REPLAY] = { .run = park_replay },
	[TORUS_CMD_MGMT_SEND] = { .run = mgmt_send },
	[TORUS_CMD_SUBSCRIBE] = { .run = subscribe },
	[TORUS_CMD_EYE_GET] = { .run = eye_get },
};

/* There is one device here; a request for another one has come to the wrong. */
static int check_device(struct req *r)
{
	const struct nlattr *ifindex = r->tb[TORUS_A_IFINDEX], *name = r->tb[TORUS_A_NAME];

	if (ifindex && nla_get_u32(ifindex) != (u32)r->emu->tun.ifindex)
		return req_fail(r, -ENODEV, "IFINDEX is %u, here is only %d",
				nla_get_u32(ifindex), r->emu->tun.ifindex);
	if (name && r->cmd != TORUS_CMD_DEVICE_SET && strcmp(nla_get_string(name), r->emu->name))
		return req_fail(r, -ENODEV, "NAME is '%s', here is only '%s'",
				nla_get_string(name), r->emu->name);
	return 0;
}

static int start_dump(struct req *r, const struct command *c)
{
	struct dump d = { .part = c->part, .seq = r->nlh->nlmsg_seq };
	int err = c->dump ? c->dump(r, &d) : 0;

	if (!err)
		r->client->dump = d;
	return err;
}

int command_run(struct req *r, bool dump)
{
	const struct command *c = &commands[r->cmd <= TORUS_CMD_MAX ? r->cmd : 0];
	int err;

	if (!c->run)
		return req_fail(r, -EOPNOTSUPP, "command %u is not one to ask for", r->cmd);
	if (dump && !c->part)
		return req_fail(r, -EOPNOTSUPP, "%s cannot be dumped", torus_cmd_name(r->cmd));
	err = torus_check_request(r->cmd, dump, (struct torus_span) {
		nlmsg_attrdata(r->nlh, GENL_HDRLEN), (size_t)nlmsg_attrlen(r->nlh, GENL_HDRLEN)
	}, r->tb, &r->why);
	if (!err)
		err = check_device(r);
	if (err)
		return err;
	return dump ? start_dump(r, c) : c->run(r);
}
