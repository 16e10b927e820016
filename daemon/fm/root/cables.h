/* SPDX-License-Identifier: GPL-2.0-only */
/* An event for each cable that is lost, or comes back. */
#ifndef FM_CABLES_H
#define FM_CABLES_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_root;
struct fm_table_msg;

/* A root begins. Return: false: no memory. */
bool fm_cables_new(struct fm_root *r);
void fm_cables_free(struct fm_root *r);
/*
 * Finds what the next table, @t, changes: before it is taken. Return: how many cables are lost or
 * come back by it.
 */
uint32_t fm_cables_look(struct fm *fm, const struct fm_table_msg *t);
/*
 * Why the cable at @port, one with "+", of that node is lost, or NULL: that is not known. @since:
 * since when; 0: since before this root began.
 */
const char *fm_cables_why(const struct fm *fm, uint32_t node, unsigned int port, uint64_t *since);
/* How often this root has seen it lost. */
uint32_t fm_cables_downs(const struct fm *fm, uint32_t node, unsigned int port);
/* Logs what was found. */
void fm_cables_tell(struct fm *fm);

#endif /* FM_CABLES_H */
