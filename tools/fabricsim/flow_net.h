/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Internals of the flow simulator, shared by flow_*.c only.
 *
 * No work is done for packets and routers without an event. A transmission is contiguous, so its
 * timing is known when it is granted: two events, the arrival of its head and the departure of its
 * tail, represent all its phits. Events are stored in wheels with one bucket a cycle; a router is
 * visited only in a cycle in which something in it changed (struct node, act).
 *
 * Numbering. A node has dirs = 2 * dimensions directions of travel, and vcs virtual
 * channels. Its inputs and outputs are numbered alike: dir * vcs + vc; then
 * the host: source queue (input) and sink (output). Those of all nodes:
 * node << shift | number. A packet that travels along dir arrives in input dir, so
 * one that goes on in its ring has the same number at input and output.
 */
#ifndef FLOW_NET_H
#define FLOW_NET_H

#include <stdlib.h>

#include "lib/deps/invariant.h"
#include "flow.h"
#include "kernel/core/bubble.h"
#include "kernel/core/splitmix64.h"

#define NONE UINT32_MAX
#define FIRST 2			/* the first cycle; 0 is a timer that is stopped */
#define BIRTHS 4096		/* buckets of the wheel of births */
#define LATENCIES 768		/* bins of the histogram of latencies */

struct packet {
	u32 born;
	u32 src, dst;
	int16_t off[TORUS_MAX_DIMS];	/* hops left in each dimension, with sign */
	u32 next;			/* next packet in the free list or in a backlog */
	u8 dim;				/* first dimension that may have hops left */
};

struct input {
	u32 since;		/* cycle in which the packet became the first of the queue, or
				 * was granted an output */
	u16 head, count;	/* first slot and number of packets in the ring of slots */
	u8 out;			/* output to which the first packet is being sent */
	bool sending;
	bool critical;		/* the buffer of the first packet has to be returned as critical */
};

struct output {
	u32 requests;		/* bit i: the first packet of input i requests this output */
	struct tn_bubble bubble;
	u8 last;		/* input that was granted last */
	bool timer;		/* an EV_TIMER is under way */
};

struct node {
	u64 random;
	u32 act;		/* mask of channels (dir, or dirs for the sink) to examine */
	u32 idle;		/* channels that are not sending */
	u32 waiting;		/* inputs whose first packet was not granted an output yet
				 * (adaptive) */
	u32 next;		/* next node in a bucket of births */
	u32 wait;		/* rounds of the wheel of births before the birth */
	u32 turn;		/* distribute: number of destinations so far; adaptive: state of
				 * the arbiter */
	u16 wrap;		/* mask of directions in which the node's link closes the ring */
	u16 at[TORUS_MAX_DIMS];
};

struct bucket {
	u64 *ev;
	u32 n, room;
};

struct wheel {
	struct bucket *bucket;
	u32 mask;
};

/* Events in the wheel leave: a false packet's tail has arrived, a packet's head has left. */
#define RESPONSE_ENDS (1ull << 32)
#define HEAD_LEFT (1ull << 33)

enum event { EV_CREDIT, EV_RESPONSE, EV_IDLE, EV_TIMER, EV_REQUEST };

struct flow_net {
	struct flow_params p;
	u32 now;
	unsigned int dims, dirs, vcs, shift, host;
	u32 nodes;
	bool failed;		/* out of memory */
	enum tn_bubble_policy rule;
	unsigned int slots;	/* length of an input's ring of packet numbers */
	unsigned int source_slots;

	struct node *node;
	struct input *input;
	struct output *output;
	u32 *slot;		/* rings of all inputs, @slots entries each */
	u32 *source;		/* rings of all source queues, @source_slots entries each */
	u32 *neighbour;		/* neighbours, by node * dirs + dir */
	u64 *active;		/* bit mask of the nodes whose @act is not 0 */

	struct packet *packet;
	u32 packets, free_packet;

	struct wheel leave;	/* inputs whose packet's tail leaves, with the flags above */
	struct wheel arrive;	/* arriving packets: input | packet << 32 */
	struct wheel late;	/* EV_CREDIT, EV_RESPONSE, EV_IDLE: handled after arrivals */
	struct wheel ask;	/* EV_TIMER, EV_REQUEST: handled after all other events */
	u32 birth[BIRTHS];
	double inverse_log;	/* 1 / ln(1 - p) of the births' geometric distribution */
	u64 traced;		/* number of trace entries that were read */
	u32 *backlog;		/* for a trace: first and last packet of each node that wait for
				 * its source queue */

