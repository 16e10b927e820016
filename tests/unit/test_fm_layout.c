// SPDX-License-Identifier: GPL-2.0-only
/*
 * The places that the root gives to nodes, by themselves: random fabrics with cables that are down,
 * crossed or wrong, and with nodes that are placed, dead, early, or worked at a place before. A model
 * computes the votes of each node anew whenever one is placed.
 */
#include <stdio.h>
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

#define NODES	32
#define GUID	1000
#define NONE	(~0U)

/* How much a cable is trusted. */
enum { CROSSED, UNSURE, SURE };

static struct fm_root root;
static struct fm fm;
static struct fm_record record[NODES], before[NODES];
static uint32_t at[NODES], truth[NODES], index_of[NODES];	/* by node id, roster index, true node */
static uint32_t records, nodes;
static struct torus_shape shape;
static unsigned int ports;
static bool is_joined[NODES], no_memory;
static char lines[2 * NODES][300];
static unsigned int nlines;
static struct rnd *rnd;

/* The model of the run under way. @exact: the order of placing is checked */
static struct {
	bool exact, refines;
	enum { FIRST, KEEPS, AGAIN } turn;
	uint32_t kept;
	int least;
	unsigned int joined;
} model;

static void check_move(const struct fm_record *m, uint32_t node);

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

bool fm_record_joined(const struct fm_record *m)
{
	return m && is_joined[m - record];
}

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	(void)r;
	assert_true(node < nodes);
	return at[node] ? &record[at[node] - 1] : NULL;
}

void fm_record_move(struct fm *f, struct fm_record *m, uint32_t node)
{
	static struct fm_record *former;	/* the node that had this place, in the same step */

	(void)f;
	if (node != TORUS_NO_NODE) {
		if (former)
			former->node = node;
		check_move(m, node);
		if (former)
			former->node = TORUS_NO_NODE;
	}
	former = node == TORUS_NO_NODE ? m : NULL;
	root.unplaced += node == TORUS_NO_NODE;
	root.unplaced -= m->node == TORUS_NO_NODE;
	m->node = node;
	if (node != TORUS_NO_NODE)
		m->waits_since = 0;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	(void)f;
	(void)fmt;
	assert_int_equal(key, 1);
	assert_string_equal(kind, "memory");
	no_memory = true;
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	assert_int_equal(key, 1);
	assert_string_equal(kind, "memory");
	no_memory = false;
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_int_equal(level, FM_INFO);
	assert_string_equal(kind, "bootstrap");
	assert_true(nlines < 2 * NODES);
	va_start(args, fmt);
	vsnprintf(lines[nlines++], sizeof(lines[0]), fmt, args);
	va_end(args);
}

void fm_log_of(struct fm *f, uint32_t node, enum fm_level level, const char *kind,
	       const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_int_equal(level, FM_INFO);
	assert_string_equal(kind, "node");
	assert_true(node < NODES);
	assert_true(nlines < 2 * NODES);
	va_start(args, fmt);
	vsnprintf(lines[nlines++], sizeof(lines[0]), fmt, args);
	va_end(args);
}

unsigned int fm_opposite(unsigned int ndims, unsigned int port)
{
	return port < ndims ? port + ndims : port - ndims;
}

/* --- the model: votes --------------------------------------------------------------------- */

static struct fm_port_row *port_of(uint32_t i, unsigned int p)
{
	return &record[i].row.port[p];
}

static unsigned int back(unsigned int p)
{
	return (p + ports / 2) % ports;
}

static uint32_t peer(uint32_t i, unsigned int p)
{
	const struct fm_port_row *port = port_of(i, p);

	return p < record[i].row.nports && port->state == FM_PORT_UP && !port->problem &&
	       port->peer_port == back(p) && port->peer_guid != GUID + i &&
	       port->peer_guid >= GUID && port->peer_guid < GUID + records ?
	       (uint32_t)(port->peer_guid - GUID) : NONE;
}

/* Return: the length of the ring through port @p of @i; 0: it does not close. */
static uint32_t ring(uint32_t i, unsigned int p)
{
	uint32_t x = i, n = 0;

	do {
		x = peer(x, p % (ports / 2));
		if (++n > records)
			return 0;
	} while (x != NONE && x != i);
	return x == i ? n : 0;
}

