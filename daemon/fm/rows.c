// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the table to the NIC: rows that change go on hold and are switched in
 * one step, and what is parked on dead links is settled.
 *
 * A row that was on hold stays so, whatever becomes of its path: the hold of an
 * older version is still in force, and only a release of the version that is
 * then active lifts it. A row to a node not reachable before goes on hold as
 * well: the nodes on its path may not be placed yet.
 */
#include "machine.h"

int fm_rows_place(struct fm *fm, const struct torus_shape *shape, uint32_t node)
{
	uint32_t nodes = torus_nodes(shape);
	struct torus_coords at;
	uint64_t *rows;
	int err;

	torus_node_coords(shape, node, &at);
	if (fm->placed && !memcmp(&fm->shape, shape, sizeof(*shape)) &&
	    !memcmp(&fm->coords, &at, sizeof(at)))
		return 0;
	if (shape->ndims > fm->nports / 2)
		return -EINVAL;
	rows = calloc(nodes, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	err = fm->ops.place_set(fm->io, shape, &at);
	if (err) {
		free(rows);
		return err;
	}
	if (fm->placed)
		fm_say(fm, FM_WARNING, "bootstrap", "this node moves to another place");
	free(fm->rows);
	fm->rows = rows;
	fm->nrows = nodes;
	fm->shape = *shape;
	fm->coords = at;
	fm->node = node;
	fm->placed = true;
	fm->applied = 0;
	return 0;
}

/* What decides the way of packets whose order counts: all but hold and VCA's bits. */
#define ORDERED_WAY (~(TORUS_ROW_HOLD | TORUS_ROW_ADAPTIVE | \
		       TORUS_ROW_DIR_MASK << TORUS_ROW_ADAPT_SHIFT))

/* Merges new rows into those at hand; lists what changed. Return: how many. */
static uint32_t merge(struct fm *fm, uint64_t *rows, uint32_t *node)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fm->nrows; i++) {
		uint64_t old = fm->rows[i], new = rows[i];

		if (!(new & TORUS_ROW_VALID))
			new = 0;
		else if (i != fm->node && ((new ^ old) & ORDERED_WAY))
			new |= TORUS_ROW_HOLD;
		else
			new |= old & TORUS_ROW_HOLD;
		if (new == old)
			continue;
		fm->rows[i] = new;
		node[n] = i;
		rows[n++] = new;
	}
	return n;
}

/* Return: 0 or negative errno; the table's version is then not in force here. */
int fm_rows_apply(struct fm *fm)
{
	uint64_t *rows = malloc(fm->nrows * sizeof(*rows));
	uint32_t *node = malloc(fm->nrows * sizeof(*node));
	uint64_t *before = malloc(fm->nrows * sizeof(*before));
	int err = -ENOMEM;
	uint32_t n;

	if (!rows || !node || !before)
		goto out;
	err = torus_route_rows(&fm->table.shape, fm->table.closed, fm->node, rows);
	if (err < 0)
		goto out;
	memcpy(before, fm->rows, fm->nrows * sizeof(*before));
	n = merge(fm, rows, node);
	err = 0;
	if (n || fm->applied != fm->table.version)
		err = fm->ops.rows_write(fm->io, fm->table.version, node, rows, n);
	if (err)
		memcpy(fm->rows, before, fm->nrows * sizeof(*before));
	else
		fm->applied = fm->table.version;
out:
	free(before);
	free(node);
	free(rows);
	if (err)
		fm_say(fm, FM_ERROR, "table", "table %llu cannot be applied: %s",
		       (unsigned long long)fm->table.version, strerror(-err));
	return err;
}

/*
 * A dead link leaves packets that were sent but not acknowledged. The other end
 * has told the root how far it received; a dead node tells no more, and after
 * resolve_max nobody is waited for (@orphans). What was received is forgotten,
 * the rest stays to be replayed. A packet kept wrongly is one too many, which
 * its receiver discards; one forgotten wrongly would be lost.
 */
void fm_rows_resolve(struct fm *fm, bool orphans)
{
	const struct fm_table *t = &fm->table;

	for (unsigned int p = 0; p < 2 * t->shape.ndims; p++) {
		const struct fm_port_row *own = &fm->row.port[p];
		unsigned int q = torus_dir_opposite(&t->shape, p);
		const struct fm_entry *e;

		if (own->state == FM_PORT_UP && !own->closed)
			continue;
		e = &t->entry[torus_neighbour(&t->shape, fm->node, p)];
		if (e->ended & 1u << q)
			fm->ops.park_resolve(fm->io, p, e->session[q], e->seq[q]);
		if (own->session && (orphans || e->state == FM_NODE_DEAD))
			fm->ops.park_resolve(fm->io, p, own->session, -1);
	}
}

/* Ports that the NIC keeps closed though the table says they are healthy. */
uint16_t fm_rows_reopen(const struct fm *fm)
{
	uint16_t mask = 0;

	if (!fm->table.version || !fm->placed)
		return 0;
	for (unsigned int p = 0; p < 2 * fm->table.shape.ndims; p++)
		if (fm->row.port[p].closed && !(fm->table.closed[fm->node] & 1u << p))
			mask |= (uint16_t)(1u << p);
	return mask;
}

void fm_rows_released(struct fm *fm)
{
	for (uint32_t i = 0; i < fm->nrows; i++)
		fm->rows[i] &= ~TORUS_ROW_HOLD;
}
