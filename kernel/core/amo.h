/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Atomic operations on a word of this node's memory, which the NIC executes for others: V. Korneev
 * (Routing in the communication medium of a system with distributed shared memory and
 * synchronisation by FE bits, section "Foundations of the architecture") has compare-and-swap,
 * fetch-and-add and test-and-set in the memory controller, as reads with an additional action.
 * Test-and-set is TN_AMO_SWAP with 1.
 *
 * They are atomic also against processors of this node that use atomic instructions on the same
 * word. Each operation is a compare-and-swap in a loop. It fails if another processor keeps
 * changing the word: after TN_AMO_TRIES tries the word is left unchanged, and the caller tries
 * again later.
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
	TN_AMO_CAS,	/* stores the operand if the word is equal to @compare */
	TN_AMO_OPS,
};

/* Types of a word. The sign matters to MIN and MAX, and to comparisons. */
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
 * tn_amo_less() - Return: true if @a is less than @b as words of @type; a 32-bit type compares
 * their low halves only
 */
bool tn_amo_less(unsigned int type, u64 a, u64 b);

/**
 * tn_amo() - execute an operation on a word in memory
 * @word: address of the word, a multiple of its size
 * @op: enum tn_amo_op
 * @type: enum tn_amo_type
 * @operand: operand; a 32-bit type uses the low half only, here and in @compare
 * @compare: used by TN_AMO_CAS, which stores only if the word is equal to it
 * @old: set to the value before the operation, a 32-bit one without sign extension; may be NULL
 * Return: 0; -EOPNOTSUPP if @op or @type is unknown; -EINVAL if @word is misaligned; -EAGAIN if
 * another processor changed the word in each of TN_AMO_TRIES tries. After an error the word is
 * unchanged.
 */
int tn_amo(void *word, unsigned int op, unsigned int type, u64 operand, u64 compare, u64 *old);

#endif /* TN_AMO_H */
