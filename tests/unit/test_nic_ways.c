// SPDX-License-Identifier: GPL-2.0-only
/* The port by which a packet leaves, and when; packets that wait. */
#include "tests/unit/ways.h"

/* --- room ---------------------------------------------------------------------------------- */

/*
 * A packet that enters the ring may take the first two of three buffers, and one that continues in
 * it all; a packet that waits is counted once, and its waiting time is shown.
 */
static void entering_packet_leaves_bubble_and_waits(void **state)
{
	const struct tn_hdr on = { .type = TN_DATA, .src = 2, .dst = 1, .dir = 1, .first = 15,
				   .last = 15 };
	struct tn_link *link;

	(void)state;
	begin(few_slots);
	link = lone_link(&l, 0);
	sends(2, 1, 0);
	assert_int_equal(went(0, 0), 2);
	assert_int_equal(waited(0), 0);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_CREDIT_STALLS), 0);
	l.now += 10;
	sends(2, 1, 0);
	work();
	assert_int_equal(went(0, 0), 2);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_CREDIT_STALLS), 1);
	l.now += 5;
	assert_int_equal(waited(0), 5);
	assert_int_equal(lone_link(&l, 0)->waiting[1], 0);
	/* the packet comes from +y, so it enters, too */
	lone_rx_pkt(&l, 1, on, (struct tn_tail) { 0 });
	work();
	assert_int_equal(went(0, 0), 2);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_CREDIT_STALLS), 2);
	lone_rx_pkt(&l, 2, on, (struct tn_tail) { 0 });	/* the packet comes from -x */
	work();
	assert_int_equal(went(0, 0), 3);
	assert_int_equal(waited(0), 0);	/* one packet entered the ring */
	l.now += 4;
	assert_int_equal(waited(0), 4);
	assert_int_equal(nc(TORUS_NC_FORWARDED), 1);
	lone_rx_pkt(&l, 2, on, (struct tn_tail) { 0 });
	work();
	assert_int_equal(went(0, 0), 3);
	assert_int_equal(lone_link(&l, 2)->credit.used[0], 1);
	/*
	 * There is room for one more packet: one that continues in the ring is sent first, others
	 * wait.
	 */
	frees(0, 0, 1);
	assert_int_equal(link->credit.ct[0], 3);
	assert_int_equal(lone_link(&l, 2)->credit.used[0], 0);
	frees(0, 0, 3);
	assert_int_equal(link->credit.ct[0], 2);
	frees(0, 0, 2);
	assert_int_equal(link->credit.ct[0], 1);
	/* each packet is counted once */
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_CREDIT_STALLS), 3);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_STALLS_VCD0), 3);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_STALLS_VCD1), 0);
	assert_int_equal(waited(0), 0);
	assert_int_equal(nc(TORUS_NC_FORWARDED), 3);
	end();
}

/* The VC whose packets wait longest reports for how long. */
static void longest_wait_of_all_vcs_is_reported(void **state)
{
	(void)state;
	begin(few_slots);
	sends(3, 1, 1);
	l.now += 10;
	sends(3, 1, 0);
	l.now += 7;
	assert_int_equal(waited(0), 17);
	frees(0, 1, 2);
	assert_int_equal(waited(0), 7);
	assert_int_equal(waited(1), 0);
	tn_nic_admin(l.nic, 0, false, l.now);
	assert_int_equal(waited(0), 0);
	end();
}

static void one_slot(struct lone *t)
{
	t->params.bubble = TORUS_BUBBLE_MBS;
	t->params.slots = 1;
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		t->peer[p].slots = 1;
}

/*
 * MBS with one buffer an input: a bubble is in the way of a packet that enters the ring. The
 * neighbour upstream has died in the handshake, so that the ring is a line: the bubble is dropped,
 * and the packet goes on.
 */
