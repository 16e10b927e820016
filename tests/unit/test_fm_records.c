// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root's list of nodes, beside a plain list that the test keeps: random lives of a few nodes
 * that hang below each other, go missing, take names, get places and are forgotten.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/seeds.h"	/* before the variable s */
#include "stage_root.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

#define NODES 40
#define NAMES 5
#define WAIT (50 * s.cfg.resend)	/* time for a node that was told to obey */

/**
 * struct shadow - a node
 * @there: the root has a number for it
 * @below: it hangs below @via: the root knew that one when it learned of it
 */
struct shadow {
	bool there, below, listed;
	uint64_t via, parent, missing;
	uint32_t number, node;
	unsigned int name;
};

static struct shadow shadow[NODES];	/* by GUID minus NIC; 0 is the root */
static uint64_t judge_at, ranks_at;
static bool unknown_above;	/* some node was ever below one that the root did not know */

static struct fm_root *r(void)
{
	return s.fm->root;
}

static struct fm_record *record(uint32_t i)
{
	return fm_record(r(), NIC + i);
}

static bool is_there(uint64_t guid)
{
	return guid >= NIC && guid < NIC + NODES && shadow[guid - NIC].there;
}

static bool has_below(uint32_t i)
{
	for (uint32_t k = 0; k < NODES; k++)
		if (shadow[k].there && shadow[k].below && shadow[k].via == NIC + i)
			return true;
	return false;
}

static const char *name_of(unsigned int k)
{
	static const char *const name[NAMES] = { "", "a", "b", "c", "d" };

	return name[k];
}

static void begin(void)
{
	root("4x1");
	memset(shadow, 0, sizeof(shadow));
	shadow[0] = (struct shadow) { .there = true, .below = true, .via = NIC, .parent = NIC,
				      .node = record(0)->node };
	judge_at = r()->judge_at = NEVER;
	ranks_at = r()->ranks_at = NEVER;
	unknown_above = false;
}

/* --- each operation, and the same in the plain list -------------------------------------- */

static void add(uint32_t i)
{
	struct fm_record *m = fm_record_add(r(), NIC + i);

	assert_non_null(m);
	assert_int_equal(m->state, FM_NODE_UP);
	shadow[i] = (struct shadow) { .there = true, .node = TORUS_NO_NODE,
				      .number = fm_record_number(r(), m) };
}

static void hang(uint32_t i, uint64_t via)
{
	struct shadow *o = &shadow[i];

	fm_record_via(r(), record(i), via);
	if (o->via == via && o->below)
		return;
	o->via = via;
	o->below = via && is_there(via);
	if (via)
		o->parent = via;
	unknown_above |= via && !o->below;
}

static void miss(uint32_t i)
{
	struct shadow *o = &shadow[i];

	o->via = 0;
	o->below = false;
	o->missing = s.fm->now;
	o->listed |= i != 0;
	judge_at = earlier(judge_at, s.fm->now + MS / 2);
}

/* Marks all nodes below @top as missing, but not @top itself, even if it hangs below itself. */
static void miss_below(uint32_t top)
{
	bool more = true, is[NODES] = { false };

	is[top] = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < NODES; i++) {
			const struct shadow *o = &shadow[i];

			if (!is[i] && o->there && o->below && is[o->via - NIC])
				is[i] = more = true;
		}
	}
	if (shadow[top].below && is[shadow[top].via - NIC])
		shadow[top].below = false;
	for (uint32_t i = 0; i < NODES; i++)
		if (is[i] && i != top)
			miss(i);
}

static void forget_below(uint64_t guid)
{
	fm_roster_forget_below(s.fm, guid);
	if (is_there(guid))
		miss_below((uint32_t)(guid - NIC));
	/* In order of numbers, as the root does: a node may be below another one of them. */
	for (uint32_t n = 1; unknown_above && n < fm_roster_size(r()); n++)
		for (uint32_t i = 1; i < NODES; i++)
			if (shadow[i].there && shadow[i].number == n && shadow[i].via == guid) {
				miss_below(i);
				miss(i);
			}
}

/*
 * @version: of the present table; if there is one, the packets that the node brought are in the
 * fabric when the node has a place
 */
