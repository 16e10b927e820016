// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests to fabricd over its control socket, one JSON object a line.
 *
 * Replies have no sequence number, so the late reply to a call that timed out would be taken for
 * the reply to the next call. Therefore a connection is closed after an error, and the next call
 * makes a new one.
 */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <torus/fabric.h>
#include <torus/topology.h>
#include "lib/deps/invariant.h"
#include "client.h"

#define CONTROL_PATH "/run/fabricd/control"
#define REQUEST_MAX  (64u << 10)
#define REPLY_MAX    (16u << 20)
#define TIMEOUT_MS   5000

/**
 * struct torus_fabric - a handle
 * @buf: bytes that were received and not yet returned; the handle owns them
 * @len: bytes in @buf
 * @room: size of @buf, bytes
 * @seen: number of bytes at the start of @buf that were searched and have no newline, at most @len
 * Its other members are the path, the socket (-1: closed) and the text of the last error.
 */
struct torus_fabric {
	char *path;
	int fd;
	char *buf;
	size_t len;
	size_t room;
	size_t seen;
	char error[256];
};

static _Thread_local char open_error[256];

const char *torus_fabric_error(const struct torus_fabric *f)
{
	return f ? f->error : open_error;
}

int torus_fabric_fd(const struct torus_fabric *f)
{
	return f->fd;
}

__attribute__((format(printf, 3, 4)))
static int fail_fabric(struct torus_fabric *f, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->error, sizeof(f->error), fmt, ap);
	va_end(ap);
	return err;
}

/* --- connection ------------------------------------------------------------ */

static void close_fabric(struct torus_fabric *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	f->len = f->seen = 0;
}

