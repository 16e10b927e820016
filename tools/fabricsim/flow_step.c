// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cycle. Events of a phase commute: each changes its own input or output, and
 * what it reads of others is changed in other phases only. The one exception, a
 * bubble that two buffers freed at once could take over, is symmetric: both give
 * their credit to the same output in the same cycle.
 */
#include <errno.h>

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

/* Critical bubbles or free buffers of an output have changed. */
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

/* --- buffers and credits --------------------------------------------------- */

static inline void credited(struct flow_net *net, u32 channel, bool critical)
{
	tn_bubble_returned(&net->output[channel].bubble, critical);
	watch(net, channel);
	wake(net, node_of(net, channel), dir_of(net, number_of(net, channel)));
}

/* To whom feeds @channel. MBS reads counters in this phase: later then. */
static inline void give_back(struct flow_net *net, u32 channel, bool critical)
{
	u32 up = feeder(net, node_of(net, channel), number_of(net, channel));

	if (!net->p.credit_delay && net->rule != TN_BUBBLE_MBS)
		credited(net, up, critical);
	else
		wheel_add(net, &net->late, net->now + net->p.credit_delay,
			  (u64)(EV_CREDIT | (unsigned int)critical << 8) << 32 | up);
}

/* A buffer of input @channel is free; the output of the same ring has the same number. */
static inline void freed(struct flow_net *net, u32 channel, bool critical)
{
	unsigned int dir = dir_of(net, number_of(net, channel));

	if (!critical && tn_bubble_move(net->rule, &net->output[channel].bubble)) {
		critical = true;
		watch(net, channel);
		wake(net, node_of(net, channel), dir);
	}
	if (net->p.test != FLOW_DOWNSTREAM)
		wake(net, node_of(net, channel), dir);
	give_back(net, channel, critical);
}

/* The buffer of the first packet. */
static inline void first_freed(struct flow_net *net, u32 channel)
{
	bool critical = net->input[channel].critical;

	net->input[channel].critical = false;
	freed(net, channel, critical);
}

/* --- packets --------------------------------------------------------------- */

static void delivered(struct flow_net *net, u32 packet)
{
	const struct packet *p = &net->packet[packet];
	u32 took = net->now - p->born, bin = took;

	/* 16 bins, then 16 for each doubling */
	if (took >= 16) {
		unsigned int shift = 27u - (unsigned int)__builtin_clz(took);

		bin = (shift + 1) * 16 + (took >> shift & 15);
	}
	if (net->measuring) {
		net->got++;
		net->latency_sum += took;
		net->histogram[bin]++;
	}
	net->delivered++;
	net->inside--;
	if (net->on_delivery)
		net->on_delivery(net->on_arg, net->now, p->src, p->dst, p->born);
	packet_drop(net, packet);
}

static inline void granted(struct flow_net *net, u32 channel, unsigned int out)
{
	struct input *in = &net->input[channel];
	u32 waited = net->now - in->since;

	if (waited > net->wait_max)
		net->wait_max = waited;
	in->since = net->now;
	in->out = (u8)out;
	in->sending = true;
	wheel_add(net, &net->leave, net->now + net->p.packet, channel);
	if (net->p.freed == FLOW_HEAD && number_of(net, channel) != net->host)
		wheel_add(net, &net->leave, net->now + 1, HEAD_LEFT | channel);
}

void input_ready(struct flow_net *net, u32 channel)
{
	u32 node = node_of(net, channel);
	unsigned int number = number_of(net, channel), dir, vc, out;
	struct node *n = &net->node[node];

	net->input[channel].since = net->now;
	dir = route(net, &net->packet[first_of(net, channel)]);
	if (dir == net->dirs) {
		out = net->host;
	} else if (net->vcs == 1) {
		out = dir;
	} else if (net->p.policy == FLOW_ADAPTIVE) {
		n->waiting |= 1u << number;
		wake(net, node, dir);
		return;
	} else {
		/* behind the dateline, and from where the ring closes on: channel 1 */
		vc = (number / 2 == dir && number != net->host && number % 2) ||
		     (n->wrap >> dir & 1);
		out = dir * 2 + vc;
	}
	net->output[channel_of(net, node, out)].requests |= 1u << number;
	wake(net, node, dir);
}

static inline void leave(struct flow_net *net, u32 channel)
{
	struct input *in = &net->input[channel];
	u32 node = node_of(net, channel);
	unsigned int number = number_of(net, channel), n, dir = net->dirs;
	u32 *slot = slots_of(net, channel, &n);

	if (in->out == net->host)
		delivered(net, slot[in->head]);
	else
		dir = dir_of(net, in->out);
	net->node[node].idle |= 1u << dir;
	wake(net, node, dir);
	in->head++;
	if (in->head == n)
		in->head = 0;
	in->count--;
	in->sending = false;
	if (number == net->host) {
		if (net->backlog)
			births_refill(net, node);
	} else if (net->p.freed == FLOW_TAIL) {
		first_freed(net, channel);
	}
	/* a packet out of the backlog into the empty queue is ready already */
	if (in->count && in->since != net->now)
		input_ready(net, channel);
}

static inline void arrive(struct flow_net *net, u32 channel, u32 packet)
{
	struct input *in = &net->input[channel];
	unsigned int n, at = in->head + in->count;
	u32 *slot = slots_of(net, channel, &n);

	slot[at >= n ? at - n : at] = packet;
	if (!in->count++)
		input_ready(net, channel);
}

/* --- false packets --------------------------------------------------------- */

