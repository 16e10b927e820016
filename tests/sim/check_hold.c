// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks holds by the rows that NICs are given. When a row's path changes, or it names a relay,
 * the row must be on hold from that switch until the holds of the version in force are lifted,
 * through all switches in between.
 */
#include "check_impl.h"
#include "kernel/core/nic_impl.h"

/* The fields of a row that decide the path of deterministic packets. */
#define WAY (TORUS_ROW_VALID | TORUS_ROW_RELAY | TORUS_ROW_NODE_MASK << TORUS_ROW_RELAY_SHIFT | \
	     TORUS_ROW_DIR_MASK << TORUS_ROW_DIR_SHIFT | \
	     TORUS_ROW_STEP_MASK << TORUS_ROW_FIRST_SHIFT | \
	     TORUS_ROW_STEP_MASK << TORUS_ROW_LAST_SHIFT)

/*
 * For each row of each node: @way: its path at the last switch; @due: it must be on hold
 * For each node: @since: its first switch since its holds were last lifted; 0: none; @nodes: how
 * many rows its NIC has. With another shape all rows are new
 */
struct holds {
	uint64_t *way;
	bool *due;
	uint64_t *since;
	uint32_t *nodes;
};

struct holds *holds_new(const struct world *w)
{
	struct holds *h = calloc(1, sizeof(*h));
	size_t n = (size_t)w->nodes * w->nodes;

	if (!h)
		abort();
	h->way = calloc(n, sizeof(*h->way));
	h->due = calloc(n, sizeof(*h->due));
	h->since = calloc(w->nodes, sizeof(*h->since));
	h->nodes = calloc(w->nodes, sizeof(*h->nodes));
	if (!h->way || !h->due || !h->since || !h->nodes)
		abort();
	return h;
}

void holds_free(struct holds *h)
{
	free(h->way);
	free(h->due);
	free(h->since);
	free(h->nodes);
	free(h);
}

/* Forgets the rows of a node whose NIC begins anew: a new NIC has no rows. */
void holds_power(struct check_flow *c, uint32_t node)
{
	size_t first = (size_t)node * c->w->nodes;

	memset(c->holds->way + first, 0, c->w->nodes * sizeof(*c->holds->way));
	memset(c->holds->due + first, 0, c->w->nodes * sizeof(*c->holds->due));
	c->holds->since[node] = 0;
	c->holds->nodes[node] = 0;
}

void holds_switched(struct check_flow *c, uint32_t node, uint64_t version)
{
	const struct tn_nic *nic = c->w->node[node].nic;

	if (!c->holds->since[node])
		c->holds->since[node] = c->w->now;
	if (c->holds->nodes[node] != nic->nodes)
		memset(c->holds->way + (size_t)node * c->w->nodes, 0,
		       c->w->nodes * sizeof(*c->holds->way));
	c->holds->nodes[node] = nic->nodes;
	for (uint32_t dst = 0; dst < nic->nodes; dst++) {
		uint64_t row = nic->rows[dst], *way = &c->holds->way[(size_t)node * c->w->nodes + dst];
		bool *due = &c->holds->due[(size_t)node * c->w->nodes + dst];

		if (dst == nic->node)
			continue;
		*due = row & TORUS_ROW_VALID && (*due || (row & WAY) != *way || row & TORUS_ROW_RELAY);
		*way = row & WAY;
		if (*due && !tn_on_hold(nic, dst))
			flow_wrong(c, "version %llu at node %u: the changed row to %u is not on hold",
				   (unsigned long long)version, node, dst);
	}
}

void holds_released(struct check_flow *c, uint32_t node)
{
	uint64_t since = c->holds->since[node];

	if (since && c->w->now - since > c->held)
		c->held = c->w->now - since;
	c->holds->since[node] = 0;
	memset(c->holds->due + (size_t)node * c->w->nodes, 0,
	       c->w->nodes * sizeof(*c->holds->due));
}
