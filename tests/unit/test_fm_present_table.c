// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table that a node has: whole tables and changes in random order, also those that do not fit,
 * with and without a library, compared with plain arrays. The message of the whole table must give
 * another node the same table.
 */
#include <stdio.h>
#include <string.h>

#include <torus/topology.h>
#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/status.h"

#define NODES	12
#define GUID	100
#define OTHER	300		/* first GUID of NICs that come and go, none of them this node's */
#define EPOCH	3

/** struct model - the table; @listed: nodes whose changes are listed; more than FM_NEWS_MAX: none */
struct model {
	struct fm_table_msg last;
	uint64_t root;
	bool in_force;
	struct fm_entry entry[NODES];
	uint16_t ordered[NODES];
	uint32_t jobs, listed, list[FM_NEWS_MAX];
};

static struct fm fm;
static struct model m;

static void rows_apply(void *io, uint32_t tag, uint64_t version, const uint16_t *closed)
{
	(void)io;
	(void)tag;
	(void)version;
	(void)closed;
}

static uint32_t nodes(void)
{
	return m.last.version ? torus_nodes(&m.last.shape) : 0;
}

/* --- messages ----------------------------------------------------------------------------- */

static struct fm_entry random_entry(struct rnd *r, uint32_t node)
{
	struct fm_entry e = { .node = node };

	e.state = rnd_one_in(r, 3) ? (uint8_t)rnd_below(r, FM_NODE_STATES) : FM_NODE_UP;
	e.admin = (uint16_t)(rnd_one_in(r, 4) * (1 + rnd_below(r, 63)));
	e.job = (uint16_t)(rnd_one_in(r, 6) ? 1 : 0);
	e.guid = rnd_one_in(r, 4) ? OTHER + node : 0;
	if (e.state == FM_NODE_ABSENT)
		return e;
	if (!e.guid)
		e.guid = GUID + node;
	e.epoch = EPOCH + rnd_one_in(r, 4);
	e.differs = (uint8_t)(rnd_one_in(r, 3) ? rnd_below(r, 256) : 0);
	e.session[1] = rnd_below(r, 9);
	snprintf(e.name, sizeof(e.name), "n%u", node);
	return e;
}

static uint32_t random_entries(struct rnd *r, const struct torus_shape *s, struct fm_entry *to)
{
	bool all = rnd_one_in(r, 3), none = rnd_one_in(r, 6);
	uint32_t only = rnd_one_in(r, 3) ? rnd_below(r, torus_nodes(s)) : TORUS_NO_NODE, n = 0;

	for (uint32_t i = 0; !none && i < torus_nodes(s); i++)
		if (only == TORUS_NO_NODE ? all || rnd_one_in(r, 2) : i == only)
			to[n++] = random_entry(r, i);
	return n;
}

static struct torus_shape random_shape(struct rnd *r)
{
	struct torus_shape s;

	torus_shape_parse(rnd_one_in(r, 3) ? "3x2" : "2x3x2", &s);
	return s;
}

/* A table of the joined root, or changes to the present one, which may not fit. */
static struct fm_table_msg random_table(struct rnd *r)
{
	static struct fm_entry entry[NODES];
	static struct fm_order order[NODES];
	static struct fm_job job[2] = { { .id = 1, .name = "one" }, { .id = 4, .name = "four" } };
	struct fm_table_msg t = { .term = fm.term, .version = m.last.version + 1 + rnd_below(r, 2),
				  .shape = m.last.shape, .entries = entry, .orders = order,
				  .jobs = job };

