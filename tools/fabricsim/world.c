// SPDX-License-Identifier: GPL-2.0-only
/* The event queue of a world, and the calls by which an experiment changes and reads it. */
#include <stdio.h>

#include "lib/deps/invariant.h"
#include "kernel/core/splitmix64.h"
#include "world_impl.h"

void world_config_default(struct world_config *c)
{
	*c = (struct world_config) {
		.shape = { .ndims = 2, .size = { 4, 4, 1, 1, 1, 1 } },
		.discover = true,
		.seed = 1,
		.link_latency = 2 * US,
		.svc_latency = 100 * US,
		.svc_jitter = 50 * US,
		.fanout = 4,
	};
}

uint64_t world_random(struct world *w)
{
	return splitmix64_mix(w->random += SPLITMIX64_STEP);
}

bool world_chance(struct world *w, unsigned int n, unsigned int of)
{
	return n && world_random(w) % of < n;
}

/* --- events ------------------------------------------------------------------- */

void world_post(struct world *w, struct ev *ev)
{
	invariant(ev->at >= w->now && ev->node < (ev->kind == EV_CARRIER ? w->ncables : w->nodes));
	queue_add(&w->queue, ev, ev->kind == EV_FRAME);
}

void frame_put(struct frame *f)
{
	invariant(f->refs);
	if (!--f->refs)
		free(f);
}

static void ev_drop(struct ev *ev)
{
	if (ev->kind == EV_FRAME)
		frame_put(ev->data);
	else if (ev->kind == EV_TABLE)
		parcel_put(ev->data);
	else
		free(ev->data);
}

/* Keeps an event, in order, for a manager that hangs or for a node that is paused. */
static void put_off(struct world *w, struct ev *ev)
{
	struct wnode *n = &w->node[ev->node];

	n->late = realloc(n->late, (n->nlate + 1) * sizeof(*n->late));
	if (!n->late)
		abort();
	n->late[n->nlate++] = *ev;
}

uint64_t world_work(struct world *w, uint32_t node)
{
	uint64_t *busy = w->cfg.svc_shared ? &w->cpu_busy : &w->node[node].cpu_busy;

	*busy = (*busy > w->now ? *busy : w->now) + w->cfg.svc_cpu_ns;
	return *busy;
}

/* Return: true if the manager handles the event later, because handling takes processor time. */
static bool takes_cpu(struct world *w, struct ev *ev)
{
	struct wnode *n = &w->node[ev->node];
	bool message = ev->kind == EV_MSG || ev->kind == EV_TABLE || ev->kind == EV_MGMT ||
		       ev->kind == EV_CONN_UP || ev->kind == EV_CONN_DOWN;
	bool timer = w->cfg.svc_shared && ev->kind == EV_FM && n->managed &&
		     ev->life == n->fm_life && ev->at == n->fm_due;

	if (!w->cfg.svc_cpu_ns || !(message || timer) || ev->handled)
		return false;
	ev->at = world_work(w, ev->node);
	ev->handled = true;
	if (timer) {
		n->fm_due = ev->at;
		n->fm_late = true;
	}
	world_post(w, ev);
	return true;
}

/* Return: true if the event has to wait, because its node is paused. */
static bool is_paused(const struct world *w, const struct ev *ev)
{
	return ev->kind != EV_CARRIER && w->node[ev->node].paused;
}

static void dispatch_event(struct world *w, struct ev *ev)
{
	struct wnode *n = &w->node[ev->node];

	if (is_paused(w, ev)) {
		put_off(w, ev);
		return;
	}
	switch (ev->kind) {
	case EV_FRAME:
		nic_frame(w, ev);
		break;
	case EV_TRAINED:
		plain_trained(w, ev);
		break;
	case EV_NIC:
		if (ev->life == n->nic_life && n->on && ev->at == n->nic_due) {
			n->nic_due = ~0ULL;
			tn_nic_poll(n->nic, w->now);
			nic_pump(w, ev->node);
		}
		break;
	case EV_TRAFFIC:
		if (ev->life == n->nic_life && n->on)
			nic_traffic(w, ev->node);
		break;
	case EV_CARRIER:
		nic_carrier(w, ev->node);
		break;
	case EV_ACT:
		host_act(w, ev);
		return;
	default:
		if (n->hung && n->managed && ev->life == n->fm_life) {
			put_off(w, ev);
			return;
		}
		if (takes_cpu(w, ev))
			return;
		manager_event(w, ev);
	}
	ev_drop(ev);
}

