// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the nodes that are judged dead or silent, and the time of it, with a literal
 * implementation of the rules in judge.c: random fabrics in which any nodes are missing and any
 * links are lost.
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
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/judge.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/vanish.h"
#include "tests/unit/idle_ops.h"
#include "tests/unit/random.h"

#define NODES 24
#define PORTS 4
#define RESEND (100 * MS)
#define MEMBER_MAX (3000 * MS)

static struct fm *fm;
static struct fm_root *root;
static struct fm_record *records;

/* --- the rest of the manager: a root that waits for its fabric --------------------------- */

static void root_new(void)
{
	const struct fm_ops ops = idle_ops();
	struct torus_device dev = { .guid = 1, .nports = PORTS, .bootstrap = true };
	struct torus_link links[PORTS] = { 0 };
	struct fm_config c;

	fm_config_default(&c);
	c.resend = RESEND;
	c.member_max = MEMBER_MAX;
	for (unsigned int p = 0; p < PORTS; p++)
		links[p].port = (uint8_t)p;
	fm = fm_new(&c, &ops, NULL, &dev, links, NULL, NULL, 0);
	assert_non_null(fm);
	root = fm->root;
	for (unsigned int i = 1; i < NODES; i++)
		assert_non_null(fm_record_add(root, i + 1));
	root->settled = true;
	records = fm_record_no(root, 0);
}

/* --- the rules ------------------------------------------------------------------------ */

/* Return: the neighbour of @i at @p, if both rows name the other; NODES: none. */
static unsigned int at(unsigned int i, unsigned int p)
{
	const struct fm_port_row *mine = &records[i].row.port[p], *its;
	unsigned int o = mine->peer_guid ? (unsigned int)mine->peer_guid - 1 : NODES;

	if (o == NODES || o == i || records[o].state == FM_NODE_DEAD)
		return NODES;
	its = &records[o].row.port[mine->peer_port];
	return its->peer_guid == i + 1 ? o : NODES;
}

static bool reports_up(unsigned int o, unsigned int i, unsigned int p)
{
	return records[o].row.port[records[i].row.port[p].peer_port].state == FM_PORT_UP;
}

/* Finds the missing nodes for which another node vouches, over any number of steps. */
static void vouched_of(bool vouched[NODES])
{
	bool more = true;

	memset(vouched, 0, NODES);
	while (more) {
		more = false;
		for (unsigned int i = 0; i < NODES; i++)
			for (unsigned int p = 0; p < PORTS; p++) {
				unsigned int o = at(i, p);

				if (records[i].via || vouched[i] ||
				    records[i].state == FM_NODE_DEAD ||
				    o == NODES || !reports_up(o, i, p) ||
				    !(records[o].via || vouched[o]))
					continue;
				vouched[i] = more = true;
			}
	}
}

static bool lost_by_one_there(unsigned int i)
{
	for (unsigned int p = 0; p < PORTS; p++) {
		unsigned int o = at(i, p);

		if (o < NODES && records[o].via && !reports_up(o, i, p))
			return true;
	}
	return false;
}

/* Return: true if a link is lost that the node last reported as up. */
static bool lost_what_was_up(unsigned int i)
{
	for (unsigned int p = 0; p < PORTS; p++) {
		unsigned int o = at(i, p);

		if (o < NODES && records[o].via && !reports_up(o, i, p) &&
		    records[i].row.port[p].state == FM_PORT_UP)
			return true;
	}
	return false;
}

/* Return: true if links join @a and @b, both missing and not vouched for, by the row of one end. */
static bool joined(unsigned int a, unsigned int b, const bool vouched[NODES])
{
	if (records[a].via || records[b].via || vouched[a] || vouched[b])
		return false;
	for (unsigned int p = 0; p < PORTS; p++)
		if (at(a, p) == b &&
		    (reports_up(b, a, p) || records[a].row.port[p].state == FM_PORT_UP))
			return true;
	return false;
}

