/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages and events for the root, which may be on this node or elsewhere. */
#ifndef FM_UP_H
#define FM_UP_H

#include <stdbool.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_conn;
struct fm_init;

/**
 * struct fm_up - the next manager on the way up
 * @send: a row, a report or a notice for it
 * @hello: a node wants to be a child of this one
 * @guest_left: a child that the root gave another parent has gone there; root only
 * @reached: a connection of role FM_CONN_NOTICE, _PROBE or _CALL is up; root only
 * @answered: the called node of that GUID has answered that it follows this one, or does not; root
 *	only
 * @yields: a neighbour tells of another root. Return: true if this one has ended, to follow it;
 *	root only
 */
struct fm_up {
	void (*send)(struct fm *fm, const struct fm_msg *msg);
	void (*hello)(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
	void (*guest_left)(struct fm *fm, uint64_t guid);
	void (*reached)(struct fm *fm, struct fm_conn *c);
	void (*answered)(struct fm *fm, uint64_t guid, bool follows);
	bool (*yields)(struct fm *fm, const struct fm_init *init);
};

extern const struct fm_up fm_up_parent;	/* on all nodes but the root */

#endif /* FM_UP_H */
