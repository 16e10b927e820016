// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes and coordinates from cables: random fabrics, whole, or with cables that are broken, crossed
 * or missing, are reported to a root that does not know their shape; and the reports of wrong
 * cables.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "stage.h"
#include "tests/unit/seeds.h"

#define NODES_MAX 400
#define WRONG ": leads to the wrong node"

/* --- a fabric --------------------------------------------------------------------------- */

static struct stage s;
static struct fm_row row[NODES_MAX];
static uint32_t nodes;

static void fabric(const char *shape)
{
	stage_init(&s, shape, 0);
	s.cfg.shape.ndims = 0;
	s.deaf = "init hello welcome row table step report place rows release ping lost ";
	nodes = torus_nodes(&s.shape);
	assert_true(nodes <= NODES_MAX);
	for (uint32_t i = 0; i < nodes; i++)
		row[i] = stage_row(&s, i);
}

static void random_fabric(struct rnd *r, unsigned int max)
{
	char text[64];
	unsigned int ndims = 1 + rnd_below(r, 3), n = 0;

	do {
		n = 0;
		for (unsigned int d = 0; d < ndims; d++)
			n += (unsigned int)sprintf(text + n, "%s%u", d ? "x" : "",
						   1 + rnd_below(r, d ? 5 : 8));
		fabric(text);
	} while (nodes > max || nodes < 2);
}

static struct fm_port_row *peer(uint32_t node, unsigned int p)
{
	const struct fm_port_row *x = &row[node].port[p];

	return &row[x->peer_guid - NIC].port[x->peer_port];
}

static bool cabled(uint32_t node, unsigned int p)
{
	return row[node].port[p].state == FM_PORT_UP;
}

static void cut(uint32_t node, unsigned int p)
{
	if (!cabled(node, p))
		return;
	peer(node, p)->state = FM_PORT_DOWN;
	row[node].port[p].state = FM_PORT_DOWN;
}

/* Exchanges the far ends of two cables. */
static void cross(uint32_t a, unsigned int p, uint32_t b, unsigned int q)
{
	struct fm_port_row far_a, far_b, was;

	if (!cabled(a, p) || !cabled(b, q) || peer(a, p) == &row[b].port[q] ||
	    (a == b && p == q))
		return;
	far_a = row[a].port[p];
	far_b = row[b].port[q];
	was = *peer(a, p);
	*peer(a, p) = *peer(b, q);
	*peer(b, q) = was;
	row[a].port[p] = far_b;
	row[b].port[q] = far_a;
}

/* The root reports its row, then all others, in random order. */
static void starts(struct rnd *r)
{
	uint32_t order[NODES_MAX];

	for (unsigned int p = 0; p < row[0].nports; p++)
		if (cabled(0, p)) {
			stage_link_up(&s, p, 1);
			s.link[p].peer_guid = row[0].port[p].peer_guid;
			s.link[p].peer_port = row[0].port[p].peer_port;
		}
	stage_start(&s);
	for (uint32_t i = 1; i < nodes; i++) {
		uint32_t k = r ? 1 + rnd_below(r, i) : i;

		order[i] = order[k];
		order[k] = i;
	}
	for (uint32_t i = 1; i < nodes; i++) {
		struct fm_msg m = stage_hello(&s, order[i]);

		m.hello.row = row[order[i]];
		stage_up(&s, (int)order[i]);
		stage_msg(&s, (int)order[i], &m);
	}
	stage_run(&s, 600);
}

static void shape_is(struct rnd *r, const struct torus_shape *shape)
{
	struct fm_status st;
	char want[TORUS_TEXT_MAX], got[TORUS_TEXT_MAX];

	fm_status(s.fm, &st);
	expect(r, st.version == 1, "no table");
	torus_shape_text(shape, want);
	torus_shape_text(&st.shape, got);
	expect(r, !strcmp(want, got), "shape %s, not %s", got, want);
}

/* Each node has its place, and no wrong cables are reported. */
static void all_placed(struct rnd *r)
{
	shape_is(r, &s.shape);
	for (uint32_t i = 0; i < nodes; i++)
		expect(r, fm_node(s.fm, i)->guid == NIC + i, "node %u is at %u", (unsigned int)
		       (fm_node(s.fm, i)->guid - NIC), i);
	expect(r, !stage_count(&s, "wiring"), "%s", s.text);
	expect(r, !stage_count(&s, "no place"), "%s", s.text);
}

