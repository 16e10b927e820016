/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One link of a NIC: states, init handshake, retry, credits, frames.
 *
 *   down ──carrier, admin──> training ──> init ──handshake──> up
 *   up ──retrain, or the peer's──> retraining ──handshake──> up, nothing lost
 *   up, retraining ──carrier, silence, retry exhausted, peer──> faulty
 *   faulty ──INIT received, or carrier back──> init;  faulty sends INITs at intervals
 *
 * That a line is trained before numbers are exchanged is our reading: the figure of the Angara
 * paper that shows the order (2a) is not in its text.
 *
 * Handshake. Each attempt of an end has a random nonce; its INIT carries this nonce and the one
 * received from the peer. An end that reads its own nonce in the peer's INIT is up, and sends one
 * more INIT. The LCRC seed is made of both nonces. The content of an INIT (sequence numbers,
 * occupied buffers) does not change during an attempt, so it does not matter which copy the peer
 * received. Every LCRC starts from the seed, so frames of another up time fail it. The first seed
 * is the name of the session, which continues, with its TSEQs, through every retraining. So both
 * ends mean the same session even if only one of them came up again before the next failure.
 *
 * A retraining keeps the RETRY buffer, the sequence numbers and the credits. Both INITs have
 * RESUME, the same last session, and the RSEQ in it; the sender drops the packets that the peer has
 * accepted and replays the rest. If an end cannot resume, the link fails.
 *
 * In the Angara paper an init flit with a new SEQ may also set CTRP of a running link. Not here: it
 * would be unknown which packets before it had arrived. In a retraining each end tells the other
 * which packets it has accepted.
 *
 * Attempts are numbered, so that an INIT which was delayed until its sender had begun another
 * attempt is recognised: its RSEQ is of an older session than the one that the receiver needs.
 *
 * Memory. Payload that moves between NICs only through memory (one machine, virtual cables) needs
 * no ECRC, as local TCP needs no checksum. It is left out in frames that a host passes directly to
 * another host which has called tn_nic_rx_memory(), and is computed by the NIC that sends the
 * packet over a real cable. If a receiver checks it nevertheless, it asks for the packet again, and
 * the replay has the ECRC.
 *
 * Training (train.h) precedes the handshake at every power-up. It is repeated, with the RETRY
 * buffer kept, on request or when an eye has closed. An end that trains its receiver receives
 * nothing, and so does not echo nonces: its peer cannot come up before it. Frames sent to it
 * meanwhile are replayed. Without a SerDes, training ends at once.
 *
 * Marked copies. A NIC that forwards a packet before it has received all of it (cut-through) may
 * find at the end that the packet is damaged. It marks the copy in VB and sends the good packet
 * later, with its own TSEQ. This NIC stores and checks whole packets, so it has no need of this,
 * but it can be told to send such copies (@marks), to test its peers. The copy has a TSEQ and takes
 * a packet buffer; no copy is sent if the good packet might then have to wait for a buffer. The
 * peer returns the buffer at once and counts the copy in vb_drops. The copy belongs to no flow:
 * neither end counts it as a packet of a colour (TORUS_FC_LINK_TX, _RX), because the sums of a
 * recovery would never agree; and if the link fails it is dropped, not parked.
 *
 * Pacing. A simulated cable, or Ethernet between software NICs, does not become slower when its
 * receiver loses lanes or takes a lower rate. With @pace set, a link sends at 1/@pace of the rate
 * that the peer's receiver has announced; the full rate is more than software can send. While a
 * frame takes its time on the wire only INITs are sent; RETRY buffer and credits then stop further
 * packets, as on a slow cable. A timer that is late by less than PACE_LATE does not lower the rate.
 *
 * A link that fails gives its RETRY buffer to the NIC, with the session and the TSEQs. The peer may
 * have accepted the first packets of it; it reports how many in its next INIT (last session, RSEQ)
 * or through the fabric manager.
 *
 * Tests. tests/spin/link.pml proves handshake, retraining and retry for small numbers.
 * tests/unit/test_link_times.c has delayed INITs and versions, test_link_retrain.c sessions that
 * continue, test_link_states.c the arrows above, test_link_rx.c marked copies and check sums,
 * test_link.c whole links over a bad cable.
 */
