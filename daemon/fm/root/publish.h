/* SPDX-License-Identifier: GPL-2.0-only */
/* The next table. */
#ifndef FM_PUBLISH_H
#define FM_PUBLISH_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;

/* The entry of @node as the next table would have it. False: it has none, nor had. */
bool fm_publish_entry(struct fm *fm, uint32_t node, struct fm_entry *e);
void fm_publish_due(struct fm *fm);
uint64_t fm_publish_expiry(const struct fm *fm);

#endif /* FM_PUBLISH_H */
