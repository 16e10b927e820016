// SPDX-License-Identifier: GPL-2.0-only
/*
 * From tables to rows, by itself: random exclusions, pauses, failed writes, releases and moves to
 * other places. The rows are compared with those that a table asks for when they are made from
 * nothing. Stubs in this test stand for the functions of the manager that the file calls, and for
 * the NIC.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <torus/route.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/job_rows.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/table.h"

#define NODES 24
#define CALLS 64

static struct fm fm;
static struct fm_entry entry[NODES];
static uint16_t closed[NODES];
static uint32_t news[FM_NEWS_MAX];
static bool under_way, stands;

/** struct written - the last write; @n: of rows, CALLS if there was none */
static struct {
	uint64_t version;
	uint32_t node[NODES], n;
	uint64_t row[NODES];
	unsigned int writes, places, whole;
	struct torus_shape shape;
	struct torus_coords at;
	struct torus_plan plan;
	const uint16_t *closed;
} nic;

static struct resolved {
	unsigned int port;
	uint32_t session;
	int seq;
} resolved[CALLS];
static unsigned int n_resolved;

uint32_t fm_nic_begin(struct fm *f, enum fm_act act)
{
	(void)f;
	(void)act;
	assert_false(under_way);
	under_way = true;
	return 7;
}

bool fm_nic_idle(const struct fm *f)
{
	(void)f;
	return !under_way;
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	(void)f;
	(void)level;
	(void)kind;
	(void)fmt;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	(void)f;
	(void)fmt;
	assert_string_equal(kind, "table");
	assert_int_equal(key, 0);
	stands = true;
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	assert_string_equal(kind, "table");
	assert_int_equal(key, 0);
	stands = false;
}

/* No table of these tests has a job, so nothing asks whether one of its nodes is excluded as a whole. */
bool fm_is_out_of_service(const struct torus_shape *shape, uint16_t admin)
{
	(void)shape;
	(void)admin;
	fail_msg("a table without jobs asks whether a node is out of service");
	return false;
}

static void place_set(void *io, uint32_t tag, const struct torus_shape *shape,
		      const struct torus_coords *at, const struct torus_plan *plan)
{
	(void)io;
	assert_int_equal(tag, 7);
	nic.places++;
	nic.shape = *shape;
	nic.plan = *plan;
	nic.at = *at;
}

static void rows_write(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
		       const uint64_t *row, uint32_t n)
{
	(void)io;
	assert_int_equal(tag, 7);
	assert_true(n <= NODES);
	nic.writes++;
	nic.version = version;
	nic.n = n;
	memcpy(nic.node, node, n * sizeof(*node));
	memcpy(nic.row, row, n * sizeof(*row));
}

static void rows_apply(void *io, uint32_t tag, uint64_t version, const uint16_t *mask)
{
	(void)io;
	assert_int_equal(tag, 7);
	nic.whole++;
	nic.version = version;
	nic.closed = mask;
}

static void park_resolve(void *io, unsigned int port, uint32_t session, int seq)
{
	(void)io;
	resolved[n_resolved++] = (struct resolved) { port, session, seq };
}

/* --- the account ------------------------------------------------------------------------------ */

static uint64_t row[NODES];		/* rows in the NIC, as far as they are known */
/* version, doubtful version and epoch of these rows */
static uint64_t version, doubtful, epoch;
static uint32_t node;

static uint32_t nodes(void)
{
	return torus_nodes(&fm.table.shape);
}

/* Return: the row that the NIC must have for @to, made from the row of the table. */
static uint64_t due_row(uint32_t to, uint64_t asked)
{
	uint64_t adaptive = TORUS_ROW_ADAPTIVE | TORUS_ROW_DIR_MASK << TORUS_ROW_ADAPT_SHIFT;
	uint64_t had = row[to];
	bool other_way = (asked & ~adaptive) != (had & ~adaptive & ~TORUS_ROW_HOLD);

	if (!(asked & TORUS_ROW_VALID))
		return 0;
	if (to == node)
		return asked | (had & TORUS_ROW_HOLD);
	return fm.table.pause || other_way || had & TORUS_ROW_HOLD ? asked | TORUS_ROW_HOLD : asked;
}

