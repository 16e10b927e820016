// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Made by include/uapi/generate.py from torus.yaml: change that instead. */
#include "policy.h"

static const struct torus_rule lane_rules[TORUS_LANE_A_MAX + 1] = {
	[TORUS_LANE_A_STATE] = { "STATE", TORUS_U8, 0, 3 },
	[TORUS_LANE_A_PRE] = { "PRE", TORUS_U8, 0, 255 },
	[TORUS_LANE_A_POST] = { "POST", TORUS_U8, 0, 255 },
	[TORUS_LANE_A_HEIGHT] = { "HEIGHT", TORUS_U16, 0, 65535 },
	[TORUS_LANE_A_WIDTH] = { "WIDTH", TORUS_U16, 0, 65535 },
	[TORUS_LANE_A_MARGIN] = { "MARGIN", TORUS_U16, 0, 65535 },
	[TORUS_LANE_A_BER] = { "BER", TORUS_U64, 0, 18446744073709551615ULL },
};

const struct torus_set torus_set_lane = {
	.name = "LANE",
	.prefix = "LANE.",
	.rules = lane_rules,
	.max = TORUS_LANE_A_MAX,
	.required = { { 0 } },
};

static const struct torus_rule rows_rules[TORUS_ROWS_MAX + 1] = {
	[TORUS_ROWS_FIRST] = { "FIRST", TORUS_U32, 0, 16777215 },
	[TORUS_ROWS_DATA] = { "DATA", TORUS_U64S, 1, 8192 },
};

const struct torus_set torus_set_rows = {
	.name = "ROWS",
	.prefix = "ROWS.",
	.rules = rows_rules,
	.max = TORUS_ROWS_MAX,
	.required = { { 0x6ULL } },
};

static const struct torus_rule fault_rules[TORUS_FAULT_MAX + 1] = {
	[TORUS_FAULT_BER] = { "BER", TORUS_U64, 0, 1000000000000000000ULL },
	[TORUS_FAULT_SILENCE] = { "SILENCE", TORUS_U8, 0, 1 },
	[TORUS_FAULT_LATENCY] = { "LATENCY", TORUS_U64, 0, 10000000000ULL },
	[TORUS_FAULT_SEED] = { "SEED", TORUS_U64, 0, 18446744073709551615ULL },
	[TORUS_FAULT_CABLE] = { "CABLE", TORUS_U32, 0, 10000 },
	[TORUS_FAULT_LOSS] = { "LOSS", TORUS_U32, 0, 50000 },
	[TORUS_FAULT_CROSSTALK] = { "CROSSTALK", TORUS_U32, 0, 500 },
	[TORUS_FAULT_DRIFT] = { "DRIFT", TORUS_U32, 0, 500 },
	[TORUS_FAULT_AGEING] = { "AGEING", TORUS_U32, 0, 50000 },
	[TORUS_FAULT_AGED] = { "AGED", TORUS_U16, 0, 4095 },
	[TORUS_FAULT_DEAD] = { "DEAD", TORUS_U16, 0, 4095 },
	[TORUS_FAULT_TEMPERATURE] = { "TEMPERATURE", TORUS_U32, 200, 400 },
};

const struct torus_set torus_set_fault = {
	.name = "FAULT",
	.prefix = "FAULT.",
	.rules = fault_rules,
	.max = TORUS_FAULT_MAX,
	.required = { { 0 } },
};

