// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that no link leads to, by themselves: random exclusions in small tables, and which nodes
 * are reported as cut off. Stubs in this test stand for the functions of the manager that the file
 * calls.
 */
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/isolated.h"
#include "daemon/fm/root/roster.h"

#define NODES 512

static struct fm_root root;
static struct fm fm = { .root = &root };
static struct fm_entry entry[NODES];
static bool cut[NODES];		/* nodes that are reported as cut off */
static bool reported_any, marked;

void fm_problem_of(struct fm *f, uint32_t node, const char *kind, uint64_t key,
		   const char *fmt, ...)
{
	(void)f;
	(void)fmt;
	assert_string_equal(kind, "isolated");
	assert_true(marked && key < NODES);
	assert_int_equal(node, key);
	cut[key] = true;
}

void fm_problems_mark(struct fm *f, const char *kind)
{
	(void)f;
	assert_string_equal(kind, "isolated");
	marked = reported_any = true;
	memset(cut, 0, sizeof(cut));
}

void fm_problems_sweep(struct fm *f, const char *kind)
{
	(void)f;
	assert_string_equal(kind, "isolated");
	assert_true(marked);
	marked = false;
}

bool fm_is_out_of_service(const struct torus_shape *shape, uint16_t admin)
{
	assert_ptr_equal(shape, &fm.table.shape);
	return admin == 0xf;
}

static struct fm_record record[2];	/* the root, and the node with this GUID */

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	assert_ptr_equal(r, &root);
	return guid == record[1].guid ? &record[1] : guid ? NULL : &record[0];
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	assert_ptr_equal(r, &root);
	assert_int_equal(i, 0);
	return &record[0];
}

/* --- a table ----------------------------------------------------------------------------- */

static bool open_at(uint32_t node, unsigned int p)
{
	return !(fm.table.closed[node] & 1u << p);
}

static void close_link(uint32_t node, unsigned int p)
{
	uint32_t o = torus_neighbour(&fm.table.shape, node, p);

	fm.table.closed[node] |= (uint16_t)(1u << p);
	fm.table.closed[o] |= (uint16_t)(1u << torus_dir_opposite(&fm.table.shape, p));
}

static unsigned int ports(void)
{
	return 2u * fm.table.shape.ndims;
}

/*
 * Begins with all nodes up. Entries after the last node are up, too, so that a read of them would
 * be noticed.
 */
static void begin(const char *shape)
{
	memset(entry, 0, sizeof(entry));
	memset(cut, 0, sizeof(cut));
	assert_int_equal(torus_shape_parse(shape, &fm.table.shape), 0);
	fm.table.nodes = torus_nodes(&fm.table.shape);
	fm.table.entry = entry;
	fm.table.closed = calloc(fm.table.nodes, sizeof(*fm.table.closed));
	fm.table.version = 1;
	for (uint32_t i = 0; i < NODES; i++)
		entry[i] = (struct fm_entry) { .node = i, .guid = i, .state = FM_NODE_UP };
	fm.node = 0;
	reported_any = false;
}

static void end(void)
{
	free(fm.table.closed);
}

/* Marks all nodes that open links join to @from, by passing marks on until nothing changes. */
static unsigned int join_all(uint32_t from, bool *joined)
{
	unsigned int n = 0;
	bool more = true;

	memset(joined, 0, NODES * sizeof(*joined));
	joined[from] = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < fm.table.nodes; i++)
			for (unsigned int p = 0; joined[i] && p < ports(); p++) {
				uint32_t o = torus_neighbour(&fm.table.shape, i, p);

				if (open_at(i, p) && !joined[o])
					more = joined[o] = true;
			}
	}
	for (uint32_t i = 0; i < NODES; i++)
		n += joined[i];
	return n;
}

static bool is_measure(uint32_t node)
{
	return entry[node].state == FM_NODE_UP && entry[node].admin != 0xf;
}

/*
 * Return: the root, or the first node of the largest part if the root is out of service; NODES:
 * none.
 */
static uint32_t measure(void)
{
	unsigned int most = 0;
	uint32_t first = NODES;
	bool joined[NODES];

	if (entry[fm.node].admin != 0xf)
		return fm.node;
	for (uint32_t i = 0; i < fm.table.nodes; i++) {
		unsigned int n = is_measure(i) ? join_all(i, joined) : 0;

		if (n > most) {
			most = n;
			first = i;
		}
	}
	return first;
}

