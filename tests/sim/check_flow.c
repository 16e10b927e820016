// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watches every flow (source, destination, VC) of a world. This file checks the order in which
 * hosts get packets, check_fate.c the fate of each packet, check_hold.c, check_drain.c,
 * check_order.c, check_epoch.c and check_admin.c what managers do to NICs, at the moment when they
 * do it, and check_takeover.c, now and then, whether somebody leads.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "check_impl.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "kernel/core/nic_impl.h"
#include "kernel/core/route.h"

void flow_wrong(struct check_flow *c, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (c->wrong[0])
		return;
	n = snprintf(c->wrong, sizeof(c->wrong), "at %.3f ms: ", (double)c->w->now / 1e6);
	va_start(ap, fmt);
	vsnprintf(c->wrong + n, sizeof(c->wrong) - (size_t)n, fmt, ap);
	va_end(ap);
}

static void sent(void *arg, const struct world_packet *p)
{
	struct check_flow *c = arg;

	flow_of(c, p->src, p->dst, p->vc)->sent++;
	fate_sent(c, p);
}

static void got(void *arg, const struct world_packet *p)
{
	struct check_flow *c = arg;
	struct flow *f = flow_of(c, p->src, p->dst, p->vc);

	fate_got(c, p);
	if (p->vc != TORUS_VC_A && !f->anew && p->seq < f->next)
		flow_wrong(c, "%u to %u, VC %u: packet %llu came after %llu", p->src, p->dst,
			   p->vc, (unsigned long long)p->seq, (unsigned long long)f->next - 1);
	f->next = p->seq + 1;
	f->anew = false;
	f->got++;
}

static void returned(void *arg, const struct world_packet *p)
{
	struct check_flow *c = arg;

	flow_of(c, p->src, p->dst, p->vc)->returned++;
	fate_returned(c, p);
}

static void copied(void *arg, uint32_t node, const struct world_packet *p)
{
	(void)node;
	fate_copied(arg, p);
}

static void freed(void *arg, uint32_t node, const struct world_packet *p,
		  const struct tn_pkt *pkt)
{
	fate_freed(arg, node, p, pkt);
}

/* Notes that @node dies: its neighbours cannot know which of their packets it had accepted. */
static void neighbours_unsure(struct check_flow *c, uint32_t node)
{
	for (unsigned int p = 0; p < c->w->nports; p++) {
		const struct cable *k = c->w->node[node].cable[p] < 0 ? NULL :
					&c->w->cable[c->w->node[node].cable[p]];
		unsigned int far = k && k->node[0] == node && k->port[0] == p;

		if (k && c->w->node[k->node[far]].on)
			fate_unsure(c, k->node[far], k->port[far],
				    c->w->node[k->node[far]].nic->link[k->port[far]].session);
	}
}

static void power(void *arg, uint32_t node, bool on)
{
	struct check_flow *c = arg;

	if (!on) {
		c->deaths++;
		neighbours_unsure(c, node);
		for (unsigned int i = 0; i < TORUS_NC_COUNT; i++)
			c->gone[i] += tn_nic_counters(c->w->node[node].nic)[i];
		return;
	}
	c->early[node] = 0;
	holds_power(c, node);
	epochs_power(c, node);
	admin_power(c, node);
	for (uint32_t i = 0; i < c->w->nodes; i++)
		for (unsigned int vc = 0; vc < TORUS_VCS; vc++)
			flow_of(c, i, node, vc)->anew = true;
}

static void ends(void *arg, uint32_t node)
{
	orders_ended(arg, node);
}

static bool is_open(const struct tn_nic *nic, unsigned int port)
{
	return nic->link[port].state == TORUS_LINK_UP && !nic->link[port].closed;
}

/* Return: true if some row of the NIC has @port as its next step. */
static bool leads_over(const struct tn_nic *nic, unsigned int port)
{
	for (u32 dst = 0; nic->placed && dst < nic->nodes; dst++) {
		u64 row = nic->rows[dst];
		u32 to = row & TORUS_ROW_RELAY ? (u32)(row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK) : dst;
		struct tn_path path = tn_path_of_row(to, row);
		bool adaptive =
			row & TORUS_ROW_ADAPTIVE && row >> TORUS_ROW_ADAPT_SHIFT >> port & 1;

		if (row & TORUS_ROW_VALID &&
		    (adaptive || tn_route_next(&nic->shape, &nic->at, &path) == port))
			return true;
	}
	return false;
}

/*
 * Return: true if data may pass over the cable of @n's port @p, which leads to port @q of @o. A
 * cable that was up before is closed at both ends until a replay. One that is up for the first time
 * is not: but no row leads over it before a table in which both its ends are up.
 */
static bool may_carry(const struct wnode *n, unsigned int p, const struct wnode *o, unsigned int q)
{
	return is_open(n->nic, p) && is_open(o->nic, q) &&
	       (leads_over(n->nic, p) || leads_over(o->nic, q));
}

