// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ends of sessions of links, by themselves: random rows of a small torus, the ports that a
 * step adds to the table, and which ports are no longer closed after a recovery. Stubs in this
 * test stand for the functions of the manager that the file calls.
 */
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/ended.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

#define NODES 20

static struct fm_root root;
static struct fm fm = { .root = &root };
static struct fm_record record[NODES];
static bool is_there[NODES];
static struct fm_entry entry[NODES];
static uint16_t excluded[NODES];
static uint32_t changed[NODES], closed[NODES];
static bool is_closed[NODES];
static bool marked[NODES];	/* nodes that are marked for the next table */

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	(void)r;
	return is_there[node] ? &record[node] : NULL;
}

void fm_mark(struct fm_marks *m, uint32_t node)
{
	assert_ptr_equal(m, &root.changes.table);
	marked[node] = true;
}

static unsigned int ports(void)
{
	return 2u * fm.table.shape.ndims;
}

/* Rows in which few ports have a session, and a table that may know of it. */
static void begin(struct rnd *r)
{
	memset(&root, 0, sizeof(root));
	memset(record, 0, sizeof(record));
	memset(entry, 0, sizeof(entry));
	memset(marked, 0, sizeof(marked));
	memset(is_closed, 0, sizeof(is_closed));
	assert_int_equal(torus_shape_parse(rnd_one_in(r, 2) ? "4x5" : "3x2x3", &fm.table.shape), 0);
	fm.ndims = fm.table.shape.ndims;
	fm.table.entry = entry;
	fm.table.closed = excluded;
	root.changes.table.node = changed;
	root.changes.closed.node = closed;
	root.changes.closed.is = is_closed;
	for (uint32_t i = 0; i < torus_nodes(&fm.table.shape); i++) {
		is_there[i] = !rnd_one_in(r, 6);
		record[i].state = (uint8_t)(rnd_one_in(r, 4) ? FM_NODE_DEAD : FM_NODE_UP);
		excluded[i] = (uint16_t)rnd_below(r, 64);
		record[i].opening = (uint16_t)rnd_below(r, 1u << TORUS_MAX_PORTS);
		/* Ports that the fabric does not use have links, too. */
		for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++) {
			struct fm_port_row *port = &record[i].row.port[p];

			port->state = (uint8_t)(rnd_one_in(r, 3) ? FM_PORT_FAULTY : FM_PORT_UP);
			port->closed = rnd_one_in(r, 2);
			port->session = rnd_one_in(r, 3) ? 1 + rnd_below(r, 2) : 0;
			port->seq = (uint16_t)(rnd_one_in(r, 4) ? FM_SEQ_GONE : rnd_below(r, 2));
			entry[i].session[p] = rnd_below(r, 3);
			entry[i].seq[p] = (uint16_t)(rnd_one_in(r, 4) ? FM_SEQ_GONE :
						     rnd_below(r, 2));
		}
		if (rnd_one_in(r, 2))
			changed[root.changes.table.n++] = i;
		if (rnd_one_in(r, 2)) {
			closed[root.changes.closed.n++] = i;
			is_closed[i] = true;
		}
	}
}

/* --- what a step says ------------------------------------------------------------------------- */

static unsigned int next;

/* Checks the next end of a session in the step, if the table does not have it. */
static void check_end(struct rnd *r, const struct fm_step *s, uint32_t node, unsigned int p,
		      uint32_t session, uint16_t seq)
{
	const struct fm_ended *n = &s->ended[next];
	bool known = entry[node].session[p] == session &&
		     (seq == FM_SEQ_GONE || entry[node].seq[p] == seq);

	if (!session || known || next == FM_ENDED_MAX)
		return;
	expect(r, next < s->nended && n->node == node && n->port == p && n->session == session &&
		  n->seq == seq, "node %u, port %u", node, p);
	next++;
}

static void play_seed(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_step s = { .nended = 0 };

	begin(&r);
	next = 0;
	fm_ended_fill(&fm, &s);
	for (uint32_t k = 0; k < root.changes.table.n; k++) {
		uint32_t i = changed[k];

		if (!is_there[i])
			continue;
		/*
		 * A dead node will not report how far it received in sessions with its neighbours.
		 */
		for (unsigned int p = 0; p < ports() && record[i].state == FM_NODE_DEAD; p++) {
			uint32_t o = torus_neighbour(&fm.table.shape, i, p);
			unsigned int q = torus_dir_opposite(&fm.table.shape, p);

			if (is_there[o])
				check_end(&r, &s, i, p, record[o].row.port[q].session, FM_SEQ_GONE);
		}
		for (unsigned int p = 0; p < ports(); p++)
			check_end(&r, &s, i, p, record[i].row.port[p].session,
				  record[i].row.port[p].seq);
	}
	expect(&r, s.nended == next, "%u ends, not %u", s.nended, next);
}