/* Return: true if all nodes that are up are joined. @is: gets the others. */
static bool naive(bool *is)
{
	bool joined[NODES] = { false }, all = true;
	uint32_t from = measure();

	if (from < NODES)
		join_all(from, joined);
	for (uint32_t i = 0; i < NODES; i++) {
		bool lacks = i < fm.table.nodes && entry[i].state == FM_NODE_UP && !joined[i];

		all &= !lacks;
		is[i] = lacks && entry[i].admin != 0xf;
	}
	return all;
}

/* Closes the links of a node without a NIC, at both ends. */
static void end_some(struct rnd *r)
{
	for (uint32_t i = 0; i < fm.table.nodes; i++) {
		if (rnd_one_in(r, 6) && i != fm.node)
			entry[i].state = (uint8_t)rnd_below(r, FM_NODE_STATES);
		if (rnd_one_in(r, 6))
			entry[i].admin = 0xf;
		for (unsigned int p = 0; p < ports(); p++)
			if (entry[i].state != FM_NODE_UP && entry[i].state != FM_NODE_SILENT)
				close_link(i, p);
	}
}

/* Cuts or mends links: the nodes at both ends change, and others. */
static void cut_some(struct rnd *r, struct fm_entry *changed, uint32_t *n)
{
	uint32_t links = rnd_below(r, fm.table.nodes);
	bool is[NODES] = { false };

	for (uint32_t k = 0; k < links; k++) {
		uint32_t i = rnd_below(r, fm.table.nodes);
		unsigned int p = rnd_below(r, ports());

		close_link(i, p);
		is[i] = is[torus_neighbour(&fm.table.shape, i, p)] = true;
	}
	for (uint32_t i = 0; i < fm.table.nodes; i++)
		if (is[i] || rnd_one_in(r, 5))
			changed[(*n)++] = entry[i];
}

static void check(struct rnd *r, bool joined)
{
	bool is[NODES];

	expect(r, naive(is) == joined && !marked, "joined: %d", joined);
	for (uint32_t i = 0; i < NODES; i++)
		expect(r, cut[i] == is[i], "node %u", i);
}

static void table(uint64_t seed)
{
	static const char *const shapes[] = { "4", "2x2", "3x1", "4x3", "5x4", "3x2x3" };
	struct rnd r = rnd_new(seed);
	struct fm_entry changed[NODES];
	struct fm_table_msg msg = { .entries = changed };
	bool is[NODES], joined;

	begin(shapes[rnd_below(&r, 6)]);
	fm.node = rnd_below(&r, fm.table.nodes);
	end_some(&r);
	root.joined = naive(is) && !rnd_one_in(&r, 4);	/* joined by the table before */
	cut_some(&r, changed, &msg.nentries);
	if (rnd_one_in(&r, 4)) {	/* the node is in doubt: it is examined later */
		fm_isolated_report(&fm, &msg, true);
		assert_false(reported_any);
		expect(&r, !root.joined || naive(is), "a node was cut off");
		fm.table.version = rnd_below(&r, 3);
		joined = root.joined;
		fm_isolated_again(&fm);
		expect(&r, reported_any == (fm.table.version && !joined), "looked");
	} else {
		fm_isolated_report(&fm, &msg, false);
	}
	if (reported_any)
		check(&r, root.joined);
	else
		expect(&r, !root.joined || naive(is), "a node was cut off");
	end();
}

static void cut_off_nodes_equal_those_of_full_search(void **state)
{
	(void)state;
	for_seeds(3000, table);
}

/* Only the changed node is looked at, as long as a short path goes round each of its cables. */
static void only_changed_node_is_searched_if_short_way_exists(void **state)
{
	struct fm_entry changed[2];
	struct fm_table_msg msg = { .entries = changed, .nentries = 1 };

	(void)state;
	begin("5x5");
	root.joined = true;
	close_link(6, 0);
	changed[0] = entry[6];
	fm_isolated_report(&fm, &msg, false);
	assert_false(reported_any);
	/* No cable of a dead node counts, at either end. */
	for (unsigned int p = 0; p < 4; p++)
		close_link(12, p);
	entry[12].state = FM_NODE_DEAD;
	for (unsigned int i = 11; i <= 12; i++) {
		changed[0] = entry[i];
		fm_isolated_report(&fm, &msg, false);
		assert_false(reported_any);
	}
	entry[12].state = FM_NODE_UP;
	changed[1] = entry[12];
	changed[0] = entry[3];
	fm_isolated_report(&fm, &msg, false);
	assert_false(reported_any);
	/* A silent node has a NIC, as one that is up. */
	msg.nentries = 2;
	entry[12].state = FM_NODE_SILENT;
	fm_isolated_report(&fm, &msg, false);
	assert_true(reported_any && root.joined);
	end();
}

