// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batching of the host's messages (tx-usecs, tx-frames): which ones are batched, for how long, and
 * that none waits without end. The NIC has no place, so its NAPI rounds drop the messages that they
 * take. With bottom halves off there are no rounds, and the timer can do no more than ask for one.
 */
#include "lab.h"

#define STREAM	8
#define LONG	NSEC_PER_SEC	/* longer than any test takes, so that the timer does not expire */

static bool put(struct kunit *test, struct torus_soft *s, unsigned int len)
{
	struct sk_buff *skb = alloc_skb(len, GFP_ATOMIC);

	if (!skb)
		return false;
	skb_put_zero(skb, len);
	torus_tx_put(s, skb);
	return true;
}

/* Return: true if NAPI was scheduled. */
static bool was_scheduled(const struct torus_soft *s)
{
	return test_bit(NAPI_STATE_SCHED, &s->napi.state);
}

static bool emptied(struct torus_soft *s)
{
	unsigned int i;

	for (i = 0; i < 1000 && !skb_queue_empty_lockless(&s->txq[0]); i++)
		usleep_range(1000, 2000);
	return skb_queue_empty_lockless(&s->txq[0]);
}

/*
 * Sends as many messages of @len as the driver takes for a stream. Return: the number of times that
 * NAPI was scheduled.
 */
static unsigned int stream(struct kunit *test, struct torus_soft *s, unsigned int len)
{
	unsigned int i, n = 0;

	for (i = 0; i < STREAM; i++) {
		local_bh_disable();
		KUNIT_EXPECT_TRUE(test, put(test, s, len));
		n += was_scheduled(s);
		local_bh_enable();
		KUNIT_EXPECT_TRUE(test, emptied(s));
	}
	return n;
}

static struct torus_soft *nic(struct kunit *test)
{
	struct torus_soft *s = lab_nic(test, 2, 0);

	s->tx.usecs = LONG / NSEC_PER_USEC;
	s->tx.wait = LONG;
	return s;
}

static void first_messages_do_not_wait(struct kunit *test)
{
	struct torus_soft *s = nic(test);

	KUNIT_EXPECT_EQ(test, stream(test, s, 100), STREAM);
	KUNIT_EXPECT_EQ(test, s->tx.waited, 0ull);
}

static void small_messages_of_stream_are_batched(struct kunit *test)
{
	struct torus_soft *s = nic(test);
	u32 i;

	stream(test, s, 100);
	local_bh_disable();
	for (i = 1; i < s->tx.frames; i++) {
		KUNIT_EXPECT_TRUE(test, put(test, s, 100));
		KUNIT_EXPECT_FALSE(test, was_scheduled(s));
	}
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&s->tx.timer));
	KUNIT_EXPECT_EQ(test, s->tx.waited, (u64)s->tx.frames - 1);
	KUNIT_EXPECT_TRUE(test, put(test, s, 100));
	KUNIT_EXPECT_TRUE(test, was_scheduled(s));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, emptied(s));
}

/* Sends one more message, after an answer to the last one. Return: true if NAPI was scheduled. */
static bool answered(struct kunit *test, struct torus_soft *s, unsigned int len)
{
	bool now;

	torus_tx_answered(s);
	s->tx.trial_wait = LONG;
	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, put(test, s, len));
	now = was_scheduled(s);
	local_bh_enable();
	return now;
}

/* Lets the time of the waiting messages expire. */
static void over(struct kunit *test, struct torus_soft *s)
{
	hrtimer_start(&s->tx.timer, 0, HRTIMER_MODE_REL);
	KUNIT_EXPECT_TRUE(test, emptied(s));
}

/* Return: the number of messages of @len, at most @most, that are sent at once before one waits. */
static unsigned int at_once(struct kunit *test, struct torus_soft *s, unsigned int len,
			    unsigned int most)
{
	unsigned int n = 0;

	while (n < most && answered(test, s, len)) {
		n++;
		KUNIT_EXPECT_TRUE(test, emptied(s));
	}
	return n;
}

/*
 * Large messages of a host that gets answers wait in batches, and few batches end with a single
 * message.
 */
static void large_messages_are_seldom_batched_alone(struct kunit *test)
{
	struct torus_soft *s = nic(test);

	KUNIT_EXPECT_EQ(test, at_once(test, s, 4095, 100), 100u);
	KUNIT_EXPECT_EQ(test, at_once(test, s, 4096, 100), STREAM);
	over(test, s);
	KUNIT_EXPECT_EQ(test, at_once(test, s, 4096, 100), 2 * STREAM);
	over(test, s);
	KUNIT_EXPECT_EQ(test, at_once(test, s, 4096, 100), 4 * STREAM);
	/* another message joins the batch */
	KUNIT_EXPECT_FALSE(test, answered(test, s, 4096));
	over(test, s);
	KUNIT_EXPECT_EQ(test, s->tx.backoff, (u32)STREAM);
	KUNIT_EXPECT_FALSE(test, answered(test, s, 4096));
	/* the small message is sent with the batch */
	KUNIT_EXPECT_TRUE(test, answered(test, s, 100));
	KUNIT_EXPECT_TRUE(test, emptied(s));
}

