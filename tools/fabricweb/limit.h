/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The connections of clients: how many there are, and which wait too long. */
#ifndef FABRICWEB_LIMIT_H
#define FABRICWEB_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "source.h"

#define LIMIT_CONNECTIONS 256
#define LIMIT_ENDING	256	/* that were shut down, and are not closed yet */

/** enum limit_state - what a connection does */
enum limit_state {
	LIMIT_SILENT,	/* it has made no request that was let in */
	LIMIT_ASKS,	/* its request is being answered */
	LIMIT_RESTS,	/* its last request was answered */
	LIMIT_STREAMS,	/* it gets events, and makes no more requests */
	LIMIT_ENDS,	/* it was shut down */
};

/**
 * struct limit - the connections; zeroed, there are none
 * @live: how many were not shut down
 * @fd, @inode: the socket
 * @from: the client
 * @since: when it got into this state
 * @until: when it is shut down, if nothing happens
 * @unread: bytes of its answer, until that was sent as a whole
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
 * If there are too many, another one is shut down to make room: the one that has been idle longest,
 * for seconds, or else the oldest of the client that has most, if this client has fewer.
 * Return: false if there is none such.
 */
bool limit_add(struct limit *l, int fd, const struct source *from, double now);

/** limit_wait() - the password of a request is being hashed, so it is not silent; nor let in yet */
void limit_wait(struct limit *l, int fd, double now);
/** limit_ask() - a connection has made a request that was let in */
void limit_ask(struct limit *l, int fd, double now);
/** limit_answer() - the answer begins to be sent; @bytes: how much a slow client has to read */
void limit_answer(struct limit *l, int fd, double now, size_t bytes);
/** limit_rest() - the answer was sent as a whole */
void limit_rest(struct limit *l, int fd, double now);
/** limit_stream() - a connection gets events from now on */
void limit_stream(struct limit *l, int fd, double now);

/** limit_sweep() - shut down the connections that make no progress for too long */
void limit_sweep(struct limit *l, double now);
/**
 * limit_shed() - free some bytes of answers that are not read, for a further answer
 * Those that have been going on longest of the client with most such bytes are shut down. Those
 * that were shut down before, but are not closed yet, count as freed. Return: false if @from itself
 * has most.
 */
bool limit_shed(struct limit *l, const struct source *from, size_t bytes);

#endif /* FABRICWEB_LIMIT_H */
