/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One link of a NIC: states, init handshake, retry, credits, frames.
 *
 *   down ──carrier, admin──> training ──> init ──handshake──> up
 *   up ──retrain, or the peer's──> retraining ──handshake──> up, nothing lost
 *   up, retraining ──carrier, silence, retry exhausted, peer──> faulty
 *   faulty ──an INIT heard, or carrier back──> init;  faulty probes meanwhile
 *
 * That a line is trained before numbers are exchanged is our reading: the figure of the Angara
 * paper that shows the order (2a) is not in its text.
 *
 * Handshake. Each attempt of an end has a random nonce; its INIT carries the
 * nonce and the one it heard. An end that reads its own nonce in the peer's INIT
 * is up, with an LCRC seed made of both nonces, and says so once more by an INIT.
 * All that an INIT promises (sequence numbers, occupied buffers) is frozen with
 * the nonce, so which copy of it the peer read does not matter. The seed starts
 * every LCRC: frames of another up time are noise. The first seed names the
 * session, which goes on, with its TSEQs, through every retraining: so what an
 * end says of the session is understood even if only one of them had come up
 * again before the next failure.
 *
 * Retraining keeps RETRY buffer, sequence and credits: both INITs say RESUME,
 * the same last session, and what was accepted in it; the sender drops that
 * and replays the rest. If either end cannot resume, the link fails first.
 *
 * The Angara paper also lets an init flit with a new SEQ set CTRP in a running link. Not here: of
 * the packets in between nobody could say which had arrived. A retraining asks both ends how far
 * they got, and goes on from there.
 *
 * Attempts are numbered, so that an INIT that was still on its way when its
 * sender began anew is known for what it is: what it says of the last session is
 * older than the session that the receiver asks about.
 *
 * Memory. Payload that goes from NIC to NIC by memory alone (one host, virtual
 * cables) needs no ECRC, as local TCP needs no checksum: it is left out on frames
 * that the host gives straight to another such host, who says so when it gives
 * them to tn_nic_rx(), and is computed by whoever sends the packet elsewhere.
 * Should it be checked after all somewhere, the replay has it.
 *
 * Training (train.h) comes before the handshake on every power-up, and again when
 * somebody asks or an eye has closed, the RETRY buffer kept. It is the receiver
 * that trains and is deaf meanwhile; an end that is deaf does not echo nonces, so
 * that its peer does not come up before it. Frames that came while it was deaf are
 * replayed. Without a SerDes all of this is over at once.
 *
 * Marked copies. A NIC that begins to send a packet before it has received all of it
 * (cut-through) finds out too late that it is damaged, and says so in VB; the good one
 * follows, as a packet of its own. This NIC stores a packet whole and checks it before it
 * goes on, so it never has to; but it can be told to (@marks), so that its peers' handling
 * can be tried. The copy has a TSEQ and takes a packet buffer like any packet, and none is
 * made if the good packet might then have to wait for one. The peer gives the buffer back at
 * once and counts the copy in vb_drops. It belongs to no flow: neither end counts it as a packet of
 * a colour (TORUS_FC_LINK_TX, _RX), or the sums of a recovery would never agree; and if the
 * link fails it is dropped, not parked.
 *
 * Pacing. A cable that is modelled, or is Ethernet between software NICs, does not become slow
 * when its receiver gives up lanes or takes a lower rate. If asked to (@pace), a link sends
 * one @pace-th of what the peer's receiver said that it takes: the whole of it is more than
 * software sends. A frame takes its time on the wire, and nothing but INITs is sent
 * meanwhile; RETRY buffer and credits then hold back what is behind it, as with a slow line. A
 * timer that is late by less than PACE_LATE takes nothing from the rate.
 *
 * Failing gives the RETRY buffer to the NIC, with the session and TSEQs: the
 * peer may have accepted a first part of it. How much, it says itself: in its
 * next INIT (last session, RSEQ) or through the fabric manager.
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
 * @changed: the state changed; or, with UP as @old_state and still up, its margin has
 *	fallen below what training would take, or is above it again
 * @peer_seq: what the peer accepted of the last session: all before @seq, or
 *	@none: it never was up in it (our packets came to a peer that lacked our
 *	last INIT), or nobody knows any more (it restarted)
 */