static int trust(uint32_t i, unsigned int p)
{
	uint32_t length = ring(i, p);
	enum fm_square is = fm_corner_judge(&fm, &shape, &record[i], p);

	if (length == shape.size[p % (ports / 2)] || is == FM_SQUARE_CLOSED)
		return SURE;
	return length || is == FM_SQUARE_OPEN ? CROSSED : UNSURE;
}

static unsigned int coordinate(uint32_t node, unsigned int d)
{
	struct torus_coords c;

	torus_node_coords(&shape, node, &c);
	return c.c[d];
}

/* Finds the open dimensions whose last place is cabled to the first one, so that they are open elsewhere. */
static unsigned int joined_dimensions(void)
{
	unsigned int mask = 0;

	for (uint32_t i = 0; i < records; i++)
		for (unsigned int d = 0; d < shape.ndims && record[i].node != TORUS_NO_NODE; d++) {
			const struct fm_port_row *port = port_of(i, d);
			const struct fm_record *o = fm_record(&root, port->peer_guid);

			if (coordinate(record[i].node, d) == shape.size[d] - 1u &&
			    d < record[i].row.nports && o && port->peer_port == back(d) &&
			    o->node == torus_neighbour(&shape, record[i].node, d))
				mask |= 1u << d;
		}
	return mask;
}

static uint32_t implied(uint32_t i, unsigned int p)
{
	unsigned int d = p % shape.ndims, c;
	uint32_t j = peer(i, p);

	if (j == NONE || shape.size[d] == 1 || record[j].node == TORUS_NO_NODE)
		return TORUS_NO_NODE;
	c = coordinate(record[j].node, d);
	/* The neighbour is at the end of an open dimension, and this node is beyond it. */
	if (fm.table.version && root.open >> d & 1 && !(model.joined >> d & 1) &&
	    c == (p < shape.ndims ? 0 : shape.size[d] - 1u))
		return TORUS_NO_NODE;
	return torus_neighbour(&shape, record[j].node, back(p));
}

static int agreeing(uint32_t i, uint32_t node, int least)
{
	int n = 0;

	for (unsigned int p = 0; p < ports; p++)
		n += implied(i, p) == node && trust(i, p) >= least;
	return n;
}

static bool is_free(uint32_t node)
{
	return !at[node] || record[at[node] - 1].state == FM_NODE_DEAD;
}

static bool waits(uint32_t i)
{
	return record[i].node == TORUS_NO_NODE && record[i].state != FM_NODE_DEAD;
}

static int votes_of(uint32_t i, int least)
{
	int best = 0;

	for (unsigned int p = 0; p < ports && waits(i); p++) {
		uint32_t node = implied(i, p);
		int n = node != TORUS_NO_NODE && is_free(node) ? agreeing(i, node, least) : 0;

		best = n > best ? n : best;
	}
	return best;
}

static bool has_unplaced(uint32_t i)
{
	for (unsigned int p = 0; p < ports && p < record[i].row.nports; p++) {
		const struct fm_port_row *port = port_of(i, p);
		const struct fm_record *o = fm_record(&root, port->peer_guid);

		if (port->state == FM_PORT_UP && port->peer_guid && !port->problem &&
		    (!fm_record_joined(o) || o->node == TORUS_NO_NODE))
			return true;
	}
	return false;
}

static bool is_early(uint32_t i, int least, int votes)
{
	return votes == 1 && least < SURE && fm.table.version &&
	       record[i].worked_at == TORUS_NO_NODE &&
	       fm.now < record[i].waits_since + fm.cfg.quiet && has_unplaced(i);
}

/* Return: most votes that a node has which waits for a place, and not for its neighbours. */
static int most_votes(int least)
{
	int most = 0;

	for (uint32_t i = 0; i < records; i++) {
		int n = votes_of(i, least);

		if (n > most && !is_early(i, least, n))
			most = n;
	}
	return most;
}

/*
 * The next node that gets a place is one with the most votes, by the most trusted cables. When no votes
 * are left, nodes keep their places, which gives votes to others.
 */