	if (m.last.version && !rnd_one_in(r, 3))
		t.base = m.last.version - rnd_one_in(r, 8);
	if (!m.last.version || rnd_one_in(r, 6))
		t.shape = random_shape(r);
	t.nentries = random_entries(r, &t.shape, entry);
	for (uint32_t i = 0; i < t.nentries; i++)
		if (entry[i].admin && rnd_one_in(r, 2))
			order[t.norders++] = (struct fm_order) { .node = entry[i].node, .ports = 0x7 };
	t.anew = rnd_one_in(r, 2);
	t.njobs = t.anew ? rnd_below(r, 3) : 0;
	t.plan.len4 = (uint8_t)rnd_below(r, 9);
	t.open = (uint8_t)rnd_below(r, 4);
	t.pause = rnd_one_in(r, 3);
	t.voters = (struct fm_voters) { .n = (uint8_t)rnd_below(r, FM_VOTERS_MAX + 1) };
	t.voters.set[0].ups = rnd_below(r, 9);
	t.line = (struct fm_line) { .n = (uint8_t)rnd_below(r, 3) };
	t.line.past[0].epoch = rnd_below(r, 9);
	return t;
}

/* Return: true if the message fits the present table. */
static bool table_fits(const struct fm_table_msg *t)
{
	return !t->base || (t->term == m.last.term && t->base == m.last.version &&
			    !memcmp(&t->shape, &m.last.shape, sizeof(t->shape)));
}

static void take_model(const struct fm_table_msg *t)
{
	bool listed = t->base && m.listed + t->nentries <= FM_NEWS_MAX;

	if (!t->base) {
		memset(m.entry, 0, sizeof(m.entry));
		memset(m.ordered, 0, sizeof(m.ordered));
	}
	for (uint32_t i = 0; i < t->nentries; i++) {
		uint32_t node = t->entries[i].node;

		m.entry[node] = t->entries[i];
		m.ordered[node] = 0;
		if (listed)
			m.list[m.listed++] = node;
	}
	if (!listed)
		m.listed = FM_NEWS_MAX + 1;
	for (uint32_t i = 0; i < t->norders; i++)
		m.ordered[t->orders[i].node] = m.entry[t->orders[i].node].admin & 0x7;
	if (t->anew || !t->base)
		m.jobs = t->njobs;
	m.last = *t;
	m.root = fm.root_guid;
	m.in_force = false;
}

/* Return: true if the node's own entry excludes the port. */
static bool excludes(uint32_t node, unsigned int p)
{
	const struct fm_entry *e = &m.entry[node];

	return (e->state != FM_NODE_UP && e->state != FM_NODE_SILENT) || e->admin >> p & 1;
}

/* --- comparison --------------------------------------------------------------------------- */

static void same_book(struct rnd *r, const struct fm_book *b, uint8_t differs)
{
	uint32_t orders = 0;

	for (uint32_t i = 0; i < nodes(); i++) {
		struct fm_entry want = m.entry[i];

		want.differs &= differs;
		if (fm_table_blank(&want) && fm_table_blank(&b->entry[i]))
			continue;
		expect(r, !memcmp(&b->entry[i], &want, sizeof(want)), "entry %u", i);
	}
	for (uint32_t i = 0; i < nodes(); i++)
		for (unsigned int p = 0; p < 2u * b->shape.ndims; p++)
			expect(r, (b->closed[i] >> p & 1) ==
			       (excludes(i, p) || excludes(torus_neighbour(&b->shape, i, p),
							   torus_dir_opposite(&b->shape, p))),
			       "port %u:%u", i, p);
	for (uint32_t i = 0; i < nodes(); i++) {
		if (!m.ordered[i])
			continue;
		expect(r, orders < b->orders.n && b->orders.of[orders].node == i &&
		       b->orders.of[orders].ports == m.ordered[i], "order of %u", i);
		orders++;
	}
	expect(r, b->orders.n == orders && b->jobs.n == m.jobs, "%u orders, %u jobs", b->orders.n,
	       b->jobs.n);
	for (uint32_t i = 0; i < m.jobs; i++)
		expect(r, b->jobs.of[i].id == 1 + 3 * i, "job %u", i);
}

