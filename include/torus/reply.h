/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Contents of the replies and notifications of a NIC. NICs encode these structs, and libtorus
 * decodes them, by tables that are generated from include/uapi/torus.yaml (kernel/req).
 * <torus/torus.h> includes this. "0: unknown" stands where older NICs do not report a value.
 */
#ifndef TORUS_REPLY_H
#define TORUS_REPLY_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
#endif

#include "uapi.h"

/**
 * struct torus_device - reply of DEVICE_GET: a NIC
 * @name: name of the NIC
 * @ifname: name of the NIC's network interface
 * @driver: "torus" (the kernel module) or "torusemu"
 * @ifindex: index of the NIC's network interface; 0: the NIC has none
 * @guid: identity of the NIC, not 0; the same at every start
 * @epoch: random number, drawn at every start of the NIC
 * @nports: number of ports, 2 to TORUS_MAX_PORTS, even
 * @bootstrap: the bootstrap flag is set
 * @placed: the NIC has coordinates; @shape to @row_count and @rows_epoch are valid
 * @shape: shape of the fabric
 * @coords: coordinates of the NIC
 * @node: node id of @coords
 * @version: table version of the active rows
 * @row_count: number of rows, one for each node
 * @counter: counters, indexed by enum torus_node_counter
 * @relay_packets: packets that the NIC may hold for other nodes as a relay; 0: unknown
 * @payload_max: payload of its largest packet, bytes; 0: unknown
 * @uptime: time since the start of the NIC, ns; 0: unknown
 * @root_epoch: epoch of the root that the NIC obeys; 0: it obeys no root
 * @root_guid: GUID of that root
 * @rows_epoch: epoch of the root that committed the active rows; 0: no root did
 * @plan: prefixes of the nodes' IP addresses; lengths 0: the NIC knows only the default prefixes
 */
struct torus_device {
	char name[TORUS_NAME_MAX + 1];
	char ifname[16];
	char driver[16];
	uint32_t ifindex;
	uint64_t guid;
	uint32_t epoch;
	uint8_t nports;
	bool bootstrap;
	bool placed;
	struct torus_shape shape;
	struct torus_coords coords;
	uint32_t node;
	uint64_t version;
	uint32_t row_count;
	uint64_t counter[TORUS_NC_COUNT];
	uint32_t relay_packets;
	uint32_t payload_max;
	uint64_t uptime;
	uint64_t root_epoch;
	uint64_t root_guid;
	uint64_t rows_epoch;
	struct torus_plan plan;
};

#define TORUS_SILENCE_BOTH 1	/* the port neither sends nor receives */
#define TORUS_SILENCE_SEND 2	/* the port receives, but sends nothing */

/**
 * struct torus_fault - faults that a software NIC injects at a port
 * @ber: bit error rate of the frames that the port sends, units of 1e-18
 * @latency_ns: delay of the frames that the port sends, at most TORUS_LATENCY_MAX
 * @seed: seed of the random numbers for bit errors, for @vb, and for the differences between lanes
 * @silence: TORUS_SILENCE_..., or 0: the port sends and receives
 * @vb: share of packets before which a copy marked bad (VB) is sent, units of 1e-18
 */
struct torus_fault {
	uint64_t ber;
	uint64_t latency_ns;
	uint64_t seed;
	uint8_t silence;
	uint64_t vb;
};

/**
 * struct torus_line - model of the cable that a port of a software NIC receives from
 * @length: cm; 0: there is no model, and the link is not trained
 * @loss: loss in mdB per metre, at the highest rate and TORUS_CABLE_KELVIN
 * @crosstalk: crosstalk from each neighbouring lane, per mille of the swing
 * @drift: change of the loss with temperature, per mille
 * @ageing: loss that the lanes in @aged add, mdB per second
 * @temperature: temperature of the cable, K; 0: unchanged
 * @dead: mask of lanes without a signal
 * @aged: mask of lanes that age
 */
struct torus_line {
	uint32_t length, loss, crosstalk, drift, ageing, temperature;
	uint16_t dead, aged;
};

/**
 * struct torus_lane - a lane of a receiver: results of training, and its eye when last measured
 * @state: enum torus_lane_state
 * @pre: setting of the transmitter's pre-cursor tap
 * @post: setting of the transmitter's post-cursor tap
 * @height: height of the eye from its centre, mV
 * @width: width of the eye from its centre, 1/1000 UI
 * @margin: size of the largest mask that fits the eye, percent of the mask
 * @ctle: setting of the receiver's linear equaliser, plus 1; 0: the driver does not set it
 * @dfe: setting of the first tap of the receiver's decision feedback equaliser, plus 1; 0: the
 *	driver does not set it
 * @ber: expected bit error rate, units of 1e-18
 */
struct torus_lane {
	uint8_t state, pre, post;
	uint16_t height, width;
	uint16_t margin;
	uint8_t ctle, dfe;
	uint64_t ber;
};

