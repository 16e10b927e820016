/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The connections of clients: how many there are, and which wait too long. */
#ifndef FABRICWEB_LIMIT_H
#define FABRICWEB_LIMIT_H

#include <stdbool.h>
#include <sys/types.h>

#define LIMIT_CONNECTIONS 256

/**
 * struct limit - the connections; zeroed, there are none
 * @fd, @inode: the socket
 * @since: when it was accepted, or made its last request
 * @asked: it has made a request
 * @streams: it gets events, and makes no more requests
 */
struct limit {
	unsigned int n;
	struct limit_connection {
		int fd;
		ino_t inode;
		double since;
		bool asked, streams;
	} connection[LIMIT_CONNECTIONS];
};

/**
 * limit_add() - count a connection that was accepted
 * Return: false if there are too many, none of which has been idle for seconds. A connection that
 * has been so, without any request, is shut down to make room.
 */
bool limit_add(struct limit *l, int fd, double now);
/** limit_touch() - a connection made a request; @streams: its answer has no end */
void limit_touch(struct limit *l, int fd, double now, bool streams);
/** limit_sweep() - shut down the connections that make no request for too long */
void limit_sweep(struct limit *l, double now);

#endif /* FABRICWEB_LIMIT_H */
