// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of torusemu's host: the VC on which they leave, whole. The functions of NIC and host
 * that msg.c calls are here.
 */
#include <netinet/ip.h>
#include <torus/topology.h>

#include "tests/unit/seeds.h"
#include "tools/torusemu/emu.h"

#define CS1	(8 << 2)
#define CS4	(32 << 2)
#define DST	1	/* node that messages go to */
#define MOST	4096	/* payload_max */

static struct pool pool;
static struct emu emu;
static u64 counter[TORUS_NC_COUNT];

/* What the NIC got, which is one message. */
static struct {
	u8 bytes[POOL_FRAME_MAX];
	size_t len;
	unsigned int packets;
	u32 dst, vc;
} sent;

/* --- around msg.c -------------------------------------------------------------------- */

u64 *tn_nic_counters(struct tn_nic *nic)
{
	(void)nic;
	return counter;
}

unsigned int tn_nic_room(const struct tn_nic *nic, unsigned int vc)
{
	(void)nic;
	(void)vc;
	return 1;
}

int tn_nic_send(struct tn_nic *nic, struct tn_pkt *pkt, u32 dst, unsigned int vc, u64 now)
{
	(void)nic;
	(void)now;
	assert_int_equal(!(pkt->tail.flags & TN_TAIL_FIRST), !!sent.packets);
	memcpy(sent.bytes + sent.len, pkt->payload, tn_pkt_bytes(pkt));
	sent.len += tn_pkt_bytes(pkt);
	sent.packets += !(pkt->tail.flags & TN_TAIL_LAST);
	sent.dst = dst;
	sent.vc = vc;
	pkt_free(&pool, pkt);
	return 0;
}

void tun_write(struct emu *e, const struct iovec *iov, int n, size_t bytes)
{
	(void)e;
	(void)iov;
	(void)n;
	(void)bytes;
	fail();
}

void tun_deliver(struct emu *e, struct tn_pkt *pkt)
{
	(void)e;
	(void)pkt;
	fail();
}

void icmp_unreachable(struct emu *e, const u8 *msg, size_t len)
{
	(void)e;
	(void)msg;
	(void)len;
	fail();
}

static void start(void)
{
	const struct torus_shape shape = { .ndims = 1, .size = { 3, 1, 1, 1, 1, 1 } };

	memset(&emu, 0, sizeof(emu));
	memset(counter, 0, sizeof(counter));
	emu.pool = &pool;
	emu.params.payload_max = MOST;
	emu.is_placed = true;
	emu.shape = shape;
}

/* --- from the host --------------------------------------------------------------------- */

/* Return: the VC on which a message of @len bytes leaves, whole. */
static u32 vc_of(u8 dsfield, size_t len)
{
	struct frame *f = frame_new(&pool, len + TN_FLIT);
	struct iphdr ip = { .version = 4, .ihl = 5, .tos = dsfield };
	struct in_addr to = { htonl(10u << 24 | DST << 16) };
	u8 *copy = malloc(len);

	assert_true(f && copy);
	ip.daddr = to.s_addr;
	for (size_t i = 0; i < len; i++)
		copy[i] = (u8)(i * 7 + (i >> 8));
	memcpy(copy + TUN_HDR, &ip, sizeof(ip));
	memcpy(f->data, copy, len);
	sent.len = sent.packets = 0;
	msg_send(&emu, f, len, 1);
	frame_put(&pool, f);
	assert_int_equal(sent.dst, DST);
	assert_int_equal(sent.len, len);
	assert_memory_equal(sent.bytes, copy, len);
	assert_int_equal(sent.packets, (len - 1) / MOST);
	free(copy);
	return sent.vc;
}

static void test_vc(void **state)
{
	(void)state;
	start();
	assert_int_equal(vc_of(0, 100), TORUS_VC_D0);
	assert_int_equal(vc_of(CS4, 100), TORUS_VC_D1);
	assert_int_equal(vc_of(CS4, 3 * MOST), TORUS_VC_D1);
	assert_int_equal(vc_of(CS1, 100), TORUS_VC_A);
	/* Only messages of one packet may use the VC without order. */
	assert_int_equal(vc_of(CS1, MOST), TORUS_VC_A);
	assert_int_equal(vc_of(CS1, MOST + 1), TORUS_VC_D0);
	assert_int_equal(vc_of(CS1, 3 * MOST), TORUS_VC_D0);
	assert_int_equal(counter[TORUS_NC_HOST_DROPS], 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_vc),
	};

	pool_init(&pool, 16);
	return cmocka_run_group_tests_name("emu_msg", all, NULL, NULL);
}
