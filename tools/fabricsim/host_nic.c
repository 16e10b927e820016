// SPDX-License-Identifier: GPL-2.0-only
/*
 * Actions that managers order from their NICs. A NIC acts at once, and its manager gets the result
 * when its present event is done. A slow NIC (world_slow()) does actions one after the other, each
 * in the middle of its time, so the counters that it reports are already old when the manager gets
 * them.
 */
#include <errno.h>

#include "world_impl.h"

enum act_kind {
	ACT_MGMT, ACT_ROOT, ACT_PLACE, ACT_ROWS, ACT_APPLY, ACT_RELEASE, ACT_COUNT, ACT_RESOLVE,
	ACT_REPLAY
};

#define ACTS_WAITING 16	/* if this many actions wait, no management packet is queued, as in
			 * daemon/nic_call.c */

/**
 * struct nic_act - an action
 * @next: in the list of management packets that wait (struct wnode)
 * @nodes, @rows, @n: arguments of ACT_ROWS
 * @epoch, @guid: arguments of ACT_ROOT
 * @flag: argument give_up of ACT_RELEASE, or lost of ACT_COUNT
 */
struct nic_act {
	enum act_kind kind;
	uint32_t tag;
	uint64_t epoch, guid;
	uint64_t version;
	struct torus_shape shape;
	struct torus_coords at;
	struct torus_plan plan;
	const uint32_t *nodes;
	const uint64_t *rows;
	uint32_t n;
	const uint16_t *closed;
	unsigned int port;
	uint32_t session;
	int seq;
	uint16_t ports;
	bool flag;
	const void *data;
	size_t len;
	struct nic_act *next;
};

/* --- a NIC with a core ---------------------------------------------------------- */

/*
 * Return: true if the NIC has that place already: then its core keeps its memory
 * (torus_req_device_place()).
 */
static bool is_nic_there(const struct wnode *n, const struct nic_act *a)
{
	struct torus_shape shape;
	struct torus_coords at;

	return tn_nic_at(n->nic, &shape, &at) && shape.ndims == a->shape.ndims &&
	       !memcmp(shape.size, a->shape.size, sizeof(shape.size)) &&
	       !memcmp(at.c, a->at.c, sizeof(at.c));
}

static int place_set(struct wnode *n, const struct nic_act *a)
{
	size_t size = (tn_nic_table_size(&a->shape) + 63) / 64 * 64;
	void *mem;
	int err;

	if (is_nic_there(n, a))
		return 0;
	mem = aligned_alloc(64, size);
	if (!mem)
		abort();
	memset(mem, 0, size);
	err = tn_nic_set_shape(n->nic, &a->shape, &a->at, mem);
	if (err) {
		free(mem);
		return err;
	}
	free(n->table);
	n->table = mem;
	return 0;
}

/*
 * Return: 0; -ESTALE if the NIC has rows of a later version in this epoch, as of ROWS_BEGIN in
 * kernel/req/request_rows.c.
 */
static int check_version(const struct wnode *n, uint64_t version)
{
	u64 active;
	u32 nodes;

	tn_nic_rows(n->nic, &nodes, &active);
	return n->by_epoch <= n->rows_epoch && version < active ? -ESTALE : 0;
}

static int write_host_rows(struct world *w, uint32_t node, const struct nic_act *a)
{
	struct tn_nic *nic = w->node[node].nic;
	int err = check_version(&w->node[node], a->version);
	const u64 *old = tn_nic_rows_get(nic, 0, w->nodes);
	uint32_t held = 0;

	if (!err)
		err = tn_nic_rows_begin(nic, a->version);
	for (uint32_t i = 0; !err && i < a->n; i++) {
		u64 r = a->rows[i];

		held += r & TORUS_ROW_HOLD && !(old && old[a->nodes[i]] & TORUS_ROW_HOLD);
		err = tn_nic_rows_put(nic, a->version, a->nodes[i], &r, 1);
	}
	if (!err)
		err = tn_nic_rows_commit(nic, a->version, w->now);
	if (err)
		return err;
	w->counts.rows += a->n;
	w->counts.versions += w->node[node].bootstrap;
	held_more(w, node, held);
	if (w->watch.switched)
		w->watch.switched(w->watch.arg, node, a->version);
	return 0;
}

static int release_rows(struct world *w, uint32_t node, const struct nic_act *a)
{
	int err;

	if (w->watch.releases)
		w->watch.releases(w->watch.arg, node, a->version, a->flag);
	err = tn_nic_release(w->node[node].nic, a->version, a->flag, w->now);
	if (!err)
		held_none(w, node);
	return err;
}

