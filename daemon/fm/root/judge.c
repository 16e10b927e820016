// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: dead and silent nodes
 *
 * A node is missing while no node holds a connection to it. Then the port rows of its neighbours
 * decide what it is. A neighbour that reports a link to the node as up vouches for the node's NIC.
 * A neighbour that is missing itself counts only if another node vouches for it. So the nodes of a
 * cabinet without power do not vouch for each other, although their last rows report all links
 * among them as up.
 *
 * Dead. A node for which no neighbour vouches is dead. Missing nodes that links join, by the last
 * row of either end, are judged together. No other node has a link to such a set, for it would
 * vouch. So no packet passes between the set and the others, whether the set lives or not, and a
 * recovery depends on nothing else. The time at which the set is judged matters only for false
 * alarms:
 *
 *	set						judged dead
 *	a single node, if a connected neighbour has	at once
 *	lost a link that is up by the node's own last
 *	row, and the node did not join just before
 *	each node has lost a link to a connected	after resend / 4, because links and
 *	neighbour, or was taken as lost (vanish.c)	connections do not end at one instant
 *	any other					after ON_THEIR_WAY, because many managers
 *							may have lost the root at once and be on
 *							their way back
 *	any, if the nodes that are connected to the	after member_max, and no sooner than by the
 *	root are no quorum (quorum.c)			lines above
 *	any, if this manager stood still		when it may call nodes dead again
 *							(node/lag.c)
 *
 * The last line but one prevents a root from calling most of the fabric dead because its own NIC
 * has lost its links. That NIC may have stood still for longer than links stay up without a frame,
 * as all NICs do that share a machine with it, and all of them live. "Dead" would make the rows to
 * them invalid, and packets to them would come back as unreachable. They join again when their
 * links are back. If the root is cut off for good, its packets have nowhere to go meanwhile: they
 * are held or parked, and nothing is lost by the wait. Safety (quorum.c) needs neither of the last
 * two lines, and the wait ends by time alone, so a part that is cut off gets its table. While a
 * quorum is connected, for example if one host dies, the wait is as short as before.
 *
 * The first line excludes a node that reported that it has no link, or that has just joined: it may
 * be on its way from the root to its parent, and would be judged dead each time that it is back.
 *
 * Silent. A node for which a neighbour vouches is silent after member_max, or sooner if it is out
 * of service (service.c). Its NIC goes on forwarding and stays in the table, but no recovery waits
 * for its manager.
 *
 * A node that answers but cannot follow is silent, too. If its NIC fails, it reports that itself
 * (node/member.c) and keeps its connections, so the nodes below it in the tree are not disturbed.
 * It joins again after a while, longer each time (node/task.c). If it answers and does not report,
 * its parent reports it to the root. Such a manager may not pass messages on, so its connections
 * are dropped, and the nodes below it look for another parent. It is refused until its ban is over,
 * which is longer each time; the refusal contains the time after which it may join.
 *
 * A NIC that has no place yet, or another place, forwards nothing or the wrong way. Ports that are
 * closed stay closed until a replay that its manager would have to lead. While such a node is
 * silent its links, or those ports, are excluded (publish.c). So are links to it that are closed at
 * the other end, since the root may know its last row from before it lost them, or no row at all.
 * Otherwise the NIC would park packets for such a port and replay them by a row of its old table,
 * and packets could go round between it and a node with the latest one, and arrive in any order.
 *
 * A node whose NIC is gone lives, but is dead for the fabric, by its links. Its manager reports
 * this before it closes its connections, so that the problem names the NIC.
 *
 * Tests: tests/unit/test_fm_missing.c, tests/unit/test_fm_reach.c, tests/sim/test_dead.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/judge.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/root/base.h"
#include "daemon/fm/root/calls.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/isolated.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/ranks.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/service.h"
#include "daemon/fm/root/vanish.h"
#include "daemon/fm/status.h"
#include "lib/deps/invariant.h"

#define ON_THEIR_WAY 4		/* in units of fm_config.resend: time in which managers come back
				 * to the root */

/*
 * Return: the neighbour at port @p, if its port row confirms the cable; @up is set to whether it
 * reports the link as up. NULL: the neighbour is not known, or dead.
 */
