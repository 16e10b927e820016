// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recoveries of fabrics in which some pairs of nodes need a relay. One event begins a recovery: a
 * cable is cut or mended, which changes who needs a relay, the relay dies or one of its ports is
 * excluded, or the manager of the relay or the root restarts. Another of these events happens at
 * each step of that recovery. If no NIC dies, nothing may be lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "trial.h"

/**
 * struct scene - a shape with cut cables
 * @relay: a node that is a relay then
 * @whole: a cable that may be cut as well: all nodes stay joined
 * @turn: one of the cut cables; when it is mended no pair, or other pairs, need a relay
 */
static const struct scene {
	const char *shape;
	uint32_t cut[4];
	unsigned int cuts;
	uint32_t relay, whole, turn;
} scenes[] = {
	/* node 0,0 has one cable left, to the relay */
	{ "3x3", { 0, 1, 2, 4 }, 4, 6, 8, 0 },
	{ "4x3", { 0, 1, 6 }, 3, 8, 10, 6 },
	/* some pairs need a relay, and find another path if it dies */
	{ "4x3", { 0, 1, 9 }, 3, 7, 12, 1 },
	{ "4x4", { 0, 1, 2, 3 }, 4, 12, 21, 2 },
};

#define SCENES (sizeof(scenes) / sizeof(scenes[0]))

enum event { CUT, MEND, RELAY_DIES, RELAY_RESTARTS, ROOT_RESTARTS, EXCLUDE, EVENTS };

static const char *const names[EVENTS] = { "cut", "mend", "relay dies", "relay's manager restarts",
					   "root restarts", "relay's port excluded" };

static void happen(struct trial *s, const struct scene *scene, enum event e)
{
	switch (e) {
	case CUT:
		world_cut(s->w, scene->whole, true);
		break;
	case MEND:
		world_cut(s->w, scene->turn, false);
		break;
	case RELAY_DIES:
		world_power(s->w, scene->relay, false);
		break;
	case RELAY_RESTARTS:
		world_manager(s->w, scene->relay, false);
		world_run(s->w, 100 * US);
		world_manager(s->w, scene->relay, true);
		break;
	case ROOT_RESTARTS:
		world_manager(s->w, 0, false);
		world_run(s->w, 500 * US);
		world_manager(s->w, 0, true);
		break;
	case EXCLUDE:
		if (world_fm(s->w, 0))
			fm_exclude(world_fm(s->w, 0), scene->relay, 0, true, world_now(s->w));
		break;
	default:
		break;
	}
}

static uint64_t counted(struct trial *s, enum torus_node_counter which)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < world_nodes(s->w); i++)
		if (world_nic(s->w, i))
			n += tn_nic_counters(world_nic(s->w, i))[which];
	return n;
}

/*
 * Begins a trial. @packets: relay_packets of all NICs, for how many packets a relay has memory; 0:
 * the default
 */
static void begin(struct trial *s, const struct scene *scene, uint64_t seed, uint32_t packets)
{
	struct world_config c;
	struct fm_status st;

	trial_config(&c, scene->shape, seed);
	c.discover = false;
	c.member_max = 500 * MS;
	trial_begin(s, &c);
	for (uint32_t i = 0; packets && i < world_nodes(s->w); i++)
		world_relay_packets(s->w, i, packets);
	trial_power_all(s);
	trial_rest(s, 10 * SEC);
	for (unsigned int i = 0; i < scene->cuts; i++)
		world_cut(s->w, scene->cut[i], true);
	trial_rest(s, 10 * SEC);
	fm_status(world_fm(s->w, 0), &st);
	if (!st.relayed)
		trial_fail(s, "no pair needs a relay");
	trial_traffic(s, 150 * US);
	s->sparing = true;
	world_run(s->w, 10 * MS);
	if (!tn_nic_counters(world_nic(s->w, scene->relay))[TORUS_NC_RELAY_FORWARDED])
		trial_fail(s, "node %u is no relay", scene->relay);
}

