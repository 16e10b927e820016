// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of cables, by themselves: random tables of a fabric, one after the other, compared with a
 * model that remembers each cable: which events there are, what they say, and when a cable changed.
 */
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/cables.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

#define NODES	24
#define EVENTS	(3 * NODES)

static struct fm_root root;
static struct fm fm = { .root = &root };
static struct fm_entry entry[NODES + 1];	/* the last one is not a part of the table */
static struct fm_record record[NODES];
static bool has_record[NODES];

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	(void)r;
	assert_true(node < fm.table.nodes);
	return has_record[node] ? &record[node] : NULL;
}

/* --- the model -------------------------------------------------------------------------------- */

/** struct cable - @changed: it has changed since the root began; @at: when; @downs: how often lost */
struct cable {
	bool up, lost, changed, before;
	uint64_t at;
	uint32_t downs;
};

struct event {
	uint32_t node, peer;
	unsigned int port, peer_port;
	bool up, excluded, at_least;
	const char *reason;
	uint64_t was_for, version;
	char text[FM_TEXT_MAX];
};

static struct torus_shape known;	/* the shape of these cables; no dimensions: none */
static struct cable cable[NODES][3];
static uint64_t begun;
static bool former, took;
static struct event want[EVENTS];
static uint32_t wanted, logged;

static const struct fm_entry *find(const struct fm_table_msg *t, uint32_t node)
{
	for (uint32_t i = 0; t && i < t->nentries; i++)
		if (t->entries[i].node == node)
			return &t->entries[i];
	return fm.table.version ? &entry[node] : NULL;
}

static bool works(const struct fm_entry *e, unsigned int p)
{
	return e && (e->state == FM_NODE_UP || e->state == FM_NODE_SILENT) &&
	       !((e->fault | e->wiring) >> p & 1);
}

static void know(const struct torus_shape *shape, const struct fm_table_msg *t,
		 const struct fm_entry *of)
{
	known = *shape;
	memset(cable, 0, sizeof(cable));
	begun = fm.now;
	former = of;
	took = of || !t;
	for (uint32_t i = 0; i < torus_nodes(shape); i++)
		for (unsigned int d = 0; d < shape->ndims; d++) {
			uint32_t o = torus_neighbour(shape, i, d);
			const struct fm_entry *a = of ? &of[i] : find(t, i);
			const struct fm_entry *b = of ? &of[o] : find(t, o);

			cable[i][d].up = works(a, d) && works(b, torus_dir_opposite(shape, d));
			cable[i][d].lost = !cable[i][d].up && a && b && a->state != FM_NODE_ABSENT &&
					   b->state != FM_NODE_ABSENT;
		}
}

static const char *reason_of(uint32_t node, unsigned int p)
{
	const struct fm_port_row *row = &record[node].row.port[p];

	if (!has_record[node] || row->state == FM_PORT_UP)
		return NULL;
	if (row->stalled)
		return "stall";
	return row->reason ? torus_link_reason_name(row->reason) : NULL;
}

static bool has_bit(uint16_t a, unsigned int p, uint16_t b, unsigned int q)
{
	return a >> p & 1 || b >> q & 1;
}

static const char *why(const struct fm_table_msg *t, uint32_t node, unsigned int p)
{
	static const struct fm_entry none;
	uint32_t o = torus_neighbour(&known, node, p);
	unsigned int q = torus_dir_opposite(&known, p);
	const struct fm_entry *a = find(t, node), *b = find(t, o);
	const char *here = reason_of(node, p), *far = reason_of(o, q);

	a = a ? a : &none;
	b = b ? b : &none;
	if (here && !(far && !strcmp(here, "peer")))
		return here;
	if (far)
		return far;
	return has_bit(a->held, p, b->held, q) ? "flap" :
	       has_bit(a->wiring, p, b->wiring, q) ? "wiring" : NULL;
}

