// SPDX-License-Identifier: GPL-2.0-only
/* Recoveries, parking and replay in a torus whose cables die; rows are in test_table_rows.c. */
#include "tests/unit/fabric.h"
#include "lib/util/times.h"

static struct fabric f;

static void tight(struct fabric *t)
{
	t->params.slots = 4 + rnd_below(&t->r, 12);
	t->params.retry_packets = 1 + rnd_below(&t->r, 64);
	t->max_flits = rnd_below(&t->r, 4) ? 4 : 64;
}

/* --- cables die and come back ---------------------------------------------------- */

static u64 parked_ever(void)
{
	u64 sum = 0;

	for (u32 i = 0; i < f.n; i++)
		sum += tn_nic_counters(f.node[i].nic)[TORUS_NC_PARKED];
	return sum;
}

static u64 counters(enum torus_node_counter which)
{
	u64 sum = 0;

	for (u32 i = 0; i < f.n; i++)
		sum += tn_nic_counters(f.node[i].nic)[which];
	return sum;
}

static void random_cable(u32 *node, unsigned int *port)
{
	*node = rnd_below(&f.r, f.n);
	do {
		*port = rnd_below(&f.r, f.nports);
	} while (!fabric_wired(&f, *port));
}

static const char *const shapes[] = { "4x4", "3x3x2", "2x2x2", "5x2", "2x1x4", "2x2x2x2" };

/* One cable is unplugged under traffic, and plugged in later: no packet is lost or reordered. */
static void one_cut(uint64_t seed)
{
	unsigned int port;
	u32 node;

	fabric_start_tuned(&f, seed, shapes[seed % ARRAY_SIZE(shapes)], tight);
	f.load = 2 + rnd_below(&f.r, 3);
	f.busy_host = rnd_below(&f.r, 2) ? 4 : 0;
	fabric_run(&f, 2 * MS);
	random_cable(&node, &port);
	fabric_carrier(&f, node, port, false);
	fabric_run(&f, rnd_below(&f.r, MS));
	fabric_recover(&f, 3000 * MS);
	fabric_run(&f, 2 * MS);
	fabric_carrier(&f, node, port, true);
	fabric_run(&f, 30 * MS);
	fabric_recover(&f, 3000 * MS);
	fabric_run(&f, MS);
	fabric_settle(&f, 5000 * MS);
	expect(&f.r, !f.returned && !counters(TORUS_NC_LOST) && !counters(TORUS_NC_DUPLICATES),
	       "lost %llu, duplicates %llu", (unsigned long long)counters(TORUS_NC_LOST),
	       (unsigned long long)counters(TORUS_NC_DUPLICATES));
	fabric_end(&f);
}

static void one_cut_under_traffic_loses_no_packet(void **state)
{
	(void)state;
	for_seeds(60, one_cut);
}

/* Cables fail and return at any moment; recoveries overlap. */
static void many_cuts(uint64_t seed)
{
	u32 node[2];
	unsigned int port[2];
	bool down[2] = { false, false };
	u64 parked;

	fabric_start_tuned(&f, seed, seed % 2 ? "4x4" : "3x3x2", tight);
	f.load = 3;
	fabric_run(&f, MS);
	for (int round = 0; round < 4; round++) {
		unsigned int k = rnd_below(&f.r, 2);

		if (!down[k])
			random_cable(&node[k], &port[k]);
		down[k] = !down[k];
		fabric_carrier(&f, node[k], port[k], !down[k]);
		fabric_run(&f, rnd_below(&f.r, 3 * MS));
		/* Some recoveries are interrupted and begun again. */
		if (rnd_below(&f.r, 3))
			fabric_recover(&f, 4000 * MS);
	}
	for (int k = 0; k < 2; k++) {
		if (down[k])
			fabric_carrier(&f, node[k], port[k], true);
	}
	parked = parked_ever();
	fabric_run(&f, 30 * MS);
	fabric_recover(&f, 4000 * MS);
	expect(&f.r, parked_ever() >= parked, "monotone");
	fabric_settle(&f, 5000 * MS);
	expect(&f.r, !f.returned && !counters(TORUS_NC_LOST), "lost");
	fabric_end(&f);
}

