/* SPDX-License-Identifier: GPL-2.0-only */
/* A simulated world with its checkers, as the tests of this folder use it. */
#ifndef TRIAL_H
#define TRIAL_H

#include "check.h"

/**
 * struct trial - a world and its checkers
 * @interval: time between a node's packets, set by trial_traffic()
 * @sparing: saves simulation time: when links, tables and recoveries have not changed for 10 ms,
 *	NICs send little. In the last milliseconds of trial_run() they send at the full rate
 *	again, so that the fabric is full when the test goes on
 * @none_late: it is also an error if a packet is lost because it came too late
 * @wrong: the first error, or ""
 */
struct trial {
	struct world *w;
	struct check_flow *flow;
	uint64_t interval;
	bool sparing;
	bool none_late;
	char wrong[256];
};

/* The root's step of the recovery for its latest table. */
enum trial_step {
	STEP_NO_ROOT,
	STEP_REST,
	STEP_TABLE,		/* a change is known; the new table is delayed for further ones */
	STEP_APPLY,
	STEP_DRAIN,
	STEP_REPLAY,
	STEP_RESUME,
	STEPS,
};

/** trial_config() - a world of that shape, in which packets take any shortest way */
void trial_config(struct world_config *c, const char *shape, uint64_t seed);
void trial_begin(struct trial *s, const struct world_config *c);
void trial_power_all(struct trial *s);
void trial_traffic(struct trial *s, uint64_t interval);
/* As world_run(), with the traffic reduced by @sparing. */
void trial_run(struct trial *s, uint64_t ns);
/* Runs until the world is at rest; it is an error if this takes longer than @limit. */
void trial_rest(struct trial *s, uint64_t limit);
/* Mends all cables, starts all nodes and managers, waits for rest and until no Init is repeated any
 * more, runs all checks and frees the world. Return: true if no error was found. */
bool trial_end(struct trial *s);
/** trial_under_way() - Return: true if a recovery is under way, as @node knows */
bool trial_under_way(const struct trial *s, uint32_t node);
enum trial_step trial_step(const struct trial *s);
void trial_fail(struct trial *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Return: true if the administrator has any port excluded in the table of the root; or there is no root. */
bool trial_excluded(const struct trial *s);
/*
 * An administrator excludes a port of @node, or -1: all, or includes it. Return: as fm_exclude();
 * -EPERM: no node leads.
 */
int trial_exclude(struct trial *s, uint32_t node, int port, bool excluded);
/* Return: true if some running manager reports a problem of @kind with @part in its text. */
bool trial_problem(struct trial *s, const char *kind, const char *part);
/* Draws a shape of up to @nodes nodes in 1 to 6 dimensions, sizes 1 and 2 included. */
void trial_shape(uint64_t *seed, uint32_t nodes, struct torus_shape *out);

/*
 * Return: how many rows of a fabric with the exclusions @closed name a relay; @relay: one of these
 * relays, drawn with @random.
 */
uint64_t trial_relays(const struct torus_shape *shape, const uint16_t *closed, uint64_t *random,
		      uint32_t *relay);

/* Return: N of EVERY=N in the environment, else 1. Long series then only run every N-th seed. */
unsigned int trial_every(void);

/** trial_some_time() - from @unit to 1000 * 2 ^ (@shifts - 1) of it, short times as often as long ones */
uint64_t trial_some_time(uint64_t *random, uint64_t unit, uint32_t shifts);
/** trial_disturb() - world_disturb() with numbers below @doubled and @breaks, and 20 us << below @shifts */
void trial_disturb(struct world *w, uint64_t *random, uint32_t doubled, uint32_t breaks, uint32_t shifts);

#endif /* TRIAL_H */
