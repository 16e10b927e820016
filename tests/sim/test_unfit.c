// SPDX-License-Identifier: GPL-2.0-only
/*
 * The own NIC of a root, or of a node that asks to be root, refuses one kind of action, or never
 * ends one. Another candidate leads then, the recovery that waited ends, and no packet is lost.
 * The node does not become root again while its NIC fails; when the NIC works it is a member like
 * all others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"
#include "trial.h"

#define MEMBER_MAX (600 * MS)
#define TAKEOVER (3 * SEC)

static const char *const acts[WORLD_ACTS] = { "obey", "place", "rows", "release", "replay", "count" };

static struct trial s;

static void power_up(const char *shape, uint64_t seed)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.member_max = MEMBER_MAX;
	c.discover = false;
	trial_begin(&s, &c);
	trial_power_all(&s);
}

static void begin(const char *shape, uint64_t seed)
{
	power_up(shape, seed);
	trial_rest(&s, 10 * SEC);
	s.sparing = true;
	trial_traffic(&s, 300 * US);
	world_run(s.w, 5 * MS);
}

static void finish(const char *what)
{
	if (!trial_end(&s))
		fail_msg("%s: %s", what, s.wrong);
}

static uint32_t roots(uint32_t *root)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (world_managed(s.w, i) && fm_is_root(world_fm(s.w, i))) {
			*root = i;
			n++;
		}
	return n;
}

/* Waits until another node than @former leads. Return: it. */
static uint32_t another_leads(uint32_t former, uint64_t limit, const char *what)
{
	uint64_t until = world_now(s.w) + limit;
	uint32_t root = former;

	while (world_now(s.w) < until && (roots(&root) != 1 || root == former))
		trial_run(&s, 10 * MS);
	if (roots(&root) != 1 || root == former)
		fail_msg("%s: node %u leads, of %u", what, root, roots(&root));
	return root;
}

/* Waits for the end of the recovery that the former root could not end. */
static void ends(uint32_t root, const char *what)
{
	uint64_t until = world_now(s.w) + 6 * MEMBER_MAX;

	while (trial_under_way(&s, root) && world_now(s.w) < until)
		trial_run(&s, 10 * MS);
	if (trial_under_way(&s, root))
		fail_msg("%s: no recovery ends", what);
}

/*
 * The root's NIC begins to refuse that action, or never ends it. A cable is cut, and for a replay
 * mended. Before a root could hand over, no recovery ended any more, and no other node led.
 */
static void root_fails(enum world_act act, unsigned int times, uint64_t seed)
{
	struct fm_root_status r;
	struct fm_status st;
	char what[80];
	uint32_t root;

	snprintf(what, sizeof(what), "root's NIC: %s, %s", acts[act], times == WORLD_STUCK ? "stuck" : "refused");
	begin("4x4", seed);
	if (act == WORLD_REPLAY) {
		world_cut(s.w, 0, true);
		trial_rest(&s, 5 * SEC);
	}
	world_refuse(s.w, 0, act, times);
	world_cut(s.w, act == WORLD_REPLAY ? 0 : 9, act != WORLD_REPLAY);
	root = another_leads(0, 3 * MEMBER_MAX + TAKEOVER, what);
	assert_int_equal(root, 1);
	fm_status(world_fm(s.w, root), &st);
	r = st.root;
	assert_string_equal(r.why, "root 'n0' handed over: its NIC fails");
	ends(root, what);
	/*
	 * A node whose NIC cannot count says no HELLO: once it is missing long enough it is
	 * silent.
	 */
	trial_run(&s, 3 * MEMBER_MAX);
	ends(root, what);
	assert_int_equal(fm_node(world_fm(s.w, root), 0)->state, FM_NODE_SILENT);
	assert_true(trial_problem(&s, "node", "('n0') is silent"));
	/* The former root tries again, and is not root. */
	trial_run(&s, 8 * MEMBER_MAX);
	assert_int_equal(roots(&root), 1);
	assert_int_equal(root, 1);
	world_refuse(s.w, 0, act, 0);
	if (times == WORLD_STUCK) {
		world_manager(s.w, 0, false);
		trial_run(&s, 100 * MS);
		world_manager(s.w, 0, true);
	}
	trial_run(&s, 25 * MEMBER_MAX);
	assert_int_equal(fm_node(world_fm(s.w, root), 0)->state, FM_NODE_UP);
	assert_int_equal(roots(&root), 1);
	assert_int_equal(root, 1);
	finish(what);
}

static void unfit_root_hands_over(void **state)
{
	(void)state;
	root_fails(WORLD_ROWS, WORLD_ALWAYS, 1);
	root_fails(WORLD_RELEASE, WORLD_ALWAYS, 2);
	if (trial_every() > 1)
		return;
	root_fails(WORLD_COUNT, WORLD_ALWAYS, 3);
	root_fails(WORLD_REPLAY, WORLD_ALWAYS, 4);
}

static void stuck_unfit_root_is_replaced(void **state)
{
	(void)state;
	root_fails(WORLD_COUNT, WORLD_STUCK, 7);
	if (trial_every() > 1)
		return;
	root_fails(WORLD_ROWS, WORLD_STUCK, 5);
	root_fails(WORLD_RELEASE, WORLD_STUCK, 6);
}

