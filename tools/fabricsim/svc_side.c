// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host of a manager in a world: it gives the manager its NIC and the service network. Messages
 * pass the real codec. A connection delivers messages in order, or breaks. A duplicated message
 * arrives a second time later, out of order, as after a reconnection.
 */
#include <stdio.h>

#include "world_impl.h"
#include "daemon/fm/wire/plan.h"

static struct wnode *node_of(void *io)
{
	struct whost *h = io;

	return &h->w->node[h->node];
}

/* --- the service network ---------------------------------------------------------- */

static int end_new(struct world *w, uint32_t node)
{
	struct wnode *n = &w->node[node];
	int id;

	if (w->nends == w->ends_room) {
		w->ends_room = w->ends_room ? 2 * w->ends_room : 256;
		w->end = realloc(w->end, w->ends_room * sizeof(*w->end));
		if (!w->end)
			abort();
	}
	w->end[w->nends++] = (struct end) {
		.node = node,
		.life = n->fm_life,
		.prev = n->last_end,
		.open = true,
		.last = w->now,
	};
	id = (int)w->nends;
	*(n->last_end ? &w->end[n->last_end - 1].next : &n->first_end) = id;
	n->last_end = id;
	return id;
}

static void end_close(struct world *w, struct end *e)
{
	struct wnode *n = &w->node[e->node];

	*(e->prev ? &w->end[e->prev - 1].next : &n->first_end) = e->next;
	*(e->next ? &w->end[e->next - 1].prev : &n->last_end) = e->prev;
	e->open = false;
}

static uint64_t svc_delay(struct world *w)
{
	return w->cfg.svc_latency + (w->cfg.svc_jitter ? world_random(w) % w->cfg.svc_jitter : 0);
}

#define SEGMENT 1448	/* bytes of a stream in one frame */
#define HEADERS 78	/* bytes of the TCP, IP and Ethernet headers of a frame */

/* Sends a message of @len bytes over a link at @at, or at @busy if the link is busy until then.
 * Return: when the link has sent it; @busy is set to that. */
static uint64_t pass_link(struct world *w, uint64_t *busy, uint64_t at, size_t len)
{
	if (!w->cfg.svc_mbps)
		return at;
	*busy = (at > *busy ? at : *busy) + len * 8000 / w->cfg.svc_mbps;
	return *busy;
}

/*
 * Return: when a message of @node leaves it: the node's processor may have to handle other messages
 * first. If all nodes share one processor, the sender is using it now.
 */
static uint64_t leaves_at(struct world *w, uint32_t node)
{
	uint64_t done = w->cfg.svc_cpu_ns ? world_work(w, node) : w->now;

	return w->cfg.svc_shared ? w->now + w->cfg.svc_cpu_ns : done;
}

/* Counts a message. Return: when it arrives at node @to. */
static uint64_t arrives_at(struct world *w, uint32_t from, uint32_t to, size_t len)
{
	size_t bytes = len + (len / SEGMENT + 1) * HEADERS;
	struct world_counts *c = &w->counts;
	uint64_t at;

	c->messages++;
	c->bytes += bytes;
	if (w->node[from].bootstrap || w->node[to].bootstrap) {
		c->root_messages++;
		c->root_bytes += bytes;
	}
	at = pass_link(w, &w->node[from].svc_out, leaves_at(w, from), bytes) + svc_delay(w);
	return pass_link(w, &w->node[to].svc_in, at, bytes);
}

/* Sends an event to end @id. It arrives after all events that were sent to this end before. */
static void queue_event(struct world *w, int id, enum ev_kind kind, void *data, size_t len)
{
	struct end *e = &w->end[id - 1];
	struct ev ev = {
		.kind = (uint8_t)kind,
		.node = e->node,
		.life = e->life,
		.conn = id,
		.data = data,
		.len = len,
	};

	ev.at = kind == EV_MSG || kind == EV_TABLE ?
			arrives_at(w, w->end[e->peer - 1].node, e->node, len) :
			w->now + svc_delay(w);
	if (ev.at <= e->last)
		ev.at = e->last + 1;
	e->last = ev.at;
	world_post(w, &ev);
}

bool world_lost(const struct world *w, uint32_t a, uint32_t b)
{
	return w->lost && w->lost[(size_t)a * w->nodes + b];
}

