// SPDX-License-Identifier: GPL-2.0-only
/* Requests of clients: what they ask for; and the parts of the manager's replies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricweb/reply.h"
#include "tools/fabricweb/request.h"

static void asks(const char *uri, const char *request)
{
	struct web_request rq = { .method = WEB_GET, .uri = uri };
	struct web_plan plan;

	web_plan_make(&rq, &plan);
	if (plan.kind == WEB_REFUSE)
		fail_msg("%s: refused: %s", uri, plan.text);
	assert_int_equal(plan.kind, WEB_ASK);
	assert_false(plan.change);
	assert_string_equal(plan.ask, request);
	web_plan_free(&plan);
}

static void refuses(const struct web_request *rq, int status, const char *text)
{
	struct web_plan plan;

	web_plan_make(rq, &plan);
	assert_int_equal(plan.kind, WEB_REFUSE);
	if (plan.status != status || !strstr(plan.text, text))
		fail_msg("%s: %d, %s", rq->uri, plan.status, plan.text);
	assert_null(plan.ask);
	web_plan_free(&plan);
}

static void refuses_get(const char *uri, int status, const char *text)
{
	refuses(&(struct web_request){ .method = WEB_GET, .uri = uri }, status, text);
}

static void get_becomes_question_to_manager(void **state)
{
	(void)state;
	asks("/api/status", "{\"cmd\":\"status\"}");
	asks("/api/nodes?", "{\"cmd\":\"nodes\"}");
	asks("/api/links?node=1,0&lanes=1", "{\"cmd\":\"links\",\"node\":\"1,0\",\"lanes\":true}");
	asks("/api/links?brief=false&count=12&", "{\"cmd\":\"links\",\"brief\":false,\"count\":12}");
	asks("/api/eye?node=0,0&port=%2bX+y", "{\"cmd\":\"eye\",\"node\":\"0,0\",\"port\":\"+X y\"}");
	asks("/api/coord?name=%C3%A4%22", "{\"cmd\":\"coord\",\"name\":\"\\u00E4\\\"\"}");
	asks("/api/root#there", "{\"cmd\":\"root\"}");
	asks("/api/jobs?name=a%20b&from=4096", "{\"cmd\":\"jobs\",\"name\":\"a b\",\"from\":4096}");
}

static void malformed_question_is_refused_with_status(void **state)
{
	(void)state;
	refuses_get("/api/links?bogus=1", 400, "no argument 'bogus'");
	refuses_get("/api/links?cmd=exclude", 400, "no argument 'cmd'");
	refuses_get("/api/links?node=1&node=2", 400, "no second argument 'node'");
	refuses_get("/api/links?lanes", 400, "malformed");
	refuses_get("/api/links?node=%zz", 400, "malformed");
	refuses_get("/api/links?node=%0", 400, "malformed");
	refuses_get("/api/links?node=%00", 400, "malformed");
	refuses_get("/api/links?node=%\x16\x11", 400, "malformed");
	refuses_get("/api/links?node=%ff", 400, "UTF-8");
	refuses_get("/api/links?count=-1", 400, "must be a number");
	refuses_get("/api/links?count=99999999999999999999", 400, "must be a number");
	refuses_get("/api/links?lanes=2", 400, "1 or 0");
	refuses_get("/api/move?node=1,0", 404, "no such path");
	refuses_get("/api/", 404, "no such path");
	refuses_get("status", 400, "begins with /");
	refuses_get("", 400, "begins with /");
	refuses(&(struct web_request){ .method = WEB_OTHER, .uri = "/" }, 405, "GET");
	refuses(&(struct web_request){ .method = WEB_POST, .uri = "/api/status" }, 405, "must be GET");
	refuses(&(struct web_request){ .method = WEB_POST, .uri = "/" }, 405, "GET");
	refuses(&(struct web_request){ .method = WEB_POST, .uri = "/events" }, 405, "GET");
}

static void user_is_answered_only_by_get(void **state)
{
	struct web_plan plan;

	(void)state;
	web_plan_make(&(struct web_request){ .method = WEB_GET, .uri = "/api/user" }, &plan);
	assert_int_equal(plan.kind, WEB_USER);
	assert_null(plan.ask);
	web_plan_free(&plan);
	refuses(&(struct web_request){ .method = WEB_POST, .uri = "/api/user" }, 405, "must be GET");
}

/* A page of another site that has its name resolved to our address */
static void request_with_foreign_host_name_is_refused(void **state)
{
	static const char *const ours[] = { NULL, "10.0.0.1", "10.0.0.1:7180", "[::1]:7180", "localhost:7180",
					    "Node1", "node1.site:80", "[::1]", "[fe80::1:2]:" };
	static const char *const others[] = { "evil.example", "evil.example:7180", "node1.evil.example", "node",
					      "10.0.0.1.evil", "site", "localhost node1", "", ":80", "[evil",
					      "[evil]", "[::1]x", "[]", "[", "[1.2.3.4]", "localhost:x",
					      "10.0.0.1:80.evil", "localhost:80:80" };
	struct web_request rq = { .method = WEB_GET, .uri = "/api/status",
				  .hosts = "localhost node1  node1.site" };
	struct web_plan plan;

	(void)state;
	for (unsigned int i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		rq.host = ours[i];
		web_plan_make(&rq, &plan);
		assert_int_equal(plan.kind, WEB_ASK);
		web_plan_free(&plan);
	}
	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		rq.host = others[i];
		refuses(&rq, 421, "not a name of this server");
	}
	rq.hosts = NULL;
	web_plan_make(&rq, &plan);
	assert_int_equal(plan.kind, WEB_ASK);
	web_plan_free(&plan);
}

