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

#define FM_NEWS_MAX 64	/* nodes listed in struct fm_table; if more changed, none are listed */
#define FM_WHO_MAX (TORUS_NAME_MAX + TORUS_TEXT_MAX + 8)	/* bytes of fm_table_who() */

/** fm_table_begin() - begin an empty table of that shape, version 0. Return: false: no memory */
bool fm_table_begin(struct fm *fm, const struct torus_shape *shape);
/**
 * fm_table_take() - take a table, or changes to the present one, of the joined root
 * Return: false: it is to be fetched whole: its base is another one, or there is no memory.
 */
bool fm_table_take(struct fm *fm, const struct fm_table_msg *t);
void fm_table_free(struct fm_table *t);
/** fm_table_whole() - the whole table as a message. Return: false: no memory */
bool fm_table_whole(const struct fm *fm, struct fm_msg *out);
/** fm_table_whole_end() - free the memory of such a message */
void fm_table_whole_end(const struct fm *fm, struct fm_msg *msg);
/** fm_table_find() - Return: node id of the NIC @guid in the table, or TORUS_NO_NODE */
uint32_t fm_table_find(const struct fm *fm, uint64_t guid);
/** fm_table_self() - Return: node id of this node in the table, or TORUS_NO_NODE */
uint32_t fm_table_self(const struct fm *fm);
/** fm_table_entry() - Return: entry of a NIC in the table, or in the kept one; NULL: in neither */
const struct fm_entry *fm_table_entry(const struct fm *fm, uint64_t guid);
/**
 * fm_table_who() - write the name of a node for people: 'n1-0' (1,0); its GUID if it is unknown
 * @buf: FM_WHO_MAX bytes
 * Return: @buf.
 */
const char *fm_table_who(const struct fm *fm, uint64_t guid, char *buf);
/** fm_table_tell() - describe the table in a HELLO, with the exclusions beside this node */
void fm_table_tell(const struct fm *fm, struct fm_hello *h);
/** fm_table_ended() - take the end of a session, which a node reported too late for the table */
void fm_table_ended(struct fm *fm, const struct fm_ended *e);
/** fm_table_takes() - Return: true if the table counts on that NIC, of that life, at @node */
bool fm_table_takes(const struct fm *fm, uint32_t node, uint64_t guid, uint32_t epoch);
/** fm_table_counts() - Return: true if recoveries wait for the node */
bool fm_table_counts(const struct fm_entry *e);
/** fm_table_blank() - Return: true if the entry has no content, so messages leave it out */
bool fm_table_blank(const struct fm_entry *e);
/** fm_table_out() - Return: true if @admin has all cables of a node: it is out of service */
bool fm_table_out(const struct torus_shape *shape, uint16_t admin);
/** fm_table_votes() - Return: mask of the sets of @v that have the node of @e, of the same table */
uint8_t fm_table_votes(const struct fm_voters *v, const struct fm_entry *e);
/** fm_fingerprint() - Return: a hash of a NIC and its life; sums of them identify sets of NICs */
uint64_t fm_fingerprint(uint64_t guid, uint32_t epoch);

#endif /* FM_TABLE_H */
