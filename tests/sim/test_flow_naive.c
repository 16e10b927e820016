// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the flow simulator with one that moves every phit (flow_naive.c), with random fabrics,
 * parameters and traces. Both must consume the same packets in the same cycles, and ask for and
 * send as many false packets. In every cycle all packets, buffers and bubbles must be accounted
 * for.
 */
#include <string.h>

#include "tests/sim/flow_naive.h"
#include "tests/sim/flow_random.h"

#define CYCLES 700

struct log {
	struct naive_end *end;
	size_t n, room;
};

static void consumed(void *arg, uint32_t now, uint32_t src, uint32_t dst, uint32_t born)
{
	struct log *log = arg;

	if (log->n == log->room) {
		log->room = log->room ? 2 * log->room : 64;
		log->end = realloc(log->end, log->room * sizeof(*log->end));
	}
	log->end[log->n++] = (struct naive_end){ now, src, dst, born };
}

static int by_all(const void *x, const void *y)
{
	const struct naive_end *a = x, *b = y;
	const uint32_t k[][2] = { { a->now, b->now }, { a->src, b->src }, { a->dst, b->dst },
				  { a->born, b->born } };

	for (size_t i = 0; i < 4; i++)
		if (k[i][0] != k[i][1])
			return k[i][0] < k[i][1] ? -1 : 1;
	return 0;
}

/* Packets consumed in the same cycle may come in any order: they are sorted. */
static void compare(struct rnd *r, const char *what, uint32_t cycle, const struct naive_end *a,
		    size_t na, const struct naive_end *b, size_t nb)
{
	struct naive_end mine[256], theirs[256];

	expect(r, na == nb && na <= 256, "%s: cycle %u: %zu packets consumed, %zu by phits", what,
	       cycle, na, nb);
	if (!na)
		return;
	memcpy(mine, a, na * sizeof(*a));
	memcpy(theirs, b, nb * sizeof(*b));
	qsort(mine, na, sizeof(*mine), by_all);
	qsort(theirs, nb, sizeof(*theirs), by_all);
	for (size_t i = 0; i < na; i++)
		expect(r, !by_all(&mine[i], &theirs[i]),
		       "%s: cycle %u: %u to %u, by phits %u to %u", what, cycle, mine[i].src,
		       mine[i].dst, theirs[i].src, theirs[i].dst);
}

static void one(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct flow_params p = flow_random(&r);
	uint32_t nodes = torus_nodes(&p.shape);
	struct flow_trace trace;
	struct flow_result result;
	struct log log = { .n = 0 };
	struct flow_net *net;
	struct naive *naive;
	size_t seen = 0, naive_seen = 0;
	uint64_t requests[2], responses[2];
	char what[256];

	flow_text(&p, what);
	/* a load of about 1 for a while, then what is left drains */
	flow_random_trace(&r, &p, &trace, 20 + rnd_below(&r, 40 + nodes * 300 / p.packet / 2),
			  300 + rnd_below(&r, 300));
	p.trace = &trace;
	net = flow_new(&p);
	naive = naive_new(&p);
	assert_non_null(net);
	flow_on_delivery(net, consumed, &log);
	for (uint32_t cycle = 2; cycle < CYCLES; cycle++) {
		const struct naive_end *ends;
		size_t n;

		assert_int_equal(flow_step(net), 0);
		naive_step(naive);
		n = naive_ends(naive, &ends);
		compare(&r, what, cycle, log.n > seen ? log.end + seen : NULL, log.n - seen,
			n > naive_seen ? ends + naive_seen : NULL, n - naive_seen);
		seen = log.n;
		naive_seen = n;
		if (cycle % 8 == 0)
			expect(&r, flow_consistent(net), "%s: cycle %u", what, cycle);
	}
	naive_false_packets(naive, &requests[0], &responses[0]);
	flow_false_packets(net, &requests[1], &responses[1]);
	expect(&r, requests[0] == requests[1] && responses[0] == responses[1],
	       "%s: %" PRIu64 " false packets asked for, by phits %" PRIu64, what, requests[1],
	       requests[0]);
	assert_int_equal(flow_run(net, &result), 0);
	expect(&r, result.consistent, "%s: at the end", what);
	flow_free(net);
	naive_free(naive);
	free(trace.entry);
	free(log.end);
}

static void simulator_agrees_with_naive_phits(void **state)
{
	(void)state;
	for_seeds(400, one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simulator_agrees_with_naive_phits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
