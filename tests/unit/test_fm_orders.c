// SPDX-License-Identifier: GPL-2.0-only
/*
 * Orders to exclude, with user and reason: the list compared with a naive one, in which each port
 * has its own record; and the way of an order through tables, disks, and parts that join.
 */
#include <errno.h>

#include "stage_root.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/facts.h"
#include "kernel/core/splitmix64.h"

#define NODES 6
#define PORTS 12

/* --- the list ---------------------------------------------------------------------- */

static struct fm_order naive[NODES][PORTS];	/* @since is 0 where there is no order */
static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed += SPLITMIX64_STEP;
	return (uint32_t)(splitmix64_mix(seed) % n);
}

static struct fm_order some_order(void)
{
	struct fm_order o = { .node = rnd(NODES), .uid = rnd(3), .since = 1 + rnd(9),
			      .until = rnd(2), .ports = (uint16_t)(1 + rnd((1 << PORTS) - 1)) };

	snprintf(o.by, sizeof(o.by), "n%u", rnd(2));
	snprintf(o.reason, sizeof(o.reason), "r%u", rnd(2));
	return o;
}

static void naive_put(const struct fm_order *o, bool merge)
{
	for (unsigned int p = 0; p < PORTS; p++)
		if (o->ports & 1u << p && !(merge && naive[o->node][p].since >= o->since))
			naive[o->node][p] = *o;
}

static void compare(const struct fm_orders *all)
{
	uint16_t seen[NODES] = { 0 };

	for (uint32_t i = 0; i < all->n; i++) {
		const struct fm_order *o = &all->of[i];

		assert_true(o->ports && !(seen[o->node] & o->ports));
		if (i)
			assert_true(o[-1].node < o->node ||
				    (o[-1].node == o->node &&
				     __builtin_ctz(o[-1].ports) < __builtin_ctz(o->ports)));
		seen[o->node] |= o->ports;
		for (unsigned int p = 0; p < PORTS; p++) {
			const struct fm_order *n = &naive[o->node][p];

			if (!(o->ports & 1u << p))
				continue;
			assert_int_equal(n->since, o->since);
			assert_int_equal(n->uid, o->uid);
			assert_int_equal(n->until, o->until);
			assert_string_equal(n->by, o->by);
			assert_string_equal(n->reason, o->reason);
		}
	}
	for (uint32_t i = 0; i < NODES; i++)
		for (unsigned int p = 0; p < PORTS; p++)
			assert_int_equal(naive[i][p].since > 0, seen[i] >> p & 1);
}

/* Changes one value of an order of the node, or leaves out its last order. */
static void change_order(struct fm_orders *t, uint32_t node)
{
	struct fm_order *o = &t->of[fm_orders_first(t, node) - t->of];

	switch (rnd(7)) {
	case 0: o->ports ^= 0x8000; break;
	case 1: o->uid ^= 8; break;
	case 2: o->since ^= 32; break;
	case 3: o->until ^= 2; break;
	case 4: o->by[0] = 'x'; break;
	case 5: o->reason[0] = 'x'; break;
	default:
		while (fm_orders_next(t, o))
			o++;
		fm_orders_drop(t, node, o->ports);
	}
}

/* Finds the orders of each node one after the other. */
static void iterate(const struct fm_orders *all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= NODES; i++)
		for (const struct fm_order *o = fm_orders_first(all, i); o; o = fm_orders_next(all, o)) {
			assert_ptr_equal(o, &all->of[n]);
			assert_int_equal(o->node, i);
			n++;
		}
	assert_int_equal(n, all->n);
}

/* Return: true if the order replaces an earlier one, or none, at some of its ports. */
static bool is_later_somewhere(const struct fm_order *o)
{
	for (unsigned int p = 0; p < PORTS; p++)
		if (o->ports >> p & 1 && naive[o->node][p].since < o->since)
			return true;
	return false;
}

