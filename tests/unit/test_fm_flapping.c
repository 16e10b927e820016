// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links that are held down because they flap, by themselves: random histories of losses, orders and
 * time, compared with a model that computes penalties in floating point, and searches by walking.
 */
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/damp.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/status.h"

#define NODES	20
#define PORTS	TORUS_MAX_PORTS
#define NOWHERE	1		/* a GUID that no node has */
#define GUID	100

/**
 * struct flap - the model of a port: @penalty, in flaps, when it was lost last, @at
 */
struct flap {
	double penalty;
	uint64_t at;
	bool held;
};

/** struct problem - a problem that the code has reported; @old: not again since the mark */
struct problem {
	uint64_t key;
	char text[300];
	bool old;
};

static struct fm_root root;
static struct fm fm;
static struct fm_entry entry[NODES];
static struct fm_record record[NODES];
static uint16_t admin[NODES];
static uint32_t at[NODES];		/* by node id: its roster index, or NODES */
static uint32_t scratch[NODES + 1];	/* one more, which must not be written */
static unsigned int searches, looks;	/* how often the code searched, and looked at all holds */
static uint32_t nodes, known;		/* places, and nodes of the roster */
static unsigned int ports;
static uint64_t doubts;
static struct flap flap[NODES][PORTS];
static struct problem problem[NODES * PORTS];
static unsigned int problems;

/* Said by the code in this event: which ports are no longer held, and which nodes changed. */
static bool reported[NODES][PORTS], changed[NODES];
static const char *why;

static struct rnd *rnd;

/* --- the neighbours of damp.c ------------------------------------------------------------- */

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return known;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < known);
	return &record[i];
}

uint32_t fm_record_number(const struct fm_root *r, const struct fm_record *m)
{
	(void)r;
	return (uint32_t)(m - record);
}

uint32_t *fm_roster_scratch(const struct fm_root *r)
{
	(void)r;
	searches++;
	return scratch;
}

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	(void)r;
	for (uint32_t i = 0; i < known; i++)
		if (record[i].guid == guid)
			return &record[i];
	return NULL;
}

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	(void)r;
	assert_true(node < nodes);
	return at[node] < known ? &record[at[node]] : NULL;
}

const char *fm_end_text(const struct fm *f, const struct fm_record *m, unsigned int p, char *buf,
			size_t room)
{
	(void)f;
	snprintf(buf, room, "%u:%u", (unsigned int)(m - record), p);
	return buf;
}

bool fm_port_row_same(const struct fm_port_row *a, const struct fm_port_row *b)
{
	return a->state == b->state && a->problem == b->problem && a->session == b->session &&
	       a->peer_guid == b->peer_guid && a->peer_port == b->peer_port;
}

uint64_t fm_lag_doubts(const struct fm *f)
{
	(void)f;
	return doubts;
}

void fm_change_node(struct fm *f, uint32_t node)
{
	(void)f;
	if (node != TORUS_NO_NODE)
		changed[node] = true;
}

void fm_demand(struct fm *f, uint64_t delay, const char *fmt, ...)
{
	char text[300], want[300];
	unsigned int k, p;
	va_list args;

	(void)f;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	assert_int_equal(delay, 0);
	assert_int_equal(sscanf(text, "%u:%u", &k, &p), 2);
	snprintf(want, sizeof(want), "%u:%u is no longer held down%s", k, p, why);
	assert_string_equal(text, want);
	assert_false(reported[k][p]);
	reported[k][p] = true;
}

void fm_problems_mark(struct fm *f, const char *kind)
{
	(void)f;
	assert_string_equal(kind, "flap");
	looks++;
	for (unsigned int i = 0; i < problems; i++)
		problem[i].old = true;
}

/* Return: the record of the node in a place. */
static const struct fm_record *record_of(uint32_t node)
{
	unsigned int i = 0;

	while (i < NODES - 1 && record[i].node != node)
		i++;
	return &record[i];
}

