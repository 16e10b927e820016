/* SPDX-License-Identifier: GPL-2.0-only */
/* The recording that "fabricd --record" writes (record.h). */
#ifndef RECORDER_H
#define RECORDER_H

#include "daemon/record.h"

struct recorder;

/** recorder_open() - begin a file, or make an old one empty. Return: NULL and errno */
struct recorder *recorder_open(const char *path);
/** recorder_close() - @rec may be NULL */
void recorder_close(struct recorder *rec);

/**
 * recorder_tap() - the ops by which the manager's actions are recorded, and then done
 * @ops, @io: of the host that does them; without a recorder they are returned unchanged
 */
const struct fm_ops *recorder_tap(struct recorder *rec, const struct fm_ops *ops, void **io);
/**
 * recorder_event() - record an event, before the manager gets it
 *
 * If it cannot be written, that is logged once, and the recording ends.
 */
void recorder_event(struct recorder *rec, const struct record_event *e);

#endif /* RECORDER_H */
