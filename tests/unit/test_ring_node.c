// SPDX-License-Identifier: GPL-2.0-only
/* Critical bubbles in one node, call by call: test_ring.c has whole rings. */
#include "tests/unit/one_lone.h"
#include "kernel/core/ring.h"

#define PATIENCE (61 << 10)	/* ns; 61 ticks */

static struct tn_link *out, *in;

static void mbs(struct lone *t)
{
	t->params.bubble = TORUS_BUBBLE_MBS;
	t->params.slots = 4;
	t->params.ack_delay = 16 * (PATIENCE - 1);
	t->cfg.nports = 4;
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		t->peer[p].slots = 4;
}

/*
 * Begins with node @node of a ring of 4: packets come by port 1 and go by port 0. Ports 2, 3 are in
 * no ring.
 */
static void begin(u32 node)
{
	lone_start(&l, "4", node, mbs);
	for (unsigned int p = 0; p < 4; p++)
		lone_up(&l, p);
	out = lone_link(&l, 0);
	in = lone_link(&l, 1);
	assert_true(out->credit.critical[0] == 1 && out->credit.critical[1] == 1);
}

/* Checks that @free buffers behind @link are free, @critical of them critical. */
static void has(struct tn_link *link, unsigned int vc, unsigned int free, u8 critical)
{
	link->credit.ct[vc] = (u16)(link->credit.n_inp[vc] - free);
	link->credit.critical[vc] = critical;
}

static u64 asked(void)
{
	return lone_pc(&l, 0, TORUS_PC_BUBBLE_REQUESTS);
}

/* --- packets that move it -------------------------------------------------------- */

/* A packet takes the bubble only if nothing else is free. */
static void packet_takes_bubble_only_if_nothing_else_is_free(void **state)
{
	(void)state;
	begin(1);
	has(out, 0, 2, 1);
	assert_false(tn_ring_take(out, 0));
	assert_int_equal(out->credit.critical[0], 1);
	has(out, 0, 1, 1);
	assert_true(tn_ring_take(out, 0));
	assert_int_equal(out->credit.critical[0], 0);
	assert_int_equal(out->credit.critical[1], 1);
	has(out, 0, 1, 0);
	assert_false(tn_ring_take(out, 0));
	end();
}

/* A buffer that is freed takes over the bubble that is in the way, in the same ring only. */
static void freed_buffer_takes_over_bubble(void **state)
{
	(void)state;
	begin(1);
	for (unsigned int p = 0; p < 4; p++)
		has(lone_link(&l, p), 0, 1, 1);
	assert_true(tn_ring_leave(l.nic, 1, 0, true));
	assert_int_equal(out->credit.critical[0], 1);
	assert_true(tn_ring_leave(l.nic, 1, 0, false));
	assert_int_equal(out->credit.critical[0], 0);
	assert_false(tn_ring_leave(l.nic, 1, 0, false));
	has(out, 0, 2, 1);
	assert_false(tn_ring_leave(l.nic, 1, 0, false));
	assert_int_equal(out->credit.critical[0], 1);
	/* In no ring: ports beyond the shape, and any port before the NIC has a place. */
	for (unsigned int p = 2; p < 4; p++) {
		assert_false(tn_ring_leave(l.nic, p, 0, false));
		assert_true(tn_ring_leave(l.nic, p, 0, true));
	}
	l.nic->placed = false;
	assert_false(tn_ring_leave(l.nic, 0, 0, false));
	l.nic->placed = true;
	assert_int_equal(in->credit.critical[0], 1);
	assert_true(tn_ring_leave(l.nic, 0, 0, false));
	assert_int_equal(in->credit.critical[0], 0);
	end();
}

/* --- asking upstream ------------------------------------------------------------- */

