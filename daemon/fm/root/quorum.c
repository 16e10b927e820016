// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the quorum
 *
 * Symbols:
 *
 *	v, t, f, n, s	tables
 *	U(v)		the nodes that are up in table v
 *	O(v)		the voters of v: the tables that may have been in force when v was made.
 *			These are the last that came into force before it or, until a table of this
 *			root has come into force, those of the claim (the table t with which the
 *			root claimed, and O(t)); and, in either case, all that this root has made
 *			since
 *	P		the nodes that have promised to obey a root
 *
 * Definition. Q is a quorum of U(v) if more than half of U(v) is in Q, or half of it with the root
 * that made v. Two quorums of one table have a node in common.
 *
 * A table carries U of each of its voters: the number of nodes, and in the entries which they are.
 * If there are more than FM_VOTERS_MAX, one that has no quorum represents the rest.
 *
 * Rules:
 *
 *  (C) A node that claims to be root (claim.c) needs the promises of a quorum of t and of each of
 *      O(t), where t is the table of the latest epoch and version that any node of P has; of t
 *      alone, if a node that has t knows that it has come into force; or no other node may be
 *      reachable, and none has been for a while (claim.c).
 *  (T) A table v is taken, and comes into force, only when the nodes that have taken it are a
 *      quorum of each of O(v); or no link leads from them to any other NIC.
 *      A root that has no quorum makes such a table only when it has called the others dead, after
 *      as long a while (judge.c).
 *  (S) A root calls a node silent, whose NIC works on, only while quorums of the same tables are
 *      connected to it. Safety does not need this rule: but a table without those nodes could not
 *      come into force, and rows wait while it does not.
 *
 * Theorem: no two roots lead one part. Let f be in force, and no later table.
 *
 *  Lemma 1. For each table v from f on, f is v or in O(v): a root that makes v has made f, or has
 *     claimed with f or a later table s (by Lemma 2), for which the same is true, and takes over
 *     {s} and O(s).
 *  Lemma 2. Let P have promised after f came into force, and let t be the latest table that a node
 *     of P had. Then t is not before f, because the nodes that have taken f are a quorum of each
 *     table of which P has a quorum by (C). Let n be a table of an earlier epoch that comes into
 *     force next. f is in O(n), and is t or in O(t): so by (T) and (C) a node of P has taken n. It
 *     has not done so after its promise, because its NIC refuses n then. So it had n when it
 *     promised, and n is t or before it. The new root begins with all that the former root had in
 *     force.
 *  Lemma 3. If t has come into force, Lemma 2 holds without O(t). No table later than t has, when P
 *     promises: by Lemma 1 t is in its O, so by (T) it was taken by a quorum of t. A node of that
 *     quorum is in P, and would have a later table than t. So f is t, and the rest of Lemma 2
 *     needs a quorum of f alone.
 *
 * Parts. If f comes into force because no link leads from its nodes to another NIC, these nodes
 * are a part, and the theorem begins anew with f: it holds for f and for the tables of all roots
 * that had f or one of those tables. The other nodes of O(f) may have a root, too, for which it
 * holds as well. So two roots may lead, each its own part, even when a link between the parts is
 * back: as long as the service network does not lead from one to the other, neither can know what
 * the other does. No data passes that link until a table of one of the roots has both its ends up
 * (epoch.c). For that the node at the other end must have promised to obey this root; so it has
 * left its part, votes there no more, and its NIC refuses the tables of that part.
 *	O(f) is dropped on purpose. With it, a part that has lost most of the nodes of a table would
 * not have a quorum again before most of them are back with the memory of their NICs, which those
 * that were without power never are. Until then no other root could lead the part beside a root
 * that hangs, and no recovery could leave out a node that hangs.
 *
 * A node knows that its table has come into force by the first step that its root orders after
 * that in which all take the table (recovery.c). Without Lemma 3, a table that leaves out many
 * nodes which died at once would need most of those, too, until the next table is made.
 *
 * A manager that started again has no table. But its NIC still obeys the root that it promised to
 * obey, and knows the epoch and version of its rows. Such a node counts as a member of U(t) and
 * O(t) if t has the GUID of its NIC with its present epoch (the NIC was not restarted), and its
 * rows are not of a table later than t. Then the lemmas hold: if the node has taken f, or n, its
 * rows are of that or a later table, and t is not before them. A NIC that was restarted has lost
 * its memory and counts for no table from before: it may have taken n without knowing it. A root
 * that leads does not count it for such a table either: before the restart it may have promised to
 * obey another root. A root that claims knows the GUIDs if it has t, and fetches t if it lacks it
 * (recall.c). The table so fetched is not taken: nothing of it goes to a NIC, or on to other nodes.
 *
 * If no node has a table, because all managers started again, but some have kept one (node/keep.c),
 * a claim needs more than half of the nodes in the kept table. If none was kept, and NICs have
 * places, it needs more than half of the places, by nodes whose NICs have rows. Limit: nodes that
 * lose the memory of their promises can make two roots, of two parts between which all managers
 * started again.
 *
 * A root without a quorum goes on leading the nodes that are connected to it; but a table that
 * leaves out other nodes does not come into force.
 *
 * Tests: tests/spin/takeover.pml checks the theorem with every order of steps, and that it is wrong
 * without O where no node knows that t has come into force (BREAK_LATEST);
 * tests/sim/test_takeover.c; for parts, tests/sim/test_split.c.
 */
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/quorum.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/former.h"
#include "lib/deps/invariant.h"

