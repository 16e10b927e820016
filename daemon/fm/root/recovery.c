// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: recovery, the root's part
 *
 *	APPLY   table v goes out; every node switches its rows at once, with
 *		rows that change on hold, settles what is parked unresolved, and
 *		reports READY with its counters
 *	DRAIN   counts until no packet of an older colour is in the network
 *	REPLAY  every node opens the ports that the table says are healthy and
 *		sends what it has parked by its new rows; until all has arrived
 *	RESUME  holds are lifted
 *
 * Each step goes to all nodes, and the next one begins when all have reported
 * it. REPLAY is left out if nothing is parked and no port waits to be opened.
 * The Angara paper says that nodes make new tables, and send what is parked when
 * all have them. Colours, holds, relays and the proof below are ours.
 *
 * Why one sum is proof that the network is drained. A node stamps colour v
 * from its switch on, and its READY, or any later report, reads its counters
 * after that. So once all are ready, what went into the network with an older
 * colour (injected, replay_tx) is final on every node, and was so when each was
 * read. What came out (delivered, parked, unreachable) only grows, and at each
 * reading is at most what has truly come out. If the sums over all nodes are
 * equal, nothing is left, whenever each of them was read. This is also why
 * the counts that come with READY may already be the proof. The same holds of
 * replayed packets once every node has begun to replay and has nothing parked.
 * The proof needs every NIC to be counted exactly once: reports carry number
 * and fingerprint of the NICs in them, and are used only if both are right.
 *
 * Packets may be missing for good: inside a NIC that died. Their number is the
 * base. It is known as long as the same NICs are counted; when one goes, or comes
 * with counts of its own, it is not, and what is drained is proven by two counts:
 *
 * Why two counts need nothing of who is gone. Each NIC counts its links like its host:
 * in what it accepted from a neighbour (link_rx), out what a neighbour said it has
 * (link_tx). What went in and has not come out is in this NIC, in a RETRY buffer and
 * unresolved in parking included, whatever became of the copy that a neighbour may
 * have; the unit tests hold that to the packet. A dead neighbour is a host: what came
 * from it went in, what it took came out, lost or not; what it had taken when it died
 * and not said so is parked, and what it passed on of that is the same packet once
 * more, which its receiver discards. Let T be a moment after all have read one count and
 * before any reads the next. What had come out by the former count is at most what had
 * come out at T, that is at most what had gone in at T, and that is at most what has
 * gone in by the latter. If the sum of the first is that of the last, both are that of
 * each NIC at T: then all of them were empty at one moment, and stay so. For no packet
 * of an older colour begins after READY, and none comes from outside: a node is judged
 * dead when none of those counted has a link to it, on which link_rx is then final; a
 * link that comes up again is a new session, closed at both ends until a replay, unless
 * the node lost its memory with its packets. So it is with several dead at once and with
 * a component that was split off. One that comes back takes part from the next version
 * on, with counts that are right for itself. Both counts must be of the same NICs.
 * What such a node replays by way of relays passes closed ports: if it lives, was judged
 * dead in the midst of a replay and gets a link before it joins, some may come late, and
 * the numbers of their flows put them right.
 *
 * There is no proof while a NIC lives whose manager does not take part: it goes on
 * stamping an older colour. Then, or should some NIC count wrong (one of an older driver
 * has no counts of its links), the network counts as drained when the sums have not moved
 * for drain_max. Drained, by proof or not, what is missing becomes the new base.
 *
 * Why nothing is lost: a packet leaves the RETRY buffer only when the next NIC
 * has it; on a dead link it is parked, and replayed; an unresolved one is kept
 * unless the other end said that it has it. Doubled: one kept although the
 * other end had it is recognised by its number in its flow. Reordered: packets
 * of a flow sent before the switch are delivered or parked before the first
 * parked one is replayed (DRAIN); all replayed have arrived before the first
 * held one starts (REPLAY, RESUME); two parts of a flow parked on two nodes may
 * overtake each other, and are put in order at the receiver by their numbers,
 * which gives up what is missing only at RESUME, when all that can arrive has.
 *
 * Why relays change nothing of this. A packet that passes relays goes in once and
 * comes out once; in the memory of a relay it is on its way, as on a link, and so
 * DRAIN waits for it. Two tables could send it in circles or past others of its
 * flow, for a relay's onward row may change while the row of the source does not: so
 * from the switch until RESUME each NIC holds whatever has a relay, changed or not,
 * and a relay parks what comes with an older colour and would go on by a row on hold
 * (kernel/core/relay.h). All legs of a packet are thus of one table, and what is
 * replayed by way of relays goes when all have the new one. A relay whose manager sleeps
 * parks what comes by a later table until it follows. A relay that dies takes
 * with it what it held, like any NIC: it is missing from the sums and ends in the
 * new base.
 *
 * Why it ends: a recovery waits for sums, which is bounded, or for reports. A report is asked for
 * again until it comes or its node is judged silent or dead. It can be missing from four kinds of
 * nodes:
 *  - A node of which nothing is heard: its connection ends, and judge.c decides what it is.
 *  - A node whose NIC does nothing of what it is asked: the node says so after 2 * member_max
 *    (node/member.c), or sooner if it failed before. Its parent does not wait for it any more in
 *    this version, and it is silent. Each action that is done for the first time in a step gives
 *    it as much time again, but there are no more than five of them.
 *  - A node that waits for a report from below: it says that each time it is asked. So follow
 *    the missing reports down the tree, which has no circle. The lowest node has none below it
 *    to wait for; it is one of the other three.
 *  - A node that is heard, and for member_max has neither reported nor said that it waits: its
 *    parent tells the root (and is not silent itself, or the same would be said of it). The node
 *    is silent, its connections are dropped and it is refused for a while, so that the nodes
 *    below it join below others (judge.c).
 * In each case one node less takes part in the next version, or in this one if none can begin,
 * and they come back not more often than after a while that doubles, up to 20 * member_max: while
 * it lasts, those that are left are waited for only. Whatever that misses, a report of nobody
 * awaited that went astray, or a node that says wrongly that it waits: all are asked anew after
 * 3 * member_max; the next time, if no version has come into force meanwhile, after twice that.
 *
 * A NIC that refuses to replay does not stop a recovery: REPLAY is bounded. But what it keeps
 * would be tried again for ever, and its closed ports take packets meanwhile. So its manager says
 * after 2 * member_max of that, too, that it fails, and these ports are excluded.
 *
 * Packets that are left parked get another recovery (leftover.c).
 *
 * A NIC that starts anew is empty: it has no rows and no place, and drops what comes. One that
 * did since the table was made may have links again that this table has for healthy. Neither
 * REPLAY nor RESUME follows then, but the next table, which its HELLO has demanded.
 *
 * A change at any step makes version v+1, which supersedes v: its steps are of
 * a higher version, holds stay in force with those of v+1 added (rows.c), and
 * its DRAIN covers all older colours, v included. Only then may REPLAY happen,
 * so what v replayed is drained too. Colours return after four versions, hence
 * v+1 waits if its colour is not known to be gone (publish.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/recovery.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/ended.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/grow.h"
#include "daemon/fm/root/leftover.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/sums.h"
#include "daemon/fm/root/tally.h"
#include "daemon/fm/status.h"

#define PATIENCE 10	/* times a step is repeated before a problem names a slow node */

#define ROLLS_MAX 4	/* so often that time is doubled */
#define COUNT_FIRST MS		/* between the first rounds of counts */
#define COUNT_LAST (20 * MS)
#define PROVEN_FACTOR 10	/* a missing packet is more likely late than lost */
#define STILL_FACTOR 40		/* sums that move for ever, at replay */

#define ALL_COLOURS ((1u << TORUS_COLOURS) - 1)
#define REPLAY_KNOWN (1u << TORUS_COLOURS)

/**
 * struct fm_rec - the recovery at hand
 * @last: the log of the last one that ended
 */
struct fm_rec {
	uint8_t phase;
	bool waiting;		/* for reports of @round */
	bool orphans;
	bool base_was_known;
	uint32_t round;
	uint64_t asked;		/* when the round began, or was repeated last */
	uint64_t round_began;
	uint64_t next;		/* when the next round of counts is due; NEVER */
	uint64_t interval;
	uint64_t phase_began;
	uint64_t still_since;	/* sums have not moved since */
	uint64_t unresolved_since;
	uint64_t lost_before;	/* sum of lost_get at the beginning */
	struct fm_sums sums;	/* of the last complete round */
	uint64_t set;		/* fingerprint of the NICs in @sums; 0: there was none */
	bool began;		/* @first is known */
	struct fm_sums first;	/* of the first */
	int64_t gone;		/* missing beyond the base, when bounded */
	struct fm_recovery log, last;
};

bool fm_recovery_new(struct fm_root *r)
{
	r->rec = calloc(1, sizeof(*r->rec));
	if (r->rec)
		r->rec->next = NEVER;
	return r->rec;
}

void fm_recovery_free(struct fm_root *r)
{
	free(r->rec);
}

enum fm_phase fm_recovery_phase(const struct fm_root *r)
{
	return r->rec->phase;
}

bool fm_recovery_waits(const struct fm_root *r)
{
	return r->rec->waiting;
}

uint32_t fm_recovery_round(const struct fm_root *r)
{
	return r->rec->round;
}

uint64_t fm_recovery_round_began(const struct fm_root *r)
{
	return r->rec->round_began;
}

bool fm_recovery_orphans(const struct fm_root *r)
{
	return r->rec->orphans;
}

const struct fm_sums *fm_recovery_sums(const struct fm_root *r)
{
	return &r->rec->sums;
}

const struct fm_recovery *fm_recovery_log(const struct fm_root *r)
{
	return &r->rec->log;
}

const struct fm_recovery *fm_recovery_last(const struct fm_root *r)
{
	return &r->rec->last;
}

static bool someone_silent(const struct fm *fm)
{
	return fm_tally(fm)->parts[FM_PART_LIVES];
}

/* A NIC that the table relies on has started anew, or has an old shape: the next table is due. */
static bool is_outdated(const struct fm *fm)
{
	return fm_demand_is(fm->root) &&
	       (fm_tally(fm)->parts[FM_PART_ANEW] || fm_grow_mixed(fm->root));
}

static void set_stamp(struct fm *fm, enum fm_stamp at)
{
	if (!fm->root->rec->log.at[at])
		fm->root->rec->log.at[at] = fm->now;
}

/* Sends the next step to all nodes. */
static void send_step(struct fm *fm, enum fm_step_kind kind)
{
	struct fm_root *r = fm->root;
	struct fm_rec *rec = r->rec;
	struct fm_step s = {
		.term = fm->term,
		.version = r->version,
		.round = ++rec->round,
		.step = (uint8_t)kind,
		.orphans = rec->orphans,
		.clean = r->clean,
	};

	if (kind == FM_STEP_RESUME) {
		s.base = r->base;
		s.base.version = r->version;
	}
	if (rec->sums.unresolved)
		fm_ended_tell(fm, &s);
	if (kind == FM_STEP_REPLAY)
		fm_ended_reopen(fm);
	rec->waiting = true;
	rec->next = NEVER;
	rec->asked = rec->round_began = fm->now;
	fm_member_step(fm, &s);
}

static void begin_phase(struct fm *fm, enum fm_phase phase)
{
	struct fm_rec *rec = fm->root->rec;

	rec->phase = (uint8_t)phase;
	rec->phase_began = rec->still_since = fm->now;
	rec->interval = COUNT_FIRST;
	rec->next = NEVER;
}

/* Return: true if waiting any longer is pointless. @known: there could still be proof. */
static bool bound_reached(const struct fm *fm, bool known)
{
	const struct fm_rec *rec = fm->root->rec;
	uint64_t still = fm->cfg.drain_max * (known ? PROVEN_FACTOR : 1);
	uint64_t at_all = fm->cfg.drain_max * (someone_silent(fm) ? 2 : STILL_FACTOR);

	/* Only a silent node puts in more of an older colour: else it is progress. */
	if (rec->phase == FM_PHASE_DRAIN && !someone_silent(fm))
		at_all = NEVER;
	return fm->now - rec->still_since >= still || fm->now - rec->phase_began >= at_all;
}

static void count_later(struct fm *fm)
{
	struct fm_rec *rec = fm->root->rec;

	rec->next = fm->now + rec->interval;
	rec->interval = earlier(rec->interval + rec->interval / 2, COUNT_LAST);
}

/* --- the steps ---------------------------------------------------------------- */

void fm_recovery_begin(struct fm *fm)
{
	struct fm_root *r = fm->root;
	struct fm_rec *rec = r->rec, old = *rec;
	bool ongoing = old.phase != FM_PHASE_REST;
	bool base_known = r->base.known == (ALL_COLOURS | REPLAY_KNOWN);

	*rec = (struct fm_rec) {
		.began = ongoing && old.began,
		.first = old.first,
		.gone = ongoing ? old.gone : 0,
		.base_was_known = base_known && (!ongoing || old.base_was_known),
		.lost_before = ongoing ? old.lost_before : ~0ULL,
		.waiting = true,
		.asked = fm->now,
		.round_began = fm->now,
		.last = old.last,
	};
	fm_leftover_begin(fm);
	rec->log.version = r->version;
	memcpy(rec->log.cause, fm_demand_cause(r), sizeof(rec->log.cause));
	rec->log.at[FM_AT_DETECTED] = fm_demand_since(r);
	rec->log.at[FM_AT_TABLE] = fm->now;
	if (ongoing) {		/* what it supersedes is part of its story */
		rec->log.parked = old.log.parked;
		rec->log.bounded = old.log.bounded;
		rec->log.at[FM_AT_DETECTED] = old.log.at[FM_AT_DETECTED];
	}
	begin_phase(fm, FM_PHASE_APPLY);
}

static void begin_resume(struct fm *fm)
{
	begin_phase(fm, FM_PHASE_RESUME);
	send_step(fm, FM_STEP_RESUME);
}

static void begin_replay(struct fm *fm)
{
	begin_phase(fm, FM_PHASE_REPLAY);
	send_step(fm, FM_STEP_REPLAY);
}

static void end_drain(struct fm *fm, const struct fm_sums *s, bool proven)
{
	struct fm_root *r = fm->root;
	unsigned int colour = r->version % TORUS_COLOURS;

	set_stamp(fm, FM_AT_DRAINED);
	for (unsigned int c = 0; c < TORUS_COLOURS; c++) {
		if (c == colour)
			continue;
		if (r->base.known & 1u << c)
			r->rec->gone += fm_sums_missing(s, c) - r->base.missing[c];
		r->base.missing[c] = fm_sums_missing(s, c);
		r->base.known |= (uint8_t)(1u << c);
	}
	r->base.replay_missing = fm_sums_replay_missing(s);
	r->base.known |= REPLAY_KNOWN;
	r->clean |= ALL_COLOURS & (uint8_t)~(1u << colour);
	if (!proven) {
		r->rec->log.bounded = true;
		fm_say(fm, FM_WARNING, "recovery",
		       "version %llu: drained without proof, sums at rest for %llu ms",
		       (unsigned long long)r->version,
		       (unsigned long long)((fm->now - r->rec->still_since) / MS));
	}
	if (fm_demand_drained(fm) || is_outdated(fm) ||
	    fm_grow_drained(fm, s, proven, r->rec->phase_began, &r->rec->next))
		return;
	if (s->parked || s->reopen)
		begin_replay(fm);
	else
		begin_resume(fm);
}

/*
 * No proof yet. If nothing was in the NICs as each of them was read, the next count will
 * most likely be one.
 */
static void drain_later(struct fm *fm, const struct fm_sums *s)
{
	struct fm_rec *rec = fm->root->rec;
	unsigned int colour = fm->root->version % TORUS_COLOURS;

	count_later(fm);
	if (!someone_silent(fm) && fm_sums_in(s, colour) == fm_sums_out(s, colour))
		rec->next = fm->now;
}

/* The other end of some dead link has not told how far it received. */
static void wait_for_end(struct fm *fm)
{
	struct fm_root *r = fm->root;
	struct fm_rec *rec = r->rec;

	if (!rec->unresolved_since)
		rec->unresolved_since = fm->now;
	if (fm->now - rec->unresolved_since >= fm->cfg.resolve_max) {
		rec->orphans = true;
		r->base.known = 0;	/* some may be counted twice */
	}
	count_later(fm);
}

/* @empty: so two counts say */
static void drain_check(struct fm *fm, const struct fm_sums *s, bool empty)
{
	struct fm_root *r = fm->root;
	struct fm_rec *rec = r->rec;
	unsigned int colour = r->version % TORUS_COLOURS;
	uint8_t older = ALL_COLOURS & (uint8_t)~(1u << colour);
	bool provable = !someone_silent(fm), equal = true;
	bool known = provable && (r->base.known & older) == older;

	for (unsigned int c = 0; c < TORUS_COLOURS; c++)
		equal &= c == colour || fm_sums_missing(s, c) == r->base.missing[c];
	if (s->unresolved) {
		wait_for_end(fm);
		return;
	}
	/* The end of another link is waited for anew. */
	rec->unresolved_since = 0;
	rec->orphans = false;
	if (provable && (empty || (known && equal)))
		end_drain(fm, s, true);
	else if (bound_reached(fm, known))
		end_drain(fm, s, false);
	else
		drain_later(fm, s);
}

static void replay_check(struct fm *fm, const struct fm_sums *s)
{
	struct fm_root *r = fm->root;
	bool known = r->base.known & REPLAY_KNOWN;

	if (is_outdated(fm))
		return;
	if (known && !s->parked && !s->reopen &&
	    fm_sums_replay_missing(s) == r->base.replay_missing) {
		set_stamp(fm, FM_AT_REPLAYED);
		begin_resume(fm);
	} else if (bound_reached(fm, known)) {
		if (known)
			r->rec->gone += fm_sums_replay_missing(s) - r->base.replay_missing;
		r->rec->log.bounded = true;
		set_stamp(fm, FM_AT_REPLAYED);
		begin_resume(fm);
	} else {
		count_later(fm);
	}
}

static void tell_end(struct fm *fm, const struct fm_recovery *log)
{
	uint64_t ns = fm->now - log->at[FM_AT_DETECTED];
	char text[FM_TEXT_MAX];
	const struct fm_log line = {
		.level = log->lost ? FM_WARNING : FM_INFO, .kind = "recovery", .text = text,
		.recovery = log,
	};

	snprintf(text, sizeof(text), "version %llu in force after %llu.%03llu ms: %llu parked, "
		 "%llu replayed, %llu lost", (unsigned long long)log->version,
		 (unsigned long long)(ns / MS), (unsigned long long)(ns / 1000 % 1000),
		 (unsigned long long)log->parked, (unsigned long long)log->replayed,
		 (unsigned long long)log->lost);
	fm->ops.log(fm->io, &line);
}

static void end_recovery(struct fm *fm, const struct fm_sums *s)
{
	struct fm_root *r = fm->root;
	struct fm_rec *rec = r->rec;
	struct fm_recovery *log = &rec->log;
	int64_t lost = rec->base_was_known ? rec->gone : (int64_t)(s->lost - rec->lost_before);

	set_stamp(fm, FM_AT_RESUMED);
	log->lost = lost > 0 ? (uint64_t)lost : 0;
	log->replayed = fm_sums_replayed(s) - fm_sums_replayed(&rec->first);
	rec->last = *log;
	rec->phase = FM_PHASE_REST;
	fm->rolls = 0;
	fm_ended_forget(fm);
	tell_end(fm, log);
	fm_leftover_end(fm, s, log->bounded);
}

void fm_recovery_report(struct fm *fm, const struct fm_report *rep)
{
	struct fm_rec *rec = fm->root->rec;
	unsigned int colour = fm->root->version % TORUS_COLOURS;
	const struct fm_tally *t = fm_tally(fm);
	struct fm_sums s = rep->sums;
	bool empty;

	if (!rec->waiting || rep->version != fm->root->version || rep->round != rec->round)
		return;
	if (rep->count != t->parts[FM_PART_TAKES] || rep->set != t->set)
		return;
	if (rec->phase == FM_PHASE_APPLY && !fm_quorum_took(fm))
		return;		/* the step is said again, and answered again */
	rec->waiting = false;
	fm_problem_clear(fm, "recovery", 0);
	empty = rec->set == rep->set && fm_sums_in(&s, colour) == fm_sums_out(&rec->sums, colour);
	if (rec->phase == FM_PHASE_APPLY) {
		set_stamp(fm, FM_AT_REBUILT);
		fm_grow_applied(fm);
		fm_tally_applied(fm);
		fm_quorum_taken(fm, rep->version);
		if (!rec->began)
			rec->first = s;
		rec->began = true;
		if (rec->lost_before == ~0ULL)
			rec->lost_before = s.lost;
		begin_phase(fm, FM_PHASE_DRAIN);
	} else if (fm_sums_moved(&rec->sums, &s, colour, rec->phase == FM_PHASE_REPLAY)) {
		rec->still_since = fm->now;
	}
	rec->sums = s;
	rec->set = rep->set;
	fm_say(fm, FM_DEBUG, "recovery",
	       "version %llu phase %u round %u: missing %lld %lld %lld %lld, parked %llu, "
	       "unresolved %llu, held %llu, to open %u",
	       (unsigned long long)rep->version, rec->phase, rep->round,
	       (long long)fm_sums_missing(&s, 0), (long long)fm_sums_missing(&s, 1),
	       (long long)fm_sums_missing(&s, 2), (long long)fm_sums_missing(&s, 3),
	       (unsigned long long)s.parked, (unsigned long long)s.unresolved,
	       (unsigned long long)s.held, s.reopen);
	if (s.parked > rec->log.parked)
		rec->log.parked = s.parked;
	switch (rec->phase) {
	case FM_PHASE_DRAIN:
		drain_check(fm, &s, empty);
		break;
	case FM_PHASE_REPLAY:
		replay_check(fm, &s);
		break;
	case FM_PHASE_RESUME:
		end_recovery(fm, &s);
		break;
	}
}

void fm_recovery_recheck(struct fm *fm)
{
	if (fm->root->rec->waiting)
		fm_member_check(fm, true);
}

/*
 * A round that will not end although nobody is missing: some report or notice
 * went astray with a connection. All are asked anew. Or the nodes are too slow, and then all of
 * that makes them slower still: so each time in a row the next one is twice as far away.
 */
static void call_the_roll(struct fm *fm)
{
	if (fm->rolls < ROLLS_MAX)
		fm->rolls++;
	fm_say(fm, FM_WARNING, "recovery",
	       "version %llu does not go on: all nodes are asked to join anew",
	       (unsigned long long)fm->root->version);
	fm_claim_anew(fm, fm->term);
}

/* A manager that hangs is waited for until its connection counts as lost. */
static void tell_awaited(struct fm *fm)
{
	const struct fm_mate *m = fm_mate(fm->root, fm_reports_awaited(fm));

	if (m)
		fm_problem_set(fm, "recovery", 0,
			       "version %llu waits for an answer of '%s' (%s), or of a node below "
			       "it in the tree",
			       (unsigned long long)fm->root->version, m->name, m->address);
}

/* When the step at hand is asked for again, unless all have reported by then. */
static uint64_t asks_again(const struct fm *fm)
{
	return fm->root->rec->asked + fm->cfg.resend + fm_lag_answer(fm);
}

void fm_recovery_due(struct fm *fm)
{
	struct fm_rec *rec = fm->root->rec;

	if (rec->waiting && fm->now >= asks_again(fm)) {
		uint64_t late = fm_lag_answer(fm);

		rec->asked = fm->now;
		if (fm->now >= rec->round_began + PATIENCE * fm->cfg.resend + late)
			tell_awaited(fm);
		if (fm->now >= rec->round_began + (3 * (fm->cfg.member_max + late) << fm->rolls))
			call_the_roll(fm);
		fm_member_repeat(fm);
	}
	if (fm->now >= rec->next)
		send_step(fm, rec->phase == FM_PHASE_REPLAY ? FM_STEP_REPLAY : FM_STEP_COUNT);
}

uint64_t fm_recovery_expiry(const struct fm *fm)
{
	const struct fm_rec *rec = fm->root->rec;

	return earlier(rec->next, rec->waiting ? asks_again(fm) : NEVER);
}
