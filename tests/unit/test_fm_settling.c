// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first table, by itself: random nodes of a ring of rings, of which some have joined, and a
 * former table: when the root settles, and which of the others it takes as silent or dead. Stubs in
 * this test stand for the functions of the manager that the file calls.
 */
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/base.h"
#include "daemon/fm/root/cables.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/discover.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/news.h"
#include "daemon/fm/root/parts.h"
#include "daemon/fm/root/plan.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/service.h"
#include "daemon/fm/root/settle.h"
#include "daemon/fm/node/task.h"
#include "daemon/fm/root/tally.h"

#define NODES	9		/* 3x1x3: the last port leads to another node */
#define PORTS	6
#define SPARE	2		/* ports after those of the fabric */
#define GUID	100
#define STRANGER 300		/* a NIC that the former table does not have */
#define MANY	25		/* nodes of a larger fabric */
#define RECORDS	(MANY + 8)
#define QUIET	(300 * MS)
#define MEMBER_MAX (5000 * MS)
#define LONELY	(30000 * MS)

static struct fm_root root;
static struct fm fm = { .root = &root, .ndims = 3,
			.cfg = { .quiet = QUIET, .member_max = MEMBER_MAX } };
static struct fm_record *roster;
static uint32_t records;
static struct fm_entry entry[NODES + 1];	/* the last one is not a part of the book */
static uint32_t self;			/* the root's node */
static uint32_t room_for;		/* nodes that the roster has memory for */
static unsigned int cables;		/* how often the former cables were taken */
static bool fails_plan, fails_changes, fails_tally;
static char summary[80];
static struct fm_book book = { .nodes = NODES, .entry = entry };
static struct torus_shape shape;
static bool has_table, has_book;	/* the latest table is here; or any of that shape */
static uint64_t last, awaits;
static unsigned int missing, restored_base, ended, placed, again, demanded, reported, quorum,
	forgiven;
static bool changed[NODES], has_shape, has_service;
static uint64_t problem_key;
static char cause[80], problem_kind[20];

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return records;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < records);
	return &roster[i];
}

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	(void)r;
	for (uint32_t i = 0; i < records; i++)
		if (roster[i].guid == guid)
			return &roster[i];
	return NULL;
}

bool fm_record_joined(const struct fm_record *m)
{
	return m && m->stated.received;
}

/* Moves all nodes in memory, as when the roster grows. */
struct fm_record *fm_record_add(struct fm_root *r, uint64_t guid)
{
	struct fm_record *was = roster;

	(void)r;
	if (records >= room_for)
		return NULL;
	assert_true(records < RECORDS);
	roster = calloc(RECORDS, sizeof(*roster));
	memcpy(roster, was, records * sizeof(*was));
	memset(was, 0xee, RECORDS * sizeof(*was));
	free(was);
	roster[records].guid = guid;
	roster[records].node = TORUS_NO_NODE;
	roster[records].state = FM_NODE_JOINING;
	roster[records].bare = true;
	return &roster[records++];
}

void fm_record_move(struct fm *f, struct fm_record *m, uint32_t node)
{
	(void)f;
	m->node = node;
}

void fm_record_missing(struct fm *f, struct fm_record *m)
{
	(void)f;
	m->missing = 1;
	missing++;
}

void fm_record_name(struct fm_root *r, struct fm_record *m, const char *name)
{
	(void)r;
	strcpy(m->name, name);
}

struct fm_book *fm_recall_table(const struct fm *f, const struct fm_past *id,
				const struct fm_voters **voters)
{
	(void)f;
	(void)voters;
	assert_int_equal(id->version, 6);
	return has_table ? &book : NULL;
}

struct fm_book *fm_recall_book(const struct fm *f, const struct torus_shape *s,
			       struct fm_voters *voters)
{
	(void)f;
	(void)s;
	voters->n = 3;
	return has_book ? &book : NULL;
}

uint64_t fm_recall_awaits(const struct fm *f)
{
	(void)f;
	return awaits;
}

bool fm_plan_settle(struct fm *f, const struct torus_shape *s)
{
	(void)f;
	assert_memory_equal(s, &shape, sizeof(shape));
	return !fails_plan;
}

uint32_t fm_book_find(struct fm_book *b, uint64_t guid)
{
	assert_ptr_equal(b, &book);
	for (uint32_t i = 0; i < NODES; i++)
		if (entry[i].guid == guid && entry[i].state != FM_NODE_ABSENT)
			return i;
	return TORUS_NO_NODE;
}

