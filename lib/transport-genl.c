// SPDX-License-Identifier: LGPL-2.1-or-later
/* Netlink messages over the kernel's generic netlink, by libnl. */
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/socket.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "client.h"

#define EVENT_BUFFER (1 << 20) /* bytes; a slower reader gets ENOBUFS */

static const char *const group_name[TORUS_GROUPS] = {
	[TORUS_GROUP_LINK] = TORUS_GROUP_LINK_NAME,
	[TORUS_GROUP_MGMT] = TORUS_GROUP_MGMT_NAME,
	[TORUS_GROUP_PARK] = TORUS_GROUP_PARK_NAME,
};

/* libnl has error numbers of its own. */
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

static void set_up(struct conn *c)
{
	int on = 1;

	/* Older kernels lack these; texts are then missing, nothing else. */
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

static int genl_open(struct torus_dev *dev, struct conn *c, const char *name)
{
	int err;

	if (name && (!*name || strlen(name) > TORUS_NAME_MAX))
		return lt_fail(dev, -EINVAL, "genl:%s: a name has 1 to %d bytes", name,
			       TORUS_NAME_MAX);
	err = connect_family(c);
	if (err == -ENOENT)
		return lt_fail(dev, -ENODEV,
			       "no generic netlink family '%s': is the "
			       "kernel module loaded?",
			       TORUS_GENL_NAME);
	if (err)
		return lt_fail(dev, err, "generic netlink family '%s': %s",
			       TORUS_GENL_NAME, strerror(-err));
	return 0;
}

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

static ssize_t genl_recv(struct conn *c)
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
		n = recvmsg(c->fd, &mh, MSG_DONTWAIT);
		/* Any process may send to our port: only the kernel counts. */
	} while ((n < 0 && errno == EINTR) || (n >= 0 && from.nl_pid != 0));
	if (n < 0)
		return -errno;
	return mh.msg_flags & MSG_TRUNC ? -EMSGSIZE : n;
}

static int genl_subscribe(struct torus_dev *dev, struct conn *c, uint32_t groups)
{
	struct nl_sock *ask = nl_socket_alloc();
	unsigned int g;
	int err, id;

	/* Names are resolved on a socket of their own: this one may have events. */
	err = ask ? error_of(genl_connect(ask)) : -ENOMEM;
	nl_socket_set_buffer_size(c->sk, EVENT_BUFFER, 0);
	for (g = 0; g < TORUS_GROUPS && !err; g++) {
		if (!(groups & 1u << g))
			continue;
		id = genl_ctrl_resolve_grp(ask, TORUS_GENL_NAME, group_name[g]);
		err = id < 0 ? error_of(id)
			     : error_of(nl_socket_add_membership(c->sk, id));
		if (err)
			lt_fail(dev, err, "generic netlink group '%s': %s", group_name[g],
				strerror(-err));
	}
	nl_socket_free(ask);
	return err;
}

static void genl_close(struct conn *c)
{
	nl_socket_free(c->sk);
}

/* --- list ------------------------------------------------------------------ */

/**
 * struct names - what a dump of devices found
 * @text: names one after the other, each with its NUL
 */
struct names {
	char *text;
	size_t len;
};

static void names_reset(void *arg)
{
	((struct names *)arg)->len = 0;
}

static int names_add(struct torus_dev *dev, struct nlattr **tb, struct nlmsghdr *nlh,
		     void *arg)
{
	struct names *names = arg;
	size_t len;
	char *text;

	(void)nlh;
	if (!tb[TORUS_A_NAME])
		return lt_fail(dev, -EBADMSG, "a device without a name");
	len = strlen(nla_get_string(tb[TORUS_A_NAME])) + 1;
	text = realloc(names->text, names->len + len);
	if (!text)
		return -ENOMEM;
	memcpy(text + names->len, nla_get_string(tb[TORUS_A_NAME]), len);
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
	if (err) /* no module: no NIC of this kind */
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
	.send = genl_send,
	.recv = genl_recv,
	.subscribe = genl_subscribe,
	.close = genl_close,
	.list = genl_list,
};
