// SPDX-License-Identifier: GPL-2.0-only
/*
 * How nodes come and go: HELLO, the parent that each node is given, and the port rows and notices
 * that come up the tree.
 */
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/join.h"
#include "daemon/fm/node/children.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/root/admin.h"
#include "daemon/fm/root/apart.h"
#include "daemon/fm/root/base.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/damp.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/dispute.h"
#include "daemon/fm/root/epoch.h"
#include "daemon/fm/root/grow.h"
#include "daemon/fm/root/grown.h"
#include "daemon/fm/root/judge.h"
#include "daemon/fm/root/news.h"
#include "daemon/fm/root/parts.h"
#include "daemon/fm/root/plan.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/ranks.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/vanish.h"
#include "lib/deps/invariant.h"
#include "lib/util/fnv.h"

static bool are_rows_same(const struct fm_row *a, const struct fm_row *b)
{
	if (a->nports != b->nports)
		return false;
	for (unsigned int p = 0; p < a->nports; p++)
		if (!fm_port_row_same(&a->port[p], &b->port[p]))
			return false;
	return true;
}

/*
 * Names a cable by its end at a port with "+", as all texts do. @port: the port row entry of the
 * near end; if the cable is wrong, only this names the other end
 */
static void name_cable(const struct fm *fm, const struct fm_port_row *port, uint32_t *node,
		       unsigned int *p)
{
	const struct torus_shape *shape = &fm->table.shape;
	const struct fm_record *o = fm_record(fm->root, port->peer_guid);

	if (*p < shape->ndims)
		return;
	if (!(fm->table.entry[*node].wiring & 1u << *p)) {
		*node = torus_neighbour(shape, *node, *p);
		*p = torus_dir_opposite(shape, *p);
	} else if (o && o->node < fm->table.nodes && port->peer_port < shape->ndims) {
		*node = o->node;
		*p = port->peer_port;
	}
}

/*
 * Writes the cause of a recovery: the first port that went up or down, if any did. Before the first
 * table, the place that a node had before may not exist in the present shape.
 */
static void write_cause(const struct fm *fm, const struct fm_record *m, const struct fm_row *now,
		      char *text, size_t room)
{
	static const char *const states[] = { "down", "up", "down" };
	char port[TORUS_TEXT_MAX], node[TORUS_TEXT_MAX];
	unsigned int p = 0;
	uint32_t id = m->node;
	const char *state;

	while (p < 2 * fm->ndims && m->row.port[p].state == now->port[p].state)
		p++;
	if (id >= fm->table.nodes || p == 2 * fm->ndims) {
		snprintf(text, room, "links of '%s'", m->name);
		return;
	}
	state = states[now->port[p].state];
	name_cable(fm, now->port[p].peer_guid ? &now->port[p] : &m->row.port[p], &id, &p);
	snprintf(text, room, "link %s:%s %s", torus_node_text(&fm->table.shape, id, node),
		 torus_port_text(fm->ndims, p, port), state);
}

/* How long a table waits for other changes: */
/* after a node has joined or is back, because others may do the same */
#define COALESCE (2 * MS)
#define OTHER_END (6 * MS)	/* after one end of a cable has reported a change: the other end
				 * reports it at nearly the same time */
#define BOTH_ENDS (MS / 4)	/* after both ends have: other cables may have changed at the same
				 * instant */

/*
 * Adds the links of @m to the port rows of nodes that have never sent HELLO to this root; such a
 * row is made from the rows of other nodes (settle.c). Otherwise, when those other nodes are gone,
 * no node would vouch for that one.
 */
static void add_to_absent(struct fm *fm, const struct fm_record *m)
{
	for (unsigned int p = 0; p < m->row.nports; p++) {
		const struct fm_port_row *port = &m->row.port[p];
		struct fm_record *o = port->state == FM_PORT_UP && port->peer_guid ?
					    fm_record(fm->root, port->peer_guid) : NULL;

		if (o && o != m && o != fm_record_no(fm->root, 0) && !o->stated.received &&
		    port->peer_port < o->row.nports)
			o->row.port[port->peer_port].peer_guid = m->guid;
	}
}

