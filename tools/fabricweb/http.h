/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends answers by evhttp, and checks the form of a request, whatever it asks for. */
#ifndef FABRICWEB_HTTP_H
#define FABRICWEB_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "request.h"

struct evbuffer;
struct evhttp_request;

void http_add_header(struct evhttp_request *rq, const char *name, const char *value);

/**
 * http_send() - send an answer
 * @text: body of the answer; this buffer is emptied. NULL: there was no memory for the body
 */
void http_send(struct evhttp_request *rq, int status, const char *type, struct evbuffer *text);
/** http_send_failure() - send an object with a code and a text (fabricweb(8)) */
void http_send_failure(struct evhttp_request *rq, int status, const char *code, const char *text);

enum web_method http_method(struct evhttp_request *rq);
/** http_has_clear_end() - Return: true if the end of the request is unambiguous */
bool http_has_clear_end(struct evhttp_request *rq);
/** http_close_after() - close the connection after the answer, which was not sent yet */
void http_close_after(struct evhttp_request *rq);
/** http_is_of_11() - Return: true if the request is of HTTP/1.1 or a later version */
bool http_is_of_11(const struct evhttp_request *rq);
/** http_has_two() - Return: true if there are several headers of that name */
bool http_has_two(struct evhttp_request *rq, const char *name);
/** http_descriptor() - Return: the socket of the connection; -1 if the connection has ended */
int http_descriptor(struct evhttp_request *rq);

#endif /* FABRICWEB_HTTP_H */
