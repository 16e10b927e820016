// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a partition grows from one node
 *
 * After V. V. Korneev (2022), "Forming subsystems", with corrections. PROPAGATE(n) asks a
 * neighbour to find n nodes, itself included. A free node becomes a member, the sender its parent,
 * and shares n - 1 evenly among its open ports, the rest to the lowest ones. A member that its
 * parent asks again shares n at once. A member that another member asks, and a node that belongs
 * to another partition or lacks what is asked for, answers REFUSE(n). REFUSE(n), and DEAD_END(n)
 * from a child, close the port, and n is shared again at once. If no port is open, n waits until
 * all questions are answered. When they are and nothing waits, COMPLETE(d) goes to the parent,
 * where d are the members that were added since the last one; if something waits and no port is
 * open, DEAD_END(n) follows it.
 *
 * The paper differs in three points. Its COMPLETE has the whole subtree, so that the members in a
 * second COMPLETE are counted twice. A member that another member asks answers to its own parent,
 * so that the node that asked waits forever. And the paper does not describe what follows a dead
 * end, what happens when a node dies, and how a partition ends.
 *
 * Numbers. When the first member knows of as many members as it wants, it gives numbers to the
 * subtrees of its children, in the order of ports: NUMBER has the lowest one of the subtree, whose
 * root takes it. READY goes up when a subtree has its numbers, and then START goes down.
 *
 * Release. A member becomes free when it receives RELEASE. Before START it also becomes free when a
 * cable of the tree is lost, or when a neighbour does not answer or contradicts its own messages;
 * the first member also when time is over or too few nodes were found. It sends RELEASE by all
 * ports, not only along the tree, which may be broken, and repeats it until confirmed. Until then
 * it joins no other partition, and answers RELEASE to everything about this one.
 *
 * Lemma 1 (nodes are neither lost nor duplicated). Each node that the first member was asked for is
 * called a token. A token is held by a member (as @added, or in @waits), or on its way over a
 * cable, or has been counted by the first member. A new member keeps one, and passes on all others.
 * By edge.c the tokens that are on their way over a cable are a difference of two sums, so no loss
 * of a message changes them. At the first member
 *	total = subtree + nodes asked for and not answered + waits
 * so if nothing is unanswered and nothing waits, it has exactly @total members below it: each
 * member counts once, as it has one parent, which it names by the first COMPLETE.
 *
 * Lemma 2 (it ends). Each PROPAGATE from a member either makes a member, or goes to a child, or
 * closes a port at both ends. Members and ports are finite, and a child that returns tokens closes
 * the port as well, so tokens come to rest. If a neighbour hangs, the limit of the first member
 * ends it, and names the port behind which nodes have not answered.
 *
 * Lemma 3 (all or none). While no member has received START, both ends notice each loss in the
 * tree, and each of them releases all members that it can reach. A member to which START is still
 * on its way does so, too, and thereby releases those that have received it. So when no message is
 * under way any more, take any set of nodes that were members and are connected by cables of the
 * partition: all of them run, or none is a member. After START a lost cable ends nothing: numbers
 * do not change in a partition that runs.
 *
 * Lemma 4 (a release wins). A released node may become a member once more, by a PROPAGATE that was
 * under way, or from a member that has not received the release yet. Each time this uses up a
 * token, and released members have none to give, so it ends. The node is released again, because
 * its parent will receive the release: a member forgets the partition only when all neighbours have
 * confirmed the release, and messages on one cable stay in order, so the RELEASE of the parent
 * arrives after its PROPAGATE.
 *
 * Lemma 5 (several at once). A node is member of one partition at most, and refuses another one at
 * once: nothing waits for the end of another growth, so there is no deadlock. Two growths may both
 * find too few nodes; then each is tried again after a random time.
 *
 * A manager that starts again has another @life, so neighbours that meet it notice that it is no
 * member any more. Not detected here: a member of a running partition whose manager starts again,
 * or which is cut off while the partition is released. The records of jobs end that.
 *
 * Tests: tests/unit/test_fm_growth.c; tests/unit/test_fabricsim_grow.c, against the rules alone,
 * message by message; tests/spin/grow.pml, a model of 4 nodes.
 */
#include <errno.h>
#include <string.h>