static void packet_behind_bubble_of_dead_line_goes_after_silence(void **state)
{
	struct tn_init i;
	u64 died;

	(void)state;
	begin(one_slot);
	tn_nic_carrier(l.nic, 2, false, l.now);
	tn_nic_carrier(l.nic, 2, true, l.now);
	lone_drain(&l, 2);
	i = lone_init_of(&l, 2);
	i.nonce_received = 0;
	lone_init(&l, 2, &i);
	lone_link(&l, 2)->give_up_at = ~0ull;	/* as if the link had not failed before */
	died = l.now;
	sends(1, 1, 0);
	assert_int_equal(went(0, 0), 0);
	while (!went(0, 0) && l.now < died + 2 * l.params.silence) {
		l.now += l.params.ack_delay;
		for (unsigned int p = 0; p < 4; p++) {
			lone_drain(&l, p);
			if (p != 2)
				lone_rx_pkt(&l, p, (struct tn_hdr) { .type = TN_IDLE },
					    (struct tn_tail) { 0 });
		}
		tn_nic_poll(l.nic, l.now);
		work();
	}
	assert_int_equal(went(0, 0), 1);
	assert_true(l.now >= died + l.params.silence);
	end();
}

/* --- adaptive ways ----------------------------------------------------------------------------- */

/*
 * An adaptive packet takes the allowed port with most credits; of equal ones the first; if there is
 * none the escape.
 */
static void adaptive_packet_takes_port_with_most_credits(void **state)
{
	(void)state;
	begin(few_slots);
	sends(1, 4, TORUS_VC_A);
	assert_int_equal(went(0, 2) * 10 + went(1, 2), 10);
	sends(1, 4, TORUS_VC_A);
	assert_int_equal(went(0, 2) * 10 + went(1, 2), 11);
	sends(4, 4, TORUS_VC_A);	/* the packet enters no ring: three packets each */
	assert_int_equal(went(0, 2) * 10 + went(1, 2), 33);
	sends(2, 4, TORUS_VC_A);
	assert_int_equal(went(0, 0) * 10 + went(1, 0), 20);
	assert_int_equal(nc(TORUS_NC_ESCAPED), 2);
	sends(1, 4, TORUS_VC_A);
	assert_int_equal(l.nic->input[TN_INPUT_INJECT + TORUS_VC_A].count, 1);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_CREDIT_STALLS), 1);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_STALLS_VCA), 1);
	l.now += 5;
	assert_int_equal(waited(0) + waited(1), 0);	/* only counted for VCD packets */
	frees(1, TORUS_VC_A, 1);
	assert_int_equal(went(1, 2), 1);
	assert_int_equal(fc(TORUS_FC_INJECTED), 0);
	end();
}

/*
 * A packet that may take both directions of a dimension does not return by the port by which it
 * arrived.
 */
static void adaptive_packet_does_not_go_back(void **state)
{
	const struct tn_hdr h = { .type = TN_DATA, .vc = TORUS_VC_A, .src = 2, .dst = 1, .dir = 5,
				  .first = 15, .last = 15 };
	const struct tn_tail adaptive = { .flags = TN_TAIL_ADAPTIVE };

	(void)state;
	begin(few_slots);
	sends(1, 4, TORUS_VC_A);
	assert_int_equal(went(0, 2), 1);	/* -x, port 2, has more credits now */
	lone_rx_pkt(&l, 2, h, adaptive);
	work();
	assert_int_equal(went(0, 2) * 10 + went(2, 2), 20);
	assert_int_equal(lone_link(&l, 0)->retry.tx.sent.tail->hdr.dir, 1);
	lone_rx_pkt(&l, 1, h, adaptive);		/* the packet came by neither port */
	work();
	assert_int_equal(went(0, 2) * 10 + went(2, 2), 21);
	assert_int_equal(lone_link(&l, 2)->retry.tx.sent.tail->hdr.dir, 5);
	end();
}

/*
 * Among ports with equal credits, the one whose peer receives at the highest rate is taken; a peer
 * that reports none counts as whole.
 */