void fm_recall_end(struct fm *f, const struct torus_shape *s, const struct fm_book *former)
{
	(void)f;
	(void)former;
	assert_memory_equal(s, &shape, sizeof(shape));
	ended |= 1;
}

void fm_parts_end(struct fm *f)
{
	(void)f;
	assert_true(ended & 1);
	ended |= 2;
}

uint64_t fm_news_last(const struct fm_root *r)
{
	(void)r;
	return last;
}

void fm_news_again(struct fm *f)
{
	(void)f;
	again++;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	(void)f;
	(void)fmt;
	snprintf(problem_kind, sizeof(problem_kind), "%s", kind);
	problem_key = key;
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	if (!strcmp(kind, problem_kind) && key == problem_key)
		problem_kind[0] = '\0';
}

bool fm_discover_shape(struct fm *f, struct torus_shape *s)
{
	assert_int_equal(f->cfg.shape.ndims, 0);
	assert_false(root.restored);
	if (has_shape)
		*s = shape;
	return has_shape;
}

void fm_task_forgive(struct fm *f)
{
	(void)f;
	assert_true(root.settled);
	forgiven++;
}

bool fm_discover_place(struct fm *f, const struct torus_shape *s)
{
	(void)f;
	(void)s;
	assert_true(root.settled);
	placed++;
	assert_int_equal(forgiven, placed);
	return true;
}

void fm_cables_former(struct fm *f, const struct torus_shape *s, const struct fm_entry *e)
{
	(void)f;
	assert_ptr_equal(s, &book.shape);
	assert_ptr_equal(e, book.entry);
	cables++;
}

void fm_base_restore(struct fm *f)
{
	(void)f;
	restored_base++;
}

void fm_quorum_former(const struct fm *f, struct fm_record *m, const struct fm_voters *v,
		      const struct fm_entry *e)
{
	(void)f;
	assert_int_equal(v->n, 3);
	assert_int_equal(m->guid, e->guid);
	quorum++;
}

bool fm_service_gone(struct fm *f, struct fm_record *m, const char *why)
{
	(void)f;
	assert_true(m->node != TORUS_NO_NODE);
	assert_true((m->state == FM_NODE_DEAD) == !!strstr(why, "no node"));
	reported++;
	return has_service;
}

bool fm_changes_new(struct fm_root *r, uint32_t nodes)
{
	r->changes.nodes = nodes;
	return !fails_changes;
}

void fm_changes_free(struct fm_root *r)
{
	r->changes.nodes = 0;
}

bool fm_tally_new(struct fm_root *r, uint32_t nodes)
{
	(void)r;
	assert_int_equal(nodes, torus_nodes(&shape));
	return !fails_tally;
}

void fm_tally_free(struct fm_root *r)
{
	(void)r;
}

static bool has_room;

bool fm_table_begin(struct fm *f, const struct torus_shape *s)
{
	f->table.shape = *s;
	return has_room;
}

void fm_book_put(struct fm_book *b)
{
	assert_true(!b || b == &book);
	ended |= 4;
}

void fm_change_node(struct fm *f, uint32_t node)
{
	(void)f;
	if (node < NODES)
		changed[node] = true;
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	va_list args;

	(void)f;
	(void)level;
	(void)kind;
	va_start(args, fmt);
	vsnprintf(summary, sizeof(summary), fmt, args);
	va_end(args);
}

void fm_demand(struct fm *f, uint64_t delay, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_int_equal(delay, 0);
	demanded++;
	va_start(args, fmt);
	vsnprintf(cause, sizeof(cause), fmt, args);
	va_end(args);
}

const char *fm_claim_why(const struct fm_root *r)
{
	(void)r;
	return "takeover";
}

/* --- random nodes ------------------------------------------------------------------------ */

