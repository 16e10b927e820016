/* SPDX-License-Identifier: GPL-2.0-only */
/* Problems for which the list of those that stand (log.h) has no room. */
#ifndef FM_SPARE_H
#define FM_SPARE_H

#include <stdbool.h>
#include <stdint.h>

#define FM_SPARES_MAX 4096	/* further ones are not even counted */

/** struct fm_spare - one that waits; @text is its own; @until: when it ends by itself, or 0 */
struct fm_spare {
	uint64_t key, until;
	char *text;
	bool mark;
	char kind[16];
};

/** struct fm_spares - @n of them, oldest first */
struct fm_spares {
	struct fm_spare *list;
	unsigned int n, room;
};

void fm_spares_free(struct fm_spares *s);
/* It waits from now on, or has another text. Without memory it is not counted. */
void fm_spare_put(struct fm_spares *s, const char *kind, uint64_t key, const char *text);
/* Ends one that waits, if it does. */
void fm_spare_clear(struct fm_spares *s, const char *kind, uint64_t key);
/* The oldest leaves: its text is the caller's then. Return: false: there is none. */
bool fm_spare_take(struct fm_spares *s, struct fm_spare *out);
/* As fm_problem_limit(), fm_problems_mark(), fm_problems_sweep(). */
void fm_spare_limit(struct fm_spares *s, const char *kind, uint64_t key, uint64_t until);
void fm_spares_mark(struct fm_spares *s, const char *kind);
void fm_spares_sweep(struct fm_spares *s, const char *kind);
/* Those whose time is over end. */
void fm_spares_due(struct fm_spares *s, uint64_t now);
/* When the first one ends by itself; NEVER. */
uint64_t fm_spares_expiry(const struct fm_spares *s);

#endif /* FM_SPARE_H */