/* --- cases ------------------------------------------------------------------------------ */

static void whole(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	random_fabric(&r, 100);
	starts(&r);
	all_placed(&r);
	stage_end(&s);
}

static void shape_of_whole_torus_is_found(void **state)
{
	(void)state;
	for_seeds(80, whole);
}

/* Return: true if the remaining cables join all nodes. */
static bool joined(void)
{
	bool seen[NODES_MAX] = { true };
	uint32_t queue[NODES_MAX] = { 0 }, n = 1;

	for (uint32_t head = 0; head < n; head++)
		for (unsigned int p = 0; p < row[0].nports; p++) {
			uint32_t to;

			if (!cabled(queue[head], p))
				continue;
			to = (uint32_t)(row[queue[head]].port[p].peer_guid - NIC);
			if (!seen[to])
				queue[n++] = to;
			seen[to] = true;
		}
	return n == nodes;
}

/* Return: true if in each dimension some line is whole. */
static bool lines_left(void)
{
	for (unsigned int d = 0; d < s.shape.ndims; d++) {
		bool some = s.shape.size[d] == 1;

		for (uint32_t i = 0; i < nodes && !some; i++) {
			uint32_t at = i;

			while (cabled(at, d)) {
				at = torus_neighbour(&s.shape, at, d);
				if (at == i)
					break;
			}
			some = at == i && cabled(i, d);
		}
		if (!some)
			return false;
	}
	return true;
}

/* Broken cables do not hide the shape, as long as one line of each dimension is whole. */
static void broken(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	random_fabric(&r, 100);
	for (uint32_t n = rnd_below(&r, nodes); n; n--)
		cut(rnd_below(&r, nodes), rnd_below(&r, row[0].nports));
	if (!joined() || !lines_left())
		return;
	starts(&r);
	all_placed(&r);
	stage_end(&s);
}

static void shape_of_torus_with_faults_is_found(void **state)
{
	(void)state;
	for_seeds(200, broken);
}

/*
 * Each line of a dimension is broken, but not all at one place: the lengths that the cables give
 * for the ring are multiples of its size.
 */
static void shape_is_found_though_each_line_is_broken(void **state)
{
	struct rnd r = rnd_new(0);

	(void)state;
	for (unsigned int k = 4; k < 8; k++) {
		char text[32];

		sprintf(text, "%ux4", k);
		fabric(text);
		for (uint32_t i = 0; i < nodes; i++) {
			struct torus_coords c;

			torus_node_coords(&s.shape, i, &c);
			if (c.c[0] == c.c[1] % k)
				cut(i, 0);
		}
		starts(&r);
		all_placed(&r);
		stage_end(&s);
	}
}

/* A dimension whose ends are not joined is a mesh, as long as its nodes. */
static void open_dimension_is_found_as_mesh(void **state)
{
	struct rnd r = rnd_new(0);

	(void)state;
	for (unsigned int open = 1; open < 8; open++) {
		fabric("4x3x5");
		s.deaf = "init hello welcome ";
		for (uint32_t i = 0; i < nodes; i++) {
			struct torus_coords c;

			torus_node_coords(&s.shape, i, &c);
			for (unsigned int d = 0; d < 3; d++)
				if (open & 1u << d && c.c[d] == s.shape.size[d] - 1)
					cut(i, d);
		}
		starts(&r);
		all_placed(&r);
		{
			char want[32];
			struct fm_status st;

			sprintf(want, "table 1 own term 4x3x5 open %u ", open);
			assert_true(stage_count(&s, want) > 0);
			/* Cables that never existed do not count. */
			fm_status(s.fm, &st);
			assert_int_equal(st.links, 180 - (open & 1 ? 15 : 0) -
					 (open & 2 ? 20 : 0) - (open & 4 ? 12 : 0));
			assert_int_equal(st.links_up, st.links);
		}
		stage_end(&s);
	}
	/* The root need not be at an end of the mesh. */
	fabric("7x1");
	s.deaf = "init hello welcome ";
	cut(3, 0);
	starts(&r);
	assert_true(stage_count(&s, "table 1 own term 7x1 open 1 ") > 0);
	shape_is(&r, &s.shape);
	for (uint32_t i = 0; i < nodes; i++)	/* coordinates below 0 go round */
		assert_int_equal(fm_node(s.fm, i)->guid, NIC + i);
	stage_end(&s);
}

