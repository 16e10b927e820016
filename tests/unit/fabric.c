// SPDX-License-Identifier: GPL-2.0-only
#include <torus/route.h>
#include <torus/topology.h>
#include "tests/unit/fabric.h"

/* --- wiring ------------------------------------------------------------------ */

bool fabric_wired(const struct fabric *f, unsigned int port)
{
	return f->shape.size[tn_dir_dim(&f->shape, port)] > 1;
}

u32 fabric_peer(const struct fabric *f, u32 node, unsigned int port, unsigned int *peer_port)
{
	*peer_port = tn_dir_opposite(&f->shape, port);
	return f->node[node].peer[port];
}

void fabric_carrier(struct fabric *f, u32 node, unsigned int port, bool up)
{
	unsigned int pp;
	struct node *a = &f->node[node], *b = &f->node[fabric_peer(f, node, port, &pp)];

	lane_clear(&a->out[port]);
	lane_clear(&b->out[pp]);
	a->out[port].cut = b->out[pp].cut = !up;
	tn_nic_carrier(a->nic, port, up, f->now);
	tn_nic_carrier(b->nic, pp, up, f->now);
}

void fabric_silence(struct fabric *f, u32 node, unsigned int port, bool on)
{
	unsigned int pp;
	struct node *a = &f->node[node], *b = &f->node[fabric_peer(f, node, port, &pp)];

	a->out[port].cut = b->out[pp].cut = on;
}

/* --- traffic ------------------------------------------------------------------ */

static struct traffic *between(struct fabric *f, u32 src, u32 dst)
{
	return &f->traffic[src * f->n + dst];
}

void fabric_send(struct fabric *f, u32 node, u32 dst, unsigned int vc)
{
	struct node *n = &f->node[node];
	unsigned int len;
	struct traffic *t = between(f, n->id, dst);
	struct tn_pkt *pkt;
	u8 *p;
	int err;

	if (!tn_nic_room(n->nic, dst, vc) || (vc == TORUS_VC_A && t->sent[vc] >= FABRIC_SEEN))
		return;
	len = 1 + rnd_below(&f->r, f->max_flits);
	pkt = memory_new(&n->mem, len + 2);
	if (!pkt)
		return;
	pkt->hdr.len = (u16)len;
	pkt->tail.flags = (u8)(rnd64(&f->r) & (TN_TAIL_PAD | TN_TAIL_FIRST | TN_TAIL_LAST));
	p = pkt->payload;
	tn_put_le32(p, t->sent[vc]);
	p[4] = (u8)vc;
	tn_put_le16(p + 6, (u16)n->id);
	for (unsigned int i = 8; i < len * TN_FLIT; i++)
		p[i] = (u8)(t->sent[vc] + i);
	err = tn_nic_send(n->nic, pkt, dst, vc, f->now);
	if (!err)
		t->sent[vc]++;
	else
		memory_put(&n->mem, pkt);
	expect(&f->r, !err || err == -EHOSTUNREACH || (err == -EAGAIN && dst == n->id),
	       "send: %d", err);
}

static void send_one(struct fabric *f, struct node *n)
{
	u32 dst = rnd_below(&f->r, f->n);
	unsigned int vc = rnd_below(&f->r, TORUS_VCS);

	if (TN_INJECT_MAX - tn_nic_room(n->nic, dst, vc) < f->queue)
		fabric_send(f, n->id, dst, vc);
}

static void check_payload(struct fabric *f, const struct tn_pkt *pkt, u32 src, u32 number)
{
	const u8 *p = pkt->payload;

	expect(&f->r, tn_get_le16(p + 6) == src && pkt->hdr.len, "source %u", src);
	for (unsigned int i = 8; i < pkt->hdr.len * TN_FLIT; i++)
		expect(&f->r, p[i] == (u8)(number + i), "byte %u of %u", i, number);
}

