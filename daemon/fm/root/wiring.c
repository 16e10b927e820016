// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wrong cables: those that do not join the ports that they should join in the shape. Each of them
 * is reported as one problem, which names both ends and the expected end; the ports at both ends
 * are excluded.
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
static const char *write_end(const struct fm *fm, const struct fm_record *m, uint64_t guid,
			    unsigned int p, char *buf, size_t room)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];

	if (p < 2 * fm->ndims)
		torus_port_text(fm->ndims, p, port);
	else
		snprintf(port, sizeof(port), "port %u", p);
	if (!m || (m->node == TORUS_NO_NODE && !fm_record_joined(m)))
		snprintf(buf, room, "NIC %016llx:%s", (unsigned long long)guid, port);
	else if (m->node == TORUS_NO_NODE)
		snprintf(buf, room, "'%s':%s", m->name, port);
	else
		snprintf(buf, room, "%s:%s ('%s')",
			 torus_node_text(&fm->table.shape, m->node, node), port, m->name);
	return buf;
}

/* Return: text of the fault of the cable at port @p of @m; NULL if it has none. */
static const char *find_cable_fault(const struct fm *fm, const struct fm_record *m, unsigned int p)
{
	const struct torus_shape *shape = &fm->table.shape;
	const struct fm_port_row *port = &m->row.port[p];
	const struct fm_record *o = fm_record(fm->root, port->peer_guid);
	const struct fm_record *due;

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
	due = fm_record_at(fm->root, torus_neighbour(shape, m->node, p));
	/* A node that has not joined yet may be the replacement of a dead one. */
	if (due && due->guid != port->peer_guid &&
	    (fm_record_joined(o) || due->state != FM_NODE_DEAD))
		return "leads to the wrong node";
	if (!due && o && o->node != TORUS_NO_NODE)
		return "leads to the wrong node";
	return NULL;
}

/** struct end - one end of a wrong cable; @record is NULL if only the GUID of the node is known */
struct end {
	const struct fm_record *record;
	uint64_t guid;
	unsigned int port;
};

static bool has_place(const struct fm *fm, const struct end *e)
{
	return e->record && e->record->node != TORUS_NO_NODE && e->port < 2 * fm->ndims;
}

/*
 * Return: true if the cable is named by its end @b, not by @a. A cable is named by its end at a
 * port with "+"; if both or neither end is at such a port, by the end with the lower key.
 */
static bool is_named_by_far(const struct fm *fm, const struct end *a, const struct end *b)
{
	if (!has_place(fm, b))
		return false;
	if ((a->port < fm->ndims) != (b->port < fm->ndims))
		return b->port < fm->ndims;
	if (b->record->node != a->record->node)
		return b->record->node < a->record->node;
	return b->port < a->port;
}

/* Reports the wrong cable from @a, whose node has a place, to @b. */
static void set_wiring_problem(struct fm *fm, const struct end *a, const struct end *b,
			       const char *what)
{
	uint32_t due = torus_neighbour(&fm->table.shape, a->record->node, a->port);
	unsigned int due_port = fm_opposite(fm->ndims, a->port);
	uint64_t key = (uint64_t)a->record->node * TORUS_MAX_PORTS + a->port;
	char here[160], there[160], node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];

	write_end(fm, a->record, a->guid, a->port, here, sizeof(here));
	write_end(fm, b->record, b->guid, b->port, there, sizeof(there));
	if (a->guid == b->guid ||
	    (has_place(fm, b) && b->record->node == due && b->port == due_port))
		fm_problem_set(fm, "wiring", key, "%s is cabled to %s: %s", here, there, what);
	else
		fm_problem_set(fm, "wiring", key, "%s is cabled to %s, expected %s:%s: %s", here,
			       there, torus_node_text(&fm->table.shape, due, node),
			       torus_port_text(fm->ndims, due_port, port), what);
}

/*
 * Reports the wrong cable at port @p of @m. Its name does not depend on the end at which the fault
 * was found first; if both ends have a fault, that of the end which gives the name is reported.
 */
static void name_cable(struct fm *fm, const struct fm_record *m, unsigned int p, const char *what)
{
	const struct fm_port_row *port = &m->row.port[p];
	struct end a = { m, m->guid, p };
	struct end b = { fm_record(fm->root, port->peer_guid), port->peer_guid, port->peer_port };

	if (!is_named_by_far(fm, &a, &b))
		set_wiring_problem(fm, &a, &b, what);
	else if (!find_cable_fault(fm, b.record, b.port))
		set_wiring_problem(fm, &b, &a, what);
}

uint16_t fm_wiring_check(struct fm *fm, const struct fm_record *m)
{
	uint16_t mask = 0;

	for (unsigned int p = 0; p < 2 * fm->ndims && p < m->row.nports; p++) {
		const char *what = find_cable_fault(fm, m, p);

		if (!what)
			continue;
		mask |= (uint16_t)(1u << p);
		name_cable(fm, m, p, what);
	}
	return mask;
}

bool fm_wiring_odd(const struct fm *fm, const struct fm_record *m)
{
	const struct torus_shape *shape = &fm->table.shape;

	for (unsigned int p = 0; p < 2 * fm->ndims && p < m->row.nports; p++) {
		const struct fm_port_row *port = &m->row.port[p];
		const struct fm_record *due =
			fm_record_at(fm->root, torus_neighbour(shape, m->node, p));

		if (port->state == FM_PORT_UP && port->peer_guid &&
		    (port->problem || !due || due->guid != port->peer_guid ||
		     port->peer_port != fm_opposite(fm->ndims, p) ||
		     shape->size[p % fm->ndims] == 1))
			return true;
	}
	return false;
}
