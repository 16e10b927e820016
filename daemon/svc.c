// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/address.h"
#include "daemon/frame.h"
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/stream.h"
#include "daemon/svc.h"

#define CONNS_MAX	4096
#define STRANGERS_MAX	256		/* connections whose peers are not authenticated yet
					 * ("strangers") */
#define STRANGERS_EACH	(STRANGERS_MAX / 4)	/* most strangers from one address */
#define HANDSHAKE_MAX	(5 * SEC)
#define OUT_MAX		(24u << 20)
#define ACCEPT_PAUSE	SEC		/* pause after accept() had no free descriptor */
#define LINGER_MAX	(2 * SEC)
#define BACKLOG		256
#define NAMED_MAX	4		/* most peers of another release that svc_mixed() lists */

/**
 * struct conn - a connection
 * @schema: the schema that both ends use; 0: not known yet
 * @newest: the newest schema that the peer speaks
 * @name: name of the peer; valid when the connection is up
 */
struct conn {
	struct svc *svc;
	struct conn *next;
	struct stream *stream;
	struct loop_timer *timer;	/* limits the time of authentication, later the time of
					 * sending the rest */
	struct auth_session *session;	/* NULL when the connection is up */
	int id;
	bool outgoing;
	bool up;
	bool closing;
	char addr[FM_ADDR_MAX];
	unsigned int schema, newest;
	char name[TORUS_NAME_MAX + 1];
};

struct svc {
	struct loop *loop;
	const struct svc_ops *ops;
	void *arg;
	const struct auth *auth;
	unsigned int oldest, newest;	/* schemas that this manager speaks */
	struct sockaddr_storage own;
	socklen_t own_len;
	unsigned int user_timeout_ms;
	int fd;
	struct loop_fd *watch;
	struct loop_timer *resume;
	struct conn *conns;
	unsigned int nconns;
	unsigned int nstrangers;
	int last_id;
	struct svc_stats stats;
	struct log_limit limit, mixed_limit;
};

static void conn_free(struct conn *c)
{
	struct conn **p = &c->svc->conns;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	c->svc->nconns--;
	if (c->up)
		c->svc->stats.up--;
	else
		c->svc->nstrangers--;
	loop_timer_free(c->timer);
	stream_free(c->stream);
	free(c->session);
	free(c);
}

static struct conn *conn_find(struct svc *svc, int id)
{
	for (struct conn *c = svc->conns; c; c = c->next)
		if (c->id == id)
			return c->closing ? NULL : c;
	return NULL;
}

/*
 * Ends a connection. If it was opened here or was up, the owner knows the connection, so @down is
 * called.
 */
static void lose_conn(struct conn *c)
{
	struct svc *svc = c->svc;
	bool tell = !c->closing && (c->outgoing || c->up);
	int id = c->id;

	conn_free(c);
	if (tell)
		svc->ops->down(svc->arg, id);
}

static void note_refusal(struct conn *c, uint64_t *counter, const char *why)
{
	struct svc *svc = c->svc;
	uint64_t skipped;

	++*counter;
	svc->stats.refused_at = loop_now();
	snprintf(svc->stats.last_refused, sizeof(svc->stats.last_refused), "%s%s%s: %s",
		 c->addr, c->session && c->session->peer_name[0] ? " " : "",
		 c->session ? c->session->peer_name : "", why);
	if (!log_allowed(&svc->limit, loop_now(), &skipped))
		return;
	log_warning("service", "refused %s (%llu more since the last such line)",
		    svc->stats.last_refused, (unsigned long long)skipped);
}

static void conn_put(struct conn *c, const struct svc_msg *msg)
{
	uint8_t *data;
	size_t len;
	unsigned int schema = c->schema ? c->schema : c->svc->oldest;
	int err = frame_pack(msg, schema, &data, &len);

	if (err) {
		log_error("service", "message '%s' to %s cannot be sent: %s",
			  svc_msg_name(msg), c->addr, strerror(-err));
		return;
	}
	stream_send(c->stream, data, len);
	free(data);
}

static void conn_up(struct conn *c)
{
	struct svc *svc = c->svc;
	uint64_t skipped;

	log_debug("service", "%s %s (%s) is authenticated", c->outgoing ? "to" : "from",
		  c->addr, c->session->peer_name);
	strcpy(c->name, c->session->peer_name);
	free(c->session);
	c->session = NULL;
	c->up = true;
	if (c->newest != svc->newest && log_allowed(&svc->mixed_limit, loop_now(), &skipped))
		log_info("service",
			"'%s' (%s) is of another release: it speaks service schemas up to %u, this "
			"manager up to %u; both use %u (%llu more since the last such line)",
			c->name, c->addr, c->newest, svc->newest, c->schema,
			(unsigned long long)skipped);
	svc->nstrangers--;
	svc->stats.up++;
	loop_timer_set(c->timer, LOOP_NEVER);
	stream_limit(c->stream, FRAME_MAX + 65536, OUT_MAX);
	svc->ops->up(svc->arg, c->id);
}

