/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Granting an output to a packet: what policies (flow_policy.h) and the cycle (flow_step.c) share.
 * The functions are inline, because a busy network spends most time in them.
 */
#ifndef FLOW_GRANT_H
#define FLOW_GRANT_H

#include "lib/deps/invariant.h"
#include "flow_net.h"

static inline void wake(struct flow_net *net, u32 node, unsigned int dir)
{
	net->node[node].act |= 1u << dir;
	net->active[node / 64] |= 1ull << node % 64;
}

static inline unsigned int dir_of(const struct flow_net *net, unsigned int number)
{
	return net->vcs == 1 ? number : number / 2;
}

/* Starts or stops the timer of an output whose critical bubbles or free buffers have changed. */
static inline void watch(struct flow_net *net, u32 channel)
{
	struct output *out = &net->output[channel];

	if (net->rule != TN_BUBBLE_MBS)
		return;
	if (tn_bubble_watch(net->rule, &out->bubble, net->now) && !out->timer) {
		out->timer = true;
		wheel_add(net, &net->ask, net->now + net->p.timer,
			  (u64)EV_TIMER << 32 | channel);
	}
}

static inline void granted(struct flow_net *net, u32 channel, unsigned int out)
{
	struct input *in = &net->input[channel];
	u32 waited = net->now - in->since;

	invariant(in->count && !in->sending);
	if (waited > net->wait_max)
		net->wait_max = waited;
	in->since = net->now;
	in->out = (u8)out;
	in->sending = true;
	wheel_add(net, &net->leave, net->now + net->p.packet, channel);
	if (net->p.freed == FLOW_HEAD && number_of(net, channel) != net->host)
		wheel_add(net, &net->leave, net->now + 1, HEAD_LEFT | channel);
}

static inline void grant(struct flow_net *net, u32 node, unsigned int number, unsigned int o)
{
	u32 channel = channel_of(net, node, number), i;
	struct output *out = &net->output[channel_of(net, node, o)];
	struct node *n = &net->node[node];
	unsigned int dir = net->dirs;

	out->requests &= ~(1u << number);
	if (o != net->host) {
		dir = dir_of(net, o);
		net->input[channel].critical = tn_bubble_take(&out->bubble);
		watch(net, channel_of(net, node, o));
		i = first_of(net, channel);
		if (dir < net->dims)
			net->packet[i].off[dir]--;
		else
			net->packet[i].off[dir - net->dims]++;
		wheel_add(net, &net->arrive, net->now + net->p.hop, (u64)i << 32 |
			  channel_of(net, net->neighbour[node * net->dirs + dir], o));
	}
	n->idle &= ~(1u << dir);
	granted(net, channel, o);
}

static inline unsigned int pick_oldest(const struct flow_net *net, u32 node, u32 from)
{
	unsigned int best = (unsigned int)__builtin_ctz(from);
	u32 since = net->input[channel_of(net, node, best)].since;

	for (from &= from - 1; from; from &= from - 1) {
		unsigned int i = (unsigned int)__builtin_ctz(from);
		u32 s = net->input[channel_of(net, node, i)].since;

		if (s < since) {
			since = s;
			best = i;
		}
	}
	return best;
}

/*
 * Chooses one of the inputs @from. @transit: the inputs of @from that a transit-first arbiter
 * prefers
 */
static inline unsigned int pick(struct flow_net *net, u32 node, u32 from, u32 transit, u8 *last)
{
	u32 after;

	if (!(from & (from - 1)))
		return *last = (u8)__builtin_ctz(from);
	switch (net->p.arbiter) {
	case FLOW_RANDOM:
		for (u32 k = below(&net->node[node].random, (u32)__builtin_popcount(from)); k; k--)
			from &= from - 1;
		return (unsigned int)__builtin_ctz(from);
	case FLOW_OLDEST:
		return pick_oldest(net, node, from);
	case FLOW_TRANSIT:
		if (transit & from)
			from &= transit;
		break;
	case FLOW_ROUND_ROBIN:
		break;
	}
	after = from & ~(u32)((2ull << *last) - 1);
	return *last = (u8)__builtin_ctz(after ? after : from);
}

static inline void sink(struct flow_net *net, u32 node)
{
	struct output *out = &net->output[channel_of(net, node, net->host)];

	if (!out->requests)
		return;
	if (net->p.sink == FLOW_SINGLE) {
		grant(net, node, pick(net, node, out->requests, ~(1u << net->host), &out->last),
		      net->host);
		return;
	}
	while (out->requests)
		grant(net, node, (unsigned int)__builtin_ctz(out->requests), net->host);
	net->node[node].idle |= 1u << net->dirs;
}

/*
 * For each node with a change: consumes the packets that have arrived there, then calls @arbitrate
 * with the mask of the node's idle links for which something changed.
 */
static inline __attribute__((always_inline)) void
arbitrate_nodes(struct flow_net *net, void (*arbitrate)(struct flow_net *net, u32 node, u32 dirs))
{
	for (u32 w = 0; w <= (net->nodes - 1) / 64; w++) {
		u64 bits = net->active[w];

		net->active[w] = 0;
		for (; bits; bits &= bits - 1) {
			u32 node = w * 64 + (u32)__builtin_ctzll(bits);
			struct node *n = &net->node[node];
			u32 act = n->act & n->idle;

			n->act = 0;
			if (act >> net->dirs & 1)
				sink(net, node);
			arbitrate(net, node, act & ~(1u << net->dirs));
		}
	}
}

#endif /* FLOW_GRANT_H */
