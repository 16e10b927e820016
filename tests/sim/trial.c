// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/route.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/facts.h"
#include "kernel/core/nic_impl.h"
#include "trial.h"
#include "tests/unit/random.h"
#include "tools/fabricsim/world_impl.h"

void trial_fail(struct trial *s, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	if (s->wrong[0])
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(s->wrong, sizeof(s->wrong), "at %.3f ms: %s", (double)world_now(s->w) / 1e6, text);
}

void trial_config(struct world_config *c, const char *shape, uint64_t seed)
{
	world_config_default(c);
	c->adaptive = true;
	c->seed = seed;
	if (torus_shape_parse(shape, &c->shape))
		abort();
}

void trial_begin(struct trial *s, const struct world_config *c)
{
	struct world_config cfg = *c;

	if (getenv("VERBOSE"))
		cfg.verbose = (unsigned int)atoi(getenv("VERBOSE"));
	memset(s, 0, sizeof(*s));
	s->w = world_new(&cfg);
	s->flow = check_flow_new(s->w);
}

void trial_power_all(struct trial *s)
{
	for (uint32_t i = 0; i < world_nodes(s->w); i++)
		world_power(s->w, i, true);
}

void trial_traffic(struct trial *s, uint64_t interval)
{
	s->interval = interval;
	world_traffic(s->w, interval);
}

/* Runs check_tally(). */
static void tally(struct trial *s)
{
	char buf[100];
	const char *wrong = check_tally(s->w, buf, sizeof(buf));

	if (wrong)
		trial_fail(s, "%s", wrong);
}

/**
 * struct pace - of the traffic
 * @state: a hash of all that changes while something happens
 * @events: of managers and links, when @state was computed; 0: never
 * @quiet: ms since it changed
 */
struct pace {
	uint64_t state;
	uint64_t events;
	unsigned int quiet;
};

/* Return: a hash of the state of links, table versions and recoveries. */
static uint64_t state_of(struct trial *s)
{
	uint64_t state = 0;

	for (uint32_t i = 0; i < world_nodes(s->w); i++) {
		struct tn_nic *nic = world_nic(s->w, i);
		struct fm_outline o = { 0 };

		for (unsigned int p = 0; nic && p < 2u * world_config(s->w)->shape.ndims; p++)
			state = state * 31 + (nic->link[p].state == TORUS_LINK_UP);
		if (world_fm(s->w, i))
			fm_outline(world_fm(s->w, i), &o);
		state = state * 31 + 2 * o.version + o.under_way;
	}
	return state;
}

#define CALM (4 * MS)		/* interval of a node's packets while nothing happens */
#define QUIET 10		/* ms without a change after which nothing counts as happening */
#define FILLING (2 * CALM)	/* time until all nodes send again, and inputs are full */

/* Runs for 1 ms, then sets the traffic: full if something changed lately, else reduced. */
static void pace(struct trial *s, struct pace *p)
{
	uint64_t was = p->state, events;

	world_run(s->w, MS);
	events = 1 + s->w->fm_events + s->w->link_events;
	if (events != p->events) {	/* otherwise nothing has changed */
		tally(s);
		p->state = state_of(s);
		p->events = events;
	}
	p->quiet = p->state == was ? p->quiet + 1 : 0;
	world_traffic(s->w, p->quiet < QUIET || s->interval > CALM ? s->interval : CALM);
}

void trial_run(struct trial *s, uint64_t ns)
{
	uint64_t end = world_now(s->w) + ns;
	struct pace p = { 0 };

	tally(s);
	while (s->sparing && world_now(s->w) + FILLING < end)
		pace(s, &p);
	if (s->sparing)
		world_traffic(s->w, s->interval);
	world_run(s->w, end - world_now(s->w));
	tally(s);
}

void trial_rest(struct trial *s, uint64_t limit)
{
	uint64_t end = world_now(s->w) + limit;
	struct pace p = { 0 };

	world_run(s->w, 10 * MS);
	tally(s);
	while (s->sparing && s->interval && !world_settled(s->w) && world_now(s->w) < end)
		pace(s, &p);
	if (!world_until(s->w, world_settled, limit))
		trial_fail(s, "not at rest after %llu ms", (unsigned long long)(limit / MS));
	if (s->sparing)
		world_traffic(s->w, s->interval);
	tally(s);
	world_run(s->w, 5 * MS);
	tally(s);
}

