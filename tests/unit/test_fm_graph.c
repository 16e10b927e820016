// SPDX-License-Identifier: GPL-2.0-only
/*
 * The shape that the root finds, and what squares of cables show, by themselves: random fabrics with
 * cables that are down, crossed, reported with a problem, or missing in a row that is too short, are
 * compared with a model.
 */
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/root/corner.h"
#include "daemon/fm/root/discover.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

#define NODES	(TORUS_MAX_SIZE + 1)
#define GUID	1000
#define NONE	(~0U)

static struct fm_root root;
static struct fm fm = { .root = &root };
static struct fm_record record[NODES];
static uint32_t records;
static struct torus_shape truth;
static bool no_memory, no_shape;	/* problems that are present */

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return records;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < records);
	return &record[i];
}

uint32_t fm_record_number(const struct fm_root *r, const struct fm_record *m)
{
	(void)r;
	return (uint32_t)(m - record);
}

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	(void)r;
	return guid >= GUID && guid < GUID + records ? &record[guid - GUID] : NULL;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	(void)f;
	(void)fmt;
	assert_int_equal(key, 0);
	if (!strcmp(kind, "memory"))
		no_memory = true;
	else
		no_shape = true;
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	assert_int_equal(key, 0);
	assert_string_equal(kind, "bootstrap");
	no_shape = false;
}

unsigned int fm_opposite(unsigned int ndims, unsigned int port)
{
	return port < ndims ? port + ndims : port - ndims;
}

/* Only the search for places uses these. */
bool fm_record_joined(const struct fm_record *m)
{
	(void)m;
	fail();
	return false;
}

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	(void)r;
	(void)node;
	fail();
	return NULL;
}

void fm_record_move(struct fm *f, struct fm_record *m, uint32_t node)
{
	(void)f;
	(void)m;
	(void)node;
	fail();
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	(void)f;
	(void)level;
	(void)kind;
	(void)fmt;
	fail();
}

void fm_log_of(struct fm *f, uint32_t node, enum fm_level level, const char *kind,
	       const char *fmt, ...)
{
	(void)f;
	(void)node;
	(void)level;
	(void)kind;
	(void)fmt;
	fail();
}

/* --- random fabrics ----------------------------------------------------------------------- */

static struct fm_port_row *port_of(uint32_t i, unsigned int p)
{
	return &record[i].row.port[p];
}

/* The cable at @p of @i leads to port @q of @o. */
static void plug(uint32_t i, unsigned int p, uint32_t o, unsigned int q)
{
	*port_of(i, p) = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = GUID + o,
						.peer_port = (uint8_t)q };
}

static void take_shape(const char *text)
{
	torus_shape_parse(text, &truth);
	fm.ndims = truth.ndims;
	records = torus_nodes(&truth);
	for (uint32_t i = 0; i < records; i++) {
		record[i] = (struct fm_record) { .guid = GUID + i, .state = FM_NODE_UP,
						 .row.nports = (uint8_t)(2 * truth.ndims) };
		for (unsigned int p = 0; p < 2u * truth.ndims; p++)
			plug(i, p, torus_neighbour(&truth, i, p), torus_dir_opposite(&truth, p));
		/* The NIC has another port than the fabric uses. */
		record[i].row.nports++;
		plug(i, 2u * truth.ndims, torus_neighbour(&truth, i, 0), truth.ndims);
	}
}

static void spoil_port(struct rnd *r, uint32_t i, unsigned int p)
{
	struct fm_port_row *port = port_of(i, p);

	switch (rnd_below(r, 8)) {
	case 0:
	case 1:
		port->state = FM_PORT_FAULTY;
		break;
	case 2:
		port->problem = FM_PROBLEM_FABRIC;
		break;
	case 3:
		port->peer_port = (uint8_t)rnd_below(r, 2u * truth.ndims);
		break;
	case 4:
		port->peer_guid = rnd_one_in(r, 2) ? 0 : GUID + NODES;
		break;
	case 5:
		plug(i, p, i, torus_dir_opposite(&truth, p));
		break;
	case 6:
		plug(i, p, rnd_below(r, records), torus_dir_opposite(&truth, p));
		break;
	default:
		record[i].row.nports = (uint8_t)p;	/* what is there lies in memory */
	}
}

