// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: hosts that vanish
 *
 * A process that dies closes its connections. A host that loses its power does not: its parent and
 * its children in the tree would wait for it until their keep-alives end, and so would all flows
 * that the recovery holds. The links to it are lost sooner. Both ends of a cable notice its loss at
 * nearly the same time. So:
 *
 *  - A node is late if a neighbour has reported the loss of a link that the node's own last row
 *    still has as up. It may merely be slow.
 *  - A node is reliable if it is connected, not late, and not below a late node in the tree (then
 *    its reports would not arrive).
 *  - A reliable neighbour that has a link to a late node vouches for it. A cabinet that loses its
 *    power has nodes inside, whose loss no other node notices. So a neighbour that vouches must
 *    also be joined to the root by links between reliable nodes. The nodes inside become late when
 *    the nodes around them are lost, so a cabinet is detected from the outside to the inside.
 *  - A late node for which no neighbour vouches is probed: a manager that lives accepts a
 *    connection. It is probed at once if no reliable neighbour reports a link to it as up, else
 *    after WAIT. A node that is still late WAIT after the first report, and has not accepted the
 *    connection within PROBE_WAIT, is declared lost. Both times are longer if this manager itself
 *    handles messages late (node/lag.c): the row or the answer may have arrived without being
 *    processed. A manager that was stopped declares no node lost for a while.
 *  - A new table waits until the probe ends, PROBE_WAIT at most. If the node is lost, the table
 *    then shows it as lost: otherwise all nodes would make rows by it, and again by the next table.
 *
 * To declare a node lost means only to end its connections. It is then missing, as after any
 * connection that broke, and judge.c decides if it is dead. A mistake is safe: a node that lives
 * joins again, which costs one more table. The root closes its own connections to that node, and
 * sends DROP to the node's parent and children, so that they close theirs. If these are not
 * children of the root, it opens a new connection for that, because the tree between them may be
 * lost, too.
 *
 * Tests: tests/unit/test_fm_vanish.c, tests/sim/test_vanish.c.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/root/vanish.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/tree.h"
#include "daemon/fm/root/isolated.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "lib/deps/invariant.h"

#define PROBE_WAIT (2 * MS)	/* time for a manager that lives to accept a connection */
#define WAIT (3 * MS)	/* how long a node that lives may need to report a loss after its
			 * neighbour has */
#define DEPTH_MAX 64	/* limit of the depth of the tree, in which outdated notices may make a
			 * cycle for a while */
#define PART_MAX 1024	/* most nodes that a search visits; a larger part of a fabric does not
			 * vanish at once */

/**
 * struct fm_vanish - nodes that are late
 * @doubted, @n: roster indices of the late nodes, and their number
 * @at: when they are checked next; NEVER: there is none
 * @awaits: when all nodes that were probed will be declared lost; 0: none was probed
 */
struct fm_vanish {
	uint32_t *doubted;
	uint32_t n, room;
	uint64_t at, awaits;
};

bool fm_vanish_new(struct fm_root *r)
{
	r->vanish = calloc(1, sizeof(*r->vanish));
	if (r->vanish)
		r->vanish->at = NEVER;
	return r->vanish;
}

void fm_vanish_free(struct fm_root *r)
{
	if (!r->vanish)
		return;
	free(r->vanish->doubted);
	free(r->vanish);
}

uint32_t fm_vanish_doubts(const struct fm_root *r)
{
	return r->vanish->n;
}

/*
 * Return: the port row entry of the other end of the link at port @p of @m; its node is written to
 * @o; NULL: it is not known.
 */
static const struct fm_port_row *far_end(const struct fm *fm, const struct fm_record *m,
					 unsigned int p, const struct fm_record **o)
{
	const struct fm_port_row *mine = &m->row.port[p], *its;

	*o = mine->peer_guid ? fm_record(fm->root, mine->peer_guid) : NULL;
	if (!*o || *o == m || mine->peer_port >= (*o)->row.nports)
		return NULL;
	its = &(*o)->row.port[mine->peer_port];
	return its->peer_guid == m->guid ? its : NULL;
}

