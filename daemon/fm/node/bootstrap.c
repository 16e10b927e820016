// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: bootstrap
 *
 * The wave. A node that knows the root (the root knows itself) sends an Init on every port that is
 * up: fabric, root and its service address, its own position, and the other ends of its cables.
 * From the first Init that it receives, a node learns its position, one step beyond the sender's,
 * and the address at which to join. Then it sends Inits itself. So the wave reaches every node that
 * healthy links join to the root, in whatever order the nodes start, and also a node or cable that
 * is added later.
 *
 * Repetition. On each port a node repeats its Init, at growing intervals, until the neighbour's
 * Init acknowledges it (@received). When both ends have each other's Init, the port is silent. This
 * also holds for an Init of another root or fabric, so that both ends know the fault of the cable.
 * A node that knows no root yet sends an Init without position, which asks the neighbour for its
 * Init. This helps where a manager starts long after its NIC. A node answers an Init that does not
 * acknowledge its own, and an Init in which the position or the cables of the neighbour have
 * changed. A node that changes to another root judges its neighbours again, and waits for new Inits
 * from them. An Init counts only if it names as its sender the NIC and the port at the other end of
 * the cable, as the NICs have exchanged them when the link came up.
 *
 * Each exchange ends. A node begins it anew on all its ports when its Init changes, even if the
 * neighbour is silent; and any Init may be lost, also the last one. So a node that still lacks the
 * acknowledgement must get an answer, but an answer must not be answered. The flag @received tells
 * the two apart: an Init acknowledges if the node lacks nothing, or if it answers, that is, if an
 * Init that requests an answer has come since the node sent its last one. A mere repetition does
 * not acknowledge, although the node has the neighbour's Init.
 *
 * Correctness. An acknowledgement may be of an Init from before the change, and the new Init may be
 * lost. So acknowledgements count only if the node's last Init was sent a whole interval or more
 * after its last one with the former content. Let an Init need less than a quarter of an interval
 * from manager to manager. A node sends an acknowledgement only because an Init has come, and after
 * half an interval at most. So one of an Init with the former content arrives before that interval
 * is over, and does not count: if the repetition ends, the neighbour has the present Init. If
 * managers, NICs or cables are slower than that, it may not have it. Then it learns of the next
 * change; nothing depends on a single Init (try.c). See port.c for how slow NICs bear repetitions.
 *
 * With a number in each Init that its acknowledgement repeats, no time would matter. But managers
 * refuse an Init of another version, with an unknown flag, or with additional bytes, so all
 * managers of a fabric would have to be updated at once, which is worse than an old position that
 * a slow neighbour has until the next change.
 *
 * Termination. Let nothing change and no Init be lost from some time on, let both nodes have a
 * place, and call an end done if it has the neighbour's Init and an acknowledgement that counts.
 *  - An end sends one Init at first, and one more when it receives the first one that has a place.
 *  - A repetition comes an interval or more after the Init before it, so acknowledgements of it
 *    count. It requests an answer, because otherwise the end is done, or has just answered. The
 *    answer comes after half an interval at most, before the next repetition, and makes the end
 *    done: there is at most one repetition for each end.
 *  - So there are at most three Inits of each end that request an answer, and an answer to each.
 * So a change costs at most twelve Inits on each cable, usually two, or four if the change before
 * it is less than an interval ago. Then both ends are silent.
 *
 * See wave.c for the position that the wave gives this node, and how further Inits check it. The
 * root does not decide on coordinates by the wave, but by the cables that all nodes report (their
 * NICs told each other GUID and port): otherwise one wrong cable would misplace all nodes that the
 * wave reached through it. See root/discover.c.
 *
 * Tests: tests/unit/test_fm_bootstrap.c, tests/sim/test_bootstrap.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/fm/node/bootstrap.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/home.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/square.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/task.h"
#include "daemon/fm/node/try.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/node/wave.h"
#include "daemon/fm/wire/init.h"
#include "lib/deps/invariant.h"

#define WIRE_PARKS_ADAPTIVE 5	/* from this wire version on, a router parks an adaptive packet
				 * whose escape is dead */

#define DOUBT (30000 * MS)	/* how long the problem lasts that a call has an incredible epoch,
				 * or an Init another sender */
#define LONELY (30000 * MS)	/* after this long without a root, the node reports a problem */