static void same_table(struct rnd *r)
{
	const struct fm_table *t = &fm.table;
	const struct fm_table_msg *l = &m.last;

	expect(r, t->term == l->term && t->version == l->version && t->root_guid == m.root,
	       "version %u", (unsigned int)t->version);
	expect(r, !memcmp(&t->shape, &l->shape, sizeof(t->shape)) && t->nodes == nodes(), "%u nodes",
	       t->nodes);
	expect(r, !memcmp(&t->plan, &l->plan, sizeof(t->plan)) && t->open == l->open &&
	       t->pause == l->pause && t->in_force == m.in_force, "open %u", t->open);
	expect(r, !memcmp(&t->voters, &l->voters, sizeof(t->voters)) &&
	       !memcmp(&t->line, &l->line, sizeof(t->line)), "%u voters", t->voters.n);
	if (!t->version)
		return;
	same_book(r, t->book, 0xff);
	if (fm.ops.rows_apply)
		return;
	expect(r, m.listed > FM_NEWS_MAX ? t->nnews > FM_NEWS_MAX :
	       t->nnews == m.listed && !memcmp(t->news, m.list, m.listed * sizeof(*m.list)),
	       "%u news, not %u", t->nnews, m.listed);
}

/* The message of the whole table makes it anew; it needs no memory if the table has it so already. */
static void same_as_sent(struct rnd *r)
{
	struct fm other = { .term = fm.term, .root_guid = fm.root_guid };
	struct fm_msg msg;
	uint8_t sets = (uint8_t)((1u << fm.table.voters.n) - 1);
	bool bare = true;

	for (uint32_t i = 0; i < nodes(); i++)
		bare &= !(m.entry[i].differs & ~sets) &&
			(m.entry[i].state != FM_NODE_ABSENT || m.entry[i].admin || m.entry[i].job);
	memory_fails_at(1);
	expect(r, fm_table_whole(&fm, &msg) == bare, "%d", bare);
	expect(r, memory_failed() == !bare, "%d", bare);
	expect(r, fm_table_whole(&fm, &msg), "version %u", (unsigned int)m.last.version);
	expect(r, msg.type == FM_MSG_TABLE && msg.table.anew && !msg.table.base &&
	       msg.table.clean == fm.table.clean, "clean %u", msg.table.clean);
	for (uint32_t i = 0; i < msg.table.nentries; i++)
		expect(r, !fm_table_blank(&msg.table.entries[i]), "entry %u", i);
	expect(r, fm_table_take(&other, &msg.table), "version %u", (unsigned int)m.last.version);
	fm_table_whole_end(&fm, &msg);
	expect(r, other.table.term == m.last.term && other.table.version == m.last.version &&
	       other.table.open == m.last.open && other.table.pause == m.last.pause &&
	       other.table.plan.len4 == m.last.plan.len4, "open %u", other.table.open);
	expect(r, !memcmp(&other.table.voters, &m.last.voters, sizeof(m.last.voters)) &&
	       !memcmp(&other.table.line, &m.last.line, sizeof(m.last.line)), "%u voters",
	       other.table.voters.n);
	same_book(r, other.table.book, sets);
	fm_table_free(&other.table);
}

static void same_node(struct rnd *r, uint32_t i)
{
	const struct fm_entry *e = &m.entry[i];
	bool there = e->state != FM_NODE_ABSENT, is_up = e->state == FM_NODE_UP;
	uint8_t votes = 0;

	for (unsigned int k = 0; k < 4; k++) {
		uint64_t guid = i + (k & 1 ? GUID : OTHER);

		if (!k)
			fm_book_close(fm.table.book);	/* drops the index, at first without memory */
		memory_fails_at(k < 2);
		expect(r, fm_table_find(&fm, guid) == (there && e->guid == guid ? i : TORUS_NO_NODE),
		       "node %u", i);
		memory_failed();
	}
	expect(r, fm_table_takes(&fm, i, GUID + i, EPOCH) ==
	       (is_up && e->guid == GUID + i && e->epoch == EPOCH), "node %u", i);
	expect(r, fm_table_counts(e) == is_up, "state %u", e->state);
	for (unsigned int v = 0; v < m.last.voters.n; v++)
		if (is_up != (e->differs >> v & 1))
			votes |= (uint8_t)(1u << v);
	expect(r, fm_table_votes(&m.last.voters, e) == votes, "votes %u", votes);
}