static struct fm_record *neighbour_at(const struct fm *fm, const struct fm_record *m,
				      unsigned int p, bool *up)
{
	const struct fm_port_row *mine = &m->row.port[p], *its;
	struct fm_record *o = mine->peer_guid ? fm_record(fm->root, mine->peer_guid) : NULL;

	if (!o || o->state == FM_NODE_DEAD || mine->peer_port >= o->row.nports)
		return NULL;
	its = &o->row.port[mine->peer_port];
	*up = its->state == FM_PORT_UP;
	return its->peer_guid == m->guid ? o : NULL;
}

/**
 * struct evidence - what the port rows of connected neighbours report of their links to a missing
 *	node
 * @linked: one of the links is up
 * @lost: one of the links is lost, or vanish.c has declared the node lost
 * @ended: one of the links is lost which the node's own last port row has as up
 */
struct evidence {
	bool linked, lost, ended;
};

static struct evidence find_evidence(const struct fm *fm, const struct fm_record *m)
{
	struct evidence e = { .lost = m->lost };
	bool up;

	for (unsigned int p = 0; p < m->row.nports; p++) {
		const struct fm_record *o = neighbour_at(fm, m, p, &up);

		if (!o || !o->via)
			continue;
		e.linked |= up;
		e.lost |= !up;
		e.ended |= !up && m->row.port[p].state == FM_PORT_UP;
	}
	return e;
}

