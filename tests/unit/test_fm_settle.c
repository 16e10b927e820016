// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a root makes its first table, and from what: gaps, nodes that are only heard of, a root that
 * restarts among nodes that remember, and a root that is alone.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "stage.h"
#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/root.h"

static struct stage s;

/* The root of a 4x4, with its links up; @known: it knows the shape. */
static void root(bool known)
{
	stage_init(&s, "4x4", 0);
	if (!known)
		s.cfg.shape.ndims = 0;
	s.deaf = "init ping pong report lost rows place release welcome ";
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
	stage_start(&s);
}

static void join(uint32_t node, void (*change)(struct fm_hello *h))
{
	struct fm_msg m = stage_hello(&s, node);

	if (change)
		change(&m.hello);
	stage_up(&s, 100 + (int)node);
	stage_msg(&s, 100 + (int)node, &m);
}

/* The table comes @ms from now, neither sooner nor later. */
static void settles(uint64_t ms)
{
	stage_run_ns(&s, s.now + ms * MS - (ms != 0));
	if (ms)
		assert_int_equal(fm_version(s.fm), 0);
	stage_run_ns(&s, s.now + (ms != 0));
	assert_int_not_equal(fm_version(s.fm), 0);
}

/* The same, once the root that begins anew leads. */
static void settles_then(uint64_t ms)
{
	if (ms) {
		stage_run_ns(&s, s.now + ms * MS - 1);
		assert_int_equal(fm_version(s.fm), 0);
	}
	stage_run_ns(&s, s.now + 5 * MS);
	assert_int_not_equal(fm_version(s.fm), 0);
}

/* --- when ------------------------------------------------------------------------------- */

static void test_whole(void **state)
{
	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		root(known);
		stage_run(&s, 50);
		for (uint32_t i = 1; i < 16; i++) {
			assert_int_equal(fm_version(s.fm), 0);
			join(i, NULL);
		}
		settles(0);
		stage_did_some(&s, "log info bootstrap: shape 4x4, 16 of 16 nodes\n");
		stage_end(&s);
	}
}

/* The links of a node that is missing are waited for, since the last news. */
static void test_heard_of(void **state)
{
	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		root(known);
		for (uint32_t i = 1; i < 15; i++) {
			stage_run(&s, 100 * i);
			join(i, NULL);
		}
		fm_timer(s.fm, START + s.now);	/* too early: it changes nothing */
		settles(3000);
		stage_did_some(&s, "log info bootstrap: shape 4x4, 15 of 16 nodes\n");
		stage_end(&s);
	}
}

static void no_11(struct fm_hello *h)
{
	for (unsigned int p = 0; p < 4; p++)
		if (h->row.port[p].peer_guid == NIC + 11)
			h->row.port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
}

static void stranger_11(struct fm_hello *h)
{
	for (unsigned int p = 0; p < 4; p++)
		if (h->row.port[p].peer_guid == NIC + 11)
			h->row.port[p].problem = FM_PROBLEM_FABRIC;
}

static void nameless_11(struct fm_hello *h)
{
	for (unsigned int p = 0; p < 4; p++)
		if (h->row.port[p].peer_guid == NIC + 11)
			h->row.port[p].peer_guid = 0;
}

static void port_down(struct fm_hello *h)
{
	if (h->guid == NIC + 5)
		h->row.port[0].state = FM_PORT_DOWN;
	if (h->guid == NIC + 6)
		h->row.port[2].state = FM_PORT_DOWN;
}

