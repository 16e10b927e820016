// SPDX-License-Identifier: GPL-2.0-only
/*
 * Orders of the administrator at the root, by themselves: random orders to exclude and include ports,
 * and to hand over, compared with models; and how many candidates have the table on disk.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/handover.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/root/admin.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/damp.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/judge.h"
#include "daemon/fm/root/publish.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/service.h"
#include "daemon/fm/status.h"

#define NODES 12
#define PORTS 6
#define GUID 100

static struct fm_root root;
static struct fm fm;
static struct fm_record record[NODES];
static uint16_t admin[NODES], was_admin[NODES];
static bool is_out[NODES];
static uint32_t nodes;
static unsigned int ports;
static struct rnd *rnd;

/* Done by the code in this event. */
static bool changed[NODES];
static unsigned int demands, lines, warnings, ends, judged, published;
static char demand[400], line[1000], warning[400];
static enum fm_ordered ordered;
static uint32_t ordered_node, ended_node;
static uint16_t ordered_ports, ended_ports;
static bool holds;
static uint32_t held_node;
static uint16_t held_ports;

void fm_change_node(struct fm *f, uint32_t node)
{
	(void)f;
	assert_true(node < nodes);
	changed[node] = true;
}

void fm_demand(struct fm *f, uint64_t delay, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_int_equal(delay, 0);
	va_start(args, fmt);
	vsnprintf(demand, sizeof(demand), fmt, args);
	va_end(args);
	demands++;
}

void fm_damp_end(struct fm *f, uint32_t node, uint16_t p)
{
	(void)f;
	ends++;
	ended_node = node;
	ended_ports = p;
}

bool fm_damp_holds(const struct fm *f, uint32_t node, uint16_t p)
{
	(void)f;
	held_node = node;
	held_ports = p;
	return holds;
}

void fm_judge_due(struct fm *f)
{
	(void)f;
	judged++;
}

void fm_publish_due(struct fm *f)
{
	(void)f;
	assert_int_equal(judged, 1);
	published++;
}

bool fm_service_is_out(const struct fm *f, uint32_t node)
{
	(void)f;
	assert_true(node < nodes);
	return is_out[node];
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_true(level == FM_WARNING || level == FM_INFO);
	assert_true(!strcmp(kind, "table") || !strcmp(kind, "root"));
	va_start(args, fmt);
	vsnprintf(warning, sizeof(warning), fmt, args);
	va_end(args);
	warnings++;
}

static void take_line(void *io, const struct fm_log *l)
{
	(void)io;
	assert_int_equal(l->level, FM_INFO);
	assert_string_equal(l->kind, "admin");
	snprintf(line, sizeof(line), "%s", l->text);
	ordered = l->order->what;
	ordered_node = l->order->order->node;
	ordered_ports = l->order->order->ports;
	lines++;
}

/* --- records ---------------------------------------------------------------------------------- */

static bool is_joined[NODES];
static enum fm_phase phase;
static bool wanted;
static struct fm_lead lead;
static unsigned int leads;

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return nodes;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < nodes);
	return &record[i];
}

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	(void)r;
	return guid >= GUID && guid < GUID + nodes ? &record[guid - GUID] : NULL;
}

/* The last place has no node. */
struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	(void)r;
	assert_true(node < nodes);
	return node == nodes - 1 ? NULL : &record[node];
}

bool fm_record_joined(const struct fm_record *m)
{
	return is_joined[m - record];
}

unsigned int fm_candidate_priority(unsigned int reported, uint32_t node)
{
	assert_true(node < nodes);
	return reported == FM_PRIORITY_AUTO ? node % 3 : reported;
}

enum fm_phase fm_recovery_phase(const struct fm_root *r)
{
	(void)r;
	return phase;
}

bool fm_demand_is(const struct fm_root *r)
{
	(void)r;
	return wanted;
}

void fm_handover(struct fm *f, const struct fm_lead *l)
{
	(void)f;
	lead = *l;
	leads++;
}

static void begin_event(void)
{
	memset(changed, 0, sizeof(changed));
	memcpy(was_admin, admin, sizeof(admin));
	demands = lines = warnings = ends = judged = published = leads = 0;
}

/* --- exclusions: the model ------------------------------------------------------------------------ */