void fm_problem_of(struct fm *f, uint32_t node, const char *kind, uint64_t key,
		   const char *fmt, ...)
{
	unsigned int i = 0;
	va_list args;

	(void)f;
	if (node != TORUS_NO_NODE)
		assert_true((key ^ fm_mix(record_of(node)->guid)) < TORUS_MAX_PORTS);
	assert_string_equal(kind, "flap");
	while (i < problems && problem[i].key != key)
		i++;
	if (i == problems)
		problems++;
	problem[i].key = key;
	problem[i].old = false;
	va_start(args, fmt);
	vsnprintf(problem[i].text, sizeof(problem[i].text), fmt, args);
	va_end(args);
}

void fm_problems_sweep(struct fm *f, const char *kind)
{
	unsigned int left = 0;

	(void)f;
	assert_string_equal(kind, "flap");
	for (unsigned int i = 0; i < problems; i++)
		if (!problem[i].old)
			problem[left++] = problem[i];
	problems = left;
}

/* --- the model ------------------------------------------------------------------------------ */

static double limit(void)
{
	return fm.cfg.flap_limit;
}

/* Return: the penalty that is left of @penalty after @ns. */
static double faded(double penalty, double ns)
{
	double halves = ns / (double)fm.cfg.flap_half_life;

	for (; halves >= 1 && penalty > 1e-9; halves--)
		penalty /= 2;
	return halves >= 1 ? 0 : penalty * (1 - halves / 2);
}

/* Return: when the hold of that end alone is over. */
static double end_of(uint32_t k, unsigned int p)
{
	const struct flap *f = &flap[k][p];
	double from = 0, to = (double)fm.cfg.hold_max;

	for (unsigned int i = 0; i < 24; i++) {
		double mid = (from + to) / 2;

		*(faded(f->penalty, mid) > limit() / 2 ? &from : &to) = mid;
	}
	return (double)f->at + to;
}

/* Finds the other end of the cable. Return: false if it is not known. */
static bool find_other(uint32_t k, unsigned int p, uint32_t *o, unsigned int *q)
{
	const struct fm_port_row *port = &record[k].row.port[p];

	for (*o = 0; *o < known; ++*o) {
		const struct fm_row *row = &record[*o].row;

		*q = port->peer_port;
		if (*o != k && record[*o].guid == port->peer_guid && *q < row->nports &&
		    row->port[*q].peer_guid == record[k].guid && row->port[*q].peer_port == p)
			return true;
	}
	return false;
}

static double end_of_cable(uint32_t k, unsigned int p)
{
	double here = end_of(k, p), there = 0;
	unsigned int q;
	uint32_t o;

	if (find_other(k, p, &o, &q) && flap[o][q].held)
		there = end_of(o, q);
	return here > there ? here : there;
}

static bool is_near(double a, double b)
{
	double d = a - b, room = (double)fm.cfg.flap_half_life / 40;

	return d < room && -d < room;
}

/* Finds the other end of a cable that packets could use if it were not held. */
static bool find_usable(uint32_t k, unsigned int p, uint32_t *o, unsigned int *q)
{
	const struct fm_record *a = &record[k], *b;

	if (!find_other(k, p, o, q))
		return false;
	b = &record[*o];
	return a->node != TORUS_NO_NODE && b->node != TORUS_NO_NODE && a->state != FM_NODE_DEAD &&
	       b->state != FM_NODE_DEAD && a->row.port[p].state == FM_PORT_UP &&
	       b->row.port[*q].state == FM_PORT_UP && !a->row.port[p].problem &&
	       !b->row.port[*q].problem && !(admin[a->node] >> p & 1) &&
	       !(admin[b->node] >> *q & 1);
}

/* Finds the parts that cables which are not held join. Return: number of parts. */
static unsigned int find_parts(uint32_t part[NODES])
{
	unsigned int n = known;

	for (uint32_t k = 0; k < known; k++)
		part[k] = k;
	for (uint32_t k = 0; k < known; k++)
		for (unsigned int p = 0; p < ports; p++) {
			unsigned int q;
			uint32_t o, was;

			if (!find_usable(k, p, &o, &q) || flap[k][p].held || flap[o][q].held ||
			    part[o] == part[k])
				continue;
			was = part[o];
			for (uint32_t i = 0; i < known; i++)
				if (part[i] == was)
					part[i] = part[k];
			n--;
		}
	return n;
}

