// SPDX-License-Identifier: GPL-2.0-only
/*
 * One virtual channel, dimension order; bubbles (kernel/core/bubble.h) prevent deadlock in rings.
 * With policy "none", nothing prevents it.
 */
#include "flow_grant.h"
#include "flow_policy.h"

static inline unsigned int local_free(const struct flow_net *net, u32 channel)
{
	const struct input *in = &net->input[channel];

	return net->p.queue - in->count + head_left(net, in);
}

/*
 * Return: true if BLOC lets a packet enter because of free buffers in the router's own input or,
 * with FLOW_EITHER, in that of the next node.
 */
static bool may_enter_local(const struct flow_net *net, u32 channel)
{
	const struct tn_bubble *b = &net->output[channel].bubble;
	struct tn_bubble here = { .free = (u16)local_free(net, channel) };

	if (net->p.test == FLOW_EITHER && tn_bubble_may(net->rule, b, true))
		return true;
	return b->free && tn_bubble_may(net->rule, &here, true);
}

static inline bool may_enter(const struct flow_net *net, u32 channel)
{
	if (net->p.test != FLOW_DOWNSTREAM && net->rule == TN_BUBBLE_BLOC)
		return may_enter_local(net, channel);
	return tn_bubble_may(net->rule, &net->output[channel].bubble, true);
}

static inline void arbitrate_ring(struct flow_net *net, u32 node, unsigned int dir)
{
	u32 channel = channel_of(net, node, dir), from = 0, on = 1u << dir;
	struct output *out = &net->output[channel];

	if (out->requests & on && tn_bubble_may(net->rule, &out->bubble, false))
		from = on;
	if (out->requests & ~on && may_enter(net, channel))
		from |= out->requests & ~on;
	if (from)
		grant(net, node, pick(net, node, from, on, &out->last), dir);
}

static inline void ring_node(struct flow_net *net, u32 node, u32 dirs)
{
	for (; dirs; dirs &= dirs - 1)
		arbitrate_ring(net, node, (unsigned int)__builtin_ctz(dirs));
}

static void ring_arbitrate(struct flow_net *net)
{
	arbitrate_nodes(net, ring_node);
}

static bool ring_may_move(const struct flow_net *net, const u8 *alive, u32 node,
			  unsigned int number, const struct packet *p, unsigned int dir)
{
	(void)p;
	return flow_way_alive(net, alive, node, number, dir, net->rule);
}

static unsigned int one_bubble(const struct flow_params *p, unsigned int dim)
{
	(void)p;
	(void)dim;
	return 1;
}

static unsigned int mbs_bubbles(const struct flow_params *p, unsigned int dim)
{
	unsigned int k = p->shape.size[dim], best = k * p->queue * (k > 8 ? 3 : 2) / 8;

	return best ? best : 1;
}

#define RING .vcs = 1, .arbitrate = ring_arbitrate, .may_move = ring_may_move

const struct flow_policy flow_bloc = {
	RING, .name = "bloc", .rule = TN_BUBBLE_BLOC, .leaves_one = true, .tests = true,
};

const struct flow_policy flow_cbs = {
	RING, .name = "cbs", .rule = TN_BUBBLE_CBS, .bubbles = one_bubble,
};

const struct flow_policy flow_mbs = {
	RING, .name = "mbs", .rule = TN_BUBBLE_MBS, .bubbles = mbs_bubbles,
};

const struct flow_policy flow_none = {
	RING, .name = "none", .rule = TN_BUBBLE_NONE,
};