/* A cable in a dimension of one node leads back to the node, and does not count. */
static void cable_in_dimension_of_one_node_does_not_count(void **state)
{
	struct fm_entry changed[1];
	struct fm_table_msg msg = { .entries = changed, .nentries = 1 };

	(void)state;
	begin("5x1");
	root.joined = true;
	close_link(2, 1);
	close_link(2, 0);
	changed[0] = entry[2];
	fm_isolated_report(&fm, &msg, false);
	assert_false(reported_any);
	/* The node is not missed if no other node is there. */
	for (uint32_t i = 1; i < 5; i++)
		entry[i].state = FM_NODE_ABSENT;
	for (uint32_t i = 0; i < 5; i++)
		close_link(i, 0);
	close_link(0, 1);
	changed[0] = entry[0];
	fm_isolated_report(&fm, &msg, false);
	assert_false(reported_any);
	end();
}

/*
 * The way round a long ring is longer than the limit of the short search: then all nodes are
 * searched.
 */
static void long_way_round_makes_full_search(void **state)
{
	static const char *const shapes[] = { "129", "130", "500" };

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct fm_entry changed[1];
		struct fm_table_msg msg = { .entries = changed, .nentries = 1 };

		begin(shapes[i / 2]);
		root.joined = true;
		close_link(5, i % 2);	/* and the way begins at the other port */
		changed[0] = entry[5];
		fm_isolated_report(&fm, &msg, false);
		assert_int_equal(reported_any, i >= 2);
		assert_true(root.joined);
		end();
	}
}

/* Short paths over the last port of six dimensions are found. */
static void short_way_over_last_port_is_found(void **state)
{
	struct fm_entry changed[1];
	struct fm_table_msg msg = { .entries = changed, .nentries = 1 };

	(void)state;
	begin("1x1x1x1x1x4");
	fm_isolated_again(&fm);
	root.joined = true;
	close_link(0, 5);
	changed[0] = entry[0];
	reported_any = false;
	fm_isolated_report(&fm, &msg, false);
	assert_false(reported_any);
	root.joined = false;
	fm_isolated_again(&fm);
	assert_true(reported_any && root.joined);
	close_link(3, 11);
	changed[0] = entry[3];
	fm_isolated_report(&fm, &msg, false);
	assert_true(cut[1] && cut[2] && !cut[3]);
	end();
}

/* Without memory for the search nothing is reported, and it is searched again later. */
static void search_without_memory_is_made_later(void **state)
{
	struct fm_table_msg msg = { .nentries = 0 };

	(void)state;
	begin("4x3");
	cut[3] = true;
	for (unsigned int p = 0; p < 4; p++)
		close_link(5, p);
	msg.entries = &entry[5];
	msg.nentries = 1;
	for (unsigned int n = 1; n <= 2; n++) {
		root.joined = true;
		memory_fails_at(n);
		fm_isolated_report(&fm, &msg, false);
		assert_true(memory_failed());
		assert_false(reported_any || root.joined);
	}
	fm_isolated_again(&fm);
	assert_true(reported_any && cut[5] && !cut[3]);
	assert_int_equal(memory_blocks(), 1);
	end();
}

/* A node whose manager does not answer, or that is judged already, is not reported as cut off. */
static void missing_or_judged_node_is_not_reported_as_cut_off(void **state)
{
	static const struct { uint8_t via; enum fm_node_state state; bool reported; } cases[] = {
		{ 1, FM_NODE_UP, true }, { 0, FM_NODE_UP, false }, { 1, FM_NODE_SILENT, false },
		{ 0, FM_NODE_DEAD, false },
	};

	(void)state;
	begin("4x4");
	root.roster = (void *)record;	/* there is a roster */
	for (unsigned int p = 0; p < 4; p++)
		close_link(5, p);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		record[1] = (struct fm_record) { .guid = 5, .state = (uint8_t)cases[i].state };
		record[1].via = cases[i].via;
		root.joined = false;
		fm_isolated_again(&fm);
		assert_int_equal(cut[5], cases[i].reported);
		assert_false(root.joined);	/* the search is made again */
	}
	root.roster = NULL;
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(cut_off_nodes_equal_those_of_full_search),
		cmocka_unit_test(only_changed_node_is_searched_if_short_way_exists),
		cmocka_unit_test(cable_in_dimension_of_one_node_does_not_count),
		cmocka_unit_test(long_way_round_makes_full_search),
		cmocka_unit_test(short_way_over_last_port_is_found),
		cmocka_unit_test(search_without_memory_is_made_later),
		cmocka_unit_test(missing_or_judged_node_is_not_reported_as_cut_off),
	};

	return cmocka_run_group_tests_name("fm_reach", all, NULL, NULL);
}