static void tick_watch(struct world *w)
{
	if (w->now < w->tick)
		return;
	w->tick = w->now + MS;
	if (w->watch.tick)
		w->watch.tick(w->watch.arg);
}

bool world_until(struct world *w, bool (*done)(struct world *w), uint64_t ns)
{
	uint64_t end = w->now + ns, check = w->now;
	struct ev ev;

	while (queue_take(&w->queue, end, &ev)) {
		invariant(ev.at >= w->now && ev.at <= end);
		w->now = ev.at;
		dispatch_event(w, &ev);
		tick_watch(w);
		if (done && w->now >= check) {
			if (done(w))
				return true;
			check = w->now + MS;
		}
	}
	w->now = end;
	return done && done(w);
}

void world_run(struct world *w, uint64_t ns)
{
	world_until(w, NULL, ns);
}

/* --- making and ending --------------------------------------------------------- */

static void make_cables(struct world *w)
{
	const struct torus_shape *s = &w->cfg.shape;

	for (uint32_t i = 0; i < w->nodes; i++) {
		struct torus_coords at;

		torus_node_coords(s, i, &at);
		for (unsigned int d = 0; d < s->ndims; d++) {
			struct cable *c = &w->cable[i * s->ndims + d];
			bool wraps = at.c[d] == s->size[d] - 1;

			c->node[0] = i;
			c->port[0] = (uint8_t)d;
			c->node[1] = torus_neighbour(s, i, d);
			c->port[1] = (uint8_t)(d + s->ndims);
			c->there = s->size[d] > 1 && !(wraps && w->cfg.open & 1u << d);
		}
	}
}

static void plug_world(struct world *w)
{
	for (uint32_t i = 0; i < w->nodes; i++)
		for (unsigned int p = 0; p < w->nports; p++)
			w->node[i].cable[p] = -1;
	for (uint32_t c = 0; c < w->ncables; c++)
		for (unsigned int e = 0; w->cable[c].there && e < 2; e++)
			w->node[w->cable[c].node[e]].cable[w->cable[c].port[e]] = (int32_t)c;
}

struct world *world_new(const struct world_config *cfg)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		abort();
	w->cfg = *cfg;
	w->now = MS;
	w->random = cfg->seed;
	w->nodes = torus_nodes(&cfg->shape);
	w->nports = 2u * cfg->shape.ndims;
	w->ncables = w->nodes * cfg->shape.ndims;
	w->node = calloc(w->nodes, sizeof(*w->node));
	w->cable = calloc(w->ncables, sizeof(*w->cable));
	if (!w->node || !w->cable)
		abort();
	for (uint32_t i = 0; i < w->nodes; i++) {
		struct wnode *n = &w->node[i];

		n->guid = 0x7000 + (world_random(w) & 0xffffffff) * 0x10000 + i;
		n->epoch = (uint32_t)world_random(w) | 1;
		n->bootstrap = i == 0;
		n->priority = FM_PRIORITY_AUTO;
		n->cable = calloc(w->nports, sizeof(*n->cable));
		if (!n->cable)
			abort();
		snprintf(n->name, sizeof(n->name), "n%u", i);
		n->fabric = "sim";
	}
	make_cables(w);
	plug_world(w);
	if (cfg->share && !(w->library = fm_library_new()))
		abort();
	return w;
}

