/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes the next table, and sends it. */
#ifndef FM_PUBLISH_H
#define FM_PUBLISH_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_entry;

/**
 * fm_publish_entry() - make the entry of @node for the next table, @version
 * Return: false if the entry is blank, and was blank before.
 */
bool fm_publish_entry(struct fm *fm, uint32_t node, uint64_t version, struct fm_entry *e);
void fm_publish_due(struct fm *fm);
uint64_t fm_publish_expiry(const struct fm *fm);

#endif /* FM_PUBLISH_H */