/* Opens all rings of a dimension: between their ends, or anywhere. */
static void open_dimension(struct rnd *r, unsigned int d)
{
	bool anywhere = rnd_one_in(r, 2);

	for (uint32_t i = 0; i < records; i++) {
		struct torus_coords at;

		torus_node_coords(&truth, i, &at);
		if (at.c[d])
			continue;
		at.c[d] = (uint16_t)(anywhere ? rnd_below(r, truth.size[d]) : truth.size[d] - 1u);
		port_of(torus_node_id(&truth, &at), d)->state = FM_PORT_FAULTY;
		at.c[d] = (uint16_t)((at.c[d] + 1) % truth.size[d]);
		port_of(torus_node_id(&truth, &at), d + truth.ndims)->state = FM_PORT_FAULTY;
	}
}

static void make_fabric(struct rnd *r)
{
	static const char *const shapes[] = { "4x3", "5", "3x3x3", "2x4", "1x4", "7", "2x2x3", "6x2" };

	take_shape(shapes[rnd_below(r, 8)]);
	for (unsigned int d = 0; d < truth.ndims; d++)
		if (rnd_one_in(r, 2))
			open_dimension(r, d);
	for (unsigned int k = rnd_below(r, 6); k; k--)
		spoil_port(r, rnd_below(r, records), rnd_below(r, 2u * truth.ndims));
	for (unsigned int k = rnd_below(r, 2); k; k--)
		record[rnd_below(r, records)].state = FM_NODE_DEAD;
}

/* --- the shape ---------------------------------------------------------------------------- */

static uint32_t peer(uint32_t i, unsigned int p)
{
	const struct fm_port_row *port = port_of(i, p);

	return p < record[i].row.nports && port->state == FM_PORT_UP && !port->problem &&
	       port->peer_port == fm_opposite(truth.ndims, p) && port->peer_guid != GUID + i &&
	       port->peer_guid >= GUID && port->peer_guid < GUID + records ?
	       (uint32_t)(port->peer_guid - GUID) : NONE;
}

/* Return: the length of the ring through @i in dimension @d; 0: it does not close. */
static uint32_t ring(uint32_t i, unsigned int d)
{
	uint32_t at = i, n = 0;

	do {
		at = peer(at, d);
		if (++n > records)
			return 0;
	} while (at != NONE && at != i);
	return at == i ? n : 0;
}

/* Return: the length of most rings; the shorter of equally many; 0: no ring closes. */
static uint32_t size_of_rings(unsigned int d)
{
	uint32_t best = 0, most = 0;

	for (uint32_t n = 1; n <= records; n++) {
		uint32_t on = 0;

		for (uint32_t i = 0; i < records; i++)
			on += ring(i, d) == n;
		if (on / n > most) {
			best = n;
			most = on / n;
		}
	}
	return best;
}

static int32_t pos[NODES][TORUS_MAX_DIMS];
static bool known[NODES];

/* Positions by breadth first search from the root. */
static void lay_out(void)
{
	uint32_t queue[NODES] = { 0 }, n = 1;

	memset(pos, 0, sizeof(pos));
	memset(known, 0, sizeof(known));
	known[0] = true;
	for (uint32_t k = 0; k < n; k++)
		for (unsigned int p = 0; p < 2u * truth.ndims; p++) {
			uint32_t i = queue[k], j = peer(i, p);

			if (j == NONE || known[j])
				continue;
			memcpy(pos[j], pos[i], sizeof(pos[j]));
			pos[j][p % truth.ndims] += p < truth.ndims ? 1 : -1;
			known[j] = true;
			queue[n++] = j;
		}
}

static uint32_t common(uint32_t a, uint32_t b)
{
	return b ? common(b, a % b) : a;
}

static uint32_t naive_size(unsigned int d, uint8_t *open)
{
	uint32_t size = size_of_rings(d);
	int32_t low = 0, high = 0;

	if (size)
		return size;
	lay_out();
	for (uint32_t i = 0; i < records; i++) {
		if (!known[i])
			continue;
		low = pos[i][d] < low ? pos[i][d] : low;
		high = pos[i][d] > high ? pos[i][d] : high;
		for (unsigned int p = 0; p < truth.ndims; p++) {
			uint32_t j = peer(i, p);

			if (j != NONE && known[j])
				size = common(size, (uint32_t)abs(pos[i][d] + (p == d) - pos[j][d]));
		}
	}
	if (size > 1)
		return size;
	size = (uint32_t)(high - low) + 1;
	*open |= (uint8_t)(size > 1 ? 1u << d : 0);
	return size;
}

