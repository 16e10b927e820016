/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to the fabric manager: selects the manager, sends requests and reads replies. Functions
 * print the text of an error, unless their comment states otherwise.
 */
#ifndef ASK_H
#define ASK_H

#include <jansson.h>
#include <torus/fabric.h>
#include <torus/topology.h>

#include "command.h"

#define ASK_NODES_MAX 4096	/* most nodes in a reply: fabricd-control(7) */
#define ASK_LINKS_MAX 2048	/* most ends of cables in a reply */
#define ASK_LANES_MAX 128	/* most ends of cables in a reply with lanes: the root needs 40 kB
				 * for each end */
#define ASK_BAD_MAX 24576	/* most ends of bad cables in a short reply */

/** struct ask - an open connection to a manager */
struct ask {
	struct torus_fabric *fabric;
	char path[128];
	char who[256];		/* the manager, for messages: "the manager of node 1,0 of lab
				 * 'a'" */
	int timeout_ms;		/* time limit for each answer */
	int first_ms;		/* time limit for the first answer, which each manager can send
				 * at once */
	bool missing;		/* nodes were missing in an answer: the fabric has a problem */
	char printed[512];		/* the missing nodes that were printed last */
	bool rootless;		/* an answer was made without the root, which is a problem, too */
	char knows[256];	/* text that describes answers made without the root */
	const char *spares;	/* codes of refusals that are not printed now */
	bool spared;		/* there was such a refusal */
	char refused[16];	/* code of that refusal */
};

/**
 * ask_open() - connect to a manager: the first of: the manager named by --control; by --lab and
 *	--node; by $TORUS_CONTROL; the manager of this machine; a manager of the only lab that is up
 * If a manager does not answer the first request soon, the function fails: the manager hangs, or it
 * is stopped.
 * Return: OK, or the kind of the error (kind.h).
 */
int ask_open(const struct ctl *ctl, struct ask *ask);
void ask_close(struct ask *ask);
/**
 * ask_again() - called if the manager does not answer: connect again to this manager or, in a lab,
 * to another one
 * Tries every second for --timeout, or 60 s. Prints a warning before the first try, and one when a
 * manager answers.
 * Return: OK, or why the last try failed.
 */
int ask_again(const struct ctl *ctl, struct ask *ask);

/**
 * ask() - send a request, and wait for its answer
 * @ask: the manager
 * @request: the request, whose reference is taken over
 * @data: set to the answer, a new reference; several replies are joined
 * Also prints which nodes did not answer.
 * Return: OK, or the kind of the error (kind.h): UNREACHABLE also if the root, or the node in
 * question, does not answer.
 */
int ask(struct ask *ask, json_t *request, json_t **data);
/**
 * ask_try() - as ask(), with an argument that a manager of an earlier release may not know
 * @unknown: set to true if the manager does not know the argument; then nothing is printed
 */
int ask_try(struct ask *ask, json_t *request, json_t **data, bool *unknown);
/**
 * ask_sparing() - as ask(), but a refusal with this @code is not printed: it sets *@spared
 */
int ask_sparing(struct ask *ask, json_t *request, json_t **data, const char *code, bool *spared);
/**
 * ask_ready() - find out if the manager has a table
 * @ready: set if it has
 */
int ask_ready(struct ask *ask, bool *ready);
/**
 * ask_nodes() - like ask(), but for all nodes, in as many requests as the limit of a reply requires
 * @max: most items of a reply
 * @each: number of items of a node in each dimension; 0: a node has one item
 */
int ask_nodes(struct ask *ask, json_t *request, uint32_t max, uint32_t each, json_t **data);
/** ask_all_links() - ask for the links of all nodes, if possible without most of the counters */
int ask_all_links(struct ask *ask, json_t **data);
/** ask_first() - send a request with many replies, and wait for the first, without a time limit */
int ask_first(struct ask *ask, json_t *request, json_t **data);
/** ask_next() - wait for the next reply of such a request */
int ask_next(struct ask *ask, int timeout_ms, json_t **data);

/**
 * ask_poll() - like ask_next(), with a time limit; if no reply came in that time, it returns OK
 * with @data NULL
 */
int ask_poll(struct ask *ask, int timeout_ms, json_t **data);

/**
 * ask_quietly() - send one request and wait for its answer without printing errors, for polling.
 * Return: 0 or a negative errno
 */
int ask_quietly(const char *path, const char *request, int timeout_ms, json_t **data);

/** ask_label() - warn that answers were made without the root; @aside: on standard error */
void ask_label(const struct ask *ask, bool aside);
/** ask_status() - Return: the exit status of a command that only shows answers */
int ask_status(const struct ask *ask);

/**
 * ask_is_link() - Return: true if the argument names a LINK; false if it is a NODE, or an address
 * with a port
 */
bool ask_is_link(const char *text);
/**
 * ask_node() - convert a NODE argument (coordinates, name, GUID or address) to coordinates
 * @buf: gets them, TORUS_TEXT_MAX bytes
 */
int ask_node(struct ask *ask, const char *text, char *buf);
/** ask_link() - divide NODE:PORT, and convert NODE as ask_node() */
int ask_link(struct ask *ask, const char *text, char *node, char *port);
/** ask_shape() - get the shape of the fabric */
int ask_shape(struct ask *ask, struct torus_shape *shape);

#endif /* ASK_H */
