// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handshake of a link: its INITs, what they agree on, and what keeps two ends from coming up;
 * link.h has the rules and the state diagram.
 */
#include "linkstate.h"

static u16 slot_flits(const struct tn_link *l)
{
	return (u16)(tn_packet_max(l->params) / TN_FLIT);
}

void tn_link_build_init(struct tn_link *l, u64 now)
{
	struct tn_hdr h = { .type = TN_INIT, .len = TN_INIT_FLITS };
	struct tn_tail t = { 0 };
	struct tn_init i = {
		.guid = l->guid,
		.lowest = TN_WIRE_OLDEST,
		.highest = l->wire_highest > TN_WIRE_OLDEST ? l->wire_highest : 0,
		.epoch = l->epoch,
		.nonce = l->nonce,
		.nonce_received = l->train.state == TN_TRAIN_DONE ? l->peer_nonce : 0,
		.attempt = l->attempt,
		.last_session = l->last_session,
		.last_rseq = l->last_rseq,
		.first_tseq = l->first_tseq,
		.slot_flits = slot_flits(l),
		.port = l->port,
		.resume = l->resume,
		.up = l->state == TORUS_LINK_UP,
		.retry = l->retry_asked,
		.mbps = tn_train_mbps(&l->train),
		.bubble = (u8)l->params->bubble,
	};
	unsigned int vc;

	/* 0 would mean that no nonce was received */
	tn_assert(i.nonce && i.nonce != i.nonce_received);
	for (vc = 0; vc < TORUS_VCS; vc++) {
		i.slots[vc] = (u16)l->params->slots;
		i.occupied[vc] = l->occupied[vc];
	}
	if (l->state != TORUS_LINK_UP) {
		l->init_at = now + l->init_gap;
		/* No back-off in a retraining, because traffic waits for it. */
		if (l->state != TORUS_LINK_RETRAINING)
			l->init_gap = tn_min_time(2 * l->init_gap, l->params->probe_interval);
	}
	tn_hdr_put(l->ctl, &h);
	tn_init_put(l->ctl + 2 * TN_FLIT, &i);
	t.ecrc = tn_ecrc(l->ctl + 2 * TN_FLIT, &h, &t);
	tn_tail_put(l->ctl + TN_FLIT, &t);
	tn_lcrc_set(l->ctl, ~0u);
}

/* Return: the LCRC seed made of both nonces: the same at both ends, and never 0. */
static u32 seed_of(u32 a, u32 b)
{
	u8 buf[8];
	u32 s;

	tn_put_le32(buf, a < b ? a : b);
	tn_put_le32(buf + 4, a < b ? b : a);
	s = tn_crc32c(~0u, buf, sizeof(buf));
	return s ? s : 1;
}

/*
 * Starts the retry protocol of a session: the one that this end asks for; if it asks for none, the
 * one that the peer asks for; if neither does, Angara's. The papers do not say who chooses; each
 * describes one protocol for all links.
 */
static void begin_retry(struct tn_link *l, const struct tn_init *i, u64 now)
{
	const struct tn_retry_ops *ops = tn_retry_of(l->retry_asked ? l->retry_asked : i->retry);
	u32 most;

	if (!ops)
		ops = &tn_retry_angara;
	tn_retry_start(&l->retry, ops, l->first_tseq, i->first_tseq, now);
	tn_assert(ops->limit > TN_LINK_CTL_SLACK && ops->limit <= TN_SEQ_MASK / 2);
	most = ops->limit - TN_LINK_CTL_SLACK;
	l->retry_packets = l->params->retry_packets < most ? l->params->retry_packets : most;
}

/*
 * Resumes the session if the RSEQ in the peer's INIT is possible. Return: false if it is not; then
 * the link has failed.
 */
static bool resume_session(struct tn_link *l, const struct tn_init *i, u64 now)
{
	struct tn_queue done = { 0 };
	enum tn_ack ack = tn_retry_ack(&l->retry, i->last_rseq, &done, now);

	l->ops->acked(l->ctx, &done);
	if (ack != TN_ACK_OK) {
		/* the next attempt begins a new session */
		tn_link_fail(l, TORUS_REASON_PEER, now);
		return false;
	}
	tn_retry_resume(&l->retry, now);
	if (l->retry.tx.next)
		l->counter[TORUS_PC_RETRIES]++;
	return true;
}

