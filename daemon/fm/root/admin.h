/* SPDX-License-Identifier: GPL-2.0-only */
/* What the administrator orders. */
#ifndef FM_ADMIN_H
#define FM_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/* As fm_exclude(), at the root. */
int fm_admin_exclude(struct fm *fm, uint32_t node, int port, bool excluded);

#endif /* FM_ADMIN_H */
