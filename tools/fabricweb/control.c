// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A manager serves 48 clients without privileges (fabricd-control(7)), and answers one request of
 * a connection after the other. So there are four connections, and calls wait for one that is
 * free. A call is a request with all that wait for its answer. Of those that wait, the first of the
 * client that has fewest under way comes next, so that one who asks much does not hold up others.
 *
 * An answer that is younger than KEEP_MS is given to further askers, so a hundred browsers that
 * look at the same page cost the manager one question. A change drops these answers.
 *
 * A call ends after ANSWER_S, however much of an answer has come by then, and so does one that has
 * waited for that time. When more than UNREAD_MAX bytes of answers are unread by clients, the
 * client with most of them loses some before a call of another one is made, and may make none
 * itself. So the most memory is UNREAD_MAX, and one answer of each connection.
 */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "body.h"
#include "control.h"
#include "lib/util/clock.h"

#define LINES		4
#define CALLS_MAX	256		/* most calls that wait or are under way */
#define CALLS_OF_ONE	(CALLS_MAX / 2)	/* most calls of one client that wait */
#define REPLY_MAX	(16u << 20)	/* longest reply, as in fabricd-control(7) */
/* time for an answer: the manager itself answers within 9 s */
#define ANSWER_S	12
#define KEEP_MS		250
#define KEEP_BYTES	(1u << 20)	/* larger answers are not kept */
#define KEPT_MAX	16
#define UNREAD_MAX	(48u << 20)
#define TICK_S		1		/* interval in which the time of calls is checked */

struct asker {
	control_done *done;
	void *arg;
	struct asker *next;
};

/**
 * struct call - a request
 * @askers: clients that wait for the answer; none: the call has been answered, and is kept
 * @from: the client; if there are several, the one with the fewest waiting calls
 * @body: its answer, if it is kept
 * @at: when it was asked, or answered
 */
struct call {
	TAILQ_ENTRY(call) entry;
	char *request;
	bool change;
	struct source from;
	struct asker *askers;
	struct body *body;
	double at;
};

TAILQ_HEAD(calls, call);

/** struct line - a connection; @bev is NULL if it is closed */
struct line {
	struct control *control;
	struct bufferevent *bev;
	struct call *call;
};

/**
 * struct control - all requests
 * @room: callback that frees answers that clients do not read
 * @waiting: calls that no connection is free for
 * @kept: calls that were answered a moment ago
 * @n: calls that wait or are under way
 * @tick: runs while there are any
 */
struct control {
	struct event_base *base;
	struct event *tick;
	struct sockaddr_un address;
	control_room *room;
	void *arg;
	struct line line[LINES];
	struct calls waiting, kept;
	unsigned int n, n_kept;
};

static void start_waiting(struct control *c);

static void free_call(struct call *call)
{
	free(call->request);
	if (call->body)
		body_drop(call->body);
	free(call);
}

static void close_line(struct line *l)
{
	if (l->bev)
		bufferevent_free(l->bev);
	l->bev = NULL;
}

/* --- answers that are kept ---------------------------------------------------------------- */

static void forget_first(struct control *c)
{
	struct call *call = TAILQ_FIRST(&c->kept);

	TAILQ_REMOVE(&c->kept, call, entry);
	c->n_kept--;
	free_call(call);
}

static void forget_stale(struct control *c)
{
	struct call *call;

	while ((call = TAILQ_FIRST(&c->kept)) != NULL &&
	       (c->n_kept > KEPT_MAX || seconds_now() - call->at > KEEP_MS / 1e3))
		forget_first(c);
}

static void keep_answer(struct control *c, struct call *call, struct body *body)
{
	if (body->len > KEEP_BYTES || call->change) {
		free_call(call);
		return;
	}
	call->body = body_hold(body);
	call->at = seconds_now();
	TAILQ_INSERT_TAIL(&c->kept, call, entry);
	c->n_kept++;
	forget_stale(c);
}

/* --- calls -------------------------------------------------------------------------------- */

/* Passes the answer of a call, or @code, to all its askers. */
static void answer_askers(struct call *call, struct body *body, const char *code)
{
	struct asker *a;

	while ((a = call->askers) != NULL) {
		call->askers = a->next;
		a->done(a->arg, body, code);
		free(a);
	}
}

