// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wrong cables: those that do not join the ports that the shape asks for. A problem names each of
 * them once, with both ends as they are and the expected end; both its ports are excluded.
 *
 * Test: tests/unit/test_fm_wiring.c.
 */
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/wiring.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

/*
 * Writes the end of a cable: "1,0,3:+x ('name')"; for a node without a place its name, or, before
 * it has joined, its GUID.
 */
static const char *write_end(const struct fm *fm, const struct fm_mate *m, uint64_t guid,
			    unsigned int p, char *buf, size_t room)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];

	if (p < 2 * fm->ndims)
		torus_port_text(fm->ndims, p, port);
	else
		snprintf(port, sizeof(port), "port %u", p);
	if (!m || (m->node == TORUS_NO_NODE && !fm_mate_joined(m)))
		snprintf(buf, room, "NIC %016llx:%s", (unsigned long long)guid, port);
	else if (m->node == TORUS_NO_NODE)
		snprintf(buf, room, "'%s':%s", m->name, port);
	else
		snprintf(buf, room, "%s:%s ('%s')",
			 torus_node_text(&fm->table.shape, m->node, node), port, m->name);
	return buf;
}

/* Return: the fault of the cable at port @p of @m, as text; NULL: none. */
static const char *find_cable_fault(const struct fm *fm, const struct fm_mate *m, unsigned int p)
{
	const struct torus_shape *shape = &fm->table.shape;
	const struct fm_port_row *port = &m->row.port[p];
	const struct fm_mate *o = fm_mate(fm->root, port->peer_guid);
	const struct fm_mate *due;

	if (port->state != FM_PORT_UP || !port->peer_guid)
		return NULL;
	if (port->peer_guid == m->guid)
		return "a cable from a node to itself";
	if (port->problem == FM_PROBLEM_FABRIC)
		return "leads to another fabric";
	if (port->problem == FM_PROBLEM_ROOT)
		return "leads to nodes that obey another root";
	if (port->problem == FM_PROBLEM_VERSION)
		return "leads to a manager of another version";
	if (port->peer_port != fm_opposite(fm->ndims, p))
		return "joins ports that are not opposite";
	if (shape->size[p % fm->ndims] == 1)
		return "in a dimension of size 1";
	due = fm_mate_at(fm->root, torus_neighbour(shape, m->node, p));
	/* A node that has not joined yet may replace a dead one. */
	if (due && due->guid != port->peer_guid &&
	    (fm_mate_joined(o) || due->state != FM_NODE_DEAD))
		return "leads to the wrong node";
	if (!due && o && o->node != TORUS_NO_NODE)
		return "leads to the wrong node";
	return NULL;
}

static void set_wiring_problem(struct fm *fm, const struct fm_mate *m, unsigned int p,
			       const char *what)
{
	const struct fm_port_row *port = &m->row.port[p];
	const struct fm_mate *o = fm_mate(fm->root, port->peer_guid);
	uint32_t due = torus_neighbour(&fm->table.shape, m->node, p);
	char here[160], there[160], want[160];
	uint64_t key = (uint64_t)m->node * TORUS_MAX_PORTS + p;

	/* The end with the lower key reports it. A node without a place has the highest key. */
	if (o && port->peer_port < 2 * fm->ndims) {
		uint64_t other = (uint64_t)o->node * TORUS_MAX_PORTS + port->peer_port;

		if (other < key && find_cable_fault(fm, o, port->peer_port))
			return;
	}
	write_end(fm, m, m->guid, p, here, sizeof(here));
	write_end(fm, o, port->peer_guid, port->peer_port, there, sizeof(there));
	if (port->peer_guid == m->guid) {
		fm_problem_set(fm, "wiring", key, "%s is cabled to %s: %s", here, there, what);
		return;
	}
	torus_node_text(&fm->table.shape, due, want);
	strcat(want, ":");
	torus_port_text(fm->ndims, fm_opposite(fm->ndims, p), want + strlen(want));
	fm_problem_set(fm, "wiring", key, "%s is cabled to %s, expected %s: %s", here, there, want,
		       what);
}

uint16_t fm_wiring_check(struct fm *fm, const struct fm_mate *m)
{
	uint16_t mask = 0;

	for (unsigned int p = 0; p < 2 * fm->ndims && p < m->row.nports; p++) {
		const char *what = find_cable_fault(fm, m, p);

		if (!what)
			continue;
		mask |= (uint16_t)(1u << p);
		set_wiring_problem(fm, m, p, what);
	}
	return mask;
}

bool fm_wiring_odd(const struct fm *fm, const struct fm_mate *m)
{
	const struct torus_shape *shape = &fm->table.shape;

	for (unsigned int p = 0; p < 2 * fm->ndims && p < m->row.nports; p++) {
		const struct fm_port_row *port = &m->row.port[p];
		const struct fm_mate *due =
			fm_mate_at(fm->root, torus_neighbour(shape, m->node, p));

		if (port->state == FM_PORT_UP && port->peer_guid &&
		    (port->problem || !due || due->guid != port->peer_guid ||
		     port->peer_port != fm_opposite(fm->ndims, p) ||
		     shape->size[p % fm->ndims] == 1))
			return true;
	}
	return false;
}
