// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attempts with other roots, by themselves: Inits name random roots, which are reached, refuse, or
 * answer for another, while the node's own root changes. Which root is tried, when the next attempt
 * may begin, and whom the node follows is compared with a model.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/try.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/wire/init.h"

#define ROOTS	4		/* that a node remembers */
#define PORTS	3
#define HALF	(SEC / 2)

/** struct failed - a root that was not reached; @guid 0: none */
struct failed {
	uint64_t guid, until, wait, wrong;
	bool asked;
};

static struct fm fm;
static struct fm_conn conn;		/* of the attempt; its role is another one if there is none */
static bool leads_to, takes, takes_reached, yields, is_later, knows, outdoes;
static int connects;
static bool has_room;
static char did[1500], want[1500], reported[FM_TEXT_MAX];

static struct failed failed[ROOTS];
static struct fm_init tried;
static bool unsure;
static uint64_t behind[PORTS];

#define note(text, ...) snprintf((text) + strlen(text), sizeof(did) - strlen(text), __VA_ARGS__)

/* --- the rest of the manager --------------------------------------------------------------- */

static int connect_to(void *io, const char *addr)
{
	(void)io;
	note(did, "connect %s\n", addr);
	return connects;
}

static void close_conn(void *io, int id)
{
	(void)io;
	note(did, "close %d\n", id);
}

static bool would_yield(const struct fm *f, const struct fm_init *init)
{
	(void)f;
	(void)init;
	return yields;
}

static const struct fm_up up = { .would_yield = would_yield };

struct fm_conn *fm_conn_of_role(const struct fm *f, enum fm_conn_role role)
{
	(void)f;
	assert_int_equal(role, FM_CONN_TRY);
	return conn.role == FM_CONN_TRY ? &conn : NULL;
}

struct fm_conn *fm_conn_add(struct fm *f, int id, enum fm_conn_role role)
{
	(void)f;
	assert_int_equal(id, connects);
	if (!has_room)
		return NULL;
	conn = (struct fm_conn) { .id = id, .role = (uint8_t)role };
	return &conn;
}

void fm_conn_drop(struct fm *f, struct fm_conn *c)
{
	(void)f;
	note(did, "drop\n");
	c->role = FM_CONN_STRANGER;
}

void fm_conn_look(struct fm *f, const struct fm_conn *c)
{
	(void)f;
	assert_ptr_equal(c, &conn);
	note(did, "look\n");
}

#define NOTES(name, text)	\
void name(struct fm *f)		\
{				\
	(void)f;		\
	note(did, text "\n");	\
}

NOTES(fm_ports_ask, "ask")
NOTES(fm_follow_reached, "root reached")
NOTES(fm_follow_return, "back")
NOTES(fm_uplink_rejoin, "rejoin")
NOTES(fm_uplink_root_known, "join")

void fm_uplink_take(struct fm *f, struct fm_conn *c)
{
	(void)f;
	note(did, "take\n");
	c->role = FM_CONN_ROOT;
}

void fm_uplink_reached(struct fm *f, struct fm_conn *c)
{
	note(did, "hello%s\n", c->ready && c->received == f->now ? "" : " too early");
}

void fm_follow(struct fm *f, const struct fm_init *init)
{
	note(did, "follow %x\n", (unsigned int)init->root_guid);
	f->root_guid = init->root_guid;
}

bool fm_follow_takes(struct fm *f, const struct fm_init *init, bool reached)
{
	(void)f;
	(void)init;
	return reached ? takes_reached : takes;
}

bool fm_follow_later(uint64_t epoch, uint64_t guid, uint64_t than_epoch, uint64_t than_guid)
{
	assert_true(epoch && guid && than_epoch == tried.epoch && than_guid == tried.root_guid);
	return is_later;
}

bool fm_follow_knows(const struct fm *f, uint64_t guid)
{
	(void)f;
	assert_int_equal(guid, 0x50);
	return knows;
}

bool fm_follow_outdoes(const struct fm *f, const struct fm_init *init)
{
	(void)f;
	(void)init;
	return outdoes;
}

const char *fm_table_name(const struct fm *f, uint64_t guid, char *buf)
{
	(void)f;
	snprintf(buf, FM_WHO_MAX, "<%x>", (unsigned int)guid);
	return buf;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	va_list args;

	(void)f;
	va_start(args, fmt);
	vsnprintf(reported, sizeof(reported), fmt, args);
	va_end(args);
	note(did, "set %s %u\n", kind, (unsigned int)key);
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	note(did, "clear %s %u\n", kind, (unsigned int)key);
}

