/* SPDX-License-Identifier: GPL-2.0-only */
/* The distribution tree: what comes by the connections of this node, and their keep-alive. */
#ifndef FM_TREE_H
#define FM_TREE_H

#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;

void fm_tree_up(struct fm *fm, int id);
void fm_tree_down(struct fm *fm, int id);
void fm_tree_msg(struct fm *fm, int id, const struct fm_msg *msg);
void fm_tree_due(struct fm *fm);
/* Ends the connection of the child with that GUID, if there is one. */
void fm_tree_lose(struct fm *fm, uint64_t guid);
uint64_t fm_tree_expiry(const struct fm *fm);

#endif /* FM_TREE_H */
