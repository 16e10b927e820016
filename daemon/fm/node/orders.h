/* SPDX-License-Identifier: GPL-2.0-only */
/* Orders: which user excluded ports of nodes, where, why and since when. Few nodes have any. */
#ifndef FM_ORDERS_H
#define FM_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

/** struct fm_orders - @n of them, by node and lowest port; a port has one at most */
struct fm_orders {
	struct fm_order *of;
	uint32_t n, room;
};

/** fm_orders_put() - @o is now the order for its ports; false: no memory, and they have none */
bool fm_orders_put(struct fm_orders *s, const struct fm_order *o);
/** fm_orders_drop() - these ports of @node have no order any more */
void fm_orders_drop(struct fm_orders *s, uint32_t node, uint16_t ports);
/**
 * fm_orders_merge() - as fm_orders_put(), for those ports whose order is not as late
 * Return: true if there is such a port
 */
bool fm_orders_merge(struct fm_orders *s, const struct fm_order *o);
/** fm_orders_copy() - @to becomes the same, or none for lack of memory */
void fm_orders_copy(struct fm_orders *to, const struct fm_orders *from);
void fm_orders_free(struct fm_orders *s);

/** fm_orders_first(), fm_orders_next() - orders of @node; NULL: there are no more */
const struct fm_order *fm_orders_first(const struct fm_orders *s, uint32_t node);
const struct fm_order *fm_orders_next(const struct fm_orders *s, const struct fm_order *o);
/** fm_orders_same() - @node has the same orders in both */
bool fm_orders_same(const struct fm_orders *a, const struct fm_orders *b, uint32_t node);
/** fm_orders_sum() - a checksum of all, going on from @sum */
uint64_t fm_orders_sum(const struct fm_orders *s, uint64_t sum);

#endif /* FM_ORDERS_H */
