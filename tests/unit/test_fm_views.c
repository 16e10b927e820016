// SPDX-License-Identifier: GPL-2.0-only
/*
 * The answers of status.h, by themselves: a machine in a random state, as root, as a
 * node that asks to be root, or as a member. Stubs in this test stand for the rest of the machine.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/node/verdict.h"
#include "daemon/fm/node/wave.h"
#include "daemon/fm/root/admin.h"
#include "daemon/fm/root/apart.h"
#include "daemon/fm/root/box.h"
#include "daemon/fm/root/cables.h"
#include "daemon/fm/root/calls.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/grown.h"
#include "daemon/fm/root/guard.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/status.h"

#define NODES	12
#define PORTS	6
#define GUID	100
#define MEMBER_MAX (5000 * MS)
#define NOW	(100 * SEC)

static struct fm_root root;
static struct fm fm;
static struct fm_entry entry[NODES];
static uint16_t closed[NODES], admin[NODES];
static struct fm_record record[NODES];
static uint32_t records;
static struct fm_book book;
static struct torus_shape shape;
static unsigned int ports;
static bool leads, here[NODES], port_up[PORTS], has_child[NODES], is_parent[NODES];
static struct fm_conn child[NODES], to_root, to_parent;
static bool has_root_conn, has_parent_conn;
static uint64_t port_last[PORTS], lost_at[NODES][3];
static unsigned int problems, priority[NODES + 1];
static enum fm_phase phase;
static bool demanded, member_ended, rows_in_force;
static struct fm_recovery last_recovery = { .version = 3 }, present = { .version = 4 };
static struct fm_sums sums = { .parked = 70, .relayed = 80 };
static struct fm_answer answer;
static const char *stranger;
static unsigned int cables;		/* how often a cable was described */

/* --- stubs -------------------------------------------------------------------------------- */

uint32_t fm_table_find(const struct fm *f, uint64_t guid)
{
	for (uint32_t i = 0; i < f->table.nodes; i++)
		if (f->table.entry[i].guid == guid && f->table.entry[i].state != FM_NODE_ABSENT)
			return i;
	return TORUS_NO_NODE;
}

uint32_t fm_roster_size(const struct fm_root *r)
{
	assert_ptr_equal(r, &root);
	return records;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < records);
	return &record[i];
}

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	assert_ptr_equal(r, &root);
	for (uint32_t i = 0; i < records; i++)
		if (record[i].guid == guid)
			return &record[i];
	return NULL;
}

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	assert_ptr_equal(r, &root);
	for (uint32_t i = 0; i < records; i++)
		if (record[i].node == node)
			return &record[i];
	return NULL;
}

bool fm_record_joined(const struct fm_record *m)
{
	return m->stated.received;
}

bool fm_wave_neighbour(const struct fm *f, unsigned int port, struct fm_neighbour *out)
{
	(void)f;
	(void)out;
	return port < 3;
}

void fm_wave_cable(const struct fm *f, unsigned int port, struct fm_cable *out)
{
	(void)f;
	(void)out;
	assert_true(port < ports);
	cables++;
}

unsigned int fm_ports_used(const struct fm *f)
{
	(void)f;
	return ports;
}

bool fm_quorum_here(const struct fm *f, const struct fm_record *m)
{
	(void)f;
	return here[m - record];
}

struct fm_conn *fm_conn_of_child(const struct fm *f, uint64_t guid, const struct fm_conn *but)
{
	(void)f;
	assert_null(but);
	return guid >= GUID && guid < GUID + NODES && has_child[guid - GUID] ? &child[guid - GUID] :
									       NULL;
}

struct fm_conn *fm_conn_of_role(const struct fm *f, enum fm_conn_role role)
{
	(void)f;
	if (role == FM_CONN_ROOT)
		return has_root_conn ? &to_root : NULL;
	assert_int_equal(role, FM_CONN_PARENT);
	return has_parent_conn ? &to_parent : NULL;
}

bool fm_uplink_is_parent(const struct fm *f, const char *address)
{
	(void)f;
	return is_parent[address[0] - 'a'];
}

bool fm_port_up(const struct fm *f, unsigned int p)
{
	(void)f;
	assert_true(p < ports);
	return port_up[p];
}

uint64_t fm_port_last(const struct fm *f, unsigned int p)
{
	(void)f;
	return port_last[p];
}

unsigned int fm_candidate_priority(unsigned int stated, uint32_t node)
{
	return stated == 9 ? priority[node < NODES ? node : NODES] : 0;
}

unsigned int fm_candidate_stated(const struct fm *f)
{
	(void)f;
	return 9;
}

uint8_t fm_admin_disk(const struct fm *f, const struct fm_record *m)
{
	(void)f;
	return (uint8_t)(20 + (m - record));
}

void fm_admin_kept_count(const struct fm *f, struct fm_kept_count *out)
{
	(void)f;
	memset(out, 0x55, sizeof(*out));
}

int fm_guard_look(const struct fm *f, const struct fm_target *end, uint32_t n, struct fm_severed *out)
{
	(void)f;
	(void)end;
	(void)out;
	return (int)n;
}

const struct fm_job *fm_jobs_named(const struct fm_jobs *s, const char *name)
{
	assert_ptr_equal(s, &root.jobs);
	return strcmp(name, "a") ? NULL : s->of;
}

