/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server: accepts connections of clients, and answers their requests. */
#ifndef FABRICWEB_SERVER_H
#define FABRICWEB_SERVER_H

#include "conf.h"

struct event_base;
struct server;

/**
 * server_new() - read the files that the options name, and listen
 * Return: the server; NULL after printing an error.
 */
struct server *server_new(struct event_base *base, const struct conf *conf);
/** server_reload() - read the certificate and the users again; after an error the old ones stay */
void server_reload(struct server *s);
void server_free(struct server *s);

#endif /* FABRICWEB_SERVER_H */