/* The root's NIC refuses an action now and then: the root does not hand over for a few refusals. */
static void nic_that_fails_now_and_then_keeps_root(void **state)
{
	uint32_t root = 0;

	(void)state;
	for (unsigned int act = WORLD_ROWS; act < WORLD_ACTS; act++) {
		begin("4x4", 10 + act);
		world_refuse(s.w, 0, act, 3);
		world_cut(s.w, 9, true);
		trial_run(&s, 4 * MEMBER_MAX);
		assert_int_equal(roots(&root), 1);
		assert_int_equal(root, 0);
		assert_false(trial_under_way(&s, 0));
		finish("now and then");
	}
}

/* The first root of all is not placed by its NIC: all others are, and another one leads. */
static void first_root_with_failing_nic_is_replaced(void **state)
{
	uint32_t root;

	(void)state;
	power_up("4x4", 20);
	world_refuse(s.w, 0, WORLD_PLACE, WORLD_ALWAYS);
	root = another_leads(0, 2 * SEC + 2 * MEMBER_MAX + TAKEOVER, "first root");
	ends(root, "first root");
	world_refuse(s.w, 0, WORLD_PLACE, 0);
	trial_run(&s, 25 * MEMBER_MAX);
	assert_int_equal(fm_node(world_fm(s.w, root), 0)->state, FM_NODE_UP);
	finish("first root");
}

/*
 * The root is lost, and the node that asks first to be root cannot lead, for its NIC does not obey
 * it.
 */
static void asker(unsigned int times, uint64_t seed)
{
	uint32_t root;

	begin("4x4", seed);
	world_refuse(s.w, 1, WORLD_OBEY, times);
	world_power(s.w, 0, false);
	root = another_leads(0, 4 * SEC, "asker");
	assert_int_not_equal(root, 1);
	trial_run(&s, 10 * MEMBER_MAX);
	ends(root, "asker");
	world_refuse(s.w, 1, WORLD_OBEY, 0);
	if (times == WORLD_STUCK) {
		world_manager(s.w, 1, false);
		trial_run(&s, 100 * MS);
		world_manager(s.w, 1, true);
	}
	trial_run(&s, 25 * MEMBER_MAX);
	assert_int_equal(fm_node(world_fm(s.w, root), 1)->state, FM_NODE_UP);
	finish("asker");
}

static void another_node_leads_if_nic_of_asking_one_fails(void **state)
{
	(void)state;
	asker(WORLD_ALWAYS, 30);
	asker(WORLD_STUCK, 31);
}

/*
 * The next candidate's NIC fails, too: the root's part is passed on until a node leads whose NIC
 * works.
 */
static void unfit_roots_hand_over_one_after_the_other(void **state)
{
	uint32_t root;

	(void)state;
	begin("4x4", 40);
	for (uint32_t i = 0; i < 3; i++)
		world_refuse(s.w, i, WORLD_ROWS, WORLD_ALWAYS);
	world_cut(s.w, 31, true);
	another_leads(0, 2 * MEMBER_MAX + TAKEOVER, "the first");
	another_leads(1, 2 * MEMBER_MAX + TAKEOVER, "the second");
	root = another_leads(2, 2 * MEMBER_MAX + TAKEOVER, "the third");
	assert_int_equal(root, 3);
	ends(root, "one after the other");
	for (uint32_t i = 0; i < 3; i++)
		world_refuse(s.w, i, WORLD_ROWS, 0);
	trial_run(&s, 25 * MEMBER_MAX);
	finish("one after the other");
}

/*
 * The root's NIC fails, and no other node may lead: the root goes on, and says why no recovery
 * ends, until its NIC works again.
 */
static void unfit_only_candidate_stays_root(void **state)
{
	uint32_t root = 0;

	(void)state;
	begin("4x4", 50);
	for (uint32_t i = 1; i < 8; i++)
		world_manager(s.w, i, false);
	trial_run(&s, 8 * MEMBER_MAX);
	world_refuse(s.w, 0, WORLD_ROWS, WORLD_ALWAYS);
	world_cut(s.w, 31, true);
	trial_run(&s, 2 * MEMBER_MAX);
	assert_int_equal(roots(&root), 1);
	assert_int_equal(root, 0);
	assert_true(trial_problem(&s, "nic", "no other candidate is connected that could lead"));
	world_refuse(s.w, 0, WORLD_ROWS, 0);
	trial_run(&s, 6 * MEMBER_MAX);
	assert_false(trial_problem(&s, "nic", ""));
	assert_false(trial_under_way(&s, 0));
	finish("only candidate");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(unfit_root_hands_over),
		cmocka_unit_test(stuck_unfit_root_is_replaced),
		cmocka_unit_test(nic_that_fails_now_and_then_keeps_root),
		cmocka_unit_test(first_root_with_failing_nic_is_replaced),
		cmocka_unit_test(another_node_leads_if_nic_of_asking_one_fails),
		cmocka_unit_test(unfit_roots_hand_over_one_after_the_other),
		cmocka_unit_test(unfit_only_candidate_stays_root),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
