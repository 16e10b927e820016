// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kept table, by itself: tables whose configuration differs in one value, or not, come into
 * force in random order, while the host is slow, its disk fails, or there is no memory. When a
 * table is given to the host, and what is reported to the root, is compared with a model.
 */
#include <stdio.h>
#include <string.h>

#include <torus/topology.h>
#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/table.h"

#define NODES	6
#define AGAIN	(40000 * MS)
#define CONFIGS	(15 + (unsigned int)sizeof(struct torus_plan))

/** struct model - the table that was given to the host; @config: its configuration, 0: none */
struct model {
	unsigned int config;
	uint64_t term, version, seen_term, seen, again;
	bool answered, failed;
};

static struct fm fm;
static struct model m;
static bool is_candidate;
static unsigned int given, problems;
static struct fm_kept_msg sent;
static unsigned int sends;

unsigned int fm_candidate_stated(const struct fm *f)
{
	(void)f;
	return 17;
}

unsigned int fm_candidate_priority(unsigned int stated, uint32_t node)
{
	assert_int_equal(stated, 17);
	assert_int_equal(node, 1);
	return is_candidate;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	(void)f;
	(void)fmt;
	assert_string_equal(kind, "memory");
	assert_int_equal(key, 2);
	problems = 1;
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	assert_string_equal(kind, "memory");
	assert_int_equal(key, 2);
	problems = 0;
}

static void send_up(struct fm *f, const struct fm_msg *msg)
{
	(void)f;
	assert_int_equal(msg->type, FM_MSG_KEPT);
	sent = msg->kept;
	sends++;
}

static void keep(void *io, const struct fm_msg *table)
{
	(void)io;
	assert_int_equal(table->type, FM_MSG_TABLE);
	assert_int_equal(table->table.version, fm.table.version);
	assert_int_equal(table->table.maker, fm.table.root_guid);
	assert_int_equal(table->table.nentries, NODES - 1);
	given++;
}

static const struct fm_up up = { .send = send_up };

/* --- configurations ------------------------------------------------------------------------ */

static void change_value(struct fm_book *b, unsigned int config)
{
	struct fm_entry *e = &b->entry[2];
	struct fm_order o = { .node = 3, .ports = 1, .by = "me" };
	struct fm_job j = { .id = 7, .name = "job" };

	b->entry[3].admin = 1;
	e->job = 4;
	switch (config) {
	case 1: fm.table.open = 1; break;
	case 2: fm.table.shape.size[0] = 4; break;
	case 3: fm.table.shape.size[1] = 3; break;
	case 4: e->guid++; break;
	case 5: e->admin = 2; break;
	case 6: e->name[0] = 'x'; break;
	case 7: b->entry[0].name[0] = 'x'; break;
	case 8: e->job = 5; break;
	case 9: e->number = 1; break;
	case 10: o.by[0] = 'x'; break;
	case 11: j.name[0] = 'x'; break;
	case 12: j.id = 0; break;
	case 13: e->job = 0; break;
	case 14: b->entry[4] = b->entry[2]; break;
	default:
		if (config >= 15)
			((uint8_t *)&fm.table.plan)[config - 15] ^= 1;
	}
	assert_true(fm_orders_put(&b->orders, &o));
	assert_true(!j.id || fm_jobs_put(&b->jobs, &j));
}

/* Makes the next table, whose states and sessions change in any case. Without memory it has none. */
static void make_table(struct rnd *r, unsigned int config)
{
	struct fm_book *b = fm_book_new(&fm.shape);

	assert_non_null(b);
	fm_book_put(fm.table.book);
	fm.table.book = b;
	fm.table.shape = fm.shape;
	fm.table.open = 0;
	memset(&fm.table.plan, 0, sizeof(fm.table.plan));
	for (uint32_t i = 0; i < NODES - 1; i++) {
		b->entry[i] = (struct fm_entry) {
			.guid = 100 + i, .state = (uint8_t)(2 + rnd_below(r, 3)),
			.fault = (uint16_t)rnd_below(r, 4), .epoch = rnd_below(r, 4),
			.session = { rnd_below(r, 4) }, .differs = (uint8_t)rnd_below(r, 4) };
		snprintf(b->entry[i].name, sizeof(b->entry[i].name), "n%u", i);
	}
	b->entry[NODES - 1].guid = rnd_below(r, 9);	/* of no node: the entry is absent */
	change_value(b, config);
	fm.table.entry = b->entry;
	fm.table.nodes = NODES;
}

/* --- histories ---------------------------------------------------------------------------- */

static bool is_to_be_sent(void)
{
	return m.answered;
}

