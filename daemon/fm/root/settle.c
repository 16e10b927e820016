// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: when the first table is made
 *
 * The root settles: it decides on shape and places, and makes its first table.
 *
 *	condition						time
 *	complete: every port that is up leads to a node that	at once
 *	has joined, and there are as many nodes as the shape
 *	has or, if the shape is to be discovered, every port
 *	of every node is up
 *	complete by a former table: each node that was up or	at once
 *	silent in the latest table has joined, or a neighbour
 *	that has joined has lost its link to it
 *	a port row names nodes that have not joined		after member_max without news
 *	something else is missing				after `quiet` without news
 *	the root is alone, but has cables			not at all: a neighbour must join
 *
 * The times by the clock are longer on a root that gets too little processor time (node/lag.c).
 *
 * A root that starts again on a placed NIC, and whose manager stood still (node/lag.c),
 * waits for nodes that have not joined until it may call nodes dead.
 *
 * Because of the second condition the first table does not wait for the former root's host, which
 * is lost. A node that joins later is placed then, or the discovered shape grows by it (grow.c).
 * news.c limits how long news can delay the first table.
 *
 * A root that starts again on a placed NIC keeps the shape, and waits in the same way, twice as
 * long, for the nodes to come back; the network works on meanwhile. Nodes that do not come although
 * their links are up enter the table as silent: their NICs have rows and traffic, and must not be
 * cut off.
 *
 * Tests: tests/unit/test_fm_settle.c, tests/unit/test_fm_settling.c.
 */
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/settle.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/task.h"
#include "daemon/fm/root/base.h"
#include "daemon/fm/root/cables.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/discover.h"
#include "daemon/fm/root/news.h"
#include "daemon/fm/root/parts.h"
#include "daemon/fm/root/plan.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/service.h"
#include "daemon/fm/root/tally.h"
#include "daemon/fm/root/former.h"
#include "daemon/fm/status.h"
#include "lib/deps/invariant.h"

#define REPORTED_MAX 16	/* most problems about nodes that have not joined, because other kinds
			 * need room in the list, too */
#define LONELY (30000 * MS)	/* after this long without another node, a problem is reported */

/* Return: true if a port of @m that the fabric uses leads to a node that has not joined. */
static bool has_unjoined(const struct fm *fm, const struct fm_record *m, bool *gap)
{
	bool found = false;

	for (unsigned int p = 0; p < 2 * fm->ndims && p < m->row.nports; p++) {
		const struct fm_port_row *port = &m->row.port[p];

		if (port->state != FM_PORT_UP)
			*gap = true;
		else if (port->peer_guid && !port->problem &&
			 !fm_record_joined(fm_record(fm->root, port->peer_guid)))
			found = true;
	}
	return found;
}

/* Return: true if the shape is known, and as many nodes have joined as it has. */
static bool is_whole_shape(const struct fm *fm)
{
	const struct torus_shape *s = fm->root->restored ? &fm->root->shape : &fm->cfg.shape;

	return fm->root->joiners == torus_nodes(s);	/* torus_nodes() is 0 if the shape is not
							 * known */
}

/* Return: true if this root waits for a first neighbour. */
static bool awaits_neighbour(const struct fm *fm)
{
	const struct fm_root *r = fm->root;

	return !r->settled && !r->restored && !fm->cfg.shape.ndims && fm->cabled &&
	       r->joiners == 1;
}

/*
 * Return: true if the former table has a working link there, between two nodes that were not dead.
 */
static bool was_linked(const struct fm_book *former, uint32_t node, unsigned int p)
{
	const struct fm_entry *e = &former->entry[node];
	const struct fm_entry *o = &former->entry[torus_neighbour(&former->shape, node, p)];

	return e->state != FM_NODE_ABSENT && e->state != FM_NODE_DEAD && !(e->fault & 1u << p) &&
	       o->state != FM_NODE_ABSENT && o->state != FM_NODE_DEAD &&
	       !(o->fault & 1u << torus_dir_opposite(&former->shape, p));
}

/*
 * Return: true if a node that has joined has lost its link to its neighbour @node of the former
 * table.
 */
static bool is_lost(const struct fm *fm, const struct fm_book *former, uint32_t node)
{
	for (unsigned int p = 0; p < 2u * former->shape.ndims; p++) {
		uint64_t guid = former->entry[torus_neighbour(&former->shape, node, p)].guid;
		const struct fm_record *m = fm_record(fm->root, guid);
		unsigned int q = torus_dir_opposite(&former->shape, p);

		if (was_linked(former, node, p) && fm_record_joined(m) && q < m->row.nports &&
		    (m->row.port[q].state != FM_PORT_UP ||
		     m->row.port[q].peer_guid != former->entry[node].guid))
			return true;
	}
	return false;
}