bool fm_jobs_count(const struct fm_table *t, struct fm_job_count *count)
{
	(void)count;
	assert_ptr_equal(t, &fm.table);
	return problems;
}

const char *fm_apart_stranger(const struct fm *f)
{
	(void)f;
	return stranger;
}

int fm_grown_state(const struct fm *f, const char *name, char *why)
{
	(void)f;
	strcpy(why, name);
	return -EINPROGRESS;
}

int fm_box_choose(const struct fm *f, const struct fm_job_want *want, uint32_t *node, char *why)
{
	(void)f;
	(void)want;
	(void)node;
	(void)why;
	return 77;
}

const char *fm_cables_why(const struct fm *f, uint32_t node, unsigned int port, uint64_t *since)
{
	(void)f;
	assert_true(node < NODES && port < 3);
	*since = lost_at[node][port];
	return "silence";
}

uint32_t fm_cables_downs(const struct fm *f, uint32_t node, unsigned int port)
{
	(void)f;
	assert_true(node < NODES && port < 3);
	return 1 + 10 * node + port;
}

uint32_t fm_book_ups(struct fm_book *b)
{
	assert_ptr_equal(b, &book);
	return 5;
}

bool fm_claim_leads(const struct fm *f)
{
	(void)f;
	return leads;
}

const char *fm_claim_why(const struct fm_root *r)
{
	assert_ptr_equal(r, &root);
	return "takeover";
}

void fm_calls_count(const struct fm *f, struct fm_calls_status *out)
{
	(void)f;
	memset(out, 0x33, sizeof(*out));
}

void fm_quorum_count(const struct fm *f, uint32_t *is_here, uint32_t *need)
{
	(void)f;
	*is_here = 6;
	*need = 7;
}

const struct fm_answer *fm_verdict(const struct fm *f)
{
	(void)f;
	return &answer;
}

const struct fm_recovery *fm_recovery_last(const struct fm_root *r)
{
	assert_ptr_equal(r, &root);
	return &last_recovery;
}

enum fm_phase fm_recovery_phase(const struct fm_root *r)
{
	assert_ptr_equal(r, &root);
	return phase;
}

const struct fm_sums *fm_recovery_sums(const struct fm_root *r)
{
	assert_ptr_equal(r, &root);
	return &sums;
}

const struct fm_recovery *fm_recovery_log(const struct fm_root *r)
{
	assert_ptr_equal(r, &root);
	return &present;
}

bool fm_demand_is(const struct fm_root *r)
{
	assert_ptr_equal(r, &root);
	return demanded;
}

bool fm_member_ended(const struct fm *f)
{
	(void)f;
	return member_ended;
}

bool fm_rows_in_force(const struct fm *f)
{
	(void)f;
	return rows_in_force;
}

unsigned int fm_problems_count(const struct fm *f)
{
	(void)f;
	return problems;
}

/* --- random machines ---------------------------------------------------------------------- */

static struct fm_order order[NODES * 2];

static uint64_t random_time(struct rnd *r)
{
	return rnd_one_in(r, 4) ? 0 : NOW - (rnd_one_in(r, 2) ? rnd_below(r, 100) * MS :
					     MEMBER_MAX - 1 + rnd_below(r, 3));
}

static uint16_t random_ports(struct rnd *r, uint32_t rarely)
{
	return (uint16_t)(rnd_one_in(r, rarely) ? 1u << rnd_below(r, ports) : 0);
}

static void make_table(struct rnd *r)
{
	uint32_t rarely = 2 + rnd_below(r, 6);

	memset(closed, 0, sizeof(closed));
	book = (struct fm_book) { .orders.of = order };
	for (uint32_t i = 0; i < fm.table.nodes; i++) {
		struct fm_entry *e = &entry[i];

		*e = (struct fm_entry) { .state = FM_NODE_UP, .guid = GUID + i,
					 .fault = random_ports(r, rarely), .ended = random_ports(r, 6),
					 .wiring = random_ports(r, rarely + 4),
					 .admin = random_ports(r, rarely), .held = random_ports(r, 8),
					 .stalled = random_ports(r, 8) };
		e->address[0] = (char)('a' + i);
		snprintf(e->name, sizeof(e->name), "n%u", i % 7);
		if (rnd_one_in(r, 5))
			e->state = (uint8_t)rnd_below(r, FM_NODE_STATES);
		if (rnd_one_in(r, 8))
			e->admin = (uint16_t)((1u << ports) - 1);
		for (unsigned int k = 0; k < 2 && rnd_one_in(r, 2); k++)
			order[book.orders.n++] = (struct fm_order) {
				.node = i, .ports = (uint16_t)(1 + rnd_below(r, 63)),
				.until = rnd_one_in(r, 4) ? 0 : 1000 + rnd_below(r, 3) };
	}
	for (uint32_t i = 0; i < fm.table.nodes; i++)
		for (unsigned int p = 0; p < ports; p++) {
			uint32_t o = torus_neighbour(&shape, i, p);
			unsigned int q = torus_dir_opposite(&shape, p);

			if ((entry[i].fault | entry[i].wiring | entry[i].admin | entry[i].held |
			     entry[i].stalled) >> p & 1)
				closed[i] |= (uint16_t)(1u << p);
			if ((entry[o].fault | entry[o].wiring | entry[o].admin | entry[o].held |
			     entry[o].stalled) >> q & 1)
				closed[i] |= (uint16_t)(1u << p);
		}
}

