// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: which root a node follows
 *
 * An Init names a root and its epoch, and contains what the sender knows of that root: it leads, it
 * is lost, or it only asks to be root (root/claim.c).
 *
 * A node that a root leads stays with that root. It changes to a root of a later epoch only if that
 * root leads a neighbour which is in the node's own table, or if the node has no table yet. Then it
 * is the same fabric: either a node has become root and this one has not noticed, or two parts,
 * each with a root of its own, meet again. If two roots have the same epoch, the one with the
 * greater GUID counts as later. Otherwise a node that two first roots reach would change from one
 * to the other with each Init. Before the node leaves its root, it finds out whether it can reach
 * the other one (try.c). So do a root before it gives way, and a node that follows one that asks to
 * be root.
 *
 * A node learns the state of its root only from that root, not from neighbours. Otherwise news of a
 * root that is gone would go round in circles. Until the root answers, it counts as lost. The
 * exception is a node that no root has led: it passes the first Init on at once, unchanged. If that
 * root refuses the node, it counts as lost.
 *
 * A node that has lost its root follows
 *  - a root that leads, if its epoch is not before the one that the node knows, the root that the
 *    node's NIC obeys is not later, and the neighbour or the root is in the node's table: another
 *    fabric of the same name and key may be cabled to this one, and would give the node another
 *    place. It follows any root that leads if the node that it follows has asked without success,
 *    or has been lost, for GIVE_UP: that one leads no node here. If the root that leads is not
 *    later than the one that the NIC obeys, it then learns that epoch, and asks all nodes again in
 *    an epoch after that (root/epoch.c has the reason for this order);
 *  - else an asking node; and of two asking nodes, the one of the later epoch, or in one epoch the
 *    one with the greater GUID, unless a connection to it has just failed.
 *
 * When the asking node is gone, or gives up, its followers try the root that led them last. A node
 * that no root has led then follows none, and asks its neighbours. Otherwise it would keep trying
 * the lost node, and ignore the Init of another asking node of the same epoch with a lesser GUID.
 *
 * An Init shows that a node asks, not that the service network leads there. If two connections to
 * an asking node fail, it is shunned: not followed for a while, which is long enough for this node
 * to ask itself, or to follow another one. Otherwise neighbours that reach it, or that try without
 * success as well, would name it again at once, and this node would never stop waiting for it.
 * Meanwhile this node tries beside (try.c) whether it reaches the shunned one, and follows it as
 * soon as it does: the service network may be whole again, and that node may lack only this one. A
 * node that no root has led also shuns an asking node that refuses it, and does not try it.
 *
 * Where the service network is cut in part, a node that asks may reach some nodes and not enough,
 * and another one that asks may lack only these. So a node leaves the one that asks for any other
 * that does, also of a smaller GUID, if a connection to it has just failed, or if it lacks nodes
 * and has got no further one for VAIN. It does not go back for SHUN, in which the other one can
 * claim. The nodes left behind ask ever more seldom (candidate.c), so this exchange of followers
 * ends.
 *
 * Another root may answer at the address: the host of the root was replaced, or its address was
 * given to another host. The node leaves that connection, and its root counts as lost. If links
 * lead to the other root, an Init will name it. If none do, its orders are not for this part of the
 * fabric.
 *
 * A node that gets a CLAIM takes its epoch as that of its root (tree.c). From then on it follows no
 * asking node of an earlier epoch. If the root answers that it has no way to a root, it is not
 * lost: it does not lead yet, but asks to be root.
 *
 * A root may start again with another number of dimensions. The position of this node, which former
 * Inits implied, is then of no use, because its coordinates are of other directions. A NIC that has
 * its place keeps it, but its manager reports no position meanwhile.
 *
 * While two roots lead, for example where machines are stopped and continue, a node may change
 * between them many times a second. Like a problem (log.c), such a change is logged at once if the
 * last one was long ago, and then less and less often; the next line has the number of those
 * between.
 *
 * The choice of the root decides how soon there is a root. Safety does not depend on it: the epoch
 * that a NIC obeys only rises (kernel/req/fence.c), whichever root its manager follows.
 *
 * Tests: tests/unit/test_fm_follow.c, test_fm_choice.c and test_fm_turn.c, tests/sim/test_follow.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/wire/init.h"
