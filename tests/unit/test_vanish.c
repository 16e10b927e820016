// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the nodes that the root treats as lost, those that it probes, and those that it informs,
 * with a literal implementation of the rules in vanish.c: random fabrics in which hosts lose power
 * and others are slow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/clock.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/vanish.h"
#include "tests/unit/idle_ops.h"
#include "tests/unit/random.h"

#define NODES 24
#define PORTS 4
#define WAIT (3 * MS)
#define PROBE (2 * MS)
#define KEEPALIVE (500 * MS)

static struct fm *fm;
static struct fm_root *root;
static struct fm_record *records;
static unsigned int was_probed, was_cut_off, was_lost, was_vouched, was_slow;

/* The manager's actions since it was looked at last. */
static unsigned int probes[NODES], nprobed[NODES], due_nprobed[NODES];
static unsigned int losses;
static uint64_t awaits;		/* how long a table waits for the answers to probes */
static unsigned int losing;	/* the node that is being dropped; NODES: none */
static bool accepts;	/* nodes that are probed do */

/* --- the rules ----------------------------------------------------------------------------- */

/* Return: the node at the other end of port @p of @i, if both rows name the other; NODES: none. */
static unsigned int at(unsigned int i, unsigned int p)
{
	const struct fm_port_row *mine = &records[i].row.port[p];
	unsigned int o = (unsigned int)mine->peer_guid - 1;	/* large, if it is 0 */

	if (o >= NODES || o == i || mine->peer_port >= records[o].row.nports ||
	    records[o].row.port[mine->peer_port].peer_guid != i + 1)
		return NODES;
	return o;
}

static bool up(unsigned int i, unsigned int p)
{
	return records[i].row.port[p].state == FM_PORT_UP;
}

static bool far_up(unsigned int i, unsigned int p)
{
	return up(at(i, p), records[i].row.port[p].peer_port);
}

static bool late(unsigned int i)
{
	for (unsigned int p = 0; p < records[i].row.nports; p++) {
		unsigned int o = at(i, p);

		if (o < NODES && up(i, p) && (!far_up(i, p) || records[o].state == FM_NODE_DEAD ||
					      (records[o].lost && !records[o].via)))
			return true;
	}
	return false;
}

static bool reliable(unsigned int i)
{
	if (!records[i].via || records[i].state != FM_NODE_UP)
		return false;
	while (i) {
		if (late(i))
			return false;
		if (!records[i].via || records[i].via > NODES)
			return true;
		i = (unsigned int)records[i].via - 1;
	}
	return true;
}

/* Return: true if links between reliable nodes lead from @i to the root. */
static bool reaches(unsigned int i)
{
	bool is[NODES] = { false }, more = true;

	is[i] = true;
	while (more && !is[0]) {
		more = false;
		for (unsigned int a = 0; a < NODES; a++)
			for (unsigned int p = 0; is[a] && p < records[a].row.nports; p++) {
				unsigned int b = at(a, p);

				if (b == NODES || is[b] || !up(a, p) || !far_up(a, p) ||
				    !reliable(b))
					continue;
				is[b] = more = true;
			}
	}
	return is[0];
}

static bool vouched(unsigned int i)
{
	for (unsigned int p = 0; p < records[i].row.nports; p++) {
		unsigned int o = at(i, p);

		if (o < NODES && far_up(i, p) && reliable(o) && reaches(o))
			return true;
	}
	return false;
}

/* Return: true if the node @i, which is in doubt now, is probed before its time is over. */
static bool probed_at_once(unsigned int i)
{
	uint64_t since = records[i].doubted ? records[i].doubted : fm->now;

	if (records[i].state != FM_NODE_UP || records[i].probed || records[i].answered >= since ||
	    !late(i))
		return false;
	for (unsigned int p = 0; p < records[i].row.nports; p++)
		if (at(i, p) < NODES && far_up(i, p) && reliable(at(i, p)))
			return false;
	return true;
}

static uint64_t next_look(const struct fm_record *m)
{
	uint64_t from = later(m->joined, m->doubted) + WAIT;

	if (m->answered >= m->doubted)
		from = later(from, m->answered + KEEPALIVE);
	return m->probed ? later(from, m->probed + PROBE) : from;
}

/* --- its surroundings ------------------------------------------------------------------------ */

