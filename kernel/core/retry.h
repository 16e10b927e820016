/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link retry after the Angara paper ("контроль целостности данных", fig. 3):
 * go-back-N with the acknowledgement and the error bit in every header.
 *
 * Sender: a packet gets its TSEQ when it enters the RETRY buffer and stays there
 * until a header from the peer carries an RSEQ beyond it. E, or no progress for
 * replay_timeout, makes the sender go back to the oldest packet.
 * Receiver: accepts only the packet whose TSEQ equals CTRP and whose checks
 * hold; else it raises E and ignores everything but the right TSEQ.
 *
 * Nothing is lost: a packet leaves the buffer only when RSEQ says CTRP passed
 * it. Nothing is doubled or reordered: CTRP admits each number once and in
 * order; at most TN_RETRY_MAX (a quarter of the 12-bit space) are outstanding,
 * so a frame late by less than half the space cannot be taken for a new one,
 * and one from another session fails its LCRC, which starts from another seed.
 *
 * What is ours: the paper leaves open how an E for an error already being
 * mended is told from one for a new error. Each going back turns the generation
 * bit G over; E names the generation in which the error was seen (GE) and is
 * obeyed only while that is the present one. So E may be repeated freely (it is
 * a level, not an edge), one error costs one going back, and a replay whose
 * first packet is hit again is noticed at the second. Safety never rests on G.
 * A packet behind CTRP is a replay of what was accepted: dropped without E.
 *
 * Also ours: the window. What is on the wire behind a damaged packet is sent in
 * vain, and in software the wire is deep (queues of sockets, processes that
 * wait for a processor). So going back takes a quarter off what may be on the
 * wire, and each acknowledgement gives a quarter of what it covers back: at one
 * error in 30 packets some 30 are on the wire, at one in 300 all that the peer
 * has room for. A receiver that saw an error acknowledges every frame for a
 * while (TN_RETRY_EAGER), for a small window must be told soon.
 */
#ifndef TN_RETRY_H
#define TN_RETRY_H

#include "pkt.h"

#define TN_RETRY_EAGER 512	/* packets acknowledged at once after an error */
#define TN_RETRY_WINDOW_MIN 8
#define TN_RETRY_MAX 1024	/* packets outstanding; a quarter of TSEQ's range */

/**
 * struct tn_retry_tx - RETRY buffer
 * @sent: packets with a TSEQ, oldest first
 * @next: first of them to go onto the wire, NULL if all went
 * @tseq: CTTR, the TSEQ of the next packet to enter
 * @high: one past the highest TSEQ that was ever on the wire
 * @gen: generation
 * @on_wire: packets of @sent before @next
 * @window: limit of @on_wire, in quarters of a packet
 * @rtt: mean time from the wire to the acknowledgement, of one packet at a time:
 *	@timed_seq, sent at @timed_at (0: none)
 * @flits: in @sent
 * @tries: times gone back without progress
 * @since: when the oldest packet first waited or the last progress was made
 * @sent_at: when something last went onto the wire
 */
struct tn_retry_tx {
	struct tn_queue sent;
	struct tn_pkt *next;
	u16 tseq;
	u16 high;
	u8 gen;
	u32 on_wire;
	u32 window;
	u32 flits;
	u32 tries;
	u64 since;
	u64 sent_at;
	u64 timed_at;
	u64 rtt;
	u16 timed_seq;
};

/**
 * struct tn_retry_rx - reception state
 * @expected: CTRP
 * @ignoring: an error was seen; only TSEQ == CTRP ends it
 * @e_gen: generation in which it was seen
 */
struct tn_retry_rx {
	u16 expected;
	u8 gen_seen;
	u8 e_gen;
	bool ignoring;
};

/* Distance from @a to @b in sequence space. */
static inline u16 tn_seq_diff(u16 b, u16 a)
{
	return (u16)((b - a) & TN_SEQ_MASK);
}

/* @a comes before @b. */
static inline bool tn_seq_before(u16 a, u16 b)
{
	return tn_seq_diff(a, b) > TN_SEQ_MASK / 2;
}

void tn_retry_tx_start(struct tn_retry_tx *tx, u16 first, u64 now);
void tn_retry_push(struct tn_retry_tx *tx, struct tn_pkt *pkt, u64 now);

/** tn_retry_ready() - is there something to send, and may it go? */
static inline bool tn_retry_ready(const struct tn_retry_tx *tx)
{
	return tx->next && tx->on_wire < tx->window / 4;
}

/** tn_retry_sending() - tx->next goes onto the wire now; true: it is a replay */
bool tn_retry_sending(struct tn_retry_tx *tx, u64 now);

enum tn_ack { TN_ACK_STALE, TN_ACK_OK, TN_ACK_LIE };

/**
 * tn_retry_ack() - the peer expects @rseq next
 * @done: gets the packets that it has accepted
 * Return: TN_ACK_LIE if that was never sent.
 */
enum tn_ack tn_retry_ack(struct tn_retry_tx *tx, u16 rseq, struct tn_queue *done, u64 now);

/** tn_retry_back() - go back to the oldest packet. Return: false: none there. */
bool tn_retry_back(struct tn_retry_tx *tx);

void tn_retry_rx_start(struct tn_retry_rx *rx, u16 first);

enum tn_verdict { TN_RX_ACCEPT, TN_RX_BEHIND, TN_RX_AHEAD };

/**
 * tn_retry_check() - what to do with an intact sequenced header
 * Accepting is completed by tn_retry_accept() once the body is good too.
 */
enum tn_verdict tn_retry_check(const struct tn_retry_rx *rx, const struct tn_hdr *h);
void tn_retry_accept(struct tn_retry_rx *rx, const struct tn_hdr *h);

/**
 * tn_retry_error() - a packet of generation @gen was ahead or damaged
 * Return: true if this is news that the peer should get at once.
 */
bool tn_retry_error(struct tn_retry_rx *rx, u8 gen);

#endif /* TN_RETRY_H */
