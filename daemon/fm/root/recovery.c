// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: recovery, the root's part
 *
 *	APPLY   The root sends table v. Every node switches its rows at once, with rows that change
 *		on hold, resolves parked packets, and reports READY with its counters.
 *	DRAIN   The root has all nodes count until no packet of an older colour is in the network.
 *	REPLAY  Every node opens the ports that are healthy in the table and sends its parked
 *		packets by its new rows; until all have arrived.
 *	RESUME  Every node lifts its holds.
 *
 * Each step goes to all nodes, and the next one begins when all have reported it. REPLAY is skipped
 * if nothing is parked and no port waits to be opened. In the Angara paper nodes make new tables,
 * and send parked packets when all have them. Colours, holds, relays and the proofs below are our
 * additions.
 *
 * Symbols:
 *
 *	v		the present version; a node sends packets of colour v from its switch on
 *	in, out		counters of older colours, summed over NICs. In: injected and replay_tx; in
 *			Lemma 2 also link_rx. Out: delivered, parked and unreachable; in Lemma 2
 *			also link_tx
 *	base		number of packets that are missing for good, for example in a NIC that died
 *
 * Lemma 1: one count can prove that the network is drained. A node's READY, and any later report,
 * reads its counters after its switch. So when all are ready, "in" is final on every node, and was
 * final when each was read. "Out" only grows, and each reading of it is at most the number of
 * packets that have come out by now. If the sums are equal, nothing is left, whenever each of them
 * was read. So the counts that come with READY may already be the proof. The same holds for
 * replayed packets when every node has begun to replay and has nothing parked. The proof needs
 * every NIC to be counted exactly once: reports carry number and fingerprint of the NICs in them,
 * and are used only if both are right. If packets are missing for good, the sums differ by the
 * base. The base is known as long as the same NICs are counted; it is not known when a NIC goes, or
 * comes with counts of its own.
 *
 * Lemma 2: without the base, two counts can prove it. Each NIC counts its links like its host: in,
 * the packets that it accepted from a neighbour (link_rx); out, those that a neighbour acknowledged
 * (link_tx). The difference is in this NIC, including RETRY buffers and unresolved packets in
 * parking, whatever happens to the copy that a neighbour may have; the unit tests check this to the
 * packet. A dead neighbour counts as a host: what came from it went in, what it acknowledged came
 * out, lost or not. A packet that it had accepted when it died, without acknowledgement, is parked;
 * if it had passed it on, the packet arrives twice, and its receiver discards the second one. Let T
 * be a moment after all have read one count and before any reads the next. Then
 *	out at the former count <= out at T <= in at T <= in at the latter count.
 * If the first sum equals the last, each NIC was empty at T, and stays so: no packet of an older
 * colour begins after READY, and none comes from outside. For a node is judged dead when none of
 * the counted NICs has a link to it, on which link_rx is then final; a link that comes up again is
 * a new session, closed at both ends until a replay, unless the node lost its memory with its
 * packets. The same holds for several dead nodes and for a part that was split off. A node that
 * comes back takes part from the next version on, with counts that are right for its own NIC. Both
 * counts must be of the same NICs. Exception: packets that such a node replays through relays pass
 * closed ports. If it lives, was judged dead during a replay and gets a link before it joins, some
 * may arrive late, and are put in order by their numbers in their flows.
 *
 * There is no proof while a NIC lives whose manager does not take part: it goes on to send packets
 * of an older colour. Then, or if some NIC counts wrong (one of an older driver has no counts of
 * its links), the network counts as drained when the sums have not changed for drain_max, longer if
 * this manager handles messages late (node/lag.c). When it is proven to be drained, the number of
 * missing packets becomes the new base. Without proof, some of them may only be late, behind a link
 * that no NIC has given up yet. If they were in the base, as many others on their way in a later
 * version would make the sums equal. So the base of these colours is then not known until a drain
 * is proven by two counts.
 *
 * Lemma 3: nothing is lost, duplicated or reordered. Lost: a packet leaves the RETRY buffer only
 * when the next NIC has it; on a dead link it is parked, and replayed; an unresolved one is kept
 * unless the other end reported that it has it. Duplicated: a packet that was kept although the
 * other end had it is recognised by its number in its flow. Reordered: packets of a flow sent
 * before the switch are delivered or parked before the first parked one is replayed (DRAIN); all
 * replayed ones have arrived before the first held one starts (REPLAY, RESUME); two parts of a flow
 * parked on two nodes may overtake each other, and are put in order at the receiver by their
 * numbers, which gives up missing ones only at RESUME, when all that can arrive have arrived.
 *
 * Lemma 4: the same holds with relays. A packet that passes relays goes in once and comes out once;
 * in the memory of a relay it is on its way, as on a link, so DRAIN waits for it. Two tables could
 * send it in circles or past others of its flow, because a relay's onward row may change while the
 * row of the source does not. So from the switch until RESUME each NIC holds all packets whose row
 * has a relay, changed or not, and a relay parks packets that come with an older colour and would
 * go on by a row on hold (kernel/core/relay.h). So all legs of a packet are of one table, and
 * packets that are replayed through relays go when all have the new one. A relay whose manager
 * hangs parks packets of a later table until it follows. The packets in the memory of a relay that
 * dies are missing from the sums, like those of any NIC, and become part of the new base.
 *
 * Lemma 5: a recovery ends. It waits for sums, which is bounded, or for reports. A report is asked
 * for again until it comes or its node is judged silent or dead. It can be missing from four kinds
 * of nodes:
 *  - A node that does not answer: its connection ends, and judge.c judges it.
 *  - A node whose NIC fails: the node reports that after 2 * member_max (node/member.c), or sooner
 *    if it failed before. Its parent does not wait for it any more in this version, and it is
 *    silent. Each action that is done for the first time in a step gives it as much time again, but
 *    there are no more than five of them.
 *  - A node that waits for a report from below: it reports that each time it is asked. Follow the
 *    missing reports down the tree, which has no cycle. The lowest node has none below it to wait
 *    for; it is one of the other three.
 *  - A node that answers, and for member_max has neither reported nor answered that it waits: its
 *    parent reports it to the root (and answers itself, or its own parent would report it). The
 *    node is silent, its connections are dropped and it is refused for a while, so that the nodes
 *    below it join below others (judge.c).
 * In each case one node less takes part in the next version, or in this one if none can begin. Such
 * nodes come back only after a time that doubles, up to 20 * member_max, and meanwhile the root
 * waits only for the others. Other reasons are left, for example a report that was lost though no
 * node is awaited, or a node that wrongly answers that it waits. So all nodes are asked to join
 * again after 3 * member_max; the next time, if no version has come into force since, after twice
 * that time.
 *
 * A NIC that refuses to replay does not stop a recovery: REPLAY is bounded. But the replay of its
 * parked packets would be tried again and again, while its closed ports take more packets. So after
 * 2 * member_max of such refusals, too, its manager reports that the NIC fails, and these ports are
 * excluded.
 *
 * Packets that are left parked get another recovery (leftover.c).
 *
 * A NIC that starts again is empty: it has no rows and no place, and drops what comes. If it has
 * started since the table was made, it may have links again that are healthy in this table. Then
 * neither REPLAY nor RESUME follows, but the next table, which its HELLO has demanded.
 *
 * A change at any step makes version v+1, which supersedes v: its steps are of a higher version,
 * holds stay in force with those of v+1 added (rows.c), and its DRAIN covers all older colours, v
 * included. Only then may REPLAY happen, so packets that v replayed are drained, too. Colours
 * return after four versions, so v+1 waits if packets of its colour may be left (publish.c).
 *
 * Tests: tests/sim/test_recovery.c, and all random histories of tests/sim with check_drain.c,
 * check_order.c, check_hold.c, check_tally.c and check_end.c; tests/unit/test_fm_flows.c.
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
#include "daemon/fm/root/apart.h"
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
#include "lib/deps/invariant.h"

