// SPDX-License-Identifier: GPL-2.0-only
/*
 * One node of a growth, message by message: the test is all its neighbours, and compares each message
 * of the node with the rules at the head of growth.c and edge.c. Memory behind the ports that the node
 * has is not to be used.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/clock.h"
#include "daemon/fm/grow/growth.h"

#define PORTS	4
#define OWN	50	/* GUID of the node */
#define LIFE	9
#define PEER	70	/* number of the membership of the neighbour at port 0 */

static struct fm_growth g;
static struct fm_growth_msg sent[64];
static unsigned int port_of[64], n, at;		/* @at: the next message to be looked at */
static enum fm_growth_stage stages[8];
static unsigned int nstages;
static const struct fm_growth_terms any;

/* The last messages in both directions, by which the neighbours' messages are made. */
static struct fm_growth_sums theirs[PORTS];
static struct fm_growth_id id;

static void take_message(void *arg, unsigned int port, const struct fm_growth_msg *m)
{
	assert_ptr_equal(arg, &g);
	assert_true(port < PORTS && n < 64);
	port_of[n] = port;
	sent[n++] = *m;
}

static void take_stage(void *arg, enum fm_growth_stage stage)
{
	assert_ptr_equal(arg, &g);
	assert_int_equal(g.stage, stage);
	assert_true(nstages < 8);
	stages[nstages++] = stage;
}

static const struct fm_growth_ops ops = { take_message, take_stage };

/* A port that the node does not have looks as if a child were there. */
static void poison(void)
{
	g.port[PORTS].up = true;
	g.edge[PORTS].received.done = g.edge[PORTS].sent.asked = 3;
	g.edge[PORTS].due = 1;
	g.edge[PORTS].kind = FM_GROWTH_PROPAGATE;
}

static void begin_node(void)
{
	const struct fm_growth_port up = { .up = true, .rate = 10, .margin = 5 };

	fm_growth_init(&g, &ops, &g, OWN, PORTS, LIFE);
	for (unsigned int p = 0; p < PORTS; p++)
		fm_growth_port(&g, p, &up, 1);
	assert_true(fm_growth_expiry(&g) == NEVER);
	memset(theirs, 0, sizeof(theirs));
	n = at = nstages = 0;
	poison();
}

/* The next message of the node is this one. */
static const struct fm_growth_msg *did(unsigned int port, enum fm_growth_kind kind)
{
	assert_true(at < n);
	assert_int_equal(sent[at].kind, kind);
	assert_int_equal(port_of[at], port);
	return &sent[at++];
}

static void did_no_more(void)
{
	assert_int_equal(at, n);
}

static void was(enum fm_growth_stage stage)
{
	assert_int_equal(nstages, 1);
	assert_int_equal(stages[0], stage);
	nstages = 0;
}

/* The neighbour at @p sends @kind with its present sums, and confirms all of the node's. */
static void tell(unsigned int p, enum fm_growth_kind kind)
{
	struct fm_growth_msg m = { .kind = kind, .id = id, .sent = theirs[p],
				   .received = g.edge[p].sent, .life = PEER + p, .to = g.life };

	fm_growth_receive(&g, p, &m, g.now + 1);
	poison();
}

/* The same with a message that the test has changed. */
static struct fm_growth_msg message(unsigned int p, enum fm_growth_kind kind)
{
	return (struct fm_growth_msg) { .kind = kind, .id = id, .sent = theirs[p],
					.received = g.edge[p].sent, .life = PEER + p, .to = g.life };
}

static void begin_growth(uint32_t total)
{
	begin_node();
	id = (struct fm_growth_id) { .guid = OWN, .serial = 3 };
	assert_int_equal(fm_growth_begin(&g, 3, total, &any, 1000, 10), 0);
	poison();
}

/* The parent at port 0 asks a free node for @asked nodes. */
static void invite(uint32_t asked)
{
	struct fm_growth_msg m;

	begin_node();
	id = (struct fm_growth_id) { .guid = 99, .serial = 8 };
	theirs[0].asked = asked;
	m = message(0, FM_GROWTH_PROPAGATE);
	m.to = 0;
	m.total = 20;
	fm_growth_receive(&g, 0, &m, 10);
	poison();
}

/* --- the first member ------------------------------------------------------------------------- */

static void growth_of_one_node_runs_at_once(void **state)
{
	(void)state;
	begin_growth(1);
	did_no_more();
	assert_int_equal(nstages, 3);
	assert_true(stages[0] == FM_GROWTH_GROWS && stages[1] == FM_GROWTH_NUMBERED &&
		    stages[2] == FM_GROWTH_RUNS);
	assert_true(g.number == 0 && g.found == 1);
	assert_int_equal(fm_growth_subtree(&g), 1);
	assert_true(fm_growth_expiry(&g) == NEVER);
}

