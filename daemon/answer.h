/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests of the control socket (fabricd-control(7)) and their answers. A command is
 * one function in the table of answer.c; it answers at once or, after asking
 * other nodes, later.
 */
#ifndef ANSWER_H
#define ANSWER_H

#include <stdbool.h>
#include <jansson.h>
#include "daemon/fabricd.h"
#include "daemon/question.h"
#include "daemon/svc_msg.h"

struct ask;
struct history_job;
struct question_kind;
struct request;

/**
 * struct request - a request that is not answered yet
 * @args: the request, as the client sent it
 * @user: the user who sent the request
 * @reply: sends the reply to the client; called with a line without a newline
 * @more: sends @len bytes of a reply, whose rest @reply sends; if @text is NULL, there is no rest,
 *	and the connection ends. Return: false if the client has to read first; then
 *	answer_continue() is called later. NULL: @reply has to get the whole reply
 * @follow: called in place of @reply if the client wants all events from @since on
 * @ask: question that this node has sent to other nodes for the request; NULL: no question
 * @node: the node that the request is about; TORUS_NO_NODE: all nodes
 * @count: the request is about this many nodes, beginning with @node; 0: about @node alone
 * @began: time at which the request arrived
 * @rootless: the root did not answer, so this node answers from its own knowledge
 * @sent: the request was sent towards the root
 * @rows_bytes: bytes of the rows in the reply
 * @changed: an exclusion or inclusion was not in the table already
 * @job: the search in the history that the request waits for
 * @ready: the request waits until this function returns true, or until @until; the argument @late
 *	of @end is true if the time was over
 * @next: next request in the list of requests that wait
 */
struct request {
	struct fabricd *d;
	json_t *args;
	struct svc_user user;
	void (*reply)(void *arg, const char *line);
	bool (*more)(void *arg, const char *text, size_t len);
	void (*follow)(void *arg, uint64_t since);
	void *arg;
	const struct answer_cmd *cmd;
	struct ask *ask;
	uint32_t node;
	uint32_t count;
	uint64_t began;
	bool rootless, sent, changed;
	size_t rows_bytes;
	struct gathering *g;
	struct history_job *job;
	bool (*ready)(struct request *rq);
	void (*end)(struct request *rq, bool late);
	uint64_t until;
	struct request *next;
};

/**
 * struct answer_cmd - a command
 * @args: names of its arguments, each after a space
 * @local: the answer that a node gives the root at once; NULL: the node has to ask its NIC first,
 *	by @kind
 */
struct answer_cmd {
	const char *name;
	const char *args;
	unsigned int flags;
	void (*run)(struct request *rq);
	json_t *(*local)(struct fabricd *d, json_t *cmd);
	const struct question_kind *kind;
};

#define ANSWER_CHANGE	1u	/* a command that changes something: only privileged users may
				 * give it */
#define ANSWER_ROOT	2u	/* only the root answers the command */
#define ANSWER_NODES_MAX 4096	/* largest number of nodes in a reply, if a node takes 2 KiB or
				 * less */
#define ANSWER_KEPT_MAX (64u << 20)	/* most bytes of other nodes' answers that all requests
					 * together keep at a time, but for lists that are asked
					 * piece by piece */
#define ANSWER_CHANGE_NS (2 * SEC)	/* longest wait for a change; shorter than nodes wait for
					 * the root */
#define ANSWER_JOB	8u	/* only privileged users and those of job_group may give the
				 * command */
#define ANSWER_KNOWN	4u	/* if there is no root, this node answers from its own knowledge */

/**
 * answer_start() - create fabricd.query, by which this node asks other nodes. Return: 0 or a
 * negative errno
 */
int answer_start(struct fabricd *d);
/**
 * answer_new() - create a request; answer_begin() begins it
 * @args: the request takes over the reference
 * @reply: called once, unless the request is dropped; the request is freed then
 * @follow: see struct request; may be NULL
 * Return: NULL if out of memory.
 */
struct request *answer_new(struct fabricd *d, json_t *args, const struct svc_user *user,
			   void (*reply)(void *arg, const char *line),
			   void (*follow)(void *arg, uint64_t since), void *arg);
/** answer_begin() - start to answer a request; @reply may be called before this function returns */
void answer_begin(struct request *rq);
/** answer_continue() - go on with a reply after the client has read what request.more has sent */
void answer_continue(struct request *rq);
/** answer_drop() - end a request without a reply, because the client is gone */
void answer_drop(struct request *rq);

/**
 * answer_wait() - call @end to answer the request as soon as @ready returns true, at the latest
 * after @ns
 *
 * @ready is called now, and after each event of the manager.
 */
void answer_wait(struct request *rq, bool (*ready)(struct request *rq),
		 void (*end)(struct request *rq, bool late), uint64_t ns);
