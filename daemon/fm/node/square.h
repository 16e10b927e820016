/* SPDX-License-Identifier: GPL-2.0-only */
/* Squares of cables: which cables of this node are right, without any coordinates. */
#ifndef FM_SQUARE_H
#define FM_SQUARE_H

#include <stdbool.h>

struct fm;
struct fm_init;

/**
 * enum fm_square - what the squares say of a cable
 * @FM_SQUARE_NONE: none can be judged yet, or too few
 * @FM_SQUARE_OPEN: some can, and none that counts closes
 * @FM_SQUARE_CLOSED: one closes
 */
enum fm_square { FM_SQUARE_NONE, FM_SQUARE_OPEN, FM_SQUARE_CLOSED };

/* A machine begins. Return: false: no memory. */
bool fm_squares_new(struct fm *fm);
void fm_squares_free(struct fm *fm);

/**
 * fm_squares_heard() - an Init, with or without a place, has come by @port
 * Return: true if it tells other cables of the neighbour than the one before.
 */
bool fm_squares_heard(struct fm *fm, unsigned int port, const struct fm_init *init);
/** fm_squares_tell() - writes the cables of this node into an Init */
void fm_squares_tell(const struct fm *fm, struct fm_init *init);
/** fm_squares_judge() - what they say of the cable at @port; the dimensions are known */
enum fm_square fm_squares_judge(const struct fm *fm, unsigned int port);

#endif /* FM_SQUARE_H */
