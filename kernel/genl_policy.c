// SPDX-License-Identifier: GPL-2.0-only
/* Made by include/uapi/generate.py from torus.yaml: change that instead. */
#include "genl.h"

#define REFUSED { .type = NLA_REJECT, \
		  .reject_message = "attribute is not allowed in this command" }

static struct netlink_range_validation ber_range = { .min = 0, .max = 1000000000000000000ULL };
static struct netlink_range_validation latency_range = { .min = 0, .max = 10000000000ULL };
static struct netlink_range_validation loss_range = { .min = 0, .max = 50000 };
static struct netlink_range_validation ageing_range = { .min = 0, .max = 50000 };
static struct netlink_range_validation vb_range = { .min = 0, .max = 1000000000000000000ULL };
static struct netlink_range_validation first_range = { .min = 0, .max = 16777215 };
static struct netlink_range_validation data_range = { .min = 8, .max = 65536 };
static struct netlink_range_validation ifindex_range = { .min = 1, .max = 2147483647 };
static struct netlink_range_validation count_range = { .min = 0, .max = 16777216 };
static struct netlink_range_validation nodes_range = { .min = 4, .max = 65536 };

static const struct nla_policy fault_policy[] = {
	[TORUS_FAULT_BER] = NLA_POLICY_FULL_RANGE(NLA_U64, &ber_range),
	[TORUS_FAULT_SILENCE] = NLA_POLICY_RANGE(NLA_U8, 0, 1),
	[TORUS_FAULT_LATENCY] = NLA_POLICY_FULL_RANGE(NLA_U64, &latency_range),
	[TORUS_FAULT_SEED] = { .type = NLA_U64 },
	[TORUS_FAULT_CABLE] = NLA_POLICY_RANGE(NLA_U32, 0, 10000),
	[TORUS_FAULT_LOSS] = NLA_POLICY_FULL_RANGE(NLA_U32, &loss_range),
	[TORUS_FAULT_CROSSTALK] = NLA_POLICY_RANGE(NLA_U32, 0, 500),
	[TORUS_FAULT_DRIFT] = NLA_POLICY_RANGE(NLA_U32, 0, 500),
	[TORUS_FAULT_AGEING] = NLA_POLICY_FULL_RANGE(NLA_U32, &ageing_range),
	[TORUS_FAULT_AGED] = NLA_POLICY_RANGE(NLA_U16, 0, 4095),
	[TORUS_FAULT_DEAD] = NLA_POLICY_RANGE(NLA_U16, 0, 4095),
	[TORUS_FAULT_TEMPERATURE] = NLA_POLICY_RANGE(NLA_U32, 200, 400),
	[TORUS_FAULT_VB] = NLA_POLICY_FULL_RANGE(NLA_U64, &vb_range),
};

static const struct nla_policy rows_policy[] = {
	[TORUS_ROWS_FIRST] = NLA_POLICY_FULL_RANGE(NLA_U32, &first_range),
	[TORUS_ROWS_DATA] = NLA_POLICY_FULL_RANGE(NLA_BINARY, &data_range),
};

