// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/query.h"
#include "daemon/svc.h"

#define ASKS_MAX	256	/* under way at once */
#define SEEN		64	/* ids remembered, so that none is answered twice */
#define TTL_MAX		60000

/**
 * struct ask - a question under way
 * @from: connection it came by; 0: asked here
 * @pending: connections that have not ended their answers
 */
struct ask {
	struct query *q;
	struct ask *next;
	uint64_t id;
	int from;
	enum ask_to to;
	uint32_t node;
	int *pending;
	unsigned int npending;
	struct loop_timer *timer;
	json_t *own;			/* this node's answer, not given yet */
	void *handle;			/* of a request being served */
	bool serving;
	bool over;
	const struct query_done *done;
	void *arg;
};

struct query {
	struct loop *loop;
	struct svc *svc;
	const struct query_ops *ops;
	void *arg;
	struct ask *asks;
	unsigned int n;
	uint64_t seen[SEEN];
	unsigned int nseen;
};

static const char *const to_name[] = {
	[ASK_ROOT] = "root",
	[ASK_ALL] = "all",
	[ASK_NODE] = "node",
};

static void ask_free(struct ask *a)
{
	struct ask **p = &a->q->asks;

	while (*p != a)
		p = &(*p)->next;
	*p = a->next;
	a->q->n--;
	loop_timer_free(a->timer);
	json_decref(a->own);
	free(a->pending);
	free(a);
}

static bool seen(struct query *q, uint64_t id)
{
	for (unsigned int i = 0; i < SEEN; i++)
		if (q->seen[i] == id)
			return true;
	q->seen[q->nseen++ % SEEN] = id;
	return false;
}

static void send_text(struct query *q, int conn, uint8_t type, uint64_t id, bool more,
		      const char *text)
{
	struct fm_msg m = {
		.type = type,
		.text = { .id = id, .more = more, .text = (char *)text },
	};

	svc_send(q->svc, conn, &m);
}

static void send_json(struct query *q, int conn, uint8_t type, uint64_t id, bool more,
		      json_t *j)
{
	char *text = json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(15));

	if (text)
		send_text(q, conn, type, id, more, text);
	free(text);
}

/* Everything is answered: tell whoever asked. Frees @a. */
static void ask_end(struct ask *a)
{
	struct query *q = a->q;
	const struct query_done *done = a->done;
	void *arg = a->arg;

	if (a->from)
		send_text(q, a->from, FM_MSG_ANSWER, a->id, false, "{}");
	if (a->serving && a->handle)
		q->ops->drop(q->arg, a->handle);
	ask_free(a);
	if (done)
		done->end(arg);
}

static void ask_item(struct ask *a, uint32_t node, json_t *data)
{
	json_t *item;

	if (!a->from) {
		a->done->item(a->arg, node, data);
		return;
	}
	item = json_pack("{s:I, s:O}", "node", (json_int_t)node, "data", data);
	if (item)
		send_json(a->q, a->from, FM_MSG_ANSWER, a->id, true, item);
	json_decref(item);
}

/* Gives what is here to give; ends if nothing is left to wait for. */
static void ask_settle(struct ask *a)
{
	json_t *own = a->own;

	a->own = NULL;
	if (own)
		ask_item(a, a->q->ops->own(a->q->arg), own);
	json_decref(own);
	if (a->over || (!a->npending && !a->serving))
		ask_end(a);
}

static void on_timer(void *arg)
{
	struct ask *a = arg;

	a->over = true;
	ask_settle(a);
}

static void add_pending(void *arg, int conn)
{
	struct ask *a = arg;
	int *p;

	if (conn == a->from)
		return;
	p = realloc(a->pending, (a->npending + 1) * sizeof(*p));
	if (!p)
		return;
	a->pending = p;
	p[a->npending++] = conn;
}

static struct ask *ask_new(struct query *q, uint64_t id, int from, enum ask_to to,
			   uint32_t node)
{
	struct ask *a;

	if (q->n >= ASKS_MAX)
		return NULL;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->q = q;
	a->id = id;
	a->from = from;
	a->to = to;
	a->node = node;
	a->next = q->asks;
	q->asks = a;
	q->n++;
	a->timer = loop_timer_new(q->loop, on_timer, a);
	if (!a->timer) {
		ask_free(a);
		return NULL;
	}
	return a;
}

