// SPDX-License-Identifier: GPL-2.0-only
/*
 * The address plan of a fabric: of the root's configuration at first, then of the table. It
 * survives restarts, takeovers and a loss of all power, whatever configurations say. A change under
 * traffic holds no row and loses no packet, also if cables are lost at the same time. A plan that
 * is too small, or that some node does not know, or that has the service address of a node, does
 * not come into force.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/wire/plan.h"
#include "ends.h"
#include "tools/fabricsim/world_impl.h"

static struct trial s;
static struct world_config c;

static struct torus_plan plan_of(const char *v4, const char *v6)
{
	struct torus_plan p;

	torus_plan_default(&p);
	if (v4)
		assert_int_equal(torus_plan_parse4(v4, &p), 0);
	if (v6)
		assert_int_equal(torus_plan_parse6(v6, &p), 0);
	return p;
}

static void config(const char *shape, uint64_t seed, const char *v4, const char *v6)
{
	world_config_default(&c);
	assert_int_equal(torus_shape_parse(shape, &c.shape), 0);
	c.seed = seed;
	c.discover = seed % 2;
	c.member_max = 300 * MS;
	c.plan = plan_of(v4, v6);
	c.plan_given = (v4 ? FM_PLAN4 : 0) | (v6 ? FM_PLAN6 : 0);
}

static void begin(void)
{
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
}

/* Checks that each NIC and each manager has that plan. */
static void has(const char *v4, const char *v6)
{
	struct torus_plan want = plan_of(v4, v6);

	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		struct torus_plan nic = world_plan(s.w, i), reported;

		nic = fm_plan_full(&nic);
		assert_memory_equal(&nic, &want, sizeof(want));
		reported = fm_address_plan(world_fm(s.w, i));
		assert_memory_equal(&reported, &want, sizeof(want));
	}
}

static struct fm *root(void)
{
	uint32_t node = ends_leader(s.w, TORUS_NO_NODE);

	assert_int_not_equal(node, TORUS_NO_NODE);
	return world_fm(s.w, node);
}

static void reload(const char *v4, const char *v6)
{
	struct torus_plan p = plan_of(v4, v6);

	fm_plan(root(), &p, (v4 ? FM_PLAN4 : 0) | (v6 ? FM_PLAN6 : 0), world_now(s.w));
}

static void end(void)
{
	if (!trial_end(&s))
		fail_msg("%s", s.wrong);
}

static void first_table_has_configured_plan(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		config("4x2", seed, NULL, NULL);
		begin();
		has(NULL, NULL);
		end();
		config("4x2", seed, "192.168.0.0/16", "fd00:1:2:3::/64");
		begin();
		has("192.168.0.0/16", "fd00:1:2:3::/64");
		assert_false(trial_problem(&s, "plan", ""));
		end();
		config("4x2", seed, "192.168.7.8/29", NULL);
		begin();
		has("192.168.7.8/29", NULL);
		end();
	}
}

/* A reload changes what it names of the plan, with one table, and no row is written or held. */
static void changed_plan_takes_one_table_and_no_row(void **state)
{
	struct world_counts n;
	uint64_t version;

	(void)state;
	config("4x4", 1, NULL, NULL);
	begin();
	s.sparing = true;
	trial_traffic(&s, 20 * US);
	world_run(s.w, 20 * MS);
	world_counts(s.w);
	version = fm_version(root());
	reload(NULL, "fd00:1:2:3::/64");
	trial_rest(&s, 10 * SEC);
	has(NULL, "fd00:1:2:3::/64");
	assert_int_equal(fm_version(root()), version + 1);
	n = world_counts(s.w);
	assert_int_equal(n.held, 0);
	assert_int_equal(n.rows, 0);
	/* The same file again, or one without that key, changes nothing. */
	reload(NULL, "fd00:1:2:3::/64");
	reload(NULL, NULL);
	trial_run(&s, 1 * SEC);
	assert_int_equal(fm_version(root()), version + 1);
	reload("10.0.0.0/8", NULL);
	trial_run(&s, 1 * SEC);
	assert_int_equal(fm_version(root()), version + 1);
	reload("172.16.0.0/12", "fd74:6f72::/32");
	trial_rest(&s, 10 * SEC);
	has("172.16.0.0/12", NULL);
	end();
}