/* Waits until all links that were held down for flapping are in use again. */
static void wait_out_holds(struct trial *s)
{
	for (unsigned int i = 0; i < 1300 && trial_problem(s, "flap", ""); i++)
		world_run(s->w, 100 * MS);
	if (trial_problem(s, "flap", ""))
		trial_fail(s, "a link is still held down after 130 s");
}

/*
 * Return: true if packets arrive now that all faults are mended. Without packets nothing could be
 * lost, and the checks of the trial would have checked nothing.
 */
static bool flows_again(struct trial *s)
{
	uint64_t before = check_flow_arrived(s->flow);

	if (!world_config(s->w)->traffic)
		world_traffic(s->w, 1 * MS);
	/* Where inputs have one buffer, a bubble moves by a timer and a round trip for each hop. */
	trial_run(s, world_config(s->w)->slots ? 500 * MS : 50 * MS);
	return world_nodes(s->w) < 2 || check_flow_arrived(s->flow) != before;
}

/* Return: a node that has to send or repeat an Init at some time; TORUS_NO_NODE: there is none. */
static uint32_t find_init_due(struct trial *s)
{
	for (uint32_t i = 0; i < world_nodes(s->w); i++)
		if (world_managed(s->w, i) && fm_ports_expiry(world_fm(s->w, i)) != NEVER)
			return i;
	return TORUS_NO_NODE;
}

/*
 * Fails unless all exchanges of Inits end: see daemon/fm/node/bootstrap.c. A manager that lacked
 * processor time repeats later, by up to four times its lag (lag.c).
 */
static void wait_for_last_init(struct trial *s)
{
	for (unsigned int i = 0; i < 300 && find_init_due(s) != TORUS_NO_NODE; i++)
		world_run(s->w, 100 * MS);
	if (find_init_due(s) != TORUS_NO_NODE)
		trial_fail(s, "node %u still repeats an Init", find_init_due(s));
}

bool trial_end(struct trial *s)
{
	bool held, flows;
	char buf[200];
	const char *wrong;

	for (uint32_t i = 0; i < world_cables(s->w); i++) {
		world_cut(s->w, i, false);
		world_silence(s->w, i, false);
	}
	for (uint32_t i = 0; i < world_nodes(s->w); i++) {
		world_power(s->w, i, true);
		world_manager(s->w, i, true);
	}
	trial_rest(s, 60 * SEC);
	held = trial_problem(s, "flap", "");
	flows = flows_again(s);
	trial_traffic(s, 0);
	wait_out_holds(s);
	if (!flows && held) {	/* perhaps all links were held down */
		flows = flows_again(s);
		trial_traffic(s, 0);
	}
	if (!flows)
		trial_fail(s, "no packet arrives although all is whole");
	world_run(s->w, 100 * MS);
	trial_rest(s, 60 * SEC);
	/* Where links lose frames it takes a while until all queued packets have arrived. */
	for (unsigned int i = 0; i < 100 && check_flow_alive(s->flow); i++)
		world_run(s->w, 200 * MS);
	wrong = check_flow_end(s->flow);
	if (wrong)
		trial_fail(s, "%s", wrong);
	if (s->none_late && check_flow_late(s->flow))
		trial_fail(s, "%llu packets came too late",
			   (unsigned long long)check_flow_late(s->flow));
	wait_for_last_init(s);
	wrong = check_admin(s->flow, buf, sizeof(buf));
	if (!wrong)
		wrong = check_end(s->w, buf, sizeof(buf));
	if (wrong)
		trial_fail(s, "%s", wrong);
	world_free(s->w);
	check_flow_free(s->flow);
	return !s->wrong[0];
}

bool trial_under_way(const struct trial *s, uint32_t node)
{
	struct fm_outline o = { 0 };

	fm_outline(world_fm(s->w, node), &o);
	return o.under_way;
}