#define HELLO_MAX 5	/* time for which a HELLO counts if it is not repeated, in units of
			 * fm_config.resend */
#define AGAIN_MAX 3	/* times the interval of HELLOs that the node was asked for, if that is
			 * longer */

/** struct quorum_table - a table of this root: its @version, and how many nodes are up in it */
struct quorum_table {
	uint64_t version;
	uint32_t ups;
};

/**
 * struct fm_quorum - the sets of nodes in each of which this root needs a quorum
 * @with: the table with which it claimed; version 0: there was none
 * @nclaimed, @claimed: the sets in which the claim needed quorums
 * @own: the root had the table @with itself, or no node had one
 * @ups: number of nodes that are up in the last table
 * @taken: the latest table that all nodes which are up in it have taken; version 0: none
 * @lacks: when a quorum was last needed, it was missing
 * @open, @n: tables after @taken in which other nodes are up than in the one before, ascending
 */
struct fm_quorum {
	struct fm_past with;
	unsigned int nclaimed, n;
	struct fm_set claimed[FM_QUORUM_SETS];
	uint32_t ups;
	bool own, lacks;
	struct quorum_table taken, open[FM_QUORUM_OPEN];
};

bool fm_quorum_new(struct fm_root *r)
{
	r->quorum = calloc(1, sizeof(*r->quorum));
	return r->quorum;
}

void fm_quorum_free(struct fm_root *r)
{
	free(r->quorum);
}

bool fm_quorum_here(const struct fm *fm, const struct fm_record *m)
{
	const struct fm_root *r = fm->root;

	if (m == fm_record_no(r, 0))
		return true;
	if (r->stage == FM_STAGE_ASKS)
		return m->stated.received &&
		       fm->now < m->stated.received + later(HELLO_MAX * fm->cfg.resend,
						    AGAIN_MAX * m->stated.again) +
					 2 * fm_lag_answer(fm);
	return m->via && m->stated.claimed == fm->term;
}

/* --- the sets of which a claim needs a quorum ------------------------------------------------ */

static uint16_t entry_votes(const struct fm_voters *v, const struct fm_entry *e)
{
	return (uint16_t)(fm_table_counts(e) | fm_table_votes(v, e) << 1);
}

void fm_quorum_note(struct fm_record *m, const struct fm_hello *h)
{
	struct fm_statements *v = &m->stated;

	v->term = h->term;
	v->table = h->table;
	v->root = h->table_root;
	v->votes = (uint16_t)(h->counted | h->votes << 1);
	v->life = h->epoch;
	v->rows = h->version;
	v->rows_term = h->rows_term;
	v->shape = h->shape;
	v->at = h->placed ? torus_node_id(&h->shape, &h->coords) : TORUS_NO_NODE;
	v->admin = h->admin;
	v->across = h->across;
	v->clean = h->clean;
}

/*
 * Return: true if the manager has no table in memory, and its NIC has, or may have, rows of a later
 * table than the given one.
 */
