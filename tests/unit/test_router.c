// SPDX-License-Identifier: GPL-2.0-only
/* Tori at saturation: no deadlock, no loss, packets in order, bubbles kept. */
#include "tests/unit/fabric.h"
#include "lib/util/times.h"

static struct fabric f;

static void tight(struct fabric *t)
{
	t->params.slots = 4;
	t->params.retry_packets = 1 + rnd_below(&t->r, 16);
	fabric_vary_packets(t);
	t->max_flits = rnd_below(&t->r, 4) ? 4 : t->params.payload_max / TN_FLIT;
}

/* Offers more packets than the torus can carry, with the smallest number of buffers. */
static void saturate(uint64_t seed, const char *shape, u64 ns)
{
	fabric_start_tuned(&f, seed, shape, tight);
	f.load = 1 + rnd_below(&f.r, 3);
	if (f.load == 1)
		f.load = 2;
	f.busy_host = rnd_below(&f.r, 2) ? 3 : 0;
	fabric_run(&f, ns);
	fabric_settle(&f, 20000 * MS);
	expect(&f.r, f.delivered > 0 && !f.returned && !fabric_parked(&f), "%s", shape);
	fabric_end(&f);
}

static const char *shape_now;
static u64 ns_now;

static void saturate_one(uint64_t seed)
{
	saturate(seed, shape_now, ns_now);
}

static void shapes(const char *const *shape, unsigned int n, unsigned int seeds, u64 ns)
{
	for (unsigned int i = 0; i < n; i++) {
		shape_now = shape[i];
		ns_now = ns;
		for_seeds(seeds, saturate_one);
	}
}

static void rings_deliver_each_packet_once(void **state)
{
	static const char *const s[] = { "2", "3", "8", "1x5", "13" };

	(void)state;
	shapes(s, ARRAY_SIZE(s), 10, 60 * MS);
}

static void planes_deliver_each_packet_once(void **state)
{
	static const char *const s[] = { "2x2", "4x4", "3x1x5", "2x7", "6x6" };

	(void)state;
	shapes(s, ARRAY_SIZE(s), 5, 30 * MS);
}

static void cubes_deliver_each_packet_once(void **state)
{
	static const char *const s[] = { "2x2x2", "3x3x3", "4x3x2", "4x4x4" };

	(void)state;
	shapes(s, ARRAY_SIZE(s), 3, 15 * MS);
}

static void six_dimensions_deliver_each_packet_once(void **state)
{
	static const char *const s[] = { "2x2x2x2x2x2", "3x2x1x2x1x3", "1x1x1x1x1x4" };

	(void)state;
	shapes(s, ARRAY_SIZE(s), 3, 10 * MS);
}

/* All nodes send to one node, whose host is slow. */
static void hot_spot_loses_no_packet(void **state)
{
	(void)state;
	fabric_start_tuned(&f, 3, "4x4", tight);
	f.busy_host = 20;
	f.load = 2;
	for (int i = 0; i < 40; i++) {
		f.node[5].frozen = i % 4 != 0;
		fabric_run(&f, MS / 4);
	}
	f.node[5].frozen = false;
	fabric_settle(&f, 20000 * MS);
	fabric_end(&f);
}

/* A single node is a torus too: it sends to itself. */
static void single_node_sends_to_itself(void **state)
{
	(void)state;
	fabric_start(&f, 1, "1");
	f.load = 2;
	fabric_run(&f, 2 * MS);
	fabric_settle(&f, 10 * MS);
	assert_true(f.delivered > 50);
	fabric_end(&f);
}

static void lossy_one(uint64_t seed)
{
	fabric_start_tuned(&f, seed, "3x3x2", tight);
	for (u32 i = 0; i < f.n; i++) {
		for (unsigned int p = 0; p < f.nports; p++) {
			f.node[i].out[p].lose = rnd_below(&f.r, 2) ? 30 : 0;
			f.node[i].out[p].damage = rnd_below(&f.r, 2) ? 30 : 0;
		}
	}
	f.load = 3;
	fabric_run(&f, 40 * MS);
	for (u32 i = 0; i < f.n; i++) {
		for (unsigned int p = 0; p < f.nports; p++)
			f.node[i].out[p].lose = f.node[i].out[p].damage = 0;
	}
	fabric_settle(&f, 20000 * MS);
	fabric_end(&f);
}

/* Bad cables everywhere cause delays, but no loss. */
static void lossy_cables_lose_no_packet(void **state)
{
	(void)state;
	for_seeds(4, lossy_one);
}

