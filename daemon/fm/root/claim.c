// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: how a node becomes root
 *
 * The node whose NIC has the bootstrap flag leads at once when its manager starts, and makes the
 * first table, if no NIC knows of a former root and no table was kept (node/keep.c). In all other
 * cases, also after a restart of the root's manager, or after the first root has given way to
 * another one, a node becomes root in three stages:
 *
 *	ASKS Its Inits show that it asks to be root. Nodes that have lost their root
 *		(node/follow.c) connect and send HELLO, with their cables, their table, and the root
 *		that their NIC obeys. This does not bind them. The Inits contain the latest epoch
 *		that the node knows, from HELLOs or from neighbours that have lost a later root:
 *		nodes that know that epoch follow no node that asks in an earlier one.
 *	CLAIMS	When the nodes that sent HELLO would be enough, the asking node takes an epoch after
 *		all that they know, and asks for their promises: each manager orders its NIC to obey
 *		this root in this epoch, and from then on the NIC refuses orders of earlier epochs.
 *		The manager then sends HELLO again: that is its promise.
 *	LEADS	When the promises are enough, and the arbiter of the site, if there is one, allows
 *		it (arbiter.c). The new root begins with the contents of the HELLOs: tables, places,
 *		versions, counts, exclusions. The first table is made as after a restart (settle.c).
 *
 * Which promises are enough: those of a quorum of the latest table (quorum.c has the proof); or
 * those of all NICs that can be reached, that is, no port that is up leads to a NIC whose manager
 * has not promised. Then no packet passes between these NICs and any other.
 *
 * A part that is cut off gets a root of its own only after it has been cut off for a while. That is
 * member_max, plus the lag of the asking node (node/lag.c), without a change of any port of the
 * nodes that take part, and without a further node. A link is also lost if a NIC stood still for
 * longer than links stay up without a frame, and where many nodes share a machine all of them may
 * have stood still. Then the others live, and most of them are back when the wait is over. A root
 * of a few nodes would take them for dead, and packets to them would come back as unreachable. As
 * long as the part waits, packets to the others are parked or held.
 *	Safety: the wait only makes a step later that the theorem (quorum.c) allows at any time.
 *	Liveness: it ends by time alone once links do not change, and the node asks at least as long
 *	(ASK_MAX does not count meanwhile). A claim by quorum never waits for it. There is also
 *	no wait if as many nodes take part as the shape has, or if all their ports are up: then no
 *	other node is cut off; or if the part has no rows, places or kept tables: then there is
 *	nothing to lose.
 *
 * How asking ends.
 *  - A node asks only while no neighbour's Init names a root of its fabric that leads in its epoch
 *    or a later one, and is not before the root that its NIC obeys; while it claims, only a root
 *    that is later than its claim ends that (epoch.c).
 *  - If it asks without success for ASK_MAX, it joins any root that leads, also one of an earlier
 *    epoch. That root learns the later epoch from it, and asks all nodes again.
 *  - If no root has led the node since its manager started, and another candidate takes part, the
 *    node gives up after a random time, because the other candidate may reach more nodes; it asks
 *    again later. A claim that fails for lack of promises counts as a part of that time.
 *  - If two nodes ask, the one with the later epoch goes on, and the other one gives up; if both
 *    have the same epoch, the one with the greater GUID goes on. If both claim, either their epochs
 *    differ, or no node promises to both.
 *  - If the node finds a node that obeys a later epoch, or another root in its own epoch, it asks
 *    again (epoch.c).
 *
 * A root that leads gives way to a later root that leads a neighbour of its fabric, but only if it
 * can reach that root (node/try.c). A root that leads no other node, beside nodes that it does not
 * know, also gives way to a root of its own epoch that leads these.
 *
 * Another fabric of the same name and key may be cabled to this one. If a root that leads no other
 * node finds nodes of that fabric that have lost their root in a later epoch, it asks again, and
 * may win. Like any root it begins with the latest table of all of them. So these nodes keep their
 * places, and the root itself has no place, which ranks.c reports.
 *
 * A part may have a root that a neighbour of the asking node follows, and that the service network
 * does not reach from here (node/try.c). The claim then takes an epoch above that root's, too, so
 * that the two roots have different numbers, and one of them is the later root when they can reach
 * each other.
 *
 * Repetition. Messages may be lost or late: HELLO is repeated until WELCOME, and answered each
 * time. While a node only asks, repeated HELLOs merely show that their senders still live, so it
 * answers after which time it wants the next one: HELLO_EACH for each connection that it has, but
 * no less than resend and no more than a keep-alive. So 100 to 1000 nodes send 1000 HELLOs a
 * second, and more nodes send as many as they would send keep-alives. First HELLOs, and those with
 * news, are not delayed, so a claim begins as soon as before; in a claim all nodes send HELLO each
 * resend.
 *
 * Calls. A NIC whose manager hangs or is away passes no Init on. A node that can be reached only
 * through such NICs is called over the service network by the asking node (calls.c). A call
 * contains an Init, and binds no node. It changes neither how many nodes are enough nor the meaning
 * of a promise. The called node believes a call under the same conditions as an Init
 * (node/called.c). Then it does what all nodes do: it connects, sends HELLO, and orders its NIC to
 * obey if a CLAIM comes back on that connection. However the manager learned of the root, its NIC
 * promises to one root at most in each epoch, and refuses the orders of earlier epochs. So the
 * quorums of two roots have a node in common, whether both have called that node or not. And a call
 * that is forged, lost, duplicated or late has the effect of such an Init. Tables reach that node
 * by the tree, whose connections are TCP in any case: its parent need not be a neighbour.
 *
 * Trust. HELLO, CLAIM and WELCOME go over TCP. When a connection begins, both ends prove that they
 * know the key, but the bytes that follow are not authenticated. A forged CLAIM or WELCOME makes a
 * NIC obey an epoch in which no root leads (at most FM_EPOCH_STEP later). The NIC then refuses the
 * true root until that has learned the epoch and asks again; many forged messages would prevent
 * recoveries. A forged HELLO may contain a promise that no NIC has made, and then two roots could
 * lead. So no other host may be able to alter bytes of the service network: it must be a separate
 * network, as fabricd(8) requires.
 *
 * Tests: tests/spin/takeover.pml (with both ways to learn of a claim), tests/unit/test_fm_claim.c,
 * test_fm_claim_table.c and test_fm_asking.c, tests/sim/test_takeover.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/claim.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/children.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/verdict.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/root/arbiter.h"
