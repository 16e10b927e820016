// SPDX-License-Identifier: GPL-2.0-only
/*
 * The nodes that exclusions would cut off, by itself: random fabrics with dead, silent and excluded
 * nodes, lost and damped cables, records that are newer than the table, and jobs, compared with a
 * model that walks from node to node.
 */
#include <errno.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/guard.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/service.h"
#include "daemon/fm/status.h"

#define NODES	20
#define JOBS	3
#define TARGETS	6

static struct fm_root root;
static struct fm fm = { .root = &root };
static struct fm_entry entry[NODES];
static struct fm_record record[NODES];
static bool has_record[NODES], is_out[NODES];
static uint16_t admin[NODES];
static struct fm_seat seat[NODES];
static struct fm_job job[JOBS];
static struct torus_shape shape;
static uint32_t nodes;
static unsigned int ports;

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	(void)r;
	assert_true(node < nodes);
	return has_record[node] ? &record[node] : NULL;
}

bool fm_service_is_out(const struct fm *f, uint32_t node)
{
	(void)f;
	assert_true(node < nodes);
	return is_out[node];
}

/* --- the model -------------------------------------------------------------------------------- */

static uint16_t closed[2][NODES];
static bool gone[NODES];
static uint32_t part[2][NODES];		/* the lowest node of the part that a node is in */
static uint32_t size[2][NODES];

static bool lives(uint8_t state)
{
	return state == FM_NODE_UP || state == FM_NODE_SILENT;
}

static bool has_nic(uint32_t node)
{
	return lives(has_record[node] ? record[node].state : entry[node].state);
}

static bool is_closed(uint32_t node, unsigned int p)
{
	uint32_t o = torus_neighbour(&shape, node, p);
	bool known = lives(entry[node].state) && lives(entry[o].state);

	return !has_nic(node) || (entry[node].wiring | admin[node]) >> p & 1 ||
	       (known ? entry[node].fault : entry[node].held) >> p & 1 ||
	       (has_record[node] && record[node].row.port[p].state != FM_PORT_UP);
}

/* Gives all nodes that are joined to the node the part @to. */
static void walk(const uint16_t *out, uint32_t node, uint32_t *of, uint32_t to)
{
	of[node] = to;
	for (unsigned int p = 0; p < ports; p++) {
		uint32_t o = torus_neighbour(&shape, node, p);

		if (!(out[node] >> p & 1) && !(out[o] >> torus_dir_opposite(&shape, p) & 1) &&
		    of[o] == TORUS_NO_NODE)
			walk(out, o, of, to);
	}
}

static void find_parts(const uint16_t *out, uint32_t *of)
{
	memset(of, 0xff, nodes * sizeof(*of));
	for (uint32_t i = 0; i < nodes; i++)
		if (of[i] == TORUS_NO_NODE)
			walk(out, i, of, i);
}

static uint32_t parts_of_job(const uint16_t *out, uint16_t id)
{
	uint16_t inside[NODES];
	uint32_t of[NODES], n = 0;
	bool met[NODES] = { false };

	for (uint32_t i = 0; i < nodes; i++) {
		inside[i] = out[i];
		for (unsigned int p = 0; p < ports; p++)
			if (seat[torus_neighbour(&shape, i, p)].job != seat[i].job)
				inside[i] |= (uint16_t)(1u << p);
	}
	find_parts(inside, of);
	for (uint32_t i = 0; i < nodes; i++)
		if (seat[i].job == id && !gone[i] && !met[of[i]]) {
			met[of[i]] = true;
			n++;
		}
	return n;
}

/* Return: the largest part after the exclusion that has nodes of the part @was; of equals the first. */
static uint32_t largest(uint32_t was)
{
	uint32_t best = TORUS_NO_NODE;

	for (uint32_t i = 0; i < nodes; i++)
		if (part[0][i] == was &&
		    (best == TORUS_NO_NODE || size[1][part[1][i]] > size[1][best]))
			best = part[1][i];
	return best;
}

static struct fm_severed naive(const struct fm_target *end, uint32_t n)
{
	struct fm_severed s = { .nodes = 0 };

	memset(size, 0, sizeof(size));
	for (uint32_t i = 0; i < nodes; i++) {
		gone[i] = !has_nic(i) || is_out[i];
		closed[0][i] = 0;
		for (unsigned int p = 0; p < ports; p++)
			closed[0][i] |= (uint16_t)(is_closed(i, p) << p);
		closed[1][i] = closed[0][i];
	}
	for (uint32_t i = 0; i < n; i++) {
		if (end[i].port >= 0) {
			closed[1][end[i].node] |= (uint16_t)(1u << end[i].port);
			continue;
		}
		closed[1][end[i].node] = (uint16_t)((1u << ports) - 1);
		s.went += !gone[end[i].node];
		gone[end[i].node] = true;
	}
	for (int k = 0; k < 2; k++) {
		find_parts(closed[k], part[k]);
		for (uint32_t i = 0; i < nodes; i++)
			size[k][part[k][i]] += !gone[i];
	}
	for (uint32_t i = 0; i < nodes; i++) {
		if (gone[i])
			continue;
		s.left++;
		s.pairs += size[0][part[0][i]] - size[1][part[1][i]];
		if (part[1][i] == largest(part[0][i]))
			continue;
		if (s.nodes < FM_SEVERED_MAX)
			s.node[s.nodes] = i;
		s.nodes++;
	}
	for (uint32_t k = 0; k < root.jobs.n && !s.job; k++) {
		uint32_t is = parts_of_job(closed[1], job[k].id);

		if (is > 1 && is > parts_of_job(closed[0], job[k].id)) {
			s.job = &job[k];
			s.parts = is;
		}
	}
	return s;
}