/*
 * Sends the peer the reason of the refusal. The reason contains only the fabric's name or the word
 * "key".
 */
static ssize_t conn_refuse(struct conn *c)
{
	struct svc_msg m = { .fm = { .type = FM_MSG_REFUSE } };
	bool fabric = strcmp(c->session->peer_fabric, c->svc->auth->fabric) != 0;

	note_refusal(c, fabric ? &c->svc->stats.refused_fabric : &c->svc->stats.refused_key,
		     c->session->text);
	snprintf(m.fm.refuse.text, sizeof(m.fm.refuse.text), "%s", c->session->text);
	conn_put(c, &m);
	return -EACCES;
}

/*
 * Chooses the newest schema that both ends speak, after the peer's first message (schema.h).
 * Return: false if they have no schema in common.
 */
static bool agree_schema(struct conn *c, const struct svc_msg *m)
{
	const struct svc *svc = c->svc;
	unsigned int schema = m->schema;

	c->newest = m->auth.newest ? m->auth.newest : schema;
	if (!c->outgoing)
		schema = c->newest < svc->newest ? c->newest : svc->newest;
	c->schema = schema;
	return schema >= m->schema && schema >= svc->oldest && schema <= svc->newest;
}

/* Refuses the peer, in the schema of the peer's message. */
static ssize_t refuse_schema(struct conn *c, const struct svc_msg *m)
{
	struct svc_msg reply = { .fm = { .type = FM_MSG_REFUSE } };
	char *text = reply.fm.refuse.text;

	snprintf(text, sizeof(reply.fm.refuse.text),
		 "'%s' speaks service schemas %u to %u, '%s' %u to %u: update in smaller steps",
		 m->auth.name, m->schema, c->newest, c->svc->auth->name, c->svc->oldest,
		 c->svc->newest);
	strcpy(c->session->peer_name, m->auth.name);
	note_refusal(c, &c->svc->stats.refused_schema, text);
	c->schema = m->schema;
	conn_put(c, &reply);
	return -EPROTONOSUPPORT;
}

static ssize_t conn_prove(struct conn *c, const struct svc_msg *m)
{
	struct svc_msg reply = { .type = SVC_AUTH };
	enum auth_next next;

	if (m->type == SVC_FM && m->fm.type == FM_MSG_REFUSE && c->outgoing) {
		note_refusal(c, &c->svc->stats.refused_key, m->fm.refuse.text);
		return -EACCES;
	}
	if (m->type != SVC_AUTH) {
		note_refusal(c, &c->svc->stats.refused_malformed,
			     "it sent a message before its authentication");
		return -EPROTO;
	}
	if (!c->schema && !agree_schema(c, m))
		return refuse_schema(c, m);
	next = auth_step(c->session, &m->auth, &reply.auth);
	if (next == AUTH_REFUSED)
		return conn_refuse(c);
	if (next == AUTH_SEND || next == AUTH_LAST)
		conn_put(c, &reply);
	if (next == AUTH_DONE || next == AUTH_LAST)
		conn_up(c);
	return 0;
}

/*
 * Return: true if @m is in the schema on which both ends have agreed, or if they have not agreed
 * yet.
 */
static bool schema_fits(const struct conn *c, const struct svc_msg *m)
{
	return !c->schema || m->schema == c->schema;
}

/* Notes that a peer sent a malformed message; @used: negative if even the frame is malformed. */
static void note_malformed(struct conn *c, const uint8_t *data, ssize_t used, ssize_t err)
{
	char why[128];

	if (used < 0)
		snprintf(why, sizeof(why), "malformed frame of %zu bytes, must have 1 to %zu",
			 frame_length(data), (size_t)(c->up ? FRAME_MAX : FRAME_MAX_STRANGER));
	else
		snprintf(why, sizeof(why), "malformed message: %s",
			 err == -EPROTONOSUPPORT ? "of another schema than agreed" :
			 strerror((int)-err));
	note_refusal(c, &c->svc->stats.refused_malformed, why);
}

static ssize_t on_svc_input(void *arg, const uint8_t *data, size_t len)
{
	struct conn *c = arg;
	const uint8_t *body;
	size_t n;
	struct svc_msg m;
	ssize_t used, err;

	used = frame_next(data, len, c->up ? FRAME_MAX : FRAME_MAX_STRANGER, &body, &n);
	if (!used)
		return 0;
	err = used < 0 ? used : svc_msg_unpack(body, n, &m);
	if (used > 0 && !schema_fits(c, &m)) {
		if (!err)
			svc_msg_clear(&m);
		err = -EPROTONOSUPPORT;
	}
	if (err) {
		note_malformed(c, data, used, err);
		return err;
	}
	if (c->up)
		c->svc->ops->msg(c->svc->arg, c->id, &m);
	else
		err = conn_prove(c, &m);
	svc_msg_clear(&m);
	return err ? err : used;
}

