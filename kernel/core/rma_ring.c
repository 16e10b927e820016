// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* A context of remote memory at the NIC; see rma_ring.h. */
#include "rma_ring.h"
#include "splitmix64.h"

#define NO_OP		TN_RMA_NO_OP

_Static_assert((int)TORUS_RMA_PUT == (int)TN_RMA_PUT && (int)TORUS_RMA_GET == (int)TN_RMA_GET &&
	       (int)TORUS_RMA_AMO == (int)TN_RMA_AMO && (int)TORUS_RMA_FE == (int)TN_RMA_FE &&
	       (int)TORUS_RMA_SEND == (int)TN_RMA_SEND &&
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
		.cfg = *cfg, .now = NO_OP, .recv = NO_OP, .recv_last = NO_OP, .ended = NO_OP,
	};
	for (i = 0; i < cfg->ops_max; i++)
		cfg->op[i] = (struct tn_rma_ring_op) {
			.next = i + 1 < cfg->ops_max ? (u16)(i + 1) : NO_OP, .hashed = NO_OP,
		};
	for (i = 0; i < TN_RMA_RING_HELD; i++)
		r->held[i].first = NO_OP;
}

static void break_ring(struct tn_rma_ring *r, enum torus_rma_broken why)
{
	if (r->broken)
		return;
	r->broken = (u8)why;
	tn_store32(&r->cfg.head->broken, why);
}

/* --- operations that can be cancelled --------------------------------------------------- */

static bool is_cancellable(const struct tn_rma_ring_op *op)
{
	return op->from.op == TORUS_RMA_FE || op->from.op == TORUS_RMA_RECV;
}

/* Return: the first operation in the list of the hash of this cookie. */
static u16 *list_of_cookie(const struct tn_rma_ring *r, u64 cookie)
{
	return &r->cfg.op[splitmix64_mix(cookie ^ r->cfg.seed) % r->cfg.ops_max].hashed;
}

static void hash_op(struct tn_rma_ring *r, u16 at)
{
	struct tn_rma_ring_op *op = &r->cfg.op[at];
	u16 *list = list_of_cookie(r, op->from.cookie);

	op->like_before = NO_OP;
	op->like = *list;
	if (op->like != NO_OP)
		r->cfg.op[op->like].like_before = at;
	*list = at;
}

static void unhash_op(struct tn_rma_ring *r, u16 at)
{
	const struct tn_rma_ring_op *op = &r->cfg.op[at];

	if (op->like_before == NO_OP)
		*list_of_cookie(r, op->from.cookie) = op->like;
	else
		r->cfg.op[op->like_before].like = op->like;
	if (op->like != NO_OP)
		r->cfg.op[op->like].like_before = op->like_before;
}

/* --- completions ---------------------------------------------------------------- */

/* Takes the first operation out of the list of those that have ended, and frees it. */
static void free_ended(struct tn_rma_ring *r)
{
	u16 at = r->ended;

	r->ended = r->cfg.op[at].next;
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
		.context = op->from.op == TORUS_RMA_RECV ? op->slot : 0,
	};
}

/* Writes completions while the CQ has room. */
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
	if (r->cq_tail - head > r->cfg.cq_entries)
		break_ring(r, TORUS_RMA_CQ_HEAD);
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

void tn_rma_ring_end(struct tn_rma_ring *r, u16 at)
{
	struct tn_rma_ring_op *op = &r->cfg.op[at];

	if (is_cancellable(op) && op->status != TORUS_RMA_INVALID)
		unhash_op(r, at);
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
		tn_rma_ring_end(r, at);
}

void tn_rma_ring_land(struct tn_rma_ring *r, const struct tn_rma_ring_op *op, u32 at,
		      const u8 *data, u32 bytes)
{
	u64 offset = op->from.offset + at, run;
	u32 n, done;
	u8 *to;

	for (done = 0; done < bytes; done += n) {
		to = r->cfg.ops->mem(r->cfg.host, op->from.local, offset + done, &run);
		n = bytes - done < run ? bytes - done : (u32)run;
		memcpy(to, data + done, n);
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
	if (!r->closed)		/* only a GET that is done has bytes */
		tn_rma_ring_land(r, op, (u32)cookie, end->data, end->bytes);
	if (end->status > op->status || op->status == TN_RMA_DONE) {
		op->status = end->status;
		op->reason = end->reason;
		op->value = end->value;
	}
	end_if_whole(r, at);
}

/* --- requests -------------------------------------------------------------------- */

static void read_tail(struct tn_rma_ring *r)
{
	r->sq_tail = tn_load32(&r->cfg.head->sq_tail);
	if (r->sq_tail - r->sq_head > r->cfg.sq_entries)
		break_ring(r, TORUS_RMA_SQ_TAIL);
}

/* Copies and checks the next request of the SQ, if there is one. Return: true if there is. */
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
	r->bad = tn_rma_ring_check(r, &r->ahead, &r->allowed);
	r->has_ahead = true;
	return true;
}