/* Fills @set with the nodes that are judged together with @i. Return: how many these are. */
static unsigned int set_of(unsigned int i, const bool vouched[NODES], bool set[NODES])
{
	unsigned int n = 1;
	bool more = true;

	memset(set, 0, NODES);
	set[i] = true;
	while (more) {
		more = false;
		for (unsigned int a = 0; a < NODES; a++)
			for (unsigned int b = 0; b < NODES; b++) {
				if (!set[a] || set[b] || records[b].state == FM_NODE_DEAD ||
				    !(joined(a, b, vouched)))
					continue;
				set[b] = more = true;
				n++;
			}
	}
	return n;
}

/* Return: when @i, one of @n judged together, may be dead. */
static uint64_t dead_at(unsigned int i, unsigned int n)
{
	if (!records[i].lost && !lost_by_one_there(i))
		return records[i].missing + 4 * RESEND;
	if (n == 1 && lost_what_was_up(i) && fm->now > records[i].joined + RESEND / 4)
		return records[i].missing;
	return records[i].missing + RESEND / 4;
}

/* --- fabrics ---------------------------------------------------------------------------- */

/* Draws a ring of 4 by 6, where ports p and p + 2 are opposite, and the reports of each link. */
static void draw(uint64_t *random)
{
	uint32_t gone = 1 + random_below(random, 9), broken = random_below(random, 19);

	memset(records, 0, NODES * sizeof(*records));
	root->nmissing = 0;
	root->judge_at = 0;
	for (unsigned int i = 0; i < NODES; i++) {
		struct fm_record *m = &records[i];

		m->guid = i + 1;
		m->node = TORUS_NO_NODE;
		m->state = FM_NODE_UP;
		m->row.nports = PORTS;
		m->via = i && random_below(random, 10) < gone ? 0 : 1;
		/* Judged dead before: it was adopted since, or that connection was lost, too. */
		if (i && !random_below(random, 12))
			m->state = FM_NODE_DEAD;
		for (unsigned int p = 0; p < PORTS; p++) {
			unsigned int x = i % 4, y = i / 4, step = p < 2 ? 1 : 0;
			unsigned int nx = p % 2 ? x : (x + (step ? 1 : 3)) % 4;
			unsigned int ny = p % 2 ? (y + (step ? 1 : 5)) % 6 : y;

			m->row.port[p].state = random_below(random, 20) < broken ? FM_PORT_DOWN :
					       FM_PORT_UP;
			m->row.port[p].peer_guid = random_below(random, 30) ? 1 + nx + 4 * ny : 0;
			m->row.port[p].peer_port = (uint8_t)((p + 2) % PORTS);
		}
		/* Behind the last port stands what is not to be read. */
		m->row.port[PORTS] = m->row.port[random_below(random, PORTS)];
		m->row.port[PORTS].state = FM_PORT_UP;
		if (m->via && random_below(random, 8))
			continue;
		m->listed = i != 0;
		if (m->listed)
			root->missing[root->nmissing++] = i;
		if (m->via)	/* the node was missing until now */
			continue;
		m->missing = fm->now - random_below(random, 20) * MS;
		m->joined = m->missing - random_below(random, 40) * MS;
		m->lost = !random_below(random, 4);
	}
}

/* Return: the state of @i, which is missing, according to the rules at this time. */
static uint8_t due_state(unsigned int i, const bool vouched[NODES])
{
	unsigned int n;
	bool set[NODES];

	if (records[i].state == FM_NODE_DEAD)
		return FM_NODE_DEAD;
	if (vouched[i])
		return fm->now < records[i].missing + MEMBER_MAX ? records[i].state :
		       FM_NODE_SILENT;
	n = set_of(i, vouched, set);
	for (unsigned int o = 0; o < NODES; o++)
		if (set[o] && fm->now < dead_at(o, n))
			return records[i].state;
	return FM_NODE_DEAD;
}

/*
 * Return: when @i, which is missing and not yet judged, is to be judged; NEVER: nothing more is to
 * come.
 */