static void want_text(struct event *e, const struct fm_entry *a, const struct fm_entry *b)
{
	static const struct {
		const char *form;
		unsigned int longest, by, of;	/* ms; the second number is ms / by % of */
	} unit[] = {
		{ "%u ms", 1000, 1, 1 }, { "%u.%u s", 60000, 100, 10 },
		{ "%u min %02u s", 3600000, 1000, 60 },
		{ "%u h %02u min", 86400000, 60000, 60 },
		{ "%u d %02u h", ~0u, 3600000, 24 },
	};
	char at[4][TORUS_TEXT_MAX], after[64] = "", time[40];
	unsigned int ms = (unsigned int)(e->was_for / MS), i = 0;

	while (ms >= unit[i].longest)
		i++;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(time, sizeof(time), unit[i].form, ms / (unit[i].by * unit[i].of),
		 ms / unit[i].by % unit[i].of);
#pragma GCC diagnostic pop
	snprintf(after, sizeof(after), ", after %s%s", e->at_least ? "at least " : "", time);
	snprintf(e->text, sizeof(e->text), "%s:%s ('%s') to %s:%s ('%s') is %s%s%s%s",
		 torus_node_text(&known, e->node, at[0]),
		 torus_port_text(known.ndims, e->port, at[1]), a ? a->name : "",
		 torus_node_text(&known, e->peer, at[2]),
		 torus_port_text(known.ndims, e->peer_port, at[3]), b ? b->name : "",
		 e->up ? "up again" : "lost", e->reason ? ": " : "", e->reason ? e->reason : "",
		 e->was_for ? after : "");
}

static void want_change(const struct fm_table_msg *t, uint32_t node, unsigned int d)
{
	struct cable *c = &cable[node][d];
	struct event *e = &want[wanted];
	uint32_t o = torus_neighbour(&known, node, d);
	unsigned int q = torus_dir_opposite(&known, d);
	const struct fm_entry *a = find(t, node), *b = find(t, o);
	bool up = works(a, d) && works(b, q);

	if (o == node)
		return;
	if (up ? !c->lost : !c->up) {
		c->up |= up;
		return;
	}
	assert_true(wanted < EVENTS);
	*e = (struct event) { .node = node, .port = d, .peer = o, .peer_port = q, .up = up,
			      .reason = up ? NULL : why(t, node, d), .version = t->version,
			      .was_for = fm.now - (c->changed ? c->at : begun),
			      .at_least = c->changed ? c->before : took,
			      .excluded = has_bit(a ? a->admin : 0, d, b ? b->admin : 0, q) };
	want_text(e, a, b);
	wanted++;
	*c = (struct cable) { .up = up, .lost = !up, .changed = true, .at = fm.now,
			      .before = took && !c->changed && begun == fm.now,
			      .downs = c->downs + !up };
}

static uint32_t want_changes(const struct fm_table_msg *t)
{
	if (memcmp(&known, &fm.table.shape, sizeof(known)))
		know(&fm.table.shape, fm.table.version ? NULL : t, NULL);
	if (former)
		begun = fm.now;
	former = false;
	wanted = 0;
	for (uint32_t i = 0; i < t->nentries; i++)
		for (unsigned int d = 0; d < known.ndims; d++) {
			uint32_t node = t->entries[i].node;

			want_change(t, node, d);
			want_change(t, torus_neighbour(&known, node, d + known.ndims), d);
		}
	return wanted;
}

static void check_event(void *io, const struct fm_log *l)
{
	const struct event *e = &want[logged];

	(void)io;
	assert_true(logged++ < wanted);
	assert_string_equal(l->text, e->text);
	assert_string_equal(l->kind, "link");
	assert_int_equal(l->level, e->up || e->excluded ? FM_INFO : FM_WARNING);
	assert_true(l->link->node == e->node && l->link->peer == e->peer);
	assert_true(l->link->port == e->port && l->link->peer_port == e->peer_port);
	assert_true(l->link->up == e->up && l->link->excluded == e->excluded);
	assert_int_equal(l->link->at_least, e->at_least);
	assert_true(l->link->was_for == e->was_for && l->link->version == e->version);
	assert_true(!l->link->reason == !e->reason);
}