static void first_member_shares_numbers_and_starts(void **state)
{
	(void)state;
	begin_growth(7);
	was(FM_GROWTH_GROWS);
	/* Six nodes for four ports: the rest to the lowest. */
	for (unsigned int p = 0; p < PORTS; p++) {
		assert_int_equal(did(p, FM_GROWTH_PROPAGATE)->sent.asked, p < 2 ? 2 : 1);
		assert_true(sent[at - 1].life == LIFE && sent[at - 1].total == 7);
		assert_true(sent[at - 1].id.guid == OWN && sent[at - 1].id.serial == 3);
	}
	did_no_more();
	assert_int_equal(fm_growth_expiry(&g), 10 + 50 * MS < 1010 ? 10 + 50 * MS : 1010);
	theirs[1].back = 2;			/* refused: the others are asked for these */
	tell(1, FM_GROWTH_REFUSE);
	assert_int_equal(did(0, FM_GROWTH_PROPAGATE)->sent.asked, 3);
	assert_int_equal(did(2, FM_GROWTH_PROPAGATE)->sent.asked, 2);
	did_no_more();				/* a refusal needs no answer */
	theirs[0].done = 3;
	tell(0, FM_GROWTH_COMPLETE);
	assert_int_equal(fm_growth_subtree(&g), 4);
	theirs[2].done = 2;
	tell(2, FM_GROWTH_COMPLETE);
	did_no_more();
	assert_int_equal(nstages, 0);
	theirs[3].done = 1;			/* the last answer */
	tell(3, FM_GROWTH_COMPLETE);
	was(FM_GROWTH_NUMBERED);
	assert_int_equal(did(0, FM_GROWTH_NUMBER)->first, 1);
	assert_int_equal(did(2, FM_GROWTH_NUMBER)->first, 4);
	assert_int_equal(did(3, FM_GROWTH_NUMBER)->first, 6);
	did_no_more();
	assert_true(g.number == 0 && g.found == 7);
	for (unsigned int p = 0; p < PORTS; p++) {
		if (p == 1)
			continue;
		theirs[p].step = 1;
		tell(p, FM_GROWTH_READY);
	}
	was(FM_GROWTH_RUNS);
	did(0, FM_GROWTH_START);
	did(2, FM_GROWTH_START);
	assert_int_equal(did(3, FM_GROWTH_START)->sent.step, 2);
	did_no_more();
	for (unsigned int p = 0; p < PORTS; p++)
		if (p != 1)
			tell(p, FM_GROWTH_ACK);
	did_no_more();
	assert_true(fm_growth_expiry(&g) == NEVER);	/* not even the limit */
}

/* Nodes that nobody finds wait for the other answers, and then the growth ends. */
static void first_member_ends_growth_that_finds_too_few(void **state)
{
	(void)state;
	begin_growth(6);
	was(FM_GROWTH_GROWS);
	at = n;
	for (unsigned int p = 0; p < PORTS - 1; p++) {
		theirs[p].back = g.edge[p].sent.asked;
		tell(p, FM_GROWTH_REFUSE);
	}
	theirs[3].done = 1;
	theirs[3].back = g.edge[3].sent.asked - 1;
	at = n;
	tell(3, FM_GROWTH_DEAD_END);
	was(FM_GROWTH_RELEASES);
	for (unsigned int p = 0; p < PORTS; p++) {
		const struct fm_growth_msg *m = did(p, FM_GROWTH_RELEASE);

		assert_true(m->end.why == FM_GROWTH_TOO_FEW && m->end.guid == OWN &&
			    m->end.port == FM_GROWTH_NO_PORT);
	}
	did_no_more();
	assert_int_equal(g.found, 2);
	assert_int_equal(fm_growth_release(&g, g.now), -ENOENT);
	did_no_more();
	for (unsigned int p = 0; p < PORTS; p++) {
		assert_int_equal(nstages, 0);
		tell(p, FM_GROWTH_RELEASED);
	}
	was(FM_GROWTH_FREE);
	did_no_more();
	assert_int_equal(g.life, LIFE + 1);
	assert_true(fm_growth_expiry(&g) == NEVER);
	assert_int_equal(fm_growth_release(&g, g.now), -ENOENT);
}

static void growth_begins_only_with_possible_terms(void **state)
{
	struct fm_growth_terms t = { .links = 4, .rate = 10, .margin = 5 };

	(void)state;
	begin_node();
	assert_int_equal(fm_growth_begin(&g, 1, 0, &any, 5, 5), -EINVAL);
	assert_int_equal(fm_growth_begin(&g, 1, TORUS_MAX_NODES + 1, &any, 5, 5), -EINVAL);
	t.rate = 11;
	assert_int_equal(fm_growth_begin(&g, 1, 2, &t, 5, 5), -ENOLINK);
	t.rate = 10;
	t.margin = 6;
	assert_int_equal(fm_growth_begin(&g, 1, 2, &t, 5, 5), -ENOLINK);
	t.margin = 5;
	t.links = 5;
	assert_int_equal(fm_growth_begin(&g, 1, 2, &t, 5, 5), -ENOLINK);
	fm_growth_close(&g, true);
	t.links = 4;
	assert_int_equal(fm_growth_begin(&g, 1, 2, &t, 5, 5), -EBUSY);
	fm_growth_close(&g, false);
	assert_true(!n && !nstages);
	assert_int_equal(fm_growth_begin(&g, 1, 2, &t, 5, 5), 0);
	assert_int_equal(fm_growth_begin(&g, 2, 2, &t, 5, 5), -EBUSY);
}

/* --- a member with a parent ------------------------------------------------------------------- */