/* A known gap is waited for until there is no news for half a second. */
static void test_gaps(void **state)
{
	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		root(known);
		for (uint32_t i = 1; i < 16; i++)
			if (i != 11)
				join(i, no_11);
		settles(500);
		stage_end(&s);
		root(known);	/* who comes back is news */
		for (uint32_t i = 1; i < 16; i++)
			if (i != 11)
				join(i, no_11);
		stage_run(&s, 400);
		stage_down(&s, 102);
		join(2, no_11);
		settles(500);
		stage_end(&s);
		/* Messages without news do not delay the table; a row does. */
		root(known);
		for (uint32_t i = 1; i < 16; i++)
			if (i != 11)
				join(i, no_11);
		stage_run(&s, 400);
		stage_say(&s, 101, FM_MSG_PING);
		stage_run(&s, 450);
		struct fm_msg m = { .type = FM_MSG_ROW };

		m.row = (struct fm_row_msg) { .guid = NIC + 2, .epoch = 1,
					      .row = stage_row(&s, 2) };
		m.row.row.serial = 2;
		m.row.row.port[0].closed = true;
		stage_msg(&s, 102, &m);
		settles(500);
		stage_end(&s);
		/* All nodes are there, but not all cables: that is enough if the shape is known. */
		root(known);
		for (uint32_t i = 1; i < 16; i++)
			join(i, port_down);
		settles(known ? 0 : 500);
		stage_end(&s);
		/* Cables to another fabric, or to an unknown node, are not waited for. */
		root(known);
		for (uint32_t i = 1; i < 16; i++)
			if (i != 11)
				join(i, stranger_11);
		settles(known ? 500 : 0);
		stage_end(&s);
		root(known);
		for (uint32_t i = 1; i < 16; i++)
			if (i != 11)
				join(i, nameless_11);
		settles(known ? 500 : 0);
		stage_end(&s);
	}
}

/* A row that changes, from the first node that joined. */
static void row_changes(uint32_t serial)
{
	struct fm_msg m = { .type = FM_MSG_ROW };

	m.row = (struct fm_row_msg) { .guid = NIC + 1, .epoch = 1, .row = stage_row(&s, 1) };
	m.row.row.serial = serial;
	m.row.row.port[0].closed = serial % 2;
	stage_msg(&s, 101, &m);
}

/* Return: the ms until the table comes, while @news comes each 400 ms. */
static uint64_t with_news(void (*news)(uint32_t k))
{
	uint64_t began = s.now;

	for (uint32_t k = 0; k < 1000 && !fm_version(s.fm); k++) {
		if (k)
			stage_run_ns(&s, s.now + 400 * MS);
		if (!fm_version(s.fm))
			news(k);
	}
	assert_int_not_equal(fm_version(s.fm), 0);
	return (s.now - began) / MS;
}

/* NIC number 11 without its cables, and with another GUID each time. */
static void new_guid(uint32_t k)
{
	struct fm_msg m = stage_hello(&s, 11);

	m.hello.guid = NIC + 100 + k % 10;
	snprintf(m.hello.name, sizeof(m.hello.name), "new%u", k);
	m.hello.epoch = 1 + k;
	m.hello.row.serial = 1 + k;
	m.hello.row.nports = 4;
	for (unsigned int p = 0; p < 4; p++)
		m.hello.row.port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
	if (k > 20)
		m.hello.guid += k << 8;
	stage_up(&s, 200 + (int)k);
	stage_msg(&s, 200 + (int)k, &m);
}

static void same_again(uint32_t k)
{
	struct fm_msg m = stage_hello(&s, 2);

	m.hello.epoch = 2 + k;
	m.hello.row.serial = 2 + k;
	m.hello.row.port[0].closed = k % 2;
	m.hello.attach = 2 + k;
	stage_down(&s, k ? 199 + (int)k : 102);
	stage_up(&s, 200 + (int)k);
	stage_msg(&s, 200 + (int)k, &m);
}

static void row_again(uint32_t k)
{
	row_changes(2 + k);
}

/*
 * What comes again and again cannot put the table off for ever: rows, a node that restarts, NICs that
 * have another GUID each time. Each would be waited for once, for half a second.
 */
