// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* The owner of remote memory; see rma_owner.h and rma.h. */
#include "rma_owner.h"

#define GENERATION	0xff000000u	/* bits of a key */

/**
 * struct errand - a request that the owner processes
 * @ask: the request
 * @data: its @bytes of data
 * @src: node that sent it
 * @bytes: see @data
 * @data_out: bytes of data that were written after the flit of the reply
 * @now: when it arrived
 * @reply: the reply; its operation is 0 if only an acknowledgement is due
 */
struct errand {
	struct tn_rma_ask ask;
	const u8 *data;
	u32 src;
	u32 bytes;
	u32 data_out;
	u64 now;
	struct tn_rma_reply reply;
};

/* The bytes of a region that an access covers; the access is allowed. */
struct place {
	struct tn_rma_region *region;
	u32 index;
	u64 offset;
};

static u8 *reply_room(struct tn_rma_owner *o, u32 dst)
{
	return o->ops->net.room(o->host, TN_RMA_REPLIES, dst);
}

/* Return: what is known of @src, which has sent a RESET. */
static struct tn_rma_source *source_of(const struct tn_rma_owner *o, u32 src)
{
	return &o->piece[src / TN_RMA_PIECE][src % TN_RMA_PIECE];
}

/* Sends a reply of one flit with @bytes of data after it, in memory that was reserved. */
static void send_rma_reply(struct tn_rma_owner *o, u32 dst, const struct tn_rma_reply *reply,
			   u32 bytes)
{
	u8 *p = reply_room(o, dst);

	tn_assert(p);
	bytes += tn_rma_reply_put(p, reply);
	o->ops->net.send(o->host, TN_RMA_REPLIES, dst, bytes);
}

/* Notes that the errand is refused. Return: @reason */
static u8 refuse_errand(struct errand *e, u8 reason, u64 allowed)
{
	e->reply.value = allowed;
	return reason;
}

/* Finds the region and offset of @addr. Return: 0, or the reason of the refusal. */
static u8 resolve_place(struct tn_rma_owner *o, struct errand *e, u64 addr, u64 bytes, u16 need,
			struct place *at)
{
	const struct tn_window *space;
	struct tn_far far;

	at->index = e->ask.region;
	at->offset = addr;
	if (!(e->ask.flags & TN_RMA_KEYED)) {
		space = o->ops->space(o->host, e->ask.job);
		if (!space)
			return TN_RMA_REGION;
		switch (tn_window_look(space, addr, bytes, need, &far)) {
		case -ENXIO:
			return TN_RMA_REGION;
		case -ESTALE:
			return TN_RMA_GONE;
		case -EACCES:
			return refuse_errand(e, TN_RMA_ACCESS, far.access);
		case -ERANGE:
			return refuse_errand(e, TN_RMA_BOUNDS, far.room);
		}
		at->index = far.target;
		at->offset = far.to;
	}
	if (at->index >= o->regions || !o->region[at->index].key)
		return TN_RMA_REGION;
	at->region = &o->region[at->index];
	return 0;
}

/* Sets @at to the @bytes bytes at @addr. Return: 0, or the reason why they must not be accessed. */
static u8 find_access(struct tn_rma_owner *o, struct errand *e, u64 addr, u64 bytes, u16 need,
		      struct place *at)
{
	u8 reason = resolve_place(o, e, addr, bytes, need, at);
	const struct tn_rma_region *r;

	if (reason)
		return reason;
	r = at->region;
	if (e->ask.flags & TN_RMA_KEYED && e->ask.key != r->key)
		return (e->ask.key ^ r->key) & ~GENERATION ? TN_RMA_KEY : TN_RMA_GONE;
	if (!r->bytes)
		return TN_RMA_GONE;
	if (r->job != e->ask.job)
		return TN_RMA_JOB;
	if (need & ~r->access)
		return refuse_errand(e, TN_RMA_ACCESS, r->access);
	if (at->offset > r->bytes)
		return refuse_errand(e, TN_RMA_BOUNDS, 0);
	if (bytes > r->bytes - at->offset)
		return refuse_errand(e, TN_RMA_BOUNDS, r->bytes - at->offset);
	return 0;
}

