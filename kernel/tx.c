// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the host on their way to NAPI, and when NAPI is told of them.
 *
 * A round of NAPI, here and at every node on the way, costs nearly the same for one
 * message as for many, and so does waking who reads them. So messages of a host that sends
 * one after the other wait for company: until there are @frames of them, but no longer than
 * company keeps coming, and @usecs at most.
 *
 * A host that waits for an answer must not wait for this. Such a one is given something
 * for what it sends: each message adds one to its streak, each delivery takes STREAM off,
 * and only with STREAM or more is it a stream. So does a message that nobody joined in
 * time: a host that has become slow has some messages that are late, not all.
 *
 * But TCP is given something all the time, for it acknowledges. What it sends much of is
 * large, and acknowledgements are not: large messages of such a host are tried. If the
 * one that waits is joined, the next ones wait, too; if not, so many go at once before
 * another is tried, and each time in vain twice as many.
 *
 * No message is forgotten. The one that finds the queue empty tells NAPI or starts the
 * timer, in which case those that find it there need not. A round takes all that the core
 * has room for, and whatever makes room starts a round (nic.c). That is all that order and
 * delivery depend on; whether the host is said to be streaming is a guess that several
 * contexts make without a lock, and a wrong one costs at most @usecs.
 */
#include "torus.h"

#define STREAM		8	/* messages without an answer; large ones, with or without */
#define STREAK_MAX	(4 * STREAM)
#define WAIT_MIN	(32 * NSEC_PER_USEC)
#define PACE_MIN	(32 * NSEC_PER_USEC)	/* from one to the next, to go on waiting */
#define LARGE		4096	/* bytes, and more */
#define PATIENCE_MAX	4096

static void less_of_a_stream(struct torus_tx *tx)
{
	u32 streak = READ_ONCE(tx->streak);

	WRITE_ONCE(tx->streak, streak > STREAM ? streak - STREAM : 0);
}

static void in_vain(struct torus_tx *tx)
{
	less_of_a_stream(tx);
	WRITE_ONCE(tx->wait, WAIT_MIN);
	WRITE_ONCE(tx->bulk, 0);
	WRITE_ONCE(tx->patience, min_t(u32, 2 * READ_ONCE(tx->patience), PATIENCE_MAX));
}

static u32 most(const struct torus_tx *tx)
{
	return READ_ONCE(tx->usecs) * (u32)NSEC_PER_USEC;
}

/*
 * @n came in the time that was given, less than wanted. If they came early, as those of a
 * host that may not send more before it is answered, that was too long.
 */
static void adapt(struct torus_tx *tx, unsigned int n)
{
	u64 idle = ktime_get_ns() - READ_ONCE(tx->last);
	u32 wait = READ_ONCE(tx->wait);

	if (n == 1) {
		in_vain(tx);
		return;
	}
	WRITE_ONCE(tx->patience, STREAM);
	if (n * PACE_MIN > wait && idle <= wait / 2)
		WRITE_ONCE(tx->wait, min(2 * wait, most(tx)));
	else
		WRITE_ONCE(tx->wait, max_t(u32, wait / 2, WAIT_MIN));
}

static enum hrtimer_restart timer_fired(struct hrtimer *timer)
{
	struct torus_dev *d = container_of(timer, struct torus_dev, tx.timer);
	unsigned int n = skb_queue_len_lockless(&d->txq);

	if (n) {
		adapt(&d->tx, n);
		napi_schedule(&d->napi);
	}
	return HRTIMER_NORESTART;
}

static bool may_wait(const struct torus_tx *tx, bool large, unsigned int queued)
{
	return queued < READ_ONCE(tx->frames) && READ_ONCE(tx->usecs) &&
	       (READ_ONCE(tx->streak) >= STREAM ||
		(large && READ_ONCE(tx->bulk) >= READ_ONCE(tx->patience)));
}

static void stop_queue(struct torus_dev *d)
{
	netif_stop_queue(d->netdev);
	/* NAPI may have taken them all just before: it would never wake us. */
	smp_mb__after_atomic();
	if (skb_queue_len_lockless(&d->txq) < TORUS_TXQ_MAX / 2)
		netif_wake_queue(d->netdev);
}

void torus_tx_put(struct torus_dev *d, struct sk_buff *skb)
{
	struct torus_tx *tx = &d->tx;
	bool large = skb->len >= LARGE;
	u32 streak = READ_ONCE(tx->streak), bulk = READ_ONCE(tx->bulk);
	unsigned int queued;

	spin_lock(&d->txq.lock);
	__skb_queue_tail(&d->txq, skb);		/* NAPI's from here on */
	queued = skb_queue_len(&d->txq);
	spin_unlock(&d->txq.lock);
	if (queued >= TORUS_TXQ_MAX)
		stop_queue(d);
	if (!may_wait(tx, large, queued)) {
		napi_schedule(&d->napi);
	} else {
		WRITE_ONCE(tx->waited, tx->waited + 1);
		WRITE_ONCE(tx->last, ktime_get_ns());
		if (queued == 1)
			hrtimer_start(&tx->timer, ns_to_ktime(min(READ_ONCE(tx->wait), most(tx))),
				      HRTIMER_MODE_REL);
	}
	if (streak < STREAK_MAX)
		WRITE_ONCE(tx->streak, streak + 1);
	if (large && bulk < PATIENCE_MAX)
		WRITE_ONCE(tx->bulk, bulk + 1);
}

void torus_tx_answered(struct torus_dev *d)
{
	less_of_a_stream(&d->tx);
}

void torus_tx_init(struct torus_dev *d)
{
	skb_queue_head_init(&d->txq);
	d->tx.usecs = TORUS_TX_USECS;
	d->tx.frames = TORUS_TX_FRAMES;
	d->tx.wait = WAIT_MIN;
	d->tx.patience = STREAM;
	hrtimer_setup(&d->tx.timer, timer_fired, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}

void torus_tx_stop(struct torus_dev *d)
{
	hrtimer_cancel(&d->tx.timer);
	skb_queue_purge(&d->txq);
}
