// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a member leaves its partition, which ends: Release and Lemma 4 in growth.c.
 *
 * A member that releases is not free yet, so this must end, whatever its neighbours send. It ends
 * at each port when the neighbour confirms it, when the cable is lost, or when RELEASE has been
 * repeated TRIES_MAX times (edge.c), after 1 s. Other messages of the neighbour are answered by
 * RELEASE, too, but do not put the next repeat off
 * (neighbour_that_confirms_no_release_holds_node_for_1_s()).
 */
#include "daemon/fm/clock.h"
#include "daemon/fm/grow/edge.h"
#include "daemon/fm/grow/release.h"

void fm_stage_change(struct fm_growth *g, enum fm_growth_stage stage)
{
	g->stage = stage;
	g->ops->changed(g->arg, stage);
}

static void forget_partition(struct fm_growth *g)
{
	g->life++;
	g->life += !g->life;
	fm_stage_change(g, FM_GROWTH_FREE);
}

void fm_release_begin(struct fm_growth *g, const struct fm_growth_end *end,
		      unsigned int except)
{
	g->end = *end;
	g->open = 0;
	g->owed = 0;
	g->limit = NEVER;
	g->probe = NEVER;
	fm_edges_reset(g);
	fm_stage_change(g, FM_GROWTH_RELEASES);
	for (unsigned int p = 0; p < g->ports; p++) {
		if (p == except || !g->port[p].up)
			continue;
		g->owed |= (uint16_t)(1u << p);
		fm_edge_send(g, p, FM_GROWTH_RELEASE);
	}
	if (!g->owed)
		forget_partition(g);
}

void fm_release_give_up(struct fm_growth *g, enum fm_growth_why why, unsigned int p)
{
	struct fm_growth_end end = { .guid = g->guid, .why = (uint8_t)why, .port = (uint8_t)p };

	fm_release_begin(g, &end, FM_GROWTH_NO_PORT);
}

void fm_release_confirmed(struct fm_growth *g, unsigned int p)
{
	g->edge[p].due = NEVER;
	g->owed &= (uint16_t)~(1u << p);
	if (!g->owed)
		forget_partition(g);
}

void fm_release_again(struct fm_growth *g, unsigned int p)
{
	uint64_t due = g->edge[p].due;

	fm_edge_send(g, p, FM_GROWTH_RELEASE);
	g->edge[p].due = due;
}
