/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Through which node, if no header reaches the destination.
 *
 * The relay is, of the nodes that own rows reach directly, one of those nearest
 * to the destination (hops over healthy cables); of these the one with the
 * shortest own path to it; of these the one with the smallest hash of (from, to,
 * relay), so that sources share the nodes around the destination.
 *
 * The chain ends: a neighbour over a healthy cable is always reached directly,
 * and one of them is nearer to the destination than the node itself. So the relay
 * is nearer than the node is, and so on from relay to relay, whatever rows they
 * choose, as long as all are of the same exclusions.
 */
#ifndef LIB_ROUTE_RELAY_H
#define LIB_ROUTE_RELAY_H

#include "health.h"

/**
 * lt_relay_row() - a row through a relay
 * @rows: of @from, with all its direct rows as they are to be
 * @row: 0 if the destination is in another component
 * Return: 0 or -ENOMEM.
 */
int lt_relay_row(struct torus_health *h, uint32_t from, uint32_t to, const uint64_t *rows,
		 uint64_t *row);

#endif /* LIB_ROUTE_RELAY_H */