struct tn_link_ops {
	void (*accept)(void *ctx, struct tn_link *l, struct tn_pkt *pkt);
	void (*acked)(void *ctx, struct tn_queue *done);
	void (*failed)(void *ctx, struct tn_link *l, struct tn_queue *retry, u64 now);
	void (*changed)(void *ctx, struct tn_link *l, u8 old_state);
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
	bool closed;		/* the NIC's: divert to parking until reopened */

	/* What has to go onto the wire. */
	bool init_now;
	bool ack_now;
	bool credit_now;
	bool paced;		/* the wire is taken until @free_at */

	struct tn_retry retry;
	u32 retry_packets;	/* RETRY buffer: as in params, or what the protocol allows */
	u8 retry_wanted;	/* enum torus_retry */
	u8 retry_said;		/* in the INITs of this attempt */
	u8 wire_highest;	/* version that INITs say it speaks */
	u8 wire;		/* version of this or the last session; 0: there was none */
	struct tn_credit credit;
	struct tn_fault marks;	/* DATA and UNREACH packets that a marked copy goes before */
	struct tn_train train;
	u64 look_at;		/* at the eyes, or when to train again after a failure */
	bool was_faulty;	/* before this training */
	u8 width;		/* lanes that the last training left */
	u32 unacked;		/* accepted since the last header sent */
	u32 eager;		/* packets to acknowledge at once: errors were seen */

	u32 seed;		/* of the LCRCs of the present or last up time */
	u32 session;		/* that it belongs to */
	u32 last_session;	/* what INITs of this attempt say of the time before */
	u16 last_rseq;
	u32 nonce;
	u32 attempt;		/* nonces drawn so far */
	u32 peer_nonce;		/* heard; 0 none */
	u32 peer_epoch;
	u32 peer_attempt;	/* of the newest INIT heard in that epoch, */
	u64 attempt_at;		/* and when that was */
	u32 up_attempt;		/* of the peer, that led to the last up time */
	u64 peer_guid;
	u32 peer_mbps;		/* its receiver takes; 0: it did not say */
	u8 peer_port;
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
	u64 since;		/* time counters are right up to here */
	u64 waiting[TORUS_VCS];	/* packets for this VC have waited since then; 0: none do */

	u64 counter[TORUS_PC_COUNT];
	u8 ctl[(2 + TN_INIT_FLITS) * TN_FLIT];	/* header, tail, payload */
};

void tn_link_init(struct tn_link *l, u64 now);
void tn_link_carrier(struct tn_link *l, bool up, u64 now);
void tn_link_admin(struct tn_link *l, bool up, u64 now);
void tn_link_retrain(struct tn_link *l, u64 now);

/** tn_link_rx() - a frame came, in @n pieces (pieces.h) */
void tn_link_rx(struct tn_link *l, const struct tn_seg *seg, unsigned int n, void *owner,
		u64 now);
/* Return: bytes, 0 for nothing. */
u32 tn_link_tx(struct tn_link *l, struct tn_frame *f, u64 now);
/** tn_link_wants() - tn_link_tx() would give a frame */
bool tn_link_wants(const struct tn_link *l);
void tn_link_poll(struct tn_link *l, u64 now);
u64 tn_link_expiry(const struct tn_link *l);

/**
 * tn_link_may() - may a packet be pushed now?
 * @bubbles: free buffers that must remain behind it at the peer
 */
bool tn_link_may(const struct tn_link *l, unsigned int vc, unsigned int bubbles);
/** tn_link_push() - after tn_link_may(); pkt->hdr.vc says which VC */
void tn_link_push(struct tn_link *l, struct tn_pkt *pkt, u64 now);
/** tn_link_freed() - a packet accepted here left its input buffer */
void tn_link_freed(struct tn_link *l, unsigned int vc, u64 now);
int tn_link_mgmt(struct tn_link *l, const u8 *data, unsigned int len, u64 now);
/**
 * tn_link_retry() - ask for a retry protocol
 * @protocol: enum torus_retry; a link that is up keeps to what it speaks until it
 *	begins a new session
 */
void tn_link_retry(struct tn_link *l, unsigned int protocol, u64 now);
/**
 * tn_link_serdes() - the receiver's SerDes, before there is a carrier
 * @serdes: kept; without one a link trains at once
 */
void tn_link_serdes(struct tn_link *l, const struct tn_serdes *serdes);
/** tn_link_cable() - eyes may have changed: look at them soon */
void tn_link_cable(struct tn_link *l, u64 now);
/** tn_link_account() - bring the time counters up to @now */
void tn_link_account(struct tn_link *l, u64 now);

#endif /* TN_LINK_H */