/* --- random fabrics ----------------------------------------------------------------------- */

static uint16_t random_ports(struct rnd *r, uint32_t rarely)
{
	return (uint16_t)(rnd_one_in(r, rarely) ? 1u << rnd_below(r, ports) : 0);
}

static void make_node(struct rnd *r, uint32_t i, uint32_t rarely)
{
	static const uint8_t states[] = { FM_NODE_UP, FM_NODE_SILENT, FM_NODE_DEAD, FM_NODE_JOINING,
					  FM_NODE_ABSENT };

	entry[i] = (struct fm_entry) { .state = FM_NODE_UP, .fault = random_ports(r, rarely),
				       .held = random_ports(r, rarely),
				       .wiring = random_ports(r, 2 * rarely) };
	record[i] = (struct fm_record) { .state = FM_NODE_UP, .node = i };
	if (rnd_one_in(r, 6))
		entry[i].state = states[rnd_below(r, 5)];
	if (rnd_one_in(r, 6))
		record[i].state = states[rnd_below(r, 5)];
	has_record[i] = !rnd_one_in(r, 4);
	is_out[i] = rnd_one_in(r, 10);
	admin[i] = random_ports(r, rarely);
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		record[i].row.port[p].state = FM_PORT_UP;
	if (rnd_one_in(r, rarely))
		record[i].row.port[rnd_below(r, ports)].state = FM_PORT_FAULTY;
	seat[i].job = (uint16_t)(rnd_one_in(r, 3) ? 0 : job[rnd_below(r, JOBS)].id);
}

static void make_fabric(struct rnd *r)
{
	static const char *const shapes[] = { "20", "4x4", "3x2x3", "5x4", "2", "6" };
	uint32_t rarely = 2 + rnd_below(r, 8);

	torus_shape_parse(shapes[rnd_below(r, 6)], &shape);
	nodes = torus_nodes(&shape);
	ports = 2u * shape.ndims;
	fm.ndims = shape.ndims;
	fm.table.shape = shape;
	fm.table.nodes = nodes;
	fm.table.entry = entry;
	root.admin = admin;
	root.seat = seat;
	root.jobs = (struct fm_jobs) { .of = job, .n = rnd_one_in(r, 3) ? 0 : JOBS };
	for (unsigned int k = 0; k < JOBS; k++)
		job[k].id = (uint16_t)(k ? job[k - 1].id + 1 + rnd_below(r, 3) : 1 + rnd_below(r, 2));
	if (rnd_one_in(r, 4))
		job[JOBS - 1].id = FM_JOBS_MAX;
	for (uint32_t i = 0; i < nodes; i++)
		make_node(r, i, rarely);
}

static uint32_t make_targets(struct rnd *r, struct fm_target *end)
{
	uint32_t n = rnd_below(r, TARGETS);

	for (uint32_t i = 0; i < n; i++)
		end[i] = (struct fm_target) {
			.node = rnd_below(r, nodes),
			.port = rnd_one_in(r, 3) ? -1 : (int)rnd_below(r, ports),
		};
	return n;
}

static void exclude(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_target end[TARGETS];
	struct fm_severed want, got;
	uint32_t n;

	make_fabric(&r);
	memory_guard(seed % 16 == 1);
	n = make_targets(&r, end);
	want = naive(end, n);
	memset(&got, 0xee, sizeof(got));
	assert_int_equal(fm_guard_look(&fm, end, n, &got), 0);
	expect(&r, got.nodes == want.nodes && got.pairs == want.pairs, "%u nodes, %u pairs, not %u, %u",
	       got.nodes, (uint32_t)got.pairs, want.nodes, (uint32_t)want.pairs);
	for (uint32_t i = 0; i < want.nodes && i < FM_SEVERED_MAX; i++)
		expect(&r, got.node[i] == want.node[i], "%u, not %u", got.node[i], want.node[i]);
	expect(&r, got.went == want.went && got.left == want.left, "%u went, %u are left, not %u, %u",
	       got.went, got.left, want.went, want.left);
	expect(&r, got.job == want.job && got.parts == want.parts, "%u parts, not %u", got.parts,
	       want.parts);
	memory_guard(false);
}

static void exclusions_sever_as_in_model(void **state)
{
	(void)state;
	for_seeds(4000, exclude);
}

static void lack_of_memory_is_reported(void **state)
{
	struct fm_target end[TARGETS];
	struct fm_severed got;
	struct rnd r = rnd_new(3);
	size_t blocks = memory_blocks();
	unsigned int k = 0;
	int err;

	(void)state;
	do
		make_fabric(&r);
	while (!root.jobs.n);
	do {
		memory_fails_at(++k);
		err = fm_guard_look(&fm, end, make_targets(&r, end), &got);
		assert_int_equal(err, memory_failed() ? -ENOMEM : 0);
		assert_int_equal(memory_blocks(), blocks);
	} while (err);
	assert_true(k > 12);		/* it has six arrays, and more for parts and jobs */
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(exclusions_sever_as_in_model),
		cmocka_unit_test(lack_of_memory_is_reported),
	};

	return cmocka_run_group_tests_name("fm_severs", all, NULL, NULL);
}