/* HELLO describes the table if it has the shape of the place. */
static void same_hello(struct rnd *r)
{
	const struct fm_entry *e = &m.entry[fm.node];
	struct fm_hello h = { .table = 0 }, none = { .table = 0 };
	unsigned int nd = fm.shape.ndims;
	uint32_t ups = 0;
	uint16_t across = 0;
	bool mine;

	fm_table_fill(&fm, &h);
	if (!fm.placed || !m.last.version || memcmp(&m.last.shape, &fm.shape, sizeof(fm.shape))) {
		assert_memory_equal(&h, &none, sizeof(h));
		return;
	}
	for (uint32_t i = 0; i < nodes(); i++)
		ups += m.entry[i].state == FM_NODE_UP;
	for (unsigned int p = 0; p < 2 * nd; p++)
		if (m.entry[torus_neighbour(&fm.shape, fm.node, p)].admin >> (p + nd) % (2 * nd) & 1)
			across |= (uint16_t)(1u << p);
	mine = e->guid == fm.guid && e->epoch == fm.epoch;
	expect(r, h.table == m.last.version && h.table_root == m.root && h.ups == ups, "%u up", h.ups);
	expect(r, h.counted == (mine && e->state == FM_NODE_UP) && h.in_force == m.in_force, "%d", mine);
	expect(r, h.votes == (mine ? fm_table_votes(&m.last.voters, e) : 0), "votes %x", h.votes);
	expect(r, h.clean == fm.table.clean && h.open == m.last.open && h.admin == e->admin &&
	       h.across == across && h.plan.len4 == m.last.plan.len4, "across %x", h.across);
	expect(r, !memcmp(&h.voters, &m.last.voters, sizeof(h.voters)) &&
	       !memcmp(&h.line, &m.last.line, sizeof(h.line)), "%u voters", h.voters.n);
}

/* --- histories ---------------------------------------------------------------------------- */

static void table_comes(struct rnd *r)
{
	struct fm_table_msg t;
	bool fits;

	if (rnd_one_in(r, 6)) {
		fm.term++;
		fm.root_guid = 1 + rnd_below(r, 5);
	}
	t = random_table(r);
	fits = table_fits(&t);
	if (fm.table.book)
		fm.table.book->lack.known = true;
	expect(r, fm_table_take(&fm, &t) == fits, "base %u of %u", (unsigned int)t.base,
	       (unsigned int)m.last.version);
	if (!fits)
		return;
	take_model(&t);
	expect(r, !fm.table.book->lack.known, "version %u", (unsigned int)t.version);
}

/* A late end of a session, perhaps of a node or port that the table does not have. */
static void session_ends(struct rnd *r)
{
	struct fm_ended e = { .node = rnd_below(r, nodes() + 1), .session = rnd_below(r, 99),
			      .port = (uint8_t)rnd_below(r, TORUS_MAX_PORTS + 1),
			      .seq = (uint16_t)rnd_below(r, 99) };

	if (!m.last.version)
		return;
	fm.table.book->lack.known = true;
	fm_table_ended(&fm, &e);
	expect(r, fm.table.book->lack.known == (e.node >= nodes() || e.port >= TORUS_MAX_PORTS),
	       "port %u", e.port);
	if (e.node >= nodes() || e.port >= TORUS_MAX_PORTS)
		return;
	m.entry[e.node].ended |= (uint16_t)(1u << e.port);
	m.entry[e.node].session[e.port] = e.session;
	m.entry[e.node].seq[e.port] = e.seq;
}

/* The NIC moves, perhaps to a place beyond the table; the rows come up to date. */
static void node_changes(struct rnd *r)
{
	fm.placed = !rnd_one_in(r, 4);
	fm.shape = random_shape(r);
	fm.node = rnd_below(r, torus_nodes(&fm.shape));
	fm.guid = GUID + rnd_below(r, NODES);
	fm.epoch = EPOCH;
	fm.table.clean = (uint8_t)rnd_below(r, 4);
	fm.table.nnews = m.listed = 0;
	if (m.last.version)
		m.in_force = fm.table.in_force = true;
}