/*
 * Return: true if this node's place is final: it has a table, and its coordinates fit the sizes of
 * the root that it follows. A node that asks to be root, and whose NIC has lost its memory, may
 * know no sizes yet.
 */
static bool is_settled(const struct fm *fm)
{
	for (unsigned int d = 0; d < fm->ndims; d++)
		if (fm->position[d] < 0 || fm->position[d] >= fm->size[d])
			return false;
	return fm->have_root && fm->have_position && fm->table.version;
}

void fm_bootstrap_fill(const struct fm *fm, struct fm_init *init)
{
	*init = (struct fm_init) {
		.placed = fm->have_root && fm->have_position,
		.settled = is_settled(fm),
		.lost = fm->root_lost,
		.asks = fm->root_asks,
		.ndims = (uint8_t)fm->ndims,
		.guid = fm->guid,
		.root_guid = fm->root_guid,
		.epoch = fm->root_epoch,
	};
	if (init->placed)
		init->doubt = (uint8_t)fm_wave_doubt(fm);
	fm_squares_fill(fm, init);
	memcpy(init->size, fm->size, sizeof(init->size));
	memcpy(init->position, fm->position, sizeof(init->position));
	strcpy(init->fabric, fm->cfg.fabric);
	strcpy(init->name, fm->cfg.name);
	if (fm->have_root)
		strcpy(init->root_address, fm->root_address);
	if (!init->placed)
		init->ndims = 0;
	invariant(!init->settled || init->placed);
}

static void send_init(struct fm *fm, unsigned int p)
{
	struct fm_init init;
	uint8_t buf[TORUS_MGMT_MAX];

	invariant(p < fm->nports && fm_port_up(fm, p));
	fm_bootstrap_fill(fm, &init);
	init.received = fm_port_acknowledges(fm, p);
	init.port = (uint8_t)p;
	fm->sent_lost |= fm->root_lost || fm->root_asks;
	fm->ops.mgmt_send(fm->io, p, buf, fm_init_put(buf, &init));
}

/*
 * Ends the problems that concern the neighbour at @port, because the link to it is gone. Those of
 * the link itself end in note_link().
 */
static void clear_problems(struct fm *fm, unsigned int port)
{
	fm_problem_clear(fm, "fabric", 1000 + port);
	fm_problem_clear(fm, "root", 1000 + port);
	fm_problem_clear(fm, "root", 2000 + port);
	fm_problem_clear(fm, "wave", 1000 + port);
	fm_try_check(fm, port, NULL);
}

/*
 * Writes a text for the NIC at the other end of a cable; a NIC with an unknown wire version has not
 * sent its name.
 */
static const char *peer_text(const struct fm *fm, const struct torus_link *l, char *buf,
			     size_t room)
{
	char at[TORUS_TEXT_MAX], who[FM_WHO_MAX];

	if (l->peer_guid)
		snprintf(buf, room, "port %s of node %s", fm_port_text(fm, l->peer_port, at),
			 fm_table_name(fm, l->peer_guid, who));
	else
		snprintf(buf, room, "the other end");
	return buf;
}

/* Reports the problem that a link stays in state init because its two NICs differ. */
static void note_mismatch(struct fm *fm, const struct torus_link *l)
{
	bool differ = l->reason == TORUS_REASON_BUBBLE || l->reason == TORUS_REASON_MISMATCH;
	char peer[FM_WHO_MAX + TORUS_TEXT_MAX + 16], at[TORUS_TEXT_MAX], who[FM_WHO_MAX];
	char own_value[TORUS_TEXT_MAX], peer_value[TORUS_TEXT_MAX];
	const char *name = torus_differs_name(l->differs);
	uint64_t key = 2000 + l->port;

	if (!l->carrier || !l->admin || !differ) {
		fm_problem_clear(fm, "fabric", key);
		return;
	}
	fm_port_text(fm, l->port, at);
	fm_table_name(fm, fm->guid, who);
	peer_text(fm, l, peer, sizeof(peer));
	if (!name || l->differs == TORUS_DIFFERS_NOTHING)	/* the NICs are of different
								 * releases of the software */
		fm_problem_set(fm, "fabric", key, "no link comes up: port %s of node %s and %s "
			       "have different parameters (%s)", at, who, peer,
			       torus_link_reason_name(l->reason));
	else
		fm_problem_set(fm, "fabric", key, "no link comes up: port %s of node %s %s %s=%s, "
			       "%s has %s=%s", at, who,
			       l->differs == TORUS_DIFFERS_SLOTS ? "needs" : "has", name,
			       torus_differs_text(l->differs, l->differs_own, own_value), peer,
			       name,
			       torus_differs_text(l->differs, l->differs_peer, peer_value));
}