/* Cables are lost, and managers and NICs restart, while the plan changes again and again. */
static void changed_plan_survives_faults(void **state)
{
	static const char *const v4[] = { "192.168.0.0/16", "172.16.0.0/12", "10.0.0.0/8" };

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed += trial_every()) {
		uint64_t random = seed;

		config("3x3", seed, NULL, NULL);
		begin();
		trial_traffic(&s, 50 * US);
		for (unsigned int k = 0; k < 6; k++) {
			uint32_t cable = (uint32_t)(world_random(s.w) % 18);

			world_cut(s.w, cable, true);
			world_run(s.w, trial_some_time(&random, 20 * US, 6));
			reload(v4[k % 3], NULL);
			world_run(s.w, trial_some_time(&random, 20 * US, 6));
			if (k == 3)
				world_manager(s.w, 4, false);
			world_cut(s.w, cable, false);
			if (k == 4)
				world_manager(s.w, 4, true);
		}
		trial_rest(&s, 20 * SEC);
		has("10.0.0.0/8", NULL);
		reload("172.16.0.0/12", NULL);
		trial_rest(&s, 20 * SEC);
		has("172.16.0.0/12", NULL);
		end();
	}
}

static void other_config(void)
{
	struct torus_plan other = plan_of("10.64.0.0/10", NULL);

	world_plan_set(s.w, &other, FM_PLAN4);
}

static void restarted_root_keeps_plan(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		config("4x2", seed, "192.168.0.0/16", NULL);
		begin();
		other_config();
		world_manager(s.w, 0, false);
		world_run(s.w, 50 * MS);
		world_manager(s.w, 0, true);
		trial_rest(&s, 20 * SEC);
		has("192.168.0.0/16", NULL);
		/* All managers end at once, so that only the tables on disks are left. */
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			world_manager(s.w, i, false);
		world_run(s.w, 50 * MS);
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			world_manager(s.w, i, true);
		trial_rest(&s, 20 * SEC);
		has("192.168.0.0/16", NULL);
		assert_true(trial_problem(&s, "plan", "reload"));
		reload("10.64.0.0/10", NULL);
		trial_rest(&s, 20 * SEC);
		has("10.64.0.0/10", NULL);
		assert_false(trial_problem(&s, "plan", ""));
		end();
	}
}

static void new_root_keeps_plan(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		config("4x2", seed, "192.168.0.0/16", NULL);
		begin();
		other_config();
		/* The candidates' configurations name another one, too. */
		for (uint32_t i = 1; i < world_nodes(s.w); i++) {
			world_manager(s.w, i, false);
			world_manager(s.w, i, true);
		}
		trial_rest(&s, 20 * SEC);
		world_power(s.w, 0, false);
		world_run(s.w, 5 * SEC);
		assert_int_not_equal(ends_leader(s.w, TORUS_NO_NODE), 0);
		assert_true(trial_problem(&s, "plan", "reload"));
		world_power(s.w, 0, true);
		trial_rest(&s, 20 * SEC);
		has("192.168.0.0/16", NULL);
		end();
	}
}

static void all_nodes_back_from_power_loss_keep_plan(void **state)
{
	(void)state;
	config("4x2", 2, "192.168.0.0/16", "fd00:1:2:3::/64");
	begin();
	world_run(s.w, 1 * SEC);
	other_config();
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_power(s.w, i, false);
	world_run(s.w, 1 * SEC);
	trial_power_all(&s);
	trial_rest(&s, 20 * SEC);
	has("192.168.0.0/16", "fd00:1:2:3::/64");
	end();
}

static void plan_too_small_for_shape_makes_no_table(void **state)
{
	struct torus_plan plan;
	uint64_t version;

	(void)state;
	config("4x4", 1, "192.168.7.8/29", NULL);
	trial_begin(&s, &c);
	trial_power_all(&s);
	world_run(s.w, 10 * SEC);
	assert_int_equal(fm_version(world_fm(s.w, 0)), 0);
	assert_true(trial_problem(&s, "plan", "must be prefixes of at most /28 and /124"));
	plan = plan_of("192.168.7.16/28", NULL);
	fm_plan(world_fm(s.w, 0), &plan, FM_PLAN4, world_now(s.w));
	trial_rest(&s, 10 * SEC);
	has("192.168.7.16/28", NULL);
	end();

	config("4x4", 1, "192.168.7.16/28", NULL);
	begin();
	version = fm_version(root());
	reload("192.168.7.8/29", NULL);
	world_run(s.w, 1 * SEC);
	assert_int_equal(fm_version(root()), version);
	assert_true(trial_problem(&s, "plan", "192.168.7.8/29"));
	has("192.168.7.16/28", NULL);
	reload("192.168.7.32/28", NULL);
	trial_rest(&s, 10 * SEC);
	has("192.168.7.32/28", NULL);
	assert_false(trial_problem(&s, "plan", ""));
	end();
}

