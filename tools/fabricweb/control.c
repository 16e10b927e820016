// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A manager serves 48 clients without privileges (fabricd-control(7)), and answers one request of
 * a connection after the other. So there are four connections, and calls wait for one that is
 * free. A call is a request with all that wait for its answer.
 *
 * An answer that is younger than KEEP_MS is given to further askers, so a hundred browsers that
 * look at the same page cost the manager one question. A change drops these answers.
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

#include "control.h"
#include "lib/util/clock.h"

#define LINES		4
#define CALLS_MAX	256		/* that wait or are under way */
#define REPLY_MAX	(16u << 20)	/* as in fabricd-control(7) */
#define ANSWER_S	12		/* the manager itself answers within 9 s */
#define KEEP_MS		250
#define KEEP_BYTES	(1u << 20)	/* answers that are larger are not kept */
#define KEPT_MAX	16

struct asker {
	control_done *done;
	void *arg;
	struct asker *next;
};

/**
 * struct call - a request
 * @askers: those that wait for its answer; none: it has been answered, and is kept
 * @text, @len: its answer, if it is kept
 * @at: when it was answered
 */
struct call {
	TAILQ_ENTRY(call) entry;
	char *request;
	bool change;
	struct asker *askers;
	char *text;
	size_t len;
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
 * @waiting: calls that no connection is free for
 * @kept: calls that were answered a moment ago
 * @n: calls that wait or are under way
 */
struct control {
	struct event_base *base;
	struct sockaddr_un address;
	struct line line[LINES];
	struct calls waiting, kept;
	unsigned int n, n_kept;
};

static void start_waiting(struct control *c);

static void free_call(struct call *call)
{
	free(call->request);
	free(call->text);
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

static void keep_answer(struct control *c, struct call *call, const char *text, size_t len)
{
	call->text = len <= KEEP_BYTES && !call->change ? malloc(len + 1) : NULL;
	if (!call->text) {
		free_call(call);
		return;
	}
	memcpy(call->text, text, len);
	call->text[len] = '\0';
	call->len = len;
	call->at = seconds_now();
	TAILQ_INSERT_TAIL(&c->kept, call, entry);
	c->n_kept++;
	forget_stale(c);
}

/* --- calls -------------------------------------------------------------------------------- */

/* Ends the call of a connection; @code: without an answer. */
static void end_call(struct line *l, const char *text, size_t len, const char *code)
{
	struct control *c = l->control;
	struct call *call = l->call;
	struct asker *a;

	l->call = NULL;
	c->n--;
	while (call->change && c->n_kept)
		forget_first(c);
	while ((a = call->askers) != NULL) {
		call->askers = a->next;
		a->done(a->arg, text, len, code);
		free(a);
	}
	if (text)
		keep_answer(c, call, text, len);
	else
		free_call(call);
}

static void on_control_read(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct line *l = arg;
	size_t len;
	char *text = evbuffer_readln(in, &len, EVBUFFER_EOL_LF);
	bool asked = l->call != NULL;

	if (!text && evbuffer_get_length(in) < REPLY_MAX)
		return;
	/* A line that was not asked for must not be taken for the reply to the next request. */
	if (!text || !asked || evbuffer_get_length(in))
		close_line(l);
	else
		bufferevent_set_timeouts(bev, NULL, NULL);
	if (asked)
		end_call(l, text, len, "failed");
	free(text);
	start_waiting(l->control);
}

static void on_control_event(struct bufferevent *bev, short what, void *arg)
{
	struct line *l = arg;

	(void)bev;
	if (what & BEV_EVENT_CONNECTED)
		return;
	close_line(l);
	if (l->call)
		end_call(l, NULL, 0, what & BEV_EVENT_TIMEOUT ? "timeout" : "unreachable");
	start_waiting(l->control);
}

/* Return: false if there is no manager. */
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
	static const struct timeval answer = { ANSWER_S, 0 };

	l->call = call;
	if (!open_line(l)) {
		close_line(l);
		end_call(l, NULL, 0, "unreachable");
		return;
	}
	bufferevent_set_timeouts(l->bev, &answer, &answer);
	bufferevent_write(l->bev, call->request, strlen(call->request));
	bufferevent_write(l->bev, "\n", 1);
}

static void start_waiting(struct control *c)
{
	struct call *call;

	for (unsigned int i = 0; i < LINES; i++)
		while (!c->line[i].call && (call = TAILQ_FIRST(&c->waiting)) != NULL) {
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

static bool add_asker(struct call *call, control_done *done, void *arg)
{
	struct asker *a = malloc(sizeof(*a));

	if (!a)
		return false;
	*a = (struct asker){ done, arg, call->askers };
	call->askers = a;
	return true;
}

static struct call *new_call(const char *request, bool change)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->request = strdup(request);
	call->change = change;
	if (call->request)
		return call;
	free(call);
	return NULL;
}

void control_ask(struct control *c, const char *request, bool change, control_done *done,
		 void *arg)
{
	struct call *call;

	forget_stale(c);
	call = change ? NULL : find_call(c, request);
	if (call && call->text) {
		done(arg, call->text, call->len, NULL);
		return;
	}
	if (call && add_asker(call, done, arg))
		return;
	call = c->n < CALLS_MAX ? new_call(request, change) : NULL;
	if (!call || !add_asker(call, done, arg)) {
		if (call)
			free_call(call);
		done(arg, NULL, 0, "failed");
		return;
	}
	c->n++;
	TAILQ_INSERT_TAIL(&c->waiting, call, entry);
	start_waiting(c);
}

struct control *control_new(struct event_base *base, const char *path)
{
	struct control *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->base = base;
	c->address.sun_family = AF_UNIX;
	strncpy(c->address.sun_path, path, sizeof(c->address.sun_path) - 1);
	TAILQ_INIT(&c->waiting);
	TAILQ_INIT(&c->kept);
	for (unsigned int i = 0; i < LINES; i++)
		c->line[i].control = c;
	return c;
}

static void drop_call(struct call *call)
{
	struct asker *a;

	while (call && (a = call->askers) != NULL) {
		call->askers = a->next;
		a->done(a->arg, NULL, 0, "failed");
		free(a);
	}
	if (call)
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
	free(c);
}
