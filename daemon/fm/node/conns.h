/* SPDX-License-Identifier: GPL-2.0-only */
/* The service connections of a node. */
#ifndef FM_CONNS_H
#define FM_CONNS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
/* The purpose of a connection. This node has opened it, except for STRANGER and CHILD. */
enum fm_conn_role {
	FM_CONN_STRANGER,	/* a peer has connected, and has not sent HELLO yet */
	FM_CONN_ROOT,		/* to the root */
	FM_CONN_PARENT,		/* to the parent */
	FM_CONN_CHILD,		/* a peer has connected that is below this node in the tree */
	FM_CONN_NOTICE,		/* opened by the root, to make the peer drop another node */
	FM_CONN_PROBE,		/* opened by the root, to find out whether the peer's manager
				 * lives */
	FM_CONN_CALL,		/* opened by a root, to send an Init to a node that no link
				 * reaches */
	FM_CONN_TRY,		/* to a later root, to find out whether this node can reach it */
};

/**
 * struct fm_conn - a connection. A time is 0 if the event has not happened. ROOT and PARENT are
 * "upward"
 */
struct fm_conn {
	int id;
	uint8_t role, hellos;	/* @hellos: HELLOs sent since the last message of the peer, up to
				 * a limit */
	bool ready, confirmed;	/* upward: the connection is established; WELCOME has come */
	bool answered;		/* the peer has sent a message */
	bool hello;		/* upward: HELLO is to be sent as soon as the counters have been
				 * read */
	bool reported, awaited, failed;	/* child: @report is for this step; its report is
					 * missing; it cannot report */
	bool guest;		/* child of the root: it was given another parent, and has not
				 * gone there yet */
	bool brief;		/* TRY: to a node that only asks to be root */
	bool waits;		/* stranger: it sent HELLO to this root and was not welcomed yet */
	uint64_t guid;		/* GUID of the child, of the probed or called node; NOTICE: of
				 * the node to drop */
	uint32_t epoch;
	uint32_t node;		/* child: its id in the table, or TORUS_NO_NODE */
	uint64_t received;	/* when the last message came */
	uint64_t attach;	/* number that the opening node gave */
	uint64_t urgent, greeted; /* upward: when the first urgent ping, or HELLO, without an
				   * answer was sent */
	uint64_t asked;		/* upward: when the last PING or HELLO was sent; child: when this
				 * step was sent */
	uint64_t again, pace;	/* upward: when the next HELLO is due; interval that the peer has
				 * asked for */
	uint64_t busy;		/* child: when it last reported that it is waiting, too */
	struct fm_report report;
	unsigned int at;	/* its index, as for fm_conn_no() */
};

/**
 * fm_conns_new() - make an empty list of connections; called by fm_new(). Return: false if there is
 * no memory
 */
bool fm_conns_new(struct fm *fm);
void fm_conns_free(struct fm *fm);
unsigned int fm_conns_count(const struct fm *fm);
/**
 * fm_conn_no() - Return: the connection with index @i, or NULL. Indices change when a connection
 * ends
 */
struct fm_conn *fm_conn_no(const struct fm *fm, unsigned int i);

/**
 * fm_conn_add() - add a connection, other than to a child (see fm_conn_child()). Return: NULL if
 * there is no memory
 */
struct fm_conn *fm_conn_add(struct fm *fm, int id, enum fm_conn_role role);
void fm_conn_child(struct fm *fm, struct fm_conn *c, uint64_t guid);
/** fm_conn_lead() - use @c, which this node has opened, as its connection to the root */
void fm_conn_lead(struct fm *fm, struct fm_conn *c);
/**
 * fm_conn_forget() - free a connection that is closed; fm_conn_drop() - close and free a connection
 */
void fm_conn_forget(struct fm *fm, struct fm_conn *c);
void fm_conn_drop(struct fm *fm, struct fm_conn *c);
struct fm_conn *fm_conn_find(struct fm *fm, int id);
/** fm_conn_of_child() - Return: a connection to the child @guid other than @but; or NULL */
struct fm_conn *fm_conn_of_child(const struct fm *fm, uint64_t guid, const struct fm_conn *but);
struct fm_conn *fm_conn_of_role(const struct fm *fm, enum fm_conn_role role);
void fm_conn_send(struct fm *fm, const struct fm_conn *c, const struct fm_msg *msg);
/*
 * Set when the next HELLO is sent on @c: fm_conn_greet() is called when one was sent now,
 * fm_conn_pace() when the peer has asked for the next one @ms after the last one, fm_conn_hurry()
 * when this node has news.
 */
void fm_conn_greet(struct fm *fm, struct fm_conn *c);
void fm_conn_pace(struct fm *fm, struct fm_conn *c, uint32_t ms);
void fm_conn_hurry(struct fm *fm, struct fm_conn *c);
bool fm_conn_upward(const struct fm_conn *c);
/** fm_conns_await() - called when a new step was sent: all children have to report */
void fm_conns_await(struct fm *fm);
/** fm_conn_lost_at() - Return: when @c counts as lost if no message comes */
uint64_t fm_conn_lost_at(const struct fm *fm, const struct fm_conn *c);
/** fm_conn_expiry() - Return: when @c needs attention next */
uint64_t fm_conn_expiry(const struct fm *fm, const struct fm_conn *c);
/*
 * Update fm_conns_expiry() after a change of the connection @c (NULL: of none), or of any number of
 * connections.
 */
void fm_conn_look(struct fm *fm, const struct fm_conn *c);
void fm_conns_look(struct fm *fm);
uint64_t fm_conns_expiry(const struct fm *fm);

#endif /* FM_CONNS_H */
