// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets become messages again: whole ones reach the host, others never do, and those that do
 * not end take only so much memory.
 */
#include "tests/unit/host_shell.h"
#include "tests/unit/seeds.h"

#define SRC	2	/* node that messages come from */
#define FIRST	TN_TAIL_FIRST
#define LAST	TN_TAIL_LAST

/** struct piece - a packet of @bytes (0: 64) that arrives from node SRC on VCD0 */
struct piece {
	u32 eseq;
	u8 ends;
	u16 epoch;
	u32 bytes;
};

/*
 * Delivers a packet. Return: bytes of the message that the host gets by it, whose memory it gives
 * back.
 */
static u32 arrive(u32 src, u8 vc, const struct piece *p)
{
	struct tn_pkt *pkt = host_packet(p->bytes ? p->bytes : 64);
	struct tn_queue msg;
	u32 bytes, sum = 0;

	pkt->hdr.src = src;
	pkt->hdr.vc = vc;
	pkt->tail.flags |= p->ends;
	pkt->tail.eseq = p->eseq;
	pkt->tail.epoch = p->epoch;
	bytes = torus_host_take(&shell.host, pkt, &msg);
	for (pkt = msg.head; pkt; pkt = pkt->next) {
		assert_int_equal(pkt == msg.head, !!(pkt->tail.flags & FIRST));
		assert_int_equal(pkt == msg.tail, !!(pkt->tail.flags & LAST));
		assert_true(!pkt->next || pkt->next->tail.eseq == pkt->tail.eseq + 1);
		sum += tn_pkt_bytes(pkt);
	}
	assert_int_equal(sum, bytes);
	host_free(&msg);
	return bytes;
}

static u64 drops(void)
{
	assert_int_equal(shell.counter[TORUS_NC_HOST_TX_DROPS], 0);
	return shell.counter[TORUS_NC_HOST_RX_DROPS];
}

/*
 * Checks that @whole messages of three packets reach the host, and that the others count as
 * @dropped.
 */
static void expect_whole(const struct piece *p, size_t n, unsigned int whole, u64 dropped)
{
	static const struct piece after[] = {
		{ 100, FIRST, 9, 0 }, { 101, 0, 9, 0 }, { 102, LAST, 9, 0 },
	};
	unsigned int given = 0;
	u32 bytes;

	host_start();
	for (size_t i = 0; i < n; i++) {
		bytes = arrive(SRC, 0, &p[i]);
		given += bytes > 0;
		assert_true(!bytes || bytes == 3 * 64);
	}
	assert_int_equal(given, whole);
	assert_int_equal(drops(), dropped);
	/* The next message arrives whole. */
	assert_int_equal(arrive(SRC, 0, &after[0]), 0);
	assert_int_equal(arrive(SRC, 0, &after[1]), 0);
	assert_int_equal(arrive(SRC, 0, &after[2]), 3 * 64);
	host_end();
}

#define EXPECT_WHOLE(whole, dropped, ...) do {						\
	static const struct piece p[] = { __VA_ARGS__ };				\
	expect_whole(p, ARRAY_SIZE(p), whole, dropped);					\
} while (0)

