// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* A context of remote memory at the NIC; see rma_ring.h. */
#include "rma_ring.h"

#define NO_OP		0xffff
#define INLINE_MAX	8
#define KIND_AMO	0x7c00	/* bits of torus_rma_ask.word that an AMO has */
#define KIND_FE		0x7fff

_Static_assert((int)TORUS_RMA_PUT == (int)TN_RMA_PUT && (int)TORUS_RMA_GET == (int)TN_RMA_GET &&
	       (int)TORUS_RMA_AMO == (int)TN_RMA_AMO && (int)TORUS_RMA_FE == (int)TN_RMA_FE &&
	       (int)TORUS_RMA_CANCEL == (int)TN_RMA_CANCEL, "operations");
_Static_assert(TORUS_RMA_KEYED == TN_RMA_KEYED && TORUS_RMA_NOTIFY == TN_RMA_NOTIFY, "flags");
_Static_assert((int)TORUS_RMA_CAS == (int)TN_AMO_CAS && (int)TORUS_RMA_S64 == (int)TN_AMO_S64 &&
	       (int)TORUS_RMA_PURGE0 == (int)TN_FE_PURGE0 && (int)TORUS_RMA_ANY == (int)TN_FE_ANY &&
	       (int)TORUS_RMA_GE == (int)TN_FE_GE, "words");
_Static_assert((int)TORUS_RMA_UNKNOWN == (int)TN_RMA_UNKNOWN &&
	       (int)TORUS_RMA_CANCELLED == (int)TN_RMA_CANCELLED, "ends");
_Static_assert(sizeof(struct torus_rma_ask) == 64 && sizeof(struct torus_rma_end) == 32 &&
	       sizeof(struct torus_rma_head) == 3 * TORUS_RMA_LINE, "sizes");

void tn_rma_ring_open(struct tn_rma_ring *r, const struct tn_rma_ring_config *cfg)
{
	u32 i;

	tn_assert(cfg->ops_max && cfg->ops_max <= TN_RMA_RING_OPS_MAX && cfg->parts_max);
	tn_assert(cfg->sq_entries && !(cfg->sq_entries & (cfg->sq_entries - 1)));
	tn_assert(cfg->cq_entries && !(cfg->cq_entries & (cfg->cq_entries - 1)));
	*r = (struct tn_rma_ring) {
		.cfg = *cfg, .now = NO_OP, .ended = NO_OP, .ended_last = NO_OP,
	};
	for (i = 0; i < cfg->ops_max; i++)
		cfg->op[i] = (struct tn_rma_ring_op) {
			.next = i + 1 < cfg->ops_max ? (u16)(i + 1) : NO_OP,
		};
}

static void break_ring(struct tn_rma_ring *r, enum torus_rma_broken why)
{
	if (r->broken)
		return;
	r->broken = (u8)why;
	tn_store32(&r->cfg.head->broken, why);
}

/* --- completions ---------------------------------------------------------------- */

/* Takes the first operation that has ended out of their list, and frees it. */
static void free_ended(struct tn_rma_ring *r)
{
	u16 at = r->ended;

	r->ended = r->cfg.op[at].next;
	if (r->ended == NO_OP)
		r->ended_last = NO_OP;
	r->cfg.op[at].next = r->idle;
	r->idle = at;
	r->busy--;
}

static void write_ring_end(struct tn_rma_ring *r, const struct tn_rma_ring_op *op)
{
	r->cfg.cq[r->cq_tail++ & (r->cfg.cq_entries - 1)] = (struct torus_rma_end) {
		.cookie = op->from.cookie, .value = op->value, .node = op->from.node,
		.bytes = op->status == TORUS_RMA_DONE ? op->from.bytes : 0,
		.status = op->status, .reason = op->reason, .op = op->from.op,
	};
}

