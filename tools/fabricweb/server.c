// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Binds requests (request.c) to evhttp, the manager (control.c) and the events (feed.c).
 *
 * While a request is answered, evhttp does not read from the connection, so a client that
 * leaves then is noticed when the answer is sent; the request stays valid until then. A stream of
 * events reads on, so that a client that leaves is noticed at once; what such a client sends
 * is not wanted and bounded by the watermark.
 */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "control.h"
#include "feed.h"
#include "files.h"
#include "limit.h"
#include "reply.h"
#include "request.h"
#include "server.h"
#include "tls.h"
#include "users.h"
#include "lib/util/clock.h"

#define HEADERS_MAX	8192
#define IDLE_S		60		/* a connection without progress */
#define SWEEP_S		5
#define INPUT_MAX	(64u << 10)	/* bytes that a client may send ahead */
#define STREAM_MAX	(512u << 10)	/* bytes of events that a slow client may leave in its queue */
#define BACKLOG		128

struct server {
	struct event_base *base;
	const struct conf *conf;
	struct evhttp *http;
	struct control *control;
	struct feed *feed;
	struct tls *tls;
	struct users *users;
	struct event *sweep;
	struct limit limit;
	bool ends;
};

/**
 * struct visit - a request whose answer takes time
 * @rq: the request of evhttp
 * @name: the user, "" if there are no users
 * @from: the address of the client
 * @reader: the events that it gets
 */
struct visit {
	struct server *server;
	struct evhttp_request *rq;
	struct web_plan plan;
	char name[USERS_NAME_MAX + 1], from[64];
	struct feed_reader *reader;
};