static void message_with_missing_packet_is_dropped(void **state)
{
	(void)state;
	EXPECT_WHOLE(1, 0, { 5, FIRST, 0, 0 }, { 6, 0, 0, 0 }, { 7, LAST, 0, 0 });
	EXPECT_WHOLE(1, 0, { ~0u, FIRST, 0, 0 }, { 0, 0, 0, 0 }, { 1, LAST, 0, 0 });
	EXPECT_WHOLE(2, 0, { 5, FIRST, 0, 0 }, { 6, 0, 0, 0 }, { 7, LAST, 0, 0 },
		     { 8, FIRST, 0, 0 }, { 9, 0, 0, 0 }, { 10, LAST, 0, 0 });
	/* The middle, the beginning, the end is missing. */
	EXPECT_WHOLE(0, 2, { 5, FIRST, 0, 0 }, { 7, LAST, 0, 0 });
	EXPECT_WHOLE(0, 2, { 6, 0, 0, 0 }, { 7, LAST, 0, 0 });
	EXPECT_WHOLE(1, 1, { 5, FIRST, 0, 0 }, { 6, 0, 0, 0 }, { 8, FIRST, 0, 0 }, { 9, 0, 0, 0 },
		     { 10, LAST, 0, 0 });
	EXPECT_WHOLE(1, 1, { 5, FIRST, 0, 0 }, { 6, 0, 0, 0 }, { 7, FIRST, 0, 0 }, { 8, 0, 0, 0 },
		     { 9, LAST, 0, 0 });
	/* The ends of two messages whose numbers fit, but not their epochs, make no message. */
	EXPECT_WHOLE(0, 2, { 5, FIRST, 1, 0 }, { 6, 0, 1, 0 }, { 7, LAST, 2, 0 });
}

/* Flows are independent: those of two VCs, and of so many nodes that they share buckets. */
static void flows_of_different_sources_and_vcs_are_independent(void **state)
{
	struct { u32 src; u8 vc; } flows[2 * TORUS_HOST_BUCKETS];
	struct piece p;

	for (u32 i = 0; i < ARRAY_SIZE(flows); i++) {
		flows[i].src = i / 2;
		flows[i].vc = i % 2;
	}

	(void)state;
	host_start();
	for (u32 eseq = 0; eseq < 3; eseq++)
		for (unsigned int i = 0; i < ARRAY_SIZE(flows); i++) {
			u8 end = eseq == 0 ? FIRST : eseq == 2 ? LAST : 0;

			p = (struct piece) { eseq, end, 0, 0 };
			assert_int_equal(arrive(flows[i].src, flows[i].vc, &p),
					 eseq == 2 ? 3 * 64 : 0);
		}
	assert_int_equal(drops(), 0);
	host_end();
}

/*
 * An adaptive packet is a message of its own, and ends no message of its flow; else it is dropped.
 */
static void adaptive_packet_is_message_of_its_own(void **state)
{
	const u8 adaptive = TN_TAIL_ADAPTIVE;
	static const struct piece begin = { 5, FIRST, 0, 0 }, end = { 6, LAST, 0, 0 };
	struct piece p = { 6, (u8)(adaptive | FIRST | LAST), 0, 100 };

	(void)state;
	host_start();
	assert_int_equal(arrive(SRC, 0, &begin), 0);
	assert_int_equal(arrive(SRC, 0, &p), 100);
	assert_int_equal(drops(), 0);
	for (u8 ends = 0; ends < 3; ends++) {
		p.ends = (u8)(adaptive | (ends == 1 ? FIRST : ends == 2 ? LAST : 0));
		assert_int_equal(arrive(SRC, 0, &p), 0);
		assert_int_equal(drops(), ends + 1);
	}
	assert_int_equal(shell.host.waiting, 1);
	assert_int_equal(arrive(SRC, 0, &end), 2 * 64);
	host_end();
}

/* A message of one packet is delivered at once, and ends an unfinished one of its flow. */
static void one_packet_message_ends_unfinished_one(void **state)
{
	static const struct piece one = { 5, FIRST | LAST, 0, 100 }, begin = { 6, FIRST, 0, 0 };
	static const struct piece next = { 7, FIRST | LAST, 0, 200 }, end = { 8, LAST, 0, 0 };

	(void)state;
	host_start();
	assert_int_equal(arrive(SRC, 0, &one), 100);
	assert_int_equal(arrive(SRC, 0, &begin), 0);
	assert_int_equal(arrive(SRC, 0, &next), 200);
	assert_int_equal(drops(), 1);
	assert_int_equal(arrive(SRC, 0, &end), 0);
	assert_int_equal(drops(), 2);
	host_end();
}

