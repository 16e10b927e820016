// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a node tries a root before it leaves its own
 *
 * An Init shows that a root leads, not that the service network leads there. Where a cable comes
 * back between two parts whose service networks are still apart, a node that left its root for such
 * an Init would have no root, come back seconds later, and leave again with the next Init, for
 * ever; and each recovery of its part would wait for it. If the node is root itself, its whole part
 * would be without a root. And if the part has just lost its root, the node would change between
 * the root of the other part and the node that asks to be root here, and none would lead. So
 *  - a node that has a table and a root that leads it,
 *  - a root that leads, and finds another root of its fabric,
 *  - a node that asks to be root, and
 *  - a node that follows one that asks
 * first open a connection to the other root, and ask on it: they send HELLO, as a node that joins.
 * A root that accepts the node answers CLAIM with its epoch, or WELCOME if the NIC obeys it
 * already. It leads, or has just asked for an epoch of its own, which takes less than a second;
 * the message does not tell the two apart. If it does not get that epoch, the node finds a root
 * again as after any loss.
 * Only then the node leaves its own root, or gives way, and the connection becomes the one to its
 * root. If an Init names a later root meanwhile, the node tries that one instead. But a root that
 * it could not reach before never takes the place of one that it has not tried, and always gives up
 * its own: so of several roots, all but one out of reach, that one is tried after one time limit of
 * a connection for each of the others at most, in whatever order their Inits come (as long as they
 * are no more than ROOTS, which it remembers).
 *
 * If the connection fails, the node does not try that root again for WAIT_ONE. An attempt disturbs
 * nothing, and costs some bytes; and soon after the service network is whole, the two parts should
 * be one. Then the node asks its neighbours, because both ends of a cable are silent once they have
 * each other's Init, and they may have another root by then. The node also asks when a connection
 * has failed, because it did not heed the Inits of further roots during the attempt: a root that is
 * out of reach hides none that is not. For the same reason the wait grows if attempts with several
 * roots fail: from WAIT_MIN to twice as long after each further failure, and at most to WAIT_MAX.
 * Otherwise the attempts with two of them would leave no time for a third one.
 *
 * A root that is asking all nodes again (root/epoch.c) ends all connections, also that of an
 * attempt. Then the node has reached it and got no answer; the next attempt will succeed in most
 * cases.
 *
 * A connection that is up may lead to another root: its address was given to another host. That
 * root names itself in its answer. Or the host at that address refuses the node, for example
 * because no root runs there any more, or because another node has its name; or the root has begun
 * to ask again, and does not lead. Then the attempt has failed, and the node has never left its own
 * root: a later root that always refuses it costs its part nothing, however often the node asks.
 * The HELLO that it sends states only what is true of its NIC, whichever root it follows, and the
 * other root counts on nothing in it before the NIC obeys. A refusal ends by an administrator in
 * most cases, so the wait grows after each of them, too. Until that wait is over, the node also
 * avoids that root if it loses its own one. A failure is forgotten when the root that was meant
 * accepts the node. If the node's own root answers with WELCOME, it has taken this connection for
 * the node's latest one, and the node and all below it count as missing when it is closed. So the
 * node then joins its root again, and announces those below.
 *
 * At the other end of the cable is a node of the part with the later root, which tries nothing. If
 * Inits name the earlier root for longer than LAGS, it reports a problem, too, so that both parts
 * show why they are two.
 *
 * In the same way a node without a root tries a node that asks to be root, and that it shuns
 * because it did not reach it (follow.c). Such an attempt gives way to any root that leads, is
 * short, and is repeated every WAIT_ONE, because nothing else may be missing for a root. The node
 * loses nothing, so it follows that node as soon as the connection is up. If another one answers,
 * or it is refused, it goes back to the root that led it last.
 *
 * Exceptions. A node that has lost its root, and follows no other node yet, loses nothing, and does
 * not try first. Nor does a root without other nodes that finds another fabric: it is a new node
 * in most cases (root/claim.c). If a node loses its root during an attempt, and follows the root
 * that it tries, the connection of the attempt becomes the one to the root: a second one would be
 * the node's latest for that root, and the end of the first one would look like the end of the
 * node.
 *
 * Safety. Any Init may be lost, so a node may stay with its root for any time, and nothing depends
 * on when it leaves: a NIC obeys the latest epoch that it was ordered to obey, whichever root its
 * manager follows (kernel/req/fence.c), and each root has the promises that it needs
 * (root/quorum.c). At the end of an attempt the node decides by its present root and epoch, not by
 * those at its begin. If its NIC changes between the HELLO and the answer, the HELLO that promises
 * says so (tree.c).
 *
 * Liveness. Once the service network leads from the node to the other root, the node follows that
 * root after WAIT_ONE (or WAIT_MAX, see above), the time limit of a connection and an Init at
 * most, as long as that root is the later one. Its own Inits then name it to the next nodes of the
 * part, which do the same at once: they have not tried that root yet. So the parts become one, with
 * the part's root as the last if need be. If only some nodes of a part reach the other root, these
 * leave, and the others stay.
 *
 * Tests: tests/unit/test_fm_try.c and test_fm_root_try.c, tests/sim/test_split.c.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/try.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/wire/init.h"
