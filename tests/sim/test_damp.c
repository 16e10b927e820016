// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links that flap (daemon/fm/root/damp.c) are held down at the limit and not before, for a time that
 * grows with the flapping. Changes of a held link begin no recovery. A loss always takes effect at
 * once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"
#include "trial.h"

#define CABLE 2U			/* 3x3: 1,0:+x to 2,0:-x */
#define LIMIT 4

static void start_bounded(struct trial *s, uint64_t half_life, uint64_t hold_max)
{
	struct world_config c;

	world_config_default(&c);
	c.adaptive = true;
	assert_int_equal(torus_shape_parse("3x3", &c.shape), 0);
	c.discover = false;
	c.flap_limit = LIMIT;
	c.flap_half_life = half_life;
	c.hold_max = hold_max;
	trial_begin(s, &c);
	trial_power_all(s);
	trial_rest(s, 10 * SEC);
	world_traffic(s->w, 500 * US);
	world_run(s->w, 5 * MS);
}

static void start(struct trial *s, uint64_t half_life)
{
	start_bounded(s, half_life, 0);
}

static void end(struct trial *s, const char *what)
{
	if (trial_end(s))
		return;
	print_error("%s: %s\n", what, s->wrong);
	fail();
}

static void loss(struct trial *s)
{
	world_cut(s->w, CABLE, true);
	trial_rest(s, 5 * SEC);
	assert_string_equal(fm_excluded(world_fm(s->w, 0), 1, 0),
			    trial_problem(s, "flap", "") ? "held" : "fault");
	world_cut(s->w, CABLE, false);
	world_run(s->w, 20 * MS);
	trial_rest(s, 5 * SEC);
}

static const char *excluded(struct trial *s, uint32_t node)
{
	const char *why = fm_excluded(world_fm(s->w, node), 1, 0);

	return why ? why : "no";
}

static void until_used(struct trial *s, uint64_t most)
{
	for (uint64_t t = 0; t < most && !strcmp(excluded(s, 0), "held"); t += 10 * MS)
		world_run(s->w, 10 * MS);
	trial_rest(s, 5 * SEC);
	assert_string_equal(excluded(s, 0), "no");
}

/* At the limit all nodes know that the link is held, and the root reports one problem. */
static void hold_at_limit_is_known_to_all_nodes(void **state)
{
	struct fm_status st;
	const struct fm_problem *p;
	unsigned int reported = 0;
	struct trial s;
	uint64_t from;

	(void)state;
	start(&s, 1 * SEC);
	for (unsigned int i = 1; i < LIMIT; i++) {
		loss(&s);
		assert_string_equal(excluded(&s, 0), "no");
		assert_false(trial_problem(&s, "flap", ""));
	}
	loss(&s);
	from = world_now(s.w);
	for (uint32_t i = 0; i < 9; i++)
		assert_string_equal(excluded(&s, i), "held");
	for (unsigned int i = 0; (p = fm_problem(world_fm(s.w, 0), i)); i++)
		reported += !strcmp(p->kind, "flap");
	assert_int_equal(reported, 1);
	assert_true(trial_problem(&s, "flap", "1,0:+x ('n1')"));
	assert_true(trial_problem(&s, "flap", "2,0:-x ('n2')"));
	fm_status(world_fm(s.w, 0), &st);
	assert_int_equal(st.links_faulty, 1);
	assert_int_equal(st.links_excluded, 0);
	until_used(&s, 2 * SEC);
	/* About a half-life for LIMIT losses at once. */
	assert_in_range(world_now(s.w) - from, 600 * MS, 1100 * MS);
	assert_false(trial_problem(&s, "flap", ""));
	end(&s, "held at the limit");
}

/* Changes of a held link make no table. Losses meanwhile make the hold longer. */
static void changes_of_held_link_make_no_table(void **state)
{
	struct trial s;
	uint64_t version, from;

	(void)state;
	start(&s, 1 * SEC);
	for (unsigned int i = 0; i < LIMIT; i++)
		loss(&s);
	version = fm_version(world_fm(s.w, 0));
	for (unsigned int i = 0; i < 2 * LIMIT; i++)
		loss(&s);
	assert_int_equal(fm_version(world_fm(s.w, 0)), version);
	from = world_now(s.w);
	until_used(&s, 10 * SEC);
	assert_in_range(world_now(s.w) - from, 1500 * MS, 3000 * MS);
	assert_int_equal(fm_version(world_fm(s.w, 0)), version + 1);
	end(&s, "no recovery while held");
}

/* Losses far apart never reach the limit. */
static void distant_losses_hold_no_link(void **state)
{
	struct trial s;

	(void)state;
	start(&s, 100 * MS);
	for (unsigned int i = 0; i < 3 * LIMIT; i++) {
		loss(&s);
		assert_string_equal(excluded(&s, 0), "no");
		world_run(s.w, 100 * MS);
	}
	end(&s, "seldom");
}

/* Many losses and a long half-life: the hold ends hold_max after the last loss. */
static void hold_ends_after_hold_max(void **state)
{
	struct trial s;
	uint64_t from;

	(void)state;
	start_bounded(&s, 100 * SEC, 2 * SEC);
	for (unsigned int i = 0; i < 3 * LIMIT; i++)
		loss(&s);
	from = world_now(s.w);
	assert_string_equal(excluded(&s, 0), "held");
	until_used(&s, 10 * SEC);
	assert_in_range(world_now(s.w) - from, 1700 * MS, 2100 * MS);
	end(&s, "bounded");
}

