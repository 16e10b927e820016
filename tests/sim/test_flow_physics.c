// SPDX-License-Identifier: GPL-2.0-only
/*
 * Properties that any right flow simulator has: latency without load, limits of throughput, no
 * lost packets, deadlock only without a flow control rule, destinations of each traffic pattern.
 */
#include <math.h>
#include <string.h>

#include "tests/sim/flow_random.h"

static struct flow_params params(const char *shape, const struct flow_policy *policy)
{
	struct flow_params p = {
		.policy = policy, .bubbles = 1, .queue = 2, .source_queue = 4, .packet = 16,
		.hop = 1, .timer = 16, .response = 1, .sink = FLOW_MULTIPLE, .warmup = 2000,
		.cycles = 4000, .seed = 1,
	};

	assert_int_equal(torus_shape_parse(shape, &p.shape), 0);
	return p;
}

static struct flow_result run(const struct flow_params *p)
{
	struct flow_net *net = flow_new(p);
	struct flow_result r;

	assert_non_null(net);
	assert_int_equal(flow_run(net, &r), 0);
	assert_true(r.consistent);
	flow_free(net);
	return r;
}

/* --- latency and throughput ------------------------------------------------ */

static void latency_without_load_is_that_of_hops(void **state)
{
	static const char *const shapes[] = { "9", "8x8", "4x5x3", "2x3x2x4", "2x2x3x2x2",
					      "3x2x2x2x2x3" };
	struct rnd r = rnd_new(1);

	(void)state;
	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
		for (int policy = 0; flow_policies[policy]; policy++)
			for (int i = 0; i < 8; i++) {
				struct flow_params p = params(shapes[s], flow_policies[policy]);
				struct flow_entry e = { 0 };
				struct flow_trace t = { &e, 1 };
				uint32_t nodes = torus_nodes(&p.shape), hops;
				struct flow_result got;

				e.src = rnd_below(&r, nodes);
				e.dst = (e.src + 1 + rnd_below(&r, nodes - 1)) % nodes;
				hops = torus_distance(&p.shape, e.src, e.dst);
				p.packet = 1 + rnd_below(&r, 30);
				p.hop = 1 + rnd_below(&r, p.packet);
				p.credit_delay = rnd_below(&r, 5);
				p.trace = &t;
				got = run(&p);
				expect(&r, (uint32_t)got.latency == hops * p.hop + p.packet,
				       "%s %s: %u hops of %u, packet of %u: %g cycles", shapes[s],
				       flow_policy_name(flow_policies[policy]), hops, p.hop, p.packet, got.latency);
			}
}

static void low_load_is_carried(void **state)
{
	(void)state;
	for (int policy = 0; flow_policies[policy] != &flow_none; policy++) {
		struct flow_params p = params("4x4x4", flow_policies[policy]);
		struct flow_result r;

		p.load = 0.1;
		p.cycles = 20000;
		r = run(&p);
		/* packets are born at random: of 8000 allow four standard deviations */
		if (fabs(r.accepted - 0.1) > 0.1 * 4 / sqrt(8000))
			fail_msg("%s: %g of 0.1", flow_policy_name(flow_policies[policy]), r.accepted);
		assert_true(r.refused <= r.born / 100);
		assert_true(r.latency > 16 && r.latency < 40);
	}
}

/*
 * Half of uniform traffic crosses the middle of the longest dimension, of size k, over 4 links per
 * ring. So the accepted load is at most 8 / k (Dally and Towles, 3.3).
 */