/* A missing node leaves its place open. */
static void missing_node_leaves_its_place_open(void **state)
{
	struct rnd r = rnd_new(0);

	(void)state;
	fabric("4x3");
	for (unsigned int p = 0; p < 4; p++)
		cut(6, p);
	stage_start(&s);
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
	for (uint32_t i = 1; i < nodes; i++) {
		struct fm_msg m = stage_hello(&s, i);

		if (i == 6)
			continue;
		m.hello.row = row[i];
		stage_up(&s, (int)i);
		stage_msg(&s, (int)i, &m);
	}
	stage_run(&s, 600);
	shape_is(&r, &s.shape);
	for (uint32_t i = 0; i < nodes; i++)
		assert_int_equal(fm_node(s.fm, i)->guid, i == 6 ? 0 : NIC + i);
	stage_did_some(&s, "shape 4x3, 11 of 12 nodes\n");
	stage_end(&s);
}

/* --- wrong cables ----------------------------------------------------------------------- */

/* Return: how many neighbours of the node that is placed at @i imply that it is at @at. */
static int agree(const uint32_t *place, uint32_t i, uint32_t at)
{
	int n = 0;

	for (unsigned int p = 0; p < row[i].nports; p++) {
		unsigned int q = torus_dir_opposite(&s.shape, p);
		uint32_t j;

		if (!cabled(i, p) || row[i].port[p].peer_port != q ||
		    s.shape.size[p % s.shape.ndims] == 1)
			continue;
		j = (uint32_t)(row[i].port[p].peer_guid - NIC);
		if (j != i)
			n += torus_neighbour(&s.shape, place[j], q) == at;
	}
	return n;
}

/*
 * Checks where each node is placed: no two at one place, the root at 0, and no node that fits
 * better elsewhere, by itself or by changing places.
 */
static void fits(struct rnd *r)
{
	uint32_t place[NODES_MAX], there[NODES_MAX];
	bool some = false;

	memset(place, 0xff, sizeof(place));	/* TORUS_NO_NODE */
	for (uint32_t n = 0; n < nodes; n++) {
		const struct fm_entry *e = fm_node(s.fm, n);

		there[n] = TORUS_NO_NODE;
		if (e->state == FM_NODE_ABSENT)
			continue;
		there[n] = (uint32_t)(e->guid - NIC);
		expect(r, place[there[n]] == TORUS_NO_NODE, "node %u is at two", there[n]);
		place[there[n]] = n;
	}
	expect(r, place[0] == 0, "the root is at %u", place[0]);
	for (uint32_t i = 0; i < nodes; i++) {
		char reported[80];

		if (place[i] != TORUS_NO_NODE)
			continue;
		sprintf(reported, "log error place: node 'n%u' (", i);
		expect(r, stage_count(&s, reported) == 1, "node %u has no place, and is not told", i);
		some = true;
		/* No neighbour of an unplaced node implies a free place for it. */
		for (unsigned int p = 0; p < row[i].nports; p++) {
			unsigned int q = torus_dir_opposite(&s.shape, p);
			uint32_t j;

			if (!cabled(i, p) || row[i].port[p].peer_port != q ||
			    s.shape.size[p % s.shape.ndims] == 1)
				continue;
			j = (uint32_t)(row[i].port[p].peer_guid - NIC);
			if (j != i && place[j] != TORUS_NO_NODE)
				expect(r, there[torus_neighbour(&s.shape, place[j], q)] !=
				       TORUS_NO_NODE, "node %u could be at %u", i,
				       torus_neighbour(&s.shape, place[j], q));
		}
	}
	for (uint32_t i = 1; !some && i < nodes; i++)
		for (uint32_t n = 1; n < nodes; n++) {
			int gain = agree(place, i, n) - agree(place, i, place[i]);

			gain += agree(place, there[n], place[i]) - agree(place, there[n], n);
			expect(r, n == place[i] || !agree(place, i, n) || gain <= 0,
			       "node %u fits better at %u", i, n);
		}
}

