// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of torusemu's host: the VC on which they leave, whole, and that a message with a missing
 * packet never reaches the host. The functions of NIC and host that msg.c calls are here.
 */
#include <netinet/ip.h>
#include <torus/topology.h>

#include "tests/unit/seeds.h"
#include "tools/torusemu/emu.h"

#define CS1	(8 << 2)
#define CS4	(32 << 2)
#define DST	1	/* node that messages go to */
#define SRC	2	/* node that they come from */
#define MOST	4096	/* payload_max */

static struct pool pool;
static struct emu emu;
static u64 counter[TORUS_NC_COUNT];

/* What the NIC got, which is one message, and what the host got. */
static struct {
	u8 bytes[POOL_FRAME_MAX];
	size_t len;
	unsigned int packets;
	u32 dst, vc;
} sent;
static unsigned int given;
static size_t given_bytes;

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
	size_t sum = 0;

	(void)e;
	for (int i = 0; i < n; i++)
		sum += iov[i].iov_len;
	assert_int_equal(sum, bytes);
	given++;
	given_bytes += bytes;
}

void tun_deliver(struct emu *e, struct tn_pkt *pkt)
{
	given++;
	given_bytes += tn_pkt_bytes(pkt);
	pkt_free(e->pool, pkt);
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
	given = 0;
	given_bytes = 0;
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

/* --- from the fabric ------------------------------------------------------------------- */

/** struct piece - a packet of 64 bytes that arrives from node SRC on VCD0 */
struct piece {
	u32 eseq;
	u8 ends;
	u16 epoch;
};

#define FIRST TN_TAIL_FIRST
#define LAST TN_TAIL_LAST

static void arrive(const struct piece *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct frame *f = frame_new(&pool, 4 * TN_FLIT);
		struct tn_pkt *pkt = pkt_new(&pool, f, f->data);

		pkt->hdr = (struct tn_hdr) { .src = SRC, .len = 4, .type = TN_DATA };
		pkt->tail = (struct tn_tail) { .eseq = p[i].eseq, .flags = p[i].ends,
					       .epoch = p[i].epoch };
		msg_deliver(&emu, pkt);
	}
}

/* @whole messages of three packets reach the host; other packets are counted as drops. */
static void expect_whole(const struct piece *p, size_t n, unsigned int whole, bool drops)
{
	static const struct piece after[] = { { 100, FIRST, 9 }, { 101, 0, 9 }, { 102, LAST, 9 } };

	start();
	arrive(p, n);
	assert_int_equal(given, whole);
	assert_int_equal(given_bytes, whole * 3 * 4 * TN_FLIT);
	assert_int_equal(counter[TORUS_NC_HOST_DROPS] > 0, drops);
	/* The next message arrives whole. */
	arrive(after, ARRAY_SIZE(after));
	assert_int_equal(given, whole + 1);
	msg_flush(&emu);
	assert_int_equal(emu.msg.waiting, 0);
}

#define EXPECT_WHOLE(whole, drops, ...) do {						\
	static const struct piece p[] = { __VA_ARGS__ };				\
	expect_whole(p, ARRAY_SIZE(p), whole, drops);					\
} while (0)

static void test_hole(void **state)
{
	(void)state;
	EXPECT_WHOLE(1, false, { 5, FIRST, 0 }, { 6, 0, 0 }, { 7, LAST, 0 });
	EXPECT_WHOLE(1, false, { ~0u, FIRST, 0 }, { 0, 0, 0 }, { 1, LAST, 0 });
	EXPECT_WHOLE(2, false, { 5, FIRST, 0 }, { 6, 0, 0 }, { 7, LAST, 0 },
		     { 8, FIRST, 0 }, { 9, 0, 0 }, { 10, LAST, 0 });
	/* The middle, the beginning, the end is missing. */
	EXPECT_WHOLE(0, true, { 5, FIRST, 0 }, { 7, LAST, 0 });
	EXPECT_WHOLE(0, true, { 6, 0, 0 }, { 7, LAST, 0 });
	EXPECT_WHOLE(1, true, { 5, FIRST, 0 }, { 6, 0, 0 }, { 8, FIRST, 0 }, { 9, 0, 0 },
		     { 10, LAST, 0 });
	EXPECT_WHOLE(1, true, { 5, FIRST, 0 }, { 6, 0, 0 }, { 7, FIRST, 0 }, { 8, 0, 0 },
		     { 9, LAST, 0 });
	/* The ends of two messages whose numbers fit, but not their epochs, make no message. */
	EXPECT_WHOLE(0, true, { 5, FIRST, 1 }, { 6, 0, 1 }, { 7, LAST, 2 });
}

/* The number of unfinished messages has a bound: the oldest is dropped. */
static void test_unfinished(void **state)
{
	struct piece p = { 5, FIRST, 0 };

	(void)state;
	start();
	for (unsigned int i = 0; i <= MSG_WAITING_MAX; i++) {
		struct frame *f = frame_new(&pool, 4 * TN_FLIT);
		struct tn_pkt *pkt = pkt_new(&pool, f, f->data);

		pkt->hdr = (struct tn_hdr) { .src = i, .len = 4, .type = TN_DATA };
		pkt->tail = (struct tn_tail) { .eseq = p.eseq, .flags = p.ends };
		msg_deliver(&emu, pkt);
		assert_int_equal(counter[TORUS_NC_HOST_DROPS], i == MSG_WAITING_MAX);
	}
	assert_int_equal(emu.msg.waiting, MSG_WAITING_MAX);
	/* The packet that completes the oldest message is now a stray; that of the next is not. */
	for (u32 src = 0; src < 2; src++) {
		struct frame *f = frame_new(&pool, 4 * TN_FLIT);
		struct tn_pkt *pkt = pkt_new(&pool, f, f->data);

		pkt->hdr = (struct tn_hdr) { .src = src, .len = 4, .type = TN_DATA };
		pkt->tail = (struct tn_tail) { .eseq = 6, .flags = LAST };
		msg_deliver(&emu, pkt);
		assert_int_equal(given, src);
	}
	msg_flush(&emu);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_vc),
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_unfinished),
	};

	pool_init(&pool, 16);
	return cmocka_run_group_tests_name("emu_msg", all, NULL, NULL);
}