/* Nodes of an earlier release take part, as long as the plan is the default one. */
static void nodes_of_earlier_release_need_default_plan(void **state)
{
	struct torus_plan plan = plan_of("192.168.0.0/16", NULL);
	uint64_t version;

	(void)state;
	config("4x2", 1, NULL, NULL);
	c.no_plans = 1 << 5;
	begin();
	has(NULL, NULL);
	version = fm_version(root());
	reload("192.168.0.0/16", NULL);
	world_run(s.w, 1 * SEC);
	assert_int_equal(fm_version(root()), version);
	has(NULL, NULL);
	assert_true(trial_problem(&s, "plan", "knows only the default one"));
	/* While it is away the plan changes, and then it is refused. */
	world_power(s.w, 5, false);
	world_run(s.w, 3 * SEC);
	reload("192.168.0.0/16", NULL);
	world_run(s.w, 3 * SEC);
	world_power(s.w, 5, true);
	world_run(s.w, 3 * SEC);
	assert_true(trial_problem(&s, "refused", "knows only the default address plan"));
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		struct torus_plan nic = world_plan(s.w, i);

		assert_int_equal(fm_plan_same(&nic, &plan), i != 5);
	}
	reload("10.0.0.0/8", NULL);
	trial_rest(&s, 20 * SEC);
	has(NULL, NULL);
	end();
}

/* A fabric with another plan. Node 5 does not know it, and is refused. */
static void shut_out(void)
{
	config("4x2", 1, NULL, NULL);
	c.no_plans = 1 << 5;
	begin();
	world_power(s.w, 5, false);
	world_run(s.w, 3 * SEC);
	reload("192.168.0.0/16", NULL);
	world_run(s.w, 3 * SEC);
	world_power(s.w, 5, true);
	world_run(s.w, 5 * SEC);
	assert_true(trial_problem(&s, "refused", "knows only the default address plan"));
}

/* Checks that the others have their plan and a root, and that node 5 is refused. */
static void still_shut_out(uint32_t dead)
{
	struct torus_plan want = plan_of("192.168.0.0/16", NULL);

	root();
	assert_true(trial_problem(&s, "refused", "knows only the default address plan"));
	assert_false(trial_problem(&s, "plan", "knows only"));
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		struct torus_plan nic = world_plan(s.w, i);

		if (i != dead)
			assert_int_equal(fm_plan_same(&nic, &want), i != 5);
	}
}

/* The root starts again, or another one takes over, while a node is refused. */
static void node_stays_refused_when_root_restarts(void **state)
{
	(void)state;
	shut_out();
	world_manager(s.w, 0, false);
	world_run(s.w, 50 * MS);
	world_manager(s.w, 0, true);
	world_run(s.w, 30 * SEC);
	still_shut_out(TORUS_NO_NODE);
	reload("10.0.0.0/8", NULL);
	trial_rest(&s, 20 * SEC);
	has(NULL, NULL);
	end();
}

static void refused_node_stays_out_despite_cut_and_power_loss(void **state)
{
	(void)state;
	shut_out();
	world_power(s.w, 0, false);
	world_run(s.w, 30 * SEC);
	still_shut_out(0);
	world_cut(s.w, 3, true);
	world_run(s.w, 5 * SEC);
	world_power(s.w, 0, true);
	world_run(s.w, 30 * SEC);
	still_shut_out(TORUS_NO_NODE);
	world_cut(s.w, 3, false);
	reload("10.0.0.0/8", NULL);
	trial_rest(&s, 20 * SEC);
	has(NULL, NULL);
	end();
}

