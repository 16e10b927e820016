// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections: random lives of many, which are found by number, by child and by role as in a plain
 * list; and when each needs attention, computed from a plain table of times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/random.h"
#include "tests/unit/memory.h"
#include "tests/unit/random.h"
#include "tests/unit/seeds.h"

#define MOST 60
#define CHILDREN 7	/* GUIDs: few, so that many connections are of one child */

/** struct known - what the list knows of a connection */
struct known {
	struct fm_conn *c;
	int id;
	uint64_t guid;		/* GUID of the child; 0: the connection is of none */
};

static struct known list[MOST];
static unsigned int n;
static int closed, sent_by;
static const struct fm_msg *sent;

static void note_close(void *io, int id)
{
	(void)io;
	closed = id;
}

static void note_send(void *io, int id, const struct fm_msg *msg)
{
	(void)io;
	sent_by = id;
	sent = msg;
}

/* A bad hash, so that many connections share a slot. */
uint64_t fm_mix(uint64_t v)
{
	return v / 5;
}

static void check_one(struct fm *fm, const struct known *k)
{
	const struct fm_conn *other = k->guid ? fm_conn_of_child(fm, k->guid, k->c) : NULL;
	bool has_other = false, is_other = !other;

	assert_ptr_equal(fm_conn_find(fm, k->id), k->c);
	assert_int_equal(k->c->id, k->id);
	assert_true(k->c->at < n && fm_conn_no(fm, k->c->at) == k->c);
	for (unsigned int i = 0; k->guid && i < n; i++) {
		if (list[i].c == k->c || list[i].guid != k->guid)
			continue;
		has_other = true;
		is_other |= list[i].c == other;
	}
	assert_true(is_other && has_other == !!other);
}

static void check_role(const struct fm *fm, enum fm_conn_role role)
{
	const struct fm_conn *c = fm_conn_of_role(fm, role);
	bool there = false;

	for (unsigned int i = 0; i < n; i++)
		there |= list[i].c->role == role;
	assert_int_equal(!!c, there);
	assert_true(!c || c->role == role);
}

static void check(struct fm *fm, int last_id)
{
	assert_int_equal(fm_conns_count(fm), n);
	assert_null(fm_conn_no(fm, n));
	for (unsigned int role = 0; role <= FM_CONN_TRY; role++)
		check_role(fm, (enum fm_conn_role)role);
	for (unsigned int i = 0; i < n; i++)
		check_one(fm, &list[i]);
	for (int id = last_id > 2 * MOST ? last_id - 2 * MOST : 0; id <= last_id + 1; id++) {
		bool there = false;

		for (unsigned int i = 0; i < n; i++)
			there |= list[i].id == id;
		assert_int_equal(!!fm_conn_find(fm, id), there);
	}
}

/* If there is no memory for it, the connection is not added, and nothing is left of it. */
static void add(struct fm *fm, uint64_t *random, int id)
{
	static const enum fm_conn_role roles[] = { FM_CONN_STRANGER, FM_CONN_STRANGER, FM_CONN_ROOT,
						   FM_CONN_PARENT, FM_CONN_TRY };
	enum fm_conn_role role = roles[random_below(random, 5)];
	size_t blocks = memory_blocks();
	struct fm_conn *c;

	memory_fails_at(random_below(random, 5));
	c = fm_conn_add(fm, id, role);
	if (memory_failed()) {
		assert_null(c);
		assert_in_range(memory_blocks(), blocks, blocks + 3);	/* more room may remain */
		c = fm_conn_add(fm, id, role);
	}

	assert_non_null(c);
	assert_int_equal(c->node, TORUS_NO_NODE);
	list[n++] = (struct known) { .c = c, .id = id };
}

/* A stranger becomes a child, or a child becomes another one. */
static void adopt(struct fm *fm, uint64_t *random)
{
	struct known *k = &list[random_below(random, n)];

	k->guid = 1 + random_below(random, CHILDREN);
	fm_conn_child(fm, k->c, k->guid);
	assert_int_equal(k->c->role, FM_CONN_CHILD);
	assert_true(k->c->guid == k->guid);
}

static void forget(struct fm *fm, uint64_t *random)
{
	struct known *k = &list[random_below(random, n)];

	if (random_below(random, 2)) {
		fm_conn_drop(fm, k->c);
		assert_int_equal(closed, k->id);
	} else {
		fm_conn_forget(fm, k->c);
	}
	*k = list[--n];
}

/* A connection that this node has opened becomes the one to the root. */
static void lead(struct fm *fm, uint64_t *random)
{
	struct known *k = &list[random_below(random, n)];

	if (k->guid)
		return;
	fm_conn_lead(fm, k->c);
	assert_int_equal(k->c->role, FM_CONN_ROOT);
}