static void check_move(const struct fm_record *m, uint32_t node)
{
	uint32_t i = (uint32_t)(m - record);
	int most = 0;

	if (m->node != TORUS_NO_NODE && !model.refines) {	/* to a better place: all votes are used up */
		at[m->node] = i + 1;
		expect(rnd, !model.exact || !most_votes(CROSSED), "%u at %u", i, m->node);
		at[m->node] = 0;
		model.refines = true;
	}
	if (!model.exact || model.refines)
		return;
	if (model.turn == KEEPS && i > model.kept && node == m->worked_at && !at[node]) {
		model.kept = i;
		return;
	}
	if (model.turn == KEEPS)
		model.turn = AGAIN;
	for (; model.least >= CROSSED; model.least--) {
		most = most_votes(model.least);
		if (most)
			break;
	}
	if (most) {
		expect(rnd, waits(i) && votes_of(i, model.least) == most &&
		       agreeing(i, node, model.least) == most, "%u at %u: %d votes, not %d by %d", i, node,
		       agreeing(i, node, model.least), most, model.least);
		return;
	}
	expect(rnd, model.turn == FIRST && waits(i) && node == m->worked_at && !at[node], "%u", i);
	model.turn = KEEPS;
	model.kept = i;
	model.least = SURE;
}

/* --- what must hold afterwards ------------------------------------------------------------ */

static void check_places(void)
{
	uint32_t unplaced = 0;

	for (uint32_t i = 0; i < records; i++) {
		const struct fm_record *m = &record[i], *was = &before[i];

		unplaced += m->node == TORUS_NO_NODE;
		if (m->node != TORUS_NO_NODE) {
			assert_false(m->early);
			assert_int_equal(at[m->node], i + 1);
			assert_true(m->fixed);
		}
		if (was->node != TORUS_NO_NODE && m->node != was->node)
			expect(rnd, was->state == FM_NODE_DEAD && m->node == TORUS_NO_NODE &&
			       (at[was->node] || model.refines), "%u", i);
		if (m->state == FM_NODE_DEAD)
			assert_true(m->node == was->node || m->node == TORUS_NO_NODE);
		if (!waits(i) || !model.exact)
			continue;
		expect(rnd, m->early == is_early(i, CROSSED, votes_of(i, CROSSED)) || model.refines ||
		       !votes_of(i, CROSSED), "%u: %u", i, m->early);
		if (m->early)
			continue;
		for (unsigned int p = 0; p < ports; p++)
			expect(rnd, implied(i, p) == TORUS_NO_NODE || !is_free(implied(i, p)) ||
			       is_early(i, CROSSED, 1), "%u could be at %u", i, implied(i, p));
	}
	assert_int_equal(root.unplaced, unplaced);
	for (uint32_t node = 0; node < nodes; node++)
		assert_true(!at[node] || record[at[node] - 1].node == node);
}

/* No node that was placed now would have more right cables elsewhere, or in another one's place. */
static void check_refined(void)
{
	for (uint32_t i = 0; i < records; i++)
		for (unsigned int p = 0; p < ports; p++) {
			uint32_t from = record[i].node, to = implied(i, p), j;
			int gain;

			if (from == TORUS_NO_NODE || before[i].fixed || to == TORUS_NO_NODE ||
			    to == from || (at[to] && before[at[to] - 1].fixed))
				continue;
			gain = agreeing(i, to, CROSSED) - agreeing(i, from, CROSSED);
			if (at[to]) {
				j = at[to] - 1;
				gain += agreeing(j, from, CROSSED) - agreeing(j, to, CROSSED);
			}
			expect(rnd, gain <= 0, "%u at %u gains %d at %u", i, from, gain, to);
		}
}

static void check_waits(void)
{
	uint64_t until = ~0ULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < records; i++) {
		const struct fm_record *m = &record[i], *was = &before[i];
		bool begins = was->node == TORUS_NO_NODE && was->state != FM_NODE_DEAD &&
			      is_joined[i] && !was->waits_since;

		expect(rnd, m->waits_since == (was->node == TORUS_NO_NODE && m->node != TORUS_NO_NODE ? 0 :
					       begins ? fm.now : was->waits_since), "%u", i);
		if (!m->early)
			continue;
		assert_true(waits(i) && fm.table.version && m->worked_at == TORUS_NO_NODE);
		assert_true(fm.now < m->waits_since + fm.cfg.quiet);
		n++;
		if (m->waits_since + fm.cfg.quiet < until)
			until = m->waits_since + fm.cfg.quiet;
	}
	assert_int_equal(root.early, n);
	assert_true(root.early_until == until);
}

static bool has_line(const char *text)
{
	for (unsigned int i = 0; i < nlines; i++)
		if (!strcmp(lines[i], text)) {
			lines[i][0] = '\0';
			return true;
		}
	return false;
}