static void timer(struct flow_net *net, u32 channel)
{
	struct output *out = &net->output[channel];

	out->timer = out->bubble.since;
	if (!out->timer)
		return;
	if (tn_bubble_due(&out->bubble, net->now, net->p.timer)) {
		net->requests++;
		wheel_add(net, &net->ask, net->now + net->p.hop, (u64)EV_REQUEST << 32 |
			  feeder(net, node_of(net, channel), number_of(net, channel)));
	}
	wheel_add(net, &net->ask, out->bubble.since + net->p.timer,
		  (u64)EV_TIMER << 32 | channel);
}

static void asked(struct flow_net *net, u32 channel)
{
	u32 node = node_of(net, channel);
	unsigned int number = number_of(net, channel);
	struct output *out = &net->output[channel];
	bool idle = !out->requests && net->node[node].idle >> number & 1;

	if (!tn_bubble_respond(net->rule, &out->bubble, idle))
		return;
	net->responses++;
	net->node[node].idle &= ~(1u << number);
	watch(net, channel);
	wheel_add(net, &net->late, net->now + net->p.response, (u64)EV_IDLE << 32 | channel);
	wheel_add(net, &net->leave, net->now + net->p.hop + net->p.response, RESPONSE_ENDS |
		  channel_of(net, net->neighbour[node * net->dirs + number], number));
}

static void late(struct flow_net *net, u64 ev)
{
	u32 channel = (u32)ev;

	if ((ev >> 32 & 0xff) == EV_CREDIT) {
		credited(net, channel, ev >> 40);
	} else {
		net->node[node_of(net, channel)].idle |= 1u << number_of(net, channel);
		wake(net, node_of(net, channel), number_of(net, channel));
	}
}

/* --- outputs --------------------------------------------------------------- */

static void grant(struct flow_net *net, u32 node, unsigned int number, unsigned int o)
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

static unsigned int pick_oldest(const struct flow_net *net, u32 node, u32 from)
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

/* @transit: those of @from that a transit-first arbiter prefers */
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

static inline unsigned int local_free(const struct flow_net *net, u32 channel)
{
	const struct input *in = &net->input[channel];

	return net->p.queue - in->count + head_left(net, in);
}

/* BLOC where the test is not (only) of the input that the packet goes to. */
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

/* One virtual channel, dimension order. */
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

/* Two virtual channels, dimension order. */
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

/*
 * The NIC's rule (kernel/core/router.c): the adaptive channel of the shortest ways
 * with most room; where none has any, the escape, by dimension order and bubble, and
 * there it stays. Return: an output, or host: none now.
 */
static unsigned int adapt(struct flow_net *net, u32 node, unsigned int number)
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

static void arbitrate_adaptive(struct flow_net *net, u32 node)
{
	struct node *n = &net->node[node];
	u32 left = n->waiting;
	u8 last = (u8)n->turn;

	while (left) {
		unsigned int i = pick(net, node, left, ~(1u << net->host), &last);
		unsigned int out = adapt(net, node, i);

		left &= ~(1u << i);
		if (out == net->host)
			continue;
		n->waiting &= ~(1u << i);
		n->turn = i;
		grant(net, node, i, out);
	}
}

static inline void arbitrate(struct flow_net *net, u32 node)
{
	struct node *n = &net->node[node];
	u32 act = n->act & n->idle;

	n->act = 0;
	if (act >> net->dirs & 1)
		sink(net, node);
	act &= ~(1u << net->dirs);
	if (net->p.policy == FLOW_ADAPTIVE) {
		arbitrate_adaptive(net, node);
		return;
	}
	for (; act; act &= act - 1) {
		unsigned int dir = (unsigned int)__builtin_ctz(act);

		if (net->vcs == 1)
			arbitrate_ring(net, node, dir);
		else
			arbitrate_dateline(net, node, dir);
	}
}

static void outputs(struct flow_net *net)
{
	for (u32 w = 0; w <= (net->nodes - 1) / 64; w++) {
		u64 bits = net->active[w];

		net->active[w] = 0;
		for (; bits; bits &= bits - 1)
			arbitrate(net, w * 64 + (u32)__builtin_ctzll(bits));
	}
}

/* The bucket of now; it may grow meanwhile. */
static inline struct bucket *bucket_now(const struct flow_net *net, const struct wheel *w)
{
	return &w->bucket[net->now & w->mask];
}

int flow_step(struct flow_net *net)
{
	struct bucket *b;

	net->now++;
	b = bucket_now(net, &net->leave);
	for (u32 i = 0; i < b->n; i++) {
		u64 ev = b->ev[i];

		if (likely(!(ev >> 32)))
			leave(net, (u32)ev);
		else if (ev & HEAD_LEFT)
			first_freed(net, (u32)ev);
		else
			freed(net, (u32)ev, false);
	}
	b->n = 0;
	b = bucket_now(net, &net->arrive);
	for (u32 i = 0; i < b->n; i++)
		arrive(net, (u32)b->ev[i], (u32)(b->ev[i] >> 32));
	b->n = 0;
	b = bucket_now(net, &net->late);
	for (u32 i = 0; i < b->n; i++)
		late(net, b->ev[i]);
	b->n = 0;
	b = bucket_now(net, &net->ask);
	for (u32 i = 0; i < b->n; i++) {
		if (b->ev[i] >> 32 == EV_TIMER)
			timer(net, (u32)b->ev[i]);
		else
			asked(net, (u32)b->ev[i]);
	}
	b->n = 0;
	births(net);
	outputs(net);
	return net->failed ? -ENOMEM : 0;
}