static u64 waited(u32 node, unsigned int port)
{
	struct tn_link_info info;

	tn_nic_link_info(f.node[node].nic, port, &info, f.now);
	return info.gauge[TORUS_PG_WAITED];
}

static u64 waited_most(void)
{
	u64 most = 0;

	for (u32 node = 0; node < f.n; node++) {
		for (unsigned int port = 0; port < f.nports; port++)
			if (waited(node, port) > most)
				most = waited(node, port);
	}
	return most;
}

static void often_alive(struct fabric *t)
{
	tight(t);
	t->params.keepalive = 10 * MS;
	t->params.silence = 35 * MS;
}

/*
 * Hosts that take no packet for longer than silence: traffic stops, links stay up and report how
 * long they have waited; when the hosts take packets again, all packets arrive and no link waits.
 */
static void wait_long(uint64_t seed)
{
	fabric_start_tuned(&f, seed, "3", often_alive);
	f.load = 2;
	f.busy_host = 1;
	fabric_run(&f, 60 * MS);
	expect(&f.r, waited_most() > 40 * MS, "%llu ns", (unsigned long long)waited_most());
	for (u32 node = 0; node < f.n; node++) {
		for (unsigned int port = 0; port < f.nports; port++)
			expect(&f.r, waited(node, port) <= 60 * MS, "no more than there was");
	}
	f.busy_host = 0;
	fabric_settle(&f, 20000 * MS);
	expect(&f.r, !waited_most() && !fabric_parked(&f) && !f.returned, "nobody waits");
	fabric_end(&f);
}

static void packets_that_wait_long_are_delivered(void **state)
{
	(void)state;
	for_seeds(2, wait_long);
}

/* Packets for a peer that frees no buffer are parked when the link is taken down. */
static void give_up(uint64_t seed)
{
	fabric_start_tuned(&f, seed, "5", tight);
	f.load = 2;
	f.busy_host = 1;
	fabric_run(&f, 20 * MS);
	for (u32 node = 0; node < f.n; node++)
		for (unsigned int port = 0; port < f.nports; port++)
			tn_nic_admin(f.node[node].nic, port, false, f.now);
	fabric_run(&f, 10 * MS);
	expect(&f.r, !waited_most() && fabric_parked(&f), "parked, and nobody waits");
	fabric_end(&f);
}

static void packets_without_buffers_are_parked_when_link_is_down(void **state)
{
	(void)state;
	for_seeds(2, give_up);
}

/*
 * All cables from x=1 to x=2 are cut. Each node of x=1 sends more on VCA than a buffer holds to
 * the one that is one step along x and two along y away: these fill all buffers of the ring along
 * y, and have two more steps to go, of which the escape is dead. They must not wait for each
 * other; those that are parked are replayed by the new tables.
 */
static void circle(uint64_t seed)
{
	fabric_start_tuned(&f, seed, "3x5", tight);
	for (u32 y = 0; y < 5; y++)
		fabric_carrier(&f, 1 + 3 * y, 0, false);
	for (u32 i = 0; i < 5 * 8; i++)
		fabric_send(&f, 1 + 3 * (i % 5), 2 + 3 * ((i + 2) % 5), TORUS_VC_A);
	fabric_run(&f, MS);
	fabric_recover(&f, 1000 * MS);
	fabric_settle(&f, 1000 * MS);
	expect(&f.r, f.delivered == 5 * 8 && !fabric_parked(&f), "%llu arrived",
	       (unsigned long long)f.delivered);
	fabric_end(&f);
}

static void packets_with_dead_escape_do_not_wait_in_circle(void **state)
{
	(void)state;
	for_seeds(8, circle);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(single_node_sends_to_itself),
		cmocka_unit_test(rings_deliver_each_packet_once),
		cmocka_unit_test(planes_deliver_each_packet_once),
		cmocka_unit_test(cubes_deliver_each_packet_once),
		cmocka_unit_test(six_dimensions_deliver_each_packet_once),
		cmocka_unit_test(hot_spot_loses_no_packet),
		cmocka_unit_test(lossy_cables_lose_no_packet),
		cmocka_unit_test(packets_that_wait_long_are_delivered),
		cmocka_unit_test(packets_without_buffers_are_parked_when_link_is_down),
		cmocka_unit_test(packets_with_dead_escape_do_not_wait_in_circle),
	};

	return cmocka_run_group_tests_name("router", all, NULL, NULL);
}
