/* SPDX-License-Identifier: GPL-2.0-only */
/* The service connections of a node. */
#ifndef FM_CONNS_H
#define FM_CONNS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
/* The purpose of a connection of the service network. */
enum fm_conn_role {
	FM_CONN_STRANGER,	/* accepted, has not said HELLO */
	FM_CONN_ROOT,		/* ours, to the root */
	FM_CONN_PARENT,		/* ours, to the parent */
	FM_CONN_CHILD,		/* accepted: below us in the tree */
	FM_CONN_NOTICE,		/* ours, of the root: to tell its peer to drop another */
	FM_CONN_PROBE,		/* ours, of the root: to see whether its peer lives */
	FM_CONN_CALL,		/* ours, of a root: to say an Init where no link leads */
};

/** struct fm_conn - a connection of the service network */
struct fm_conn {
	int id;
	uint8_t role, hellos;	/* @hellos: that were said since something came, up to a bound */
	bool ready, confirmed;	/* ours: established; answered by WELCOME */
	bool answered;		/* something has come */
	bool hello;		/* ours: HELLO is to be sent when the counters are read */
	bool reported, awaited, failed;	/* child: @report of the step at hand; missing; cannot */
	bool guest;		/* child of the root: was given another parent */
	bool waits;		/* stranger: the root that it said HELLO to has not welcomed it */
	uint64_t guid;		/* child; of a notice: node to drop; of a probe or call: peer */
	uint32_t epoch;
	uint32_t node;		/* child: its id in the table, or TORUS_NO_NODE */
	uint64_t heard, attach;	/* when something came last; its number, as its maker counts */
	uint64_t urgent, greeted; /* ours: asked since its peer may be dead; first HELLO; 0: not */
	uint64_t asked;		/* ours: last PING or HELLO; child: the step at hand, first */
	uint64_t again, pace;	/* ours: when HELLO comes again; after what the peer wants it; 0 */
	uint64_t busy;		/* child: when it said of that step that it waits, too; 0 */
	struct fm_report report;
	unsigned int at;	/* its number among all */
};

/* A machine begins, without connections. Return: false: no memory. */
bool fm_conns_new(struct fm *fm);
void fm_conns_free(struct fm *fm);
/* All that there are, in no order: how many; number @i of them, or NULL if there are fewer. */
unsigned int fm_conns_count(const struct fm *fm);
struct fm_conn *fm_conn_no(const struct fm *fm, unsigned int i);

/* A new one; that it leads to a child comes later, by fm_conn_child(). NULL: no memory. */
struct fm_conn *fm_conn_add(struct fm *fm, int id, enum fm_conn_role role);
/* It leads to a child, the NIC @guid. */
void fm_conn_child(struct fm *fm, struct fm_conn *c, uint64_t guid);
void fm_conn_forget(struct fm *fm, struct fm_conn *c);
struct fm_conn *fm_conn_find(struct fm *fm, int id);
/* That of the child with that GUID, which is not @but, or NULL. */
struct fm_conn *fm_conn_of_child(const struct fm *fm, uint64_t guid, const struct fm_conn *but);
struct fm_conn *fm_conn_of_role(const struct fm *fm, enum fm_conn_role role);
void fm_conn_send(struct fm *fm, const struct fm_conn *c, const struct fm_msg *msg);
void fm_conn_drop(struct fm *fm, struct fm_conn *c);
/* When HELLO comes again: it is said; so is wanted; there is something new, or something came. */
void fm_conn_greet(struct fm *fm, struct fm_conn *c);
void fm_conn_pace(struct fm *fm, struct fm_conn *c, uint32_t ms);
void fm_conn_hurry(struct fm *fm, struct fm_conn *c);
/* Return: true if it is ours and leads up. */
bool fm_conn_upward(const struct fm_conn *c);
/* Reports of a new step are waited for. */
void fm_conns_await(struct fm *fm);
/* When it counts as lost if nothing comes; must be looked at next; it is; all are. */
uint64_t fm_conn_lost_at(const struct fm *fm, const struct fm_conn *c);
uint64_t fm_conn_expiry(const struct fm *fm, const struct fm_conn *c);
void fm_conn_look(struct fm *fm, const struct fm_conn *c);
void fm_conns_look(struct fm *fm);
/* Before that none must be looked at. */
uint64_t fm_conns_expiry(const struct fm *fm);

#endif /* FM_CONNS_H */
