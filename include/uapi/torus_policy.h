/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* Ranges of a NIC's parameters, which each kind of NIC checks when it is made. */
#ifndef _UAPI_LINUX_TORUS_POLICY_H
#define _UAPI_LINUX_TORUS_POLICY_H

#include "torus.h"

#define TORUS_KELVIN		273	/* of 0 degrees Celsius */

/*
 * Parameters are set when a NIC is made: by the attribute IFLA_TORUS_<ID> for a NIC of the driver,
 * by name for torusemu and fabricctl. torus(4) describes them.
 *
 * Each line is X(ID, name, KIND, UNIT, MIN, MAX). KIND is U32 or U64. UNIT is TIME (ns), SIZE
 * (bytes), RATE (bit error rate, in 1e-18), COUNT, PROTOCOL (enum torus_retry), POLICY (enum
 * torus_bubble) or DSCPS (a bit for each DSCP from 0 to 63).
 *
 * Some parameters depend on each other: SILENCE must be longer than KEEPALIVE, and REPLAY_TIMEOUT
 * longer than ACK_DELAY. MARGIN_TRAIN must not be less than MARGIN_RETRAIN. FRAME_MAX and
 * PARK_BYTES must have room for PAYLOAD_MAX and the 48 bytes around it. SLOTS must be 4 at least
 * with the bubble policy BLOC, 2 with CBS.
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
	X(SLOTS, slots, U32, COUNT, 1, 1024) \
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
	X(MARGIN_RETRAIN, margin_retrain, U32, COUNT, 1, 9999) \
	X(RETRY, retry, U32, PROTOCOL, 0, 3) \
	X(PACE, pace, U32, COUNT, 0, 100) \
	X(BUBBLE, bubble, U32, POLICY, 0, 2) \
	X(DSCP_VCD1, dscp_vcd1, U64, DSCPS, 0, 0xffffffffffffffffULL) \
	X(DSCP_VCA, dscp_vca, U64, DSCPS, 0, 0xffffffffffffffffULL)

#endif /* _UAPI_LINUX_TORUS_POLICY_H */
