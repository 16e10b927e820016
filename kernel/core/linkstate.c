// SPDX-License-Identifier: GPL-2.0-only
/* States of a link, its training and timers; link.h has the state diagram. */
#include "linkstate.h"

/* retransmit timeout of a full window: four round trips and this, ns */
#define WINDOW_TIMEOUT_MIN 100000

static void start_probing(struct tn_link *l, u64 now);

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

void tn_link_set_state(struct tn_link *l, u8 state, u64 now)
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
	return l->received_at + (l->peer_up ? l->params->silence : handshake_silence(l));
}

void tn_link_stop_timers(struct tn_link *l)
{
	l->init_at = TN_NEVER;
	l->give_up_at = TN_NEVER;
	l->ack_at = TN_NEVER;
	l->credit_at = TN_NEVER;
	l->e_at = TN_NEVER;
	l->keepalive_at = TN_NEVER;
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
	l->look_at = TN_NEVER;
	tn_link_serdes(l, NULL);
	tn_link_stop_timers(l);
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
		l->look_at = s->steady ? TN_NEVER : now + l->params->eye_interval;
	}
	if (l->state == TORUS_LINK_TRAINING) {
		tn_link_start_init(l, now);
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
	l->look_at = l->train.serdes->steady ? TN_NEVER : now + l->params->eye_interval;
	was_thin = has_thin_margin(l);
	bad = tn_train_watch(&l->train, now);
	if (!bad && has_thin_margin(l) != was_thin && l->state == TORUS_LINK_UP)
		l->ops->changed(l->ctx, l, l->state);
	if (!bad)
		return;
	l->counter[TORUS_PC_EYE_RETRAINS]++;
	if (l->state == TORUS_LINK_UP)
		tn_link_begin_retraining(l, true, now);
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
		return TN_NEVER;
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
		l->retry_asked = l->retry.ops->protocol;
	} else {
		l->first_tseq = (u16)(l->host_ops->random(l->host) & TN_SEQ_MASK);
		l->retry_asked = l->retry_wanted;
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

void tn_link_start_init(struct tn_link *l, u64 now)
{
	begin_attempt(l, false, now);
	tn_link_set_state(l, TORUS_LINK_INIT, now);
	l->give_up_at = l->was_faulty ? now + 10 * l->params->init_interval : TN_NEVER;
}

void tn_link_forget_mismatch(struct tn_link *l)
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
	tn_link_stop_timers(l);
	tn_link_forget_mismatch(l);
	l->was_faulty = l->state == TORUS_LINK_FAULTY;
	tn_link_set_state(l, TORUS_LINK_TRAINING, now);
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
	tn_link_stop_timers(l);
	tn_link_set_state(l, TORUS_LINK_FAULTY, now);
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
		tn_link_stop_timers(l);
		tn_link_set_state(l, l->session ? TORUS_LINK_FAULTY : TORUS_LINK_DOWN, now);
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
	tn_link_stop_timers(l);
	tn_link_set_state(l, TORUS_LINK_DOWN, now);
}

void tn_link_begin_retraining(struct tn_link *l, bool near, u64 now)
{
	tn_assert(l->state == TORUS_LINK_UP);
	begin_attempt(l, true, now);
	tn_link_set_state(l, TORUS_LINK_RETRAINING, now);
	begin_training(l, near, now);
}

void tn_link_retrain(struct tn_link *l, u64 now)
{
	if (l->state == TORUS_LINK_UP)
		tn_link_begin_retraining(l, false, now);
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

/* --- timers ---------------------------------------------------------------- */

static u64 replay_at(const struct tn_link *l)
{
	const struct tn_retry_tx *tx = &l->retry.tx;
	u64 from = tx->sent_at > tx->since ? tx->sent_at : tx->since;
	u32 shift = tx->tries < 3 ? tx->tries : 3;

	tn_assert(tx->on_wire <= tx->sent.count);
	if (!tx->on_wire || tn_retry_ready(&l->retry))
		return TN_NEVER;
	/*
	 * When the window is full, the peer acknowledges soon, so a shorter timeout is enough
	 * (errors may have made the window small).
	 */
	if (tx->on_wire >= tx->window / 4)
		return from + (tn_min_time(4 * tx->rtt + WINDOW_TIMEOUT_MIN,
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
		l->ack_at = TN_NEVER;
		l->ack_now = true;
	}
	if (now >= l->credit_at) {
		l->credit_at = TN_NEVER;
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
		tn_link_begin_retraining(l, true, now);
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
	return l->peer_nonce && now - l->received_at >= handshake_silence(l);
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
	u64 at = tn_min_time(tn_min_time(l->init_at, l->give_up_at), serdes_expiry(l));

	if (l->state != TORUS_LINK_UP)
		return at;
	at = tn_min_time(at, tn_min_time(l->ack_at, l->credit_at));
	at = tn_min_time(at, tn_min_time(l->keepalive_at, replay_at(l)));
	if (l->retry.rx.ignoring)
		at = tn_min_time(at, l->e_at);
	if (l->paced)
		at = tn_min_time(at, l->free_at);
	return tn_min_time(at, silent_at(l));
}
