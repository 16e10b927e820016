// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root as a whole: how it begins and ends, in which order its parts run, and its struct fm_up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/root.h"
#include "daemon/fm/node/bootstrap.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/children.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/handover.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/task.h"
#include "daemon/fm/node/try.h"
#include "daemon/fm/node/up.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/root/admin.h"
#include "daemon/fm/root/apart.h"
#include "daemon/fm/root/arbiter.h"
#include "daemon/fm/root/base.h"
#include "daemon/fm/root/calls.h"
#include "daemon/fm/root/cables.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/damp.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/dispute.h"
#include "daemon/fm/root/epoch.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/grow.h"
#include "daemon/fm/root/grown.h"
#include "daemon/fm/root/join.h"
#include "daemon/fm/root/judge.h"
#include "daemon/fm/root/news.h"
#include "daemon/fm/root/parts.h"
#include "daemon/fm/root/leftover.h"
#include "daemon/fm/root/plan.h"
#include "daemon/fm/root/publish.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/ranks.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/resign.h"
#include "daemon/fm/root/term.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/settle.h"
#include "daemon/fm/root/tally.h"
#include "daemon/fm/root/vanish.h"
#include "daemon/fm/wire/init.h"
#include "lib/deps/invariant.h"

/* Uses the shape and the place that the NIC has already, if the fabric can have that shape. */
static void restore_place(struct fm *fm, struct fm_record *m)
{
	const struct torus_shape *cfg = &fm->cfg.shape;
	struct fm_root *r = fm->root;

	if (fm->placed)
		r->version_seen = m->version = fm->applied;
	if (fm->placed && (cfg->ndims ? !memcmp(cfg, &fm->shape, sizeof(*cfg)) :
					!fm->cabled || torus_nodes(&fm->shape) > 1)) {
		r->restored = true;
		r->shape = fm->shape;
		fm_record_move(fm, m, fm->node);
	} else {
		if (fm->placed)
			fm_log(fm, FM_WARNING, "bootstrap",
			       "the NIC has coordinates in another shape: it gets new ones");
		fm_record_move(fm, m, 0);
	}
	m->fixed = true;
}

static void root_free(struct fm_root *r)
{
	fm_damp_free(r);
	fm_cables_free(r);
	fm_roster_free(r);
	fm_changes_free(r);
	fm_tally_free(r);
	fm_news_free(r);
	fm_demand_free(r);
	fm_admin_free(r);
	fm_claim_free(r);
	fm_calls_free(r);
	free(r->missing);
	free(r->at);
	free(r->admin);
	free(r->seat);
	fm_jobs_free(&r->jobs);
	fm_orders_free(&r->orders);
	fm_recall_free(r);
	fm_parts_free(r);
	fm_quorum_free(r);
	fm_recovery_free(r);
	fm_leftover_free(r);
	fm_dispute_free(r);
	fm_vanish_free(r);
	fm_grow_free(r);
	fm_grown_free(r);
	free(r);
}

/*
 * Allocates a root with the state of all parts, which knows only this node. Return: NULL if there
 * is no memory.
 */
static struct fm_root *root_new(const struct fm *fm)
{
	struct fm_root *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	if (fm_roster_new(r) && fm_news_new(r) && fm_demand_new(r) && fm_admin_new(r) &&
	    fm_recovery_new(r) && fm_leftover_new(r) && fm_dispute_new(r) && fm_damp_new(r) &&
	    fm_cables_new(r) &&
	    fm_vanish_new(r) && fm_grow_new(r) && fm_grown_new(r) &&
	    fm_claim_new(r) && fm_calls_new(r) &&
	    fm_quorum_new(r) && fm_recall_new(r) && fm_parts_new(r) && fm_record_add(r, fm->guid) &&
	    fm_parts_own(fm, r))
		return r;
	root_free(r);
	return NULL;
}

static const struct fm_up root_up;

