/* SPDX-License-Identifier: GPL-2.0-only */
/* The place of this node by the wave: what neighbours' Inits say of it, and whether they agree. */
#ifndef FM_WAVE_H
#define FM_WAVE_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_cable;
struct fm_init;
struct fm_neighbour;

/* A machine begins. Return: false: no memory. */
bool fm_wave_new(struct fm *fm);
void fm_wave_free(struct fm *fm);

/**
 * fm_wave_init() - an Init with a place, of the root that this node follows, has come by @port
 * The first one places this node; each further one checks the place, and may move it.
 * Return: true if the neighbour says another place than it said before, or another doubt of it.
 */
bool fm_wave_init(struct fm *fm, unsigned int port, const struct fm_init *init);
/** fm_wave_squares() - other squares can be judged: checks the place by them */
void fm_wave_squares(struct fm *fm);
/** fm_wave_doubt() - doubtful cables on the way by which this node got its place */
unsigned int fm_wave_doubt(const struct fm *fm);
/** fm_wave_forget() - the link of @port is gone, or another one: what came by it counts no more */
void fm_wave_forget(struct fm *fm, unsigned int port);
/**
 * fm_wave_confirm() - the NIC has its coordinates from the root: they are this node's position
 * Return: true if the wave had placed it elsewhere.
 */
bool fm_wave_confirm(struct fm *fm);
/** fm_wave_neighbour() - what the neighbour at @port says. Return: false: nothing that counts */
bool fm_wave_neighbour(const struct fm *fm, unsigned int port, struct fm_neighbour *out);
/** fm_wave_cable() - the cable at @port of this node, which has a position */
void fm_wave_cable(const struct fm *fm, unsigned int port, struct fm_cable *out);

#endif /* FM_WAVE_H */