/** struct tag - the order of a port; @is: it has one */
struct tag {
	bool is;
	struct fm_order o;
};

static struct tag tag[NODES][PORTS];
static uint16_t want_admin[NODES];
static bool want_changed[NODES];

static void drop_tags(uint32_t node, uint16_t mask)
{
	for (unsigned int p = 0; p < ports; p++)
		if (mask >> p & 1)
			tag[node][p].is = false;
}

static void put_tags(uint32_t node, uint16_t mask, const struct fm_order *o)
{
	for (unsigned int p = 0; p < ports; p++) {
		if (!(mask >> p & 1))
			continue;
		tag[node][p] = (struct tag) { true, *o };
		if (o->until)
			tag[node][p].o.ends = fm.now + (o->until > o->since ?
							o->until - o->since : 0) * 1000000000ULL;
	}
}

static bool is_same(const struct fm_order *a, const struct fm_order *b)
{
	return a->uid == b->uid && a->since == b->since && a->until == b->until &&
	       a->ends == b->ends && !strcmp(a->by, b->by) && !strcmp(a->reason, b->reason);
}

static void check_exclusions(void)
{
	assert_memory_equal(admin, want_admin, sizeof(admin));
	assert_memory_equal(changed, want_changed, sizeof(changed));
	for (uint32_t i = 0; i < nodes; i++) {
		const struct fm_order *o = fm_orders_first(&root.orders, i);
		uint16_t mask = 0;

		for (; o; o = fm_orders_next(&root.orders, o))
			for (unsigned int p = 0; p < 16; p++) {
				if (!(o->ports >> p & 1))
					continue;
				mask |= (uint16_t)(1u << p);
				expect(rnd, p < ports && tag[i][p].is && is_same(&tag[i][p].o, o),
				       "%u:%u", i, p);
			}
		for (unsigned int p = 0; p < ports; p++)
			expect(rnd, tag[i][p].is == (mask >> p & 1), "%u:%u", i, p);
	}
}

static uint16_t all_ports(void)
{
	return (uint16_t)((1u << ports) - 1);
}

/* One cable has the name of its end at a port with "+". */
static void name_target(uint32_t node, uint16_t mask, char *buf)
{
	const struct torus_shape *shape = &fm.table.shape;
	char text[TORUS_TEXT_MAX];

	for (unsigned int p = ports / 2; p < ports; p++)
		if (mask == 1u << p) {
			node = torus_neighbour(shape, node, p);
			mask = (uint16_t)(1u << (p - ports / 2));
			break;
		}
	torus_node_text(shape, node, text);
	if (mask == all_ports()) {
		sprintf(buf, "node %s", text);
		return;
	}
	strcpy(buf, text);
	for (unsigned int p = 0, n = 0; p < ports; p++)
		if (mask >> p & 1) {
			strcat(buf, n++ ? "," : ":");
			strcat(buf, torus_port_text(ports / 2, p, text));
		}
}

static void text_of(uint32_t node, uint16_t mask, bool excluded, const struct fm_order *o, char *buf)
{
	char name[300], more[100];

	name_target(node, mask, name);
	sprintf(buf, "%s %s by ", excluded ? "excluded" : "included", name);
	sprintf(more, o->uid == FM_NO_UID ? "the manager" : "user %u", o->uid);
	strcat(buf, more);
	sprintf(more, o->by[0] ? " at %s" : "%s", o->by);
	strcat(buf, more);
	sprintf(more, ", for %u s", (unsigned int)(o->until - o->since));
	strcat(buf, o->until > o->since ? more : "");
	sprintf(more, o->reason[0] ? ": %s" : "%s", o->reason);
	strcat(buf, more);
}

static struct fm_order random_order(void)
{
	struct fm_order o = { .node = rnd_below(rnd, 99), .uid = rnd_one_in(rnd, 3) ? FM_NO_UID :
			      rnd_below(rnd, 3), .since = 50 + rnd_below(rnd, 3) };

	if (rnd_one_in(rnd, 3))
		o.until = o.since + rnd_below(rnd, 3) - 1;
	if (rnd_one_in(rnd, 2))
		strcpy(o.by, "admin");
	if (rnd_one_in(rnd, 2))
		strcpy(o.reason, rnd_one_in(rnd, 2) ? "cable" : "fan");
	return o;
}

