/* SPDX-License-Identifier: GPL-2.0-only */
/* Cables that one end reports as up and the other as down. */
#ifndef FM_DISPUTE_H
#define FM_DISPUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fm;
struct fm_record;
struct fm_root;

#define FM_SUSPECTS 64	/* number of suspects that are remembered; if there are more, all nodes
			 * are checked */

/* Allocates the state of dispute.c for a new root. Return: false if there is no memory. */
bool fm_dispute_new(struct fm_root *r);
void fm_dispute_free(struct fm_root *r);

/** fm_disputed_any() - Return: true if a cable of @m is disputed */
bool fm_disputed_any(const struct fm *fm, const struct fm_record *m);
/** fm_dispute_row() - called when the port row of @m has changed */
void fm_dispute_row(struct fm *fm, const struct fm_record *m);
void fm_dispute_due(struct fm *fm);
uint64_t fm_dispute_expiry(const struct fm *fm);

#endif /* FM_DISPUTE_H */
