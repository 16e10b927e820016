/* SPDX-License-Identifier: GPL-2.0-only */
/* The epoch of this root. */
#ifndef FM_EPOCH_H
#define FM_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_hello;

/* It claims @epoch: nodes are welcomed there once the root's own NIC obeys it. */
void fm_epoch_raise(struct fm *fm, uint64_t epoch);
/* The latest epoch that is believed; a node that says a later one is mistaken, or lies. */
uint64_t fm_epoch_believed(const struct fm *fm);
/* The latest version of a table, or of the rows of a node, that is believed. */
uint64_t fm_version_believed(const struct fm *fm);
/* The latest epoch that the NIC of @h obeys, or may obey. */
uint64_t fm_epoch_said(const struct fm_hello *h);
/*
 * Return: true if the epoch of this root is above all that the NIC of @h has obeyed, or may have,
 * and what it kept; else that is logged.
 */
bool fm_epoch_above(struct fm *fm, const struct fm_hello *h);
void fm_epoch_due(struct fm *fm);
uint64_t fm_epoch_expiry(const struct fm *fm);

#endif /* FM_EPOCH_H */