static void fill_row(struct rnd *r, struct fm_record *m)
{
	uint32_t i = (uint32_t)(m->guid - GUID);

	m->row.nports = (uint8_t)(rnd_one_in(r, 10) ? 3 : PORTS + SPARE);
	for (unsigned int p = 0; p < m->row.nports; p++) {
		struct fm_port_row *port = &m->row.port[p];

		port->state = (uint8_t)(rnd_one_in(r, 5) ? FM_PORT_FAULTY : FM_PORT_UP);
		port->peer_guid = rnd_one_in(r, 16) ? 0 : GUID + torus_neighbour(&shape, i, p % PORTS);
		if (rnd_one_in(r, 60))
			port->peer_guid = STRANGER + rnd_below(r, 2);
		port->peer_port = (uint8_t)(rnd_one_in(r, 20) ? 0 : (p + 3) % 6);
		if (rnd_one_in(r, 20))
			port->problem = rnd_one_in(r, 2) ? FM_PROBLEM_ROOT : FM_PROBLEM_FABRIC;
	}
}

static void add_record(struct rnd *r, uint32_t i, bool joined)
{
	struct fm_record *m = fm_record_add(&root, GUID + i);

	m->state = joined ? FM_NODE_UP : FM_NODE_DEAD;
	m->stated.received = joined;
	m->node = joined && !rnd_one_in(r, 12) ? i : TORUS_NO_NODE;
	if (joined)
		fill_row(r, m);
}

/*
 * Begins with few or many nodes that have joined; the former table has states and faults of its
 * own.
 */
static void begin(struct rnd *r)
{
	uint32_t rarely = 1 + rnd_below(r, 3);

	memset(&root, 0, sizeof(root));
	memset(entry, 0, sizeof(entry));
	entry[NODES] = (struct fm_entry) { .state = FM_NODE_UP, .guid = STRANGER + 2 };
	self = rnd_below(r, NODES);
	room_for = RECORDS;
	cables = 0;
	fails_plan = fails_changes = fails_tally = false;
	has_service = true;
	fm.kept.book = NULL;
	fm.doubts = 0;
	memset(changed, 0, sizeof(changed));
	torus_shape_parse("3x1x3", &shape);
	book.shape = shape;
	roster = calloc(RECORDS, sizeof(*roster));
	records = 0;
	missing = restored_base = ended = placed = again = demanded = reported = quorum = forgiven = 0;
	problem_kind[0] = '\0';
	fm.cfg.shape = shape;
	fm.now = 100 * SEC;
	fm.table.version = 0;
	fm.cabled = true;
	fm.lag = 0;
	last = fm.now;
	awaits = 0;
	has_room = has_shape = true;
	root.stage = FM_STAGE_LEADS;
	root.former.table = 6;
	for (uint32_t i = 0; i < NODES; i++) {
		entry[i] = (struct fm_entry) { .node = i, .state = FM_NODE_UP, .guid = GUID + i,
					       .epoch = 40 + i };
		snprintf(entry[i].name, sizeof(entry[i].name), "n%u", i);
		snprintf(entry[i].address, sizeof(entry[i].address), "a%u", i);
		if (rnd_one_in(r, 5))
			entry[i].state = (uint8_t)rnd_below(r, FM_NODE_STATES);
		if (rnd_one_in(r, 4))
			entry[i].fault = (uint16_t)(1u << rnd_below(r, PORTS));
		if (i == self || rnd_one_in(r, rarely))
			add_record(r, i, true);
		else if (rnd_one_in(r, 6))
			add_record(r, i, false);
	}
	for (uint32_t i = 0; i < records; i++)
		root.joiners += fm_record_joined(&roster[i]);
}

static void end(void)
{
	free(roster);
	free(root.at);
	free(root.admin);
	free(root.seat);
	root.at = NULL;
	root.admin = NULL;
	root.seat = NULL;
}

static bool joined(uint64_t guid)
{
	return fm_record_joined(fm_record(&root, guid));
}

static bool lived(uint32_t i)
{
	return entry[i].state != FM_NODE_ABSENT && entry[i].state != FM_NODE_DEAD;
}

static bool linked(uint32_t i, unsigned int p)
{
	uint32_t o = torus_neighbour(&shape, i, p);

	return lived(i) && lived(o) && !(entry[i].fault >> p & 1) &&
	       !(entry[o].fault >> (p + 3) % 6 & 1);
}

/* Return: true if a neighbour that has joined had a link to the node, and has none now. */
static bool lost(uint32_t i)
{
	for (unsigned int p = 0; p < PORTS; p++) {
		uint32_t o = torus_neighbour(&shape, i, p);
		const struct fm_port_row *port;

		if (!linked(i, p) || !joined(entry[o].guid) ||
		    fm_record(&root, entry[o].guid)->row.nports <= (p + 3) % 6)
			continue;
		port = &fm_record(&root, entry[o].guid)->row.port[(p + 3) % 6];
		if (port->state != FM_PORT_UP || port->peer_guid != entry[i].guid)
			return true;
	}
	return false;
}

