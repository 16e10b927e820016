/* SPDX-License-Identifier: GPL-2.0-only */
/* The actions of this node at its NIC: one at a time. */
#ifndef FM_NIC_H
#define FM_NIC_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/* What is under way at the NIC. */
enum fm_act {
	FM_ACT_NONE,
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
 */
struct fm_nic {
	uint32_t tag;
	uint8_t act;
	bool old;
	bool hello;
};

/** fm_nic_begin() - an action begins, none may be under way. Return: its tag */
uint32_t fm_nic_begin(struct fm *fm, enum fm_act act);
/** fm_nic_end() - Return: the action that has ended, FM_ACT_NONE if none with that tag was under way */
enum fm_act fm_nic_end(struct fm *fm, uint32_t tag);
/** fm_nic_count() - read the counters; @lost: of lost packets, too */
void fm_nic_count(struct fm *fm, bool lost);
/** fm_nic_hello() - read the counters for a HELLO as soon as no other action is under way */
void fm_nic_hello(struct fm *fm);

#endif /* FM_NIC_H */