static uint16_t mask_of(int port)
{
	return port < 0 ? all_ports() : (uint16_t)(1u << port);
}

static bool is_far_excluded(uint32_t node, int port, uint32_t *far, unsigned int *q)
{
	*far = torus_neighbour(&fm.table.shape, node, (unsigned int)port);
	*q = torus_dir_opposite(&fm.table.shape, (unsigned int)port);
	return want_admin[*far] >> *q & 1 && !is_out[*far];
}

/* The order must change something just if it would change the model. */
static void check_changes(uint32_t node, int port, bool excluded, const struct fm_order *order)
{
	bool is = fm_admin_changes(&fm, node, port, excluded, order), want = false;
	uint16_t mask;
	uint32_t far;
	unsigned int q;

	if (!root.settled || node >= nodes || port < -1 || port >= (int)ports) {
		assert_true(is);
		return;
	}
	mask = mask_of(port);
	for (unsigned int p = 0; p < ports; p++) {
		if (!(mask >> p & 1))
			continue;
		if ((want_admin[node] >> p & 1) != excluded)
			want = true;
		if (excluded && order &&
		    (!tag[node][p].is || tag[node][p].o.until || order->until ||
		     strcmp(tag[node][p].o.reason, order->reason)))
			want = true;
	}
	if (!excluded) {
		if (!want) {
			assert_int_equal(held_node, node);
			assert_int_equal(held_ports, mask);
		}
		want |= holds || (port >= 0 && is_far_excluded(node, port, &far, &q));
	}
	expect(rnd, is == want, "%u:%d", node, port);
}

static void check_order(uint32_t node, int port, bool excluded, const struct fm_order *order)
{
	uint16_t mask = mask_of(port);
	uint32_t far;
	unsigned int q;
	char text[1000], name[300];

	want_admin[node] = excluded ? want_admin[node] | mask : want_admin[node] & (uint16_t)~mask;
	want_changed[node] = true;
	drop_tags(node, mask);
	assert_int_equal(warnings, memory_failed());
	if (excluded && order && !memory_failed())
		put_tags(node, mask, order);
	if (!excluded && port >= 0 && is_far_excluded(node, port, &far, &q)) {
		want_admin[far] &= (uint16_t)~(1u << q);
		want_changed[far] = true;
		drop_tags(far, (uint16_t)(1u << q));
	}
	assert_int_equal(lines, order != NULL);
	if (order) {
		text_of(node, mask, excluded, order, text);
		assert_string_equal(line, text);
		assert_true(ordered == (excluded ? FM_ORDERED_OUT : FM_ORDERED_IN));
		assert_true(ordered_node == node && ordered_ports == mask);
	}
	assert_int_equal(ends, !excluded);
	if (!excluded)
		assert_true(ended_node == node && ended_ports == mask);
	assert_int_equal(root.judge_at, excluded ? fm.now : NEVER);
	name_target(node, mask, name);
	sprintf(text, "%s %s", excluded ? "excluded" : "included", name);
	assert_int_equal(demands, 1);
	assert_string_equal(demand, text);
}

static void order_once(void)
{
	struct fm_order some = random_order(), *order = rnd_one_in(rnd, 4) ? NULL : &some;
	uint32_t node = rnd_below(rnd, nodes + rnd_one_in(rnd, 8));
	int port = (int)rnd_below(rnd, ports + 1) - 1, err;
	bool excluded = rnd_below(rnd, 3), first = rnd_one_in(rnd, 2);

	if (rnd_one_in(rnd, 16))
		port = rnd_one_in(rnd, 2) ? -2 : (int)ports;
	holds = rnd_one_in(rnd, 4);
	root.settled = !rnd_one_in(rnd, 16);
	check_changes(node, port, excluded, order);
	if (rnd_one_in(rnd, 6))
		memory_fails_at(1);
	root.judge_at = NEVER;
	begin_event();
	err = (first ? fm_admin_mark : fm_admin_exclude)(&fm, node, port, excluded, order);
	assert_int_equal(err, !root.settled ? -EAGAIN :
			 node >= nodes || port < -1 || port >= (int)ports ? -EINVAL : 0);
	memset(want_changed, 0, sizeof(want_changed));
	if (!err)
		check_order(node, port, excluded, order);
	else
		assert_int_equal(lines + demands + ends + warnings, 0);
	assert_int_equal(published, !err && !first);
	memory_fails_at(0);
	check_exclusions();
}