static void arrived(struct fabric *f, struct node *n, struct tn_pkt *pkt)
{
	const u8 *p = pkt->payload;
	unsigned int vc = p[4];
	u32 src = pkt->hdr.src, number = tn_get_le32(p);
	struct traffic *t;

	expect(&f->r, pkt->hdr.dst == n->id && src < f->n && vc < TORUS_VCS,
	       "node %u got %u -> %u", n->id, src, pkt->hdr.dst);
	t = between(f, src, n->id);
	check_payload(f, pkt, src, number);
	if (vc == TORUS_VC_A) {
		expect(&f->r, number < FABRIC_SEEN && !(t->seen[number / 8] >> number % 8 & 1),
		       "%u -> %u, VCA: %u doubled", src, n->id, number);
		t->seen[number / 8] |= (u8)(1u << number % 8);
		t->got[vc]++;
	} else {
		expect(&f->r, number == t->got[vc] || (f->lossy && number > t->got[vc]),
		       "%u -> %u, VC %u: got %u, next is %u", src, n->id, vc, number,
		       t->got[vc]);
		t->got[vc] = number + 1;
		t->arrived[vc]++;
	}
	f->delivered++;
}

static bool on_deliver(void *host, struct tn_pkt *pkt)
{
	struct node *n = host;
	struct fabric *f = n->fabric;

	if (n->frozen || rnd_one_in(&f->r, f->busy_host))
		return false;
	if (f->unchecked) {
		f->delivered++;
	} else if (pkt->hdr.type == TN_UNREACH) {
		unsigned int vc = pkt->payload[4];
		u32 dst = pkt->hdr.src;

		expect(&f->r, pkt->hdr.dst == n->id && dst < f->n && vc < TORUS_VCS,
		       "node %u: %u -> %u back", n->id, dst, pkt->hdr.dst);
		check_payload(f, pkt, n->id, tn_get_le32(pkt->payload));
		between(f, n->id, dst)->back[vc]++;
		f->returned++;
	} else {
		expect(&f->r, pkt->hdr.type == TN_DATA, "type %u", pkt->hdr.type);
		arrived(f, n, pkt);
	}
	memory_put(&n->mem, pkt);
	return true;
}

static struct tn_pkt *on_get(void *host, void *owner, const u8 *payload)
{
	(void)payload;
	return memory_get(&((struct node *)host)->mem, owner);
}

static struct tn_pkt *on_new(void *host, unsigned int nflits)
{
	return memory_new(&((struct node *)host)->mem, nflits);
}

static void on_put(void *host, struct tn_pkt *pkt)
{
	memory_put(&((struct node *)host)->mem, pkt);
}

static bool on_mgmt(void *host, unsigned int port, const u8 *data, unsigned int len)
{
	struct node *n = host;
	u8 sum = (u8)port;

	expect(&n->fabric->r, port < n->fabric->nports && len && len <= TORUS_MGMT_MAX,
	       "%u bytes on port %u", len, port);
	while (len--)
		sum = (u8)(sum + *data++);	/* every byte is readable */
	n->mgmt_got += 1 + (sum & 0);
	return true;
}

static void on_event(void *host, const struct tn_event *ev)
{
	struct node *n = host;

	if (ev->type == TN_EV_LINK)
		n->link_events++;
	else
		n->park_events++;
}

static u32 on_random(void *host)
{
	return (u32)rnd64(&((struct node *)host)->fabric->r);
}

/* --- time ---------------------------------------------------------------------- */

static void node_receive(struct fabric *f, struct node *n)
{
	for (unsigned int p = 0; p < f->nports; p++) {
		unsigned int pp;
		struct frame *in;
		struct lane *lane;

		if (!fabric_wired(f, p))
			continue;
		lane = &f->node[fabric_peer(f, n->id, p, &pp)].out[pp];
		while ((in = lane_get(lane, f->now))) {
			tn_nic_rx(n->nic, p, in->data, in->len, in, f->now);
			frame_put(in);
		}
	}
}

static void node_transmit(struct fabric *f, struct node *n)
{
	u32 ports = tn_nic_tx_ports(n->nic);
	struct tn_frame frame;

	for (unsigned int p = 0; p < f->nports; p++) {
		int burst = 0;

		while (ports >> p & 1 && burst++ < 4 &&
		       tn_nic_tx(n->nic, p, &frame, f->now))
			lane_put(&n->out[p], &frame, f->now);
	}
}

void fabric_step(struct fabric *f)
{
	u32 first = rnd_below(&f->r, f->n);

	for (u32 i = 0; i < f->n; i++) {
		struct node *n = &f->node[(first + i) % f->n];

		node_receive(f, n);
		while (rnd_one_in(&f->r, f->load))
			send_one(f, n);
		if (tn_nic_expiry(n->nic) <= f->now)
			tn_nic_poll(n->nic, f->now);
		tn_nic_work(n->nic, f->now);
		node_transmit(f, n);
	}
	fabric_check(f);
	f->now += FABRIC_TICK;
}