static unsigned int node_of(const char *address)
{
	unsigned int i = (unsigned int)atoi(address);

	assert_in_range(i, 1, NODES - 1);
	return i;
}

/* Opens a connection for a probe, or for a notice to a neighbour of the lost node in the tree. */
static int do_connect(void *io, const char *address)
{
	unsigned int i = node_of(address);

	(void)io;
	if (losing < NODES && due_nprobed[i] > nprobed[i]) {
		nprobed[i]++;
		return -1;
	}
	assert_false(vouched(i));
	assert_int_equal(records[i].probed, fm->now);
	awaits = later(awaits, next_look(&records[i]));
	probes[i]++;
	return accepts ? (int)i - 1 : -1;
}

/* Notes which notices are due as @i is dropped: to its parent, and to those whose parent it was. */
static void note_due(unsigned int i)
{
	memset(nprobed, 0, sizeof(nprobed));
	memset(due_nprobed, 0, sizeof(due_nprobed));
	if (records[i].parent > 1 && records[i].parent <= NODES)
		due_nprobed[records[i].parent - 1]++;
	for (unsigned int o = 1; o < NODES; o++)
		if (records[o].parent == i + 1 &&
		    (records[o].via == i + 1 || (!records[o].via && records[o].listed)))
			due_nprobed[o]++;
}

static void check_probes(void)
{
	if (losing < NODES)
		assert_memory_equal(nprobed, due_nprobed, sizeof(nprobed));
}

static void do_log(void *io, const struct fm_log *log)
{
	unsigned int i;

	(void)io;
	if (!strstr(log->text, "taken as lost"))
		return;
	check_probes();
	i = node_of(log->text + 1);
	assert_int_equal(records[i].state, FM_NODE_UP);
	assert_true(late(i));
	assert_false(vouched(i));
	assert_true(records[i].probed && fm->now >= next_look(&records[i]));
	losing = i;
	losses++;
	note_due(i);
}

static void root_new(void)
{
	struct torus_device dev = { .guid = 1, .nports = PORTS, .bootstrap = true };
	struct torus_link links[PORTS] = { 0 };
	struct fm_ops ops = idle_ops();
	struct fm_config c;

	fm_config_default(&c);
	c.keepalive = KEEPALIVE;
	ops.connect = do_connect;
	ops.log = do_log;
	for (unsigned int p = 0; p < PORTS; p++)
		links[p].port = (uint8_t)p;
	fm = fm_new(&c, &ops, NULL, &dev, links, NULL, NULL, 0);
	assert_non_null(fm);
	root = fm->root;
	for (unsigned int i = 1; i < NODES; i++) {
		struct fm_record *m = fm_record_add(root, i + 1);
		char name[8];

		assert_non_null(m);
		sprintf(name, "%u", i);
		fm_record_name(root, m, name);
		strcpy(m->address, name);
	}
	root->settled = true;
	records = fm_record_no(root, 0);
	losing = NODES;
}

/* --- fabrics ------------------------------------------------------------------------------- */

/* Begins with a torus of 4 by 6, where ports p and p + 2 are opposite. All links are up. */
static void draw(uint64_t *random)
{
	root->nmissing = 0;
	for (unsigned int i = 0; i < NODES; i++) {
		struct fm_record *m = &records[i];
		unsigned int x = i % 4, y = i / 4;

		m->state = FM_NODE_UP;
		m->lost = !random_below(random, 30);	/* but it is there */
		m->listed = false;
		assert_int_equal(m->doubted, 0);
		m->probed = m->answered = 0;
		m->joined = fm->now - random_below(random, 40) * (MS / 4);
		m->row.nports = PORTS;
		for (unsigned int p = 0; p < PORTS; p++) {
			unsigned int nx = p % 2 ? x : (x + (p < 2 ? 1 : 3)) % 4;
			unsigned int ny = p % 2 ? (y + (p < 2 ? 1 : 5)) % 6 : y;

			m->row.port[p] = (struct fm_port_row) {
				.state = FM_PORT_UP, .peer_guid = 1 + nx + 4 * ny,
				.peer_port = (uint8_t)((p + 2) % PORTS),
			};
			if (!random_below(random, 80))
				m->row.port[p].peer_guid = 0;
			if (!random_below(random, 80))
				m->row.port[p].peer_port = PORTS;
		}
		if (!random_below(random, 25))	/* a cable from the node to itself */
			m->row.port[0].peer_guid = m->row.port[2].peer_guid = i + 1;
		m->row.port[PORTS] = m->row.port[random_below(random, PORTS)];
		m->row.port[PORTS].state = random_below(random, 2) ? FM_PORT_UP : FM_PORT_DOWN;
		if (!i)
			continue;
		fm_record_via(root, m, 0);
		m->parent = 0;
		/* Some hang below a node of which nothing is known. */
		fm_record_via(root, m, NODES + 5);
		if (random_below(random, 20))
			fm_record_via(root, m, 1 + random_below(random, i));
		if (!random_below(random, 25))
			m->state = random_below(random, 2) ? FM_NODE_DEAD : FM_NODE_SILENT;
	}
	for (unsigned int i = 1; i < NODES; i++)
		if (!random_below(random, 25)) {
			fm_record_missing(fm, &records[i]);
			fm_roster_forget_below(fm, i + 1);
		}
}

