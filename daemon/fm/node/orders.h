/* SPDX-License-Identifier: GPL-2.0-only */
/* Orders: who excluded which ports, why and since when. Few nodes have any. */
#ifndef FM_ORDERS_H
#define FM_ORDERS_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

#include "daemon/fm/wire/msg.h"

/**
 * fm_is_out_of_service() - Return: true if a node whose ports @admin are excluded is out of
 * service: no cable of it is left
 */
bool fm_is_out_of_service(const struct torus_shape *shape, uint16_t admin);

/** struct fm_orders - @n orders, sorted by node and lowest port; each port is in at most one */
struct fm_orders {
	struct fm_order *of;
	uint32_t n, room;
};

/**
 * fm_orders_put() - set the order that describes the ports of @o. Return: false if there is no
 * memory; then these ports have no order
 */
bool fm_orders_put(struct fm_orders *s, const struct fm_order *o);
/** fm_orders_drop() - remove the orders of these ports of @node */
void fm_orders_drop(struct fm_orders *s, uint32_t node, uint16_t ports);
/**
 * fm_orders_merge() - as fm_orders_put(), but only for ports whose present order is older than @o
 * Return: true if there is such a port.
 */
bool fm_orders_merge(struct fm_orders *s, const struct fm_order *o);
/** fm_orders_copy() - make @to a copy of @from; empty if there is no memory */
void fm_orders_copy(struct fm_orders *to, const struct fm_orders *from);
void fm_orders_free(struct fm_orders *s);

/** fm_orders_first(), fm_orders_next() - iterate over the orders of @node; NULL: no more */
const struct fm_order *fm_orders_first(const struct fm_orders *s, uint32_t node);
const struct fm_order *fm_orders_next(const struct fm_orders *s, const struct fm_order *o);
/** fm_orders_same() - Return: true if @node has the same orders in @a and @b */
bool fm_orders_same(const struct fm_orders *a, const struct fm_orders *b, uint32_t node);
/** fm_orders_sum() - Return: a checksum of all orders, which continues the checksum @sum */
uint64_t fm_orders_sum(const struct fm_orders *s, uint64_t sum);

#endif /* FM_ORDERS_H */
