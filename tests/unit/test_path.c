// SPDX-License-Identifier: GPL-2.0-only
/* Headers and injection queues of packets that start at a node, and packets that are routed again. */
#include "tests/unit/ways.h"

/* --- queues -------------------------------------------------------------------------------- */

/* Packets to @dst by @row enter the queues of @port, by channel, however often they are asked for. */
static void enters(u32 dst, u64 row, unsigned int port)
{
	for (unsigned int vc = TORUS_VC_D0; vc <= TORUS_VC_D1; vc++) {
		for (unsigned int i = 0; i < 2; i++)
			assert_int_equal(tn_inject_input(l.nic, dst, row, vc),
					 TN_INPUT_INJECT + port * TORUS_VCS + vc);
	}
}

/* Each packet follows its own header, whatever the header before it was. */
static void each_packet_follows_its_own_header(void **state)
{
	static const struct { u32 dst; u64 row; unsigned int port; u8 last; } way[] = {
		{ 4, 15ull << 12 | 15ull << 16 | 3, 0, 15 },
		{ 4, 1ull << 12 | 15ull << 16 | 3, 1, 15 },	/* a first step by +y */
		{ 4, 15ull << 12 | 15ull << 16 | 3, 0, 15 },
		{ 4, 15ull << 12 | 0ull << 16 | 3, 1, 0 },	/* a last step by +x */
		{ 3, 15ull << 12 | 1ull << 16 | 3, 1, 15 },	/* the packet has no other step */
		{ 2, 15ull << 12 | 15ull << 16 | 1, 0, 15 },
		{ 2, 15ull << 12 | 15ull << 16 | 4, 2, 15 },	/* the other way round */
		{ 1, 15ull << 12 | 15ull << 16 | 4, 2, 15 },
		{ 6, 15ull << 12 | 15ull << 16 | 12, 3, 15 },
	};

	(void)state;
	begin(NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(way); i++) {
		lone_row(&l, way[i].dst, TORUS_ROW_VALID | way[i].row);
		enters(way[i].dst, TORUS_ROW_VALID | way[i].row, way[i].port);
		sends(1, way[i].dst, 0);
		assert_int_equal(tn_nic_tx_ports(l.nic), 1u << way[i].port);
		assert_int_equal(lone_drain(&l, way[i].port), 1);
		assert_int_equal(l.sent[0].hdr.first, TN_NO_STEP);	/* that step was taken */
		assert_int_equal(l.sent[0].hdr.last, way[i].last);
	}
	end();
}

/* --- headers ------------------------------------------------------------------------------------ */

/* Return: the channel in the header of an adaptive packet to 4 that starts with @row. */
static u8 stamped(u64 row)
{
	struct tn_pkt *pkt = make_packet(1);
	u8 vc;

	pkt->tail.flags |= TN_TAIL_ADAPTIVE;
	pkt->hdr.dst = 4;
	tn_stamp(l.nic, pkt, row);
	assert_int_equal(pkt->hdr.dst, 4);
	assert_int_equal(pkt->hdr.colour, l.nic->colour);
	assert_int_equal(pkt->hdr.dir, row & TORUS_ROW_ADAPTIVE ? 2 : 1);
	vc = pkt->hdr.vc;
	memory_put(&l.mem, pkt);
	return vc;
}

/* An adaptive packet starts on VCA with the row's allowed directions, or else on the escape. */
static void adaptive_packet_starts_on_escape_if_row_is_not_adaptive(void **state)
{
	(void)state;
	begin(NULL);
	assert_int_equal(stamped(lone_dirs(1)), TORUS_VC_D0);
	assert_int_equal(stamped(lone_dirs(1) | TORUS_ROW_ADAPTIVE |
				 2ull << TORUS_ROW_ADAPT_SHIFT), TORUS_VC_A);
	end();
}

