// SPDX-License-Identifier: LGPL-2.1-or-later
/* Links: state, counters, faults, lower devices. */
#include "client.h"

static int fault_parse(struct torus_dev *dev, struct nlattr *nest,
		       struct torus_fault *out, struct torus_line *line, bool *modelled)
{
	static const struct nla_policy policy[TORUS_FAULT_MAX + 1] = {
		[TORUS_FAULT_BER] = { .type = NLA_U64 },
		[TORUS_FAULT_SILENCE] = { .type = NLA_U8 },
		[TORUS_FAULT_LATENCY] = { .type = NLA_U64 },
		[TORUS_FAULT_SEED] = { .type = NLA_U64 },
		[TORUS_FAULT_CABLE] = { .type = NLA_U32 },
		[TORUS_FAULT_LOSS] = { .type = NLA_U32 },
		[TORUS_FAULT_CROSSTALK] = { .type = NLA_U32 },
		[TORUS_FAULT_DRIFT] = { .type = NLA_U32 },
		[TORUS_FAULT_AGEING] = { .type = NLA_U32 },
		[TORUS_FAULT_AGED] = { .type = NLA_U16 },
		[TORUS_FAULT_DEAD] = { .type = NLA_U16 },
		[TORUS_FAULT_TEMPERATURE] = { .type = NLA_U32 },
	};
	struct nlattr *tb[TORUS_FAULT_MAX + 1];

	if (nla_parse_nested(tb, TORUS_FAULT_MAX, nest, (struct nla_policy *)policy) < 0)
		return lt_fail(dev, -EBADMSG, "faults of a link are malformed");
	if (tb[TORUS_FAULT_BER])
		out->ber = nla_get_u64(tb[TORUS_FAULT_BER]);
	if (tb[TORUS_FAULT_SILENCE])
		out->silence = nla_get_u8(tb[TORUS_FAULT_SILENCE]);
	if (tb[TORUS_FAULT_LATENCY])
		out->latency_ns = nla_get_u64(tb[TORUS_FAULT_LATENCY]);
	if (tb[TORUS_FAULT_SEED])
		out->seed = nla_get_u64(tb[TORUS_FAULT_SEED]);
	lt_line(tb, line);
	*modelled = true;
	return 0;
}

static uint8_t u8_of(struct nlattr *attr)
{
	return attr ? nla_get_u8(attr) : 0;
}

/* What indexes something or names an enum must be in range. */
static int link_check(struct torus_dev *dev, const struct torus_link *l)
{
	if (l->port >= TORUS_MAX_PORTS)
		return lt_fail(dev, -EBADMSG, "the NIC speaks of port %u", l->port);
	if (l->state >= TORUS_LINK_STATES || l->old_state >= TORUS_LINK_STATES)
		return lt_fail(dev, -EBADMSG, "port %u is in unknown state %u", l->port,
			       l->state);
	if (l->reason >= TORUS_REASONS)
		return lt_fail(dev, -EBADMSG, "port %u: unknown reason %u", l->port,
			       l->reason);
	if (l->retry >= TORUS_RETRIES || l->retry_wanted >= TORUS_RETRIES)
		return lt_fail(dev, -EBADMSG, "port %u: unknown retry protocol %u", l->port,
			       l->retry < TORUS_RETRIES ? l->retry_wanted : l->retry);
	return 0;
}

static int link_numbers(struct torus_dev *dev, struct nlattr **tb, struct torus_link *out)
{
	int err = 0;

	if (tb[TORUS_A_PORT_COUNTERS])
		err = lt_counters(dev, tb[TORUS_A_PORT_COUNTERS], out->counter,
				  TORUS_PC_COUNT);
	if (!err && tb[TORUS_A_GAUGES])
		err = lt_counters(dev, tb[TORUS_A_GAUGES], out->gauge, TORUS_PG_COUNT);
	if (!err && tb[TORUS_A_FAULT])
		err = fault_parse(dev, tb[TORUS_A_FAULT], &out->fault, &out->line,
				  &out->modelled);
	if (!err && tb[TORUS_A_LANES])
		err = lt_lanes(dev, tb[TORUS_A_LANES], out);
	return err;
}