/* --- when ---------------------------------------------------------------------------------- */

static uint64_t naive_time(void)
{
	bool waits = false, gap = false;
	bool known = has_table && root.restored && root.shape.size[2] == 3;
	uint64_t at = last, wait = MEMBER_MAX;

	for (uint32_t i = 0; i < records; i++)
		for (unsigned int p = 0; p < PORTS && p < roster[i].row.nports; p++) {
			const struct fm_port_row *port = &roster[i].row.port[p];

			gap |= port->state != FM_PORT_UP;
			waits |= port->state == FM_PORT_UP && port->peer_guid && !port->problem &&
				 !joined(port->peer_guid);
		}
	for (uint32_t i = 0; i < NODES; i++)
		known &= !lived(i) || joined(entry[i].guid) || lost(i);
	if (root.restored)
		wait = fm.table.version ? QUIET : 2 * MEMBER_MAX;
	wait += 4 * fm.lag;
	if (waits)
		at += wait;
	else if (!(root.joiners == NODES && (root.restored || fm.cfg.shape.ndims)) &&
		 !(!gap && !fm.cfg.shape.ndims && !root.restored) && !known)
		at += QUIET + 4 * fm.lag;
	if (root.restored && root.joiners != NODES && at < fm.doubts)
		at = fm.doubts;
	return at > awaits ? at : awaits;
}

/*
 * Sets all ports up and leading to the root, and makes a few of the nodes that were alive missing.
 */
static void make_whole(struct rnd *r)
{
	for (uint32_t i = 0; i < records; i++)
		for (unsigned int p = 0; p < PORTS; p++)
			roster[i].row.port[p] = (struct fm_port_row) {
				.state = FM_PORT_UP, .peer_guid = GUID + self };
	if (rnd_one_in(r, 4)) {
		struct fm_record *m = &roster[rnd_below(r, records)];

		m->row.nports = 3;
		m->row.port[3] = (struct fm_port_row) { .state = FM_PORT_DOWN };
		m->row.port[4].peer_guid = STRANGER + 1;
	}
	if (rnd_one_in(r, 4))
		roster[rnd_below(r, records)].row.port[rnd_below(r, PORTS)].state = FM_PORT_FAULTY;
	for (uint32_t i = 0; i < NODES; i++)
		if (!joined(GUID + i))
			entry[i].state = rnd_one_in(r, 2) ? FM_NODE_DEAD : FM_NODE_ABSENT;
	if (rnd_one_in(r, 4))
		entry[rnd_below(r, NODES)].state = FM_NODE_SILENT;
	if (rnd_one_in(r, 8))		/* there was another NIC before */
		entry[rnd_one_in(r, 2) ? 0 : rnd_below(r, NODES)].guid = STRANGER;
}

/*
 * All nodes lived, and one or two have not joined. Their neighbours have no link to them or do not
 * wait for them, because the cable has a problem.
 */
static void miss_few(struct rnd *r)
{
	for (uint32_t i = 0; i < NODES; i++) {
		entry[i].state = FM_NODE_UP;
		if (!rnd_one_in(r, 8))
			entry[i].fault = 0;
		if (!fm_record(&root, GUID + i))
			add_record(r, i, true);
		fm_record(&root, GUID + i)->stated.received = true;
	}
	for (unsigned int k = rnd_below(r, 3); k; k--)
		fm_record(&root, GUID + (self + 1 + rnd_below(r, NODES - 1)) % NODES)
			->stated.received = false;
	for (uint32_t i = 0; i < records; i++)
		for (unsigned int p = 0; p < PORTS + SPARE; p++) {
			uint32_t o = torus_neighbour(&shape, (uint32_t)(roster[i].guid - GUID), p % PORTS);
			struct fm_port_row *port = &roster[i].row.port[p];

			roster[i].row.nports = PORTS + SPARE;
			*port = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = GUID + o,
						       .peer_port = (uint8_t)((p + 3) % PORTS) };
			if (joined(GUID + o))
				continue;
			port->problem = FM_PROBLEM_FABRIC;
			if (rnd_one_in(r, 8))
				port->state = FM_PORT_FAULTY;
			if (rnd_one_in(r, 8))
				port->peer_guid = GUID + self;
		}
	if (rnd_one_in(r, 3)) {
		struct fm_record *m = &roster[rnd_below(r, records)];

		m->row.nports = (uint8_t)rnd_below(r, PORTS);
		m->row.port[m->row.nports].state = FM_PORT_DOWN;
	}
}