static void end_hold(uint32_t k, unsigned int p)
{
	struct flap *f = &flap[k][p];

	if (!f->held)
		return;
	expect(rnd, reported[k][p], "%u:%u", k, p);
	reported[k][p] = false;
	f->held = false;
	f->at = fm.now;
	if (f->penalty > limit() / 2)
		f->penalty = limit() / 2;
}

/* --- comparison ------------------------------------------------------------------------------- */

/* Forgets what the code said in the event before. @text: why holds end */
static void begin_event(const char *text)
{
	memset(reported, 0, sizeof(reported));
	memset(changed, 0, sizeof(changed));
	why = text;
	searches = looks = 0;
	scratch[known] = NOWHERE;
}

/* Return: true if the code holds that port, which may be one that the shape does not use. */
static bool is_held(uint32_t k, unsigned int p)
{
	const struct fm all = { .root = &root, .ndims = PORTS / 2 };

	return fm_damp_mask(&all, &record[k]) >> p & 1;
}

/* All holds that ended were told, and no others. @was: holds before the event */
static void check_reported(struct flap was[NODES][PORTS])
{
	bool ended[NODES] = { false };

	for (uint32_t k = 0; k < known; k++)
		for (unsigned int p = 0; p < PORTS; p++) {
			expect(rnd, !reported[k][p], "%u:%u", k, p);
			if (was[k][p].held && !flap[k][p].held && record[k].node != TORUS_NO_NODE)
				ended[record[k].node] = true;
		}
	assert_memory_equal(ended, changed, sizeof(ended));
}

static void check_masks(void)
{
	for (uint32_t k = 0; k < known; k++) {
		uint16_t mask = 0;

		for (unsigned int p = 0; p < ports; p++)
			mask |= (uint16_t)(flap[k][p].held << p);
		expect(rnd, fm_damp_mask(&fm, &record[k]) == mask, "%u: %x, not %x", k,
		       fm_damp_mask(&fm, &record[k]), mask);
	}
	for (unsigned int i = 0; i < 4; i++) {
		uint32_t node = rnd_below(rnd, nodes);
		uint16_t mask = (uint16_t)(1u << rnd_below(rnd, ports) | 1u << rnd_below(rnd, ports + 1));
		bool want = false;

		for (unsigned int p = 0; p < ports; p++) {
			uint32_t o = at[torus_neighbour(&fm.table.shape, node, p)];
			unsigned int q = torus_dir_opposite(&fm.table.shape, p);

			want |= (mask >> p & 1) && ((at[node] < NODES && flap[at[node]][p].held) ||
						    (o < NODES && flap[o][q].held));
		}
		expect(rnd, fm_damp_holds(&fm, node, mask) == want, "%u: %x", node, mask);
	}
}

/* Each cable that is held is listed once, by the end with the lower GUID of those that are. */
static void check_list(void)
{
	bool listed[NODES][PORTS] = { 0 };
	struct fm_hold h;
	unsigned int i = 0, q;
	uint32_t o;

	for (; fm_held(&fm, i, fm.now, &h); i++) {
		uint32_t k = at[h.node];
		double left = end_of_cable(k, h.port) - (double)fm.now;

		expect(rnd, flap[k][h.port].held && !listed[k][h.port], "%u:%u", k, h.port);
		listed[k][h.port] = true;
		expect(rnd, is_near((double)h.left, left > 0 ? left : 0), "%g, not %g",
		       (double)h.left, left);
		if (find_other(k, h.port, &o, &q))
			assert_true(h.peer == record[o].node && h.peer_port == q);
		else
			assert_int_equal(h.peer, TORUS_NO_NODE);
	}
	for (uint32_t k = 0; k < known; k++)
		for (unsigned int p = 0; p < ports; p++) {
			bool want = flap[k][p].held && record[k].node != TORUS_NO_NODE &&
				    !(find_other(k, p, &o, &q) && flap[o][q].held &&
				      record[o].guid < record[k].guid);

			expect(rnd, listed[k][p] == want, "%u:%u", k, p);
		}
}

