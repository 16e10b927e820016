/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The manager around claim.c: stubs for the functions that the file calls, and what they saw; and a
 * model of the stages of a claim.
 */
#ifndef TESTS_CLAIMING_H
#define TESTS_CLAIMING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <torus/topology.h>

#include "kernel/core/splitmix64.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/children.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/node/verdict.h"
#include "daemon/fm/root/arbiter.h"
#include "daemon/fm/root/calls.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/epoch.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/news.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/wire/init.h"

#define SELF	100
#define RECORDS	4
#define CONNS	3
#define RESEND	(100 * MS)
#define MEMBER_MAX (1000 * MS)

/** struct seen - how often the file has called each function */
struct seen {
	unsigned int spread, asked, few, unfit, sent, raised, dropped, missing, joined, noted,
		forgot, led, adrift, news, begun, calls, hellos;
	struct fm_claim claim;
};

static struct fm_root root;
static struct fm fm = { .root = &root, .guid = SELF, .cfg = {
	.resend = RESEND, .member_max = MEMBER_MAX, .keepalive = 3 * RESEND } };
static struct fm_record record[RECORDS];
static struct fm_conn conn[CONNS];
static unsigned int conns = CONNS;
static bool here[RECORDS], enough, obeys, above, arbiter_waits, arbiter_lets, arbiter_ends;
static bool own, knows, obeys_later, shuns, retries, handed, relieves, named;
static uint64_t lag, latest, credible;
static uint32_t count_here, count_need;
static struct fm_answer answer;
static struct seen seen;
static struct fm_entry former = { .name = "old" };

uint64_t fm_lag_answer(const struct fm *f) { (void)f; return lag; }
uint64_t fm_nic_latest(const struct fm *f) { (void)f; return latest; }
bool fm_nic_obeys(const struct fm *f) { (void)f; return obeys; }
uint64_t fm_epoch_credible(const struct fm *f) { (void)f; return credible; }
bool fm_epoch_above(struct fm *f, const struct fm_hello *h) { (void)f; (void)h; return above; }
bool fm_arbiter_waits(const struct fm *f) { (void)f; return arbiter_waits; }
const struct fm_answer *fm_verdict(const struct fm *f) { (void)f; return &answer; }
unsigned int fm_conns_count(const struct fm *f) { (void)f; return conns; }
void fm_candidate_unfit(struct fm *f) { (void)f; seen.unfit++; }
void fm_children_drop(struct fm *f) { (void)f; seen.dropped++; }
void fm_news_begin(struct fm *f) { (void)f; seen.news++; }
void fm_ports_spread(struct fm *f) { (void)f; seen.spread++; }
void fm_ports_ask(struct fm *f) { (void)f; seen.asked++; }
void fm_calls_joined(struct fm *f) { (void)f; seen.joined++; }
void fm_calls_begin(struct fm *f, bool leads) { (void)f; seen.calls += leads ? 10 : 1; }
void fm_quorum_begin(struct fm *f) { (void)f; seen.begun++; }
bool fm_quorum_claimed(const struct fm *f) { (void)f; return enough; }
void fm_quorum_hello(const struct fm *f, struct fm_record *m) { (void)f; (void)m; seen.hellos++; }
void fm_quorum_forgot(struct fm *f, struct fm_record *m) { (void)f; (void)m; seen.forgot++; }
bool fm_follow_own(const struct fm *f, const struct fm_init *i) { (void)f; (void)i; return own; }
uint32_t fm_roster_size(const struct fm_root *r) { (void)r; return RECORDS; }
uint64_t fm_mix(uint64_t x) { return splitmix64_mix(x); }
uint64_t fm_random(struct fm *f) { (void)f; return 5 * RESEND; }

void fm_quorum_note(struct fm_record *m, const struct fm_hello *h)
{
	(void)m;
	(void)h;
	seen.noted++;
}

bool fm_follow_shuns(const struct fm *f, const struct fm_init *i)
{
	(void)f;
	(void)i;
	return shuns;
}

bool fm_follow_retries(const struct fm *f, const struct fm_init *i)
{
	(void)f;
	(void)i;
	return retries;
}

