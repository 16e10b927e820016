/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One link of a NIC: states, init handshake, retry, credits, frames.
 *
 *   down ──carrier, admin──> training ──> init ──handshake──> up
 *   up ──retraining at either end──> retraining ──handshake──> up, nothing lost
 *   up, retraining ──carrier, silence, retry exhausted, peer──> faulty
 *   faulty ──INIT received, or carrier back──> init;  faulty sends INITs at intervals
 *
 * Training a line before sequence numbers are exchanged is our interpretation: the Angara paper
 * gives the order only in its figure 2a, not in its text.
 *
 * Handshake. Each attempt of an end has a random nonce; its INIT carries this nonce and the one
 * received from the peer. An end that reads its own nonce in the peer's INIT is up, and sends one
 * more INIT. The LCRC seed is made of both nonces. The content of an INIT (sequence numbers,
 * occupied buffers) does not change during an attempt, so it does not matter which copy the peer
 * received. Every LCRC starts from the seed, so frames from another period in which the link was up
 * fail the check. The first seed of a session is its name; the session and its TSEQs continue
 * through every retraining. So both ends mean the same session even if only one of them came up
 * again before the next failure.
 *
 * A retraining keeps the RETRY buffer, the sequence numbers and the credits. Both INITs have
 * RESUME, the same last session, and the RSEQ in it; the sender drops the packets that the peer has
 * accepted and replays the rest. If one end cannot resume the session, the link fails.
 *
 * In the Angara paper an init flit with a new SEQ may also set CTRP of a running link. This NIC
 * does not do that, because neither end would know which earlier packets had arrived. In a
 * retraining each end tells the other which packets it has accepted.
 *
 * Attempts are numbered, so that a receiver recognises an INIT which was delayed until its sender
 * had begun another attempt. The RSEQ in such an INIT belongs to an older session than the one that
 * the receiver needs.
 *
 * Memory. Payload that moves between NICs only through memory (one machine, virtual cables) needs
 * no ECRC, as local TCP needs no checksum. The NIC omits the ECRC in frames that the shell passes
 * directly to another shell which has called tn_nic_rx_memory(). The NIC that later sends the
 * packet over a real cable computes it. If a receiver checks the ECRC although it was omitted, it
 * requests a retransmission, and the replay has the ECRC.
 *
 * Series. A message is cut into packets whose headers are the same except for TSEQ. The receiver
 * reads such a series together: each packet is checked as any other (LCRC, number, ECRC, its tail,
 * a free buffer, memory), but the fields that equal those of the previous packet in the frame are
 * neither decoded nor checked again. The result is the same as for single packets. The previous
 * header was well-formed, and so is an equal one. Its acknowledgement was processed, and the same
 * acknowledgement without E has no further effect (except in the HIPPI protocol, which counts
 * answers: tn_retry_ops.counts). It returns no credits. If any check fails, nothing of the packet
 * has been used, and the packet is read in the ordinary way, which handles errors: so an error
 * costs the same replay as without series. Nothing is sent while a frame is read, so
 * acknowledgements are sent after the frame in both cases. The sender writes the header of a packet
 * as a copy of the previous header in the frame, with another TSEQ, if no other field differs. The
 * acknowledgement is the same in all headers of a frame, because nothing is received while the
 * frame is built.
 *
 * Training (train.h) precedes the handshake at every power-up. It is repeated, with the RETRY
 * buffer kept, on request or when an eye has closed. An end that trains its receiver receives
 * nothing, and so does not echo nonces: its peer cannot come up before the training is done. Frames
 * sent to it meanwhile are replayed. Without a SerDes, training ends at once.
 *
 * Marked copies. A NIC that forwards a packet before it has received all of it (cut-through) may
 * find at the end that the packet is damaged. It marks the copy in VB and sends the good packet
 * later, with its own TSEQ. This NIC stores and checks whole packets, so it never needs to mark
 * one; but it can be set to send marked copies (@marks), to test its peers. The copy has a TSEQ and
 * takes a packet buffer; no copy is sent if the good packet might then have to wait for a buffer.
 * The peer returns the buffer at once and counts the copy in vb_drops. The copy belongs to no flow:
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
 * tests/unit/test_handshake.c has each INIT in each state, test_link_times.c delayed INITs and
 * versions, test_link_retrain.c sessions that continue, test_link_states.c the arrows above,
 * test_link_rx.c marked copies and check sums, test_link_series.c the series of a frame,
 * test_series.c series against single packets, test_link_frames.c what a frame has beside packets,
 * test_link.c whole links over a bad cable.
 */
#ifndef TN_LINK_H
#define TN_LINK_H