static bool *lost_from(struct world *w, uint32_t node)
{
	if (!w->lost)
		w->lost = calloc((size_t)w->nodes * w->nodes, sizeof(*w->lost));
	if (!w->lost)
		abort();
	w->svc_changes++;
	return w->lost + (size_t)node * w->nodes;
}

void world_one_way(struct world *w, uint32_t a, uint32_t b, bool lost)
{
	lost_from(w, a)[b] = lost;
}

void world_partition(struct world *w, uint64_t mask)
{
	for (uint32_t a = 0; a < w->nodes; a++) {
		bool *lost = lost_from(w, a);

		for (uint32_t b = 0; b < w->nodes; b++)
			lost[b] = (a < 64 && mask >> a & 1) != (b < 64 && mask >> b & 1);
	}
}

/* Sends to end @id that the connection has ended, unless this message is lost, too. */
static void hang_up(struct world *w, uint32_t from, int id)
{
	if (world_lost(w, from, w->end[id - 1].node))
		w->end[id - 1].torn = true;
	else
		queue_event(w, id, EV_CONN_DOWN, NULL, 0);
}

#define SVC_NAME "sim:%u"	/* service address of a node */
#define SVC_IP	 "172.30.%u.1:1"
#define SVC_IP6	 "[fd00:30:%x::1]:1"

static void write_address(const struct world *w, uint32_t node, char *text, size_t room)
{
	if (w->cfg.svc_ip == 4)
		snprintf(text, room, SVC_IP, node);
	else if (w->cfg.svc_ip)
		snprintf(text, room, SVC_IP6, node);
	else
		snprintf(text, room, SVC_NAME, node);
}

/* Return: true if @text is the service address of a node, written to @node. */
static bool read_address(const struct world *w, const char *text, unsigned int *node)
{
	int n = w->cfg.svc_ip == 4 ? sscanf(text, SVC_IP, node) :
		w->cfg.svc_ip	   ? sscanf(text, SVC_IP6, node) :
				     sscanf(text, SVC_NAME, node);

	return n == 1 && *node < w->nodes;
}

static int svc_connect(void *io, const char *addr)
{
	struct whost *h = io;
	struct world *w = h->w;
	unsigned int to;
	int a, b;

	if (!read_address(w, addr, &to))
		return -EINVAL;
	a = end_new(w, h->node);
	if (w->node[to].vanished || world_lost(w, h->node, to) || world_lost(w, to, h->node))
		return a;
	if (!w->node[to].managed) {
		queue_event(w, a, EV_CONN_DOWN, NULL, 0);
		return a;
	}
	b = end_new(w, to);
	w->end[a - 1].peer = b;
	w->end[b - 1].peer = a;
	queue_event(w, b, EV_CONN_UP, NULL, 0);
	queue_event(w, a, EV_CONN_UP, NULL, 0);
	return a;
}

static void svc_close(void *io, int id)
{
	struct whost *h = io;
	struct end *e = &h->w->end[id - 1];

	if (!e->open)
		return;
	end_close(h->w, e);
	if (e->peer && h->w->end[e->peer - 1].open)
		hang_up(h->w, h->node, e->peer);
}

void parcel_put(struct parcel *p)
{
	if (--p->refs)
		return;
	free(p->msg.table.entries);
	free(p->msg.table.orders);
	free(p->msg.table.jobs);
	free(p);
}

static bool parcel_has(const struct parcel *p, const struct fm_table_msg *t)
{
	const struct fm_table_msg *has = &p->msg.table;

	return has->term == t->term && has->version == t->version && has->base == t->base &&
	       has->nentries == t->nentries;
}

/*
 * Return: a table as a parcel: the parcel that its sender is just receiving and passes on, or the
 * newest parcel, if it has the same table; else a new parcel. Term, version and base determine the
 * content of a table, except for sessions that the second end of a cable reports late; the machines
 * of a library share these anyway.
 */
static struct parcel *parcel_of(struct world *w, const struct fm_msg *msg)
{
	struct parcel *p = w->handing;
	uint8_t *data;

