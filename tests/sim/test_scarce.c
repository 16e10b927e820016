// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processor time is scarce: all managers of 512 nodes share one processor, as those of a lab share a
 * few. They handle messages late, and must not take that for the silence of others: else they leave
 * parents and roots that live, join again, and need more processor time than before, without end.
 * And many nodes that wait for one must not ask it the more often the more they are. Its NICs are
 * nothing but links, so no packets are sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "check.h"

/* Without a waste of time all are up after 17 s with the first, and after 4 s with the second. */
#define UP_NS (500 * US)
#define TAKEOVER_NS (100 * US)

#define ASKED_S 10
#define HELLOS_MAX 4	/* HELLOs of a node in a second; one each resend would be 10 */

static struct world *world_of(const char *shape, uint64_t cpu_ns)
{
	struct world_config c;
	struct world *w;

	world_config_default(&c);
	assert_int_equal(torus_shape_parse(shape, &c.shape), 0);
	c.discover = false;
	c.vanish = true;
	c.share = true;
	c.links_only = true;
	c.svc_cpu_ns = cpu_ns;
	c.svc_shared = cpu_ns;
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

/*
 * All 512 nodes start with little processor time, and all come up. They once did not: joining nodes
 * left the root, because they handled its answers late.
 */
static void all_nodes_start_with_little_time(void **state)
{
	struct world *w = world_of("8x8x8", UP_NS);

	(void)state;
	await_rest(w, "512 nodes start", 60 * SEC);
	world_free(w);
}

/*
 * The root loses its power while managers have little processor time. Once no node became root:
 * those that asked gave up, because followers left them as silent, and HELLOs counted for less
 * time than it took to handle them.
 */
static void new_root_leads_despite_little_time(void **state)
{
	struct world *w = world_of("8x8x8", TAKEOVER_NS);

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

/*
 * The root and more than half of 1024 managers end, and their NICs go on. No node can be root, and
 * 464 others wait for the one that asks. Once each of them sent HELLO in every resend interval.
 */
static void waiting_nodes_send_few_hellos_to_asking_root(void **state)
{
	struct world *w = world_of("16x8x8", 0);
	struct world_counts counts;
	uint32_t waiting = 0;

	(void)state;
	await_rest(w, "1024 nodes start", 20 * SEC);
	for (uint32_t i = 0; i < world_nodes(w); i++)
		if (!i || i >= 464)
			world_manager(w, i, false);
		else
			waiting++;
	world_run(w, 5 * SEC);
	world_counts(w);
	world_run(w, ASKED_S * SEC);
	counts = world_counts(w);
	assert_int_equal(world_root(w), 0);
	printf("# %u nodes said HELLO %llu times in %d s\n", (unsigned int)waiting,
	       (unsigned long long)counts.hellos, ASKED_S);
	assert_true(counts.hellos < (uint64_t)HELLOS_MAX * ASKED_S * waiting);
	assert_true(counts.hellos > waiting);
	world_free(w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_nodes_start_with_little_time),
		cmocka_unit_test(new_root_leads_despite_little_time),
		cmocka_unit_test(waiting_nodes_send_few_hellos_to_asking_root),
	};

	return cmocka_run_group_tests_name("scarce", tests, NULL, NULL);
}
