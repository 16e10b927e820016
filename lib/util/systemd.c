// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>
#include "lib/util/systemd.h"

#define JOURNAL		"/run/systemd/journal/socket"
#define STATE_MAX	1024
#define HEAD_MAX	128
#define READY_WAIT	5	/* longest time to wait for systemd's queue, seconds */

/*
 * Sends one datagram to a socket of the file system, or with '@' of the abstract name space. If
 * the receiver's queue is full, waits for up to @seconds.
 */
static int send_to_path(const char *path, struct iovec *iov, unsigned int n, int seconds)
{
	const struct timeval wait = { .tv_sec = seconds };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	struct msghdr msg = {
		.msg_name = &to, .msg_iov = iov, .msg_iovlen = n,
	};
	int fd, err = 0;

	if ((path[0] != '/' && path[0] != '@') || len < 2 || len >= sizeof(to.sun_path))
		return -EINVAL;
	memcpy(to.sun_path, path, len);
	msg.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	else
		msg.msg_namelen++;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if ((seconds && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) < 0) ||
	    sendmsg(fd, &msg, MSG_NOSIGNAL | (seconds ? 0 : MSG_DONTWAIT)) < 0)
		err = -errno;
	close(fd);
	return err;
}

void systemd_notify(const char *fmt, ...)
{
	const char *path = getenv("NOTIFY_SOCKET");
	char text[STATE_MAX];
	struct iovec iov = { .iov_base = text };
	va_list ap;

	if (!path)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	iov.iov_len = strlen(text);
	send_to_path(path, &iov, 1, 0);
}

void systemd_ready(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct iovec iov = { (char *)"READY=1", 7 };

	if (path)
		send_to_path(path, &iov, 1, READY_WAIT);
}

uint64_t systemd_watchdog(void)
{
	const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!us || (pid && strtoll(pid, NULL, 10) != getpid()))
		return 0;
	return strtoull(us, NULL, 10);
}

int systemd_journal(int priority, const char *kind, const char *text)
{
	size_t kind_len = strlen(kind), text_len = strlen(text);
	uint64_t len = htole64(kind_len + 2 + text_len);
	char head[HEAD_MAX];
	/* A message may have several lines, so its length precedes it. */
	struct iovec iov[] = {
		{ head, 0 }, { (char *)kind, kind_len }, { (char *)"\nMESSAGE\n", 9 },
		{ &len, sizeof(len) }, { (char *)kind, kind_len }, { (char *)": ", 2 },
		{ (char *)text, text_len }, { (char *)"\n", 1 },
	};

	snprintf(head, sizeof(head), "SYSLOG_IDENTIFIER=%.32s\nPRIORITY=%i\nTORUS_KIND=",
		 program_invocation_short_name, priority);
	iov[0].iov_len = strlen(head);
	return send_to_path(JOURNAL, iov, sizeof(iov) / sizeof(iov[0]), 0);
}
