// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: which root a node follows
 *
 * An Init names a root and its epoch, and says what the sender knows of it: it leads, it is lost,
 * or it only asks to be root (root/claim.c).
 *
 * A node that a root leads stays with it. It leaves for a root of a later epoch only if that one
 * leads a neighbour which is in the node's own table, or if the node has no table yet. This is the
 * same fabric: either a node has become root and this one has not noticed, or two parts, each with
 * a root of its own, meet again. Of two roots of one epoch the one with the greater GUID counts as
 * the later one. Otherwise a node that two first roots reach would change from one to the other
 * with each Init.
 *
 * A node learns the state of its root only from that root, not from neighbours. Otherwise news of a
 * root that is gone would go round in circles. Until the root answers, it counts as lost. Only
 * where no NIC has been led before, the first Init is passed on at once, as it came; and if that
 * root refuses this node, it counts as lost, too.
 *
 * A node that has lost its root follows
 *  - a root that leads, if its epoch is not before the one that the node knows. It follows a root
 *    of an earlier epoch, too, if the node that it follows has asked in vain for long, or has been
 *    lost for as long: that one leads no node here. The root of the earlier epoch then learns the
 *    later epoch, and asks all nodes anew in an epoch after it (root/epoch.c);
 *  - else a node that asks; and of two that ask, the one of the later epoch, or of the greater
 *    GUID, unless no connection to it came up just before.
 *
 * When the node that asked is gone, or gives up, its followers try the root that led them last. A
 * node that no root has led follows none then, and asks its neighbours. Otherwise it would try the
 * lost node for ever, and ignore the Init of another one that asks in the same epoch with a lesser
 * GUID.
 *
 * An Init tells that a node asks, not that the service network leads there. A node to which no
 * connection comes up, twice, is not followed for a while: long enough for this node to ask itself,
 * or to follow another one. Otherwise neighbours that reach it, or that try in vain as well, would
 * name it again at once, and this node would wait for it for ever. The same holds for a node that
 * refuses this one, which no root has led.
 *
 * Another root may answer at the address: the host of the root was replaced, or its address went to
 * another. The node leaves that connection, and its root counts as lost. If links lead to the other
 * root, its Inits tell of it. If none do, no order of it is for this part of the fabric.
 *
 * A node that gets a CLAIM takes the epoch of the CLAIM as that of its root (tree.c). Then it
 * follows no node that asks in an earlier epoch. If the root answers that it has no way to a root,
 * it is not lost: it does not lead yet, but asks to be root.
 *
 * A root may begin anew with another number of dimensions. What neighbours said of this node's place
 * before is then of no use, not even as a place that might be right: its coordinates are of other
 * directions. A NIC that has its place keeps it, but its manager tells no position meanwhile.
 *
 * The choice of the root decides how soon there is a root, not safety: the epoch that a NIC obeys
 * only rises (kernel/req/fence.c), whichever root its manager follows.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/wire/init.h"

#define VAIN 20		/* times resend: time for a root that asks, or is lost, to lead */
#define SHUN 10		/* times resend, besides twice the wait of this node: its turn comes in
			 * less */

/**
 * struct fm_following
 * @turns: until then this node follows no node that asks, because it has turned from one that asked
 *	in vain to a root that leads
 * @unreached: GUID of the last node that was followed and could not be reached; if it asks, it is
 *	not followed until @shuns
 * @failed: when it was not reached for the first time
 */