/* Begins the root; @first: it leads at once. Return: 0; -ENOMEM, and then nothing has changed. */
static int start_root(struct fm *fm, bool first)
{
	struct fm_root *r = root_new(fm);
	struct fm_hello own;
	struct fm_record *m;

	invariant(!fm->root && !fm->is_root);
	if (!r)
		return -ENOMEM;
	m = fm_record_no(r, 0);
	fm_uplink_leave(fm);
	fm_children_drop(fm);
	fm->root = r;
	fm->is_root = true;
	fm->up = &root_up;
	fm->have_root = true;
	fm->root_guid = fm->guid;
	strcpy(fm->root_address, fm->cfg.address);
	/*
	 * This node has no place, so its position comes from the wave of another root: discard it.
	 */
	if (!fm->placed)
		fm_bootstrap_origin(fm);
	fm->term = later(fm->term, fm_nic_latest(fm)) + first;
	r->clean = (1u << TORUS_COLOURS) - 1;
	r->judge_at = r->ranks_at = NEVER;
	r->version_kept = fm->kept.version;
	r->knows = fm_nic_latest(fm);
	r->obey = fm->now + fm->cfg.resend;
	r->base.known = (1u << (TORUS_COLOURS + 1)) - 1;
	m->epoch = fm->epoch;
	m->priority = (uint16_t)fm_candidate_stated(fm);
	m->marked = fm->bootstrap;
	m->stated.disk.keeps = fm->cfg.keeps;
	fm_record_via(r, m, fm->guid);
	fm_record_name(r, m, fm->cfg.name);
	r->joiners = 1;
	strcpy(m->address, fm->cfg.address);
	m->row = fm->row;
	restore_place(fm, m);
	fm_uplink_describe(fm, &own);
	fm_table_fill(fm, &own);
	fm_recall_own(fm);
	fm_plan_hello(fm, m, &own);
	fm_recall_hello(fm, &own);
	fm_base_count(fm, m, &own);
	fm_quorum_note(m, &own);
	fm_claim_begin(fm, first);
	fm_ports_ask(fm);
	fm_news_begin(fm);
	if (first)
		fm_nic_obey_soon(fm);
	return 0;
}

int fm_root_begin(struct fm *fm)
{
	return start_root(fm, !fm->placed && !fm->led.guid && !fm->kept.book);
}

/*
 * A node with the bootstrap flag that has given way to another root also has to ask, even if it
 * knows nothing else of that root. Otherwise it would lead for a moment, again and again, beside
 * the root that its neighbours follow.
 */
int fm_root_ask(struct fm *fm)
{
	return start_root(fm, false);
}

/* Ends the problems that only a root can find. */
static void forget_problems(struct fm *fm)
{
	static const char *const kinds[] = {
		"bootstrap", "candidate", "dispute", "flap", "isolated", "node", "place", "plan",
		"quorum", "recovery", "refused", "relay", "wiring",
	};

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		fm_problems_mark(fm, kinds[i]);
		fm_problems_sweep(fm, kinds[i]);
	}
	fm_apart_forget(fm);
	/* Problem 2 of this kind belongs to a candidate, not to a root (node/keep.c). */
	fm_problem_clear(fm, "memory", 0);
	fm_problem_clear(fm, "memory", 1);
}

static void end_root(struct fm *fm)
{
	for (unsigned int i = fm_conns_count(fm); i-- > 0;) {
		struct fm_conn *c = fm_conn_no(fm, i);

		if (c->role != FM_CONN_CHILD && c->role != FM_CONN_TRY && !fm_conn_upward(c))
			fm_conn_drop(fm, c);
	}
	fm_children_drop(fm);
	fm_root_free(fm);
	forget_problems(fm);
	fm->root = NULL;
	fm->is_root = false;
	fm->up = &fm_up_parent;
	fm->have_root = false;
	fm->rootless = fm->now;
	fm_task_stop(fm);
}

/* Stops being root, because another root leads or this node stops asking. */
static void leave_root(struct fm *fm)
{
	bool led = fm_claim_leads(fm);

	end_root(fm);
	fm_log(fm, led ? FM_WARNING : FM_INFO, "root",
	       led ? "this node is not root any more: another leads" :
		     "this node does not ask to be root any more");
}

/*
 * Begins the root again, as if its manager had started again: connections are closed, nodes send
 * HELLO again, and the root leads when it has enough promises. The table stays in force meanwhile.
 */
static void ask_anew(struct fm *fm)
{
	uint64_t begun = fm_claim_leads(fm) ? fm->now : fm->root->begun, high = fm->root->high;

	end_root(fm);
	if (start_root(fm, false)) {
		fm->root_asks = false;
		fm_uplink_adrift(fm, true);
		fm_candidate_memory(fm);
		return;
	}
	fm_claim_again(fm, high, begun);
}

/* Stops being root: this node then tries the root that led it last. */
static void go_back(struct fm *fm)
{
	leave_root(fm);
	fm->root_asks = true;
	fm_follow_back(fm);
	fm_uplink_retry(fm, 0);
	fm_ports_ask(fm);
}

/* Stops being root: this node then waits for another node that asks to be root. */
static void stay_alone(struct fm *fm)
{
	leave_root(fm);
	fm->root_asks = false;
	fm_candidate_adrift(fm);
	fm_ports_ask(fm);
}

