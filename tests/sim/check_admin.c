// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks what an administrator has excluded. Once the root says that an exclusion is in force, as
 * fabricd waits for before it answers, the port is excluded in each later table of each node that
 * has had a table with it, until it is included: also in those of other roots. A table in which
 * the port is closed for another reason will do: a node that has not joined yet takes its exclusions along.
 * When all nodes have one table, no acknowledged exclusion is missing in it (check_admin()), also if
 * parts of the fabric were led apart and were joined again.
 *
 * An exclusion that was known only to NICs which have lost their memory since is not looked for: tables
 * that managers keep are tested in test_keep.c.
 */
#include <stdio.h>

#include "check_impl.h"
#include "daemon/fm/node/machine.h"

/**
 * struct admin - what administrators want
 * @asked: mask of ports of each node that a root was told to exclude and has not acknowledged yet
 * @waits: some order is not acknowledged; it was given to node @root, in @epoch
 * @acked: mask of ports of each node whose exclusion was acknowledged and not ended since
 * @knows: for each node, and each node of its tables, the part of @acked that its NIC has ever had
 */
struct admin {
	uint16_t *asked, *acked, *knows;
	uint32_t root;
	uint64_t epoch;
	bool waits;
};

struct admin *admin_new(const struct world *w)
{
	struct admin *a = calloc(1, sizeof(*a));

	if (!a)
		abort();
	a->asked = calloc(w->nodes, sizeof(*a->asked));
	a->acked = calloc(w->nodes, sizeof(*a->acked));
	a->knows = calloc((size_t)w->nodes * w->nodes, sizeof(*a->knows));
	if (!a->asked || !a->acked || !a->knows)
		abort();
	return a;
}

void admin_free(struct admin *a)
{
	free(a->asked);
	free(a->acked);
	free(a->knows);
	free(a);
}

static uint16_t mask_of(const struct check_flow *c, int port)
{
	return (uint16_t)(port < 0 ? (1u << c->w->nports) - 1 : 1u << port);
}

/* A change that was not acknowledged may be in force or not, so it is not checked. */
static void forget_asked(struct check_flow *c)
{
	memset(c->admin->asked, 0, c->w->nodes * sizeof(*c->admin->asked));
	c->admin->waits = false;
}

void check_flow_ordered(struct check_flow *c, uint32_t root, uint32_t node, int port, bool excluded)
{
	struct admin *a = c->admin;
	uint64_t epoch = fm_epoch(c->w->node[root].fm);

	if (a->waits && (a->root != root || a->epoch != epoch))
		forget_asked(c);
	a->root = root;
	a->epoch = epoch;
	a->waits = true;
	if (excluded) {
		a->asked[node] |= mask_of(c, port);
		return;
	}
	a->asked[node] &= (uint16_t)~mask_of(c, port);
	a->acked[node] &= (uint16_t)~mask_of(c, port);
	for (uint32_t i = 0; i < c->w->nodes; i++)
		a->knows[(size_t)i * c->w->nodes + node] &= (uint16_t)~mask_of(c, port);
}

/* Takes over what the root acknowledges now, and who knows of it. */
void admin_look(struct check_flow *c)
{
	struct admin *a = c->admin;
	const struct fm *fm = c->w->node[a->root].fm;

	if (!a->waits)
		return;
	if (!fm || !fm_is_root(fm) || fm_epoch(fm) != a->epoch) {
		forget_asked(c);
		return;
	}
	if (!fm_in_force(fm, fm_version(fm)))
		return;
	for (uint32_t i = 0; i < c->w->nodes; i++)
		a->acked[i] |= a->asked[i];
	for (uint32_t i = 0; i < c->w->nodes; i++) {
		const struct fm *other = c->w->node[i].fm;

		for (uint32_t k = 0; other && fm_applied(other) && k < c->w->nodes; k++) {
			const struct fm_entry *e = fm_node(other, k);

			if (e)
				a->knows[(size_t)i * c->w->nodes + k] |= e->admin & a->acked[k];
		}
	}
	forget_asked(c);
}

void admin_power(struct check_flow *c, uint32_t node)
{
	struct admin *a = c->admin;
	uint32_t nodes = c->w->nodes;

	memset(a->knows + (size_t)node * nodes, 0, nodes * sizeof(*a->knows));
	for (uint32_t k = 0; k < nodes; k++) {
		uint16_t known = 0;

		for (uint32_t i = 0; i < nodes; i++)
			known |= a->knows[(size_t)i * nodes + k];
		a->acked[k] &= known;
	}
}

void admin_switched(struct check_flow *c, uint32_t node, uint64_t version)
{
	struct admin *a = c->admin;
	const struct fm *fm = c->w->node[node].fm;

	if (!fm || fm_version(fm) != version)
		return;
	for (uint32_t k = 0; k < c->w->nodes; k++) {
		const struct fm_entry *e = fm_node(fm, k);
		uint16_t *knows = &a->knows[(size_t)node * c->w->nodes + k];

		if (e && *knows & ~(e->admin | fm_exclusions(fm)[k]))
			flow_wrong(c, "version %llu at node %u: ports %x of node %u are not excluded any more",
				   (unsigned long long)version, node,
				   *knows & ~(e->admin | fm_exclusions(fm)[k]), k);
		if (e)
			*knows |= e->admin & a->acked[k];
	}
}

const char *check_admin(const struct check_flow *c, char *buf, size_t room)
{
	const struct fm *fm = world_fm(c->w, world_root(c->w));

	for (uint32_t k = 0; fm && k < c->w->nodes; k++) {
		const struct fm_entry *e = fm_node(fm, k);

		if (!e || !(c->admin->acked[k] & ~e->admin))
			continue;
		snprintf(buf, room, "ports %x of node %u were excluded, and are not",
			 c->admin->acked[k] & ~e->admin, k);
		return buf;
	}
	return NULL;
}
