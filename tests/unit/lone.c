// SPDX-License-Identifier: GPL-2.0-only
#include <torus/topology.h>
#include "tests/unit/lone.h"

/* --- the host ------------------------------------------------------------------ */

/* Hands out a packet with old contents, as a host may that does not clear returned packets. */
static struct tn_pkt *used(struct tn_pkt *pkt)
{
	void *owner = pkt->owner;
	u8 *payload = pkt->payload;

	memset(pkt, 0xa5, sizeof(*pkt));
	pkt->owner = owner;
	pkt->payload = payload;
	return pkt;
}

static struct tn_pkt *on_get(void *host, void *owner, const u8 *payload)
{
	struct lone *l = host;

	(void)payload;
	return l->no_memory ? NULL : used(memory_get(&l->mem, owner));
}

static struct tn_pkt *on_new(void *host, unsigned int nflits)
{
	struct lone *l = host;
	struct tn_pkt *pkt = l->no_memory ? NULL : used(memory_new(&l->mem, nflits));

	if (pkt)
		memset(pkt->payload, 0xa5, (size_t)nflits * TN_FLIT);
	return pkt;
}

static void on_put(void *host, struct tn_pkt *pkt)
{
	memory_put(&((struct lone *)host)->mem, pkt);
}

static bool on_park(void *host, struct tn_pkt *pkt)
{
	struct lone *l = host;

	(void)pkt;
	l->parks += !l->no_park;
	return !l->no_park;
}

static u32 on_keep(void *host, struct tn_pkt *pkt)
{
	struct lone *l = host;

	l->kept++;
	return l->each ? l->each : (u32)tn_park_cost(pkt);
}

static bool on_deliver(void *host, struct tn_pkt *pkt)
{
	struct lone *l = host;

	if (l->busy)
		return false;
	tn_queue_push(&l->got, pkt);
	return true;
}

static bool on_mgmt(void *host, unsigned int port, const u8 *data, unsigned int len)
{
	struct lone *l = host;

	if (l->mgmt_full)
		return false;
	assert_true(len <= sizeof(l->mgmt));
	memcpy(l->mgmt, data, len);
	l->mgmt_port = port;
	l->mgmt_len = len;
	l->mgmts++;
	return true;
}

static void on_event(void *host, const struct tn_event *ev)
{
	struct lone *l = host;

	l->event[l->events++ % LONE_EVENTS] = *ev;
}

static u32 on_random(void *host)
{
	return ((struct lone *)host)->random++;
}

/* --- life ------------------------------------------------------------------------ */

void lone_start(struct lone *l, const char *shape, u32 node, void (*tune)(struct lone *l))
{
	struct torus_coords at;

	memset(l, 0, sizeof(*l));
	l->now = 1000000007;
	l->random = 100;
	l->ops = (struct tn_ops) {
		.pkt_get = on_get, .pkt_new = on_new, .pkt_put = on_put, .park = on_park,
		.keep = on_keep, .deliver = on_deliver, .mgmt = on_mgmt, .event = on_event,
		.random = on_random,
	};
	assert_int_equal(torus_shape_parse(shape, &l->shape), 0);
	tn_params_default(&l->params);
	l->cfg = (struct tn_nic_config) {
		.ops = &l->ops, .host = l, .nports = (u8)(2 * l->shape.ndims),
		.guid = LONE_GUID, .epoch = 7,
	};
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		l->peer[p] = (struct neighbour) {
			.nonce = 5000 + 100 * p, .slots = 256, .highest = TN_WIRE_VERSION,
		};
	if (tune)
		tune(l);
	l->cfg.params = l->params;
	l->nic = aligned_alloc(64, (tn_nic_size() + 63) & ~63ul);
	l->table = aligned_alloc(64, tn_nic_table_size(&l->shape));
	l->spare = aligned_alloc(64, tn_nic_table_size(&l->shape));
	assert_true(l->nic && l->table && l->spare);
	memset(l->table, 0, tn_nic_table_size(&l->shape));
	memset(l->spare, 0, tn_nic_table_size(&l->shape));
	assert_int_equal(tn_nic_init(l->nic, &l->cfg, l->now), 0);
	tn_node_coords(&l->shape, node, &at);
	assert_int_equal(tn_nic_set_shape(l->nic, &l->shape, &at, l->table), 0);
}

u32 lone_clear(struct lone *l)
{
	struct tn_pkt *pkt;
	u32 n = 0;

	for (; (pkt = lone_got(l)); n++)
		lone_free(l, pkt);
	return n;
}

void lone_end(struct lone *l)
{
	lone_clear(l);
	tn_nic_flush(l->nic);
	assert_int_equal(l->mem.live, 0);
	free(l->nic);
	free(l->table);
	free(l->spare);
}

u64 lone_fc(struct lone *l, enum torus_flow_counter c)
{
	const u64 *n = tn_nic_flow(l->nic)[c];

	return n[0] + n[1] + n[2] + n[3];
}

