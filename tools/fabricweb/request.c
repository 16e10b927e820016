// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each path below /api is a command of the manager, and takes the arguments of that command as the
 * query, or of a change as a JSON object in the body. A page of another site cannot send such a
 * body: a browser first asks for permission to send JSON elsewhere, which this server never gives.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "request.h"
#include "lib/util/units.h"

#define ARGS_MAX 9

enum arg_kind { ARG_TEXT, ARG_NUMBER, ARG_BOOL, ARG_LIST };

/* struct api - a path below /api/, the command, and its arguments up to one without a name */
static const struct api {
	const char *path, *cmd;
	enum web_kind kind;
	bool change;
	struct {
		const char *name;
		enum arg_kind kind;
	} args[ARGS_MAX + 1];
} apis[] = {
	{ "status", "status", WEB_ASK, false, { { 0 } } },
	{ "nodes", "nodes", WEB_ASK, false, { { "node", ARG_TEXT }, { "count", ARG_NUMBER } } },
	{ "links", "links", WEB_ASK, false,
	  { { "node", ARG_TEXT }, { "count", ARG_NUMBER }, { "lanes", ARG_BOOL },
	    { "degraded", ARG_BOOL }, { "brief", ARG_BOOL }, { "bad", ARG_BOOL } } },
	{ "counters", "counters", WEB_ASK, false,
	  { { "node", ARG_TEXT }, { "count", ARG_NUMBER } } },
	{ "metrics", "metrics", WEB_FAMILIES, false, { { "node", ARG_TEXT } } },
	{ "rows", "rows", WEB_ASK, false, { { "node", ARG_TEXT } } },
	{ "park", "park", WEB_ASK, false, { { "node", ARG_TEXT }, { "flows", ARG_BOOL } } },
	{ "events", "events", WEB_ASK, false, { { "since", ARG_NUMBER } } },
	{ "history", "history", WEB_ASK, false,
	  { { "from", ARG_NUMBER }, { "to", ARG_NUMBER }, { "level", ARG_TEXT },
	    { "kind", ARG_TEXT }, { "node", ARG_TEXT }, { "port", ARG_TEXT },
	    { "last", ARG_NUMBER }, { "after", ARG_TEXT }, { "local", ARG_BOOL } } },
	{ "coord", "coord", WEB_ASK, false, { { "name", ARG_TEXT } } },
	{ "table", "table", WEB_ASK, false, { { 0 } } },
	{ "root", "root", WEB_ASK, false, { { 0 } } },
	{ "jobs", "jobs", WEB_ASK, false, { { "name", ARG_TEXT }, { "from", ARG_NUMBER } } },
	{ "eye", "eye", WEB_ASK, false,
	  { { "node", ARG_TEXT }, { "port", ARG_TEXT }, { "lane", ARG_NUMBER } } },
	{ "exclude", "exclude", WEB_ASK, true,
	  { { "node", ARG_TEXT }, { "port", ARG_TEXT }, { "links", ARG_LIST },
	    { "force", ARG_BOOL }, { "reason", ARG_TEXT }, { "for", ARG_NUMBER } } },
	{ "include", "include", WEB_ASK, true,
	  { { "node", ARG_TEXT }, { "port", ARG_TEXT }, { "links", ARG_LIST } } },
	{ "link/up", "port", WEB_ASK, true, { { "node", ARG_TEXT }, { "port", ARG_TEXT } } },
	{ "link/down", "port", WEB_ASK, true, { { "node", ARG_TEXT }, { "port", ARG_TEXT } } },
};

__attribute__((format(printf, 3, 4)))
static void refuse_request(struct web_plan *plan, int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(plan->text, sizeof(plan->text), fmt, ap);
	va_end(ap);
	plan->kind = WEB_REFUSE;
	plan->status = status;
}

void web_plan_free(struct web_plan *plan)
{
	free(plan->ask);
	plan->ask = NULL;
}

/* --- queries ---------------------------------------------------------------------------- */

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef",
		   *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes %xx and '+' of a query in place. Return: false if it is malformed or has a NUL byte. */
static bool decode_text(char *text)
{
	char *out = text;

	for (; *text; text++) {
		if (*text == '%') {
			int high = hex_digit(text[1]), low = high < 0 ? -1 : hex_digit(text[2]);

			if (low < 0 || !(high | low))
				return false;
			*out++ = (char)(high << 4 | low);
			text += 2;
		} else {
			*out++ = *text == '+' ? ' ' : *text;
		}
	}
	*out = '\0';
	return true;
}