static void move(uint32_t i, uint32_t node, uint64_t version)
{
	bool bare = shadow[i].node != node, places = node != TORUS_NO_NODE;
	struct fm_record *m = record(i);

	r()->bare = m->bare = false;
	r()->brought = 1;
	m->brought = 6;
	m->waits_since = 9;
	s.fm->table.version = version;
	fm_record_move(s.fm, m, node);
	assert_true(r()->bare == bare && m->bare == bare);
	assert_int_equal(m->waits_since, places ? 0 : 9);
	assert_int_equal(m->brought, places && version ? 0 : 6);
	assert_int_equal(r()->brought, places && version ? 7 : 1);
	shadow[i].node = node;
	ranks_at = earlier(ranks_at, s.fm->now + s.cfg.resend);
}

static void forget(struct rnd *rnd)
{
	for (uint32_t i = 1; i < NODES; i++)
		if (shadow[i].there && rnd_one_in(rnd, 2))
			record(i)->state = FM_NODE_DEAD;
	fm_roster_forget(s.fm);
	for (uint32_t i = 1; i < NODES; i++) {
		const struct shadow *o = &shadow[i];

		if (!o->there)
			continue;
		expect(rnd, !record(i) == (!o->via && !o->listed && !has_below(i) &&
					   o->node == TORUS_NO_NODE &&
					   (!record(i) || record(i)->state == FM_NODE_DEAD)),
		       "node %u", i);
	}
	for (uint32_t i = 1; i < NODES; i++)
		if (shadow[i].there && !record(i))
			shadow[i].there = false;
}

/* The missing nodes have been judged. */
static void judged(void)
{
	for (uint32_t i = 0; i < NODES; i++) {
		shadow[i].listed = false;
		if (shadow[i].there)
			record(i)->listed = false;
	}
	r()->nmissing = 0;
}

/* --- the comparison ---------------------------------------------------------------------- */

static void check_node(struct rnd *rnd, uint32_t i)
{
	const struct shadow *o = &shadow[i];
	const struct fm_record *m = record(i);
	unsigned int listed = 0;

	expect(rnd, !m == !o->there, "node %u", i);
	if (!m)
		return;
	expect(rnd, m->guid == NIC + i && fm_record_number(r(), m) == o->number &&
		    fm_record_no(r(), o->number) == m, "node %u has number %u", i, o->number);
	expect(rnd, m->via == o->via && m->parent == o->parent && m->node == o->node &&
		    m->listed == o->listed, "node %u", i);
	expect(rnd, !m->above == !o->below, "node %u", i);
	if (o->below)
		expect(rnd, fm_record_no(r(), m->above - 1)->guid == o->via, "node %u", i);
	expect(rnd, !m->first == !has_below(i), "node %u", i);
	expect(rnd, m->via || m->missing == o->missing, "node %u", i);
	expect(rnd, fm_record_joined(m) == (i == 0 || o->name), "node %u", i);
	for (uint32_t k = 0; k < r()->nmissing; k++)
		listed += r()->missing[k] == o->number;
	expect(rnd, listed == o->listed, "node %u is listed %u times", i, listed);
}

static void check_names(struct rnd *rnd)
{
	for (unsigned int k = 1; k < NAMES; k++)
		for (uint32_t but = 0; but < NODES; but++) {
			const struct fm_record *m = fm_record_namesake(r(), name_of(k), NIC + but);
			bool some = false;

			for (uint32_t i = 0; i < NODES; i++)
				some |= i != but && shadow[i].there && shadow[i].via &&
					shadow[i].name == k;
			expect(rnd, !m == !some, "name %s but for %u", name_of(k), but);
			if (m)
				expect(rnd, m->guid != NIC + but && m->via &&
					    !strcmp(m->name, name_of(k)), "name %s", m->name);
		}
}

static void check(struct rnd *rnd)
{
	uint32_t known = 0, unplaced = 0, missing = 0;

	/* Room for a search through the nodes; there is a fence behind it. */
	memset(fm_roster_scratch(r()), 0xff, fm_roster_size(r()) * sizeof(uint32_t));
	for (uint32_t i = 0; i < NODES; i++) {
		check_node(rnd, i);
		known += shadow[i].there;
		unplaced += shadow[i].there && shadow[i].node == TORUS_NO_NODE;
		missing += shadow[i].there && shadow[i].listed;
	}
	check_names(rnd);
	expect(rnd, fm_roster_known(r()) == known, "%u nodes", known);
	expect(rnd, r()->unplaced == unplaced, "%u have no place", unplaced);
	expect(rnd, r()->nmissing == missing, "%u are missing", missing);
	expect(rnd, r()->judge_at == judge_at && r()->ranks_at == ranks_at, "times");
}