static int park_resolve(struct world *w, uint32_t node, const struct nic_act *a)
{
	bool all = a->seq < 0;

	if (all && w->watch.keeps)
		w->watch.keeps(w->watch.arg, node, a->port, a->session);
	return tn_nic_park_resolve(w->node[node].nic, a->port, a->session, (u16)(all ? 0 : a->seq),
				   all);
}

static int park_replay(struct world *w, uint32_t node, const struct nic_act *a)
{
	if (w->watch.replays)
		w->watch.replays(w->watch.arg, node, a->version);
	return tn_nic_park_replay(w->node[node].nic, a->version, a->ports, w->now);
}

static int core_act(struct world *w, uint32_t node, const struct nic_act *a)
{
	struct wnode *n = &w->node[node];

	switch (a->kind) {
	case ACT_MGMT:
		return tn_nic_mgmt_send(n->nic, a->port, a->data, (unsigned int)a->len, w->now);
	case ACT_PLACE:
		n->plan = a->plan;
		return place_set(n, a);
	case ACT_ROWS:
		return write_host_rows(w, node, a);
	case ACT_RELEASE:
		return release_rows(w, node, a);
	case ACT_RESOLVE:
		return park_resolve(w, node, a);
	case ACT_REPLAY:
		return park_replay(w, node, a);
	default:
		return 0;
	}
}

/* --- a NIC that consists only of links (nic_plain.c) -------------------------------- */

static int plain_act(struct world *w, uint32_t node, const struct nic_act *a)
{
	switch (a->kind) {
	case ACT_MGMT:
		return plain_mgmt(w, node, a->port, a->data, a->len);
	case ACT_PLACE:
		w->node[node].plan = a->plan;
		return plain_place(w, node, &a->shape, &a->at);
	case ACT_APPLY:
		w->counts.versions += w->node[node].bootstrap;
		return plain_rows(w, node, a->version, a->closed);
	case ACT_RELEASE:
		held_none(w, node);
		return 0;
	case ACT_REPLAY:
		return plain_replay(w, node, a->ports);
	default:
		return 0;
	}
}

/* --- counters --------------------------------------------------------------------- */

void host_counters(struct world *w, uint32_t node, struct torus_park *out)
{
	struct tn_nic *nic = w->node[node].nic;
	struct tn_park_info info;
	u32 n;

	memset(out, 0, sizeof(*out));
	if (w->cfg.links_only) {
		plain_flow(w, node, out);
		return;
	}
	tn_nic_park_info(nic, &info);
	out->parked = info.parked;
	out->unresolved = info.unresolved;
	out->held = info.held;
	tn_nic_rows(nic, &n, (u64 *)&out->flow.version);
	memcpy(out->flow.counter, tn_nic_flow(nic), sizeof(out->flow.counter));
}

static void count_packets(struct world *w, uint32_t node, const struct nic_act *a,
			  struct fm_counts *out)
{
	host_counters(w, node, &out->park);
	out->lost = a->flag && !w->cfg.links_only ?
		    tn_nic_counters(w->node[node].nic)[TORUS_NC_LOST] : 0;
}

/* --- checks which root gives the order (kernel/req/fence.c) --------------------------- */

static int obey_root(struct wnode *n, uint64_t epoch, uint64_t guid)
{
	if (epoch < n->root_epoch || (epoch == n->root_epoch && guid != n->root_guid))
		return -ESTALE;
	n->root_epoch = n->by_epoch = epoch;
	n->root_guid = n->by_guid = guid;
	return 0;
}

static bool is_stale(const struct wnode *n, const struct nic_act *a)
{
	switch (a->kind) {
	case ACT_PLACE:
	case ACT_ROWS:
	case ACT_APPLY:
	case ACT_RELEASE:
	case ACT_REPLAY:
		return n->by_epoch != n->root_epoch || n->by_guid != n->root_guid;
	default:
		return false;
	}
}

/* --- end of an action ----------------------------------------------------------------- */

/*
 * Return: pointer to the number of actions of this kind that the NIC still has to refuse
 * (world_refuse()); NULL if it refuses none.
 */
static unsigned int *refusals_left(struct wnode *n, const struct nic_act *a)
{
	static const uint8_t acts[] = {
		[ACT_MGMT] = WORLD_ACTS, [ACT_ROOT] = WORLD_OBEY, [ACT_PLACE] = WORLD_PLACE,
		[ACT_ROWS] = WORLD_ROWS, [ACT_APPLY] = WORLD_ROWS, [ACT_RELEASE] = WORLD_RELEASE,
		[ACT_COUNT] = WORLD_COUNT, [ACT_RESOLVE] = WORLD_ACTS, [ACT_REPLAY] = WORLD_REPLAY,
	};

	return acts[a->kind] == WORLD_ACTS ? NULL : &n->refuse[acts[a->kind]];
}

