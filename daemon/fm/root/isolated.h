/* SPDX-License-Identifier: GPL-2.0-only */
/* Nodes that answer, but that no packet can reach. */
#ifndef FM_ISOLATED_H
#define FM_ISOLATED_H

#include <stdbool.h>

#include "daemon/fm/wire/msg.h"

struct fm;

/*
 * The table at hand came by @t: reports nodes that are cut off; not while it is in doubt (@doubts)
 * whether nodes are lost.
 */
void fm_isolated_tell(struct fm *fm, const struct fm_table_msg *t, bool doubts);
/* The same, once no node is in doubt any more (vanish.c). */
void fm_isolated_again(struct fm *fm);

#endif /* FM_ISOLATED_H */
