/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link retry: the RETRY buffer, and three protocols for the acknowledgements of the peer. The
 * buffer and the sequence numbers inside a NIC are the same for all (12 bits, CTTR and CTRP of the
 * Angara paper); the protocol defines how a header carries them and what an answer means:
 *
 *   retry_angara.c  RSEQ and E in every header; the default
 *   retry_acknak.c  PCI Express: separate 8-byte ACK and NAK packets
 *   retry_hippi.c   BlueGene/L: 8-bit numbers, a repeated answer is a NAK
 *
 * All three replay from the oldest packet that is not acknowledged; all receivers accept only the
 * packet that is next. So for all of them:
 *
 *  1. No packet is lost: it leaves the buffer only after the receiver has acknowledged it.
 *  2. No packet is duplicated or reordered: the receiver accepts each number once and in order. At
 *     most tn_retry_ops.limit packets are outstanding, no more than half of the protocol's numbers,
 *     so a delayed frame is not mistaken for a new one; and a frame of another session fails its
 *     LCRC, which starts from another seed.
 *  3. No packet waits without end: without progress for replay_timeout the sender starts a replay.
 *
 * The acknowledgement in an intact header counts even if its packet is not the next in sequence:
 * packets that the peer has accepted stay accepted. The HIPPI paper (fig. 6) uses only the answers
 * in packets that are in sequence; then an error in one direction also loses the answers for the
 * other direction, until the replay arrives ("fabricsim retry --answers in-sequence").
 *
 * The window is not in the papers. Packets on the wire behind a damaged one are wasted, and in
 * software many packets are on the wire (in socket queues, or while a process waits for a
 * processor). So each replay reduces the window by a quarter, and each acknowledgement enlarges it
 * by a quarter of the packets that it covers: at one error in 30 packets some 30 are on the wire,
 * at one in 300 as many as the peer has room for. After an error a receiver acknowledges every
 * frame for some time (TN_RETRY_EAGER), because a small window needs early acknowledgements.
 *
 * Tests. tests/unit/test_retry_buffer.c compares the buffer with a model. test_retry.c runs each
 * protocol over a wire that loses, damages, doubles and delays packets;
 * each_mask_of_losses_delivers_all_packets() of tests/unit/test_retry_angara.c,
 * test_retry_acknak.c and test_retry_hippi.c tries every history of a few packets.
 * window_shrinks_with_errors_and_grows_with_answers() tests the window.
 */
#ifndef TN_RETRY_H
#define TN_RETRY_H

#include "pkt.h"

#define TN_RETRY_EAGER 512	/* after an error, this many packets are acknowledged at once */
#define TN_RETRY_WINDOW_MIN 8
#define TN_RETRY_MAX 1024	/* largest RETRY buffer, in packets */
#define TN_TRIPS 8		/* a window of round trips has at least so many of them, */
#define TN_TRIP_TIME 1000000000	/* and lasts at least so long, ns */

/**
 * struct tn_trips - the shortest round trip of a line: from the first time that a packet was sent
 *	to its acknowledgement, of one packet at a time
 * @seq, @at: the packet that is measured now, and when it was sent; @at 0: none
 * @n, @since: number of round trips in the present window, and when it began
 * @least: shortest round trip of the present window
 * @known: shortest round trip of the last window that is complete; 0: none is
 * A packet that is sent again counts from its first time on: the peer may acknowledge the first
 * copy when the second one was just sent. So on a slow cable, where each packet is sent again, no
 * round trip is too short; one that is too long because a packet was lost is not the shortest of a
 * window. A busy processor delays some packets, but hardly all of a window.
 */
struct tn_trips {
	u64 at;
	u64 since;
	u64 least;
	u64 known;
	u32 n;
	u16 seq;
};