static bool refuses_act(struct wnode *n, const struct nic_act *a)
{
	unsigned int *left = refusals_left(n, a);

	if (!left || !*left)
		return false;
	*left -= *left != WORLD_ALWAYS;
	return true;
}

/* Return: true if the NIC begins an action that never ends. */
static bool is_stuck(struct wnode *n, const struct nic_act *a)
{
	const unsigned int *left = refusals_left(n, a);

	return left && *left == WORLD_STUCK;
}

static void perform_act(struct world *w, uint32_t node, const struct nic_act *a, struct ended *e)
{
	e->tag = a->tag;
	if (refuses_act(&w->node[node], a)) {
		e->err = -EBUSY;
	} else if (a->kind == ACT_ROOT) {
		e->err = obey_root(&w->node[node], a->epoch, a->guid);
	} else if (is_stale(&w->node[node], a)) {
		e->err = -ESTALE;
	} else if (a->kind == ACT_COUNT) {
		e->err = 0;
		count_packets(w, node, a, &e->counts);
	} else if (w->cfg.links_only) {
		e->err = plain_act(w, node, a);
	} else {
		e->err = core_act(w, node, a);
		nic_pump(w, node);
	}
	if (!e->err && (a->kind == ACT_ROWS || a->kind == ACT_APPLY))
		w->node[node].rows_epoch = w->node[node].by_epoch;
}

static void end_later(struct world *w, uint32_t node, uint64_t after, const struct ended *e)
{
	struct ev ev = { .kind = EV_DONE, .node = node, .at = w->now + after,
			 .life = w->node[node].fm_life, .len = sizeof(*e) };

	if (!e->tag)
		return;
	ev.data = malloc(sizeof(*e));
	if (!ev.data)
		abort();
	memcpy(ev.data, e, sizeof(*e));
	world_post(w, &ev);
}

/*
 * Return: a copy of the action and of the data that it points to, in one allocation; NULL if there
 * is no memory.
 */
static struct nic_act *act_copy(const struct nic_act *a)
{
	size_t rows = a->n * sizeof(*a->rows), nodes = a->n * sizeof(*a->nodes);
	struct nic_act *copy = malloc(sizeof(*copy) + rows + nodes + a->len);
	char *to = (char *)(copy + 1);

	if (!copy)
		abort();
	*copy = *a;
	if (a->n) {
		copy->rows = memcpy(to, a->rows, rows);
		copy->nodes = memcpy(to + rows, a->nodes, nodes);
	}
	if (a->len)
		copy->data = memcpy(to + rows + nodes, a->data, a->len);
	return copy;
}

/* Adds an action to the queue of the NIC, which then owns @a. */
static void queue_act(struct world *w, uint32_t node, struct nic_act *a)
{
	struct wnode *n = &w->node[node];
	struct ev ev = { .kind = EV_ACT, .node = node, .life = n->fm_life, .data = a };

	if (n->act_busy < w->now)
		n->act_busy = w->now;
	ev.at = n->act_busy + n->act_time / 2;
	n->act_busy += n->act_time;
	world_post(w, &ev);
}

static bool has_long_queue(const struct world *w, const struct wnode *n)
{
	return n->act_busy > w->now + (ACTS_WAITING - 1) * n->act_time;
}

/* Return: pointer to the packet of @port in the list of those that wait, or to the list's end */
static struct nic_act **waiting_packet(struct wnode *n, unsigned int port)
{
	struct nic_act **a = &n->mgmt_waits;

	while (*a && (*a)->port != port)
		a = &(*a)->next;
	return a;
}

/*
 * Sends a management packet like nic_mgmt_send() of daemon/nic_call.c: only one packet of each port
 * is in the queue of the NIC. If the manager sends further packets on the port meanwhile, only the
 * last of them is sent.
 */
static void mgmt_later(struct world *w, uint32_t node, struct nic_act *a)
{
	struct wnode *n = &w->node[node];
	struct nic_act **old = waiting_packet(n, a->port);

	if (n->mgmt_queued & 1u << a->port) {
		a->next = *old ? (*old)->next : NULL;
		free(*old);
		*old = a;
	} else if (has_long_queue(w, n)) {
		free(a);
	} else {
		n->mgmt_queued |= (uint16_t)(1u << a->port);
		queue_act(w, node, a);
	}
}

