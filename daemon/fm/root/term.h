/* SPDX-License-Identifier: GPL-2.0-only */
/* Ends exclusions when the time for which the administrator ordered them is over. */
#ifndef FM_TERM_H
#define FM_TERM_H

#include <stdint.h>

struct fm;

/**
 * fm_term_due() - compute when new orders end, and include the ports of orders whose term is over
 */
void fm_term_due(struct fm *fm);
uint64_t fm_term_expiry(const struct fm *fm);

#endif /* FM_TERM_H */
