/* SPDX-License-Identifier: GPL-2.0-only */
/* Wrong cables: those that do not join the ports that they should join in the shape. */
#ifndef FM_WIRING_H
#define FM_WIRING_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_record;

/** fm_wiring_check() - report the wrong cables of @m as problems. Return: mask of their ports */
uint16_t fm_wiring_check(struct fm *fm, const struct fm_record *m);
/**
 * fm_wiring_odd() - Return: true if the result of fm_wiring_check() for @m may change although no
 * port row of @m or of its neighbours does
 */
bool fm_wiring_odd(const struct fm *fm, const struct fm_record *m);

#endif /* FM_WIRING_H */
