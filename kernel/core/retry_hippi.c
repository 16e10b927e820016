// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retry as in HIPPI and the torus of BlueGene/L ("Comparison of ACK/NAK and
 * HIPPI link retry", section 3): numbers of 8 bits, 0 to 254 in turn, and every
 * header answers with the number expected next, or with 255: no answer. A packet
 * numbered 255 (our IDLE, an empty packet there) needs none.
 *
 * There is no NAK. If a number is received twice in a row, its packet did not arrive, and the
 * sender replays from it. So each number is sent as an answer once, when it becomes the expected
 * one, and after an error a second time, but then no more until the expected packet arrives. If
 * answers are lost, the sender's timer starts the replay.
 *
 * Not in the source: it forbids a third answer even to a packet that was accepted before. If both
 * answers were lost and no new packet is sent, the sender would replay accepted packets for ever.
 * So when a second replay of accepted packets begins without a new one in between, it is answered.
 * To answer every packet that was accepted before would be worse: each answer repeats a number, is
 * therefore a NAK, and causes another replay of accepted packets. To wait for the last accepted one
 * would not do: each replay makes the window narrower, and a window of TN_RETRY_WINDOW_MIN ends
 * before it if more packets were accepted since the last answer that arrived.
 *
 * On the wire the numbers run in a circle of 255, in the NIC of 4096: the number
 * of the oldest packet not acknowledged (head) and of the expected one (next)
 * are kept in both, what lies between is counted from there. Both start at 0
 * with the session. At most 127 packets are outstanding, so ahead and behind can
 * be told apart. The source does not say how many. 64 of these are kept for control
 * packets (TN_LINK_CTL_SLACK), so a link has 63 data packets under way at most.
 *
 * Micro-packets. There a message is cut into pieces of 32 bytes with 8 of control, each
 * with a number, so that an error costs a piece and not a packet. The frame format decides what is
 * numbered, not this protocol: it numbers whatever it is given. The NIC gives it packets, for on a
 * wire of Ethernet frames pieces would lose what they are for. A NIC or switch that finds a bad FCS
 * drops the frame with all pieces in it, so damage comes in frames. And 127 pieces outstanding are
 * 4064 bytes, less than one frame of 9000: a link would carry 4 KB each round trip. With numbers of
 * 12 bits they could be many, but then it is not HIPPI's protocol; fabricsim refuses the
 * combination. "fabricsim retry" measures, with this code and to the byte, what pieces gain on a
 * line whose errors hit single bits.
 */
#include "retry.h"

#define CIRCLE 255	/* also: the number that is no answer */
#define SAY_MAX 2

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
	 * A replayed packet carries the present answer, not the one it was first sent with, as the
	 * paper has it. If the peer has heard no later answer, the same number once more would mean
	 * NAK, and start a replay without a cause; and if it has, an old number tells nothing.
	 */
	if (!r->owed)
		return;
	tn_assert(r->owed <= SAY_MAX);
	r->owed--;
	r->said++;
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

static enum tn_heard hippi_hear(struct tn_retry *r, const struct tn_hdr *h, struct tn_queue *done,
				u64 now)
{
	unsigned int n;

	if (h->rseq == CIRCLE)
		return TN_HEARD_OK;
	if (h->rseq > CIRCLE)
		return TN_HEARD_LIE;
	n = numbers_ahead(h->rseq, r->head);
	if (n > CIRCLE / 2)
		return TN_HEARD_OK;	/* late */
	if (!n && r->heard)
		return tn_retry_back(r) ? TN_HEARD_BACK : TN_HEARD_OK;
	r->heard = true;
	tn_assert(r->tx.sent.count <= CIRCLE / 2);	/* ahead and behind can be told apart */
	if (tn_retry_ack(r, (u16)((oldest_sent(r) + n) & TN_SEQ_MASK), done, now) == TN_ACK_LIE)
		return TN_HEARD_LIE;
	return TN_HEARD_OK;
}

static void hippi_accepted(struct tn_retry *r, const struct tn_hdr *h)
{
	tn_assert(r->next < CIRCLE && r->head < CIRCLE);
	r->behind = h->tseq;
	r->next = (u8)((r->next + 1) % CIRCLE);
	r->said = 0;
	r->owed = 1;
	r->stuck = false;
}

static bool hippi_error(struct tn_retry *r, u8 gen)
{
	(void)gen;
	if (r->rx.ignoring)
		return false;
	r->rx.ignoring = true;
	r->owed = r->said < SAY_MAX ? (u8)(SAY_MAX - r->said) : 0;
	tn_assert(r->owed <= SAY_MAX);
	return r->owed;
}

static bool hippi_behind(struct tn_retry *r, const struct tn_hdr *h)
{
	bool goes_on = tn_seq_before(r->behind, h->tseq);

	r->behind = h->tseq;
	if (goes_on)
		return false;
	/* A replay begins here. */
	if (r->stuck && !r->owed)
		r->owed = 1;
	r->stuck = !r->stuck;
	return r->owed;
}

const struct tn_retry_ops tn_retry_hippi = {
	.protocol = TORUS_RETRY_HIPPI,
	.limit = CIRCLE / 2,
	.stamp = hippi_stamp,
	.number = hippi_number,
	.hear = hippi_hear,
	.accepted = hippi_accepted,
	.error = hippi_error,
	.behind = hippi_behind,
};