static void when(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	bool alone;

	begin(&r);
	if (rnd_one_in(&r, 3))		/* all nodes are there */
		for (uint32_t i = 0; i < NODES; i++)
			if (!fm_record(&root, GUID + i))
				add_record(&r, i, true);
	if (rnd_one_in(&r, 8))
		records = 1;
	for (uint32_t i = 0; i < records; i++) {
		for (unsigned int p = 0; p < PORTS && rnd_one_in(&r, 2); p++)
			roster[i].row.port[p].peer_guid = GUID + rnd_below(&r, records);
	}
	if (rnd_one_in(&r, 2))
		make_whole(&r);
	has_table = rnd_one_in(&r, 2);
	root.restored = rnd_one_in(&r, 2);
	if (rnd_one_in(&r, 2)) {
		miss_few(&r);
		has_table = root.restored = !rnd_one_in(&r, 8);
	}
	root.joiners = 0;
	for (uint32_t i = 0; i < records; i++)
		root.joiners += fm_record_joined(&roster[i]);
	if (rnd_one_in(&r, 4))
		fm.doubts = last + rnd_below(&r, 2) * QUIET + rnd_below(&r, 3);
	root.shape = shape;
	if (rnd_one_in(&r, 5))
		assert_int_equal(torus_shape_parse("3x3x1", &root.shape), 0);
	fm.table.version = rnd_one_in(&r, 2);
	if (rnd_one_in(&r, 2))
		memset(&fm.cfg.shape, 0, sizeof(fm.cfg.shape));
	root.witness = rnd_below(&r, records);
	if (rnd_one_in(&r, 4))
		awaits = last + rnd_below(&r, 2) * QUIET + rnd_below(&r, 3);
	fm.cabled = !rnd_one_in(&r, 4);
	fm.lag = rnd_below(&r, 2) * 30 * MS;
	root.since = fm.now - rnd_below(&r, 3) * LONELY / 2;
	root.alone = rnd_one_in(&r, 4);
	alone = !root.restored && !fm.cfg.shape.ndims && fm.cabled && root.joiners == 1;
	if (alone) {
		expect(&r, fm_settle_expiry(&fm) == (root.alone ? NEVER : root.since + LONELY),
		       "alone");
	} else {
		uint64_t at = fm_settle_expiry(&fm);

		expect(&r, at == naive_time(), "%" PRIu64 ", not %" PRIu64, at, naive_time());
		root.stage = FM_STAGE_CLAIMS;
		assert_int_equal(fm_settle_expiry(&fm), NEVER);
		root.stage = FM_STAGE_LEADS;
		root.settled = true;
		assert_int_equal(fm_settle_expiry(&fm), NEVER);
	}
	end();
}

static void first_table_is_due_as_in_model(void **state)
{
	(void)state;
	for_seeds(3000, when);
}

/* --- the first table -------------------------------------------------------------------------- */

/** struct want - a node as it is to be; @made: silent, as rows of others say; @peer: by port */
struct want {
	uint32_t node;
	uint8_t state;
	bool known, made;
	uint64_t peer[PORTS];
};

static struct want want[STRANGER + 2];

static bool is_abroad(const struct fm_port_row *port)
{
	uint64_t i = port->peer_guid - GUID;

	return port->problem && !(port->problem == FM_PROBLEM_ROOT && has_book && i < NODES &&
				  entry[i].state != FM_NODE_ABSENT);
}

/* Adds the nodes that rows of others report. */
static void want_silent(void)
{
	for (uint32_t i = 0; i < records; i++)
		for (unsigned int p = 0; p < PORTS; p++) {
			const struct fm_port_row *port = &roster[i].row.port[p];
			struct want *w = &want[port->peer_guid];

			if (!fm_record_joined(&roster[i]) || roster[i].node == TORUS_NO_NODE ||
			    port->state != FM_PORT_UP || !port->peer_guid || is_abroad(port) ||
			    port->peer_port != (p + 3) % 6 || joined(port->peer_guid))
				continue;
			if (!w->made)
				*w = (struct want) { .known = true, .made = true,
						     .state = FM_NODE_SILENT,
						     .node = torus_neighbour(&shape,
									     roster[i].node, p) };
			w->peer[port->peer_port] = roster[i].guid;
		}
}