/**
 * struct torus_eye - map of an eye
 * @ifindex: index of the NIC's network interface
 * @port: port of the link
 * @lane: lane of the link
 * @swing: voltage from the centre to the first and last row, mV; first and last column are at 1/2
 *	UI
 * @mask_height: height of the mask from its centre, mV
 * @mask_width: width of the mask from its centre, 1/1000 UI
 * @map: -log10 of the bit error rate, 0 to 18
 */
struct torus_eye {
	uint32_t ifindex;
	uint8_t port, lane;
	uint16_t swing, mask_height, mask_width;
	uint8_t map[TORUS_EYE_ROWS][TORUS_EYE_COLS];
};

/**
 * struct torus_link - reply of LINK_GET, and LINK_NTF: a port and its link
 * @ifindex: index of the NIC's network interface; 0: unknown
 * @port: number of the port
 * @state: enum torus_link_state
 * @state_age: time in @state, ns; not in events
 * @old_state: state before the change; only in events
 * @reason: why the link last left the up state, enum torus_link_reason
 * @admin: administratively up
 * @carrier: the lower device has carrier
 * @closed: packets for the port are parked until it is reopened (PARK_REPLAY)
 * @lower: name of the lower device, or ""
 * @session: session of the present or last time when the link was up
 * @seq: sequence number that is expected next from the peer
 * @peer_guid: GUID of the NIC at the other end; 0: unknown
 * @peer_port: port of that NIC
 * @retry: protocol in use, or last used, enum torus_retry
 * @retry_wanted: protocol that the port asks for, enum torus_retry
 * @differs: enum torus_differs: the difference between both ends that keeps the link down, if
 *	@reason is mismatch or bubble
 * @differs_own: value of this end, or the number of slots that its policy needs
 * @differs_peer: value of the other end; torus_differs_text() writes either
 * @modelled: the NIC is a software NIC; @fault and @line are valid
 * @fault: injected faults
 * @line: modelled cable
 * @nlanes: lanes of the receiver, valid entries of @lane; 0: no SerDes
 * @lane: lanes of the receiver; not in events
 * @counter: counters, indexed by enum torus_port_counter; not in events
 * @gauge: gauges, indexed by enum torus_port_gauge
 */
struct torus_link {
	uint32_t ifindex;
	uint8_t port;
	uint8_t state;
	uint64_t state_age;
	uint8_t old_state;
	uint8_t reason;
	bool admin;
	bool carrier;
	bool closed;
	char lower[16];
	uint32_t session;
	uint16_t seq;
	uint64_t peer_guid;
	uint8_t peer_port;
	uint8_t retry;
	uint8_t retry_wanted;
	uint8_t differs;
	uint32_t differs_own, differs_peer;
	bool modelled;
	struct torus_fault fault;
	struct torus_line line;
	uint8_t nlanes;
	struct torus_lane lane[TORUS_LANES_MAX];
	uint64_t counter[TORUS_PC_COUNT];
	uint64_t gauge[TORUS_PG_COUNT];
};

/**
 * struct torus_flow - reply of FLOW_GET: the counters that the root adds up over all nodes in a
 * recovery
 * @ifindex: index of the NIC's network interface
 * @version: table version of the NIC's active rows
 * @epoch: epoch of the NIC; another number after every start, when counters begin at 0
 * @counter: counters, indexed by enum torus_flow_counter and colour
 */
struct torus_flow {
	uint32_t ifindex;
	uint64_t version;
	uint32_t epoch;
	uint64_t counter[TORUS_FC_COUNT][TORUS_COLOURS];
};

/**
 * struct torus_park - reply of PARK_GET, and PARK_NTF: the parking segment
 * @parked: number of packets in the segment
 * @unresolved: number of those parked packets that the peer of a dead link may have accepted
 *	already
 * @bytes: bytes of the segment in use
 * @bytes_max: size of the segment
 * @held: number of packets that wait in this node because their destinations are on hold
 * @flow: the NIC's flow counters of the same moment
 */
struct torus_park {
	uint64_t parked;
	uint64_t unresolved;
	uint64_t bytes;
	uint64_t bytes_max;
	uint64_t held;
	struct torus_flow flow;
};

/**
 * struct torus_park_flow - parked packets of one flow
 * @from: node id of the flow's source
 * @to: node id of the flow's destination
 * @vc: enum torus_vc
 * @packets: number of parked packets of the flow
 * @bytes: bytes that these packets take in the segment
 * @age: time since the oldest of them was parked, ns
 */
struct torus_park_flow {
	uint32_t from, to;
	uint8_t vc;
	uint64_t packets, bytes, age;
};

/**
 * struct torus_park_flows - reply of PARK_FLOWS_GET: flows with parked packets
 * @ifindex: index of the NIC's network interface
 * @nflows: number of valid entries of @flow
 * @flow: in the order in which their first packets were parked
 * @more: number of parked packets that @flow does not include
 */
struct torus_park_flows {
	uint32_t ifindex;
	uint8_t nflows;
	struct torus_park_flow flow[TORUS_PARK_FLOWS_MAX];
	uint64_t more;
};

#endif /* TORUS_REPLY_H */