#include "lib/deps/invariant.h"

#define GIVE_UP 20	/* in units of fm_config.resend: how long an asking node, or a lost root,
			 * has time to lead */
#define SHUN 10		/* in units of fm_config.resend: how long a node is shunned, beside twice
			 * the time until this node's own turn */

#define VAIN 5		/* in units of fm_config.resend: an asking node that gets no further node
			 * for so long has less right to this one than another asking node */
#define UNREACHED 4	/* most nodes that a node remembers because a connection to them failed */

#define AWAY 10		/* in units of fm_config.resend: time without the root, although a
			 * neighbour reports that it leads, until this is a problem */
#define AWAY_LASTS (30 * SEC)	/* how long the problem lasts after the last such Init */
#define AWAY_KEY 3002

#define GAP_MIN (1 * SEC)	/* shortest time between two log lines about changes of the root */
#define GAP_MAX (600 * SEC)

/**
 * struct line - the last log line about a change of the root
 * @logged: when it was logged
 * @gap: time from @logged until another one may be logged
 * @missed: number of changes since then that were not logged
 */
struct line {
	uint64_t logged, gap;
	unsigned int missed;
};

/**
 * struct unreached - a followed node to which a connection failed
 * @guid: its GUID; 0: none
 * @failed: when the first connection to it failed
 * @until: until then it is shunned if it asks
 * @refused: it is shunned because it has refused this node
 */
struct unreached {
	uint64_t guid, failed, until;
	bool refused;
};

/**
 * struct fm_following - the nodes that this node does not follow for a while
 * @turns: until then this node follows no asking node, because it has left one that had no success
 *	for a root that leads
 * @unreached: the last followed nodes to which a connection failed, or that asked without success
 * @most: how many nodes take part at most, by the followed node, which asks; @grew: time since
 * which
 * @lines: the last log lines: [0] on changes to a root that leads, [1] to a node that asks to be
 *	root
 */
struct fm_following {
	uint64_t turns;
	struct unreached unreached[UNREACHED];
	uint32_t most;
	uint64_t grew;
	struct line lines[2];
};

bool fm_follow_new(struct fm *fm)
{
	fm->following = calloc(1, sizeof(*fm->following));
	return fm->following;
}

void fm_follow_free(struct fm *fm)
{
	free(fm->following);
}

bool fm_follow_later(uint64_t epoch, uint64_t guid, uint64_t than_epoch, uint64_t than_guid)
{
	return epoch > than_epoch || (epoch == than_epoch && guid > than_guid);
}

/* Return: the entry of that node; NULL: there is none. */
static struct unreached *find_unreached(const struct fm *fm, uint64_t guid)
{
	for (unsigned int i = 0; guid && i < UNREACHED; i++)
		if (fm->following->unreached[i].guid == guid)
			return &fm->following->unreached[i];
	return NULL;
}

/* Return: an empty entry for that node, in place of the one that failed first. */
static struct unreached *add_unreached(struct fm *fm, uint64_t guid)
{
	struct unreached *first = fm->following->unreached;

	for (unsigned int i = 1; i < UNREACHED; i++)
		if (fm->following->unreached[i].failed < first->failed)
			first = &fm->following->unreached[i];
	*first = (struct unreached){ .guid = guid, .failed = fm->now };
	return first;
}

/*
 * If the followed node only asks to be root, shuns it, because it has @refused this node, or this
 * node does not reach it.
 */