static void live(uint64_t seed)
{
	struct rnd rnd = rnd_new(seed);
	uint32_t most = 1;

	begin();
	for (unsigned int k = 0; k < 400; k++) {
		uint32_t i = 1 + rnd_below(&rnd, NODES - 1);
		uint64_t other = NIC + rnd_below(&rnd, NODES + 2);
		unsigned int what = rnd_below(&rnd, 16), name = rnd_below(&rnd, NAMES);

		s.fm->now += MS / 8;
		if (!shadow[i].there) {
			add(i);
		} else if (k == 200) {	/* the root is never among those to be judged */
			fm_record_missing(s.fm, record(0));
			miss(0);
		} else if (what < 7) {
			if (rnd_one_in(&rnd, 3))	/* its parent may be known by now */
				other = shadow[i].via;
			hang(i, rnd_one_in(&rnd, 5) || other == NIC + i ? 0 : other);
		} else if (what < 9) {
			record(i)->moving = record(i)->lost = true;
			fm_record_missing(s.fm, record(i));
			miss(i);
			assert_true(!record(i)->moving && !record(i)->lost);
		} else if (what < 11) {
			forget_below(other == NIC ? NIC + i : other);
		} else if (what < 12) {
			move(i, rnd_one_in(&rnd, 2) ? TORUS_NO_NODE : i,
			     rnd_one_in(&rnd, 2) ? 0 : 3);
		} else if (what < 14) {
			fm_record_name(r(), record(i), name_of(name));
			shadow[i].name = name;
		} else if (what < 15) {
			forget(&rnd);
		} else {
			judged();
		}
		check(&rnd);
		if (fm_roster_known(r()) > most)
			most = fm_roster_known(r());
		/* A number that is free again is the next to be given. */
		expect(&rnd, fm_roster_size(r()) == most, "%u numbers", fm_roster_size(r()));
	}
	stage_end(&s);
}

static void random_nodes_equal_naive_roster(void **state)
{
	(void)state;
	for_seeds(40, live);
}

/* A node is known before the one that holds its connection. */
static void forgetting_below_node_forgets_its_descendants(void **state)
{
	(void)state;
	begin();
	add(1);
	add(2);
	fm_record_via(r(), record(2), NIC + 1);
	fm_record_via(r(), record(1), NIC + 7);
	fm_roster_forget_below(s.fm, NIC + 8);
	assert_int_equal(record(1)->via, NIC + 7);
	fm_roster_forget_below(s.fm, NIC + 7);
	assert_int_equal(record(1)->via, 0);
	assert_int_equal(record(2)->via, 0);
	r()->nmissing = 0;
	stage_end(&s);
}

/* An end of a cable is named by its place and direction, if it has both. */
static void end_of_cable_is_named_by_place_or_port(void **state)
{
	char text[100];

	(void)state;
	begin();
	join(1);
	fm_record_move(s.fm, record(1), 2);
	for (unsigned int p = 0; p < 5; p++) {
		static const char *const placed[] = { "2,0:+x ('n1')", "2,0:+y ('n1')",
						      "2,0:-x ('n1')", "2,0:-y ('n1')",
						      "port 4 of 'n1'" };

		s.fm->table.shape = s.shape;
		s.fm->table.nodes = torus_nodes(&s.shape);
		assert_ptr_equal(fm_end_text(s.fm, record(1), p, text, sizeof(text)), text);
		assert_string_equal(text, placed[p]);
	}
	s.fm->ndims = s.fm->table.shape.ndims = 3;
	s.fm->table.shape.size[2] = 1;
	fm_end_text(s.fm, record(1), 5, text, sizeof(text));
	assert_string_equal(text, "2,0,0:-z ('n1')");
	s.fm->ndims = 2;
	s.fm->table.shape = s.shape;
	/* A root that restarts with a small table meets a node with a place in a larger one. */
	s.fm->table.nodes = 2;
	fm_end_text(s.fm, record(1), 1, text, sizeof(text));
	assert_string_equal(text, "port +y of 'n1'");
	s.fm->table.nodes = 0;
	fm_record_move(s.fm, record(1), TORUS_NO_NODE);
	fm_end_text(s.fm, record(1), 1, text, sizeof(text));
	assert_string_equal(text, "port +y of 'n1'");
	stage_end(&s);
}

