// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the nodes that an exclusion would cut off: nodes that healthy links join now may fall into
 * several parts, of which all but the largest count as cut off. Any two nodes joined by links have
 * a path, if necessary through relays, so no rows need to be computed.
 *
 * The nodes of a job do not use links to other nodes, so an exclusion may divide a job although it
 * cuts no node off: the parts of each job are counted before and after, too.
 *
 * The search considers all orders given so far, and all cables and nodes that were lost or came
 * back, even those that are not in a table yet.
 */
#include <errno.h>
#include <stdlib.h>
#include <torus/route.h>

#include "daemon/fm/root/guard.h"
#include "daemon/fm/status.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/service.h"

#define ALL_PORTS UINT16_MAX	/* all that a node has, and more */

/**
 * struct search - the fabric before [0] and after [1] the exclusion
 * @out: for each node, the ports that are not used
 * @gone: nodes that need no path, because they are dead, or out of service, or will be
 * @size: number of nodes of each part, by its lowest node; @best: for each part before, the largest
 *	part after
 */
struct search {
	uint16_t *out[2];
	bool *gone;
	struct torus_health *health[2];
	uint32_t *size[2];
	uint32_t *best;
};

static bool is_alive(uint8_t state)
{
	return state == FM_NODE_UP || state == FM_NODE_SILENT;
}

static bool has_nic(const struct fm *fm, uint32_t node)
{
	const struct fm_record *m = fm_record_at(fm->root, node);

	return is_alive(m ? m->state : fm->table.entry[node].state);
}

/*
 * Return: the bit of @port if the table excludes its cable. If one end was dead in the table, only
 * damping (@held) counts, because that node may have come back since.
 */
static uint16_t lost_in_table(const struct fm *fm, uint32_t node, unsigned int port)
{
	const struct fm_table *t = &fm->table;
	const struct fm_entry *e = &t->entry[node];
	uint32_t peer = torus_neighbour(&t->shape, node, port);

	return (uint16_t)((is_alive(e->state) && is_alive(t->entry[peer].state) ? e->fault :
			   e->held) &
			  1u << port);
}

/* Return: mask of the ports that @node cannot use, as far as the root knows by now. */
static uint16_t unused_ports(const struct fm *fm, uint32_t node)
{
	const struct fm_entry *e = &fm->table.entry[node];
	const struct fm_record *m = fm_record_at(fm->root, node);
	uint16_t mask = e->wiring | fm->root->admin[node];

	if (!has_nic(fm, node))
		return ALL_PORTS;
	for (unsigned int p = 0; p < 2 * fm->ndims; p++) {
		mask |= lost_in_table(fm, node, p);
		if (m && m->row.port[p].state != FM_PORT_UP)
			mask |= (uint16_t)(1u << p);
	}
	return mask;
}

static bool alloc_search(struct search *s, const struct fm *fm)
{
	const struct fm_table *t = &fm->table;

	s->gone = calloc(t->nodes, sizeof(*s->gone));
	s->best = calloc(t->nodes, sizeof(*s->best));
	for (int i = 0; i < 2; i++) {
		s->out[i] = calloc(t->nodes, sizeof(uint16_t));
		s->size[i] = calloc(t->nodes, sizeof(uint32_t));
		if (!s->out[i] || !s->size[i])
			return false;
	}
	if (!s->gone || !s->best)
		return false;
	for (uint32_t node = 0; node < t->nodes; node++) {
		s->gone[node] = !has_nic(fm, node) || fm_service_is_out(fm, node);
		s->out[0][node] = s->out[1][node] = unused_ports(fm, node);
	}
	return true;
}

static void free_search(struct search *s)
{
	for (int i = 0; i < 2; i++) {
		torus_health_free(s->health[i]);
		free(s->out[i]);
		free(s->size[i]);
	}
	free(s->gone);
	free(s->best);
}

static uint32_t part_of(const struct search *s, int i, uint32_t node)
{
	return torus_health_component(s->health[i], node);
}

/* Finds the parts of the fabric before and after. Return: false if there is no memory. */
static bool find_parts(struct search *s, const struct torus_shape *shape)
{
	uint32_t nodes = torus_nodes(shape);

	for (int i = 0; i < 2; i++)
		if (torus_health_new(shape, s->out[i], &s->health[i]))
			return false;
	for (int i = 0; i < 2; i++)
		for (uint32_t node = 0; node < nodes; node++) {
			uint32_t part = part_of(s, i, node);

			if (part == TORUS_NO_NODE)
				return false;
			s->size[i][part] += !s->gone[node];
		}
	for (uint32_t node = 0; node < nodes; node++) {
		uint32_t was = part_of(s, 0, node), is = part_of(s, 1, node);

		if (node == was || s->size[1][is] > s->size[1][s->best[was]])
			s->best[was] = is;
	}
	return true;
}

