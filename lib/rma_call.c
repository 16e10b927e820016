// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The connection to a NIC, and calls over it (include/uapi/torus_rma.h): a socket of torusemu, or
 * the device of torus.ko.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rma.h"

#define CALL_TIME_MS	5000
#define UNIX		"unix:"
#define DEV		"dev:"
#define NO_NIC		"%s/*.rma: no NIC offers remote memory; " \
			"unix:PATH or dev:NAME, also in TORUS_RMA, names its socket or netdev"

static _Thread_local char open_error[256];

const char *torus_rma_error(const struct torus_rma *rma)
{
	return rma ? rma->error : open_error;
}

int lt_rma_fail_open(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(open_error, sizeof(open_error), fmt, ap);
	va_end(ap);
	return err;
}

int lt_rma_fail(struct torus_rma *rma, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rma->error, sizeof(rma->error), fmt, ap);
	va_end(ap);
	return err;
}

/* --- calls ----------------------------------------------------------------------- */

static int send_call(const struct torus_rma *rma, struct torus_rma_call *call, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { call, sizeof(*call) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (fd >= 0) {
		mh.msg_control = control.room;
		mh.msg_controllen = sizeof(control.room);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(int));
	}
	do {
		n = sendmsg(rma->sock, &mh, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n >= 0)
		return 0;
	return errno == EPIPE || errno == ECONNRESET ? -ENODEV : -errno;
}

static void keep_fds(struct msghdr *mh, int *fds)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(mh);

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(TORUS_RMA_FDS * sizeof(int)))
		memcpy(fds, CMSG_DATA(c), TORUS_RMA_FDS * sizeof(int));
}

/* Receives an answer. @fds: set to the TORUS_RMA_FDS descriptors, if the answer has any. */
static int take_rma_answer(const struct torus_rma *rma, struct torus_rma_call *call, int *fds)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(TORUS_RMA_FDS * sizeof(int))];
	} control;
	struct iovec iov = { call, sizeof(*call) };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.room, .msg_controllen = sizeof(control.room),
	};
	struct pollfd p = { rma->sock, POLLIN, 0 };
	unsigned int reset = 0;
	ssize_t n;

	do {
		n = poll(&p, 1, CALL_TIME_MS);
		if (n == 1)
			n = recvmsg(rma->sock, &mh, MSG_CMSG_CLOEXEC);
		else if (!n)
			return -ETIMEDOUT;
		/* reported once, before an answer that came earlier */
		reset += n < 0 && errno == ECONNRESET;
	} while (n < 0 && (errno == EINTR || (errno == ECONNRESET && reset == 1)));
	if (n <= 0)
		return n && errno != ECONNRESET ? -errno : -ENODEV;
	keep_fds(&mh, fds);
	return n == sizeof(*call) ? 0 : -EBADMSG;
}

/* Makes a call of a socket. Return: 0 if there is an answer, or a negative errno */
static int call_socket(struct torus_rma *rma, struct torus_rma_call *call, int fd, int *fds)
{
	int err = send_call(rma, call, fd);

	/* a NIC that refuses a connection sends the reason before it closes the connection */
	if (!err || err == -ENODEV)
		err = take_rma_answer(rma, call, fds);
	return err;
}

/* Sets the descriptors that a socket would have brought: all are the device. */
static int copy_device(const struct torus_rma *rma, int *fds)
{
	for (int i = 0; i < TORUS_RMA_FDS; i++) {
		fds[i] = fcntl(rma->sock, F_DUPFD_CLOEXEC, 0);
		if (fds[i] < 0)
			return -errno;
	}
	return 0;
}

static int call_device(struct torus_rma *rma, struct torus_rma_call *call, int *fds)
{
	bool opens = call->call == TORUS_RMA_OPEN;

	if (ioctl(rma->sock, TORUS_RMA_CALL, call))
		return -errno;
	return opens && !call->error ? copy_device(rma, fds) : 0;
}

int lt_rma_call(struct torus_rma *rma, struct torus_rma_call *call, int fd, int *fds)
{
	int err = rma->device ? call_device(rma, call, fds) : call_socket(rma, call, fd, fds);

	if (err)
		return lt_rma_fail(rma, err, "no answer of the NIC: %s", strerror(-err));
	if (!call->error)
		return 0;
	call->why[sizeof(call->why) - 1] = '\0';
	return lt_rma_fail(rma, call->error < 0 ? call->error : -EBADMSG, "%s", call->why);
}

/* --- connections ------------------------------------------------------------------- */

/* --- sockets --- */