static void node_at_place_is_found_after_places_are_known(void **state)
{
	uint32_t *at, nodes, none[4] = { 0, 2, 0, 0 };

	(void)state;
	begin();
	add(1);
	at = r()->at;
	nodes = r()->changes.nodes;
	r()->changes.nodes = 3;
	r()->at = NULL;
	assert_null(fm_record_at(r(), 1));
	r()->at = none;
	assert_ptr_equal(fm_record_at(r(), 1), record(1));
	assert_null(fm_record_at(r(), 2));
	r()->at = at;
	r()->changes.nodes = nodes;
	stage_end(&s);
}

/* --- which nodes are forgotten ----------------------------------------------------------- */

static void has_place(struct fm_record *m)
{
	fm_record_move(s.fm, m, 1);
}

static void is_up(struct fm_record *m)
{
	m->state = FM_NODE_UP;
}

static void is_silent(struct fm_record *m)
{
	m->state = FM_NODE_SILENT;
}

static void is_connected(struct fm_record *m)
{
	fm_record_via(r(), m, NIC);
}

static void holds_another(struct fm_record *m)
{
	struct fm_record *o = fm_record_add(r(), NIC + 9);

	fm_record_via(r(), o, m->guid);
}

static void is_judged(struct fm_record *m)
{
	fm_record_missing(s.fm, m);
}

static void is_probed(struct fm_record *m)
{
	m->doubted = 1;
}

static void comes(struct fm_record *m)
{
	m->stated.claimed = s.fm->term;
	m->stated.received = s.fm->now - WAIT + 1;
}

static void comes_late(struct fm_record *m)
{
	m->stated.claimed = s.fm->term;
	m->stated.received = s.fm->now - WAIT;
}

static void came_to_another(struct fm_record *m)
{
	comes(m);
	m->stated.claimed = s.fm->term - 1;
}

static void has_come(struct fm_record *m)
{
	comes(m);
	fm_record_name(r(), m, "x");
}

/* A dead node without a place is forgotten, unless a part of the root refers to it. */
static void only_unreferenced_dead_node_is_forgotten(void **state)
{
	static const struct {
		void (*make)(struct fm_record *m);
		bool stays;
	} cases[] = {
		{ NULL, false }, { comes_late, false }, { came_to_another, false },
		{ has_come, false },
		{ has_place, true }, { is_up, true }, { is_silent, true }, { is_connected, true },
		{ holds_another, true }, { is_judged, true }, { is_probed, true }, { comes, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool stays = cases[i].stays;
		struct fm_record *m;
		uint32_t unplaced;

		begin();
		stage_run(&s, 5000);
		unplaced = r()->unplaced;
		m = fm_record_add(r(), NIC + 1);
		m->state = FM_NODE_DEAD;
		fm_problem_set(s.fm, "node", NIC + 1, "is not there");
		if (cases[i].make)
			cases[i].make(m);
		fm_roster_forget(s.fm);
		assert_int_equal(record(1) != NULL, stays);
		assert_int_equal(stage_count(&s, "over: is not there"), !stays);
		if (!stays) {
			assert_int_equal(r()->unplaced, unplaced);
			assert_int_equal(fm_roster_size(r()), 2);
			/* The next has its number, and nothing of what it was. */
			m = fm_record_add(r(), NIC + 2);
			assert_int_equal(fm_record_number(r(), m), 1);
			assert_int_equal(fm_roster_size(r()), 2);
			assert_false(fm_record_joined(m));
			assert_int_equal(m->stated.claimed, 0);
			assert_int_equal(m->worked_at, TORUS_NO_NODE);
			fm_roster_forget(s.fm);		/* a node that is up is not forgotten */
			assert_non_null(record(2));
		}
		r()->nmissing = 0;
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_nodes_equal_naive_roster),
		cmocka_unit_test(forgetting_below_node_forgets_its_descendants),
		cmocka_unit_test(end_of_cable_is_named_by_place_or_port),
		cmocka_unit_test(node_at_place_is_found_after_places_are_known),
		cmocka_unit_test(only_unreferenced_dead_node_is_forgotten),
	};

	return cmocka_run_group_tests_name("fm_records", all, NULL, NULL);
}