static void bisection_limits_throughput(void **state)
{
	static const struct {
		const char *shape;
		double most;
	} c[] = { { "16", 0.5 }, { "32", 0.25 }, { "16x4", 0.5 }, { "32x2", 0.25 }, { "8x8", 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		for (int policy = 0; flow_policies[policy] != &flow_none; policy++) {
			struct flow_params p = params(c[i].shape, flow_policies[policy]);
			uint32_t nodes = torus_nodes(&p.shape);
			double got;

			p.load = 1;
			p.queue = 8;
			p.cycles = 10000;
			got = run(&p).accepted;
			/* No node sends to itself, so slightly more than half crosses: the limit
			 * is less by (nodes - 1) / nodes. 2 % are for chance. With one critical
			 * bubble a long ring carries little, with CBS even nothing. */
			if (got > c[i].most * (nodes - 1) / nodes * 1.02 ||
			    (!flow_policy_has_bubbles(p.policy) && got < c[i].most / 5))
				fail_msg("%s %s: %g of %g", c[i].shape, flow_policy_name(flow_policies[policy]),
					 got, c[i].most);
		}
}

/* --- deadlock and starvation ----------------------------------------------- */

static void only_rings_without_a_rule_deadlock(void **state)
{
	static const char *const shapes[] = { "8", "8x8", "4x4x4", "3x5x4" };

	(void)state;
	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
		for (int policy = -FLOW_EITHER; policy < 0 || flow_policies[policy]; policy++) {
			/* a negative policy: BLOC with one of its other tests */
			struct flow_params p = params(shapes[s], policy < 0 ? &flow_bloc :
						      flow_policies[policy]);
			struct flow_result r;

			if (policy < 0) {
				p.test = (enum flow_test)-policy;
				p.hop = 4;
			}
			p.load = 1;
			p.packet = 4;
			p.warmup = 16000;
			p.cycles = 1000;
			r = run(&p);
			if (r.deadlock != (p.policy == &flow_none))
				fail_msg("%s %s %s: deadlock %d", shapes[s],
					 flow_policy_name(p.policy), flow_tests[p.test], r.deadlock);
			/* CBS may starve by then; the other policies still deliver */
			if (p.policy != &flow_none && p.policy != &flow_cbs)
				assert_true(r.accepted > 0.05);
		}
}

/* In rings of two a packet makes one hop and leaves: there is no cycle. */
static void rings_of_two_need_no_rule(void **state)
{
	struct flow_params p = params("2x2x2x2", &flow_none);

	(void)state;
	p.load = 1;
	assert_false(run(&p).deadlock);
}

/* The four nodes of a ring with one buffer each send a packet @hops hops on, in the same cycle. */
static void ring_of_four(const struct flow_policy *policy, unsigned int hops, struct flow_result *r,
			 uint64_t *inside)
{
	struct flow_params p = params("4", policy);
	struct flow_entry e[4];
	struct flow_trace t = { e, 4 };
	struct flow_net *net;

	for (uint32_t i = 0; i < 4; i++)
		e[i] = (struct flow_entry){ 0, i, (i + hops) % 4 };
	p.queue = 1;
	p.tie = FLOW_TIE_PLUS;
	p.trace = &t;
	net = flow_new(&p);
	assert_non_null(net);
	assert_int_equal(flow_run(net, r), 0);
	assert_true(r->consistent);
	*inside = flow_inside(net);
	if (r->deadlock)
		assert_int_equal(flow_deadlocked(net), *inside);
	flow_free(net);
}

static void smallest_deadlock_has_four_packets(void **state)
{
	struct flow_result r;
	uint64_t inside;

	(void)state;
	ring_of_four(&flow_none, 2, &r, &inside);
	assert_true(r.deadlock);
	assert_int_equal(inside, 4);
	ring_of_four(&flow_mbs, 2, &r, &inside);
	assert_false(r.deadlock);
	assert_int_equal(inside, 0);
	ring_of_four(&flow_dateline, 2, &r, &inside);
	assert_false(r.deadlock);
	assert_int_equal(inside, 0);
}

/* Wang and Zhang, figure 1: with CBS a packet may wait for ever for a critical bubble. */
static void critical_bubble_starves_packet_under_cbs_only(void **state)
{
	struct flow_result r;
	uint64_t inside;

	(void)state;
	ring_of_four(&flow_cbs, 1, &r, &inside);
	assert_false(r.deadlock);
	assert_int_equal(inside, 1);
	assert_true(r.wait_max > 100000);
	ring_of_four(&flow_mbs, 1, &r, &inside);
	assert_int_equal(inside, 0);
	assert_true(r.responses >= 1);
	assert_true(r.wait_max < 100);
}

/*
 * Packets that the simulator calls deadlocked never move again; and when all packets have stopped,
 * it calls some of them deadlocked.
 */
static void dead_is_dead(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct flow_params p = flow_random(&r);
	struct flow_trace t;
	struct flow_net *net;
	uint64_t dead = 0, now;
	char what[256];

	p.policy = &flow_none;
	flow_random_trace(&r, &p, &t, 50 + rnd_below(&r, 300), 300);
	p.trace = &t;
	net = flow_new(&p);
	assert_non_null(net);
	for (int cycle = 0; cycle < 3000; cycle++) {
		assert_int_equal(flow_step(net), 0);
		if (cycle % 50)
			continue;
		now = flow_deadlocked(net);
		expect(&r, now >= dead, "%s: %" PRIu64 " of %" PRIu64 " dead packets move",
		       flow_text(&p, what), dead - now, dead);
		dead = now;
	}
	expect(&r, !flow_inside(net) == !dead, "%s: %" PRIu64 " inside, %" PRIu64 " dead",
	       flow_text(&p, what), flow_inside(net), dead);
	flow_free(net);
	free(t.entry);
}

static void deadlocked_packets_never_move(void **state)
{
	(void)state;
	for_seeds(150, dead_is_dead);
}

/* --- seeds and patterns ---------------------------------------------------- */

static void same_seed_gives_same_run(void **state)
{
	(void)state;
	for (int policy = 0; flow_policies[policy] != &flow_none; policy++) {
		struct flow_params p = params("4x4", flow_policies[policy]);
		struct flow_result a, b, c;

		p.load = 0.5;
		p.arbiter = FLOW_RANDOM;
		a = run(&p);
		b = run(&p);
		p.seed = 2;
		c = run(&p);
		assert_true(a.latency == b.latency && a.delivered == b.delivered &&
			    a.wait_max == b.wait_max && a.p99 == b.p99);
		assert_true(a.latency != c.latency);
	}
}

struct seen {
	const struct torus_shape *shape;
	unsigned int to[64][64];
	unsigned int n;
};

static void see(void *arg, uint32_t now, uint32_t src, uint32_t dst, uint32_t born)
{
	struct seen *seen = arg;

	(void)now;
	(void)born;
	seen->to[src][dst]++;
	seen->n++;
}

static uint32_t expected(const struct torus_shape *s, enum flow_pattern pattern, uint32_t src)
{
	struct torus_coords a, b = { 0 };

	torus_node_coords(s, src, &a);
	for (unsigned int d = 0; d < 2; d++)
		switch (pattern) {
		case FLOW_TRANSPOSE:
			b.c[d] = a.c[1 - d];
			break;
		case FLOW_COMPLEMENT:
			b.c[d] = (uint16_t)(7 - a.c[d]);
			break;
		case FLOW_TORNADO:
			b.c[d] = (uint16_t)((a.c[d] + 3) % 8);
			break;
		default:
			b.c[d] = (uint16_t)((a.c[d] + 1) % 8);
		}
	return torus_node_id(s, &b);
}

static void check_pattern(const struct seen *seen, enum flow_pattern pattern)
{
	double hot = 0;

	for (uint32_t src = 0; src < 64; src++) {
		unsigned int least = UINT32_MAX, most = 0;

		for (uint32_t dst = 0; dst < 64; dst++) {
			unsigned int n = seen->to[src][dst];

			if (src == dst)
				assert_int_equal(n, 0);
			else if (pattern >= FLOW_TRANSPOSE && pattern != FLOW_HOTREGION)
				assert_int_equal(n > 0, dst == expected(seen->shape, pattern, src));
			if (src != dst && n < least)
				least = n;
			if (src != dst && n > most)
				most = n;
			hot += dst < 8 ? n : 0;
		}
		/* in turn, except for packets that are still under way or were refused */
		if (pattern == FLOW_DISTRIBUTE)
			assert_true(most - least <= 3);
		if (pattern == FLOW_UNIFORM)
			assert_true(least > 0 && most < 60);
	}
	if (pattern == FLOW_HOTREGION && fabs(hot / seen->n - (0.25 + 0.75 / 8)) > 0.02)
		fail_msg("%g of the traffic goes to the hot region", hot / seen->n);
}

static void each_pattern_has_its_destinations(void **state)
{
	(void)state;
	for (int pattern = 0; pattern < FLOW_TRACE; pattern++) {
		struct flow_params p = params("8x8", &flow_dateline);
		struct seen seen = { .shape = &p.shape };
		struct flow_net *net;
		struct flow_result r;

		p.pattern = (enum flow_pattern)pattern;
		p.load = 0.15;
		p.cycles = 120000;
		net = flow_new(&p);
		assert_non_null(net);
		flow_on_delivery(net, see, &seen);
		assert_int_equal(flow_run(net, &r), 0);
		assert_true(r.consistent && seen.n > 10000);
		check_pattern(&seen, (enum flow_pattern)pattern);
		flow_free(net);
	}
}

/* --- parameters that are refused ------------------------------------------- */

static void refused(struct flow_params p, const char *reason)
{
	char why[256] = "";

	if (!flow_check_params(&p, why) || !strstr(why, reason))
		fail_msg("'%s' instead of '%s'", why, reason);
}

static void impossible_parameters_are_refused(void **state)
{
	struct flow_params ok = params("4x4", &flow_mbs), p;
	char why[256];

	(void)state;
	ok.load = 1;
	assert_int_equal(flow_check_params(&ok, why), 0);
	p = ok;
	p.bubbles = 7;
	assert_int_equal(flow_check_params(&p, why), 0);
	p.bubbles = 8;
	refused(p, "must be 1 to 7");
	p = ok;
	p.load = 1.01;
	refused(p, "must be 0 to 1");
	p.load = -0.1;
	refused(p, "must be 0 to 1");
	p = ok;
	p.queue = 0;
	refused(p, "smaller than a packet");
	p = params("4x4", &flow_bloc);
	p.queue = 1;
	refused(p, "queue of 2");
	p = params("4x4", &flow_bloc);
	p.test = FLOW_LOCAL;
	p.hop = 17;
	refused(p, "not safe");
	p = params("4x8", &flow_bloc);
	p.pattern = FLOW_TRANSPOSE;
	refused(p, "read backwards");
	p = params("1", &flow_bloc);
	refused(p, "no traffic");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(latency_without_load_is_that_of_hops),
		cmocka_unit_test(low_load_is_carried),
		cmocka_unit_test(bisection_limits_throughput),
		cmocka_unit_test(only_rings_without_a_rule_deadlock),
		cmocka_unit_test(rings_of_two_need_no_rule),
		cmocka_unit_test(smallest_deadlock_has_four_packets),
		cmocka_unit_test(critical_bubble_starves_packet_under_cbs_only),
		cmocka_unit_test(deadlocked_packets_never_move),
		cmocka_unit_test(same_seed_gives_same_run),
		cmocka_unit_test(each_pattern_has_its_destinations),
		cmocka_unit_test(impossible_parameters_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