static void discover(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct torus_shape found, want;
	size_t blocks = memory_blocks();
	uint8_t open = root.open = 0;

	make_fabric(&r);
	memory_guard(seed % 16 == 1);
	no_memory = false;
	no_shape = true;
	memset(&found, 0xee, sizeof(found));
	memset(&want, 0, sizeof(want));
	want.ndims = truth.ndims;
	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++)
		want.size[d] = (uint16_t)(d < truth.ndims ? naive_size(d, &open) : 1);
	assert_true(fm_discover_shape(&fm, &found));
	assert_true(!no_memory && !no_shape);
	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++)
		expect(&r, found.size[d] == want.size[d], "dimension %u: %u, not %u", d, found.size[d],
		       want.size[d]);
	assert_memory_equal(&found, &want, sizeof(want));
	expect(&r, root.open == open, "open %x, not %x", root.open, open);
	memory_guard(false);
	assert_int_equal(memory_blocks(), blocks);
}

static void shape_is_found_as_in_model(void **state)
{
	(void)state;
	for_seeds(3000, discover);
}

/* Makes a row of @n nodes on from the root in each of six dimensions. */
static void make_star(uint32_t n)
{
	truth = (struct torus_shape) { .ndims = 6, .size = { 2, 2, 2, 2, 2, 2 } };
	fm.ndims = 6;
	records = 6 * n + 1;
	assert_true(records <= NODES);
	for (uint32_t i = 0; i < records; i++)
		record[i] = (struct fm_record) { .guid = GUID + i, .row.nports = 12 };
	for (unsigned int d = 0; d < 6; d++)
		for (uint32_t k = 0; k < n; k++) {
			uint32_t to = 1 + d * n + k, from = k ? to - 1 : 0;

			plug(from, d, to, d + 6);
			plug(to, d + 6, from, d);
		}
}

/* The largest fabric has 16^6 nodes. */
static void shape_of_too_many_nodes_is_problem(void **state)
{
	struct torus_shape found;

	(void)state;
	make_star(15);
	no_shape = true;
	assert_true(fm_discover_shape(&fm, &found));
	assert_false(no_shape);
	assert_int_equal(torus_nodes(&found), TORUS_MAX_NODES);
	make_star(16);
	assert_false(fm_discover_shape(&fm, &found));
	assert_true(no_shape && !no_memory);
}

/* Makes a line of @n nodes in the first of two dimensions, or a ring. */
static void make_line(uint32_t n, bool is_ring)
{
	truth = (struct torus_shape) { .ndims = 2, .size = { 2, 2, 1, 1, 1, 1 } };
	fm.ndims = 2;
	records = n;
	assert_true(n <= NODES);
	for (uint32_t i = 0; i < n; i++)
		record[i] = (struct fm_record) { .guid = GUID + i, .row.nports = 4 };
	for (uint32_t i = 0; i < n; i++)
		if (i < n - 1 || is_ring) {
			plug(i, 0, (i + 1) % n, 2);
			plug((i + 1) % n, 2, i, 0);
		}
}

static void dimension_has_largest_size_or_is_problem(void **state)
{
	struct torus_shape found;

	(void)state;
	memory_guard(true);
	for (int is_ring = 0; is_ring < 2; is_ring++) {
		root.open = 0;
		make_line(TORUS_MAX_SIZE, is_ring);
		assert_true(fm_discover_shape(&fm, &found));
		assert_true(found.size[0] == TORUS_MAX_SIZE && found.size[1] == 1);
		assert_int_equal(root.open, !is_ring);
		make_line(TORUS_MAX_SIZE + 1, is_ring);
		no_shape = false;
		assert_false(fm_discover_shape(&fm, &found));
		assert_true(no_shape);
	}
	memory_guard(false);
}