#include "daemon/fm/root/calls.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/epoch.h"
#include "daemon/fm/root/news.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/wire/init.h"
#include "lib/deps/invariant.h"

/* The first three times are multiples of fm_config.resend. */
#define ASK_MAX 20	/* after this time the node has asked without success */
#define CLAIM_MAX 10	/* a claim fails if no node has promised for this time */
#define TURN 8		/* multiplied by a random number from 1 to 2: the time after ASK_MAX when
			 * another candidate may ask instead */
#define HELLO_EACH MS	/* least average time between two HELLOs of all nodes together, while
			 * this node asks */

/**
 * struct fm_asking - the claim of this root
 * @is_sent: the epoch of the claim was sent to all nodes that wait for WELCOME
 * @won: this node leads because it asked and claimed, not as the first root
 * @handed: the former root has handed over to this node; @relieves: it did so because its own NIC
 *	fails
 * @anew: this node was root before, and asks again because it found a later epoch
 * @at: when the claim is checked next; NEVER
 * @around: when this node next asks its neighbours which root they follow, if it has no success
 * @beside: latest epoch of a root that leads a neighbour of this fabric
 * @turn: if another candidate takes part: how long this node asks on after ASK_MAX; 0: not drawn
 *	yet
 * @witness: index of a node that, at the last check, had a link to a NIC that does not take part
 * @here, @need: result of fm_quorum_count() at the last check
 * @most: the greatest @here so far; @grew: when it rose last
 * @ports: a hash of the port rows of all nodes that have sent HELLO
 * @apart: time since which no link leads out of this part of the fabric, and @ports has not
 * changed;
 *	NEVER: a link leads out
 * @why: why this node leads, as text for people
 */
struct fm_asking {
	bool is_sent, won, handed, relieves, anew;
	uint64_t at, around, beside, turn, grew, ports, apart;
	uint32_t witness, here, need, most;
	char why[FM_TEXT_MAX / 4];
};

bool fm_claim_new(struct fm_root *r)
{
	r->asking = calloc(1, sizeof(*r->asking));
	return r->asking;
}

void fm_claim_free(struct fm_root *r)
{
	free(r->asking);
}

