// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <torus/topology.h>
#include "naive.h"

static uint32_t id_of(const struct model *m, const unsigned int *c)
{
	uint32_t id = 0;

	for (unsigned int d = m->n; d--; )
		id = id * m->shape.size[d] + c[d];
	return id;
}

void model_make(struct model *m, const char *shape)
{
	memset(m->reported, 0, sizeof(m->reported));
	assert_int_equal(torus_shape_parse(shape, &m->shape), 0);
	m->n = m->shape.ndims;
	m->nodes = torus_nodes(&m->shape);
	assert_true(m->nodes <= NODES_MAX);
	for (uint32_t i = 0; i < m->nodes; i++) {
		uint32_t rest = i;

		for (unsigned int d = 0; d < m->n; d++) {
			m->c[i][d] = rest % m->shape.size[d];
			rest /= m->shape.size[d];
		}
	}
	for (uint32_t i = 0; i < m->nodes; i++)
		for (unsigned int p = 0; p < 2 * m->n; p++) {
			unsigned int c[DIMS], size = m->shape.size[p % m->n];

			memcpy(c, m->c[i], sizeof(c));
			c[p % m->n] = (c[p % m->n] + (p < m->n ? 1 : size - 1)) % size;
			m->next[i][p] = id_of(m, c);
		}
}

unsigned int back(const struct model *m, unsigned int port)
{
	return port < m->n ? port + m->n : port - m->n;
}

bool dead(const struct model *m, uint32_t node, unsigned int port)
{
	return m->shape.size[port % m->n] < 2 || m->reported[node] >> port & 1 ||
	       m->reported[m->next[node][port]] >> back(m, port) & 1;
}

void flood(const struct model *m, uint32_t to, uint32_t *away)
{
	bool more = true;

	for (uint32_t i = 0; i < m->nodes; i++)
		away[i] = i == to ? 0 : NEVER;
	for (uint32_t at = 0; more; at++) {
		more = false;
		for (uint32_t i = 0; i < m->nodes; i++)
			for (unsigned int p = 0; away[i] == at && p < 2 * m->n; p++)
				if (!dead(m, i, p) && away[m->next[i][p]] == NEVER) {
					away[m->next[i][p]] = at + 1;
					more = true;
				}
	}
}

struct head head_of(uint64_t row)
{
	return (struct head){
		.dirs = row >> TORUS_ROW_DIR_SHIFT & TORUS_ROW_DIR_MASK,
		.first = row >> TORUS_ROW_FIRST_SHIFT & TORUS_ROW_STEP_MASK,
		.last = row >> TORUS_ROW_LAST_SHIFT & TORUS_ROW_STEP_MASK,
	};
}

/** struct way - where a packet is and how it came there; @hop: as for travel_by() */
struct way {
	uint32_t node, hops;
	unsigned int port;
	bool ok;
	struct visit *hop;
};

static void hop(const struct model *m, struct way *w, unsigned int port)
{
	w->ok = w->ok && !dead(m, w->node, port) && port >= w->port;
	if (w->hop)
		*w->hop++ = (struct visit){ w->node, port };
	w->port = port;
	w->node = m->next[w->node][port];
	w->hops++;
}

uint32_t travel_by(const struct model *m, uint32_t from, uint32_t to, const struct head *h,
		   struct visit *hops)
{
	uint32_t goal = h->last == NO_STEP ? to : m->next[to][back(m, h->last)];
	struct way w = { .node = from, .ok = true, .hop = hops };

	if (h->first != NO_STEP)
		hop(m, &w, h->first);
	for (unsigned int p = 0; p < 2 * m->n; p++)
		while (h->dirs >> p & 1 && m->c[w.node][p % m->n] != m->c[goal][p % m->n])
			hop(m, &w, p);
	if (h->last != NO_STEP)
		hop(m, &w, h->last);
	return w.ok && w.node == to ? w.hops : NEVER;
}

uint32_t travel(const struct model *m, uint32_t from, uint32_t to, const struct head *h)
{
	return travel_by(m, from, to, h, NULL);
}

unsigned int plain_dirs(const struct model *m, uint32_t from, uint32_t to)
{
	unsigned int dirs = 0;

	for (unsigned int d = 0; d < m->n; d++) {
		unsigned int size = m->shape.size[d], odd = 0, e;
		unsigned int plus = (m->c[to][d] + size - m->c[from][d]) % size;

		for (e = 0; e < m->n; e++)
			odd += e <= d ? m->c[from][e] : m->c[to][e];
		if (plus)
			dirs |= 1u << (2 * plus < size || (2 * plus == size && !(odd & 1))
				       ? d : m->n + d);
	}
	return dirs;
}

unsigned int half_apart(const struct model *m, uint32_t from, uint32_t to)
{
	unsigned int ways = 0;

	for (unsigned int d = 0; d < m->n; d++) {
		unsigned int size = m->shape.size[d];

		if (size % 2 == 0 && (m->c[from][d] + size / 2) % size == m->c[to][d])
			ways |= 1u << d;
	}
	return ways;
}

unsigned int visits(const struct model *m, uint32_t from, uint32_t to, unsigned int dirs,
		    struct visit *visit)
{
	bool seen[NODES_MAX] = { false };
	unsigned int left[NODES_MAX];	/* directions of @dirs that are left, at each visit */
	unsigned int n = 1, i;

	seen[to] = true;
	seen[from] = true;
	visit[0].node = from;
	left[0] = dirs;
	for (i = 0; i < n && from != to; i++) {
		uint32_t at = visit[i].node;

		visit[i].port = NO_STEP;
		for (unsigned int p = 0; p < 2 * m->n; p++) {
			uint32_t next = m->next[at][p];

			if (!(left[i] >> p & 1) || m->c[at][p % m->n] == m->c[to][p % m->n])
				continue;
			if (visit[i].port == NO_STEP)
				visit[i].port = p;
			if (seen[next])
				continue;
			seen[next] = true;
			left[n] = left[i] & ~(1u << back(m, p));
			visit[n++].node = next;
		}
	}
	return i;
}