/* Connects. connect() may block while fabricd is slow to accept; SO_SNDTIMEO bounds that. */
static int connect_fabricd(struct torus_fabric *f)
{
	struct timeval tv = { TIMEOUT_MS / 1000, 0 };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd, err;

	if (!*f->path || strlen(f->path) >= sizeof(sa.sun_path))
		return fail_fabric(f, -ENAMETOOLONG, "%s: a path has 1 to %zu bytes", f->path,
				   sizeof(sa.sun_path) - 1);
	strcpy(sa.sun_path, f->path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail_fabric(f, -errno, "socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	do {
		err = connect(fd, (struct sockaddr *)&sa, sizeof(sa)) ? -errno : 0;
	} while (err == -EINTR);
	if (err) {
		close(fd);
		if (err == -EAGAIN)
			err = -ETIMEDOUT;
		return fail_fabric(f, err, "%s: %s%s", f->path, strerror(-err),
				   err == -ENOENT || err == -ECONNREFUSED
				      ? "; is fabricd running?"
				      : "");
	}
	f->fd = fd;
	return 0;
}

int torus_fabric_open(const char *path, struct torus_fabric **fp)
{
	struct torus_fabric *f = calloc(1, sizeof(*f));
	int err;

	if (!path)
		path = secure_getenv("TORUS_CONTROL");
	if (!path)
		path = CONTROL_PATH;
	if (!f || !(f->path = strdup(path))) {
		free(f);
		snprintf(open_error, sizeof(open_error), "out of memory");
		return -ENOMEM;
	}
	f->fd = -1;
	err = connect_fabricd(f);
	if (err) {
		memcpy(open_error, f->error, sizeof(open_error));
		torus_fabric_close(f);
		return err;
	}
	*fp = f;
	return 0;
}

void torus_fabric_close(struct torus_fabric *f)
{
	if (!f)
		return;
	close_fabric(f);
	free(f->buf);
	free(f->path);
	free(f);
}

/* --- lines ----------------------------------------------------------------- */

static int send_question(struct torus_fabric *f, const char *data, size_t len,
			 int64_t deadline)
{
	while (len) {
		ssize_t n = send(f->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		int err;

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return fail_fabric(f, errno == EPIPE ? -ECONNRESET : -errno,
					   "%s: cannot send the request: %s",
					   f->path, strerror(errno));
		err = lt_wait(f->fd, POLLOUT, deadline);
		if (err)
			return fail_fabric(f, err, "%s: fabricd does not read the request: %s",
					   f->path, strerror(-err));
	}
	return 0;
}

/* Grows the buffer, if needed, so that it has room for one more byte and a NUL. */
static int grow_buffer(struct torus_fabric *f)
{
	size_t room = f->room ? 2 * f->room : 4096;
	char *buf;

	if (f->len + 1 < f->room)
		return 0;
	if (f->len >= REPLY_MAX)
		return fail_fabric(f, -EMSGSIZE, "%s: a reply of more than %u bytes", f->path,
				   REPLY_MAX);
	buf = realloc(f->buf, room);
	if (!buf)
		return fail_fabric(f, -ENOMEM, "out of memory");
	f->buf = buf;
	f->room = room;
	invariant(f->len + 1 < room);
	return 0;
}

/* Receives more bytes; -EAGAIN if none arrived before the deadline. */
static int receive_some(struct torus_fabric *f, int64_t deadline)
{
	ssize_t n;
	int err;

	err = grow_buffer(f);
	if (err)
		return err;
	for (;;) {
		n = recv(f->fd, f->buf + f->len, f->room - f->len - 1, MSG_DONTWAIT);
		if (n > 0) {
			f->len += (size_t)n;
			return 0;
		}
		if (n == 0)
			return fail_fabric(f, -ECONNRESET, "%s: fabricd closed the connection",
					   f->path);
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return fail_fabric(f, -errno, "%s: %s", f->path, strerror(errno));
		err = lt_wait(f->fd, POLLIN, deadline);
		if (err)
			return fail_fabric(f, err, "%s: no answer in time", f->path);
	}
}

/*
 * Removes the first line from the buffer; the caller has to free @line. Returns -EAGAIN if no line
 * is complete.
 */
static int take_reply_line(struct torus_fabric *f, char **line)
{
	char *end = f->len > f->seen ? memchr(f->buf + f->seen, '\n', f->len - f->seen)
				     : NULL;
	size_t len;

	invariant(f->seen <= f->len);
	if (!end) {
		f->seen = f->len;
		return -EAGAIN;
	}
	len = (size_t)(end - f->buf);
	*line = strndup(f->buf, len);
	if (!*line)
		return fail_fabric(f, -ENOMEM, "out of memory");
	f->len -= len + 1;
	memmove(f->buf, end + 1, f->len);
	f->seen = 0;
	return 0;
}

int torus_fabric_next(struct torus_fabric *f, char **reply, int timeout_ms)
{
	int64_t deadline = lt_now() + timeout_ms;
	int err;

	if (f->fd < 0)
		return fail_fabric(f, -ENOTCONN, "%s: no request was made", f->path);
	while ((err = take_reply_line(f, reply)) == -EAGAIN) {
		err = receive_some(f, deadline);
		if (err)
			return err;
	}
	return err;
}

int torus_fabric_call(struct torus_fabric *f, const char *request, char **reply,
		      int timeout_ms)
{
	int64_t deadline = lt_now() + timeout_ms;
	size_t len = strlen(request);
	int err;

	if (strchr(request, '\n') || len > REQUEST_MAX)
		return fail_fabric(f, -EINVAL,
				   "request of %zu bytes: must be one line of at most %u", len,
				   REQUEST_MAX);
	if (f->fd < 0) {
		err = connect_fabricd(f);
		if (err)
			return err;
	}
	err = send_question(f, request, len, deadline);
	if (!err)
		err = send_question(f, "\n", 1, deadline);
	if (!err) {
		int64_t left = deadline - lt_now();

		err = torus_fabric_next(f, reply, left > 0 ? (int)left : 0);
	}
	if (err)
		close_fabric(f);
	return err;
}

/* --- place and names ------------------------------------------------------- */

static int error_of_code(const char *code)
{
	static const struct {
		const char *code;
		int err;
	} codes[] = {
		{ "usage", -EINVAL },
		{ "denied", -EACCES },
		{ "not-ready", -EAGAIN },
		{ "unreachable", -EHOSTUNREACH },
	};
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (code && !strcmp(code, codes[i].code))
			return codes[i].err;
	return -EIO;
}

static int fail_malformed(struct torus_fabric *f, const char *what)
{
	return fail_fabric(f, -EBADMSG, "fabricd answered without a valid %s", what);
}

/*
 * Reads an array of at most TORUS_MAX_DIMS numbers, 0 to @max. Return: length of the array; 0 if it
 * is malformed.
 */
static unsigned int numbers_parse(const json_t *array, long max, uint16_t *out)
{
	size_t n = json_array_size(array), i;

	if (n > TORUS_MAX_DIMS)
		return 0;
	for (i = 0; i < n; i++) {
		const json_t *v = json_array_get(array, i);
		json_int_t value = json_integer_value(v);

		if (!json_is_integer(v) || value < 0 || value > max)
			return 0;
		out[i] = (uint16_t)value;
	}
	return (unsigned int)n;
}

static int shape_parse(struct torus_fabric *f, const json_t *data,
		       struct torus_shape *shape)
{
	const json_t *array = json_object_get(data, "shape");

	if (json_is_null(array))
		return fail_fabric(f, -EAGAIN, "the fabric has no shape yet");
	*shape = (struct torus_shape){ .size = { 1, 1, 1, 1, 1, 1 } };
	shape->ndims = (uint8_t)numbers_parse(array, TORUS_MAX_SIZE, shape->size);
	return torus_nodes(shape) ? 0 : fail_malformed(f, "shape");
}

static int get_node(struct torus_fabric *f, const json_t *data,
		    const struct torus_shape *shape, struct torus_coords *at)
{
	const json_t *array = json_object_get(data, "node");
	unsigned int d;

	if (json_is_null(array))
		return fail_fabric(f, -EAGAIN, "the node has no coordinates yet");
	*at = (struct torus_coords){ { 0 } };
	if (numbers_parse(array, TORUS_MAX_SIZE - 1, at->c) != shape->ndims)
		return fail_malformed(f, "node");
	for (d = 0; d < shape->ndims; d++)
		if (at->c[d] >= shape->size[d])
			return fail_malformed(f, "node");
	return 0;
}

/* Sends the request "coord" about node @name, or about this node if @name is NULL. */
static int ask_coord(struct torus_fabric *f, const char *name, struct torus_shape *shape,
		     struct torus_coords *at)
{
	json_t *question = name ? json_pack("{ss ss}", "cmd", "coord", "name", name)
				: json_pack("{ss}", "cmd", "coord");
	char *request = question ? json_dumps(question, JSON_COMPACT) : NULL;
	const char *text = NULL, *code = NULL;
	char *reply = NULL;
	json_t *answer;
	int ok = 0, err;

	json_decref(question);
	if (!request) /* json_pack() fails if the text is not UTF-8 */
		return fail_fabric(f, -EINVAL, "name '%s': not a valid text",
				   name ? name : "");
	err = torus_fabric_call(f, request, &reply, TIMEOUT_MS);
	free(request);
	if (err)
		return err;

	answer = json_loads(reply, 0, NULL);
	free(reply);
	if (json_unpack(answer, "{sb s?s s?s}", "ok", &ok, "error", &text, "code", &code))
		err = fail_malformed(f, "answer");
	else if (!ok)
		err = fail_fabric(f, error_of_code(code), "%s", text ? text : "refused");
	if (!err)
		err = shape_parse(f, json_object_get(answer, "data"), shape);
	if (!err)
		err = get_node(f, json_object_get(answer, "data"), shape, at);
	json_decref(answer);
	return err;
}

int torus_fabric_place(struct torus_fabric *f, struct torus_shape *shape,
		       struct torus_coords *own)
{
	return ask_coord(f, NULL, shape, own);
}

int torus_fabric_node(struct torus_fabric *f, const char *name, struct torus_coords *at)
{
	struct torus_shape shape;

	return ask_coord(f, name, &shape, at);
}
