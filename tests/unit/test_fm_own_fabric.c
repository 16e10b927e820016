// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fabric to which a node belonged, by itself: random NICs with rows and kept tables, whose
 * neighbours send Inits of this fabric and of others. Which Inits are refused, and for how long, is
 * compared with the four signs of the own fabric and the rules for its end that home.c lists.
 */
#include <string.h>

#include <torus/topology.h>
#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/home.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/wire/init.h"

#define PORTS	7		/* of a fabric of three dimensions; the last port has no direction */
#define NODES	12
#define SELF	2
#define INSIST	(30000 * MS)

/** struct peer - the last Init of a neighbour since the link came up; @root 0: none named one */
struct peer {
	uint64_t root;
	bool fits, rootless;
};

static struct fm fm;
static struct fm_book book;
static uint64_t row[NODES];
static bool up[PORTS], is_in_kept[40];
static uint64_t nic_root, rows_epoch;
static unsigned int asked;

static struct peer peer[PORTS];
static bool belongs, over;
static uint64_t until;

bool fm_port_up(const struct fm *f, unsigned int p)
{
	assert_true(p < f->nports);
	return up[p];
}

void fm_ports_ask(struct fm *f)
{
	(void)f;
	asked++;
}

uint64_t fm_nic_root(const struct fm *f, uint64_t *epoch)
{
	(void)f;
	*epoch = 1;
	return nic_root;
}

uint64_t fm_rows_epoch(const struct fm *f)
{
	(void)f;
	return rows_epoch;
}

uint32_t fm_kept_place(const struct fm *f, uint64_t guid)
{
	(void)f;
	return guid < 40 && is_in_kept[guid] ? 0 : TORUS_NO_NODE;
}

/* --- the model ---------------------------------------------------------------------------- */

/* Return: true if a row of the NIC begins with the link to the neighbour at @p. */
static bool uses_port(unsigned int p)
{
	uint64_t r;

	if (!fm.placed || !fm.rows || p >= 2u * fm.shape.ndims)
		return false;
	r = row[torus_neighbour(&fm.shape, fm.node, p)];
	return (r & TORUS_ROW_VALID) && !(r & TORUS_ROW_RELAY) &&
	       (r >> TORUS_ROW_DIR_SHIFT & (1u << p));
}

static bool fits_place(unsigned int p, const struct fm_init *i)
{
	struct torus_coords at;

	if (!fm.placed || i->ndims != fm.shape.ndims || p >= 2u * fm.shape.ndims)
		return false;
	torus_node_coords(&fm.shape, torus_neighbour(&fm.shape, fm.node, p), &at);
	for (unsigned int d = 0; d < fm.shape.ndims; d++) {
		int32_t c = i->position[d];

		while (c < 0)
			c += fm.shape.size[d];
		if (c % fm.shape.size[d] != at.c[d] ||
		    (i->settled && i->size[d] != fm.shape.size[d]))
			return false;
	}
	return true;
}

static bool is_named_by_most(uint64_t root)
{
	unsigned int n = 0, agree = 0;

	for (unsigned int p = 0; p < PORTS; p++) {
		n += up[p];
		agree += up[p] && peer[p].root == root && peer[p].fits && !peer[p].rootless;
	}
	return agree > 1 && agree > n - agree;
}

static bool is_of_own_fabric(unsigned int p, const struct fm_init *i)
{
	return i->root_guid == SELF || i->root_guid == nic_root || i->root_guid == fm.kept.root ||
	       is_in_kept[i->guid] || is_in_kept[i->root_guid] ||
	       (uses_port(p) && fits_place(p, i)) || is_named_by_most(i->root_guid);
}

/* Return: true if a neighbour of the own fabric may get another root than @root. */
static bool may_get_root(uint64_t root)
{
	for (unsigned int p = 0; p < PORTS; p++)
		if (up[p] && peer[p].root != root && !peer[p].rootless &&
		    (uses_port(p) || is_in_kept[fm.row.port[p].peer_guid]))
			return true;
	return false;
}

static bool is_refused(unsigned int p, const struct fm_init *i)
{
	if (!belongs || fm.table.version || !i->placed || is_of_own_fabric(p, i) ||
	    (fm.have_root && fm.root_guid == i->root_guid))
		return false;
	return fm.now < until || may_get_root(i->root_guid);
}

/* --- events ------------------------------------------------------------------------------- */

static uint64_t some_root(struct rnd *r)
{
	return rnd_one_in(r, 5) ? 1 : 20 + rnd_below(r, 4);
}

static struct fm_init random_init(struct rnd *r, unsigned int p)
{
	struct fm_init i = { .placed = !rnd_one_in(r, 4), .settled = rnd_one_in(r, 2),
			     .guid = 10 + rnd_below(r, 8),
			     .root_guid = rnd_one_in(r, 12) ? SELF : some_root(r),
			     .ndims = (uint8_t)(3 + rnd_one_in(r, 6)) };
	struct torus_coords at = { { 0 } };

