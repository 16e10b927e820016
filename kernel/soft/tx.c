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
 * another is tried, and each time in vain twice as many. How long to wait follows from
 * how far apart they are when they go at once, most of which is what their rounds take
 * from a busy processor: those that wait must come twice as fast as that. TCP gives a device
 * no more than it sends in a millisecond, lest queues grow, and would itself not come: here
 * it may give four times as much.
 *
 * No message is forgotten. The one that finds the queue empty tells NAPI or starts the
 * timer, in which case those that find it there need not. A round takes all that the core
 * has room for, and whatever makes room starts a round (nic.c). That is all that order and
 * delivery depend on; whether the host is said to be streaming is a guess that several
 * contexts make without a lock, and a wrong one costs at most @usecs.
 */
#include <net/sock.h>
#include "nic.h"

#define STREAM		8	/* messages without an answer; large ones, with or without */
#define STREAK_MAX	(4 * STREAM)
#define WAIT_MIN	(32 * NSEC_PER_USEC)
#define STREAM_WAIT_MAX	(200 * NSEC_PER_USEC)
#define PACE_MIN	(32 * NSEC_PER_USEC)	/* from one to the next, to go on waiting */
#define LARGE		4096	/* bytes, and more */
#define PATIENCE_MAX	4096
#define PACING_SHIFT	8	/* TCP may have 2^-8 s of what it sends with a device */

static void less_of_a_stream(struct torus_tx *tx)
{
	u32 streak = READ_ONCE(tx->streak);

	WRITE_ONCE(tx->streak, streak > STREAM ? streak - STREAM : 0);
}

static u32 longest_wait(const struct torus_tx *tx)
{
	return READ_ONCE(tx->usecs) * (u32)NSEC_PER_USEC;
}

/* A large message goes at once: how long after the one before it, on average. */
static void see_gap(struct torus_tx *tx)
{
	u64 now = ktime_get_ns();
	u32 gap = READ_ONCE(tx->gap);
	u32 last = min_t(u64, now - READ_ONCE(tx->at_once), longest_wait(tx));

	WRITE_ONCE(tx->gap, gap - gap / 8 + last / 8);
	WRITE_ONCE(tx->at_once, now);
}

/* The first of some that wait. Return: how long, ns. */
static u32 begin_batch(struct torus_tx *tx)
{
	bool trial = READ_ONCE(tx->streak) < STREAM;
	u32 wait = READ_ONCE(tx->wait);

	if (trial)
		wait = READ_ONCE(tx->trial_wait) ?: max_t(u32, READ_ONCE(tx->gap), WAIT_MIN);
	wait = min(wait, longest_wait(tx));
	WRITE_ONCE(tx->trial, trial);
	WRITE_ONCE(tx->given, wait);
	return wait;
}

static void in_vain(struct torus_tx *tx)
{
	u32 patience = READ_ONCE(tx->patience);

	if (READ_ONCE(tx->trial)) {
		WRITE_ONCE(tx->trial_wait, 0);
		WRITE_ONCE(tx->bulk, 0);
		WRITE_ONCE(tx->patience, min_t(u32, 2 * patience, PATIENCE_MAX));
	} else {
		less_of_a_stream(tx);
		WRITE_ONCE(tx->wait, WAIT_MIN);
	}
}

/*
 * @n came in the time that was given, less than wanted. If they came early, as those of a
 * host that may not send more before it is answered, that was too long.
 */
static void adapt_wait(struct torus_tx *tx, unsigned int n)
{
	u64 idle = ktime_get_ns() - READ_ONCE(tx->last);
	bool trial = READ_ONCE(tx->trial), pays;
	u32 wait = READ_ONCE(tx->given), max = longest_wait(tx);

	if (n == 1) {
		in_vain(tx);
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
		WRITE_ONCE(tx->patience, STREAM);
		WRITE_ONCE(tx->trial_wait, wait);
	} else {
		WRITE_ONCE(tx->wait, wait);
	}
}

static enum hrtimer_restart batch_timer_fired(struct hrtimer *timer)
{
	struct torus_soft *s = container_of(timer, struct torus_soft, tx.timer);
	unsigned int n = skb_queue_len_lockless(&s->txq);

	if (n) {
		adapt_wait(&s->tx, n);
		napi_schedule(&s->napi);
	}
	return HRTIMER_NORESTART;
}

static bool may_wait(const struct torus_tx *tx, bool large, unsigned int queued)
{
	return queued < READ_ONCE(tx->frames) && READ_ONCE(tx->usecs) &&
	       (READ_ONCE(tx->streak) >= STREAM ||
		(large && READ_ONCE(tx->bulk) >= READ_ONCE(tx->patience)));
}

static void stop_queue(struct torus_soft *s)
{
	netif_stop_queue(s->dev.netdev);
	/* NAPI may have taken them all just before: it would never wake us. */
	smp_mb__after_atomic();
	if (skb_queue_len_lockless(&s->txq) < TORUS_TXQ_MAX / 2)
		netif_wake_queue(s->dev.netdev);
}

void torus_tx_put(struct torus_soft *s, struct sk_buff *skb)
{
	struct torus_tx *tx = &s->tx;
	bool large = skb->len >= LARGE;
	u32 streak = READ_ONCE(tx->streak), bulk = READ_ONCE(tx->bulk);
	unsigned int queued;

	if (large)
		sk_pacing_shift_update(skb->sk, PACING_SHIFT);
	spin_lock(&s->txq.lock);
	__skb_queue_tail(&s->txq, skb);		/* NAPI's from here on */
	queued = skb_queue_len(&s->txq);
	spin_unlock(&s->txq.lock);
	if (queued >= TORUS_TXQ_MAX)
		stop_queue(s);
	if (!may_wait(tx, large, queued)) {
		if (large && queued < READ_ONCE(tx->frames))	/* else company is complete */
			see_gap(tx);
		napi_schedule(&s->napi);
	} else {
		WRITE_ONCE(tx->waited, tx->waited + 1);
		WRITE_ONCE(tx->last, ktime_get_ns());
		if (queued == 1)
			hrtimer_start(&tx->timer, ns_to_ktime(begin_batch(tx)), HRTIMER_MODE_REL);
	}
	if (streak < STREAK_MAX)
		WRITE_ONCE(tx->streak, streak + 1);
	if (large && bulk < PATIENCE_MAX)
		WRITE_ONCE(tx->bulk, bulk + 1);
}

void torus_tx_answered(struct torus_soft *s)
{
	less_of_a_stream(&s->tx);
}

void torus_tx_init(struct torus_soft *s)
{
	skb_queue_head_init(&s->txq);
	s->tx.usecs = TORUS_TX_USECS;
	s->tx.frames = TORUS_TX_FRAMES;
	s->tx.wait = WAIT_MIN;
	s->tx.patience = STREAM;
	hrtimer_setup(&s->tx.timer, batch_timer_fired, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}

void torus_tx_stop(struct torus_soft *s)
{
	hrtimer_cancel(&s->tx.timer);
	skb_queue_purge(&s->txq);
}
