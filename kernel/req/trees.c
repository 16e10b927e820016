// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Made by include/uapi/generate.py from torus.yaml: change that instead. */
#include "tree.h"

static const struct torus_field nest_lane_fields[] = {
	{ .attr = TORUS_LANE_A_STATE, NUMBER(torus_lane, state, 1), .checked = true },
	{ .attr = TORUS_LANE_A_PRE, NUMBER(torus_lane, pre, 1) },
	{ .attr = TORUS_LANE_A_POST, NUMBER(torus_lane, post, 1) },
	{ .attr = TORUS_LANE_A_HEIGHT, NUMBER(torus_lane, height, 2) },
	{ .attr = TORUS_LANE_A_WIDTH, NUMBER(torus_lane, width, 2) },
	{ .attr = TORUS_LANE_A_MARGIN, NUMBER(torus_lane, margin, 2) },
	{ .attr = TORUS_LANE_A_BER, NUMBER(torus_lane, ber, 8) },
	{ .attr = TORUS_LANE_A_CTLE, NUMBER(torus_lane, ctle, 1) },
	{ .attr = TORUS_LANE_A_DFE, NUMBER(torus_lane, dfe, 1) },
};

static const struct torus_tree nest_lane = {
	.set = &torus_set_lane,
	.field = nest_lane_fields,
	.fields = ARRAY_SIZE(nest_lane_fields),
	.size = sizeof(struct torus_lane),
};

static const struct torus_field nest_park_flow_fields[] = {
	{ .attr = TORUS_PARK_FLOW_A_FROM, NUMBER(torus_park_flow, from, 4) },
	{ .attr = TORUS_PARK_FLOW_A_TO, NUMBER(torus_park_flow, to, 4) },
	{ .attr = TORUS_PARK_FLOW_A_VC, NUMBER(torus_park_flow, vc, 1), .checked = true },
	{ .attr = TORUS_PARK_FLOW_A_PACKETS, NUMBER(torus_park_flow, packets, 8) },
	{ .attr = TORUS_PARK_FLOW_A_BYTES, NUMBER(torus_park_flow, bytes, 8) },
	{ .attr = TORUS_PARK_FLOW_A_AGE, NUMBER(torus_park_flow, age, 8) },
};

static const struct torus_tree nest_park_flow = {
	.set = &torus_set_park_flow,
	.field = nest_park_flow_fields,
	.fields = ARRAY_SIZE(nest_park_flow_fields),
	.size = sizeof(struct torus_park_flow),
};

static const struct torus_field nest_fault_fields[] = {
	{ .attr = TORUS_FAULT_BER, NUMBER(torus_link, fault.ber, 8) },
	{ .attr = TORUS_FAULT_SILENCE, NUMBER(torus_link, fault.silence, 1) },
	{ .attr = TORUS_FAULT_LATENCY, NUMBER(torus_link, fault.latency_ns, 8) },
	{ .attr = TORUS_FAULT_SEED, NUMBER(torus_link, fault.seed, 8) },
	{ .attr = TORUS_FAULT_CABLE, NUMBER(torus_link, line.length, 4) },
	{ .attr = TORUS_FAULT_LOSS, NUMBER(torus_link, line.loss, 4) },
	{ .attr = TORUS_FAULT_CROSSTALK, NUMBER(torus_link, line.crosstalk, 4) },
	{ .attr = TORUS_FAULT_DRIFT, NUMBER(torus_link, line.drift, 4) },
	{ .attr = TORUS_FAULT_AGEING, NUMBER(torus_link, line.ageing, 4) },
	{ .attr = TORUS_FAULT_AGED, NUMBER(torus_link, line.aged, 2) },
	{ .attr = TORUS_FAULT_DEAD, NUMBER(torus_link, line.dead, 2) },
	{ .attr = TORUS_FAULT_TEMPERATURE, NUMBER(torus_link, line.temperature, 4) },
	{ .attr = TORUS_FAULT_VB, NUMBER(torus_link, fault.vb, 8) },
};

