/* SPDX-License-Identifier: GPL-2.0-only */
/* Bit errors of links: counts of receivers since they began to count, or since a baseline. */
#ifndef ERRORS_H
#define ERRORS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * errors_load() - read the baseline that errors_save() wrote. Return: NULL after printing an error
 */
json_t *errors_load(const char *file);
/**
 * errors_save() - write the counts of @links, an answer to "links", as a baseline
 * Return: the exit status.
 */
int errors_save(const json_t *links, const char *file);
/**
 * errors_list() - Return: the links with their errors, the worst first
 * @baseline: if not NULL, counts are those since this baseline
 * @top: most links in the list; 0: all
 */
json_t *errors_list(const json_t *links, const json_t *baseline, size_t top);
/** errors_show() - print such a list as a table */
void errors_show(const json_t *list);
/** errors_level() - Return: "warn" or "fail" if the manager judges the link so, else NULL */
const char *errors_level(const json_t *link);
/**
 * errors_only_slow() - Return: true if the manager judges the link slow by its round trips, and the
 * receiver has neither errors nor lost margin
 */
bool errors_only_slow(const json_t *quality);

#endif /* ERRORS_H */
