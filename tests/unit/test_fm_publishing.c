// SPDX-License-Identifier: GPL-2.0-only
/*
 * The next table, by itself: random nodes, ports, orders and colours of packets, and which version,
 * entries and votes follow. Stubs in this test stand for the functions of the manager that the file
 * calls; the sets of changed nodes, the demand, orders and jobs are the manager's own.
 */
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "tests/unit/publishing.h"

/* --- versions --------------------------------------------------------------------- */

static uint8_t bit(uint64_t version)
{
	return (uint8_t)(1u << version % TORUS_COLOURS);
}

/* Return: the first of the three versions after @from with a colour of @mask; 0: none has one */
static uint64_t first_of(uint64_t from, uint8_t mask)
{
	for (uint64_t v = from + 1; v < from + TORUS_COLOURS; v++)
		if (mask & bit(v))
			return v;
	return 0;
}

/* Return: the colours that have no packets, as far as the node of @m knows */
static uint8_t clean_by(const struct fm_record *m)
{
	const struct fm_statements *v = &m->stated;
	bool latest = v->table == root.former.table && v->term == root.former.epoch &&
		      v->root == root.former.root;

	if (!v->table && v->rows_term)	/* its manager was restarted */
		return v->rows_term == root.former.epoch && v->rows == root.former.table ? 15 : 0;
	if (!v->table)
		return 15;
	if (!(v->votes & 1) && v->rows && v->rows < v->table)	/* in no drain of its table */
		return 0;
	return latest ? 15 : v->clean;
}

/* Return: whether some NIC may have had rows of a later version than all that are known */
static bool may_be_later(void)
{
	bool maker = !root.former.table;

	for (uint32_t i = 0; i < roster; i++) {
		if (!record[i].version && (!i || record[i].stated.received))
			return true;
		maker |= record[i].guid == root.former.root && (!i || record[i].stated.received);
	}
	return !maker;
}

static bool has_blank_nic(void)
{
	for (uint32_t i = 0; i < roster; i++)
		if (!record[i].version && (!i || record[i].stated.received))
			return true;
	return false;
}

static uint64_t floor_of;	/* the version above which the next one is chosen */

/* Return: the next version; @clean: the colours that are clean before it is made */
static uint64_t expected_version(uint8_t *clean)
{
	uint64_t floor = later(later(root.version, root.version_seen), root.former.table), v;
	bool first = !fm.table.version && floor;
	uint8_t used = 0;

	if (root.version_kept && ((!fm.table.version && has_blank_nic()) ||
				  root.version_kept > floor))
		floor = later(floor, root.version_kept + FM_KEEP_AHEAD);
	floor_of = floor;
	*clean = root.clean;
	if (!first) {
		if (floor == fm.table.version && !root.brought)
			return root.clean & bit(floor + 1) ? floor + 1 : 0;
		v = first_of(floor, root.clean & (uint8_t)~root.brought);
		return v ? v : first_of(floor, root.clean);
	}
	*clean = root.former.table == floor ? root.former.clean & 15 : 0;
	for (uint32_t i = 0; i < roster; i++) {
		used |= record[i].version ? bit(record[i].version) : 0;
		*clean &= clean_by(&record[i]);
	}
	*clean &= (uint8_t)~used;
	v = first_of(floor, *clean);
	if (!v) {
		*clean = 0;
		v = first_of(floor, (uint8_t)~used);
		v = v ? v : floor + 1;
	}
	return v + (may_be_later() ? TORUS_COLOURS : 0);
}

static uint64_t some_version(struct rnd *r)
{
	return rnd_one_in(r, 4) ? 0 : 5 + rnd_below(r, 4);
}

static void choose_statements(struct rnd *r, struct fm_record *m)
{
	struct fm_statements *v = &m->stated;

	m->version = some_version(r);
	m->brought = 1;
	v->received = rnd_below(r, 2);
	v->table = rnd_one_in(r, 2) ? root.former.table : some_version(r);
	v->term = rnd_one_in(r, 4) ? 2 : 3;
	v->root = rnd_one_in(r, 4) ? 8 : root.former.root;
	v->rows = rnd_one_in(r, 2) ? root.former.table : some_version(r);
	v->rows_term = rnd_one_in(r, 3) ? 0 : 2 + rnd_below(r, 2);
	v->votes = (uint16_t)rnd_below(r, 4);
	v->clean = (uint8_t)(rnd_below(r, 16) | rnd_below(r, 16));
}