#ifndef TN_LINK_H
#define TN_LINK_H

#include "credit.h"
#include "fault.h"
#include "nic.h"
#include "retry.h"
#include "train.h"

#define TN_LINK_CTL_SLACK 64	/* control packets beyond retry_packets */

struct tn_link;

/**
 * struct tn_link_ops - what a link asks of the NIC around it
 * @accept: a DATA or UNREACH packet, now owned by the callee; in_port and in_vc
 *	are set and a buffer is occupied until tn_link_freed()
 * @acked: the peer has the packets of @done; the callee takes them
 * @failed: the link left up; the callee takes the packets of @retry
 * @changed: the state changed; or it is UP as before, and the margin has fallen below the
 *	threshold of training, or risen above it; or it is the same, and its reason says why the
 *	ends cannot come up
 * @asked: MBS: the peer asks for a false packet on @vc
 * @false_came: MBS: a false packet arrived, and its buffer is occupied until tn_link_freed();
 *	@handed: it carries a critical bubble of the peer
 * @peer_seq: the peer has accepted all packets of the last session before @seq; or, with @none, no
 *	packets are known to be accepted: it never was up in that session (it lacked our last
 *	INIT), or has restarted
 */
struct tn_link_ops {
	void (*accept)(void *ctx, struct tn_link *l, struct tn_pkt *pkt);
	void (*acked)(void *ctx, struct tn_queue *done);
	void (*failed)(void *ctx, struct tn_link *l, struct tn_queue *retry, u64 now);
	void (*changed)(void *ctx, struct tn_link *l, u8 old_state);
	void (*asked)(void *ctx, struct tn_link *l, unsigned int vc, u64 now);
	void (*false_came)(void *ctx, struct tn_link *l, unsigned int vc, bool handed, u64 now);
	void (*peer_seq)(void *ctx, struct tn_link *l, bool none, u16 seq);
};

struct tn_link {
	const struct tn_link_ops *ops;
	void *ctx;
	const struct tn_ops *host_ops;
	void *host;
	const struct tn_params *params;
	u64 guid;
	u32 epoch;
	u32 frame_max;		/* of this link, if less than params'; 0: is not */
	u32 large_max;		/* as in struct tn_nic_config */
	u32 small_max;		/* likewise */
	u8 port;
	bool tx_memory;		/* see Memory, above */
	bool rx_memory;

	u8 state;
	u8 reason;
	bool admin;
	bool carrier;
	bool closed;		/* set by the NIC: packets are parked until it is reopened */

	/* Packets that are to be sent. */
	bool init_now;
	bool ack_now;
	bool credit_now;
	u8 asks;		/* mask of VCs for which to request a false packet */
	bool paced;		/* the wire is occupied until @free_at */

	struct tn_retry retry;
	u32 retry_packets;	/* RETRY buffer: as in params, or what the protocol allows */
	u8 retry_wanted;	/* enum torus_retry */
	u8 retry_said;		/* in the INITs of this attempt */
	u8 differs;		/* enum torus_differs; NOTHING unless @reason says so */
	u32 differs_own;	/* value of this end */
	u32 differs_peer;
	u8 wire_highest;	/* highest version that its INITs announce */
	u8 wire;		/* version of this or the last session; 0: there was none */
	struct tn_credit credit;
	u32 stuck[TORUS_VCS];	/* tn_bubble.since of each VC */
	struct tn_fault marks;	/* selects DATA and UNREACH packets that get a marked copy */
	struct tn_train train;
	u64 look_at;		/* when to measure the eyes, or to train again after a failure */
	bool was_faulty;	/* before this training */
	u8 width;		/* lanes that the last training left */
	u32 unacked;		/* accepted since the last header sent */
	u32 eager;		/* packets to acknowledge at once: errors were seen */

