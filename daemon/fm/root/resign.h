/* SPDX-License-Identifier: GPL-2.0-only */
/* A root whose own NIC fails hands over. */
#ifndef FM_RESIGN_H
#define FM_RESIGN_H

#include <stdint.h>

struct fm;

/** fm_resign_due() - if this root's NIC fails, hand over; then this root ends after the call */
void fm_resign_due(struct fm *fm);
uint64_t fm_resign_expiry(const struct fm *fm);

#endif /* FM_RESIGN_H */
