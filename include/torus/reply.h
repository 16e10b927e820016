/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Content of the replies and notifications of a NIC. NICs fill these structs and put them into
 * messages, libtorus parses them out of messages, both by tables that are made from
 * include/uapi/torus.yaml (kernel/req). <torus/torus.h> includes this.
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

/** struct torus_device - what DEVICE_GET says */
struct torus_device {
	char name[TORUS_NAME_MAX + 1];
	char ifname[16];
	char driver[16];
	uint32_t ifindex;
	uint64_t guid;
	uint32_t epoch;
	uint8_t nports;
	bool bootstrap;
	bool placed;			/* the following are set */
	struct torus_shape shape;
	struct torus_coords coords;
	uint32_t node;
	uint64_t version;
	uint32_t row_count;
	uint64_t counter[TORUS_NC_COUNT];
	uint32_t relay_packets;		/* kept for others as a relay; 0: the NIC does not say */
	uint32_t payload_max;		/* bytes of its largest packet; 0: the NIC does not say */
	uint64_t uptime;		/* ns since it began; 0: the NIC does not say */
	uint64_t root_epoch;		/* of the root that it obeys; 0: none */
	uint64_t root_guid;
	uint64_t rows_epoch;		/* of the root whose rows are active, once placed; 0:
					 * none's */
};

/** struct torus_fault - faults a software NIC puts into what a port sends */
struct torus_fault {
	uint64_t ber;			/* units of 1e-18 */
	uint64_t latency_ns;
	uint64_t seed;
	bool silence;
	uint64_t vb;			/* share of packets that follow a copy marked bad, 1e-18 */
};

/**
 * struct torus_line - the cable that a port of a software NIC receives from
 * @length: cm; 0: none, nothing to train
 * @loss: mdB per metre, for the fastest bits at the highest rate
 * @crosstalk: per mille of the swing, from each neighbouring lane
 * @drift: per mille of the loss, with temperature
 * @ageing: mdB per second that @aged lanes lose
 * @temperature: K; 0: as it is. @loss is said of 293 K
 * @dead, @aged: masks of lanes
 */
struct torus_line {
	uint32_t length, loss, crosstalk, drift, ageing, temperature;
	uint16_t dead, aged;
};

/**
 * struct torus_lane - a lane of a receiver, as trained and last looked at
 * @state: enum torus_lane_state
 * @pre, @post: settings of the transmitter's taps
 * @height, @width: of the eye from its centre, mV and 1/1000 UI
 * @margin: how large the mask could be, percent
 * @ctle, @dfe: settings of the receiver's equaliser + 1; 0: its driver sets none
 * @ber: to be expected, units of 1e-18
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
 * @swing: mV from its centre to the first and last row; to first and last column: 1/2 UI
 * @mask_height, @mask_width: from its centre, mV and 1/1000 UI
 * @map: -log10 of the bit error rate
 */
struct torus_eye {
	uint32_t ifindex;
	uint8_t port, lane;
	uint16_t swing, mask_height, mask_width;
	uint8_t map[TORUS_EYE_ROWS][TORUS_EYE_COLS];
};

/** struct torus_link - what LINK_GET says of a port */
struct torus_link {
	uint32_t ifindex;		/* of the NIC's netdev; 0: it does not say */
	uint8_t port;
	uint8_t state;			/* enum torus_link_state */
	uint64_t state_age;		/* ns in this state; not in events */
	uint8_t old_state;		/* in events */
	uint8_t reason;			/* enum torus_link_reason */
	bool admin;
	bool carrier;
	bool closed;
	char lower[16];
	uint32_t session;
	uint16_t seq;
	uint64_t peer_guid;
	uint8_t peer_port;
	uint8_t retry;			/* enum torus_retry: spoken now or last */
	uint8_t retry_wanted;
	bool modelled;			/* a software NIC's: with fault and line */
	struct torus_fault fault;
	struct torus_line line;
	uint8_t nlanes;		/* 0: no SerDes */
	struct torus_lane lane[TORUS_LANES_MAX];
	uint64_t counter[TORUS_PC_COUNT];
	uint64_t gauge[TORUS_PG_COUNT];
};

/** struct torus_flow - what FLOW_GET says */
struct torus_flow {
	uint32_t ifindex;
	uint64_t version;
	uint32_t epoch;
	uint64_t counter[TORUS_FC_COUNT][TORUS_COLOURS];
};

/** struct torus_park - what PARK_GET says */
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
 * @from, @to: node ids
 * @vc: enum torus_vc
 * @bytes: that they take in the segment
 * @age: ns since the oldest was parked
 */
struct torus_park_flow {
	uint32_t from, to;
	uint8_t vc;
	uint64_t packets, bytes, age;
};

/**
 * struct torus_park_flows - what PARK_FLOWS_GET says
 * @nflows, @flow: in the order in which they were parked
 * @more: parked packets that are not counted in these
 */
struct torus_park_flows {
	uint32_t ifindex;
	uint8_t nflows;
	struct torus_park_flow flow[TORUS_PARK_FLOWS_MAX];
	uint64_t more;
};

#endif /* TORUS_REPLY_H */