/* Return: true if @m reports a link as up that is lost, or that leads to a lost node. */
static bool reports_lost_link(const struct fm *fm, const struct fm_record *m)
{
	const struct fm_record *o;

	for (unsigned int p = 0; p < m->row.nports; p++) {
		const struct fm_port_row *its = far_end(fm, m, p, &o);

		if (its && m->row.port[p].state == FM_PORT_UP &&
		    (its->state != FM_PORT_UP || o->state == FM_NODE_DEAD || (!o->via && o->lost)))
			return true;
	}
	return false;
}

/* Return: true if @m is reliable: see the head of this file. */
static bool is_reliable(const struct fm *fm, const struct fm_record *m)
{
	const struct fm_root *r = fm->root;

	if (!m->via || m->state != FM_NODE_UP)
		return false;
	for (unsigned int i = 0; i < DEPTH_MAX && m != fm_record_no(r, 0); i++) {
		if (reports_lost_link(fm, m))
			return false;
		if (!m->above)
			break;
		m = fm_record_no(r, m->above - 1);
	}
	return true;
}

/*
 * Adds the reliable nodes that @m has links to to @part, which has @n nodes. Return: their number
 * now.
 */
static unsigned int add_reliable(struct fm *fm, const struct fm_record *m, uint32_t *part,
				 unsigned int n)
{
	struct fm_root *r = fm->root;
	const struct fm_record *o;

	for (unsigned int p = 0; p < m->row.nports && n < PART_MAX; p++) {
		const struct fm_port_row *its = far_end(fm, m, p, &o);
		uint32_t number = its ? fm_record_number(r, o) : 0;

		if (!its || m->row.port[p].state != FM_PORT_UP || its->state != FM_PORT_UP ||
		    o->search == r->search || !is_reliable(fm, o))
			continue;
		fm_record_no(r, number)->search = r->search;
		part[n++] = number;
	}
	return n;
}

/* Return: true if links between reliable nodes join the reliable node @m to the root. */
static bool is_joined(struct fm *fm, const struct fm_record *m)
{
	struct fm_root *r = fm->root;
	uint32_t part[PART_MAX] = { fm_record_number(r, m) };
	unsigned int n = 1;

	fm_record_no(r, part[0])->search = ++r->search;
	for (unsigned int i = 0; i < n && n < PART_MAX; i++) {
		if (fm_record_no(r, part[i]) == fm_record_no(r, 0))
			return true;
		n = add_reliable(fm, fm_record_no(r, part[i]), part, n);
	}
	return n == PART_MAX;
}

/* Return: true if a neighbour vouches for @m. */
static bool is_vouched(struct fm *fm, const struct fm_record *m)
{
	const struct fm_record *o;

	for (unsigned int p = 0; p < m->row.nports; p++) {
		const struct fm_port_row *its = far_end(fm, m, p, &o);

		if (its && its->state == FM_PORT_UP && is_reliable(fm, o) && is_joined(fm, o))
			return true;
	}
	return false;
}

static void check_soon(struct fm *fm)
{
	fm->root->vanish->at = earlier(fm->root->vanish->at, fm->now + WAIT);
}

/*
 * Adds @m to the late nodes. If there is no memory, only its keep-alive will show that it is lost.
 */
static void add_doubt(struct fm *fm, struct fm_record *m)
{
	struct fm_vanish *v = fm->root->vanish;
	uint32_t room = v->room ? 2 * v->room : 16, *more;

	if (m->doubted || m->lost || m->state != FM_NODE_UP || m == fm_record_no(fm->root, 0))
		return;
	if (v->n == v->room) {
		more = realloc(v->doubted, room * sizeof(*more));
		if (!more)
			return;
		v->doubted = more;
		v->room = room;
	}
	m->doubted = fm->now;
	v->doubted[v->n++] = fm_record_number(fm->root, m);
}