/* After an event that looks at all holds: the problems, and when the next hold ends. */
static void check_problems(void)
{
	bool is[NODES * PORTS] = { false };
	double first = 1e30;

	for (uint32_t k = 0; k < known; k++)
		for (unsigned int p = 0; p < PORTS; p++) {
			uint32_t a = k, b;
			unsigned int pa = p, pb, i = 0;
			char want[100], far[40] = "a node that is not known";

			if (!flap[k][p].held)
				continue;
			first = end_of_cable(k, p) < first ? end_of_cable(k, p) : first;
			if (find_other(k, p, &b, &pb)) {
				if (record[b].guid < record[k].guid) {
					a = b;
					pa = pb;
					b = k;
					pb = p;
				}
				snprintf(far, sizeof(far), "%u:%u", b, pb);
			}
			snprintf(want, sizeof(want), "the link from %u:%u to %s fails again and again", a,
				 pa, far);
			while (i < problems && problem[i].key != (fm_mix(record[a].guid) ^ pa))
				i++;
			expect(rnd, i < problems, "%s", want);
			expect(rnd, !strncmp(problem[i].text, want, strlen(want)), "%s, not %s",
			       problem[i].text, want);
			is[i] = true;
		}
	for (unsigned int i = 0; i < problems; i++)
		expect(rnd, is[i], "%s", problem[i].text);
	if (first < 1e30)
		expect(rnd, is_near((double)fm_damp_expiry(&fm), first), "%g, not %g",
		       (double)fm_damp_expiry(&fm), first);
	else
		assert_true(fm_damp_expiry(&fm) == NEVER);
}

/* --- losses ----------------------------------------------------------------------------------- */

static bool is_lost(const struct fm_port_row *was, const struct fm_port_row *is)
{
	bool other = is->peer_guid != was->peer_guid || is->peer_port != was->peer_port;

	return was->state == FM_PORT_UP &&
	       (is->state != FM_PORT_UP || (is->problem && is->problem != was->problem) ||
		(was->peer_guid && other));
}

/* Counts a loss that the code has counted. */
static void count_loss(uint32_t k, unsigned int p)
{
	struct flap *f = &flap[k][p];
	double above;

	f->penalty = faded(f->penalty, (double)(fm.now - f->at)) + 1;
	f->at = fm.now;
	above = f->penalty - (limit() - .5);
	if (f->held)
		return;
	f->held = above > 0 && !memory_failed();
	if (above < .01 && above > -.01)	/* rounding decides */
		f->held = is_held(k, p);
}

/* Node @k reports @row. */
static void report(uint32_t k, const struct fm_row *row)
{
	struct fm_record *m = &record[k];
	const struct fm_entry *e = m->node < fm.table.nodes ? &entry[m->node] : NULL;
	bool fine = e && e->guid == m->guid && e->epoch == m->epoch && m->row.nports == row->nports;
	unsigned int some = 0;
	bool lost[PORTS] = { false }, looked = false, lossless = !m->flap, is;

	for (unsigned int p = 0; p < row->nports; p++) {
		lost[p] = fm.cfg.flap_limit && fm.now >= doubts &&
			  is_lost(&m->row.port[p], &row->port[p]);
		some += lost[p];
	}
	if (some == 1 && rnd_one_in(rnd, 8))
		memory_fails_at(1);
	begin_event("");
	is = fm_damp_row(&fm, m, row);
	for (unsigned int p = 0; p < row->nports; p++) {
		if (lost[p] && m->flap)
			count_loss(k, p);
		looked |= lost[p] && flap[k][p].held;
		fine &= fm_port_row_same(&m->row.port[p], &row->port[p]) ||
			(flap[k][p].held && e && e->held >> p & 1);
	}
	if (lossless && (!some || memory_failed()))
		assert_null(m->flap);
	else
		assert_non_null(m->flap);
	memory_fails_at(0);
	assert_int_equal(is, fine);
	assert_int_equal(looks, looked);
	if (looked)
		check_problems();
	m->row = *row;
}

