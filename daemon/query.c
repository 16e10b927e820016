// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/query.h"
#include "daemon/svc.h"

#define ASKS_MAX	256	/* most questions at the same time */
#define RENEWED_MAX	6	/* a question takes at most this many times its limit */
#define SEEN		64	/* ids that are remembered, so that no node answers a question
				 * twice */

/**
 * struct ask - a question under way
 * @from: the connection on which the question arrived; 0: this node has asked it
 * @pending: connections that have not ended their answers
 * @bound: longest time to wait for the next answer, ns; 0: do not wait
 * @until: when to end the question, even if answers still come
 */
struct ask {
	struct query *q;
	struct ask *next;
	uint64_t id;
	int from;
	enum svc_to to;
	uint32_t node;
	int *pending;
	unsigned int npending;
	struct loop_timer *timer;
	uint64_t bound, until;
	json_t *own;			/* this node's answer, if it was not passed on yet */
	void *local;			/* handle of this node's answer while it is being made */
	bool beginning, asking;
	void *handle;			/* handle of the request that this root is answering */
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

static void ask_free(struct ask *a)
{
	struct ask **p = &a->q->asks;

	while (*p != a)
		p = &(*p)->next;
	*p = a->next;
	a->q->n--;
	if (a->asking)
		a->q->ops->forget(a->q->arg, a->local);
	loop_timer_free(a->timer);
	json_decref(a->own);
	free(a->pending);
	free(a);
}

static bool was_seen(struct query *q, uint64_t id)
{
	for (unsigned int i = 0; i < SEEN; i++)
		if (q->seen[i] == id)
			return true;
	q->seen[q->nseen++ % SEEN] = id;
	return false;
}

static char *copy_text(const json_t *j)
{
	return json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

static void send_query_answer(struct query *q, int conn, const struct svc_answer *answer)
{
	svc_send(q->svc, conn, &(struct svc_msg) { .type = SVC_ANSWER, .answer = *answer });
}

/* Sends the message that means: there are no more answers to @id. */
static void send_end(struct query *q, int conn, uint64_t id)
{
	send_query_answer(q, conn, &(struct svc_answer) { .id = id, .reply = (char *)"" });
}

/* Ends a question: calls @end, or sends the end to the node that asked. Frees @a. */
static void ask_end(struct ask *a)
{
	struct query *q = a->q;
	const struct query_done *done = a->done;
	void *arg = a->arg;

	if (a->from)
		send_end(q, a->from, a->id);
	if (a->serving && a->handle)
		q->ops->drop(q->arg, a->handle);
	ask_free(a);
	if (done)
		done->end(arg);
}

static void ask_item(struct ask *a, uint32_t node, json_t *data)
{
	struct svc_answer answer = { .id = a->id, .more = true, .node = node };

	if (!a->from && !a->done->text) {
		a->done->item(a->arg, node, data);
		return;
	}
	answer.reply = copy_text(data);
	if (answer.reply && a->from)
		send_query_answer(a->q, a->from, &answer);
	else if (answer.reply)
		a->done->text(a->arg, node, answer.reply);
	free(answer.reply);
}

/* Passes this node's answer on, unless this was done before. */
static void give_own(struct ask *a)
{
	json_t *own = a->own;

	a->own = NULL;
	if (own)
		ask_item(a, a->q->ops->own(a->q->arg), own);
	json_decref(own);
}

/* Passes this node's answer on, and ends the question if no other answer is outstanding. */
static void ask_settle(struct ask *a)
{
	give_own(a);
	if (a->over || (!a->npending && !a->serving && !a->asking))
		ask_end(a);
}

void query_local(struct ask *a, json_t *data)
{
	a->asking = false;
	a->own = data;
	if (!a->beginning)
		ask_settle(a);
}

/* Asks this node, if the question is for it. */
static void ask_local(struct ask *a, json_t *cmd)
{
	struct query *q = a->q;
	void *local;

	if (a->to == SVC_TO_ROOT || (a->to == SVC_TO_NODE && a->node != q->ops->own(q->arg)))
		return;
	a->asking = a->beginning = true;
	local = q->ops->local(q->arg, cmd, a);
	a->beginning = false;
	a->local = local;
}

/* Return: true if the question is for other nodes, too. */
static bool is_for_others(const struct ask *a)
{
	return a->to != SVC_TO_NODE || a->node != a->q->ops->own(a->q->arg);
}

static void on_query_timer(void *arg)
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

static struct ask *ask_new(struct query *q, uint64_t id, int from, enum svc_to to,
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
	a->timer = loop_timer_new(q->loop, on_query_timer, a);
	if (!a->timer) {
		ask_free(a);
		return NULL;
	}
	return a;
}

/*
 * Starts the timer, which wait_on() restarts after each answer: @bound limits the time between
 * answers.
 */
static void wait_for_query(struct ask *a, uint64_t bound)
{
	a->bound = bound;
	a->until = loop_now() + RENEWED_MAX * bound;
	loop_timer_set(a->timer, loop_now() + bound);
}

static void wait_on(struct ask *a)
{
	uint64_t at = loop_now() + a->bound;

	if (a->bound)
		loop_timer_set(a->timer, at < a->until ? at : a->until);
}

static void wait_no_more(struct ask *a)
{
	a->bound = 0;
	loop_timer_set(a->timer, 0);
}

/* Sends the question to other nodes; @ms: how long this node waits. */
static void ask_spread(struct ask *a, const char *command, const struct svc_user *user,
		       unsigned int ms)
{
	struct svc_msg m = {
		.type = SVC_ASK,
		.ask = {
			.id = a->id, .to = (uint8_t)a->to, .node = a->node, .user = *user,
			.ttl = ms - ms / 8, .command = (char *)command,
		},
	};

	svc_each(a->q->svc, a->to == SVC_TO_ROOT, add_pending, a);
	if (a->to == SVC_TO_ROOT && a->npending > 1)
		a->npending = 1;
	for (unsigned int i = 0; i < a->npending; i++)
		svc_send(a->q->svc, a->pending[i], &m);
}

/* Like ask_spread(), for a command as JSON. If out of memory, no node is asked. */
static void ask_spread_json(struct ask *a, const json_t *cmd, const struct svc_user *user,
		       unsigned int ms)
{
	char *command = copy_text(cmd);

	if (command)
		ask_spread(a, command, user, ms);
	free(command);
}

struct ask *query_ask(struct query *q, enum svc_to to, uint32_t node, json_t *cmd,
		      const struct svc_user *user, unsigned int timeout_ms,
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
	was_seen(q, id);
	ask_local(a, cmd);
	if (is_for_others(a))
		ask_spread_json(a, cmd, user, timeout_ms);
	if (a->npending || a->asking)
		wait_for_query(a, timeout_ms * MS);
	else
		wait_no_more(a);
	return a;
}

void query_enough(struct ask *a)
{
	wait_no_more(a);
}

bool query_was_sent(const struct ask *a)
{
	return a->npending;
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
	send_query_answer(a->q, a->from, &(struct svc_answer) {
		.id = a->id, .more = true, .node = TORUS_NO_NODE, .reply = (char *)reply,
	});
	wait_no_more(a);
}

struct telling {
	struct query *q;
	const struct svc_msg *msg;
};

static void send_to_conn(void *arg, int conn)
{
	struct telling *t = arg;

	svc_send(t->q->svc, conn, t->msg);
}

void query_send_all(struct query *q, const struct svc_msg *msg)
{
	struct telling t = { q, msg };

	svc_each(q->svc, true, send_to_conn, &t);
}

/* --- messages of other nodes ----------------------------------------------- */

static void serve_ask(struct ask *a, const struct svc_ask *ask, json_t *cmd)
{
	struct query *q = a->q;

	if (a->to == SVC_TO_ROOT && q->ops->is_root(q->arg)) {
		a->serving = true;
		a->handle = q->ops->serve(q->arg, cmd, &ask->user, a);
		return;
	}
	ask_local(a, cmd);
	if (is_for_others(a))
		ask_spread(a, ask->command, &ask->user, ask->ttl);
	ask_settle(a);
}

static void take_question(struct query *q, int conn, const struct svc_ask *ask)
{
	json_t *cmd = json_loads(ask->command, 0, NULL);
	struct ask *a = NULL;

	if (json_is_object(cmd) && !was_seen(q, ask->id))
		a = ask_new(q, ask->id, conn, (enum svc_to)ask->to, ask->node);
	if (a) {
		wait_for_query(a, (uint64_t)ask->ttl * MS);
		serve_ask(a, ask, cmd);
	} else {
		send_end(q, conn, ask->id);
	}
	json_decref(cmd);
}

static struct ask *ask_find(struct query *q, uint64_t id)
{
	for (struct ask *a = q->asks; a; a = a->next)
		if (a->id == id)
			return a;
	return NULL;
}

/* Removes @conn from the pending connections. Return: false if it was not among them. */
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

static void take_item(struct ask *a, const struct svc_answer *answer)
{
	json_t *data;

	if (a->from) {
		send_query_answer(a->q, a->from, answer);
		return;
	}
	if (a->to == SVC_TO_ROOT) {
		a->done->reply(a->arg, answer->reply);
		return;
	}
	if (a->done->text) {
		if (answer->node < TORUS_NO_NODE)
			a->done->text(a->arg, answer->node, answer->reply);
		return;
	}
	data = json_loads(answer->reply, JSON_DECODE_ANY, NULL);
	if (data && answer->node < TORUS_NO_NODE)
		a->done->item(a->arg, answer->node, data);
	json_decref(data);
}

static void take_answer(struct query *q, int conn, const struct svc_answer *answer)
{
	struct ask *a = ask_find(q, answer->id);

	if (!a || !is_pending(a, conn))
		return;
	give_own(a);
	if (answer->more) {
		wait_on(a);
		/* Only one branch of the tree leads to that node, so no other answer is awaited. */
		if (a->to == SVC_TO_NODE && answer->node == a->node)
			query_enough(a);
		take_item(a, answer);
		return;
	}
	pending_done(a, conn);
	if (!a->npending)
		ask_settle(a);
}

void query_msg(struct query *q, int conn, const struct svc_msg *msg)
{
	switch (msg->type) {
	case SVC_ASK:
		take_question(q, conn, &msg->ask);
		break;
	case SVC_ANSWER:
		take_answer(q, conn, &msg->answer);
		break;
	case SVC_EVENT:
	case SVC_LINES:
		if (q->ops->is_root(q->arg))
			q->ops->received(q->arg, msg);
		else
			query_send_all(q, msg);
		break;
	}
}

/*
 * Drops a question after the node that asked is gone. If this root serves the question, also drops
 * the questions that it has asked for it.
 */
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
		if (pending_done(a, conn) && !a->npending && !a->asking)
			wait_no_more(a);
}

void query_reset(struct query *q)
{
	struct ask *a;

	while ((a = asked_by(q, 0)))
		ask_drop(a);
	for (a = q->asks; a; a = a->next) {
		a->npending = 0;
		wait_no_more(a);
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
