// SPDX-License-Identifier: GPL-2.0-only
/* Remote memory as a service of a NIC; see rma_nic.h. */
#include "nic_impl.h"
#include "rma_nic.h"

/* tn_rma_ask_put() has 16 bits for the bytes that a GET reads, besides a job above 16 bits. */
_Static_assert(TN_PAYLOAD_MAX <= 0xffff, "bytes of a GET");

#define RMA_COUNTERS	(TORUS_NC_RMA_REPLY_DROPS - TORUS_NC_RMA_ISSUED + 1)

/**
 * struct tn_nic_rma - the state of the service
 * @nic: the NIC
 * @cfg: configuration by the host
 * @owner: executes requests of other nodes
 * @initiator: issues those of this node
 * @spare: a packet for the next request, and one for the next reply
 * @self: requests and replies of this node to itself
 * @now: time of the present call
 * @poll_at: when to call the initiator's timer
 * @count: counters
 * @base: the NIC's counters of remote memory when it was opened
 */
struct tn_nic_rma {
	struct tn_nic *nic;
	struct tn_nic_rma_config cfg;
	struct tn_rma_owner owner;
	struct tn_rma_initiator initiator;
	struct tn_pkt *spare[2];
	struct tn_queue self[2];
	u64 now;
	u64 poll_at;
	struct tn_nic_rma_counts count;
	u64 base[RMA_COUNTERS];
};

void tn_rma_note_counts(struct tn_nic *nic)
{
	const struct tn_nic_rma *r = nic->rma;
	const struct tn_rma_initiator_counts *i = &r->initiator.count;
	const struct tn_rma_owner_counts *o = &r->owner.count;
	const u64 now[RMA_COUNTERS] = {
		i->issued, i->refused, i->unreachable, i->lost, i->unknown, i->late,
		i->forged + r->count.forged, o->executed, o->waited,
		o->refused + o->gaps + o->malformed, o->bytes_out, o->bytes_in,
		r->count.reply_drops,
	};
	unsigned int n;

	for (n = 0; n < RMA_COUNTERS; n++)
		nic->counter[TORUS_NC_RMA_ISSUED + n] = r->base[n] + now[n];
}

/* --- sending ------------------------------------------------------------------ */

static u32 count_replies(const struct tn_nic_rma *r)
{
	u32 n = r->self[TN_RMA_REPLIES].count;
	unsigned int p;

	for (p = 0; p < r->nic->nports; p++)
		n += r->nic->input[TN_INPUT_REPLY + p].count;
	return n;
}

static bool may_request(struct tn_nic_rma *r, u32 dst)
{
	if (dst == r->nic->node)
		return r->self[TN_RMA_REQUESTS].count < TN_INJECT_MAX;
	return (r->nic->rows[dst] & TORUS_ROW_VALID) && tn_nic_room(r->nic, dst, TORUS_VC_D0);
}

static u8 *get_rma_room(void *host, enum tn_rma_way way, u32 dst)
{
	struct tn_nic_rma *r = host;
	struct tn_nic *nic = r->nic;

	if (way == TN_RMA_REPLIES ? count_replies(r) >= r->cfg.replies : !may_request(r, dst))
		return NULL;
	if (!r->spare[way])
		r->spare[way] = nic->ops->pkt_new(nic->host, nic->params.payload_max / TN_FLIT);
	return r->spare[way] ? r->spare[way]->payload : NULL;
}

/*
 * Return: a packet with room for @flits flits: a small one of its own memory if possible, or else
 * the spare one.
 */
static struct tn_pkt *take_rma_spare(struct tn_nic_rma *r, enum tn_rma_way way, u32 flits)
{
	struct tn_pkt *spare = r->spare[way], *pkt;

	pkt = flits * TN_FLIT > r->nic->params.payload_max / 2 ? NULL :
	      r->nic->ops->pkt_new(r->nic->host, flits);
	if (!pkt) {
		r->spare[way] = NULL;
		return spare;
	}
	memcpy(pkt->payload, spare->payload, (size_t)flits * TN_FLIT);
	return pkt;
}

