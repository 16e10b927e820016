/* SPDX-License-Identifier: GPL-2.0-only */
/* The service connections of a node. */
#ifndef FM_CONNS_H
#define FM_CONNS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
/* The purpose of a connection. This node opened it, unless it is that of a stranger or child. */
enum fm_conn_role {
	FM_CONN_STRANGER,	/* accepted; the peer has not said HELLO */
	FM_CONN_ROOT,		/* to the root */
	FM_CONN_PARENT,		/* to the parent */
	FM_CONN_CHILD,		/* accepted; the peer is below this node in the tree */
	FM_CONN_NOTICE,		/* by the root: the peer is to drop another node */
	FM_CONN_PROBE,		/* by the root, to find out if the peer lives */
	FM_CONN_CALL,		/* by a root: carries an Init where no link leads */
};

/** struct fm_conn - a connection; times are 0 if it did not happen. ROOT and PARENT are upward */
struct fm_conn {
	int id;
	uint8_t role, hellos;	/* @hellos: sent since a message came, up to a bound */
	bool ready, confirmed;	/* upward: it is established; WELCOME came */
	bool answered;		/* a message came */
	bool hello;		/* upward: HELLO is sent as soon as the counters are read */
	bool reported, awaited, failed;	/* child: @report of this step came; is missing; cannot */
	bool guest;		/* child of the root: was given another parent */
	bool waits;		/* stranger: said HELLO to this root and is not welcomed yet */
	uint64_t guid;		/* of the child, probed or called node; notice: node to drop */
	uint32_t epoch;
	uint32_t node;		/* child: its id in the table, or TORUS_NO_NODE */
	uint64_t heard, attach;	/* when a message came last; number given by the opening node */
	uint64_t urgent, greeted; /* upward: urgent ping, first HELLO, without an answer */
	uint64_t asked;		/* upward: last PING or HELLO; child: when this step was sent */
	uint64_t again, pace;	/* upward: when the next HELLO is due; interval that peer wants */
	uint64_t busy;		/* child: when it last reported that it waits, too */
	struct fm_report report;
	unsigned int at;	/* its number, as of fm_conn_no() */
};

/** fm_conns_new() - no connections, by fm_new(). Return: false: no memory */
bool fm_conns_new(struct fm *fm);
void fm_conns_free(struct fm *fm);
unsigned int fm_conns_count(const struct fm *fm);
/** fm_conn_no() - Return: connection number @i, or NULL. Numbers change when a connection ends */
struct fm_conn *fm_conn_no(const struct fm *fm, unsigned int i);

/** fm_conn_add() - add a connection; a child is made by fm_conn_child(). Return: NULL: no memory */
struct fm_conn *fm_conn_add(struct fm *fm, int id, enum fm_conn_role role);
void fm_conn_child(struct fm *fm, struct fm_conn *c, uint64_t guid);
/** fm_conn_forget() - free a connection that is closed; fm_conn_drop() closes it before */
void fm_conn_forget(struct fm *fm, struct fm_conn *c);
void fm_conn_drop(struct fm *fm, struct fm_conn *c);
struct fm_conn *fm_conn_find(struct fm *fm, int id);
/** fm_conn_of_child() - Return: connection to the child @guid that is not @but; or NULL */
struct fm_conn *fm_conn_of_child(const struct fm *fm, uint64_t guid, const struct fm_conn *but);
struct fm_conn *fm_conn_of_role(const struct fm *fm, enum fm_conn_role role);
void fm_conn_send(struct fm *fm, const struct fm_conn *c, const struct fm_msg *msg);
/* Set when HELLO is due again: one was sent; the peer wants it after @ms; there is news. */
void fm_conn_greet(struct fm *fm, struct fm_conn *c);
void fm_conn_pace(struct fm *fm, struct fm_conn *c, uint32_t ms);
void fm_conn_hurry(struct fm *fm, struct fm_conn *c);
bool fm_conn_upward(const struct fm_conn *c);
/** fm_conns_await() - a new step was sent: children have to report */
void fm_conns_await(struct fm *fm);
/** fm_conn_lost_at() - Return: when it counts as lost if nothing comes */
uint64_t fm_conn_lost_at(const struct fm *fm, const struct fm_conn *c);
/** fm_conn_expiry() - Return: when it needs attention next */
uint64_t fm_conn_expiry(const struct fm *fm, const struct fm_conn *c);
/* Bring fm_conns_expiry() up to date: one connection, or NULL, has changed; all may have. */
void fm_conn_look(struct fm *fm, const struct fm_conn *c);
void fm_conns_look(struct fm *fm);
uint64_t fm_conns_expiry(const struct fm *fm);

#endif /* FM_CONNS_H */