static void shun(struct fm *fm, bool refused)
{
	struct unreached *u = find_unreached(fm, fm->root_guid);

	if (!fm->root_asks)
		return;
	if (!u)
		u = add_unreached(fm, fm->root_guid);
	u->until = fm->now + 2 * fm_candidate_wait(fm) + SHUN * fm->cfg.resend;
	u->refused = refused;
}

void fm_follow_shun(struct fm *fm)
{
	shun(fm, true);
}

void fm_follow_unreached(struct fm *fm)
{
	if (!find_unreached(fm, fm->root_guid)) {
		add_unreached(fm, fm->root_guid);
	} else if (fm->root_asks) {
		shun(fm, false);
		fm_ports_ask(fm);
	}
}

void fm_follow_reached(struct fm *fm)
{
	struct unreached *u = find_unreached(fm, fm->root_guid);

	if (u)
		*u = (struct unreached){ 0 };
}

bool fm_follow_obeys_later(const struct fm *fm, const struct fm_init *init)
{
	uint64_t epoch, root = fm_nic_root(fm, &epoch);

	return fm_follow_later(epoch, root, init->epoch, init->root_guid);
}

bool fm_follow_shuns(const struct fm *fm, const struct fm_init *init)
{
	const struct unreached *u = find_unreached(fm, init->root_guid);

	return init->asks && u && fm->now < u->until;
}

bool fm_follow_retries(const struct fm *fm, const struct fm_init *init)
{
	const struct unreached *u = find_unreached(fm, init->root_guid);

	return fm_follow_shuns(fm, init) && !init->lost && !u->refused;
}

bool fm_follow_knows(const struct fm *fm, uint64_t guid)
{
	return fm_table_find(fm, guid) != TORUS_NO_NODE;
}

/*
 * Called when a neighbour has lost its root, or follows an asking node. If this node has the same
 * root, the root may be dead without this node knowing it yet: pings the parent.
 */
static void check_root(struct fm *fm, const struct fm_init *init)
{
	if (!init->lost)
		fm_candidate_asked(fm);
	if (fm_follow_knows(fm, init->guid))
		fm_uplink_ask(fm);
}

/*
 * Return: true if the Init names the root that led this node last, and the sender does not know
 * that it is lost.
 */
static bool names_lost_root(const struct fm *fm, const struct fm_init *init)
{
	return init->root_guid == fm->led.guid && init->epoch <= fm->led.epoch;
}

/*
 * Return: true if the Init has a newer address of the followed root: its manager was started again
 * elsewhere. The Init must be of that node itself, or of a later epoch; an Init of a neighbour may
 * have the former address.
 */
static bool has_moved(const struct fm *fm, const struct fm_init *init)
{
	return strcmp(fm->root_address, init->root_address) && init->epoch >= fm->root_epoch &&
	       (init->epoch > fm->root_epoch || init->guid == init->root_guid);
}

/*
 * Uses the new address of the root in Inits of this node. The present connection to the root stays.
 */
static void take_address(struct fm *fm, const struct fm_init *init)
{
	strcpy(fm->root_address, init->root_address);
	strcpy(fm->led.address, init->root_address);
	fm_ports_spread(fm);
}

/*
 * Called if a neighbour's Init shows that the followed root leads. If this node does not reach that
 * root for AWAY, the root is not lost, although its state here is "lost": the service network is at
 * fault.
 */
static void report_away(struct fm *fm, const struct fm_init *init)
{
	char root[FM_WHO_MAX], from[FM_WHO_MAX];

	if (!fm->root_lost || fm->now < fm->cut_off + AWAY * fm->cfg.resend)
		return;
	fm_problem_set(fm, "root", AWAY_KEY,
		       "neighbour %s says that root %s leads, but this node does "
		       "not reach it at %s: check the service network",
		       fm_table_name(fm, init->guid, from),
		       fm_table_name(fm, init->root_guid, root), init->root_address);
	fm_problem_limit(fm, "root", AWAY_KEY, fm->now + AWAY_LASTS);
}

