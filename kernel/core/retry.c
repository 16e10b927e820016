// SPDX-License-Identifier: GPL-2.0-only
/* Link retry; retry.h says how and why. */
#include "retry.h"

void tn_retry_tx_start(struct tn_retry_tx *tx, u16 first, u64 now)
{
	*tx = (struct tn_retry_tx) {
		.tseq = first & TN_SEQ_MASK,
		.high = first & TN_SEQ_MASK,
		.window = 4 * TN_RETRY_MAX,
		.since = now,
		.sent_at = now,
	};
}

void tn_retry_push(struct tn_retry_tx *tx, struct tn_pkt *pkt, u64 now)
{
	if (!tx->sent.head) {
		tx->since = now;
		tx->tries = 0;
	}
	pkt->hdr.tseq = tx->tseq;
	pkt->vccr_set = 0;
	tx->tseq = (u16)((tx->tseq + 1) & TN_SEQ_MASK);
	tx->flits += tn_pkt_flits(pkt);
	tn_queue_push(&tx->sent, pkt);
	if (!tx->next)
		tx->next = pkt;
}

bool tn_retry_sending(struct tn_retry_tx *tx, u64 now)
{
	struct tn_pkt *pkt = tx->next;
	bool replay = tn_seq_before(pkt->hdr.tseq, tx->high);

	if (!replay)
		tx->high = (u16)((pkt->hdr.tseq + 1) & TN_SEQ_MASK);
	tx->next = pkt->next;
	tx->on_wire++;
	tx->sent_at = now;
	if (!tx->timed_at) {
		tx->timed_at = now;
		tx->timed_seq = pkt->hdr.tseq;
	}
	return replay;
}

enum tn_ack tn_retry_ack(struct tn_retry_tx *tx, u16 rseq, struct tn_queue *done, u64 now)
{
	u16 base = tx->sent.head ? tx->sent.head->hdr.tseq : tx->tseq;
	u16 n = tn_seq_diff(rseq, base);

	if (n > tn_seq_diff(tx->high, base))
		return tn_seq_before(rseq, base) ? TN_ACK_STALE : TN_ACK_LIE;
	if (!n)
		return TN_ACK_OK;
	if (tx->timed_at && tn_seq_before(tx->timed_seq, rseq)) {
		tx->rtt = (7 * tx->rtt + (now - tx->timed_at)) / 8;
		tx->timed_at = 0;
	}
	tx->window += n;
	if (tx->window > 4 * TN_RETRY_MAX)
		tx->window = 4 * TN_RETRY_MAX;
	tx->on_wire = tx->on_wire > n ? tx->on_wire - n : 0;
	while (n--) {
		struct tn_pkt *pkt = tn_queue_pop(&tx->sent);

		if (tx->next == pkt)
			tx->next = tx->sent.head;
		tx->flits -= tn_pkt_flits(pkt);
		tn_queue_push(done, pkt);
	}
	tx->since = now;
	tx->tries = 0;
	return TN_ACK_OK;
}

bool tn_retry_back(struct tn_retry_tx *tx)
{
	if (!tx->sent.head)
		return false;
	tx->next = tx->sent.head;
	/* A quarter off what was on the wire: a window wider than that was no limit. */
	if (tx->window > 4 * tx->on_wire)
		tx->window = 4 * tx->on_wire;
	tx->window -= tx->window / 4;
	if (tx->window < 4 * TN_RETRY_WINDOW_MIN)
		tx->window = 4 * TN_RETRY_WINDOW_MIN;
	tx->on_wire = 0;
	tx->timed_at = 0;
	tx->gen ^= 1;
	tx->tries++;
	return true;
}

void tn_retry_rx_start(struct tn_retry_rx *rx, u16 first)
{
	*rx = (struct tn_retry_rx) { .expected = first & TN_SEQ_MASK };
}

enum tn_verdict tn_retry_check(const struct tn_retry_rx *rx, const struct tn_hdr *h)
{
	if (h->tseq == rx->expected)
		return TN_RX_ACCEPT;
	return tn_seq_before(h->tseq, rx->expected) ? TN_RX_BEHIND : TN_RX_AHEAD;
}

void tn_retry_accept(struct tn_retry_rx *rx, const struct tn_hdr *h)
{
	rx->expected = (u16)((rx->expected + 1) & TN_SEQ_MASK);
	rx->gen_seen = h->gen;
	rx->ignoring = false;
}

bool tn_retry_error(struct tn_retry_rx *rx, u8 gen)
{
	if (rx->ignoring && rx->e_gen == gen)
		return false;
	rx->ignoring = true;
	rx->e_gen = gen;
	return true;
}
