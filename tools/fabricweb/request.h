/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides what a request of a browser or a collector asks for. Nothing here does I/O: the same
 * request always gives the same plan.
 */
#ifndef FABRICWEB_REQUEST_H
#define FABRICWEB_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/metrics/metrics.h"

#define WEB_URI_MAX	2048	/* longest path with its query, bytes */
#define WEB_BODY_MAX	16384	/* longest body of a change, bytes */
#define WEB_TEXT_MAX	256

/** enum web_method - methods that are served */
enum web_method {
	WEB_GET,
	WEB_HEAD,
	WEB_POST,
	WEB_OTHER,
};

/**
 * struct web_request - a request; texts may be NULL if there is no such header
 * @uri: path and query as received, or a whole URI
 * @host_due: HTTP/1.1 or later, in which each request has a host
 * @two_hosts: there are several such headers
 * @body: not terminated by a NUL byte
 * @hosts: names that @host may have beside addresses, with blanks between them; NULL: any
 */
struct web_request {
	enum web_method method;
	const char *uri, *accept, *content_type, *origin, *host, *last_event_id, *hosts;
	const char *body;
	size_t body_len;
	bool host_due, two_hosts;
};

/** enum web_kind - what is to be done */
enum web_kind {
	WEB_REFUSE,	/* answer with @status and @text */
	WEB_FILE,	/* a file of the page */
	WEB_METRICS,	/* ask the manager, answer with metrics as text */
	WEB_FAMILIES,	/* ... with metrics as JSON */
	WEB_ASK,	/* ask the manager, answer with its data */
	WEB_EVENTS,	/* follow the events */
	WEB_USER,	/* tell who the client is, and what it may do */
};

/**
 * struct web_plan - what to do with a request
 * @status: of HTTP, for WEB_REFUSE
 * @text: why, or the name of the file, or the number of the event to go on from ("": none)
 * @allow: methods that the path has, if @status is 405
 * @ask: request to the manager as one line, freed by web_plan_free()
 * @change: the request changes the fabric
 * @full: answer with what stands beside the data, too
 * @format: for WEB_METRICS
 */
struct web_plan {
	enum web_kind kind;
	int status;
	char text[WEB_TEXT_MAX];
	const char *allow;
	char *ask;
	bool change, full;
	enum metrics_format format;
};

/** web_plan_make() - decide; @plan is freed by web_plan_free() */
void web_plan_make(const struct web_request *rq, struct web_plan *plan);
void web_plan_free(struct web_plan *plan);

/** web_status_of_code() - Return: the status of HTTP for a code of fabricd-control(7) */
int web_status_of_code(const char *code);

/** web_error_body() - Return: a failure as of fabricctl --json, freed by the caller */
char *web_error_body(const char *code, const char *text);

#endif /* FABRICWEB_REQUEST_H */