static void crossed(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_status st;

	do
		random_fabric(&r, 80);
	while (nodes < 12);
	for (uint32_t n = 1 + rnd_below(&r, nodes / 3); n; n--) {
		unsigned int p = rnd_below(&r, row[0].nports);

		cross(rnd_below(&r, nodes), p, rnd_below(&r, nodes),
		      rnd_one_in(&r, 4) ? rnd_below(&r, row[0].nports) : p);
	}
	for (uint32_t n = rnd_below(&r, 4); n; n--)
		cut(rnd_below(&r, nodes), rnd_below(&r, row[0].nports));
	s.cfg.shape = s.shape;
	starts(&r);
	fm_status(s.fm, &st);
	expect(&r, st.version, "no table");
	fits(&r);
	stage_end(&s);
}

static void crossed_cables_leave_most_nodes_in_place(void **state)
{
	(void)state;
	crossed(170);	/* a node gains by a trade, and the other one loses more */
	crossed(419);	/* a place that becomes free is that of another node */
	for_seeds(300, crossed);
}

/* A node that reports a cable to the middle of a line takes nothing from that line's vote. */
static void cable_to_middle_of_line_takes_no_vote(void **state)
{
	(void)state;
	fabric("5x3");
	cross(12, 0, 14, 0);
	for (uint32_t i = 0; i < 2; i++)
		row[nodes++] = (struct fm_row) { .serial = 1, .nports = 4, .port = {
			{ .state = FM_PORT_UP, .peer_guid = NIC + 1 + 5 * i, .peer_port = 2 } } };
	starts(NULL);
	shape_is(&(struct rnd) { 0 }, &s.shape);
	stage_end(&s);
}

/*
 * One pair of cables is crossed: two wrong cables are reported, each with both ends, and no wrong
 * nodes.
 */
static void crossed_pair_is_reported_as_two_wrong_cables(void **state)
{
	struct rnd r = rnd_new(0);
	static const struct {
		uint32_t a, b;
		unsigned int p;
		const char *text[2];
	} t[] = {
		{ 5, 14, 0, {
		  "1,1:+x ('n5') is cabled to 3,3:-x ('n15'), expected 2,1:-x" WRONG,
		  "2,3:+x ('n14') is cabled to 2,1:-x ('n6'), expected 3,3:-x" WRONG } },
		{ 1, 11, 3, {
		  "3,1:+y ('n7') is cabled to 1,0:-y ('n1'), expected 3,2:-y" WRONG,
		  "1,3:+y ('n13') is cabled to 3,2:-y ('n11'), expected 1,0:-y" WRONG } },
	};

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		fabric("4x4");
		cross(t[k].a, t[k].p, t[k].b, t[k].p);
		starts(&r);
		shape_is(&r, &s.shape);
		for (uint32_t i = 0; i < nodes; i++)
			assert_int_equal(fm_node(s.fm, i)->guid, NIC + i);
		assert_int_equal(stage_count(&s, "log error wiring: "), 2);
		for (unsigned int i = 0; i < 2; i++)
			if (!stage_count(&s, t[k].text[i])) {
				fprintf(stderr, "%s not: %s\n", s.text, t[k].text[i]);
				fail();
			}
		/* Both ends of both cables are excluded. */
		{
			unsigned int ports = 0;

			for (uint32_t i = 0; i < nodes; i++)
				ports += (unsigned int)__builtin_popcount(fm_node(s.fm, i)->wiring);
			assert_int_equal(ports, 4);
			assert_string_equal(fm_excluded(s.fm, t[k].a, t[k].p), "wiring");
		}
		stage_end(&s);
	}
}

/* A port of @node changes; the next table shows it. */
static void now(uint32_t node, unsigned int p, struct fm_port_row is)
{
	struct fm_msg m = { .type = FM_MSG_ROW };

	row[node].port[p] = is;
	row[node].serial++;
	m.row = (struct fm_row_msg) { .guid = NIC + node, .epoch = 1, .row = row[node] };
	stage_forget(&s);
	stage_msg(&s, (int)node, &m);
	stage_run_ns(&s, s.now + 20 * MS);
}

/*
 * One pair of cables is crossed anywhere in a random shape: the wave prefers cables that close
 * squares, so no node is placed by the two wrong ones.
 */