/*
 * Sets @word to the aligned word of @bytes at @addr. Return: 0 if the errand may access it, else
 * the reason of the refusal.
 */
static u8 find_word(struct tn_rma_owner *o, struct errand *e, u64 addr, unsigned int bytes,
		    u16 need, struct place *at, u8 **word)
{
	u8 reason = find_access(o, e, addr, bytes, need, at);
	u64 run;

	if (reason)
		return reason;
	if (at->offset % bytes)
		return refuse_errand(e, TN_RMA_ALIGN, bytes);
	*word = o->ops->mem(o->host, at->index, at->offset, &run);
	tn_assert(run >= bytes && !((unsigned long)*word % bytes));
	return 0;
}

/* Copies @bytes from or to a region. */
static void copy_region(struct tn_rma_owner *o, const struct place *at, u8 *to, const u8 *from,
			u64 bytes)
{
	u64 offset = at->offset, run;

	while (bytes) {
		u8 *p = o->ops->mem(o->host, at->index, offset, &run);

		tn_assert(run);
		if (run > bytes)
			run = bytes;
		if (to) {
			memcpy(to, p, run);
			to += run;
		} else {
			memcpy(p, from, run);
			from += run;
		}
		offset += run;
		bytes -= run;
	}
}

/*
 * Called when bytes of a region have changed: notes their words, if the region has full/empty bits,
 * so that waiters are served.
 */
static void note_changed(struct tn_rma_owner *o, const struct place *at, u64 bytes)
{
	unsigned int i = o->served[0].any;

	if (!at->region->fe || !bytes)
		return;
	tn_assert(!o->served[i].any);
	o->served[i] = (struct tn_rma_words) {
		.region = at->index, .word = at->offset / 8, .last = (at->offset + bytes - 1) / 8,
		.any = true,
	};
}

static u8 reason_of_error(int err)
{
	return err == -ENOSPC ? TN_RMA_RNR : err == -EAGAIN ? TN_RMA_BUSY : TN_RMA_BAD;
}

static u8 execute_put(struct tn_rma_owner *o, struct errand *e)
{
	struct place at, flag;
	u8 *word = NULL, reason = find_access(o, e, e->ask.addr, e->bytes, TN_ACCESS_WRITE, &at);
	int err;

	if (!reason && e->ask.flags & TN_RMA_NOTIFY)
		reason = find_word(o, e, e->ask.compare, 8, TN_ACCESS_AMO, &flag, &word);
	if (reason)
		return reason;
	copy_region(o, &at, NULL, e->data, e->bytes);
	note_changed(o, &at, e->bytes);
	o->count.bytes_in += e->bytes;
	if (!word)
		return 0;
	err = tn_amo(word, TN_AMO_ADD, TN_AMO_U64, e->ask.value, 0, NULL);
	if (err)
		return reason_of_error(err);
	note_changed(o, &flag, 8);
	return 0;
}

static u8 execute_get(struct tn_rma_owner *o, struct errand *e)
{
	struct place at;
	u8 reason;

	if (e->ask.bytes > o->data_max)
		return refuse_errand(e, TN_RMA_LENGTH, o->data_max);
	reason = find_access(o, e, e->ask.addr, e->ask.bytes, TN_ACCESS_READ, &at);
	if (reason)
		return reason;
	copy_region(o, &at, reply_room(o, e->src) + TN_RMA_FLIT, NULL, e->ask.bytes);
	e->reply.op = TN_RMA_DATA;
	e->data_out = e->ask.bytes;
	o->count.bytes_out += e->ask.bytes;
	return 0;
}

