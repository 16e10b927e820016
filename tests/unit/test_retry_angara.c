// SPDX-License-Identifier: GPL-2.0-only
/* Angara's retry: every history of a bad wire, and the cost of an error. */
#include "tests/unit/retrymasks.h"

static void each_mask_of_losses_delivers_all_packets(void **state)
{
	(void)state;
	masks_all(&tn_retry_angara);
}

/*
 * A single damaged packet makes the sender go back once, without its timer: the packets of one
 * round trip are sent again.
 */
static void one_damaged_packet_costs_one_round_trip(void **state)
{
	struct masks m = { .ops = &tn_retry_angara, .hit = HIT_DAMAGED, .bits = 1, .packets = 16,
			   .window = 16, .delay = 3, .every = 1, .timeout = 100 };
	struct masks_cost cost = masks_run(&m);

	(void)state;
	assert_int_equal(cost.timeouts, 0);
	/* The clean history sends 16 packets; the other one sends the 7 of a round trip again. */
	assert_in_range(cost.sent, 33, 32 + 2 * 3 + 1);
}

/*
 * A link has sent all packets and all are acknowledged: messages that the other end may still send
 * are handled.
 */
static void idle_sender_handles_late_messages(void **state)
{
	struct tn_hdr h = { .type = TN_IDLE, .e = 1 };
	struct tn_queue done = { 0 };
	struct tn_pkt pkt = { 0 };
	struct tn_retry r;

	(void)state;
	tn_retry_start(&r, &tn_retry_angara, 10, 20, 1);
	/*
	 * The peer reports an error, and there is nothing to send again: the answer is the number
	 * of the next packet.
	 */
	h.rseq = 10;
	h.tseq = 20;
	assert_int_equal(tn_retry_receive(&r, &h, &done, 1), TN_RECEIVED_ASK);
	/* The peer's next packet is not the expected one: a packet is missing. */
	assert_true(tn_retry_error(&r, 0));
	assert_false(tn_retry_error(&r, 0));
	assert_int_equal(r.rx.e_gen, 0);
	tn_retry_remind(&r);	/* if it went back meanwhile, it knows no earlier report */
	assert_int_equal(r.rx.e_gen, 1);
	h.e = 0;
	h.tseq = 21;
	assert_int_equal(tn_retry_receive(&r, &h, &done, 1), TN_RECEIVED_OK);
	assert_true(r.rx.ignoring);
	/* Only an IDLE has the number of the next packet; other packets have their own. */
	h.type = TN_DATA;
	h.tseq = 20;
	assert_int_equal(tn_retry_receive(&r, &h, &done, 1), TN_RECEIVED_OK);
	assert_true(r.rx.ignoring);
	h.type = TN_IDLE;
	assert_int_equal(tn_retry_receive(&r, &h, &done, 1), TN_RECEIVED_OK);
	assert_false(r.rx.ignoring);
	/* An error report with an older acknowledgement than others is ignored. */
	tn_retry_push(&r, &pkt, 1);
	tn_retry_sending(&r, 1);
	h.e = 1;
	h.rseq = 9;
	assert_int_equal(tn_retry_receive(&r, &h, &done, 1), TN_RECEIVED_OK);
	assert_int_equal(r.tx.tries, 0);
	h.rseq = 10;
	assert_int_equal(tn_retry_receive(&r, &h, &done, 1), TN_RECEIVED_REPLAY);
	/* the same report comes again */
	assert_int_equal(tn_retry_receive(&r, &h, &done, 1), TN_RECEIVED_OK);
	assert_int_equal(r.tx.tries, 1);
}

/* The RETRY buffer holds at most half of the packets that 12-bit numbers can distinguish. */
static void retry_buffer_holds_half_of_the_numbers(void **state)
{
	(void)state;
	assert_true(tn_retry_angara.limit < (TN_SEQ_MASK + 1) / 2);
	assert_true(tn_retry_acknak.limit < (TN_SEQ_MASK + 1) / 2);
	assert_true(tn_retry_hippi.limit <= 255 / 2);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(each_mask_of_losses_delivers_all_packets),
		cmocka_unit_test(one_damaged_packet_costs_one_round_trip),
		cmocka_unit_test(idle_sender_handles_late_messages),
		cmocka_unit_test(retry_buffer_holds_half_of_the_numbers),
	};

	return cmocka_run_group_tests_name("retry_angara", all, NULL, NULL);
}