/* A node that was probed may answer: it is not probed again soon. */
static void answers(void)
{
	for (unsigned int i = 0; i < NODES; i++) {
		struct fm_conn *c = fm_conn_find(fm, (int)i - 1);

		assert_int_equal(c != NULL, accepts && probes[i]);
		if (!c || i % 3 == 0)
			continue;
		assert_int_equal(c->role, FM_CONN_PROBE);
		assert_int_equal(c->guid, i + 1);
		fm_vanish_reached(fm, c);
		assert_null(fm_conn_find(fm, (int)i - 1));
		assert_int_equal(records[i].probed, 0);
		assert_int_equal(records[i].answered, fm->now);
		awaits = 0;
	}
	for (struct fm_conn *c; (c = fm_conn_of_role(fm, FM_CONN_PROBE));)
		fm_conn_drop(fm, c);
	memset(probes, 0, sizeof(probes));
}

/*
 * Gives @m a new row: the nodes behind its lost links are in doubt, and those that no reliable
 * neighbour has a link to are probed.
 */
static void row_comes(unsigned int i)
{
	bool is[NODES], probed[NODES] = { false };
	uint64_t due = fm_vanish_expiry(fm);

	losing = NODES;
	for (unsigned int o = 0; o < NODES; o++)
		is[o] = records[o].doubted;
	for (unsigned int p = 0; p < PORTS; p++) {
		uint64_t guid = records[i].row.port[p].peer_guid;
		struct fm_record *o = guid ? &records[guid - 1] : NULL;

		if (o && o != &records[i] && !up(i, p) && o != records && !o->lost &&
		    o->state == FM_NODE_UP)
			is[o - records] = true;
	}
	for (unsigned int p = 0; p < PORTS; p++) {
		uint64_t guid = records[i].row.port[p].peer_guid;

		if (guid && guid != i + 1 && is[guid - 1] && !up(i, p))
			probed[guid - 1] = probed_at_once(guid - 1);
	}
	fm_vanish_row(fm, &records[i]);
	if (fm_vanish_doubts(root))
		due = earlier(due, fm->now + WAIT);
	for (unsigned int o = 0; o < NODES; o++) {
		assert_int_equal(records[o].doubted != 0, is[o]);
		assert_int_equal(probes[o], probed[o]);
		if (probed[o])
			due = earlier(due, next_look(&records[o]));
		was_cut_off += probed[o];
	}
	assert_int_equal(fm_vanish_expiry(fm), due);
	answers();
}

static void adopted(unsigned int i)
{
	uint64_t due = fm_vanish_expiry(fm);
	bool is = records[i].doubted;

	fm_record_via(root, &records[i], 1);
	records[i].missing = 0;
	fm_vanish_adopted(fm, &records[i]);
	assert_false(records[i].lost);
	assert_int_equal(records[i].probed, 0);
	assert_int_equal(records[i].doubted != 0, is ||
			 (late(i) && records[i].state == FM_NODE_UP));
	assert_int_equal(fm_vanish_expiry(fm), late(i) ? earlier(due, fm->now + WAIT) : due);
}

/*
 * Hosts lose their power: only the neighbours report their lost links, some of them late or never.
 */