static bool begin_session(struct tn_link *l, const struct tn_init *i, u64 now)
{
	if (!tn_credit_start(&l->credit, i->slots, i->occupied)) {
		l->counter[TORUS_PC_MALFORMED]++;
		return false;
	}
	begin_retry(l, i, now);
	l->wire = (u8)tn_init_version(i, l->wire_highest);
	return true;
}

/*
 * Brings the link up; called when both ends know both nonces. @i is the INIT of the peer. In a
 * retraining it asks to resume the session, which tn_link_receive_init() has checked.
 */
static void enter_up(struct tn_link *l, const struct tn_init *i, u64 now)
{
	bool resume = l->state == TORUS_LINK_RETRAINING;

	tn_assert(resume || l->state == TORUS_LINK_INIT);
	tn_assert(l->admin && l->carrier);
	tn_assert(l->train.state == TN_TRAIN_DONE);
	tn_assert(l->nonce && l->peer_nonce && l->nonce != l->peer_nonce);
	if (!(resume ? resume_session(l, i, now) : begin_session(l, i, now)))
		return;
	tn_link_stop_timers(l);
	l->seed = seed_of(l->nonce, l->peer_nonce);
	if (!resume)
		l->session = l->seed;
	tn_assert(l->retry_packets && l->retry_packets <= TN_RETRY_MAX);
	tn_assert(l->wire >= TN_WIRE_OLDEST && l->wire <= l->wire_highest);
	l->up_attempt = l->peer_attempt;
	l->peer_mbps = i->mbps;
	l->peer_up = i->up;
	l->paced = false;
	l->free_at = now;
	l->unacked = 0;
	/*
	 * send another INIT, because the peer may not have received the one that echoes its nonce
	 */
	l->init_now = true;
	if (tn_credit_owed(&l->credit))
		l->credit_at = now + l->params->ack_delay;
	tn_link_note_sent(l, now);
	tn_link_set_state(l, TORUS_LINK_UP, now);
}

/*
 * Return: true if the INIT @i is outdated and must be ignored. There are two cases: its sender has
 * begun a later attempt since; or this end is not up, and the INIT is of the attempt by which the
 * link last came up and does not echo the present nonce (if it echoed that, the sender never came
 * up). A delayed INIT arrives within the time @silence. If the newest INIT is older than that, its
 * number is not trusted: it may have been forged.
 */
static bool is_outdated_init(const struct tn_link *l, const struct tn_init *i, u64 now)
{
	if (i->guid != l->peer_guid || i->epoch != l->peer_epoch)
		return false;
	return ((s32)(i->attempt - l->peer_attempt) < 0 &&
		now - l->attempt_at < l->params->silence) ||
	       (l->state != TORUS_LINK_UP && i->attempt == l->up_attempt &&
		i->nonce_received != l->nonce);
}

/*
 * A setting that differs between two ends and keeps them from coming up: enum torus_differs, and
 * the value of each end.
 */
struct difference {
	u8 what;
	u32 own;
	u32 peer;
};

/* Return: the parameter payload_max of a NIC whose packet buffers have @flits flits. */
static u32 payload_of(u32 flits)
{
	u32 bytes = flits * TN_FLIT;

	return bytes > TN_AROUND_MAX ? bytes - TN_AROUND_MAX : 0;
}

static u16 fewest_slots(const struct tn_init *i)
{
	u16 fewest = i->slots[0];
	unsigned int vc;

	for (vc = 1; vc < TORUS_VCS; vc++) {
		if (i->slots[vc] < fewest)
			fewest = i->slots[vc];
	}
	return fewest;
}

/* Return: the difference that keeps this end and the sender of @i from coming up. */
static struct difference find_difference(const struct tn_link *l, const struct tn_init *i)
{
	u32 slots = fewest_slots(i), needed = tn_slots_min(l->credit.policy);

	if (i->bubble != l->params->bubble)
		return (struct difference) { TORUS_DIFFERS_BUBBLE, l->params->bubble, i->bubble };
	if (i->slot_flits != slot_flits(l))
		return (struct difference) { TORUS_DIFFERS_PAYLOAD_MAX,
			payload_of(slot_flits(l)), payload_of(i->slot_flits) };
	if (l->retry_asked && i->retry && l->retry_asked != i->retry)
		return (struct difference) { TORUS_DIFFERS_RETRY, l->retry_asked, i->retry };
	if (slots < needed)
		return (struct difference) { TORUS_DIFFERS_SLOTS, needed, slots };
	return (struct difference) { TORUS_DIFFERS_NOTHING, 0, 0 };
}

