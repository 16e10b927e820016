// SPDX-License-Identifier: GPL-2.0-only
/* States of a link, its handshake and timers; link.h has the state diagram. */
#include "linkstate.h"

#define NEVER (~0ull)
/* retransmit timeout of a full window: four round trips and this, ns */
#define WINDOW_TIMEOUT_MIN 100000

static void start_init(struct tn_link *l, u64 now);
static void start_probing(struct tn_link *l, u64 now);
static void begin_retraining(struct tn_link *l, bool near, u64 now);

static u64 min_time(u64 a, u64 b)
{
	return a < b ? a : b;
}

/*
 * Return: true if the state diagram of link.h allows this change; a change to DOWN always is
 * allowed.
 */
static bool is_arrow(u8 from, u8 to)
{
	switch (to) {
	case TORUS_LINK_DOWN:
		return true;
	case TORUS_LINK_TRAINING:
		return from != TORUS_LINK_UP && from != TORUS_LINK_RETRAINING;
	case TORUS_LINK_INIT:
		return from == TORUS_LINK_TRAINING;
	case TORUS_LINK_UP:
		return from == TORUS_LINK_INIT || from == TORUS_LINK_RETRAINING;
	case TORUS_LINK_RETRAINING:
		return from == TORUS_LINK_UP;
	case TORUS_LINK_FAULTY:
		return from != TORUS_LINK_DOWN;
	default:
		return false;
	}
}

static void set_state(struct tn_link *l, u8 state, u64 now)
{
	u8 old = l->state;

	if (old == state)
		return;
	tn_assert(is_arrow(old, state));
	tn_link_account(l, now);
	l->state = state;
	l->state_at = now;
	l->counter[TORUS_PC_STATE_CHANGES]++;
	l->ops->changed(l->ctx, l, old);
}

/*
 * Return: how long a peer may be silent in a handshake. It sends INITs up to probe_interval apart,
 * so a shorter silence would end each attempt before the answer to it arrives.
 */
static u64 handshake_silence(const struct tn_link *l)
{
	u64 probes = 3 * (u64)l->params->probe_interval;

	return probes > l->params->silence ? probes : l->params->silence;
}

/*
 * Return: when the peer of a link that is up counts as silent. Until the peer has shown that it is
 * up too, the longer limit of the handshake applies.
 */
static u64 silent_at(const struct tn_link *l)
{
	return l->heard_at + (l->peer_up ? l->params->silence : handshake_silence(l));
}

static void stop_timers(struct tn_link *l)
{
	l->init_at = NEVER;
	l->give_up_at = NEVER;
	l->ack_at = NEVER;
	l->credit_at = NEVER;
	l->e_at = NEVER;
	l->keepalive_at = NEVER;
	l->init_now = false;
	l->asks = 0;
	l->ack_now = false;
	l->credit_now = false;
}

void tn_link_init(struct tn_link *l, u64 now)
{
	l->state = TORUS_LINK_DOWN;
	l->admin = true;
	l->since = now;
	l->state_at = now;
	l->look_at = NEVER;
	tn_link_serdes(l, NULL);
	stop_timers(l);
	tn_retry_start(&l->retry, &tn_retry_angara, 0, 0, now);
	l->retry_wanted = (u8)l->params->retry;
	l->wire_highest = TN_WIRE_VERSION;
	l->credit.policy = (u8)tn_bubble_policy_of(l->params->bubble);
}

/* --- training ---------------------------------------------------------------- */

static void finish_training(struct tn_link *l, u64 now)
{
	const struct tn_serdes *s = l->train.serdes;
	u8 width = (u8)tn_train_width(&l->train);

	if (s) {
		if (width < l->width)
			l->counter[TORUS_PC_LANES_SHED] += l->width - width;
		l->width = width;
		l->look_at = s->steady ? NEVER : now + l->params->eye_interval;
	}
	if (l->state == TORUS_LINK_TRAINING) {
		start_init(l, now);
	} else if (l->state == TORUS_LINK_RETRAINING) {
		l->init_now = true;
		l->give_up_at = now + l->params->retrain_time;
	}
}