static void random_connections_equal_list_of_model(void **state)
{
	uint64_t seed = random_seed(1), random = seed;

	(void)state;
	for (unsigned int round = 0; round < 12; round++) {
		struct fm *fm = calloc(1, sizeof(*fm));
		int id = 0;

		assert_non_null(fm);
		memory_fails_at(1);
		assert_false(fm_conns_new(fm));
		assert_true(memory_failed());
		fm_conns_free(fm);
		assert_true(fm_conns_new(fm));
		assert_true(fm_conns_expiry(fm) == NEVER);
		fm->ops.close = note_close;
		assert_null(fm_conn_find(fm, 1));
		n = 0;
		for (unsigned int i = 0; i < 600; i++) {
			uint32_t what = random_below(&random, 11);

			/* Numbers need not be consecutive. */
			if (n < MOST && (!n || what < 4))
				add(fm, &random, id += 1 + (int)random_below(&random, 3));
			else if (what < 7)
				adopt(fm, &random);
			else if (what < 8)
				lead(fm, &random);
			else
				forget(fm, &random);
			check(fm, id);
		}
		fm_conns_free(fm);
		free(fm);
		assert_int_equal(memory_blocks(), 0);
	}
}

/*
 * Checks that a new connection has the role that it was added with, and counts as heard and asked
 * just now.
 */
static void new_connection_counts_as_alive_just_now(void **state)
{
	struct fm *fm = calloc(1, sizeof(*fm));

	(void)state;
	assert_non_null(fm);
	assert_true(fm_conns_new(fm));
	for (unsigned int role = FM_CONN_STRANGER; role <= FM_CONN_PARENT; role++) {
		struct fm_conn *c;

		if (role == FM_CONN_CHILD)
			continue;
		fm->now = 1000 + role;
		c = fm_conn_add(fm, (int)role + 1, (enum fm_conn_role)role);
		assert_non_null(c);
		assert_int_equal(c->role, role);
		assert_true(c->received == fm->now && c->asked == fm->now);
		assert_int_equal(c->guid, 0);
	}
	fm_conns_free(fm);
	free(fm);
}

static void message_is_sent_by_number_of_connection(void **state)
{
	struct fm fm = { .ops = { .send = note_send } };
	struct fm_conn c = { .id = 17 };
	static struct fm_msg msg;

	(void)state;
	fm_conn_send(&fm, &c, &msg);
	assert_int_equal(sent_by, 17);
	assert_ptr_equal(sent, &msg);
	for (unsigned int role = 0; role <= FM_CONN_TRY; role++) {
		c.role = (uint8_t)role;
		assert_int_equal(fm_conn_upward(&c), role == FM_CONN_ROOT || role == FM_CONN_PARENT);
	}
}

/* --- times -------------------------------------------------------------------------------- */

#define RESEND	(100 * MS)
#define ALIVE	(1000 * MS)	/* keep-alive interval */

static struct fm_conn *random_conn(struct rnd *r, struct fm *fm)
{
	struct fm_conn *c;

	*fm = (struct fm) { .now = 100 * SEC, .guid = rnd_below(r, 9),
			    .lag = rnd_one_in(r, 3) ? 30 * MS : 0, .root_asks = rnd_one_in(r, 2),
			    .root_lost = rnd_one_in(r, 3),
			    .cfg = { .resend = RESEND, .keepalive = ALIVE,
				     .takeover = rnd_below(r, 2) } };
	assert_true(fm_conns_new(fm));
	c = fm_conn_add(fm, 1, FM_CONN_STRANGER);
	assert_non_null(c);
	c->role = (uint8_t)(rnd_one_in(r, 2) ? FM_CONN_ROOT : rnd_below(r, FM_CONN_TRY + 1));
	c->ready = !rnd_one_in(r, 3);
	c->confirmed = rnd_one_in(r, 2);
	c->answered = rnd_one_in(r, 2);
	c->awaited = rnd_one_in(r, 3);
	c->brief = rnd_one_in(r, 2);
	c->received = fm->now - rnd_below(r, 4) * RESEND;
	c->asked = fm->now - rnd_below(r, 4) * RESEND;
	c->urgent = rnd_one_in(r, 3) ? fm->now - rnd_below(r, 4) * RESEND : 0;
	c->greeted = rnd_one_in(r, 2) ? fm->now - rnd_below(r, 9) * RESEND : 0;
	c->pace = rnd_one_in(r, 3) ? 3 * RESEND : 0;
	c->again = fm->now + rnd_below(r, 20) * RESEND / 2;
	return c;
}

/* The earliest of the times at which the connection counts as lost. */
static uint64_t naive_loss(const struct fm *fm, const struct fm_conn *c)
{
	bool root = c->role == FM_CONN_ROOT, watched = c->confirmed && fm->cfg.takeover;
	uint64_t lag = 4 * fm->lag, at = c->received + (watched ? ALIVE + ALIVE / 2 : 4 * ALIVE);

	if (c->role == FM_CONN_CALL)
		return c->received + 5 * RESEND + lag;
	if (c->role == FM_CONN_TRY)
		return c->received + (c->brief ? 5 : 20) * RESEND + lag;
	if (root && fm->root_asks && (!c->ready || c->greeted) && (fm->root_lost || !c->answered))
		return later(c->received, c->greeted) + 5 * RESEND + 2 * c->pace + lag;
	if (root && fm->root_asks && c->ready && !c->confirmed && c->greeted)
		at = earlier(at, c->greeted + 10 * RESEND + 2 * c->pace);
	if (root && fm->root_asks && watched)
		at = earlier(at, c->received + 10 * RESEND);
	if (c->urgent)
		at = earlier(at, c->urgent + 2 * RESEND);
	return at + lag;
}