/* Processes a new port row of @m, and demands a new table if it needs one. */
static void take_row(struct fm *fm, struct fm_record *m, const struct fm_row *row)
{
	char cause[FM_TEXT_MAX / 2];
	bool known;

	fm_change_node(fm, m->node);
	if (are_rows_same(&m->row, row)) {
		m->row = *row;	/* only the serial and the reasons differ */
		return;
	}
	fm_change_place(fm, m->node);	/* the entries of silent neighbours depend on closed
					 * ports (publish.c) */
	write_cause(fm, m, row, cause, sizeof(cause));
	known = fm_damp_row(fm, m, row);
	m->row = *row;
	m->opening = 0;
	fm_damp_spare(fm, m);
	add_to_absent(fm, m);
	fm_dispute_row(fm, m);
	fm_vanish_row(fm, m);
	if (fm->root->nmissing)
		fm_roster_judge(fm);
	if (!known)
		fm_demand(fm, fm_disputed_any(fm, m) ? OTHER_END : BOTH_ENDS, "%s", cause);
	fm_news_row(fm);
}

/* Return: how many places the fabric can have; a discovered shape may still grow. */
static uint32_t count_places(const struct fm *fm)
{
	return fm->cfg.shape.ndims ? torus_nodes(&fm->cfg.shape) : TORUS_MAX_NODES;
}

/* Return: true if at least twice as many nodes are known as the fabric can have places. */
static bool is_crowded(struct fm *fm)
{
	const struct fm_root *r = fm->root;

	if (fm_roster_known(r) < 2 * count_places(fm))
		return false;
	if (r->settled)
		fm_roster_forget(fm);
	return fm_roster_known(r) >= 2 * count_places(fm);
}

/*
 * Return: true if @h contains an epoch or a version that is too high to be credible; writes the
 * reason to @text.
 */
static bool is_incredible(const struct fm *fm, const struct fm_hello *h, char *text, size_t room)
{
	uint64_t epoch = later(fm_epoch_stated(h), h->kept_term),
		 version = later(later(h->version, h->table), h->kept);

	epoch = later(epoch, h->table ? h->term : 0);
	if (epoch > fm_epoch_credible(fm)) {
		snprintf(text, room,
			 "'%s' obeys epoch %llu; a root of epoch %llu accepts %llu at most",
			 h->name, (unsigned long long)epoch, (unsigned long long)fm->term,
			 (unsigned long long)fm_epoch_credible(fm));
		return true;
	}
	if (version <= fm_version_credible(fm))
		return false;
	snprintf(text, room, "'%s' has version %llu; a root that knows %llu accepts %llu at most",
		 h->name, (unsigned long long)version,
		 (unsigned long long)later(fm->root->version, fm->root->version_seen),
		 (unsigned long long)fm_version_credible(fm));
	return true;
}

/* Return: why a HELLO must be refused, or NULL. */
static const char *find_objection(struct fm *fm, const struct fm_hello *h, char *text, size_t room)
{
	const struct fm_record *m = fm_record(fm->root, h->guid);

	if (m && m->via && (strcmp(m->name, h->name) || strcmp(m->address, h->address))) {
		snprintf(text, room, "GUID %016llx of '%s' (%s) is in use by '%s' (%s)",
			 (unsigned long long)h->guid, h->name, h->address, m->name, m->address);
		return text;
	}
	if (h->row.nports < 2 * fm->ndims) {
		snprintf(text, room, "'%s' has %u ports; a fabric of %u dimensions needs %u",
			 h->name, h->row.nports, fm->ndims, 2 * fm->ndims);
		return text;
	}
	if (!m && is_crowded(fm)) {
		snprintf(text, room,
			 "too many nodes: '%s' is refused, for %u nodes have a place and as "
			 "many others wait for one", h->name, count_places(fm));
		return text;
	}
	if (is_incredible(fm, h, text, room) || fm_plan_objection(fm, h, text, room))
		return text;
	m = fm_record_namesake(fm->root, h->name, h->guid);
	if (m) {
		snprintf(text, room, "name '%s' of %016llx (%s) is in use by %016llx (%s)", h->name,
			 (unsigned long long)h->guid, h->address, (unsigned long long)m->guid,
			 m->address);
		return text;
	}
	return NULL;
}

