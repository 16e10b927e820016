/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to the fabric manager: selects the manager, sends requests and reads replies. Functions
 * print the text of an error, unless they say otherwise.
 */
#ifndef ASK_H
#define ASK_H

#include <jansson.h>
#include <torus/fabric.h>
#include <torus/topology.h>

#include "command.h"

#define ASK_NODES_MAX 4096	/* in a reply about nodes: fabricd-control(7) */
#define ASK_LINKS_MAX 2048	/* ... about ends of cables */
#define ASK_BAD_MAX 8192	/* ... about bad ones, in brief */

/** struct ask - an open connection to a manager */
struct ask {
	struct torus_fabric *fabric;
	char path[128];
	char who[256];		/* the manager, for messages: "the manager of node 1,0 of lab
				 * 'a'" */
	int timeout_ms;		/* for each answer */
	int first_ms;		/* ... and for the first, which each manager can send at once */
	bool missing;		/* nodes were missing in an answer: the fabric has a problem */
	char told[512];		/* ... the nodes that were printed last */
	bool rootless;		/* an answer was made without the root: a problem, too */
	char knows[256];	/* ... text that describes such answers */
	const char *spares;	/* refusals with these codes are not printed now */
	bool spared;		/* ... there was such a refusal, */
	char refused[16];	/* ... with this code */
};

/**
 * ask_open() - connect to a manager: the first that is named by --control; --lab and --node;
 *	$TORUS_CONTROL; else this machine's own; else that of the only lab that is up
 * A manager that does not answer the first request soon is given up: it hangs, or it is stopped.
 * Return: OK, or the kind of the error (kind.h).
 */
int ask_open(const struct ctl *ctl, struct ask *ask);
void ask_close(struct ask *ask);
/**
 * ask_again() - the manager does not answer: connect anew, to it or, of a lab, to another one
 * Tries every second for --timeout, or 60 s, and prints that.
 * Return: OK, or why the last try failed.
 */
int ask_again(const struct ctl *ctl, struct ask *ask);

/**
 * ask() - send a request, and wait for its answer
 * @ask: the manager
 * @request: its reference is taken over
 * @data: gets the answer, a new reference; several parts are joined
 * Also prints which nodes did not answer.
 * Return: OK, or the kind of the error (kind.h): UNREACHABLE also if the root, or the node in
 * question, does not answer.
 */
int ask(struct ask *ask, json_t *request, json_t **data);
/**
 * ask_try() - as ask(), with an argument that a manager of an earlier release may not know
 * @unknown: set if it does not; then nothing is printed
 */
int ask_try(struct ask *ask, json_t *request, json_t **data, bool *unknown);
/**
 * ask_sparing() - as ask(), but a refusal with this @code is not printed, and sets @spared
 */
int ask_sparing(struct ask *ask, json_t *request, json_t **data, const char *code, bool *spared);
/**
 * ask_ready() - find out if the manager has a table
 * @ready: set if it has
 */
int ask_ready(struct ask *ask, bool *ready);
/**
 * ask_nodes() - as ask(), about all nodes, in as many requests as the size of replies requires
 * @max: most items of a reply
 * @each: items of a node in each dimension; 0: one item a node
 */
int ask_nodes(struct ask *ask, json_t *request, uint32_t max, uint32_t each, json_t **data);
/** ask_all_links() - ask for the links of all nodes, without most counters if the manager can */
int ask_all_links(struct ask *ask, json_t **data);
/** ask_first() - send a request with many replies, and wait for the first, without a time limit */
int ask_first(struct ask *ask, json_t *request, json_t **data);
/** ask_next() - the next reply of such a request */
int ask_next(struct ask *ask, int timeout_ms, json_t **data);

/** ask_poll() - likewise; without a reply in that time it returns OK, with @data NULL */
int ask_poll(struct ask *ask, int timeout_ms, json_t **data);

/** ask_quietly() - one request without messages, for polling. Return: 0 or a negative errno */
int ask_quietly(const char *path, const char *request, int timeout_ms, json_t **data);

/** ask_label() - warn that answers were made without the root; @aside: on standard error */
void ask_label(const struct ask *ask, bool aside);
/** ask_status() - Return: the exit status of a command that only shows answers */
int ask_status(const struct ask *ask);

/** ask_is_link() - Return: true if an argument is a LINK, not a NODE (or an address and port) */
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
