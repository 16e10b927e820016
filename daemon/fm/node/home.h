/* SPDX-License-Identifier: GPL-2.0-only */
/* The fabric to which a node belonged when its manager starts again. */
#ifndef FM_HOME_H
#define FM_HOME_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_init;

/** fm_home_new() - memory for home.c, by fm_new(). Return: false: no memory */
bool fm_home_new(struct fm *fm);
/** fm_home_begin() - the manager starts: NIC and kept table show whether the node has a fabric */
void fm_home_begin(struct fm *fm);
void fm_home_free(struct fm *fm);

/** fm_home_heard() - note which root an Init at @port names */
void fm_home_heard(struct fm *fm, unsigned int port, const struct fm_init *init);
/** fm_home_down() - the link at @port is down */
void fm_home_down(struct fm *fm, unsigned int port);
/** fm_home_refuses() - Return: true if this node must not follow the root of an Init at @port */
bool fm_home_refuses(const struct fm *fm, unsigned int port, const struct fm_init *init);
/** fm_home_root() - Return: GUID of the root that led the node's fabric last, as far as it knows */
uint64_t fm_home_root(const struct fm *fm);
void fm_home_due(struct fm *fm);
uint64_t fm_home_expiry(const struct fm *fm);

#endif /* FM_HOME_H */