#include "daemon/fm/clock.h"
#include "daemon/fm/grow/edge.h"
#include "daemon/fm/grow/growth.h"
#include "daemon/fm/grow/release.h"
#include "lib/deps/invariant.h"

/* after this time without a message, the parent is asked whether it is still there */
#define PROBE (1000 * MS)
#define PROBES_MAX 5

void fm_growth_init(struct fm_growth *g, const struct fm_growth_ops *ops, void *arg, uint64_t guid,
		    unsigned int ports, uint32_t life)
{
	memset(g, 0, sizeof(*g));
	g->ops = ops;
	g->arg = arg;
	g->guid = guid;
	g->ports = ports;
	g->life = life;
	g->limit = NEVER;
	g->probe = NEVER;
	fm_edges_reset(g);
}

void fm_growth_close(struct fm_growth *g, bool closed)
{
	g->closed = closed;
}

bool fm_growth_same(const struct fm_growth_id *a, const struct fm_growth_id *b)
{
	return a->guid == b->guid && a->serial == b->serial;
}

/* --- release ----------------------------------------------------------------------- */

int fm_growth_release(struct fm_growth *g, uint64_t now)
{
	if (g->stage == FM_GROWTH_FREE || g->stage == FM_GROWTH_RELEASES)
		return -ENOENT;
	g->now = now;
	fm_release_give_up(g, FM_GROWTH_STOPPED, FM_GROWTH_NO_PORT);
	return 0;
}

/* --- numbers and start ------------------------------------------------------------- */

static bool is_child(const struct fm_growth *g, unsigned int p)
{
	return p != g->up && g->edge[p].received.done;
}

uint32_t fm_growth_subtree(const struct fm_growth *g)
{
	uint32_t n = 1;

	for (unsigned int p = 0; p < g->ports; p++)
		n += g->edge[p].received.done;
	return n;
}

/*
 * Called when all nodes of the subtree have numbers: reports that to the parent, or, at the first
 * member, lets all start.
 */
static void report_ready(struct fm_growth *g)
{
	for (unsigned int p = 0; p < g->ports; p++)
		if (is_child(g, p) && !g->edge[p].received.step)
			return;
	if (g->up != FM_GROWTH_NO_PORT) {
		g->edge[g->up].sent.step = 1;
		fm_edge_send(g, g->up, FM_GROWTH_READY);
		return;
	}
	for (unsigned int p = 0; p < g->ports; p++) {
		if (!is_child(g, p))
			continue;
		g->edge[p].sent.step = 2;
		fm_edge_send(g, p, FM_GROWTH_START);
	}
	g->limit = NEVER;
	fm_stage_change(g, FM_GROWTH_RUNS);
}

/* Gives this member the number @number, and its children the next ones. */
static void pass_numbers(struct fm_growth *g, uint32_t number)
{
	g->number = number++;
	fm_stage_change(g, FM_GROWTH_NUMBERED);
	for (unsigned int p = 0; p < g->ports; p++) {
		struct fm_growth_edge *e = &g->edge[p];

		if (!is_child(g, p))
			continue;
		e->first = number;
		e->sent.step = 1;
		fm_edge_send(g, p, FM_GROWTH_NUMBER);
		number += e->received.done;
	}
	report_ready(g);
}

static void start_member(struct fm_growth *g)
{
	for (unsigned int p = 0; p < g->ports; p++) {
		if (!is_child(g, p))
			continue;
		g->edge[p].sent.step = 2;
		fm_edge_send(g, p, FM_GROWTH_START);
	}
	g->probe = NEVER;
	fm_stage_change(g, FM_GROWTH_RUNS);
}

/* --- sharing ----------------------------------------------------------------------- */

static bool awaits_answer(const struct fm_growth *g)
{
	for (unsigned int p = 0; p < g->ports; p++)
		if (fm_edge_open(&g->edge[p]))
			return true;
	return false;
}

/*
 * Called at the first member when all answers have come: ends the growth, or numbers the members.
 */
static void conclude_growth(struct fm_growth *g, uint32_t missing)
{
	invariant(fm_growth_subtree(g) + missing == g->total);
	g->found = g->total - missing;
	if (missing)
		fm_release_give_up(g, FM_GROWTH_TOO_FEW, FM_GROWTH_NO_PORT);
	else
		pass_numbers(g, 0);
}