/* --- random tables ------------------------------------------------------------------------ */

static uint16_t random_ports(struct rnd *r)
{
	return (uint16_t)(rnd_one_in(r, 8) ? 1u << rnd_below(r, 6) : 0);
}

static struct fm_entry random_entry(struct rnd *r, uint32_t node)
{
	struct fm_entry e = { .node = node, .state = FM_NODE_UP, .fault = random_ports(r),
			      .wiring = random_ports(r), .held = random_ports(r),
			      .admin = random_ports(r) };

	if (rnd_one_in(r, 6))
		e.state = (uint8_t)rnd_below(r, FM_NODE_STATES);
	snprintf(e.name, sizeof(e.name), "n%u-%u", node, rnd_below(r, 10));
	return e;
}

static void random_records(struct rnd *r)
{
	for (uint32_t i = 0; i < fm.table.nodes; i++) {
		has_record[i] = !rnd_one_in(r, 4);
		record[i] = (struct fm_record) { .node = i };
		for (unsigned int p = 0; p < 6; p++)
			record[i].row.port[p] = (struct fm_port_row) {
				.state = rnd_one_in(r, 2) ? FM_PORT_UP : FM_PORT_FAULTY,
				.stalled = rnd_one_in(r, 6),
				.reason = (uint8_t)(rnd_one_in(r, 2) ? rnd_below(r, 4) :
						    TORUS_REASON_PEER),
			};
	}
}

static void take_shape(const char *text)
{
	torus_shape_parse(text, &fm.table.shape);
	fm.table.nodes = torus_nodes(&fm.table.shape);
	for (uint32_t i = 0; i <= NODES; i++)
		entry[i] = (struct fm_entry) { .node = i, .state = FM_NODE_ABSENT };
	entry[NODES].state = FM_NODE_UP;
}

static void check_causes(struct rnd *r)
{
	uint64_t since;

	for (uint32_t i = 0; i < fm.table.nodes; i++)
		for (unsigned int d = 0; d < known.ndims; d++) {
			const struct cable *c = &cable[i][d];
			const char *is = fm_cables_why(&fm, i, d, &since), *be = why(NULL, i, d);

			expect(r, since == (c->changed ? c->at : 0), "cable %u of %u", d, i);
			expect(r, fm_cables_downs(&fm, i, d) == c->downs, "cable %u of %u", d, i);
			expect(r, !is == !be && (!is || !strcmp(is, be)), "cable %u of %u: %s, not %s",
			       d, i, is ? is : "-", be ? be : "-");
		}
}

/* The next table has new entries of some nodes. It is the present one afterwards. */
static void next_table(struct rnd *r, uint32_t rarely)
{
	struct fm_entry new[NODES];
	struct fm_table_msg t = { .version = fm.table.version + 1 + rnd_below(r, 3), .entries = new };
	uint32_t n;

	for (uint32_t i = 0; i < fm.table.nodes; i++)
		if (!rnd_below(r, rarely))
			new[t.nentries++] = random_entry(r, i);
	n = want_changes(&t);
	assert_int_equal(fm_cables_look(&fm, &t), n);
	logged = 0;
	if (!rnd_one_in(r, 6)) {
		fm_cables_log(&fm);
		expect(r, logged == n, "%u events, not %u", logged, n);
		logged = wanted = 0;
		fm_cables_log(&fm);		/* each event once */
	}
	for (uint32_t i = 0; i < t.nentries; i++)
		entry[new[i].node] = new[i];
	fm.table.version = t.version;
	random_records(r);
	check_causes(r);
}

static const char *const shapes[] = { "4x6", "2x3", "3x1x3", "2", "5", "2x3x4" };