static const struct torus_tree nest_fault = {
	.set = &torus_set_fault,
	.field = nest_fault_fields,
	.fields = ARRAY_SIZE(nest_fault_fields),
	.size = sizeof(struct torus_link),
};

static const struct torus_field torus_tree_device_get_fields[] = {
	{ .attr = TORUS_A_NAME, MEMBER(torus_device, name) },
	{ .attr = TORUS_A_IFINDEX, NUMBER(torus_device, ifindex, 4) },
	{ .attr = TORUS_A_IFNAME, MEMBER(torus_device, ifname) },
	{ .attr = TORUS_A_DRIVER, MEMBER(torus_device, driver) },
	{ .attr = TORUS_A_GUID, NUMBER(torus_device, guid, 8), .needed = true },
	{ .attr = TORUS_A_EPOCH, NUMBER(torus_device, epoch, 4) },
	{ .attr = TORUS_A_PORT_COUNT, NUMBER(torus_device, nports, 1), .needed = true },
	{ .attr = TORUS_A_BOOTSTRAP, NUMBER(torus_device, bootstrap, 1) },
	{ .attr = TORUS_A_RELAY_PACKETS, NUMBER(torus_device, relay_packets, 4) },
	{ .attr = TORUS_A_PAYLOAD_MAX, NUMBER(torus_device, payload_max, 4) },
	{ .attr = TORUS_A_UPTIME, NUMBER(torus_device, uptime, 8) },
	{ .attr = TORUS_A_ROOT_EPOCH, NUMBER(torus_device, root_epoch, 8) },
	{ .attr = TORUS_A_ROOT_GUID, NUMBER(torus_device, root_guid, 8) },
	{ .attr = TORUS_A_SHAPE, MEMBER(torus_device, shape.size), COUNT(torus_device, shape.ndims) },
	{ .attr = TORUS_A_COORDS, MEMBER(torus_device, coords.c), COUNT(torus_device, shape.ndims) },
	{ .attr = TORUS_A_NODE, NUMBER(torus_device, node, 4) },
	{ .attr = TORUS_A_VERSION, NUMBER(torus_device, version, 8) },
	{ .attr = TORUS_A_ROWS_EPOCH, NUMBER(torus_device, rows_epoch, 8) },
	{ .attr = TORUS_A_ROW_COUNT, NUMBER(torus_device, row_count, 4) },
	{ .attr = TORUS_A_NODE_COUNTERS, MEMBER(torus_device, counter) },
	{ .attr = TORUS_A_NET4, MEMBER(torus_device, plan.net4) },
	{ .attr = TORUS_A_NET4_LEN, NUMBER(torus_device, plan.len4, 1) },
	{ .attr = TORUS_A_NET6, MEMBER(torus_device, plan.net6) },
	{ .attr = TORUS_A_NET6_LEN, NUMBER(torus_device, plan.len6, 1) },
};

const struct torus_tree torus_tree_device_get = {
	.set = &torus_set_torus,
	.field = torus_tree_device_get_fields,
	.fields = ARRAY_SIZE(torus_tree_device_get_fields),
	.size = sizeof(struct torus_device),
};