static void report_added(struct fm_growth *g)
{
	if (!g->added)
		return;
	g->edge[g->up].sent.done += g->added;
	g->added = 0;
	fm_edge_send(g, g->up, FM_GROWTH_COMPLETE);
}

/*
 * Called when no port is open: if questions are unanswered, @n nodes wait for these answers; else
 * they are given back to the parent.
 */
static void return_nodes(struct fm_growth *g, uint32_t n)
{
	if (awaits_answer(g)) {
		g->waits = n;
	} else if (g->up == FM_GROWTH_NO_PORT) {
		conclude_growth(g, n);
	} else {
		report_added(g);
		g->edge[g->up].sent.back += n;
		fm_edge_send(g, g->up, FM_GROWTH_DEAD_END);
	}
}

/* Asks for @n nodes, divided among all open ports. */
static void share_nodes(struct fm_growth *g, uint32_t n)
{
	uint32_t ports = (uint32_t)__builtin_popcount(g->open), rest;

	g->waits = 0;
	if (!ports) {
		return_nodes(g, n);
		return;
	}
	rest = n % ports;
	for (unsigned int p = 0; p < g->ports; p++) {
		uint32_t part = n / ports;

		if (!(g->open >> p & 1))
			continue;
		part += rest > 0;
		rest -= rest > 0;
		if (!part)
			continue;
		g->edge[p].sent.asked += part;
		fm_edge_send(g, p, FM_GROWTH_PROPAGATE);
	}
}

/*
 * Called when a question was answered. If all are, asks for the nodes that waited, or reports the
 * result.
 */
static void settle_answers(struct fm_growth *g)
{
	if (awaits_answer(g))
		return;
	if (g->waits)
		share_nodes(g, g->waits);
	else if (g->up == FM_GROWTH_NO_PORT)
		conclude_growth(g, 0);
	else
		report_added(g);
}

static bool is_fit(const struct fm_growth_port *port, const struct fm_growth_terms *terms)
{
	return port->up && port->rate >= terms->rate && port->margin >= terms->margin;
}

/* Return: mask of the ports that meet @terms; 0 if there are too few. */
static uint16_t find_fit_ports(const struct fm_growth *g, const struct fm_growth_terms *terms)
{
	uint16_t fit = 0;

	for (unsigned int p = 0; p < g->ports; p++)
		fit |= (uint16_t)((unsigned int)is_fit(&g->port[p], terms) << p);
	return __builtin_popcount(fit) < terms->links ? 0 : fit;
}

/* Makes this node a member. @up: port of its parent; @n: nodes that it is asked for */
static void join_growth(struct fm_growth *g, const struct fm_growth_id *id,
			const struct fm_growth_terms *terms, uint8_t up, uint32_t n)
{
	g->id = *id;
	g->terms = *terms;
	g->end = (struct fm_growth_end) { .port = FM_GROWTH_NO_PORT };
	g->up = up;
	g->open = find_fit_ports(g, terms);
	if (up != FM_GROWTH_NO_PORT)
		g->open &= (uint16_t)~(1u << up);
	g->added = up != FM_GROWTH_NO_PORT;
	g->waits = 0;
	g->number = 0;
	g->found = 0;
	g->met = 0;
	g->probes = 0;
	fm_stage_change(g, FM_GROWTH_GROWS);
	if (n > 1)
		share_nodes(g, n - 1);
	else
		settle_answers(g);
}

int fm_growth_begin(struct fm_growth *g, uint64_t serial, uint32_t total,
		    const struct fm_growth_terms *terms, uint64_t limit, uint64_t now)
{
	struct fm_growth_id id = { .guid = g->guid, .serial = serial };

	if (!total || total > TORUS_MAX_NODES)
		return -EINVAL;
	if (g->stage != FM_GROWTH_FREE || g->closed)
		return -EBUSY;
	if (terms->links && !find_fit_ports(g, terms))
		return -ENOLINK;
	g->now = now;
	fm_edges_reset(g);
	g->total = total;
	g->limit = now + limit;
	join_growth(g, &id, terms, FM_GROWTH_NO_PORT, total);
	return 0;
}

/* --- messages ---------------------------------------------------------------------- */