/* Return: true if each node that was up or silent in the latest table has joined, or is lost. */
static bool are_all_known(const struct fm *fm)
{
	const struct fm_past latest = fm_former_id(&fm->root->former);
	const struct fm_voters *voters;
	const struct fm_book *former = fm_recall_table(fm, &latest, &voters);

	if (!former || !fm->root->restored ||
	    memcmp(&former->shape, &fm->root->shape, sizeof(former->shape)))
		return false;
	for (uint32_t i = 0; i < former->nodes; i++) {
		const struct fm_entry *e = &former->entry[i];

		if (e->state != FM_NODE_ABSENT && e->state != FM_NODE_DEAD &&
		    !fm_record_joined(fm_record(fm->root, e->guid)) && !is_lost(fm, former, i))
			return false;
	}
	return true;
}

/*
 * Return: ns to wait for nodes that port rows name and that have not joined. A root that has the
 * latest table, with all exclusions, does not need their HELLOs, so it waits for a shorter time:
 * the fabric has waited for a root already.
 */
static uint64_t node_wait(const struct fm *fm)
{
	if (fm->table.version && fm->root->restored)
		return fm->cfg.quiet + fm_lag_answer(fm);
	return (fm->root->restored ? 2 : 1) * fm->cfg.member_max + fm_lag_answer(fm);
}

/* Return: when the root stops waiting for nodes, as far as is known now. */
static uint64_t nodes_at(const struct fm *fm)
{
	struct fm_root *r = fm->root;
	bool waits = false, gap;

	/*
	 * One port row that names such a node is enough; first examine the node that was found last
	 * time.
	 */
	if (has_unjoined(fm, fm_record_no(r, r->witness), &gap))
		return fm_news_last(r) + node_wait(fm);
	gap = false;
	for (uint32_t i = 0; i < fm_roster_size(r) && !waits; i++) {
		uint32_t at = (r->witness + i) % fm_roster_size(r);

		waits = has_unjoined(fm, fm_record_no(r, at), &gap);
		if (waits)
			r->witness = at;
	}
	if (waits)
		return fm_news_last(r) + node_wait(fm);
	if (is_whole_shape(fm) || (!gap && !fm->cfg.shape.ndims && !r->restored) ||
	    are_all_known(fm))
		return fm_news_last(r);
	return fm_news_last(r) + fm->cfg.quiet + fm_lag_answer(fm);
}

/*
 * Return: when the root settles. If a node was asked for the latest former table, the root also
 * waits for that, because it contains the places and exclusions of nodes that do not join.
 */
static uint64_t settle_at(const struct fm *fm)
{
	const struct fm_root *r = fm->root;

	if (r->settled || awaits_neighbour(fm) || r->stage != FM_STAGE_LEADS)
		return NEVER;
	return later(later(later(nodes_at(fm), r->plan_again), fm_recall_awaits(fm)),
		     r->restored && !is_whole_shape(fm) ? fm_lag_doubts(fm) : 0);
}

uint64_t fm_settle_expiry(const struct fm *fm)
{
	if (awaits_neighbour(fm))
		return fm->root->alone ? NEVER : fm->root->since + LONELY;
	return settle_at(fm);
}

/* Begins or ends the problem that no other node has joined. */
static void check_alone(struct fm *fm)
{
	if (!awaits_neighbour(fm)) {
		if (fm->root->alone)
			fm_problem_clear(fm, "bootstrap", 1);
		fm->root->alone = false;
	} else if (!fm->root->alone && fm->now >= fm->root->since + LONELY) {
		fm->root->alone = true;
		fm_problem_set(fm, "bootstrap", 1,
			       "no other node joined for 30 s: do neighbours run, with links that "
			       "are up? shape = auto finds nothing without them");
	}
}

/*
 * Adds a silent node, which has not joined, but to which a neighbour has a link. Return: NULL if
 * there is no memory.
 */
static struct fm_record *add_silent(struct fm *fm, const struct torus_shape *shape,
				    uint64_t guid, uint32_t node)
{
	struct fm_record *m = fm_record(fm->root, guid);

	if (!m)
		m = fm_record_add(fm->root, guid);
	if (!m)
		return NULL;
	fm_record_move(fm, m, node);
	m->state = FM_NODE_SILENT;
	m->bare = false;	/* it is assumed that its NIC has this place already */
	fm_record_missing(fm, m);
	m->row.nports = (uint8_t)(2 * shape->ndims);
	for (unsigned int p = 0; p < m->row.nports; p++) {
		m->row.port[p].state = FM_PORT_UP;
		m->row.port[p].peer_port = (uint8_t)torus_dir_opposite(shape, p);
	}
	fm->root->base.known = 0;
	return m;
}

