// SPDX-License-Identifier: GPL-2.0-only
/*
 * The box of nodes that a job gets (root/box.c), compared with a search through all boxes; and a
 * search that ends although there are too many boxes.
 */
#include <errno.h>
#include <stdlib.h>

#include <torus/route.h>
#include <torus/topology.h>
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/root/box.h"
#include "daemon/fm/root/facts.h"
#include "memory.h"
#include "random.h"
#include "stage_root.h"

#define NODES_MAX 400

static struct fm f;
static struct fm_root of;
static char why[FM_TEXT_MAX];

/* Makes a fabric in which all nodes are up and free. */
static void make_fabric(const struct torus_shape *shape)
{
	uint32_t nodes = torus_nodes(shape);

	f = (struct fm) { .root = &of };
	of = (struct fm_root) { .seat = calloc(nodes, sizeof(*of.seat)) };
	f.table.shape = *shape;
	f.table.nodes = nodes;
	f.table.entry = calloc(nodes, sizeof(*f.table.entry));
	f.table.closed = calloc(nodes, sizeof(*f.table.closed));
	for (uint32_t i = 0; i < nodes; i++)
		f.table.entry[i].state = FM_NODE_UP;
}

static void free_fabric(void)
{
	free(of.seat);
	free(f.table.entry);
	free(f.table.closed);
}

static void close_cable(uint32_t node, unsigned int port)
{
	uint32_t other = torus_neighbour(&f.table.shape, node, port);

	f.table.closed[node] |= (uint16_t)(1u << port);
	f.table.closed[other] |= (uint16_t)(1u << torus_dir_opposite(&f.table.shape, port));
}

/* Return: why a node cannot be taken, as the list tells it; NULL if it can. */
static const char *why_taken(uint32_t i)
{
	if (of.seat[i].job)
		return "belongs to another job";
	if (f.table.entry[i].state != FM_NODE_UP)
		return "is not up";
	return f.table.entry[i].admin ? "is out of service" : NULL;
}

/* Some nodes belong to a job, are not up, or are out of service. */
static void take_nodes(uint64_t *random, uint32_t n)
{
	while (n--) {
		uint32_t i = random_below(random, f.table.nodes);

		switch (random_below(random, 4)) {
		case 0:
			f.table.entry[i].state = random_below(random, 2) ? FM_NODE_SILENT : FM_NODE_DEAD;
			break;
		case 1:
			f.table.entry[i].admin = (uint16_t)((1u << 2 * f.table.shape.ndims) - 1);
			break;
		default:
			of.seat[i].job = 1;
		}
	}
}

/* Return: true if the nodes are free, and their own cables join them. */
static bool may_take(const bool *member, uint32_t first)
{
	struct torus_health *h;
	uint16_t closed[NODES_MAX];
	bool may = true;

	fm_jobs_close(&f.table, member, closed);
	assert_int_equal(torus_health_new(&f.table.shape, closed, &h), 0);
	for (uint32_t i = 0; i < f.table.nodes; i++)
		may &= !member[i] || (!why_taken(i) && torus_health_component(h, i) ==
				      torus_health_component(h, first));
	torus_health_free(h);
	return may;
}

/* Return: true if the cables between the members join @a and @b. */
static bool is_joined_to(const bool *member, uint32_t a, uint32_t b)
{
	struct torus_health *h;
	uint16_t closed[NODES_MAX];
	bool is;

	fm_jobs_close(&f.table, member, closed);
	assert_int_equal(torus_health_new(&f.table.shape, closed, &h), 0);
	is = torus_health_component(h, a) == torus_health_component(h, b);
	torus_health_free(h);
	return is;
}

/* Sets @member to the box @size that begins at @from. Return: how many cables lead out of it. */
static uint32_t mark_box(uint32_t from, const uint16_t *size, bool *member)
{
	const struct torus_shape *shape = &f.table.shape;
	uint32_t out = 0;

	memset(member, 0, NODES_MAX * sizeof(*member));
	for (uint32_t i = 0; i < f.table.nodes; i++) {
		struct torus_coords at, begin;
		bool in = true;

		torus_node_coords(shape, i, &at);
		torus_node_coords(shape, from, &begin);
		for (unsigned int d = 0; d < shape->ndims; d++)
			in &= (at.c[d] + shape->size[d] - begin.c[d]) % shape->size[d] < size[d];
		member[i] = in;
	}
	for (uint32_t i = 0; i < f.table.nodes; i++)
		for (unsigned int p = 0; member[i] && p < 2u * shape->ndims; p++)
			out += !member[torus_neighbour(shape, i, p)];
	return out;
}

