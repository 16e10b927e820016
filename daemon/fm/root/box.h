/* SPDX-License-Identifier: GPL-2.0-only */
/* The nodes for a job. */
#ifndef FM_BOX_H
#define FM_BOX_H

#include <stdint.h>

struct fm;
struct fm_job_want;

/** fm_box_choose() - see fm_job_choose() */
int fm_box_choose(const struct fm *fm, const struct fm_job_want *want, uint32_t *node, char *why);

#endif /* FM_BOX_H */
