// SPDX-License-Identifier: GPL-2.0-only
/* Simulates the host of a NIC core: its memory, cables and traffic. */
#include "world_impl.h"

#define ALIGN 64
#define MAGIC 0x53494d31u

/** struct load - payload of a packet of the simulated traffic, which identifies the packet */
struct load {
	uint32_t magic;
	uint32_t src;
	uint32_t dst;
	uint32_t vc;
	uint64_t seq;
	uint64_t pad;
};

/**
 * struct copy - a packet in the memory of a NIC
 * @is_traffic: this is a copy of packet @id of the traffic, which was reported to the watch
 */
struct copy {
	struct tn_pkt pkt;
	struct world_packet id;
	bool is_traffic;
};

/** struct host - the host pointer of tn_ops: a NIC of a world */
struct host {
	struct world *w;
	uint32_t node;
};

/* Notes that @copy is a copy of the packet with payload @l, and calls the watch. */
static void note_copy(const struct host *h, struct copy *copy, const struct load *l)
{
	const struct world_watch *watch = &h->w->watch;

	copy->is_traffic = true;
	copy->id = (struct world_packet) { l->src, l->dst, l->vc, l->seq };
	if (watch->copied)
		watch->copied(watch->arg, h->node, &copy->id);
}

bool nic_packet(const struct tn_pkt *pkt, struct world_packet *id)
{
	const struct copy *copy = (const struct copy *)pkt;

	if (copy->is_traffic)
		*id = copy->id;
	return copy->is_traffic;
}

/* calloc() of glibc uses no memory that its thread has freed just before, so it is slow. */
static struct copy *new_copy(void)
{
	struct copy *copy = malloc(sizeof(*copy));

	if (!copy)
		abort();
	*copy = (struct copy) { .is_traffic = false };
	return copy;
}

static struct tn_pkt *pkt_get(void *host, void *owner, const u8 *payload)
{
	struct copy *copy = new_copy();
	struct frame *f = owner;
	struct load l;

	copy->pkt.owner = f;
	f->refs++;
	if (payload && payload + sizeof(l) <= f->data + f->len) {
		memcpy(&l, payload, sizeof(l));
		if (l.magic == MAGIC)
			note_copy(host, copy, &l);
	}
	return &copy->pkt;
}

static struct tn_pkt *pkt_new(void *host, unsigned int nflits)
{
	struct frame *f = malloc(sizeof(*f) + nflits * TN_FLIT);
	struct copy *copy = new_copy();

	(void)host;
	if (!f)
		abort();
	f->refs = 1;
	f->len = nflits * TN_FLIT;
	copy->pkt.owner = f;
	copy->pkt.payload = f->data;
	return &copy->pkt;
}

static void pkt_put(void *host, struct tn_pkt *p)
{
	struct copy *copy = (struct copy *)p;	/* the packet is the first member */
	struct host *h = host;
	const struct world_watch *watch = &h->w->watch;

	if (copy->is_traffic && watch->freed)
		watch->freed(watch->arg, h->node, &copy->id, p);
	frame_put(p->owner);
	free(copy);
}

static bool deliver_packet(void *host, struct tn_pkt *p)
{
	const struct copy *copy = (const struct copy *)p;
	const struct host *h = host;
	const struct world_watch *watch = &h->w->watch;

	/* A host gets only whole packets of the traffic that are addressed to it. */
	if (!copy->is_traffic || tn_pkt_bytes(p) != sizeof(struct load))
		abort();
	if (h->node != (p->hdr.type == TN_UNREACH ? copy->id.src : copy->id.dst))
		abort();
	if (p->hdr.type == TN_UNREACH && watch->returned)
		watch->returned(watch->arg, &copy->id);
	if (p->hdr.type != TN_UNREACH && watch->got)
		watch->got(watch->arg, &copy->id);
	pkt_put(host, p);
	return true;
}

static bool deliver_mgmt(void *host, unsigned int port, const u8 *data, unsigned int len)
{
	struct host *h = host;
	struct wnode *n = &h->w->node[h->node];
	struct ev ev = {
		.at = h->w->now + 20 * US,
		.kind = EV_MGMT,
		.node = h->node,
		.port = (uint8_t)port,
		.life = n->fm_life,
		.len = len,
	};

	if (!n->managed)
		return true;
	ev.data = malloc(len);
	if (!ev.data)
		abort();
	memcpy(ev.data, data, len);
	world_post(h->w, &ev);
	return true;
}