#define SLOW 10		/* in units of fm_config.resend: after this time a problem names a node
			 * that has not reported */

#define LOG_EVERY (5 * SEC)	/* recoveries whose steps are logged: LOG_BURST at once, and then
				 * one in this time, lest they displace all other events */
#define LOG_BURST 16

#define ROLLS_MAX 4	/* how often the time until all nodes are asked to join again is doubled */
#define COUNT_FIRST (MS / 4)	/* interval of the first counts */
#define COUNT_LAST (20 * MS)	/* longest interval of counts */
#define PROVEN_FACTOR 10	/* in units of fm_config.drain_max: the limit if a proof is
				 * possible, because packets may only be late */
#define STILL_FACTOR 40		/* in units of fm_config.drain_max: limit of a replay whose sums
				 * keep changing */

#define ALL_COLOURS ((1u << TORUS_COLOURS) - 1)
#define REPLAY_KNOWN (1u << TORUS_COLOURS)

/**
 * struct losses - how many packets receivers have given up as lost since the recovery began, by
 * their own counters
 * @set, @nics: fingerprint and number of the NICs that are counted; 0: there was no report
 * @first, @last: sums of their counters at the first and at the last count
 * @before: packets that were lost while other NICs were counted
 *
 * A NIC that dies or comes takes away or adds all that it has ever lost. So sums of the same NICs
 * are compared. Between the last sum of the former NICs and the first one of the next, at least as
 * many packets were lost as the sum has risen by, if NICs went. If NICs came, the rise may be
 * theirs, and is left out.
 */
