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
 * struct web_request - a request; a text is NULL if the request has no such header
 * @uri: path and query as received, or a whole URI
 * @host_due: the request must have a header Host, because it is of HTTP/1.1 or later
 * @two_hosts: the request has several headers Host
 * @body: the body, not terminated by a NUL byte
 * @hosts: names that @host may have, separated by blanks; addresses are always allowed. NULL: any
 *	name is allowed
 */
struct web_request {
	enum web_method method;
	const char *uri, *accept, *content_type, *origin, *host, *last_event_id, *hosts;
	const char *body;
	size_t body_len;
	bool host_due, two_hosts;
};

/** enum web_kind - how a request is answered */
enum web_kind {
	WEB_REFUSE,	/* answer with @status and @text */
	WEB_FILE,	/* a file of the page */
	WEB_METRICS,	/* ask the manager, answer with metrics as text */
	WEB_FAMILIES,	/* ask the manager, answer with metrics as JSON */
	WEB_ASK,	/* ask the manager, answer with its data */
	WEB_EVENTS,	/* follow the events */
	WEB_USER,	/* answer with the user's name and role */
};

/**
 * struct web_plan - what to do with a request
 * @status: status of HTTP, for WEB_REFUSE
 * @text: the reason for WEB_REFUSE; the name of the file for WEB_FILE; for WEB_EVENTS the name of
 *	the last event that the browser has, or ""
 * @allow: methods that the path allows, if @status is 405
 * @ask: request to the manager as one line, freed by web_plan_free()
 * @change: the request changes the fabric
 * @full: the answer has the other members of the manager's reply, too, not only its data
 * @format: format of the metrics, for WEB_METRICS
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

/** web_plan_make() - decide how to answer @rq; web_plan_free() frees @plan */
void web_plan_make(const struct web_request *rq, struct web_plan *plan);
void web_plan_free(struct web_plan *plan);

/** web_status_of_code() - Return: the status of HTTP for an error code of fabricd-control(7) */
int web_status_of_code(const char *code);

/** web_error_body() - Return: an error in the form of fabricctl --json, freed by the caller */
char *web_error_body(const char *code, const char *text);

#endif /* FABRICWEB_REQUEST_H */