void fabric_run(struct fabric *f, u64 ns)
{
	u64 until = f->now + ns;

	while (f->now < until)
		fabric_step(f);
}

static bool settled(const struct fabric *f)
{
	s64 sum[TORUS_COLOURS];

	fabric_sums(f, sum);
	for (int k = 0; k < TORUS_COLOURS; k++) {
		if (sum[k])
			return false;
	}
	for (u32 i = 0; i < f->n; i++) {
		const struct tn_nic *nic = f->node[i].nic;

		if (nic->held.head || nic->relay.wait.head || nic->park.q.head || nic->flows.waiting)
			return false;
	}
	for (u32 i = 0; i < f->n * f->n; i++) {
		const struct traffic *t = &f->traffic[i];

		for (int vc = 0; vc < TORUS_VCS; vc++) {
			if (t->got[vc] + t->back[vc] != t->sent[vc])
				return false;
		}
	}
	return true;
}

void fabric_settle(struct fabric *f, u64 limit)
{
	u64 until = f->now + limit;

	f->load = 0;
	f->busy_host = 0;
	while (!settled(f)) {
		fabric_step(f);
		if (f->now < until)
			continue;
		for (u32 i = 0; i < f->n * f->n; i++) {
			for (int vc = 0; vc < TORUS_VCS; vc++)
				expect(&f->r, f->traffic[i].sent[vc] == f->traffic[i].got[vc] +
				       f->traffic[i].back[vc], "%u -> %u, VC %d: sent %u, got %u, back %u",
				       i / f->n, i % f->n, vc, f->traffic[i].sent[vc],
				       f->traffic[i].got[vc], f->traffic[i].back[vc]);
		}
		expect(&f->r, false, "not settled");
	}
}

/* --- life ----------------------------------------------------------------------- */

static void node_start(struct fabric *f, u32 id)
{
	struct node *n = &f->node[id];
	struct tn_nic_config cfg = {
		.ops = &f->ops, .host = n, .nports = (u8)f->nports, .guid = 1000 + id,
		.epoch = (u32)rnd64(&f->r), .params = f->params,
	};

	n->fabric = f;
	n->id = id;
	n->mem.r = &f->r;
	n->nic = aligned_alloc(64, (tn_nic_size() + 63) & ~63ul);
	n->table = aligned_alloc(64, (tn_nic_table_size(&f->shape) + 63) & ~63ul);
	assert_true(n->nic && n->table);
	memset(n->table, 0, tn_nic_table_size(&f->shape));
	expect(&f->r, !tn_nic_init(n->nic, &cfg, f->now), "init");
	tn_node_coords(&f->shape, id, &n->at);
	expect(&f->r, !tn_nic_set_shape(n->nic, &f->shape, &n->at, n->table), "shape");
	for (unsigned int p = 0; p < f->nports; p++) {
		n->peer[p] = torus_neighbour(&f->shape, id, p);
		n->out[p] = (struct lane) { .r = &f->r, .latency = FABRIC_TICK, .late_by = 1,
					    .cut = !fabric_wired(f, p) };
	}
}

static void compute_rows(struct fabric *f, u32 node, uint64_t *rows)
{
	struct torus_health *health;

	if (f->relays) {
		expect(&f->r, !torus_health_new(&f->shape, f->excluded, &health), "health");
		expect(&f->r, torus_health_rows(health, node, TORUS_ROUTES_RELAY, rows) >= 0,
		       "rows");
		torus_health_free(health);
	} else {
		expect(&f->r, torus_route_rows(&f->shape, f->excluded, node, rows) >= 0, "rows");
	}
	if (f->reroute)
		f->reroute(f, node, rows);
}

/* Writes the rows of a node, without holds or with a hold on each destination that changes. */
static void write_rows(struct fabric *f, u32 node, bool hold)
{
	uint64_t *rows = malloc(f->n * sizeof(*rows));
	struct tn_nic *nic = f->node[node].nic;
	const u64 *old;
	u64 version;
	u32 n;

	assert_non_null(rows);
	compute_rows(f, node, rows);
	expect(&f->r, tn_nic_rows(nic, &n, &version) && n == f->n, "old rows");
	old = tn_nic_rows_get(nic, 0, n);
	expect(&f->r, !tn_nic_rows_begin(nic, f->version), "begin");
	for (u32 i = 0; i < n; i++) {
		u64 row = rows[i];

		if (row == (old[i] & ~TORUS_ROW_HOLD))
			continue;
		if (hold)
			row |= TORUS_ROW_HOLD;
		expect(&f->r, !tn_nic_rows_put(nic, f->version, i, &row, 1), "put");
	}
	expect(&f->r, !tn_nic_rows_commit(nic, f->version, f->now), "commit");
	free(rows);
}

