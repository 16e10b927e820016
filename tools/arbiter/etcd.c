// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * torus-arbiter-etcd: a key of etcd has the latest claim of a fabric as its value, "EPOCH GUID". A
 * claim is granted if it replaces a claim of an earlier epoch, or if it is the stored one.
 *
 * The value is replaced only if it has not changed since it was read (mod_revision; 0: there was
 * none). So if two claims have read the same value, one of them fails to replace it, and reads
 * again. Reads are linearizable: a member of etcd without a leader does not answer. A request
 * without an answer may have been executed or not. Then the next endpoint is asked from the
 * beginning: it finds the claim stored, and grants it, or not stored.
 *
 * Endpoints are tried in turn, each with an equal part of the remaining time. Their addresses are
 * numeric, because looking up a name could take all of that time.
 */
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "claim.h"
#include "lib/util/clock.h"
#include "lib/util/inifile.h"
#include "lib/util/times.h"
#include "lib/util/units.h"

#define CONFIG		"/etc/torus-arbiter-etcd.conf"
#define CONFIG_MAX	65536
#define ANSWER_MAX	65536
#define ENDPOINTS_MAX	16

static const char help[] =
	"usage: torus-arbiter-etcd [--config FILE] claim EPOCH GUID\n"
	"\n"
	"Lets a node of a torus network become root if etcd has not seen a later claim; see\n"
	"torus-arbiter(7). In the environment: TORUS_FABRIC, the name of the fabric, and\n"
	"TORUS_ARBITER_ENDPOINTS, like 'endpoints' in the file.\n"
	"\n"
	"  --config FILE       instead of " CONFIG "\n"
	"  --help, --version\n";

/**
 * struct asker - state of one claim
 * @why: text of the last error, of an endpoint or of the configuration
 */
struct asker {
	struct claim claim;
	char endpoints[1024];
	uint64_t time;
	char why[160];
	char *key;
};

static uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* --- base64 -------------------------------------------------------------------------- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static char *base64_encode(const char *text)
{
	size_t n = strlen(text), k = 0, i;
	char *out = calloc(n / 3 + 1, 5);

	for (i = 0; out && i < n; i += 3) {
		uint32_t v = (uint32_t)(unsigned char)text[i] << 16;

		if (i + 1 < n)
			v |= (uint32_t)(unsigned char)text[i + 1] << 8;
		if (i + 2 < n)
			v |= (unsigned char)text[i + 2];
		out[k++] = digits[v >> 18];
		out[k++] = digits[v >> 12 & 63];
		out[k++] = i + 1 < n ? digits[v >> 6 & 63] : '=';
		out[k++] = i + 2 < n ? digits[v & 63] : '=';
	}
	return out;
}

/*
 * Decodes @text up to the first character that is not a base64 digit; at most as much as fits into
 * @out.
 */
static void base64_decode(char *out, size_t room, const char *text)
{
	uint32_t v = 0;
	size_t n = 0;
	unsigned int bits = 0;
	const char *d;

	for (; *text && (d = strchr(digits, *text)) && n + 1 < room; text++) {
		v = v << 6 | (uint32_t)(d - digits);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			out[n++] = (char)(v >> bits);
		}
	}
	out[n] = '\0';
}

/* --- a request ----------------------------------------------------------------------- */

/**
 * struct reply - the answer of etcd to one request
 * @body: the answer as JSON, or NULL
 * @done: the connection has ended, with or without an answer
 */
struct reply {
	struct asker *a;
	struct event_base *base;
	json_t *body;
	bool done;
};

static void on_etcd_reply(struct evhttp_request *req, void *arg)
{
	struct reply *r = arg;
	struct evbuffer *in = req ? evhttp_request_get_input_buffer(req) : NULL;
	int code = req ? evhttp_request_get_response_code(req) : 0;
	size_t n = in ? evbuffer_get_length(in) : 0;

	r->done = true;
	event_base_loopbreak(r->base);
	if (!code) {
		snprintf(r->a->why, sizeof(r->a->why), "no connection");
	} else if (code != HTTP_OK) {
		snprintf(r->a->why, sizeof(r->a->why), "HTTP status %d", code);
	} else {
		r->body = n ? json_loadb((char *)evbuffer_pullup(in, -1), n, 0, NULL) : NULL;
		/*
		 * Each answer of etcd has the member "header"; an answer of another server does
		 * not.
		 */
		if (!json_is_object(json_object_get(r->body, "header"))) {
			snprintf(r->a->why, sizeof(r->a->why), "the answer is not that of etcd");
			json_decref(r->body);
			r->body = NULL;
		}
	}
}

static bool begin_request(struct evhttp_connection *conn, struct reply *r, const char *path,
			  const char *text, const char *host)
{
	struct evhttp_request *req = evhttp_request_new(on_etcd_reply, r);

	if (!req)
		return false;
	evhttp_add_header(evhttp_request_get_output_headers(req), "Host", host);
	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type",
			  "application/json");
	evhttp_add_header(evhttp_request_get_output_headers(req), "Connection", "close");
	evbuffer_add(evhttp_request_get_output_buffer(req), text, strlen(text));
	return !evhttp_make_request(conn, req, EVHTTP_REQ_POST, path);
}