static void drop_reply(struct tn_nic_rma *r, struct tn_pkt *pkt)
{
	r->count.reply_drops++;
	r->nic->ops->pkt_put(r->nic->host, pkt);
}

static void send_rma_packet(void *host, enum tn_rma_way way, u32 dst, u32 bytes)
{
	struct tn_nic_rma *r = host;
	u32 flits = (bytes + TN_FLIT - 1) / TN_FLIT;
	struct tn_pkt *pkt;

	memset(r->spare[way]->payload + bytes, 0, flits * TN_FLIT - bytes);
	pkt = take_rma_spare(r, way, flits);
	pkt->hdr.len = (u16)flits;
	pkt->tail.flags = (u8)(TN_TAIL_FIRST | TN_TAIL_LAST | (flits * TN_FLIT - bytes));
	pkt->tail.vb = TN_SERVICE_RMA;
	if (dst == r->nic->node) {
		tn_queue_push(&r->self[way], pkt);
		return;
	}
	if (tn_send_service(r->nic, pkt, dst, way == TN_RMA_REQUESTS ? TORUS_VC_D0 : TORUS_VC_D1)) {
		tn_assert(way == TN_RMA_REPLIES);
		drop_reply(r, pkt);
	}
}

/* --- callbacks of owner and initiator -------------------------------------------- */

static u8 *find_rma_memory(void *host, u32 region, u64 offset, u64 *run)
{
	const struct tn_nic_rma_config *cfg = &((struct tn_nic_rma *)host)->cfg;

	return cfg->ops->mem(cfg->host, region, offset, run);
}

static const struct tn_window *find_rma_space(void *host, u32 job)
{
	const struct tn_nic_rma_config *cfg = &((struct tn_nic_rma *)host)->cfg;

	return cfg->ops->space(cfg->host, job);
}

static u8 give_rma_message(void *host, u32 src, const struct tn_rma_ask *ask, const u8 *data,
			   u32 bytes, u64 *allowed)
{
	const struct tn_nic_rma_config *cfg = &((struct tn_nic_rma *)host)->cfg;

	return cfg->ops->recv(cfg->host, src, ask, data, bytes, allowed);
}

static void end_rma_operation(void *host, u64 cookie, const struct tn_rma_end *end)
{
	const struct tn_nic_rma_config *cfg = &((struct tn_nic_rma *)host)->cfg;

	cfg->ops->done(cfg->host, cookie, end);
}

/*
 * Return: true if packets to @dst may be kept in this NIC: a hold means that a recovery is under
 * way, and any parked packet may be for @dst.
 */
static bool holds_rma_packets(void *host, u32 dst)
{
	const struct tn_nic *nic = ((struct tn_nic_rma *)host)->nic;

	return tn_on_hold(nic, dst) || nic->park.q.head;
}

/** struct rma_pieces - what owner and initiator know of TN_RMA_PIECE nodes */
struct rma_pieces {
	struct tn_rma_peer peer[TN_RMA_PIECE];
	struct tn_rma_source source[TN_RMA_PIECE];
};

static bool extend_rma(void *host, u32 node)
{
	struct tn_nic_rma *r = host;
	struct rma_pieces *p = r->cfg.ops->memory(r->cfg.host, sizeof(*p));

	if (!p)
		return false;
	tn_rma_initiator_extend(&r->initiator, node, p->peer);
	r->owner.piece[node / TN_RMA_PIECE] = p->source;
	return true;
}

static const struct tn_rma_owner_ops rma_owner_calls = {
	.net = { .room = get_rma_room, .send = send_rma_packet, .extend = extend_rma },
	.mem = find_rma_memory,
	.space = find_rma_space,
	.recv = give_rma_message,
};

static const struct tn_rma_initiator_ops rma_initiator_calls = {
	.net = { .room = get_rma_room, .send = send_rma_packet, .extend = extend_rma },
	.done = end_rma_operation,
	.holds = holds_rma_packets,
};

/* --- receiving ------------------------------------------------------------------- */

/*
 * Called when something may have changed the time of the initiator's timer for @node: lets it
 * expire soon enough.
 */
