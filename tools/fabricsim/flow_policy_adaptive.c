// SPDX-License-Identifier: GPL-2.0-only
/* Two virtual channels: an adaptive one, and an escape in dimension order with bubbles. */
#include "flow_grant.h"
#include "flow_policy.h"

static unsigned int adaptive_output(struct flow_net *net, u32 node, unsigned int number,
				    unsigned int dir)
{
	(void)dir;
	net->node[node].waiting |= 1u << number;
	return NONE;
}

/*
 * Selects an output by the NIC's rule (kernel/core/router.c): of the adaptive channels on minimal
 * paths the one with most room; if none has room, the escape channel, by dimension order and
 * bubble, where the packet then stays. Return: an output; host: no output is free now.
 */
static unsigned int choose_output(struct flow_net *net, u32 node, unsigned int number)
{
	struct packet *p = &net->packet[first_of(net, channel_of(net, node, number))];
	const struct output *out = &net->output[channel_of(net, node, 0)];
	unsigned int best = net->host, most = 0, room = 0, escape;

	if (number == net->host || number % 2) {
		for (unsigned int d = 0; d < net->dims; d++) {
			unsigned int dir = p->off[d] > 0 ? d : d + net->dims;
			unsigned int free = p->off[d] ? out[2 * dir + 1].bubble.free : 0;

			room += free;
			if (free > most && net->node[node].idle >> dir & 1) {
				most = free;
				best = 2 * dir + 1;
			}
		}
		if (room)
			return best;
	}
	escape = 2 * route(net, p);
	if (net->node[node].idle >> escape / 2 & 1 &&
	    tn_bubble_may(TN_BUBBLE_BLOC, &out[escape].bubble, number != escape))
		return escape;
	return net->host;
}

static inline void adaptive_node(struct flow_net *net, u32 node, u32 dirs)
{
	struct node *n = &net->node[node];
	u32 left = n->waiting;
	u8 last = (u8)n->turn;

	/* all outputs are examined, because a packet can wait for several of them */
	(void)dirs;
	while (left) {
		unsigned int i = pick(net, node, left, ~(1u << net->host), &last);
		unsigned int out = choose_output(net, node, i);

		left &= ~(1u << i);
		if (out == net->host)
			continue;
		n->waiting &= ~(1u << i);
		n->turn = i;
		grant(net, node, i, out);
	}
}

static void adaptive_arbitrate(struct flow_net *net)
{
	arbitrate_nodes(net, adaptive_node);
}

static bool adaptive_may_move(const struct flow_net *net, const u8 *alive, u32 node,
			      unsigned int number, const struct packet *p, unsigned int dir)
{
	if (flow_way_alive(net, alive, node, number, 2 * dir, TN_BUBBLE_BLOC))
		return true;
	for (unsigned int d = 0; d < net->dims && (number == net->host || number % 2); d++)
		if (p->off[d] && flow_way_alive(net, alive, node, number,
						2 * (p->off[d] > 0 ? d : d + net->dims) + 1,
						TN_BUBBLE_NONE))
			return true;
	return false;
}

const struct flow_policy flow_adaptive = {
	.name = "adaptive", .vcs = 2, .rule = TN_BUBBLE_NONE, .leaves_one = true,
	.output = adaptive_output, .arbitrate = adaptive_arbitrate,
	.may_move = adaptive_may_move,
};
