/* SPDX-License-Identifier: GPL-2.0-only */
/* Isolated nodes: those that answer, but that no packet can reach. */
#ifndef FM_ISOLATED_H
#define FM_ISOLATED_H

#include <stdbool.h>

#include "daemon/fm/wire/msg.h"

struct fm;

/**
 * fm_isolated_report() - report the isolated nodes as problems, if they may have changed
 * @t: the changes that the present table has made
 * @doubts: the root is still finding out whether nodes are lost (vanish.c): report them later
 */
void fm_isolated_report(struct fm *fm, const struct fm_table_msg *t, bool doubts);
/**
 * fm_isolated_again() - report the isolated nodes whose report was postponed
 * Called when no node is in doubt any more.
 */
void fm_isolated_again(struct fm *fm);

#endif /* FM_ISOLATED_H */
