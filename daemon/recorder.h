/* SPDX-License-Identifier: GPL-2.0-only */
/* The recording that "fabricd --record" writes (record.h). */
#ifndef RECORDER_H
#define RECORDER_H

#include "daemon/record.h"

struct recorder;

/** recorder_open() - create or truncate the file @path. Return: NULL and errno after an error */
struct recorder *recorder_open(const char *path);
/** recorder_close() - close the file; @rec may be NULL */
void recorder_close(struct recorder *rec);

/**
 * recorder_tap() - get the ops that record the manager's actions and then do them by @ops
 * @rec: NULL: @ops and @io are returned unchanged
 * @io: argument of @ops; replaced by the argument of the functions returned
 */
const struct fm_ops *recorder_tap(struct recorder *rec, const struct fm_ops *ops, void **io);
/**
 * recorder_event() - record an event; called before the manager gets it
 *
 * If it cannot be written, this logs the failure once, and the recording ends.
 */
void recorder_event(struct recorder *rec, const struct record_event *e);

#endif /* RECORDER_H */
