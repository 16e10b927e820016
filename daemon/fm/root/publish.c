// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the next table: gives places to nodes that came, checks the cables, and sends what has
 * changed.
 *
 * A version's colour is version mod 4, so a version may not begin while packets of the version four
 * before it can still be in the network. r->clean has the colours of which no packet is left. If
 * the next colour is not clean, the table waits until the present recovery finds the network
 * drained, which is bounded in time; further changes go into the same table.
 *
 * A table also waits for the table of another part from which a node has come (parts.c): for a
 * resend at most, however many such nodes come. It waits for some ms if a node may have lost its
 * power (vanish.c).
 *
 * The numbers of tables never begin anew in a fabric, because flows are numbered by them. A root
 * begins above all versions that NICs and managers report. If some of these have lost their memory,
 * no report may be left of the last ones, though a NIC whose manager hangs, or cannot be reached,
 * may have their packets. Then the root begins above all that can have followed the tables on the
 * disks of the candidates (node/keep.c), or goes on above them if the candidate with the latest one
 * comes after the first table.
 *
 * Limit: without state directories this has no bound. If all NICs but one lost their power, and the
 * manager of that one does not know the last tables, because it hung, no node knows how many there
 * were: a NIC keeps the version of its own rows, not the latest one of the packets that it has
 * received. A constant step would be a guess, because any number of tables may have been made while
 * the manager hung. fabricd.conf(5) says that the promise needs a state directory.
 *
 * Test: tests/unit/test_fm_versions.c.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/root/publish.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/apart.h"
#include "daemon/fm/root/cables.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/damp.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/discover.h"
#include "daemon/fm/root/grow.h"
#include "daemon/fm/root/isolated.h"
#include "daemon/fm/root/parts.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/service.h"
#include "daemon/fm/root/former.h"
#include "daemon/fm/root/vanish.h"
#include "daemon/fm/root/wiring.h"
#include "lib/deps/invariant.h"

/* Return: the next version whose colour is not in the mask @used; 0 if there is none. */
static uint64_t version_without(const struct fm_root *r, uint8_t used)
{
	for (uint64_t j = 1; j < TORUS_COLOURS; j++)
		if (!(used & 1u << (r->version + j) % TORUS_COLOURS))
			return r->version + j;
	return 0;
}

/*
 * Return: mask of the colours that are clean (have no packets) as far as the node of @v knows, if
 * @latest is the latest table.
 */
static uint8_t clean_by(const struct fm_statements *v, const struct fm_past *latest)
{
	const struct fm_past its = { .epoch = v->term, .version = v->table, .root = v->root };
	bool counted = v->votes & 1;

	if (!v->table)		/* the manager of the node was restarted */
		return !v->rows_term || (v->rows_term == latest->epoch &&
					 v->rows == latest->version) ? UINT8_MAX : 0;
	if (!counted && v->rows && v->rows < v->table)
		return 0;	/* no drain of that table included the NIC of this node */
	return fm_past_same(&its, latest) ? UINT8_MAX : v->clean;
}

/* Return: mask of the colours that are clean for all nodes that took part in the claim. */
static uint8_t clean_of_all(const struct fm_root *r)
{
	const struct fm_past latest = fm_former_id(&r->former);
	uint8_t clean = r->former.clean;

	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		clean &= clean_by(&fm_record_no(r, i)->stated, &latest);
	return clean;
}

/*
 * Return: the first version of this root, after the tables of a former root.
 *
 * Packets may have the colours of all nodes' rows, and each colour that was not clean by the former
 * root. That root sent its clean colours with its last table and step. So if that table has the
 * highest version that any NIC has, a version with a clean colour is chosen, and the versions
 * before it are skipped.
 *
 * A node with another table may not have taken part in that drain: another root led it, or none.
 * Its HELLO has the colours that are clean by its own table. No colour is clean if its manager
 * started again and its rows are not of the latest table, or if its NIC was not counted in the
 * latest table and has other rows: that NIC took part in no drain of it.
 *
 * If no colour is known to be clean, one is chosen that no node's rows have, and later tables wait
 * until the network has drained. Packets may have the chosen colour, too: so when packets of the
 * other colours are gone, another table follows, whose drain covers that colour as well.
 */
static uint64_t first_version(struct fm_root *r)
{
	uint64_t version;
	uint8_t used = 0;

	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		if (fm_record_no(r, i)->version)
			used |= (uint8_t)(1u << fm_record_no(r, i)->version % TORUS_COLOURS);
	r->clean = r->former.table == r->version ? clean_of_all(r) & (uint8_t)~used : 0;
	version = version_without(r, (uint8_t)~r->clean);
	if (version)
		return version;
	r->clean = 0;
	version = version_without(r, used);
	return version ? version : r->version + 1;
}

