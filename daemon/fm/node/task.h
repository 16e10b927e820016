/* SPDX-License-Identifier: GPL-2.0-only */
/* The actions of this node at its NIC for the step at hand. */
#ifndef FM_TASK_H
#define FM_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/node/nic.h"

struct fm;
struct fm_counts;

/* The work that is left. */
enum fm_todo {
	FM_TODO_NOTHING,
	FM_TODO_APPLY,		/* the table at hand */
	FM_TODO_STEP,		/* member.step */
};

/**
 * struct fm_task
 * @todo: what is left to do, the action under way included
 * @lost: the count is one of lost packets, too
 * @err: of the last action that failed; 0: none did, or it has not ended
 * @reached: the last action that was done for the step at hand, besides counting
 * @did: when that was; what is done again is no progress
 * @refused: since when replay fails; 0: it does not
 * @rejoin: when this node, whose NIC failed, joins again; NEVER
 * @backoff: until then, when it failed last
 * @replay: ports that REPLAY opens, but for those that have changed since it began
 */
struct fm_task {
	uint8_t todo, reached;
	bool lost;
	uint16_t replay;
	int err;
	uint64_t did, refused, rejoin, backoff;
};

/* Return: true if the table expects this node to take part. */
bool fm_task_mine(const struct fm *fm);
/*
 * Return: true if the NIC has failed in the step at hand, or at each replay, for longer than others
 * wait.
 */
bool fm_task_fails(const struct fm *fm);
bool fm_task_refuses(const struct fm *fm);
/** fm_task_begin() - the step at hand is new: this is to be done for it, and nothing else */
void fm_task_begin(struct fm *fm, enum fm_todo todo);
/** fm_task_again() - the step at hand is asked for again: what failed is tried again */
void fm_task_again(struct fm *fm);
/** fm_task_stop() - nothing more is done for the step at hand: its root is another's now */
void fm_task_stop(struct fm *fm);
void fm_task_due(struct fm *fm);
uint64_t fm_task_expiry(const struct fm *fm);
/** fm_task_done() - an action has ended. Return: true if the step at hand is done */
bool fm_task_done(struct fm *fm, enum fm_act act, int err, const struct fm_counts *counts);

#endif /* FM_TASK_H */
