// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks that a node replays packets or lifts holds only when its root has ordered that, also if
 * the root has ended since: what a root had ordered when its manager ended is kept.
 */
#include "check_impl.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/facts.h"

/** struct order - how far a root's last recovery was, when its manager ended */
struct order {
	uint64_t epoch, root, version;
	uint8_t phase;
	bool bounded;
};

struct orders {
	struct order *order;
	size_t n, room;
};

struct orders *orders_new(void)
{
	struct orders *o = calloc(1, sizeof(*o));

	if (!o)
		abort();
	return o;
}

void orders_free(struct orders *o)
{
	free(o->order);
	free(o);
}

static struct order order_of(const struct fm *root)
{
	const struct fm_root *r = root->root;

	return (struct order) {
		.epoch = fm_epoch(root), .root = root->guid, .version = root->table.version,
		.phase = (uint8_t)fm_recovery_phase(r), .bounded = fm_recovery_log(r)->bounded,
	};
}

void orders_ended(struct check_flow *c, uint32_t node)
{
	const struct fm *fm = c->w->node[node].fm;
	struct orders *o = c->orders;

	if (!fm || !fm->root || !fm->table.version || fm->table.term != fm_epoch(fm))
		return;
	if (o->n == o->room) {
		o->room = o->room ? 2 * o->room : 16;
		o->order = realloc(o->order, o->room * sizeof(*o->order));
		if (!o->order)
			abort();
	}
	o->order[o->n++] = order_of(fm);
}

/*
 * Return: the last order of the root of the NIC of @node, if it ended with @version as its last
 * table.
 */
static const struct order *find_ended(const struct check_flow *c, uint32_t node, uint64_t version)
{
	const struct wnode *n = &c->w->node[node];
	const struct orders *o = c->orders;

	for (size_t i = o->n; i--;)
		if (o->order[i].epoch == n->by_epoch && o->order[i].root == n->by_guid)
			return o->order[i].version == version ? &o->order[i] : NULL;
	return NULL;
}

bool orders_proven(const struct check_flow *c, uint32_t node, uint64_t version)
{
	const struct order *o = find_ended(c, node, version);

	return o && !o->bounded && (o->phase == FM_PHASE_REST || o->phase >= FM_PHASE_REPLAY);
}

void orders_look(struct check_flow *c, const struct fm *root, uint32_t node, uint64_t version,
		 bool replays)
{
	const struct order *o = find_ended(c, node, version);
	struct order now;

	if (root && root->root && root->table.version == version) {
		now = order_of(root);
		o = &now;
	}
	if (c->lies || !o || o->phase == FM_PHASE_REST ||
	    o->phase >= (replays ? FM_PHASE_REPLAY : FM_PHASE_RESUME))
		return;
	flow_wrong(c, "node %u %s at version %llu, which the root has not ordered", node,
		   replays ? "replays" : "lifts holds", (unsigned long long)version);
}