static void test_restless(void **state)
{
	static const struct {
		void (*news)(uint32_t k);
		uint64_t ms;
	} t[] = { { row_again, 9000 }, { same_again, 9000 }, { new_guid, 60000 } };

	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		uint64_t ms;

		root(false);
		for (uint32_t i = 1; i < 16; i++)
			if (i != 11)
				join(i, no_11);
		ms = with_news(t[k].news);
		assert_in_range(ms, t[k].ms, t[k].ms + 1000);
		stage_end(&s);
	}
}

/* However late the first node comes, the others have their time. */
static void test_late_first(void **state)
{
	(void)state;
	root(false);
	for (unsigned int i = 1; i <= 5; i++)
		stage_run(&s, 100000 * i);
	for (uint32_t i = 1; i < 15; i++) {
		stage_run(&s, 500000 + 400 * i);
		join(i, NULL);
		fm_timer(s.fm, START + s.now);	/* it is not alone any more, and says so */
	}
	settles(3000);
	stage_end(&s);
}

/* --- alone ------------------------------------------------------------------------------ */

/* A root with cables that knows no shape waits for a neighbour, and logs it after 30 s. */
static void test_alone(void **state)
{
	(void)state;
	root(false);
	stage_run_ns(&s, 30000 * MS - 1);
	stage_did_nothing(&s);
	stage_run(&s, 40000);
	stage_did(&s, "at 30000 ms\nlog error bootstrap: no other node joined for 30 s: do "
		      "neighbours run, with links that are up? shape = auto finds nothing without "
		      "them\n");
	assert_int_equal(fm_version(s.fm), 0);
	join(1, NULL);
	fm_timer(s.fm, START + s.now);
	stage_did_some(&s, "log info bootstrap: over: no other node joined for 30 s");
	stage_end(&s);
	/* A root that knows the shape is not alone. */
	root(true);
	settles(3000);
	stage_end(&s);
	/* Nor is one without any cables. */
	stage_init(&s, "4x4", 0);
	s.cfg.shape.ndims = 0;
	stage_start(&s);
	settles(500);
	stage_end(&s);
	/* But a root whose links are not up is, also if its ports have no lower devices. */
	for (unsigned int i = 0; i < 3; i++) {
		stage_init(&s, "4x4", 0);
		s.cfg.shape.ndims = 0;
		strcpy(s.link[2].lower, i ? "" : "eth0");
		s.link[2].carrier = i == 1;
		s.link[2].state = i == 2 ? TORUS_LINK_FAULTY : TORUS_LINK_DOWN;
		stage_start(&s);
		stage_run(&s, 29999);
		assert_null(fm_problem(s.fm, 0));
		stage_run(&s, 30000);
		assert_non_null(fm_problem(s.fm, 0));
		assert_string_equal(fm_problem(s.fm, 0)->kind, "bootstrap");
		stage_end(&s);
	}
}

/* --- starting anew ---------------------------------------------------------------------- */

/* The NIC of the root has a place, and the rows of version @version. */
static void restart(bool known, const char *shape, uint32_t node, uint64_t version)
{
	stage_init(&s, "4x4", 0);
	if (!known)
		s.cfg.shape.ndims = 0;
	s.deaf = "init ping pong report lost rows place release welcome ";
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
	s.dev.placed = true;
	assert_int_equal(torus_shape_parse(shape, &s.dev.shape), 0);
	s.dev.node = node;
	torus_node_coords(&s.dev.shape, node, &s.dev.coords);
	s.dev.version = version;
	stage_start(&s);
}

static void placed(struct fm_hello *h)
{
	h->placed = true;
	h->shape = s.shape;
	torus_node_coords(&s.shape, (uint32_t)(h->guid - NIC), &h->coords);
	h->version = 6;
}