static void adaptive_packet_prefers_faster_peer(void **state)
{
	static const struct { u32 x, y; unsigned int port; } way[] = {
		{ 75000, 75000, 0 }, { 75000, 50000, 0 }, { 50000, 75000, 1 }, { 0, 75000, 0 },
		{ 75000, 0, 1 }, { 0, 0, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(way); i++) {
		begin(few_slots);
		lone_link(&l, 0)->peer_mbps = way[i].x;
		lone_link(&l, 1)->peer_mbps = way[i].y;
		sends(1, 4, TORUS_VC_A);
		assert_int_equal(went(way[i].port, 2), 1);
		sends(1, 4, TORUS_VC_A);	/* more credits count more than the rate */
		assert_int_equal(went(0, 2) * 10 + went(1, 2), 11);
		end();
	}
}

/*
 * An adaptive packet takes no port that leads away, is dead or closed; but the escape if that is
 * not dead.
 */
static void adaptive_packet_takes_no_dead_port(void **state)
{
	struct tn_hdr h = { .type = TN_DATA, .vc = TORUS_VC_A, .src = 2, .dst = 1, .dir = 3,
			    .first = 15, .last = 15 };
	const struct tn_tail adaptive = { .flags = TN_TAIL_ADAPTIVE };

	(void)state;
	begin(few_slots);
	lone_rx_pkt(&l, 2, h, adaptive);		/* 1 is not reached by +y */
	work();
	assert_int_equal(went(0, 2) * 10 + went(1, 2), 10);
	tn_nic_admin(l.nic, 0, false, l.now);
	work();
	assert_int_equal(nc(TORUS_NC_REROUTED), 1);	/* the packet finds no other path */
	assert_int_equal(nc(TORUS_NC_PARKED), 1);
	sends(3, 4, TORUS_VC_A);
	assert_int_equal(went(1, 2), 3);
	/* One port is alive, but without room, and the escape is dead: the packet does not wait. */
	sends(1, 4, TORUS_VC_A);
	assert_int_equal(l.nic->input[TN_INPUT_INJECT + TORUS_VC_A].count, 0);
	assert_int_equal(nc(TORUS_NC_PARKED), 2);
	tn_nic_admin(l.nic, 1, false, l.now);
	work();
	assert_int_equal(nc(TORUS_NC_REROUTED), 4);
	assert_int_equal(nc(TORUS_NC_PARKED), 5);
	assert_int_equal(fc(TORUS_FC_PARKED), 0);
	end();
}

/* --- turns -------------------------------------------------------------------------------------- */

/* Inputs take turns of 16 packets, so that none has to wait for all packets of another. */
static void inputs_take_turns_of_16_packets(void **state)
{
	const struct tn_pkt *pkt;
	unsigned int run = 0, vc = 9, runs = 0;

	(void)state;
	begin(NULL);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(lone_send(&l, 1, 0, 1), 0);
		assert_int_equal(lone_send(&l, 1, 1, 1), 0);
	}
	work();
	for (pkt = lone_link(&l, 0)->retry.tx.sent.head; pkt; pkt = pkt->next) {
		if (pkt->hdr.vc != vc) {
			runs++;
			run = 0;
		}
		vc = pkt->hdr.vc;
		assert_true(++run <= 16);
	}
	assert_int_equal(runs, 6);
	assert_true(lone_idle(&l));
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(entering_packet_leaves_bubble_and_waits),
		cmocka_unit_test(longest_wait_of_all_vcs_is_reported),
		cmocka_unit_test(packet_behind_bubble_of_dead_line_goes_after_silence),
		cmocka_unit_test(adaptive_packet_takes_port_with_most_credits),
		cmocka_unit_test(adaptive_packet_does_not_go_back),
		cmocka_unit_test(adaptive_packet_prefers_faster_peer),
		cmocka_unit_test(adaptive_packet_takes_no_dead_port),
		cmocka_unit_test(inputs_take_turns_of_16_packets),
	};

	return cmocka_run_group_tests_name("nic_ways", all, NULL, NULL);
}