static void random_orders_equal_naive_list(void **state)
{
	struct fm_orders all = { .n = 0 }, t = { .n = 0 };

	(void)state;
	memset(naive, 0, sizeof(naive));
	seed = 1;
	for (unsigned int i = 0; i < 10000; i++) {
		struct fm_order o = some_order();
		uint32_t node;

		switch (rnd(3)) {
		case 0:
			assert_true(fm_orders_put(&all, &o));
			naive_put(&o, false);
			break;
		case 1:
			assert_int_equal(fm_orders_merge(&all, &o), is_later_somewhere(&o));
			naive_put(&o, true);
			break;
		default:
			fm_orders_drop(&all, o.node, o.ports);
			o.since = 0;
			naive_put(&o, false);
		}
		compare(&all);
		iterate(&all);
		fm_orders_copy(&t, &all);
		compare(&t);
		assert_int_equal(fm_orders_sum(&all, 1), fm_orders_sum(&t, 1));
		node = rnd(NODES);
		assert_true(fm_orders_same(&all, &t, node));
		if (!fm_orders_first(&t, node))
			continue;
		change_order(&t, node);
		assert_false(fm_orders_same(&all, &t, node));
		assert_false(fm_orders_same(&t, &all, node));
		assert_int_not_equal(fm_orders_sum(&all, 1), fm_orders_sum(&t, 1));
	}
	fm_orders_free(&all);
	fm_orders_free(&t);
}

/* --- in a fabric ----------------------------------------------------------------------- */

#define THERE (NIC + 3)	/* the root of another part */

static struct fm_entry entry[4];

static struct fm_order order(uint64_t since, const char *reason)
{
	struct fm_order o = { .node = 99, .ports = 99, .uid = 1000, .since = since };

	strcpy(o.by, "node-2");
	strcpy(o.reason, reason);
	return o;
}


static void has(uint32_t i, uint32_t node, uint16_t ports, uint64_t since, const char *reason)
{
	const struct fm_order *o = fm_order(s.fm, i);

	assert_non_null(o);
	assert_int_equal(o->node, node);
	assert_int_equal(o->ports, ports);
	assert_int_equal(o->since, since);
	assert_int_equal(o->uid, 1000);
	assert_string_equal(o->by, "node-2");
	assert_string_equal(o->reason, reason);
}

#define BEGAN 1000000	/* seconds since 1970 */

static struct fm_order order_for(uint64_t term)
{
	struct fm_order o = order(BEGAN, "for a while");

	o.until = BEGAN + term;
	return o;
}

/*
 * The next table has the order together with the exclusion; another reason alone makes a new table,
 * too.
 */
static void next_table_has_order_with_its_exclusion(void **state)
{
	struct fm_order o = order(5, "loose plug");

	(void)state;
	ring();
	assert_null(fm_order(s.fm, 0));
	assert_int_equal(fm_exclude_by(s.fm, 2, 1, &o, START + s.now), 0);
	settle(4);
	assert_int_equal(fm_version(s.fm), 2);
	assert_int_equal(fm_node(s.fm, 2)->admin, 2);
	has(0, 2, 2, 5, "loose plug");
	o = order(6, "");
	assert_int_equal(fm_exclude_by(s.fm, 2, -1, &o, START + s.now), 0);
	settle(4);
	has(0, 2, 0xf, 6, "");
	o = order(7, "dust");
	assert_int_equal(fm_exclude_by(s.fm, 2, -1, &o, START + s.now), 0);
	settle(4);
	assert_int_equal(fm_version(s.fm), 4);
	has(0, 2, 0xf, 7, "dust");
	assert_int_equal(fm_exclude(s.fm, 2, 0, false, START + s.now), 0);
	settle(4);
	has(0, 2, 0xe, 7, "dust");
	assert_null(fm_order(s.fm, 1));
	assert_int_equal(fm_exclude(s.fm, 2, -1, false, START + s.now), 0);
	settle(4);
	assert_null(fm_order(s.fm, 0));
	/* An order without a user is an exclusion as before. */
	assert_int_equal(fm_exclude(s.fm, 1, 1, true, START + s.now), 0);
	settle(4);
	assert_int_equal(fm_node(s.fm, 1)->admin, 2);
	assert_null(fm_order(s.fm, 0));
	assert_int_equal(fm_exclude_by(s.fm, 4, 0, &o, START + s.now), -EINVAL);
	stage_end(&s);
}

