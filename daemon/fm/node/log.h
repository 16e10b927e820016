/* SPDX-License-Identifier: GPL-2.0-only */
/* Output for people: lines for the log, and problems that stand. */
#ifndef FM_LOG_H
#define FM_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/fm.h"

#define FM_PROBLEMS_MAX 64			/* that stand and are listed */
#define FM_PROBLEMS_KNOWN (2 * FM_PROBLEMS_MAX)	/* with those that stood */

/* A machine begins, without problems. Return: false: no memory. */
bool fm_problems_new(struct fm *fm);
void fm_problems_free(struct fm *fm);
/* How many stand and are listed; the others are counted by fm_problems_more() of status.h. */
unsigned int fm_problems_count(const struct fm *fm);

void fm_say(struct fm *fm, enum fm_level level, const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void fm_problem_set(struct fm *fm, const char *kind, uint64_t key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void fm_problem_clear(struct fm *fm, const char *kind, uint64_t key);
/* If it stands, it ends at @until by itself; told again before it is over, it stands as long. */
void fm_problem_limit(struct fm *fm, const char *kind, uint64_t key, uint64_t until);
/* Those of @kind not set again between the two calls are cleared. */
void fm_problems_mark(struct fm *fm, const char *kind);
void fm_problems_sweep(struct fm *fm, const char *kind);

/* Problems that could not be logged yet, and those that end by themselves. */
void fm_problems_due(struct fm *fm);
uint64_t fm_problems_expiry(const struct fm *fm);

#endif /* FM_LOG_H */
