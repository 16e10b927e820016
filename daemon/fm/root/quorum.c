// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the quorum
 *
 * U(v) are the nodes that are up in table v. Q is a quorum of U(v) if more than half of U(v) is in it,
 * or half of it with the root of that table. Two quorums of one table have a node in common.
 *
 *  (C) A node that claims to be root (claim.c) needs the promises of a quorum of the table of the
 *      latest epoch and version that anybody has who promised; or nobody else may be reachable.
 *  (S) A root calls a node silent, whose NIC works on, only while a quorum of each of its tables is
 *      connected to it, from the last that all have taken to the last published. Before the first
 *      is taken, that is also a quorum of the table with which it claimed, even if nobody else was
 *      reachable then: those who were may since have promised to obey another.
 *  (T) A table is taken, and comes into force, only when those who have taken it are a quorum of each
 *      of these tables, too; or no link leads from them to any other NIC.
 *
 * Why no two roots lead. Let R be root and P be those that promise to obey another, in a later
 * epoch, and t the latest table that one of P has. After its promise no node of P does what R says: none
 * takes a later table of R. Let n be one that is taken after that. By (T) those who took it are a quorum
 * of U(t), for t was published and not taken by all, or is the last that was; or no link leads from
 * them to others. P has a quorum of U(t), too: then a node is in both, which cannot be.
 * Versions since the last one that was taken are few: colours end otherwise (publish.c).
 *
 * What is missing, each of which tests/spin/takeover.pml finds: (C) asks for a quorum of the latest
 * table alone, which may never have been in force (BREAK_LATEST); and a root that leads goes on in a
 * later epoch without (C), when it learns of one (epoch.c; BREAK_RAISE).
 *
 * A root without a quorum goes on leading those that it has. It only cannot leave out others.
 */
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/root/roster.h"

#define HEARD_MAX 5	/* times resend, that HELLO counts: it is said again by then */

bool fm_quorum_here(const struct fm *fm, const struct fm_mate *m)
{
	const struct fm_root *r = fm->root;

	if (m == r->mate)
		return true;
	if (r->asking.stage == FM_STAGE_ASKS)
		return m->voice.heard && fm->now < m->voice.heard + HEARD_MAX * fm->cfg.resend;
	return m->via && m->voice.claimed == fm->uplink.term;
}

/* Whether @m is up in the latest table that anybody has who takes part in the claim. */
static bool in_latest(const struct fm *fm, const struct fm_mate *m)
{
	const struct fm_told *t = &fm->root->told;
	const struct fm_table *own = &fm->table;
	uint32_t node;

	if (!t->table)
		return m->version;
	if (m->guid == t->root)
		return true;	/* it made it */
	if (own->version == t->table && own->term == t->epoch) {
		node = fm_table_find(fm, m->guid);
		return node != TORUS_NO_NODE && fm_table_counts(&own->entry[node]);
	}
	return m->voice.term == t->epoch && m->voice.table == t->table && m->voice.counted;
}

/* How many nodes were up in it. If there is none any more, as many as there are places. */
static uint32_t ups(const struct fm *fm)
{
	const struct fm_root *r = fm->root;

	if (r->told.table)
		return r->told.ups;
	return r->restored ? torus_nodes(&r->shape) : 0;
}

bool fm_quorum_claimed(const struct fm *fm)
{
	const struct fm_root *r = fm->root;
	uint32_t n = 0, all = ups(fm);

	for (uint32_t i = 0; i < r->nmates; i++) {
		const struct fm_mate *m = &r->mate[i];

		if (!fm_quorum_here(fm, m) || !in_latest(fm, m))
			continue;
		n += 2;
		n += r->told.table && m->guid == r->told.root;
	}
	return all && n > all;
}

void fm_quorum_count(const struct fm *fm, uint32_t *here, uint32_t *need)
{
	const struct fm_root *r = fm->root;
	uint32_t all = ups(fm);

	*here = 0;
	*need = all ? all / 2 + 1 : 0;
	for (uint32_t i = 0; i < r->nmates; i++)
		*here += fm_quorum_here(fm, &r->mate[i]) && in_latest(fm, &r->mate[i]);
}