/*
 * Reports the problem that one of two NICs is of a release before wire version 5. Its router lets
 * an adaptive packet wait for a buffer although the link of its escape channel is dead, and such
 * packets may wait for each other in a circle.
 */
static void note_old_nic(struct fm *fm, const struct torus_link *l)
{
	uint64_t key = 3000 + l->port, wire = l->gauge[TORUS_PG_WIRE];
	char peer[FM_WHO_MAX + TORUS_TEXT_MAX + 16], at[TORUS_TEXT_MAX], who[FM_WHO_MAX];

	if (l->state != TORUS_LINK_UP || !wire || wire >= WIRE_PARKS_ADAPTIVE)
		fm_problem_clear(fm, "release", key);
	else
		fm_problem_set(fm, "release", key, "port %s of node %s and %s speak wire version "
			       "%u: the driver of one of them is old, and adaptive packets may "
			       "block each other for ever at it; update it",
			       fm_port_text(fm, l->port, at), fm_table_name(fm, fm->guid, who),
			       peer_text(fm, l, peer, sizeof(peer)), (unsigned int)wire);
}

/*
 * Reports what the state of a link itself shows to be wrong; called when the link changes and when
 * the manager starts.
 */
static void note_link(struct fm *fm, const struct torus_link *l)
{
	note_mismatch(fm, l);
	note_old_nic(fm, l);
}

void fm_bootstrap_link(struct fm *fm, const struct torus_link *l)
{
	bool up;

	if (l->port >= fm->nports)
		return;
	up = fm_port_up(fm, l->port);
	note_link(fm, l);
	fm_task_port(fm, l->port);
	if (fm_port_link(fm, l))
		fm_uplink_row(fm);
	if (!fm_port_up(fm, l->port)) {
		clear_problems(fm, l->port);
		if (up)
			fm_home_down(fm, l->port);
	}
	if (!fm_port_up(fm, l->port) || !fm_port_has_init(fm, l->port))
		fm_wave_forget(fm, l->port);
}

/*
 * Return: true if two roots lead two fabrics of the same name. If one of the roots does not lead,
 * both nodes will soon follow one root (follow.c). So they will if the neighbour is in this node's
 * table; if the node of the earlier root does not reach the later one, it reports that (try.c).
 */
static bool are_two_roots(const struct fm *fm, const struct fm_init *init)
{
	return init->placed && fm->have_root && init->root_guid != fm->root_guid && !init->lost &&
	       !init->asks && !fm->root_lost && !fm->root_asks && !fm_follow_knows(fm, init->guid);
}

/*
 * Checks the fabric and the root that an Init names. Return: true if they are this node's; if not,
 * the port row and the log get the reason.
 */
static bool check_init(struct fm *fm, unsigned int port, const struct fm_init *init)
{
	enum fm_port_problem problem = FM_PROBLEM_NONE;
	char root[FM_WHO_MAX], own[FM_WHO_MAX], at[TORUS_TEXT_MAX];
	uint64_t key = 1000 + port;

	fm_port_text(fm, port, at);
	if (strcmp(init->fabric, fm->cfg.fabric)) {
		problem = FM_PROBLEM_FABRIC;
		fm_problem_set(fm, "fabric", key,
			       "port %s leads to node '%s' of fabric '%s'; this is '%s'", at,
			       init->name, init->fabric, fm->cfg.fabric);
	} else if (fm_home_refuses(fm, port, init)) {
		problem = FM_PROBLEM_ROOT;
		fm_problem_set(fm, "root", key,
			       "node '%s' at port %s names root %s at %s, which is not of the "
			       "fabric of this node, whose root was %s: pull the wrong cable",
			       init->name, at, fm_table_name(fm, init->root_guid, root),
			       init->root_address, fm_table_name(fm, fm_home_root(fm), own));
	} else if (are_two_roots(fm, init)) {
		problem = FM_PROBLEM_ROOT;
		fm_problem_set(fm, "root", key,
			       "two roots: node '%s' at port %s obeys %s at %s, this one %s at %s",
			       init->name, at, fm_table_name(fm, init->root_guid, root),
			       init->root_address, fm_table_name(fm, fm->root_guid, own),
			       fm->root_address);
	} else if (init->ndims > fm->nports / 2) {
		problem = FM_PROBLEM_FABRIC;
		fm_problem_set(fm, "fabric", key,
			       "port %s: node '%s' is in a fabric of %u dimensions; this NIC has "
			       "%u ports",
			       at, init->name, init->ndims, fm->nports);
	} else {
		fm_problem_clear(fm, "fabric", key);
		fm_problem_clear(fm, "root", key);
	}
	if (fm_port_problem(fm, port, problem))
		fm_uplink_row(fm);
	return !problem;
}

