/* SPDX-License-Identifier: GPL-2.0-only */
/* The distribution tree: messages of this node's connections, and their keep-alive. */
#ifndef FM_TREE_H
#define FM_TREE_H

#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;

/* The events fm_conn_up(), fm_conn_down() and fm_msg() of the service network (fm.h). */
void fm_tree_up(struct fm *fm, int id);
void fm_tree_down(struct fm *fm, int id);
void fm_tree_msg(struct fm *fm, int id, const struct fm_msg *msg);
/** fm_tree_due() - send keep-alives and HELLOs that are due, and end connections that are lost */
void fm_tree_due(struct fm *fm);
/** fm_tree_lose() - close the connection of the child @guid, if there is one */
void fm_tree_lose(struct fm *fm, uint64_t guid);
uint64_t fm_tree_expiry(const struct fm *fm);

#endif /* FM_TREE_H */
