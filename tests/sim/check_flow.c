// SPDX-License-Identifier: GPL-2.0-only
/* Loss, doubling and order of every flow (source, destination, VC); what is drained is. */
#include <stdio.h>

#include "check.h"
#include "tools/fabricsim/world_impl.h"

struct flow {
	uint64_t sent, got, returned;
	uint64_t next;		/* lowest sequence number not seen yet */
	uint64_t last_at;	/* when a packet came last */
	uint64_t pause;
};

struct check_flow {
	struct world *w;
	struct flow *flow;
	char wrong[160];
};

static struct flow *flow_of(struct check_flow *c, uint32_t src, uint32_t dst, unsigned int vc)
{
	return &c->flow[(src * c->w->nodes + dst) * TORUS_VCS + vc];
}

static void sent(void *arg, uint32_t src, uint32_t dst, unsigned int vc, uint64_t seq)
{
	(void)seq;
	flow_of(arg, src, dst, vc)->sent++;
}

static void got(void *arg, uint32_t src, uint32_t dst, unsigned int vc, uint64_t seq)
{
	struct check_flow *c = arg;
	struct flow *f = flow_of(c, src, dst, vc);

	if (vc != TORUS_VC_A && seq < f->next && !c->wrong[0])
		snprintf(c->wrong, sizeof(c->wrong),
			 "at %.3f ms: %u to %u, VC %u: packet %llu came after %llu",
			 (double)c->w->now / 1e6, src, dst, vc, (unsigned long long)seq,
			 (unsigned long long)f->next - 1);
	if (f->last_at && c->w->now - f->last_at > f->pause)
		f->pause = c->w->now - f->last_at;
	f->last_at = c->w->now;
	f->next = seq + 1;
	f->got++;
}

static void returned(void *arg, uint32_t src, uint32_t dst, unsigned int vc, uint64_t seq)
{
	(void)seq;
	flow_of(arg, src, dst, vc)->returned++;
}

/* A destination that starts anew has seen nothing yet. */
static void power(void *arg, uint32_t node, bool on)
{
	struct check_flow *c = arg;

	for (uint32_t i = 0; on && i < c->w->nodes; i++)
		for (unsigned int vc = 0; vc < TORUS_VCS; vc++)
			flow_of(c, i, node, vc)->next = 0;
}

static void goes_on(void *arg, uint32_t node, uint64_t version)
{
	struct check_flow *c = arg;
	char buf[120];
	const char *wrong = check_drain(c->w, version, buf, sizeof(buf));

	if (wrong && !c->wrong[0])
		snprintf(c->wrong, sizeof(c->wrong), "at %.3f ms, node %u: %s",
			 (double)c->w->now / 1e6, node, wrong);
}

struct check_flow *check_flow_new(struct world *w)
{
	struct check_flow *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->w = w;
	c->flow = calloc((size_t)w->nodes * w->nodes * TORUS_VCS, sizeof(*c->flow));
	if (!c->flow)
		abort();
	world_watch(w, &(struct world_watch) { sent, got, returned, power, goes_on, c });
	return c;
}

void check_flow_free(struct check_flow *c)
{
	free(c->flow);
	free(c);
}

const char *check_flow_order(const struct check_flow *c)
{
	return c->wrong[0] ? c->wrong : NULL;
}

uint64_t check_flow_missing(const struct check_flow *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < (size_t)c->w->nodes * c->w->nodes * TORUS_VCS; i++)
		n += c->flow[i].sent - c->flow[i].got - c->flow[i].returned;
	return n;
}

uint64_t check_flow_arrived(const struct check_flow *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < (size_t)c->w->nodes * c->w->nodes * TORUS_VCS; i++)
		n += c->flow[i].got;
	return n;
}

uint64_t check_flow_between(const struct check_flow *c, uint32_t src, uint32_t dst)
{
	uint64_t n = 0;

	for (unsigned int vc = 0; vc < TORUS_VCS; vc++)
		n += c->flow[(src * c->w->nodes + dst) * TORUS_VCS + vc].got;
	return n;
}

uint64_t check_flow_pause(struct check_flow *c)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < (size_t)c->w->nodes * c->w->nodes * TORUS_VCS; i++) {
		if (c->flow[i].pause > longest)
			longest = c->flow[i].pause;
		c->flow[i].pause = 0;
	}
	return longest;
}
