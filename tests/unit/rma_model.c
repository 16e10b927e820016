// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/rma_model.h"

static u64 get_word(const u8 *p, unsigned int bytes)
{
	u64 v = 0;

	memcpy(&v, p, bytes);
	return v;
}

static bool less_as(unsigned int type, u64 a, u64 b)
{
	switch (type) {
	case TN_AMO_U32: return (u32)a < (u32)b;
	case TN_AMO_S32: return (s32)a < (s32)b;
	case TN_AMO_S64: return (s64)a < (s64)b;
	default: return a < b;
	}
}

static u64 apply(unsigned int op, unsigned int type, u64 old, u64 x, u64 compare)
{
	switch (op) {
	case TN_AMO_ADD: return old + x;
	case TN_AMO_AND: return old & x;
	case TN_AMO_OR: return old | x;
	case TN_AMO_XOR: return old ^ x;
	case TN_AMO_MIN: return less_as(type, x, old) ? x : old;
	case TN_AMO_MAX: return less_as(type, old, x) ? x : old;
	case TN_AMO_SWAP: return x;
	default: return old == compare ? x : old;
	}
}

static bool refuse(struct model_fate *f, u8 reason, u64 value)
{
	f->refused = true;
	f->reason = reason;
	f->value = value;
	return false;
}

/* Return: true if the access is allowed, to @region and @offset. */
static bool allow(const struct tn_rma_ask *a, u64 addr, u64 bytes, u16 need, struct model_fate *f,
		  u32 *region, u64 *offset)
{
	u16 access;

	if (a->flags & TN_RMA_KEYED) {
		*region = a->region;
		*offset = addr;
		if (a->region >= MODEL_REGIONS)
			return refuse(f, TN_RMA_REGION, 0);
		if (a->key != MODEL_KEY)
			return refuse(f, (a->key & 0xffffff) == (MODEL_KEY & 0xffffff) ?
				      TN_RMA_GONE : TN_RMA_KEY, 0);
		if (a->region == 3)
			return refuse(f, TN_RMA_GONE, 0);
		if (a->job != (a->region == 2 ? MODEL_JOB + 1 : MODEL_JOB))
			return refuse(f, TN_RMA_JOB, 0);
	} else {
		if (a->job != MODEL_JOB || addr < MODEL_BASE ||
		    addr >= MODEL_BASE + 2 * MODEL_BYTES)
			return refuse(f, TN_RMA_REGION, 0);
		*region = (u32)(addr - MODEL_BASE) / MODEL_BYTES;
		*offset = addr % MODEL_BYTES;
	}
	access = *region ? TN_ACCESS_READ | TN_ACCESS_WRITE : TN_ACCESS_ALL;
	if (need & ~access)
		return refuse(f, TN_RMA_ACCESS, access);
	if (*offset + bytes > MODEL_BYTES)
		return refuse(f, TN_RMA_BOUNDS, *offset > MODEL_BYTES ? 0 : MODEL_BYTES - *offset);
	return true;
}

static bool allow_word(const struct tn_rma_ask *a, u64 addr, unsigned int bytes, u16 need,
		       struct model_fate *f, u32 *region, u64 *offset)
{
	if (!allow(a, addr, bytes, need, f, region, offset))
		return false;
	return *offset % bytes ? refuse(f, TN_RMA_ALIGN, bytes) : true;
}

static bool may_go(const struct model *m, u64 word, const struct tn_rma_ask *a)
{
	u64 v = get_word(m->memory[0] + word * 8, 8);

	if (a->fe_op != TN_FE_WAIT)
		return a->q == TN_FE_ANY || m->full[word] == (a->q == TN_FE_FULL);
	switch (a->cmp) {
	case TN_FE_EQ: return v == a->value;
	case TN_FE_NE: return v != a->value;
	case TN_FE_LT: return less_as(a->type, v, a->value);
	case TN_FE_LE: return !less_as(a->type, a->value, v);
	case TN_FE_GT: return less_as(a->type, a->value, v);
	default: return !less_as(a->type, v, a->value);
	}
}

static void go(struct model *m, u64 word, const struct tn_rma_ask *a, struct model_fate *f)
{
	u8 *p = m->memory[0] + word * 8;
	u64 old = get_word(p, 8), v = old;

	if (a->fe_op == TN_FE_WRITE)
		v = a->value;
	if (a->fe_op == TN_FE_AMO)
		v = apply(a->amo, a->type, old, a->value, a->compare);
	if (a->fe_op == TN_FE_PURGE0)
		v = 0;
	memcpy(p, &v, 8);
	if (a->fe_op == TN_FE_PURGE || a->fe_op == TN_FE_PURGE0)
		m->full[word] = false;
	else if (a->r != TN_FE_ANY)
		m->full[word] = a->r == TN_FE_FULL;
	f->executed = true;
	f->value = a->fe_op == TN_FE_PURGE ? 0 : old;
}

/* Return: the word for which a request waits; its address was allowed. */
static u64 word_of(const struct tn_rma_ask *a)
{
	return (a->flags & TN_RMA_KEYED ? a->addr : a->addr - MODEL_BASE) / 8;
}

static void remove_wait(struct model *m, unsigned int i)
{
	m->waits--;
	memmove(m->wait + i, m->wait + i + 1, sizeof(m->wait[0]) * (m->waits - i));
}

/* Words are served one after the other, and of one word the first that may go. */
static void serve(struct model *m, u64 offset, u64 bytes)
{
	for (u64 word = offset / 8; bytes && word <= (offset + bytes - 1) / 8; word++) {
		for (unsigned int i = 0; i < m->waits;) {
			struct model_wait w = m->wait[i];

			if (word_of(&w.ask) != word || !may_go(m, word, &w.ask)) {
				i++;
				continue;
			}
			remove_wait(m, i);
			go(m, word, &w.ask, w.fate);
			i = 0;
		}
	}
}