/* Adds the nodes behind those, which only the former table names. */
static void want_behind(void)
{
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t g = GUID; g < STRANGER + 2; g++)
			for (unsigned int p = 0; p < PORTS && want[g].made; p++) {
				uint32_t o = torus_neighbour(&shape, want[g].node, p);
				struct want *w = &want[GUID + o];

				if (want[g].peer[p] || !linked(want[g].node, p) ||
				    joined(GUID + o))
					continue;
				if (!w->made)
					*w = (struct want) { .known = true, .made = true,
							     .node = o,
							     .state = FM_NODE_SILENT };
				want[g].peer[p] = GUID + o;
				w->peer[(p + 3) % 6] = g;
				more = true;
			}
	}
}

static unsigned int want_former(void)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < NODES; i++) {
		struct want *w = &want[GUID + i];

		if (entry[i].state == FM_NODE_ABSENT || joined(GUID + i))
			continue;
		n++;
		w->known = true;
		if (w->node == TORUS_NO_NODE) {
			w->state = FM_NODE_DEAD;
			w->node = i;
		}
	}
	return n;
}

static void check_record(struct rnd *r, uint32_t number, uint32_t node)
{
	const struct fm_record *m = &roster[number];
	const struct want *w = &want[m->guid];
	uint32_t i = (uint32_t)(m->guid - GUID);

	expect(r, w->known && m->node == node && m->fixed == (node != TORUS_NO_NODE) &&
	       m->state == w->state && !m->unjoined, "%u is at %u, state %u, not %u, %u",
	       (uint32_t)m->guid, m->node, m->state, node, w->state);
	if (node != TORUS_NO_NODE)
		expect(r, root.at[node] == number + 1 && changed[node], "node %u", node);
	for (unsigned int p = 0; p < PORTS && w->made; p++)
		expect(r, m->row.port[p].peer_guid == w->peer[p] &&
		       m->row.port[p].peer_port == (p + 3) % 6 &&
		       m->row.port[p].state == FM_PORT_UP, "%u port %u", (uint32_t)m->guid, p);
	if (w->made)
		expect(r, m->row.nports == PORTS && m->missing && !m->bare, "node %u", i);
	if (has_book && !fm_record_joined(m) && i < NODES && entry[i].state != FM_NODE_ABSENT)
		expect(r, !strcmp(m->name, entry[i].name) && !strcmp(m->address, entry[i].address) &&
		       m->epoch == 40 + i && m->row.nports == PORTS, "node %u", i);
}

static void check_table(struct rnd *r, unsigned int former)
{
	unsigned int known = 0, made = 0, replaced = 0;
	bool taken[NODES] = { false };

	for (uint32_t g = GUID; g < STRANGER + 2; g++) {
		known += want[g].known;
		made += want[g].made;
	}
	expect(r, records == known && missing == made && quorum == former, "%u of %u records, %u of %u silent",
	       records, known, missing, made);
	for (uint32_t i = 0; i < records; i++) {
		uint32_t node = want[roster[i].guid].node;
		bool is_former = !fm_record_joined(&roster[i]) && roster[i].guid < STRANGER &&
				 has_book && entry[roster[i].guid - GUID].state != FM_NODE_ABSENT;

		if (node == NODES)
			node = TORUS_NO_NODE;
		if (node != TORUS_NO_NODE && taken[node]) {
			node = TORUS_NO_NODE;
			replaced += is_former;
		}
		if (node != TORUS_NO_NODE)
			taken[node] = true;
		check_record(r, i, node);
	}
	assert_int_equal(reported, former - replaced);
	assert_int_equal(root.base.known, made ? 0 : 9);
}

/*
 * Two NICs are reported at one place: which of them the former links lead to depends on the order
 * in which they are found. So the model has no such links.
 */
static void cut_from_strangers(void)
{
	bool any = false;

	for (uint32_t i = 0; i < records; i++)
		for (unsigned int p = 0; p < PORTS; p++)
			any |= roster[i].row.port[p].peer_guid >= STRANGER;
	for (uint32_t i = 0; any && i < NODES; i++)
		entry[i].fault = 0x3f;
}