static uint64_t next_at(unsigned int i, const bool vouched[NODES])
{
	bool set[NODES];
	uint64_t at_last = 0;
	unsigned int n;

	if (vouched[i])
		return records[i].state == FM_NODE_UP ? records[i].missing + MEMBER_MAX : NEVER;
	n = set_of(i, vouched, set);
	for (unsigned int o = 0; o < NODES; o++)
		if (set[o])
			at_last = later(at_last, dead_at(o, n));
	return at_last;
}

/*
 * Checks that the neighbours of a dead node are in doubt, and those of a silent one are not
 * (vanish.c).
 */
static void doubts(const uint8_t before[NODES])
{
	bool is[NODES] = { false };

	for (unsigned int i = 0; i < NODES; i++)
		for (unsigned int p = 0; p < PORTS; p++) {
			uint64_t o = records[i].row.port[p].peer_guid;

			if (before[i] != FM_NODE_DEAD && records[i].state == FM_NODE_DEAD && o > 1)
				is[o - 1] = true;
		}
	for (unsigned int i = 0; i < NODES; i++)
		if (records[i].doubted)
			assert_true(is[i]);
		else if (is[i])
			assert_true(records[i].lost || records[i].state != FM_NODE_UP);
}

static void judge(void)
{
	uint64_t next = NEVER;
	uint8_t before[NODES], due[NODES];
	unsigned int changed = 0;
	bool vouched[NODES];

	vouched_of(vouched);
	for (unsigned int i = 0; i < NODES; i++) {
		before[i] = records[i].state;
		records[i].doubted = 0;
		due[i] = records[i].via ? before[i] : due_state(i, vouched);
	}
	fm_demand_end(fm);
	fm_judge_due(fm);
	for (unsigned int i = 0; i < NODES; i++) {
		changed += records[i].state != before[i];
		assert_int_equal(records[i].state, due[i]);
	}
	doubts(before);
	/* Exactly those nodes are listed of which more is to come. */
	for (unsigned int i = 1; i < NODES; i++) {
		bool open = !records[i].via && records[i].state != FM_NODE_DEAD;

		assert_int_equal(records[i].listed, open);
		if (open)
			next = earlier(next, next_at(i, vouched));
	}
	assert_int_equal(root->judge_at, next);
	/* A verdict about any node demands another table, at once. */
	assert_int_equal(fm_demand_is(root), changed > 0);
	assert_true(!changed || fm_demand_expiry(root) == fm->now);
}

static void random_fabrics_are_judged_as_in_model(void **state)
{
	uint64_t seed = random_seed(1), random = seed;
	unsigned int dead = 0, silent = 0, up = 0;

	(void)state;
	root_new();
	for (unsigned int k = 0; k < 3000; k++) {
		bool vouched[NODES];

		fm->now = 100 * MEMBER_MAX;
		draw(&random);
		for (unsigned int looks = 0; root->judge_at != NEVER && looks < 100; looks++) {
			fm->now = root->judge_at > fm->now ? root->judge_at : fm->now + 1;
			root->judge_at = 0;
			judge();
		}
		/* All are judged, and only nodes for which no other vouches are dead. */
		assert_int_equal(root->judge_at, NEVER);
		vouched_of(vouched);
		for (unsigned int i = 0; i < NODES; i++) {
			if (records[i].state != FM_NODE_DEAD)
				assert_int_equal(records[i].state, records[i].via ? FM_NODE_UP :
						 FM_NODE_SILENT);
			assert_int_equal(!records[i].via && records[i].state == FM_NODE_SILENT,
					 vouched[i]);
			dead += records[i].state == FM_NODE_DEAD;
			silent += records[i].state == FM_NODE_SILENT;
			up += records[i].state == FM_NODE_UP;
		}
	}
	fm_free(fm);
	assert_true(dead > 1000 && silent > 1000 && up > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_fabrics_are_judged_as_in_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
