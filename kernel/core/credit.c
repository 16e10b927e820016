// SPDX-License-Identifier: GPL-2.0-only
/* Credits; see credit.h. */
#include "credit.h"

bool tn_credit_room(const struct tn_credit *c, const u16 *slots, const u16 *occupied)
{
	return !tn_bubble_marks(c->policy) || (occupied[TORUS_VC_D0] < slots[TORUS_VC_D0] &&
					       occupied[TORUS_VC_D1] < slots[TORUS_VC_D1]);
}

bool tn_credit_start(struct tn_credit *c, const u16 *slots, const u16 *occupied)
{
	unsigned int vc;

	for (vc = 0; vc < TORUS_VCS; vc++) {
		if (slots[vc] < tn_slots_min(c->policy) || slots[vc] > TN_CRP_MAX ||
		    occupied[vc] > slots[vc])
			return false;
	}
	if (!tn_credit_room(c, slots, occupied))
		return false;
	for (vc = 0; vc < TORUS_VCS; vc++) {
		c->n_inp[vc] = slots[vc];
		c->ct[vc] = occupied[vc];
		c->critical[vc] = tn_bubble_marks(c->policy) && vc != TORUS_VC_A;
		tn_assert(c->used[vc] + c->owed[vc] <= TN_CRP_MAX);
	}
	return true;
}

bool tn_credit_returned(struct tn_credit *c, unsigned int vc, unsigned int crp)
{
	unsigned int critical = 0;

	if (tn_bubble_marks(c->policy)) {
		critical = crp >> TN_CRP_CRITICAL;
		crp &= TN_CRP_FREED;
	}
	if (vc >= TORUS_VCS || crp > c->ct[vc] || critical > crp ||
	    (critical && vc == TORUS_VC_A))
		return false;
	c->ct[vc] = (u16)(c->ct[vc] - crp);
	if (critical)
		/* if the output already has a critical bubble, the new one merges with it */
		c->critical[vc] = 1;
	return true;
}

/* Return: the buffers owed for @vc, as a VCCR.CRP. */
static u16 take_owed(struct tn_credit *c, unsigned int vc)
{
	/* cannot exceed TN_CRP_MAX, because the receiver has no more buffers than that */
	u16 freed = c->owed[vc];
	u16 critical = c->owed_critical[vc];

	tn_assert(freed <= TN_CRP_MAX);
	tn_assert(critical <= 1 && critical <= freed);
	if (!tn_bubble_marks(c->policy)) {
		c->owed[vc] = 0;
		return freed;
	}
	if (freed > TN_CRP_FREED)
		freed = TN_CRP_FREED;
	c->owed[vc] = (u16)(c->owed[vc] - freed);
	c->owed_critical[vc] = 0;
	return (u16)(freed | critical << TN_CRP_CRITICAL);
}

u16 tn_credit_report(struct tn_credit *c, u8 *vc)
{
	unsigned int i;

	tn_assert(c->turn < TORUS_VCS);
	for (i = 0; tn_credit_owed(c) && i < TORUS_VCS; i++) {
		unsigned int v = (c->turn + i) % TORUS_VCS;

		if (!c->owed[v])
			continue;
		c->turn = (u8)((v + 1) % TORUS_VCS);
		*vc = (u8)v;
		return take_owed(c, v);
	}
	*vc = 0;
	return 0;
}