/* Sends it on; @ms is what this node waits. */
static void ask_spread(struct ask *a, json_t *cmd, bool privileged, unsigned int ms)
{
	struct query *q = a->q;
	json_t *j;

	svc_each(q->svc, a->to == ASK_ROOT, add_pending, a);
	if (a->to == ASK_ROOT && a->npending > 1)
		a->npending = 1;
	j = json_pack("{s:s, s:I, s:b, s:i, s:O}", "to", to_name[a->to], "node",
		      (json_int_t)a->node, "privileged", privileged, "ttl",
		      (int)(ms - ms / 8), "cmd", cmd);
	if (!j) {
		a->npending = 0;
		return;
	}
	for (unsigned int i = 0; i < a->npending; i++)
		send_json(q, a->pending[i], FM_MSG_ASK, a->id, false, j);
	json_decref(j);
}

struct ask *query_ask(struct query *q, enum ask_to to, uint32_t node, json_t *cmd,
		      bool privileged, unsigned int timeout_ms,
		      const struct query_done *done, void *arg)
{
	uint64_t id;
	struct ask *a;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return NULL;
	id |= 1;
	a = ask_new(q, id, 0, to, node);
	if (!a)
		return NULL;
	a->done = done;
	a->arg = arg;
	seen(q, id);
	if (to == ASK_ALL || (to == ASK_NODE && node == q->ops->own(q->arg)))
		a->own = q->ops->local(q->arg, cmd);
	if (to != ASK_NODE || !a->own)
		ask_spread(a, cmd, privileged, timeout_ms);
	loop_timer_set(a->timer, a->npending ? loop_now() + timeout_ms * LOOP_MS : 0);
	return a;
}

void query_cancel(struct ask *a)
{
	if (a)
		ask_free(a);
}

void query_served(struct ask *a, const char *reply)
{
	a->serving = false;
	a->handle = NULL;
	send_text(a->q, a->from, FM_MSG_ANSWER, a->id, true, reply);
	loop_timer_set(a->timer, 0);
}

struct event_sending {
	struct query *q;
	json_t *j;
};

static void send_event(void *arg, int conn)
{
	struct event_sending *s = arg;

	send_json(s->q, conn, FM_MSG_ASK, 0, false, s->j);
}

void query_event(struct query *q, json_t *event)
{
	struct event_sending s = { .q = q };

	s.j = json_pack("{s:O}", "event", event);
	if (s.j)
		svc_each(q->svc, true, send_event, &s);
	json_decref(s.j);
}

/* --- from others ----------------------------------------------------------- */

static int to_parse(const char *text, enum ask_to *to)
{
	for (unsigned int i = 0; i <= ASK_NODE; i++) {
		if (!strcmp(text, to_name[i])) {
			*to = (enum ask_to)i;
			return 0;
		}
	}
	return -1;
}

static void take_question(struct query *q, int conn, uint64_t id, json_t *j)
{
	const char *to_text;
	json_int_t node, ttl;
	int privileged;
	json_t *cmd;
	enum ask_to to;
	struct ask *a;

	if (json_unpack(j, "{s:s, s:I, s:b, s:I, s:o}", "to", &to_text, "node", &node,
			"privileged", &privileged, "ttl", &ttl, "cmd", &cmd) ||
	    to_parse(to_text, &to) || ttl < 1 || ttl > TTL_MAX || node < 0 ||
	    node > TORUS_NO_NODE || !json_is_object(cmd) || seen(q, id)) {
		send_text(q, conn, FM_MSG_ANSWER, id, false, "{}");
		return;
	}
	a = ask_new(q, id, conn, to, (uint32_t)node);
	if (!a) {
		send_text(q, conn, FM_MSG_ANSWER, id, false, "{}");
		return;
	}
	loop_timer_set(a->timer, loop_now() + (uint64_t)ttl * LOOP_MS);
	if (to == ASK_ROOT && q->ops->is_root(q->arg)) {
		a->serving = true;
		a->handle = q->ops->serve(q->arg, cmd, privileged, a);
		return;
	}
	if (to == ASK_ALL || (to == ASK_NODE && a->node == q->ops->own(q->arg)))
		a->own = q->ops->local(q->arg, cmd);
	if (to != ASK_NODE || !a->own)
		ask_spread(a, cmd, privileged, (unsigned int)ttl);
	ask_settle(a);
}