/* Sends @n large messages into a batch, and lets its time expire. */
static void wait_together(struct kunit *test, struct torus_soft *s, unsigned int n)
{
	s->tx.large_sent = s->tx.backoff;
	local_bh_disable();
	while (n--)
		KUNIT_EXPECT_TRUE(test, put(test, s, 4096));
	KUNIT_EXPECT_FALSE(test, was_scheduled(s));
	hrtimer_start(&s->tx.timer, 0, HRTIMER_MODE_REL);
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, emptied(s));
	torus_tx_answered(s);
}

/*
 * A batch lasts as long as the gap between messages, and longer if messages then come twice as
 * fast.
 */
static void batch_lasts_as_long_as_gap_between_messages(struct kunit *test)
{
	struct torus_soft *s = nic(test);
	const u32 gap = LONG / 4;

	s->tx.gap = gap;
	wait_together(test, s, 4);
	KUNIT_EXPECT_EQ(test, s->tx.batch_wait, gap);
	KUNIT_EXPECT_EQ(test, s->tx.trial_wait, 2 * gap);
	wait_together(test, s, 2);
	KUNIT_EXPECT_EQ(test, s->tx.batch_wait, 2 * gap);
	KUNIT_EXPECT_EQ(test, s->tx.trial_wait, gap);
	wait_together(test, s, 1);
	wait_together(test, s, 6);
	KUNIT_EXPECT_EQ(test, s->tx.batch_wait, gap);
	KUNIT_EXPECT_EQ(test, s->tx.gap, gap);
	KUNIT_EXPECT_EQ(test, s->tx.wait, (u32)LONG);
}

/* The message that completes a batch (tx-frames) does not count for the gap between messages. */
static void message_that_completes_batch_does_not_change_gap(struct kunit *test)
{
	struct torus_soft *s = nic(test);
	u32 i;

	s->tx.gap = LONG / 4;
	s->tx.large_sent = STREAM;
	local_bh_disable();
	for (i = 1; i < s->tx.frames; i++)
		KUNIT_EXPECT_TRUE(test, put(test, s, 4096));
	KUNIT_EXPECT_FALSE(test, was_scheduled(s));
	KUNIT_EXPECT_TRUE(test, put(test, s, 4096));
	KUNIT_EXPECT_TRUE(test, was_scheduled(s));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, emptied(s));
	KUNIT_EXPECT_EQ(test, s->tx.gap, (u32)LONG / 4);
}

static void answered_host_does_not_wait(struct kunit *test)
{
	struct torus_soft *s = nic(test);

	stream(test, s, 100);
	torus_tx_answered(s);
	KUNIT_EXPECT_EQ(test, stream(test, s, 100), STREAM);
}

static void batch_of_one_message_lowers_score(struct kunit *test)
{
	struct torus_soft *s = nic(test);

	stream(test, s, 100);
	s->tx.wait = NSEC_PER_MSEC;
	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, put(test, s, 100));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, emptied(s));
	KUNIT_EXPECT_EQ(test, s->tx.waited, 1ull);
	KUNIT_EXPECT_LT(test, s->tx.score, (u32)STREAM);
}

static void batching_can_be_turned_off(struct kunit *test)
{
	struct torus_soft *s = nic(test);

	s->tx.usecs = 0;
	stream(test, s, 100);
	KUNIT_EXPECT_EQ(test, stream(test, s, 100), STREAM);
	KUNIT_EXPECT_EQ(test, s->tx.waited, 0ull);
}

/* Packets that wait when the NIC is removed are dropped, and the timer is stopped. */
static void waiting_packets_are_dropped_with_nic(struct kunit *test)
{
	struct torus_soft *s = nic(test);

	stream(test, s, 100);
	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, put(test, s, 100));
	KUNIT_EXPECT_FALSE(test, was_scheduled(s));
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&s->tx.timer));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(first_messages_do_not_wait),
	KUNIT_CASE(small_messages_of_stream_are_batched),
	KUNIT_CASE(large_messages_are_seldom_batched_alone),
	KUNIT_CASE(batch_lasts_as_long_as_gap_between_messages),
	KUNIT_CASE(message_that_completes_batch_does_not_change_gap),
	KUNIT_CASE(answered_host_does_not_wait),
	KUNIT_CASE(batch_of_one_message_lowers_score),
	KUNIT_CASE(batching_can_be_turned_off),
	KUNIT_CASE(waiting_packets_are_dropped_with_nic),
	{}
};

struct kunit_suite torus_tx_suite = { .name = "torus-tx", .test_cases = cases };