/* A packet that waits starts the timer once; one of VCA waits for its escape channel. */
static void waiting_packet_starts_timer_once(void **state)
{
	u64 at = l.now;

	(void)state;
	begin(1);
	has(out, 0, 2, 1);
	tn_ring_wait(l.nic, out, 0, 5 << 10);
	assert_true(!out->stuck[0] && l.nic->ring_at == ~0ull);	/* a buffer is free: not stuck */
	has(out, 0, 1, 1);
	tn_ring_wait(l.nic, out, TORUS_VC_A, 5 << 10);
	assert_int_equal(out->stuck[0], 5);
	assert_int_equal(out->stuck[TORUS_VC_A], 0);
	at = (5 << 10) + PATIENCE;
	assert_true(l.nic->ring_at == at && tn_nic_expiry(l.nic) <= at);
	tn_ring_wait(l.nic, out, 0, 9 << 10);
	assert_int_equal(out->stuck[0], 5);
	has(out, 1, 1, 1);
	tn_ring_wait(l.nic, out, 1, 1023);	/* never 0, which is "stopped" */
	assert_int_equal(out->stuck[1], 1);
	assert_true(l.nic->ring_at == 1023 + PATIENCE);
	tn_ring_wait(l.nic, in, 0, 5 << 10);
	assert_true(l.nic->ring_at == 1023 + PATIENCE);	/* the earliest stays */
	end();
}

/* A waiting output asks upstream for a bubble when its time is over, and each such time again. */
static void waiting_output_asks_upstream_for_bubble_again(void **state)
{
	u64 from;

	(void)state;
	begin(1);
	from = l.now = (l.now >> 10) << 10;
	has(out, 1, 1, 1);
	tn_ring_wait(l.nic, out, 1, l.now);
	for (unsigned int n = 1; n < 4; n++) {
		u64 last = l.now;

		while (asked() < n) {
			assert_true(l.now < last + PATIENCE);
			assert_true(l.nic->ring_at > l.now && l.nic->ring_at <= l.now + PATIENCE);
			l.now = l.nic->ring_at;
			tn_ring_poll(l.nic, l.now);
		}
		assert_true(l.now == last + PATIENCE);
		assert_int_equal(in->asks, 2);
		in->asks = 0;
		/* Before its time is over the output does not ask. */
		tn_ring_poll(l.nic, l.now + PATIENCE / 2);
		assert_int_equal(asked(), n);
		l.nic->ring_at = l.now + PATIENCE;
	}
	assert_true(l.now == from + 3 * PATIENCE);
	assert_int_equal(out->asks + lone_link(&l, 2)->asks, 0);
	/* Nothing is in the way any more. */
	has(out, 1, 2, 1);
	tn_ring_poll(l.nic, l.now + PATIENCE);
	assert_true(!out->stuck[1] && l.nic->ring_at == ~0ull);
	assert_int_equal(asked(), 3);
	end();
}

/*
 * Each output for which a packet waits sends a request of its own; an output that is in no ring
 * sends none.
 */
static void each_waiting_output_asks_for_itself(void **state)
{
	(void)state;
	begin(1);
	for (unsigned int p = 0; p < 3; p++)
		has(lone_link(&l, p), 0, 1, 1);
	tn_ring_wait(l.nic, in, 0, l.now);
	tn_ring_wait(l.nic, lone_link(&l, 2), 0, l.now);
	tn_ring_poll(l.nic, l.now += PATIENCE);
	assert_int_equal(out->asks, 1);
	assert_int_equal(lone_pc(&l, 1, TORUS_PC_BUBBLE_REQUESTS), 1);
	assert_int_equal(asked() + lone_pc(&l, 2, TORUS_PC_BUBBLE_REQUESTS), 0);
	assert_int_equal(out->stuck[0], 0);
	end();
}

/*
 * Changes the link upstream when the time is over; @dropped: the bubble of the output is dropped.
 */
static void ask_at(u8 state, bool admin, bool carrier, u32 nonce, bool dropped)
{
	bool up = state == TORUS_LINK_UP;

	begin(1);
	has(out, 0, 1, 1);
	tn_ring_wait(l.nic, out, 0, l.now);
	in->state = state;
	in->admin = admin;
	in->carrier = carrier;
	in->peer_nonce = nonce;
	tn_ring_poll(l.nic, l.now += PATIENCE);
	assert_int_equal(asked(), up);
	assert_int_equal(in->asks, up);
	assert_int_equal(out->credit.critical[0], !dropped);
	assert_int_equal(!out->stuck[0], dropped);
	assert_int_equal(l.nic->ring_at == ~0ull, dropped);
	end();
}

/* At the end of a line the bubble is dropped, if no session can close it. */
static void bubble_is_dropped_at_end_of_line(void **state)
{
	(void)state;
	ask_at(TORUS_LINK_UP, true, true, 1, false);
	ask_at(TORUS_LINK_UP, true, true, 0, false);
	ask_at(TORUS_LINK_RETRAINING, true, true, 0, false);
	ask_at(TORUS_LINK_INIT, true, true, 1, false);
	ask_at(TORUS_LINK_INIT, true, true, 0, true);
	ask_at(TORUS_LINK_FAULTY, true, false, 1, true);
	ask_at(TORUS_LINK_DOWN, false, true, 1, true);
}

