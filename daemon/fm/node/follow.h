/* SPDX-License-Identifier: GPL-2.0-only */
/* Choice of the root that this node follows, of those that Inits name. */
#ifndef FM_FOLLOW_H
#define FM_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_init;

/**
 * fm_follow_new() - allocate the state of follow.c; called by fm_new(). Return: false if there is
 * no memory
 */
bool fm_follow_new(struct fm *fm);
void fm_follow_free(struct fm *fm);

/**
 * fm_follow_takes() - decide whether this node changes to the root that an Init names
 * @reached: a connection to that root is up; if not, a node that may lose by the
 *	change stays (fm_follow_tries())
 * If this node is root itself, that may end its own root (up->yields).
 * Return: true if the caller must now make this node follow that root, by fm_follow().
 */
bool fm_follow_takes(struct fm *fm, const struct fm_init *init, bool reached);
/**
 * fm_follow_tries() - Return: true if this node would change to the root that an Init names, but
 * has to reach it first, by fm_try(), because it may lose by the change
 */
bool fm_follow_tries(struct fm *fm, const struct fm_init *init);
/**
 * fm_follow() - leave the former root, and follow that of the Init; does not connect to the new
 * root yet
 */
void fm_follow(struct fm *fm, const struct fm_init *init);
/** fm_follow_led() - called when the followed root has welcomed this node, in @epoch */
void fm_follow_led(struct fm *fm, uint64_t epoch);
/**
 * fm_follow_met() - called when the followed node has answered that it asks to be root, and does
 * not lead yet
 */
void fm_follow_met(struct fm *fm);
/** fm_follow_epoch() - called when the followed root leads, or claims to lead, in @epoch */
void fm_follow_epoch(struct fm *fm, uint64_t epoch);
/** fm_follow_refused() - called when the followed node has refused this one: it counts as lost */
void fm_follow_refused(struct fm *fm);
/**
 * fm_follow_back() - follow the root that led this node last, or none, because the asking node is
 * gone
 */
void fm_follow_back(struct fm *fm);
/** fm_follow_return() - follow the root that led this node last, in its epoch, or none */
void fm_follow_return(struct fm *fm);
/**
 * fm_follow_counted() - process how many nodes take part, as reported by the followed node, which
 * asks
 */
void fm_follow_counted(struct fm *fm, uint32_t here);
/** fm_follow_shun() - if the followed node only asks to be root, do not follow it for a while */
void fm_follow_shun(struct fm *fm);
/**
 * fm_follow_unreached() - called when a connection to the followed node has failed; after the
 * second failure the node is shunned
 */
void fm_follow_unreached(struct fm *fm);
/** fm_follow_reached() - called when a connection to the followed node is established */
void fm_follow_reached(struct fm *fm);
/** fm_follow_shuns() - Return: true if the Init names an asking node that this node shuns */
bool fm_follow_shuns(const struct fm *fm, const struct fm_init *init);
/**
 * fm_follow_retries() - Return: true if the Init names an asking node that this node shuns because
 * it did not reach it, so that it is to find out by fm_try() when it does
 */
bool fm_follow_retries(const struct fm *fm, const struct fm_init *init);
/**
 * fm_follow_later() - Return: true if a root of @epoch and @guid counts as later than one of
 * @than_epoch and @than_guid
 */
bool fm_follow_later(uint64_t epoch, uint64_t guid, uint64_t than_epoch, uint64_t than_guid);
/**
 * fm_follow_obeys_later() - Return: true if the NIC of this node obeys a root that counts as later
 * than that of the Init, which therefore would have to ask all its nodes again to lead this one
 */
bool fm_follow_obeys_later(const struct fm *fm, const struct fm_init *init);
/**
 * fm_follow_outdoes() - Return: true if both this node's root and the one that the Init names lead,
 * and this node's is the later one
 */
bool fm_follow_outdoes(const struct fm *fm, const struct fm_init *init);
/** fm_follow_knows() - Return: true if the table of this node contains the NIC @guid */
bool fm_follow_knows(const struct fm *fm, uint64_t guid);
/**
 * fm_follow_own() - Return: true if the table of this node contains the sender of the Init or the
 * root that the Init names
 */
bool fm_follow_own(const struct fm *fm, const struct fm_init *init);

#endif /* FM_FOLLOW_H */