/* Sets @size to the next form of a box, whatever its number of nodes. Return: false: there is none. */
static bool next_form(uint16_t *size)
{
	for (unsigned int d = 0; d < f.table.shape.ndims; d++) {
		if (++size[d] <= f.table.shape.size[d])
			return true;
		size[d] = 1;
	}
	return false;
}

/*
 * Return: the fewest cables that lead out of a box of @n nodes that a job may have, of those that
 * begin at @at unless that is TORUS_NO_NODE; UINT32_MAX: there is no such box.
 */
static uint32_t find_fewest(uint32_t n, uint32_t at)
{
	uint16_t size[TORUS_MAX_DIMS] = { 1, 1, 1, 1, 1, 1 };
	uint32_t fewest = UINT32_MAX;
	bool member[NODES_MAX];

	do {
		uint32_t all = 1, out;

		for (unsigned int d = 0; d < f.table.shape.ndims; d++)
			all *= size[d];
		for (uint32_t from = 0; all == n && from < f.table.nodes; from++) {
			if (at != TORUS_NO_NODE && from != at)
				continue;
			out = mark_box(from, size, member);
			if (out < fewest && may_take(member, from))
				fewest = out;
		}
	} while (next_form(size));
	return fewest;
}

/* Return: true if these nodes are a box that begins at @from. */
static bool is_box_from(uint32_t from, const bool *member)
{
	uint16_t size[TORUS_MAX_DIMS] = { 1, 1, 1, 1, 1, 1 };
	bool box[NODES_MAX];

	do {
		mark_box(from, size, box);
		if (!memcmp(box, member, f.table.nodes * sizeof(*box)))
			return true;
	} while (next_form(size));
	return false;
}

static bool is_box_size(uint32_t n)
{
	uint16_t size[TORUS_MAX_DIMS] = { 1, 1, 1, 1, 1, 1 };

	do {
		uint32_t all = 1;

		for (unsigned int d = 0; d < f.table.shape.ndims; d++)
			all *= size[d];
		if (all == n)
			return true;
	} while (next_form(size));
	return false;
}

/* The text says which numbers of nodes are boxes, or how many nodes are free. */
static void check_why_none(uint32_t n, uint32_t at)
{
	char shape[TORUS_TEXT_MAX], node[TORUS_TEXT_MAX], text[FM_TEXT_MAX];
	uint32_t under = n, over = n, is_free = 0, first = TORUS_NO_NODE;

	torus_shape_text(&f.table.shape, shape);
	if (!is_box_size(n)) {
		while (!is_box_size(under))
			under--;
		while (over <= f.table.nodes && !is_box_size(over))
			over++;
		snprintf(text, sizeof(text), "%u nodes do not form a box of %s: must be, for example, "
			 "%u or %u; --how grow and --list take nodes of any form", n, shape, under, over);
		assert_string_equal(why, text);
		return;
	}
	for (uint32_t i = 0; i < f.table.nodes; i++)
		is_free += !why_taken(i);
	snprintf(text, sizeof(text), "no box of %u free nodes%s%s in %s", n,
		 at == TORUS_NO_NODE ? "" : " begins at ",
		 at == TORUS_NO_NODE ? "" : torus_node_text(&f.table.shape, at, node), shape);
	assert_memory_equal(why, text, strlen(text));
	for (uint32_t i = f.table.nodes; i--;)
		if (why_taken(i) && (i == at || first == TORUS_NO_NODE || first != at))
			first = i;
	if (first == TORUS_NO_NODE)
		snprintf(text, sizeof(text), ": %u nodes are free", is_free);
	else
		snprintf(text, sizeof(text), ": %u node%s free; of the others, node %s %s", is_free,
			 is_free == 1 ? " is" : "s are",
			 torus_node_text(&f.table.shape, first, node), why_taken(first));
	assert_true(strlen(why) > strlen(text));
	assert_string_equal(why + strlen(why) - strlen(text), text);
}

