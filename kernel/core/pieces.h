/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A frame that came in pieces. Header flit, payload, and what is behind it (tail flit,
 * relay flit) of each packet lie in one piece each, wherever that is, so that none of
 * them is copied. A frame in one piece always fits.
 */
#ifndef TN_PIECES_H
#define TN_PIECES_H

#include "nic.h"
#include "wire.h"

/**
 * struct tn_pieces - what is left to read
 * @seg, @n: the pieces left
 * @at: bytes of the first that were read
 */
struct tn_pieces {
	const struct tn_seg *seg;
	unsigned int n;
	u32 at;
};

/** tn_pieces_look() - the next @bytes, which stay. NULL: no piece has them. */
static inline const u8 *tn_pieces_look(struct tn_pieces *p, u32 bytes)
{
	while (p->n && p->at == p->seg->len) {
		p->seg++;
		p->n--;
		p->at = 0;
	}
	return p->n && p->seg->len - p->at >= bytes ? p->seg->base + p->at : NULL;
}

/** tn_pieces_take() - the same, and they are read */
static inline const u8 *tn_pieces_take(struct tn_pieces *p, u32 bytes)
{
	const u8 *here = tn_pieces_look(p, bytes);

	if (here)
		p->at += bytes;
	return here;
}

/**
 * tn_pieces_fit() - does no part of a packet lie in two pieces?
 * For hosts whose frames may have been cut anywhere; these copy what does not fit.
 */
bool tn_pieces_fit(const struct tn_seg *seg, unsigned int n);

#endif /* TN_PIECES_H */