static struct web_request change(const char *uri, const char *body)
{
	return (struct web_request){ .method = WEB_POST, .uri = uri, .content_type = "application/json",
				     .host = "node:7180", .body = body, .body_len = strlen(body) };
}

/* RFC 9112, 3.2: a proxy may take one of two hosts, and this server the other one. */
static void several_hosts_are_refused(void **state)
{
	struct web_request rq = { .method = WEB_GET, .uri = "/api/status", .host = "localhost", .two_hosts = true };

	(void)state;
	refuses(&rq, 400, "two Host");
	rq.hosts = "localhost";
	refuses(&rq, 400, "two Host");
}

/* RFC 9112, 3.2: even if the URI has a host, the header must be there; it may be empty. */
static void missing_host_is_refused(void **state)
{
	struct web_request rq = { .method = WEB_GET, .uri = "http://localhost/api/status", .host_due = true };
	struct web_plan plan;

	(void)state;
	refuses(&rq, 400, "no Host");
	rq.host = "";
	web_plan_make(&rq, &plan);
	assert_int_equal(plan.kind, WEB_ASK);
	web_plan_free(&plan);
	rq.host = NULL;
	rq.host_due = false;
	web_plan_make(&rq, &plan);
	assert_int_equal(plan.kind, WEB_ASK);
	web_plan_free(&plan);
}

/* RFC 9112, 3.2.2: the host of the URI counts, whatever the header says. */
static void whole_uri_is_taken_with_its_host(void **state)
{
	struct web_request rq = { .method = WEB_GET, .host = "evil.example", .hosts = "localhost" };
	struct web_plan plan;

	(void)state;
	rq.uri = "HTTP://localhost:7180/api/nodes?count=1";
	web_plan_make(&rq, &plan);
	assert_int_equal(plan.kind, WEB_ASK);
	assert_string_equal(plan.ask, "{\"cmd\":\"nodes\",\"count\":1}");
	web_plan_free(&plan);
	rq.uri = "https://localhost";
	web_plan_make(&rq, &plan);
	assert_int_equal(plan.kind, WEB_FILE);
	assert_string_equal(plan.text, "index.html");
	rq.host = "localhost";
	rq.uri = "http://evil.example/api/status";
	refuses(&rq, 421, "evil.example");
	rq.uri = "http://localhost@evil.example/";
	refuses(&rq, 400, "begins with /");
	rq.uri = "http:///";
	refuses(&rq, 400, "begins with /");
	rq.uri = "ftp://localhost/";
	refuses(&rq, 400, "begins with /");
	rq = change("http://node:7180/api/include", "{}");
	rq.host = "other";
	rq.origin = "http://node:7180";
	web_plan_make(&rq, &plan);
	assert_int_equal(plan.kind, WEB_ASK);
	web_plan_free(&plan);
	rq.origin = "http://other";
	refuses(&rq, 403, "another site");
}

static void too_long_path_is_refused(void **state)
{
	char uri[WEB_URI_MAX + 1];

	(void)state;
	memset(uri, 'a', sizeof(uri));
	memcpy(uri, "/api/coord?name=", 16);
	uri[WEB_URI_MAX] = '\0';
	refuses_get(uri, 414, "shorter");
	uri[WEB_URI_MAX - 1] = '\0';
	{
		struct web_plan plan;

		web_plan_make(&(struct web_request){ .method = WEB_GET, .uri = uri }, &plan);
		assert_int_equal(plan.kind, WEB_ASK);
		web_plan_free(&plan);
	}
}

