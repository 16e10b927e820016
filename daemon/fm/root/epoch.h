/* SPDX-License-Identifier: GPL-2.0-only */
/* The epoch of this root. */
#ifndef FM_EPOCH_H
#define FM_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_hello;

/** fm_epoch_raise() - make @epoch the epoch of this root, and order its own NIC to obey it */
void fm_epoch_raise(struct fm *fm, uint64_t epoch);
/**
 * fm_epoch_credible() - Return: the latest epoch that this root believes; later ones are a mistake
 * or a lie
 */
uint64_t fm_epoch_credible(const struct fm *fm);
/**
 * fm_version_credible() - Return: the latest version of a table, or of rows, that this root
 * believes
 */
uint64_t fm_version_credible(const struct fm *fm);
/**
 * fm_epoch_stated() - Return: the latest epoch that the NIC of the node that sent @h obeys, or may
 * obey
 */
uint64_t fm_epoch_stated(const struct fm_hello *h);
/**
 * fm_epoch_above() - compare the epoch of this root with those in a HELLO
 * Return: true if it is above each epoch that the node's NIC has obeyed, or may have obeyed, and
 * above that of its kept table; false if it is not, and the log says why.
 */
bool fm_epoch_above(struct fm *fm, const struct fm_hello *h);
/** fm_epoch_due() - order this root's NIC again to obey it, until the NIC does */
void fm_epoch_due(struct fm *fm);
uint64_t fm_epoch_expiry(const struct fm *fm);

#endif /* FM_EPOCH_H */
