/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of the fabric that had a root each, and are joined by links again. */
#ifndef FM_PARTS_H
#define FM_PARTS_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_conn;
struct fm_hello;
struct fm_record;
struct fm_root;
struct fm_table_msg;

/* Allocates the state of parts.c for a new root. Return: false if there is no memory. */
bool fm_parts_new(struct fm_root *r);
void fm_parts_free(struct fm_root *r);

/**
 * fm_parts_hello() - take over the exclusions of @m, which has sent HELLO, if it comes from another
 * part
 * Called on a root that has a table.
 */
void fm_parts_hello(struct fm *fm, const struct fm_record *m);
/**
 * fm_parts_own() - store the table of this node itself, which may be of another part than that of
 * the other nodes
 * Called when this node begins to ask to be root.
 * Return: false if there is no memory.
 */
bool fm_parts_own(const struct fm *fm, struct fm_root *r);
/** fm_parts_ask() - ask the node of a HELLO for its table, if that may be of another part */
void fm_parts_ask(struct fm *fm, const struct fm_conn *c, const struct fm_hello *h);
/**
 * fm_parts_awaits() - Return: the time until which the next table waits for a table that was asked
 * for; a past time: it does not wait
 */
uint64_t fm_parts_awaits(const struct fm *fm);
/**
 * fm_parts_sent() - process a table that a node has sent, its own or its kept one, if it is of
 * another part
 */
void fm_parts_sent(struct fm *fm, const struct fm_table_msg *m);
/**
 * fm_parts_end() - take over the exclusions of all other parts
 * Called when the first table is made.
 */
void fm_parts_end(struct fm *fm);

#endif /* FM_PARTS_H */