static void member_finds_nodes_and_gets_numbers(void **state)
{
	struct fm_growth_msg m;

	(void)state;
	invite(4);
	was(FM_GROWTH_GROWS);
	for (unsigned int p = 1; p < PORTS; p++)
		assert_int_equal(did(p, FM_GROWTH_PROPAGATE)->sent.asked, 1);
	did_no_more();
	theirs[1].done = theirs[2].done = 1;
	tell(1, FM_GROWTH_COMPLETE);
	tell(2, FM_GROWTH_COMPLETE);
	theirs[3].back = 1;	/* the other ports are asked for it */
	tell(3, FM_GROWTH_REFUSE);
	assert_int_equal(did(1, FM_GROWTH_PROPAGATE)->sent.asked, 2);
	did_no_more();
	theirs[1].done = 2;
	tell(1, FM_GROWTH_COMPLETE);
	assert_int_equal(did(0, FM_GROWTH_COMPLETE)->sent.done, 4);
	did_no_more();
	theirs[0].asked = 5;	/* the parent asks for one more */
	tell(0, FM_GROWTH_PROPAGATE);
	did(1, FM_GROWTH_PROPAGATE);
	theirs[1].back = 1;
	tell(1, FM_GROWTH_DEAD_END);
	assert_int_equal(did(2, FM_GROWTH_PROPAGATE)->sent.asked, 2);
	theirs[2].back = 1;
	tell(2, FM_GROWTH_DEAD_END);
	m = *did(0, FM_GROWTH_DEAD_END);
	assert_true(m.sent.back == 1 && m.sent.done == 4 && m.life == LIFE && m.to == PEER);
	did_no_more();
	theirs[0].step = 1;
	m = message(0, FM_GROWTH_NUMBER);
	m.first = 6;
	m.total = 10;
	fm_growth_receive(&g, 0, &m, g.now + 1);
	was(FM_GROWTH_NUMBERED);
	assert_true(g.number == 6 && g.total == 10);
	assert_int_equal(did(1, FM_GROWTH_NUMBER)->first, 7);
	assert_int_equal(did(2, FM_GROWTH_NUMBER)->first, 9);
	theirs[1].step = theirs[2].step = 1;
	tell(1, FM_GROWTH_READY);
	did_no_more();
	tell(2, FM_GROWTH_READY);
	assert_int_equal(did(0, FM_GROWTH_READY)->sent.step, 1);
	did_no_more();
	theirs[0].step = 2;
	m = message(0, FM_GROWTH_START);
	m.first = 6;
	fm_growth_receive(&g, 0, &m, g.now + 1);
	was(FM_GROWTH_RUNS);
	did(1, FM_GROWTH_START);
	assert_int_equal(did(2, FM_GROWTH_START)->sent.step, 2);
	did_no_more();
}

/* Another member that asks this one is refused, and its port is closed. */
static void member_refuses_other_members(void **state)
{
	(void)state;
	invite(1);
	was(FM_GROWTH_GROWS);
	assert_int_equal(did(0, FM_GROWTH_COMPLETE)->sent.done, 1);
	did_no_more();
	theirs[2].asked = 3;
	tell(2, FM_GROWTH_PROPAGATE);
	assert_int_equal(did(2, FM_GROWTH_REFUSE)->sent.back, 3);
	did_no_more();
	theirs[0].asked = 3;
	tell(0, FM_GROWTH_PROPAGATE);
	did(1, FM_GROWTH_PROPAGATE);
	did(3, FM_GROWTH_PROPAGATE);
	did_no_more();
}

static void node_refuses_what_it_cannot_join(void **state)
{
	struct fm_growth_msg m;

	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		begin_node();
		id = (struct fm_growth_id) { .guid = 99, .serial = 8 };
		theirs[0].asked = 4;
		m = message(0, FM_GROWTH_PROPAGATE);
		m.to = 0;
		fm_growth_close(&g, k == 0);
		m.terms.links = k == 1 ? 5 : 0;
		m.terms.rate = k == 2 ? 11 : 0;
		m.received.back = k == 3;	/* it has been refused before */
		fm_growth_receive(&g, 0, &m, 10);
		m = *did(0, FM_GROWTH_REFUSE);
		assert_true(m.id.guid == 99 && m.id.serial == 8 && m.to == PEER && !m.life);
		assert_true(m.received.asked == 4 && m.sent.back == 4);
		assert_int_equal(m.met, k == 0 ? FM_GROWTH_MET_BUSY : k < 3 ? FM_GROWTH_MET_TERMS : 0);
		did_no_more();
		assert_int_equal(nstages, 0);
		/* That is final, for this growth at this port. */
		fm_growth_close(&g, false);
		m = message(0, FM_GROWTH_PROPAGATE);
		m.to = 0;
		fm_growth_receive(&g, 0, &m, 11);
		did(0, FM_GROWTH_REFUSE);
		m.id.serial += k & 1;
		m.id.guid += !(k & 1);
		fm_growth_receive(&g, 0, &m, 11);
		was(FM_GROWTH_GROWS);
	}
}

