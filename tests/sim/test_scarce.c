// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processor time is scarce: all managers of 512 nodes share one processor, as those of a lab share a
 * few. They handle messages late, and must not take that for the silence of others: else they leave
 * parents and roots that live, join again, and need more processor time than before, without end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "check.h"

/* Without a waste of time all are up after 7 s with the first, and after 4 s with the second. */
#define UP_NS (200 * US)
#define TAKEOVER_NS (100 * US)

static struct world *world_of_512(uint64_t cpu_ns)
{
	struct world_config c;
	struct world *w;

	world_config_default(&c);
	assert_int_equal(torus_shape_parse("8x8x8", &c.shape), 0);
	c.discover = false;
	c.vanish = true;
	c.share = true;
	c.links_only = true;
	c.svc_cpu_ns = cpu_ns;
	c.svc_shared = true;
	w = world_new(&c);
	for (uint32_t i = 0; i < world_nodes(w); i++)
		world_power(w, i, true);
	return w;
}

static void await_rest(struct world *w, const char *what, uint64_t limit)
{
	uint64_t since = world_now(w);

	while (!world_settled(w) && world_now(w) < since + limit)
		world_run(w, 100 * MS);
	printf("# %s: at rest after %.1f s\n", what, (double)(world_now(w) - since) / SEC);
	assert_true(world_settled(w));
}

/* They were never up: joining nodes left the root, because they handled its answers late. */
static void all_start(void **state)
{
	struct world *w = world_of_512(UP_NS);

	(void)state;
	await_rest(w, "512 nodes start", 40 * SEC);
	world_free(w);
}

/*
 * No node became root: those that asked gave up, because followers left them as silent, and HELLOs
 * counted for less time than it took to handle them.
 */
static void root_without_power(void **state)
{
	struct world *w = world_of_512(TAKEOVER_NS);

	(void)state;
	await_rest(w, "512 nodes start", 20 * SEC);
	world_run(w, 2 * SEC);
	world_power(w, 0, false);
	world_run(w, 1 * SEC);
	await_rest(w, "the root has no power", 30 * SEC);
	assert_int_not_equal(world_root(w), 0);
	assert_true(fm_is_root(world_fm(w, world_root(w))));
	world_free(w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_start),
		cmocka_unit_test(root_without_power),
	};

	return cmocka_run_group_tests_name("scarce", tests, NULL, NULL);
}