static bool all_up(const struct fabric *f)
{
	for (u32 i = 0; i < f->n; i++) {
		for (unsigned int p = 0; p < f->nports; p++) {
			if (fabric_wired(f, p) && f->node[i].nic->link[p].state != TORUS_LINK_UP)
				return false;
		}
	}
	return true;
}

void fabric_start_tuned(struct fabric *f, uint64_t seed, const char *shape,
			void (*tune)(struct fabric *f))
{
	memset(f, 0, sizeof(*f));
	f->r = rnd_new(seed);
	f->now = 1 + rnd_below(&f->r, 1000000);
	expect(&f->r, !torus_shape_parse(shape, &f->shape), "shape %s", shape);
	f->n = torus_nodes(&f->shape);
	f->ndims = f->shape.ndims;
	f->nports = 2 * f->ndims;
	f->ops = (struct tn_ops) {
		.pkt_get = on_get, .pkt_new = on_new, .pkt_put = on_put, .deliver = on_deliver,
		.mgmt = on_mgmt, .event = on_event, .random = on_random,
	};
	tn_params_default(&f->params);
	f->max_flits = 4;
	/* Long queues are slow to check. */
	f->queue = seed % 8 ? 16 : TN_INJECT_MAX;
	if (tune)
		tune(f);
	f->node = calloc(f->n, sizeof(*f->node));
	f->traffic = calloc((size_t)f->n * f->n, sizeof(*f->traffic));
	f->excluded = calloc(f->n, sizeof(*f->excluded));
	assert_true(f->node && f->traffic && f->excluded);
	for (u32 i = 0; i < f->n; i++)
		node_start(f, i);
	for (u32 i = 0; i < f->n; i++) {
		for (unsigned int p = 0; p < f->nports; p++) {
			if (fabric_wired(f, p))
				tn_nic_carrier(f->node[i].nic, p, true, f->now);
		}
	}
	f->version = 1;
	for (u32 i = 0; i < f->n; i++) {
		write_rows(f, i, false);
		/* Links that fail before they were ever up close their ports too. */
		expect(&f->r, !tn_nic_park_replay(f->node[i].nic, 1, ~0u, f->now), "open");
	}
	for (u32 i = 0; i < f->n; i++)
		expect(&f->r, !tn_nic_release(f->node[i].nic, 1, false, f->now), "release");
	for (int i = 0; i < 1000 && !all_up(f); i++)
		fabric_step(f);
	expect(&f->r, all_up(f), "links");
}

void fabric_vary_packets(struct fabric *f)
{
	static const u32 sizes[] = { TN_PAYLOAD_MIN, 4096, 4096, TN_PAYLOAD_MAX };
	struct tn_params *p = &f->params;

	p->payload_max = sizes[rnd_below(&f->r, 4)];
	p->frame_max = tn_packet_max(p) + rnd_below(&f->r, 65535 - tn_packet_max(p));
}

void fabric_start(struct fabric *f, uint64_t seed, const char *shape)
{
	fabric_start_tuned(f, seed, shape, NULL);
}

void fabric_end(struct fabric *f)
{
	for (u32 i = 0; i < f->n; i++) {
		struct node *n = &f->node[i];

		tn_nic_flush(n->nic);
		for (unsigned int p = 0; p < f->nports; p++)
			lane_clear(&n->out[p]);
		expect(&f->r, !n->mem.live, "node %u: %u packets leaked", i, n->mem.live);
		free(n->nic);
		free(n->table);
	}
	free(f->node);
	free(f->traffic);
	free(f->excluded);
}

/* --- the manager ------------------------------------------------------------------ */

u64 fabric_parked(const struct fabric *f)
{
	u64 sum = 0;

	for (u32 i = 0; i < f->n; i++)
		sum += f->node[i].nic->park.q.count;
	return sum;
}