/* Finds a socket in the directory. Return: how many there are; @where: the first one */
static size_t find_socket(const char *dir, char *where, size_t size)
{
	char pattern[256];
	size_t n = 0;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s/*.rma", dir);
	if (glob(pattern, 0, NULL, &g))
		return 0;
	if (snprintf(where, size, UNIX "%s", g.gl_pathv[0]) < (int)size)
		n = g.gl_pathc;
	globfree(&g);
	return n;
}

static int connect_socket(struct torus_rma *rma, const char *where)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const char *path = where + strlen(UNIX);
	int err;

	if (!*path || strlen(path) >= sizeof(sa.sun_path))
		return lt_rma_fail(rma, -ENAMETOOLONG, "'%s': a path has 1 to %zu bytes", where,
				   sizeof(sa.sun_path) - 1);
	strcpy(sa.sun_path, path);
	rma->sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	do {
		err = rma->sock >= 0 && !connect(rma->sock, (struct sockaddr *)&sa, sizeof(sa)) ?
		      0 : -errno;
	} while (err == -EINTR);
	return err ? lt_rma_fail(rma, err, "%s: %s", where, strerror(-err)) : 0;
}

/* --- devices --- */

/* Opens the device, and binds it to the netdev @name. Return: descriptor or negative errno */
static int bind_device(const char *name)
{
	struct torus_rma_where where = { 0 };
	int fd, err;

	if (!*name || strlen(name) >= sizeof(where.ifname))
		return -ENAMETOOLONG;
	strcpy(where.ifname, name);
	fd = open(TORUS_RMA_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!ioctl(fd, TORUS_RMA_BIND, &where))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Finds NICs of the driver in this namespace. Return: how many; @where: the first one */
static size_t find_device(char *where, size_t size)
{
	struct if_nameindex *all = if_nameindex();
	size_t n = 0;

	for (struct if_nameindex *i = all; i && i->if_index; i++) {
		int fd = bind_device(i->if_name);

		if (fd == -ENOENT)		/* no driver */
			break;
		/* a NIC that refuses this user is a NIC, too: no other must be taken for it */
		if (fd < 0 && fd != -EUSERS && fd != -ENOSPC)
			continue;
		if (fd >= 0)
			close(fd);
		if (!n++)
			snprintf(where, size, DEV "%s", i->if_name);
	}
	if_freenameindex(all);
	return n;
}

static const char *bind_text(int err)
{
	switch (err) {
	case -ENOENT:
		return "the driver is not loaded";
	case -ENODEV:
		return "no such netdev of a torus NIC in this network namespace";
	case -ENAMETOOLONG:
		return "a netdev's name has 1 to 15 bytes";
	case -EOPNOTSUPP:
		return "the NIC has no remote memory";
	case -EUSERS:
		return "the user has too many contexts";
	case -ENOSPC:
		return "the NIC has too many contexts";
	}
	return strerror(-err);
}

static int connect_device(struct torus_rma *rma, const char *where)
{
	int fd = bind_device(where + strlen(DEV));

	if (fd < 0)
		return lt_rma_fail(rma, fd, "%s: %s", where, bind_text(fd));
	rma->sock = fd;
	rma->device = true;
	return 0;
}

/* --- either --- */

/* Finds the NIC, if there is only one. Return: 0 or a negative errno */
static int find_only(char *where, size_t size)
{
	const char *dir = secure_getenv("TORUS_RUNDIR");
	size_t n;

	if (!dir || !*dir)
		dir = "/run/torus";
	n = find_socket(dir, where, size);
	if (!n)
		n = find_device(where, size);
	if (!n)
		return lt_rma_fail_open(-ENODEV, NO_NIC, dir);
	if (n > 1)
		return lt_rma_fail_open(-ENOTUNIQ, "more than one NIC offers remote memory "
					"(%.100s, ...); set TORUS_RMA to one of them", where);
	return 0;
}

static int connect_named(struct torus_rma *rma, const char *where)
{
	if (!strncmp(where, UNIX, strlen(UNIX)))
		return connect_socket(rma, where);
	if (!strncmp(where, DEV, strlen(DEV)))
		return connect_device(rma, where);
	return lt_rma_fail(rma, -EINVAL, "'%s': must be unix:PATH or dev:NAME", where);
}

int lt_rma_connect(const char *where, struct torus_rma **rmap)
{
	char only[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
	struct torus_rma *rma;
	int err;

	*rmap = NULL;
	if (!where)
		where = secure_getenv("TORUS_RMA");
	if (!where || !*where) {
		err = find_only(only, sizeof(only));
		if (err)
			return err;
		where = only;
	}
	rma = calloc(1, sizeof(*rma));
	if (!rma)
		return lt_rma_fail_open(-ENOMEM, "out of memory");
	rma->sock = rma->bell = rma->wake = -1;
	err = connect_named(rma, where);
	if (err) {
		lt_rma_fail_open(err, "%s", rma->error);
		torus_rma_close(rma);
		return err;
	}
	*rmap = rma;
	return 0;
}

