// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Notifications. Notifications have a connection of their own, so that many notifications cannot
 * fill the socket buffer that answers need, and a slow request does not delay notifications.
 */
#include "client.h"

#define DATAGRAMS_PER_READ 256 /* limits the duration of one call of torus_events_read() */

typedef void (*event_fn)(const struct torus_event *ev, void *arg);

int torus_events_open(struct torus_dev *dev, uint32_t groups)
{
	struct conn *c = &dev->events;
	int err;

	if (!groups || groups >> TORUS_GROUPS)
		return lt_fail(dev, -EINVAL, "groups %#x: must be within the mask %#x", groups,
			       (1u << TORUS_GROUPS) - 1);
	lt_conn_close(c);
	err = lt_conn_open(dev, c, dev->conn.ops, dev->name);
	if (err)
		return err;
	err = c->ops->subscribe(dev, c, groups);
	if (err)
		lt_conn_close(c);
	return err;
}

int torus_events_fd(const struct torus_dev *dev)
{
	return dev->events.poll;
}

static int mgmt_parse(struct torus_dev *dev, struct nlattr **tb, struct torus_event *ev)
{
	if (!tb[TORUS_A_PORT] || !tb[TORUS_A_DATA] ||
	    nla_get_u8(tb[TORUS_A_PORT]) >= TORUS_MAX_PORTS)
		return lt_fail(dev, -EBADMSG, "a management packet without port or data");
	ev->port = nla_get_u8(tb[TORUS_A_PORT]);
	ev->data = nla_data(tb[TORUS_A_DATA]);
	ev->len = (size_t)nla_len(tb[TORUS_A_DATA]);
	return 0;
}

/*
 * Decodes a notification. Return: 1; 0 if the notification is unknown or is about another NIC; or a
 * negative errno.
 */
static int event_parse(struct torus_dev *dev, struct nlmsghdr *nlh,
		       struct torus_event *ev)
{
	struct genlmsghdr *g = nlmsg_data(nlh);
	struct nlattr *tb[TORUS_A_MAX + 1];
	int err;

	err = lt_parse(dev, nlh, tb);
	if (err)
		return err;
	if (dev->ifindex && tb[TORUS_A_IFINDEX] &&
	    nla_get_u32(tb[TORUS_A_IFINDEX]) != dev->ifindex)
		return 0;
	switch (g->cmd) {
	case TORUS_CMD_LINK_NTF:
		ev->group = TORUS_GROUP_LINK;
		err = lt_link_event(dev, nlh, &ev->link);
		break;
	case TORUS_CMD_MGMT_NTF:
		ev->group = TORUS_GROUP_MGMT;
		err = mgmt_parse(dev, tb, ev);
		break;
	case TORUS_CMD_PARK_NTF:
		ev->group = TORUS_GROUP_PARK;
		err = lt_park(dev, nlh, &ev->park);
		break;
	default:
		return 0; /* a NIC of a later release may send this notification */
	}
	return err ? err : 1;
}

static int take_event(struct torus_dev *dev, struct nlmsghdr *nlh, event_fn fn, void *arg)
{
	struct torus_event ev;
	int err;

	if (nlh->nlmsg_type == NLMSG_OVERRUN)
		return lt_fail(dev, -ENOBUFS, "events were lost");
	if (nlh->nlmsg_type != dev->events.family)
		return 0;
	memset(&ev, 0, sizeof(ev));
	err = event_parse(dev, nlh, &ev);
	if (err > 0)
		fn(&ev, arg);
	return err < 0 ? err : 0;
}

/*
 * Calls @fn for each event of a datagram. After a malformed message, the messages after it are
 * still handled. Return: the first error, or -ENOBUFS if one of them is that, because the caller
 * must react to a loss.
 */
static int take_datagram(struct torus_dev *dev, size_t len, event_fn fn, void *arg)
{
	struct nlmsghdr *nlh = dev->events.buf;
	int left = (int)len, err = 0, first = 0;

	for (; nlmsg_ok(nlh, left); nlh = nlmsg_next(nlh, &left)) {
		err = take_event(dev, nlh, fn, arg);
		if (err && (!first || err == -ENOBUFS))
			first = err;
	}
	if (left > 0 && !first)
		first = lt_fail(dev, -EBADMSG, "events: %d malformed bytes", left);
	return first;
}

int torus_events_read(struct torus_dev *dev,
		      void (*fn)(const struct torus_event *ev, void *arg), void *arg)
{
	struct conn *c = &dev->events;
	unsigned int i;
	ssize_t n;
	int err;

	if (c->fd < 0)
		return lt_fail(dev, -ENOTCONN, "events: not subscribed");
	if (c->missed) {
		c->missed = false;
		return lt_fail(dev, -ENOBUFS, "events were lost");
	}
	for (i = 0; i < DATAGRAMS_PER_READ; i++) {
		n = c->ops->recv(c);
		if (n == -EAGAIN)
			return 0;
		if (n == 0)
			return lt_fail(dev, -ENODEV, "events: the NIC went away");
		if (n < 0)
			return lt_fail(dev, (int)n, "events: %s", strerror((int)-n));
		err = take_datagram(dev, (size_t)n, fn, arg);
		if (err)
			return err;
	}
	return 0;
}
