// SPDX-License-Identifier: GPL-2.0-only
/* The socket on which processes get contexts of remote memory; a connection is a context. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu.h"
#include "lib/util/times.h"
#include "log.h"
#include "rma.h"
#include "sock.h"

/* most descriptors that a call may bring; all but the first are closed */
#define FDS_MAX	4

/* Takes the descriptors of a message. Return: the first one; -1: there is none. */
static int take_fds(struct msghdr *mh)
{
	int fds[FDS_MAX], first = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || n > FDS_MAX)
			continue;
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
		for (size_t i = 0; i < n; i++) {
			if (first < 0)
				first = fds[i];
			else
				close(fds[i]);
		}
	}
	return first;
}

/* Sends an answer with @n descriptors. Return: 0 or negative errno */
static int send_answer(struct rma_context *ctx, struct torus_rma_call *call, const int *fds,
		       size_t n)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(TORUS_RMA_FDS * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { call, sizeof(*call) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n) {
		mh.msg_control = control.room;
		mh.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	}
	return sendmsg(ctx->watch.fd, &mh, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* --- calls ----------------------------------------------------------------------- */

static void bell_ready(struct watch *w, u32 events)
{
	struct rma_context *ctx = container_of(w, struct rma_context, bell);

	(void)events;
	ctx->soft.ready = true;
	emu_busy(ctx->emu, loop_now());
}

/*
 * Makes the descriptors by which the NIC and the process wake each other. @theirs: the one of the
 * process that wakes it, which the caller closes.
 *
 * O_NONBLOCK belongs to the open file, so a process can clear it in one that it shares with the
 * NIC. So the NIC never reads the doorbell (EPOLLET: each write is an event), and writes to an end
 * of a pipe that the process does not have.
 */
static int make_bells(struct rma_context *ctx, int *theirs)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), ends[2], err;

	if (fd < 0)
		return -errno;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	err = loop_add(ctx->emu->loop, &ctx->bell, fd, EPOLLIN | EPOLLET, bell_ready);
	if (err) {
		close(fd);
		close(ends[0]);
		close(ends[1]);
		ctx->bell.fd = -1;
		return err;
	}
	*theirs = ends[0];
	ctx->wake = ends[1];
	return 0;
}

static void drop_bells(struct rma_context *ctx, int theirs)
{
	loop_del(ctx->emu->loop, &ctx->bell);
	close(ctx->wake);
	ctx->wake = -1;
	close(theirs);
}

static int open_rma_context(struct rma_context *ctx, struct torus_rma_call *call)
{
	int fds[TORUS_RMA_FDS], *wake = &fds[TORUS_RMA_FD_WAKE];
	int err = tn_soft_rma_check(&ctx->soft, call);

	if (!err)
		err = rma_begin(ctx->emu, call);
	if (err)
		return err;
	err = make_bells(ctx, wake);
	if (!err) {
		err = rma_ring_new(ctx, call->entries, &fds[TORUS_RMA_FD_RINGS]);
		if (err)
			drop_bells(ctx, *wake);
	}
	if (err)
		return tn_soft_rma_fail(call, err, "%s", strerror(-err));
	fds[TORUS_RMA_FD_BELL] = ctx->bell.fd;
	chassis_wake(ctx->emu->chassis, ctx->emu);
	err = send_answer(ctx, call, fds, TORUS_RMA_FDS);
	close(fds[TORUS_RMA_FD_RINGS]);
	close(*wake);
	return err ? err : 1;
}

static int search_wait(struct rma_context *ctx, struct torus_rma_call *call)
{
	struct tn_soft_search search = { 0 };
	int err;

	do {
		err = tn_soft_wait_get(&ctx->soft, call, &search, loop_now());
	} while (err == -EAGAIN);
	return err;
}

/* Return: 0 or a negative errno; 1 if the answer has been sent. */
static int run_rma_call(struct rma_context *ctx, struct torus_rma_call *call, int fd)
{
	if (call->call == TORUS_RMA_OPEN)
		return open_rma_context(ctx, call);
	if (call->call == TORUS_RMA_REGION_GET)
		return tn_soft_region_get(&ctx->soft, call);
	if (call->call == TORUS_RMA_WAIT_GET)
		return search_wait(ctx, call);
	if (call->call == TORUS_RMA_SHARE)
		return rma_share(ctx, fd, call);
	if (call->call == TORUS_RMA_UNSHARE)
		return tn_soft_rma_unshare(&ctx->soft, call);
	return tn_soft_rma_fail(call, -EOPNOTSUPP, "call %u: must be %u to %u", call->call,
				TORUS_RMA_OPEN,
			TORUS_RMA_WAIT_GET);
}