static void messages_of_other_growths_get_an_answer(void **state)
{
	struct fm_growth_msg m;

	(void)state;
	invite(1);
	at = n;
	nstages = 0;
	for (unsigned int k = 0; k < 2; k++)
		for (enum fm_growth_kind kind = 0; kind < FM_GROWTH_KINDS; kind++) {
			m = message(2, kind);
			m.id.guid += k;
			m.id.serial += !k;
			m.to = 0;
			m.sent.asked = 1;
			fm_growth_receive(&g, 2, &m, 20);
			if (kind == FM_GROWTH_PROPAGATE)
				assert_int_equal(did(2, FM_GROWTH_REFUSE)->met, FM_GROWTH_MET_BUSY);
			else if (kind == FM_GROWTH_RELEASE)
				did(2, FM_GROWTH_RELEASED);
			else if (kind != FM_GROWTH_ACK && kind != FM_GROWTH_RELEASED)
				assert_int_equal(did(2, FM_GROWTH_RELEASE)->end.why,
						 FM_GROWTH_FORGOTTEN);
			did_no_more();
		}
	/* Nor is a question to a former member, or for no node, an invitation. */
	m = message(2, FM_GROWTH_PROPAGATE);
	m.id.serial++;
	m.sent.asked = 1;
	fm_growth_receive(&g, 2, &m, 20);
	did(2, FM_GROWTH_RELEASE);
	m.to = m.sent.asked = 0;
	fm_growth_receive(&g, 2, &m, 20);
	did(2, FM_GROWTH_RELEASE);
	/* Ports that the node does not have, or that are down. */
	fm_growth_receive(&g, PORTS, &m, 20);
	fm_growth_port(&g, 3, &(struct fm_growth_port) { .up = false }, 20);
	fm_growth_receive(&g, 3, &m, 20);
	did_no_more();
	assert_int_equal(nstages, 0);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void release_is_passed_on_and_confirmed(void **state)
{
	struct fm_growth_msg m;

	(void)state;
	invite(3);
	at = n;
	nstages = 0;
	m = message(1, FM_GROWTH_RELEASE);
	m.end = (struct fm_growth_end) { .guid = 33, .why = FM_GROWTH_LATE, .port = 2 };
	fm_growth_receive(&g, 1, &m, 30);
	was(FM_GROWTH_RELEASES);
	did(1, FM_GROWTH_RELEASED);
	for (unsigned int p = 0; p < PORTS; p++)
		if (p != 1)
			assert_memory_equal(&did(p, FM_GROWTH_RELEASE)->end, &m.end, sizeof(m.end));
	did_no_more();
	/* Until all have confirmed it, each other message of this growth is answered by RELEASE. */
	tell(0, FM_GROWTH_ACK);
	did_no_more();
	tell(0, FM_GROWTH_COMPLETE);
	did(0, FM_GROWTH_RELEASE);
	fm_growth_due(&g, 30 + 50 * MS + 5);
	did(0, FM_GROWTH_RELEASE);
	did(2, FM_GROWTH_RELEASE);
	did(3, FM_GROWTH_RELEASE);
	did_no_more();
	tell(0, FM_GROWTH_RELEASED);
	tell(2, FM_GROWTH_RELEASE);		/* it ends there, too */
	did(2, FM_GROWTH_RELEASED);
	assert_int_equal(nstages, 0);
	fm_growth_port(&g, 3, &(struct fm_growth_port) { .up = false }, g.now);
	was(FM_GROWTH_FREE);
	did_no_more();
}

/* The neighbour sends other messages instead, more often than RELEASE is repeated. */
static void neighbour_that_confirms_no_release_holds_node_for_1_s(void **state)
{
	uint64_t since;

	(void)state;
	invite(2);
	fm_growth_release(&g, 30);
	for (unsigned int p = 1; p < PORTS; p++)
		tell(p, FM_GROWTH_RELEASED);
	since = g.now;
	nstages = 0;
	while (!nstages && g.now < since + 10000 * MS) {
		uint64_t next = g.now + 40 * MS;

		n = at = 0;
		tell(0, FM_GROWTH_COMPLETE);
		did(0, FM_GROWTH_RELEASE);
		tell(1, FM_GROWTH_COMPLETE);	/* nor does one that has confirmed it */
		did(1, FM_GROWTH_RELEASE);
		if (fm_growth_expiry(&g) <= next)
			fm_growth_due(&g, fm_growth_expiry(&g));
		g.now = next;
	}
	was(FM_GROWTH_FREE);
	assert_true(g.now <= since + 1100 * MS);
}

static void only_cables_of_tree_end_growth(void **state)
{
	const struct fm_growth_port down = { .up = false }, slow = { .up = true, .rate = 1 };

	(void)state;
	for (unsigned int p = 0; p < PORTS; p++) {
		invite(2);		/* port 1 is asked for one node */
		at = n;
		nstages = 0;
		fm_growth_port(&g, p, &slow, 40);
		assert_int_equal(nstages, 0);
		fm_growth_port(&g, p, &down, 40);
		if (p > 1) {
			assert_int_equal(nstages, 0);
			assert_false(g.open >> p & 1);
			continue;
		}
		was(FM_GROWTH_RELEASES);
		assert_true(g.end.why == FM_GROWTH_LOST && g.end.port == p && g.end.guid == OWN);
		assert_int_equal(n - at, PORTS - 1);
	}
}

/* Each entry makes one message impossible: it ends the growth. */
static void impossible_messages_end_growth(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 12; k++) {
		struct fm_growth_msg m;
		unsigned int p = k < 6 ? 1 : 0;
		bool forgotten = k == 4 || k == 5;

		invite(2);
		theirs[1].done = k == 3;
		m = message(p, FM_GROWTH_COMPLETE);
		m.sent.done += k == 0 ? 2 : 0;		/* more than it was asked for */
		m.received.asked += k == 1;		/* it confirms more than was sent */
		m.sent.step = k == 2 || k == 3 || k == 6 ? 1 : 0;
		m.to += k == 4;				/* to another membership */
		if (k == 5) {
			tell(1, FM_GROWTH_ACK);
			m.life++;			/* from another membership */
		}
		m.received.done += k == 7;
		m.received.step += k == 8;
		m.received.back += k == 9;
		if (k == 10)
			m.sent.asked = TORUS_MAX_NODES + 1;
		if (k == 11)
			m.sent.step = 2;		/* START before READY */
		at = n;
		nstages = 0;
		fm_growth_receive(&g, p, &m, 50);
		was(FM_GROWTH_RELEASES);
		if (k != 9)
			assert_int_equal(g.end.why, forgotten ? FM_GROWTH_FORGOTTEN : FM_GROWTH_FORGED);
		assert_int_equal(g.end.port, p);
	}
}

