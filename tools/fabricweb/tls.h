/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TLS of the server: its certificate, and the connections that use it. */
#ifndef FABRICWEB_TLS_H
#define FABRICWEB_TLS_H

#include <stddef.h>

struct bufferevent;
struct event_base;
struct tls;

/**
 * tls_load() - read a certificate with its chain, and its key, both PEM
 * @why: gets the text of an error, @size bytes
 * Return: NULL after an error.
 */
struct tls *tls_load(const char *cert, const char *key, char *why, size_t size);
void tls_free(struct tls *tls);

/** tls_accept() - Return: a connection that will get its socket; NULL if out of memory */
struct bufferevent *tls_accept(struct tls *tls, struct event_base *base);

#endif /* FABRICWEB_TLS_H */