/* Marks those of the missing nodes for which a neighbour vouches. */
static void mark_vouched(struct fm *fm)
{
	struct fm_root *r = fm->root;
	uint32_t *queue = fm_roster_scratch(r), n = 0;
	bool up;

	for (uint32_t i = 0; i < r->nmissing; i++) {
		struct fm_record *m = fm_record_no(r, r->missing[i]);

		invariant(m->listed);
		m->vouched = !m->via && m->state != FM_NODE_DEAD && find_evidence(fm, m).linked;
		if (m->vouched)
			queue[n++] = r->missing[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct fm_record *o = fm_record_no(r, queue[i]);

		for (unsigned int q = 0; q < o->row.nports; q++) {
			struct fm_record *m = neighbour_at(fm, o, q, &up);

			if (!m || m->via || !m->listed || m->vouched ||
			    o->row.port[q].state != FM_PORT_UP)
				continue;
			m->vouched = true;
			queue[n++] = fm_record_number(r, m);
		}
	}
}

static const char silence[] = ": its NIC works on, but packets that it parks wait there, "
			      "uncounted, until its manager answers";

/* Makes @m dead or silent. @why: added to the text of the problem. */
static void set_gone(struct fm *fm, struct fm_record *m, enum fm_node_state state, const char *why)
{
	invariant(m != fm_record_no(fm->root, 0));
	invariant(state == FM_NODE_DEAD || state == FM_NODE_SILENT);
	m->state = (uint8_t)state;
	fm_change_node(fm, m->node);
	fm_ranks_look(fm);
	fm_problem_clear(fm, "relay", m->guid);
	fm_base_forget(fm->root);
	fm_service_gone(fm, m, why);
	fm_demand(fm, 0, "node '%s' is %s", m->name, fm_node_state_name(state));
	if (state == FM_NODE_DEAD)
		fm_vanish_dead(fm, m);
	else
		fm_calls_look(fm);
}

static void set_dead(struct fm *fm, struct fm_record *m)
{
	bool no_nic = m->no_nic && m->no_nic == m->epoch;

	set_gone(fm, m, FM_NODE_DEAD, no_nic ? ": its NIC is gone; its manager waits for it" : "");
}

/*
 * Return: true if @was and @is are entries of the same session of a link to @o, and @o reports this
 * link as up.
 */
static bool kept_up(const struct fm_port_row *was, const struct fm_port_row *is,
		    const struct fm_record *o)
{
	return was->state == FM_PORT_UP && was->session == is->session &&
	       was->peer_guid == is->peer_guid && o->row.port[is->peer_port].state == FM_PORT_UP;
}

/*
 * A neighbour that was judged dead together with @m, and has had a link to @m all the time, works
 * on, even if its manager does not: it is silent. If the root knows both nodes only from a former
 * table, it does not know since when they have the link: both may come from a part that had another
 * root.
 */
void fm_judge_beside(struct fm *fm, const struct fm_record *m, const struct fm_row *row)
{
	for (unsigned int p = 0; p < m->row.nports && p < row->nports; p++) {
		const struct fm_port_row *is = &row->port[p];
		struct fm_record *o = is->peer_guid ? fm_record(fm->root, is->peer_guid) : NULL;

		if (!o || o->state != FM_NODE_DEAD || is->peer_port >= o->row.nports ||
		    is->state != FM_PORT_UP)
			continue;
		if (kept_up(&m->row.port[p], is, o) || (!m->joined && !o->joined))
			set_gone(fm, o, FM_NODE_SILENT, silence);
	}
}

/*
 * Bans a node, for twice as long as last time, unless the last ban ended longer ago than the
 * longest ban lasts.
 */
static void ban_node(const struct fm *fm, struct fm_record *m)
{
	uint64_t most = FM_BAN_MAX * fm->cfg.member_max;
	bool lately = m->ban && fm->now < m->banned + most;

	m->ban = lately ? earlier(2 * m->ban, most) : fm->cfg.member_max;
	m->banned = fm->now + m->ban;
}

/*
 * Called when the parent of @m has reported that @m answers but does not report: makes @m silent.
 */
static void judge_stuck(struct fm *fm, struct fm_record *m, const struct fm_failed *f)
{
	const struct fm_root *r = fm->root;
	char why[FM_TEXT_MAX / 2 + FM_ADDR_MAX];

	if (!fm_recovery_waits(r) || f->round != fm_recovery_round(r) || !fm_quorum_look(fm))
		return;
	ban_node(fm, m);
	snprintf(why, sizeof(why),
		 ": it cannot follow version %llu: its manager (%s) answers, but has not reported "
		 "for %llu ms; it may join again after %llu ms",
		 (unsigned long long)f->version, m->address,
		 (unsigned long long)((fm->now - fm_recovery_round_began(r)) / MS),
		 (unsigned long long)(m->ban / MS));
	set_gone(fm, m, FM_NODE_SILENT, why);
	fm_vanish_drop(fm, m);
}

/* The node is silent from now on, although it answers: recoveries do not wait for it. */
void fm_judge_failed(struct fm *fm, const struct fm_failed *f)
{
	struct fm_record *m = fm_record(fm->root, f->guid);
	char why[FM_TEXT_MAX / 2];

	if (!m || m == fm_record_no(fm->root, 0) || m->epoch != f->epoch)
		return;
	if (!f->version && !f->by) {	/* its links end now, and it is judged by them */
		m->no_nic = f->epoch;
		return;
	}
	if (m->state != FM_NODE_UP || f->version != fm->root->version)
		return;
	if (f->by) {
		judge_stuck(fm, m, f);
		return;
	}
	snprintf(why, sizeof(why),
		 ": it cannot follow version %llu: %s%s, and works on with the rows that it has",
		 (unsigned long long)f->version,
		 f->err == EADDRINUSE ? "its service address is in the address plan" :
		 f->err		      ? "its NIC says " : "its NIC does not answer",
		 f->err && f->err != EADDRINUSE ? strerror((int)f->err) : "");
	set_gone(fm, m, FM_NODE_SILENT, why);
}

/*
 * Adds the missing nodes that a link joins to @m to @set, which has @n nodes. Return: their number
 * now.
 */
static uint32_t add_joined(struct fm *fm, const struct fm_record *m, uint32_t *set, uint32_t n)
{
	struct fm_root *r = fm->root;
	bool up;

	for (unsigned int p = 0; p < m->row.nports; p++) {
		struct fm_record *o = neighbour_at(fm, m, p, &up);

		if (!o || o->via || !o->listed || o->vouched || o->search == r->search ||
		    (!up && m->row.port[p].state != FM_PORT_UP))
			continue;
		o->search = r->search;
		set[n++] = fm_record_number(r, o);
	}
	return n;
}

/*
 * Return: when @m, one of @n nodes that are judged together, may be judged dead by the state of its
 * links.
 */
static uint64_t dead_by_links(const struct fm *fm, const struct fm_record *m, uint32_t n)
{
	uint64_t moment = fm->cfg.resend / 4;
	struct evidence e = find_evidence(fm, m);

	if (!e.lost)
		return m->missing + ON_THEIR_WAY * fm->cfg.resend + fm_lag_answer(fm);
	return m->missing + (n == 1 && e.ended && fm->now > m->joined + moment ? 0 : moment);
}

/*
 * Return: when @m, one of @n nodes that are judged together, may be judged dead: see the table
 * above.
 */
static uint64_t dead_at(const struct fm *fm, const struct fm_record *m, uint32_t n, bool quorum)
{
	uint64_t at = later(dead_by_links(fm, m, n), fm_lag_doubts(fm));

	return quorum ? at : later(at, m->missing + fm->cfg.member_max + fm_lag_answer(fm));
}

/*
 * Judges @m and the nodes that links join to it, for which no neighbour vouches.
 * @quorum: the connected nodes are a quorum
 * Return: when they are to be judged dead; NEVER if they are dead now.
 */
static uint64_t judge_set(struct fm *fm, struct fm_record *m, bool quorum)
{
	struct fm_root *r = fm->root;
	uint32_t *set = fm_roster_scratch(r), n = 1;
	uint64_t at = 0;

	set[0] = fm_record_number(r, m);
	m->search = ++r->search;
	for (uint32_t i = 0; i < n; i++)
		n = add_joined(fm, fm_record_no(r, set[i]), set, n);
	for (uint32_t i = 0; i < n; i++)
		at = later(at, dead_at(fm, fm_record_no(r, set[i]), n, quorum));
	if (fm->now < at)
		return at;
	for (uint32_t i = 0; i < n; i++)
		set_dead(fm, fm_record_no(r, set[i]));
	return NEVER;
}

/*
 * Judges a missing node. @searches: number of the last search before this round of judgements.
 * @quorum: the connected nodes are a quorum
 * Return: when the node has to be judged again; NEVER if it need not.
 */
static uint64_t judge_missing(struct fm *fm, struct fm_record *m, uint32_t searches, bool quorum)
{
	uint64_t silent_at = m->missing + fm_service_grace(fm, m);

	/* Every node of a set finds the same set, so the set is judged only once. */
	if (!m->vouched)
		return m->search > searches ? NEVER : judge_set(fm, m, quorum);
	if (m->state == FM_NODE_SILENT)
		return NEVER;
	if (fm->now < silent_at)
		return silent_at;
	/* fm_judge_due() has checked the quorum, once for all nodes. */
	if (fm_quorum_lacks(fm->root))
		return fm->now + fm->cfg.resend;
	set_gone(fm, m, FM_NODE_SILENT, silence);
	return NEVER;
}

/* Return: true if @m is no longer missing, or is dead. */
static bool is_judged(const struct fm_record *m)
{
	return m->state == FM_NODE_DEAD || m->via || !m->missing;
}

/* Return: true if it is time to judge some node silent. */
static bool is_silence_due(const struct fm *fm)
{
	const struct fm_root *r = fm->root;

	for (uint32_t i = 0; i < r->nmissing; i++) {
		const struct fm_record *m = fm_record_no(r, r->missing[i]);

		if (m->vouched && !m->via && m->state == FM_NODE_UP &&
		    fm->now >= m->missing + fm_service_grace(fm, m))
			return true;
	}
	return false;
}

void fm_judge_due(struct fm *fm)
{
	struct fm_root *r = fm->root;
	uint32_t i = 0, searches = r->search;
	bool quorum, back = false;

	if (fm->now < r->judge_at || !r->settled)
		return;
	r->judge_at = NEVER;
	quorum = !r->nmissing || fm_quorum_connected(fm);
	mark_vouched(fm);
	if (is_silence_due(fm) || fm_quorum_lacks(r))
		fm_quorum_look(fm);
	while (i < r->nmissing) {
		struct fm_record *m = fm_record_no(r, r->missing[i]);

		if (!is_judged(m))
			r->judge_at = earlier(r->judge_at, judge_missing(fm, m, searches, quorum));
		if (is_judged(m)) {
			m->listed = false;
			r->missing[i] = r->missing[--r->nmissing];
			back |= m->via;
		} else {
			i++;
		}
	}
	/* A node that answers again may still be cut off. */
	if (back)
		fm_isolated_again(fm);
	fm_member_check(fm, false);
	fm_recovery_recheck(fm);
}

uint64_t fm_judge_expiry(const struct fm *fm)
{
	return fm->root->settled ? fm->root->judge_at : NEVER;
}