const struct nla_policy torus_policies[TORUS_CMD_MAX + 1][TORUS_A_MAX + 1] = {
	[TORUS_CMD_DEVICE_GET] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_DEVICE_SET] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_PORT_COUNT] = REFUSED,
		[TORUS_A_BOOTSTRAP] = NLA_POLICY_RANGE(NLA_U8, 0, 1),
		[TORUS_A_SHAPE] = NLA_POLICY_RANGE(NLA_BINARY, 2, 12),
		[TORUS_A_COORDS] = NLA_POLICY_RANGE(NLA_BINARY, 2, 12),
		[TORUS_A_NODE ... TORUS_A_UPTIME] = REFUSED,
		[TORUS_A_ROOT_EPOCH] = { .type = NLA_U64 },
		[TORUS_A_ROOT_GUID] = { .type = NLA_U64 },
		[TORUS_A_ROWS_EPOCH ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_LINK_GET] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_NODE_COUNTERS] = REFUSED,
		[TORUS_A_PORT] = NLA_POLICY_RANGE(NLA_U8, 0, 11),
		[TORUS_A_LOWER ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_LINK_SET] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_NODE_COUNTERS] = REFUSED,
		[TORUS_A_PORT] = NLA_POLICY_RANGE(NLA_U8, 0, 11),
		[TORUS_A_LOWER ... TORUS_A_REASON] = REFUSED,
		[TORUS_A_ADMIN] = NLA_POLICY_RANGE(NLA_U8, 0, 1),
		[TORUS_A_RETRAIN] = { .type = NLA_FLAG },
		[TORUS_A_CLOSED ... TORUS_A_PEER_PORT] = REFUSED,
		[TORUS_A_FAULT] = NLA_POLICY_NESTED(fault_policy),
		[TORUS_A_PORT_COUNTERS ... TORUS_A_RETRY] = REFUSED,
		[TORUS_A_RETRY_WANTED] = NLA_POLICY_RANGE(NLA_U8, 0, 3),
		[TORUS_A_LANES ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_LINK_ATTACH] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_NODE_COUNTERS] = REFUSED,
		[TORUS_A_PORT] = NLA_POLICY_RANGE(NLA_U8, 0, 11),
		[TORUS_A_LOWER] = { .type = NLA_NUL_STRING, .len = 15 },
		[TORUS_A_STATE ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_ROWS_BEGIN] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_NODE] = REFUSED,
		[TORUS_A_VERSION] = { .type = NLA_U64 },
		[TORUS_A_ROW_COUNT ... TORUS_A_UPTIME] = REFUSED,
		[TORUS_A_ROOT_EPOCH] = { .type = NLA_U64 },
		[TORUS_A_ROOT_GUID] = { .type = NLA_U64 },
		[TORUS_A_ROWS_EPOCH ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_ROWS_PUT] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_NODE] = REFUSED,
		[TORUS_A_VERSION] = { .type = NLA_U64 },
		[TORUS_A_ROW_COUNT ... TORUS_A_GAUGES] = REFUSED,
		[TORUS_A_ROWS] = NLA_POLICY_NESTED(rows_policy),
		[TORUS_A_FIRST ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_ROWS_COMMIT] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_NODE] = REFUSED,
		[TORUS_A_VERSION] = { .type = NLA_U64 },
		[TORUS_A_ROW_COUNT ... TORUS_A_UPTIME] = REFUSED,
		[TORUS_A_ROOT_EPOCH] = { .type = NLA_U64 },
		[TORUS_A_ROOT_GUID] = { .type = NLA_U64 },
		[TORUS_A_ROWS_EPOCH ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_ROWS_GET] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_ROWS] = REFUSED,
		[TORUS_A_FIRST] = NLA_POLICY_FULL_RANGE(NLA_U32, &first_range),
		[TORUS_A_COUNT] = NLA_POLICY_FULL_RANGE(NLA_U32, &count_range),
		[TORUS_A_NODES ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_HOLD] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_COUNT] = REFUSED,
		[TORUS_A_NODES] = NLA_POLICY_FULL_RANGE(NLA_BINARY, &nodes_range),
		[TORUS_A_GIVE_UP ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_RELEASE] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_NODE] = REFUSED,
		[TORUS_A_VERSION] = { .type = NLA_U64 },
		[TORUS_A_ROW_COUNT ... TORUS_A_NODES] = REFUSED,
		[TORUS_A_GIVE_UP] = { .type = NLA_FLAG },
		[TORUS_A_FLOW ... TORUS_A_UPTIME] = REFUSED,
		[TORUS_A_ROOT_EPOCH] = { .type = NLA_U64 },
		[TORUS_A_ROOT_GUID] = { .type = NLA_U64 },
		[TORUS_A_ROWS_EPOCH ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_FLOW_GET] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_PARK_GET] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_PARK_RESOLVE] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_NODE_COUNTERS] = REFUSED,
		[TORUS_A_PORT] = NLA_POLICY_RANGE(NLA_U8, 0, 11),
		[TORUS_A_LOWER ... TORUS_A_CARRIER] = REFUSED,
		[TORUS_A_SESSION] = { .type = NLA_U32 },
		[TORUS_A_SEQ] = NLA_POLICY_RANGE(NLA_U16, 0, 4095),
		[TORUS_A_PEER_GUID ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_PARK_REPLAY] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_NODE] = REFUSED,
		[TORUS_A_VERSION] = { .type = NLA_U64 },
		[TORUS_A_ROW_COUNT ... TORUS_A_HELD] = REFUSED,
		[TORUS_A_PORTS] = NLA_POLICY_RANGE(NLA_U16, 0, 4095),
		[TORUS_A_DATA ... TORUS_A_UPTIME] = REFUSED,
		[TORUS_A_ROOT_EPOCH] = { .type = NLA_U64 },
		[TORUS_A_ROOT_GUID] = { .type = NLA_U64 },
		[TORUS_A_ROWS_EPOCH ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_MGMT_SEND] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_NODE_COUNTERS] = REFUSED,
		[TORUS_A_PORT] = NLA_POLICY_RANGE(NLA_U8, 0, 11),
		[TORUS_A_LOWER ... TORUS_A_PORTS] = REFUSED,
		[TORUS_A_DATA] = NLA_POLICY_RANGE(NLA_BINARY, 1, 1024),
		[TORUS_A_GROUPS ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_SUBSCRIBE] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_DATA] = REFUSED,
		[TORUS_A_GROUPS] = NLA_POLICY_RANGE(NLA_U32, 0, 7),
		[TORUS_A_RETRY ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_LINK_NTF] = {
		[0 ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_MGMT_NTF] = {
		[0 ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_PARK_NTF] = {
		[0 ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_EYE_GET] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_NODE_COUNTERS] = REFUSED,
		[TORUS_A_PORT] = NLA_POLICY_RANGE(NLA_U8, 0, 11),
		[TORUS_A_LOWER ... TORUS_A_LANES] = REFUSED,
		[TORUS_A_LANE] = NLA_POLICY_RANGE(NLA_U8, 0, 11),
		[TORUS_A_EYE ... TORUS_A_PARK_MORE] = REFUSED,
	},
	[TORUS_CMD_PARK_FLOWS_GET] = {
		[0 ... TORUS_A_PAD] = REFUSED,
		[TORUS_A_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
		[TORUS_A_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
		[TORUS_A_IFNAME ... TORUS_A_PARK_MORE] = REFUSED,
	},
};