/*
 * Two messages that are true one by one: all nodes were found, and none was. The growth would wait for
 * other answers until its limit.
 */
static void answers_that_exceed_the_question_together_are_forged(void **state)
{
	struct fm_growth_msg m;

	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		begin_growth(9);
		theirs[1].done = k == 1 ? 0 : 2;
		theirs[1].back = k == 1 ? 2 : 0;
		tell(1, k == 1 ? FM_GROWTH_DEAD_END : FM_GROWTH_COMPLETE);
		m = message(1, FM_GROWTH_DEAD_END);
		m.sent.done = k == 1;
		m.sent.back = k != 1;
		m.life = k == 2 ? 0 : m.life;
		nstages = 0;
		fm_growth_receive(&g, 1, &m, g.now + 1);
		was(FM_GROWTH_RELEASES);
		/* A neighbour that has started again, or is no member any more, has forgotten it. */
		assert_int_equal(g.end.why, k ? FM_GROWTH_FORGOTTEN : FM_GROWTH_FORGED);
		assert_int_equal(g.end.port, 1);
	}
}

/* The membership ended because the message, which is changed so, is that of another one, or forged. */
static void ends_by(unsigned int p, const struct fm_growth_msg *m, enum fm_growth_why why)
{
	nstages = 0;
	fm_growth_receive(&g, p, m, g.now);
	was(FM_GROWTH_RELEASES);
	assert_int_equal(g.end.why, why);
}

static void step_that_cannot_be_taken_ends_growth(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 8; k++) {
		struct fm_growth_msg m;

		invite(2);
		if (k) {		/* port 1 has found the node */
			theirs[1].done = 1;
			tell(1, FM_GROWTH_COMPLETE);
		}
		if (k == 1) {		/* READY before NUMBER */
			theirs[1].step = 1;
			m = message(1, FM_GROWTH_READY);
			ends_by(1, &m, FM_GROWTH_FORGED);
			continue;
		}
		theirs[0].step = 1;
		m = message(0, FM_GROWTH_NUMBER);
		m.first = k == 2 ? 0 : k == 3 ? 19 : 18;
		m.total = 20;
		if (k < 4) {		/* too early, no number, too high a number */
			ends_by(0, &m, FM_GROWTH_FORGED);
			continue;
		}
		n = nstages = 0;
		fm_growth_receive(&g, 0, &m, g.now);
		was(FM_GROWTH_NUMBERED);
		theirs[1].step = k == 4 ? 2 : 1;
		m = message(1, FM_GROWTH_READY);
		if (k == 4) {
			ends_by(1, &m, FM_GROWTH_FORGED);
			continue;
		}
		fm_growth_receive(&g, 1, &m, g.now);
		theirs[0].step = k == 5 ? 3 : 2;
		m = message(0, FM_GROWTH_START);
		if (k == 5) {
			ends_by(0, &m, FM_GROWTH_FORGED);
			continue;
		}
		fm_growth_receive(&g, 0, &m, g.now);
		was(FM_GROWTH_RUNS);
		m = message(1, FM_GROWTH_READY);
		m.sent.step = k == 6 ? 2 : 1;
		m.sent.asked = k == 7;	/* a question when all have numbers */
		ends_by(1, &m, FM_GROWTH_FORGED);
	}
}

static void message_of_other_membership_ends_growth(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 5; k++) {
		struct fm_growth_msg m;

		invite(2);
		tell(1, FM_GROWTH_ACK);
		m = message(1, FM_GROWTH_ACK);
		nstages = 0;
		m.to = k == 1 || k == 3 ? 0 : LIFE;
		m.life = k == 1 ? 0 : k == 4 ? PEER : PEER + 1;
		m.received.back = k == 2 || k == 3;	/* it has got more than was sent */
		if (k > 1) {
			ends_by(1, &m, k == 2 ? FM_GROWTH_FORGED : FM_GROWTH_FORGOTTEN);
			continue;
		}
		fm_growth_receive(&g, 1, &m, g.now);
		assert_int_equal(nstages, 0);
	}
}

/* A node that becomes a member after it has refused goes on with what it has given back. */
static void refusals_before_membership_count(void **state)
{
	struct fm_growth_msg m;

	(void)state;
	invite(1);
	at = n;
	nstages = 0;
	m = message(2, FM_GROWTH_PROPAGATE);
	m.to = 0;
	m.sent.asked = 5;
	m.received.back = 3;
	fm_growth_receive(&g, 2, &m, 30);
	assert_int_equal(did(2, FM_GROWTH_REFUSE)->sent.back, 5);
	assert_int_equal(sent[at - 1].received.asked, 5);
	did_no_more();
	/* Only the first message of a neighbour begins so, and only with what it has asked for. */
	m.sent.asked = 6;
	m.received.back = 5;
	m.to = LIFE;
	fm_growth_receive(&g, 2, &m, 30);
	assert_int_equal(did(2, FM_GROWTH_REFUSE)->sent.back, 6);
	assert_int_equal(nstages, 0);
	m = message(3, FM_GROWTH_PROPAGATE);
	m.sent.asked = 2;
	m.received.back = 9;
	ends_by(3, &m, FM_GROWTH_FORGED);
}

