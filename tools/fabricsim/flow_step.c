// SPDX-License-Identifier: GPL-2.0-only
/*
 * One cycle. The events of a phase commute: each changes only its own input or output, and the
 * state that it reads of others is changed in other phases only. There is one exception: two
 * buffers are freed in the same cycle, and either could take over a bubble. Their order does not
 * matter, because both return their credit to the same output in that cycle.
 */
#include <errno.h>

#include "flow_grant.h"
#include "lib/deps/invariant.h"
#include "flow_policy.h"

/* --- buffers and credits --------------------------------------------------- */

static inline void receive_credit(struct flow_net *net, u32 channel, bool critical)
{
	tn_bubble_returned(&net->output[channel].bubble, critical);
	invariant(net->output[channel].bubble.free <= net->p.queue);
	watch(net, channel);
	wake(net, node_of(net, channel), dir_of(net, number_of(net, channel)));
}

/*
 * Returns a credit to the output that feeds @channel, after the credit delay; if it is 0, at once.
 * With MBS, whose rules read the counters in this phase, a credit without delay comes in a later
 * phase of the cycle (handle_late()).
 */
static inline void give_back(struct flow_net *net, u32 channel, bool critical)
{
	u32 up = feeder(net, node_of(net, channel), number_of(net, channel));

	if (!net->p.credit_delay && net->rule != TN_BUBBLE_MBS)
		receive_credit(net, up, critical);
	else
		wheel_add(net, &net->late, net->now + net->p.credit_delay,
			  (u64)(EV_CREDIT | (unsigned int)critical << 8) << 32 | up);
}

/* Frees a buffer of input @channel; the output of the same ring has the same number. */
static inline void release_buffer(struct flow_net *net, u32 channel, bool critical)
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

/* Frees the buffer of the first packet of input @channel. */
static inline void first_freed(struct flow_net *net, u32 channel)
{
	bool critical = net->input[channel].critical;

	net->input[channel].critical = false;
	release_buffer(net, channel, critical);
}

/* --- packets --------------------------------------------------------------- */

static void record_delivery(struct flow_net *net, u32 packet)
{
	const struct packet *p = &net->packet[packet];
	u32 took = net->now - p->born, bin = took;

	/*
	 * The histogram has 16 bins of one cycle, and then 16 bins for each doubling of the
	 * latency.
	 */
	if (took >= 16) {
		unsigned int shift = 27u - (unsigned int)__builtin_clz(took);

		bin = (shift + 1) * 16 + (took >> shift & 15);
	}
	invariant(bin < LATENCIES && net->inside && p->dim == net->dims);
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

void input_ready(struct flow_net *net, u32 channel)
{
	u32 node = node_of(net, channel);
	unsigned int number = number_of(net, channel), dir, out = net->host;

	invariant(net->input[channel].count && !net->input[channel].sending);
	net->input[channel].since = net->now;
	dir = route(net, &net->packet[first_of(net, channel)]);
	if (dir != net->dirs)
		out = net->vcs == 1 ? dir : net->p.policy->output(net, node, number, dir);
	if (out != NONE)
		net->output[channel_of(net, node, out)].requests |= 1u << number;
	wake(net, node, dir);
}

static inline void finish_departure(struct flow_net *net, u32 channel)
{
	struct input *in = &net->input[channel];
	u32 node = node_of(net, channel);
	unsigned int number = number_of(net, channel), n, dir = net->dirs;
	u32 *slot = slots_of(net, channel, &n);

	invariant(in->count && in->sending && in->head < n);
	if (in->out == net->host)
		record_delivery(net, slot[in->head]);
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
	/* A packet that has just moved from the backlog into an empty queue is already ready. */
	if (in->count && in->since != net->now)
		input_ready(net, channel);
}

/* --- false packets --------------------------------------------------------- */

static void check_timer(struct flow_net *net, u32 channel)
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

static void answer_request(struct flow_net *net, u32 channel)
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

static void handle_late(struct flow_net *net, u64 ev)
{
	u32 channel = (u32)ev;

	if ((ev >> 32 & 0xff) == EV_CREDIT) {
		receive_credit(net, channel, ev >> 40);
	} else {
		net->node[node_of(net, channel)].idle |= 1u << number_of(net, channel);
		wake(net, node_of(net, channel), number_of(net, channel));
	}
}

/* Return: the bucket of this cycle, to which events may still be added. */
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
			finish_departure(net, (u32)ev);
		else if (ev & HEAD_LEFT)
			first_freed(net, (u32)ev);
		else
			release_buffer(net, (u32)ev, false);
	}
	b->n = 0;
	b = bucket_now(net, &net->arrive);
	for (u32 i = 0; i < b->n; i++)
		append_packet(net, (u32)b->ev[i], (u32)(b->ev[i] >> 32));
	b->n = 0;
	b = bucket_now(net, &net->late);
	for (u32 i = 0; i < b->n; i++)
		handle_late(net, b->ev[i]);
	b->n = 0;
	b = bucket_now(net, &net->ask);
	for (u32 i = 0; i < b->n; i++) {
		if (b->ev[i] >> 32 == EV_TIMER)
			check_timer(net, (u32)b->ev[i]);
		else
			answer_request(net, (u32)b->ev[i]);
	}
	b->n = 0;
	births(net);
	net->p.policy->arbitrate(net);
	return net->failed ? -ENOMEM : 0;
}