void fm_claim_count(const struct fm_root *r, uint32_t *here, uint32_t *need)
{
	*here = r->asking->here;
	*need = r->asking->need;
}

const char *fm_claim_why(const struct fm_root *r)
{
	return r->asking->why;
}

bool fm_claim_leads(const struct fm *fm)
{
	return fm->root->stage == FM_STAGE_LEADS;
}

/* Return: true if a link leads from @m to a NIC whose manager does not take part. */
static bool is_beside_other(const struct fm *fm, const struct fm_record *m)
{
	/*
	 * All ports of the NIC, because the asking node may not know the number of dimensions yet.
	 */
	for (unsigned int p = 0; p < m->row.nports; p++) {
		const struct fm_port_row *port = &m->row.port[p];
		const struct fm_record *o;

		if (port->state != FM_PORT_UP || !port->peer_guid)
			continue;
		o = fm_record(fm->root, port->peer_guid);
		if (!o || !fm_quorum_here(fm, o))
			return true;
	}
	return false;
}

/*
 * Return: true if no link leads from a NIC that takes part to a NIC that does not, so that no
 * packet can pass.
 */
static bool is_alone(struct fm *fm)
{
	struct fm_root *r = fm->root;
	struct fm_asking *a = r->asking;

	for (uint32_t i = 0; i < fm_roster_size(r); i++) {
		uint32_t at = (a->witness + i) % fm_roster_size(r);

		if (fm_quorum_here(fm, fm_record_no(r, at)) &&
		    is_beside_other(fm, fm_record_no(r, at))) {
			a->witness = at;
			return false;
		}
	}
	return true;
}

/* Return: a hash of the port rows of all nodes that have sent HELLO. */
static uint64_t hash_ports(const struct fm *fm)
{
	const struct fm_root *r = fm->root;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < fm_roster_size(r); i++) {
		const struct fm_record *m = fm_record_no(r, i);

		hash += fm_mix(m->guid ^ fm_mix(m->row.serial + 1));
	}
	return hash;
}

/* Return: true if all ports of @m that the fabric uses are up. */
static bool has_all_ports(const struct fm *fm, const struct fm_record *m)
{
	for (unsigned int p = 0; p < 2 * fm->ndims && p < m->row.nports; p++)
		if (m->row.port[p].state != FM_PORT_UP)
			return false;
	return fm->ndims;
}

/* Return: true if no node is missing, as far as the shape or the ports show it. */
static bool is_whole(const struct fm *fm)
{
	const struct fm_root *r = fm->root;
	uint32_t here = 0;
	bool all = true;

	for (uint32_t i = 0; i < fm_roster_size(r); i++) {
		if (!fm_quorum_here(fm, fm_record_no(r, i)))
			continue;
		here++;
		all = all && has_all_ports(fm, fm_record_no(r, i));
	}
	return all || here == torus_nodes(&r->shape);
}

/*
 * Notes whether the nodes that take part are cut off from all others, and since when. While this
 * node claims, nodes that have not promised yet count as others; that alone does not reset the
 * time.
 */
static void look_apart(struct fm *fm)
{
	struct fm_asking *a = fm->root->asking;
	uint64_t ports = hash_ports(fm);
	bool alone = is_alone(fm);

	if (a->ports != ports || (!alone && fm->root->stage == FM_STAGE_ASKS))
		a->apart = NEVER;
	if (alone && a->apart == NEVER)
		a->apart = fm->now;
	a->ports = ports;
}

/*
 * Return: true if this part of the fabric is cut off, but not for long enough yet: see the head of
 * this file.
 */
static bool waits_apart(const struct fm *fm)
{
	const struct fm_asking *a = fm->root->asking;

	return a->apart != NEVER && a->need &&
	       fm->now < a->apart + fm->cfg.member_max + fm_lag_answer(fm) && !is_whole(fm);
}

/* Return: true if the nodes that take part are cut off from all others for long enough. */
static bool is_apart(struct fm *fm)
{
	return fm->root->asking->apart != NEVER && !waits_apart(fm) && is_alone(fm);
}

static bool are_enough(struct fm *fm)
{
	return is_apart(fm) || fm_quorum_claimed(fm);
}

void fm_claim_look(struct fm *fm)
{
	struct fm_asking *a = fm->root->asking;

	if (fm->root->stage != FM_STAGE_LEADS)
		a->at = earlier(a->at, fm->now + MS / 2);
}

