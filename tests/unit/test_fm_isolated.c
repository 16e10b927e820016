// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the nodes that are cut off after each of many changes of a table with a full search, and
 * checks that no full search is made for changes that cannot cut off any node.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <torus/topology.h>
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/isolated.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/status.h"
#include "tests/unit/seeds.h"

#define NODES_MAX 400

static struct torus_shape random_shape(struct rnd *r)
{
	struct torus_shape s = { .ndims = (uint8_t)(1 + rnd_below(r, 3)) };

	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++)
		s.size[d] = d < s.ndims ? (uint16_t)(1 + rnd_below(r, d == 2 ? 4 : 9)) : 1;
	return s;
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

static unsigned int errors, over;

static void do_log(void *io, const struct fm_log *log)
{
	(void)io;
	assert_string_equal(log->kind, "isolated");
	errors += log->level == FM_ERROR;
	over += log->level == FM_INFO;
}

/* Return: true if an administrator has excluded all cables of the node that lead to another. */
static bool is_wished(const struct torus_shape *s, const struct fm_entry *e)
{
	for (unsigned int p = 0; p < 2u * s->ndims; p++)
		if (s->size[p % s->ndims] > 1 && !(e->admin & 1u << p))
			return false;
	return true;
}

/* Marks all nodes that links join to @from. Return: how many. */
static uint32_t reach(const struct torus_shape *s, const struct fm_entry *entry, uint32_t from,
		      bool *seen)
{
	uint32_t queue[NODES_MAX], n = 1;

	memset(seen, 0, NODES_MAX * sizeof(*seen));
	queue[0] = from;
	seen[from] = true;
	for (uint32_t head = 0; head < n; head++)
		for (unsigned int p = 0; p < 2u * s->ndims; p++) {
			uint32_t to = torus_neighbour(s, queue[head], p);

			if (out(s, entry, queue[head], p) || seen[to])
				continue;
			seen[to] = true;
			queue[n++] = to;
		}
	return n;
}

/*
 * Checks that exactly those nodes are reported that are up and not joined to the root, except if an
 * administrator excluded all their cables. If the root is out of service, it is all that are not in
 * the largest part.
 */
static void check_reported(struct rnd *r, struct fm *fm, const struct fm_entry *entry,
			   unsigned int step)
{
	const struct torus_shape *s = &fm->table.shape;
	bool seen[NODES_MAX] = { false }, out_root = is_wished(s, &entry[fm->node]);
	uint32_t from = out_root ? NODES_MAX : fm->node, most = 0, want = 0;

	for (uint32_t i = 0; out_root && i < fm->table.nodes; i++) {
		uint32_t n = entry[i].state == FM_NODE_UP && !is_wished(s, &entry[i]) ?
				     reach(s, entry, i, seen) : 0;

		if (n > most) {
			most = n;
			from = i;
		}
	}
	if (from < NODES_MAX)
		reach(s, entry, from, seen);
	for (uint32_t i = 0; i < fm->table.nodes; i++) {
		char text[200], node[TORUS_TEXT_MAX];
		bool is = false;

		if (entry[i].state != FM_NODE_UP || seen[i] || is_wished(s, &entry[i]))
			continue;
		want++;
		snprintf(text, sizeof(text), "node %s ('%s') is cut off: its manager answers, but "
			 "no path of healthy links joins it to the rest",
			 torus_node_text(s, i, node), entry[i].name);
		for (unsigned int k = 0; k < fm_problems_count(fm); k++)
			is |= !strcmp(fm_problem(fm, k)->text, text);
		/* Only a limited number of problems is kept. */
		expect(r, is || fm_problems_count(fm) == FM_PROBLEMS_MAX, "step %u: not told: %s",
		       step,
		       text);
	}
	expect(r, fm_problems_count(fm) == (want < FM_PROBLEMS_MAX ? want : FM_PROBLEMS_MAX),
	       "step %u: %u told, %u are", step, fm_problems_count(fm), want);
	expect(r, errors - over == fm_problems_count(fm), "logged");
}

