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

#define FM_NEWS_MAX 64	/* number of changed nodes that struct fm_table can list; if more have
			 * changed, none are listed */
#define FM_WHO_MAX (TORUS_NAME_MAX + TORUS_TEXT_MAX + 8)	/* size of the buffer for
								 * fm_table_name() */

/**
 * fm_table_begin() - make an empty table of @shape with version 0. Return: false if there is no
 * memory
 */
bool fm_table_begin(struct fm *fm, const struct torus_shape *shape);
/**
 * fm_table_take() - apply a table, or changes to the present one, of the joined root
 * Return: false if this node must fetch the whole table, because the changes are for another base,
 * or there is no memory.
 */
bool fm_table_take(struct fm *fm, const struct fm_table_msg *t);
void fm_table_free(struct fm_table *t);
/**
 * fm_table_whole() - make a message of the whole table, which must have a version
 * Return: false if there is no memory.
 */
bool fm_table_whole(const struct fm *fm, struct fm_msg *out);
/** fm_table_whole_end() - free the memory of a message made by fm_table_whole() */
void fm_table_whole_end(const struct fm *fm, struct fm_msg *msg);
/** fm_table_find() - Return: node id of the NIC @guid in the table, or TORUS_NO_NODE */
uint32_t fm_table_find(const struct fm *fm, uint64_t guid);
/** fm_table_self() - Return: node id of this node in the table, or TORUS_NO_NODE */
uint32_t fm_table_self(const struct fm *fm);
/**
 * fm_table_entry() - Return: entry of the NIC @guid in the present table, else in the kept one;
 * NULL if in neither
 */
const struct fm_entry *fm_table_entry(const struct fm *fm, uint64_t guid);
/**
 * fm_table_name() - write the name of a node for people: 'n1-0' (1,0); its GUID if it is unknown
 * @buf: FM_WHO_MAX bytes
 * Return: @buf.
 */
const char *fm_table_name(const struct fm *fm, uint64_t guid, char *buf);
/**
 * fm_table_fill() - describe the table in a HELLO, with the exclusions of this node and its
 * neighbours
 */
void fm_table_fill(const struct fm *fm, struct fm_hello *h);
/** fm_table_ended() - add the end of a session, which a node reported after the table was made */
void fm_table_ended(struct fm *fm, const struct fm_ended *e);
/**
 * fm_table_takes() - Return: true if the table expects this NIC, started with @epoch, at @node to
 * take part
 */
bool fm_table_takes(const struct fm *fm, uint32_t node, uint64_t guid, uint32_t epoch);
/** fm_table_counts() - Return: true if recoveries wait for the node */
bool fm_table_counts(const struct fm_entry *e);
/** fm_table_blank() - Return: true if the entry has no content, so that messages omit it */
bool fm_table_blank(const struct fm_entry *e);
/**
 * fm_table_votes() - Return: mask of the sets of voters @v that contain the node of @e, of the same
 * table
 */
uint8_t fm_table_votes(const struct fm_voters *v, const struct fm_entry *e);
/**
 * fm_fingerprint() - Return: a hash of a NIC's GUID and epoch; the sum of fingerprints identifies a
 * set of NICs
 */
uint64_t fm_fingerprint(uint64_t guid, uint32_t epoch);

#endif /* FM_TABLE_H */
