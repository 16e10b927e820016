/* SPDX-License-Identifier: GPL-2.0-only */
/* Logs an event for each cable that is lost or comes back. */
#ifndef FM_CABLES_H
#define FM_CABLES_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_entry;
struct fm_root;
struct fm_table_msg;
struct torus_shape;

/* Allocates the states of the cables for a new root. Return: false if there is no memory. */
bool fm_cables_new(struct fm_root *r);
void fm_cables_free(struct fm_root *r);
/**
 * fm_cables_former() - set the states of all cables from @entry, the entries of the former root's
 * table
 */
void fm_cables_former(struct fm *fm, const struct torus_shape *shape, const struct fm_entry *entry);
/**
 * fm_cables_look() - find the cables whose state the next table @t changes, before this table is
 * sent
 * Return: how many cables are lost or come back by it.
 */
uint32_t fm_cables_look(struct fm *fm, const struct fm_table_msg *t);
/**
 * fm_cables_why() - find out why a cable was lost
 * @node, @port: the end of the cable at a port with "+"
 * @since: set to when it was lost; 0: before this root began
 * Return: the reason as text; NULL if it is not known.
 */
const char *fm_cables_why(const struct fm *fm, uint32_t node, unsigned int port, uint64_t *since);
/** fm_cables_downs() - Return: how often the cable was lost since this root began */
uint32_t fm_cables_downs(const struct fm *fm, uint32_t node, unsigned int port);
/** fm_cables_log() - log the changes that fm_cables_look() has found */
void fm_cables_log(struct fm *fm);

#endif /* FM_CABLES_H */