/* Opens a connection to send DROP about @m, or to probe @m. */
static void open_conn(struct fm *fm, const char *address, enum fm_conn_role role,
		      const struct fm_record *m)
{
	int id = fm->ops.connect(fm->io, address);
	struct fm_conn *c = id < 0 ? NULL : fm_conn_add(fm, id, role);

	if (c)
		c->guid = m->guid;
	else if (id >= 0)
		fm->ops.close(fm->io, id);
}

/* Return: when the late node @m is checked again. */
static uint64_t next_check(const struct fm *fm, const struct fm_record *m)
{
	uint64_t at = later(m->joined, m->doubted) + WAIT + fm_lag_late(fm);

	if (m->answered >= m->doubted)
		at = later(at, m->answered + fm->cfg.keepalive);
	if (!m->probed)
		return at;
	at = later(at, m->probed + PROBE_WAIT + fm_lag_answer(fm));
	return later(at, fm_lag_doubts(fm));
}

static void probe_node(struct fm *fm, struct fm_record *m)
{
	struct fm_vanish *v = fm->root->vanish;

	m->probed = fm->now;
	open_conn(fm, m->address, FM_CONN_PROBE, m);
	v->at = earlier(v->at, next_check(fm, m));
	v->awaits = later(v->awaits, next_check(fm, m));
}

/*
 * Return: true if the late node @m is probed before WAIT is over: no reliable neighbour reports a
 * link to it as up.
 */
static bool is_probed_early(const struct fm *fm, const struct fm_record *m)
{
	const struct fm_record *o;

	if (!m->doubted || m->probed || m->answered >= m->doubted || m->state != FM_NODE_UP ||
	    !reports_lost_link(fm, m))
		return false;
	for (unsigned int p = 0; p < m->row.nports; p++) {
		const struct fm_port_row *its = far_end(fm, m, p, &o);

		if (its && its->state == FM_PORT_UP && is_reliable(fm, o))
			return false;
	}
	return true;
}

/*
 * Marks as possibly late the neighbours of @m at its lost links; if @m is lost (@all), at all its
 * links.
 */
static void doubt_neighbours(struct fm *fm, const struct fm_record *m, bool all)
{
	for (unsigned int p = 0; p < m->row.nports; p++) {
		const struct fm_port_row *port = &m->row.port[p];
		struct fm_record *o = port->peer_guid ? fm_record(fm->root, port->peer_guid) : NULL;

		if (!o || o == m || (!all && port->state == FM_PORT_UP))
			continue;
		add_doubt(fm, o);
		if (is_probed_early(fm, o))
			probe_node(fm, o);
	}
	if (fm->root->vanish->n)
		check_soon(fm);
}

void fm_vanish_row(struct fm *fm, const struct fm_record *m)
{
	if (fm->root->settled)
		doubt_neighbours(fm, m, false);
}

void fm_vanish_adopted(struct fm *fm, struct fm_record *m)
{
	m->lost = false;
	m->probed = 0;		/* the node has joined since */
	if (!fm->root->settled || !reports_lost_link(fm, m))
		return;
	add_doubt(fm, m);
	check_soon(fm);
}

void fm_vanish_dead(struct fm *fm, const struct fm_record *m)
{
	doubt_neighbours(fm, m, true);
}

static void send_drop(struct fm *fm, const struct fm_conn *c, const struct fm_record *m)
{
	struct fm_msg msg = { .type = FM_MSG_DROP };

	msg.drop.term = fm->term;
	msg.drop.guid = m->guid;
	strcpy(msg.drop.address, m->address);
	fm_conn_send(fm, c, &msg);
}

void fm_vanish_reached(struct fm *fm, struct fm_conn *c)
{
	struct fm_record *m = fm_record(fm->root, c->guid);

	if (m && c->role == FM_CONN_NOTICE) {
		send_drop(fm, c, m);
	} else {
		if (m) {
			m->probed = 0;
			m->answered = fm->now;
			fm->root->vanish->awaits = 0;
		}
		fm_conn_drop(fm, c);
	}
}