void world_free(struct world *w)
{
	struct ev ev;

	w->watch = (struct world_watch) { 0 };
	for (uint32_t i = 0; i < w->nodes; i++) {
		if (w->node[i].managed)
			manager_drop(w, i);
		if (w->node[i].on)
			nic_stop(w, i);
		free(w->node[i].cable);
		free(w->node[i].seq);
		for (size_t k = 0; k < w->node[i].nlate; k++)
			ev_drop(&w->node[i].late[k]);
		free(w->node[i].late);
		free(w->node[i].kept);
	}
	while (queue_take(&w->queue, ~0ULL, &ev))
		ev_drop(&ev);
	if (w->last)
		parcel_put(w->last);
	fm_library_free(w->library);
	plain_end(w);
	queue_free(&w->queue);
	free(w->end);
	free(w->node);
	free(w->cable);
	free(w->lost);
	free(w);
}

/* --- experiments ----------------------------------------------------------------- */

void world_plan_set(struct world *w, const struct torus_plan *plan, unsigned int given)
{
	w->cfg.plan = *plan;
	w->cfg.plan_given = given;
}

struct torus_plan world_plan(const struct world *w, uint32_t node)
{
	return w->node[node].plan;
}

void world_power(struct world *w, uint32_t node, bool on)
{
	struct wnode *n = &w->node[node];

	if (n->on == on)
		return;
	if (n->paused)
		world_pause(w, node, false);
	n->vanished = !on && w->cfg.vanish;
	if (!on)
		world_manager(w, node, false);
	if (!on && w->watch.power)
		w->watch.power(w->watch.arg, node, false);
	n->on = on;
	n->nic_life++;
	if (on) {
		n->epoch += 1 + (uint32_t)(world_random(w) % 1000);
		n->root_epoch = n->root_guid = n->rows_epoch = 0;
		n->plan = (struct torus_plan) { .len4 = 0 };
		nic_start(w, node);
	} else {
		nic_stop(w, node);
	}
	if (on && w->watch.power)
		w->watch.power(w->watch.arg, node, true);
	for (unsigned int p = 0; p < w->nports; p++)
		if (n->cable[p] >= 0)
			nic_carrier(w, (uint32_t)n->cable[p]);
	if (on)
		world_manager(w, node, true);
}

void world_manager(struct world *w, uint32_t node, bool on)
{
	struct wnode *n = &w->node[node];

	if (n->managed == on || (on && !n->on))
		return;
	if (!on && w->watch.ends)
		w->watch.ends(w->watch.arg, node);
	n->managed = on;
	world_hang(w, node, false);
	n->fm_life++;
	if (on)
		manager_start(w, node);
	else
		manager_stop(w, node);
}

void world_hang(struct world *w, uint32_t node, bool hung)
{
	struct wnode *n = &w->node[node];

	n->hung = hung;
	n->paused &= hung;
	for (size_t i = 0; !hung && i < n->nlate; i++) {
		if (n->late[i].kind == EV_FM && n->late[i].at == n->fm_due)
			n->fm_due = w->now;
		if (n->late[i].kind == EV_NIC && n->late[i].at == n->nic_due)
			n->nic_due = w->now;
		n->late[i].at = w->now;
		world_post(w, &n->late[i]);
	}
	if (!hung)
		n->nlate = 0;
}

void world_pause(struct world *w, uint32_t node, bool paused)
{
	world_hang(w, node, paused);
	w->node[node].paused = paused;
}

void world_slow(struct world *w, uint32_t node, uint64_t ns, unsigned int fails)
{
	w->node[node].act_time = ns;
	w->node[node].act_fails = fails;
}

void world_flow(struct world *w, uint32_t src, uint32_t dst)
{
	w->flow = true;
	w->flow_src = src;
	w->flow_dst = dst;
}

void world_refuse(struct world *w, uint32_t node, enum world_act act, unsigned int times)
{
	w->node[node].refuse[act] = times;
}

void world_ignore(struct world *w, uint32_t node, uint32_t mask)
{
	w->node[node].ignore = mask;
}

