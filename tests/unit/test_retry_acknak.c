// SPDX-License-Identifier: GPL-2.0-only
/* PCI Express: every history of a bad wire, and the rules of NAK_SCHEDULED. */
#include "tests/unit/retrymasks.h"

static void each_mask_of_losses_delivers_all_packets(void **state)
{
	(void)state;
	masks_all(&tn_retry_acknak);
}

static struct tn_retry a, b;
static struct tn_pkt pkt[8];

static struct tn_hdr sent(unsigned int i)
{
	struct tn_hdr h;

	pkt[i].hdr = (struct tn_hdr) { .type = TN_DATA };
	tn_retry_push(&a, &pkt[i], 1);
	h = pkt[i].hdr;
	a.ops->stamp(&a, &h);
	tn_retry_sending(&a, 1);
	return h;
}

static struct tn_hdr answer(void)
{
	struct tn_hdr h = { .type = TN_ACKNAK };

	b.ops->stamp(&b, &h);
	return h;
}

/*
 * A receiver sends one NAK for any number of damaged packets; the NAK acknowledges the good ones
 * before, and the next good packet allows another. One ACK covers all packets before it.
 */
static void receiver_sends_one_nak_for_many_damaged_packets(void **state)
{
	struct tn_queue done = { 0 };
	struct tn_hdr h[6], dllp;

	(void)state;
	tn_retry_start(&a, &tn_retry_acknak, 0, 0, 1);
	tn_retry_start(&b, &tn_retry_acknak, 0, 0, 1);
	for (unsigned int i = 0; i < 6; i++)
		h[i] = sent(i);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(tn_retry_check(&b, &h[i]), TN_RX_ACCEPT);
		tn_retry_accept(&b, &h[i]);
	}
	assert_true(tn_retry_error(&b, 0));		/* the third is damaged */
	for (unsigned int i = 3; i < 6; i++) {
		assert_int_equal(tn_retry_check(&b, &h[i]), TN_RX_AHEAD);
		assert_false(tn_retry_error(&b, 0));
	}
	dllp = answer();
	assert_int_equal(dllp.e, 1);
	assert_int_equal(dllp.rseq, 1);			/* the last good one */
	assert_int_equal(answer().e, 0);		/* a NAK is sent once */
	assert_int_equal(tn_retry_receive(&a, &dllp, &done, 2), TN_RECEIVED_REPLAY);
	assert_int_equal(done.count, 2);
	assert_ptr_equal(a.tx.next, &pkt[2]);
	tn_retry_check(&b, &h[2]);
	tn_retry_accept(&b, &h[2]);
	assert_true(tn_retry_error(&b, 0));
	assert_int_equal(answer().rseq, 2);
	/* The missing packet comes before the NAK was sent: there is no error to report. */
	assert_int_equal(tn_retry_check(&b, &h[3]), TN_RX_ACCEPT);
	tn_retry_accept(&b, &h[3]);
	assert_true(tn_retry_error(&b, 0));
	assert_int_equal(tn_retry_check(&b, &h[4]), TN_RX_ACCEPT);
	tn_retry_accept(&b, &h[4]);
	assert_int_equal(answer().e, 0);
}

/* A data header acknowledges nothing of the other direction. */
static void data_header_acknowledges_nothing(void **state)
{
	struct tn_queue done = { 0 };
	struct tn_hdr h = { .type = TN_DATA, .rseq = 77, .e = 1, .gen = 1 };

	(void)state;
	tn_retry_start(&a, &tn_retry_acknak, 0, 0, 1);
	sent(0);
	assert_int_equal(tn_retry_receive(&a, &h, &done, 2), TN_RECEIVED_OK);
	assert_int_equal(done.count, 0);
	a.ops->stamp(&a, &h);
	assert_int_equal(h.rseq | h.e | h.gen, 0);
}

/* A NAK that was overtaken by a newer ACK brings no replay. */
static void late_nak_brings_no_replay(void **state)
{
	struct tn_hdr late = { .type = TN_ACKNAK, .rseq = 0, .e = 1 };
	struct tn_hdr ack = { .type = TN_ACKNAK, .rseq = 2 };
	struct tn_queue done = { 0 };

	(void)state;
	tn_retry_start(&a, &tn_retry_acknak, 0, 0, 1);
	for (unsigned int i = 0; i < 5; i++)
		sent(i);
	assert_int_equal(tn_retry_receive(&a, &ack, &done, 2), TN_RECEIVED_OK);
	assert_int_equal(done.count, 3);
	assert_int_equal(tn_retry_receive(&a, &late, &done, 2), TN_RECEIVED_OK);
	assert_int_equal(a.tx.tries, 0);
	late.rseq = 2;			/* the same number is news in a NAK */
	assert_int_equal(tn_retry_receive(&a, &late, &done, 2), TN_RECEIVED_REPLAY);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(each_mask_of_losses_delivers_all_packets),
		cmocka_unit_test(receiver_sends_one_nak_for_many_damaged_packets),
		cmocka_unit_test(data_header_acknowledges_nothing),
		cmocka_unit_test(late_nak_brings_no_replay),
	};

	return cmocka_run_group_tests_name("retry_acknak", all, NULL, NULL);
}
