// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports candidates whose configuration cannot be what the administrator wants. Such a mistake
 * does no harm as long as the root lives, so it is reported before the root is lost:
 *
 *  - Two nodes have the same priority, by configuration or because both have the bootstrap flag:
 *    their ids decide which of them asks first. Nodes without a configured priority have one in
 *    common on purpose.
 *  - A node has a priority, but no place: it never asks.
 *  - No other node that is up would ask: when this root is lost, no root leads until it is back.
 *    This is not reported if this node's own root_priority is 0: then the administrator wants no
 *    other root.
 *  - Two nodes have the bootstrap flag.
 *
 * No list of candidates is configured anywhere, so a candidate's name cannot be wrong.
 */
#include <stdio.h>
#include <torus/topology.h>

#include "daemon/fm/root/ranks.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

#define KIND "candidate"

void fm_ranks_look(struct fm *fm)
{
	fm->root->ranks_at = earlier(fm->root->ranks_at, fm->now + fm->cfg.resend);
}

/**
 * struct equals - the @n nodes with one priority; @of: the two of them with the lowest ids, in
 * order
 */
struct equals {
	uint32_t n;
	const struct fm_record *of[2];
};

static void add_equal(struct equals *e, const struct fm_record *m)
{
	e->n++;
	for (unsigned int i = 0; i < 2; i++) {
		const struct fm_record *was = e->of[i];

		if (was && was->node < m->node)
			continue;
		e->of[i] = m;
		m = was;
		if (!m)
			break;
	}
}

static void report_equals(struct fm *fm, const struct equals *e, unsigned int priority)
{
	char more[32] = "";

	if (e->n < 2)
		return;
	if (e->n > 2)
		snprintf(more, sizeof(more), " (and %u more)", e->n - 2);
	fm_problem_set(fm, KIND, priority,
		       "'%s' and '%s'%s have the same root_priority %u: the one with the lowest id "
		       "asks first to be root; give each its own",
		       e->of[0]->name, e->of[1]->name, more, priority);
}

static void check_ranks(struct fm *fm)
{
	struct equals equal[FM_PRIORITY_MAX + 1] = { { .n = 0 } };
	const struct fm_root *r = fm->root;
	bool wanted = fm_candidate_stated(fm) > 0, any = false;
	uint32_t others = 0;

	for (uint32_t i = 0; i < fm_roster_size(r); i++) {
		const struct fm_record *m = fm_record_no(r, i);

		if (!fm_record_joined(m) || m->state != FM_NODE_UP)
			continue;
		if (m->guid != fm->guid) {
			others++;
			any |= fm_candidate_priority(m->priority, m->node) > 0;
		}
		if (!m->priority || m->priority > FM_PRIORITY_MAX)
			continue;
		if (m->node == TORUS_NO_NODE && m->guid == fm->guid)
			fm_problem_set(fm, KIND, m->guid,
				       "'%s' leads, and has no place in the fabric: 'fabricctl "
				       "root move' lets a node lead that has one",
				       m->name);
		else if (m->node == TORUS_NO_NODE)
			fm_problem_set(fm, KIND, m->guid,
				       "'%s' has root_priority %u, and no place in the fabric: it "
				       "cannot become root",
				       m->name, m->priority);
		else
			add_equal(&equal[m->priority], m);
	}
	for (unsigned int i = 1; i <= FM_PRIORITY_MAX; i++)
		report_equals(fm, &equal[i], i);
	if (wanted && others && !any)
		fm_problem_set(fm, KIND, 0,
			       "no node would become root if '%s' is lost: root_priority of all "
			       "others that are up is 0",
			       fm->cfg.name);
}

/*
 * If two nodes had the bootstrap flag and all nodes were restarted, each of the two would lead the
 * nodes that its Inits reach first: there would be two fabrics, and no node of one would obey the
 * root of the other. A dead node without a place does not count, because it was replaced.
 */
void fm_ranks_marked(struct fm *fm)
{
	const struct fm_root *r = fm->root;
	const struct fm_record *of[2] = { NULL };
	unsigned int n = 0;

	for (uint32_t i = 0; i < fm_roster_size(r) && n < 2; i++) {
		const struct fm_record *m = fm_record_no(r, i);

		if (m->marked && (m->state != FM_NODE_DEAD || m->node != TORUS_NO_NODE))
			of[n++] = m;
	}
	if (n < 2)
		fm_problem_clear(fm, "bootstrap", 2);
	else
		fm_problem_set(fm, "bootstrap", 2,
			       "two NICs have the bootstrap flag, of '%s' and '%s': remove one "
			       "flag, or they lead two fabrics when all nodes start anew",
			       of[0]->name, of[1]->name);
}

void fm_ranks_due(struct fm *fm)
{
	struct fm_root *r = fm->root;

	if (fm->now < r->ranks_at)
		return;
	r->ranks_at = NEVER;
	if (!r->settled || fm->root->stage != FM_STAGE_LEADS)
		return;
	fm_problems_mark(fm, KIND);
	check_ranks(fm);
	fm_problems_sweep(fm, KIND);
	fm_ranks_marked(fm);
}

uint64_t fm_ranks_expiry(const struct fm *fm)
{
	return fm->root->ranks_at;
}
