/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Questions that a user of the control socket has for other nodes, sent in the messages ASK and
 * ANSWER; and reports of nodes to the root, sent in the messages EVENT and LINES. A question to the
 * root goes up: over the connections that a node opened itself. A question to a node or to all goes
 * from the root down: over the connections that other nodes opened, and each node passes it on.
 * Answers come back by the same path, one message for each node, then an empty message as the end.
 *
 * The time limit shrinks on the way, so a silent branch costs its own answers but not those of its
 * siblings. Each answer that a node forwards restarts the limit. So the limit bounds the wait for a
 * silent node, but not the wait for a large fabric, whose answers keep coming. A question takes at
 * most six times the limit.
 */
#ifndef QUERY_H
#define QUERY_H

#include <stdbool.h>
#include <jansson.h>
#include "daemon/svc_msg.h"

struct loop;
struct query;
struct svc;
struct ask;

#define QUERY_NODE_MS	1500	/* limit of a question that goes from the root down */
#define QUERY_ROOT_MS	2500	/* limit of a question to the root, which may have to ask other
				 * nodes */

/**
 * struct query_ops - callbacks to the owner
 * @own: Return: the id of this node; TORUS_NO_NODE if it is not known
 * @is_root: Return: true if this node's manager is the root
 * @local: make the answer of this node, and call query_local(), now or later. Return: a handle for
 *	@forget
 * @serve: answer a whole request as the root, and call query_served(), now or later. Return: a
 *	handle for @drop
 * @drop: stop the work of @serve, because the node that asked is gone; query_served() must not be
 *	called
 * @forget: stop the work of @local, because its answer is not needed any more; query_local() must
 *	not be called
 * @received: on the root: handle a message EVENT or LINES of another node
 */
struct query_ops {
	uint32_t (*own)(void *arg);
	bool (*is_root)(void *arg);
	void *(*local)(void *arg, json_t *cmd, struct ask *ask);
	void *(*serve)(void *arg, json_t *cmd, const struct svc_user *user, struct ask *ask);
	void (*drop)(void *arg, void *handle);
	void (*forget)(void *arg, void *handle);
	void (*received)(void *arg, const struct svc_msg *msg);
};

/**
 * struct query_done - callbacks for the answers: any number of calls of @item and @reply, then one
 * call of @end
 */
struct query_done {
	/** @item: the answer of @node; @data belongs to the caller */
	void (*item)(void *arg, uint32_t node, json_t *data);
	/** @text: called in place of @item, unless NULL, with the answer as it came */
	void (*text)(void *arg, uint32_t node, const char *text);
	/** @reply: the reply that the root has sent, unchanged */
	void (*reply)(void *arg, const char *text);
	/** @end: all nodes have answered, or the time limit is reached */
	void (*end)(void *arg);
};

struct query *query_new(struct loop *loop, struct svc *svc, const struct query_ops *ops,
			void *arg);
void query_free(struct query *q);

/**
 * query_ask() - ask other nodes, and this one if @to includes it
 * @node: the node, if @to is SVC_TO_NODE
 * @timeout_ms: the question ends when no answer came for this long
 * @cmd, @user: not kept after the call
 *
 * No callback is called before this returns.
 * Return: the question, for query_enough() and query_cancel(); NULL if there are too
 * many, or out of memory.
 */
struct ask *query_ask(struct query *q, enum svc_to to, uint32_t node, json_t *cmd,
		      const struct svc_user *user, unsigned int timeout_ms,
		      const struct query_done *done, void *arg);
/** query_enough() - end the question soon by @end, though answers are outstanding */
void query_enough(struct ask *ask);
/** query_was_sent() - Return: true if the question has been sent to another node */
bool query_was_sent(const struct ask *ask);
/** query_cancel() - end the question without @end */
void query_cancel(struct ask *ask);
/**
 * query_local() - pass on the answer of @local; takes over the reference to @data; NULL: this node
 * has no answer
 */
void query_local(struct ask *ask, json_t *data);
/** query_served() - pass on the reply to a request that @serve has begun */
void query_served(struct ask *ask, const char *reply);

/** query_send_all() - send an EVENT or LINES to the root */
void query_send_all(struct query *q, const struct svc_msg *msg);

/** query_msg() - handle a message ASK, ANSWER, EVENT or LINES */
void query_msg(struct query *q, int conn, const struct svc_msg *msg);
/** query_conn_down() - end the questions of a connection that is gone */
void query_conn_down(struct query *q, int conn);
/** query_reset() - end the questions of all connections, because all connections are gone */
void query_reset(struct query *q);

#endif /* QUERY_H */