/* The shape stays; nodes that join keep their places; the root waits twice as long. */
static void test_restart(void **state)
{
	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		restart(known, "4x4", 0, 6);
		for (uint32_t i = 1; i < 16; i++)
			join(i, placed);
		settles_then(0);
		assert_int_equal(stage_count(&s, "log info bootstrap: shape 4x4, 16 of 16 "
			"nodes\n"), 1);
		assert_int_equal(stage_count(&s, "log info table: version 7: root restarted\n"), 1);
		for (uint32_t i = 0; i < 16; i++)
			assert_int_equal(fm_node(s.fm, i)->guid, NIC + i);
		stage_end(&s);
		/* A node that does not join, and whose links are up, is silent. */
		restart(known, "4x4", 0, 6);
		for (uint32_t i = 1; i < 15; i++)
			join(i, placed);
		settles_then(6000);
		assert_int_equal(fm_node(s.fm, 15)->state, FM_NODE_SILENT);
		assert_int_equal(fm_node(s.fm, 15)->guid, NIC + 15);
		assert_int_equal(fm_node(s.fm, 15)->fault, 0);
		assert_int_equal(fm_exclusions(s.fm)[14], 0);
		stage_end(&s);
	}
}

static uint64_t nics;	/* fingerprint of those of whom the former root knew how many were lost */

static void lost_seven(struct fm_hello *h)
{
	placed(h);
	h->base = (struct fm_base) { .version = 6, .known = 0x1f, .set = nics, .missing = { 0, 7 } };
}

/* What was lost under the former root is known still, if all NICs are the same. */
static void test_restart_base(void **state)
{
	(void)state;
	for (uint32_t without = 0; without < 17; without++) {
		nics = 0;
		for (uint32_t i = 0; i < 16; i++)
			nics += i == without ? 0 : fm_fingerprint(NIC + i, 1);
		restart(true, "4x4", 0, 6);
		for (uint32_t i = 1; i < 16; i++)
			join(i, lost_seven);
		settles_then(0);
		assert_int_equal(s.fm->root->base.missing[1], without == 16 ? 7 : 0);
		stage_end(&s);
	}
}

static void spare_port(struct fm_hello *h)
{
	placed(h);
	if (h->guid != NIC + 5)
		return;
	h->row.nports = 6;
	h->row.port[4] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 50,
						.peer_port = 2 };
}

static void other_end(struct fm_hello *h)
{
	placed(h);
	if (h->guid == NIC + 6)
		h->row.port[2].peer_guid = NIC + 9;
}

/* Nobody is behind ports that the fabric does not use, and each end is told as it says itself. */
static void test_restart_cables(void **state)
{
	static const char *const text[] = {
		"log info bootstrap: shape 4x4, 16 of 16 nodes\n",
		"log error wiring: 2,1:-x ('n6') is cabled to 1,2:+x ('n9'), expected 1,1:+x: leads",
	};

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		restart(true, "4x4", 0, 6);
		for (uint32_t i = 1; i < 16; i++)
			join(i, k ? other_end : spare_port);
		settles_then(0);
		assert_int_equal(stage_count(&s, text[k]), 1);
		stage_end(&s);
	}
}

/* If the NIC had another shape or place, nothing is kept. */
static void test_other_place(void **state)
{
	static const char text[] = "log warning bootstrap: the NIC was placed at another shape: "
				   "placed anew\n";

	(void)state;
	restart(true, "4x3", 0, 6);
	stage_did_some(&s, text);
	for (uint32_t i = 1; i < 16; i++)
		join(i, NULL);
	settles_then(0);
	/* Its versions continue, because packets may be in the network. */
	assert_int_equal(stage_count(&s, "version 7: root restarted\n"), 1);
	stage_end(&s);
	/* The root may be at any place. */
	restart(true, "4x4", 1, 6);
	stage_did_nothing(&s);
	stage_end(&s);
	restart(false, "4x4", 1, 6);
	stage_did_nothing(&s);
	stage_end(&s);
	/* The shape is to be discovered: the former one is kept, unless the root was alone. */
	restart(false, "4x3", 0, 6);
	stage_did_nothing(&s);
	stage_end(&s);
	restart(false, "1x1", 0, 6);
	stage_did_some(&s, text);
	stage_end(&s);
	stage_init(&s, "1x1", 0);
	s.cfg.shape.ndims = 0;
	s.dev.placed = true;
	s.dev.shape = s.shape;
	stage_start(&s);
	stage_did_nothing(&s);
	stage_end(&s);
	/* A new NIC logs nothing of that. */
	root(true);
	stage_did_nothing(&s);
	stage_end(&s);
}