static bool forgot_later(const struct fm_statements *v, uint64_t epoch, uint64_t table)
{
	if (v->table || !v->rows)
		return false;
	return !v->rows_term || v->rows_term > epoch || (v->rows_term == epoch && v->rows > table);
}

/* Return: mask of the sets that contain @m, by the table @b and its voters. */
static uint16_t votes_by(struct fm_book *b, const struct fm_voters *v, const struct fm_record *m)
{
	uint32_t node = fm_book_find(b, m->guid);

	return node == TORUS_NO_NODE || b->entry[node].epoch != m->stated.life ? 0 :
	       entry_votes(v, &b->entry[node]);
}

/*
 * Return: mask of the sets that contain @m, of those in which a claim with table @t needs quorums;
 * 0 if there is none, or not known.
 */
static uint16_t votes_with(const struct fm *fm, const struct fm_record *m, const struct fm_past *t)
{
	const struct fm_statements *statements = &m->stated;
	const struct fm_past its = {
		.epoch = statements->term, .version = statements->table, .root = statements->root,
	};
	const struct fm_voters *v;
	struct fm_book *b;

	if (!t->version)
		return fm_recall_nodes(fm) ? fm_recall_place(fm, m->guid) != TORUS_NO_NODE :
					     m->version > 0;
	if (forgot_later(statements, t->epoch, t->version))
		return 0;
	b = fm_recall_table(fm, t, &v);
	if (b)
		return votes_by(b, v, m);
	return fm_past_same(&its, t) ? statements->votes : 0;
}

/*
 * Return: mask of the sets of the latest table that contain @m. The root that made a table is up in
 * it. That also counts after its manager started again, but not after its NIC did.
 */
static uint16_t votes_of(const struct fm *fm, const struct fm_record *m)
{
	const struct fm_former *t = &fm->root->former;
	const struct fm_past id = fm_former_id(t);
	uint16_t mask = votes_with(fm, m, &id);

	if (fm_recall_has_latest(fm) || (!m->stated.table && !m->stated.rows) ||
	    forgot_later(&m->stated, t->epoch, t->table))
		return mask;
	mask |= m->guid == t->root;
	for (unsigned int i = 0; i < t->voters.n; i++)
		mask |= (uint16_t)((m->guid == t->voters.set[i].maker) << (i + 1));
	return mask;
}

/* Writes the sets in which a claim with the latest table needs quorums. Return: their number. */
static unsigned int list_sets(const struct fm *fm, struct fm_set *set)
{
	const struct fm_root *r = fm->root;
	const struct fm_former *t = &r->former;

	if (t->table) {
		set[0] = (struct fm_set) { .ups = t->ups, .maker = t->root };
		if (t->in_force)
			return 1;
		memcpy(&set[1], t->voters.set, t->voters.n * sizeof(*set));
		return 1 + t->voters.n;
	}
	set[0] = (struct fm_set) { .ups = fm_recall_nodes(fm) };
	if (!set[0].ups)	/* torus_nodes() is also 0 if the shape is not known */
		set[0].ups = torus_nodes(&r->shape);
	return set[0].ups > 0;
}

/*
 * Return: how many nodes of set number @i take part in the claim.
 * @half: set to twice that number, plus 1 if the maker of the table takes part
 */
static uint32_t count_here(const struct fm *fm, unsigned int i, uint64_t maker, uint32_t *half)
{
	const struct fm_root *r = fm->root;
	uint32_t n = 0;

	*half = 0;
	for (uint32_t k = 0; k < fm_roster_size(r); k++) {
		const struct fm_record *m = fm_record_no(r, k);

		if (!fm_quorum_here(fm, m) || !(votes_of(fm, m) & 1u << i))
			continue;
		n++;
		*half += 2 + (m->guid == maker);
	}
	return n;
}

bool fm_quorum_claimed(const struct fm *fm)
{
	struct fm_set set[FM_QUORUM_SETS];
	unsigned int n = list_sets(fm, set);
	uint32_t half;

	for (unsigned int i = 0; i < n; i++) {
		count_here(fm, i, set[i].maker, &half);
		if (half <= set[i].ups)
			return false;
	}
	return n > 0;
}

