// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Atomic operations on memory of this node; see amo.h. */
#include "amo.h"

bool tn_amo_less(unsigned int type, u64 a, u64 b)
{
	switch (type) {
	case TN_AMO_U32:
		return (u32)a < (u32)b;
	case TN_AMO_S32:
		return (s32)(u32)a < (s32)(u32)b;
	case TN_AMO_S64:
		return (s64)a < (s64)b;
	default:
		return a < b;
	}
}

/* Return: the value of the word after the operation. */
static u64 apply_amo(unsigned int op, unsigned int type, u64 old, u64 operand, u64 compare)
{
	switch (op) {
	case TN_AMO_ADD:
		return old + operand;
	case TN_AMO_AND:
		return old & operand;
	case TN_AMO_OR:
		return old | operand;
	case TN_AMO_XOR:
		return old ^ operand;
	case TN_AMO_MIN:
		return tn_amo_less(type, operand, old) ? operand : old;
	case TN_AMO_MAX:
		return tn_amo_less(type, old, operand) ? operand : old;
	case TN_AMO_SWAP:
		return operand;
	default:
		return old == compare ? operand : old;
	}
}

static int change_word32(u32 *word, unsigned int op, unsigned int type, u32 operand, u32 compare,
			 u64 *old)
{
	u32 was = tn_load32(word);
	unsigned int i;

	for (i = 0; i < TN_AMO_TRIES; i++) {
		if (tn_cas32(word, &was, (u32)apply_amo(op, type, was, operand, compare))) {
			*old = was;
			return 0;
		}
	}
	return -EAGAIN;
}

static int change_word64(u64 *word, unsigned int op, unsigned int type, u64 operand, u64 compare,
			 u64 *old)
{
	u64 was = tn_load64(word);
	unsigned int i;

	for (i = 0; i < TN_AMO_TRIES; i++) {
		if (tn_cas64(word, &was, apply_amo(op, type, was, operand, compare))) {
			*old = was;
			return 0;
		}
	}
	return -EAGAIN;
}

int tn_amo(void *word, unsigned int op, unsigned int type, u64 operand, u64 compare, u64 *old)
{
	u64 was;

	if (op >= TN_AMO_OPS || type >= TN_AMO_TYPES)
		return -EOPNOTSUPP;
	if ((unsigned long)word % tn_amo_bytes(type))
		return -EINVAL;
	if (!old)
		old = &was;
	if (tn_amo_bytes(type) == 8)
		return change_word64(word, op, type, operand, compare, old);
	return change_word32(word, op, type, (u32)operand, (u32)compare, old);
}
