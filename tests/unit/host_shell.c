// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/host_shell.h"

#include "tests/unit/seeds.h"

struct host_shell shell;

u64 *tn_nic_counters(struct tn_nic *nic)
{
	(void)nic;
	return shell.counter;
}

unsigned int tn_nic_room(struct tn_nic *nic, u32 dst, unsigned int vc)
{
	(void)nic;
	assert_true(dst < HOST_NODES && vc < TORUS_VCS);
	return !shell.full[dst][vc];
}

int tn_nic_send_message(struct tn_nic *nic, struct tn_queue *msg, u32 dst, unsigned int vc, u64 now)
{
	(void)nic;
	(void)now;
	for (; msg->head; shell.takes--) {
		if (!shell.takes)
			return shell.refusal;
		shell.dst = dst;
		shell.vc = vc;
		tn_queue_push(&shell.sent, tn_queue_pop(msg));
	}
	return 0;
}

static struct tn_pkt *op_pkt_new(void *of, unsigned int nflits)
{
	assert_ptr_equal(of, &shell);
	return shell.is_out ? NULL : host_packet(nflits * TN_FLIT);
}

static void op_pkt_put(void *of, struct tn_pkt *pkt)
{
	assert_ptr_equal(of, &shell);
	shell.packets--;
	free(pkt->payload);
	free(pkt);
}

static void lost(void *of, const u8 *ip, u32 len)
{
	assert_ptr_equal(of, &shell);
	shell.reported++;
	shell.reported_ip = ip;
	shell.reported_len = len;
}

static void forget(void *of, struct torus_host_msg *msg)
{
	assert_ptr_equal(of, &shell);
	shell.forgot++;
	shell.last_forgot = msg;
}

static u32 op_keep(void *of, struct tn_pkt *pkt)
{
	assert_ptr_equal(of, &shell);
	shell.kept++;
	return shell.each ? shell.each : pkt->hdr.len * TN_FLIT;
}

static u32 op_random(void *of)
{
	assert_ptr_equal(of, &shell);
	return ++shell.random;
}

static const struct tn_ops ops = {
	.pkt_new = op_pkt_new,
	.pkt_put = op_pkt_put,
	.keep = op_keep,
	.random = op_random,
};

void host_start(void)
{
	const struct tn_nic_config cfg = {
		.ops = &ops, .host = &shell,
		.params = {
			.payload_max = HOST_PAYLOAD_MAX + TN_FLIT - 1,
			.dscp_vcd1 = 1ull << 32,
			.dscp_vca = 1ull << 8,
		},
	};

	memset(&shell, 0, sizeof(shell));
	memset(&shell.host, 0xff, sizeof(shell.host));
	torus_host_init(&shell.host, NULL, &cfg, lost, forget);
	shell.takes = ~0u;
}

void host_end(void)
{
	torus_host_flush(&shell.host);
	host_free(&shell.sent);
	assert_int_equal(shell.host.waiting, 0);
	assert_int_equal(shell.packets, 0);
}

struct tn_pkt *host_packet(u32 bytes)
{
	u32 flits = (bytes + TN_FLIT - 1) / TN_FLIT;
	struct tn_pkt *pkt = calloc(1, sizeof(*pkt));

	assert_non_null(pkt);
	pkt->payload = calloc(flits + !flits, TN_FLIT);
	assert_non_null(pkt->payload);
	pkt->hdr.type = TN_DATA;
	pkt->hdr.len = (u16)flits;
	pkt->tail.flags = (u8)(flits * TN_FLIT - bytes);
	shell.packets++;
	return pkt;
}

void host_free(struct tn_queue *q)
{
	struct tn_pkt *pkt;

	while ((pkt = tn_queue_pop(q)))
		op_pkt_put(&shell, pkt);
}
