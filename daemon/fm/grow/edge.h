/* SPDX-License-Identifier: GPL-2.0-only */
/* One cable of a member, as growth.c uses it. */
#ifndef FM_GROWTH_EDGE_H
#define FM_GROWTH_EDGE_H

#include "daemon/fm/grow/facts.h"

/** fm_edges_reset() - forget what was said by all cables */
void fm_edges_reset(struct fm_growth *g);

/** fm_edge_say() - send the sums of this node by port @p, as message @kind */
void fm_edge_say(struct fm_growth *g, unsigned int p, enum fm_growth_kind kind);

/** fm_edge_answer() - send @kind to a neighbour that spoke of a growth that is not this node's */
void fm_edge_answer(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m,
		    enum fm_growth_kind kind, uint8_t met);

/** fm_edge_meet() - take from a member's first message what this node refused before it was one */
void fm_edge_meet(struct fm_growth_edge *e, const struct fm_growth_msg *m);

/**
 * fm_edge_is_past() - Return: true if @m is to, or from, a membership that ended, at this end or
 * the other, or to a manager that has started again since it refused
 */
bool fm_edge_is_past(const struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m);

/** fm_edge_is_true() - Return: false if @m says what cannot be, whatever was lost */
bool fm_edge_is_true(const struct fm_growth_edge *e, const struct fm_growth_msg *m);

/** fm_edge_confirm() - take from @m, which came by port @p, what the other end has got */
void fm_edge_confirm(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m);

/** fm_edge_close() - neither ask by port @p nor repeat anything there */
void fm_edge_close(struct fm_growth *g, unsigned int p);

/** fm_edge_repeat() - repeat what is due. Return: mask of ports by which no answer came in time */
uint16_t fm_edge_repeat(struct fm_growth *g);

/** fm_edge_open() - Return: nodes that were asked for by this end, without answer */
static inline uint32_t fm_edge_open(const struct fm_growth_edge *e)
{
	return e->said.asked - e->got.done - e->got.back;
}

#endif /* FM_GROWTH_EDGE_H */
