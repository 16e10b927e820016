/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets as they lie on the wire, all flits in one place, for tests that make or read them. */
#ifndef TESTS_FLITS_H
#define TESTS_FLITS_H

#include <string.h>

#include "kernel/core/wire.h"

/** flits_tail() - of a packet with @len payload flits at @flits; the relay flit follows */
static inline u8 *flits_tail(u8 *flits, unsigned int len)
{
	return flits + TN_FLIT * (len + 1u);
}

/** flits_seal() - write the LCRC of a packet whose flits are all there */
static inline void flits_seal(u8 *flits, unsigned int len, u32 seed)
{
	u8 edge[TN_EDGE_FLITS * TN_FLIT], *tail = flits_tail(flits, len);

	tn_put_le32(tail + 4, 0);
	memcpy(edge, flits, TN_FLIT);
	memcpy(edge + TN_FLIT, tail, TN_FLIT);
	if (tn_relayed_of(flits))	/* RELAYED */
		memcpy(edge + 2 * TN_FLIT, tail + TN_FLIT, TN_FLIT);
	tn_lcrc_set(edge, seed);
	memcpy(tail, edge + TN_FLIT, TN_FLIT);
}

/** flits_sealed() - does the LCRC hold? */
static inline bool flits_sealed(const u8 *flits, unsigned int len, u32 seed)
{
	return tn_lcrc_ok(flits, flits + TN_FLIT * (len + 1u), seed);
}

#endif /* TESTS_FLITS_H */
