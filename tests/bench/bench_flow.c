// SPDX-License-Identifier: GPL-2.0-only
/*
 * The speed of fabricsim flow: simulated cycles per second on one core, beside the simulator of
 * the tests (tests/sim/flow_naive.c), which moves every phit; memory; and a sweep on one and on two
 * threads, in elapsed time, which means something on an idle machine only, and in processor time,
 * which should not grow. Speeds are by processor time, the best of three runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/bench/sample.h"
#include "tests/sim/flow_naive.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricsim/flow_sweep.h"

#define RUNS 3
#define NAIVE_CYCLES 2000

const struct program this_program = { .name = "bench_flow" };


static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Makes a trace of uniform traffic of the wanted load: flow_naive only plays traces. */
static struct flow_trace traffic(const struct flow_params *p, uint32_t cycles)
{
	uint32_t nodes = torus_nodes(&p->shape);
	struct flow_trace t = { 0 };

	t.entry = malloc((size_t)nodes * cycles * sizeof(*t.entry));
	srand(1);
	for (uint32_t c = 0; t.entry && c < cycles; c++)
		for (uint32_t n = 0; n < nodes; n++)
			if (rand() < RAND_MAX * (p->load / p->packet))
				t.entry[t.n++] = (struct flow_entry){
					c, n, (n + 1 + (uint32_t)rand() % (nodes - 1)) % nodes,
				};
	return t;
}

static double naive_speed(struct flow_params p)
{
	struct flow_trace t = traffic(&p, NAIVE_CYCLES);
	struct naive *s;
	double began;

	p.trace = &t;
	p.tie = FLOW_TIE_PLUS;
	p.place = FLOW_PLACE_EVEN;
	s = naive_new(&p);
	began = seconds(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < NAIVE_CYCLES; i++)
		naive_step(s);
	began = seconds(CLOCK_THREAD_CPUTIME_ID) - began;
	naive_free(s);
	free(t.entry);
	return NAIVE_CYCLES / began;
}

static void speed(const char *shape, const struct flow_policy *policy, double load, uint32_t warmup,
		  uint32_t cycles, bool with_naive)
{
	struct flow_params p = {
		.policy = policy, .bubbles = 4, .queue = 2, .source_queue = 8, .packet = 16,
		.hop = 1, .timer = 16, .response = 1, .sink = FLOW_MULTIPLE, .warmup = warmup,
		.cycles = cycles, .seed = 1, .load = load,
	};
	struct flow_result r, best = { .cpu = 1e9 };
	char what[64];

	torus_shape_parse(shape, &p.shape);
	for (int i = 0; i < RUNS; i++) {
		struct flow_net *net = flow_new(&p);

		if (!net || flow_run(net, &r))
			exit(2);
		flow_free(net);
		if (r.cpu < best.cpu)
			best = r;
	}
	printf("%-12s %-9s %4.2f %8.3f %12.0f %9.1f", shape, flow_policy_name(policy), load,
	       best.accepted, best.end / best.cpu,
	       (double)best.bytes / (double)flow_buffers(&p));
	snprintf(what, sizeof(what), "%s %s at %.2f", shape, flow_policy_name(policy), load);
	sample(what, "cycles/s", best.end / best.cpu);
	if (with_naive) {
		double naive = naive_speed(p);

		sample("8x8 phit by phit", "cycles/s", naive);
		printf(" %12.0f %6.0fx", naive, best.end / best.cpu / naive);
	}
	putchar('\n');
	fflush(stdout);
}

static double sweep(unsigned int threads, double *cpu)
{
	struct flow_point point[10];
	double began = seconds(CLOCK_MONOTONIC);

	*cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);

	for (int i = 0; i < 10; i++) {
		point[i] = (struct flow_point){ .params = {
			.policy = &flow_mbs, .bubbles = 4, .queue = 2, .source_queue = 8,
			.packet = 16, .hop = 1, .timer = 16, .response = 1,
			.sink = FLOW_MULTIPLE, .warmup = 5000, .cycles = 20000,
			.load = 0.1 * (i + 1),
		} };
		torus_shape_parse("8x8", &point[i].params.shape);
	}
	if (flow_sweep(point, 10, 6, 1, threads))
		exit(2);
	*cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - *cpu;
	return seconds(CLOCK_MONOTONIC) - began;
}

int main(void)
{
	double one, two, cpu[2];

	printf("flow simulator         load accepted     cycles/s  B/buffer phit by phit\n");
	for (int policy = 0; flow_policies[policy] != &flow_none; policy++)
		speed("8x8", flow_policies[policy], 0.6, 5000, 50000, flow_policies[policy] == &flow_bloc);
	speed("16x16x16", &flow_bloc, 0.3, 2000, 4000, false);
	speed("16x16x16", &flow_mbs, 0.3, 2000, 4000, false);
	speed("4x4x4x4x4x4", &flow_bloc, 0.3, 2000, 4000, false);
	speed("64x64", &flow_bloc, 0.1, 2000, 4000, false);
	one = sweep(1, &cpu[0]);
	two = sweep(2, &cpu[1]);
	printf("sweep of 60 runs, one thread and two: wall %.2f and %.2f s, %.2fx; "
	       "processor %.2f and %.2f s\n", one, two, one / two, cpu[0], cpu[1]);
	return 0;
}
