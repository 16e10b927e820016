// SPDX-License-Identifier: GPL-2.0-only
/*
 * Too little memory, at each place where a manager asks for some: nothing breaks, no node is
 * forgotten, and once there is memory again the result is the same as without failures.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"
#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"

static struct stage s;

/* --- memory ----------------------------------------------------------------------------- */

/* The allocation of a manager that fails, and how many fail from then on. */
static unsigned int asked, fails_at, fails_for;
static bool counting;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static bool fails(void)
{
	return counting && ++asked >= fails_at && asked < fails_at + fails_for;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

/* --- nodes that do what they are asked -------------------------------------------------- */

#define CONNS 64

/* The last message on each connection, by its number. */
static struct peer {
	bool open;
	bool hello;
	bool fetch;
	uint64_t version;
	uint32_t round;
} peer[CONNS];

static void sees(int conn, const struct fm_msg *msg)
{
	struct peer *p = &peer[conn];

	switch (msg->type) {
	case FM_MSG_TABLE:
		p->version = msg->table.version;
		p->round = 0;
		break;
	case FM_MSG_STEP:
		p->version = msg->step.version;
		p->round = msg->step.round;
		break;
	case FM_MSG_HELLO:
		p->hello = true;
		break;
	case FM_MSG_FETCH:
		p->fetch = true;
		break;
	}
}

static void closes(int conn)
{
	peer[conn] = (struct peer) { .open = false };
}

static void up(int conn)
{
	peer[conn] = (struct peer) { .open = true };
	stage_up(&s, conn);
}

/* --- a root ----------------------------------------------------------------------------- */

#define NODES 12
#define FIRST 10	/* node n has connection FIRST + n */

/* Each node joins unless it has joined, and reports the last step that it was asked for. */
static void nodes_live(uint32_t from)
{
	for (uint32_t i = from; i < NODES; i++) {
		int conn = FIRST + (int)i;
		struct fm_msg m = stage_hello(&s, i);

		m.hello.attach = 1 + s.now;
		if (!peer[conn].open) {
			up(conn);
			if (peer[conn].open)
				stage_msg(&s, conn, &m);
			continue;
		}
		stage_send(&s, conn, FM_MSG_PING);
		if (!peer[conn].version) {
			stage_msg(&s, conn, &m);
			continue;
		}
		m = stage_report(&s, i, peer[conn].version, peer[conn].round);
		stage_msg(&s, conn, &m);
	}
}

static void passes(uint64_t ns, uint32_t from)
{
	nodes_live(from);
	stage_run_ns(&s, s.now + ns);
}

static void row(uint32_t node, uint32_t serial, unsigned int port, enum fm_port_state is)
{
	struct fm_msg m = { .type = FM_MSG_ROW };

	m.row = (struct fm_row_msg) { .guid = NIC + node, .epoch = 1, .row = stage_row(&s, node) };
	m.row.row.serial = serial;
	m.row.row.port[port].state = (uint8_t)is;
	stage_msg(&s, FIRST + (int)node, &m);
}

/* Return: true if all nodes are up, at their places, and nothing is under way. */
static bool in_force(void)
{
	struct fm_status st;

	fm_status(s.fm, &st);
	for (uint32_t i = 0; st.version && i < NODES; i++)
		if (fm_node(s.fm, i)->guid != NIC + i || fm_node(s.fm, i)->state != FM_NODE_UP)
			return false;
	return st.version && fm_in_force(s.fm, st.version);
}

static void settles(void)
{
	for (unsigned int k = 0; !in_force(); k++) {
		if (k > 300)
			fprintf(stderr, "%u for %u: %s", fails_at, fails_for, s.text);
		assert_true(k <= 300);
		passes(100 * MS, 1);
	}
}

/* A root lives: all nodes join, a link flaps, a port is excluded, a node leaves and returns. */
static void root_lives(bool discover)
{
	stage_init(&s, "4x3", 0);
	memset(peer, 0, sizeof(peer));
	s.sees = sees;
	s.in_one = true;
	s.closes = closes;
	s.deaf = "init hello welcome table step report place rows release ping pong lost close "
		 "refuse replay resolve log ";
	s.cfg.flap_limit = 2;
	s.cfg.hold_max = 500 * MS;
	s.dev.placed = !discover;
	s.dev.shape = s.shape;
	if (discover)
		s.cfg.shape.ndims = 0;
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
	asked = 0;
	counting = true;
	if (!stage_try(&s)) {
		counting = false;
		return;
	}
	settles();
	for (uint32_t k = 0; k < 3; k++) {
		row(5, 10 + 2 * k, 0, FM_PORT_FAULTY);
		passes(20 * MS, 1);
		row(5, 11 + 2 * k, 0, FM_PORT_UP);
		passes(20 * MS, 1);
	}
	assert_int_equal(fm_exclude(s.fm, 7, 1, true, START + s.now), 0);
	row(9, 2, 0, FM_PORT_FAULTY);
	passes(2500 * MS, 1);
	peer[FIRST + 1].open = peer[FIRST + 2].open = false;
	stage_down(&s, FIRST + 1);
	stage_down(&s, FIRST + 2);
	passes(50 * MS, 3);
	row(9, 3, 0, FM_PORT_UP);
	settles();
	passes(3000 * MS, 1);
	settles();
	counting = false;
	assert_string_equal(fm_excluded(s.fm, 7, 1), "admin");
	assert_null(fm_excluded(s.fm, 9, 0));
	assert_null(fm_excluded(s.fm, 5, 0));
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/* Plays it with each allocation failing in turn, by itself and with some of the next ones. */
static void at_each(void (*lives)(bool), bool arg, unsigned int step)
{
	unsigned int n;

	fails_at = ~0U;
	fails_for = 0;
	lives(arg);
	n = asked;
	assert_true(n > 10);
	for (fails_at = 1; fails_at <= n; fails_at += step)
		for (fails_for = 1; fails_for < 9; fails_for += 3)
			lives(arg);
}

static void root_survives_each_failed_allocation(void **state)
{
	(void)state;
	at_each(root_lives, false, 1);
}

static void discovering_root_survives_each_failed_allocation(void **state)
{
	(void)state;
	at_each(root_lives, true, 1);
}

/*
 * All nodes have joined when one of them obeys a later root: the root gives up its leadership, and
 * asks all nodes anew.
 */
static void root_asks_anew(bool arg)
{
	struct fm_msg m;
	uint64_t epoch;

	(void)arg;
	stage_init(&s, "4x3", 0);
	memset(peer, 0, sizeof(peer));
	s.sees = sees;
	s.in_one = true;
	s.closes = closes;
	s.deaf = "init hello welcome table step report place rows release ping pong lost close "
		 "refuse replay resolve log ";
	s.dev.placed = true;
	s.dev.shape = s.shape;
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
	stage_start(&s);
	settles();
	epoch = fm_epoch(s.fm);
	m = stage_hello(&s, 3);
	m.hello.attach = 1 + s.now;
	m.hello.root_epoch = epoch + 1;
	m.hello.root_guid = 0xabc;
	peer[FIRST + 3].open = false;
	stage_down(&s, FIRST + 3);
	up(FIRST + 3);
	asked = 0;
	counting = true;
	stage_msg(&s, FIRST + 3, &m);
	stage_run_ns(&s, s.now + MS);
	for (unsigned int k = 0; k < 100 && fm_epoch(s.fm) == epoch; k++)
		passes(100 * MS, 1);
	settles();
	counting = false;
	assert_true(fm_epoch(s.fm) > epoch);
	stage_end(&s);
}

static void asking_root_survives_each_failed_allocation(void **state)
{
	(void)state;
	at_each(root_asks_anew, false, 1);
}

/* --- a node ----------------------------------------------------------------------------- */

static struct fm_entry entry[NODES];

/* Plays the root above a member, by the connections that the member opens, and its two children. */
static void member_passes(bool applied)
{
	struct fm_msg m;

	for (int conn = 1; conn < s.next_conn && conn < CONNS; conn++) {
		if (!peer[conn].open) {
			if (conn == s.next_conn - 1)
				up(conn);
			continue;
		}
		if (peer[conn].hello) {
			peer[conn].hello = false;
			stage_welcome(&s, conn, TERM, "");
			peer[conn].fetch = true;
		}
		if (peer[conn].fetch) {
			peer[conn].fetch = false;
			m = stage_table(&s, 3, entry);
			stage_msg(&s, conn, &m);
		}
		/* As the root does it: when all have reported one step it asks for the next. */
		m = stage_step(3, applied, applied ? FM_STEP_RESUME : FM_STEP_APPLY);
		stage_msg(&s, conn, &m);
	}
	for (uint32_t i = 2; i < 4; i++) {
		int conn = 40 + (int)i;

		m = stage_hello(&s, i);
		m.hello.role = FM_ROLE_CHILD;
		m.hello.term = TERM;
		if (!peer[conn].open) {
			up(conn);
			stage_msg(&s, conn, &m);
		}
		m = stage_report(&s, i, peer[conn].version, peer[conn].round);
		m.report.term = TERM;
		stage_msg(&s, conn, &m);
	}
	stage_run_ns(&s, s.now + 100 * MS);
}

static void member_lives(bool shared)
{
	struct fm_library *l = shared ? fm_library_new() : NULL;
	struct fm_init i;
	bool applied = false;

	stage_init(&s, "4x3", 1);
	memset(peer, 0, sizeof(peer));
	s.sees = sees;
	s.in_one = true;
	s.closes = closes;
	s.cfg.library = l;
	s.deaf = "init hello welcome table step place rows release ping pong lost close refuse "
		 "replay resolve log connect row adopted left fetch ";
	stage_link_up(&s, 2, 1);
	asked = 0;
	counting = true;
	if (stage_try(&s)) {
		i = stage_neighbour(&s, 2);
		stage_receive(&s, 2, &i);
		for (unsigned int k = 0; !fm_in_force(s.fm, 3) ||
		     !strstr(s.text, "report 3.1 of 3"); k++) {
			if (k > 150)
				fprintf(stderr, "%u for %u: %s", fails_at, fails_for, s.text);
			assert_true(k <= 150);
			applied |= stage_count(&s, "report 3.0 of 3") != 0;
			stage_forget(&s);
			/* The table comes again when the node asks for it. */
			if (k % 50 == 49) {
				stage_link_up(&s, 2, 1 + k);
				stage_receive(&s, 2, &i);
			}
			member_passes(applied);
		}
		for (uint32_t node = 0; node < NODES; node++)
			assert_true(s.fm->rows[node] & TORUS_ROW_VALID);
		stage_end(&s);
	}
	counting = false;
	fm_library_free(l);
}

static void member_survives_each_failed_allocation(void **state)
{
	(void)state;
	at_each(member_lives, false, 1);
	at_each(member_lives, true, 1);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(root_survives_each_failed_allocation),
		cmocka_unit_test(discovering_root_survives_each_failed_allocation),
		cmocka_unit_test(asking_root_survives_each_failed_allocation),
		cmocka_unit_test(member_survives_each_failed_allocation),
	};

	return cmocka_run_group_tests_name("fm_memory", all, NULL, NULL);
}