static void handle_event(void *host, const struct tn_event *e)
{
	struct host *h = host;

	if (e->type != TN_EV_LINK)
		return;
	h->w->node[h->node].links_changed |= 1u << e->port;
	h->w->link_events++;
}

static u32 nic_random(void *host)
{
	struct host *h = host;

	return (u32)world_random(h->w);
}

static const struct tn_ops ops = {
	.pkt_get = pkt_get,
	.pkt_new = pkt_new,
	.pkt_put = pkt_put,
	.deliver = deliver_packet,
	.mgmt = deliver_mgmt,
	.event = handle_event,
	.random = nic_random,
};

/* Sets the cable of a port's SerDes model; both directions are alike. */
static void lay_cable(struct world *w, uint32_t node, unsigned int port)
{
	struct wnode *n = &w->node[node];

	tn_serdes_model_lay(&n->serdes[port], &w->cable[n->cable[port]].line, w->now);
	tn_nic_cable(n->nic, port, w->now);
}

static void lines_start(struct world *w, uint32_t node)
{
	struct wnode *n = &w->node[node];

	n->serdes = calloc(w->nports, sizeof(*n->serdes));
	if (!n->serdes)
		abort();
	for (unsigned int p = 0; p < w->nports; p++) {
		tn_serdes_model_init(&n->serdes[p]);
		tn_nic_serdes(n->nic, p, &n->serdes[p].serdes);
		if (n->cable[p] >= 0)
			lay_cable(w, node, p);
	}
}

void nic_line(struct world *w, uint32_t cable)
{
	const struct cable *c = &w->cable[cable];

	for (unsigned int e = 0; c->there && e < 2; e++) {
		if (!w->node[c->node[e]].serdes)
			continue;
		lay_cable(w, c->node[e], c->port[e]);
		nic_pump(w, c->node[e]);
	}
}

static void core_start(struct world *w, uint32_t node)
{
	struct wnode *n = &w->node[node];
	size_t size = (tn_nic_size() + ALIGN - 1) / ALIGN * ALIGN;
	struct host *h = malloc(sizeof(*h));
	struct tn_nic_config cfg = {
		.ops = &ops,
		.host = h,
		.nports = (u8)w->nports,
		.guid = n->guid,
		.epoch = n->epoch,
	};

	n->nic = aligned_alloc(ALIGN, size + ALIGN);
	if (!n->nic || !h)
		abort();
	*h = (struct host) { w, node };
	memcpy((char *)n->nic + size, &h, sizeof(h));	/* core_stop() uses this pointer to free
							 * the memory */
	tn_params_default(&cfg.params);
	cfg.params.bubble = w->cfg.bubble;
	cfg.params.slots = w->cfg.slots ? w->cfg.slots : 16;
	if (n->relay_packets)
		cfg.params.relay_packets = n->relay_packets;
	n->relay_packets = cfg.params.relay_packets;
	cfg.params.park_bytes = 64 << 20;
	if (tn_nic_init(n->nic, &cfg, w->now))
		abort();
	n->nic_due = ~0ULL;
	n->table = NULL;
	if (w->cfg.lines)
		lines_start(w, node);
	nic_pump(w, node);
	if (w->cfg.traffic)
		nic_traffic(w, node);
}

void nic_start(struct world *w, uint32_t node)
{
	if (w->cfg.links_only)
		plain_start(w, node);
	else
		core_start(w, node);
}

static void core_stop(struct world *w, uint32_t node)
{
	struct wnode *n = &w->node[node];
	size_t size = (tn_nic_size() + ALIGN - 1) / ALIGN * ALIGN;
	struct host *h;

	memcpy(&h, (char *)n->nic + size, sizeof(h));
	tn_nic_flush(n->nic);
	free(n->nic);
	free(n->table);
	free(n->serdes);
	free(h);
	n->nic = NULL;
	n->serdes = NULL;
	n->table = NULL;
}