/* Return: true if the valid request is posted. Only an AMO may have the flag. */
static bool is_posted_ask(const struct torus_rma_ask *a)
{
	return a->op == TORUS_RMA_PUT || a->op == TORUS_RMA_SEND || a->flags & TORUS_RMA_POSTED;
}

/*
 * Return: the request that will be issued to the same node after operation @at; NULL: it is not
 * known.
 */
static const struct torus_rma_ask *find_next_ask(struct tn_rma_ring *r, u16 at)
{
	u16 next = r->cfg.op[at].next;

	if (at != r->now)
		return next == NO_OP ? NULL : &r->cfg.op[next].from;
	return look_ahead(r) && !r->bad && r->ahead.node == r->cfg.op[at].from.node &&
	       !(r->ahead.flags & TORUS_RMA_FENCE) ? &r->ahead : NULL;
}

/*
 * Return: true if operation @at, of which the last part is being issued, must ask for an
 * acknowledgement.
 */
static bool asks_for_ack(struct tn_rma_ring *r, u16 at)
{
	const struct torus_rma_ask *next;

	if (!is_posted_ask(&r->cfg.op[at].from))
		return false;
	if (r->busy - r->recvs >= (r->cfg.ops_max - r->recvs) / 2 ||
	    r->parts >= r->cfg.parts_max / 2)
		return true;
	next = find_next_ask(r, at);
	return !next || !is_posted_ask(next);
}

static struct tn_rma_ask translate_ask(const struct tn_rma_ring *r, const struct torus_rma_ask *a)
{
	struct tn_rma_ask ask = {
		.op = a->op, .flags = a->flags & TORUS_RMA_KEYED,
		.ep = r->cfg.ep, .job = r->cfg.job,
		.slot = a->flags & TORUS_RMA_POSTED ? TN_RMA_POSTED : 0,
		.region = a->region, .key = a->key, .addr = a->addr, .value = a->value,
		.compare = a->compare,
	};

	tn_rma_kind_get(&ask, a->word);
	return ask;
}

/* Copies the @n bytes of a message together. Return: where they are */
static const u8 *gather_message(struct tn_rma_ring *r, const struct tn_rma_ring_op *op, u32 n)
{
	u32 done, part;
	u64 run;
	const u8 *from;

	tn_assert(r->cfg.gather && n <= r->cfg.data_max);
	for (done = 0; done < n; done += part) {
		from = r->cfg.ops->mem(r->cfg.host, op->from.local, op->from.offset + done, &run);
		part = n - done < run ? n - done : (u32)run;
		memcpy(r->cfg.gather + done, from, part);
	}
	return r->cfg.gather;
}

/*
 * Return: the address of the bytes of a PUT or SEND from @sent on; *@n: number of bytes of the next
 * part, which is the only one of a SEND.
 */
static const u8 *find_source(struct tn_rma_ring *r, const struct tn_rma_ring_op *op, u32 *n)
{
	const u8 *from;
	u64 run;

	if (!*n)
		return NULL;
	if (op->from.flags & TORUS_RMA_INLINE)
		return (const u8 *)&op->from.offset;
	from = r->cfg.ops->mem(r->cfg.host, op->from.local, op->from.offset + op->sent, &run);
	if (run >= *n)
		return from;
	if (op->from.op == TORUS_RMA_SEND)
		return gather_message(r, op, *n);
	*n = (u32)run;
	return from;
}