static void first(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	unsigned int former = 0;
	char text[80];

	begin(&r);
	cut_from_strangers();
	has_book = !rnd_one_in(&r, 4);
	has_table = false;
	root.restored = !rnd_one_in(&r, 5);
	root.version_seen = rnd_below(&r, 2) * 7;
	root.shape = root.restored ? shape : (struct torus_shape) { .ndims = 0 };
	root.base.known = 9;
	root.former.epoch = rnd_below(&r, 2);
	root.former.open = 2;
	root.open = 1;
	if (root.restored)
		memset(&fm.cfg.shape, 0, sizeof(fm.cfg.shape));
	fm.kept.book = rnd_one_in(&r, 2) ? &book : NULL;
	has_service = rnd_one_in(&r, 2);
	last = fm.now - 3 * MEMBER_MAX;
	if (!root.restored)		/* the place of the NIC is of a larger shape */
		fm_record(&root, GUID + self)->node = NODES;
	memset(want, 0, sizeof(want));
	for (uint32_t g = 0; g < STRANGER + 2; g++)
		want[g].node = TORUS_NO_NODE;
	for (uint32_t i = 0; i < records; i++)
		want[roster[i].guid] = (struct want) { .known = true, .node = roster[i].node,
						       .state = roster[i].state };
	if (root.restored)
		want_silent();
	if (root.restored && has_book)
		want_behind();
	if (has_book)
		former = want_former();
	fm_settle_due(&fm);
	assert_true(root.settled);
	assert_int_equal(restored_base, root.restored || root.version_seen);
	assert_int_equal(root.open, root.former.epoch ? 2 : 1);
	assert_int_equal(root.version, root.version_seen);
	assert_int_equal(ended, 7);
	assert_true(placed == 1 && demanded == 1 && !again);
	assert_string_equal(cause, root.version ? "takeover" : "bootstrap");
	assert_memory_equal(fm.size, shape.size, sizeof(fm.size));
	check_table(&r, former);
	assert_int_equal(cables, has_book && !fm.kept.book);
	snprintf(text, sizeof(text), "shape 3x1x3, %u of 9 nodes", records - former);
	assert_string_equal(summary, text);
	fm_settle_due(&fm);
	assert_int_equal(demanded, 1);
	end();
}

static void first_table_is_made_as_in_model(void **state)
{
	(void)state;
	for_seeds(3000, first);
}

/* There is memory for only few of the silent and former nodes: the table has those. */
static void settle_with_little_memory(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	begin(&r);
	has_book = true;
	has_table = false;
	root.restored = true;
	root.shape = shape;
	last = fm.now - 3 * MEMBER_MAX;
	room_for = records + rnd_below(&r, 4);
	fm_settle_due(&fm);
	assert_true(root.settled && records <= room_for);
	for (uint32_t i = 0; i < records; i++)
		if (roster[i].node != TORUS_NO_NODE)
			expect(&r, root.at[roster[i].node] == i + 1, "node %u", roster[i].node);
	end();
}

static void first_table_has_the_nodes_that_memory_holds(void **state)
{
	(void)state;
	for_seeds(600, settle_with_little_memory);
}

/* 16 of many nodes that have not joined are reported; a node that is not reported does not count. */
static void few_of_many_former_nodes_are_reported(void **state)
{
	static struct fm_entry many[MANY];
	struct rnd r = rnd_new(1);

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		begin(&r);
		records = root.joiners = 1;
		torus_shape_parse("5x5", &shape);
		book = (struct fm_book) { .nodes = MANY, .entry = many, .shape = shape };
		for (uint32_t i = 0; i < MANY; i++)
			many[i] = (struct fm_entry) { .node = i, .state = FM_NODE_UP, .guid = 400 + i };
		many[self].guid = roster[0].guid;
		fm.cfg.shape = shape;
		has_book = true;
		has_service = !k;
		last = fm.now - 3 * MEMBER_MAX;
		fm_settle_due(&fm);
		assert_true(root.settled);
		assert_int_equal(records, MANY);
		assert_int_equal(reported, has_service ? 16 : MANY - 1);
		end();
		book = (struct fm_book) { .nodes = NODES, .entry = entry };
	}
}

