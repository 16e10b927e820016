/* SPDX-License-Identifier: GPL-2.0-only */
/* What was excluded under the former root. */
#ifndef FM_RECALL_H
#define FM_RECALL_H

#include <torus/topology.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_root;

void fm_recall_hello(struct fm *fm, const struct fm_hello *h);
/* The fabric gets that shape: what was said is taken over. */
void fm_recall_end(struct fm *fm, const struct torus_shape *shape);
void fm_recall_free(struct fm_root *r);

#endif /* FM_RECALL_H */