static void compare(struct rnd *r)
{
	uint32_t self = TORUS_NO_NODE;

	same_table(r);
	same_hello(r);
	for (uint32_t i = 0; i < nodes(); i++) {
		same_node(r, i);
		if (m.entry[i].guid == fm.guid && m.entry[i].state != FM_NODE_ABSENT)
			self = i;
	}
	expect(r, fm_table_self(&fm) == self, "self %u, not %u", fm_table_self(&fm), self);
	expect(r, !fm_table_takes(&fm, nodes(), fm.guid, EPOCH), "%u nodes", nodes());
	if (m.last.version)
		same_as_sent(r);
}

static void history(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_library *l = rnd_one_in(&r, 3) ? fm_library_new() : NULL;

	memory_guard(rnd_one_in(&r, 8));
	m = (struct model) { .root = 0 };
	fm = (struct fm) { .term = 5, .root_guid = 9, .cfg = { .library = l } };
	if (rnd_one_in(&r, 4))
		fm.ops.rows_apply = rows_apply;
	node_changes(&r);
	for (unsigned int k = 0; k < 30; k++) {
		switch (rnd_below(&r, 5)) {
		case 0: node_changes(&r); break;
		case 1: session_ends(&r); break;
		default: table_comes(&r);
		}
		compare(&r);
	}
	fm_table_free(&fm.table);
	fm_library_free(l);
	memory_guard(false);
	assert_int_equal(memory_blocks(), 0);
}

static void random_tables_equal_model(void **state)
{
	(void)state;
	for_seeds(120, history);
}

/* --- cases -------------------------------------------------------------------------------- */

/* Begins with a table of version 1: 3x2, of which node 1 is the NIC with GUID 101. */
static void begin_with_table(struct fm_table_msg *t, struct fm_entry *entry)
{
	*t = (struct fm_table_msg) { .term = 5, .version = 1, .entries = entry };
	torus_shape_parse("3x2", &t->shape);
	for (uint32_t i = 0; i < 6; i++) {
		entry[i] = (struct fm_entry) { .node = i, .guid = GUID + i, .state = FM_NODE_UP };
		snprintf(entry[i].name, sizeof(entry[i].name), "n%u", i);
	}
	t->nentries = 6;
	fm = (struct fm) { .term = 5, .root_guid = 9 };
	assert_true(fm_table_take(&fm, t));
}

/* Without memory, the table stays as it was, and changes that came are not listed. */
static void table_without_memory_is_not_taken(void **state)
{
	struct fm_entry entry[NODES];
	struct fm_table_msg t;
	size_t blocks;

	(void)state;
	begin_with_table(&t, entry);
	free(fm.table.news);
	fm.table.news = NULL;
	fm.table.nnews = 0;
	t.version = 2;
	t.base = 1;
	memory_fails_at(1);			/* the list of changes */
	assert_true(fm_table_take(&fm, &t));
	assert_true(memory_failed() && fm.table.nnews > FM_NEWS_MAX);
	torus_shape_parse("3x4", &t.shape);
	t.version = 3;
	t.base = 0;
	blocks = memory_blocks();
	for (unsigned int k = 1; k <= 3; k++) {
		memory_fails_at(k);
		assert_false(fm_table_take(&fm, &t));
		assert_true(memory_failed());
		assert_int_equal(fm.table.version, 2);
		assert_int_equal(fm.table.nodes, 6);
		assert_int_equal(memory_blocks(), blocks);
	}
	t.shape.size[0] = 0;			/* no nodes */
	assert_false(fm_table_take(&fm, &t));
	fm_table_free(&fm.table);
	assert_int_equal(fm.table.nodes, 0);
}