void fm_join_moves(struct fm *fm, uint64_t guid)
{
	struct fm_record *m = fm_record(fm->root, guid);

	if (m)
		m->moving = true;
}

#define RESTLESS 10	/* keep-alives: a node that joins again sooner than this gets a parent
			 * further up */

/* Return: true if @m is connected or about to be, so that it can be a parent. */
static bool is_there(const struct fm_record *m)
{
	return (m->via || m->moving) && m->state == FM_NODE_UP;
}

/*
 * Return: address of the parent for @m; "": the root. The tree is a heap over the roster: the
 * parent of the node with index i has index (i - 1) / fanout, or is the nearest ancestor of that
 * which is connected. A node that comes back because its parent refused it, or soon after it
 * joined, gets the next ancestor. Indices fall on the way up, so there is no cycle, and every path
 * ends at the root. If connections keep breaking, the tree becomes flat, and less has to be
 * repeated after each break. A node that may have to be asked for the latest table stays a child of
 * the root (recall.c).
 */
static const char *choose_parent(struct fm *fm, struct fm_record *m, bool joins, bool stray)
{
	const struct fm_root *r = fm->root;
	bool restless = m->joined && fm->now < m->joined + RESTLESS * fm->cfg.keepalive;
	uint32_t i = m->given;

	if (joins && !restless)
		i = fm_record_number(r, m);
	if (joins)
		m->joined = fm->now;
	if (fm_recall_keeps(fm, m))
		i = 0;
	while (i > 0 && (joins || stray || !is_there(fm_record_no(r, i)))) {
		i = (i - 1) / fm->cfg.fanout;
		joins = stray = false;
	}
	invariant(!i || i < fm_record_number(r, m));
	m->given = i;
	return i ? fm_record_no(r, i)->address : "";
}

/*
 * Reports a node whose relay_packets differ from those of the root. Each node sends as many packets
 * through relays as its own value allows at every other node; a relay with a lower value must
 * return some.
 */
static void check_relay(struct fm *fm, const struct fm_record *m,
			uint32_t packets)
{
	if (packets && fm->relay_packets && packets != fm->relay_packets)
		fm_problem_of(fm, m->node, "relay", m->guid,
			      "'%s' keeps %u packets as a relay, the root '%s' %u: set "
			      "relay_packets of all NICs to the same, or relays return what they "
			      "have no room for",
			      m->name, packets, fm->cfg.name, fm->relay_packets);
	else
		fm_problem_clear(fm, "relay", m->guid);
}

/*
 * Notes whether the NIC of @m has the bootstrap flag. A new NIC may replace a dead one, so ranks.c
 * checks the flags later.
 */
static void take_mark(struct fm *fm, struct fm_record *m, bool marked, bool fresh)
{
	bool changes = m->marked != marked;

	m->marked = marked;
	if (changes && !(fresh && fm->root->settled))
		fm_ranks_marked(fm);
}

/*
 * Return: the node id that the node had before this root: by the latest table, or else by its
 * HELLO.
 */
static uint32_t former_place(const struct fm *fm, const struct fm_hello *h)
{
	const struct fm_root *r = fm->root;
	uint32_t node = fm_recall_has_latest(fm) ? fm_recall_place(fm, h->guid) : TORUS_NO_NODE;

	if (node != TORUS_NO_NODE)
		return node;
	if (h->placed && !memcmp(&h->shape, &r->shape, sizeof(h->shape)))
		return torus_node_id(&h->shape, &h->coords);
	return fm_recall_place(fm, h->guid);
}