static void post_becomes_change_for_manager(void **state)
{
	struct web_request rq = change("/api/exclude", "{\"node\":\"1,0\",\"port\":\"+x\",\"for\":60}");
	struct web_plan plan;

	(void)state;
	web_plan_make(&rq, &plan);
	assert_int_equal(plan.kind, WEB_ASK);
	assert_true(plan.change);
	assert_string_equal(plan.ask, "{\"cmd\":\"exclude\",\"node\":\"1,0\",\"port\":\"+x\",\"for\":60}");
	web_plan_free(&plan);
	rq = change("/api/link/down", "{\"node\":\"1,0\",\"port\":\"+x\"}");
	rq.content_type = "application/json; charset=utf-8";
	rq.origin = "https://node:7180";
	web_plan_make(&rq, &plan);
	assert_string_equal(plan.ask, "{\"cmd\":\"port\",\"node\":\"1,0\",\"port\":\"+x\",\"up\":false}");
	web_plan_free(&plan);
	rq = change("/api/link/up", "{}");
	web_plan_make(&rq, &plan);
	assert_string_equal(plan.ask, "{\"cmd\":\"port\",\"up\":true}");
	web_plan_free(&plan);
}

static void change_by_wrong_method_or_type_is_refused(void **state)
{
	struct web_request rq = change("/api/exclude", "{\"node\":\"1,0\"}");

	(void)state;
	rq.method = WEB_GET;
	refuses(&rq, 405, "must be POST");
	rq = change("/api/exclude", "{\"node\":\"1,0\"}");
	rq.content_type = "text/plain";
	refuses(&rq, 415, "application/json");
	rq.content_type = "application/jsonx";
	refuses(&rq, 415, "application/json");
	rq.content_type = NULL;
	refuses(&rq, 415, "application/json");
	rq = change("/api/exclude", "{\"node\":\"1,0\"}");
	rq.origin = "http://evil.example";
	refuses(&rq, 403, "another site");
	rq.origin = "null";
	refuses(&rq, 403, "another site");
	rq = change("/api/exclude", "{\"node\":1}");
	refuses(&rq, 400, "wrong type");
	rq = change("/api/exclude", "{\"up\":true}");
	refuses(&rq, 400, "not an argument");
	rq = change("/api/link/up", "{\"up\":false}");
	refuses(&rq, 400, "not an argument");
	rq = change("/api/include", "[]");
	refuses(&rq, 400, "not a JSON object");
	rq = change("/api/include", "{\"node\":\"1\",\"node\":\"2\"}");
	refuses(&rq, 400, "not a JSON object");
	rq = change("/api/include", "");
	refuses(&rq, 400, "not a JSON object");
}

static enum metrics_format format_of(const char *accept)
{
	struct web_request rq = { .method = WEB_GET, .uri = "/metrics", .accept = accept };
	struct web_plan plan;

	web_plan_make(&rq, &plan);
	assert_int_equal(plan.kind, WEB_METRICS);
	assert_string_equal(plan.ask, "{\"cmd\":\"metrics\"}");
	web_plan_free(&plan);
	return plan.format;
}

static void accept_header_chooses_format_of_metrics(void **state)
{
	(void)state;
	assert_int_equal(format_of(NULL), METRICS_PROMETHEUS);
	assert_int_equal(format_of("*/*"), METRICS_PROMETHEUS);
	assert_int_equal(format_of("application/openmetrics-text"), METRICS_OPENMETRICS);
	assert_int_equal(format_of("application/openmetrics-text;q=0"), METRICS_PROMETHEUS);
	assert_int_equal(format_of("application/openmetrics-text;version=1.0.0;q=0.5,"
				   "text/plain;version=0.0.4;q=0.3,*/*;q=0.1"), METRICS_OPENMETRICS);
	assert_int_equal(format_of("application/openmetrics-text;q=0.2, text/plain"), METRICS_PROMETHEUS);
	refuses_get("/metrics?node=1,0", 400, "no argument");
}

static void events_continue_after_given_or_last_id(void **state)
{
	struct web_request rq = { .method = WEB_GET, .uri = "/events?after=7-8" };
	struct web_plan plan;

	(void)state;
	web_plan_make(&rq, &plan);
	assert_int_equal(plan.kind, WEB_EVENTS);
	assert_string_equal(plan.text, "7-8");
	rq.last_event_id = "9-9";	/* a browser that connects again */
	web_plan_make(&rq, &plan);
	assert_string_equal(plan.text, "9-9");
	refuses_get("/events?since=1", 400, "after");
	refuses_get("/events?after=5-1&x=1", 400, "after");
	refuses_get("/events?after=5-1&after=6-1", 400, "after");
	refuses_get("/events?after=%zz", 400, "after");
}

