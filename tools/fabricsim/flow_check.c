// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks for lost and deadlocked packets, which only read the simulation.
 *
 * Deadlock. A packet that is first in its queue and not being sent is dead if no output that it
 * may take can ever accept it: the input at the other end has too
 * little room, and its own first packet is dead, too. The live packets are found by starting from
 * those that are moving or may move, until none is added; all others are dead. A packet that waits
 * for a critical bubble in a ring without traffic is starved, not dead.
 */
#include <stdlib.h>
#include <string.h>

#include "flow_policy.h"

/* --- deadlock -------------------------------------------------------------- */

static u32 below_of(const struct flow_net *net, u32 node, unsigned int out)
{
	unsigned int dir = net->vcs == 1 ? out : out / net->vcs;

	return channel_of(net, net->neighbour[node * net->dirs + dir], out);
}

bool flow_way_alive(const struct flow_net *net, const u8 *alive, u32 node, unsigned int number,
		    unsigned int out, enum tn_bubble_policy rule)
{
	u32 channel = channel_of(net, node, out);
	bool enters = number != out;

	if (tn_bubble_may(rule, &net->output[channel].bubble, enters))
		return true;
	/* the local test needs room in this node's input of that ring */
	if (enters && net->p.test != FLOW_DOWNSTREAM && alive[channel])
		return true;
	return alive[below_of(net, node, out)];
}

static bool first_alive(const struct flow_net *net, const u8 *alive, u32 channel)
{
	const struct input *in = &net->input[channel];
	u32 node = node_of(net, channel);
	unsigned int number = number_of(net, channel), dir;
	struct packet p;

	if (!in->count || in->sending)
		return true;
	p = net->packet[first_of(net, channel)];
	dir = route(net, &p);
	if (dir == net->dirs)
		return true;
	return net->p.policy->may_move(net, alive, node, number, &p, dir);
}

uint64_t flow_deadlocked(struct flow_net *net)
{
	u32 channels = net->nodes << net->shift, dead = 0, before;
	u8 *alive = calloc(channels, 1);

	if (!alive) {
		net->failed = true;
		return 0;
	}
	do {
		before = dead;
		dead = 0;
		for (u32 i = 0; i < channels; i++) {
			/*
			 * every other pass runs backwards, because chains of waiting packets run in
			 * both directions
			 */
			u32 c = before % 2 ? channels - 1 - i : i;

			if (alive[c] || number_of(net, c) > net->host)
				continue;
			alive[c] = first_alive(net, alive, c);
			dead += !alive[c];
		}
	} while (dead != before);
	free(alive);
	return dead;
}

/* --- conservation ---------------------------------------------------------- */

struct account {
	u32 *taken;		/* for each input: buffers that are not free according to the
				 * output that feeds it */
	u32 *critical;		/* for each input: critical bubbles on their way to the output
				 * that feeds it */
	u64 packets;
};

static void count_wheels(const struct flow_net *net, struct account *a)
{
	for (u32 t = 0; t <= net->arrive.mask; t++)
		for (u32 i = 0; i < net->arrive.bucket[t].n; i++) {
			a->taken[(u32)net->arrive.bucket[t].ev[i]]++;
			a->packets++;
		}
	for (u32 t = 0; t <= net->leave.mask; t++)	/* false packets */
		for (u32 i = 0; i < net->leave.bucket[t].n; i++)
			if (net->leave.bucket[t].ev[i] & RESPONSE_ENDS)
				a->taken[(u32)net->leave.bucket[t].ev[i]]++;
	for (u32 t = 0; t <= net->late.mask; t++)
		for (u32 i = 0; i < net->late.bucket[t].n; i++) {
			u64 ev = net->late.bucket[t].ev[i];
			u32 to = (u32)ev;

			if ((ev >> 32 & 0xff) != EV_CREDIT)
				continue;
			to = below_of(net, node_of(net, to), number_of(net, to));
			a->taken[to]++;
			a->critical[to] += ev >> 40 != 0;
		}
}

/* A packet on a link is in two inputs; only the first is counted as a packet. */
static void count_inputs(const struct flow_net *net, struct account *a)
{
	for (u32 c = 0; c < net->nodes << net->shift; c++) {
		const struct input *in = &net->input[c];
		bool gone = in->sending && in->out != net->host;

		if (number_of(net, c) > net->host)
			continue;
		a->packets += in->count - gone;
		a->taken[c] += in->count - head_left(net, in);
		a->critical[c] += in->critical;
	}
	for (u32 n = 0; net->backlog && n < net->nodes; n++)
		for (u32 p = net->backlog[2 * n]; p != NONE; p = net->packet[p].next)
			a->packets++;
}

static bool ring_whole(const struct flow_net *net, const struct account *a, u32 node,
		       unsigned int number)
{
	u32 at = node, bubbles = 0;

	do {
		u32 c = channel_of(net, at, number), to = below_of(net, at, number);
		const struct tn_bubble *b = &net->output[c].bubble;

		if (b->critical > b->free || b->free + a->taken[to] != net->p.queue)
			return false;
		bubbles += b->critical + a->critical[to];
		at = node_of(net, to);
	} while (at != node);
	return bubbles == flow_ring_bubbles(&net->p, number / net->vcs % net->dims);
}

static bool begins_ring(const struct flow_net *net, u32 node, unsigned int dim)
{
	return net->p.shape.size[dim] > 1 && !net->node[node].at[dim];
}

bool flow_consistent(const struct flow_net *net)
{
	u32 channels = net->nodes << net->shift;
	struct account a = {
		.taken = calloc(channels, sizeof(u32)),
		.critical = calloc(channels, sizeof(u32)),
	};
	bool whole = a.taken && a.critical;

	if (whole) {
		count_wheels(net, &a);
		count_inputs(net, &a);
		whole = a.packets == net->inside;
	}
	for (u32 n = 0; whole && n < net->nodes; n++)
		for (unsigned int i = 0; whole && i < net->host; i++)
			if (begins_ring(net, n, i / net->vcs % net->dims))
				whole = ring_whole(net, &a, n, i);
	free(a.taken);
	free(a.critical);
	return whole;
}
