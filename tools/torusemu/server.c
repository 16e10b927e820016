// SPDX-License-Identifier: GPL-2.0-only
/*
 * While answers to a client are queued, the server reads no request of this client, so a slow
 * client delays only itself. Queued notifications are bounded: beyond the bound they are dropped,
 * and the client gets NLMSG_OVERRUN.
 */
#include "server.h"

#include <linux/genetlink.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu.h"
#include "log.h"
#include "req.h"
#include "sock.h"

struct out {
	struct out *next;
	size_t len;
	u8 data[];
};

/* --- sending to a client -------------------------------------------------- */

static void set_events(struct client *c)
{
	bool busy = c->out || c->dump.cmd || c->overflow || c->dead;

	loop_events(c->emu->loop, &c->watch, busy ? EPOLLOUT : EPOLLIN);
}

/*
 * Return: 0 if the datagram was sent; -EAGAIN if the socket is full; or an error after which the
 * client is removed.
 */
static int send_now(struct client *c, const void *data, size_t len)
{
	if (send(c->watch.fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)
		return -EAGAIN;
	c->dead = true;
	return -errno;
}

static void enqueue_bytes(struct client *c, const void *data, size_t len)
{
	struct out *o = malloc(sizeof(*o) + len);

	if (!o) {
		c->dead = true;
		return;
	}
	o->next = NULL;
	o->len = len;
	memcpy(o->data, data, len);
	*c->tail = o;
	c->tail = &o->next;
	c->queued += len;
}

static void send_bytes(struct client *c, const void *data, size_t len)
{
	if (!c->dead && (c->out || send_now(c, data, len) == -EAGAIN))
		enqueue_bytes(c, data, len);
}

void client_send(struct client *c, struct nl_msg *msg)
{
	if (!msg) {
		c->dead = true;
		return;
	}
	send_bytes(c, nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	nlmsg_free(msg);
}

static void send_queue(struct client *c)
{
	struct out *o;

	while (!c->dead && (o = c->out) && !send_now(c, o->data, o->len)) {
		c->out = o->next;
		if (!c->out)
			c->tail = &c->out;
		c->queued -= o->len;
		free(o);
	}
}

static void send_overflow(struct client *c)
{
	struct nlmsghdr lost = { .nlmsg_len = sizeof(lost), .nlmsg_type = NLMSG_OVERRUN };

	c->overflow = false;
	send_bytes(c, &lost, sizeof(lost));
}

void server_notify(struct emu *e, unsigned int group, struct nl_msg *msg)
{
	for (struct client *c = e->server.clients; c && msg; c = c->next) {
		if (!(c->groups >> group & 1) || c->dead)
			continue;
		if (c->overflow || c->queued + nlmsg_hdr(msg)->nlmsg_len > CLIENT_QUEUE_MAX)
			c->overflow = true;
		else
			send_bytes(c, nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
		set_events(c);
	}
	nlmsg_free(msg);
}

void server_overflow(struct emu *e)
{
	for (struct client *c = e->server.clients; c; c = c->next) {
		if (!c->groups || c->dead)
			continue;
		c->overflow = true;
		loop_events(e->loop, &c->watch, EPOLLOUT);
	}
}

/* --- answers -------------------------------------------------------------- */

static void send_ack(struct client *c, const struct nlmsghdr *to, int err, const char *text)
{
	struct nl_msg *msg = nlmsg_alloc_size(NLMSG_HDRLEN + sizeof(struct nlmsgerr) +
					      TORUS_REFUSAL_MAX + 64);
	struct nlmsgerr body = { .error = err, .msg = *to };
	struct nlmsghdr *nlh;

	nlh = msg ? nlmsg_put(msg, 0, to->nlmsg_seq, NLMSG_ERROR, 0, NLM_F_CAPPED) : NULL;
	if (!nlh || nlmsg_append(msg, &body, sizeof(body), NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		c->dead = true;
		return;
	}
	if (text && *text) {
		nlh->nlmsg_flags |= NLM_F_ACK_TLVS;
		nla_put_string(msg, NLMSGERR_ATTR_MSG, text);
	}
	client_send(c, msg);
}

static void send_done(struct client *c, const struct dump *d, int err)
{
	struct nl_msg *msg = nlmsg_alloc();
	int flags = NLM_F_MULTI | (d->changed ? NLM_F_DUMP_INTR : 0);

	if (msg && (!nlmsg_put(msg, 0, d->seq, NLMSG_DONE, 0, flags) ||
		    nlmsg_append(msg, &err, sizeof(err), NLMSG_ALIGNTO) < 0)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	client_send(c, msg);
}

static void run_dump(struct client *c)
{
	while (c->dump.cmd && !c->out && !c->dead) {
		int n = command_part(c);

		if (n <= 0) {
			send_done(c, &c->dump, n);
			c->dump.cmd = 0;
		}
	}
}

/* Sends the queue, then the next parts of a dump, then the report of an overflow. */
static void send_pending(struct client *c)
{
	send_queue(c);
	run_dump(c);
	if (c->overflow && !c->out && !c->dump.cmd && !c->dead)
		send_overflow(c);
	if (c->dead)
		client_free(c);
	else
		set_events(c);
}

/* --- requests ------------------------------------------------------------- */

int req_fail(struct req *r, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->req.why.text, sizeof(r->req.why.text), fmt, ap);
	va_end(ap);
	return err;
}

static int check_header(struct req *r)
{
	const struct genlmsghdr *g = nlmsg_data(r->nlh);

	if (r->nlh->nlmsg_type != TORUS_EMU_FAMILY)
		return req_fail(r, -EOPNOTSUPP, "message type %u, must be %u",
				r->nlh->nlmsg_type, TORUS_EMU_FAMILY);
	if (nlmsg_datalen(r->nlh) < (int)GENL_HDRLEN)
		return req_fail(r, -EINVAL, "the message is too short for its header");
	if (g->version != TORUS_GENL_VERSION)
		return req_fail(r, -EPROTO, "version %u, must be %u", g->version,
				TORUS_GENL_VERSION);
	if (!(r->nlh->nlmsg_flags & NLM_F_REQUEST))
		return req_fail(r, -EINVAL, "NLM_F_REQUEST is not set");
	r->req.cmd = g->cmd;
	return 0;
}

static void handle_request(struct client *c, struct nlmsghdr *nlh)
{
	struct req r = { .emu = c->emu, .client = c, .nlh = nlh };
	bool dump = (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	int err = check_header(&r);

	if (!err && dump && c->dump.cmd)
		err = req_fail(&r, -EBUSY, "another dump is in progress");
	if (!err)
		err = command_run(&r, dump);
	if (err)
		send_ack(c, nlh, err, r.req.why.text);
	else if (!dump && nlh->nlmsg_flags & NLM_F_ACK)
		send_ack(c, nlh, 0, NULL);
}

void client_request(struct client *c, void *data, size_t len)
{
	struct nlmsghdr *nlh = data;
	int left = (int)len;

	for (; nlmsg_ok(nlh, left) && !c->dead; nlh = nlmsg_next(nlh, &left))
		handle_request(c, nlh);
	if (left > 0 && !c->dead) {
		struct nlmsghdr none = { .nlmsg_len = sizeof(none) };

		send_ack(c, &none, -EINVAL, "the datagram does not end with a whole message");
	}
	send_pending(c);
}

static void client_ready(struct watch *w, u32 events)
{
	struct client *c = container_of(w, struct client, watch);
	struct emu *e = c->emu;
	struct iovec iov = { e->chassis->msg, TORUS_MSG_MAX };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (c->out || c->dump.cmd || c->overflow || !(events & EPOLLIN)) {
		if (events & (EPOLLERR | EPOLLHUP))
			c->dead = true;
		send_pending(c);
		return;
	}
	n = recvmsg(w->fd, &mh, MSG_DONTWAIT);
	emu_busy(e, loop_now());
	if (n > 0 && !(mh.msg_flags & MSG_TRUNC)) {
		client_request(c, iov.iov_base, (size_t)n);
		return;
	}
	if (n > 0)
		log_warn(e->soft.hw.name, "a client sent a datagram of more than %d bytes",
			 TORUS_MSG_MAX);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	client_free(c);
}

/* --- clients -------------------------------------------------------------- */

struct client *client_new(struct emu *e, int fd)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c || e->server.nclients >= SERVER_CLIENTS_MAX ||
	    loop_add(e->loop, &c->watch, fd, EPOLLIN, client_ready)) {
		free(c);
		return NULL;
	}
	c->emu = e;
	c->number = ++e->server.numbered;
	c->tail = &c->out;
	c->next = e->server.clients;
	e->server.clients = c;
	e->server.nclients++;
	return c;
}

void client_free(struct client *c)
{
	struct server *s = &c->emu->server;
	struct client **at = &s->clients;
	struct out *o;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	s->nclients--;
	while ((o = c->out)) {
		c->out = o->next;
		free(o);
	}
	loop_del(c->emu->loop, &c->watch);
	free(c);
}

static void server_ready(struct watch *w, u32 events)
{
	struct emu *e = container_of(w, struct emu, server.watch);
	int fd = sock_accept(w->fd);

	(void)events;
	if (fd == -EPERM)
		log_warn(e->soft.hw.name, "refused a client that is not root");
	if (fd == -EMFILE)
		log_warn(e->soft.hw.name, "refused a client: all file descriptors are in use");
	if (fd < 0)
		return;
	if (!client_new(e, fd)) {
		log_warn(e->soft.hw.name, "refused a client: %u are connected, the limit is %d",
			 e->server.nclients, SERVER_CLIENTS_MAX);
		close(fd);
	}
}

/* --- the socket ----------------------------------------------------------- */

int server_open(struct emu *e, const char *path)
{
	struct server *s = &e->server;
	int fd = sock_listen(path), err;

	if (fd < 0)
		return fd;
	err = loop_add(e->loop, &s->watch, fd, EPOLLIN, server_ready);
	if (err) {
		close(fd);
		return err;
	}
	snprintf(s->path, sizeof(s->path), "%s", path);
	return 0;
}

void server_close(struct emu *e)
{
	while (e->server.clients)
		client_free(e->server.clients);
	loop_del(e->loop, &e->server.watch);
	if (e->server.path[0])
		unlink(e->server.path);
	e->server.path[0] = 0;
}
