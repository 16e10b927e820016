/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to the fabric manager, over a few connections to its control socket which all clients
 * share. Equal questions that are under way at the same time are asked once.
 */
#ifndef FABRICWEB_CONTROL_H
#define FABRICWEB_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "source.h"

struct body;
struct control;
struct event_base;

/**
 * control_done - called once for each request
 * @body: the reply; the callback may call body_hold() to keep it. NULL: there is no reply
 * @code: why there is no reply: "unreachable", "timeout", "failed"; or "unread", if this client has
 *        not read megabytes of other answers yet
 */
typedef void control_done(void *arg, struct body *body, const char *code);

/**
 * control_room - called before a question is sent, if clients have left too many bytes of answers
 * unread
 * @from: the client that asks
 * @bytes: number of bytes that have to be freed
 * Return: true if this many bytes will be freed.
 */
typedef bool control_room(void *arg, const struct source *from, size_t bytes);

/**
 * control_new() - Return: requests to the manager at this socket; NULL if out of memory
 * The socket is opened by the first request, and again after an error.
 */
struct control *control_new(struct event_base *base, const char *path, control_room *room,
			    void *arg);
/** control_free() - end all requests, without an answer */
void control_free(struct control *c);

/**
 * control_ask() - send a request of one line
 * @change: the request changes the fabric: it gets an answer of its own, which no other request
 *	shares
 * @from: the client; clients take turns with their requests
 * @done may be called before this function returns.
 */
void control_ask(struct control *c, const char *request, bool change, const struct source *from,
		 control_done *done, void *arg);

#endif /* FABRICWEB_CONTROL_H */