struct losses {
	uint64_t set, first, last;
	uint64_t before;
	uint32_t nics;
};

/**
 * struct fm_rec - the present recovery
 * @phase: enum fm_phase
 * @orphans: as in fm_step
 * @logged: its steps are logged; @logged_until: the time that recoveries whose steps were logged
 * have used up
 * @log: log of this recovery; @last: log of the last one that ended
 */
struct fm_rec {
	uint8_t phase;
	bool waiting;		/* the root waits for reports of @round */
	bool orphans;
	bool base_was_known;
	bool logged;
	uint64_t logged_until;
	uint32_t round;
	uint64_t asked;		/* when the step of this round was last sent */
	uint64_t round_began;
	uint64_t next;		/* when the next round of counts is due; NEVER */
	uint64_t interval;
	uint64_t phase_began;
	uint64_t still_since;	/* time since which the sums have not changed */
	uint64_t unresolved_since;	/* since this time some packets are unresolved; 0: none */
	struct losses losses;
	struct fm_sums sums;	/* sums of the last complete round */
	uint64_t set;		/* fingerprint of the NICs in @sums; 0: there was no round */
	bool began;		/* @first is known */
	struct fm_sums first;	/* sums of the first complete round */
	int64_t gone;		/* number of packets missing beyond the base */
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

/* Return: true if there is a NIC that works, but whose manager does not take part. */
static bool has_silent(const struct fm *fm)
{
	return fm_tally(fm)->parts[FM_PART_LIVES];
}

/*
 * Return: true if the next table must follow at once, because a NIC that should take part was
 * restarted, or may still have the former shape.
 */
static bool is_outdated(const struct fm *fm)
{
	return fm_demand_is(fm->root) &&
	       (fm_tally(fm)->parts[FM_PART_ANEW] || fm_grow_mixed(fm->root));
}

/* Decides whether the steps of the recovery that begins are reported. */
static void choose_reported(struct fm_rec *rec, uint64_t now)
{
	rec->logged = rec->logged_until <= now + (LOG_BURST - 1) * LOG_EVERY;
	if (rec->logged)
		rec->logged_until = later(rec->logged_until, now) + LOG_EVERY;
}

/* Reports a step while the recovery goes on; report_recovery_end() reports the end. */
static void report_step(struct fm *fm, enum fm_stamp step)
{
	static const char *const texts[FM_STAMPS] = {
		[FM_AT_TABLE] = "table sent to all nodes",
		[FM_AT_REBUILT] = "all nodes have switched their rows",
		[FM_AT_DRAINED] = "older packets have drained",
		[FM_AT_REPLAYED] = "parked packets have been replayed",
	};
	const struct fm_recovery *log = &fm->root->rec->log;
	uint64_t ns = fm->now - log->at[FM_AT_DETECTED];
	char text[FM_TEXT_MAX];
	const struct fm_log line = {
		.level = FM_DEBUG, .kind = "step", .text = text, .recovery = log,
		.step = (uint8_t)step,
	};

	if (!fm->root->rec->logged || !texts[step])
		return;
	snprintf(text, sizeof(text), "version %llu, %llu.%03llu ms after its cause: %s",
		 (unsigned long long)log->version, (unsigned long long)(ns / MS),
		 (unsigned long long)(ns / 1000 % 1000), texts[step]);
	fm->ops.log(fm->io, &line);
}

static void set_stamp(struct fm *fm, enum fm_stamp at)
{
	if (fm->root->rec->log.at[at])
		return;
	fm->root->rec->log.at[at] = fm->now;
	report_step(fm, at);
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

	invariant(r->version == fm->table.version);
	invariant(!(r->clean >> r->version % TORUS_COLOURS & 1));	/* this version's packets
									 * have its colour, so it
									 * is not clean */
	if (kind == FM_STEP_RESUME) {
		s.base = r->base;
		s.base.version = r->version;
	}
	if (rec->sums.unresolved)
		fm_ended_fill(fm, &s);
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

/* Return: true if this phase has reached its time limit; @known: a proof of its end is possible. */
static bool bound_reached(const struct fm *fm, bool known)
{
	const struct fm_rec *rec = fm->root->rec;
	uint64_t bound = fm->cfg.drain_max + fm_lag_answer(fm);
	uint64_t still = bound * (known ? PROVEN_FACTOR : 1);
	uint64_t at_all = bound * (has_silent(fm) ? 2 : STILL_FACTOR);

	/*
	 * Without a silent node no new packets of older colours are sent, so each change of the
	 * sums is progress.
	 */
	if (rec->phase == FM_PHASE_DRAIN && !has_silent(fm))
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

	invariant(r->version > old.log.version);
	*rec = (struct fm_rec) {
		.began = ongoing && old.began,
		.first = old.first,
		.gone = ongoing ? old.gone : 0,
		.base_was_known = base_known && (!ongoing || old.base_was_known),
		.waiting = true,
		.asked = fm->now,
		.round_began = fm->now,
		.logged_until = old.logged_until,
		.last = old.last,
	};
	choose_reported(rec, fm->now);
	fm_leftover_begin(fm);
	rec->log.version = r->version;
	memcpy(rec->log.cause, fm_demand_cause(r), sizeof(rec->log.cause));
	rec->log.at[FM_AT_DETECTED] = fm_demand_since(r);
	if (ongoing) {		/* this recovery includes the one that it supersedes */
		rec->losses = old.losses;
		rec->log.parked = old.log.parked;
		rec->log.bounded = old.log.bounded;
		rec->log.at[FM_AT_DETECTED] = old.log.at[FM_AT_DETECTED];
	}
	begin_phase(fm, FM_PHASE_APPLY);
	set_stamp(fm, FM_AT_TABLE);
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

	invariant(r->rec->phase == FM_PHASE_DRAIN);
	set_stamp(fm, FM_AT_DRAINED);
	for (unsigned int c = 0; c < TORUS_COLOURS; c++) {
		if (c == colour)
			continue;
		if (r->base.known & 1u << c)
			r->rec->gone += fm_sums_missing(s, c) - r->base.missing[c];
		r->base.missing[c] = fm_sums_missing(s, c);
		r->base.known &= (uint8_t)~(1u << c);
		r->base.known |= (uint8_t)(proven << c);
	}
	r->base.replay_missing = fm_sums_replay_missing(s);
	r->base.known |= REPLAY_KNOWN;
	r->clean |= ALL_COLOURS & (uint8_t)~(1u << colour);
	if (!proven) {
		r->rec->log.bounded = true;
		fm_log(fm, FM_WARNING, "recovery",
		       "version %llu: the network is taken as empty without proof: the counts "
		       "have not changed for %llu ms",
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
 * Called when there is no proof yet: counts again. If each NIC was empty when it was read, it does
 * so at once, because the next count will most likely be the proof. Also at once after READY: a
 * node reads these counts when it has switched, while others still send packets of older colours.
 */
static void drain_later(struct fm *fm, const struct fm_sums *s)
{
	struct fm_rec *rec = fm->root->rec;
	unsigned int colour = fm->root->version % TORUS_COLOURS;

	count_later(fm);
	if (!has_silent(fm) && (!rec->round || fm_sums_in(s, colour) == fm_sums_out(s, colour)))
		rec->next = fm->now;
}

/*
 * Called when the other end of some dead link has not reported how far it had received: waits for
 * this, up to a time limit.
 */
static void wait_for_end(struct fm *fm)
{
	struct fm_root *r = fm->root;
	struct fm_rec *rec = r->rec;

	if (!rec->unresolved_since)
		rec->unresolved_since = fm->now;
	if (fm->now - rec->unresolved_since >= fm->cfg.resolve_max) {
		rec->orphans = true;
		r->base.known = 0;	/* some packets may be counted twice */
	}
	count_later(fm);
}

/*
 * Ends the drain if it is proven, or if its time limit is reached. @empty: it is proven by two
 * counts.
 */
static void check_drain(struct fm *fm, const struct fm_sums *s, bool empty)
{
	struct fm_root *r = fm->root;
	struct fm_rec *rec = r->rec;
	unsigned int colour = r->version % TORUS_COLOURS;
	uint8_t older = ALL_COLOURS & (uint8_t)~(1u << colour);
	bool provable = !has_silent(fm), equal = true;
	bool known = provable && (r->base.known & older) == older;

	for (unsigned int c = 0; c < TORUS_COLOURS; c++)
		equal &= c == colour || fm_sums_missing(s, c) == r->base.missing[c];
	if (s->unresolved) {
		wait_for_end(fm);
		return;
	}
	/* A link that is lost from now on gets the whole time again. */
	rec->unresolved_since = 0;
	rec->orphans = false;
	if (provable && (empty || (known && equal)))
		end_drain(fm, s, true);
	else if (bound_reached(fm, known))
		end_drain(fm, s, false);
	else
		drain_later(fm, s);
}

/* Ends the replay if all packets have arrived, or if its time limit is reached. */
static void check_replay(struct fm *fm, const struct fm_sums *s)
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

static void report_recovery_end(struct fm *fm, const struct fm_recovery *log)
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

/* Return: number of packets lost since the recovery began. */
static uint64_t count_lost(const struct losses *l)
{
	return l->before + l->last - l->first;
}

/*
 * Adds the lost packets of a complete report of APPLY or RESUME; reports of other steps do not
 * contain this counter.
 */
static void add_losses(struct losses *l, const struct fm_report *rep)
{
	uint64_t lost = rep->sums.lost;

	if (l->set != rep->set) {
		uint64_t rise = rep->count < l->nics && lost > l->last ? lost - l->last : 0;

		*l = (struct losses) { .set = rep->set, .nics = rep->count, .first = lost,
				       .before = count_lost(l) + rise };
	}
	l->last = lost;
}

static void end_recovery(struct fm *fm, const struct fm_sums *s)
{
	struct fm_root *r = fm->root;
	struct fm_rec *rec = r->rec;
	struct fm_recovery *log = &rec->log;
	int64_t counted = (int64_t)count_lost(&rec->losses), lost = rec->gone;

	/*
	 * An earlier drain without proof, of a version that this one supersedes, may have left the
	 * base unknown.
	 */
	if (!rec->base_was_known && counted > lost)
		lost = counted;
	set_stamp(fm, FM_AT_RESUMED);
	log->lost = lost > 0 ? (uint64_t)lost : 0;
	log->replayed = fm_sums_replayed(s) - fm_sums_replayed(&rec->first);
	rec->last = *log;
	rec->phase = FM_PHASE_REST;
	fm->rolls = 0;
	fm_ended_forget(fm);
	report_recovery_end(fm, log);
	fm_apart_look(fm);
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
		return;		/* the step is repeated, and all nodes answer again */
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
		add_losses(&rec->losses, rep);
		begin_phase(fm, FM_PHASE_DRAIN);
	} else if (fm_sums_moved(&rec->sums, &s, colour, rec->phase == FM_PHASE_REPLAY)) {
		rec->still_since = fm->now;
	}
	rec->sums = s;
	rec->set = rep->set;
	fm_log(fm, FM_DEBUG, "recovery",
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
		check_drain(fm, &s, empty);
		break;
	case FM_PHASE_REPLAY:
		check_replay(fm, &s);
		break;
	case FM_PHASE_RESUME:
		add_losses(&rec->losses, rep);
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
 * Asks all nodes to join again, because a round does not end although no node is missing: a report
 * or notice was lost with a connection. If the nodes are only too slow, this makes them slower
 * still; so the time until the next attempt doubles.
 */
static void ask_all_anew(struct fm *fm)
{
	if (fm->rolls < ROLLS_MAX)
		fm->rolls++;
	fm_log(fm, FM_WARNING, "recovery",
	       "version %llu makes no progress: all nodes are asked to join anew",
	       (unsigned long long)fm->root->version);
	fm_claim_anew(fm, fm->term);
}

/* Reports a problem that names a node which has not reported. */
static void report_awaited(struct fm *fm)
{
	const struct fm_record *m = fm_record(fm->root, fm_reports_awaited(fm));

	if (m)
		fm_problem_set(fm, "recovery", 0,
			       "version %llu waits for an answer of '%s' (%s), or of a node below "
			       "it in the tree",
			       (unsigned long long)fm->root->version, m->name, m->address);
}

/* Return: when the present step is repeated, unless all have reported by then. */
static uint64_t repeat_at(const struct fm *fm)
{
	return fm->root->rec->asked + fm->cfg.resend + fm_lag_answer(fm);
}

void fm_recovery_due(struct fm *fm)
{
	struct fm_rec *rec = fm->root->rec;

	if (rec->waiting && fm->now >= repeat_at(fm)) {
		uint64_t late = fm_lag_answer(fm);

		rec->asked = fm->now;
		if (fm->now >= rec->round_began + SLOW * fm->cfg.resend + late)
			report_awaited(fm);
		if (fm->now >= rec->round_began + (3 * (fm->cfg.member_max + late) << fm->rolls))
			ask_all_anew(fm);
		fm_member_repeat(fm);
	}
	if (fm->now >= rec->next)
		send_step(fm, rec->phase == FM_PHASE_REPLAY ? FM_STEP_REPLAY : FM_STEP_COUNT);
}

uint64_t fm_recovery_expiry(const struct fm *fm)
{
	const struct fm_rec *rec = fm->root->rec;

	return earlier(rec->next, rec->waiting ? repeat_at(fm) : NEVER);
}