	if (!p || !parcel_has(p, &msg->table))
		p = w->last;
	if (!p || !parcel_has(p, &msg->table)) {
		p = malloc(sizeof(*p));
		if (!p || fm_msg_pack(msg, &data, &p->len))
			abort();
		free(data);
		p->refs = 1;
		p->msg = *msg;
		p->msg.table.entries = malloc((msg->table.nentries + 1) *
					      sizeof(*msg->table.entries));
		p->msg.table.orders = malloc((msg->table.norders + 1) *
					     sizeof(*msg->table.orders));
		p->msg.table.jobs = malloc((msg->table.njobs + 1) * sizeof(*msg->table.jobs));
		if (!p->msg.table.entries || !p->msg.table.orders || !p->msg.table.jobs)
			abort();
		if (msg->table.norders)
			memcpy(p->msg.table.orders, msg->table.orders,
			       msg->table.norders * sizeof(*msg->table.orders));
		if (msg->table.njobs)
			memcpy(p->msg.table.jobs, msg->table.jobs,
			       msg->table.njobs * sizeof(*msg->table.jobs));
		memcpy(p->msg.table.entries, msg->table.entries,
		       msg->table.nentries * sizeof(*msg->table.entries));
		if (w->last)
			parcel_put(w->last);
		w->last = p;
	}
	p->refs++;
	return p;
}

/*
 * Return: true if a message from end @id to end @to is lost. The connection breaks if a message was
 * lost on it before, or if the other end was closed and the message about that was lost.
 */
static bool is_message_lost(struct world *w, int id, int to)
{
	struct end *e = &w->end[id - 1], *far = &w->end[to - 1];

	if (world_lost(w, e->node, far->node)) {
		far->torn = true;
		return true;
	}
	if (!far->torn && !(e->torn && !far->open))
		return false;
	hang_up(w, far->node, id);
	if (far->open)
		queue_event(w, to, EV_CONN_DOWN, NULL, 0);
	return true;
}

/*
 * Handles a message to an end whose host has lost its power: if the host has power again, it sends
 * a reset.
 */
static void reset_end(struct world *w, int id)
{
	const struct end *e = &w->end[id - 1];

	if (!w->node[w->end[e->peer - 1].node].vanished)
		queue_event(w, id, EV_CONN_DOWN, NULL, 0);
}

static void svc_send(void *io, int id, const struct fm_msg *msg)
{
	struct whost *h = io;
	struct world *w = h->w;
	struct end *e = &w->end[id - 1];
	uint8_t *data;
	size_t len;

	if (!e->open || !e->peer)
		return;
	w->counts.hellos += msg->type == FM_MSG_HELLO;
	if (w->end[e->peer - 1].vanished) {
		reset_end(w, id);
		return;
	}
	if (is_message_lost(w, id, e->peer))
		return;
	if (world_chance(w, w->cfg.svc_break, 100000)) {
		queue_event(w, e->peer, EV_CONN_DOWN, NULL, 0);
		queue_event(w, id, EV_CONN_DOWN, NULL, 0);
		return;
	}
	if (w->cfg.share && msg->type == FM_MSG_TABLE) {
		struct parcel *p = parcel_of(w, msg);

		queue_event(w, e->peer, EV_TABLE, p, p->len);
		return;
	}
	if (fm_msg_pack(msg, &data, &len))
		abort();
	if (world_chance(w, w->cfg.svc_double, 1000)) {
		struct end *to = &w->end[e->peer - 1];
		struct ev ev = {
			.at = w->now + svc_delay(w) + world_random(w) % (20 * MS),
			.kind = EV_MSG,
			.node = to->node,
			.life = to->life,
			.conn = e->peer,
			.data = malloc(len + 1),
			.len = len,
		};

		if (!ev.data)
			abort();
		memcpy(ev.data, data, len);
		world_post(w, &ev);
	}
	queue_event(w, e->peer, EV_MSG, data, len);
}

/* Keeps a table as on a disk: it survives a loss of the node's power. */
static void keep_table(void *io, const struct fm_msg *table)
{
	struct wnode *n = node_of(io);

	free(n->kept);
	if (fm_msg_pack(table, &n->kept, &n->kept_len))
		abort();
}

void world_wipe(struct world *w, uint32_t node)
{
	free(w->node[node].kept);
	w->node[node].kept = NULL;
}