/* A message is answered by the next one over the same cable, or else by ACK 20 ms later. */
static void message_is_answered_by_next_one_or_after_20_ms(void **state)
{
	const struct fm_growth_port down = { .up = false };

	(void)state;
	invite(2);
	at = n;
	assert_int_equal(fm_growth_expiry(&g), 10 + 20 * MS);
	fm_growth_due(&g, 10 + 20 * MS - 1);
	did_no_more();
	fm_growth_due(&g, 10 + 20 * MS);
	assert_int_equal(did(0, FM_GROWTH_ACK)->received.asked, 2);
	did_no_more();
	assert_int_equal(fm_growth_expiry(&g), 10 + 50 * MS);
	/* Two messages get one answer, 20 ms after the first; answers get none. */
	g.now = 100;
	tell(0, FM_GROWTH_PROPAGATE);
	g.now = 100 + 5 * MS;
	tell(0, FM_GROWTH_PROPAGATE);
	tell(1, FM_GROWTH_ACK);
	tell(2, FM_GROWTH_REFUSE);
	assert_int_equal(fm_growth_expiry(&g), 101 + 20 * MS);
	/* COMPLETE is the answer. */
	theirs[1].done = 1;
	tell(1, FM_GROWTH_COMPLETE);
	did(0, FM_GROWTH_COMPLETE);
	did_no_more();
	g.edge[0].due = NEVER;
	assert_int_equal(fm_growth_expiry(&g), g.now + 20 * MS);
	/* A cable that is lost gets no answer, nor does a growth that ended. */
	tell(3, FM_GROWTH_COMPLETE);
	fm_growth_port(&g, 3, &down, g.now);
	assert_true(g.edge[3].ack == NEVER);
	fm_growth_release(&g, g.now);
	for (unsigned int p = 0; p < PORTS; p++)
		assert_true(g.edge[p].ack == NEVER);
}

/* A message is repeated until the other end has confirmed all sums that it has to. */
static void messages_are_repeated_until_confirmed(void **state)
{
	struct fm_growth_msg m;

	(void)state;
	for (unsigned int k = 0; k < 6; k++) {
		unsigned int p = k == 0 ? 1 : k == 5 ? 2 : 0;

		invite(k == 0 || k == 2 ? 2 : 1);
		if (k == 2 || k == 4)
			tell(0, FM_GROWTH_ACK);
		for (unsigned int q = 1; q < PORTS && k == 2; q++) {
			theirs[q].back = 1;	/* nobody finds the node */
			tell(q, FM_GROWTH_REFUSE);
		}
		if (k == 3 || k == 4) {
			tell(0, FM_GROWTH_ACK);
			theirs[0].step = 1;
			m = message(0, FM_GROWTH_NUMBER);
			m.first = 2;
			m.total = 20;
			fm_growth_receive(&g, 0, &m, g.now);
		}
		if (k == 5) {
			theirs[2].asked = 2;
			tell(2, FM_GROWTH_PROPAGATE);
		}
		g.edge[p].tries = 7;
		m = message(p, FM_GROWTH_ACK);
		m.received = g.edge[p].confirmed;
		if (k == 4)
			m.received = g.edge[p].sent;
		if (k == 2)
			m.received.done = 1;
		fm_growth_receive(&g, p, &m, g.now);
		/* A refusal is not repeated: the neighbour asks again if it was lost. */
		assert_int_equal(g.edge[p].due == NEVER, k > 3);
		assert_int_equal(g.edge[p].tries, k == 2 || k == 4 ? 0 : 7);
		tell(p, FM_GROWTH_ACK);
		assert_true(g.edge[p].due == NEVER);
		assert_int_equal(g.edge[p].tries, 0);
	}
}

/* Nothing of a former growth has an effect. */
static void new_growth_begins_anew(void **state)
{
	struct fm_growth_msg m;

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		begin_node();
		memset(g.edge, 1, sizeof(g.edge));
		g.number = g.found = g.total = g.waits = g.added = 5;
		g.met = g.probes = 3;
		g.end = (struct fm_growth_end) { .guid = 1, .why = 2, .port = 3 };
		g.limit = g.probe = 77;
		if (k) {
			id = (struct fm_growth_id) { .guid = 99, .serial = 8 };
			theirs[0].asked = 3;
			m = message(0, FM_GROWTH_PROPAGATE);
			m.received = (struct fm_growth_sums) { .asked = 0 };
			m.to = 0;
			m.total = 12;
			m.terms.rate = 4;
			fm_growth_receive(&g, 0, &m, 10);
			assert_true(g.total == 12 && g.terms.rate == 4 && g.edge[0].life == PEER);
			assert_true(g.limit == NEVER && g.probe == 10 + 1000 * MS && g.added == 1);
		} else {
			assert_int_equal(fm_growth_begin(&g, 3, TORUS_MAX_NODES, &any, 1000, 10), 0);
			assert_int_equal(g.now, 10);
		}
		assert_int_equal(did(k, FM_GROWTH_PROPAGATE)->sent.asked,
				 k ? 1 : (TORUS_MAX_NODES + 2) / PORTS);
		assert_true(!g.number && !g.found && !g.met && !g.probes && !g.waits);
		assert_true(!g.end.guid && g.end.port == FM_GROWTH_NO_PORT);
	}
}

