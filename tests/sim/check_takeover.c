// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks that a root leads soon. Look at each set of nodes that whole cables join, which no
 * administrator excluded, and whose managers run and reach each other over the service network. If
 * a candidate is among them, and more than half of the nodes that are up in the latest table that
 * any node has, then after TAKEOVER one of them leads, and its NIC has a table of its epoch. The
 * time begins anew with each further fault and repair, for a takeover may have to begin anew too. It
 * is longer while a manager waits longer because it was late itself.
 *
 * A node whose NIC is so slow that a claim may not wait for it counts neither as a candidate nor for the
 * majority: the others must have a root without it. Not checked in worlds with an arbiter, which may
 * refuse, and in worlds with liars.
 *
 * A claim needs a quorum of each table that may have been in force (daemon/fm/root/quorum.c). So
 * the nodes of the set must also be more than half of those that were up in the latest table that
 * any of themselves has and, if none of them knows that this has come into force, in each of its
 * voters, with the same NIC. Nodes that a root elsewhere leads over the service network lack none,
 * and promise nothing to a node beside them that has none: only the others of the set count.
 */
#include "check_impl.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"

#define TAKEOVER (3 * SEC)
#define OFTEN (10 * MS)	/* interval between checks while anything happens */
#define SLOW (5 * MS)		/* a NIC whose actions take longer may be left out */

/**
 * struct takeover
 * @since: when all that a takeover depends on changed last, or a node began to lead
 * @faults: a hash of all that it depends on
 * @looked: when it looked last
 * @part: for each node, its set; @nodes: none
 */
struct takeover {
	uint64_t since, looked, faults;
	uint32_t *part;
};

struct takeover *takeover_new(const struct world *w)
{
	struct takeover *t = calloc(1, sizeof(*t));

	if (!t || !(t->part = calloc(w->nodes, sizeof(*t->part))))
		abort();
	return t;
}

void takeover_free(struct takeover *t)
{
	free(t->part);
	free(t);
}

static bool runs(const struct world *w, uint32_t node)
{
	return w->node[node].managed && !w->node[node].hung;
}

/*
 * A manager that hung takes the silence of others for its own delay, and waits longer for them by
 * that delay, also for a root that hangs since then (daemon/fm/node/lag.c). Return: the longest
 * such delay.
 */
static uint64_t longest_lag(const struct world *w)
{
	uint64_t lag = 0;

	for (uint32_t i = 0; i < w->nodes; i++)
		if (runs(w, i) && fm_lag_answer(w->node[i].fm) > lag)
			lag = fm_lag_answer(w->node[i].fm);
	return lag;
}

/*
 * This is how long a new root waits for a node that the former root could reach, before it makes a
 * table. With the default of fm_config that is as long as all a takeover may take, and comes on top
 * of it.
 */
static uint64_t limit_of(const struct world *w)
{
	return TAKEOVER + (w->cfg.member_max && w->cfg.member_max < TAKEOVER ? 0 : TAKEOVER) +
	       longest_lag(w);
}

static bool is_slow(const struct wnode *n)
{
	return n->act_time > SLOW;
}

static uint64_t hash_faults(const struct world *w)
{
	uint64_t hash = w->svc_changes;

	for (uint32_t i = 0; i < w->nodes; i++) {
		const struct wnode *n = &w->node[i];

		hash = (hash + n->fm_life) * 31 + n->nic_life;
		hash = (hash * 2 + n->managed) * 2 + n->hung;
		hash = hash * 31 + n->act_time + n->act_fails + n->ignore;
	}
	for (uint32_t i = 0; i < w->ncables; i++)
		hash = hash * 31 + w->cable[i].cut * 4u + w->cable[i].silent;
	return hash;
}

/*
 * Return: true if Inits pass over cable @i: whole, not excluded by an administrator, and both
 * managers run.
 */
static bool passes(const struct world *w, uint32_t i, const struct fm *latest)
{
	const struct cable *c = &w->cable[i];

	for (unsigned int e = 0; e < 2; e++) {
		const struct fm_entry *entry = fm_node(latest, c->node[e]);

		if (!runs(w, c->node[e]) || (entry && entry->admin & 1u << c->port[e]))
			return false;
	}
	return world_cable_whole(w, i);
}

/* Joins the sets of running nodes over cables. */
static void find_parts(const struct world *w, uint32_t *part, const struct fm *latest)
{
	bool more = true;

	for (uint32_t i = 0; i < w->nodes; i++)
		part[i] = runs(w, i) ? i : w->nodes;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < w->ncables; i++) {
			uint32_t a = w->cable[i].node[0], b = w->cable[i].node[1];

			if (!passes(w, i, latest) || part[a] == part[b])
				continue;
			more = true;
			part[a] = part[b] = part[a] < part[b] ? part[a] : part[b];
		}
	}
}

