// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of counters, by themselves: packets of each kind and colour are put in one by one, and each
 * sum is what has been put in. Nothing of the manager is called.
 */
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/root/sums.h"

/* Return: by how much one more packet of a counter changes a sum. */
static int in_missing(unsigned int f)
{
	switch (f) {
	case TORUS_FC_INJECTED:
	case TORUS_FC_REPLAY_TX:
		return 1;
	case TORUS_FC_DELIVERED:
	case TORUS_FC_PARKED:
	case TORUS_FC_UNREACHABLE:
		return -1;
	default:
		return 0;
	}
}

static bool in_given(unsigned int f)
{
	return f == TORUS_FC_INJECTED || f == TORUS_FC_REPLAY_TX || f == TORUS_FC_LINK_RX;
}

static bool in_gone(unsigned int f)
{
	return f == TORUS_FC_DELIVERED || f == TORUS_FC_PARKED || f == TORUS_FC_UNREACHABLE ||
	       f == TORUS_FC_LINK_TX;
}

static int in_replay(unsigned int f)
{
	return f == TORUS_FC_REPLAY_TX ? 1 :
	       f == TORUS_FC_REPLAY_RX || f == TORUS_FC_REPLAY_PARKED ? -1 : 0;
}

/** struct sums - expected sums: for each colour, that of the colour, or of all others */
struct sums {
	int64_t missing[TORUS_COLOURS], replay_missing;
	uint64_t in[TORUS_COLOURS], out[TORUS_COLOURS], replayed;
};

static void put_in(struct sums *w, unsigned int f, unsigned int c, uint32_t n)
{
	w->missing[c] += in_missing(f) * (int64_t)n;
	w->replay_missing += in_replay(f) * (int64_t)n;
	w->replayed += f == TORUS_FC_REPLAY_TX ? n : 0;
	for (unsigned int k = 0; k < TORUS_COLOURS; k++) {
		w->in[k] += k != c && in_given(f) ? n : 0;
		w->out[k] += k != c && in_gone(f) ? n : 0;
	}
}

static void packets(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct sums want = { .replayed = 0 };
	struct fm_sums s = { .parked = 5, .lost = 3, .held = 9 };

	for (unsigned int i = 0; i < 60; i++) {
		unsigned int f = rnd_below(&r, TORUS_FC_COUNT), c = rnd_below(&r, TORUS_COLOURS);
		uint32_t n = rnd_below(&r, 100);

		s.flow[f][c] += n;
		put_in(&want, f, c, n);
		for (unsigned int k = 0; k < TORUS_COLOURS; k++)
			expect(&r, fm_sums_missing(&s, k) == want.missing[k] &&
			       fm_sums_in(&s, k) == want.in[k] &&
			       fm_sums_out(&s, k) == want.out[k], "counter %u", f);
		expect(&r, fm_sums_replay_missing(&s) == want.replay_missing &&
		       fm_sums_replayed(&s) == want.replayed, "counter %u", f);
	}
}

static void sums_of_flows_equal_packets_of_model(void **state)
{
	(void)state;
	for_seeds(30, packets);
}

/*
 * Each counter alone is changed, of each colour, and each number of parked packets: the result must
 * be the expected one.
 */
static void only_packets_of_old_colour_or_replay_count_as_progress(void **state)
{
	struct fm_sums was, now;

	(void)state;
	memset(&was, 0, sizeof(was));
	now = was;
	for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
		for (unsigned int k = 0; k < TORUS_COLOURS * TORUS_COLOURS; k++) {
			unsigned int c = k % TORUS_COLOURS, colour = k / TORUS_COLOURS;

			now.flow[f][c] = 1;
			assert_int_equal(fm_sums_moved(&was, &now, colour, false),
					 c != colour || in_replay(f));
			now.flow[f][c] = 0;
		}
	for (int replay = 0; replay < 2; replay++) {
		assert_false(fm_sums_moved(&was, &now, 1, replay));
		now.unresolved = 1;
		assert_true(fm_sums_moved(&was, &now, 1, replay));
		now = was;
		now.parked = 1;
		assert_int_equal(fm_sums_moved(&was, &now, 1, replay), replay);
		now = was;
		now.reopen = 1;
		assert_int_equal(fm_sums_moved(&was, &now, 1, replay), replay);
		now = was;
		now.held = now.lost = now.relayed = 1;	/* no drain waits for these */
		assert_false(fm_sums_moved(&was, &now, 1, replay));
		now = was;
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(sums_of_flows_equal_packets_of_model),
		cmocka_unit_test(only_packets_of_old_colour_or_replay_count_as_progress),
	};

	return cmocka_run_group_tests_name("fm_flows", all, NULL, NULL);
}