/* The log says who ordered what, for how long, and why; a cable has one name. */
static void log_names_order_user_time_and_reason(void **state)
{
	struct fm_order o = order(5, "loose plug"), hour = order_for(3600), own = order(6, "");

	(void)state;
	ring();
	s.deaf = "row table report step release count";
	stage_forget(&s);
	assert_int_equal(fm_exclude_by(s.fm, 2, 2, &o, START + s.now), 0);
	stage_did_some(&s, "log info admin: excluded 1,0:+x by user 1000 at node-2: loose plug\n");
	assert_int_equal(fm_exclude_by(s.fm, 3, -1, &hour, START + s.now), 0);
	stage_did_some(&s, "log info admin: excluded node 3,0 by user 1000 at node-2, for 3600 s: "
		       "for a while\n");
	assert_int_equal(fm_include_by(s.fm, 1, 0, &own, START + s.now), 0);
	stage_did_some(&s, "log info admin: included 1,0:+x by user 1000 at node-2\n");
	own.uid = FM_NO_UID;
	own.by[0] = '\0';
	assert_int_equal(fm_exclude_first(s.fm, 1, 0, true, &own, START + s.now), 0);
	stage_did_some(&s, "log info admin: excluded 1,0:+x by the manager\n");
	stage_forget(&s);
	assert_int_equal(fm_exclude(s.fm, 2, 2, false, START + s.now), 0);
	stage_did_no(&s, "admin");
	stage_end(&s);
}

/*
 * Return: true if an exclusion for the reason of @o, or an inclusion if it is NULL, would change
 * anything.
 */
static bool changes(uint32_t node, int port, const struct fm_order *o)
{
	return fm_exclude_changes(s.fm, node, port, o != NULL, o);
}

/* An exclusion of what is excluded, for the same reason and without an end, is no change. */
static void equal_order_is_no_change(void **state)
{
	struct fm_order o = order(5, "plug"), later = order(6, "plug"), other = order(6, "dust"),
		hour = order_for(3600), longer = order(6, hour.reason);

	(void)state;
	ring();
	assert_int_equal(fm_exclude_by(s.fm, 3, 2, &o, START + s.now), 0);
	assert_true(changes(2, 0, NULL));
	assert_false(changes(1, 0, NULL));
	stage_end(&s);
	ring();
	assert_false(changes(2, 0, NULL) || changes(2, -1, NULL));
	assert_true(changes(2, 0, &o) && changes(2, -1, &o));
	assert_int_equal(fm_exclude_by(s.fm, 2, 0, &o, START + s.now), 0);
	/* the order is not in force yet */
	assert_false(changes(2, 0, &o) || changes(2, 0, &later));
	settle(4);
	assert_false(changes(2, 0, &later));
	assert_true(changes(2, 0, &other) && changes(2, 0, &hour) && changes(2, -1, &later));
	assert_true(changes(2, 0, NULL) && changes(2, -1, NULL));
	assert_true(changes(3, 2, NULL));		/* the other end of that cable */
	assert_false(changes(3, -1, NULL) || changes(2, 2, NULL));
	assert_true(changes(3, 2, &o));
	assert_int_equal(fm_exclude_by(s.fm, 2, 0, &hour, START + s.now), 0);
	assert_true(changes(2, 0, &hour) && changes(2, 0, &later));
	/* an order for the same reason, but without an end */
	assert_true(changes(2, 0, &longer));
	assert_int_equal(fm_exclude_by(s.fm, 2, -1, &o, START + s.now), 0);
	assert_false(changes(2, 0, &later) || changes(2, -1, &later));
	assert_false(changes(3, 2, NULL));		/* node 2 is out of service, not this cable */
	assert_int_equal(fm_exclude_by(s.fm, 2, 1, &other, START + s.now), 0);
	assert_true(changes(2, -1, &later));
	assert_false(changes(2, 0, &later));
	/* A node or port that does not exist is refused as before. */
	assert_true(changes(4, 0, NULL) && changes(0, 4, NULL) && changes(0, -2, NULL));
	/* An exclusion without a known order counts as one without a reason. */
	assert_int_equal(fm_exclude(s.fm, 1, 1, true, START + s.now), 0);
	assert_false(fm_exclude_changes(s.fm, 1, 1, true, NULL));
	/* the other ports of the node are included */
	assert_true(fm_exclude_changes(s.fm, 1, -1, true, NULL));
	assert_true(changes(1, 1, &o));
	stage_end(&s);
}

