/* SPDX-License-Identifier: GPL-2.0-only */
/* Damping of links that flap: their ports are held down for a while. */
#ifndef FM_DAMP_H
#define FM_DAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_record;
struct fm_root;

/* Allocates the state of damp.c for a new root. Return: false if there is no memory. */
bool fm_damp_new(struct fm_root *r);

void fm_damp_free(struct fm_root *r);	/* to be called before the roster is freed */

/**
 * fm_damp_row() - count the links that @m loses when @row replaces its port row
 * Return: true if no new table is needed: the two rows differ only at ports that are held down, and
 * that the table excludes for that already.
 */
bool fm_damp_row(struct fm *fm, struct fm_record *m, const struct fm_row *row);
/** fm_damp_mask() - Return: mask of the ports of @m that are held down */
uint16_t fm_damp_mask(const struct fm *fm, const struct fm_record *m);
/**
 * fm_damp_holds() - Return: true if one of the cables at @ports of @node is held down at either end
 */
bool fm_damp_holds(const struct fm *fm, uint32_t node, uint16_t ports);
/** fm_damp_end() - end the holds of the cables at @ports of @node at once */
void fm_damp_end(struct fm *fm, uint32_t node, uint16_t ports);
/**
 * fm_damp_spare() - end the hold of each cable without which its two ends would be cut off from
 * each other
 * @m: examine only cables of this node; NULL: all
 */
void fm_damp_spare(struct fm *fm, struct fm_record *m);
void fm_damp_due(struct fm *fm);
uint64_t fm_damp_expiry(const struct fm *fm);

#endif /* FM_DAMP_H */