static void context_ready(struct watch *w, u32 events)
{
	struct rma_context *ctx = container_of(w, struct rma_context, watch);
	struct torus_rma_call call = { 0 };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control;
	struct iovec iov = { &call, sizeof(call) };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.room, .msg_controllen = sizeof(control.room),
	};
	ssize_t n = recvmsg(w->fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fd, err;

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	fd = n >= 0 ? take_fds(&mh) : -1;	/* an empty message may have some, too */
	if (fd < 0 && mh.msg_flags & MSG_CTRUNC)
		fd = -EMFILE;
	if (n != sizeof(call) || mh.msg_flags & MSG_TRUNC) {
		if (fd >= 0)
			close(fd);
		rma_end(ctx);
		return;
	}
	memset(call.why, 0, sizeof(call.why));
	err = run_rma_call(ctx, &call, fd);
	if (fd >= 0)
		close(fd);
	call.error = err;
	if (err <= 0 && send_answer(ctx, &call, NULL, 0))
		rma_end(ctx);
}

/* --- connections ------------------------------------------------------------------- */

static int add_context(struct emu *e, int fd, u32 user)
{
	struct rma_context *ctx = calloc(1, sizeof(*ctx));
	int err = ctx ? tn_soft_rma_add(&e->rma->soft, &ctx->soft, user) : -ENOMEM;

	if (err) {
		free(ctx);
		return err;
	}
	ctx->emu = e;
	ctx->watch.fd = -1;
	ctx->bell.fd = -1;
	ctx->wake = -1;
	err = loop_add(e->loop, &ctx->watch, fd, EPOLLIN, context_ready);
	if (err)
		tn_soft_rma_end(&ctx->soft, loop_now());
	return err;
}

static const char *text_of_refusal(int err)
{
	return err == -EMFILE ? RMA_NO_FDS : err == -EUSERS ? "the user has too many contexts" :
	       err == -ENOSPC ? "the NIC has too many contexts" : strerror(-err);
}

/* Any user may connect as often as it likes, so there is one message a second, with a count. */
static void log_refused_user(struct emu *e, const char *who, int err)
{
	struct rma *rma = e->rma;
	u64 now = loop_now();

	if (rma->refused_at && now - rma->refused_at < SEC) {
		rma->unlogged++;
		return;
	}
	log_warn(e->soft.hw.name,
		 "remote memory: refused %s: %s; refused %llu more since the last message",
		 who, text_of_refusal(err), (unsigned long long)rma->unlogged);
	rma->refused_at = now;
	rma->unlogged = 0;
}

static void rma_listener_ready(struct watch *w, u32 events)
{
	struct emu *e = container_of(w, struct rma, listener)->emu;
	struct torus_rma_call refusal = { .error = -EMFILE, .why = RMA_NO_FDS };
	int fd = sock_accept_all(w->fd, &refusal, sizeof(refusal)), err;
	struct ucred user;
	socklen_t len = sizeof(user);
	char who[32];

	(void)events;
	if (fd == -EMFILE)
		log_refused_user(e, "a process", fd);
	if (fd < 0)
		return;
	err = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &len) < 0 ? -errno :
	      add_context(e, fd, user.uid);
	if (!err)
		return;
	snprintf(who, sizeof(who), "user %u", user.uid);
	log_refused_user(e, who, err);
	refusal.error = err;
	snprintf(refusal.why, sizeof(refusal.why), "%s", text_of_refusal(err));
	send(fd, &refusal, sizeof(refusal), MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

int rma_open(struct emu *e, const char *path)
{
	struct rma *rma = calloc(1, sizeof(*rma));
	int fd = rma ? sock_listen_all(path) : -ENOMEM, err;

	if (fd < 0) {
		free(rma);
		return fd;
	}
	err = loop_add(e->loop, &rma->listener, fd, EPOLLIN, rma_listener_ready);
	if (err) {
		close(fd);
		free(rma);
		return err;
	}
	rma_init(rma, e);
	snprintf(rma->path, sizeof(rma->path), "%s", path);
	e->rma = rma;
	return 0;
}

void rma_close(struct emu *e)
{
	struct rma *rma = e->rma;

	if (!rma)
		return;
	rma_leave(e);
	loop_del(e->loop, &rma->listener);
	unlink(rma->path);
	free(rma);
	e->rma = NULL;
}