#include "lib/deps/invariant.h"

/* most roots that a node remembers because it could not reach them */
#define ROOTS 4
#define WAIT_ONE (SEC / 2)
#define WAIT_MIN (2 * SEC)
#define WAIT_MAX (16 * SEC)
#define LASTS (30 * SEC)	/* how long the problem lasts after the time of the next attempt */
#define LAGS (1 * SEC)		/* a neighbour that obeys an earlier root for longer does not reach
				 * the later one */
#define LAG_KEY 4000		/* key of this problem of kind "root", plus the port */
#define TRY_KEY 3003		/* key of this problem of kind "root"; candidate.c and follow.c use
				 * lower keys */

/**
 * struct distant - a root that this node could not reach
 * @guid: its GUID; 0: none
 * @until: this node does not try it before; @asked: it has asked its neighbours since
 * @wait: how long it did not try it after the last failure for which that time grows; 0: none
 * @wrong: in which epoch it was to lead when another node answered for it, or refused this node; 0:
 *	none has answered
 */
struct distant {
	uint64_t guid, until, wait, wrong;
	bool asked;
};

/**
 * struct fm_trying - the roots that this node tries
 * @init: the Init with the root to which a connection of role FM_CONN_TRY is being opened; NULL: no
 *	root was tried yet. Most nodes never try one, and an Init takes much memory
 * @unsure: the node follows that root, which has not answered yet
 * @distant: roots that this node could not reach while another one led it
 * @behind: by port, since when the neighbour obeys an earlier root than this node; 0: it does not
 */
struct fm_trying {
	struct fm_init *init;
	bool unsure;
	struct distant distant[ROOTS];
	uint64_t behind[TORUS_MAX_PORTS];
};

bool fm_try_new(struct fm *fm)
{
	fm->trying = calloc(1, sizeof(*fm->trying));
	return fm->trying;
}

void fm_try_free(struct fm *fm)
{
	if (fm->trying)
		free(fm->trying->init);
	free(fm->trying);
}

/* Return: the entry of that root; NULL: there is none. */
static struct distant *find_distant(struct fm *fm, uint64_t guid)
{
	for (unsigned int i = 0; i < ROOTS; i++)
		if (fm->trying->distant[i].guid == guid)
			return &fm->trying->distant[i];
	return NULL;
}

/* Return: an empty entry for that root, in place of the one whose time is over first. */
static struct distant *replace_distant(struct fm *fm, uint64_t guid)
{
	struct distant *first = fm->trying->distant;

	for (unsigned int i = 1; i < ROOTS; i++)
		if (fm->trying->distant[i].until < first->until)
			first = &fm->trying->distant[i];
	*first = (struct distant){ .guid = guid };
	return first;
}

/* Return: true if attempts with other roots than @d fail, too, of which neighbours still tell. */
static bool are_others_distant(const struct fm *fm, const struct distant *d)
{
	for (unsigned int i = 0; i < ROOTS; i++) {
		const struct distant *o = &fm->trying->distant[i];

		if (o != d && o->guid && fm->now < o->until + 2 * WAIT_MIN)
			return true;
	}
	return false;
}

/*
 * Notes that the attempt has failed; @why and the address say what this node has found there.
 * @wrong: another node has answered, or this one was refused
 */
static void set_distant(struct fm *fm, bool wrong, const char *why)
{
	const struct fm_init *init = fm->trying->init;
	struct distant *d = find_distant(fm, init->root_guid);
	char root[FM_WHO_MAX], from[FM_WHO_MAX];

	if (!d)
		d = replace_distant(fm, init->root_guid);
	d->until = fm->now + WAIT_ONE;
	if (!init->asks && (wrong || are_others_distant(fm, d))) {
		d->wait = d->wait ? earlier(2 * d->wait, WAIT_MAX) : WAIT_MIN;
		d->until = fm->now + d->wait;
	}
	d->asked = false;
	d->wrong = wrong ? init->epoch : 0;
	fm_problem_set(fm, "root", TRY_KEY,
		       "neighbour %s %s %s%s, but %s %s, and %s: check the service network",
		       fm_table_name(fm, init->guid, from), init->asks ? "names" : "obeys root",
		       fm_table_name(fm, init->root_guid, root),
		       init->asks ? ", which asks to be root" : "",
		       why, init->root_address, fm->cut_off ? "has no root" : "stays with its own");
	fm_problem_limit(fm, "root", TRY_KEY, d->until + LASTS);
	fm_ports_ask(fm);
}

