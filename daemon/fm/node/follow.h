/* SPDX-License-Identifier: GPL-2.0-only */
/* Choice of the root that this node follows, of those that Inits name. */
#ifndef FM_FOLLOW_H
#define FM_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_init;

/** fm_follow_new() - memory for follow.c, by fm_new(). Return: false: no memory */
bool fm_follow_new(struct fm *fm);
void fm_follow_free(struct fm *fm);

/**
 * fm_follow_takes() - take note of an Init, which may end this node's own root (up->yields)
 * Return: true if this node has to follow the root that it names, by fm_follow().
 */
bool fm_follow_takes(struct fm *fm, const struct fm_init *init);
/** fm_follow() - leave the former root, and follow that of the Init; does not connect to it yet */
void fm_follow(struct fm *fm, const struct fm_init *init);
/** fm_follow_led() - the followed root has welcomed this node, in that epoch */
void fm_follow_led(struct fm *fm, uint64_t epoch);
/** fm_follow_met() - the followed node has answered: it asks to be root, and does not lead yet */
void fm_follow_met(struct fm *fm);
/** fm_follow_epoch() - the followed root leads, or claims to lead, in that epoch */
void fm_follow_epoch(struct fm *fm, uint64_t epoch);
/** fm_follow_refused() - the followed node has refused this one: it counts as lost */
void fm_follow_refused(struct fm *fm);
/** fm_follow_back() - the asking node is gone: follow the root that led this node last, or none */
void fm_follow_back(struct fm *fm);
/** fm_follow_shun() - if the followed node only asks, do not follow it for a while */
void fm_follow_shun(struct fm *fm);
/** fm_follow_unreached() - a connection to the followed node failed; the second time, shun it */
void fm_follow_unreached(struct fm *fm);
/** fm_follow_reached() - a connection to the followed node is up */
void fm_follow_reached(struct fm *fm);
/** fm_follow_shuns() - Return: true if the Init names an asking node that this node shuns */
bool fm_follow_shuns(const struct fm *fm, const struct fm_init *init);
/** fm_follow_later() - Return: true if a root of that epoch and GUID is later than the other */
bool fm_follow_later(uint64_t epoch, uint64_t guid, uint64_t than_epoch, uint64_t than_guid);
/** fm_follow_outdoes() - Return: true if both roots lead, and this node's root is the later one */
bool fm_follow_outdoes(const struct fm *fm, const struct fm_init *init);
/** fm_follow_kin() - Return: true if the NIC is in the table that this node has */
bool fm_follow_kin(const struct fm *fm, uint64_t guid);
/** fm_follow_own() - Return: false if neither the neighbour nor its root is in this node's table */
bool fm_follow_own(const struct fm *fm, const struct fm_init *init);

#endif /* FM_FOLLOW_H */
