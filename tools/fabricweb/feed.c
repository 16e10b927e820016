// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This follows the manager's events from the oldest that it keeps. A connection that ends is opened
 * again, every second at first. The manager then sends what it keeps once more; what is in the ring
 * already is left out.
 *
 * A browser gets what it has not seen, at first all that is kept, then each event as it comes. What
 * is not an event has a name: "hello" (the first), "missed" (events are lost: ask for everything
 * again), "manager" (whether it can be reached). A comment each 15 s shows a connection that died.
 */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "feed.h"
#include "ring.h"

#define EVENT_MAX	65536		/* most bytes of a line of the manager */
#define AGAIN_MAX_S	8
#define ALIVE_S		15
#define FOLLOW		"{\"cmd\":\"events\",\"since\":0,\"follow\":true}\n"

struct feed_reader {
	LIST_ENTRY(feed_reader) entry;
	struct feed *feed;
	feed_send *send;
	void *arg;
	bool left;
};

/**
 * struct feed - the events
 * @bev: the connection; NULL: closed
 * @again_s: how long to wait before the next connection
 * @reachable: the manager has answered on this connection, which is open
 * @sending: readers are being called, and must not be freed
 */
struct feed {
	struct event_base *base;
	struct sockaddr_un address;
	struct bufferevent *bev;
	struct event *again, *alive;
	unsigned int again_s;
	bool reachable, sending;
	struct ring ring;
	LIST_HEAD(, feed_reader) readers;
};

/* --- readers ------------------------------------------------------------------------------ */

static void free_left(struct feed *f)
{
	struct feed_reader *r = LIST_FIRST(&f->readers), *next;

	for (; r; r = next) {
		next = LIST_NEXT(r, entry);
		if (!r->left)
			continue;
		LIST_REMOVE(r, entry);
		free(r);
	}
}

/* Sends a text to all readers. */
static void send_to_all(struct feed *f, const char *text, size_t len)
{
	struct evbuffer *buf = evbuffer_new();
	struct feed_reader *r;

	if (!buf)
		return;
	f->sending = true;
	LIST_FOREACH(r, &f->readers, entry)
		if (!r->left && !evbuffer_add(buf, text, len))
			r->send(r->arg, buf);
	f->sending = false;
	evbuffer_free(buf);
	free_left(f);
}

static void print_event(struct evbuffer *buf, const struct ring_event *e)
{
	char id[RING_ID_MAX];

	evbuffer_add_printf(buf, "id: %s\ndata: %s\n\n", ring_id(e, id), e->json);
}

static void set_reachable(struct feed *f, bool reachable)
{
	char text[80];

	if (f->reachable == reachable)
		return;
	f->reachable = reachable;
	snprintf(text, sizeof(text), "event: manager\ndata: {\"reachable\":%s}\n\n",
		 reachable ? "true" : "false");
	send_to_all(f, text, strlen(text));
}

/* --- the manager -------------------------------------------------------------------------- */

static void take_fed(struct feed *f, const json_t *event)
{
	json_int_t seq = json_integer_value(json_object_get(event, "seq"));
	double time = json_number_value(json_object_get(event, "time"));
	char *text = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(15));
	struct evbuffer *buf = evbuffer_new();
	bool valid = seq > 0 && time > 0 && time < 1e11;

	if (buf && text && valid &&
	    ring_add(&f->ring, (uint64_t)seq, (uint64_t)llround(time * 1e6), text)) {
		print_event(buf, ring_at(&f->ring, f->ring.next - 1));
		send_to_all(f, (const char *)evbuffer_pullup(buf, -1), evbuffer_get_length(buf));
	}
	free(text);
	if (buf)
		evbuffer_free(buf);
}

static void close_feed(struct feed *f)
{
	struct timeval wait = { f->again_s, 0 };

	if (f->bev)
		bufferevent_free(f->bev);
	f->bev = NULL;
	set_reachable(f, false);
	event_add(f->again, &wait);
	f->again_s = f->again_s < AGAIN_MAX_S ? 2 * f->again_s : AGAIN_MAX_S;
}

