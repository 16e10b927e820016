/* SPDX-License-Identifier: GPL-2.0-only */
/* How jobs begin and end. */
#ifndef FM_JOB_H
#define FM_JOB_H

#include <stdint.h>

struct fm;
struct fm_job;

/** fm_job_begin() - see fm_job_start() */
int fm_job_begin(struct fm *fm, const struct fm_job *job, const uint32_t *node);
/** fm_job_end() - see fm_job_stop() */
int fm_job_end(struct fm *fm, const char *name, uint32_t uid);

#endif /* FM_JOB_H */