/* Processes PROPAGATE of a neighbour, on a node that is not a member. */
static void receive_invitation(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m)
{
	uint8_t met = 0;

	if (g->stage != FM_GROWTH_FREE || g->closed)
		met = FM_GROWTH_MET_BUSY;
	else if (!(find_fit_ports(g, &m->terms) >> p & 1))
		met = FM_GROWTH_MET_TERMS;
	if (met || m->received.back || fm_growth_same(&g->refused[p], &m->id)) {
		g->refused[p] = m->id;
		fm_edge_answer(g, p, m, FM_GROWTH_REFUSE, met);
		return;
	}
	g->total = m->total;
	g->limit = NEVER;
	g->probe = g->now + PROBE;
	fm_edges_reset(g);
	g->edge[p].received.asked = m->sent.asked;
	g->edge[p].life = m->life;
	fm_edge_owe(g, p, m->kind);
	join_growth(g, &m->id, &m->terms, (uint8_t)p, m->sent.asked);
}

/* Processes a message of a partition to which this node does not belong. */
static void receive_other(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m)
{
	switch (m->kind) {
	case FM_GROWTH_ACK:
	case FM_GROWTH_RELEASED:
		return;
	case FM_GROWTH_RELEASE:
		fm_edge_answer(g, p, m, FM_GROWTH_RELEASED, 0);
		return;
	default:
		break;
	}
	if (m->kind == FM_GROWTH_PROPAGATE && !m->to && m->sent.asked)
		receive_invitation(g, p, m);
	else
		fm_edge_answer(g, p, m, FM_GROWTH_RELEASE, 0);
}

/* Return: true if @m has a step that the other end at @p cannot have taken. */
static bool is_step_forged(const struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m)
{
	const struct fm_growth_edge *e = &g->edge[p];

	if (m->sent.step <= e->received.step)
		return false;
	if (p != g->up)
		return m->sent.step > e->sent.step || m->sent.step > 1;
	if (m->sent.step > 1)
		return !e->sent.step || m->sent.step > 2;
	return awaits_answer(g) || g->waits || g->added || !m->first ||
	       (uint64_t)m->first + fm_growth_subtree(g) > m->total;
}

/* Called when the other end at @p has asked for @n more nodes. */
static void count_question(struct fm_growth *g, unsigned int p, uint32_t n)
{
	if (p == g->up) {
		share_nodes(g, g->waits + n);
		return;
	}
	g->open &= (uint16_t)~(1u << p);
	g->edge[p].sent.back += n;
	fm_edge_send(g, p, FM_GROWTH_REFUSE);
}

static void take_step(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m)
{
	g->edge[p].received.step = m->sent.step;
	if (p != g->up) {
		report_ready(g);
	} else if (m->sent.step > 1) {
		start_member(g);
	} else {
		g->total = m->total;
		pass_numbers(g, m->first);
	}
}

/* Processes the changes in the sums of the other end at @p. */
static void take_sums(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m)
{
	struct fm_growth_edge *e = &g->edge[p];
	struct fm_growth_sums old = e->received;

	g->met |= m->met;
	if (m->sent.asked > old.asked) {
		e->received.asked = m->sent.asked;
		count_question(g, p, m->sent.asked - old.asked);
	}
	if (m->sent.done > old.done) {
		e->received.done = m->sent.done;
		g->added += g->up == FM_GROWTH_NO_PORT ? 0 : m->sent.done - old.done;
		settle_answers(g);
	}
	if (m->sent.back > old.back && g->stage == FM_GROWTH_GROWS) {
		e->received.back = m->sent.back;
		g->open &= (uint16_t)~(1u << p);
		share_nodes(g, g->waits + m->sent.back - old.back);
	}
	if (m->sent.step > old.step)
		take_step(g, p, m);
}

/* Processes a message of this node's own partition. */
static void receive_own(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m)
{
	struct fm_growth_edge *e = &g->edge[p];

	if (!e->life)
		fm_edge_meet(e, m);
	if (fm_edge_is_past(g, p, m)) {
		fm_release_give_up(g, FM_GROWTH_FORGOTTEN, p);
		return;
	}
	if (!fm_edge_is_true(e, m) || is_step_forged(g, p, m) ||
	    (m->sent.asked > e->received.asked && g->stage != FM_GROWTH_GROWS)) {
		fm_release_give_up(g, FM_GROWTH_FORGED, p);
		return;
	}
	if (m->life)
		e->life = m->life;
	if (p == g->up && g->probe != NEVER) {
		g->probe = g->now + PROBE;
		g->probes = 0;
	}
	fm_edge_owe(g, p, m->kind);
	fm_edge_confirm(g, p, m);
	take_sums(g, p, m);
}

