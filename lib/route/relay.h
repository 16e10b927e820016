/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Selects the relay if no header reaches the destination.
 *
 * Candidates are the nodes that the source's own rows reach directly. The relay is the candidate
 * nearest to the destination, in hops over healthy cables; of several such candidates, the one to
 * which the source has the shortest path; of several such, the one with the smallest hash of (from,
 * to, relay), so that sources use different nodes around the destination.
 *
 * Claim: chains of relays end if all nodes have the same exclusions. Proof: a node reaches each
 * neighbour over a healthy cable directly, and one of these neighbours is nearer to the destination
 * than the node. So the relay is nearer than the node, the relay's relay is nearer still, and so
 * on. torus_verify() checks it for given rows, tests/unit/test_routes.c for random exclusions.
 *
 * The relays may be restricted to the nodes that the cables of a second torus, a part of the first,
 * join with the destination. Then distances are those over its cables, and the proof is the same: a
 * node that these cables do not join with the destination is further from it than all that they
 * join, and has such a relay or no row. It has no row also if only other relays would lead on.
 */
#ifndef LIB_ROUTE_RELAY_H
#define LIB_ROUTE_RELAY_H

#include "health.h"

/**
 * lt_relay_row() - compute a row with a relay
 * @h: the torus
 * @relays: @h, or the torus that restricts the relays
 * @from: source
 * @to: destination, which no header reaches
 * @rows: rows of @from; its direct rows must be final
 * @row: gets the row; 0 if the destination is in another component, or there is no relay
 * Return: 0 or -ENOMEM.
 */
int lt_relay_row(struct torus_health *h, struct torus_health *relays, uint32_t from, uint32_t to,
		 const uint64_t *rows, uint64_t *row);

#endif /* LIB_ROUTE_RELAY_H */
