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
#define LATENCIES 768		/* of the histogram */

struct packet {
	u32 born;
	u32 src, dst;
	int16_t off[TORUS_MAX_DIMS];	/* hops to go, with sign */
	u32 next;			/* in the free list or a backlog */
	u8 dim;				/* first dimension that may have hops left */
};

struct input {
	u32 since;		/* when the packet became the first, or was granted */
	u16 head, count;	/* of its slots */
	u8 out;			/* output that the first is being sent to */
	bool sending;
	bool critical;		/* its buffer is to be given back as critical */
};

struct output {
	u32 requests;		/* bit i: input i */
	struct tn_bubble bubble;
	u8 last;		/* input granted last */
	bool timer;		/* an EV_TIMER is under way */
};

struct node {
	u64 random;
	u32 act;		/* mask of channels (dir, or dirs for the sink) to examine */
	u32 idle;		/* channels that are not sending */
	u32 waiting;		/* inputs whose first packet is not granted (adaptive) */
	u32 next;		/* in a bucket of births */
	u32 wait;		/* rounds of the wheel of births to let pass */
	u32 turn;		/* distribute: destinations so far; adaptive: arbiter */
	u16 wrap;		/* dirs whose link closes the ring */
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
	unsigned int slots;	/* of an input's ring of packet numbers */
	unsigned int source_slots;

	struct node *node;
	struct input *input;
	struct output *output;
	u32 *slot;		/* of all inputs, slots each */
	u32 *source;		/* of all source queues, source_slots each */
	u32 *neighbour;		/* node * dirs + dir */
	u64 *active;		/* bit: node with act */

	struct packet *packet;
	u32 packets, free_packet;

	struct wheel leave;	/* inputs whose packet's tail leaves, and the above */
	struct wheel arrive;	/* input | packet << 32 */
	struct wheel late;	/* EV_CREDIT, EV_RESPONSE, EV_IDLE: after those */
	struct wheel ask;	/* EV_TIMER, EV_REQUEST: after all others */
	u32 birth[BIRTHS];
	double inverse_log;	/* 1 / ln(1 - p) of the births' geometric distribution */
	u64 traced;		/* entries of the trace taken */
	u32 *backlog;		/* trace: first and last packet waiting for the source queue */

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

/* The opposite of @dir is also the direction of the node that feeds input @dir. */
static inline unsigned int back(const struct flow_net *net, unsigned int dir)
{
	return dir < net->dims ? dir + net->dims : dir - net->dims;
}

/* The output that feeds input @number of @node, which is not the source queue. */
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

/* Return: true, with FLOW_HEAD, if the first packet's buffer is free already. */
static inline bool head_left(const struct flow_net *net, const struct input *in)
{
	return net->p.freed == FLOW_HEAD && in->sending && in->since != net->now;
}

/* Return: the direction in dimension order, or dirs if the packet has arrived. */
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

/* flow_birth.c: packets born */
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