static void table_comes(struct rnd *r)
{
	unsigned int config = rnd_one_in(r, 4) ? rnd_below(r, CONFIGS) : m.config % 100;
	bool next, has_memory = !rnd_one_in(r, 5);
	unsigned int was = given, were = sends;

	fm.table.version += 1 + (uint64_t)(rnd_one_in(r, 6) ? 1 + rnd_below(r, 2 * FM_KEEP_EVERY) : 0);
	if (rnd_one_in(r, 8))
		fm.table.term++;
	fm.table.root_guid = rnd64(r);
	make_table(r, config);
	is_candidate = !rnd_one_in(r, 8);
	expect(r, fm_keep_news(&fm), "%u", config);
	next = fm.table.term == m.seen_term && fm.table.version == m.seen + 1;
	m.seen = fm.table.version;
	m.seen_term = fm.table.term;
	memory_fails_at(!has_memory);
	fm_keep(&fm);
	memory_failed();
	expect(r, !fm_keep_news(&fm), "%u", config);
	if (is_candidate && next && m.config == 100 + config &&
	    fm.table.version - m.version < FM_KEEP_EVERY) {
		expect(r, given == was && sends - were == is_to_be_sent(), "%u", config);
		return;
	}
	m.config = 0;
	m.answered = false;
	m.again = is_candidate && fm.cfg.keeps ? fm.now + AGAIN : NEVER;
	if (is_candidate && has_memory) {
		m.config = 100 + config;
		m.term = fm.table.term;
		m.version = fm.table.version;
	}
	expect(r, given - was == (is_candidate && has_memory) && sends == were, "%u", config);
	expect(r, problems == (is_candidate && !has_memory), "%u", config);
}

/* The host reports its end, perhaps of a table that is not the one given last. */
static void host_answers(struct rnd *r)
{
	bool ok = rnd_one_in(r, 2), term = rnd_one_in(r, 5), version = rnd_one_in(r, 5);
	unsigned int were = sends;

	fm_keep_ended(&fm, m.term + term, m.version + version, ok);
	if (m.config && !term && !version) {
		m.answered = true;
		m.failed = !ok;
		m.again = NEVER;
		expect(r, sends == were + 1, "%d", ok);
	} else {
		expect(r, sends == were, "%d", ok);
	}
}

static void time_passes(struct rnd *r)
{
	fm.now += rnd_one_in(r, 3) ? AGAIN - rnd_below(r, 2) : rnd_below(r, 2);
	if (fm.now >= m.again)
		m = (struct model) { .again = NEVER, .answered = m.answered, .failed = m.failed,
				     .term = m.term, .version = m.version };
	fm_keep_due(&fm);
	expect(r, fm_keep_news(&fm) == (fm.table.version != m.seen || fm.table.term != m.seen_term),
	       "version %u", (unsigned int)m.seen);
}

static void history(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	m = (struct model) { .again = NEVER };
	fm = (struct fm) { .placed = true, .node = 1, .guid = 101, .now = SEC, .up = &up,
			   .ops = { .keep = keep }, .cfg = { .keeps = !rnd_one_in(&r, 4) },
			   .table = { .term = 5 } };
	torus_shape_parse("3x2", &fm.shape);
	problems = 0;
	assert_true(fm_keep_new(&fm));
	assert_true(fm_keep_expiry(&fm) == NEVER);
	for (unsigned int k = 0; k < 60; k++) {
		unsigned int were = sends;

		switch (rnd_below(&r, 4)) {
		case 0: host_answers(&r); break;
		case 1: time_passes(&r); break;
		default: table_comes(&r);
		}
		expect(&r, fm_keep_expiry(&fm) == m.again, "%u", m.config);
		were = sends;
		fm_keep_send(&fm);
		expect(&r, sends - were == is_to_be_sent(), "%u", m.config);
		if (is_to_be_sent())
			expect(&r, sent.term == m.seen_term && sent.version == m.seen &&
			       sent.guid == 101 && sent.failed == m.failed, "%u", m.config);
	}
	fm_keep_free(&fm);
	fm_book_put(fm.table.book);
	assert_int_equal(memory_blocks(), 0);
}

static void random_tables_are_given_as_in_model(void **state)
{
	(void)state;
	for_seeds(250, history);
}

/*
 * A table with the same configuration is given again after FM_KEEP_EVERY versions, and also the
 * first table of all, if the host has not answered in time.
 */
static void same_configuration_is_given_again_after_many_versions(void **state)
{
	struct rnd r = rnd_new(1);

	(void)state;
	fm = (struct fm) { .placed = true, .node = 1, .now = SEC, .up = &up, .ops = { .keep = keep },
			   .cfg = { .keeps = true }, .table = { .term = 1, .version = 1 } };
	torus_shape_parse("3x2", &fm.shape);
	assert_true(fm_keep_new(&fm));
	make_table(&r, 0);
	is_candidate = true;
	given = 0;
	fm_keep(&fm);
	assert_int_equal(given, 1);
	for (unsigned int k = 1; k <= 2 * FM_KEEP_EVERY; k++) {
		fm.table.version++;
		fm_keep(&fm);
		assert_int_equal(given, 1 + k / FM_KEEP_EVERY);
	}
	fm.table.version = 1;
	fm_keep(&fm);
	fm.now += AGAIN;
	assert_false(fm_keep_news(&fm));
	fm_keep_due(&fm);
	assert_true(fm_keep_news(&fm));
	fm_keep_free(&fm);
	fm_book_put(fm.table.book);
}