static void take_put(struct model *m, const struct tn_rma_ask *a, const u8 *data, u32 bytes,
		     struct model_fate *f)
{
	u32 region, flag_region;
	u64 offset, flag, v;
	bool notify = a->flags & TN_RMA_NOTIFY;

	if (!allow(a, a->addr, bytes, TN_ACCESS_WRITE, f, &region, &offset) ||
	    (notify && !allow_word(a, a->compare, 8, TN_ACCESS_AMO, f, &flag_region, &flag)))
		return;
	memcpy(m->memory[region] + offset, data, bytes);
	f->executed = true;
	if (notify) {
		v = get_word(m->memory[flag_region] + flag, 8) + a->value;
		memcpy(m->memory[flag_region] + flag, &v, 8);
	}
	if (!region)
		serve(m, offset, bytes);
	if (notify)
		serve(m, flag, 8);
}

static void take_get(struct model *m, const struct tn_rma_ask *a, struct model_fate *f)
{
	u32 region;
	u64 offset;

	if (a->bytes > MODEL_DATA_MAX) {
		refuse(f, TN_RMA_LENGTH, MODEL_DATA_MAX);
		return;
	}
	if (!allow(a, a->addr, a->bytes, TN_ACCESS_READ, f, &region, &offset))
		return;
	f->executed = true;
	f->bytes = a->bytes;
	memcpy(f->data, m->memory[region] + offset, a->bytes);
}

static void take_amo(struct model *m, const struct tn_rma_ask *a, struct model_fate *f)
{
	unsigned int bytes = a->type == TN_AMO_U32 || a->type == TN_AMO_S32 ? 4 : 8;
	u64 offset, old, v, low = bytes == 4 ? 0xffffffff : ~0ull;
	u32 region;

	if (!allow_word(a, a->addr, bytes, TN_ACCESS_AMO, f, &region, &offset))
		return;
	old = get_word(m->memory[region] + offset, bytes);
	v = apply(a->amo, a->type, old, a->value & low, a->compare & low);
	memcpy(m->memory[region] + offset, &v, bytes);
	f->executed = true;
	f->value = old;
	serve(m, offset, bytes);
}

/* Return: true if no request like this exists. */
static bool is_bad(const struct tn_rma_ask *a)
{
	bool purge = a->fe_op == TN_FE_PURGE || a->fe_op == TN_FE_PURGE0;
	bool short_word = a->type == TN_AMO_U32 || a->type == TN_AMO_S32;

	return a->fe_op > TN_FE_PURGE0 ||
	       ((a->fe_op == TN_FE_WAIT || a->fe_op == TN_FE_AMO) && short_word) ||
	       (a->fe_op == TN_FE_WAIT && a->cmp > TN_FE_GE) || a->q > TN_FE_ANY ||
	       a->r > TN_FE_ANY || ((purge || a->fe_op == TN_FE_WAIT) && a->q != TN_FE_ANY) ||
	       (purge && a->r != TN_FE_ANY);
}

static void take_fe(struct model *m, u32 src, const struct tn_rma_ask *a, struct model_fate *f)
{
	u32 region;
	u64 offset;

	if (!allow_word(a, a->addr, 8, TN_ACCESS_FE, f, &region, &offset))
		return;
	if (is_bad(a)) {
		refuse(f, TN_RMA_BAD, 0);
		return;
	}
	if (may_go(m, offset / 8, a)) {
		go(m, offset / 8, a, f);
		serve(m, offset, 8);
		return;
	}
	if (m->has_quota && m->waits == MODEL_QUOTA)
		refuse(f, TN_RMA_RNR, MODEL_QUOTA);
	else if (m->waits == MODEL_WAITS)
		refuse(f, TN_RMA_RNR, 0);
	else
		m->wait[m->waits++] = (struct model_wait) { *a, src, f };
}

static void end_waits(struct model *m, u32 src)
{
	for (unsigned int i = m->waits; i-- > 0;)
		if (m->wait[i].src == src)
			remove_wait(m, i);
}

static void take_cancel(struct model *m, u32 src, u32 number)
{
	for (unsigned int i = m->waits; i-- > 0;) {
		if (m->wait[i].src == src && m->wait[i].ask.number == number) {
			refuse(m->wait[i].fate, TN_RMA_CANCELLED, 0);
			remove_wait(m, i);
		}
	}
}

void model_take(struct model *m, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		struct model_fate *fate)
{
	u64 allowed = 0;
	u8 reason;

	if (ask->op == TN_RMA_RESET) {
		end_waits(m, src);
		m->known[src] = true;
		m->next[src] = ask->number;
	}
	if (ask->op == TN_RMA_CANCEL)
		take_cancel(m, src, ask->number);
	if (ask->op > TN_RMA_SEND || !m->known[src] || m->next[src] != ask->number)
		return;
	m->next[src]++;
	switch (ask->op) {
	case TN_RMA_PUT:
		take_put(m, ask, data, bytes, fate);
		break;
	case TN_RMA_GET:
		take_get(m, ask, fate);
		break;
	case TN_RMA_AMO:
		take_amo(m, ask, fate);
		break;
	case TN_RMA_FE:
		take_fe(m, src, ask, fate);
		break;
	case TN_RMA_SEND:
		reason = model_recv(data, bytes, &allowed);
		if (reason)
			refuse(fate, reason, allowed);
		else
			fate->executed = true;
		break;
	}
}

void model_restart(struct model *m)
{
	memset(m->known, 0, sizeof(m->known));
	memset(m->full, true, sizeof(m->full));
	m->waits = 0;
}