/* Room for a table is all there or not at all, whichever part of it has no memory. */
static void room_for_table_is_whole_or_none(void **state)
{
	struct rnd r = rnd_new(1);

	(void)state;
	begin(&r);
	for (unsigned int k = 1; k <= 7; k++) {
		fails_changes = k == 4;
		fails_tally = k == 5;
		has_room = k != 6;
		if (k <= 3)
			memory_fails_at(k);
		assert_int_equal(fm_settle_room(&fm, &shape), k == 7);
		assert_int_equal(!root.admin && !root.at && !root.seat && !root.changes.nodes, k != 7);
		assert_int_equal(root.admin && root.at && root.seat, k == 7);
		if (k <= 3)
			assert_true(memory_failed());
	}
	end();
}

/* The first table is not made before it is due; without memory, or a shape, it is tried again. */
static void first_table_without_memory_or_shape_is_tried_again(void **state)
{
	struct rnd r = rnd_new(1);

	(void)state;
	begin(&r);
	has_book = has_table = false;
	last = fm.now + 1;
	fm_settle_due(&fm);
	assert_true(!root.settled && !again);
	last = fm.now - 3 * MEMBER_MAX;
	has_room = false;
	fm_settle_due(&fm);
	assert_true(!root.settled && again == 1 && !root.at && !root.admin);
	assert_int_equal(root.changes.nodes, 0);
	assert_int_equal(ended, 4);		/* the book is given back, and nothing else happened */
	assert_string_equal(problem_kind, "memory");
	has_room = true;
	fails_plan = true;
	fm_settle_due(&fm);
	assert_true(!root.settled && again == 2 && !root.at);
	fails_plan = false;
	memset(&fm.cfg.shape, 0, sizeof(fm.cfg.shape));
	fm.cabled = false;
	has_shape = false;
	fm_settle_due(&fm);
	assert_true(!root.settled && again == 3 && !root.at);
	has_shape = true;
	last = fm.now;
	for (uint32_t i = 0; i < records; i++)
		for (unsigned int p = 0; p < PORTS; p++)
			roster[i].row.port[p] = (struct fm_port_row) { .state = FM_PORT_UP };
	fm_settle_due(&fm);			/* exactly when it is due */
	assert_true(root.settled && again == 3);
	assert_string_equal(problem_kind, "");
	end();
}

/* A root that stays alone reports it after a while, once, until another node has joined. */
static void lone_root_reports_it_once(void **state)
{
	struct rnd r = rnd_new(1);

	(void)state;
	begin(&r);
	records = root.joiners = 1;
	memset(&fm.cfg.shape, 0, sizeof(fm.cfg.shape));
	root.since = fm.now;
	fm.now += LONELY - 1;
	fm_settle_due(&fm);
	assert_true(!root.alone && !problem_kind[0] && !root.settled);
	fm.now++;
	fm_settle_due(&fm);
	assert_true(root.alone);
	assert_string_equal(problem_kind, "bootstrap");
	assert_int_equal(problem_key, 1);
	problem_kind[0] = '\0';
	fm_settle_due(&fm);
	assert_string_equal(problem_kind, "");
	fm_problem_set(&fm, "bootstrap", 1, "%s", "");
	root.joiners = 2;
	last = fm.now + 1;
	fm_settle_due(&fm);
	assert_true(!root.alone);
	assert_string_equal(problem_kind, "");
	/* A problem of another file with the same key stands. */
	fm_problem_set(&fm, "bootstrap", 1, "%s", "");
	fm_settle_due(&fm);
	assert_string_equal(problem_kind, "bootstrap");
	/* The problem is not reported once there is a table. */
	problem_kind[0] = '\0';
	root.settled = true;
	root.joiners = 1;
	fm_settle_due(&fm);
	assert_string_equal(problem_kind, "");
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(first_table_is_due_as_in_model),
		cmocka_unit_test(first_table_is_made_as_in_model),
		cmocka_unit_test(first_table_has_the_nodes_that_memory_holds),
		cmocka_unit_test(few_of_many_former_nodes_are_reported),
		cmocka_unit_test(room_for_table_is_whole_or_none),
		cmocka_unit_test(first_table_without_memory_or_shape_is_tried_again),
		cmocka_unit_test(lone_root_reports_it_once),
	};

	return cmocka_run_group_tests_name("fm_settling", all, NULL, NULL);
}
