/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the nodes that an exclusion would cut off. */
#ifndef FM_GUARD_H
#define FM_GUARD_H

#include <stdint.h>

struct fm;
struct fm_severed;
struct fm_target;

/* Implements fm_exclude_severs() on the root. */
int fm_guard_look(const struct fm *fm, const struct fm_target *end, uint32_t n,
		  struct fm_severed *out);

#endif /* FM_GUARD_H */