static void hosts_vanish(uint64_t *random, bool gone[NODES])
{
	unsigned int n = 1 + random_below(random, 4), where = 1 + random_below(random, NODES - 1);

	memset(gone, 0, NODES);
	while (n--) {
		gone[where] = where != 0;
		where = (where + (random_below(random, 2) ? 1 : 4)) % NODES;
	}
	for (unsigned int i = 0; i < NODES; i++) {
		bool lost = false;

		for (unsigned int p = 0; p < PORTS; p++) {
			unsigned int o = at(i, p);
			bool ends = o < NODES && gone[o] && !gone[i] && random_below(random, 12);

			if (ends || !random_below(random, 60)) {
				records[i].row.port[p].state = FM_PORT_DOWN;
				lost = true;
			}
		}
		if (lost && random_below(random, 20))
			row_comes(i);
	}
}

/*
 * Meanwhile another event happens: a slow node reports its links, or becomes a child of another
 * node.
 */
static void meanwhile(uint64_t *random)
{
	unsigned int i = 1 + random_below(random, NODES - 1);

	if (random_below(random, 8))
		return;
	if (!random_below(random, 10))
		records[i].state = FM_NODE_SILENT;
	if (random_below(random, 2)) {
		for (unsigned int p = 0; p < PORTS; p++)
			if (at(i, p) < NODES && !far_up(i, p))
				records[i].row.port[p].state = FM_PORT_DOWN;
		row_comes(i);
		was_slow++;
	} else {
		adopted(i);
	}
}

/* The time to look has come: checks that each node in doubt is treated as the rules say. */
static void look(void)
{
	struct fm_record before[NODES];
	uint64_t due = NEVER;

	memcpy(before, records, sizeof(before));
	losses = 0;
	losing = NODES;
	root->judge_at = NEVER;
	fm->now--;
	fm_vanish_due(fm);	/* the call comes too early */
	assert_memory_equal(before, records, sizeof(before));
	fm->now++;
	fm_vanish_due(fm);
	check_probes();
	if (!fm_vanish_doubts(root))
		awaits = 0;
	was_lost += losses;
	assert_int_equal(root->judge_at, losses ? fm->now : NEVER);
	for (unsigned int i = 0; i < NODES; i++) {
		const struct fm_record *m = &records[i];

		assert_in_range(probes[i], 0, 1);
		assert_int_equal(probes[i], m->probed == fm->now && m->doubted &&
					    before[i].probed != fm->now);
		was_probed += probes[i];
		if (m->lost && !before[i].lost) {
			assert_int_equal(m->via, 0);
			assert_int_equal(m->doubted, 0);
			assert_int_equal(m->attach, before[i].attach + 1);
		}
		if (losses || !before[i].doubted)
			continue;
		if (m->state != FM_NODE_UP || !late(i)) {
			assert_int_equal(m->doubted, 0);
			assert_int_equal(m->probed, 0);
			continue;
		}
		assert_int_equal(m->doubted, before[i].doubted);
		if (fm->now < next_look(&before[i])) {
			assert_int_equal(m->probed, before[i].probed);
		} else if (vouched(i)) {
			assert_int_equal(m->probed, 0);
			due = earlier(due, fm->now + KEEPALIVE);
			was_vouched++;
			continue;
		} else {
			assert_int_equal(before[i].probed, 0);
			assert_int_equal(probes[i], 1);
		}
		due = earlier(due, next_look(m));
	}
	if (losses)
		assert_true(!fm_vanish_doubts(root) || fm_vanish_expiry(fm) <= fm->now + KEEPALIVE);
	else
		assert_int_equal(fm_vanish_expiry(fm), due);
}