/* A path that leads nowhere has the queue of port 0, from which its packets are sent back. */
static void path_that_leads_nowhere_has_queue_of_port_0(void **state)
{
	(void)state;
	begin(NULL);
	enters(4, lone_dirs(0), 0);
	enters(4, lone_dirs(2), 1);
	enters(4, lone_dirs(0), 0);
	end();
}

/* --- other paths -------------------------------------------------------------------------------- */

/*
 * Sends @n adaptive packets by port 0, of which the first @sent go onto the wire; then the link
 * fails. Return: the number of the first one.
 */
static u16 fail_adaptive(u32 n, u32 sent)
{
	u16 seq;

	begin(NULL);
	tn_nic_admin(l.nic, 1, false, l.now);
	lone_link(&l, 0)->retry.tx.window = 4 * sent;
	sends(n, 4, TORUS_VC_A);
	assert_int_equal(went(0, TORUS_VC_A), n);
	seq = l.peer[0].rseq;
	if (sent)
		assert_int_equal(lone_drain(&l, 0), sent);
	tn_nic_admin(l.nic, 1, true, l.now);
	lone_up(&l, 1);
	lone_link(&l, 1)->closed = false;
	tn_nic_carrier(l.nic, 0, false, l.now);
	work();
	return seq;
}

/*
 * Adaptive packets of a failed link: those never sent go another way at once, the others when it is
 * known that the peer does not have them; none of those that it has.
 */
static void adaptive_packets_of_failed_link_go_another_way(void **state)
{
	u32 session;
	u16 seq;

	(void)state;
	seq = fail_adaptive(5, 3);
	session = lone_link(&l, 0)->session;
	assert_int_equal(went(1, TORUS_VC_A), 2);
	assert_int_equal(nc(TORUS_NC_REROUTED), 2);
	assert_true(parked().parked == 3 && parked().unresolved == 3);
	seq = (u16)((seq + 1) & TN_SEQ_MASK);
	l.events = 0;
	assert_int_equal(tn_nic_park_resolve(l.nic, 0, session, seq, false), 0);
	assert_int_equal(lone_events(&l, TN_EV_PARK), 1);	/* the segment is empty */
	assert_int_equal(tn_nic_park_resolve(l.nic, 0, session, seq, false), 0);
	assert_int_equal(lone_events(&l, TN_EV_PARK), 0);
	work();
	assert_int_equal(went(1, TORUS_VC_A), 4);
	assert_int_equal(nc(TORUS_NC_REROUTED), 4);
	assert_true(parked().parked == 0 && parked().bytes == 0);
	assert_int_equal(nc(TORUS_NC_PARKED) + nc(TORUS_NC_UNSURE), 0);
	assert_int_equal(lone_drain(&l, 1), 4);
	assert_int_equal(l.mem.live, 4);
	end();
}

/*
 * The peer is gone and may have passed adaptive packets on: they are sent again, and counted for
 * that.
 */
static void unsure_adaptive_packets_are_sent_again_and_counted(void **state)
{
	(void)state;
	fail_adaptive(3, 2);
	assert_int_equal(nc(TORUS_NC_UNSURE), 0);
	assert_int_equal(tn_nic_park_resolve(l.nic, 0, lone_link(&l, 0)->session, 0, true), 0);
	work();
	assert_int_equal(nc(TORUS_NC_UNSURE), 2);
	assert_int_equal(nc(TORUS_NC_REROUTED), 3);
	assert_int_equal(went(1, TORUS_VC_A), 3);
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(each_packet_follows_its_own_header),
		cmocka_unit_test(adaptive_packet_starts_on_escape_if_row_is_not_adaptive),
		cmocka_unit_test(path_that_leads_nowhere_has_queue_of_port_0),
		cmocka_unit_test(adaptive_packets_of_failed_link_go_another_way),
		cmocka_unit_test(unsure_adaptive_packets_are_sent_again_and_counted),
	};

	return cmocka_run_group_tests_name("path", all, NULL, NULL);
}
