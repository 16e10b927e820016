// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A visit is a request until it is answered. While that takes, evhttp does not read from the
 * connection, so a client that leaves then is noticed when the answer is sent; the request stays
 * valid until then. A stream of events reads on, so that a client that leaves is noticed at once;
 * what such a client sends is not wanted and bounded by the watermark (server.c).
 */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "arena.h"
#include "body.h"
#include "control.h"
#include "feed.h"
#include "files.h"
#include "hasher.h"
#include "http.h"
#include "logline.h"
#include "reply.h"
#include "users.h"
#include "visit.h"
#include "lib/util/clock.h"

/* a stream that the client does not read ends after this time, seconds */
#define IDLE_S		60
#define STREAM_MAX	(512u << 10)	/* most bytes of events that wait for a slow client */
/* longest answer of the manager from which metrics are made */
#define METRICS_MAX	(2u << 20)

/** @name: the user, "" if there are no users */
struct visit {
	LIST_ENTRY(visit) entry;
	struct site *site;
	struct evhttp_request *rq;
	struct web_plan plan;
	char name[USERS_NAME_MAX + 1], from[SOURCE_TEXT_MAX];
	struct source source;
	bool may_change;
	struct feed_reader *reader;
};

static void free_visit(struct visit *v)
{
	web_plan_free(&v->plan);
	free(v);
}

/* --- answers ------------------------------------------------------------------------------ */

/* Sends an answer. The client may read it slowly, within limits. */
static void send_text(struct visit *v, const char *type, struct evbuffer *text)
{
	limit_answer(&v->site->limit, http_descriptor(v->rq), seconds_now(),
		     text ? evbuffer_get_length(text) : 0);
	http_send(v->rq, 200, type, text);
	if (text)
		evbuffer_free(text);
}

static void add_part(struct evbuffer *buf, struct body *body, const struct part *part,
		     const char *otherwise)
{
	if (part->len)
		body_add(buf, body, part->at, part->len);
	else
		evbuffer_add(buf, otherwise, strlen(otherwise));
}

/*
 * Sends the data of a reply; with ?full=1, also the members beside it, as fabricctl --json=full
 * does.
 */
static void send_data(struct visit *v, struct body *body, const struct reply *r)
{
	struct evbuffer *buf = evbuffer_new();

	if (buf && v->plan.full) {
		evbuffer_add_printf(buf, "{\"data\":");
		add_part(buf, body, &r->data, "null");
		evbuffer_add_printf(buf, ",\"missing\":");
		add_part(buf, body, &r->missing, "[]");
		evbuffer_add_printf(buf, ",\"rootless\":");
		add_part(buf, body, &r->rootless, "null");
		evbuffer_add_printf(buf, "}");
	} else if (buf) {
		add_part(buf, body, &r->data, "");
	}
	send_text(v, "application/json", buf);
}

/* Return: the text of the metrics, from malloc(); NULL if the answer cannot be read. */
static char *make_metrics(const struct web_plan *plan, const struct part *answer)
{
	json_t *data, *families = NULL;
	char *text = NULL;

	arena_enter();
	data = answer->len < METRICS_MAX ? json_loadb(answer->at, answer->len, 0, NULL) : NULL;
	if (data && plan->kind == WEB_METRICS) {
		text = metrics_text(data, plan->format);
	} else if (data) {
		families = metrics_families(data);
		text = json_dumps(families, JSON_COMPACT);
		text = text ? strdup(text) : NULL;
	}
	arena_leave();
	return text;
}

static void send_metrics(struct visit *v, const struct reply *r)
{
	bool json = v->plan.kind == WEB_FAMILIES;
	char *text = make_metrics(&v->plan, &r->data);
	struct body *body = text ? body_new(text, strlen(text)) : NULL;
	struct evbuffer *buf = evbuffer_new();

	if (!text) {
		http_send_failure(v->rq, 502, "failed", "the manager's answer cannot be read");
		if (buf)
			evbuffer_free(buf);
	} else {
		if (buf && body)
			body_add(buf, body, body->at, body->len);
		send_text(v, json ? "application/json" : metrics_type(v->plan.format), buf);
	}
	if (body)
		body_drop(body);
}