/* --- neighbours: INITs --------------------------------------------------------------- */

struct tn_init lone_init_of(struct lone *l, unsigned int port)
{
	struct neighbour *n = &l->peer[port];

	n->nonce++;
	n->attempt++;
	return (struct tn_init) {
		.guid = 2000 + port, .lowest = TN_WIRE_OLDEST, .highest = n->highest,
		.epoch = 70 + port,
		.nonce = n->nonce, .nonce_received = n->received.nonce, .attempt = n->attempt,
		.first_tseq = 300, .port = (u8)(port ^ 1),
		.slot_flits = (u16)(tn_packet_max(&l->params) / TN_FLIT),
		.slots = { n->slots, n->slots, n->slots },
		.bubble = (u8)l->params.bubble,
	};
}

void lone_init(struct lone *l, unsigned int port, const struct tn_init *i)
{
	u8 flits[(2 + TN_INIT_FLITS) * TN_FLIT] = { 0 };
	struct tn_hdr h = { .type = TN_INIT, .len = TN_INIT_FLITS };
	struct tn_tail t = { 0 };

	tn_hdr_put(flits, &h);
	tn_init_put(flits + TN_FLIT, i);
	t.ecrc = tn_ecrc(flits + TN_FLIT, &h, &t);
	tn_tail_put(flits_tail(flits, h.len), &t);
	flits_seal(flits, h.len, ~0u);
	lone_rx(l, port, flits, sizeof(flits));
}

void lone_up(struct lone *l, unsigned int port)
{
	struct neighbour *n = &l->peer[port];
	struct tn_init i;

	tn_nic_carrier(l->nic, port, true, l->now);
	lone_drain(l, port);
	i = lone_init_of(l, port);
	lone_init(l, port, &i);
	assert_int_equal(lone_link(l, port)->state, TORUS_LINK_UP);
	n->seed = lone_link(l, port)->seed;
	n->tseq = i.first_tseq;
	n->rseq = n->received.first_tseq;
	lone_drain(l, port);
}

void lone_all_up(struct lone *l)
{
	for (unsigned int p = 0; p < l->cfg.nports; p++)
		lone_up(l, p);
	lone_events(l, TN_EV_LINK);
}

/* --- neighbours: packets --------------------------------------------------------------- */

u32 lone_make(struct lone *l, unsigned int port, u8 *flits, struct tn_hdr h, struct tn_tail t,
	      const struct tn_via *via, const u8 *payload)
{
	struct neighbour *n = &l->peer[port];
	struct tn_tail source = t;	/* no mark yet; no service in the ECRC of version 4 */
	struct tn_hdr final;
	u8 *tail = flits_tail(flits, h.len);

	h.relayed = !!via;
	if (h.type != TN_IDLE)
		h.tseq = (u16)((h.tseq + n->tseq) & TN_SEQ_MASK);
	h.rseq = (u16)((h.rseq + n->rseq) & TN_SEQ_MASK);
	for (u32 i = 0; i < h.len * TN_FLIT; i++)
		flits[TN_FLIT + i] = payload ? payload[i] : (u8)(i * 7 + 3);
	final = h;
	if (via) {
		final.dst = via->dst;
		tn_via_put(tail + TN_FLIT, via);
	}
	if (!n->highest || t.vb == TN_VB_BAD)
		source.vb = 0;
	t.ecrc += tn_ecrc(flits + TN_FLIT, &final, &source);
	tn_hdr_put(flits, &h);
	tn_tail_put(tail, &t);
	flits_seal(flits, h.len, n->seed);
	return tn_hdr_flits(&h) * TN_FLIT;
}

void lone_rx(struct lone *l, unsigned int port, const u8 *bytes, u32 len)
{
	struct frame *f = frame_new(len);

	memcpy(f->data, bytes, len);
	tn_nic_rx(l->nic, port, f->data, len, f, l->now);
	frame_put(f);
}

static void peer_sends(struct lone *l, unsigned int port, struct tn_hdr h, struct tn_tail t,
		       const struct tn_via *via)
{
	static u8 flits[TN_PACKET_MAX];

	lone_rx(l, port, flits, lone_make(l, port, flits, h, t, via, NULL));
	if (h.type != TN_IDLE)
		l->peer[port].tseq = (u16)((l->peer[port].tseq + 1) & TN_SEQ_MASK);
}

void lone_rx_pkt(struct lone *l, unsigned int port, struct tn_hdr h, struct tn_tail t)
{
	peer_sends(l, port, h, t, NULL);
}

void lone_rx_pkt_via(struct lone *l, unsigned int port, struct tn_hdr h, struct tn_tail t,
		     struct tn_via via)
{
	peer_sends(l, port, h, t, &via);
}

