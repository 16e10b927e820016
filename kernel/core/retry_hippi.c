// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retry as in HIPPI and the torus of BlueGene/L ("Comparison of ACK/NAK and HIPPI link retry",
 * section 3). Packets have numbers of 8 bits, 0 to 254 in turn. Every header carries an answer: the
 * number expected next, or 255 for no answer. A packet with the number 255 (our IDLE, an empty
 * packet in the paper) needs no answer.
 *
 *  1. There is no separate NAK. A number that is received twice in a row counts as one: its packet
 *     did not arrive, and the sender replays from it (second_equal_answer_is_nak()). So each number
 *     is sent as an answer once, when it becomes the expected one, and a second time after an
 *     error, but no more until the expected packet arrives
 *     (packet_is_answered_once_and_error_twice()). If answers are lost, the sender's timer starts
 *     the replay.
 *  2. Not in the paper, which forbids a third answer even to a packet that was accepted before: if
 *     both answers were lost and no new packet is sent, the sender would replay accepted packets
 *     without end. So when a second replay of accepted packets begins without a new packet in
 *     between, it is answered (packet_behind_is_answered_when_answers_were_lost()). An answer to
 *     every packet that was accepted before would be worse: it repeats a number, is therefore a
 *     NAK, and causes another replay (packets_behind_cause_no_storm_of_answers()). To answer only
 *     the last accepted packet would not suffice: each replay makes the window narrower, and a
 *     window of TN_RETRY_WINDOW_MIN ends before that packet if more were accepted since the last
 *     answer that arrived (short_replay_of_accepted_packets_is_answered()).
 *  3. Numbers run modulo 255 on the wire and modulo 4096 in the NIC. The number of the oldest
 *     unacknowledged packet (head) and of the expected one (next) are kept in both forms; the
 *     others are counted from there. Both start at 0 with the session
 *     (numbers_wrap_from_254_to_0()).
 *  4. At most 127 packets are outstanding, so that ahead and behind can be told apart
 *     (one_answer_covers_full_window()). The paper does not say how many. 64 of them are kept for
 *     control packets (TN_LINK_CTL_SLACK), so a link has at most 63 data packets under way.
 *
 * Micro-packets. The paper cuts a message into pieces of 32 bytes with 8 bytes of control, each
 * with a number, so that an error costs a piece and not a packet. This protocol numbers the units
 * that its caller passes to it. The NIC passes packets, because pieces gain nothing in Ethernet
 * frames. A NIC or switch that finds a bad FCS drops the frame with all pieces in it. And 127
 * outstanding pieces are 4064 bytes, less than one frame of 9000: a link would carry 4 KB each
 * round trip. Numbers of 12 bits would allow more, but that is not HIPPI's protocol; fabricsim
 * refuses the combination. "fabricsim retry" measures, with this code and to the byte, what pieces
 * gain on a line whose errors hit single bits.
 *
 * Tests: tests/unit/test_retry_hippi.c; its each_mask_of_losses_delivers_all_packets() tries every
 * history of a few packets.
 */
#include "retry.h"

#define CIRCLE 255	/* numbers are 0 to 254; 255 itself means that there is no answer */
#define ANSWERS_MAX 2

static unsigned int numbers_ahead(unsigned int a, unsigned int b)
{
	return (a + CIRCLE - b) % CIRCLE;
}

static u16 oldest_sent(const struct tn_retry *r)
{
	return r->tx.sent.head ? r->tx.sent.head->hdr.tseq : r->tx.tseq;
}

static void hippi_stamp(struct tn_retry *r, struct tn_hdr *h)
{
	if (h->type == TN_IDLE)
		h->tseq = CIRCLE;
	else
		h->tseq = (u16)((r->head + tn_seq_diff(h->tseq, oldest_sent(r))) % CIRCLE);
	h->e = 0;
	h->gen = 0;
	h->gen_echo = 0;
	h->rseq = CIRCLE;
	/*
	 * A replayed packet carries the present answer. In the paper it carries again the answer
	 * that it had first; but if the peer has received no later answer, the repeated number
	 * would be a NAK and start a needless replay, and otherwise the old number is useless.
	 */
	if (!r->owed)
		return;
	tn_assert(r->owed <= ANSWERS_MAX);
	r->owed--;
	r->sent_times++;
	h->rseq = r->next;
}

static void hippi_number(const struct tn_retry *r, struct tn_hdr *h)
{
	unsigned int d = numbers_ahead(h->tseq % CIRCLE, r->next);

	if (d <= CIRCLE / 2)
		h->tseq = (u16)((r->rx.expected + d) & TN_SEQ_MASK);
	else
		h->tseq = (u16)((r->rx.expected - (CIRCLE - d)) & TN_SEQ_MASK);
}

static enum tn_received hippi_receive(struct tn_retry *r, const struct tn_hdr *h,
				      struct tn_queue *done, u64 now)
{
	unsigned int n;

	if (h->rseq == CIRCLE)
		return TN_RECEIVED_OK;
	if (h->rseq > CIRCLE)
		return TN_RECEIVED_INVALID;
	n = numbers_ahead(h->rseq, r->head);
	if (n > CIRCLE / 2)
		return TN_RECEIVED_OK;	/* an outdated answer */
	if (!n && r->answered)
		return tn_retry_back(r) ? TN_RECEIVED_REPLAY : TN_RECEIVED_OK;
	r->answered = true;
	/* so that numbers ahead and behind can be told apart */
	tn_assert(r->tx.sent.count <= CIRCLE / 2);
	if (tn_retry_ack(r, (u16)((oldest_sent(r) + n) & TN_SEQ_MASK), done, now) == TN_ACK_INVALID)
		return TN_RECEIVED_INVALID;
	return TN_RECEIVED_OK;
}

static void hippi_accepted(struct tn_retry *r, const struct tn_hdr *h)
{
	tn_assert(r->next < CIRCLE && r->head < CIRCLE);
	r->behind = h->tseq;
	r->next = (u8)((r->next + 1) % CIRCLE);
	r->sent_times = 0;
	r->owed = 1;
	r->stuck = false;
}

static bool hippi_error(struct tn_retry *r, u8 gen)
{
	(void)gen;
	if (r->rx.ignoring)
		return false;
	r->rx.ignoring = true;
	r->owed = r->sent_times < ANSWERS_MAX ? (u8)(ANSWERS_MAX - r->sent_times) : 0;
	tn_assert(r->owed <= ANSWERS_MAX);
	return r->owed;
}

static bool hippi_behind(struct tn_retry *r, const struct tn_hdr *h)
{
	bool goes_on = tn_seq_before(r->behind, h->tseq);

	r->behind = h->tseq;
	if (goes_on)
		return false;
	/* This packet is the first of another replay of accepted packets. */
	if (r->stuck && !r->owed)
		r->owed = 1;
	r->stuck = !r->stuck;
	return r->owed;
}

const struct tn_retry_ops tn_retry_hippi = {
	.protocol = TORUS_RETRY_HIPPI,
	.counts = true,
	.limit = CIRCLE / 2,
	.stamp = hippi_stamp,
	.number = hippi_number,
	.receive = hippi_receive,
	.accepted = hippi_accepted,
	.error = hippi_error,
	.behind = hippi_behind,
};