/* Sends DROP about @m to @to, its parent or child. */
static void notify_node(struct fm *fm, const struct fm_record *to, const struct fm_record *m)
{
	const struct fm_conn *c = fm_conn_of_child(fm, to->guid, NULL);

	if (c)
		send_drop(fm, c, m);
	else
		open_conn(fm, to->address, FM_CONN_NOTICE, m);
}

/* Sends DROP about @m to the nodes whose parent it is, or that are about to connect to it. */
static void notify_children(struct fm *fm, const struct fm_record *m)
{
	struct fm_root *r = fm->root;
	const struct fm_record *o;

	for (uint32_t i = 0; i < r->nmissing; i++) {
		o = fm_record_no(r, r->missing[i]);
		if (o->parent == m->guid && !o->via)
			notify_node(fm, o, m);
	}
	for (unsigned int i = 0; i < fm_conns_count(fm); i++) {
		if (!fm_conn_no(fm, i)->guest)
			continue;
		o = fm_record(r, fm_conn_no(fm, i)->guid);
		if (o && o->given == fm_record_number(r, m))
			send_drop(fm, fm_conn_no(fm, i), m);
	}
}

/*
 * A node that is missing may still have its connections, because only a node above it was lost. So
 * they are closed in any case.
 */
void fm_vanish_drop(struct fm *fm, struct fm_record *m)
{
	struct fm_root *r = fm->root;
	const struct fm_record *parent = m->parent ? fm_record(r, m->parent) : NULL;

	if (parent && parent != fm_record_no(r, 0))
		notify_node(fm, parent, m);
	fm_tree_lose(fm, m->guid);
	m->attach++;
	if (m->via) {
		fm_record_missing(fm, m);
		fm_roster_forget_below(fm, m->guid);
	}
	notify_children(fm, m);
}

static void take_lost(struct fm *fm, struct fm_record *m)
{
	fm_log_of(fm, m->node, FM_INFO, "node",
		  "'%s' does not report links that its neighbours have lost, and does not answer: "
		  "taken as lost",
		  m->name);
	fm_vanish_drop(fm, m);
	m->lost = true;
	fm->root->judge_at = fm->now;	/* judge.c runs after all nodes that are lost by now have
					 * been taken */
	doubt_neighbours(fm, m, true);
}

/* Checks a late node: probes it, or declares it lost. Return: true if it is no longer late. */
static bool check_late(struct fm *fm, struct fm_record *m)
{
	invariant(m->doubted && m != fm_record_no(fm->root, 0));
	if (m->state != FM_NODE_UP || !reports_lost_link(fm, m))
		return true;
	if (fm->now >= next_check(fm, m)) {
		if (is_vouched(fm, m)) {
			m->probed = 0;
			/* If a dead neighbour joins again, the node may no longer be late. */
			fm->root->vanish->at = earlier(fm->root->vanish->at,
						      fm->now + fm->cfg.keepalive);
			return false;
		}
		if (m->probed) {
			take_lost(fm, m);
			return true;
		}
		probe_node(fm, m);
	}
	fm->root->vanish->at = earlier(fm->root->vanish->at, next_check(fm, m));
	return false;
}

void fm_vanish_due(struct fm *fm)
{
	struct fm_root *r = fm->root;
	struct fm_vanish *v = r->vanish;
	uint32_t i = 0, was;

	if (fm->now < v->at)
		return;
	was = v->n;
	v->at = NEVER;
	while (i < v->n) {
		struct fm_record *m = fm_record_no(r, v->doubted[i]);

		if (check_late(fm, m)) {
			m->doubted = m->probed = 0;
			v->doubted[i] = v->doubted[--v->n];
		} else {
			i++;
		}
	}
	if (!v->n)
		v->awaits = 0;
	if (was && !v->n)
		fm_isolated_again(fm);
}

uint64_t fm_vanish_expiry(const struct fm *fm)
{
	return fm->root->vanish->at;
}

uint64_t fm_vanish_awaits(const struct fm *fm, uint64_t at)
{
	return earlier(fm->root->vanish->awaits, at + PROBE_WAIT);
}