/* Return: a value of a query as JSON, a new reference; NULL if it is none of that kind. */
static json_t *value_of_text(enum arg_kind kind, const char *text)
{
	uint64_t n;

	if (kind == ARG_NUMBER)
		return number_parse(text, 0, INT64_MAX, &n) ? NULL : json_integer((json_int_t)n);
	if (kind == ARG_BOOL)
		return !strcmp(text, "1") || !strcmp(text, "true") ? json_true() :
		       !strcmp(text, "0") || !strcmp(text, "false") ? json_false() : NULL;
	return json_string(text);
}

/* Return: the place of an argument in the table, -1 if the command has none of that name. */
static int find_argument(const struct api *api, const char *name)
{
	for (int i = 0; api->args[i].name; i++)
		if (!strcmp(api->args[i].name, name))
			return i;
	return -1;
}

/* Takes one NAME=VALUE of a query. Return: false after a refusal. */
static bool take_pair(const struct api *api, json_t *ask, char *pair, struct web_plan *plan)
{
	char *value = strchr(pair, '=');
	json_t *v;
	int arg;

	if (value)
		*value++ = '\0';
	if (!value || !decode_text(pair) || !decode_text(value)) {
		refuse_request(plan, 400,
			       "the query is malformed: write NAME=VALUE, with & between them");
		return false;
	}
	if (!strcmp(pair, "full") && api->kind == WEB_ASK) {
		plan->full = !strcmp(value, "1") || !strcmp(value, "true");
		return true;
	}
	arg = find_argument(api, pair);
	if (arg < 0 || json_object_get(ask, pair)) {
		refuse_request(plan, 400, "%s takes no %sargument '%.64s'", api->path,
			       arg < 0 ? "" : "second ", pair);
		return false;
	}
	v = value_of_text(api->args[arg].kind, value);
	if (!v || json_object_set_new(ask, pair, v)) {
		refuse_request(plan, 400, "%s '%.64s': %s", pair, value,
			       api->args[arg].kind == ARG_NUMBER ? "must be a number" :
			       api->args[arg].kind == ARG_BOOL ? "must be 1 or 0" :
			       "must be UTF-8 text");
		return false;
	}
	return true;
}

static bool take_query(const struct api *api, json_t *ask, const char *query, struct web_plan *plan)
{
	char copy[WEB_URI_MAX], *at = copy, *pair;

	snprintf(copy, sizeof(copy), "%s", query);
	while ((pair = strsep(&at, "&")) != NULL)
		if (*pair && !take_pair(api, ask, pair, plan))
			return false;
	return true;
}

/* --- changes ---------------------------------------------------------------------------- */

static bool is_of_kind(const json_t *v, enum arg_kind kind)
{
	switch (kind) {
	case ARG_TEXT:
		return json_is_string(v);
	case ARG_NUMBER:
		return json_is_integer(v);
	case ARG_BOOL:
		return json_is_boolean(v);
	case ARG_LIST:
		break;
	}
	return json_is_array(v);
}

static bool take_body(const struct api *api, json_t *ask, const struct web_request *rq,
		      struct web_plan *plan)
{
	json_t *body = rq->body_len <= WEB_BODY_MAX ?
		       json_loadb(rq->body, rq->body_len, JSON_REJECT_DUPLICATES, NULL) : NULL;
	const char *key;
	json_t *v;

	if (!json_is_object(body)) {
		json_decref(body);
		refuse_request(plan, 400, "the body is not a JSON object of at most %d bytes",
			       WEB_BODY_MAX);
		return false;
	}
	json_object_foreach(body, key, v) {
		int arg = find_argument(api, key);

		if (arg >= 0 && is_of_kind(v, api->args[arg].kind)) {
			json_object_set(ask, key, v);
			continue;
		}
		refuse_request(plan, 400, "%s: '%.64s' is %s", api->path, key,
			       arg < 0 ? "not an argument of this path" : "of the wrong type");
		json_decref(body);
		return false;
	}
	json_decref(body);
	return true;
}

/* Return: true if a page of this server sent the request, or no page at all. */
static bool is_same_origin(const struct web_request *rq)
{
	const char *at = rq->origin ? strstr(rq->origin, "://") : NULL;

	if (!rq->origin)
		return true;
	return at && rq->host && !strcasecmp(at + 3, rq->host);
}

static bool check_change(const struct web_request *rq, struct web_plan *plan)
{
	static const char json[] = "application/json";
	const char *type = rq->content_type;

	if (!type || strncasecmp(type, json, sizeof(json) - 1) ||
	    (type[sizeof(json) - 1] && !strchr("; ", type[sizeof(json) - 1]))) {
		refuse_request(plan, 415, "the Content-Type of a change must be %s", json);
		return false;
	}
	if (!is_same_origin(rq)) {
		refuse_request(plan, 403, "a page of another site may not change the fabric");
		return false;
	}
	return true;
}

/* --- plans ------------------------------------------------------------------------------ */

static void plan_api(const struct api *api, const struct web_request *rq, const char *query,
		     struct web_plan *plan)
{
	json_t *ask;

