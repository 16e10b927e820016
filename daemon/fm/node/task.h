/* SPDX-License-Identifier: GPL-2.0-only */
/* The actions of this node at its NIC for the step at hand. */
#ifndef FM_TASK_H
#define FM_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/node/nic.h"

struct fm;
struct fm_counts;
struct fm_report;
struct fm_step;

/* A machine begins. Return: false: no memory. */
bool fm_task_new(struct fm *fm);
void fm_task_free(struct fm *fm);
/* Return: true if the table expects this node to take part. */
bool fm_task_mine(const struct fm *fm);
/** fm_task_table() - the table at hand is new: its place and rows are to be put in force */
void fm_task_table(struct fm *fm);
/** fm_task_step() - the step at hand is new: it is to be done, and nothing else */
void fm_task_step(struct fm *fm, const struct fm_step *s);
/** fm_task_again() - the step at hand is asked for again: what failed is tried again */
void fm_task_again(struct fm *fm);
/** fm_task_stop() - nothing more is done for the step at hand: its root is another's now */
void fm_task_stop(struct fm *fm);
/**
 * fm_task_port() - the link of a port changes: a replay under way may open it before or after this
 */
void fm_task_port(struct fm *fm, unsigned int port);
/** fm_task_report() - Return: the node's own part in the report; NULL: the step is not done */
const struct fm_report *fm_task_report(const struct fm *fm);
/** fm_task_busy() - Return: true if something is left to do, the action under way included */
bool fm_task_busy(const struct fm *fm);
/** fm_task_error() - Return: of the last action that failed; 0: none did, or it has not ended */
int fm_task_error(const struct fm *fm);
/*
 * Return: true if the NIC has failed in the step at hand, or at each replay, for longer than others
 * wait.
 */
bool fm_task_fails(const struct fm *fm);
bool fm_task_refuses(const struct fm *fm);
/**
 * fm_task_fails_at() - when the root's NIC will have failed for too long: in the step at hand, if
 * that @counts, or at each replay; NEVER: it does not fail
 */
uint64_t fm_task_fails_at(const struct fm *fm, bool counts);
void fm_task_due(struct fm *fm);
uint64_t fm_task_expiry(const struct fm *fm);
/** fm_task_done() - an action has ended */
void fm_task_done(struct fm *fm, enum fm_act act, int err, const struct fm_counts *counts);

#endif /* FM_TASK_H */
