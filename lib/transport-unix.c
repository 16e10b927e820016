// SPDX-License-Identifier: LGPL-2.1-or-later
/* Netlink messages over torusemu's SOCK_SEQPACKET socket. */
#include <glob.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client.h"

static int set_unix_address(const char *path, struct sockaddr_un *sa)
{
	*sa = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (!*path || strlen(path) >= sizeof(sa->sun_path))
		return -ENAMETOOLONG;
	strcpy(sa->sun_path, path);
	return 0;
}

/*
 * Connects to the socket of a NIC. connect() may block while the listener's backlog is full;
 * SO_SNDTIMEO limits that time.
 */
static int connect_to(const char *path, int timeout_ms)
{
	struct timeval tv = { timeout_ms / 1000, timeout_ms % 1000 * 1000 };
	struct sockaddr_un sa;
	int fd, err;

	err = set_unix_address(path, &sa);
	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	do {
		err = connect(fd, (struct sockaddr *)&sa, sizeof(sa)) ? -errno : 0;
	} while (err == -EINTR);
	if (err) {
		close(fd);
		return err == -EAGAIN ? -ETIMEDOUT : err;
	}
	return fd;
}

static int unix_open(struct torus_dev *dev, struct conn *c, const char *name)
{
	int fd = connect_to(name, dev->timeout_ms);

	if (fd == -ENAMETOOLONG)
		return lt_fail(dev, fd, "unix:%s: a path has 1 to %zu bytes", name,
			       sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
	if (fd < 0)
		return lt_fail(dev, fd, "unix:%s: %s", name, strerror(-fd));
	c->fd = fd;
	c->family = TORUS_EMU_FAMILY;
	return 0;
}

static int unix_send(struct conn *c, const struct nlmsghdr *nlh)
{
	ssize_t n;

	do {
		n = send(c->fd, nlh, nlh->nlmsg_len, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EPIPE || errno == ECONNRESET ? -ENODEV : -errno;
	return 0;
}

static ssize_t unix_recv(struct conn *c)
{
	struct iovec iov = { c->buf, TORUS_MSG_MAX };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	do {
		n = recvmsg(c->fd, &mh, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	return mh.msg_flags & MSG_TRUNC ? -EMSGSIZE : n;
}

static int unix_subscribe(struct torus_dev *dev, struct conn *c, uint32_t groups)
{
	struct nl_msg *msg = lt_msg(dev, TORUS_CMD_SUBSCRIBE, 0);

	if (!msg || nla_put_u32(msg, TORUS_A_GROUPS, groups))
		return lt_drop(dev, msg);
	return lt_do_on(dev, c, msg);
}

static void unix_close(struct conn *c)
{
	close(c->fd);
}

/* Return: true if no process listens on the socket any more. */
static bool is_abandoned(const char *path)
{
	int fd = connect_to(path, 1000);

	if (fd >= 0)
		close(fd);
	return fd == -ECONNREFUSED;
}

static int unix_list(list_fn fn, void *arg)
{
	const char *dir = secure_getenv("TORUS_RUNDIR");
	char where[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
	char pattern[256];
	glob_t g;
	size_t i;
	int err;

	if (!dir || !*dir)
		dir = "/run/torus";
	if (snprintf(pattern, sizeof(pattern), "%s/*.nic", dir) >= (int)sizeof(pattern))
		return -ENAMETOOLONG;
	err = glob(pattern, 0, NULL, &g);
	if (err)
		return err == GLOB_NOSPACE ? -ENOMEM : 0;
	for (i = 0; i < g.gl_pathc && !err; i++) {
		if (snprintf(where, sizeof(where), "unix:%s", g.gl_pathv[i]) <
			    (int)sizeof(where) &&
		    !is_abandoned(g.gl_pathv[i]))
			err = fn(where, arg);
	}
	globfree(&g);
	return err;
}

const struct transport lt_unix = {
	.scheme = "unix",
	.open = unix_open,
	.send = unix_send,
	.recv = unix_recv,
	.subscribe = unix_subscribe,
	.close = unix_close,
	.list = unix_list,
};
