// SPDX-License-Identifier: GPL-2.0-only
/* The socket of a NIC, each answer of which is made by the test. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fake_nic.h"

static void die(const char *what)
{
	perror(what);
	abort();
}

static void serve(struct fake *f, int *conn)
{
	ssize_t n = recv(*conn, f->buf, sizeof(f->buf), 0);

	if (n <= 0) {
		close(*conn);
		*conn = -1;
		return;
	}
	memcpy(f->last, f->buf, (size_t)n);
	f->requests++;
	if ((size_t)n > f->largest)
		f->largest = (size_t)n;
	f->fn(f, *conn, (struct nlmsghdr *)f->buf);
}

static void *run(void *arg)
{
	struct pollfd p[FAKE_CONNS + 2];
	struct fake *f = arg;
	sigset_t all;
	int i;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (;;) {
		p[0] = (struct pollfd) { .fd = f->listener, .events = POLLIN };
		p[1] = (struct pollfd) { .fd = f->stop[0], .events = POLLIN };
		for (i = 0; i < FAKE_CONNS; i++)
			p[2 + i] = (struct pollfd) { .fd = f->conn[i], .events = POLLIN };
		if (poll(p, FAKE_CONNS + 2, -1) < 0)
			continue;
		if (p[1].revents)
			return NULL;
		for (i = 0; i < FAKE_CONNS; i++)
			if (f->conn[i] >= 0 && p[2 + i].revents)
				serve(f, &f->conn[i]);
		for (i = 0; p[0].revents && i < FAKE_CONNS; i++) {
			if (f->conn[i] >= 0)
				continue;
			f->conn[i] = accept(f->listener, NULL, NULL);
			break;
		}
	}
}

void fake_start(struct fake *f, const char *path, fake_fn fn)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int i;

	memset(f, 0, sizeof(*f));
	f->fn = fn;
	for (i = 0; i < FAKE_CONNS; i++)
		f->conn[i] = -1;
	snprintf(f->path, sizeof(f->path), "%s", path);
	strcpy(sa.sun_path, f->path);
	unlink(path);
	f->listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (f->listener < 0 || bind(f->listener, (struct sockaddr *)&sa, sizeof(sa)) ||
	    listen(f->listener, 8) || pipe(f->stop) ||
	    pthread_create(&f->thread, NULL, run, f))
		die(path);
}

void fake_stop(struct fake *f)
{
	int i;

	if (write(f->stop[1], "", 1) != 1)
		die("stop");
	pthread_join(f->thread, NULL);
	for (i = 0; i < FAKE_CONNS; i++)
		if (f->conn[i] >= 0)
			close(f->conn[i]);
	close(f->listener);
	close(f->stop[0]);
	close(f->stop[1]);
	unlink(f->path);
}

struct nlattr *fake_attr(struct fake *f, int type)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)f->last;

	return nlmsg_find_attr(nlh, GENL_HDRLEN, type);
}

unsigned int fake_cmd(struct fake *f)
{
	struct genlmsghdr *g = nlmsg_data((struct nlmsghdr *)f->last);

	return g->cmd;
}

struct nl_msg *fake_reply(const struct nlmsghdr *req, unsigned int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc_size(TORUS_MSG_MAX);

	if (!msg || !genlmsg_put(msg, 0, req ? req->nlmsg_seq : 0, TORUS_EMU_FAMILY, 0, flags,
				 (uint8_t)cmd, TORUS_GENL_VERSION))
		die("message");
	return msg;
}

void fake_send(int fd, struct nl_msg *msg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);

	if (send(fd, nlh, nlh->nlmsg_len, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
		perror("fake: send");
	nlmsg_free(msg);
}

void fake_ack(int fd, const struct nlmsghdr *req, int err, const char *text)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlmsgerr body = { .error = err, .msg = *req };

	if (!msg || !nlmsg_put(msg, 0, req->nlmsg_seq, NLMSG_ERROR, 0,
			       NLM_F_CAPPED | (text ? NLM_F_ACK_TLVS : 0)) ||
	    nlmsg_append(msg, &body, sizeof(body), NLMSG_ALIGNTO) ||
	    (text && nla_put_string(msg, NLMSGERR_ATTR_MSG, text)))
		die("message");
	fake_send(fd, msg);
}

void fake_done(int fd, const struct nlmsghdr *req, int err, const char *text, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg || !nlmsg_put(msg, 0, req->nlmsg_seq, NLMSG_DONE, 0,
			       NLM_F_MULTI | flags | (text ? NLM_F_ACK_TLVS : 0)) ||
	    nlmsg_append(msg, &err, sizeof(err), NLMSG_ALIGNTO) ||
	    (text && nla_put_string(msg, NLMSGERR_ATTR_MSG, text)))
		die("message");
	fake_send(fd, msg);
}