	u32 seed;		/* of the LCRCs of the present or last up time */
	u32 session;		/* of that up time */
	u32 last_session;	/* the session before this attempt, */
	u16 last_rseq;		/* and its RSEQ, as INITs of this attempt report them */
	u32 nonce;
	u32 attempt;		/* nonces drawn so far */
	u32 peer_nonce;		/* received in this attempt; 0: none */
	u32 peer_epoch;
	u32 peer_attempt;	/* of the newest INIT received in that epoch, */
	u64 attempt_at;		/* and when it was received */
	u32 up_attempt;		/* attempt of the peer that led to the last up time */
	u64 peer_guid;
	u32 peer_mbps;		/* rate of its receiver; 0: not announced */
	u8 peer_port;
	bool peer_up;		/* it has shown that it is up in this session */
	bool resume;		/* this attempt can resume @session */
	u16 first_tseq;
	u16 occupied[TORUS_VCS];

	/* Times; 0 or ~0: not running. */
	u64 init_at;
	u64 init_gap;
	u64 give_up_at;		/* retraining, or first tries after faulty */
	u64 ack_at;
	u64 credit_at;
	u64 e_at;
	u64 keepalive_at;
	u64 free_at;
	u64 heard_at;
	u64 state_at;		/* when it entered its state */
	u64 since;		/* up to when the time counters are right */
	u64 waiting[TORUS_VCS];	/* since when packets for this VC wait; 0: none do */

	u64 counter[TORUS_PC_COUNT];
	u8 ctl[(2 + TN_INIT_FLITS) * TN_FLIT];	/* header, tail, payload */
};

void tn_link_init(struct tn_link *l, u64 now);
void tn_link_carrier(struct tn_link *l, bool up, u64 now);
void tn_link_admin(struct tn_link *l, bool up, u64 now);
void tn_link_retrain(struct tn_link *l, u64 now);

/** tn_link_rx() - receive a frame that lies in @n pieces (pieces.h) */
void tn_link_rx(struct tn_link *l, const struct tn_seg *seg, unsigned int n, void *owner,
		u64 now);
/* Builds the next frame. Return: its bytes; 0: nothing to send. */
u32 tn_link_tx(struct tn_link *l, struct tn_frame *f, u64 now);
/** tn_link_wants() - Return: true if tn_link_tx() has a frame to send */
bool tn_link_wants(const struct tn_link *l);
void tn_link_poll(struct tn_link *l, u64 now);
u64 tn_link_expiry(const struct tn_link *l);

/**
 * tn_link_may() - Return: true if tn_link_push() may be called for a packet on @vc
 * @bubbles: free buffers that must remain at the peer
 */
bool tn_link_may(const struct tn_link *l, unsigned int vc, unsigned int bubbles);
/** tn_link_push() - queue a packet for pkt->hdr.vc, after tn_link_may() */
void tn_link_push(struct tn_link *l, struct tn_pkt *pkt, u64 now);
/** tn_link_freed() - a packet accepted here left its input buffer; @critical: as a bubble */
void tn_link_freed(struct tn_link *l, unsigned int vc, bool critical, u64 now);
/**
 * tn_link_false() - push a false packet (ring.h)
 * @handed: it carries a critical bubble
 * Return: false: it cannot be sent now.
 */
bool tn_link_false(struct tn_link *l, unsigned int vc, bool handed, u64 now);
int tn_link_mgmt(struct tn_link *l, const u8 *data, unsigned int len, u64 now);
/**
 * tn_link_retry() - ask for a retry protocol
 * @protocol: enum torus_retry; a link that is up keeps its present protocol until the next
 *	session
 */
void tn_link_retry(struct tn_link *l, unsigned int protocol, u64 now);
/**
 * tn_link_serdes() - set the receiver's SerDes, before the link has carrier
 * @serdes: must stay valid; without one, training ends at once
 */
void tn_link_serdes(struct tn_link *l, const struct tn_serdes *serdes);
/** tn_link_cable() - the eyes may have changed: measure them soon */
void tn_link_cable(struct tn_link *l, u64 now);
/** tn_link_account() - bring the time counters up to @now */
void tn_link_account(struct tn_link *l, u64 now);

#endif /* TN_LINK_H */
