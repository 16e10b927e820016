/* SPDX-License-Identifier: GPL-2.0-only */
/* The orders of this node to its NIC, such as writing rows or reading counters: one at a time. */
#ifndef FM_NIC_ACTIONS_H
#define FM_NIC_ACTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_hello;

/* The action under way at the NIC. */
enum fm_act {
	FM_ACT_NONE,
	FM_ACT_OBEY,
	FM_ACT_PLACE,
	FM_ACT_ROWS,
	FM_ACT_RELEASE,
	FM_ACT_REPLAY,
	FM_ACT_COUNT,
};

/**
 * fm_nic_new() - allocate the state of nic_actions.c; called by fm_new()
 * @root_epoch, @root_guid: the root that the NIC obeys already; 0: none
 * Return: false if there is no memory.
 */
bool fm_nic_new(struct fm *fm, uint64_t root_epoch, uint64_t root_guid);
void fm_nic_free(struct fm *fm);

/** fm_nic_begin() - note that an action is begun; no other may be under way. Return: its tag */
uint32_t fm_nic_begin(struct fm *fm, enum fm_act act);
/**
 * fm_nic_end() - note the end of an action. Return: the action; FM_ACT_NONE: no action with that
 * tag was under way
 */
enum fm_act fm_nic_end(struct fm *fm, uint32_t tag);
/**
 * fm_nic_takes() - Return: the time that an action takes at present, including the wait in the
 * queue of the NIC: the time of the last one, or the time that the one under way has taken so far
 */
uint64_t fm_nic_takes(const struct fm *fm);
/** fm_nic_idle() - Return: true if no action is under way */
bool fm_nic_idle(const struct fm *fm);
/**
 * fm_nic_step() - note that the action under way was begun for an older step
 * Called when a new step has come.
 */
void fm_nic_step(struct fm *fm);
/** fm_nic_at_hand() - Return: true if the last action was begun for the present step */
bool fm_nic_at_hand(const struct fm *fm);
/**
 * fm_nic_next() - begin the next action that waits for the NIC, if there is one
 * Called when no action is under way.
 */
void fm_nic_next(struct fm *fm);
/** fm_nic_obeys() - Return: true if the NIC was ordered to obey the joined root, and obeys it */
bool fm_nic_obeys(const struct fm *fm);
/** fm_nic_obey() - begin to order the NIC to obey the joined root; no action may be under way */
void fm_nic_obey(struct fm *fm);
/** fm_nic_obey_soon() - order the NIC to obey the joined root as soon as no action is under way */
void fm_nic_obey_soon(struct fm *fm);
/** fm_nic_obeyed() - process the end of FM_ACT_OBEY, with @err of fm_done() */
void fm_nic_obeyed(struct fm *fm, int err);
/** fm_nic_latest() - Return: the latest epoch of the roots that the NIC obeys, or may obey */
uint64_t fm_nic_latest(const struct fm *fm);
/**
 * fm_nic_root() - Return: GUID of the root that the NIC obeys, or 0 if it obeys none
 * @epoch: set to the epoch of that root
 */
uint64_t fm_nic_root(const struct fm *fm, uint64_t *epoch);
/** fm_nic_fill() - write into a HELLO which root the NIC obeys, and which other one it may obey */
void fm_nic_fill(const struct fm *fm, struct fm_hello *h);
/** fm_nic_count() - begin to read the counters; @lost: also the counter of lost packets */
void fm_nic_count(struct fm *fm, bool lost);
/** fm_nic_hello() - read the counters that a HELLO contains, as soon as no action is under way */
void fm_nic_hello(struct fm *fm);

#endif /* FM_NIC_ACTIONS_H */