static void step_contains_exactly_ends_that_table_lacks(void **state)
{
	(void)state;
	for_seeds(300, play_seed);
}

/* A step has room for a limited number of ends; the next table has the others. */
static void ends_beyond_step_are_in_next_table(void **state)
{
	struct rnd r = rnd_new(1);
	struct fm_step s = { .nended = 0 };

	(void)state;
	begin(&r);
	root.changes.table.n = 0;
	assert_int_equal(torus_shape_parse("4x5", &fm.table.shape), 0);
	fm.ndims = 2;
	memset(entry, 0, sizeof(entry));
	for (uint32_t i = 0; i < NODES; i++) {
		is_there[i] = true;
		record[i].state = FM_NODE_UP;
		changed[root.changes.table.n++] = i;
		for (unsigned int p = 0; p < 4; p++)
			record[i].row.port[p].session = 7;
	}
	fm_ended_fill(&fm, &s);
	assert_int_equal(s.nended, FM_ENDED_MAX);
	assert_int_equal(s.ended[FM_ENDED_MAX - 1].node, FM_ENDED_MAX / 4 - 1);
	assert_int_equal(s.ended[FM_ENDED_MAX - 1].port, 3);
}

/* --- ports that a replay opens ---------------------------------------------------------------- */

static void reopen(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_record before[NODES];

	begin(&r);
	memcpy(before, record, sizeof(record));
	fm_ended_reopen(&fm);
	for (uint32_t i = 0; i < torus_nodes(&fm.table.shape); i++) {
		for (unsigned int p = 0; p < ports(); p++)
			if (is_there[i] && is_closed[i] &&
			    record[i].row.port[p].state == FM_PORT_UP && !(excluded[i] & 1u << p))
				before[i].opening |= (uint16_t)(1u << p);
		expect(&r, record[i].opening == before[i].opening, "node %u", i);
	}
}

static void ports_to_open_equal_those_of_model(void **state)
{
	(void)state;
	for_seeds(300, reopen);
}

/* A recovery has ended: ports that it opened have no ended session any more. */
static void forget(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_record before[NODES];
	uint32_t left = 0;
	bool was[NODES];

	begin(&r);
	memcpy(before, record, sizeof(record));
	memcpy(was, is_closed, sizeof(was));
	fm_ended_forget(&fm);
	for (uint32_t i = 0; i < torus_nodes(&fm.table.shape); i++) {
		bool looked_at = was[i] && is_there[i], stays = false, opened = false;

		for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++) {
			const struct fm_port_row *old = &before[i].row.port[p];
			const struct fm_port_row *new = &record[i].row.port[p];
			bool opens = looked_at && p < ports() && old->closed &&
				     before[i].opening & ~excluded[i] & 1u << p;

			expect(&r, new->closed == (old->closed && !opens) &&
				   new->session == (opens ? 0 : old->session) &&
				   new->seq == (opens ? 0 : old->seq), "node %u, port %u", i, p);
			opened |= opens;
			stays |= looked_at && p < ports() && new->closed;
		}
		expect(&r, record[i].opening == (looked_at ? 0 : before[i].opening), "node %u", i);
		expect(&r, marked[i] == opened && is_closed[i] == stays, "node %u", i);
		if (stays)
			expect(&r, left < root.changes.closed.n && closed[left++] == i, "node %u",
			       i);
	}
	expect(&r, root.changes.closed.n == left, "%u nodes", left);
}

static void forgotten_sessions_equal_those_of_model(void **state)
{
	(void)state;
	for_seeds(300, forget);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(step_contains_exactly_ends_that_table_lacks),
		cmocka_unit_test(ends_beyond_step_are_in_next_table),
		cmocka_unit_test(ports_to_open_equal_those_of_model),
		cmocka_unit_test(forgotten_sessions_equal_those_of_model),
	};

	return cmocka_run_group_tests_name("fm_sessions", all, NULL, NULL);
}
