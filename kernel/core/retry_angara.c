// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retry as in the Angara paper ("контроль целостности данных", fig. 3): every header carries RSEQ,
 * the number expected next, and E: after a reception error the receiver ignores all packets except
 * the one with number RSEQ.
 *
 * Two rules are not in the paper.
 *
 *  1. Generation. A repeated E for an error that is being repaired must differ from an E for a new
 *     error. Each replay inverts the generation bit G; E carries the generation in which the error
 *     was seen (GE), and the sender obeys it only if that is the present generation. So E may be
 *     repeated (it is a level, not an edge), one error causes one replay
 *     (one_damaged_packet_costs_one_round_trip()), and if the first packet of a replay is damaged
 *     again, the receiver notices this at the second one. Safety does not depend on G: a packet
 *     before CTRP is a replay of an accepted packet, and is dropped without E.
 *  2. Idle links. The TSEQ of an IDLE is that of the next packet to be sent. A receiver that
 *     expects this number has missed nothing, and withdraws an E that a damaged IDLE caused; a
 *     sender with an empty RETRY buffer answers an E by an IDLE. Otherwise E would be repeated on
 *     an idle link until there is data to send (idle_sender_handles_late_messages()).
 *
 * Tests: tests/unit/test_retry_angara.c; its each_mask_of_losses_delivers_all_packets() tries every
 * history of a few packets.
 */
#include "retry.h"

static void angara_stamp(struct tn_retry *r, struct tn_hdr *h)
{
	tn_assert(r->rx.e_gen < 2 && r->rx.gen_seen < 2);
	h->rseq = r->rx.expected;
	h->e = r->rx.ignoring;
	h->gen_echo = r->rx.e_gen;
	h->gen = r->tx.gen;
	if (h->type == TN_IDLE)
		h->tseq = r->tx.next ? r->tx.next->hdr.tseq : r->tx.tseq;
}

static enum tn_received angara_receive(struct tn_retry *r, const struct tn_hdr *h,
				       struct tn_queue *done, u64 now)
{
	enum tn_ack ack = tn_retry_ack(r, h->rseq, done, now);

	if (ack == TN_ACK_INVALID)
		return TN_RECEIVED_INVALID;
	if (h->type == TN_IDLE && h->tseq == r->rx.expected)
		r->rx.ignoring = false;
	if (!h->e || ack != TN_ACK_OK)
		return TN_RECEIVED_OK;
	if (!r->tx.sent.head)
		return TN_RECEIVED_ASK;
	return h->gen_echo == r->tx.gen && tn_retry_back(r) ? TN_RECEIVED_REPLAY : TN_RECEIVED_OK;
}

static void angara_accepted(struct tn_retry *r, const struct tn_hdr *h)
{
	r->rx.gen_seen = h->gen;
}

static bool angara_error(struct tn_retry *r, u8 gen)
{
	if (r->rx.ignoring && r->rx.e_gen == gen)
		return false;
	tn_assert(gen < 2);
	r->rx.ignoring = true;
	r->rx.e_gen = gen;
	return true;
}

static bool angara_behind(struct tn_retry *r, const struct tn_hdr *h)
{
	(void)r;
	(void)h;
	return true;		/* the peer has not received our RSEQ: answer at once */
}

const struct tn_retry_ops tn_retry_angara = {
	.protocol = TORUS_RETRY_ANGARA,
	.limit = 2047,
	.remind = true,
	.stamp = angara_stamp,
	.receive = angara_receive,
	.accepted = angara_accepted,
	.error = angara_error,
	.behind = angara_behind,
};
