/* SPDX-License-Identifier: GPL-2.0-only */
/* Squares of cables, from the rows that nodes have reported: node/square.h, for the root. */
#ifndef FM_CORNER_H
#define FM_CORNER_H

#include "daemon/fm/node/square.h"

struct fm_mate;
struct torus_shape;

/** fm_corner_judge() - what the squares at @m say of its cable at @port; of a fabric of @shape */
enum fm_square fm_corner_judge(const struct fm *fm, const struct torus_shape *shape,
			       const struct fm_mate *m, unsigned int port);

#endif /* FM_CORNER_H */
