// SPDX-License-Identifier: GPL-2.0-only
#include "params.h"
#include "times.h"

/*
 * Default of hold_bytes: all packets that a busy host sends during a change of the root. If the
 * root is lost in the middle of a recovery, its holds stay until a successor releases them, which
 * may take 3 s. At 5,000 datagrams of 512 bytes a second, 15,000 must be kept in this time.
 *
 * Memory of one such packet: 512 bytes, 28 of headers and 10 of a virtio_net_hdr make 550 bytes or
 * 35 flits; with header and tail these are 37 flits, 592 bytes. But the limit counts the memory
 * that the packet occupies (tn_ops.keep): in the driver at most 1,280 bytes of an skb and 192 of a
 * descriptor, in torusemu less. That is 22,080,000 bytes for all.
 *
 * One destination may use 8/9 of the limit (router.c). 8/9 of 24 MiB are 22,369,621 bytes, enough
 * for 15,196 packets or 3.04 s. This does not count on the queues in front of the NIC, because they
 * differ between hosts (256 packets, and 4,096 messages in a tun device or 500 in the driver).
 */
#define HOLD_BYTES	(24 << 20)

#define DSCP_CS1	8	/* lower effort */
#define DSCP_CS4	32

void tn_params_default(struct tn_params *p)
{
	*p = (struct tn_params) {
		.keepalive = 100 * MS,
		.silence = 350 * MS,
		.ack_delay = 1 * MS,
		.replay_timeout = 20 * MS,
		.retry_time = 500 * MS,
		.init_interval = 10 * MS,
		.probe_interval = 100 * MS,
		.retrain_time = 200 * MS,
		.gap_time = 5000 * MS,
		.eye_interval = 50 * MS,
		.target_ber = 1000000,		/* 1e-12 */
		.mask_height = 60,
		.mask_width = 100,
		.margin_train = 110,
		.margin_retrain = 100,
		.retry_count = 4,
		.retry_packets = 256,
		.slots = 256,
		.payload_max = 4096,
		.frame_max = 65520,
		.relay_packets = 4096,
		.park_bytes = 16 << 20,
		.hold_bytes = HOLD_BYTES,
		.dscp_vcd1 = 1ull << DSCP_CS4,
		.dscp_vca = 1ull << DSCP_CS1,
	};
}

#define IS_U32 false
#define IS_U64 true
const struct tn_param tn_param_list[TN_PARAMS] = {
#define X(id, name, kind, unit, min, max) \
	{ #name, IFLA_TORUS_##id, offsetof(struct tn_params, name), IS_##kind, TN_##unit, \
	  min, max },
	TORUS_PARAM_LIST(X)
#undef X
};

/* Constraints between two parameters: @param must be at least @than + @more. */
static const struct {
	enum tn_param_id param, than;
	u8 more;
} orders[] = {
	{ TN_PARAM_SILENCE, TN_PARAM_KEEPALIVE, 1 },
	{ TN_PARAM_REPLAY_TIMEOUT, TN_PARAM_ACK_DELAY, 1 },
	{ TN_PARAM_MARGIN_TRAIN, TN_PARAM_MARGIN_RETRAIN, 0 },
	{ TN_PARAM_FRAME_MAX, TN_PARAM_PAYLOAD_MAX, TN_AROUND_MAX },
	{ TN_PARAM_PARK_BYTES, TN_PARAM_PAYLOAD_MAX, TN_AROUND_MAX },
};

u64 tn_param_get(const struct tn_params *all, const struct tn_param *p)
{
	const void *at = (const u8 *)all + p->offset;

	return p->is_wide ? *(const u64 *)at : *(const u32 *)at;
}

void tn_param_set(struct tn_params *all, const struct tn_param *p, u64 v)
{
	void *at = (u8 *)all + p->offset;

	if (p->is_wide)
		*(u64 *)at = v;
	else
		*(u32 *)at = (u32)v;
}

/*
 * Return: the least number of slots. BLOC needs two, but peers of wire version 4 refuse fewer than
 * four.
 */
static u64 slots_min(u32 bubble)
{
	return bubble == TORUS_BUBBLE_BLOC ? 4 : bubble == TORUS_BUBBLE_CBS ? 2 : 1;
}

int tn_params_check(const struct tn_params *all, struct tn_params_why *why)
{
	unsigned int i;

	for (i = 0; i < TN_PARAMS; i++) {
		const struct tn_param *p = &tn_param_list[i];

		*why = (struct tn_params_why) { .param = p, .min = p->min, .max = p->max };
		if (tn_param_get(all, p) < why->min || tn_param_get(all, p) > why->max)
			return -ERANGE;
	}
	*why = (struct tn_params_why) {
		.param = &tn_param_list[TN_PARAM_SLOTS],
		.min = slots_min(all->bubble),
		.max = tn_param_list[TN_PARAM_SLOTS].max,
	};
	if (all->slots < why->min)
		return -ERANGE;
	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		*why = (struct tn_params_why) {
			.param = &tn_param_list[orders[i].param],
			.than = &tn_param_list[orders[i].than],
			.more = orders[i].more,
		};
		why->min = tn_param_get(all, why->than) + why->more;
		why->max = why->param->max;
		if (tn_param_get(all, why->param) < why->min)
			return -EINVAL;
	}
	return 0;
}
