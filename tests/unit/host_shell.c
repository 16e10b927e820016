// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/host_shell.h"

#include "tests/unit/seeds.h"

struct host_shell shell;

u64 *tn_nic_counters(struct tn_nic *nic)
{
	(void)nic;
	return shell.counter;
}

static void *op_alloc(void *of, size_t bytes)
{
	assert_ptr_equal(of, &shell);
	if (shell.is_out)
		return NULL;
	shell.blocks++;
	return calloc(1, bytes);
}

static void op_free(void *of, void *mem)
{
	assert_ptr_equal(of, &shell);
	shell.blocks--;
	free(mem);
}

static void op_pkt_put(void *of, struct tn_pkt *pkt)
{
	assert_ptr_equal(of, &shell);
	shell.packets--;
	free(pkt->payload);
	free(pkt);
}

static const struct torus_host_ops ops = {
	.alloc = op_alloc,
	.free = op_free,
	.pkt_put = op_pkt_put,
};

void host_start(void)
{
	memset(&shell, 0, sizeof(shell));
	shell.host.ops = &ops;
	shell.host.shell = &shell;
}

void host_end(void)
{
	torus_host_flush(&shell.host);
	assert_int_equal(shell.host.waiting, 0);
	assert_int_equal(shell.packets, 0);
	assert_int_equal(shell.blocks, 0);
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