static u8 execute_amo(struct tn_rma_owner *o, struct errand *e)
{
	const struct tn_rma_ask *a = &e->ask;
	unsigned int bytes = tn_amo_bytes(a->type);
	struct place at;
	u8 *word, reason = find_word(o, e, a->addr, bytes, TN_ACCESS_AMO, &at, &word);
	u64 old;
	int err;

	if (reason)
		return reason;
	err = tn_amo(word, a->amo, a->type, a->value, a->compare, &old);
	if (err)
		return reason_of_error(err);
	note_changed(o, &at, bytes);
	if (a->slot != TN_RMA_POSTED) {
		e->reply.op = TN_RMA_OLD;
		e->reply.value = old;
	}
	return 0;
}

static u8 execute_fe(struct tn_rma_owner *o, struct errand *e)
{
	const struct tn_rma_ask *a = &e->ask;
	struct tn_rma_source *s = source_of(o, e->src);
	struct tn_fe_ask ask = {
		.op = a->fe_op, .q = a->q, .r = a->r, .amo = a->amo, .type = a->type, .cmp = a->cmp,
		.tag = a->slot, .from = e->src, .number = a->number, .value = a->value,
		.compare = a->compare,
	};
	struct place at;
	u8 *word, reason = find_word(o, e, a->addr, 8, TN_ACCESS_FE, &at, &word);
	u64 old;
	int result;

	if (reason)
		return reason;
	if (!at.region->fe)
		return TN_RMA_NO_FE;
	result = tn_fe_ask(o->pool, at.region->fe, at.offset / 8, (u64 *)word, &ask, e->now, &old);
	if (result == -EDQUOT)
		return refuse_errand(e, TN_RMA_RNR, tn_fe_full_quota(at.region->fe)->max);
	if (result < 0)
		return reason_of_error(result);
	if (result == TN_FE_WAITS) {
		s->waits++;
		o->count.waited++;
		return 0;
	}
	note_changed(o, &at, 8);
	e->reply.op = TN_RMA_OLD;
	e->reply.value = old;
	return 0;
}

static u8 execute_send(struct tn_rma_owner *o, struct errand *e)
{
	u64 allowed = 0;
	u8 reason = o->ops->recv(o->host, e->src, &e->ask, e->data, e->bytes, &allowed);

	if (reason)
		return refuse_errand(e, reason, allowed);
	o->count.bytes_in += e->bytes;
	return 0;
}

static u8 execute_errand(struct tn_rma_owner *o, struct errand *e)
{
	switch (e->ask.op) {
	case TN_RMA_PUT:
		return execute_put(o, e);
	case TN_RMA_GET:
		return execute_get(o, e);
	case TN_RMA_AMO:
		return execute_amo(o, e);
	case TN_RMA_FE:
		return execute_fe(o, e);
	default:
		return execute_send(o, e);
	}
}

/* Replies to a numbered operation, unless its acknowledgement may wait for that of later ones. */
static void answer_errand(struct tn_rma_owner *o, struct errand *e, u8 reason)
{
	struct tn_rma_source *s = source_of(o, e->src);

	if (reason) {
		e->reply.op = TN_RMA_NAK;
		e->reply.why = reason;
		o->count.refused++;
		s->refused += e->ask.slot == TN_RMA_POSTED;
	} else {
		o->count.executed++;
	}
	if (!e->reply.op && e->ask.slot == TN_RMA_POSTED) {
		s->unacked++;
		if (!(e->ask.flags & TN_RMA_ASK) && s->unacked < TN_RMA_ACK_EVERY)
			return;
		e->reply.op = TN_RMA_ACK;
		e->reply.number++;
		e->reply.refused = s->refused;
		s->unacked = 0;
	}
	if (!e->reply.op)
		return;		/* the request waits for its condition, and the reply comes later */
	send_rma_reply(o, e->src, &e->reply, e->data_out);
}

static u64 status_of(const struct tn_rma_owner *o, u32 src)
{
	const struct tn_rma_source *s = tn_rma_owner_source(o, src);

	return (s ? s->next : 0) | (u64)o->epoch << 32;
}

void tn_rma_owner_forget(struct tn_rma_owner *o, u32 src)
{
	struct tn_rma_source *s = tn_rma_owner_source(o, src);
	u32 ended = s ? tn_fe_end_from(o->pool, src, s->waits) : 0;

	if (!s)
		return;
	tn_assert(ended == s->waits);
	s->waits = 0;
}