static void check(struct rnd *r)
{
	uint32_t relayed = 0;

	for (uint32_t i = 0; i < nodes(); i++) {
		expect(r, fm.rows[i] == row[i], "row %u: %llx, not %llx", i,
		       (unsigned long long)fm.rows[i], (unsigned long long)row[i]);
		relayed += (row[i] & TORUS_ROW_RELAY) != 0;
	}
	expect(r, fm.relayed == relayed, "%u rows through relays", relayed);
	expect(r, fm_rows_version(&fm) == (doubtful ? doubtful : version), "version");
	expect(r, fm.applied == version && fm_rows_epoch(&fm) == epoch, "epoch");
	expect(r, fm_rows_in_force(&fm) == (fm.table.version && version == fm.table.version &&
					    epoch == fm.table.term), "in force");
	if (rnd_one_in(r, 10)) {
		fm.relayed = 99;
		fm_rows_taken(&fm);
		expect(r, fm.relayed == relayed, "%u rows through relays", relayed);
	}
}

/* Puts the table in force, and checks what is written, and the result. */
static void apply(struct rnd *r)
{
	struct torus_health *health;
	struct torus_routes *routes;
	unsigned int writes = nic.writes;
	bool in_force = fm_rows_in_force(&fm);
	uint32_t n = 0;

	assert_int_equal(torus_health_new(&fm.table.shape, closed, &health), 0);
	assert_int_equal(torus_routes_new(health, node, TORUS_ROUTES_RELAY, &routes), 0);
	expect(r, fm_rows_apply(&fm) == 0, "apply");
	for (uint32_t i = 0; i < nodes(); i++) {
		uint64_t due = due_row(i, torus_routes_rows(routes)[i]);

		if (due == row[i])
			continue;
		expect(r, nic.writes > writes && n < nic.n && nic.node[n] == i && nic.row[n] == due,
		       "row %u is not written", i);
		row[i] = due;
		n++;
	}
	torus_routes_free(routes);
	torus_health_free(health);
	expect(r, nic.writes - writes == (n || !in_force), "writes");
	if (nic.writes == writes) {
		expect(r, !stands, "the problem stands");
		return;
	}
	expect(r, nic.n == n && nic.version == fm.table.version, "%u rows of version %u", nic.n,
	       (unsigned int)nic.version);
	under_way = false;
	if (rnd_one_in(r, 4)) {
		fm_rows_written(&fm, -EIO);
		expect(r, stands, "no problem");
		doubtful = fm.table.version;
		for (uint32_t i = 0; i < n; i++)
			row[nic.node[i]] = nic.node[i] == node ? 0 : TORUS_ROW_HOLD;
	} else {
		fm_rows_written(&fm, 0);
		expect(r, !stands, "the problem stands");
		version = fm.table.version;
		epoch = fm.table.term;
		doubtful = 0;
	}
}

/* Excludes or includes a cable; the news of the table may name one end only, or be too many. */
static void exclude(struct rnd *r)
{
	uint32_t a = rnd_below(r, nodes()), b;
	unsigned int p = rnd_below(r, 2u * fm.table.shape.ndims);

	b = torus_neighbour(&fm.table.shape, a, p);
	if (a == b)
		return;
	closed[a] ^= (uint16_t)(1u << p);
	closed[b] ^= (uint16_t)(1u << torus_dir_opposite(&fm.table.shape, p));
	if (fm.table.nnews < 20)
		news[fm.table.nnews++] = rnd_one_in(r, 2) ? a : b;
	else
		fm.table.nnews = FM_NEWS_MAX + 1;
}

static void new_table(struct rnd *r)
{
	if (!rnd_one_in(r, 8))
		fm.table.version++;
	if (rnd_one_in(r, 5))
		fm.table.term++;
	fm.table.pause = rnd_one_in(r, 6);
	if (rnd_one_in(r, 20))
		fm.table.nnews = FM_NEWS_MAX + 1;
	if (rnd_one_in(r, 25)) {	/* all links of a node fail */
		uint32_t i = rnd_below(r, nodes());

		for (unsigned int p = 0; p < 2u * fm.table.shape.ndims; p++) {
			uint32_t o = torus_neighbour(&fm.table.shape, i, p);

			closed[i] |= (uint16_t)(1u << p);
			closed[o] |= (uint16_t)(1u << torus_dir_opposite(&fm.table.shape, p));
		}
		fm.table.nnews = FM_NEWS_MAX + 1;
	}
	for (unsigned int n = rnd_below(r, 4); n; n--)
		exclude(r);
}

/* Gives the node a place: another one, or the same. */
static void place(struct rnd *r, uint32_t at)
{
	unsigned int places = nic.places;
	struct torus_coords c;
	bool same = fm.placed && at == node;
	int err = rnd_one_in(r, 4) ? -EBUSY : 0;

	expect(r, fm_rows_place(&fm, &fm.table.shape, at) == 0, "place");
	expect(r, nic.places - places == !same, "places");
	if (same)
		return;
	torus_node_coords(&fm.table.shape, at, &c);
	expect(r, !memcmp(&nic.at, &c, sizeof(c)) &&
		  !memcmp(&nic.shape, &fm.table.shape, sizeof(nic.shape)), "place");
	under_way = false;
	fm_rows_placed(&fm, err);
	if (err)
		return;
	node = at;
	memset(row, 0, sizeof(row));
	version = doubtful = 0;
	expect(r, fm.placed && fm.node == node && fm.nrows == nodes() &&
		  !memcmp(&fm.coords, &c, sizeof(c)), "placed");
}