/* Writes the completions for which the CQ has room. */
static void write_ends(struct tn_rma_ring *r)
{
	u32 head, before = r->cq_tail;

	if (r->ended == NO_OP)
		return;
	if (r->closed) {
		while (r->ended != NO_OP)
			free_ended(r);
		return;
	}
	head = tn_load32(&r->cfg.head->cq_head);
	if (r->cq_tail - head > r->cfg.cq_entries) {
		break_ring(r, TORUS_RMA_CQ_HEAD);
		return;
	}
	while (r->ended != NO_OP && r->cq_tail - head < r->cfg.cq_entries) {
		write_ring_end(r, &r->cfg.op[r->ended]);
		free_ended(r);
	}
	if (r->cq_tail == before)
		return;
	tn_store32(&r->cfg.head->cq_tail, r->cq_tail);
	tn_fence();
	if (tn_load32(&r->cfg.head->wants))
		r->cfg.ops->wake(r->cfg.host, r->cfg.id);
}

static void end_op(struct tn_rma_ring *r, u16 at)
{
	struct tn_rma_ring_op *op = &r->cfg.op[at];

	op->open = false;
	op->next = NO_OP;
	r->open--;
	if (r->ended == NO_OP)
		r->ended = at;
	else
		r->cfg.op[r->ended_last].next = at;
	r->ended_last = at;
}

static void end_if_whole(struct tn_rma_ring *r, u16 at)
{
	if (r->cfg.op[at].whole && !r->cfg.op[at].parts)
		end_op(r, at);
}

/* Copies what a GET has read to where its process wants it. */
static void land_data(struct tn_rma_ring *r, const struct tn_rma_ring_op *op, u32 from,
		      const struct tn_rma_end *end)
{
	u64 at = op->from.offset + from, run;
	u32 n, done;
	u8 *to;

	for (done = 0; done < end->bytes; done += n) {
		to = r->cfg.ops->mem(r->cfg.host, op->from.local, at + done, &run);
		n = end->bytes - done < run ? end->bytes - done : (u32)run;
		memcpy(to, end->data + done, n);
	}
}

void tn_rma_ring_done(struct tn_rma_ring *r, u64 cookie, const struct tn_rma_end *end)
{
	u16 at = (u16)(cookie >> 32);
	struct tn_rma_ring_op *op = &r->cfg.op[at];

	tn_assert(cookie >> 48 == r->cfg.id && at < r->cfg.ops_max);
	tn_assert(op->open && op->parts && r->parts);
	op->parts--;
	r->parts--;
	if (end->status == TN_RMA_DONE && op->from.op == TORUS_RMA_GET && !r->closed)
		land_data(r, op, (u32)cookie, end);
	if (end->status > op->status || op->status == TN_RMA_DONE) {
		op->status = end->status;
		op->reason = end->reason;
		op->value = end->value;
	}
	end_if_whole(r, at);
}

/* --- requests -------------------------------------------------------------------- */

static u8 flags_of_ring_op(u8 op)
{
	switch (op) {
	case TORUS_RMA_PUT:
		return TORUS_RMA_KEYED | TORUS_RMA_NOTIFY | TORUS_RMA_FENCE | TORUS_RMA_INLINE;
	case TORUS_RMA_AMO:
		return TORUS_RMA_KEYED | TORUS_RMA_FENCE | TORUS_RMA_POSTED;
	case TORUS_RMA_GET:
	case TORUS_RMA_FE:
		return TORUS_RMA_KEYED | TORUS_RMA_FENCE;
	default:
		return 0;
	}
}

static u16 word_of_ring_op(u8 op)
{
	return op == TORUS_RMA_AMO ? KIND_AMO : op == TORUS_RMA_FE ? KIND_FE : 0;
}

static bool has_ring_data(const struct torus_rma_ask *a)
{
	return a->op == TORUS_RMA_PUT || a->op == TORUS_RMA_GET;
}

/* Return: true if all members that the operation does not have are 0. */
static bool is_rest_zero(const struct torus_rma_ask *a)
{
	bool cancels = a->op == TORUS_RMA_CANCEL;
	bool operands = a->op == TORUS_RMA_AMO || a->op == TORUS_RMA_FE ||
			a->flags & TORUS_RMA_NOTIFY;

	if (!(a->flags & TORUS_RMA_KEYED) && (a->region || a->key))
		return false;
	if (!has_ring_data(a) && (a->bytes || a->offset))
		return false;
	if ((!has_ring_data(a) || a->flags & TORUS_RMA_INLINE) && a->local)
		return false;
	if (cancels && (a->node || a->addr))
		return false;
	return operands || ((cancels || !a->value) && !a->compare);
}

