/* SPDX-License-Identifier: GPL-2.0-only */
/* This node's part in a recovery. */
#ifndef FM_MEMBER_H
#define FM_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_conn;
struct fm_counts;

/**
 * fm_member_new() - allocate the state of member.c; called by fm_new(). Return: false if there is
 * no memory
 */
bool fm_member_new(struct fm *fm);
void fm_member_free(struct fm *fm);

/**
 * fm_member_table() - process a table from the parent, or of this node's own root: put it in force,
 * and pass it on
 */
void fm_member_table(struct fm *fm, const struct fm_table_msg *t);
/**
 * fm_member_step() - process a step from the parent, or of this node's own root: do it, and pass it
 * on
 */
void fm_member_step(struct fm *fm, const struct fm_step *s);
/** fm_member_report() - process the report of the child @c */
void fm_member_report(struct fm *fm, struct fm_conn *c, const struct fm_report *r);
/**
 * fm_member_excuse() - stop waiting for the part of a child that has reported that its NIC fails
 */
void fm_member_excuse(struct fm *fm, const struct fm_failed *f);
/**
 * fm_member_child() - send the present step to a child; if it does not have @version yet, also the
 * table
 */
void fm_member_child(struct fm *fm, struct fm_conn *c, uint64_t version);
/** fm_member_done() - an action at the NIC has ended, as in fm_done() */
void fm_member_done(struct fm *fm, uint32_t tag, int err, const struct fm_counts *counts);
/**
 * fm_member_check() - send the report of this node if all its parts are there, and it was not sent
 * yet or is wanted @again
 */
void fm_member_check(struct fm *fm, bool again);
/** fm_member_left() - send the report again without the part of a child that has left */
void fm_member_left(struct fm *fm);
/** fm_member_repeat() - send the present step again to the children that have not reported */
void fm_member_repeat(struct fm *fm);

/** fm_member_round() - Return: round of the present step; 0 if the step is the table itself */
uint32_t fm_member_round(const struct fm *fm);
/** fm_member_ended() - Return: true if this node has done the last step of its version */
bool fm_member_ended(const struct fm *fm);

/** fm_member_gone() - report to the root that this node's NIC is gone */
void fm_member_gone(struct fm *fm);

#endif /* FM_MEMBER_H */