/* The first packet has the header and more; no message is longer than IP allows. */
static void message_longer_than_ip_allows_is_refused(void **state)
{
	static const struct { u32 bytes[2]; bool is_message; } sizes[] = {
		{ { TORUS_HOST_HDR, 0 }, false }, { { TORUS_HOST_HDR + 1, 0 }, true },
		{ { TORUS_HOST_HDR, 64 }, false }, { { TORUS_HOST_HDR + 1, 64 }, true },
		{ { TN_PAYLOAD_MAX, TORUS_HOST_MSG_MAX - TN_PAYLOAD_MAX }, true },
		{ { TN_PAYLOAD_MAX, TORUS_HOST_MSG_MAX - TN_PAYLOAD_MAX + 1 }, false },
	};

	(void)state;
	host_start();
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		u32 first = sizes[i].bytes[0], more = sizes[i].bytes[1], got;
		struct piece p = { 5, more ? FIRST : FIRST | LAST, 0, first };
		u64 before = drops();

		got = arrive(SRC, 0, &p);
		if (more) {
			p = (struct piece) { 6, LAST, 0, more };
			got += arrive(SRC, 0, &p);
		}
		assert_int_equal(got, sizes[i].is_message ? first + more : 0);
		assert_int_equal(drops() - before, !sizes[i].is_message);
	}
	host_end();
}

/* A sender that begins messages and does not end them gets a limited amount of memory. */
static void unfinished_messages_get_limited_memory(void **state)
{
	const u32 each = 128, n = TORUS_HOST_WAITING_MAX;
	struct piece p;

	(void)state;
	host_start();
	for (u32 i = 0; i < n; i++) {
		p = (struct piece) { i % each, i % each ? 0 : FIRST, 0, 0 };
		assert_int_equal(arrive(i / each, 0, &p), 0);
	}
	assert_int_equal(shell.host.waiting, n);
	assert_int_equal(drops(), 0);
	/* The message that began first gives way. */
	p = (struct piece) { each, 0, 0, 0 };
	assert_int_equal(arrive(1, 0, &p), 0);
	assert_int_equal(shell.host.waiting, n + 1 - each);
	assert_int_equal(drops(), 1);
	/* The end of the dropped message is now a stray packet; the next message is still there. */
	p = (struct piece) { each, LAST, 0, 0 };
	assert_int_equal(arrive(0, 0, &p), 0);
	assert_int_equal(drops(), 2);
	p.eseq++;
	assert_int_equal(arrive(1, 0, &p), (each + 2) * 64);
	assert_int_equal(arrive(n / each, 0, &p), 0);
	torus_host_flush(&shell.host);
	assert_int_equal(drops(), 3 + n / each - 2);
	host_end();
}

/*
 * Messages that many sources begin and do not end do not supplant one that goes on. Of the packets
 * of such messages those are kept that come when many wait already.
 */
static void unfinished_messages_do_not_supplant_another(void **state)
{
	struct piece p = { 0, FIRST, 0, 0 };
	u32 stranger = 1000;

	(void)state;
	host_start();
	for (u32 eseq = 0; eseq < 20; eseq++) {
		p = (struct piece) { eseq, eseq ? 0 : FIRST, 0, 0 };
		assert_int_equal(arrive(SRC, 0, &p), 0);
		p = (struct piece) { 7, FIRST, 0, 0 };
		for (u32 i = 0; i < TORUS_HOST_WAITING_MAX / 2; i++)
			assert_int_equal(arrive(stranger++, 0, &p), 0);
		assert_true(shell.host.waiting <= TORUS_HOST_WAITING_MAX);
	}
	p = (struct piece) { 20, LAST, 0, 0 };
	assert_int_equal(arrive(SRC, 0, &p), 21 * 64);
	/* Each packet, and the memory of its message. */
	assert_true(shell.kept >= 2 * (20 * TORUS_HOST_WAITING_MAX / 2 - TORUS_HOST_REFER_MAX));
	host_end();
}