static bool is_entry_of(const struct fm_entry *e, const struct wnode *n)
{
	return n->nic && e->guid == n->guid && e->epoch == n->epoch;
}

/*
 * Return: true if the root has judged that NIC dead: in its table, or since. In the latter case the
 * steps of the recovery tell its neighbours before the next table does (ended.c).
 */
static bool is_judged_dead(const struct fm *root, uint64_t guid)
{
	const struct fm_entry *e = fm_node(root, fm_table_find(root, guid));
	const struct fm_record *m = fm_record(root->root, guid);

	return (e && e->state == FM_NODE_DEAD) || (m && m->state == FM_NODE_DEAD);
}

/*
 * Return: true if @node takes part, and its manager answers. A NIC that obeys a later root takes no
 * order of this one, which may have hung while links came back, and learns of it only now. A node
 * that was judged dead and is back takes part from the next table on.
 */
static bool is_there(const struct check_flow *c, const struct fm *root, uint32_t node)
{
	const struct fm_entry *e;
	const struct fm_record *m;

	if (node >= root->table.nodes)	/* a node of another fabric in the same world */
		return false;
	e = &root->table.entry[node];
	m = fm_record(root->root, e->guid);
	return fm_table_counts(e) && is_entry_of(e, &c->w->node[node]) && m && m->via &&
	       m->state != FM_NODE_DEAD &&
	       c->w->node[node].root_epoch <= fm_epoch(root);
}

/*
 * A node that lives may be judged dead if no data can pass between it and one that is there:
 * there is no link, or one that came up after the node was lost.
 */
static void judged_dead(struct check_flow *c, const struct fm *root, uint32_t node)
{
	const struct wnode *n = &c->w->node[node];

	if (c->lies || !is_entry_of(&root->table.entry[node], n))
		return;
	if (root->table.entry[node].state == FM_NODE_DEAD)
		fate_apart(c, node);
	for (unsigned int p = 0; p < c->w->nports; p++) {
		const struct cable *k = n->cable[p] < 0 ? NULL : &c->w->cable[n->cable[p]];
		unsigned int far = k && k->node[0] == node && k->port[0] == p;

		if (k && is_there(c, root, k->node[far]) &&
		    may_carry(n, p, &c->w->node[k->node[far]], k->port[far]))
			flow_wrong(c, "node %u is judged dead, but has a link to %u", node,
				   k->node[far]);
	}
}

/*
 * Return: the machine of the root by whose order the NIC of @node acts; NULL if that root does not
 * lead any more.
 */
static const struct fm *root_of(const struct check_flow *c, uint32_t node)
{
	const struct wnode *n = &c->w->node[node];

	for (uint32_t i = 0; i < c->w->nodes; i++) {
		const struct fm *fm = c->w->node[i].fm;

		if (fm && c->w->node[i].guid == n->by_guid && fm_is_root(fm) &&
		    fm_epoch(fm) == n->by_epoch)
			return fm;
	}
	return NULL;
}

/* Notes whether the root goes on, or went on, without proof, or takes a node for dead. */
static void note_root(struct check_flow *c, uint32_t node, uint64_t version)
{
	const struct fm *root = root_of(c, node);

	c->unproven |= root && root->root && fm_recovery_log(root->root)->bounded;
	if (root ? !root->root || fm_recovery_log(root->root)->bounded :
	    !orders_proven(c, node, version)) {
		c->bounded = version;
		fate_bounded(c);
	}
	for (uint32_t i = 0; root && root->root && i < root->table.nodes; i++)
		if (is_judged_dead(root, root->table.entry[i].guid))
			judged_dead(c, root, i);
}

/*
 * Return: true if the NIC at the far end of @port is not the one that had @session any more, or the root
 * has judged it dead.
 */
static bool is_far_end_lost(const struct check_flow *c, const struct fm *root, uint32_t node,
			    unsigned int port, uint32_t session)
{
	const struct cable *k = c->w->node[node].cable[port] < 0 ? NULL :
				&c->w->cable[c->w->node[node].cable[port]];
	unsigned int far = k && k->node[0] == node && k->port[0] == port;
	const struct wnode *o = k ? &c->w->node[k->node[far]] : NULL;

	if (!o || !o->on || is_judged_dead(root, o->guid))
		return true;
	return o->nic->link[k->port[far]].session != session &&
	       o->nic->link[k->port[far]].last_session != session;
}

/* Keeping packets without an answer is right only if a node died, or the root gave up waiting. */
static void keeps(void *arg, uint32_t node, unsigned int port, uint32_t session)
{
	struct check_flow *c = arg;
	const struct fm *root = root_of(c, node);

	note_root(c, node, fm_version(c->w->node[node].fm));
	if (!root || !root->root || fm_recovery_orphans(root->root) ||
	    is_far_end_lost(c, root, node, port, session))
		fate_unsure(c, node, port, session);
}

