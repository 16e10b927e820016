// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the host to the fabric: finds their destination and VC, and sends them while there is
 * room.
 */
#include "../core/plan.h"
#include "host.h"

#define IP4_HDR		20	/* bytes of an IPv4 header */
#define IP4_DST		16	/* offset of the destination address in it */
#define IP6_HDR		40
#define IP6_DST		24

void torus_host_init(struct torus_host *h, struct tn_nic *nic, const struct tn_nic_config *cfg,
		     torus_host_lost lost, torus_host_free forget)
{
	memset(h, 0, sizeof(*h));
	h->ops = cfg->ops;
	h->shell = cfg->host;
	h->nic = nic;
	h->lost = lost;
	h->forget = forget;
	h->plan = &tn_plan_default;
	h->seed = (u64)cfg->ops->random(cfg->host) << 32 | cfg->ops->random(cfg->host);
	h->payload_max = cfg->params.payload_max / TN_FLIT * TN_FLIT;
	h->dscp_vcd1 = cfg->params.dscp_vcd1;
	h->dscp_vca = cfg->params.dscp_vca;
}

static u8 vc_of(const struct torus_host *h, u8 dsfield)
{
	unsigned int dscp = dsfield >> 2;

	if (h->dscp_vcd1 >> dscp & 1)
		return TORUS_VC_D1;
	return h->dscp_vca >> dscp & 1 ? TORUS_VC_A : TORUS_VC_D0;
}

u8 torus_host_vc(const struct torus_host *h, const u8 *ip, size_t n)
{
	if (n >= IP4_HDR && ip[0] >> 4 == 4)
		return vc_of(h, ip[1]);
	if (n >= IP6_HDR && ip[0] >> 4 == 6)
		return vc_of(h, (u8)(ip[0] << 4 | ip[1] >> 4));
	return TORUS_VC_D0;
}

/* Return: the destination of a message, node id; TORUS_NO_NODE if it is not in the fabric. */
static u32 find_destination(const struct torus_host *h, const u8 *ip, size_t n)
{
	const u8 *to = ip + IP4_DST;

	if (n >= IP4_HDR && ip[0] >> 4 == 4)
		return tn_plan_node4(h->plan, h->shape, (u32)to[0] << 24 | (u32)to[1] << 16 |
							(u32)to[2] << 8 | to[3]);
	if (n >= IP6_HDR && ip[0] >> 4 == 6)
		return tn_plan_node6(h->plan, h->shape, ip + IP6_DST);
	return TORUS_NO_NODE;
}

bool torus_host_begin(struct torus_host *h, struct torus_host_msg *msg, const u8 *ip, size_t n,
		      u32 len)
{
	msg->len = len < TORUS_HOST_HDR ? 0 : len - TORUS_HOST_HDR;
	msg->dst = h->shape ? find_destination(h, ip, n) : TORUS_NO_NODE;
	msg->vc = torus_host_vc(h, ip, n);
	if (msg->dst == TORUS_NO_NODE) {
		tn_nic_counters(h->nic)[TORUS_NC_HOST_TX_DROPS]++;
		return false;
	}
	/*
	 * The packets of a message must keep their order, so a message of several packets cannot
	 * use VCA.
	 */
	if (msg->vc == TORUS_VC_A && len > h->payload_max)
		msg->vc = TORUS_VC_D0;
	return true;
}

void torus_host_send(struct torus_host *h, const struct torus_host_msg *msg, u64 now)
{
	u64 *counter = tn_nic_counters(h->nic);
	int err = tn_nic_send_message(h->nic, &h->out, msg->dst, msg->vc, now);

	if (err) {
		if (err == -EHOSTUNREACH)
			torus_host_unreachable(h, h->out.head);
		torus_host_drop(h, &h->out);
		return;
	}
	counter[TORUS_NC_HOST_MESSAGES_TX]++;
	counter[TORUS_NC_HOST_BYTES_TX] += msg->len;
}
