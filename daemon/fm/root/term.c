// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exclusions that end by themselves: the root includes the ports of an order (node/orders.h) at the
 * time until which the administrator excluded them.
 *
 * Clocks. The end is a time of day, because only that outlives a root, a reboot and a takeover: it
 * is in each table, on disks and in HELLOs. But the clock may be set at any moment, and that must
 * not bring a cable back into use while an administrator works on it. So a root reads the time of
 * day once for each order, when it first gets that order, and measures the rest with its monotonic
 * clock. With the root that received the order, the exclusion lasts exactly as long as was ordered,
 * whatever happens to its clock.
 *
 * A later root subtracts the time that has passed by its own time of day. If its clock is ahead of
 * that of the former root, the exclusion ends sooner by as much, and later if it is behind. The
 * exclusion never lasts longer than the whole term from the takeover: a clock that shows a time
 * before the order was given, as after a start without a battery, is ignored, and so is one that
 * was never set by fm_clock().
 *
 * A root of an earlier release does not end exclusions; the next root of this release does. If the
 * record of an exclusion was lost for lack of memory, it lasts until the administrator ends it.
 *
 * Test: tests/unit/test_fm_orders.c.
 */
#include "daemon/fm/root/term.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/root/admin.h"
#include "daemon/fm/root/facts.h"

/* Return: seconds until the term of the order ends, by the time of day. */
static uint64_t find_rest(const struct fm *fm, const struct fm_order *o)
{
	uint64_t term = o->until > o->since ? o->until - o->since : 0;
	uint64_t wall = fm->wall + (fm->now - fm->wall_at) / SEC;

	if (!fm->wall || wall <= o->since)
		return term;
	return wall < o->until ? o->until - wall : 0;
}

/* Return: an order whose term is over, or NULL. */
static const struct fm_order *find_over(const struct fm *fm)
{
	const struct fm_orders *s = &fm->root->orders;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->of[i].until && s->of[i].ends <= fm->now)
			return &s->of[i];
	return NULL;
}

void fm_term_due(struct fm *fm)
{
	struct fm_orders *s = &fm->root->orders;
	const struct fm_order *o;

	if (!fm->root->settled)
		return;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->of[i].until && !s->of[i].ends)
			s->of[i].ends = fm->now + find_rest(fm, &s->of[i]) * SEC;
	while ((o = find_over(fm)))
		fm_admin_over(fm, o);
}

uint64_t fm_term_expiry(const struct fm *fm)
{
	const struct fm_orders *s = &fm->root->orders;
	uint64_t at = NEVER;

	for (uint32_t i = 0; fm->root->settled && i < s->n; i++)
		if (s->of[i].until)
			at = earlier(at, s->of[i].ends);	/* 0: at once */
	return at;
}