static void begin(struct rnd *r)
{
	static const char *const shapes[] = { "4x3", "3x2x2", "5x1", "4x6" };

	memset(&fm, 0, sizeof(fm));
	memset(&nic, 0, sizeof(nic));
	memset(closed, 0, sizeof(closed));
	memset(row, 0, sizeof(row));
	fm.ops.rows_write = rows_write;
	fm.ops.place_set = place_set;
	fm.ops.park_resolve = park_resolve;
	assert_int_equal(torus_shape_parse(shapes[rnd_below(r, 4)], &fm.table.shape), 0);
	fm.nports = 2u * fm.table.shape.ndims;
	fm.table.nodes = nodes();
	fm.table.closed = closed;
	fm.table.entry = entry;
	fm.table.news = news;
	under_way = stands = false;
	version = doubtful = 0;
	epoch = rnd_below(r, 3);
	assert_true(fm_job_rows_new(&fm) && fm_rows_new(&fm, epoch));
}

static void end(void)
{
	fm_rows_free(&fm);
	fm_job_rows_free(&fm);
}

static void live(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	memory_guard(seed <= 20);
	begin(&r);
	while (!fm.placed)
		place(&r, rnd_below(&r, nodes()));
	for (unsigned int k = 0; k < 60; k++) {
		if (rnd_one_in(&r, 5)) {
			fm_rows_released(&fm);
			for (uint32_t i = 0; i < nodes(); i++)
				row[i] &= ~TORUS_ROW_HOLD;
		} else if (rnd_one_in(&r, 12)) {
			place(&r, rnd_one_in(&r, 3) ? node : rnd_below(&r, nodes()));
		} else {
			if (!rnd_one_in(&r, 4))
				new_table(&r);
			apply(&r);
		}
		check(&r);
	}
	end();
	memory_guard(false);
}

static void random_histories_of_rows_equal_model(void **state)
{
	(void)state;
	memory_fails_at(1);
	assert_false(fm_rows_new(&fm, 0));
	memory_failed();
	for_seeds(200, live);
}

/*
 * Without memory nothing is written, and this is reported as a problem; the next time all rows that
 * differ are written.
 */
static void no_memory(struct rnd *r, unsigned int n)
{
	unsigned int writes = nic.writes;
	bool failed;
	int err;

	new_table(r);
	fm.table.version++;
	stands = false;
	memory_fails_at(n);
	err = fm_rows_apply(&fm);
	failed = memory_failed();
	expect(r, failed || !err, "error %d", err);
	if (err) {
		expect(r, err == -ENOMEM && stands, "error %d", err);
		expect(r, nic.writes == writes && !fm_rows_in_force(&fm), "writes");
	} else {	/* routes that cannot follow are made anew */
		under_way = false;
		if (nic.writes > writes)
			fm_rows_written(&fm, 0);
		version = fm.table.version;
		epoch = fm.table.term;
		doubtful = 0;
		for (uint32_t i = 0; i < nodes(); i++)
			row[i] = fm.rows[i];
	}
	check(r);
	apply(r);
	check(r);
}

static void place_without_memory_fails_and_is_tried_again(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 30; seed++) {
		struct rnd r = rnd_new(seed);
		struct torus_shape other;
		unsigned int places;

		begin(&r);
		places = nic.places;
		assert_int_equal(torus_shape_parse("2x2", &other), 0);
		memory_fails_at(1);
		assert_int_equal(fm_rows_place(&fm, &other, 0), -ENOMEM);
		memory_failed();
		assert_int_equal(nic.places, places);
		while (!fm.placed)
			place(&r, rnd_below(&r, nodes()));
		fm.table.version = 1;
		for (unsigned int n = 1; n < 30; n++)
			no_memory(&r, n);
		end();
	}
	assert_int_equal(memory_blocks(), 0);
}

