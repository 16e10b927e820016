// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the fabric to which a node belonged
 *
 * A manager that starts again has no table, and would follow the first root that an Init names. If
 * a wrong cable leads to another fabric of the same name, that may be the root of the other fabric.
 * Then its NIC obeys that root. If that root is of a later epoch, the NIC refuses the root of its
 * own fabric, which then has to ask all its nodes again; if it is of an earlier one, the other
 * fabric has to. So until it has a table, such a node follows only a root of its own fabric.
 *
 * Neither names nor keys distinguish two fabrics, because both may be the same. Only its nodes
 * identify a fabric. An Init is of the own fabric if one of these is true:
 *  - it names the root that the NIC obeys, or that made the kept table;
 *  - the kept table contains its sender, or the root that it names;
 *  - it comes by a cable that the rows of the NIC use, and implies the place that the NIC has;
 *  - the neighbours at most cables, and at two at least, name its root, and imply that place.
 * Candidates keep a table, other nodes do not, so these need the third one. A cable to another
 * fabric has no rows: the root excludes it (root/wiring.c). The place alone is not enough, since
 * between two fabrics of the same shape a wrong cable may lead to where a right one would. Rows
 * alone are not enough if another cable was plugged in while no manager was up. A node that is
 * excluded has no rows at all and keeps no table, so it needs the fourth one, if its fabric gets
 * another root while its manager is away.
 *
 * A node insists on its own fabric for the time INSIST, by which that fabric has a root again if it
 * can have one, and as long as a cable leads to a neighbour of that fabric which names a third
 * root, or is silent. Such a neighbour may get a root at any time, so its fabric is not gone, and
 * what the NIC holds or has parked may still be for it. A neighbour that has reported for INSIST
 * that it knows no root does not count: it may wait as this node does, and two such nodes would
 * never stop waiting for each other. So would a whole fabric whose managers all start again, if the
 * only node that can be root has a new NIC, which is in no table and has no place. If no such cable
 * is left, no packet of the own fabric can come or go here, so nothing is lost if the node joins
 * the other one. If the neighbours of its fabric follow that root, it is no other fabric. Until
 * then only the administrator can assign the node to the other one: by unplugging the cables to its
 * former fabric, or by making a new NIC without its kept table. An Init that is refused is reported
 * as a problem (bootstrap.c).
 *
 * It is the same if the Init names a node that asks to be root. A node that leads, or has its
 * first table, has the rules of follow.c and root/claim.c.
 *
 * Tests: tests/unit/test_fm_home.c, tests/sim/test_foreign.c.
 */
#include <stdlib.h>
#include <torus/topology.h>

#include "daemon/fm/node/home.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/wire/init.h"
#include "lib/deps/invariant.h"

#define INSIST (30000 * MS)

/**
 * struct fm_home - the fabric that this node belonged to, as far as it is known before the first
 * table
 * @is: the node belonged to a fabric
 * @until: until then the node insists on that fabric in any case
 * @over: this time is over, and the neighbours were asked for their Inits
 * @named: for each port, the root that the last Init named; 0: no Init has come since the link came
 *	up
 * @fits: for each port: that Init implied the place of the NIC
 * @rootless: for each port: the last Init was of a node that knows no root
 */
struct fm_home {
	bool is, over;
	uint64_t until;
	uint64_t named[TORUS_MAX_PORTS];
	bool fits[TORUS_MAX_PORTS];
	bool rootless[TORUS_MAX_PORTS];
};

bool fm_home_new(struct fm *fm)
{
	fm->home = calloc(1, sizeof(*fm->home));
	return fm->home;
}

void fm_home_free(struct fm *fm)
{
	free(fm->home);
}

void fm_home_begin(struct fm *fm)
{
	struct fm_home *h = fm->home;

	h->is = fm->kept.book || (fm->placed && fm->rows && fm_rows_epoch(fm));
	h->over = !h->is;
	h->until = fm->now + INSIST;
}

/* Return: true if the NIC has rows whose path begins with the link at @port. */
static bool has_rows(const struct fm *fm, unsigned int port)
{
	uint64_t row;

	if (!fm->placed || !fm->rows || port >= 2 * fm->shape.ndims)
		return false;
	row = fm->rows[torus_neighbour(&fm->shape, fm->node, port)];
	return row & TORUS_ROW_VALID && !(row & TORUS_ROW_RELAY) &&
	       row >> TORUS_ROW_DIR_SHIFT & 1u << port;
}