/*
 * Return: as the difference of two ends without a common wire version, the two versions that are
 * nearest to each other.
 */
static struct difference version_difference(const struct tn_link *l, const struct tn_init *i)
{
	if (i->lowest > l->wire_highest)
		return (struct difference) { TORUS_DIFFERS_WIRE, l->wire_highest, i->lowest };
	return (struct difference) { TORUS_DIFFERS_WIRE, TN_WIRE_OLDEST,
		i->highest ? i->highest : i->lowest };
}

/*
 * Reports a difference as an event, because the state does not change and so no other event shows
 * it; the same difference is reported once. The handshake continues even if the link was faulty
 * before, because the next INIT of the peer would restart it anyway.
 */
static void report_mismatch(struct tn_link *l, struct difference d)
{
	bool known = l->differs == d.what && l->differs_own == d.own && l->differs_peer == d.peer;

	if (l->state == TORUS_LINK_INIT)
		l->give_up_at = TN_NEVER;
	l->reason = d.what == TORUS_DIFFERS_BUBBLE ? TORUS_REASON_BUBBLE : TORUS_REASON_MISMATCH;
	l->differs = d.what;
	l->differs_own = d.own;
	l->differs_peer = d.peer;
	if (!known)
		l->ops->changed(l->ctx, l, l->state);
}

/*
 * Return: true if this NIC supports a wire version of the INIT, and its fields are valid. If not,
 * the INIT is counted as malformed.
 */
static bool check_init_version(struct tn_link *l, const struct tn_init *i)
{
	bool version = tn_init_version(i, l->wire_highest);

	if (version && i->slot_flits && i->nonce)
		return true;
	l->counter[TORUS_PC_MALFORMED]++;
	if (!version && (l->state == TORUS_LINK_INIT || l->state == TORUS_LINK_FAULTY))
		report_mismatch(l, version_difference(l, i));
	return false;
}

void tn_link_receive_init(struct tn_link *l, const u8 *payload, u64 now)
{
	struct difference d;
	struct tn_init i;

	tn_init_get(payload, &i);
	if (!check_init_version(l, &i))
		return;
	if (!l->admin || !l->carrier || i.nonce == l->nonce)
		return;		/* our own INIT: the cable leads back to the same port */
	if (is_outdated_init(l, &i, now))
		return;
	if (l->state == TORUS_LINK_UP) {
		if (i.nonce == l->peer_nonce) {
			l->received_at = now;
			l->peer_up = l->peer_up || i.up;
			if (!i.up)
				l->init_now = true;
			return;
		}
		if (i.resume && i.last_session == l->session && i.epoch == l->peer_epoch)
			tn_link_begin_retraining(l, true, now);
		else
			tn_link_fail(l, TORUS_REASON_PEER, now);
	}
	if (!i.resume || i.last_session != l->session)
		tn_link_fail(l, TORUS_REASON_PEER, now);	/* if it is retraining */
	if (l->session && l->state != TORUS_LINK_RETRAINING)
		l->ops->peer_seq(l->ctx, l, i.last_session != l->session, i.last_rseq);
	/* A line that carried an INIT is already trained. */
	if (l->state == TORUS_LINK_FAULTY) {
		l->was_faulty = true;
		tn_link_set_state(l, TORUS_LINK_TRAINING, now);
		tn_link_start_init(l, now);
	}
	d = find_difference(l, &i);
	if (d.what) {
		l->peer_guid = i.guid;
		l->peer_port = i.port;
		report_mismatch(l, d);
		return;
	}
	tn_link_forget_mismatch(l);
	if (l->state != TORUS_LINK_RETRAINING &&
	    !tn_credit_room(&l->credit, i.slots, i.occupied))
		/* the peer begins another attempt as soon as it has a free buffer */
		return;
	if (i.nonce == l->nonce)
		/* by chance, this end drew the same nonce for the attempt that this INIT caused */
		return;
	l->peer_nonce = i.nonce;
	l->peer_epoch = i.epoch;
	l->peer_attempt = i.attempt;
	l->attempt_at = now;
	l->peer_guid = i.guid;
	l->peer_port = i.port;
	l->received_at = now;
	if (i.nonce_received == l->nonce)
		enter_up(l, &i, now);
	else
		l->init_now = true;
}
