/* SPDX-License-Identifier: GPL-2.0-only */
/* The lag of this manager: how late it handles events for lack of processor time. */
#ifndef FM_LAG_H
#define FM_LAG_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/**
 * fm_lag_note() - measure the lag, when the timer that was due at fm->alarm is handled
 * Return: true if the lag fell, so waits end earlier than before.
 */
bool fm_lag_note(struct fm *fm);
/**
 * fm_lag_event() - note whether the manager was stopped before this event
 * Called at the beginning of each event; fm->now is its time.
 */
void fm_lag_event(struct fm *fm);
/**
 * fm_lag_doubts() - Return: the time until which this manager must call no node dead, because it
 * was itself stopped and its knowledge is out of date
 */
uint64_t fm_lag_doubts(const struct fm *fm);
/** fm_lag_late() - Return: the lag in ns: how late this manager may handle a message */
uint64_t fm_lag_late(const struct fm *fm);
/** fm_lag_answer() - Return: by how many ns to extend the wait for an answer of another node */
uint64_t fm_lag_answer(const struct fm *fm);

#endif /* FM_LAG_H */