/*
 * Called when no lane is usable: stops sending, so that the peer notices, and schedules another
 * training.
 */
static void fail_training(struct tn_link *l, u64 now)
{
	l->counter[TORUS_PC_TRAIN_FAILURES]++;
	l->look_at = now + l->params->probe_interval;
	if (l->state == TORUS_LINK_RETRAINING) {
		tn_link_fail(l, TORUS_REASON_TRAINING, now);
	} else if (l->state == TORUS_LINK_TRAINING) {
		tn_assert(!l->differs);	/* no INIT was received yet that could show a difference */
		l->reason = TORUS_REASON_TRAINING;
		if (l->was_faulty)
			start_probing(l, now);
	}
}

static void train_poll(struct tn_link *l, u64 now)
{
	if (l->train.state != TN_TRAIN_BUSY)
		return;
	tn_train_poll(&l->train, now);
	if (l->train.state == TN_TRAIN_DONE)
		finish_training(l, now);
	else if (l->train.state == TN_TRAIN_IDLE)
		fail_training(l, now);
}

/* Begins training. The first step runs at once; without a cable it is also the last one. */
static void begin_training(struct tn_link *l, bool near, u64 now)
{
	tn_train_begin(&l->train, near, now);
	if (l->train.state == TN_TRAIN_DONE)
		finish_training(l, now);
	else
		train_poll(l, now);
}

/*
 * Return: true if the margin is below the threshold of training. The link reports this but does not
 * retrain for it.
 */
static bool has_thin_margin(const struct tn_link *l)
{
	return tn_train_margin(&l->train) < l->train.params.margin_train;
}

static void check_eye(struct tn_link *l, u64 now)
{
	bool was_thin, bad;

	if (l->train.state == TN_TRAIN_IDLE) {
		begin_training(l, false, now);
		return;
	}
	l->look_at = l->train.serdes->steady ? NEVER : now + l->params->eye_interval;
	was_thin = has_thin_margin(l);
	bad = tn_train_watch(&l->train, now);
	if (!bad && has_thin_margin(l) != was_thin && l->state == TORUS_LINK_UP)
		l->ops->changed(l->ctx, l, l->state);
	if (!bad)
		return;
	l->counter[TORUS_PC_EYE_RETRAINS]++;
	if (l->state == TORUS_LINK_UP)
		begin_retraining(l, true, now);
	else
		begin_training(l, true, now);
}

static void poll_serdes(struct tn_link *l, u64 now)
{
	if (!l->admin || !l->carrier)
		return;
	train_poll(l, now);
	if (l->train.state != TN_TRAIN_BUSY && now >= l->look_at)
		check_eye(l, now);
}

static u64 serdes_expiry(const struct tn_link *l)
{
	if (!l->admin || !l->carrier)
		return NEVER;
	return l->train.state == TN_TRAIN_BUSY ? tn_train_expiry(&l->train) : l->look_at;
}

void tn_link_serdes(struct tn_link *l, const struct tn_serdes *serdes)
{
	const struct tn_params *p = l->params;
	const struct tn_train_params train = {
		.target_ber = p->target_ber,
		.mask_height = p->mask_height,
		.mask_width = p->mask_width,
		.margin_train = p->margin_train,
		.margin_retrain = p->margin_retrain,
	};

	tn_train_init(&l->train, serdes, &train);
	l->width = serdes ? serdes->lanes : 0;
}

void tn_link_cable(struct tn_link *l, u64 now)
{
	if (l->train.serdes)
		l->look_at = now + l->params->eye_interval;
}

/* --- states ------------------------------------------------------------------ */

/*
 * Begins an attempt to bring the link up: draws a nonce and fixes the content of its INITs.
 * Credits for buffers that are freed from now on are reported in the new session.
 */