static void member_that_is_ordered_to_releases_its_partition(void **state)
{
	const struct fm_growth_port down = { .up = false };

	(void)state;
	begin_growth(1);
	nstages = 0;
	fm_growth_port(&g, 2, &down, 15);
	assert_int_equal(nstages, 0);		/* it runs */
	assert_int_equal(fm_growth_release(&g, 20), 0);
	was(FM_GROWTH_RELEASES);
	assert_int_equal(g.edge[0].due, 20 + 50 * MS);
	for (unsigned int p = 0; p < PORTS; p++)
		if (p != 2)
			assert_int_equal(did(p, FM_GROWTH_RELEASE)->end.why, FM_GROWTH_STOPPED);
	did_no_more();
	assert_true(fm_growth_expiry(&g) == 1 || fm_growth_expiry(&g) == 20 + 50 * MS);
	/* Without cables nobody has to confirm it; the number of the next membership is not 0. */
	begin_growth(1);
	nstages = 0;
	g.life = UINT32_MAX;
	for (unsigned int p = 0; p < PORTS; p++)
		fm_growth_port(&g, p, &down, 15);
	assert_int_equal(fm_growth_release(&g, 20), 0);
	assert_int_equal(nstages, 2);
	assert_int_equal(stages[1], FM_GROWTH_FREE);
	assert_int_equal(g.life, 1);
}

/* A port that was lost forgets what was refused there; a lost child ends a growth that has numbers. */
static void lost_port_forgets_and_ends(void **state)
{
	const struct fm_growth_port down = { .up = false }, up = { .up = true, .rate = 10, .margin = 5 };
	struct fm_growth_msg m;

	(void)state;
	begin_node();
	id = (struct fm_growth_id) { .guid = 99, .serial = 8 };
	theirs[0].asked = 2;
	m = message(0, FM_GROWTH_PROPAGATE);
	m.to = 0;
	fm_growth_close(&g, true);
	fm_growth_receive(&g, 0, &m, 10);
	did(0, FM_GROWTH_REFUSE);
	fm_growth_close(&g, false);
	fm_growth_port(&g, 0, &down, 11);
	fm_growth_port(&g, 0, &up, 12);
	fm_growth_receive(&g, 0, &m, 13);
	was(FM_GROWTH_GROWS);
	theirs[1].done = 1;
	tell(1, FM_GROWTH_COMPLETE);
	fm_growth_port(&g, 2, &down, 14);
	theirs[0].step = 1;
	m = message(0, FM_GROWTH_NUMBER);
	m.first = 2;
	m.total = 20;
	fm_growth_receive(&g, 0, &m, 15);
	was(FM_GROWTH_NUMBERED);
	fm_growth_port(&g, 2, &down, 14);	/* it is down already */
	assert_int_equal(nstages, 0);
	fm_growth_port(&g, 1, &down, 16);
	was(FM_GROWTH_RELEASES);
	assert_true(g.end.why == FM_GROWTH_LOST && g.end.port == 1);
	assert_int_equal(g.now, 16);
}

/* The reasons of refusals go up to the first member. */
static void reasons_of_refusals_reach_parent(void **state)
{
	struct fm_growth_msg m;

	(void)state;
	invite(2);
	for (unsigned int p = 1; p < PORTS; p++) {
		theirs[p].back = 1;
		m = message(p, FM_GROWTH_REFUSE);
		m.met = p == 1 ? FM_GROWTH_MET_TERMS : p == 2 ? FM_GROWTH_MET_BUSY : 0;
		fm_growth_receive(&g, p, &m, 12);
	}
	assert_int_equal(sent[n - 1].kind, FM_GROWTH_DEAD_END);
	assert_int_equal(sent[n - 1].met, FM_GROWTH_MET_TERMS | FM_GROWTH_MET_BUSY);
	assert_int_equal(sent[n - 2].kind, FM_GROWTH_COMPLETE);	/* it has found itself */
}

/* --- time ------------------------------------------------------------------------------------- */

static void message_is_repeated_until_neighbour_is_silent(void **state)
{
	(void)state;
	invite(2);
	nstages = 0;
	g.probe = NEVER;
	g.edge[0].ack = NEVER;
	for (unsigned int i = 0; i < 20; i++) {
		at = n = 0;
		assert_int_equal(fm_growth_expiry(&g), g.now + 50 * MS);
		fm_growth_due(&g, fm_growth_expiry(&g) - 1);
		did_no_more();
		fm_growth_due(&g, fm_growth_expiry(&g));
		did(1, FM_GROWTH_PROPAGATE);
		did_no_more();
		poison();
		g.edge[PORTS].due = NEVER;
		assert_int_equal(nstages, 0);
		g.now = fm_growth_expiry(&g) - 50 * MS;
	}
	fm_growth_due(&g, fm_growth_expiry(&g));
	was(FM_GROWTH_RELEASES);
	assert_true(g.end.why == FM_GROWTH_SILENT && g.end.port == 1);
	/* A release that is not confirmed ends without the silent ones. */
	for (unsigned int i = 0; i < 21; i++) {
		n = 0;
		fm_growth_due(&g, fm_growth_expiry(&g));
	}
	was(FM_GROWTH_FREE);
}