/*
 * Posts @body, which it frees, and waits for the answer until @end. Returns NULL if no answer came.
 */
static json_t *post_json(struct asker *a, const struct evhttp_uri *to, const char *path,
			 json_t *body, uint64_t end)
{
	struct reply r = { .a = a, .base = event_base_new() };
	const char *host = evhttp_uri_get_host(to);
	struct evhttp_connection *conn = NULL;
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL, name[64];
	uint64_t left = end > monotonic_ns() ? end - monotonic_ns() : 0;
	struct timeval tv = { .tv_sec = (time_t)(left / SEC),
			      .tv_usec = (suseconds_t)(left % SEC / US) };

	/* evhttp needs an IPv6 address without its brackets. */
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(host + (*host == '['), "]"),
		 host + (*host == '['));
	if (r.base)
		conn = evhttp_connection_base_new(r.base, NULL, name,
						  (uint16_t)evhttp_uri_get_port(to));
	if (conn && text) {
		evhttp_connection_set_max_body_size(conn, ANSWER_MAX);
		snprintf(a->why, sizeof(a->why), "no connection");
		if (begin_request(conn, &r, path, text, host) && !r.done &&
		    !event_base_loopexit(r.base, &tv))
			event_base_dispatch(r.base);
		if (!r.done)
			snprintf(a->why, sizeof(a->why), "no answer in time");
	} else {
		snprintf(a->why, sizeof(a->why), "out of memory");
	}
	if (conn)
		evhttp_connection_free(conn);
	if (r.base)
		event_base_free(r.base);
	free(text);
	json_decref(body);
	return r.body;
}

/* --- the claim ----------------------------------------------------------------------- */

/**
 * struct stored - the claim that etcd has stored
 * @revision: revision of the key, in decimal; "0": no claim is stored
 */
struct stored {
	char revision[24];
	uint64_t epoch, guid;
};

/* Parses "EPOCH GUID". Return: false if @value has another form. */
static bool parse_stored(struct stored *s, const char *value)
{
	char epoch[24], guid[20];
	int n = 0;

	if (sscanf(value, "%23[0-9] %17[0-9a-f]%n", epoch, guid, &n) != 2 || value[n] ||
	    strlen(guid) != 16 || number_parse(epoch, 0, UINT64_MAX, &s->epoch))
		return false;
	s->guid = strtoull(guid, NULL, 16);
	return true;
}

static bool read_stored(struct asker *a, const struct evhttp_uri *to, uint64_t end,
			struct stored *s)
{
	json_t *reply = post_json(a, to, "/v3/kv/range", json_pack("{s:s}", "key", a->key), end);
	const char *value = NULL, *revision = NULL;
	char text[80];
	bool fine = true;

	if (!reply)
		return false;
	*s = (struct stored) { .revision = "0" };
	if (json_object_get(reply, "kvs")) {
		json_unpack(reply, "{s:[{s:s, s:s}]}", "kvs", "value", &value, "mod_revision",
			    &revision);
		base64_decode(text, sizeof(text), value ? value : "");
		fine = revision && strspn(revision, "0123456789") == strlen(revision) &&
		       strcmp(revision, "0") && strlen(revision) < sizeof(s->revision) &&
		       parse_stored(s, text);
		if (fine)
			snprintf(s->revision, sizeof(s->revision), "%s", revision);
		else
			snprintf(a->why, sizeof(a->why),
				 "the key torus/%.40s/root does not hold EPOCH GUID",
				 a->claim.fabric);
	}
	json_decref(reply);
	return fine;
}

/*
 * Replaces the stored claim @s by this program's claim. Returns 1; 0 if etcd has another value than
 * @s now; -1 if the result is unknown.
 */
static int replace_claim(struct asker *a, const struct evhttp_uri *to, uint64_t end,
			 const struct stored *s)
{
	char text[48], *value;
	json_t *reply;
	int won;

	snprintf(text, sizeof(text), "%" PRIu64 " %016" PRIx64, a->claim.epoch, a->claim.guid);
	value = base64_encode(text);
	reply = post_json(a, to, "/v3/kv/txn",
			  json_pack("{s:[{s:s, s:s, s:s, s:s}], s:[{s:{s:s, s:s}}]}",
				    "compare", "target", "MOD",
				    "result", "EQUAL", "key", a->key, "mod_revision", s->revision,
				    "success", "request_put", "key", a->key, "value", value), end);
	free(value);
	won = !reply ? -1 : json_is_true(json_object_get(reply, "succeeded"));
	json_decref(reply);
	return won;
}

/*
 * Asks one endpoint until @end. Returns only if the endpoint gave no answer, with the reason in
 * @a->why.
 */