/* Return: true if @bytes from @addr on are below the end of addresses. */
static bool is_addr_right(u64 addr, u64 bytes)
{
	return addr <= TN_RMA_ADDR_MAX && bytes <= TN_RMA_ADDR_MAX + 1 - addr;
}

/* Return: why @a is not right, enum torus_rma_invalid, or 0; @allowed: what would be. */
static u8 check_ring_ask(const struct tn_rma_ring *r, const struct torus_rma_ask *a, u64 *allowed)
{
	*allowed = 0;
	if ((a->op < TORUS_RMA_PUT || a->op > TORUS_RMA_FE) && a->op != TORUS_RMA_CANCEL)
		return TORUS_RMA_BAD_OP;
	*allowed = flags_of_ring_op(a->op);
	if (a->flags & ~*allowed)
		return TORUS_RMA_BAD_FLAGS;
	*allowed = r->cfg.nodes - 1;
	if (a->node >= r->cfg.nodes)
		return TORUS_RMA_BAD_NODE;
	*allowed = TN_RMA_ADDR_MAX + 1;
	if (!is_addr_right(a->addr, a->bytes) ||
	    (a->flags & TORUS_RMA_NOTIFY && !is_addr_right(a->compare, sizeof(u64))))
		return TORUS_RMA_BAD_ADDR;
	*allowed = TN_RMA_REGION_MAX;
	if (a->region > TN_RMA_REGION_MAX)
		return TORUS_RMA_BAD_REGION;
	*allowed = word_of_ring_op(a->op);
	if (a->word & ~*allowed)
		return TORUS_RMA_BAD_WORD;
	*allowed = 0;
	if (!is_rest_zero(a))
		return TORUS_RMA_BAD_REST;
	*allowed = INLINE_MAX;
	if (a->flags & TORUS_RMA_INLINE)
		return a->bytes > INLINE_MAX ? TORUS_RMA_BAD_INLINE : 0;
	*allowed = 0;
	if (a->bytes && r->cfg.ops->room(r->cfg.host, r->cfg.id, a->local, a->offset) < a->bytes)
		return TORUS_RMA_BAD_LOCAL;
	return 0;
}

static void read_tail(struct tn_rma_ring *r)
{
	r->sq_tail = tn_load32(&r->cfg.head->sq_tail);
	if (r->sq_tail - r->sq_head > r->cfg.sq_entries)
		break_ring(r, TORUS_RMA_SQ_TAIL);
}

/* Copies the next request, if there is one. Return: true if there is. */
static bool look_ahead(struct tn_rma_ring *r)
{
	const u64 *from = (const u64 *)&r->cfg.sq[r->sq_head & (r->cfg.sq_entries - 1)];
	u64 copy[sizeof(r->ahead) / sizeof(u64)];
	unsigned int i;

	if (r->has_ahead)
		return true;
	if (r->broken || r->sq_head == r->sq_tail)
		return false;
	for (i = 0; i < ARRAY_SIZE(copy); i++)
		copy[i] = tn_load64(from + i);
	memcpy(&r->ahead, copy, sizeof(r->ahead));
	r->sq_head++;
	r->bad = check_ring_ask(r, &r->ahead, &r->allowed);
	r->has_ahead = true;
	return true;
}

static bool is_posted_ask(const struct torus_rma_ask *a)
{
	return a->op == TORUS_RMA_PUT || (a->op == TORUS_RMA_AMO && a->flags & TORUS_RMA_POSTED);
}

/* Return: true if a request that is about to be issued asks for its acknowledgement. */
static bool asks_for_ack(struct tn_rma_ring *r, const struct torus_rma_ask *a)
{
	if (!is_posted_ask(a))
		return false;
	if (r->busy >= r->cfg.ops_max / 2 || r->parts >= r->cfg.parts_max / 2 || !look_ahead(r))
		return true;
	return r->bad || !is_posted_ask(&r->ahead) || r->ahead.node != a->node ||
	       r->ahead.flags & TORUS_RMA_FENCE;
}

static struct tn_rma_ask translate_ask(const struct tn_rma_ring *r, const struct torus_rma_ask *a)
{
	struct tn_rma_ask ask = {
		.op = a->op, .flags = a->flags & TORUS_RMA_KEYED,
		.ep = r->cfg.ep, .job = r->cfg.job,
		.slot = a->op == TORUS_RMA_AMO && a->flags & TORUS_RMA_POSTED ? TN_RMA_POSTED : 0,
		.region = a->region, .key = a->key, .addr = a->addr, .value = a->value,
		.compare = a->compare,
	};