/* --- the kept table ------------------------------------------------------------------------ */

static struct fm_table_msg kept_table(struct fm_entry *entry, struct fm_order *order,
				      struct fm_job *job)
{
	struct fm_table_msg t = { .term = 5, .version = 8, .entries = entry, .nentries = 3,
				  .orders = order, .norders = 1, .jobs = job, .njobs = 1,
				  .anew = true, .maker = 0x77, .open = 2 };

	torus_shape_parse("3x2", &t.shape);
	t.line.n = 1;
	t.plan.len4 = 9;
	for (uint32_t i = 0; i < 3; i++)
		entry[i] = (struct fm_entry) { .node = 2 * i, .guid = 100 + i, .admin = 1,
					       .state = FM_NODE_UP, .differs = 3 };
	*order = (struct fm_order) { .node = 2, .ports = 1 };
	*job = (struct fm_job) { .id = 3 };
	return t;
}

static void kept_table_is_sent_as_it_came(void **state)
{
	struct fm_entry entry[NODES];
	struct fm_hello h = { .kept = 77 };
	struct fm_order order;
	struct fm_job job;
	struct fm_table_msg t = kept_table(entry, &order, &job), *k;
	struct fm_msg msg;

	(void)state;
	fm = (struct fm) { .cfg = { .keeps = true } };
	assert_true(fm_keep_new(&fm));
	assert_false(fm_keep_whole(&fm, &msg));
	fm_keep_fill(&fm, &h);
	assert_true(h.keeps && h.kept == 77);
	assert_int_equal(fm_kept_place(&fm, 101), TORUS_NO_NODE);
	for (unsigned int i = 1; i <= 3; i++) {
		memory_fails_at(i);
		assert_false(fm_keep_take(&fm, &t));
		assert_true(memory_failed());
	}
	assert_true(fm_keep_take(&fm, &t));
	assert_int_equal(fm_kept_place(&fm, 101), 2);
	memset(&msg, 0xff, sizeof(msg));
	assert_true(fm_keep_whole(&fm, &msg));
	k = &msg.table;
	assert_true(!k->pause && !k->former && !k->clean && !k->voters.n);
	assert_true(msg.type == FM_MSG_TABLE && k->term == 5 && k->version == 8 && !k->base);
	assert_true(k->maker == 0x77 && k->open == 2 && k->line.n == 1 && k->plan.len4 == 9);
	assert_memory_equal(&k->shape, &t.shape, sizeof(t.shape));
	assert_true(k->nentries == NODES && k->anew && k->norders == 1 && k->njobs == 1);
	assert_true(k->orders[0].node == 2 && k->jobs[0].id == 3);
	for (uint32_t i = 0; i < NODES; i++)
		assert_true(k->entries[i].node == i && !k->entries[i].differs &&
			    k->entries[i].guid == (i & 1 ? 0 : 100 + i / 2));
	fm_keep_fill(&fm, &h);
	assert_true(h.kept == 8 && h.kept_term == 5 && h.kept_root == 0x77);
	fm_keep_free(&fm);
	assert_int_equal(memory_blocks(), 0);
}

/* Only a whole table of at least two nodes, later than the one that is known, is taken. */
static void only_later_whole_table_is_kept(void **state)
{
	static const struct { uint64_t term, version, base; const char *shape; bool taken; } cases[] = {
		{ 5, 8, 7, "3x2", false }, { 5, 8, 0, "1", false }, { 0, 0, 0, "3x2", true },
		{ 5, 8, 0, "3x2", true },
		{ 5, 8, 0, "3x2", false }, { 5, 7, 0, "3x2", false }, { 4, 9, 0, "3x2", false },
		{ 5, 9, 0, "3x2", true }, { 6, 1, 0, "2x4", true }, { 6, 2, 0, "2x1", true },
	};
	struct fm_entry entry[NODES];
	struct fm_order order;
	struct fm_job job;
	struct fm_table_msg t = kept_table(entry, &order, &job);

	(void)state;
	fm = (struct fm) { .epoch = 1 };
	assert_true(fm_keep_new(&fm));
	t.nentries = t.norders = 0;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		t.term = cases[i].term;
		t.version = cases[i].version;
		t.base = cases[i].base;
		torus_shape_parse(cases[i].shape, &t.shape);
		assert_int_equal(fm_keep_take(&fm, &t), cases[i].taken);
		if (cases[i].taken)
			assert_true(fm.kept.term == t.term && fm.kept.version == t.version);
	}
	fm_keep_free(&fm);
	memory_fails_at(1);
	assert_false(fm_keep_new(&fm));
	assert_true(memory_failed());
	assert_int_equal(memory_blocks(), 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_tables_are_given_as_in_model),
		cmocka_unit_test(same_configuration_is_given_again_after_many_versions),
		cmocka_unit_test(kept_table_is_sent_as_it_came),
		cmocka_unit_test(only_later_whole_table_is_kept),
	};

	return cmocka_run_group_tests_name("fm_on_disk", all, NULL, NULL);
}