/**
 * struct tn_retry_tx - RETRY buffer
 * @sent: packets with a TSEQ, oldest first
 * @next: the packet of @sent that is sent next; NULL: all were sent
 * @tseq: CTTR, the TSEQ of the next packet to enter
 * @high: one past the highest TSEQ that was ever on the wire
 * @gen: generation bit G of the Angara protocol
 * @on_wire: packets of @sent before @next
 * @window: limit of @on_wire, in quarters of a packet
 * @rtt: mean time from the wire to the acknowledgement, of one packet at a time:
 *	@timed_seq, sent at @timed_at (0: none)
 * @trips: the shortest round trip, which tells if the line is slow
 * @flits: number of flits in @sent
 * @tries: number of replays without progress
 * @since: the later of two times: when the oldest packet entered the buffer, and when the peer last
 *	acknowledged something
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
	struct tn_trips trips;
	u16 timed_seq;
};

/**
 * struct tn_retry_rx - state of the receiver
 * @expected: CTRP, the TSEQ of the packet that is accepted next
 * @ignoring: after an error, all packets are ignored until that with TSEQ == CTRP arrives (in the
 *	ACK/NAK protocol: NAK_SCHEDULED)
 * @e_gen: generation in which the error was seen
 */
struct tn_retry_rx {
	u16 expected;
	u8 gen_seen;
	u8 e_gen;
	bool ignoring;
};

/**
 * struct tn_retry - both directions of one link
 * @head: HIPPI: the number, as on the wire, of the oldest packet that is not acknowledged
 * @next: HIPPI: the number, as on the wire, of the packet expected next
 * @owed: number of answers to be sent (HIPPI); 1: a NAK is to be sent (ACK/NAK)
 * @sent_times: HIPPI: how often @next was sent as an answer
 * @answered: HIPPI: the peer has sent @head as an answer
 * @stuck: HIPPI: the peer has replayed packets that were accepted; the next such replay is answered
 * @behind: HIPPI: TSEQ of the last packet that was received a second time, or was accepted after
 *	that
 */
struct tn_retry {
	const struct tn_retry_ops *ops;
	struct tn_retry_tx tx;
	struct tn_retry_rx rx;
	u8 head;
	u8 next;
	u8 owed;
	u8 sent_times;
	bool answered;
	bool stuck;
	u16 behind;
};

/** enum tn_received - what an answer of the peer means; see tn_retry_ops.receive */
enum tn_received {
	TN_RECEIVED_OK,
	TN_RECEIVED_REPLAY,	/* the peer reported a reception error: a replay has begun */
	TN_RECEIVED_ASK,	/* the same, but the RETRY buffer is empty: answer the report */
	TN_RECEIVED_INVALID,	/* the peer acknowledges packets that were never sent */
};

/**
 * struct tn_retry_ops - a retry protocol
 * @protocol: enum torus_retry
 * @limit: packets that may be outstanding
 * @alone: answers travel in packets of their own, TN_ACKNAK, not in headers
 * @remind: an error may be reported again after some time (tn_retry_remind())
 * @counts: the number of headers with the same answer matters: a sender counts those that it sends,
 *	and a receiver takes a repeated answer for a NAK. Without it, an answer without E that
 *	repeats the one of the header before has no effect ("Series" in link.h)
 * @stamp: write the TSEQ and the answer in the form of this protocol into the header @h, which is
 *	about to be sent; @h holds the TSEQ of the RETRY buffer, or is an IDLE or TN_ACKNAK
 * @number: replace the TSEQ in an intact sequenced header by the NIC's own numbering
 * @receive: process the answer in an intact header; acknowledged packets go to @done
 * @accepted: the expected packet was accepted
 * @error: a packet was damaged or out of sequence. Return: true if the peer needs an answer at
 *	once
 * @behind: a packet was received that had been accepted before. Return: as @error
 */
struct tn_retry_ops {
	u8 protocol;
	u16 limit;
	bool alone;
	bool remind;
	bool counts;
	void (*stamp)(struct tn_retry *r, struct tn_hdr *h);
	void (*number)(const struct tn_retry *r, struct tn_hdr *h);
	enum tn_received (*receive)(struct tn_retry *r, const struct tn_hdr *h,
				    struct tn_queue *done, u64 now);
	void (*accepted)(struct tn_retry *r, const struct tn_hdr *h);
	bool (*error)(struct tn_retry *r, u8 gen);
	bool (*behind)(struct tn_retry *r, const struct tn_hdr *h);
};

extern const struct tn_retry_ops tn_retry_angara, tn_retry_acknak, tn_retry_hippi;

/** tn_retry_of() - the ops of @protocol, NULL if there is none */
const struct tn_retry_ops *tn_retry_of(unsigned int protocol);

