/* SPDX-License-Identifier: GPL-2.0-only */
/* Random fabrics and traces for the tests of the flow simulator. */
#ifndef TESTS_SIM_FLOW_RANDOM_H
#define TESTS_SIM_FLOW_RANDOM_H

#include <stdio.h>

#include "tests/unit/seeds.h"
#include "tools/fabricsim/flow.h"

/* Random parameters of a simulation that draws no random numbers while it runs. */
static inline struct flow_params flow_random(struct rnd *r)
{
	static const char *const shapes[] = { "4", "7", "2", "3x3", "4x4", "2x3", "5x1x2", "2x2x2",
		"3x2x3", "8x2", "2x2x2x2", "1x6", "2x1x2x1x2x2" };
	struct flow_params p = { .bubbles = 0 };
	char why[256];

	torus_shape_parse(shapes[rnd_below(r, sizeof(shapes) / sizeof(shapes[0]))], &p.shape);
	do {
		p.policy = flow_policies[rnd_below(r, 6)];
		p.bubbles = rnd_below(r, 6);
		p.queue = 1 + rnd_below(r, 3);
		p.source_queue = 1 + rnd_below(r, 3);
		p.packet = 1 + rnd_below(r, rnd_one_in(r, 3) ? 16 : 5);
		p.hop = 1 + rnd_below(r, 4);
		p.credit_delay = rnd_below(r, 4);
		p.timer = 1 + rnd_below(r, 12);
		p.response = 1 + rnd_below(r, 4);
		p.test = (enum flow_test)rnd_below(r, 3);
		p.freed = (enum flow_freed)rnd_below(r, 2);
		p.arbiter = (enum flow_arbiter[]){ FLOW_ROUND_ROBIN, FLOW_OLDEST,
						   FLOW_TRANSIT }[rnd_below(r, 3)];
		p.sink = (enum flow_sink)rnd_below(r, 2);
	} while (flow_check_params(&p, why));
	p.tie = FLOW_TIE_PLUS;
	p.place = FLOW_PLACE_EVEN;
	p.seed = r->seed;
	return p;
}

/* A trace of @n packets within about @cycles, some in bursts. */
static inline void flow_random_trace(struct rnd *r, const struct flow_params *p,
				     struct flow_trace *t, size_t n, uint32_t cycles)
{
	uint32_t nodes = torus_nodes(&p->shape), time = 0;

	t->entry = malloc(n * sizeof(*t->entry));
	t->n = n;
	for (size_t i = 0; i < n; i++) {
		struct flow_entry *e = &t->entry[i];

		if (!rnd_one_in(r, 4))
			time += rnd_below(r, 1 + 2 * cycles / (uint32_t)n);
		e->time = time;
		e->src = rnd_below(r, nodes);
		e->dst = (e->src + 1 + rnd_below(r, nodes - 1)) % nodes;
	}
}

static inline const char *flow_text(const struct flow_params *p, char *buf)
{
	char shape[TORUS_TEXT_MAX];

	snprintf(buf, 256, "%s %s bubbles %u queue %u source %u packet %u hop %u credit %u "
		 "timer %u response %u %s %s %s %s", torus_shape_text(&p->shape, shape),
		 flow_policy_name(p->policy), p->bubbles, p->queue, p->source_queue, p->packet,
		 p->hop, p->credit_delay, p->timer, p->response, flow_tests[p->test],
		 flow_freeds[p->freed], flow_arbiters[p->arbiter], flow_sinks[p->sink]);
	return buf;
}

#endif /* TESTS_SIM_FLOW_RANDOM_H */