enum trial_step trial_step(const struct trial *s)
{
	static const enum trial_step steps[] = {
		[FM_PHASE_REST] = STEP_REST,	 [FM_PHASE_APPLY] = STEP_APPLY,
		[FM_PHASE_DRAIN] = STEP_DRAIN,	 [FM_PHASE_REPLAY] = STEP_REPLAY,
		[FM_PHASE_RESUME] = STEP_RESUME,
	};
	const struct fm *root = world_fm(s->w, world_root(s->w));

	if (!root || !root->root)
		return STEP_NO_ROOT;
	if (fm_recovery_phase(root->root) == FM_PHASE_REST && fm_demand_is(root->root))
		return STEP_TABLE;
	return steps[fm_recovery_phase(root->root)];
}

bool trial_excluded(const struct trial *s)
{
	const struct fm *root = world_fm(s->w, world_root(s->w));

	for (uint32_t i = 0; root && i < world_nodes(s->w); i++)
		if (fm_node(root, i) && fm_node(root, i)->admin)
			return true;
	return !root;
}

int trial_exclude(struct trial *s, uint32_t node, int port, bool excluded)
{
	uint32_t root = world_root(s->w);
	struct fm *fm = world_fm(s->w, root);
	int err;

	if (!fm || !fm_is_root(fm) || s->w->node[root].hung)
		return -EPERM;
	/* The root may make a table at once: the checker must know before that a port may come back. */
	if (!excluded)
		check_flow_ordered(s->flow, root, node, port, false);
	err = fm_exclude(fm, node, port, excluded, world_now(s->w));
	if (excluded && !err)
		check_flow_ordered(s->flow, root, node, port, true);
	return err;
}

bool trial_problem(struct trial *s, const char *kind, const char *part)
{
	for (uint32_t i = 0; i < world_nodes(s->w); i++) {
		struct fm *fm = world_fm(s->w, i);
		const struct fm_problem *p;

		for (unsigned int k = 0; fm && (p = fm_problem(fm, k)); k++)
			if (!strcmp(p->kind, kind) && strstr(p->text, part))
				return true;
	}
	return false;
}

void trial_shape(uint64_t *seed, uint32_t nodes, struct torus_shape *out)
{
	uint32_t n;

	do {
		memset(out, 0, sizeof(*out));
		out->ndims = (uint8_t)(1 + random_below(seed, TORUS_MAX_DIMS));
		n = 1;
		for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++) {
			uint32_t most = out->ndims == 1 ? nodes : out->ndims < 4 ? 5 : 3;

			out->size[d] = (uint16_t)(d < out->ndims ? 1 + random_below(seed, most) : 1);
			n *= out->size[d];
		}
	} while (n < 2 || n > nodes);
}

uint64_t trial_relays(const struct torus_shape *shape, const uint16_t *closed, uint64_t *random,
		      uint32_t *relay)
{
	uint32_t nodes = torus_nodes(shape);
	struct torus_health *h;
	uint64_t *rows = calloc(nodes, sizeof(*rows)), n = 0;

	if (!rows || torus_health_new(shape, closed, &h))
		abort();
	for (uint32_t from = 0; from < nodes; from++) {
		if (torus_health_rows(h, from, TORUS_ROUTES_RELAY, rows) < 0)
			abort();
		for (uint32_t to = 0; to < nodes; to++)
			if (rows[to] & TORUS_ROW_RELAY && !random_below(random, (uint32_t)++n))
				*relay = rows[to] >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK;
	}
	torus_health_free(h);
	free(rows);
	return n;
}

unsigned int trial_every(void)
{
	const char *text = getenv("EVERY");
	unsigned long n = text ? strtoul(text, NULL, 10) : 1;

	return n && n < 1000 ? (unsigned int)n : 1;
}

/* Arguments that each draw a number would be evaluated in no fixed order, and a seed be no one history. */
uint64_t trial_some_time(uint64_t *random, uint64_t unit, uint32_t shifts)
{
	uint64_t steps = 1 + random_below(random, 1000);
	unsigned int shift = random_below(random, shifts);

	return steps * unit << shift;
}

void trial_disturb(struct world *w, uint64_t *random, uint32_t doubled, uint32_t breaks, uint32_t shifts)
{
	uint64_t jitter = (20 * US) << random_below(random, shifts);
	unsigned int broken = random_below(random, breaks), twice = random_below(random, doubled);

	world_disturb(w, twice, broken, jitter);
}