	tn_rma_kind_get(&ask, a->word);
	return ask;
}

/* Return: where the bytes of a PUT from @sent on are; @n: how many of the next part. */
static const u8 *find_put_source(struct tn_rma_ring *r, const struct tn_rma_ring_op *op, u32 *n)
{
	const u8 *from;
	u64 run;

	if (!*n)
		return NULL;
	if (op->from.flags & TORUS_RMA_INLINE)
		return (const u8 *)&op->from.offset;
	from = r->cfg.ops->mem(r->cfg.host, op->from.local, op->from.offset + op->sent, &run);
	if (run < *n)
		*n = (u32)run;
	return from;
}

/* Issues the next part of an operation. Return: that of ops->issue. */
static int issue_part(struct tn_rma_ring *r, u16 at, u64 now)
{
	struct tn_rma_ring_op *op = &r->cfg.op[at];
	struct tn_rma_ask ask = op->ask;
	u32 left = op->from.bytes - op->sent, n = left < r->cfg.data_max ? left : r->cfg.data_max;
	u64 cookie = (u64)r->cfg.id << 48 | (u64)at << 32 | op->sent;
	const u8 *data = NULL;
	int slot;

	if (op->from.op == TORUS_RMA_PUT)
		data = find_put_source(r, op, &n);
	else if (op->from.op == TORUS_RMA_GET)
		ask.bytes = n;
	ask.addr += op->sent;
	if (n == left) {
		ask.flags |= op->from.flags & TORUS_RMA_NOTIFY;
		if (asks_for_ack(r, &op->from))
			ask.flags |= TN_RMA_ASK;
	}
	slot = r->cfg.ops->issue(r->cfg.host, op->from.node, &ask, data, data ? n : 0, cookie, now);
	if (slot < 0)
		return slot;
	op->sent += n;
	op->slot = (u16)slot;
	op->whole = n == left;
	op->parts++;
	r->parts++;
	return 0;
}

/* Return: true if the operation needs no more attention; *@blocked: it waits for packets. */
static bool issue_now(struct tn_rma_ring *r, u64 now, bool *blocked)
{
	struct tn_rma_ring_op *op = &r->cfg.op[r->now];
	int err = 0;

	if (op->status == TN_RMA_DONE) {
		if (r->parts >= r->cfg.parts_max)
			return false;
		err = issue_part(r, r->now, now);
	}
	if (err == -EAGAIN) {
		*blocked = true;
		return false;
	}
	tn_assert(!err || err == -EHOSTUNREACH);
	if (err)
		op->status = TN_RMA_UNREACHABLE;
	if (op->status != TN_RMA_DONE)
		op->whole = true;
	if (op->whole) {
		end_if_whole(r, r->now);
		r->now = NO_OP;
	}
	return true;
}

/* Return: the FE operation of this context with this cookie; NULL: none is open. */
static const struct tn_rma_ring_op *find_waiting(const struct tn_rma_ring *r, u64 cookie)
{
	u32 i;

	for (i = 0; i < r->cfg.ops_max; i++) {
		const struct tn_rma_ring_op *op = &r->cfg.op[i];

		if (op->open && op->from.op == TORUS_RMA_FE && op->parts &&
		    op->from.cookie == cookie)
			return op;
	}
	return NULL;
}

/* Return: false if the request of the CANCEL cannot be sent now. */
static bool cancel_one(struct tn_rma_ring *r, struct tn_rma_ring_op *cancel)
{
	const struct tn_rma_ring_op *op = find_waiting(r, cancel->from.value);
	int err = op ? r->cfg.ops->cancel(r->cfg.host, op->slot, &op->ask) : -ENOENT;

	if (err == -EAGAIN)
		return false;
	if (err) {
		cancel->status = TORUS_RMA_INVALID;
		cancel->reason = TORUS_RMA_BAD_COOKIE;
	}
	return true;
}

