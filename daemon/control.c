// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "daemon/answer.h"
#include "daemon/control.h"
#include "daemon/log.h"
#include "daemon/stream.h"

#define CLIENTS_MAX	64
#define CLIENTS_RESERVED 16		/* how many of CLIENTS_MAX only privileged users can get */
#define TAKE_MAX	(30 * SEC)	/* time in which a client has to read a reply */
#define FOLLOW_CHUNK	65536		/* bytes of events waiting for a client that follows */
#define ACCEPT_PAUSE	SEC

/**
 * struct client - one connection of a client
 * @rq: the request that is being answered; the next request is read after its end
 * @seq: number of the next event to be sent, if @following
 */
struct client {
	struct control *control;
	struct client *next;
	struct stream *stream;
	struct loop_timer *timer;
	struct request *rq;
	uint64_t seq;
	bool following;
	struct svc_user user;
};

struct control {
	struct fabricd *d;
	char path[CONFIG_PATH_MAX];
	int fd;
	struct loop_fd *watch;
	struct loop_timer *resume;
	struct client *clients;
	unsigned int n;
};

static void client_free(struct client *c)
{
	struct client **p = &c->control->clients;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	c->control->n--;
	answer_drop(c->rq);
	loop_timer_free(c->timer);
	stream_free(c->stream);
	free(c);
}

static void send_line(struct client *c, const char *line)
{
	size_t n = strlen(line);

	stream_send(c->stream, line, n);
	stream_send(c->stream, "\n", 1);
	if (stream_pending(c->stream))
		loop_timer_set(c->timer, loop_now() + TAKE_MAX);
}

static void send_error(struct client *c, const char *code, const char *text)
{
	char *line = error_line(code, text);

	if (line)
		send_line(c, line);
	free(line);
}

/* --- clients that follow events -------------------------------------------- */

static void send_event(struct client *c, json_t *event)
{
	json_t *j = json_pack("{s:b, s:[o], s:b}", "ok", 1, "data", event, "more", 1);
	char *line = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;

	if (line)
		send_line(c, line);
	free(line);
	json_decref(j);
}

/* Sends to a slow client, in place of the events that it missed, the number of these events. */
static void send_missed(struct client *c, uint64_t n)
{
	char text[64];

	snprintf(text, sizeof(text), "%llu events were not read in time",
		 (unsigned long long)n);
	send_event(c, json_pack("{s:I, s:f, s:n, s:s, s:s, s:s}", "seq",
				(json_int_t)c->seq, "time", loop_wall(), "node", "level",
				"warning", "kind", "missed", "text", text));
}

static void follow_on(struct client *c)
{
	const struct event_record *r;

	while (c->following && stream_pending(c->stream) < FOLLOW_CHUNK) {
		r = events_next(c->control->d->events, c->seq);
		if (!r)
			return;
		if (r->seq > c->seq && c->seq > 1)
			send_missed(c, r->seq - c->seq);
		c->seq = r->seq + 1;
		send_event(c, event_json(c->control->d, r));
	}
}

static void on_follow(void *arg, uint64_t since)
{
	struct client *c = arg;

	c->rq = NULL;
	c->following = true;
	c->seq = since + 1;
	follow_on(c);
}

void control_events(struct control *control)
{
	if (!control)
		return;
	for (struct client *c = control->clients; c; c = c->next)
		follow_on(c);
}

/* --- requests -------------------------------------------------------------- */

json_t *control_parse(const char *line, size_t len, char *error, size_t room)
{
	json_error_t e;
	json_t *j;

	if (len > CONTROL_LINE_MAX) {
		snprintf(error, room, "the request is longer than %d bytes", CONTROL_LINE_MAX);
		return NULL;
	}
	j = json_loadb(line, len, JSON_REJECT_DUPLICATES, &e);
	if (!j) {
		snprintf(error, room, "not JSON: %s at byte %d", e.text, e.position);
		return NULL;
	}
	if (!json_is_object(j)) {
		snprintf(error, room, "the request is not a JSON object");
		json_decref(j);
		return NULL;
	}
	return j;
}

