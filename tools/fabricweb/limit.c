// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * evhttp has no limit of connections, and does not tell when one ends before its first request. So
 * each is known by its descriptor and the inode of its socket: a descriptor that is closed, or that
 * has another inode, was of a connection that has ended. Connections are ended by shutdown(), which
 * evhttp takes for a client that leaves.
 *
 * Test: tests/unit/test_fabricweb_limit.c.
 */
#include <sys/socket.h>
#include <sys/stat.h>

#include "limit.h"

#define REQUEST_S	20	/* time for the first request to arrive as a whole */
#define NEXT_S		75	/* time until the next one, with the answer to the last one */
#define MAKE_ROOM_S	3	/* idle for so long, it gives way to another client */

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

/* Forgets the connections that have ended. */
static void drop_ended(struct limit *l)
{
	for (unsigned int i = 0; i < l->n;)
		if (inode_of(l->connection[i].fd) != l->connection[i].inode)
			l->connection[i] = l->connection[--l->n];
		else
			i++;
}

static void shut_down(struct limit *l, unsigned int i)
{
	shutdown(l->connection[i].fd, SHUT_RDWR);
	l->connection[i] = l->connection[--l->n];
}

/* Shuts down the connection that has waited longest without any request. */
static void evict_idle(struct limit *l, double now)
{
	unsigned int oldest = l->n;

	for (unsigned int i = 0; i < l->n; i++)
		if (!l->connection[i].asked &&
		    (oldest == l->n || l->connection[i].since < l->connection[oldest].since))
			oldest = i;
	if (oldest < l->n && now - l->connection[oldest].since >= MAKE_ROOM_S)
		shut_down(l, oldest);
}

bool limit_add(struct limit *l, int fd, double now)
{
	if (l->n == LIMIT_CONNECTIONS)
		drop_ended(l);
	if (l->n == LIMIT_CONNECTIONS)
		evict_idle(l, now);
	if (l->n == LIMIT_CONNECTIONS)
		return false;
	l->connection[l->n++] = (struct limit_connection){ fd, inode_of(fd), now, false, false };
	return true;
}

void limit_touch(struct limit *l, int fd, double now, bool streams)
{
	for (unsigned int i = 0; i < l->n; i++)
		if (l->connection[i].fd == fd && l->connection[i].inode == inode_of(fd)) {
			l->connection[i].since = now;
			l->connection[i].asked = true;
			l->connection[i].streams = streams;
		}
}

void limit_sweep(struct limit *l, double now)
{
	drop_ended(l);
	for (unsigned int i = 0; i < l->n;) {
		const struct limit_connection *c = &l->connection[i];

		if (!c->streams && now - c->since >= (c->asked ? NEXT_S : REQUEST_S))
			shut_down(l, i);
		else
			i++;
	}
}
