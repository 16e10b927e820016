// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disputed cables: one end reports the cable as up and the other as down. In the table, and so in
 * all rows, the cable is down (a cable that one end excludes is excluded); this file reports it as
 * a problem. Each change of a link is disputed for a moment, because its ends notice it one after
 * the other. So a dispute is a problem only if two checks, a keep-alive apart, find it.
 *
 * The root checks the suspects: nodes whose port rows, when they came, contradicted those of their
 * neighbours. If there are more than FM_SUSPECTS, it checks all nodes.
 *
 * Test: tests/unit/test_fm_dispute.c.
 */
#include <stdlib.h>

#include "daemon/fm/root/dispute.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "lib/deps/invariant.h"

/** struct suspect - a node that may have disputed cables; @seen: the last check found one, too */
struct suspect {
	uint64_t guid;
	bool seen;
};

/**
 * struct fm_disputes - the suspects
 * @suspect, @n: the nodes to be checked
 * @more: there are more suspects than fit into @suspect, so all nodes are checked
 * @at: when the next check is; NEVER
 */
struct fm_disputes {
	struct suspect suspect[FM_SUSPECTS];
	unsigned int n;
	bool more;
	uint64_t at;
};

bool fm_dispute_new(struct fm_root *r)
{
	r->disputes = calloc(1, sizeof(*r->disputes));
	if (r->disputes)
		r->disputes->at = NEVER;
	return r->disputes;
}

void fm_dispute_free(struct fm_root *r)
{
	free(r->disputes);
}

/* Return: true if one end of the cable at port @p reports it as up and the other as down. */
static bool is_disputed(const struct fm *fm, const struct fm_record *m, unsigned int p)
{
	const struct fm_port_row *mine = &m->row.port[p], *theirs;
	const struct fm_record *o = fm_record(fm->root, mine->peer_guid);

	if (!o || o == m || o->state != FM_NODE_UP || !o->via ||
	    mine->peer_port >= o->row.nports)
		return false;
	theirs = &o->row.port[mine->peer_port];
	return (mine->state == FM_PORT_UP) != (theirs->state == FM_PORT_UP) &&
	       theirs->peer_guid == m->guid;
}

bool fm_disputed_any(const struct fm *fm, const struct fm_record *m)
{
	for (unsigned int p = 0; p < m->row.nports; p++)
		if (is_disputed(fm, m, p))
			return true;
	return false;
}

static void add_suspect(struct fm_disputes *d, uint64_t guid, bool seen)
{
	for (unsigned int i = 0; i < d->n; i++)
		if (d->suspect[i].guid == guid)
			return;
	if (d->n < FM_SUSPECTS)
		d->suspect[d->n++] = (struct suspect) { guid, seen };
	else
		d->more = true;
}

void fm_dispute_row(struct fm *fm, const struct fm_record *m)
{
	struct fm_disputes *d = fm->root->disputes;

	invariant(d->n <= FM_SUSPECTS);
	if (fm_disputed_any(fm, m))
		add_suspect(d, m->guid, false);
	if (d->n && d->at == NEVER)
		d->at = fm->now + fm->cfg.keepalive;
}

static void set_dispute_problem(struct fm *fm, const struct fm_record *m, unsigned int p)
{
	const struct fm_port_row *mine = &m->row.port[p];
	const struct fm_record *o = fm_record(fm->root, mine->peer_guid);
	bool up = mine->state == FM_PORT_UP;
	char a[160], b[160];

	fm_end_text(fm, m, p, a, sizeof(a));
	fm_end_text(fm, o, mine->peer_port, b, sizeof(b));
	fm_problem_set(fm, "dispute", fm_mix((up ? m : o)->guid) ^ (up ? p : mine->peer_port),
		       "%s reports that its link is up, and %s that it is down: nothing is sent "
		       "over it",
		       up ? a : b, up ? b : a);
}

/*
 * Reports the disputed cables of @m if the last check has @seen one, too, and keeps @m as a
 * suspect.
 */
static void check_node(struct fm *fm, const struct fm_record *m, bool seen)
{
	for (unsigned int p = 0; seen && p < m->row.nports; p++)
		if (is_disputed(fm, m, p))
			set_dispute_problem(fm, m, p);
	if (fm_disputed_any(fm, m))
		add_suspect(fm->root->disputes, m->guid, true);
}

void fm_dispute_due(struct fm *fm)
{
	struct fm_root *r = fm->root;
	struct fm_disputes *d = r->disputes, old = *d;
	bool first = false;

	if (fm->now < d->at)
		return;
	*d = (struct fm_disputes) { .at = NEVER };
	fm_problems_mark(fm, "dispute");
	for (unsigned int i = 0; i < old.n; i++) {
		const struct fm_record *m = fm_record(r, old.suspect[i].guid);

		if (m)
			check_node(fm, m, old.suspect[i].seen);
		first |= !old.suspect[i].seen;
	}
	for (uint32_t i = 0; old.more && i < fm_roster_size(r); i++)
		check_node(fm, fm_record_no(r, i), false);
	fm_problems_sweep(fm, "dispute");
	if (d->n && (first || old.more))
		d->at = fm->now + fm->cfg.keepalive;
}

uint64_t fm_dispute_expiry(const struct fm *fm)
{
	return fm->root->disputes->at;
}