/* Return: true if the sender's position and @port imply the place that this NIC has. */
static bool implies_place(const struct fm *fm, unsigned int port, const struct fm_init *init)
{
	struct torus_coords at;

	if (!fm->placed || port >= 2 * fm->shape.ndims || init->ndims != fm->shape.ndims)
		return false;
	torus_node_coords(&fm->shape, torus_neighbour(&fm->shape, fm->node, port), &at);
	for (unsigned int d = 0; d < init->ndims; d++) {
		int32_t size = fm->shape.size[d];

		if (init->settled && init->size[d] != size)
			return false;
		if ((init->position[d] % size + size) % size != at.c[d])
			return false;
	}
	return true;
}

/* Return: true if the neighbours at most cables name @root, and imply the place of this NIC. */
static bool most_name(const struct fm *fm, uint64_t root)
{
	const struct fm_home *h = fm->home;
	unsigned int up = 0, agree = 0;

	for (unsigned int p = 0; p < fm->nports; p++) {
		if (!fm_port_up(fm, p))
			continue;
		up++;
		agree += h->named[p] == root && h->fits[p] && !h->rootless[p];
	}
	return agree >= 2 && 2 * agree > up;
}

/* Return: true if the Init is of this node's fabric. */
static bool is_own(const struct fm *fm, unsigned int port, const struct fm_init *init)
{
	uint64_t epoch;

	return init->root_guid == fm->guid || init->root_guid == fm_nic_root(fm, &epoch) ||
	       init->root_guid == fm->kept.root ||
	       fm_kept_place(fm, init->root_guid) != TORUS_NO_NODE ||
	       fm_kept_place(fm, init->guid) != TORUS_NO_NODE ||
	       (has_rows(fm, port) && implies_place(fm, port, init)) ||
	       most_name(fm, init->root_guid);
}

/* Return: true if a cable leads to a neighbour of this node's fabric that may get another root. */
static bool has_neighbour(const struct fm *fm, uint64_t root)
{
	for (unsigned int p = 0; p < fm->nports; p++)
		if (fm_port_up(fm, p) && fm->home->named[p] != root && !fm->home->rootless[p] &&
		    (has_rows(fm, p) ||
		     fm_kept_place(fm, fm->row.port[p].peer_guid) != TORUS_NO_NODE))
			return true;
	return false;
}

void fm_home_note(struct fm *fm, unsigned int port, const struct fm_init *init)
{
	struct fm_home *h = fm->home;
	bool rootless = !init->placed;

	invariant(port < fm->nports);
	if (h->is && rootless && !h->rootless[port]) {
		h->until = fm->now + INSIST;
		h->over = false;
	}
	h->rootless[port] = rootless;
	h->named[port] = init->root_guid;
	h->fits[port] = implies_place(fm, port, init);
}

/*
 * Called when the link at @port is down. Without the cable, the node may be free to join another
 * fabric, so it asks for Inits of that fabric.
 */
void fm_home_down(struct fm *fm, unsigned int port)
{
	struct fm_home *h = fm->home;

	invariant(port < fm->nports);
	h->named[port] = 0;
	h->rootless[port] = false;
	if (h->is && !fm->have_root)
		fm_ports_ask(fm);
}

bool fm_home_refuses(const struct fm *fm, unsigned int port, const struct fm_init *init)
{
	const struct fm_home *h = fm->home;

	if (!h->is || fm->table.version || !init->placed || is_own(fm, port, init) ||
	    (fm->have_root && init->root_guid == fm->root_guid))
		return false;
	return fm->now < h->until || has_neighbour(fm, init->root_guid);
}

uint64_t fm_home_root(const struct fm *fm)
{
	uint64_t epoch, guid = fm_nic_root(fm, &epoch);

	return guid ? guid : fm->kept.root;
}

void fm_home_due(struct fm *fm)
{
	struct fm_home *h = fm->home;

	if (h->over || fm->now < h->until)
		return;
	h->over = true;
	if (!fm->have_root)
		fm_ports_ask(fm);
}

uint64_t fm_home_expiry(const struct fm *fm)
{
	return fm->home->over ? NEVER : fm->home->until;
}
