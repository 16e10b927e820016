// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's transmit queues, one for each VC, and when NAPI is scheduled for them: transmit
 * interrupt moderation, with the tx-usecs and tx-frames of ethtool (torus_tx.usecs,
 * torus_tx.frames).
 *
 * A round of NAPI, here and at every node on the way, costs nearly the same for one message as for
 * many, and so does waking the receiver. So messages of a host that streams are sent in batches.
 * Rules, with the tests of kunit/tx.c:
 *
 *  1. A batch ends when it has @frames messages or when its time is over: @wait, which adapts to
 *     the rate of the messages, and @usecs at most (small_messages_of_stream_are_batched()).
 *  2. A host that waits for answers must not be delayed. It is recognised by what it receives: each
 *     message that it sends adds 1 to its score, each delivery to it subtracts STREAM, and a host
 *     with a score of STREAM or more streams (first_messages_do_not_wait(),
 *     answered_host_does_not_wait()).
 *  3. A batch that ends with a single message also subtracts STREAM, so that a host that has become
 *     slow has a few messages delayed, not all (batch_of_one_message_lowers_score()).
 *  4. This score does not recognise a TCP sender, which receives acknowledgements all the time. Its
 *     messages are large and acknowledgements are small, so large messages of a host that does not
 *     stream are batched on trial. If another message arrives in the time of a trial, the next
 *     large messages are batched, too. If none does, @backoff large messages are sent at once
 *     before the next trial, and each failure doubles @backoff
 *     (large_messages_are_seldom_batched_alone()).
 *  5. The time of a trial follows from @gap, the average time between large messages that are sent
 *     at once, most of which is the time that their rounds take from a busy processor: a trial pays
 *     if messages arrive twice as fast as that (batch_lasts_as_long_as_gap_between_messages(),
 *     message_that_completes_batch_does_not_change_gap()).
 *  6. TCP small queues limit a socket to what it sends in a millisecond, which would end every
 *     trial early; here the limit is four times that (PACING_SHIFT).
 *  7. No message is left in a queue. The first message since NAPI looked at the queues schedules
 *     NAPI or starts the timer; for the others, that has been done. A round looks at all queues,
 *     takes all messages for which there is room, and whatever makes room starts a round (nic.c).
 *     Order and delivery depend on nothing else: the score is an estimate that several contexts
 *     update without a lock, and a wrong one costs at most @usecs.
 */
#include <net/sock.h>
#include "nic.h"

/* a host with this score or more counts as streaming; also the least backoff of trials */
#define STREAM		8
#define SCORE_MAX	(4 * STREAM)
#define WAIT_MIN	(32 * NSEC_PER_USEC)
#define STREAM_WAIT_MAX	(200 * NSEC_PER_USEC)
/* a batch pays only if the average gap between large messages is no longer than this */
#define PACE_MIN	(32 * NSEC_PER_USEC)
#define LARGE		4096	/* bytes: a message of this size or more is large */
#define BACKOFF_MAX	4096	/* most large messages between two trials */
#define PACING_SHIFT	8	/* a TCP socket may queue as much as it sends in 2^-8 s */

static_assert(TORUS_TX_FRAMES <= TORUS_TXQ_MAX);
static_assert(TORUS_TX_USECS <= TORUS_TX_USECS_MAX);
/* the wait is doubled, and must not overflow */
static_assert(U32_MAX / (2 * NSEC_PER_USEC) >= TORUS_TX_USECS_MAX);

static void lower_score(struct torus_tx *tx)
{
	u32 score = READ_ONCE(tx->score);

	WRITE_ONCE(tx->score, score > STREAM ? score - STREAM : 0);
}

/* Return: the longest time of a batch, ns. */
static u32 max_wait(const struct torus_tx *tx)
{
	return READ_ONCE(tx->usecs) * (u32)NSEC_PER_USEC;
}

/* Updates the average time between large messages; called for each one that is sent at once. */
static void average_gap(struct torus_tx *tx)
{
	u64 now = ktime_get_ns();
	u32 gap = READ_ONCE(tx->gap);
	u32 last = min_t(u64, now - READ_ONCE(tx->large_at), max_wait(tx));

	WRITE_ONCE(tx->gap, gap - gap / 8 + last / 8);
	WRITE_ONCE(tx->large_at, now);
}

