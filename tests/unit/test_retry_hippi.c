// SPDX-License-Identifier: GPL-2.0-only
/* BlueGene/L: every history of a bad wire, and the meaning of a repeated number. */
#include "tests/unit/retrymasks.h"

static void each_mask_of_losses_delivers_all_packets(void **state)
{
	(void)state;
	masks_all(&tn_retry_hippi);
}

static struct tn_retry a, b;
static struct tn_pkt pkt[300];

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

static u16 answer(void)
{
	struct tn_hdr h = { .type = TN_IDLE };

	b.ops->stamp(&b, &h);
	assert_int_equal(h.tseq, 255);		/* an empty packet needs no answer */
	return h.rseq;
}

static enum tn_received receive_answer(u16 number, struct tn_queue *done)
{
	struct tn_hdr h = { .type = TN_IDLE, .rseq = number };

	return tn_retry_receive(&a, &h, done, 2);
}

static void begin(void)
{
	tn_retry_start(&a, &tn_retry_hippi, 4000, 0, 1);
	tn_retry_start(&b, &tn_retry_hippi, 0, 4000, 1);
}

static void accept(struct tn_hdr h)
{
	assert_int_equal(tn_retry_check(&b, &h), TN_RX_ACCEPT);
	tn_retry_accept(&b, &h);
}

static struct tn_pkt back[2];

static void receive_from_b(unsigned int i)
{
	struct tn_hdr h;

	back[i].hdr = (struct tn_hdr) { .type = TN_DATA };
	tn_retry_push(&b, &back[i], 1);
	h = back[i].hdr;
	b.ops->stamp(&b, &h);
	tn_retry_sending(&b, 1);
	assert_int_equal(tn_retry_check(&a, &h), TN_RX_ACCEPT);
	tn_retry_accept(&a, &h);
}

/* A retransmitted packet carries the answer that is due then, and none if none is. */
static void retransmitted_packet_carries_answer_due_then(void **state)
{
	struct tn_hdr first, again;

	(void)state;
	begin();
	receive_from_b(0);
	first = sent(0);
	receive_from_b(1);
	again = pkt[0].hdr;
	a.ops->stamp(&a, &again);
	assert_int_equal(again.tseq, first.tseq);
	assert_int_equal(again.rseq, first.rseq + 1);
	again = pkt[0].hdr;
	a.ops->stamp(&a, &again);
	assert_int_equal(again.rseq, 255);
}

/* Numbers on the wire wrap from 254 to 0; 255 is not used. */
static void numbers_wrap_from_254_to_0(void **state)
{
	struct tn_queue done = { 0 };

	(void)state;
	begin();
	for (unsigned int i = 0; i < 300; i++) {
		struct tn_hdr h = sent(i);

		assert_int_equal(h.tseq, i % 255);
		accept(h);
		assert_int_equal(receive_answer(answer(), &done), TN_RECEIVED_OK);
		assert_int_equal(done.count, i + 1);
	}
}

/* As many packets as allowed are unacknowledged, and one answer covers all of them. */
static void one_answer_covers_full_window(void **state)
{
	struct tn_queue done = { 0 };
	const unsigned int most = tn_retry_hippi.limit;

	(void)state;
	begin();
	for (unsigned int i = 0; i < 2 * most; i += most) {
		struct tn_hdr h[127];

		assert_in_range(most, 100, 127);
		for (unsigned int k = 0; k < most; k++)
			h[k] = sent(i + k);
		/* The last one overtakes the others. */
		assert_int_equal(tn_retry_check(&b, &(struct tn_hdr) { .tseq = h[most - 1].tseq }),
				 TN_RX_AHEAD);
		for (unsigned int k = 0; k < most; k++)
			accept(h[k]);
		for (unsigned int k = 0; k < most; k++)
			assert_int_equal(tn_retry_check(&b, &h[k]), TN_RX_BEHIND);
		assert_int_equal(receive_answer(answer(), &done), TN_RECEIVED_OK);
		assert_int_equal(done.count, i + most);
	}
}

/*
 * A receiver answers a packet once. After an error it answers twice in total, then not until the
 * packet comes.
 */
static void packet_is_answered_once_and_error_twice(void **state)
{
	struct tn_hdr h[4];

	(void)state;
	begin();
	for (unsigned int i = 0; i < 4; i++)
		h[i] = sent(i);
	assert_int_equal(answer(), 255);
	accept(h[0]);
	assert_int_equal(answer(), 1);
	assert_int_equal(answer(), 255);
	assert_true(tn_retry_error(&b, 0));
	assert_int_equal(answer(), 1);
	assert_int_equal(answer(), 255);
	assert_false(tn_retry_error(&b, 0));
	assert_int_equal(answer(), 255);
	accept(h[1]);
	assert_true(tn_retry_error(&b, 0));	/* before number 2 was ever acknowledged */
	assert_int_equal(answer(), 2);
	assert_true(tn_retry_urgent(&b));
	assert_int_equal(answer(), 2);
	assert_false(tn_retry_urgent(&b));
	assert_int_equal(answer(), 255);
}

