/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Squares of cables, judged by the root from the port rows that nodes have reported; compare
 * node/square.h.
 */
#ifndef FM_CORNER_H
#define FM_CORNER_H

#include "daemon/fm/node/square.h"

struct fm_record;
struct torus_shape;

/**
 * fm_corner_judge() - Return: what the squares at @m show of its cable at @port, in a fabric of
 * @shape
 */
enum fm_square fm_corner_judge(const struct fm *fm, const struct torus_shape *shape,
			       const struct fm_record *m, unsigned int port);

#endif /* FM_CORNER_H */
