/* SPDX-License-Identifier: GPL-2.0-only */
/* The root's beginning and end, and the order of its parts. */
#ifndef FM_ROOT_H
#define FM_ROOT_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/**
 * fm_root_begin() - make this node, whose NIC has the bootstrap flag, lead, or ask to be root
 * It leads at once if neither its NIC nor its disk knows of a former root. Called when the manager
 * starts.
 * Return: 0; -ENOMEM, and then nothing has changed.
 */
int fm_root_begin(struct fm *fm);
/** fm_root_ask() - begin to ask to be root. Return: 0; -ENOMEM, and then nothing has changed */
int fm_root_ask(struct fm *fm);
void fm_root_free(struct fm *fm);
void fm_root_due(struct fm *fm);
uint64_t fm_root_expiry(const struct fm *fm);

#endif /* FM_ROOT_H */