/*
 * Return: true if the cable at @port of a node leads to another fabric. A neighbour without a table
 * takes a node that obeys another root for one of another fabric, but the node may be of this
 * fabric, which the former table shows: then it is about to follow this root, or cannot reach it.
 */
static bool leads_abroad(const struct fm_port_row *port, struct fm_book *former)
{
	if (port->problem != FM_PROBLEM_ROOT)
		return port->problem;
	return !former || fm_book_find(former, port->peer_guid) == TORUS_NO_NODE;
}

/*
 * Adds as silent the nodes that have not joined, but to which joined nodes have links.
 * @former: the table that the NICs have; NULL: it is not known
 */
static void find_silent(struct fm *fm, const struct torus_shape *shape, struct fm_book *former)
{
	uint32_t joined = fm_roster_size(fm->root);

	for (uint32_t i = 0; i < joined; i++) {
		for (unsigned int p = 0; p < 2u * shape->ndims; p++) {
			const struct fm_record m = *fm_record_no(fm->root, i);
			const struct fm_port_row *port = &m.row.port[p];
			struct fm_record *o = fm_record(fm->root, port->peer_guid);

			if (m.node == TORUS_NO_NODE || port->state != FM_PORT_UP ||
			    !port->peer_guid || leads_abroad(port, former) ||
			    port->peer_port != torus_dir_opposite(shape, p))
				continue;
			if (!fm_record_joined(o) && (!o || o->state == FM_NODE_DEAD))
				o = add_silent(fm, shape, port->peer_guid,
					       torus_neighbour(shape, m.node, p));
			if (o && o->state == FM_NODE_SILENT)
				o->row.port[port->peer_port].peer_guid = m.guid;
		}
	}
}

/*
 * Adds as silent the node at the other end of port @p of the silent node with index @i, if no port
 * row names it and the former table has a link there. Return: true if a node was added. The other
 * node gets the link in its own turn.
 */
static bool find_behind(struct fm *fm, const struct fm_book *former, uint32_t i, unsigned int p)
{
	const struct fm_record *m = fm_record_no(fm->root, i);
	uint32_t node = torus_neighbour(&former->shape, m->node, p);
	uint64_t guid = former->entry[node].guid;
	const struct fm_record *o = fm_record(fm->root, guid);
	bool known = o && o->state == FM_NODE_SILENT;

	if (m->row.port[p].peer_guid || !was_linked(former, m->node, p) || fm_record_joined(o))
		return false;
	if (!known && !add_silent(fm, &former->shape, guid, node))
		return false;
	fm_record_no(fm->root, i)->row.port[p].peer_guid = guid;
	return !known;
}

/*
 * Adds silent nodes that no port row of a joined node names, because each neighbour is silent, too,
 * or has lost its link. Their NICs may work on, so the links between silent nodes are taken from
 * the former table. A node is dead only if each neighbour that has joined, or is silent, has lost
 * its link. One lost link proves only that one cable is cut: judge.c calls the node silent as well.
 */
static void find_silent_behind(struct fm *fm, const struct fm_book *former)
{
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t i = 0; i < fm_roster_size(fm->root); i++)
			for (unsigned int p = 0; p < 2u * former->shape.ndims; p++) {
				const struct fm_record *m = fm_record_no(fm->root, i);

				if (m->state == FM_NODE_SILENT && m->node < former->nodes)
					more |= find_behind(fm, former, i, p);
			}
	}
}

/*
 * Adds the nodes of the former table that have not joined, with their names and places. Those that
 * no link leads to are dead.
 */
static void add_former(struct fm *fm, const struct fm_book *former, const struct fm_voters *voters)
{
	for (uint32_t i = 0; i < former->nodes; i++) {
		const struct fm_entry *e = &former->entry[i];
		bool known = e->state != FM_NODE_ABSENT;
		struct fm_record *m = known ? fm_record(fm->root, e->guid) : NULL;

		if (!known || fm_record_joined(m))
			continue;
		if (!m)
			m = fm_record_add(fm->root, e->guid);
		if (!m)
			return;
		/* The node is new here, or was asked to obey this root and has not promised yet. */
		if (m->node == TORUS_NO_NODE) {
			m->state = FM_NODE_DEAD;
			m->row.nports = (uint8_t)(2 * former->shape.ndims);
			fm_record_move(fm, m, i);
		}
		m->unjoined = true;
		m->epoch = e->epoch;
		fm_quorum_former(fm, m, voters, e);
		fm_record_name(fm->root, m, e->name);
		strcpy(m->address, e->address);
	}
}

