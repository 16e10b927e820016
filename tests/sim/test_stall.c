// SPDX-License-Identifier: GPL-2.0-only
/*
 * A NIC returns no credits over one of its links, which works otherwise. The links that wait form
 * a tree; two walks in a row lead to the node that keeps the credits, and the port that leads
 * there is taken down, as fabricd does it. The packets that waited are parked and arrive by other
 * paths. All nodes know why the cable is excluded, also under a new root. It is used again when the
 * port is taken up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/stall_walk.h"
#include "kernel/core/nic_impl.h"
#include "trial.h"

#define LOOK (2 * SEC)
#define TELL (1 * SEC)
#define STALL_MAX (4 * SEC)

u16 __real_tn_credit_report(struct tn_credit *c, u8 *vc);
u16 __wrap_tn_credit_report(struct tn_credit *c, u8 *vc);

/* The credits of a port that are never reported to its peer. */
static const struct tn_credit *victim;

u16 __wrap_tn_credit_report(struct tn_credit *c, u8 *vc)
{
	if (!victim || victim != c)
		return __real_tn_credit_report(c, vc);
	memset(c->owed, 0, sizeof(c->owed));
	*vc = 0;
	return 0;
}

static struct trial s;

static void begin(const char *shape, uint64_t seed)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.discover = false;
	victim = NULL;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
}

/* Walks from all links that wait to their ends. Return: how many wait. */
static size_t look(struct stall_wait *w)
{
	const struct torus_shape *shape = &world_config(s.w)->shape;
	uint8_t node[64] = { 0 };
	size_t n = 0;

	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		node[i] = STALL_REPORTED;
		for (unsigned int p = 0; p < 2u * shape->ndims; p++) {
			struct tn_link_info info;

			tn_nic_link_info(world_nic(s.w, i), p, &info, world_now(s.w));
			if (info.state == TORUS_LINK_UP && info.gauge[TORUS_PG_WAITED])
				w[n++] = (struct stall_wait) { .node = i, .port = (uint8_t)p,
							       .ns = info.gauge[TORUS_PG_WAITED] };
		}
	}
	stall_walk(shape, node, w, n);
	return n;
}

/*
 * Repeats the walk until two in a row have led to the same sink, and a port has waited for it long
 * enough.
 */
static struct stall_wait stalled(void)
{
	struct stall_wait w[2][256];
	size_t n[2] = { 0, 0 };

	for (unsigned int k = 0; k < 10; k++) {
		unsigned int now = k % 2, before = !now;

		trial_run(&s, LOOK);
		n[now] = look(w[now]);
		for (size_t i = 0; i < n[now]; i++)
			if (w[now][i].verdict == STALL_SINK && w[now][i].ns >= STALL_MAX &&
			    stall_same(w[before], n[before], &w[now][i]))
				return w[now][i];
	}
	fail_msg("no sink is found, of %zu that wait", n[1]);
	return (struct stall_wait) { .ns = 0 };
}

static void comes_to_rest(void)
{
	uint64_t until = world_now(s.w) + 5 * SEC;

	while (trial_under_way(&s, world_root(s.w)) && world_now(s.w) < until)
		trial_run(&s, 10 * MS);
	assert_false(trial_under_way(&s, world_root(s.w)));
}

/* Checks that all managers give this reason at both ends of the cable. */
static void all_know(uint32_t node, unsigned int port, const char *why)
{
	const struct torus_shape *shape = &world_config(s.w)->shape;
	uint32_t far = torus_neighbour(shape, node, port);

	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		const char *is[2];

		if (!world_managed(s.w, i))
			continue;
		is[0] = fm_excluded(world_fm(s.w, i), node, port);
		is[1] = fm_excluded(world_fm(s.w, i), far, torus_dir_opposite(shape, port));
		for (unsigned int e = 0; e < 2; e++)
			if (why ? !is[e] || strcmp(is[e], why) : is[e] != NULL)
				fail_msg("node %u says of end %u: %s", i, e, is[e] ? is[e] : "in use");
	}
}

/*
 * Node @sink keeps the credits of the link at its @port, over which a node @hops away sends to it.
 */
static void trial_of(const char *shape, uint32_t sink, unsigned int port, unsigned int hops, bool new_root,
		     uint64_t seed)
{
	const struct torus_shape *torus;
	struct stall_wait w;
	uint64_t parked;
	uint32_t src;

	begin(shape, seed);
	torus = &world_config(s.w)->shape;
	src = torus_neighbour(torus, sink, port);
	if (hops > 1)
		src = torus_neighbour(torus, src, port);
	world_flow(s.w, src, sink);
	trial_traffic(&s, 300 * US);
	trial_run(&s, 50 * MS);
	victim = &world_nic(s.w, sink)->link[port].credit;
	w = stalled();
	/* The faulty port is named and no other, however far the wait has spread. */
	assert_int_equal(w.node, torus_neighbour(torus, sink, port));
	assert_int_equal(w.port, torus_dir_opposite(torus, port));
	all_know(w.node, w.port, NULL);
	parked = check_flow_counted(s.flow, TORUS_NC_PARKED);
	world_admin(s.w, w.node, w.port, false, true);
	trial_run(&s, 50 * MS);
	comes_to_rest();
	assert_true(check_flow_counted(s.flow, TORUS_NC_PARKED) > parked);
	all_know(w.node, w.port, "stall");
	/* No packet waits any more. */
	trial_run(&s, 3 * LOOK);
	{
		struct stall_wait left[256];
		size_t n = look(left);

		for (size_t i = 0; i < n; i++)
			assert_true(left[i].ns < TELL);
	}
	if (new_root) {
		world_manager(s.w, world_root(s.w), false);
		trial_run(&s, 5 * SEC);
		comes_to_rest();
		all_know(w.node, w.port, "stall");
	}
	/* Repaired. */
	victim = NULL;
	world_admin(s.w, w.node, w.port, true, false);
	trial_run(&s, 3 * SEC);
	comes_to_rest();
	all_know(w.node, w.port, NULL);
	if (!trial_end(&s))
		fail_msg("%s: %s", shape, s.wrong);
}

static void stalled_link_is_found_and_taken_down(void **state)
{
	(void)state;
	trial_of("3x3", 1, 2, 1, false, 1);
	trial_of("4x4", 5, 1, 1, false, 2);
	trial_of("3x3x2", 7, 3, 1, false, 3);
	trial_of("5x3", 7, 2, 2, false, 7);
}

/*
 * The link that stalls is at a port of the root, or at one that leads to it; and a new root knows
 * it from the table.
 */
static void stalled_link_at_root_is_taken_down(void **state)
{
	(void)state;
	trial_of("4x4", 0, 0, 1, false, 4);
	trial_of("4x4", 1, 2, 1, false, 5);
	trial_of("4x4", 10, 3, 1, true, 6);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(stalled_link_is_found_and_taken_down),
		cmocka_unit_test(stalled_link_at_root_is_taken_down),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
