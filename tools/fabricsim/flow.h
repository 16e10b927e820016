/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A torus of virtual cut-through routers, simulated cycle by cycle.
 *
 * A router has an input queue of whole packet buffers for each direction of travel
 * (and virtual channel), a source queue, a crossbar, and outputs that carry a phit a
 * cycle. A packet at the head of its queue asks for an output; a cycle later at the
 * earliest another may. Once granted at cycle t it streams a phit a cycle: its head
 * can be granted at the next node at t + hop, its tail has left at t + packet. So an
 * unhindered packet over h hops takes h * hop + packet cycles, from its generation to
 * its consumption.
 *
 * The steps of a cycle: buffers whose packets have left are freed; heads of packets
 * arrive; credits and false packets arrive; packets are generated; outputs are granted.
 * No step sees what another node does in the same cycle, so the order of nodes does not
 * matter.
 */
#ifndef FLOW_H
#define FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

enum flow_pattern { FLOW_UNIFORM, FLOW_DISTRIBUTE, FLOW_TRANSPOSE, FLOW_HOTREGION,
		    FLOW_COMPLEMENT, FLOW_TORNADO, FLOW_NEIGHBOUR, FLOW_TRACE };
enum flow_test { FLOW_DOWNSTREAM, FLOW_LOCAL, FLOW_EITHER };
enum flow_freed { FLOW_TAIL, FLOW_HEAD };
enum flow_arbiter { FLOW_ROUND_ROBIN, FLOW_RANDOM, FLOW_OLDEST, FLOW_TRANSIT };
enum flow_sink { FLOW_SINGLE, FLOW_MULTIPLE };
enum flow_tie { FLOW_TIE_RANDOM, FLOW_TIE_PLUS };
enum flow_place { FLOW_PLACE_RANDOM, FLOW_PLACE_EVEN };

/* Names for the values of each enum above, in the same order, ended by NULL. */
extern const char *const flow_patterns[], *const flow_tests[], *const flow_freeds[],
	*const flow_arbiters[], *const flow_sinks[], *const flow_ties[], *const flow_places[];

struct flow_policy;		/* struct flow_policy is in flow_policy.h */

#define FLOW_POLICY(name) extern const struct flow_policy name;
#include "flow_policies.h"
/* All policies, ended by NULL. */
extern const struct flow_policy *const flow_policies[];

const char *flow_policy_name(const struct flow_policy *policy);
/** flow_policy_has_bubbles() - Return: true if the policy uses flow_params.bubbles */
bool flow_policy_has_bubbles(const struct flow_policy *policy);

/** struct flow_entry - a packet of a trace */
struct flow_entry {
	uint32_t time;		/* cycle from which on the packet can be sent, from 0 */
	uint32_t src, dst;
};

/** struct flow_trace - packets, sorted by time */
struct flow_trace {
	struct flow_entry *entry;
	uint64_t n;
};

/**
 * struct flow_params - parameters of a simulation
 * @bubbles: critical bubbles in each ring (CBS, MBS); 0: the default, see flow_ring_bubbles()
 * @queue: buffers of an input, packets
 * @source_queue: most packets that wait at their source; while this queue is full, the node
 *	generates no packets
 * @packet: length of a packet, phits
 * @hop: cycles from the grant of an output to the earliest grant in the next node
 * @credit_delay: cycles until the sender has the credit of a freed buffer
 * @timer: if all free buffers of an input are critical bubbles for this number of cycles, MBS
 *	requests a false packet
 * @response: length of a false packet, phits
 * @test: the inputs in which BLOC requires two free buffers
 * @freed: event after which a buffer counts as free: the head or the tail of its packet has left
 * @sink: packets that a node consumes at a time: one, or one from each input
 * @tie: the direction to a destination half way round a ring of even size
 * @place: places of critical bubbles at the beginning
 * @load: phits generated for each node and cycle; 0 to 1
 * @trace: packets that replace pattern and load, or NULL; the caller owns the trace
 */
struct flow_params {
	struct torus_shape shape;
	const struct flow_policy *policy;
	unsigned int bubbles, queue, source_queue, packet, hop, credit_delay, timer, response;
	enum flow_test test;
	enum flow_freed freed;
	enum flow_arbiter arbiter;
	enum flow_sink sink;
	enum flow_tie tie;
	enum flow_place place;
	enum flow_pattern pattern;
	double load;
	uint32_t warmup, cycles;
	uint64_t seed;
	const struct flow_trace *trace;
};

/**
 * struct flow_result - results of the time after the warm-up
 * @accepted: phits consumed for each node and cycle
 * @latency: cycles from birth to consumption, mean of the packets consumed
 * @p99: latency that 99 of 100 packets do not exceed, with a precision of 1/16
 * @wait_max: longest time that a packet was first in its queue, over the whole run
 * @refused: packets that were not generated because the source queue was full
 * @deadlock: a deadlock was found, so the run ended in cycle @end
 * @requests, @responses: false packets requested and sent, over the whole run
 * @cpu: seconds of processor time
 * @bytes: memory of the simulation
 * @consistent: at the end all packets, buffers and bubbles were accounted for
 */
struct flow_result {
	double accepted, latency, cpu;
	uint64_t born, delivered, refused, requests, responses, bytes;
	uint32_t p99, wait_max, end;
	bool deadlock, consistent;
};

struct flow_net;

/**
 * flow_check_params() - check that these parameters can be simulated
 * Return: 0; or -1 with the reason in @why (256 bytes).
 */
int flow_check_params(const struct flow_params *p, char *why);

/**
 * flow_ring_bubbles() - critical bubbles in the rings of dimension @dim
 *
 * The number given, or by default: with MBS, a quarter of the ring's buffers, and in rings of more
 * than 8 nodes three eighths, which is within 3 % of the best for uniform traffic (README.md); with
 * CBS, one, since as many as an input has buffers may starve a node without end.
 */
unsigned int flow_ring_bubbles(const struct flow_params *p, unsigned int dim);

/** flow_new() - make a network; @p has been checked, and is copied. Return: the network, or NULL */
struct flow_net *flow_new(const struct flow_params *p);
void flow_free(struct flow_net *net);

/** flow_run() - run to the end, or until a deadlock is found. Return: 0 or -ENOMEM */
int flow_run(struct flow_net *net, struct flow_result *result);

/** flow_step() - run one cycle, for callers that inspect each. Return: 0 or -ENOMEM */
int flow_step(struct flow_net *net);

/** flow_on_delivery() - call @fn for each packet in the cycle of its consumption */
void flow_on_delivery(struct flow_net *net,
		      void (*fn)(void *arg, uint32_t now, uint32_t src, uint32_t dst,
				 uint32_t born), void *arg);

/** flow_deadlocked() - Return: number of packets that can never move again */
uint64_t flow_deadlocked(struct flow_net *net);

/** flow_consistent() - Return: true if no buffer, packet or bubble is lost or duplicated */
bool flow_consistent(const struct flow_net *net);

/** flow_inside() - Return: number of packets born and not yet consumed */
uint64_t flow_inside(const struct flow_net *net);

/** flow_false_packets() - get the numbers of false packets requested and sent so far */
void flow_false_packets(const struct flow_net *net, uint64_t *requests, uint64_t *responses);

/** flow_buffers() - Return: number of modelled packet buffers, without source queues */
uint64_t flow_buffers(const struct flow_params *p);

#endif /* FLOW_H */