static const char linked[] = ": it has not joined since this root leads, but has a link to a node";
static const char unlinked[] = ": it has not joined since this root leads, and no node that has "
			       "joined has a link to it";

/*
 * Reports at most REPORTED_MAX of the nodes that have not joined as problems (fabricctl nodes lists
 * all). A node in whose place another one was found was replaced. Return: how many have not joined.
 */
static unsigned int report_unjoined(struct fm *fm)
{
	unsigned int reported = 0, unjoined = 0;

	for (uint32_t i = 0; i < fm_roster_size(fm->root); i++) {
		struct fm_record *m = fm_record_no(fm->root, i);

		unjoined += m->unjoined;
		if (m->unjoined && m->node != TORUS_NO_NODE && reported < REPORTED_MAX)
			reported += fm_service_gone(fm, m,
						    m->state == FM_NODE_DEAD ? unlinked : linked);
		m->unjoined = false;
	}
	return unjoined;
}

/* The table is allocated last, because that replaces the present one. */
bool fm_settle_room(struct fm *fm, const struct torus_shape *shape)
{
	struct fm_root *r = fm->root;
	uint32_t nodes = torus_nodes(shape);

	r->admin = calloc(nodes, sizeof(*r->admin));
	r->at = calloc(nodes, sizeof(*r->at));
	r->seat = calloc(nodes, sizeof(*r->seat));
	if (r->admin && r->at && r->seat && fm_changes_new(r, nodes) && fm_tally_new(r, nodes) &&
	    fm_table_begin(fm, shape))
		return true;
	fm_changes_free(r);
	fm_tally_free(r);
	free(r->at);
	free(r->admin);
	free(r->seat);
	r->seat = NULL;
	r->at = NULL;
	r->admin = NULL;
	return false;
}

/* Decides on shape and places, and demands the first table. */
static void settle_fabric(struct fm *fm)
{
	struct fm_root *r = fm->root;
	struct torus_shape shape = fm->cfg.shape;
	struct fm_voters voters;
	char text[TORUS_TEXT_MAX];
	struct fm_book *former;
	uint32_t nodes, unjoined;

	if (r->restored)
		shape = r->shape;
	else if (!shape.ndims && !fm_discover_shape(fm, &shape))
		return;
	if (!fm_plan_settle(fm, &shape))
		return;
	nodes = torus_nodes(&shape);
	former = fm_recall_book(fm, &shape, &voters);
	if (!fm_settle_room(fm, &shape)) {
		fm_problem_set(fm, "memory", 0, "no memory for a table of %u nodes", nodes);
		fm_book_put(former);
		return;
	}
	fm_problem_clear(fm, "memory", 0);
	memcpy(fm->size, shape.size, sizeof(fm->size));
	if (r->restored || r->version_seen)
		fm_base_restore(fm);
	fm_recall_end(fm, &shape, former);
	if (r->former.epoch)
		r->open = r->former.open;
	fm_parts_end(fm);
	if (r->restored)
		find_silent(fm, &shape, former);
	if (former) {
		find_silent_behind(fm, former);
		add_former(fm, former, &voters);
	}
	if (former && former != fm->kept.book)
		fm_cables_former(fm, &former->shape, former->entry);
	fm_book_put(former);
	for (uint32_t i = 0; i < fm_roster_size(r); i++) {
		uint32_t node = fm_record_no(r, i)->node;

		if (node < nodes && !r->at[node])
			r->at[node] = i + 1;
		else if (node != TORUS_NO_NODE)
			fm_record_move(fm, fm_record_no(r, i), TORUS_NO_NODE);
		invariant(fm_record_no(r, i)->node == TORUS_NO_NODE ||
			  r->at[fm_record_no(r, i)->node] == i + 1);
		fm_change_node(fm, fm_record_no(r, i)->node);
		fm_record_no(r, i)->fixed = fm_record_no(r, i)->node != TORUS_NO_NODE;
	}
	r->settled = true;
	fm_task_forgive(fm);
	r->version = r->version_seen;
	fm_discover_place(fm, &shape);
	unjoined = report_unjoined(fm);
	fm_log(fm, FM_INFO, "bootstrap", "shape %s, %u of %u nodes", torus_shape_text(&shape, text),
	       fm_roster_size(r) - unjoined, nodes);
	fm_demand(fm, 0, "%s", r->version ? fm_claim_why(r) : "bootstrap");
}

void fm_settle_due(struct fm *fm)
{
	check_alone(fm);
	if (fm->now >= settle_at(fm)) {
		settle_fabric(fm);
		if (!fm->root->settled)
			fm_news_again(fm);
	}
}
