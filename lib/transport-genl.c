// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Netlink messages over the kernel's generic netlink, by libnl.
 *
 * A handle belongs to the network namespace in which it was opened, even if the process enters
 * another namespace later. Generic netlink does not report that a NIC goes away, so a connection
 * for notifications has a second socket, for rtnetlink, which reports it.
 *
 * Management packets have a third socket. Neighbours decide how many of these packets arrive. On
 * the same socket, they could fill the buffer in which events of links wait, so that the reader
 * would have to read the state of the NIC again and again. Packets that do not fit into their own
 * buffer are lost, as they may be on a link; their senders repeat them. Events of links are read
 * first, so the reader knows whether a link is down when it reads a packet. An epoll descriptor
 * combines the sockets. Test: test_lost_mgmt_packets_are_no_lost_events().
 */
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/socket.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <torus/topology.h>
#include "client.h"

#define EVENT_BUFFER (1 << 20) /* bytes; a reader that is slower than this allows gets ENOBUFS */
/* The kernel refuses a message that is not smaller than the send buffer. */
#define SEND_BUFFER  (2 * TORUS_MSG_MAX)

static const char *const group_name[TORUS_GROUPS] = {
	[TORUS_GROUP_LINK] = TORUS_GROUP_LINK_NAME,
	[TORUS_GROUP_MGMT] = TORUS_GROUP_MGMT_NAME,
	[TORUS_GROUP_PARK] = TORUS_GROUP_PARK_NAME,
};

/* Return: the negative errno of a libnl error. */
static int error_of(int nle)
{
	switch (-nle) {
	case NLE_SUCCESS:
		return 0;
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_PERM:
		return -EPERM;
	case NLE_NOACCESS:
		return -EACCES;
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	case NLE_NODEV:
		return -ENODEV;
	case NLE_BUSY:
		return -EBUSY;
	case NLE_AF_NOSUPPORT:
		return -EAFNOSUPPORT;
	case NLE_INVAL:
		return -EINVAL;
	case NLE_AGAIN:
		return -EAGAIN;
	default:
		return -EIO;
	}
}