int lt_link(struct torus_dev *dev, struct nlattr **tb, struct torus_link *out)
{
	int err;

	*out = (struct torus_link){ 0 };
	if (!tb[TORUS_A_PORT] || !tb[TORUS_A_STATE])
		return lt_fail(dev, -EBADMSG, "a link without port or state");
	out->port = nla_get_u8(tb[TORUS_A_PORT]);
	out->state = nla_get_u8(tb[TORUS_A_STATE]);
	out->old_state = u8_of(tb[TORUS_A_OLD_STATE]);
	out->reason = u8_of(tb[TORUS_A_REASON]);
	out->retry = u8_of(tb[TORUS_A_RETRY]);
	out->retry_wanted = u8_of(tb[TORUS_A_RETRY_WANTED]);
	err = link_check(dev, out);
	if (err)
		return err;
	out->admin = u8_of(tb[TORUS_A_ADMIN]);
	out->carrier = u8_of(tb[TORUS_A_CARRIER]);
	out->closed = u8_of(tb[TORUS_A_CLOSED]);
	out->peer_port = u8_of(tb[TORUS_A_PEER_PORT]);
	if (tb[TORUS_A_LOWER])
		snprintf(out->lower, sizeof(out->lower), "%s",
			 nla_get_string(tb[TORUS_A_LOWER]));
	if (tb[TORUS_A_SESSION])
		out->session = nla_get_u32(tb[TORUS_A_SESSION]);
	if (tb[TORUS_A_SEQ])
		out->seq = nla_get_u16(tb[TORUS_A_SEQ]);
	if (tb[TORUS_A_PEER_GUID])
		out->peer_guid = nla_get_u64(tb[TORUS_A_PEER_GUID]);
	return link_numbers(dev, tb, out);
}

static int link_reply(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh,
		      void *arg)
{
	(void)nlh;
	return lt_link(dev, tb, arg);
}

int torus_link_get(struct torus_dev *dev, unsigned int port, struct torus_link *out)
{
	struct nl_msg *msg;
	int err;

	err = lt_port_msg(dev, TORUS_CMD_LINK_GET, port, 0, &msg);
	if (err)
		return err;
	return lt_do(dev, msg, link_reply, out);
}

/**
 * struct links - where a dump of links goes
 * @room: how many @out can take
 * @n: how many came
 */
struct links {
	struct torus_link *out;
	unsigned int room;
	unsigned int n;
};

static int links_reply(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh,
		       void *arg)
{
	struct links *links = arg;

	(void)nlh;
	if (links->n == links->room)
		return lt_fail(dev, -ENOBUFS, "more links than the %u there is room for",
			       links->room);
	return lt_link(dev, tb, &links->out[links->n++]);
}

static void links_restart(void *arg)
{
	((struct links *)arg)->n = 0;
}

int torus_links_get(struct torus_dev *dev, struct torus_link *out, unsigned int *n)
{
	struct links links = { .out = out, .room = *n };
	struct nl_msg *msg = lt_msg(dev, TORUS_CMD_LINK_GET, 0);
	int err;

	if (!msg)
		return lt_drop(dev, msg);
	err = lt_dump(dev, msg, links_reply, links_restart, &links);
	if (!err)
		*n = links.n;
	return err;
}

int torus_admin_set(struct torus_dev *dev, unsigned int port, bool up)
{
	struct nl_msg *msg;
	int err;

	err = lt_port_msg(dev, TORUS_CMD_LINK_SET, port, 0, &msg);
	if (err)
		return err;
	if (nla_put_u8(msg, TORUS_A_ADMIN, up))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}

int torus_retry_set(struct torus_dev *dev, unsigned int port, enum torus_retry protocol)
{
	struct nl_msg *msg;
	int err;

	err = lt_port_msg(dev, TORUS_CMD_LINK_SET, port, 0, &msg);
	if (err)
		return err;
	if (nla_put_u8(msg, TORUS_A_RETRY_WANTED, (uint8_t)protocol))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}

int torus_retrain(struct torus_dev *dev, unsigned int port)
{
	struct nl_msg *msg;
	int err;

	err = lt_port_msg(dev, TORUS_CMD_LINK_SET, port, 0, &msg);
	if (err)
		return err;
	if (nla_put_flag(msg, TORUS_A_RETRAIN))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}

int torus_fault_set(struct torus_dev *dev, unsigned int port, const struct torus_fault *f)
{
	struct nlattr *nest;
	struct nl_msg *msg;
	int err;

	err = lt_port_msg(dev, TORUS_CMD_LINK_SET, port, 64, &msg);
	if (err)
		return err;
	nest = nla_nest_start(msg, TORUS_A_FAULT);
	if (!nest || nla_put_u64(msg, TORUS_FAULT_BER, f->ber) ||
	    nla_put_u8(msg, TORUS_FAULT_SILENCE, f->silence) ||
	    nla_put_u64(msg, TORUS_FAULT_LATENCY, f->latency_ns) ||
	    nla_put_u64(msg, TORUS_FAULT_SEED, f->seed))
		return lt_drop(dev, msg);
	nla_nest_end(msg, nest);
	return lt_do(dev, msg, NULL, NULL);
}

int torus_attach(struct torus_dev *dev, unsigned int port, const char *lower)
{
	struct nl_msg *msg;
	int err;

	if (strlen(lower) >= sizeof(((struct torus_link *)0)->lower))
		return lt_fail(dev, -EINVAL,
			       "lower device '%.80s': allowed up to 15 bytes", lower);
	err = lt_port_msg(dev, TORUS_CMD_LINK_ATTACH, port, 0, &msg);
	if (err)
		return err;
	if (nla_put_string(msg, TORUS_A_LOWER, lower))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}