static void include(uint32_t node, int port)
{
	assert_int_equal(fm_exclude(s.fm, node, port, false, START + s.now), 0);
	settle(4);
}

/* A cable is included by either of its ends, but one of a node out of service only at that node. */
static void cable_is_included_by_either_end(void **state)
{
	struct fm_order o = order(5, "plug");

	(void)state;
	ring();
	assert_int_equal(fm_exclude_by(s.fm, 1, 0, &o, START + s.now), 0);
	assert_int_equal(fm_exclude_by(s.fm, 2, 0, &o, START + s.now), 0);
	settle(4);
	include(2, 2);				/* includes the cable to node 1 */
	assert_int_equal(fm_node(s.fm, 1)->admin, 0);
	assert_int_equal(s.fm->root->orders.n, 1);
	has(0, 2, 1, 5, "plug");
	assert_null(fm_order(s.fm, 1));
	include(3, -1);				/* includes the node, but not this cable to 2 */
	has(0, 2, 1, 5, "plug");
	assert_int_equal(fm_exclude_by(s.fm, 2, -1, &o, START + s.now), 0);
	settle(4);
	include(3, 2);
	assert_int_equal(fm_node(s.fm, 2)->admin, 0xf);
	has(0, 2, 0xf, 5, "plug");
	include(2, 0);
	assert_int_equal(fm_node(s.fm, 2)->admin, 0xe);
	stage_end(&s);
}

/* A node of the other part joins and sends its table: both ports of @node, by order @o. */
static void other_part(uint32_t node, const struct fm_order *o, uint64_t version)
{
	struct fm_msg m = hello(3);
	struct fm_order list = *o;

	stage_down(&s, 103);
	s.joiner[103].known = false;
	m.hello.placed = true;
	m.hello.version = m.hello.table = version;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = 3;
	m.hello.term = fm_epoch(s.fm) - 1;
	m.hello.table_root = THERE;
	m.hello.row.serial = 100;
	joins(&m);
	settle(4);
	m = stage_table(&s, version, entry);
	entry[node].admin = 3;
	list.node = node;
	list.ports = 3;
	m.table.orders = &list;
	m.table.norders = 1;
	m.table.term = fm_epoch(s.fm) - 1;
	m.table.former = true;
	m.table.maker = THERE;
	stage_msg(&s, 103, &m);
	settle(4);
}

/* The later of two orders for one port stays, whichever part gave it. */
static void later_order_for_port_stays_when_parts_meet(void **state)
{
	(void)state;
	for (unsigned int later = 0; later < 2; later++) {
		struct fm_order here = order(5, "here"), there = order(later ? 6 : 4, "there");

		ring();
		assert_int_equal(fm_exclude_by(s.fm, 1, 0, &here, START + s.now), 0);
		settle(4);
		has(0, 1, 1, 5, "here");
		other_part(1, &there, 10);
		assert_int_equal(s.fm->root->admin[1], 3);
		if (later) {
			has(0, 1, 3, 6, "there");
			assert_null(fm_order(s.fm, 1));
		} else {
			has(0, 1, 1, 5, "here");
			has(1, 1, 2, 4, "there");
		}
		stage_end(&s);
	}
}

/* --- an order that ends by itself --------------------------------------------------------- */

static void excluded_for(uint32_t node, int port, uint64_t term)
{
	struct fm_order o = order_for(term);

	assert_int_equal(fm_exclude_by(s.fm, node, port, &o, START + s.now), 0);
	settle(4);
}

/* Sets the machine's clock to @wall from now on. */
static void clock_is(uint64_t wall)
{
	fm_clock(s.fm, wall, START + s.now);
}

