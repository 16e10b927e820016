/* SPDX-License-Identifier: GPL-2.0-only */
/* Problems for which the list in log.c has no room. They wait here until one of the list ends. */
#ifndef FM_SPARE_H
#define FM_SPARE_H

#include <stdbool.h>
#include <stdint.h>

#define FM_SPARES_MAX 4096	/* problems beyond this number are dropped */

/**
 * struct fm_spare - a problem that waits
 * @key, @kind: identify it
 * @node: the node that it is about, as in fm_problem_of()
 * @until: when it ends by itself; 0: it does not
 * @text: owned by the list
 * @mark: fm_spares_sweep() drops the problem
 */
struct fm_spare {
	uint64_t key, until;
	char *text;
	uint32_t node;
	bool mark;
	char kind[16];
};

/** struct fm_spares - @n problems that wait, oldest first; zeroed memory is an empty list */
struct fm_spares {
	struct fm_spare *list;
	unsigned int n, room;
};

/** fm_spares_free() - drop all problems; the list is empty afterwards and can be used again */
void fm_spares_free(struct fm_spares *s);
/**
 * fm_spare_put() - add a problem, or change its text; it is dropped if the list is full or there is
 * no memory
 */
void fm_spare_put(struct fm_spares *s, uint32_t node, const char *kind, uint64_t key,
		  const char *text);
/** fm_spare_clear() - remove the problem, if it is in the list */
void fm_spare_clear(struct fm_spares *s, const char *kind, uint64_t key);
/**
 * fm_spare_take() - remove the oldest problem; the caller owns its text. Return: false if there is
 * none
 */
bool fm_spare_take(struct fm_spares *s, struct fm_spare *out);
/*
 * Do for this list what fm_problem_limit(), fm_problems_mark() and fm_problems_sweep() do for that
 * of log.c.
 */
void fm_spare_limit(struct fm_spares *s, const char *kind, uint64_t key, uint64_t until);
void fm_spares_mark(struct fm_spares *s, const char *kind);
void fm_spares_sweep(struct fm_spares *s, const char *kind);
/** fm_spares_due() - remove the problems whose time @until has passed */
void fm_spares_due(struct fm_spares *s, uint64_t now);
/** fm_spares_expiry() - Return: when the first problem ends by itself, or NEVER */
uint64_t fm_spares_expiry(const struct fm_spares *s);

#endif /* FM_SPARE_H */