static void path_names_file(void **state)
{
	struct web_plan plan;

	(void)state;
	web_plan_make(&(struct web_request){ .method = WEB_GET, .uri = "/" }, &plan);
	assert_int_equal(plan.kind, WEB_FILE);
	assert_string_equal(plan.text, "index.html");
	web_plan_make(&(struct web_request){ .method = WEB_HEAD, .uri = "/a.js?1" }, &plan);
	assert_string_equal(plan.text, "a.js");
}

static struct reply found(const char *text)
{
	struct reply r;

	if (!reply_find(text, strlen(text), &r))
		fail_msg("no reply: %s", text);
	return r;
}

static void is_part(const struct part *part, const char *text)
{
	assert_int_equal(part->len, strlen(text));
	assert_memory_equal(part->at, text, part->len);
}

static void parts_of_reply_are_found(void **state)
{
	char buf[12];
	struct reply r = found("{\"ok\":true,\"data\":[{\"a\":\"}]\\\"\"},[]],\"missing\":[[1,0]]}");

	(void)state;
	assert_true(r.ok);
	is_part(&r.data, "[{\"a\":\"}]\\\"\"},[]]");
	is_part(&r.missing, "[[1,0]]");
	assert_int_equal(r.rootless.len, 0);
	r = found(" { \"new\" : 1.5e3 , \"rootless\" : {\"data\":1} , \"data\" : null , \"ok\" : true } ");
	is_part(&r.data, "null");
	is_part(&r.rootless, "{\"data\":1}");
	r = found("{\"ok\":false,\"code\":\"cuts-off\",\"error\":\"no\"}");
	assert_false(r.ok);
	is_part(&r.error, "\"no\"");
	assert_string_equal(reply_code(&r, buf, sizeof(buf)), "cuts-off");
	assert_int_equal(web_status_of_code(buf), 409);
	r = found("{\"ok\":false,\"code\":\"longer-than-that\",\"error\":\"no\"}");
	assert_string_equal(reply_code(&r, buf, sizeof(buf)), "failed");
	assert_int_equal(web_status_of_code("failed"), 500);
	assert_int_equal(web_status_of_code("unheard"), 500);
}

static void malformed_reply_is_refused(void **state)
{
	static const char *const wrong[] = {
		"", "{", "[]", "{}", "{\"ok\":true}", "{\"ok\":false}", "{\"ok\":true,\"data\":}",
		"{\"ok\":true,\"data\":[}", "{\"ok\":true,\"data\":\"x}", "{\"ok\":true,\"data\":1",
		"{\"ok\":true \"data\":1}", "{\"ok\":true,\"data\":1,}", "{\"ok\":true,\"data\":\"\\",
		"{ok:true,\"data\":1}",
	};
	struct reply r;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (reply_find(wrong[i], strlen(wrong[i]), &r))
			fail_msg("a reply: %s", wrong[i]);
}

static void error_body_is_escaped_json(void **state)
{
	char *body = web_error_body("usage", "a \"<b>\"");

	(void)state;
	assert_string_equal(body, "{\"ok\":false,\"code\":\"usage\",\"error\":\"a \\\"<b>\\\"\"}");
	free(body);
	body = web_error_body("usage", "name '\xff': \xc3");
	assert_string_equal(body, "{\"ok\":false,\"code\":\"usage\",\"error\":\"name '?': ?\"}");
	free(body);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(get_becomes_question_to_manager),
		cmocka_unit_test(malformed_question_is_refused_with_status),
		cmocka_unit_test(too_long_path_is_refused),
		cmocka_unit_test(post_becomes_change_for_manager),
		cmocka_unit_test(change_by_wrong_method_or_type_is_refused),
		cmocka_unit_test(accept_header_chooses_format_of_metrics),
		cmocka_unit_test(events_continue_after_given_or_last_id),
		cmocka_unit_test(request_with_foreign_host_name_is_refused),
		cmocka_unit_test(user_is_answered_only_by_get),
		cmocka_unit_test(path_names_file),
		cmocka_unit_test(parts_of_reply_are_found),
		cmocka_unit_test(malformed_reply_is_refused),
		cmocka_unit_test(error_body_is_escaped_json),
		cmocka_unit_test(several_hosts_are_refused),
		cmocka_unit_test(missing_host_is_refused),
		cmocka_unit_test(whole_uri_is_taken_with_its_host),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