/*
 * Return: true if the NIC of the node has rows, and is at the place that the node has, or will
 * have.
 */
static bool works_there(const struct fm *fm, const struct fm_record *m, const struct fm_hello *h)
{
	const struct fm_root *r = fm->root;
	const struct torus_shape *shape = r->settled ? &fm->table.shape : &r->shape;

	return h->placed && h->version && !memcmp(&h->shape, shape, sizeof(*shape)) &&
	       m->node == torus_node_id(&h->shape, &h->coords);
}

/*
 * Return: mask of the colours of packets that may be in the NIC of a node that was @away, or whose
 * manager was restarted: the colour of its rows, and those that were not clean (drained) by the
 * last message of its root. If the node was away, the latter are known only if its NIC has the rows
 * of its manager's table: a restarted manager has no table, and a manager whose NIC failed received
 * tables whose drains did not include its NIC.
 */
static uint8_t find_brought(const struct fm *fm, const struct fm_hello *h, bool away)
{
	uint8_t clean = 0;

	if (h->table && (!away || h->table == h->version))
		clean = h->clean;
	else if (!away && h->rows_term == fm->term)
		clean = UINT8_MAX;	/* all drains of this root have included this NIC */
	return h->version ? (uint8_t)(~clean | 1u << h->version % TORUS_COLOURS) : 0;
}

/* Stores all statements of a HELLO that is not outdated. */
static void take_statements(struct fm *fm, struct fm_record *m, const struct fm_hello *h,
			    bool fresh)
{
	struct fm_root *r = fm->root;
	bool away = fresh || m->state != FM_NODE_UP;
	bool back = m->state != FM_NODE_UP || m->epoch != h->epoch, updated;

	if (!fresh && m->epoch != h->epoch) {
		fm_base_forget(fm->root);
		m->attach = 0;
	}
	m->epoch = h->epoch;
	m->state = FM_NODE_UP;
	m->missing = 0;
	fm_problem_clear(fm, "node", m->guid);
	m->version = h->version;
	if (fresh || back || m->priority != h->priority)
		fm_ranks_look(fm);
	m->priority = h->priority;
	m->stated.disk.keeps = h->keeps;
	updated = !fresh && !m->jobs;
	m->jobs = h->jobs;
	if (updated || !m->jobs)
		fm_apart_tell(fm);
	fm_plan_hello(fm, m, h);
	fm_recall_hello(fm, h);
	fm_record_name(r, m, h->name);
	strcpy(m->address, h->address);
	check_relay(fm, m, h->relay_packets);
	take_mark(fm, m, h->marked, fresh);
	if (fresh || back)
		fm_base_count(fm, m, h);
	if (away || back) {
		uint8_t brought = find_brought(fm, h, away);

		if (fm->table.version)
			r->brought |= brought;
		if (m->node == TORUS_NO_NODE || !fm->table.version)
			m->brought |= brought;
	}
	if (h->version > r->version_seen)
		r->version_seen = h->version;
	if (h->kept > r->version_kept)
		r->version_kept = h->kept;
	/* The node has missed versions, or has a version of a former root. */
	if (h->placed && h->version != r->version &&
	    (fm_recovery_phase(r) == FM_PHASE_REST || h->version > r->version))
		fm_demand(fm, COALESCE, "node '%s' has version %llu", m->name,
				 (unsigned long long)h->version);
	if (fresh || m->node == TORUS_NO_NODE)
		fm_demand(fm, COALESCE, "node '%s' joins", m->name);
	if (m->node == TORUS_NO_NODE)
		memcpy(m->position, h->position, sizeof(m->position));
	if (!r->settled && m->node == TORUS_NO_NODE)
		fm_record_move(fm, m, former_place(fm, h));
	m->worked_at = r->settled && h->placed &&
		       !memcmp(&h->shape, &fm->table.shape, sizeof(h->shape)) ?
		       torus_node_id(&h->shape, &h->coords) : TORUS_NO_NODE;
	m->bare = !works_there(fm, m, h);
	r->bare |= m->bare;
	fm_parts_hello(fm, m);
	fm_grow_hello(fm, m, h);
	if (back && r->settled)
		fm_demand(fm, COALESCE, "node '%s' is back", m->name);
	if (back)
		fm_judge_beside(fm, m, &h->row);
	take_row(fm, m, &h->row);
	if (fresh)
		fm_news_node(fm);
	else
		fm_news_row(fm);
}

