/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Atomic operations on a word of this node's memory, which the NIC executes for others: V. Korneev
 * (Routing in the communication medium of a system with distributed shared memory and
 * synchronisation by FE bits, section "Foundations of the architecture") has compare-and-swap,
 * fetch-and-add and test-and-set in the memory controller, as reads with an additional action.
 * Test-and-set is TN_AMO_SWAP with 1.
 *
 * They are atomic also against processors of this node that use atomic instructions on the same
 * word. Each is a compare-and-swap in a loop. Another processor that changes the word all the time
 * can make it fail; after TN_AMO_TRIES nothing has been changed, and the caller tries again later.
 */
#ifndef TN_AMO_H
#define TN_AMO_H

#include "tn_deps.h"

#define TN_AMO_TRIES	1000

enum tn_amo_op {
	TN_AMO_ADD,
	TN_AMO_AND,
	TN_AMO_OR,
	TN_AMO_XOR,
	TN_AMO_MIN,
	TN_AMO_MAX,
	TN_AMO_SWAP,
	TN_AMO_CAS,	/* store the operand if the word is equal to another value */
	TN_AMO_OPS,
};

/* Types of a word; signed ones differ for MIN and MAX, and in comparisons. */
enum tn_amo_type {
	TN_AMO_U32,
	TN_AMO_U64,
	TN_AMO_S32,
	TN_AMO_S64,
	TN_AMO_TYPES,
};

/** tn_amo_bytes() - Return: bytes of a word of this type */
static inline unsigned int tn_amo_bytes(unsigned int type)
{
	return type & 1 ? 8 : 4;
}

/**
 * tn_amo_less() - Return: true if @a is less than @b as words of this type; of 32-bit types the
 * high halves are ignored
 */
bool tn_amo_less(unsigned int type, u64 a, u64 b);

/**
 * tn_amo() - execute an operation
 * @word: in memory; a multiple of the size of its type
 * @op: enum tn_amo_op
 * @type: enum tn_amo_type
 * @operand: of 32-bit types the high half is ignored, here and in @compare
 * @compare: TN_AMO_CAS stores only if the word is equal to it
 * @old: the value before, of 32-bit types without sign; or NULL
 * Return: 0; -EOPNOTSUPP for an unknown @op or @type; -EINVAL if @word is misaligned; -EAGAIN if
 * the word kept changing. On an error nothing was changed.
 */
int tn_amo(void *word, unsigned int op, unsigned int type, u64 operand, u64 compare, u64 *old);

#endif /* TN_AMO_H */
