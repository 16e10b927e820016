// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of nodes, compared with a list that is searched and closed anew each time; and the library
 * that managers of one process share.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <torus/topology.h>
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/facts.h"
#include "tests/unit/seeds.h"

#define NODES_MAX 400

static struct torus_shape random_shape(struct rnd *r)
{
	struct torus_shape s = { .ndims = (uint8_t)(1 + rnd_below(r, 3)) };

	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++)
		s.size[d] = d < s.ndims ? (uint16_t)(1 + rnd_below(r, d == 2 ? 4 : 9)) : 1;
	return s;
}

/* Draws a valid entry: mostly a NIC that is up, with few ports excluded. */
static struct fm_entry random_entry(struct rnd *r, const struct torus_shape *s, uint32_t node)
{
	struct fm_entry e = { .node = node };
	uint16_t ports = (uint16_t)((1u << 2 * s->ndims) - 1);

	e.state = rnd_one_in(r, 4) ? (uint8_t)rnd_below(r, FM_NODE_STATES) : FM_NODE_UP;
	if (e.state == FM_NODE_ABSENT)
		return e;
	e.guid = 1000 + node + (rnd_one_in(r, 5) ? 1000 * (1 + rnd_below(r, 3)) : 0);
	e.epoch = rnd_below(r, 3);
	if (rnd_one_in(r, 4))
		e.fault = (uint16_t)(rnd64(r) & rnd64(r) & 0xfff);
	if (rnd_one_in(r, 6))
		e.wiring = (uint16_t)(rnd64(r) & rnd64(r) & 0xfff);
	if (rnd_one_in(r, 6))
		e.admin = rnd_one_in(r, 3) ? ports : (uint16_t)(rnd64(r) & ports);
	return e;
}

/* Return: true if the node's own entry excludes that port. */
static bool out_here(const struct torus_shape *s, const struct fm_entry *e, unsigned int p)
{
	(void)s;
	if (e->state != FM_NODE_UP && e->state != FM_NODE_SILENT)
		return true;
	return (e->fault | e->wiring | e->admin) & 1u << p;
}

static bool out(const struct torus_shape *s, const struct fm_entry *entry, uint32_t node,
		unsigned int p)
{
	return out_here(s, &entry[node], p) ||
	       out_here(s, &entry[torus_neighbour(s, node, p)], torus_dir_opposite(s, p));
}

/* --- books ------------------------------------------------------------------------------ */

static void book_is(struct rnd *r, struct fm_book *b, const struct fm_entry *entry)
{
	for (uint32_t i = 0; i < b->nodes; i++) {
		expect(r, !memcmp(&b->entry[i], &entry[i], sizeof(entry[i])), "entry %u", i);
		for (unsigned int p = 0; p < 16; p++)
			expect(r, !(b->closed[i] & 1u << p) == !(p < 2u * b->shape.ndims &&
			       out(&b->shape, entry, i, p)), "port %u:%u", i, p);
	}
	for (uint64_t guid = 995; guid < 1000 + b->nodes + 5; guid++)
		for (unsigned int k = 0; k < 4; k++) {
			uint32_t is = fm_book_find(b, guid + 1000 * k), n = 0;

			for (uint32_t i = 0; i < b->nodes; i++)
				n += entry[i].guid == guid + 1000 * k &&
				     entry[i].state != FM_NODE_ABSENT;
			if (is == TORUS_NO_NODE)
				expect(r, !n, "GUID %" PRIu64 " is not found", guid + 1000 * k);
			else
				expect(r, entry[is].guid == guid + 1000 * k, "GUID %" PRIu64
				       " is found at %u", guid + 1000 * k, is);
		}
	expect(r, fm_book_find(b, 0) == TORUS_NO_NODE, "nobody is found");
}

/* Draws new entries of a few nodes, in ascending order. Return: how many. */
static uint32_t changes(struct rnd *r, const struct torus_shape *s, struct fm_entry *to,
			uint32_t one_in)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < torus_nodes(s); i++)
		if (rnd_one_in(r, one_in))
			to[n++] = random_entry(r, s, i);
	return n;
}

