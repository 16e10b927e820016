// SPDX-License-Identifier: GPL-2.0-only
/*
 * NICs as relays: tori in which every hop of every packet ends in the memory of a
 * relay, and broken ones in which some pairs need relays.
 */
#include <stdio.h>
#include <torus/route.h>
#include <torus/topology.h>
#include "tests/unit/fabric.h"

#define MS 1000000ull

static struct fabric f;

/* --- every node a relay ---------------------------------------------------------- */

/* Each destination two or more hops away by a relay one hop nearer. */
static void hop_by_hop(struct fabric *t, u32 node, uint64_t *rows)
{
	struct torus_coords at, to;

	torus_node_coords(&t->shape, node, &at);
	for (u32 i = 0; i < t->n; i++) {
		uint32_t dist = torus_distance(&t->shape, node, i), way[TORUS_MAX_PORTS];
		unsigned int n = 0;

		if (dist < 2)
			continue;
		torus_node_coords(&t->shape, i, &to);
		for (unsigned int p = 0; p < t->nports; p++) {
			uint32_t next = torus_neighbour(&t->shape, node, p);

			if (next != node && torus_distance(&t->shape, next, i) < dist)
				way[n++] = next;
		}
		n = way[rnd_below(&t->r, n)];
		rows[i] = (rows[n] & ~(TORUS_ROW_ADAPTIVE | TORUS_ROW_RELAY |
				       TORUS_ROW_NODE_MASK << TORUS_ROW_RELAY_SHIFT)) |
			  TORUS_ROW_RELAY | (u64)n << TORUS_ROW_RELAY_SHIFT;
	}
}

static void tight(struct fabric *t)
{
	t->params.slots = 4;
	t->params.retry_packets = 1 + rnd_below(&t->r, 16);
	fabric_vary_packets(t);
	t->params.relay_packets = rnd_below(&t->r, 3) ? 1 + rnd_below(&t->r, 200) : 1;
	t->params.hold_bytes = 2000;
	t->max_flits = rnd_below(&t->r, 8) ? 4 : t->params.payload_max / TN_FLIT;
	t->reroute = hop_by_hop;
}

static u64 counted(enum torus_node_counter c)
{
	u64 sum = 0;

	for (u32 i = 0; i < f.n; i++)
		sum += tn_nic_counters(f.node[i].nic)[c];
	return sum;
}

static void saturate(uint64_t seed, const char *shape, u64 ns)
{
	fabric_start_tuned(&f, seed, shape, tight);
	f.load = 2 + rnd_below(&f.r, 2);
	f.busy_host = rnd_below(&f.r, 2) ? 3 : 0;
	for (int i = 0; i < 4; i++) {
		u64 before = f.delivered;

		fabric_run(&f, ns / 4);
		expect(&f.r, f.delivered > before, "%s: nothing moves", shape);
	}
	fabric_settle(&f, 60000 * MS);
	expect(&f.r, counted(TORUS_NC_RELAY_FORWARDED) && !f.returned && !fabric_parked(&f),
	       "%s", shape);
	expect(&f.r, counted(TORUS_NC_RELAYED_TX) && !counted(TORUS_NC_LOST), "%s: counters",
	       shape);
	for (u32 i = 0; i < f.n; i++) {
		u64 until = f.now + 2000 * MS;

		while (f.node[i].nic->relay.out) {
			fabric_step(&f);
			expect(&f.r, f.now < until, "window of node %u stays shut", i);
		}
	}
	fabric_end(&f);
}

static const char *shape_now;

static void saturate_one(uint64_t seed)
{
	saturate(seed, shape_now, 12 * MS);
}

static void test_saturation(void **state)
{
	static const char *const s[] = { "4", "5", "2x2", "3x3", "2x2x2", "4x4", "1x6", "2x5" };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(s); i++) {
		shape_now = s[i];
		for_seeds(3, saturate_one);
	}
}

/* --- broken fabrics -------------------------------------------------------------- */

static void small_memory(struct fabric *t)
{
	t->params.slots = 4;
	t->params.relay_packets = 1 + rnd_below(&t->r, 100);
	t->params.hold_bytes = 2000;
	t->relays = true;
}

static bool joined(void)
{
	bool seen[64] = { true }, more = true;
	u32 n = 0;

	while (more) {
		more = false;
		for (u32 i = 0; i < f.n; i++) {
			for (unsigned int p = 0; p < f.nports; p++) {
				u32 to = torus_neighbour(&f.shape, i, p);

				if (!seen[i] || seen[to] || f.node[i].out[p].cut)
					continue;
				seen[to] = more = true;
			}
		}
	}
	for (u32 i = 0; i < f.n; i++)
		n += seen[i];
	return n == f.n;
}

static void turn_cable(u32 node, unsigned int port, bool up)
{
	if (!fabric_wired(&f, port) || up != f.node[node].out[port].cut)
		return;
	fabric_carrier(&f, node, port, up);
	if (!joined())
		fabric_carrier(&f, node, port, true);
}

/*
 * Cables go down and come back. Whatever is down, a way is left between any two nodes,
 * so that all must arrive, in order; nothing may come back.
 */
static u64 relayed;

static void broken_one(uint64_t seed)
{
	fabric_start_tuned(&f, seed, shape_now, small_memory);
	f.load = 4;
	for (int round = 0; round < 4; round++) {
		bool heal = round == 3;

		fabric_run(&f, 2 * MS);
		for (u32 i = 0; i < f.n; i++) {
			for (unsigned int p = 0; p < f.ndims; p++) {
				turn_cable(i, p, heal || rnd_below(&f.r, 10) < 5);
			}
		}
		fabric_run(&f, (1 + rnd_below(&f.r, 40)) * MS / 2);
		fabric_recover(&f, 60000 * MS);
	}
	fabric_run(&f, 5 * MS);
	fabric_settle(&f, 60000 * MS);
	expect(&f.r, !f.returned && !counted(TORUS_NC_LOST), "%s: lost", shape_now);
	relayed += counted(TORUS_NC_RELAY_FORWARDED);
	fabric_end(&f);
}

static void test_broken(void **state)
{
	static const char *const s[] = { "3x3", "2x2x2", "4x4", "5x2" };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(s); i++) {
		shape_now = s[i];
		for_seeds(10, broken_one);
	}
	printf("%llu packets relayed\n", (unsigned long long)relayed);
	assert_true(relayed > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