/* A root makes its first table, or one after nodes joined. */
static void choose_version(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	for (unsigned int k = 0; k < 60; k++) {
		uint64_t version, was;
		bool first = rnd_one_in(&r, 2), mixed, doubtful;
		uint8_t clean, brought;

		start();
		roster = 1 + rnd_below(&r, 3);
		root.former.table = rnd_one_in(&r, 4) ? 0 : 5 + rnd_below(&r, 4);
		root.former.epoch = 3;
		root.former.root = 100 + rnd_below(&r, 4);
		root.former.clean = (uint8_t)(rnd_below(&r, 16) | rnd_below(&r, 16));
		for (uint32_t i = 0; i < roster; i++)
			choose_statements(&r, &record[i]);
		root.version = first ? 0 : 8;
		fm.table.version = root.version;
		root.version_seen = rnd_one_in(&r, 3) ? 0 : some_version(&r) + rnd_below(&r, 2);
		root.version_kept = rnd_one_in(&r, 2) ? 0 : some_version(&r) + rnd_below(&r, 3);
		root.clean = (uint8_t)rnd_below(&r, 16);
		root.brought = (uint8_t)(rnd_one_in(&r, 2) ? 0 : rnd_below(&r, 16));
		root.base_seen.version = rnd_below(&r, 10);
		accepts = !rnd_one_in(&r, 5);
		brought = root.brought;
		was = fm.table.version;
		version = expected_version(&clean);
		doubtful = !was && root.base_seen.version < root.version_seen;
		fm_demand(&fm, 0, "it is time");
		fm_publish_due(&fm);
		doubtful |= !was && floor_of && !clean;
		expect(&r, sent.version == version, "%" PRIu64 " for %" PRIu64, sent.version,
		       version);
		if (!version) {
			expect(&r, fm_demand_is(&root) && fm_demand_expiry(&root) == NEVER,
			       "round %u", k);
			expect(&r, fm_demand_asks(&root) == 1, "round %u", k);
			continue;
		}
		mixed = brought & bit(version);
		clean &= (uint8_t)~(bit(version) | brought);
		expect(&r, root.version == version && root.brought == 0, "round %u", k);
		expect(&r, root.clean == clean && sent.clean == clean, "%x for %x", sent.clean,
		       clean);
		for (uint32_t i = 0; i < roster; i++)
			expect(&r, record[i].brought == !!was, "round %u", k);
		expect(&r, fm_demand_is(&root) == (accepts && (mixed || doubtful)),
		       "round %u", k);
		if (accepts && (mixed || doubtful)) {
			expect(&r, fm_demand_expiry(&root) == NEVER, "round %u", k);
			assert_string_equal(fm_demand_cause(&root), mixed ?
					    "nodes joined whose old packets may be taken for those "
					    "of this version" : "root restarted in a recovery");
		}
	}
}

static void version_has_colour_without_packets_if_there_is_one(void **state)
{
	(void)state;
	for_seeds(60, choose_version);
}

/* --- entries ---------------------------------------------------------------------- */

static bool is_faulty(const struct fm_record *m, unsigned int p)
{
	const struct fm_port_row *port = &m->row.port[p];
	const struct fm_record *o = at_place(torus_neighbour(&shape, m->node, p));

	if ((held[m->node] & 1u << p) || port->state != FM_PORT_UP)
		return true;
	if (m->state == FM_NODE_UP)
		return false;
	return port->closed || m->old_shape || m->bare ||
	       (m->state == FM_NODE_SILENT && o &&
		o->row.port[torus_dir_opposite(&shape, p)].closed);
}

static struct fm_entry expected_entry(uint32_t node)
{
	const struct fm_record *m = at_place(node);
	struct fm_entry e;

