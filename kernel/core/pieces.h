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
 * @seg, @n: the remaining pieces
 * @at: bytes of the first one that were read
 */
struct tn_pieces {
	const struct tn_seg *seg;
	unsigned int n;
	u32 at;
};

/**
 * tn_pieces_look() - get the next @bytes without reading past them. Return: NULL if they do not lie
 * in one piece
 */
static inline const u8 *tn_pieces_look(struct tn_pieces *p, u32 bytes)
{
	while (p->n && p->at == p->seg->len) {
		p->seg++;
		p->n--;
		p->at = 0;
	}
	return p->n && p->seg->len - p->at >= bytes ? p->seg->base + p->at : NULL;
}

/** tn_pieces_take() - read the next @bytes. Return: NULL if they do not lie in one piece */
static inline const u8 *tn_pieces_take(struct tn_pieces *p, u32 bytes)
{
	const u8 *here = tn_pieces_look(p, bytes);

	tn_assert(!p->n || p->at < p->seg->len);
	if (here)
		p->at += bytes;
	return here;
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
