// SPDX-License-Identifier: GPL-2.0-only
/*
 * The base: the number of packets that are missing for good, for example inside a NIC that died. It
 * stays valid as long as the same NICs are counted (recovery.c).
 */
#include <string.h>

#include "daemon/fm/root/base.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

void fm_base_forget(struct fm_root *r)
{
	r->base.known = 0;
}

static bool sums_zero(const struct fm_sums *s)
{
	static const struct fm_sums zero;

	return !memcmp(s->flow, zero.flow, sizeof(s->flow));
}

/*
 * A NIC whose counters are all zero does not change the base; any other NIC makes the base unknown.
 */
void fm_base_count(struct fm *fm, const struct fm_record *m, const struct fm_hello *h)
{
	struct fm_root *r = fm->root;

	if (sums_zero(&h->sums))
		r->base.set += fm_fingerprint(m->guid, m->epoch);
	else
		r->base.known = 0;
	if (h->base.version > r->base_seen.version)
		r->base_seen = h->base;
}

/* The base that nodes remember is valid only if the same NICs are counted now. */
void fm_base_restore(struct fm *fm)
{
	struct fm_root *r = fm->root;
	uint64_t set = 0;

	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		set += fm_fingerprint(fm_record_no(r, i)->guid, fm_record_no(r, i)->epoch);
	r->base.set = set;
	if (r->base_seen.version && r->base_seen.set == set)
		r->base = r->base_seen;
}
