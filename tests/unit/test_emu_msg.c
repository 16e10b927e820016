// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of torusemu's host leave and arrive whole, whatever memory they lie in. The functions
 * of NIC and tun device that msg.c calls are here; what messages mean is kernel/host's.
 */
#include <netinet/ip.h>

#include "tests/unit/seeds.h"
#include "tools/torusemu/emu.h"

#define MOST	4096	/* payload_max of the NIC */

static const struct torus_shape ring = { .ndims = 1, .size = { 3, 1, 1, 1, 1, 1 } };
static struct pool pool;
static struct emu emu;
static u64 counter[TORUS_NC_COUNT];

/* Packets that the NIC took, and messages that the host got. */
static struct tn_queue sent;
static struct {
	u8 bytes[POOL_FRAME_MAX];
	size_t len;
	unsigned int pieces;
} given;

/* --- around msg.c -------------------------------------------------------------------- */

u64 *tn_nic_counters(struct tn_nic *nic)
{
	(void)nic;
	return counter;
}

/* Mask of the nodes to which the NIC has no room to send. */
static u32 full;

unsigned int tn_nic_room(struct tn_nic *nic, u32 dst, unsigned int vc)
{
	(void)nic;
	(void)vc;
	return !(full >> dst & 1);
}

int tn_nic_send_message(struct tn_nic *nic, struct tn_queue *msg, u32 dst, unsigned int vc, u64 now)
{
	(void)nic;
	(void)dst;
	(void)vc;
	(void)now;
	while (msg->head)
		tn_queue_push(&sent, tn_queue_pop(msg));
	return 0;
}

u64 loop_now(void)
{
	return 1;
}

void tun_write(struct emu *e, const struct iovec *iov, int n, size_t bytes)
{
	assert_ptr_equal(e, &emu);
	given.len = 0;
	given.pieces = (unsigned int)n;
	for (int i = 0; i < n; i++) {
		memcpy(given.bytes + given.len, iov[i].iov_base, iov[i].iov_len);
		given.len += iov[i].iov_len;
	}
	assert_int_equal(given.len, bytes);
}

void tun_deliver(struct emu *e, struct tn_pkt *pkt)
{
	struct iovec iov = { pkt->payload, tn_pkt_bytes(pkt) };

	tun_write(e, &iov, 1, iov.iov_len);
	pkt_free(e->pool, pkt);
}

static struct tn_pkt *op_pkt_new(void *host, unsigned int nflits)
{
	struct frame *f = frame_new(&pool, (size_t)nflits * TN_FLIT);

	(void)host;
	return f ? pkt_new(&pool, f, f->data) : NULL;
}

static void op_pkt_put(void *host, struct tn_pkt *pkt)
{
	(void)host;
	pkt_free(&pool, pkt);
}

static u32 op_random(void *host)
{
	(void)host;
	return 1;
}

static void start(void)
{
	static const struct tn_ops ops = {
		.pkt_new = op_pkt_new, .pkt_put = op_pkt_put, .random = op_random,
	};
	const struct tn_nic_config cfg = {
		.ops = &ops, .host = &emu, .params = { .payload_max = MOST },
	};

	memset(&emu, 0, sizeof(emu));
	memset(counter, 0, sizeof(counter));
	memset(&given, 0, sizeof(given));
	emu.pool = &pool;
	torus_host_init(&emu.soft.host, NULL, &cfg, msg_lost, msg_forget);
	emu.soft.host.shape = &ring;
}

/*
 * Sends a message of @len bytes to node 1: it leaves in packets, which are delivered as the same
 * message.
 */
static void expect_whole(size_t len)
{
	struct frame *f = frame_new(&pool, len + TN_FLIT);
	struct iphdr ip = { .version = 4, .ihl = 5, .daddr = htonl(10u << 24 | 1 << 16) };
	unsigned int packets = (unsigned int)((len + MOST - 1) / MOST);
	u8 *copy = malloc(len);
	struct tn_pkt *pkt;

	assert_true(f && copy);
	for (size_t i = 0; i < len; i++)
		f->data[i] = (u8)(i * 7 + (i >> 8));
	memcpy(f->data + TUN_HDR, &ip, sizeof(ip));
	memcpy(copy, f->data, len);
	msg_send(&emu, f, len, 1);
	/* A short one does not pin the buffer that the next message is read into. */
	assert_int_equal(f->refs, 1 + (len < EMU_COPY_BREAK ? 0 : packets));
	frame_put(&pool, f);
	assert_int_equal(sent.count, packets);
	for (u32 eseq = 0; (pkt = tn_queue_pop(&sent)); eseq++) {
		pkt->tail.eseq = eseq;
		msg_deliver(&emu, pkt);
	}
	assert_int_equal(given.pieces, packets);
	assert_int_equal(given.len, len);
	assert_memory_equal(given.bytes, copy, len);
	free(copy);
}

