// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random histories. Each seed makes a shape, a service network of some quality,
 * traffic, and a run of faults and repairs at random times; then everything is
 * mended, and the fabric must come to rest with nothing lost (unless a NIC died
 * with packets in it), doubled or out of order.
 *
 *	campaign [FIRST [COUNT [ACTS]]]	VERBOSE=1..4 tells what happens
 *
 * Without arguments: those that found something before, then seeds 1 to 200.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "story.h"
#include "tests/unit/random.h"

/* New ones at the end: the histories of seeds found before stay as they were. */
enum act {
	CUT,
	MEND,
	SILENCE,
	SPEAK,
	KILL,
	REVIVE,
	MANAGER_OFF,
	MANAGER_ON,
	ROOT_RESTART,
	CUT_AND_RESTART,	/* a cable and a manager, which comes back, at once */
	HANG,
	WAKE,
	ACTS,
};

static uint64_t some_time(uint64_t *random)
{
	/* From within one step of a recovery to long after it. */
	return (1 + random_below(random, 1000)) * W_US << random_below(random, 10);
}

static void cut_and_restart(struct story *s, uint32_t cable, uint32_t node, uint64_t *random)
{
	bool cut_first = random_below(random, 2);

	if (cut_first)
		world_cut(s->w, cable, true);
	s->may_lose = true;		/* it may come back too late */
	world_manager(s->w, node, false);
	if (!cut_first)
		world_cut(s->w, cable, true);
	world_run(s->w, some_time(random));
	world_manager(s->w, node, true);
}

static void act(struct story *s, unsigned int acts, uint64_t *random)
{
	uint32_t cable = random_below(random, world_cables(s->w));
	uint32_t node = random_below(random, world_nodes(s->w));

	switch (random_below(random, acts)) {
	case CUT:
		world_cut(s->w, cable, true);
		break;
	case MEND:
		for (uint32_t i = 0; i < world_cables(s->w); i++)
			if (random_below(random, 2))
				world_cut(s->w, i, false);
		break;
	case SILENCE:
		world_silence(s->w, cable, true);
		break;
	case SPEAK:
		for (uint32_t i = 0; i < world_cables(s->w); i++)
			world_silence(s->w, i, false);
		break;
	case KILL:
		if (node && !random_below(random, 2)) {
			s->may_lose = true;
			world_power(s->w, node, false);
		}
		break;
	case REVIVE:
		for (uint32_t i = 0; i < world_nodes(s->w); i++)
			world_power(s->w, i, true);
		break;
	case MANAGER_OFF:
		if (node) {
			s->may_lose = true;	/* what it parks waits too long */
			world_manager(s->w, node, false);
		}
		break;
	case MANAGER_ON:
		for (uint32_t i = 0; i < world_nodes(s->w); i++)
			world_manager(s->w, i, true);
		break;
	case ROOT_RESTART:
		world_manager(s->w, 0, false);
		world_run(s->w, some_time(random));
		world_manager(s->w, 0, true);
		break;
	case CUT_AND_RESTART:
		cut_and_restart(s, cable, node, random);
		break;
	case HANG:
		if (node) {
			s->may_lose = true;
			world_hang(s->w, node, true);
		}
		break;
	case WAKE:
		for (uint32_t i = 0; i < world_nodes(s->w); i++)
			world_hang(s->w, i, false);
		break;
	}
}

/* @acts: of how many acts it is made. Return: whether all went well. */
static bool history(uint64_t seed, unsigned int acts)
{
	uint64_t random = seed * 0x9e3779b97f4a7c15ULL;
	char text[TORUS_TEXT_MAX];
	struct world_config c;
	struct story s;

	world_config_default(&c);
	c.seed = seed;
	do {
		story_shape(&random, 18, &c.shape);
	} while (torus_nodes(&c.shape) < 3);
	c.discover = random_below(&random, 2);
	c.fanout = 1 + random_below(&random, 8);
	c.member_max = 300 * W_MS;
	if (seed % 5 == 0) {		/* every loss is a flap */
		c.flap_limit = 1;
		c.flap_half_life = 100 * W_MS;
	}
	c.link_latency = (2 * W_US) << random_below(&random, 10);
	c.frame_loss = random_below(&random, 3) ? 0 : 1000;
	story_begin(&s, &c);
	story_power_all(&s);
	story_rest(&s, 10 * W_S);
	world_traffic(s.w, c.frame_loss ? 2 * W_MS : 300 * W_US);
	world_run(s.w, 5 * W_MS);
	if (random_below(&random, 2))
		world_disturb(s.w, random_below(&random, 200), random_below(&random, 1000),
			      (20 * W_US) << random_below(&random, 10));
	for (unsigned int i = 3 + random_below(&random, 8); i; i--) {
		act(&s, acts, &random);
		world_run(s.w, some_time(&random));
	}
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_hang(s.w, i, false);
	world_disturb(s.w, 0, 0, 50 * W_US);
	if (story_end(&s))
		return true;
	printf("not ok - seed %llu, %s: %s\n# again: %s %llu 1 %u\n", (unsigned long long)seed,
	       torus_shape_text(&c.shape, text), s.wrong, "build/tests/sim/test_campaign",
	       (unsigned long long)seed, acts);
	fflush(stdout);
	return false;
}

/* Histories that once went wrong, and what they found. */
static const struct {
	uint64_t seed;
	unsigned int acts;
	const char *what;
} found[] = {
	{ 12446, CUT_AND_RESTART, "a destination that restarted took a late numbering for a new one" },
	{ 12452, CUT_AND_RESTART, "the same, on another way" },
	{ 2184, WAKE + 1, "a row of a manager's former life came late and was kept" },
};

static unsigned int histories_found(void)
{
	unsigned int failed = 0;

	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
		if (history(found[i].seed, found[i].acts))
			continue;
		printf("# seed %llu is known: %s\n", (unsigned long long)found[i].seed,
		       found[i].what);
		failed++;
	}
	return failed;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : argc > 1 ? 1 : 200;
	unsigned int acts = argc > 3 ? (unsigned int)atoi(argv[3]) : ACTS;
	unsigned int failed = argc > 1 ? 0 : histories_found();

	for (uint64_t seed = first; seed < first + count; seed++)
		failed += !history(seed, acts);
	if (!failed)
		printf("ok - campaign\n");
	return failed > 0;
}
