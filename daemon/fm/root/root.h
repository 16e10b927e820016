/* SPDX-License-Identifier: GPL-2.0-only */
/* The root's beginning and end, and the order of its stages. */
#ifndef FM_ROOT_H
#define FM_ROOT_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/*
 * This node asks to be root; fm_root_begin(): if its NIC and its disk know of no former root, it
 * leads at once. Return: 0; -ENOMEM: nothing has changed.
 */
int fm_root_begin(struct fm *fm);
int fm_root_ask(struct fm *fm);
void fm_root_free(struct fm *fm);
void fm_root_due(struct fm *fm);
uint64_t fm_root_expiry(const struct fm *fm);

#endif /* FM_ROOT_H */