/*
 * Return: true if this node has asked without success for ASK_MAX. The time restarts while the
 * number of nodes that take part still rises, because calls may still reach more of them: calls go
 * to 16 nodes at a time, and each node that hangs takes 500 ms.
 */
static bool has_no_success(const struct fm *fm)
{
	const struct fm_root *r = fm->root;
	uint64_t more = fm_lag_answer(fm);

	return r->stage == FM_STAGE_ASKS && !waits_apart(fm) &&
	       fm->now >= r->begun + ASK_MAX * fm->cfg.resend + more &&
	       fm->now >= r->asking->grew + ASK_MAX / 2 * fm->cfg.resend + more;
}

/* Return: true if another root has led this node before, which the node can try to join again. */
static bool was_led(const struct fm *fm)
{
	return fm->led.guid && fm->led.guid != fm->guid;
}

/* Stops asking: the node tries the root that led it last, or waits for another node that asks. */
static void step_back(struct fm *fm)
{
	fm->root->ending = was_led(fm) ? FM_ENDS_BACK : FM_ENDS_ALONE;
}

/* Return: true if another candidate takes part, which could ask instead. */
static bool has_other_candidate(const struct fm *fm)
{
	const struct fm_root *r = fm->root;

	for (uint32_t i = 1; i < fm_roster_size(r); i++) {
		const struct fm_record *m = fm_record_no(r, i);

		if (fm_quorum_here(fm, m) && fm_candidate_priority(m->priority, m->node))
			return true;
	}
	return false;
}

/*
 * Called if no root has led this node since its NIC was started: it asks its neighbours which root
 * they follow, and continues to ask to be root. If another candidate takes part, it does so only
 * for a while: that candidate cannot ask as long as it follows this node, and may reach more nodes.
 */
static void ask_around(struct fm *fm)
{
	struct fm_asking *a = fm->root->asking;
	uint64_t turn = TURN * fm->cfg.resend;

	if (fm->now >= a->around) {
		a->around = fm->now + ASK_MAX * fm->cfg.resend;
		fm_ports_ask(fm);
	}
	if (!a->turn)
		a->turn = turn + fm_random(fm) % turn;
	if (fm->now >= fm->root->begun + ASK_MAX * fm->cfg.resend + a->turn &&
	    has_other_candidate(fm))
		step_back(fm);
}

/* Return: ns after which a node without news has to repeat HELLO. */
static uint64_t hello_again(const struct fm *fm)
{
	uint64_t all = fm_conns_count(fm) * HELLO_EACH;

	return later(fm->cfg.resend, earlier(all, fm->cfg.keepalive));
}

static void send_claim(struct fm *fm, const struct fm_conn *c)
{
	struct fm_msg msg = { .type = FM_MSG_CLAIM };

	if (fm->root->stage != FM_STAGE_ASKS)
		msg.claim.epoch = fm->term;
	else
		msg.claim.again_ms = (uint32_t)(hello_again(fm) / MS);
	msg.claim.guid = fm->guid;
	msg.claim.here = fm->root->asking->here;
	msg.claim.need = fm->root->asking->need;
	fm_conn_send(fm, c, &msg);
}

/*
 * Goes back from a claim that has not won to asking. Nodes that promised in the claim were
 * welcomed, and do not repeat HELLO: they would not get the next epoch, and would count in it
 * although their NICs obey this root only in the former one. So all nodes have to join again.
 */
static void ask_again(struct fm *fm)
{
	struct fm_root *r = fm->root;

	r->stage = FM_STAGE_ASKS;
	for (uint32_t i = 1; i < fm_roster_size(r); i++)
		if (fm_record_no(r, i)->via)
			r->anew = true;
}

static void note_hello(struct fm *fm, struct fm_record *m, const struct fm_hello *h)
{
	if (!fm_quorum_here(fm, m))
		fm_calls_joined(fm);
	m->stated.received = fm->now;
	if (m->epoch && m->epoch != h->epoch) {
		fm_quorum_forgot(fm, m);
		fm_change_node(fm, m->node);
	}
	fm_quorum_note(m, h);
	fm->root->high = later(fm->root->high, later(fm_epoch_stated(h), h->kept_term));
	if (fm->root->stage == FM_STAGE_LEADS)
		fm_quorum_hello(fm, m);
	fm_claim_look(fm);
}