/* Return: a positive value if table @a is later than @b, a negative one if it is earlier, else 0. */
static int compare_ages(const struct fm_table *a, const struct fm_table *b)
{
	if (a->term != b->term)
		return a->term > b->term ? 1 : -1;
	return (a->version > b->version) - (a->version < b->version);
}

/*
 * Return: the machine with the latest table that any node of part @p has, by @part, or with @part NULL
 * any node at all, whether its manager runs or hangs; of several, one that knows that the table has
 * come into force.
 */
static const struct fm *find_latest(const struct world *w, const uint32_t *part, uint32_t p)
{
	const struct fm *latest = NULL;

	for (uint32_t i = 0; i < w->nodes; i++) {
		const struct fm *fm = w->node[i].fm;
		int order;

		if (!fm || !fm->table.version || (part && part[i] != p))
			continue;
		order = latest ? compare_ages(&fm->table, &latest->table) : 1;
		if (order > 0 || (!order && fm->table.in_force))
			latest = fm;
	}
	return latest;
}

static bool leads(const struct wnode *n)
{
	return fm_is_root(n->fm) && fm_version(n->fm) && n->rows_epoch == fm_epoch(n->fm);
}

/*
 * Return: true if the node has a way to a root that leads; by the service network it may stand
 * elsewhere.
 */
static bool is_led(const struct world *w, const struct wnode *n)
{
	for (uint32_t i = 0; i < w->nodes; i++)
		if (runs(w, i) && w->node[i].guid == n->fm->root_guid)
			return !n->fm->cut_off && leads(&w->node[i]);
	return false;
}

/*
 * Return: how many nodes of part @p without a root are in set @set, of which a claim with that
 * table needs a quorum.
 */
static uint32_t votes_of(const struct check_flow *c, const struct fm_table *t, uint32_t p, unsigned int set)
{
	const struct world *w = c->w;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nodes; i++) {
		const struct fm_entry *e = &t->entry[i];
		unsigned int votes = fm_table_counts(e) | (unsigned int)fm_table_votes(&t->voters, e) << 1;

		for (uint32_t k = 0; k < w->nodes; k++)
			n += c->takeover->part[k] == p && w->node[k].guid == e->guid &&
			     w->node[k].epoch == e->epoch && w->node[k].fm->table.version &&
			     (votes & 1u << set) && !is_led(w, &w->node[k]) && !is_slow(&w->node[k]);
	}
	return n;
}

/*
 * Return: true if the nodes of part @p without a root are more than half of those up in the table, and
 * in each of its voters that count.
 */
static bool is_quorum(const struct check_flow *c, const struct fm_table *t, uint32_t p)
{
	uint32_t up = 0;

	for (uint32_t i = 0; i < t->nodes; i++)
		up += fm_table_counts(&t->entry[i]);
	if (2 * votes_of(c, t, p, 0) <= up)
		return false;
	for (unsigned int i = 0; !t->in_force && i < t->voters.n; i++)
		if (2ull * votes_of(c, t, p, i + 1) <= t->voters.set[i].ups)
			return false;
	return true;
}

/* Return: true if part @p could have a root and has none. */
static bool lacks_root(const struct check_flow *c, const struct fm *latest, uint32_t p)
{
	const struct world *w = c->w;
	const struct fm *own = find_latest(w, c->takeover->part, p);
	bool candidate = false;

	for (uint32_t i = 0; i < w->nodes; i++) {
		const struct wnode *n = &w->node[i];

		if (c->takeover->part[i] != p)
			continue;
		if (leads(n))
			return false;
		candidate |= n->fm->cfg.takeover && !is_led(w, n) && !is_slow(n) &&
			     fm_candidate_priority(fm_candidate_stated(n->fm), fm_own(n->fm));
		for (uint32_t k = 0; k < w->nodes; k++)
			if (c->takeover->part[k] == p && world_lost(w, i, k))
				return false;
	}
	return candidate && own && is_quorum(c, &own->table, p) && is_quorum(c, &latest->table, p);
}

void takeover_look(struct check_flow *c)
{
	struct takeover *t = c->takeover;
	const struct fm *latest;
	uint64_t faults;
	bool lacks = false;

	if (c->w->now - t->looked < OFTEN || c->lies || c->w->cfg.arbiter)
		return;
	t->looked = c->w->now;
	faults = hash_faults(c->w);
	latest = find_latest(c->w, NULL, 0);
	if (latest)
		find_parts(c->w, t->part, latest);
	for (uint32_t i = 0; latest && i < c->w->nodes; i++)
		if (t->part[i] == i)
			lacks |= lacks_root(c, latest, i);
	if (!lacks || faults != t->faults)
		t->since = c->w->now;
	t->faults = faults;
	if (c->w->now - t->since > limit_of(c->w))
		flow_wrong(c, "nobody leads for %llu ms, though a majority could",
			   (unsigned long long)((c->w->now - t->since) / MS));
}
