// SPDX-License-Identifier: GPL-2.0-or-later
/* Listens, counts connections, and reads the files of users and certificates. */
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "control.h"
#include "feed.h"
#include "hasher.h"
#include "logline.h"
#include "request.h"
#include "server.h"
#include "tls.h"
#include "users.h"
#include "visit.h"
#include "lib/util/clock.h"

#define HEADERS_MAX	8192
/* a connection without progress is closed after this time, seconds */
#define IDLE_S		60
#define SWEEP_S		5
#define INPUT_MAX	(64u << 10)	/* most bytes that a client may send ahead */
#define BACKLOG		128

struct server {
	struct event_base *base;
	struct evhttp *http;
	struct tls *tls;
	struct event *sweep;
	struct site site;
};

/* --- connections ---------------------------------------------------------------------------- */

struct accepted {
	struct server *server;
	struct bufferevent *bev;
};

static bool count_connection(struct server *s, int fd)
{
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);
	struct source from;

	getpeername(fd, (struct sockaddr *)&address, &len);
	from = source_of_address((const struct sockaddr *)&address);
	return limit_add(&s->site.limit, fd, &from, seconds_now());
}

/* Called in the same round of the loop as make_connection(), before anything is read. */
static void on_accepted(evutil_socket_t none, short what, void *arg)
{
	static const char full[] = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
				   "Content-Length: 0\r\nRetry-After: 5\r\n\r\n";
	struct accepted *a = arg;
	int fd = bufferevent_getfd(a->bev);

	(void)none;
	(void)what;
	if (!count_connection(a->server, fd)) {
		if (!a->server->tls &&
		    send(fd, full, sizeof(full) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			log_line("cannot refuse a connection");
		shutdown(fd, SHUT_RDWR);
	}
	free(a);
}

static struct bufferevent *make_connection(struct event_base *base, void *arg)
{
	static const struct timeval at_once;
	struct server *s = arg;
	struct accepted *a = malloc(sizeof(*a));
	struct bufferevent *bev = s->tls ? tls_accept(s->tls, base) :
				  bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);

	if (!a || !bev || event_base_once(base, -1, EV_TIMEOUT, on_accepted, a, &at_once)) {
		free(a);
		return bev;
	}
	*a = (struct accepted){ s, bev };
	bufferevent_setwatermark(bev, EV_READ, 0, INPUT_MAX);
	return bev;
}

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;

	(void)fd;
	(void)what;
	limit_sweep(&s->site.limit, seconds_now());
}

/* --- the server ----------------------------------------------------------------------------- */

static bool load_files(const struct conf *conf, struct tls **tls, struct users **users)
{
	char why[512];

	*tls = NULL;
	*users = NULL;
	if (*conf->tls_cert) {
		*tls = tls_load(conf->tls_cert, conf->tls_key, why, sizeof(why));
		if (!*tls) {
			log_line("%s", why);
			return false;
		}
	}
	if (*conf->users) {
		*users = users_load(conf->users, why, sizeof(why));
		if (!*users) {
			log_line("%s", why);
			tls_free(*tls);
			return false;
		}
	}
	return true;
}

static bool listen_there(struct server *s)
{
	const struct conf *conf = s->site.conf;
	struct evconnlistener *l = evconnlistener_new_bind(s->base, NULL, NULL,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE, BACKLOG,
		(const struct sockaddr *)&conf->address, conf->address_len);

	if (!l) {
		log_line("cannot listen at %s: %s", conf->listen,
			 evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
		return false;
	}
	if (evhttp_bind_listener(s->http, l))
		return true;
	evconnlistener_free(l);
	return false;
}

static bool shed_unread(void *arg, const struct source *from, size_t bytes)
{
	struct site *site = arg;

	return limit_shed(&site->limit, from, bytes);
}

static bool start_http(struct server *s)
{
	static const struct timeval sweep = { SWEEP_S, 0 };

	s->http = evhttp_new(s->base);
	s->site.control = control_new(s->base, s->site.conf->control, shed_unread, &s->site);
	s->site.feed = feed_new(s->base, s->site.conf->control);
	s->site.hasher = s->site.users ? hasher_new(s->base) : NULL;
	s->sweep = event_new(s->base, -1, EV_PERSIST, on_sweep, s);
	if (!s->http || !s->site.control || !s->site.feed || !s->sweep ||
	    event_add(s->sweep, &sweep) || (s->site.users && !s->site.hasher)) {
		log_line("out of memory");
		return false;
	}
	/*
	 * evhttp refuses other methods itself; after CONNECT this must end the connection: http.c
	 */
	evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST |
				   EVHTTP_REQ_CONNECT);
	evhttp_set_max_headers_size(s->http, HEADERS_MAX);
	evhttp_set_max_body_size(s->http, WEB_BODY_MAX);
	evhttp_set_timeout(s->http, IDLE_S);
	evhttp_set_bevcb(s->http, make_connection, s);
	evhttp_set_gencb(s->http, visit_begin, &s->site);
	return s->site.conf->check || listen_there(s);
}

struct server *server_new(struct event_base *base, const struct conf *conf)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->base = base;
	s->site.conf = conf;
	LIST_INIT(&s->site.streams);
	if (!load_files(conf, &s->tls, &s->site.users) || !start_http(s)) {
		server_free(s);
		return NULL;
	}
	if (conf->check)
		return s;
	if (conf_is_open(conf) && !s->tls)
		log_line("warning: %s is open to other machines without TLS", conf->listen);
	log_line("serving %s at http%s://%s/, changes %s", conf->control, s->tls ? "s" : "",
		 conf->listen, conf->allow_changes ? "allowed" : "not allowed");
	return s;
}

void server_reload(struct server *s)
{
	struct users *users, *old = s->site.users;
	struct tls *tls;

	if (!load_files(s->site.conf, &tls, &users)) {
		log_line("the certificate and the users stay as they were");
		return;
	}
	tls_free(s->tls);
	s->tls = tls;
	s->site.users = users;
	visit_recheck(&s->site, old);
	users_free(old);
	log_line("the certificate and the users were read again");
}

void server_free(struct server *s)
{
	s->site.ends = true;
	if (s->site.hasher)
		hasher_free(s->site.hasher);
	if (s->site.control)
		control_free(s->site.control);
	if (s->http)
		evhttp_free(s->http);
	if (s->site.feed)
		feed_free(s->site.feed);
	if (s->sweep)
		event_free(s->sweep);
	tls_free(s->tls);
	users_free(s->site.users);
	free(s);
}