static void follow_successor(struct fm *fm, bool unfit)
{
	const struct fm_lead lead = fm->root->successor;

	leave_root(fm);
	if (unfit)
		fm_candidate_unfit(fm);
	fm_handover_obey(fm, &lead);
}

/* Ends the root if one of its parts has set @ending. Return: true if it has ended. */
static bool end_if_set(struct fm *fm)
{
	switch (fm->root->ending) {
	case FM_ENDS_NOT:
		return false;
	case FM_ENDS_BACK:
		go_back(fm);
		break;
	case FM_ENDS_ALONE:
		stay_alone(fm);
		break;
	case FM_ENDS_MOVED:
	case FM_ENDS_UNFIT:
		follow_successor(fm, fm->root->ending == FM_ENDS_UNFIT);
		break;
	}
	return true;
}

/*
 * Return: true if this root, or node that asks to be root, has to find out whether it can reach the
 * other root before it gives way: see node/try.c.
 */
static bool tries_first(const struct fm *fm, const struct fm_init *init)
{
	if (init->lost || init->asks)
		return fm_follow_retries(fm, init);
	return !fm_claim_leads(fm) || fm_follow_knows(fm, init->guid);
}

static bool root_yields(struct fm *fm, const struct fm_init *init, bool reached)
{
	fm_claim_history(fm, init);
	if (!reached && fm_try_avoids(fm, init))
		return false;
	if (!fm_claim_yields(fm, init))
		return false;
	if (!reached && tries_first(fm, init)) {
		fm_try(fm, init);
		return false;
	}
	leave_root(fm);
	fm->root_asks = false;
	return true;
}

void fm_root_free(struct fm *fm)
{
	if (fm->root)
		root_free(fm->root);
}

static void up_send(struct fm *fm, const struct fm_msg *msg)
{
	if (msg->type == FM_MSG_REPORT) {
		fm_recovery_report(fm, &msg->report);
		return;
	}
	fm_join_msg(fm, msg);
	end_if_set(fm);
}

static void conn_reached(struct fm *fm, struct fm_conn *c)
{
	if (c->role == FM_CONN_CALL)
		fm_calls_reached(fm, c);
	else
		fm_vanish_reached(fm, c);
}

static const struct fm_up root_up = {
	.send = up_send,
	.hello = fm_join_hello,
	.guest_left = fm_join_moves,
	.reached = conn_reached,
	.answered = fm_calls_answered,
	.yields = root_yields,
	.would_yield = fm_claim_yields,
};

static void parts_due(struct fm *fm)
{
	fm_epoch_due(fm);
	fm_claim_due(fm);
	if (end_if_set(fm))
		return;
	fm_calls_due(fm);
	fm_arbiter_due(fm);
	fm_recall_due(fm);
	fm_settle_due(fm);
	fm_damp_due(fm);
	fm_vanish_due(fm);
	fm_term_due(fm);
	fm_grown_due(fm);
	fm_judge_due(fm);
	fm_grow_due(fm, fm_recovery_phase(fm->root) != FM_PHASE_REST);
	fm_leftover_due(fm);
	fm_publish_due(fm);
	fm_recovery_due(fm);
	fm_dispute_due(fm);
	fm_ranks_due(fm);
	fm_admin_due(fm);
	fm_resign_due(fm);
	end_if_set(fm);
}

void fm_root_due(struct fm *fm)
{
	do {
		if (fm->root->anew)
			ask_anew(fm);
		if (fm->root)
			parts_due(fm);
	} while (fm->root && fm->root->anew);
}

uint64_t fm_root_expiry(const struct fm *fm)
{
	uint64_t at = earlier(fm_settle_expiry(fm), fm_damp_expiry(fm));

	if (fm->root->anew)
		return fm->now;
	at = earlier(at, earlier(fm_judge_expiry(fm), fm_publish_expiry(fm)));
	at = earlier(at, earlier(fm_recovery_expiry(fm), fm_dispute_expiry(fm)));
	at = earlier(at, earlier(fm_vanish_expiry(fm), fm_grow_expiry(fm)));
	at = earlier(at, earlier(fm_admin_expiry(fm), fm_arbiter_expiry(fm)));
	at = earlier(at, earlier(fm_term_expiry(fm), fm_grown_expiry(fm)));
	at = earlier(at, earlier(fm_calls_expiry(fm), fm_leftover_expiry(fm)));
	at = earlier(at, earlier(fm_ranks_expiry(fm), fm_resign_expiry(fm)));
	at = earlier(at, fm_recall_expiry(fm));
	return earlier(at, earlier(fm_epoch_expiry(fm), fm_claim_expiry(fm)));
}
