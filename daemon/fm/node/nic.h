/* SPDX-License-Identifier: GPL-2.0-only */
/* The actions of this node at its NIC: one at a time. */
#ifndef FM_NIC_H
#define FM_NIC_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

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
 * struct fm_nic - the action under way
 * @tag: of the last action
 * @act: what is under way
 * @old: it was begun for a step that is not at hand any more
 * @hello: counters are wanted for a HELLO
 * @root_epoch, @root_guid: the root that the NIC obeys; 0: none
 * @maybe_epoch, @maybe_guid: ... that it may obey instead, for it failed or timed out when it was
 *	told to; epoch 0: none. GUID 0: one of several roots of that epoch
 * @rows_epoch: epoch of the root by whose order the NIC took its rows; 0: none
 * @told: this manager has told it so, and acts by order of that root
 * @obey: it is to be told as soon as it can be
 * @asked_epoch, @asked_guid: ... that it was told to obey last
 */
struct fm_nic {
	uint32_t tag;
	uint8_t act;
	bool old;
	bool hello;
	uint64_t root_epoch, root_guid;
	uint64_t maybe_epoch, maybe_guid;
	uint64_t rows_epoch;
	bool told;
	bool obey;
	uint64_t asked_epoch, asked_guid;
};

/** fm_nic_begin() - an action begins, none may be under way. Return: its tag */
uint32_t fm_nic_begin(struct fm *fm, enum fm_act act);
/** fm_nic_end() - Return: the action that has ended, FM_ACT_NONE if none with that tag was under way */
enum fm_act fm_nic_end(struct fm *fm, uint32_t tag);
/**
 * fm_nic_obeys() - Return: true if the NIC knows that this manager acts by order of the root that
 * it has joined
 */
bool fm_nic_obeys(const struct fm *fm);
/** fm_nic_obey() - the NIC is told to; no action may be under way */
void fm_nic_obey(struct fm *fm);
/** fm_nic_obey_soon() - the same as soon as no other action is under way */
void fm_nic_obey_soon(struct fm *fm);
/** fm_nic_obeyed() - what the NIC was told to obey last has ended, as fm_done() says */
void fm_nic_obeyed(struct fm *fm, int err);
/** fm_nic_latest() - the latest epoch that the NIC obeys, or may obey */
uint64_t fm_nic_latest(const struct fm *fm);
/** fm_nic_count() - read the counters; @lost: of lost packets, too */
void fm_nic_count(struct fm *fm, bool lost);
/** fm_nic_hello() - read the counters for a HELLO as soon as no other action is under way */
void fm_nic_hello(struct fm *fm);

#endif /* FM_NIC_H */
