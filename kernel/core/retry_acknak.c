// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retry as in PCI Express (ACK/NAK; "Comparison of ACK/NAK and HIPPI link retry", section 2).
 * Answers are packets of their own of 8 bytes (TN_ACKNAK; a DLLP in PCI Express) with the number of
 * the last good packet, NEXT_RCV_SEQ - 1.
 *
 *  1. ACK: the peer has accepted everything up to that number. One ACK may cover many packets; for
 *     that, the link delays it by ack_delay.
 *  2. NAK: the same, and the next packet was damaged or is missing: the sender replays from it.
 *     After a NAK (NAK_SCHEDULED, rx.ignoring) the receiver sends no other NAK until the expected
 *     packet has arrived (receiver_sends_one_nak_for_many_damaged_packets()).
 *  3. If a NAK is lost, or the first packet of a replay is damaged again, the sender's REPLAY_TIMER
 *     (replay_timeout) starts a replay. Every fourth replay without progress (REPLAY_NUM) retrains
 *     the link.
 *  4. A packet that was accepted before is answered by an ACK: the sender has not received the last
 *     ACK. A NAK that arrives after a newer ACK starts no replay (late_nak_brings_no_replay()).
 *
 * Tests: tests/unit/test_retry_acknak.c; its each_mask_of_losses_delivers_all_packets() tries every
 * history of a few packets.
 */
#include "retry.h"

static void acknak_stamp(struct tn_retry *r, struct tn_hdr *h)
{
	h->e = 0;
	h->rseq = 0;
	h->gen = 0;
	h->gen_echo = 0;
	if (h->type != TN_ACKNAK)
		return;
	h->rseq = (u16)((r->rx.expected - 1) & TN_SEQ_MASK);
	tn_assert(r->owed < 2);
	tn_assert(!r->owed || r->rx.ignoring);	/* a NAK is owed only while NAK_SCHEDULED is set */
	h->e = r->owed;		/* each NAK is sent once */
	r->owed = 0;
}

static enum tn_received acknak_receive(struct tn_retry *r, const struct tn_hdr *h,
				       struct tn_queue *done, u64 now)
{
	enum tn_ack ack;

	if (h->type != TN_ACKNAK)
		return TN_RECEIVED_OK;
	ack = tn_retry_ack(r, (u16)((h->rseq + 1) & TN_SEQ_MASK), done, now);
	if (ack == TN_ACK_INVALID)
		return TN_RECEIVED_INVALID;
	if (h->e && ack == TN_ACK_OK && tn_retry_back(r))
		return TN_RECEIVED_REPLAY;
	return TN_RECEIVED_OK;
}

static void acknak_accepted(struct tn_retry *r, const struct tn_hdr *h)
{
	(void)h;
	r->owed = 0;		/* the expected packet has arrived: no NAK is needed */
}

static bool acknak_error(struct tn_retry *r, u8 gen)
{
	(void)gen;
	if (r->rx.ignoring)
		return false;
	r->rx.ignoring = true;
	r->owed = 1;
	return true;
}

static bool acknak_behind(struct tn_retry *r, const struct tn_hdr *h)
{
	(void)r;
	(void)h;
	return true;
}

const struct tn_retry_ops tn_retry_acknak = {
	.protocol = TORUS_RETRY_ACKNAK,
	.limit = 2047,
	.alone = true,
	.stamp = acknak_stamp,
	.receive = acknak_receive,
	.accepted = acknak_accepted,
	.error = acknak_error,
	.behind = acknak_behind,
};
