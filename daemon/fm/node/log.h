/* SPDX-License-Identifier: GPL-2.0-only */
/* Output for people: log lines, and the list of present problems. */
#ifndef FM_LOG_H
#define FM_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/fm.h"

#define FM_PROBLEMS_MAX 64			/* length of the list of present problems */
#define FM_PROBLEMS_KNOWN (2 * FM_PROBLEMS_MAX)	/* present and past problems in memory */

/**
 * fm_problems_new() - make an empty list; called by fm_new(). Return: false if there is no memory
 */
bool fm_problems_new(struct fm *fm);
void fm_problems_free(struct fm *fm);
/**
 * fm_problems_count() - Return: length of the list; fm_problems_more() of status.h counts the
 * problems beyond it
 */
unsigned int fm_problems_count(const struct fm *fm);

/** fm_log() - write one log line */
void fm_log(struct fm *fm, enum fm_level level, const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/** fm_log_of() - as fm_log(), about @node, for instance in the root; TORUS_NO_NODE: this node */
void fm_log_of(struct fm *fm, uint32_t node, enum fm_level level, const char *kind,
	       const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/**
 * fm_problem_set() - add the problem (@kind, @key) to the list of present problems, or change its
 * text
 * The problem stays present until fm_problem_clear().
 */
void fm_problem_set(struct fm *fm, const char *kind, uint64_t key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/** fm_problem_of() - as fm_problem_set(), about @node as in fm_log_of() */
void fm_problem_of(struct fm *fm, uint32_t node, const char *kind, uint64_t key,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/**
 * fm_problem_await() - log the problem only if it is still present a second later
 * Called before fm_problem_set() if another node may report the cause, and this problem then ends.
 */
void fm_problem_await(struct fm *fm, const char *kind, uint64_t key);
/** fm_problem_clear() - end the problem; nothing happens if it is not present */
void fm_problem_clear(struct fm *fm, const char *kind, uint64_t key);
/** fm_problem_limit() - make the problem, if it is present, end by itself at the time @until */
void fm_problem_limit(struct fm *fm, const char *kind, uint64_t key, uint64_t until);
/**
 * fm_problems_mark(), fm_problems_sweep() - bracket a new evaluation of all problems of @kind
 *
 * fm_problems_sweep() ends those that were not set again since fm_problems_mark().
 */
void fm_problems_mark(struct fm *fm, const char *kind);
void fm_problems_sweep(struct fm *fm, const char *kind);

/**
 * fm_problems_due() - log the problems whose log lines were delayed until now, and end those whose
 * time is over
 */
void fm_problems_due(struct fm *fm);
uint64_t fm_problems_expiry(const struct fm *fm);

#endif /* FM_LOG_H */