static void books(uint64_t seed)
{
	static struct fm_entry entry[NODES_MAX], change[NODES_MAX];
	struct rnd r = rnd_new(seed);
	struct torus_shape s = random_shape(&r);
	struct fm_book *b = fm_book_new(&s);

	assert_non_null(b);
	expect(&r, b->nodes == torus_nodes(&s), "%u nodes", b->nodes);
	memset(entry, 0, sizeof(entry));
	for (uint32_t i = 0; i < b->nodes; i++)
		entry[i].node = i;
	fm_book_change(b, entry, b->nodes);
	book_is(&r, b, entry);
	for (unsigned int k = 0; k < 12; k++) {
		uint32_t n = changes(&r, &s, change, k ? 1 + rnd_below(&r, 40) : 1);

		for (uint32_t i = 0; i < n; i++)
			entry[change[i].node] = change[i];
		fm_book_change(b, change, n);
		book_is(&r, b, entry);
	}
	fm_book_put(b);
}

static void random_books_of_tables_equal_model(void **state)
{
	(void)state;
	for_seeds(60, books);
}

/* --- a table, whole and in changes ------------------------------------------------------ */

static void no_rows(void *io, uint32_t tag, uint64_t version, const uint16_t *closed)
{
	(void)io;
	(void)tag;
	(void)version;
	(void)closed;
}

/*
 * Gives the manager @n entries as @version; @base: the table that they change. Return: true if it
 * takes them.
 */
static bool take(struct fm *fm, const struct torus_shape *s, uint64_t version, uint64_t base,
		 struct fm_entry *e, uint32_t n)
{
	struct fm_table_msg m = { .term = 5, .version = version, .base = base, .shape = *s,
				  .nentries = n, .entries = e, .open = (uint8_t)version };

	return fm_table_take(fm, &m);
}

static void table_is(struct rnd *r, struct fm *fm, const struct torus_shape *s, uint64_t version,
		     const struct fm_entry *entry)
{
	struct fm_msg m;
	uint32_t n = 0;

	expect(r, fm->table.version == version && fm->table.term == 5, "version");
	expect(r, fm->table.open == (uint8_t)version, "open %u", fm->table.open);
	expect(r, !memcmp(&fm->table.shape, s, sizeof(*s)), "shape");
	expect(r, fm->table.nodes == torus_nodes(s), "nodes");
	book_is(r, fm->table.book, entry);
	expect(r, fm->table.entry == fm->table.book->entry, "entries");
	expect(r, fm->table.closed == fm->table.book->closed, "exclusions");
	assert_true(fm_table_whole(fm, &m));
	assert_int_equal(m.type, FM_MSG_TABLE);
	expect(r, m.table.version == version && m.table.term == 5 && !m.table.base &&
	       m.table.open == (uint8_t)version, "said as a whole");
	for (uint32_t i = 0; i < fm->table.nodes; i++)
		if (entry[i].state != FM_NODE_ABSENT) {
			expect(r, n < m.table.nentries && !memcmp(&m.table.entries[n], &entry[i],
			       sizeof(entry[i])), "entry %u said", i);
			n++;
		}
	expect(r, n == m.table.nentries, "%u entries", m.table.nentries);
	fm_table_whole_end(fm, &m);
}

/* Two managers share a library, and a third does not: each has the tables that it got. */
static void tables(uint64_t seed)
{
	static struct fm_entry entry[3][NODES_MAX], change[NODES_MAX];
	static struct fm fm[3];
	struct rnd r = rnd_new(seed);
	struct torus_shape s = random_shape(&r);
	struct fm_library *l = fm_library_new();
	static struct {
		uint64_t base;
		uint32_t n;
		struct fm_entry e[NODES_MAX];
	} reported[40];
	uint64_t has[3] = { 0 };

	memset(fm, 0, sizeof(fm));
	memset(entry, 0, sizeof(entry));
	fm[0].cfg.library = fm[1].cfg.library = l;
	fm[1].ops.rows_apply = no_rows;
	for (unsigned int v = 1; v < 40; v++) {
		reported[v].base = v == 1 || rnd_one_in(&r, 10) ? 0 : v - 1;
		reported[v].n = changes(&r, &s, change, reported[v].base ? 1 + rnd_below(&r, 40) : 1);
		memcpy(reported[v].e, change, reported[v].n * sizeof(change[0]));
	}
	for (unsigned int k = 0; k < 150; k++) {
		unsigned int i = rnd_below(&r, 3);
		uint64_t v = has[i] + 1 + (rnd_one_in(&r, 8) ? 1 : 0);
		bool may;

		if (v >= 40)
			continue;
		may = !reported[v].base || reported[v].base == has[i];
		expect(&r, take(&fm[i], &s, v, reported[v].base, reported[v].e, reported[v].n) == may,
		       "version %" PRIu64 " after %" PRIu64, v, has[i]);
		if (!may)
			continue;
		if (!reported[v].base) {
			memset(entry[i], 0, sizeof(entry[i]));
			/* Nodes that are left out are absent. */
		}
		for (uint32_t j = 0; j < reported[v].n; j++)
			entry[i][reported[v].e[j].node] = reported[v].e[j];
		has[i] = v;
		for (unsigned int o = 0; o < 3; o++)
			if (has[o])
				table_is(&r, &fm[o], &s, has[o], entry[o]);
		if (has[0] && has[0] == has[1])
			expect(&r, fm[0].table.book == fm[1].table.book, "one copy of %" PRIu64,
			       has[0]);
		if (has[2])
			expect(&r, fm[2].table.book != fm[0].table.book, "one that is not shared");
	}
	for (unsigned int i = 0; i < 3; i++)
		fm_table_free(&fm[i].table);
	/* The library is empty. */
	expect(&r, !fm_library_find(l, 0, 5, has[0], &s), "a table that nobody has");
	fm_library_free(l);
}