/* --- false packets --------------------------------------------------------------- */

/* The NIC answers a request on @vc; its false packet carries a bubble if @handed. */
static void responds(unsigned int vc, bool sent, bool handed)
{
	u64 before = lone_pc(&l, 0, TORUS_PC_BUBBLE_RESPONSES);
	u32 n = out->retry.tx.sent.count;
	const struct tn_pkt *pkt;

	tn_ring_respond(l.nic, out, vc, l.now);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_BUBBLE_RESPONSES), before + sent);
	assert_int_equal(out->retry.tx.sent.count, n + sent);
	if (!sent)
		return;
	pkt = out->retry.tx.sent.tail;
	assert_true(pkt->hdr.type == TN_CREDIT && pkt->hdr.nic && pkt->hdr.vc == vc);
	assert_int_equal(pkt->hdr.dst, handed);
}

static void node_gives_bubble_if_it_has_room_and_no_need(void **state)
{
	(void)state;
	begin(1);
	has(out, 1, 2, 1);
	responds(1, true, false);
	assert_int_equal(out->credit.critical[1], 1);
	assert_int_equal(tn_credit_free(&out->credit, 1), 1);
	has(out, 0, 2, 1);
	out->waiting[0] = 1;		/* a packet waits, which will move the bubble */
	responds(0, false, false);
	out->waiting[0] = 0;
	l.no_memory = true;
	responds(0, false, false);
	has(out, 0, 1, 1);
	responds(0, false, false);
	assert_int_equal(out->credit.critical[0], 1);
	l.no_memory = false;
	responds(0, true, true);	/* all that is free is critical: it goes along */
	assert_int_equal(out->credit.critical[0], 0);
	has(out, 0, 0, 0);
	responds(0, false, false);
	tn_ring_respond(l.nic, lone_link(&l, 2), 0, l.now);
	/* this port is in no ring */
	assert_int_equal(lone_link(&l, 2)->retry.tx.sent.count, 0);
	end();
	begin(0);			/* the lowest node keeps its own, and asks for itself */
	has(out, 0, 1, 1);
	responds(0, false, false);
	assert_int_equal(out->credit.critical[0], 1);
	assert_int_not_equal(out->stuck[0], 0);
	end();
}

/* Receives a false packet; @owed: its buffer is given back as critical. */
static void came(bool handed, unsigned int free, u8 critical, bool owed, u8 left)
{
	begin(1);
	has(out, 0, free, critical);
	in->credit.used[0] = 1;
	tn_ring_false_came(l.nic, in, 0, handed, l.now);
	assert_int_equal(in->credit.used[0], 0);
	assert_int_equal(in->credit.owed[0], 1);
	assert_int_equal(in->credit.owed_critical[0], owed);
	assert_int_equal(out->credit.critical[0], left);
	end();
}

/* A received bubble meets that of this node, or is returned; a packet without one may take it. */
static void received_bubble_is_taken_or_returned(void **state)
{
	(void)state;
	came(true, 2, 1, false, 1);
	came(true, 1, 1, false, 1);
	came(true, 2, 0, true, 0);
	came(false, 1, 1, true, 0);
	came(false, 2, 1, false, 1);
	came(false, 2, 0, false, 0);
	/* A port in no ring gives back what came. */
	begin(1);
	lone_link(&l, 2)->credit.used[0] = 1;
	tn_ring_false_came(l.nic, lone_link(&l, 2), 0, true, l.now);
	assert_int_equal(lone_link(&l, 2)->credit.owed_critical[0], 1);
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(packet_takes_bubble_only_if_nothing_else_is_free),
		cmocka_unit_test(freed_buffer_takes_over_bubble),
		cmocka_unit_test(waiting_packet_starts_timer_once),
		cmocka_unit_test(waiting_output_asks_upstream_for_bubble_again),
		cmocka_unit_test(each_waiting_output_asks_for_itself),
		cmocka_unit_test(bubble_is_dropped_at_end_of_line),
		cmocka_unit_test(node_gives_bubble_if_it_has_room_and_no_need),
		cmocka_unit_test(received_bubble_is_taken_or_returned),
	};

	return cmocka_run_group_tests_name("ring_node", all, NULL, NULL);
}