/* Issues the next part of an operation. Return: as ops->issue. */
static int issue_part(struct tn_rma_ring *r, u16 at, u64 now)
{
	struct tn_rma_ring_op *op = &r->cfg.op[at];
	struct tn_rma_ask ask = op->ask;
	u32 left = op->from.bytes - op->sent, n = left < r->cfg.data_max ? left : r->cfg.data_max;
	u64 cookie = (u64)r->cfg.id << 48 | (u64)at << 32 | op->sent;
	const u8 *data = NULL;
	int slot;

	if (op->from.op == TORUS_RMA_PUT || op->from.op == TORUS_RMA_SEND)
		data = find_source(r, op, &n);
	else if (op->from.op == TORUS_RMA_GET)
		ask.bytes = n;
	ask.addr += op->sent;
	if (n == left) {
		ask.flags |= op->from.flags & TORUS_RMA_NOTIFY;
		if (asks_for_ack(r, at))
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

/*
 * Issues the next part of an operation, or stops it. Return: 1 if all parts are issued; 0 if there
 * are more; -EAGAIN if the part cannot be sent now; -ENOSPC if too many parts are open.
 */
static int issue_more(struct tn_rma_ring *r, u16 at, u64 now)
{
	struct tn_rma_ring_op *op = &r->cfg.op[at];
	int err = 0;

	if (op->status == TN_RMA_DONE) {
		if (r->parts >= r->cfg.parts_max)
			return -ENOSPC;
		err = issue_part(r, at, now);
	}
	if (err == -EAGAIN)
		return err;
	tn_assert(!err || err == -EHOSTUNREACH);
	if (err)
		op->status = TN_RMA_UNREACHABLE;
	if (op->status != TN_RMA_DONE)
		op->whole = true;
	return op->whole;
}

/* --- nodes to which nothing can be sent ------------------------------------------------ */

/*
 * Return: the list of operations that wait until something can be sent to @node; NULL: none wait.
 */
static struct tn_rma_held *find_held(struct tn_rma_ring *r, u32 node)
{
	unsigned int i;

	for (i = 0; r->holds && i < TN_RMA_RING_HELD; i++)
		if (r->held[i].first != NO_OP && r->held[i].node == node)
			return &r->held[i];
	return NULL;
}

/*
 * Puts the present operation into a new list of operations that wait. Return: false if there are
 * too many lists.
 */
static bool hold_now(struct tn_rma_ring *r)
{
	unsigned int i;

	for (i = 0; i < TN_RMA_RING_HELD; i++) {
		if (r->held[i].first != NO_OP)
			continue;
		r->held[i] = (struct tn_rma_held) {
			.node = r->cfg.op[r->now].from.node, .first = r->now, .last = r->now,
		};
		r->holds++;
		r->now = NO_OP;
		return true;
	}
	return false;
}

static void append_held(struct tn_rma_ring *r, struct tn_rma_held *held, u16 at)
{
	r->cfg.op[held->last].next = at;
	held->last = at;
}

/* Takes the first operation out of a list. Return: its index. */
static u16 pop_held(struct tn_rma_ring *r, struct tn_rma_held *held)
{
	u16 at = held->first;

	held->first = r->cfg.op[at].next;
	if (held->first == NO_OP)
		r->holds--;
	return at;
}

/* Issues the waiting operations of each node, as far as possible. Return: number of steps. */
static unsigned int issue_held(struct tn_rma_ring *r, u64 now)
{
	unsigned int i, n = 0;
	int done;

	for (i = 0; r->holds && i < TN_RMA_RING_HELD; i++) {
		struct tn_rma_held *held = &r->held[i];

		while (held->first != NO_OP && n < TN_RMA_RING_BATCH) {
			done = issue_more(r, held->first, now);
			if (done < 0)
				break;
			if (done)
				end_if_whole(r, pop_held(r, held));
			n++;
		}
	}
	return n;
}

/* --- taking requests ------------------------------------------------------------------- */

/*
 * Issues the next part of the present operation, or puts the operation into a list if it has to
 * wait. Return: false if nothing more can be issued now.
 */
static bool issue_now(struct tn_rma_ring *r, u64 now)
{
	u16 at = r->now;
	int done = issue_more(r, at, now);

	if (done == -EAGAIN && hold_now(r))
		return true;
	if (done < 0)
		return false;
	if (done) {
		r->now = NO_OP;
		end_if_whole(r, at);
	}
	return true;
}

/* Return: the FE operation or RECV of this context with this cookie; NO_OP: none is open. */
static u16 find_waiting(const struct tn_rma_ring *r, u64 cookie)
{
	u16 at = *list_of_cookie(r, cookie);

	while (at != NO_OP && r->cfg.op[at].from.cookie != cookie)
		at = r->cfg.op[at].like;
	return at;
}

/* Return: 0; -ENOENT: no such operation is open; -EAGAIN: it cannot be cancelled now. */
static int cancel_waiting(struct tn_rma_ring *r, u64 cookie)
{
	u16 at = find_waiting(r, cookie);
	const struct tn_rma_ring_op *op;

	if (at == NO_OP)
		return -ENOENT;
	op = &r->cfg.op[at];
	if (op->from.op == TORUS_RMA_RECV) {
		tn_rma_ring_unpost(r, at);
		return 0;
	}
	return op->whole ? r->cfg.ops->cancel(r->cfg.host, op->slot, &op->ask) : -EAGAIN;
}

/* Return: false if the request of the CANCEL cannot be sent now. */
static bool cancel_one(struct tn_rma_ring *r, struct tn_rma_ring_op *cancel)
{
	int err = cancel_waiting(r, cancel->from.value);

	if (err == -EAGAIN)
		return false;
	if (err) {
		cancel->status = TORUS_RMA_INVALID;
		cancel->reason = TORUS_RMA_BAD_COOKIE;
	}
	return true;
}

/*
 * Takes the next request. Return: false if none can be taken now; *@blocked is then true if packets
 * must move first.
 */
static bool take_ask(struct tn_rma_ring *r, bool *blocked)
{
	struct tn_rma_ring_op op = { .open = true, .next = NO_OP };
	struct tn_rma_held *held;
	u16 at = r->idle;

	if (at == NO_OP || !look_ahead(r))
		return false;
	if (!r->bad && r->ahead.flags & TORUS_RMA_FENCE && r->open > r->recvs)
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
	op.hashed = r->cfg.op[at].hashed;
	r->cfg.op[at] = op;
	r->busy++;
	r->open++;
	if (!r->bad && is_cancellable(&op))
		hash_op(r, at);
	held = find_held(r, op.from.node);
	if (r->bad || op.from.op == TORUS_RMA_CANCEL)
		tn_rma_ring_end(r, at);
	else if (op.from.op == TORUS_RMA_RECV)
		tn_rma_ring_post(r, at);
	else if (held)
		append_held(r, held, at);
	else
		r->now = at;
	return true;
}

/* Announces to the process that the NIC sleeps. Return: true if there is more to do at once. */
static bool sleep_now(struct tn_rma_ring *r)
{
	u32 full = r->ended == NO_OP ? 0 : TORUS_RMA_CQ_FULL;

	r->asleep = true;
	tn_store32(&r->cfg.head->naps, ++r->naps);
	tn_store32(&r->cfg.head->sleeps, TORUS_RMA_ASLEEP | full);
	tn_fence();
	if (full && r->cq_tail - tn_load32(&r->cfg.head->cq_head) < r->cfg.cq_entries)
		return true;
	return !r->has_ahead && r->now == NO_OP &&
	       tn_load32(&r->cfg.head->sq_tail) != r->sq_tail;
}

/* Cancels FE operations that wait, at most a batch of them. Return: as tn_rma_ring_work() */
static enum tn_rma_ring_state cancel_all(struct tn_rma_ring *r)
{
	enum tn_rma_ring_state state = TN_RMA_RING_IDLE;
	u32 i;

	for (i = 0; i < r->cfg.ops_max; i++) {
		struct tn_rma_ring_op *op = &r->cfg.op[i];

		if (!op->open || op->from.op != TORUS_RMA_FE || op->cancelled)
			continue;
		if (r->steps == TN_RMA_RING_BATCH)
			return TN_RMA_RING_MORE;
		if (r->cfg.ops->cancel(r->cfg.host, op->slot, &op->ask) == -EAGAIN) {
			state = TN_RMA_RING_BLOCKED;
			continue;
		}
		op->cancelled = true;
		r->steps++;
	}
	return state;
}

enum tn_rma_ring_state tn_rma_ring_work(struct tn_rma_ring *r, u64 now)
{
	bool blocked = false;
	unsigned int n;

	r->steps = 0;
	write_ends(r);
	if (r->closed)
		return cancel_all(r);
	if (r->asleep) {
		r->asleep = false;
		tn_store32(&r->cfg.head->sleeps, 0);
	}
	if (!r->broken)
		read_tail(r);
	for (n = issue_held(r, now); n < TN_RMA_RING_BATCH; n++) {
		if (r->now == NO_OP ? !take_ask(r, &blocked) : !issue_now(r, now))
			break;
	}
	r->steps = n;
	tn_store32(&r->cfg.head->sq_head, r->sq_head);
	write_ends(r);
	if (n == TN_RMA_RING_BATCH || (!r->broken && sleep_now(r)))
		return TN_RMA_RING_MORE;
	return blocked || r->holds ? TN_RMA_RING_BLOCKED : TN_RMA_RING_IDLE;
}

bool tn_rma_ring_uses(const struct tn_rma_ring *r, u32 region)
{
	u32 i;

	if (r->has_ahead && tn_rma_ring_has_data(&r->ahead) && r->ahead.local == region)
		return true;
	for (i = 0; i < r->cfg.ops_max; i++) {
		const struct tn_rma_ring_op *op = &r->cfg.op[i];

		if (op->open && tn_rma_ring_has_data(&op->from) && op->from.local == region)
			return true;
	}
	return false;
}

static void stop_op(struct tn_rma_ring *r, u16 at)
{
	r->cfg.op[at].whole = true;
	end_if_whole(r, at);
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
	if (at != NO_OP)
		stop_op(r, at);
	for (i = 0; i < TN_RMA_RING_HELD; i++)
		while (r->held[i].first != NO_OP)
			stop_op(r, pop_held(r, &r->held[i]));
	tn_rma_ring_unpost_all(r);
	write_ends(r);
}
