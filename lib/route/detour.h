/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of destinations side by side that take a detour.
 *
 * What lt_pair_row() finds for each of them, found for all at once: signs are tried
 * from short to long, and whether a path is fit is asked for 64 destinations in a
 * word. Along dimension 0 the first excluded cable divides those that are reached
 * from those that are not; in other dimensions all have one run after another, in
 * rings that follow each other, of which next to none is hurt.
 */
#ifndef LIB_ROUTE_DETOUR_H
#define LIB_ROUTE_DETOUR_H

#include "health.h"

#define LT_DETOURS_MAX 64

/**
 * lt_detours() - rows without steps, or with them if no other is fit
 * @at: coordinates of @from
 * @first: a destination; all are of its line along dimension 0, and if it is not that
 *	of @from, @from has no place among them
 * @which: bit i: the destination @first + i is wanted
 * @row: of @first. Those that are wanted are plain, of the same directions, and not fit;
 *	they are written, others stay as they are
 * Return: those for which there is no direct row; theirs stay as they are, too.
 */
uint64_t lt_detours(struct torus_health *h, uint32_t from, const struct torus_coords *at,
		    uint32_t first, uint64_t which, uint64_t *row);

#endif /* LIB_ROUTE_DETOUR_H */