static void switched(void *arg, uint32_t node, uint64_t version)
{
	struct check_flow *c = arg;
	char buf[150];
	const char *wrong = check_colour(c->w, node, version, buf, sizeof(buf));

	note_root(c, node, version);
	/*
	 * No error if a recovery since the last version of this colour ended without proof. That is
	 * not always the fourth before this one, for a root may leave out numbers.
	 */
	if (wrong && version > TORUS_COLOURS &&
	    c->bounded <= c->coloured[version % TORUS_COLOURS]) {
		c->mixed = version;
		snprintf(c->mixed_text, sizeof(c->mixed_text), "%s", wrong);
	}
	if (version > c->coloured[version % TORUS_COLOURS])
		c->coloured[version % TORUS_COLOURS] = version;
	holds_switched(c, node, version);
	epochs_switched(c, node, version);
	admin_switched(c, node, version);
}

static void tick(void *arg)
{
	admin_look(arg);
	takeover_look(arg);
	epochs_look(arg);
}

static void goes_on(struct check_flow *c, uint32_t node, uint64_t version, bool replays)
{
	char buf[150];
	const struct fm *root = root_of(c, node);
	const char *wrong = check_drain(root, c->w, version, buf, sizeof(buf));

	orders_look(c, root, node, version, replays);
	/* A root that restarted may know no free colour; then it must publish a second version. */
	if (version == c->mixed)
		flow_wrong(c, "node %u replays or lifts holds: %s", node, c->mixed_text);
	if (wrong)
		flow_wrong(c, "node %u: %s", node, wrong);
	note_root(c, node, version);
}

static void replays(void *arg, uint32_t node, uint64_t version)
{
	goes_on(arg, node, version, true);
	fate_replayed(arg, node);
}

static void releases(void *arg, uint32_t node, uint64_t version, bool give_up)
{
	struct check_flow *c = arg;

	(void)give_up;
	goes_on(c, node, version, false);
	if (c->w->node[node].nic->version != version)
		return;
	fate_released(c, node);
	holds_released(c, node);
}

struct check_flow *check_flow_new(struct world *w)
{
	struct check_flow *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->w = w;
	c->nodes = w->nodes;
	c->flow = calloc((size_t)w->nodes * w->nodes * TORUS_VCS, sizeof(*c->flow));
	c->early = calloc(w->nodes, sizeof(*c->early));
	c->outdated = calloc(w->nodes, sizeof(*c->outdated));
	if (!c->flow || !c->early || !c->outdated)
		abort();
	c->holds = holds_new(w);
	c->epochs = epochs_new(w);
	c->orders = orders_new();
	c->admin = admin_new(w);
	c->takeover = takeover_new(w);
	world_watch(w, &(struct world_watch) {
		.sent = sent,
		.got = got,
		.returned = returned,
		.copied = copied,
		.freed = freed,
		.power = power,
		.ends = ends,
		.keeps = keeps,
		.switched = switched,
		.replays = replays,
		.releases = releases,
		.tick = tick,
		.arg = c,
	});
	return c;
}

void check_flow_free(struct check_flow *c)
{
	for (size_t i = 0; i < (size_t)c->nodes * c->nodes * TORUS_VCS; i++)
		fate_free(&c->flow[i]);
	holds_free(c->holds);
	epochs_free(c->epochs);
	orders_free(c->orders);
	admin_free(c->admin);
	takeover_free(c->takeover);
	free(c->early);
	free(c->outdated);
	free(c->flow);
	free(c);
}

void check_flow_lies(struct check_flow *c)
{
	c->lies = true;
}

const char *check_flow_wrong(const struct check_flow *c)
{
	return c->wrong[0] ? c->wrong : NULL;
}

const char *check_flow_end(struct check_flow *c)
{
	fate_end(c);
	return check_flow_wrong(c);
}

uint64_t check_flow_alive(const struct check_flow *c)
{
	return c->alive;
}

uint64_t check_flow_late(const struct check_flow *c)
{
	return c->late;
}

uint64_t check_flow_arrived(const struct check_flow *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < (size_t)c->w->nodes * c->w->nodes * TORUS_VCS; i++)
		n += c->flow[i].got;
	return n;
}

uint64_t check_flow_between(const struct check_flow *c, uint32_t src, uint32_t dst)
{
	uint64_t n = 0;

	for (unsigned int vc = 0; vc < TORUS_VCS; vc++)
		n += c->flow[(src * c->w->nodes + dst) * TORUS_VCS + vc].got;
	return n;
}

uint64_t check_flow_returned(const struct check_flow *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < (size_t)c->w->nodes * c->w->nodes * TORUS_VCS; i++)
		n += c->flow[i].returned;
	return n;
}

uint64_t check_flow_died(const struct check_flow *c)
{
	return fate_died(c);
}

uint64_t check_flow_counted(const struct check_flow *c, enum torus_node_counter which)
{
	return fate_counted(c, which);
}

bool check_flow_unproven(const struct check_flow *c)
{
	return c->unproven;
}

uint64_t check_flow_held(const struct check_flow *c)
{
	return c->held;
}