/* The term of an order is over. */
static void end_term(void)
{
	struct fm_order o;
	char name[300], text[400];

	if (!root.orders.n)
		return;
	o = root.orders.of[rnd_below(rnd, root.orders.n)];
	begin_event();
	fm_admin_over(&fm, &o);
	memset(want_changed, 0, sizeof(want_changed));
	want_changed[o.node] = true;
	want_admin[o.node] &= (uint16_t)~o.ports;
	drop_tags(o.node, o.ports);
	name_target(o.node, o.ports, name);
	sprintf(text, "included %s, the time is over", name);
	assert_string_equal(demand, text);
	assert_string_equal(line, text);
	assert_true(demands == 1 && lines == 1 && ends == 1);
	assert_true(ordered == FM_ORDERED_OVER && ordered_node == o.node && ordered_ports == o.ports);
	assert_true(ended_node == o.node && ended_ports == o.ports);
	check_exclusions();
}

static void make_root(void)
{
	static const char *const shapes[] = { "3x2", "4", "2x2x3", "3x1x4" };

	fm = (struct fm) { .root = &root, .now = 1 + rnd_below(rnd, 1000), .term = 7,
			   .ops.log = take_line, .cfg.resend = 100 };
	root = (struct fm_root) { .admin = admin };
	torus_shape_parse(shapes[rnd_below(rnd, 4)], &fm.table.shape);
	fm.table.nodes = nodes = torus_nodes(&fm.table.shape);
	fm.ndims = fm.table.shape.ndims;
	ports = 2 * fm.ndims;
	memset(admin, 0, sizeof(admin));
	memset(want_admin, 0, sizeof(want_admin));
	memset(tag, 0, sizeof(tag));
	for (uint32_t i = 0; i < nodes; i++)
		is_out[i] = rnd_one_in(rnd, 5);
}

static void exclude(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	rnd = &r;
	make_root();
	for (unsigned int i = 0; i < 80; i++) {
		fm.now += rnd_below(rnd, 1000);
		if (rnd_one_in(rnd, 8))
			end_term();
		else
			order_once();
	}
	fm_orders_free(&root.orders);
}

static void ports_are_excluded_and_included_as_in_model(void **state)
{
	(void)state;
	for_seeds(60, exclude);
}

/* --- disks ---------------------------------------------------------------------------------- */

/* Gives a node random facts of which many are those that a count asks for. */
static void make_record(uint32_t i)
{
	struct fm_record *m = &record[i];

	*m = (struct fm_record) {
		.guid = GUID + i, .node = rnd_one_in(rnd, 6) ? TORUS_NO_NODE : i,
		.state = rnd_one_in(rnd, 3) ? FM_NODE_SILENT : FM_NODE_UP,
		.via = rnd_one_in(rnd, 4) ? 0 : GUID,
		.priority = (uint16_t)(rnd_one_in(rnd, 3) ? 0 : rnd_one_in(rnd, 2) ? FM_PRIORITY_AUTO : 9),
	};
	snprintf(m->name, sizeof(m->name), "n%u", i);
	snprintf(m->address, sizeof(m->address), "10.0.0.%u:1", i);
	m->stated.disk.keeps = !rnd_one_in(rnd, 4);
	is_joined[i] = !rnd_one_in(rnd, 4);
}

static void count_disks(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct fm_kept_count want = { .of = 0 }, got;

	rnd = &r;
	make_root();
	fm.table.term = 5;
	fm.table.version = 8;
	for (uint32_t i = 0; i < nodes; i++) {
		struct fm_record *m = &record[i];
		struct fm_kept_msg k = { .guid = GUID + i, .term = 5 - (uint64_t)rnd_one_in(rnd, 6),
					 .version = 8 - (uint64_t)rnd_one_in(rnd, 4),
					 .failed = rnd_one_in(rnd, 4) };
		bool now = k.term == 5 && k.version == 8;
		unsigned int disk = !now ? FM_DISK_WAITS : k.failed ? FM_DISK_FAILS : FM_DISK_HAS;

		make_record(i);
		fm_admin_kept(&fm, &k);
		if (!m->stated.disk.keeps)
			disk = FM_DISK_NONE;
		assert_int_equal(fm_admin_disk(&fm, m), disk);
		if (m->node == TORUS_NO_NODE || (!m->via && is_out[i]) ||
		    !fm_candidate_priority(is_joined[i] ? m->priority : FM_PRIORITY_AUTO, i))
			continue;
		want.of++;
		want.keep += disk != FM_DISK_NONE;
		want.have += disk == FM_DISK_HAS;
		want.wait += disk == FM_DISK_WAITS && m->via && m->state == FM_NODE_UP;
	}
	fm_admin_kept(&fm, &(struct fm_kept_msg) { .guid = GUID - 1 });	/* a node that is not known */
	fm_admin_kept_count(&fm, &got);
	assert_memory_equal(&got, &want, sizeof(got));
}