static const struct torus_field torus_tree_link_get_fields[] = {
	{ .attr = TORUS_A_IFINDEX, NUMBER(torus_link, ifindex, 4) },
	{ .attr = TORUS_A_PORT, NUMBER(torus_link, port, 1), .needed = true, .checked = true },
	{ .attr = TORUS_A_LOWER, MEMBER(torus_link, lower) },
	{ .attr = TORUS_A_STATE, NUMBER(torus_link, state, 1), .needed = true, .checked = true },
	{ .attr = TORUS_A_REASON, NUMBER(torus_link, reason, 1), .checked = true },
	{ .attr = TORUS_A_ADMIN, NUMBER(torus_link, admin, 1) },
	{ .attr = TORUS_A_CLOSED, NUMBER(torus_link, closed, 1) },
	{ .attr = TORUS_A_CARRIER, NUMBER(torus_link, carrier, 1) },
	{ .attr = TORUS_A_SESSION, NUMBER(torus_link, session, 4) },
	{ .attr = TORUS_A_SEQ, NUMBER(torus_link, seq, 2) },
	{ .attr = TORUS_A_PEER_GUID, NUMBER(torus_link, peer_guid, 8) },
	{ .attr = TORUS_A_PEER_PORT, NUMBER(torus_link, peer_port, 1) },
	{ .attr = TORUS_A_RETRY, NUMBER(torus_link, retry, 1), .checked = true },
	{ .attr = TORUS_A_RETRY_WANTED, NUMBER(torus_link, retry_wanted, 1), .checked = true },
	{ .attr = TORUS_A_GAUGES, MEMBER(torus_link, gauge) },
	{ .attr = TORUS_A_FAULT, .nest = &nest_fault },
	{ .attr = TORUS_A_PORT_COUNTERS, MEMBER(torus_link, counter) },
	{ .attr = TORUS_A_LANES, MEMBER(torus_link, lane), COUNT(torus_link, nlanes), .nest = &nest_lane },
	{ .attr = TORUS_A_STATE_AGE, NUMBER(torus_link, state_age, 8) },
	{ .attr = TORUS_A_DIFFERS, NUMBER(torus_link, differs, 1) },
	{ .attr = TORUS_A_DIFFERS_OWN, NUMBER(torus_link, differs_own, 4) },
	{ .attr = TORUS_A_DIFFERS_PEER, NUMBER(torus_link, differs_peer, 4) },
};

const struct torus_tree torus_tree_link_get = {
	.set = &torus_set_torus,
	.field = torus_tree_link_get_fields,
	.fields = ARRAY_SIZE(torus_tree_link_get_fields),
	.size = sizeof(struct torus_link),
};

static const struct torus_field torus_tree_flow_get_fields[] = {
	{ .attr = TORUS_A_IFINDEX, NUMBER(torus_flow, ifindex, 4) },
	{ .attr = TORUS_A_VERSION, NUMBER(torus_flow, version, 8), .needed = true },
	{ .attr = TORUS_A_EPOCH, NUMBER(torus_flow, epoch, 4), .needed = true },
	{ .attr = TORUS_A_FLOW, MEMBER(torus_flow, counter), .needed = true },
};

const struct torus_tree torus_tree_flow_get = {
	.set = &torus_set_torus,
	.field = torus_tree_flow_get_fields,
	.fields = ARRAY_SIZE(torus_tree_flow_get_fields),
	.size = sizeof(struct torus_flow),
};

static const struct torus_field torus_tree_park_get_fields[] = {
	{ .attr = TORUS_A_PARKED, NUMBER(torus_park, parked, 8), .needed = true },
	{ .attr = TORUS_A_UNRESOLVED, NUMBER(torus_park, unresolved, 8), .needed = true },
	{ .attr = TORUS_A_PARK_BYTES, NUMBER(torus_park, bytes, 8) },
	{ .attr = TORUS_A_PARK_BYTES_MAX, NUMBER(torus_park, bytes_max, 8) },
	{ .attr = TORUS_A_HELD, NUMBER(torus_park, held, 8) },
	{ .attr = TORUS_A_IFINDEX, NUMBER(torus_park, flow.ifindex, 4) },
	{ .attr = TORUS_A_VERSION, NUMBER(torus_park, flow.version, 8) },
	{ .attr = TORUS_A_EPOCH, NUMBER(torus_park, flow.epoch, 4) },
	{ .attr = TORUS_A_FLOW, MEMBER(torus_park, flow.counter), .needed = true },
};

const struct torus_tree torus_tree_park_get = {
	.set = &torus_set_torus,
	.field = torus_tree_park_get_fields,
	.fields = ARRAY_SIZE(torus_tree_park_get_fields),
	.size = sizeof(struct torus_park),
};