static void new_table_is_empty_and_keeps_nothing(void **state)
{
	struct fm_entry entry[NODES];
	struct fm_table_msg t;
	struct fm_hello h = { .open = 0 };
	struct torus_shape shape;

	(void)state;
	begin_with_table(&t, entry);
	torus_shape_parse("3x4", &shape);
	fm.table.voters.n = fm.table.line.n = 2;
	memory_fails_at(1);
	assert_false(fm_table_begin(&fm, &shape));
	assert_true(memory_failed() && fm.table.version == 1);
	assert_true(fm_table_begin(&fm, &shape));
	assert_int_equal(fm.table.version, 0);
	assert_int_equal(fm.table.nodes, 12);
	assert_memory_equal(&fm.table.shape, &shape, sizeof(shape));
	assert_true(!fm.table.voters.n && !fm.table.line.n);
	/* HELLO does not describe a table that was not made yet. */
	fm.placed = true;
	fm.shape = shape;
	fm.table.open = 1;
	fm_table_fill(&fm, &h);
	assert_int_equal(h.open, 0);
	fm_table_free(&fm.table);
	fm.table.shape = t.shape;
	fm.table.news = NULL;
	assert_true(fm_table_take(&fm, &t));
	assert_int_equal(fm.table.nodes, 6);
	fm_table_free(&fm.table);
}

/* Names come from the present table, else from the kept one. */
static void nodes_are_named_by_present_or_kept_table(void **state)
{
	struct fm_entry entry[NODES];
	struct fm_table_msg t;
	char buf[FM_WHO_MAX];

	(void)state;
	begin_with_table(&t, entry);
	fm.guid = 0x777;
	strcpy(fm.cfg.name, "own");
	assert_string_equal(fm_table_name(&fm, GUID + 4, buf), "'n4' (1,1)");
	assert_string_equal(fm_table_name(&fm, 0x777, buf), "'own'");
	assert_string_equal(fm_table_name(&fm, 0, buf), "none");
	assert_string_equal(fm_table_name(&fm, 0x200, buf), "0000000000000200");
	assert_null(fm_table_entry(&fm, 0x200));
	fm.kept.book = fm_book_new(&t.shape);
	assert_non_null(fm.kept.book);
	entry[0].guid = 0x200;
	strcpy(entry[1].name, "other");
	fm_book_change(fm.kept.book, entry, 2);
	assert_string_equal(fm_table_name(&fm, 0x200, buf), "'n0' (0,0)");
	assert_string_equal(fm_table_name(&fm, GUID + 1, buf), "'n1' (1,0)");
	assert_ptr_equal(fm_table_entry(&fm, GUID + 1), &fm.table.entry[1]);
	assert_ptr_equal(fm_table_entry(&fm, 0x200), &fm.kept.book->entry[0]);
	/* An entry of a node that no NIC has is of no NIC with GUID 0. */
	fm.kept.book->entry[5].state = FM_NODE_DEAD;
	fm_book_close(fm.kept.book);
	assert_null(fm_table_entry(&fm, 0));
	assert_string_equal(fm_table_name(&fm, 0, buf), "none");
	fm_table_free(&fm.table);
	assert_string_equal(fm_table_name(&fm, 0x200, buf), "'n0' (0,0)");
	fm_book_put(fm.kept.book);
	fm.kept.book = NULL;
}

static void states_have_names(void **state)
{
	(void)state;
	assert_string_equal(fm_node_state_name(FM_NODE_ABSENT), "absent");
	assert_string_equal(fm_node_state_name(FM_NODE_DEAD), "dead");
	assert_null(fm_node_state_name(FM_NODE_STATES));
}

/* Managers of all releases compute the same fingerprints, since roots compare those of others. */
static void fingerprints_are_those_of_all_releases(void **state)
{
	(void)state;
	assert_int_equal(fm_fingerprint(1, 2), 0x32bf4fc42e4ff54eULL);
	assert_int_equal(fm_fingerprint(0x0123456789abcdef, 7), 0xf6da860d4b94109aULL);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_tables_equal_model),
		cmocka_unit_test(table_without_memory_is_not_taken),
		cmocka_unit_test(new_table_is_empty_and_keeps_nothing),
		cmocka_unit_test(nodes_are_named_by_present_or_kept_table),
		cmocka_unit_test(states_have_names),
		cmocka_unit_test(fingerprints_are_those_of_all_releases),
	};

	return cmocka_run_group_tests_name("fm_present_table", all, NULL, NULL);
}
