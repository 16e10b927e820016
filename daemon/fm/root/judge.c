// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: who is dead and who is silent
 *
 * A node is missing while nobody holds a connection to it. Its neighbours' rows
 * tell the rest: one that has a link to it that is up vouches for its NIC. The
 * word of a neighbour that is missing too counts only if somebody vouches for
 * that one; so the nodes of a cabinet without power, whose last rows say that
 * all is well among them, do not keep each other alive.
 *
 * Nobody's word: dead. At once, if a neighbour that is there has lost a link that by its own
 * last word is up, and none that is missing has one: it is alone, whether it lives or not.
 * One that has no link and knows it, or that has come just now, may be on its way from the
 * root to its parent, and would be judged dead each time that it is back.
 *
 * Else after a moment, for links and connections do not end at one instant. If it is
 * neighbours without a voucher of their own that have a link to it, the moment is that short
 * where the dark is seen to be dark: they and it have each been lost by a neighbour that is
 * there. Else it is longer, for many managers may have lost the root at once and be on their
 * way back. A set of nodes judged so has no link to the others, alive or not: no packet
 * passes between them, which is all that a recovery counts on.
 *
 * Somebody's word: silent, after member_max. Its NIC goes on forwarding and stays
 * in the table, but no recovery waits for its manager.
 */
#include <torus/topology.h>

#include "daemon/fm/root/judge.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/root/base.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/status.h"

#define ON_THEIR_WAY 4		/* times resend, until they are back or never */

/* The neighbour at port @p, if it knows @m at the other end. */
static struct fm_mate *beside(const struct fm *fm, const struct fm_mate *m, unsigned int p,
			      bool *up)
{
	const struct fm_port_row *mine = &m->row.port[p], *its;
	struct fm_mate *o = mine->peer_guid ? fm_mate(fm->root, mine->peer_guid) : NULL;

	if (!o || o == m || o->state == FM_NODE_DEAD || mine->peer_port >= o->row.nports)
		return NULL;
	its = &o->row.port[mine->peer_port];
	*up = its->state == FM_PORT_UP;
	return its->peer_guid == m->guid ? o : NULL;
}

/**
 * struct word - what neighbours say of a missing node
 * @there: one that is there has a link to it
 * @missing: one that is missing has
 * @dark: one that is there has lost its link
 * @all_dark: as @dark, of itself and of all the missing that have a link to it
 * @ended: one that is there has lost a link that by its own last row is up
 */
struct word {
	bool there, missing, dark, all_dark, ended;
};

static struct word word_of(const struct fm *fm, const struct fm_mate *m, bool further)
{
	struct word w = { .there = false };
	bool up, all = true;

	for (unsigned int p = 0; p < m->row.nports; p++) {
		const struct fm_mate *o = beside(fm, m, p, &up);

		if (!o)
			continue;
		w.there |= o->via && up;
		w.dark |= o->via && !up;
		w.ended |= o->via && !up && m->row.port[p].state == FM_PORT_UP;
		w.missing |= !o->via && up;
		if (further && !o->via && up)
			all &= word_of(fm, o, false).dark;
	}
	w.all_dark = w.dark && all;
	return w;
}

/* Marks those of the missing for whom somebody vouches. */
static void vouch(struct fm *fm)
{
	struct fm_root *r = fm->root;
	uint32_t *queue = r->missing + r->room, n = 0;
	bool up;

	for (uint32_t i = 0; i < r->nmissing; i++) {
		struct fm_mate *m = &r->mate[r->missing[i]];

		m->vouched = !m->via && m->state != FM_NODE_DEAD && word_of(fm, m, false).there;
		if (m->vouched)
			queue[n++] = r->missing[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct fm_mate *o = &r->mate[queue[i]];

		for (unsigned int q = 0; q < o->row.nports; q++) {
			struct fm_mate *m = beside(fm, o, q, &up);

			if (!m || m->via || !m->listed || m->vouched ||
			    o->row.port[q].state != FM_PORT_UP)
				continue;
			m->vouched = true;
			queue[n++] = (uint32_t)(m - r->mate);
		}
	}
}

static void mate_gone(struct fm *fm, struct fm_mate *m, enum fm_node_state state)
{
	char node[TORUS_TEXT_MAX];

	m->state = (uint8_t)state;
	fm_change_node(fm, m->node);
	fm_problem_clear(fm, "relay", m->guid);
	fm_base_forget(fm->root);
	fm_problem_set(fm, "node", m->guid, "node %s ('%s') is %s%s",
		       m->node == TORUS_NO_NODE ? "?" :
						  torus_node_text(&fm->table.shape, m->node, node),
		       m->name, fm_node_state_name(state),
		       state == FM_NODE_SILENT ?
		       ": its NIC works on, but packets that it parks wait there, uncounted, until its manager answers" : "");
	fm_demand(fm, 0, "node '%s' is %s", m->name, fm_node_state_name(state));
}

/* How long one that nobody vouches for is waited for. */
static uint64_t patience(const struct fm *fm, const struct fm_mate *m)
{
	uint64_t moment = fm->cfg.resend / 4;
	struct word w = word_of(fm, m, true);

	if (w.missing && !w.all_dark)
		return ON_THEIR_WAY * fm->cfg.resend;
	return w.ended && !w.missing && fm->now > m->joined + moment ? 0 : moment;
}

/* When more is known of a missing node. */
static uint64_t judge_mate(struct fm *fm, struct fm_mate *m)
{
	uint64_t silent_at = m->missing + fm->cfg.member_max, dead_at;

	if (!m->vouched) {
		dead_at = m->missing + patience(fm, m);
		if (fm->now < dead_at)
			return dead_at;
		mate_gone(fm, m, FM_NODE_DEAD);
		return NEVER;
	}
	if (m->state == FM_NODE_SILENT)
		return NEVER;
	if (fm->now < silent_at)
		return silent_at;
	mate_gone(fm, m, FM_NODE_SILENT);
	return NEVER;
}

/* Whether @m needs no judgement any more. */
static bool judged(struct fm *fm, const struct fm_mate *m)
{
	if (m->state == FM_NODE_DEAD)
		return true;
	if (!m->via && m->missing)
		return false;
	if (m->state == FM_NODE_UP)
		fm_problem_clear(fm, "node", m->guid);
	return true;
}

void fm_judge_due(struct fm *fm)
{
	struct fm_root *r = fm->root;
	uint32_t i = 0;

	if (fm->now < r->judge_at || !r->settled)
		return;
	r->judge_at = NEVER;
	vouch(fm);
	while (i < r->nmissing) {
		struct fm_mate *m = &r->mate[r->missing[i]];

		if (!judged(fm, m))
			r->judge_at = earlier(r->judge_at, judge_mate(fm, m));
		if (judged(fm, m)) {
			m->listed = false;
			r->missing[i] = r->missing[--r->nmissing];
		} else {
			i++;
		}
	}
	fm_member_check(fm, false);
	fm_recovery_recheck(fm);
}

uint64_t fm_judge_expiry(const struct fm *fm)
{
	return fm->root->settled ? fm->root->judge_at : NEVER;
}