void fm_problem_limit(struct fm *f, const char *kind, uint64_t key, uint64_t until)
{
	note(did, "limit %s %u: %u ms\n", kind, (unsigned int)key,
	     (unsigned int)((until - f->now) / MS));
}

/* --- the model ---------------------------------------------------------------------------- */

static struct failed *find_failed(uint64_t guid)
{
	for (unsigned int i = 0; i < ROOTS; i++)
		if (failed[i].guid == guid)
			return &failed[i];
	return NULL;
}

/* The attempt has failed: the next one with that root waits, longer if others fail, too. */
static void fail_model(bool wrong)
{
	struct failed *f = find_failed(tried.root_guid), *first = &failed[0];
	bool others = false;

	for (unsigned int i = 0; i < ROOTS; i++)
		if (failed[i].until < first->until)
			first = &failed[i];
	if (!f) {
		f = first;
		*f = (struct failed) { .guid = tried.root_guid };
	}
	for (unsigned int i = 0; i < ROOTS; i++)
		others |= &failed[i] != f && failed[i].guid && fm.now < failed[i].until + 4 * SEC;
	f->until = fm.now + HALF;
	if (!tried.asks && (wrong || others)) {
		f->wait = f->wait ? 2 * f->wait : 2 * SEC;
		if (f->wait > 16 * SEC)
			f->wait = 16 * SEC;
		f->until = fm.now + f->wait;
	}
	f->asked = false;
	f->wrong = wrong ? tried.epoch : 0;
	note(want, "set root 3003\nlimit root 3003: %u ms\nask\n",
	     (unsigned int)((f->until - fm.now + 30 * SEC) / MS));
}

static bool is_attempt(void)
{
	return leads_to;
}

static bool gives_way_to(const struct fm_init *i)
{
	bool bad = i->asks || find_failed(i->root_guid);
	bool present_bad = tried.asks || find_failed(tried.root_guid);

	if (bad != present_bad)
		return present_bad;
	return i->asks != tried.asks ? tried.asks : is_later;
}

static bool wants_model(void)
{
	if (tried.root_guid == fm.root_guid && !tried.asks)
		return false;
	return fm.is_root ? yields : takes_reached;
}

static bool follows_awaited(void)
{
	return unsure && fm.root_guid == tried.root_guid;
}

/* --- events ------------------------------------------------------------------------------- */

static struct fm_init random_init(struct rnd *r)
{
	struct fm_init i = { .guid = 0x50, .root_guid = 0x60 + rnd_below(r, 7),
			     .epoch = rnd_one_in(r, 6) ? 1 : 10 + rnd_below(r, 3),
			     .asks = rnd_one_in(r, 4) };

	snprintf(i.root_address, sizeof(i.root_address), "a%x:1", (unsigned int)i.root_guid);
	return i;
}

static void init_names_root(struct rnd *r)
{
	struct fm_init i = random_init(r);
	const struct failed *f = find_failed(i.root_guid);

	connects = (int)rnd_below(r, 5) - 1;
	has_room = !rnd_one_in(r, 5);
	if ((f && fm.now < f->until) || (is_attempt() && !gives_way_to(&i))) {
		fm_try(&fm, &i);
		return;
	}
	if (is_attempt())
		note(want, "drop\n");
	note(want, "connect %s\n", i.root_address);
	unsure = false;
	leads_to = connects >= 0 && has_room;
	if (leads_to)
		note(want, "look\n");
	else if (connects >= 0)
		note(want, "close %d\n", connects);
	reported[0] = '\0';
	fm_try(&fm, &i);		/* compares the root with the former one */
	tried = i;
	if (!leads_to)
		fail_model(false);
	expect(r, leads_to ? conn.brief == i.asks : !!strstr(reported, "does not reach it at a"), "%s", reported);
}

static void root_is_reached(struct rnd *r)
{
	bool unasked = tried.asks || (!fm.is_root && takes);
	bool is = unasked ? wants_model() && takes_reached : wants_model();

	if (!is_attempt() || conn.ready)
		return;
	if (is && unasked) {
		note(want, "follow %x\nask\ntake\n", (unsigned int)tried.root_guid);
		leads_to = false;
	} else if (is) {
		note(want, "hello\nlook\n");
	} else {
		note(want, "drop\nask\n");
		leads_to = false;
	}
	if (is)
		unsure = unasked;
	expect(r, fm_try_reached(&fm, &conn) == (is && unasked), "%d", is);
}