/**
 * answer_look() - answer the waiting requests that are ready; called after each event of the
 * manager
 */
void answer_look(struct fabricd *d);
int answer_wait_start(struct fabricd *d);
/** answer_forget() - remove the request from the list of requests that wait */
void answer_forget(struct request *rq);

/** answer_finish() - send the rest of a reply; NULL: it has failed, out of memory */
void answer_finish(struct request *rq, const char *line);

/* Commands call the following functions. Each of them ends the request and frees it. */
void answer_ok(struct request *rq, json_t *data, json_t *missing);
/**
 * answer_ok_with() - like answer_ok(), but put @text in place of the empty array @key of @data,
 * before which no array is named @key
 */
void answer_ok_with(struct request *rq, json_t *data, const char *key, const char *text);
void answer_error(struct request *rq, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * answer_leads() - pass the request on to the root, unless this node is the root. Return: true if
 * this node is the root
 */
bool answer_leads(struct request *rq);
/**
 * answer_args() - check the arguments. Return: false if they are wrong, and the error was sent to
 * the client
 */
bool answer_args(struct request *rq);
/**
 * answer_ready() - check that this node has a table. Return: false if it has none, and the error
 * was sent to the client
 */
bool answer_ready(struct request *rq);
/**
 * answer_node() - read the argument "node": coordinates or a name
 * @needed: it must not be missing
 * @out: set to the node; to TORUS_NO_NODE if the argument is missing
 * Return: 0, or -EINVAL after answering the request.
 */
int answer_node(struct request *rq, bool needed, uint32_t *out);
/**
 * answer_port() - read the argument "port"; set @out to -1 if it is missing. Return: as
 * answer_node()
 */
int answer_port(struct request *rq, int *out);

/* answer_gather.c */
/**
 * answer_gather() - ask rq->node, or all nodes, for the command's local part
 * @end: ends the request, called as soon as no node that should answer is outstanding
 */
void answer_gather(struct request *rq,
		   void (*end)(struct request *rq, json_t **by_node, uint32_t n));
void gathering_free(struct gathering *g);

/**
 * struct listing - a reply that is a list of items, in the order of the nodes
 * @items: Return: the items of a node, a new reference; NULL if out of memory; @answer: its answer
 * @unanswered: @items is called also for nodes without an answer, with NULL
 * @rest: Return: items after those of the last node; NULL: there are none
 * @silent: answers a request about one node, which does not answer; NULL: answer_silent() does
 */
struct listing {
	json_t *(*items)(struct request *rq, uint32_t node, json_t *answer);
	bool unanswered;
	json_t *(*rest)(struct request *rq);
	void (*silent)(struct request *rq);
};

/** listing_flat - the items are the answers, or the items of these if they are arrays */
extern const struct listing listing_flat;
json_t *flat_items(struct request *rq, uint32_t node, json_t *answer);
/**
 * answer_list() - answer with a list, for which rq->node, the nodes of a range, or all are asked
 * @piece: most nodes to be asked at once, so that their answers do not take much memory; 0: all
 *
 * A range is sent to all nodes; those outside of it answer nothing.
 */
void answer_list(struct request *rq, const struct listing *list, uint32_t piece);
/**
 * answer_list_some() - like answer_list(), for one node, all, or, if the request has a "count", the
 * nodes from "node" on
 * @max: most items in a reply
 * @each: number of items of a node in each dimension; 0: a node has one item
 * @piece: most items to be gathered at once; 0: all
 */
void answer_list_some(struct request *rq, uint32_t max, unsigned int each,
		      const struct listing *list, uint32_t piece);
/** answer_silent() - answer a request about one node: the manager of this node is silent */
void answer_silent(struct request *rq);

/* answer_part.c */
/**
 * answer_range() - read the arguments "node" and "count": that node, and the following ones
 * @max: the largest "count" allowed, at least 1
 * Return: false if they are wrong; then the error was sent to the client.
 */
bool answer_range(struct request *rq, uint32_t max);
/**
 * answer_range_has() - Return: true if this node is in the range of nodes in @cmd, or if @cmd has
 * no "count"
 */
bool answer_range_has(const struct fabricd *d, const json_t *cmd);
/**
 * rootless_json() - Return: the member of a reply which states that the reply was made without the
 * root
 */
json_t *rootless_json(const struct request *rq);
/** answer_label() - add to each item of @list whether it was made without the root */
void answer_label(const struct request *rq, json_t *list);
/**
 * last_alive_json() - Return: how many ms ago the last message of @node came; null: never
 * @answered: true if @node has answered this request
 * @lately: set to true if this time is within the bound of fm_last_alive()
 */
json_t *last_alive_json(const struct request *rq, uint32_t node, bool answered, bool *lately);

/* The following functions, used by all answer_*.c files, convert values to JSON. */
/** node_json() - Return: the coordinates as an array; null for TORUS_NO_NODE */
json_t *node_json(const struct fabricd *d, uint32_t node);
json_t *port_json(const struct fabricd *d, unsigned int port);
/** text_json() - Return: a string; null for NULL and "" */
json_t *text_json(const char *text);
/** answer_wall() - convert @at of the monotonic clock to seconds since 1970 */
double answer_wall(uint64_t at);
/** links_json() - Return: an array of @links of this NIC */
json_t *links_json(struct fabricd *d, const struct torus_link *links, unsigned int n,
		   struct links_want want);
json_t *event_json(const struct fabricd *d, const struct event_record *r);
/** error_line() - Return: a reply that is an error, to be freed by the caller */
char *error_line(const char *code, const char *text);

/* answer_fabric.c */
void answer_status(struct request *rq);
void answer_nodes(struct request *rq);
void answer_coord(struct request *rq);
json_t *local_nodes(struct fabricd *d, json_t *cmd);

/* answer_table.c */
/** shape_json() - Return: the sizes of the dimensions */
json_t *shape_json(const struct torus_shape *shape);
/** until_json() - Return: the time at which an order ends; null: the order has no end */
json_t *until_json(uint64_t until);
/**
 * order_json() - Return: an order about @ports; if it is about one cable, the cable is named by its
 * end at a port with "+"
 */
json_t *order_json(const struct fabricd *d, const struct fm_order *o, uint16_t ports);
/**
 * orders_json() - Return: for each order, the user who gave it, the time, the reason and the
 * excluded links
 */
json_t *orders_json(const struct fabricd *d);
/** table_json() - Return: the exclusion table, in the form of the reply to the command "table" */
json_t *table_json(struct fabricd *d);
void answer_table(struct request *rq);
json_t *guid_json(uint64_t guid);
/** service_json() - Return: the connections of the service network, and what was refused there */
json_t *service_json(struct fabricd *d);
/** problems_json() - Return: the problems that this node knows */
json_t *problems_json(struct fabricd *d);
/* Adds the part of a status that is about this node itself. */
void add_own_status(struct fabricd *d, json_t *status);
/*
 * Adds the problems that this node knows. A member of the fabric and its root know different
 * problems.
 */
void add_local_problems(struct fabricd *d, json_t *list);

/* answer_exclude.c */
void answer_exclude(struct request *rq);
void answer_include(struct request *rq);
/** is_table_in_force() - Return: true if this node is root, and its table is in force */
bool is_table_in_force(const struct fm *fm);
/**
 * answer_in_force() - a @ready of answer_wait(): the table is in force, and on the disks of more
 * than half of the candidates, or all that are up have reported
 */
bool answer_in_force(struct request *rq);
/**
 * kept_json() - Return: how many candidates have the table on disk; null if none is configured to
 * keep it
 */
json_t *kept_json(const struct fm *fm);

/* answer_job.c */
void answer_jobs(struct request *rq);
void answer_job_start(struct request *rq);
void answer_job_stop(struct request *rq);

/* answer_root.c */
void answer_root(struct request *rq);
void answer_move(struct request *rq);
json_t *root_json(struct fabricd *d, const struct fm_root_status *r);

/* answer_links.c, answer_port.c, answer_rows.c, answer_nic.c, answer_test.c, answer_plug.c */
void answer_links(struct request *rq);
void answer_counters(struct request *rq);
void answer_eye(struct request *rq);
void answer_rows(struct request *rq);
void answer_park(struct request *rq);
void answer_replay(struct request *rq);
void answer_set_port(struct request *rq);
void answer_retrain(struct request *rq);
void answer_set_retry(struct request *rq);
void answer_test(struct request *rq);
void answer_locate(struct request *rq);
void answer_module(struct request *rq);
extern const struct question_kind question_links_get, question_counters_get, question_eye_get,
	question_rows_get, question_park_get, question_replay, question_port_set, question_retrain,
	question_retry_set, question_test, question_locate, question_module;

/* answer_history.c */
void answer_history(struct request *rq);
/**
 * history_pull() - as the member local of struct query_ops, for a root that asks this candidate for
 * its events
 */
void *history_pull(struct fabricd *d, const json_t *cmd, struct ask *ask);
/** history_pull_forget() - forget this question. Return: false if @handle is of another one */
bool history_pull_forget(struct fabricd *d, void *handle);

/* answer_config.c */
void answer_config(struct request *rq);
json_t *local_config(struct fabricd *d, json_t *cmd);

/* answer_metrics.c */
void answer_metrics(struct request *rq);
extern const struct question_kind question_metrics;

/* answer_log.c */
void answer_events(struct request *rq);
void answer_log(struct request *rq);

#endif /* ANSWER_H */