static void set_faults(struct world *w, uint32_t cable, bool cut, uint8_t silent)
{
	struct cable *c = &w->cable[cable];

	if ((c->cut || c->silent) && !cut && !silent)
		c->mended = w->now;
	c->cut = cut;
	c->silent = silent;
}

void world_cut(struct world *w, uint32_t cable, bool cut)
{
	set_faults(w, cable, cut, w->cable[cable].silent);
	nic_carrier(w, cable);
}

void world_line(struct world *w, uint32_t cable, const struct tn_cable *line)
{
	w->cable[cable].line = *line;
	nic_line(w, cable);
}

void world_silence(struct world *w, uint32_t cable, bool silent)
{
	set_faults(w, cable, w->cable[cable].cut, silent ? 3 : 0);
}

void world_mute(struct world *w, uint32_t cable, unsigned int end, bool mute)
{
	const struct cable *c = &w->cable[cable];
	uint8_t bit = (uint8_t)(1u << end);

	set_faults(w, cable, c->cut, (uint8_t)(mute ? c->silent | bit : c->silent & ~bit));
}

void world_cross(struct world *w, uint32_t a, uint32_t b)
{
	struct cable was = w->cable[a];

	w->cable[a].node[1] = w->cable[b].node[1];
	w->cable[a].port[1] = w->cable[b].port[1];
	w->cable[b].node[1] = was.node[1];
	w->cable[b].port[1] = was.port[1];
	plug_world(w);
}

void world_plug(struct world *w, uint32_t cable, uint32_t node, unsigned int port,
		uint32_t node2, unsigned int port2)
{
	for (uint32_t c = 0; c < w->ncables; c++)
		for (unsigned int e = 0; e < 2; e++)
			if ((w->cable[c].node[e] == node && w->cable[c].port[e] == port) ||
			    (w->cable[c].node[e] == node2 && w->cable[c].port[e] == port2))
				w->cable[c].there = false;
	w->cable[cable] = (struct cable) {
		.node = { node, node2 },
		.port = { (uint8_t)port, (uint8_t)port2 },
		.there = true,
	};
	plug_world(w);
}

void world_watch(struct world *w, const struct world_watch *watch)
{
	w->watch = *watch;
}

void world_traffic(struct world *w, uint64_t interval)
{
	bool began = !w->cfg.traffic && interval;

	w->cfg.traffic = interval;
	for (uint32_t i = 0; began && i < w->nodes; i++)
		if (w->node[i].on)
			nic_traffic(w, i);
}

void world_disturb(struct world *w, unsigned int doubled, unsigned int breaks, uint64_t jitter)
{
	w->cfg.svc_double = doubled;
	w->cfg.svc_break = breaks;
	w->cfg.svc_jitter = jitter;
}

void world_name(struct world *w, uint32_t node, const char *name)
{
	snprintf(w->node[node].name, sizeof(w->node[node].name), "%s", name);
}

void world_fabric(struct world *w, uint32_t node, const char *fabric)
{
	w->node[node].fabric = fabric;
}

void world_bootstrap(struct world *w, uint32_t node, bool on)
{
	w->node[node].bootstrap = on;
}

void world_guid(struct world *w, uint32_t node, uint64_t guid)
{
	w->node[node].guid = guid;
}

void world_relay_packets(struct world *w, uint32_t node, uint32_t packets)
{
	w->node[node].relay_packets = packets;
}

void world_priority(struct world *w, uint32_t node, unsigned int priority)
{
	w->node[node].priority = priority;
}

/* --- counters ---------------------------------------------------------------------- */

void held_more(struct world *w, uint32_t node, uint32_t rows)
{
	struct wnode *n = &w->node[node];

	if (rows && !n->held)
		n->held_first = w->now;
	n->held += rows;
	n->held_began += rows * w->now;
	w->counts.held += rows;
	w->counts.holding += rows;
}