void nic_stop(struct world *w, uint32_t node)
{
	if (w->cfg.links_only)
		plain_stop(w, node);
	else
		core_stop(w, node);
	held_none(w, node);
}

static void send_world_frame(struct world *w, uint32_t node, unsigned int port,
			     const struct tn_frame *f)
{
	struct wnode *n = &w->node[node];
	const struct cable *c = n->cable[port] < 0 ? NULL : &w->cable[n->cable[port]];
	struct ev ev = { .kind = EV_FRAME };
	struct frame *copy;
	unsigned int far;

	if (!c)
		return;
	far = c->node[0] == node && c->port[0] == port;
	if (c->cut || c->silent & 1u << !far || world_chance(w, w->cfg.frame_loss, 100000))
		return;
	if (!w->node[c->node[far]].on)
		return;
	copy = malloc(sizeof(*copy) + f->bytes);
	if (!copy)
		abort();
	copy->refs = 1;
	copy->len = 0;
	for (unsigned int i = 0; i < f->nsegs; i++) {
		memcpy(copy->data + copy->len, f->seg[i].base, f->seg[i].len);
		copy->len += f->seg[i].len;
	}
	ev.at = w->now + w->cfg.link_latency;
	ev.node = c->node[far];
	ev.port = c->port[far];
	ev.life = w->node[ev.node].nic_life;
	ev.data = copy;
	world_post(w, &ev);
}

void report_link(struct world *w, uint32_t node, unsigned int port)
{
	struct ev ev = {
		.at = w->now + 20 * US,
		.kind = EV_LINK,
		.node = node,
		.life = w->node[node].fm_life,
		.data = malloc(sizeof(struct torus_link)),
	};

	if (!ev.data)
		abort();
	nic_link(w, node, port, ev.data);
	world_post(w, &ev);
}

/* Reports changed links to the manager, when the NIC has nothing more to do. */
static void report_world_links(struct world *w, uint32_t node)
{
	struct wnode *n = &w->node[node];

	for (unsigned int p = 0; p < w->nports; p++)
		if (n->links_changed & 1u << p && n->managed)
			report_link(w, node, p);
	n->links_changed = 0;
}

void nic_pump(struct world *w, uint32_t node)
{
	struct wnode *n = &w->node[node];
	struct tn_frame f;
	uint64_t due;
	u32 ports;

	tn_nic_work(n->nic, w->now);
	while ((ports = tn_nic_tx_ports(n->nic))) {
		unsigned int p = (unsigned int)__builtin_ctz(ports);
		bool some = false;

		while (tn_nic_tx(n->nic, p, &f, w->now)) {
			send_world_frame(w, node, p, &f);
			some = true;
		}
		if (!some)
			break;
	}
	report_world_links(w, node);
	due = tn_nic_expiry(n->nic);
	if (due != ~0ULL && due < n->nic_due) {
		struct ev ev = {
			.at = due > w->now ? due : w->now + 1,
			.kind = EV_NIC,
			.node = node,
			.life = n->nic_life,
		};

		n->nic_due = ev.at;
		world_post(w, &ev);
	}
}

void nic_frame(struct world *w, const struct ev *ev)
{
	struct wnode *n = &w->node[ev->node];
	struct frame *f = ev->data;
	struct tn_fault *errors = NULL;
	const struct cable *c;
	unsigned int end;

	if (!n->on || ev->life != n->nic_life || n->cable[ev->port] < 0)
		return;
	c = &w->cable[n->cable[ev->port]];
	end = !(c->node[0] == ev->node && c->port[0] == ev->port);
	if (c->cut || c->silent & 1u << !end)
		return;
	if (n->serdes)
		errors = tn_serdes_errors(&n->serdes[ev->port].serdes, (u32)f->len, w->now);
	if (errors)
		tn_fault_corrupt(errors, f->data, (u32)f->len);
	tn_nic_rx(n->nic, ev->port, f->data, f->len, f, w->now);
	nic_pump(w, ev->node);
}

/*
 * Sets the carrier of both ends of a cable: they have one if it is plugged and not cut, and both
 * nodes have power.
 */