/* Called when the management packet of @port in the queue was sent: queues the one that waits. */
static void mgmt_done(struct world *w, uint32_t node, unsigned int port)
{
	struct wnode *n = &w->node[node];
	struct nic_act **waits = waiting_packet(n, port), *a = *waits;

	n->mgmt_queued &= (uint16_t)~(1u << port);
	if (!a)
		return;
	*waits = a->next;
	mgmt_later(w, node, a);
}

void host_drop_mgmt(struct wnode *n)
{
	struct nic_act *a;

	while ((a = n->mgmt_waits)) {
		n->mgmt_waits = a->next;
		free(a);
	}
	n->mgmt_queued = 0;
}

void host_act(struct world *w, struct ev *ev)
{
	struct wnode *n = &w->node[ev->node];
	struct nic_act *a = ev->data;
	struct ended e = { .tag = a->tag, .err = -ETIMEDOUT };

	if (n->managed && ev->life == n->fm_life) {
		bool fails = world_chance(w, n->act_fails, 1000);

		if (!fails || world_chance(w, 1, 2))
			perform_act(w, ev->node, a, &e);
		if (fails)
			e.err = -ETIMEDOUT;
		end_later(w, ev->node, n->act_time - n->act_time / 2, &e);
		if (a->kind == ACT_MGMT)
			mgmt_done(w, ev->node, a->port);
	}
	free(a);
}

static void begin_act(void *io, const struct nic_act *a)
{
	struct whost *h = io;
	struct world *w = h->w;
	struct wnode *n = &w->node[h->node];
	struct ended e;

	if (is_stuck(n, a))
		return;
	if (n->act_time || n->act_busy > w->now) {
		if (a->kind == ACT_MGMT)
			mgmt_later(w, h->node, act_copy(a));
		else
			queue_act(w, h->node, act_copy(a));
	} else if (w->calling && a->tag) {
		perform_act(w, h->node, a, &w->ended);
	} else {
		perform_act(w, h->node, a, &e);
		end_later(w, h->node, 0, &e);
	}
}

void host_done(struct world *w, const struct ev *ev)
{
	const struct ended *e = ev->data;

	fm_done(w->node[ev->node].fm, e->tag, e->err, e->err ? NULL : &e->counts, w->now);
}

void host_settle(struct world *w, uint32_t node)
{
	struct ended e;

	w->fm_events++;
	while (w->ended.tag) {
		e = w->ended;
		w->ended.tag = 0;
		fm_done(w->node[node].fm, e.tag, e.err, e.err ? NULL : &e.counts, w->now);
	}
	w->calling = false;
}

/* --- actions ------------------------------------------------------------------------ */

void host_mgmt_send(void *io, unsigned int port, const void *data, size_t len)
{
	begin_act(io, &(struct nic_act) { .kind = ACT_MGMT, .port = port, .data = data,
					  .len = len });
}

void host_root_set(void *io, uint32_t tag, uint64_t epoch, uint64_t guid)
{
	begin_act(io, &(struct nic_act) { .kind = ACT_ROOT, .tag = tag, .epoch = epoch,
					  .guid = guid });
}

void host_place_set(void *io, uint32_t tag, const struct torus_shape *shape,
		    const struct torus_coords *at, const struct torus_plan *plan)
{
	begin_act(io, &(struct nic_act) { .kind = ACT_PLACE, .tag = tag, .shape = *shape, .at = *at,
					  .plan = *plan });
}

void host_rows_write(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
		     const uint64_t *row, uint32_t n)
{
	begin_act(io, &(struct nic_act) { .kind = ACT_ROWS, .tag = tag, .version = version,
					  .nodes = node, .rows = row, .n = n });
}

void host_rows_apply(void *io, uint32_t tag, uint64_t version, const uint16_t *closed)
{
	begin_act(io, &(struct nic_act) { .kind = ACT_APPLY, .tag = tag, .version = version,
				.closed = closed });
}

void host_release(void *io, uint32_t tag, uint64_t version, bool give_up)
{
	begin_act(io, &(struct nic_act) { .kind = ACT_RELEASE, .tag = tag, .version = version,
				.flag = give_up });
}

void host_count(void *io, uint32_t tag, bool lost)
{
	begin_act(io, &(struct nic_act) { .kind = ACT_COUNT, .tag = tag, .flag = lost });
}

void host_park_resolve(void *io, unsigned int port, uint32_t session, int seq)
{
	begin_act(io, &(struct nic_act) { .kind = ACT_RESOLVE, .port = port, .session = session,
				.seq = seq });
}

void host_park_replay(void *io, uint32_t tag, uint64_t version, uint16_t ports)
{
	begin_act(io, &(struct nic_act) { .kind = ACT_REPLAY, .tag = tag, .version = version,
				.ports = ports });
}