static void make_root(struct rnd *r)
{
	records = rnd_below(r, fm.table.nodes + 1);
	memset(&root, 0, sizeof(root));
	root.stage = leads ? FM_STAGE_LEADS : rnd_one_in(r, 2) ? FM_STAGE_ASKS : FM_STAGE_CLAIMS;
	root.settled = !rnd_one_in(r, 4);
	root.since = 17;
	root.admin = admin;
	root.jobs.n = 1;
	root.jobs.of = (struct fm_job *)&root;
	root.orders.n = rnd_below(r, 3);
	root.orders.of = order;
	for (uint32_t i = 0; i < records; i++) {
		record[i] = (struct fm_record) { .guid = GUID + (i * 5 + 1) % fm.table.nodes,
						 .node = rnd_one_in(r, 5) ? TORUS_NO_NODE :
							 (i * 5 + 1 + rnd_one_in(r, 8)) %
							 fm.table.nodes,
						 .joined = random_time(r), .missing = random_time(r),
						 .priority = (uint16_t)(rnd_one_in(r, 3) ? 0 : 9) };
		record[i].stated.received = random_time(r);
		record[i].via = rnd_one_in(r, 3) ? 0 : GUID + rnd_below(r, fm.table.nodes + 2);
		snprintf(record[i].name, sizeof(record[i].name), "r%u", i);
		here[i] = rnd_one_in(r, 2);
	}
}

static void make_machine(struct rnd *r)
{
	static const char *const shapes[] = { "4x3", "3x1x3", "5", "2x3x2" };

	torus_shape_parse(shapes[rnd_below(r, 4)], &shape);
	ports = 2u * shape.ndims;
	fm = (struct fm) { .now = NOW, .guid = GUID + rnd_below(r, 3), .ndims = shape.ndims };
	fm.cfg.member_max = MEMBER_MAX;
	fm.cfg.arbiter = rnd_one_in(r, 2);
	snprintf(fm.cfg.name, sizeof(fm.cfg.name), "self");
	fm.table.shape = shape;
	fm.table.nodes = torus_nodes(&shape);
	fm.table.version = rnd_one_in(r, 8) ? 0 : 12;
	fm.plan.len4 = 8;
	fm.table.plan.len4 = 9;
	fm.table.term = 8;
	fm.table.entry = entry;
	fm.table.closed = closed;
	fm.table.book = &book;
	fm.table.open = (uint8_t)(rnd_below(r, 2) ? 7 : 0);
	make_table(r);
	fm.shape = (struct torus_shape) { .ndims = 1, .size = { 2, 1, 1, 1, 1, 1 } };
	fm.placed = !rnd_one_in(r, 4);
	fm.node = rnd_below(r, fm.table.nodes);
	fm.have_position = !rnd_one_in(r, 4);
	cables = 0;
	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++) {
		fm.size[d] = (uint16_t)(4 + d);
		fm.position[d] = (int32_t)d - 2;
	}
	fm.have_root = !rnd_one_in(r, 4);
	fm.root_guid = GUID + rnd_below(r, fm.table.nodes + 1);
	fm.root_epoch = 55;
	fm.term = 56;
	fm.led.guid = GUID + rnd_below(r, 4);
	fm.led.since = random_time(r);
	fm.cut_off = rnd_one_in(r, 2) ? random_time(r) : 0;
	fm.root_asks = rnd_one_in(r, 2);
	fm.asker.need = rnd_below(r, 2) * 4;
	fm.asker.here = 3;
	fm.asker.epoch = rnd_below(r, 2);
	fm.park.parked = 60;
	fm.relayed = 61;
	fm.applied = 11;
	leads = rnd_one_in(r, 2);
	if (leads || rnd_one_in(r, 2))
		fm.root = &root;
	make_root(r);
	for (uint32_t i = 0; i < NODES; i++) {
		has_child[i] = rnd_one_in(r, 5);
		child[i].received = random_time(r);
		is_parent[i] = rnd_one_in(r, 5);
		admin[i] = random_ports(r, 3);
		priority[i] = rnd_one_in(r, 3) ? 0 : i + 1;
		for (unsigned int d = 0; d < 3; d++)
			lost_at[i][d] = rnd_below(r, 2) * (1 + i);
	}
	priority[NODES] = rnd_below(r, 2);
	for (unsigned int p = 0; p < PORTS; p++) {
		port_up[p] = rnd_one_in(r, 2);
		port_last[p] = random_time(r);
		fm.row.port[p].peer_guid = GUID + rnd_below(r, fm.table.nodes);
	}
	has_root_conn = rnd_one_in(r, 2);
	has_parent_conn = rnd_one_in(r, 2);
	to_root = (struct fm_conn) { .ready = rnd_one_in(r, 2), .received = random_time(r) };
	to_parent = (struct fm_conn) { .ready = rnd_one_in(r, 2), .received = random_time(r) };
	problems = rnd_below(r, 2);
	phase = rnd_one_in(r, 2) ? FM_PHASE_REST : FM_PHASE_REST + 1;
	demanded = rnd_one_in(r, 4);
	member_ended = !rnd_one_in(r, 4);
	rows_in_force = rnd_one_in(r, 2);
	answer = (struct fm_answer) { .verdict = FM_REFUSED, .epoch = 31, .at = random_time(r),
				      .why = "no" };
	stranger = rnd_one_in(r, 2) ? NULL : "old";
}

