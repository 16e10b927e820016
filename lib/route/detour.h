/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of consecutive destinations that take a detour.
 *
 * Finds the same rows as lt_pair_row(), but for up to 64 destinations at once, as bits of a word.
 * The choices of signs are tried in the order of the hops that they need in all dimensions but 0.
 * Along dimension 0, the first excluded cable divides the destinations that are reached from those
 * that are not. In other dimensions, the segments of successive destinations lie in successive
 * rings, nearly all of which have no excluded cable. tests/unit/test_routes_naive.c compares the
 * results with a slow second implementation.
 */
#ifndef LIB_ROUTE_DETOUR_H
#define LIB_ROUTE_DETOUR_H

#include "health.h"

#define LT_DETOURS_MAX 64

/**
 * lt_detours() - compute rows of detours: rows without steps, or with steps if no path without
 * steps is healthy
 * @h: the torus
 * @from: source
 * @at: coordinates of @from
 * @first: first destination; all are on its line along dimension 0. If that is the line of @from,
 *	@from is not among the wanted ones
 * @which: bit i: the row of destination @first + i is wanted
 * @row: row of @first and those after it. The wanted ones are plain, with the same directions, and
 *	not healthy; they are replaced. Others are unchanged
 * Return: the destinations of @which that have no direct row; their rows are unchanged.
 */
uint64_t lt_detours(struct torus_health *h, uint32_t from, const struct torus_coords *at,
		    uint32_t first, uint64_t which, uint64_t *row);

#endif /* LIB_ROUTE_DETOUR_H */