static void note_initiator(struct tn_nic_rma *r, u32 node)
{
	const struct tn_rma_peer *p = tn_rma_initiator_peer(&r->initiator, node);
	u64 at = p && p->drain ? r->now : r->now + r->cfg.rma_time;

	if (p && p->open && at < r->poll_at)
		r->poll_at = at;
}

static bool take_rma_packet(struct tn_nic_rma *r, enum tn_rma_way way, u32 src, struct tn_pkt *pkt)
{
	u32 bytes = tn_pkt_bytes(pkt);

	if (way == TN_RMA_REQUESTS)
		return tn_rma_owner_take(&r->owner, src, pkt->payload, bytes, r->now) != -EAGAIN;
	tn_rma_initiator_take(&r->initiator, src, pkt->payload, bytes, r->now);
	note_initiator(r, src);
	return true;
}

bool tn_rma_deliver(struct tn_nic *nic, struct tn_pkt *pkt)
{
	enum tn_rma_way way = pkt->hdr.vc == TORUS_VC_D0 ? TN_RMA_REQUESTS : TN_RMA_REPLIES;

	if (!take_rma_packet(nic->rma, way, pkt->hdr.src, pkt))
		return false;
	nic->ops->pkt_put(nic->host, pkt);
	return true;
}

void tn_rma_come_back(struct tn_nic *nic, struct tn_pkt *pkt)
{
	struct tn_nic_rma *r = nic->rma;
	u16 why = pkt->tail.epoch;

	if (!r || pkt->hdr.src >= nic->nodes) {
		if (r)
			r->count.forged++;
	} else {
		tn_rma_returned(&r->initiator, pkt->hdr.src, pkt->payload, tn_pkt_bytes(pkt),
				why <= TN_WHY_SERVICE ? (u8)why : TN_WHY_PATH, r->now);
		note_initiator(r, pkt->hdr.src);
	}
	nic->ops->pkt_put(nic->host, pkt);
}

static void serve_self(struct tn_nic_rma *r, enum tn_rma_way way)
{
	struct tn_pkt *pkt;

	while ((pkt = tn_queue_pop(&r->self[way]))) {
		if (!take_rma_packet(r, way, r->nic->node, pkt)) {
			tn_queue_push_front(&r->self[way], pkt);
			return;
		}
		r->nic->ops->pkt_put(r->nic->host, pkt);
	}
}

void tn_rma_work(struct tn_nic *nic, u64 now)
{
	struct tn_nic_rma *r = nic->rma;

	r->now = now;
	serve_self(r, TN_RMA_REPLIES);
	tn_rma_owner_poll(&r->owner);
	serve_self(r, TN_RMA_REQUESTS);
	serve_self(r, TN_RMA_REPLIES);
	tn_rma_note_counts(nic);
}

void tn_rma_poll(struct tn_nic *nic, u64 now)
{
	struct tn_nic_rma *r = nic->rma;

	r->now = now;
	if (now >= r->poll_at)
		r->poll_at = tn_rma_initiator_poll(&r->initiator, now);
	tn_rma_note_counts(nic);
}

u64 tn_rma_expiry(const struct tn_nic *nic)
{
	return nic->rma->poll_at;
}

static bool is_out_of_reach(void *ctx, u32 node)
{
	const struct tn_nic *nic = ctx;

	return node != nic->node && !(nic->rows[node] & TORUS_ROW_VALID);
}

void tn_rma_released(struct tn_nic *nic, u64 now)
{
	struct tn_nic_rma *r = nic->rma;

	r->now = now;
	tn_rma_peers_died(&r->initiator, is_out_of_reach, nic);
	tn_rma_owner_sweep(&r->owner, is_out_of_reach, nic);
}

static bool is_any_node(void *ctx, u32 node)
{
	(void)ctx;
	(void)node;
	return true;
}

/* --- life ------------------------------------------------------------------------ */