/* Changes one port in one respect. */
static void change(struct fm_port_row *port)
{
	switch (rnd_below(rnd, 7)) {
	case 0:
		port->state = port->state == FM_PORT_UP ? FM_PORT_FAULTY : FM_PORT_UP;
		break;
	case 1:
		port->peer_guid = rnd_one_in(rnd, 3) ? 0 : rnd_one_in(rnd, 3) ? NOWHERE :
				  record[rnd_below(rnd, known)].guid;
		break;
	case 2:
		port->peer_port = (uint8_t)rnd_below(rnd, PORTS);
		break;
	case 3:
		port->problem = (uint8_t)rnd_below(rnd, 3);
		break;
	case 4:
		port->session++;
		break;
	case 5:
		port->state = FM_PORT_UP;
		port->problem = 0;
		break;
	default:
		port->reason++;
		break;
	}
}

static void change_row(uint32_t k)
{
	struct fm_row row = record[k].row;

	if (rnd_one_in(rnd, 30) && row.nports == ports)
		row.nports++;
	else
		for (unsigned int i = 1 + rnd_one_in(rnd, 4); i; i--)
			change(&row.port[rnd_below(rnd, row.nports)]);
	if (rnd_one_in(rnd, 8) && row.nports == ports)
		change(&row.port[ports]);	/* which it does not have */
	report(k, &row);
}

/* --- the ends of holds -------------------------------------------------------------------------- */

/* Ends the holds whose time is over. Return: how many ports this concerns. */
static unsigned int run_due(void)
{
	static struct flap was[NODES][PORTS];
	bool over = fm.now >= fm_damp_expiry(&fm);
	unsigned int n = 0, q;
	uint32_t o;

	memcpy(was, flap, sizeof(was));
	begin_event("");
	fm_damp_due(&fm);
	for (uint32_t k = 0; k < known; k++)
		for (unsigned int p = 0; p < PORTS; p++) {
			bool is = reported[k][p];
			double end;

			if (!was[k][p].held)
				continue;
			end = end_of_cable(k, p);
			expect(rnd, is == (over && end <= (double)fm.now) ||
			       (over && is_near(end, (double)fm.now)),
			       "%u:%u ends at %g, and not at %g", k, p, end, (double)fm.now);
			if (find_other(k, p, &o, &q) && was[o][q].held)
				expect(rnd, is == (reported[o][q] || !flap[o][q].held), "%u:%u", k, p);
			n += is;
		}
	for (uint32_t k = 0; k < known; k++)
		for (unsigned int p = 0; p < PORTS; p++)
			if (reported[k][p])
				end_hold(k, p);
	check_reported(was);
	if (over)
		check_problems();
	return n;
}

/* Advances to the end of the next hold: it ends then, and not a nanosecond before. */
static void run_to_next_end(void)
{
	uint64_t next = fm_damp_expiry(&fm);

	if (next == NEVER || next <= fm.now)
		return;
	fm.now = next - 1;
	assert_int_equal(run_due(), 0);
	fm.now = next;
	assert_true(run_due() > 0);
}

static void run_some_time(void)
{
	static const unsigned int parts[] = { 50, 10, 2, 1 };
	uint64_t half = fm.cfg.flap_half_life;

	if (rnd_one_in(rnd, 12))
		fm.now += (32 + rnd_below(rnd, 2)) * half + rnd_below(rnd, 1000000) * (half / 1000000);
	else
		fm.now += rnd_below(rnd, 1000000) * (half / 1000000) / parts[rnd_below(rnd, 4)];
	run_due();
}