/* Reports the problem that the neighbour uses another @version of Init. */
static void report_version(struct fm *fm, unsigned int port, unsigned int version)
{
	char at[TORUS_TEXT_MAX];

	fm_problem_set(fm, "fabric", 1000 + port,
		       "the neighbour at port %s speaks version %u of Init, this node version %u: "
		       "update all managers together",
		       fm_port_text(fm, port, at), version, FM_INIT_VERSION);
	if (fm_port_problem(fm, port, FM_PROBLEM_VERSION))
		fm_uplink_row(fm);
}

/*
 * Return: true if the Init names as its sender the NIC and the port that the NICs themselves found
 * at the other end of the cable. If not, its sender lies, or it was recorded at another cable: it
 * is reported, and must have no effect, because it names as its sender a node that is elsewhere,
 * perhaps the root. The cable is used on, since the NICs agree about it. If both ends are silent,
 * no right Init ends the problem, so that has a time limit.
 */
static bool check_sender(struct fm *fm, unsigned int port, const struct fm_init *init)
{
	const struct fm_port_row *r = &fm->row.port[port];
	char at[TORUS_TEXT_MAX], stated[TORUS_TEXT_MAX], is[TORUS_TEXT_MAX];
	char speaker[FM_WHO_MAX], peer[FM_WHO_MAX];

	if (!fm_port_up(fm, port) || !r->peer_guid ||
	    (init->guid == r->peer_guid && init->port == r->peer_port)) {
		fm_problem_clear(fm, "wave", 1000 + port);
		return true;
	}
	fm_problem_set(fm, "wave", 1000 + port,
		       "an Init at port %s names as its sender port %s of node %s, but the cable "
		       "leads to port %s of node %s: the Init is ignored",
		       fm_port_text(fm, port, at), fm_port_text(fm, init->port, stated),
		       fm_table_name(fm, init->guid, speaker), fm_port_text(fm, r->peer_port, is),
		       fm_table_name(fm, r->peer_guid, peer));
	fm_problem_limit(fm, "wave", 1000 + port, fm->now + DOUBT);
	return false;
}

bool fm_bootstrap_credible(struct fm *fm, unsigned int port, const struct fm_init *init)
{
	uint64_t known = later(later(fm_nic_latest(fm), fm->led.epoch), fm->kept.term);
	char from[TORUS_TEXT_MAX + 8] = "a call", at[TORUS_TEXT_MAX], root[FM_WHO_MAX];

	if (!known || init->epoch <= known + FM_EPOCH_STEP) {
		/*
		 * A problem of a call may concern another caller, so it ends only by its time
		 * limit.
		 */
		if (port != FM_NO_PORT)
			fm_problem_clear(fm, "root", 2000 + port);
		return true;
	}
	if (port != FM_NO_PORT)
		snprintf(from, sizeof(from), "port %s", fm_port_text(fm, port, at));
	fm_problem_set(fm, "root", 2000 + port,
		       "%s: node '%s' names root %s of epoch %llu; this node knows %llu, "
		       "and accepts no epoch above %llu",
		       from, init->name, fm_table_name(fm, init->root_guid, root),
		       (unsigned long long)init->epoch, (unsigned long long)known,
		       (unsigned long long)known + FM_EPOCH_STEP);
	if (port == FM_NO_PORT)
		fm_problem_limit(fm, "root", 2000 + port, fm->now + DOUBT);
	return false;
}

/*
 * Return: true if this node has to answer an Init: if the Init does not acknowledge one of this
 * node, or if both nodes' roots lead and the one that it names is earlier than this node's. In that
 * case the neighbour may be that earlier root itself, which gives way when it learns of ours, or a
 * node that then leaves that root. Two nodes without a place cannot acknowledge, so neither answers
 * the other. A neighbour that never acknowledges would be answered without end; so answers are at
 * least half an interval apart (port.c).
 */
