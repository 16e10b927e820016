// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a node asks to be root, by itself: random lives of a node that loses roots, follows others
 * that ask, is called, and asks without success, compared with an account of when it must ask, and
 * when it must look for a root among its neighbours. Stubs in this test stand for the functions of
 * the manager that the file calls.
 */
#include <string.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"

#define TAKEOVER (300 * MS)
#define RESEND (10 * MS)
#define MEMBER (5000 * MS)

static struct fm fm;
static uint64_t random_number;
static struct fm_conn conn;
static bool has_conn;
static unsigned int asked_around, reported, cleared;

uint64_t fm_random(struct fm *f)
{
	(void)f;
	return random_number;
}

struct fm_conn *fm_conn_of_role(const struct fm *f, enum fm_conn_role role)
{
	(void)f;
	assert_int_equal(role, FM_CONN_ROOT);
	return has_conn ? &conn : NULL;
}

void fm_ports_ask(struct fm *f)
{
	(void)f;
	asked_around++;
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	(void)f;
	(void)level;
	(void)kind;
	(void)fmt;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	(void)f;
	(void)key;
	(void)fmt;
	assert_string_equal(kind, "root");
	reported++;
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	(void)key;
	assert_string_equal(kind, "root");
	cleared++;
}

/* --- the account ------------------------------------------------------------------------------ */

/**
 * struct account
 * @ask, @look: when it is to ask to be root, and to ask its neighbours for one; NEVER
 * @vain, @lost: how often it asked without success, and lost one that asked
 */
static struct account {
	uint64_t ask, look, unfit;
	unsigned int vain, lost;
	bool named, called, relieves;
} own;

static unsigned int priority(void)
{
	unsigned int p = fm.cfg.takeover ? fm.cfg.priority : 0;

	if (p != FM_PRIORITY_AUTO)
		return p;
	if (fm.bootstrap)
		return 255;
	return fm.placed && fm.node < 8 ? 100 : 0;
}

/*
 * Return: the delay of a candidate. After TAKEOVER come the priorities above 100, half a ms apart;
 * then eight nodes with 100, a quarter of TAKEOVER apart, by their ids; then priorities below 100,
 * one ms apart.
 */
static uint64_t turn(void)
{
	unsigned int p = priority(), id = fm.placed ? fm.node % 8 : 0;
	uint64_t below = 255 - p;

	if (p > 100)
		return below * 500 * US + id * 62500 + random_number % 31250;
	if (p == 100)
		return below * 500 * US + id * TAKEOVER / 4 +
		       random_number % (TAKEOVER / 8 + 1);
	return below * MS + 2 * TAKEOVER + id * 125 * US + random_number % 62500;
}

static void loses(struct rnd *r)
{
	unsigned int before = cleared;

	fm_candidate_adrift(&fm);
	expect(r, cleared - before == (!fm.cut_off || fm.root_asks) + (unsigned int)!fm.cut_off, "the problems");
	own.ask = own.look = NEVER;
	own.called = false;
	if (!fm.cut_off)
		own.vain = own.lost = 0;
	if (!fm.cut_off || !fm.cfg.takeover || fm.is_root)
		return;
	if (fm.root_asks)
		own.look = fm.now + 10 * TAKEOVER;
	else if (fm.led.guid)
		own.look = fm.now + (own.named ? 0 : (TAKEOVER / 2) << own.lost);
	own.named = false;
	if (!priority() || !(fm.placed || fm.bootstrap))
		return;
	own.ask = (own.unfit > fm.now ? own.unfit : fm.now) + (TAKEOVER << own.vain) + turn() +
		  (fm.root_asks ? 10 * TAKEOVER : 0);
}

static bool is_joining(void)
{
	return has_conn && conn.ready && (conn.hello || fm.now < conn.received + 5 * RESEND);
}

static void looks(struct rnd *r)
{
	unsigned int around = asked_around, reported_before = reported;
	bool is = fm_candidate_due(&fm), asks = false, due = fm.now >= own.look;
	bool vain = fm.have_root && !fm.root_asks && !fm.is_root && fm.cut_off &&
		    fm.now >= fm.cut_off + 30 * SEC;

	expect(r, asked_around - around == due, "asks its neighbours");
	expect(r, reported - reported_before == (due && vain), "tells that none asks");
	if (due)
		own.look = fm.cut_off ? fm.now + 10 * fm.cfg.takeover : NEVER;
	if (fm.now >= own.ask && !own.called && is_joining()) {
		own.ask = fm.now + fm.cfg.takeover / 4;
	} else if (fm.now >= own.ask) {
		own.ask = NEVER;
		own.vain += own.vain < 5;
		asks = fm.cut_off && !fm.is_root;
	}
	expect(r, is == asks, "asks");
}

/* Lets time pass, mostly to just when something is due, or to just before. */
static void pass(struct rnd *r)
{
	uint64_t next = own.ask < own.look ? own.ask : own.look;

	if (next == NEVER || next <= fm.now || rnd_one_in(r, 4))
		fm.now += rnd_below(r, 2000) * MS;
	else
		fm.now = next - rnd_below(r, 2);
	if (own.unfit > fm.now && rnd_one_in(r, 4))
		fm.now = own.unfit - rnd_below(r, 2);
	/* The last message is as old as matters, or a little younger. */
	conn.received = fm.now - (rnd_one_in(r, 2) ? 5 * RESEND : 5 * RESEND - 1);
	if (fm.cut_off && rnd_one_in(r, 2))
		fm.cut_off = fm.now - 30 * SEC + rnd_below(r, 2);
}

