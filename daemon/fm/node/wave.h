/* SPDX-License-Identifier: GPL-2.0-only */
/* The place of this node by the wave: what neighbours' Inits imply, and whether they agree. */
#ifndef FM_WAVE_H
#define FM_WAVE_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_cable;
struct fm_init;
struct fm_neighbour;

/** fm_wave_new() - memory for neighbours' Inits, by fm_new(). Return: false: no memory */
bool fm_wave_new(struct fm *fm);
void fm_wave_free(struct fm *fm);

/**
 * fm_wave_init() - take an Init with a place, of the root that this node follows, by @port
 *
 * The first one places this node; each further one checks the place, and may move it.
 * Return: true if the neighbour's place or doubt differs from its Init before.
 */
bool fm_wave_init(struct fm *fm, unsigned int port, const struct fm_init *init);
/** fm_wave_squares() - check the place again, because cables of a neighbour changed */
void fm_wave_squares(struct fm *fm);
/** fm_wave_doubt() - Return: doubtful cables on the path by which this node got its place */
unsigned int fm_wave_doubt(const struct fm *fm);
/** fm_wave_forget() - forget the Init that came by @port: its link is down, or in a new session */
void fm_wave_forget(struct fm *fm, unsigned int port);
/**
 * fm_wave_confirm() - take the coordinates of the NIC, which the root has placed, as position
 * Return: true if the wave had placed this node elsewhere.
 */
bool fm_wave_confirm(struct fm *fm);
/** fm_wave_neighbour() - describe the neighbour at @port. Return: false: no Init of it counts */
bool fm_wave_neighbour(const struct fm *fm, unsigned int port, struct fm_neighbour *out);
/** fm_wave_cable() - describe the cable at @port; this node has a position */
void fm_wave_cable(const struct fm *fm, unsigned int port, struct fm_cable *out);

#endif /* FM_WAVE_H */