/* The distance from @a to @b in sequence space. */
static inline u16 tn_seq_diff(u16 b, u16 a)
{
	return (u16)((b - a) & TN_SEQ_MASK);
}

/* Return: true if @a precedes @b in sequence space. */
static inline bool tn_seq_before(u16 a, u16 b)
{
	return tn_seq_diff(a, b) > TN_SEQ_MASK / 2;
}

/**
 * tn_retry_start() - begin a new session
 * @first_tx, @first_rx: first TSEQ of each direction
 */
void tn_retry_start(struct tn_retry *r, const struct tn_retry_ops *ops, u16 first_tx,
		    u16 first_rx, u64 now);
/** tn_retry_resume() - after a retraining: prepare to send all packets of the RETRY buffer again */
void tn_retry_resume(struct tn_retry *r, u64 now);

/* --- sender ---------------------------------------------------------------- */

void tn_retry_push(struct tn_retry *r, struct tn_pkt *pkt, u64 now);
/** tn_retry_push_series() - the same for all packets of @some, at least one, in their order */
void tn_retry_push_series(struct tn_retry *r, struct tn_queue *some, u64 now);

/** tn_retry_ready() - Return: true if a packet is to be sent and the window allows it */
static inline bool tn_retry_ready(const struct tn_retry *r)
{
	return r->tx.next && r->tx.on_wire < r->tx.window / 4;
}

/** tn_retry_sending() - note that the packet tx.next is sent now. Return: true if it is a replay */
bool tn_retry_sending(struct tn_retry *r, u64 now);

enum tn_ack { TN_ACK_STALE, TN_ACK_OK, TN_ACK_INVALID };

/**
 * tn_retry_ack() - process an acknowledgement: the peer expects @rseq next
 * @done: the packets that the peer has accepted are appended to this queue
 * Return: TN_ACK_INVALID if such a number was never sent.
 */
enum tn_ack tn_retry_ack(struct tn_retry *r, u16 rseq, struct tn_queue *done, u64 now);

/**
 * tn_retry_back() - go back to the oldest packet of the buffer, to replay from there. Return: false
 * if the buffer is empty
 */
bool tn_retry_back(struct tn_retry *r);

static inline enum tn_received tn_retry_receive(struct tn_retry *r, const struct tn_hdr *h,
						struct tn_queue *done, u64 now)
{
	return r->ops->receive(r, h, done, now);
}

/* --- receiver -------------------------------------------------------------- */

enum tn_verdict { TN_RX_ACCEPT, TN_RX_BEHIND, TN_RX_AHEAD };

/**
 * tn_retry_check() - decide on a packet with an intact sequenced header
 * If this returns TN_RX_ACCEPT and the body of the packet is intact, too, the caller calls
 * tn_retry_accept().
 */
static inline enum tn_verdict tn_retry_check(const struct tn_retry *r, struct tn_hdr *h)
{
	if (r->ops->number)
		r->ops->number(r, h);
	tn_assert(h->tseq <= TN_SEQ_MASK);
	if (h->tseq == r->rx.expected)
		return TN_RX_ACCEPT;
	return tn_seq_before(h->tseq, r->rx.expected) ? TN_RX_BEHIND : TN_RX_AHEAD;
}

static inline void tn_retry_accept(struct tn_retry *r, const struct tn_hdr *h)
{
	r->rx.expected = (u16)((r->rx.expected + 1) & TN_SEQ_MASK);
	r->rx.ignoring = false;
	r->ops->accepted(r, h);
}

/**
 * tn_retry_error() - called when a packet of generation @gen was damaged or out of sequence.
 * Return: true if the peer needs an answer at once
 */
static inline bool tn_retry_error(struct tn_retry *r, u8 gen)
{
	return r->ops->error(r, gen);
}

static inline bool tn_retry_behind(struct tn_retry *r, const struct tn_hdr *h)
{
	return r->ops->behind(r, h);
}

/**
 * tn_retry_urgent() - Return: true if the answer that was just sent must be repeated in another
 * packet
 */
static inline bool tn_retry_urgent(const struct tn_retry *r)
{
	return r->rx.ignoring && r->owed;
}

/** tn_retry_remind() - send the report of an error again, because it seems to be lost */
void tn_retry_remind(struct tn_retry *r);

#endif /* TN_RETRY_H */