/* Return: true if a NIC that takes part has no rows: it has lost its memory, or is new. */
static bool has_blank_nic(const struct fm_root *r)
{
	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		if ((!i || fm_record_no(r, i)->stated.received) && !fm_record_no(r, i)->version)
			return true;
	return false;
}

/*
 * Return: true if a NIC may have had rows of a later version than any node reports: the NIC of the
 * former root, if that is away or has lost its memory, or any other NIC that has lost its memory.
 * The flows of a NIC are numbered by the versions that it had (kernel/core/flow.h). After a restart
 * it must not use such a version again: its receivers would discard its packets as duplicates.
 */
static bool is_later_possible(const struct fm_root *r)
{
	const struct fm_record *maker = r->former.table ? fm_record(r, r->former.root) :
		fm_record_no(r, 0);

	return has_blank_nic(r) || !maker ||
	       (maker != fm_record_no(r, 0) && !maker->stated.received);
}

/*
 * Return: the highest version that a table may have had which all nodes that take part have
 * forgotten; 0 if they have forgotten none, or if no table was kept that would show it. So many
 * tables may be forgotten only if NICs have lost their memory. Their managers lost it with them,
 * and a node that remembers an earlier table does not know the later ones. After the first table of
 * this root, only a kept table that is later than its own shows anything new.
 */
static uint64_t latest_forgotten(const struct fm *fm)
{
	const struct fm_root *r = fm->root;
	bool blank = !fm->table.version && has_blank_nic(r);

	if (!r->version_kept || (!blank && r->version_kept <= r->version))
		return 0;
	return r->version_kept + FM_KEEP_AHEAD;
}

/*
 * Return: the next version; 0 if none may begin yet. A root makes at most as many tables as there
 * are colours before other nodes have taken one of them. So if the last versions may be unknown, as
 * many versions as there are colours are skipped, which leaves the colour the same.
 *
 * A node that joins may have a later version than the present table, without a recovery of it. The
 * version after that may have the colour of the present table, which is not clean until another
 * table is in force. So it is skipped, like versions of other colours that are not clean.
 *
 * No drain of this root waited for the packets in the NIC of a node that was away. With the colour
 * of the next version, that version's drain would not wait for them either. So versions of the
 * colours that these packets may have are skipped, too. If no other colour is clean, one of them is
 * used, and a further table follows whose drain covers it, as after a restart. Such a table also
 * follows if a node that has waited for a place gets one in a version of such a colour.
 */
static uint64_t next_version(struct fm *fm)
{
	struct fm_root *r = fm->root;
	bool is_known;
	uint64_t version;

	/*
	 * The version must be above that of each table named in a HELLO, even if no NIC has taken
	 * that table.
	 */
	r->version = later(r->version, later(r->version_seen, r->former.table));
	is_known = r->version;
	r->version = later(r->version, latest_forgotten(fm));
	if (!fm->table.version && is_known)
		return first_version(r) + (is_later_possible(r) ? TORUS_COLOURS : 0);
	if (r->version == fm->table.version && !r->brought)
		return r->clean & 1u << (r->version + 1) % TORUS_COLOURS ? r->version + 1 : 0;
	version = version_without(r, (uint8_t)~r->clean | r->brought);
	return version ? version : version_without(r, (uint8_t)~r->clean);
}

/*
 * Return: true if port @p of the silent node @m may be closed, as the port row of its neighbour
 * shows. A link that was lost and came back is closed at both ends until a replay, in which @m does
 * not take part.
 */
static bool is_closed_beyond(const struct fm *fm, const struct fm_record *m, unsigned int p)
{
	const struct torus_shape *shape = &fm->table.shape;
	const struct fm_record *o = fm_record_at(fm->root, torus_neighbour(shape, m->node, p));

	return m->state == FM_NODE_SILENT && o && o->row.port[torus_dir_opposite(shape, p)].closed;
}

