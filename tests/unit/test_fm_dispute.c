// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cables that one end reports as up and the other as down, by themselves: random rows, and at each
 * look the cables that were disputed at the look before, too. Stubs in this test stand for the
 * functions of the manager that the file calls.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/root/dispute.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

#define RECORDS (FM_SUSPECTS + 8)
#define PORTS 3
#define KEEPALIVE (50 * MS)

/** struct stands - a problem that has been set since the last check began */
struct stands {
	uint64_t key;
	char text[200];
};

static struct fm_root root;
static struct fm fm = { .root = &root, .cfg = { .keepalive = KEEPALIVE } };
static struct fm_record record[RECORDS];
static uint32_t records;		/* number of known records */
static struct stands stands[2 * RECORDS * PORTS];
static unsigned int n_stands;
static bool marked;

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	(void)r;
	return guid && guid <= records ? &record[guid - 1] : NULL;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < records);
	return &record[i];
}

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return records;
}

uint64_t fm_mix(uint64_t v)
{
	return v << 8;
}

const char *fm_end_text(const struct fm *f, const struct fm_record *m, unsigned int p, char *buf,
			size_t room)
{
	(void)f;
	snprintf(buf, room, "%u.%u", (unsigned int)m->guid, p);
	return buf;
}

void fm_problems_mark(struct fm *f, const char *kind)
{
	(void)f;
	assert_string_equal(kind, "dispute");
	marked = true;
	n_stands = 0;
}

void fm_problems_sweep(struct fm *f, const char *kind)
{
	(void)f;
	assert_string_equal(kind, "dispute");
	assert_true(marked);
	marked = false;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_string_equal(kind, "dispute");
	assert_true(marked);
	stands[n_stands].key = key;
	va_start(args, fmt);
	vsnprintf(stands[n_stands].text, sizeof(stands[0].text), fmt, args);
	va_end(args);
	n_stands++;
}

/* --- the account ------------------------------------------------------------------------------ */

/* The nodes to be checked next, in order, and if each was checked last time. */
static uint32_t list[FM_SUSPECTS];
static bool was_seen[FM_SUSPECTS];
static unsigned int n_list;
static bool overflows;
static uint64_t look_at;

static bool is_disputed(uint32_t i, unsigned int p)
{
	const struct fm_port_row *a = &record[i].row.port[p], *b;
	const struct fm_record *o;

	if (!a->peer_guid || a->peer_guid > records || a->peer_guid == record[i].guid)
		return false;
	o = &record[a->peer_guid - 1];
	b = &o->row.port[a->peer_port];
	if (o->state != FM_NODE_UP || !o->via || a->peer_port >= o->row.nports)
		return false;
	return b->peer_guid == record[i].guid &&
	       (a->state == FM_PORT_UP ? b->state != FM_PORT_UP : b->state == FM_PORT_UP);
}

static bool any_disputed(uint32_t i)
{
	for (unsigned int p = 0; p < record[i].row.nports; p++)
		if (is_disputed(i, p))
			return true;
	return false;
}

static void suspect(uint32_t i, bool seen)
{
	for (unsigned int k = 0; k < n_list; k++)
		if (list[k] == i)
			return;
	overflows |= n_list == FM_SUSPECTS;
	if (n_list == FM_SUSPECTS)
		return;
	list[n_list] = i;
	was_seen[n_list++] = seen;
}

static void row_comes(uint32_t i)
{
	fm_dispute_row(&fm, &record[i]);
	if (any_disputed(i))
		suspect(i, false);
	if (n_list && look_at == NEVER)
		look_at = fm.now + KEEPALIVE;
}

/*
 * Checks that the disputed ports of a node are among the problems, in order. Return: how many
 * problems it has.
 */
static unsigned int check_node(struct rnd *r, uint32_t i, unsigned int next)
{
	for (unsigned int p = 0; p < record[i].row.nports; p++) {
		const struct fm_port_row *a = &record[i].row.port[p];
		bool up = a->state == FM_PORT_UP;
		char here[20], there[20], text[200];

		if (!is_disputed(i, p))
			continue;
		sprintf(here, "%u.%u", i + 1, p);
		sprintf(there, "%u.%u", (unsigned int)a->peer_guid, a->peer_port);
		sprintf(text, "%s reports that its link is up, and %s that it is down: nothing is sent over it",
			up ? here : there, up ? there : here);
		expect(r, next < n_stands && !strcmp(stands[next].text, text), "%s", text);
		expect(r, stands[next].key == ((up ? i + 1 : a->peer_guid) << 8 ^
					       (up ? p : a->peer_port)), "%s", text);
		next++;
	}
	return next;
}

