/* SPDX-License-Identifier: GPL-2.0-only */
/* Which root this node follows, of those that Inits tell of. */
#ifndef FM_FOLLOW_H
#define FM_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_init;

/* A machine begins. Return: false: no memory. */
bool fm_follow_new(struct fm *fm);
void fm_follow_free(struct fm *fm);

/** fm_follow_takes() - Return: true if this node is to follow the root of that Init, and did not */
bool fm_follow_takes(struct fm *fm, const struct fm_init *init);
/** fm_follow() - it does, and leaves the one that it has followed; the way up is not opened yet */
void fm_follow(struct fm *fm, const struct fm_init *init);
/** fm_follow_led() - the root that it follows has welcomed it, in that epoch */
void fm_follow_led(struct fm *fm, uint64_t epoch);
/** fm_follow_met() - the followed node has answered: it asks to be root, and does not lead yet */
void fm_follow_met(struct fm *fm);
/** fm_follow_epoch() - the followed root leads, or claims to lead, in that epoch */
void fm_follow_epoch(struct fm *fm, uint64_t epoch);
/**
 * fm_follow_refused() - the followed node has refused this one: as far as this one knows, it is
 *	lost
 */
void fm_follow_refused(struct fm *fm);
/**
 * fm_follow_back() - the node that asked to be root is gone: follows the root that led this node
 * last; if none has, no root
 */
void fm_follow_back(struct fm *fm);
/** fm_follow_shun() - if the followed node only asks, it is not followed for a while */
void fm_follow_shun(struct fm *fm);
/** fm_follow_unreached() - no connection to the followed node came up; twice: it is shunned */
void fm_follow_unreached(struct fm *fm);
/** fm_follow_reached() - a connection to the followed node is up */
void fm_follow_reached(struct fm *fm);
/** fm_follow_shuns() - the Init is of a node that asks, and that this one shuns */
bool fm_follow_shuns(const struct fm *fm, const struct fm_init *init);
/** fm_follow_later() - Return: true if a root of that epoch and GUID is later than the other */
bool fm_follow_later(uint64_t epoch, uint64_t guid, uint64_t than_epoch, uint64_t than_guid);
/** fm_follow_outdoes() - both roots lead, and this node's is later than that of the Init */
bool fm_follow_outdoes(const struct fm *fm, const struct fm_init *init);
/** fm_follow_kin() - Return: true if the NIC is in the table that this node has */
bool fm_follow_kin(const struct fm *fm, uint64_t guid);

#endif /* FM_FOLLOW_H */