static void root_answers(struct rnd *r)
{
	static const uint8_t types[] = { FM_MSG_REFUSE, FM_MSG_WELCOME, FM_MSG_CLAIM, FM_MSG_WELCOME,
					 FM_MSG_PING };
	struct fm_msg m = { .type = types[rnd_below(r, 5)] };
	uint64_t guid = rnd_one_in(r, 3) ? fm.root_guid : rnd_one_in(r, 6) ? 0x99 : tried.root_guid;
	bool leads = !rnd_one_in(r, 4), accepted = false, welcome = m.type == FM_MSG_WELCOME;

	if (!is_attempt() || !conn.ready || tried.asks)
		return;
	if (welcome) {
		m.welcome.root_guid = guid;
		m.welcome.adrift = !leads;
	} else {
		m.claim.guid = guid;
		m.claim.epoch = leads;
	}
	if (m.type == FM_MSG_PING) {
		expect(r, !fm_try_answer(&fm, &conn, &m), "%u", m.type);
		return;
	}
	leads_to = false;
	if (m.type == FM_MSG_REFUSE || guid != tried.root_guid || !leads) {
		note(want, "drop\n");
		fail_model(m.type == FM_MSG_REFUSE || guid != tried.root_guid);
		if (welcome && guid != tried.root_guid && guid == fm.root_guid && !fm.is_root)
			note(want, "rejoin\n");
	} else if (!wants_model() || !takes_reached) {
		note(want, "drop\nask\n");
	} else {
		note(want, "follow %x\nask\ntake\nroot reached\nclear root 3003\n",
		     (unsigned int)tried.root_guid);
		accepted = true;
	}
	reported[0] = '\0';
	expect(r, fm_try_answer(&fm, &conn, &m) == accepted, "%u", m.type);
	if (reported[0])
		expect(r, strstr(reported, m.type == FM_MSG_REFUSE ? "is refused at a" :
				 guid != tried.root_guid ? "another one answers at a" :
				 "does not lead any more at a"), "%s", reported);
}

static void own_root_answers(struct rnd *r)
{
	struct failed *f = find_failed(fm.root_guid);

	(void)r;
	if (follows_awaited())
		note(want, "clear root 3003\n");
	unsure = false;
	if (f)
		*f = (struct failed) { .guid = 0 };
	fm_try_answered(&fm);
}

static void own_root_is_wrong(struct rnd *r)
{
	bool is = follows_awaited(), refused = rnd_one_in(r, 2);

	if (is) {
		unsure = false;
		note(want, "back\n");
		fail_model(true);
	}
	expect(r, fm_try_mistaken(&fm, refused) == is, "%d", is);
	if (is)
		expect(r, strstr(reported, refused ? "is refused at a" : "another one answers at a"), "%s",
		       reported);
}

/* The node follows a root by an Init, perhaps the one that it tries. */
static void node_joins(struct rnd *r)
{
	fm.root_guid = rnd_one_in(r, 2) && is_attempt() ? tried.root_guid : 0x60 + rnd_below(r, 7);
	snprintf(fm.root_address, sizeof(fm.root_address), "a%x:%u", (unsigned int)fm.root_guid,
		 1 + (unsigned int)rnd_one_in(r, 4));
	if (rnd_one_in(r, 4))		/* another root had that address before */
		strcpy(fm.root_address, tried.root_address);
	if (!is_attempt() || fm.root_guid != tried.root_guid ||
	    strcmp(fm.root_address, tried.root_address)) {
		note(want, "join\n");
	} else {
		unsure = true;
		leads_to = false;
		note(want, "take\n%slook\n", conn.ready ? "root reached\n" : "");
	}
	fm_try_join(&fm);
}

static void neighbour_is_behind(struct rnd *r)
{
	unsigned int p = rnd_below(r, PORTS);
	struct fm_init i = random_init(r), *init = rnd_one_in(r, 6) ? NULL : &i;

	knows = !rnd_one_in(r, 6);
	outdoes = !rnd_one_in(r, 6);
	if (!init || !knows || !outdoes) {
		behind[p] = 0;
		note(want, "clear root %u\n", 4000 + p);
	} else {
		behind[p] = behind[p] ? behind[p] : fm.now;
		if (fm.now >= behind[p] + SEC)
			note(want, "set root %u\nlimit root %u: 46000 ms\n", 4000 + p, 4000 + p);
	}
	fm_try_check(&fm, p, init);
}