static void random_changes_of_table_equal_model(void **state)
{
	(void)state;
	for_seeds(40, tables);
}

/*
 * Changes to an unknown table, or to one of another root or shape, are refused; shared tables do
 * not change.
 */
static void changes_to_unknown_table_are_refused(void **state)
{
	struct torus_shape s, other;
	struct fm_entry e = { .node = 1, .state = FM_NODE_UP, .guid = 9 };
	static struct fm fm;
	struct fm_table_msg m = { .term = 5, .version = 2, .base = 1, .nentries = 1,
				  .entries = &e };

	(void)state;
	assert_int_equal(torus_shape_parse("3x3", &s), 0);
	assert_int_equal(torus_shape_parse("3x4", &other), 0);
	m.shape = s;
	assert_int_equal(fm_table_find(&fm, 9), TORUS_NO_NODE);
	assert_true(fm_table_begin(&fm, &s));
	assert_int_equal(fm.table.nodes, 9);
	assert_int_equal(fm.table.version, 0);
	assert_false(fm_table_take(&fm, &m));
	m.base = 0;
	m.version = 1;
	assert_true(fm_table_take(&fm, &m));
	m.base = 1;
	m.version = 2;
	m.term = 6;
	assert_false(fm_table_take(&fm, &m));
	m.term = 5;
	m.shape = other;
	assert_false(fm_table_take(&fm, &m));
	m.shape = s;
	e.guid = 10;
	assert_true(fm_table_take(&fm, &m));
	assert_int_equal(fm_table_find(&fm, 10), 1);
	assert_int_equal(fm_table_find(&fm, 9), TORUS_NO_NODE);
	/* The whole table, with another shape. */
	m.shape = other;
	m.base = 0;
	m.version = 3;
	assert_true(fm_table_take(&fm, &m));
	assert_int_equal(fm.table.nodes, 12);
	assert_int_equal(fm_table_find(&fm, 10), 1);
	fm_table_free(&fm.table);
}

/*
 * After few changes a table names the nodes to which rows may change (news); after many, all rows
 * may.
 */
static void few_changes_are_listed_as_news(void **state)
{
	struct torus_shape s;
	struct fm_entry e[FM_NEWS_MAX + 1];
	static struct fm fm;

	(void)state;
	assert_int_equal(torus_shape_parse("10x10", &s), 0);
	for (uint32_t i = 0; i <= FM_NEWS_MAX; i++)
		e[i] = (struct fm_entry) { .node = 3 + i, .state = FM_NODE_UP, .guid = 9 + i };
	assert_true(take(&fm, &s, 1, 0, e, 3));
	assert_int_equal(fm.table.nnews, FM_NEWS_MAX + 1);
	fm.table.nnews = 0;
	assert_true(take(&fm, &s, 2, 1, e, 2));
	assert_true(take(&fm, &s, 3, 2, e + 2, FM_NEWS_MAX - 2));
	assert_int_equal(fm.table.nnews, FM_NEWS_MAX);
	for (uint32_t i = 0; i < FM_NEWS_MAX; i++)
		assert_int_equal(fm.table.news[i], 3 + i);
	assert_true(take(&fm, &s, 4, 3, e, 1));
	assert_int_equal(fm.table.nnews, FM_NEWS_MAX + 1);
	fm.table.nnews = 0;
	assert_true(take(&fm, &s, 5, 4, e, FM_NEWS_MAX + 1));
	assert_int_equal(fm.table.nnews, FM_NEWS_MAX + 1);
	fm_table_free(&fm.table);
}