/* A line for each node that replaces a dead one, and for each place that differs from the wave's. */
static void check_lines(void)
{
	char text[300], c[TORUS_TEXT_MAX];
	unsigned int n = 0;

	for (uint32_t i = 0; i < records; i++) {
		const struct fm_record *m = &record[i];
		bool known = false, same = true;

		if (before[i].node != TORUS_NO_NODE || m->node == TORUS_NO_NODE)
			continue;
		for (unsigned int d = 0; d < shape.ndims; d++) {
			known |= m->position[d] != 0;
			same &= (m->position[d] - (int)coordinate(m->node, d)) % shape.size[d] == 0;
		}
		if (same || !known)
			continue;
		n++;
		snprintf(text, sizeof(text), "node '%s' is at %s by its cables; by the Inits of its "
			 "neighbours it was at %d", m->name, torus_node_text(&shape, m->node, c),
			 (int)m->position[0]);
		for (unsigned int d = 1; d < shape.ndims; d++)
			sprintf(text + strlen(text), ",%d", (int)m->position[d]);
		expect(rnd, has_line(text), "%s", text);
	}
	for (uint32_t i = 0; i < records; i++) {
		const struct fm_record *by;

		if (before[i].node == TORUS_NO_NODE || record[i].node != TORUS_NO_NODE)
			continue;
		n++;
		if (!at[before[i].node])
			continue;	/* that one has moved again since */
		by = &record[at[before[i].node] - 1];
		snprintf(text, sizeof(text), "node %s ('%s') has another NIC: GUID %016llx, before %016llx",
			 torus_node_text(&shape, before[i].node, c), by->name,
			 (unsigned long long)by->guid, (unsigned long long)record[i].guid);
		expect(rnd, has_line(text) || model.refines, "%s", text);
	}
	expect(rnd, nlines == n || model.refines, "%u lines, not %u", nlines, n);
}

/* --- random fabrics ----------------------------------------------------------------------- */

/* The cable at @p of @i leads to port @q of @o. */
static void plug(uint32_t i, unsigned int p, uint32_t o, unsigned int q)
{
	*port_of(i, p) = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = GUID + o,
						.peer_port = (uint8_t)q };
	*port_of(o, q) = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = GUID + i,
						.peer_port = (uint8_t)p };
}

static uint32_t far_end(uint32_t i, unsigned int p)
{
	return index_of[torus_neighbour(&shape, truth[i], p)];
}

/* All nodes but the root, which is at 0, have no place yet. */
static void make_whole(const char *text)
{
	torus_shape_parse(text, &shape);
	records = nodes = torus_nodes(&shape);
	ports = 2u * shape.ndims;
	fm = (struct fm) { .root = &root, .ndims = shape.ndims, .now = 500, .cfg.quiet = 100 };
	fm.table.shape = shape;
	root = (struct fm_root) { .at = at, .unplaced = records - 1 };
	memset(at, 0, sizeof(at));
	for (uint32_t i = 0; i < records; i++) {
		uint32_t j = i ? 1 + rnd_below(rnd, i) : 0;

		truth[i] = truth[j];
		truth[j] = i;
	}
	for (uint32_t i = 0; i < records; i++) {
		index_of[truth[i]] = i;
		record[i] = (struct fm_record) { .guid = GUID + i, .node = TORUS_NO_NODE,
						 .worked_at = TORUS_NO_NODE, .state = FM_NODE_UP,
						 .row.nports = (uint8_t)(ports + 1) };
		snprintf(record[i].name, sizeof(record[i].name), "n%u", truth[i]);
		is_joined[i] = true;
	}
	for (uint32_t i = 0; i < records; i++)
		for (unsigned int p = 0; p < shape.ndims; p++)
			plug(i, p, far_end(i, p), back(p));
	/* The NIC has another port than the fabric uses. */
	for (uint32_t i = 0; i < records; i++)
		*port_of(i, ports) = (struct fm_port_row) { .state = FM_PORT_UP,
							    .peer_guid = GUID + NODES };
	record[0].node = 0;
	record[0].fixed = true;
	at[0] = 1;
}

static void place(uint32_t i, uint32_t node)
{
	root.unplaced -= record[i].node == TORUS_NO_NODE;
	record[i].node = node;
	record[i].fixed = true;
	at[node] = i + 1;
}

