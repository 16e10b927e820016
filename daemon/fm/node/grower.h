/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of this node in jobs that grow from neighbour to neighbour. */
#ifndef FM_GROWER_H
#define FM_GROWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <torus/torus.h>

#include "daemon/fm/wire/msg.h"

struct fm;

/**
 * fm_grower_new() - allocate the state of grower.c; called by fm_new(). Return: false if there is
 * no memory
 */
bool fm_grower_new(struct fm *fm);
void fm_grower_free(struct fm *fm);
/** fm_grower_begin() - note the present state of all links; called when the machine begins */
void fm_grower_begin(struct fm *fm, const struct torus_link *links);
/** fm_grower_link() - note the rate and the margin of a link, and whether it is lost */
void fm_grower_link(struct fm *fm, const struct torus_link *l);
/**
 * fm_grower_packet() - process a management packet, if it is a message of a growth. Return: whether
 * it is one
 */
bool fm_grower_packet(struct fm *fm, unsigned int port, const uint8_t *data, size_t len);
/**
 * fm_grower_order() - pass an order of the root on to all children, and obey it if it concerns this
 * node
 */
void fm_grower_order(struct fm *fm, const struct fm_grow_msg *m);
void fm_grower_due(struct fm *fm);
uint64_t fm_grower_expiry(const struct fm *fm);

#endif /* FM_GROWER_H */