static void looks(struct rnd *r)
{
	uint32_t was[FM_SUSPECTS];
	bool seen[FM_SUSPECTS], all = overflows, first = false;
	unsigned int n = n_list, next = 0;

	if (fm.now < look_at) {
		fm_dispute_due(&fm);
		return;
	}
	memcpy(was, list, sizeof(was));
	memcpy(seen, was_seen, sizeof(seen));
	n_list = 0;
	overflows = false;
	fm_dispute_due(&fm);
	for (unsigned int k = 0; k < n; k++) {
		if (was[k] < records && seen[k])
			next = check_node(r, was[k], next);
		if (was[k] < records && any_disputed(was[k]))
			suspect(was[k], true);
		first |= !seen[k];
	}
	expect(r, !marked && next == n_stands, "%u problems, not %u", n_stands, next);
	for (uint32_t i = 0; all && i < records; i++)
		if (any_disputed(i))
			suspect(i, true);
	look_at = n_list && (first || all) ? fm.now + KEEPALIVE : NEVER;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void change(struct rnd *r, uint32_t i)
{
	unsigned int p = rnd_below(r, PORTS);
	struct fm_port_row *port = &record[i].row.port[p];

	switch (rnd_below(r, 10)) {
	case 0:
		port->peer_guid = rnd_below(r, records + 2);
		break;
	case 1:
		port->peer_port = (uint8_t)rnd_below(r, PORTS);
		break;
	case 2:
		record[i].state = rnd_one_in(r, 3) ? FM_NODE_SILENT : FM_NODE_UP;
		break;
	case 3:
		record[i].via = rnd_one_in(r, 3) ? 0 : 1;
		break;
	case 4:
		record[i].row.nports = rnd_one_in(r, 3) ? PORTS - 1 : PORTS;
		break;
	default:
		port->state = rnd_one_in(r, 2) ? FM_PORT_UP :
			      rnd_one_in(r, 2) ? FM_PORT_DOWN : FM_PORT_FAULTY;
		break;
	}
}

/* Begins with nodes in a ring of ports 0 and 1; by port 2 they are joined in pairs. */
static void begin(struct rnd *r, uint32_t n)
{
	assert_true(fm_dispute_new(&root));
	memset(record, 0, sizeof(record));
	records = n;
	n_list = 0;
	overflows = false;
	look_at = NEVER;
	fm.now = 1000 * MS;
	for (uint32_t i = 0; i < n; i++) {
		record[i] = (struct fm_record) { .guid = i + 1, .via = 1, .state = FM_NODE_UP };
		record[i].row.nports = PORTS;
		for (unsigned int p = 0; p < PORTS; p++)
			record[i].row.port[p].state = FM_PORT_UP;
		record[i].row.port[0].peer_guid = (i + 1) % n + 1;
		record[i].row.port[0].peer_port = 1;
		record[i].row.port[1].peer_guid = (i + n - 1) % n + 1;
		record[i].row.port[2].peer_guid = (i ^ 1) < n ? (i ^ 1) + 1 : 0;
		record[i].row.port[2].peer_port = 2;
	}
	(void)r;
}

static void live(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	begin(&r, seed % 3 ? 6 : RECORDS);
	for (unsigned int k = 0; k < 300; k++) {
		uint32_t i;

		if (records > 5 && rnd_one_in(&r, 40))	/* the last one is forgotten */
			records--;
		i = rnd_below(&r, records);
		for (unsigned int n = rnd_below(&r, 3); n; n--)
			change(&r, rnd_below(&r, records));
		for (uint32_t n = 0; n < records; n++)
			expect(&r, fm_disputed_any(&fm, &record[n]) == any_disputed(n), "node %u", n);
		if (rnd_one_in(&r, 12)) {
			for (uint32_t n = 0; n < records; n++)
				row_comes(n);
		} else if (rnd_one_in(&r, 2)) {
			row_comes(i);
		} else {
			fm.now += rnd_one_in(&r, 3) ? KEEPALIVE - 1 : KEEPALIVE / 2 + 1;
			looks(&r);
		}
		expect(&r, fm_dispute_expiry(&fm) == look_at, "looks at another time");
	}
	fm_dispute_free(&root);
}

static void random_disputes_equal_naive_model(void **state)
{
	(void)state;
	for_seeds(60, live);
}

/*
 * More nodes have disputed cables than are remembered: all nodes are checked, until they are few.
 */
static void disputes_beyond_memory_check_all_nodes(void **state)
{
	struct rnd r = rnd_new(1);

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		begin(&r, RECORDS);
		for (uint32_t i = 1; i < RECORDS; i += 2)
			record[i].row.port[2].state = FM_PORT_DOWN;
		for (uint32_t i = 0; i < RECORDS; i++)
			row_comes(k ? i : RECORDS - 1 - i);
		assert_true(overflows);
		for (uint32_t mended = 0; mended < RECORDS; mended += 2) {
			fm.now = look_at;
			looks(&r);
			assert_int_equal(n_stands > 0, mended > 0);
			if (fm_dispute_expiry(&fm) == NEVER)
				break;
			assert_int_equal(fm_dispute_expiry(&fm), look_at);
			record[k ? mended : RECORDS - 1 - mended].row.port[2].state = FM_PORT_UP;
			record[k ? mended + 1 : RECORDS - 2 - mended].row.port[2].state = FM_PORT_UP;
		}
		fm_dispute_free(&root);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_disputes_equal_naive_model),
		cmocka_unit_test(disputes_beyond_memory_check_all_nodes),
	};

	return cmocka_run_group_tests_name("fm_dispute", all, NULL, NULL);
}
