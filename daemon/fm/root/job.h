/* SPDX-License-Identifier: GPL-2.0-only */
/* How jobs begin and end. */
#ifndef FM_JOB_H
#define FM_JOB_H

#include <stdint.h>

struct fm;
struct fm_job;

/**
 * fm_job_stranger() - find a node whose manager does not know jobs. Such a manager would compute
 * rows without regard to jobs, and pass the table on without the jobs.
 * Return: its name; NULL: all nodes that are up know jobs.
 */
const char *fm_job_stranger(const struct fm *fm);
/** fm_job_begin() - see fm_job_start() */
int fm_job_begin(struct fm *fm, const struct fm_job *job, const uint32_t *node);
/** fm_job_end() - see fm_job_stop() */
int fm_job_end(struct fm *fm, const char *name, uint32_t uid);

#endif /* FM_JOB_H */