/* Sets the size of a buffer; with the privilege for it, beyond the system's limit. */
static void buffer_set(int fd, int which, int force, int bytes)
{
	if (setsockopt(fd, SOL_SOCKET, force, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, which, &bytes, sizeof(bytes));
}

static void set_up(struct conn *c)
{
	int on = 1;

	buffer_set(c->fd, SO_SNDBUF, SO_SNDBUFFORCE, SEND_BUFFER);
	/*
	 * Older kernels do not have these options; without them, only texts of errors are missing.
	 */
	setsockopt(c->fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(c->fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	nl_socket_set_nonblocking(c->sk);
}

static int connect_family(struct conn *c)
{
	int err;

	c->sk = nl_socket_alloc();
	if (!c->sk)
		return -ENOMEM;
	err = error_of(genl_connect(c->sk));
	if (!err) {
		c->fd = nl_socket_get_fd(c->sk);
		c->family = genl_ctrl_resolve(c->sk, TORUS_GENL_NAME);
		if (c->family < 0)
			err = error_of(c->family);
	}
	if (err) {
		nl_socket_free(c->sk);
		c->sk = NULL;
		c->fd = -1;
		return err;
	}
	set_up(c);
	return 0;
}

static int no_family(struct torus_dev *dev, int err)
{
	if (err == -ENOENT)
		return lt_fail(dev, -ENODEV,
			       "this kernel has no generic netlink family '%s': "
			       "'modprobe torus' loads the driver, "
			       "and torusemu makes NICs without it",
			       TORUS_GENL_NAME);
	return lt_fail(dev, err, "generic netlink family '%s': %s", TORUS_GENL_NAME,
		       strerror(-err));
}

static int genl_open(struct torus_dev *dev, struct conn *c, const char *name)
{
	int err;

	if (name && (!*name || strlen(name) > TORUS_NAME_MAX))
		return lt_fail(dev, -EINVAL, "genl:%s: a name has 1 to %d bytes", name,
			       TORUS_NAME_MAX);
	err = connect_family(c);
	return err ? no_family(dev, err) : 0;
}

/* --- which NIC ------------------------------------------------------------- */

/*
 * Requests the NIC with this index or name, and sets dev->ifindex. Return: -ENODEV if there is
 * none.
 */
static int ask_device(struct torus_dev *dev, uint32_t ifindex, const char *name)
{
	struct nl_msg *msg;
	struct torus_device info;
	int err;

	dev->ifindex = ifindex;
	msg = lt_msg(dev, TORUS_CMD_DEVICE_GET, TORUS_NAME_MAX + 8);
	if (!msg || (name && nla_put_string(msg, TORUS_A_NAME, name)))
		return lt_drop(dev, msg);
	err = lt_do(dev, msg, lt_device, &info);
	dev->ifindex = err ? 0 : info.ifindex;
	return err;
}

static uint32_t ifindex_of(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	return *text >= '1' && *text <= '9' && !*end && n <= INT32_MAX ? (uint32_t)n : 0;
}

/*
 * Finds the NIC by the name of its interface, which is unique in the namespace, else by its own
 * name, else by its interface index. From then on the handle uses the index, which does not change
 * when the NIC is renamed and is not given to another NIC.
 */
static int genl_resolve(struct torus_dev *dev)
{
	uint32_t ifindex = if_nametoindex(dev->name);
	int err = ifindex ? ask_device(dev, ifindex, NULL) : -ENODEV;

	if (err == -ENODEV)
		err = ask_device(dev, 0, dev->name);
	if (err == -ENODEV && ifindex_of(dev->name))
		err = ask_device(dev, ifindex_of(dev->name), NULL);
	if (err == -ENODEV)
		lt_fail(dev, err, "genl:%s: no kernel NIC has this name, interface or index",
			dev->name);
	return err;
}

/* --- messages -------------------------------------------------------------- */

static int genl_send(struct conn *c, const struct nlmsghdr *nlh)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	ssize_t n;

	do {
		n = sendto(c->fd, nlh, nlh->nlmsg_len, MSG_DONTWAIT,
			   (struct sockaddr *)&kernel, sizeof(kernel));
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static ssize_t recv_from(struct conn *c, struct nl_sock *sk)
{
	struct sockaddr_nl from;
	struct iovec iov = { c->buf, TORUS_MSG_MAX };
	struct msghdr mh;
	ssize_t n;

	do {
		mh = (struct msghdr){
			.msg_name = &from,
			.msg_namelen = sizeof(from),
			.msg_iov = &iov,
			.msg_iovlen = 1,
		};
		n = recvmsg(nl_socket_get_fd(sk), &mh, MSG_DONTWAIT);
		/* Any process may send to this socket; only messages of the kernel are used. */
	} while ((n < 0 && errno == EINTR) || (n >= 0 && from.nl_pid != 0));
	if (n < 0)
		return -errno;
	return mh.msg_flags & MSG_TRUNC ? -EMSGSIZE : n;
}

/*
 * Reads the rtnetlink socket. Returns 0 if the NIC was deleted, 1 if it was not, or a negative
 * errno. After -ENOBUFS, a lost message may have reported that the NIC was deleted: the caller then
 * reads the whole state again, and that fails if the NIC does not exist.
 */
static ssize_t watch_recv(struct conn *c)
{
	struct nlmsghdr *nlh = c->buf;
	ssize_t n = recv_from(c, c->watch);
	int left = (int)n;

	if (n < 0)
		return n;
	for (; nlmsg_ok(nlh, left); nlh = nlmsg_next(nlh, &left)) {
		struct ifinfomsg *ifi = nlmsg_data(nlh);

		if (nlh->nlmsg_type == RTM_DELLINK && nlmsg_datalen(nlh) >= (int)sizeof(*ifi) &&
		    ifi->ifi_family == AF_UNSPEC && (uint32_t)ifi->ifi_index == c->ifindex)
			return 0;
	}
	return 1;
}

/* Receives a management packet. Packets that did not fit into the buffer are lost. */
static ssize_t mgmt_recv(struct conn *c)
{
	ssize_t n;

	do {
		n = recv_from(c, c->mgmt);
	} while (n == -ENOBUFS);
	return n;
}

static ssize_t genl_recv(struct conn *c)
{
	ssize_t n = recv_from(c, c->sk);

	if (n == -EAGAIN && c->mgmt)
		n = mgmt_recv(c);
	if (n != -EAGAIN || !c->watch)
		return n;
	do {
		n = watch_recv(c);
	} while (n > 0);
	return n;
}

static int watch_open(struct conn *c, uint32_t ifindex)
{
	struct nl_sock *socks[] = { c->sk, NULL, c->mgmt };
	struct epoll_event ev = { .events = EPOLLIN };
	int err;

	c->poll = -1;
	c->ifindex = ifindex;
	socks[1] = c->watch = nl_socket_alloc();
	err = c->watch ? error_of(nl_connect(c->watch, NETLINK_ROUTE)) : -ENOMEM;
	if (!err)
		err = error_of(nl_socket_add_memberships(c->watch, RTNLGRP_LINK, 0));
	if (err)
		return err;
	buffer_set(nl_socket_get_fd(c->watch), SO_RCVBUF, SO_RCVBUFFORCE, EVENT_BUFFER);
	c->poll = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; i < 3 && c->poll >= 0; i++)
		if (socks[i] &&
		    epoll_ctl(c->poll, EPOLL_CTL_ADD, nl_socket_get_fd(socks[i]), &ev))
			return -errno;
	return c->poll < 0 ? -errno : 0;
}

/* Opens the socket for management packets. */
static int mgmt_open(struct conn *c)
{
	int err;

	c->mgmt = nl_socket_alloc();
	err = c->mgmt ? error_of(genl_connect(c->mgmt)) : -ENOMEM;
	if (!err)
		buffer_set(nl_socket_get_fd(c->mgmt), SO_RCVBUF, SO_RCVBUFFORCE, EVENT_BUFFER);
	return err;
}

static int join_groups(struct torus_dev *dev, struct conn *c, uint32_t groups)
{
	/*
	 * Group names are resolved on another socket, because events may already wait on this
	 * socket.
	 */
	struct nl_sock *ask = nl_socket_alloc();
	int err = ask ? error_of(genl_connect(ask)) : -ENOMEM;

	for (unsigned int g = 0; g < TORUS_GROUPS && !err; g++) {
		int id;

		if (!(groups & 1u << g))
			continue;
		id = genl_ctrl_resolve_grp(ask, TORUS_GENL_NAME, group_name[g]);
		err = error_of(id < 0 ? id : nl_socket_add_membership(
			g == TORUS_GROUP_MGMT ? c->mgmt : c->sk, id));
		if (err)
			lt_fail(dev, err, "generic netlink group '%s': %s", group_name[g],
				strerror(-err));
	}
	nl_socket_free(ask);
	return err;
}

static int genl_subscribe(struct torus_dev *dev, struct conn *c, uint32_t groups)
{
	int err = 0;

	buffer_set(c->fd, SO_RCVBUF, SO_RCVBUFFORCE, EVENT_BUFFER);
	if (groups & 1u << TORUS_GROUP_MGMT)
		err = mgmt_open(c);
	if (err)
		return lt_fail(dev, err, "events: generic netlink: %s", strerror(-err));
	err = watch_open(c, dev->ifindex);
	if (err)
		return lt_fail(dev, err, "events: rtnetlink: %s", strerror(-err));
	return join_groups(dev, c, groups);
}

static void genl_close(struct conn *c)
{
	if (c->watch && c->poll >= 0)
		close(c->poll);
	nl_socket_free(c->watch);
	nl_socket_free(c->mgmt);
	nl_socket_free(c->sk);
}

/* --- list ------------------------------------------------------------------ */

/**
 * struct names - names of all kernel NICs
 * @text: the names one after the other, each with its NUL; this struct owns them
 */
struct names {
	char *text;
	size_t len;
};

static void names_reset(void *arg)
{
	((struct names *)arg)->len = 0;
}

/* Adds the interface name of a NIC; every kernel NIC has one, and it is unique. */
static int names_add(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh,
		     void *arg)
{
	struct names *names = arg;
	struct torus_device info;
	size_t len;
	char *text;
	int err = lt_device(dev, tb, nlh, &info);

	if (err)
		return err;
	if (!*info.ifname)
		return lt_fail(dev, -EBADMSG, "a device without an interface");
	len = strlen(info.ifname) + 1;
	text = realloc(names->text, names->len + len);
	if (!text)
		return -ENOMEM;
	memcpy(text + names->len, info.ifname, len);
	names->text = text;
	names->len += len;
	return 0;
}

static int genl_list(list_fn fn, void *arg)
{
	char where[TORUS_NAME_MAX + 8];
	struct names names = { 0 };
	struct torus_dev *dev;
	struct nl_msg *msg;
	size_t at;
	int err;

	err = lt_new(&lt_genl, NULL, &dev);
	if (err) /* the module is not loaded, so the kernel has no NICs */
		return err == -ENOMEM ? err : 0;
	msg = lt_msg(dev, TORUS_CMD_DEVICE_GET, 0);
	err = msg ? lt_dump(dev, msg, names_add, names_reset, &names) : -ENOMEM;
	for (at = 0; at < names.len && !err; at += strlen(names.text + at) + 1) {
		snprintf(where, sizeof(where), "genl:%s", names.text + at);
		err = fn(where, arg);
	}
	free(names.text);
	torus_close(dev);
	return err;
}

const struct transport lt_genl = {
	.scheme = "genl",
	.open = genl_open,
	.resolve = genl_resolve,
	.send = genl_send,
	.recv = genl_recv,
	.subscribe = genl_subscribe,
	.close = genl_close,
	.list = genl_list,
};