/* Takes the next request. Return: false if none can be taken now. */
static bool take_ask(struct tn_rma_ring *r, bool *blocked)
{
	struct tn_rma_ring_op op = { .open = true, .next = NO_OP };
	u16 at = r->idle;

	if (at == NO_OP || !look_ahead(r))
		return false;
	if (!r->bad && r->ahead.flags & TORUS_RMA_FENCE && r->open)
		return false;
	op.from = r->ahead;
	op.ask = translate_ask(r, &r->ahead);
	if (r->bad) {
		op.status = TORUS_RMA_INVALID;
		op.reason = r->bad;
		op.value = r->allowed;
	} else if (op.from.op == TORUS_RMA_CANCEL && !cancel_one(r, &op)) {
		*blocked = true;
		return false;
	}
	r->has_ahead = false;
	r->idle = r->cfg.op[at].next;
	r->cfg.op[at] = op;
	r->busy++;
	r->open++;
	if (r->bad || op.from.op == TORUS_RMA_CANCEL)
		end_op(r, at);
	else
		r->now = at;
	return true;
}

/* Return: true if there is more to do at once. */
static bool sleep_now(struct tn_rma_ring *r, bool blocked)
{
	u32 full = r->ended == NO_OP ? 0 : TORUS_RMA_CQ_FULL;

	r->asleep = true;
	tn_store32(&r->cfg.head->naps, ++r->naps);
	tn_store32(&r->cfg.head->sleeps, TORUS_RMA_ASLEEP | full);
	tn_fence();
	if (full && r->cq_tail - tn_load32(&r->cfg.head->cq_head) < r->cfg.cq_entries)
		return true;
	return !blocked && !r->has_ahead && r->now == NO_OP &&
	       tn_load32(&r->cfg.head->sq_tail) != r->sq_tail;
}

/* Cancels what waits for a full/empty bit. Return: true if something is left to be cancelled. */
static bool cancel_all(struct tn_rma_ring *r)
{
	bool left = false;
	u32 i;

	for (i = 0; i < r->cfg.ops_max; i++) {
		struct tn_rma_ring_op *op = &r->cfg.op[i];

		if (!op->open || op->from.op != TORUS_RMA_FE || op->cancelled)
			continue;
		if (r->cfg.ops->cancel(r->cfg.host, op->slot, &op->ask) == -EAGAIN)
			left = true;
		else
			op->cancelled = true;
	}
	return left;
}

enum tn_rma_ring_state tn_rma_ring_work(struct tn_rma_ring *r, u64 now)
{
	bool blocked = false;
	unsigned int n;

	write_ends(r);
	if (r->closed)
		return cancel_all(r) ? TN_RMA_RING_BLOCKED : TN_RMA_RING_IDLE;
	if (r->asleep) {
		r->asleep = false;
		tn_store32(&r->cfg.head->sleeps, 0);
	}
	if (!r->broken)
		read_tail(r);
	for (n = 0; n < TN_RMA_RING_BATCH; n++) {
		if (r->now == NO_OP ? !take_ask(r, &blocked) : !issue_now(r, now, &blocked))
			break;
	}
	tn_store32(&r->cfg.head->sq_head, r->sq_head);
	write_ends(r);
	if (n == TN_RMA_RING_BATCH || (!r->broken && sleep_now(r, blocked)))
		return TN_RMA_RING_MORE;
	return blocked ? TN_RMA_RING_BLOCKED : TN_RMA_RING_IDLE;
}

bool tn_rma_ring_uses(const struct tn_rma_ring *r, u32 region)
{
	u32 i;

	if (r->has_ahead && has_ring_data(&r->ahead) && r->ahead.local == region)
		return true;
	for (i = 0; i < r->cfg.ops_max; i++) {
		const struct tn_rma_ring_op *op = &r->cfg.op[i];

		if (op->open && has_ring_data(&op->from) && op->from.local == region)
			return true;
	}
	return false;
}

void tn_rma_ring_close(struct tn_rma_ring *r)
{
	u16 at = r->now;
	u32 i;

	for (i = 0; i < r->cfg.ops_max; i++)
		r->cfg.op[i].cancelled = false;
	r->closed = true;
	r->has_ahead = false;
	r->now = NO_OP;
	if (at != NO_OP) {
		r->cfg.op[at].whole = true;
		end_if_whole(r, at);
	}
	write_ends(r);
}