#include "credit.h"
#include "fault.h"
#include "nic.h"
#include "retry.h"
#include "train.h"

/* control packets that the RETRY buffer takes beyond retry_packets */
#define TN_LINK_CTL_SLACK 64

struct tn_link;

/**
 * struct tn_link_ops - callbacks of a link into its NIC
 * @accept: the DATA or UNREACH packets of @got, at least one, have arrived in sequence. If there
 *	are several, they are a series (see above): their headers differ in TSEQ only. The callee
 *	now owns them. Their in_port and in_vc are set, and each occupies an input buffer until
 *	tn_link_freed()
 * @acked: the peer has accepted the packets of @done; the callee now owns them
 * @failed: the link has failed; @retry has the packets of its RETRY buffer, which the callee now
 *	owns
 * @changed: the state has changed. Also called in two cases where the state is as before: the link
 *	is UP, and its margin has fallen below or risen above the threshold of training; or the link
 *	is not up, and its reason now says why both ends cannot come up
 * @asked: MBS: the peer asks for a false packet on @vc
 * @false_came: MBS: a false packet arrived, and its buffer is occupied until tn_link_freed();
 *	@handed: it carries a critical bubble of the peer
 * @peer_seq: the peer has accepted all packets of the last session before @seq; with @none it is
 *	not known to have accepted any: it was never up in that session (our last INIT did not reach
 *	it), or it has restarted
 */
struct tn_link_ops {
	void (*accept)(void *ctx, struct tn_link *l, struct tn_queue *got);
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
	/* limit for this link, if it is below that of params; 0: no limit of its own */
	u32 frame_max;
	u32 large_max;		/* as in struct tn_nic_config */
	u32 small_max;		/* as in struct tn_nic_config */
	u8 port;
	bool tx_memory;		/* see "Memory" above */
	bool rx_memory;
	bool rx_checked;	/* the host has checked the ECRCs of received packets */

	u8 state;
	u8 reason;
	bool admin;
	bool carrier;
	/* set by the NIC: packets for this link are parked until the manager reopens it */
	bool closed;

	/* Kinds of packets that the next frame must have. */
	bool init_now;
	bool ack_now;
	bool credit_now;
	u8 asks;		/* mask of VCs for which a false packet is to be requested (MBS) */
	bool paced;		/* the wire is busy with the last frame until @free_at */

	struct tn_retry retry;
	/* size of the RETRY buffer: as in params, or the protocol's limit if that is less */
	u32 retry_packets;
	u8 retry_wanted;	/* enum torus_retry: the protocol that this end asks for */
	u8 retry_asked;		/* the protocol that the INITs of this attempt ask for */
	/*
	 * enum torus_differs: the setting that differs between both ends; NOTHING unless @reason is
	 * MISMATCH or BUBBLE
	 */
	u8 differs;
	u32 differs_own;	/* value of that setting at this end */
	u32 differs_peer;
	u8 wire_highest;	/* highest wire version that this end announces in its INITs */
	/* wire version of the present session, or of the last one; 0: there was none */
	u8 wire;
	struct tn_credit credit;
	u32 stuck[TORUS_VCS];	/* MBS: tn_bubble.since for each VC */
	/* for tests: selects the packets that get a copy marked as bad (tn_nic_marks()) */
	struct tn_fault marks;
	struct tn_train train;
	/* when to measure the eyes next, or to train again after a failed training */
	u64 look_at;
	bool was_faulty;	/* the link was faulty before this training */
	u8 width;		/* number of lanes that the last training left in use */
	u32 unacked;		/* packets accepted since the last acknowledgement was sent */
	/* how many more packets to acknowledge at once, because errors were seen */
	u32 eager;

	u32 seed;		/* seed of the LCRC since the link last came up */
	u32 session;		/* name of the session since the link last came up */
	/* the session before this attempt, and its RSEQ; the INITs of this attempt contain both */
	u32 last_session;
	u16 last_rseq;
	u32 nonce;
	u32 attempt;		/* number of attempts, each with a nonce of its own, so far */
	u32 peer_nonce;		/* nonce that the peer sent in this attempt; 0: none was received */
	u32 peer_epoch;
	/* attempt number of the newest INIT received with epoch @peer_epoch */
	u32 peer_attempt;
	u64 attempt_at;		/* time at which that INIT was received */
	u32 up_attempt;		/* attempt number of the peer when the link last came up */
	u64 peer_guid;
	/* rate that the peer's receiver has announced; 0: it has announced none */
	u32 peer_mbps;
	u8 peer_port;
	bool peer_up;		/* the peer has shown that it is up in this session */
	bool resume;		/* the INITs of this attempt offer to resume @session */
	u16 first_tseq;
	u16 occupied[TORUS_VCS];

