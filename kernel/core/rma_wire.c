// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Messages of remote memory; see rma_wire.h. */
#include "rma_wire.h"

static void put_le48(u8 *p, u64 v)
{
	tn_put_le32(p, (u32)v);
	tn_put_le16(p + 4, (u16)(v >> 32));
}

static u64 get_le48(const u8 *p)
{
	return tn_get_le32(p) | (u64)tn_get_le16(p + 4) << 32;
}

/* Return: true if a request with this operation and these flags has flit 1. */
static bool has_key_flit(u8 op, u8 flags)
{
	switch (op) {
	case TN_RMA_GET:
	case TN_RMA_AMO:
	case TN_RMA_FE:
	case TN_RMA_CANCEL:
		return true;
	default:
		return flags & (TN_RMA_KEYED | TN_RMA_WIDE);
	}
}

/* Return: true if a request with this operation and these flags has flit 2. */
static bool has_value_flit(u8 op, u8 flags)
{
	return op == TN_RMA_AMO || op == TN_RMA_FE || op == TN_RMA_SEND ||
	       (op == TN_RMA_PUT && flags & TN_RMA_NOTIFY);
}

static u32 head_bytes(u8 op, u8 flags)
{
	return TN_RMA_FLIT * (1u + has_key_flit(op, flags) + has_value_flit(op, flags));
}

static u16 pack_kind(const struct tn_rma_ask *a)
{
	if (a->op == TN_RMA_AMO)
		return (u16)(a->amo << 10 | a->type << 13);
	if (a->op == TN_RMA_FE)
		return (u16)(a->fe_op | a->q << 3 | a->r << 5 | a->cmp << 7 | a->amo << 10 |
			     a->type << 13);
	return 0;
}

void tn_rma_kind_get(struct tn_rma_ask *a, u16 kind)
{
	a->fe_op = kind & 7;
	a->q = kind >> 3 & 3;
	a->r = kind >> 5 & 3;
	a->cmp = kind >> 7 & 7;
	a->amo = kind >> 10 & 7;
	a->type = kind >> 13 & 3;
}

/* Return: true if a request of this operation is always posted. */
static bool is_posted_op(u8 op)
{
	return op == TN_RMA_PUT || op == TN_RMA_SEND;
}

static void put_key_flit(u8 *p, const struct tn_rma_ask *a)
{
	bool keyed = a->flags & TN_RMA_KEYED;
	u32 bytes = a->op == TN_RMA_GET ? a->bytes : 0;

	tn_put_le32(p, keyed ? a->key : 0);
	tn_put_le32(p + 4, keyed ? a->region : 0);
	tn_put_le16(p + 8, is_posted_op(a->op) ? TN_RMA_POSTED : a->slot);
	tn_put_le16(p + 10, pack_kind(a));
	tn_assert(!(a->job >> 16) || bytes <= 0xffff);
	tn_put_le32(p + 12, bytes | (a->job & 0xffff0000));
}

u32 tn_rma_ask_put(u8 *flits, const struct tn_rma_ask *ask)
{
	u8 *p = flits, flags = ask->flags | (ask->job >> 16 ? TN_RMA_WIDE : 0);

	tn_assert(ask->addr <= TN_RMA_ADDR_MAX && ask->region <= TN_RMA_REGION_MAX);
	p[0] = ask->op;
	p[1] = flags;
	tn_put_le16(p + 2, ask->ep);
	tn_put_le32(p + 4, ask->number);
	put_le48(p + 8, ask->addr);
	tn_put_le16(p + 14, (u16)ask->job);
	p += TN_RMA_FLIT;
	if (has_key_flit(ask->op, flags)) {
		put_key_flit(p, ask);
		p += TN_RMA_FLIT;
	}
	if (has_value_flit(ask->op, flags)) {
		tn_put_le64(p, ask->value);
		tn_put_le64(p + 8, ask->compare);
		p += TN_RMA_FLIT;
	}
	return (u32)(p - flits);
}

/* Return: the flags that a request of this operation may have. */
static u8 flags_of_op(u8 op)
{
	switch (op) {
	case TN_RMA_PUT:
		return TN_RMA_WIDE | TN_RMA_KEYED | TN_RMA_ASK | TN_RMA_NOTIFY;
	case TN_RMA_AMO:
		return TN_RMA_WIDE | TN_RMA_KEYED | TN_RMA_ASK;
	case TN_RMA_GET:
	case TN_RMA_FE:
	case TN_RMA_CANCEL:
		return TN_RMA_WIDE | TN_RMA_KEYED;
	case TN_RMA_SEND:
		return TN_RMA_WIDE | TN_RMA_ASK;
	default:
		return 0;
	}
}

/*
 * Reads flit 1. Return: false if a field is out of range, or one that the operation does not have
 * is not 0.
 */
