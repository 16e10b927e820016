/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of a root over the service network: to nodes that its Inits do not reach. */
#ifndef FM_CALLS_H
#define FM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_calls_status;
struct fm_conn;

/** enum fm_call_state - of a node */
enum fm_call_state {
	FM_CALL_NONE,		/* not called */
	FM_CALL_OPEN,		/* called */
	FM_CALL_OTHER,		/* its last answer: it follows another root */
	FM_CALL_UNKNOWN,	/* the table has no address of it */
};

/** struct fm_call - of a node; @tries: calls since it answered last, up to a bound */
struct fm_call {
	uint8_t state, tries;
	bool near;		/* links may lead there from nodes that take part */
};

/**
 * struct fm_calls - of a root, as long as it asks or leads
 * @node: of each node of the latest table, by its id, @nodes of them; NULL: none yet
 * @queue: room for as many ids
 * @next: id of the node that is looked at next in this @round
 * @found: in this round a node was found that is to be called
 * @at: when it goes on; NEVER
 */
struct fm_calls {
	struct fm_call *node;
	uint32_t *queue;
	uint32_t nodes, next, round;
	bool found;
	uint64_t at;
};

/** fm_calls_start() - this node asks to be root, or @leads at once as the first root */
void fm_calls_start(struct fm *fm, bool leads);
/** fm_calls_joined() - a node says HELLO to this one, which asks: the wave has not ended */
void fm_calls_joined(struct fm *fm);
/** fm_calls_look() - the root leads, and there may be a node that its Inits do not reach */
void fm_calls_look(struct fm *fm);
/** fm_calls_reached() - the connection for a call is up */
void fm_calls_reached(struct fm *fm, const struct fm_conn *c);
/** fm_calls_answered() - as in struct fm_up */
void fm_calls_answered(struct fm *fm, uint64_t guid, bool follows);
void fm_calls_count(const struct fm *fm, struct fm_calls_status *out);
void fm_calls_due(struct fm *fm);
uint64_t fm_calls_expiry(const struct fm *fm);
void fm_calls_free(struct fm_calls *c);

#endif /* FM_CALLS_H */
