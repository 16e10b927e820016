// SPDX-License-Identifier: GPL-2.0-or-later
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <event2/util.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "http.h"

void http_add_header(struct evhttp_request *rq, const char *name, const char *value)
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
	case 421: return "Misdirected Request";
	case 429: return "Too Many Requests";
	case 502: return "Bad Gateway";
	case 503: return "Service Unavailable";
	case 504: return "Gateway Timeout";
	}
	return "Internal Server Error";
}

void http_send(struct evhttp_request *rq, int status, const char *type, struct evbuffer *text)
{
	http_add_header(rq, "Content-Type", type);
	http_add_header(rq, "X-Content-Type-Options", "nosniff");
	http_add_header(rq, "Referrer-Policy", "no-referrer");
	if (!evhttp_find_header(evhttp_request_get_output_headers(rq), "Cache-Control"))
		http_add_header(rq, "Cache-Control", "no-store");
	evhttp_send_reply(rq, text ? status : 500, reason_of(text ? status : 500), text);
}

void http_send_failure(struct evhttp_request *rq, int status, const char *code, const char *text)
{
	struct evbuffer *buf = evbuffer_new();
	char *body = web_error_body(code, text);

	if (buf && body)
		evbuffer_add(buf, body, strlen(body));
	if (status == 429 || status == 503)
		http_add_header(rq, "Retry-After", "2");
	http_send(rq, body ? status : 500, "application/json", buf);
	if (buf)
		evbuffer_free(buf);
	free(body);
}

enum web_method http_method(struct evhttp_request *rq)
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

static bool is_header_name(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789!#$%&'*+-.^_`|~";

	return *name && !name[strspn(name, allowed)];
}

/*
 * evhttp takes what follows a HEAD for the next request, even if its headers tell of a body; of two
 * Content-Length it takes the first one, a sign before it is fine, and with a blank or a control
 * character before the colon it is none; and a Transfer-Encoding that it does not know has no body.
 * All that follows CONNECT is for another server. HTTP/1.0 has no Transfer-Encoding, and beside a
 * Content-Length only one of the two can be right.
 * A proxy may read these otherwise, and then one of its clients writes the beginning of another
 * one's request.
 */
bool http_has_clear_end(struct evhttp_request *rq)
{
	bool is_head = evhttp_request_get_command(rq) == EVHTTP_REQ_HEAD;
	unsigned int lengths = 0, codings = 0;
	struct evkeyval *h;

	if (evhttp_request_get_command(rq) == EVHTTP_REQ_CONNECT)
		return false;
	TAILQ_FOREACH(h, evhttp_request_get_input_headers(rq), next) {
		if (!is_header_name(h->key))
			return false;
		if (!evutil_ascii_strcasecmp(h->key, "Transfer-Encoding") &&
		    (codings++ || is_head || evutil_ascii_strcasecmp(h->value, "chunked")))
			return false;
		if (!evutil_ascii_strcasecmp(h->key, "Content-Length") &&
		    (lengths++ || h->value[strspn(h->value, is_head ? "0" : "0123456789")]))
			return false;
	}
	return !codings || (!lengths && http_is_of_11(rq));
}

bool http_is_of_11(const struct evhttp_request *rq)
{
	return rq->major > 1 || (rq->major == 1 && rq->minor > 0);
}

void http_close_after(struct evhttp_request *rq)
{
	/* evhttp keeps the connection of a CONNECT, whatever the headers are. */
	if (rq->type == EVHTTP_REQ_CONNECT)
		rq->type = EVHTTP_REQ_GET;
	http_add_header(rq, "Connection", "close");
}

bool http_has_two(struct evhttp_request *rq, const char *name)
{
	unsigned int n = 0;
	struct evkeyval *h;

	TAILQ_FOREACH(h, evhttp_request_get_input_headers(rq), next)
		n += !evutil_ascii_strcasecmp(h->key, name);
	return n > 1;
}

int http_descriptor(struct evhttp_request *rq)
{
	struct evhttp_connection *conn = evhttp_request_get_connection(rq);
	struct bufferevent *bev = conn ? evhttp_connection_get_bufferevent(conn) : NULL;

	return bev ? bufferevent_getfd(bev) : -1;
}