static void isolated(uint64_t seed)
{
	static struct fm_entry entry[NODES_MAX], change[NODES_MAX];
	static struct fm_root root;
	static struct fm fm;
	struct rnd r = rnd_new(seed);
	struct torus_shape s = random_shape(&r);
	struct fm_table_msg m = { .term = 5, .version = 1, .shape = s, .entries = change };

	memset(&fm, 0, sizeof(fm));
	memset(&root, 0, sizeof(root));
	assert_true(fm_problems_new(&fm));
	memset(entry, 0, sizeof(entry));
	errors = over = 0;
	fm.root = &root;
	fm.ops.log = do_log;
	for (uint32_t i = 0; i < torus_nodes(&s); i++) {
		change[i] = (struct fm_entry) { .node = i, .state = FM_NODE_UP, .guid = 1000 + i };
		sprintf(change[i].name, "n%u", i);
	}
	m.nentries = torus_nodes(&s);
	for (unsigned int k = 0; k < 40; k++) {
		bool came = false;

		for (uint32_t i = 0; i < m.nentries; i++) {
			came |= entry[change[i].node].state != change[i].state;
			entry[change[i].node] = change[i];
		}
		/* A problem of a node is reported again if the last report was long ago. */
		fm.now += 3600 * 1000000000ULL;
		assert_true(fm_table_take(&fm, &m));
		/* The table is published as in publish.c. */
		if (came)
			root.joined = false;
		fm_isolated_report(&fm, &m, false);
		check_reported(&r, &fm, entry, k);
		m.base = m.version++;
		m.nentries = 0;
		for (uint32_t n = 1 + rnd_below(&r, 3); n; n--) {
			uint32_t i = rnd_below(&r, torus_nodes(&s));
			unsigned int p = rnd_below(&r, 2u * s.ndims);
			struct fm_entry *e = &change[m.nentries];

			if (m.nentries && change[m.nentries - 1].node >= i)
				continue;
			*e = entry[i];
			e->node = i;
			switch (rnd_below(&r, 8)) {
			case 0:
				e->state = rnd_one_in(&r, 2) ? FM_NODE_SILENT : FM_NODE_DEAD;
				break;
			case 1:
				e->state = FM_NODE_UP;
				e->fault = e->admin = 0;
				break;
			case 2:
				e->admin = (uint16_t)((1u << 2 * s.ndims) - 1);
				break;
			case 3:
				e->admin = 0;
				break;
			case 4:
				e->fault = 0;
				break;
			default:
				e->fault |= (uint16_t)(1u << p);
			}
			if (i || e->state == FM_NODE_UP)
				m.nentries++;
		}
	}
	fm_table_free(&fm.table);
	fm_problems_free(&fm);
}

static void isolated_nodes_equal_those_of_naive_search(void **state)
{
	(void)state;
	for_seeds(150, isolated);
}

/* --- how much is looked at -------------------------------------------------------------- */

/* Searches of all nodes: each needs memory for them. */
static unsigned int looks;
static uint32_t many;
static bool fails;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	looks += many && n >= many;
	return fails && many && n >= many ? NULL : __real_calloc(n, size);
}

static struct fm fm;
static struct fm_root root;
static struct fm_entry whole[1200];

/* All nodes are up and joined. */
static void fabric(const char *shape)
{
	struct fm_table_msg m = { .term = 5, .version = 1, .entries = whole };

	memset(&fm, 0, sizeof(fm));
	memset(&root, 0, sizeof(root));
	assert_true(fm_problems_new(&fm));
	assert_int_equal(torus_shape_parse(shape, &m.shape), 0);
	fm.root = &root;
	fm.ops.log = do_log;
	m.nentries = torus_nodes(&m.shape);
	for (uint32_t i = 0; i < m.nentries; i++)
		whole[i] = (struct fm_entry) { .node = i, .state = FM_NODE_UP, .guid = 1000 + i };
	assert_true(fm_table_take(&fm, &m));
	fm_isolated_report(&fm, &m, false);
}

static void fabric_end(void)
{
	fm_table_free(&fm.table);
	fm_problems_free(&fm);
}

/*
 * Excludes ports @fault of @node as faulty, and @admin by an administrator. Return: full searches
 * that it took.
 */
static unsigned int change(uint32_t node, uint16_t fault, uint16_t admin, enum fm_node_state is)
{
	struct fm_entry e = whole[node];
	struct fm_table_msg m = { .term = 5, .version = fm.table.version + 1,
				  .base = fm.table.version, .shape = fm.table.shape,
				  .nentries = 1, .entries = &e };

	e.fault = fault;
	e.admin = admin;
	e.state = (uint8_t)is;
	assert_true(fm_table_take(&fm, &m));
	looks = 0;
	many = fm.table.nodes;
	fm_isolated_report(&fm, &m, false);
	many = 0;
	return looks;
}