static void messages_of_all_sizes_arrive_whole(void **state)
{
	static const size_t sizes[] = {
		30, 100, EMU_COPY_BREAK - 1, EMU_COPY_BREAK, MOST - 1, MOST, MOST + 1, 3 * MOST,
		TORUS_HOST_MSG_MAX,
	};

	(void)state;
	start();
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++)
		expect_whole(sizes[i]);
	assert_int_equal(counter[TORUS_NC_HOST_TX_DROPS], 0);
	assert_int_equal(counter[TORUS_NC_HOST_RX_DROPS], 0);
}

static struct frame *message(u32 node, size_t len, u8 fill)
{
	struct frame *f = frame_new(&pool, len + TN_FLIT);
	struct iphdr ip = { .version = 4, .ihl = 5, .daddr = htonl(10u << 24 | node << 16) };

	assert_non_null(f);
	memset(f->data, fill, len);
	memcpy(f->data + TUN_HDR, &ip, sizeof(ip));
	return f;
}

/* Messages without room wait with their contents, and are sent or freed; others go on. */
static void message_without_room_waits_and_others_go_on(void **state)
{
	static const size_t sizes[] = { 100, EMU_COPY_BREAK, 3 * MOST };
	struct tn_pkt *pkt;
	u64 now = 1;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct frame *f = message(1, sizes[i], 7);

		start();
		full = 1u << 1;
		msg_send(&emu, f, sizes[i], now);
		assert_int_equal(f->refs, sizes[i] < EMU_COPY_BREAK ? 1 : 2);
		frame_put(&pool, f);
		assert_false(torus_host_open(&emu.soft.host, 0));
		assert_false(msg_next(&emu, now));
		now = torus_host_expiry(&emu.soft.host);
		assert_false(msg_next(&emu, now));
		assert_true(torus_host_open(&emu.soft.host, 0));
		f = message(2, 200, 3);		/* to a node for which no message waits */
		msg_send(&emu, f, 200, now);
		frame_put(&pool, f);
		pkt = tn_queue_pop(&sent);
		assert_int_equal(pkt->payload[100], 3);
		pkt_free(&pool, pkt);
		full = 0;
		assert_true(msg_next(&emu, now));
		assert_int_equal(sent.count, (sizes[i] + MOST - 1) / MOST);
		while ((pkt = tn_queue_pop(&sent))) {
			assert_int_equal(pkt->payload[60], 7);
			pkt_free(&pool, pkt);
		}
		assert_false(msg_next(&emu, now));
		full = 1u << 1;
		f = message(1, sizes[i], 7);
		msg_send(&emu, f, sizes[i], now);
		frame_put(&pool, f);
		torus_host_flush(&emu.soft.host);
		assert_int_equal(counter[TORUS_NC_HOST_TX_DROPS], 1);
		full = 0;
	}
}

/* The host gets an ICMP message, behind an empty header, for a packet that comes back. */
static void returned_packet_gives_icmp_to_host(void **state)
{
	const u8 none[TUN_HDR] = { 0 };
	struct frame *f = frame_new(&pool, 128);
	struct tn_pkt *pkt = f ? pkt_new(&pool, f, f->data) : NULL;

	(void)state;
	start();
	assert_non_null(pkt);
	memset(f->data, 1, 128);
	f->data[TUN_HDR] = 0x45;
	f->data[TUN_HDR + 6] = f->data[TUN_HDR + 7] = 0;
	f->data[TUN_HDR + 9] = IPPROTO_UDP;
	pkt->hdr.type = TN_UNREACH;
	pkt->hdr.len = 8;
	pkt->tail.flags = TN_TAIL_FIRST | TN_TAIL_LAST;
	msg_deliver(&emu, pkt);
	assert_int_equal(given.len, TUN_HDR + 20 + 8 + 128 - TUN_HDR);
	assert_memory_equal(given.bytes, none, TUN_HDR);
	assert_int_equal(given.bytes[TUN_HDR], 0x45);
	assert_int_equal(given.bytes[TUN_HDR + 9], IPPROTO_ICMP);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(messages_of_all_sizes_arrive_whole),
		cmocka_unit_test(message_without_room_waits_and_others_go_on),
		cmocka_unit_test(returned_packet_gives_icmp_to_host),
	};

	pool_init(&pool, 16);
	return cmocka_run_group_tests_name("emu_msg", all, NULL, NULL);
}