/* Return: true if this node leads as the first root of the fabric, and has no table yet. */
static bool is_first(const struct fm *fm)
{
	return fm_claim_leads(fm) && !fm->root->settled && !fm->root->asking->won;
}

void fm_claim_anew(struct fm *fm, uint64_t epoch)
{
	struct fm_asking *a = fm->root->asking;

	fm->root->high = later(fm->root->high, epoch);
	if (fm->root->stage == FM_STAGE_LEADS) {
		fm->root->anew = true;
		return;
	}
	ask_again(fm);
	fm->root->since = fm->root->begun = a->at = fm->now;
}

void fm_claim_again(struct fm *fm, uint64_t high, uint64_t begun)
{
	struct fm_root *r = fm->root;

	r->high = later(high, r->high);
	r->begun = begun;
	r->asking->anew = true;
	fm->root_epoch = later(high, fm->root_epoch);
}

void fm_claim_history(struct fm *fm, const struct fm_init *init)
{
	struct fm_asking *a = fm->root->asking;

	if (!init->lost && !init->asks && init->root_guid != fm->guid && fm_follow_own(fm, init))
		a->beside = later(a->beside, init->epoch);
	/*
	 * An Init that names this node as root is news only if its epoch is later than the present
	 * one: a former process of this manager led in it.
	 */
	if (init->root_guid == fm->guid ? init->epoch <= fm->term : !init->lost && !init->asks)
		return;
	if (fm->root->stage == FM_STAGE_ASKS && init->lost && init->epoch > fm->root->high) {
		fm->root->high = init->epoch;
		fm_claim_look(fm);
	}
	/*
	 * The neighbour has lost a root of a later epoch, so it cannot follow this root in an
	 * earlier one.
	 */
	if (is_first(fm) ? init->epoch >= fm->term :
	    fm_claim_leads(fm) && init->epoch > fm->term &&
	    init->epoch <= fm->term + FM_EPOCH_STEP && !fm_follow_knows(fm, init->guid))
		fm_claim_anew(fm, init->epoch);
}

/*
 * The first root has found nodes that obey another root, but have no place: neither root has made a
 * table. This root goes on leading in a later epoch, and all nodes send HELLO again.
 */
static void join_anew(struct fm *fm, uint64_t epoch)
{
	struct fm_root *r = fm->root;

	r->knows = true;
	fm_children_drop(fm);
	for (uint32_t i = 1; i < fm_roster_size(r); i++)
		if (fm_record_no(r, i)->via)
			fm_record_missing(fm, fm_record_no(r, i));
	fm_epoch_raise(fm, epoch);
}

/*
 * Compares the epoch of a root that leads or claims with those in a HELLO. If it is not later than
 * those, the root changes its epoch, or asks all nodes again. Return: true if it is later.
 */
static bool compare_epochs(struct fm *fm, const struct fm_hello *h)
{
	bool history = h->placed && h->version, first = is_first(fm);

	if (fm->root->stage == FM_STAGE_ASKS)
		return false;
	if (!(first && history) && fm_epoch_above(fm, h))
		return true;
	if (first && history)
		fm_log(fm, FM_INFO, "root",
		       "'%s' has rows of a former root: all nodes are asked anew", h->name);
	if (first && !history && !h->kept_term && !h->kept)
		join_anew(fm, fm_epoch_stated(h) + 1);
	else
		fm_claim_anew(fm, fm_epoch_stated(h));
	return false;
}

bool fm_claim_hello(struct fm *fm, struct fm_conn *c, struct fm_record *m, const struct fm_hello *h)
{
	bool is = compare_epochs(fm, h);

	note_hello(fm, m, h);
	if (!is && fm_claim_leads(fm))
		return false;
	if (is) {
		/*
		 * If this manager is restarted, only its NIC keeps the epoch. Before the NIC obeys
		 * it, this node could use the same epoch a second time after a restart.
		 */
		if (!fm_nic_obeys(fm))
			return false;
		if (h->root_epoch == fm->term)
			return true;
		m->stated.claimed = fm->term;
	}
	c->waits = true;
	m->stated.again = hello_again(fm);
	send_claim(fm, c);
	return false;
}