static bool is_root(void)
{
	return fm.root && leads;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* --- who lives ---------------------------------------------------------------------------- */

static const struct fm_record *record_of(uint32_t node)
{
	return fm.root ? fm_record(&root, GUID + node) : NULL;
}

static uint64_t proof(const struct fm_record *m)
{
	if (m->via && (leads || here[m - record]))
		return NOW;
	if (!leads)
		return m->stated.received;
	return m->joined || m->stated.received ? max(m->missing, m->stated.received) : 0;
}

static uint64_t contact(uint32_t node)
{
	uint64_t at = has_child[node] ? child[node].received : 0;

	if (fm.root_guid == GUID + node) {
		if (has_root_conn && to_root.ready)
			at = max(at, to_root.received);
	} else if (is_parent[node] && has_parent_conn && to_parent.ready) {
		at = max(at, to_parent.received);
	}
	for (unsigned int p = 0; p < ports; p++)
		if (port_up[p] && fm.row.port[p].peer_guid == GUID + node)
			at = max(at, port_last[p]);
	return at;
}

static bool naive_alive(uint32_t node, uint64_t *at)
{
	const struct fm_record *m = record_of(node);
	bool lost;

	*at = fm.placed && node == fm.node ? NOW : 0;
	if (*at)
		return true;
	if (!fm.table.version || node >= fm.table.nodes || entry[node].state == FM_NODE_ABSENT)
		return false;
	*at = m ? proof(m) : 0;
	if (is_root())
		return m && (m->via || NOW < max(*at, m->missing) + MEMBER_MAX);
	*at = max(*at, contact(node));
	lost = fm.cut_off && fm.led.guid == GUID + node && *at < fm.cut_off;
	if (fm.led.since && fm.led.guid != fm.guid)
		*at = max(*at, fm.cut_off ? fm.cut_off : NOW);
	return !lost && *at && NOW < *at + MEMBER_MAX;
}

static bool answers(uint32_t node)
{
	const struct fm_record *m = record_of(node);

	if (fm.placed && node == fm.node)
		return true;
	return entry[node].state != FM_NODE_ABSENT && m && (leads ? m->via : here[m - record]);
}

static void lives(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	make_machine(&r);
	for (uint32_t i = 0; i <= fm.table.nodes; i++) {
		uint64_t at, want;
		bool is = fm_last_alive(&fm, i, &at), be = naive_alive(i, &want);

		expect(&r, is == be && at == want, "node %u: %d, not %d, at %" PRIu64 ", not %" PRIu64,
		       i, is, be, at, want);
	}
}

static void last_sign_of_life_is_as_in_model(void **state)
{
	(void)state;
	for_seeds(3000, lives);
}

/* --- cables ------------------------------------------------------------------------------- */

static bool bit(uint16_t a, unsigned int p, uint16_t b, unsigned int q)
{
	return a >> p & 1 || b >> q & 1;
}

/* Return: '-': there is none, or 'u' up, 'x' excluded, 'w' wrong, 'f' faulty. */
static char cable(uint32_t i, unsigned int d)
{
	const struct fm_entry *a = &entry[i], *b = &entry[torus_neighbour(&shape, i, d)];
	unsigned int q = torus_dir_opposite(&shape, d);

	if (shape.size[d] == 1)
		return '-';
	if (fm.table.open >> d & 1 && a->state == FM_NODE_UP && b->state == FM_NODE_UP &&
	    a->fault >> d & 1 && b->fault >> q & 1 && !(a->ended >> d & 1) && !(b->ended >> q & 1))
		return '-';
	if (bit(a->admin, d, b->admin, q))
		return 'x';
	if (bit(a->wiring, d, b->wiring, q))
		return 'w';
	return closed[i] >> d & 1 ? 'f' : 'u';
}

/* Return: true if the cable ends at this node, and is down without a root. */
static bool own_is_down(uint32_t i, unsigned int d)
{
	uint32_t o = torus_neighbour(&shape, i, d);

	return fm.cut_off && fm.placed &&
	       ((i == fm.node && !port_up[d]) ||
		(o == fm.node && !port_up[torus_dir_opposite(&shape, d)]));
}

static bool is_out(uint32_t i)
{
	return fm.table.version && fm_is_out_of_service(&shape, entry[i].admin);
}

static void count(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_status s, n = { .nodes = 0 };
	bool lacks = false, faulty = false, under_way;
	enum fm_state want;
	uint64_t at;

	make_machine(&r);
	fm.table.version = 12;
	for (uint32_t i = 0; i < fm.table.nodes; i++) {
		bool alive = naive_alive(i, &at);
		bool up = alive && (entry[i].state == FM_NODE_UP ||
				    (fm.cut_off && fm.placed && i == fm.node));

		n.nodes_answering += answers(i);
		n.nodes_excluded += is_out(i);
		n.nodes_up += up;
		lacks |= !up && !is_out(i);
		faulty |= entry[i].state != FM_NODE_UP && !is_out(i);
		for (unsigned int d = 0; d < shape.ndims; d++) {
			uint32_t o = torus_neighbour(&shape, i, d);
			char is = cable(i, d);

			if (is == '-')
				continue;
			n.links++;
			n.links_answering += answers(i) || answers(o);
			n.links_excluded += is == 'x';
			n.links_wrong += is == 'w';
			faulty |= is == 'f' || is == 'w';
			if (is == 'f' || (is == 'u' && own_is_down(i, d)))
				n.links_faulty++;
			else if (is == 'u')
				n.links_up += alive || naive_alive(o, &at);
		}
	}
	under_way = is_root() ? phase != FM_PHASE_REST || demanded : !member_ended;
	want = under_way ? FM_RECOVERING : lacks || faulty || problems || fm.cut_off ? FM_DEGRADED :
									       FM_RUNNING;
	fm_status(&fm, &s);
	expect(&r, s.nodes == fm.table.nodes && s.nodes_up == n.nodes_up &&
	       s.nodes_answering == n.nodes_answering && s.nodes_excluded == n.nodes_excluded,
	       "%u up, %u heard, %u excluded", s.nodes_up, s.nodes_answering, s.nodes_excluded);
	expect(&r, s.links == n.links && s.links_up == n.links_up && s.links_faulty == n.links_faulty,
	       "%u links, %u up, %u faulty", s.links, s.links_up, s.links_faulty);
	expect(&r, s.links_excluded == n.links_excluded && s.links_wrong == n.links_wrong &&
	       s.links_answering == n.links_answering, "%u excluded, %u wrong, %u heard", s.links_excluded,
	       s.links_wrong, s.links_answering);
	expect(&r, s.state == want, "state %d, not %d", s.state, want);
	assert_memory_equal(&s.shape, fm_shape(&fm), sizeof(s.shape));
	assert_int_equal(s.root.own, !!fm.root);
	assert_int_equal(fm_nodes(&fm, &n.nodes_up), fm.table.nodes);
	assert_int_equal(n.nodes_up, 5);
	assert_int_equal(s.parked, is_root() ? 70 : 60);
	assert_int_equal(s.relayed, is_root() ? 80 : 61);
	assert_int_equal(s.last.version, is_root() ? 3 : 0);
	assert_int_equal(s.present.version, is_root() && phase != FM_PHASE_REST ? 4 : 0);
	assert_true(s.problems == problems && s.version == 12 && s.applied == 11);
	assert_true(s.is_root == is_root() && s.placed == fm.placed);
	assert_int_equal(s.own, fm.placed ? fm.node : TORUS_NO_NODE);
	assert_int_equal(fm_in_force(&fm, 12), rows_in_force && !under_way);
	assert_false(fm_in_force(&fm, 11));
	assert_int_equal(fm_root_busy(&fm), is_root() && (!root.settled || under_way));
	fm.table.version = 0;
	assert_false(fm_in_force(&fm, 0));
	fm_status(&fm, &s);
	assert_true(s.state == FM_BOOTSTRAPPING && !s.nodes && !s.nodes_up && !s.links);
}

/* The state by the table alone; it is computed once for each table. */
static enum fm_state state_now(void)
{
	book.lack.known = false;
	fm_state(&fm);
	assert_true(book.lack.known);
	return fm_state(&fm);
}

static void table_that_lacks_something_is_degraded(void **state)
{
	struct rnd r = rnd_new(1);

	(void)state;
	do
		make_machine(&r);
	while (shape.size[0] < 4);
	fm.root = NULL;
	fm.table.version = 12;
	fm.cut_off = 0;
	problems = 0;
	member_ended = true;
	memset(closed, 0, sizeof(closed));
	for (uint32_t i = 0; i < fm.table.nodes; i++) {
		entry[i] = (struct fm_entry) { .state = FM_NODE_UP, .guid = GUID + i };
		assert_int_equal(entry[i].admin, 0);
	}
	assert_int_equal(state_now(), FM_RUNNING);
	entry[1].state = FM_NODE_SILENT;
	assert_int_equal(fm_state(&fm), FM_RUNNING);	/* it is known for this table */
	assert_int_equal(state_now(), FM_DEGRADED);
	entry[1].admin = (uint16_t)((1u << ports) - 1);
	for (unsigned int p = 0; p < ports; p++) {
		closed[1] |= (uint16_t)(1u << p);
		closed[torus_neighbour(&shape, 1, p)] |=
			(uint16_t)(1u << torus_dir_opposite(&shape, p));
	}
	assert_int_equal(state_now(), FM_RUNNING);	/* the administrator knows it */
	entry[0].wiring = 1;
	closed[0] |= 1;
	entry[1].admin &= (uint16_t)~(1u << ports / 2);
	assert_int_equal(state_now(), FM_DEGRADED);
	entry[1].state = FM_NODE_UP;
	assert_int_equal(state_now(), FM_DEGRADED);
	entry[0].wiring = 0;
	entry[0].fault = 1;
	assert_int_equal(state_now(), FM_DEGRADED);
	entry[0].admin = 1;
	assert_int_equal(state_now(), FM_RUNNING);
}

static void counts_are_as_in_model(void **state)
{
	(void)state;
	for_seeds(3000, count);
}

/* Return: until when the end is excluded by the first order with that port; 0: without limit. */
static uint64_t until(uint32_t node, unsigned int p)
{
	for (uint32_t i = 0; i < book.orders.n; i++)
		if (order[i].node == node && order[i].ports >> p & 1)
			return order[i].until;
	return 0;
}

static uint64_t naive_until(uint32_t i, unsigned int p)
{
	uint32_t o = torus_neighbour(&shape, i, p);
	unsigned int q = torus_dir_opposite(&shape, p);
	bool a = entry[i].admin >> p & 1, b = entry[o].admin >> q & 1;

	if (a && b)
		return until(i, p) && until(o, q) ? max(until(i, p), until(o, q)) : 0;
	return a ? until(i, p) : b ? until(o, q) : 0;
}

static const char *naive_excluded(uint32_t i, unsigned int p)
{
	const struct fm_entry *a = &entry[i], *b = &entry[torus_neighbour(&shape, i, p)];
	unsigned int q = torus_dir_opposite(&shape, p);

	if (!(closed[i] >> p & 1))
		return NULL;
	return bit(a->admin, p, b->admin, q) ? "admin" : bit(a->wiring, p, b->wiring, q) ? "wiring" :
	       bit(a->held, p, b->held, q) ? "held" : bit(a->stalled, p, b->stalled, q) ? "stall" :
	       "fault";
}

static void check_port(struct rnd *r, uint32_t i, unsigned int p)
{
	const char *is = fm_excluded(&fm, i, p), *be = naive_excluded(i, p);
	uint32_t o = torus_neighbour(&shape, i, p), downs;
	unsigned int q = torus_dir_opposite(&shape, p), d = p % shape.ndims;
	bool real = is_root() && shape.size[d] > 1;
	uint32_t first = p < shape.ndims ? i : o;
	uint64_t since;

	expect(r, !is == !be && (!is || !strcmp(is, be)), "%u:%u is %s, not %s", i, p,
	       is ? is : "-", be ? be : "-");
	expect(r, fm_excluded_until(&fm, i, p) == naive_until(i, p), "%u:%u until %" PRIu64, i, p,
	       fm_excluded_until(&fm, i, p));
	expect(r, fm_exclusion_given(&fm, i, p) == (is_root() && bit(admin[i], p, admin[o], q)),
	       "%u:%u", i, p);
	expect(r, fm_downs(&fm, i, p, &downs) == real && downs == (real ? 1 + 10 * first + d : 0),
	       "%u:%u", i, p);
	real = real && cable(first, d) == 'f';
	expect(r, fm_lost_since(&fm, i, p, &since) == (real && lost_at[first][d]) &&
	       since == (real ? lost_at[first][d] : 0), "%u:%u", i, p);
}

static void check_beyond(uint32_t node, unsigned int port)
{
	uint64_t since;
	uint32_t n;

	assert_null(fm_excluded(&fm, node, port));
	assert_false(fm_exclusion_given(&fm, node, port));
	assert_true(!fm_downs(&fm, node, port, &n) && !fm_lost_since(&fm, node, port, &since));
	assert_int_equal(fm_excluded_until(&fm, node, port), 0);
	assert_false(node >= fm.table.nodes && fm_out_of_service(&fm, node));
}

static void exclude(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_faulty f;
	uint32_t k = 0;

	make_machine(&r);
	fm.table.version = 12;
	for (uint32_t i = 0; i < fm.table.nodes; i++) {
		uint64_t first = 0;

		for (unsigned int p = 0; p < ports; p++) {
			check_port(&r, i, p);
			if (until(i, p) && (!first || until(i, p) < first))
				first = until(i, p);
		}
		assert_int_equal(fm_out_until(&fm, i), is_out(i) ? first : 0);
		assert_int_equal(fm_out_of_service(&fm, i), is_out(i));
		for (unsigned int d = 0; d < shape.ndims; d++) {
			uint32_t o = torus_neighbour(&shape, i, d);

			if (cable(i, d) != 'f' && !(cable(i, d) == 'u' && own_is_down(i, d)))
				continue;
			assert_true(fm_faulty(&fm, &k, &f));
			expect(&r, f.node == i && f.port == d && f.peer == o &&
			       f.peer_port == torus_dir_opposite(&shape, d), "%u:%u", i, d);
			assert_int_equal(f.dead, entry[i].state == FM_NODE_DEAD ? i :
					 entry[o].state == FM_NODE_DEAD ? o : TORUS_NO_NODE);
			assert_int_equal(!!f.reason, is_root());
			assert_int_equal(f.since, is_root() ? lost_at[i][d] : 0);
		}
	}
	assert_false(fm_faulty(&fm, &k, &f));
	check_beyond(fm.table.nodes, 0);
	closed[0] |= (uint16_t)(1u << ports);
	check_beyond(0, ports);
	fm.table.version = 0;
	k = 0;
	assert_false(fm_faulty(&fm, &k, &f));
	assert_false(fm_out_of_service(&fm, 0));
}

static void exclusions_and_losses_are_as_in_model(void **state)
{
	(void)state;
	for_seeds(2000, exclude);
}

/* --- the rest ----------------------------------------------------------------------------- */

static void check_root(const struct fm_root_status *s)
{
	uint8_t want = !fm.have_root ? FM_ROOT_UNKNOWN :
		       fm.root_asks && fm.asker.need && fm.asker.epoch ? FM_ROOT_CLAIMS :
		       fm.root_asks ? FM_ROOT_ASKS : fm.cut_off ? FM_ROOT_LOST : FM_ROOT_LEADS;

	assert_true(s->known == fm.have_root && s->reachable == !fm.cut_off);
	assert_true(s->lost == fm.cut_off && s->guid == fm.root_guid);
	assert_ptr_equal(s->address, fm.root_address);
	assert_true(s->arbiter == fm.cfg.arbiter && s->verdict == FM_REFUSED);
	assert_true(s->answered == answer.at && s->asked_epoch == (answer.at ? 31 : 0));
	assert_string_equal(s->refusal, "no");
	assert_int_equal(s->own, !!fm.root);
	assert_int_equal(s->calls.called, fm.root ? 0x33333333 : 0);
	if (!fm.root) {
		bool asks = fm.have_root && fm.root_asks;

		assert_int_equal(s->state, want);
		assert_int_equal(s->node, fm.table.version ? fm_table_find(&fm, fm.root_guid) :
							     TORUS_NO_NODE);
		assert_true(s->epoch == 55 && s->since == fm.led.since && !s->why);
		assert_int_equal(s->here, asks && fm.asker.need ? 3 : 0);
		assert_int_equal(s->need, asks ? fm.asker.need : 0);
		return;
	}
	assert_int_equal(s->state, root.stage == FM_STAGE_LEADS ? FM_ROOT_LEADS :
			 root.stage == FM_STAGE_CLAIMS ? FM_ROOT_CLAIMS : FM_ROOT_ASKS);
	assert_int_equal(s->node, fm.placed ? fm.node : TORUS_NO_NODE);
	assert_int_equal(s->epoch, 56);
	assert_int_equal(!!s->why, root.stage == FM_STAGE_LEADS);
	assert_int_equal(s->since, root.stage == FM_STAGE_LEADS ? 17 : fm.led.since);
	assert_int_equal(s->here, root.stage == FM_STAGE_LEADS ? 0 : 6);
	assert_int_equal(s->need, root.stage == FM_STAGE_LEADS ? 0 : 7);
}

static void check_candidates(struct rnd *r)
{
	struct fm_candidate_status c;
	uint32_t k = 0;

	if (!is_root()) {
		unsigned int own = priority[fm.placed ? fm.node : NODES];

		assert_int_equal(fm_candidate(&fm, &k, &c), !!own);
		assert_true(c.priority == own && c.answers && c.disk == FM_DISK_UNKNOWN);
		assert_int_equal(c.node, fm.placed ? fm.node : TORUS_NO_NODE);
		assert_string_equal(c.name, "self");
		assert_false(fm_candidate(&fm, &k, &c));
		return;
	}
	for (uint32_t i = 0; i < records; i++) {
		const struct fm_record *m = &record[i];
		unsigned int be = m->priority == 9 ? priority[m->node < NODES ? m->node : NODES] : 0;

		if (!m->stated.received || !be)
			continue;
		assert_true(fm_candidate(&fm, &k, &c));
		expect(r, c.node == m->node && c.priority == be && c.answers == !!m->via &&
		       c.disk == 20 + i && c.name == m->name, "%u is %u", i, c.node);
	}
	assert_false(fm_candidate(&fm, &k, &c));
}

static void check_nodes(void)
{
	struct fm_joiner j;
	unsigned int k = 0;

	for (uint32_t i = 0; i < fm.table.nodes; i++) {
		const struct fm_record *m = fm.root ? fm_record_at(&root, i) : NULL;
		const struct fm_record *up = m && m->via ? fm_record(&root, m->via) : NULL;

		assert_int_equal(fm_node_parent(&fm, i), fm.table.version && up &&
				 m->guid != fm.guid ? up->node : TORUS_NO_NODE);
		assert_ptr_equal(fm_node(&fm, i), fm.table.version ? &entry[i] : NULL);
		assert_int_equal(fm_node_by_guid(&fm, GUID + i), fm.table.version ?
				 fm_table_find(&fm, GUID + i) : TORUS_NO_NODE);
	}
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t want = 0;
		char name[8];

		snprintf(name, sizeof(name), "n%u", i);		/* the nodes have seven names */
		while (want < fm.table.nodes &&
		       (want % 7 != i || entry[want].state == FM_NODE_ABSENT))
			want++;
		assert_int_equal(fm_node_by_name(&fm, name),
				 want < fm.table.nodes ? want : TORUS_NO_NODE);
	}
	assert_int_equal(fm_node_parent(&fm, fm.table.nodes), TORUS_NO_NODE);
	assert_null(fm_node(&fm, fm.table.nodes));
	for (uint32_t i = 0; fm.root && i < records; i++) {
		const struct fm_record *m = &record[i];

		if (!m->stated.received || (fm.table.version && m->node == m->guid - GUID))
			continue;
		assert_true(fm_joiner(&fm, k++, &j));
		assert_true(j.guid == m->guid && j.name == m->name && j.address == m->address);
	}
	assert_false(fm_joiner(&fm, k, &j));
}