/* The packets that wait are limited in bytes, too: the memory that they hold counts. */
static void waiting_packets_are_limited_in_bytes(void **state)
{
	struct piece p = { 7, FIRST, 0, 0 };
	u32 n = 0;

	(void)state;
	host_start();
	shell.each = 65536;
	while (!drops())
		assert_int_equal(arrive(n++, 0, &p), 0);
	assert_in_range(n, TORUS_HOST_REFER_MAX + 1,
			TORUS_HOST_REFER_MAX + TORUS_HOST_HELD_MAX / 65536);
	assert_true(shell.host.held <= TORUS_HOST_HELD_MAX);
	while (n < 3 * TORUS_HOST_REFER_MAX)
		assert_int_equal(arrive(n++, 0, &p), 0);
	assert_true(shell.host.held <= TORUS_HOST_HELD_MAX);
	torus_host_flush(&shell.host);
	assert_int_equal(shell.host.held, 0);
	host_end();
}

/* A message that is longer than any may be is dropped before it ends. */
static void too_long_message_is_dropped_before_it_ends(void **state)
{
	struct piece p = { 0, FIRST, 0, TN_PAYLOAD_MAX };

	(void)state;
	host_start();
	for (; p.eseq * TN_PAYLOAD_MAX <= TORUS_HOST_MSG_MAX - TN_PAYLOAD_MAX; p.eseq++, p.ends = 0)
		assert_int_equal(arrive(SRC, 0, &p), 0);
	assert_int_equal(drops(), 0);
	assert_int_equal(arrive(SRC, 0, &p), 0);
	assert_int_equal(drops(), 1);
	assert_int_equal(shell.host.waiting, 0);
	host_end();
}

/*
 * A single message that never ends may keep twice the packets that the longest one needs, then it
 * is dropped.
 */
static void endless_message_is_dropped(void **state)
{
	struct piece p = { 0, FIRST, 0, 0 };

	(void)state;
	host_start();
	for (; p.eseq < TORUS_HOST_PACKETS_MAX; p.eseq++, p.ends = 0)
		assert_int_equal(arrive(SRC, 0, &p), 0);
	assert_int_equal(shell.host.waiting, TORUS_HOST_PACKETS_MAX);
	/* The message is dropped, and so is what continues it. */
	assert_int_equal(arrive(SRC, 0, &p), 0);
	assert_int_equal(shell.host.waiting, 0);
	assert_int_equal(drops(), 2);
	host_end();
}

/* Without memory a message is dropped, packet by packet; one of a single packet needs none. */
static void message_without_memory_is_dropped(void **state)
{
	static const struct piece one = { 5, FIRST | LAST, 0, 0 };
	static const struct piece long_one[] = { { 6, FIRST, 0, 0 }, { 7, LAST, 0, 0 } };

	(void)state;
	host_start();
	shell.is_out = true;
	assert_int_equal(arrive(SRC, 0, &one), 64);
	assert_int_equal(arrive(SRC, 0, &long_one[0]), 0);
	assert_int_equal(drops(), 1);
	shell.is_out = false;
	assert_int_equal(arrive(SRC, 0, &long_one[1]), 0);
	assert_int_equal(drops(), 2);
	host_end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(message_with_missing_packet_is_dropped),
		cmocka_unit_test(flows_of_different_sources_and_vcs_are_independent),
		cmocka_unit_test(adaptive_packet_is_message_of_its_own),
		cmocka_unit_test(one_packet_message_ends_unfinished_one),
		cmocka_unit_test(message_longer_than_ip_allows_is_refused),
		cmocka_unit_test(unfinished_messages_get_limited_memory),
		cmocka_unit_test(unfinished_messages_do_not_supplant_another),
		cmocka_unit_test(waiting_packets_are_limited_in_bytes),
		cmocka_unit_test(too_long_message_is_dropped_before_it_ends),
		cmocka_unit_test(endless_message_is_dropped),
		cmocka_unit_test(message_without_memory_is_dropped),
	};

	return cmocka_run_group_tests_name("host_chain", all, NULL, NULL);
}