/* When the connection needs attention: it is lost, has to report, or HELLO or a ping is due. */
static uint64_t naive_attention(const struct fm *fm, const struct fm_conn *c)
{
	bool watched = c->confirmed && fm->cfg.takeover;
	uint64_t at = naive_loss(fm, c), quiet = later(c->received, c->asked);
	uint64_t ping = !watched ? ALIVE : c->role == FM_CONN_ROOT ? ALIVE / 4 : 3 * ALIVE / 4;

	if (c->awaited)
		at = earlier(at, quiet + 20 * RESEND + 4 * fm->lag);
	if (c->ready)
		at = earlier(at, c->confirmed ? quiet + ping : c->again + fm->lag);
	return at;
}

static void one_attention(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm fm;
	struct fm_conn *c = random_conn(&r, &fm), *other = fm_conn_add(&fm, 2, FM_CONN_STRANGER);
	uint64_t at = naive_attention(&fm, c), was = fm_conns_expiry(&fm);

	expect(&r, was == fm.now + 4 * (ALIVE + fm.lag), "%d", other->id);	/* of @other */
	expect(&r, fm_conn_lost_at(&fm, c) == naive_loss(&fm, c), "role %u", c->role);
	expect(&r, fm_conn_expiry(&fm, c) == at, "role %u", c->role);
	fm_conn_look(&fm, NULL);
	fm_conn_look(&fm, c);
	expect(&r, fm_conns_expiry(&fm) == earlier(was, at), "role %u", c->role);
	/* All are looked at anew, but not within the time that one waits for further ends. */
	other->received -= rnd_below(&r, 4) * ALIVE;
	was = naive_attention(&fm, other);
	fm_conns_look(&fm);
	expect(&r, fm_conns_expiry(&fm) == later(earlier(was, at), fm.now + RESEND / 4), "role %u",
	       c->role);
	c->received = c->asked = other->received = other->asked = fm.now + 100 * SEC;
	c->greeted = c->urgent = c->again = c->received;
	fm_conns_look(&fm);
	expect(&r, fm_conns_expiry(&fm) >= fm.now + 100 * SEC, "role %u", c->role);
	fm_conns_await(&fm);
	expect(&r, fm_conns_expiry(&fm) == fm.now + 20 * RESEND, "role %u", c->role);
	fm.now += SEC;
	fm_conns_await(&fm);
	expect(&r, fm_conns_expiry(&fm) == fm.now - SEC + 20 * RESEND, "role %u", c->role);
	fm_conns_free(&fm);
}

static void connection_needs_attention_at_earliest_of_its_times(void **state)
{
	(void)state;
	for_seeds(2000, one_attention);
}

/* The time until the next HELLO doubles up to 8 resends; the peer may ask for a longer one. */
static void one_greeting(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm fm;
	struct fm_conn *c = random_conn(&r, &fm);
	uint64_t after, ms = rnd_below(&r, 15) * 100;
	unsigned int hellos = c->hellos = (uint8_t)rnd_below(&r, 5);
	bool greets = rnd_one_in(&r, 2);

	if (greets) {
		fm.now += rnd_below(&r, 9);
		fm_conn_greet(&fm, c);
		hellos = hellos < 4 ? hellos + 1 : 4;
		expect(&r, c->asked == fm.now, "%u HELLOs", hellos);
	} else {
		fm_conn_pace(&fm, c, (uint32_t)ms);
		expect(&r, c->pace == (ms <= 100 ? 0 : earlier(ms * MS, ALIVE)), "%u ms",
		       (unsigned int)ms);
	}
	after = later(RESEND << (hellos ? hellos - 1 : 0), c->pace);
	if (after > RESEND)
		after += fm_mix(fm.guid ^ c->asked) % (after / 4);
	expect(&r, c->again == c->asked + after && c->hellos == hellos, "%u HELLOs", hellos);
	fm_conn_hurry(&fm, c);
	expect(&r, c->again == c->asked + RESEND, "%u HELLOs", hellos);
	expect(&r, fm_conns_expiry(&fm) <= naive_attention(&fm, c), "%u HELLOs", hellos);
	fm_conns_free(&fm);
}

static void hello_is_due_after_doubled_time_or_pace(void **state)
{
	(void)state;
	for_seeds(1000, one_greeting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_connections_equal_list_of_model),
		cmocka_unit_test(new_connection_counts_as_alive_just_now),
		cmocka_unit_test(message_is_sent_by_number_of_connection),
		cmocka_unit_test(connection_needs_attention_at_earliest_of_its_times),
		cmocka_unit_test(hello_is_due_after_doubled_time_or_pace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