__attribute__((format(printf, 1, 2)))
static void log_line(const char *fmt, ...)
{
	va_list ap;

	fputs("fabricweb: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* --- answers ------------------------------------------------------------------------------ */

static void add_header(struct evhttp_request *rq, const char *name, const char *value)
{
	evhttp_add_header(evhttp_request_get_output_headers(rq), name, value);
}

static const char *reason_of(int status)
{
	switch (status) {
	case 200: return "OK";
	case 400: return "Bad Request";
	case 401: return "Unauthorized";
	case 403: return "Forbidden";
	case 404: return "Not Found";
	case 405: return "Method Not Allowed";
	case 409: return "Conflict";
	case 414: return "URI Too Long";
	case 415: return "Unsupported Media Type";
	case 429: return "Too Many Requests";
	case 502: return "Bad Gateway";
	case 503: return "Service Unavailable";
	case 504: return "Gateway Timeout";
	}
	return "Internal Server Error";
}

/* Sends an answer, which may have no text. */
static void send_answer(struct evhttp_request *rq, int status, const char *type, const void *text,
			size_t len)
{
	struct evbuffer *body = evbuffer_new();

	add_header(rq, "Content-Type", type);
	add_header(rq, "X-Content-Type-Options", "nosniff");
	add_header(rq, "Referrer-Policy", "no-referrer");
	if (!evhttp_find_header(evhttp_request_get_output_headers(rq), "Cache-Control"))
		add_header(rq, "Cache-Control", "no-store");
	if (body)
		evbuffer_add(body, text, len);
	evhttp_send_reply(rq, body ? status : 500, reason_of(status), body);
	if (body)
		evbuffer_free(body);
}

static void send_failure(struct evhttp_request *rq, int status, const char *code, const char *text)
{
	char *body = web_error_body(code, text);

	if (body)
		send_answer(rq, status, "application/json", body, strlen(body));
	else
		send_answer(rq, 500, "text/plain", "", 0);
	free(body);
}

static void free_visit(struct visit *v)
{
	web_plan_free(&v->plan);
	free(v);
}

/* Sends the data of a reply; with ?full=1 also what stands beside it, as fabricctl --json=full. */
static void send_data(struct visit *v, const struct reply *r)
{
	struct evbuffer *buf = v->plan.full ? evbuffer_new() : NULL;

	if (!buf) {
		send_answer(v->rq, 200, "application/json", r->data.at, r->data.len);
		return;
	}
	evbuffer_add_printf(buf, "{\"data\":");
	evbuffer_add(buf, r->data.at, r->data.len);
	evbuffer_add_printf(buf, ",\"missing\":%.*s,\"rootless\":%.*s}",
			    r->missing.len ? (int)r->missing.len : 2,
			    r->missing.len ? r->missing.at : "[]",
			    r->rootless.len ? (int)r->rootless.len : 4,
			    r->rootless.len ? r->rootless.at : "null");
	send_answer(v->rq, 200, "application/json", evbuffer_pullup(buf, -1), evbuffer_get_length(buf));
	evbuffer_free(buf);
}

static void send_metrics(struct visit *v, const struct reply *r)
{
	json_t *data = json_loadb(r->data.at, r->data.len, 0, NULL);
	json_t *families = data ? metrics_families(data) : NULL;
	bool json = v->plan.kind == WEB_FAMILIES;
	char *text = !families ? NULL : json ? json_dumps(families, JSON_COMPACT) :
		     metrics_text(families, v->plan.format);

	if (text)
		send_answer(v->rq, 200, json ? "application/json" : metrics_type(v->plan.format), text,
			    strlen(text));
	else
		send_failure(v->rq, 502, "failed", "the manager's answer cannot be read");
	free(text);
	json_decref(families);
	json_decref(data);
}

/* --- what the manager answers --------------------------------------------------------------- */

static void audit_change(const struct visit *v, const char *result)
{
	log_line("change by '%s' from %s: %s: %s", v->name, v->from, v->plan.ask, result);
}

static void answer_visit(void *arg, const char *text, size_t len, const char *code)
{
	static const char *const said[] = {
		"the manager does not answer in time", "there is no manager at the control socket",
		"too many requests wait for the manager, or its answer is too long",
	};
	struct visit *v = arg;
	struct reply r;
	char buf[32];

	if (!text) {
		const char *why = !strcmp(code, "timeout") ? said[0] :
				  !strcmp(code, "unreachable") ? said[1] : said[2];

		if (v->plan.change)
			audit_change(v, why);
		send_failure(v->rq, strcmp(code, "timeout") ? 503 : 504, code, why);
	} else if (!reply_find(text, len, &r)) {
		if (v->plan.change)
			audit_change(v, "the manager's answer cannot be read");
		send_failure(v->rq, 502, "failed", "the manager's answer cannot be read");
	} else if (!r.ok) {
		if (v->plan.change)
			audit_change(v, reply_code(&r, buf, sizeof(buf)));
		send_answer(v->rq, web_status_of_code(reply_code(&r, buf, sizeof(buf))),
			    "application/json", text, len);
	} else if (v->plan.kind == WEB_ASK) {
		if (v->plan.change)
			audit_change(v, "done");
		send_data(v, &r);
	} else {
		send_metrics(v, &r);
	}
	free_visit(v);
}

/* --- events --------------------------------------------------------------------------------- */

static void stream_events(void *arg, struct evbuffer *text)
{
	struct visit *v = arg;
	struct evhttp_connection *conn = evhttp_request_get_connection(v->rq);
	struct bufferevent *bev = conn ? evhttp_connection_get_bufferevent(conn) : NULL;

	if (bev && evbuffer_get_length(bufferevent_get_output(bev)) > STREAM_MAX)
		shutdown(bufferevent_getfd(bev), SHUT_RDWR);
	else if (bev)
		evhttp_send_reply_chunk(v->rq, text);
	evbuffer_drain(text, evbuffer_get_length(text));
}

/* The request has no connection any more, so ending its answer only frees it. */
static void on_stream_close(struct evhttp_connection *conn, void *arg)
{
	struct visit *v = arg;

	(void)conn;
	if (v->reader)
		feed_leave(v->reader);
	if (!v->server->ends)
		evhttp_send_reply_end(v->rq);
	free_visit(v);
}

static void start_stream(struct visit *v)
{
	static const struct timeval write_max = { IDLE_S, 0 };
	struct evhttp_connection *conn = evhttp_request_get_connection(v->rq);
	struct bufferevent *bev = evhttp_connection_get_bufferevent(conn);

	add_header(v->rq, "Content-Type", "text/event-stream");
	add_header(v->rq, "Cache-Control", "no-store");
	add_header(v->rq, "X-Content-Type-Options", "nosniff");
	if (evhttp_request_get_command(v->rq) == EVHTTP_REQ_HEAD) {
		evhttp_send_reply(v->rq, 200, "OK", NULL);
		free_visit(v);
		return;
	}
	limit_touch(&v->server->limit, bufferevent_getfd(bev), seconds_now(), true);
	evhttp_connection_set_closecb(conn, on_stream_close, v);
	evhttp_send_reply_start(v->rq, 200, "OK");
	bufferevent_set_timeouts(bev, NULL, &write_max);
	v->reader = feed_join(v->server->feed, v->plan.text, stream_events, v);
	if (!v->reader)
		shutdown(bufferevent_getfd(bev), SHUT_RDWR);
}

/* --- requests ------------------------------------------------------------------------------- */

static void send_file(struct evhttp_request *rq, const char *name)
{
	const struct web_file *file = files_find(name);

	if (!file) {
		send_failure(rq, 404, "usage", "there is no such file");
		return;
	}
	add_header(rq, "Content-Security-Policy",
		   "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
		   "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
	add_header(rq, "Cache-Control", "no-cache");
	send_answer(rq, 200, file->type, file->start, (size_t)(file->end - file->start));
}

static void carry_out(struct visit *v)
{
	struct web_plan *plan = &v->plan;

	switch (plan->kind) {
	case WEB_REFUSE:
		if (plan->allow)
			add_header(v->rq, "Allow", plan->allow);
		send_failure(v->rq, plan->status, "usage", plan->text);
		break;
	case WEB_FILE:
		send_file(v->rq, plan->text);
		break;
	case WEB_EVENTS:
		start_stream(v);
		return;
	case WEB_METRICS:
	case WEB_FAMILIES:
	case WEB_ASK:
		control_ask(v->server->control, plan->ask, plan->change, answer_visit, v);
		return;
	}
	free_visit(v);
}

/* Return: true if the client may have what the plan says; else it has got its answer. */
static bool is_allowed(struct visit *v, const char *authorization)
{
	struct server *s = v->server;
	enum users_role role = USERS_READ;

	if (s->users)
		role = users_check(s->users, authorization, seconds_now(), v->name);
	if (role == USERS_BUSY) {
		send_failure(v->rq, 429, "failed", "too many wrong passwords: try again later");
		return false;
	}
	if (role == USERS_NOBODY) {
		add_header(v->rq, "WWW-Authenticate", "Basic realm=\"torus\", charset=\"UTF-8\"");
		send_failure(v->rq, 401, "denied", "a name and a password, or a token, are needed");
		return false;
	}
	if (v->plan.change && !s->conf->allow_changes) {
		send_failure(v->rq, 403, "denied", "changes are not allowed here: fabricweb.conf(5)");
		return false;
	}
	if (v->plan.change && role != USERS_CHANGE) {
		send_failure(v->rq, 403, "denied", "this user may only look");
		return false;
	}
	return true;
}

static enum web_method method_of(struct evhttp_request *rq)
{
	switch (evhttp_request_get_command(rq)) {
	case EVHTTP_REQ_GET:
		return WEB_GET;
	case EVHTTP_REQ_HEAD:
		return WEB_HEAD;
	case EVHTTP_REQ_POST:
		return WEB_POST;
	default:
		return WEB_OTHER;
	}
}

/*
 * evhttp takes what follows a HEAD for the next request, even if its headers tell of a body; of two
 * Content-Length it takes the first one, a sign before it is fine, and with a blank before the colon
 * it is none; and a Transfer-Encoding that it does not know has no body. A proxy may read these
 * otherwise, and then one of its clients writes the beginning of another one's request.
 *
 * Return: true if it is beyond doubt where the request ends.
 */
static bool has_clear_end(struct evhttp_request *rq)
{
	bool is_head = evhttp_request_get_command(rq) == EVHTTP_REQ_HEAD;
	unsigned int lengths = 0;
	struct evkeyval *h;

	TAILQ_FOREACH(h, evhttp_request_get_input_headers(rq), next) {
		if (h->key[strcspn(h->key, " \t")] ||
		    (!evutil_ascii_strcasecmp(h->key, "Transfer-Encoding") &&
		     (is_head || evutil_ascii_strcasecmp(h->value, "chunked"))))
			return false;
		if (!evutil_ascii_strcasecmp(h->key, "Content-Length") &&
		    (lengths++ || h->value[strspn(h->value, is_head ? "0" : "0123456789")]))
			return false;
	}
	return true;
}

static void on_request(struct evhttp_request *rq, void *arg)
{
	struct evkeyvalq *headers = evhttp_request_get_input_headers(rq);
	struct evhttp_connection *conn = evhttp_request_get_connection(rq);
	struct evbuffer *body = evhttp_request_get_input_buffer(rq);
	struct visit *v = calloc(1, sizeof(*v));
	char *from = NULL;
	ev_uint16_t port;
	struct web_request w = {
		.method = method_of(rq),
		.uri = evhttp_request_get_uri(rq),
		.accept = evhttp_find_header(headers, "Accept"),
		.content_type = evhttp_find_header(headers, "Content-Type"),
		.origin = evhttp_find_header(headers, "Origin"),
		.host = evhttp_find_header(headers, "Host"),
		.last_event_id = evhttp_find_header(headers, "Last-Event-ID"),
		.body = (const char *)evbuffer_pullup(body, -1),
		.body_len = evbuffer_get_length(body),
	};

	if (!v) {
		send_failure(rq, 500, "failed", "out of memory");
		return;
	}
	if (!has_clear_end(rq)) {
		add_header(rq, "Connection", "close");
		send_failure(rq, 400, "usage", "it is not clear where the request ends");
		free(v);
		return;
	}
	v->server = arg;
	v->rq = rq;
	evhttp_connection_get_peer(conn, &from, &port);
	snprintf(v->from, sizeof(v->from), "%s", from ? from : "?");
	web_plan_make(&w, &v->plan);
	if (!is_allowed(v, evhttp_find_header(headers, "Authorization"))) {
		free_visit(v);
		return;
	}
	/* A client that is refused counts as one that has not asked, and gives way to others. */
	limit_touch(&v->server->limit, bufferevent_getfd(evhttp_connection_get_bufferevent(conn)),
		    seconds_now(), false);
	carry_out(v);
}

/* --- connections ---------------------------------------------------------------------------- */

struct accepted {
	struct server *server;
	struct bufferevent *bev;
};

/* Called in the same round of the loop as make_connection(), before anything is read. */
static void on_accepted(evutil_socket_t none, short what, void *arg)
{
	static const char full[] = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
				   "Content-Length: 0\r\nRetry-After: 5\r\n\r\n";
	struct accepted *a = arg;
	int fd = bufferevent_getfd(a->bev);

	(void)none;
	(void)what;
	if (!limit_add(&a->server->limit, fd, seconds_now())) {
		if (!a->server->tls && send(fd, full, sizeof(full) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
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
	limit_sweep(&s->limit, seconds_now());
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
	const struct conf *conf = s->conf;
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

static bool start_http(struct server *s)
{
	static const struct timeval sweep = { SWEEP_S, 0 };

	s->http = evhttp_new(s->base);
	s->control = control_new(s->base, s->conf->control);
	s->feed = feed_new(s->base, s->conf->control);
	s->sweep = event_new(s->base, -1, EV_PERSIST, on_sweep, s);
	if (!s->http || !s->control || !s->feed || !s->sweep || event_add(s->sweep, &sweep)) {
		log_line("out of memory");
		return false;
	}
	evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST);
	evhttp_set_max_headers_size(s->http, HEADERS_MAX);
	evhttp_set_max_body_size(s->http, WEB_BODY_MAX);
	evhttp_set_timeout(s->http, IDLE_S);
	evhttp_set_bevcb(s->http, make_connection, s);
	evhttp_set_gencb(s->http, on_request, s);
	return s->conf->check || listen_there(s);
}

struct server *server_new(struct event_base *base, const struct conf *conf)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->base = base;
	s->conf = conf;
	if (!load_files(conf, &s->tls, &s->users) || !start_http(s)) {
		server_free(s);
		return NULL;
	}
	if (conf->check)
		return s;
	if (conf_is_open(conf) && !s->tls)
		log_line("warning: %s is open to other machines without TLS", conf->listen);
	log_line("serving %s at http%s://%s/, changes %s", conf->control, s->tls ? "s" : "", conf->listen,
		 conf->allow_changes ? "allowed" : "not allowed");
	return s;
}

void server_reload(struct server *s)
{
	struct users *users;
	struct tls *tls;

	if (!load_files(s->conf, &tls, &users)) {
		log_line("the certificate and the users stay as they were");
		return;
	}
	tls_free(s->tls);
	users_free(s->users);
	s->tls = tls;
	s->users = users;
	log_line("the certificate and the users were read again");
}

void server_free(struct server *s)
{
	if (s->control)
		control_free(s->control);
	s->ends = true;
	if (s->http)
		evhttp_free(s->http);
	if (s->feed)
		feed_free(s->feed);
	if (s->sweep)
		event_free(s->sweep);
	tls_free(s->tls);
	users_free(s->users);
	free(s);
}