	memset(&e, 0, sizeof(e));
	e.node = node;
	e.admin = root.admin[node];
	e.job = root.seat[node].job;
	e.number = root.seat[node].number;
	if (!m)
		return e;
	e.state = m->state;
	e.guid = m->guid;
	e.epoch = m->epoch;
	e.serial = m->row.serial;
	strcpy(e.name, m->name);
	strcpy(e.address, m->address);
	e.differs = differs[node];
	e.wiring = wiring[node];
	e.held = held[node];
	for (unsigned int p = 0; p < PORTS; p++) {
		const struct fm_port_row *port = &m->row.port[p];

		e.fault |= (uint16_t)(is_faulty(m, p) << p);
		e.stalled |= (uint16_t)((port->state != FM_PORT_UP && port->stalled) << p);
		e.ended |= (uint16_t)(!!port->session << p);
		e.session[p] = port->session;
		e.seq[p] = port->session ? port->seq : 0;
	}
	return e;
}

/* Writes to each record where it is; the spare one may have been put at several places. */
static void find_places(void)
{
	for (uint32_t i = 0; i < RECORDS; i++)
		record[i].node = TORUS_NO_NODE;
	for (uint32_t i = 0; i < NODES; i++)
		if (root.at[i] && record[root.at[i] - 1].node == TORUS_NO_NODE)
			record[root.at[i] - 1].node = i;
		else
			root.at[i] = 0;
}

/* Something changes at a place, which is marked. */
static void change(struct rnd *r, uint32_t node)
{
	struct fm_port_row *port;
	struct fm_record *m;

	fm_mark(&root.changes.table, node);
	root.admin[node] = (uint16_t)rnd_below(r, 2);
	root.seat[node] = (struct fm_seat) { (uint16_t)rnd_below(r, 2), rnd_below(r, 2) };
	wiring[node] = (uint16_t)rnd_below(r, 2);
	held[node] = (uint16_t)rnd_below(r, 2);
	odd[node] = rnd_one_in(r, 4);
	differs[node] = (uint8_t)rnd_below(r, 2);
	root.at[node] = rnd_one_in(r, 8) ? 0 : 1 + (rnd_one_in(r, 6) ? RECORDS - 1 : node);
	find_places();
	m = at_place(node);
	if (!m)
		return;
	port = &m->row.port[rnd_below(r, PORTS + 1)];
	m->state = (uint8_t)(FM_NODE_UP + rnd_below(r, 3));
	m->old_shape = rnd_one_in(r, 4);
	m->bare = rnd_one_in(r, 4);
	m->row.serial += rnd_below(r, 2);
	m->name[1] = (char)('a' + rnd_below(r, 2));
	port->state = (uint8_t)rnd_below(r, 2);
	port->closed = rnd_one_in(r, 3);
	port->stalled = rnd_one_in(r, 3);
	port->session = rnd_below(r, 2);
	port->seq = (uint16_t)rnd_below(r, 3);
}

/* The votes of the nodes of an entry that changes, of which the manager was told. */
static void expect_votes(const struct fm_entry *was, const struct fm_entry *e, int *votes)
{
	for (uint32_t i = 0; i < RECORDS; i++)
		if (record[i].guid == was->guid && was->guid != e->guid &&
		    was->state == FM_NODE_UP) {
			votes[i] = 0;
			votes_reported--;
		}
	if (at_place(e->node)) {
		votes[at_place(e->node) - record] = e->state == FM_NODE_UP;
		votes_reported--;
	}
}

/* Return: number of entries that the table should have */
static uint32_t compare_entries(struct rnd *r, const bool *reported, const struct fm_entry *had)
{
	int votes[RECORDS];
	uint32_t n = 0, norders = 0;
	bool moved = false;

	memset(votes, 0xff, sizeof(votes));
	for (uint32_t i = 0; i < NODES; i++) {
		struct fm_entry e = expected_entry(i);
		bool same = !memcmp(&e, &had[i], sizeof(e)) && order_before[i] == order_is[i];

		if (!reported[i])
			continue;
		expect(r, root.changes.differ.is[i] == !!e.differs, "node %u", i);
		if (same || (!at_place(i) && fm_table_blank(&e) && fm_table_blank(&had[i])))
			continue;
		expect(r, n < sent.nentries, "node %u is not in the table", i);
		assert_memory_equal(&sent_entry[n], &e, sizeof(e));
		expect(r, root.changes.part.is[i], "node %u", i);
		for (uint32_t k = 0; k < order_is[i]; k++)
			expect(r, sent_order[norders++].node == i, "order of %u", i);
		moved |= e.state != had[i].state;
		expect_votes(&had[i], &e, votes);
		n++;
	}
	expect(r, sent.nentries == n && sent.norders == norders, "%u for %u", sent.nentries, n);
	expect(r, root.joined == !moved, "joined");
	assert_memory_equal(vote, votes, sizeof(votes));
	expect(r, !votes_reported, "%u votes", votes_reported);
	return n;
}