static bool get_key_flit(const u8 *p, struct tn_rma_ask *a)
{
	u16 kind = tn_get_le16(p + 10);

	a->key = tn_get_le32(p);
	a->region = tn_get_le32(p + 4);
	a->slot = tn_get_le16(p + 8);
	a->bytes = tn_get_le32(p + 12);
	if (a->flags & TN_RMA_WIDE) {
		a->job |= a->bytes & 0xffff0000;
		a->bytes &= 0xffff;
		if (!(a->job >> 16))
			return false;
	}
	tn_rma_kind_get(a, kind);
	if (a->region > TN_RMA_REGION_MAX || kind != pack_kind(a))
		return false;
	if (!(a->flags & TN_RMA_KEYED) && (a->key || a->region))
		return false;
	if (a->bytes && a->op != TN_RMA_GET)
		return false;
	return a->op == TN_RMA_AMO || (a->slot == TN_RMA_POSTED) == is_posted_op(a->op);
}

u32 tn_rma_ask_get(const u8 *payload, u32 len, struct tn_rma_ask *ask)
{
	const u8 *p = payload;
	bool has_data;
	u32 head;

	*ask = (struct tn_rma_ask) { .slot = TN_RMA_POSTED };
	if (len < TN_RMA_FLIT)
		return 0;
	ask->op = p[0];
	ask->flags = p[1];
	ask->ep = tn_get_le16(p + 2);
	ask->number = tn_get_le32(p + 4);
	ask->addr = get_le48(p + 8);
	ask->job = tn_get_le16(p + 14);
	if (ask->op < TN_RMA_PUT || ask->op > TN_RMA_CANCEL || ask->flags & ~flags_of_op(ask->op))
		return 0;
	if (ask->op == TN_RMA_QUERY || ask->op == TN_RMA_RESET)
		return len == TN_RMA_FLIT && !ask->ep && !ask->addr && !ask->job ? len : 0;
	has_data = ask->op == TN_RMA_PUT || ask->op == TN_RMA_SEND;
	head = head_bytes(ask->op, ask->flags);
	if (len < head)
		return 0;
	p += TN_RMA_FLIT;
	if (has_key_flit(ask->op, ask->flags)) {
		if (!get_key_flit(p, ask))
			return 0;
		p += TN_RMA_FLIT;
	}
	if (has_value_flit(ask->op, ask->flags)) {
		ask->value = tn_get_le64(p);
		ask->compare = tn_get_le64(p + 8);
	}
	return len == head || has_data ? head : 0;
}

u32 tn_rma_reply_put(u8 *flits, const struct tn_rma_reply *reply)
{
	u8 *flit = flits;

	flit[0] = reply->op;
	flit[1] = reply->why;
	tn_put_le16(flit + 2, reply->slot);
	tn_put_le32(flit + 4, reply->number);
	tn_put_le64(flit + 8, reply->op == TN_RMA_ACK ? reply->refused : reply->value);
	if (reply->op != TN_RMA_STATUS)
		return TN_RMA_FLIT;
	memset(flit + TN_RMA_FLIT, 0, TN_RMA_FLIT);
	tn_put_le32(flit + TN_RMA_FLIT, reply->refused);
	return 2 * TN_RMA_FLIT;
}

static bool get_status(const u8 *payload, u32 len, struct tn_rma_reply *reply)
{
	const u8 *p = payload + TN_RMA_FLIT;

	if (len != 2 * TN_RMA_FLIT ||
	    (reply->why != TN_RMA_QUERY && reply->why != TN_RMA_RESET))
		return false;
	reply->refused = tn_get_le32(p);
	return !tn_get_le32(p + 4) && !tn_get_le64(p + 8);
}

bool tn_rma_reply_get(const u8 *payload, u32 len, struct tn_rma_reply *reply)
{
	if (len < TN_RMA_FLIT)
		return false;
	*reply = (struct tn_rma_reply) {
		.op = payload[0], .why = payload[1], .slot = tn_get_le16(payload + 2),
		.number = tn_get_le32(payload + 4), .value = tn_get_le64(payload + 8),
	};
	switch (reply->op) {
	case TN_RMA_DATA:
		return !reply->why && !reply->value && reply->slot != TN_RMA_POSTED;
	case TN_RMA_OLD:
		return len == TN_RMA_FLIT && !reply->why && reply->slot != TN_RMA_POSTED;
	case TN_RMA_ACK:
		reply->refused = (u32)reply->value;
		return len == TN_RMA_FLIT && !reply->why && !(reply->value >> 32) &&
		       reply->slot == TN_RMA_POSTED;
	case TN_RMA_NAK:
		return len == TN_RMA_FLIT && reply->why && reply->why < TN_RMA_REASONS;
	case TN_RMA_STATUS:
		return get_status(payload, len, reply);
	default:
		return false;
	}
}