/* Return: true if the followed root started again with another number of dimensions. */
static bool has_other_dimensions(const struct fm *fm, const struct fm_init *init)
{
	return !fm->placed && init->ndims != fm->ndims && init->epoch > fm->root_epoch;
}

/*
 * Called if the Init names the followed root. Return: true if this node has to follow it again, as
 * a new root.
 */
static bool takes_again(struct fm *fm, const struct fm_init *init)
{
	const struct fm_conn *c = fm_conn_of_role(fm, FM_CONN_ROOT);

	if (init->lost || init->asks) {
		if (!fm->cut_off)
			check_root(fm, init);
		if (init->lost)
			return false;
	}
	if (has_moved(fm, init) && !fm_uplink_conn(fm))
		return true;
	/* The asking node has learned of a later epoch, which this node must pass on. */
	if (init->asks && fm->root_asks && init->epoch > fm->root_epoch)
		fm_follow_epoch(fm, init->epoch);
	/*
	 * The root has started again, and asks to be root. A connection that is up leads to its
	 * former process. A connection that is not up yet was begun while the root could not be
	 * reached.
	 */
	if (init->asks)
		return !fm->root_asks && init->epoch >= fm->root_epoch && (!c || !c->ready);
	if (!fm_uplink_conn(fm) && strcmp(fm->root_address, init->root_address))
		return true;
	if (has_other_dimensions(fm, init))
		return true;
	if (init->guid == init->root_guid && has_moved(fm, init))
		take_address(fm, init);
	report_away(fm, init);
	if (fm->root_lost)
		fm_uplink_hurry(fm);
	return false;
}

/*
 * Return: true if the neighbour may belong to the same fabric; without a table this node cannot
 * exclude it.
 */
static bool may_be_same_fabric(const struct fm *fm, const struct fm_init *init)
{
	return !fm->table.version || fm_follow_knows(fm, init->guid);
}

bool fm_follow_own(const struct fm *fm, const struct fm_init *init)
{
	return may_be_same_fabric(fm, init) || fm_follow_knows(fm, init->root_guid);
}

/*
 * Return: true if the followed root leads as far as this node knows, although the node has not
 * joined it.
 */
static bool may_lead(const struct fm *fm)
{
	return !fm->root_lost && !fm->root_asks && fm_uplink_backoff(fm) < fm->cfg.resend;
}

/* Return: true if the followed node has asked without success, or has been lost, for GIVE_UP. */
static bool gives_up(const struct fm *fm)
{
	return (fm->root_asks || fm->root_lost) &&
	       fm->now >= fm->cut_off + GIVE_UP * fm->cfg.resend;
}

/*
 * Return: true if this node follows the claiming node because of its parent, and the parent has
 * lost the claiming node. This node itself would notice the loss much later.
 */
static bool lost_by_parent(const struct fm *fm)
{
	return fm->root_lost && fm_conn_of_role(fm, FM_CONN_PARENT);
}

/* Return: true if a connection to that node has just failed. */
static bool has_failed(const struct fm *fm, uint64_t guid)
{
	const struct unreached *u = find_unreached(fm, guid);

	return u && fm->now < u->failed + SHUN * fm->cfg.resend;
}

/* Return: true if the followed node asks, lacks nodes, and has got no further one for VAIN. */
static bool asks_in_vain(const struct fm *fm)
{
	return fm->root_asks && !fm->root_lost && !fm->asker.epoch &&
	       fm->asker.here < fm->asker.need &&
	       fm->now >= fm->following->grew + VAIN * fm->cfg.resend;
}

/*
 * Return: true if this node, which follows one that asks, is to follow the asking node of the Init
 * instead. A node to which a connection has just failed, or that asks without success, gives way to
 * any other. So an unreachable node does not hide a reachable one, and a node that reaches too few
 * nodes does not keep one that another needs.
 */
static bool prefers_asker(const struct fm *fm, const struct fm_init *init, bool reached)
{
	if (!reached && has_failed(fm, init->root_guid))
		return false;
	return fm_follow_later(init->epoch, init->root_guid, fm->root_epoch, fm->root_guid) ||
	       (fm->root_lost && has_failed(fm, fm->root_guid)) || asks_in_vain(fm);
}

