/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages and events for the root, which may be this node or another one. */
#ifndef FM_UP_H
#define FM_UP_H

#include <stdbool.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_conn;
struct fm_init;

/**
 * struct fm_up - how to reach the next manager on the way to the root
 * @send: send it a port row, a report or a notice
 * @hello: a node asks to be a child of this one
 * @guest_left: a child has gone to the parent that the root named; root only
 * @reached: a connection of role FM_CONN_NOTICE, _PROBE or _CALL is up; root only
 * @answered: the called node @guid has answered; @follows: it follows this node; root only
 * @yields: a neighbour's Init names another root. Return: true if this root has given way to it and
 *	ended. @reached: the other root was reached, and accepts this node if it leads; if not, this
 *	root may try it first (try.c); root only
 * @would_yield: Return: true if @yields would return true for a root that was reached; root only
 */
struct fm_up {
	void (*send)(struct fm *fm, const struct fm_msg *msg);
	void (*hello)(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
	void (*guest_left)(struct fm *fm, uint64_t guid);
	void (*reached)(struct fm *fm, struct fm_conn *c);
	void (*answered)(struct fm *fm, uint64_t guid, bool follows);
	bool (*yields)(struct fm *fm, const struct fm_init *init, bool reached);
	bool (*would_yield)(const struct fm *fm, const struct fm_init *init);
};

extern const struct fm_up fm_up_parent;	/* used on each node that is not root: leads to the
					 * parent */

#endif /* FM_UP_H */
