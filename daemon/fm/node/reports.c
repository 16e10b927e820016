// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reports of the nodes below this one in the tree, for the step at hand: their sum, and the
 * children whose report is missing.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/table.h"
#include "lib/deps/invariant.h"

/**
 * struct fm_reports - the reports for the present step
 * @missing: how many children still have to report: those with fm_conn.awaited
 * @sum: sum of the reports of children with fm_conn.reported
 */
struct fm_reports {
	unsigned int missing;
	struct fm_report sum;
};

bool fm_reports_new(struct fm *fm)
{
	fm->reports = calloc(1, sizeof(*fm->reports));
	return fm->reports;
}

void fm_reports_free(struct fm *fm)
{
	free(fm->reports);
}

static unsigned int count_awaited(const struct fm *fm)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < fm_conns_count(fm); i++)
		n += fm_conn_no(fm, i)->awaited;
	return n;
}

void fm_reports_step(struct fm *fm)
{
	invariant(fm->reports->missing == count_awaited(fm));
	memset(&fm->reports->sum, 0, sizeof(fm->reports->sum));
}

const struct fm_report *fm_reports_sum(const struct fm *fm)
{
	return &fm->reports->sum;
}

bool fm_reports_missing(const struct fm *fm)
{
	return fm->reports->missing;
}

void fm_reports_own(struct fm *fm, struct fm_sums *out)
{
	const struct torus_park *p = &fm->park;

	memset(out, 0, sizeof(*out));
	memcpy(out->flow, p->flow.counter, sizeof(out->flow));
	out->parked = p->parked;
	out->unresolved = p->unresolved;
	out->held = p->held;
	out->relayed = fm->relayed;
	out->reopen = (uint32_t)__builtin_popcount(fm_rows_reopen(fm));
}

void fm_report_add(struct fm_report *to, const struct fm_report *r, int sign)
{
	struct fm_sums *t = &to->sums;
	const struct fm_sums *s = &r->sums;
	uint64_t by = (uint64_t)sign;

	invariant(sign > 0 || to->count >= r->count);
	to->count += (uint32_t)by * r->count;
	to->set += by * r->set;
	for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			t->flow[f][c] += by * s->flow[f][c];
	t->parked += by * s->parked;
	t->unresolved += by * s->unresolved;
	t->held += by * s->held;
	t->lost += by * s->lost;
	t->reopen += (uint32_t)by * s->reopen;
	t->relayed += by * s->relayed;
}

void fm_reports_take(struct fm *fm, struct fm_conn *c, const struct fm_report *r)
{
	if (c->reported)
		fm_report_add(&fm->reports->sum, &c->report, -1);
	c->report = *r;
	c->reported = true;
	fm_report_add(&fm->reports->sum, r, 1);
	fm_reports_await(fm, c);
}

void fm_reports_await(struct fm *fm, struct fm_conn *c)
{
	bool awaited = c->role == FM_CONN_CHILD &&
		       fm_table_takes(fm, c->node, c->guid, c->epoch) && !c->reported &&
		       !c->failed;

	invariant(fm->reports->missing >= c->awaited);
	fm->reports->missing += awaited - c->awaited;
	c->awaited = awaited;
	invariant(fm->reports->missing <= fm_conns_count(fm));
}

void fm_reports_forget(struct fm *fm, const struct fm_conn *c)
{
	invariant(fm->reports->missing >= c->awaited);
	fm->reports->missing -= c->awaited;
	if (c->reported)
		fm_report_add(&fm->reports->sum, &c->report, -1);
}

uint64_t fm_reports_awaited(const struct fm *fm)
{
	for (unsigned int i = 0; i < fm_conns_count(fm); i++)
		if (fm_conn_no(fm, i)->awaited)
			return fm_conn_no(fm, i)->guid;
	return 0;
}

void fm_reports_lookup(struct fm *fm)
{
	for (unsigned int i = 0; i < fm_conns_count(fm); i++) {
		struct fm_conn *c = fm_conn_no(fm, i);

		if (c->role != FM_CONN_CHILD)
			continue;
		if (c->node >= fm->table.nodes || fm->table.entry[c->node].guid != c->guid)
			c->node = fm_table_find(fm, c->guid);
		fm_reports_await(fm, c);
	}
}