/* Fills in @e, which must be all zero, because entries are compared by memcmp(), texts included. */
static void make_entry(struct fm *fm, const struct fm_record *m, uint64_t version,
		       struct fm_entry *e)
{
	e->state = m->state;
	e->differs = fm_quorum_differs(fm, m, fm_table_counts(e), version);
	e->guid = m->guid;
	e->epoch = m->epoch;
	e->serial = m->row.serial;
	strcpy(e->name, m->name);
	strcpy(e->address, m->address);
	e->wiring = fm_wiring_check(fm, m);
	if (fm_wiring_odd(fm, m))
		fm_mark(&fm->root->changes.odd, m->node);
	e->held = fm_damp_mask(fm, m);
	e->fault = e->held;
	if ((m->old_shape || m->bare) && m->state != FM_NODE_UP)
		e->fault = (uint16_t)((1u << 2 * fm->ndims) - 1);
	for (unsigned int p = 0; p < 2 * fm->ndims; p++) {
		const struct fm_port_row *port = &m->row.port[p];

		if (port->state != FM_PORT_UP || (port->closed && m->state != FM_NODE_UP) ||
		    is_closed_beyond(fm, m, p))
			e->fault |= (uint16_t)(1u << p);
		if (port->state != FM_PORT_UP && port->stalled)
			e->stalled |= (uint16_t)(1u << p);
		if (!port->session)
			continue;
		e->ended |= (uint16_t)(1u << p);
		e->session[p] = port->session;
		e->seq[p] = port->seq;
	}
}

bool fm_publish_entry(struct fm *fm, uint32_t node, uint64_t version, struct fm_entry *e)
{
	const struct fm_record *m = fm_record_at(fm->root, node);

	memset(e, 0, sizeof(*e));
	e->node = node;
	e->admin = fm->root->admin[node];
	e->job = fm->root->seat[node].job;
	e->number = fm->root->seat[node].number;
	if (m)
		make_entry(fm, m, version, e);
	return !fm_table_blank(e) || !fm_table_blank(&fm->table.entry[node]);
}

/*
 * Reports the nodes without a place as problems, except for those that wait for their neighbours.
 */
