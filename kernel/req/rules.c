// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Made by include/uapi/generate.py from torus.yaml: change that instead. */
#include "policy.h"

static const struct torus_rule park_flow_rules[TORUS_PARK_FLOW_A_MAX + 1] = {
	[TORUS_PARK_FLOW_A_FROM] = { .name = "FROM", .kind = TORUS_U32, .min = 0, .max = 4294967295ULL },
	[TORUS_PARK_FLOW_A_TO] = { .name = "TO", .kind = TORUS_U32, .min = 0, .max = 4294967295ULL },
	[TORUS_PARK_FLOW_A_VC] = { .name = "VC", .kind = TORUS_U8, .min = 0, .max = 2 },
	[TORUS_PARK_FLOW_A_PACKETS] = { .name = "PACKETS", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_PARK_FLOW_A_BYTES] = { .name = "BYTES", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_PARK_FLOW_A_AGE] = { .name = "AGE", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
};

const struct torus_set torus_set_park_flow = {
	.name = "PARK_FLOW",
	.prefix = "PARK_FLOW.",
	.rules = park_flow_rules,
	.max = TORUS_PARK_FLOW_A_MAX,
	.required = { { 0, 0 } },
};

static const struct torus_rule lane_rules[TORUS_LANE_A_MAX + 1] = {
	[TORUS_LANE_A_STATE] = { .name = "STATE", .kind = TORUS_U8, .min = 0, .max = 3 },
	[TORUS_LANE_A_PRE] = { .name = "PRE", .kind = TORUS_U8, .min = 0, .max = 255 },
	[TORUS_LANE_A_POST] = { .name = "POST", .kind = TORUS_U8, .min = 0, .max = 255 },
	[TORUS_LANE_A_HEIGHT] = { .name = "HEIGHT", .kind = TORUS_U16, .min = 0, .max = 65535 },
	[TORUS_LANE_A_WIDTH] = { .name = "WIDTH", .kind = TORUS_U16, .min = 0, .max = 65535 },
	[TORUS_LANE_A_MARGIN] = { .name = "MARGIN", .kind = TORUS_U16, .min = 0, .max = 65535 },
	[TORUS_LANE_A_BER] = { .name = "BER", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_LANE_A_CTLE] = { .name = "CTLE", .kind = TORUS_U8, .min = 0, .max = 255 },
	[TORUS_LANE_A_DFE] = { .name = "DFE", .kind = TORUS_U8, .min = 0, .max = 255 },
};

const struct torus_set torus_set_lane = {
	.name = "LANE",
	.prefix = "LANE.",
	.rules = lane_rules,
	.max = TORUS_LANE_A_MAX,
	.required = { { 0, 0 } },
};

static const struct torus_rule rows_rules[TORUS_ROWS_MAX + 1] = {
	[TORUS_ROWS_FIRST] = { .name = "FIRST", .kind = TORUS_U32, .min = 0, .max = 16777215 },
	[TORUS_ROWS_DATA] = { .name = "DATA", .kind = TORUS_U64S, .min = 1, .max = 8192 },
};

const struct torus_set torus_set_rows = {
	.name = "ROWS",
	.prefix = "ROWS.",
	.rules = rows_rules,
	.max = TORUS_ROWS_MAX,
	.required = { { 0x6ULL, 0 } },
};

static const struct torus_rule fault_rules[TORUS_FAULT_MAX + 1] = {
	[TORUS_FAULT_BER] = { .name = "BER", .kind = TORUS_U64, .min = 0, .max = 1000000000000000000ULL },
	[TORUS_FAULT_SILENCE] = { .name = "SILENCE", .kind = TORUS_U8, .min = 0, .max = 2 },
	[TORUS_FAULT_LATENCY] = { .name = "LATENCY", .kind = TORUS_U64, .min = 0, .max = 10000000000ULL },
	[TORUS_FAULT_SEED] = { .name = "SEED", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_FAULT_CABLE] = { .name = "CABLE", .kind = TORUS_U32, .min = 0, .max = 10000 },
	[TORUS_FAULT_LOSS] = { .name = "LOSS", .kind = TORUS_U32, .min = 0, .max = 50000 },
	[TORUS_FAULT_CROSSTALK] = { .name = "CROSSTALK", .kind = TORUS_U32, .min = 0, .max = 500 },
	[TORUS_FAULT_DRIFT] = { .name = "DRIFT", .kind = TORUS_U32, .min = 0, .max = 500 },
	[TORUS_FAULT_AGEING] = { .name = "AGEING", .kind = TORUS_U32, .min = 0, .max = 50000 },
	[TORUS_FAULT_AGED] = { .name = "AGED", .kind = TORUS_U16, .min = 0, .max = 4095 },
	[TORUS_FAULT_DEAD] = { .name = "DEAD", .kind = TORUS_U16, .min = 0, .max = 4095 },
	[TORUS_FAULT_TEMPERATURE] = { .name = "TEMPERATURE", .kind = TORUS_U32, .min = 200, .max = 400 },
	[TORUS_FAULT_VB] = { .name = "VB", .kind = TORUS_U64, .min = 0, .max = 1000000000000000000ULL },
};

const struct torus_set torus_set_fault = {
	.name = "FAULT",
	.prefix = "FAULT.",
	.rules = fault_rules,
	.max = TORUS_FAULT_MAX,
	.required = { { 0, 0 } },
};

static const struct torus_rule torus_rules[TORUS_A_MAX + 1] = {
	[TORUS_A_IFINDEX] = { .name = "IFINDEX", .kind = TORUS_U32, .min = 1, .max = 2147483647 },
	[TORUS_A_NAME] = { .name = "NAME", .kind = TORUS_TEXT, .min = 1, .max = 63 },
	[TORUS_A_IFNAME] = { .name = "IFNAME", .kind = TORUS_TEXT, .min = 1, .max = 15 },
	[TORUS_A_DRIVER] = { .name = "DRIVER", .kind = TORUS_TEXT, .min = 0, .max = 15 },
	[TORUS_A_GUID] = { .name = "GUID", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_EPOCH] = { .name = "EPOCH", .kind = TORUS_U32, .min = 0, .max = 4294967295ULL },
	[TORUS_A_PORT_COUNT] = { .name = "PORT_COUNT", .kind = TORUS_U8, .min = 0, .max = 255 },
	[TORUS_A_BOOTSTRAP] = { .name = "BOOTSTRAP", .kind = TORUS_U8, .min = 0, .max = 1 },
	[TORUS_A_SHAPE] = { .name = "SHAPE", .kind = TORUS_U16S, .min = 1, .max = 6 },
	[TORUS_A_COORDS] = { .name = "COORDS", .kind = TORUS_U16S, .min = 1, .max = 6 },
	[TORUS_A_NODE] = { .name = "NODE", .kind = TORUS_U32, .min = 0, .max = 4294967295ULL },
	[TORUS_A_VERSION] = { .name = "VERSION", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_ROW_COUNT] = { .name = "ROW_COUNT", .kind = TORUS_U32, .min = 0, .max = 4294967295ULL },
	[TORUS_A_NODE_COUNTERS] = { .name = "NODE_COUNTERS", .kind = TORUS_NEST, .min = 0, .max = 0 },
	[TORUS_A_PORT] = { .name = "PORT", .kind = TORUS_U8, .min = 0, .max = 11 },
	[TORUS_A_LOWER] = { .name = "LOWER", .kind = TORUS_TEXT, .min = 0, .max = 15 },
	[TORUS_A_STATE] = { .name = "STATE", .kind = TORUS_U8, .min = 0, .max = 5 },
	[TORUS_A_OLD_STATE] = { .name = "OLD_STATE", .kind = TORUS_U8, .min = 0, .max = 5 },
	[TORUS_A_REASON] = { .name = "REASON", .kind = TORUS_U8, .min = 0, .max = 9 },
	[TORUS_A_ADMIN] = { .name = "ADMIN", .kind = TORUS_U8, .min = 0, .max = 1 },
	[TORUS_A_RETRAIN] = { .name = "RETRAIN", .kind = TORUS_FLAG, .min = 0, .max = 0 },
	[TORUS_A_CLOSED] = { .name = "CLOSED", .kind = TORUS_U8, .min = 0, .max = 1 },
	[TORUS_A_CARRIER] = { .name = "CARRIER", .kind = TORUS_U8, .min = 0, .max = 1 },
	[TORUS_A_SESSION] = { .name = "SESSION", .kind = TORUS_U32, .min = 0, .max = 4294967295ULL },
	[TORUS_A_SEQ] = { .name = "SEQ", .kind = TORUS_U16, .min = 0, .max = 4095 },
	[TORUS_A_PEER_GUID] = { .name = "PEER_GUID", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_PEER_PORT] = { .name = "PEER_PORT", .kind = TORUS_U8, .min = 0, .max = 255 },
	[TORUS_A_FAULT] = { .name = "FAULT", .kind = TORUS_NEST, .min = 0, .max = 0, .nest = &torus_set_fault },
	[TORUS_A_PORT_COUNTERS] = { .name = "PORT_COUNTERS", .kind = TORUS_NEST, .min = 0, .max = 0 },
	[TORUS_A_GAUGES] = { .name = "GAUGES", .kind = TORUS_NEST, .min = 0, .max = 0 },
	[TORUS_A_ROWS] = { .name = "ROWS", .kind = TORUS_NEST, .min = 0, .max = 0, .repeats = true, .nest = &torus_set_rows },
	[TORUS_A_FIRST] = { .name = "FIRST", .kind = TORUS_U32, .min = 0, .max = 16777215 },
	[TORUS_A_COUNT] = { .name = "COUNT", .kind = TORUS_U32, .min = 0, .max = 16777216 },
	[TORUS_A_NODES] = { .name = "NODES", .kind = TORUS_U32S, .min = 1, .max = 16384 },
	[TORUS_A_GIVE_UP] = { .name = "GIVE_UP", .kind = TORUS_FLAG, .min = 0, .max = 0 },
	[TORUS_A_FLOW] = { .name = "FLOW", .kind = TORUS_NEST, .min = 0, .max = 0 },
	[TORUS_A_PARKED] = { .name = "PARKED", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_UNRESOLVED] = { .name = "UNRESOLVED", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_PARK_BYTES] = { .name = "PARK_BYTES", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_PARK_BYTES_MAX] = { .name = "PARK_BYTES_MAX", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_HELD] = { .name = "HELD", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_PORTS] = { .name = "PORTS", .kind = TORUS_U16, .min = 0, .max = 4095 },
	[TORUS_A_DATA] = { .name = "DATA", .kind = TORUS_BYTES, .min = 1, .max = 1024 },
	[TORUS_A_GROUPS] = { .name = "GROUPS", .kind = TORUS_U32, .min = 0, .max = 7 },
	[TORUS_A_RETRY] = { .name = "RETRY", .kind = TORUS_U8, .min = 0, .max = 3 },
	[TORUS_A_RETRY_WANTED] = { .name = "RETRY_WANTED", .kind = TORUS_U8, .min = 0, .max = 3 },
	[TORUS_A_LANES] = { .name = "LANES", .kind = TORUS_NEST, .min = 0, .max = 0 },
	[TORUS_A_LANE] = { .name = "LANE", .kind = TORUS_U8, .min = 0, .max = 11 },
	[TORUS_A_EYE] = { .name = "EYE", .kind = TORUS_BYTES, .min = 2145, .max = 2145 },
	[TORUS_A_SWING] = { .name = "SWING", .kind = TORUS_U16, .min = 0, .max = 65535 },
	[TORUS_A_MASK_HEIGHT] = { .name = "MASK_HEIGHT", .kind = TORUS_U16, .min = 0, .max = 65535 },
	[TORUS_A_MASK_WIDTH] = { .name = "MASK_WIDTH", .kind = TORUS_U16, .min = 0, .max = 65535 },
	[TORUS_A_RELAY_PACKETS] = { .name = "RELAY_PACKETS", .kind = TORUS_U32, .min = 0, .max = 4294967295ULL },
	[TORUS_A_PAYLOAD_MAX] = { .name = "PAYLOAD_MAX", .kind = TORUS_U32, .min = 0, .max = 4294967295ULL },
	[TORUS_A_STATE_AGE] = { .name = "STATE_AGE", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_UPTIME] = { .name = "UPTIME", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_ROOT_EPOCH] = { .name = "ROOT_EPOCH", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_ROOT_GUID] = { .name = "ROOT_GUID", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_ROWS_EPOCH] = { .name = "ROWS_EPOCH", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_PARK_FLOWS] = { .name = "PARK_FLOWS", .kind = TORUS_NEST, .min = 0, .max = 0 },
	[TORUS_A_PARK_MORE] = { .name = "PARK_MORE", .kind = TORUS_U64, .min = 0, .max = ~0ULL },
	[TORUS_A_DIFFERS] = { .name = "DIFFERS", .kind = TORUS_U8, .min = 0, .max = 5 },
	[TORUS_A_DIFFERS_OWN] = { .name = "DIFFERS_OWN", .kind = TORUS_U32, .min = 0, .max = 4294967295ULL },
	[TORUS_A_DIFFERS_PEER] = { .name = "DIFFERS_PEER", .kind = TORUS_U32, .min = 0, .max = 4294967295ULL },
	[TORUS_A_NET4] = { .name = "NET4", .kind = TORUS_BYTES, .min = 4, .max = 4 },
	[TORUS_A_NET4_LEN] = { .name = "NET4_LEN", .kind = TORUS_U8, .min = 1, .max = 32 },
	[TORUS_A_NET6] = { .name = "NET6", .kind = TORUS_BYTES, .min = 16, .max = 16 },
	[TORUS_A_NET6_LEN] = { .name = "NET6_LEN", .kind = TORUS_U8, .min = 1, .max = 128 },
};

const struct torus_set torus_set_torus = {
	.name = "TORUS",
	.prefix = "",
	.rules = torus_rules,
	.max = TORUS_A_MAX,
	.required = { { 0, 0 } },
};

_Static_assert(TORUS_ATTR_WORDS == 2, "width of the masks");

const struct torus_scope torus_scopes[TORUS_CMD_MAX + 1] = {
	[TORUS_CMD_DEVICE_GET] = {
		.name = "DEVICE_GET",
		.privileged = false,
		.allowed = { { 0xcULL, 0 } },
		.required = { { 0, 0 } },
		.dump = { { 0xcULL, 0 } },
	},
	[TORUS_CMD_DEVICE_SET] = {
		.name = "DEVICE_SET",
		.privileged = true,
		.allowed = { { 0xc00000000000e0cULL, 0x3cULL } },
		.required = { { 0, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_LINK_GET] = {
		.name = "LINK_GET",
		.privileged = false,
		.allowed = { { 0x1000cULL, 0 } },
		.required = { { 0x10000ULL, 0 } },
		.dump = { { 0xcULL, 0 } },
	},
	[TORUS_CMD_LINK_SET] = {
		.name = "LINK_SET",
		.privileged = true,
		.allowed = { { 0x80002061000cULL, 0 } },
		.required = { { 0x10000ULL, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_LINK_ATTACH] = {
		.name = "LINK_ATTACH",
		.privileged = true,
		.allowed = { { 0x3000cULL, 0 } },
		.required = { { 0x30000ULL, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_ROWS_BEGIN] = {
		.name = "ROWS_BEGIN",
		.privileged = true,
		.allowed = { { 0xc0000000000200cULL, 0 } },
		.required = { { 0x2000ULL, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_ROWS_PUT] = {
		.name = "ROWS_PUT",
		.privileged = true,
		.allowed = { { 0x10000200cULL, 0 } },
		.required = { { 0x100002000ULL, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_ROWS_COMMIT] = {
		.name = "ROWS_COMMIT",
		.privileged = true,
		.allowed = { { 0xc0000000000200cULL, 0 } },
		.required = { { 0x2000ULL, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_ROWS_GET] = {
		.name = "ROWS_GET",
		.privileged = false,
		.allowed = { { 0x60000000cULL, 0 } },
		.required = { { 0, 0 } },
		.dump = { { 0x60000000cULL, 0 } },
	},
	[TORUS_CMD_HOLD] = {
		.name = "HOLD",
		.privileged = true,
		.allowed = { { 0x80000000cULL, 0 } },
		.required = { { 0x800000000ULL, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_RELEASE] = {
		.name = "RELEASE",
		.privileged = true,
		.allowed = { { 0xc0000100000200cULL, 0 } },
		.required = { { 0x2000ULL, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_FLOW_GET] = {
		.name = "FLOW_GET",
		.privileged = false,
		.allowed = { { 0xcULL, 0 } },
		.required = { { 0, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_PARK_GET] = {
		.name = "PARK_GET",
		.privileged = false,
		.allowed = { { 0xcULL, 0 } },
		.required = { { 0, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_PARK_RESOLVE] = {
		.name = "PARK_RESOLVE",
		.privileged = true,
		.allowed = { { 0x601000cULL, 0 } },
		.required = { { 0x2010000ULL, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_PARK_REPLAY] = {
		.name = "PARK_REPLAY",
		.privileged = true,
		.allowed = { { 0xc0008000000200cULL, 0 } },
		.required = { { 0x80000002000ULL, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_MGMT_SEND] = {
		.name = "MGMT_SEND",
		.privileged = true,
		.allowed = { { 0x10000001000cULL, 0 } },
		.required = { { 0x100000010000ULL, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_SUBSCRIBE] = {
		.name = "SUBSCRIBE",
		.privileged = false,
		.allowed = { { 0x20000000000cULL, 0 } },
		.required = { { 0x200000000000ULL, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_LINK_NTF] = {
		.name = "LINK_NTF",
	},
	[TORUS_CMD_MGMT_NTF] = {
		.name = "MGMT_NTF",
	},
	[TORUS_CMD_PARK_NTF] = {
		.name = "PARK_NTF",
	},
	[TORUS_CMD_EYE_GET] = {
		.name = "EYE_GET",
		.privileged = false,
		.allowed = { { 0x200000001000cULL, 0 } },
		.required = { { 0x2000000010000ULL, 0 } },
		.dump = { { 0, 0 } },
	},
	[TORUS_CMD_PARK_FLOWS_GET] = {
		.name = "PARK_FLOWS_GET",
		.privileged = false,
		.allowed = { { 0xcULL, 0 } },
		.required = { { 0, 0 } },
		.dump = { { 0, 0 } },
	},
};
