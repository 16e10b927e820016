/* SPDX-License-Identifier: GPL-2.0-only */
/* A root of six nodes, and the sets of nodes of which it needs a quorum. */
#ifndef TESTS_STAGE_QUORUM_H
#define TESTS_STAGE_QUORUM_H

#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "stage_root.h"

#define NODES 6
#define ALL ((1u << NODES) - 1)
#define CLAIMED 0xc0ffee	/* GUID of the root before */

static struct fm_root *r;

static inline uint32_t ones(unsigned int mask)
{
	return (uint32_t)__builtin_popcount(mask);
}

/* A root of six nodes that remembers nothing of its quorum. */
static inline void begin(void)
{
	root("6x1");
	for (uint32_t i = 1; i < NODES; i++)
		join(i);
	settle(NODES);
	r = s.fm->root;
	assert_int_equal(fm_roster_size(r), NODES);
	r->former = (struct fm_former) { .epoch = 0 };
	fm_quorum_begin(s.fm);
	for (uint32_t i = 0; i < NODES; i++)
		fm_record_no(r, i)->stated = (struct fm_statements) { .received = s.fm->now };
}

/* The latest table of a former root: which nodes are up in it, and in each of its voters. */
static inline void former(const unsigned int *set, unsigned int n, uint64_t maker)
{
	r->former = (struct fm_former) { .epoch = 9, .table = 4, .root = maker, .ups = ones(set[0]) };
	for (unsigned int i = 1; i < n; i++)
		r->former.voters.set[r->former.voters.n++] = (struct fm_set) { ones(set[i]), maker + i };
	for (uint32_t k = 0; k < NODES; k++) {
		fm_record_no(r, k)->stated.term = 9;
		fm_record_no(r, k)->stated.table = 4;
		fm_record_no(r, k)->stated.votes = 0;
		for (unsigned int i = 0; i < n; i++)
			fm_record_no(r, k)->stated.votes |= (uint16_t)((set[i] >> k & 1) << i);
	}
}

static inline bool quorum(unsigned int who, unsigned int of, unsigned int maker)
{
	return ones(of) && 2 * ones(who & of) + (maker < NODES && (who & of) >> maker & 1) > ones(of);
}

#endif /* TESTS_STAGE_QUORUM_H */
