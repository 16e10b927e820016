/* SPDX-License-Identifier: GPL-2.0-only */
/* Cables that one end reports as up and the other as down. */
#ifndef FM_DISPUTE_H
#define FM_DISPUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fm;
struct fm_mate;

#define FM_SUSPECTS 64

/** struct fm_suspect - a node with disputed cables; @seen: at the last look as well */
struct fm_suspect {
	uint64_t guid;
	bool seen;
};

/**
 * struct fm_disputes - cables that one end reports as up and the other as down (dispute.c)
 * @more: than fit
 * @at: next look; NEVER
 */
struct fm_disputes {
	struct fm_suspect suspect[FM_SUSPECTS];
	unsigned int n;
	bool more;
	uint64_t at;
};

/* Return: true if the two ends of the cable at port @p differ about it. */
bool fm_disputed(const struct fm *fm, const struct fm_mate *m, unsigned int p);
bool fm_disputed_any(const struct fm *fm, const struct fm_mate *m);
/* The row of @m is another. */
void fm_dispute_row(struct fm *fm, const struct fm_mate *m);
void fm_dispute_due(struct fm *fm);
uint64_t fm_dispute_expiry(const struct fm *fm);

#endif /* FM_DISPUTE_H */
