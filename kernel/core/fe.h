/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Full/empty bits: each word of 8 bytes has a bit, and a request can wait until the bit has the
 * state that it names. V. Korneev (Routing in the communication medium of a system with distributed
 * shared memory and synchronisation by FE bits, section "Foundations of the architecture", from "It
 * should be noted that in Cray XMT") has readqr and writeqr, which wait until the bit has state q
 * and leave it in state r, and purge. The programming guide of the XMT has more: q and r may be x
 * (any state), a purge can store 0, and int_fetch_add waits for full. Our set is the union of both,
 * and a wait until a comparison of the value holds: for example, a thread of Cilk that has finished
 * adds 1, and cilk_sync waits until the word is the number of threads.
 *
 * The bits are stored apart from the words, as in the paper: only the NIC changes them, and a
 * request that has to wait does not access the word. A request waits for one condition: empty,
 * full, or a comparison. Waiters of one word with one condition are a group, first in, first out;
 * the paper's "associative search" is a hash of the word, which leads to the first waiter of each
 * group. So serving a word examines its groups, not all of its waiters.
 *
 * Invariants, which tests/unit/test_fe.c checks after each step:
 *
 *  1. After tn_fe_serve() has returned TN_FE_NONE, no waiter's condition holds. So a request whose
 *     condition holds is executed at once, and overtakes only waiters whose condition does not
 *     hold.
 *  2. Among the waiters whose condition holds, the one that came first is served first.
 *  3. A word's bit of @waits is set if and only if it has waiters.
 *  4. Each waiter of the pool is either free or in three lists: its group, the list of its region,
 *     and the list of its hash.
 *
 * Initiator and number identify a waiter. Cancelling it searches the list of the hash of these two,
 * not its group, which may contain all waiters of a barrier. The initiator alone decides in which
 * few of these lists its waiters are, so ending all of them does not examine the whole pool.
 *
 * A waiting request uses one waiter of the pool and of each quota of its region, and nothing else.
 * If the pool is empty, a quota is used up, or a word has too many conditions, the request is
 * refused and changes nothing. Each call of tn_fe_serve() serves one waiter, so a caller that
 * repeats it is done after at most as many calls as there are waiters. The caller may pause in
 * between, but must then accept no request for this word before it has finished.
 */
#ifndef TN_FE_H
#define TN_FE_H

#include "amo.h"

#define TN_FE_CONDITIONS	8	/* most conditions of one word for which requests wait */

enum tn_fe_state { TN_FE_EMPTY, TN_FE_FULL, TN_FE_ANY, TN_FE_STATES };

enum tn_fe_op {
	TN_FE_READ,
	TN_FE_WRITE,
	TN_FE_AMO,	/* executes @amo on the word of 8 bytes */
	TN_FE_WAIT,	/* waits for the comparison @cmp of the word with @value; @q is TN_FE_ANY */
	TN_FE_PURGE,	/* empties the bit and leaves the value; @q and @r are TN_FE_ANY */
	TN_FE_PURGE0,	/* empties the bit, and stores 0; @q and @r are TN_FE_ANY */
	TN_FE_OPS,
};

enum tn_fe_cmp { TN_FE_EQ, TN_FE_NE, TN_FE_LT, TN_FE_LE, TN_FE_GT, TN_FE_GE, TN_FE_CMPS };

/**
 * struct tn_fe_ask - a request
 * @op: enum tn_fe_op
 * @q: state of the bit that the request waits for, enum tn_fe_state
 * @r: state in which the request leaves the bit; TN_FE_ANY: the bit stays as it was
 * @amo: operation of TN_FE_AMO, enum tn_amo_op
 * @type: type of the word, TN_AMO_U64 or TN_AMO_S64; used by TN_FE_AMO and TN_FE_WAIT
 * @cmp: comparison of TN_FE_WAIT, enum tn_fe_cmp
 * @tag: number that the caller chooses, and gets back with the waiter
 * @from: initiator of the request
 * @number: number of the request; @from and @number together name one waiter of a word
 * @value: value to store, operand, or value to compare with
 * @compare: value to compare with in TN_AMO_CAS
 */
struct tn_fe_ask {
	u8 op, q, r, amo, type, cmp;
	u16 tag;
	u32 from;
	u32 number;
	u64 value;
	u64 compare;
};

/**
 * struct tn_fe_quota - how many requests may wait in some regions, such as those of a user
 * @all: quota of a larger set of regions, to which these belong; NULL: there is none
 * @waiting: number of requests that wait in these regions
 * @max: most of them
 */
struct tn_fe_quota {
	struct tn_fe_quota *all;
	u32 waiting;
	u32 max;
};

/**
 * struct tn_fe_bits - the bits of the words of a region, in memory of the host
 * @full: one bit for each word: the word is full; the host sets the first values
 * @waits: one bit for each word: requests wait for it
 * @n: number of words
 * @oldest, @newest: list of all waiters of the region, in the order in which they came
 * @quota: quota of the region; NULL: only the pool limits how many requests wait
 * @waiting: number of waiters of the region
 * @inverted: a bit of @full that is 0 means full. So zeroed memory, which costs nothing to make,
 *	may begin with all words full
 */
struct tn_fe_bits {
	u64 *full;
	u64 *waits;
	u64 n;
	struct tn_fe_wait *oldest;
	struct tn_fe_wait *newest;
	struct tn_fe_quota *quota;
	u32 waiting;
	bool inverted;
};

/**
 * struct tn_fe_wait - a request that waits, or a free entry of the pool
 * @next: next waiter of the same group, or next free entry
 * @prev: previous waiter of the same group; NULL: it is the first one
 * @tail: in the first waiter of a group: the last waiter of that group
 * @chain: in the first waiter of a group: first waiter of the next group with the same hash
 * @older, @newer: neighbours in the list of the region
 * @hashed: first waiter in the list of hash i, if this is entry i of the pool
 * @like, @like_link: next waiter in the list of the same hash, and the pointer that points to this
 *	one
 * @bits: bits of the region of the word
 * @word: number of the word in the region
 * @order: number that rises with each waiter
 * @since: time at which the request came
 * @ask: the request
 */
struct tn_fe_wait {
	struct tn_fe_wait *next;
	struct tn_fe_wait *prev;
	struct tn_fe_wait *tail;
	struct tn_fe_wait *chain;
	struct tn_fe_wait *older;
	struct tn_fe_wait *newer;
	struct tn_fe_wait *hashed;
	struct tn_fe_wait *like;
	struct tn_fe_wait **like_link;
	struct tn_fe_bits *bits;
	u64 word;
	u64 order;
	u64 since;
	struct tn_fe_ask ask;
};

/**
 * struct tn_fe_pool - all waiters of a NIC
 * @bucket: @mask + 1 lists of groups; a hash of the word selects the list
 * @wait: the @n entries; of these, no one was used from @unused on
 * @idle: free entries of those that were used before
 * @seed: random seed of the hash, so that a user cannot choose words with equal hashes
 * @order: number of the next waiter
 * @mask: number of buckets, less 1
 * @waiting: number of waiters
 */
struct tn_fe_pool {
	struct tn_fe_wait **bucket;
	struct tn_fe_wait *wait;
	struct tn_fe_wait *idle;
	u64 seed;
	u64 order;
	u32 n;
	u32 unused;
	u32 mask;
	u32 waiting;
};

enum tn_fe_result {
	TN_FE_DONE,	/* the request was executed */
	TN_FE_WAITS,	/* the request waits */
	TN_FE_NONE,	/* tn_fe_serve() only: no waiter's condition holds */
};

/**
 * tn_fe_pool_init() - make a pool without waiters
 * @p: the pool
 * @wait: memory of @n waiters, which is 0
 * @n: number of waiters
 * @bucket: memory of @buckets pointers, which is 0
 * @buckets: a power of two, at least @n
 * @seed: random seed of the hash
 */
void tn_fe_pool_init(struct tn_fe_pool *p, struct tn_fe_wait *wait, u32 n,
		     struct tn_fe_wait **bucket, u32 buckets, u64 seed);

/** tn_fe_is_full() - Return: true if the bit of @word is full */
static inline bool tn_fe_is_full(const struct tn_fe_bits *bits, u64 word)
{
	return (bits->full[word / 64] >> word % 64 & 1) != bits->inverted;
}

/** tn_fe_has_waiters() - Return: true if requests wait for @word */
static inline bool tn_fe_has_waiters(const struct tn_fe_bits *bits, u64 word)
{
	return bits->waits[word / 64] >> word % 64 & 1;
}

/**
 * tn_fe_ask() - execute a request, or let it wait
 * @p: the waiters of the NIC
 * @bits: bits of the region
 * @word: number of the word in the region, below bits->n
 * @at: memory of the word
 * @ask: the request
 * @now: present time, which becomes the waiter's @since
 * @old: with TN_FE_DONE set to the value before the request
 *
 * If the request was executed and the word has waiters, the caller calls tn_fe_serve() until that
 * returns TN_FE_NONE. The caller does the same after it has changed a word by other means.
 * Return: TN_FE_DONE or TN_FE_WAITS; -EOPNOTSUPP if the operation, type or comparison is unknown;
 * -EINVAL if @q or @r is out of range or does not fit the operation; -EDQUOT if a quota is used up;
 * -ENOSPC if no more requests can wait; -EAGAIN as tn_amo(). After an error nothing has changed.
 */
int tn_fe_ask(struct tn_fe_pool *p, struct tn_fe_bits *bits, u64 word, u64 *at,
	      const struct tn_fe_ask *ask, u64 now, u64 *old);

/** tn_fe_full_quota() - Return: the quota of the region that is used up; NULL: none is */
const struct tn_fe_quota *tn_fe_full_quota(const struct tn_fe_bits *bits);

/**
 * tn_fe_serve() - execute one waiter of a word: the oldest one whose condition holds
 * @done: set to a copy of the waiter, unless TN_FE_NONE is returned
 * @old: set to the value of the word before
 * Return: TN_FE_DONE; TN_FE_NONE: no waiter's condition holds; -EAGAIN as tn_amo(): the waiter
 * still waits.
 */
int tn_fe_serve(struct tn_fe_pool *p, struct tn_fe_bits *bits, u64 word, u64 *at,
		struct tn_fe_wait *done, u64 *old);

/**
 * tn_fe_cancel() - remove the waiter of a word with this @from and @number
 * Return: 0; -ENOENT if there is none, because it has been executed.
 */
int tn_fe_cancel(struct tn_fe_pool *p, struct tn_fe_bits *bits, u64 word, u32 from, u32 number);

/**
 * tn_fe_end_oldest() - remove bits->oldest, the waiter of a region that came first
 *
 * Called when a region is closed, until bits->oldest is NULL. Its time does not depend on the
 * waiters of other regions.
 */
void tn_fe_end_oldest(struct tn_fe_pool *p, struct tn_fe_bits *bits);

/**
 * tn_fe_end() - remove all waiters for which @ends returns true
 *
 * Called when initiators have died. @ends is called for each waiter of the pool; to list them all,
 * let @ends return false.
 *
 * Return: how many.
 */
u32 tn_fe_end(struct tn_fe_pool *p, bool (*ends)(void *ctx, const struct tn_fe_wait *w), void *ctx);

/**
 * tn_fe_end_from() - remove the waiters of an initiator
 * @from: the initiator
 * @most: how many to remove at most; the walk ends at once when these are found
 *
 * Called when the initiator begins anew. Examines a small part of the pool, and the initiator's own
 * waiters, because a hostile initiator can repeat this at any rate.
 *
 * Return: how many.
 */
u32 tn_fe_end_from(struct tn_fe_pool *p, u32 from, u32 most);

#endif /* TN_FE_H */