static void on_feed_read(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct feed *f = arg;
	json_t *j, *v;
	size_t len, i;
	char *text;

	while (f->bev && (text = evbuffer_readln(in, &len, EVBUFFER_EOL_LF)) != NULL) {
		j = json_loadb(text, len, 0, NULL);
		free(text);
		if (!json_is_true(json_object_get(j, "ok"))) {
			json_decref(j);
			close_feed(f);
			return;
		}
		f->again_s = 1;
		set_reachable(f, true);
		json_array_foreach(json_object_get(j, "data"), i, v)
			take_fed(f, v);
		json_decref(j);
	}
	if (evbuffer_get_length(in) >= EVENT_MAX)
		close_feed(f);
}

static void on_feed_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	if (!(what & BEV_EVENT_CONNECTED))
		close_feed(arg);
}

static void connect_feed(struct feed *f)
{
	if (f->bev)
		return;
	event_del(f->again);
	f->bev = bufferevent_socket_new(f->base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (!f->bev || bufferevent_socket_connect(f->bev, (struct sockaddr *)&f->address,
						  sizeof(f->address))) {
		close_feed(f);
		return;
	}
	bufferevent_setcb(f->bev, on_feed_read, NULL, on_feed_event, f);
	bufferevent_setwatermark(f->bev, EV_READ, 0, EVENT_MAX);
	bufferevent_enable(f->bev, EV_READ | EV_WRITE);
	bufferevent_write(f->bev, FOLLOW, sizeof(FOLLOW) - 1);
}

static void on_feed_again(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	connect_feed(arg);
}

static void on_feed_alive(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	send_to_all(arg, ":\n\n", 3);
}

/* --- joining ------------------------------------------------------------------------------ */

static void greet_reader(struct feed *f, const char *after, struct evbuffer *buf)
{
	bool missed = false;
	uint64_t place = *after ? ring_after(&f->ring, after, &missed) : ring_first(&f->ring);

	evbuffer_add_printf(buf, "retry: 2000\nevent: hello\ndata: {\"reachable\":%s}\n\n",
			    f->reachable ? "true" : "false");
	if (missed)
		evbuffer_add_printf(buf, "event: missed\ndata: {}\n\n");
	for (; place < f->ring.next; place++)
		print_event(buf, ring_at(&f->ring, place));
}

struct feed_reader *feed_join(struct feed *f, const char *after, feed_send *send, void *arg)
{
	struct feed_reader *r = calloc(1, sizeof(*r));
	struct evbuffer *buf = evbuffer_new();

	if (!r || !buf) {
		free(r);
		if (buf)
			evbuffer_free(buf);
		return NULL;
	}
	r->feed = f;
	r->send = send;
	r->arg = arg;
	greet_reader(f, after, buf);
	LIST_INSERT_HEAD(&f->readers, r, entry);
	f->sending = true;
	send(arg, buf);
	f->sending = false;
	evbuffer_free(buf);
	return r;
}

void feed_leave(struct feed_reader *r)
{
	r->left = true;
	if (!r->feed->sending)
		free_left(r->feed);
}

struct feed *feed_new(struct event_base *base, const char *path)
{
	static const struct timeval alive = { ALIVE_S, 0 };
	struct feed *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->base = base;
	f->again_s = 1;
	f->address.sun_family = AF_UNIX;
	strncpy(f->address.sun_path, path, sizeof(f->address.sun_path) - 1);
	LIST_INIT(&f->readers);
	f->again = evtimer_new(base, on_feed_again, f);
	f->alive = event_new(base, -1, EV_PERSIST, on_feed_alive, f);
	if (!f->again || !f->alive || event_add(f->alive, &alive)) {
		feed_free(f);
		return NULL;
	}
	connect_feed(f);
	return f;
}

void feed_free(struct feed *f)
{
	struct feed_reader *r;

	if (f->bev)
		bufferevent_free(f->bev);
	while ((r = LIST_FIRST(&f->readers)) != NULL) {
		LIST_REMOVE(r, entry);
		free(r);
	}
	if (f->again)
		event_free(f->again);
	if (f->alive)
		event_free(f->alive);
	ring_clear(&f->ring);
	free(f);
}