static void ask_endpoint(struct asker *a, const struct evhttp_uri *to, uint64_t end)
{
	const struct claim *c = &a->claim;
	struct stored s;
	int round;

	for (round = 0; round < 2; round++) {
		if (!read_stored(a, to, end, &s))
			return;
		if (strcmp(s.revision, "0")) {
			if (s.epoch == c->epoch && s.guid == c->guid)
				claim_answer("granted");
			if (s.epoch >= c->epoch)
				claim_answer("refused %" PRIu64 " is granted to %016" PRIx64,
					     s.epoch, s.guid);
		}
		switch (replace_claim(a, to, end, &s)) {
		case 1:
			claim_answer("granted");
		case -1:
			return;
		}
	}
	snprintf(a->why, sizeof(a->why), "others claim at the same time");
}

/* --- configuration ------------------------------------------------------------------- */

static void on_etcd_key(struct inifile *file, const char *section, const char *name,
			const char *value)
{
	struct asker *a = file->arg;

	if (*section || (strcmp(name, "endpoints") && strcmp(name, "time")))
		inifile_refuse(file, file->line, "unknown key '%s', known: endpoints, time",
			       name);
	else if (!strcmp(name, "time") && time_parse(value, 10 * MS, 60000 * MS, &a->time))
		inifile_refuse(file, file->line, "time '%s': must be 10ms to 60s", value);
	else if (!strcmp(name, "endpoints"))
		snprintf(a->endpoints, sizeof(a->endpoints), "%s", value);
}

static void note_complaint(void *arg, unsigned int line, const char *text)
{
	struct asker *a = arg;

	if (!*a->why && line)
		snprintf(a->why, sizeof(a->why), "line %u: %s", line, text);
	else if (!*a->why)
		snprintf(a->why, sizeof(a->why), "%s", text);
}

static void read_config(struct asker *a)
{
	const char *endpoints = getenv("TORUS_ARBITER_ENDPOINTS"), *path = a->claim.config;
	struct inifile file = {
		.key = on_etcd_key, .complain = note_complaint, .arg = a, .forms = "KEY = VALUE"
	};

	if (endpoints && strlen(endpoints) >= sizeof(a->endpoints))
		claim_answer("unknown TORUS_ARBITER_ENDPOINTS is too long");
	if (!endpoints || path) {
		inifile_load(&file, path ? path : CONFIG, CONFIG_MAX);
		if (file.refused)
			claim_answer("unknown %s: %s", path ? path : CONFIG, a->why);
	}
	if (endpoints)
		snprintf(a->endpoints, sizeof(a->endpoints), "%s", endpoints);
}

/* Return: true if @text is a numeric address as evhttp takes it: IPv6 in brackets. */
static bool is_address(const char *text)
{
	char copy[64], addr[sizeof(struct in6_addr)];
	size_t n = strlen(text);

	if (*text != '[')
		return inet_pton(AF_INET, text, addr) == 1;
	if (n < 2 || n >= sizeof(copy) || text[n - 1] != ']')
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)n - 2, text + 1);
	return inet_pton(AF_INET6, copy, addr) == 1;
}

static struct evhttp_uri *parse_endpoint(const char *text)
{
	struct evhttp_uri *uri = evhttp_uri_parse(text);
	const char *scheme = uri ? evhttp_uri_get_scheme(uri) : NULL,
		   *host = uri ? evhttp_uri_get_host(uri) : NULL;
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;

	if (!scheme || strcmp(scheme, "http") || !host || !is_address(host) ||
	    evhttp_uri_get_port(uri) <= 0 || (path && *path && strcmp(path, "/")))
		claim_answer("unknown endpoint '%.60s': must be http://ADDRESS:PORT, the address "
			     "in numbers",
			     text);
	return uri;
}

int main(int argc, char **argv)
{
	struct asker a = { .claim = claim_read(argc, argv, help, 1), .time = 800 * MS };
	struct evhttp_uri *to[ENDPOINTS_MAX];
	char *names[ENDPOINTS_MAX], *word, *save = NULL, key[300];
	uint64_t end = monotonic_ns(), n = 0, k;

	signal(SIGPIPE, SIG_IGN);
	read_config(&a);
	end += a.time;
	for (word = strtok_r(a.endpoints, " \t,", &save); word;
	     word = strtok_r(NULL, " \t,", &save)) {
		if (n == ENDPOINTS_MAX)
			claim_answer("unknown more than %d endpoints", ENDPOINTS_MAX);
		names[n] = word;
		to[n++] = parse_endpoint(word);
	}
	if (!n)
		claim_answer("unknown no endpoints are configured in " CONFIG);
	snprintf(key, sizeof(key), "torus/%.200s/root", a.claim.fabric);
	a.key = base64_encode(key);
	for (k = 0; a.key && k < n; k++) {
		uint64_t left = end > monotonic_ns() ? end - monotonic_ns() : 0;

		ask_endpoint(&a, to[k], monotonic_ns() + left / (n - k));
	}
	claim_answer("unknown %s: %s", names[n - 1], a.why);
}