/* Ends the call of a connection. @code: why there is no answer; NULL: @body is the answer. */
static void end_call(struct line *l, struct body *body, const char *code)
{
	struct control *c = l->control;
	struct call *call = l->call;

	l->call = NULL;
	c->n--;
	while (call->change && c->n_kept)
		forget_first(c);
	answer_askers(call, body, code);
	if (body)
		keep_answer(c, call, body);
	else
		free_call(call);
}

static void on_control_read(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct line *l = arg;
	size_t len;
	char *text = evbuffer_readln(in, &len, EVBUFFER_EOL_LF);
	struct body *body;

	if (!text && evbuffer_get_length(in) < REPLY_MAX)
		return;
	body = body_new(text, len);
	/* A line without a request must not be taken for the reply to the next request. */
	if (!body || !l->call || evbuffer_get_length(in))
		close_line(l);
	if (l->call)
		end_call(l, body, "failed");
	if (body)
		body_drop(body);
	start_waiting(l->control);
}

/* Ends the calls that have taken too long; those that wait stand in the order of their time. */
static void on_control_tick(evutil_socket_t fd, short what, void *arg)
{
	struct control *c = arg;
	double latest = seconds_now() - ANSWER_S;
	struct call *call;

	(void)fd;
	(void)what;
	for (unsigned int i = 0; i < LINES; i++)
		if (c->line[i].call && c->line[i].call->at <= latest) {
			close_line(&c->line[i]);
			end_call(&c->line[i], NULL, "timeout");
		}
	while ((call = TAILQ_FIRST(&c->waiting)) != NULL && call->at <= latest) {
		TAILQ_REMOVE(&c->waiting, call, entry);
		c->n--;
		answer_askers(call, NULL, "timeout");
		free_call(call);
	}
	start_waiting(c);
	if (!c->n)
		event_del(c->tick);
}

static void on_control_event(struct bufferevent *bev, short what, void *arg)
{
	struct line *l = arg;

	(void)bev;
	if (what & BEV_EVENT_CONNECTED)
		return;
	close_line(l);
	if (l->call)
		end_call(l, NULL, "unreachable");
	start_waiting(l->control);
}

/* Opens the socket of the manager. Return: false if there is no manager. */
static bool open_line(struct line *l)
{
	struct control *c = l->control;

	if (l->bev)
		return true;
	l->bev = bufferevent_socket_new(c->base, -1, BEV_OPT_CLOSE_ON_FREE);
	/* A Unix socket connects at once or fails, so no event is needed for that. */
	if (!l->bev || bufferevent_socket_connect(l->bev, (struct sockaddr *)&c->address,
						  sizeof(c->address)))
		return false;
	bufferevent_setcb(l->bev, on_control_read, NULL, on_control_event, l);
	bufferevent_setwatermark(l->bev, EV_READ, 0, REPLY_MAX);
	return !bufferevent_enable(l->bev, EV_READ | EV_WRITE);
}

static void start_call(struct line *l, struct call *call)
{
	l->call = call;
	if (!open_line(l)) {
		close_line(l);
		end_call(l, NULL, "unreachable");
		return;
	}
	bufferevent_write(l->bev, call->request, strlen(call->request));
	bufferevent_write(l->bev, "\n", 1);
}

static unsigned int count_under_way(const struct control *c, const struct source *from)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < LINES; i++)
		n += c->line[i].call && source_is_same(&c->line[i].call->from, from);
	return n;
}

static unsigned int count_waiting(const struct control *c, const struct source *from)
{
	const struct call *call;
	unsigned int n = 0;

	TAILQ_FOREACH(call, &c->waiting, entry)
		n += source_is_same(&call->from, from);
	return n;
}

/* Return: the call that comes next; NULL if none waits. */
static struct call *choose_next(const struct control *c)
{
	unsigned int least = LINES + 1;
	struct call *call, *next = NULL;

	TAILQ_FOREACH(call, &c->waiting, entry) {
		unsigned int n = count_under_way(c, &call->from);

		if (n < least) {
			next = call;
			least = n;
		}
		if (!n)
			break;
	}
	return next;
}