struct sweep {
	struct tn_rma_owner *o;
	bool (*gone)(void *ctx, u32 src);
	void *ctx;
};

static bool sweep_waiter(void *ctx, const struct tn_fe_wait *w)
{
	const struct sweep *s = ctx;

	if (!s->gone(s->ctx, w->ask.from))
		return false;
	tn_assert(source_of(s->o, w->ask.from)->waits);
	source_of(s->o, w->ask.from)->waits--;
	return true;
}

void tn_rma_owner_sweep(struct tn_rma_owner *o, bool (*gone)(void *ctx, u32 src), void *ctx)
{
	struct sweep s = { .o = o, .gone = gone, .ctx = ctx };

	if (o->pool->waiting)
		tn_fe_end(o->pool, sweep_waiter, &s);
}

/*
 * Answers a QUERY or RESET. The slot of the reply is the number of requests that wait; for a RESET,
 * of those that it has ended.
 */
static void answer_status(struct tn_rma_owner *o, struct errand *e)
{
	struct tn_rma_source *s = tn_rma_owner_source(o, e->src);
	bool resets = e->ask.op == TN_RMA_RESET;

	if (!s && resets) {
		if (!o->ops->net.extend(o->host, e->src))
			return;
		s = source_of(o, e->src);
	}
	e->reply.op = TN_RMA_STATUS;
	e->reply.why = e->ask.op;
	e->reply.slot = s && (s->known || resets) ? s->waits : TN_RMA_POSTED;
	if (resets) {
		tn_rma_owner_forget(o, e->src);
		*s = (struct tn_rma_source) { .next = e->ask.number, .known = 1 };
	}
	if (s) {
		s->unacked = 0;
		e->reply.refused = s->refused;
	}
	e->reply.value = status_of(o, e->src);
	send_rma_reply(o, e->src, &e->reply, 0);
}

/* Ends a request that waits. If it no longer waits, it was executed and its reply was sent. */
static void cancel_waiter(struct tn_rma_owner *o, struct errand *e)
{
	struct place at;
	u8 *word;

	if (find_word(o, e, e->ask.addr, 8, TN_ACCESS_FE, &at, &word) || !at.region->fe ||
	    tn_fe_cancel(o->pool, at.region->fe, at.offset / 8, e->src, e->ask.number))
		return;
	source_of(o, e->src)->waits--;
	e->reply.op = TN_RMA_NAK;
	e->reply.why = TN_RMA_CANCELLED;
	e->reply.value = 0;
	send_rma_reply(o, e->src, &e->reply, 0);
}

int tn_rma_owner_take(struct tn_rma_owner *o, u32 src, const u8 *payload, u32 len, u64 now)
{
	struct tn_rma_source *s = tn_rma_owner_source(o, src);
	struct errand e = { .src = src, .now = now };
	u32 head;

	tn_assert(src < o->nodes);
	if (!tn_rma_owner_poll(o) || !reply_room(o, src))
		return -EAGAIN;
	head = tn_rma_ask_get(payload, len, &e.ask);
	e.data = payload + head;
	e.bytes = len - head;
	e.reply.slot = e.ask.slot;
	e.reply.number = e.ask.number;
	o->count.malformed += !head;
	if (len < TN_RMA_FLIT)
		return 0;
	if (e.ask.op >= TN_RMA_QUERY && e.ask.op <= TN_RMA_CANCEL) {
		if (head && e.ask.op == TN_RMA_CANCEL)
			cancel_waiter(o, &e);
		else if (head)
			answer_status(o, &e);
		return 0;
	}
	if (!s || !s->known || e.ask.number != s->next) {
		o->count.gaps++;
		e.reply.op = TN_RMA_NAK;
		e.reply.why = TN_RMA_GAP;
		e.reply.value = status_of(o, src);
		send_rma_reply(o, src, &e.reply, 0);
		return 0;
	}
	s->next++;
	answer_errand(o, &e, head ? execute_errand(o, &e) : TN_RMA_BAD);
	tn_rma_owner_poll(o);
	return 0;
}