static void begin_attempt(struct tn_link *l, bool resume, u64 now)
{
	unsigned int vc;

	do {
		l->nonce = l->host_ops->random(l->host);
	} while (!l->nonce);
	tn_assert(!resume || l->session);
	l->attempt++;
	l->peer_nonce = 0;
	l->resume = resume;
	l->last_session = l->session;
	l->last_rseq = l->retry.rx.expected;
	if (resume) {
		l->first_tseq = l->retry.tx.tseq;
		l->retry_said = l->retry.ops->protocol;
	} else {
		l->first_tseq = (u16)(l->host_ops->random(l->host) & TN_SEQ_MASK);
		l->retry_said = l->retry_wanted;
		for (vc = 0; vc < TORUS_VCS; vc++) {
			tn_assert(l->credit.used[vc] <= l->params->slots);
			l->occupied[vc] = l->credit.used[vc];
			l->credit.owed[vc] = 0;
			l->credit.owed_critical[vc] = 0;
		}
	}
	l->init_gap = l->params->init_interval;
	l->init_at = now;
	l->init_now = true;
	l->counter[TORUS_PC_RETRAINS]++;
}

/* Called when training is done: begins the handshake. */
static void start_init(struct tn_link *l, u64 now)
{
	begin_attempt(l, false, now);
	set_state(l, TORUS_LINK_INIT, now);
	l->give_up_at = l->was_faulty ? now + 10 * l->params->init_interval : NEVER;
}

/* Clears the reason why both ends could not come up, because another NIC may be connected now. */
static void forget_mismatch(struct tn_link *l)
{
	if (l->reason == TORUS_REASON_MISMATCH || l->reason == TORUS_REASON_BUBBLE)
		l->reason = TORUS_REASON_NONE;
	l->differs = TORUS_DIFFERS_NOTHING;
}

/*
 * Begins training, from any state in which carrier and admin state are up. The RETRY buffer must be
 * empty.
 */
static void enter_training(struct tn_link *l, u64 now)
{
	tn_assert(l->admin && l->carrier);
	tn_assert(!l->retry.tx.sent.head);
	stop_timers(l);
	forget_mismatch(l);
	l->was_faulty = l->state == TORUS_LINK_FAULTY;
	set_state(l, TORUS_LINK_TRAINING, now);
	begin_training(l, false, now);
}

/*
 * Return: true if an INIT may be sent. Without a trained lane the answer could not be received; but
 * an end that begins a retraining sends an INIT before its receiver is trained.
 */
static bool may_send_init(const struct tn_link *l)
{
	return l->train.state == TN_TRAIN_DONE || l->state == TORUS_LINK_RETRAINING;
}

/* Called when the link is faulty: if it has carrier, it sends an INIT at intervals. */
static void start_probing(struct tn_link *l, u64 now)
{
	stop_timers(l);
	set_state(l, TORUS_LINK_FAULTY, now);
	if (!l->carrier)
		return;
	begin_attempt(l, false, now);
	l->init_now = may_send_init(l);
	l->init_gap = l->params->probe_interval;
}

void tn_link_fail(struct tn_link *l, u8 reason, u64 now)
{
	struct tn_retry_tx *tx = &l->retry.tx;
	struct tn_queue retry = tx->sent;

	if (l->state != TORUS_LINK_UP && l->state != TORUS_LINK_RETRAINING)
		return;
	l->reason = reason;
	l->differs = TORUS_DIFFERS_NOTHING;
	tx->sent = (struct tn_queue) { 0 };
	tx->next = NULL;
	tx->on_wire = 0;
	tx->flits = 0;
	memset(l->waiting, 0, sizeof(l->waiting));
	tn_assert(l->session);
	l->ops->failed(l->ctx, l, &retry, now);
	tn_assert(!retry.head);		/* the callback has taken all packets */
	start_probing(l, now);
}

void tn_link_carrier(struct tn_link *l, bool up, u64 now)
{
	if (l->carrier == up)
		return;
	l->carrier = up;
	if (!l->admin)
		return;
	if (up) {
		enter_training(l, now);
		return;
	}
	if (l->state == TORUS_LINK_UP || l->state == TORUS_LINK_RETRAINING) {
		tn_link_fail(l, TORUS_REASON_CARRIER, now);
	} else {
		stop_timers(l);
		set_state(l, l->session ? TORUS_LINK_FAULTY : TORUS_LINK_DOWN, now);
	}
}