static const struct torus_field torus_tree_link_ntf_fields[] = {
	{ .attr = TORUS_A_IFINDEX, NUMBER(torus_link, ifindex, 4) },
	{ .attr = TORUS_A_PORT, NUMBER(torus_link, port, 1), .needed = true, .checked = true },
	{ .attr = TORUS_A_LOWER, MEMBER(torus_link, lower) },
	{ .attr = TORUS_A_OLD_STATE, NUMBER(torus_link, old_state, 1), .checked = true },
	{ .attr = TORUS_A_STATE, NUMBER(torus_link, state, 1), .needed = true, .checked = true },
	{ .attr = TORUS_A_REASON, NUMBER(torus_link, reason, 1), .checked = true },
	{ .attr = TORUS_A_ADMIN, NUMBER(torus_link, admin, 1) },
	{ .attr = TORUS_A_CLOSED, NUMBER(torus_link, closed, 1) },
	{ .attr = TORUS_A_CARRIER, NUMBER(torus_link, carrier, 1) },
	{ .attr = TORUS_A_SESSION, NUMBER(torus_link, session, 4) },
	{ .attr = TORUS_A_SEQ, NUMBER(torus_link, seq, 2) },
	{ .attr = TORUS_A_PEER_GUID, NUMBER(torus_link, peer_guid, 8) },
	{ .attr = TORUS_A_PEER_PORT, NUMBER(torus_link, peer_port, 1) },
	{ .attr = TORUS_A_RETRY, NUMBER(torus_link, retry, 1), .checked = true },
	{ .attr = TORUS_A_RETRY_WANTED, NUMBER(torus_link, retry_wanted, 1), .checked = true },
	{ .attr = TORUS_A_GAUGES, MEMBER(torus_link, gauge) },
	{ .attr = TORUS_A_DIFFERS, NUMBER(torus_link, differs, 1) },
	{ .attr = TORUS_A_DIFFERS_OWN, NUMBER(torus_link, differs_own, 4) },
	{ .attr = TORUS_A_DIFFERS_PEER, NUMBER(torus_link, differs_peer, 4) },
};

const struct torus_tree torus_tree_link_ntf = {
	.set = &torus_set_torus,
	.field = torus_tree_link_ntf_fields,
	.fields = ARRAY_SIZE(torus_tree_link_ntf_fields),
	.size = sizeof(struct torus_link),
};

static const struct torus_field torus_tree_eye_get_fields[] = {
	{ .attr = TORUS_A_IFINDEX, NUMBER(torus_eye, ifindex, 4) },
	{ .attr = TORUS_A_PORT, NUMBER(torus_eye, port, 1), .checked = true },
	{ .attr = TORUS_A_LANE, NUMBER(torus_eye, lane, 1) },
	{ .attr = TORUS_A_EYE, MEMBER(torus_eye, map), .needed = true },
	{ .attr = TORUS_A_SWING, NUMBER(torus_eye, swing, 2), .needed = true },
	{ .attr = TORUS_A_MASK_HEIGHT, NUMBER(torus_eye, mask_height, 2) },
	{ .attr = TORUS_A_MASK_WIDTH, NUMBER(torus_eye, mask_width, 2) },
};

const struct torus_tree torus_tree_eye_get = {
	.set = &torus_set_torus,
	.field = torus_tree_eye_get_fields,
	.fields = ARRAY_SIZE(torus_tree_eye_get_fields),
	.size = sizeof(struct torus_eye),
};

static const struct torus_field torus_tree_park_flows_get_fields[] = {
	{ .attr = TORUS_A_IFINDEX, NUMBER(torus_park_flows, ifindex, 4) },
	{ .attr = TORUS_A_PARK_FLOWS, MEMBER(torus_park_flows, flow), COUNT(torus_park_flows, nflows), .nest = &nest_park_flow },
	{ .attr = TORUS_A_PARK_MORE, NUMBER(torus_park_flows, more, 8), .needed = true },
};

const struct torus_tree torus_tree_park_flows_get = {
	.set = &torus_set_torus,
	.field = torus_tree_park_flows_get_fields,
	.fields = ARRAY_SIZE(torus_tree_park_flows_get_fields),
	.size = sizeof(struct torus_park_flows),
};