static void start(struct rnd *r)
{
	memset(&root, 0, sizeof(root));
	memset(&known, 0, sizeof(known));
	fm.ops.log = check_event;
	fm.now = SEC;
	fm.table.version = 0;
	fm.table.entry = entry;
	assert_true(fm_cables_new(&root));
	take_shape(shapes[rnd_below(r, 6)]);
}

static void tables(uint64_t seed)
{
	static const uint64_t pause[] = { 0, MS, 9 * SEC, 10 * SEC, 11 * SEC, 599 * SEC, 600 * SEC,
					  3600 * SEC };
	struct rnd r = rnd_new(seed);
	size_t blocks = memory_blocks();

	memory_guard(seed % 16 == 1);
	start(&r);
	random_records(&r);
	if (rnd_one_in(&r, 3)) {
		struct fm_entry old[NODES];

		for (uint32_t i = 0; i < fm.table.nodes; i++)
			old[i] = random_entry(&r, i);
		know(&fm.table.shape, NULL, old);
		fm_cables_former(&fm, &fm.table.shape, old);
	}
	for (unsigned int k = 0; k < 12; k++) {
		fm.now += pause[rnd_below(&r, 8)] + rnd_below(&r, 2);
		if (rnd_one_in(&r, 12))
			take_shape(shapes[rnd_below(&r, 6)]);
		next_table(&r, 1 + rnd_below(&r, 4));
	}
	fm_cables_free(&root);
	assert_int_equal(memory_blocks(), blocks);
	memory_guard(false);
}

static void each_change_of_cable_is_event_as_in_model(void **state)
{
	(void)state;
	for_seeds(800, tables);
}

/* Without memory, some events are missing, but not that of a later change. */
static void cables_without_memory_are_looked_at_again(void **state)
{
	struct rnd r = rnd_new(1);
	struct fm_table_msg t = { .entries = entry };
	unsigned int failures = 0;
	size_t blocks;

	(void)state;
	memory_fails_at(1);
	assert_false(fm_cables_new(&root));
	assert_true(memory_failed());
	for (unsigned int n = 1; n < 12; n++) {
		bool failed;

		start(&r);
		take_shape("4x6");
		t.nentries = fm.table.nodes;
		for (uint32_t k = 0; k < 3; k++) {
			for (uint32_t i = 0; i < t.nentries; i++) {
				entry[i] = (struct fm_entry) { .node = i, .state = FM_NODE_UP };
				entry[i].fault = k == 1 ? 0x3f : 0;
			}
			fm.now += SEC;
			if (k < 2)
				memory_fails_at(k ? n : 0);
			want_changes(&t);
			if (k == 2)
				assert_int_equal(fm_cables_look(&fm, &t), 48);
			else if (k == 1)
				assert_true(fm_cables_look(&fm, &t) <= 48);
			else
				assert_int_equal(fm_cables_look(&fm, &t), 0);
			failed = memory_failed();
			failures += k == 1 && failed;
			fm.table.version++;
		}
		fm_cables_free(&root);
	}
	assert_true(failures > 6);
	/* The states have no memory: all cables are looked at with the next table. */
	for (unsigned int n = 1; n < 3; n++) {
		start(&r);
		take_shape("4x6");
		for (uint32_t i = 0; i < t.nentries; i++)
			entry[i].state = FM_NODE_UP;
		blocks = memory_blocks();
		memory_fails_at(n);
		assert_int_equal(fm_cables_look(&fm, &t), 0);
		assert_true(memory_failed());
		memory_fails_at(n);
		fm_cables_former(&fm, &fm.table.shape, entry);
		assert_true(memory_failed());
		assert_int_equal(memory_blocks(), blocks);
		assert_int_equal(fm_cables_look(&fm, &t), 0);
		fm_cables_free(&root);
	}
	root.cables = NULL;
	fm_cables_free(&root);		/* there was no memory for it */
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(each_change_of_cable_is_event_as_in_model),
		cmocka_unit_test(cables_without_memory_are_looked_at_again),
	};

	return cmocka_run_group_tests_name("fm_cable_events", all, NULL, NULL);
}