bool fm_follow_obeys_later(const struct fm *f, const struct fm_init *i)
{
	(void)f;
	(void)i;
	return obeys_later;
}

bool fm_follow_knows(const struct fm *f, uint64_t guid)
{
	(void)f;
	assert_int_equal(guid, SELF + 1);
	return knows;
}

bool fm_follow_later(uint64_t epoch, uint64_t guid, uint64_t than_epoch, uint64_t than_guid)
{
	return epoch > than_epoch || (epoch == than_epoch && guid > than_guid);
}

void fm_follow_led(struct fm *f, uint64_t epoch)
{
	assert_int_equal(epoch, f->term);
	seen.led++;
}

void fm_uplink_adrift(struct fm *f, bool adrift)
{
	(void)f;
	assert_false(adrift);
	seen.adrift++;
}

uint64_t fm_epoch_stated(const struct fm_hello *h)
{
	return later(h->root_epoch, h->maybe_epoch);
}

void fm_epoch_raise(struct fm *f, uint64_t epoch)
{
	assert_true(epoch > f->term);
	f->term = f->root_epoch = epoch;
	seen.raised++;
}

void fm_quorum_count(const struct fm *f, uint32_t *n, uint32_t *need)
{
	(void)f;
	*n = count_here;
	*need = count_need;
}

bool fm_quorum_here(const struct fm *f, const struct fm_record *m)
{
	(void)f;
	return here[m - record];
}

bool fm_arbiter_lets(struct fm *f, bool quorum, bool *ends)
{
	(void)f;
	assert_int_equal(quorum, enough);
	*ends = arbiter_ends;
	return arbiter_lets;
}

void fm_candidate_too_few(struct fm *f, uint32_t n, uint32_t need)
{
	(void)f;
	assert_int_equal(n, count_here);
	assert_int_equal(need, count_need);
	seen.few++;
}

bool fm_candidate_take_call(struct fm *f, bool *unfit)
{
	(void)f;
	*unfit = relieves;
	return handed;
}

unsigned int fm_candidate_priority(unsigned int is_sent, uint32_t node)
{
	(void)node;
	return is_sent;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < RECORDS);
	return &record[i];
}

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	(void)r;
	return guid >= SELF && guid < SELF + RECORDS ? &record[guid - SELF] : NULL;
}

void fm_record_missing(struct fm *f, struct fm_record *m)
{
	(void)f;
	m->via = 0;
	m->missing = 1;
	seen.missing++;
}

void fm_change_node(struct fm *f, uint32_t node)
{
	(void)f;
	assert_int_equal(node, 1);
	seen.forgot += 10;
}

struct fm_conn *fm_conn_no(const struct fm *f, unsigned int i)
{
	(void)f;
	assert_true(i < conns);
	return &conn[i];
}

void fm_conn_send(struct fm *f, const struct fm_conn *c, const struct fm_msg *msg)
{
	(void)f;
	(void)c;
	assert_int_equal(msg->type, FM_MSG_CLAIM);
	seen.claim = msg->claim;
	seen.sent++;
}

const struct fm_entry *fm_table_entry(const struct fm *f, uint64_t guid)
{
	(void)f;
	assert_int_equal(guid, root.former.root);
	return named ? &former : NULL;
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	(void)f;
	(void)level;
	(void)fmt;
	assert_string_equal(kind, "root");
}

/* --- the model -------------------------------------------------------------------------- */

#define ASK_MAX (20 * RESEND)

/** struct model - the expected state of a claim that begins with asking */
struct model {
	enum fm_stage stage;
	enum fm_ending ending;
	bool is_sent, anew;
	uint64_t at, apart, grew, begun, since, high, turn, around, term, epoch;
	uint32_t most, here, need, serial[RECORDS];
	unsigned int spread, asked, few, unfit, sent, raised, led, missing;
};

static struct model w;
static unsigned int absent;	/* nodes that are missing, which a root that begins to lead notes */

static bool is_alone(void)
{
	for (uint32_t i = 0; i < RECORDS; i++)
		for (unsigned int p = 0; here[i] && p < record[i].row.nports; p++) {
			const struct fm_port_row *port = &record[i].row.port[p];
			uint64_t o = port->peer_guid - SELF;

			if (port->state == FM_PORT_UP && port->peer_guid &&
			    (o >= RECORDS || !here[o]))
				return false;
		}
	return true;
}

