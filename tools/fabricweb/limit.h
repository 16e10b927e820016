/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits the connections of clients: their number, and how long each may make no progress. */
#ifndef FABRICWEB_LIMIT_H
#define FABRICWEB_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "source.h"

#define LIMIT_CONNECTIONS 256
#define LIMIT_ENDING	256	/* most connections that were shut down and are not closed yet */

/** enum limit_state - state of a connection */
enum limit_state {
	LIMIT_SILENT,	/* none of its requests has been admitted yet */
	LIMIT_ASKS,	/* its request is being answered */
	LIMIT_RESTS,	/* its last request was answered */
	LIMIT_STREAMS,	/* it receives events, and sends no more requests */
	LIMIT_ENDS,	/* it was shut down */
};

/**
 * struct limit - all connections; if all members are 0, there are none
 * @n: number of connections
 * @live: number of connections that were not shut down
 * @fd, @inode: the socket
 * @from: the client
 * @since: when the connection entered its state
 * @until: when the connection is shut down, unless its state changes before
 * @unread: length of the answer, in bytes; 0 after the whole answer was sent
 */
struct limit {
	unsigned int n, live;
	struct limit_connection {
		int fd;
		ino_t inode;
		struct source from;
		enum limit_state state;
		double since, until;
		size_t unread;
	} connection[LIMIT_CONNECTIONS + LIMIT_ENDING];
};

/**
 * limit_add() - count a connection that was accepted
 * If there are too many connections, this function shuts another one down: the one that has been
 * idle longest, if that is some seconds; else the oldest one of the client with most connections,
 * if @from has fewer.
 * Return: false if there are too many connections and none of them can be shut down.
 */
bool limit_add(struct limit *l, int fd, const struct source *from, double now);

/** limit_wait() - called when the password of a request begins to be hashed: extend @until */
void limit_wait(struct limit *l, int fd, double now);
/** limit_ask() - called when a request was admitted: enter LIMIT_ASKS */
void limit_ask(struct limit *l, int fd, double now);
/**
 * limit_answer() - called when the first bytes of an answer are sent: give the client time to read
 * @bytes: length of the answer
 */
void limit_answer(struct limit *l, int fd, double now, size_t bytes);
/** limit_rest() - called when the whole answer was sent: enter LIMIT_RESTS */
void limit_rest(struct limit *l, int fd, double now);
/** limit_stream() - called when a connection begins to receive events: enter LIMIT_STREAMS */
void limit_stream(struct limit *l, int fd, double now);

/** limit_sweep() - shut down the connections that have made no progress for too long */
void limit_sweep(struct limit *l, double now);
/**
 * limit_shed() - make room for an answer to @from: free @bytes bytes of unread answers
 * The client with most unread bytes loses its oldest connections. Answers of connections that were
 * shut down before, but are not closed yet, count as freed.
 * Return: false if no client has more unread bytes than @from itself.
 */
bool limit_shed(struct limit *l, const struct source *from, size_t bytes);

#endif /* FABRICWEB_LIMIT_H */