static void check_place(void)
{
	struct fm_place at;
	struct fm_cable c;
	struct fm_neighbour n;
	bool known = fm.have_position && (fm.placed || fm.have_root);

	memset(&at, 0xee, sizeof(at));
	assert_int_equal(fm_place(&fm, &at), known);
	assert_int_equal(at.ndims, known ? shape.ndims : 0);
	assert_int_equal(at.confirmed, known && fm.placed);
	if (known) {
		assert_memory_equal(at.size, fm.size, sizeof(at.size));
		assert_memory_equal(at.position, fm.position, sizeof(at.position));
	}
	assert_int_equal(fm_cable(&fm, 0, &c), known);
	assert_int_equal(cables, known);
	assert_int_equal(fm_cable(&fm, ports - 1, &c), known);
	assert_false(fm_cable(&fm, ports, &c));
	assert_int_equal(fm_neighbour(&fm, 2, &n), fm.have_root);
	assert_false(fm_neighbour(&fm, 3, &n));
	assert_ptr_equal(fm_shape(&fm), fm.placed || !fm.table.version ? &fm.shape : &fm.table.shape);
	assert_int_equal(fm_address_plan(&fm).len4, fm.placed || !fm.table.version ? 8 : 9);
}

static void check_orders(void)
{
	struct fm_kept_count kept;
	struct fm_severed out;
	struct fm_target end = { 0, 0 };
	char why[FM_TEXT_MAX] = "";
	int err;

	fm.table.book = NULL;
	assert_null(fm_order(&fm, 0));
	fm.table.book = &book;
	for (uint32_t i = 0; i <= book.orders.n; i++)
		assert_ptr_equal(fm_order(&fm, i), i < book.orders.n ? &order[i] : NULL);
	for (uint32_t i = 0; i < 4; i++)
		assert_ptr_equal(fm_order_given(&fm, i), is_root() && i < root.orders.n ? &order[i] :
											  NULL);
	kept.of = 0;
	assert_int_equal(fm_kept_count(&fm, &kept), is_root());
	assert_int_equal(kept.of, is_root() ? 0x55555555 : 0);
	err = !is_root() ? -EPERM : root.settled && fm.table.version ? 0 : -EAGAIN;
	assert_int_equal(fm_exclude_severs(&fm, &end, 1, &out), err ? err : 1);
	assert_int_equal(fm_job_choose(&fm, NULL, NULL, why), err ? err : stranger ? -EOPNOTSUPP : 77);
	assert_int_equal(!!strstr(why, "'old'"), !err && stranger);
	assert_int_equal(fm_job_growth(&fm, "grows", why), is_root() ? -EINPROGRESS : -EPERM);
	assert_int_equal(!strcmp(why, "grows"), is_root());
	assert_int_equal(!!fm_job_given(&fm, "a"), is_root());
	assert_null(fm_job_given(&fm, "b"));
	assert_int_equal(fm_job_counts(&fm, NULL), fm.table.version && problems);
	book.jobs = (struct fm_jobs) { .n = 1, .of = root.jobs.of };
	assert_ptr_equal(fm_job(&fm, 0), fm.table.version ? root.jobs.of : NULL);
	assert_null(fm_job(&fm, 1));
	assert_ptr_equal(fm_last(&fm), is_root() ? &last_recovery : NULL);
	assert_ptr_equal(fm_exclusions(&fm), fm.table.version ? closed : NULL);
	assert_true(fm_version(&fm) == fm.table.version && fm_applied(&fm) == 11);
	assert_true(fm_epoch(&fm) == 56 && fm_version_epoch(&fm) == 8);
	assert_true(fm_cut_off(&fm) == fm.cut_off && fm_reachable(&fm) == !fm.cut_off);
}