/* Processes a HELLO of @m, of which possibly only the GUID was known before. */
static void take_hello(struct fm *fm, const struct fm_conn *c, struct fm_record *m,
		       const struct fm_hello *h)
{
	bool fresh = !fm_record_joined(m);

	fm->root->joiners += fresh;
	if (fresh)
		fm_log_of(fm, m->node, FM_INFO, "node", "'%s' (%s) joins", h->name, h->address);
	if (c->role != FM_CONN_CHILD)
		fm_roster_forget_below(fm, h->guid);
	/*
	 * A HELLO that is repeated on the same connection may be outdated: compare the serial of
	 * its port row.
	 */
	if (c->role != FM_CONN_CHILD || (int32_t)(h->row.serial - m->row.serial) > 0)
		take_statements(fm, m, h, fresh);
}

static void send_welcome(struct fm *fm, struct fm_conn *c, struct fm_record *m,
			 const struct fm_hello *h)
{
	struct fm_msg msg = { .type = FM_MSG_WELCOME };

	take_hello(fm, c, m, h);
	msg.welcome.term = fm->term;
	msg.welcome.root_guid = fm->guid;
	msg.welcome.adrift = fm->cut_off;
	if (msg.welcome.adrift)
		fm_claim_count(fm->root, &msg.welcome.here, &msg.welcome.need);
	strcpy(msg.welcome.parent, choose_parent(fm, m, c->role != FM_CONN_CHILD, h->stray));
	c->guest = msg.welcome.parent[0];
	fm_conn_send(fm, c, &msg);
	fm_child_accept(fm, c, &(struct fm_hello) { .guid = h->guid,
							 .epoch = h->epoch,
							 .attach = h->attach });
}

/*
 * Return: how long the node is still banned because it did not report to this root (judge.c); 0: it
 * is not.
 */
static uint64_t banned_for(const struct fm *fm, const struct fm_hello *h)
{
	const struct fm_record *m = fm_record(fm->root, h->guid);

	if (!m || m->epoch != h->epoch || fm->now >= m->banned || !fm_claim_leads(fm))
		return 0;
	return m->banned - fm->now;
}

/*
 * Return: key of the problem of a refused node. Two NICs may have the same GUID; then their
 * addresses differ.
 */
static uint64_t refusal_key(const struct fm_hello *h)
{
	return fm_mix(h->guid) ^ fm_mix(fnv1a(FNV1A_START, h->address));
}

/* A refused node keeps asking. If it has not asked for this long, its problem ends. */
#define REFUSED_MAX (60 * SEC)

static void report_refused(struct fm *fm, const struct fm_hello *h, const char *why)
{
	fm_problem_set(fm, "refused", refusal_key(h), "%s", why);
	fm_problem_limit(fm, "refused", refusal_key(h), fm->now + REFUSED_MAX);
}