void lone_ack(struct lone *l, unsigned int port)
{
	lone_rx_pkt(l, port, (struct tn_hdr) { .type = TN_IDLE }, (struct tn_tail) { 0 });
}

/* --- what the NIC sends ------------------------------------------------------------------ */

static void gather(struct lone *l)
{
	l->bytes = 0;
	for (u32 i = 0; i < l->tn.nsegs; i++) {
		memcpy(l->frame + l->bytes, l->tn.seg[i].base, l->tn.seg[i].len);
		l->bytes += l->tn.seg[i].len;
	}
	assert_int_equal(l->bytes, l->tn.bytes);
}

/* Takes a packet of the NIC: the neighbour accepts it if it is the next. */
static void accept_sent(struct neighbour *n, const struct sent *s, u32 bubble)
{
	unsigned int type = s->hdr.type;

	if (type == TN_INIT) {
		assert_true(flits_sealed(s->flits, s->hdr.len, ~0u));
		assert_int_equal(s->tail.ecrc, tn_ecrc(s->payload, &s->hdr, &s->tail));
		assert_int_equal(s->payload[53], bubble);
		for (u32 i = 58; i < 64; i++)
			assert_int_equal(s->payload[i], 0);
		tn_init_get(s->payload, &n->received);
	} else if (type != TN_IDLE && s->hdr.tseq == n->rseq) {
		n->rseq = (u16)((n->rseq + 1) & TN_SEQ_MASK);
	}
	if (type != TN_INIT && n->seed)
		assert_true(flits_sealed(s->flits, s->hdr.len, n->seed));
}

u32 lone_tx(struct lone *l, unsigned int port)
{
	u32 at = 0, bytes = tn_nic_tx(l->nic, port, &l->tn, l->now);

	l->nsent = 0;
	assert_int_equal(bytes, l->tn.bytes);
	if (!bytes)
		return 0;
	gather(l);
	while (at < l->bytes && l->nsent < LONE_SENT) {
		struct sent *s = &l->sent[l->nsent];

		s->flits = l->frame + at;
		if (tn_type_of(s->flits) == TN_ACKNAK) {
			at += TN_ACKNAK_BYTES;
			continue;
		}
		tn_hdr_get(s->flits, &s->hdr);
		s->payload = s->flits + TN_FLIT;
		tn_tail_get(s->payload + s->hdr.len * TN_FLIT, &s->tail);
		if (s->hdr.relayed)
			tn_via_get(s->payload + (s->hdr.len + 1u) * TN_FLIT, &s->via);
		at += tn_hdr_flits(&s->hdr) * TN_FLIT;
		accept_sent(&l->peer[port], s, l->params.bubble);
		l->nsent++;
	}
	return l->nsent;
}

u32 lone_drain(struct lone *l, unsigned int port)
{
	struct sent last = { .flits = NULL };
	u32 n = 0;

	while (lone_tx(l, port)) {
		for (u32 i = 0; i < l->nsent; i++) {
			if (l->sent[i].hdr.type != TN_DATA && l->sent[i].hdr.type != TN_UNREACH)
				continue;
			last = l->sent[i];
			n++;
		}
	}
	l->sent[0] = last;
	return n;
}

/* --- the host's side -------------------------------------------------------------------- */

void lone_row(struct lone *l, u32 dst, u64 row)
{
	u64 version;
	u32 n;

	assert_true(tn_nic_rows(l->nic, &n, &version));
	assert_int_equal(tn_nic_rows_begin(l->nic, version + 1), 0);
	assert_int_equal(tn_nic_rows_put(l->nic, version + 1, dst, &row, 1), 0);
	assert_int_equal(tn_nic_rows_commit(l->nic, version + 1, l->now), 0);
}

int lone_send(struct lone *l, u32 dst, unsigned int vc, u16 len)
{
	struct tn_pkt *pkt = used(memory_new(&l->mem, len));
	int err;

	memset(pkt->payload, 0x5a, (size_t)len * TN_FLIT);
	pkt->hdr.len = len;
	pkt->tail.flags = TN_TAIL_FIRST | TN_TAIL_LAST;
	err = tn_nic_send(l->nic, pkt, dst, vc, l->now);
	if (err)
		memory_put(&l->mem, pkt);
	return err;
}

bool lone_idle(const struct lone *l)
{
	u64 some = 0;

	for (unsigned int i = 0; i < TN_ACTIVE_WORDS; i++)
		some |= l->nic->active[i];
	return !some;
}

struct tn_pkt *lone_got(struct lone *l)
{
	return tn_queue_pop(&l->got);
}

void lone_free(struct lone *l, struct tn_pkt *pkt)
{
	memory_put(&l->mem, pkt);
}

u32 lone_events(struct lone *l, u8 type)
{
	u32 n = 0;

	assert_true(l->events <= LONE_EVENTS);
	for (u32 i = 0; i < l->events; i++)
		n += l->event[i].type == type;
	l->events = 0;
	return n;
}