bool fabric_faults(const struct fabric *f, u16 *excluded)
{
	memset(excluded, 0, f->n * sizeof(*excluded));
	for (u32 i = 0; i < f->n; i++) {
		for (unsigned int p = 0; p < f->nports; p++) {
			u8 state = f->node[i].nic->link[p].state;

			if (fabric_wired(f, p) && state != TORUS_LINK_UP &&
			    state != TORUS_LINK_RETRAINING)
				excluded[i] |= (u16)(1u << p);
		}
	}
	torus_exclusions_close(&f->shape, excluded);
	return memcmp(excluded, f->excluded, f->n * sizeof(*excluded));
}

static bool changed(const struct fabric *f)
{
	u16 *now = calloc(f->n, sizeof(*now));
	bool yes;

	assert_non_null(now);
	yes = fabric_faults(f, now);
	free(now);
	return yes;
}

/* Gives both ends of each dead link what the other end has accepted. */
static void resolve(struct fabric *f)
{
	for (u32 i = 0; i < f->n; i++) {
		for (unsigned int p = 0; p < f->nports; p++) {
			struct tn_link_info own, peer;
			unsigned int pp;
			struct node *o;

			if (!fabric_wired(f, p) || !(f->excluded[i] >> p & 1))
				continue;
			o = &f->node[fabric_peer(f, i, p, &pp)];
			tn_nic_link_info(f->node[i].nic, p, &own, f->now);
			tn_nic_link_info(o->nic, pp, &peer, f->now);
			if (own.state == TORUS_LINK_UP)
				continue;
			tn_nic_park_resolve(f->node[i].nic, p, own.session, peer.seq,
					    peer.session != own.session);
		}
	}
}

static bool some_full(const struct fabric *f)
{
	for (u32 i = 0; i < f->n; i++) {
		if (f->node[i].nic->park.full)
			return true;
	}
	return false;
}

/*
 * Return: true if the network is drained. Packets that wait for room in a full parking segment
 * count as parked, because they wait until the segment is replayed.
 */
static bool drained(const struct fabric *f)
{
	s64 sum[TORUS_COLOURS];

	if (some_full(f))
		return true;
	fabric_sums(f, sum);
	sum[f->version % TORUS_COLOURS] = 0;
	return !sum[0] && !sum[1] && !sum[2] && !sum[3];
}

static bool replayed(const struct fabric *f)
{
	s64 left = 0;

	for (u32 i = 0; i < f->n; i++) {
		const u64 (*c)[TORUS_COLOURS] = tn_nic_flow(f->node[i].nic);

		if (f->node[i].nic->park.q.head)
			return false;
		for (int k = 0; k < TORUS_COLOURS; k++)
			left += (s64)(c[TORUS_FC_REPLAY_TX][k] - c[TORUS_FC_REPLAY_RX][k] -
				      c[TORUS_FC_REPLAY_PARKED][k]);
	}
	return !left;
}

/* Return: false if cables changed, so that the recovery must begin again. */
static bool wait_for(struct fabric *f, bool (*what)(const struct fabric *f), u64 until,
		     const char *text)
{
	while (!what(f)) {
		fabric_step(f);
		resolve(f);	/* one end may have noticed the failure later than the other */
		if (changed(f))
			return false;
		expect(&f->r, f->now < until, "%s takes too long", text);
	}
	return !changed(f);
}

static bool recover_once(struct fabric *f, u64 until)
{
	u32 first = rnd_below(&f->r, f->n);

	fabric_faults(f, f->excluded);
	f->version++;
	for (u32 i = 0; i < f->n; i++) {
		write_rows(f, (first + i) % f->n, true);
		if (!rnd_below(&f->r, 4))
			fabric_step(f);
	}
	if (changed(f))
		return false;
	resolve(f);
	if (!wait_for(f, drained, until, "draining"))
		return false;
	for (u32 i = 0; i < f->n; i++) {
		expect(&f->r, !tn_nic_park_replay(f->node[i].nic, f->version,
						  (u32)~f->excluded[i] & ((1u << f->nports) - 1),
						  f->now), "replay");
		if (!rnd_below(&f->r, 4))
			fabric_step(f);
	}
	if (!wait_for(f, replayed, until, "replay"))
		return false;
	for (u32 i = 0; i < f->n; i++) {
		expect(&f->r, !tn_nic_release(f->node[i].nic, f->version, false, f->now),
		       "release");
		if (!rnd_below(&f->r, 4))
			fabric_step(f);
	}
	return !changed(f);
}

void fabric_recover(struct fabric *f, u64 limit)
{
	u64 until = f->now + limit;

	while (!recover_once(f, until))
		expect(&f->r, f->now < until, "recovery does not end");
}
