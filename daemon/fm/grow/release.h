/* SPDX-License-Identifier: GPL-2.0-only */
/* The end of a partition: a member leaves it, and informs its neighbours. */
#ifndef FM_GROWTH_RELEASE_H
#define FM_GROWTH_RELEASE_H

#include "daemon/fm/grow/facts.h"

/** fm_stage_change() - set the stage, and notify the host */
void fm_stage_change(struct fm_growth *g, enum fm_growth_stage stage);

/**
 * fm_release_begin() - leave because of @end, and inform all neighbours except the one at @except,
 * which knows it
 */
void fm_release_begin(struct fm_growth *g, const struct fm_growth_end *end, unsigned int except);

/** fm_release_give_up() - leave because of what this node noticed at port @p */
void fm_release_give_up(struct fm_growth *g, enum fm_growth_why why, unsigned int p);

/**
 * fm_release_confirmed() - note that the neighbour at port @p knows that this node has left, or
 * does not answer
 */
void fm_release_confirmed(struct fm_growth *g, unsigned int p);

/** fm_release_again() - answer a neighbour that does not know yet that this node has left */
void fm_release_again(struct fm_growth *g, unsigned int p);

#endif /* FM_GROWTH_RELEASE_H */
