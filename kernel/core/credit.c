// SPDX-License-Identifier: GPL-2.0-only
/* Credits; credit.h says how and why. */
#include "credit.h"

bool tn_credit_start(struct tn_credit *c, const u16 *slots, const u16 *occupied)
{
	unsigned int vc;

	for (vc = 0; vc < TORUS_VCS; vc++) {
		if (slots[vc] < TN_SLOTS_MIN || slots[vc] > TN_CRP_MAX || occupied[vc] > slots[vc])
			return false;
	}
	for (vc = 0; vc < TORUS_VCS; vc++) {
		c->n_inp[vc] = slots[vc];
		c->ct[vc] = occupied[vc];
	}
	return true;
}

bool tn_credit_returned(struct tn_credit *c, unsigned int vc, unsigned int crp)
{
	if (vc >= TORUS_VCS || crp > c->ct[vc])
		return false;
	c->ct[vc] = (u16)(c->ct[vc] - crp);
	return true;
}

u16 tn_credit_report(struct tn_credit *c, u8 *vc)
{
	unsigned int i;

	for (i = 0; tn_credit_owed(c) && i < TORUS_VCS; i++) {
		unsigned int v = (c->turn + i) % TORUS_VCS;
		u16 crp = c->owed[v];

		if (!crp)
			continue;
		c->owed[v] = 0;		/* at most TN_CRP_MAX buffers exist */
		c->turn = (u8)((v + 1) % TORUS_VCS);
		*vc = (u8)v;
		return crp;
	}
	*vc = 0;
	return 0;
}