/* The number of nodes that are up is that of the entries, also after a change of few of them. */
static void number_of_nodes_up_follows_changes(void **state)
{
	struct torus_shape s;
	struct fm_entry e = { .node = 4, .state = FM_NODE_UP, .guid = 7 };
	struct fm_book *b;

	(void)state;
	assert_int_equal(torus_shape_parse("10x10", &s), 0);
	b = fm_book_new(&s);
	assert_int_equal(fm_book_ups(b), 0);
	fm_book_change(b, &e, 1);
	assert_int_equal(fm_book_ups(b), 1);
	assert_int_equal(fm_book_ups(b), 1);
	e.node = 5;
	fm_book_change(b, &e, 1);
	assert_int_equal(fm_book_ups(b), 2);
	e.state = FM_NODE_DEAD;
	fm_book_change(b, &e, 1);
	assert_int_equal(fm_book_ups(b), 1);
	fm_book_put(b);
}

/* A library finds a table by root, term, version and shape. */
static void library_finds_table_by_root_term_version_shape(void **state)
{
	struct torus_shape s, other;
	struct fm_library *l = fm_library_new();
	struct fm_book *b[3];

	(void)state;
	assert_int_equal(torus_shape_parse("3x3", &s), 0);
	assert_int_equal(torus_shape_parse("9", &other), 0);
	assert_null(fm_library_find(NULL, 1, 1, 1, &s));
	assert_null(fm_library_find(l, 1, 1, 1, &s));
	for (unsigned int i = 0; i < 3; i++) {
		b[i] = fm_book_new(&s);
		fm_library_add(l, b[i], 1, 1 + i / 2, 1 + i % 2);
	}
	assert_null(fm_library_find(l, 2, 1, 1, &s));
	assert_ptr_equal(fm_library_find(l, 1, 1, 1, &s), b[0]);
	assert_ptr_equal(fm_library_find(l, 1, 1, 2, &s), b[1]);
	assert_ptr_equal(fm_library_find(l, 1, 2, 1, &s), b[2]);
	assert_null(fm_library_find(l, 1, 2, 2, &s));
	assert_null(fm_library_find(l, 1, 1, 1, &other));
	/* The last manager that releases a table removes it. */
	fm_book_put(b[1]);
	assert_ptr_equal(fm_library_find(l, 1, 1, 2, &s), b[1]);
	fm_book_put(b[1]);
	fm_book_put(b[1]);
	assert_null(fm_library_find(l, 1, 1, 2, &s));
	assert_ptr_equal(fm_library_find(l, 1, 1, 1, &s), b[0]);
	for (unsigned int i = 0; i < 3; i += 2) {
		fm_book_put(b[i]);
		fm_book_put(b[i]);
	}
	fm_book_put(b[0]);
	assert_null(fm_library_find(l, 1, 1, 1, &s));
	assert_null(fm_library_find(l, 1, 2, 1, &s));
	fm_book_put(NULL);
	fm_library_free(l);
}

/* --- fingerprints and random numbers ---------------------------------------------------- */

static void random_numbers_are_as_published_and_fingerprints_differ(void **state)
{
	static struct fm fm;

	(void)state;
	/* splitmix64 from 0, as published. */
	assert_int_equal(fm_random(&fm), 0xe220a8397b1dcdaf);
	assert_int_equal(fm_random(&fm), 0x6e789e6aa1b965f4);
	assert_int_equal(fm_random(&fm), 0x06c45d188009454f);
	/* Each life of each NIC has its own fingerprint; different sets have different sums. */
	for (uint64_t a = 1; a < 40; a++)
		for (uint32_t e = 0; e < 4; e++) {
			assert_int_not_equal(fm_fingerprint(a, e), fm_fingerprint(a, e + 1));
			assert_int_not_equal(fm_fingerprint(a, e), fm_fingerprint(a + 1, e));
			assert_int_not_equal(fm_fingerprint(a, e) + fm_fingerprint(a + 1, e + 1),
					     fm_fingerprint(a, e + 1) + fm_fingerprint(a + 1, e));
		}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_books_of_tables_equal_model),
		cmocka_unit_test(random_changes_of_table_equal_model),
		cmocka_unit_test(changes_to_unknown_table_are_refused),
		cmocka_unit_test(few_changes_are_listed_as_news),
		cmocka_unit_test(number_of_nodes_up_follows_changes),
		cmocka_unit_test(library_finds_table_by_root_term_version_shape),
		cmocka_unit_test(random_numbers_are_as_published_and_fingerprints_differ),
	};

	return cmocka_run_group_tests_name("fm_table", all, NULL, NULL);
}