static void on_answer(void *arg, const char *line)
{
	struct client *c = arg;

	c->rq = NULL;
	if (strlen(line) > CONTROL_REPLY_MAX)
		send_error(c, "failed", "the reply is longer than 16 MiB: ask for one node");
	else
		send_line(c, line);
	stream_hold(c->stream, false);
}

/* Sends a part of a reply. If @text is NULL, the reply cannot be ended: closes the connection. */
static bool on_more(void *arg, const char *text, size_t len)
{
	struct client *c = arg;

	if (!text) {
		c->rq = NULL;
		stream_end(c->stream);
		return false;
	}
	stream_send(c->stream, text, len);
	if (stream_pending(c->stream))
		loop_timer_set(c->timer, loop_now() + TAKE_MAX);
	return !stream_pending(c->stream);
}

static void take_request(struct client *c, const char *line, size_t len)
{
	char error[256];
	json_t *args;

	c->following = false;
	args = control_parse(line, len, error, sizeof(error));
	if (!args) {
		send_error(c, "usage", error);
		return;
	}
	c->user.node = c->control->d->fm ? fm_own(c->control->d->fm) : TORUS_NO_NODE;
	c->rq = answer_new(c->control->d, args, &c->user, on_answer, on_follow, c);
	if (!c->rq) {
		send_error(c, "failed", "out of memory");
		return;
	}
	c->rq->more = on_more;
	answer_begin(c->rq);
	if (c->rq)
		stream_hold(c->stream, true);
}

/*
 * Reads one line in each call: the client's next request is read after it has received the answer.
 */
static ssize_t on_control_input(void *arg, const uint8_t *data, size_t len)
{
	struct client *c = arg;
	const uint8_t *nl = memchr(data, '\n', len);
	size_t n = nl ? (size_t)(nl - data) : len;
	char error[64];

	if (n > CONTROL_LINE_MAX) {
		snprintf(error, sizeof(error), "the request is longer than %d bytes",
			 CONTROL_LINE_MAX);
		send_error(c, "usage", error);
		stream_end(c->stream);
		return (ssize_t)len;
	}
	if (!nl)
		return 0;
	if (n && !(n == 1 && data[0] == '\r'))
		take_request(c, (const char *)data, n);
	if (stream_pending(c->stream) && !c->following)
		stream_hold(c->stream, true);
	return (ssize_t)n + 1;
}

static void on_drained(void *arg)
{
	struct client *c = arg;

	loop_timer_set(c->timer, LOOP_NEVER);
	if (c->rq)
		answer_continue(c->rq);
	else
		stream_hold(c->stream, false);
	follow_on(c);
}

static void on_control_closed(void *arg, int err)
{
	(void)err;
	client_free(arg);
}

static void on_late(void *arg)
{
	log_info("control", "a client did not read its reply in time: its connection is closed");
	client_free(arg);
}

static const struct stream_ops stream_ops = {
	.input = on_control_input,
	.drained = on_drained,
	.closed = on_control_closed,
};

/* --- connections ----------------------------------------------------------- */

