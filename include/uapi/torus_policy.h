/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * What requests of family "torus" may carry and what their attributes may say:
 * the part of the ABI that servers check before they look at anything else. The
 * kernel makes its netlink policies from these lists, torusemu its own checks;
 * include/uapi/torus.yaml says the same to others, and a test compares them.
 */
#ifndef _UAPI_LINUX_TORUS_POLICY_H
#define _UAPI_LINUX_TORUS_POLICY_H

#include "torus.h"

#define TORUS_BER_ONE		1000000000000000000ULL	/* a bit error rate of 1 */
#define TORUS_LATENCY_MAX	10000000000ULL		/* ns: 10 s */
#define TORUS_CABLE_LENGTH_MAX	10000			/* cm */
#define TORUS_CABLE_LOSS_MAX	50000			/* mdB per metre, or per second */
#define TORUS_CABLE_PART_MAX	500			/* per mille */
#define TORUS_KELVIN		273			/* of 0 degrees Celsius */
#define TORUS_CABLE_KELVIN	293			/* what losses are said of */
#define TORUS_CABLE_KELVIN_MIN	200
#define TORUS_CABLE_KELVIN_MAX	400
#define TORUS_LANES_MASK	((1 << TORUS_LANES_MAX) - 1)

/*
 * X(ID, KIND, MIN, MAX): bounds of the value (U8 to U64), of the bytes (TEXT,
 * without its NUL; BYTES) or of the entries (U16S, U32S, U64S: arrays). FLAG is
 * empty. A NEST may repeat if MAX is not 1; nobody else may.
 */
#define TORUS_REQUEST_ATTR_LIST(X) \
	X(IFINDEX, U32, 1, 0x7fffffff) \
	X(NAME, TEXT, 1, TORUS_NAME_MAX) \
	X(BOOTSTRAP, U8, 0, 1) \
	X(SHAPE, U16S, 1, TORUS_MAX_DIMS) \
	X(COORDS, U16S, 1, TORUS_MAX_DIMS) \
	X(VERSION, U64, 0, ~0ULL) \
	X(PORT, U8, 0, TORUS_MAX_PORTS - 1) \
	X(LOWER, TEXT, 0, 15) \
	X(ADMIN, U8, 0, 1) \
	X(RETRAIN, FLAG, 0, 0) \
	X(RETRY_WANTED, U8, 0, TORUS_RETRIES - 1) \
	X(SESSION, U32, 0, 0xffffffff) \
	X(SEQ, U16, 0, 0xfff) \
	X(FAULT, NEST, 0, 1) \
	X(ROWS, NEST, 0, TORUS_MSG_MAX) \
	X(FIRST, U32, 0, TORUS_MAX_NODES - 1) \
	X(COUNT, U32, 0, TORUS_MAX_NODES) \
	X(NODES, U32S, 1, TORUS_MSG_MAX / 4) \
	X(GIVE_UP, FLAG, 0, 0) \
	X(PORTS, U16, 0, (1 << TORUS_MAX_PORTS) - 1) \
	X(DATA, BYTES, 1, TORUS_MGMT_MAX) \
	X(GROUPS, U32, 0, (1 << TORUS_GROUPS) - 1) \
	X(LANE, U8, 0, TORUS_LANES_MAX - 1)

#define TORUS_REQUEST_FAULT_LIST(X) \
	X(BER, U64, 0, TORUS_BER_ONE) \
	X(SILENCE, U8, 0, 1) \
	X(LATENCY, U64, 0, TORUS_LATENCY_MAX) \
	X(SEED, U64, 0, ~0ULL) \
	X(CABLE, U32, 0, TORUS_CABLE_LENGTH_MAX) \
	X(LOSS, U32, 0, TORUS_CABLE_LOSS_MAX) \
	X(CROSSTALK, U32, 0, TORUS_CABLE_PART_MAX) \
	X(DRIFT, U32, 0, TORUS_CABLE_PART_MAX) \
	X(AGEING, U32, 0, TORUS_CABLE_LOSS_MAX) \
	X(AGED, U16, 0, TORUS_LANES_MASK) \
	X(DEAD, U16, 0, TORUS_LANES_MASK) \
	X(TEMPERATURE, U32, TORUS_CABLE_KELVIN_MIN, TORUS_CABLE_KELVIN_MAX)

#define TORUS_REQUEST_ROWS_LIST(X) \
	X(FIRST, U32, 0, TORUS_MAX_NODES - 1) \
	X(DATA, U64S, 1, TORUS_MSG_MAX / 8)

/*
 * Parameters of a NIC, given when it is made: IFLA_TORUS_<ID> of a kernel NIC, and by
 * name to torusemu and fabricctl. X(ID, name, KIND, UNIT, MIN, MAX): KIND is U32 or
 * U64; UNIT is TIME (ns), SIZE (bytes), RATE (of bit errors, in 1e-18) or COUNT.
 * Besides, SILENCE must be longer than KEEPALIVE, REPLAY_TIMEOUT than ACK_DELAY,
 * MARGIN_TRAIN no less than MARGIN_RETRAIN, and FRAME_MAX and PARK_BYTES no less than
 * PAYLOAD_MAX and the 48 bytes around it.
 */