static void time_passes(struct rnd *r)
{
	static const uint64_t steps[] = { 1, HALF, HALF - 1, SEC, 2 * SEC, 9 * SEC };

	fm.now += steps[rnd_below(r, 6)];
	for (unsigned int i = 0; i < ROOTS; i++) {
		if (!failed[i].guid || failed[i].asked || fm.now < failed[i].until)
			continue;
		failed[i].asked = true;
		note(want, "ask\n");
	}
	fm_try_due(&fm);
}

static void world_changes(struct rnd *r)
{
	takes_reached = !rnd_one_in(r, 4);
	takes = rnd_one_in(r, 3);
	yields = !rnd_one_in(r, 3);
	is_later = rnd_one_in(r, 2);
	fm.is_root = rnd_one_in(r, 3);
	fm.cut_off = rnd_below(r, 2);
	if (rnd_one_in(r, 3))
		fm.root_guid = 0x60 + rnd_below(r, 7);
}

/* --- tests -------------------------------------------------------------------------------- */

static void compare(struct rnd *r)
{
	struct fm_init i = random_init(r);
	const struct failed *f = find_failed(i.root_guid);
	uint64_t at = NEVER;

	expect(r, !strcmp(did, want), "did\n%snot\n%s", did, want);
	expect(r, (conn.role == FM_CONN_TRY) == is_attempt(), "%d", is_attempt());
	expect(r, fm_try_avoids(&fm, &i) == (f && !i.asks && i.epoch <= f->wrong && fm.now < f->until),
	       "root %x", (unsigned int)i.root_guid);
	for (unsigned int k = 0; k < ROOTS; k++)
		if (failed[k].guid && !failed[k].asked)
			at = earlier(at, failed[k].until);
	expect(r, fm_try_expiry(&fm) == at, "%x", (unsigned int)i.root_guid);
}

typedef void event_fn(struct rnd *r);

static void history(uint64_t seed)
{
	static event_fn *const events[] = {
		init_names_root, init_names_root, init_names_root, root_is_reached, root_is_reached,
		root_answers, root_answers, own_root_answers, own_root_is_wrong, node_joins,
		neighbour_is_behind, neighbour_is_behind, time_passes, time_passes, world_changes,
	};
	struct rnd r = rnd_new(seed);

	memset(failed, 0, sizeof(failed));
	memset(behind, 0, sizeof(behind));
	tried = (struct fm_init) { .guid = 0 };
	conn = (struct fm_conn) { .role = FM_CONN_STRANGER };
	leads_to = unsure = false;
	fm = (struct fm) { .now = rnd_one_in(&r, 2) ? SEC : 100 * SEC, .up = &up,
			   .ops = { .connect = connect_to, .close = close_conn } };
	world_changes(&r);
	assert_true(fm_try_new(&fm));
	for (unsigned int k = 0; k < 200; k++) {
		did[0] = want[0] = '\0';
		events[rnd_below(&r, sizeof(events) / sizeof(*events))](&r);
		compare(&r);
	}
	fm_try_free(&fm);
	assert_int_equal(memory_blocks(), 0);
}

static void random_attempts_equal_model(void **state)
{
	(void)state;
	for_seeds(400, history);
}

/* Without memory for the Init, the root is tried with the next one. */
static void attempt_without_memory_begins_with_next_init(void **state)
{
	struct rnd r = rnd_new(1);
	struct fm_init i = random_init(&r);

	(void)state;
	fm = (struct fm) { .now = SEC, .up = &up, .ops = { .connect = connect_to } };
	memory_fails_at(1);
	assert_false(fm_try_new(&fm));
	assert_true(memory_failed());
	fm_try_free(&fm);
	assert_true(fm_try_new(&fm));
	conn.role = FM_CONN_STRANGER;
	connects = 5;
	has_room = true;
	did[0] = '\0';
	memory_fails_at(1);
	fm_try(&fm, &i);
	assert_true(memory_failed() && !did[0]);
	fm_try(&fm, &i);
	assert_non_null(strstr(did, "connect"));
	fm_try_free(&fm);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_attempts_equal_model),
		cmocka_unit_test(attempt_without_memory_begins_with_next_init),
	};

	return cmocka_run_group_tests_name("fm_attempts", all, NULL, NULL);
}
