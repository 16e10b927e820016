/* SPDX-License-Identifier: GPL-2.0-only */
/* The control socket; fabricd-control(7) is its protocol. */
#ifndef CONTROL_H
#define CONTROL_H

#include <stddef.h>
#include <sys/types.h>
#include <jansson.h>

struct control;
struct fabricd;

#define CONTROL_LINE_MAX	65536		/* most bytes of a request */
#define CONTROL_REPLY_MAX	(16u << 20)

/** control_new() - open the socket and listen. Return: NULL after an error, with @err negative */
struct control *control_new(struct fabricd *d, int *err);
/** control_free() - close all connections, and remove the socket */
void control_free(struct control *c);

/** control_events() - send new events to the clients that follow events */
void control_events(struct control *c);

/**
 * control_parse() - parse a request
 * @error: if the request is malformed, set to the reason; it has @room bytes
 * Return: the request; NULL if it is malformed.
 */
json_t *control_parse(const char *line, size_t len, char *error, size_t room);

#endif /* CONTROL_H */
