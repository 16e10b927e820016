/* SPDX-License-Identifier: GPL-2.0-only */
/* A world with its checkers, as the tests use it. */
#ifndef STORY_H
#define STORY_H

#include "check.h"

/**
 * struct story - a world that is watched
 * @interval: between a node's packets, story_traffic()
 * @sparing: ... while something happens; when for 10 ms nothing has, NICs send little,
 *	until the last milliseconds of story_run(), when they fill the fabric again for
 *	what comes next. Events that show nothing are most of a world's.
 * @none_late: nor may a packet be thrown away because nobody waited for it any more
 * @wrong: the first thing found wrong, or ""
 */
struct story {
	struct world *w;
	struct check_flow *flow;
	uint64_t interval;
	bool sparing;
	bool none_late;
	char wrong[256];
};

/* Where the root is with a recovery; of one at a time, the last table's. */
enum story_step {
	STEP_NO_ROOT,
	STEP_REST,
	STEP_TABLE,		/* something changed, and its table waits for more to */
	STEP_APPLY,
	STEP_DRAIN,
	STEP_REPLAY,
	STEP_RESUME,
	STEPS,
};

void story_begin(struct story *s, const struct world_config *c);
void story_power_all(struct story *s);
void story_traffic(struct story *s, uint64_t interval);
/* As world_run(), but for @sparing. */
void story_run(struct story *s, uint64_t ns);
/* Lets it come to rest; a world that does not within @limit is wrong. */
void story_rest(struct story *s, uint64_t limit);
/* Mends and starts everything, waits, checks everything, ends the world.
 * Return: whether nothing was wrong. */
bool story_end(struct story *s);
enum story_step story_step(const struct story *s);
void story_fail(struct story *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether some machine that is up has a problem of @kind whose text has @part. */
bool story_problem(struct story *s, const char *kind, const char *part);
/* A shape of up to @nodes nodes in 1 to 6 dimensions, sizes 1 and 2 included. */
void story_shape(uint64_t *seed, uint32_t nodes, struct torus_shape *out);

/* $EVERY: only each so many'th story of a long series; 1 if it is not set. */
unsigned int story_every(void);

#endif /* STORY_H */