static const struct torus_rule torus_rules[TORUS_A_MAX + 1] = {
	[TORUS_A_IFINDEX] = { "IFINDEX", TORUS_U32, 1, 2147483647 },
	[TORUS_A_NAME] = { "NAME", TORUS_TEXT, 1, 63 },
	[TORUS_A_IFNAME] = { "IFNAME", TORUS_TEXT, 1, 15 },
	[TORUS_A_DRIVER] = { "DRIVER", TORUS_TEXT, 0, 15 },
	[TORUS_A_GUID] = { "GUID", TORUS_U64, 0, 18446744073709551615ULL },
	[TORUS_A_EPOCH] = { "EPOCH", TORUS_U32, 0, 4294967295ULL },
	[TORUS_A_PORT_COUNT] = { "PORT_COUNT", TORUS_U8, 0, 255 },
	[TORUS_A_BOOTSTRAP] = { "BOOTSTRAP", TORUS_U8, 0, 1 },
	[TORUS_A_SHAPE] = { "SHAPE", TORUS_U16S, 1, 6 },
	[TORUS_A_COORDS] = { "COORDS", TORUS_U16S, 1, 6 },
	[TORUS_A_NODE] = { "NODE", TORUS_U32, 0, 4294967295ULL },
	[TORUS_A_VERSION] = { "VERSION", TORUS_U64, 0, 18446744073709551615ULL },
	[TORUS_A_ROW_COUNT] = { "ROW_COUNT", TORUS_U32, 0, 4294967295ULL },
	[TORUS_A_NODE_COUNTERS] = { "NODE_COUNTERS", TORUS_NEST, 0, 0 },
	[TORUS_A_PORT] = { "PORT", TORUS_U8, 0, 11 },
	[TORUS_A_LOWER] = { "LOWER", TORUS_TEXT, 0, 15 },
	[TORUS_A_STATE] = { "STATE", TORUS_U8, 0, 5 },
	[TORUS_A_OLD_STATE] = { "OLD_STATE", TORUS_U8, 0, 5 },
	[TORUS_A_REASON] = { "REASON", TORUS_U8, 0, 8 },
	[TORUS_A_ADMIN] = { "ADMIN", TORUS_U8, 0, 1 },
	[TORUS_A_RETRAIN] = { "RETRAIN", TORUS_FLAG, 0, 0 },
	[TORUS_A_CLOSED] = { "CLOSED", TORUS_U8, 0, 1 },
	[TORUS_A_CARRIER] = { "CARRIER", TORUS_U8, 0, 1 },
	[TORUS_A_SESSION] = { "SESSION", TORUS_U32, 0, 4294967295ULL },
	[TORUS_A_SEQ] = { "SEQ", TORUS_U16, 0, 4095 },
	[TORUS_A_PEER_GUID] = { "PEER_GUID", TORUS_U64, 0, 18446744073709551615ULL },
	[TORUS_A_PEER_PORT] = { "PEER_PORT", TORUS_U8, 0, 255 },
	[TORUS_A_FAULT] = { "FAULT", TORUS_NEST, 0, 0, .nest = &torus_set_fault },
	[TORUS_A_PORT_COUNTERS] = { "PORT_COUNTERS", TORUS_NEST, 0, 0 },
	[TORUS_A_GAUGES] = { "GAUGES", TORUS_NEST, 0, 0 },
	[TORUS_A_ROWS] = { "ROWS", TORUS_NEST, 0, 0, .repeats = true, .nest = &torus_set_rows },
	[TORUS_A_FIRST] = { "FIRST", TORUS_U32, 0, 16777215 },
	[TORUS_A_COUNT] = { "COUNT", TORUS_U32, 0, 16777216 },
	[TORUS_A_NODES] = { "NODES", TORUS_U32S, 1, 16384 },
	[TORUS_A_GIVE_UP] = { "GIVE_UP", TORUS_FLAG, 0, 0 },
	[TORUS_A_FLOW] = { "FLOW", TORUS_NEST, 0, 0 },
	[TORUS_A_PARKED] = { "PARKED", TORUS_U64, 0, 18446744073709551615ULL },
	[TORUS_A_UNRESOLVED] = { "UNRESOLVED", TORUS_U64, 0, 18446744073709551615ULL },
	[TORUS_A_PARK_BYTES] = { "PARK_BYTES", TORUS_U64, 0, 18446744073709551615ULL },
	[TORUS_A_PARK_BYTES_MAX] = { "PARK_BYTES_MAX", TORUS_U64, 0, 18446744073709551615ULL },
	[TORUS_A_HELD] = { "HELD", TORUS_U64, 0, 18446744073709551615ULL },
	[TORUS_A_PORTS] = { "PORTS", TORUS_U16, 0, 4095 },
	[TORUS_A_DATA] = { "DATA", TORUS_BYTES, 1, 1024 },
	[TORUS_A_GROUPS] = { "GROUPS", TORUS_U32, 0, 7 },
	[TORUS_A_RETRY] = { "RETRY", TORUS_U8, 0, 3 },
	[TORUS_A_RETRY_WANTED] = { "RETRY_WANTED", TORUS_U8, 0, 3 },
	[TORUS_A_LANES] = { "LANES", TORUS_NEST, 0, 0 },
	[TORUS_A_LANE] = { "LANE", TORUS_U8, 0, 11 },
	[TORUS_A_EYE] = { "EYE", TORUS_BYTES, 2145, 2145 },
	[TORUS_A_SWING] = { "SWING", TORUS_U16, 0, 65535 },
	[TORUS_A_MASK_HEIGHT] = { "MASK_HEIGHT", TORUS_U16, 0, 65535 },
	[TORUS_A_MASK_WIDTH] = { "MASK_WIDTH", TORUS_U16, 0, 65535 },
	[TORUS_A_RELAY_PACKETS] = { "RELAY_PACKETS", TORUS_U32, 0, 4294967295ULL },
	[TORUS_A_PAYLOAD_MAX] = { "PAYLOAD_MAX", TORUS_U32, 0, 4294967295ULL },
	[TORUS_A_STATE_AGE] = { "STATE_AGE", TORUS_U64, 0, 18446744073709551615ULL },
};