static void begin_claim(struct fm *fm)
{
	struct fm_asking *a = fm->root->asking;

	invariant(fm->root->stage == FM_STAGE_ASKS);
	fm->root->stage = FM_STAGE_CLAIMS;
	fm->root->since = a->grew = fm->now;
	a->most = 0;
	a->is_sent = false;
	fm_epoch_raise(fm, later(later(fm->root->high, a->beside),
				 later(fm_nic_latest(fm), fm->term)) + 1);
	fm_ports_spread(fm);
	fm_log(fm, FM_INFO, "root", "this node claims epoch %llu", (unsigned long long)fm->term);
}

/* Sends the claim to all nodes that have sent HELLO and wait for WELCOME. */
static void claim_all(struct fm *fm)
{
	struct fm_root *r = fm->root;

	r->asking->is_sent = true;
	for (uint32_t i = 1; i < fm_roster_size(r); i++)
		fm_record_no(r, i)->stated.claimed = fm->term;
	for (unsigned int i = 0; i < fm_conns_count(fm); i++)
		if (fm_conn_no(fm, i)->role == FM_CONN_STRANGER && fm_conn_no(fm, i)->waits)
			send_claim(fm, fm_conn_no(fm, i));
}

/* Sets the text with the reason why this node leads. */
static void set_why(struct fm *fm)
{
	const struct fm_root *r = fm->root;
	struct fm_asking *a = fm->root->asking;
	const struct fm_entry *e = fm_table_entry(fm, r->former.root);
	char former[TORUS_NAME_MAX + 1];

	if (e)
		strcpy(former, e->name);
	else
		snprintf(former, sizeof(former), "%016llx", (unsigned long long)r->former.root);
	if (!r->former.table || r->former.root == fm->guid)
		strcpy(a->why, a->anew ? "root asked all nodes anew" : "root restarted");
	else
		snprintf(a->why, sizeof(a->why),
			a->relieves ? "root '%s' handed over: its NIC fails" :
			a->handed ? "root moved from '%s'" : "root '%s' lost", former);
}

static void begin_lead(struct fm *fm, bool alone)
{
	struct fm_root *r = fm->root;
	uint32_t n = 0;

	invariant(r->stage == FM_STAGE_CLAIMS && fm_nic_obeys(fm));
	fm_quorum_begin(fm);
	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		n += fm_quorum_here(fm, fm_record_no(r, i));
	r->stage = FM_STAGE_LEADS;
	r->since = fm->now;
	r->asking->at = NEVER;
	r->asking->won = true;
	set_why(fm);
	fm_follow_led(fm, fm->term);
	fm_uplink_adrift(fm, false);
	for (uint32_t i = 1; i < fm_roster_size(r); i++)
		if (!fm_record_no(r, i)->via && !fm_record_no(r, i)->missing)
			fm_record_missing(fm, fm_record_no(r, i));
	fm_news_begin(fm);
	fm_log(fm, r->former.table && r->former.root != fm->guid &&
	       (!r->asking->handed || r->asking->relieves) ? FM_WARNING : FM_INFO, "root",
	       "this node is root now, in epoch %llu: %s; %u %s%s",
	       (unsigned long long)fm->term, r->asking->why, n,
	       n == 1 ? "node obeys" : "nodes obey", alone ? ", all that links lead to" : "");
}

void fm_claim_begin(struct fm *fm, bool leads)
{
	struct fm_asking *a = fm->root->asking;

	fm->root->stage = leads ? FM_STAGE_LEADS : FM_STAGE_ASKS;
	a->at = leads ? NEVER : fm->now;
	a->apart = NEVER;
	fm->root->since = fm->root->begun = fm->now;
	fm->root->high = later(fm_nic_latest(fm), fm->kept.term);
	a->handed = fm_candidate_take_call(fm, &a->relieves);
	strcpy(a->why, "first root");
	fm->root_asks = !leads;
	fm->root_lost = false;
	fm->root_epoch = fm->term;
	fm_calls_begin(fm, leads);
	if (leads)
		fm_uplink_adrift(fm, false);
}

/* Called when the promises are enough: leads, or waits for the arbiter, or ends the claim. */
static void end_claim(struct fm *fm)
{
	bool ends;

	if (fm_arbiter_lets(fm, fm_quorum_claimed(fm), &ends)) {
		begin_lead(fm, is_alone(fm));
	} else if (ends) {
		ask_again(fm);
		fm->root->since = fm->root->begun = fm->now;
		if (fm_verdict(fm)->high <= fm_epoch_credible(fm))
			fm->root->high = later(fm->root->high, fm_verdict(fm)->high);
	}
}

