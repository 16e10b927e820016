// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Improves a placement: tries foldings first, then annealing, which begins with the best folding.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

/*
 * Return: true if no placement is better: all bytes that leave a node go one hop, and no other
 * placement has more bytes that stay on a node.
 */
static bool is_perfect(const struct torus_map *m, const struct torus_map_score *s)
{
	if (s->stranded || s->hop_bytes != s->bytes)
		return false;
	for (uint32_t i = 1; i < m->slots; i++)
		for (uint32_t k = 0; k < i; k++)
			if (m->slot[i] == m->slot[k])
				return false;
	return true;
}

int lt_map_try(const struct torus_map *m, const uint32_t *place, struct map_trial *best)
{
	struct torus_map_score s;
	int err = torus_map_score(m, place, &s);

	if (err)
		return err;
	if (torus_map_better(&s, &best->score)) {
		best->score = s;
		memcpy(best->place, place, m->ranks * sizeof(*place));
	}
	return is_perfect(m, &best->score);
}

int torus_map_improve(const struct torus_map *m, uint64_t seed, uint64_t moves, uint32_t *place)
{
	struct map_trial best = { .place = NULL };
	int err = torus_map_score(m, place, &best.score);

	if (err)
		return err;
	best.place = malloc(m->ranks * sizeof(*place));
	if (!best.place)
		return -ENOMEM;
	memcpy(best.place, place, m->ranks * sizeof(*place));
	err = is_perfect(m, &best.score);
	if (!err)
		err = lt_map_fold(m, &best);
	if (!err)
		err = lt_map_anneal(m, seed, moves, &best);
	if (err >= 0)
		memcpy(place, best.place, m->ranks * sizeof(*place));
	free(best.place);
	return err < 0 ? err : 0;
}