static void one_pair(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	char text[32];
	unsigned int p;

	sprintf(text, "%ux%ux%u", 3 + rnd_below(&r, 4), 3 + rnd_below(&r, 3), 1 + rnd_below(&r, 3));
	fabric(text);
	p = rnd_below(&r, row[0].nports);
	cross(rnd_below(&r, nodes), p, rnd_below(&r, nodes), p);
	starts(&r);
	shape_is(&r, &s.shape);
	for (uint32_t i = 0; i < nodes; i++)
		expect(&r, fm_node(s.fm, i)->guid == NIC + i, "node %u", i);
	expect(&r, stage_count(&s, "log error wiring: ") <= 2, "%s", s.text);
	assert_null(strstr(s.text, "memory"));
	stage_end(&s);
}

static void crossed_pair_anywhere_misplaces_no_node(void **state)
{
	(void)state;
	for_seeds(480, one_pair);
}

/*
 * The root's own line is joined with another, so it implies a wrong size; the other lines outvote
 * it. Each other node keeps the place of the first table, whatever cables it reports later.
 */
static void other_lines_outvote_wrong_line_of_root(void **state)
{
	struct fm_port_row was;
	struct fm_msg m;

	(void)state;
	fabric("4x4");
	cross(0, 0, 5, 0);
	starts(NULL);
	shape_is(&(struct rnd) { 0 }, &s.shape);
	/* All cables of two nodes are exchanged, and a new node, without a place, joins. */
	for (unsigned int p = 0; p < 4; p++) {
		was = row[10].port[p];
		row[10].port[p] = row[15].port[p];
		row[15].port[p] = was;
		row[10].port[p].state = row[15].port[p].state = FM_PORT_UP;
	}
	for (uint32_t i = 10; i < 16; i += 5)
		for (unsigned int p = 0; p < 4; p++)
			*peer(i, p) = (struct fm_port_row) { .state = FM_PORT_UP,
				.peer_guid = NIC + i, .peer_port = (uint8_t)p };
	for (uint32_t i = 1; i < 16; i++) {
		m = (struct fm_msg) { .type = FM_MSG_ROW };
		row[i].serial++;
		m.row = (struct fm_row_msg) { .guid = NIC + i, .epoch = 1, .row = row[i] };
		stage_msg(&s, (int)i, &m);
	}
	m = stage_hello(&s, 15);
	m.hello.guid = NIC + 99;
	strcpy(m.hello.name, "n99");
	strcpy(m.hello.address, "30.0.0.99:1");
	for (unsigned int p = 0; p < 4; p++)
		m.hello.row.port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
	stage_up(&s, 99);
	stage_msg(&s, 99, &m);
	stage_run_ns(&s, s.now + 50 * MS);
	assert_true(fm_version(s.fm) > 1);
	for (uint32_t i = 0; i < nodes; i++)
		assert_int_equal(fm_node(s.fm, i)->guid, NIC + i);
	stage_end(&s);
}