static void change(struct rnd *r)
{
	static const unsigned int priorities[] = { 0, 1, 50, 99, 100, 101, 254, 255, 256, 256 };

	fm.cut_off = rnd_one_in(r, 4) ? 0 : fm.now - rnd_below(r, 2) * 29999 * MS;
	fm.root_asks = rnd_one_in(r, 3);
	fm.have_root = !rnd_one_in(r, 3);
	fm.is_root = rnd_one_in(r, 6);
	fm.led.guid = rnd_below(r, 3);
	fm.placed = !rnd_one_in(r, 4);
	fm.bootstrap = rnd_one_in(r, 4);
	fm.node = rnd_below(r, 10);
	fm.cfg.takeover = rnd_one_in(r, 10) ? 0 : TAKEOVER;
	fm.cfg.priority = priorities[rnd_below(r, sizeof(priorities) / sizeof(priorities[0]))];
	random_number = rnd64(r) >> 8;
	has_conn = !rnd_one_in(r, 3);
	conn.ready = !rnd_one_in(r, 3);
	conn.hello = rnd_one_in(r, 3);
	conn.received = fm.now - (rnd_one_in(r, 2) ? 0 : 5 * RESEND - rnd_below(r, 2));
}

static void happen(struct rnd *r)
{
	bool relieves = rnd_one_in(r, 2), was;

	switch (rnd_below(r, 8)) {
	case 0:
		fm_candidate_called(&fm, relieves);
		own.ask = fm.now;
		own.called = true;
		own.relieves = relieves;
		break;
	case 1:
		was = fm_candidate_take_call(&fm, &relieves);
		expect(r, was == own.called && relieves == (own.called && own.relieves), "call");
		own.called = false;
		break;
	case 2:
		fm_candidate_asked(&fm);
		own.named = true;
		break;
	case 3:
		fm_candidate_back(&fm);
		own.lost += own.lost < 6;
		break;
	case 4:
		fm_candidate_memory(&fm);
		own.ask = fm.now + 10 * RESEND;
		break;
	case 5:
		if (rnd_one_in(r, 4)) {
			fm_candidate_unfit(&fm);
			own.unfit = fm.now + 20 * MEMBER;
		}
		break;
	case 6:
		fm_candidate_fit(&fm);
		own.unfit = 0;
		break;
	default:
		pass(r);
		break;
	}
}

static void live(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	memset(&fm, 0, sizeof(fm));
	fm.cfg.resend = RESEND;
	fm.cfg.member_max = MEMBER;
	fm.now = 1000 * SEC;
	assert_true(fm_candidate_new(&fm));
	own = (struct account) { .ask = NEVER };
	change(&r);
	loses(&r);
	for (unsigned int k = 0; k < 300; k++) {
		unsigned int what = rnd_below(&r, 6);
		unsigned int stated;

		if (what == 0) {
			change(&r);
			loses(&r);
		} else if (what == 1) {
			change(&r);
		} else if (what < 4) {
			happen(&r);
		} else {
			pass(&r);
			looks(&r);
		}
		expect(&r, fm_candidate_expiry(&fm) == (own.ask < own.look ? own.ask : own.look),
		       "due at another time");
		expect(&r, fm_candidate_wait(&fm) == fm.cfg.takeover << own.vain, "waits");
		stated = !fm.cfg.takeover || fm.now < own.unfit ? 0 :
		       fm.bootstrap && fm.cfg.priority == 256 ? 255 : fm.cfg.priority;
		expect(&r, fm_candidate_stated(&fm) == stated, "says %u", stated);
	}
	fm_candidate_free(&fm);
}

static void random_nodes_ask_or_follow_as_model(void **state)
{
	(void)state;
	for_seeds(80, live);
}

/*
 * Each time that an asking node was lost, the next question to all neighbours comes twice as late,
 * up to 64 times.
 */
static void lost_asking_node_doubles_wait_of_others(void **state)
{
	(void)state;
	memset(&fm, 0, sizeof(fm));
	fm.cfg.takeover = TAKEOVER;
	fm.now = fm.cut_off = 1000 * SEC;
	fm.led.guid = 1;
	assert_true(fm_candidate_new(&fm));
	for (unsigned int k = 0; k < 9; k++) {
		fm_candidate_adrift(&fm);
		assert_int_equal(fm_candidate_expiry(&fm),
				 fm.now + (TAKEOVER / 2 << (k < 6 ? k : 6)));
		fm_candidate_back(&fm);
	}
	/* A node that was never unfit has no time from which on it is fit. */
	fm.cfg.priority = 7;
	fm.now = 0;
	fm_candidate_fit(&fm);
	assert_int_equal(fm_candidate_stated(&fm), 7);
	fm_candidate_free(&fm);
	memory_fails_at(1);
	assert_false(fm_candidate_new(&fm));
	assert_true(memory_failed());
}

/* A node without a configured priority is a candidate if it is one of the first eight. */
static void first_eight_nodes_are_candidates_by_default(void **state)
{
	(void)state;
	for (unsigned int stated = 0; stated < FM_PRIORITY_AUTO; stated++)
		assert_int_equal(fm_candidate_priority(stated, 3), stated);
	for (uint32_t node = 0; node < 12; node++)
		assert_int_equal(fm_candidate_priority(FM_PRIORITY_AUTO, node),
				 node < 8 ? 100 : 0);
	assert_int_equal(fm_candidate_priority(FM_PRIORITY_AUTO, TORUS_NO_NODE), 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_nodes_ask_or_follow_as_model),
		cmocka_unit_test(lost_asking_node_doubles_wait_of_others),
		cmocka_unit_test(first_eight_nodes_are_candidates_by_default),
	};

	return cmocka_run_group_tests_name("fm_asking", all, NULL, NULL);
}