static void random_vanished_hosts_are_judged_as_in_model(void **state)
{
	uint64_t seed = random_seed(1), random = seed;
	bool gone[NODES];

	(void)state;
	root_new();
	fm->now = 1000 * KEEPALIVE;
	for (unsigned int k = 0; k < 600; k++) {
		fm->now += 10 * KEEPALIVE;
		draw(&random);
		hosts_vanish(&random, gone);
		for (unsigned int looks = 0; looks < 12 && fm_vanish_expiry(fm) != NEVER; looks++) {
			accepts = !random_below(&random, 6);
			fm->now = fm_vanish_expiry(fm);
			look();
			answers();
			assert_int_equal(fm_vanish_awaits(fm, NEVER - PROBE), awaits);
			fm->now += random_below(&random, 2) * MS;
			if (fm_vanish_expiry(fm) < fm->now)
				fm->now = fm_vanish_expiry(fm);
			meanwhile(&random);
		}
		/* All rows are whole again: no doubt is left. */
		for (unsigned int i = 0; i < NODES; i++)
			records[i].row.nports = 0;
		if (fm_vanish_expiry(fm) != NEVER)
			fm->now = fm_vanish_expiry(fm);
		fm_vanish_due(fm);
		assert_int_equal(fm_vanish_doubts(root), 0);
		awaits = 0;
		assert_int_equal(fm_vanish_expiry(fm), NEVER);
	}
	fm_free(fm);
	assert_true(was_probed > 300 && was_lost > 300 && was_vouched > 300 && was_slow > 50);
	assert_true(was_cut_off > 300);
}

/* --- what comes of it ------------------------------------------------------------------------ */

static struct fm_msg sent;
static int sent_by;

static void do_send(void *io, int conn, const struct fm_msg *msg)
{
	(void)io;
	sent = *msg;
	sent_by = conn;
}

/*
 * A connection for a notice is up: the notice names the lost node, or is not sent if that was
 * forgotten since.
 */
static void notice_names_lost_node_or_is_not_sent(void **state)
{
	struct fm_conn *c;

	(void)state;
	root_new();
	fm->ops.send = do_send;
	for (unsigned int known = 0; known < 2; known++) {
		c = fm_conn_add(fm, 9, FM_CONN_NOTICE);
		c->guid = known ? 5 : 500;
		sent_by = -1;
		fm_vanish_reached(fm, c);
		assert_int_equal(sent_by, known ? 9 : -1);
		if (known)
			fm_conn_drop(fm, c);
		assert_null(fm_conn_find(fm, 9));
	}
	assert_int_equal(sent.type, FM_MSG_DROP);
	assert_int_equal(sent.drop.guid, 5);
	assert_int_equal(sent.drop.term, fm->term);
	assert_string_equal(sent.drop.address, "4");
	fm_free(fm);
}

/* Nodes that the root sent to the lost one are told to look for another parent. */
static void guests_of_lost_node_look_for_another_parent(void **state)
{
	static const struct {
		unsigned int node;
		bool guest, on_its_way;
	} t[] = { { 5, true, true }, { 6, true, false }, { 7, false, true }, { 600, true, true } };

	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		struct fm_conn *c;

		root_new();
		fm->ops.send = do_send;
		c = fm_conn_add(fm, 9, FM_CONN_STRANGER);
		fm_conn_child(fm, c, t[k].node + 1);
		c->guest = t[k].guest;
		if (t[k].on_its_way && t[k].node < NODES)
			records[t[k].node].given = 3;
		fm_record_via(root, &records[3], 1);
		sent_by = -1;
		fm_vanish_drop(fm, &records[3]);
		assert_int_equal(sent_by, k ? -1 : 9);
		if (!k)
			assert_int_equal(sent.drop.guid, 4);
		assert_int_equal(records[3].via, 0);
		fm_free(fm);
	}
}

/* Before the first table no node is in doubt. */
static void no_node_is_in_doubt_before_first_table(void **state)
{
	uint64_t random = 1;

	(void)state;
	root_new();
	fm->now = 10 * KEEPALIVE;
	draw(&random);
	root->settled = false;
	records[1].row.port[0].state = FM_PORT_DOWN;
	fm_vanish_row(fm, &records[1]);
	fm_record_via(root, &records[2], 1);
	fm_vanish_adopted(fm, &records[2]);
	assert_int_equal(fm_vanish_doubts(root), 0);
	assert_int_equal(fm_vanish_expiry(fm), NEVER);
	fm_free(fm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_vanished_hosts_are_judged_as_in_model),
		cmocka_unit_test(notice_names_lost_node_or_is_not_sent),
		cmocka_unit_test(guests_of_lost_node_look_for_another_parent),
		cmocka_unit_test(no_node_is_in_doubt_before_first_table),
	};

	return cmocka_run_group_tests_name("vanish", tests, NULL, NULL);
}