static void report_unplaced(struct fm *fm)
{
	const struct fm_root *r = fm->root;

	const char *why = r->unplaced > r->early ? fm_grow_why(fm) : NULL;

	fm_problems_mark(fm, "place");
	for (uint32_t i = 0; why && i < fm_roster_size(r); i++) {
		const struct fm_record *m = fm_record_no(r, i);

		if (m->node == TORUS_NO_NODE && m->state == FM_NODE_UP && m->via && !m->early)
			fm_problem_set(fm, "place", m->guid,
				       "node '%s' (%s) has no place: no free coordinates fit its "
				       "cables%s",
				       m->name, m->address, why);
	}
	fm_problems_sweep(fm, "place");
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Called when the entry @was becomes @e in table @version: updates the votes of the nodes of both.
 */
static void move_vote(struct fm *fm, const struct fm_entry *was, const struct fm_entry *e,
		      uint64_t version)
{
	struct fm_record *m = fm_record(fm->root, was->guid);

	if (m && was->guid != e->guid && was->state == FM_NODE_UP)
		fm_quorum_entry(fm, m, false, version);
	m = fm_record_at(fm->root, e->node);
	if (m)
		fm_quorum_entry(fm, m, fm_table_counts(e), version);
}

/*
 * Fills @t with the entries that differ from the present table. If a count has added the end of a
 * session to an entry (ended.c), some nodes may not have it; in this case, too, the entry differs,
 * by the serial of its port row or by the end of the session itself. Return: false if there is no
 * memory.
 */
static bool fill_changes(struct fm *fm, struct fm_table_msg *t)
{
	const struct fm_orders *orders = &fm->root->orders, *had = &fm->table.book->orders;
	struct fm_changes *c = &fm->root->changes;
	struct fm_marks *changed = &c->table;
	uint32_t node;

	while (fm_unmark(&c->odd, &node) || fm_unmark(&c->differ, &node))
		fm_mark(changed, node);
	t->entries = malloc((changed->n + 1) * sizeof(*t->entries));
	t->orders = malloc((orders->n + 1) * sizeof(*t->orders));
	if (!t->entries || !t->orders) {
		free(t->entries);
		free(t->orders);
		return false;
	}
	if (changed->n)
		qsort(changed->node, changed->n, sizeof(*changed->node), by_number);
	fm_problems_mark(fm, "wiring");
	for (uint32_t i = 0; i < changed->n; i++) {
		struct fm_entry *e = &t->entries[t->nentries];

		node = changed->node[i];
		changed->is[node] = false;
		fm_service_look(fm, node);
		if (!fm_publish_entry(fm, node, t->version, e))
			continue;
		if (e->differs)
			fm_mark(&c->differ, node);
		if (!memcmp(e, &fm->table.entry[node], sizeof(*e)) &&
		    fm_orders_same(orders, had, node))
			continue;
		for (const struct fm_order *o = fm_orders_first(orders, node); o;
		     o = fm_orders_next(orders, o))
			t->orders[t->norders++] = *o;
		t->nentries++;
		fm_mark(&c->part, node);
		invariant(t->nentries < 2 || e[-1].node < e->node);
		invariant(!(e->held & ~e->fault) && !(e->stalled & ~e->fault));
		if (e->state != fm->table.entry[node].state)
			fm->root->joined = false;
		move_vote(fm, &fm->table.entry[node], e, t->version);
	}
	changed->n = 0;
	fm_problems_sweep(fm, "wiring");
	return true;
}

/*
 * The first table and those after it drain all packets that joining nodes with a place had in their
 * NICs.
 */
static void forget_brought(struct fm_root *r)
{
	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		if (fm_record_no(r, i)->node != TORUS_NO_NODE)
			fm_record_no(r, i)->brought = 0;
}

/*
 * Makes and sends the table @version. Return: true if nodes came with packets that may have its
 * colour.
 */
static bool publish_table(struct fm *fm, uint64_t version)
{
	struct fm_root *r = fm->root;
	bool pause = fm_grow_table(fm, version);
	struct fm_table_msg t = {
		.term = fm->term,
		.version = version,
		.base = fm->table.version,
		.shape = fm->table.shape,
		.plan = r->plan,
		.open = r->open,
		.pause = pause,
		.line = r->line,
	};

	uint32_t cables;
	bool placed = fm_discover_place(fm, &fm->table.shape), mixed;

	t.anew = !t.base || !fm_jobs_same(&r->jobs, &fm->table.book->jobs);
	t.njobs = t.anew ? r->jobs.n : 0;
	t.jobs = r->jobs.of;

	fm_roster_forget(fm);
	fm_damp_spare(fm, NULL);
	report_unplaced(fm);
	fm_grow_look(fm);
	if (!fill_changes(fm, &t)) {
		fm_demand_put_off(fm, fm->now + fm->cfg.resend);
		return false;
	}
	fm_quorum_voters(fm, version, &t.voters);
	fm_demand_end(fm);
	if (!fm->table.version)
		forget_brought(r);
	r->version = version;
	mixed = r->brought >> version % TORUS_COLOURS & 1;
	r->clean &= (uint8_t)~(r->brought | 1u << version % TORUS_COLOURS);
	r->brought = 0;
	t.clean = r->clean;
	fm_recovery_begin(fm);
	cables = fm_cables_look(fm, &t);
	if (cables > 1)
		fm_log(fm, FM_INFO, "table", "version %llu: %s (%u links lost or back)",
		       (unsigned long long)version, fm_demand_cause(r), cables);
	else
		fm_log(fm, FM_INFO, "table", "version %llu: %s", (unsigned long long)version,
		       fm_demand_cause(r));
	fm_cables_log(fm);
	fm_member_table(fm, &t);
	for (uint32_t i = 0; fm->table.version != version && i < t.nentries; i++)
		fm_change_node(fm, t.entries[i].node);
	fm_apart_tell(fm);
	fm_isolated_report(fm, &t, fm_vanish_doubts(fm->root) > 0);
	free(t.entries);
	free(t.orders);
	if (!placed)
		fm_demand(fm, fm->cfg.member_max, "nodes wait for memory to be placed");
	if (r->early)
		fm_demand(fm, r->early_until - fm->now,
			  "nodes wait for the places of their neighbours");
	return mixed && fm->table.version == version;
}

uint64_t fm_publish_expiry(const struct fm *fm)
{
	uint64_t at = fm_demand_expiry(fm->root);

	if (at == NEVER)
		return NEVER;
	return later(later(at, fm_vanish_awaits(fm, at)),
		     earlier(fm_parts_awaits(fm), at + fm->cfg.resend));
}

void fm_publish_due(struct fm *fm)
{
	struct fm_root *r = fm->root;
	uint64_t version;
	bool doubtful, mixed = false;

	if (fm->now < fm_publish_expiry(fm))
		return;
	doubtful = !fm->table.version && r->base_seen.version < r->version_seen;
	version = next_version(fm);
	doubtful |= !fm->table.version && !r->clean;
	invariant(!version || (version > fm->table.version && version >= r->version));
	invariant(!version || !fm->table.version || r->clean >> version % TORUS_COLOURS & 1);
	if (version)
		mixed = publish_table(fm, version);
	else
		fm_demand_put_off(fm, NEVER);	/* wait until recovery.c finds the network
						 * drained */
	if ((doubtful || mixed) && fm->table.version) {
		fm_demand(fm, 0, "%s", mixed ?
			  "nodes joined whose old packets may be taken for those of this version" :
			  "root restarted in a recovery");
		fm_demand_put_off(fm, NEVER);	/* before the drain no colour is free */
	}
}
