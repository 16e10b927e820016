/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences of the fabric between two times, by events. */
#ifndef DIFFERENCE_H
#define DIFFERENCE_H

#include <jansson.h>

/**
 * difference_find() - compare the fabric at two times
 * @before: the last events before the first time, in the order in which they happened
 * @events: events from the first time on, up to the second time
 * @from: the first time, s since 1970
 * @now: the present status, if the second time is now; NULL: the second time is not now, or the
 *	fabric has no root
 * Return: {links, problems, exclusions, boards, root}, as the schema of diff has them.
 */
json_t *difference_find(const json_t *before, const json_t *events, double from, const json_t *now);

#endif /* DIFFERENCE_H */
