// SPDX-License-Identifier: LGPL-2.1-or-later
/* Links: state, counters, faults, lower devices. */
#include "client.h"

static int parse_link(struct torus_dev *dev, struct nlmsghdr *nlh, struct torus_link *out)
{
	struct torus_attrs seen;
	int err;

	*out = (struct torus_link){ 0 };
	err = lt_tree(dev, nlh, &torus_tree_link_get, out, &seen);
	out->modelled = torus_attrs_has(&seen, TORUS_A_FAULT);
	return err;
}

int lt_link_event(struct torus_dev *dev, struct nlmsghdr *nlh, struct torus_link *out)
{
	struct torus_attrs seen;

	return lt_tree(dev, nlh, &torus_tree_link_ntf, out, &seen);
}

static int link_reply(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh,
		      void *arg)
{
	(void)tb;
	return parse_link(dev, nlh, arg);
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
 * struct links - result of a dump of links
 * @out: the caller's array
 * @room: number of entries of @out
 * @n: links received so far
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

	(void)tb;
	if (links->n == links->room)
		return lt_fail(dev, -ENOBUFS, "more links than the %u there is room for",
			       links->room);
	return parse_link(dev, nlh, &links->out[links->n++]);
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

	err = lt_port_msg(dev, TORUS_CMD_LINK_SET, port, 80, &msg);
	if (err)
		return err;
	nest = nla_nest_start(msg, TORUS_A_FAULT);
	if (!nest || nla_put_u64(msg, TORUS_FAULT_BER, f->ber) ||
	    nla_put_u8(msg, TORUS_FAULT_SILENCE, f->silence) ||
	    nla_put_u64(msg, TORUS_FAULT_LATENCY, f->latency_ns) ||
	    nla_put_u64(msg, TORUS_FAULT_SEED, f->seed) ||
	    nla_put_u64(msg, TORUS_FAULT_VB, f->vb))
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
			       "lower device '%.80s': must have at most 15 bytes", lower);
	err = lt_port_msg(dev, TORUS_CMD_LINK_ATTACH, port, 0, &msg);
	if (err)
		return err;
	if (nla_put_string(msg, TORUS_A_LOWER, lower))
		return lt_drop(dev, msg);
	return lt_do(dev, msg, NULL, NULL);
}