/* The second answer is a NAK, even of a number that was never acknowledged before. */
static void second_equal_answer_is_nak(void **state)
{
	struct tn_queue done = { 0 };

	(void)state;
	begin();
	for (unsigned int i = 0; i < 4; i++)
		sent(i);
	assert_int_equal(receive_answer(255, &done), TN_RECEIVED_OK);
	assert_int_equal(receive_answer(0, &done), TN_RECEIVED_OK);
	assert_int_equal(receive_answer(0, &done), TN_RECEIVED_REPLAY);
	assert_ptr_equal(a.tx.next, &pkt[0]);
	assert_int_equal(receive_answer(2, &done), TN_RECEIVED_OK);
	assert_int_equal(done.count, 2);
	assert_int_equal(receive_answer(2, &done), TN_RECEIVED_REPLAY);
	assert_int_equal(receive_answer(1, &done), TN_RECEIVED_OK);	/* a late answer */
	assert_int_equal(receive_answer(5, &done), TN_RECEIVED_INVALID);
	assert_int_equal(receive_answer(256, &done), TN_RECEIVED_INVALID);
	assert_int_equal(done.count, 2);
}

/*
 * Found by the masks under the source's own rule: both answers to the last packet are lost, its
 * replays are behind, and the receiver had no more answers to send.
 */
static void packet_behind_is_answered_when_answers_were_lost(void **state)
{
	struct tn_queue done = { 0 };
	struct tn_hdr h;

	(void)state;
	begin();
	h = sent(0);
	accept(h);
	answer();				/* this answer is lost */
	for (int i = 1; i <= 6; i++) {	/* lost, lost, and received at last */
		struct tn_hdr again = h;

		assert_int_equal(tn_retry_check(&b, &again), TN_RX_BEHIND);
		assert_int_equal(tn_retry_behind(&b, &again), i % 2 == 0);
		assert_int_equal(answer(), i % 2 ? 255 : 1);
	}
	assert_int_equal(receive_answer(1, &done), TN_RECEIVED_OK);
	assert_int_equal(done.count, 1);
	/* Once a new packet has come, the lost answers do not matter any more. */
	h = sent(1);
	accept(h);
	answer();
	assert_int_equal(tn_retry_check(&b, &(struct tn_hdr) { .tseq = 1 }), TN_RX_BEHIND);
	assert_false(tn_retry_behind(&b, &(struct tn_hdr) { .tseq = b.rx.expected - 1 }));
	accept(sent(2));
	answer();
	assert_false(tn_retry_behind(&b, &(struct tn_hdr) { .tseq = b.rx.expected - 1 }));
	assert_int_equal(answer(), 255);
}

/*
 * Found by a random history of rings: ten packets were accepted, and the answers to the last of
 * them lost. The replays had made the window of the sender so narrow that none of them reached the
 * last accepted packet, and the receiver waited for it.
 */
static void short_replay_of_accepted_packets_is_answered(void **state)
{
	struct tn_queue done = { 0 };
	struct tn_hdr h[10];
	unsigned int reported = 0;

	(void)state;
	begin();
	for (unsigned int i = 0; i < 10; i++)
		accept(h[i] = sent(i));
	answer();				/* this answer is lost */
	for (unsigned int replay = 0; replay < 4; replay++) {
		for (unsigned int i = replay == 3; i < TN_RETRY_WINDOW_MIN; i++) {
			struct tn_hdr again = h[i];

			assert_int_equal(tn_retry_check(&b, &again), TN_RX_BEHIND);
			if (tn_retry_behind(&b, &again)) {
				assert_true(i == (replay == 3));
				assert_int_equal(answer(), 10);
				reported++;
			}
		}
		/* one answer in each second replay */
		assert_int_equal(reported, (replay + 1) / 2);
	}
	assert_int_equal(receive_answer(10, &done), TN_RECEIVED_OK);
	assert_int_equal(done.count, 10);
}

/*
 * Found by fabricsim: every packet behind was answered, each answer was a NAK for its sender,
 * and each NAK caused more packets that were behind: the sender went back 3 million times for
 * 1000 packets.
 */
static void packets_behind_cause_no_storm_of_answers(void **state)
{
	struct tn_hdr h[40];
	unsigned int reported = 0;

	(void)state;
	begin();
	for (unsigned int i = 0; i < 40; i++)
		accept(h[i] = sent(i));
	assert_int_equal(answer(), 40);
	for (unsigned int i = 0; i < 40; i++) {		/* one replay too many */
		struct tn_hdr again = h[i];

		assert_int_equal(tn_retry_check(&b, &again), TN_RX_BEHIND);
		tn_retry_behind(&b, &again);
		reported += answer() != 255;
	}
	assert_int_equal(reported, 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(each_mask_of_losses_delivers_all_packets),
		cmocka_unit_test(retransmitted_packet_carries_answer_due_then),
		cmocka_unit_test(numbers_wrap_from_254_to_0),
		cmocka_unit_test(one_answer_covers_full_window),
		cmocka_unit_test(packet_is_answered_once_and_error_twice),
		cmocka_unit_test(second_equal_answer_is_nak),
		cmocka_unit_test(packet_behind_is_answered_when_answers_were_lost),
		cmocka_unit_test(short_replay_of_accepted_packets_is_answered),
		cmocka_unit_test(packets_behind_cause_no_storm_of_answers),
	};

	return cmocka_run_group_tests_name("retry_hippi", all, NULL, NULL);
}