/* Loses a link some times at once, and perhaps at its other end, too. */
static void storm(uint32_t k, unsigned int p)
{
	struct fm_row row = record[k].row;
	unsigned int q;
	uint32_t o;

	for (unsigned int n = 2 * (1 + rnd_below(rnd, fm.cfg.flap_limit + 1)) + rnd_one_in(rnd, 3); n;
	     n--) {
		row.port[p].state = row.port[p].state == FM_PORT_UP ? FM_PORT_FAULTY : FM_PORT_UP;
		report(k, &row);
		if (rnd_one_in(rnd, 40))
			run_some_time();
	}
	if (rnd_one_in(rnd, 2) && find_other(k, p, &o, &q))
		storm(o, q);
}

static void end_by_order(void)
{
	static struct flap was[NODES][PORTS];
	uint32_t node = rnd_below(rnd, nodes);
	uint16_t mask = (uint16_t)(rnd_one_in(rnd, 3) ? 0xffff : 1u << rnd_below(rnd, ports));

	memcpy(was, flap, sizeof(was));
	begin_event("");
	fm_damp_end(&fm, node, mask);
	for (unsigned int p = 0; p < ports; p++) {
		uint32_t o = at[torus_neighbour(&fm.table.shape, node, p)];

		if (!(mask >> p & 1))
			continue;
		if (at[node] < NODES)
			end_hold(at[node], p);
		if (o < NODES)
			end_hold(o, torus_dir_opposite(&fm.table.shape, p));
	}
	check_reported(was);
	check_problems();
}

/*
 * Ends holds of cables, until no cable that is held joins two parts. So the cables whose holds end are
 * as many as the parts become fewer: none of them joins nodes that the others join.
 */
static void spare(void)
{
	static struct flap was[NODES][PORTS];
	uint32_t m = rnd_one_in(rnd, 2) ? NODES : rnd_below(rnd, known), part[NODES], o;
	unsigned int before = find_parts(part), ends = 0, q;
	bool some = false;

	memcpy(was, flap, sizeof(was));
	root.settled = !rnd_one_in(rnd, 5);
	begin_event(": no other path leads there");
	fm_damp_spare(&fm, m < NODES ? &record[m] : NULL);
	for (uint32_t k = 0; k < known; k++)
		for (unsigned int p = 0; p < PORTS; p++) {
			some |= was[k][p].held;
			if (!reported[k][p])
				continue;
			expect(rnd, root.settled && find_usable(k, p, &o, &q), "%u:%u", k, p);
			expect(rnd, m == NODES || m == k || m == o, "%u:%u", k, p);
			end_hold(k, p);
			ends += 1 + !was[o][q].held;	/* half a cable */
		}
	check_reported(was);
	expect(rnd, before - find_parts(part) == ends / 2, "%u/2 of %u", ends, before);
	for (uint32_t k = 0; k < known && root.settled; k++)
		for (unsigned int p = 0; p < ports; p++)
			if (find_usable(k, p, &o, &q) && (m == NODES || m == k))
				expect(rnd, part[k] == part[o], "%u:%u", k, p);
	assert_true(some || !searches);
	assert_int_equal(scratch[known], NOWHERE);
	if (some && root.settled)
		check_problems();
}

/* The table gets the holds that there are, and the administrator and the nodes change something. */
static void make_table(void)
{
	fm.table.nodes = rnd_one_in(rnd, 6) ? nodes / 2 : nodes;
	for (uint32_t i = 0; i < nodes; i++) {
		const struct fm_record *m = at[i] < NODES ? &record[at[i]] : NULL;

		admin[i] = (uint16_t)(rnd_one_in(rnd, 6) ? 1u << rnd_below(rnd, ports) : 0);
		entry[i] = (struct fm_entry) { .guid = m ? m->guid + rnd_one_in(rnd, 12) : 0 };
		if (!m)
			continue;
		entry[i].epoch = m->epoch ^ (uint32_t)rnd_one_in(rnd, 12);
		entry[i].held = fm_damp_mask(&fm, m);
		if (rnd_one_in(rnd, 4))
			entry[i].held ^= (uint16_t)(1u << rnd_below(rnd, ports));
		record[at[i]].state = rnd_one_in(rnd, 10) ? FM_NODE_DEAD : FM_NODE_UP;
	}
}