static void publish_changes(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	start();
	for (unsigned int k = 0; k < 40; k++) {
		struct fm_entry had[NODES];
		bool reported[NODES];

		for (uint32_t n = rnd_below(&r, 4); n--;)
			change(&r, rnd_below(&r, NODES));
		change_orders(&r);
		for (uint32_t i = 0; i < NODES; i++)
			reported[i] = root.changes.table.is[i] || root.changes.odd.is[i] ||
				  root.changes.differ.is[i];
		memcpy(had, book.entry, sizeof(had));
		before_table();
		accepts = !rnd_one_in(&r, 5);
		fm_publish_due(&fm);
		expect(&r, sent.version == root.version, "round %u", k);
		compare_entries(&r, reported, had);
		for (uint32_t i = 0; i < NODES; i++) {
			bool odd_now = reported[i] ? at_place(i) && odd[i] : false, again = false;

			for (uint32_t e = 0; !accepts && e < sent.nentries; e++)
				again |= sent_entry[e].node == i;
			expect(&r, root.changes.odd.is[i] == odd_now, "node %u", i);
			expect(&r, root.changes.table.is[i] == again, "node %u", i);
			expect(&r, looked[i] == reported[i], "node %u", i);
		}
		expect(&r, root.changes.part.n == sent.nentries, "round %u", k);
		forget_marks(&root.changes.part);
	}
}

static void table_has_entries_that_changed_and_no_others(void **state)
{
	(void)state;
	for_seeds(40, publish_changes);
}

/* An entry that says nothing, and said nothing before, is left out. */
static void blank_place_has_no_entry(void **state)
{
	struct fm_entry e;

	(void)state;
	start();
	root.at[2] = 0;
	memset(&book.entry[2], 0, sizeof(e));
	book.entry[2].node = 2;
	memset(&e, 0xee, sizeof(e));
	assert_false(fm_publish_entry(&fm, 2, 9, &e));
	root.admin[2] = 4;
	assert_true(fm_publish_entry(&fm, 2, 9, &e));
	assert_int_equal(e.admin, 4);
	root.admin[2] = 0;
	book.entry[2].state = FM_NODE_DEAD;
	assert_true(fm_publish_entry(&fm, 2, 9, &e));
	assert_int_equal(e.state, 0);
	root.at[2] = 3;
	memset(&book.entry[2], 0, sizeof(e));
	assert_true(fm_publish_entry(&fm, 2, 9, &e));
	assert_int_equal(e.guid, 102);
}

/* --- the rest of a table ------------------------------------------------------------ */

static void lack_of_memory_delays_table(void **state)
{
	(void)state;
	for (unsigned int n = 1; n < 3; n++) {
		size_t blocks = memory_blocks();

		start();
		fm_mark(&root.changes.table, 1);
		before_table();
		memory_fails_at(n);
		fm_publish_due(&fm);
		assert_true(memory_failed());
		assert_int_equal(memory_blocks(), blocks);
		assert_int_equal(sent.version, 0);
		assert_int_equal(fm_demand_expiry(&root), fm.now + RESEND);
		assert_true(root.changes.table.is[1]);
		fm.now += RESEND;
		fm_publish_due(&fm);
		assert_int_equal(sent.version, root.version);
		assert_int_equal(memory_blocks(), blocks);
	}
}

static void table_waits_for_other_part_and_for_nodes_in_doubt(void **state)
{
	const uint64_t begin = 5000 * MS;

	(void)state;
	for (unsigned int k = 0; k < 16; k++) {
		static const uint64_t wait[] = { 0, 1, RESEND, RESEND + 7 };
		uint64_t parts = wait[k % 4], vanish = wait[k / 4];
		uint64_t due = begin + later(earlier(parts, RESEND), vanish);

		start();
		assert_int_equal(fm_publish_expiry(&fm), NEVER);
		parts_until = parts ? begin + parts : 0;
		vanish_until = vanish ? begin + vanish : 0;
		fm_demand(&fm, 0, "it is time");
		assert_int_equal(fm_publish_expiry(&fm), due);
		fm.now = due - 1;
		fm_publish_due(&fm);
		assert_int_equal(sent.version, 0);
		fm.now = due;
		fm_publish_due(&fm);
		assert_int_equal(sent.version, root.version);
	}
}

