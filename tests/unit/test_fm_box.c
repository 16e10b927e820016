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

/* Return: true if the nodes are free, and their own cables join them. */
static bool may_take(const bool *member, uint32_t first)
{
	struct torus_health *h;
	uint16_t closed[NODES_MAX];
	bool may = true;

	fm_jobs_close(&f.table, member, closed);
	assert_int_equal(torus_health_new(&f.table.shape, closed, &h), 0);
	for (uint32_t i = 0; i < f.table.nodes; i++)
		may &= !member[i] || (!of.seat[i].job && torus_health_component(h, i) ==
				      torus_health_component(h, first));
	torus_health_free(h);
	return may;
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
	for (uint32_t k = random_below(random, 6); k; k--)
		of.seat[random_below(random, nodes)].job = 1;
	for (uint32_t k = random_below(random, nodes); k; k--)
		close_cable(random_below(random, nodes), random_below(random, 2u * shape->ndims));
	want.nodes = n = 1 + random_below(random, nodes);
	if (!random_below(random, 3))
		want.at = random_below(random, nodes);
	err = fm_box_choose(&f, &want, node, why);
	fewest = find_fewest(n, want.at);
	if (fewest == UINT32_MAX) {
		assert_int_equal(err, -ENOSPC);
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
		cmocka_unit_test(search_in_a_large_fabric_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