static bool is_whole(void)
{
	uint32_t n = 0;
	bool all = true;

	for (uint32_t i = 0; i < RECORDS; i++) {
		n += here[i];
		for (unsigned int p = 0; here[i] && p < 2; p++)
			all &= record[i].row.port[p].state == FM_PORT_UP;
	}
	return (all && (fm.ndims || !n)) || n == torus_nodes(&root.shape);
}

static bool waits(void)
{
	return w.apart != NEVER && w.need && fm.now < w.apart + MEMBER_MAX + lag && !is_whole();
}

static bool are_enough(void)
{
	return enough || (w.apart != NEVER && !waits() && is_alone());
}

static void look(void)
{
	bool same = true, alone = is_alone();

	for (uint32_t i = 0; i < RECORDS; i++) {
		same &= w.serial[i] == record[i].row.serial + 1;
		w.serial[i] = record[i].row.serial + 1;
	}
	if (!same || (!alone && w.stage == FM_STAGE_ASKS))
		w.apart = NEVER;
	if (alone && w.apart == NEVER)
		w.apart = fm.now;
}

static void begin_claim(void)
{
	w.stage = FM_STAGE_CLAIMS;
	w.since = w.grew = fm.now;
	w.most = 0;
	w.is_sent = false;
	w.term = w.epoch = later(later(w.high, latest), w.term) + 1;
	w.raised++;
	w.spread++;
}

static void ask_again(void)
{
	w.stage = FM_STAGE_ASKS;
	for (uint32_t i = 1; i < RECORDS; i++)
		w.anew |= !!record[i].via;
}

static void lead(void)
{
	w.stage = FM_STAGE_LEADS;
	w.since = fm.now;
	w.at = NEVER;
	w.led++;
	w.missing += absent;
}

static void go_on(void)
{
	bool over = fm.now >= later(w.since, w.grew) + 10 * RESEND + lag;

	if (!obeys) {
		w.unfit += over;
		if (over)
			w.ending = fm.led.guid && fm.led.guid != SELF ? FM_ENDS_BACK :
								       FM_ENDS_ALONE;
		return;
	}
	if (!w.is_sent)
		for (unsigned int i = 0; i < conns; i++)
			w.sent += conn[i].role == FM_CONN_STRANGER && conn[i].waits;
	w.is_sent = true;
	if (are_enough() && arbiter_lets) {
		lead();
	} else if (are_enough() && arbiter_ends) {
		ask_again();
		w.since = w.begun = fm.now;
		w.high = answer.high <= credible ? later(w.high, answer.high) : w.high;
	} else if (!are_enough() && over) {
		ask_again();
	}
}

static void check(void)
{
	bool fails, was_led = fm.led.guid && fm.led.guid != SELF;

	if (fm.now < w.at)
		return;
	w.at = fm.now + RESEND;
	if (w.stage == FM_STAGE_ASKS && w.high > w.epoch) {
		w.epoch = w.high;
		w.spread++;
	}
	w.here = count_here;
	w.need = count_need;
	look();
	if (w.here > w.most) {
		w.most = w.here;
		w.grew = fm.now;
	}
	fails = w.stage == FM_STAGE_ASKS && !waits() && fm.now >= w.begun + ASK_MAX + lag &&
		fm.now >= w.grew + ASK_MAX / 2 + lag;
	w.few += fails && !are_enough();
	if (w.stage == FM_STAGE_ASKS && !arbiter_waits && are_enough()) {
		begin_claim();
	} else if (w.stage == FM_STAGE_CLAIMS) {
		go_on();
	} else if (fails && was_led) {
		w.ending = FM_ENDS_BACK;
	} else if (fails) {
		bool other = false;

		for (uint32_t i = 1; i < RECORDS; i++)
			other |= here[i] && record[i].priority;
		if (fm.now >= w.around) {
			w.around = fm.now + ASK_MAX;
			w.asked++;
		}
		if (other && fm.now >= w.begun + ASK_MAX + (8 + 5) * RESEND)
			w.ending = FM_ENDS_ALONE;
	}
}

#endif /* TESTS_CLAIMING_H */