static void on_connected(void *arg)
{
	struct conn *c = arg;
	struct svc_msg m = { .type = SVC_AUTH };

	if (auth_start(c->session, &m.auth))
		return;
	conn_put(c, &m);
}

static void on_svc_closed(void *arg, int err)
{
	struct conn *c = arg;

	if (!c->closing && (c->up || c->outgoing))
		log_debug("service", "connection %s %s ended: %s", c->outgoing ? "to" : "from",
			  c->addr, err ? strerror(-err) : "closed by the peer");
	lose_conn(c);
}

static const struct stream_ops stream_ops = {
	.connected = on_connected,
	.input = on_svc_input,
	.closed = on_svc_closed,
};

static void on_deadline(void *arg)
{
	struct conn *c = arg;

	if (!c->closing)
		log_debug("service", "%s %s did not authenticate itself in time",
			  c->outgoing ? "to" : "from", c->addr);
	lose_conn(c);
}

static void socket_options(const struct svc *svc, int fd)
{
	unsigned int ms = svc->user_timeout_ms;
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
}

/* Makes a connection of the socket @fd; closes it after an error. Return: NULL if out of memory. */
static struct conn *conn_new(struct svc *svc, int fd, bool outgoing,
			     const struct sockaddr_storage *peer)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (!c)
		goto err_close;
	c->session = malloc(sizeof(*c->session));
	c->timer = loop_timer_new(svc->loop, on_deadline, c);
	if (!c->session || !c->timer)
		goto err_free;
	c->stream = stream_new(svc->loop, fd, outgoing, 2 * FRAME_MAX_STRANGER + 4096,
			       8 * FRAME_MAX_STRANGER, &stream_ops, c);
	if (!c->stream)
		goto err_free;
	socket_options(svc, fd);
	address_text(peer, c->addr);
	auth_session_init(c->session, svc->auth, outgoing);
	c->session->newest = svc->newest;
	c->svc = svc;
	c->outgoing = outgoing;
	svc->last_id = svc->last_id == INT32_MAX ? 1 : svc->last_id + 1;
	c->id = svc->last_id;
	c->next = svc->conns;
	svc->conns = c;
	svc->nconns++;
	svc->nstrangers++;
	loop_timer_set(c->timer, loop_now() + HANDSHAKE_MAX);
	return c;

err_free:
	loop_timer_free(c->timer);
	free(c->session);
	free(c);
err_close:
	close(fd);
	return NULL;
}

static bool same_host(const char *a, const char *b)
{
	size_t n = (size_t)(strrchr(a, ':') - a) + 1;

	return !strncmp(a, b, n);
}

/*
 * Return: true if another stranger, a peer that is not authenticated, may connect. Strangers have a
 * limit of their own, so that they cannot keep members of the fabric out. Each address has a limit,
 * too, so that one host cannot keep all other strangers out.
 */
static bool room_for(const struct svc *svc, const struct sockaddr_storage *peer)
{
	unsigned int n = 0;
	char addr[FM_ADDR_MAX];

	if (svc->nconns >= CONNS_MAX || svc->nstrangers >= STRANGERS_MAX)
		return false;
	if (svc->nstrangers < STRANGERS_EACH)
		return true;
	address_text(peer, addr);
	for (const struct conn *c = svc->conns; c; c = c->next)
		n += !c->up && !c->outgoing && same_host(addr, c->addr);
	return n < STRANGERS_EACH;
}

static bool accept_one(struct svc *svc)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	uint64_t skipped;
	int fd;

	fd = accept4(svc->fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
		return true;
	if (fd < 0 && errno != EAGAIN) {
		log_error("service", "accept: %s", strerror(errno));
		loop_fd_set(svc->watch, 0);
		loop_timer_set(svc->resume, loop_now() + ACCEPT_PAUSE);
	}
	if (fd < 0)
		return false;
	if (!room_for(svc, &peer)) {
		svc->stats.refused_busy++;
		if (log_allowed(&svc->limit, loop_now(), &skipped))
			log_warning("service", "too many connections: one is refused");
		close(fd);
		return true;
	}
	conn_new(svc, fd, false, &peer);
	return true;
}

static void on_svc_listen(void *arg, unsigned int what)
{
	struct svc *svc = arg;

	(void)what;
	for (unsigned int i = 0; i < 64 && accept_one(svc); i++)
		;
}

static void on_svc_resume(void *arg)
{
	struct svc *svc = arg;

	loop_fd_set(svc->watch, LOOP_READ);
}