/* A NIC that makes its rows itself is given the exclusions. */
static void nic_that_makes_rows_gets_exclusions(void **state)
{
	struct rnd r = rnd_new(3);

	(void)state;
	begin(&r);
	fm.ops.rows_write = NULL;
	fm.ops.rows_apply = rows_apply;
	while (!fm.placed)
		place(&r, 1);
	assert_null(fm.rows);
	fm.table.version = 4;
	fm.table.term = 9;
	assert_int_equal(fm_rows_apply(&fm), 0);
	assert_int_equal(nic.whole, 1);
	assert_int_equal(nic.version, 4);
	assert_ptr_equal(nic.closed, closed);
	under_way = false;
	fm_rows_written(&fm, 0);
	assert_true(fm_rows_in_force(&fm));
	fm_rows_released(&fm);
	end();
}

/* A shape of more dimensions than the NIC has ports for is refused. */
static void shape_with_more_dimensions_than_ports_is_refused(void **state)
{
	struct rnd r = rnd_new(1);

	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		begin(&r);
		fm.nports = 2u * fm.table.shape.ndims - 2 + k;
		assert_int_equal(fm_rows_place(&fm, &fm.table.shape, 0), k < 2 ? -EINVAL : 0);
		assert_int_equal(nic.places, k < 2 ? 0 : 1);
		if (k >= 2)
			fm_rows_placed(&fm, -EIO);
		end();
	}
}

/* --- parking ---------------------------------------------------------------------------------- */

static unsigned int next_resolved;

static void is_resolved(struct rnd *r, unsigned int p, uint32_t session, int seq)
{
	const struct resolved *x = &resolved[next_resolved];

	expect(r, next_resolved < n_resolved && x->port == p && x->session == session &&
		  x->seq == seq, "port %u, session %u, seq %d", p, session, seq);
	next_resolved++;
}

/* Resolves each link that is down: with what the other end received, if known, or without. */
static void resolve(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	bool orphans = rnd_one_in(&r, 2);
	uint16_t reopen = 0;

	begin(&r);
	fm.placed = !rnd_one_in(&r, 8);
	fm.node = rnd_below(&r, nodes());
	fm.table.version = rnd_below(&r, 8);
	for (uint32_t i = 0; i < nodes(); i++) {
		entry[i].state = (uint8_t)(rnd_one_in(&r, 3) ? FM_NODE_DEAD : FM_NODE_UP);
		entry[i].ended = (uint16_t)rnd_below(&r, 64);
		closed[i] = (uint16_t)rnd_below(&r, 64);
		for (unsigned int p = 0; p < 6; p++) {
			entry[i].session[p] = 1 + rnd_below(&r, 3);
			entry[i].seq[p] = (uint16_t)(rnd_one_in(&r, 3) ? FM_SEQ_GONE :
						     rnd_below(&r, 100));
		}
	}
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		fm.row.port[p] = (struct fm_port_row) {
			.state = (uint8_t)(rnd_one_in(&r, 2) ? FM_PORT_UP : FM_PORT_FAULTY),
			.closed = rnd_one_in(&r, 2), .session = rnd_below(&r, 3),
		};
	n_resolved = next_resolved = 0;
	fm_rows_resolve(&fm, orphans);
	for (unsigned int p = 0; p < 2u * fm.table.shape.ndims; p++) {
		const struct fm_port_row *own = &fm.row.port[p];
		unsigned int q = torus_dir_opposite(&fm.table.shape, p);
		const struct fm_entry *e =
			&entry[torus_neighbour(&fm.table.shape, fm.node, p)];

		if (own->state == FM_PORT_UP && own->closed && !(closed[fm.node] & 1u << p))
			reopen |= (uint16_t)(1u << p);
		if (own->state == FM_PORT_UP && !own->closed)
			continue;
		if (e->ended & 1u << q)
			is_resolved(&r, p, e->session[q],
				    e->seq[q] == FM_SEQ_GONE ? -1 : e->seq[q]);
		if (own->session && (orphans || e->state == FM_NODE_DEAD))
			is_resolved(&r, p, own->session, -1);
	}
	expect(&r, n_resolved == next_resolved, "%u, not %u", n_resolved, next_resolved);
	expect(&r, fm_rows_reopen(&fm) == (fm.placed && fm.table.version ? reopen : 0),
	       "opens others");
	end();
}

static void random_rows_wait_to_be_resolved_as_in_model(void **state)
{
	(void)state;
	for_seeds(400, resolve);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_histories_of_rows_equal_model),
		cmocka_unit_test(place_without_memory_fails_and_is_tried_again),
		cmocka_unit_test(nic_that_makes_rows_gets_exclusions),
		cmocka_unit_test(shape_with_more_dimensions_than_ports_is_refused),
		cmocka_unit_test(random_rows_wait_to_be_resolved_as_in_model),
	};

	return cmocka_run_group_tests_name("fm_rows", all, NULL, NULL);
}