/* Holds all cables of a node, and makes some unusable: then it may get one of the others back. */
static void isolate(uint32_t k)
{
	struct fm_record *m = &record[k];
	unsigned int p = rnd_below(rnd, ports), q;
	struct fm_row row;
	uint32_t o;

	make_table();
	for (unsigned int i = 0; i < ports; i++) {
		row = m->row;
		for (unsigned int n = 2 * fm.cfg.flap_limit; n; n--) {
			row.port[i].state = n & 1 ? FM_PORT_UP : FM_PORT_FAULTY;
			report(k, &row);
		}
	}
	if (find_other(k, p, &o, &q) && rnd_one_in(rnd, 2)) {
		m = &record[o];
		p = q;
	}
	row = m->row;
	switch (rnd_below(rnd, 5)) {
	case 0:
		m->state = FM_NODE_DEAD;
		break;
	case 1:
		row.port[p].problem = 1;
		report((uint32_t)(m - record), &row);
		break;
	case 2:
		if (m->node != TORUS_NO_NODE)
			admin[m->node] |= (uint16_t)(1u << p);
		break;
	default:
		break;
	}
	spare();
}

/* --- histories ---------------------------------------------------------------------------------- */

static void make_nodes(void)
{
	uint32_t place[NODES];

	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t j = rnd_below(rnd, i + 1);

		place[i] = place[j];
		place[j] = i;
		at[i] = NODES;
	}
	known = nodes - rnd_below(rnd, 2);
	for (uint32_t k = 0; k < known; k++) {
		record[k] = (struct fm_record) { .guid = GUID + (k * 13 + 3) % known, .node = place[k],
						 .epoch = rnd_below(rnd, 2), .state = FM_NODE_UP };
		record[k].row.nports = (uint8_t)(ports + rnd_one_in(rnd, 3));
		at[place[k]] = k;
	}
	for (uint32_t k = 0; k < known; k++)
		for (unsigned int p = 0; p <= ports; p++) {
			uint32_t o = p < ports ? at[torus_neighbour(&fm.table.shape, place[k], p)] :
				     k ^ 1;

			record[k].row.port[p] = (struct fm_port_row) {
				.state = FM_PORT_UP,
				.peer_guid = o < known ? record[o].guid : NOWHERE,
				.peer_port = (uint8_t)(p < ports ?
					torus_dir_opposite(&fm.table.shape, p) : ports),
			};
		}
	if (rnd_one_in(rnd, 2)) {
		uint32_t k = rnd_below(rnd, known);

		at[record[k].node] = NODES;
		record[k].node = TORUS_NO_NODE;
	}
}

static void play_event(void)
{
	uint32_t k = rnd_below(rnd, known);

	switch (rnd_below(rnd, 12)) {
	case 0:
		run_some_time();
		break;
	case 1:
		run_to_next_end();
		break;
	case 2:
		end_by_order();
		break;
	case 3:
		spare();
		break;
	case 4:
		make_table();
		doubts = rnd_one_in(rnd, 4) ? fm.now + rnd_below(rnd, 2) : 0;
		break;
	case 5:
		isolate(k);
		break;
	case 6:
		for (k = 0; k < known && rnd_below(rnd, 8); k++)
			storm(k, rnd_below(rnd, ports));
		break;
	case 7:
	case 8:
		change_row(k);
		break;
	default:
		storm(k, rnd_below(rnd, record[k].row.nports));
		break;
	}
	check_masks();
	check_list();
}

