// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generates packets: at each node and cycle with probability load / packet, by the node's own
 * random numbers, or by a trace. The next birth of a node is drawn from the geometric distribution,
 * so that nothing is done in between. If the source queue is full, the packet is refused (Wang and
 * Zhang, section 4); a packet of a trace waits.
 */
#include <math.h>

#include "lib/deps/invariant.h"
#include "flow_net.h"

static u32 packet_new(struct flow_net *net)
{
	u32 i = net->free_packet, room;
	struct packet *more;

	if (i != NONE) {
		net->free_packet = net->packet[i].next;
		return i;
	}
	room = net->packets ? 2 * net->packets : 64;
	more = realloc(net->packet, room * sizeof(*more));
	if (!more) {
		net->failed = true;
		return NONE;
	}
	net->bytes += (room - net->packets) * sizeof(*more);
	net->packet = more;
	for (i = net->packets + 1; i < room; i++)
		more[i].next = i + 1 < room ? i + 1 : NONE;
	net->free_packet = net->packets + 1;
	i = net->packets;
	net->packets = room;
	return i;
}

void packet_drop(struct flow_net *net, u32 packet)
{
	net->packet[packet].next = net->free_packet;
	net->free_packet = packet;
}

/* Sets the offsets of a minimal path; half way round, flow_params.tie decides. */
static void set_offsets(struct flow_net *net, struct packet *p)
{
	struct node *src = &net->node[p->src];
	const struct node *dst = &net->node[p->dst];

	p->dim = 0;
	for (unsigned int d = 0; d < net->dims; d++) {
		int k = net->p.shape.size[d];
		int plus = dst->at[d] - src->at[d];

		if (plus < 0)
			plus += k;
		if (2 * plus > k || (2 * plus == k && net->p.tie == FLOW_TIE_RANDOM &&
				     random64(&src->random) >> 63))
			plus -= k;
		p->off[d] = (int16_t)plus;
	}
}

static u32 create_packet(struct flow_net *net, u32 src, u32 dst)
{
	u32 i = packet_new(net);
	struct packet *p = &net->packet[i];

	if (i == NONE)
		return NONE;
	p->born = net->now;
	p->src = src;
	p->dst = dst;
	set_offsets(net, p);
	net->born += net->measuring;
	net->inside++;
	return i;
}

static bool source_full(const struct flow_net *net, u32 node)
{
	return net->input[channel_of(net, node, net->host)].count == net->p.source_queue;
}

/* --- random packets ---------------------------------------------------------- */

static void plan_birth(struct flow_net *net, u32 node)
{
	struct node *n = &net->node[node];
	/* a random number in (0, 1], of 53 bits */
	double u = (double)((random64(&n->random) >> 11) + 1) * 0x1p-53;
	double gap = 1 + floor(log(u) * net->inverse_log);
	u64 cycles = gap < 4e9 ? (u64)gap : 4000000000u;
	u32 at = (u32)(net->now + cycles) % BIRTHS;

	/* The bucket of this cycle is being emptied: a full round counts as one to wait. */
	n->wait = (u32)((cycles - 1) / BIRTHS);
	n->next = net->birth[at];
	net->birth[at] = node;
}

static void births_by_chance(struct flow_net *net)
{
	u32 *bucket = &net->birth[net->now % BIRTHS];
	u32 node = *bucket, next;

	for (*bucket = NONE; node != NONE; node = next) {
		struct node *n = &net->node[node];
		u32 dst, packet;

		next = n->next;
		if (n->wait) {
			n->wait--;
			n->next = *bucket;
			*bucket = node;
			continue;
		}
		if (source_full(net, node)) {
			net->refused += net->measuring;
		} else {
			dst = pattern_destination(net, node);
			packet = dst == NONE ? NONE : create_packet(net, node, dst);
			if (packet != NONE)
				append_packet(net, channel_of(net, node, net->host), packet);
			else
				continue;	/* the node never sends, or there was no memory */
		}
		plan_birth(net, node);
	}
}

/* --- packets of a trace ------------------------------------------------------ */

void births_refill(struct flow_net *net, u32 node)
{
	u32 *list = net->backlog + 2 * (size_t)node;
	u32 packet = list[0];

	if (packet == NONE)
		return;
	invariant(!source_full(net, node) && net->packet[packet].src == node);
	list[0] = net->packet[packet].next;
	append_packet(net, channel_of(net, node, net->host), packet);
}

static void births_by_trace(struct flow_net *net)
{
	const struct flow_trace *t = net->p.trace;

	while (net->traced < t->n && t->entry[net->traced].time + FIRST <= net->now) {
		const struct flow_entry *e = &t->entry[net->traced++];
		u32 packet = create_packet(net, e->src, e->dst);
		u32 *list = net->backlog + 2 * (size_t)e->src;

		if (packet == NONE)
			return;
		if (!source_full(net, e->src)) {
			append_packet(net, channel_of(net, e->src, net->host), packet);
			continue;
		}
		net->packet[packet].next = NONE;
		if (list[0] == NONE)
			list[0] = packet;
		else
			net->packet[list[1]].next = packet;
		list[1] = packet;
	}
}

void births_begin(struct flow_net *net)
{
	double p = net->p.load / net->p.packet;

	for (u32 i = 0; i < BIRTHS; i++)
		net->birth[i] = NONE;
	if (net->p.trace || p <= 0)
		return;
	net->inverse_log = p < 1 ? 1 / log1p(-p) : 0;
	for (u32 i = 0; i < net->nodes; i++)
		plan_birth(net, i);
}

void births(struct flow_net *net)
{
	if (net->p.trace)
		births_by_trace(net);
	else
		births_by_chance(net);
}