static void shape_without_memory_is_problem(void **state)
{
	struct torus_shape found;
	size_t blocks = memory_blocks();
	unsigned int n = 0;
	bool failed;

	(void)state;
	take_shape("4x3");
	do {
		memory_fails_at(++n);
		no_memory = false;
		no_shape = false;
		fm_discover_shape(&fm, &found);
		failed = memory_failed();
		assert_int_equal(no_memory, failed && n <= 5);
		assert_false(no_shape);
		assert_int_equal(memory_blocks(), blocks);
	} while (failed);
	assert_int_equal(n, 8);		/* five arrays, and one for the rings of each dimension */
	assert_int_equal(found.size[0], 4);
}

/* --- squares ------------------------------------------------------------------------------ */

struct far {
	uint64_t guid;
	unsigned int port;
};

static struct far far_end(uint64_t guid, unsigned int p)
{
	const struct fm_record *m = fm_record(&root, guid);
	struct far none = { 0, 0 };

	if (!m || m->state == FM_NODE_DEAD || p >= m->row.nports || m->row.port[p].state != FM_PORT_UP)
		return none;
	return (struct far) { m->row.port[p].peer_guid, m->row.port[p].peer_port };
}

/* Return: the node at the other end, if the cable is straight. */
static uint64_t straight(uint64_t guid, unsigned int p)
{
	struct far e = far_end(guid, p);

	return e.guid != guid && e.port == fm_opposite(truth.ndims, p) ? e.guid : 0;
}

/*
 * The square at ports @p and @q. Each of its last two cables is known by the end at which a neighbour
 * of the node is; if one neighbour does not report it, by the end at the fourth corner.
 */
static enum fm_square naive_square(uint64_t guid, unsigned int p, unsigned int q)
{
	uint64_t a = straight(guid, p), b = straight(guid, q);
	unsigned int back_p = fm_opposite(truth.ndims, p), back_q = fm_opposite(truth.ndims, q);
	struct far from_a = far_end(a, q), from_b = far_end(b, p), other;
	bool closed;

	if (!a || !b || (!from_a.guid && !from_b.guid))
		return FM_SQUARE_NONE;
	if (from_a.guid && from_b.guid) {
		closed = from_a.guid == from_b.guid && from_a.port == back_q && from_b.port == back_p;
		return closed ? FM_SQUARE_CLOSED : FM_SQUARE_OPEN;
	}
	other = from_a.guid ? far_end(from_a.guid, back_p) : far_end(from_b.guid, back_q);
	if (!other.guid)
		return FM_SQUARE_NONE;
	if (from_a.guid)
		closed = from_a.port == back_q && other.guid == b && other.port == p;
	else
		closed = from_b.port == back_p && other.guid == a && other.port == q;
	return closed ? FM_SQUARE_CLOSED : FM_SQUARE_OPEN;
}

static void judge(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct torus_shape shape;

	make_fabric(&r);
	shape = truth;
	if (rnd_one_in(&r, 4))
		shape.size[rnd_below(&r, shape.ndims)] = 2;
	for (uint32_t i = 0; i < records; i++)
		for (unsigned int p = 0; p < 2 * fm.ndims; p++) {
			enum fm_square want = FM_SQUARE_NONE, is;

			for (unsigned int q = 0; q < 2 * fm.ndims; q++) {
				enum fm_square one = q % fm.ndims == p % fm.ndims ? FM_SQUARE_NONE :
						     naive_square(GUID + i, p, q);

				if (one == FM_SQUARE_CLOSED && shape.size[q % fm.ndims] == 2)
					one = FM_SQUARE_NONE;
				if (one == FM_SQUARE_CLOSED || want == FM_SQUARE_NONE)
					want = one;
			}
			is = fm_corner_judge(&fm, &shape, &record[i], p);
			expect(&r, is == want, "node %u, port %u: %d, not %d", i, p, is, want);
		}
}

static void squares_are_judged_as_in_model(void **state)
{
	(void)state;
	for_seeds(1200, judge);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(shape_is_found_as_in_model),
		cmocka_unit_test(shape_of_too_many_nodes_is_problem),
		cmocka_unit_test(dimension_has_largest_size_or_is_problem),
		cmocka_unit_test(shape_without_memory_is_problem),
		cmocka_unit_test(squares_are_judged_as_in_model),
	};

	return cmocka_run_group_tests_name("fm_graph", all, NULL, NULL);
}