static void candidates_are_counted_by_disk(void **state)
{
	(void)state;
	for_seeds(200, count_disks);
}

/* --- handing over ------------------------------------------------------------------------------- */

/** struct plan - the model: the node that the root hands over to, and what it waits for */
static struct {
	enum { IDLE, WAITS, ASKED } step;
	uint32_t to;
	uint64_t at, until;
} plan;

static int error_of(const struct fm_record *m)
{
	if (!root.settled)
		return -EAGAIN;
	if (!m || !m->via || m->state != FM_NODE_UP)
		return -EHOSTUNREACH;
	if (!m->priority)
		return -EACCES;
	return wanted || phase != FM_PHASE_REST ? -EAGAIN : 0;
}

static void check_lead(bool now)
{
	assert_int_equal(leads, 1);
	assert_true(lead.now == now && lead.term == fm.term && lead.guid == GUID + plan.to);
	assert_false(lead.unfit);
	assert_string_equal(lead.address, record[plan.to].address);
}

static void give_up(const char *why)
{
	char text[200];

	snprintf(text, sizeof(text), "this node remains root and does not hand over to '%s': %s",
		 plan.to < nodes ? record[plan.to].name : "?", why);
	assert_int_equal(warnings, 1);
	assert_string_equal(warning, text);
	plan.step = IDLE;
}

static void order_move(void)
{
	uint32_t node = rnd_below(rnd, nodes + rnd_one_in(rnd, 8));
	int err = root.settled && node >= nodes ? -EINVAL :
		  error_of(node + 1 < nodes ? &record[node] : NULL);

	assert_int_equal(fm_admin_move(&fm, node), err);
	if (err)
		return;
	plan.step = node == fm.node ? IDLE : WAITS;
	plan.to = node;
	plan.at = fm.now + fm.cfg.resend / 4;
	plan.until = fm.now + 80 * fm.cfg.resend;
}

static void run_move(void)
{
	int err = error_of(fm_record(&root, GUID + plan.to));

	fm_admin_due(&fm);
	if (plan.step == IDLE || fm.now < plan.at) {
		assert_int_equal(leads + warnings, 0);
	} else if (plan.step == ASKED) {
		give_up("it does not answer");
	} else if (!err) {
		check_lead(false);
		plan.step = ASKED;
		plan.at = fm.now + 10 * fm.cfg.resend;
	} else if (err == -EAGAIN && fm.now < plan.until) {
		assert_int_equal(leads + warnings, 0);
		plan.at = fm.now + fm.cfg.resend / 4;
	} else {
		give_up(err == -EAGAIN ? "a recovery does not end" :
			err == -EACCES ? "it is not a candidate any more" : "its manager is lost");
	}
}

/* Return: true if the root has handed over, and so ends. */
static bool take_answer(void)
{
	uint32_t from = rnd_one_in(rnd, 3) ? rnd_below(rnd, nodes) : plan.to;
	int err = error_of(fm_record(&root, GUID + from));
	char text[100];

	fm_admin_ready(&fm, GUID + from);
	if (plan.step != ASKED || from != plan.to) {
		assert_int_equal(leads, 0);
		return false;
	}
	if (err) {
		assert_int_equal(leads, 0);
		plan.step = WAITS;
		plan.at = fm.now;
		return false;
	}
	check_lead(true);
	assert_int_equal(root.ending, FM_ENDS_MOVED);
	assert_memory_equal(&root.successor, &lead, sizeof(lead));
	snprintf(text, sizeof(text), "this node hands over to '%s'", record[from].name);
	assert_string_equal(warning, text);
	return true;
}