void fm_try_failed(struct fm *fm, bool reached)
{
	set_distant(fm, false, reached ? "this node gets no answer from it at" :
					 "this node does not reach it at");
}

/*
 * Return: true if the present attempt is given up for one with the root of @init: that one has not
 * failed yet, and the present one has; or it leads, and the present one only asks to be root; or it
 * is the later one.
 */
static bool displaces(struct fm *fm, const struct fm_init *init)
{
	const struct fm_init *present = fm->trying->init;
	bool failed = init->asks || find_distant(fm, init->root_guid);
	bool present_failed = present->asks || find_distant(fm, present->root_guid);

	if (failed != present_failed)
		return present_failed;
	if (init->asks != present->asks)
		return present->asks;
	return fm_follow_later(init->epoch, init->root_guid, present->epoch, present->root_guid);
}

void fm_try(struct fm *fm, const struct fm_init *init)
{
	const struct distant *d = find_distant(fm, init->root_guid);
	struct fm_conn *c = fm_conn_of_role(fm, FM_CONN_TRY);
	int id;

	if (d && fm->now < d->until)
		return;
	if (c && !displaces(fm, init))
		return;
	if (!fm->trying->init)
		fm->trying->init = malloc(sizeof(*init));
	if (!fm->trying->init)	/* the next Init tries again */
		return;
	if (c)
		fm_conn_drop(fm, c);
	*fm->trying->init = *init;
	fm->trying->unsure = false;
	id = fm->ops.connect(fm->io, init->root_address);
	c = id >= 0 ? fm_conn_add(fm, id, FM_CONN_TRY) : NULL;
	if (c) {
		c->brief = init->asks;
		fm_conn_look(fm, c);
		return;
	}
	if (id >= 0)
		fm->ops.close(fm->io, id);
	fm_try_failed(fm, false);
}

/* Return: true if this node would still follow the root that it tries. */
static bool wants_tried(struct fm *fm)
{
	const struct fm_init *init = fm->trying->init;

	if (init->root_guid == fm->root_guid && !init->asks)
		return false;
	return fm->is_root ? fm->up->would_yield(fm, init) : fm_follow_takes(fm, init, true);
}

/* Return: true if this node leaves its root, or gives way, for the root that it tries. */
static bool takes_tried(struct fm *fm)
{
	return wants_tried(fm) && fm_follow_takes(fm, fm->trying->init, true);
}

/* Closes the connection of an attempt whose root this node does not want any more. */
static void end_attempt(struct fm *fm, struct fm_conn *c)
{
	fm_conn_drop(fm, c);
	fm_ports_ask(fm);
}

/* Follows the tried root: the connection to it becomes the one to the root. */
static void follow_tried(struct fm *fm, struct fm_conn *c)
{
	fm_follow(fm, fm->trying->init);
	fm_ports_ask(fm);
	fm_uplink_take(fm, c);
}

/* Return: true if this node loses nothing if it follows the tried root before that one answers. */
static bool follows_unasked(struct fm *fm)
{
	const struct fm_init *init = fm->trying->init;

	return init->asks || (!fm->is_root && fm_follow_takes(fm, init, false));
}

/* Asks the tried root if it accepts this node. */
static void ask_tried(struct fm *fm, struct fm_conn *c)
{
	c->ready = true;
	c->received = fm->now;
	fm_uplink_reached(fm, c);
	fm_conn_look(fm, c);
}

bool fm_try_reached(struct fm *fm, struct fm_conn *c)
{
	bool unasked = follows_unasked(fm);

	invariant(c->role == FM_CONN_TRY);
	if (unasked ? takes_tried(fm) : wants_tried(fm)) {
		if (unasked)
			follow_tried(fm, c);
		else
			ask_tried(fm, c);
		fm->trying->unsure = unasked;
		return unasked;
	}
	end_attempt(fm, c);
	return false;
}