static bool in_group(int fd, gid_t wanted)
{
	gid_t *groups = NULL;
	socklen_t len = 0;
	bool found = false;

	/* If the buffer is too small, the kernel sets @len to the size needed. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len) && errno == ERANGE)
		groups = malloc(len);
	if (groups && !getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len))
		for (unsigned int i = 0; i < len / sizeof(gid_t); i++)
			found |= groups[i] == wanted;
	free(groups);
	return found;
}

static struct svc_user user_of(const struct config *config, int fd)
{
	struct svc_user user = { .uid = SVC_NO_UID, .node = TORUS_NO_NODE };
	struct ucred who;
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
		return user;
	user.uid = who.uid;
	user.privileged = who.uid == 0 ||
			  (config->control_group[0] && (who.gid == config->control_gid ||
							in_group(fd, config->control_gid)));
	user.jobs = user.privileged || (config->job_group[0] && (who.gid == config->job_gid ||
								 in_group(fd, config->job_gid)));
	return user;
}

static void client_new(struct control *control, int fd)
{
	struct client *c;
	struct svc_user user = user_of(&control->d->config, fd);

	if (control->n >= (user.privileged ? CLIENTS_MAX : CLIENTS_MAX - CLIENTS_RESERVED)) {
		static const char busy[] = "{\"ok\":false,\"code\":\"failed\","
			"\"error\":\"too many clients at once\"}\n";

		send(fd, busy, sizeof(busy) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
		return;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		goto err_close;
	c->control = control;
	c->user = user;
	c->timer = loop_timer_new(control->d->loop, on_late, c);
	if (!c->timer)
		goto err_free;
	c->stream = stream_new(control->d->loop, fd, false, CONTROL_LINE_MAX + 8192,
			       CONTROL_REPLY_MAX + FOLLOW_CHUNK, &stream_ops, c);
	if (!c->stream)
		goto err_timer;
	c->next = control->clients;
	control->clients = c;
	control->n++;
	return;

err_timer:
	loop_timer_free(c->timer);
err_free:
	free(c);
err_close:
	close(fd);
}

static void on_control_listen(void *arg, unsigned int what)
{
	struct control *control = arg;
	int fd;

	(void)what;
	fd = accept4(control->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		client_new(control, fd);
		return;
	}
	if (errno == EINTR || errno == EAGAIN || errno == ECONNABORTED)
		return;
	log_error("control", "accept: %s", strerror(errno));
	loop_fd_set(control->watch, 0);
	loop_timer_set(control->resume, loop_now() + ACCEPT_PAUSE);
}

static void on_control_resume(void *arg)
{
	struct control *control = arg;

	loop_fd_set(control->watch, LOOP_READ);
}

/* Removes a socket only: if the configured path names another file by mistake, that file stays. */
static int remove_socket(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	return unlink(path) ? -errno : 0;
}

/* Removes a socket that no process serves: it was left by a manager that was killed. */
static int clear_path(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return -errno;
	err = connect(fd, (const struct sockaddr *)a, sizeof(*a)) ? errno : EADDRINUSE;
	close(fd);
	if (err == ENOENT)
		return 0;
	if (err == ECONNREFUSED)
		return remove_socket(a->sun_path);
	return -(err == EAGAIN ? EADDRINUSE : err);
}

static void make_folder(const char *path)
{
	char folder[CONFIG_PATH_MAX];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (slash == folder)
		return;
	*slash = '\0';
	mkdir(folder, 0755);
}

static int listen_control(struct control *control)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	mode_t mask;
	int err;

	_Static_assert(sizeof(a.sun_path) >= sizeof(control->path), "a path that does not fit");
	memcpy(a.sun_path, control->path, sizeof(control->path));
	make_folder(control->path);
	err = clear_path(&a);
	if (err)
		return err;
	control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (control->fd < 0)
		return -errno;
	mask = umask(0111);
	err = bind(control->fd, (struct sockaddr *)&a, sizeof(a)) ? -errno : 0;
	umask(mask);
	if (!err && listen(control->fd, CLIENTS_MAX))
		err = -errno;
	return err;
}

struct control *control_new(struct fabricd *d, int *err)
{
	struct control *c = calloc(1, sizeof(*c));

	*err = -ENOMEM;
	if (!c)
		return NULL;
	c->d = d;
	memcpy(c->path, d->config.control, sizeof(c->path));
	c->fd = -1;
	*err = listen_control(c);
	if (!*err) {
		c->watch = loop_fd_new(d->loop, c->fd, LOOP_READ, on_control_listen, c);
		c->resume = loop_timer_new(d->loop, on_control_resume, c);
		if (c->watch && c->resume)
			return c;
		*err = -ENOMEM;
	} else {
		c->path[0] = '\0';
	}
	control_free(c);
	return NULL;
}

void control_free(struct control *c)
{
	if (!c)
		return;
	while (c->clients)
		client_free(c->clients);
	loop_fd_free(c->watch);
	loop_timer_free(c->resume);
	if (c->fd >= 0)
		close(c->fd);
	if (c->path[0])
		unlink(c->path);
	free(c);
}