static void print_log(void *io, const struct fm_log *log)
{
	struct whost *h = io;

	if (h->w->cfg.verbose > (unsigned int)log->level)
		fprintf(stderr, "%10.3f ms %-6s %-9s %s\n", (double)h->w->now / 1e6,
			node_of(io)->name, log->kind, log->text);
}

static const struct fm_ops ops = {
	.mgmt_send = host_mgmt_send,
	.root_set = host_root_set,
	.place_set = host_place_set,
	.rows_write = host_rows_write,
	.release = host_release,
	.count = host_count,
	.park_resolve = host_park_resolve,
	.park_replay = host_park_replay,
	.connect = svc_connect,
	.send = svc_send,
	.close = svc_close,
	.arbitrate = host_arbitrate,
	.keep = keep_table,
	.log = print_log,
};

/* --- manager ------------------------------------------------------------------------ */

static void manager_arm(struct world *w, uint32_t node)
{
	struct wnode *n = &w->node[node];
	uint64_t due = fm_expiry(n->fm);
	struct ev ev = { .kind = EV_FM, .node = node, .life = n->fm_life };

	if (due == ~0ULL || due >= n->fm_due || n->fm_late)
		return;
	ev.at = due > w->now ? due : w->now + 1;
	n->fm_due = ev.at;
	world_post(w, &ev);
}

void manager_start(struct world *w, uint32_t node)
{
	struct wnode *n = &w->node[node];
	struct whost *h = malloc(sizeof(*h));
	struct torus_link links[TORUS_MAX_PORTS];
	struct torus_device dev = {
		.guid = n->guid,
		.epoch = n->epoch,
		.root_epoch = n->root_epoch,
		.root_guid = n->root_guid,
		.rows_epoch = n->rows_epoch,
		.relay_packets = n->relay_packets,
		.nports = (uint8_t)w->nports,
		.bootstrap = n->bootstrap,
	};
	struct fm_ops use = ops;
	struct torus_park park;
	const u64 *rows = NULL;
	struct fm_msg kept = { .type = FM_MSG_PING };
	struct fm_config c;
	u32 nrows;

	if (!h)
		abort();
	*h = (struct whost) { w, node };
	n->by_epoch = n->by_guid = 0;
	fm_config_default(&c);
	snprintf(c.fabric, sizeof(c.fabric), "%s", n->fabric);
	strcpy(c.name, n->name);
	write_address(w, node, c.address, sizeof(c.address));
	c.fanout = w->cfg.fanout;
	c.priority = n->priority;
	c.seed = world_random(w);
	if (w->cfg.member_max)
		c.member_max = w->cfg.member_max;
	if (w->cfg.flap_limit)
		c.flap_limit = w->cfg.flap_limit;
	if (w->cfg.flap_half_life)
		c.flap_half_life = w->cfg.flap_half_life;
	if (w->cfg.hold_max)
		c.hold_max = w->cfg.hold_max;
	if (!w->cfg.discover)
		c.shape = w->cfg.shape;
	if (node >= 64 || !(w->cfg.no_plans >> node & 1))
		dev.plan = fm_plan_full(&n->plan);
	c.plan = w->cfg.plan;
	c.plan_given = w->cfg.plan_given;
	c.arbiter = w->cfg.arbiter;
	c.library = w->library;
	if (w->cfg.links_only)
		plain_device(w, node, &dev);
	else
		dev.placed = tn_nic_at(n->nic, &dev.shape, &dev.coords);
	if (dev.placed && !w->cfg.links_only) {
		tn_nic_rows(n->nic, &nrows, (u64 *)&dev.version);
		rows = tn_nic_rows_get(n->nic, 0, nrows);
		dev.node = torus_node_id(&dev.shape, &dev.coords);
	}
	memset(links, 0, sizeof(links));
	for (unsigned int p = 0; p < w->nports; p++)
		nic_link(w, node, p, &links[p]);
	if (w->cfg.links_only) {
		use.rows_write = NULL;
		use.rows_apply = host_rows_apply;
	}
	host_counters(w, node, &park);
	if (n->kept && !fm_msg_unpack(n->kept, n->kept_len, &kept))
		c.kept = &kept.table;
	n->fm = fm_new(&c, &use, h, &dev, links, &park, (const uint64_t *)rows, w->now);
	if (!n->fm)
		abort();
	fm_msg_clear(&kept);
	n->fm_due = ~0ULL;
	n->fm_late = false;
	manager_arm(w, node);
}