/* Listens. With IP_FREEBIND the address need not exist yet. Return: 0 or a negative errno. */
static int listen_svc(struct svc *svc)
{
	int on = 1;

	svc->fd = socket(svc->own.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (svc->fd < 0)
		return -errno;
	setsockopt(svc->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(svc->fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on));
	if (bind(svc->fd, (struct sockaddr *)&svc->own, svc->own_len) ||
	    listen(svc->fd, BACKLOG))
		return -errno;
	svc->watch = loop_fd_new(svc->loop, svc->fd, LOOP_READ, on_svc_listen, svc);
	svc->resume = loop_timer_new(svc->loop, on_svc_resume, svc);
	return svc->watch && svc->resume ? 0 : -ENOMEM;
}

struct svc *svc_new(struct loop *loop, const struct svc_config *c,
		    const struct svc_ops *ops, void *arg, int *err)
{
	struct svc *svc = calloc(1, sizeof(*svc));

	*err = -ENOMEM;
	if (!svc)
		return NULL;
	svc->loop = loop;
	svc->ops = ops;
	svc->arg = arg;
	svc->auth = c->auth;
	svc->user_timeout_ms = c->user_timeout_ms;
	svc->oldest = c->oldest;
	svc->newest = c->newest;
	svc->limit.every = svc->mixed_limit.every = 10 * SEC;
	svc->fd = -1;
	*err = address_parse(c->address, &svc->own, &svc->own_len);
	if (!*err)
		*err = listen_svc(svc);
	if (!*err)
		return svc;
	svc_free(svc);
	return NULL;
}

void svc_reset(struct svc *svc)
{
	while (svc->conns)
		conn_free(svc->conns);
}

void svc_free(struct svc *svc)
{
	if (!svc)
		return;
	svc_reset(svc);
	loop_fd_free(svc->watch);
	loop_timer_free(svc->resume);
	if (svc->fd >= 0)
		close(svc->fd);
	free(svc);
}

/*
 * Binds the socket to the service address, so that firewalls and logs of the peer see this address.
 */
static int bind_own(const struct svc *svc, int fd)
{
	struct sockaddr_storage a = svc->own;
	int on = 1;

	if (a.ss_family == AF_INET)
		((struct sockaddr_in *)&a)->sin_port = 0;
	else
		((struct sockaddr_in6 *)&a)->sin6_port = 0;
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	return bind(fd, (struct sockaddr *)&a, svc->own_len) ? -errno : 0;
}

int svc_connect(struct svc *svc, const char *addr)
{
	struct sockaddr_storage peer;
	socklen_t len;
	struct conn *c;
	int fd, err;

	if (address_parse(addr, &peer, &len))
		return -EINVAL;
	if (svc->nconns >= CONNS_MAX)
		return -EMFILE;
	fd = socket(peer.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = peer.ss_family == svc->own.ss_family ? bind_own(svc, fd) : -EAFNOSUPPORT;
	if (!err && connect(fd, (struct sockaddr *)&peer, len) && errno != EINPROGRESS &&
	    errno != EINTR)
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	c = conn_new(svc, fd, true, &peer);
	return c ? c->id : -ENOMEM;
}

void svc_send(struct svc *svc, int conn, const struct svc_msg *msg)
{
	struct conn *c = conn_find(svc, conn);

	if (c && c->up && svc_msg_since(msg) <= c->schema)
		conn_put(c, msg);
}

void svc_close(struct svc *svc, int conn)
{
	struct conn *c = conn_find(svc, conn);

	if (!c)
		return;
	if (!c->up) {
		conn_free(c);
		return;
	}
	c->closing = true;
	loop_timer_set(c->timer, loop_now() + LINGER_MAX);
	stream_end(c->stream);
}

void svc_each(struct svc *svc, bool outgoing, void (*fn)(void *arg, int conn), void *arg)
{
	struct conn *next;

	for (struct conn *c = svc->conns; c; c = next) {
		next = c->next;
		if (c->up && !c->closing && c->outgoing == outgoing)
			fn(arg, c->id);
	}
}

unsigned int svc_mixed(const struct svc *svc, char *text, size_t room)
{
	unsigned int n = 0;
	size_t at = 0;

	text[0] = '\0';
	for (const struct conn *c = svc->conns; c; c = c->next) {
		if (!c->up || c->closing || c->newest == svc->newest)
			continue;
		if (n++ < NAMED_MAX && at < room)
			at += (size_t)snprintf(text + at, room - at, "%s'%s' (%s) up to %u",
					       at ? ", " : "", c->name, c->addr, c->newest);
	}
	if (n > NAMED_MAX && at < room)
		snprintf(text + at, room - at, " and %u more", n - NAMED_MAX);
	return n;
}

const struct svc_stats *svc_stats(const struct svc *svc)
{
	return &svc->stats;
}
