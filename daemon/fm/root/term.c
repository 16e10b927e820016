// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exclusions that end by themselves: the root includes the ports of an order (node/orders.h) when
 * the time until which the administrator excluded them has come.
 *
 * Clocks. The end is a time of day, for that is all that outlives a root, a reboot and a takeover:
 * it is in each table, on disks and in HELLOs. But a time of day may be set at any moment, and a
 * cable must not be used again because of that, while somebody holds it in his hand. So a root
 * asks for the time of day once for each order: when it hears of it. What is left then it measures
 * with its monotonic clock. Of the root that took the order, that is the term that was asked for,
 * exactly, whatever happens to its clock.
 *
 * A later root subtracts what has passed by its own time of day. If its clock is ahead of that of
 * the root before, the exclusion ends sooner by as much, and later if it is behind. It never lasts
 * longer than the whole term from the takeover: a clock that shows a time before the order was
 * given, as after a start without a battery, is not believed, nor is one that nobody has told.
 *
 * A root of an earlier release ends nothing; the next one that knows of it does. If the record of
 * an exclusion was lost for lack of memory, it lasts until the administrator includes it.
 */
#include "daemon/fm/root/term.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/root/admin.h"
#include "daemon/fm/root/facts.h"

/* In seconds. */
static uint64_t find_rest(const struct fm *fm, const struct fm_order *o)
{
	uint64_t term = o->until > o->since ? o->until - o->since : 0;
	uint64_t wall = fm->wall + (fm->now - fm->wall_at) / SEC;

	if (!fm->wall || wall <= o->since)
		return term;
	return wall < o->until ? o->until - wall : 0;
}

/* Return: an order whose time is over, or NULL. */
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
		fm_admin_over(fm, o->node, o->ports);
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