/* Lets half of a 4x4 torus settle, and then gives power to the other half. */
static void halves(const char *v4, const char *v6)
{
	config("4x4", 1, v4, v6);
	c.discover = true;
	trial_begin(&s, &c);
	for (uint32_t i = 0; i < 16; i++)
		if (i % 4 < 2)
			world_power(s.w, i, true);
	world_run(s.w, 10 * SEC);
	assert_int_equal(torus_nodes(fm_shape(root())), 8);
	for (uint32_t i = 0; i < 16; i++)
		if (i % 4 >= 2)
			world_power(s.w, i, true);
	world_run(s.w, 60 * SEC);
}

/* The shape does not fit the plan, until the configuration names another shape and prefix. */
static void shape_that_fits_no_plan_stays_until_configured(void **state)
{
	struct torus_plan plan = plan_of("192.168.7.16/28", NULL);

	(void)state;
	halves("192.168.7.8/29", NULL);
	assert_int_equal(torus_nodes(fm_shape(root())), 8);
	assert_true(trial_problem(&s, "place", "the prefix address4 or address6 has too few"));
	s.w->cfg.discover = false;
	world_plan_set(s.w, &plan, FM_PLAN4);
	world_manager(s.w, 0, false);
	world_run(s.w, 50 * MS);
	world_manager(s.w, 0, true);
	trial_rest(&s, 60 * SEC);
	has("192.168.7.16/28", NULL);
	end();
}

/* A shape grows only if nodes keep their IPv6 addresses, too. */
static void growth_keeps_ipv6_addresses(void **state)
{
	(void)state;
	halves(NULL, "fd00:1::/112");
	assert_int_equal(torus_nodes(fm_shape(root())), 8);
	assert_true(trial_problem(&s, "place", "cannot grow by it"));
	trial_end(&s);
	halves(NULL, "fd00:1::/64");
	assert_int_equal(torus_nodes(fm_shape(root())), 16);
	end();
}

/* The service address of no known node is in the plan, and a node whose address is, is refused. */
static void node_whose_service_address_is_in_plan_is_refused(void **state)
{
	struct torus_plan plan = plan_of(NULL, NULL);
	uint64_t version;

	(void)state;
	config("4x2", 2, "172.30.3.0/24", NULL);
	c.svc_ip = 4;
	trial_begin(&s, &c);
	trial_power_all(&s);
	world_run(s.w, 5 * SEC);
	assert_int_equal(fm_version(world_fm(s.w, 0)), 0);
	assert_true(trial_problem(&s, "plan", "has the service address 172.30.3.1:1"));
	fm_plan(world_fm(s.w, 0), &plan, FM_PLAN4, world_now(s.w));
	trial_rest(&s, 10 * SEC);
	has(NULL, NULL);
	end();

	config("4x2", 2, NULL, NULL);
	c.svc_ip = 4;
	trial_begin(&s, &c);
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		if (i != 5)
			world_power(s.w, i, true);
	}
	world_run(s.w, 5 * SEC);
	version = fm_version(root());
	assert_int_not_equal(version, 0);
	reload("172.30.0.0/16", NULL);
	world_run(s.w, 1 * SEC);
	assert_int_equal(fm_version(root()), version);
	assert_true(trial_problem(&s, "plan", "172.30.0.0/16"));
	reload("172.30.3.0/24", NULL);
	world_run(s.w, 1 * SEC);
	assert_int_equal(fm_version(root()), version);
	assert_true(trial_problem(&s, "plan", "has the service address 172.30.3.1:1"));
	/* The address of a node that is not known yet: the node is refused. */
	reload("172.30.5.0/24", NULL);
	world_run(s.w, 1 * SEC);
	assert_int_equal(fm_version(root()), version + 1);
	assert_false(trial_problem(&s, "plan", ""));
	world_power(s.w, 5, true);
	world_run(s.w, 3 * SEC);
	assert_true(trial_problem(&s, "refused", "has the service address 172.30.5.1:1"));
	plan = world_plan(s.w, 5);
	assert_true(fm_plan_is_default(&plan));
	reload("172.30.8.0/24", NULL);
	trial_rest(&s, 20 * SEC);
	has("172.30.8.0/24", NULL);
	end();
}

