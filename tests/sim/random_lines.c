// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random histories of fabrics whose cables age, warm up, lose lanes and die, under traffic. A link
 * over a cable that gets worse trains again, loses rate and lanes, and stays up. Only if no lane
 * is left the link fails, and the fabric recovers as from any dead link. No packet may be lost,
 * duplicated or out of order. When all cables are new again, all links must come up with the margin
 * that training demands.
 *
 *	test_random_lines [FIRST [COUNT]]	see series.h; VERBOSE=1..4 prints the managers' log
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "series.h"
#include "trial.h"
#include "tests/unit/random.h"

enum act {
	LANE_DIES,
	LINE_AGES,
	LINE_WARMS,
	LONGER,			/* another length, up to one that is too long to train */
	LINE_DIES,
	RENEWED,		/* a cable as at the beginning */
	CUT,
	MEND,
	ACTS,
};

/* Sums over all histories: main() checks that cables did degrade. */
static struct {
	atomic_ullong shed, retrains, failures;
} seen;

static struct tn_cable new_line(uint64_t seed)
{
	return (struct tn_cable) { .length = 300, .loss = 2000, .crosstalk = 10, .seed = seed };
}

static void act(struct world *w, struct tn_cable *line, uint64_t *random)
{
	uint32_t cable = random_below(random, world_cables(w));
	struct tn_cable *l;

	while (!world_cable_there(w, cable))
		cable = (cable + 1) % world_cables(w);
	l = &line[cable];
	switch (random_below(random, ACTS)) {
	case LANE_DIES:
		l->dead |= (u16)(1u << random_below(random, TORUS_LANES_MAX));
		break;
	case LINE_AGES:
		l->aged |= (u16)(random_next(random) & TORUS_LANES_MASK);
		l->ageing = random_below(random, 10000);
		break;
	case LINE_WARMS:
		l->warmer = (s32)random_below(random, 80);
		l->drift = random_below(random, 200);
		break;
	case LONGER:
		l->length = 300 + random_below(random, 800);
		break;
	case LINE_DIES:
		l->dead = TORUS_LANES_MASK;
		break;
	case RENEWED:
		*l = new_line(l->seed);
		break;
	case CUT:
		world_cut(w, cable, true);
		return;
	case MEND:
		for (uint32_t i = 0; i < world_cables(w); i++)
			world_cut(w, i, false);
		return;
	}
	world_line(w, cable, l);
}

static u64 counted(struct world *w, uint32_t node, unsigned int port, enum torus_port_counter c)
{
	return tn_nic_port_counters(world_nic(w, node), port, world_now(w))[c];
}

static void count(struct world *w)
{
	for (uint32_t i = 0; i < world_nodes(w); i++)
		for (unsigned int p = 0; p < 2u * world_config(w)->shape.ndims; p++) {
			seen.shed += counted(w, i, p, TORUS_PC_LANES_SHED);
			seen.retrains += counted(w, i, p, TORUS_PC_EYE_RETRAINS);
			seen.failures += counted(w, i, p, TORUS_PC_TRAIN_FAILURES);
		}
}

/* Checks, when all cables are new, that all links are up, with the margin that training demands. */
static void whole_again(struct trial *s)
{
	for (uint32_t i = 0; i < world_nodes(s->w); i++)
		for (unsigned int p = 0; p < 2u * world_config(s->w)->shape.ndims; p++) {
			struct tn_link_info li;

			if (world_config(s->w)->shape.size[p % world_config(s->w)->shape.ndims] < 2)
				continue;
			tn_nic_link_info(world_nic(s->w, i), p, &li, world_now(s->w));
			if (li.state != TORUS_LINK_UP)
				trial_fail(s, "node %u port %u is not up", i, p);
			else if (!li.gauge[TORUS_PG_MARGIN_TRAIN] ||
				 li.gauge[TORUS_PG_MARGIN] < li.gauge[TORUS_PG_MARGIN_TRAIN])
				trial_fail(s, "node %u port %u: margin %llu of %llu", i, p,
					   (unsigned long long)li.gauge[TORUS_PG_MARGIN],
					   (unsigned long long)li.gauge[TORUS_PG_MARGIN_TRAIN]);
		}
}

static void make(uint64_t seed, uint64_t *random, struct world_config *c)
{
	world_config_default(c);
	c->adaptive = true;
	c->seed = seed;
	do {
		trial_shape(random, 12, &c->shape);
	} while (torus_nodes(&c->shape) < 3);
	c->lines = true;
	c->fanout = 1 + random_below(random, 8);
	c->link_latency = (2 * US) << random_below(random, 6);
}

static bool history(const struct origin *o, char *wrong, size_t room)
{
	uint64_t random = o->stream;
	char text[TORUS_TEXT_MAX];
	struct tn_cable *line;
	struct world_config c;
	struct trial s;
	bool good;

	make(o->seed, &random, &c);
	trial_begin(&s, &c);
	line = calloc(world_cables(s.w), sizeof(*line));
	if (!line)
		abort();
	for (uint32_t i = 0; i < world_cables(s.w); i++) {
		line[i] = new_line(random_next(&random));
		world_line(s.w, i, &line[i]);
	}
	trial_power_all(&s);
	world_run(s.w, 50 * MS);
	trial_rest(&s, 10 * SEC);
	world_traffic(s.w, 1 * MS);
	for (unsigned int i = 10 + random_below(&random, 20); i; i--) {
		act(s.w, line, &random);
		world_run(s.w, (1 + random_below(&random, 300)) * MS);
	}
	for (uint32_t i = 0; i < world_cables(s.w); i++) {
		line[i] = new_line(line[i].seed);
		world_line(s.w, i, &line[i]);
		world_cut(s.w, i, false);
	}
	world_run(s.w, 2 * SEC);
	whole_again(&s);
	count(s.w);
	free(line);
	good = trial_end(&s);
	snprintf(wrong, room, "%s: %s", torus_shape_text(&c.shape, text), s.wrong);
	return good;
}

int main(int argc, char **argv)
{
	int status = series_main(&(struct series) {
		.name = "random_lines",
		.count = 60,
		.history = history,
	}, argc, argv);

	printf("# lanes shed %llu, retrained for an eye %llu, trainings that left no lane %llu\n",
	       seen.shed, seen.retrains, seen.failures);
	if (argc == 1 && !(seen.shed && seen.retrains && seen.failures)) {
		printf("not ok - random_lines: the cables did not degrade enough\n");
		return 1;
	}
	return status;
}