/* Begins a batch with its first message. Return: the longest time that this batch may take, ns. */
static u32 begin_batch(struct torus_tx *tx)
{
	bool trial = READ_ONCE(tx->score) < STREAM;
	u32 wait = READ_ONCE(tx->wait);

	if (trial)
		wait = READ_ONCE(tx->trial_wait) ?: max_t(u32, READ_ONCE(tx->gap), WAIT_MIN);
	wait = min(wait, max_wait(tx));
	WRITE_ONCE(tx->trial, trial);
	WRITE_ONCE(tx->batch_wait, wait);
	return wait;
}

/*
 * Called when a batch ends with only the message that began it: makes the next batch shorter, or
 * the next trial later.
 */
static void note_failure(struct torus_tx *tx)
{
	u32 backoff = READ_ONCE(tx->backoff);

	if (READ_ONCE(tx->trial)) {
		WRITE_ONCE(tx->trial_wait, 0);
		WRITE_ONCE(tx->large_sent, 0);
		WRITE_ONCE(tx->backoff, min_t(u32, 2 * backoff, BACKOFF_MAX));
	} else {
		lower_score(tx);
		WRITE_ONCE(tx->wait, WAIT_MIN);
	}
}

/*
 * Called when a batch ends by its timer with @n messages: sets the time of the next batch. If the
 * messages came early in the batch, the host probably waits for an answer before it sends more, and
 * the time was too long.
 */
static void adapt_wait(struct torus_tx *tx, unsigned int n)
{
	u64 idle = ktime_get_ns() - READ_ONCE(tx->last);
	bool trial = READ_ONCE(tx->trial), pays;
	u32 wait = READ_ONCE(tx->batch_wait), max = max_wait(tx);

	if (n == 1) {
		note_failure(tx);
		return;
	}
	if (trial) {
		pays = (u64)(n - 1) * READ_ONCE(tx->gap) > 2 * wait;
	} else {
		pays = n * PACE_MIN > wait;
		max = min_t(u32, max, STREAM_WAIT_MAX);
	}
	if (pays && idle <= wait / 2)
		wait = min(2 * wait, max);
	else
		wait = max_t(u32, wait / 2, WAIT_MIN);
	if (trial) {
		WRITE_ONCE(tx->backoff, STREAM);
		WRITE_ONCE(tx->trial_wait, wait);
	} else {
		WRITE_ONCE(tx->wait, wait);
	}
}

static enum hrtimer_restart batch_timer_fired(struct hrtimer *timer)
{
	struct torus_soft *s = container_of(timer, struct torus_soft, tx.timer);
	unsigned int n = READ_ONCE(s->tx.batch);

	if (n) {
		adapt_wait(&s->tx, n);
		napi_schedule(&s->napi);
	}
	return HRTIMER_NORESTART;
}

/*
 * Return: true if a message may wait in a batch; it is the last of @queued messages since NAPI
 * examined the queues.
 */
static bool may_wait(const struct torus_tx *tx, bool large, unsigned int queued)
{
	return queued < READ_ONCE(tx->frames) && READ_ONCE(tx->usecs) &&
	       (READ_ONCE(tx->score) >= STREAM ||
		(large && READ_ONCE(tx->large_sent) >= READ_ONCE(tx->backoff)));
}

/* Stops queue @q of the stack; NAPI wakes it when it has taken half of the messages. */
static void stop_queue(struct torus_soft *s, unsigned int q)
{
	netif_stop_subqueue(s->dev.netdev, (u16)q);
	/*
	 * If NAPI has emptied the queue before it was stopped, it does not wake the stack's queue.
	 */
	smp_mb__after_atomic();
	if (skb_queue_len_lockless(&s->txq[q]) < TORUS_TXQ_MAX / 2)
		netif_wake_subqueue(s->dev.netdev, (u16)q);
}

