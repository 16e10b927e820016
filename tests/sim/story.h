/* SPDX-License-Identifier: GPL-2.0-only */
/* A simulated world with its checkers, as the tests of this folder use it. */
#ifndef STORY_H
#define STORY_H

#include "check.h"

/**
 * struct story - a world and its checkers
 * @interval: time between a node's packets, set by story_traffic()
 * @sparing: saves simulation time: when links, tables and recoveries have not changed for 10 ms,
 *	NICs send little. In the last milliseconds of story_run() they send at the full rate
 *	again, so that the fabric is full when the test goes on
 * @none_late: it is also an error if a packet is lost because it came too late
 * @wrong: the first error, or ""
 */
struct story {
	struct world *w;
	struct check_flow *flow;
	uint64_t interval;
	bool sparing;
	bool none_late;
	char wrong[256];
};

/* The root's step of the recovery for its latest table. */
enum story_step {
	STEP_NO_ROOT,
	STEP_REST,
	STEP_TABLE,		/* a change is known; the new table is delayed for further ones */
	STEP_APPLY,
	STEP_DRAIN,
	STEP_REPLAY,
	STEP_RESUME,
	STEPS,
};

/** story_config() - a world of that shape, in which packets take any shortest way */
void story_config(struct world_config *c, const char *shape, uint64_t seed);
void story_begin(struct story *s, const struct world_config *c);
void story_power_all(struct story *s);
void story_traffic(struct story *s, uint64_t interval);
/* As world_run(), with the traffic reduced by @sparing. */
void story_run(struct story *s, uint64_t ns);
/* Runs until the world is at rest; it is an error if this takes longer than @limit. */
void story_rest(struct story *s, uint64_t limit);
/* Mends all cables, starts all nodes and managers, waits for rest, runs all checks and frees
 * the world. Return: true if no error was found. */
bool story_end(struct story *s);
/** story_under_way() - Return: true if a recovery is under way, as @node knows */
bool story_under_way(const struct story *s, uint32_t node);
enum story_step story_step(const struct story *s);
void story_fail(struct story *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Return: true if the administrator has any port excluded in the table of the root; or there is no root. */
bool story_excluded(const struct story *s);
/*
 * An administrator excludes a port of @node, or -1: all, or includes it. Return: as fm_exclude();
 * -EPERM: no node leads.
 */
int story_exclude(struct story *s, uint32_t node, int port, bool excluded);
/* Return: true if some running manager reports a problem of @kind with @part in its text. */
bool story_problem(struct story *s, const char *kind, const char *part);
/* A shape of up to @nodes nodes in 1 to 6 dimensions, sizes 1 and 2 included. */
void story_shape(uint64_t *seed, uint32_t nodes, struct torus_shape *out);

/*
 * Return: how many rows of a fabric with the exclusions @closed name a relay; @relay: one of these
 * relays, drawn with @random.
 */
uint64_t story_relays(const struct torus_shape *shape, const uint16_t *closed, uint64_t *random,
		      uint32_t *relay);

/* Return: N of EVERY=N in the environment, else 1. Long series then only run every N-th seed. */
unsigned int story_every(void);

/** story_some_time() - from @unit to 1000 * 2 ^ (@shifts - 1) of it, short times as often as long ones */
uint64_t story_some_time(uint64_t *random, uint64_t unit, uint32_t shifts);
/** story_disturb() - world_disturb() with numbers below @doubled and @breaks, and 20 us << below @shifts */
void story_disturb(struct world *w, uint64_t *random, uint32_t doubled, uint32_t breaks, uint32_t shifts);

#endif /* STORY_H */