static void parent_is_probed_until_it_is_silent(void **state)
{
	(void)state;
	for (unsigned int answers = 0; answers < 2; answers++) {
		invite(1);
		tell(0, FM_GROWTH_ACK);
		nstages = 0;
		for (unsigned int i = 0; i < 5; i++) {
			at = n;
			g.edge[0].due = NEVER;
			assert_int_equal(fm_growth_expiry(&g), g.now + 1000 * MS);
			fm_growth_due(&g, fm_growth_expiry(&g));
			did(0, FM_GROWTH_COMPLETE);
			did_no_more();
			g.edge[0].due = NEVER;
		}
		if (answers)
			tell(0, FM_GROWTH_ACK);
		g.edge[0].due = NEVER;
		fm_growth_due(&g, fm_growth_expiry(&g));
		assert_int_equal(nstages, !answers);
		if (!answers)
			assert_true(g.end.why == FM_GROWTH_SILENT && g.end.port == 0);
	}
}

/* Only the parent's messages show that it is there, and only before the start. */
static void running_member_does_not_probe(void **state)
{
	struct fm_growth_msg m;
	uint64_t probe;

	(void)state;
	invite(2);
	probe = g.probe;
	assert_int_equal(probe, 10 + 1000 * MS);
	theirs[1].done = 1;
	tell(1, FM_GROWTH_COMPLETE);
	assert_int_equal(g.probe, probe);
	theirs[0].step = 1;
	m = message(0, FM_GROWTH_NUMBER);
	m.first = 2;
	m.total = 20;
	fm_growth_receive(&g, 0, &m, 500);
	assert_int_equal(g.probe, 500 + 1000 * MS);
	theirs[1].step = 1;
	tell(1, FM_GROWTH_READY);
	theirs[0].step = 2;
	tell(0, FM_GROWTH_START);
	assert_true(g.probe == NEVER);
	tell(0, FM_GROWTH_ACK);
	assert_true(g.probe == NEVER);
}

/* The port that is named is the first one whose nodes were not found, or have no numbers. */
static void first_member_names_port_without_answer_at_limit(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		begin_growth(5);
		for (unsigned int p = 0; p < (k < 3 ? k : PORTS); p++) {
			theirs[p].done = 1;
			tell(p, FM_GROWTH_COMPLETE);
		}
		if (k == 3) {
			theirs[0].step = 1;
			tell(0, FM_GROWTH_READY);
		}
		nstages = 0;
		fm_growth_due(&g, 1010);
		was(FM_GROWTH_RELEASES);
		assert_int_equal(g.end.why, FM_GROWTH_LATE);
		assert_int_equal(g.end.port, k < 3 ? k : 1);
	}
}

static void first_member_gives_up_at_limit(void **state)
{
	(void)state;
	begin_growth(5);
	nstages = 0;
	assert_int_equal(fm_growth_expiry(&g), 1010);
	fm_growth_due(&g, 1009);
	assert_int_equal(nstages, 0);
	fm_growth_due(&g, 1010);
	was(FM_GROWTH_RELEASES);
	assert_true(g.end.why == FM_GROWTH_LATE && g.end.guid == OWN);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(growth_of_one_node_runs_at_once),
		cmocka_unit_test(first_member_shares_numbers_and_starts),
		cmocka_unit_test(first_member_ends_growth_that_finds_too_few),
		cmocka_unit_test(growth_begins_only_with_possible_terms),
		cmocka_unit_test(member_finds_nodes_and_gets_numbers),
		cmocka_unit_test(member_refuses_other_members),
		cmocka_unit_test(node_refuses_what_it_cannot_join),
		cmocka_unit_test(messages_of_other_growths_get_an_answer),
		cmocka_unit_test(release_is_passed_on_and_confirmed),
		cmocka_unit_test(neighbour_that_confirms_no_release_holds_node_for_1_s),
		cmocka_unit_test(only_cables_of_tree_end_growth),
		cmocka_unit_test(impossible_messages_end_growth),
		cmocka_unit_test(step_that_cannot_be_taken_ends_growth),
		cmocka_unit_test(answers_that_exceed_the_question_together_are_forged),
		cmocka_unit_test(message_of_other_membership_ends_growth),
		cmocka_unit_test(refusals_before_membership_count),
		cmocka_unit_test(message_is_answered_by_next_one_or_after_20_ms),
		cmocka_unit_test(messages_are_repeated_until_confirmed),
		cmocka_unit_test(new_growth_begins_anew),
		cmocka_unit_test(member_that_is_ordered_to_releases_its_partition),
		cmocka_unit_test(lost_port_forgets_and_ends),
		cmocka_unit_test(reasons_of_refusals_reach_parent),
		cmocka_unit_test(running_member_does_not_probe),
		cmocka_unit_test(message_is_repeated_until_neighbour_is_silent),
		cmocka_unit_test(parent_is_probed_until_it_is_silent),
		cmocka_unit_test(first_member_gives_up_at_limit),
		cmocka_unit_test(first_member_names_port_without_answer_at_limit),
	};

	return cmocka_run_group_tests_name("fm_growth_node", all, NULL, NULL);
}