void fm_quorum_count(const struct fm *fm, uint32_t *here, uint32_t *need)
{
	struct fm_set set[FM_QUORUM_SETS];
	unsigned int n = list_sets(fm, set);
	uint32_t half;

	*here = *need = 0;
	for (unsigned int i = 0; i < n; i++) {
		uint32_t is = count_here(fm, i, set[i].maker, &half), of = set[i].ups / 2 + 1;

		if (i && (int64_t)of - is <= (int64_t)*need - *here)
			continue;
		*here = is;
		*need = of;
	}
}

void fm_quorum_begin(struct fm *fm)
{
	struct fm_root *r = fm->root;
	struct fm_quorum *q = r->quorum;

	*q = (struct fm_quorum) { .with = fm_former_id(&r->former) };
	q->own = !q->with.version || fm_recall_has_latest(fm);
	q->nclaimed = list_sets(fm, q->claimed);
	invariant(q->nclaimed <= FM_QUORUM_SETS);
	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		fm_record_no(r, i)->stated.chose = votes_of(fm, fm_record_no(r, i));
}

void fm_quorum_sent(struct fm *fm)
{
	struct fm_quorum *q = fm->root->quorum;
	const struct fm_past latest = fm_former_id(&fm->root->former);

	if (!q->with.version || !fm_past_same(&q->with, &latest))
		return;
	q->own = true;
	for (uint32_t i = 0; i < fm_roster_size(fm->root); i++)
		fm_quorum_hello(fm, fm_record_no(fm->root, i));
}

void fm_quorum_hello(const struct fm *fm, struct fm_record *m)
{
	const struct fm_quorum *q = fm->root->quorum;
	uint16_t votes;

	if (q->taken.version)
		return;
	votes = q->with.version || !fm->root->settled ? votes_with(fm, m, &q->with) : 0;
	m->stated.chose |= votes;
}

void fm_quorum_former(const struct fm *fm, struct fm_record *m, const struct fm_voters *v,
		      const struct fm_entry *e)
{
	const struct fm_quorum *q = fm->root->quorum;

	if (q->own)
		m->stated.chose = q->with.version ? entry_votes(v, e) : 1;
}

/* --- the tables of this root ---------------------------------------------- */

void fm_quorum_entry(struct fm *fm, struct fm_record *m, bool up, uint64_t version)
{
	struct fm_quorum *q = fm->root->quorum;

	if (up == (m->stated.since && !m->stated.until))
		return;
	invariant(up || q->ups);
	invariant(!q->n || q->open[q->n - 1].version <= version);
	q->ups += up ? 1 : -1u;
	if (q->n < FM_QUORUM_OPEN && (!q->n || q->open[q->n - 1].version != version))
		q->open[q->n++].version = version;
	invariant(q->n && version > q->taken.version);
	q->open[q->n - 1].ups = q->ups;
	if (up)
		m->stated.since = version;
	m->stated.until = up ? 0 : version;
}

void fm_quorum_forgot(struct fm *fm, struct fm_record *m)
{
	struct fm_statements *v = &m->stated;

	if (v->since && !v->until)
		fm->root->quorum->ups--;
	v->since = v->until = 0;
	v->chose = 0;
}

void fm_quorum_taken(struct fm *fm, uint64_t version)
{
	struct fm_quorum *q = fm->root->quorum;
	unsigned int n = 0;

	invariant(version >= q->taken.version);
	q->taken.version = version;
	for (unsigned int i = 0; i < q->n; i++)
		if (q->open[i].version > version)
			q->open[n++] = q->open[i];
		else
			q->taken.ups = q->open[i].ups;
	q->n = n;
}

/*
 * Finds set number @i of those in which a quorum is needed now, and the @version of its table; 0:
 * it is a set of the claim. Return: false if there are fewer sets.
 */
static bool find_set(const struct fm *fm, unsigned int i, struct fm_set *set, uint64_t *version)
{
	const struct fm_quorum *q = fm->root->quorum;
	const struct quorum_table *t = &q->taken;
	unsigned int claimed = q->taken.version ? 1 : q->nclaimed;

	*version = 0;
	if (i < claimed && !q->taken.version) {
		*set = q->claimed[i];
		return true;
	}
	if (i >= claimed + q->n)
		return false;
	if (i >= claimed)
		t = &q->open[i - claimed];
	*version = t->version;
	*set = (struct fm_set) { .ups = t->ups, .maker = fm->guid };
	return true;
}

