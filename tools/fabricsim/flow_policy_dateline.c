// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two virtual channels, dimension order; a packet that crosses the dateline changes to the second.
 */
#include "flow_grant.h"
#include "flow_policy.h"

static unsigned int dateline_output(struct flow_net *net, u32 node, unsigned int number,
				    unsigned int dir)
{
	/* Packets use channel 1 behind the dateline, and at the node whose link closes the ring. */
	bool second = (number / 2 == dir && number != net->host && number % 2) ||
		      (net->node[node].wrap >> dir & 1);

	return dir * 2 + second;
}

static inline void arbitrate_dateline(struct flow_net *net, u32 node, unsigned int dir)
{
	struct output *out = &net->output[channel_of(net, node, 2 * dir)];
	u32 first = out[0].bubble.free ? out[0].requests : 0;
	u32 second = out[1].bubble.free ? out[1].requests : 0;
	unsigned int i;

	if (!(first | second))
		return;
	i = pick(net, node, first | second, 3u << 2 * dir, &out->last);
	grant(net, node, i, 2 * dir + !(first >> i & 1));
}

static inline void dateline_node(struct flow_net *net, u32 node, u32 dirs)
{
	for (; dirs; dirs &= dirs - 1)
		arbitrate_dateline(net, node, (unsigned int)__builtin_ctz(dirs));
}

static void dateline_arbitrate(struct flow_net *net)
{
	arbitrate_nodes(net, dateline_node);
}

static bool dateline_may_move(const struct flow_net *net, const u8 *alive, u32 node,
			      unsigned int number, const struct packet *p, unsigned int dir)
{
	(void)p;
	return flow_way_alive(net, alive, node, number, 2 * dir + 1, net->rule) ||
	       flow_way_alive(net, alive, node, number, 2 * dir, net->rule);
}

const struct flow_policy flow_dateline = {
	.name = "dateline", .vcs = 2, .rule = TN_BUBBLE_NONE, .output = dateline_output,
	.arbitrate = dateline_arbitrate, .may_move = dateline_may_move,
};