void nic_carrier(struct world *w, uint32_t cable)
{
	const struct cable *c = &w->cable[cable];
	bool up = c->there && !c->cut && w->node[c->node[0]].on && w->node[c->node[1]].on;

	if (w->cfg.links_only) {
		plain_carrier(w, cable);
		return;
	}
	for (unsigned int e = 0; e < 2; e++) {
		struct wnode *n = &w->node[c->node[e]];

		if (!n->on)
			continue;
		tn_nic_carrier(n->nic, c->port[e], up, w->now);
		nic_pump(w, c->node[e]);
	}
}

void nic_link(struct world *w, uint32_t node, unsigned int port, struct torus_link *out)
{
	struct tn_link_info i;

	if (w->cfg.links_only) {
		plain_link(w, node, port, out);
		return;
	}
	tn_nic_link_info(w->node[node].nic, port, &i, w->now);
	memset(out, 0, sizeof(*out));
	out->port = (uint8_t)port;
	out->state = i.state;
	out->reason = i.reason;
	out->admin = i.admin;
	out->carrier = i.carrier;
	out->closed = i.closed;
	out->session = i.session;
	out->seq = i.seq;
	out->peer_guid = i.peer_guid;
	out->peer_port = i.peer_port;
}

/*
 * Return: the id of @node in @shape, which may be a part of the world's shape; TORUS_NO_NODE:
 * @shape does not include the node.
 */
static uint32_t id_in(const struct world *w, const struct torus_shape *shape, uint32_t node)
{
	struct torus_coords at;

	torus_node_coords(&w->cfg.shape, node, &at);
	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++)
		if (at.c[d] >= shape->size[d])
			return TORUS_NO_NODE;
	return torus_node_id(shape, &at);
}

/*
 * Sends a packet of the traffic to @dst, whose id is @id. Return: true if the NIC accepted the
 * packet.
 */
static bool send_one(struct world *w, uint32_t node, uint32_t dst, uint32_t id, unsigned int vc)
{
	struct wnode *n = &w->node[node];
	struct host h = { w, node };
	struct load l;
	struct tn_pkt *p;

	if (!tn_nic_room(n->nic, id, vc))
		return false;
	if (!n->seq)
		n->seq = calloc(w->nodes * TORUS_VCS, sizeof(*n->seq));
	if (!n->seq)
		abort();
	l = (struct load) {
		.magic = MAGIC,
		.src = node,
		.dst = dst,
		.vc = vc,
		.seq = n->seq[dst * TORUS_VCS + vc],
	};
	p = pkt_new(&h, sizeof(l) / TN_FLIT);
	p->hdr.len = sizeof(l) / TN_FLIT;
	p->tail.flags = TN_TAIL_FIRST | TN_TAIL_LAST;
	memcpy(p->payload, &l, sizeof(l));
	if (tn_nic_send(n->nic, p, id, vc, w->now)) {
		pkt_put(&h, p);
		return false;
	}
	/* tn_nic_send() only queues the packet, so the copy can still be registered after it. */
	note_copy(&h, (struct copy *)p, &l);
	n->seq[dst * TORUS_VCS + vc]++;
	if (w->watch.sent)
		w->watch.sent(w->watch.arg, &((struct copy *)p)->id);
	return true;
}

void nic_traffic(struct world *w, uint32_t node)
{
	struct wnode *n = &w->node[node];
	struct ev ev = { .kind = EV_TRAFFIC, .node = node, .life = n->nic_life };
	struct torus_coords at;
	struct torus_shape s;

	if (!w->cfg.traffic)
		return;
	if (tn_nic_at(n->nic, &s, &at)) {
		uint32_t dst = w->flow ? w->flow_dst : n->next_dst++ % w->nodes;
		unsigned int vcs = w->cfg.adaptive ? TORUS_VCS : TORUS_VC_A;

		uint32_t id = id_in(w, &s, dst);

		if (dst != node && id != TORUS_NO_NODE && (!w->flow || node == w->flow_src) &&
		    send_one(w, node, dst, id, (unsigned int)(world_random(w) % vcs)))
			nic_pump(w, node);
	}
	ev.at = w->now + w->cfg.traffic / 2 + world_random(w) % w->cfg.traffic;
	world_post(w, &ev);
}
