// SPDX-License-Identifier: GPL-2.0-only
/* The exclusion table as a node has it: taking whole tables and changes. */
#include "machine.h"

uint64_t fm_fingerprint(uint64_t guid, uint32_t epoch)
{
	return fm_mix(fm_mix(guid ^ 0x746f727573ULL) + epoch);
}

/* Whether recoveries wait for the node. */
bool fm_table_counts(const struct fm_entry *e)
{
	return e->state == FM_NODE_UP;
}

void fm_table_free(struct fm_table *t)
{
	free(t->entry);
	free(t->closed);
	t->entry = NULL;
	t->closed = NULL;
}

uint32_t fm_table_find(const struct fm *fm, uint64_t guid)
{
	for (uint32_t i = 0; i < fm->table.nodes; i++)
		if (fm->table.entry[i].guid == guid && fm->table.entry[i].state != FM_NODE_ABSENT)
			return i;
	return TORUS_NO_NODE;
}

void fm_table_close(struct fm *fm)
{
	struct fm_table *t = &fm->table;
	uint16_t all = (uint16_t)((1u << 2 * t->shape.ndims) - 1);

	for (uint32_t i = 0; i < t->nodes; i++) {
		const struct fm_entry *e = &t->entry[i];

		if (e->state == FM_NODE_UP || e->state == FM_NODE_SILENT)
			t->closed[i] = (e->fault | e->wiring | e->admin) & all;
		else
			t->closed[i] = all;
	}
	torus_exclusions_close(&t->shape, t->closed);
}

static bool resize(struct fm *fm, const struct torus_shape *shape)
{
	struct fm_table *t = &fm->table;
	uint32_t nodes = torus_nodes(shape);

	if (t->entry && !memcmp(&t->shape, shape, sizeof(*shape)))
		return true;
	fm_table_free(t);
	t->nodes = 0;
	t->version = 0;
	t->entry = calloc(nodes, sizeof(*t->entry));
	t->closed = calloc(nodes, sizeof(*t->closed));
	if (!nodes || !t->entry || !t->closed) {
		fm_table_free(t);
		return false;
	}
	t->shape = *shape;
	t->nodes = nodes;
	return true;
}

/* Return: false if it cannot be used, for lack of its base or of memory. */
bool fm_table_take(struct fm *fm, const struct fm_table_msg *m)
{
	struct fm_table *t = &fm->table;

	if (m->base && (t->term != m->term || t->version != m->base ||
			memcmp(&t->shape, &m->shape, sizeof(m->shape))))
		return false;
	if (!resize(fm, &m->shape))
		return false;
	if (!m->base)
		memset(t->entry, 0, t->nodes * sizeof(*t->entry));
	for (uint32_t i = 0; i < m->nentries; i++)
		if (m->entries[i].node < t->nodes)
			t->entry[m->entries[i].node] = m->entries[i];
	t->term = m->term;
	t->version = m->version;
	t->open = m->open;
	fm_table_close(fm);
	return true;
}

/* What a node told too late for the table. */
void fm_table_ended(struct fm *fm, const struct fm_ended *e)
{
	struct fm_entry *entry;

	if (e->node >= fm->table.nodes || e->port >= TORUS_MAX_PORTS)
		return;
	entry = &fm->table.entry[e->node];
	entry->ended |= (uint16_t)(1u << e->port);
	entry->session[e->port] = e->session;
	entry->seq[e->port] = e->seq;
}

bool fm_table_whole(const struct fm *fm, struct fm_msg *out)
{
	const struct fm_table *t = &fm->table;
	struct fm_table_msg *m = &out->table;

	memset(out, 0, sizeof(*out));
	out->type = FM_MSG_TABLE;
	m->term = t->term;
	m->version = t->version;
	m->shape = t->shape;
	m->open = t->open;
	m->entries = malloc((t->nodes + 1) * sizeof(*m->entries));
	if (!m->entries)
		return false;
	for (uint32_t i = 0; i < t->nodes; i++)
		if (t->entry[i].state != FM_NODE_ABSENT)
			m->entries[m->nentries++] = t->entry[i];
	return true;
}
