// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of states, reasons, protocols, commands and counters. */
#include "client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

static const char *const states[TORUS_LINK_STATES] = {
	[TORUS_LINK_DOWN] = "down",
	[TORUS_LINK_TRAINING] = "training",
	[TORUS_LINK_INIT] = "init",
	[TORUS_LINK_UP] = "up",
	[TORUS_LINK_RETRAINING] = "retraining",
	[TORUS_LINK_FAULTY] = "faulty",
};

static const char *const reasons[TORUS_REASONS] = {
	[TORUS_REASON_NONE] = "none",
	[TORUS_REASON_ADMIN] = "admin",
	[TORUS_REASON_CARRIER] = "carrier",
	[TORUS_REASON_SILENCE] = "silence",
	[TORUS_REASON_RETRY] = "retry",
	[TORUS_REASON_PEER] = "peer",
	[TORUS_REASON_PROTOCOL] = "protocol",
	[TORUS_REASON_MISMATCH] = "mismatch",
	[TORUS_REASON_TRAINING] = "training",
	[TORUS_REASON_BUBBLE] = "bubble",
};

static const char *const retries[TORUS_RETRIES] = {
	[TORUS_RETRY_AUTO] = "auto",
	[TORUS_RETRY_ANGARA] = "angara",
	[TORUS_RETRY_ACKNAK] = "acknak",
	[TORUS_RETRY_HIPPI] = "hippi",
};

static const char *const bubbles[TORUS_BUBBLES] = {
	[TORUS_BUBBLE_BLOC] = "bloc",
	[TORUS_BUBBLE_CBS] = "cbs",
	[TORUS_BUBBLE_MBS] = "mbs",
};

static const char *const differences[TORUS_DIFFERENCES] = {
	[TORUS_DIFFERS_NOTHING] = "nothing",
	[TORUS_DIFFERS_WIRE] = "wire",
	[TORUS_DIFFERS_BUBBLE] = "bubble",
	[TORUS_DIFFERS_PAYLOAD_MAX] = "payload_max",
	[TORUS_DIFFERS_RETRY] = "retry",
	[TORUS_DIFFERS_SLOTS] = "slots",
};

static const char *const lanes[TORUS_LANE_STATES] = {
	[TORUS_LANE_OFF] = "off",
	[TORUS_LANE_ON] = "on",
	[TORUS_LANE_DEAD] = "dead",
	[TORUS_LANE_POOR] = "poor",
};

static const char *const commands[TORUS_CMD_MAX + 1] = {
	[TORUS_CMD_DEVICE_GET] = "device get",
	[TORUS_CMD_DEVICE_SET] = "device set",
	[TORUS_CMD_LINK_GET] = "link get",
	[TORUS_CMD_LINK_SET] = "link set",
	[TORUS_CMD_LINK_ATTACH] = "link attach",
	[TORUS_CMD_ROWS_BEGIN] = "rows begin",
	[TORUS_CMD_ROWS_PUT] = "rows put",
	[TORUS_CMD_ROWS_COMMIT] = "rows commit",
	[TORUS_CMD_ROWS_GET] = "rows get",
	[TORUS_CMD_HOLD] = "hold",
	[TORUS_CMD_RELEASE] = "release",
	[TORUS_CMD_FLOW_GET] = "flow get",
	[TORUS_CMD_PARK_GET] = "park get",
	[TORUS_CMD_PARK_RESOLVE] = "park resolve",
	[TORUS_CMD_PARK_REPLAY] = "park replay",
	[TORUS_CMD_MGMT_SEND] = "mgmt send",
	[TORUS_CMD_SUBSCRIBE] = "subscribe",
	[TORUS_CMD_LINK_NTF] = "link event",
	[TORUS_CMD_MGMT_NTF] = "mgmt event",
	[TORUS_CMD_PARK_NTF] = "park event",
	[TORUS_CMD_EYE_GET] = "eye get",
	[TORUS_CMD_PARK_FLOWS_GET] = "park flows get",
};

const char *torus_link_state_name(unsigned int state)
{
	return state < TORUS_LINK_STATES ? states[state] : NULL;
}

const char *torus_link_reason_name(unsigned int reason)
{
	return reason < TORUS_REASONS ? reasons[reason] : NULL;
}

const char *torus_lane_name(unsigned int state)
{
	return state < TORUS_LANE_STATES ? lanes[state] : NULL;
}

const char *torus_retry_name(unsigned int protocol)
{
	return protocol < TORUS_RETRIES ? retries[protocol] : NULL;
}

int torus_retry_parse(const char *text, enum torus_retry *out)
{
	for (unsigned int i = 0; i < TORUS_RETRIES; i++) {
		if (!strcmp(text, retries[i])) {
			*out = (enum torus_retry)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *torus_differs_name(unsigned int differs)
{
	return differs < TORUS_DIFFERENCES ? differences[differs] : NULL;
}

const char *torus_differs_text(unsigned int differs, uint32_t value, char *buf)
{
	const char *name = NULL;

	if (differs == TORUS_DIFFERS_BUBBLE && value < TORUS_BUBBLES)
		name = bubbles[value];
	else if (differs == TORUS_DIFFERS_RETRY)
		name = torus_retry_name(value);
	if (name)
		snprintf(buf, TORUS_TEXT_MAX, "%s", name);
	else
		snprintf(buf, TORUS_TEXT_MAX, "%" PRIu32, value);
	return buf;
}

const char *lt_command_name(unsigned int cmd)
{
	return cmd <= TORUS_CMD_MAX && commands[cmd] ? commands[cmd] : "message";
}

#define DESC(id, word, unit_, help_) { .name = #word, .unit = #unit_, .help = help_ },

const struct torus_counter_desc torus_port_counters[TORUS_PC_COUNT] = {
	TORUS_PORT_COUNTER_LIST(DESC)
};

const struct torus_counter_desc torus_port_gauges[TORUS_PG_COUNT] = {
	TORUS_PORT_GAUGE_LIST(DESC)
};

const struct torus_counter_desc torus_node_counters[TORUS_NC_COUNT] = {
	TORUS_NODE_COUNTER_LIST(DESC)
};

const struct torus_counter_desc torus_flow_counters[TORUS_FC_COUNT] = {
	TORUS_FLOW_COUNTER_LIST(DESC)
};