void torus_tx_wake(struct torus_soft *s)
{
	struct net_device *dev = s->dev.netdev;
	unsigned int q;

	/*
	 * This flag is enough: a full queue has messages, and the round that takes one of them
	 * comes here.
	 */
	if (!READ_ONCE(s->tx.taken))
		return;
	WRITE_ONCE(s->tx.taken, false);
	smp_mb();	/* after messages were taken: pairs with stop_queue() */
	for (q = 0; q < dev->real_num_tx_queues && q < TORUS_VCS; q++) {
		if (__netif_subqueue_stopped(dev, (u16)q) && netif_running(dev) &&
		    skb_queue_len_lockless(&s->txq[q]) < TORUS_TXQ_MAX / 2)
			netif_wake_subqueue(dev, (u16)q);
	}
}

void torus_tx_put(struct torus_soft *s, struct sk_buff *skb)
{
	struct torus_tx *tx = &s->tx;
	bool large = skb->len >= LARGE;
	u32 score = READ_ONCE(tx->score), large_sent = READ_ONCE(tx->large_sent);
	unsigned int q = min_t(unsigned int, skb_get_queue_mapping(skb), TORUS_VCS - 1);
	unsigned int queued, len;
	bool waits;

	if (large)
		sk_pacing_shift_update(skb->sk, PACING_SHIFT);
	spin_lock(&tx->lock);
	__skb_queue_tail(&s->txq[q], skb);	/* from here on NAPI owns the skb */
	len = skb_queue_len(&s->txq[q]);
	queued = tx->batch + 1;
	WRITE_ONCE(tx->batch, queued);
	waits = may_wait(tx, large, queued);
	WRITE_ONCE(tx->waited, tx->waited + waits);
	spin_unlock(&tx->lock);
	if (len >= TORUS_TXQ_MAX)
		stop_queue(s, q);
	if (!waits) {
		if (large && queued < READ_ONCE(tx->frames))	/* the message completes a batch */
			average_gap(tx);
		napi_schedule(&s->napi);
	} else {
		WRITE_ONCE(tx->last, ktime_get_ns());
		if (queued == 1)
			hrtimer_start(&tx->timer, ns_to_ktime(begin_batch(tx)), HRTIMER_MODE_REL);
	}
	if (score < SCORE_MAX)
		WRITE_ONCE(tx->score, score + 1);
	if (large && large_sent < BACKOFF_MAX)
		WRITE_ONCE(tx->large_sent, large_sent + 1);
}

void torus_tx_look(struct torus_soft *s)
{
	/* no batch has begun: the next message is the first one anyway */
	if (!READ_ONCE(s->tx.batch))
		return;
	lockdep_assert_in_softirq();
	spin_lock(&s->tx.lock);
	WRITE_ONCE(s->tx.batch, 0);
	spin_unlock(&s->tx.lock);
}

struct sk_buff *torus_tx_take(struct torus_soft *s, unsigned int q)
{
	struct sk_buff *skb;

	if (skb_queue_empty_lockless(&s->txq[q]))
		return NULL;
	lockdep_assert_in_softirq();
	spin_lock(&s->tx.lock);
	skb = __skb_dequeue(&s->txq[q]);
	spin_unlock(&s->tx.lock);
	WRITE_ONCE(s->tx.taken, true);
	return skb;
}

unsigned int torus_tx_purge(struct torus_soft *s)
{
	unsigned int q, n = 0;
	struct sk_buff *skb;

	local_bh_disable();
	for (q = 0; q < TORUS_VCS; q++) {
		while ((skb = torus_tx_take(s, q))) {
			kfree_skb(skb);
			n++;
		}
	}
	local_bh_enable();
	return n;
}

void torus_tx_answered(struct torus_soft *s)
{
	lower_score(&s->tx);
}

void torus_tx_init(struct torus_soft *s)
{
	unsigned int q;

	spin_lock_init(&s->tx.lock);
	for (q = 0; q < TORUS_VCS; q++)
		__skb_queue_head_init(&s->txq[q]);
	s->tx.usecs = TORUS_TX_USECS;
	s->tx.frames = TORUS_TX_FRAMES;
	s->tx.wait = WAIT_MIN;
	s->tx.backoff = STREAM;
	hrtimer_setup(&s->tx.timer, batch_timer_fired, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}

void torus_tx_stop(struct torus_soft *s)
{
	hrtimer_cancel(&s->tx.timer);
	torus_tx_purge(s);
}