struct fm_following {
	uint64_t turns;
	uint64_t unreached, shuns, failed;
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

void fm_follow_shun(struct fm *fm)
{
	struct fm_following *f = fm->following;

	if (!fm->root_asks)
		return;
	f->unreached = fm->root_guid;
	f->shuns = fm->now + 2 * fm_candidate_wait(fm) + SHUN * fm->cfg.resend;
}

void fm_follow_unreached(struct fm *fm)
{
	struct fm_following *f = fm->following;

	if (f->unreached == fm->root_guid) {
		fm_follow_shun(fm);
		return;
	}
	f->unreached = fm->root_guid;
	f->failed = fm->now;
	f->shuns = 0;
}

void fm_follow_reached(struct fm *fm)
{
	if (fm->following->unreached == fm->root_guid)
		fm->following->unreached = 0;
}

bool fm_follow_shuns(const struct fm *fm, const struct fm_init *init)
{
	return init->asks && init->root_guid == fm->following->unreached &&
	       fm->now < fm->following->shuns;
}

bool fm_follow_kin(const struct fm *fm, uint64_t guid)
{
	return fm_table_find(fm, guid) != TORUS_NO_NODE;
}

/*
 * A neighbour has lost its root, or follows a node that asks. If that root was this node's, too, it
 * may be dead, and this node cannot know yet: it makes sure that its parent lives.
 */
static void look_up(struct fm *fm, const struct fm_init *init)
{
	if (!init->lost)
		fm_candidate_heard(fm);
	if (fm_follow_kin(fm, init->guid))
		fm_uplink_ask(fm);
}

/* The neighbour does not know yet that the root is lost that has led this node. */
static bool was_led(const struct fm *fm, const struct fm_init *init)
{
	return init->root_guid == fm->led.guid && init->epoch <= fm->led.epoch;
}

/*
 * The followed node tells of another address than this node knows, itself or in a later epoch: its
 * manager began anew there. A neighbour that has not heard of that yet tells the former one.
 */
static bool has_moved(const struct fm *fm, const struct fm_init *init)
{
	return strcmp(fm->root_address, init->root_address) && init->epoch >= fm->root_epoch &&
	       (init->epoch > fm->root_epoch || init->guid == init->root_guid);
}

/* This node has a way to the root, and needs no other one; its Inits tell the present address. */
static void take_address(struct fm *fm, const struct fm_init *init)
{
	strcpy(fm->root_address, init->root_address);
	strcpy(fm->led.address, init->root_address);
	fm_ports_spread(fm);
}

/* The followed root began anew with another number of dimensions. */
static bool has_other_dimensions(const struct fm *fm, const struct fm_init *init)
{
	return !fm->placed && init->ndims != fm->ndims && init->epoch > fm->root_epoch;
}

/* The Init is of the root that this node follows already. */
static bool takes_again(struct fm *fm, const struct fm_init *init)
{
	const struct fm_conn *c = fm_conn_of_role(fm, FM_CONN_ROOT);

	if (init->lost || init->asks) {
		if (!fm->cut_off)
			look_up(fm, init);
		if (init->lost)
			return false;
	}
	if (has_moved(fm, init) && !fm_uplink_conn(fm))
		return true;
	/* It has learned of a later epoch: passes that on. */
	if (init->asks && fm->root_asks && init->epoch > fm->root_epoch)
		fm_follow_epoch(fm, init->epoch);
	/*
	 * It has begun anew, and asks: the present connection upward does not lead to it. One that
	 * has not come up may have been tried while it was not reached.
	 */
	if (init->asks)
		return !fm->root_asks && init->epoch >= fm->root_epoch && (!c || !c->ready);
	if (!fm_uplink_conn(fm) && strcmp(fm->root_address, init->root_address))
		return true;
	if (has_other_dimensions(fm, init))
		return true;
	if (init->guid == init->root_guid && has_moved(fm, init))
		take_address(fm, init);
	if (fm->root_lost)
		fm_uplink_hurry(fm);
	return false;
}

/* A node without a table cannot know its neighbours. */
static bool one_fabric(const struct fm *fm, const struct fm_init *init)
{
	return !fm->table.version || fm_follow_kin(fm, init->guid);
}

/* As far as this node knows, the root that it follows and does not reach leads. */
static bool may_lead(const struct fm *fm)
{
	return !fm->root_lost && !fm->root_asks && fm_uplink_backoff(fm) < fm->cfg.resend;
}

/* The followed node would lead by now if it reached enough nodes; or it is lost for as long. */
static bool follows_in_vain(const struct fm *fm)
{
	return (fm->root_asks || fm->root_lost) &&
	       fm->now >= fm->cut_off + VAIN * fm->cfg.resend;
}

/*
 * This node's parent told it of the node that claims, and has lost that one. This node itself
 * would not notice the loss for long.
 */
static bool lost_by_parent(const struct fm *fm)
{
	return fm->root_lost && fm_conn_of_role(fm, FM_CONN_PARENT);
}

/* The node of that Init could just not be reached; the one that is followed may be. */
static bool has_failed(const struct fm *fm, const struct fm_init *init)
{
	return init->root_guid == fm->following->unreached &&
	       fm->now < fm->following->failed + SHUN * fm->cfg.resend;
}

bool fm_follow_takes(struct fm *fm, const struct fm_init *init)
{
	bool leads = !init->asks && !init->lost, later;

	if (!init->placed)
		return false;
	if (fm->is_root)
		return fm->up->yields(fm, init);
	if (init->root_guid == fm->guid)
		return false;
	if (fm_follow_shuns(fm, init))
		return false;
	if (!fm->have_root)
		return true;
	if (init->root_guid == fm->root_guid)
		return takes_again(fm, init);
	later = fm_follow_later(init->epoch, init->root_guid, fm->root_epoch, fm->root_guid);
	if (!fm->cut_off) {
		if (!leads)
			look_up(fm, init);
		return leads && later && one_fabric(fm, init);
	}
	if (leads && may_lead(fm))
		return later;
	if (leads)
		return follows_in_vain(fm) || (init->epoch >= fm->root_epoch && !was_led(fm, init));
	return !init->lost && init->epoch >= fm->root_epoch &&
	       (!fm->root_asks || (later && !has_failed(fm, init)) || lost_by_parent(fm)) &&
	       fm->now >= fm->following->turns;
}

bool fm_follow_outdoes(const struct fm *fm, const struct fm_init *init)
{
	return init->placed && !init->lost && !init->asks && !fm->root_lost && !fm->root_asks &&
	       init->root_guid != fm->root_guid &&
	       fm_follow_later(fm->root_epoch, fm->root_guid, init->epoch, init->root_guid);
}

void fm_follow(struct fm *fm, const struct fm_init *init)
{
	char root[FM_WHO_MAX], other[FM_WHO_MAX];

	if (fm->have_root && fm->root_guid != init->root_guid)
		fm_say(fm, init->asks ? FM_INFO : FM_WARNING, "root", "root %s gives way to %s%s",
		       fm_table_who(fm, fm->root_guid, root),
		       fm_table_who(fm, init->root_guid, other),
		       init->asks ? ", which asks to be root" : "");
	if (fm->placed)
		fm->have_position = fm->shape.ndims == init->ndims;
	else if (fm->root_guid != init->root_guid || fm->ndims != init->ndims)
		fm->have_position = false;
	if (follows_in_vain(fm) && !init->asks)
		fm->following->turns = fm->now + VAIN / 4 * fm->cfg.resend;
	fm_uplink_leave(fm);
	fm->have_root = true;
	fm->root_guid = init->root_guid;
	fm->root_epoch = init->epoch;
	fm->root_asks = init->asks;
	fm->root_lost = init->lost || fm->led.guid || fm->placed;	/* until it answers */
	strcpy(fm->root_address, init->root_address);
	fm->ndims = init->ndims;
	memcpy(fm->size, init->size, sizeof(fm->size));
	fm_candidate_adrift(fm);
}

/*
 * Neighbours are told of another epoch: where two parts of a fabric meet, each with a root of its
 * own, those of the earlier epoch leave theirs.
 */
void fm_follow_led(struct fm *fm, uint64_t epoch)
{
	if (fm->root_epoch != epoch)
		fm_ports_spread(fm);
	if (fm->led.epoch != epoch || fm->led.guid != fm->root_guid)
		fm->led.since = fm->now;
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

void fm_follow_back(struct fm *fm)
{
	if (!fm->root_asks)
		return;
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