static void service_address_in_ipv6_plan_is_refused(void **state)
{
	uint64_t version;

	(void)state;
	config("4x2", 1, NULL, NULL);
	c.svc_ip = 6;
	begin();
	has(NULL, NULL);
	version = fm_version(root());
	reload(NULL, "fd00:30::/32");
	world_run(s.w, 1 * SEC);
	assert_true(trial_problem(&s, "plan", "has the service address [fd00:30:0::1]:1"));
	reload(NULL, "fd00:30:3:0:8000::/65");
	world_run(s.w, 1 * SEC);
	assert_false(trial_problem(&s, "plan", "service address"));
	assert_int_equal(fm_version(root()), version + 1);
	reload(NULL, "fd00:30:3::/64");
	world_run(s.w, 1 * SEC);
	assert_true(trial_problem(&s, "plan", "has the service address [fd00:30:3::1]:1"));
	reload("172.16.0.0/12", "fd00:31::/32");
	trial_rest(&s, 10 * SEC);
	has("172.16.0.0/12", "fd00:31::/32");
	end();
}

/*
 * All managers start at once, so that a node joins before the root has settled: a node that must
 * be refused is refused then, too.
 */
static void joins_early(unsigned int svc_ip, const char *v4, const char *v6)
{
	struct torus_plan want = plan_of(v4, v6);

	config("4x2", 2, v4, v6);
	c.svc_ip = svc_ip;
	trial_begin(&s, &c);
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		if (i != 5)
			world_power(s.w, i, true);
	}
	world_run(s.w, 5 * SEC);
	assert_int_not_equal(fm_version(root()), 0);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_manager(s.w, i, false);
	world_run(s.w, 50 * MS);
	world_power(s.w, 5, true);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_manager(s.w, i, true);
	world_run(s.w, 20 * SEC);
	root();
	assert_true(trial_problem(&s, "refused", "the torus itself"));
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		struct torus_plan nic = world_plan(s.w, i);

		assert_int_equal(fm_plan_same(&nic, &want), i != 5);
	}
	reload("10.0.0.0/8", "fd74:6f72::/32");
	trial_rest(&s, 20 * SEC);
	has(NULL, NULL);
	end();
}

static void plan_with_address_of_early_node_is_refused(void **state)
{
	(void)state;
	joins_early(4, "172.30.5.0/24", NULL);
	joins_early(6, NULL, "fd00:30:5::/48");
}

/* All managers get other addresses, and the root's is in the plan: it does not lead for long. */
static void root_whose_address_is_in_plan_does_not_lead(void **state)
{
	struct torus_plan want = plan_of("172.30.0.0/24", NULL);

	(void)state;
	config("4x2", 2, "172.30.0.0/24", NULL);
	begin();
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_manager(s.w, i, false);
	world_run(s.w, 50 * MS);
	s.w->cfg.svc_ip = 4;
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_manager(s.w, i, true);
	world_run(s.w, 20 * SEC);
	assert_int_not_equal(ends_leader(s.w, TORUS_NO_NODE), 0);
	assert_true(trial_problem(&s, "refused", "'n0' has the service address 172.30.0.1:1"));
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		struct torus_plan nic = world_plan(s.w, i);

		assert_true(fm_plan_same(&nic, &want));
	}
	reload("10.0.0.0/8", NULL);
	trial_rest(&s, 20 * SEC);
	has(NULL, NULL);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_table_has_configured_plan),
		cmocka_unit_test(changed_plan_takes_one_table_and_no_row),
		cmocka_unit_test(changed_plan_survives_faults),
		cmocka_unit_test(restarted_root_keeps_plan),
		cmocka_unit_test(new_root_keeps_plan),
		cmocka_unit_test(all_nodes_back_from_power_loss_keep_plan),
		cmocka_unit_test(plan_too_small_for_shape_makes_no_table),
		cmocka_unit_test(nodes_of_earlier_release_need_default_plan),
		cmocka_unit_test(node_stays_refused_when_root_restarts),
		cmocka_unit_test(refused_node_stays_out_despite_cut_and_power_loss),
		cmocka_unit_test(shape_that_fits_no_plan_stays_until_configured),
		cmocka_unit_test(growth_keeps_ipv6_addresses),
		cmocka_unit_test(node_whose_service_address_is_in_plan_is_refused),
		cmocka_unit_test(service_address_in_ipv6_plan_is_refused),
		cmocka_unit_test(plan_with_address_of_early_node_is_refused),
		cmocka_unit_test(root_whose_address_is_in_plan_does_not_lead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