static int by_id(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * The nodes have the order of D(1,m)-addressing, which begins at the first that was found: the lowest
 * one of a list.
 */
static void check_numbers(const uint32_t *node, uint32_t n, bool is_list)
{
	uint16_t closed[NODES_MAX];
	bool member[NODES_MAX] = { false };
	struct torus_health *h;
	struct torus_dm *dm;
	uint32_t begin, same = 0, sorted[NODES_MAX];

	memcpy(sorted, node, n * sizeof(*node));
	qsort(sorted, n, sizeof(*sorted), by_id);
	for (uint32_t i = 0; i < n; i++)
		member[node[i]] = true;
	fm_jobs_close(&f.table, member, closed);
	assert_int_equal(torus_health_new(&f.table.shape, closed, &h), 0);
	for (uint32_t k = 0; k < n && (!k || !is_list); k++) {
		uint32_t equal = 0;

		begin = sorted[k];
		assert_int_equal(torus_dm_new_torus(h, begin, NULL, &dm), 0);
		for (uint32_t i = 0; i < n; i++)
			equal += node[i] == torus_dm_node(dm, torus_dm_number_vertex(dm, i));
		same += equal == n;
		torus_dm_free(dm);
	}
	assert_true(same > 0);
	torus_health_free(h);
}

static void choose(uint64_t *random)
{
	static const struct torus_shape shapes[] = {
		{ 1, { 7, 1, 1, 1, 1, 1 } }, { 2, { 4, 4, 1, 1, 1, 1 } },
		{ 2, { 5, 3, 1, 1, 1, 1 } }, { 3, { 3, 3, 2, 1, 1, 1 } },
		{ 3, { 4, 1, 3, 1, 1, 1 } }, { 4, { 2, 2, 2, 2, 1, 1 } },
	};
	const struct torus_shape *shape = &shapes[random_below(random, 6)];
	uint32_t nodes = torus_nodes(shape), node[NODES_MAX], n, out = 0, fewest;
	struct fm_job_want want = { .how = FM_JOB_BOX, .at = TORUS_NO_NODE };
	bool member[NODES_MAX] = { false };
	int err;

	make_fabric(shape);
	take_nodes(random, random_below(random, 6));
	for (uint32_t k = random_below(random, nodes); k; k--)
		close_cable(random_below(random, nodes), random_below(random, 2u * shape->ndims));
	want.nodes = n = 1 + random_below(random, nodes);
	if (!random_below(random, 3))
		want.at = random_below(random, nodes);
	err = fm_box_choose(&f, &want, node, why);
	fewest = find_fewest(n, want.at);
	if (fewest == UINT32_MAX) {
		assert_int_equal(err, -ENOSPC);
		check_why_none(n, want.at);
	} else {
		assert_int_equal(err, 0);
		for (uint32_t i = 0; i < n; i++)
			member[node[i]] = true;
		assert_true(want.at == TORUS_NO_NODE || is_box_from(want.at, member));
		assert_true(may_take(member, node[0]));
		for (uint32_t i = 0; i < n; i++)
			for (unsigned int p = 0; p < 2u * shape->ndims; p++)
				out += !member[torus_neighbour(shape, node[i], p)];
		assert_int_equal(out, fewest);
		check_numbers(node, n, false);
	}
	free_fabric();
}

static void box_is_the_one_with_fewest_cables_out(void **state)
{
	uint64_t random = random_seed(14);

	(void)state;
	for (unsigned int i = 0; i < 300; i++)
		choose(&random);
}

/* The first node of a list, by its id, that cannot be taken is named, or one that is listed twice. */
static void list(uint64_t *random)
{
	static const struct torus_shape shape = { 2, { 5, 4, 1, 1, 1, 1 } };
	uint32_t asked[20], sorted[20], node[20], n = 1 + random_below(random, 8);
	struct fm_job_want want = { .how = FM_JOB_LIST, .nodes = n, .list = asked };
	uint32_t first = random_below(random, 20);
	char text[FM_TEXT_MAX] = "", a[TORUS_TEXT_MAX], b[TORUS_TEXT_MAX];
	bool member[NODES_MAX] = { false };
	int be = 0, err;

	make_fabric(&shape);
	take_nodes(random, random_below(random, 3));
	for (uint32_t k = random_below(random, 8); k; k--)
		close_cable(random_below(random, 20), random_below(random, 4));
	for (uint32_t i = 0; i < n; i++)	/* mostly a line of nodes, in another order */
		asked[i] = (first + (i * 3 + 1) % n) % 20;
	if (!random_below(random, 6))
		asked[random_below(random, n)] = random_below(random, 20);
	memcpy(sorted, asked, n * sizeof(*asked));
	qsort(sorted, n, sizeof(*sorted), by_id);
	for (uint32_t i = 0; i < n && !be; i++) {
		torus_node_text(&shape, sorted[i], a);
		member[sorted[i]] = true;
		if (i && sorted[i] == sorted[i - 1]) {
			be = -EINVAL;
			snprintf(text, sizeof(text), "node %s is listed twice", a);
		} else if (why_taken(sorted[i])) {
			be = -EBUSY;
			snprintf(text, sizeof(text), "node %s %s", a, why_taken(sorted[i]));
		}
	}
	for (uint32_t i = 1; i < n && !be && !may_take(member, sorted[0]); i++) {
		bool pair[NODES_MAX] = { false };

		memcpy(pair, member, sizeof(pair));
		if (is_joined_to(pair, sorted[0], sorted[i]))
			continue;
		be = -ENOTCONN;
		snprintf(text, sizeof(text), "the nodes %s and %s are not joined by links between nodes "
			 "of the job that work", torus_node_text(&shape, sorted[0], a),
			 torus_node_text(&shape, sorted[i], b));
	}
	err = fm_box_choose(&f, &want, node, why);
	assert_int_equal(err, be);
	if (be)
		assert_string_equal(why, text);
	else
		check_numbers(node, n, true);
	free_fabric();
}

static void list_is_taken_or_its_first_fault_is_named(void **state)
{
	uint64_t random = random_seed(15);

	(void)state;
	for (unsigned int i = 0; i < 800; i++)
		list(&random);
}

/*
 * Without memory no node is taken, and memory is given back. The numbering goes on once: if it cannot
 * make an array smaller.
 */
static void box_without_memory_is_an_error(void **state)
{
	static const struct torus_shape shape = { 2, { 4, 4, 1, 1, 1, 1 } };
	struct fm_job_want want = { .how = FM_JOB_BOX, .nodes = 4, .at = TORUS_NO_NODE };
	uint32_t node[16], n = 0, went_on = 0;
	size_t blocks;
	bool failed;
	int err;

	(void)state;
	make_fabric(&shape);
	blocks = memory_blocks();
	do {
		memory_fails_at(++n);
		err = fm_box_choose(&f, &want, node, why);
		failed = memory_failed();
		went_on += failed && !err;
		assert_true(err == -ENOMEM || (!err && (!failed || went_on == 1)));
		assert_int_equal(memory_blocks(), blocks);
		if (err)
			assert_string_equal(why, n <= 5 ? "no memory to look for a box" :
					    "no memory to number the nodes of the job");
	} while (failed);
	assert_true(n > 7);
	free_fabric();
}

/* All boxes of half the fabric contain a node that has no links. */
static void search_in_a_large_fabric_ends(void **state)
{
	static const struct torus_shape shape = { 3, { 48, 48, 48, 1, 1, 1 } };
	uint32_t nodes = torus_nodes(&shape), *node = calloc(nodes, sizeof(*node));
	struct fm_job_want want = {
		.how = FM_JOB_BOX, .nodes = nodes / 2, .at = TORUS_NO_NODE,
	};

	(void)state;
	make_fabric(&shape);
	for (uint32_t i = 0; i < nodes; i += 97)
		for (unsigned int p = 0; p < 6; p++)
			close_cable(i, p);
	assert_int_equal(fm_box_choose(&f, &want, node, why), -ENOSPC);
	assert_non_null(strstr(why, "is whole, because of links that do not work"));
	assert_non_null(strstr(why, "too many boxes to try all"));
	free_fabric();
	free(node);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(box_is_the_one_with_fewest_cables_out),
		cmocka_unit_test(list_is_taken_or_its_first_fault_is_named),
		cmocka_unit_test(box_without_memory_is_an_error),
		cmocka_unit_test(search_in_a_large_fabric_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