#define TORUS_PARAM_LIST(X) \
	X(KEEPALIVE, keepalive, U64, TIME, 1000000, 3600000000000ULL) \
	X(SILENCE, silence, U64, TIME, 1000000, 3600000000000ULL) \
	X(ACK_DELAY, ack_delay, U64, TIME, 1000, 1000000000) \
	X(REPLAY_TIMEOUT, replay_timeout, U64, TIME, 10000, 60000000000ULL) \
	X(RETRY_TIME, retry_time, U64, TIME, 1000000, 3600000000000ULL) \
	X(INIT_INTERVAL, init_interval, U64, TIME, 1000000, 60000000000ULL) \
	X(PROBE_INTERVAL, probe_interval, U64, TIME, 1000000, 3600000000000ULL) \
	X(RETRAIN_TIME, retrain_time, U64, TIME, 1000000, 60000000000ULL) \
	X(GAP_TIME, gap_time, U64, TIME, 1000000, 3600000000000ULL) \
	X(RETRY_COUNT, retry_count, U32, COUNT, 1, 1000000) \
	X(RETRY_PACKETS, retry_packets, U32, COUNT, 1, 1024) \
	X(SLOTS, slots, U32, COUNT, 4, 1024) \
	X(RELAY_PACKETS, relay_packets, U32, COUNT, 1, 1 << 24) \
	X(PAYLOAD_MAX, payload_max, U32, SIZE, 1024, 16368) \
	X(FRAME_MAX, frame_max, U32, SIZE, 1072, 65535) \
	X(PARK_BYTES, park_bytes, U64, SIZE, 1072, 1ULL << 32) \
	X(HOLD_BYTES, hold_bytes, U64, SIZE, 1072, 1ULL << 32) \
	X(EYE_INTERVAL, eye_interval, U64, TIME, 1000000, 3600000000000ULL) \
	X(TARGET_BER, target_ber, U64, RATE, 1, 100000000000000000ULL) \
	X(MASK_HEIGHT, mask_height, U32, COUNT, 1, 10000) \
	X(MASK_WIDTH, mask_width, U32, COUNT, 1, 500) \
	X(MARGIN_TRAIN, margin_train, U32, COUNT, 1, 9999) \
	X(MARGIN_RETRAIN, margin_retrain, U32, COUNT, 1, 9999)

#define TORUS_A_BIT(id) (1ULL << TORUS_A_##id)
#define TORUS_A_DEVICE (TORUS_A_BIT(IFINDEX) | TORUS_A_BIT(NAME))

/*
 * X(ID, PRIVILEGE, ALLOWED, REQUIRED, DUMP): attributes of a do besides IFINDEX
 * and NAME, those of them that must be there, and attributes of a dump.
 * PRIVILEGE is GET (everyone) or SET (CAP_NET_ADMIN).
 */
#define TORUS_COMMAND_LIST(X) \
	X(DEVICE_GET, GET, 0, 0, 0) \
	X(DEVICE_SET, SET, \
	  TORUS_A_BIT(SHAPE) | TORUS_A_BIT(COORDS) | TORUS_A_BIT(BOOTSTRAP), 0, 0) \
	X(LINK_GET, GET, TORUS_A_BIT(PORT), TORUS_A_BIT(PORT), 0) \
	X(LINK_SET, SET, \
	  TORUS_A_BIT(PORT) | TORUS_A_BIT(ADMIN) | TORUS_A_BIT(RETRAIN) | \
	  TORUS_A_BIT(RETRY_WANTED) | TORUS_A_BIT(FAULT), \
	  TORUS_A_BIT(PORT), 0) \
	X(LINK_ATTACH, SET, TORUS_A_BIT(PORT) | TORUS_A_BIT(LOWER), \
	  TORUS_A_BIT(PORT) | TORUS_A_BIT(LOWER), 0) \
	X(ROWS_BEGIN, SET, TORUS_A_BIT(VERSION), TORUS_A_BIT(VERSION), 0) \
	X(ROWS_PUT, SET, TORUS_A_BIT(VERSION) | TORUS_A_BIT(ROWS), \
	  TORUS_A_BIT(VERSION) | TORUS_A_BIT(ROWS), 0) \
	X(ROWS_COMMIT, SET, TORUS_A_BIT(VERSION), TORUS_A_BIT(VERSION), 0) \
	X(ROWS_GET, GET, TORUS_A_BIT(FIRST) | TORUS_A_BIT(COUNT), 0, \
	  TORUS_A_BIT(FIRST) | TORUS_A_BIT(COUNT)) \
	X(HOLD, SET, TORUS_A_BIT(NODES), TORUS_A_BIT(NODES), 0) \
	X(RELEASE, SET, TORUS_A_BIT(VERSION) | TORUS_A_BIT(GIVE_UP), TORUS_A_BIT(VERSION), 0) \
	X(FLOW_GET, GET, 0, 0, 0) \
	X(PARK_GET, GET, 0, 0, 0) \
	X(PARK_RESOLVE, SET, TORUS_A_BIT(PORT) | TORUS_A_BIT(SESSION) | TORUS_A_BIT(SEQ), \
	  TORUS_A_BIT(PORT) | TORUS_A_BIT(SESSION), 0) \
	X(PARK_REPLAY, SET, TORUS_A_BIT(VERSION) | TORUS_A_BIT(PORTS), \
	  TORUS_A_BIT(VERSION) | TORUS_A_BIT(PORTS), 0) \
	X(MGMT_SEND, SET, TORUS_A_BIT(PORT) | TORUS_A_BIT(DATA), \
	  TORUS_A_BIT(PORT) | TORUS_A_BIT(DATA), 0) \
	X(EYE_GET, GET, TORUS_A_BIT(PORT) | TORUS_A_BIT(LANE), \
	  TORUS_A_BIT(PORT) | TORUS_A_BIT(LANE), 0) \
	X(SUBSCRIBE, GET, TORUS_A_BIT(GROUPS), TORUS_A_BIT(GROUPS), 0)

#endif /* _UAPI_LINUX_TORUS_POLICY_H */