static void count_severed(const struct search *s, uint32_t nodes, struct fm_severed *out)
{
	*out = (struct fm_severed) { .nodes = 0 };
	for (uint32_t node = 0; node < nodes; node++) {
		uint32_t was = part_of(s, 0, node), is = part_of(s, 1, node);

		if (s->gone[node])
			continue;
		out->pairs += s->size[0][was] - s->size[1][is];
		if (is == s->best[was])
			continue;
		if (out->nodes < FM_SEVERED_MAX)
			out->node[out->nodes] = node;
		out->nodes++;
	}
}

/* Closes, in @out, the cables in positive directions that lead from the job of @node to others. */
static void close_job_border(const struct fm *fm, uint32_t node, uint16_t *out)
{
	const struct fm_seat *seat = fm->root->seat;

	for (unsigned int p = 0; p < fm->ndims; p++)
		if (seat[torus_neighbour(&fm->table.shape, node, p)].job != seat[node].job)
			out[node] |= (uint16_t)(1u << p);
}

/*
 * Counts the parts of each job before or after the exclusion in @parts, by id of the job, and those
 * of the nodes without a job in @parts[0]. Closes the borders of jobs in @s->out. Return: false if
 * there is no memory.
 */
static bool count_job_parts(const struct fm *fm, struct search *s, int i, uint32_t *parts)
{
	uint32_t nodes = fm->table.nodes;
	bool *met = calloc(nodes, sizeof(*met));
	struct torus_health *h = NULL;
	bool fine;

	for (uint32_t node = 0; node < nodes; node++)
		close_job_border(fm, node, s->out[i]);
	fine = met && !torus_health_new(&fm->table.shape, s->out[i], &h);
	for (uint32_t node = 0; fine && node < nodes; node++) {
		uint32_t part = torus_health_component(h, node);

		if (part == TORUS_NO_NODE)
			fine = false;
		else if (!s->gone[node] && !met[part])
			parts[fm->root->seat[node].job] += met[part] = true;
	}
	torus_health_free(h);
	free(met);
	return fine;
}

/* Finds the first job that falls into more parts. Return: false if there is no memory. */
static bool find_divided_job(const struct fm *fm, struct search *s, struct fm_severed *out)
{
	const struct fm_jobs *jobs = &fm->root->jobs;
	uint32_t *parts[2] = { NULL, NULL };
	bool fine = true;

	if (!jobs->n)
		return true;
	for (int i = 0; fine && i < 2; i++) {
		parts[i] = calloc(FM_JOBS_MAX + 1, sizeof(*parts[i]));
		fine = parts[i] && count_job_parts(fm, s, i, parts[i]);
	}
	for (uint32_t k = 0; fine && k < jobs->n && !out->job; k++) {
		uint16_t id = jobs->of[k].id;

		if (parts[1][id] <= parts[0][id])
			continue;
		out->job = &jobs->of[k];
		out->parts = parts[1][id];
	}
	free(parts[0]);
	free(parts[1]);
	return fine;
}

int fm_guard_look(const struct fm *fm, const struct fm_target *end, uint32_t n,
		  struct fm_severed *out)
{
	const struct fm_table *t = &fm->table;
	struct search s = { .gone = NULL };
	bool fine = alloc_search(&s, fm);
	uint32_t went = 0;

	for (uint32_t i = 0; fine && i < n; i++) {
		if (end[i].port < 0) {
			went += !s.gone[end[i].node];
			s.gone[end[i].node] = true;
		}
		s.out[1][end[i].node] |= (uint16_t)(end[i].port < 0 ? ALL_PORTS :
						    1u << end[i].port);
	}
	fine = fine && find_parts(&s, &t->shape);
	if (fine)
		count_severed(&s, t->nodes, out);
	fine = fine && find_divided_job(fm, &s, out);
	for (uint32_t node = 0; fine && node < t->nodes; node++)
		out->left += !s.gone[node];
	if (fine)
		out->went = went;
	free_search(&s);
	return fine ? 0 : -ENOMEM;
}
