/* SPDX-License-Identifier: GPL-2.0-only */
/* Squares of cables: they show, without coordinates, which cables of this node are right. */
#ifndef FM_SQUARE_H
#define FM_SQUARE_H

#include <stdbool.h>

struct fm;
struct fm_init;

/**
 * enum fm_square - the result for a cable
 * @FM_SQUARE_NONE: no square of it can be judged yet
 * @FM_SQUARE_OPEN: some can be judged, and none that counts is closed
 * @FM_SQUARE_CLOSED: at least one that counts is closed
 */
enum fm_square { FM_SQUARE_NONE, FM_SQUARE_OPEN, FM_SQUARE_CLOSED };

/** fm_squares_new() - memory for the cables of neighbours, by fm_new(). Return: false: no memory */
bool fm_squares_new(struct fm *fm);
void fm_squares_free(struct fm *fm);

/**
 * fm_squares_heard() - take the neighbour's cables from an Init, with or without a place, by @port
 * Return: true if they are others than in the Init before.
 */
bool fm_squares_heard(struct fm *fm, unsigned int port, const struct fm_init *init);
/** fm_squares_tell() - write the cables of this node into an Init */
void fm_squares_tell(const struct fm *fm, struct fm_init *init);
/** fm_squares_judge() - judge the cable at @port, below fm_ports_used(); fm->ndims is not 0 */
enum fm_square fm_squares_judge(const struct fm *fm, unsigned int port);

#endif /* FM_SQUARE_H */