	u64 born, refused, delivered, requests, responses, inside;
	u32 wait_max;
	bool measuring;
	u64 got, latency_sum;
	u32 histogram[LATENCIES];
	u64 bytes;

	void (*on_delivery)(void *arg, uint32_t now, uint32_t src, uint32_t dst, uint32_t born);
	void *on_arg;
};

static inline u32 node_of(const struct flow_net *net, u32 channel)
{
	return channel >> net->shift;
}

static inline unsigned int number_of(const struct flow_net *net, u32 channel)
{
	return channel & ((1u << net->shift) - 1);
}

static inline u32 channel_of(const struct flow_net *net, u32 node, unsigned int number)
{
	return node << net->shift | number;
}

/*
 * Return: the opposite of direction @dir, which is also the direction of the node that feeds input
 * @dir.
 */
static inline unsigned int back(const struct flow_net *net, unsigned int dir)
{
	return dir < net->dims ? dir + net->dims : dir - net->dims;
}

/* Return: the output that feeds input @number of @node; not for the source queue. */
static inline u32 feeder(const struct flow_net *net, u32 node, unsigned int number)
{
	unsigned int dir = net->vcs == 1 ? number : number / net->vcs;

	return channel_of(net, net->neighbour[node * net->dirs + back(net, dir)], number);
}

static inline u32 *slots_of(const struct flow_net *net, u32 channel, unsigned int *n)
{
	unsigned int number = number_of(net, channel);

	if (number == net->host) {
		*n = net->source_slots;
		return net->source + (size_t)node_of(net, channel) * net->source_slots;
	}
	*n = net->slots;
	return net->slot + ((size_t)node_of(net, channel) * net->host + number) * net->slots;
}

static inline u32 first_of(const struct flow_net *net, u32 channel)
{
	unsigned int n;
	u32 *slot = slots_of(net, channel, &n);

	return slot[net->input[channel].head];
}

/* Return: true if, with FLOW_HEAD, the buffer of the first packet is free already. */
static inline bool head_left(const struct flow_net *net, const struct input *in)
{
	return net->p.freed == FLOW_HEAD && in->sending && in->since != net->now;
}

/* Return: the next direction in dimension order, or dirs if the packet has arrived. */
static inline unsigned int route(const struct flow_net *net, struct packet *p)
{
	while (p->dim < net->dims && !p->off[p->dim])
		p->dim++;
	if (p->dim == net->dims)
		return net->dirs;
	return p->off[p->dim] > 0 ? p->dim : p->dim + net->dims;
}

static inline u64 random64(u64 *state)
{
	return splitmix64_mix(*state += SPLITMIX64_STEP);
}

static inline u32 below(u64 *state, u32 n)
{
	return (u32)((random64(state) >> 32) * n >> 32);
}

/* flow_wheel.c */
int wheel_make(struct flow_net *net, struct wheel *w, u32 longest);
void wheel_free(struct wheel *w);
void bucket_grow(struct flow_net *net, struct bucket *b);

static inline void wheel_add(struct flow_net *net, struct wheel *w, u32 when, u64 ev)
{
	struct bucket *b = &w->bucket[when & w->mask];

	invariant(when - net->now <= w->mask);
	if (unlikely(b->n == b->room)) {
		bucket_grow(net, b);
		if (net->failed)
			return;
	}
	b->ev[b->n++] = ev;
}

/* flow_birth.c: generation of packets */
void births_begin(struct flow_net *net);
void births(struct flow_net *net);
/* Moves a packet of the trace's backlog into the source queue, which has room. */
void births_refill(struct flow_net *net, u32 node);
void packet_drop(struct flow_net *net, u32 packet);

/* flow_step.c */
void input_ready(struct flow_net *net, u32 channel);

/* Appends @packet to the queue of the input @channel, which has room. */
static inline void append_packet(struct flow_net *net, u32 channel, u32 packet)
{
	struct input *in = &net->input[channel];
	unsigned int n, at = in->head + in->count;
	u32 *slot = slots_of(net, channel, &n);

	invariant(in->count < n);
	slot[at >= n ? at - n : at] = packet;
	if (!in->count++)
		input_ready(net, channel);
}

/* flow_pattern.c. Return: a destination, or NONE if this node sends nothing. */
u32 pattern_destination(struct flow_net *net, u32 src);

#endif /* FLOW_NET_H */
