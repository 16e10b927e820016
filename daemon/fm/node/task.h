/* SPDX-License-Identifier: GPL-2.0-only */
/* The task of this node in the present step of a recovery: its actions at the NIC. */
#ifndef FM_TASK_H
#define FM_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/node/nic_actions.h"

struct fm;
struct fm_counts;
struct fm_report;
struct fm_step;

/**
 * fm_task_new() - allocate a task that is done; called by fm_new(). Return: false if there is no
 * memory
 */
bool fm_task_new(struct fm *fm);
void fm_task_free(struct fm *fm);
/**
 * fm_task_mine() - Return: true if this node is up in the table, at this place or another one, so
 * that recoveries wait for it
 */
bool fm_task_mine(const struct fm *fm);
/**
 * fm_task_table() - begin to give the NIC the place and the rows of the table that has just come
 */
void fm_task_table(struct fm *fm);
/** fm_task_step() - begin the step @s, and give up what is left of the former one */
void fm_task_step(struct fm *fm, const struct fm_step *s);
/**
 * fm_task_again() - begin the present step anew if one of its actions has failed
 * Called when the root asks for this step again.
 */
void fm_task_again(struct fm *fm);
/** fm_task_stop() - do nothing more for this step, because the node joins in another epoch */
void fm_task_stop(struct fm *fm);
/**
 * fm_task_port() - note that the link of @port has changed
 * If a replay is under way, it is not known whether it opened the port before the change or after
 * it.
 */
void fm_task_port(struct fm *fm, unsigned int port);
/** fm_task_report() - Return: this node's part in the report; NULL if the step is not done */
const struct fm_report *fm_task_report(const struct fm *fm);
/** fm_task_busy() - Return: true if work is left, including the action under way */
bool fm_task_busy(const struct fm *fm);
/** fm_task_error() - Return: negative errno of the last action that failed; 0 if none failed */
int fm_task_error(const struct fm *fm);
/** fm_task_fails() - Return: true if the NIC has failed in this step for too long */
bool fm_task_fails(const struct fm *fm);
/** fm_task_refuses() - Return: true if the NIC has failed at each replay for too long */
bool fm_task_refuses(const struct fm *fm);
/**
 * fm_task_forgive() - forget failed replays that were ordered by the former root
 * Called when this node, as root, makes its first table: the failure of former replays does not
 * mean that those ordered by this root will fail.
 */
void fm_task_forgive(struct fm *fm);
/**
 * fm_task_fails_at() - compute when the root must hand over because its own NIC fails
 * @counts: failures in this step count, too, and not only those of replays
 * Return: the time, or NEVER.
 */
uint64_t fm_task_fails_at(const struct fm *fm, bool counts);
void fm_task_due(struct fm *fm);
uint64_t fm_task_expiry(const struct fm *fm);
/** fm_task_done() - process the end of an action, as in fm_done() */
void fm_task_done(struct fm *fm, enum fm_act act, int err, const struct fm_counts *counts);

#endif /* FM_TASK_H */
