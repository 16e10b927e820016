/* SPDX-License-Identifier: GPL-2.0-only */
/* Questions to the fabric manager: whom to ask, and what its answers mean. */
#ifndef ASK_H
#define ASK_H

#include <jansson.h>
#include <torus/fabric.h>
#include <torus/topology.h>

#include "command.h"

#define ASK_NODES_MAX 4096	/* in a reply about nodes: daemon/CONTROL.md */
#define ASK_LINKS_MAX 2048	/* ... about ends of cables */

/** struct ask - a manager that answers */
struct ask {
	struct torus_fabric *fabric;
	char path[128];
	char who[256];		/* the manager, for messages: "the manager of node 1,0 of lab
				 * 'a'" */
	int timeout_ms;		/* for each answer */
	int first_ms;		/* ... and for the first, which every manager can give at once */
	bool missing;		/* an answer lacked nodes: the fabric has a problem */
	char told[512];		/* ... those named last */
	bool rootless;		/* an answer was made without the root: likewise */
	char knows[256];	/* ... what such an answer is, as text */
	const char *spares;	/* refusals with these codes are not said now, ... */
	bool spared;		/* ... and there was one, ... */
	char refused[16];	/* ... with this code */
};

/**
 * ask_open() - --control; --lab and --node; $TORUS_CONTROL; this machine's own
 * manager; the only lab that is up
 * A manager that does not answer a first question soon is given up: it hangs, or it is stopped.
 * Says what is wrong. Return: OK, or why not (kind.h).
 */
int ask_open(const struct ctl *ctl, struct ask *ask);
void ask_close(struct ask *ask);

/**
 * ask() - one question; @request is dropped
 * @data: to be dropped by the caller. More parts of an answer are joined.
 * Says what is wrong, also which nodes did not answer. Return: OK, or why not (kind.h): UNREACHABLE
 * also if the root or the node that should answer does not.
 */
int ask(struct ask *ask, json_t *request, json_t **data);
/**
 * ask_try() - as ask(), with an argument that a manager of an earlier release may not know
 * @unknown: it does not; nothing was said
 */
int ask_try(struct ask *ask, json_t *request, json_t **data, bool *unknown);
/**
 * ask_sparing() - as ask(), but a refusal with this @code is not said: @spared is true then
 */
int ask_sparing(struct ask *ask, json_t *request, json_t **data, const char *code, bool *spared);
/**
 * ask_ready() - whether the manager has a table; says what is wrong, but not that it has none
 * @ready: it has
 */
int ask_ready(struct ask *ask, bool *ready);
/**
 * ask_nodes() - a question about all nodes, in as many parts as the manager's replies have room for
 * @max: items in a reply; @each: of them of a node in each dimension; 0: one of a node
 */
int ask_nodes(struct ask *ask, json_t *request, uint32_t max, uint32_t each, json_t **data);
/** ask_first() - a request to be followed: its first reply, however long it takes */
int ask_first(struct ask *ask, json_t *request, json_t **data);
/** ask_next() - the next reply of such a request */
int ask_next(struct ask *ask, int timeout_ms, json_t **data);

/** ask_poll() - likewise; without a reply in that time it is OK, and @data NULL */
int ask_poll(struct ask *ask, int timeout_ms, json_t **data);

/** ask_quietly() - for polling. Return: 0 or a negative errno */
int ask_quietly(const char *path, const char *request, int timeout_ms, json_t **data);

/** ask_label() - warns that answers were made without the root: among them, or @aside */
void ask_label(const struct ask *ask, bool aside);
/** ask_status() - the exit status of a command that only shows */
int ask_status(const struct ask *ask);

/** ask_is_link() - whether an argument is a LINK and no NODE, which may be an address with a port */
bool ask_is_link(const char *text);
/**
 * ask_node() - a NODE argument (coordinates, name, GUID or address) as the manager takes it
 * @buf: TORUS_TEXT_MAX bytes; gets coordinates
 */
int ask_node(struct ask *ask, const char *text, char *buf);
/** ask_link() - NODE:PORT into both */
int ask_link(struct ask *ask, const char *text, char *node, char *port);
/** ask_shape() - of the fabric */
int ask_shape(struct ask *ask, struct torus_shape *shape);

#endif /* ASK_H */