static void table_says_what_the_root_decided(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 8; k++) {
		start();
		fm.table.version = root.version = k & 1 ? 8 : 0;
		pause_rows = k & 2;
		doubts = k & 1;
		root.open = 2;
		root.plan.len4 = 9;
		root.line.n = 3;
		root.jobs = (struct fm_jobs) { .of = &job, .n = k & 4 ? 1 : 0 };
		before_table();
		fm_publish_due(&fm);
		assert_int_equal(sent.term, fm.term);
		assert_int_equal(sent.base, k & 1 ? 8 : 0);
		assert_int_equal(sent.pause, pause_rows);
		assert_int_equal(sent.open, 2);
		assert_int_equal(sent.plan.len4, 9);
		assert_int_equal(sent.line.n, 3);
		assert_int_equal(sent.voters.n, 4);
		assert_int_equal(sent.shape.ndims, 3);
		assert_int_equal(sent.anew, !(k & 1) || k & 4);
		assert_int_equal(sent.njobs, k & 4 ? 1 : 0);
		assert_ptr_equal(sent.jobs, &job);
		assert_int_equal(calls, ALL_CALLS);
		assert_false(fm_demand_is(&root) && fm_demand_expiry(&root) != NEVER);
	}
}

static void another_table_follows_for_nodes_that_wait_for_places(void **state)
{
	(void)state;
	start();
	places = false;
	before_table();
	fm_publish_due(&fm);
	assert_int_equal(fm_demand_expiry(&root), fm.now + MEMBER_MAX);
	start();
	root.early = 1;
	root.early_until = fm.now + 77;
	before_table();
	fm_publish_due(&fm);
	assert_int_equal(fm_demand_expiry(&root), fm.now + 77);
}

/* Bits of @k: no place, up, connected, does not wait, and why there is no place. */
static void only_connected_nodes_without_place_are_problems(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 32; k++) {
		struct fm_record *m = &record[RECORDS - 1];

		start();
		m->node = k & 1 ? TORUS_NO_NODE : 1;
		m->state = k & 2 ? FM_NODE_UP : FM_NODE_SILENT;
		m->via = k & 4 ? 100 : 0;
		m->early = !(k & 8);
		why = k & 16 ? "; why" : NULL;
		root.unplaced = 1;
		before_table();
		fm_publish_due(&fm);
		assert_string_equal(problem, k == 31 ? "node 'nn' (an) has no place: no free "
				    "coordinates fit its cables; why" : "");
		start();	/* all of them wait for their neighbours */
		m->node = TORUS_NO_NODE;
		m->via = 100;
		why = "; why";
		root.unplaced = root.early = 1;
		before_table();
		fm_publish_due(&fm);
		assert_string_equal(problem, "");
	}
}

static void log_has_cause_and_number_of_links(void **state)
{
	static const char *const text[] = {
		"version 9: it is time", "version 9: it is time",
		"version 9: it is time (2 links lost or back)",
	};

	(void)state;
	for (cables = 0; cables < 3; cables++) {
		start();
		root.version = fm.table.version = 8;
		before_table();
		fm_publish_due(&fm);
		assert_string_equal(line, text[cables]);
	}
	cables = 0;
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(version_has_colour_without_packets_if_there_is_one),
		cmocka_unit_test(table_has_entries_that_changed_and_no_others),
		cmocka_unit_test(blank_place_has_no_entry),
		cmocka_unit_test(lack_of_memory_delays_table),
		cmocka_unit_test(table_waits_for_other_part_and_for_nodes_in_doubt),
		cmocka_unit_test(table_says_what_the_root_decided),
		cmocka_unit_test(another_table_follows_for_nodes_that_wait_for_places),
		cmocka_unit_test(only_connected_nodes_without_place_are_problems),
		cmocka_unit_test(log_has_cause_and_number_of_links),
	};

	return cmocka_run_group_tests_name("fm_publishing", all, NULL, NULL);
}
