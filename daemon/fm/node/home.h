/* SPDX-License-Identifier: GPL-2.0-only */
/* The fabric to which a node belonged when its manager starts again. */
#ifndef FM_HOME_H
#define FM_HOME_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_init;

/**
 * fm_home_new() - allocate the state of home.c; called by fm_new(). Return: false if there is no
 * memory
 */
bool fm_home_new(struct fm *fm);
/**
 * fm_home_begin() - find out from the NIC and the kept table whether this node belongs to a fabric
 * Called when the manager starts.
 */
void fm_home_begin(struct fm *fm);
void fm_home_free(struct fm *fm);

/** fm_home_note() - note the root that an Init received at @port names */
void fm_home_note(struct fm *fm, unsigned int port, const struct fm_init *init);
/** fm_home_down() - forget the neighbour at @port, because the link is down */
void fm_home_down(struct fm *fm, unsigned int port);
/**
 * fm_home_refuses() - Return: true if this node must not follow the root that an Init received at
 * @port names, because it may be the root of another fabric
 */
bool fm_home_refuses(const struct fm *fm, unsigned int port, const struct fm_init *init);
/**
 * fm_home_root() - Return: GUID of the root that last led the fabric of this node, as far as it is
 * known
 */
uint64_t fm_home_root(const struct fm *fm);
void fm_home_due(struct fm *fm);
uint64_t fm_home_expiry(const struct fm *fm);

#endif /* FM_HOME_H */