	torus_node_coords(&fm.shape, p < 6 ? torus_neighbour(&fm.shape, fm.node, p) : fm.node, &at);
	for (unsigned int d = 0; d < 3; d++) {
		i.size[d] = (uint16_t)(fm.shape.size[d] + rnd_one_in(r, 10));
		i.position[d] = at.c[d] + (int32_t)rnd_one_in(r, 10) +
				((int32_t)rnd_below(r, 3) - 1) * fm.shape.size[d];
	}
	return i;
}

static void init_comes(struct rnd *r)
{
	unsigned int p = rnd_below(r, PORTS);
	struct fm_init i = random_init(r, p);
	bool rootless = !i.placed;

	if (belongs && rootless && !peer[p].rootless) {
		until = fm.now + INSIST;
		over = false;
	}
	peer[p].rootless = rootless;
	if (!rootless) {
		peer[p].root = i.root_guid;
		peer[p].fits = fits_place(p, &i);
	}
	fm_home_note(&fm, p, &i);
	expect(r, fm_home_refuses(&fm, p, &i) == is_refused(p, &i), "port %u", p);
}

static void link_changes(struct rnd *r)
{
	unsigned int p = rnd_below(r, PORTS), was = asked;

	up[p] = !up[p];
	fm.row.port[p].peer_guid = 10 + rnd_below(r, 8);
	if (up[p])
		return;
	peer[p] = (struct peer) { .root = 0 };
	fm_home_down(&fm, p);
	expect(r, asked - was == (belongs && !fm.have_root), "port %u", p);
	up[p] = rnd_one_in(r, 2);
}

static void time_passes(struct rnd *r)
{
	unsigned int was = asked;
	bool ends;

	fm.now += rnd_one_in(r, 3) ? INSIST - rnd_below(r, 2) : rnd_below(r, 2);
	ends = !over && fm.now >= until;
	over |= ends;
	fm_home_due(&fm);
	expect(r, asked - was == (ends && !fm.have_root), "%d", ends);
}

static void node_changes(struct rnd *r)
{
	fm.have_root = rnd_one_in(r, 4);
	fm.root_guid = some_root(r);
	fm.table.version = rnd_one_in(r, 6);
}

/* Each sign of the own fabric is rare, so that most Inits have none or one. */
static void random_node(struct rnd *r)
{
	struct torus_shape shape;

	torus_shape_parse("2x3x2", &shape);
	fm = (struct fm) { .guid = SELF, .nports = PORTS, .now = SEC, .shape = shape, .ndims = 3,
			   .placed = !rnd_one_in(r, 5), .node = rnd_below(r, NODES) };
	fm.rows = rnd_one_in(r, 5) ? NULL : row;
	rows_epoch = rnd_one_in(r, 5) ? 0 : 3;
	fm.kept.book = rnd_one_in(r, 3) ? &book : NULL;
	fm.kept.root = rnd_one_in(r, 2) ? some_root(r) : 0;
	nic_root = rnd_one_in(r, 2) ? some_root(r) : 0;
	memset(is_in_kept, 0, sizeof(is_in_kept));
	if (rnd_one_in(r, 2))
		is_in_kept[10 + rnd_below(r, 8)] = true;
	if (rnd_one_in(r, 3))
		is_in_kept[some_root(r)] = true;
	for (unsigned int i = 0; i < NODES; i++) {
		row[i] = (rnd_one_in(r, 3) ? 0 : TORUS_ROW_VALID) |
			 (rnd_one_in(r, 4) ? TORUS_ROW_RELAY : 0) |
			 (uint64_t)rnd_below(r, 1u << PORTS) << TORUS_ROW_DIR_SHIFT;
	}
	for (unsigned int p = 0; p < PORTS; p++)
		up[p] = rnd_one_in(r, 2);
	memset(peer, 0, sizeof(peer));
	node_changes(r);
}

static void history(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	uint64_t home;

	random_node(&r);
	assert_true(fm_home_new(&fm));
	fm_home_begin(&fm);
	belongs = fm.kept.book || (fm.placed && fm.rows && rows_epoch);
	over = !belongs;
	until = fm.now + INSIST;
	for (unsigned int k = 0; k < 60; k++) {
		switch (rnd_below(&r, 8)) {
		case 0: link_changes(&r); break;
		case 1: time_passes(&r); break;
		case 2: node_changes(&r); break;
		default: init_comes(&r);
		}
		expect(&r, fm_home_expiry(&fm) == (over ? NEVER : until), "%d", over);
	}
	home = fm_home_root(&fm);
	expect(&r, home == (nic_root ? nic_root : fm.kept.root), "0x%x", (unsigned int)home);
	fm_home_free(&fm);
}

static void random_inits_are_refused_as_in_model(void **state)
{
	(void)state;
	for_seeds(2000, history);
}

static void lack_of_memory_is_reported(void **state)
{
	(void)state;
	memory_fails_at(1);
	assert_false(fm_home_new(&fm));
	assert_true(memory_failed());
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_inits_are_refused_as_in_model),
		cmocka_unit_test(lack_of_memory_is_reported),
	};

	return cmocka_run_group_tests_name("fm_own_fabric", all, NULL, NULL);
}
