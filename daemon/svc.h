/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The service network: connections to the managers of other nodes. A peer has to prove that it
 * belongs to the fabric (auth.h) before this code passes any other message of the peer on.
 * Connections have numbers from 1 on; no number is used twice.
 */
#ifndef SVC_H
#define SVC_H

#include "daemon/auth.h"
#include "daemon/svc_msg.h"

struct loop;
struct svc;

/**
 * struct svc_config
 * @address: address to listen on and to connect from
 * @user_timeout_ms: a connection ends if data is not acknowledged for this long
 * @oldest, @newest: schemas that this manager speaks (schema.h)
 */
struct svc_config {
	const char *address;
	unsigned int user_timeout_ms;
	unsigned int oldest, newest;
	const struct auth *auth;
};

/**
 * struct svc_ops - callbacks to the owner
 * @up: the peer of a connection has proved that it belongs to the fabric
 * @down: a connection that was up, or was opened by svc_connect(), is gone
 * @msg: a message arrived on a connection that is up; the caller frees its contents after the call
 */
struct svc_ops {
	void (*up)(void *arg, int conn);
	void (*down)(void *arg, int conn);
	void (*msg)(void *arg, int conn, const struct svc_msg *msg);
};

/** struct svc_stats - numbers of refused peers, for the status */
struct svc_stats {
	uint64_t refused_fabric;	/* the peer belongs to another fabric */
	uint64_t refused_key;		/* the peer did not prove that it has the key */
	uint64_t refused_schema;	/* no schema in common */
	uint64_t refused_malformed;	/* the peer has sent malformed messages */
	uint64_t refused_busy;		/* too many connections at the same time */
	uint64_t refused_at;		/* loop_now() at the last refusal; 0: none yet */
	char last_refused[AUTH_TEXT_MAX + 192];
	unsigned int up;
};

/** svc_new() - listen on the service address. Return: NULL after an error, with @err negative */
struct svc *svc_new(struct loop *loop, const struct svc_config *c,
		    const struct svc_ops *ops, void *arg, int *err);
void svc_free(struct svc *svc);

/** svc_connect() - open a connection. Return: its number, or a negative errno. */
int svc_connect(struct svc *svc, const char *addr);
/** svc_send() - send a message on a connection; does nothing if it is not up */
void svc_send(struct svc *svc, int conn, const struct svc_msg *msg);
/** svc_close() - close a connection after its output is sent; @down is not called */
void svc_close(struct svc *svc, int conn);
/** svc_reset() - close all connections; @down is not called */
void svc_reset(struct svc *svc);

/**
 * svc_each() - call @fn for each connection that is up: the connections opened here if @outgoing,
 * else the accepted ones
 */
void svc_each(struct svc *svc, bool outgoing, void (*fn)(void *arg, int conn), void *arg);
/**
 * svc_mixed() - count the connections that are up and lead to managers of another release
 * @text: set to the names of some of these managers, with the newest schema of each
 * Return: the number of connections.
 */
unsigned int svc_mixed(const struct svc *svc, char *text, size_t room);
const struct svc_stats *svc_stats(const struct svc *svc);

#endif /* SVC_H */
