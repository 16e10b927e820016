/* SPDX-License-Identifier: GPL-2.0-only */
/* Bit errors of links: what receivers counted, since they began or since a baseline. */
#ifndef ERRORS_H
#define ERRORS_H

#include <jansson.h>
#include <stddef.h>

/** errors_load() - read the baseline that errors_save() wrote. Return: NULL after a complaint */
json_t *errors_load(const char *file);
/** errors_save() - write the counts of @links, as of "links", as a baseline. Return: exit status */
int errors_save(const json_t *links, const char *file);
/**
 * errors_list() - the links with their errors, the worst first
 * @baseline: counts are those since then; or NULL
 * @top: at most so many; 0: all
 */
json_t *errors_list(const json_t *links, const json_t *baseline, size_t top);
/** errors_show() - a table of such a list */
void errors_show(const json_t *list);
/** errors_level() - Return: "warn" or "fail" if the manager judges the link so, else NULL */
const char *errors_level(const json_t *link);

#endif /* ERRORS_H */
