// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * evhttp has no limit of connections, and does not report a connection that ends before its first
 * request. So each is known by its descriptor and the inode of its socket: a descriptor that is
 * closed, or that has another inode, was of a connection that has ended. Connections are ended by
 * shutdown(), which evhttp takes for a client that leaves; but not while the manager is being
 * asked, so those that were shut down are counted until their descriptors are closed.
 *
 * Test: tests/unit/test_fabricweb_limit.c.
 */
#include <sys/socket.h>
#include <sys/stat.h>

#include "limit.h"

#define REQUEST_S	20	/* time for the first request to arrive as a whole */
/* time for the manager to answer, or for the client to read a small answer */
#define ANSWER_S	60
/* least bytes per second that a client has to read of a larger answer */
#define READ_RATE	16384
#define NEXT_S		75	/* time until the next request has to begin */
/* a connection that is idle for this long gives way to one of another client */
#define MAKE_ROOM_S	3

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

/* Forgets the connections that have ended. */
static void drop_ended(struct limit *l)
{
	for (unsigned int i = 0; i < l->n;)
		if (inode_of(l->connection[i].fd) != l->connection[i].inode) {
			l->live -= l->connection[i].state != LIMIT_ENDS;
			l->connection[i] = l->connection[--l->n];
		} else {
			i++;
		}
}

static void shut_down(struct limit *l, struct limit_connection *c)
{
	shutdown(c->fd, SHUT_RDWR);
	c->state = LIMIT_ENDS;
	l->live--;
}

/*
 * Return: the connection that has been longest in that state, if for MAKE_ROOM_S or longer; NULL if
 * there is none.
 */
static struct limit_connection *find_idle_longest(struct limit *l, enum limit_state state,
						  double now)
{
	struct limit_connection *oldest = NULL;

	for (unsigned int i = 0; i < l->n; i++) {
		struct limit_connection *c = &l->connection[i];

		if (c->state == state && (!oldest || c->since < oldest->since))
			oldest = c;
	}
	return oldest && now - oldest->since >= MAKE_ROOM_S ? oldest : NULL;
}

static unsigned int count_connections(const struct limit *l, const struct source *from)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < l->n; i++)
		n += l->connection[i].state != LIMIT_ENDS &&
		     source_is_same(&l->connection[i].from, from);
	return n;
}

/*
 * Return: the oldest connection of the client with most connections; NULL if that client has no
 * more than @from would have with one more.
 */
static struct limit_connection *find_of_greediest(struct limit *l, const struct source *from)
{
	struct limit_connection *found = NULL;
	unsigned int most = count_connections(l, from) + 1;

	/* no other client can have more; this also ends the loop early when one client floods */
	if (2 * most > l->live)
		return NULL;
	for (unsigned int i = 0; i < l->n; i++) {
		struct limit_connection *c = &l->connection[i];
		unsigned int n = c->state == LIMIT_ENDS ? 0 : count_connections(l, &c->from);

		if (n > most || (n == most && found && c->since < found->since)) {
			most = n;
			found = c;
		}
	}
	return found;
}

static bool evict_for(struct limit *l, const struct source *from, double now)
{
	struct limit_connection *c = find_idle_longest(l, LIMIT_SILENT, now);

	if (!c)
		c = find_idle_longest(l, LIMIT_RESTS, now);
	if (!c)
		c = find_of_greediest(l, from);
	if (c)
		shut_down(l, c);
	return c;
}

bool limit_add(struct limit *l, int fd, const struct source *from, double now)
{
	if (l->live >= LIMIT_CONNECTIONS || l->n == LIMIT_CONNECTIONS + LIMIT_ENDING)
		drop_ended(l);
	if (l->n == LIMIT_CONNECTIONS + LIMIT_ENDING ||
	    (l->live >= LIMIT_CONNECTIONS && !evict_for(l, from, now)))
		return false;
	l->connection[l->n++] = (struct limit_connection){
		fd, inode_of(fd), *from, LIMIT_SILENT, now, now + REQUEST_S, 0,
	};
	l->live++;
	return true;
}

static struct limit_connection *find_connection(struct limit *l, int fd)
{
	for (unsigned int i = 0; i < l->n; i++) {
		struct limit_connection *c = &l->connection[i];

		if (c->fd == fd && c->state != LIMIT_ENDS && c->inode == inode_of(fd))
			return c;
	}
	return NULL;
}

void limit_wait(struct limit *l, int fd, double now)
{
	struct limit_connection *c = find_connection(l, fd);

	if (c)
		c->until = now + ANSWER_S;
}

void limit_ask(struct limit *l, int fd, double now)
{
	struct limit_connection *c = find_connection(l, fd);

	if (!c)
		return;
	c->state = LIMIT_ASKS;
	c->since = now;
	c->until = now + ANSWER_S;
}

void limit_answer(struct limit *l, int fd, double now, size_t bytes)
{
	struct limit_connection *c = find_connection(l, fd);

	if (!c || c->state != LIMIT_ASKS)
		return;
	c->until = now + ANSWER_S + (double)bytes / READ_RATE;
	c->unread = bytes;
}

void limit_rest(struct limit *l, int fd, double now)
{
	struct limit_connection *c = find_connection(l, fd);

	if (!c || c->state != LIMIT_ASKS)
		return;
	c->state = LIMIT_RESTS;
	c->since = now;
	c->unread = 0;
	c->until = now + NEXT_S;
}

void limit_stream(struct limit *l, int fd, double now)
{
	struct limit_connection *c = find_connection(l, fd);

	if (!c)
		return;
	c->state = LIMIT_STREAMS;
	c->since = now;
}

void limit_sweep(struct limit *l, double now)
{
	drop_ended(l);
	for (unsigned int i = 0; i < l->n; i++) {
		struct limit_connection *c = &l->connection[i];

		if (c->state != LIMIT_STREAMS && c->state != LIMIT_ENDS && now >= c->until)
			shut_down(l, c);
	}
}

static size_t count_unread(const struct limit *l, const struct source *from)
{
	size_t bytes = 0;

	for (unsigned int i = 0; i < l->n; i++)
		if (l->connection[i].state == LIMIT_ASKS &&
		    source_is_same(&l->connection[i].from, from))
			bytes += l->connection[i].unread;
	return bytes;
}

/*
 * Return: the oldest unread answer of the client with most unread bytes; NULL if no client has more
 * than @from.
 */
static struct limit_connection *find_most_unread(struct limit *l, const struct source *from)
{
	struct limit_connection *found = NULL;
	size_t most = count_unread(l, from);

	for (unsigned int i = 0; i < l->n; i++) {
		struct limit_connection *c = &l->connection[i];
		size_t bytes = c->state == LIMIT_ASKS && c->unread ? count_unread(l, &c->from) : 0;

		if (bytes > most || (bytes == most && found && c->since < found->since)) {
			most = bytes;
			found = c;
		}
	}
	return found;
}

bool limit_shed(struct limit *l, const struct source *from, size_t bytes)
{
	size_t freed = 0;

	drop_ended(l);
	for (unsigned int i = 0; i < l->n; i++)
		freed += l->connection[i].state == LIMIT_ENDS ? l->connection[i].unread : 0;
	while (freed < bytes) {
		struct limit_connection *c = find_most_unread(l, from);

		if (!c)
			return false;
		freed += c->unread;
		shut_down(l, c);
	}
	return true;
}