/* Exchanges the far ends of two cables of one dimension. */
static void cross(uint32_t i, uint32_t j, unsigned int p)
{
	uint32_t a = (uint32_t)(port_of(i, p)->peer_guid - GUID);
	uint32_t b = (uint32_t)(port_of(j, p)->peer_guid - GUID);

	plug(i, p, b, back(p));
	plug(j, p, a, back(p));
}

static void cut(uint32_t i, unsigned int p)
{
	const struct fm_port_row *port = port_of(i, p);
	struct fm_port_row *there = port_of((uint32_t)(port->peer_guid - GUID), port->peer_port);

	if (rnd_one_in(rnd, 4))
		port_of(i, p)->problem = there->problem = FM_PROBLEM_FABRIC;
	else if (rnd_one_in(rnd, 4))
		port_of(i, p)->peer_guid = there->peer_guid = 0;
	else
		port_of(i, p)->state = there->state = FM_PORT_FAULTY;
}

/* Opens all rings of a dimension, between its ends or elsewhere. */
static void open_dimension(unsigned int d)
{
	unsigned int where = rnd_one_in(rnd, 2) ? shape.size[d] - 1u : rnd_below(rnd, shape.size[d]);

	root.open |= (uint8_t)(1u << d);
	for (uint32_t i = 0; i < records; i++)
		if (coordinate(truth[i], d) == where) {
			uint32_t o = far_end(i, d);

			memset(port_of(i, d), 0, sizeof(*port_of(i, d)));
			memset(port_of(o, back(d)), 0, sizeof(*port_of(o, back(d))));
		}
}

/* A damage that only one end reports: then the order of placing is not exact. */
static void spoil_port(uint32_t i, unsigned int p)
{
	struct fm_port_row *port = port_of(i, p);

	model.exact = false;
	switch (rnd_below(rnd, 5)) {
	case 0:
		port->problem = FM_PROBLEM_FABRIC;
		break;
	case 1:
		port->peer_guid = rnd_one_in(rnd, 2) ? 0 : GUID + NODES;
		break;
	case 2:
		port->peer_guid = GUID + rnd_below(rnd, records);
		break;
	case 3:
		port->state = FM_PORT_FAULTY;
		break;
	default:
		record[i].row.nports = (uint8_t)p;
	}
}

static void make_node(uint32_t i)
{
	struct fm_record *m = &record[i];

	if (rnd_one_in(rnd, 3))
		for (unsigned int d = 0; d < shape.ndims; d++)
			m->position[d] = (int)coordinate(truth[i], d) + rnd_one_in(rnd, 20) +
					 ((int)rnd_below(rnd, 3) - 1) * shape.size[d];
	if (!i)
		return;
	if (rnd_one_in(rnd, 2))
		m->waits_since = fm.now - 98 - rnd_below(rnd, 4);
	is_joined[i] = !rnd_one_in(rnd, 6);
	m->early = rnd_one_in(rnd, 2);
	if (rnd_one_in(rnd, 8))
		m->worked_at = rnd_one_in(rnd, 2) ? truth[i] : rnd_below(rnd, nodes);
	if (rnd_one_in(rnd, 16))
		m->state = FM_NODE_DEAD;
}

static void damage(void)
{
	static const char *const shapes[] = { "4x3", "5", "3x3", "2x4", "1x4", "7", "2x2x2", "6x1", "4x4",
					      "3x3x3" };
	unsigned int placed;

	make_whole(shapes[rnd_below(rnd, rnd_one_in(rnd, 4) ? 10 : 8)]);
	fm.table.version = rnd_below(rnd, 4);
	for (unsigned int d = 0; d < shape.ndims; d++)
		if (rnd_one_in(rnd, 2) && shape.size[d] > 1)
			open_dimension(d);
	for (uint32_t i = 0; i < records; i++)
		make_node(i);
	placed = rnd_one_in(rnd, 3) ? 0 : rnd_below(rnd, 100);
	for (uint32_t i = 1; i < records; i++)
		if (rnd_below(rnd, 100) < placed)
			place(i, truth[i]);
	/* A dead node has the place of another one. */
	if (rnd_one_in(rnd, 3)) {
		uint32_t i = rnd_below(rnd, records), o = rnd_below(rnd, records);

		if (record[i].node == TORUS_NO_NODE && !at[truth[o]]) {
			record[i].state = FM_NODE_DEAD;
			place(i, truth[o]);
		}
	}
	for (unsigned int k = rnd_below(rnd, 4); k; k--) {
		uint32_t i = rnd_below(rnd, records), j = rnd_below(rnd, records);
		unsigned int p = rnd_below(rnd, shape.ndims);

		if (i != j && port_of(i, p)->state == FM_PORT_UP && port_of(j, p)->state == FM_PORT_UP)
			cross(i, j, p);
	}
	for (unsigned int k = rnd_below(rnd, 6); k; k--) {
		uint32_t i = rnd_below(rnd, records);
		unsigned int p = rnd_below(rnd, ports);

		if (peer(i, p) != NONE)
			cut(i, p);
	}
	for (unsigned int k = rnd_one_in(rnd, 2) ? rnd_below(rnd, 4) : 0; k; k--)
		spoil_port(rnd_below(rnd, records), rnd_below(rnd, ports));
}