static void hand_over(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	bool ended = false;

	rnd = &r;
	make_root();
	assert_true(fm_admin_new(&root));
	fm.node = rnd_below(rnd, nodes);
	memset(&plan, 0, sizeof(plan));
	for (uint32_t i = 0; i < nodes; i++)
		make_record(i);
	for (unsigned int i = 0; i < 120 && !ended; i++) {
		uint32_t k = rnd_one_in(rnd, 2) ? rnd_below(rnd, nodes) : plan.to;

		begin_event();
		switch (rnd_below(rnd, 8)) {
		case 0:
			order_move();
			break;
		case 1:
			make_record(k);
			break;
		case 2:
			phase = (enum fm_phase)(rnd_one_in(rnd, 2) ? 0 : rnd_below(rnd, 5));
			wanted = rnd_one_in(rnd, 4);
			root.settled = !rnd_one_in(rnd, 4);
			break;
		case 3:
			ended = take_answer();
			break;
		case 4:
			fm.now += rnd_below(rnd, rnd_one_in(rnd, 4) ? 4000 : 40);
			run_move();
			break;
		default:
			if (fm_admin_expiry(&fm) != NEVER && fm_admin_expiry(&fm) > fm.now)
				fm.now = fm_admin_expiry(&fm) - (uint64_t)rnd_one_in(rnd, 3);
			run_move();
			break;
		}
		if (!ended)
			assert_int_equal(fm_admin_expiry(&fm), plan.step == IDLE ? NEVER : plan.at);
		assert_int_equal(root.ending, ended ? FM_ENDS_MOVED : FM_ENDS_NOT);
	}
	fm_admin_free(&root);
}

static void root_hands_over_as_in_model(void **state)
{
	size_t blocks = memory_blocks();

	(void)state;
	for_seeds(200, hand_over);
	assert_int_equal(memory_blocks(), blocks);
}

/* Orders a root without recovery to hand over to node 1. */
static void begin_move(struct rnd *r)
{
	rnd = r;
	make_root();
	assert_true(fm_admin_new(&root));
	root.settled = true;
	phase = FM_PHASE_REST;
	wanted = false;
	fm.node = 0;
	make_record(1);
	record[1].via = GUID;
	record[1].state = FM_NODE_UP;
	record[1].priority = 9;
	assert_int_equal(fm_admin_move(&fm, 1), 0);
	plan.to = 1;
}

/* The root waits for the end of a recovery, but not for ever. */
static void recovery_that_does_not_end_ends_move(void **state)
{
	struct rnd r = rnd_new(1);
	uint64_t end;

	(void)state;
	begin_move(&r);
	end = fm.now + 80 * fm.cfg.resend;
	phase = FM_PHASE_DRAIN;
	do {
		fm.now = fm_admin_expiry(&fm);
		begin_event();
		fm_admin_due(&fm);
		assert_int_equal(warnings, fm.now >= end);
	} while (!warnings && fm.now < 2 * end);
	give_up("a recovery does not end");
	assert_true(fm_admin_expiry(&fm) == NEVER);
	fm_admin_free(&root);
}

/* The roster forgets the node that the root is about to ask. */
static void forgotten_node_gets_no_order_to_lead(void **state)
{
	struct rnd r = rnd_new(1);

	(void)state;
	begin_move(&r);
	nodes = plan.to = 1;
	fm.now = fm_admin_expiry(&fm);
	begin_event();
	fm_admin_due(&fm);
	give_up("its manager is lost");
	fm_admin_free(&root);
}

static void lack_of_memory_for_new_root_is_reported(void **state)
{
	struct fm_root r = { .move = NULL };

	(void)state;
	memory_fails_at(1);
	assert_false(fm_admin_new(&r));
	assert_true(memory_failed());
	fm_admin_free(&r);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(ports_are_excluded_and_included_as_in_model),
		cmocka_unit_test(candidates_are_counted_by_disk),
		cmocka_unit_test(root_hands_over_as_in_model),
		cmocka_unit_test(recovery_that_does_not_end_ends_move),
		cmocka_unit_test(forgotten_node_gets_no_order_to_lead),
		cmocka_unit_test(lack_of_memory_for_new_root_is_reported),
	};

	return cmocka_run_group_tests_name("fm_admin", all, NULL, NULL);
}