const struct torus_set torus_set_torus = {
	.name = "TORUS",
	.prefix = "",
	.rules = torus_rules,
	.max = TORUS_A_MAX,
	.required = { { 0 } },
};

_Static_assert(TORUS_ATTR_WORDS == 1, "width of the masks");

const struct torus_scope torus_scopes[TORUS_CMD_MAX + 1] = {
	[TORUS_CMD_DEVICE_GET] = {
		.name = "DEVICE_GET",
		.privileged = false,
		.allowed = { { 0xcULL } },
		.required = { { 0 } },
		.dump = { { 0xcULL } },
	},
	[TORUS_CMD_DEVICE_SET] = {
		.name = "DEVICE_SET",
		.privileged = true,
		.allowed = { { 0xe0cULL } },
		.required = { { 0 } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_LINK_GET] = {
		.name = "LINK_GET",
		.privileged = false,
		.allowed = { { 0x1000cULL } },
		.required = { { 0x10000ULL } },
		.dump = { { 0xcULL } },
	},
	[TORUS_CMD_LINK_SET] = {
		.name = "LINK_SET",
		.privileged = true,
		.allowed = { { 0x80002061000cULL } },
		.required = { { 0x10000ULL } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_LINK_ATTACH] = {
		.name = "LINK_ATTACH",
		.privileged = true,
		.allowed = { { 0x3000cULL } },
		.required = { { 0x30000ULL } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_ROWS_BEGIN] = {
		.name = "ROWS_BEGIN",
		.privileged = true,
		.allowed = { { 0x200cULL } },
		.required = { { 0x2000ULL } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_ROWS_PUT] = {
		.name = "ROWS_PUT",
		.privileged = true,
		.allowed = { { 0x10000200cULL } },
		.required = { { 0x100002000ULL } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_ROWS_COMMIT] = {
		.name = "ROWS_COMMIT",
		.privileged = true,
		.allowed = { { 0x200cULL } },
		.required = { { 0x2000ULL } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_ROWS_GET] = {
		.name = "ROWS_GET",
		.privileged = false,
		.allowed = { { 0x60000000cULL } },
		.required = { { 0 } },
		.dump = { { 0x60000000cULL } },
	},
	[TORUS_CMD_HOLD] = {
		.name = "HOLD",
		.privileged = true,
		.allowed = { { 0x80000000cULL } },
		.required = { { 0x800000000ULL } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_RELEASE] = {
		.name = "RELEASE",
		.privileged = true,
		.allowed = { { 0x100000200cULL } },
		.required = { { 0x2000ULL } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_FLOW_GET] = {
		.name = "FLOW_GET",
		.privileged = false,
		.allowed = { { 0xcULL } },
		.required = { { 0 } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_PARK_GET] = {
		.name = "PARK_GET",
		.privileged = false,
		.allowed = { { 0xcULL } },
		.required = { { 0 } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_PARK_RESOLVE] = {
		.name = "PARK_RESOLVE",
		.privileged = true,
		.allowed = { { 0x601000cULL } },
		.required = { { 0x2010000ULL } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_PARK_REPLAY] = {
		.name = "PARK_REPLAY",
		.privileged = true,
		.allowed = { { 0x8000000200cULL } },
		.required = { { 0x80000002000ULL } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_MGMT_SEND] = {
		.name = "MGMT_SEND",
		.privileged = true,
		.allowed = { { 0x10000001000cULL } },
		.required = { { 0x100000010000ULL } },
		.dump = { { 0 } },
	},
	[TORUS_CMD_SUBSCRIBE] = {
		.name = "SUBSCRIBE",
		.privileged = false,
		.allowed = { { 0x20000000000cULL } },
		.required = { { 0x200000000000ULL } },
		.dump = { { 0 } },
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
		.allowed = { { 0x200000001000cULL } },
		.required = { { 0x2000000010000ULL } },
		.dump = { { 0 } },
	},
};