/* Stops asking, because this node's own NIC does not obey this node. */
static void give_up(struct fm *fm)
{
	fm_log(fm, FM_ERROR, "root", "this node does not become root: its NIC does not obey it");
	fm_candidate_unfit(fm);
	step_back(fm);
}

/* Checks a claim that is under way. */
static void continue_claim(struct fm *fm)
{
	struct fm_asking *a = fm->root->asking;
	uint64_t end = later(fm->root->since, fm->root->asking->grew) +
		       CLAIM_MAX * fm->cfg.resend + fm_lag_answer(fm);

	if (!fm_nic_obeys(fm)) {
		if (fm->now >= end)
			give_up(fm);
		return;
	}
	if (!a->is_sent)
		claim_all(fm);
	if (are_enough(fm))
		end_claim(fm);
	else if (fm->now >= end)
		ask_again(fm);
}

/* While this node asks: sends Inits with the latest known epoch. */
static void spread_latest(struct fm *fm)
{
	if (fm->root->stage != FM_STAGE_ASKS || fm->root->high <= fm->root_epoch)
		return;
	fm->root_epoch = fm->root->high;
	fm_ports_spread(fm);
}

void fm_claim_due(struct fm *fm)
{
	struct fm_asking *a = fm->root->asking;

	if (fm->now < a->at)
		return;
	a->at = fm->now + fm->cfg.resend;
	spread_latest(fm);
	fm_quorum_count(fm, &a->here, &a->need);
	look_apart(fm);
	if (a->here > a->most) {
		a->most = a->here;
		a->grew = fm->now;
	}
	if (has_no_success(fm) && !are_enough(fm))
		fm_candidate_too_few(fm, a->here, a->need);
	if (fm->root->stage == FM_STAGE_ASKS && !fm_arbiter_waits(fm) && are_enough(fm))
		begin_claim(fm);
	else if (fm->root->stage == FM_STAGE_CLAIMS)
		continue_claim(fm);
	else if (has_no_success(fm) && was_led(fm))
		step_back(fm);
	else if (has_no_success(fm))
		ask_around(fm);
}

uint64_t fm_claim_expiry(const struct fm *fm)
{
	return fm->root->asking->at;
}

/*
 * Return: true if this node, which asks or claims, gives way to the root of the Init, which leads;
 * @later: it is later than this node's claim.
 */
static bool yields_to_leader(const struct fm *fm, const struct fm_init *init, bool later)
{
	if (init->root_guid == fm->led.guid && init->epoch <= fm->led.epoch)
		return false;
	if (has_no_success(fm))
		return true;
	if (!fm_follow_own(fm, init))
		return false;
	return fm->root->stage == FM_STAGE_CLAIMS ? later :
	       init->epoch >= fm->root_epoch && !fm_follow_obeys_later(fm, init);
}

/*
 * Return: true if this root, which leads no other node, gives way to the root of the Init, which is
 * not later than it, because that root leads others, which do not know this one (the Init is not of
 * the root itself, and this root does not know the sender).
 */
static bool yields_to_strangers(const struct fm *fm, const struct fm_init *init)
{
	return init->settled && init->epoch == fm->root_epoch && init->guid != init->root_guid &&
	       !fm_follow_knows(fm, init->guid);
}

bool fm_claim_yields(const struct fm *fm, const struct fm_init *init)
{
	const struct fm_root *r = fm->root;
	bool leads = !init->lost && !init->asks;
	bool later = fm_follow_later(init->epoch, init->root_guid, fm->root_epoch, fm->guid);

	if (init->root_guid == fm->guid)
		return false;
	if (!fm_claim_leads(fm))
		return leads ? yields_to_leader(fm, init, later) :
			       !init->lost && later &&
			       (!fm_follow_shuns(fm, init) || fm_follow_retries(fm, init));
	if (!leads)
		return false;
	/* A root that has won a claim waits for HELLOs: NICs do not obey an earlier root again. */
	if (!r->settled)
		return (later || (init->settled && !r->asking->won)) && fm_follow_own(fm, init);
	if (r->joiners == 1 && (init->epoch > fm->root_epoch ||
				(init->settled && init->epoch == fm->root_epoch && later) ||
				yields_to_strangers(fm, init)))
		return true;
	return later && fm_follow_knows(fm, init->guid);
}