static void play(uint64_t seed)
{
	static const char *const shapes[] = { "5x4", "3x2x3", "2x2", "7", "3x1x4" };
	struct rnd r = rnd_new(seed);
	size_t blocks = memory_blocks();

	rnd = &r;
	memory_guard(seed % 8 == 1);
	memset(flap, 0, sizeof(flap));
	fm = (struct fm) { .root = &root, .now = 1 + rnd_below(rnd, 1000) };
	root = (struct fm_root) { .admin = admin };
	torus_shape_parse(shapes[rnd_below(rnd, 5)], &fm.table.shape);
	nodes = torus_nodes(&fm.table.shape);
	fm.ndims = fm.table.shape.ndims;
	fm.table.entry = entry;
	fm.cfg.flap_limit = rnd_one_in(rnd, 20) ? 0 : 1 + rnd_below(rnd, 6);
	fm.cfg.flap_half_life = (1 + rnd_below(rnd, 20)) * 1000000000ULL;
	fm.cfg.hold_max = fm.cfg.flap_half_life * (1 + rnd_below(rnd, 8)) / 2;
	ports = 2 * fm.ndims;
	problems = 0;
	doubts = 0;
	make_nodes();
	memory_fails_at(rnd_one_in(rnd, 2) ? 1 : 0);
	if (!fm_damp_new(&root)) {
		assert_true(memory_failed());
		fm_damp_free(&root);
		assert_true(fm_damp_new(&root));
	}
	memory_fails_at(0);
	assert_true(fm_damp_expiry(&fm) == NEVER);
	make_table();
	for (unsigned int i = 0; i < 50; i++)
		play_event();
	fm_damp_free(&root);
	assert_int_equal(memory_blocks(), blocks);
	memory_guard(false);
}

static void links_are_held_as_in_model(void **state)
{
	(void)state;
	for_seeds(60, play);
}

/* Return: for how long a port is held that was lost @n times, and once more after @wait. */
static uint64_t held_for(unsigned int n, uint64_t wait)
{
	struct fm_row row = { .nports = 4, .port[1].state = FM_PORT_FAULTY };
	struct fm_hold h = { .left = 0 };

	at[0] = 0;
	known = nodes = 1;
	doubts = 0;
	record[0] = (struct fm_record) { .guid = GUID };
	root = (struct fm_root) { .settled = true };
	assert_true(fm_damp_new(&root));
	for (unsigned int i = 0; i <= n; i++) {
		if (i == n)
			fm.now += wait;
		record[0].row = row;
		record[0].row.port[1].state = FM_PORT_UP;
		fm_damp_row(&fm, &record[0], &row);
	}
	fm_held(&fm, 0, fm.now, &h);
	fm_damp_free(&root);
	return h.left;
}

/* The half-life of this test is a multiple of the unit in which the code divides times. */
static void limits_are_exact(void **state)
{
	const uint64_t half = 3 * 1024 * 1000;

	(void)state;
	fm = (struct fm) { .root = &root, .now = 5000, .ndims = 2 };
	fm.cfg = (struct fm_config) { .flap_limit = 2, .flap_half_life = half, .hold_max = 9 * half };
	/* The limit is 1.5; a hold ends at 1. */
	assert_int_equal(held_for(1, half + half / 250), 0);
	assert_int_equal(held_for(1, half), half / 3 * 2);
	assert_int_equal(held_for(1, 0), half);
	assert_int_equal(held_for(2, half), half);
	assert_int_equal(held_for(3, 0), 2 * half);
	fm.cfg.hold_max = half + 1;
	assert_int_equal(held_for(3, 0), half + 1);
	assert_int_equal(held_for(3, 32 * half), 0);
	assert_int_equal(held_for(3, 33 * half), 0);
}

static void node_that_is_not_root_lists_no_holds(void **state)
{
	struct fm member = { .root = NULL };
	struct fm_hold h;

	(void)state;
	assert_false(fm_held(&member, 0, 0, &h));
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(links_are_held_as_in_model),
		cmocka_unit_test(limits_are_exact),
		cmocka_unit_test(node_that_is_not_root_lists_no_holds),
	};

	return cmocka_run_group_tests_name("fm_flapping", all, NULL, NULL);
}
