/* SPDX-License-Identifier: GPL-2.0-only */
/* The root's list of all nodes. */
#ifndef FM_ROSTER_H
#define FM_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/fm/root/record.h"

struct fm;
struct fm_root;

/* Allocates an empty roster for a new root. Return: false if there is no memory. */
bool fm_roster_new(struct fm_root *r);
void fm_roster_free(struct fm_root *r);

/**
 * fm_roster_size() - Return: number of roster indices that were ever used; a free index has the
 * entry of a dead node
 */
uint32_t fm_roster_size(const struct fm_root *r);
/** fm_roster_known() - Return: number of known nodes */
uint32_t fm_roster_known(const struct fm_root *r);
/**
 * fm_record_no() - Return: node with roster index @i, below fm_roster_size(). A new node may move
 * all entries in memory
 */
struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i);
uint32_t fm_record_number(const struct fm_root *r, const struct fm_record *m);
/**
 * fm_roster_scratch() - Return: memory for fm_roster_size() indices, for the duration of one search
 * (judge.c)
 */
uint32_t *fm_roster_scratch(const struct fm_root *r);

/** fm_record() - Return: the node whose NIC has that GUID, or NULL */
struct fm_record *fm_record(const struct fm_root *r, uint64_t guid);
/** fm_record_joined() - Return: true if @m has sent HELLO; false if @m is NULL */
bool fm_record_joined(const struct fm_record *m);
/** fm_record_add() - add a node, without name and place. Return: NULL if there is no memory */
struct fm_record *fm_record_add(struct fm_root *r, uint64_t guid);
/** fm_record_via() - note that @m is connected to the node @via; 0: to none */
void fm_record_via(struct fm_root *r, struct fm_record *m, uint64_t via);
/** fm_record_missing() - called when the connection of @m has ended: judge.c will judge it */
void fm_record_missing(struct fm *fm, struct fm_record *m);
/** fm_record_move() - give @m another node id, or none; the caller updates fm_root's @at */
void fm_record_move(struct fm *fm, struct fm_record *m, uint32_t node);
/**
 * fm_roster_forget() - remove dead nodes without a place; if they come back, they join as new nodes
 */
void fm_roster_forget(struct fm *fm);
/** fm_record_at() - Return: the node with that node id, or NULL */
struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node);

void fm_record_name(struct fm_root *r, struct fm_record *m, const char *name);
/** fm_record_namesake() - Return: a connected node with the name @name and another GUID, or NULL */
const struct fm_record *fm_record_namesake(const struct fm_root *r, const char *name,
					   uint64_t guid);
/** fm_roster_forget_below() - make all nodes below @guid missing, until they are announced again */
void fm_roster_forget_below(struct fm *fm, uint64_t guid);
/** fm_roster_judge() - have judge.c judge the missing nodes soon */
void fm_roster_judge(struct fm *fm);
/** fm_end_text() - write the name of port @p of @m for people. Return: @buf */
const char *fm_end_text(const struct fm *fm, const struct fm_record *m, unsigned int p,
			char *buf, size_t room);

#endif /* FM_ROSTER_H */