void fm_try_join(struct fm *fm)
{
	struct fm_conn *c = fm_conn_of_role(fm, FM_CONN_TRY);
	const struct fm_init *init = fm->trying->init;

	if (!c || init->root_guid != fm->root_guid ||
	    strcmp(init->root_address, fm->root_address)) {
		fm_uplink_root_known(fm);
		return;
	}
	fm->trying->unsure = true;
	fm_uplink_take(fm, c);
	if (c->ready)
		fm_follow_reached(fm);
	fm_conn_look(fm, c);
}

/* Ends the attempt because of an answer; @wrong, @why: as for set_distant(). */
static void refuse_attempt(struct fm *fm, struct fm_conn *c, bool wrong, const char *why)
{
	fm_conn_drop(fm, c);
	set_distant(fm, wrong, why);
}

bool fm_try_answer(struct fm *fm, struct fm_conn *c, const struct fm_msg *msg)
{
	bool welcome = msg->type == FM_MSG_WELCOME;
	uint64_t guid = welcome ? msg->welcome.root_guid : msg->claim.guid;
	bool leads = welcome ? !msg->welcome.adrift : msg->claim.epoch > 0;

	invariant(c->role == FM_CONN_TRY && !fm->trying->init->asks);
	if (msg->type == FM_MSG_REFUSE) {
		refuse_attempt(fm, c, true, "this node is refused at");
	} else if (!welcome && msg->type != FM_MSG_CLAIM) {
		return false;
	} else if (guid != fm->trying->init->root_guid) {
		refuse_attempt(fm, c, true, "another one answers at");
		if (welcome && guid == fm->root_guid && !fm->is_root)
			fm_uplink_rejoin(fm);
	} else if (!leads) {
		refuse_attempt(fm, c, false, "that one does not lead any more at");
	} else if (!takes_tried(fm)) {
		end_attempt(fm, c);
	} else {
		follow_tried(fm, c);
		fm_follow_reached(fm);
		fm_problem_clear(fm, "root", TRY_KEY);
		return true;
	}
	return false;
}

/* Return: true if this node follows the root that it tried last, and that has not answered yet. */
static bool awaits_tried(const struct fm *fm)
{
	return fm->trying->unsure && fm->root_guid == fm->trying->init->root_guid;
}

void fm_try_answered(struct fm *fm)
{
	struct distant *d = find_distant(fm, fm->root_guid);

	if (awaits_tried(fm))
		fm_problem_clear(fm, "root", TRY_KEY);
	fm->trying->unsure = false;
	if (d)
		*d = (struct distant){ 0 };
}

bool fm_try_mistaken(struct fm *fm, bool refused)
{
	if (!awaits_tried(fm))
		return false;
	fm->trying->unsure = false;
	fm_follow_return(fm);
	set_distant(fm, true, refused ? "this node is refused at" : "another one answers at");
	return true;
}

bool fm_try_avoids(struct fm *fm, const struct fm_init *init)
{
	const struct distant *d = find_distant(fm, init->root_guid);

	return d && init->epoch <= d->wrong && fm->now < d->until && !init->asks;
}

void fm_try_check(struct fm *fm, unsigned int port, const struct fm_init *init)
{
	uint64_t *since = &fm->trying->behind[port];
	char own[FM_WHO_MAX], root[FM_WHO_MAX], from[FM_WHO_MAX];

	if (!init || !fm_follow_knows(fm, init->guid) || !fm_follow_outdoes(fm, init)) {
		*since = 0;
		fm_problem_clear(fm, "root", LAG_KEY + port);
		return;
	}
	if (!*since)
		*since = fm->now;
	if (fm->now < *since + LAGS)
		return;
	fm_problem_set(fm, "root", LAG_KEY + port,
		       "neighbour %s obeys root %s, an earlier one than root "
		       "%s of this node, and does not reach it at %s: check the service network",
		       fm_table_name(fm, init->guid, from),
		       fm_table_name(fm, init->root_guid, root),
		       fm_table_name(fm, fm->root_guid, own), fm->root_address);
	fm_problem_limit(fm, "root", LAG_KEY + port, fm->now + WAIT_MAX + LASTS);
}

void fm_try_due(struct fm *fm)
{
	for (unsigned int i = 0; i < ROOTS; i++) {
		struct distant *d = &fm->trying->distant[i];

		if (!d->guid || d->asked || fm->now < d->until)
			continue;
		d->asked = true;
		fm_ports_ask(fm);
	}
}

uint64_t fm_try_expiry(const struct fm *fm)
{
	uint64_t at = NEVER;

	for (unsigned int i = 0; i < ROOTS; i++) {
		const struct distant *d = &fm->trying->distant[i];

		if (d->guid && !d->asked)
			at = earlier(at, d->until);
	}
	return at;
}