void tn_link_admin(struct tn_link *l, bool up, u64 now)
{
	if (l->admin == up)
		return;
	l->admin = up;
	if (up) {
		if (l->carrier)
			enter_training(l, now);
		return;
	}
	tn_link_fail(l, TORUS_REASON_ADMIN, now);
	stop_timers(l);
	set_state(l, TORUS_LINK_DOWN, now);
}

/*
 * Begins a retraining. The peer gets an INIT at once, so that the receivers of both ends train at
 * the same time.
 */
static void begin_retraining(struct tn_link *l, bool near, u64 now)
{
	tn_assert(l->state == TORUS_LINK_UP);
	begin_attempt(l, true, now);
	set_state(l, TORUS_LINK_RETRAINING, now);
	begin_training(l, near, now);
}

void tn_link_retrain(struct tn_link *l, u64 now)
{
	if (l->state == TORUS_LINK_UP)
		begin_retraining(l, false, now);
	else if (l->admin && l->carrier && l->state != TORUS_LINK_RETRAINING)
		enter_training(l, now);
}

void tn_link_retry(struct tn_link *l, unsigned int protocol, u64 now)
{
	if (l->retry_wanted == protocol)
		return;
	l->retry_wanted = (u8)protocol;
	if (l->state == TORUS_LINK_INIT)
		enter_training(l, now);
}

static u16 slot_flits(const struct tn_link *l)
{
	return (u16)(tn_packet_max(l->params) / TN_FLIT);
}

void tn_link_note_sent(struct tn_link *l, u64 now)
{
	u64 k = l->params->keepalive;

	tn_assert(k);
	/*
	 * The timer expires at multiples of the interval, so that all NICs of a machine wake up at
	 * the same time.
	 */
	l->keepalive_at = (now / k + 1) * k;
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
		.retry = l->retry_said,
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
			l->init_gap = min_time(2 * l->init_gap, l->params->probe_interval);
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
	const struct tn_retry_ops *ops = tn_retry_of(l->retry_said ? l->retry_said : i->retry);
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
	stop_timers(l);
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
	set_state(l, TORUS_LINK_UP, now);
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
	if (l->retry_said && i->retry && l->retry_said != i->retry)
		return (struct difference) { TORUS_DIFFERS_RETRY, l->retry_said, i->retry };
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
	bool told = l->differs == d.what && l->differs_own == d.own && l->differs_peer == d.peer;

	if (l->state == TORUS_LINK_INIT)
		l->give_up_at = NEVER;
	l->reason = d.what == TORUS_DIFFERS_BUBBLE ? TORUS_REASON_BUBBLE : TORUS_REASON_MISMATCH;
	l->differs = d.what;
	l->differs_own = d.own;
	l->differs_peer = d.peer;
	if (!told)
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
			l->heard_at = now;
			l->peer_up = l->peer_up || i.up;
			if (!i.up)
				l->init_now = true;
			return;
		}
		if (i.resume && i.last_session == l->session && i.epoch == l->peer_epoch)
			begin_retraining(l, true, now);
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
		set_state(l, TORUS_LINK_TRAINING, now);
		start_init(l, now);
	}
	d = find_difference(l, &i);
	if (d.what) {
		l->peer_guid = i.guid;
		l->peer_port = i.port;
		report_mismatch(l, d);
		return;
	}
	forget_mismatch(l);
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
	l->heard_at = now;
	if (i.nonce_received == l->nonce)
		enter_up(l, &i, now);
	else
		l->init_now = true;
}

/* --- timers ---------------------------------------------------------------- */

static u64 replay_at(const struct tn_link *l)
{
	const struct tn_retry_tx *tx = &l->retry.tx;
	u64 from = tx->sent_at > tx->since ? tx->sent_at : tx->since;
	u32 shift = tx->tries < 3 ? tx->tries : 3;

	tn_assert(tx->on_wire <= tx->sent.count);
	if (!tx->on_wire || tn_retry_ready(&l->retry))
		return NEVER;
	/*
	 * When the window is full, the peer acknowledges soon, so a shorter timeout is enough
	 * (errors may have made the window small).
	 */
	if (tx->on_wire >= tx->window / 4)
		return from + (min_time(4 * tx->rtt + WINDOW_TIMEOUT_MIN,
					l->params->replay_timeout / 2) << shift);
	return from + (l->params->replay_timeout << shift);
}

