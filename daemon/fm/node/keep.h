/* SPDX-License-Identifier: GPL-2.0-only */
/* The kept table: the host keeps it on disk, so that it outlives managers and NICs. */
#ifndef FM_KEEP_H
#define FM_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_book;

/* A table is kept after this many versions in which the configuration did not change. */
#define FM_KEEP_EVERY 64
/* No table has had a version more than this above the version of the latest kept table (keep.c). */
#define FM_KEEP_AHEAD (2 * FM_KEEP_EVERY)

/**
 * fm_keep_new() - allocate the state of keep.c; called by fm_new(). Return: false if there is no
 * memory
 */
bool fm_keep_new(struct fm *fm);

/**
 * fm_keep_take() - use the table @m as the kept one
 * Return: false if a later one is known, or if there is no memory.
 */
bool fm_keep_take(struct fm *fm, const struct fm_table_msg *m);
/**
 * fm_keep_whole() - make a message of the kept table, which points into it. Return: false if there
 * is no kept table
 */
bool fm_keep_whole(const struct fm *fm, struct fm_msg *out);
/** fm_keep_fill() - write into a HELLO which table this node has kept on disk */
void fm_keep_fill(const struct fm *fm, struct fm_hello *h);
/** fm_kept_place() - Return: node id of the NIC @guid in the kept table, or TORUS_NO_NODE */
uint32_t fm_kept_place(const struct fm *fm, uint64_t guid);
/** fm_keep_news() - Return: true if fm_keep() was not called yet for the present table */
bool fm_keep_news(const struct fm *fm);
/**
 * fm_keep() - give the present table, which is in force, to the host to be stored on disk
 * Does nothing if its configuration is the same as that of the table given before, less than
 * FM_KEEP_EVERY versions ago.
 */
void fm_keep(struct fm *fm);
/**
 * fm_keep_ended() - process the host's report that the given table is on disk (@ok), or that the
 * disk has failed
 */
void fm_keep_ended(struct fm *fm, uint64_t epoch, uint64_t version, bool ok);
/** fm_keep_send() - send KEPT to the root, if the host has reported which table is on disk */
void fm_keep_send(struct fm *fm);
void fm_keep_due(struct fm *fm);
uint64_t fm_keep_expiry(const struct fm *fm);
void fm_keep_free(struct fm *fm);

#endif /* FM_KEEP_H */