static void many_cuts_under_traffic_lose_no_packet(void **state)
{
	(void)state;
	for_seeds(60, many_cuts);
}

static void soon_silent(struct fabric *t)
{
	tight(t);
	t->params.keepalive = 10 * MS;
	t->params.silence = 35 * MS;
	t->params.probe_interval = 10 * MS;
}

/* The link ends by silence, not by carrier: RETRY buffers are full when it is given up. */
static void silence_one(uint64_t seed)
{
	unsigned int port;
	u32 node;

	fabric_start_tuned(&f, seed, "4x2", soon_silent);
	f.load = 4;
	fabric_run(&f, 2 * MS);
	random_cable(&node, &port);
	fabric_silence(&f, node, port, true);
	fabric_run(&f, 50 * MS);
	expect(&f.r, f.node[node].nic->link[port].state == TORUS_LINK_FAULTY, "faulty");
	fabric_recover(&f, 3000 * MS);
	fabric_silence(&f, node, port, false);
	fabric_run(&f, 15 * MS);
	fabric_recover(&f, 3000 * MS);
	fabric_settle(&f, 5000 * MS);
	expect(&f.r, !f.returned && !counters(TORUS_NC_LOST) && !counters(TORUS_NC_DUPLICATES),
	       "lost");
	fabric_end(&f);
}

static void silent_link_under_traffic_loses_no_packet(void **state)
{
	(void)state;
	for_seeds(6, silence_one);
}

/* --- parking ----------------------------------------------------------------------- */

static void small_park(struct fabric *t)
{
	tight(t);
	t->params.payload_max = TN_PAYLOAD_MIN;
	t->params.park_bytes = 40 * 6 * TN_FLIT;
	t->max_flits = 4;
	t->queue = TN_INJECT_MAX;
}

/* The parking segment is full: senders wait, and no packet is dropped. */
static void full_one(uint64_t seed)
{
	fabric_start_tuned(&f, seed, "4", small_park);
	f.load = 2;
	fabric_run(&f, MS);
	fabric_carrier(&f, 0, 0, false);
	fabric_carrier(&f, 2, 0, false);
	fabric_run(&f, 40 * MS);
	for (u32 i = 0; i < f.n; i++) {
		const struct tn_park *p = &f.node[i].nic->park;

		/* RETRY buffers are parked whether there is room or not. */
		expect(&f.r, p->bytes <= p->bytes_max +
		       2ull * f.params.retry_packets * 6 * TN_FLIT, "%llu bytes parked",
		       (unsigned long long)p->bytes);
	}
	expect(&f.r, f.node[0].nic->park.full, "full");
	expect(&f.r, !tn_nic_room(f.node[0].nic, 1, TORUS_VC_D0), "room behind a full segment");
	if (rnd_below(&f.r, 2)) {	/* the other way round, which is not cut */
		fabric_carrier(&f, 2, 0, true);
	} else {
		fabric_carrier(&f, 0, 0, true);
		fabric_carrier(&f, 2, 0, true);
	}
	f.load = 1000000000;
	fabric_run(&f, 30 * MS);
	fabric_recover(&f, 4000 * MS);
	fabric_settle(&f, 5000 * MS);
	expect(&f.r, !f.returned && !counters(TORUS_NC_LOST), "lost");
	fabric_end(&f);
}

static void full_parking_segment_loses_no_packet(void **state)
{
	(void)state;
	for_seeds(10, full_one);
}