static void machine(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_root_status s;
	struct fm_outline o, same;
	bool under_way;

	make_machine(&r);
	memset(&s, 0xee, sizeof(s));
	fm_root_status(&fm, &s);
	check_root(&s);
	check_candidates(&r);
	check_nodes();
	check_place();
	check_orders();
	memset(&o, 0xee, sizeof(o));
	memset(&same, 0x11, sizeof(same));
	fm_outline(&fm, &o);
	fm_outline(&fm, &same);
	assert_memory_equal(&o, &same, sizeof(o));	/* its padding, too: the host compares it so */
	under_way = is_root() ? phase != FM_PHASE_REST || demanded : !member_ended;
	assert_true(o.term == 8 && o.version == fm.table.version && o.problems == problems);
	assert_true(o.own == fm_own(&fm) && o.under_way == under_way && o.cut_off == !!fm.cut_off);
}

static void machine_says_what_it_knows(void **state)
{
	(void)state;
	for_seeds(2000, machine);
}

static void names_are_those_of_manual(void **state)
{
	(void)state;
	assert_string_equal(fm_state_name(FM_DEGRADED), "degraded");
	assert_null(fm_state_name(FM_STATES));
	assert_string_equal(fm_stamp_name(FM_STAMPS - 1), "resumed");
	assert_null(fm_stamp_name(FM_STAMPS));
	assert_string_equal(fm_root_state_name(FM_ROOT_CLAIMS), "claims");
	assert_null(fm_root_state_name(FM_ROOT_STATES));
	assert_string_equal(fm_verdict_name(FM_REFUSED), "refused");
	assert_null(fm_verdict_name(FM_VERDICTS));
	assert_string_equal(fm_disk_name(FM_DISK_FAILS), "fails");
	assert_null(fm_disk_name(FM_DISKS));
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(last_sign_of_life_is_as_in_model),
		cmocka_unit_test(table_that_lacks_something_is_degraded),
		cmocka_unit_test(counts_are_as_in_model),
		cmocka_unit_test(exclusions_and_losses_are_as_in_model),
		cmocka_unit_test(machine_says_what_it_knows),
		cmocka_unit_test(names_are_those_of_manual),
	};

	return cmocka_run_group_tests_name("fm_views", all, NULL, NULL);
}
