// SPDX-License-Identifier: GPL-2.0-only
/*
 * Retry as in the Angara paper ("контроль целостности данных", fig. 3): every
 * header carries RSEQ, the number expected next, and E: a reception error, I
 * ignore everything but RSEQ.
 *
 * What is ours: the paper leaves open how an E for an error already being
 * mended is told from one for a new error. Each going back turns the generation
 * bit G over; E names the generation in which the error was seen (GE) and is
 * obeyed only while that is the present one. So E may be repeated freely (it is
 * a level, not an edge), one error costs one going back, and a replay whose
 * first packet is hit again is noticed at the second. Safety never rests on G.
 * A packet behind CTRP is a replay of what was accepted: dropped without E.
 *
 * Also ours: the TSEQ of an IDLE is that of the packet that goes onto the wire
 * next. A receiver that expects just this one has missed nothing, so it may take
 * back an E that a damaged IDLE caused; and a sender with an empty RETRY buffer
 * answers an E by an IDLE. Otherwise an idle link would complain until data come.
 */
#include "retry.h"

static void angara_stamp(struct tn_retry *r, struct tn_hdr *h)
{
	h->rseq = r->rx.expected;
	h->e = r->rx.ignoring;
	h->gen_echo = r->rx.e_gen;
	h->gen = r->tx.gen;
	if (h->type == TN_IDLE)
		h->tseq = r->tx.next ? r->tx.next->hdr.tseq : r->tx.tseq;
}

static enum tn_heard angara_hear(struct tn_retry *r, const struct tn_hdr *h, struct tn_queue *done,
				 u64 now)
{
	enum tn_ack ack = tn_retry_ack(r, h->rseq, done, now);

	if (ack == TN_ACK_LIE)
		return TN_HEARD_LIE;
	if (h->type == TN_IDLE && h->tseq == r->rx.expected)
		r->rx.ignoring = false;
	if (!h->e || ack != TN_ACK_OK)
		return TN_HEARD_OK;
	if (!r->tx.sent.head)
		return TN_HEARD_ASK;
	return h->gen_echo == r->tx.gen && tn_retry_back(r) ? TN_HEARD_BACK : TN_HEARD_OK;
}

static void angara_accepted(struct tn_retry *r, const struct tn_hdr *h)
{
	r->rx.gen_seen = h->gen;
}

static bool angara_error(struct tn_retry *r, u8 gen)
{
	if (r->rx.ignoring && r->rx.e_gen == gen)
		return false;
	r->rx.ignoring = true;
	r->rx.e_gen = gen;
	return true;
}

static bool angara_behind(struct tn_retry *r, const struct tn_hdr *h)
{
	(void)r;
	(void)h;
	return true;		/* the peer missed our RSEQ */
}

const struct tn_retry_ops tn_retry_angara = {
	.protocol = TORUS_RETRY_ANGARA,
	.limit = 2047,
	.remind = true,
	.stamp = angara_stamp,
	.hear = angara_hear,
	.accepted = angara_accepted,
	.error = angara_error,
	.behind = angara_behind,
};
