/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The place of this node by the wave: which place the neighbours' Inits imply, and whether they
 * agree.
 */
#ifndef FM_WAVE_H
#define FM_WAVE_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_cable;
struct fm_init;
struct fm_neighbour;

/**
 * fm_wave_new() - allocate the state of wave.c; called by fm_new(). Return: false if there is no
 * memory
 */
bool fm_wave_new(struct fm *fm);
void fm_wave_free(struct fm *fm);

/**
 * fm_wave_init() - process an Init with a place, received by @port, that names the root which this
 * node follows
 *
 * The first one places this node; each further one checks the place, and may move it.
 * Return: true if the neighbour's place or doubt differs from that in its previous Init.
 */
bool fm_wave_init(struct fm *fm, unsigned int port, const struct fm_init *init);
/**
 * fm_wave_squares() - check the place of this node again, because the cables of a neighbour changed
 */
void fm_wave_squares(struct fm *fm);
/**
 * fm_wave_doubt() - Return: number of doubtful cables on the path by which this node got its place
 */
unsigned int fm_wave_doubt(const struct fm *fm);
/**
 * fm_wave_forget() - forget the Init that came by @port, because its link is down or has a new
 * session
 */
void fm_wave_forget(struct fm *fm, unsigned int port);
/**
 * fm_wave_confirm() - make the coordinates of the NIC the position of this node
 * Called when the root has placed the NIC.
 * Return: true if the wave had placed this node elsewhere.
 */
bool fm_wave_confirm(struct fm *fm);
/**
 * fm_wave_neighbour() - describe the neighbour at @port. Return: false if there is no valid Init of
 * it
 */
bool fm_wave_neighbour(const struct fm *fm, unsigned int port, struct fm_neighbour *out);
/** fm_wave_cable() - describe the cable at @port; this node must have a position */
void fm_wave_cable(const struct fm *fm, unsigned int port, struct fm_cable *out);

#endif /* FM_WAVE_H */