/* Return: true if @m has a vote in set @i of voters: of the table @version, or 0: of the claim. */
static bool is_in(const struct fm_record *m, unsigned int i, uint64_t version)
{
	const struct fm_statements *v = &m->stated;

	if (!version)
		return v->chose & 1u << i;
	return v->since && v->since <= version && (!v->until || v->until > version);
}

uint8_t fm_quorum_differs(const struct fm *fm, const struct fm_record *m, bool up, uint64_t version)
{
	uint8_t differs = 0;
	struct fm_set set;
	uint64_t of;

	for (unsigned int i = 0;
	     i < FM_VOTERS_MAX && find_set(fm, i, &set, &of) && of < version; i++)
		if (is_in(m, i, of) != up)
			differs |= (uint8_t)(1u << i);
	return differs;
}

void fm_quorum_voters(const struct fm *fm, uint64_t version, struct fm_voters *v)
{
	struct fm_set set;
	uint64_t of;

	v->n = 0;
	for (unsigned int i = 0; find_set(fm, i, &set, &of) && of < version; i++)
		if (i < FM_VOTERS_MAX)
			v->set[v->n++] = set;
		else
			v->set[FM_VOTERS_MAX - 1].ups = FM_VOTERS_ALL;
}

/* Return: true if the nodes for which @counts is true are a quorum of each set that is needed. */
static bool is_quorum(const struct fm *fm,
		      bool (*counts)(const struct fm *fm, const struct fm_record *m))
{
	const struct fm_root *r = fm->root;
	struct fm_set set;
	uint64_t version;

	if (r->quorum->n == FM_QUORUM_OPEN)
		return false;
	for (unsigned int i = 0; find_set(fm, i, &set, &version); i++) {
		uint32_t n = 0;

		for (uint32_t k = 0; k < fm_roster_size(r); k++) {
			const struct fm_record *m = fm_record_no(r, k);

			if (is_in(m, i, version) && counts(fm, m))
				n += 2 + (m->guid == set.maker);
		}
		if (n <= set.ups)
			return false;
	}
	return true;
}

static bool is_connected(const struct fm *fm, const struct fm_record *m)
{
	return m->via || m == fm_record_no(fm->root, 0);
}

/*
 * Return: true if the root waits for the reports of @m, so that @m has taken the present table or
 * will take it.
 */
static bool takes_table(const struct fm *fm, const struct fm_record *m)
{
	(void)fm;
	return m->state == FM_NODE_UP && m->node != TORUS_NO_NODE;
}

/* Return: true if a link leads from a node that takes the table to one that does not. */
static bool is_beside_others(const struct fm *fm)
{
	const struct fm_root *r = fm->root;

	for (uint32_t i = 0; i < fm_roster_size(r); i++) {
		const struct fm_record *m = fm_record_no(r, i);

		for (unsigned int p = 0; takes_table(fm, m) && p < m->row.nports; p++) {
			const struct fm_port_row *port = &m->row.port[p];
			const struct fm_record *o = fm_record(r, port->peer_guid);

			if (port->state == FM_PORT_UP && port->peer_guid &&
			    (!o || !takes_table(fm, o)))
				return true;
		}
	}
	return false;
}

/* Notes whether a quorum is missing, and reports it as a problem. Return: @is. */
static bool set_lacks(struct fm *fm, bool is)
{
	fm->root->quorum->lacks = is;
	if (is)
		fm_problem_set(fm, "quorum", 0,
			       "not more than half of the nodes answer: recoveries wait for the "
			       "others until more do");
	else
		fm_problem_clear(fm, "quorum", 0);
	return is;
}

bool fm_quorum_took(struct fm *fm)
{
	return !set_lacks(fm, !is_quorum(fm, takes_table) && is_beside_others(fm));
}

bool fm_quorum_look(struct fm *fm)
{
	return !set_lacks(fm, !fm_quorum_connected(fm));
}

bool fm_quorum_connected(const struct fm *fm)
{
	return is_quorum(fm, is_connected);
}

bool fm_quorum_lacks(const struct fm_root *r)
{
	return r->quorum->lacks;
}