void manager_stop(struct world *w, uint32_t node)
{
	struct wnode *n = &w->node[node];

	while (n->first_end) {
		struct end *e = &w->end[n->first_end - 1];

		end_close(w, e);
		e->vanished = n->vanished;
		if (!n->vanished && e->peer && w->end[e->peer - 1].open)
			hang_up(w, node, e->peer);
	}
	manager_drop(w, node);
}

void manager_drop(struct world *w, uint32_t node)
{
	struct wnode *n = &w->node[node];
	void *io = fm_io(n->fm);

	host_drop_mgmt(n);
	fm_free(n->fm);
	free(io);
	n->fm = NULL;
}

void world_admin(struct world *w, uint32_t node, unsigned int port, bool up, bool stalled)
{
	struct wnode *n = &w->node[node];

	if (n->fm && stalled) {
		fm_stalled(n->fm, port, !up, w->now);
		manager_arm(w, node);
	}
	tn_nic_admin(n->nic, port, up, w->now);
	nic_pump(w, node);
}

int world_move(struct world *w, uint32_t root, uint32_t node)
{
	int err = fm_root_move(w->node[root].fm, node, w->now);

	manager_arm(w, root);
	return err;
}

bool world_send_msg(struct world *w, uint32_t node, unsigned int k, const struct fm_msg *msg)
{
	struct wnode *n = &w->node[node];
	unsigned int open = 0;
	int id = n->first_end;
	struct fm_msg got;
	uint8_t *data;
	size_t len;
	int err;

	for (int i = id; i; i = w->end[i - 1].next)
		open++;
	if (!n->managed || !open || fm_msg_pack(msg, &data, &len))
		return false;
	err = fm_msg_unpack(data, len, &got);
	free(data);
	if (err)
		return false;
	for (k %= open; k; k--)
		id = w->end[id - 1].next;
	fm_msg(n->fm, id, &got, w->now);
	fm_msg_clear(&got);
	manager_arm(w, node);
	return true;
}

void world_receive(struct world *w, uint32_t node, unsigned int port, const void *data, size_t len)
{
	fm_mgmt(w->node[node].fm, port, data, len, w->now);
	manager_arm(w, node);
}

static void conn_event(struct world *w, struct ev *ev)
{
	struct end *e = &w->end[ev->conn - 1];
	struct fm *fm = w->node[ev->node].fm;
	struct fm_msg msg;

	if (!e->open)
		return;
	switch (ev->kind) {
	case EV_CONN_UP:
		fm_conn_up(fm, ev->conn, w->now);
		break;
	case EV_CONN_DOWN:
		end_close(w, e);
		fm_conn_down(fm, ev->conn, w->now);
		break;
	case EV_TABLE:
		if (w->node[ev->node].ignore & 1u << FM_MSG_TABLE)
			break;
		w->handing = ev->data;
		fm_msg(fm, ev->conn, &w->handing->msg, w->now);
		w->handing = NULL;
		break;
	case EV_MSG:
		if (fm_msg_unpack(ev->data, ev->len, &msg))
			abort();
		if (!(w->node[ev->node].ignore & 1u << msg.type))
			fm_msg(fm, ev->conn, &msg, w->now);
		fm_msg_clear(&msg);
		break;
	}
}

void manager_event(struct world *w, struct ev *ev)
{
	struct wnode *n = &w->node[ev->node];

	if (!n->managed || ev->life != n->fm_life || (ev->kind == EV_FM && ev->at != n->fm_due))
		return;
	w->calling = true;
	switch (ev->kind) {
	case EV_FM:
		n->fm_due = ~0ULL;
		n->fm_late = false;
		fm_timer(n->fm, w->now);
		break;
	case EV_LINK:
		fm_link(n->fm, ev->data, w->now);
		break;
	case EV_MGMT:
		fm_mgmt(n->fm, ev->port, ev->data, ev->len, w->now);
		break;
	case EV_ARBITER:
		host_answered(w, ev);
		break;
	case EV_DONE:
		host_done(w, ev);
		break;
	default:
		conn_event(w, ev);
	}
	host_settle(w, ev->node);
	manager_arm(w, ev->node);
}
