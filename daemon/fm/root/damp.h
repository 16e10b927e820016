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

/** struct fm_flap - @penalty of a port for its losses, as it was @at (damp.c) */
struct fm_flap {
	uint64_t at;
	uint32_t penalty;
	bool held;
};

/**
 * struct fm_damp - ports that are held down (damp.c)
 * @held: numbers in the roster of the @n nodes that have some
 * @at: when the next is used again; NEVER
 */
struct fm_damp {
	uint32_t *held;
	uint32_t n, room;
	uint64_t at;
};

/*
 * The row of @m becomes @row: losses are counted. Return: true if it says nothing new of ports but
 * those that are held, and that the table has as held already.
 */
bool fm_damp_row(struct fm *fm, struct fm_mate *m, const struct fm_row *row);
bool fm_damp_held(const struct fm_mate *m, unsigned int p);
uint16_t fm_damp_mask(const struct fm *fm, const struct fm_mate *m);
/* Cables at @ports of @node are used again at once. */
void fm_damp_end(struct fm *fm, uint32_t node, uint16_t ports);
void fm_damp_due(struct fm *fm);
uint64_t fm_damp_expiry(const struct fm *fm);
void fm_damp_free(struct fm_root *r);

#endif /* FM_DAMP_H */