static void pass(uint64_t seconds)
{
	stage_run_ns(&s, s.now + seconds * SEC);
}

/*
 * At the root that took an order, it ends after its time and not before, however the clock is set
 * meanwhile.
 */
static void order_ends_after_its_time_whatever_the_clock(void **state)
{
	static const uint64_t set[] = { 0, BEGAN, 1, BEGAN + 59, BEGAN + 61, 2 * BEGAN };

	(void)state;
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
		ring();
		clock_is(BEGAN);
		excluded_for(2, 1, 60);
		assert_int_equal(fm_excluded_until(s.fm, 2, 1), BEGAN + 60);
		pass(20);
		clock_is(set[i]);
		pass(35);
		assert_int_equal(fm_node(s.fm, 2)->admin, 2);
		has(0, 2, 2, BEGAN, "for a while");
		pass(6);
		settle(4);
		assert_int_equal(fm_node(s.fm, 2)->admin, 0);
		assert_null(fm_order(s.fm, 0));
		assert_int_equal(fm_excluded_until(s.fm, 2, 1), 0);
		stage_end(&s);
	}
}

/* The log says that these ports are included again. */
static void ended(const char *ports)
{
	char text[128];

	snprintf(text, sizeof(text), "log info admin: included %s, the time is over", ports);
	stage_did_some(&s, text);
	stage_forget(&s);
}

/* Each order has its own time; the last order for a port counts, also if it has no end. */
static void each_order_ends_at_its_own_time(void **state)
{
	struct fm_order ever = order(BEGAN, "for ever");

	(void)state;
	ring();
	excluded_for(2, -1, 4);
	excluded_for(2, 1, 2);
	excluded_for(1, 0, 6);
	assert_int_equal(fm_out_until(s.fm, 2), BEGAN + 2);
	assert_int_equal(fm_exclude_by(s.fm, 3, 0, &ever, START + s.now), 0);
	settle(4);
	/* The cable between 1 and 2 is excluded by both ends; the later end counts. */
	assert_int_equal(fm_excluded_until(s.fm, 1, 0), BEGAN + 6);
	pass(2);
	settle(4);
	assert_int_equal(fm_node(s.fm, 2)->admin, 0xd);
	ended("2,0:+y");
	pass(2);
	settle(4);
	ended("2,0:+x,-x,-y");
	assert_int_equal(fm_node(s.fm, 2)->admin, 0);
	assert_int_equal(fm_node(s.fm, 1)->admin, 1);
	assert_string_equal(fm_excluded(s.fm, 2, 2), "admin");
	assert_int_equal(fm_excluded_until(s.fm, 2, 2), BEGAN + 6);
	pass(2);
	settle(4);
	ended("1,0:+x");
	assert_int_equal(fm_node(s.fm, 1)->admin, 0);
	assert_int_equal(fm_node(s.fm, 3)->admin, 1);
	assert_int_equal(fm_excluded_until(s.fm, 3, 0), 0);
	excluded_for(3, 0, 1);
	assert_int_equal(fm_exclude_by(s.fm, 3, 0, &ever, START + s.now), 0);
	pass(2);
	settle(4);
	assert_int_equal(fm_node(s.fm, 3)->admin, 1);
	stage_end(&s);
}

/* Orders of several nodes that end at the same time end in one table. */
static void orders_of_equal_end_share_one_table(void **state)
{
	struct fm_order o = order_for(2);
	uint64_t version;

	(void)state;
	ring();
	assert_int_equal(fm_exclude_by(s.fm, 1, 1, &o, START + s.now), 0);
	assert_int_equal(fm_exclude_by(s.fm, 3, 1, &o, START + s.now), 0);
	settle(4);
	version = fm_version(s.fm);
	pass(1);
	assert_int_equal(fm_version(s.fm), version);
	pass(1);
	settle(4);
	assert_int_equal(fm_node(s.fm, 1)->admin | fm_node(s.fm, 3)->admin, 0);
	assert_int_equal(fm_version(s.fm), version + 1);
	stage_end(&s);
}