static void two_at_5(struct fm_hello *h)
{
	placed(h);
	if (h->guid == NIC + 6)
		torus_node_coords(&s.shape, 5, &h->coords);
}

static void of_5x4(struct fm_hello *h)
{
	placed(h);
	if (h->guid == NIC + 6)
		h->shape.size[0] = 5;
}

/* Two nodes claim one place: one of them gets it; the other is placed by its cables. */
static void test_places(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		restart(true, "4x4", 0, 6);
		for (uint32_t i = 1; i < 16; i++)
			join(i, k ? two_at_5 : of_5x4);
		settles_then(0);
		for (uint32_t i = 0; i < 16; i++)
			assert_int_equal(fm_node(s.fm, i)->guid, NIC + i);
		stage_end(&s);
	}
}

/* Versions continue from the highest that any node has, without colours that are in use. */
static void test_versions(void **state)
{
	static const struct {
		uint64_t root, one, rest, next;
	} t[] = {
		{ 6, 6, 6, 7 }, { 6, 9, 6, 11 }, { 6, 2, 6, 7 }, { 6, 3, 6, 8 }, { 7, 8, 6, 9 },
		{ 5, 7, 6, 8 }, { 4, 5, 3, 6 }, { 6, 9, 8, 11 }, { 5, 0, 7, 8 },
	};

	(void)state;
	for (unsigned int k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		restart(true, "4x4", 0, t[k].root);
		for (uint32_t i = 1; i < 16; i++) {
			struct fm_msg m = stage_hello(&s, i);

			placed(&m.hello);
			m.hello.version = i == 7 ? t[k].one : t[k].rest;
			stage_up(&s, 100 + (int)i);
			stage_msg(&s, 100 + (int)i, &m);
		}
		settles_then(0);
		if (fm_version(s.fm) != t[k].next)
			fprintf(stderr, "case %u: %llu\n", k, (unsigned long long)fm_version(s.fm));
		assert_int_equal(fm_version(s.fm), t[k].next);
		stage_end(&s);
	}
}

/**
 * struct heard - what a node heard of the former root
 * @version: of its NIC's rows; @table, @term: of its table; @clean, @open: said with it
 */
struct heard {
	uint64_t version, table, term;
	uint8_t clean, open;
};

/* All nodes heard @rest but node 7, which heard @one. Return: the version of the next table. */
static uint64_t heard(const struct heard *rest, const struct heard *one)
{
	restart(true, "4x4", 0, rest->version);
	for (uint32_t i = 1; i < 16; i++) {
		const struct heard *h = i == 7 ? one : rest;
		struct fm_msg m = stage_hello(&s, i);

		placed(&m.hello);
		m.hello.version = h->version;
		m.hello.table = h->table;
		m.hello.term = h->term;
		m.hello.clean = h->clean;
		m.hello.open = h->open;
		stage_up(&s, 100 + (int)i);
		stage_msg(&s, 100 + (int)i, &m);
	}
	settles_then(0);
	return fm_version(s.fm);
}