	plan->change = api->change;
	plan->kind = api->kind;
	if (api->change ? rq->method != WEB_POST : rq->method == WEB_POST) {
		refuse_request(plan, 405, "/api/%s: the method must be %s", api->path,
			       api->change ? "POST" : "GET");
		plan->allow = api->change ? "POST" : "GET, HEAD";
		return;
	}
	if (api->change && !check_change(rq, plan))
		return;
	ask = json_pack("{s:s}", "cmd", api->cmd);
	if (api->change ? take_body(api, ask, rq, plan) : take_query(api, ask, query, plan)) {
		if (!strcmp(api->cmd, "port"))
			json_object_set_new(ask, "up", json_boolean(!strcmp(api->path, "link/up")));
		/* this text is logged */
		plan->ask = json_dumps(ask, JSON_COMPACT | JSON_ENSURE_ASCII);
		if (!plan->ask)
			refuse_request(plan, 500, "out of memory");
	}
	json_decref(ask);
}

/*
 * Return: true if OpenMetrics is accepted, and not less than the other format. Prometheus sends
 * both with qualities.
 */
static bool wants_openmetrics(const char *accept)
{
	double open = -1, plain = -1;
	char copy[1024], *at = copy, *type;

	snprintf(copy, sizeof(copy), "%s", accept ? accept : "");
	while ((type = strsep(&at, ",")) != NULL) {
		const char *q = strcasestr(type, "q=");
		double quality = q ? atof(q + 2) : 1;

		type += strspn(type, " \t");
		if (!strncasecmp(type, "application/openmetrics-text", 28))
			open = quality > open ? quality : open;
		else if (!strncasecmp(type, "text/plain", 10) || !strncmp(type, "*/*", 3))
			plain = quality > plain ? quality : plain;
	}
	return open > 0 && open >= plain;
}

static void plan_metrics(const struct web_request *rq, const char *query, struct web_plan *plan)
{
	static const struct api metrics = { "metrics", "metrics", WEB_METRICS, false, { { 0 } } };

	plan_api(&metrics, rq, query, plan);
	plan->format = wants_openmetrics(rq->accept) ? METRICS_OPENMETRICS : METRICS_PROMETHEUS;
}

static bool take_after(char *pair, struct web_plan *plan)
{
	char *value = strchr(pair, '=');

	if (value)
		*value++ = '\0';
	if (!value || !decode_text(pair) || !decode_text(value) || strcmp(pair, "after") ||
	    *plan->text) {
		refuse_request(plan, 400, "/events takes no argument but after");
		return false;
	}
	snprintf(plan->text, sizeof(plan->text), "%.63s", value);
	return true;
}

/* A browser that connects again sends the header; a page that begins sends the query. */
static void plan_events(const struct web_request *rq, const char *query, struct web_plan *plan)
{
	char copy[WEB_URI_MAX], *at = copy, *pair;

	plan->kind = WEB_EVENTS;
	if (rq->method == WEB_POST) {
		refuse_request(plan, 405, "/events: the method must be GET");
		plan->allow = "GET, HEAD";
		return;
	}
	snprintf(copy, sizeof(copy), "%s", query);
	while ((pair = strsep(&at, "&")) != NULL)
		if (*pair && !take_after(pair, plan))
			return;
	if (rq->last_event_id)
		snprintf(plan->text, sizeof(plan->text), "%.63s", rq->last_event_id);
}

static void plan_user(const struct web_request *rq, struct web_plan *plan)
{
	plan->kind = WEB_USER;
	if (rq->method != WEB_POST)
		return;
	refuse_request(plan, 405, "/api/user: the method must be GET");
	plan->allow = "GET, HEAD";
}

static void plan_file(const struct web_request *rq, const char *path, struct web_plan *plan)
{
	plan->kind = WEB_FILE;
	if (rq->method == WEB_POST) {
		refuse_request(plan, 405, "this path is a file: use GET or HEAD");
		plan->allow = "GET, HEAD";
		return;
	}
	snprintf(plan->text, sizeof(plan->text), "%.63s", *path ? path : "index.html");
}

/* Return: true if a text of @len bytes is one of the words of @words. */
static bool is_a_word(const char *text, size_t len, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, " ");

		if (n == len && !strncasecmp(text, words, n))
			return true;
		words += n + strspn(words + n, " ");
	}
	return false;
}

/* Return: the length of the name or address before the port; 0 if @host is malformed. */
static size_t length_of_name(const char *host)
{
	size_t len = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	struct in6_addr address;
	char text[INET6_ADDRSTRLEN];

	if (len > strlen(host))
		return 0;
	if (*host == '[') {
		snprintf(text, sizeof(text), "%.*s", (int)len - 2, host + 1);
		if (len - 2 >= sizeof(text) || inet_pton(AF_INET6, text, &address) != 1)
			return 0;
	}
	if (host[len] && (host[len] != ':' || host[len + 1 + strspn(host + len + 1, "0123456789")]))
		return 0;
	return len;
}