static void begin_run(uint64_t seed)
{
	memcpy(before, record, sizeof(before));
	nlines = 0;
	no_memory = rnd_one_in(rnd, 2);
	root.early = 77;
	root.early_until = 3;
	model.refines = false;
	model.turn = FIRST;
	model.least = SURE;
	model.joined = joined_dimensions();
	memory_guard(seed % 16 == 1);
}

static void lay_out(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	size_t blocks = memory_blocks();
	bool all;

	rnd = &r;
	model.exact = true;
	damage();
	begin_run(seed);
	all = !root.unplaced;
	assert_true(fm_discover_place(&fm, &shape));
	assert_false(no_memory);
	if (!all) {
		check_places();
		check_waits();
		check_refined();
		check_lines();
	} else {
		assert_memory_equal(record, before, sizeof(record));
		assert_true(!root.early && root.early_until == ~0ULL && !nlines);
	}
	memory_guard(false);
	assert_int_equal(memory_blocks(), blocks);
}

static void nodes_are_placed_as_in_model(void **state)
{
	(void)state;
	for_seeds(3000, lay_out);
}

/* Crossed cables are wrong cables, and not wrong nodes. */
static void cross_once(uint64_t seed)
{
	static const char *const shapes[] = { "4x4", "3x3x3", "5x4", "4x6" };
	struct rnd r = rnd_new(seed);
	uint32_t i, j;
	unsigned int p;

	rnd = &r;
	make_whole(shapes[rnd_below(rnd, 4)]);
	i = rnd_below(rnd, records);
	j = rnd_below(rnd, records);
	p = rnd_below(rnd, ports);
	if (rnd_one_in(rnd, 4))
		cut(i, p);
	else if (i != j)
		cross(i, j, p);
	model.exact = true;
	begin_run(seed);
	assert_true(fm_discover_place(&fm, &shape));
	for (i = 0; i < records; i++)
		expect(rnd, record[i].node == truth[i], "%u at %u", truth[i], record[i].node);
}

static void two_crossed_cables_move_no_node(void **state)
{
	(void)state;
	for_seeds(100, cross_once);
}

/* No cable joins a node to the root, but its NIC works at a place: so its neighbours get places, too. */
static void neighbours_of_node_that_keeps_its_place_are_placed(void **state)
{
	struct rnd r = rnd_new(1);

	(void)state;
	rnd = &r;
	make_whole("5");
	cut(0, 0);
	cut(0, 1);
	record[index_of[2]].worked_at = 2;
	model.exact = true;
	begin_run(0);
	assert_true(fm_discover_place(&fm, &shape));
	for (uint32_t i = 0; i < records; i++)
		assert_int_equal(record[i].node, truth[i]);
}

static void lack_of_memory_is_reported_as_problem(void **state)
{
	struct rnd r = rnd_new(1);
	size_t blocks = memory_blocks();
	bool failed = true, placed;
	unsigned int k = 0;

	(void)state;
	rnd = &r;
	while (failed) {
		make_whole("4x6");
		model.exact = false;
		begin_run(0);
		memory_fails_at(++k);
		placed = fm_discover_place(&fm, &shape);
		failed = memory_failed();
		assert_int_equal(placed, !failed);
		assert_int_equal(no_memory, failed);
		assert_int_equal(memory_blocks(), blocks);
	}
	assert_true(k > 4);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(nodes_are_placed_as_in_model),
		cmocka_unit_test(two_crossed_cables_move_no_node),
		cmocka_unit_test(neighbours_of_node_that_keeps_its_place_are_placed),
		cmocka_unit_test(lack_of_memory_is_reported_as_problem),
	};

	return cmocka_run_group_tests_name("fm_layout", all, NULL, NULL);
}