static void start_waiting(struct control *c)
{
	struct call *call;

	for (unsigned int i = 0; i < LINES; i++)
		while (!c->line[i].call && (call = choose_next(c)) != NULL) {
			TAILQ_REMOVE(&c->waiting, call, entry);
			start_call(&c->line[i], call);
		}
}

/* Return: the same question, under way or just answered; NULL if there is none. */
static struct call *find_call(struct control *c, const char *request)
{
	struct call *call;

	TAILQ_FOREACH(call, &c->kept, entry)
		if (!strcmp(call->request, request))
			return call;
	TAILQ_FOREACH(call, &c->waiting, entry)
		if (!call->change && !strcmp(call->request, request))
			return call;
	for (unsigned int i = 0; i < LINES; i++) {
		call = c->line[i].call;
		if (call && !call->change && !strcmp(call->request, request))
			return call;
	}
	return NULL;
}

/*
 * Gives the call the turn of the client that has fewer waiting calls, when another client sends the
 * same request: otherwise that one could wait behind all calls of the first.
 */
static void share_call(struct control *c, struct call *call, const struct source *from)
{
	if (count_waiting(c, from) < count_waiting(c, &call->from))
		call->from = *from;
}

static bool add_asker(struct call *call, control_done *done, void *arg)
{
	struct asker *a = malloc(sizeof(*a));

	if (!a)
		return false;
	*a = (struct asker){ done, arg, call->askers };
	call->askers = a;
	return true;
}

static struct call *new_call(const char *request, bool change, const struct source *from)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->request = strdup(request);
	call->change = change;
	call->from = *from;
	call->at = seconds_now();
	if (call->request)
		return call;
	free(call);
	return NULL;
}

void control_ask(struct control *c, const char *request, bool change, const struct source *from,
		 control_done *done, void *arg)
{
	static const struct timeval tick = { TICK_S, 0 };
	struct call *call;

	forget_stale(c);
	call = change ? NULL : find_call(c, request);
	if (call && call->body) {
		done(arg, call->body, NULL);
		return;
	}
	if (call && add_asker(call, done, arg)) {
		share_call(c, call, from);
		return;
	}
	if (body_total() > UNREAD_MAX && !c->room(c->arg, from, body_total() - UNREAD_MAX)) {
		done(arg, NULL, "unread");
		return;
	}
	call = c->n < CALLS_MAX && count_waiting(c, from) < CALLS_OF_ONE ?
	       new_call(request, change, from) : NULL;
	if (!call || !add_asker(call, done, arg)) {
		if (call)
			free_call(call);
		done(arg, NULL, "failed");
		return;
	}
	if (!c->n++)
		event_add(c->tick, &tick);
	TAILQ_INSERT_TAIL(&c->waiting, call, entry);
	start_waiting(c);
}

struct control *control_new(struct event_base *base, const char *path, control_room *room,
			    void *arg)
{
	struct control *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->base = base;
	c->room = room;
	c->arg = arg;
	c->address.sun_family = AF_UNIX;
	strncpy(c->address.sun_path, path, sizeof(c->address.sun_path) - 1);
	TAILQ_INIT(&c->waiting);
	TAILQ_INIT(&c->kept);
	for (unsigned int i = 0; i < LINES; i++)
		c->line[i].control = c;
	c->tick = event_new(base, -1, EV_PERSIST, on_control_tick, c);
	if (c->tick)
		return c;
	free(c);
	return NULL;
}

static void drop_call(struct call *call)
{
	if (!call)
		return;
	answer_askers(call, NULL, "failed");
	free_call(call);
}

void control_free(struct control *c)
{
	struct call *call;

	while (c->n_kept)
		forget_first(c);
	while ((call = TAILQ_FIRST(&c->waiting)) != NULL) {
		TAILQ_REMOVE(&c->waiting, call, entry);
		drop_call(call);
	}
	for (unsigned int i = 0; i < LINES; i++) {
		close_line(&c->line[i]);
		drop_call(c->line[i].call);
	}
	event_free(c->tick);
	free(c);
}