/*
 * A page of another site can have its own name resolved to an address of this server, which makes
 * it a page of this server for the browser. But the browser sends that name as the host, and sites
 * have no addresses as names.
 */
static bool is_our_host(const struct web_request *rq)
{
	const char *host = rq->host;
	size_t len;

	if (!rq->hosts || !host)
		return true;
	len = length_of_name(host);
	return len && (*host == '[' || strspn(host, "0123456789.") == len ||
		       is_a_word(host, len, rq->hosts));
}

/*
 * A client may send a whole URI, as to a proxy, and then the host in that counts (RFC 9112, 3.2.2).
 * @host: gets the host, WEB_URI_MAX bytes. Return: the path; NULL if there is none.
 */
static const char *split_uri(const char *uri, char *host)
{
	size_t scheme = !strncasecmp(uri, "http://", 7) ? 7 :
			!strncasecmp(uri, "https://", 8) ? 8 : 0;
	size_t len = strcspn(uri + scheme, "/?#");

	*host = '\0';
	if (!scheme)
		return *uri == '/' ? uri : NULL;
	if (!len || len >= WEB_URI_MAX || memchr(uri + scheme, '@', len))
		return NULL;
	memcpy(host, uri + scheme, len);
	host[len] = '\0';
	return uri + scheme + len;
}

static void plan_path(const struct web_request *rq, char *path, struct web_plan *plan)
{
	char *query = path + strcspn(path, "?#");

	if (*query == '?')
		*query++ = '\0';
	else
		*query = '\0';
	if (strncmp(path, "/api/", 5)) {
		if (!strcmp(path, "/metrics"))
			plan_metrics(rq, query, plan);
		else if (!strcmp(path, "/events"))
			plan_events(rq, query, plan);
		else
			plan_file(rq, *path ? path + 1 : path, plan);
		return;
	}
	if (!strcmp(path, "/api/user")) {
		plan_user(rq, plan);
		return;
	}
	for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++)
		if (!strcmp(apis[i].path, path + 5)) {
			plan_api(&apis[i], rq, query, plan);
			return;
		}
	refuse_request(plan, 404, "there is no such path; fabricweb(8) lists them");
}

void web_plan_make(const struct web_request *rq, struct web_plan *plan)
{
	size_t len = rq->uri ? strlen(rq->uri) : 0;
	char path[WEB_URI_MAX], host[WEB_URI_MAX] = "";
	const char *at = len ? split_uri(rq->uri, host) : NULL;
	struct web_request own = *rq;

	memset(plan, 0, sizeof(*plan));
	if (rq->method == WEB_OTHER) {
		refuse_request(plan, 405, "the method must be GET, HEAD or POST");
		plan->allow = "GET, HEAD, POST";
		return;
	}
	if (len >= sizeof(path) || !at) {
		refuse_request(plan, len >= sizeof(path) ? 414 : 400,
			       "a path begins with / and is shorter than %d", WEB_URI_MAX);
		return;
	}
	if (rq->two_hosts || (rq->host_due && !rq->host)) {
		refuse_request(plan, 400, "there %s",
			       rq->two_hosts ? "are two Host headers" : "is no Host header");
		return;
	}
	if (*host)
		own.host = host;
	if (!is_our_host(&own)) {
		refuse_request(plan, 421, "'%.64s' is not a name of this server: "
			       "see hosts in fabricweb.conf(5)", own.host);
		return;
	}
	strcpy(path, at);
	plan_path(&own, path, plan);
}

/* --- failures --------------------------------------------------------------------------- */

int web_status_of_code(const char *code)
{
	static const struct {
		const char *code;
		int status;
	} of[] = {
		{ "usage", 400 }, { "denied", 403 }, { "cuts-off", 409 }, { "not-ready", 503 },
		{ "unreachable", 502 }, { "timeout", 504 },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (code && !strcmp(of[i].code, code))
			return of[i].status;
	return 500;
}

char *web_error_body(const char *code, const char *text)
{
	json_t *j = json_pack("{s:b, s:s, s:s}", "ok", 0, "code", code, "error", text);
	char plain[WEB_TEXT_MAX], *body;

	/* A text that quotes a client may be invalid UTF-8, or be cut within a character. */
	if (!j) {
		snprintf(plain, sizeof(plain), "%s", text);
		for (char *c = plain; *c; c++)
			if (*c & 0x80)
				*c = '?';
		j = json_pack("{s:b, s:s, s:s}", "ok", 0, "code", code, "error", plain);
	}
	body = j ? json_dumps(j, JSON_COMPACT) : NULL;
	json_decref(j);
	return body;
}
