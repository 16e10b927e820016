// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root of 512 nodes (of 64 with EVERY) loses its power, where managers need processor time for
 * each message: another one leads within 3 s, by a table of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ends.h"

#define CPU_NS (20 * US)	/* processor time of a message; fabricd needs less */
#define TAKEOVER (3 * SEC)

static struct trial s;

static void root_of_512_nodes_is_replaced(void **state)
{
	struct world_config c;
	uint64_t since;
	uint32_t root;

	(void)state;
	trial_config(&c, trial_every() > 1 ? "4x4x4" : "8x8x8", 1);
	c.discover = false;
	c.vanish = true;
	c.share = true;
	c.svc_cpu_ns = CPU_NS;
	trial_begin(&s, &c);
	s.sparing = true;
	trial_power_all(&s);
	trial_rest(&s, 20 * SEC);
	world_flow(s.w, world_nodes(s.w) - 1, 1);
	trial_traffic(&s, 1 * MS);
	world_run(s.w, 5 * MS);
	since = world_now(s.w);
	end_node(s.w, 0, POWER);
	root = ends_await(&s, 0, TAKEOVER);
	if (root == TORUS_NO_NODE)
		trial_fail(&s, "nobody leads");
	printf("# node %d leads after %.0f ms\n", (int)root, (double)(world_now(s.w) - since) / 1e6);
	trial_rest(&s, 20 * SEC);
	printf("# all is done after %.0f ms\n", (double)(world_now(s.w) - since) / 1e6);
	if (!trial_end(&s))
		fail_msg("%s", s.wrong);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(root_of_512_nodes_is_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