/* Processes a RELEASE of this node's own partition. */
static void receive_release(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m)
{
	fm_edge_answer(g, p, m, FM_GROWTH_RELEASED, 0);
	if (g->stage == FM_GROWTH_RELEASES)
		fm_release_confirmed(g, p);
	else
		fm_release_begin(g, &m->end, p);
}

void fm_growth_receive(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m,
		       uint64_t now)
{
	if (p >= g->ports || !g->port[p].up)
		return;
	g->now = now;
	if (g->stage == FM_GROWTH_FREE || !fm_growth_same(&g->id, &m->id))
		receive_other(g, p, m);
	else if (m->kind == FM_GROWTH_RELEASE)
		receive_release(g, p, m);
	else if (g->stage != FM_GROWTH_RELEASES)
		receive_own(g, p, m);
	else if (m->kind == FM_GROWTH_RELEASED)
		fm_release_confirmed(g, p);
	else if (m->kind != FM_GROWTH_ACK)
		fm_release_again(g, p);
}

/* --- cables and time --------------------------------------------------------------- */

/* Return: true if the subtree or the parent of this member is behind port @p. */
static bool is_in_tree(const struct fm_growth *g, unsigned int p)
{
	return p == g->up || is_child(g, p) || fm_edge_open(&g->edge[p]);
}

void fm_growth_port(struct fm_growth *g, unsigned int p, const struct fm_growth_port *is,
		    uint64_t now)
{
	bool lost = g->port[p].up && !is->up;

	g->port[p] = *is;
	g->now = now;
	if (!lost)
		return;
	g->refused[p] = (struct fm_growth_id) { 0 };
	if (g->stage == FM_GROWTH_RELEASES)
		fm_release_confirmed(g, p);
	else if ((g->stage == FM_GROWTH_GROWS || g->stage == FM_GROWTH_NUMBERED) &&
		 is_in_tree(g, p))
		fm_release_give_up(g, FM_GROWTH_LOST, p);
	else
		fm_edge_close(g, p);
}

/* Called when the neighbours at the ports of @silent do not answer. */
static void judge_silent(struct fm_growth *g, uint16_t silent)
{
	for (unsigned int p = 0; p < g->ports && g->stage != FM_GROWTH_FREE; p++) {
		if (!(silent >> p & 1))
			continue;
		if (g->stage != FM_GROWTH_RELEASES) {
			fm_release_give_up(g, FM_GROWTH_SILENT, p);
			return;
		}
		fm_release_confirmed(g, p);
	}
}

/* Return: the lowest port whose nodes have not all been found, or have no numbers yet. */
static unsigned int find_unanswered(const struct fm_growth *g)
{
	for (unsigned int p = 0; p < g->ports; p++)
		if (fm_edge_open(&g->edge[p]) || (g->stage == FM_GROWTH_NUMBERED &&
						  is_child(g, p) && !g->edge[p].received.step))
			return p;
	return FM_GROWTH_NO_PORT;
}

void fm_growth_due(struct fm_growth *g, uint64_t now)
{
	uint16_t silent;

	g->now = now;
	silent = fm_edges_due(g);
	if (silent)
		judge_silent(g, silent);
	if (g->limit <= now) {
		fm_release_give_up(g, FM_GROWTH_LATE, find_unanswered(g));
	} else if (g->probe <= now && g->probes == PROBES_MAX) {
		fm_release_give_up(g, FM_GROWTH_SILENT, g->up);
	} else if (g->probe <= now) {
		g->probe = now + PROBE;
		g->probes++;
		fm_edge_send(g, g->up, FM_GROWTH_COMPLETE);
	}
}

uint64_t fm_growth_expiry(const struct fm_growth *g)
{
	return earlier(fm_edges_expiry(g), earlier(g->limit, g->probe));
}
