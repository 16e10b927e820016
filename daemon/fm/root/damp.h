/* SPDX-License-Identifier: GPL-2.0-only */
/* Links that flap: ports that are held down. */
#ifndef FM_DAMP_H
#define FM_DAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_mate;
struct fm_root;

/* A root begins. Return: false: no memory. */
bool fm_damp_new(struct fm_root *r);

void fm_damp_free(struct fm_root *r);	/* while it has its roster */

/*
 * The row of @m becomes @row: losses are counted. Return: true if it says nothing new of ports but
 * those that are held, and that the table has as held already.
 */
bool fm_damp_row(struct fm *fm, struct fm_mate *m, const struct fm_row *row);
uint16_t fm_damp_mask(const struct fm *fm, const struct fm_mate *m);
/* Return: true if one of the cables at @ports of @node is held down, by either end. */
bool fm_damp_holds(const struct fm *fm, uint32_t node, uint16_t ports);
/* Cables at @ports of @node are used again at once. */
void fm_damp_end(struct fm *fm, uint32_t node, uint16_t ports);
void fm_damp_due(struct fm *fm);
uint64_t fm_damp_expiry(const struct fm *fm);

#endif /* FM_DAMP_H */