	/* Times in ns; 0 or ~0: the timer is not running. */
	u64 init_at;
	u64 init_gap;
	/* ends a retraining, or the first attempts after the link was faulty */
	u64 give_up_at;
	u64 ack_at;
	u64 credit_at;
	u64 e_at;
	u64 keepalive_at;
	u64 free_at;
	u64 received_at;
	u64 state_at;		/* when the link entered its state */
	u64 since;		/* until when the counters of time in each state are up to date */
	u64 damaged_at;		/* begin of the last second that ERROR_SECONDS counts */
	/* time since which a packet on this VC has waited for this link; 0: none waits */
	u64 waiting[TORUS_VCS];

	u64 counter[TORUS_PC_COUNT];
	/* memory for control packets: header, tail, payload */
	u8 ctl[(2 + TN_INIT_FLITS) * TN_FLIT];
};

void tn_link_init(struct tn_link *l, u64 now);
void tn_link_carrier(struct tn_link *l, bool up, u64 now);
void tn_link_admin(struct tn_link *l, bool up, u64 now);
void tn_link_retrain(struct tn_link *l, u64 now);

/** tn_link_rx() - receive a frame that lies in @n pieces (pieces.h) */
void tn_link_rx(struct tn_link *l, const struct tn_seg *seg, unsigned int n, void *owner,
		u64 now);
/* Builds the next frame to be sent. Return: its bytes; 0 if there is nothing to send. */
u32 tn_link_tx(struct tn_link *l, struct tn_frame *f, u64 now);
/** tn_link_wants() - Return: true if tn_link_tx() has a frame to send */
static inline bool tn_link_wants(const struct tn_link *l)
{
	if (l->init_now)
		return true;
	return l->state == TORUS_LINK_UP && !l->paced &&
	       (tn_retry_ready(&l->retry) || l->ack_now || l->asks ||
		(l->credit_now && tn_credit_owed(&l->credit)));
}

void tn_link_poll(struct tn_link *l, u64 now);
u64 tn_link_expiry(const struct tn_link *l);

/**
 * tn_link_may() - Return: true if tn_link_push() may be called for a packet on @vc
 * @bubbles: free buffers that must remain at the peer
 */
static inline bool tn_link_may(const struct tn_link *l, unsigned int vc, unsigned int bubbles)
{
	return l->state == TORUS_LINK_UP && l->retry.tx.sent.count < l->retry_packets &&
	       tn_credit_may(&l->credit, vc, bubbles);
}

/** tn_link_push() - queue a packet for pkt->hdr.vc, after tn_link_may() */
void tn_link_push(struct tn_link *l, struct tn_pkt *pkt, u64 now);
/**
 * tn_link_push_series() - queue the packets of @some for @vc: there is room for all of them, and
 * nic_marks() is off
 */
void tn_link_push_series(struct tn_link *l, struct tn_queue *some, unsigned int vc, u64 now);
/** tn_link_ack() - acknowledge what was accepted with the next frame, which is sent at once */
void tn_link_ack(struct tn_link *l);
/**
 * tn_link_freed() - return the input buffer of a packet that was accepted on this link; @critical:
 * as a critical bubble
 */
void tn_link_freed(struct tn_link *l, unsigned int vc, bool critical, u64 now);
/** tn_link_freed_some() - return the input buffers of @n packets, none as a critical bubble */
void tn_link_freed_some(struct tn_link *l, unsigned int vc, unsigned int n, u64 now);
/**
 * tn_link_false() - queue a false packet (ring.h)
 * @handed: the packet carries a critical bubble
 * Return: false if it cannot be sent now.
 */
bool tn_link_false(struct tn_link *l, unsigned int vc, bool handed, u64 now);
int tn_link_mgmt(struct tn_link *l, const u8 *data, unsigned int len, u64 now);
/**
 * tn_link_retry() - set the retry protocol that this end asks for
 * @protocol: enum torus_retry
 * A link that is up keeps its present protocol until the next session.
 */
void tn_link_retry(struct tn_link *l, unsigned int protocol, u64 now);
/**
 * tn_link_serdes() - set the receiver's SerDes, before the link has carrier
 * @serdes: must stay valid; without one, training ends at once
 */
void tn_link_serdes(struct tn_link *l, const struct tn_serdes *serdes);
/** tn_link_cable() - called when the eyes may have changed: the link measures them soon */
void tn_link_cable(struct tn_link *l, u64 now);
/** tn_link_account() - bring the time counters up to @now */
void tn_link_account(struct tn_link *l, u64 now);

#endif /* TN_LINK_H */
