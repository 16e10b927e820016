/* SPDX-License-Identifier: GPL-2.0-only */
/* How late this manager is, because it gets too little processor time. */
#ifndef FM_LAG_H
#define FM_LAG_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/**
 * fm_lag_note() - the timer is handled that was due at fm->alarm
 * Return: true if waits end earlier than before.
 */
bool fm_lag_note(struct fm *fm);
/** fm_lag_late() - how late a message may be handled here */
uint64_t fm_lag_late(const struct fm *fm);
/** fm_lag_answer() - how much longer than usual to wait for the answer of another node */
uint64_t fm_lag_answer(const struct fm *fm);

#endif /* FM_LAG_H */