/*
 * Return: true if this node has something to lose: a root leads it and it has a table, or it
 * follows a node that asks to be root.
 */
static bool has_to_lose(const struct fm *fm)
{
	return fm->cut_off ? fm->root_asks : fm->table.version > 0;
}

/* Return: true if this node is to follow the root of the Init, which leads, instead of its own. */
static bool prefers_root(const struct fm *fm, const struct fm_init *init)
{
	bool later = fm_follow_later(init->epoch, init->root_guid, fm->root_epoch, fm->root_guid);

	if (!fm->cut_off)
		return later && may_be_same_fabric(fm, init);
	if (may_lead(fm))
		return later;
	return gives_up(fm) ||
	       (init->epoch >= fm->root_epoch && !names_lost_root(fm, init) &&
		!fm_follow_obeys_later(fm, init) && fm_follow_own(fm, init));
}

bool fm_follow_takes(struct fm *fm, const struct fm_init *init, bool reached)
{
	bool leads = !init->asks && !init->lost;

	if (!init->placed)
		return false;
	if (fm->is_root)
		return fm->up->yields(fm, init, reached);
	if (init->root_guid == fm->guid)
		return false;
	if (fm_follow_shuns(fm, init) && !reached)
		return false;
	if (!fm->have_root)
		return true;
	if (init->root_guid == fm->root_guid)
		return takes_again(fm, init);
	if (leads)
		return prefers_root(fm, init) && (reached || !has_to_lose(fm));
	if (!fm->cut_off) {
		check_root(fm, init);
		return false;
	}
	return !init->lost && init->epoch >= fm->root_epoch &&
	       (!fm->root_asks || prefers_asker(fm, init, reached) || lost_by_parent(fm)) &&
	       fm->now >= fm->following->turns;
}

bool fm_follow_tries(struct fm *fm, const struct fm_init *init)
{
	if (fm->is_root || init->lost)
		return false;
	if (init->asks)
		return fm_follow_retries(fm, init) && fm_follow_takes(fm, init, true);
	return fm->have_root && init->root_guid != fm->root_guid && has_to_lose(fm) &&
	       fm_follow_takes(fm, init, true);
}

bool fm_follow_outdoes(const struct fm *fm, const struct fm_init *init)
{
	return init->placed && !init->lost && !init->asks && !fm->root_lost && !fm->root_asks &&
	       init->root_guid != fm->root_guid &&
	       fm_follow_later(fm->root_epoch, fm->root_guid, init->epoch, init->root_guid);
}

/* Logs that this node changes to the root of @init, unless it did so a short time ago. */
static void log_root_change(struct fm *fm, const struct fm_init *init)
{
	struct line *l = &fm->following->lines[init->asks];
	char root[FM_WHO_MAX], other[FM_WHO_MAX], more[48] = "";

	if (fm->now < l->logged + l->gap) {
		l->missed++;
		return;
	}
	if (l->missed)
		snprintf(more, sizeof(more), " (and %u time%s more meanwhile)", l->missed,
			 l->missed == 1 ? "" : "s");
	fm_log(fm, init->asks ? FM_INFO : FM_WARNING, "root", "root %s gives way to %s%s%s",
	       fm_table_name(fm, fm->root_guid, root), fm_table_name(fm, init->root_guid, other),
	       init->asks ? ", which asks to be root" : "", more);
	/* If no line was due for as long as the last gap, the gap becomes short again. */
	l->gap = l->gap && fm->now < l->logged + 2 * l->gap ?
			 earlier(2 * l->gap, GAP_MAX) : GAP_MIN;
	l->logged = fm->now;
	l->missed = 0;
}

