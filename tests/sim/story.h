/* SPDX-License-Identifier: GPL-2.0-only */
/* A world with its checkers, as the tests use it. */
#ifndef STORY_H
#define STORY_H

#include "check.h"

/** struct story - @wrong is the first thing found wrong, or "" */
struct story {
	struct world *w;
	struct check_flow *flow;
	bool may_lose;		/* a NIC died: what was in it is gone */
	char wrong[256];
};

void story_begin(struct story *s, const struct world_config *c);
void story_power_all(struct story *s);
/* Lets it come to rest; a world that does not within @limit is wrong. */
void story_rest(struct story *s, uint64_t limit);
/* Mends and starts everything, waits, checks everything, ends the world.
 * Return: whether nothing was wrong. */
bool story_end(struct story *s);
void story_fail(struct story *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether some machine that is up has a problem of @kind whose text has @part. */
bool story_problem(struct story *s, const char *kind, const char *part);
/* A shape of up to @nodes nodes in 1 to 6 dimensions, sizes 1 and 2 included. */
void story_shape(uint64_t *seed, uint32_t nodes, struct torus_shape *out);

/* $EVERY: only each so many'th story of a long series; 1 if it is not set. */
unsigned int story_every(void);

#endif /* STORY_H */
