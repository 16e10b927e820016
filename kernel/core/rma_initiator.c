// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* The initiator of remote memory; see rma_initiator.h and rma.h. */
#include "rma_initiator.h"
#include "splitmix64.h"

#define NO_SLOT	TN_RMA_POSTED
#define NO_PEER	(~0u)

static const struct tn_rma_end end_lost = { .status = TN_RMA_LOST };

/* Return: true if number @a comes before @b. */
static bool precedes_number(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

void tn_rma_initiator_init(struct tn_rma_initiator *i, const struct tn_rma_initiator_ops *ops,
			   void *host, struct tn_rma_peer **piece, u32 nodes,
			   struct tn_rma_open *slot, u32 slots, u64 rma_time, u64 seed)
{
	tn_assert(slots && slots <= TN_RMA_SLOTS_MAX);
	*i = (struct tn_rma_initiator) {
		.ops = ops, .host = host, .piece = piece, .slot = slot, .rma_time = rma_time,
		.seed = seed, .nodes = nodes, .first_busy = NO_PEER, .slots = (u16)slots,
		.idle = NO_SLOT,
	};
}

void tn_rma_initiator_extend(struct tn_rma_initiator *i, u32 node, struct tn_rma_peer *piece)
{
	u32 k, first = node - node % TN_RMA_PIECE;

	for (k = 0; k < TN_RMA_PIECE; k++)
		piece[k] = (struct tn_rma_peer) {
			.next = (u32)splitmix64_mix(i->seed + (first + k) * SPLITMIX64_STEP),
			.posted = { NO_SLOT, NO_SLOT }, .slotted = { NO_SLOT, NO_SLOT },
		};
	i->piece[node / TN_RMA_PIECE] = piece;
}

/* Return: what is known of @dst, to which an operation was issued. */
static struct tn_rma_peer *rma_peer_of(const struct tn_rma_initiator *i, u32 dst)
{
	return &i->piece[dst / TN_RMA_PIECE][dst % TN_RMA_PIECE];
}

/* Return: a free slot; NO_SLOT: there is none. */
static u16 find_free_slot(const struct tn_rma_initiator *i)
{
	return i->idle != NO_SLOT ? i->idle : i->unused < i->slots ? i->unused : NO_SLOT;
}

/* Takes the slot that find_free_slot() has found. */
static void take_slot(struct tn_rma_initiator *i, u16 at)
{
	if (at == i->idle)
		i->idle = i->slot[at].next;
	else
		i->unused++;
}

static struct tn_rma_list *list_of(struct tn_rma_peer *p, const struct tn_rma_open *op)
{
	return op->posted ? &p->posted : &p->slotted;
}

static void append_open(struct tn_rma_initiator *i, struct tn_rma_list *list, u16 at)
{
	i->slot[at].prev = list->last;
	i->slot[at].next = NO_SLOT;
	if (list->last == NO_SLOT)
		list->first = at;
	else
		i->slot[list->last].next = at;
	list->last = at;
}

static void unlink_open(struct tn_rma_initiator *i, struct tn_rma_list *list, u16 at)
{
	const struct tn_rma_open *op = &i->slot[at];

	if (op->prev == NO_SLOT)
		list->first = op->next;
	else
		i->slot[op->prev].next = op->next;
	if (op->next == NO_SLOT)
		list->last = op->prev;
	else
		i->slot[op->next].prev = op->prev;
}

static void count_end(struct tn_rma_initiator_counts *c, u8 status)
{
	c->done += status == TN_RMA_DONE;
	c->refused += status == TN_RMA_REFUSED;
	c->unreachable += status == TN_RMA_UNREACHABLE;
	c->lost += status == TN_RMA_LOST;
	c->unknown += status == TN_RMA_UNKNOWN;
}

/* Ends the operation of a slot, and frees it. */
static void end_slot(struct tn_rma_initiator *i, u16 at, const struct tn_rma_end *end)
{
	struct tn_rma_open *op = &i->slot[at];
	struct tn_rma_peer *p = rma_peer_of(i, op->peer);
	u64 cookie = op->cookie;

	tn_assert(op->op && p->open);
	unlink_open(i, list_of(p, op), at);
	p->open--;
	if (op->op == TN_RMA_FE)
		p->fe--;
	*op = (struct tn_rma_open) { .next = i->idle };
	i->idle = at;
	count_end(&i->count, end->status);
	i->ops->done(i->host, cookie, end);
}

static void end_as(struct tn_rma_initiator *i, u16 at, enum tn_rma_status status)
{
	struct tn_rma_end end = { .status = (u8)status };

	end_slot(i, at, &end);
}

/*
 * Ends the posted operations before @number, which the owner has executed or refused. @refused: how
 * many it has refused so far. If replies have reported fewer refusals, it is not known which of
 * these operations were refused, so they end as unknown.
 */
static void end_acked(struct tn_rma_initiator *i, struct tn_rma_peer *p, u32 number, u32 refused)
{
	bool sure = p->refused == refused;
	u16 at;

	p->refused = refused;
	while ((at = p->posted.first) != NO_SLOT && precedes_number(i->slot[at].number, number))
		end_as(i, at, sure ? TN_RMA_DONE : TN_RMA_UNKNOWN);
}

/* Ends the operations of a list whose number is @number or later. */
static void end_from(struct tn_rma_initiator *i, const struct tn_rma_list *list, u32 number,
		     const struct tn_rma_end *end)
{
	while (list->last != NO_SLOT && !precedes_number(i->slot[list->last].number, number))
		end_slot(i, list->last, end);
}

/*
 * Ends FE operations from @number on that were sent before the last RESET. The owner has refused
 * these; it executes those that were sent after the RESET.
 */
static void end_older(struct tn_rma_initiator *i, struct tn_rma_peer *p, u32 number,
		      const struct tn_rma_end *end)
{
	u16 at, next;

	for (at = p->slotted.first; at != NO_SLOT; at = next) {
		next = i->slot[at].next;
		if (!precedes_number(i->slot[at].number, number) &&
		    precedes_number(i->slot[at].number, p->base))
			end_slot(i, at, end);
	}
}

/*
 * Ends operations before @number as unknown, because their replies were lost; an FE operation may
 * still wait at the owner, so it stays open.
 */
static void end_unanswered(struct tn_rma_initiator *i, struct tn_rma_peer *p, u32 number)
{
	u16 at, next;

	for (at = p->slotted.first; at != NO_SLOT; at = next) {
		next = i->slot[at].next;
		if (i->slot[at].op != TN_RMA_FE && precedes_number(i->slot[at].number, number))
			end_as(i, at, TN_RMA_UNKNOWN);
	}
}

/* Ends all operations with a node as unknown; the next operation to it begins with a RESET. */
static void give_up_peer(struct tn_rma_initiator *i, struct tn_rma_peer *p)
{
	while (p->posted.first != NO_SLOT)
		end_as(i, p->posted.first, TN_RMA_UNKNOWN);
	while (p->slotted.first != NO_SLOT)
		end_as(i, p->slotted.first, TN_RMA_UNKNOWN);
	tn_assert(!p->open && !p->fe);
	p->state = TN_RMA_PEER_UNKNOWN;
	p->drain = false;
}

/* Sends a QUERY or RESET. Return: false if there is no memory for it. */
static bool send_plain(struct tn_rma_initiator *i, u32 dst, u8 op, u32 number)
{
	u8 *room = i->ops->net.room(i->host, TN_RMA_REQUESTS, dst);
	struct tn_rma_ask ask = { .op = op, .number = number };

	if (!room)
		return false;
	i->ops->net.send(i->host, TN_RMA_REQUESTS, dst, tn_rma_ask_put(room, &ask));
	return true;
}

/* Sends a RESET if one is needed, and is possible now. Return: true if operations may be issued. */
static bool try_reset(struct tn_rma_initiator *i, u32 dst)
{
	struct tn_rma_peer *p = rma_peer_of(i, dst);

	if (p->state != TN_RMA_PEER_UNKNOWN && !p->drain)
		return true;
	if (p->open != p->fe || !send_plain(i, dst, TN_RMA_RESET, p->next + 1))
		return false;
	p->base = ++p->next;
	p->refused = 0;
	p->state = TN_RMA_PEER_RESET;
	p->drain = false;
	i->count.resets++;
	return true;
}

/*
 * Called when the owner executes nothing from @number on until a RESET: ends the operations from
 * there on. If earlier operations are still open, no RESET can be sent yet, so the timer is set to
 * ask at once which of them were executed.
 */
static void end_gap(struct tn_rma_initiator *i, u32 dst, u32 number, const struct tn_rma_end *end,
		    u64 now)
{
	struct tn_rma_peer *p = rma_peer_of(i, dst);

	end_from(i, &p->posted, number, end);
	end_from(i, &p->slotted, number, end);
	p->drain = true;
	if (!try_reset(i, dst))
		p->since = now - i->rma_time;
}

static void make_busy(struct tn_rma_initiator *i, u32 dst, u64 now)
{
	struct tn_rma_peer *p = rma_peer_of(i, dst);

	if (p->open++)
		return;
	p->since = now;
	p->queries = 0;
	p->unanswered = 0;
	p->asked = false;
	if (p->busy)
		return;
	p->busy = true;
	p->chain = i->first_busy;
	i->first_busy = dst;
}

int tn_rma_issue(struct tn_rma_initiator *i, u32 dst, const struct tn_rma_ask *ask, const u8 *data,
		 u32 bytes, u64 cookie, u64 now)
{
	struct tn_rma_peer *p;
	struct tn_rma_ask out = *ask;
	u16 at = find_free_slot(i);
	bool posted = ask->op == TN_RMA_PUT || ask->op == TN_RMA_SEND ||
		      (ask->op == TN_RMA_AMO && ask->slot == TN_RMA_POSTED);
	u32 head;
	u8 *room;

	tn_assert(dst < i->nodes && ask->op >= TN_RMA_PUT && ask->op <= TN_RMA_SEND);
	if (at == NO_SLOT ||
	    (!tn_rma_initiator_peer(i, dst) && !i->ops->net.extend(i->host, dst)))
		return -EAGAIN;
	if (!try_reset(i, dst))
		return -EAGAIN;
	p = rma_peer_of(i, dst);
	room = i->ops->net.room(i->host, TN_RMA_REQUESTS, dst);
	if (!room)
		return -EAGAIN;
	out.number = p->next++;
	out.slot = posted ? TN_RMA_POSTED : at;
	head = tn_rma_ask_put(room, &out);
	if (bytes)
		memcpy(room + head, data, bytes);
	take_slot(i, at);
	i->slot[at] = (struct tn_rma_open) {
		.cookie = cookie, .peer = dst, .number = out.number,
		.bytes = ask->op == TN_RMA_GET ? ask->bytes : 0, .op = ask->op, .posted = posted,
	};
	append_open(i, list_of(p, &i->slot[at]), at);
	make_busy(i, dst, now);
	if (ask->op == TN_RMA_FE)
		p->fe++;
	i->count.issued++;
	i->ops->net.send(i->host, TN_RMA_REQUESTS, dst, head + bytes);
	return at;
}

int tn_rma_cancel(struct tn_rma_initiator *i, u16 slot, const struct tn_rma_ask *ask)
{
	struct tn_rma_ask out = {
		.op = TN_RMA_CANCEL, .flags = ask->flags, .ep = ask->ep, .job = ask->job,
		.slot = slot, .region = ask->region, .key = ask->key, .addr = ask->addr,
	};
	const struct tn_rma_open *op = &i->slot[slot];
	u8 *room;

	if (slot >= i->slots || op->op != TN_RMA_FE)
		return -ENOENT;
	room = i->ops->net.room(i->host, TN_RMA_REQUESTS, op->peer);
	if (!room)
		return -EAGAIN;
	out.number = op->number;
	i->ops->net.send(i->host, TN_RMA_REQUESTS, op->peer, tn_rma_ask_put(room, &out));
	return 0;
}

/*
 * Return: true if @slot has an open operation with a reply of its own, and its node and number are
 * @src and @number.
 */
static bool is_slot_open(const struct tn_rma_initiator *i, u32 src, u16 slot, u32 number)
{
	const struct tn_rma_open *op = &i->slot[slot];

	return slot < i->slots && op->op && !op->posted && op->peer == src &&
	       op->number == number;
}

/* Return: true if @number is in the range of the open posted operations. */
static bool is_posted(const struct tn_rma_initiator *i, const struct tn_rma_peer *p, u32 number)
{
	return p->posted.first != NO_SLOT &&
	       !precedes_number(number, i->slot[p->posted.first].number) &&
	       !precedes_number(i->slot[p->posted.last].number, number);
}

/* Processes DATA or OLD, the result of an operation. */
static void take_result(struct tn_rma_initiator *i, u32 src, const struct tn_rma_reply *r,
			const u8 *data, u32 bytes)
{
	struct tn_rma_end end = { .value = r->value };
	bool has_data = r->op == TN_RMA_DATA, wants;
	const struct tn_rma_open *op;

	if (!is_slot_open(i, src, r->slot, r->number)) {
		i->count.late++;
		return;
	}
	op = &i->slot[r->slot];
	wants = op->op == TN_RMA_GET;
	if (has_data != wants || bytes != op->bytes) {
		i->count.forged++;
		return;
	}
	end.data = data;
	end.bytes = bytes;
	rma_peer_of(i, src)->queries = 0;
	end_slot(i, r->slot, &end);
}

static void take_ack(struct tn_rma_initiator *i, struct tn_rma_peer *p, u32 number, u32 refused)
{
	/*
	 * Until the owner has confirmed a RESET, replies to the NIC before its restart may still
	 * arrive.
	 */
	if (p->state == TN_RMA_PEER_KNOWN && precedes_number(p->next, number)) {
		i->count.forged++;
		give_up_peer(i, p);
		return;
	}
	if (precedes_number(p->next, number) || p->posted.first == NO_SLOT ||
	    !precedes_number(i->slot[p->posted.first].number, number)) {
		i->count.late++;
		return;
	}
	p->queries = 0;
	end_acked(i, p, number, refused);
}

/*
 * Processes a GAP: an operation was refused because earlier ones, from number r->value on, were
 * lost.
 */
static void take_gap(struct tn_rma_initiator *i, u32 src, const struct tn_rma_reply *r, u64 now)
{
	struct tn_rma_peer *p = rma_peer_of(i, src);
	u32 next = (u32)r->value, epoch = (u32)(r->value >> 32);

	if (!p->epoch || epoch != p->epoch || precedes_number(r->number, next))
		give_up_peer(i, p);
	else if (precedes_number(r->number, p->base))
		end_older(i, p, next, &end_lost);
	else
		end_gap(i, src, next, &end_lost, now);
}

/* Return: the slot of an operation with this number, or NO_SLOT. */
static u16 find_open_slot(const struct tn_rma_initiator *i, const struct tn_rma_list *list,
			  u32 number)
{
	u16 at = list->first;

	while (at != NO_SLOT && i->slot[at].number != number)
		at = i->slot[at].next;
	return at;
}

/*
 * Sends a QUERY after the owner has refused a posted operation, because the refused one may be the
 * one that would have asked for the acknowledgement of others. Only one such QUERY is under way at
 * a time.
 */
static void ask_for_others(struct tn_rma_initiator *i, u32 dst)
{
	struct tn_rma_peer *p = rma_peer_of(i, dst);

	if (p->asked || p->posted.first == NO_SLOT || p->state != TN_RMA_PEER_KNOWN)
		return;
	p->asked = send_plain(i, dst, TN_RMA_QUERY, p->next);
	i->count.queries += p->asked;
}

/*
 * Processes a NAK. The search for a posted operation is short, because few are open before it: the
 * others were acknowledged.
 */
static void take_nak(struct tn_rma_initiator *i, u32 src, const struct tn_rma_reply *r, u64 now)
{
	struct tn_rma_end end = { .status = TN_RMA_REFUSED, .reason = r->why, .value = r->value };
	struct tn_rma_peer *p = rma_peer_of(i, src);
	bool posted = r->slot == TN_RMA_POSTED;
	u16 at = r->slot;

	if (posted ? !is_posted(i, p, r->number) : !is_slot_open(i, src, r->slot, r->number)) {
		i->count.late++;
		return;
	}
	p->queries = 0;
	if (r->why == TN_RMA_GAP) {
		take_gap(i, src, r, now);
		return;
	}
	if (posted)
		at = find_open_slot(i, &p->posted, r->number);
	if (at == NO_SLOT) {
		i->count.forged++;
		return;
	}
	p->refused += posted;
	end_slot(i, at, &end);
	if (posted)
		ask_for_others(i, src);
}

/*
 * Called when the owner has confirmed the RESET. @waited: number of waiting requests that the RESET
 * has ended; NO_SLOT: the owner did not report it.
 */
static void confirm_reset(struct tn_rma_initiator *i, struct tn_rma_peer *p, u32 epoch, u16 waited)
{
	u16 at, next, n = 0;

	for (at = p->slotted.first; at != NO_SLOT; at = i->slot[at].next)
		n += precedes_number(i->slot[at].number, p->base);
	for (at = p->slotted.first; at != NO_SLOT; at = next) {
		next = i->slot[at].next;
		if (precedes_number(i->slot[at].number, p->base))
			end_as(i, at, n == waited && epoch == p->epoch ? TN_RMA_LOST :
			       TN_RMA_UNKNOWN);
	}
	p->epoch = epoch;
	p->state = TN_RMA_PEER_KNOWN;
}

/* Return: the number of open FE operations before @number. */
static u32 count_fe(const struct tn_rma_initiator *i, const struct tn_rma_peer *p, u32 number)
{
	u32 n = 0;
	u16 at;

	for (at = p->slotted.first; at != NO_SLOT; at = i->slot[at].next)
		n += i->slot[at].op == TN_RMA_FE && precedes_number(i->slot[at].number, number);
	return n;
}

/*
 * Processes STATUS, the answer to a QUERY. All replies that were sent before it have arrived, so a
 * missing one is lost.
 */
static void take_status(struct tn_rma_initiator *i, u32 src, const struct tn_rma_reply *r, u64 now)
{
	struct tn_rma_peer *p = rma_peer_of(i, src);
	u32 next = (u32)r->value, epoch = (u32)(r->value >> 32);

	if (p->state == TN_RMA_PEER_RESET && r->slot != NO_SLOT &&
	    !precedes_number(next, p->base) && !precedes_number(p->next, next))
		confirm_reset(i, p, epoch, NO_SLOT);
	if (r->slot == NO_SLOT || epoch != p->epoch) {
		give_up_peer(i, p);
		return;
	}
	if (precedes_number(p->next, next)) {
		i->count.forged++;
		give_up_peer(i, p);
		return;
	}
	end_acked(i, p, next, r->refused);
	end_unanswered(i, p, next);
	if (next != r->number || p->state == TN_RMA_PEER_RESET)
		end_gap(i, src, next, &end_lost, now);
	else if (count_fe(i, p, next) > r->slot)
		p->drain = true;
	try_reset(i, src);
}

void tn_rma_initiator_take(struct tn_rma_initiator *i, u32 src, const u8 *payload, u32 len,
			   u64 now)
{
	struct tn_rma_peer *p = tn_rma_initiator_peer(i, src);
	struct tn_rma_reply r;

	tn_assert(src < i->nodes);
	if (!tn_rma_reply_get(payload, len, &r)) {
		i->count.forged++;
		return;
	}
	if (!p) {
		i->count.late++;
		return;
	}
	switch (r.op) {
	case TN_RMA_DATA:
	case TN_RMA_OLD:
		take_result(i, src, &r, payload + TN_RMA_FLIT, len - TN_RMA_FLIT);
		return;
	case TN_RMA_ACK:
		take_ack(i, p, r.number, r.refused);
		return;
	case TN_RMA_NAK:
		take_nak(i, src, &r, now);
		return;
	}
	if (p->state == TN_RMA_PEER_UNKNOWN || precedes_number(r.number, p->base) ||
	    precedes_number(p->next, r.number) || (r.why == TN_RMA_RESET && r.number != p->base)) {
		i->count.late++;
		return;
	}
	p->queries = 0;
	p->unanswered = 0;
	p->asked = false;
	p->since = now;
	if (r.why == TN_RMA_QUERY)
		take_status(i, src, &r, now);
	else if (p->state == TN_RMA_PEER_RESET)
		confirm_reset(i, p, (u32)(r.value >> 32), r.slot);
}

void tn_rma_returned(struct tn_rma_initiator *i, u32 dst, const u8 *payload, u32 len, u8 why,
		     u64 now)
{
	const struct tn_rma_end end = { .status = TN_RMA_UNREACHABLE, .reason = why };
	struct tn_rma_peer *p = tn_rma_initiator_peer(i, dst);
	struct tn_rma_ask ask;

	if (!p || !tn_rma_ask_get(payload, len, &ask) || ask.op == TN_RMA_QUERY ||
	    ask.op == TN_RMA_CANCEL)
		return;
	if (ask.op == TN_RMA_RESET) {
		if (p->state != TN_RMA_PEER_RESET || ask.number != p->base)
			return;
		/* Do not repeat the RESET at once, because it would come back again. */
		end_from(i, &p->posted, ask.number, &end);
		end_from(i, &p->slotted, ask.number, &end);
		p->state = TN_RMA_PEER_UNKNOWN;
		p->drain = false;
		return;
	}
	if (find_open_slot(i, &p->posted, ask.number) == NO_SLOT &&
	    find_open_slot(i, &p->slotted, ask.number) == NO_SLOT) {
		i->count.late++;
		return;
	}
	if (precedes_number(ask.number, p->base))
		end_older(i, p, ask.number, &end);
	else
		end_gap(i, dst, ask.number, &end, now);
}

void tn_rma_peers_died(struct tn_rma_initiator *i, bool (*gone)(void *ctx, u32 dst), void *ctx)
{
	u32 dst;

	for (dst = i->first_busy; dst != NO_PEER; dst = rma_peer_of(i, dst)->chain)
		if (rma_peer_of(i, dst)->open && gone(ctx, dst))
			give_up_peer(i, rma_peer_of(i, dst));
}

/*
 * Sends a QUERY to a node that was silent for rma_time; after too many queries, gives the node up.
 */
static void ask_silent(struct tn_rma_initiator *i, u32 dst, u64 now)
{
	struct tn_rma_peer *p = rma_peer_of(i, dst);

	if (now - p->since < i->rma_time)
		return;
	p->since = now;
	p->asked = false;
	if (i->ops->holds(i->host, dst))
		return;
	if (p->queries >= TN_RMA_QUERIES || p->unanswered >= TN_RMA_UNANSWERED) {
		give_up_peer(i, p);
		return;
	}
	/* counted even if there is no memory to send it, so that the loop ends */
	p->queries++;
	p->unanswered++;
	if (p->state == TN_RMA_PEER_UNKNOWN)
		try_reset(i, dst);
	else if (send_plain(i, dst, TN_RMA_QUERY, p->next))
		i->count.queries++;
}

u64 tn_rma_initiator_poll(struct tn_rma_initiator *i, u64 now)
{
	u32 *link = &i->first_busy;
	u64 next = ~0ull;

	while (*link != NO_PEER) {
		u32 dst = *link;
		struct tn_rma_peer *p = rma_peer_of(i, dst);

		if (p->open) {
			if (p->drain)
				try_reset(i, dst);
			ask_silent(i, dst, now);
		}
		if (!p->open) {
			p->busy = false;
			*link = p->chain;
			continue;
		}
		if (p->since + i->rma_time < next)
			next = p->since + i->rma_time;
		link = &p->chain;
	}
	return next;
}