static bool needs_answer(const struct fm *fm, const struct fm_init *init)
{
	bool placed = fm->have_root && fm->have_position;

	if (!init->received)
		return placed || init->placed;
	return fm->have_root && fm_follow_outdoes(fm, init);
}

void fm_bootstrap_init(struct fm *fm, unsigned int port, const uint8_t *data, size_t len)
{
	struct fm_init init;
	int err = fm_init_get(data, len, &init);
	bool ours, follows, news = false;

	if (port >= fm->nports)
		return;
	if (err == -EPROTONOSUPPORT)
		report_version(fm, port, data[4]);
	if (err)
		return;
	if (!check_sender(fm, port, &init) || !fm_bootstrap_credible(fm, port, &init))
		return;
	fm_home_note(fm, port, &init);
	follows = !strcmp(init.fabric, fm->cfg.fabric) && init.ndims <= fm->nports / 2 &&
		  !fm_home_refuses(fm, port, &init);
	if (follows && fm_follow_tries(fm, &init))
		fm_try(fm, &init);
	/* A root, or a node that asks to be root, needs the epoch in any case (root_yields()). */
	follows = follows && (fm->is_root || !fm_try_avoids(fm, &init)) &&
		  fm_follow_takes(fm, &init, false);
	if (follows)
		fm_follow(fm, &init);
	ours = check_init(fm, port, &init);
	fm_try_check(fm, port, &init);
	if (ours)
		news = fm_squares_store(fm, port, &init);
	if (ours && init.placed && init.root_guid == fm->root_guid && init.ndims == fm->ndims)
		news |= fm_wave_init(fm, port, &init);
	else if (news)
		fm_wave_squares(fm);
	/* The place that the neighbour reported by the wave of this node's root is outdated. */
	if (init.root_guid && init.root_guid != fm->root_guid)
		fm_wave_forget(fm, port);
	if (follows)
		fm_ports_ask(fm);
	fm_port_init(fm, port, &init, news || needs_answer(fm, &init));
	if (follows)
		fm_try_join(fm);
}

void fm_bootstrap_due(struct fm *fm)
{
	fm_home_due(fm);
	fm_try_due(fm);
	for (unsigned int p = 0; p < fm_ports_used(fm); p++) {
		if (!fm_port_due(fm, p))
			continue;
		send_init(fm, p);
		fm_port_sent(fm, p);
	}
	if (!fm->have_root && !fm->lonely && fm->now >= fm->rootless + LONELY) {
		fm->lonely = true;
		fm_problem_set(fm, "root", 0,
			       "no Init has named a root for 30 s: does a NIC have the "
			       "bootstrap flag, and do links that are up join it to this "
			       "node (fabricctl device list --ports)?");
	} else if (fm->have_root && fm->lonely) {
		fm->lonely = false;
		fm_problem_clear(fm, "root", 0);
	}
}

uint64_t fm_bootstrap_expiry(const struct fm *fm)
{
	uint64_t at = earlier(fm_ports_expiry(fm), fm_home_expiry(fm));

	at = earlier(at, fm_try_expiry(fm));
	if (!fm->have_root && !fm->lonely)
		at = earlier(at, fm->rootless + LONELY);
	return at;
}

void fm_bootstrap_origin(struct fm *fm)
{
	fm->have_position = true;
	memset(fm->position, 0, sizeof(fm->position));
	memset(fm->size, 0, sizeof(fm->size));
	fm->ndims = fm->cfg.shape.ndims ? fm->cfg.shape.ndims : fm->nports / 2;
	if (fm->cfg.shape.ndims)
		memcpy(fm->size, fm->cfg.shape.size, sizeof(fm->size));
}

void fm_bootstrap_begin(struct fm *fm, const struct torus_device *dev,
			const struct torus_link *links)
{
	if (fm->bootstrap)
		fm_bootstrap_origin(fm);
	if (dev->placed) {
		fm->ndims = dev->shape.ndims;
		memcpy(fm->size, dev->shape.size, sizeof(fm->size));
		for (unsigned int d = 0; d < fm->ndims; d++)
			fm->position[d] = dev->coords.c[d];
		fm->have_position = true;
	}
	fm_ports_begin(fm, links);
	for (unsigned int p = 0; p < fm->nports; p++)
		note_link(fm, &links[p]);
}