void fm_join_hello(struct fm *fm, struct fm_conn *c, const struct fm_hello *h)
{
	struct fm_record *m;
	char text[FM_TEXT_MAX];
	const char *why = find_objection(fm, h, text, sizeof(text));
	uint64_t ban = why ? 0 : banned_for(fm, h);

	if (ban) {	/* the reason for the ban is reported as a problem of its own */
		fm_child_defer(fm, c, ban,
			       "it has not reported what it was asked for, and may join again "
			       "later");
		return;
	}
	if (why) {
		report_refused(fm, h, why);
		fm_child_refuse(fm, c, why);
		return;
	}
	fm_problem_clear(fm, "refused", refusal_key(h));
	m = fm_record(fm->root, h->guid);
	if (!m) {
		m = fm_record_add(fm->root, h->guid);
		if (m)
			/* the node counts as dead until its HELLO is accepted */
			m->state = FM_NODE_DEAD;
	}
	if (!m) {
		fm_child_refuse(fm, c, "the root is out of memory");
		return;
	}
	fm_recall_ask(fm, c, h);
	fm_parts_ask(fm, c, h);
	if (fm_claim_hello(fm, c, m, h))
		send_welcome(fm, c, m, h);
	else if (!fm_claim_leads(fm))
		take_hello(fm, c, m, h);
	fm_recall_fetch(fm, c, h);
}

/* --- messages from below ---------------------------------------------------- */

/* Return: the node that a notice is about; NULL if the notice is outdated or invalid. */
static struct fm_record *find_noticed(const struct fm *fm, const struct fm_left *l)
{
	struct fm_record *m = fm_record(fm->root, l->guid);

	if (!m || m == fm_record_no(fm->root, 0) || l->guid == l->parent)
		return NULL;
	return m->epoch == l->epoch && l->attach >= m->attach ? m : NULL;
}

static void take_left(struct fm *fm, const struct fm_left *l)
{
	struct fm_record *m = find_noticed(fm, l);

	if (!m)
		return;
	m->attach = l->attach + 1;
	fm_record_missing(fm, m);
	fm_roster_forget_below(fm, l->guid);
	fm_log(fm, FM_DEBUG, "node", "connection to '%s' lost", m->name);
}

static void take_adopted(struct fm *fm, const struct fm_left *l)
{
	struct fm_record *m = find_noticed(fm, l);

	if (!m)
		return;
	m->attach = l->attach;
	fm_record_via(fm->root, m, l->parent);
	fm_vanish_adopted(fm, m);
	/*
	 * The root judged the node dead because this notice came late. A node with a place sees
	 * that in the table, and joins again. A node without a place is in no table, so it is
	 * revived here.
	 */
	if (m->state == FM_NODE_DEAD && m->node == TORUS_NO_NODE) {
		m->state = FM_NODE_UP;
		fm_problem_clear(fm, "node", m->guid);
		fm_demand(fm, COALESCE, "node '%s' is back", m->name);
	}
}

/* Processes a table that a node has sent: its own one (@former), or the one that it has kept. */
static void take_sent_table(struct fm *fm, const struct fm_table_msg *t)
{
	fm_parts_sent(fm, t);
	if (!t->former && !fm->root->settled)
		fm_recall_kept(fm, t);
	if (t->former && fm_recall_sent(fm, t))
		fm_quorum_sent(fm);
	fm_claim_look(fm);
}

void fm_join_msg(struct fm *fm, const struct fm_msg *msg)
{
	struct fm_record *m;

	switch (msg->type) {
	case FM_MSG_ROW:
		m = fm_record(fm->root, msg->row.guid);
		if (m && m->epoch == msg->row.epoch &&
		    (int32_t)(msg->row.row.serial - m->row.serial) > 0)
			take_row(fm, m, &msg->row.row);
		break;
	case FM_MSG_LEFT:
		take_left(fm, &msg->left);
		break;
	case FM_MSG_ADOPTED:
		take_adopted(fm, &msg->left);
		break;
	case FM_MSG_FAILED:
		fm_judge_failed(fm, &msg->failed);
		break;
	case FM_MSG_TABLE:
		take_sent_table(fm, &msg->table);
		break;
	case FM_MSG_LEAD:
		if (msg->lead.term == fm->term)
			fm_admin_ready(fm, msg->lead.guid);
		break;
	case FM_MSG_KEPT:
		fm_admin_kept(fm, &msg->kept);
		break;
	case FM_MSG_GROWN:
		fm_grown_take(fm, &msg->grown);
		break;
	}
}