/* --- what the manager answers --------------------------------------------------------------- */

static void audit_change(const struct visit *v, const char *result)
{
	if (v->plan.change)
		log_line("change by '%s' from %s: %s: %s", v->name, v->from, result, v->plan.ask);
}

static void answer_without(struct visit *v, const char *code)
{
	static const struct {
		const char *code, *text;
		int status;
	} why[] = {
		{ "timeout", "the manager does not answer in time", 504 },
		{ "unreachable", "there is no manager at the control socket", 503 },
		{ "unread", "this address has not read megabytes of other answers yet", 503 },
		{ "failed", "too many requests wait for the manager, or its answer is too long",
		  503 },
	};
	unsigned int i = 0;

	while (i < sizeof(why) / sizeof(why[0]) - 1 && strcmp(code, why[i].code))
		i++;
	audit_change(v, why[i].text);
	http_send_failure(v->rq, why[i].status, strcmp(code, "unread") ? code : "failed",
			  why[i].text);
}

static void answer_refusal(struct visit *v, struct body *body, const struct reply *r)
{
	struct evbuffer *buf = evbuffer_new();
	char code[32];

	audit_change(v, reply_code(r, code, sizeof(code)));
	if (buf)
		body_add(buf, body, body->at, body->len);
	http_send(v->rq, web_status_of_code(reply_code(r, code, sizeof(code))),
		  "application/json", buf);
	if (buf)
		evbuffer_free(buf);
}