static void look(struct trial *s)
{
	char buf[200];
	const char *wrong;

	trial_run(s, 100 * MS);
	trial_rest(s, 30 * SEC);
	wrong = s->wrong[0] ? NULL : check_rows(s->w, buf, sizeof(buf));
	if (wrong)
		trial_fail(s, "%s", wrong);
}

static bool finish(struct trial *s, const char *what)
{
	look(s);
	for (uint32_t i = 0; world_fm(s->w, 0) && i < world_nodes(s->w); i++)
		fm_exclude(world_fm(s->w, 0), i, -1, false, world_now(s->w));
	if (trial_end(s))
		return true;
	print_error("%s: %s\n", what, s->wrong);
	return false;
}

/* A recovery takes a few ms. The gaps must reach each of its steps: @met checks that. */
static void cut_reaches_each_step_of_recovery(void **state)
{
	static const uint32_t gaps[] = { 0,    40,   200,  500,	 1000, 1500, 2000, 2300,
					 2600, 3000, 3500, 4000, 5000, 6000, 8000, 400000 };
	const char *one = getenv("SEED");
	unsigned int failures = 0, count = 0, met = 0;

	(void)state;
	for (unsigned int k = 0; k < SCENES * EVENTS * EVENTS * 16; k++) {
		const struct scene *scene = &scenes[k % SCENES];
		enum event a = k / SCENES % EVENTS, b = k / SCENES / EVENTS % EVENTS;
		uint64_t gap = gaps[k / SCENES / EVENTS / EVENTS] * US;
		struct trial s;
		char what[120];

		/* Each pair of events at some gaps in some scene. */
		if (one ? strtoul(one, NULL, 0) != k : a == b || k % 3 || count++ % trial_every())
			continue;
		begin(&s, scene, k + 1, 0);
		happen(&s, scene, a);
		world_run(s.w, gap);
		met |= 1u << trial_step(&s);
		happen(&s, scene, b);
		snprintf(what, sizeof(what), "SEED=%u %s: %s, %llu us later %s", k, scene->shape,
			 names[a], (unsigned long long)(gap / US), names[b]);
		failures += !finish(&s, what);
	}
	assert_int_equal(failures, 0);
	if (!one && trial_every() == 1)
		assert_int_equal(met, (1u << STEPS) - (1u << STEP_REST));
}

/* While cables join all nodes, no packet ever comes back as unreachable. */
static void relays_return_no_packet_as_unreachable(void **state)
{
	unsigned int failures = 0;

	(void)state;
	for (unsigned int k = 0; k < SCENES; k++) {
		const struct scene *scene = &scenes[k];
		struct trial s;
		uint64_t before;

		begin(&s, scene, 7, 0);
		before = counted(&s, TORUS_NC_UNREACHABLE);
		for (unsigned int i = 0; i < 4; i++) {
			world_cut(s.w, i % 2 ? scene->turn : scene->whole, !(i & 2) == !(i % 2));
			look(&s);
		}
		if (counted(&s, TORUS_NC_UNREACHABLE) != before)
			trial_fail(&s, "packets were unreachable");
		failures += !finish(&s, scene->shape);
	}
	assert_int_equal(failures, 0);
}

/*
 * With windows of one packet each relayed packet waits for the acknowledgement of the one before.
 * If acknowledgements were not sent, or ignored, nothing more would go through relays.
 */
static void windows_of_one_packet_deliver_all(void **state)
{
	unsigned int failures = 0;

	(void)state;
	for (unsigned int k = 0; k < SCENES; k++) {
		const struct scene *scene = &scenes[k];
		uint64_t before, since;
		struct trial s;

		begin(&s, scene, 8, 1);
		before = counted(&s, TORUS_NC_RELAY_FORWARDED);
		world_run(s.w, 50 * MS);
		since = counted(&s, TORUS_NC_RELAY_FORWARDED) - before;
		if (since < 100)
			trial_fail(&s, "%llu packets through relays", (unsigned long long)since);
		failures += !finish(&s, scene->shape);
	}
	assert_int_equal(failures, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_reaches_each_step_of_recovery),
		cmocka_unit_test(relays_return_no_packet_as_unreachable),
		cmocka_unit_test(windows_of_one_packet_deliver_all),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