/* A colour is taken of which the former root said that it is gone, and it need not be the next. */
static void test_clean_colours(void **state)
{
	static const struct {
		struct heard rest, one;
		uint64_t next;
	} t[] = {
		{ { 6, 6, 1, 0x1, 0 }, { 6, 6, 1, 0x1, 0 }, 8 },
		{ { 6, 6, 1, 0x8, 0 }, { 6, 6, 1, 0x8, 0 }, 7 },
		{ { 6, 6, 1, 0x2, 0 }, { 6, 6, 1, 0x2, 0 }, 9 },
		/* Who heard the last step knows more than who heard the table only. */
		{ { 6, 6, 1, 0x1, 0 }, { 6, 6, 1, 0x9, 0 }, 7 },
		/* An older table, or one of a former epoch, says nothing. */
		{ { 6, 6, 1, 0x1, 0 }, { 5, 5, 1, 0xf, 0 }, 8 },
		{ { 6, 6, 2, 0x1, 0 }, { 6, 6, 1, 0x8, 0 }, 8 },
		{ { 6, 6, 1, 0x8, 0 }, { 6, 6, 2, 0x1, 0 }, 8 },
		/* A colour that some NIC stamps is not gone. */
		{ { 6, 6, 1, 0x9, 0 }, { 3, 3, 1, 0xf, 0 }, 8 },
		/* A NIC has rows of a later table than the one that is told of: none of that counts. */
		{ { 6, 6, 1, 0x1, 0 }, { 7, 6, 1, 0x1, 0 }, 8 },
		{ { 6, 6, 1, 0x2, 0 }, { 8, 6, 1, 0x2, 0 }, 9 },
		/* Nothing is known to be gone. */
		{ { 6, 6, 1, 0, 0 }, { 6, 6, 1, 0, 0 }, 7 },
	};

	(void)state;
	for (unsigned int k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		uint64_t next = heard(&t[k].rest, &t[k].one);

		if (next != t[k].next)
			fprintf(stderr, "case %u: %llu\n", k, (unsigned long long)next);
		assert_int_equal(next, t[k].next);
		stage_end(&s);
	}
}

/* What was found to be a mesh is not a torus with cables that are lost. */
static void test_open_dimensions(void **state)
{
	const struct heard mesh = { 6, 6, 1, 0x8, 2 };
	const struct heard old = { 5, 5, 1, 0x8, 1 };

	(void)state;
	heard(&mesh, &mesh);
	assert_int_equal(stage_count(&s, " open 2"), 15);
	stage_end(&s);
	heard(&mesh, &old);
	assert_int_equal(stage_count(&s, " open 2"), 15);
	stage_end(&s);
}

/* --- what was excluded ------------------------------------------------------------------ */

static uint64_t table_of[16];
static uint16_t admin_of[16], across_of[16];
static uint32_t away;

static void says(struct fm_hello *h)
{
	uint32_t i = (uint32_t)(h->guid - NIC);

	placed(h);
	h->table = table_of[i];
	h->admin = admin_of[i];
	h->across = across_of[i];
	h->ups = 16;
	h->counted = true;
}

/* @words: expected in the log. */
static void recalled(bool known, const char *words)
{
	restart(known, "4x4", 0, 6);
	for (uint32_t i = 1; i < 16; i++)
		if (i != away)
			join(i, says);
	stage_run(&s, away ? 6005 : 5);
	assert_int_not_equal(fm_version(s.fm), 0);
	assert_int_equal(stage_count(&s, "excluded as before"), words[0] != '\0');
	if (words[0])
		assert_int_equal(stage_count(&s, words), 1);
}

static void forget_said(void)
{
	for (unsigned int i = 0; i < 16; i++) {
		table_of[i] = 6;
		admin_of[i] = across_of[i] = 0;
	}
	away = 0;
}