/*
 * After this many replays without progress the link retrains. PCI Express has this rule, HIPPI has
 * not.
 */
#define REPLAY_NUM 4

static void poll_up(struct tn_link *l, u64 now)
{
	bool again = false;

	tn_assert(l->session && l->seed);
	if (now >= l->free_at)
		l->paced = false;
	if (now >= l->ack_at) {
		l->ack_at = NEVER;
		l->ack_now = true;
	}
	if (now >= l->credit_at) {
		l->credit_at = NEVER;
		l->credit_now = true;
	}
	/* our E, or the peer's answer to it, was lost */
	if (l->retry.rx.ignoring && now >= l->e_at) {
		l->e_at = now + l->params->replay_timeout / 2;
		tn_retry_remind(&l->retry);
		l->ack_now = true;
		l->counter[TORUS_PC_E_SENT]++;
	}
	if (now >= l->keepalive_at) {
		tn_link_note_sent(l, now);
		l->ack_now = true;
	}
	if (now >= replay_at(l) && tn_retry_back(&l->retry)) {
		l->counter[TORUS_PC_RETRIES]++;
		l->counter[TORUS_PC_REPLAY_TIMEOUTS]++;
		again = true;
	}
	if (l->retry.tx.tries >= l->params->retry_count &&
	    now - l->retry.tx.since >= l->params->retry_time)
		tn_link_fail(l, TORUS_REASON_RETRY, now);
	else if (now >= silent_at(l))
		tn_link_fail(l, TORUS_REASON_SILENCE, now);
	else if (again && l->retry.ops->alone && l->retry.tx.tries % REPLAY_NUM == 0)
		begin_retraining(l, true, now);
}

/*
 * Return: true if the peer refuses a session because the INITs of this attempt report too many
 * occupied buffers, and enough of them have become free since: then this end must begin another
 * attempt.
 */
static bool has_drained(const struct tn_link *l)
{
	u16 slots[TORUS_VCS];
	unsigned int vc;

	for (vc = 0; vc < TORUS_VCS; vc++)
		slots[vc] = (u16)l->params->slots;
	return !tn_credit_room(&l->credit, slots, l->occupied) &&
	       tn_credit_room(&l->credit, slots, l->credit.used);
}

/* Return: true if the peer sent INITs in this attempt, and has been silent since. */
static bool is_deserted(const struct tn_link *l, u64 now)
{
	return l->peer_nonce && now - l->heard_at >= handshake_silence(l);
}

void tn_link_poll(struct tn_link *l, u64 now)
{
	poll_serdes(l, now);
	if (l->state == TORUS_LINK_UP) {
		poll_up(l, now);
		return;
	}
	if (now >= l->give_up_at) {
		if (l->state == TORUS_LINK_RETRAINING)
			tn_link_fail(l, TORUS_REASON_SILENCE, now);
		else
			start_probing(l, now);
		return;
	}
	if (now >= l->init_at) {
		if (l->state != TORUS_LINK_RETRAINING &&
		    (has_drained(l) || is_deserted(l, now))) {
			u64 gap = l->init_gap;

			begin_attempt(l, false, now);
			l->init_gap = gap;
		}
		l->init_at = now + l->init_gap;
		l->init_now = may_send_init(l);
	}
}

u64 tn_link_expiry(const struct tn_link *l)
{
	u64 at = min_time(min_time(l->init_at, l->give_up_at), serdes_expiry(l));

	if (l->state != TORUS_LINK_UP)
		return at;
	at = min_time(at, min_time(l->ack_at, l->credit_at));
	at = min_time(at, min_time(l->keepalive_at, replay_at(l)));
	if (l->retry.rx.ignoring)
		at = min_time(at, l->e_at);
	if (l->paced)
		at = min_time(at, l->free_at);
	return min_time(at, silent_at(l));
}
