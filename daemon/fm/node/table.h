/* SPDX-License-Identifier: GPL-2.0-only */
/* The exclusion table as this node has it. */
#ifndef FM_TABLE_H
#define FM_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_table;

#define FM_NEWS_MAX 64
#define FM_WHO_MAX (TORUS_NAME_MAX + TORUS_TEXT_MAX + 8)

bool fm_table_begin(struct fm *fm, const struct torus_shape *shape);
bool fm_table_take(struct fm *fm, const struct fm_table_msg *t);
void fm_table_free(struct fm_table *t);
/* All of it as a message, to be given to fm_table_whole_end(). False: no memory. */
bool fm_table_whole(const struct fm *fm, struct fm_msg *out);
void fm_table_whole_end(const struct fm *fm, struct fm_msg *msg);
/* Node id of the NIC in the table, TORUS_NO_NODE if it is not; of this node's own. */
uint32_t fm_table_find(const struct fm *fm, uint64_t guid);
uint32_t fm_table_self(const struct fm *fm);
/* Its entry in the table, else in the one from the disk; NULL: in neither. */
const struct fm_entry *fm_table_entry(const struct fm *fm, uint64_t guid);
/*
 * Writes how people know the node of that NIC: 'n1-0' (1,0); or its GUID, if neither table has it.
 * @buf: FM_WHO_MAX bytes. Return: @buf.
 */
const char *fm_table_who(const struct fm *fm, uint64_t guid, char *buf);
/* Says in HELLO what the administrator excluded beside this node (recall.c of the root). */
void fm_table_tell(const struct fm *fm, struct fm_hello *h);
void fm_table_ended(struct fm *fm, const struct fm_ended *e);
/* Return: true if it expects that NIC, of that life, to take part at @node. */
bool fm_table_takes(const struct fm *fm, uint32_t node, uint64_t guid, uint32_t epoch);
bool fm_table_counts(const struct fm_entry *e);
bool fm_table_blank(const struct fm_entry *e);	/* it says nothing, so messages leave it out */
/* Return: true if that excludes all cables of a node: the administrator took it out of service. */
bool fm_table_out(const struct torus_shape *shape, uint16_t admin);
/* Mask of those of @v in which the node of @e is, an entry of the same table. */
uint8_t fm_table_votes(const struct fm_voters *v, const struct fm_entry *e);
uint64_t fm_fingerprint(uint64_t guid, uint32_t epoch);

#endif /* FM_TABLE_H */