/* The newer table is right about a cable, at both of its ends. */
static void test_recall(void **state)
{
	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		forget_said();
		recalled(known, "");
		stage_end(&s);
		/* 5:+x is excluded in that table, and 6 knows it. */
		admin_of[5] = 1;
		across_of[6] = 4;
		recalled(known, "log info table: 1 port stays excluded as before\n");
		assert_int_equal(fm_node(s.fm, 5)->admin, 1);
		assert_int_equal(fm_node(s.fm, 6)->admin, 0);
		assert_string_equal(fm_excluded(s.fm, 6, 2), "admin");
		stage_end(&s);
		/* Two ports. */
		admin_of[9] = 2;
		across_of[13] = 8;
		recalled(known, "log info table: 2 ports stay excluded as before\n");
		assert_int_equal(fm_node(s.fm, 9)->admin, 2);
		stage_end(&s);
		/* It was included since, which 6 knows and 5 does not. */
		forget_said();
		admin_of[5] = 1;
		table_of[6] = 7;
		recalled(known, "");
		stage_end(&s);
		/* It was excluded since. */
		forget_said();
		across_of[6] = 4;
		table_of[6] = 7;
		recalled(known, "1 port stays");
		assert_int_equal(fm_node(s.fm, 5)->admin, 1);
		stage_end(&s);
		/* The older table of 6 is not believed. */
		table_of[6] = 5;
		recalled(known, "");
		stage_end(&s);
		/* 5 is away, or has restarted: its neighbours know its exclusions. */
		table_of[6] = 6;
		away = 5;
		recalled(known, "1 port stays");
		assert_int_equal(fm_node(s.fm, 5)->admin, 1);
		stage_end(&s);
		away = 0;
		table_of[5] = 0;
		recalled(known, "1 port stays");
		stage_end(&s);
	}
}

/* Of two claims the newer one counts; a claim of another shape, or without a place, does not. */
static void test_recall_words(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 5; k++) {
		restart(true, "4x4", 0, 6);
		forget_said();
		for (uint32_t i = 1; i < 16; i++) {
			struct fm_msg m = stage_hello(&s, i);

			says(&m.hello);
			if (i == 5) {
				m.hello.admin = k < 2 || k > 2 ? 1 : 0;
				m.hello.placed = k != 3;
				m.hello.shape.size[1] = k == 4 ? 5 : 4;
			}
			stage_up(&s, 100 + (int)i);
			stage_msg(&s, 100 + (int)i, &m);
			if (i != 5 || k > 2)
				continue;
			/* The node joins again before the others have joined. */
			m.hello.attach = 2;
			m.hello.table = k == 1 ? 5 : 7;
			m.hello.admin = k == 0 ? 0 : k == 1 ? 0 : 1;
			stage_up(&s, 300);
			stage_msg(&s, 300, &m);
		}
		stage_run(&s, 1);
		assert_int_equal(stage_count(&s, "1 port stays excluded"), k == 1 || k == 2);
		stage_end(&s);
	}
}

/* A node reports what its table says, for both ends of its cables. */
static void test_recall_tell(void **state)
{
	struct fm_entry entry[16];
	struct fm_init i;
	struct fm_msg m;

	(void)state;
	stage_init(&s, "4x4", 5);
	s.deaf = "init log ";
	stage_start(&s);
	i = stage_neighbour(&s, 0);
	stage_hear(&s, 0, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	m = stage_table(&s, 4, entry);
	entry[5].admin = 6;
	entry[6].admin = 4;	/* 6:-x is the other end of 5:+x */
	entry[1].admin = 2;	/* 1:+y is the other end of 5:-y */
	entry[9].admin = 2;	/* 9:+y leads elsewhere */
	stage_msg(&s, 1, &m);
	stage_down(&s, 1);
	stage_run(&s, 100);
	stage_forget(&s);
	stage_up(&s, 2);
	stage_did_some(&s, " table 4 admin 6 across 9 row");
	/* A parent is told nothing of this. */
	stage_welcome(&s, 2, TERM, "10.0.0.9:1");
	stage_up(&s, 3);
	stage_did_no(&s, "across");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_heard_of),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_restless),
		cmocka_unit_test(test_late_first),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_restart_base),
		cmocka_unit_test(test_restart_cables),
		cmocka_unit_test(test_other_place),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_clean_colours),
		cmocka_unit_test(test_open_dimensions),
		cmocka_unit_test(test_recall),
		cmocka_unit_test(test_recall_words),
		cmocka_unit_test(test_recall_tell),
	};

	return cmocka_run_group_tests_name("fm_settle", all, NULL, NULL);
}
