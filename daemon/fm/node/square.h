/* SPDX-License-Identifier: GPL-2.0-only */
/* Squares of cables: they show, without coordinates, which cables of this node are right. */
#ifndef FM_SQUARE_H
#define FM_SQUARE_H

#include <stdbool.h>

struct fm;
struct fm_init;

/**
 * enum fm_square - what the squares of a cable show
 * @FM_SQUARE_NONE: no square with this cable can be judged yet
 * @FM_SQUARE_OPEN: some can be judged, and none that counts is closed
 * @FM_SQUARE_CLOSED: at least one that counts is closed
 */
enum fm_square { FM_SQUARE_NONE, FM_SQUARE_OPEN, FM_SQUARE_CLOSED };

/**
 * fm_squares_new() - allocate the cables of all neighbours; called by fm_new(). Return: false if
 * there is no memory
 */
bool fm_squares_new(struct fm *fm);
void fm_squares_free(struct fm *fm);

/**
 * fm_squares_store() - store which cables the neighbour at @port has, as its Init lists them
 * Return: true if they differ from those in its previous Init.
 */
bool fm_squares_store(struct fm *fm, unsigned int port, const struct fm_init *init);
/** fm_squares_fill() - write the cables of this node into an Init */
void fm_squares_fill(const struct fm *fm, struct fm_init *init);
/**
 * fm_squares_judge() - judge the cable at @port, which is below fm_ports_used(); fm->ndims must not
 * be 0
 */
enum fm_square fm_squares_judge(const struct fm *fm, unsigned int port);

#endif /* FM_SQUARE_H */
