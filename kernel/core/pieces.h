/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a frame that was received in several pieces of memory. Three parts of each packet must lie
 * in one piece each, so that none is copied: the header flit, the payload, and the tail flit with
 * the relay flit. A frame in one piece always fits.
 */
#ifndef TN_PIECES_H
#define TN_PIECES_H

#include "nic.h"
#include "wire.h"

/**
 * struct tn_pieces - the part of a frame that is still to be read
 * @at, @end: what is left of the present piece; NULL before the first one
 * @seg, @n: the pieces after it
 */
struct tn_pieces {
	const u8 *at;
	const u8 *end;
	const struct tn_seg *seg;
	unsigned int n;
};

/**
 * tn_pieces_look() - get the next @bytes without reading past them. Return: NULL if they do not lie
 * in one piece
 */
static inline const u8 *tn_pieces_look(struct tn_pieces *p, u32 bytes)
{
	while (p->at == p->end) {
		if (!p->n)
			return NULL;
		p->at = p->seg->base;
		p->end = p->at + p->seg->len;
		p->seg++;
		p->n--;
	}
	return (size_t)(p->end - p->at) >= bytes ? p->at : NULL;
}

/** tn_pieces_take() - read the next @bytes. Return: NULL if they do not lie in one piece */
static inline const u8 *tn_pieces_take(struct tn_pieces *p, u32 bytes)
{
	const u8 *here = tn_pieces_look(p, bytes);

	if (here)
		p->at = here + bytes;
	return here;
}

/** tn_pieces_done() - Return: true if the whole frame was read */
static inline bool tn_pieces_done(const struct tn_pieces *p)
{
	return p->at == p->end && !p->n;
}

/**
 * tn_pieces_fit() - Return: true if no part of a packet lies in two pieces
 * Called by hosts that receive frames in arbitrary pieces. They copy a frame that does not fit into
 * one piece.
 */
bool tn_pieces_fit(const struct tn_seg *seg, unsigned int n);

/**
 * tn_pieces_sound() - Return: true if the frame fits and the ECRCs of all packets in it are right
 * It needs no lock, as an ECRC depends on no link: for tn_nic_rx_checked().
 */
bool tn_pieces_sound(const struct tn_seg *seg, unsigned int n);

#endif /* TN_PIECES_H */