/*
 * A root that learns of an order from another root gives it the time that is left by its own clock;
 * or the whole term, if the clock is before the order was given, or is not known.
 */
static void order_of_other_root_ends_by_own_clock(void **state)
{
	static const struct {
		uint64_t wall, left;
	} is[] = {
		{ 0, 60 }, { 1, 60 }, { BEGAN - 100, 60 }, { BEGAN, 60 }, { BEGAN + 40, 20 },
		{ BEGAN + 60, 0 }, { BEGAN + 1000, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		struct fm_order there = order_for(60);

		there.ends = 1;		/* time of another root's clock */
		ring();
		if (is[i].wall)
			clock_is(is[i].wall);
		other_part(1, &there, 10);
		if (is[i].left) {
			pass(is[i].left - 2);
			assert_int_equal(s.fm->root->admin[1], 3);
		}
		pass(2);
		settle(4);
		assert_int_equal(s.fm->root->admin[1], 0);
		assert_int_equal(fm_node(s.fm, 1)->admin, 0);
		stage_end(&s);
	}
}

static struct fm_order list[2];
static struct fm fm;

static void has_order(uint32_t i, uint16_t ports, const char *reason)
{
	const struct fm_order *o = fm_order(&fm, i);

	assert_non_null(o);
	assert_int_equal(o->ports, ports);
	assert_string_equal(o->reason, reason);
}

/* Table @version comes, with the entry of node 2 alone if it has a @base, and @n orders for it. */
static void comes(uint64_t version, uint64_t base, uint16_t admin, unsigned int n)
{
	struct fm_table_msg m = { .version = version, .base = base, .nentries = 4,
				  .entries = entry, .orders = list, .norders = n };

	assert_int_equal(torus_shape_parse("4x1", &m.shape), 0);
	for (uint32_t i = 0; i < 4; i++)
		entry[i] = (struct fm_entry) { .node = i, .state = FM_NODE_UP, .guid = NIC + i };
	entry[2].admin = admin;
	if (base) {
		m.entries = &entry[2];
		m.nentries = 1;
	}
	assert_true(fm_table_take(&fm, &m));
}

/*
 * A node takes the orders of the entries that a table has, and passes on all that it has. Orders
 * for ports that the table does not exclude are ignored.
 */
static void node_takes_and_passes_on_orders_of_table(void **state)
{
	struct fm_msg m;

	(void)state;
	list[0] = order(5, "plug");
	list[0].node = 2;
	list[0].ports = 1;
	list[1] = order(6, "dust");
	list[1].node = 2;
	list[1].ports = 0x802;
	comes(1, 0, 3, 2);
	has_order(0, 1, "plug");
	has_order(1, 2, "dust");
	assert_true(fm_table_whole(&fm, &m));
	assert_int_equal(m.table.norders, 2);
	assert_memory_equal(m.table.orders, &list[0], sizeof(list[0]));
	fm_table_whole_end(&fm, &m);
	comes(2, 1, 3, 1);
	has_order(0, 1, "plug");
	assert_null(fm_order(&fm, 1));
	comes(3, 2, 3, 0);	/* passed on by a manager that does not know them */
	assert_null(fm_order(&fm, 0));
	comes(4, 3, 3, 1);
	has_order(0, 1, "plug");
	comes(5, 0, 3, 0);
	assert_null(fm_order(&fm, 0));
	fm_table_free(&fm.table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_orders_equal_naive_list),
		cmocka_unit_test(next_table_has_order_with_its_exclusion),
		cmocka_unit_test(log_names_order_user_time_and_reason),
		cmocka_unit_test(cable_is_included_by_either_end),
		cmocka_unit_test(equal_order_is_no_change),
		cmocka_unit_test(order_ends_after_its_time_whatever_the_clock),
		cmocka_unit_test(each_order_ends_at_its_own_time),
		cmocka_unit_test(orders_of_equal_end_share_one_table),
		cmocka_unit_test(order_of_other_root_ends_by_own_clock),
		cmocka_unit_test(later_order_for_port_stays_when_parts_meet),
		cmocka_unit_test(node_takes_and_passes_on_orders_of_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