static void only_changes_that_may_cut_are_searched(void **state)
{
	(void)state;
	fabric("16x16");
	/* There is a short way round one cable, or round a node that has one cable left. */
	for (uint32_t node = 0; node < 256; node += 37)
		for (uint16_t ports = 0; ports < 15; ports++)
			assert_int_equal(change(node, ports, 0, FM_NODE_UP), 0);
	assert_int_equal(change(255, 0, 7, FM_NODE_UP), 0);
	/* A node without cables is joined to no other. */
	assert_int_equal(change(37, 15, 0, FM_NODE_UP), 1);
	assert_int_equal(fm_problems_count(&fm), 1);
	/* As long as a node is cut off, a full search is made. */
	assert_int_equal(change(255, 0, 0, FM_NODE_UP), 1);
	assert_int_equal(change(37, 0, 0, FM_NODE_UP), 1);
	assert_int_equal(fm_problems_count(&fm), 0);
	assert_int_equal(change(37, 1, 0, FM_NODE_UP), 0);
	/* No way round a missing NIC is needed. */
	assert_int_equal(change(100, 0, 0, FM_NODE_DEAD), 0);
	assert_int_equal(change(101, 0, 0, FM_NODE_SILENT), 0);
	assert_int_equal(change(101, 15, 0, FM_NODE_SILENT), 1);
	fabric_end();
	/* A long way is not searched. */
	fabric("100");
	assert_int_equal(change(50, 1, 0, FM_NODE_UP), 0);
	fabric_end();
	fabric("1200");
	assert_int_equal(change(50, 1, 0, FM_NODE_UP), 1);
	fabric_end();
	/* Cables from a node to itself join no nodes. */
	fabric("16x1");
	assert_int_equal(change(3, 2, 0, FM_NODE_UP), 0);
	assert_int_equal(change(3, 8, 0, FM_NODE_UP), 0);
	/* Nothing is searched either if an administrator excluded all cables of a node. */
	change(3, 5, 0, FM_NODE_UP);
	assert_int_equal(fm_problems_count(&fm), 1);
	change(3, 5, 1, FM_NODE_UP);
	assert_int_equal(fm_problems_count(&fm), 1);
	change(3, 5, 4, FM_NODE_UP);
	assert_int_equal(fm_problems_count(&fm), 1);
	change(3, 0, 5, FM_NODE_UP);
	assert_int_equal(fm_problems_count(&fm), 0);
	fabric_end();
	fabric("1x16");
	change(3, 10, 0, FM_NODE_UP);
	assert_int_equal(fm_problems_count(&fm), 1);
	change(3, 0, 10, FM_NODE_UP);
	assert_int_equal(fm_problems_count(&fm), 0);
	fabric_end();
}

/* A root that is out of service cuts off no other node: they are joined to each other. */
static void excluded_root_isolates_no_other_node(void **state)
{
	(void)state;
	fabric("4x4");
	change(0, 0, 15, FM_NODE_UP);
	assert_int_equal(fm_problems_count(&fm), 0);
	/* Nodes that are cut off from the others are told nevertheless. */
	change(5, 15, 0, FM_NODE_UP);
	assert_int_equal(fm_problems_count(&fm), 1);
	change(0, 0, 0, FM_NODE_UP);
	assert_int_equal(fm_problems_count(&fm), 1);
	change(5, 0, 0, FM_NODE_UP);
	assert_int_equal(fm_problems_count(&fm), 0);
	fabric_end();
}

/* A search for which there was no memory is made with the next table, whatever that changes. */
static void search_without_memory_is_made_with_next_table(void **state)
{
	(void)state;
	fabric("16x1");
	fails = true;
	assert_int_equal(change(3, 5, 0, FM_NODE_UP), 1);
	fails = false;
	assert_int_equal(fm_problems_count(&fm), 0);
	assert_int_equal(change(10, 2, 0, FM_NODE_UP), 1);
	assert_int_equal(fm_problems_count(&fm), 1);
	fabric_end();
}

/* Cables of the last of three dimensions join as others do. */
static void cables_of_third_dimension_join_nodes(void **state)
{
	(void)state;
	fabric("1x1x16");
	change(10, 1 << 5, 0, FM_NODE_UP);
	assert_int_equal(fm_problems_count(&fm), 0);
	change(3, 1 << 5, 0, FM_NODE_UP);
	assert_int_equal(fm_problems_count(&fm), 7);
	fabric_end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(isolated_nodes_equal_those_of_naive_search),
		cmocka_unit_test(only_changes_that_may_cut_are_searched),
		cmocka_unit_test(excluded_root_isolates_no_other_node),
		cmocka_unit_test(search_without_memory_is_made_with_next_table),
		cmocka_unit_test(cables_of_third_dimension_join_nodes),
	};

	return cmocka_run_group_tests_name("fm_isolated", all, NULL, NULL);
}
