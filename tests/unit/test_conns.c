// SPDX-License-Identifier: GPL-2.0-only
/* Finding connections by number and by child: random lives of many, against a plain list. */
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
#include "tests/unit/random.h"

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

static void check(struct fm *fm, int last_id)
{
	assert_int_equal(fm_conns_count(fm), n);
	for (unsigned int i = 0; i < n; i++)
		check_one(fm, &list[i]);
	for (int id = last_id > 2 * MOST ? last_id - 2 * MOST : 0; id <= last_id + 1; id++) {
		bool there = false;

		for (unsigned int i = 0; i < n; i++)
			there |= list[i].id == id;
		assert_int_equal(!!fm_conn_find(fm, id), there);
	}
}

static void add(struct fm *fm, int id)
{
	struct fm_conn *c = fm_conn_add(fm, id, FM_CONN_STRANGER);

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

	fm_conn_forget(fm, k->c);
	*k = list[--n];
}

static void random_connections_equal_list_of_model(void **state)
{
	uint64_t seed = random_seed(1), random = seed;

	(void)state;
	for (unsigned int round = 0; round < 20; round++) {
		struct fm *fm = calloc(1, sizeof(*fm));
		int id = 0;

		assert_non_null(fm);
		assert_true(fm_conns_new(fm));
		assert_null(fm_conn_find(fm, 1));
		n = 0;
		for (unsigned int i = 0; i < 600; i++) {
			uint32_t what = random_below(&random, 10);

			/* Numbers need not be consecutive. */
			if (n < MOST && (!n || what < 4))
				add(fm, id += 1 + (int)random_below(&random, 3));
			else if (what < 7)
				adopt(fm, &random);
			else
				forget(fm, &random);
			check(fm, id);
		}
		fm_conns_free(fm);
		free(fm);
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
		assert_true(c->heard == fm->now && c->asked == fm->now);
		assert_int_equal(c->guid, 0);
	}
	fm_conns_free(fm);
	free(fm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_connections_equal_list_of_model),
		cmocka_unit_test(new_connection_counts_as_alive_just_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
