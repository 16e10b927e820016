/* SPDX-License-Identifier: GPL-2.0-only */
/* Cables that are not where the shape wants them. */
#ifndef FM_WIRING_H
#define FM_WIRING_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_mate;

/* Mask of ports of @m that are wrongly cabled; problems are told. */
uint16_t fm_wiring_check(struct fm *fm, const struct fm_mate *m);
/* Return: true if that mask may change while its row and the nodes beside it stay the same. */
bool fm_wiring_odd(const struct fm *fm, const struct fm_mate *m);

#endif /* FM_WIRING_H */
