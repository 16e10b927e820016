/* SPDX-License-Identifier: GPL-2.0-only */
/* A root whose own NIC fails leads no more. */
#ifndef FM_RESIGN_H
#define FM_RESIGN_H

#include <stdint.h>

struct fm;

/** fm_resign_due() - it may hand over, and this node not be root any more */
void fm_resign_due(struct fm *fm);
uint64_t fm_resign_expiry(const struct fm *fm);

#endif /* FM_RESIGN_H */