static void wrong_parking_commands_are_refused(void **state)
{
	struct tn_park_info info;
	struct tn_nic *nic;

	(void)state;
	fabric_start(&f, 1, "3");
	nic = f.node[0].nic;
	f.load = 3;
	fabric_run(&f, 2 * MS);
	f.load = 1000000000;
	fabric_carrier(&f, 0, 0, false);
	fabric_run(&f, 10 * MS);
	assert_true(nic->link[0].closed);
	assert_int_equal(tn_nic_park_replay(nic, f.version + 1, 1, f.now), -ESTALE);
	assert_int_equal(tn_nic_park_resolve(nic, f.nports, 1, 0, false), -EINVAL);
	tn_nic_park_info(nic, &info);
	assert_int_equal(info.bytes_max, f.params.park_bytes);
	if (info.unresolved)
		assert_int_equal(tn_nic_park_replay(nic, f.version, 1, f.now), -EBUSY);
	fabric_recover(&f, 1000 * MS);
	tn_nic_park_info(nic, &info);
	assert_int_equal(info.parked, 0);
	assert_int_equal(info.bytes, 0);
	fabric_settle(&f, 1000 * MS);
	fabric_end(&f);
}

/* --- unreachable -------------------------------------------------------------------- */

/*
 * A node is cut off: packets for it come back, all other traffic continues. Only packets that are
 * inside the lone node on their way between others can neither go on nor go back; they are counted
 * there.
 */
static void cut_off(uint64_t seed)
{
	u32 lone;
	u64 back = 0, inside = 0;

	fabric_start_tuned(&f, seed, "3x3", tight);
	f.lossy = true;		/* returned packets leave gaps in their flows */
	f.load = 3;
	fabric_run(&f, 2 * MS);
	lone = rnd_below(&f.r, f.n);
	for (unsigned int p = 0; p < f.nports; p++)
		fabric_carrier(&f, lone, p, false);
	fabric_run(&f, MS);
	fabric_recover(&f, 4000 * MS);
	fabric_run(&f, 2 * MS);
	f.load = 0;
	fabric_run(&f, 50 * MS);
	for (u32 i = 0; i < f.n * f.n; i++) {
		u32 src = i / f.n, dst = i % f.n;
		const struct traffic *t = &f.traffic[i];

		if (src == lone || dst == lone) {
			back += t->back[0] + t->back[1] + t->back[2];
			continue;
		}
		for (int vc = 0; vc < TORUS_VCS; vc++)
			expect(&f.r, t->got[vc] <= t->sent[vc] && !t->back[vc],
			       "%u -> %u, VC %d: sent %u, got %u", src, dst, vc, t->sent[vc],
			       t->got[vc]);
		inside += t->sent[2] - t->got[2];
		for (int vc = 0; vc < 2; vc++)
			inside += t->sent[vc] - t->arrived[vc];
	}
	expect(&f.r, inside <= tn_nic_counters(f.node[lone].nic)[TORUS_NC_UNREACHABLE],
	       "%llu packets went amiss", (unsigned long long)inside);
	expect(&f.r, back && f.returned == back, "returned %llu", (unsigned long long)back);
	expect(&f.r, counters(TORUS_NC_RETURNED) <= f.returned, "counted");
	expect(&f.r, counters(TORUS_NC_UNREACHABLE) >= back, "counted");
	/* The node is cabled again: flows to it begin new numberings. */
	for (unsigned int p = 0; p < f.nports; p++)
		fabric_carrier(&f, lone, p, true);
	fabric_run(&f, 50 * MS);
	fabric_recover(&f, 4000 * MS);
	back = f.delivered;
	f.load = 3;
	fabric_run(&f, 2 * MS);
	expect(&f.r, f.delivered > back + 50, "traffic again");
	fabric_end(&f);
}

static void packets_to_cut_off_node_come_back(void **state)
{
	(void)state;
	for_seeds(20, cut_off);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(one_cut_under_traffic_loses_no_packet),
		cmocka_unit_test(many_cuts_under_traffic_lose_no_packet),
		cmocka_unit_test(silent_link_under_traffic_loses_no_packet),
		cmocka_unit_test(full_parking_segment_loses_no_packet),
		cmocka_unit_test(wrong_parking_commands_are_refused),
		cmocka_unit_test(packets_to_cut_off_node_come_back),
	};

	return cmocka_run_group_tests_name("table", all, NULL, NULL);
}