/* fm_held() lists a held cable once, with the time left; the hold ends at that time. */
static void held_cable_is_listed_with_time_left(void **state)
{
	struct fm_hold h, more;
	struct trial s;
	struct fm *fm;

	(void)state;
	start(&s, 2 * SEC);
	fm = world_fm(s.w, 0);
	assert_false(fm_held(fm, 0, world_now(s.w), &h));
	for (unsigned int i = 0; i < LIMIT + 1; i++)
		loss(&s);
	assert_true(fm_held(fm, 0, world_now(s.w), &h));
	assert_false(fm_held(fm, 1, world_now(s.w), &more));
	assert_false(fm_held(world_fm(s.w, 1), 0, world_now(s.w), &more));
	assert_true((h.node == 1 && h.port == 0 && h.peer == 2 && h.peer_port == 2) ||
		    (h.node == 2 && h.port == 2 && h.peer == 1 && h.peer_port == 0));
	world_run(s.w, h.left / 2);
	assert_true(fm_held(fm, 0, world_now(s.w), &more));
	assert_int_equal(more.left, h.left - h.left / 2);
	world_run(s.w, more.left - MS);
	assert_string_equal(excluded(&s, 0), "held");
	world_run(s.w, 5 * MS);
	assert_false(fm_held(fm, 0, world_now(s.w), &h));
	end(&s, "how long");
}

/*
 * A link is held down, so a row that reports it leads to no table: the row is repeated at growing
 * intervals.
 */
static void row_of_held_link_is_repeated_ever_more_seldom(void **state)
{
	uint64_t quiet, held;
	struct trial s;

	(void)state;
	start(&s, 10 * SEC);
	world_run(s.w, 1 * SEC);
	world_counts(s.w);
	world_run(s.w, 8 * SEC);
	quiet = world_counts(s.w).messages;
	for (unsigned int i = 0; i < LIMIT + 1; i++)
		loss(&s);
	world_counts(s.w);
	world_run(s.w, 8 * SEC);
	held = world_counts(s.w).messages;
	assert_string_equal(excluded(&s, 0), "held");
	/* Two ends, seven times each within 8 s, passed on by at most two nodes. */
	assert_in_range(held - quiet, 1, 2 * 10 * 3);
	end(&s, "said seldom");
}

/* A link that is down when its hold ends stays excluded, and is used as soon as it is up. */
static void link_down_after_hold_stays_excluded(void **state)
{
	struct trial s;

	(void)state;
	start(&s, 500 * MS);
	for (unsigned int i = 0; i < LIMIT; i++)
		loss(&s);
	world_cut(s.w, CABLE, true);
	world_run(s.w, 4 * SEC);
	assert_string_equal(excluded(&s, 0), "fault");
	assert_false(trial_problem(&s, "flap", ""));
	world_cut(s.w, CABLE, false);
	trial_rest(&s, 5 * SEC);
	assert_string_equal(excluded(&s, 0), "no");
	end(&s, "down at the end");
}

/*
 * The administrator's "include" at either end ends a hold; excluding and including a port is no
 * loss.
 */
static void include_ends_hold_and_exclusion_is_no_loss(void **state)
{
	struct trial s;

	(void)state;
	start(&s, 10 * SEC);
	for (unsigned int i = 0; i < LIMIT; i++)
		loss(&s);
	assert_string_equal(excluded(&s, 0), "held");
	assert_int_equal(fm_exclude(world_fm(s.w, 0), 2, 2, false, world_now(s.w)), 0);
	trial_rest(&s, 5 * SEC);
	assert_string_equal(excluded(&s, 0), "no");
	assert_false(trial_problem(&s, "flap", ""));
	for (unsigned int i = 0; i < 3 * LIMIT; i++) {
		fm_exclude(world_fm(s.w, 0), 4, 0, i % 2 == 0, world_now(s.w));
		trial_rest(&s, 5 * SEC);
	}
	assert_false(trial_problem(&s, "flap", ""));
	end(&s, "administrator");
}

/* No link is held because a node restarts once. A restarted root has forgotten all holds. */
static void restarted_node_or_root_holds_no_link(void **state)
{
	struct trial s;

	(void)state;
	start(&s, 10 * SEC);
	for (uint32_t node = 1; node < 9; node += 3) {
		world_power(s.w, node, false);
		world_run(s.w, 1 * SEC);
		world_power(s.w, node, true);
		trial_rest(&s, 10 * SEC);
		assert_false(trial_problem(&s, "flap", ""));
	}
	for (unsigned int i = 0; i < LIMIT; i++)
		loss(&s);
	assert_true(trial_problem(&s, "flap", ""));
	world_manager(s.w, 0, false);
	world_run(s.w, 100 * MS);
	world_manager(s.w, 0, true);
	trial_rest(&s, 10 * SEC);
	assert_false(trial_problem(&s, "flap", ""));
	assert_string_equal(excluded(&s, 0), "no");
	end(&s, "restarts");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hold_at_limit_is_known_to_all_nodes),
		cmocka_unit_test(changes_of_held_link_make_no_table),
		cmocka_unit_test(distant_losses_hold_no_link),
		cmocka_unit_test(hold_ends_after_hold_max),
		cmocka_unit_test(held_cable_is_listed_with_time_left),
		cmocka_unit_test(row_of_held_link_is_repeated_ever_more_seldom),
		cmocka_unit_test(link_down_after_hold_stays_excluded),
		cmocka_unit_test(include_ends_hold_and_exclusion_is_no_loss),
		cmocka_unit_test(restarted_node_or_root_holds_no_link),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