static struct ask *ask_find(struct query *q, uint64_t id)
{
	for (struct ask *a = q->asks; a; a = a->next)
		if (a->id == id)
			return a;
	return NULL;
}

/* Return: false if it was not awaited from there. */
static bool pending_done(struct ask *a, int conn)
{
	for (unsigned int i = 0; i < a->npending; i++) {
		if (a->pending[i] == conn) {
			a->pending[i] = a->pending[--a->npending];
			return true;
		}
	}
	return false;
}

static bool is_pending(const struct ask *a, int conn)
{
	for (unsigned int i = 0; i < a->npending; i++)
		if (a->pending[i] == conn)
			return true;
	return false;
}

static void take_item(struct ask *a, const struct fm_text *t)
{
	json_int_t node;
	json_t *j, *data;

	if (a->from) {
		send_text(a->q, a->from, FM_MSG_ANSWER, a->id, true, t->text);
		return;
	}
	if (a->to == ASK_ROOT) {
		a->done->reply(a->arg, t->text);
		return;
	}
	j = json_loads(t->text, 0, NULL);
	if (j && !json_unpack(j, "{s:I, s:o}", "node", &node, "data", &data) && node >= 0 &&
	    node < TORUS_NO_NODE)
		a->done->item(a->arg, (uint32_t)node, data);
	json_decref(j);
}

static void take_answer(struct query *q, int conn, const struct fm_text *t)
{
	struct ask *a = ask_find(q, t->id);

	if (!a || !is_pending(a, conn))
		return;
	if (t->more) {
		take_item(a, t);
		return;
	}
	pending_done(a, conn);
	if (!a->npending)
		ask_settle(a);
}

void query_msg(struct query *q, int conn, const struct fm_msg *msg)
{
	json_t *j, *event;

	if (msg->type == FM_MSG_ANSWER) {
		take_answer(q, conn, &msg->text);
		return;
	}
	j = json_loads(msg->text.text, 0, NULL);
	event = json_object_get(j, "event");
	if (event && q->ops->is_root(q->arg))
		q->ops->event(q->arg, event);
	else if (event)
		query_event(q, event);
	else
		take_question(q, conn, msg->text.id, j);
	json_decref(j);
}

/* Who asked is gone. Dropping a request ends what it asked in turn. */
static void ask_drop(struct ask *a)
{
	if (a->serving && a->handle)
		a->q->ops->drop(a->q->arg, a->handle);
	ask_free(a);
}

static struct ask *asked_by(struct query *q, int conn)
{
	for (struct ask *a = q->asks; a; a = a->next)
		if (conn ? a->from == conn : a->from != 0)
			return a;
	return NULL;
}

void query_conn_down(struct query *q, int conn)
{
	struct ask *a;

	while ((a = asked_by(q, conn)))
		ask_drop(a);
	for (a = q->asks; a; a = a->next)
		if (pending_done(a, conn) && !a->npending)
			loop_timer_set(a->timer, 0);
}

void query_reset(struct query *q)
{
	struct ask *a;

	while ((a = asked_by(q, 0)))
		ask_drop(a);
	for (a = q->asks; a; a = a->next) {
		a->npending = 0;
		loop_timer_set(a->timer, 0);
	}
}

struct query *query_new(struct loop *loop, struct svc *svc, const struct query_ops *ops,
			void *arg)
{
	struct query *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->loop = loop;
	q->svc = svc;
	q->ops = ops;
	q->arg = arg;
	return q;
}

void query_free(struct query *q)
{
	if (!q)
		return;
	while (q->asks)
		ask_free(q->asks);
	free(q);
}
