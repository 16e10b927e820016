// SPDX-License-Identifier: GPL-2.0-only
/*
 * Detection of wrong cables, without the rest of the manager: random cables between a few nodes.
 * The test judges each cable by an algorithm of its own.
 * A wrong cable is named once, at the end of the lower node and port that finds it wrong, and is
 * excluded at each end that does. Stubs in this test stand for the functions of the manager that
 * the file calls.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/seeds.h"
#include <torus/topology.h>
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/wiring.h"

#define GUID 0x100ULL
#define RECORDS 12
#define STRANGER (GUID + RECORDS)	/* a NIC of which the root knows only the GUID */
#define PORTS 7			/* one port more than the fabric has dimensions for */

/** struct named - a problem that names a cable */
struct named {
	uint64_t key;
	char text[500];
};

static struct fm_root root;
static struct fm fm = { .root = &root, .ndims = 3 };
static struct fm_record record[RECORDS];
static struct named named[RECORDS * PORTS];
static unsigned int n_named;

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	(void)r;
	return guid >= GUID && guid < GUID + RECORDS ? &record[guid - GUID] : NULL;
}

bool fm_record_joined(const struct fm_record *m)
{
	return m && m->name[0];
}

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	(void)r;
	for (unsigned int i = 0; i < RECORDS; i++)
		if (record[i].node == node)
			return &record[i];
	return NULL;
}

unsigned int fm_opposite(unsigned int ndims, unsigned int port)
{
	return (port + ndims) % (2 * ndims);
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_string_equal(kind, "wiring");
	assert_true(n_named < RECORDS * PORTS);
	named[n_named].key = key;
	va_start(args, fmt);
	vsnprintf(named[n_named++].text, sizeof(named[0].text), fmt, args);
	va_end(args);
}

/* --- the fabric: 3x2x1 ------------------------------------------------------------------- */

/*
 * Gives most nodes places; a place may be empty, and some nodes are dead. Of some without a place
 * the root knows little but the GUID, as they have not joined yet.
 */
static void place(struct rnd *r)
{
	uint32_t next = 0;

	n_named = 0;
	memset(record, 0, sizeof(record));
	assert_int_equal(torus_shape_parse("3x2x1", &fm.table.shape), 0);
	for (unsigned int i = 0; i < RECORDS; i++) {
		record[i].guid = GUID + i;
		record[i].node = TORUS_NO_NODE;
		next += rnd_one_in(r, 5);
		if (next < 6 && !rnd_one_in(r, 4))
			record[i].node = next++;
		record[i].state = rnd_one_in(r, 4) ? FM_NODE_DEAD : FM_NODE_UP;
		record[i].row.nports = (uint8_t)(rnd_one_in(r, 6) ? 5 : PORTS);
		if (record[i].node != TORUS_NO_NODE || !rnd_one_in(r, 3))
			sprintf(record[i].name, "n%u", i);
	}
}

static struct fm_port_row *port(unsigned int end)
{
	return &record[end / PORTS].row.port[end % PORTS];
}

static void join(unsigned int a, unsigned int b)
{
	port(a)->peer_guid = GUID + b / PORTS;
	port(a)->peer_port = (uint8_t)(b % PORTS);
	port(b)->peer_guid = GUID + a / PORTS;
	port(b)->peer_port = (uint8_t)(a % PORTS);
}

/* Makes cables: many as they should be, others to anywhere, and some to strangers. */
static void cable(struct rnd *r)
{
	for (unsigned int end = 0; end < RECORDS * PORTS; end++) {
		const struct fm_record *m = &record[end / PORTS], *due = NULL;
		unsigned int p = end % PORTS, far = rnd_below(r, RECORDS * PORTS);

		if (p >= m->row.nports)		/* nothing is after the last port of a row */
			continue;
		port(end)->state = rnd_one_in(r, 5) ? FM_PORT_DOWN : FM_PORT_UP;
		port(end)->problem = (uint8_t)(rnd_one_in(r, 8) ? rnd_below(r, 4) : 0);
		if (port(end)->peer_guid)
			continue;
		if (m->node != TORUS_NO_NODE && p < 6)
			due = fm_record_at(&root, torus_neighbour(&fm.table.shape, m->node, p));
		if (due && !rnd_one_in(r, 3))
			far = (unsigned int)(due - record) * PORTS + fm_opposite(3, p);
		if (rnd_one_in(r, 12)) {
			port(end)->peer_guid = STRANGER;
			port(end)->peer_port = (uint8_t)(rnd_one_in(r, 2) ? fm_opposite(3, p % 6) :
							 rnd_below(r, PORTS));
		} else if (!port(far)->peer_guid) {	/* @far may be the same port */
			join(end, far);
		}
	}
}

/* --- the same, in another way ------------------------------------------------------------ */