static void answer_visit(void *arg, struct body *body, const char *code)
{
	struct visit *v = arg;
	struct reply r;

	if (!body) {
		answer_without(v, code);
	} else if (!reply_find(body->at, body->len, &r)) {
		audit_change(v, "the manager's answer cannot be read");
		http_send_failure(v->rq, 502, "failed", "the manager's answer cannot be read");
	} else if (!r.ok) {
		answer_refusal(v, body, &r);
	} else if (v->plan.kind == WEB_ASK) {
		audit_change(v, "done");
		send_data(v, body, &r);
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
	LIST_REMOVE(v, entry);
	if (v->reader)
		feed_leave(v->reader);
	if (!v->site->ends)
		evhttp_send_reply_end(v->rq);
	free_visit(v);
}

static void start_stream(struct visit *v)
{
	static const struct timeval write_max = { IDLE_S, 0 };
	struct evhttp_connection *conn = evhttp_request_get_connection(v->rq);
	struct bufferevent *bev = evhttp_connection_get_bufferevent(conn);

	http_add_header(v->rq, "Content-Type", "text/event-stream");
	http_add_header(v->rq, "Cache-Control", "no-store");
	http_add_header(v->rq, "X-Content-Type-Options", "nosniff");
	if (evhttp_request_get_command(v->rq) == EVHTTP_REQ_HEAD) {
		evhttp_send_reply(v->rq, 200, "OK", NULL);
		free_visit(v);
		return;
	}
	limit_stream(&v->site->limit, bufferevent_getfd(bev), seconds_now());
	LIST_INSERT_HEAD(&v->site->streams, v, entry);
	evhttp_connection_set_closecb(conn, on_stream_close, v);
	evhttp_send_reply_start(v->rq, 200, "OK");
	bufferevent_set_timeouts(bev, NULL, &write_max);
	v->reader = feed_join(v->site->feed, v->plan.text, stream_events, v);
	if (!v->reader)
		shutdown(bufferevent_getfd(bev), SHUT_RDWR);
}

void visit_recheck(struct site *site, struct users *old)
{
	struct visit *v;

	LIST_FOREACH(v, &site->streams, entry) {
		if (old && site->users && !users_agree(old, site->users, v->name)) {
			log_line("the events of '%s' at %s end: the user has changed", v->name,
				 v->from);
			shutdown(http_descriptor(v->rq), SHUT_RDWR);
		}
	}
}

/* --- requests that are let in --------------------------------------------------------------- */

static void send_file(struct visit *v)
{
	const struct web_file *file = files_find(v->plan.text);
	struct evhttp_request *rq = v->rq;
	struct evbuffer *buf;

	if (!file) {
		http_send_failure(rq, 404, "usage", "there is no such file");
		return;
	}
	buf = evbuffer_new();
	http_add_header(rq, "Content-Security-Policy",
		   "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
		   "img-src 'self' data:; base-uri 'none'; form-action 'none'; "
		   "frame-ancestors 'none'");
	http_add_header(rq, "Cache-Control", "no-cache");
	if (buf)
		evbuffer_add_reference(buf, file->start, (size_t)(file->end - file->start), NULL,
				       NULL);
	send_text(v, file->type, buf);
}

static void send_user(struct visit *v)
{
	struct evbuffer *buf = evbuffer_new();

	if (buf)	/* names contain no character that JSON escapes (users.c) */
		evbuffer_add_printf(buf, "{\"user\":%s%s%s,\"changes\":%s}", *v->name ? "\"" : "",
				    *v->name ? v->name : "null", *v->name ? "\"" : "",
				    v->may_change ? "true" : "false");
	send_text(v, "application/json", buf);
}

/* Logs that a change was refused, at most as often as the limit for each client allows. */
static void log_refusal(struct visit *v, const char *why)
{
	const struct web_plan *plan = &v->plan;

	if (plan->change && plan->status != 405 &&
	    tries_take(&v->site->logged, &v->source, seconds_now()))
		log_line("change by '%s' from %s is refused: %s: %s", v->name, v->from, why,
			 plan->ask ? plan->ask : "-");
}

static void carry_out(struct visit *v)
{
	struct web_plan *plan = &v->plan;

	switch (plan->kind) {
	case WEB_REFUSE:
		log_refusal(v, plan->text);
		if (plan->allow)
			http_add_header(v->rq, "Allow", plan->allow);
		http_send_failure(v->rq, plan->status, "usage", plan->text);
		break;
	case WEB_FILE:
		send_file(v);
		break;
	case WEB_EVENTS:
		start_stream(v);
		return;
	case WEB_USER:
		send_user(v);
		break;
	case WEB_METRICS:
	case WEB_FAMILIES:
	case WEB_ASK:
		control_ask(v->site->control, plan->ask, plan->change, &v->source, answer_visit, v);
		return;
	}
	free_visit(v);
}

/* --- who may do what -------------------------------------------------------------------------- */

static void refuse_visit(struct visit *v, int status, const char *text)
{
	log_refusal(v, text);
	http_send_failure(v->rq, status, status == 429 ? "failed" : "denied", text);
	free_visit(v);
}

static void let_in(struct visit *v, enum users_role role)
{
	v->may_change = role == USERS_CHANGE && v->site->conf->allow_changes;
	if (role == USERS_NOBODY) {
		http_add_header(v->rq, "WWW-Authenticate",
				"Basic realm=\"torus\", charset=\"UTF-8\"");
		refuse_visit(v, 401, "a name and a password, or a token, are needed");
	} else if (v->plan.change && !v->site->conf->allow_changes) {
		refuse_visit(v, 403, "changes are not allowed here: fabricweb.conf(5)");
	} else if (v->plan.change && role != USERS_CHANGE) {
		refuse_visit(v, 403, "this user may only look");
	} else {
		/* Refused clients count as clients without a request and make room for others. */
		limit_ask(&v->site->limit, http_descriptor(v->rq), seconds_now());
		carry_out(v);
	}
}

static void on_hashed(void *arg, const struct users_try *try, enum hasher_result result)
{
	enum users_role role = USERS_NOBODY;
	struct visit *v = arg;

	if (result == HASHER_LEFT) {
		refuse_visit(v, 429, "too many passwords wait: try again later");
		return;
	}
	if (result == HASHER_RIGHT)
		role = users_accept(v->site->users, try, v->name);
	if (result == HASHER_RIGHT && role == USERS_NOBODY)
		log_line("the password of '%s' from %s was right until the users were read again",
			 try->name, v->from);
	else if (result == HASHER_WRONG)
		log_line("wrong password for %s%s%s from %s",
			 *try->name ? "'" : "an unknown user", try->name,
			 *try->name ? "'" : "", v->from);
	let_in(v, role);
}

static void try_password(struct visit *v, struct users_try *try)
{
	if (!tries_take(&v->site->passwords, &v->source, seconds_now()) ||
	    !hasher_add(v->site->hasher, try, &v->source, on_hashed, v))
		refuse_visit(v, 429,
			     "too many passwords were tried from this address: try again later");
	else
		limit_wait(&v->site->limit, http_descriptor(v->rq), seconds_now());
	explicit_bzero(try, sizeof(*try));
}

static void check_visit(struct visit *v, const char *authorization)
{
	struct users_try try;
	enum users_role role = USERS_READ;

	if (v->site->users)
		role = users_check(v->site->users, authorization, v->name, &try);
	if (role == USERS_TRY) {
		try_password(v, &try);
		return;
	}
	if (role == USERS_NOBODY && authorization &&
	    tries_take(&v->site->logged, &v->source, seconds_now()))
		log_line("wrong token or password from %s", v->from);
	let_in(v, role);
}

/* --- arrival -------------------------------------------------------------------------------- */

/* Called when the answer was sent. If its client was refused, this changes nothing. */
static void on_answer_sent(struct evhttp_request *rq, void *arg)
{
	struct site *site = arg;

	limit_rest(&site->limit, http_descriptor(rq), seconds_now());
}

static void name_client(struct visit *v)
{
	struct evhttp_connection *conn = evhttp_request_get_connection(v->rq);
	struct sockaddr_storage address = { 0 };
	socklen_t len = sizeof(address);
	char *from = NULL;
	ev_uint16_t port;

	evhttp_connection_get_peer(conn, &from, &port);
	snprintf(v->from, sizeof(v->from), "%s", from ? from : "?");
	getpeername(http_descriptor(v->rq), (struct sockaddr *)&address, &len);
	v->source = source_of_address((const struct sockaddr *)&address);
}

void visit_begin(struct evhttp_request *rq, void *arg)
{
	struct evkeyvalq *headers = evhttp_request_get_input_headers(rq);
	struct evbuffer *body = evhttp_request_get_input_buffer(rq);
	struct visit *v = calloc(1, sizeof(*v));
	struct site *site = arg;
	struct web_request w = {
		.method = http_method(rq),
		.uri = evhttp_request_get_uri(rq),
		.accept = evhttp_find_header(headers, "Accept"),
		.content_type = evhttp_find_header(headers, "Content-Type"),
		.origin = evhttp_find_header(headers, "Origin"),
		.host = evhttp_find_header(headers, "Host"),
		.last_event_id = evhttp_find_header(headers, "Last-Event-ID"),
		.body = (const char *)evbuffer_pullup(body, -1),
		.body_len = evbuffer_get_length(body),
		.host_due = http_is_of_11(rq),
		.two_hosts = http_has_two(rq, "Host"),
		.hosts = site->users ? NULL : site->conf->hosts,
	};

	if (!v) {
		http_send_failure(rq, 500, "failed", "out of memory");
		return;
	}
	if (!http_has_clear_end(rq)) {
		http_close_after(rq);
		http_send_failure(rq, 400, "usage", "it is not clear where the request ends");
		free(v);
		return;
	}
	v->site = site;
	v->rq = rq;
	name_client(v);
	evhttp_request_set_on_complete_cb(rq, on_answer_sent, site);
	web_plan_make(&w, &v->plan);
	check_visit(v, evhttp_find_header(headers, "Authorization"));
}
