// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/loop.h"
#include "daemon/stream.h"

#define CHUNK 4096

/** struct bytes - a queue of bytes: bytes @head to @head + @len - 1 of @buf are in use */
struct bytes {
	uint8_t *buf;
	size_t head;
	size_t len;
	size_t room;
};

struct stream {
	struct loop_fd *watch;
	struct loop_timer *kick;	/* calls @closed from the loop after a failed send */
	const struct stream_ops *ops;
	void *arg;
	struct bytes in;
	struct bytes out;
	size_t in_max;
	size_t out_max;
	int fd;
	int err;
	bool connecting;
	bool held;
	bool ending;
	bool failed;
	bool closed;
	bool busy;
	bool dead;
};

static void bytes_free(struct bytes *b)
{
	free(b->buf);
	memset(b, 0, sizeof(*b));
}

/* Makes room for @more bytes at the end of the queue. */
static int bytes_reserve(struct bytes *b, size_t more)
{
	size_t room = b->room ? b->room : CHUNK;
	uint8_t *buf;

	if (b->room && b->head + b->len + more <= b->room)
		return 0;
	if (b->head) {
		memmove(b->buf, b->buf + b->head, b->len);
		b->head = 0;
	}
	while (room < b->len + more)
		room *= 2;
	if (room == b->room)
		return 0;
	buf = realloc(b->buf, room);
	if (!buf)
		return -ENOMEM;
	b->buf = buf;
	b->room = room;
	return 0;
}

static void bytes_consume(struct bytes *b, size_t n)
{
	b->head += n;
	b->len -= n;
	if (!b->len)
		bytes_free(b);
}

static void watch_update(struct stream *s)
{
	unsigned int what = 0;

	if (!s->held && !s->connecting)
		what |= LOOP_READ;
	if (s->out.len || s->connecting)
		what |= LOOP_WRITE;
	if (s->failed)
		what = 0;
	loop_fd_set(s->watch, what);
}

static void really_free(struct stream *s)
{
	loop_fd_free(s->watch);
	loop_timer_free(s->kick);
	if (s->fd >= 0)
		close(s->fd);
	bytes_free(&s->in);
	bytes_free(&s->out);
	free(s);
}

/* Ends the stream: calls @closed, once. */
static void finish_stream(struct stream *s, int err)
{
	if (s->closed || s->dead)
		return;
	s->closed = true;
	s->failed = true;
	watch_update(s);
	loop_timer_set(s->kick, LOOP_NEVER);
	s->ops->closed(s->arg, err);
}

static void fail_later(struct stream *s, int err)
{
	if (s->failed)
		return;
	s->failed = true;
	s->err = err;
	watch_update(s);
	loop_timer_set(s->kick, 0);
}

static int flush_out(struct stream *s)
{
	while (s->out.len) {
		ssize_t n = send(s->fd, s->out.buf + s->out.head, s->out.len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		bytes_consume(&s->out, (size_t)n);
	}
	return 0;
}

static void deliver_input(struct stream *s)
{
	ssize_t used;

	while (s->in.len && !s->held && !s->ending && !s->dead && !s->failed) {
		used = s->ops->input(s->arg, s->in.buf + s->in.head, s->in.len);
		if (s->dead)
			return;
		if (used < 0) {
			finish_stream(s, (int)used);
			return;
		}
		if (!used)
			break;
		bytes_consume(&s->in, (size_t)used);
	}
	if (s->ending)
		bytes_free(&s->in);
	if (s->in.len >= s->in_max && !s->held)
		finish_stream(s, -EMSGSIZE);
}

static void do_read(struct stream *s)
{
	ssize_t n;

	if (bytes_reserve(&s->in, CHUNK) < 0) {
		finish_stream(s, -ENOMEM);
		return;
	}
	n = recv(s->fd, s->in.buf + s->in.head + s->in.len,
		 s->in.room - s->in.head - s->in.len, 0);
	if (n < 0) {
		if (!s->in.len)
			bytes_free(&s->in);
		if (errno != EINTR && errno != EAGAIN)
			finish_stream(s, -errno);
		return;
	}
	if (!n) {
		finish_stream(s, 0);
		return;
	}
	s->in.len += (size_t)n;
	deliver_input(s);
}

static void do_write(struct stream *s)
{
	int err;

	if (s->connecting) {
		socklen_t len = sizeof(err);

		if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
			err = errno;
		if (err) {
			finish_stream(s, -err);
			return;
		}
		s->connecting = false;
		if (s->ops->connected)
			s->ops->connected(s->arg);
		if (s->dead)
			return;
	}
	err = flush_out(s);
	if (err < 0)
		finish_stream(s, err);
	else if (!s->out.len && s->ending)
		finish_stream(s, 0);
	else if (!s->out.len && s->ops->drained)
		s->ops->drained(s->arg);
}

static void leave_call(struct stream *s)
{
	s->busy = false;
	if (s->dead)
		really_free(s);
	else
		watch_update(s);
}

static void on_ready(void *arg, unsigned int what)
{
	struct stream *s = arg;

	s->busy = true;
	if (what & LOOP_WRITE)
		do_write(s);
	if ((what & LOOP_READ) && !s->dead && !s->failed)
		do_read(s);
	leave_call(s);
}

static void on_kick(void *arg)
{
	struct stream *s = arg;

	s->busy = true;
	if (s->failed)
		finish_stream(s, s->err);
	else if (s->ending && !s->out.len)
		finish_stream(s, 0);
	else
		deliver_input(s);
	leave_call(s);
}

struct stream *stream_new(struct loop *loop, int fd, bool connecting,
			  size_t in_max, size_t out_max,
			  const struct stream_ops *ops, void *arg)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->fd = -1;
	s->ops = ops;
	s->arg = arg;
	s->connecting = connecting;
	stream_limit(s, in_max, out_max);
	s->kick = loop_timer_new(loop, on_kick, s);
	s->watch = loop_fd_new(loop, fd, 0, on_ready, s);
	if (!s->kick || !s->watch) {
		really_free(s);
		return NULL;
	}
	s->fd = fd;
	watch_update(s);
	return s;
}

void stream_free(struct stream *s)
{
	if (!s)
		return;
	if (s->busy)
		s->dead = true;
	else
		really_free(s);
}

void stream_limit(struct stream *s, size_t in_max, size_t out_max)
{
	s->in_max = in_max;
	s->out_max = out_max;
}

void stream_send(struct stream *s, const void *data, size_t len)
{
	int err;

	if (s->failed || s->dead || s->ending)
		return;
	if (s->out.len + len > s->out_max) {
		fail_later(s, -ENOBUFS);
		return;
	}
	if (bytes_reserve(&s->out, len) < 0) {
		fail_later(s, -ENOMEM);
		return;
	}
	memcpy(s->out.buf + s->out.head + s->out.len, data, len);
	s->out.len += len;
	err = s->connecting ? 0 : flush_out(s);
	if (err < 0)
		fail_later(s, err);
	else
		watch_update(s);
}

void stream_end(struct stream *s)
{
	if (s->failed || s->dead)
		return;
	s->ending = true;
	if (!s->out.len)
		loop_timer_set(s->kick, 0);
}

size_t stream_pending(const struct stream *s)
{
	return s->out.len;
}

void stream_hold(struct stream *s, bool on)
{
	if (s->held == on || s->failed || s->dead)
		return;
	s->held = on;
	watch_update(s);
	if (!on && s->in.len)
		loop_timer_set(s->kick, 0);
}