/*
 * Executes the first of the waiters of a word whose condition holds. Return: TN_FE_DONE; TN_FE_NONE
 * if there is none; -EAGAIN if there is no memory for a reply.
 */
static int serve_waiter(struct tn_rma_owner *o, const struct tn_rma_words *w)
{
	struct tn_fe_bits *bits = o->region[w->region].fe;
	struct tn_rma_reply reply = { .op = TN_RMA_OLD };
	struct tn_fe_wait done;
	u64 run, old;
	u8 *word;
	int result;

	if (!reply_room(o, 0))
		return -EAGAIN;
	word = o->ops->mem(o->host, w->region, w->word * 8, &run);
	result = tn_fe_serve(o->pool, bits, w->word, (u64 *)word, &done, &old);
	if (result == TN_FE_NONE)
		return TN_FE_NONE;
	/*
	 * a processor keeps changing the word: refuse, so that serving does not wait for the
	 * processor
	 */
	if (result == -EAGAIN) {
		tn_fe_cancel(o->pool, bits, w->word, done.ask.from, done.ask.number);
		reply.op = TN_RMA_NAK;
		reply.why = TN_RMA_BUSY;
	} else {
		reply.value = old;
		o->count.executed++;
	}
	reply.slot = done.ask.tag;
	reply.number = done.ask.number;
	source_of(o, done.ask.from)->waits--;
	send_rma_reply(o, done.ask.from, &reply, 0);
	return TN_FE_DONE;
}

/*
 * Serves the waiters of all words that the last request changed. Return: false if there is no
 * memory for a reply.
 */
static bool serve_words(struct tn_rma_owner *o, struct tn_rma_words *w)
{
	const struct tn_fe_bits *bits = o->region[w->region].fe;
	int result = TN_FE_DONE;

	for (; w->word <= w->last; w->word++) {
		if (!bits->waits[w->word / 64]) {
			w->word |= 63;
			continue;
		}
		while (tn_fe_has_waiters(bits, w->word) && result == TN_FE_DONE)
			result = serve_waiter(o, w);
		if (result == -EAGAIN)
			return false;
		result = TN_FE_DONE;
	}
	w->any = false;
	return true;
}

bool tn_rma_owner_poll(struct tn_rma_owner *o)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(o->served); i++)
		if (o->served[i].any && !serve_words(o, &o->served[i]))
			return false;
	return true;
}

int tn_rma_owner_changed(struct tn_rma_owner *o, u32 region, u64 offset, u64 bytes)
{
	struct place at = { .region = &o->region[region], .index = region, .offset = offset };

	tn_assert(offset <= at.region->bytes && bytes <= at.region->bytes - offset);
	if (!tn_rma_owner_poll(o))
		return -EAGAIN;
	note_changed(o, &at, bytes);
	tn_rma_owner_poll(o);
	return 0;
}

/* Refuses the waiter of a closed region that came first. */
static void refuse_oldest(struct tn_rma_owner *o, struct tn_fe_bits *bits)
{
	const struct tn_fe_wait *w = bits->oldest;
	const struct tn_rma_reply reply = {
		.op = TN_RMA_NAK, .why = TN_RMA_GONE, .slot = w->ask.tag, .number = w->ask.number,
	};

	source_of(o, w->ask.from)->waits--;
	o->count.refused++;
	send_rma_reply(o, w->ask.from, &reply, 0);
	tn_fe_end_oldest(o->pool, bits);
}

int tn_rma_owner_close(struct tn_rma_owner *o, u32 region)
{
	struct tn_rma_region *r = &o->region[region];
	unsigned int i;

	r->bytes = 0;
	for (i = 0; i < ARRAY_SIZE(o->served); i++)
		if (o->served[i].region == region)
			o->served[i].any = false;
	while (r->fe && r->fe->oldest) {
		if (!reply_room(o, r->fe->oldest->ask.from))
			return -EAGAIN;
		refuse_oldest(o, r->fe);
	}
	return 0;
}
