/* SPDX-License-Identifier: GPL-2.0-only */
/* The epoch of this root. */
#ifndef FM_EPOCH_H
#define FM_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_hello;

/* Goes on in @epoch: all nodes say HELLO again, and are welcomed once the root's NIC knows it. */
void fm_epoch_raise(struct fm *fm, uint64_t epoch);
/* Whether the NIC of @h may obey what it says that it does; else its HELLO is a mistake, or a lie. */
bool fm_epoch_credible(const struct fm *fm, const struct fm_hello *h);
/* Whether the root is above all that the NIC of @h has obeyed; it is from then on. */
bool fm_epoch_above(struct fm *fm, const struct fm_hello *h);
void fm_epoch_due(struct fm *fm);
uint64_t fm_epoch_expiry(const struct fm *fm);

#endif /* FM_EPOCH_H */