/* Return: why the cable at the port of a placed node is wrong; "": it is not. */
static const char *fault(unsigned int end)
{
	static const char *const reported[] = { "", "leads to another fabric",
					    "leads to nodes that obey another root",
					    "leads to a manager of another version" };
	const struct fm_record *m = &record[end / PORTS],
	*o = fm_record(&root, port(end)->peer_guid);
	unsigned int p = end % PORTS;
	const struct fm_record *due;

	if (p >= 6 || p >= m->row.nports || port(end)->state != FM_PORT_UP ||
	    !port(end)->peer_guid)
		return "";
	if (o == m)
		return "a cable from a node to itself";
	if (port(end)->problem)
		return reported[port(end)->problem];
	if (port(end)->peer_port >= 6 || port(end)->peer_port % 3 != p % 3 ||
	    port(end)->peer_port == p)
		return "joins ports that are not opposite";
	if (p % 3 == 2)
		return "in a dimension of size 1";
	due = fm_record_at(&root, torus_neighbour(&fm.table.shape, m->node, p));
	if (due == o)
		return "";	/* the cable is as it should be; or two nodes are not known */
	/* The node that was there may have died, and a new one may not be known yet. */
	if (due)
		return (!o || !o->name[0]) && due->state == FM_NODE_DEAD ? "" :
		       "leads to the wrong node";
	return o->node == TORUS_NO_NODE ? "" : "leads to the wrong node";
}

/* Return: true if the next table may differ by this node although its own row does not change. */
static bool is_odd(unsigned int i)
{
	for (unsigned int p = 0; p < 6 && p < record[i].row.nports; p++) {
		const struct fm_port_row *x = port(i * PORTS + p);

		if (x->state != FM_PORT_UP || !x->peer_guid)
			continue;
		if (fault(i * PORTS + p)[0] || x->problem)
			return true;
		if (fm_record_at(&root, torus_neighbour(&fm.table.shape, record[i].node, p)) !=
		    fm_record(&root, x->peer_guid) || x->peer_guid == STRANGER)
			return true;
	}
	return false;
}

static void end_text(char *buf, uint64_t guid, unsigned int p)
{
	static const char *const ports[] = { "+x", "+y", "+z", "-x", "-y", "-z", "port 6" };
	const struct fm_record *m = fm_record(&root, guid);

	if (!m || !m->name[0])
		sprintf(buf, "NIC %016llx:%s", (unsigned long long)guid, ports[p]);
	else if (m->node == TORUS_NO_NODE)
		sprintf(buf, "'%s':%s", m->name, ports[p]);
	else
		sprintf(buf, "%u,%u,0:%s ('%s')", m->node % 3, m->node / 3, ports[p], m->name);
}

/* The problem of the cable from a port of a placed node to another one, of the NIC @guid. */
static void problem_text(char *buf, unsigned int end, uint64_t guid, unsigned int q,
			 const char *what)
{
	static const char *const far[] = { "-x", "-y", "-z", "+x", "+y", "+z" };
	const struct fm_record *m = &record[end / PORTS], *o = fm_record(&root, guid);
	unsigned int p = end % PORTS;
	char here[100], there[100];
	uint32_t due = torus_neighbour(&fm.table.shape, m->node, p);

	end_text(here, m->guid, p);
	end_text(there, guid, q);
	if (guid == m->guid || (o && o->node == due && q == (p + 3) % 6))
		sprintf(buf, "%s is cabled to %s: %s", here, there, what);
	else
		sprintf(buf, "%s is cabled to %s, expected %u,%u,0:%s: %s", here, there, due % 3,
			due / 3, far[p], what);
}

static uint64_t key_of(unsigned int end)
{
	return (uint64_t)record[end / PORTS].node * TORUS_MAX_PORTS + end % PORTS;
}

/*
 * Finds the problem that is told when the fault of the cable at @end is found: by the end at a port
 * with "+". Return: false: none, because the other end tells it.
 */
static bool find_reported(unsigned int end, char *text, uint64_t *key)
{
	const struct fm_record *o = fm_record(&root, port(end)->peer_guid);
	unsigned int q = port(end)->peer_port, far = o ? (unsigned int)(o - record) * PORTS + q : 0;
	bool by_far = false;

	if (o && o->node != TORUS_NO_NODE && q < 6)
		by_far = (q < 3) != (end % PORTS < 3) ? q < 3 : key_of(far) < key_of(end);
	if (by_far && fault(far)[0])
		return false;
	*key = key_of(by_far ? far : end);
	if (by_far)
		problem_text(text, far, GUID + end / PORTS, end % PORTS, fault(end));
	else
		problem_text(text, end, port(end)->peer_guid, q, fault(end));
	return true;
}

static void check(struct rnd *r)
{
	unsigned int next = 0;

	for (unsigned int i = 0; i < RECORDS; i++) {
		uint16_t mask = 0;

		if (record[i].node == TORUS_NO_NODE)
			continue;
		for (unsigned int p = 0; p < PORTS; p++)
			if (fault(i * PORTS + p)[0])
				mask |= (uint16_t)(1u << p);
		expect(r, fm_wiring_check(&fm, &record[i]) == mask, "node %u", i);
		expect(r, fm_wiring_odd(&fm, &record[i]) == is_odd(i), "node %u", i);
		for (unsigned int end = i * PORTS; end < (i + 1) * PORTS; end++) {
			char text[500];
			uint64_t key;

			if (!fault(end)[0] || !find_reported(end, text, &key))
				continue;
			expect(r, next < n_named, "%s is missing", text);
			expect(r, named[next].key == key && !strcmp(named[next].text, text),
			       "%s, not %s", named[next].text, text);
			next++;
		}
	}
	expect(r, next == n_named, "%s", named[next].text);
}

static void cables(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	place(&r);
	cable(&r);
	check(&r);
}

static void random_cables_are_judged_as_in_model(void **state)
{
	(void)state;
	for_seeds(4000, cables);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_cables_are_judged_as_in_model),
	};

	return cmocka_run_group_tests_name("fm_wiring", all, NULL, NULL);
}