void fm_follow(struct fm *fm, const struct fm_init *init)
{
	invariant(!fm->is_root && init->root_guid != fm->guid);
	if (fm->have_root && fm->root_guid != init->root_guid)
		log_root_change(fm, init);
	if (fm->placed)
		fm->have_position = fm->shape.ndims == init->ndims;
	else if (fm->root_guid != init->root_guid || fm->ndims != init->ndims)
		fm->have_position = false;
	if (init->asks && asks_in_vain(fm) && !find_unreached(fm, fm->root_guid))
		add_unreached(fm, fm->root_guid);
	fm->following->most = 0;
	fm->following->grew = fm->now;
	if (gives_up(fm) && !init->asks)
		fm->following->turns = fm->now + GIVE_UP / 4 * fm->cfg.resend;
	fm_uplink_leave(fm);
	fm->have_root = true;
	fm->root_guid = init->root_guid;
	fm->root_epoch = init->epoch;
	fm->root_asks = init->asks;
	/*
	 * A node that has been led by a root, or has a place, does not know the state of the new
	 * root yet.
	 */
	fm->root_lost = init->lost || fm->led.guid || fm->placed;
	strcpy(fm->root_address, init->root_address);
	fm->ndims = init->ndims;
	memcpy(fm->size, init->size, sizeof(fm->size));
	fm_candidate_adrift(fm);
}

/*
 * A new epoch is sent to neighbours: where two parts of a fabric meet, each with a root of its own,
 * the nodes of the part with the earlier epoch leave their root.
 */
void fm_follow_led(struct fm *fm, uint64_t epoch)
{
	invariant(epoch && fm->root_guid);
	if (fm->root_epoch != epoch)
		fm_ports_spread(fm);
	if (fm->led.epoch != epoch || fm->led.guid != fm->root_guid)
		fm->led.since = fm->now;
	fm_problem_clear(fm, "root", AWAY_KEY);
	fm->root_epoch = fm->led.epoch = epoch;
	fm->led.guid = fm->root_guid;
	strcpy(fm->led.address, fm->root_address);
}

void fm_follow_met(struct fm *fm)
{
	bool news = fm->root_lost || !fm->root_asks;

	fm->root_asks = true;
	fm->root_lost = false;
	if (news)
		fm_ports_spread(fm);
}

void fm_follow_counted(struct fm *fm, uint32_t here)
{
	struct fm_following *f = fm->following;

	if (here <= f->most)
		return;
	f->most = here;
	f->grew = fm->now;
}

void fm_follow_refused(struct fm *fm)
{
	if (fm->root_lost || fm->root_asks)
		return;
	fm->root_lost = true;
	fm_ports_spread(fm);
}

void fm_follow_epoch(struct fm *fm, uint64_t epoch)
{
	if (fm->root_epoch == epoch)
		return;
	fm->root_epoch = epoch;
	fm_ports_spread(fm);
}

/* Follows the root again that led this node last. */
static void follow_led_again(struct fm *fm)
{
	if (!fm->led.guid) {
		fm->have_root = fm->root_asks = fm->root_lost = false;
		fm->rootless = fm->now;
		fm_candidate_adrift(fm);
		fm_ports_ask(fm);
		return;
	}
	fm_candidate_back(fm);
	if (fm->placed && !fm->have_position) {
		fm->ndims = fm->shape.ndims;
		memcpy(fm->size, fm->shape.size, sizeof(fm->size));
		fm->have_position = true;
	}
	fm->root_asks = false;
	fm->have_root = fm->led.guid != fm->guid;
	fm->root_lost = fm->have_root;
	fm->rootless = fm->now;
	fm->root_guid = fm->led.guid;
	strcpy(fm->root_address, fm->led.address);
	fm_candidate_adrift(fm);
}

void fm_follow_back(struct fm *fm)
{
	if (fm->root_asks)
		follow_led_again(fm);
}

void fm_follow_return(struct fm *fm)
{
	if (fm->led.guid)
		fm->root_epoch = fm->led.epoch;
	follow_led_again(fm);
}