void fm_quorum_begin(struct fm *fm)
{
	struct fm_root *r = fm->root;

	r->quorum = (struct fm_quorum) { .claimed = ups(fm), .maker = r->told.root };
	for (uint32_t i = 0; i < r->nmates; i++)
		r->mate[i].voice.chose = in_latest(fm, &r->mate[i]);
}

void fm_quorum_hello(const struct fm *fm, struct fm_mate *m)
{
	if (!fm->root->quorum.taken)
		m->voice.chose = in_latest(fm, m);
}

void fm_quorum_entry(struct fm *fm, struct fm_mate *m, bool up, uint64_t version)
{
	struct fm_quorum *q = &fm->root->quorum;

	if (q->n < FM_QUORUM_OPEN && (!q->n || q->open[q->n - 1] != version))
		q->open[q->n++] = version;
	if (up)
		m->voice.since = version;
	m->voice.until = up ? 0 : version;
}

void fm_quorum_taken(struct fm *fm, uint64_t version)
{
	struct fm_quorum *q = &fm->root->quorum;
	unsigned int n = 0;

	for (unsigned int i = 0; i < q->n; i++)
		if (q->open[i] > version)
			q->open[n++] = q->open[i];
	q->n = n;
	q->taken = version;
}

/*
 * Whether those that @counts says are a quorum of those that were up in @version; 0: in the table with
 * which this root claimed, of which half is enough only with who made it.
 */
static bool stands(const struct fm *fm, uint64_t version, bool (*counts)(const struct fm *fm, const struct fm_mate *m))
{
	const struct fm_root *r = fm->root;
	uint64_t maker = version ? fm->guid : r->quorum.maker;
	uint32_t all = 0, n = 0;

	for (uint32_t i = 0; i < r->nmates; i++) {
		const struct fm_mate *m = &r->mate[i];
		bool up = version ? m->voice.since && m->voice.since <= version &&
				    (!m->voice.until || m->voice.until > version) :
				    m->voice.chose;

		all += up;
		if (up && counts(fm, m))
			n += 2 + (m->guid == maker);
	}
	if (!version)
		all = r->quorum.claimed;
	return !all || n > all;
}

static bool stands_all(const struct fm *fm, bool (*counts)(const struct fm *fm, const struct fm_mate *m))
{
	const struct fm_quorum *q = &fm->root->quorum;

	if (q->n == FM_QUORUM_OPEN || !stands(fm, q->taken, counts))
		return false;
	for (unsigned int i = 0; i < q->n; i++)
		if (!stands(fm, q->open[i], counts))
			return false;
	return true;
}

static bool connected(const struct fm *fm, const struct fm_mate *m)
{
	return m->via || m == fm->root->mate;
}

/* The table at hand has come into force there, or is to: its reports are waited for. */
static bool takes(const struct fm *fm, const struct fm_mate *m)
{
	(void)fm;
	return m->state == FM_NODE_UP && m->node != TORUS_NO_NODE;
}

/* Whether a link leads from one that takes the table to one that does not. */
static bool beside_others(const struct fm *fm)
{
	const struct fm_root *r = fm->root;

	for (uint32_t i = 0; i < r->nmates; i++)
		for (unsigned int p = 0; takes(fm, &r->mate[i]) && p < r->mate[i].row.nports; p++) {
			const struct fm_port_row *port = &r->mate[i].row.port[p];
			const struct fm_mate *o = fm_mate(r, port->peer_guid);

			if (port->state == FM_PORT_UP && port->peer_guid && (!o || !takes(fm, o)))
				return true;
		}
	return false;
}

static bool lacks(struct fm *fm, bool is)
{
	fm->root->quorum.lacks = is;
	if (is)
		fm_problem_set(fm, "quorum", 0,
			       "fewer than half of the nodes answer: no recovery leaves out the others before more than half do");
	else
		fm_problem_clear(fm, "quorum", 0);
	return is;
}

bool fm_quorum_took(struct fm *fm)
{
	return !lacks(fm, !stands_all(fm, takes) && beside_others(fm));
}

bool fm_quorum_look(struct fm *fm)
{
	return !lacks(fm, !stands_all(fm, connected));
}