static size_t round_to_line(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

static size_t count_pieces(u32 nodes)
{
	return (nodes + TN_RMA_PIECE - 1) / TN_RMA_PIECE;
}

size_t tn_nic_rma_size(const struct torus_shape *shape, u32 slots)
{
	size_t pieces = count_pieces(tn_shape_nodes(shape));

	return round_to_line(sizeof(struct tn_nic_rma)) +
	       round_to_line(pieces * sizeof(struct tn_rma_source *)) +
	       round_to_line(pieces * sizeof(struct tn_rma_peer *)) +
	       round_to_line(slots * sizeof(struct tn_rma_open));
}

int tn_nic_rma_open(struct tn_nic *nic, const struct tn_nic_rma_config *cfg, void *mem, u64 now)
{
	struct tn_nic_rma *r = mem;
	u8 *m = mem;
	size_t pieces = count_pieces(nic->nodes);
	struct tn_rma_source **source;
	struct tn_rma_peer **peer;
	u64 seed;

	if (!nic->placed)
		return -ENODEV;
	if (nic->rma)
		return -EBUSY;
	if (!cfg->slots || cfg->slots > TN_RMA_SLOTS_MAX || !cfg->replies || !cfg->rma_time ||
	    cfg->pool->n >= TN_RMA_POSTED)
		return -EINVAL;
	m += round_to_line(sizeof(*r));
	source = (struct tn_rma_source **)m;
	m += round_to_line(pieces * sizeof(struct tn_rma_source *));
	peer = (struct tn_rma_peer **)m;
	m += round_to_line(pieces * sizeof(struct tn_rma_peer *));
	r->nic = nic;
	r->cfg = *cfg;
	r->now = now;
	r->poll_at = ~0ull;
	memcpy(r->base, &nic->counter[TORUS_NC_RMA_ISSUED], sizeof(r->base));
	seed = (u64)nic->ops->random(nic->host) << 32 | nic->ops->random(nic->host);
	r->owner = (struct tn_rma_owner) {
		.ops = &rma_owner_calls, .host = r, .piece = source, .region = cfg->region,
		.pool = cfg->pool, .nodes = nic->nodes, .regions = cfg->regions,
		.epoch = nic->ops->random(nic->host) | 1u,
		.data_max = nic->params.payload_max - TN_RMA_FLIT,
	};
	tn_rma_initiator_init(&r->initiator, &rma_initiator_calls, r, peer, nic->nodes,
			      (struct tn_rma_open *)m, cfg->slots, cfg->rma_time, seed);
	nic->rma = r;
	return 0;
}

void tn_nic_rma_close(struct tn_nic *nic)
{
	struct tn_nic_rma *r = nic->rma;
	struct tn_pkt *pkt;
	unsigned int way;

	if (!r)
		return;
	tn_rma_peers_died(&r->initiator, is_any_node, NULL);
	tn_rma_owner_sweep(&r->owner, is_any_node, NULL);
	tn_rma_note_counts(nic);
	nic->rma = NULL;
	for (way = 0; way < ARRAY_SIZE(r->self); way++) {
		while ((pkt = tn_queue_pop(&r->self[way])))
			nic->ops->pkt_put(nic->host, pkt);
		if (r->spare[way])
			nic->ops->pkt_put(nic->host, r->spare[way]);
	}
}

int tn_nic_rma_issue(struct tn_nic *nic, u32 dst, const struct tn_rma_ask *ask, const u8 *data,
		     u32 bytes, u64 cookie, u64 now)
{
	struct tn_nic_rma *r = nic->rma;
	int slot;

	if (!r)
		return -ENODEV;
	if (dst >= nic->nodes || bytes > nic->params.payload_max - TN_RMA_HEAD_MAX ||
	    ask->bytes > r->owner.data_max)
		return -EINVAL;
	if (dst != nic->node && !tn_on_hold(nic, dst) && !(nic->rows[dst] & TORUS_ROW_VALID))
		return -EHOSTUNREACH;
	r->now = now;
	slot = tn_rma_issue(&r->initiator, dst, ask, data, bytes, cookie, now);
	note_initiator(r, dst);
	return slot;
}

struct tn_rma_owner *tn_nic_rma_owner(struct tn_nic *nic)
{
	return nic->rma ? &nic->rma->owner : NULL;
}

struct tn_rma_initiator *tn_nic_rma_initiator(struct tn_nic *nic)
{
	return nic->rma ? &nic->rma->initiator : NULL;
}

const struct tn_nic_rma_counts *tn_nic_rma_counts(const struct tn_nic *nic)
{
	return &nic->rma->count;
}
