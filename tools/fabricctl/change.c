// SPDX-License-Identifier: GPL-2.0-only
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "change.h"
#include "json.h"
#include "orders.h"
#include "output.h"

static void show_excluded(const json_t *table)
{
	const json_t *excluded = json_object_get(table, "excluded");
	char text[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	if (json_is_false(json_object_get(table, "changed")))
		printf("nothing to change; ");
	printf("table version %llu, %zu excluded%s\n",
	       (unsigned long long)json_count(table, "version"), json_array_size(excluded),
	       json_array_size(excluded) ? ":" : "");
	json_array_foreach(excluded, i, v)
		printf("  %s (%s)\n", json_end_text(v, text),
		       json_text(v, "why") ? json_text(v, "why") : "-");
	if (json_array_size(json_object_get(table, "orders")))
		printf("by order:\n");
	orders_show(json_object_get(table, "orders"), "", SIZE_MAX);
}

/* Copies a text, or its beginning and "..."; bytes that are not printable ASCII become \xNN. */
static void show_bytes(const char *text, char *buf, size_t room)
{
	size_t len = 0;

	for (; *text && len + 8 < room; text++)
		len += (size_t)sprintf(buf + len, *text >= ' ' && *text <= '~' ? "%c" : "\\x%02x",
				       (uint8_t)*text);
	strcpy(buf + len, *text ? "..." : "");
}

static int check_reason(const char *text)
{
	char shown[200];

	for (const char *c = text; *c; c++) {
		if (*c >= ' ' && *c <= '~')
			continue;
		show_bytes(text, shown, sizeof(shown));
		return fail("--reason '%s': must be letters, digits and signs of ASCII, and "
			    "blanks", shown);
	}
	return OK;
}

/*
 * Asks for the reason of an exclusion that has none. An empty line, or the end of input, declines;
 * a script is never asked. Return: OK, or the kind of the error, which is printed.
 */
static int ask_reason(struct exclusion *how)
{
	static char line[1024];
	size_t len;

	if (!how->asks || how->reason || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return OK;
	how->asks = false;
	fputs("reason, for whoever finds this excluded (none: Enter): ", stderr);
	if (!fgets(line, sizeof(line), stdin)) {
		fputc('\n', stderr);
		return OK;
	}
	for (len = strlen(line); len && strchr(" \t\r\n", line[len - 1]); len--)
		line[len - 1] = '\0';
	if (line[0])
		how->reason = line;
	return line[0] ? check_reason(line) : OK;
}

/* Adds a request to @list. Return: OK, or the kind of the error, which is printed. */
static int add_request(struct ask *a, const char *cmd, const char *what,
		       const struct exclusion *how, json_t *list)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	bool link = ask_is_link(what);
	int status = link ? ask_link(a, what, node, port) : ask_node(a, what, node);
	json_t *j;

	if (status != OK)
		return status;
	j = json_pack("{ss ss}", "cmd", cmd, "node", node);
	if (link)
		json_object_set_new(j, "port", json_string(port));
	if (how && how->term)
		json_object_set_new(j, "for", json_integer((json_int_t)how->term));
	if (how && how->force)
		json_object_set_new(j, "force", json_true());
	json_array_append_new(list, j);
	return OK;
}

bool change_is_kept(const json_t *data)
{
	const json_t *kept = json_object_get(data, "kept");

	return !json_is_object(kept) || 2 * json_count(kept, "have") > json_count(kept, "of");
}

int change_kept(const json_t *data)
{
	const json_t *kept = json_object_get(data, "kept");
	unsigned long long have = json_count(kept, "have"), of = json_count(kept, "of");

	if (change_is_kept(data))
		return OK;
	warn("in force, but only %llu of %llu candidates for the root have it on disk: it may be "
	     "forgotten if all nodes lose their power now; 'fabricctl root' shows which have not",
	     have, of);
	return NOT_KEPT;
}

/*
 * Prints a warning if the change is not in force, or not stored by enough candidates. Return: the
 * exit status.
 */
static int judge_change(const json_t *data)
{
	if (!json_is_false(json_object_get(data, "in_force")))
		return change_kept(data);
	warn("not in force yet: a recovery waits for something; 'fabricctl status' says for what");
	return PROBLEM;
}

/* Return: one request in place of @requests, which differ only in node and port. */
static json_t *join_requests(const json_t *requests)
{
	json_t *all = json_copy(json_array_get(requests, 0)), *links = json_array(), *v;
	size_t i;

	json_array_foreach(requests, i, v) {
		const char *node = json_text(v, "node"), *port = json_text(v, "port");

		json_array_append_new(links, json_sprintf("%s%s%s", node, port ? ":" : "",
							  port ? port : ""));
	}
	json_object_del(all, "node");
	json_object_del(all, "port");
	json_object_set_new(all, "links", links);
	return all;
}

/*
 * Sends one request after the other, because a manager of an earlier release does not accept a list
 * of links.
 */
static int ask_each(struct ask *a, const json_t *requests, json_t **data)
{
	int status = OK;
	size_t i;
	json_t *v;

	json_array_foreach(requests, i, v) {
		json_object_del(v, "force");
		json_decref(*data);
		*data = NULL;
		status = ask(a, json_incref(v), data);
		if (status != OK)
			break;
	}
	return status;
}

static int ask_all(struct ask *a, const json_t *requests, json_t **data)
{
	bool unknown = false;
	int status;

	status = ask_try(a, json_array_size(requests) == 1 ?
			    json_incref(json_array_get(requests, 0)) : join_requests(requests),
			 data, &unknown);
	return unknown ? ask_each(a, requests, data) : status;
}

int change_ask(struct ask *a, const char *cmd, struct exclusion *how, char **what, int n,
	       json_t *requests, json_t **data)
{
	int status = OK;
	size_t i;
	json_t *v;

	if (how && how->reason)
		status = check_reason(how->reason);
	/* All arguments are parsed before the first request is sent. */
	for (int k = 0; status == OK && k < n; k++)
		status = add_request(a, cmd, what[k], how, requests);
	if (status == OK && how)
		status = ask_reason(how);
	if (how && how->reason)
		json_array_foreach(requests, i, v)
			json_object_set_new(v, "reason", json_string(how->reason));
	return status == OK ? ask_all(a, requests, data) : status;
}

int change_exclusion(const struct ctl *ctl, const char *cmd, struct exclusion *how,
		     char **what, int n)
{
	json_t *requests = json_array(), *data = NULL;
	struct ask a;
	int status;

	status = ask_open(ctl, &a);
	if (status != OK) {
		json_decref(requests);
		return status;
	}
	status = change_ask(&a, cmd, how, what, n, requests, &data);
	if (status == OK && ctl->json)
		json_show(json_incref(data));
	else if (status == OK)
		show_excluded(data);
	if (status == OK)
		status = judge_change(data);
	json_decref(data);
	json_decref(requests);
	ask_close(&a);
	return status;
}

/*
 * Sends a request about the end @link, which is added to @request. @done: text that is printed
 * after success.
 */
static int change_end(const struct ctl *ctl, const char *link, json_t *request, const char *done)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	json_t *data;
	struct ask a;
	int status;

	status = ask_open(ctl, &a);
	if (status != OK) {
		json_decref(request);
		return status;
	}
	status = ask_link(&a, link, node, port);
	if (status == OK) {
		json_object_set_new(request, "node", json_string(node));
		json_object_set_new(request, "port", json_string(port));
		status = ask(&a, json_incref(request), &data);
	}
	if (status == OK && ctl->json)
		json_show(json_incref(data));
	else if (status == OK)
		printf("%s:%s %s\n", node, port, done);
	if (status == OK)
		json_decref(data);
	json_decref(request);
	ask_close(&a);
	return status;
}

int change_port(const struct ctl *ctl, const char *link, bool up)
{
	return change_end(ctl, link, json_pack("{ss sb}", "cmd", "port", "up", up),
			  up ? "is up again and trains as soon as it has a carrier" :
			  "is down until 'fabricctl link up', or until its NIC is restarted");
}

int change_retry(const struct ctl *ctl, const char *link, const char *protocol)
{
	char done[128];

	snprintf(done, sizeof(done), "asks for %s from the next start of the link on", protocol);
	return change_end(ctl, link, json_pack("{ss ss}", "cmd", "retry", "protocol", protocol),
			  done);
}

int change_retrain(const struct ctl *ctl, const char *link)
{
	return change_end(ctl, link, json_pack("{ss}", "cmd", "retrain"), "trains again");
}