/* Each fault that one cable can have, and the text for it. */
static void each_fault_of_cable_has_its_text(void **state)
{
	static const struct {
		struct fm_port_row is;
		const char *text;
	} t[] = {
		{ { .state = FM_PORT_UP, .peer_guid = NIC + 5, .peer_port = 1 },
		  "1,1:+x ('n5') is cabled to 1,1:+y ('n5'): a cable from a node to itself" },
		{ { .state = FM_PORT_UP, .peer_guid = 0xabc, .peer_port = 2, .problem = 1 },
		  "1,1:+x ('n5') is cabled to NIC 0000000000000abc:-x, expected 2,1:-x: leads to "
		  "another fabric" },
		{ { .state = FM_PORT_UP, .peer_guid = 0xabc, .peer_port = 2, .problem = 2 },
		  "1,1:+x ('n5') is cabled to NIC 0000000000000abc:-x, expected 2,1:-x: leads to "
		  "nodes that obey another root" },
		{ { .state = FM_PORT_UP, .peer_guid = 0xabc, .peer_port = 2, .problem = 3 },
		  "1,1:+x ('n5') is cabled to NIC 0000000000000abc:-x, expected 2,1:-x: leads to "
		  "a manager of another version" },
		{ { .state = FM_PORT_UP, .peer_guid = NIC + 6, .peer_port = 3 },
		  "1,1:+x ('n5') is cabled to 2,1:-y ('n6'), expected 2,1:-x: joins ports that are "
		  "not opposite" },
		{ { .state = FM_PORT_UP, .peer_guid = NIC + 6, .peer_port = 7 },
		  "1,1:+x ('n5') is cabled to 2,1:port 7 ('n6'), expected 2,1:-x: joins ports that "
		  "are not opposite" },
		{ { .state = FM_PORT_UP, .peer_guid = NIC + 9, .peer_port = 2 },
		  "1,1:+x ('n5') is cabled to 1,2:-x ('n9'), expected 2,1:-x" WRONG },
		{ { .state = FM_PORT_UP, .peer_guid = 0xabc, .peer_port = 2 },
		  "1,1:+x ('n5') is cabled to NIC 0000000000000abc:-x, expected 2,1:-x" WRONG },
	};
	struct rnd r = rnd_new(0);

	(void)state;
	for (unsigned int k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		char want[300];
		struct fm_port_row was;

		fabric("4x4");
		starts(&r);
		was = row[5].port[0];
		now(5, 0, t[k].is);
		sprintf(want, "log error wiring: %s\n", t[k].text);
		if (stage_count(&s, "log error wiring: ") != 1 || !stage_count(&s, want)) {
			fprintf(stderr, "%s not: %s\n", s.text, t[k].text);
			fail();
		}
		assert_int_equal(fm_node(s.fm, 5)->wiring, 1);
		assert_string_equal(fm_excluded(s.fm, 5, 0), "wiring");
		assert_string_equal(fm_excluded(s.fm, 6, 2), "wiring");
		now(5, 0, was);
		sprintf(want, "log info wiring: over: %s\n", t[k].text);
		assert_int_equal(stage_count(&s, want), 1);
		assert_int_equal(fm_node(s.fm, 5)->wiring, 0);
		assert_null(fm_excluded(s.fm, 5, 0));
		/* A port that leads nowhere, or of which nothing is known, is no wrong cable. */
		now(5, 0, (struct fm_port_row) { .state = FM_PORT_FAULTY, .peer_guid = 0xabc });
		assert_int_equal(stage_count(&s, "wiring"), 0);
		now(5, 0, (struct fm_port_row) { .state = FM_PORT_UP });
		assert_int_equal(stage_count(&s, "wiring"), 0);
		stage_end(&s);
	}
}

/* A cable in a dimension of size 1 is wrong. */
static void cable_in_dimension_of_size_1_is_wrong(void **state)
{
	struct rnd r = rnd_new(0);

	(void)state;
	fabric("4x1");
	s.cfg.shape = s.shape;
	starts(&r);
	now(2, 1, (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 3,
					 .peer_port = 3 });
	stage_did_some(&s, "log error wiring: 2,0:+y ('n2') is cabled to 3,0:-y ('n3'), expected "
			   "2,0:-y: in a dimension of size 1\n");
	stage_end(&s);
	/* A cable from a node to itself: both ends are one cable. */
	fabric("4x4");
	starts(&r);
	row[5].port[2] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 5 };
	now(5, 0, (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 5,
					 .peer_port = 2 });
	assert_int_equal(stage_count(&s, "log error wiring: "), 1);
	stage_did_some(&s, " is cabled to 1,1:-x ('n5'): a cable from a node to itself\n");
	assert_int_equal(fm_node(s.fm, 5)->wiring, 5);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(shape_of_whole_torus_is_found),
		cmocka_unit_test(shape_of_torus_with_faults_is_found),
		cmocka_unit_test(shape_is_found_though_each_line_is_broken),
		cmocka_unit_test(open_dimension_is_found_as_mesh),
		cmocka_unit_test(missing_node_leaves_its_place_open),
		cmocka_unit_test(crossed_cables_leave_most_nodes_in_place),
		cmocka_unit_test(cable_to_middle_of_line_takes_no_vote),
		cmocka_unit_test(crossed_pair_is_reported_as_two_wrong_cables),
		cmocka_unit_test(crossed_pair_anywhere_misplaces_no_node),
		cmocka_unit_test(other_lines_outvote_wrong_line_of_root),
		cmocka_unit_test(each_fault_of_cable_has_its_text),
		cmocka_unit_test(cable_in_dimension_of_size_1_is_wrong),
	};

	return cmocka_run_group_tests_name("fm_discover", all, NULL, NULL);
}