void held_none(struct world *w, uint32_t node)
{
	struct wnode *n = &w->node[node];
	struct world_counts *c = &w->counts;

	if (!n->held)
		return;
	c->held_ns += n->held * w->now - n->held_began;
	if (w->now - n->held_first > c->held_max)
		c->held_max = w->now - n->held_first;
	invariant(c->holding >= n->held);
	c->holding -= n->held;
	c->released = w->now;
	n->held = 0;
	n->held_began = 0;
}

struct world_counts world_counts(struct world *w)
{
	struct world_counts c = w->counts;

	w->counts = (struct world_counts) { .holding = c.holding };
	return c;
}

/* --- reading the world --------------------------------------------------------------- */

uint64_t world_now(const struct world *w)
{
	return w->now;
}

uint32_t world_nodes(const struct world *w)
{
	return w->nodes;
}

uint32_t world_cables(const struct world *w)
{
	return w->ncables;
}

const struct world_config *world_config(const struct world *w)
{
	return &w->cfg;
}

bool world_managed(const struct world *w, uint32_t node)
{
	return w->node[node].managed;
}

bool world_cable_there(const struct world *w, uint32_t cable)
{
	return w->cable[cable].there;
}

bool world_cable_whole(const struct world *w, uint32_t cable)
{
	const struct cable *c = &w->cable[cable];

	return c->there && !c->cut && !c->silent && w->node[c->node[0]].on &&
	       w->node[c->node[1]].on;
}

struct fm *world_fm(struct world *w, uint32_t node)
{
	return w->node[node].fm;
}

struct tn_nic *world_nic(struct world *w, uint32_t node)
{
	return w->node[node].on ? w->node[node].nic : NULL;
}

static bool is_leading(const struct world *w, uint32_t node)
{
	return w->node[node].managed && fm_is_root(w->node[node].fm);
}

uint32_t world_root(struct world *w)
{
	uint64_t latest = 0;

	w->root = 0;
	for (uint32_t i = 0; i < w->nodes; i++)
		if (w->node[i].bootstrap && w->node[i].on && !w->root)
			w->root = i;
	for (uint32_t i = 0; i < w->nodes; i++) {
		if (!is_leading(w, i) || fm_epoch(w->node[i].fm) < latest)
			continue;
		latest = fm_epoch(w->node[i].fm);
		w->root = i;
	}
	return w->root;
}

/*
 * Return: true if the links of all working cables are up at both ends, and all other links are
 * down.
 */
static bool links_as_wanted(struct world *w)
{
	if (w->cfg.links_only)
		return plain_links_as_wanted(w);
	for (uint32_t i = 0; i < w->ncables; i++) {
		const struct cable *c = &w->cable[i];

		for (unsigned int e = 0; c->there && e < 2; e++) {
			struct tn_link_info info;
			bool up;

			if (!w->node[c->node[e]].on)
				continue;
			tn_nic_link_info(w->node[c->node[e]].nic, c->port[e], &info, w->now);
			up = info.state == TORUS_LINK_UP;
			if (up != world_cable_whole(w, i))
				return false;
		}
	}
	return true;
}

bool world_settled(struct world *w)
{
	const struct wnode *n = &w->node[world_root(w)];
	const struct fm *root = n->fm;
	struct fm_status st;

	/* A new root has not made a table yet, while its NIC has rows of a former root. */
	if (!root || !fm_is_root(root) || n->rows_epoch != fm_epoch(root) ||
	    !fm_in_force(root, fm_version(root)))
		return false;
	/* Parked packets mean that another recovery follows. */
	fm_status(root, &st);
	if (st.parked)
		return false;
	/* Two parts that are about to join may have tables of one version, but not of one root. */
	for (uint32_t i = 0; i < w->nodes; i++)
		if (w->node[i].managed &&
		    (!fm_in_force(w->node[i].fm, fm_version(root)) ||
		     !fm_reachable(w->node[i].fm) || w->node[i].root_guid != n->root_guid))
			return false;
	return links_as_wanted(w);
}
